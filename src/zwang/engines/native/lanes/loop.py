"""The step loop of a group of lanes: all of them try a step together, each at its own time and with its own size.

A step that is accepted, or refused for its error, is dealt with for all lanes at once. Everything else that can happen
is rare, and then the run leaves its lane: `loop.advance` tries that step again for this run alone, decides as it always
does, and the lane goes on from where the run then is. A run that ends makes room for the next that waits.

Steps are computed, accepted and refused by what does so for one run (`step`, `pivots`, `quadrature`, `control`,
`outcome`). The loop is another: it knows masks where that of a run branches, and nothing of singular positions; at a
break, and where an event fires, it hands over.

Read from the bottom up: `advance` is the loop, the rest are its verbs.
"""

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any, Final

from zwang.compile.lanes import LANES
from zwang.compile.restricted import Lanes, Mask, intrinsic, native, native_library, seldom_native
from zwang.compile.restricted.memory import at, shift
from zwang.compile.restricted.module import BOOL, INT
from zwang.engines.native.bridge import low_at_end
from zwang.engines.native.control import shrunk
from zwang.engines.native.lanes.events import go_on, search, suspects
from zwang.engines.native.lanes.group import Group
from zwang.engines.native.lanes.moves import admit, attend, draw, look_ahead, move_out
from zwang.engines.native.lanes.projection import project, project_inside
from zwang.engines.native.lanes.step import calm_pivots, evaluate, holds, mask_of, plan, rows
from zwang.engines.native.loop import FINISHED, RUNNING, STEP_TOO_SMALL
from zwang.engines.native.numbers import bits, choose, smaller
from zwang.engines.native.outcome import accept, fill, refuse, save, work_until
from zwang.engines.native.pivots import may_vanish, survey
from zwang.engines.native.record import RunRecord
from zwang.engines.native.step import (
    END,
    FIRST,
    FIRST_DENSE,
    HUGE,
    LAST,
    LAST_DENSE,
    finish,
    interpolate,
    slope_at,
    stages,
)

_ONE_AT_A_TIME: Final = Lock()


@seldom_native
def sound(group: Group, runs: RunRecord, which: int) -> int:
    """Those of some lanes (`bits`) in which no pivot may vanish between two stages."""
    w, n, k, kept = LANES, group.n, at(group.k), 0
    for lane in range(w):
        if holds(which, lane):
            run = runs[int(group.number[lane])]
            to = at(run.k)
            for s in range(13):
                for j in range(n, n + group.pivots):
                    to[s * run.stride + j] = k[(s * group.stride + j) * w + lane]
            for j in range(group.pivots):
                at(run.pivot_scale)[j] = at(group.pivot_scale)[j * w + lane]
            run.volume = group.volume[lane]
            if not (may_vanish(run, survey(run, END)) or low_at_end(run)):
                kept = with_lane(kept, lane)
    return kept


@intrinsic
def with_lane(builder: Any, number: Any, lane: Any) -> int:
    """A number made by `bits` with a further lane."""
    further: int = builder.or_(number, builder.shl(INT(1), lane))
    return further


@intrinsic
def first_lane(builder: Any, number: Any) -> int:
    """The first lane of a number made by `bits`, in which there is one."""
    lane: int = builder.cttz(number, BOOL(1))
    return lane


@intrinsic
def other_lanes(builder: Any, number: Any) -> int:
    """A number made by `bits` without its first lane."""
    rest: int = builder.and_(number, builder.sub(number, INT(1)))
    return rest


@native
def saved(group: Group, runs: RunRecord, lane: int, y: int, f: int, size: float, work: float) -> None:
    """One requested time of a lane is done; y and f are the addresses of the states and of their slopes."""
    save(runs[int(group.number[lane])], group.step, shift(at(y), lane), shift(at(f), lane), size, work)
    look_ahead(group, runs, lane)


@native
def hand_out(group: Group, runs: RunRecord, which: Mask) -> None:
    """All requested times within the step."""
    t, end, h, left = rows(group.now)[0], rows(group.new)[0], group.step, bits(which)
    while left != 0:
        theta = ((group.wanted - t) - group.t_low) / h
        interpolate(group, h, group.t_low, theta)
        if group.projection != 0:
            project_inside(group, mask_of(left))
        slope_at(group, h, theta)
        if group.powers != 0:
            group.work_there = work_until(group, theta)
        while left != 0:
            lane = first_lane(left)
            saved(group, runs, lane, group.x, group.sums, abs(group.step[lane]), group.work_there[lane])
            left = other_lanes(left)
        left = bits(which & (group.sign * (group.wanted - end) < 0.0))


