"""The step loop of DOP853 for q̈ = f(t, q, q̇), in machine code: no Python between the first step and the last.

Read from the bottom up: `advance` brings each sample's memory into local arrays, `_drive` is the loop, and the
functions above are its verbs. What the arrays mean is told in `stepper`, which is the way in for people.

Kernels are called by address, so the compiled loop depends on no model and numba keeps it on disk: it is
compiled once per machine.
"""

# numba infers the types of the functions below from their use and ships its decorators untyped.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, disallow-untyped-decorators=False

import zlib
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numba import njit

from zwang.motion import dop853, sums
from zwang.motion.sums import call, combine, stage


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
    """The local arrays of one sample. States are packed as kernels read them: [t, q, v, p]."""

    now: Any  #      the state, and in low (2n) what rounding took from it
    low: Any
    new: Any  #      the state at the end of the step
    new_low: Any
    x: Any  #        a state inside the step
    x_low: Any
    k: Any  #        (16, n + g, padded): accelerations and pivots of the stages
    sums: Any  #     (8, n)
    dense: Any  #    (7, 2n): coefficients of the interpolant
    work: Any
    out: Any  #      (2n + 2): what the projection kernel gives
    values: Any  #   (PARTS + 1, e): event values along the step
    value: Any  #    (e)
    roots: Any  #    (PARTS · e): crossings in the step as fractions of it, and which event each is
    which: Any


class Aim(NamedTuple):
    """What is asked of every sample alike."""

    rtol: Any  #         (2n)
    atol: Any  #         (2n)
    pivot_scale: Any  #  (g)
    direction: Any  #    (e)
    terminal: Any  #     (e)
    times: Any  #        (T)


class Table(NamedTuple):
    """Where one sample's results go."""

    q: Any  #            (T, n)
    v: Any  #            (T, n)
    event_time: Any  #   (R)
    event_index: Any  #  (R)
    event_state: Any  #  (R, 2n)


# ── A step ───────────────────────────────────────────────────────────────────────────────────────────────────


@njit(nogil=True)
def _evaluate(plan, run, desk, s, x):
    """k[s] = acceleration and pivots at x; False when an acceleration is not finite."""
    call(plan.acceleration, desk.k, s * desk.k.shape[1], x, desk.work)
    run.evaluations += 1
    finite = True
    for i in range(plan.coordinates):
        finite &= abs(desk.k[s, i]) <= HUGE
    return finite


@njit(nogil=True)
def _stages(plan, run, desk, h, first, last):
    """Stages first … last of a step of size h; False when one of them is not finite."""
    for s in range(first, last + 1):
        stage(s, desk.x, desk.x_low, desk.now, desk.low, h, desk.k, plan.coordinates)
        desk.x[0] = desk.now[0] + (run.t_low + NODES[s] * h)
        if not _evaluate(plan, run, desk, s, desk.x):
            return False
    return True


@njit(nogil=True)
def _scale(atol, rtol, size):
    """One unit of error. Below a few ulps of the state no smaller step makes an error smaller."""
    return max(atol + rtol * size, 4 * EPS * size + TINY)


@njit(nogil=True)
def _error(plan, desk, aim, h):
    """The error of the step in units of the tolerance: Hairer's blend of the estimates of order 5 and 3."""
    n, now, new, rows = plan.coordinates, desk.now, desk.new, desk.sums
    combine(sums.ERROR, rows, desk.k, n)
    for i in range(n):
        v = n + i
        scale_q = _scale(aim.atol[i], aim.rtol[i], max(abs(now[1 + i]), abs(new[1 + i])))
        scale_v = _scale(aim.atol[v], aim.rtol[v], max(abs(now[1 + v]), abs(new[1 + v])))
        rows[0, i] = (rows[0, i] / scale_v) ** 2 + (rows[2, i] * (h / scale_q)) ** 2
        rows[1, i] = (rows[1, i] / scale_v) ** 2 + (rows[3, i] * (h / scale_q)) ** 2
    fifth = third = 0.0
    for i in range(n):
        fifth += rows[0, i]
        third += rows[1, i]
    if fifth == 0.0:
        return 0.0
    return abs(h) * fifth / np.sqrt((fifth + 0.01 * third) * (2 * n))


