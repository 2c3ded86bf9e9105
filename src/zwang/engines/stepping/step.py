"""One step of Moreau and Jean's method in machine code; what it does is written in `motion.contact.steps.scheme`.

A step that is hard, since rows have vanished, masses determine nothing or laws are not obeyed after many sweeps, is not
made: who asked makes it in another way. Native functions.
"""

import math
from typing import Final

from zwang.arrays import EPS
from zwang.compile.restricted import Array, native
from zwang.compile.restricted.memory import at, call, shift
from zwang.engines.stepping.acting import along, independent, laid_out, pushed
from zwang.engines.stepping.blocks import answered, renewed
from zwang.engines.stepping.pivots import solved
from zwang.engines.stepping.record import Outcome, WalkRecord, answers_at, integers

RUNNING, HARD = int(Outcome.RUNNING), int(Outcome.HARD)

ALL: Final = 0
POSITIONS: Final = 1
VELOCITIES: Final = 2

ROUNDED_TERMS: Final = 64 * EPS  # of the terms of a gap: below, it is rounding
OBEYED: Final = 1e-12  # of the largest speed: what may be left of a law
OBEYED_WELL: Final = 1e-9  # of the largest speed: what may be left of it after …
USUAL_SWEEPS: Final = 1_000
AT_STANDSTILL: Final = 1e-9  # of the largest speed: a slip that is none
CHANGES_OF_FRICTION: Final = 4  # from sticking to sliding friction and back, in a step
DRAWN_IN_AT_MOST: Final = 4  # times that contacts are taken in which impulses of others press together
BACK_AT_MOST: Final = 4  # moves back onto constraints after a step
ALSO_NEAR: Final = 3.0  # times the deepest penetration: contacts this near must not be penetrated by moving others back
MOVED_BACK: Final = 1e-3  # of the depth: how exactly a move back out of contacts is computed
SWEEPS_BACK: Final = 2_000
STRIKES: Final = 1e-9  # of the work of impulses: an approach that takes less of it is no impact
HELD_STILL: Final = 8  # times that slips which stick are taken out of velocities, to the last digits


@native
def evaluated(walk: WalkRecord, t: float, q: Array, v: Array, out: Array) -> None:
    """What the kernel gives at a state."""
    given, n = at(walk.given), walk.n
    given[0] = t
    for i in range(n):
        given[1 + i], given[1 + n + i] = q[i], v[i]
    call(walk.kernel, out, given, at(walk.room))


@native
def times_row(walk: WalkRecord, out: Array, row: int, x: Array) -> float:
    """A row of A times velocities."""
    first, column, entry = integers(walk.row_first), integers(walk.row_column), integers(walk.row_entry)
    A, total = shift(out, walk.out_A), 0.0
    for e in range(first[row].at, first[row + 1].at):
        total += A[entry[e].at] * x[column[e].at]
    return total


@native
def times_size(walk: WalkRecord, out: Array, row: int, x: Array) -> float:
    """The same of sizes."""
    first, column, entry = integers(walk.row_first), integers(walk.row_column), integers(walk.row_entry)
    A, total = shift(out, walk.out_A), 0.0
    for e in range(first[row].at, first[row + 1].at):
        total += abs(A[entry[e].at]) * abs(x[column[e].at])
    return total


@native
def rate(walk: WalkRecord, out: Array, row: int) -> float:
    """What a row reads in velocity."""
    place = integers(walk.rate)[row].at
    return out[place] if place >= 0 else math.nan


@native
def rounding(walk: WalkRecord, out: Array, row: int, q: Array) -> float:
    """What of a gap is rounding."""
    place = integers(walk.size)[row].at
    return ROUNDED_TERMS * ((out[place] if place >= 0 else 0.0) + times_size(walk, out, row, q))


@native
def without_contacts(walk: WalkRecord, forces: Array, h: float) -> None:
    """Change of velocities by forces and equalities."""
    answer = answers_at(walk.answers)[integers(walk.level)[ALL].at]
    rows, order, asked, push = integers(answer.rows), integers(walk.order), at(walk.asked), at(walk.force)
    for k in range(integers(answer.first)[walk.blocks].at):
        r = rows[k].at
        asked[r] = h * forces[walk.out_b + r] if order[r].at == 2 else -2.0 * rate(walk, at(walk.out), r)
    for i in range(walk.n):
        push[i] = h * (forces[walk.out_Q + i] + forces[walk.out_C + i])
    answered(walk, ALL, push, asked, at(walk.free), at(walk.lambda_free))


