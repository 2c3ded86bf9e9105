"""The course of a motion: the engine, from stretch to stretch, past what stops it."""

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.compile import AnyProgram
from zwang.engines.native.engine import compiled
from zwang.engines.registry import engine_of, runner
from zwang.engines.task import GOES_ON, Rest, Status, Task, Trajectory, altered, both
from zwang.errors import MassError, UndeterminedError
from zwang.formulations.forms import FORMS
from zwang.lowering.cache import Kept
from zwang.lowering.resting import multiplied
from zwang.lowering.rows import RowBasis
from zwang.motion.at_switch import Along, InLoops
from zwang.motion.observe import Segment, first
from zwang.motion.resets.jump import Jump, Resets
from zwang.motion.setup import Setup
from zwang.motion.singular import way_past as singular
from zwang.motion.singular.other_rows import other_choice_serves, soon_after
from zwang.motion.start import State, basis_at
from zwang.motion.switching import Switches, switching
from zwang.motion.watching import event_task, watched_first, with_solution

_PIVOTS: Kept[Array] = Kept()

STALLS = 1  # a second one in a row: nothing stands in the way, and yet the motion gets nowhere
NOWHERE = 1e-3  # of the time since the start: stretches below it get nowhere


def integrate(
    setup: Setup,
    state: State,
    grid: Array,
    watch: Any,
    first: RowBasis | None = None,
    kind: "Alone | None" = None,
    at_zero: tuple[int, ...] = (),
) -> tuple[list[Segment], Trajectory]:
    """Run the engine; where it stops before a small pivot, find the way past it. `first` is the choice at the start.

    `kind` says what is integrated: the motion alone, or more beside it. Events `at_zero` have been met at the start.
    """
    nothing = Trajectory(GOES_ON, state[1][None][:0], state[2][None][:0], state)
    drive = Drive(setup, kind or Alone(), watch, state, Resets(setup, abs(float(grid[-1]) - state[0])))
    at = Reached(state, grid, state[0], nothing, first, at_zero=at_zero)
    while not at.done:
        at = unless_undetermined(at, drive.stretch)
    return list(at.segments), at.total


def unless_undetermined(at: "Reached", go_on: Callable[["Reached"], "Reached"]) -> "Reached":
    """How a motion goes on; where nothing says how, it ends there with what it has. A start like that is refused."""
    try:
        return go_on(at)
    except (UndeterminedError, MassError) as error:
        if not at.total.steps:
            raise
        return at.singular(at.total.end, f"There {error}.")


@dataclass(frozen=True)
class Reached:
    """How far a motion has got between two stretches of the engine."""

    state: State
    """Where the next stretch begins."""
    grid: Array
    """The times yet to be saved."""
    since: float
    """The start, or the last way past a small pivot: a leap may look back as far."""
    total: Trajectory
    """The account of all stretches until now."""
    kept: RowBasis | None = None
    """The rows to go on with, though the engine stopped on them; without, they are chosen anew."""
    bridge: bool = False
    """Whether the engine has the kernel for stepping across singular positions: not before it has met one."""
    looks: int = 0
    """How often other rows were looked for early, and none were better."""
    stalls: int = 0
    """How often in a row the engine got nowhere and nothing stood in the way."""
    beyond: State | None = None
    """Where rows are chosen instead: at a switch, where the engine got nowhere, the motion is on one of its sides."""
    at_zero: tuple[int, ...] = ()
    """Events that were met here, and count as zero until they have left it."""
    segments: tuple[Segment, ...] = ()
    done: bool = False

    def end(self) -> "Reached":
        """The motion ends here."""
        return altered(self, done=True)

    def singular(self, end: State, words: str) -> "Reached":
        """The motion stops at a singular position, and says why."""
        return altered(self, total=joined(self.total, singular.stretch(end, Status.SINGULAR, words)), done=True)


@dataclass(frozen=True)
class Stretch:
    """What the engine was asked in one stretch, on which rows, and what it answered."""

    basis: RowBasis
    task: Task
    early: bool
    """Whether it was to stop early, to look for other rows."""
    path: Trajectory


