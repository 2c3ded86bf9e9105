"""Forward-mode derivatives of rolled programs: stage by stage, as rolled programs.

A small program is differentiated once, however many places it is used at. A solution x of K x = r by factors has the
derivative that solves K δx = δr − δK x: the same factors serve, and δK is where the entries of K are. What does not
change along a direction has no place for a derivative, and nothing is computed for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import symengine as se
from numpy.typing import NDArray

from zwang.compile.lanes import LANES
from zwang.compile.program import Program
from zwang.compile.rolled.program import Factorise, Largest, Places, Products, Repeat, RolledProgram, Stage, Substitute
from zwang.compile.tangent import tangent

if TYPE_CHECKING:
    from symengine import Symbol

Flags = NDArray[np.bool_]


def rolled_tangent(
    program: RolledProgram,
    inputs: Mapping[str, tuple[Symbol, ...]],
    own: Places,
    directions: Sequence[Places],
    of: Sequence[str] = (),
) -> RolledProgram:
    """The program with the derivatives of outputs `of` along some directions as further outputs, `d_name` (k, …).

    Its inputs are others: `own` says where among them those of the program are, and a direction where the derivatives
    of these are, −1 for what does not change.
    """
    return Tangents(program, sum(map(len, inputs.values())), own, directions).program(inputs, of)


@dataclass
class Tangents:
    """A rolled program in the making: places of the old one's numbers, and of their derivatives."""

    old: RolledProgram
    inputs: int
    own: Places
    directions: Sequence[Places]
    stages: list[Stage] = field(default_factory=list)
    differentiated: dict[Any, tuple[Program, Places]] = field(default_factory=dict)
    """Small programs' derivatives, and which of their outputs have one: by program and what changes of its inputs."""

    def __post_init__(self) -> None:
        """Lay out the workspace: the inputs, the old numbers, a zero, and derivatives, direction by direction."""
        before = self.old.input_size
        shift = (
            -(-(self.inputs - before) // LANES) * LANES
        )  # panels begin at multiples of what is reckoned with at once
        self.where = np.concatenate([self.own, np.arange(before, self.old.size) + shift]).astype(np.int64)
        self.shift, self.zero = shift, self.old.size + shift
        self.size = self.zero + 1
        self.slope: list[Places] = []
        for direction in self.directions:
            active = self.activity(direction >= 0)
            places = np.full(self.old.size, -1, dtype=np.int64)
            later = np.flatnonzero(active[before:]) + before
            places[:before] = direction
            places[later] = self.size + np.arange(len(later))
            self.size += len(later)
            self.slope.append(places)

    def program(self, inputs: Mapping[str, tuple[Symbol, ...]], of: Sequence[str]) -> RolledProgram:
        """The finished program."""
        moved: dict[int, Factorise] = {}
        for stage in self.old.stages:
            if isinstance(stage, Factorise):
                panels, pivots = stage.panels + self.shift, stage.pivots + self.shift
                moved[id(stage)] = replace(stage, panels=panels, pivots=pivots)
                self.stages.append(moved[id(stage)])
            elif isinstance(stage, Substitute):
                self.stages.append(Substitute(moved[id(stage.factors)], stage.right + self.shift))
                for slope in self.slope:
                    self.substitute(stage, moved[id(stage.factors)], slope)
            elif isinstance(stage, Largest):
                self.stages.append(Largest(self.where[stage.reads], int(self.where[stage.place])))
            else:
                self.stages.append(replace(stage, reads=self.where[stage.reads], adds=self.where[stage.adds]))
                for slope in self.slope:
                    if isinstance(stage, Repeat):
                        self.repeat(stage, slope)
                    else:
                        self.products(stage, slope)
        outputs = {name: self.where[places] for name, places in self.old.outputs.items()}
        shapes = dict(self.old.shapes)
        for name in of:
            each = [self.of(slope, self.old.outputs[name]) for slope in self.slope]
            outputs[f"d_{name}"] = np.concatenate([np.zeros(0, dtype=np.int64), *each])
            shapes[f"d_{name}"] = (len(each), *self.old.shape(name))
        initial = np.zeros(self.size - self.inputs)
        initial[self.where[self.old.input_size :] - self.inputs] = self.old.initial
        return RolledProgram(inputs, outputs, initial, tuple(self.stages), shapes).without_idle_sums()

    def of(self, slope: Places, places: Places) -> Places:
        """Where the derivatives of numbers are; zero for what does not change."""
        found = slope[places]
        return np.where(found < 0, self.zero, found)

    def activity(self, changes: Flags) -> Flags:
        """Which numbers change, if these of the inputs do: at any time, so it is looked at until nothing is added."""
        active = np.zeros(self.old.size, dtype=bool)
        active[: len(changes)] = changes
        before = -1
        while before != (now := int(active.sum())):
            before = now
            self.spread(active)
        return active

    def spread(self, active: Flags) -> None:
        """Mark what is made of numbers that change."""
        for stage in self.old.stages:
            if isinstance(stage, Repeat):
                _, kept = self.derivative(stage, np.asarray(active[stage.reads].any(axis=0)))
                active[stage.adds[:, kept]] = True
            elif isinstance(stage, Products):
                active[stage.adds[active[stage.reads].any(axis=1)]] = True
            elif isinstance(stage, Substitute):
                solved = slice(stage.right, stage.right + stage.factors.nodes)
                active[solved] |= active[solved].any() or active[panels_of(stage.factors)].any()

    def derivative(self, stage: Repeat, changing: Flags) -> tuple[Program, Places]:
        """The derivative of a small program, in its inputs and changes of some; and of which outputs there is one."""
        key = (id(stage.program), changing.tobytes())
        if key not in self.differentiated:
            symbols = tuple(chain(*stage.program.inputs.values()))
            changes = {symbols[i]: se.Symbol(f"change{i}") for i in np.flatnonzero(changing)}
            count = len(changing)  # constants are behind
            inputs = {"x": (*symbols[:count], *changes.values(), *symbols[count:])}
            (name,) = stage.program.outputs
            whole = tangent(stage.program, [changes], inputs=inputs)
            found = whole.outputs[f"d_{name}"]
            kept = np.array([j for j, e in enumerate(found) if e != 0], dtype=np.int64)
            made = Program(inputs, {"y": tuple(found[j] for j in kept)}, {}, whole.steps)
            self.differentiated[key] = made, kept
        return self.differentiated[key]

    def repeat(self, stage: Repeat, slope: Places) -> None:
        """The derivatives of a small program at its places."""
        changing = np.asarray((slope[stage.reads] >= 0).any(axis=0))
        program, kept = self.derivative(stage, changing)
        if len(kept):
            reads = [self.where[stage.reads], self.of(slope, stage.reads[:, changing])]
            self.stages.append(
                Repeat(program, np.concatenate(reads, axis=1), slope[stage.adds[:, kept]], stage.constants)
            )

    def products(self, stage: Products, slope: Places) -> None:
        """The derivatives of sums and products."""
        for changed in range(stage.reads.shape[1]):
            some = slope[stage.reads[:, changed]] >= 0
            if some.any():
                reads = self.where[stage.reads[some]]
                reads[:, changed] = slope[stage.reads[some, changed]]
                self.stages.append(Products(reads, slope[stage.adds[some]], stage.factor))

    def substitute(self, stage: Substitute, factors: Factorise, slope: Places) -> None:
        """K δx = δr − δK x; the right-hand side δr is there."""
        if slope[stage.right] < 0:
            return
        begin = stage.factors.panels
        entries = np.flatnonzero(slope[panels_of(stage.factors)] >= 0)
        i, j = nodes_of(stage.factors, entries)
        apart = i != j
        row, column = np.concatenate([i, j[apart]]), np.concatenate([j, i[apart]])
        change = slope[begin + np.concatenate([entries, entries[apart]])]
        if len(row):
            reads = np.stack([change, self.where[stage.right + column]], axis=1)
            self.stages.append(Products(reads, slope[stage.right + row], -1.0))
        self.stages.append(Substitute(factors, int(slope[stage.right])))


def panels_of(factors: Factorise) -> slice:
    """Where the panels of a matrix are."""
    return slice(factors.panels, factors.panels + int(factors.offsets[-1]))


def nodes_of(factors: Factorise, entries: Places) -> tuple[Places, Places]:
    """Row and column, as nodes, of entries of the panels, counted from where these begin.

    >>> factors = Factorise(np.array([0, 2]), np.array([0, 0]), np.zeros(0, int), 0, 0)
    >>> [x.tolist() for x in nodes_of(factors, np.array([0, 1, 9]))]
    [[0, 1, 1], [0, 0, 1]]
    """
    s = np.searchsorted(factors.offsets, entries, side="right") - 1
    column, local = np.divmod(entries - factors.offsets[s], factors.strides[s])
    width = factors.widths[s]
    behind = np.minimum(factors.begins[s] + np.maximum(local - width, 0), max(len(factors.below) - 1, 0))
    below = factors.below[behind] if len(factors.below) else np.zeros_like(local)
    return np.where(local < width, factors.first[s] + local, below), factors.first[s] + column
