"""The step loop of a group of lanes: all of them try a step together, each at its own time and with its own size.

A step that is accepted, or refused for its error, is dealt with for all lanes at once. Everything else that can happen
is rare, and then the run leaves its lane: `loop.advance` tries that step again for this run alone, decides as it always
does, and the lane goes on from where the run then is. A run that ends makes room for the next that waits.

Read from the bottom up: `advance` is the loop, the rest are its verbs.
"""

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Final

from llvmlite import ir

from zwang.compile.restricted import Lanes, Mask, intrinsic, native, native_library, seldom_native
from zwang.compile.restricted.module import FLOAT, INT
from zwang.motion import loop
from zwang.motion.lanes import Group, Own
from zwang.motion.lanes_step import (
    bits,
    choose,
    evaluate,
    finish,
    holds,
    interpolate,
    least,
    mask_of,
    most,
    pivots,
    plan,
    prepare_dense,
    rows,
    stages,
    width,
)
from zwang.motion.loop import FINISHED, GROW, INTEGRAL, PROPORTIONAL, RUNNING, SAFETY, SHRINK, SINGULAR, STEP_TOO_SMALL
from zwang.motion.memory import Run
from zwang.motion.powers import power
from zwang.motion.step import FIRST, FIRST_DENSE, HUGE, LAST, LAST_DENSE, dips, hides
from zwang.motion.sums import at

PIECES: Final = (*loop.PIECES, "lanes", "lanes_step", "lanes_loop")
"""The files that the loop is made of."""

_ONE_AT_A_TIME: Final = Lock()


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
def settle_in(group: Group, runs: Run, lane: int, number: int, until: float) -> None:
    """A run into a lane."""
    run, w, n = runs[number], width(), group.n
    now, new, x, low, k, own = at(group.now), at(group.new), at(group.x), at(group.low), at(group.k), at(group.own)
    from_now, from_low, from_k = at(run.now), at(run.low), at(run.k)
    for i in range(group.state):
        now[i * w + lane] = new[i * w + lane] = x[i * w + lane] = from_now[i]
    for i in range(2 * n):
        low[i * w + lane] = from_low[i]
    for i in range(group.stride):
        k[i * w + lane] = from_k[i]
    own[Own.RUN * w + lane] = number
    own[Own.SIGN * w + lane] = 1.0 if until >= from_now[0] else -1.0
    own[Own.H * w + lane] = run.h
    own[Own.T_LOW * w + lane] = run.t_low
    own[Own.ERROR * w + lane] = run.error
    own[Own.HELD * w + lane] = run.held
    own[Own.TROUBLE * w + lane] = run.trouble
    own[Own.PIVOT * w + lane] = run.pivot
    own[Own.ACCEPTED * w + lane] = run.accepted
    own[Own.REJECTED * w + lane] = run.rejected
    own[Own.EVALUATIONS * w + lane] = run.evaluations
    look_ahead(group, runs, lane)


@seldom_native
def move_out(group: Group, runs: Run, lane: int) -> int:
    """What a lane knows back into its run; the run's number."""
    w, n, now, low, k, own = width(), group.n, at(group.now), at(group.low), at(group.k), at(group.own)
    number = int(own[Own.RUN * w + lane])
    run = runs[number]
    to_now, to_low, to_k = at(run.now), at(run.low), at(run.k)
    for i in range(1 + 2 * n):
        to_now[i] = now[i * w + lane]
    for i in range(2 * n):
        to_low[i] = low[i * w + lane]
    for i in range(group.stride):
        to_k[i] = k[i * w + lane]
    run.h = own[Own.H * w + lane]
    run.t_low = own[Own.T_LOW * w + lane]
    run.error = own[Own.ERROR * w + lane]
    run.held = int(own[Own.HELD * w + lane])
    run.trouble = int(own[Own.TROUBLE * w + lane])
    run.pivot = own[Own.PIVOT * w + lane]
    run.accepted = int(own[Own.ACCEPTED * w + lane])
    run.rejected = int(own[Own.REJECTED * w + lane])
    run.evaluations = int(own[Own.EVALUATIONS * w + lane])
    return number


@native
def look_ahead(group: Group, runs: Run, lane: int) -> None:
    """The requested time that comes next in a lane."""
    w, own = width(), at(group.own)
    run = runs[int(own[Own.RUN * w + lane])]
    far = own[Own.SIGN * w + lane] * math.inf
    own[Own.WANTED * w + lane] = at(run.at_times)[run.saved] if run.saved < run.times else far


