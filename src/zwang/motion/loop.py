"""The step loop of DOP853 for q̈ = f(t, q, q̇), in machine code: no Python between the first step and the last.

Read from the bottom up: `advance` brings each sample's memory into local arrays, `_drive` is the loop, and the
functions above are its verbs. What the arrays mean is told in `stepper`, which is the way in for people.

Kernels are called by address, so the compiled loop depends on no model and numba keeps it on disk: it is
compiled once per machine.
"""

# numba infers the types of the functions below from their use and ships its decorators untyped.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, disallow-untyped-decorators=False

from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np
from numba import njit

from zwang.motion import dop853
from zwang.motion.sums import DENSE, ERROR, call, combine, pointer, shift, stage


class Status(IntEnum):
    """Why the loop came back. The state is always the last good one."""

    RUNNING = 0  #         the slice of attempts is used up: call again to go on
    FINISHED = 1  #        the end time is reached
    EVENT = 2  #           a terminal event: the state is the one at the event; call again to go on
    EVENTS_FULL = 3  #     the table of events is full: take its rows out, set `events` to 0, call again
    SINGULAR = 4  #        a pivot vanishes ahead: leap over the singular position, or report it
    NOT_FINITE = 5  #      the acceleration is infinite or not a number, however small the step
    STEP_TOO_SMALL = 6  #  the tolerance asks for steps below the resolution of time
    TOO_MANY_STEPS = 7  #  the limit of attempted steps is reached


RUNNING, FINISHED, EVENT, EVENTS_FULL, SINGULAR, NOT_FINITE, STEP_TOO_SMALL, TOO_MANY_STEPS = map(int, Status)

PLAN: Final = np.dtype(
    [
        ("coordinates", "i8"),
        ("parameters", "i8"),
        ("pivots", "i8"),
        ("events", "i8"),
        ("work", "i8"),
        ("acceleration", "i8"),
        ("event", "i8"),
        ("projection", "i8"),
        ("times", "i8"),
        ("event_rows", "i8"),
        ("step_limit", "i8"),
        ("max_step", "f8"),
        ("pivot_tol", "f8"),
        ("position_tol", "f8"),
        ("velocity_tol", "f8"),
    ]
)
"""What all samples share: sizes, addresses of kernels (0 for none), settings."""

RUN: Final = np.dtype(
    [
        ("status", "i8"),
        ("fresh", "i8"),  #        1: slope, pivots and event values have to be computed from the state
        ("accepted", "i8"),
        ("rejected", "i8"),
        ("evaluations", "i8"),
        ("saved", "i8"),  #        requested times written
        ("events", "i8"),  #       rows of the table of events written
        ("projections", "i8"),  #  corrections made by the projection kernel
        ("misses", "i8"),  #       projections that did not reach their tolerance
        ("caution", "i8"),  #      halvings of the step on the way to a vanishing pivot
        ("held", "i8"),  #         1: the last attempt failed, the next step must not grow
        ("trouble", "i8"),  #      the Status to give should the step become too small
        ("h", "f8"),  #            size of the next step; 0: to be chosen
        ("t_low", "f8"),  #        what t lost to round-off
        ("error", "f8"),  #        error of the last accepted step in units of the tolerance
        ("horizon", "f8"),  #      where the first step that met a vanishing pivot would have ended
        ("pivot", "f8"),  #        smallest pivot met, in units of its scale
        ("padding", "f8", 8),  #   samples belong to different threads: their cache lines are kept apart
    ]
)
"""What one sample remembers between calls, beside its state."""

# The step size follows h ∝ error_n^(-INTEGRAL) error_(n-1)^PROPORTIONAL (Gustafsson's PI control).
SAFETY: Final = 0.9
PROPORTIONAL: Final = 0.04
INTEGRAL: Final = 1 / 8 - 0.75 * PROPORTIONAL
SHRINK: Final = 1 / 3
GROW: Final = 6.0

