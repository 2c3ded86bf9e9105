"""Steps across a singular position, in machine code.

Where a pivot vanishes the explicit equation reads 0/0 at one instant, but the motion itself passes smoothly. A
Runge–Kutta step knows the equation at its stages only, so one whose stages keep away from that instant crosses it as
accurately as any other. Between the stages at 1/3 and 3/5 of a step there is room: the instant is foreseen, a step ends
so far before it that it lies in that gap of the next, and that step crosses. It is believed if its error is as small
as that of any step, if its end obeys the constraints as well, and if the pivot has grown again there. Where that does
not come out, the run stops as before, SINGULAR.

Near a pivot that comes near zero and does not vanish, the motion turns sharply. A step that jumped across would land
off the constraints and is refused; short ones then see no zero ahead.
"""

import math
from typing import Final

from zwang.compile.restricted import Array, native, seldom_native
from zwang.compile.restricted.memory import at, call, shift
from zwang.engines.native.numbers import larger, smaller, square
from zwang.engines.native.pivots import IN_TIME, volume
from zwang.engines.native.record import LoopStatus, RunRecord
from zwang.engines.native.step import NODES, evaluate, interpolate, project, unit

SINGULAR, ASTRAY = int(LoopStatus.SINGULAR), int(LoopStatus.ASTRAY)

MIDDLE: Final = 7 / 15
"""Where in a step the instant should lie: the middle of the widest gap between stages."""

FURTHEST: Final = 50.0
"""Sizes of a refused step within which the instant must lie; a run that has just begun makes small ones."""

LANDED: Final = 100.0
"""Units of error by which the end of a crossing may miss the constraints, if they are more than `ROUNDED`."""

ROUNDED: Final = 1e-6
"""What rounding may grow to across the constraints."""

AS_STEEP: Final = 3.0
"""How much the slopes of a root of a pivot beside its zero may differ."""

DOUBT: Final = 0.1
"""How far a state may be off its constraints, as a share of the way to the branch point."""

TRIES: Final = 12
"""Plans that may fail before the run stops."""

SHARP: Final = 1e-3
"""A least value below this share of the pivot 1/500 of a step beside it is zero, as far as the motion is known."""

GOLDEN: Final = (math.sqrt(5.0) - 1.0) / 2.0

ASK: Final = -1
"""In place of the kernel for crossings: there is none yet, but there could be."""

CAUTION: Final = 10
"""Halvings of the step before a vanishing pivot: it is then known to 1/1000 of a step."""


@native
def predict(run: RunRecord, time: float, jerk: Array) -> None:
    """x = the state after a short time, by Taylor's polynomial."""
    n, now, x, f = run.n, at(run.now), at(run.x), at(run.k)
    x[0] = now[0] + (run.t_low + time)
    for i in range(n):
        v, a, j = now[1 + n + i], f[i], jerk[i]
        x[1 + i] = now[1 + i] + time * (v + time * (a / 2 + time * j / 6))
        x[1 + n + i] = v + time * (a + time * j / 2)


@native
def root(run: RunRecord, row: Array, j: int) -> float:
    """The root of a pivot in units of its scale: near a zero it falls in a straight line."""
    return math.sqrt(abs(row[run.n + j] / at(run.pivot_scale)[j]))


@seldom_native
def foresee(run: RunRecord, sign: float, h: float) -> float:
    """How long until a pivot vanishes, as the roots of pivots fall along the predicted motion; infinite if none does.

    Which pivot it is, is left in `vanishing`.
    """
    n, stride, now = run.n, run.stride, at(run.k)
    near, far, jerk = shift(now, 14 * stride), shift(now, 15 * stride), at(run.sums)
    for i in range(n):
        jerk[i] = 0.0
    first = 0.02 * h
    predict(run, sign * first, jerk)
    if not evaluate(run, near, at(run.x)):
        return math.inf
    for i in range(n):
        jerk[i] = (near[i] - now[i]) / (sign * first)
    straight = math.inf
    for j in range(run.pivots):
        fall = root(run, now, j) - root(run, near, j)
        if fall > 0.0:
            straight = smaller(straight, first * root(run, now, j) / fall)
    if not straight < FURTHEST * h:
        return math.inf
    second = 0.5 * straight
    predict(run, sign * second, jerk)
    if not evaluate(run, far, at(run.x)):
        return math.inf
    soonest = math.inf
    for j in range(run.pivots):
        a, b, c = root(run, now, j), root(run, near, j), root(run, far, j)
        slope = (b - a) / first
        bend = ((c - b) / (second - first) - slope) / second
        slope -= bend * first
        inside = slope * slope - 4.0 * bend * a
        if slope < 0.0 and inside >= 0.0:
            zero = 2.0 * a / (math.sqrt(inside) - slope)
            if zero < soonest:
                soonest = zero
                run.vanishing = j
    return soonest if soonest < FURTHEST * h else math.inf