@dataclass(frozen=True)
class Drive:
    """One motion: from stretch to stretch of the engine, past what stops it."""

    setup: Setup
    kind: "Alone"
    watch: Any
    origin: State
    resets: Resets
    scales: dict[RowBasis, singular.Scale] = field(default_factory=dict)
    """What pivots are judged by, of each choice of rows; it grows with what the motion meets."""

    def stretch(self, at: Reached) -> Reached:
        """Run the engine once, save what it did, and see what its end means."""
        basis = at.kept or basis_at(self.setup, at.beyond or self.kind.motion(at.state))
        began = clock.perf_counter()
        task, early = self.task(at, basis)
        compiling = at.total.compile_seconds + clock.perf_counter() - began
        at = altered(at, total=altered(at.total, compile_seconds=compiling))
        path = engine(self.setup.method)(self.kind.whole(self.setup, basis, task, at.state))
        path = with_solution(self.setup, basis, path, self.kind.motion(path.end))
        path = singular.by_name(self.setup, basis, path, self.kind.motion(path.end))
        if path.bridges:
            path = altered(
                path, notes=(*path.notes, *singular.bridges(self.setup, basis, path, self.scales[basis].starts))
            )
        at = self.saved(at, basis, path)
        if task.growing:  # pivots are judged by the largest that were met
            best = path.best and self.kind.motion(path.best)
            self.scales[basis] = self.scales[basis].along(altered(path, best=best))
            task = altered(task, pivot_scale=self.scales[basis].for_pivots(basis))
        if path.status is not Status.SINGULAR:
            # in contact what is closed has to be decided anew: that is for others to do
            fired = () if self.setup.contact else self.resets.fired(path.hits, path.end[0])
            return self.jump(at, basis, path, fired) if path.status is Status.EVENT and fired else at.end()
        if path.astray:
            return at.singular(path.end, singular.ASTRAY)
        made = Stretch(basis, task, early, path)
        return unless_undetermined(at, lambda now: self.once_more(now, made) or self.past(now, made))

    def task(self, at: Reached, basis: RowBasis) -> tuple[Task, bool]:
        """The engine's task from here on, and whether it is to stop early."""
        setup, kind = self.setup, self.kind
        task = task_of(setup, basis, kind.motion(at.state), at.grid, self.watch, self.scales)
        task = altered(task, at_zero=at.at_zero)
        # While rows are left out as redundant (Gibbs and Appell's form), those chosen may become dependent though all
        # together do not. Their equation is ill-conditioned long before, so other rows are looked for early.
        early = bool(unused(setup, basis)) and at.looks < len(singular.EARLY)
        if early:
            task = altered(task, pivot_tol=singular.EARLY[at.looks])
        able = kind.can_bridge and engine_of(setup.method).can_bridge
        could = able and not FORMS[setup.form].eliminates and not basis.damping and not basis.masked
        # The native engine steps across singular positions itself, but needs a kernel for that: most motions meet
        # none, so it is made when the first one is met.
        kernel = setup.program("projection", basis) if could and at.bridge else None
        task = altered(task, could_bridge=could, bridge=kernel)
        return singular.left_early(task) if singular.needs_escort(task) else task, early

    def saved(self, at: Reached, basis: RowBasis, path: Trajectory) -> Reached:
        """The states and the account of a stretch, added to those before."""
        segment = segment_of(self.setup, basis, at.grid, path, at.total)
        rest, total = at.grid[len(path.q) :], joined(at.total, path)
        zero = at.at_zero if path.end[0] == at.state[0] else ()
        return altered(at, grid=rest, total=total, segments=(*at.segments, segment), at_zero=zero)

    def jump(self, at: Reached, basis: RowBasis, path: Trajectory, fired: tuple[int, ...]) -> Reached:
        """The state after the resets of events; states saved at that very instant are those after it."""
        made = self.resets.jump(self.kind.motion(path.end), basis, fired)
        total = altered(at.total, worked=at.total.worked + made.gain, hits=made.hits(at.total.hits))
        if made.wrong:
            return altered(at, total=altered(total, status=Status.BAD_RESET, notes=(*total.notes, made.wrong))).end()
        t, saved = path.end[0], sum(len(s.times) for s in at.segments)
        times = np.concatenate([*(s.times for s in at.segments), at.grid])
        before = min(saved, int(np.searchsorted(times, t)))
        segments = (*first(list(at.segments), before),)
        at = altered(at, state=self.kind.across(self.setup, path.end, made), segments=segments, grid=times[before:])
        at = altered(at, since=t, kept=made.rows[1], at_zero=made.at_zero, looks=0, stalls=0, total=total)
        ends = any(self.setup.events[i].stop for i in fired)
        return at.end() if ends else altered(at, total=altered(total, status=GOES_ON))

    def once_more(self, at: Reached, made: Stretch) -> Reached | None:
        """The same rows from where the engine stopped, if it stopped for want of something; None if not so."""
        basis, task, end = made.basis, made.task, self.kind.motion(made.path.end)
        again = altered(at, state=made.path.end, kept=basis)
        if task.could_bridge and not at.bridge:
            return altered(again, bridge=True)
        if singular.sticks(self.setup):
            return at.singular(made.path.end, singular.IN_CONTACT)
        if singular.needs_escort(task):
            lower = singular.only_order(task, end, self.scales[basis])
            if lower is not None:
                self.scales[basis] = lower
                return again
        if made.early and not other_choice_serves(self.setup, altered(made.path, end=end), basis):
            return altered(again, looks=at.looks + 1)
        return None

    def past(self, at: Reached, made: Stretch) -> Reached:
        """The way past the small pivot that stopped the engine, or the end of the motion."""
        setup, motion = self.setup, self.kind.motion
        basis, task, path = made.basis, made.task, made.path
        began, plain = clock.perf_counter(), basis
        if basis.damping:  # damped rows go on where they have no meaning: independent ones tell
            met = (motion(self.origin), motion(at.state), motion(path.end))
            found = undamped(setup, basis, met, at.grid, self.watch, self.scales)
            if found is None:
                return at.singular(path.end, singular.RISES)
            plain, task = found
        task = altered(task, t=at.since, pivot_tol=Task.pivot_tol)
        passed = self.kind.pass_by(setup, task, path, plain, at.grid, self.scales[plain])
        # a way that took time leaves the rows as good as they were; otherwise they are chosen anew where they failed
        kept = basis if passed.path.end[0] != path.end[0] else None
        creeps = abs(path.end[0] - at.since) <= NOWHERE * abs(path.end[0] - self.origin[0])
        stalls = at.stalls + 1 if kept is None and creeps else 0
        if stalls > STALLS:
            return at.singular(path.end, singular.STALLED)
        if basis.damping and kept is None:
            del self.scales[basis]  # they are only small: from here on their size is the measure
        self.scales[plain] = passed.scale
        way = singular.by_name(setup, plain, passed.path, motion(passed.path.end))
        at = self.saved(at, plain, way)
        running = at.total.run_seconds + clock.perf_counter() - began - way.run_seconds
        since = at.since if way.steps else way.end[0]
        beyond = soon_after(setup, plain, motion(way.end), at.grid) if stalls else None
        at = altered(at, state=way.end, since=since, kept=kept, looks=0, stalls=stalls, beyond=beyond)
        at = altered(at, total=altered(at.total, run_seconds=running))
        return at if way.status is GOES_ON and len(at.grid) else at.end()


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

    def across(self, setup: Setup, before: State, jump: Jump) -> State:
        """The state after a jump."""
        return jump.after


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
    program, locked = setup.program("acceleration", basis), setup.locked
    place = slice(len(setup.p), len(setup.p) + len(locked.literal)) if locked else slice(0)
    own = watched_first(setup) + setup.margins
    if locked and setup.lowered.description.reactions:
        locked = altered(locked, readings=setup.program("readings", basis))
    switches = Switches(locked, place, own) if locked else None
    if switches and setup.may_rest:
        held = setup.contact
        linger = np.flatnonzero(held.open * held.slack).tolist() if held is not None else []
        pauses = tuple(len(setup.events) + k for k in linger)
        switches = altered(
            switches, along=partial(along_of, setup, basis), may_rest=setup.may_rest, pauses=pauses,
            still=() if held is None else held.still,
        )  # fmt: skip
    t, q, v = state
    p = setup.for_kernels(setup.p)

    def pivots() -> Array:
        return compiled(program)(**setup.named(program, state))["pivots"]

    # those of a start are kept, for the next motion from there; but not of one that signals have a say in
    key = (program, t, q.tobytes(), v.tobytes(), p.tobytes())
    here = singular.scale_at(basis, state, pivots() if setup.signals else _PIVOTS.get(key, pivots))
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
        pencil=setup.pencil(basis),
        breaks=setup.breaks,
        max_step=setup.max_step,
        quiet_step=setup.quiet_step,
        progress=watch,
    )


