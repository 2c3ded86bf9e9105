"""LDLᵀ of a sparse matrix in dense panels, and solving by it; native functions.

A supernode at a time (`program.Factorise`): its panel is eliminated, and what that takes from later panels is computed
column by column into a row of scratch and subtracted where it belongs. All loops over the rows of a column run over
`LANES` neighbours at once and to the end of the column: what is there beyond the last row is never read, nor what they
leave above the diagonal.
"""

from typing import Final

import numpy as np

from zwang.compile.lanes import LANES
from zwang.compile.restricted import Array, Record, compact_native, native
from zwang.compile.restricted.memory import neighbours, put_neighbours, shift, total, whole_lanes
from zwang.compile.rolled.lines import TRIANGLE, TRIANGLE_BEGINS, backwards_line, eliminate_line, forwards_line

SUPERNODE: Final = np.dtype(
    [
        ("first", "i8"),  #     its first node
        ("width", "i8"),  #     how many nodes, that is columns
        ("rows", "i8"),  #      how many rows below
        ("stride", "i8"),  #    from column to column
        ("panel", "i8"),  #     where its panel begins, from the first on
        ("below", "i8"),  #     where the rows below it begin in their table
        ("places", "i8"),  #    of a small one, where its share is subtracted: begin of a table
    ]
)

ROW: Final = np.dtype(
    [
        ("at", "i8"),  #        a row below a supernode, by its node
        ("column", "i8"),  #    where the column of that node begins in its own panel, …
        ("relative", "i8"),  #  … and where this row and those after it are there: begin of a table
    ]
)

COLUMNS: Final = 4
"""So many are updated at a time: each line of a panel that is read serves all of them."""


class Index(Record):
    """A 64-bit integer of a table."""

    layout = np.dtype([("at", "i8")])


class Supernode(Record):
    """One supernode."""

    layout = SUPERNODE


class Row(Record):
    """A row below a supernode."""

    layout = ROW


@native
def factorise(
    count: int, nodes: Supernode, below: Row, relative: Index, panels: Array, pivots: Array, scratch: Array
) -> None:
    """L and D in place of the matrix. Scratch holds a panel, then columns."""
    for s in range(count):
        width, stride, panel = nodes[s].width, nodes[s].stride, shift(panels, nodes[s].panel)
        if stride == LANES:
            eliminate_small(width, nodes[s].rows, panel, shift(pivots, nodes[s].first), scratch)
            scatter(nodes[s].rows, relative[nodes[s].places], shift(scratch, width), panels)
            continue
        eliminate(width, stride, panel, shift(pivots, nodes[s].first), scratch)
        update(
            width, stride, nodes[s].rows, panel, scratch, shift(scratch, width * stride), below[nodes[s].below],
            relative, panels,
        )  # fmt: skip


@native
def eliminate_small(width: int, rows: int, panel: Array, pivots: Array, taken: Array) -> None:
    """A panel of one line a column, and what it takes from later ones."""
    if width == 1:
        eliminate_line(1, rows, panel, pivots, taken)
    elif width == 2:
        eliminate_line(2, rows, panel, pivots, taken)
    elif width == 3:
        eliminate_line(3, rows, panel, pivots, taken)
    elif width == 4:
        eliminate_line(4, rows, panel, pivots, taken)
    elif width == 5:
        eliminate_line(5, rows, panel, pivots, taken)
    elif width == 6:
        eliminate_line(6, rows, panel, pivots, taken)
    elif width == 7:
        eliminate_line(7, rows, panel, pivots, taken)
    else:
        eliminate_line(8, rows, panel, pivots, taken)


@compact_native
def scatter(rows: int, places: Index, taken: Array, panels: Array) -> None:
    """Subtract a triangle in lines from what is at some places."""
    begin = TRIANGLE_BEGINS[rows]
    for e in range(TRIANGLE_BEGINS[rows + 1] - begin):
        place = places[e].at
        panels[place] = panels[place] - taken[TRIANGLE[begin + e]]


@compact_native
def eliminate(width: int, stride: int, panel: Array, pivots: Array, unscaled: Array) -> None:
    """The columns of a panel, one after another; `unscaled` keeps them as they are before they are divided."""
    for k in range(width):
        column, kept = shift(panel, k * stride), shift(unscaled, k * stride)
        pivot = column[k]
        pivots[k] = pivot
        i = whole_lanes(k)
        while i < stride:
            values = neighbours(column, i)
            put_neighbours(kept, i, values)
            put_neighbours(column, i, values / pivot)
            i += LANES
        for j in range(k + 1, width):
            entry, later = column[j], shift(panel, j * stride)
            i = whole_lanes(j)
            while i < stride:
                put_neighbours(later, i, neighbours(later, i) - entry * neighbours(kept, i))
                i += LANES


