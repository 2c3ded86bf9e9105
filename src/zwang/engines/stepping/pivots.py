"""Impulses by pivoting: who opens, sticks and slides is guessed, and what that asks for is solved for.

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
from zwang.engines.stepping.faces import IS_OPEN, IS_SLIDING, IS_STUCK, directed, face_of, taken
from zwang.engines.stepping.profiles import profiled
from zwang.engines.stepping.record import DENSE_ROWS, WalkRecord, integers
from zwang.engines.stepping.ways import unknowns, way

FEW_AT_FIRST: Final = 2  # sweeps there and back before pivots are tried; twice as many before each further time
GAINS: Final = 0.3  # the share of what is left that a turn should leave of it
MOST_PIVOTS: Final = 60
NOT_AGAIN_FOR: Final = 64  # times, where they were in vain and laws hold well enough, as in a pile at rest
FIRM: Final = 1e-6  # of its entry: a pivot of independent rows
LEAVE_TOGETHER: Final = 20  # times that all contacts which a way stops leave it together; later one at a time
WRONG_WAY: Final = 1e-3  # of what is asked for: speeds that are zero in a guess


@native
def first_guess(walk: WalkRecord) -> None:
    """Who opens, sticks and slides by the impulses that are there."""
    begin, x, mu, state, aim = integers(walk.begin), at(walk.x), at(walk.mu), at(walk.state), at(walk.aim)
    for a in range(walk.acting):
        i, end, friction = begin[a].at, begin[a + 1].at, 0.0
        for r in range(i + 1, end):
            friction += x[r] * x[r]
            aim[r] = x[r] / x[i] if x[i] > 0.0 else 0.0
        state[a] = IS_OPEN
        if x[i] > 0.0:
            slides = end > i + 1 and not math.sqrt(friction) < mu[a] * x[i] * (1.0 - 64.0 * EPS)
            state[a] = IS_SLIDING if slides else IS_STUCK


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
def turned(walk: WalkRecord, a: int) -> None:
    """The direction of a slip in space that friction has now, which is all that there may be."""
    begin, x, aim, length = integers(walk.begin), at(walk.x), at(walk.aim), 0.0
    i, end = begin[a].at, begin[a + 1].at
    for r in range(i + 1, end):
        length += x[r] * x[r]
    if length > 0.0:
        for r in range(i + 1, end):
            aim[r] = at(walk.mu)[a] * x[r] / math.sqrt(length)
            x[r] = aim[r] * x[i]


@native
def gone(walk: WalkRecord) -> bool:
    """Go the way as far as contacts may; whether one has stopped it, which opens or slides from there on."""
    begin, x, way, state, aim = integers(walk.begin), at(walk.x), at(walk.best), at(walk.state), at(walk.aim)
    far, stopped, opens = 1.0, -1, False
    for a in range(walk.acting):
        i = begin[a].at
        if state[a] == IS_OPEN:
            continue
        if x[i] + far * way[i] < 0.0:
            far, stopped, opens = -x[i] / way[i], a, True
        if state[a] == IS_STUCK and begin[a + 1].at > i + 1:
            limit = within_friction(walk, a)
            if limit < far:
                far, stopped, opens = limit, a, False
    for r in range(begin[walk.acting].at):
        x[r] += far * way[r]
    for a in range(walk.acting):
        if state[a] == IS_SLIDING and begin[a + 1].at > begin[a].at + 2:
            turned(walk, a)
    if stopped < 0:
        return False
    i, end = begin[stopped].at, begin[stopped + 1].at
    if opens:
        state[stopped] = IS_OPEN
        for r in range(i, end):
            x[r] = 0.0
        return True
    state[stopped] = IS_SLIDING
    length = 0.0
    for r in range(i + 1, end):
        aim[r] = x[r] if x[i] > 0.0 else way[r]
        length += aim[r] * aim[r]
    length = math.sqrt(length)
    for r in range(i + 1, end):
        aim[r] = aim[r] / length * at(walk.mu)[stopped] if length > 0.0 else 0.0
    return True


@native
def gone_at_once(walk: WalkRecord) -> bool:
    """Go the whole way; whether some have pulled, or needed more friction than there is, who open or slide then."""
    begin, x, way, state, aim = integers(walk.begin), at(walk.x), at(walk.best), at(walk.state), at(walk.aim)
    found = False
    for a in range(walk.acting):
        if state[a] == IS_OPEN:
            continue
        i, end, friction, m = begin[a].at, begin[a + 1].at, 0.0, at(walk.mu)[a]
        for r in range(i, end):
            x[r] += way[r]
        if x[i] < 0.0:
            state[a], found = IS_OPEN, True
            for r in range(i, end):
                x[r] = 0.0
            continue
        for r in range(i + 1, end):
            friction += x[r] * x[r]
        friction = math.sqrt(friction)
        if state[a] == IS_STUCK and friction > m * x[i]:
            state[a], found = IS_SLIDING, True
            for r in range(i + 1, end):
                aim[r] = m * x[r] / friction
                x[r] = aim[r] * x[i]
        elif state[a] == IS_SLIDING and end > i + 2:
            turned(walk, a)
    return found


@native
def revised(walk: WalkRecord, enough: float) -> bool:
    """Whether contacts that approach push from now on, or some that slide the wrong way stick; or turn, in space."""
    begin, u, mu, state, aim = (
        integers(walk.begin), at(walk.u), at(walk.mu), at(walk.state), at(walk.aim),
    )  # fmt: skip
    found, little = False, WRONG_WAY * enough
    for a in range(walk.acting):
        i, end = begin[a].at, begin[a + 1].at
        if state[a] == IS_OPEN:
            if u[i] < -little:
                state[a] = IS_STUCK if mu[a] > 0.0 or end == i + 1 else IS_SLIDING
                found = True
        elif state[a] == IS_SLIDING and mu[a] > 0.0:
            along, slip = 0.0, 0.0
            for r in range(i + 1, end):
                along += u[r] * aim[r]
                slip += u[r] * u[r]
            slip = math.sqrt(slip)
            if along > mu[a] * little:
                state[a] = IS_STUCK
                found = True
            elif end > i + 2 and along > -mu[a] * slip * (1.0 - EPS):
                found = True  # it turns further
    return found


@native
def tabled(walk: WalkRecord) -> None:
    """How all rows that act act on each other, as a matrix."""
    W, rows = at(walk.mobilities), integers(walk.begin)[walk.acting].at
    for r in range(rows):
        for s in range(rows):
            W[r * DENSE_ROWS + s] = mobility(walk, r, s)


@native
def pivoted(walk: WalkRecord, enough: float) -> float:
    """Pivots until the laws hold, or no longer than that helps; what is left of them."""
    first_guess(walk)
    left, at_once = look(walk), 0
    for _ in range(MOST_PIVOTS):
        count = unknowns(walk)
        if count < 0:
            break
        if count > 0:
            if not way(walk, count):
                break
            # rows that depend on each other have a way without end: only the first that it stops may leave it
            whole = walk.large == 1 and walk.firm > FIRM and at_once < LEAVE_TOGETHER
            stopped = gone_at_once(walk) if whole else gone(walk)
            at_once += 1 if whole else 0
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
    rows, made, turns, known, direct = begin[walk.acting].at, 0, FEW_AT_FIRST, False, True
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
        if left <= well and walk.vain > 0:
            walk.vain -= 1
            continue
        if not known:
            walk.large, direct, known = 0, True, True
            if rows <= DENSE_ROWS:
                tabled(walk)
            else:
                direct = profiled(walk)
                walk.large = 1
        for r in range(rows):
            kept[r] = x[r]
        found = pivoted(walk, enough) if direct else faced(walk, enough)
        if found < left:
            left = found
        else:
            walk.vain = NOT_AGAIN_FOR
            for r in range(rows):
                x[r] = kept[r]
            look(walk)
    walk.left = left
    walk.sweeps += made
