"""The stages of rolled programs as machine code reads them: records, and tables of numbers and places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zwang.compile.lanes import LANES
from zwang.compile.rolled import loops
from zwang.compile.rolled.kinds import Kind
from zwang.compile.rolled.panels import COLUMNS, ROW, SUPERNODE
from zwang.compile.rolled.program import Factorise, Largest, Places, Products, Repeat, Stage, Substitute

Matrix: TypeAlias = tuple[NDArray[Any], NDArray[Any], Places]
"""The tables of a factorisation."""


def fields_of(stage: Stage, kinds: Mapping[int, Kind], matrices: Mapping[int, Matrix], nowhere: int) -> dict[str, Any]:
    """A stage as its record has it, tables not yet by address. What is added `nowhere` is lost."""
    if isinstance(stage, Repeat):
        return repeat_fields(stage, kinds[id(stage)], nowhere)
    if isinstance(stage, Products):
        kind = loops.SUMS if stage.reads.shape[1] == 1 else loops.PRODUCTS
        found: dict[str, Any] = {"kind": kind, "count": len(stage.reads), "factor": stage.factor}
        return found | {"reads": stage.reads, "adds": stage.adds}
    if isinstance(stage, Largest):
        return {"kind": loops.LARGEST, "count": len(stage.reads), "reads": stage.reads, "place": stage.place}
    factors = stage if isinstance(stage, Factorise) else stage.factors
    nodes, rows, relative = matrices[id(factors)]
    found = {"count": len(nodes), "nodes": nodes, "below": rows}
    found |= {"panels": factors.panels, "pivots": factors.pivots}
    if isinstance(stage, Substitute):
        return found | {"kind": loops.SUBSTITUTE, "place": stage.right}
    return found | {"kind": loops.FACTORISE, "relative": relative}


def lanes_of(stage: Repeat) -> int:
    """At how many places at once a program is evaluated."""
    return LANES if len(stage.reads) >= LANES else 1


def repeat_fields(stage: Repeat, kind: Kind, nowhere: int) -> dict[str, Any]:
    """A program at many places, one by one or in groups as wide as there are lanes."""
    (count, width), length, constants = stage.reads.shape, stage.adds.shape[1], stage.constants
    if constants is None:
        constants = np.zeros((count, 0))
    found = {"kernel": kind.address, "width": width, "length": length, "fixed": constants.shape[1]}
    if lanes_of(stage) == 1:
        found |= {"kind": loops.REPEAT, "count": count}
        return found | {"reads": stage.reads, "constants": constants, "adds": stage.adds}
    # The last group is filled up with the last member; what it gives there is lost.
    groups = -(-count // LANES)
    member = np.minimum(np.arange(groups * LANES), count - 1)
    adds = np.where((np.arange(groups * LANES) < count)[:, None], stage.adds[member], nowhere)
    found |= {"kind": loops.REPEAT_IN_LANES, "count": groups}
    return found | {
        name: each.reshape(groups, LANES, -1).swapaxes(1, 2)
        for name, each in (("reads", stage.reads[member]), ("constants", constants[member]), ("adds", adds))
    }


def tables(factors: Factorise) -> Matrix:
    """Supernodes and rows as machine code reads them, and where rows are in the columns of later supernodes."""
    below, begins, later = factors.below, factors.begins, factors.owners[factors.below]
    of = np.repeat(np.arange(len(factors.widths)), np.diff(begins))
    # Rows that are nodes of one later supernode share a table: of where they and those behind are in its columns.
    fresh = np.ones(len(below), dtype=bool)
    fresh[1:] = (np.diff(of) != 0) | (np.diff(later) != 0)
    at = np.flatnonzero(fresh)
    lengths = begins[of[at] + 1] - at
    starts = np.cumsum(lengths) - lengths
    shared = np.cumsum(fresh) - 1
    which = np.arange(lengths.sum()) + np.repeat(at - starts, lengths)
    relative = factors.local(below[which], np.repeat(later[at], lengths))
    rows = np.zeros(len(below), ROW)
    rows["at"], rows["column"] = below, factors.offsets[later] + (below - factors.first[later]) * factors.strides[later]
    rows["relative"] = (starts - at)[shared] + np.arange(len(below))
    nodes = np.zeros(len(factors.widths), SUPERNODE)
    nodes["first"], nodes["width"], nodes["rows"] = factors.first[:-1], factors.widths, np.diff(begins)
    nodes["stride"], nodes["panel"], nodes["below"] = factors.strides, factors.offsets[:-1], begins[:-1]
    places, nodes["places"] = small_places(factors)
    nodes["places"] += len(relative)
    return nodes, rows, np.concatenate([relative, places])


def small_places(factors: Factorise) -> tuple[Places, Places]:
    """Where the shares of small supernodes are subtracted, from the first panel on; and where they begin for each."""
    counts = np.where(factors.strides == LANES, np.diff(factors.begins), 0)
    sizes = counts * (counts + 1) // 2
    begins = np.cumsum(sizes) - sizes
    pairs = [np.triu_indices(count) for count in range(LANES)]
    column, row = (
        np.concatenate([np.zeros(0, np.int64), *(pairs[count][k] for count in counts)]).astype(np.int64)
        + np.repeat(factors.begins[:-1], sizes)
        for k in range(2)
    )
    return factors.at(factors.below[row], factors.below[column]) - factors.panels, begins


def room(stage: Stage, kinds: Mapping[int, Kind]) -> int:
    """How many places behind the workspace a stage needs."""
    if isinstance(stage, Repeat):
        return kinds[id(stage)].work_size
    if isinstance(stage, Factorise):
        return int(((stage.widths + COLUMNS) * stage.strides).max(initial=LANES * LANES)) + LANES
    return int(stage.factors.strides.max(initial=0)) if isinstance(stage, Substitute) else 0
