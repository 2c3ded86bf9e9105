"""Newton's steps for many sparse equations: the shortest ones, a little damped where rows depend on each other."""

import numpy as np

from zwang.arrays import Array
from zwang.linalg.sparse.matrix import Sparse, plus_diagonal, row_norms, scaled, symmetric_factors

# Of squares of lengths, rows at unit length: no step is damped less, so that dependent rows do no harm.
LEAST_DAMPING = 1e-13
CORRECTED = 3  # times that a step makes up for what damping has left


def shortest(J: Sparse, f: Array) -> Array:
    """The shortest d with J d = f, as far as there is one; rows of J have unit length.

    >>> from zwang.linalg.sparse.matrix import sparse
    >>> J = sparse(np.array([1.0, 1.0, 1.0, 1.0]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), (2, 2))
    >>> shortest(J, np.array([1.0, 1.0])).round(12).tolist()
    [0.5, 0.5]
    """
    factors = symmetric_factors(plus_diagonal((J @ J.T).tocsr(), LEAST_DAMPING))
    d = np.zeros(J.shape[1])
    for _ in range(1 + CORRECTED):
        d = d + J.T @ factors.solve(f - J @ d)
    return np.asarray(d)


def weighted(M: Sparse, J: Sparse, f: Array) -> Array:
    """(k, n) for each f (k, m) the d with J d = f that is shortest in the metric M, as far as there is one.

    >>> from zwang.linalg.sparse.matrix import sparse
    >>> M = sparse(np.array([1.0, 3.0]), np.arange(2), np.arange(2), (2, 2))
    >>> J = sparse(np.array([1.0, 1.0]), np.zeros(2, dtype=int), np.arange(2), (1, 2))
    >>> weighted(M, J, np.array([[4.0]])).round(12).tolist()
    [[3.0, 1.0]]
    """
    from scipy.sparse import block_array, diags_array
    from scipy.sparse.linalg import splu

    D = np.sqrt(M.diagonal())
    rows = scaled(J, columns=D)
    lengths = row_norms(rows)
    rows = scaled(rows, lengths)
    corner = -diags_array(np.full(len(lengths), LEAST_DAMPING))
    factors = splu(block_array([[scaled(M, D, D), rows.T], [rows, corner]], format="csc"))
    wanted = f.T / lengths[:, None]
    d = np.zeros((len(D), len(f)))
    for _ in range(1 + CORRECTED):
        right = np.concatenate([np.zeros_like(d), wanted - rows @ d])
        d = d + factors.solve(right)[: len(D)]
    return np.asarray((d / D[:, None]).T)


def damped(J: Sparse, f: Array, damping: float) -> Array:
    """Jᵀ(JJᵀ + μI)⁻¹f for a damping μ."""
    factors = symmetric_factors(plus_diagonal((J @ J.T).tocsr(), max(damping, LEAST_DAMPING)))
    return np.asarray(J.T @ factors.solve(f))
