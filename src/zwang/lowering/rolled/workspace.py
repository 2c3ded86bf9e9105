"""A rolled program in the making: places for numbers, and stages that fill them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import symengine as se

from zwang.arrays import Array, Indices
from zwang.compile import Program
from zwang.compile.rolled.program import Factorise, Largest, Repeat, RolledProgram, Stage, Substitute
from zwang.lowering.rolled.families import Family

X, Y = se.symbols("x y")
COPY = Program({"x": (X,)}, {"y": (X,)})
NEGATE = Program({"x": (X,)}, {"y": (-X,)})
PRODUCT = Program({"x": (X, Y)}, {"y": (X * Y,)})
LESS_PRODUCT = Program({"x": (X, Y)}, {"y": (-X * Y,)})


@dataclass
class Workspace:
    """Places are numbered from 0, those of the inputs first.

    Constants, of which nobody knows how many there will be, have places below 0 until the program is finished.
    """

    inputs: Mapping[str, tuple[Any, ...]]
    size: int = 0
    constants: list[Array] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make room for the inputs."""
        self.places: dict[str, Indices] = {}
        for name, symbols in self.inputs.items():
            self.places[name] = self.block(len(symbols))

    def block(self, count: int) -> Indices:
        """So many new places in a row, zero at first."""
        start, self.size = self.size, self.size + count
        return np.arange(start, self.size)

    def constant(self, values: Array) -> Indices:
        """Places that hold constants, in the shape of their values."""
        start = sum(map(np.size, self.constants))
        self.constants.append(np.ravel(values))
        return -1 - (start + np.arange(np.size(values))).reshape(np.shape(values))

    def repeat(self, program: Program, reads: Indices, adds: Indices) -> None:
        """A program at many places."""
        if len(reads):
            self.stages.append(Repeat(program, reads, adds))

    def copy(self, reads: Indices, adds: Indices, program: Program = COPY) -> None:
        """Numbers added to other places, as they are or negative."""
        self.repeat(program, np.asarray(reads)[:, None], np.asarray(adds)[:, None])

    def members(
        self,
        family: Family,
        outputs: Sequence[Any],
        adds: Indices,
        more: Sequence[Any] = (),
        given: Indices | None = None,
    ) -> None:
        """Expressions of a family for all its members, added to places (count, outputs).

        `more` are symbols beside its own, read from places `given` (count, more).
        """
        kept = [k for k, e in enumerate(outputs) if e != 0]
        if not kept or not len(family):
            return
        lowered = family.lowered
        axes = lowered.description.axes
        symbols = (axes.t, *axes.q, *axes.v, *lowered.parameters, *more)
        reads = [
            np.repeat(self.places["t"][:, None], len(family), axis=0),
            self.places["q"][family.coordinates],
            self.places["v"][family.coordinates],
            self.places["p"][family.parameters],
            self.constant(family.constants),
            *([given] if given is not None else []),
        ]
        used = set().union(*(outputs[k].free_symbols for k in kept))
        table = np.concatenate(reads, axis=1)
        wanted = [k for k, s in enumerate(symbols) if s in used]
        program = Program({"x": tuple(symbols[k] for k in wanted)}, {"y": tuple(outputs[k] for k in kept)})
        self.repeat(program, table[:, wanted], adds[:, kept])

    def program(
        self, outputs: Mapping[str, Indices], shapes: Mapping[str, tuple[int, ...]] | None = None
    ) -> RolledProgram:
        """The finished program."""
        inputs = sum(map(len, self.inputs.values()))
        constants = np.concatenate([*self.constants, np.zeros(0)])

        def placed(places: Any) -> Indices:
            places = np.asarray(places, dtype=np.int64)
            behind = places + len(constants) * (places >= inputs)
            return np.asarray(np.where(places < 0, inputs - 1 - places, behind), dtype=np.int64)

        def moved(stage: Stage) -> Stage:
            if isinstance(stage, Repeat):
                return Repeat(stage.program, placed(stage.reads), placed(stage.adds))
            if isinstance(stage, Largest):
                return Largest(placed(stage.reads), int(placed(stage.place)))
            if isinstance(stage, Substitute):
                return Substitute(factors[id(stage.factors)], int(placed(stage.right)))
            return factors[id(stage)]

        factors = {
            id(s): Factorise(
                s.nodes, s.rows, s.columns, s.begins, s.below,
                *(int(placed(place)) for place in (s.entries, s.lower, s.pivots, s.scratch)),
            )
            for s in self.stages
            if isinstance(s, Factorise)
        }  # fmt: skip
        return RolledProgram(
            inputs=self.inputs,
            outputs={name: placed(places) for name, places in outputs.items()},
            constants=constants,
            size=self.size + len(constants),
            stages=tuple(map(moved, self.stages)),
            shapes=shapes or {},
        )
