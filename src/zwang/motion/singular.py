"""Where a pivot vanishes: other rows, a leap across an isolated singular position, or an honest stop.

At a singular position the explicit equation reads 0/0, but the motion itself passes smoothly: a linkage that
flattens goes on along its branch. A polynomial through the motion a little before the singular instant is still
accurate a little after it. So the motion is fitted on a window before, evaluated on the far side, brought back to
the constraints, and checked there against the equation itself.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial import chebyshev

from zwang.errors import UndeterminedError, ZwangError
from zwang.linalg.factors import factorise
from zwang.linalg.newton import nearest_root
from zwang.motion import explicit
from zwang.motion.native import compiled, run
from zwang.motion.task import Array, Path, Status, Task

if TYPE_CHECKING:
    from zwang.motion.simulate import Setup

HEALTHY = 1e-4  # a squared relative pivot above this leaves twelve digits
SINGULAR = 1e-7  # a pivot that falls below this share of its scale vanishes; above it, it only comes near
NODES = 32  # states that a polynomial is fitted to, positions and velocities
DEGREES = (6, 8, 10, 12, 14, 16)
WIDTHS = (4, 8, 16, 32, 64)  # widths of the window before the stop, in times from there to the singular instant
TIGHT = 1e-14  # tolerance of the states that polynomials are fitted to
ACCEPT = 1e-4  # relative disagreement of the accelerations after a leap beyond which it is not believed


@dataclass(frozen=True)
class Passed:
    """What became of a vanishing pivot: the state to go on from (None: stop), states saved on the way, and words."""

    state: tuple[float, Array, Array] | None
    q: Array
    v: Array
    note: str


def go_on(setup: "Setup", task: Task, path: Path, choice: explicit.Choice, grid: Array) -> Passed:
    """Find a way past a small pivot: it may only come near zero, other rows may serve, or a leap may be made."""
    t = path.end[0]
    none = np.zeros((0, len(task.q)))
    if other_choice_serves(setup, path, choice):
        return Passed(path.end, none, none, f"Chose other independent rows at t = {t:.9g}.")
    leap = best_leap(setup, task, path)
    if leap is not None and leap.lowest > SINGULAR:
        return come_near(task, path, leap, grid)
    names = losing_rows(setup, path, choice)
    if leap is None or leap.error > max(ACCEPT, task.tol):
        words = f"The rank of A drops there: {names} depend on each other, and the motion beyond is not determined."
        return Passed(None, none, none, words)
    inside = grid[(grid - leap.landing) * leap.sign <= 0]
    states = [leap.state(float(time)) for time in inside]
    note = (
        f"Leapt the singular position at t = {leap.instant:.9g} ({names}), from {leap.end:.9g} to {leap.landing:.9g}; "
        f"estimated error {leap.error:.1e}."
    )
    if not states:
        return Passed(leap.landed, none, none, note)
    return Passed(leap.landed, np.array([s[0] for s in states]), np.array([s[1] for s in states]), note)


def come_near(task: Task, path: Path, leap: "Leap", grid: Array) -> Passed:
    """Integrate past a pivot that comes near zero but does not vanish."""
    t, q, v = path.end
    end = leap.instant + 4 * (leap.instant - t)
    if (end - task.times[-1]) * leap.sign > 0:
        end = float(task.times[-1])
    inside = grid[(grid - end) * leap.sign <= 0]
    times = np.append(inside, end)
    path = run(replace(task, t=t, q=q, v=v, times=times, pivot_tol=0.01 * leap.lowest, events=None, progress=None))
    if path.status is not Status.FINISHED:
        return Passed(None, path.q[: len(inside)], path.v[: len(inside)], f"A pivot almost vanishes at t = {t:.9g}.")
    return Passed(path.end, path.q[: len(inside)], path.v[: len(inside)], "")


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
    smallest = 1 / np.linalg.norm(factors.Ri[0], ord=2)
    return bool(smallest**2 > HEALTHY)


def losing_rows(setup: "Setup", path: Path, choice: explicit.Choice) -> str:
    """The constraints that become dependent, by name."""
    t, q, v = path.end
    now = setup.matrices(t, q, v)
    rows = list(choice.rows)
    factors = factorise(now.M[None], now.A[None, rows], len(rows), setup.system.coordinate_names)
    # the combination of unit rows that vanishes
    weights = np.abs(np.linalg.svd(factors.Ri[0])[0][:, 0])
    involved = [rows[int(factors.order[0, i])] for i in range(len(rows)) if weights[i] > 0.05 * weights.max()]
    return ", ".join(setup.system.constraint_names[i] for i in sorted(involved))


@dataclass(frozen=True)
class Leap:
    """A polynomial motion across a singular instant, good from `end` to `landing`."""

    setup: "Setup"
    coefficients: Array
    window: tuple[float, float]
    instant: float
    landing: float
    landed: tuple[float, Array, Array]
    error: float
    lowest: float
    """The smallest pivot met on the way, in units of its scale."""

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


def best_leap(setup: "Setup", task: Task, path: Path) -> Leap | None:
    """Of leaps from windows of different width and polynomials of different degree, the one that errs least."""
    ahead = time_to_go(task, path)
    leaps = [leap for width in WIDTHS for leap in try_leaps(setup, task, path, ahead, width * ahead)]
    return min(leaps, key=lambda leap: leap.error, default=None)


def try_leaps(setup: "Setup", task: Task, path: Path, ahead: float, width: float) -> list[Leap]:
    """Leaps from a window that ends at the stop; those that do not come out well are left out."""
    t = path.end[0]
    sign = 1.0 if task.times[-1] >= task.t else -1.0
    window = (t - sign * width, t)
    if ahead <= 0 or (window[0] - task.t) * sign < 0:
        return []
    landing = t + 2.5 * sign * ahead  # further than symmetric, so that the pivot is clear of its limit there
    if (t + sign * ahead - task.times[-1]) * sign > 0:
        landing = float(task.times[-1])
    try:
        times, q, v = computed(setup, task, path, window)
        fits = [fitted(times, q, v, window, degree) for degree in DEGREES]
        leaps = [judged(setup, task, fit, window, landing) for fit in fits]
        return [leap for leap in leaps if leap is not None]
    except ZwangError:
        return []


def judged(setup: "Setup", task: Task, fit: Array, window: tuple[float, float], landing: float) -> Leap | None:
    """A leap, if the polynomial obeys constraints and equation of motion on the far side; with its error.

    How far the polynomial misses the constraints there, in position and velocity, is how far it can be trusted.
    """
    position, velocity, acceleration = evaluate(fit, window, landing)
    q, v = project(setup, landing, position, velocity)
    there = kernel_outputs(task, landing, q, v)
    actual = there["acceleration"]
    if not np.isfinite(actual).all() or (there["pivots"] <= 0).any():
        return None
    if relative(acceleration - actual, actual) > ACCEPT:
        return None
    error = max(relative(position - q, q), relative(velocity - v, v))
    instant, lowest = lowest_pivot(task, fit, window, landing)
    return Leap(setup, fit, window, instant, landing, (landing, q, v), error, lowest)


def lowest_pivot(task: Task, fit: Array, window: tuple[float, float], landing: float) -> tuple[float, float]:
    """When the smallest pivot is least along the polynomial motion, and how small it is, by golden section."""

    def smallest(t: float) -> float:
        q, v, _ = evaluate(fit, window, t)
        return float((pivots(task, t, q, v) / task.pivot_scale).min())

    a, b = window[1], landing
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
    return (a + b) / 2, max(min(low_c, low_d), 0.0)


def relative(difference: Array, whole: Array) -> float:
    """The size of a difference, relative to that of the whole where that is above one."""
    return float(np.abs(difference).max() / max(1.0, np.abs(whole).max()))


def time_to_go(task: Task, path: Path) -> float:
    """How long from the stop to the singular instant, from how the smallest pivot falls towards it.

    A pivot is a square, and falls like (t_s − t)²: its root is extrapolated in a straight line.
    """
    t, q, v = path.end
    sign = 1.0 if task.times[-1] >= task.t else -1.0
    now = pivots(task, t, q, v) / task.pivot_scale
    which = int(np.argmin(now))
    root = np.sqrt(max(now[which], 0.0))
    h = 1e-3 * abs(t - task.t)
    for _ in range(30):
        grid = np.array([t, t - sign * h])
        before = run(replace(task, t=t, q=q, v=v, times=grid, pivot_tol=0.0, events=None, progress=None))
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


def computed(setup: "Setup", task: Task, path: Path, window: tuple[float, float]) -> tuple[Array, Array, Array]:
    """States at Chebyshev's points of a window, integrated back from the stop, each brought to the constraints."""
    t, q, v = path.end
    middle, half = (window[0] + window[1]) / 2, (window[1] - window[0]) / 2
    times = middle + half * np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)  # from the end of the window backwards
    grid = np.concatenate([[t], times])
    back = run(replace(task, t=t, q=q, v=v, times=grid, tol=TIGHT, pivot_tol=0.0, events=None, progress=None))
    if back.status is not Status.FINISHED:
        raise UndeterminedError("the motion before the singular position cannot be retraced")
    states = [project(setup, float(s), qs, vs) for s, qs, vs in zip(times, back.q[1:], back.v[1:], strict=True)]
    return times, np.array([s[0] for s in states]), np.array([s[1] for s in states])


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
    inputs: dict[str, Any] = {"t": np.array([t]), "q": q, "v": v}
    at = 0
    for name in list(task.acceleration.inputs)[3:]:
        count = len(task.acceleration.inputs[name])
        inputs[name] = task.p[at : at + count]
        at += count
    return compiled(task.acceleration)(**inputs)
