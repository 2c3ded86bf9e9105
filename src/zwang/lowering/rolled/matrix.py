"""The saddle-point matrix of a large system in a workspace: its pattern, its order of elimination, its factors.

The same rule as in straight-line code (`lowering.saddle`): nodes of least degree first, and a constraint after all
coordinates of its row.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zwang.arrays import Indices
from zwang.compile.rolled.program import Factorise, Substitute
from zwang.lowering.rolled.workspace import Workspace

Pairs = tuple[Indices, Indices]


@dataclass(frozen=True, eq=False)
class SparseSaddle:
    """[M Aᵀ; A 0] in a workspace. Nodes 0 … n−1 are coordinates, those behind are constraints."""

    workspace: Workspace
    n: int
    order: Indices
    """(nodes,) in which they are eliminated."""
    keys: Indices
    """Of the entries, ascending: row · nodes + column, in the order of elimination."""
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
        keys = keys_of(self.position[i], self.position[j], self.nodes)
        return np.asarray(self.factors.entries + np.searchsorted(self.keys, keys))

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

    @property
    def untouched(self) -> Indices:
        """The nodes whose pivots are entries of the matrix itself."""
        return self.order[np.setdiff1d(np.arange(self.nodes), self.factors.below)]


def sparse_saddle(
    workspace: Workspace, n: int, mass: Pairs, rows: Pairs, count: int, late: bool = False
) -> SparseSaddle:
    """The matrix with entries of M between coordinates and entries of `count` rows (row, coordinate).

    With `late`, all coordinates are eliminated before the first constraint.
    """
    nodes = n + count
    i = np.concatenate([mass[0], n + rows[0], np.arange(nodes)])
    j = np.concatenate([mass[1], rows[1], np.arange(nodes)])
    order, columns = least_degree(n, count, i, j, late)
    position = np.empty(nodes, dtype=np.int64)
    position[order] = np.arange(nodes)
    keys = np.unique(keys_of(position[i], position[j], nodes))
    begins = np.concatenate([[0], np.cumsum([len(column) for column in columns])])
    below = np.concatenate([np.zeros(0, dtype=np.int64), *(np.sort(position[column]) for column in columns)])
    factors = Factorise(
        nodes=nodes,
        rows=np.concatenate([[0], np.cumsum(np.bincount(keys // max(nodes, 1), minlength=nodes))]).astype(np.int64),
        columns=keys % max(nodes, 1),
        begins=begins.astype(np.int64),
        below=below.astype(np.int64),
        entries=first(workspace, len(keys)),
        lower=first(workspace, len(below)),
        pivots=first(workspace, nodes),
        scratch=first(workspace, 2 * nodes),
    )
    return SparseSaddle(workspace, n, np.asarray(order, dtype=np.int64), keys, factors)


def first(workspace: Workspace, count: int) -> int:
    """The first of so many new places."""
    return workspace.size if not count else int(workspace.block(count)[0])


def keys_of(i: Indices, j: Indices, nodes: int) -> Indices:
    """Entries of a lower triangle as numbers."""
    return np.asarray(np.maximum(i, j) * nodes + np.minimum(i, j))


def least_degree(n: int, count: int, i: Indices, j: Indices, late: bool) -> tuple[list[int], list[list[int]]]:
    """The order of elimination, and the nodes below each pivot."""
    beside: list[set[int]] = [set() for _ in range(n + count)]
    for a, b in zip(i.tolist(), j.tolist(), strict=True):
        if a != b:
            beside[a].add(b)
            beside[b].add(a)
    waiting = {c: len(beside[c]) for c in range(n, n + count)}  # a row has coordinates only
    users: list[Sequence[int]] = [[c for c in beside[k] if c >= n] for k in range(n)]
    offset = n if late else 0

    def rank(k: int) -> tuple[int, int]:
        return len(beside[k]) + (offset if k >= n else 0), k

    heap = [rank(k) for k in range(n)] + [rank(c) for c, needs in waiting.items() if not needs]
    heapq.heapify(heap)
    order: list[int] = []
    columns: list[list[int]] = []
    done = [False] * (n + count)
    while heap:
        queued = heapq.heappop(heap)
        k = queued[1]
        if done[k]:
            continue
        if queued != rank(k):  # its neighbourhood has changed since
            heapq.heappush(heap, rank(k))
            continue
        done[k] = True
        order.append(k)
        near = beside[k]
        columns.append(list(near))
        for other in near:
            beside[other] |= near
            beside[other] -= {other, k}
        for c in users[k] if k < n else ():
            waiting[c] -= 1
            if not waiting[c]:
                heapq.heappush(heap, rank(c))
    return order, columns
