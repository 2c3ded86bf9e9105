"""The saddle-point system of a large system on the rows chosen for it, in a workspace."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import symengine as se

from zwang.arrays import Indices
from zwang.lowering.equation import refinements_of, right_hand_sides
from zwang.lowering.lifting import Weight
from zwang.lowering.rolled.families import Families, Family
from zwang.lowering.rolled.matrix import SparseSaddle, sparse_saddle
from zwang.lowering.rolled.workspace import Workspace
from zwang.lowering.rows import RowBasis


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries of rows in a workspace: which row of those chosen, which coordinate, and the place of the number."""

    row: Indices
    column: Indices
    place: Indices


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Rows beside those of constraints, of switches that rest, and what is added to their diagonal."""

    entries: Entries
    diagonal: Indices


@dataclass(frozen=True, eq=False)
class RolledEquation:
    """The matrix of M and some rows, filled and factorised."""

    workspace: Workspace
    families: Families
    saddle: SparseSaddle
    A: Entries
    """Of the rows chosen, if they are needed."""
    lifted: Entries
    """w a of the lifted rows that are among those chosen."""
    refinements: int

    @classmethod
    def of(
        cls,
        workspace: Workspace,
        families: Families,
        basis: RowBasis,
        rows: Sequence[int],
        coordinates_first: bool = False,
        refinements: int = 0,
        reactions: bool = False,
        held: HeldRows | None = None,
    ) -> "RolledEquation":
        """With these rows of A; the basis says which are lifted and how they are damped.

        Behind them are rows that are `held`. Refinement and reactions need A beside its place in the matrix, which
        becomes L.
        """
        n, m = families.n, len(rows)
        refinements = refinements if held else refinements_of(basis, refinements)
        number = np.full(families.m, -1)
        number[list(rows)] = np.arange(len(rows))
        lifts = list(lifts_of(families, dict(basis.lifted)))
        saddle = sparse_saddle(
            workspace, n, joined([*map(mass_pairs, families.terms), *(row_pairs(lift.family) for lift in lifts)]),
            joined([*(row_entries(family, number) for family in families.constraints),
                    *([(m + held.entries.row, held.entries.column)] if held else [])]),
            m + (len(held.diagonal) if held else 0), coordinates_first,
        )  # fmt: skip
        for family in families.terms:
            i, j = local_mass(family)
            at = saddle.at(family.coordinates[:, i], family.coordinates[:, j])
            workspace.members(family, [family.derived.M[a][b] for a, b in zip(i, j, strict=True)], at)
        A: list[Entries] = []
        for family in families.constraints:
            chosen = family.of(np.flatnonzero(number[family.rows] >= 0))
            columns = list(family.derived.A[0])
            row = np.repeat(number[chosen.rows][:, None], len(columns), axis=1)
            expressions = list(family.derived.A[0].values())
            workspace.members(chosen, expressions, saddle.at(n + row, chosen.coordinates[:, columns]))
            if refinements or reactions:
                own = workspace.block(row.size).reshape(row.shape)
                workspace.members(chosen, expressions, own)
                A.append(Entries(row.ravel(), chosen.coordinates[:, columns].ravel(), own.ravel()))
        if held:
            A.append(replace(held.entries, row=m + held.entries.row))
            workspace.add(A[-1].place, saddle.at(n + A[-1].row, A[-1].column))
            nodes = n + m + np.arange(len(held.diagonal))
            workspace.add(held.diagonal, saddle.at(nodes, nodes))
        lifted = [lift.put(workspace, saddle, number) for lift in lifts]
        if basis.damping:
            nodes = n + np.arange(m)
            damping = workspace.constant(-np.array([basis.damping[i] for i in rows]))
            workspace.add(damping, saddle.at(nodes, nodes))
        saddle.factorise()
        return cls(workspace, families, saddle, together(A), together(lifted), refinements)

    def solve(self, Q: Indices, b: Indices) -> tuple[Indices, Indices]:
        """The places of q̈ and λ, for right-hand sides at places Q and b."""
        workspace, n, A = self.workspace, self.saddle.n, self.A
        right, lifted = self.saddle.right(), self.lifted
        workspace.add(Q, right[: len(Q)])
        workspace.add(b, right[n:])
        workspace.add(pairs(lifted.place, b[lifted.row]), right[lifted.column])
        self.saddle.solve(right)
        for _ in range(self.refinements):
            again = self.saddle.right()
            workspace.add(b, again[n:])
            workspace.add(pairs(A.place, right[A.column]), again[n + A.row], -1.0)
            self.saddle.solve(again)
            workspace.add(again, right)
        multipliers = workspace.block(len(b))
        workspace.add(right[n:], multipliers, -1.0)
        return right[:n], multipliers

    def reactions(self, multipliers: Indices) -> Indices:
        """The places of Aᵀλ, of as many rows as there are multipliers."""
        forces, some = self.workspace.block(self.families.n), self.A.row < len(multipliers)
        row, column, place = self.A.row[some], self.A.column[some], self.A.place[some]
        self.workspace.add(pairs(place, multipliers[row]), forces[column])
        return forces


@dataclass(frozen=True, eq=False)
class LiftedMembers:
    """Constraints of a family that lift M, whose weights have shares of the same of their coordinates."""

    family: Family
    weights: list[Weight]
    shared: tuple[int, ...]
    """Of the coordinates of the family."""

    def put(self, workspace: Workspace, saddle: SparseSaddle, number: Indices) -> Entries:
        """Add w aᵀa to M; w a of the rows that are among those chosen."""
        row, coordinates = self.family.derived.A[0], self.family.coordinates
        least, shares = se.Symbol("least"), [se.Symbol(f"share{k}") for k in range(len(self.shared))]
        weight = Weight(least, tuple(zip(self.shared, shares, strict=True)))
        given = workspace.constant(np.array([[w.least, *(share for _, share in w.shares)] for w in self.weights]))
        w, columns = weight.of(row, se.Integer(1)), list(row)
        both = [(a, b) for a in columns for b in columns if b <= a]
        at = saddle.at(*(coordinates[:, [pair[k] for pair in both]] for k in range(2)))
        more = [least, *shares]
        workspace.members(self.family, [w * row[a] * row[b] for a, b in both], at, more, given)
        kept = np.flatnonzero(number[self.family.rows] >= 0)
        places = workspace.block(len(kept) * len(columns)).reshape(len(kept), len(columns))
        workspace.members(self.family.of(kept), [w * row[a] for a in columns], places, more, given[kept])
        rows = np.repeat(number[self.family.rows[kept]][:, None], len(columns), axis=1)
        return Entries(rows.ravel(), coordinates[kept][:, columns].ravel(), places.ravel())


def lifts_of(families: Families, weights: dict[int, Weight]) -> Iterator[LiftedMembers]:
    """The lifted rows, by families and by the coordinates that their weights have shares of."""
    for family in families.constraints:
        groups: dict[tuple[int, ...], list[int]] = {}
        for k, i in enumerate(family.rows.tolist()):
            if i in weights:
                local = {c: place for place, c in enumerate(family.coordinates[k].tolist())}
                groups.setdefault(tuple(local[j] for j, _ in weights[i].shares), []).append(k)
        for shared, which in groups.items():
            chosen = family.of(np.array(which))
            yield LiftedMembers(chosen, [weights[i] for i in chosen.rows.tolist()], shared)


def local_mass(family: Family) -> tuple[list[int], list[int]]:
    """The entries of a family's share in M, one of each pair."""
    pairs = [(i, j) for i, row in enumerate(family.derived.M) for j in row if j <= i]
    return [i for i, _ in pairs], [j for _, j in pairs]


