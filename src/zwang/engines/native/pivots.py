"""Pivots along a step: how low they are, and whether one may vanish between two stages.

Native functions. What all lanes of a group are asked in every step is written once for a run and for a group; the rest
is for one run, and a lane in which it is needed asks for it by itself: in lanes it would be paid for in every step.
"""

import math
from typing import Final

import numpy as np

from zwang.compile.restricted import Array, Number, Record, Truth, native, seldom_native
from zwang.compile.restricted.memory import at, shift
from zwang.engines.native.numbers import alike, bits, choose, larger, of, smaller
from zwang.engines.native.record import RunRecord
from zwang.engines.native.step import HUGE, NODES

COMPARED: Final = np.array([0, 3, 5, 9, 10, 12])
"""Stages that are well apart in time, in order: where pivots are compared."""

DIP, DEEP = 0.3, 0.5  # shares
"""A pivot may vanish inside a step if one falls below the first share of those at its ends, or a parabola falls below
the second share of those it goes through."""

STEEP: Final = 0.25
"""A pivot that changes by more than this share within a step, so its root by a half, is not resolved by it."""

EVEN: Final = 0.4
"""Where no pivot of a step is below this share of its largest, neither `dips` nor `hides` can find one: the parabola
through three of them falls to half of the least only if that is below 0.37 of the largest."""

IN_TIME: Final = np.array([0, 1, 2, 3, 6, 4, 7, 5, 9, 8, 10, 12])
"""All stages in the order of their times, the end of the step last."""

MEET: Final = 0.3
"""Two lines that meet below this share of the roots beside them say that a pivot may vanish between."""


@native
def grow(run: Record, which: Truth, largest: Number) -> Truth:
    """Pivots are judged by what is large along the run: a start beside a singular position says nothing about them.

    Whether one of those in k[0], at the state, is larger than ever. The largest volume so far is given.
    """
    n, row, scale, product = run.n, of(largest, run.k), of(largest, run.pivot_scale), alike(largest, 1.0)
    grown = largest > math.inf  # nowhere yet
    for j in range(run.growing):
        pivot, before = row[n + j], scale[j]
        more = which & (pivot > before) & (pivot <= HUGE)
        if bits(more) != 0:
            scale[j] = choose(more, pivot, before)
            largest = largest * (before / scale[j])
            grown |= more
    if run.zone > 0.0:
        for j in range(run.growing):
            product = product * (row[n + j] / scale[j])
        largest = choose(which & (product > largest), product, largest)
    run.volume = largest
    return grown


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
def extremes(run: Record, lowest: Number, last: int) -> tuple[Number, Number, Truth, Truth]:
    """The lowest pivot of a step in units of its scale, from its stages up to one; that of the growing ones.

    And whether each keeps above EVEN of its largest value, and each growing one above STEEP. What is not a number is
    lower than all; so far the lowest is the one given.
    """
    n, stride, k, scale = run.n, run.stride, of(lowest, run.k), of(lowest, run.pivot_scale)
    least, even, steady = alike(lowest, math.inf), lowest == lowest, lowest == lowest
    for j in range(run.pivots):
        per_scale = 1.0 / scale[j]
        low = k[n + j] * per_scale
        high, total = low, low
        for s in range(1, last + 1):
            pivot = k[s * stride + n + j] * per_scale
            low, high, total = smaller(low, pivot), larger(high, pivot), total + pivot
        low = choose(abs(total) <= HUGE, low, -math.inf)
        lowest = smaller(lowest, low)
        even &= low >= EVEN * high
        if j < run.growing:
            steady &= low >= STEEP * high
            least = smaller(least, low)
    return lowest, least, even, steady


@native
def survey(run: RunRecord, last: int) -> int:
    """`lowest` of a step, from its stages up to one; 1 if a pivot varies so much that it may vanish between them.

    It is 2 if one of the `growing` pivots, whose root is straight near a zero, changes more than a step can resolve,
    and the volume, too.
    """
    lowest, _, even, steady = extremes(run, run.lowest, last)
    run.lowest = lowest
    if even:
        return 0
    return 1 if steady or not unsteady(run, last) else 2


@native
def may_vanish(run: RunRecord, shape: int) -> bool:
    """Whether a pivot may vanish between two stages of a step that `survey` has found to be of this shape."""
    return shape > 0 and (shape == 2 or dips(run) or hides(run))


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
        for i in range(len(COMPARED) - 2):
            a, b, c = NODES[COMPARED[i]], NODES[COMPARED[i + 1]], NODES[COMPARED[i + 2]]
            pa = k[COMPARED[i] * stride + n + j] / scale[j]
            pb = k[COMPARED[i + 1] * stride + n + j] / scale[j]
            pc = k[COMPARED[i + 2] * stride + n + j] / scale[j]
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
            for g in range(len(IN_TIME) - 1):
                a = math.sqrt(abs(k[IN_TIME[g] * stride + n + j]))
                b = math.sqrt(abs(k[IN_TIME[g + 1] * stride + n + j]))
                width = NODES[IN_TIME[g + 1]] - NODES[IN_TIME[g]]
                falls, rises = 0.0, 0.0
                if g > 0:
                    before = math.sqrt(abs(k[IN_TIME[g - 1] * stride + n + j]))
                    falls = (before - a) / (NODES[IN_TIME[g]] - NODES[IN_TIME[g - 1]])
                if g < len(IN_TIME) - 2:
                    after = math.sqrt(abs(k[IN_TIME[g + 2] * stride + n + j]))
                    rises = (after - b) / (NODES[IN_TIME[g + 2]] - NODES[IN_TIME[g + 1]])
                if g == 0:
                    falls = rises
                if g == len(IN_TIME) - 2:
                    rises = falls
                if falls > 0.0 and rises > 0.0:
                    x = (a - b + rises * width) / (falls + rises)
                    if x >= 0.0 and x <= width and a - falls * x < MEET * smaller(a, b):
                        return True
    return False
