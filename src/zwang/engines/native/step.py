"""One step of DOP853 for q̈ = f(t, q, q̇): stages, error, first size, projection, interpolation.

Native functions (`compile.restricted`); each takes a record and works in the arrays it points to. What takes any record
is written once for a run and for a group of lanes, and computes the same bits for both. The rest is for one run: the
first size and the projection are loops that end at another time in each lane, and evaluating counts.
"""

import math
from typing import Final

import numpy as np

from zwang.arrays import EPS
from zwang.compile.restricted import Array, Number, Record, Truth, native, seldom_native
from zwang.compile.restricted.memory import at, call, shift
from zwang.engines.native import tableau as dop853
from zwang.engines.native.numbers import alike, choose, larger, of, smaller, square, two_sum
from zwang.engines.native.record import RunRecord
from zwang.engines.native.stage_kernels import DENSE, ERROR, combine, stage

HUGE: Final = float(np.finfo(np.float64).max)
TINY: Final = 1e-290

NODES: Final = np.array(dop853.C)

QUIET: Final = 1e-2
"""Only a step whose error is below this, in units of the tolerance, may be a quiet one."""

SAYS_NOTHING: Final = 1e-6
"""An error that would be no larger than this for the longest step allowed says nothing of the size that is needed."""

ROUNDED_GAIN: Final = EPS
"""Nor does one that is no larger than this share of the velocity gained in the step."""

FIRST, LAST, END, FIRST_DENSE, LAST_DENSE = 1, 11, 12, 13, 15


@native
def evaluate(run: RunRecord, row: Array, x: Array) -> bool:
    """row = acceleration and pivots at x; False when an acceleration is not finite.

    `lowest` follows the smallest pivot in units of its scale; what is not a number is smaller than all.
    """
    n, scale = run.n, at(run.pivot_scale)
    call(run.acceleration, row, x, at(run.work))
    run.evaluations += 1
    finite = True
    for i in range(n):
        finite &= abs(row[i]) <= HUGE
    for j in range(run.pivots):
        ratio = row[n + j] / scale[j]
        if not ratio >= run.lowest:
            run.lowest = ratio if ratio == ratio else -math.inf
    return finite


@native
def stages(run: Record, h: Number, t_low: Number, first: int, last: int) -> None:
    """The stages first … last of a step of size h. What is not finite in one of them shows in the error of the step.

    Nothing is looked at on the way: to read a slope right after the kernel has written it costs as much as a stage.
    """
    n, stride, now, low, x, k = run.n, run.stride, of(h, run.now), of(h, run.low), of(h, run.x), of(h, run.k)
    for s in range(first, last + 1):
        stage(s, x, low, now, low, h, k, stride, n)
        x[0] = now[0] + (t_low + NODES[s] * h)
        call(run.acceleration, shift(k, s * stride), x, of(h, run.work))


@native
def finite(run: Record, h: Number, first: int, last: int) -> Truth:
    """Whether the accelerations of all stages from `first` to `last` are finite."""
    k, good = of(h, run.k), h == h
    for s in range(first, last + 1):
        for i in range(run.n):
            good &= abs(k[s * run.stride + i]) <= HUGE
    return good


@native
def finish(run: Record, h: Number) -> Number:
    """The end of the step, and the error in units of the tolerance: Hairer's blend of orders 5 and 3."""
    n, now, new, rows, rtol, atol = run.n, of(h, run.now), of(h, run.new), of(h, run.sums), at(run.rtol), at(run.atol)
    stage(12, new, of(h, run.new_low), now, of(h, run.low), h, of(h, run.k), run.stride, n)
    combine(ERROR, rows, of(h, run.k), run.stride, n)
    fifth = third = alike(h, 0.0)
    for i in range(n):
        v = n + i
        per_q = h / unit(atol[i], rtol[i], larger(abs(now[1 + i]), abs(new[1 + i])))
        per_v = 1.0 / unit(atol[v], rtol[v], larger(abs(now[1 + v]), abs(new[1 + v])))
        fifth += square(rows[i] * per_v) + square(rows[2 * n + i] * per_q)
        third += square(rows[n + i] * per_v) + square(rows[3 * n + i] * per_q)
    return choose(fifth == 0.0, 0.0, abs(h) * fifth / math.sqrt((fifth + 0.01 * third) * (2 * n)))


@native
def quiet(run: Record, h: Number, error: Number) -> Truth:
    """Whether the error of a step says nothing of the size that is needed.

    It would be as small for the longest step, too, or is rounding.

    A body that moves freely is such a case, and a step could grow without bound and past a force that acts briefly.
    """
    n, now, f, rtol, atol = run.n, of(h, run.now), of(h, run.k), at(run.rtol), at(run.atol)
    largest = alike(h, 0.0)
    for i in range(n):
        largest = larger(largest, abs(f[i]) / unit(atol[n + i], rtol[n + i], abs(now[1 + n + i])))
    longest = square(square(square(run.max_step / h)))
    return (error * longest < SAYS_NOTHING) | (error <= ROUNDED_GAIN * abs(h) * largest)


@native
def unit(atol: float, rtol: float, size: Number) -> Number:
    """One unit of error. Below a few ulps of the state no smaller step makes an error smaller."""
    return larger(atol + rtol * size, 4 * EPS * size + TINY)


