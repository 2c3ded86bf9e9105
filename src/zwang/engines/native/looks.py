"""Looks at events within a step: their values at one place, at the points of a panel, on the way to a zero; its note.

Native functions (`compile.restricted`); each takes the record of a run and works in the arrays it points to.
"""

from typing import Final

from zwang.arrays import EPS
from zwang.compile.restricted import Array, Number, Record, Truth, native
from zwang.compile.restricted.memory import at, call, shift
from zwang.engines.native.numbers import larger, of
from zwang.engines.native.panel import LAST_POINT, PANEL_NODES
from zwang.engines.native.record import PANEL_POINTS, RunRecord
from zwang.engines.native.step import interpolate

FINEST: Final = 16 * EPS  # width of the last panels, in units of time
SAME_WITHIN: Final = 64.0
"""What fires again within so many last widths, where time is not fine enough, is the same zero."""


@native
def state_at(run: RunRecord, h: float, theta: float) -> None:
    """x = the state at t + θh, by the interpolant of the step or by the polynomial of a piece from elsewhere."""
    if run.degree == 0:
        interpolate(run, h, run.t_low, theta)
    else:
        m, x, c, u = 2 * run.n, at(run.x), at(run.piece), 2.0 * theta - 1.0
        x[0] = at(run.now)[0] + (run.t_low + theta * h)
        for i in range(m):
            near = far = 0.0
            for r in range(run.degree - 1):
                near, far = c[(run.degree - r) * m + i] + 2 * u * near - far, near
            x[1 + i] = c[i] + theta * (c[m + i] + u * near - far)


@native
def look(run: RunRecord, h: float, theta: float, out: Array) -> None:
    """out = the events at t + θh."""
    if theta == 1.0:
        call(run.event, out, at(run.new), at(run.work))
    else:
        state_at(run, h, theta)
        call(run.event, out, at(run.x), at(run.work))


@native
def finest(run: Record, h: Number, theta: Number) -> Number:
    """The width of the last panels at θ."""
    return FINEST * (abs(of(h, run.now)[0] / h) + theta + 1e-9)


@native
def root(run: RunRecord, h: float, j: int, a: float, fa: float, b: float, fb: float) -> float:
    """θ in (a, b] where event j has reached zero, to the last bit of time.

    The ITP method of Oliveira and Takahashi (2020): as fast as the secant method, at worst bisection.
    """
    value = at(run.value)
    reach = 2 * (b - a)
    tolerance = 0.5 * EPS * (abs(at(run.now)[0] / h) + a + 1e-9)
    while b - a > tolerance:
        middle, secant, width = 0.5 * (a + b), (b * fa - a * fb) / (fa - fb), b - a
        toward = 1.0 if middle > secant else -1.0
        nudge = width * width
        theta = secant + toward * nudge if nudge <= abs(middle - secant) else middle
        radius = larger(0.0, reach - 0.5 * width)
        if not abs(theta - middle) <= radius:
            theta = middle - toward * radius
        if not a < theta < b:
            theta = middle
            if not a < theta < b:
                break
        reach *= 0.5
        look(run, h, theta, value)
        if value[j] * fa > 0.0:
            a, fa = theta, value[j]
        else:
            b, fb = theta, value[j]
    return b


@native
def sample(run: RunRecord, h: float, a: float, b: float, first: int, out: Array) -> None:
    """Events at the points of a panel from a to b, from the point `first` on."""
    for i in range(first, PANEL_POINTS):
        look(run, h, b if i == LAST_POINT else a + PANEL_NODES[i] * (b - a), shift(out, i * run.events))


@native
def catch(run: RunRecord, j: int, theta: float, side: float) -> None:
    """Event j fires at θ, coming from a side: into the list of the panel, in order of time."""
    roots, which, come_from = at(run.roots), at(run.which), at(run.come_from)
    slot = run.caught
    while slot > 0 and roots[slot - 1] > theta:
        roots[slot], which[slot], come_from[slot] = roots[slot - 1], which[slot - 1], come_from[slot - 1]
        slot -= 1
    roots[slot], which[slot], come_from[slot] = theta, j, side
    run.caught += 1


@native
def recently(run: Record, h: Number, j: int, theta: Number) -> Truth:
    """Whether event j has fired right before θ."""
    since = of(h, run.now)[0] + theta * h - of(h, run.fired)[j]
    return abs(since) <= SAME_WITHIN * finest(run, h, theta) * abs(h)