@njit(nogil=True)
def _first_step(plan, run, desk, aim, sign):
    """Hairer's guess of the first step: an explicit Euler step tells the size of the second derivative."""
    n, now, k, x = plan.coordinates, desk.now, desk.k, desk.x
    d0 = d1 = d2 = 0.0
    for i in range(n):
        q, v = now[1 + i], now[1 + n + i]
        scale_q = _scale(aim.atol[i], aim.rtol[i], abs(q))
        scale_v = _scale(aim.atol[n + i], aim.rtol[n + i], abs(v))
        d0 += (q / scale_q) ** 2 + (v / scale_v) ** 2
        d1 += (v / scale_q) ** 2 + (k[0, i] / scale_v) ** 2
    h = min(1e-6 if min(d0, d1) <= 1e-10 else 0.01 * np.sqrt(d0 / d1), plan.max_step)
    x[0] = now[0] + sign * h
    for i in range(n):
        x[1 + i] = now[1 + i] + sign * h * now[1 + n + i]
        x[1 + n + i] = now[1 + n + i] + sign * h * k[0, i]
    if not _evaluate(plan, run, desk, 1, x):
        return h
    for i in range(n):
        scale_q = _scale(aim.atol[i], aim.rtol[i], abs(now[1 + i]))
        scale_v = _scale(aim.atol[n + i], aim.rtol[n + i], abs(now[1 + n + i]))
        d2 += (h * k[0, i] / scale_q) ** 2 + ((k[1, i] - k[0, i]) / scale_v) ** 2
    steepest = max(np.sqrt(d1), np.sqrt(d2) / h)
    longer = max(1e-6, 1e-3 * h) if steepest <= 1e-15 else (0.01 / steepest) ** (1 / 8)
    return min(100 * h, longer, plan.max_step)


@njit(nogil=True)
def _lowest_pivot(plan, desk, aim, first, last):
    """The smallest pivot of stages first … last in units of its scale; a NaN counts as smallest."""
    lowest = np.inf
    for s in range(first, last + 1):
        for j in range(plan.pivots):
            ratio = desk.k[s, plan.coordinates + j] / aim.pivot_scale[j]
            if not ratio >= lowest:
                lowest = ratio
    return lowest


@njit(nogil=True)
def _project(plan, run, desk, y, y_low):
    """y onto the constraints, positions first, then velocities; False when a residual is not finite."""
    n, out = plan.coordinates, desk.out
    stale = True
    for part in range(2):
        tolerance = plan.position_tol if part == 0 else plan.velocity_tol
        for turn in range(4):
            if stale:
                call(plan.projection, out, 0, y, desk.work)
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


@njit(nogil=True)
def _two_sum(a, b):
    """a + b rounded, and exactly what rounding took away."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


# ── Inside a step: interpolation, requested times, events ────────────────────────────────────────────────────


@njit(nogil=True)
def _prepare_dense(plan, run, desk, h):
    """The coefficients of the interpolant, after three more stages; False when one is not finite."""
    if not _stages(plan, run, desk, h, 13, 15):
        return False
    n, now, new, k, dense, rows = plan.coordinates, desk.now, desk.new, desk.k, desk.dense, desk.sums
    combine(sums.DENSE, rows, k, n)
    for i in range(n):
        q0, v0, q1, v1 = now[1 + i], now[1 + n + i], new[1 + i], new[1 + n + i]
        dense[0, i], dense[0, n + i] = q1 - q0, v1 - v0
        dense[1, i], dense[1, n + i] = h * v0 - (q1 - q0), h * k[0, i] - (v1 - v0)
        dense[2, i] = 2 * (q1 - q0) - h * (v0 + v1)
        dense[2, n + i] = 2 * (v1 - v0) - h * (k[0, i] + k[12, i])
    for r in range(4):
        for i in range(n):
            dense[3 + r, i], dense[3 + r, n + i] = h * h * rows[4 + r, i], h * rows[r, i]
    return True


@njit(nogil=True)
def _interpolate(plan, run, desk, h, theta):
    """x = the state at t + θh by the interpolant of order 7."""
    now, x, c, rest = desk.now, desk.x, desk.dense, 1.0 - theta
    x[0] = now[0] + (run.t_low + theta * h)
    for i in range(2 * plan.coordinates):
        upper = c[3, i] + theta * (c[4, i] + rest * (c[5, i] + theta * c[6, i]))
        x[1 + i] = now[1 + i] + theta * (c[0, i] + rest * (c[1, i] + theta * (c[2, i] + rest * upper)))


@njit(nogil=True)
def _sketch(plan, run, desk, h, theta):
    """x = roughly the state at t + θh by Hermite's polynomials: shows where events may be, at no evaluation."""
    n, now, new, k, x = plan.coordinates, desk.now, desk.new, desk.k, desk.x
    a, b = theta, 1.0 - theta
    x[0] = now[0] + (run.t_low + theta * h)
    for i in range(n):
        q0, v0, f0 = now[1 + i], now[1 + n + i], k[0, i]
        q1, v1, f1 = new[1 + i], new[1 + n + i], k[12, i]
        start = q0 * (1 + 3 * a + 6 * a * a) + h * a * (v0 * (1 + 3 * a) + 0.5 * h * a * f0)
        end = q1 * (1 + 3 * b + 6 * b * b) - h * b * (v1 * (1 + 3 * b) - 0.5 * h * b * f1)
        x[1 + i] = b**3 * start + a**3 * end
        x[1 + n + i] = b**2 * (v0 * (1 + 2 * a) + h * a * f0) + a**2 * (v1 * (1 + 2 * b) - h * b * f1)


