"""The step loop, in machine code: no Python between the first step and the last.

Kernels are called by address, so the compiled loop depends on no model and is kept on disk: it is compiled once per
machine. Read from the bottom up: `advance` is the loop, the rest are its verbs.

What a step computes and what becomes of it is shared with the loop of a group of lanes (`step`, `pivots`, `quadrature`,
`control`, `outcome`). The order in which it is asked for is not: one run branches, and knows events, breaks, projection
and singular positions; lanes choose, and hand over to this loop whatever is rare.
"""

import ctypes
import math
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Final

from zwang.compile.restricted import native, native_library, seldom_native
from zwang.compile.restricted.memory import at, shift
from zwang.engines.native.bridge import CAUTION, give_up, kept_on, landed, missed, note, plan, planned_size, touch_up
from zwang.engines.native.control import aimed, shrunk, too_short
from zwang.engines.native.event_roots import (
    DONE,
    FULL,
    LOST,
    STOPPED,
    begin_search,
    cross_break,
    search,
    see_start,
    stop_inside,
    suspect,
)
from zwang.engines.native.kick import kicks, land, may_kick
from zwang.engines.native.numbers import smaller
from zwang.engines.native.outcome import accept, fill, refuse, save, work_until
from zwang.engines.native.pivots import grow, may_vanish, survey
from zwang.engines.native.quadrature import add_parts, keep_parts
from zwang.engines.native.record import BRIDGES, KICKS, LoopStatus, RunRecord
from zwang.engines.native.step import (
    END,
    FIRST,
    FIRST_DENSE,
    HUGE,
    LAST,
    LAST_DENSE,
    evaluate,
    finish,
    first_size,
    project,
    read,
    slope_at,
    stages,
)

(
    RUNNING,
    FINISHED,
    EVENT,
    EVENTS_FULL,
    SINGULAR,
    NOT_FINITE,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    ASTRAY,
    UNRESOLVED,
) = map(int, LoopStatus)

SEARCHING: Final = -1
"""Not a Status: the search of a step for events wants to be called again."""

_ONE_AT_A_TIME: Final = Lock()  # threads that start together wait for one of them to compile


@seldom_native
def begin(run: RunRecord, sign: float) -> int:
    """Slope, pivots, event values and first step at a new start; RUNNING when all is well."""
    now, times = at(run.now), at(run.at_times)
    run.lowest = math.inf
    if not evaluate(run, at(run.k), now):
        return NOT_FINITE
    run.pivot = smaller(run.pivot, run.lowest)
    if grow(run, True, run.volume):
        keep_best(run)
    if not run.lowest > run.pivot_tol:
        return SINGULAR
    if run.event != 0:
        see_start(run)
    if run.h == 0.0:
        run.h = first_size(run, sign)
    if run.panel == 0.0:
        run.panel = smaller(run.h, run.max_panel)
    while run.saved < run.times and sign * (times[run.saved] - now[0]) <= 0.0:
        save(run, run.h, now, at(run.k), 0.0, run.worked)
        keep_parts(run, 0.0)
    run.caution = 0
    run.ahead = 0
    run.tries = 0
    run.fresh = 0
    return RUNNING


@native
def next_stop(run: RunRecord, sign: float, until: float) -> float:
    """The time to step to: the end, or the instant before the next break that is not behind."""
    now, breaks = at(run.now), at(run.at_breaks)
    while run.passed < run.breaks and sign * (breaks[2 * run.passed] - now[0]) < 0.0:
        run.passed += 1
    if run.passed < run.breaks and sign * (breaks[2 * run.passed] - until) < 0.0:
        return breaks[2 * run.passed]
    return until


@seldom_native
def cross(run: RunRecord, sign: float) -> int:
    """To the other side of a break, by the least change of time there is; then as at a start."""
    now = at(run.now)
    now[0] = at(run.at_breaks)[2 * run.passed + 1]
    run.t_low = 0.0
    run.passed += 1
    stops = run.event != 0 and cross_break(run)
    status = begin(run, sign)
    return EVENT if stops and status == RUNNING else status


