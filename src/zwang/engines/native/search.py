"""Where functions of the state reach zero within a step, however often and however closely.

A step is searched panel by panel from its beginning (`events`). A panel is good when the `panel` series says of every
event that it has no zero there, or goes one way, or bends one way: then its zeros are bracketed, the lowest point of a
bend found first, and located to the last bits of time. Otherwise the panel is made smaller; where time has no finer
parts, what is left is a jump, a kink, a pole or rounding, and told apart by the values beside it (`last_look`).

*Sides.* An event has a side: the sign it had last, or zero. It fires where it reaches zero or passes it, coming from a
side that is not zero; after that it counts as zero until it has left it. So what touches zero fires once, what stays
at zero fires where it arrives, a start at zero does not fire, and nothing fires twice. What starts beside zero by no
more than rounding fires if it passes zero, but not because it is so near.

Native functions (`compile.restricted`); each takes the record of a run and works in the arrays it points to.
"""

from typing import Final

from zwang.arrays import EPS
from zwang.compile.restricted import Array, Numbers, Record, native, seldom_native
from zwang.compile.restricted.memory import at, call, shift
from zwang.engines.native.last_look import LOOK_BESIDE, TALL, falls, last_look, only_ends
from zwang.engines.native.looks import catch, finest, look, recently, root, sample, state_at
from zwang.engines.native.numbers import choose, larger, of, smaller
from zwang.engines.native.panel import (
    IN_BEND,
    IN_SLOPE,
    IN_VALUE,
    LAST_POINT,
    PANEL_NODES,
    derivative,
    extremum,
    outweighs,
    series,
    tail,
)
from zwang.engines.native.record import PANEL_POINTS, RunRecord
from zwang.engines.native.step import HUGE

ZOOM: Final = 8.0
BLUR, HIDDEN = 32.0, 8.0  # what is not above the roughness of a function by so much: zero to rounding, not seen
NOISY, ZERO, LEFT, FORGET = 4.0, 16.0, 64.0, 1000.0
"""Times its noise that blur the series of a function, that are zero, that have left zero, that have left the noise."""
WIDE: Final = 64.0  # a panel of so many last widths is wide enough to tell noise from time's own grain
TINY_SHARE: Final = 1e-8  # of how large a function is in a step: above it is not a matter of rounding
FAR: Final = 1e3  # times what it falls and rises by between two points: a function so far from zero does not reach it
SHORT_STEP: Final = 1e-3  # a step of which the last width is so large a part is not looked beside
AGO: Final = 0.01  # a step is known that far before its beginning


@seldom_native
def see_grain(run: Record, y: Numbers) -> None:
    """How much events change if a state changes in its last digits, at least to one side."""
    n, e, x, value = run.n, run.events, of(y[0], run.other), of(y[0], run.value)
    beside, grain, work = of(y[0], run.spare), of(y[0], run.grain), of(y[0], run.work)
    call(run.event, value, y, work)
    for j in range(e):
        grain[j] = 0.0
    for turn in range(2):
        for way in range(2):
            up = (2 - 4 * way) * EPS
            for i in range(1 + 2 * n):
                x[i] = y[i] * (1.0 + up)
                if turn == 1:
                    up = -up
            call(run.event, shift(beside, way * e), x, work)
        for j in range(e):
            change = smaller(abs(beside[j] - value[j]), abs(beside[e + j] - value[j]))
            grain[j] = choose(change <= HUGE, larger(grain[j], change), grain[j])


@native
def noise_on(run: RunRecord, h: float, j: int, a: float, b: float) -> float:
    """The rounding errors of event j on a panel, if they matter and the panel is wide enough to tell."""
    e, values, top = run.events, shift(at(run.values), j), 0
    for i in range(1, PANEL_POINTS):
        if not abs(values[i * e]) <= abs(values[top * e]):
            top = i
    if not b - a > WIDE * finest(run, h, a):
        return 0.0
    if not abs(values[top * e]) <= FORGET * LEFT * at(run.coarse)[j]:
        return at(run.noise)[j]
    state_at(run, h, a + PANEL_NODES[top] * (b - a))
    see_grain(run, at(run.x))
    return larger(at(run.noise)[j], at(run.grain)[j])


