"""One step of DOP853 for q̈ = f(t, q, q̇): stages, error, first size, pivots, projection, interpolation.

Native functions (`compile.restricted`); each takes the record of a run and works in the arrays it points to.
"""

import math
from typing import Final

import numpy as np

from zwang.compile.restricted import Array, native, seldom_native
from zwang.engines.native import tableau as dop853
from zwang.engines.native.record import RunRecord
from zwang.engines.native.stage_kernels import DENSE, ERROR, at, call, combine, shift, stage, two_sum

EPS: Final = float(np.finfo(float).eps)
HUGE: Final = float(np.finfo(float).max)
TINY: Final = 1e-290

NODES: Final = np.array(dop853.C)

LOOKS: Final = np.array([0, 3, 5, 9, 10, 12])
"""Stages that are well apart in time, in order: where pivots are compared."""

DIP, DEEP = 0.3, 0.5  # shares
"""A pivot may vanish inside a step if one falls below the first share of those at its ends, or a parabola falls below
the second share of those it goes through."""

STEEP: Final = 0.25
"""A pivot that changes by more than this share within a step, so its root by a half, is not resolved by it."""

EVEN: Final = 0.7
"""A pivot that keeps above this share of its largest value is far from vanishing."""

ORDER: Final = np.array([0, 1, 2, 3, 6, 4, 7, 5, 9, 8, 10, 12])
"""All stages in the order of their times, the end of the step last."""

MEET: Final = 0.3
"""Two lines that meet below this share of the roots beside them say that a pivot may vanish between."""

QUIET: Final = 1e-2
"""Only a step whose error is below this, in units of the tolerance, may be a quiet one."""

SAYS_NOTHING: Final = 1e-6
"""An error that would be no larger than this for the longest step allowed says nothing of the size that is needed."""

ROUNDING: Final = EPS
"""Nor does one that is no larger than this share of the velocity gained in the step."""

FIRST, LAST, END, FIRST_DENSE, LAST_DENSE = 1, 11, 12, 13, 15


@native
def larger(a: float, b: float) -> float:
    """The larger of two numbers; b if one of them is NaN."""
    return a if a > b else b


@native
def smaller(a: float, b: float) -> float:
    """The smaller of two numbers; b if one of them is NaN."""
    return a if a < b else b


@native
def square(a: float) -> float:
    """a²."""
    return a * a


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
def grow(run: RunRecord, row: Array, x: Array) -> None:
    """Pivots are judged by what is large along the run: a start beside a singular position says nothing about them."""
    n, scale, best = run.n, at(run.pivot_scale), at(run.best)
    larger_now = False
    for j in range(run.growing):
        if row[n + j] > scale[j] and row[n + j] <= HUGE:
            run.volume *= scale[j] / row[n + j]
            scale[j] = row[n + j]
            larger_now = True
    if run.zone > 0.0:
        run.volume = larger(volume(run, shift(row, n), scale), run.volume)
    if larger_now:
        for i in range(1 + 2 * n):
            best[i] = x[i]


@native
def volume(run: RunRecord, pivots: Array, units: Array) -> float:
    """The product of the growing pivots, in some units: det A M⁻¹Aᵀ.

    A pivot is what earlier rows leave of one, so it depends on their order: where masses differ much, one pivot falls
    as another rises, and the rows are as independent as before. Their product does not depend on it.
    """
    product = 1.0
    for j in range(run.growing):
        product *= pivots[j] / units[j]
    return product


@seldom_native
def unsteady(run: RunRecord, last: int) -> bool:
    """Whether the volume changes more in a step, from its stages up to one, than it can resolve."""
    n, stride, k, low, high = run.n, run.stride, at(run.k), 1.0, 1.0
    for s in range(1, last + 1):
        now = volume(run, shift(k, s * stride + n), shift(k, n))
        low, high = smaller(low, now), larger(high, now)
    return not low >= STEEP * high