@native
def keep_best(run: RunRecord) -> None:
    """A pivot is larger than ever at this state."""
    now, best = at(run.now), at(run.best)
    for i in range(1 + 2 * run.n):
        best[i] = now[i]


@native
def arrive(run: RunRecord, h: float, error: float) -> bool:
    """Is the step good? Its error, then constraints, slope and pivots at its end.

    All stages have shown their pivots, for a step may land beyond a singular position it should not have
    crossed. A pivot that vanishes only because a long step strays is cured by the halving; one that vanishes
    indeed is approached.
    """
    new = at(run.new)
    if 1.0 < error <= HUGE:
        shape = survey(run, LAST)
        run.trouble = STEP_TOO_SMALL if run.lowest > run.pivot_tol and shape < 2 else SINGULAR
        refuse(run, True, h, shrunk(error))
        return False
    well = error <= 1.0 and (run.projection == 0 or project(run, run.projection, new, at(run.new_low)))
    if not (well and evaluate(run, shift(at(run.k), 12 * run.stride), new)):
        run.trouble = NOT_FINITE
        refuse(run, True, h, 0.25)
        return False
    shape = survey(run, END)
    if not run.lowest > run.pivot_tol:
        if run.caution == 0:
            run.horizon = new[0]
        run.caution += 1
        run.trouble = SINGULAR
        refuse(run, True, h, 0.5)
        return False
    if run.pivot_tol > 0.0 and may_vanish(run, shape):
        run.trouble = SINGULAR
        refuse(run, True, h, 0.5)
        return False
    if run.zone > 0.0 and not kept_on(run, h):
        refuse(run, True, h, 1.0)
        return False
    run.pivot = smaller(run.pivot, run.lowest)
    return True


@native
def hand_out(run: RunRecord, sign: float) -> int:
    """Events and requested times within the step that was made; RUNNING when all of it is done."""
    now, new, times, h = at(run.now), at(run.new), at(run.at_times), run.made
    found = search(run, h, 1.0) if run.searched < 1.0 else DONE
    if found == FULL:
        return EVENTS_FULL
    if found == LOST:
        return UNRESOLVED
    if found != DONE and found != STOPPED:
        return SEARCHING
    arrival = now[0] + (run.t_low + run.stop * h) if found == STOPPED else new[0]
    kicked = found == STOPPED and may_kick(run)
    while run.saved < run.times and sign * (times[run.saved] - arrival) <= 0.0 and times[run.saved] != new[0]:
        if kicked and times[run.saved] == arrival:
            break  # what is saved at a jump is the state after it
        theta = ((times[run.saved] - now[0]) - run.t_low) / h
        read(run, h, theta)
        if run.made_across != 0:
            touch_up(run)
        slope_at(run, h, theta)
        save(run, h, at(run.x), at(run.sums), abs(h), work_until(run, theta))
        keep_parts(run, theta)
    run.pending = 0
    if found == STOPPED:
        if run.powers != 0:
            run.worked = work_until(run, run.stop)
            run.worked_low = 0.0
            add_parts(run, h, run.stop)
        if not kicked or run.made_across != 0:
            stop_inside(run)
            return EVENT
        land(run, h)
        return begin(run, sign) if kicks(run) else EVENT
    settle(run, sign, h, run.made_error, run.made_low)
    return RUNNING


@native
def settle(run: RunRecord, sign: float, h: float, error: float, t_low: float) -> None:
    """The step is accepted; near a vanishing pivot the next one does not grow."""
    now, times = at(run.now), at(run.at_times)
    if run.caution > 0 and sign * (at(run.new)[0] - run.horizon) > 0.0:
        run.caution = 0
    if run.caution > 0:
        run.held = 1
    elif run.ahead == 0:
        run.tries = 0
    run.seen = 0
    add_parts(run, h, 1.0)
    if accept(run, True, h, error, t_low):
        keep_best(run)
    while run.saved < run.times and times[run.saved] == now[0]:
        save(run, run.h, now, at(run.k), 0.0, run.worked)
        keep_parts(run, 0.0)