PARTS: Final = 4  #     subintervals of a step searched for events
CAUTION: Final = 10  #  halvings before a vanishing pivot: it is then known to 1/1000 of a step
EPS: Final = float(np.finfo(float).eps)
HUGE: Final = float(np.finfo(float).max)
TINY: Final = 1e-290

NODES: Final = np.array(dop853.C)


class Desk(NamedTuple):
    """Where one sample is worked on: sizes, and addresses of arrays. States are packed as kernels read them.

    A thread's scratch: the state `now` = [t, q, v, p] and in `low` what rounding took from it, the end of the step,
    a state inside the step, the accelerations and pivots of the stages, …
    """

    n: Any
    stride: Any  #       of k
    now: Any  #          (1 + 2n + parameters)
    low: Any  #          (2n)
    new: Any
    new_low: Any
    x: Any
    x_low: Any
    k: Any  #            (16, stride): per stage [acceleration (n), pivots (g)]
    sums: Any  #         (8, n)
    dense: Any  #        (7, 2n): coefficients of the interpolant
    out: Any  #          (2n + 2): what the projection kernel gives
    values: Any  #       (PARTS + 1, e): event values along the step
    value: Any  #        (e)
    roots: Any  #        (PARTS · e): crossings in the step as fractions of it
    which: Any  #        (PARTS · e): and which event each is
    work: Any
    rtol: Any  #         (2n); from here on what all samples share
    atol: Any  #         (2n)
    pivot_scale: Any  #  (g)
    watch: Any  #        (2, e): direction and terminal
    times: Any  #        (T)
    q: Any  #            (T, n); from here on the sample's own results
    v: Any  #            (T, n)
    events: Any  #       (R, 2 + 2n): [t, which, q, v]


_verb = njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


# ── A step ───────────────────────────────────────────────────────────────────────────────────────────────────


@_verb
def _evaluate(plan, run, d, s, x):
    """k[s] = acceleration and pivots at x; False when an acceleration is not finite."""
    row = shift(d.k, s * d.stride)
    call(plan.acceleration, row, x, d.work)
    run.evaluations += 1
    finite = True
    for i in range(d.n):
        finite &= abs(row[i]) <= HUGE
    return finite


@_verb
def _stages(plan, run, d, h, which):
    """The given stages (first, last) of a step of size h; False when one of them is not finite."""
    for s in range(which[0], which[1] + 1):
        stage(s, d.x, d.x_low, d.now, d.low, h, d.k, d.stride, d.n)
        d.x[0] = d.now[0] + (run.t_low + NODES[s] * h)
        if not _evaluate(plan, run, d, s, d.x):
            return False
    return True


@_verb
def _unit(d, i, size):
    """One unit of error. Below a few ulps of the state no smaller step makes an error smaller."""
    return max(d.atol[i] + d.rtol[i] * size, 4 * EPS * size + TINY)


@_verb
def _error(d, h):
    """The error of the step in units of the tolerance: Hairer's blend of the estimates of order 5 and 3."""
    n = d.n
    combine(ERROR, d.sums, n, d.k, d.stride, n)
    fifth = third = 0.0
    for i in range(n):
        v = n + i
        unit_q = _unit(d, i, max(abs(d.now[1 + i]), abs(d.new[1 + i]))) / h
        unit_v = _unit(d, v, max(abs(d.now[1 + v]), abs(d.new[1 + v])))
        fifth += (d.sums[i] / unit_v) ** 2 + (d.sums[2 * n + i] / unit_q) ** 2
        third += (d.sums[n + i] / unit_v) ** 2 + (d.sums[3 * n + i] / unit_q) ** 2
    if fifth == 0.0:
        return 0.0
    return abs(h) * fifth / np.sqrt((fifth + 0.01 * third) * (2 * n))


