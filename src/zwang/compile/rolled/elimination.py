"""In which order a sparse symmetric matrix is eliminated, and which rows are eliminated together.

The same rule as in straight-line code (`lowering.saddle`): nodes of least degree first, and a constraint after all
coordinates of its row. Any order in which every node comes before its parent, the first node below it in L, has the
same entries in L and the same pivots: so nodes with nearly the same rows below them are brought together as
supernodes, which are dense panels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zwang.arrays import Indices
from zwang.compile.lanes import LANES
from zwang.compile.rolled.degrees import least_degree


@dataclass(frozen=True, eq=False)
class Elimination:
    """The order of nodes, and the pattern of L by supernodes, as `compile.rolled.program.Factorise` has it."""

    order: Indices
    first: Indices
    begins: Indices
    below: Indices
    touched: Indices
    """(nodes,) whether the pivot of a node is more than an entry of the matrix."""


def elimination(n: int, count: int, i: Indices, j: Indices, late: bool) -> Elimination:
    """Of n coordinates and `count` constraints with entries between nodes i and j.

    With `late`, all coordinates are eliminated before the first constraint.
    """
    order, columns, rows = least_degree(n, count, i, j, late)
    nodes = n + count
    place = np.empty(nodes, dtype=np.int64)
    place[order] = np.arange(nodes)
    each, ends = place[rows], columns.tolist()
    ordered = each[np.lexsort((each, np.repeat(np.arange(nodes), np.diff(columns))))].tolist()
    together = supernodes([ordered[ends[k] : ends[k + 1]] for k in range(nodes)])
    touched = np.zeros(nodes, dtype=bool)
    touched[rows] = True
    new = np.concatenate([np.zeros(0, dtype=np.int64), *(own for own, _ in together)])
    position = np.empty(nodes, dtype=np.int64)
    position[new] = np.arange(nodes)
    below = [np.sort(position[rows]) for _, rows in together]
    return Elimination(
        order[new],
        np.concatenate([[0], np.cumsum([len(own) for own, _ in together], dtype=np.int64)]),
        np.concatenate([[0], np.cumsum([len(rows) for rows in below], dtype=np.int64)]),
        np.concatenate([np.zeros(0, dtype=np.int64), *below]),
        touched,
    )


def supernodes(columns: Sequence[list[int]]) -> list[tuple[list[int], list[int]]]:
    """Nodes that are eliminated together and the rows below them, children before parents.

    `columns` are the rows below each node, ascending, in an order of elimination.
    """
    owner, found = alike_leaves(columns)
    merged = list(range(len(found)))  # with what a supernode was merged

    def now(s: int) -> int:
        while merged[s] != s:
            merged[s] = s = merged[merged[s]]
        return s

    for s in sorted(range(len(found)), key=lambda s: found[s][0][-1]):
        own, rows = found[s]
        if rows:
            parent = now(owner[rows[0]])
            others, behind = found[parent]
            apart = effort(len(own), len(rows)) + effort(len(others), len(behind))
            if effort(len(own) + len(others), len(behind)) <= apart:
                found[parent] = own + others, behind
                merged[s] = parent
    kept = [s for s in range(len(found)) if merged[s] == s]
    children: dict[int, list[int]] = {}
    for s in kept:
        rows = found[s][1]
        children.setdefault(now(owner[rows[0]]) if rows else -1, []).append(s)
    order: list[int] = []
    waiting = list(children.get(-1, ()))
    while waiting:  # parents before children, each next to its own: the reverse of what is wanted
        s = waiting.pop()
        order.append(s)
        waiting += children.get(s, ())
    return [found[s] for s in reversed(order)]


def alike_leaves(columns: Sequence[list[int]]) -> tuple[list[int], list[tuple[list[int], list[int]]]]:
    """Each node by itself, but together those that have no earlier ones to wait for and the same rows below them.

    Such are the coordinates of a point mass. Given are the supernode of each node, and the supernodes.
    """
    waits = [False] * len(columns)
    for column in columns:
        if column:
            waits[column[0]] = True
    owner: list[int] = []
    found: list[tuple[list[int], list[int]]] = []
    leaves: dict[tuple[int, ...], int] = {}
    for k, column in enumerate(columns):
        key = tuple(column)
        if not waits[k] and column and key in leaves:
            owner.append(leaves[key])
            found[leaves[key]][0].append(k)
            continue
        if not waits[k]:
            leaves[key] = len(found)
        owner.append(len(found))
        found.append(([k], column))
    return owner, found


def effort(width: int, rows: int) -> float:
    """About how many cycles it takes to eliminate so many columns with so many rows below them."""
    lines = -(-(width + rows) // LANES)
    return 10 + (60 if lines > 1 else 0) + width * lines * (2 + width / 2 + 0.7 * rows) + rows * (rows + 1) / 2