@seldom_native
def first_size(run: RunRecord, sign: float) -> float:
    """Hairer's guess of the first step: an explicit Euler step tells the size of the second derivative."""
    n, now, x, rtol, atol, f0 = run.n, at(run.now), at(run.x), at(run.rtol), at(run.atol), at(run.k)
    f1 = shift(f0, run.stride)
    size = slope = bend = 0.0
    for i in range(n):
        q, v = now[1 + i], now[1 + n + i]
        unit_q, unit_v = unit(atol[i], rtol[i], abs(q)), unit(atol[n + i], rtol[n + i], abs(v))
        size += square(q / unit_q) + square(v / unit_v)
        slope += square(v / unit_q) + square(f0[i] / unit_v)
    h = 1e-6 if smaller(size, slope) <= 1e-10 else smaller(0.01 * math.sqrt(size / slope), run.max_step)
    x[0] = now[0] + sign * h
    for i in range(n):
        x[1 + i] = now[1 + i] + sign * h * now[1 + n + i]
        x[1 + n + i] = now[1 + n + i] + sign * h * f0[i]
    if not evaluate(run, f1, x):
        return h
    for i in range(n):
        unit_q = unit(atol[i], rtol[i], abs(now[1 + i]))
        unit_v = unit(atol[n + i], rtol[n + i], abs(now[1 + n + i]))
        bend += square(h * f0[i] / unit_q) + square((f1[i] - f0[i]) / unit_v)
    steepest = larger(math.sqrt(slope), math.sqrt(bend) / h)
    longer = larger(1e-6, 1e-3 * h) if steepest <= 1e-15 else (0.01 / steepest) ** (1 / 8)
    return smaller(smaller(100 * h, longer), run.max_step)  # type: ignore[no-any-return]


@native
def project(run: RunRecord, kernel: int, y: Array, y_low: Array) -> bool:
    """y onto the constraints, positions first, then velocities; False when a residual is not finite."""
    n, out = run.n, at(run.out)
    stale = True
    for part in range(2):
        tolerance = run.position_tol if part == 0 else run.velocity_tol
        for turn in range(4):
            if stale:
                call(kernel, out, y, at(run.work))
                stale = False
            if not out[2 * n + part] <= HUGE:
                return False
            if out[2 * n + part] <= tolerance:
                break
            if turn == 3:
                run.misses += 1
                run.left = larger(run.left, out[2 * n + part])
                break
            for i in range(part * n, part * n + n):
                y[1 + i], y_low[i] = two_sum(y[1 + i], y_low[i] + out[i])
            run.projections += 1
            stale = True
    return True


@native
def prepare_dense(run: Record, h: Number) -> None:
    """The coefficients of the interpolant, from all sixteen stages."""
    n, now, new, c = run.n, of(h, run.now), of(h, run.new), of(h, run.dense)
    rows, f0 = of(h, run.sums), of(h, run.k)
    f1 = shift(f0, 12 * run.stride)
    combine(DENSE, rows, f0, run.stride, n)
    for i in range(n):
        v = n + i
        dq, dv = new[1 + i] - now[1 + i], new[1 + v] - now[1 + v]
        c[i], c[v] = dq, dv
        c[2 * n + i], c[2 * n + v] = h * now[1 + v] - dq, h * f0[i] - dv
        c[4 * n + i], c[4 * n + v] = 2 * dq - h * (now[1 + v] + new[1 + v]), 2 * dv - h * (f0[i] + f1[i])
    for r in range(4):
        for i in range(n):
            c[(6 + 2 * r) * n + i] = h * h * rows[(4 + r) * n + i]
            c[(7 + 2 * r) * n + i] = h * rows[r * n + i]


@native
def interpolate(run: Record, h: Number, t_low: Number, theta: Number) -> None:
    """x = the state at t + θh by the interpolant of order 7."""
    m, now, x, c, rest = 2 * run.n, of(h, run.now), of(h, run.x), of(h, run.dense), 1.0 - theta
    x[0] = now[0] + (t_low + theta * h)
    for i in range(m):
        high = c[3 * m + i] + theta * (c[4 * m + i] + rest * (c[5 * m + i] + theta * c[6 * m + i]))
        far = c[i] + rest * (c[m + i] + theta * (c[2 * m + i] + rest * high))
        x[1 + i] = now[1 + i] + theta * far


@native
def slope_at(run: Record, h: Number, theta: Number) -> None:
    """The first rows of sums = the interpolant's v̇ at t + θh: how far the motion inside the step obeys its equation."""
    n, m, c, f, rest = run.n, 2 * run.n, of(h, run.dense), of(h, run.sums), 1.0 - theta
    for i in range(n):
        v = n + i
        # The nested sum of `interpolate` from inside out, each time with its derivative by θ.
        d5 = c[6 * m + v]
        u5 = c[5 * m + v] + theta * d5
        u4, d4 = c[4 * m + v] + rest * u5, rest * d5 - u5
        u3, d3 = c[3 * m + v] + theta * u4, u4 + theta * d4
        u2, d2 = c[2 * m + v] + rest * u3, rest * d3 - u3
        u1, d1 = c[m + v] + theta * u2, u2 + theta * d2
        u0, d0 = c[v] + rest * u1, rest * d1 - u1
        f[i] = (u0 + theta * d0) / h


@native
def read(run: RunRecord, h: float, theta: float) -> None:
    """x = the state at t + θh as it is handed out: interpolated, and projected if there is a projection."""
    interpolate(run, h, run.t_low, theta)
    if run.projection != 0:
        x_low = at(run.x_low)
        for i in range(2 * run.n):
            x_low[i] = 0.0
        project(run, run.projection, at(run.x), x_low)