@_verb
def _first_step(plan, run, d, sign):
    """Hairer's guess of the first step: an explicit Euler step tells the size of the second derivative."""
    n, now, f, x = d.n, d.now, d.k, d.x
    size = slope = bend = 0.0
    for i in range(n):
        q, v = now[1 + i], now[1 + n + i]
        unit_q, unit_v = _unit(d, i, abs(q)), _unit(d, n + i, abs(v))
        size += (q / unit_q) ** 2 + (v / unit_v) ** 2
        slope += (v / unit_q) ** 2 + (f[i] / unit_v) ** 2
    h = min(1e-6 if min(size, slope) <= 1e-10 else 0.01 * np.sqrt(size / slope), plan.max_step)
    x[0] = now[0] + sign * h
    for i in range(n):
        x[1 + i] = now[1 + i] + sign * h * now[1 + n + i]
        x[1 + n + i] = now[1 + n + i] + sign * h * f[i]
    if not _evaluate(plan, run, d, 1, x):
        return h
    for i in range(n):
        unit_q, unit_v = _unit(d, i, abs(now[1 + i])), _unit(d, n + i, abs(now[1 + n + i]))
        bend += (h * f[i] / unit_q) ** 2 + ((f[d.stride + i] - f[i]) / unit_v) ** 2
    steepest = max(np.sqrt(slope), np.sqrt(bend) / h)
    longer = max(1e-6, 1e-3 * h) if steepest <= 1e-15 else (0.01 / steepest) ** (1 / 8)
    return min(100 * h, longer, plan.max_step)


@_verb
def _lowest_pivot(plan, d, which):
    """The smallest pivot of the stages (first, last) in units of its scale; a NaN counts as smallest."""
    lowest = np.inf
    for s in range(which[0], which[1] + 1):
        for j in range(plan.pivots):
            ratio = d.k[s * d.stride + d.n + j] / d.pivot_scale[j]
            if not ratio >= lowest:
                lowest = ratio
    return lowest


@_verb
def _two_sum(a, b):
    """a + b rounded, and exactly what rounding took away."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@_verb
def _project(plan, run, d, y, y_low):
    """y onto the constraints, positions first, then velocities; False when a residual is not finite."""
    n, out = d.n, d.out
    stale = True
    for part in range(2):
        tolerance = plan.position_tol if part == 0 else plan.velocity_tol
        for turn in range(4):
            if stale:
                call(plan.projection, out, y, d.work)
                stale = False
            if not out[2 * n + part] <= HUGE:
                return False
            if out[2 * n + part] <= tolerance:
                break
            if turn == 3:
                run.misses += 1
                break
            for i in range(part * n, part * n + n):
                y[1 + i], y_low[i] = _two_sum(y[1 + i], y_low[i] + out[i])
            run.projections += 1
            stale = True
    return True


# ── Inside a step: interpolation, requested times, events ────────────────────────────────────────────────────


@_verb
def _prepare_dense(plan, run, d, h):
    """The coefficients of the interpolant, after three more stages; False, the step refused, if not finite."""
    if not _stages(plan, run, d, h, (13, 15)):
        _refuse(run, h, 0.25, NOT_FINITE)
        return False
    n, now, new, c, f0, f1 = d.n, d.now, d.new, d.dense, d.k, shift(d.k, 12 * d.stride)
    combine(DENSE, d.sums, n, d.k, d.stride, n)
    for i in range(n):
        v = n + i
        dq, dv = new[1 + i] - now[1 + i], new[1 + v] - now[1 + v]
        c[i], c[v] = dq, dv
        c[2 * n + i], c[2 * n + v] = h * now[1 + v] - dq, h * f0[i] - dv
        c[4 * n + i], c[4 * n + v] = 2 * dq - h * (now[1 + v] + new[1 + v]), 2 * dv - h * (f0[i] + f1[i])
    for r in range(4):
        for i in range(n):
            c[(6 + 2 * r) * n + i] = h * h * d.sums[(4 + r) * n + i]
            c[(7 + 2 * r) * n + i] = h * d.sums[r * n + i]
    return True


@_verb
def _interpolate(run, d, h, theta):
    """x = the state at t + θh by the interpolant of order 7."""
    m, c, rest = 2 * d.n, d.dense, 1.0 - theta
    d.x[0] = d.now[0] + (run.t_low + theta * h)
    for i in range(m):
        high = c[3 * m + i] + theta * (c[4 * m + i] + rest * (c[5 * m + i] + theta * c[6 * m + i]))
        mid = c[i] + rest * (c[m + i] + theta * (c[2 * m + i] + rest * high))
        d.x[1 + i] = d.now[1 + i] + theta * mid


@_verb
def _sketch(run, d, h, theta):
    """x = roughly the state at t + θh by Hermite's polynomials: shows where events may be, at no evaluation."""
    n, now, new, x, a, b = d.n, d.now, d.new, d.x, theta, 1.0 - theta
    x[0] = now[0] + (run.t_low + theta * h)
    for i in range(n):
        q0, v0, f0 = now[1 + i], now[1 + n + i], d.k[i]
        q1, v1, f1 = new[1 + i], new[1 + n + i], d.k[12 * d.stride + i]
        start = q0 * (1 + 3 * a + 6 * a * a) + h * a * (v0 * (1 + 3 * a) + 0.5 * h * a * f0)
        end = q1 * (1 + 3 * b + 6 * b * b) - h * b * (v1 * (1 + 3 * b) - 0.5 * h * b * f1)
        x[1 + i] = b * b * b * start + a * a * a * end
        x[1 + n + i] = b * b * (v0 * (1 + 2 * a) + h * a * f0) + a * a * (v1 * (1 + 2 * b) - h * b * f1)


