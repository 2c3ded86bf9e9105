"""One step of all lanes of a group, as far as it is not that of one run: `step`, `pivots` and `control` have that.

Native functions. A lane computes the same bits as a run by itself, as far as its acceleration has them
(`compile.lanes`). What happens seldom is not done here: a lane that meets it is odd, and its attempt counts for
nothing.
"""

import math
from typing import Any

from llvmlite import ir

from zwang.compile.lanes import LANES
from zwang.compile.restricted import Lanes, Mask, Rows, intrinsic, native
from zwang.compile.restricted.memory import call, shift
from zwang.compile.restricted.module import FLOAT
from zwang.engines.native.control import aimed, too_short
from zwang.engines.native.lanes.group import Group
from zwang.engines.native.numbers import alike, choose, smaller
from zwang.engines.native.pivots import extremes
from zwang.engines.native.step import finite


@intrinsic
def rows(builder: Any, address: Any) -> Rows:
    """An address kept as an integer, as the array of lanes it is."""
    array: Rows = builder.inttoptr(address, ir.VectorType(FLOAT, LANES).as_pointer())
    return array


@intrinsic
def holds(builder: Any, number: Any, lane: Any) -> bool:
    """Whether a lane is set in a number made by `bits`."""
    bit: bool = builder.trunc(builder.lshr(number, lane), ir.IntType(1))
    return bit


@intrinsic
def mask_of(builder: Any, number: Any) -> Mask:
    """The mask of a number made by `bits`."""
    wide = ir.VectorType(ir.IntType(1), LANES)
    mask: Mask = builder.bitcast(builder.trunc(number, ir.IntType(wide.count)), wide)
    return mask


@native
def plan(group: Group) -> Mask:
    """The next step of each lane; the lanes that have arrived, at the end or at a break, or can take no step."""
    t, new, sign, t_low = rows(group.now)[0], rows(group.new), group.sign, group.t_low
    remaining, size = (group.stop - t) - t_low, smaller(group.h, group.max_step)
    group.step, new[0], group.step_low = aimed(t, t_low, remaining, sign * size, group.stop)
    over = group.accepted + group.rejected >= group.step_limit
    stopped = (group.number >= 0.0) & ((sign * remaining <= 0.0) | too_short(t, remaining, size) | over)
    group.h = choose(stopped, group.h, size)
    return stopped  # type: ignore[no-any-return]


@native
def evaluate(group: Group, s: int, x: Rows) -> Mask:
    """Row s of k = acceleration and pivots at x; the lanes in which all accelerations are finite."""
    call(group.acceleration, shift(rows(group.k), s * group.stride), x, rows(group.work))
    return finite(group, x[0], s, s)  # type: ignore[no-any-return]


@native
def calm_pivots(group: Group, last: int) -> tuple[Lanes, Mask]:
    """The lowest pivot of the stages up to one, in units of its scale, and the lanes in which none comes near zero."""
    lowest, least, even, _ = extremes(group, alike(group.step, math.inf), last)
    return lowest, even & (least >= group.zone)
