"""A function on a panel, known by eight values: its Chebyshev series, and what the series says about zeros.

On a panel, −1 ≤ u ≤ 1, the values near Chebyshev's points give g = Σ c_k T_k(u), k = 0 … 7. As |T_k| ≤ 1, the first
coefficient tells the sign of a whole function where it outweighs all others: of g (no zero), of its slope (one zero at
most), of its bend (two at most). The last two coefficients tell what the series leaves out: where they are not small,
nothing is believed. A function that varies faster than the points are apart has large coefficients all along, and a
jump, a kink or a pole has them on every panel that holds it, so none of them passes for smooth.

Native functions (`compile.restricted`), for one run and for a group of lanes.
"""

from typing import Final

import numpy as np

from zwang.compile.restricted import Array, Entry, Numbers, Truth, native
from zwang.engines.native.numbers import alike, choose, larger
from zwang.engines.native.record import PANEL_POINTS

LAST_POINT: Final = PANEL_POINTS - 1

_PLACES = -np.cos(np.pi * np.arange(PANEL_POINTS) / LAST_POINT)
_PLACES += 0.08 * (1 - _PLACES**2)  # not alike on both sides, or what is symmetric could hide
PANEL_NODES: Final = (1 + _PLACES) / 2
"""Where on a panel from 0 to 1 a function is looked at."""

SERIES: Final = np.ravel(np.linalg.inv(np.polynomial.chebyshev.chebvander(_PLACES, LAST_POINT)))
"""(8, 8) from values to coefficients."""

# What the two last coefficients weigh against the first one of g, of its slope and of its bend. Next to a kink they are
# a tenth of the others however small the panel; and those left out have slopes and bends that grow with the square and
# the fourth power of their number.
IN_VALUE, IN_SLOPE, IN_BEND = 100.0, 500.0, 1500.0


@native
def series(c: Numbers, values: Numbers, apart: int) -> None:
    """The coefficients of a function whose values are so far apart in memory."""
    for k in range(PANEL_POINTS):
        total = alike(values[0], 0.0)
        for i in range(PANEL_POINTS):
            total += SERIES[k * PANEL_POINTS + i] * values[i * apart]
        c[k] = total


@native
def derivative(d: Numbers, c: Numbers, last: int) -> None:
    """The coefficients of the derivative by u of a series whose last coefficient is c[last]."""
    d[last] = 0.0
    d[last - 1] = 2 * last * c[last]
    for i in range(1, last):
        k = last - i
        d[k - 1] = d[k + 1] + 2 * k * c[k]
    d[0] *= 0.5


@native
def tail(c: Numbers) -> Entry:
    """What a series may leave out: as much as its last two coefficients, or as those before them foretell."""
    last, before, first = abs(c[6]) + abs(c[7]), abs(c[4]) + abs(c[5]), abs(c[2]) + abs(c[3])
    return larger(choose(before < first, before * before / first, before), last)


@native
def outweighs(c: Numbers, last: int, slack: float, left_out: Entry) -> Truth:
    """Whether the first coefficient outweighs all others, times a slack, and what is left out."""
    others = alike(left_out, 0.0)
    for k in range(1, last + 1):
        others += abs(c[k])
    return abs(c[0]) > slack * others + left_out


@native
def value_at(c: Array, last: int, u: float) -> float:
    """The sum of a series, by Clenshaw's recurrence."""
    near = far = 0.0
    for i in range(last):
        near, far = c[last - i] + 2 * u * near - far, near
    return c[0] + u * near - far


@native
def extremum(d: Array, last: int, bend: float) -> float:
    """u in [−1, 1] where a function of slope d is lowest (bend > 0) or highest; its slope goes one way."""
    a, b = -1.0, 1.0
    if bend * value_at(d, last, a) >= 0.0:
        return a
    if bend * value_at(d, last, b) <= 0.0:
        return b
    while b - a > 1e-13:
        u = 0.5 * (a + b)
        if bend * value_at(d, last, u) < 0.0:
            a = u
        else:
            b = u
    return 0.5 * (a + b)
