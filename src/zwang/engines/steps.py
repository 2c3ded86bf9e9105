"""One step of a SciPy solver after another: saved times, events, health and breaks on the way.

`march` steps the solver objects of `scipy.integrate` itself instead of calling `solve_ivp`: a state can then be
brought back to its constraints after each step, an interrupt loses nothing, and a run ends with a `Status`.
"""

import time as clock
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from zwang.arrays import EPS, Array
from zwang.engines.gauss import running_integral
from zwang.engines.pieces import Met, Search, Watched
from zwang.engines.rounding import DROWNED, drowns
from zwang.engines.task import GOES_ON, PROGRESS_EVERY, STEP_LIMIT, EventHit, Status, Trace, Trajectory
from zwang.errors import ZwangError

OFTEN = 1000  # steps between two looks at whether rounding holds up the run
CLOSER = 8  # times that a dip of the health is looked at closer, in as many places
NUDGE = 1e-4  # of the way from one look to the next: for a slope
FAINT = 100.0  # a dip beside which the slope would have to be so many times steeper to reach zero is not looked at
SCIPY_DEGREE = 12  # of the polynomials that SciPy's solvers interpolate with, at most
RETRIES = 20  # of a step that met NaN
DRIFT = 100.0  # in tolerances; a state that is this far off its constraints is put back, whatever that costs


@dataclass(frozen=True)
class SteppedProblem:
    """ẏ = slope(t, y) with y = (q, v), and what is watched along the motion.

    `health` (of times (k,) and states (k, 2n)) is positive where the equation holds, and looked at in `looks` places
    of each step. `trouble` says why the slopes since it was last asked were of no use, if they were. `project`
    brings a state back to its constraints.
    """

    slope: Callable[[float, Array], Array]
    trouble: Callable[[], Status | None]
    jacobian: Callable[[float, Array], Array] | None = None
    health: Callable[[Array, Array], Array] | None = None
    looks: int = 8
    events: Watched | None = None
    project: Callable[[float, Array], Array] | None = None
    arrived: Callable[[float, Array], None] = lambda t, y: None
    """Told the end of each step."""
    power: Callable[[Array, Array], Array] | None = None
    """The powers (k, p) at times (k,) and states (k, 2n), if there are some: of all forces, then of parts."""
    powers: int = 1


