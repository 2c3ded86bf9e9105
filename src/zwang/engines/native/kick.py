"""Velocities that jump at an event, after which the run goes on: a ball that bounces, say.

A kernel gives velocities after the jump, three numbers that are written down with it, and readings. The jump is made
where it is a plain one: nothing else happens at that instant, no other event is near zero, and no reading is above what
was asked. Otherwise the run stops at the event, and who asked decides.

*Landing.* Events are located on the interpolant of a step, which is of a lower order than the step, and rougher in its
last digits: what is lost there adds up from jump to jump. So the state is that of a step which ends at the event.

Native functions (`compile.restricted`); each takes the record of a run and works in the arrays it points to.
"""

import math
from typing import Final

from zwang.arrays import EPS
from zwang.compile.restricted import native, seldom_native
from zwang.compile.restricted.memory import at, call, shift
from zwang.engines.native.event_roots import stop_inside
from zwang.engines.native.looks import look
from zwang.engines.native.numbers import two_sum
from zwang.engines.native.record import READINGS, RunRecord
from zwang.engines.native.step import FIRST, HUGE, LAST, finish, project, stages

BESIDE: Final = 0.015625  # of the way to an event: where its slope is looked at
MISPLACED: Final = 1e-3  # of a step: where its end is looked for farther from where it was located, it is not one
LANDINGS: Final = 3  # steps that are tried


@native
def may_kick(run: RunRecord) -> bool:
    """Whether the event that stops the run, last in its table, is one at which the state may jump."""
    if run.kick == 0:
        return False
    j = int(at(run.table)[(run.found - 1) * (2 + 2 * run.n) + 1]) - run.first_kick
    return j >= 0 and j < run.kicks  # type: ignore[no-any-return]  # a record's field


@seldom_native
def land(run: RunRecord, h: float) -> None:
    """The state at the event that stops the run, by a step that ends there, once it has been located within one."""
    n, now, new, value, theta = run.n, at(run.now), at(run.new), at(run.value), run.stop
    row = shift(at(run.table), (run.found - 1) * (2 + 2 * n))
    j = int(row[1])
    look(run, h, theta - BESIDE * theta, value)
    before = value[j]
    look(run, h, theta, value)
    per_theta = (value[j] - before) / (BESIDE * theta)
    off = 0.0
    for _ in range(LANDINGS):
        theta -= off
        stages(run, theta * h, run.t_low, FIRST, LAST)
        finish(run, theta * h)
        run.evaluations += LAST - FIRST + 1
        new[0] = now[0] + (run.t_low + theta * h)
        if run.projection != 0:
            project(run, run.projection, new, at(run.new_low))
        call(run.event, value, new, at(run.work))
        off = value[j] / per_theta
        if not 4.0 * EPS * (abs(now[0] / h) + theta) < abs(off) <= MISPLACED:
            break
    if abs(off) <= MISPLACED:
        now[0], run.t_low = two_sum(now[0], run.t_low + theta * h)
        row[0] = now[0]
        for i in range(2 * n):
            now[1 + i], at(run.low)[i], row[2 + i] = new[1 + i], at(run.new_low)[i], new[1 + i]
        run.fresh = 1
        run.accepted += 1
    else:
        stop_inside(run)


@seldom_native
def plain(run: RunRecord, j: int) -> bool:
    """Whether nothing but event j happens at the state, and what the kernel says of a jump there is as asked."""
    table, row, value, apart = at(run.table), 2 + 2 * run.n, at(run.value), at(run.apart)
    if run.found > 1 and table[(run.found - 2) * row] == table[(run.found - 1) * row]:
        return False
    call(run.event, value, at(run.now), at(run.work))
    for i in range(run.events):
        if i != j and not value[i] > apart[i]:
            return False
    call(run.kick, at(run.kick_out), at(run.now), at(run.work))
    k = j - run.first_kick
    kick, most = shift(at(run.kick_out), k * (run.n + 3 + READINGS)), shift(at(run.most), k * READINGS)
    good = True
    for r in range(READINGS):
        good &= kick[run.n + 3 + r] <= most[r]
    for i in range(run.n + 3):
        good &= abs(kick[i]) <= HUGE
    return good


@seldom_native
def kicks(run: RunRecord) -> bool:
    """Whether the state jumps at the event where the run has stopped; then it has, and the event counts as no stop."""
    n, now, side = run.n, at(run.now), at(run.side)
    j = int(at(run.table)[(run.found - 1) * (2 + 2 * n) + 1])
    if not plain(run, j):
        return False
    kick = shift(at(run.kick_out), (j - run.first_kick) * (n + 3 + READINGS))
    row = shift(at(run.kicked_at), run.kicked * (5 + 3 * n))
    row[0], row[1] = now[0], j
    for i in range(3):
        row[2 + i] = kick[n + i]
    for i in range(n):
        row[5 + i], row[5 + n + i], row[5 + 2 * n + i] = now[1 + i], now[1 + n + i], kick[i]
        now[1 + n + i] = kick[i]
    run.worked, run.worked_low = two_sum(run.worked, run.worked_low + kick[n])
    for i in range(run.events):
        if i != j:
            side[i] = math.nan  # what a velocity jumps over, an event does not pass
    run.found -= 1
    run.kicked += 1
    run.error, run.held = 1e-4, 0
    return True