@native
def downhill(c: Array, bend: float, rough: float) -> float:
    """The end of a window towards which a function falls (bend > 0) or rises; its middle if its roughness hides that.

    Rounding is alike in all coefficients: the first one is not made of it if it is twice the sum of the last three.
    """
    if not abs(c[1]) > 2.0 * rough:
        return 0.0
    return -1.0 if bend * c[1] > 0.0 else 1.0


@seldom_native
def turning_point(
    run: RunRecord, h: float, j: int, a: float, b: float, centre: float, bend: float
) -> tuple[float, float]:
    """θ where event j, which bends one way from a to b, is nearest to the other side; on which side it is there.

    The side is 1 if the whole bend stays on its own, −1 if it reaches beyond zero, and 0 if it touches zero, as far as
    rounding lets see. `centre` is about where it is.

    Windows around it are made smaller as long as the bend stands out from the roughness of the function. On the first
    window on which it does not, the place is only known as far as on the window before: the function may be off its
    turning point by what is rough there, and being above zero by no more than that says nothing.
    """
    e, spare, c = run.events, at(run.spare), at(run.zoomed)
    d = shift(c, PANEL_POINTS)
    half, rough, known = 0.5 * (b - a) / ZOOM, HUGE, 0.0
    for _ in range(60):
        left, right = larger(a, centre - half), smaller(b, centre + half)
        sample(run, h, left, right, 0, spare)
        series(c, shift(spare, j), e)
        derivative(d, c, LAST_POINT)
        before, rough = rough, 0.0
        for k in range(5, PANEL_POINTS):
            rough += abs(c[k])
        unsure = BLUR * larger(rough, 0.25 * before)
        bent = abs(c[2]) > HIDDEN * rough
        known = rough if bent else larger(rough, known)
        lowest = 0
        for i in range(1, PANEL_POINTS):
            if bend * spare[i * e + j] < bend * spare[lowest * e + j]:
                lowest = i
        if bend * spare[lowest * e + j] < -unsure:
            return (right if lowest == LAST_POINT else left + PANEL_NODES[lowest] * (right - left)), -1.0
        u = extremum(d, LAST_POINT - 1, bend) if bent else downhill(c, bend, rough)
        centre = left + 0.5 * (1.0 + u) * (right - left)
        look(run, h, centre, at(run.value))
        if bend * at(run.value)[j] < -unsure:
            return centre, -1.0
        if (u > -0.9 or left == a) and (u < 0.9 or right == b):
            if outweighs(c, LAST_POINT, 1.0, larger(IN_VALUE * tail(c), BLUR * known)):
                return centre, (1.0 if bend * c[0] > 0.0 else -1.0)
            if not bent:
                at(run.noise)[j] = larger(at(run.noise)[j], rough)
                return centre, 0.0
            if right - left <= finest(run, h, centre):
                return centre, (0.0 if abs(at(run.value)[j]) <= 2 * (abs(c[1]) + abs(c[2])) + ZERO * rough else 1.0)
            half /= ZOOM
    return centre, 0.0


@native
def bends(
    run: RunRecord, h: float, j: int, side: float, a: float, b: float, first: float, end: float, bend: float
) -> None:
    """The zeros of event j, which bends one way from a to b: two at most."""
    if side != 0.0 and side * end < 0.0:
        catch(run, j, root(run, h, j, a, first, b, end) if side * first > 0.0 else a, side)
    elif bend * side >= 0.0 and (bend * end >= 0.0 or side == 0.0):
        # Towards zero and back, or from zero.
        centre = a + 0.5 * (1.0 + extremum(shift(at(run.series), PANEL_POINTS), LAST_POINT - 1, bend)) * (b - a)
        theta, on = turning_point(run, h, j, a, b, centre, bend)
        if on < 0.0:
            look(run, h, theta, at(run.value))
            beyond = at(run.value)[j]
            if side != 0.0:
                catch(run, j, root(run, h, j, a, first, theta, beyond) if side * first > 0.0 else a, side)
            if bend * end >= 0.0:
                catch(run, j, root(run, h, j, theta, beyond, b, end), -bend)
        elif on == 0.0 and side != 0.0 and at(run.away)[j] != 0.0:
            catch(run, j, theta, side)
            if abs(end) <= LEFT * at(run.noise)[j]:
                at(run.next_side)[j] = 0.0
        elif end == 0.0 and side != 0.0:
            catch(run, j, b, side)
    elif end == 0.0 and side != 0.0:
        catch(run, j, b, side)


