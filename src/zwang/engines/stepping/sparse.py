"""How the velocities of a large block answer: by LDLᵀ of its masses and equalities, without a full matrix.

    [M̃  Eᵀ][ Δv]   [p]
    [E  −G][−Λ̃] = [d],    M̃ = M + Σ w aᵀa,  Λ = Λ̃ − W d.

Rows a that hold what has no mass of its own lift M. All rows give way a little, G, so that dependent ones have an
answer, the shortest there is; what they miss of d is asked for again. Native functions.
"""

from typing import Final

from zwang.arrays import EPS
from zwang.compile.restricted import Array, native
from zwang.compile.restricted.memory import at, shift
from zwang.compile.rolled.loops import rows_at, supernodes_at
from zwang.compile.rolled.panels import factorise, substitute
from zwang.engines.stepping.record import AnswerRecord, FactorsRecord, WalkRecord, factors_at, integers

YIELDS: Final = 1e-11  # of its own mobility: how much a row gives way
DEPENDENT_ROW: Final = 1e-9  # of its own mobility: what is left of a row's with others held, below which it depends
ONCE_MORE: Final = 3  # times that what rows have missed is asked for again
MISSED: Final = 64 * EPS  # of the terms of a row: what it misses by rounding


@native
def factored(answer: AnswerRecord, b: int, at_M: int) -> int:
    """Factors of a block; the rank of its equalities, or −1 if nothing determines velocities."""
    block = factors_at(answer.factors)[b]
    n, m, panels = block.n, block.m, at(block.panels)
    M, E = shift(at(answer.M), at_M), shift(at(answer.E), integers(answer.at_E)[b].at)
    place, diagonal, own, gives = integers(block.mass_place), integers(block.diagonal), at(block.own), at(block.gives)
    for i in range(block.size):
        panels[i] = 0.0
    for e in range(block.masses):
        if place[e].at >= 0:
            panels[place[e].at] += M[e]
    for i in range(m):
        lifted(block, i, M, E)
    first, local, place = integers(block.row_first), integers(block.row_local), integers(block.row_place)
    for j in range(n):
        own[j] = panels[diagonal[j].at]
    for i in range(m):
        gives[i] = 0.0
        for e in range(first[i].at, first[i + 1].at):
            panels[place[e].at] += E[e]
            mass = own[local[e].at]
            if mass > 0.0:
                gives[i] += E[e] * E[e] / mass
        panels[diagonal[n + i].at] = -YIELDS * gives[i] if gives[i] > 0.0 else -1.0
    factorise(
        block.count, supernodes_at(block.nodes), rows_at(block.below), integers(block.relative), panels,
        at(block.pivots), at(block.scratch),
    )  # fmt: skip
    pivots, position, rank = at(block.pivots), integers(block.position), 0
    for j in range(n):
        if not pivots[position[j].at] > block.least * own[j]:
            return -1
    for i in range(m):
        if -pivots[position[n + i].at] > DEPENDENT_ROW * gives[i] and gives[i] > 0.0:
            rank += 1
    return rank


@native
def lifted(block: FactorsRecord, i: int, M: Array, E: Array) -> None:
    """Add a row to the masses, as heavy as they are, if it lifts them."""
    weight, first, local = at(block.weight), integers(block.row_first), integers(block.row_local)
    mass_own, pair = integers(block.mass_own), integers(block.pair_first)
    weight[i] = 0.0
    if pair[i].at == pair[i + 1].at:
        return
    size, mean = 0.0, 0.0
    for e in range(first[i].at, first[i + 1].at):
        size += E[e] * E[e]
        mean += M[mass_own[local[e].at].at] if mass_own[local[e].at].at >= 0 else 0.0
    if not size > 0.0:
        return
    weight[i] = mean / size if mean > 0.0 else 1.0 / size
    left, right, place, panels = (
        integers(block.pair_left), integers(block.pair_right), integers(block.pair_place), at(block.panels),
    )  # fmt: skip
    for k in range(pair[i].at, pair[i + 1].at):
        panels[place[k].at] += weight[i] * E[left[k].at] * E[right[k].at]


@native
def solved_with(block: FactorsRecord) -> None:
    """The solution for the right-hand side in `x`, in its place, both in the order of elimination."""
    substitute(
        block.count, supernodes_at(block.nodes), rows_at(block.below), at(block.panels), at(block.pivots),
        at(block.x), at(block.scratch),
    )  # fmt: skip


@native
def missed(walk: WalkRecord, answer: AnswerRecord, b: int, asked: Array, change: Array) -> bool:
    """What equalities miss of what they are asked for, as the next right-hand side; whether it is not rounding."""
    block, rows = factors_at(answer.factors)[b], integers(answer.rows)
    n, begin, found = block.n, integers(answer.first)[b].at, False
    first, local, position = integers(block.row_first), integers(block.row_local), integers(block.position)
    x, E, start = at(block.x), shift(at(answer.E), integers(answer.at_E)[b].at), integers(walk.block_first)[b].at
    coordinate = integers(walk.block_coordinate)
    for j in range(n):
        x[position[j].at] = 0.0
    for i in range(block.m):
        left, size = asked[rows[begin + i].at], abs(asked[rows[begin + i].at])
        for e in range(first[i].at, first[i + 1].at):
            term = E[e] * change[coordinate[start + local[e].at].at]
            left -= term
            size += abs(term)
        x[position[n + i].at] = left
        if abs(left) > MISSED * size:
            found = True
    return found


@native
def answered_sparsely(
    walk: WalkRecord, answer: AnswerRecord, b: int, push: Array, asked: Array, change: Array, multipliers: Array
) -> None:
    """Δv and Λ of one block."""
    block, rows = factors_at(answer.factors)[b], integers(answer.rows)
    n, begin, start = block.n, integers(answer.first)[b].at, integers(walk.block_first)[b].at
    position, coordinate, x, weight = (
        integers(block.position),
        integers(walk.block_coordinate),
        at(block.x),
        at(block.weight),
    )
    for j in range(n):
        x[position[j].at] = push[coordinate[start + j].at]
        change[coordinate[start + j].at] = 0.0
    for i in range(block.m):
        r = rows[begin + i].at
        x[position[n + i].at] = asked[r]
        multipliers[r] = -weight[i] * asked[r]
    for turn in range(ONCE_MORE + 1):
        solved_with(block)
        for j in range(n):
            change[coordinate[start + j].at] += x[position[j].at]
        for i in range(block.m):
            multipliers[rows[begin + i].at] -= x[position[n + i].at]
        if block.m == 0 or turn == ONCE_MORE or not missed(walk, answer, b, asked, change):
            break


@native
def column_of(walk: WalkRecord, answer: AnswerRecord, b: int, r: int, found: Array) -> None:
    """What a unit impulse along a row that acts changes of the velocities of one block, in its order."""
    block, start = factors_at(answer.factors)[b], integers(walk.value_first)
    position, x, owner = integers(block.position), at(block.x), integers(walk.block)
    columns, local, values = integers(walk.column), integers(walk.local), at(walk.value)
    for j in range(block.n + block.m):
        x[j] = 0.0
    for e in range(start[r].at, start[r + 1].at):
        if owner[columns[e].at].at == b:
            x[position[local[columns[e].at].at].at] = values[e]
    solved_with(block)
    for j in range(block.n):
        found[j] = x[position[j].at]
