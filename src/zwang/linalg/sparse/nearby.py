"""Rows that are made of rows nearby: a dependence is most often an affair of few rows, and found among these alone.

Two hinges on one axis say the same of the two bodies that they join, whatever else there is. So a row is first sought
among the rows that have coordinates in common with it, then among those that have some in common with these; dense
matrices of a few dozen rows decide it, to full precision.
"""

from collections.abc import Iterator

import numpy as np

from zwang.arrays import Array, Indices
from zwang.linalg.sparse.matrix import Sparse, sparse

REACH = 3  # how often neighbours of neighbours are taken in
MOST_ROWS = 120  # of a dense matrix: beyond it, sparse factors of all rows are as quick
TURNS_NEARBY = 2  # times that a solution is corrected by what it leaves over


def made_of_nearby(U: Sparse, base: Indices, others: Indices, tolerance: float) -> tuple[Indices, Sparse]:
    """Which of some other rows (places in `others`, ascending) are made of base rows nearby, and how, (…, m).

    Base rows are independent, so there is one way only; what is left over of a row is no longer than the tolerance.

    >>> U = sparse(np.array([1.0, 2.0, 1.0]), np.array([0, 1, 2]), np.array([0, 0, 1]), (3, 2))
    >>> found, how = made_of_nearby(U, np.array([0, 2]), np.array([1]), 1e-12)
    >>> found.tolist(), how.toarray().tolist()
    ([0], [[2.0, 0.0, 0.0]])
    """
    made, shares = np.zeros(len(others), dtype=bool), np.zeros((0, 3))
    if len(base):
        pattern = abs(U).astype(bool).astype(float)
        beside = pattern[base] @ pattern[base].T
        waiting, near = np.arange(len(others)), pattern[others] @ pattern[base].T
        for _ in range(REACH):
            found = [
                shares_of(U, base[local], others[waiting[which]], waiting[which], tolerance)
                for which, local in alike(near)
            ]
            shares = np.concatenate([shares, *(entries for _, entries in found)])
            for places, _ in found:
                made[places] = True
            near = (near @ beside)[~made[waiting]]
            waiting = waiting[~made[waiting]]
            if not len(waiting):
                break
    places, (rows, columns) = np.flatnonzero(made), shares[:, :2].astype(np.intp).T
    return places, sparse(shares[:, 2], np.searchsorted(places, rows), columns, (len(places), U.shape[0]))


def alike(near: Sparse) -> Iterator[tuple[Indices, Indices]]:
    """Rows of a pattern that are the same, and the columns that they have; not those with too many, or none."""
    near.sort_indices()
    groups: dict[bytes, list[int]] = {}
    for i, (begin, end) in enumerate(zip(near.indptr[:-1].tolist(), near.indptr[1:].tolist(), strict=True)):
        if 0 < end - begin <= MOST_ROWS:
            groups.setdefault(near.indices[begin:end].tobytes(), []).append(i)
    for which in groups.values():
        yield np.array(which), near.indices[near.indptr[which[0]] : near.indptr[which[0] + 1]]


def shares_of(U: Sparse, local: Indices, rows: Indices, places: Indices, tolerance: float) -> tuple[Indices, Array]:
    """Which of some rows are made of these few base rows; and how, as (place, base row, share)."""
    every, own = entries_of(U, local), entries_of(U, rows)
    columns = np.unique(np.concatenate([every[1], own[1]]))
    base, left = dense(every, columns, len(local)), dense(own, columns, len(rows))
    q, r = np.linalg.qr(base.T)
    c = np.zeros((len(rows), len(local)))
    for _ in range(TURNS_NEARBY):
        more = np.linalg.solve(r, q.T @ left.T).T if len(r) == len(local) else np.zeros_like(c)
        c, left = c + more, left - more @ base
    made = np.flatnonzero(np.linalg.norm(left, axis=1) <= tolerance)
    i, j = np.nonzero(c[made])
    return places[made], np.stack([places[made][i], local[j], c[made][i, j]], axis=1)


Entries = tuple[Indices, Indices, Array]


def entries_of(U: Sparse, rows: Indices) -> Entries:
    """The entries of some rows: of which of them, in which column, and what."""
    begins = U.indptr[rows]
    counts = U.indptr[rows + 1] - begins
    at = np.arange(counts.sum()) + np.repeat(begins - np.cumsum(counts) + counts, counts)
    return np.repeat(np.arange(len(rows)), counts), U.indices[at], U.data[at]


def dense(entries: Entries, columns: Indices, count: int) -> Array:
    """Rows as a dense matrix of some columns, ascending."""
    found = np.zeros((count, len(columns)))
    np.add.at(found, (entries[0], np.searchsorted(columns, entries[1])), entries[2])
    return found
