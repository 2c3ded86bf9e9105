"""The saddle-point matrix of a large system in a workspace: its pattern, its factors, and solving by them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zwang.arrays import Indices
from zwang.compile.lanes import LANES
from zwang.compile.rolled.elimination import elimination
from zwang.compile.rolled.program import Factorise, Substitute, strides_of
from zwang.lowering.rolled.workspace import Workspace

Pairs = tuple[Indices, Indices]


@dataclass(frozen=True, eq=False)
class SparseSaddle:
    """[M Aᵀ; A 0] in a workspace. Nodes 0 … n−1 are coordinates, those behind are constraints."""

    workspace: Workspace
    n: int
    order: Indices
    """(nodes,) in which they are eliminated."""
    touched: Indices
    """(nodes,) whether elimination changes a pivot, or it is an entry of the matrix itself; node by node."""
    factors: Factorise

    @property
    def nodes(self) -> int:
        """How many rows there are."""
        return len(self.order)

    @cached_property
    def position(self) -> Indices:
        """(nodes,) where each node is in the order."""
        found = np.empty(self.nodes, dtype=np.int64)
        found[self.order] = np.arange(self.nodes)
        return found

    def at(self, i: Indices, j: Indices) -> Indices:
        """The places of entries between nodes."""
        return self.factors.at(self.position[i], self.position[j])

    def factorise(self) -> None:
        """From here on the matrix is known."""
        self.workspace.stage(self.factors)

    def right(self) -> Indices:
        """(nodes,) places for a right-hand side, node by node, which will become the solution."""
        return self.workspace.block(self.nodes)[self.position]

    def solve(self, right: Indices) -> None:
        """A right-hand side becomes the solution."""
        self.workspace.stage(Substitute(self.factors, int(right.min())))

    @property
    def pivots(self) -> Indices:
        """(nodes,) the places of the pivots, node by node."""
        return np.asarray(self.factors.pivots + self.position)


def sparse_saddle(
    workspace: Workspace, n: int, mass: Pairs, rows: Pairs, count: int, late: bool = False
) -> SparseSaddle:
    """The matrix with entries of M between coordinates and entries of `count` rows (row, coordinate).

    With `late`, all coordinates are eliminated before the first constraint.
    """
    i, j = np.concatenate([mass[0], n + rows[0]]), np.concatenate([mass[1], rows[1]])
    found = elimination(n, count, i, j, late)
    size = int((np.diff(found.first) * strides_of(found.first, found.begins)).sum())
    factors = Factorise(found.first, found.begins, found.below, first(workspace, size), first(workspace, n + count))
    return SparseSaddle(workspace, n, found.order, found.touched, factors)


def first(workspace: Workspace, count: int) -> int:
    """The first of so many new places, at a multiple of what is reckoned with side by side."""
    workspace.block(-workspace.size % LANES)
    return workspace.size if not count else int(workspace.block(count)[0])
