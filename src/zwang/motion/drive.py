"""The course of a motion: the engine, from stretch to stretch, past what stops it."""

import time as clock
from dataclasses import replace
from typing import Any

from zwang.arrays import Array
from zwang.engines.registry import engine_of, runner
from zwang.engines.task import EventTask, Status, Task, Trajectory
from zwang.formulations.forms import FORMS
from zwang.lowering.acceleration import GAINS
from zwang.lowering.events import event_program
from zwang.lowering.rows import RowBasis
from zwang.model.signal import Lookup
from zwang.motion.observe import Segment
from zwang.motion.setup import Setup
from zwang.motion.singular import way_past as singular
from zwang.motion.start import basis_at
from zwang.motion.switching import Switches, switching

State = tuple[float, Array, Array]

STALLS = 1
CREEPING = 1e-3  # of the time since the start: stretches below it get nowhere


def integrate(
    setup: Setup,
    state: tuple[float, Array, Array],
    grid: Array,
    watch: Any,
    first: RowBasis | None = None,
    kind: "Alone | None" = None,
) -> tuple[list[Segment], Trajectory]:
    """Run the engine; where it stops before a small pivot, find the way past it. `first` is the choice at the start.

    `kind` says what is integrated: the motion alone, or more beside it.

    The native engine steps across singular positions itself (`crossing`), but needs a kernel for that, which is made
    when one is met. Everything else is in `singular`.

    While rows are left out as redundant (Gibbs and Appell's form), those chosen may become dependent though all
    together do not. Their equation is ill-conditioned long before, so other rows are looked for early.
    """
    kind = kind or Alone()
    motion = kind.motion
    segments: list[Segment] = []
    scales: dict[RowBasis, singular.Scale] = {}
    kept = first  # a choice to go on with, though the engine stopped on it
    bridge = False  # whether the engine has the kernel for crossings; not before it has met one
    looks = 0  # at other rows, that found none better
    stalls = 0  # times in a row that the engine got nowhere and nothing stood in the way
    origin = state
    since = state[0]  # the start, or the last way past a small pivot: a leap may look back as far
    total = Trajectory(Status.FINISHED, state[1][None][:0], state[2][None][:0], state)
    while True:
        basis = kept or basis_at(setup, motion(state))
        began = clock.perf_counter()
        task = task_of(setup, basis, motion(state), grid, watch, scales)
        early = len(basis.used) < len(setup.system.constraints) and looks < len(singular.EARLY)
        if early:
            task = replace(task, pivot_tol=singular.EARLY[looks])
        could = (
            kind.can_bridge
            and engine_of(setup.method).can_bridge
            and not FORMS[setup.form].eliminates
            and not basis.damping
        )
        kernel = setup.program("projection", basis) if could and bridge else None
        total = replace(total, compile_seconds=total.compile_seconds + clock.perf_counter() - began)
        task = replace(task, could_bridge=could, bridge=kernel)
        if singular.needs_escort(task):
            task = singular.left_early(task)
        path = engine(setup.method)(kind.whole(setup, basis, task, state))
        path = singular.by_name(setup, basis, path, motion(path.end))
        path = replace(path, notes=(*path.notes, *singular.bridges(setup, basis, path)))
        segments.append(segment_of(setup, basis, grid, path, total.worked))
        grid = grid[len(path.q) :]
        total = joined(total, path)
        if task.growing:
            scales[basis] = scales[basis].along(replace(path, best=path.best and motion(path.best)))
            task = replace(task, pivot_scale=scales[basis].for_pivots(basis))
        if path.status is not Status.SINGULAR:
            return segments, total
        if path.astray:
            return segments, joined(total, singular.stretch(path.end, Status.SINGULAR, singular.ASTRAY))
        if could and not bridge:
            kept, state, bridge = basis, path.end, True
            continue
        if singular.needs_escort(task):
            lower = singular.only_order(task, motion(path.end), scales[basis])
            if lower is not None:
                kept, state, scales[basis] = basis, path.end, lower
                continue
        if early and not singular.other_choice_serves(setup, replace(path, end=motion(path.end)), basis):
            kept, looks, state = basis, looks + 1, path.end
            continue
        began, plain = clock.perf_counter(), basis
        if basis.damping:
            met = (motion(origin), motion(state), motion(path.end))
            found = undamped(setup, basis, met, grid, watch, scales)
            if found is None:
                return segments, joined(total, singular.stretch(path.end, Status.SINGULAR, singular.RISES))
            plain, task = found
        task = replace(task, t=since, pivot_tol=Task.pivot_tol)
        passed = kind.pass_by(setup, task, path, plain, grid, scales[plain])
        kept, looks = basis if passed.path.end[0] != path.end[0] else None, 0
        creeps = abs(path.end[0] - state[0]) <= CREEPING * abs(path.end[0] - origin[0])
        stalls = stalls + 1 if kept is None and creeps else 0
        if stalls > STALLS:
            return segments, joined(total, singular.stretch(path.end, Status.SINGULAR, singular.STALLED))
        if basis.damping and kept is None:
            del scales[basis]  # small, but well: what is small here is the new measure
        scales[plain] = passed.scale
        path = singular.by_name(setup, plain, passed.path, motion(passed.path.end))
        segments.append(segment_of(setup, plain, grid, path, total.worked))
        grid = grid[len(path.q) :]
        total, state = joined(total, path), path.end
        since = since if path.steps else path.end[0]
        total = replace(total, run_seconds=total.run_seconds + clock.perf_counter() - began - path.run_seconds)
        if path.status is not Status.FINISHED or not len(grid):
            return segments, total


