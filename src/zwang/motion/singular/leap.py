"""Leaps across a singular position, where the engine makes no step across it (`crossing`) or the run ends inside.

The motion passes smoothly, so a polynomial through it a little before the singular instant is still accurate a little
after it: fitted on a window before, evaluated on the far side, brought back to the constraints, and checked there
against the equation itself.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from zwang.arrays import TINIEST, Array
from zwang.engines.native.engine import compiled, run
from zwang.engines.task import Status, Task, Trajectory, named, packed
from zwang.errors import UndeterminedError, ZwangError
from zwang.linalg.newton import Equations, nearest_root
from zwang.motion.setup import Setup
from zwang.motion.start import onto_constraints

FITTED = 32  # states that a polynomial is fitted to, positions and velocities
DEGREES = (6, 8, 10, 12, 14, 16)
WIDTHS = (4, 8, 16, 32, 64)  # widths of the window before the stop, in times from there to the singular instant
TIGHT = 1e-14  # tolerance of the states that polynomials are fitted to
ACCEPT = 1e-4  # relative disagreement of the accelerations after a leap beyond which it is not believed
GOOD = 0.1  # of the tolerance: an error of a leap that needs no better one
CLEAR = 1.5  # times as far behind a singular position as its pivots are at their limit: there a leap lands
PROBE = 10_000  # steps after which a look at the motion nearby gives up

State = tuple[float, Array, Array]


@dataclass(frozen=True)
class Leap:
    """A polynomial motion across a singular instant, good from the end of its window to `landing`."""

    setup: Setup
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


def best_leap(setup: Setup, task: Task, path: Trajectory, ahead: float) -> Leap | None:
    """Of leaps from windows of different width and polynomials of different degree, the first that is as good as the
    steps of the motion, or the one that errs least.
    """
    t, sign = path.end[0], direction(task)
    room = (t - task.t) * sign
    widths = sorted({min(width * ahead, room) for width in WIDTHS})
    if ahead <= 0:
        return None
    # further than symmetric, so that pivots, which grow as squares, are clear of their limit there; damped rows have
    # stopped the engine where those of independent ones may be below it
    low = float((pivots(task, *path.end) / task.pivot_scale).min())
    landing = t + sign * ahead * (1 + CLEAR * max(1.0, np.sqrt(task.pivot_tol / max(low, TINIEST))))
    try:
        starts = retraced(setup, task, path, widths)
    except ZwangError:
        return None
    best = None
    for start in starts:
        leaps = leaps_from(setup, task, start, t, landing)
        best = min([*leaps, *([best] if best else [])], key=lambda leap: leap.error, default=None)
        if best and best.error < GOOD * task.tol:
            break
    return best


def retraced(setup: Setup, task: Task, path: Trajectory, widths: list[float]) -> list[State]:
    """States some times before the stop, brought to the constraints there, where that moves them little."""
    t = path.end[0]
    grid = np.array([t, *(t - direction(task) * width for width in widths)])
    back = run(quiet(task, path.end, grid))
    if back.status is not Status.FINISHED:
        raise UndeterminedError("the motion before the singular position cannot be retraced")
    states = zip(grid[1:], back.q[1:], back.v[1:], strict=True)
    return [(float(s), *project(setup, float(s), q, v)) for s, q, v in states]


def leaps_from(setup: Setup, task: Task, start: State, t: float, landing: float) -> list[Leap]:
    """Leaps from the window between a start and the stop; those that do not come out well are left out."""
    window = (start[0], t)
    times = (start[0] + t) / 2 - (t - start[0]) / 2 * np.cos(np.pi * (np.arange(FITTED) + 0.5) / FITTED)  # Chebyshev's
    there = run(quiet(task, start, times))
    if there.status is not Status.FINISHED:
        return []
    leaps: list[Leap] = []
    for degree in DEGREES:
        leap = judged(setup, task, fitted(times, there.q, there.v, window, degree), window, landing)
        leaps += [leap] if leap is not None else []
        if leap is not None and leap.error < GOOD * task.tol:
            break
    return leaps


def judged(setup: Setup, task: Task, fit: Array, window: tuple[float, float], landing: float) -> Leap | None:
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


def project(setup: Setup, t: float, q: Array, v: Array) -> tuple[Array, Array]:
    """The nearest state on the constraints, positions first."""
    at_t, held = partial(setup.matrices, t), setup.contact
    closed = () if held is None else [i for i, mask in zip(held.rows, held.masks, strict=True) if mask]

    def root(equations: Equations, x: Array) -> Array:
        return nearest_root(equations, x, 1e-14, 20)[0]

    return onto_constraints(setup.system, at_t, q, v, root, closed)


def at_most(task: Task, far: float, t: float) -> float:
    """A time ahead, but not beyond the end."""
    end = t + direction(task) * far
    return float(task.times[-1]) if (end - task.times[-1]) * direction(task) > 0 else end


def direction(task: Task) -> float:
    """1 forwards, −1 backwards in time."""
    return 1.0 if task.times[-1] >= task.t else -1.0


def quiet(task: Task, start: State, times: Array, pivot_tol: float = 0.0) -> Task:
    """A task that computes the motion as accurately as can be, without events, projection or a word to the user."""
    t, q, v = start
    return replace(
        task, t=t, q=q, v=v, times=times, tol=min(task.tol, TIGHT), pivot_tol=pivot_tol, events=None, projection=None,
        bridge=None, could_bridge=False, progress=None, step_limit=PROBE,
    )  # fmt: skip


def pivots(task: Task, t: float, q: Array, v: Array) -> Array:
    """The pivots at a state."""
    return kernel_outputs(task, t, q, v)["pivots"]


def kernel_outputs(task: Task, t: float, q: Array, v: Array) -> dict[str, Array]:
    """What the task's acceleration program says at a state."""
    return compiled(task.acceleration)(**inputs(task, t, q, v))


def inputs(task: Task, t: float, q: Array, v: Array) -> dict[str, Array]:
    """A state and the task's parameters as its programs take them."""
    return named(task.acceleration, packed(t, np.concatenate([q, v]), task.p))