def along_of(setup: Setup, basis: RowBasis) -> Along:
    """The programs of a motion some of whose switches rest."""
    events, locked, model = event_task(setup, basis, rests=True), setup.locked, setup.resting
    families = setup.families_at_rest
    assert events is not None
    assert locked is not None

    def made(kind: str) -> AnyProgram:
        return setup.program(kind, basis, rests=True)

    along = Along(
        which=list(setup.may_rest),
        multiplied=families.multiplied if families else partial(multiplied, model),
        acceleration=made("acceleration"),
        events=events,
        readings=locked.readings,
        shares=made("shares"),
        loops=InLoops(made("response"), made("onto"), bool(basis.damping)) if families else None,
        projection=setup.program("projection", basis) if basis.used else None,
    )
    implicit = setup.lowered.description.reactions
    return altered(along, readings=made("readings")) if implicit else along


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
    redundant = bool(basis.redundant(len(setup.system.constraint_names)))
    return setup.drift == "projection" or (setup.drift == "none" and redundant)


def unused(setup: Setup, basis: RowBasis) -> tuple[int, ...]:
    """Rows that are redundant and left out."""
    return () if basis.damping else basis.redundant(len(setup.system.constraint_names))


def engine(method: str) -> Any:
    """The function that integrates a task by a method, from switch to switch."""
    return switching(runner(method))


