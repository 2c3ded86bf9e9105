"""The step loop of a group of lanes: all of them try a step together, each at its own time and with its own size.

A step that is accepted, or refused for its error, is dealt with for all lanes at once. Everything else that can happen
is rare, and then the run leaves its lane: `loop.advance` tries that step again for this run alone, decides as it always
does, and the lane goes on from where the run then is. A run that ends makes room for the next that waits.

Steps are computed by what computes those of one run (`step`, `pivots`, `quadrature`, `control`). The loop is another:
it knows masks where that of a run branches, and nothing of events, breaks, projections and singular positions.

Read from the bottom up: `advance` is the loop, the rest are its verbs.
"""

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any, Final

from zwang.compile.lanes import LANES
from zwang.compile.restricted import Lanes, Mask, intrinsic, native, native_library, seldom_native
from zwang.compile.restricted.module import INT
from zwang.engines.native.bridge import low_at_end
from zwang.engines.native.control import next_size, shrunk
from zwang.engines.native.lanes.group import Group, Own
from zwang.engines.native.lanes.moves import admit, attend, draw, move_out, save
from zwang.engines.native.lanes.step import calm_pivots, evaluate, holds, mask_of, plan, rows
from zwang.engines.native.loop import FINISHED, RUNNING, SINGULAR, STEP_TOO_SMALL
from zwang.engines.native.numbers import bits, choose, larger, smaller, two_sum
from zwang.engines.native.pivots import dips, hides, survey
from zwang.engines.native.quadrature import prepare_work, work_at, work_of
from zwang.engines.native.record import RunRecord
from zwang.engines.native.stage_kernels import at
from zwang.engines.native.step import (
    END,
    FIRST,
    FIRST_DENSE,
    HUGE,
    LAST,
    LAST_DENSE,
    QUIET,
    finish,
    finite,
    interpolate,
    prepare_dense,
    quiet,
    slope_at,
    stages,
)

_ONE_AT_A_TIME: Final = Lock()


@seldom_native
def sound(group: Group, runs: RunRecord, which: int) -> int:
    """Those of some lanes (`bits`) in which no pivot may vanish between two stages."""
    w, n, k, own, kept = LANES, group.n, at(group.k), at(group.own), 0
    for lane in range(w):
        if holds(which, lane):
            run = runs[int(own[Own.RUN * w + lane])]
            to = at(run.k)
            for s in range(13):
                for j in range(n, n + group.pivots):
                    to[s * run.stride + j] = k[(s * group.stride + j) * w + lane]
            for j in range(group.pivots):
                at(run.pivot_scale)[j] = at(group.pivot_scale)[j * w + lane]
            run.volume = own[Own.VOLUME * w + lane]
            if not (survey(run, END) == 2 or low_at_end(run) or dips(run) or hides(run)):
                kept = with_lane(kept, lane)
    return kept


@intrinsic
def with_lane(builder: Any, number: Any, lane: Any) -> int:
    """A number made by `bits` with a further lane."""
    further: int = builder.or_(number, builder.shl(INT(1), lane))
    return further


@native
def hand_out(group: Group, runs: RunRecord, which: Mask) -> None:
    """All requested times within the step."""
    own, t, end, lost = rows(group.own), rows(group.now)[0], rows(group.new)[0], rows(group.own)[Own.T_LOW]
    h = own[Own.STEP]
    prepare_dense(group, h)
    if group.powers != 0:
        prepare_work(group, h)
    left = bits(which)
    while left != 0:
        theta = ((own[Own.WANTED] - t) - lost) / h
        interpolate(group, h, lost, theta)
        slope_at(group, h, theta)
        if group.powers != 0:
            own[Own.WORK] = own[Own.WORKED] + (own[Own.WORKED_LOW] + work_at(group, theta))
        for lane in range(LANES):
            if holds(left, lane):
                step, work = at(group.own)[Own.STEP * LANES + lane], at(group.own)[Own.WORK * LANES + lane]
                save(group, runs, lane, group.x, group.sums, abs(step), work)
        left = bits(which & (own[Own.SIGN] * (own[Own.WANTED] - end) < 0.0))


@native
def refuse(group: Group, which: Mask, error: Lanes, lowest: Lanes) -> None:
    """The step of these lanes has to be tried again, smaller."""
    own = rows(group.own)
    trouble = choose(lowest > group.pivot_tol, STEP_TOO_SMALL * 1.0, SINGULAR * 1.0)
    own[Own.H] = choose(which, abs(own[Own.STEP]) * shrunk(error), own[Own.H])
    own[Own.HELD] = choose(which, 1.0, own[Own.HELD])
    own[Own.TROUBLE] = choose(which, trouble, own[Own.TROUBLE])
    own[Own.REJECTED] = own[Own.REJECTED] + choose(which, 1.0, 0.0)
    own[Own.EVALUATIONS] = own[Own.EVALUATIONS] + choose(which, LAST - FIRST + 1.0, 0.0)