@native
def judge(run: RunRecord, h: float, j: int, a: float, b: float) -> bool:
    """Whether a panel shows all zeros of event j; then they are caught, and where it is at the end is noted."""
    e, c, side, fired = run.events, at(run.series), 0.0 if recently(run, h, j, a) else at(run.side)[j], run.caught
    values = shift(at(run.values), j)
    d, bend = shift(c, PANEL_POINTS), shift(c, 2 * PANEL_POINTS)
    first, end = values[0], values[LAST_POINT * e]
    series(c, values, e)
    if abs(c[0]) > FORGET * at(run.noise)[j]:
        at(run.noise)[j] = 0.0
    noise = noise_on(run, h, j, a, b)
    left_out = larger(0.0, tail(c) - NOISY * noise)
    at(run.next_side)[j] = end
    at(run.next_heading)[j] = end - values[(LAST_POINT - 1) * e]
    turns = side * at(run.heading)[j] < 0.0 and side * first > 0.0 and side * (values[e] - first) > 0.0
    if turns and abs(first) <= FAR * (abs(at(run.heading)[j]) + abs(values[e] - first)):
        theta, on = hidden_turn(run, h, j, a, b, first, side, noise)
        if on < 0.0:
            return False
        if on == 0.0 and at(run.away)[j] != 0.0:
            catch(run, j, theta, side)
            side = 0.0
    if outweighs(c, LAST_POINT, 1.0, IN_VALUE * left_out + (ZERO if side != 0.0 else LEFT) * noise):
        if side * end < 0.0:
            catch(run, j, a, side)
        return True
    derivative(d, c, LAST_POINT)
    derivative(bend, d, LAST_POINT - 1)
    one_way = outweighs(d, LAST_POINT - 1, 1.0, IN_SLOPE * left_out)
    if not one_way and not outweighs(bend, LAST_POINT - 2, 1.0, IN_BEND * left_out):
        return at_rest(run, j, side, a, noise)
    if one_way:
        if side != 0.0 and side * end <= 0.0:
            catch(run, j, root(run, h, j, a, first, b, end) if side * first > 0.0 else a, side)
    else:
        bends(run, h, j, side, a, b, first, end, 1.0 if bend[0] > 0.0 else -1.0)
    if run.caught > fired:
        at(run.next_heading)[j] = 0.0
    return True


@seldom_native
def hidden_turn(
    run: RunRecord, h: float, j: int, a: float, b: float, first: float, side: float, noise: float
) -> tuple[float, float]:
    """θ where event j, which fell towards zero before a and rises behind it, is nearest to zero; its side there.

    Such a turn is in neither of the panels that meet at a: each of them sees it go one way. It is between the last two
    points of the one and the first two of the other. The side is 1 if it stays on its own, 0 if it touches zero, and −1
    if panels have to be smaller.
    """
    c, d, spare = at(run.zoomed), shift(at(run.zoomed), PANEL_POINTS), at(run.spare)
    left = a - smaller(PANEL_NODES[1] * larger(run.behind / abs(h), finest(run, h, a)), a + AGO)
    right = a + PANEL_NODES[1] * (b - a)
    sample(run, h, left, right, 0, spare)
    series(c, shift(spare, j), run.events)
    left_out = larger(0.0, tail(c) - NOISY * noise)
    derivative(d, c, LAST_POINT)
    derivative(c, d, LAST_POINT - 1)
    if outweighs(c, LAST_POINT - 2, 1.0, IN_BEND * left_out):
        return turning_point(run, h, j, left, right, a, 1.0 if side > 0.0 else -1.0)
    return kink(run, h, j, a, first)


