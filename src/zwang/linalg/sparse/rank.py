"""The rank of many sparse rows, and how they depend on each other: as `linalg.rank` decides it, without dense matrices.

Rows of unit length are eliminated one after the other (a factorisation of their Gram matrix, a little damped). What
is left of a row is the square of its distance from the rows before it. Rows far from all others are *sure*. The rest
are in *doubt*: Gram matrices square what is small. They are few, and of them the part that is across the sure rows is
computed to full precision; on these remainders, a small dense matrix, the one tolerance decides.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.arrays import Array, Indices
from zwang.linalg.rank import pivoted_rows, rank_tolerance
from zwang.linalg.sparse.matrix import (
    Sparse,
    pivots_of,
    plus_diagonal,
    smallest_eigenvalue,
    solve_columns,
    sparse,
    symmetric_factors,
)

# Of squares of distances, rows at unit length. What is left of a dependent row is DAMPED and rounding; of a row that
# is SURELY independent much more. The sure rows together have no eigenvalue below CERTAIN.
DAMPED, SURELY, CERTAIN = 1e-13, 1e-6, 1e-8

DOUBTS_AT_ONCE = 256  # rows in doubt that are looked at together
NO_SHARE = 1e-12  # of the largest coefficient of a row: rounding
TAKES_PART = 1e-8  # of the largest coefficient of a row: below this a row is not taken for one that it depends on


@dataclass(frozen=True, eq=False)
class SparseRank:
    """Which rows U (m, n) of unit length are independent, and how the others follow from them."""

    rank: int
    rows: Indices
    """(r,) independent rows, ascending."""
    others: Indices
    """(m − r,) the other rows, ascending."""
    coefficients: Sparse
    """(m − r, m) how the others are made of the independent ones."""
    closest: float = 1.0
    """The least square of the distance of a row from those before it, beside that of its length."""
    sure: bool = False
    """Whether all rows are independent without any doubt, here and at states nearby."""


def sparse_rank(U: Sparse, tolerance: float | None = None) -> SparseRank:
    """The rank of rows of unit length.

    >>> U = sparse(np.array([1.0, 1.0, 1.0]), np.array([0, 1, 2]), np.array([0, 0, 1]), (3, 2))
    >>> found = sparse_rank(U)
    >>> found.rows.tolist(), found.others.tolist(), found.coefficients.toarray().tolist()
    ([1, 2], [0], [[0.0, 1.0, 0.0]])
    """
    from scipy.sparse import vstack

    m, n = U.shape
    tolerance = rank_tolerance(m, n) if tolerance is None else tolerance
    tolerance *= float(np.sqrt((U * U).sum(axis=1).max(initial=0.0)))  # beside the first pivot
    sure, doubtful, factors, closest = screened(U)
    if not len(doubtful):
        return SparseRank(
            m, np.arange(m), np.zeros(0, dtype=np.intp), sparse(np.zeros(0), *2 * (sure[:0],), (0, m)), closest, True
        )
    shares, clear, remainders = [], [], []
    for part, c, remainder in across(U, sure, doubtful, factors):
        far = np.flatnonzero(np.linalg.norm(remainder, axis=1) > tolerance)
        shares.append(as_sparse(c, sure, m))
        clear.append(part[far])
        remainders.append(remainder[far])
    kept, more = among(np.concatenate(remainders), tolerance)
    candidates = np.concatenate(clear)
    chosen, close = candidates[kept], np.delete(candidates, kept)
    others = np.setdiff1d(doubtful, chosen)
    C = vstack(shares, format="csr")
    weights = np.zeros((len(others), len(chosen)))
    weights[np.searchsorted(others, close)] = more
    own, mixed = (C[np.searchsorted(doubtful, which)] for which in (others, chosen))
    coefficients = own - as_sparse(weights, np.arange(len(chosen)), len(chosen)) @ mixed + as_sparse(weights, chosen, m)
    rows = np.sort(np.concatenate([sure, chosen]))
    return SparseRank(len(rows), rows, others, coefficients.tocsr(), closest)


def screened(U: Sparse) -> tuple[Indices, Indices, Any, float]:
    """Rows that are surely independent, the rest, factors of the Gram matrix of the first, and what is `closest`."""
    gram = (U @ U.T).tocsr()
    length = gram.diagonal()
    sure = np.flatnonzero(length > 0)
    if not len(sure):
        return sure, np.arange(U.shape[0]), None, 1.0
    factors = symmetric_factors(plus_diagonal(gram[sure][:, sure], DAMPED))
    left = pivots_of(factors)
    closest = float((left / length[sure]).min())
    if not (left > SURELY * length[sure]).all():
        sure = sure[left > SURELY * length[sure]]
        factors = symmetric_factors(plus_diagonal(gram[sure][:, sure], DAMPED))
    while True:
        value, vector = smallest_eigenvalue(factors, len(sure))
        if value > CERTAIN or len(sure) < 2:
            break
        sure = np.delete(sure, np.argmax(np.abs(vector)))
        factors = symmetric_factors(plus_diagonal(gram[sure][:, sure], DAMPED))
    return sure, np.setdiff1d(np.arange(U.shape[0]), sure), factors, closest


def across(U: Sparse, sure: Indices, doubtful: Indices, factors: Any) -> Iterator[tuple[Indices, Array, Array]]:
    """Of some rows at a time: their coefficients by the sure ones, and what is left of them, to full precision."""
    base = U[sure]
    for begin in range(0, len(doubtful), DOUBTS_AT_ONCE):
        part = doubtful[begin : begin + DOUBTS_AT_ONCE]
        left = U[part].toarray()
        c = np.zeros((len(part), len(sure)))
        for _ in range(4 if len(sure) else 0):  # the first is as good as the Gram matrix, the others mend that
            more = solve_columns(factors, base @ left.T).T
            c += more
            left -= (base.T @ more.T).T
        yield part, c, left


def among(remainders: Array, tolerance: float) -> tuple[Indices, Array]:
    """Which remainders are independent, and how the others (in order) are made of these."""
    count = len(remainders)
    if not count:
        return np.zeros(0, dtype=np.intp), np.zeros((0, 0))
    order, pivots = pivoted_rows(remainders[None], min(remainders.shape))
    rank = int(np.count_nonzero(pivots[0] > tolerance))
    kept = np.sort(order[0, :rank])
    rest = np.setdiff1d(np.arange(count), kept)
    return kept, np.asarray(np.linalg.lstsq(remainders[kept].T, remainders[rest].T, rcond=None)[0].T, dtype=float)


def as_sparse(C: Array, columns: Indices, m: int) -> Sparse:
    """Coefficients as a sparse matrix over all rows, without those that are rounding."""
    there = np.abs(C) > NO_SHARE * np.abs(C).max(axis=1, initial=0.0, keepdims=True)
    i, j = np.nonzero(there)
    return sparse(C[i, j], i, columns[j], (len(C), m))


def in_order(found: SparseRank) -> SparseRank:
    """The same rank with the first rows as independent ones: those that do not depend on earlier rows.

    Every relation between rows is one of those found or a sum of some; they are reduced so that each ends at a row of
    its own. Relations without a row in common have nothing to do with each other.

    >>> U = sparse(np.array([1.0, 1.0, 1.0]), np.array([0, 1, 2]), np.array([0, 0, 1]), (3, 2))
    >>> found = in_order(sparse_rank(U))
    >>> found.rows.tolist(), found.others.tolist(), found.coefficients.toarray().tolist()
    ([0, 2], [1], [[1.0, 0.0, 0.0]])
    """
    from scipy.sparse.csgraph import connected_components

    if not len(found.others):
        return found
    count, m = found.coefficients.shape
    own = sparse(-np.ones(count), np.arange(count), found.others, (count, m))
    relations = (found.coefficients + own).tocsr()
    _, label = connected_components(relations @ relations.T != 0, directed=False)
    others, rows, columns, entries = [], [], [], []
    for group in range(int(label.max()) + 1):
        mine = relations[np.flatnonzero(label == group)]
        touched = np.unique(mine.indices)
        ends, reduced = echelon(mine[:, touched].toarray())
        others += touched[ends].tolist()
        i, j = np.nonzero(reduced)
        rows += touched[ends][i].tolist()
        columns += touched[j].tolist()
        entries += reduced[i, j].tolist()
    ends = np.sort(np.array(others, dtype=np.intp))
    at = np.searchsorted(ends, np.array(rows, dtype=np.intp))
    coefficients = sparse(np.array(entries), at, np.array(columns, dtype=np.intp), (count, m))
    return SparseRank(found.rank, np.setdiff1d(np.arange(m), ends), ends, coefficients)


def echelon(relations: Array) -> tuple[Indices, Array]:
    """Relations, each solved for a column of its own, the last possible: these, and what they are made of."""
    left = relations / np.abs(relations).max(axis=1, keepdims=True)
    waiting, ends = list(range(len(left))), np.zeros(len(left), dtype=np.intp)
    for j in range(left.shape[1] - 1, -1, -1):
        if not waiting:
            break
        best = max(waiting, key=lambda i: abs(left[i, j]))
        if abs(left[best, j]) <= TAKES_PART:
            left[waiting, j] = 0.0
            continue
        waiting.remove(best)
        ends[best] = j
        left[best] /= left[best, j]
        rest = np.delete(np.arange(len(left)), best)
        left[rest] -= np.outer(left[rest, j], left[best])
        left[rest, j] = 0.0
        for i in waiting:
            left[i] /= np.abs(left[i]).max(initial=0.0) or 1.0
    coefficients = -left
    coefficients[np.arange(len(left)), ends] = 0.0
    small = np.abs(coefficients) <= NO_SHARE * np.abs(coefficients).max(axis=1, initial=0.0, keepdims=True)
    return ends, np.where(small, 0.0, coefficients)
