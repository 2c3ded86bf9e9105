"""The stages of rolled programs in machine code."""

from typing import Any, Final

import numpy as np

from zwang.compile.restricted import Array, Record, intrinsic, native
from zwang.compile.restricted.memory import at, call, shift

REPEAT: Final = 0
FACTORISE: Final = 1
SUBSTITUTE: Final = 2
LARGEST: Final = 3
SUMS: Final = 4
PRODUCTS: Final = 5


class Index(Record):
    """A 64-bit integer of a table."""

    layout = np.dtype([("at", "i8")])


STAGE: Final = np.dtype(
    [
        ("kind", "i8"),
        ("count", "i8"),  #    members of a family, nodes of a matrix, numbers to compare
        # A program at many places; the reads of the largest magnitude.
        ("kernel", "i8"),
        ("reads", "i8"),  #    (count, width) by address, as all tables
        ("width", "i8"),
        ("adds", "i8"),  #     (count, length)
        ("length", "i8"),
        # A factorisation (`Factorise`): tables by address, numbers by their place in the workspace.
        ("rows", "i8"),
        ("columns", "i8"),
        ("begins", "i8"),
        ("below", "i8"),
        ("left", "i8"),  #     (nodes + 1) and …
        ("before", "i8"),  #   … the columns of each row of L, ascending
        ("entries", "i8"),
        ("lower", "i8"),
        ("pivots", "i8"),
        ("scratch", "i8"),
        ("place", "i8"),  #    of a right-hand side, or of a result
        ("factor", "f8"),  #   of products
    ]
)

TABLE: Final = np.dtype(
    [
        ("inputs", "i8"),
        ("at_initial", "i8"),
        ("size", "i8"),
        ("stages", "i8"),
        ("at_stages", "i8"),
        ("outputs", "i8"),
        ("at_outputs", "i8"),
        ("x", "i8"),  #        places of what a kernel reads, writes and uses, behind the workspace
        ("y", "i8"),
        ("work", "i8"),
    ]
)


class Stage(Record):
    """One stage."""

    layout = STAGE


class Table(Record):
    """A whole program."""

    layout = TABLE


@intrinsic
def indices(builder: Any, address: Any) -> Index:
    """The table of integers at an address."""
    kind = builder.module.context.get_identified_type(Index.__name__).as_pointer()
    found: Index = builder.inttoptr(address, kind)
    return found


@intrinsic
def counters(builder: Any, array: Any) -> Index:
    """An array of doubles used for integers, which take as much room."""
    kind = builder.module.context.get_identified_type(Index.__name__).as_pointer()
    found: Index = builder.bitcast(array, kind)
    return found


@intrinsic
def stages_at(builder: Any, address: Any) -> Stage:
    """The stages at an address."""
    kind = builder.module.context.get_identified_type(Stage.__name__).as_pointer()
    found: Stage = builder.inttoptr(address, kind)
    return found


@native
def evaluate(out: Array, given: Array, work: Array, table: Table) -> None:
    """The kernel of a rolled program."""
    for i in range(table.inputs):
        work[i] = given[i]
    initial = at(table.at_initial)
    for i in range(table.size - table.inputs):
        work[table.inputs + i] = initial[i]
    x, y, scratch = shift(work, table.x), shift(work, table.y), shift(work, table.work)
    for k in range(table.stages):
        done(stages_at(table.at_stages)[k], work, x, y, scratch)
    take_out(indices(table.at_outputs), table.outputs, work, out)


@native
def take_out(places: Index, count: int, work: Array, out: Array) -> None:
    """The numbers at some places."""
    for i in range(count):
        out[i] = work[places[i].at]


@native
def done(stage: Stage, work: Array, x: Array, y: Array, scratch: Array) -> None:
    """Carry out one stage."""
    if stage.kind == REPEAT:
        repeat(stage, indices(stage.reads), indices(stage.adds), work, x, y, scratch)
    elif stage.kind == SUMS:
        sums(stage, indices(stage.reads), indices(stage.adds), work)
    elif stage.kind == PRODUCTS:
        products(stage, indices(stage.reads), indices(stage.adds), work)
    elif stage.kind == FACTORISE:
        factorise(
            stage, work, shift(work, stage.entries), shift(work, stage.lower), shift(work, stage.pivots),
            shift(work, stage.scratch), counters(shift(work, stage.scratch + stage.count)),
        )  # fmt: skip
    elif stage.kind == SUBSTITUTE:
        substitute(
            stage.count, indices(stage.begins), indices(stage.below), shift(work, stage.lower),
            shift(work, stage.pivots), shift(work, stage.place),
        )  # fmt: skip
    else:
        work[stage.place] = largest(indices(stage.reads), stage.count, work)


@native
def repeat(stage: Stage, reads: Index, adds: Index, work: Array, x: Array, y: Array, scratch: Array) -> None:
    """A kernel at each of its places."""
    for k in range(stage.count):
        for i in range(stage.width):
            x[i] = work[reads[k * stage.width + i].at]
        call(stage.kernel, y, x, scratch)
        for j in range(stage.length):
            place = adds[k * stage.length + j].at
            work[place] = work[place] + y[j]


@native
def sums(stage: Stage, reads: Index, adds: Index, work: Array) -> None:
    """Numbers with a factor added to others."""
    for k in range(stage.count):
        work[adds[k].at] = work[adds[k].at] + stage.factor * work[reads[k].at]


@native
def products(stage: Stage, reads: Index, adds: Index, work: Array) -> None:
    """Products with a factor added to numbers."""
    for k in range(stage.count):
        product = stage.factor * work[reads[2 * k].at] * work[reads[2 * k + 1].at]
        work[adds[k].at] = work[adds[k].at] + product


@native
def factorise(stage: Stage, work: Array, entries: Array, lower: Array, pivots: Array, y: Array, filled: Index) -> None:
    """L and D, row after row: row k of L solves a triangular system with the rows before (Davis 2005)."""
    rows, columns = indices(stage.rows), indices(stage.columns)
    begins, below = indices(stage.begins), indices(stage.below)
    left, before = indices(stage.left), indices(stage.before)
    for k in range(stage.count):
        filled[k].at = begins[k].at
        y[k] = 0.0
    for k in range(stage.count):
        for p in range(rows[k].at, rows[k + 1].at):
            y[columns[p].at] = entries[p]
        pivot = y[k]
        y[k] = 0.0
        for p in range(left[k].at, left[k + 1].at):
            j = before[p].at
            value = y[j]
            y[j] = 0.0
            end = filled[j].at
            for r in range(begins[j].at, end):
                y[below[r].at] = y[below[r].at] - lower[r] * value
            share = value / pivots[j]
            pivot = pivot - share * value
            lower[end] = share
            filled[j].at = end + 1
        pivots[k] = pivot


@native
def substitute(nodes: int, begins: Index, below: Index, lower: Array, pivots: Array, x: Array) -> None:
    """Forwards, then backwards: x becomes the solution for the right-hand side x."""
    for j in range(nodes):
        value = x[j]
        for r in range(begins[j].at, begins[j + 1].at):
            x[below[r].at] = x[below[r].at] - lower[r] * value
    for k in range(nodes):
        j = nodes - 1 - k
        value = x[j] / pivots[j]
        for r in range(begins[j].at, begins[j + 1].at):
            value = value - lower[r] * x[below[r].at]
        x[j] = value


@native
def largest(reads: Index, count: int, work: Array) -> float:
    """The largest magnitude; NaN, once met, stays."""
    found = 0.0
    for i in range(count):
        value = abs(work[reads[i].at])
        if value > found or value != value:
            found = value
        if found != found:
            return found
    return found
