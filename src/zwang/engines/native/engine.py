"""The native engine: DOP853 over kernels in machine code (see `stepper`)."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from zwang.arrays import Array
from zwang.compile import AnyProgram, Kernel, LaneKernel, Program, RolledProgram, compile_lanes, compile_program
from zwang.compile.kernel import default_level
from zwang.compile.lanes import LANES
from zwang.compile.rolled.kernel import compile_rolled
from zwang.engines.native import loop
from zwang.engines.native import runs as stepper
from zwang.engines.native.bridge import ASK
from zwang.engines.native.lanes import loop as lanes_loop
from zwang.engines.rounding import DROWNED, drowns
from zwang.engines.task import (
    NO_PARTS,
    PROGRESS_EVERY,
    Bridge,
    EventHit,
    Status,
    Task,
    Trace,
    Trajectory,
    altered,
    named,
    packed,
    volume_of,
)

STATUS = {
    stepper.LoopStatus.FINISHED: Status.FINISHED,
    stepper.LoopStatus.EVENT: Status.EVENT,
    stepper.LoopStatus.SINGULAR: Status.SINGULAR,
    stepper.LoopStatus.ASTRAY: Status.SINGULAR,
    stepper.LoopStatus.NOT_FINITE: Status.NOT_FINITE,
    stepper.LoopStatus.STEP_TOO_SMALL: Status.STEP_TOO_SMALL,
    stepper.LoopStatus.TOO_MANY_STEPS: Status.TOO_MANY_STEPS,
    stepper.LoopStatus.UNRESOLVED: Status.UNRESOLVED,
}
LOOSE = 1e-9  # tolerances above it do not tell branches of constraints apart that meet: there more care is taken
ZONE = 0.1  # share of its largest value below which a pivot asks for that
PROJECTED = 1e-15  # the residual that projection leaves: a larger one would lead the motion astray in a long run
LARGEST_VOLUME = 700.0  # logarithm of a number
FIRST_SLICE = 20_000  # attempted steps before the first look at the clock, times coordinates
LONGEST_SLICE = 100_000  # attempted steps between two looks
CREPT = 10_000  # attempted steps in a row that rounding makes so short; past a singular position it takes far fewer
PRICE = 40e-6  # seconds that a line of a program takes to be optimised

_COMPILED: WeakKeyDictionary[AnyProgram, Kernel] = WeakKeyDictionary()  # without optimisation
_OPTIMISED: WeakKeyDictionary[AnyProgram, Kernel] = WeakKeyDictionary()
_IN_LANES: WeakKeyDictionary[Program, LaneKernel] = WeakKeyDictionary()
_IN_LANES_TO_THE_BIT: WeakKeyDictionary[Program, LaneKernel] = WeakKeyDictionary()
_USED: WeakKeyDictionary[AnyProgram, float] = WeakKeyDictionary()  # seconds that runs of a program have taken


def compiled(program: AnyProgram) -> Kernel:
    """The native code of a program, compiled once and quickly; the optimised code where there is some."""
    if program in _OPTIMISED:
        return _OPTIMISED[program]
    if program in _COMPILED:
        return _COMPILED[program]
    # Two threads may come here together: the code that is kept is the first, for a run holds its address only.
    if isinstance(program, RolledProgram):
        return _COMPILED.setdefault(program, compile_rolled(program))
    return _COMPILED.setdefault(program, compile_program(program, optimise=0))


def optimised(program: AnyProgram) -> Kernel:
    """The native code of a program that will run for long: it takes longer to compile, and computes the same bits."""
    if isinstance(program, RolledProgram):  # its loops are
        return compiled(program)
    return _OPTIMISED[program] if program in _OPTIMISED else _OPTIMISED.setdefault(program, compile_program(program))


def worthwhile(program: AnyProgram, so_far: float = 0.0) -> Kernel:
    """The native code of a program that may run for long or not, and has run for `so_far` seconds by now.

    It is optimised once its runs have taken as long as that will take. So a short run is not kept waiting, and a long
    one loses little.
    """
    kernel = compiled(program)
    pays = default_level(kernel.lines) > 0 and _USED.get(program, 0.0) + so_far > PRICE * kernel.lines
    return optimised(program) if pays else kernel


def compiled_in_lanes(program: Program, same_bits: bool) -> LaneKernel:
    """The native code of a program for several lanes, compiled once: with the bits of one run, or with fast sines."""
    kept = _IN_LANES_TO_THE_BIT if same_bits else _IN_LANES
    return kept[program] if program in kept else kept.setdefault(program, compile_lanes(program, same_bits=same_bits))


def run(task: Task) -> Trajectory:
    """Integrate a task; what was computed before a stop or an interrupt is in the path."""
    began = time.perf_counter()
    kernels = kernels_of(task)
    loop.compiled()  # once on this machine, and no part of the time that the run takes
    compile_seconds = time.perf_counter() - began
    runs = prepared(task, kernels)
    began = time.perf_counter()
    hits: list[EventHit] = []
    bridges: list[Bridge] = []
    kicks: list[Array] = []
    status, renewing, notes = drive(task, runs, hits, bridges, kicks)
    compile_seconds += renewing
    run_seconds = time.perf_counter() - began - renewing
    for program in (task.acceleration, task.events and task.events.program, task.projection):
        if program:
            _USED[program] = _USED.get(program, 0.0) + run_seconds
    path = path_of(runs, 0, status, tuple(hits), compile_seconds, run_seconds)
    for bridge in bridges:  # beside a singular instant an acceleration is rounding
        a, b = sorted((bridge.start[0], bridge.end[0]))
        runs.size[0, (task.times >= a) & (task.times <= b)] = 0.0
    scale = runs.pivot_scale
    return altered(
        path,
        notes=notes,
        bridges=tuple(bridges),
        kicks=tuple(kicks),
        best=split_state(runs.best),
        astray=runs.status() is stepper.LoopStatus.ASTRAY,
        pivot_scale=scale,
        volume=volume_of([*scale[: task.growing].tolist(), float(runs.records["volume"][0])]),
    )


def prepared(task: Task, kernels: stepper.Kernels) -> stepper.Runs:
    """The one run that a task asks for, at its start."""
    asked = stepper.Settings(
        times=task.times,
        rtol=task.tol,
        atol=task.tol,
        step_limit=task.step_limit,
        max_step=task.max_step,
        quiet_step=task.quiet_step,
        pivot_scale=task.pivot_scale,
        pivot_tol=task.pivot_tol,
        growing=task.growing,
        zone=zone_of(task),
        volume=np.exp(min(task.volume - volume_of(task.pivot_scale[: task.growing]), LARGEST_VOLUME)),
        fine=min(1.0, LOOSE / task.tol),
        position_tol=PROJECTED,
        velocity_tol=PROJECTED,
        direction=task.events.direction if task.events else 0,
        terminal=task.events.stop if task.events else False,
        jumps=task.events.jumps if task.events else True,
        at_zero=task.at_zero,
        breaks=task.breaks,
    )
    if task.kick:
        asked = altered(asked, first_kick=task.kick.first, most=task.kick.most, apart=task.kick.apart)
    return stepper.prepare(kernels, task.t, task.q, task.v, task.p, asked)


def zone_of(task: Task) -> float:
    """The share of its scale below which a pivot asks for care; 0 if the tolerance is tight enough without."""
    return ZONE if task.growing and task.tol > LOOSE else 0.0


def kernels_of(task: Task, code: Callable[[AnyProgram], Kernel] = worthwhile) -> stepper.Kernels:
    """The kernels of a task as the step loop wants them."""
    acceleration = code(task.acceleration)
    event = code(task.events.program) if task.events else None
    projection = code(task.projection) if task.projection else None
    bridge = compiled(task.bridge) if task.bridge else None
    kick = compiled(task.kick.program) if task.kick else None
    used = [kernel for kernel in (acceleration, event, projection, bridge, kick) if kernel]
    return stepper.Kernels(
        acceleration=acceleration.address,
        coordinates=len(task.q),
        parameters=len(task.p),
        pivots=len(task.pivot_scale),
        powers=task.powers,
        work=max(map(room, used)),
        event=event.address if event else 0,
        events=event.output_size if event else 0,
        projection=projection.address if projection else 0,
        bridge=bridge.address if bridge else ASK if task.could_bridge else 0,
        kick=kick.address if kick else 0,
    )


def room(kernel: Kernel) -> int:
    """The working space that a kernel needs, or its optimised code, which comes later."""
    return kernel.lines if kernel.lines and default_level(kernel.lines) else kernel.work_size


def kernels_for(task: Task, runs: int) -> stepper.Kernels:
    """The kernels for so many runs of a task: in lanes if there are enough to fill them.

    A lane that meets an event has its run look for it: with events all lanes compute the bits of one run.
    """
    loop.compiled()  # once on this machine, and no part of the time that the runs take
    if runs < LANES:
        return kernels_of(task)
    programs = {
        "in_lanes": task.acceleration,
        "event_in_lanes": task.events.program if task.events else None,
        "projection_in_lanes": task.projection,
    }
    straight = {name: program for name, program in programs.items() if isinstance(program, Program)}
    if len(straight) < sum(program is not None for program in programs.values()):
        return kernels_of(task, optimised)
    same_bits = task.events is not None
    kernels = {name: compiled_in_lanes(program, same_bits) for name, program in straight.items()}
    lanes_loop.compiled()
    addresses = {name: kernel.address for name, kernel in kernels.items()}
    work = max(kernel.work_size for kernel in kernels.values())
    return replace(kernels_of(task, optimised if same_bits else worthwhile), **addresses, work_in_lanes=work)


def drive(
    task: Task, runs: stepper.Runs, hits: list[EventHit], bridges: list[Bridge], kicks: list[Array]
) -> tuple[Status, float, tuple[str, ...]]:
    """Slice after slice, with a word on progress between them; how it ended, seconds for better code, and notes."""
    first = max(FIRST_SLICE // len(task.q), 1)
    attempts = first
    until = float(task.times[-1])
    start, renewing, crept = time.perf_counter(), 0.0, 0
    while True:
        began, before = time.perf_counter(), float(runs.state[0, 0])
        try:
            status = stepper.advance(runs, until, attempts)
            collect(runs, hits)
            if task.kick:
                kicks.append(runs.kicked())
            if task.bridge:
                bridges += taken_out(runs)
            if task.progress:
                task.progress(float(runs.state[0, 0]))
        except KeyboardInterrupt:
            return Status.INTERRUPTED, renewing, ()
        if status not in (stepper.LoopStatus.RUNNING, stepper.LoopStatus.EVENTS_FULL):
            return STATUS[status], renewing, ()
        crept = crept + attempts if creeps(task, runs.state[0], before, attempts) else 0
        if crept > CREPT:
            return Status.STEP_TOO_SMALL, renewing, (DROWNED,)
        spent = max(time.perf_counter() - began, 1e-6)
        began = time.perf_counter()
        renew(task, runs, began - start - renewing)
        renewing += time.perf_counter() - began
        attempts = min(max(int(attempts * PROGRESS_EVERY / spent), first), LONGEST_SLICE)


def creeps(task: Task, state: Array, before: float, attempts: int) -> bool:
    """Whether steps have become so short because of rounding that the end is out of reach."""
    n, t = len(task.q), float(state[0])
    kernel = compiled(task.acceleration)

    def slope(y: Array) -> Array:
        now = kernel(**named(task.acceleration, packed(t, y, task.p)))
        return np.concatenate([y[n:], now["acceleration"]])

    y, ahead = state[1 : 1 + 2 * n], abs(float(task.times[-1]) - t)
    return drowns(slope, y, task.tol, abs(t - before) / attempts, ahead, task.step_limit)


def renew(task: Task, runs: stepper.Runs, so_far: float) -> None:
    """Go on with optimised code if it has become worthwhile."""
    kernels = kernels_of(task, partial(worthwhile, so_far=so_far))
    for name in ("acceleration", "event", "projection"):
        runs.records[name] = getattr(kernels, name)


def events_made(runs: stepper.Runs, sample: int) -> Array:
    """(k, 2 + 2n) the events in the table of a run; of a step that was not made, none is known to be one."""
    record, rows = runs.records[sample], runs.table[sample, : int(runs.records["found"][sample])]
    if runs.status(sample) is stepper.LoopStatus.UNRESOLVED:
        rows = rows[(rows[:, 0] - float(runs.state[sample, 0])) * float(record["made"]) <= 0]
    return rows.copy()


def collect(runs: stepper.Runs, hits: list[EventHit], sample: int = 0) -> None:
    """Move events out of the run's table, so that it never fills up."""
    n = runs.kernels.coordinates
    for row in runs.table[sample, : runs.records["found"][sample]]:
        hits.append(EventHit(float(row[0]), int(row[1]), row[2 : 2 + n].copy(), row[2 + n :].copy()))
    runs.records["found"][sample] = 0