@native
def survey(run: RunRecord, last: int) -> int:
    """`lowest` of a step, from its stages up to one; 1 if a pivot varies so much that it may vanish between them.

    Where none falls below EVEN of its largest value, neither `dips` nor `hides` can find anything. It is 2 if one of
    the `growing` pivots, whose root is straight near a zero, changes more than a step can resolve, and the volume, too.
    """
    n, stride, k, scale, shape, steep = run.n, run.stride, at(run.k), at(run.pivot_scale), 0, False
    for j in range(run.pivots):
        per_scale = 1.0 / scale[j]
        low = k[n + j] * per_scale
        high, total = low, low
        for s in range(1, last + 1):
            pivot = k[s * stride + n + j] * per_scale
            low, high, total = smaller(low, pivot), larger(high, pivot), total + pivot
        if not abs(total) <= HUGE:
            low = -math.inf
        run.lowest = smaller(run.lowest, low)
        if not low >= EVEN * high:
            shape = 1
            steep |= j < run.growing and low < STEEP * high
    return 2 if steep and unsteady(run, last) else shape


@native
def dips(run: RunRecord) -> bool:
    """Whether a pivot may vanish between two stages: then the step has to be made shorter.

    A pivot is a square and touches zero without changing sign, so a long step may have it large at all stages and
    zero between them. Two things call for a closer look: a pivot much lower inside the step than at its ends, and a
    parabola through neighbouring stages whose vertex lies inside and well below them. Near a pivot that only comes
    near zero, shorter steps find it flat.
    """
    n, stride, k, scale = run.n, run.stride, at(run.k), at(run.pivot_scale)
    for j in range(run.pivots):
        ends = smaller(k[n + j] / scale[j], k[12 * stride + n + j] / scale[j])
        for i in range(len(LOOKS) - 2):
            a, b, c = NODES[LOOKS[i]], NODES[LOOKS[i + 1]], NODES[LOOKS[i + 2]]
            pa = k[LOOKS[i] * stride + n + j] / scale[j]
            pb = k[LOOKS[i + 1] * stride + n + j] / scale[j]
            pc = k[LOOKS[i + 2] * stride + n + j] / scale[j]
            if pb < DIP * ends:
                return True
            first, second = (pb - pa) / (b - a), (pc - pb) / (c - b)
            curvature = (second - first) / (c - a)
            if curvature > 0.0:
                vertex = 0.5 * (a + b - first / curvature)
                least = pa + (vertex - a) * (first + curvature * (vertex - b))
                if a < vertex < c and least < DEEP * smaller(pa, smaller(pb, pc)):
                    return True
    return False


@native
def hides(run: RunRecord) -> bool:
    """Whether the root of a pivot falls before a gap between stages and rises after it, in lines that meet near zero.

    Where a pivot vanishes, its root is straight on either side. At the ends of the step the one line is mirrored.
    """
    n, stride, k = run.n, run.stride, at(run.k)
    for j in range(run.pivots):
        low = abs(k[n + j])
        high = low
        for s in range(1, 13):
            size = abs(k[s * stride + n + j])
            low, high = smaller(low, size), larger(high, size)
        if low < 0.15 * high:
            for g in range(len(ORDER) - 1):
                a = math.sqrt(abs(k[ORDER[g] * stride + n + j]))
                b = math.sqrt(abs(k[ORDER[g + 1] * stride + n + j]))
                width = NODES[ORDER[g + 1]] - NODES[ORDER[g]]
                falls, rises = 0.0, 0.0
                if g > 0:
                    before = math.sqrt(abs(k[ORDER[g - 1] * stride + n + j]))
                    falls = (before - a) / (NODES[ORDER[g]] - NODES[ORDER[g - 1]])
                if g < len(ORDER) - 2:
                    after = math.sqrt(abs(k[ORDER[g + 2] * stride + n + j]))
                    rises = (after - b) / (NODES[ORDER[g + 2]] - NODES[ORDER[g + 1]])
                if g == 0:
                    falls = rises
                if g == len(ORDER) - 2:
                    rises = falls
                if falls > 0.0 and rises > 0.0:
                    x = (a - b + rises * width) / (falls + rises)
                    if x >= 0.0 and x <= width and a - falls * x < MEET * smaller(a, b):
                        return True
    return False


