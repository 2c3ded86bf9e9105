"""Impulses of the contacts that act in a step, in machine code, without a matrix of how they act on each other.

Rows that act are laid out with what their unit impulses change. Sweeps go from contact to contact, as in `sweeps`, and
keep what impulses have changed of all velocities; a contact touches only those of its blocks. Native functions.
"""

import math
from typing import Final

from zwang.compile.restricted import Array, native
from zwang.compile.restricted.memory import at, shift
from zwang.engines.stepping.dense import rank_of
from zwang.engines.stepping.laws import missed, rough, rough_in_space, smooth
from zwang.engines.stepping.readings import vanished
from zwang.engines.stepping.record import DENSE_ROWS, WalkRecord, answers_at, factors_at, integers
from zwang.engines.stepping.sparse import column_of

NO_OWN_MOBILITY: Final = 1e-10  # of its own: what is left of a row's mobility with others held, below which it depends


@native
def laid_out(walk: WalkRecord, out: Array, level: int, slips: bool) -> None:
    """Lay out the rows of the contacts in `who`, and what their impulses change."""
    who, begin, which = integers(walk.who), integers(walk.begin), integers(walk.which)
    contact, slip_first, slip = integers(walk.contact), integers(walk.slip_first), integers(walk.slip)
    value_first, answer_first = integers(walk.value_first), integers(walk.answer_first)
    owner, rows = integers(walk.owner), 0
    begin[0].at, value_first[0].at, answer_first[0].at = 0, 0, 0
    for a in range(walk.acting):
        i = who[a].at
        which[rows].at = contact[i].at
        rows += 1
        if slips:
            for s in range(slip_first[i].at, slip_first[i + 1].at):
                which[rows].at = slip[s].at
                rows += 1
        begin[a + 1].at = rows
        for r in range(begin[a].at, rows):
            owner[r].at = a
    for r in range(rows):
        row_laid_out(walk, out, level, r)
    own = at(walk.own)
    for a in range(walk.acting):
        for i in range(begin[a].at, begin[a + 1].at):
            for j in range(begin[a].at, begin[a + 1].at):
                own[9 * a + 3 * (i - begin[a].at) + j - begin[a].at] = mobility(walk, i, j)


@native
def row_laid_out(walk: WalkRecord, out: Array, level: int, r: int) -> None:
    """One of these rows."""
    answer, row = answers_at(walk.answers)[integers(walk.level)[level].at], integers(walk.which)[r].at
    first, column, entry = integers(walk.row_first), integers(walk.row_column), integers(walk.row_entry)
    value_first, columns, values = integers(walk.value_first), integers(walk.column), at(walk.value)
    A, block, local = shift(out, walk.out_A), integers(walk.block), integers(walk.local)
    place = value_first[r].at
    for e in range(first[row].at, first[row + 1].at):
        values[place] = A[entry[e].at]
        columns[place].at = column[e].at
        place += 1
    if vanished(walk, out, row):
        for e in range(value_first[r].at, place):
            values[e] = 0.0
    value_first[r + 1].at = place
    touch_first, touch = integers(walk.touch_first), integers(walk.touch)
    answer_first, answer_column, found = integers(walk.answer_first), integers(walk.answer_column), at(walk.answer)
    block_first, coordinate = integers(walk.block_first), integers(walk.block_coordinate)
    place = answer_first[r].at
    for k in range(touch_first[row].at, touch_first[row + 1].at):
        b = touch[k].at
        n, K = block_first[b + 1].at - block_first[b].at, shift(at(answer.K), integers(walk.at_M)[b].at)
        for i in range(n):
            found[place + i] = 0.0
            answer_column[place + i].at = coordinate[block_first[b].at + i].at
        if factors_at(answer.factors)[b].count > 0:
            column_of(walk, answer, b, r, shift(found, place))
            place += n
            continue
        for e in range(value_first[r].at, value_first[r + 1].at):
            if block[columns[e].at].at == b:
                j = local[columns[e].at].at
                for i in range(n):
                    found[place + i] += K[i * n + j] * values[e]
        place += n
    answer_first[r + 1].at = place


@native
def along(walk: WalkRecord, r: int, w: Array) -> float:
    """A row times velocities."""
    first, columns, values = integers(walk.value_first), integers(walk.column), at(walk.value)
    total = 0.0
    for e in range(first[r].at, first[r + 1].at):
        total += values[e] * w[columns[e].at]
    return total


@native
def pushed(walk: WalkRecord, r: int, x: float, w: Array) -> None:
    """Add to velocities what an impulse along a row changes of them."""
    first, columns, values = integers(walk.answer_first), integers(walk.answer_column), at(walk.answer)
    for e in range(first[r].at, first[r + 1].at):
        w[columns[e].at] += values[e] * x


