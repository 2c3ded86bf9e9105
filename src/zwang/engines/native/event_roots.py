"""Events: the search of each step for them, and what becomes of those found.

Native functions (`compile.restricted`); each takes the record of a run and works in the arrays it points to.
"""

import math
from typing import Final

from zwang.compile.restricted import Number, Numbers, Record, Truth, native, seldom_native
from zwang.compile.restricted.memory import at, call, shift
from zwang.engines.native.looks import FINEST, finest, sample, state_at
from zwang.engines.native.numbers import larger, of, smaller
from zwang.engines.native.panel import IN_SLOPE, IN_VALUE, LAST_POINT, PANEL_NODES, derivative, outweighs, series, tail
from zwang.engines.native.record import PANEL_POINTS, RunRecord
from zwang.engines.native.search import LEFT, SHORT_STEP, all_judged, same_zero, see_grain
from zwang.engines.native.step import HUGE, read

DONE, PAUSED, FULL, STOPPED, LOST = 0, 1, 2, 3, 4
"""How a search ended: all is searched, a pause for others, no room in the table, a terminal event, hopeless."""

PANEL_SHRINK, PANEL_GROW, PANEL_LEAP = 0.3, 2.0, 80.0
"""The next panel, after one that was refused, accepted at once, or accepted though it was the last one possible."""
PANELS_A_SLICE: Final = 4096  # panels before a pause
PANELS: Final = 400_000  # in one step, beyond which it is hopeless: a second's work, and events of half a gigabyte
ROUGHLY: Final = 1.25  # how much more must be clear on a sketch, which is not the motion itself


@native
def sketch(run: Record, h: Number, theta: float) -> None:
    """x = roughly the state at t + θh by Hermite's polynomials: shows where events may be, at no evaluation."""
    n, now, new, x, f = run.n, of(h, run.now), of(h, run.new), of(h, run.x), of(h, run.k)
    a, b, end = theta, 1.0 - theta, 12 * run.stride
    x[0] = now[0] + (run.t_low + theta * h)
    for i in range(n):
        q0, v0, f0 = now[1 + i], now[1 + n + i], f[i]
        q1, v1, f1 = new[1 + i], new[1 + n + i], f[end + i]
        from_start = q0 * (1 + 3 * a + 6 * a * a) + h * a * (v0 * (1 + 3 * a) + 0.5 * h * a * f0)
        from_end = q1 * (1 + 3 * b + 6 * b * b) - h * b * (v1 * (1 + 3 * b) - 0.5 * h * b * f1)
        x[1 + i] = b * b * b * from_start + a * a * a * from_end
        x[1 + n + i] = b * b * (v0 * (1 + 2 * a) + h * a * f0) + a * a * (v1 * (1 + 2 * b) - h * b * f1)


@native
def clear(c: Numbers, d: Numbers, heading: Number, coarse: Number) -> Truth:
    """Whether an event with the series c on a sketch of a step has no zero there, or goes one way as it went before.

    What is d is overwritten.
    """
    rough, left_out = LEFT * coarse, tail(c)
    derivative(d, c, LAST_POINT)
    goes_on = outweighs(d, LAST_POINT - 1, ROUGHLY, IN_SLOPE * left_out + rough) & ~(heading * d[0] < 0.0)
    return outweighs(c, LAST_POINT, ROUGHLY, IN_VALUE * left_out + rough) | goes_on


@native
def suspect(run: RunRecord, h: float) -> bool:
    """Whether an event may reach zero within the step; if not, its end becomes where events are seen from."""
    e, values, side, c = run.events, at(run.values), at(run.side), at(run.series)
    d, heading, next_heading = shift(c, PANEL_POINTS), at(run.heading), at(run.next_heading)
    if abs(h) > run.panel:
        return True
    call(run.event, shift(values, LAST_POINT * e), at(run.new), at(run.work))
    for j in range(e):
        if side[j] * values[LAST_POINT * e + j] < 0.0:
            return True
    for i in range(1, LAST_POINT):
        sketch(run, h, PANEL_NODES[i])
        call(run.event, shift(values, i * e), at(run.x), at(run.work))
    for j in range(e):
        end = values[LAST_POINT * e + j]
        if not side[j] * end >= 0.0 or end == 0.0:
            return True
        series(c, shift(values, j), e)
        next_heading[j] = end - values[(LAST_POINT - 1) * e + j]
        if not clear(c, d, heading[j], at(run.coarse)[j]):
            return True
    for j in range(e):
        side[j], values[j], heading[j] = values[LAST_POINT * e + j], values[LAST_POINT * e + j], next_heading[j]
        at(run.away)[j] = 1.0
    run.behind = abs(h)
    run.panel = widened(run.panel, PANEL_GROW * abs(h), run.max_panel)
    return False


