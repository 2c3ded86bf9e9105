"""Where a pivot vanishes: other rows, a leap across an isolated singular position, or an honest stop.

At a singular position the explicit equation reads 0/0, but the motion itself passes smoothly: a linkage that
flattens goes on along its branch. A polynomial through the motion a little before the singular instant is still
accurate a little after it. So the motion is fitted on a window before, evaluated on the far side, brought back to
the constraints, and checked there against the equation itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial import chebyshev

from zwang.errors import UndeterminedError, ZwangError
from zwang.linalg.factors import factorise
from zwang.linalg.newton import nearest_root
from zwang.linalg.rank import row_norms
from zwang.motion import explicit
from zwang.motion.native import compiled, run
from zwang.motion.task import Array, Happening, Path, Status, Task

if TYPE_CHECKING:
    from zwang.motion.simulate import Setup

HEALTHY = 1e-4  # a squared relative pivot above this leaves twelve digits
APART = 1e-2  # unit rows this far from dependence are independent without doubt, whatever the masses
BETTER = 3.0  # how much further from dependence other rows must be, to be worth a new program
EARLY = (0.03, 0.003)  # with redundant rows left out, other rows are looked for below these shares of a pivot
SINGULAR = 1e-9  # a pivot that falls below this share of its scale vanishes; above it, it only comes near
NODES = 32  # states that a polynomial is fitted to, positions and velocities
DEGREES = (6, 8, 10, 12, 14, 16)
WIDTHS = (4, 8, 16, 32, 64)  # widths of the window before the stop, in times from there to the singular instant
BEYOND = 5.0  # how far to look past the stop, in the same times
TIGHT = 1e-14  # tolerance of the states that polynomials are fitted to
ACCEPT = 1e-4  # relative disagreement of the accelerations after a leap beyond which it is not believed
PROBE = 10_000  # steps after which a look ahead gives up
PARTS = 64  # of a leap, each searched for events

State = tuple[float, Array, Array]
Engine = Callable[[Task], Path]


@dataclass(frozen=True)
class Scale:
    """What the rows of a choice are judged by: their pivots (g,), lengths (r,), and how far from dependence they are.

    The largest that were met at a start with this choice: after a leap they are small, and say nothing.
    """

    pivots: Array
    lengths: Array
    independence: float

    def __or__(self, other: "Scale") -> "Scale":
        """The larger of two, in everything."""
        return Scale(
            np.maximum(self.pivots, other.pivots),
            np.maximum(self.lengths, other.lengths),
            max(self.independence, other.independence),
        )


def scale_at(setup: "Setup", choice: explicit.Choice, state: State, pivots_there: Array) -> Scale:
    """The scale of a choice of rows at a state."""
    A = setup.matrices(*state).A[list(choice.rows)]
    return Scale(np.abs(pivots_there), np.linalg.norm(A, axis=1), independence(A))


def independence(A: Array) -> float:
    """How far rows are from dependence: the smallest singular value of the unit rows."""
    return float(np.linalg.svd(A / row_norms(A)[:, None], compute_uv=False).min(initial=1.0))


@dataclass(frozen=True)
class Passed:
    """What became of a vanishing pivot: the way past it (unless it finished, the motion stops there).

    `scale` is what to judge later pivots by.
    """

    path: Path
    scale: Scale


def go_on(
    setup: "Setup", task: Task, path: Path, choice: explicit.Choice, grid: Array, scale: Scale, engine: Engine
) -> Passed:
    """Find a way past a small pivot: it may only be small, other rows may serve, or a leap may be made."""
    t = path.end[0]
    if other_choice_serves(setup, path, choice):
        return Passed(stretch(path.end, note=f"Chose other independent rows at t = {t:.9g}."), scale)
    now = scale_at(setup, choice, path.end, pivots(task, *path.end))
    if now.independence > 0.3 * scale.independence and (now.lengths > 0.3 * scale.lengths).all():
        # As independent as ever: the pivot is small because masses are. (A light cart under a heavy bob: its
        # inertia counts only while the pole is not upright.)
        return Passed(stretch(path.end), replace(scale, pivots=now.pivots))
    ahead = time_to_go(task, path)
    lowest = smallest_ahead(setup, task, path, ahead)
    if lowest > SINGULAR:
        return Passed(come_near(task, path, grid, BEYOND * ahead, lowest, engine), scale)
    names = losing_rows(setup, path, choice)
    leap = best_leap(setup, task, path, ahead)
    if leap is None or leap.error > max(ACCEPT, task.tol):
        words = f"The rank of A drops near there: {names}, and no way past it was found."
        return Passed(stretch(path.end, Status.SINGULAR, words), scale)
    return Passed(across(task, leap, grid, names), scale)


def stretch(end: State, status: Status = Status.FINISHED, note: str = "") -> Path:
    """A stretch of the motion in which nothing was saved."""
    nothing = np.zeros((0, len(end[1])))
    return Path(status, nothing, nothing, end, notes=(note,) if note else ())


def across(task: Task, leap: "Leap", grid: Array, names: str) -> Path:
    """The states saved and the events met on a leap."""
    end = at_most(task, abs(leap.landing - leap.end), leap.end)
    happenings, status = events_between(task, leap, end)
    note = (
        f"Leapt the singular position at t = {instant_of(task, leap, end):.9g} ({names}), from {leap.end:.9g} to "
        f"{end:.9g}; estimated error {leap.error:.1e}."
    )
    if status is Status.EVENT:
        end = happenings[-1].t
    inside = grid[(grid - end) * leap.sign <= 0]
    states = [leap.state(float(time)) for time in inside]
    q, v = (np.array([s[i] for s in states]).reshape(len(states), len(task.q)) for i in range(2))
    return Path(status, q, v, (end, *leap.state(end)), happenings=happenings, notes=(note,))


def events_between(task: Task, leap: "Leap", end: float) -> tuple[tuple[Happening, ...], Status]:
    """Events on a leap, by the signs of their expressions at many points; up to the first that stops the motion."""
    if task.events is None:
        return (), Status.FINISHED
    kernel, events = compiled(task.events.program), task.events
    from scipy.optimize import brentq  # half a second to import, and leaps over events are rare

    def reading(t: float) -> Array:
        return kernel(**inputs(task, t, *leap.state(t)))["event"]

    points = np.linspace(leap.end, end, PARTS + 1)
    values = np.array([reading(float(t)) for t in points])
    met = []
    for j, (direction, stop) in enumerate(zip(events.direction, events.stop, strict=True)):
        for k in range(PARTS):
            before, after = values[k, j], values[k + 1, j]
            rises = before < 0 <= after and direction >= 0
            if rises or (before > 0 >= after and direction <= 0):
                t = float(brentq(lambda s, j=j: reading(s)[j], points[k], points[k + 1], xtol=1e-15))
                met.append((leap.sign * t, j, stop))
    met.sort()
    first = next((at for at, (_, _, stop) in enumerate(met) if stop), None)
    status = Status.FINISHED if first is None else Status.EVENT
    kept = met if first is None else met[: first + 1]
    return tuple(Happening(leap.sign * s, j, *leap.state(leap.sign * s)) for s, j, _ in kept), status


def smallest_ahead(setup: "Setup", task: Task, path: Path, ahead: float) -> float:
    """The smallest pivot just ahead, in units of its scale, computed as well as can be; 0 if it cannot be told."""
    if ahead <= 0:
        return 0.0
    try:
        start = retraced(setup, task, path, [WIDTHS[0] * ahead])[0]
    except ZwangError:
        return 0.0
    first, last = path.end[0], at_most(task, BEYOND * ahead, path.end[0])
    lowest = np.inf
    for _ in range(3):  # each time closer around the smallest
        times = np.linspace(first, last, PARTS)
        there = run(quiet(task, start, times, SINGULAR))
        if there.status is not Status.FINISHED:
            return 0.0
        met = [(pivots(task, *state) / task.pivot_scale).min() for state in zip(times, there.q, there.v, strict=True)]
        at, lowest = int(np.argmin(met)), min(lowest, *met)
        first, last = times[max(at - 1, 0)], times[min(at + 1, PARTS - 1)]
    return float(lowest)


def come_near(task: Task, path: Path, grid: Array, far: float, lowest: float, engine: Engine) -> Path:
    """Integrate past a pivot that comes near zero but does not vanish."""
    t, q, v = path.end
    end = at_most(task, far, t)
    inside = grid[(grid - end) * direction(task) <= 0]
    times = inside if len(inside) and inside[-1] == end else np.append(inside, end)
    near = engine(replace(task, t=t, q=q, v=v, times=times, pivot_tol=0.01 * lowest))
    return replace(near, q=near.q[: len(inside)], v=near.v[: len(inside)])


def at_most(task: Task, far: float, t: float) -> float:
    """A time ahead, but not beyond the end."""
    end = t + direction(task) * far
    return float(task.times[-1]) if (end - task.times[-1]) * direction(task) > 0 else end


def direction(task: Task) -> float:
    """1 forwards, −1 backwards in time."""
    return 1.0 if task.times[-1] >= task.t else -1.0


def quiet(task: Task, start: State, times: Array, pivot_tol: float = 0.0) -> Task:
    """The same motion, computed as well as can be and for our eyes only."""
    t, q, v = start
    return replace(
        task, t=t, q=q, v=v, times=times, tol=min(task.tol, TIGHT), pivot_tol=pivot_tol, events=None, projection=None,
        progress=None, step_limit=PROBE,
    )  # fmt: skip


def other_choice_serves(setup: "Setup", path: Path, choice: explicit.Choice) -> bool:
    """Whether rows (or eliminated coordinates) chosen anew at this state are regular here."""
    from zwang.motion.start import polished

    try:
        now = polished(setup, path.end)
        new = explicit.choose(now, setup.system.coordinate_names, setup.form)
    except ZwangError:
        return False
    if new == choice or len(new.rows) != len(choice.rows):
        return False
    factors = factorise(now.M[None], now.A[None, list(new.rows)], len(new.rows), setup.system.coordinate_names)
    regular = 1 / np.linalg.norm(factors.Ri[0], ord=2) ** 2 > HEALTHY
    if new.rows == choice.rows:
        return bool(regular)
    before, after = (independence(now.A[list(c.rows)]) for c in (choice, new))
    return bool((regular or after > APART) and after > BETTER * before)


def losing_rows(setup: "Setup", path: Path, choice: explicit.Choice) -> str:
    """What becomes of the constraints there, by name: they become dependent, or the row of one vanishes."""
    t, q, v = path.end
    now = setup.matrices(t, q, v)
    rows = list(choice.rows)
    factors = factorise(now.M[None], now.A[None, rows], len(rows), setup.system.coordinate_names)
    # the combination of unit rows that vanishes
    weights = np.abs(np.linalg.svd(factors.Ri[0])[0][:, 0])
    involved = [rows[int(factors.order[0, i])] for i in range(len(rows)) if weights[i] > 0.05 * weights.max()]
    names = [setup.system.constraint_names[i] for i in sorted(involved)]
    if len(names) == 1:
        return f"the row of {names[0]} vanishes"
    return f"{', '.join(names)} become dependent"


@dataclass(frozen=True)
class Leap:
    """A polynomial motion across a singular instant, good from the end of its window to `landing`."""

    setup: "Setup"
    coefficients: Array
    window: tuple[float, float]
    landing: float
    error: float

    @property
    def sign(self) -> float:
        """1 forwards, −1 backwards in time."""
        return float(np.sign(self.window[1] - self.window[0]))

    @property
    def end(self) -> float:
        """Where the window of computed states ends."""
        return self.window[1]

    def state(self, t: float) -> tuple[Array, Array]:
        """Position and velocity at a time, brought back to the constraints."""
        q, v, _ = evaluate(self.coefficients, self.window, t)
        return project(self.setup, t, q, v)


def best_leap(setup: "Setup", task: Task, path: Path, ahead: float) -> Leap | None:
    """Of leaps from windows of different width and polynomials of different degree, the one that errs least."""
    t, sign = path.end[0], direction(task)
    room = (t - task.t) * sign
    widths = sorted({min(width * ahead, room) for width in WIDTHS})
    if ahead <= 0:
        return None
    landing = t + 2.5 * sign * ahead  # further than symmetric, so that the pivot is clear of its limit there
    try:
        starts = retraced(setup, task, path, widths)
    except ZwangError:
        return None
    leaps = [leap for start in starts for leap in leaps_from(setup, task, start, t, landing)]
    return min(leaps, key=lambda leap: leap.error, default=None)


def retraced(setup: "Setup", task: Task, path: Path, widths: list[float]) -> list[State]:
    """States some times before the stop, brought to the constraints there, where that moves them little."""
    t = path.end[0]
    grid = np.array([t, *(t - direction(task) * width for width in widths)])
    back = run(quiet(task, path.end, grid))
    if back.status is not Status.FINISHED:
        raise UndeterminedError("the motion before the singular position cannot be retraced")
    states = zip(grid[1:], back.q[1:], back.v[1:], strict=True)
    return [(float(s), *project(setup, float(s), q, v)) for s, q, v in states]


def leaps_from(setup: "Setup", task: Task, start: State, t: float, landing: float) -> list[Leap]:
    """Leaps from the window between a start and the stop; those that do not come out well are left out."""
    window = (start[0], t)
    times = (start[0] + t) / 2 - (t - start[0]) / 2 * np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)  # Chebyshev's
    there = run(quiet(task, start, times))
    if there.status is not Status.FINISHED:
        return []
    fits = [fitted(times, there.q, there.v, window, degree) for degree in DEGREES]
    leaps = [judged(setup, task, fit, window, landing) for fit in fits]
    return [leap for leap in leaps if leap is not None]


def judged(setup: "Setup", task: Task, fit: Array, window: tuple[float, float], landing: float) -> Leap | None:
    """A leap, if the polynomial obeys constraints and equation of motion on the far side; with its error.

    How far the polynomial misses the constraints there, in position and velocity, and the equation of motion over
    the length of the leap, is how far it can be trusted.
    """
    position, velocity, acceleration = evaluate(fit, window, landing)
    q, v = project(setup, landing, position, velocity)
    there = kernel_outputs(task, landing, q, v)
    actual = there["acceleration"]
    if not (np.isfinite(actual).all() and (there["pivots"] > task.pivot_tol * task.pivot_scale).all()):
        return None  # still there
    if relative(acceleration - actual, actual) > ACCEPT:
        return None
    astray = relative((acceleration - actual) * (landing - window[1]), v)
    error = max(relative(position - q, q), relative(velocity - v, v), astray)
    return Leap(setup, fit, window, landing, error)


def instant_of(task: Task, leap: Leap, end: float) -> float:
    """When the smallest pivot is least along the polynomial motion, by golden section."""

    def smallest(t: float) -> float:
        q, v, _ = evaluate(leap.coefficients, leap.window, t)
        return float((pivots(task, t, q, v) / task.pivot_scale).min())

    a, b = leap.end, end
    ratio = (np.sqrt(5) - 1) / 2
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    low_c, low_d = smallest(c), smallest(d)
    for _ in range(40):
        if low_c < low_d:
            b, d, low_d = d, c, low_c
            c = b - ratio * (b - a)
            low_c = smallest(c)
        else:
            a, c, low_c = c, d, low_d
            d = a + ratio * (b - a)
            low_d = smallest(d)
    return (a + b) / 2


def relative(difference: Array, whole: Array) -> float:
    """The size of a difference, relative to that of the whole where that is above one."""
    return float(np.abs(difference).max() / max(1.0, np.abs(whole).max()))


def time_to_go(task: Task, path: Path) -> float:
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


def fitted(times: Array, q: Array, v: Array, window: tuple[float, float], degree: int) -> Array:
    """Chebyshev coefficients (degree + 1, n) of the polynomial nearest to positions and velocities."""
    x, half = to_unit(times, window)
    values = chebyshev.chebvander(x, degree)
    basis = np.eye(degree + 1)
    slopes = np.stack([chebyshev.chebval(x, chebyshev.chebder(basis[k])) for k in range(degree + 1)], axis=1)
    return np.asarray(np.linalg.lstsq(np.vstack([values, slopes]), np.vstack([q, v * half]), rcond=None)[0])


def evaluate(coefficients: Array, window: tuple[float, float], t: float) -> tuple[Array, Array, Array]:
    """Position, velocity and acceleration of the polynomial motion."""
    x, half = to_unit(np.array(t), window)
    first = chebyshev.chebder(coefficients)
    second = chebyshev.chebder(first)
    return (
        np.asarray(chebyshev.chebval(x, coefficients)),
        np.asarray(chebyshev.chebval(x, first)) / half,
        np.asarray(chebyshev.chebval(x, second)) / half**2,
    )


def to_unit(t: Array, window: tuple[float, float]) -> tuple[Any, float]:
    """Time in the window as a number from −1 to 1, and half the window's width."""
    half = (window[1] - window[0]) / 2
    return (t - (window[0] + window[1]) / 2) / half, half