@compact_native
def update(
    width: int, stride: int, rows: int, panel: Array, unscaled: Array, taken: Array, below: Row, relative: Index,
    panels: Array,
) -> None:  # fmt: skip
    """Subtract L D Lᵀ of a panel from the columns of later ones, four at a time."""
    i = 0
    while i < rows:
        row = width + i
        c = whole_lanes(row)
        while c < stride:
            line = neighbours(panel, c)
            first, second = line * unscaled[row], line * unscaled[row + 1]
            third, fourth = line * unscaled[row + 2], line * unscaled[row + 3]
            for k in range(1, width):
                line = neighbours(panel, k * stride + c)
                at = k * stride + row
                first, second = first + line * unscaled[at], second + line * unscaled[at + 1]
                third, fourth = third + line * unscaled[at + 2], fourth + line * unscaled[at + 3]
            put_neighbours(taken, c, first)
            put_neighbours(taken, stride + c, second)
            put_neighbours(taken, 2 * stride + c, third)
            put_neighbours(taken, 3 * stride + c, fourth)
            c += LANES
        for m in range(COLUMNS if i + COLUMNS <= rows else rows - i):
            target, places = shift(panels, below[i + m].column), relative[below[i + m].relative]
            found = shift(taken, m * stride + row + m)
            for j in range(rows - i - m):
                place = places[j].at
                target[place] = target[place] - found[j]
        i += COLUMNS


@native
def substitute(
    count: int, nodes: Supernode, below: Row, panels: Array, pivots: Array, x: Array, scratch: Array
) -> None:
    """Forwards, then backwards: x becomes the solution for the right-hand side x."""
    for s in range(count):
        width, rows, panel, own = nodes[s].width, below[nodes[s].below], shift(panels, nodes[s].panel), nodes[s].first
        if nodes[s].stride == LANES:
            forwards_small(width, panel, shift(x, own), scratch)
        else:
            forwards(width, nodes[s].stride, panel, shift(x, own), scratch)
        take(nodes[s].rows, rows, shift(scratch, width), x)
    for k in range(count):
        s = count - 1 - k
        rows, panel, first = below[nodes[s].below], shift(panels, nodes[s].panel), nodes[s].first
        if nodes[s].stride == LANES:
            backwards_small(nodes[s].width, nodes[s].rows, rows, panel, shift(pivots, first), shift(x, first), x)
        else:
            backwards(
                nodes[s].width, nodes[s].stride, nodes[s].rows, rows, panel, shift(pivots, first), shift(x, first), x,
                scratch,
            )  # fmt: skip


@native
def forwards_small(width: int, panel: Array, own: Array, taken: Array) -> None:
    """`forwards` for one line a column."""
    if width == 1:
        forwards_line(1, panel, own, taken)
    elif width == 2:
        forwards_line(2, panel, own, taken)
    elif width == 3:
        forwards_line(3, panel, own, taken)
    elif width == 4:
        forwards_line(4, panel, own, taken)
    elif width == 5:
        forwards_line(5, panel, own, taken)
    elif width == 6:
        forwards_line(6, panel, own, taken)
    elif width == 7:
        forwards_line(7, panel, own, taken)
    else:
        forwards_line(8, panel, own, taken)


@native
def backwards_small(width: int, rows: int, below: Row, panel: Array, pivots: Array, own: Array, x: Array) -> None:
    """`backwards` for one line a column."""
    if width == 1:
        backwards_line(1, rows, below, panel, pivots, own, x)
    elif width == 2:
        backwards_line(2, rows, below, panel, pivots, own, x)
    elif width == 3:
        backwards_line(3, rows, below, panel, pivots, own, x)
    elif width == 4:
        backwards_line(4, rows, below, panel, pivots, own, x)
    elif width == 5:
        backwards_line(5, rows, below, panel, pivots, own, x)
    elif width == 6:
        backwards_line(6, rows, below, panel, pivots, own, x)
    elif width == 7:
        backwards_line(7, rows, below, panel, pivots, own, x)
    else:
        backwards_line(8, rows, below, panel, pivots, own, x)


@compact_native
def take(count: int, places: Row, taken: Array, x: Array) -> None:
    """Numbers taken from those at some places."""
    for j in range(count):
        place = places[j].at
        x[place] = x[place] - taken[j]


@compact_native
def forwards(width: int, stride: int, panel: Array, own: Array, taken: Array) -> None:
    """Solve with L of a panel; what that takes from the rows below is put down."""
    for k in range(width):
        value = own[k]
        for j in range(k + 1, width):
            own[j] = own[j] - panel[k * stride + j] * value
    c = whole_lanes(width)
    while c < stride:
        found = neighbours(panel, c) * own[0]
        for k in range(1, width):
            found = found + neighbours(panel, k * stride + c) * own[k]
        put_neighbours(taken, c, found)
        c += LANES


@compact_native
def backwards(
    width: int, stride: int, rows: int, below: Row, panel: Array, pivots: Array, own: Array, x: Array, known: Array
) -> None:
    """Solve with D and Lᵀ of a panel, the rows below being solved already."""
    start = whole_lanes(width)
    for i in range(start, width):
        known[i] = 0.0
    for j in range(rows):
        known[width + j] = x[below[j].at]
    for i in range(width + rows, stride):
        known[i] = 0.0
    if start < stride:
        for k in range(width):
            entries = shift(panel, k * stride)
            found = neighbours(entries, start) * neighbours(known, start)
            c = start + LANES
            while c < stride:
                found = found + neighbours(entries, c) * neighbours(known, c)
                c += LANES
            own[k] = own[k] / pivots[k] - total(found)
    else:
        for k in range(width):
            own[k] = own[k] / pivots[k]
    for m in range(width):
        k = width - 1 - m
        value = own[k]
        for i in range(k):
            own[i] = own[i] - panel[i * stride + k] * value