@native
def widened(panel: Number, width: Number, most: float) -> Number:
    """A panel of such a width may be tried next.

    It is little wider than one that was good: one that is much too wide for a function might look good by chance.
    """
    return smaller(larger(width, panel), most)


@native
def begin_search(run: RunRecord) -> None:
    """Start searching a step, from its beginning."""
    see_grain(run, at(run.new))
    for j in range(run.events):
        at(run.coarse)[j] = at(run.grain)[j]
    run.searched, run.panels, run.pause, run.held_panel = 0.0, 0, 0, 0


@seldom_native
def search(run: RunRecord, h: float, limit: float) -> int:
    """Search a step from where it was left to θ = limit, or to a terminal event, whose θ is then `stop`."""
    e, values, side, next_side, scale = run.events, at(run.values), at(run.side), at(run.next_side), at(run.scale)
    while run.searched < limit:
        if run.rows - run.found < 2 * e:
            return FULL
        if run.pause == PANELS_A_SLICE:
            run.pause = 0
            return PAUSED
        if run.panels == PANELS:
            return LOST
        a = run.searched
        least = finest(run, h, a)
        width = 1.0 if least > SHORT_STEP else larger(least, smaller(run.panel / abs(h), limit - a))
        b = limit if limit - a < 1.2 * width else a + width
        last = b - a <= 1.2 * least or least > SHORT_STEP
        sample(run, h, a, b, 1, values)
        if run.panels == 0:
            for j in range(e):
                scale[j] = 0.0
                at(run.noise)[j] = 0.0
                for i in range(PANEL_POINTS):
                    scale[j] = larger(scale[j], abs(values[i * e + j]))
        run.panels += 1
        run.pause += 1
        if not all_judged(run, h, a, b, last):
            run.panel, run.held_panel = PANEL_SHRINK * (b - a) * abs(h), 1
            continue
        factor = PANEL_LEAP if last else 1.0 if run.held_panel != 0 else PANEL_GROW
        run.panel = widened(run.panel, (b - a) * abs(h) * factor, run.max_panel)
        run.held_panel = 0
        if run.caught > 0 and record(run, h):
            return STOPPED
        run.searched, run.behind = b, (b - a) * abs(h)
        for j in range(e):
            side[j], values[j], at(run.heading)[j] = next_side[j], values[LAST_POINT * e + j], at(run.next_heading)[j]
            if abs(values[j]) > LEFT * at(run.coarse)[j]:
                at(run.away)[j] = 1.0
    return DONE


@seldom_native
def record(run: RunRecord, h: float) -> bool:
    """Write what a panel has caught into the table, up to the first terminal event; True if there is one.

    Events at the same instant, to the last bits of time, all count; the one that stops comes last.
    """
    roots, which, come_from = at(run.roots), at(run.which), at(run.come_from)
    direction, terminal = at(run.direction), at(run.terminal)
    stops, together = -1, math.inf
    for r in range(run.caught):
        j = int(which[r])
        if roots[r] > together:
            break  # it has not fired: after a jump the motion comes there another way, or later, or not at all
        if same_zero(run, h, j, roots[r]):
            come_from[r] = math.nan
        at(run.fired)[j] = at(run.now)[0] + (run.t_low + roots[r] * h)
        if stops < 0 and terminal[j] != 0.0 and direction[j] * come_from[r] <= 0.0:
            stops, run.stop = r, roots[r]
            together = run.stop + FINEST * (abs(at(run.now)[0] / h) + run.stop)
    for r in range(run.caught):
        counts = direction[int(which[r])] * come_from[r] <= 0.0
        if counts and r != stops and (stops < 0 or roots[r] <= together):
            write(run, h, smaller(roots[r], run.stop) if stops >= 0 else roots[r], which[r])
    if stops >= 0:
        write(run, h, run.stop, which[stops])
        see_from(run, h, together)
    return stops >= 0