@_verb
def _crosses(before, after, direction):
    """Does an event fire between two values? Reaching zero does, leaving it does not."""
    return (before < 0.0 <= after and direction >= 0) or (before > 0.0 >= after and direction <= 0)


@_verb
def _suspect(plan, run, d, h):
    """Event values at the end and, roughly, inside the step; True when one of them crosses."""
    e = plan.events
    call(plan.event, shift(d.values, PARTS * e), d.new, d.work)
    for m in range(1, PARTS):
        _sketch(run, d, h, m / PARTS)
        call(plan.event, shift(d.values, m * e), d.x, d.work)
    for m in range(PARTS):
        for j in range(e):
            if _crosses(d.values[m * e + j], d.values[m * e + e + j], d.watch[j]):
                return True
    return False


@_verb
def _root(plan, run, d, h, j, a, fa, b, fb):
    """θ in (a, b] where event j has reached zero, to the last bits of time.

    The ITP method of Oliveira and Takahashi (2020): as fast as the secant method, at worst bisection.
    """
    tolerance = 2 * EPS * (1.0 + abs(d.now[0] / h))
    reach = 2 * (b - a)
    while b - a > 2 * tolerance and fb != 0.0:
        middle, secant, width = 0.5 * (a + b), (b * fa - a * fb) / (fa - fb), b - a
        toward = 1.0 if middle > secant else -1.0
        nudge = width * width
        theta = secant + toward * nudge if nudge <= abs(middle - secant) else middle
        radius = max(0.0, reach - 0.5 * width)
        if abs(theta - middle) > radius:
            theta = middle - toward * radius
        reach *= 0.5
        _interpolate(run, d, h, theta)
        call(plan.event, d.value, d.x, d.work)
        if d.value[j] * fa > 0.0:
            a, fa = theta, d.value[j]
        else:
            b, fb = theta, d.value[j]
    return b


