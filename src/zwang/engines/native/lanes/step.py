"""One step of all lanes of a group: what `step` and `loop` do for one run, in all lanes at once.

Native functions. The operations are those of the step of one run, in the same order, so that a lane computes the same
bits as far as its acceleration has them (`compile.lanes`). What happens seldom is not done here: a lane that meets it
is odd, and its attempt counts for nothing.
"""

import math
from typing import Any, Final

from llvmlite import ir

from zwang.compile.lanes import LANES
from zwang.compile.restricted import Lanes, Mask, Rows, intrinsic, native
from zwang.compile.restricted.module import FLOAT, INT, spread
from zwang.engines.native.lanes.group import Group, Own
from zwang.engines.native.stage_kernels import DENSE, ERROR, at, call, combine, shift, stage
from zwang.engines.native.step import EPS, NODES, QUIET, ROUNDING, SAYS_NOTHING, TINY

CALM: Final = 0.4
"""Where no pivot of a step is below this share of its largest, neither `dips` nor `hides` can find one: the parabola
through three of them falls to half of the least only if that is below 0.37 of the largest."""


@intrinsic
def rows(builder: Any, address: Any) -> Rows:
    """An address kept as an integer, as the array of lanes it is."""
    array: Rows = builder.inttoptr(address, ir.VectorType(FLOAT, LANES).as_pointer())
    return array


@intrinsic
def choose(builder: Any, mask: Any, a: Lanes | float, b: Lanes | float) -> Lanes:
    """a where the mask holds, b elsewhere."""
    chosen: Lanes = builder.select(mask, _wide(builder, a), _wide(builder, b))
    return chosen


@intrinsic
def most(builder: Any, a: Lanes | float, b: Lanes | float) -> Lanes:
    """The larger of two numbers; b if one of them is NaN."""
    a, b = _wide(builder, a), _wide(builder, b)
    larger: Lanes = builder.select(builder.fcmp_ordered(">", a, b), a, b)
    return larger


@intrinsic
def least(builder: Any, a: Lanes | float, b: Lanes | float) -> Lanes:
    """The smaller of two numbers; b if one of them is NaN."""
    a, b = _wide(builder, a), _wide(builder, b)
    smaller: Lanes = builder.select(builder.fcmp_ordered("<", a, b), a, b)
    return smaller


def _wide(builder: Any, value: Any) -> Any:
    """A number in all lanes."""
    return spread(builder, value, ir.VectorType(FLOAT, LANES))


@intrinsic
def bits(builder: Any, mask: Any) -> int:
    """A mask as a number: bit k is set where lane k holds."""
    number: int = builder.zext(builder.bitcast(mask, ir.IntType(mask.type.count)), INT)
    return number


@intrinsic
def holds(builder: Any, number: Any, lane: Any) -> bool:
    """Whether a lane is set in a number made by `bits`."""
    bit: bool = builder.trunc(builder.lshr(number, lane), ir.IntType(1))
    return bit


@intrinsic
def mask_of(builder: Any, number: Any) -> Mask:
    """The mask of a number made by `bits`."""
    wide = ir.VectorType(ir.IntType(1), LANES)
    mask: Mask = builder.bitcast(builder.trunc(number, ir.IntType(wide.count)), wide)
    return mask


@native
def squared(a: Lanes) -> Lanes:
    """a²."""
    return a * a


@native
def plan(group: Group, until: float) -> Mask:
    """The next step of each lane; the lanes that have arrived, or can take no step."""
    own, t, new = rows(group.own), rows(group.now)[0], rows(group.new)
    sign, t_low = own[Own.SIGN], own[Own.T_LOW]
    remaining = (until - t) - t_low
    size = least(own[Own.H], group.max_step)
    last = abs(remaining) <= 1.01 * size
    h = choose(last, remaining, sign * size)
    change = t_low + h
    end = t + change
    part = end - t
    own[Own.STEP] = h
    own[Own.STEP_LOW] = choose(last, 0.0, (t - (end - part)) + (change - part))
    new[0] = choose(last, until, end)
    small = ~last & (size <= most(4 * EPS * abs(t), TINY))
    over = own[Own.ACCEPTED] + own[Own.REJECTED] >= group.step_limit
    stopped = (own[Own.RUN] >= 0.0) & ((sign * remaining <= 0.0) | small | over)
    own[Own.H] = choose(stopped, own[Own.H], size)
    return stopped  # type: ignore[no-any-return]


@native
def evaluate(group: Group, s: int, x: Rows) -> Mask:
    """Row s of k = acceleration and pivots at x; the lanes in which all accelerations are finite."""
    row = shift(rows(group.k), s * group.stride)
    call(group.acceleration, row, x, rows(group.work))
    total = row[0] * 0.0  # zero as long as all are finite, else no number
    for i in range(1, group.n):
        total += row[i] * 0.0
    return total == 0.0


@native
def stages(group: Group, first: int, last: int) -> Mask:
    """The stages first … last of the step; the lanes in which all of them are finite."""
    n, now, low, x, k, own = (
        group.n, rows(group.now), rows(group.low), rows(group.x), rows(group.k), rows(group.own),
    )  # fmt: skip
    h = own[Own.STEP]
    finite = h == h
    for s in range(first, last + 1):
        stage(s, x, low, now, low, h, k, group.stride, n)
        x[0] = now[0] + (own[Own.T_LOW] + NODES[s] * h)
        finite &= evaluate(group, s, x)
    return finite