@dataclass
class Log:
    """How far a run has come: its state, what was saved on the way, and what happened."""

    problem: SteppedProblem
    times: Array
    progress: Callable[[float], None] | None
    sign: float
    t: float
    y: Array
    search: Search | None
    """For events."""
    max_step: float = np.inf
    saved: list[Array] = field(default_factory=list)
    traces: list[tuple[Array, float, Array]] = field(default_factory=list)
    """Of each saved time the works up to it, the size of the step around it and the slope of v there."""
    works: Array = field(default_factory=lambda: np.zeros(1))
    turned: float = 0.0
    hits: list[EventHit] = field(default_factory=list)
    steps: int = 0
    evaluations: int = 0
    longest: float = 0.0
    """The longest step of the last stretch."""
    told: float = 0.0
    notes: tuple[str, ...] = ()

    def slope(self, t: float, y: Array) -> Array:
        """The problem's slope; every call is counted as an evaluation."""
        self.evaluations += 1
        return self.problem.slope(t, y)

    def due(self, until: float) -> Array:
        """The requested times up to one that are not written down yet."""
        ahead = self.times[len(self.saved) :]
        return np.asarray(ahead[: int(np.searchsorted(self.sign * ahead, self.sign * until, side="right"))])

    def save(
        self, until: float, read: Callable[[float], Array], traces: list[tuple[Array, float, Array]] | None = None
    ) -> None:
        """Write down the requested times up to one, and what is kept of them."""
        due = self.due(until)
        self.traces += [(self.works, 0.0, np.zeros(len(self.y) // 2))] * len(due) if traces is None else traces
        self.saved += [self.put(float(t), read(float(t))) for t in due]

    def put(self, t: float, y: Array) -> Array:
        """A state as it is handed out: on its constraints, if that is asked for."""
        return self.problem.project(t, y) if self.problem.project else y

    def go(self, t: float, y: Array) -> None:
        """Make this the present state, brought back to its constraints if that is asked for."""
        self.t, self.y = t, self.put(t, y)
        self.problem.arrived(self.t, self.y)

    def note(self, met: Met, read: Callable[[float], Array]) -> None:
        """Write down events."""
        n = len(self.y) // 2
        for t, which in met.events:
            y = self.put(t, read(t))
            self.hits.append(EventHit(t, which, y[:n], y[n:]))

    def tell(self) -> None:
        """A word on progress, now and then."""
        now = clock.perf_counter()
        if self.progress and now - self.told > PROGRESS_EVERY:
            self.told = now
            self.progress(self.t)

    def path(self, status: Status, seconds: float) -> Trajectory:
        """The trajectory so far, with a status."""
        n = len(self.y) // 2
        saved = np.array(self.saved).reshape(-1, 2 * n)
        return Trajectory(
            status=status,
            q=saved[:, :n],
            v=saved[:, n:],
            trace=Trace.of(self.traces, n),
            end=(float(self.t), self.y[:n].copy(), self.y[n:].copy()),
            worked=float(self.works[0]),
            parts=self.works[1:],
            turned=self.turned,
            steps=self.steps,
            evaluations=self.evaluations,
            hits=tuple(self.hits),
            run_seconds=seconds,
            notes=self.notes,
        )


def march(
    problem: SteppedProblem,
    solver: Any,
    state: tuple[float, Array, Array],
    times: Array,
    tol: float,
    breaks: Array,
    progress: Callable[[float], None] | None,
    max_step: float = np.inf,
) -> Trajectory:
    """Integrate by a class of SciPy's solvers from a state through the times to save, to the last of them."""
    began = clock.perf_counter()
    t, q, v = state
    end = float(times[-1])
    y = np.concatenate([q, v])
    search = Search(problem.events, t, y, end) if problem.events else None
    works = np.zeros(problem.powers)
    log = Log(problem, times, progress, 1.0 if end >= t else -1.0, t, y, search, max_step, works=works)
    try:
        status = begin(log)
        for start, stop in stretches(t, end, breaks):
            if status is not GOES_ON:
                break
            status = cross(log, start)
            if status is GOES_ON:
                status = stretch(log, solver, stop, tol)
        if progress:
            progress(log.t)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return log.path(status, clock.perf_counter() - began)


def begin(log: Log) -> Status:
    """Whether the run can start: `GOES_ON` if so, otherwise why not."""
    slope = log.slope(log.t, log.y)
    trouble = log.problem.trouble()
    if not np.isfinite(slope).all():
        return trouble or Status.NOT_FINITE
    if log.problem.health and not (log.problem.health(np.array([log.t]), log.y[None]) > 0).all():
        return Status.SINGULAR
    return GOES_ON


def stretches(t: float, end: float, breaks: Array) -> Iterator[tuple[float, float]]:
    """From the start to the first break, from its other side to the next, and so on to the end."""
    sign = 1.0 if end >= t else -1.0
    before = np.asarray(breaks)[::-1] if sign < 0 else np.asarray(breaks)
    after = np.nextafter(before, np.inf)
    for left, right in zip(before, after, strict=True):
        stop, start = (float(left), float(right)) if sign > 0 else (float(right), float(left))
        if sign * (stop - t) >= 0 and sign * (start - end) <= 0:
            yield t, stop
            t = start
    yield t, end


def cross(log: Log, start: float) -> Status:
    """To the other side of a break: the least change of time there is, after which events may read otherwise."""
    met = log.search.cross(start, log.y) if log.search and log.t != start else Met()
    log.t = start
    log.note(met, lambda _: log.y)
    log.save(start, lambda _: log.y)
    return Status.EVENT if met.stops else GOES_ON


def stretch(log: Log, solver: Any, stop: float, tol: float) -> Status:
    """Steps to a time up to which the slope is smooth."""
    if log.t == stop:
        log.save(stop, lambda _: log.y)
        return GOES_ON
    at = make(log, solver, stop, tol)
    log.longest, before = 0.0, log.t
    while at.status == "running":
        if log.steps >= STEP_LIMIT:
            return Status.TOO_MANY_STEPS
        advanced = step(at) and np.isfinite(at.y).all()
        if advanced and at.status == "running":  # LSODA goes on where it no longer gets on
            advanced = at.step_size > 4 * EPS * abs(at.t)
        trouble = log.problem.trouble()
        if not advanced:
            return trouble or Status.STEP_TOO_SMALL
        log.steps += 1
        log.longest = max(log.longest, at.step_size)
        status = hand_out(log, at)
        if status is not GOES_ON:
            return status
        if log.problem.project:
            at = go_on_from(log, at, solver, stop, tol)
        if log.steps % OFTEN == 0:
            if drowns(
                partial(log.slope, log.t), log.y, tol, abs(log.t - before) / OFTEN, abs(stop - log.t), STEP_LIMIT
            ):
                log.notes += (DROWNED,)
                return Status.STEP_TOO_SMALL
            before = log.t
        log.tell()
    return GOES_ON


def make(log: Log, solver: Any, stop: float, tol: float) -> Any:
    """A solver at the state; it begins with the step that served before, LSODA, at order one, with a small one."""
    size = log.longest * (np.sqrt(tol) if solver.__name__ == "LSODA" else 1.0)
    first = min(size, abs(stop - log.t)) if size else None
    given = {"jac": log.problem.jacobian} if log.problem.jacobian else {}
    with quiet():
        return solver(
            log.slope, log.t, log.y, stop, rtol=tol, atol=tol, first_step=first, max_step=log.max_step, **given
        )


def step(at: Any) -> bool:
    """One step; False if it could not be made."""
    for _ in range(RETRIES):
        try:
            with quiet():
                at.step()
            return bool(at.status != "failed")
        except ValueError as error:
            # Radau meets some NaN at trial states only in its linear algebra, which refuses them.
            if isinstance(error, ZwangError) or not (hasattr(at, "LU_real") and "infs or NaNs" in str(error)):
                raise
            at.h_abs, at.LU_real, at.LU_complex = at.h_abs / 4, None, None
    return False


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings of what a status will say: LSODA's own words, singular matrices, NaN on the way."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.filterwarnings("ignore", message="lsoda|Diagonal number|Ill-conditioned")
        yield


def hand_out(log: Log, at: Any) -> Status:
    """Health, events and saved times of the step just made; `GOES_ON` if the run may."""
    piece = cache(at.dense_output)  # DOP853 has to evaluate slopes for it

    def read(t: float) -> Array:
        return np.asarray(at.y if t == at.t else log.y if t == log.t else piece()(t))

    def states(times: Array) -> Array:
        return np.asarray(at.y[None] if times.tolist() == [at.t] else piece()(times).T)

    end, status = healthy_until(log, at.t, states)
    if log.search:
        met = log.search.along((log.t, log.y), (at.t, at.y), states, end)
        if met.lost:
            return Status.UNRESOLVED
        log.note(met, read)
        if met.stops:
            end, status = met.events[-1][0], Status.EVENT
    due = log.due(end)
    work = log.works + works_in(log, np.append(due, end), states)
    slopes = slopes_of(piece(), log.t, at.t, due) if len(due) else ()
    inside = abs(at.t - log.t) * (due != at.t)
    log.save(end, read, list(zip(work, map(float, inside), slopes, strict=False)))
    log.turned += abs(float(work[-1, 0] - log.works[0]))
    log.works = work[-1]
    log.go(end, read(end))
    return status


def works_in(log: Log, times: Array, states: Callable[[Array], Array]) -> Array:
    """(T, p) the works of forces from the beginning of the step up to some times in it."""
    power, count = log.problem.power, log.problem.powers
    if power is None:
        return np.zeros((len(times), count))
    return running_integral(lambda t: power(t, states(t)), log.t, times, (count,))


def slopes_of(piece: Any, start: float, end: float, times: Array) -> Array:
    """v̇ of the motion as a solver has interpolated it in a step, at some times (T, n).

    The piece is a polynomial of no more than twelfth degree: Chebyshev's through as many places is the same.
    """
    places = np.cos(np.pi * (np.arange(SCIPY_DEGREE + 1) + 0.5) / (SCIPY_DEGREE + 1))
    half, middle = (end - start) / 2, (start + end) / 2
    n = len(piece(start)) // 2
    coefficients = np.linalg.solve(chebyshev.chebvander(places, SCIPY_DEGREE), piece(middle + half * places)[n:].T)
    return np.asarray(chebyshev.chebval((times - middle) / half, chebyshev.chebder(coefficients)).T / half)


def healthy_until(log: Log, end: float, states: Callable[[Array], Array]) -> tuple[float, Status]:
    """The end of the step, or the last instant of it at which the equation holds."""
    watch = log.problem.health
    if watch is None:
        return end, GOES_ON

    def each(times: Array) -> Array:
        return watch(times, states(times)).reshape(len(times), -1)

    def health(times: Array) -> Array:
        return np.asarray(each(times).min(axis=1))

    if log.problem.looks == 1:
        times = np.array([end])
        found = health(times)
    else:
        times, found = looks(each, np.linspace(log.t, end, log.problem.looks + 1))
    if (found > 0).all():
        return end, GOES_ON
    ill = int(np.argmin(found > 0))
    good, bad = float(times[ill - 1] if ill else log.t), float(times[ill])
    while abs(bad - good) > 1e-3 * abs(end - log.t):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if health(np.array([middle]))[0] > 0 else (good, middle)
    return good, Status.SINGULAR


def looks(health: Callable[[Array], Array], times: Array) -> tuple[Array, Array]:
    """Health at some times of a step, and at the bottom of every dip between them, however narrow.

    It has several parts (k, g), which dip each by itself: one that is low all along must not hide the others.
    """
    nudge = NUDGE * (times[1] - times[0]) * np.append(np.ones(len(times) - 1), -1.0)
    found, beside = health(np.concatenate([times, times + nudge])).reshape(2, len(times), -1)
    rising = (beside - found) * nudge[:, None] * (times[1] - times[0]) > 0
    fall = np.abs(beside - found) / NUDGE  # from one look to the next, at that slope
    deep = FAINT * np.maximum(fall[:-1], fall[1:]) > np.minimum(found[:-1], found[1:])
    dips = np.argwhere(~rising[:-1] & rising[1:] & deep)
    found = found.min(axis=1)
    for i, part in dips:
        a, b = times[i], times[i + 1]
        for _ in range(CLOSER):
            grid = np.linspace(a, b, CLOSER)
            low = int(np.argmin(values := health(grid)[:, part]))
            if values[low] <= 0:
                break
            a, b = grid[max(low - 1, 0)], grid[min(low + 1, CLOSER - 1)]
        times, found = np.append(times, grid[low]), np.append(found, values[low])
    order = np.argsort(times * np.sign(nudge[0]))
    return times[order], found[order]


def go_on_from(log: Log, at: Any, solver: Any, stop: float, tol: float) -> Any:
    """The solver, at the state brought back to its constraints.

    A one-step method takes the new state as it is. LSODA would have to start anew, and does so only when the state
    has drifted by more than its own errors; states handed out are on their constraints in any case.
    """
    if at.status != "running":
        return at
    if solver.__name__ == "LSODA":
        far = np.abs(log.y - at.y) > DRIFT * tol * (1 + np.abs(at.y))
        return make(log, solver, stop, tol) if far.any() else at
    at.y, at.f = log.y, log.slope(log.t, log.y)
    return at
