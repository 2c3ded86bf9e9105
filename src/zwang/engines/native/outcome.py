"""What becomes of a step that was tried: refused, filled for what lies inside it, accepted; and what is saved of it.

Native functions, for a run and for a group of lanes: `which` are the lanes in which it is so, and true for a run.
"""

from zwang.compile.restricted import Array, Number, Record, Truth, native
from zwang.compile.restricted.memory import at
from zwang.engines.native.control import next_size
from zwang.engines.native.numbers import bits, choose, larger, of, smaller, two_sum, width
from zwang.engines.native.pivots import grow
from zwang.engines.native.quadrature import prepare_work, work_at, work_of
from zwang.engines.native.record import RunRecord
from zwang.engines.native.step import FIRST_DENSE, LAST_DENSE, QUIET, finite, prepare_dense, quiet, stages


@native
def refuse(run: Record, which: Truth, h: Number, factor: Number) -> None:
    """The step has to be tried again, smaller; its first slope still stands in k[0]."""
    run.rejected += choose(which, 1, 0)
    run.h = choose(which, abs(h) * factor, run.h)
    run.held = choose(which, 1, run.held)


@native
def fill(run: Record, h: Number, t_low: Number) -> Truth:
    """The motion inside the step, from its further stages; whether these are finite."""
    stages(run, h, t_low, FIRST_DENSE, LAST_DENSE)
    good = finite(run, h, FIRST_DENSE, LAST_DENSE)
    prepare_dense(run, h)
    for j in range(run.powers):
        prepare_work(run, h, j)
    return good


@native
def work_until(run: Record, theta: Number) -> Number:
    """The work of all forces up to a place inside the step that was filled; of jumps only, if no more is asked for."""
    inside = run.worked_low + work_at(run, theta, 0) if run.powers != 0 else 0.0 * theta
    return run.worked + inside  # type: ignore[no-any-return]  # a record's field


@native
def accept(run: Record, which: Truth, h: Number, error: Number, t_low: Number) -> Truth:
    """The end of the step becomes the state, its slope the first of the next step; the next size is chosen.

    Whether a pivot is larger there than ever before.
    """
    n, now, low, k = run.n, of(h, run.now), of(h, run.low), of(h, run.k)
    new, new_low, end = of(h, run.new), of(h, run.new_low), 12 * run.stride
    for i in range(1 + 2 * n):
        now[i] = choose(which, new[i], now[i])
    for i in range(2 * n):
        low[i] = choose(which, new_low[i], low[i])
    if run.powers != 0:
        change = work_of(run, h, 0)
        worked, lost = two_sum(run.worked, run.worked_low + change)
        run.turned += choose(which, abs(change), 0.0)
        run.worked = choose(which, worked, run.worked)
        run.worked_low = choose(which, lost, run.worked_low)
    for i in range(n + run.pivots + run.powers):
        k[i] = choose(which, k[end + i], k[i])
    grown = grow(run, which, run.volume)
    run.t_low = choose(which, t_low, run.t_low)
    run.accepted += choose(which, 1, 0)
    size, still = next_size(abs(h), run.h, error, run.error, run.held), which & (error < QUIET)
    if bits(still) != 0:
        size = choose(still & quiet(run, h, error), smaller(size, run.quiet_step), size)
    run.h = choose(which, size, run.h)
    run.error = choose(which, larger(error, 1e-4), run.error)
    run.held = choose(which, 0, run.held)
    return grown


@native
def save(run: RunRecord, like: Number, y: Array, f: Array, size: float, work: float) -> None:
    """One requested time of a run is done: the state, its slope in a step of some size, and the work up to it.

    If such numbers are in lanes, y and f begin at the lane of the run.
    """
    n, q, v, slope, apart = run.n, at(run.q), at(run.v), at(run.slope), width(like)
    for i in range(n):
        q[run.saved * n + i] = y[(1 + i) * apart]
        v[run.saved * n + i] = y[(1 + n + i) * apart]
        slope[run.saved * n + i] = f[i * apart]
    at(run.size)[run.saved] = size
    at(run.done)[run.saved] = work
    run.saved += 1
