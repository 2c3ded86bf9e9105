"""Impulses of few rows by pivoting: who opens, sticks and slides is guessed, and what that asks for is solved for.

On the way to the solution the first contact that would pull, or need more friction than there is, is stopped at its
limit, and opens or slides from there on; at the end those that approach push, and those that slide the wrong way stick.
Dependent rows give way a little, so that what is wedged is loaded until something slides; sweeps take thousands of
turns for that. What is left of the laws decides in the end. Native functions.
"""

import math
from typing import Final

from zwang.arrays import EPS
from zwang.compile.restricted import native
from zwang.compile.restricted.memory import at
from zwang.engines.stepping.acting import look, mobility, settle
from zwang.engines.stepping.dense import eliminated
from zwang.engines.stepping.faces import directed, face_of, taken
from zwang.engines.stepping.record import DENSE_ROWS, WalkRecord, integers

FEW_AT_FIRST: Final = 2  # sweeps there and back before pivots are tried; twice as many before each further time
GAINS: Final = 0.3  # the share of what is left that a turn should leave of it
MOST_PIVOTS: Final = 60
YIELDS: Final = 1e-8  # of the largest mobility: how much dependent rows give way
WRONG_WAY: Final = 1e-3  # of what is asked for: speeds that are zero in a guess
OPEN: Final = 0.0
STICKS: Final = 1.0
SLIDES: Final = 2.0


@native
def first_guess(walk: WalkRecord) -> None:
    """Who opens, sticks and slides by the impulses that are there."""
    begin, x, mu, state, aim = integers(walk.begin), at(walk.x), at(walk.mu), at(walk.state), at(walk.aim)
    for a in range(walk.acting):
        i, end, friction = begin[a].at, begin[a + 1].at, 0.0
        for r in range(i + 1, end):
            friction += x[r] * x[r]
            aim[r] = x[r] / x[i] if x[i] > 0.0 else 0.0
        state[a] = OPEN
        if x[i] > 0.0:
            slides = end > i + 1 and not math.sqrt(friction) < mu[a] * x[i] * (1.0 - 64.0 * EPS)
            state[a] = SLIDES if slides else STICKS


@native
def unknowns(walk: WalkRecord) -> int:
    """Rows of contacts that push, with their slips where these stick, into `places`; their number, −1 for too many."""
    begin, places, state = integers(walk.begin), integers(walk.places), at(walk.state)
    count = 0
    for a in range(walk.acting):
        if state[a] != OPEN:
            if count + 3 > DENSE_ROWS:
                return -1
            places[count].at = begin[a].at
            count += 1
            if state[a] == STICKS:
                for r in range(begin[a].at + 1, begin[a + 1].at):
                    places[count].at = r
                    count += 1
    return count


@native
def way(walk: WalkRecord, count: int) -> bool:
    """How impulses change so that the guess holds, into `best`, by all rows; False where there is no way."""
    begin, u, places, way = integers(walk.begin), at(walk.u), integers(walk.places), at(walk.best)
    dense, wide, owner = at(walk.dense), count + 1, integers(walk.owner)
    state, aim = at(walk.state), at(walk.aim)
    largest = 0.0
    for j in range(count):
        s = places[j].at
        a = owner[s].at
        for k in range(count):
            entry = mobility(walk, places[k].at, s)
            if state[a] == SLIDES:
                for t in range(begin[a].at + 1, begin[a + 1].at):
                    entry += mobility(walk, places[k].at, t) * aim[t]
            dense[k * wide + j] = entry
        largest = abs(dense[j * wide + j]) if abs(dense[j * wide + j]) > largest else largest
    for k in range(count):
        dense[k * wide + k] += YIELDS * largest
        dense[k * wide + count] = -u[places[k].at]
    if not eliminated(dense, count):
        return False
    for r in range(begin[walk.acting].at):
        way[r] = 0.0
    for j in range(count):
        s = places[j].at
        a = owner[s].at
        way[s] = dense[j * wide + count]
        if state[a] == SLIDES:
            for t in range(begin[a].at + 1, begin[a + 1].at):
                way[t] = way[s] * aim[t]
    return True


@native
def within_friction(walk: WalkRecord, a: int) -> float:
    """How far a contact that sticks may go its way until it needs all friction; infinity if it never does."""
    begin, x, way, m = integers(walk.begin), at(walk.x), at(walk.best), at(walk.mu)[a]
    i, p, q, r = begin[a].at, 0.0, 0.0, 0.0
    p, q, r = -m * m * way[i] * way[i], -m * m * way[i] * x[i], -m * m * x[i] * x[i]
    for t in range(i + 1, begin[a + 1].at):
        p, q, r = p + way[t] * way[t], q + way[t] * x[t], r + x[t] * x[t]
    if r >= 0.0:  # at its limit already
        return 0.0 if q > 0.0 or (q == 0.0 and p > 0.0) else math.inf
    root = q * q - p * r
    if root < 0.0:
        return math.inf
    root = math.sqrt(root)
    if q > 0.0:
        return -r / (q + root)
    return (root - q) / p if p > 0.0 else math.inf