@native
def mobility(walk: WalkRecord, r: int, s: int) -> float:
    """What a unit impulse along row s changes of the speed of row r."""
    first, columns, values = integers(walk.value_first), integers(walk.column), at(walk.value)
    touch_first, touch, block = integers(walk.touch_first), integers(walk.touch), integers(walk.block)
    block_first, local, answer = integers(walk.block_first), integers(walk.local), at(walk.answer)
    row, place, total = integers(walk.which)[s].at, integers(walk.answer_first)[s].at, 0.0
    for k in range(touch_first[row].at, touch_first[row + 1].at):
        b = touch[k].at
        for e in range(first[r].at, first[r + 1].at):
            if block[columns[e].at].at == b:
                total += values[e] * answer[place + local[columns[e].at].at]
        place += block_first[b + 1].at - block_first[b].at
    return total


@native
def settle(walk: WalkRecord, a: int) -> None:
    """Give one contact the impulse that its law asks for."""
    c, x, w, own, mu = at(walk.c), at(walk.x), at(walk.w), shift(at(walk.own), 9 * a), at(walk.mu)[a]
    i = integers(walk.begin)[a].at
    size = integers(walk.begin)[a + 1].at - i
    u = c[i] + along(walk, i, w)
    if size == 1:
        s = x[i]
        x[i] = smooth(u - own[0] * s, own[0])
        if x[i] != s:
            pushed(walk, i, x[i] - s, w)
        return
    v = c[i + 1] + along(walk, i + 1, w)
    s, y = x[i], x[i + 1]
    if size == 2:
        x[i], x[i + 1] = rough(u - own[0] * s - own[1] * y, v - own[1] * s - own[4] * y, own[0], own[1], own[4], mu)
    else:
        z, o = x[i + 2], c[i + 2] + along(walk, i + 2, w)
        x[i], x[i + 1], x[i + 2] = rough_in_space(
            u - own[0] * s - own[1] * y - own[2] * z,
            v - own[1] * s - own[4] * y - own[5] * z,
            o - own[2] * s - own[5] * y - own[8] * z,
            own[0],
            own[1],
            own[2],
            own[4],
            own[5],
            own[8],
            mu,
        )
        if x[i + 2] != z:
            pushed(walk, i + 2, x[i + 2] - z, w)
    if x[i] != s:
        pushed(walk, i, x[i] - s, w)
    if x[i + 1] != y:
        pushed(walk, i + 1, x[i + 1] - y, w)


@native
def look(walk: WalkRecord) -> float:
    """How far the worst contact is from its law; velocities are summed anew. Not a number where something is not."""
    begin, x, u, c, w, mu = integers(walk.begin), at(walk.x), at(walk.u), at(walk.c), at(walk.w), at(walk.mu)
    for i in range(walk.n):
        w[i] = 0.0
    for r in range(begin[walk.acting].at):
        if x[r] != 0.0:
            pushed(walk, r, x[r], w)
    worst = 0.0
    for a in range(walk.acting):
        i, size, own = begin[a].at, begin[a + 1].at - begin[a].at, shift(at(walk.own), 9 * a)
        rho, v, o, y, z = own[0], 0.0, 0.0, 0.0, 0.0
        u[i] = c[i] + along(walk, i, w)
        if size > 1:
            u[i + 1] = c[i + 1] + along(walk, i + 1, w)
            v, y, rho = u[i + 1], x[i + 1], own[4] if own[4] > rho else rho
        if size > 2:
            u[i + 2] = c[i + 2] + along(walk, i + 2, w)
            o, z, rho = u[i + 2], x[i + 2], own[8] if own[8] > rho else rho
        found = missed(u[i], v, o, x[i], y, z, rho, mu[a])
        if not found <= worst:
            worst = found
            if not worst < math.inf:
                return worst
    return worst


@native
def independent(walk: WalkRecord) -> int:
    """How many rows of contacts that push, and of slips that stick, are independent; −1 if there are very many."""
    begin, x, sticks, who = integers(walk.begin), at(walk.x), at(walk.sticks), integers(walk.who)
    places, count = integers(walk.places), 0
    for a in range(walk.acting):
        i = begin[a].at
        if x[i] > 0.0:
            if count + 3 > DENSE_ROWS:
                return -1
            places[count].at = i
            count += 1
            if sticks[who[a].at] > 0.0:
                for r in range(i + 1, begin[a + 1].at):
                    places[count].at = r
                    count += 1
    walk.least_rows = count
    if count < 2:
        return count
    dense, scale = at(walk.dense), at(walk.best)
    for k in range(count):
        own = mobility(walk, places[k].at, places[k].at)
        scale[k] = 1.0 / math.sqrt(own) if own > 0.0 else 0.0
    for k in range(count):
        for j in range(count):
            dense[k * DENSE_ROWS + j] = scale[k] * scale[j] * mobility(walk, places[k].at, places[j].at)
    return rank_of(dense, count, DENSE_ROWS, NO_OWN_MOBILITY)
