"""Small pivots that stopped an engine: only small, small for these rows only, leapt over, or an honest stop.

What the native engine steps across itself (`crossing`) does not come here, but for the sentences on it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from zwang.arrays import Array
from zwang.engines.gauss import running_integral
from zwang.engines.native.bridge import DOUBT
from zwang.engines.native.engine import LOOSE, ZONE, compiled, run
from zwang.engines.pieces import Search, Watched
from zwang.engines.task import GOES_ON, Bridge, EventHit, Status, Task, Trace, Trajectory, volume_of
from zwang.errors import ZwangError
from zwang.lowering.rows import RowBasis
from zwang.motion.setup import Setup
from zwang.motion.singular.leap import (
    ACCEPT,
    WIDTHS,
    Leap,
    State,
    at_most,
    best_leap,
    direction,
    instant_of,
    kernel_outputs,
    pivots,
    project,
    quiet,
    retraced,
)
from zwang.motion.singular.losing import asked, crossing, losing_rows, not_asked
from zwang.motion.singular.other_rows import independence, other_choice_serves

EARLY = (0.03, 0.003)  # with redundant rows left out, other rows are looked for below these shares of a pivot
ONLY_MASSES = 1e-7  # what `Task.pivot_tol` is to pivots of M, where rows are damped: they cost digits, no more
VANISHES = 1e-9  # a pivot that falls below this share of its scale vanishes; above it, it only comes near
FINE = 1e-12  # the tolerance of the native engine where it stands in for one with a loose tolerance
FOR_GOOD = 1.2  # times the limit of a pivot at which it stops for good
DOUBTFUL = 1e-6  # below it rounding may keep a pivot that vanishes from falling below `VANISHES`
NEXT_TO_LOWER = 1e-3  # rows this short beside their terms, or this near dependence, are next to a lower rank
NOT_LOW = 3.0  # times `ZONE`: a volume above that is not low
STARTS = 4  # that rows are judged by
LOOK_PAST = 5.0  # how far to look past the stop, in times from there to the singular instant
LOOKS_AHEAD = 64  # of the way ahead that pivots are looked at in

RISES = (
    "More constraints are independent there than at the start, which is a singular position, or some of them begin to "
    "act on the way: the motion from there on is not determined by them."
)

ASTRAY = (
    "Near there the constraints branch, and the state is so far off them that it cannot be told which branch it is on: "
    "ask for a tighter tol, or for drift='projection'."
)

IN_CONTACT = "While a contact sticks, no way past it is looked for."

STALLED = "The mass matrix loses rank there; the constraints are as independent as ever."

Engine = Callable[[Task], Trajectory]


@dataclass(frozen=True)
class Scale:
    """What the rows of a choice are judged by: their pivots (g,), the largest at starts with this choice, and these.

    After a leap pivots are small, and say nothing; so the starts are those before.
    """

    pivots: Array
    starts: tuple[State, ...]
    volume: float
    """The largest product of the pivots of rows, as a logarithm."""

    def for_pivots(self, basis: RowBasis) -> Array:
        """The scales of pivots, 1 where they were zero."""
        scale = np.where(self.pivots > 0, self.pivots, 1.0)
        if basis.damping:
            scale[1] = 1 / scale[0]
        return scale

    def along(self, path: Trajectory) -> "Scale":
        """With what an engine has found larger on its way."""
        if path.best is None or path.pivot_scale is None:
            return self
        larger = np.maximum(self.pivots, np.where(self.pivots > 0, path.pivot_scale, 0.0))
        return Scale(larger, (*self.starts[: STARTS - 1], path.best), max(self.volume, path.volume))

    def __or__(self, other: "Scale") -> "Scale":
        """The larger pivots of two, and the starts of both."""
        first, then = (self, other) if self.volume >= other.volume else (other, self)  # the best one is never left out
        return Scale(np.maximum(self.pivots, other.pivots), (*first.starts, *then.starts)[:STARTS], first.volume)


def scale_at(basis: RowBasis, state: State, pivots_there: Array) -> Scale:
    """The scale of a choice of rows at a state."""
    sizes = np.abs(pivots_there)
    if basis.damping:
        sizes[2:] *= ONLY_MASSES / Task.pivot_tol
        sizes[1] = 0.0  # the reciprocal of the first: so is its scale, see `for_pivots`
    return Scale(sizes, (state,), volume_of(sizes[: len(basis.rows)]))


def as_independent_as_ever(setup: Setup, basis: RowBasis, state: State, starts: Sequence[State]) -> bool:
    """Whether the rows are about as long, and all rows as far from a lower rank, as at the best of some starts."""

    def measures(state: State) -> tuple[Array, float]:
        now, rows = setup.matrices(*state), asked(setup, basis)
        return np.linalg.norm(now.A[rows], axis=1), independence(now, every, len(rows))

    every = [i for i in range(len(setup.system.constraint_names)) if i not in not_asked(setup)]
    lengths, apart = measures(state)
    before = [measures(start) for start in starts]
    long = np.max([each for each, _ in before], axis=0)
    return bool(apart > 0.3 * max(each for _, each in before) and (lengths > 0.3 * long).all())


def sticks(setup: Setup) -> bool:
    """Whether a contact sticks."""
    return setup.contact is not None and setup.contact.rough is not None and bool(setup.contact.rough.sticks.any())


def by_name(setup: Setup, basis: RowBasis, path: Trajectory, end: State) -> Trajectory:
    """A path whose steps became too small beside a singular position stopped because of that."""
    if path.status is Status.STEP_TOO_SMALL and beside(setup, basis, end):
        return replace(path, status=Status.SINGULAR)
    return path


def beside(setup: Setup, basis: RowBasis, state: State) -> bool:
    """Whether a state is so near a lower rank that rounding bounds the steps: rows are short, or almost dependent."""
    now = setup.matrices(*state)
    rows = asked(setup, basis)
    lengths, sizes = (np.linalg.norm(X[rows], axis=1) for X in (now.A, now.row_size))
    return bool((lengths < NEXT_TO_LOWER * sizes).any() or independence(now, rows, len(rows)) < NEXT_TO_LOWER)


@dataclass(frozen=True)
class Passed:
    """What became of a vanishing pivot: the way past it (unless its status is `GOES_ON`, the motion stops there).

    `scale` is what to judge later pivots by.
    """

    path: Trajectory
    scale: Scale


def go_on(
    setup: Setup, task: Task, path: Trajectory, basis: RowBasis, grid: Array, scale: Scale, engine: Engine
) -> Passed:
    """Find a way past a small pivot: it may only be small, other rows may serve, or a leap may be made."""
    t = path.end[0]
    if needs_escort(task):
        if (pivots(task, *path.end) > FOR_GOOD * task.pivot_tol * task.pivot_scale).all():
            return Passed(escorted(setup, task, path, grid), scale)
        task = replace(task, tol=FINE)
    if other_choice_serves(setup, path, basis):
        return Passed(stretch(path.end, note=f"Chose other independent rows at t = {t:.9g}."), scale)
    if as_independent_as_ever(setup, basis, path.end, scale.starts):
        now = np.abs(pivots(task, *path.end))
        # As independent as ever: the pivot is small because masses are. (A light cart under a heavy bob: its
        # inertia counts only while the pole is not upright.)
        return Passed(stretch(path.end), replace(scale, pivots=now, volume=volume_of(now[: task.growing])))
    ahead = time_to_go(task, path)
    lowest = smallest_ahead(setup, task, path, ahead)
    [names] = losing_rows(setup, [path.end], basis, scale.starts)
    if lowest > VANISHES:
        near = come_near(task, path, grid, LOOK_PAST * ahead, lowest, engine)
        if lowest > DOUBTFUL or not turned_over(setup, basis, path.end, near.end):
            return Passed(near, scale)
        words = f"The rank of A drops near there: {names}, nearer than can be told from rounding."
        return Passed(stretch(path.end, Status.SINGULAR, words), scale)
    leap = best_leap(setup, task, path, ahead)
    if leap is None or leap.error > max(ACCEPT, task.tol):
        words = f"The rank of A drops near there: {names}, and no way past it was found."
        return Passed(stretch(path.end, Status.SINGULAR, words), scale)
    return Passed(across(task, leap, grid, names), scale)


def only_order(task: Task, end: State, scale: Scale) -> Scale | None:
    """What to judge rows by if their pivots are low because of their order, and not their product; None if not so.

    They are looked at again after a further fall.
    """
    now, rows = pivots(task, *end), np.arange(len(task.pivot_scale)) < task.growing
    low = rows & (now < NOT_LOW * ZONE * task.pivot_scale)
    if not low.any() or not volume_of(now[rows]) > scale.volume + np.log(NOT_LOW * ZONE):
        return None
    return replace(scale, pivots=np.where(low, now, scale.pivots))


def needs_escort(task: Task) -> bool:
    """Whether the engine is left before a pivot is small: its tolerance is loose, and it makes no crossings itself."""
    return bool(task.growing) and task.tol > LOOSE and not task.could_bridge


def left_early(task: Task) -> Task:
    """The task with which the engine is left so: where a row nears dependence. Pivots of M are judged as ever."""
    of_mass = np.arange(len(task.pivot_scale)) >= task.growing
    scale = np.where(of_mass, Task.pivot_tol / ZONE, 1.0) * task.pivot_scale
    return replace(task, pivot_tol=ZONE, pivot_scale=scale)


def escorted(setup: Setup, task: Task, path: Trajectory, grid: Array) -> Trajectory:
    """The native engine, at a tolerance that tells branches apart, to where a pivot vanishes, or past a low one."""
    t, *before = path.end
    q, v = project(setup, t, *before)
    ahead = time_to_go(task, replace(path, end=(t, q, v))) or 0.01 * abs(task.times[-1] - t)
    if np.abs(q - before[0]).max() > DOUBT * ahead * np.abs(v).max():
        return stretch(path.end, Status.SINGULAR, ASTRAY)
    end = at_most(task, LOOK_PAST * ahead, t)
    inside = grid[(grid - end) * direction(task) <= 0]
    times = inside if len(inside) and inside[-1] == end else np.append(inside, end)
    there = run(replace(task, t=t, q=q, v=v, times=times, tol=FINE))
    count = min(len(there.q), len(inside))
    if there.status is Status.SINGULAR and there.end[0] != t:  # the next call goes on from there
        there = replace(there, status=GOES_ON)
    return replace(there, q=there.q[:count], v=there.v[:count], trace=there.trace and there.trace.first(count))


def stretch(end: State, status: Status = GOES_ON, note: str = "") -> Trajectory:
    """A stretch of the motion in which nothing was saved."""
    nothing = np.zeros((0, len(end[1])))
    return Trajectory(status, nothing, nothing, end, notes=(note,) if note else ())


def across(task: Task, leap: "Leap", grid: Array, names: str) -> Trajectory:
    """The states saved and the events met on a leap."""
    end = at_most(task, abs(leap.landing - leap.end), leap.end)
    hits, status = events_between(task, leap, end)
    note = (
        f"Leapt the singular position at t = {instant_of(task, leap, end):.9g} ({names}), from {leap.end:.9g} to "
        f"{end:.9g}; estimated error {leap.error:.1e}."
    )
    if status is Status.EVENT:
        end = hits[-1].t
    inside = grid[(grid - end) * leap.sign <= 0]
    states = [leap.state(float(time)) for time in inside]
    q, v = (np.array([s[i] for s in states]).reshape(len(states), len(task.q)) for i in range(2))
    work = work_on(task, leap, np.append(inside, end))
    trace = Trace(work[:-1], np.zeros_like(v), np.zeros(len(inside)))
    arrival = (end, *leap.state(end))
    worked, leapt = float(work[-1]), leap.error
    return Trajectory(status, q, v, arrival, trace, worked, hits=hits, leapt=leapt, notes=(note,))


def work_on(task: Task, leap: "Leap", times: Array) -> Array:
    """The work of all forces from the beginning of a leap up to some times; at the singular instant none is known."""
    if not task.powers:
        return np.zeros(len(times))

    def power(places: Array) -> Array:
        found = [kernel_outputs(task, float(t), *leap.state(float(t)))["power"][0] for t in places]
        return np.asarray(np.nan_to_num(np.array(found), posinf=0.0, neginf=0.0))

    return running_integral(power, leap.end, times)


def events_between(task: Task, leap: "Leap", end: float) -> tuple[tuple[EventHit, ...], Status]:
    """Events on a leap, up to the first that stops the motion."""
    if task.events is None:
        return (), GOES_ON

    def states(times: Array) -> Array:
        return np.array([np.concatenate(leap.state(float(t))) for t in times])

    first, last = states(np.array([leap.end, end]))
    search = Search(Watched(compiled(task.events.program), task.p, task.events), leap.end, first, end)
    met = search.along((leap.end, first), (end, last), states)
    if met.lost:
        return (), Status.UNRESOLVED
    hits = tuple(EventHit(t, which, *leap.state(t)) for t, which in met.events)
    return hits, Status.EVENT if met.stops else GOES_ON


def smallest_ahead(setup: Setup, task: Task, path: Trajectory, ahead: float) -> float:
    """The smallest pivot just ahead, in units of its scale, computed as well as can be; 0 if it cannot be told."""
    if ahead <= 0:
        return 0.0
    try:
        start = retraced(setup, task, path, [WIDTHS[0] * ahead])[0]
    except ZwangError:
        return 0.0
    first, last = path.end[0], at_most(task, LOOK_PAST * ahead, path.end[0])
    lowest = np.inf
    for _ in range(3):  # each time closer around the smallest
        times = np.linspace(first, last, LOOKS_AHEAD)
        there = run(quiet(task, start, times, VANISHES))
        if there.status is not Status.FINISHED:
            return 0.0
        met = [(pivots(task, *state) / task.pivot_scale).min() for state in zip(times, there.q, there.v, strict=True)]
        at, lowest = int(np.argmin(met)), min(lowest, *met)
        first, last = times[max(at - 1, 0)], times[min(at + 1, LOOKS_AHEAD - 1)]
    return float(lowest)


def come_near(task: Task, path: Trajectory, grid: Array, far: float, lowest: float, engine: Engine) -> Trajectory:
    """Integrate past a pivot that comes near zero but does not vanish."""
    t, q, v = path.end
    end = at_most(task, far, t)
    inside = grid[(grid - end) * direction(task) <= 0]
    times = inside if len(inside) and inside[-1] == end else np.append(inside, end)
    near = engine(replace(task, t=t, q=q, v=v, times=times, pivot_tol=0.01 * lowest, bridge=None, could_bridge=False))
    trace = near.trace and near.trace.first(len(inside))
    return replace(near, q=near.q[: len(inside)], v=near.v[: len(inside)], trace=trace)


def turned_over(setup: Setup, basis: RowBasis, before: State, after: State) -> bool:
    """Whether the rows have the other orientation after a stretch: they have it beyond a place where rank drops.

    There the vanishing combination of rows passes zero and changes its sign; near misses are gone round, and it turns
    with the motion.
    """
    rows = asked(setup, basis)
    first, last = setup.matrices(*before), setup.matrices(*after)
    inner = first.A[rows] @ np.linalg.lstsq(first.M, last.A[rows].T, rcond=None)[0]
    return bool(np.linalg.slogdet(inner)[0] < 0)


def bridges(setup: Setup, basis: RowBasis, path: Trajectory, before: Sequence[State]) -> tuple[str, ...]:
    """A sentence for each singular position that the engine stepped across, after states `before`."""
    met = [
        bridge
        for bridge in path.bridges
        if (bridge.least <= VANISHES or turned_over(setup, basis, bridge.start, bridge.end))
        and not stopped_before(bridge, path.end[0])
    ]
    earlier = (*(bridge.start for bridge in met), *before)
    names = losing_rows(setup, [crossing(bridge) for bridge in met], basis, earlier)
    return tuple(
        f"Leapt the singular position at t = {bridge.instant:.9g} ({what}), from {bridge.start[0]:.9g} to "
        f"{bridge.end[0]:.9g}."
        for bridge, what in zip(met, names, strict=True)
    )


def stopped_before(bridge: Bridge, end: float) -> bool:
    """Whether an event stopped the motion before a crossing's instant."""
    way = bridge.end[0] - bridge.start[0]
    return bool((bridge.instant - end) * np.sign(way) > 1e-6 * abs(way))


def time_to_go(task: Task, path: Trajectory) -> float:
    """How long from the stop to the singular instant, from how the smallest pivot falls towards it.

    A pivot is a square, and falls like (t_s − t)²: its root is extrapolated in a straight line.
    """
    t, q, v = path.end
    sign = direction(task)
    now = pivots(task, t, q, v) / task.pivot_scale
    which = int(np.argmin(now))
    root = np.sqrt(max(now[which], 0.0))
    h = 1e-3 * abs(t - task.t)
    for _ in range(30):
        grid = np.array([t, t - sign * h])
        before = run(quiet(task, path.end, grid))
        if before.status is not Status.FINISHED:
            return 0.0
        earlier = pivots(task, grid[1], before.q[-1], before.v[-1])[which] / task.pivot_scale[which]
        fall = np.sqrt(max(float(earlier), 0.0)) - root
        if fall <= 0:
            return 0.0
        if fall < 0.2 * root:  # near enough for a straight line
            return float(h * root / fall)
        h /= 4
    return 0.0
