"""The saddle-point system of constrained motion, factorised symbolically and sparsely, once for all states.

    ⎡ M  Aᵀ ⎤ ⎡  q̈ ⎤   ⎡ Q ⎤
    ⎣ A  0  ⎦ ⎣ −λ ⎦ = ⎣ b ⎦

An LDLᵀ factorisation that skips structural zeros, with every intermediate named as it arises: a straight-line
program, not a nested expression. The order limits fill (least degree first) under one rule: a constraint is
eliminated after all coordinates of its row. Its pivot is then −aᵀPa with P the inverse mass that earlier
constraints leave, so it vanishes exactly where the row depends on theirs, and nowhere else: pivots tell rank.

Rows that may depend on each other are damped: −μ in place of 0 keeps every pivot away from zero, and refinement takes
the error of it out again wherever the rows are consistent (the proximal method of multipliers).

Works in any algebra with `+`, `*`, `/` (SymEngine here).
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = dict[int, Any]


@dataclass(frozen=True)
class Steps:
    """A straight-line program in the making: `name` gives an expression a symbol of its own."""

    symbol: Callable[[str], Any]
    add: Callable[..., Any]
    done: list[tuple[Any, Any]] = field(default_factory=list)

    def name(self, expression: Any) -> Any:
        """A symbol for the expression; symbols and numbers stand for themselves."""
        if expression.is_Symbol or expression.is_Number:
            return expression
        symbol = self.symbol(f"s{len(self.done)}")
        self.done.append((symbol, expression))
        return symbol

    def sum(self, terms: Sequence[Any]) -> Any:
        """A named sum, None if there is nothing to add."""
        return self.name(self.add(*terms)) if terms else None


@dataclass(frozen=True)
class Saddle:
    """LDU of the saddle-point matrix. Nodes 0 … n−1 are coordinates, n … n+r−1 constraints."""

    steps: Steps
    n: int
    order: list[int]
    below: dict[int, Row]
    """node → {later node: entry of L}"""
    right: dict[int, Row]
    """node → {later node: entry of U}; the matrix is symmetric here, and U is Lᵀ (see `skew` for others)"""
    pivot: dict[int, Any]
    plain: frozenset[int]
    """Coordinates whose pivot is the mass itself, unchanged by elimination."""

    def solve(self, Q: Sequence[Any], b: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """q̈ and λ for right-hand sides Q and b; None in Q or b is a structural zero, in the result too."""
        steps = self.steps
        right: dict[int, list[Any]] = {k: [] for k in self.order}
        for k, e in enumerate([*Q, *b]):
            if e is not None and e != 0:
                right[k].append(e)
        y: dict[int, Any] = {}
        for k in self.order:
            y[k] = steps.sum(right[k])
            if y[k] is not None:
                for i, l in self.below[k].items():
                    right[i].append(-l * y[k])
        x: dict[int, Any] = {}
        for k in reversed(self.order):
            terms = [-u * x[i] for i, u in self.right[k].items() if x[i] is not None]
            if y[k] is not None:
                terms.append(y[k] / self.pivot[k])
            x[k] = steps.sum(terms)
        count = len(self.order)
        return [x[k] for k in range(self.n)], [None if x[k] is None else -x[k] for k in range(self.n, count)]

    def solve_refined(
        self, A: Sequence[Row], Q: Sequence[Any], b: Sequence[Any], times: int
    ) -> tuple[list[Any], list[Any]]:
        """q̈ and λ where rows A are damped: what they miss of b is solved for again, so many times."""
        found = self.solve(Q, b)
        for _ in range(times):
            found = self.refined(A, found, b)
        return found

    def refined(
        self, A: Sequence[Row], found: tuple[Sequence[Any], Sequence[Any]], b: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        """q̈ and λ with what they miss of b made up for, once."""
        x, _ = found
        missing = [
            self.steps.sum([*([] if e is None else [e]), *(-a * x[j] for j, a in row.items() if x[j] is not None)])
            for row, e in zip(A, b, strict=True)
        ]
        more = self.solve([None] * self.n, missing)
        x, lam = (
            [self.steps.sum([e for e in pair if e is not None]) for pair in zip(old, new, strict=True)]
            for old, new in zip(found, more, strict=True)
        )
        return x, lam

    def constraint_pivots(self) -> list[Any]:
        """A number for each constraint that is positive while its row is independent of earlier ones."""
        return [-self.pivot[k] for k in range(self.n, len(self.order))]

    def mass_pivots(self) -> list[Any]:
        """The pivots of coordinates that are not constant: positive while M is positive definite."""
        return [self.pivot[k] for k in range(self.n) if not (self.pivot[k].is_Number or k in self.plain)]


def factorise_saddle(
    M: Sequence[Row], A: Sequence[Row], steps: Steps, coordinates_first: bool = False, damping: Sequence[Any] = ()
) -> Saddle:
    """Factorise, eliminating nodes of least degree first; or all coordinates before the first constraint.

    `damping` are the μ of the rows, if they are damped.
    """
    n = len(M)
    left = unfactorised(M, A, steps, damping)
    late = n if coordinates_first else 0  # a constraint's degree counts as larger by this

    def rank(k: int) -> tuple[int, int]:
        return len(left.entries[k]) + (late if k >= n else 0), k

    # A constraint waits for all coordinates of its row: only so its pivot tells whether the row is independent.
    waiting = {n + c: set(row) for c, row in enumerate(A)}
    users: dict[int, list[int]] = {k: [] for k in range(n)}
    for c, row in enumerate(A):
        for j in row:
            users[j].append(n + c)
    heap = [rank(k) for k in range(n)] + [rank(k) for k, needs in waiting.items() if not needs]
    heapq.heapify(heap)
    order: list[int] = []
    below: dict[int, Row] = {}
    pivot: dict[int, Any] = {}
    plain: set[int] = set()
    while heap:
        queued = heapq.heappop(heap)
        k = queued[1]
        if k in below:
            continue
        # Its neighbourhood may have changed since it was queued: queued again with its degree of now, which is
        # cheaper than keeping the heap up to date at every entry that is put.
        if queued != rank(k):
            heapq.heappush(heap, rank(k))
            continue
        order.append(k)
        if k < n and len(left.diagonal[k]) == 1:
            plain.add(k)
        pivot[k], below[k] = left.eliminate(k, steps)
        for c in users.get(k, ()):
            waiting[c].discard(k)
            if not waiting[c]:
                heapq.heappush(heap, rank(c))
    return Saddle(steps, n, order, below, below, pivot, frozenset(plain))


@dataclass(frozen=True)
class Unfactorised:
    """What is left of the symmetric matrix while nodes are eliminated: every entry as the terms that add up to it.

    Terms are added only when their node is eliminated: one sum of all, not one for every update.
    """

    entries: dict[int, dict[int, list[Any]]]
    """node → {other node: terms}; both ways round they are one list"""
    diagonal: dict[int, list[Any]]

    def put(self, i: int, j: int, e: Any) -> None:
        """Add a term to an entry and its mirror image."""
        if i == j:
            self.diagonal[i].append(e)
        else:
            self.entries[i].setdefault(j, []).append(e)
            self.entries[j][i] = self.entries[i][j]

    def eliminate(self, k: int, steps: Steps) -> tuple[Any, Row]:
        """Pivot and column of L of a node; what is left then is its Schur complement."""
        pivot = steps.sum(self.diagonal[k])
        column = {i: steps.sum(terms) for i, terms in self.entries[k].items()}
        below = {i: steps.name(e / pivot) for i, e in column.items()}
        neighbours = sorted(column)
        for at, i in enumerate(neighbours):
            del self.entries[i][k]
            for j in neighbours[: at + 1]:
                self.put(i, j, -below[i] * column[j])
        return pivot, below


def unfactorised(M: Sequence[Row], A: Sequence[Row], steps: Steps, damping: Sequence[Any]) -> Unfactorised:
    """The saddle-point matrix, its entries named; −μ stands where rows are damped."""
    n = len(M)
    nodes = range(n + len(A))
    matrix = Unfactorised({k: {} for k in nodes}, {k: [] for k in nodes})
    for i, row in enumerate(M):
        for j, e in row.items():
            if j <= i:
                matrix.put(i, j, steps.name(e))
    for c, row in enumerate(A):
        for j, e in row.items():
            matrix.put(n + c, j, steps.name(e))
    for c, mu in enumerate(damping):
        if mu != 0:
            matrix.put(n + c, n + c, -mu)
    return matrix
