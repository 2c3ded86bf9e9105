"""A rolled program in the making: places for numbers, and stages that fill them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zwang.arrays import Array, Indices
from zwang.compile import Program
from zwang.compile.rolled.kinds import on_rows
from zwang.compile.rolled.program import Products, Repeat, RolledProgram, Stage
from zwang.lowering.rolled.families import Family


@dataclass
class Workspace:
    """Places are numbered from 0, those of the inputs first."""

    inputs: Mapping[str, tuple[Any, ...]]
    size: int = 0
    initial: list[tuple[Indices, Array]] = field(default_factory=list)
    """Places that do not begin with zero, and what is added up there."""
    stages: list[Stage] = field(default_factory=list)
    asked: dict[int, tuple[Family, list[tuple[Any, Indices]]]] = field(default_factory=dict)
    """What is to be computed of families, with the places (count,) to add it to; one program each will do."""

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
        places = self.block(np.size(values))
        self.initial.append((places, np.ravel(values)))
        return places.reshape(np.shape(values)).copy()

    def stage(self, stage: Stage) -> None:
        """Append a stage; what was asked of families before comes first."""
        self.answer()
        self.stages.append(stage)

    def answer(self) -> None:
        """Stages for what was asked of families until now."""
        asked, self.asked = self.asked, {}
        for family, wanted in asked.values():
            self._repeat(family, [e for e, _ in wanted], np.stack([places for _, places in wanted], axis=1))

    def add(self, reads: Indices, adds: Indices, factor: float = 1.0) -> None:
        """Numbers, or products of two where `reads` is (count, 2), with a factor added to other places."""
        reads = np.asarray(reads)
        if len(reads):
            self.stage(Products(reads.reshape(len(reads), -1), np.asarray(adds), factor))

    def repeat(self, program: Program, reads: Indices, adds: Indices) -> None:
        """A program at many places."""
        if len(reads):
            self.stage(Repeat(program, reads, adds))

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
        if not len(family):
            return
        axes = family.lowered.description.axes
        own = family.lowered.parameters[: family.parameters.shape[1]]
        varying = {axes.t, *axes.q, *axes.v, *own, *family.lowered.modes, *more}
        kept = [k for k, e in enumerate(outputs) if e != 0]
        fixed = [k for k in kept if not outputs[k].free_symbols & varying]
        if fixed:
            self.initial.append((adds[:, fixed].ravel(), constants_of(family, [outputs[k] for k in fixed]).ravel()))
        changing = [k for k in kept if k not in fixed]
        if more and changing:
            self.answer()  # what is given may be among it
            self._repeat(family, [outputs[k] for k in changing], adds[:, changing], more, given)
        elif changing:
            asked = self.asked.setdefault(id(family), (family, []))[1]
            asked += [(outputs[k], adds[:, k]) for k in changing]

    def _repeat(
        self,
        family: Family,
        outputs: Sequence[Any],
        adds: Indices,
        more: Sequence[Any] = (),
        given: Indices | None = None,
    ) -> None:
        """One program for some expressions of a family."""
        lowered = family.lowered
        axes = lowered.description.axes
        used: set[Any] = set().union(*(e.free_symbols for e in outputs))
        reads = [
            np.repeat(self.places["t"][:, None], len(family), axis=0),
            self.places["q"][family.coordinates],
            self.places["v"][family.coordinates],
            self.places["p"][family.parameters],
            *([self.places["modes"][family.modes]] if lowered.modes else []),
            *([given] if given is not None else []),
        ]
        varying = family.parameters.shape[1]
        own, constants = lowered.parameters[:varying], lowered.parameters[varying:]
        symbols = (axes.t, *axes.q, *axes.v, *own, *lowered.modes, *more)
        wanted, held = ([k for k, s in enumerate(each) if s in used] for each in (symbols, constants))
        program = Program({"x": (*(symbols[k] for k in wanted), *(constants[k] for k in held))}, {"y": tuple(outputs)})
        read = np.concatenate(reads, axis=1)[:, wanted]
        self.stages.append(Repeat(program, read, adds, family.constants[:, held]))

    def program(
        self, outputs: Mapping[str, Indices], shapes: Mapping[str, tuple[int, ...]] | None = None
    ) -> RolledProgram:
        """The finished program."""
        self.answer()
        inputs = sum(map(len, self.inputs.values()))
        initial = np.zeros(self.size)
        for places, values in self.initial:
            np.add.at(initial, places, values)
        stages = tuple(self.stages)
        return RolledProgram(self.inputs, outputs, initial[inputs:], stages, shapes or {}).without_idle_sums()


def constants_of(family: Family, outputs: Sequence[Any]) -> Array:
    """(count, outputs) expressions of a family's constants alone."""
    symbols = family.lowered.parameters[family.parameters.shape[1] :]
    return on_rows(Program({"c": symbols}, {"y": tuple(outputs)}), family.constants)
