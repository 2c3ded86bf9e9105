"""The saddle-point system with forces that are shares of multipliers: unsymmetric, factorised as sparsely.

    ⎡ M  (A + S)ᵀ ⎤ ⎡  q̈ ⎤   ⎡ Q ⎤
    ⎣ A     0     ⎦ ⎣ −λ ⎦ = ⎣ b ⎦

Row i of S is what a unit of λ_i pushes beside its own row: −κ t of a contact that slides, ∂C/∂λ of a nonideal force.
Of a chain of many such rows every one pushes on its neighbours only, so that L and U are as sparse as without S, though
the multipliers all depend on each other.

As in `saddle`, nodes of least degree come first, and a row after all coordinates that it, or what it pushes, has. A
row that pushes beside itself comes after those that do not and share a coordinate with it, too: what holds a body
belongs to what its friction can do, and by itself that might have no solution. Entries that are the same on both
sides of the diagonal are reckoned with once.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from zwang.lowering.saddle import Row, Saddle, Steps


def factorise_skew(
    M: Sequence[Row], A: Sequence[Row], S: Mapping[int, Row], steps: Steps, damping: Sequence[Any] = ()
) -> Saddle:
    """Factorise; S has rows by their places among those of A, `damping` the μ of the rows, if they are damped."""
    n = len(M)
    left = Unsymmetric.of(M, A, S, steps, damping)
    waiting = waits(n, A, S)
    users: dict[int, list[int]] = {}
    for c, needs in waiting.items():
        for k in needs:
            users.setdefault(k, []).append(c)
    heap = [left.rank(k) for k in range(n)] + [left.rank(c) for c, needs in waiting.items() if not needs]
    heapq.heapify(heap)
    order: list[int] = []
    below: dict[int, Row] = {}
    right: dict[int, Row] = {}
    pivot: dict[int, Any] = {}
    while heap:
        queued = heapq.heappop(heap)
        k = queued[1]
        if k in below:
            continue
        if queued != left.rank(k):  # its neighbourhood has changed since
            heapq.heappush(heap, left.rank(k))
            continue
        order.append(k)
        pivot[k], below[k], right[k] = left.eliminate(k, steps)
        for c in users.get(k, ()):
            waiting[c].discard(k)
            if not waiting[c]:
                heapq.heappush(heap, left.rank(c))
    return Saddle(steps, n, order, below, right, pivot, frozenset())


def waits(n: int, A: Sequence[Row], S: Mapping[int, Row]) -> dict[int, set[int]]:
    """The nodes that each row comes after."""
    found = {n + c: set(row) for c, row in enumerate(A)}
    plain: dict[int, set[int]] = {}
    for c, row in enumerate(A):
        if c not in S:
            for j in row:
                plain.setdefault(j, set()).add(n + c)
    for c, push in S.items():
        mine = found[n + c] | set(push)
        found[n + c] = mine.union(*(plain.get(j, ()) for j in mine))
    return found


@dataclass(frozen=True)
class Unsymmetric:
    """What is left of the matrix while nodes are eliminated: every entry as the terms that add up to it.

    Its pattern is symmetric. Where an entry is the same on both sides of the diagonal, they are one list.
    """

    entries: dict[int, dict[int, list[Any]]]
    """row → {column: terms}"""
    diagonal: dict[int, list[Any]]

    @classmethod
    def of(
        cls, M: Sequence[Row], A: Sequence[Row], S: Mapping[int, Row], steps: Steps, damping: Sequence[Any]
    ) -> "Unsymmetric":
        """The matrix, its entries named; −μ stands where rows are damped."""
        n = len(M)
        nodes = range(n + len(A))
        made = cls({k: {} for k in nodes}, {k: [] for k in nodes})
        for i, row in enumerate(M):
            for j, e in row.items():
                if j == i:
                    made.diagonal[i].append(steps.name(e))
                elif j < i:
                    made.put(i, j, steps.name(e), None)
        for c, row in enumerate(A):
            for j, e in row.items():
                made.put(n + c, j, steps.name(e), None)
        for c, push in S.items():
            for j, e in push.items():
                made.put(j, n + c, steps.name(e), ())
        for c, mu in enumerate(damping):
            if mu != 0:
                made.diagonal[n + c].append(-mu)
        return made

    def rank(self, k: int) -> tuple[int, int]:
        """What nodes are ordered by."""
        return len(self.entries[k]), k

    def put(self, i: int, j: int, e: Any, mirrored: Any) -> None:
        """Add a term to entry i, j, and another one to j, i: the same if it is None, nothing if it is empty."""
        if j not in self.entries[i]:
            self.entries[i][j] = self.entries[j][i] = []
        if mirrored is None and self.entries[i][j] is self.entries[j][i]:
            self.entries[i][j].append(e)
            return
        if self.entries[i][j] is self.entries[j][i]:
            self.entries[j][i] = list(self.entries[i][j])
        self.entries[i][j].append(e)
        if mirrored != ():
            self.entries[j][i].append(e if mirrored is None else mirrored)

    def eliminate(self, k: int, steps: Steps) -> tuple[Any, Row, Row]:
        """Pivot, column of L and row of U of a node; what is left then is its Schur complement."""
        pivot = steps.sum(self.diagonal[k])
        across = self.entries[k]
        column: dict[int, Any] = {}
        below: dict[int, Any] = {}
        right: dict[int, Any] = {}
        twins = {i for i, terms in across.items() if terms is self.entries[i][k]}
        for i in across:
            column[i] = steps.sum(self.entries[i][k])
            below[i] = None if column[i] is None else steps.name(column[i] / pivot)
        row: dict[int, Any] = {j: column[j] if j in twins else steps.sum(terms) for j, terms in across.items()}
        for j, e in row.items():
            right[j] = below[j] if j in twins else None if e is None else steps.name(e / pivot)
        neighbours = sorted(across)
        for at, i in enumerate(neighbours):
            del self.entries[i][k]
            self.take(i, i, below[i], row[i])
            for j in neighbours[:at]:
                if i in twins and j in twins:
                    self.put(i, j, -below[i] * row[j], None)
                else:
                    self.take(i, j, below[i], row[j])
                    self.take(j, i, below[j], row[i])
        kept = [{i: e for i, e in part.items() if e is not None} for part in (below, right)]
        return pivot, kept[0], kept[1]

    def take(self, i: int, j: int, factor: Any, e: Any) -> None:
        """Take factor·e from entry i, j alone, if it is not zero by structure."""
        if factor is None or e is None:
            return
        if i == j:
            self.diagonal[i].append(-factor * e)
        else:
            self.put(i, j, -factor * e, ())