@njit(nogil=True)
def _crosses(before, after, direction):
    """Does an event fire between two values? Reaching zero does, leaving it does not."""
    return (before < 0.0 <= after and direction >= 0) or (before > 0.0 >= after and direction <= 0)


@njit(nogil=True)
def _suspect(plan, run, desk, aim, h):
    """Event values at the end and, roughly, inside the step; True when one of them crosses."""
    call(plan.event, desk.values, PARTS * plan.events, desk.new, desk.work)
    for m in range(1, PARTS):
        _sketch(plan, run, desk, h, m / PARTS)
        call(plan.event, desk.values, m * plan.events, desk.x, desk.work)
    for m in range(PARTS):
        for j in range(plan.events):
            if _crosses(desk.values[m, j], desk.values[m + 1, j], aim.direction[j]):
                return True
    return False


@njit(nogil=True)
def _root(plan, run, desk, h, j, a, fa, b, fb):
    """θ in (a, b] where event j has reached zero, to the last bits of time.

    The ITP method of Oliveira and Takahashi (2020): as fast as the secant method, at worst bisection.
    """
    tolerance = 2 * EPS * (1.0 + abs(desk.now[0] / h))
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
        _interpolate(plan, run, desk, h, theta)
        call(plan.event, desk.value, 0, desk.x, desk.work)
        if desk.value[j] * fa > 0.0:
            a, fa = theta, desk.value[j]
        else:
            b, fb = theta, desk.value[j]
    return b


@njit(nogil=True)
def _find_roots(plan, run, desk, aim, h):
    """All crossings of the step, in order of time, into roots and which; returns their number."""
    values, roots, which = desk.values, desk.roots, desk.which
    for m in range(1, PARTS):
        _interpolate(plan, run, desk, h, m / PARTS)
        call(plan.event, values, m * plan.events, desk.x, desk.work)
    found = 0
    for m in range(PARTS):
        for j in range(plan.events):
            before, after = values[m, j], values[m + 1, j]
            if _crosses(before, after, aim.direction[j]):
                theta = _root(plan, run, desk, h, j, m / PARTS, before, (m + 1) / PARTS, after)
                slot = found
                while slot > 0 and roots[slot - 1] > theta:
                    roots[slot], which[slot] = roots[slot - 1], which[slot - 1]
                    slot -= 1
                roots[slot], which[slot] = theta, j
                found += 1
    return found


@njit(nogil=True)
def _read(plan, run, desk, h, theta):
    """x = the state at t + θh as it is handed out: interpolated, and projected where there is a projection."""
    _interpolate(plan, run, desk, h, theta)
    if plan.projection != 0:
        desk.x_low[:] = 0.0
        _project(plan, run, desk, desk.x, desk.x_low)


@njit(nogil=True)
def _record_events(plan, run, desk, aim, table, h):
    """Crossings up to the first terminal one into the table; returns where the step ends, and if it must."""
    end, stop = 1.0, False
    for r in range(_find_roots(plan, run, desk, aim, h)):
        if stop and desk.roots[r] > end:
            break
        _read(plan, run, desk, h, desk.roots[r])
        table.event_time[run.events] = desk.x[0]
        table.event_index[run.events] = desk.which[r]
        table.event_state[run.events, :] = desk.x[1 : 1 + 2 * plan.coordinates]
        run.events += 1
        if aim.terminal[desk.which[r]]:
            end, stop = desk.roots[r], True
    return end, stop


@njit(nogil=True)
def _stop_inside(plan, run, desk, h, end):
    """The terminal event at t + end·h becomes the state. What has fired counts as zero until it is left."""
    _read(plan, run, desk, h, end)
    desk.now[: 1 + 2 * plan.coordinates] = desk.x[: 1 + 2 * plan.coordinates]
    desk.low[:] = 0.0
    run.t_low = 0.0
    call(plan.event, desk.values, 0, desk.now, desk.work)
    for r in range(desk.roots.size):
        if desk.roots[r] == end:
            desk.values[0, desk.which[r]] = 0.0
    run.fresh = 1