@_verb
def _find_roots(plan, run, d, h):
    """All crossings of the step, in order of time, into roots and which; returns their number."""
    e, values, roots, which = plan.events, d.values, d.roots, d.which
    for m in range(1, PARTS):
        _interpolate(run, d, h, m / PARTS)
        call(plan.event, shift(values, m * e), d.x, d.work)
    found = 0
    for m in range(PARTS):
        for j in range(e):
            before, after = values[m * e + j], values[m * e + e + j]
            if _crosses(before, after, d.watch[j]):
                theta = _root(plan, run, d, h, j, m / PARTS, before, (m + 1) / PARTS, after)
                slot = found
                while slot > 0 and roots[slot - 1] > theta:
                    roots[slot], which[slot] = roots[slot - 1], which[slot - 1]
                    slot -= 1
                roots[slot], which[slot] = theta, j
                found += 1
    return found


@_verb
def _read(plan, run, d, h, theta):
    """x = the state at t + θh as it is handed out: interpolated, and projected if there is a projection."""
    _interpolate(run, d, h, theta)
    if plan.projection != 0:
        for i in range(2 * d.n):
            d.x_low[i] = 0.0
        _project(plan, run, d, d.x, d.x_low)


@_verb
def _record_events(plan, run, d, h):
    """Crossings up to the first terminal one into the table; returns where the step ends, 2 if nowhere."""
    e, end = plan.events, 2.0
    for r in range(_find_roots(plan, run, d, h)):
        if d.roots[r] > end:
            break
        _read(plan, run, d, h, d.roots[r])
        row = shift(d.events, run.events * (2 + 2 * d.n))
        row[0] = d.x[0]
        row[1] = d.which[r]
        for i in range(2 * d.n):
            row[2 + i] = d.x[1 + i]
        run.events += 1
        if d.watch[e + int(d.which[r])] != 0:
            end = d.roots[r]
    return end


@_verb
def _stop_inside(plan, run, d, h, end):
    """The terminal event at t + end·h becomes the state. What has fired counts as zero until it is left."""
    e = plan.events
    fired = 0
    while d.roots[fired] < end:
        fired += 1
    _read(plan, run, d, h, end)
    for i in range(1 + 2 * d.n):
        d.now[i] = d.x[i]
    for i in range(2 * d.n):
        d.low[i] = 0.0
    run.t_low = 0.0
    call(plan.event, d.values, d.now, d.work)
    d.values[int(d.which[fired])] = 0.0
    run.fresh = 1
    run.accepted += 1


@_verb
def _save(run, d, y):
    """One requested time is done."""
    for i in range(d.n):
        d.q[run.saved * d.n + i] = y[1 + i]
        d.v[run.saved * d.n + i] = y[1 + d.n + i]
    run.saved += 1


# ── The loop ─────────────────────────────────────────────────────────────────────────────────────────────────


@_verb
def _begin(plan, run, d, sign):
    """Slope, pivots, event values and first step at a new start; RUNNING when all is well."""
    if not _evaluate(plan, run, d, 0, d.now):
        return NOT_FINITE
    if plan.pivots > 0:
        run.pivot = _lowest_pivot(plan, d, (0, 0))
        if not run.pivot > plan.pivot_tol:
            return SINGULAR
    if plan.event != 0:
        call(plan.event, d.value, d.now, d.work)
        for j in range(plan.events):
            if d.values[j] != 0.0:
                d.values[j] = d.value[j]
    if run.h == 0.0:
        run.h = _first_step(plan, run, d, sign)
    while run.saved < plan.times and sign * (d.times[run.saved] - d.now[0]) <= 0.0:
        _save(run, d, d.now)
    run.caution = 0
    run.fresh = 0
    return RUNNING


@_verb
def _refuse(run, h, factor, trouble):
    """The step has to be tried again, smaller; its first slope still stands in k[0]."""
    run.rejected += 1
    run.h = abs(h) * factor
    run.trouble = trouble
    run.held = 1


@_verb
def _attempt(plan, run, d, h):
    """The stages and the end of a step of size h, and its error; above 1 when the step is refused."""
    error = np.inf
    if _stages(plan, run, d, h, (1, 11)):
        stage(12, d.new, d.new_low, d.now, d.low, h, d.k, d.stride, d.n)
        error = _error(d, h)
    if not error <= HUGE:
        _refuse(run, h, 0.25, NOT_FINITE)
        return np.inf
    if error > 1.0:
        dip = plan.pivots > 0 and not _lowest_pivot(plan, d, (1, 11)) > plan.pivot_tol
        _refuse(run, h, max(SHRINK, SAFETY * error ** (-1 / 8)), SINGULAR if dip else STEP_TOO_SMALL)
    return error