@native
def landing(walk: WalkRecord, i: int, h: float) -> float:
    """The least speed of a contact that lands; what separates may approach as fast as it went."""
    if at(walk.always)[i] > 0.0:
        return 0.0
    gap, gamma = at(walk.gap)[i] / h, at(walk.rates)[integers(walk.contact)[i].at]
    gap, gamma = gap if gap > 0.0 else 0.0, gamma if gamma > 0.0 else 0.0
    return -gap if gap > gamma else -gamma


@native
def bounded(walk: WalkRecord, h: float) -> None:
    """Contacts that may matter in a step, in `who`, and their least speeds at its end."""
    out, free, gap, least, slot = at(walk.out), at(walk.free), at(walk.gap), at(walk.least), at(walk.slot)
    contact, reading, who, rates = integers(walk.contact), integers(walk.reading), integers(walk.who), at(walk.rates)
    always, restitution, without = at(walk.always), at(walk.restitution), at(walk.speed_after)
    fastest = 0.0
    for i in range(walk.contacts):
        row = contact[i].at
        gap[i] = math.inf if always[i] > 0.0 else out[reading[row].at]
        without[i] = 2.0 * rate(walk, out, row) - rates[row] + times_row(walk, out, row, free)
        fastest = abs(without[i]) if abs(without[i]) > fastest else fastest
        fastest = abs(rates[row]) if abs(rates[row]) > fastest else fastest
    walk.acting = 0
    for i in range(walk.contacts):
        row = contact[i].at
        gamma = rates[row]
        reached = gap[i] + h * without[i] < 0.0
        near = restitution[i] == 0.0 and gap[i] < h * fastest
        if not reached and not near and gap[i] < h * fastest:
            near = gap[i] <= rounding(walk, out, row, at(walk.middle))
        slot[i] = 0.0
        if not (reached or near or always[i] > 0.0):
            continue
        least[i] = landing(walk, i, h)
        if always[i] > 0.0:
            least[i] = -restitution[i] * gamma if gamma < 0.0 else 0.0
        elif reached and -2.0 * restitution[i] * gamma > gamma - without[i]:
            least[i] = -restitution[i] * gamma
        slot[i] = 1.0
        who[walk.acting].at = i
        walk.acting += 1


@native
def drawn_in(walk: WalkRecord, h: float) -> bool:
    """Whether impulses press further contacts together, which are taken in then: those that move slowly."""
    out, change, gap, least, slot = at(walk.out), at(walk.change), at(walk.gap), at(walk.least), at(walk.slot)
    contact, rates, last, free = integers(walk.contact), at(walk.rates), at(walk.last), at(walk.first_free)
    found = False
    for i in range(walk.contacts):
        if slot[i] > 0.0:
            continue
        row = contact[i].at
        after = 2.0 * rate(walk, out, row) - rates[row] + times_row(walk, out, row, change)
        if gap[i] + h * after < 0.0 and (last[row] > 0.0 or abs(after) <= times_size(walk, out, row, free)):
            slot[i], least[i] = 1.0, landing(walk, i, h)
            found = True
    if found:
        who = integers(walk.who)
        walk.acting = 0
        for i in range(walk.contacts):
            if slot[i] > 0.0:
                who[walk.acting].at = i
                walk.acting += 1
    return found


@native
def slip_of(walk: WalkRecord, speeds: Array, a: int) -> float:
    """How large a slip is among the speeds of rows that act."""
    begin, total = integers(walk.begin), 0.0
    for r in range(begin[a].at + 1, begin[a + 1].at):
        total += speeds[r] * speeds[r]
    return math.sqrt(total)


@native
def changed_friction(walk: WalkRecord) -> bool:
    """Whether a contact that was held by sticking friction slides, or one that turned round may stick; μ is changed."""
    begin, which, who = integers(walk.begin), integers(walk.which), integers(walk.who)
    mu, settled, u, rates = at(walk.mu), at(walk.settled), at(walk.u), at(walk.rates)
    wrong = False
    for a in range(walk.acting):
        holding, rubbing = at(walk.holding)[who[a].at], at(walk.rubbing)[who[a].at]
        slides = slip_of(walk, u, a) > AT_STANDSTILL * walk.largest
        if settled[a] == 0.0 and holding > rubbing and mu[a] == holding and slides:
            mu[a], settled[a] = rubbing, 1.0  # for the rest of the step
            wrong = True
    if wrong:
        return True
    for a in range(walk.acting):
        holding, rubbing = at(walk.holding)[who[a].at], at(walk.rubbing)[who[a].at]
        if settled[a] == 0.0 and holding > rubbing and mu[a] == rubbing:
            turn = 0.0
            for r in range(begin[a].at + 1, begin[a + 1].at):
                turn += u[r] * rates[which[r].at]
            if turn < 0.0 and slip_of(walk, u, a) > AT_STANDSTILL * walk.largest:
                mu[a] = holding
                wrong = True
    return wrong


