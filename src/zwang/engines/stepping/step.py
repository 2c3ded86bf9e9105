"""One step of Moreau and Jean's method in machine code; what it does is written in `motion.contact.steps.scheme`.

A step that is hard, since rows have vanished, masses determine nothing or laws are not obeyed after many sweeps, is not
made: who asked makes it in another way. Native functions.
"""

import math
from typing import Final

from zwang.compile.restricted import native
from zwang.compile.restricted.memory import at
from zwang.engines.stepping.acting import independent, laid_out
from zwang.engines.stepping.back import back
from zwang.engines.stepping.blocks import ALL, renewed
from zwang.engines.stepping.contacts import bounded, drawn_in, summed_up, with_contacts, without_contacts
from zwang.engines.stepping.readings import evaluated
from zwang.engines.stepping.record import Outcome, WalkRecord, answers_at, integers

RUNNING, HARD = int(Outcome.RUNNING), int(Outcome.HARD)

DRAWN_IN_AT_MOST: Final = 4  # times that contacts are taken in which impulses of others press together
STRIKES: Final = 1e-9  # of the work of impulses: an approach that takes less of it is no impact


@native
def looked_at(walk: WalkRecord, work: float) -> None:
    """Whether a contact that approaches is met, so that velocities jump; and of a step that is kept, its rank."""
    contact, before, multipliers = integers(walk.contact), at(walk.before), at(walk.multipliers)
    approach, rank, who = 0.0, answers_at(walk.answers)[integers(walk.level)[ALL].at].rank, integers(walk.who)
    for a in range(walk.acting):
        i = who[a].at
        if before[i] < 0.0:
            approach += before[i] * multipliers[contact[i].at]
    walk.struck = 1 if -approach > STRIKES * abs(work) else 0
    walk.unique = 1
    if at(walk.wanted)[walk.number] > 0.0 and walk.acting > 0:
        found = independent(walk)
        if found < 0 or found < walk.least_rows:
            walk.unique = 0
        rank += found if found >= 0 else walk.least_rows
    walk.least_rows = rank


@native
def made(walk: WalkRecord, until: float) -> int:
    """The next step, to a time; everything that it says is written down, but the state is the old one."""
    n, t, h = walk.n, walk.t, until - walk.t
    q, v, middle, out, free = at(walk.q), at(walk.v), at(walk.middle), at(walk.out), at(walk.free)
    first_free, change, mean, after = at(walk.first_free), at(walk.change), at(walk.mean), at(walk.after)
    for i in range(n):
        middle[i] = q[i] + h / 2.0 * v[i]
    evaluated(walk, t + h / 2.0, middle, v, out)
    walk.sweeps = 0
    if not renewed(walk, ALL, out):
        return HARD
    without_contacts(walk, out, h)
    for i in range(n):
        first_free[i] = free[i]
    bounded(walk, h)
    if not (laid_out(walk, out, ALL, True) and with_contacts(walk)):
        return HARD
    for _ in range(DRAWN_IN_AT_MOST):
        if not drawn_in(walk, h):
            break
        if not (laid_out(walk, out, ALL, True) and with_contacts(walk)):
            return HARD
    if walk.hastens == 1:
        later = at(walk.later)
        for i in range(n):
            mean[i] = v[i] + change[i] / 2.0
        evaluated(walk, t + h / 2.0, middle, mean, later)
        without_contacts(walk, later, h)
        if not with_contacts(walk):
            return HARD
    summed_up(walk)
    jump, impulse, end_q, end_v = at(walk.jump), at(walk.impulse), at(walk.end_q), at(walk.end_v)
    work = 0.0
    for i in range(n):
        after[i] = v[i] + change[i]
        jump[i] = change[i] - first_free[i]
        end_v[i] = after[i]
        end_q[i] = middle[i] + h / 2.0 * after[i]
        work += impulse[i] * jump[i]
        if not abs(after[i]) < math.inf:
            return HARD
    looked_at(walk, work)
    left = walk.left
    if not back(walk, until):
        return HARD
    walk.left = left  # of laws; the move back has its own
    return RUNNING
