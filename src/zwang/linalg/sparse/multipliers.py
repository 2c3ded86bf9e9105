"""Multipliers of many rows of which some are redundant: of all that make the same force, the shortest ones."""

import numpy as np

from zwang.arrays import Array, Indices
from zwang.linalg.masses import Flags
from zwang.linalg.rank import rank_tolerance
from zwang.linalg.sparse.matrix import Sparse, plus_diagonal, row_norms, scaled, symmetric_factors
from zwang.linalg.sparse.nearby import made_of_nearby
from zwang.linalg.sparse.rank import DAMPED, across, as_sparse, without_rounding

MADE_OF = 1e-9  # of a row of unit length: what rows beside the constraints leave over of those that follow from them


def shortest_multipliers(A: Sparse, rows: Indices, multipliers: Array) -> tuple[Array, Flags]:
    """λ (m,) of least length with the same Aᵀλ, where the given `rows` are independent and the others follow.

    A is in units of equal mass. Also which rows take part in no dependence: their multipliers are unique.

    >>> from zwang.linalg.sparse.matrix import sparse
    >>> A = sparse(np.array([1.0, 2.0, 1.0]), np.array([0, 1, 2]), np.array([0, 0, 1]), (3, 2))
    >>> found, unique = shortest_multipliers(A, np.array([0, 2]), np.array([5.0, 0.0, 7.0]))
    >>> found.tolist(), unique.tolist()
    ([1.0, 2.0, 7.0], [False, False, True])
    """
    m, n = A.shape
    others = np.setdiff1d(np.arange(m), rows)
    unique = np.ones(m, dtype=bool)
    if not len(others):
        return multipliers, unique
    lengths = row_norms(A)
    unit = scaled(A, lengths)
    c = coefficients(unit, rows, others)
    unique[others] = False
    unique[c.indices[np.abs(c.data) > rank_tolerance(m, n)]] = False
    C = scaled(c, 1 / lengths[others], lengths)
    # λ_S + Cᵀλ_T = μ is given; the shortest such has (I + CCᵀ)λ_T = Cμ
    given = multipliers + C.T @ multipliers[others]
    given[others] = 0.0
    own = row_norms(C)
    D = scaled(C, own)
    factors = symmetric_factors(plus_diagonal((D @ D.T).tocsr(), 1 / own**2))
    found = np.asarray(given, dtype=float)
    found[others] = factors.solve(D @ given) / own
    found[rows] -= (C.T @ found[others])[rows]
    return found, unique


def coefficients(unit: Sparse, rows: Indices, others: Indices) -> Sparse:
    """(m − r, m) how the other rows are made of independent ones, all of unit length."""
    from scipy.sparse import vstack

    local, own = made_of_nearby(unit, rows, others, MADE_OF)
    far = np.delete(others, local)
    parts = [without_rounding(own)]
    if len(far):
        base = unit[rows]
        factors = symmetric_factors(plus_diagonal((base @ base.T).tocsr(), DAMPED)) if len(rows) else None
        parts += [as_sparse(c, rows, unit.shape[0]) for _, c, _ in across(unit, rows, far, factors)]
    return vstack(parts, format="csr")[np.argsort(np.concatenate([others[local], far]))]