@native
def stages(run: RunRecord, h: float, first: int, last: int) -> None:
    """The stages first … last of a step of size h. What is not finite in one of them shows in the error of the step.

    Nothing is looked at on the way: to read a slope right after the kernel has written it costs as much as a stage.
    """
    n, stride, now, low, x, x_low, k = run.n, run.stride, at(run.now), at(run.low), at(run.x), at(run.x_low), at(run.k)
    for s in range(first, last + 1):
        stage(s, x, x_low, now, low, h, k, stride, n)
        x[0] = now[0] + (run.t_low + NODES[s] * h)
        call(run.acceleration, shift(k, s * stride), x, at(run.work))
    run.evaluations += last + 1 - first


@native
def finite(run: RunRecord, first: int, last: int) -> bool:
    """Whether the accelerations of all stages from `first` to `last` are finite."""
    k, good = at(run.k), True
    for s in range(first, last + 1):
        for i in range(run.n):
            good &= abs(k[s * run.stride + i]) <= HUGE
    return good


@native
def finish(run: RunRecord, h: float) -> float:
    """The end of the step, and the error in units of the tolerance: Hairer's blend of orders 5 and 3."""
    n, now, new, rows, rtol, atol = run.n, at(run.now), at(run.new), at(run.sums), at(run.rtol), at(run.atol)
    stage(12, new, at(run.new_low), now, at(run.low), h, at(run.k), run.stride, n)
    combine(ERROR, rows, at(run.k), run.stride, n)
    fifth = third = 0.0
    for i in range(n):
        v = n + i
        per_q = h / unit(atol[i], rtol[i], larger(abs(now[1 + i]), abs(new[1 + i])))
        per_v = 1.0 / unit(atol[v], rtol[v], larger(abs(now[1 + v]), abs(new[1 + v])))
        fifth += square(rows[i] * per_v) + square(rows[2 * n + i] * per_q)
        third += square(rows[n + i] * per_v) + square(rows[3 * n + i] * per_q)
    if fifth == 0.0:
        return 0.0
    return abs(h) * fifth / math.sqrt((fifth + 0.01 * third) * (2 * n))


@native
def quiet(run: RunRecord, h: float, error: float) -> bool:
    """Whether the error of a step says nothing of the size that is needed.

    It would be as small for the longest step, too, or is rounding.

    A body that moves freely is such a case, and a step could grow without bound and past a force that acts briefly.
    """
    n, now, f, rtol, atol, largest = run.n, at(run.now), at(run.k), at(run.rtol), at(run.atol), 0.0
    if error * eighth_power(run.max_step / h) < SAYS_NOTHING:
        return True
    for i in range(n):
        largest = larger(largest, abs(f[i]) / unit(atol[n + i], rtol[n + i], abs(now[1 + n + i])))
    return error <= ROUNDING * abs(h) * largest


@native
def eighth_power(a: float) -> float:
    """a⁸."""
    return square(square(square(a)))


@native
def unit(atol: float, rtol: float, size: float) -> float:
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
    return smaller(smaller(100 * h, longer), run.max_step)


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
def prepare_dense(run: RunRecord, h: float) -> None:
    """The coefficients of the interpolant, from all sixteen stages."""
    n, now, new, c, rows, f0 = run.n, at(run.now), at(run.new), at(run.dense), at(run.sums), at(run.k)
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
def interpolate(run: RunRecord, h: float, theta: float) -> None:
    """x = the state at t + θh by the interpolant of order 7."""
    m, now, x, c, rest = 2 * run.n, at(run.now), at(run.x), at(run.dense), 1.0 - theta
    x[0] = now[0] + (run.t_low + theta * h)
    for i in range(m):
        high = c[3 * m + i] + theta * (c[4 * m + i] + rest * (c[5 * m + i] + theta * c[6 * m + i]))
        most = c[i] + rest * (c[m + i] + theta * (c[2 * m + i] + rest * high))
        x[1 + i] = now[1 + i] + theta * most


@native
def slope_at(run: RunRecord, h: float, theta: float, f: Array) -> None:
    """f = the interpolant's v̇ at t + θh: how far the motion between the stages obeys its equation."""
    n, m, c, rest = run.n, 2 * run.n, at(run.dense), 1.0 - theta
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
    interpolate(run, h, theta)
    if run.projection != 0:
        x_low = at(run.x_low)
        for i in range(2 * run.n):
            x_low[i] = 0.0
        project(run, run.projection, at(run.x), x_low)