def project(setup: "Setup", t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """The nearest state on the constraints, positions first."""
    order = np.array([c.order for c in setup.system.constraints], dtype=int)
    holonomic, first = np.flatnonzero(order == 0), np.flatnonzero(order <= 1)

    def positions(x: Array) -> tuple[Array, Array]:
        now = setup.matrices(t, x, v)
        return now.position[holonomic], now.A[holonomic]

    q, _ = nearest_root(positions, q, 1e-14, 20)

    def velocities(x: Array) -> tuple[Array, Array]:
        now = setup.matrices(t, q, x)
        return now.velocity[first], now.A[first]

    v, _ = nearest_root(velocities, v, 1e-14, 20)
    return q, v


def pivots(task: Task, t: float, q: Array, v: Array) -> Array:
    """The pivots at a state."""
    return kernel_outputs(task, t, q, v)["pivots"]


def kernel_outputs(task: Task, t: float, q: Array, v: Array) -> dict[str, Array]:
    """What the task's acceleration program says at a state."""
    return compiled(task.acceleration)(**inputs(task, t, q, v))


def inputs(task: Task, t: float, q: Array, v: Array) -> dict[str, Any]:
    """A state and the task's parameters as its programs take them."""
    named: dict[str, Any] = {"t": np.array([t]), "q": q, "v": v}
    at = 0
    for name in list(task.acceleration.inputs)[3:]:
        count = len(task.acceleration.inputs[name])
        named[name] = task.p[at : at + count]
        at += count
    return named
