"""Switches of a large system along which its motion may go on: what holds them, and what they ask for, in tables.

As `lowering.resting` has it, forces are Q + Σ σ G while switches rest, Q being those in the middle between both sides.
Where G is along the gradient J of ṡ, as in dry friction, G = −c J, a switch that rests is one more row of a symmetric
saddle-point matrix, G q̈ = c (ṡ − J q̈), whose multiplier is σ: which ones rest are masks on a fixed pattern. Rows that
depend on each other and on constraints are damped by a share of c², so that the shares have the least length.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import symengine as se

from zwang.arrays import Indices
from zwang.lowering.locked import Holding, replaced
from zwang.lowering.lowered import Lowered
from zwang.lowering.resting import half_jump, mask, mode
from zwang.lowering.rolled.families import Family
from zwang.lowering.rolled.held_families import HeldFamilies
from zwang.lowering.rolled.same import Instances
from zwang.lowering.switches import RELATIONS
from zwang.model.constraint import acceleration_row


@dataclass(frozen=True, eq=False)
class Hold:
    """Members of a family that have a say in the same switch of theirs: the jump of their forces there."""

    family: Family
    place: Indices
    """(count,) which of the switches that may rest it is."""
    jumps: dict[int, Any]
    """Half of what forces jump by, by coordinate of the family."""


@dataclass(frozen=True, eq=False)
class Rate:
    """Members of a family by which switches are known: ṡ = J q̈ + c of theirs."""

    family: Family
    place: Indices
    argument: Any
    J: dict[int, Any]
    c: Any


@dataclass(frozen=True, eq=False)
class RestingFamilies(HeldFamilies):
    """A whole system as families that are held, some of whose switches may rest."""

    which: tuple[int, ...]
    """The numbers of these."""

    @cached_property
    def place(self) -> Indices:
        """(switches,) which of those that may rest each is; −1 for the others."""
        found = np.full(self.instances.count, -1, dtype=np.int64)
        found[list(self.which)] = np.arange(len(self.which))
        return found

    @cached_property
    def tables(self) -> tuple[Indices, ...]:
        """For each family (count, local) which of those that may rest its switches are, −1 for none of them."""
        return tuple(self.place[switches_of(self.instances, k, len(family))] for k, family in enumerate(self.members))

    @cached_property
    def holds(self) -> tuple[Hold, ...]:
        """What holds switches."""
        made = []
        for family, table in zip(self.members, self.tables, strict=True):
            for j, _ in family.lowered.rests:
                forces = zip(family.derived.Q, family.derived.C, strict=True)
                jumps = {a: e for a, (f, c) in enumerate(forces) if (e := half_jump(f + c, j)) != 0}
                some = np.flatnonzero(table[:, j] >= 0)
                if jumps and len(some):
                    made.append(Hold(family.of(some), table[some, j], jumps))
        return tuple(made)

    @cached_property
    def rates(self) -> tuple[Rate, ...]:
        """What they ask for, each switch once."""
        made = []
        for family, holding, local, switches in self.groups():
            some = np.flatnonzero(self.place[switches] >= 0)
            if len(some):
                argument = holding.arguments[local]
                J, b = acceleration_row(argument, 1, family.lowered.description.axes)
                made.append(Rate(family.of(some), self.place[switches[some]], argument, J, -b))
        return tuple(made)

    def multiplied(self, rest: Sequence[int]) -> bool:
        """Whether the jump of forces at one of some switches depends on the side of another."""
        among = np.zeros(self.instances.count, dtype=bool)
        among[list(rest)] = True
        for k, family in enumerate(self.members):
            switches = switches_of(self.instances, k, len(family))
            for i, _ in family.lowered.rests:
                forces = [half_jump(f + c, i) for f, c in zip(family.derived.Q, family.derived.C, strict=True)]
                inside = {s for e in forces for s in e.free_symbols}
                for j, _ in family.lowered.rests:
                    both = among[switches[:, i]] & among[switches[:, j]]
                    if j != i and mode(j) in inside and both.any():
                        return True
        return False


def switches_of(found: Instances, number: int, count: int) -> Indices:
    """(count, local) the switches of the members of a family."""
    return np.asarray(found.switch[found.family == number].reshape(-1, count).T)


def with_rests(held: HeldFamilies) -> tuple[HeldFamilies, RestingFamilies | None]:
    """Families with numbers for the switches that may rest, and those in which they do; or as they are."""
    able = np.flatnonzero(may_rest(held))
    if not len(able):
        return held, None
    count = held.instances.count
    more = (*map(mask, range(count)), *map(damp, range(count)))
    whole = Lowered(held.lowered.description, held.lowered.parameters, (*held.lowered.modes, *more))
    among = np.isin(np.arange(count), able)
    members = []
    for k, (family, holding) in enumerate(zip(held.members, held.holdings, strict=True)):
        if holding is None:
            members.append(family)
            continue
        members.append(resting_family(family, holding, among, switches_of(held.instances, k, len(family)), count))
    resting = RestingFamilies(whole, tuple(members), held.holdings, held.instances, tuple(able.tolist()))
    return replace(held, lowered=whole), resting


def damp(i: int) -> Any:
    """The symbol of the share of c² by which the row of a switch that rests is damped."""
    return se.Symbol(f"damp{i}")


def resting_family(family: Family, holding: Holding, among: Any, switches: Indices, count: int) -> Family:
    """A family some of whose switches, those `among` the numbers of all, may rest, with masks for all of them.

    Switches of the family that are one for all its members are written as one.
    """
    first = [next(i for i in range(j + 1) if same_switch(switches, i, j)) for j in range(switches.shape[1])]
    one = {mode(j): mode(i) for j, i in enumerate(first) if i != j}
    local = [j for j, i in enumerate(first) if i == j and among[switches[:, j]].any()]
    lowered = family.lowered
    rests = tuple((j, holding.arguments[j].xreplace(one)) for j in local)
    modes = (*lowered.modes, *map(mask, range(len(first))))
    made = replace(lowered, modes=modes, rests=rests, description=replaced(lowered.description, one))
    if not one:
        made.__dict__["derived"] = lowered.derived  # not once more
    return replace(family, lowered=made, modes=np.concatenate([family.modes, switches + 3 * count], axis=1))


def same_switch(switches: Indices, i: int, j: int) -> bool:
    """Whether two switches of a family are one, for all its members."""
    return bool((switches[:, i] == switches[:, j]).all())


def may_rest(held: HeldFamilies) -> Any:
    """(switches,) which may rest: `lowering.resting.may_rest`, of what members say of each."""
    able = np.zeros(held.instances.count, dtype=bool)
    for family, holding, local, switches in held.groups():
        speeds, kind = {*family.lowered.description.axes.v}, type(holding.atoms[local]).__name__
        able[switches] = kind in RELATIONS and bool(holding.arguments[local].free_symbols & speeds)
    for k, family in enumerate(held.members):
        fixed = {s for e in fixed_parts(family) for s in e.free_symbols}
        switches = switches_of(held.instances, k, len(family))
        for j in range(switches.shape[1]):
            if mode(j) in fixed:
                able[switches[:, j]] = False
            for i in range(j):  # one for some members, and two for others
                if not same_switch(switches, i, j):
                    able[switches[switches[:, i] == switches[:, j], j]] = False
    return able


def fixed_parts(family: Family) -> Iterator[Any]:
    """What must not jump where a switch rests: all but forces."""
    description, derived = family.lowered.description, family.derived
    for row in (*derived.M, *derived.A):
        yield from row.values()
    yield from derived.b
    yield description.potential
    if description.kinetic is not None:
        yield description.kinetic