def mass_pairs(family: Family) -> tuple[Indices, Indices]:
    """Between which coordinates the members of a family have entries of M."""
    i, j = local_mass(family)
    return family.coordinates[:, i].ravel(), family.coordinates[:, j].ravel()


def row_pairs(family: Family) -> tuple[Indices, Indices]:
    """Between which coordinates aᵀa has entries, for the constraints of a family."""
    columns = list(family.derived.A[0])
    pairs = [(a, b) for a in columns for b in columns if b <= a]
    i, j = (family.coordinates[:, [pair[k] for pair in pairs]].ravel() for k in range(2))
    return i, j


def row_entries(family: Family, number: Indices) -> tuple[Indices, Indices]:
    """The entries of the rows chosen among the constraints of a family."""
    chosen = family.of(np.flatnonzero(number[family.rows] >= 0))
    columns = list(family.derived.A[0])
    rows = np.repeat(number[chosen.rows], len(columns))
    return rows, chosen.coordinates[:, columns].ravel()


def pairs(first: Indices, second: Indices) -> Indices:
    """(count, 2) places whose numbers are multiplied."""
    return np.stack([first, second], axis=1)


def joined(pairs: Sequence[tuple[Indices, Indices]]) -> tuple[Indices, Indices]:
    """Pairs of several families."""
    nothing = np.zeros(0, dtype=np.int64)
    return np.concatenate([nothing, *(i for i, _ in pairs)]), np.concatenate([nothing, *(j for _, j in pairs)])


def together(entries: Sequence[Entries]) -> Entries:
    """Entries of several families."""
    nothing = np.zeros(0, dtype=np.int64)
    return Entries(*(np.concatenate([nothing, *(getattr(e, k) for e in entries)]) for k in ("row", "column", "place")))


def right_sides(workspace: Workspace, families: Families, rows: Sequence[int], gains: Any) -> Indices:
    """The places of b of the given rows, with Baumgarte's terms where gains are given."""
    number = np.full(families.m, -1)
    number[list(rows)] = np.arange(len(rows))
    b = workspace.block(len(rows))
    for family in families.constraints:
        chosen = family.of(np.flatnonzero(number[family.rows] >= 0))
        given = workspace.places["gains"][None].repeat(len(chosen), axis=0) if gains is not None else None
        expression = right_hand_sides(family.lowered, [0], gains)
        workspace.members(chosen, expression, b[number[chosen.rows]][:, None], gains or (), given)
    return b
