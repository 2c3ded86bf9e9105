"""Switches that may rest as rows beside those of constraints, in a workspace: G, J, and what is asked of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import symengine as se

from zwang.arrays import Indices
from zwang.compile import Program
from zwang.lowering.equation import REFINEMENTS
from zwang.lowering.resting import NO_PULL, between, sigma
from zwang.lowering.rolled.equation import Entries, HeldRows, RolledEquation, pairs
from zwang.lowering.rolled.families import Family
from zwang.lowering.rolled.resting import RestingFamilies
from zwang.lowering.rolled.workspace import Workspace
from zwang.lowering.rows import RowBasis

X, Y, Z, W = se.symbols("x y z w")


@dataclass(frozen=True, eq=False)
class RestRows:
    """Of the switches that may rest: what forces jump by, the gradients of their rates, and their products.

    `c` is ṡ − J q̈; `masks` are 1 while they rest, `damping` the share of (G·J / J·J)² that is on the diagonal.
    """

    workspace: Workspace
    families: RestingFamilies
    G: Entries
    J: Entries
    GJ: Indices
    JJ: Indices
    c: Indices
    masks: Indices
    damping: Indices

    @classmethod
    def of(cls, workspace: Workspace, families: RestingFamilies) -> "RestRows":
        """In a workspace."""
        n, which, count = families.n, np.array(families.which), families.instances.count
        G = entries_of(workspace, n, [(hold.family, hold.place, hold.jumps) for hold in families.holds])
        J = entries_of(workspace, n, [(rate.family, rate.place, rate.J) for rate in families.rates])
        c = workspace.block(len(which))
        for rate in families.rates:
            workspace.members(rate.family, [rate.c], c[rate.place][:, None])
        GJ, JJ = (dot(workspace, some, J, n, len(which)) for some in (G, J))
        masks, damping = (workspace.places["modes"][k * count + which] for k in (3, 4))
        return cls(workspace, families, G, J, GJ, JJ, c, masks, damping)

    def each(self, expression: Any, *places: Indices) -> Indices:
        """The places of an expression in x, y, z and w, which are read from places, for every switch."""
        found, symbols = self.workspace.block(len(self.masks)), (X, Y, Z, W)[: len(places)]
        self.workspace.repeat(Program({"x": symbols}, {"y": (expression,)}), np.stack(places, axis=1), found[:, None])
        return found

    def sum(self, entries: Entries, factors: Indices) -> Indices:
        """The places of products of rows with numbers of coordinates."""
        found = self.workspace.block(len(self.masks))
        self.workspace.add(pairs(entries.place, factors[entries.column]), found[entries.row])
        return found

    def sizes(self, factors: Indices) -> Indices:
        """The places of Σ |J x| for numbers x of coordinates."""
        found = self.workspace.block(len(self.masks))
        term = Program({"x": (X, Y)}, {"y": (se.Abs(X * Y),)})
        at = pairs(self.J.place, factors[self.J.column])
        self.workspace.repeat(term, at, found[self.J.row][:, None])
        return found

    def equation(self, basis: RowBasis, late: bool, refinements: int = REFINEMENTS) -> RolledEquation:
        """The saddle-point system with their rows, times their masks."""
        workspace, G = self.workspace, self.G
        own = workspace.block(len(G.place))
        workspace.add(pairs(G.place, self.masks[G.row]), own)
        c = X / Y  # G = c J
        diagonal = -se.Piecewise((W * c**2 + NO_PULL, se.Gt(Z, 0)), (1, True))
        held = HeldRows(Entries(G.row, G.column, own), self.each(diagonal, self.GJ, self.JJ, self.masks, self.damping))
        rows = basis.used
        return RolledEquation.of(workspace, self.families, basis, rows, late, refinements, reactions=True, held=held)

    def right(self, off: Indices) -> Indices:
        """The places of what rows ask for, such that J x = −off of those that rest."""
        return self.each(se.Piecewise((-X / Y * Z, se.Gt(W, 0)), (0, True)), self.GJ, self.JJ, off, self.masks)


def entries_of(workspace: Workspace, n: int, parts: Sequence[tuple[Family, Indices, dict[int, Any]]]) -> Entries:
    """Rows by expressions of families, each with its number and by coordinates; those of one place are added up."""
    keys = [place[:, None] * n + family.coordinates[:, list(row)] for family, place, row in parts]
    every = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(key.ravel() for key in keys)]))
    places = workspace.block(len(every))
    for (family, _, row), key in zip(parts, keys, strict=True):
        workspace.members(family, list(row.values()), places[np.searchsorted(every, key)])
    return Entries(every // n, every % n, places)


def dot(workspace: Workspace, first: Entries, second: Entries, n: int, count: int) -> Indices:
    """The places of products of rows with the same numbers."""
    found = workspace.block(count)
    row, _, places = common(first, second, n)
    workspace.add(places, found[row])
    return found


def common(first: Entries, second: Entries, n: int) -> tuple[Indices, Indices, Indices]:
    """Rows and columns in which both have entries, and the places (…, 2) of these."""
    one, other = (entries.row * n + entries.column for entries in (first, second))
    both, i, j = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    return both // n, both % n, pairs(first.place[i], second.place[j])


def middle(workspace: Workspace, families: RestingFamilies, what: str, places: Indices | None = None) -> Indices:
    """The places of Q, or of C, with switches that rest in the middle between both sides."""
    places = workspace.block(families.n) if places is None else places
    for family in families.terms:
        own = {j: se.Integer(0) for j, _ in family.lowered.rests}
        forces = [between(family.lowered, e, own) for e in getattr(family.derived, what)]
        workspace.members(family, forces, places[family.coordinates])
    return places


def add_shares(
    workspace: Workspace, families: RestingFamilies, k: int, expressions: Sequence[Any], adds: Indices, shares: Indices
) -> None:
    """Expressions of family k with the shares of its switches, added to places; behind all shares there is a zero."""
    family, rests = families.members[k], [j for j, _ in families.members[k].lowered.rests]
    made = [between(family.lowered, e) for e in expressions]
    given = shares[families.tables[k][:, rests]] if rests else None
    workspace.members(family, made, adds, [sigma(j) for j in rests], given)