@seldom_native
def kink(run: RunRecord, h: float, j: int, a: float, first: float) -> tuple[float, float]:
    """Where a kink is lowest: the function falls up to it and rises behind it; −1 if it still falls at a.

    As it fell at the end of the panel before a, the kink is in that panel. What would have been zero earlier only
    seemed to fall, in the last digits of a function that is far from zero.
    """
    value, aside = at(run.value), LOOK_BESIDE * finest(run, h, a)
    look(run, h, a + aside, value)
    rises = abs(value[j]) - abs(first)
    if rises <= 0.0:
        return a, -1.0
    ago, behind = aside * abs(first) / rises, larger(run.behind / abs(h), aside)
    left, right = a - smaller(larger(2.0 * ago, aside), behind), a
    if ago > behind or left < -AGO:
        return a, 1.0
    for _ in range(100):
        third = (right - left) / 3.0
        look(run, h, left + third, value)
        lower = abs(value[j])
        look(run, h, right - third, value)
        if lower < abs(value[j]):
            right -= third
        else:
            left += third
    look(run, h, left, value)
    lowest = abs(value[j])
    look(run, h, left - aside, value)
    touches = first * value[j] > 0.0 and falls(run, h, j, left - 2.0 * aside, value[j], lowest)
    return smaller(left, a - EPS * aside), 0.0 if touches else 1.0


@native
def at_rest(run: RunRecord, j: int, side: float, a: float, noise: float) -> bool:
    """Whether event j is zero all over the panel, to rounding, or not defined there."""
    e, values = run.events, shift(at(run.values), j)
    largest, known = 0.0, False
    for i in range(PANEL_POINTS):
        known |= abs(values[i * e]) <= HUGE
        largest = larger(largest, abs(values[i * e]))
    if known:
        most = TALL * at(run.scale)[j] if at(run.direction)[j] == at(run.direction)[j] else HUGE
        if not largest <= smaller((ZERO if side != 0.0 else LEFT) * noise, most):
            return False
        if side != 0.0 and (largest == 0.0 or at(run.away)[j] != 0.0):
            catch(run, j, a, side)
        elif side != 0.0:
            at(run.next_side)[j] = side
            return True
    at(run.next_side)[j] = 0.0
    return True


@seldom_native
def same_zero(run: RunRecord, h: float, j: int, theta: float) -> bool:
    """Whether event j, about to fire at θ, has been no more than rounding since it fired last."""
    e, c, beside, largest = run.events, at(run.zoomed), shift(at(run.spare), j), 0.0
    since = (at(run.fired)[j] - at(run.now)[0] - run.t_low) / h
    if not -AGO <= since <= theta:
        return False
    sample(run, h, since, theta, 0, at(run.spare))
    for i in range(1, LAST_POINT):
        largest = larger(largest, abs(beside[i * e]))
    series(c, beside, e)
    return largest <= TINY_SHARE * at(run.scale)[j] and largest <= BLUR * (abs(c[6]) + abs(c[7]))


@seldom_native
def look_at_switch(run: RunRecord, h: float, j: int, a: float, b: float) -> None:
    """Switch j on a last panel. If one like it was right before, then what it depends on is rounding there."""
    e, values, noise, before = run.events, shift(at(run.values), j), at(run.noise), run.caught
    clear, t = judge(run, h, j, a, b), at(run.now)[0] + (run.t_low + a * h)
    if not clear:
        last_look(run, h, j, a, b)
    if not clear or run.caught > before:
        if abs(t - at(run.fired)[j]) <= FORGET * finest(run, h, a) * abs(h):
            for i in range(PANEL_POINTS):
                noise[j] = larger(noise[j], abs(values[i * e])) if abs(values[i * e]) <= HUGE else noise[j]
        at(run.fired)[j] = t


@native
def all_judged(run: RunRecord, h: float, a: float, b: float, last: bool) -> bool:
    """Whether a panel is good for all events.

    It is not if it holds a switch: an event that jumps there, or jumps there and back, may look smooth. What is seen
    of that in a last panel is not recorded, for no direction that is not a number is the one it comes from.
    """
    direction = at(run.direction)
    run.caught = 0
    for j in range(run.events):
        before = run.caught
        if last and finest(run, h, 0.0) > SHORT_STEP:
            only_ends(run, h, j)
        elif last and direction[j] != direction[j]:
            look_at_switch(run, h, j, a, b)
        elif last:
            last_look(run, h, j, a, b)
        elif not judge(run, h, j, a, b) or (direction[j] != direction[j] and run.caught > before):
            return False
    return True