@native
def save(group: Group, runs: Run, lane: int, y: int) -> None:
    """One requested time of a lane is done; y is the address of the states."""
    w, n, states = width(), group.n, at(y)
    run = runs[int(at(group.own)[Own.RUN * w + lane])]
    q, v = at(run.q), at(run.v)
    for i in range(n):
        q[run.saved * n + i] = states[(1 + i) * w + lane]
        v[run.saved * n + i] = states[(1 + n + i) * w + lane]
    run.saved += 1
    look_ahead(group, runs, lane)


@seldom_native
def admit(group: Group, runs: Run, lane: int, number: int, until: float, attempts: int) -> bool:
    """A run into a lane after so many attempts by itself; False when that has ended it.

    A run on the way to a vanishing pivot stays by itself until it is past it.
    """
    status = alone(group.alone, runs, number, until, attempts)
    while status == RUNNING and runs[number].caution > 0:
        status = alone(group.alone, runs, number, until, 1)
    runs[number].status = status
    if status == RUNNING:
        settle_in(group, runs, lane, number, until)
    return status == RUNNING


@seldom_native
def draw(group: Group, runs: Run, lane: int, until: float) -> None:
    """The next run that waits, and that does not end where it begins, into a free lane."""
    while True:
        number = next_number(group.waiting)
        if number >= group.count:
            return
        if admit(group, runs, lane, number, until, 0):
            group.busy += 1
            return


@seldom_native
def attend(group: Group, runs: Run, which: int, until: float) -> None:
    """Lanes (`bits`) in which something rare has happened: the run tries its step alone; if it ends, the next comes."""
    for lane in range(width()):
        if holds(which, lane):
            number = move_out(group, runs, lane)
            if not admit(group, runs, lane, number, until, 1):
                at(group.own)[Own.RUN * width() + lane] = -1.0
                group.busy -= 1
                draw(group, runs, lane, until)


@seldom_native
def sound(group: Group, runs: Run, which: int) -> int:
    """Those of some lanes (`bits`) in which no pivot may vanish between two stages."""
    w, n, k, own, kept = width(), group.n, at(group.k), at(group.own), 0
    for lane in range(w):
        if holds(which, lane):
            run = runs[int(own[Own.RUN * w + lane])]
            to = at(run.k)
            for s in range(13):
                for j in range(n, n + group.pivots):
                    to[s * run.stride + j] = k[(s * group.stride + j) * w + lane]
            if not (dips(run) or hides(run)):
                kept = with_lane(kept, lane)
    return kept


@intrinsic
def with_lane(builder: Any, number: Any, lane: Any) -> int:
    """A number made by `bits` with a further lane."""
    further: int = builder.or_(number, builder.shl(INT(1), lane))
    return further


@native
def hand_out(group: Group, runs: Run, which: Mask) -> None:
    """All requested times within the step."""
    own, t, end, lost = rows(group.own), rows(group.now)[0], rows(group.new)[0], rows(group.own)[Own.T_LOW]
    prepare_dense(group)
    left = bits(which)
    while left != 0:
        interpolate(group, ((own[Own.WANTED] - t) - lost) / own[Own.STEP])
        for lane in range(width()):
            if holds(left, lane):
                save(group, runs, lane, group.x)
        left = bits(which & (own[Own.SIGN] * (own[Own.WANTED] - end) < 0.0))


@native
def refuse(group: Group, which: Mask, error: Lanes, lowest: Lanes) -> None:
    """The step of these lanes has to be tried again, smaller."""
    own = rows(group.own)
    factor = most(SHRINK, SAFETY * power(error, -1 / 8))
    trouble = choose(lowest > group.pivot_tol, STEP_TOO_SMALL * 1.0, SINGULAR * 1.0)
    own[Own.H] = choose(which, abs(own[Own.STEP]) * factor, own[Own.H])
    own[Own.HELD] = choose(which, 1.0, own[Own.HELD])
    own[Own.TROUBLE] = choose(which, trouble, own[Own.TROUBLE])
    own[Own.REJECTED] = own[Own.REJECTED] + choose(which, 1.0, 0.0)
    own[Own.EVALUATIONS] = own[Own.EVALUATIONS] + choose(which, LAST - FIRST + 1.0, 0.0)