@native
def with_contacts(walk: WalkRecord, h: float) -> bool:
    """Velocities changed by forces, equalities and contacts that act; False if this is hard."""
    out, free, change, v, w = at(walk.out), at(walk.free), at(walk.change), at(walk.v), at(walk.w)
    begin, which, who = integers(walk.begin), integers(walk.which), integers(walk.who)
    c, x, u, mu, rates, last = at(walk.c), at(walk.x), at(walk.u), at(walk.mu), at(walk.rates), at(walk.last)
    least, settled, multipliers = at(walk.least), at(walk.settled), at(walk.multipliers)
    for i in range(walk.n):
        change[i] = free[i]
    for r in range(walk.rows):
        multipliers[r] = 0.0
    walk.left = 0.0
    if walk.acting == 0:
        return True
    walk.largest = 0.0
    for a in range(walk.acting):
        for r in range(begin[a].at, begin[a + 1].at):
            row = which[r].at
            c[r] = 2.0 * rate(walk, out, row) - rates[row] + along(walk, r, free)
            if r == begin[a].at:
                c[r] -= least[who[a].at]
            x[r] = last[row]
            walk.largest = abs(c[r]) if abs(c[r]) > walk.largest else walk.largest
            walk.largest = abs(rates[row]) if abs(rates[row]) > walk.largest else walk.largest
    differ = False
    for a in range(walk.acting):
        i, total = who[a].at, 0.0
        for r in range(begin[a].at + 1, begin[a + 1].at):
            total += rates[which[r].at] * rates[which[r].at]
        holding, rubbing = at(walk.holding)[i], at(walk.rubbing)[i]
        holds = at(walk.stuck)[i] > 0.0 or math.sqrt(total) <= AT_STANDSTILL * walk.largest
        mu[a] = holding if holding > rubbing and holds else rubbing
        differ = differ or holding > rubbing
        settled[a] = 0.0
    solved(walk, OBEYED * walk.largest, OBEYED_WELL * walk.largest, USUAL_SWEEPS)
    if differ:
        for _ in range(CHANGES_OF_FRICTION):
            if not changed_friction(walk):
                break
            solved(walk, OBEYED * walk.largest, OBEYED_WELL * walk.largest, USUAL_SWEEPS)
    if not walk.left <= OBEYED_WELL * walk.largest:
        return False
    for i in range(walk.n):
        change[i] += w[i]
    sticks, before, after = at(walk.sticks), at(walk.before), at(walk.speed_after)
    for i in range(walk.contacts):
        sticks[i], before[i], after[i] = 0.0, math.nan, math.nan
    for a in range(walk.acting):
        i, r = who[a].at, begin[a].at
        before[i], after[i] = rates[which[r].at], u[r] + least[i]
        if x[r] > 0.0 and begin[a + 1].at > r + 1 and slip_of(walk, u, a) <= AT_STANDSTILL * walk.largest:
            sticks[i] = 1.0
        for k in range(r, begin[a + 1].at):
            multipliers[which[k].at] = x[k]
    stand_still(walk)
    walk.left = walk.left / walk.largest if walk.largest > 0.0 else 0.0
    return True


@native
def stand_still(walk: WalkRecord) -> None:
    """Take what is left of slips that stick out of velocities, so that nothing creeps."""
    out, change, v, rates = at(walk.out), at(walk.change), at(walk.v), at(walk.rates)
    begin, which, who, own = integers(walk.begin), integers(walk.which), integers(walk.who), at(walk.own)
    mean, sticks = at(walk.mean), at(walk.sticks)
    for _ in range(HELD_STILL):
        moves = False
        for i in range(walk.n):
            mean[i] = v[i] + change[i]
        for a in range(walk.acting):
            if sticks[who[a].at] > 0.0:
                for r in range(begin[a].at + 1, begin[a + 1].at):
                    row = which[r].at
                    beyond = 2.0 * rate(walk, out, row) - rates[row] - along(walk, r, v)
                    slip = along(walk, r, mean) + beyond
                    if slip != 0.0:
                        less = -slip / own[9 * a + 4 * (r - begin[a].at)]
                        pushed(walk, r, less, change)
                        pushed(walk, r, less, mean)
                        moves = True
        if not moves:
            break


