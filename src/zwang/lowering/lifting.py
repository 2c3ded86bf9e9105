"""Rows that make up for a singular M: M + Σ w aᵀa stands in for it, and the acceleration is the same.

With all rows a of A that touch a coordinate without inertia, the sum is positive definite wherever rank [M; A] = n
(Udwadia and Wanichanon), that is, wherever there is an acceleration at all: no row is chosen whose share in such a
coordinate could vanish on the way. Fewer rows are taken only where they can be seen to do along the whole motion: a row
that is itself the direction in which M vanishes, as the norm of Euler parameters is, and one in which a massless
coordinate has a constant factor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.lowering.lowered import Lowered, Matrices

MASSLESS = 1e-12  # where M has less than this it counts as singular: lifting it there costs little and changes nothing
ADDED = 2.0**-6  # of what a row's inertia is at the start: as much is added to it, for it may vanish on the way
TRIALS = 2  # places at which a sum that is zero by structure is zero

Pattern = Sequence[Mapping[int, Any]]
"""Row by row, the entries that are not zero by structure."""


@dataclass(frozen=True)
class Weight:
    """The weight of a lifted row a, 1 / (least + Σ shareⱼ aⱼ²): about its effective mass 1 / aM⁻¹aᵀ, all along.

    Heavier, what was added would drown M in rounding; lighter, it would hardly lift it.
    """

    least: float
    shares: tuple[tuple[int, float], ...] = ()

    def of(self, row: Any, one: Any = 1.0) -> Any:
        """The weight, for a row with these entries by column."""
        return one / (self.least + sum(share * row[j] ** 2 for j, share in self.shares))


Lifted = tuple[tuple[int, Weight], ...]


def lifted(M: Array, A: Array, lift: Lifted) -> Array:
    """M + Σ w aᵀa in numbers, (…, n, n)."""
    for i, weight in lift:
        a = A[..., i, :]
        M = M + np.asarray(weight.of(np.moveaxis(a, -1, 0)))[..., None, None] * a[..., :, None] * a[..., None, :]
    return M


def lifting_rows(now: Matrices, rows: Sequence[int], lowered: Lowered | None = None, redundant: bool = False) -> Lifted:
    """The rows, of those given, that lift M, with their weights; some of them may be redundant.

    The model tells which entries are zero by structure; without it, it is those that are zero here.
    """
    M, A = patterns(now, lowered)
    blocks = [Block.of(now.M, columns) for columns in connected(M)]
    if all(block.regular for block in blocks):
        return ()
    sure = null_rows(blocks, M, A, rows, lowered if redundant else None)
    open_ = {j for b, block in enumerate(blocks) if not block.regular and b not in sure for j in block.columns}
    steady = steady_rows(open_, {blocks[b].columns[0] for b in range(len(blocks)) if blocks[b].empty}, A, rows)
    taken = [*sure.values(), *steady, *(i for i in rows if open_ & A[i].keys())]
    own = {i: blocks[b].weight(now.A[i]) for b, i in sure.items()}
    inertia = {j: block.mean for block in blocks if block.mean for j in block.columns}
    return tuple((i, own[i] if i in own else weight_of(now.A[i], A[i], inertia)) for i in sorted(set(taken)))


def patterns(now: Matrices, lowered: Lowered | None) -> tuple[Pattern, Pattern]:
    """The entries of M and A by structure."""
    if lowered is not None:
        return lowered.derived.M, lowered.derived.A
    return pattern_here(now.M), pattern_here(now.A)


def pattern_here(matrix: Array) -> Pattern:
    """The entries that are not zero here."""
    return [{int(j): row[j] for j in np.flatnonzero(row)} for row in matrix]


def connected(M: Pattern) -> list[list[int]]:
    """The coordinates in groups between which M has no entries."""
    found: list[list[int]] = []
    seen: set[int] = set()
    for first in range(len(M)):
        if first in seen:
            continue
        group, waiting = [], [first]
        seen.add(first)
        while waiting:
            j = waiting.pop()
            group.append(j)
            waiting += (new := M[j].keys() - seen)
            seen |= new
        found.append(sorted(group))
    return found


@dataclass(frozen=True)
class Block:
    """Some coordinates that only move each other: in how many directions they have no inertia, and how much else."""

    columns: list[int]
    nullity: int
    largest: float
    mean: float
    """The geometric mean of what inertia there is, which does not change as a body turns; 0 without any."""

    @classmethod
    def of(cls, M: Array, columns: list[int]) -> "Block":
        """A block of M here."""
        part = M[np.ix_(columns, columns)]
        values = np.diagonal(part) if len(columns) == 1 else np.linalg.eigvalsh(part)
        scale = np.sqrt(np.where(np.diagonal(part) > 0, np.diagonal(part), 1.0))
        unit = values / scale**2 if len(columns) == 1 else np.linalg.eigvalsh(part / scale / scale[:, None])
        nullity = int(np.count_nonzero(~(unit > MASSLESS * max(float(unit[-1]), MASSLESS))))
        there = values[nullity:][values[nullity:] > 0]
        mean = float(np.exp(np.log(there).mean())) if len(there) else 0.0
        return cls(columns, nullity, float(values[-1]), mean)

    @property
    def regular(self) -> bool:
        """Whether there is inertia in every direction."""
        return self.nullity == 0

    @property
    def empty(self) -> bool:
        """Whether it is one coordinate without inertia."""
        return len(self.columns) == 1 and self.nullity == 1

    def weight(self, a: Array) -> Weight:
        """Of a row of this block alone, whose length does not change."""
        return Weight(power_of_two((float(a @ a) or 1.0) / (self.largest if self.largest > 0 else 1.0)))


def null_rows(
    blocks: Sequence[Block], M: Pattern, A: Pattern, rows: Sequence[int], alone: Lowered | None
) -> dict[int, int]:
    """Of each block without inertia in one direction: a row that is this direction, whatever the state.

    Where rows may be redundant, and this one could vanish without harm, it must depend on the block `alone`.
    """
    found: dict[int, int] = {}
    for b, block in enumerate(blocks):
        if block.nullity != 1:
            continue
        own = set(block.columns)
        for i in rows:
            if not A[i] or not A[i].keys() <= own:
                continue
            if alone is not None and not depends_on(A[i], alone, own):
                continue
            if all(vanishes([e * A[i][k] for k, e in M[j].items() if k in A[i]]) for j in block.columns):
                found[b] = i
                break
    return found


def depends_on(row: Mapping[int, Any], lowered: Lowered, columns: set[int]) -> bool:
    """Whether a row changes with the positions of these coordinates only."""
    axes = lowered.description.axes
    other = {axes.t, *axes.v, *(q for j, q in enumerate(axes.q) if j not in columns)}
    return not any(other & e.free_symbols for e in row.values())


def vanishes(terms: Sequence[Any]) -> bool:
    """Whether a sum is zero, of expressions wherever they are evaluated."""
    draw = Random(1)
    symbols = sorted({s for e in terms for s in getattr(e, "free_symbols", ())}, key=str)
    for _ in range(TRIALS):
        there = {s: draw.uniform(0.5, 1.5) for s in symbols}
        try:
            values = [float(e.subs(there)) if hasattr(e, "subs") else float(e) for e in terms]
        except (TypeError, ValueError, RuntimeError):  # not a number there
            return False
        if not abs(sum(values)) <= 1e-12 * sum(map(abs, values)):
            return False
    return True


def steady_rows(open_: set[int], empty: set[int], A: Pattern, rows: Sequence[int]) -> list[int]:
    """Rows that each have a constant factor for one massless coordinate and none for another that is still `open_`.

    Coordinates that such a row takes care of are taken from `open_`.
    """
    found: list[int] = []
    again = True
    while again:
        again = False
        for i in sorted(rows, key=lambda i: (len(A[i]), i)):
            touched = open_ & A[i].keys()
            if len(touched) == 1 and touched <= empty and is_number(A[i][min(touched)]):
                open_ -= touched
                found.append(i)
                again = True
    return found


def is_number(entry: Any) -> bool:
    """Whether an expression is a number other than zero."""
    return bool(getattr(entry, "is_Number", False)) and entry != 0


def weight_of(a: Array, row: Mapping[int, Any], inertia: Mapping[int, float]) -> Weight:
    """The weight of a row a; of one that touches massless coordinates only, where no scale is given, any will do."""
    shares = {j: power_of_two(1 / inertia[j]) for j in row if j in inertia}
    length = float(a @ a) or 1.0
    if not shares:
        typical = float(np.exp(np.mean(np.log(list(inertia.values()))))) if inertia else 1.0
        return Weight(power_of_two(length / typical))
    return with_shares(shares, {j: float(a[j]) for j in shares}, length)


def with_shares(shares: Mapping[int, float], a: Mapping[int, float], length: float) -> Weight:
    """The weight of a row a by its shares in inertia, given the square of its length."""
    now = sum(share * a[j] ** 2 for j, share in shares.items())
    return Weight(
        power_of_two(ADDED * max(now, ADDED * length * max(shares.values()))),
        tuple(sorted(shares.items())),
    )


def power_of_two(x: float) -> float:
    """The nearest one, so that the same choice at another state is the same program."""
    return float(2.0 ** round(np.log2(x)))