@native
def settle(group: Group, runs: RunRecord, which: Mask, error: Lanes) -> None:
    """The end of the step becomes the state of these lanes; the next size is chosen."""
    n, now, low, k, own = group.n, rows(group.now), rows(group.low), rows(group.k), rows(group.own)
    new, new_low, slope = rows(group.new), rows(group.new_low), 12 * group.stride
    for i in range(1 + 2 * n):
        now[i] = choose(which, new[i], now[i])
    for i in range(2 * n):
        low[i] = choose(which, new_low[i], low[i])
    if group.powers != 0:
        work = work_of(group, own[Own.STEP])
        own[Own.TURNED] = own[Own.TURNED] + choose(which, abs(work), 0.0)
        worked, lost = two_sum(own[Own.WORKED], own[Own.WORKED_LOW] + work)
        own[Own.WORKED] = choose(which, worked, own[Own.WORKED])
        own[Own.WORKED_LOW] = choose(which, lost, own[Own.WORKED_LOW])
    for i in range(group.stride):
        k[i] = choose(which, k[slope + i], k[i])
    largest, volume = own[Own.VOLUME], own[Own.VOLUME] * 0.0 + 1.0
    for j in range(group.growing):
        pivot, scale = k[slope + n + j], rows(group.pivot_scale)[j]
        grown = choose(which & (pivot > scale) & (pivot <= HUGE), pivot, scale)
        largest, volume = largest * (scale / grown), volume * (pivot / grown)
        rows(group.pivot_scale)[j] = grown
    own[Own.VOLUME] = choose(which & (volume > largest), volume, largest)
    own[Own.T_LOW] = choose(which, own[Own.STEP_LOW], own[Own.T_LOW])
    own[Own.ACCEPTED] = own[Own.ACCEPTED] + choose(which, 1.0, 0.0)
    reached = bits(which & (own[Own.WANTED] == now[0]))
    if reached != 0:
        for lane in range(LANES):
            while holds(reached, lane) and at(group.own)[Own.WANTED * LANES + lane] == at(group.now)[lane]:
                save(group, runs, lane, group.now, group.k, 0.0, at(group.own)[Own.WORKED * LANES + lane])
    h, planned, still = own[Own.STEP], own[Own.H], which & (error < QUIET)
    size = next_size(abs(h), planned, error, own[Own.ERROR], own[Own.HELD])
    if bits(still) != 0:
        size = choose(still & quiet(group, h, error), smaller(size, group.quiet_step), size)
    own[Own.H] = choose(which, size, planned)
    own[Own.ERROR] = choose(which, larger(error, 1e-4), own[Own.ERROR])
    own[Own.HELD] = choose(which, 0.0, own[Own.HELD])


@native
def attempt(group: Group, runs: RunRecord) -> int:
    """A step of all lanes; those (`bits`) in which it has to be tried by the run alone."""
    own, new = rows(group.own), rows(group.new)
    h, t_low, busy = own[Own.STEP], own[Own.T_LOW], own[Own.RUN] >= 0.0
    stages(group, h, t_low, FIRST, LAST)
    error = finish(group, h)
    refused = busy & (error > 1.0) & (error <= HUGE)
    good = busy & (error <= 1.0) & evaluate(group, END, new)
    if bits(refused) != 0:
        lowest, calm = calm_pivots(group, LAST)
        refuse(group, refused, error, lowest)
    lowest, calm = calm_pivots(group, END)
    good &= lowest > group.pivot_tol
    if group.pivot_tol > 0.0 and bits(good & ~calm) != 0:
        good &= calm | mask_of(sound(group, runs, bits(good & ~calm)))
    wanted = good & (own[Own.SIGN] * (own[Own.WANTED] - new[0]) < 0.0)
    if bits(wanted) != 0:
        stages(group, h, t_low, FIRST_DENSE, LAST_DENSE)
        filled = finite(group, h, FIRST_DENSE, LAST_DENSE)
        good &= filled | ~wanted
        wanted &= filled
        hand_out(group, runs, wanted)
        own[Own.EVALUATIONS] = own[Own.EVALUATIONS] + choose(wanted, LAST_DENSE - FIRST_DENSE + 1.0, 0.0)
    own[Own.EVALUATIONS] = own[Own.EVALUATIONS] + choose(good, 12.0, 0.0)
    own[Own.PIVOT] = choose(good, smaller(own[Own.PIVOT], lowest), own[Own.PIVOT])
    settle(group, runs, good, error)
    return bits(busy & ~(good | refused))


@native
def advance(groups: Group, g: int, runs: RunRecord, until: float, attempts: int) -> int:
    """Group g by so many attempts of all its lanes; RUNNING until no run is left."""
    group = groups[g]
    group.busy = 0
    for lane in range(LANES):
        number = int(at(group.own)[Own.RUN * LANES + lane])
        if number >= 0 and admit(group, runs, lane, number, until, 0):
            group.busy += 1
        else:
            at(group.own)[Own.RUN * LANES + lane] = -1.0
            draw(group, runs, lane, until)
    while group.busy > 0:
        stopped = bits(plan(group, until))
        if stopped != 0:
            attend(group, runs, stopped, until)
            continue
        if attempts == 0:
            for lane in range(LANES):
                if at(group.own)[Own.RUN * LANES + lane] >= 0.0:
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
