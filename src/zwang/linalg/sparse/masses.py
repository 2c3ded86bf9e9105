"""Sparse mass matrices, block by block: a large one mostly has many small blocks of coordinates that it couples.

As `linalg.masses`: which blocks are positive definite, whatever the units, and the units in which ranks are judged.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from zwang.arrays import TINIEST, Array, Indices
from zwang.linalg.masses import Flags, mass_tolerance
from zwang.linalg.rank import power_of_two
from zwang.linalg.sparse.matrix import (
    Sparse,
    pivots_of,
    plus_diagonal,
    scaled,
    smallest_eigenvalue,
    sparse,
    symmetric_factors,
)

LARGE_BLOCK = 300  # coordinates of a block from which on it is factorised as a sparse matrix

# Eigenvalues of a large block are known up to a factor of two. Where that leaves a doubt, blocks of at most so many
# coordinates are looked at as dense ones.
NEAR, DENSE_BLOCK = 8.0, 2_000


@dataclass(frozen=True, eq=False)
class SparseMasses:
    """A sparse M: which of its blocks are not positive definite, and units."""

    D: Array
    """(n,) powers of two that make the diagonal about 1 where there is mass."""
    units: Array
    """(n,) the units in which ranks are judged, as `masses.Masses` has them."""
    singular: tuple[Indices, ...]
    """The coordinates of each block that is not positive definite."""

    @property
    def definite(self) -> bool:
        """Whether M is positive definite."""
        return not self.singular


def sparse_masses(M: Sparse, A: Sparse) -> SparseMasses:
    """The masses of one sparse system; constraints (m, n) scale what has no mass."""
    diagonal = M.diagonal()
    massive = diagonal > 0
    D = power_of_two(np.sqrt(np.where(massive, diagonal, 1.0)))
    unit = scaled(M, D, D)
    found = tuple(columns for size, groups in blocks(unit) for columns in singular_of(unit, size, groups))
    if not found:
        return SparseMasses(D, D, ())
    units = D
    if any(len(columns) > 1 for columns in found):  # as in `masses.block_units`: one unit for all that M couples
        units = D.copy()
        for _, groups in blocks(unit):
            units[groups] = D[groups].max(axis=1, keepdims=True)
    return SparseMasses(D, tied_units(units, massive, A), found)


def blocks(M: Sparse) -> Iterator[tuple[int, Indices]]:
    """The coordinates that M couples, in groups (count, size) of one size each, ascending.

    >>> M = sparse(np.ones(5), np.array([0, 1, 0, 2, 2]), np.array([0, 1, 2, 0, 2]), (3, 3))
    >>> [(size, groups.tolist()) for size, groups in blocks(M)]
    [(1, [[1]]), (2, [[0, 2]])]
    """
    from scipy.sparse.csgraph import connected_components

    M = M.copy()
    M.eliminate_zeros()
    _, label = connected_components(M, directed=False)
    sizes = np.bincount(label)
    order, begins = np.argsort(label, kind="stable"), np.concatenate([[0], np.cumsum(sizes)[:-1]])
    for size in np.unique(sizes):
        first = begins[sizes == size]
        yield int(size), order[first[:, None] + np.arange(size)]


def parts(M: Sparse, groups: Indices) -> Array:
    """(count, size, size) the blocks of M for groups of coordinates."""
    count, size = groups.shape
    group, place = np.full(M.shape[0], -1), np.zeros(M.shape[0], dtype=np.intp)
    group[groups], place[groups] = np.arange(count)[:, None], np.arange(size)
    entries = M.tocoo()
    mine = (group[entries.row] >= 0) & (group[entries.row] == group[entries.col])
    found = np.zeros((count, size, size))
    i, j = entries.row[mine], entries.col[mine]
    np.add.at(found, (group[i], place[i], place[j]), entries.data[mine])
    return found


def inverse_by_blocks(M: Sparse) -> Sparse | None:
    """M⁻¹ of a positive definite M of small blocks; None where there is a large one."""
    entries, rows, columns = [], [], []
    for size, groups in blocks(M):
        if size >= LARGE_BLOCK:
            return None
        entries.append(np.linalg.inv(parts(M, groups)).ravel())
        rows.append(np.repeat(groups, size, axis=1).ravel())
        columns.append(np.tile(groups, (1, size)).ravel())
    return sparse(np.concatenate(entries), np.concatenate(rows), np.concatenate(columns), M.shape)


def free_acceleration(M: Sparse, mass: SparseMasses, Q: Array) -> Array:
    """M⁻¹Q; where M is singular, about the shortest one that obeys as much as can be."""
    unit = scaled(M, mass.D, mass.D)
    shift = 0.0 if mass.definite else mass_tolerance(len(Q))
    factors = symmetric_factors(plus_diagonal(unit, shift))
    x = factors.solve(Q / mass.D)
    if shift:
        x = x - shift * factors.solve(x)
    return np.asarray(x / mass.D)


def singular_of(M: Sparse, size: int, groups: Indices) -> Iterator[Indices]:
    """Of groups of one size those in which M, of unit diagonal, is not positive definite."""
    if size == 1:
        yield from groups[~(M.diagonal()[groups[:, 0]] > 0)]
    elif size < LARGE_BLOCK:
        yield from groups[~definite(parts(M, groups))]
    else:
        yield from (group for group in groups if not definite_large(M[group][:, group]))


def definite(X: Array) -> Flags:
    """(count,) which of a stack of blocks are positive definite, by the rule of `masses.inverse_factors`."""
    diagonal = np.einsum("kii->ki", X)
    unit = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    values = np.linalg.eigvalsh(X * unit[:, :, None] * unit[:, None, :])
    fine = np.asarray((values > 0).all(axis=1))
    fine[fine] = (1 / values[fine]).sum(axis=1) * mass_tolerance(X.shape[1]) < 1
    return fine


def definite_large(X: Sparse) -> bool:
    """The same of one large block: by its pivots, and the smallest eigenvalue."""
    n = X.shape[0]
    unit = 1 / np.sqrt(np.where(X.diagonal() > 0, X.diagonal(), 1.0))
    X = scaled(X, 1 / unit, 1 / unit)
    factors = symmetric_factors(X)
    if factors is None or not (pivots_of(factors) > 0).all():
        return False
    value, _ = smallest_eigenvalue(factors, n)
    if value <= NEAR * n * mass_tolerance(n) and n <= DENSE_BLOCK:  # no eigenvalue is as small, but all may be
        return bool(definite(X.toarray()[None])[0])
    return value > NEAR * mass_tolerance(n)


def tied_units(units: Array, known: Flags, A: Sparse) -> Array:
    """`masses.tied_units` of one sparse A: units of coordinates without mass, from the rows that they are in.

    >>> A = sparse(np.array([4.0, 0.25, 1.0, 8.0]), np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2]), (2, 3))
    >>> tied_units(np.array([4.0, 1.0, 1.0]), np.array([True, False, False]), A).tolist()
    [4.0, 0.25, 2.0]
    """
    m = A.shape[0]
    if known.all() or not m:
        return units
    by_rows, units = abs(A), units.copy()
    by_rows.eliminate_zeros()
    by_columns = by_rows.tocsc()
    left = ~known & (np.diff(by_columns.indptr) > 0)
    rows, new, count = np.zeros(m), np.flatnonzero(known), int(left.sum())
    while count:  # of each wave only what is new is looked at, so that a long chain takes no longer than its entries
        j, i, size = entries_of(by_columns, new)
        np.maximum.at(rows, i, size / units[j])
        near = entries_of(by_rows, np.unique(i))[1]
        near = np.unique(near[left[near]])
        j, i, size = entries_of(by_columns, near)
        tied = rows[i] > TINIEST * np.maximum(size, 1.0)  # else a share would be infinite
        share = np.zeros(len(near))
        np.maximum.at(share, np.searchsorted(near, j[tied]), size[tied] / rows[i[tied]])
        new, share = near[share > 0], share[share > 0]
        if not len(new):
            new = first_of_each(by_columns, np.flatnonzero(left))
            share = by_columns[:, new].max(axis=0).toarray().ravel()
        units[new] = power_of_two(share)
        left[new] = False
        count -= len(new)
    return units


def entries_of(X: Sparse, lines: Indices) -> tuple[Indices, Indices, Array]:
    """The entries of some rows (or columns, as X is stored): the line of each, its place there, and its value.

    >>> X = sparse(np.array([4.0, 0.25, 8.0]), np.array([0, 0, 1]), np.array([0, 1, 2]), (2, 3))
    >>> [x.tolist() for x in entries_of(X, np.array([0]))]
    [[0, 0], [0, 1], [4.0, 0.25]]
    """
    lengths = X.indptr[lines + 1] - X.indptr[lines]
    at = np.arange(lengths.sum()) + np.repeat(X.indptr[lines] - np.cumsum(lengths) + lengths, lengths)
    return np.repeat(lines, lengths), X.indices[at], X.data[at]


def first_of_each(by_columns: Sparse, columns: Indices) -> Indices:
    """Of some columns the first of each group that rows tie together: groups have nothing to do with each other."""
    from scipy.sparse.csgraph import connected_components

    mine = by_columns[:, columns]
    _, label = connected_components(mine.T @ mine, directed=False)
    return columns[np.unique(label, return_index=True)[1]]