def segment_of(setup: Setup, basis: RowBasis, grid: Array, path: Trajectory, before: Trajectory) -> Segment:
    """The states that an engine has saved on one choice of rows, after the work that was done before."""
    trace = path.trace and path.trace.padded(len(path.q), path.worked, path.parts)
    if trace:
        parts = trace.parts + before.parts if trace.parts.size and before.parts.size else trace.parts
        trace = altered(trace, work=trace.work + before.worked, parts=parts)
    modes = path.modes if path.modes is not None and len(path.modes) else None
    return Segment(basis, grid[: len(path.q)], path.q, path.v, setup.p, trace, setup.contact, modes)


def rested(before: tuple[Rest, ...], after: tuple[Rest, ...]) -> tuple[Rest, ...]:
    """What rested in two stretches; a rest that goes on where the first ended is one."""
    found = list(before)
    for rest in after:
        same = next((k for k, old in enumerate(found) if old.switch == rest.switch and old.end == rest.begin), None)
        if same is None:
            found.append(rest)
        else:
            found[same] = altered(found[same], end=rest.end)
    return tuple(found)


def joined(first: Trajectory, then: Trajectory) -> Trajectory:
    """Two stretches of one motion as one account."""
    return altered(
        then,
        worked=first.worked + then.worked,
        parts=both(first.parts, then.parts),
        turned=first.turned + then.turned,
        steps=first.steps + then.steps,
        evaluations=first.evaluations + then.evaluations,
        hits=(*first.hits, *then.hits),
        kicks=(*first.kicks, *then.kicks),
        rests=rested(first.rests, then.rests),
        leapt=first.leapt + then.leapt,
        left=max(first.left, then.left),
        compile_seconds=first.compile_seconds + then.compile_seconds,
        run_seconds=first.run_seconds + then.run_seconds,
        notes=(*first.notes, *then.notes),
    )
