"""Impulses of many rows by conjugate gradients: of those that push and stick together, until their speeds vanish.

Sweeps find out who pushes, sticks and slides, but take long until impulses have gone through a large pile; conjugate
gradients take the root of that, without a matrix. Friction of those that slide stays as it is on the way. Impulses that
then pull, or need more friction than there is, are taken back to their limits. Native functions.
"""

import math
from typing import Final

from zwang.compile.restricted import Array, native
from zwang.compile.restricted.memory import at
from zwang.engines.stepping.acting import along, pushed
from zwang.engines.stepping.record import WalkRecord, integers

MOST_DIRECTIONS: Final = 200
MORE_EXACT: Final = 0.1  # of what may be left of laws: what may be left of speeds on the way
IS_OPEN: Final = 0  # what a contact does, in a guess
IS_STUCK: Final = 1
IS_SLIDING: Final = 2


@native
def face_of(walk: WalkRecord, face: Array) -> int:
    """Rows whose speeds shall vanish: of contacts that push, and of slips that stick; how many there are."""
    begin, state, count = integers(walk.begin), at(walk.state), 0
    for a in range(walk.acting):
        for r in range(begin[a].at, begin[a + 1].at):
            held = state[a] != IS_OPEN and (r == begin[a].at or state[a] == IS_STUCK)
            face[r] = 1.0 if held else 0.0
            count += 1 if held else 0
    return count


@native
def directed(walk: WalkRecord, enough: float) -> None:
    """How impulses change so that the speeds of the face vanish, into `best`."""
    begin, own, owner, u = integers(walk.begin), at(walk.own), integers(walk.owner), at(walk.u)
    way, left, to, face, w = at(walk.best), at(walk.missing), at(walk.direction), at(walk.face), at(walk.pushed_by)
    rows, size = begin[walk.acting].at, 0.0
    for r in range(rows):
        way[r], left[r], to[r] = 0.0, 0.0, 0.0
        if face[r] > 0.0:
            mobility = own[9 * owner[r].at + 4 * (r - begin[owner[r].at].at)]
            left[r] = -u[r]
            to[r] = left[r] / mobility if mobility > 0.0 else 0.0
            size += left[r] * to[r]
    for _ in range(MOST_DIRECTIONS):
        for i in range(walk.n):
            w[i] = 0.0
        for r in range(rows):
            if to[r] != 0.0:
                pushed(walk, r, to[r], w)
        across = 0.0
        for r in range(rows):
            if face[r] > 0.0:
                across += to[r] * along(walk, r, w)
        if not across > 0.0:
            break
        far, worst, new = size / across, 0.0, 0.0
        for r in range(rows):
            if face[r] > 0.0:
                mobility = own[9 * owner[r].at + 4 * (r - begin[owner[r].at].at)]
                way[r] += far * to[r]
                left[r] -= far * along(walk, r, w)
                worst = abs(left[r]) if abs(left[r]) > worst else worst
                new += left[r] * left[r] / mobility if mobility > 0.0 else 0.0
        if not (worst > MORE_EXACT * enough and new < math.inf):
            break
        for r in range(rows):
            if face[r] > 0.0:
                mobility = own[9 * owner[r].at + 4 * (r - begin[owner[r].at].at)]
                to[r] = (left[r] / mobility if mobility > 0.0 else 0.0) + new / size * to[r]
        size = new


@native
def taken(walk: WalkRecord) -> None:
    """Go the whole way; impulses that pull become none, and friction what there may be."""
    begin, x, way, mu = integers(walk.begin), at(walk.x), at(walk.best), at(walk.mu)
    for a in range(walk.acting):
        i, end, friction = begin[a].at, begin[a + 1].at, 0.0
        for r in range(i, end):
            x[r] += way[r]
        if not x[i] > 0.0:
            for r in range(i, end):
                x[r] = 0.0
        for r in range(i + 1, end):
            friction += x[r] * x[r]
        friction = math.sqrt(friction)
        if friction > mu[a] * x[i]:
            for r in range(i + 1, end):
                x[r] *= mu[a] * x[i] / friction