@native
def gone(walk: WalkRecord) -> bool:
    """Go the way as far as contacts may; whether one has stopped it, which opens or slides from there on."""
    begin, x, way, state, aim = integers(walk.begin), at(walk.x), at(walk.best), at(walk.state), at(walk.aim)
    far, stopped, opens = 1.0, -1, False
    for a in range(walk.acting):
        i = begin[a].at
        if state[a] == OPEN:
            continue
        if x[i] + far * way[i] < 0.0:
            far, stopped, opens = -x[i] / way[i], a, True
        if state[a] == STICKS and begin[a + 1].at > i + 1:
            limit = within_friction(walk, a)
            if limit < far:
                far, stopped, opens = limit, a, False
    for r in range(begin[walk.acting].at):
        x[r] += far * way[r]
    if stopped < 0:
        return False
    i, end = begin[stopped].at, begin[stopped + 1].at
    if opens:
        state[stopped] = OPEN
        for r in range(i, end):
            x[r] = 0.0
        return True
    state[stopped] = SLIDES
    length = 0.0
    for r in range(i + 1, end):
        aim[r] = x[r] if x[i] > 0.0 else way[r]
        length += aim[r] * aim[r]
    length = math.sqrt(length)
    for r in range(i + 1, end):
        aim[r] = aim[r] / length * at(walk.mu)[stopped] if length > 0.0 else 0.0
    return True


@native
def revised(walk: WalkRecord, enough: float) -> bool:
    """Whether contacts that approach push from now on, or some that slide the wrong way stick; or turn, in space."""
    begin, x, u, mu, state, aim = (
        integers(walk.begin), at(walk.x), at(walk.u), at(walk.mu), at(walk.state), at(walk.aim),
    )  # fmt: skip
    found, little = False, WRONG_WAY * enough
    for a in range(walk.acting):
        i, end = begin[a].at, begin[a + 1].at
        if state[a] == OPEN:
            if u[i] < -little:
                state[a] = STICKS if mu[a] > 0.0 or end == i + 1 else SLIDES
                found = True
        elif state[a] == SLIDES and mu[a] > 0.0:
            along, slip = 0.0, 0.0
            for r in range(i + 1, end):
                along += u[r] * aim[r]
                slip += u[r] * u[r]
            slip = math.sqrt(slip)
            if along > mu[a] * little:
                state[a] = STICKS
                found = True
            elif end > i + 2 and slip > little and along > -mu[a] * slip * (1.0 - EPS):
                for r in range(i + 1, end):
                    aim[r] = -mu[a] * u[r] / slip
                    x[r] = aim[r] * x[i]
                found = True
    return found


@native
def pivoted(walk: WalkRecord, enough: float) -> float:
    """Pivots until the laws hold, or no longer than that helps; what is left of them."""
    first_guess(walk)
    left = look(walk)
    for _ in range(MOST_PIVOTS):
        count = unknowns(walk)
        if count < 0:
            break
        if count > 0:
            if not way(walk, count):
                break
            stopped = gone(walk)
            left = look(walk)
            if stopped:
                continue
        if not left > enough:
            break
        if not revised(walk, enough):
            if count > 0 and way(walk, count):  # once more: rows that depend on each other give way
                gone(walk)
            left = look(walk)
            break
        left = look(walk)
    return left


@native
def faced(walk: WalkRecord, enough: float) -> float:
    """Impulses of many rows that push and stick, changed together; what is left of the laws then."""
    first_guess(walk)
    if face_of(walk, at(walk.face)) > 0:
        directed(walk, enough)
        taken(walk)
    return look(walk)


@native
def solved(walk: WalkRecord, enough: float, well: float, most: int) -> None:
    """Impulses x, from those that are there on, until what is left of laws is little enough, or after most sweeps.

    Where it is well enough, no longer than that gains much.
    """
    begin, x, kept = integers(walk.begin), at(walk.x), at(walk.good)
    rows, made, turns = begin[walk.acting].at, 0, FEW_AT_FIRST
    left = look(walk)
    before = math.inf
    while left > enough and made < most and not (left <= well and left > GAINS * before):
        before = left
        for _ in range(turns):
            for a in range(walk.acting):
                settle(walk, a)
            for a in range(walk.acting):
                settle(walk, walk.acting - 1 - a)
        made += 2 * turns
        turns = turns * 2 if turns < most else turns
        left = look(walk)
        if not left > enough:
            continue
        for r in range(rows):
            kept[r] = x[r]
        found = pivoted(walk, enough) if rows <= DENSE_ROWS else faced(walk, enough)
        if found < left:
            left = found
        else:
            for r in range(rows):
                x[r] = kept[r]
            look(walk)
    walk.left = left
    walk.sweeps += made
