"""Events of all lanes: steps in which none of them fires are searched for all lanes at once.

It is the search of a run (`event_roots`, `search`): the same panels, the same series, the same questions, up to the
answer that an event has no zero, goes one way or bends away from zero, or that the panel has to be smaller. A lane in
which anything else is seen, a zero most of all, is odd: the run tries the step again by itself, and finds out. What it
knew of its events before the step must still be there then. So what a step finds is kept beside it until the step is
accepted.

Native functions (`compile.restricted`).
"""

from typing import Final

from zwang.compile.restricted import Lanes, Mask, native
from zwang.compile.restricted.memory import call, shift
from zwang.engines.native.event_roots import PANEL_GROW, PANEL_SHRINK, clear, sketch, widened
from zwang.engines.native.lanes.group import Group
from zwang.engines.native.lanes.step import mask_of, rows
from zwang.engines.native.looks import finest, recently
from zwang.engines.native.numbers import alike, bits, choose, larger, smaller
from zwang.engines.native.panel import (
    IN_BEND,
    IN_SLOPE,
    IN_VALUE,
    LAST_POINT,
    PANEL_NODES,
    derivative,
    outweighs,
    series,
    tail,
)
from zwang.engines.native.record import PANEL_POINTS
from zwang.engines.native.search import FORGET, LEFT, SHORT_STEP, WIDE, see_grain
from zwang.engines.native.step import HUGE, interpolate

PANELS_TOGETHER: Final = 512
"""Panels of one step that lanes look at; one that needs more has them searched by itself."""


@native
def suspects(group: Group, which: Mask) -> Mask:
    """Some lanes, as far as an event may reach zero there within the step; for the others it is noted where it ends."""
    if group.event == 0:
        return mask_of(0)
    e, h, values, seen = group.events, group.step, rows(group.values), rows(group.seen)
    c, ends = rows(group.series), shift(rows(group.values), LAST_POINT * group.events)
    found = abs(h) > group.panel
    if bits(which & ~found) == 0:
        return which
    call(group.event, ends, rows(group.new), rows(group.work))
    for i in range(1, LAST_POINT):
        sketch(group, h, PANEL_NODES[i])
        call(group.event, shift(values, i * e), rows(group.x), rows(group.work))
    for j in range(e):
        values[j] = seen[j]
        series(c, shift(values, j), e)
        passes = clear(c, shift(c, PANEL_POINTS), rows(group.heading)[j], rows(group.coarse)[j])
        found |= ~passes | ~(rows(group.side)[j] * ends[j] >= 0.0) | (ends[j] == 0.0)
        rows(group.next_side)[j] = ends[j]
        rows(group.next_heading)[j] = ends[j] - values[(LAST_POINT - 1) * e + j]
        rows(group.next_away)[j] = alike(h, 1.0)
    group.next_behind = abs(h)
    group.next_panel = widened(group.panel, PANEL_GROW * abs(h), group.max_panel)
    return which & found  # type: ignore[no-any-return]  # a record's field


@native
def search(group: Group, which: Mask) -> Mask:
    """Search the step of some lanes, panel by panel, up to its end; the lanes in which nothing odd was met."""
    e, h, values, ends = (
        group.events,
        group.step,
        rows(group.values),
        shift(rows(group.values), LAST_POINT * group.events),
    )
    begin_search(group, which)
    searched = held = alike(h, 0.0)
    good, left, turns = which, which, 0
    while bits(left) != 0 and turns < PANELS_TOGETHER:
        turns += 1
        least = finest(group, h, searched)
        width = larger(least, smaller(group.next_panel / abs(h), 1.0 - searched))
        end = choose(1.0 - searched < 1.2 * width, 1.0, searched + width)
        size = (end - searched) * abs(h)
        sample(group, searched, end)
        passed, refused = judged(group, searched, end)
        usual = left & ~(end - searched <= 1.2 * least) & ~(least > SHORT_STEP)
        passed &= usual
        refused &= usual
        good &= passed | refused | ~left
        wider = widened(group.next_panel, size * choose(held != 0.0, 1.0, PANEL_GROW), group.max_panel)
        narrower = PANEL_SHRINK * (end - searched) * abs(h)
        group.next_panel = choose(passed, wider, choose(refused, narrower, group.next_panel))
        group.next_behind = choose(passed, size, group.next_behind)
        held = choose(passed, 0.0, choose(refused, 1.0, held))
        searched = choose(passed, end, searched)
        for j in range(e):
            rows(group.next_side)[j] = choose(passed, ends[j], rows(group.next_side)[j])
            heading = ends[j] - values[(LAST_POINT - 1) * e + j]
            rows(group.next_heading)[j] = choose(passed, heading, rows(group.next_heading)[j])
            left_zero = passed & (abs(ends[j]) > LEFT * rows(group.grain)[j])
            rows(group.next_away)[j] = choose(left_zero, 1.0, rows(group.next_away)[j])
            values[j] = choose(passed, ends[j], values[j])
        left = good & (searched < 1.0)
    return good & ~left


