"""The nearest root of a system of equations, in a metric: Gauss–Newton with the weighted generalized inverse."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.errors import MassError
from zwang.linalg.rank import row_norms
from zwang.linalg.sparse import matrix as sparse
from zwang.linalg.sparse.steps import damped, shortest, weighted

Equations = Callable[[Array], tuple[Array, Any]]
"""f (m,) and its Jacobian (m, n), dense or sparse, at a point."""

# Rows that depend on each other only at the root are not yet dependent on the way there.
NEWTON_RANK_TOL = 1e-9

# How much longer or shorter a step along curved constraints may be than one along straight ones.
SHARES = (1e-8, 20.0)

# How far a step towards the nearest root may go, and below which steps are near enough to it to make up for curvature:
# in natural units. Longer steps reach one root or another as rounding decides.
FARTHEST_STEP, NEARBY = 0.2, 0.02

POLISHES = 3  # steps to the last digit, once the tolerance is met

# Steps this small that have not become smaller for so many more are rounding.
SMALL, TURNS_WITHOUT_GAIN = 1e-8, 10

# Rounding over NEWTON_RANK_TOL, the least that rows count as independent by: longer steps have another reason.
STEP_OF_ROUNDING = 1e-6
OBEYED_AT_ROOT = 1e3  # tolerances that rows of unit length may read at a root

# The share of the way to a target that may lead along the constraints where these are nearest to it; and what
# rounding makes of nothing, in natural units.
NEAREST_TOL, ROUNDED_NOTHING = 1e-6, 1e-11


def nearest_root(equations: Equations, x: Array, tolerance: float, limit: int = 50) -> tuple[Array, bool]:
    """x ← x − K₁f(x) until no step is longer than `tolerance`; the root, and whether it was reached.

    `equations` gives f (m,) and its Jacobian (m, n) in coordinates in which the metric is the identity.

    >>> circle = lambda x: (np.array([x @ x - 1]), 2 * x[None])
    >>> nearest_root(circle, np.array([3.0, 4.0]), 1e-14)
    (array([0.6, 0.8]), True)
    """

    def step(f: Array, J: Any) -> Array:
        return shortest(J, f) if sparse.is_sparse(J) else np.asarray(np.linalg.lstsq(J, f, rcond=NEWTON_RANK_TOL)[0])

    x, settled = stepped(equations, step, x, 1.0, tolerance, limit)
    if not settled:
        return x, False
    f, J = equations(x)
    if not (np.isfinite(f).all() and finite(J)):
        return x, False
    for _ in range(POLISHES if len(f) else 0):  # to the rounding of f itself, whatever the units
        scale, unit = unit_rows(J)
        nearer = x - step(f / scale, unit)
        g, K = equations(nearer)
        if not (np.abs(g / scale).max() < np.abs(f / scale).max() and finite(K)):
            break
        x, f, J = nearer, g, K
    return x, bool(
        np.abs(f / unit_rows(J)[0]).max(initial=0.0) <= OBEYED_AT_ROOT * tolerance * max(1.0, np.abs(x).max())
    )


def nearby_root(equations: Equations, x: Array, size: float, tolerance: float, limit: int = 60) -> tuple[Array, bool]:
    """A root about as far from x as `size`, in damped steps x ← x − Jᵀ(JJᵀ + μI)⁻¹f(x); and whether it was reached.

    Where rows depend on each other at the roots only, J is regular on the way there, and undamped steps run along
    the roots, often into a singular one. μ = |f|/size, rows taken at unit length, prevents that and leaves
    convergence quadratic (Yamashita and Fukushima 2001).

    >>> twice = lambda x: (np.array([x[0] - x[1], x[0]**2 - x[1]**2]), np.array([[1, -1], [2*x[0], -2*x[1]]]))
    >>> nearby_root(twice, np.array([1.1, 0.9]), 0.1, 1e-14)
    (array([0.9963792, 0.9963792]), True)
    """

    def step(f: Array, J: Any) -> Array:
        if sparse.is_sparse(J):
            return damped(J, f, float(np.linalg.norm(f)) / size)
        damping = np.sqrt(np.linalg.norm(f) / size) * np.eye(len(x))
        return np.asarray(np.linalg.lstsq(np.vstack([J, damping]), np.append(f, np.zeros(len(x))), rcond=None)[0])

    return stepped(equations, step, x, size, tolerance, limit)


def stepped(
    equations: Equations,
    step: Callable[[Array, Any], Array],
    x: Array,
    size: float,
    tolerance: float,
    limit: int,
) -> tuple[Array, bool]:
    """x ← x − step(f, J), rows at unit length, until no step exceeds `tolerance`; and whether that came about.

    Beside singular positions steps are longer: rounding of f over how far rows are from dependent. So they end, too,
    where they are small, no longer get smaller, and f is rounding.
    """
    least, since = np.inf, 0
    for _ in range(limit):
        f, J = equations(x)
        if not (np.isfinite(f).all() and finite(J)):
            return x, False
        if not len(f):
            return x, True
        scale, unit = unit_rows(J)
        d = step(f / scale, unit)
        x = x - d
        if not np.isfinite(x).all():  # then every step would be short beside it
            return x, False
        far = max(size, float(np.abs(x).max()))
        now = float(np.abs(d).max()) / far
        if now <= tolerance:
            return x, True
        least, since = (now, 0) if now < least else (least, since + 1)
        if (
            least < STEP_OF_ROUNDING
            and since > TURNS_WITHOUT_GAIN
            and np.abs(f / scale).max() <= OBEYED_AT_ROOT * tolerance * far
        ):
            return x, True
    return x, False


def finite(J: Any) -> bool:
    """Whether all entries of a matrix, dense or sparse, are finite."""
    return bool(np.isfinite(J.data if sparse.is_sparse(J) else J).all())


def unit_rows(J: Any) -> tuple[Array, Any]:
    """The lengths of rows, and the rows at unit length, of a matrix, dense or sparse."""
    if not sparse.is_sparse(J):
        scale = row_norms(J)
        return scale, J / scale[:, None]
    scale = sparse.row_norms(J)
    return scale, sparse.scaled(J, scale)


@dataclass(frozen=True)
class Found:
    """A point that was looked for: whether it is a root, and whether it is the nearest one."""

    x: Array
    root: bool
    nearest: bool


def nearest_point(
    equations: Equations,
    metric: Callable[[Array], Any],
    target: Array,
    begin: Array,
    tolerance: float,
    limit: int = 400,
) -> Found:
    """The point with f(x) = 0 nearest to a target, |x − target| taken in the metric M(x).

    Coordinates are in natural units: a change by 1 matters. A target that obeys f = 0 to rounding is the nearest, also
    beside a singular position, where steps would carry rounding along. Where no nearest root is reached, from where
    the search begins or from the root that Gauss–Newton finds, the nearest of the roots that were met is taken.

    >>> circle = lambda x: (np.array([x @ x - 1]), 2 * x[None])
    >>> target = np.array([2.0, 1.0])
    >>> found = nearest_point(circle, lambda x: np.diag([1.0, 4.0]), target, target, 1e-12)
    >>> multiplier = (found.x - [2, 1]) * [1, 4] / found.x
    >>> found.nearest, bool(np.isclose(*multiplier))
    (True, True)
    """
    if at_root(equations, target, tolerance):
        return Found(target, True, True)
    met: list[Array] = []
    for _ in range(2):
        x, root = nearest_root(equations, approached(equations, metric, target, begin, tolerance, limit), tolerance)
        if root and stationary(equations, metric, target, x):
            return Found(x, True, True)
        met += [x] if root else []
        begin, root = nearest_root(equations, target, tolerance)
        if not root:
            break
        met.append(begin)
    if not met:
        return Found(begin, False, False)
    return Found(min(met, key=lambda x: distance(metric, target, x)), True, False)


def at_root(equations: Equations, x: Array, tolerance: float) -> bool:
    """Whether a point obeys f = 0, rows taken at unit length, to a tolerance."""
    f, J = equations(x)
    if not (np.isfinite(f).all() and finite(J)):
        return False
    return bool(np.abs(f / unit_rows(J)[0]).max(initial=0.0) <= tolerance * max(1.0, np.abs(x).max(initial=0.0)))


def approached(
    equations: Equations,
    metric: Callable[[Array], Any],
    target: Array,
    x: Array,
    tolerance: float,
    limit: int,
) -> Array:
    """From x towards the nearest point of `nearest_point`, until the steps come to an end.

    Each step is −K₁f towards the constraints and τg along them, g = (I − K₁J)(target − x). With τ = 1 it minimises
    ½|x + d − target|²_M subject to f + J d = 0; where f is curved, τ = |s|²/s·Δg makes up for it, s the last step
    (Barzilai and Borwein 1988). Long steps are cut, and those that make f larger are shortened. They end where they
    are within the tolerance, or small and not getting smaller any more: that is rounding.
    """
    share = 1.0
    last: tuple[Array, Array] | None = None
    least, since, now = np.inf, 0, np.inf
    for _ in range(limit):
        here = split(equations, metric, target, x)
        if here is None or not len(here.f):
            return x
        if last is not None:
            s, change = here.measured(x - last[0]), last[1] - here.along
            gain = here.inner(s, change)
            share = float(np.clip(here.inner(s, s) / gain, *SHARES)) if gain > 0 else 1.0
            share = share if now < NEARBY else min(share, 1.0)
        d = here.step(share * here.along - here.normal)
        size = np.abs(here.f).max()
        step = FARTHEST_STEP / max(FARTHEST_STEP, float(np.abs(d).max()))
        while step > 1e-3 and np.abs(equations(x + step * d)[0] / here.scale).max() > max(2 * size, 1e-3):
            step /= 2
        last = (x, here.along)
        x = x + step * d
        now = float(np.abs(d).max() / max(1.0, np.abs(x).max()))
        least, since = (now, 0) if now < least else (least, since + 1)
        if now <= tolerance or (least < SMALL and since > TURNS_WITHOUT_GAIN):
            return x
    return x


@dataclass(frozen=True)
class Split:
    """f and the way to a target at a point, rows at unit length, lengths in the metric LLᵀ: across f = 0 and along."""

    f: Array
    scale: Array
    L: Any
    """Of a large system, the metric itself: ways are then in the coordinates, and not in those of LLᵀ = I."""
    wanted: Array
    along: Array
    normal: Array
    """What leads to f = 0."""

    def measured(self, step: Array) -> Array:
        """A step as a way."""
        return step if sparse.is_sparse(self.L) else np.asarray(self.L.T @ step)

    def step(self, way: Array) -> Array:
        """A way as a step."""
        return way if sparse.is_sparse(self.L) else np.asarray(np.linalg.solve(self.L.T, way))

    def inner(self, a: Array, b: Array) -> float:
        """The product of two ways in the metric."""
        return float(a @ (self.L @ b) if sparse.is_sparse(self.L) else a @ b)

    def length(self, way: Array) -> float:
        """The length of a way in the metric."""
        return float(np.sqrt(self.inner(way, way)) if sparse.is_sparse(self.L) else np.linalg.norm(way))

    @property
    def unit(self) -> float:
        """What the heaviest coordinate's unit is long."""
        diagonal = self.L.diagonal() if sparse.is_sparse(self.L) else np.diagonal(self.L @ self.L.T)
        return float(np.sqrt(diagonal.max(initial=0.0)))