class Alone:
    """What is integrated is the motion by itself: its states are states of the engine."""

    can_bridge = True  # singular positions may be stepped across

    def motion(self, state: State) -> State:
        """The motion's part of a state."""
        return state

    def whole(self, setup: Setup, basis: RowBasis, task: Task, state: State) -> Task:
        """The task of the engine, from that of the motion."""
        return task

    def pass_by(
        self, setup: Setup, task: Task, path: Trajectory, basis: RowBasis, grid: Array, scale: singular.Scale
    ) -> singular.Passed:
        """The way past a small pivot that stopped the engine."""
        return singular.go_on(setup, task, path, basis, grid, scale, engine(setup.method))


def task_of(
    setup: Setup,
    basis: RowBasis,
    state: tuple[float, Array, Array],
    grid: Array,
    watch: Any,
    scales: dict[RowBasis, singular.Scale],
) -> Task:
    """The initial value problem from a state on, on one choice of rows.

    What its pivots are judged by is kept in `scales`.
    """
    from zwang.engines.native.engine import compiled

    program, locked = setup.program("acceleration", basis), setup.locked
    place = slice(len(setup.p), len(setup.p) + len(locked.literal)) if locked else slice(0)
    switches = Switches(locked, place, len(setup.events)) if locked else None
    t, q, v = state
    p = setup.for_kernels(setup.p)
    kernel = compiled(program)
    here = singular.scale_at(basis, state, kernel(**setup.named(program, state))["pivots"])
    scales[basis] = scales[basis] | here if basis in scales else here
    return Task(
        acceleration=program,
        t=t,
        q=q,
        v=v,
        p=p,
        times=grid,
        tol=setup.tol,
        pivot_scale=scales[basis].for_pivots(basis),
        volume=scales[basis].volume,
        growing=0 if basis.damping or FORMS[setup.form].eliminates else len(basis.rows),
        events=event_task(setup, basis),
        switches=switches,
        projection=setup.program("projection", basis) if keeps_on(setup, basis) else None,
        breaks=setup.breaks,
        max_step=setup.max_step,
        quiet_step=setup.quiet_step,
        progress=watch,
    )


def event_task(setup: Setup, basis: RowBasis) -> EventTask | None:
    """The events of a run on the rows chosen for it.

    Behind them come the switches of the model, which stop the run where they fall through zero, and those of the
    events themselves.
    """
    events = setup.events
    falling = [row for row, *_ in setup.locked.rows] if setup.locked else []
    if not events and not falling:
        return None
    gains = GAINS if setup.drift == "baumgarte" else None
    return EventTask.of(
        event_program(setup.system, setup.symbols, setup.running, basis, events, gains, falling),
        direction=(*(e.direction for e in events), *(-1 for _ in falling)),
        stop=(*(e.stop for e in events), *(True for _ in falling)),
        signals=tuple(bool(e.expression.has(Lookup)) for e in events),
    )


def undamped(
    setup: Setup,
    basis: RowBasis,
    states: tuple[tuple[float, Array, Array], ...],
    grid: Array,
    watch: Any,
    scales: dict[RowBasis, singular.Scale],
) -> tuple[RowBasis, Task] | None:
    """Independent rows at the last of some states, by which they are judged, and the task from there; None for more.

    Damped rows go on where their equation has no meaning; independent ones tell. There are more of them than at the
    start where that was a singular position.
    """
    *before, last = states
    plain = basis_at(setup, last, damped=False)
    if len(plain.rows) > len(basis.rows):
        return None
    for state in before:
        task_of(setup, plain, state, grid, watch, scales)
    return plain, task_of(setup, plain, last, grid, watch, scales)


def keeps_on(setup: Setup, basis: RowBasis) -> bool:
    """Whether the state is projected onto the constraints after every step.

    Also where rows are redundant: that they follow from the others is true on the constraints only.
    """
    redundant = len(basis.rows) < len(setup.system.constraints)
    return setup.drift == "projection" or (setup.drift == "none" and redundant)


def engine(method: str) -> Any:
    """The function that integrates a task by a method, from switch to switch."""
    return switching(runner(method))


def segment_of(setup: Setup, basis: RowBasis, grid: Array, path: Trajectory, worked: float) -> Segment:
    """The states that an engine has saved on one choice of rows, after so much work before."""
    trace = path.trace and path.trace.padded(len(path.q), path.worked)
    trace = trace and replace(trace, work=trace.work + worked)
    return Segment(basis, grid[: len(path.q)], path.q, path.v, setup.p, trace)


def joined(first: Trajectory, then: Trajectory) -> Trajectory:
    """Two stretches of one motion as one account."""
    return replace(
        then,
        worked=first.worked + then.worked,
        turned=first.turned + then.turned,
        steps=first.steps + then.steps,
        evaluations=first.evaluations + then.evaluations,
        hits=(*first.hits, *then.hits),
        leapt=first.leapt + then.leapt,
        left=max(first.left, then.left),
        compile_seconds=first.compile_seconds + then.compile_seconds,
        run_seconds=first.run_seconds + then.run_seconds,
        notes=(*first.notes, *then.notes),
    )
