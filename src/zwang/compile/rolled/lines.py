"""Small supernodes, whose columns are one line of `LANES` rows: straight-line code for each width.

What `panels` does in loops is here done in registers. Intrinsics of native functions; `width` is a constant of the
source.
"""

from typing import Any, Final

import numpy as np
from llvmlite import ir

from zwang.compile.lanes import LANES
from zwang.compile.restricted import Array, Record, intrinsic
from zwang.compile.restricted.module import FLOAT, INT, spread

LINE: Final = ir.VectorType(FLOAT, LANES)

_PAIRS = [[LANES * a + b for a in range(rows) for b in range(a, rows)] for rows in range(LANES + 1)]
TRIANGLE: Final = np.array([place for pairs in _PAIRS for place in pairs], dtype=np.int64)
"""Where the lower triangle of so many rows and columns is in lines, for each number of rows."""
TRIANGLE_BEGINS: Final = np.cumsum([0, *map(len, _PAIRS)])


@intrinsic
def eliminate_line(builder: Any, width: int, rows: int, panel: Array, pivots: Array, taken: Array) -> None:
    """The columns of a panel, and what they take from those of the rows below: a line for each of these."""
    count = constant(width)
    columns = [builder.load(line(builder, panel, LANES * k), align=8) for k in range(count)]
    scaled = []
    for k in range(count):
        pivot = builder.extract_element(columns[k], ir.IntType(32)(k))
        builder.store(pivot, builder.gep(pivots, [INT(k)]))
        scaled.append(builder.fdiv(columns[k], spread(builder, pivot, LINE)))
        builder.store(scaled[k], line(builder, panel, LANES * k), align=8)
        for j in range(k + 1, count):
            columns[j] = builder.fsub(columns[j], builder.fmul(everywhere(builder, scaled[k], j), columns[k]))
    done = builder.append_basic_block("done")
    for i in range(LANES - count):
        more = builder.append_basic_block("row")
        builder.cbranch(builder.icmp_signed(">", rows, INT(i)), more, done)
        builder.position_at_end(more)
        found = builder.fmul(scaled[0], everywhere(builder, columns[0], count + i))
        for k in range(1, count):
            share = builder.fmul(scaled[k], everywhere(builder, columns[k], count + i))
            found = builder.fadd(found, share)
        builder.store(found, line(builder, taken, LANES * i), align=8)
    builder.branch(done)
    builder.position_at_end(done)


@intrinsic
def forwards_line(builder: Any, width: int, panel: Array, own: Array, taken: Array) -> None:
    """Solve with L of a panel; what that takes from the rows below is put down."""
    count = constant(width)
    values = [builder.load(builder.gep(own, [INT(k)])) for k in range(count)]
    for k in range(count):
        for j in range(k + 1, count):
            entry = builder.load(builder.gep(panel, [INT(LANES * k + j)]))
            values[j] = builder.fsub(values[j], builder.fmul(entry, values[k]))
    found: Any = None
    for k, value in enumerate(values):
        builder.store(value, builder.gep(own, [INT(k)]))
        column = builder.load(line(builder, panel, LANES * k), align=8)
        share = builder.fmul(column, spread(builder, value, LINE))
        found = share if found is None else builder.fadd(found, share)
    builder.store(found, line(builder, taken, 0), align=8)


@intrinsic
def backwards_line(
    builder: Any, width: int, rows: int, below: Record, panel: Array, pivots: Array, own: Array, x: Array
) -> None:
    """Solve with D and Lᵀ of a panel, the rows below being solved already."""
    count = constant(width)

    def number(array: Any, place: Any) -> Any:
        return builder.load(builder.gep(array, [place]))

    values = [builder.fdiv(number(own, INT(k)), number(pivots, INT(k))) for k in range(count)]
    before, head, body, done = builder.block, *(builder.append_basic_block(name) for name in ("head", "body", "done"))
    builder.branch(head)
    builder.position_at_end(head)
    index = builder.phi(INT)
    index.add_incoming(INT(0), before)
    sums = [builder.phi(FLOAT) for _ in values]
    for total, value in zip(sums, values, strict=True):
        total.add_incoming(value, before)
    builder.cbranch(builder.icmp_signed("<", index, rows), body, done)
    builder.position_at_end(body)
    place = builder.load(builder.gep(below, [index, ir.IntType(32)(0)]))
    known = number(x, place)
    for k, total in enumerate(sums):
        entry = number(panel, builder.add(index, INT(LANES * k + count)))
        total.add_incoming(builder.fsub(total, builder.fmul(entry, known)), body)
    index.add_incoming(builder.add(index, INT(1)), body)
    builder.branch(head)
    builder.position_at_end(done)
    found: dict[int, Any] = {}
    for k in reversed(range(count)):
        value = sums[k]
        for j in range(k + 1, count):
            value = builder.fsub(value, builder.fmul(number(panel, INT(LANES * k + j)), found[j]))
        found[k] = value
        builder.store(value, builder.gep(own, [INT(k)]))


def constant(width: Any) -> int:
    """A constant of the source."""
    return int(width.constant)


def line(builder: Any, array: Any, place: int) -> Any:
    """Where a line is."""
    return builder.bitcast(builder.gep(array, [INT(place)]), LINE.as_pointer())


def everywhere(builder: Any, values: Any, lane: int) -> Any:
    """The number of one lane in all of them."""
    nothing = ir.Constant(LINE, ir.Undefined)
    return builder.shuffle_vector(values, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [lane] * LANES))
