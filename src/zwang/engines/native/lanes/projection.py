"""States of all lanes onto their constraints, each as far as it needs: what `step.project` does for one run.

Native functions. A lane that is on its constraints, or is not meant, stays as it is while others are corrected.
"""

from zwang.compile.restricted import Mask, Rows, native
from zwang.compile.restricted.memory import call
from zwang.engines.native.lanes.group import Group
from zwang.engines.native.lanes.step import rows
from zwang.engines.native.numbers import bits, choose, larger, two_sum
from zwang.engines.native.step import HUGE


@native
def project(group: Group, y: Rows, y_low: Rows, which: Mask) -> Mask:
    """y of some lanes onto the constraints, positions first, then velocities; the lanes whose residuals are finite."""
    n, out, good, stale = group.n, rows(group.out), which, True
    for part in range(2):
        tolerance, off = group.position_tol if part == 0 else group.velocity_tol, good
        for turn in range(4):
            if stale:
                call(group.projection, out, y, rows(group.work))
                stale = False
            residual = out[2 * n + part]
            good &= (residual <= HUGE) | ~off
            off &= good & (residual > tolerance)
            if bits(off) == 0:
                break
            if turn == 3:
                group.misses += choose(off, 1, 0)
                group.left = choose(off, larger(group.left, residual), group.left)
                break
            for i in range(part * n, part * n + n):
                high, low = two_sum(y[1 + i], y_low[i] + out[i])
                y[1 + i] = choose(off, high, y[1 + i])
                y_low[i] = choose(off, low, y_low[i])
            group.projections += choose(off, 1, 0)
            stale = True
    return good


@native
def project_inside(group: Group, which: Mask) -> None:
    """x of some lanes, an interpolated state, onto the constraints."""
    x_low = rows(group.x_low)
    for i in range(2 * group.n):
        x_low[i] = 0.0 * group.step
    project(group, rows(group.x), x_low, which)
