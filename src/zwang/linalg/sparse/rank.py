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
    largest_in_rows,
    pivots_of,
    plus_diagonal,
    smallest_eigenvalue,
    solve_columns,
    sparse,
    symmetric_factors,
)
from zwang.linalg.sparse.nearby import made_of_nearby

# Of squares of distances, rows at unit length. What is left of a dependent row is DAMPED and rounding; of a row that
# is SURELY independent much more. The sure rows together have no eigenvalue below CERTAIN.
DAMPED, SURELY, CERTAIN = 1e-13, 1e-6, 1e-8

DOUBTS_AT_ONCE = 256  # rows in doubt that are looked at together
NO_SHARE = 1e-12  # of the largest coefficient of a row: rounding
CANCELLED = 1e-14  # of a term: what is left of a difference is rounding
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
    local, own = made_of_nearby(U, sure, doubtful, tolerance)
    far = np.delete(doubtful, local)
    shares, clear, remainders = [without_rounding(own)], [far[:0]], [np.zeros((0, n))]
    for part, c, remainder in across(U, sure, far, factors):
        apart = np.flatnonzero(np.linalg.norm(remainder, axis=1) > tolerance)
        shares.append(as_sparse(c, sure, m))
        clear.append(part[apart])
        remainders.append(remainder[apart])
    kept, more = among(np.concatenate(remainders), tolerance)
    candidates = np.concatenate(clear)
    chosen, close = candidates[kept], np.delete(candidates, kept)
    others = np.setdiff1d(doubtful, chosen)
    C = vstack(shares, format="csr")[np.argsort(np.concatenate([doubtful[local], far]))]
    weights = np.zeros((len(others), len(chosen)))
    weights[np.searchsorted(others, close)] = more
    own, mixed = (C[np.searchsorted(doubtful, which)] for which in (others, chosen))
    coefficients = own - as_sparse(weights, np.arange(len(chosen)), len(chosen)) @ mixed + as_sparse(weights, chosen, m)
    rows = np.sort(np.concatenate([sure, chosen]))
    return SparseRank(len(rows), rows, others, coefficients.tocsr(), closest)


def screened(U: Sparse) -> tuple[Indices, Indices, Any, float]:
    """Rows that are surely independent, the rest, factors of the Gram matrix of the first, and what is `closest`.

    Where many more rows than columns share these, their products would fill more than the rows themselves do, written
    out: then all are in doubt, and looked at as a dense matrix.
    """
    m, n = U.shape
    if (np.bincount(U.indices, minlength=n).astype(float) ** 2).sum() > m * n:
        return np.arange(0), np.arange(m), None, 1.0
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


def without_rounding(C: Sparse) -> Sparse:
    """Coefficients without those that are rounding."""
    small = np.abs(C.data) <= NO_SHARE * np.repeat(largest_in_rows(C), np.diff(C.indptr))
    C.data[small] = 0.0
    C.eliminate_zeros()
    return C


def in_order(found: SparseRank) -> SparseRank:
    """The same rank with the first rows as independent ones: those that do not depend on earlier rows.

    Every relation between rows is one of those found or a sum of some; they are reduced so that each ends at a row of
    its own.

    >>> U = sparse(np.array([1.0, 1.0, 1.0]), np.array([0, 1, 2]), np.array([0, 0, 1]), (3, 2))
    >>> found = in_order(sparse_rank(U))
    >>> found.rows.tolist(), found.others.tolist(), found.coefficients.toarray().tolist()
    ([0, 2], [1], [[1.0, 0.0, 0.0]])
    """
    if not len(found.others):
        return found
    count, m = found.coefficients.shape
    own = sparse(-np.ones(count), np.arange(count), found.others, (count, m))
    ends, coefficients = echelon((found.coefficients + own).tocsr())
    first = np.argsort(ends)
    return SparseRank(found.rank, np.setdiff1d(np.arange(m), ends), ends[first], coefficients[first])


def echelon(relations: Sparse) -> tuple[Indices, Sparse]:
    """Relations, each solved for a column of its own, the last possible: these, and what they are made of.

    What one relation has in common with others is little, so only entries that are there are reckoned with.
    """
    count, m = relations.shape
    rows: list[dict[int, float]] = [
        dict(zip(relations.indices[begin:end].tolist(), relations.data[begin:end].tolist(), strict=True))
        for begin, end in zip(relations.indptr[:-1], relations.indptr[1:], strict=True)
    ]
    users: dict[int, set[int]] = {}
    for i, row in enumerate(rows):
        normalise(row)
        for j in row:
            users.setdefault(j, set()).add(i)
    ends = [-1] * count
    for j in range(m - 1, -1, -1):
        waiting = sorted(i for i in users.get(j, ()) if ends[i] < 0)
        best = max(waiting, key=lambda i: abs(rows[i][j]), default=-1)
        if best < 0 or abs(rows[best][j]) <= TAKES_PART:
            for i in waiting:
                del rows[i][j]
                users[j].discard(i)
            continue
        ends[best] = j
        pivot = rows[best][j]
        rows[best] = pivotal = {k: x / pivot for k, x in rows[best].items()}
        for i in sorted(users[j] - {best}):
            subtract(rows, users, i, rows[i].pop(j), {k: x for k, x in pivotal.items() if k != j})
            if ends[i] < 0:
                normalise(rows[i])
        users[j] = {best}
    entries = [(i, k, -x) for i, row in enumerate(rows) for k, x in row.items() if k != ends[i]]
    table = np.array(entries).reshape(-1, 3)
    places = table[:, :2].astype(np.intp)
    found = sparse(table[:, 2], places[:, 0], places[:, 1], (count, m))
    return np.array(ends, dtype=np.intp), without_rounding(found)


def normalise(row: dict[int, float]) -> None:
    """Bring the largest entry of a relation to size 1."""
    size = max(map(abs, row.values()), default=0.0) or 1.0
    if size != 1.0:
        for k in row:
            row[k] /= size


def subtract(
    rows: list[dict[int, float]], users: dict[int, set[int]], i: int, times: float, other: dict[int, float]
) -> None:
    """Subtract a multiple of one relation from another; what rounding leaves of an entry is nothing."""
    row = rows[i]
    for k, x in other.items():
        before, taken = row.get(k, 0.0), times * x
        after = before - taken
        if abs(after) <= CANCELLED * abs(taken):
            row.pop(k, None)
            users[k].discard(i)
        else:
            row[k] = after
            users[k].add(i)