@njit(nogil=True)
def _save(plan, run, table, y):
    n = plan.coordinates
    table.q[run.saved, :] = y[1 : 1 + n]
    table.v[run.saved, :] = y[1 + n : 1 + 2 * n]
    run.saved += 1


# ── The loop ─────────────────────────────────────────────────────────────────────────────────────────────────


@njit(nogil=True)
def _begin(plan, run, desk, aim, table, sign):
    """Slope, pivots, event values and first step at a new start; RUNNING when all is well."""
    if not _evaluate(plan, run, desk, 0, desk.now):
        return Status.NOT_FINITE.value
    if plan.pivots > 0:
        run.pivot = min(run.pivot, _lowest_pivot(plan, desk, aim, 0, 0))
        if not _lowest_pivot(plan, desk, aim, 0, 0) > plan.pivot_tol:
            return Status.SINGULAR.value
    if plan.event != 0:
        call(plan.event, desk.value, 0, desk.now, desk.work)
        for j in range(plan.events):
            if desk.values[0, j] != 0.0:
                desk.values[0, j] = desk.value[j]
    if run.h == 0.0:
        run.h = _first_step(plan, run, desk, aim, sign)
    while run.saved < aim.times.size and sign * (aim.times[run.saved] - desk.now[0]) <= 0.0:
        _save(plan, run, table, desk.now)
    run.fresh = 0
    return Status.RUNNING.value


@njit(nogil=True)
def _refuse(run, h, factor, trouble):
    """The step from `now` has to be tried again, smaller; k[0] still holds its slope."""
    run.rejected += 1
    run.h = abs(h) * factor
    run.trouble = trouble
    run.held = 1


@njit(nogil=True)
def _attempt(plan, run, desk, aim, h):
    """The stages and the end of a step of size h, and its error; above 1 when the step is refused."""
    error = np.inf
    if _stages(plan, run, desk, h, 1, 11):
        stage(12, desk.new, desk.new_low, desk.now, desk.low, h, desk.k, plan.coordinates)
        error = _error(plan, desk, aim, h)
    if not error <= HUGE:
        _refuse(run, h, 0.25, Status.NOT_FINITE.value)
        return np.inf
    if error > 1.0:
        dip = plan.pivots > 0 and not _lowest_pivot(plan, desk, aim, 1, 11) > plan.pivot_tol
        trouble = Status.SINGULAR.value if dip else Status.STEP_TOO_SMALL.value
        _refuse(run, h, max(SHRINK, SAFETY * error ** (-1 / 8)), trouble)
    return error


@njit(nogil=True)
def _arrive(plan, run, desk, aim, h):
    """Constraints, slope and pivots at the end of a step; False when the step is refused after all.

    All stages are asked for their pivots, for a step may land beyond a singular position it should not have
    crossed. A pivot that vanishes only because a long step strays is cured by the halving; one that vanishes
    indeed is approached.
    """
    well = plan.projection == 0 or _project(plan, run, desk, desk.new, desk.new_low)
    if not (well and _evaluate(plan, run, desk, 12, desk.new)):
        _refuse(run, h, 0.25, Status.NOT_FINITE.value)
        return False
    if plan.pivots > 0:
        lowest = _lowest_pivot(plan, desk, aim, 1, 12)
        if not lowest > plan.pivot_tol:
            if run.caution == 0:
                run.horizon = desk.new[0]
            run.caution += 1
            _refuse(run, h, 0.5, Status.SINGULAR.value)
            return False
        run.pivot = min(run.pivot, lowest)
    return True


@njit(nogil=True)
def _hand_out(plan, run, desk, aim, table, h, sign):
    """Events and requested times within the step; returns 0 to go on, 1 to stop at an event, -1 if refused."""
    times, stop, end, known = aim.times, False, 1.0, False
    arrival = desk.new[0]
    if plan.event != 0 and _suspect(plan, run, desk, aim, h):
        known = _prepare_dense(plan, run, desk, h)
        if not known:
            _refuse(run, h, 0.25, Status.NOT_FINITE.value)
            return -1
        end, stop = _record_events(plan, run, desk, aim, table, h)
        if stop:
            arrival = desk.now[0] + (run.t_low + end * h)
    while run.saved < times.size and sign * (times[run.saved] - arrival) <= 0.0:
        if times[run.saved] == desk.new[0]:
            _save(plan, run, table, desk.new)
            continue
        if not known:
            known = _prepare_dense(plan, run, desk, h)
            if not known:
                _refuse(run, h, 0.25, Status.NOT_FINITE.value)
                return -1
        _read(plan, run, desk, h, ((times[run.saved] - desk.now[0]) - run.t_low) / h)
        _save(plan, run, table, desk.x)
    if stop:
        _stop_inside(plan, run, desk, h, end)
        return 1
    return 0