def taken_out(runs: stepper.Runs) -> list[Bridge]:
    """Crossings written down by the first run, moved out of its memory."""
    record = runs.records[0]
    rows = [row.copy() for row in runs.bridges[: record["bridged"]]]
    runs.records["bridged"][0] = 0
    half = 1 + runs.bridges.shape[1] // 2
    return [Bridge(float(r[0]), float(r[1]), split_state(r[2:half]), split_state(r[half:])) for r in rows]


def split_state(packed: Array) -> tuple[float, Array, Array]:
    """[t, q, v] as (t, q, v)."""
    middle = 1 + len(packed) // 2
    return float(packed[0]), packed[1:middle], packed[middle:]


def trace_of(runs: stepper.Runs, sample: int) -> Trace:
    """What one run has kept beside its states."""
    saved = int(runs.records["saved"][sample])
    return Trace(*(kept[sample, :saved] for kept in (runs.done, runs.slope, runs.size, runs.parts_done)))


def path_of(
    runs: stepper.Runs, sample: int, status: Status, hits: tuple[EventHit, ...], compiling: float, running: float
) -> Trajectory:
    """The trajectory of one run, read from its record."""
    record, n = runs.records[sample], runs.kernels.coordinates
    saved = int(record["saved"])
    state: Array = runs.state[sample]
    if status is Status.UNRESOLVED:  # of a step that is not made, no event is known to be one
        hits = tuple(h for h in hits if (h.t - float(state[0])) * float(record["made"]) <= 0)
    return Trajectory(
        status=status,
        q=runs.q[sample, :saved],
        v=runs.v[sample, :saved],
        trace=trace_of(runs, sample),
        end=(float(state[0]), state[1 : 1 + n].copy(), state[1 + n : 1 + 2 * n].copy()),
        worked=float(record["worked"]),
        parts=runs.parts if sample == 0 else NO_PARTS,
        turned=float(record["turned"]),
        steps=int(record["accepted"]),
        evaluations=int(record["evaluations"]),
        hits=hits,
        left=float(record["left"]),
        compile_seconds=compiling,
        run_seconds=running,
    )
