"""The work of forces in all lanes of a group at once: what `quadrature` does for one run, in the same order."""

from zwang.compile.restricted import Lanes, native
from zwang.engines.native import tableau as dop853
from zwang.engines.native.lanes.group import Group, Own
from zwang.engines.native.lanes.step import rows
from zwang.engines.native.quadrature import DENSE, WEIGHTS


@native
def work_of(group: Group) -> Lanes:
    """The work done in the step."""
    k, place, h = rows(group.k), group.n + group.pivots, rows(group.own)[Own.STEP]
    total = h * 0.0
    for s in range(len(WEIGHTS)):
        total += WEIGHTS[s] * k[s * group.stride + place]
    return h * total


@native
def prepare_work(group: Group) -> None:
    """The coefficients of the work inside the step, behind those of the states."""
    k, place, c, h = rows(group.k), group.n + group.pivots, 14 * group.n, rows(group.own)[Own.STEP]
    dense, first, last, done = rows(group.dense), k[place], k[12 * group.stride + place], work_of(group)
    dense[c], dense[c + 1], dense[c + 2] = done, h * first - done, 2 * done - h * (first + last)
    for r in range(4):
        total = h * 0.0
        for s in range(dop853.EXTENDED):
            total += DENSE[r * dop853.EXTENDED + s] * k[s * group.stride + place]
        dense[c + 3 + r] = h * total


@native
def work_at(group: Group, theta: Lanes) -> Lanes:
    """The work up to t + θh."""
    c, i, own, rest = rows(group.dense), 14 * group.n, rows(group.own), 1.0 - theta
    high = c[i + 3] + theta * (c[i + 4] + rest * (c[i + 5] + theta * c[i + 6]))
    inside = theta * (c[i] + rest * (c[i + 1] + theta * (c[i + 2] + rest * high)))
    return own[Own.WORKED] + (own[Own.WORKED_LOW] + inside)