@njit(nogil=True)
def _settle(plan, run, desk, sign, h, error, t_low):
    """The end of the step becomes the state, its slope the first of the next step; the next size is chosen."""
    used = 1 + 2 * plan.coordinates
    desk.now[:used] = desk.new[:used]
    desk.low[:] = desk.new_low
    desk.k[0, :] = desk.k[12, :]
    desk.values[0, :] = desk.values[PARTS, :]
    run.t_low = t_low
    run.accepted += 1
    factor = GROW
    if error > 0.0:
        factor = min(GROW, max(SHRINK, SAFETY * error**-INTEGRAL * run.error**PROPORTIONAL))
    if run.caution > 0 and sign * (desk.now[0] - run.horizon) > 0.0:
        run.caution = 0
    if run.held or run.caution > 0:
        factor = min(1.0, factor)
    # A step shortened only to meet the end time says nothing against the size that was planned.
    run.h = max(factor * abs(h), run.h if abs(h) < run.h else 0.0)
    run.error = max(error, 1e-4)
    run.held = 0


@njit(nogil=True)
def _drive(plan, run, desk, aim, table, until, attempts):
    """Steps until the end time, an event, a failure, or as many attempts as allowed."""
    sign = 1.0 if until >= desk.now[0] else -1.0
    if run.fresh:
        status = _begin(plan, run, desk, aim, table, sign)
        if status != Status.RUNNING.value:
            return status
    while True:
        t = desk.now[0]
        remaining = (until - t) - run.t_low
        if sign * remaining <= 0.0:
            return Status.FINISHED.value
        if run.accepted + run.rejected >= plan.step_limit:
            return Status.TOO_MANY_STEPS.value
        if table.event_time.size - run.events < PARTS * plan.events:
            return Status.EVENTS_FULL.value
        if run.caution > CAUTION:
            return Status.SINGULAR.value
        if attempts == 0:
            return Status.RUNNING.value
        attempts -= 1
        run.h = min(run.h, plan.max_step)
        last = abs(remaining) <= 1.01 * run.h
        if not last and run.h <= max(4 * EPS * abs(t), TINY):
            return run.trouble
        h = remaining if last else sign * run.h
        desk.new[0], t_low = (until, 0.0) if last else _two_sum(t, run.t_low + h)
        error = _attempt(plan, run, desk, aim, h)
        if error > 1.0 or not _arrive(plan, run, desk, aim, h):
            continue
        verdict = _hand_out(plan, run, desk, aim, table, h, sign)
        if verdict > 0:
            run.accepted += 1
            return Status.EVENT.value
        if verdict == 0:
            _settle(plan, run, desk, sign, h, error, t_low)


def _compile_advance(edition):
    @njit(nogil=True, cache=True)
    def advance(plans, runs, first, last, until, attempts, state, memory, aim, q, v, event_time, event_index, event_state):
        edition  # noqa: B018
        plan = plans[0]
        n, g, e = plan.coordinates, plan.pivots, plan.events
        width = state.shape[1]
        desk = Desk(
            np.empty(width), np.empty(2 * n), np.empty(width), np.empty(2 * n), np.empty(width), np.empty(2 * n),
            np.empty((16, (n + g + 7) // 8 * 8)), np.empty((8, (n + 7) // 8 * 8)), np.empty((7, 2 * n)),
            np.empty(plan.work), np.empty(2 * n + 2), np.empty((PARTS + 1, e)), np.empty(e),
            np.empty(PARTS * e), np.empty(PARTS * e, np.int64),
        )
        for i in range(first, last):
            desk.now[:] = state[i]
            desk.new[:] = state[i]
            desk.x[:] = state[i]
            desk.low[:] = memory[i, :2*n]
            desk.k[0, :n+g] = memory[i, 2*n:3*n+g]
            desk.values[0, :] = memory[i, 3*n+g:]
            table = Table(q[i], v[i], event_time[i], event_index[i], event_state[i])
            runs[i].status = _drive(plan, runs[i], desk, aim, table, until, attempts)
            state[i] = desk.now
            memory[i, :2*n] = desk.low
            memory[i, 2*n:3*n+g] = desk.k[0, :n+g]
            memory[i, 3*n+g:] = desk.values[0]
    return advance


advance = _compile_advance(0)