@native
def finish(group: Group) -> Lanes:
    """The end of the step, and the error in units of the tolerance."""
    n, now, new, sums, k = group.n, rows(group.now), rows(group.new), rows(group.sums), rows(group.k)
    rtol, atol, h = at(group.rtol), at(group.atol), rows(group.own)[Own.STEP]
    stage(12, new, rows(group.new_low), now, rows(group.low), h, k, group.stride, n)
    combine(ERROR, sums, k, group.stride, n)
    fifth = third = h * 0.0
    for i in range(n):
        v = n + i
        per_q = h / unit(atol[i], rtol[i], most(abs(now[1 + i]), abs(new[1 + i])))
        per_v = 1.0 / unit(atol[v], rtol[v], most(abs(now[1 + v]), abs(new[1 + v])))
        fifth += squared(sums[i] * per_v) + squared(sums[2 * n + i] * per_q)
        third += squared(sums[n + i] * per_v) + squared(sums[3 * n + i] * per_q)
    error = abs(h) * fifth / math.sqrt((fifth + 0.01 * third) * (2 * n))
    return choose(fifth == 0.0, 0.0, error)


@native
def quiet(group: Group, error: Lanes) -> Mask:
    """The lanes in which the error of the step says nothing of the size that is needed."""
    n, now, f, rtol, atol = group.n, rows(group.now), rows(group.k), at(group.rtol), at(group.atol)
    h = rows(group.own)[Own.STEP]
    largest = h * 0.0
    for i in range(n):
        largest = most(largest, abs(f[i]) / unit(atol[n + i], rtol[n + i], abs(now[1 + n + i])))
    ratio = squared(squared(squared(group.max_step / h)))
    nothing = (error * ratio < SAYS_NOTHING) | (error <= ROUNDING * abs(h) * largest)
    return nothing & (error < QUIET)


@native
def unit(atol: float, rtol: float, size: Lanes) -> Lanes:
    """One unit of error."""
    return most(atol + rtol * size, 4 * EPS * size + TINY)


@native
def pivots(group: Group, last: int) -> tuple[Lanes, Mask]:
    """The smallest pivot of the stages 1 … last in units of its scale, and the lanes in which none comes near zero.

    What is not a number is smaller than all.
    """
    n, stride, k, scale = group.n, group.stride, rows(group.k), rows(group.pivot_scale)
    lowest = rows(group.own)[Own.STEP] * 0.0 + math.inf
    calm = lowest == lowest
    for j in range(group.pivots):
        per = 1.0 / scale[j]
        total = low = high = k[n + j] * per
        for s in range(1, last + 1):
            pivot = k[s * stride + n + j] * per
            low, high, total = least(low, pivot), most(high, pivot), total + pivot
            lowest = least(lowest, pivot)
        calm &= low >= CALM * high
        if j < group.growing:
            calm &= low >= group.zone
        lowest = choose(total == total, lowest, -math.inf)
    return lowest, calm


@native
def prepare_dense(group: Group) -> None:
    """The coefficients of the interpolant, from all sixteen stages."""
    n, now, new, c, sums, f0 = (
        group.n, rows(group.now), rows(group.new), rows(group.dense), rows(group.sums), rows(group.k),
    )  # fmt: skip
    h, f1 = rows(group.own)[Own.STEP], shift(f0, 12 * group.stride)
    combine(DENSE, sums, f0, group.stride, n)
    for i in range(n):
        v = n + i
        dq, dv = new[1 + i] - now[1 + i], new[1 + v] - now[1 + v]
        c[i], c[v] = dq, dv
        c[2 * n + i], c[2 * n + v] = h * now[1 + v] - dq, h * f0[i] - dv
        c[4 * n + i], c[4 * n + v] = 2 * dq - h * (now[1 + v] + new[1 + v]), 2 * dv - h * (f0[i] + f1[i])
    for r in range(4):
        for i in range(n):
            c[(6 + 2 * r) * n + i] = h * h * sums[(4 + r) * n + i]
            c[(7 + 2 * r) * n + i] = h * sums[r * n + i]


@native
def interpolate(group: Group, theta: Lanes) -> None:
    """x = the states at t + θh by the interpolant of order 7."""
    m, now, x, c, rest = 2 * group.n, rows(group.now), rows(group.x), rows(group.dense), 1.0 - theta
    for i in range(m):
        high = c[3 * m + i] + theta * (c[4 * m + i] + rest * (c[5 * m + i] + theta * c[6 * m + i]))
        far = c[i] + rest * (c[m + i] + theta * (c[2 * m + i] + rest * high))
        x[1 + i] = now[1 + i] + theta * far


@native
def slope_at(group: Group, theta: Lanes) -> None:
    """The interpolants' v̇ at t + θh, in the first rows of sums."""
    n, m, c, f, h, rest = (
        group.n, 2 * group.n, rows(group.dense), rows(group.sums), rows(group.own)[Own.STEP], 1.0 - theta,
    )  # fmt: skip
    for i in range(n):
        v = n + i
        d5 = c[6 * m + v]
        u5 = c[5 * m + v] + theta * d5
        u4, d4 = c[4 * m + v] + rest * u5, rest * d5 - u5
        u3, d3 = c[3 * m + v] + theta * u4, u4 + theta * d4
        u2, d2 = c[2 * m + v] + rest * u3, rest * d3 - u3
        u1, d1 = c[m + v] + theta * u2, u2 + theta * d2
        u0, d0 = c[v] + rest * u1, rest * d1 - u1
        f[i] = (u0 + theta * d0) / h
