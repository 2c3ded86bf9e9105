"""What a rolled program is: stages that read and add to one row of numbers, the workspace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from zwang.compile.program import Program

if TYPE_CHECKING:
    from symengine import Symbol

Places: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Repeat:
    """One program at many places: its inputs are read from `reads` (count, inputs), its outputs added to `adds`."""

    program: Program
    reads: Places
    adds: Places


@dataclass(frozen=True, eq=False)
class Products:
    """Products of numbers at `reads` (count, 1 or 2) with a factor, added to `adds` (count,)."""

    reads: Places
    adds: Places
    factor: float = 1.0


@dataclass(frozen=True, eq=False)
class Factorise:
    """LDLᵀ of a sparse symmetric matrix, without exchanging rows, on a pattern that is known beforehand.

    The matrix has `nodes` rows, in the order of elimination. Its lower triangle with the whole diagonal lies in the
    workspace from `entries` on, row by row: row k has the columns `columns[rows[k]:rows[k + 1]]`, ascending. The
    columns of L have the rows `below[begins[j]:begins[j + 1]]`, ascending; its numbers go to `lower`, the pivots to
    `pivots`.
    """

    nodes: int
    rows: Places
    columns: Places
    begins: Places
    below: Places
    entries: int
    lower: int
    pivots: int
    scratch: int
    """2 × nodes places of its own."""


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
        """The same program with these outputs only; what it computes is the same."""
        return replace(self, outputs={name: self.outputs[name] for name in outputs})
