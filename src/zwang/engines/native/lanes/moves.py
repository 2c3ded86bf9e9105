"""Runs into lanes and out of them: each time a run ends, the next that waits takes its place.

Native functions. While a run is in a lane, its record knows less than the lane; it learns the rest when it moves out.
"""

import math
from typing import Any

from llvmlite import ir

from zwang.compile.lanes import LANES
from zwang.compile.restricted import intrinsic, native, seldom_native
from zwang.compile.restricted.memory import at
from zwang.compile.restricted.module import FLOAT, INT
from zwang.engines.native.lanes.group import Group
from zwang.engines.native.lanes.step import holds
from zwang.engines.native.loop import RUNNING, next_stop
from zwang.engines.native.record import RunRecord


@intrinsic
def alone(builder: Any, address: Any, runs: Any, number: Any, until: Any, attempts: Any) -> int:
    """`loop.advance` at an address: one run, by itself."""
    kind = ir.FunctionType(INT, [runs.type, INT, FLOAT, INT]).as_pointer()
    status: int = builder.call(builder.inttoptr(address, kind), [runs, number, until, attempts])
    return status


@intrinsic
def next_number(builder: Any, address: Any) -> int:
    """The integer at an address, which grows by one: no two threads get the same."""
    number: int = builder.atomic_rmw("add", builder.inttoptr(address, INT.as_pointer()), INT(1), "monotonic")
    return number


@seldom_native
def settle_in(group: Group, runs: RunRecord, lane: int, number: int, until: float) -> None:
    """Put a run into a lane."""
    run, w, n = runs[number], LANES, group.n
    now, new, x, low, k = at(group.now), at(group.new), at(group.x), at(group.low), at(group.k)
    from_now, from_low, from_k = at(run.now), at(run.low), at(run.k)
    for i in range(group.state):
        now[i * w + lane] = new[i * w + lane] = x[i * w + lane] = from_now[i]
        if group.events != 0:
            at(group.other)[i * w + lane] = from_now[i]
    for i in range(2 * n):
        low[i * w + lane] = from_low[i]
    for i in range(group.stride):
        k[i * w + lane] = from_k[i]
    for j in range(group.pivots):
        at(group.pivot_scale)[j * w + lane] = at(run.pivot_scale)[j]
    group.number[lane] = number
    group.sign[lane] = 1.0 if until >= from_now[0] else -1.0
    group.stop[lane] = next_stop(run, group.sign[lane], until)
    group.h[lane] = run.h
    group.t_low[lane] = run.t_low
    group.error[lane] = run.error
    group.held[lane] = run.held
    group.trouble[lane] = run.trouble
    group.pivot[lane] = run.pivot
    group.accepted[lane] = run.accepted
    group.rejected[lane] = run.rejected
    group.evaluations[lane] = run.evaluations
    group.worked[lane] = run.worked
    group.worked_low[lane] = run.worked_low
    group.turned[lane] = run.turned
    group.projections[lane] = run.projections
    group.misses[lane] = run.misses
    group.left[lane] = run.left
    group.volume[lane] = run.volume
    group.panel[lane] = run.panel
    group.behind[lane] = run.behind
    for j in range(group.events):
        at(group.side)[j * w + lane] = at(run.side)[j]
        at(group.heading)[j * w + lane] = at(run.heading)[j]
        at(group.away)[j * w + lane] = at(run.away)[j]
        at(group.coarse)[j * w + lane] = at(run.coarse)[j]
        at(group.fired)[j * w + lane] = at(run.fired)[j]
        at(group.seen)[j * w + lane] = at(run.values)[j]
    look_ahead(group, runs, lane)


@seldom_native
def move_out(group: Group, runs: RunRecord, lane: int) -> int:
    """What a lane knows back into its run; the run's number."""
    w, n, now, low, k = LANES, group.n, at(group.now), at(group.low), at(group.k)
    number = int(group.number[lane])
    run = runs[number]
    to_now, to_low, to_k = at(run.now), at(run.low), at(run.k)
    for i in range(1 + 2 * n):
        to_now[i] = now[i * w + lane]
    for i in range(2 * n):
        to_low[i] = low[i * w + lane]
    for i in range(group.stride):
        to_k[i] = k[i * w + lane]
    for j in range(group.pivots):
        at(run.pivot_scale)[j] = at(group.pivot_scale)[j * w + lane]
    run.h = group.h[lane]
    run.t_low = group.t_low[lane]
    run.error = group.error[lane]
    run.held = int(group.held[lane])
    run.trouble = int(group.trouble[lane])
    run.pivot = group.pivot[lane]
    run.accepted = int(group.accepted[lane])
    run.rejected = int(group.rejected[lane])
    run.evaluations = int(group.evaluations[lane])
    run.worked = group.worked[lane]
    run.worked_low = group.worked_low[lane]
    run.turned = group.turned[lane]
    run.projections = int(group.projections[lane])
    run.misses = int(group.misses[lane])
    run.left = group.left[lane]
    run.volume = group.volume[lane]
    run.panel = group.panel[lane]
    run.behind = group.behind[lane]
    for j in range(group.events):
        at(run.side)[j] = at(group.side)[j * w + lane]
        at(run.heading)[j] = at(group.heading)[j * w + lane]
        at(run.away)[j] = at(group.away)[j * w + lane]
        at(run.coarse)[j] = at(group.coarse)[j * w + lane]
        at(run.values)[j] = at(group.seen)[j * w + lane]
    return number


@native
def look_ahead(group: Group, runs: RunRecord, lane: int) -> None:
    """The requested time that comes next in a lane."""
    run = runs[int(group.number[lane])]
    group.wanted[lane] = at(run.at_times)[run.saved] if run.saved < run.times else group.sign[lane] * math.inf


@seldom_native
def admit(group: Group, runs: RunRecord, lane: int, number: int, until: float, attempts: int) -> bool:
    """Put a run into a lane after so many attempts by itself; False if these have ended it.

    A run on the way to a vanishing pivot stays by itself until it is past it, and one whose step is yet to be searched
    for events until that is done.
    """
    status = alone(group.alone, runs, number, until, attempts)
    while status == RUNNING and (runs[number].caution > 0 or runs[number].pending != 0):
        status = alone(group.alone, runs, number, until, 1)
    runs[number].status = status
    if status == RUNNING:
        settle_in(group, runs, lane, number, until)
    return status == RUNNING


@seldom_native
def draw(group: Group, runs: RunRecord, lane: int, until: float) -> None:
    """The next run that waits, and that does not end where it begins, into a free lane."""
    while True:
        place = next_number(group.waiting)
        if place >= group.count:
            return
        if admit(group, runs, lane, int(at(group.order)[place]), until, 0):
            group.busy += 1
            return


@seldom_native
def attend(group: Group, runs: RunRecord, which: int, until: float) -> None:
    """Lanes (`bits`) in which something rare has happened: the run tries its step alone; if it ends, the next comes."""
    for lane in range(LANES):
        if holds(which, lane):
            number = move_out(group, runs, lane)
            if not admit(group, runs, lane, number, until, 1):
                group.number[lane] = -1.0
                group.busy -= 1
                draw(group, runs, lane, until)
