"""How many contacts act on each other, in a profile: a sparse matrix whose rows begin where their first entry is.

Contacts are put into an order in which those that share a block are near each other (Cuthill and McKee's, reversed), so
that a pile of hundreds has rows of some tens of entries, and no entry before a row's first is ever filled. Factors have
the same profile; they are made without exchanging rows, in some ten microseconds. Native functions.
"""

from typing import Final

from zwang.compile.lanes import LANES
from zwang.compile.restricted import Array, native
from zwang.compile.restricted.memory import at, neighbours, shift, total
from zwang.engines.stepping.acting import along, pushed
from zwang.engines.stepping.record import PROFILE_ROOM, WalkRecord, integers

MOST_WORK: Final = 3e7  # multiplications of one factorisation, beyond which conjugate gradients are quicker


@native
def met_in_blocks(walk: WalkRecord) -> None:
    """Which contacts meet in each block: `meet_first` and `meet`."""
    begin, which, first, touch = (
        integers(walk.begin), integers(walk.which), integers(walk.touch_first), integers(walk.touch),
    )  # fmt: skip
    meet_first, meet, seen = integers(walk.meet_first), integers(walk.meet), integers(walk.seen)
    for b in range(walk.blocks + 1):
        meet_first[b].at = 0
    for turn in range(2):
        for b in range(walk.blocks):
            seen[b].at = -1
        for a in range(walk.acting):
            for r in range(begin[a].at, begin[a + 1].at):
                for k in range(first[which[r].at].at, first[which[r].at + 1].at):
                    b = touch[k].at
                    if seen[b].at != a:
                        seen[b].at = a
                        if turn == 1:
                            meet[meet_first[b].at].at = a
                        meet_first[b].at += 1
        if turn == 0:
            total = 0
            for b in range(walk.blocks):
                count = meet_first[b].at
                meet_first[b].at = total
                total += count
    for k in range(walk.blocks):  # filling has moved each to where the next begins
        b = walk.blocks - k
        meet_first[b].at = meet_first[b - 1].at
    meet_first[0].at = 0


@native
def spread(walk: WalkRecord, start: int, count: int) -> int:
    """Contacts that hang together with one, in the order in which they are reached, from place `count` on."""
    begin, which, first, touch = (
        integers(walk.begin), integers(walk.which), integers(walk.touch_first), integers(walk.touch),
    )  # fmt: skip
    meet_first, meet, seen = integers(walk.meet_first), integers(walk.meet), integers(walk.seen)
    sequence, position = integers(walk.sequence), integers(walk.position)
    sequence[count].at, position[start].at = start, count
    end, p = count + 1, count
    while p < end:
        a = sequence[p].at
        for r in range(begin[a].at, begin[a + 1].at):
            for k in range(first[which[r].at].at, first[which[r].at + 1].at):
                b = touch[k].at
                if seen[b].at >= 0:
                    continue
                seen[b].at = p
                for j in range(meet_first[b].at, meet_first[b + 1].at):
                    other = meet[j].at
                    if position[other].at < 0:
                        sequence[end].at, position[other].at = other, end
                        end += 1
        p += 1
    return end


@native
def forgotten(walk: WalkRecord, begun: int, end: int) -> None:
    """Take back the order of some contacts."""
    begin, which, first, touch = (
        integers(walk.begin), integers(walk.which), integers(walk.touch_first), integers(walk.touch),
    )  # fmt: skip
    for p in range(begun, end):
        a = integers(walk.sequence)[p].at
        integers(walk.position)[a].at = -1
        for r in range(begin[a].at, begin[a + 1].at):
            for k in range(first[which[r].at].at, first[which[r].at + 1].at):
                integers(walk.seen)[touch[k].at].at = -1


@native
def in_order(walk: WalkRecord) -> None:
    """Put contacts that act into an order in which those that share blocks are near each other."""
    sequence, position, seen, end = integers(walk.sequence), integers(walk.position), integers(walk.seen), 0
    met_in_blocks(walk)
    for b in range(walk.blocks):
        seen[b].at = -1
    for a in range(walk.acting):
        position[a].at = -1
    for a in range(walk.acting):
        if position[a].at < 0:
            begun = end
            end = spread(walk, a, begun)
            far = sequence[end - 1].at
            forgotten(walk, begun, end)
            end = spread(walk, far, begun)  # from an end of them, layers are thin
    for a in range(walk.acting):  # reversed
        position[a].at = walk.acting - 1 - position[a].at
    for a in range(walk.acting):
        sequence[position[a].at].at = a