@seldom_native
def plan(run: RunRecord, sign: float, h: float) -> None:
    """A pivot was in the way of a step of size h: see whether it vanishes ahead, and how large a step may cross.

    Without a kernel to come back to the constraints with (`ASK`), the run stops here, well before the instant.
    """
    if run.bridge == 0 or run.tries >= TRIES:
        return
    if run.zone > 0.0 and run.bridge != ASK and not brought_back(run, at(run.now), at(run.low), at(run.k), h):
        return
    ahead = foresee(run, sign, h)
    if ahead == math.inf:
        return
    run.tries += 1
    if run.bridge == ASK:
        run.caution = CAUTION + 1
        return
    # From a state a little off the constraints the motion meets no singular position: it turns sharply beside it.
    if project(run, run.bridge, at(run.now), at(run.low)) and evaluate(run, at(run.k), at(run.now)):
        run.seen = 0
        run.ahead = 1
        run.instant = at(run.now)[0] + (run.t_low + sign * ahead)
        run.span = smaller(larger(h, ahead / MIDDLE), run.max_step)


@native
def low_at_end(run: RunRecord) -> bool:
    """Whether a growing pivot, and the volume, is so low at the end of the step that this should be on the constraints.

    A volume too small for a number says nothing.
    """
    end, scale, low = shift(at(run.k), 12 * run.stride + run.n), at(run.pivot_scale), False
    for j in range(run.growing):
        low |= end[j] < run.zone * scale[j]
    return low and not volume(run, end, scale) > run.zone * run.volume


@seldom_native
def kept_on(run: RunRecord, h: float) -> bool:
    """Near a small pivot, the end of a step is put on the constraints; False when the run may not go on from there.

    A state off its constraints by ε moves on φ = ε, which turns where φ = 0 branches, and leads to another branch. At
    tight tolerances the pivots still vanish there as far as can be told; at loose ones they do not.
    """
    if run.bridge == 0 or not low_at_end(run):
        return True
    if run.bridge == ASK:
        run.trouble = SINGULAR
        run.caution = CAUTION + 1
        return False
    return brought_back(run, at(run.new), at(run.new_low), shift(at(run.k), 12 * run.stride), h)


@seldom_native
def brought_back(run: RunRecord, y: Array, y_low: Array, row: Array, h: float) -> bool:
    """A state onto the constraints, its accelerations and pivots with it; False if that might be another branch.

    How far it is to the branch point is told by the root of the volume, which falls to zero there.
    """
    n, out, k, far, speed, low, high = run.n, at(run.out), at(run.k), 0.0, 0.0, math.inf, 0.0
    call(run.bridge, out, y, at(run.work))
    for i in range(n):
        far, speed = larger(far, abs(out[i])), larger(speed, abs(y[1 + n + i]))
    for s in range(12):
        root_there = math.sqrt(abs(volume(run, shift(k, s * run.stride + n), shift(row, n))))  # in units of that here
        low, high = smaller(low, root_there), larger(high, root_there)
    if far * (high - low) > DOUBT * speed * abs(h):
        run.trouble = ASTRAY
        run.caution = CAUTION + 1
        run.tries = TRIES
        return False
    return project(run, run.bridge, y, y_low) and evaluate(run, row, y)


@seldom_native
def planned_size(run: RunRecord, sign: float) -> float:
    """The next step with a crossing planned: the crossing itself, negative, or one towards where it will begin.

    Each of them begins on the constraints: what a step errs across them grows on the way to the instant.
    """
    if run.seen == 0:
        project(run, run.bridge, at(run.now), at(run.low))
        evaluate(run, at(run.k), at(run.now))
        ahead = foresee(run, sign, run.span)
        if ahead < math.inf:
            run.instant = at(run.now)[0] + (run.t_low + sign * ahead)
        run.seen = 1
    left = sign * ((run.instant - at(run.now)[0]) - run.t_low)
    if left <= 0.0:
        run.ahead = 0
        left = math.inf
    if left / MIDDLE <= 1.001 * run.span:
        return smaller(-left / MIDDLE, 0.0)  # type: ignore[no-any-return]
    return smaller(run.h, left - MIDDLE * run.span)  # type: ignore[no-any-return]


@seldom_native
def missed(run: RunRecord, size: float, factor: float) -> None:
    """The crossing did not come out: try a shorter one, if that was not tried too often."""
    run.rejected += 1
    run.tries += 1
    run.span = size * factor
    if run.tries >= TRIES:
        give_up(run)


@seldom_native
def give_up(run: RunRecord) -> None:
    """No further plans: the run comes as near as it can and stops."""
    run.tries = TRIES
    run.ahead = 0


@seldom_native
def once(run: RunRecord) -> bool:
    """Whether the root of the vanishing pivot falls to the gap between stages and rises after it, in lines as steep.

    Otherwise it may vanish a second time in the step, or not where it was foreseen.
    """
    k, stride, j, last, steepest, flattest = at(run.k), run.stride, run.vanishing, math.inf, 0.0, math.inf
    for i in range(len(IN_TIME)):
        time, here = NODES[IN_TIME[i]] - MIDDLE, root(run, shift(k, IN_TIME[i] * stride), j)
        if (time < 0.0 and here > 1.001 * last) or (time > 0.2 and here < 0.999 * last):
            return False
        last = here
        if abs(time) < 0.2:
            steepest, flattest = larger(steepest, here / abs(time)), smaller(flattest, here / abs(time))
    return steepest < AS_STEEP * flattest