@native
def begin_search(group: Group, which: Mask) -> None:
    """What some lanes know of their events at the beginning of the step."""
    see_grain(group, rows(group.new))
    for j in range(group.events):
        rows(group.values)[j] = rows(group.seen)[j]
        rows(group.next_side)[j] = choose(which, rows(group.side)[j], rows(group.next_side)[j])
        rows(group.next_heading)[j] = choose(which, rows(group.heading)[j], rows(group.next_heading)[j])
        rows(group.next_away)[j] = choose(which, rows(group.away)[j], rows(group.next_away)[j])
    group.next_panel = choose(which, group.panel, group.next_panel)


@native
def sample(group: Group, a: Lanes, b: Lanes) -> None:
    """Events at the points of panels from a to b, but the first, at which they are known."""
    e, h, x, new = group.events, group.step, rows(group.x), rows(group.new)
    for i in range(1, PANEL_POINTS):
        if i < LAST_POINT:
            interpolate(group, h, group.t_low, a + PANEL_NODES[i] * (b - a))
        else:
            interpolate(group, h, group.t_low, b)
            for c in range(1 + 2 * group.n):
                x[c] = choose(b == 1.0, new[c], x[c])
        call(group.event, shift(rows(group.values), i * e), x, rows(group.work))


@native
def judged(group: Group, a: Lanes, b: Lanes) -> tuple[Mask, Mask]:
    """Lanes in which a panel shows that no event fires, and those in which it has to be smaller; the rest are odd."""
    h, e, c = group.step, group.events, rows(group.series)
    d, bend = shift(c, PANEL_POINTS), shift(c, 2 * PANEL_POINTS)
    wide, passed, usual = b - a > WIDE * finest(group, h, a), b == b, b == b
    for j in range(e):
        values = shift(rows(group.values), j)
        first, end = values[0], values[LAST_POINT * e]
        side = choose(recently(group, h, j, a), 0.0, rows(group.next_side)[j])
        largest, finite = alike(h, 0.0), b == b
        for i in range(PANEL_POINTS):
            largest = larger(abs(values[i * e]), largest)
            finite &= abs(values[i * e]) <= HUGE
        drowned = wide & (largest <= FORGET * LEFT * rows(group.grain)[j])
        turned = (side * rows(group.next_heading)[j] < 0.0) & (side * first > 0.0) & (side * (values[e] - first) > 0.0)
        series(c, values, e)
        derivative(d, c, LAST_POINT)
        derivative(bend, d, LAST_POINT - 1)
        left_out = tail(c)
        apart = outweighs(c, LAST_POINT, 1.0, IN_VALUE * left_out)
        one_way = outweighs(d, LAST_POINT - 1, 1.0, IN_SLOPE * left_out)
        bent = outweighs(bend, LAST_POINT - 2, 1.0, IN_BEND * left_out)
        shows = apart | one_way | bent
        stays = side * end > 0.0
        passes = (apart & ~(side * end < 0.0)) | (~apart & one_way & ((side == 0.0) | stays))
        passes |= ~apart & ~one_way & bent & stays & (bend[0] * side < 0.0)
        usual &= finite & ~drowned & ~turned & (passes | (~shows & (largest > 0.0)))
        passed &= passes
    return usual & passed, usual & ~passed


@native
def go_on(group: Group, which: Mask, watched: Mask) -> None:
    """The step of some lanes is accepted: what is known of events at its end is what is known now."""
    searched = which & watched
    for j in range(group.events):
        rows(group.side)[j] = choose(which, rows(group.next_side)[j], rows(group.side)[j])
        rows(group.seen)[j] = choose(which, rows(group.next_side)[j], rows(group.seen)[j])
        rows(group.heading)[j] = choose(which, rows(group.next_heading)[j], rows(group.heading)[j])
        rows(group.away)[j] = choose(which, rows(group.next_away)[j], rows(group.away)[j])
        rows(group.coarse)[j] = choose(searched, rows(group.grain)[j], rows(group.coarse)[j])
    group.panel = choose(which, group.next_panel, group.panel)
    group.behind = choose(which, group.next_behind, group.behind)
