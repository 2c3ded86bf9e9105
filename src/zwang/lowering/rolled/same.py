"""Which switches of members are one: those whose arguments are the same function, or its negative.

They must change together. Such are the switches of the six forces that one rope exerts. Arguments are the same that
agree at states drawn by lot; where they cannot be compared so, those of one kind with the same in its places.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from zwang.arrays import Array, Indices
from zwang.compile import Program
from zwang.compile.rolled.kinds import on_rows
from zwang.compile.table import NAME as SIGNAL
from zwang.functions import FLOORS
from zwang.lowering.locked import Holding
from zwang.lowering.rolled.families import Families, Family

DRAWN = ((0.3, 1.7), (0.3, 1.7), (-1.5, 1.5))  # between which numbers states and parameters are
SAME = 1e-10  # of the size of its terms: arguments that differ by less are the same


@dataclass(frozen=True, eq=False)
class Instances:
    """The switches of all members: family by family, switch by switch of a kind, member by member."""

    family: Indices
    local: Indices
    member: Indices
    switch: Indices
    """Its number in the whole system; those that others contain come first."""
    sense: Array
    """1, or −1 where the argument is the negative of that by which the switch is known."""

    @cached_property
    def first(self) -> Indices:
        """(switches,) by which of these each switch is known."""
        return np.unique(self.switch, return_index=True)[1]

    @property
    def count(self) -> int:
        """How many switches there are."""
        return len(self.first)


@dataclass(frozen=True, eq=False)
class Kind:
    """One switch of a family, for all its members."""

    family: int
    local: int
    depth: int
    """How deeply switches are nested in it."""
    group: int
    """0 for a sign, others for floors: only those of one group may be the same."""
    values: Array
    """(probes, count) what the argument is at states drawn by lot; not a number where that is not to be asked."""
    sizes: Array
    table: Array
    """(count, …) what is in the places of the family."""


def instances_of(families: Families, holdings: Sequence[Holding | None]) -> Instances:
    """The switches of families that are held so."""
    draw = np.random.default_rng(0)
    probes = [draw.uniform(*between, 1 + 2 * families.n + len(families.lowered.parameters)) for between in DRAWN]
    kinds = [
        kind
        for k, (family, holding) in enumerate(zip(families.members, holdings, strict=True))
        if holding is not None
        for kind in kinds_of(families, k, family, holding, probes)
    ]
    count = [len(kind.table) for kind in kinds]

    def each(values: Sequence[int]) -> Indices:
        return np.repeat(np.array(values, dtype=np.int64), count)

    label, sense = same(kinds, each)
    depth = each([kind.depth for kind in kinds])
    _, first, label = np.unique(label, return_index=True, return_inverse=True)
    order = np.lexsort((first, depth[first]))  # inner ones first
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    member = np.concatenate([np.arange(size) for size in count])
    switch = number[label.ravel()]
    sense *= sense[first][label.ravel()]
    return Instances(each([kind.family for kind in kinds]), each([kind.local for kind in kinds]), member, switch, sense)


def kinds_of(families: Families, number: int, family: Family, holding: Holding, probes: Sequence[Array]) -> list[Kind]:
    """The switches of a family."""
    table = np.concatenate([family.coordinates, family.parameters, family.constants], axis=1)
    modes = {f"mode{j}": j for j in range(len(holding.atoms))}
    depths: list[int] = []
    for argument in holding.arguments:  # inner ones first
        inner = [depths[modes[s.name]] for s in argument.free_symbols if s.name in modes]
        depths.append(1 + max(inner, default=-1))
    values, sizes = np.full((2, len(holding.atoms), len(probes), len(family)), np.nan)
    # What is nested may agree here and differ elsewhere; what reads a table has its address among the parameters.
    asked = [j for j, e in enumerate(holding.arguments) if not depths[j] and SIGNAL not in str(e)]
    if asked:
        lowered, n = family.lowered, families.n
        axes, own = lowered.description.axes, family.parameters.shape[1]
        outputs = [holding.arguments[j] for j in asked] + [holding.sizes[j] for j in asked]
        symbols = (axes.t, *axes.q, *axes.v, *lowered.parameters[:own], *lowered.parameters[own:])
        program = Program({"x": symbols}, {"y": tuple(outputs)})
        for k, x in enumerate(probes):
            q, v, p = x[1 : 1 + n], x[1 + n : 1 + 2 * n], x[1 + 2 * n :]
            given = [
                np.full((len(family), 1), x[0]),
                q[family.coordinates],
                v[family.coordinates],
                p[family.parameters],
            ]
            found = on_rows(program, np.concatenate([*given, family.constants], axis=1)).T
            values[asked, k], sizes[asked, k] = found[: len(asked)], found[len(asked) :]
    names = [type(atom).__name__ for atom in holding.atoms]
    return [
        Kind(number, j, depths[j], 1 + FLOORS.index(name) if name in FLOORS else 0, values[j], sizes[j], table)
        for j, name in enumerate(names)
    ]


def same(kinds: Sequence[Kind], each: Any) -> tuple[Indices, Array]:
    """A label for the switch of every member, the same for those that are one; and the sign they were compared with."""
    values, sizes = (np.concatenate([getattr(kind, what) for kind in kinds], axis=1) for what in ("values", "sizes"))
    group = each([kind.group for kind in kinds])
    known = np.isfinite(values).all(axis=0) & np.isfinite(sizes).all(axis=0)
    sense = np.where(known & (group == 0) & (values[0] < 0), -1.0, 1.0)
    label = np.where(known, group, -1)
    for x, size in zip(values * sense, sizes, strict=True):
        order = np.lexsort((x, label))
        apart = (np.diff(label[order]) != 0) | ~(np.abs(np.diff(x[order])) <= SAME * size[order][1:])
        label[order] = np.concatenate([[0], np.cumsum(apart)])
    others = int(label.max(initial=0)) + 1
    begin = 0
    for kind in kinds:  # by what is in their places
        part = slice(begin, begin + len(kind.table))
        unlike = np.unique(kind.table, axis=0, return_inverse=True)[1].ravel()
        label[part] = np.where(known[part], label[part], others + unlike)
        others, begin = others + len(unlike), part.stop
    return label, sense