@native
def summed_up(walk: WalkRecord) -> None:
    """Multipliers of the equalities, and all impulses together as they act on coordinates."""
    answer = answers_at(walk.answers)[integers(walk.level)[ALL].at]
    rows, out, multipliers = integers(answer.rows), at(walk.out), at(walk.multipliers)
    first, column, entry = integers(walk.row_first), integers(walk.row_column), integers(walk.row_entry)
    A, impulse, push, lam = shift(out, walk.out_A), at(walk.impulse), at(walk.force), at(walk.lambda_free)
    begin, which, count = integers(walk.begin), integers(walk.which), integers(answer.first)[walk.blocks].at
    for i in range(walk.n):
        push[i] = 0.0
    for r in range(begin[walk.acting].at if walk.acting > 0 else 0):
        row = which[r].at
        for e in range(first[row].at, first[row + 1].at):
            push[column[e].at] += A[entry[e].at] * multipliers[row]
    for i in range(walk.n):
        impulse[i] = push[i]
    if count > 0:
        asked, mean = at(walk.asked), at(walk.mean)
        for k in range(count):
            asked[rows[k].at] = 0.0
        answered(walk, ALL, push, asked, mean, multipliers)
        for k in range(count):
            row = rows[k].at
            multipliers[row] += lam[row]
            for e in range(first[row].at, first[row + 1].at):
                impulse[column[e].at] += A[entry[e].at] * multipliers[row]


@native
def moved_back(walk: WalkRecord, out: Array, stays: Array) -> bool:
    """Move positions, by least kinetic energy, onto equalities and out of contacts that stay closed; False if hard."""
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
        if not laid_out(walk, out, POSITIONS, False):
            return False
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
    """Move the end of the step back onto equalities and out of contacts; speeds of all rows there. False if hard."""
    out, q, v, gap, closed = at(walk.out), at(walk.end_q), at(walk.end_v), at(walk.gap), at(walk.closed)
    contact, reading, always = integers(walk.contact), integers(walk.reading), at(walk.always)
    before, after, multipliers, stays = at(walk.before), at(walk.speed_after), at(walk.multipliers), at(walk.slot)
    answer = answers_at(walk.answers)[integers(walk.level)[POSITIONS].at]
    rows, first_pass = integers(answer.rows), at(walk.moved)
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
            if closed[i] > 0.0 and gap[i] < 0.0 and gap[i] < -rounding(walk, out, contact[i].at, q):
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
    """Move velocities at the end onto the equalities; speeds of all rows there. False if hard."""
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
    if not (laid_out(walk, out, ALL, True) and with_contacts(walk, h)):
        return HARD
    for _ in range(DRAWN_IN_AT_MOST):
        if not drawn_in(walk, h):
            break
        if not (laid_out(walk, out, ALL, True) and with_contacts(walk, h)):
            return HARD
    if walk.hastens == 1:
        later = at(walk.later)
        for i in range(n):
            mean[i] = v[i] + change[i] / 2.0
        evaluated(walk, t + h / 2.0, middle, mean, later)
        without_contacts(walk, later, h)
        if not with_contacts(walk, h):
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
    contact, before, multipliers, who = integers(walk.contact), at(walk.before), at(walk.multipliers), integers(walk.who)
    approach, rank = 0.0, answers_at(walk.answers)[integers(walk.level)[ALL].at].rank
    if walk.acting == 0:
        speed_after, sticks = at(walk.speed_after), at(walk.sticks)
        for i in range(walk.contacts):
            before[i], speed_after[i], sticks[i] = math.nan, math.nan, 0.0
    for a in range(walk.acting):
        i = who[a].at
        if before[i] < 0.0:
            approach += before[i] * multipliers[contact[i].at]
    walk.struck = 1 if -approach > STRIKES * abs(work) else 0
    walk.unique = 1
    if at(walk.wanted)[walk.number] > 0.0 and walk.acting > 0:
        found = independent(walk)
        if found >= 0 and found < walk.least_rows:
            walk.unique = 0
        if found < 0:
            walk.unique, found = 0, walk.least_rows
        rank += found
    walk.least_rows = rank
    if not back(walk, until):
        return HARD
    return RUNNING
