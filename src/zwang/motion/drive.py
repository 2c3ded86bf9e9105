"""The course of a motion: the engine, from stretch to stretch, past what stops it."""

import time as clock
from dataclasses import replace
from typing import Any

from zwang.arrays import Array
from zwang.engines.registry import engine_of, runner
from zwang.engines.task import EventTask, Path, Status, Task
from zwang.formulations.forms import FORMS
from zwang.lowering.acceleration import GAINS
from zwang.lowering.events import event_program
from zwang.lowering.rows import Choice
from zwang.model.signal import Lookup
from zwang.motion.observe import Segment
from zwang.motion.setup import Setup
from zwang.motion.singular import way_past as singular
from zwang.motion.start import choice_at
from zwang.motion.switching import Switches, switching

State = tuple[float, Array, Array]

STALLS = 1
CREEPING = 1e-3  # of the time since the start: stretches below it get nowhere


def integrate(
    setup: Setup,
    state: tuple[float, Array, Array],
    grid: Array,
    watch: Any,
    first: Choice | None = None,
    kind: "Alone | None" = None,
) -> tuple[list[Segment], Path]:
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
    scales: dict[Choice, singular.Scale] = {}
    kept = first  # a choice to go on with, though the engine stopped on it
    crossing = False  # whether the engine has the kernel for crossings; not before it has met one
    looks = 0  # at other rows, that found none better
    stalls = 0  # times in a row that the engine got nowhere and nothing stood in the way
    origin = state
    since = state[0]  # the start, or the last way past a small pivot: a leap may look back as far
    total = Path(Status.FINISHED, state[1][None][:0], state[2][None][:0], state)
    while True:
        choice = kept or choice_at(setup, motion(state))
        began = clock.perf_counter()
        task = task_of(setup, choice, motion(state), grid, watch, scales)
        early = len(choice.used) < len(setup.system.constraints) and looks < len(singular.EARLY)
        if early:
            task = replace(task, pivot_tol=singular.EARLY[looks])
        could = (
            kind.crosses and engine_of(setup.method).crosses and not FORMS[setup.form].eliminates and not choice.damping
        )
        kernel = setup.program("projection", choice) if could and crossing else None
        total = replace(total, compile_seconds=total.compile_seconds + clock.perf_counter() - began)
        task = replace(task, could_cross=could, crossing=kernel)
        if singular.needs_escort(task):
            task = singular.left_early(task)
        path = engine(setup.method)(kind.whole(setup, choice, task, state))
        path = singular.by_name(setup, choice, path, motion(path.end))
        path = replace(path, notes=(*path.notes, *singular.crossings(setup, choice, path)))
        segments.append(segment_of(setup, choice, grid, path, total.worked))
        grid = grid[len(path.q) :]
        total = joined(total, path)
        if task.growing:
            scales[choice] = scales[choice].along(replace(path, best=path.best and motion(path.best)))
            task = replace(task, pivot_scale=scales[choice].for_pivots(choice))
        if path.status is not Status.SINGULAR:
            return segments, total
        if path.astray:
            return segments, joined(total, singular.stretch(path.end, Status.SINGULAR, singular.ASTRAY))
        if could and not crossing:
            kept, state, crossing = choice, path.end, True
            continue
        if singular.needs_escort(task):
            lower = singular.only_order(task, motion(path.end), scales[choice])
            if lower is not None:
                kept, state, scales[choice] = choice, path.end, lower
                continue
        if early and not singular.other_choice_serves(setup, replace(path, end=motion(path.end)), choice):
            kept, looks, state = choice, looks + 1, path.end
            continue
        began, plain = clock.perf_counter(), choice
        if choice.damping:
            met = (motion(origin), motion(state), motion(path.end))
            found = undamped(setup, choice, met, grid, watch, scales)
            if found is None:
                return segments, joined(total, singular.stretch(path.end, Status.SINGULAR, singular.RISES))
            plain, task = found
        task = replace(task, t=since, pivot_tol=Task.pivot_tol)
        passed = kind.pass_by(setup, task, path, plain, grid, scales[plain])
        kept, looks = choice if passed.path.end[0] != path.end[0] else None, 0
        creeps = abs(path.end[0] - state[0]) <= CREEPING * abs(path.end[0] - origin[0])
        stalls = stalls + 1 if kept is None and creeps else 0
        if stalls > STALLS:
            return segments, joined(total, singular.stretch(path.end, Status.SINGULAR, singular.STALLED))
        if choice.damping and kept is None:
            del scales[choice]  # small, but well: what is small here is the new measure
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

    crosses = True  # singular positions may be stepped across

    def motion(self, state: State) -> State:
        """The motion's part of a state."""
        return state

    def whole(self, setup: Setup, choice: Choice, task: Task, state: State) -> Task:
        """The task of the engine, from that of the motion."""
        return task

    def pass_by(
        self, setup: Setup, task: Task, path: Path, choice: Choice, grid: Array, scale: singular.Scale
    ) -> singular.Passed:
        """The way past a small pivot that stopped the engine."""
        return singular.go_on(setup, task, path, choice, grid, scale, engine(setup.method))


