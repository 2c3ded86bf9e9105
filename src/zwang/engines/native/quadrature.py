"""The work of forces along the motion, as accurate as the motion: what changes its energy is one more slope.

Native functions, for a run and for a group of lanes. The acceleration kernel gives the power behind the pivots. The
work depends on nothing but the stages that the step has anyway: it is a sum with the weights of the step, and between
its ends with those of the interpolant. Behind the power of all forces there may be those of some of them, for a run
alone: each is summed up by itself, and which they are is known to who asked.
"""

from typing import Final

import numpy as np

from zwang.compile.restricted import Number, Record, native
from zwang.compile.restricted.memory import at
from zwang.engines.native import tableau as dop853
from zwang.engines.native.numbers import alike, of
from zwang.engines.native.record import RunRecord

STEP_WEIGHTS: Final = np.array([dop853.A[dop853.STAGES].get(s, 0.0) for s in range(dop853.STAGES)])
DENSE_WEIGHTS: Final = np.array([row.get(s, 0.0) for row in dop853.D for s in range(dop853.EXTENDED)])
"""(4 · EXTENDED) the rows of D, one after another."""


@native
def work_of(run: Record, h: Number, which: int) -> Number:
    """The work done in a step: of all forces, 0, or one of its parts."""
    k, place, total = of(h, run.k), run.n + run.pivots + which, alike(h, 0.0)
    for s in range(len(STEP_WEIGHTS)):
        total += STEP_WEIGHTS[s] * k[s * run.stride + place]
    return h * total


@native
def prepare_work(run: Record, h: Number, which: int) -> None:
    """The coefficients of the work inside the step, behind those of the state."""
    k, place, c = of(h, run.k), run.n + run.pivots + which, 14 * run.n + 7 * which
    dense, first, last, done = of(h, run.dense), k[place], k[12 * run.stride + place], work_of(run, h, which)
    dense[c], dense[c + 1], dense[c + 2] = done, h * first - done, 2 * done - h * (first + last)
    for r in range(4):
        total = alike(h, 0.0)
        for s in range(dop853.EXTENDED):
            total += DENSE_WEIGHTS[r * dop853.EXTENDED + s] * k[s * run.stride + place]
        dense[c + 3 + r] = h * total


@native
def work_at(run: Record, theta: Number, which: int) -> Number:
    """The work done in the step up to t + θh."""
    c, i, rest = of(theta, run.dense), 14 * run.n + 7 * which, 1.0 - theta
    high = c[i + 3] + theta * (c[i + 4] + rest * (c[i + 5] + theta * c[i + 6]))
    return theta * (c[i] + rest * (c[i + 1] + theta * (c[i + 2] + rest * high)))


@native
def keep_parts(run: RunRecord, theta: float) -> None:
    """Write down the parts of the work up to a place inside the step that was filled, or up to now if θ is zero.

    They are those of the requested time that was saved last.
    """
    count, parts, kept = run.powers - 1, at(run.parts), at(run.parts_done)
    for j in range(count):
        inside = work_at(run, theta, 1 + j) if theta != 0.0 else 0.0
        kept[(run.saved - 1) * count + j] = parts[j] + inside


@native
def add_parts(run: RunRecord, h: float, theta: float) -> None:
    """Add the parts of the work of a step, or of its beginning up to θ < 1."""
    parts = at(run.parts)
    for j in range(run.powers - 1):
        parts[j] += work_of(run, h, 1 + j) if theta == 1.0 else work_at(run, theta, 1 + j)
