"""The native engine: DOP853 over kernels in machine code (see `stepper`)."""

import time
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from zwang.compile import Kernel, LaneKernel, Program, compile_lanes, compile_program
from zwang.compile.native import lanes
from zwang.motion import stepper
from zwang.motion.task import Array, Happening, Path, Status, Task

STATUS = {
    stepper.Status.FINISHED: Status.FINISHED,
    stepper.Status.EVENT: Status.EVENT,
    stepper.Status.SINGULAR: Status.SINGULAR,
    stepper.Status.NOT_FINITE: Status.NOT_FINITE,
    stepper.Status.STEP_TOO_SMALL: Status.STEP_TOO_SMALL,
    stepper.Status.TOO_MANY_STEPS: Status.TOO_MANY_STEPS,
}
PROJECTED = 1e-15  # the residual that projection leaves: a larger one would lead the motion astray in a long run
FIRST_SLICE, LONGEST_SLICE = 200, 100_000  # attempted steps between two looks at the clock
LOOK = 0.05  # seconds that a slice should take

_COMPILED: WeakKeyDictionary[Program, Kernel] = WeakKeyDictionary()
_IN_LANES: WeakKeyDictionary[Program, LaneKernel] = WeakKeyDictionary()


def compiled(program: Program) -> Kernel:
    """The native code of a program, compiled once."""
    if program not in _COMPILED:
        _COMPILED[program] = compile_program(program)
    return _COMPILED[program]


def compiled_in_lanes(program: Program) -> LaneKernel:
    """The native code of a program for as many lanes as this machine likes, compiled once."""
    if program not in _IN_LANES:
        _IN_LANES[program] = compile_lanes(program, lanes())
    return _IN_LANES[program]


def run(task: Task) -> Path:
    """Integrate a task; what was computed before a stop or an interrupt is in the path."""
    began = time.perf_counter()
    kernels = kernels_of(task)
    compile_seconds = time.perf_counter() - began
    runs = stepper.prepare(
        kernels,
        task.t,
        task.q,
        task.v,
        task.p,
        times=task.times,
        rtol=task.tol,
        atol=task.tol,
        step_limit=task.step_limit,
        pivot_scale=task.pivot_scale,
        pivot_tol=task.pivot_tol,
        position_tol=PROJECTED,
        velocity_tol=PROJECTED,
        direction=task.events.direction if task.events else 0,
        terminal=task.events.stop if task.events else False,
        breaks=task.breaks,
    )
    began = time.perf_counter()
    happenings: list[Happening] = []
    status = drive(task, runs, happenings)
    return path_of(runs, 0, status, tuple(happenings), compile_seconds, time.perf_counter() - began)


def kernels_of(task: Task) -> stepper.Kernels:
    """The kernels of a task as the step loop wants them."""
    acceleration = compiled(task.acceleration)
    event = compiled(task.events.program) if task.events else None
    projection = compiled(task.projection) if task.projection else None
    return stepper.Kernels(
        acceleration=acceleration.address,
        coordinates=len(task.q),
        parameters=len(task.p),
        pivots=len(task.pivot_scale),
        work=max(k.work_size for k in (acceleration, event, projection) if k),
        event=event.address if event else 0,
        events=event.output_size if event else 0,
        projection=projection.address if projection else 0,
    )


def kernels_for(task: Task, runs: int) -> stepper.Kernels:
    """The kernels for so many runs of a task: in lanes if there are enough to fill them.

    Events, breaks and projections come at other times in each run: with them every run goes by itself.
    """
    kernels = kernels_of(task)
    if runs < lanes() or task.events or task.projection or task.breaks.size:
        return kernels
    kernel = compiled_in_lanes(task.acceleration)
    return replace(kernels, in_lanes=kernel.address, work_in_lanes=kernel.work_size)


def drive(task: Task, runs: stepper.Runs, happenings: list[Happening]) -> Status:
    """Slice after slice, with a word on progress between them."""
    attempts = FIRST_SLICE
    until = float(task.times[-1])
    while True:
        began = time.perf_counter()
        try:
            status = stepper.advance(runs, until, attempts)
            collect(runs, happenings)
            if task.progress:
                task.progress(float(runs.state[0, 0]))
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        if status not in (stepper.Status.RUNNING, stepper.Status.EVENTS_FULL):
            return STATUS[status]
        spent = max(time.perf_counter() - began, 1e-6)
        attempts = int(np.clip(attempts * LOOK / spent, FIRST_SLICE, LONGEST_SLICE))


def collect(runs: stepper.Runs, happenings: list[Happening], sample: int = 0) -> None:
    """Move events out of the run's table, so that it never fills up."""
    n = runs.kernels.coordinates
    for row in runs.table[sample, : runs.records["found"][sample]]:
        happenings.append(Happening(float(row[0]), int(row[1]), row[2 : 2 + n].copy(), row[2 + n :].copy()))
    runs.records["found"][sample] = 0


def path_of(
    runs: stepper.Runs, sample: int, status: Status, happenings: tuple[Happening, ...], compiling: float, running: float
) -> Path:
    """What one run has to tell."""
    record, n = runs.records[sample], runs.kernels.coordinates
    saved = int(record["saved"])
    state: Array = runs.state[sample]
    return Path(
        status=status,
        q=runs.q[sample, :saved],
        v=runs.v[sample, :saved],
        end=(float(state[0]), state[1 : 1 + n].copy(), state[1 + n : 1 + 2 * n].copy()),
        steps=int(record["accepted"]),
        evaluations=int(record["evaluations"]),
        happenings=happenings,
        compile_seconds=compiling,
        run_seconds=running,
    )
