"""What a rolled program is: stages that read and add to one row of numbers, the workspace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zwang.compile.lanes import LANES
from zwang.compile.program import Program

if TYPE_CHECKING:
    from symengine import Symbol

Places: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Repeat:
    """One program at many places: its inputs are read from `reads` (count, …), its outputs added to `adds`.

    The last inputs may be `constants` (count, …).
    """

    program: Program
    reads: Places
    adds: Places
    constants: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Products:
    """Products of numbers at `reads` (count, 1 or 2) with a factor, added to `adds` (count,)."""

    reads: Places
    adds: Places
    factor: float = 1.0


@dataclass(frozen=True, eq=False)
class Factorise:
    """LDLᵀ of a sparse symmetric matrix, without exchanging rows, on a pattern that is known beforehand.

    Rows are nodes in the order of elimination. Neighbours in it with nearly the same rows below them in L are one
    supernode: number s has the nodes `first[s]` to `first[s + 1]` and below them the rows
    `below[begins[s]:begins[s + 1]]`, ascending. Its columns are a dense panel, one after another, each with its own
    nodes first, then the rows below, then nothing up to a multiple of `LANES`: the rows of a column are reckoned with
    side by side. The lower triangle of the matrix lies in the panels from the place `panels` on and is turned into L
    there; the pivots go to `pivots`.
    """

    first: Places
    begins: Places
    below: Places
    panels: int
    pivots: int

    @property
    def nodes(self) -> int:
        """How many rows the matrix has."""
        return int(self.first[-1])

    @cached_property
    def widths(self) -> Places:
        """(supernodes,) how many columns they have."""
        return np.diff(self.first)

    @cached_property
    def strides(self) -> Places:
        """(supernodes,) how far the columns of a panel are apart."""
        return strides_of(self.first, self.begins)

    @cached_property
    def offsets(self) -> Places:
        """(supernodes + 1,) where panels begin, and where the last one ends."""
        return np.concatenate([[0], np.cumsum(self.widths * self.strides)])

    @cached_property
    def owners(self) -> Places:
        """(nodes,) the supernode of each node."""
        return np.repeat(np.arange(len(self.widths)), self.widths)

    @cached_property
    def _keys(self) -> Places:
        """Supernode and row of all that is below, ascending."""
        return np.repeat(np.arange(len(self.widths)), np.diff(self.begins)) * self.nodes + self.below

    def local(self, rows: Places, supernodes: Places) -> Places:
        """At which place in the columns of supernodes some rows are."""
        found = np.searchsorted(self._keys, supernodes * self.nodes + rows)
        own = rows < self.first[supernodes + 1]
        below = self.widths[supernodes] + found - self.begins[supernodes]
        return np.where(own, rows - self.first[supernodes], below)

    def at(self, rows: Places, columns: Places) -> Places:
        """The places of entries of the matrix: from either triangle."""
        rows, columns = np.maximum(rows, columns), np.minimum(rows, columns)
        s = self.owners[columns]
        start = self.panels + self.offsets[s] + (columns - self.first[s]) * self.strides[s]
        return np.asarray(start + self.local(rows, s))


def strides_of(first: Places, begins: Places) -> Places:
    """How far the columns of panels are apart."""
    return np.asarray(-(-(np.diff(first) + np.diff(begins)) // LANES) * LANES)


@dataclass(frozen=True, eq=False)
class Substitute:
    """The solution by a factorisation, in the place of the right-hand side from `right` on, in its order of nodes."""

    factors: Factorise
    right: int


@dataclass(frozen=True, eq=False)
class Largest:
    """The largest magnitude of some numbers, put to a place; NaN if one of them is."""

    reads: Places
    place: int


Stage: TypeAlias = Repeat | Products | Factorise | Substitute | Largest


@dataclass(frozen=True, eq=False)
class RolledProgram:
    """Stages over a workspace: first the inputs, then numbers that begin as `initial` says, to be read or added to.

    `inputs` are named as those of a `Program`; `outputs` are the places whose numbers are given out at the end.
    """

    inputs: Mapping[str, tuple[Symbol, ...]]
    outputs: Mapping[str, Places]
    initial: NDArray[np.float64]
    stages: tuple[Stage, ...]
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def input_size(self) -> int:
        """How many numbers go in."""
        return sum(map(len, self.inputs.values()))

    @property
    def size(self) -> int:
        """How many numbers the workspace holds."""
        return self.input_size + len(self.initial)

    def shape(self, output: str) -> tuple[int, ...]:
        """The shape of an output: the one given, or that of a vector."""
        return tuple(self.shapes.get(output, (len(self.outputs[output]),)))

    def giving(self, *outputs: str) -> RolledProgram:
        """The same program with these outputs only; they are the same."""
        return replace(self, outputs={name: self.outputs[name] for name in outputs}).without_idle_sums()

    def without_idle_sums(self) -> RolledProgram:
        """The program without sums that nobody reads."""
        read = np.zeros(self.size, dtype=bool)
        for places in self.outputs.values():
            read[places] = True
        kept: list[Stage] = []
        for stage in reversed(self.stages):
            if isinstance(stage, Products) and not read[stage.adds].any():
                continue
            kept.append(stage)
            if isinstance(stage, Repeat | Products | Largest):
                read[stage.reads] = True
            elif isinstance(stage, Substitute):
                read[stage.right : stage.right + stage.factors.nodes] = True
            else:
                read[stage.panels : stage.panels + stage.offsets[-1]] = True
        return replace(self, stages=tuple(reversed(kept)))