@_verb
def _arrive(plan, run, d, h):
    """Constraints, slope and pivots at the end of a step; False when the step is refused after all.

    All stages are asked for their pivots, for a step may land beyond a singular position it should not have
    crossed. A pivot that vanishes only because a long step strays is cured by the halving; one that vanishes
    indeed is approached.
    """
    well = plan.projection == 0 or _project(plan, run, d, d.new, d.new_low)
    if not (well and _evaluate(plan, run, d, 12, d.new)):
        _refuse(run, h, 0.25, NOT_FINITE)
        return False
    if plan.pivots > 0:
        lowest = _lowest_pivot(plan, d, (1, 12))
        if not lowest > plan.pivot_tol:
            if run.caution == 0:
                run.horizon = d.new[0]
            run.caution += 1
            _refuse(run, h, 0.5, SINGULAR)
            return False
        run.pivot = min(run.pivot, lowest)
    return True


@_verb
def _hand_out(plan, run, d, h, sign):
    """Events and requested times within the step: RUNNING, EVENT, or NOT_FINITE if the step is refused."""
    end, known, arrival = 2.0, False, d.new[0]
    if plan.event != 0 and _suspect(plan, run, d, h):
        known = _prepare_dense(plan, run, d, h)
        if not known:
            return NOT_FINITE
        end = _record_events(plan, run, d, h)
        if end <= 1.0:
            arrival = d.now[0] + (run.t_low + end * h)
    while run.saved < plan.times and sign * (d.times[run.saved] - arrival) <= 0.0:
        if d.times[run.saved] == d.new[0]:
            _save(run, d, d.new)
            continue
        known = known or _prepare_dense(plan, run, d, h)
        if not known:
            return NOT_FINITE
        _read(plan, run, d, h, ((d.times[run.saved] - d.now[0]) - run.t_low) / h)
        _save(run, d, d.x)
    if end <= 1.0:
        _stop_inside(plan, run, d, h, end)
        return EVENT
    return RUNNING


@_verb
def _settle(plan, run, d, sign, h, error, t_low):
    """The end of the step becomes the state, its slope the first of the next step; the next size is chosen."""
    n, f1 = d.n, shift(d.k, 12 * d.stride)
    for i in range(1 + 2 * n):
        d.now[i] = d.new[i]
    for i in range(2 * n):
        d.low[i] = d.new_low[i]
    for i in range(n + plan.pivots):
        d.k[i] = f1[i]
    for j in range(plan.events):
        d.values[j] = d.values[PARTS * plan.events + j]
    run.t_low = t_low
    run.accepted += 1
    factor = GROW
    if error > 0.0:
        factor = min(GROW, max(SHRINK, SAFETY * error**-INTEGRAL * run.error**PROPORTIONAL))
    if run.caution > 0 and sign * (d.now[0] - run.horizon) > 0.0:
        run.caution = 0
    if run.held != 0 or run.caution > 0:
        factor = min(1.0, factor)
    # A step shortened only to meet the end time says nothing against the size that was planned.
    run.h = max(factor * abs(h), run.h if abs(h) < run.h else 0.0)
    run.error = max(error, 1e-4)
    run.held = 0