@native
def settle(group: Group, runs: Run, which: Mask, error: Lanes) -> None:
    """The end of the step becomes the state of these lanes; the next size is chosen."""
    n, now, low, k, own = group.n, rows(group.now), rows(group.low), rows(group.k), rows(group.own)
    new, new_low, slope = rows(group.new), rows(group.new_low), 12 * group.stride
    for i in range(1 + 2 * n):
        now[i] = choose(which, new[i], now[i])
    for i in range(2 * n):
        low[i] = choose(which, new_low[i], low[i])
    for i in range(group.stride):
        k[i] = choose(which, k[slope + i], k[i])
    own[Own.T_LOW] = choose(which, own[Own.STEP_LOW], own[Own.T_LOW])
    own[Own.ACCEPTED] = own[Own.ACCEPTED] + choose(which, 1.0, 0.0)
    reached = bits(which & (own[Own.WANTED] == now[0]))
    if reached != 0:
        for lane in range(width()):
            while holds(reached, lane) and at(group.own)[Own.WANTED * width() + lane] == at(group.now)[lane]:
                save(group, runs, lane, group.now)
    size, h = own[Own.H], abs(own[Own.STEP])
    factor = least(GROW, most(SHRINK, SAFETY * power(error, -INTEGRAL) * power(own[Own.ERROR], PROPORTIONAL)))
    factor = choose(error > 0.0, factor, GROW)
    factor = choose(own[Own.HELD] > 0.0, least(1.0, factor), factor)
    own[Own.H] = choose(which, most(factor * h, choose(h < size, size, 0.0)), size)
    own[Own.ERROR] = choose(which, most(error, 1e-4), own[Own.ERROR])
    own[Own.HELD] = choose(which, 0.0, own[Own.HELD])


@native
def attempt(group: Group, runs: Run) -> int:
    """A step of all lanes; those (`bits`) in which it has to be tried by the run alone."""
    own, new = rows(group.own), rows(group.new)
    busy = own[Own.RUN] >= 0.0
    finite = busy & stages(group, FIRST, LAST)
    error = finish(group)
    refused = finite & (error > 1.0) & (error <= HUGE)
    good = finite & (error <= 1.0) & evaluate(group, 12, new)
    if bits(refused) != 0:
        lowest, calm = pivots(group, LAST)
        refuse(group, refused, error, lowest)
    lowest, calm = pivots(group, 12)
    good &= lowest > group.pivot_tol
    if group.pivot_tol > 0.0 and bits(good & ~calm) != 0:
        good &= calm | mask_of(sound(group, runs, bits(good & ~calm)))
    wanted = good & (own[Own.SIGN] * (own[Own.WANTED] - new[0]) < 0.0)
    if bits(wanted) != 0:
        finite = stages(group, FIRST_DENSE, LAST_DENSE)
        good &= finite | ~wanted
        wanted &= finite
        hand_out(group, runs, wanted)
        own[Own.EVALUATIONS] = own[Own.EVALUATIONS] + choose(wanted, LAST_DENSE - FIRST_DENSE + 1.0, 0.0)
    own[Own.EVALUATIONS] = own[Own.EVALUATIONS] + choose(good, 12.0, 0.0)
    own[Own.PIVOT] = choose(good, least(own[Own.PIVOT], lowest), own[Own.PIVOT])
    settle(group, runs, good, error)
    return bits(busy & ~(good | refused))


@native
def advance(groups: Group, g: int, runs: Run, until: float, attempts: int) -> int:
    """Group g by so many attempts of all its lanes; RUNNING until no run is left."""
    group = groups[g]
    group.busy = 0
    for lane in range(width()):
        number = int(at(group.own)[Own.RUN * width() + lane])
        if number >= 0 and admit(group, runs, lane, number, until, 0):
            group.busy += 1
        else:
            at(group.own)[Own.RUN * width() + lane] = -1.0
            draw(group, runs, lane, until)
    while group.busy > 0:
        stopped = bits(plan(group, until))
        if stopped != 0:
            attend(group, runs, stopped, until)
            continue
        if attempts == 0:
            for lane in range(width()):
                if at(group.own)[Own.RUN * width() + lane] >= 0.0:
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
    here = Path(__file__).parent
    return native_library(advance, [here / f"{name}.py" for name in PIECES])
