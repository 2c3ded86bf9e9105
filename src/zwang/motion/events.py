"""Events: where functions of the state cross zero within a step, located on the interpolant.

Native functions (`compile.restricted`); each takes the record of a run and works in the arrays it points to.
"""

from zwang.compile.restricted import native, seldom_native
from zwang.motion.memory import PARTS, Run
from zwang.motion.step import EPS, interpolate, larger, read
from zwang.motion.sums import at, call, shift


@native
def sketch(run: Run, h: float, theta: float) -> None:
    """x = roughly the state at t + θh by Hermite's polynomials: shows where events may be, at no evaluation."""
    n, now, new, x, f, a, b = run.n, at(run.now), at(run.new), at(run.x), at(run.k), theta, 1.0 - theta
    end = 12 * run.stride
    x[0] = now[0] + (run.t_low + theta * h)
    for i in range(n):
        q0, v0, f0 = now[1 + i], now[1 + n + i], f[i]
        q1, v1, f1 = new[1 + i], new[1 + n + i], f[end + i]
        from_start = q0 * (1 + 3 * a + 6 * a * a) + h * a * (v0 * (1 + 3 * a) + 0.5 * h * a * f0)
        from_end = q1 * (1 + 3 * b + 6 * b * b) - h * b * (v1 * (1 + 3 * b) - 0.5 * h * b * f1)
        x[1 + i] = b * b * b * from_start + a * a * a * from_end
        x[1 + n + i] = b * b * (v0 * (1 + 2 * a) + h * a * f0) + a * a * (v1 * (1 + 2 * b) - h * b * f1)


@native
def crosses(before: float, after: float, direction: float) -> bool:
    """Does an event fire between two values? Reaching zero does, leaving it does not."""
    return (before < 0.0 <= after and direction >= 0.0) or (before > 0.0 >= after and direction <= 0.0)


@native
def suspect(run: Run, h: float) -> bool:
    """Event values at the end and, roughly, inside the step; True when one of them crosses."""
    e, values, direction = run.events, at(run.values), at(run.direction)
    call(run.event, shift(values, PARTS * e), at(run.new), at(run.work))
    for m in range(1, PARTS):
        sketch(run, h, m / PARTS)
        call(run.event, shift(values, m * e), at(run.x), at(run.work))
    for m in range(PARTS):
        for j in range(e):
            if crosses(values[m * e + j], values[m * e + e + j], direction[j]):
                return True
    return False


@native
def root(run: Run, h: float, j: int, a: float, fa: float, b: float, fb: float) -> float:
    """θ in (a, b] where event j has reached zero, to the last bits of time.

    The ITP method of Oliveira and Takahashi (2020): as fast as the secant method, at worst bisection.
    """
    value = at(run.value)
    tolerance = 2 * EPS * (1.0 + abs(at(run.now)[0] / h))
    reach = 2 * (b - a)
    while b - a > 2 * tolerance and fb != 0.0:
        middle, secant, width = 0.5 * (a + b), (b * fa - a * fb) / (fa - fb), b - a
        toward = 1.0 if middle > secant else -1.0
        nudge = width * width
        theta = secant + toward * nudge if nudge <= abs(middle - secant) else middle
        radius = larger(0.0, reach - 0.5 * width)
        if abs(theta - middle) > radius:
            theta = middle - toward * radius
        reach *= 0.5
        interpolate(run, h, theta)
        call(run.event, value, at(run.x), at(run.work))
        if value[j] * fa > 0.0:
            a, fa = theta, value[j]
        else:
            b, fb = theta, value[j]
    return b


@seldom_native
def find_roots(run: Run, h: float) -> int:
    """All crossings of the step, in order of time, into roots and which; returns their number."""
    e, values, roots, which = run.events, at(run.values), at(run.roots), at(run.which)
    direction = at(run.direction)
    for m in range(1, PARTS):
        interpolate(run, h, m / PARTS)
        call(run.event, shift(values, m * e), at(run.x), at(run.work))
    found = 0
    for m in range(PARTS):
        for j in range(e):
            before, after = values[m * e + j], values[m * e + e + j]
            if crosses(before, after, direction[j]):
                theta = root(run, h, j, m / PARTS, before, (m + 1) / PARTS, after)
                slot = found
                while slot > 0 and roots[slot - 1] > theta:
                    roots[slot], which[slot] = roots[slot - 1], which[slot - 1]
                    slot -= 1
                roots[slot], which[slot] = theta, j
                found += 1
    return found


@seldom_native
def record_events(run: Run, h: float) -> float:
    """Crossings up to the first terminal one into the table; returns its θ, or 2 if there is none."""
    n, x, roots, which, terminal = run.n, at(run.x), at(run.roots), at(run.which), at(run.terminal)
    end = 2.0
    for r in range(find_roots(run, h)):
        if roots[r] > end:
            break
        read(run, h, roots[r])
        row = shift(at(run.table), run.found * (2 + 2 * n))
        row[0] = x[0]
        row[1] = which[r]
        for i in range(2 * n):
            row[2 + i] = x[1 + i]
        run.found += 1
        if terminal[int(which[r])] != 0.0:
            end = roots[r]
    return end


@seldom_native
def stop_inside(run: Run, end: float) -> None:
    """The terminal event, last in the table, becomes the state. What has fired counts as zero until it is left."""
    n, now, low, values, roots, which = run.n, at(run.now), at(run.low), at(run.values), at(run.roots), at(run.which)
    row = shift(at(run.table), (run.found - 1) * (2 + 2 * n))
    now[0] = row[0]
    for i in range(2 * n):
        now[1 + i] = row[2 + i]
        low[i] = 0.0
    run.t_low = 0.0
    call(run.event, values, now, at(run.work))
    r = 0
    while r < PARTS * run.events and roots[r] <= end:
        if roots[r] == end:
            values[int(which[r])] = 0.0
        r += 1
    run.fresh = 1
    run.accepted += 1
