"""One step of Moreau and Jean's method, from (t, q, v) to t + h. Native functions.

    q_m = q + ½hv;   M(v' − v) = h(Q + C) + EᵀΛ_E + nᵀΛ + tᵀΛ_T  at q_m;   q' = q_m + ½hv'.

A contact acts if its gap is zero, or would be negative in the middle of the next step, g_m + hγ' < 0; so it acts before
it is penetrated, not after. Then 0 ≤ Λ ⊥ γ' + εγ ≥ 0, if it bounces, and Coulomb's law holds for Λ_T and the slip
afterwards. A bounce that would be over within a step is none: the contact lands, 0 ≤ Λ ⊥ γ' + g_m/h ≥ 0. Limits of
velocities act at any time. Which contacts act is asked of γ' without impulses first; then, of those that have pushed
until now or move slowly, with the impulses that were found: what falls together is pressed together by others.

γ and γ' are the speeds at both ends of the step; with those in the middle, γ_m = n v + ∂g/∂t, it is
γ' = n v' + ∂g/∂t + (γ_m − γ). So Λ does the work ½Λ(γ + γ') ≤ 0; what separates and is pushed all the same may
approach as fast as it went, so that this holds. Equalities hold for the mean of both velocities, and forces that depend
on velocities are those of the mean, by one repetition. So steps are of second order while nothing closes or sticks, and
of first order across that.

At the end positions are moved, by least kinetic energy, onto the equalities and out of contacts that are penetrated and
stay closed or linger, or were run into; what bounces leaves by itself. Velocities are moved onto the equalities.
"""

import math
from typing import Final

from zwang.compile.restricted import Array, native
from zwang.compile.restricted.memory import at
from zwang.engines.stepping.acting import independent, laid_out
from zwang.engines.stepping.back import back
from zwang.engines.stepping.blocks import renewed
from zwang.engines.stepping.contacts import bounded, drawn_in, summed_up, with_contacts, without_contacts
from zwang.engines.stepping.readings import evaluated
from zwang.engines.stepping.record import ALL, Outcome, WalkRecord, answers_at, integers

RUNNING, SINGULAR, NOT_FINITE = int(Outcome.RUNNING), int(Outcome.SINGULAR), int(Outcome.NOT_FINITE)

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
def finite(walk: WalkRecord, out: Array) -> bool:
    """Whether masses, rows and forces are."""
    nothing, rows = 0.0, integers(walk.row_first)
    for e in range(walk.masses):
        nothing += 0.0 * out[walk.out_M + e]
    for e in range(rows[walk.rows].at):
        nothing += 0.0 * out[walk.out_A + e]
    for i in range(walk.n):
        nothing += 0.0 * out[walk.out_Q + i]
    return nothing == 0.0


@native
def made(walk: WalkRecord, until: float) -> int:
    """The next step, to a time; everything that it says is written down, but the state is the old one."""
    n, t, h = walk.n, walk.t, until - walk.t
    q, v, middle, out, free = at(walk.q), at(walk.v), at(walk.middle), at(walk.out), at(walk.free)
    first_free, change, mean, after = at(walk.first_free), at(walk.change), at(walk.mean), at(walk.after)
    last, guess = at(walk.last), at(walk.guess)
    for i in range(n):
        middle[i] = q[i] + h / 2.0 * v[i]
    evaluated(walk, t + h / 2.0, middle, v, out)
    walk.sweeps = 0
    if not renewed(walk, ALL, out):
        return SINGULAR if finite(walk, out) else NOT_FINITE
    without_contacts(walk, out, h)
    for i in range(n):
        first_free[i] = free[i]
    for r in range(walk.rows):
        guess[r] = last[r]
    bounded(walk, h)
    laid_out(walk, out, ALL, True)
    with_contacts(walk, h)
    for _ in range(DRAWN_IN_AT_MOST):
        if not drawn_in(walk, h):
            break
        laid_out(walk, out, ALL, True)
        with_contacts(walk, h)
    if walk.hastens == 1:
        later = at(walk.later)
        for i in range(n):
            mean[i] = v[i] + change[i] / 2.0
        evaluated(walk, t + h / 2.0, middle, mean, later)
        without_contacts(walk, later, h)
        with_contacts(walk, h)
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
            return NOT_FINITE
    looked_at(walk, work)
    left = walk.left
    if not back(walk, until):
        return SINGULAR if finite(walk, out) else NOT_FINITE
    walk.left = left  # of laws; the move back has its own
    return RUNNING
