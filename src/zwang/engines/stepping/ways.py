"""How impulses change so that a guess holds of who opens, sticks and slides, by one linear system.

Unknowns are the impulses of contacts that push, with those of slips that stick; friction of contacts that slide goes
with their normals. Native functions.
"""

import math
from typing import Final

from zwang.compile.restricted import native
from zwang.compile.restricted.memory import at, shift
from zwang.engines.stepping.dense import eliminated
from zwang.engines.stepping.faces import IS_OPEN, IS_SLIDING, IS_STUCK
from zwang.engines.stepping.profiles import between, factored, substituted
from zwang.engines.stepping.record import DENSE_ROWS, WalkRecord, integers

GIVES_WAY: Final = 1e-8  # of the largest mobility: how much dependent rows give way


@native
def unknowns(walk: WalkRecord) -> int:
    """Rows of contacts that push, with their slips where these stick, into `places`; their number, −1 for too many.

    Of a contact that slides in space the last row stands for friction across its direction, which may turn.
    """
    begin, places, state = integers(walk.begin), integers(walk.places), at(walk.state)
    sequence, base, count = integers(walk.sequence), integers(walk.base), 0
    for p in range(walk.acting):
        a = sequence[p].at if walk.large == 1 else p
        base[p].at = count
        if state[a] != IS_OPEN:
            if count + 3 > DENSE_ROWS and walk.large == 0:
                return -1
            i, end = begin[a].at, begin[a + 1].at
            places[count].at = i
            count += 1
            if state[a] == IS_STUCK:
                for r in range(i + 1, end):
                    places[count].at = r
                    count += 1
            elif end > i + 2 and at(walk.mu)[a] * at(walk.x)[i] > 0.0:
                places[count].at = i + 2
                count += 1
    return count


@native
def part_of(walk: WalkRecord, s: int, r: int) -> float:
    """How much of an unknown that stands in row s is along row r of its contact."""
    a = integers(walk.owner)[s].at
    i, aim, m = integers(walk.begin)[a].at, at(walk.aim), at(walk.mu)[a]
    if at(walk.state)[a] != IS_SLIDING:
        return 1.0 if r == s else 0.0
    if s == i:
        return 1.0 if r == i else aim[r]
    return 0.0 if r == i else (-aim[i + 2] / m if r == i + 1 else aim[i + 1] / m)


@native
def across(walk: WalkRecord, s: int, r: int) -> float:
    """The same of an equation: speeds of normals do not contain slips."""
    a = integers(walk.owner)[s].at
    return (1.0 if r == s else 0.0) if s == integers(walk.begin)[a].at else part_of(walk, s, r)


@native
def entry(walk: WalkRecord, k: int, j: int) -> float:
    """What an unknown in row j changes of the equation in row k."""
    begin, owner, W, total = integers(walk.begin), integers(walk.owner), at(walk.mobilities), 0.0
    state = at(walk.state)
    if state[owner[k].at] != IS_SLIDING and state[owner[j].at] != IS_SLIDING:
        return between(walk, k, j) if walk.large == 1 else W[k * DENSE_ROWS + j]
    for r in range(begin[owner[k].at].at, begin[owner[k].at + 1].at):
        share = across(walk, k, r)
        if share != 0.0:
            for s in range(begin[owner[j].at].at, begin[owner[j].at + 1].at):
                part = part_of(walk, j, s)
                if part != 0.0:
                    total += share * part * (between(walk, r, s) if walk.large == 1 else W[r * DENSE_ROWS + s])
    return total


@native
def missing(walk: WalkRecord, s: int) -> float:
    """What the equation in row s lacks."""
    begin, u, a, total = integers(walk.begin), at(walk.u), integers(walk.owner)[s].at, 0.0
    for r in range(begin[a].at, begin[a + 1].at):
        total += across(walk, s, r) * u[r]
    return total


@native
def gives(walk: WalkRecord, s: int, largest: float) -> float:
    """How much the equation in row s gives way; friction that turns gives way to the slip."""
    a, slip = integers(walk.owner)[s].at, 0.0
    i = integers(walk.begin)[a].at
    if not (at(walk.state)[a] == IS_SLIDING and s > i):
        return GIVES_WAY * largest
    for r in range(i + 1, integers(walk.begin)[a + 1].at):
        slip += at(walk.u)[r] * at(walk.u)[r]
    return GIVES_WAY * largest + math.sqrt(slip) / (at(walk.mu)[a] * at(walk.x)[i])


@native
def in_full(walk: WalkRecord, count: int) -> bool:
    """Solve for few unknowns in a dense matrix, into `missing`; False where there is no solution."""
    places, dense, wide, x, largest = integers(walk.places), at(walk.dense), count + 1, at(walk.missing), 0.0
    for j in range(count):
        for k in range(count):
            dense[k * wide + j] = entry(walk, places[k].at, places[j].at)
        largest = abs(dense[j * wide + j]) if abs(dense[j * wide + j]) > largest else largest
    for k in range(count):
        dense[k * wide + k] += gives(walk, places[k].at, largest)
        dense[k * wide + count] = -missing(walk, places[k].at)
    if not eliminated(dense, count):
        return False
    for k in range(count):
        x[k] = dense[k * wide + count]
    return True


@native
def in_profile(walk: WalkRecord, count: int) -> bool:
    """The same for many, in a profile."""
    places, low, first, x, largest = (
        integers(walk.places), integers(walk.low), integers(walk.profile_first), at(walk.missing), 0.0,
    )  # fmt: skip
    position, owner, total = integers(walk.position), integers(walk.owner), 0
    for k in range(count):
        s = places[k].at
        low[k].at = integers(walk.base)[integers(walk.reach)[position[owner[s].at].at].at].at
        first[k].at = total
        total += k - low[k].at + 1
        L, U = shift(at(walk.lower), first[k].at - low[k].at), shift(at(walk.upper), first[k].at - low[k].at)
        for j in range(low[k].at, k):
            L[j], U[j] = entry(walk, s, places[j].at), entry(walk, places[j].at, s)
        U[k] = entry(walk, s, s)
        largest = abs(U[k]) if abs(U[k]) > largest else largest
        x[k] = -missing(walk, s)
    for k in range(count):
        at(walk.upper)[first[k].at + k - low[k].at] += gives(walk, places[k].at, largest)
    walk.firm = factored(walk, count)
    if not walk.firm > 0.0:
        return False
    substituted(walk, count, x)
    return True


@native
def way(walk: WalkRecord, count: int) -> bool:
    """How impulses change so that the guess holds, into `best`, by all rows; False where there is no way."""
    begin, places, way, owner = integers(walk.begin), integers(walk.places), at(walk.best), integers(walk.owner)
    if not (in_profile(walk, count) if walk.large == 1 else in_full(walk, count)):
        return False
    for r in range(begin[walk.acting].at):
        way[r] = 0.0
    for j in range(count):
        s = places[j].at
        for r in range(begin[owner[s].at].at, begin[owner[s].at + 1].at):
            way[r] += part_of(walk, s, r) * at(walk.missing)[j]
    return True
