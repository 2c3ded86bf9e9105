"""The stages of rolled programs in machine code."""

from typing import Any, Final

import numpy as np

from zwang.compile.lanes import LANES
from zwang.compile.restricted import Array, Record, intrinsic, native
from zwang.compile.restricted.memory import aligned, at, call, gathered, neighbours, put_neighbours, shift
from zwang.compile.rolled.panels import Index, Row, Supernode, factorise, substitute

REPEAT: Final = 0
FACTORISE: Final = 1
SUBSTITUTE: Final = 2
LARGEST: Final = 3
SUMS: Final = 4
PRODUCTS: Final = 5
REPEAT_IN_LANES: Final = 6


STAGE: Final = np.dtype(
    [
        ("kind", "i8"),
        ("count", "i8"),  #    members of a family, or groups of them, supernodes of a matrix, numbers to compare
        # A program at many places; the reads of the largest magnitude.
        ("kernel", "i8"),
        ("reads", "i8"),  #    (count, width) by address, as all tables
        ("width", "i8"),
        ("constants", "i8"),  # (count, fixed)
        ("fixed", "i8"),
        ("adds", "i8"),  #     (count, length)
        ("length", "i8"),
        # A factorisation (`panels`): tables by address, numbers by their place in the workspace.
        ("nodes", "i8"),
        ("below", "i8"),
        ("relative", "i8"),
        ("panels", "i8"),
        ("pivots", "i8"),
        ("place", "i8"),  #    of a right-hand side, or of a result
        ("factor", "f8"),  #   of products
    ]
)

TABLE: Final = np.dtype(
    [
        ("inputs", "i8"),
        ("size", "i8"),  #     of the workspace
        ("given", "i8"),  #    how many places do not begin with zero, …
        ("at_places", "i8"),  # … which ones, …
        ("at_values", "i8"),  # … and with what
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
def supernodes_at(builder: Any, address: Any) -> Supernode:
    """The supernodes at an address."""
    kind = builder.module.context.get_identified_type(Supernode.__name__).as_pointer()
    found: Supernode = builder.inttoptr(address, kind)
    return found


@intrinsic
def rows_at(builder: Any, address: Any) -> Row:
    """The rows at an address."""
    kind = builder.module.context.get_identified_type(Row.__name__).as_pointer()
    found: Row = builder.inttoptr(address, kind)
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
    row = aligned(work)
    begin(table, indices(table.at_places), at(table.at_values), row, given)
    x, y, scratch = shift(row, table.x), shift(row, table.y), shift(row, table.work)
    for k in range(table.stages):
        done(stages_at(table.at_stages)[k], row, x, y, scratch)
    take_out(indices(table.at_outputs), table.outputs, row, out)


@native
def begin(table: Table, places: Index, values: Array, row: Array, given: Array) -> None:
    """The workspace as it is at first."""
    for i in range(table.inputs):
        row[i] = given[i]
    for i in range(table.inputs, table.size):
        row[i] = 0.0
    for i in range(table.given):
        row[places[i].at] = values[i]


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
    elif stage.kind == REPEAT_IN_LANES:
        repeat_in_lanes(stage, indices(stage.reads), indices(stage.adds), work, x, y, scratch)
    elif stage.kind == SUMS:
        sums(stage, indices(stage.reads), indices(stage.adds), work)
    elif stage.kind == PRODUCTS:
        products(stage, indices(stage.reads), indices(stage.adds), work)
    elif stage.kind == FACTORISE:
        factorise(
            stage.count, supernodes_at(stage.nodes), rows_at(stage.below), indices(stage.relative),
            shift(work, stage.panels), shift(work, stage.pivots), scratch,
        )  # fmt: skip
    elif stage.kind == SUBSTITUTE:
        substitute(
            stage.count, supernodes_at(stage.nodes), rows_at(stage.below), shift(work, stage.panels),
            shift(work, stage.pivots), shift(work, stage.place), scratch,
        )  # fmt: skip
    else:
        work[stage.place] = largest(indices(stage.reads), stage.count, work)


@native
def repeat(stage: Stage, reads: Index, adds: Index, work: Array, x: Array, y: Array, scratch: Array) -> None:
    """A kernel at each of its places."""
    for k in range(stage.count):
        for i in range(stage.width):
            x[i] = work[reads[k * stage.width + i].at]
        for i in range(stage.fixed):
            x[stage.width + i] = at(stage.constants)[k * stage.fixed + i]
        call(stage.kernel, y, x, scratch)
        for j in range(stage.length):
            place = adds[k * stage.length + j].at
            work[place] = work[place] + y[j]


@native
def repeat_in_lanes(stage: Stage, reads: Index, adds: Index, work: Array, x: Array, y: Array, scratch: Array) -> None:
    """A kernel for lanes at its places, as many at once: all tables go through the lanes first."""
    constants = at(stage.constants)
    for k in range(stage.count):
        for i in range(stage.width):
            put_neighbours(x, LANES * i, gathered(work, reads[LANES * (k * stage.width + i)]))
        for i in range(stage.fixed):
            values = neighbours(constants, LANES * (k * stage.fixed + i))
            put_neighbours(x, LANES * (stage.width + i), values)
        call(stage.kernel, y, x, scratch)
        places = adds[LANES * k * stage.length]
        for j in range(LANES * stage.length):
            place = places[j].at
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