def split(equations: Equations, metric: Callable[[Array], Any], target: Array, x: Array) -> Split | None:
    """The way to a target at a point; None where f is not finite."""
    f, J = equations(x)
    if not (np.isfinite(f).all() and finite(J)):
        return None
    M = metric(x)
    if sparse.is_sparse(M):
        scale, rows = unit_rows(J)
        wanted = target - x
        normal, across = weighted(M, rows, np.stack([f / scale, rows @ wanted]))
        return Split(f / scale, scale, M, wanted, wanted - across, normal)
    try:
        L = np.asarray(np.linalg.cholesky(M), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise MassError("M is not positive definite here: check the masses and the kinetic energy") from None
    scale = row_norms(J)
    W = np.linalg.solve(L, (J / scale[:, None]).T)
    wanted = L.T @ (target - x)
    both = np.stack([f / scale, W.T @ wanted], axis=1)
    normal, across = np.linalg.lstsq(W.T, both, rcond=NEWTON_RANK_TOL)[0].T
    return Split(f / scale, scale, L, wanted, wanted - across, normal)


def stationary(equations: Equations, metric: Callable[[Array], Any], target: Array, x: Array) -> bool:
    """Whether nothing of the way to the target leads along f = 0."""
    here = split(equations, metric, target, x)
    if here is None:
        return False
    return here.length(here.along) <= NEAREST_TOL * here.length(here.wanted) + ROUNDED_NOTHING * here.unit


def distance(metric: Callable[[Array], Any], target: Array, x: Array) -> float:
    """|x − target| in the metric at x."""
    return float((x - target) @ metric(x) @ (x - target))
