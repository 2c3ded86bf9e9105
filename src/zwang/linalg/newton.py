"""The nearest root of a system of equations, in a metric: Gauss–Newton with the weighted generalized inverse."""

from collections.abc import Callable

import numpy as np

from zwang.linalg.rank import Array, row_norms

# Rows that depend on each other only at the root are not yet dependent on the way there.
NEWTON_RANK_TOL = 1e-9

# How much longer or shorter a step along curved constraints may be than one along straight ones.
SHARES = (0.02, 20.0)


def nearest_root(
    equations: Callable[[Array], tuple[Array, Array]], x: Array, tolerance: float, limit: int = 50
) -> tuple[Array, bool]:
    """x ← x − K₁f(x) until no step is longer than `tolerance`; the root, and whether it was reached.

    `equations` gives f (m,) and its Jacobian (m, n) in coordinates in which the metric is the identity.

    >>> circle = lambda x: (np.array([x @ x - 1]), 2 * x[None])
    >>> nearest_root(circle, np.array([3.0, 4.0]), 1e-14)
    (array([0.6, 0.8]), True)
    """

    def step(f: Array, J: Array) -> Array:
        return np.asarray(np.linalg.lstsq(J, f, rcond=NEWTON_RANK_TOL)[0])

    x, settled = stepped(equations, step, x, 1.0, tolerance, limit)
    if not settled:
        return x, False
    f, J = equations(x)
    return x, bool(np.abs(f / row_norms(J)).max(initial=0.0) <= 1e3 * tolerance * max(1.0, np.abs(x).max()))


def nearby_root(
    equations: Callable[[Array], tuple[Array, Array]], x: Array, size: float, tolerance: float, limit: int = 60
) -> tuple[Array, bool]:
    """A root about as far from x as `size`, in damped steps x ← x − Jᵀ(JJᵀ + μI)⁻¹f(x); and whether it was reached.

    Where rows depend on each other at the roots only, J is regular on the way there, and undamped steps run along
    the roots, often into a singular one. μ = |f|/size, rows taken at unit length, prevents that and leaves
    convergence quadratic (Yamashita and Fukushima 2001).

    >>> twice = lambda x: (np.array([x[0] - x[1], x[0]**2 - x[1]**2]), np.array([[1, -1], [2*x[0], -2*x[1]]]))
    >>> nearby_root(twice, np.array([1.1, 0.9]), 0.1, 1e-14)
    (array([0.9963792, 0.9963792]), True)
    """

    def step(f: Array, J: Array) -> Array:
        damping = np.sqrt(np.linalg.norm(f) / size) * np.eye(len(x))
        return np.asarray(np.linalg.lstsq(np.vstack([J, damping]), np.append(f, np.zeros(len(x))), rcond=None)[0])

    return stepped(equations, step, x, size, tolerance, limit)


def stepped(
    equations: Callable[[Array], tuple[Array, Array]],
    step: Callable[[Array, Array], Array],
    x: Array,
    unit: float,
    tolerance: float,
    limit: int,
) -> tuple[Array, bool]:
    """x ← x − step(f, J), rows at unit length, until no step exceeds `tolerance`; and whether that came about."""
    for _ in range(limit):
        f, J = equations(x)
        if not (np.isfinite(f).all() and np.isfinite(J).all()):
            return x, False
        if not len(f):
            return x, True
        scale = row_norms(J)
        d = step(f / scale, J / scale[:, None])
        x = x - d
        if np.abs(d).max() <= tolerance * max(unit, np.abs(x).max()):
            return x, True
    return x, False


def nearest_point(
    equations: Callable[[Array], tuple[Array, Array]],
    metric: Callable[[Array], Array],
    target: Array,
    tolerance: float,
    limit: int = 200,
) -> tuple[Array, bool]:
    """The point with f(x) = 0 nearest to a target, |x − target| taken in the metric M(x); and whether it was reached.

    Where the search does not settle, from the target or from the root that Gauss–Newton finds, that root is taken.

    >>> circle = lambda x: (np.array([x @ x - 1]), 2 * x[None])
    >>> x, reached = nearest_point(circle, lambda x: np.diag([1.0, 4.0]), np.array([2.0, 1.0]), 1e-12)
    >>> multiplier = (x - [2, 1]) * [1, 4] / x
    >>> reached, bool(np.isclose(*multiplier))
    (True, True)
    """
    x, settled = approached(equations, metric, target, target, tolerance, limit)
    if not settled:
        root, found = nearest_root(equations, target, tolerance)
        if not found:
            return root, False
        x, settled = approached(equations, metric, target, root, tolerance, limit)
        if not settled:
            return root, True
    return nearest_root(equations, x, tolerance)


def approached(
    equations: Callable[[Array], tuple[Array, Array]],
    metric: Callable[[Array], Array],
    target: Array,
    x: Array,
    tolerance: float,
    limit: int,
) -> tuple[Array, bool]:
    """From x to the nearest point of `nearest_point`, and whether the steps came to an end.

    Each step is −K₁f towards the constraints and τg along them, g = (I − K₁J)(target − x). With τ = 1 it minimises
    ½|x + d − target|²_M subject to f + J d = 0; where f is curved, τ = |s|²/s·Δg makes up for it, s the last step
    (Barzilai and Borwein 1988). Steps that make f larger are shortened.
    """
    share = 1.0
    last: tuple[Array, Array] | None = None
    for _ in range(limit):
        f, J = equations(x)
        if not len(f):
            return x, True
        if not (np.isfinite(f).all() and np.isfinite(J).all()):
            return x, False
        L = np.linalg.cholesky(metric(x))
        scale = row_norms(J)
        W = np.linalg.solve(L, (J / scale[:, None]).T)
        wanted = L.T @ (target - x)  # lengths are those of M from here on
        both = np.stack([f / scale, W.T @ wanted], axis=1)
        normal, across = np.linalg.lstsq(W.T, both, rcond=NEWTON_RANK_TOL)[0].T
        along = wanted - across
        if last is not None:
            s, change = L.T @ (x - last[0]), last[1] - along
            share = float(np.clip(s @ s / (s @ change), *SHARES)) if s @ change > 0 else 1.0
        d = np.linalg.solve(L.T, share * along - normal)
        size = np.abs(f / scale).max()
        step = 1.0
        while step > 1e-3 and np.abs(equations(x + step * d)[0] / scale).max() > max(2 * size, 1e-3):
            step /= 2
        last = (x, along)
        x = x + step * d
        if np.abs(d).max() <= tolerance * max(1.0, np.abs(x).max()):
            return x, True
    return x, False