@seldom_native
def write(run: RunRecord, h: float, theta: float, j: float) -> None:
    """Write one event into the table."""
    if run.degree == 0:
        read(run, h, theta)
    else:
        state_at(run, h, theta)
    put_down(run, j)


@seldom_native
def put_down(run: RunRecord, j: float) -> None:
    """Event j, at the state x, into the table."""
    n, x = run.n, at(run.x)
    row = shift(at(run.table), run.found * (2 + 2 * n))
    row[0] = x[0]
    row[1] = j
    for i in range(2 * n):
        row[2 + i] = x[1 + i]
    run.found += 1


@seldom_native
def see_from(run: RunRecord, h: float, together: float) -> None:
    """Sides at a terminal event, of which the state is x: what has fired there counts as zero until it has left.

    Of the others, none is taken to be where it comes to only later: rounding must not hide an event.
    """
    side, next_side, value = at(run.side), at(run.next_side), at(run.value)
    roots, which, come_from = at(run.roots), at(run.which), at(run.come_from)
    call(run.event, value, at(run.x), at(run.work))
    for j in range(run.events):
        came = 0.0
        fired = False
        for r in range(run.caught):
            if int(which[r]) == j and roots[r] <= together:
                came, fired = come_from[r], True
        if fired:
            side[j] = value[j] if came * value[j] < 0.0 and not near_stop(run, h, j) else 0.0
        elif side[j] == 0.0:
            side[j] = value[j] if next_side[j] * value[j] > 0.0 else 0.0
        elif side[j] * value[j] > 0.0:
            side[j] = value[j]


@seldom_native
def near_stop(run: RunRecord, h: float, j: int) -> bool:
    """Whether event j fired where the run stops."""
    roots, which = at(run.roots), at(run.which)
    apart, near = FINEST * (abs(at(run.now)[0] / h) + run.stop), False
    for r in range(run.caught):
        near |= int(which[r]) == j and abs(roots[r] - run.stop) <= apart
    return near


@seldom_native
def stop_inside(run: RunRecord) -> None:
    """The terminal event, last in the table, becomes the state."""
    n, now, low = run.n, at(run.now), at(run.low)
    row = shift(at(run.table), (run.found - 1) * (2 + 2 * n))
    now[0] = row[0]
    for i in range(2 * n):
        now[1 + i] = row[2 + i]
        low[i] = 0.0
    run.t_low = 0.0
    run.fresh = 1
    run.accepted += 1


@seldom_native
def see_start(run: RunRecord) -> None:
    """Events at a start: those that are zero, or have fired at a stop there, count as zero until they have left it."""
    e, values, side = run.events, at(run.values), at(run.side)
    see_grain(run, at(run.now))
    call(run.event, values, at(run.now), at(run.work))
    for j in range(e):
        at(run.heading)[j] = 0.0
        at(run.away)[j] = 1.0 if abs(values[j]) > LEFT * at(run.grain)[j] else 0.0
        if side[j] != 0.0:
            side[j] = values[j] if abs(values[j]) <= HUGE else 0.0


@seldom_native
def cross_break(run: RunRecord) -> bool:
    """Events that fire because they read otherwise behind a break; True if one of them is terminal.

    What jumps to zero has reached it. What jumps over it counts if its own expression jumps, not if a signal does.
    """
    n, now, x, values, side = run.n, at(run.now), at(run.x), at(run.values), at(run.side)
    direction, terminal, jumps, stops = at(run.direction), at(run.terminal), at(run.jumps), -1
    call(run.event, values, now, at(run.work))
    for i in range(1 + 2 * n):
        x[i] = now[i]
    for j in range(run.events):
        was, reads = side[j], values[j]
        if was != 0.0 and abs(was) <= HUGE and (reads == 0.0 or (jumps[j] != 0.0 and was * reads < 0.0)):
            side[j] = reads
            if direction[j] * was <= 0.0:
                if stops < 0 and terminal[j] != 0.0:
                    stops = j
                else:
                    put_down(run, j)
    if stops >= 0:
        put_down(run, stops)
    return stops >= 0