@native
def bridged(run: RunRecord, h: float, size: float, error: float) -> float:
    """The error of a step across a singular position; where that is above 1, the step is planned anew."""
    error = landed(run, h) if error <= HUGE else math.inf
    if not error <= 1.0:
        missed(run, size, shrunk(error) if error <= HUGE else 0.5)
    return error


@native
def filled(run: RunRecord, h: float, size: float, bridging: bool) -> bool:
    """The motion inside the step, from its further stages; False when these are not finite: then it is refused."""
    run.evaluations += LAST_DENSE - FIRST_DENSE + 1
    if not fill(run, h, run.t_low):
        if bridging:
            missed(run, size, 0.5)
        else:
            run.trouble = NOT_FINITE
            refuse(run, True, h, 0.25)
        return False
    if bridging:
        note(run, h)
    return True


@native
def attempt(run: RunRecord, sign: float, stop: float) -> int:
    """One step towards a stop, accepted or not; RUNNING, or why none can be tried."""
    now, new, times = at(run.now), at(run.new), at(run.at_times)
    remaining = (stop - now[0]) - run.t_low
    run.h = smaller(run.h, run.max_step)
    planned = planned_size(run, sign) if run.ahead != 0 else run.h
    bridging, size = planned < 0.0, abs(planned)
    if bridging and size >= abs(remaining):
        give_up(run)
        return RUNNING
    if too_short(now[0], remaining, size):
        return int(run.trouble)
    h, new[0], t_low = aimed(now[0], run.t_low, remaining, sign * size, stop)
    run.lowest = math.inf
    stages(run, h, run.t_low, FIRST, LAST)
    run.evaluations += LAST - FIRST + 1
    error = finish(run, h)
    if bridging:
        error = bridged(run, h, size, error)
        if not error <= 1.0:
            return RUNNING
    elif not arrive(run, h, error):
        if run.trouble == SINGULAR:
            plan(run, sign, size)
        return RUNNING
    watched = run.event != 0 and suspect(run, h)
    if not (bridging or watched or (run.saved < run.times and sign * (times[run.saved] - new[0]) < 0.0)):
        settle(run, sign, h, error, t_low)
    elif filled(run, h, size, bridging):
        run.searched = 1.0
        if watched:
            begin_search(run)
        run.made, run.made_error, run.made_low, run.pending = h, error, t_low, 1
        run.made_across = 1 if bridging else 0
    return RUNNING


@native
def advance(runs: RunRecord, i: int, until: float, attempts: int) -> int:
    """Run i by steps until the end time, an event, a failure, or as many attempts as allowed; its Status."""
    run = runs[i]
    now = at(run.now)
    sign = 1.0 if until >= now[0] else -1.0
    if run.fresh != 0:
        status = begin(run, sign)
        if status != RUNNING:
            return status
    while True:
        if run.pending != 0:
            status = hand_out(run, sign)
            if status != RUNNING:
                return RUNNING if status == SEARCHING else status
        if run.rows - run.found < 2 * run.events or run.kicked == KICKS:
            return EVENTS_FULL
        stop = next_stop(run, sign, until)
        if sign * ((stop - now[0]) - run.t_low) <= 0.0:
            if stop == until:
                return FINISHED
            status = cross(run, sign)
            if status != RUNNING:
                return status
            continue
        if run.accepted + run.rejected >= run.step_limit:
            return TOO_MANY_STEPS
        if run.caution > CAUTION:
            return int(run.trouble)
        if attempts == 0 or run.bridged == BRIDGES:
            return RUNNING
        attempts -= 1
        status = attempt(run, sign, stop)
        if status != RUNNING:
            return status


def compiled() -> Callable[[int, int, float, int], int]:
    """`advance` for Python: it takes the address of the records, and Python's lock is free while it works."""
    with _ONE_AT_A_TIME:
        return _loaded()


def address() -> int:
    """`advance` for native callers."""
    return ctypes.cast(compiled(), ctypes.c_void_p).value or 0  # type: ignore[arg-type]  # it is one of ctypes


@cache
def _loaded() -> Callable[[int, int, float, int], int]:
    return native_library(advance)
