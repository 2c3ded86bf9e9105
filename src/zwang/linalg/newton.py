"""The nearest root of a system of equations, in a metric: Gauss–Newton with the weighted generalized inverse."""

from collections.abc import Callable

import numpy as np

from zwang.linalg.rank import Array, row_norms

# Rows that depend on each other only at the root are not yet dependent on the way there.
NEWTON_RANK_TOL = 1e-9


def nearest_root(
    equations: Callable[[Array], tuple[Array, Array]], x: Array, tolerance: float, limit: int = 50
) -> tuple[Array, bool]:
    """x ← x − K₁f(x) until no step is longer than `tolerance`; the root, and whether it was reached.

    `equations` gives f (m,) and its Jacobian (m, n) in coordinates in which the metric is the identity.

    >>> circle = lambda x: (np.array([x @ x - 1]), 2 * x[None])
    >>> nearest_root(circle, np.array([3.0, 4.0]), 1e-14)
    (array([0.6, 0.8]), True)
    """
    for _ in range(limit):
        f, J = equations(x)
        if not (np.isfinite(f).all() and np.isfinite(J).all()):
            return x, False
        if not len(f):
            return x, True
        scale = row_norms(J)
        step = np.linalg.lstsq(J / scale[:, None], f / scale, rcond=NEWTON_RANK_TOL)[0]
        x = x - step
        if np.abs(step).max() <= tolerance * max(1.0, np.abs(x).max()):
            f, J = equations(x)
            return x, bool(np.abs(f / row_norms(J)).max() <= 1e3 * tolerance * max(1.0, np.abs(x).max()))
    return x, False
