"""The end of a step, moved back onto equalities and out of contacts. Native functions."""

import math
from typing import Final

from zwang.compile.restricted import Array, native
from zwang.compile.restricted.memory import at
from zwang.engines.stepping.acting import along, laid_out
from zwang.engines.stepping.blocks import answered, renewed
from zwang.engines.stepping.contacts import AT_STANDSTILL
from zwang.engines.stepping.pivots import solved
from zwang.engines.stepping.readings import evaluated, rate, rounding, times_row
from zwang.engines.stepping.record import POSITIONS, VELOCITIES, WalkRecord, answers_at, integers

BACK_AT_MOST: Final = 4  # moves back onto constraints after a step
ALSO_NEAR: Final = 3.0  # times the deepest penetration: contacts this near must not be penetrated by moving others back
MOVED_BACK: Final = 1e-3  # of the depth: how exactly a move back out of contacts is computed
SWEEPS_BACK: Final = 2_000


@native
def moved_back(walk: WalkRecord, out: Array, stays: Array) -> bool:
    """Move positions, by least kinetic energy, onto equalities and out of contacts that stay closed.

    False if nothing determines how.
    """
    q, gap, dq, push = at(walk.end_q), at(walk.gap), at(walk.mean), at(walk.force)
    answer = answers_at(walk.answers)[integers(walk.level)[POSITIONS].at]
    rows, asked, reading = integers(answer.rows), at(walk.asked), integers(walk.reading)
    if not renewed(walk, POSITIONS, out):
        return False
    for i in range(walk.n):
        push[i] = 0.0
    for k in range(integers(answer.first)[walk.blocks].at):
        asked[rows[k].at] = -out[reading[rows[k].at].at]
    answered(walk, POSITIONS, push, asked, dq, at(walk.end_rates))
    deepest = 0.0
    for i in range(walk.contacts):
        if stays[i] > 0.0 and -gap[i] > deepest:
            deepest = -gap[i]
    if deepest > 0.0:
        who = integers(walk.who)
        walk.acting = 0
        for i in range(walk.contacts):
            if gap[i] < ALSO_NEAR * deepest:
                who[walk.acting].at = i
                walk.acting += 1
        laid_out(walk, out, POSITIONS, False)
        c, x, mu = at(walk.c), at(walk.x), at(walk.mu)
        walk.largest = 0.0
        for a in range(walk.acting):
            i = who[a].at
            wanted = -gap[i] if stays[i] > 0.0 or gap[i] > 0.0 else 0.0
            c[a], x[a], mu[a] = along(walk, a, dq) - wanted, 0.0, 0.0
            walk.largest = abs(c[a]) if abs(c[a]) > walk.largest else walk.largest
        solved(walk, MOVED_BACK * walk.largest, MOVED_BACK * walk.largest, SWEEPS_BACK)
        w = at(walk.w)
        for i in range(walk.n):
            dq[i] += w[i]
    for i in range(walk.n):
        q[i] += dq[i]
    return True


@native
def back(walk: WalkRecord, t: float) -> bool:
    """Move the end of the step back onto equalities and out of contacts; speeds of all rows there.

    False if nothing determines how.
    """
    out, q, v, gap, closed = at(walk.out), at(walk.end_q), at(walk.end_v), at(walk.gap), at(walk.closed)
    contact, reading, always = integers(walk.contact), integers(walk.reading), at(walk.always)
    before, after, multipliers, stays = at(walk.before), at(walk.speed_after), at(walk.multipliers), at(walk.slot)
    answer = answers_at(walk.answers)[integers(walk.level)[POSITIONS].at]
    rows, first_pass, h = integers(answer.rows), at(walk.moved), t - walk.t
    for i in range(walk.contacts):
        pushes, idle = multipliers[contact[i].at] > 0.0, before[i] != before[i]
        closed[i] = 1.0 if idle or (pushes and not after[i] > AT_STANDSTILL * abs(before[i])) else 0.0
    for i in range(walk.n):
        first_pass[i] = q[i]
    for turn in range(BACK_AT_MOST + 1):
        evaluated(walk, t, q, v, out)
        fine = True
        for i in range(walk.contacts):
            gap[i] = math.inf if always[i] > 0.0 else out[reading[contact[i].at].at]
            stays[i] = 0.0
            # what does not push leaves by itself only if it is out of it within a step
            lingers = not multipliers[contact[i].at] > 0.0 and not after[i] * h >= -gap[i]
            deep = gap[i] < 0.0 and gap[i] < -rounding(walk, out, contact[i].at, q)
            if (closed[i] > 0.0 or lingers) and deep:
                stays[i] = 1.0
                fine = False
        for k in range(integers(answer.first)[walk.blocks].at):
            r = rows[k].at
            if not abs(out[reading[r].at]) <= rounding(walk, out, r, q):
                fine = False
        if fine or turn == BACK_AT_MOST:
            break
        if not moved_back(walk, out, stays):
            return False
    moved, depth = at(walk.moved), at(walk.depth)
    for i in range(walk.n):
        moved[i] = q[i] - moved[i]
    for i in range(walk.contacts):
        depth[i] = -gap[i] if gap[i] < 0.0 else 0.0
    return onto(walk, out)


@native
def onto(walk: WalkRecord, out: Array) -> bool:
    """Move velocities at the end onto the equalities; speeds of all rows there. False as in `back`."""
    v, rates = at(walk.end_v), at(walk.end_rates)
    answer = answers_at(walk.answers)[integers(walk.level)[VELOCITIES].at]
    rows, asked, change, push = integers(answer.rows), at(walk.asked), at(walk.mean), at(walk.force)
    count = integers(answer.first)[walk.blocks].at
    for r in range(walk.rows):
        rates[r] = rate(walk, out, r)
    if count == 0:
        return True
    if not renewed(walk, VELOCITIES, out):
        return False
    for i in range(walk.n):
        push[i] = 0.0
    for k in range(count):
        asked[rows[k].at] = -rates[rows[k].at]
    answered(walk, VELOCITIES, push, asked, change, at(walk.lambda_free))
    for i in range(walk.n):
        v[i] += change[i]
    for r in range(walk.rows):
        rates[r] += times_row(walk, out, r, change)
    return True
