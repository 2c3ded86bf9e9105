"""Rows that make up for a singular M of a large system: the rules of `lowering.lifting`, by blocks and families."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from zwang.arrays import Array, Indices
from zwang.linalg.masses import Flags
from zwang.linalg.sparse.masses import LARGE_BLOCK, blocks, definite_large, parts
from zwang.linalg.sparse.matrix import Sparse
from zwang.lowering.lifting import MASSLESS, Lifted, Weight, power_of_two, with_shares
from zwang.lowering.lowered import SparseMatrices
from zwang.lowering.rolled.families import Families, Family

Probes = Callable[[], Sequence[SparseMatrices]]
"""The matrices at places where nothing vanishes by chance."""

ROUNDED_ZERO = 1e-12  # of the terms of a sum that is zero by structure


@dataclass(frozen=True, eq=False)
class MassBlocks:
    """The blocks of M: what they have of inertia, and of directions without."""

    label: Indices
    """(n,) the block of each coordinate."""
    size: Indices
    """(blocks,)"""
    nullity: Indices
    """(blocks,) directions without inertia."""
    largest: Array
    """(blocks,) the largest inertia."""
    mean: Array
    """(blocks,) the geometric mean of what inertia there is, which does not change as a body turns; 0 without any."""


def mass_blocks(M: Sparse) -> MassBlocks:
    """The blocks of M by structure, with what they have of inertia here."""
    pattern = M.copy()
    pattern.data = np.ones_like(pattern.data)
    label = np.empty(M.shape[0], dtype=np.intp)
    found: list[tuple[Indices, Array, Array]] = []
    sizes: list[Indices] = []
    for size, groups in blocks(pattern):
        label[groups] = sum(map(len, sizes)) + np.arange(len(groups))[:, None]
        sizes.append(np.full(len(groups), size))
        found.append(inertias(M, groups) if size < LARGE_BLOCK else large_inertias(M, groups))
    return MassBlocks(label, np.concatenate(sizes), *(np.concatenate(each) for each in zip(*found, strict=True)))


def inertias(M: Sparse, groups: Indices) -> tuple[Indices, Array, Array]:
    """Nullity, largest inertia and mean of blocks of one size."""
    block, size = parts(M, groups), groups.shape[1]
    values = block[:, :, 0] if size == 1 else np.linalg.eigvalsh(block)
    diagonal = np.einsum("kii->ki", block)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    unit = np.linalg.eigvalsh(block / scale[:, :, None] / scale[:, None, :]) if size > 1 else values / scale**2
    nullity = np.count_nonzero(~(unit > MASSLESS * np.maximum(unit[:, -1:], MASSLESS)), axis=1)
    there = (np.arange(size) >= nullity[:, None]) & (values > 0)
    logs = np.where(there, np.log(np.where(there, values, 1.0)), 0.0).sum(axis=1)
    count = np.count_nonzero(there, axis=1)
    return (
        np.asarray(nullity),
        np.asarray(values[:, -1], dtype=float),
        np.where(count > 0, np.exp(logs / np.maximum(count, 1)), 0.0),
    )


def large_inertias(M: Sparse, groups: Indices) -> tuple[Indices, Array, Array]:
    """The same of large blocks, by their diagonals; one that is singular has no direction that is known to be alone."""
    diagonal = M.diagonal()[groups]
    singular = np.array([not definite_large(M[group][:, group]) for group in groups])
    massive = diagonal > 0
    logs = np.where(massive, np.log(np.where(massive, diagonal, 1.0)), 0.0).sum(axis=1)
    mean = np.exp(logs / np.maximum(np.count_nonzero(massive, axis=1), 1))
    return np.where(singular, 2, 0), diagonal.max(axis=1), np.where(massive.any(axis=1), mean, 0.0)


def lifting_members(
    families: Families, mass: MassBlocks, now: SparseMatrices, rows: Indices, redundant: bool, probes: Probes
) -> Lifted:
    """The rows, of those given, that lift M, with their weights; some of them may be redundant."""
    places = RowPlaces.of(families)
    sure = null_rows(mass, now.A, rows, places if redundant else None, probes)
    closed = np.zeros(len(mass.size), dtype=bool)
    closed[list(sure)] = True
    open_ = (mass.nullity > 0) & ~closed
    steady = steady_rows(mass, open_, now.A, rows, places)
    touches = np.zeros(now.A.shape[0], dtype=bool)
    owner = np.repeat(np.arange(now.A.shape[0]), np.diff(now.A.indptr))
    touches[owner[open_[mass.label[now.A.indices]]]] = True
    taken = sorted({*sure.values(), *steady, *rows[touches[rows]].tolist()})
    inertia = mass.mean[mass.label]
    known = inertia[inertia > 0]
    typical = float(np.exp(np.log(known).mean())) if len(known) else 1.0
    own = {i: mass.largest[b] for b, i in sure.items()}
    return tuple((i, weight(now.A, i, own.get(i), inertia, typical)) for i in taken)


def weight(A: Sparse, i: int, largest: float | None, inertia: Array, typical: float) -> Weight:
    """The weight of a row: of one block alone, whose largest inertia is given, or of any."""
    columns, a = A.indices[A.indptr[i] : A.indptr[i + 1]], A.data[A.indptr[i] : A.indptr[i + 1]]
    length = float(a @ a) or 1.0
    if largest is not None:
        return Weight(power_of_two(length / (largest if largest > 0 else 1.0)))
    shares = {int(j): power_of_two(1 / float(inertia[j])) for j in columns if inertia[j] > 0}
    if not shares:
        return Weight(power_of_two(length / typical))
    return with_shares(shares, dict(zip(columns.tolist(), a.tolist(), strict=True)), length)


def null_rows(mass: MassBlocks, A: Sparse, rows: Indices, alone: "RowPlaces | None", probes: Probes) -> dict[int, int]:
    """Of each block without inertia in one direction: a row that is this direction, whatever the state.

    Where rows may be redundant, and this one could vanish without harm, it must depend on the block alone.
    """
    filled = rows[np.diff(A.indptr)[rows] > 0]
    begins = A.indptr[:-1][np.diff(A.indptr) > 0]
    ends = np.zeros((2, A.shape[0]), dtype=np.intp)
    for end, extreme in zip(ends, (np.minimum, np.maximum), strict=True):
        end[np.diff(A.indptr) > 0] = extreme.reduceat(mass.label[A.indices], begins) if len(begins) else 0
    first, last = ends[:, filled]
    within = (first == last) & (mass.nullity[last] == 1)
    candidates, block = filled[within], last[within]
    if alone is not None:
        fine = np.array([alone.depends_on_block(int(i), mass.label) for i in candidates], dtype=bool)
        candidates, block = candidates[fine], block[fine]
    zero = np.ones(len(candidates), dtype=bool)
    for there in probes() if len(candidates) else ():
        across = there.A[candidates].T
        sums, terms = (there.M @ across).tocsc(), (abs(there.M) @ abs(across)).tocsc()
        zero &= ~((abs(sums) > ROUNDED_ZERO * terms).sum(axis=0) > 0) & np.isfinite(sums.sum(axis=0))
    found: dict[int, int] = {}
    for b, i in zip(block[zero].tolist(), candidates[zero].tolist(), strict=True):
        found.setdefault(b, i)
    return found


def steady_rows(mass: MassBlocks, open_: Flags, A: Sparse, rows: Indices, places: "RowPlaces") -> list[int]:
    """Rows that each have a constant factor for one massless coordinate and none for another that is still `open_`.

    Blocks of coordinates that such a row takes care of are closed.
    """
    found: list[int] = []
    empty = mass.size == 1
    touched = {i: A.indices[A.indptr[i] : A.indptr[i + 1]] for i in rows.tolist()}
    waiting = sorted((i for i, j in touched.items() if open_[mass.label[j]].any()), key=lambda i: (len(touched[i]), i))
    again = True
    while again:
        again = False
        for i in waiting:
            mine = touched[i][open_[mass.label[touched[i]]]]
            if len(mine) == 1 and empty[mass.label[mine[0]]] and places.is_constant(i, int(mine[0]), A):
                open_[mass.label[mine[0]]] = False
                found.append(i)
                again = True
    return found


@dataclass(frozen=True, eq=False)
class RowPlaces:
    """Where each constraint of a system is among its families."""

    families: tuple[Family, ...]
    family: Indices
    member: Indices
    moved_by: tuple[tuple[int, ...] | None, ...]
    """Of each family: by which of its coordinates its row changes; None if time or rates change it."""

    @classmethod
    def of(cls, families: Families) -> "RowPlaces":
        """The places in these families."""
        family, member = np.zeros((2, families.m), dtype=np.intp)
        for k, each in enumerate(families.constraints):
            family[each.rows], member[each.rows] = k, np.arange(len(each))
        return cls(families.constraints, family, member, tuple(map(moved_by, families.constraints)))

    def depends_on_block(self, i: int, label: Indices) -> bool:
        """Whether a row changes with the positions of the coordinates of its own block only."""
        family, k = self.families[self.family[i]], self.member[i]
        moved = self.moved_by[self.family[i]]
        own = label[family.coordinates[k, next(iter(family.derived.A[0]))]]
        return moved is not None and bool((label[family.coordinates[k, list(moved)]] == own).all())

    def is_constant(self, i: int, j: int, A: Sparse) -> bool:
        """Whether a row has a number other than zero for a coordinate."""
        family, k = self.families[self.family[i]], self.member[i]
        local = int(np.flatnonzero(family.coordinates[k] == j)[0])
        numbers = set(family.lowered.parameters[family.parameters.shape[1] :])
        return not (family.derived.A[0][local].free_symbols - numbers) and A[i, j] != 0


def moved_by(family: Family) -> tuple[int, ...] | None:
    """By which coordinates the row of a family changes; None if time or rates change it, too."""
    axes = family.lowered.description.axes
    symbols = {s for e in family.derived.A[0].values() for s in e.free_symbols}
    if symbols & {axes.t, *axes.v}:
        return None
    return tuple(k for k, q in enumerate(axes.q) if q in symbols)
