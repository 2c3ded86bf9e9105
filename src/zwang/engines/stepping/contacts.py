"""Contacts in a step: which act, what is asked of their speeds, and what their impulses make of velocities.

Native functions; the laws are written in `step`.
"""

import math
from typing import Final

from zwang.compile.restricted import Array, native
from zwang.compile.restricted.memory import at, shift
from zwang.engines.stepping.acting import along, pushed
from zwang.engines.stepping.blocks import answered
from zwang.engines.stepping.further import MOST_SWEEPS, swept
from zwang.engines.stepping.pivots import solved
from zwang.engines.stepping.readings import rate, rounding, times_row, times_size
from zwang.engines.stepping.record import ALL, WalkRecord, answers_at, integers

OBEYED: Final = 1e-12  # of the largest speed: what may be left of a law
OBEYED_WELL: Final = 1e-9  # of the largest speed: what may be left of it after …
USUAL_SWEEPS: Final = 1_000
CONTRADICTED: Final = 1e-8  # of the largest speed: what is left of laws that cannot be obeyed together, and more
AT_STANDSTILL: Final = 1e-9  # of the largest speed: a slip that is none
CHANGES_OF_FRICTION: Final = 4  # from sticking to sliding friction and back, in a step
HELD_STILL: Final = 8  # times that slips which stick are taken out of velocities, to the last digits


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
def begun(walk: WalkRecord) -> bool:
    """Speeds without impulses, those of the last step, and μ to begin with; whether friction may change."""
    out, free, begin, which = at(walk.out), at(walk.free), integers(walk.begin), integers(walk.which)
    c, x, mu, rates, guess = at(walk.c), at(walk.x), at(walk.mu), at(walk.rates), at(walk.guess)
    who = integers(walk.who)
    least, settled = at(walk.least), at(walk.settled)
    walk.largest = 0.0
    for a in range(walk.acting):
        for r in range(begin[a].at, begin[a + 1].at):
            row = which[r].at
            c[r] = 2.0 * rate(walk, out, row) - rates[row] + along(walk, r, free)
            if r == begin[a].at:
                c[r] -= least[who[a].at]
            if walk.easy == 1:
                bend = rate(walk, out, row) - rates[row]
                c[r] -= bend if bend < 0.0 or r > begin[a].at else 0.0
            x[r] = guess[row]
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
    return differ


@native
def told(walk: WalkRecord) -> None:
    """Write down impulses, speeds before and after, and who sticks."""
    guess = at(walk.guess)
    begin, which, who = integers(walk.begin), integers(walk.which), integers(walk.who)
    x, u, rates, least, multipliers = at(walk.x), at(walk.u), at(walk.rates), at(walk.least), at(walk.multipliers)
    sticks, before, after = at(walk.sticks), at(walk.before), at(walk.speed_after)
    for i in range(walk.contacts):
        sticks[i], before[i], after[i] = 0.0, math.nan, math.nan
    for a in range(walk.acting):
        i, r = who[a].at, begin[a].at
        before[i], after[i] = rates[which[r].at], u[r] + least[i]
        if x[r] > 0.0 and begin[a + 1].at > r + 1 and slip_of(walk, u, a) <= AT_STANDSTILL * walk.largest:
            sticks[i] = 1.0
        for k in range(r, begin[a + 1].at):
            multipliers[which[k].at], guess[which[k].at] = x[k], x[k]


@native
def with_contacts(walk: WalkRecord, h: float) -> None:
    """Velocities changed by forces, equalities and contacts that act.

    Where contacts contradict each other, as in a wedge, less is asked of them: nothing bounces, and surfaces do not
    turn against the motion. Rest is allowed then, and there is a solution.
    """
    walk.easy, walk.dulled = 0, 0
    pushed_together(walk)
    if not walk.left <= CONTRADICTED * walk.largest:
        least, who, left, kept = at(walk.least), integers(walk.who), walk.left / walk.largest, at(walk.bounces)
        for a in range(walk.acting):
            i = who[a].at
            kept[i], lands = least[i], landing(walk, i, h)
            least[i] = lands if lands < least[i] else least[i]
        walk.easy, walk.dulled = 1, 1
        pushed_together(walk)
        if not walk.left < left * walk.largest:
            restored(walk)
            walk.easy, walk.dulled = 0, 0
            pushed_together(walk)
    free, change, w = at(walk.free), at(walk.change), at(walk.w)
    for i in range(walk.n):
        change[i] = free[i] + (w[i] if walk.acting > 0 else 0.0)
    told(walk)
    stand_still(walk)
    if walk.dulled == 1:
        restored(walk)
    walk.left = walk.left / walk.largest if walk.largest > 0.0 else 0.0


@native
def restored(walk: WalkRecord) -> None:
    """Least speeds as they were before less was asked for."""
    least, kept, who = at(walk.least), at(walk.bounces), integers(walk.who)
    for a in range(walk.acting):
        least[who[a].at] = kept[who[a].at]


@native
def found(walk: WalkRecord) -> None:
    """Impulses that obey the laws with this friction, by pivots, or else by many sweeps."""
    solved(walk, OBEYED * walk.largest, OBEYED_WELL * walk.largest, USUAL_SWEEPS)
    if walk.left > OBEYED_WELL * walk.largest:
        swept(walk, OBEYED_WELL * walk.largest, MOST_SWEEPS)


@native
def pushed_together(walk: WalkRecord) -> None:
    """The impulses of contacts that act, as well as they are found."""
    multipliers = at(walk.multipliers)
    for r in range(walk.rows):
        multipliers[r] = 0.0
    walk.left, walk.largest = 0.0, 0.0
    if walk.acting == 0:
        return
    differ = begun(walk)
    found(walk)
    for _ in range(CHANGES_OF_FRICTION if differ else 0):
        if not changed_friction(walk):
            break
        found(walk)


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
                    if slip != 0.0 and own[9 * a + 4 * (r - begin[a].at)] > 0.0:
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