@native
def settle(group: Group, runs: RunRecord, which: Mask, error: Lanes) -> None:
    """The step of these lanes is accepted."""
    accept(group, which, group.step, error, group.step_low)
    reached = bits(which & (group.wanted == rows(group.now)[0]))
    if reached != 0:
        for lane in range(LANES):
            while holds(reached, lane) and group.wanted[lane] == at(group.now)[lane]:
                saved(group, runs, lane, group.now, group.k, 0.0, group.worked[lane])


@native
def attempt(group: Group, runs: RunRecord) -> int:
    """A step of all lanes; those (`bits`) in which it has to be tried by the run alone."""
    new, h, t_low, busy = rows(group.new), group.step, group.t_low, group.number >= 0.0
    stages(group, h, t_low, FIRST, LAST)
    error = finish(group, h)
    refused = busy & (error > 1.0) & (error <= HUGE)
    good = busy & (error <= 1.0)
    projections, misses, worst = group.projections, group.misses, group.left
    if group.projection != 0:
        good &= project(group, new, rows(group.new_low), good)
    good &= evaluate(group, END, new)
    if bits(refused) != 0:
        # What to say should the step become too small is plain where pivots are calm; elsewhere the run asks by itself.
        lowest, calm = calm_pivots(group, LAST)
        refused &= calm & (lowest > group.pivot_tol)
        refuse(group, refused, h, shrunk(error))
        group.trouble = choose(refused, STEP_TOO_SMALL, group.trouble)
        group.evaluations += choose(refused, LAST - FIRST + 1, 0)
    lowest, calm = calm_pivots(group, END)
    good &= lowest > group.pivot_tol
    if group.pivot_tol > 0.0 and bits(good & ~calm) != 0:
        good &= calm | mask_of(sound(group, runs, bits(good & ~calm)))
    wanted = good & (group.sign * (group.wanted - new[0]) < 0.0)
    watched = suspects(group, good)
    inside = wanted | watched
    if bits(inside) != 0:
        good &= fill(group, h, t_low) | ~inside
        watched &= good
        if bits(watched) != 0:
            good &= search(group, watched) | ~watched
        hand_out(group, runs, wanted & good)
        group.evaluations += choose(inside & good, LAST_DENSE - FIRST_DENSE + 1, 0)
    if group.event != 0:
        go_on(group, good, watched)
    group.evaluations += choose(good, END - FIRST + 1, 0)
    group.pivot = choose(good, smaller(group.pivot, lowest), group.pivot)
    settle(group, runs, good, error)
    # what is tried again by the run alone counts there
    group.projections = choose(good, group.projections, projections)
    group.misses = choose(good, group.misses, misses)
    group.left = choose(good, group.left, worst)
    return bits(busy & ~(good | refused))


@native
def advance(groups: Group, g: int, runs: RunRecord, until: float, attempts: int) -> int:
    """Group g by so many attempts of all its lanes; RUNNING until no run is left."""
    group = groups[g]
    group.busy = 0
    for lane in range(LANES):
        number = int(group.number[lane])
        if number >= 0 and admit(group, runs, lane, number, until, 0):
            group.busy += 1
        else:
            group.number[lane] = -1.0
            draw(group, runs, lane, until)
    while group.busy > 0:
        stopped = bits(plan(group))
        if stopped != 0:
            attend(group, runs, stopped, until)
            continue
        if attempts == 0:
            for lane in range(LANES):
                if group.number[lane] >= 0.0:
                    move_out(group, runs, lane)
            return RUNNING
        attempts -= 1
        odd = attempt(group, runs)
        if odd != 0:
            attend(group, runs, odd, until)
    return FINISHED


def compiled() -> Callable[[int, int, int, float, int], int]:
    """`advance` for Python: it takes addresses of records, and Python's lock is free while it works."""
    with _ONE_AT_A_TIME:
        return _loaded()


@cache
def _loaded() -> Callable[[int, int, int, float, int], int]:
    return native_library(advance)
