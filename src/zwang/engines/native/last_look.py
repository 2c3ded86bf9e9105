"""The last look at a function where time has no finer parts: what is left is a jump, a kink, a pole or rounding.

Native functions (`compile.restricted`); each takes the record of a run and works in the arrays it points to.
"""

from typing import Final

from zwang.compile.restricted import native, seldom_native
from zwang.compile.restricted.memory import at, shift
from zwang.engines.native.looks import catch, look, recently, root, sample
from zwang.engines.native.numbers import larger, smaller
from zwang.engines.native.panel import LAST_POINT, PANEL_NODES, series
from zwang.engines.native.record import PANEL_POINTS, RunRecord
from zwang.engines.native.step import HUGE

LOOK_BESIDE, LOOK_FURTHER = 4.0, 12.0  # how far beside such a panel to look, in widths of it
AT_ZERO, AT_POLE = 0.6, 1.2  # a value next to a place, against one beside: at a zero it is below, at a pole above
STEADY: Final = 0.25  # of how much it falls towards a zero, that a function falls further away, where it does not jump
TALL: Final = 10.0  # a pole is that much larger than the function elsewhere in the step
SWITCHES: Final = 4.0  # times its rounding within which a switch is near


@seldom_native
def last_look(run: RunRecord, h: float, j: int, a: float, b: float) -> None:
    """Event j where time has no finer parts: a jump, a kink, a zero of high order, a pole, an end of where it is known.

    Beside a zero values fall towards it, beside a pole they rise, beside a jump they stay. How rough they are on both
    sides is how far they are known.
    """
    e, values, value, scale = run.events, shift(at(run.values), j), at(run.value), at(run.scale)[j]
    side = 0.0 if recently(run, h, j, a) else at(run.side)[j]
    first, end, width, fired = values[0], values[LAST_POINT * e], b - a, run.caught
    look(run, h, a - LOOK_BESIDE * width, value)
    before = value[j]
    look(run, h, b + LOOK_BESIDE * width, value)
    after = value[j]
    # What is beyond zero before the panel, as behind a start on it, has come from there already.
    comes = side * before > 0.0 and falls(run, h, j, a - LOOK_FURTHER * width, before, first)
    goes = falls(run, h, j, b + LOOK_FURTHER * width, after, end)
    pole = rises_to_pole(first, before, scale) or rises_to_pole(end, after, scale)
    # Both sides are asked and the smoother counts: a jump between them is rough on neither, rounding is on both.
    noise = smaller(roughness(run, h, j, a - 2 * width, a - width), roughness(run, h, j, b + width, b + 2 * width))
    at(run.noise)[j] = larger(at(run.noise)[j], noise) if abs(end) <= TALL * scale else 0.0
    may = side != 0.0 and not pole
    if may and not abs(end) <= HUGE:
        # It ends here, as a root does: at zero if it fell towards it.
        if comes:
            catch(run, j, a, side)
    elif may and side * end <= 0.0:
        # It passes zero, in a jump or steeply; what is beyond zero at the first point already passed before it.
        catch(run, j, root(run, h, j, a, first, b, end) if side * first > 0.0 else a, side)
    elif (
        may
        and side * after > 0.0
        and at(run.away)[j] != 0.0
        and touches(comes, goes, abs(end) > abs(before), abs(first) > abs(after))
    ):
        # It comes back to the side it was on: a touch, at the end that is nearer to zero.
        catch(run, j, a if abs(first) < abs(end) else b, side)
    elif may:
        catch_within(run, j, a, width, side)
    at(run.next_heading)[j] = 0.0
    stays = goes and (side == 0.0 or run.caught > fired)
    at(run.next_side)[j] = 0.0 if stays or not abs(end) <= HUGE else end


@native
def rises_to_pole(next_to: float, beside: float, scale: float) -> bool:
    """Whether a function rises towards a place, and is large there."""
    return abs(next_to) > AT_POLE * abs(beside) and abs(next_to) > TALL * scale


@seldom_native
def catch_within(run: RunRecord, j: int, a: float, width: float, side: float) -> None:
    """Event j where it is first at zero or beyond, if it is anywhere between the ends of a panel on its one side."""
    e, values, fired = run.events, shift(at(run.values), j), run.caught
    for i in range(1, LAST_POINT):
        if side * values[i * e] <= 0.0 and run.caught == fired and at(run.away)[j] != 0.0:
            catch(run, j, a + PANEL_NODES[i] * width, side)


@seldom_native
def falls(run: RunRecord, h: float, j: int, further: float, beside: float, near: float) -> bool:
    """Whether event j, known next to a place and beside it, falls towards zero there: not by a jump."""
    look(run, h, further, at(run.value))
    steadily = abs(at(run.value)[j]) - abs(beside) >= STEADY * (abs(beside) - abs(near))
    return steadily and abs(near) < AT_ZERO * abs(beside)


@native
def touches(comes: bool, goes: bool, jumps_off: bool, jumps_on: bool) -> bool:
    """Whether a function that falls before a panel and rises behind it, or jumps instead, is zero in it."""
    return (comes and (goes or jumps_off)) or (goes and jumps_on)


@seldom_native
def roughness(run: RunRecord, h: float, j: int, a: float, b: float) -> float:
    """How far event j is from smooth where only rounding can make it so: not where a switch of it is near."""
    e, c, spare, direction = run.events, at(run.zoomed), at(run.spare), at(run.direction)
    sample(run, h, a, b, 0, spare)
    for k in range(e):
        if direction[k] != direction[k] and k != j:
            for i in range(PANEL_POINTS):
                if not spare[k] * spare[i * e + k] > 0.0 or abs(spare[i * e + k]) <= SWITCHES * at(run.coarse)[k]:
                    return 0.0
    series(c, shift(at(run.spare), j), run.events)
    rough = abs(c[6]) + abs(c[7])
    return rough if rough <= HUGE else 0.0


@seldom_native
def only_ends(run: RunRecord, h: float, j: int) -> None:
    """Event j on a step that is hardly longer than time is fine."""
    side, first, end = at(run.side)[j], at(run.values)[j], at(run.values)[LAST_POINT * run.events + j]
    at(run.next_heading)[j] = 0.0
    at(run.next_side)[j] = end if abs(end) <= HUGE else 0.0
    if side != 0.0 and side * end <= 0.0:
        catch(run, j, root(run, h, j, 0.0, first, 1.0, end) if side * first > 0.0 else 0.0, side)