@seldom_native
def landed(run: RunRecord, h: float) -> float:
    """The error of a crossing along the constraints, once its end is put on them; infinite if it is not to be believed.

    Across them, rounding grows on the way past the instant. That part of the error is large and does no harm: it goes
    with the projection, and the error counts without it.
    """
    n, new, x, out, rows, k = run.n, at(run.new), at(run.x), at(run.out), at(run.sums), at(run.k)
    rtol, atol, end = at(run.rtol), at(run.atol), shift(k, 12 * run.stride)
    call(run.bridge, out, new, at(run.work))
    for i in range(2 * n):
        far = larger(LANDED * run.fine * unit(atol[i], rtol[i], abs(new[1 + i])), ROUNDED * (1.0 + abs(new[1 + i])))
        if not abs(out[i]) <= far:
            return math.inf
    run.lowest = math.inf
    if not (project(run, run.bridge, new, at(run.new_low)) and evaluate(run, end, new)):
        return math.inf
    if not (run.lowest > 0.0 and root(run, end, run.vanishing) > 0.5 * root(run, k, run.vanishing) and once(run)):
        return math.inf
    x[0] = new[0]
    fifth = third = 0.0
    for part in range(4):  # rows of sums: velocities by order 5 and 3, positions by order 5 and 3
        for i in range(2 * n):
            x[1 + i] = new[1 + i]
        first = n if part < 2 else 0
        scale = h if part < 2 else h * h
        for i in range(n):
            x[1 + first + i] += scale * rows[part * n + i]
        call(run.bridge, out, x, at(run.work))
        total = 0.0
        for i in range(n):
            along = scale * rows[part * n + i] + out[first + i]
            total += square(along / unit(atol[first + i], rtol[first + i], abs(new[1 + first + i])))
        if part == 0 or part == 2:
            fifth += total
        else:
            third += total
    return fifth / math.sqrt((fifth + 0.01 * third) * (2 * n)) / run.fine if fifth > 0.0 else 0.0


@seldom_native
def touch_up(run: RunRecord) -> None:
    """x, a state inside a crossing, onto the constraints, unless it is so near the instant that these do not tell."""
    n, x, x_low, out = run.n, at(run.x), at(run.x_low), at(run.out)
    call(run.bridge, out, x, at(run.work))
    near = True
    for i in range(2 * n):
        near &= abs(out[i]) <= ROUNDED * (1.0 + abs(x[1 + i]))
        x_low[i] = 0.0
    if near:
        project(run, run.bridge, x, x_low)


@native
def root_at(run: RunRecord, h: float, theta: float) -> float:
    """The root of the vanishing pivot on the interpolated motion, brought back to the constraints."""
    x, x_low, row = at(run.x), at(run.x_low), shift(at(run.k), 16 * run.stride)
    interpolate(run, h, run.t_low, theta)
    for i in range(2 * run.n):
        x_low[i] = 0.0
    project(run, run.bridge, x, x_low)
    evaluate(run, row, x)
    return root(run, row, run.vanishing)


@seldom_native
def note(run: RunRecord, h: float) -> None:
    """Write down the crossing: its instant, by golden section, the least value of the pivot, and its two ends.

    Where a pivot vanishes its root is a straight line on either side. Where it only comes near zero, the pivot is a
    parabola above it, and two pairs of points tell how far.
    """
    n, now, new, table = run.n, at(run.now), at(run.new), at(run.bridges)
    a, b = 0.02, 0.98
    c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    at_c, at_d = root_at(run, h, c), root_at(run, h, d)
    for _ in range(28):
        if at_c < at_d:
            b, d, at_d = d, c, at_c
            c = b - GOLDEN * (b - a)
            at_c = root_at(run, h, c)
        else:
            a, c, at_c = c, d, at_d
            d = a + GOLDEN * (b - a)
            at_d = root_at(run, h, d)
    theta = (a + b) / 2
    left, right = root_at(run, h, theta - 0.002), root_at(run, h, theta + 0.002)
    if left + right > 0.0:
        theta += 0.002 * (left - right) / (left + right)
    far = square(root_at(run, h, theta - 0.01)) + square(root_at(run, h, theta + 0.01))
    near = square(root_at(run, h, theta - 0.002)) + square(root_at(run, h, theta + 0.002))
    least = (25.0 * near - far) / 48.0
    row = run.bridged * (4 + 4 * n)
    table[row] = now[0] + (run.t_low + theta * h)
    table[row + 1] = 0.0 if least <= SHARP * near else least
    for i in range(1 + 2 * n):
        table[row + 2 + i] = now[i]
        table[row + 3 + 2 * n + i] = new[i]
    run.bridged += 1
    run.ahead = 0
    run.tries = 0
    run.caution = 0