@_verb
def _drive(plan, run, d, until, attempts):
    """Steps until the end time, an event, a failure, or as many attempts as allowed."""
    sign = 1.0 if until >= d.now[0] else -1.0
    if run.fresh != 0:
        status = _begin(plan, run, d, sign)
        if status != RUNNING:
            return status
    while True:
        t = d.now[0]
        remaining = (until - t) - run.t_low
        if sign * remaining <= 0.0:
            return FINISHED
        if run.accepted + run.rejected >= plan.step_limit:
            return TOO_MANY_STEPS
        if plan.event_rows - run.events < PARTS * plan.events:
            return EVENTS_FULL
        if run.caution > CAUTION:
            return SINGULAR
        if attempts == 0:
            return RUNNING
        attempts -= 1
        run.h = min(run.h, plan.max_step)
        last = abs(remaining) <= 1.01 * run.h
        if not last and run.h <= max(4 * EPS * abs(t), TINY):
            return run.trouble
        h = remaining if last else sign * run.h
        d.new[0], t_low = (until, 0.0) if last else _two_sum(t, run.t_low + h)
        error = _attempt(plan, run, d, h)
        if error > 1.0 or not _arrive(plan, run, d, h):
            continue
        status = _hand_out(plan, run, d, h, sign)
        if status == EVENT:
            return EVENT
        if status == RUNNING:
            _settle(plan, run, d, sign, h, error, t_low)


@_verb
def desk_sizes(n, parameters, pivots, events, work):
    """Lengths of the local arrays, in the order of Desk from `now` to `work`."""
    state = 1 + 2 * n + parameters
    stride = (n + pivots + 7) // 8 * 8
    return (
        (state, 2 * n, state, 2 * n, state, 2 * n)
        + (16 * stride, 8 * n, 14 * n, 2 * n + 2)
        + ((PARTS + 1) * events, events, PARTS * events, PARTS * events, work)
    )


@njit(nogil=True, cache=True, error_model="numpy")
def advance(
    plans, runs, first, last, until, attempts, state, memory, scratch, shared, watch, times, q, v, events
):
    """Samples first … last - 1 from their states towards `until`; the statuses are left in runs."""
    plan = plans[0]
    n, g, e = plan.coordinates, plan.pivots, plan.events
    size = desk_sizes(n, plan.parameters, g, e, plan.work)
    at = 0
    c0 = pointer(scratch, 0)
    c1 = shift(c0, size[0])
    c2 = shift(c1, size[1])
    c3 = shift(c2, size[2])
    c4 = shift(c3, size[3])
    c5 = shift(c4, size[4])
    c6 = shift(c5, size[5])
    c7 = shift(c6, size[6])
    c8 = shift(c7, size[7])
    c9 = shift(c8, size[8])
    c10 = shift(c9, size[9])
    c11 = shift(c10, size[10])
    c12 = shift(c11, size[11])
    c13 = shift(c12, size[12])
    c14 = shift(c13, size[13])
    s0 = pointer(shared, 0)
    for i in range(first, last):
        d = Desk(
            n,
            (n + g + 7) // 8 * 8,
            c0,
            c1,
            c2,
            c3,
            c4,
            c5,
            c6,
            c7,
            c8,
            c9,
            c10,
            c11,
            c12,
            c13,
            c14,
            s0,
            shift(s0, 2 * n),
            shift(s0, 4 * n),
            pointer(watch, 0),
            pointer(times, 0),
            pointer(q, i * plan.times * n),
            pointer(v, i * plan.times * n),
            pointer(events, i * plan.event_rows * (2 + 2 * n)),
        )
        for j in range(size[0]):
            d.now[j] = d.new[j] = d.x[j] = state[i, j]
        for j in range(2 * n):
            d.low[j] = memory[i, j]
        for j in range(n + g):
            d.k[j] = memory[i, 2 * n + j]
        for j in range(e):
            d.values[j] = memory[i, 3 * n + g + j]
        runs[i].status = _drive(plan, runs[i], d, until, attempts)
        for j in range(size[0]):
            state[i, j] = d.now[j]
        for j in range(2 * n):
            memory[i, j] = d.low[j]
        for j in range(n + g):
            memory[i, 2 * n + j] = d.k[j]
        for j in range(e):
            memory[i, 3 * n + g + j] = d.values[j]
