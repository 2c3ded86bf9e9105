"""Steps one after the other, in machine code, and what is kept of them."""

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Final

from zwang.compile.restricted import native, native_library
from zwang.compile.restricted.memory import at, call, shift
from zwang.engines.stepping.record import SHORT, Outcome, WalkRecord, integers
from zwang.engines.stepping.step import made

RUNNING, FINISHED, EVENT, NO_ROOM = (
    int(Outcome.RUNNING),
    int(Outcome.FINISHED),
    int(Outcome.EVENT),
    int(Outcome.NO_ROOM),
)

_ONE_AT_A_TIME: Final = Lock()


@native
def power(walk: WalkRecord, until: float) -> float:
    """The power of given forces in the middle of the step, with the mean of its velocities."""
    given, n, out, v, after = at(walk.given), walk.n, at(walk.later), at(walk.v), at(walk.after)
    middle = at(walk.middle)
    given[0] = walk.t + (until - walk.t) / 2.0
    for i in range(n):
        given[1 + i], given[1 + n + i] = middle[i], (v[i] + after[i]) / 2.0
    call(walk.ledger, out, given, at(walk.room))
    return out[walk.out_power]


@native
def noted(walk: WalkRecord, until: float) -> None:
    """Write down what is kept of every step."""
    row, v, after, impulse, depth = (
        shift(at(walk.short), SHORT * walk.noted),
        at(walk.v),
        at(walk.after),
        at(walk.impulse),
        at(walk.depth),
    )
    work, deepest, which = 0.0, 0.0, -1
    for i in range(walk.n):
        work += impulse[i] * (v[i] + (after[i] - v[i]) / 2.0)
    for i in range(walk.contacts):
        if depth[i] > deepest:
            deepest, which = depth[i], i
    row[0], row[1], row[2], row[3], row[4], row[5] = power(walk, until), work, deepest, which, walk.left, walk.sweeps
    row[6] = walk.dulled
    walk.noted += 1


@native
def begins_to_push(walk: WalkRecord) -> int:
    """Which contact approaches fastest of those that push and did not push before; −1 if there is none."""
    contact, multipliers, last, before = integers(walk.contact), at(walk.multipliers), at(walk.last), at(walk.before)
    found, fastest = -1, 0.0
    for i in range(walk.contacts):
        row = contact[i].at
        if multipliers[row] > 0.0 and not last[row] > 0.0 and before[i] < fastest:
            found, fastest = i, before[i]
    return found


@native
def kept(walk: WalkRecord, until: float, impact: int) -> None:
    """Keep the step in full; see `tables.parts_of`."""
    n, k, full = walk.n, walk.contacts, shift(at(walk.full), walk.length * walk.kept)
    full[0], full[1], full[2], full[3] = walk.number, walk.t, until, walk.left
    full[4], full[5], full[6], full[7] = walk.sweeps, walk.struck, walk.least_rows, walk.unique
    full[8] = impact
    q, v, end_q, end_v, after, jump = (
        at(walk.q),
        at(walk.v),
        at(walk.end_q),
        at(walk.end_v),
        at(walk.after),
        at(walk.jump),
    )
    moved, impulse, multipliers, at_n = at(walk.moved), at(walk.impulse), at(walk.multipliers), shift(full, 9)
    for i in range(n):
        at_n[i], at_n[n + i], at_n[2 * n + i], at_n[3 * n + i] = q[i], v[i], end_q[i], end_v[i]
        at_n[4 * n + i], at_n[5 * n + i], at_n[6 * n + i], at_n[7 * n + i] = after[i], jump[i], moved[i], impulse[i]
    at_row = shift(at_n, 8 * n)
    for r in range(walk.rows):
        at_row[r] = multipliers[r]
    at_k, before, speed_after = shift(at_row, walk.rows), at(walk.before), at(walk.speed_after)
    sticks, depth = at(walk.sticks), at(walk.depth)
    for i in range(k):
        at_k[i], at_k[k + i], at_k[2 * k + i], at_k[3 * k + i] = before[i], speed_after[i], sticks[i], depth[i]
    walk.kept += 1


@native
def taken_on(walk: WalkRecord, until: float) -> None:
    """Make the end of the step the state."""
    q, v, end_q, end_v = at(walk.q), at(walk.v), at(walk.end_q), at(walk.end_v)
    for i in range(walk.n):
        q[i], v[i] = end_q[i], end_v[i]
    rates, last, end_rates, multipliers = at(walk.rates), at(walk.last), at(walk.end_rates), at(walk.multipliers)
    for r in range(walk.rows):
        rates[r], last[r] = end_rates[r], multipliers[r]
    stuck, sticks = at(walk.stuck), at(walk.sticks)
    for i in range(walk.contacts):
        stuck[i] = sticks[i]
    walk.t = until
    walk.number += 1


@native
def event_met(walk: WalkRecord, until: float) -> bool:
    """Whether an event has another sign, or none, at the end of the step."""
    if walk.event == 0:
        return False
    given, n, out, end_q, end_v = at(walk.given), walk.n, at(walk.later), at(walk.end_q), at(walk.end_v)
    readings, found = at(walk.readings), False
    given[0] = until
    for i in range(n):
        given[1 + i], given[1 + n + i] = end_q[i], end_v[i]
    call(walk.event, out, given, at(walk.room))
    for j in range(walk.events):
        if not readings[j] * out[j] > 0.0 and readings[j] != 0.0:
            found = True
    for j in range(walk.events):
        readings[walk.events + j] = readings[j]
        readings[j] = out[j]
    return found


@native
def advance(walk: WalkRecord, most: int) -> int:
    """So many steps at most; why it came back."""
    for _ in range(most):
        if walk.number >= walk.count:
            return FINISHED
        share = (walk.number + 1.0) / walk.count
        until = walk.until if walk.number + 1 == walk.count else walk.began + (walk.until - walk.began) * share
        outcome = made(walk, until)
        if outcome != RUNNING:
            return outcome
        noted(walk, until)
        impact, event = begins_to_push(walk), event_met(walk, until)
        if impact >= 0 or event or at(walk.wanted)[walk.number] > 0.0:
            kept(walk, until, impact)
        taken_on(walk, until)
        if event:
            return EVENT
        if walk.kept >= walk.room_for:
            return NO_ROOM
    return FINISHED if walk.number >= walk.count else RUNNING


def compiled() -> Callable[[int, int], int]:
    """`advance` for Python: it takes the address of a record."""
    with _ONE_AT_A_TIME:
        return _loaded()


@cache
def _loaded() -> Callable[[int, int], int]:
    return native_library(advance)
