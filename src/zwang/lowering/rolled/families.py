"""A system as families: members are the same term, force or constraint in other coordinates, with other numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import symengine as se

from zwang.arrays import Array, Indices
from zwang.compile.rolled.degrees import least_degree
from zwang.equations.derivation import Derived, Description, Repeat, terms
from zwang.functions import FLOORS
from zwang.lowering.cache import Kept
from zwang.lowering.lowered import Lowered
from zwang.lowering.rolled.canonical import Reading, Role, read
from zwang.lowering.switches import RELATIONS, argument_of, atoms_of
from zwang.model.constraint import Axes

# Coordinates and constraints from which on a system is rolled. Of a robot of twenty bodies in space (260 of both) an
# acceleration takes 12 µs rolled and 8 to 9 straight, but the program is ready in a tenth of a second instead of two:
# straight-line code would pay after half a million accelerations. From about 1,000 on it does not run faster, either.
ROLLED_FROM = 200

# Operations of an acceleration, for each of ROLLED_FROM nodes, up to which a larger system has straight-line code all
# the same: a chain of 100 links in the plane (300 nodes, 4,500 operations) takes 2.2 µs straight and 5 rolled, and 300
# masses between springs 0.6 and 10.
LIGHT_CODE = 25

# Switches of velocities in forces, along each of which a motion may go on, from which on a system is rolled, however
# small it is: straight-line code solves for the shares of all of them by a dense matrix in symbols. Of blocks in a row
# with dry friction, 8 are ready in 0.6 s straight and 0.5 rolled, 16 in 1.2 and 0.6, 40 in 10 and 0.8.
RESTS_ROLLED_FROM = 12

# Many runs go side by side in lanes, where straight-line code serves eight at once.
ROLLED_IN_LANES_FROM = 5 * ROLLED_FROM

_FAMILIES: Kept["Families"] = Kept()
_OPERATIONS: Kept[int] = Kept()


@dataclass(frozen=True, eq=False)
class Family:
    """One kind of term, force or constraint, in symbols of its own, and where its members are."""

    lowered: Lowered
    """A system of its own, whose parameters are those of the term and then its constants."""
    coordinates: Indices
    """(count, local) numbers of the coordinates."""
    parameters: Indices
    """(count, …) numbers of the parameters."""
    constants: Array
    """(count, …)"""
    rows: Indices
    """(count,) the numbers of constraints; none for the others."""
    modes: Indices = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    """(count, …) the numbers of what holds their switches, in the order of `lowered.modes`, if they are held."""

    @property
    def derived(self) -> Derived:
        """What was derived from the term: its share in M, Q and C, or the row of a constraint."""
        return self.lowered.derived

    def __len__(self) -> int:
        """How many members there are."""
        return len(self.coordinates)

    def of(self, which: Indices) -> "Family":
        """Some of the members."""
        if len(which) == len(self):
            return self
        rows = self.rows[which] if len(self.rows) else self.rows
        modes = self.modes[which] if len(self.modes) else self.modes
        tables = (self.coordinates[which], self.parameters[which], self.constants[which], rows, modes)
        return Family(self.lowered, *tables)


@dataclass(frozen=True, eq=False)
class Families:
    """A whole system as families."""

    lowered: Lowered
    members: tuple[Family, ...]

    @property
    def n(self) -> int:
        """How many coordinates."""
        return len(self.lowered.description.axes.q)

    @property
    def m(self) -> int:
        """How many constraints."""
        return len(self.lowered.description.orders)

    @cached_property
    def constraints(self) -> tuple[Family, ...]:
        """Those whose members are constraints."""
        return tuple(family for family in self.members if len(family.rows))

    @cached_property
    def terms(self) -> tuple[Family, ...]:
        """The others: terms of energies, forces."""
        return tuple(family for family in self.members if not len(family.rows))


@dataclass(frozen=True)
class Part:
    """An expression of a description, and what it is there."""

    kind: str
    expression: Any
    first: tuple[int, ...] = ()
    """Coordinates that it belongs to, whether they occur in it or not."""
    row: int = -1
    order: int = 0


def rolled(lowered: Lowered, in_lanes: bool = False) -> Families | None:
    """The families of a large system, found once; None for a small one.

    Also of one whose nonideal forces depend on multipliers.
    """
    description = lowered.description
    least = ROLLED_IN_LANES_FROM if in_lanes else ROLLED_FROM
    if len(description.axes.q) + len(description.orders) < least or description.reactions:
        return None
    return _FAMILIES.get(lowered, lambda: families_of(lowered))


def rolled_to_run(lowered: Lowered, in_lanes: bool = False) -> Families | None:
    """The families by which a system is integrated: of a large one, unless straight-line code of it is short.

    What was described as families stays so: nobody writes it out.
    """
    families = rolled(lowered, in_lanes)
    if families is None or in_lanes or lowered.description.repeats:
        return families
    return families if operations(families) >= LIGHT_CODE * ROLLED_FROM else None


def rolled_for_rests(lowered: Lowered) -> Families | None:
    """The families of a system with many switches along which its motion may go on; None for another."""
    description = lowered.description
    if not description.switching or description.reactions or switches_of_speeds(description) < RESTS_ROLLED_FROM:
        return None
    return _FAMILIES.get(lowered, lambda: families_of(lowered))


def switches_of_speeds(description: Description) -> int:
    """About how many conditions on velocities there are in forces."""
    repeats = description.repeats
    if repeats is None:
        return len(conditions([*description.forces, *description.nonideal], description.axes))
    counts = [
        len(repeat.coordinates) * len(conditions([repeat.expression], repeat.axes))
        for repeat in repeats.families
        if repeat.place in ("forces", "nonideal")
    ]
    return sum(counts) + switches_of_speeds(repeats.beside)


def conditions(expressions: Sequence[Any], axes: Axes) -> set[Any]:
    """The arguments of conditions that depend on velocities, each with one sign."""
    found: set[Any] = set()
    for atom in atoms_of(expressions):
        argument, speeds = argument_of(atom), {*axes.v}
        if type(atom).__name__ in RELATIONS and argument.free_symbols & speeds and -argument not in found:
            found.add(argument)
    return found


def operations(families: Families) -> int:
    """About how many operations the acceleration takes: of the entries of M, Q, A and b, and of the elimination."""
    return _OPERATIONS.get(families.lowered, lambda: counted(families))


def counted(families: Families) -> int:
    """The same, counted."""
    entries = sum(len(family) * operations_of(family.derived) for family in families.members)
    i, j = (np.concatenate(part) for part in zip(*pattern(families), strict=True))
    below = np.diff(least_degree(families.n, families.m, i, j, late=False)[1])
    return entries + int((below * (below + 3) // 2).sum())


def operations_of(derived: Derived) -> int:
    """Operations in the entries of M, Q, A and b."""
    rows = [*derived.M, *derived.A]
    return int(se.count_ops([*(e for row in rows for e in row.values()), *derived.Q, *derived.b]))


def pattern(families: Families) -> Iterator[tuple[Indices, Indices]]:
    """The places of entries of M and A in the saddle-point matrix, family by family."""
    for family in families.terms:
        for a, row in enumerate(family.derived.M):
            for b in row:
                yield family.coordinates[:, a], family.coordinates[:, b]
    for family in families.constraints:
        for row in family.derived.A:
            for b in row:
                yield families.n + family.rows, family.coordinates[:, b]


def families_of(lowered: Lowered) -> Families:
    """The families of a system."""
    axes = lowered.description.axes
    roles: dict[Any, Role] = {}
    for letter, symbols in (("q", axes.q), ("v", axes.v), ("a", axes.a), ("p", lowered.parameters)):
        roles |= {symbol: (letter, i) for i, symbol in enumerate(symbols)}
    found: dict[Any, list[tuple[Part, Reading]]] = {}
    repeats = lowered.description.repeats
    for part in parts(repeats.beside, repeats.rows) if repeats else parts(lowered.description):
        reading = read(part.expression, roles, part.first)
        key = (part.kind, part.order, len(part.first), *reading.key)
        found.setdefault(key, []).append((part, reading))
    given = lowered.description.mass_given
    read_off = [family(members, axes.t, given) for members in found.values()]
    described = families_given(repeats.families, given) if repeats else ()
    return Families(lowered, (*described, *read_off))


def parts(description: Description, rows: Sequence[int] | None = None) -> Iterator[Part]:
    """The terms, forces and constraints of a system; `rows` are the numbers of the constraints if not 0, 1, …"""
    if description.mass is not None:
        for i, row in enumerate(description.mass):
            for j, entry in enumerate(row[: i + 1]):
                if entry != 0:
                    yield Part("mass", entry, (i,) if i == j else (i, j))
    else:
        for term in terms(description.kinetic):
            if term != 0:
                yield Part("kinetic", term)
    for term in terms(description.potential):
        if term != 0:
            yield Part("potential", term)
    for kind, forces in (("force", description.forces), ("nonideal", description.nonideal)):
        for i, force in enumerate(forces):
            for term in terms(force):
                if term != 0:
                    yield Part(kind, term, (i,))
    for i, (expression, order) in enumerate(description.constraints):
        yield Part("constraint", expression, row=i if rows is None else rows[i], order=order)


def family(members: list[tuple[Part, Reading]], t: Any, mass_given: bool) -> Family:
    """Members of one key as a family: its own small system, and tables of what is in its places."""
    part, reading = members[0]
    local, parameters, constants = len(reading.coordinates), len(reading.parameters), len(reading.constants)
    q, v, a = (tuple(se.Symbol(f"{letter}{i}") for i in range(local)) for letter in "qva")
    p, c = (tuple(se.Symbol(f"{letter}{i}") for i in range(n)) for letter, n in (("p", parameters), ("c", constants)))
    expression = reading.template({"q": q, "v": v, "a": a, "p": p, "c": c})
    description = local_system(part, expression, Axes(q, v, a, t, se.Add), mass_given)
    return Family(
        Lowered(description, (*p, *c)),
        np.array([list(r.coordinates) for _, r in members], dtype=np.int64).reshape(len(members), local),
        np.array([list(r.parameters) for _, r in members], dtype=np.int64).reshape(len(members), parameters),
        np.array([r.constants for _, r in members], dtype=float).reshape(len(members), constants),
        np.array([p.row for p, _ in members if p.row >= 0], dtype=np.int64),
    )


KINDS = {"forces": "force", "constraints": "constraint"}  # what parts are called that stand in these places


def families_given(repeats: Sequence[Repeat], mass_given: bool) -> tuple[Family, ...]:
    """Families that were described as such; those that are the same expression in other symbols are one."""
    found: dict[Any, list[Family]] = {}
    for repeat in repeats:
        kind = KINDS.get(repeat.place, repeat.place)
        first = (0,) if kind in ("force", "nonideal") else ()
        for term in [repeat.expression] if kind == "constraint" else terms(repeat.expression):
            if term != 0 or kind == "constraint":
                key, made = family_given(Part(kind, term, first, order=repeat.order), repeat, mass_given)
                found.setdefault(key, []).append(made)
    return tuple(joined(same) for same in found.values())


def family_given(part: Part, repeat: Repeat, mass_given: bool) -> tuple[Any, Family]:
    """A term of a described family as a family, and the key that those of its kind have."""
    roles: dict[Any, Role] = {}
    for letter, symbols in zip("qvap", (repeat.axes.q, repeat.axes.v, repeat.axes.a, repeat.parameters), strict=True):
        roles |= {symbol: (letter, i) for i, symbol in enumerate(symbols)}
    reading, own = read(part.expression, roles, part.first), repeat.given.shape[1]
    places = [(number < own, number) for number in reading.parameters]
    p, c = (tuple(se.Symbol(f"{letter}{i}") for i in range(len(places) + len(reading.constants))) for letter in "pc")
    taken, numbers = [n for real, n in places if real], [n - own for real, n in places if not real]
    names = dict(zip(taken, p, strict=False)) | {n + own: c[len(reading.constants) + k] for k, n in enumerate(numbers)}
    q, v, a = (tuple(se.Symbol(f"{letter}{i}") for i in range(len(reading.coordinates))) for letter in "qva")
    its = {"q": q, "v": v, "a": a, "p": [names[n] for _, n in places], "c": c}
    axes = Axes(q, v, a, repeat.axes.t, se.Add)
    description = local_system(part, reading.template(its), axes, mass_given)
    constants = np.broadcast_to(reading.constants, (len(repeat.coordinates), len(reading.constants)))
    made = Family(
        Lowered(description, (*p[: len(taken)], *c[: len(reading.constants) + len(numbers)])),
        repeat.coordinates[:, list(reading.coordinates)],
        repeat.given[:, taken],
        np.concatenate([constants, repeat.constants[:, numbers]], axis=1),
        repeat.rows,
    )
    return (part.kind, part.order, *reading.key, *(real for real, _ in places)), made


def joined(families: Sequence[Family]) -> Family:
    """Families of one key as one."""
    tables = ("coordinates", "parameters", "constants", "rows")
    return Family(families[0].lowered, *(np.concatenate([getattr(f, table) for f in families]) for table in tables))


def local_system(part: Part, expression: Any, axes: Axes, mass_given: bool) -> Description:
    """The system that has this term, force or constraint only."""
    zero = se.Integer(0)
    n = len(axes.q)
    mass = [[zero] * n for _ in range(n)]
    forces, nonideal = [zero] * n, [zero] * n
    if part.kind == "mass":
        i, j = 0, len(part.first) - 1
        mass[i][j] = mass[j][i] = expression
    elif part.kind == "force":
        forces[0] = expression
    elif part.kind == "nonideal":
        nonideal[0] = expression
    return Description(
        axes=axes,
        kinetic=None if mass_given else expression if part.kind == "kinetic" else zero,
        potential=expression if part.kind == "potential" else zero,
        forces=forces,
        mass=mass if mass_given else None,
        constraints=[(expression, part.order)] if part.kind == "constraint" else [],
        nonideal=nonideal,
        switching=any(type(atom).__name__ in FLOORS for atom in atoms_of([expression])),
    )