def task_of(
    setup: Setup,
    choice: Choice,
    state: tuple[float, Array, Array],
    grid: Array,
    watch: Any,
    scales: dict[Choice, singular.Scale],
) -> Task:
    """The initial value problem from a state on, on one choice of rows.

    What its pivots are judged by is kept in `scales`.
    """
    from zwang.engines.native.engine import compiled

    program, locked = setup.program("acceleration", choice), setup.locked
    place = slice(len(setup.p), len(setup.p) + len(locked.literal)) if locked else slice(0)
    switches = Switches(locked, place, len(setup.events)) if locked else None
    t, q, v = state
    p = setup.all_parameters
    kernel = compiled(program)
    here = singular.scale_at(choice, state, kernel(**setup.named(program, state))["pivots"])
    scales[choice] = scales[choice] | here if choice in scales else here
    return Task(
        acceleration=program,
        t=t,
        q=q,
        v=v,
        p=p,
        times=grid,
        tol=setup.tol,
        pivot_scale=scales[choice].for_pivots(choice),
        volume=scales[choice].volume,
        growing=0 if choice.damping or FORMS[setup.form].eliminates else len(choice.rows),
        events=event_task(setup, choice),
        switches=switches,
        projection=setup.program("projection", choice) if keeps_on(setup, choice) else None,
        breaks=setup.breaks,
        max_step=setup.max_step,
        quiet_step=setup.quiet_step,
        progress=watch,
    )


def event_task(setup: Setup, choice: Choice) -> EventTask | None:
    """The events of a run on the rows chosen for it.

    Behind them come the switches of the state, which stop the run where they fall through zero.
    """
    events = setup.events
    falling = [row for row, *_ in setup.locked.rows] if setup.locked else []
    if not events and not falling:
        return None
    gains = GAINS if setup.drift == "baumgarte" else None
    return EventTask(
        event_program(setup.system, setup.symbols, setup.running, choice, events, gains, falling),
        direction=(*(e.direction for e in events), *(-1 for _ in falling)),
        stop=(*(e.stop for e in events), *(True for _ in falling)),
        signals=tuple(bool(e.expression.has(Lookup)) for e in events),
    )


def undamped(
    setup: Setup,
    choice: Choice,
    states: tuple[tuple[float, Array, Array], ...],
    grid: Array,
    watch: Any,
    scales: dict[Choice, singular.Scale],
) -> tuple[Choice, Task] | None:
    """Independent rows at the last of some states, by which they are judged, and the task from there; None for more.

    Damped rows go on where their equation has no meaning; independent ones tell. There are more of them than at the
    start where that was a singular position.
    """
    *before, last = states
    plain = choice_at(setup, last, damped=False)
    if len(plain.rows) > len(choice.rows):
        return None
    for state in before:
        task_of(setup, plain, state, grid, watch, scales)
    return plain, task_of(setup, plain, last, grid, watch, scales)


def keeps_on(setup: Setup, choice: Choice) -> bool:
    """Whether the state is projected onto the constraints after every step.

    Also where rows are redundant: that they follow from the others is true on the constraints only.
    """
    redundant = len(choice.rows) < len(setup.system.constraints)
    return setup.drift == "projection" or (setup.drift == "none" and redundant)


def engine(method: str) -> Any:
    """The function that integrates a task by a method, from switch to switch."""
    return switching(runner(method))


def segment_of(setup: Setup, choice: Choice, grid: Array, path: Path, worked: float) -> Segment:
    """The states that an engine has saved on one choice of rows, after so much work before."""
    trace = path.trace and path.trace.padded(len(path.q), path.worked)
    trace = trace and replace(trace, work=trace.work + worked)
    return Segment(choice, grid[: len(path.q)], path.q, path.v, setup.p, trace)


def joined(first: Path, then: Path) -> Path:
    """Two stretches of one motion as one account."""
    return replace(
        then,
        worked=first.worked + then.worked,
        turned=first.turned + then.turned,
        steps=first.steps + then.steps,
        evaluations=first.evaluations + then.evaluations,
        happenings=(*first.happenings, *then.happenings),
        leapt=first.leapt + then.leapt,
        left=max(first.left, then.left),
        compile_seconds=first.compile_seconds + then.compile_seconds,
        run_seconds=first.run_seconds + then.run_seconds,
        notes=(*first.notes, *then.notes),
    )