@native
def reached(walk: WalkRecord) -> bool:
    """Where the rows of contacts begin; whether there is room for them and factors are no great work."""
    begin, which, first, touch = (
        integers(walk.begin), integers(walk.which), integers(walk.touch_first), integers(walk.touch),
    )  # fmt: skip
    meet_first, meet, position = integers(walk.meet_first), integers(walk.meet), integers(walk.position)
    reach, table_first, lowest = integers(walk.reach), integers(walk.table_first), integers(walk.seen)
    for b in range(walk.blocks):
        lowest[b].at = walk.acting
        for j in range(meet_first[b].at, meet_first[b + 1].at):
            lowest[b].at = position[meet[j].at].at if position[meet[j].at].at < lowest[b].at else lowest[b].at
    total, work = 0, 0.0
    for p in range(walk.acting):
        a, low = integers(walk.sequence)[p].at, p
        for r in range(begin[a].at, begin[a + 1].at):
            for k in range(first[which[r].at].at, first[which[r].at + 1].at):
                low = lowest[touch[k].at].at if lowest[touch[k].at].at < low else low
        reach[p].at, table_first[p].at = low, total
        total += 9 * (p - low + 1)
        wide = 1.0 * (begin[a + 1].at - begin[a].at) * (p - low + 1)
        work += wide * wide * (begin[a + 1].at - begin[a].at)
    return total <= PROFILE_ROOM and work <= MOST_WORK


@native
def profiled(walk: WalkRecord) -> bool:
    """How contacts that act act on each other, as a profile; False where it is too large."""
    in_order(walk)
    if not reached(walk):
        return False
    begin, sequence, reach = integers(walk.begin), integers(walk.sequence), integers(walk.reach)
    w, first, column = at(walk.pushed_by), integers(walk.answer_first), integers(walk.answer_column)
    for i in range(walk.n):
        w[i] = 0.0
    for p in range(walk.acting):
        a, table = sequence[p].at, shift(at(walk.table), integers(walk.table_first)[p].at)
        for r in range(begin[a].at, begin[a + 1].at):
            pushed(walk, r, 1.0, w)
            for o in range(reach[p].at, p + 1):
                b = sequence[o].at
                for s in range(begin[b].at, begin[b + 1].at):
                    table[9 * (o - reach[p].at) + 3 * (r - begin[a].at) + s - begin[b].at] = along(walk, s, w)
            for e in range(first[r].at, first[r + 1].at):
                w[column[e].at] = 0.0
    return True


@native
def between(walk: WalkRecord, r: int, s: int) -> float:
    """What a unit impulse along row s changes of the speed of row r, in the profile; contacts reach each other."""
    begin, owner, position = integers(walk.begin), integers(walk.owner), integers(walk.position)
    i, j = r - begin[owner[r].at].at, s - begin[owner[s].at].at
    p, o = position[owner[r].at].at, position[owner[s].at].at
    if o > p:
        p, o, i, j = o, p, j, i
    table = shift(at(walk.table), integers(walk.table_first)[p].at)
    return table[9 * (o - integers(walk.reach)[p].at) + 3 * i + j]


@native
def dot(a: Array, b: Array, begin: int, end: int) -> float:
    """Σ a_i b_i from a place to before another, by lanes."""
    i, found = begin, 0.0
    if begin + LANES <= end:
        sums = neighbours(a, i) * neighbours(b, i)
        i += LANES
        while i + LANES <= end:
            sums = sums + neighbours(a, i) * neighbours(b, i)
            i += LANES
        found = total(sums)
    while i < end:
        found += a[i] * b[i]
        i += 1
    return found


@native
def factored(walk: WalkRecord, count: int) -> float:
    """Make L and U of a matrix in the profile; the least pivot as a share of its entry, zero where there is none."""
    low, first, least = integers(walk.low), integers(walk.profile_first), 1.0
    lower, upper = at(walk.lower), at(walk.upper)
    for k in range(count):
        L, U = shift(lower, first[k].at - low[k].at), shift(upper, first[k].at - low[k].at)
        entry = U[k]
        for j in range(low[k].at, k):
            L_j, U_j = shift(lower, first[j].at - low[j].at), shift(upper, first[j].at - low[j].at)
            begin = low[j].at if low[j].at > low[k].at else low[k].at
            U[j] -= dot(L_j, U, begin, j)
            L[j] = (L[j] - dot(L, U_j, begin, j)) / U_j[j]
        U[k] -= dot(L, U, low[k].at, k)
        if not abs(U[k]) > 0.0:
            return 0.0
        least = abs(U[k] / entry) if abs(U[k]) < least * abs(entry) else least
    return least


@native
def substituted(walk: WalkRecord, count: int, x: Array) -> None:
    """Solve with the factors, in place."""
    low, first, lower, upper = integers(walk.low), integers(walk.profile_first), at(walk.lower), at(walk.upper)
    for k in range(count):
        L = shift(lower, first[k].at - low[k].at)
        for j in range(low[k].at, k):
            x[k] -= L[j] * x[j]
    for i in range(count):
        k = count - 1 - i
        U = shift(upper, first[k].at - low[k].at)
        x[k] /= U[k]
        for j in range(low[k].at, k):
            x[j] -= U[j] * x[k]
