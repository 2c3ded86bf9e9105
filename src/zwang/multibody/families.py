"""A large mechanism by families: bodies and joints of one kind are written once, with symbols for their numbers.

A twin is a body or a joint of the same class whose coordinates are symbols of a template and whose numbers are symbols,
but for zeros and ones, which make expressions simpler. What it says of itself is the template.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.lowering.rolled import families as lowered
from zwang.model.constraint import Constraint
from zwang.model.families.column import FUNCTION, NUMBER, PARAMETER, Column
from zwang.model.families.family import Family
from zwang.model.families.repeated import Repeated, Share, members_of, named_constraint
from zwang.model.time import coordinate
from zwang.multibody.body import AnyBody, Ground, MassBody, Particle
from zwang.multibody.described import DescribedMechanism
from zwang.multibody.forces.gravity import Gravity
from zwang.multibody.joint import Constrainer, Joint
from zwang.multibody.planar_body import PlanarBody
from zwang.multibody.pose import Pose, at_rest
from zwang.multibody.spatial_body import Body
from zwang.multibody.vectors import IDENTITY, is_number, quaternion_turn, scalar, vector

TWINS = (Body, PlanarBody, Particle)
PLAIN = (0, 1, -1)  # numbers that stay


@dataclass
class Numbers:
    """The numbers of a part: what stands for them in its twin, and what they are."""

    values: list[Any] = field(default_factory=list)
    pattern: list[Any] = field(default_factory=list)

    def put(self, x: Any) -> Any:
        """A number, or nested tuples of them, as its twin has it."""
        if isinstance(x, tuple):
            self.pattern.append(len(x))
            return tuple(map(self.put, x))
        if isinstance(x, sp.Symbol) or (is_number(x) and x not in PLAIN):
            self.values.append(x)
            self.pattern.append("parameter" if isinstance(x, sp.Symbol) else "number")
            return sp.Symbol(f"number {len(self.values)}", real=True)
        self.pattern.append(x)
        return x


@dataclass
class Members:
    """Parts of one kind, in the making of a family: coordinates by name, and numbers, for each of them."""

    template: Any
    symbols: tuple[sp.Expr, ...]
    names: list[tuple[str, ...]] = field(default_factory=list)
    values: list[list[Any]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    parts: list[Any] = field(default_factory=list)

    def family(self, template: sp.Expr, writes: Callable[[int], Any] | None = None) -> Family:
        """One expression of the twin, for all of them."""
        used = template.atoms(sp.Function) | template.free_symbols
        columns: dict[sp.Expr, Column] = {}
        functions = np.full(len(self.parts), FUNCTION, dtype=np.int8)
        for j, symbol in enumerate(self.symbols):
            if symbol in used:
                columns[symbol] = Column(functions, np.array([own[j] for own in self.names], dtype=object))
        for j in range(len(self.values[0])):
            symbol = sp.Symbol(f"number {j + 1}", real=True)
            if symbol in used:
                columns[symbol] = numbers_column([own[j] for own in self.values])
        return Family(template, columns, writes=writes)


def numbers_column(values: list[Any]) -> Column:
    """Numbers, or parameters, of all members."""
    if isinstance(values[0], sp.Symbol):
        return Column(np.full(len(values), PARAMETER, dtype=np.int8), np.array(values, dtype=object))
    return Column(np.full(len(values), NUMBER, dtype=np.int8), np.array([float(x) for x in values]))


def is_large(mechanism: DescribedMechanism) -> bool:
    """Whether a mechanism is lowered by families, so that nothing needs to be written out."""
    coordinates = sum(len(b.coordinate_names) for b in mechanism.movable)
    rows = sum(len(b.suffixes) for b in mechanism.movable) + sum(len(j.suffixes) for j in mechanism.joints)
    return coordinates + rows >= lowered.ROLLED_FROM


def by_families(
    mechanism: DescribedMechanism,
    known: frozenset[sp.Expr],
    writes: dict[str, Any],
    forces_of: Callable[[Sequence[Any]], tuple[list[Share], list[Any]]] = lambda elements: ([], list(elements)),
) -> Repeated:
    """A mechanism's description by families; `writes` are what write the fields of its system out.

    `forces_of` gives families of force elements, and those that have none.
    """
    bodies = mechanism.movable
    names = [name for b in bodies for name in b.coordinate_names]
    own = {q.func.__name__: q for j in mechanism.joints for q in j.coordinates}
    names += own
    shares, elements = forces_of(mechanism.forces)
    beside: dict[str, list[Any]] = {"kinetic": [], "potential": []}
    add_energies(bodies, mechanism.forces, shares, beside)
    row_names: list[str] = []
    rows: dict[int, Constraint] = {}
    kinds: dict[Any, Members] = {}
    parts: list[MassBody | Constrainer] = [*bodies, *mechanism.joints]
    for part in parts:
        found = template_of(part)
        if found is None:
            for name, e in written_rows(part):
                rows[len(row_names)] = named_constraint(name, e, len(row_names), known)
                row_names.append(name)
            continue
        key, bound, values, twin = found
        if key not in kinds:
            kinds[key] = Members(twin(), symbols_of(part))
        members = kinds[key]
        members.names.append(bound)
        members.values.append(values)
        members.rows.append(len(row_names))
        members.parts.append(part)
        row_names += [f"{part.name}.{suffix}" for suffix in part.suffixes]
    for members in kinds.values():
        for k, (suffix, e) in enumerate(members.template.items()):
            family = members.family(e, partial(written_condition, members.parts, suffix))
            shares.append(Share("constraints", family, np.array(members.rows) + k, known))
    for k, (name, what) in enumerate(mechanism.constraints.items()):
        if isinstance(what, Family):
            more, share = members_of(name, what, len(row_names), known)
            if isinstance(share, Share):
                shares.append(share)
            else:
                rows |= enumerate(share, len(row_names))
            row_names += more
        else:
            rows[len(row_names)] = named_constraint(name, what, k, known)
            row_names.append(rows[len(row_names)].name)
    number = {name: i for i, name in enumerate(names)}
    forces, nonideal = (
        {number[q.func.__name__]: e for q, e in total(vectors).items()}
        for vectors in (
            [f.forces(bodies) for f in elements if not isinstance(f, Gravity)],
            [f.nonideal(bodies) for f in elements if not isinstance(f, Gravity)],
        )
    )
    return Repeated(
        tuple(names),
        {name: q for name, q in own.items() if q != coordinate(name)},
        sp.Add(*beside["kinetic"]),
        sp.Add(*beside["potential"]),
        forces,
        nonideal,
        rows,
        tuple(row_names),
        tuple(shares),
        writes,
    )


def add_energies(
    bodies: Sequence[MassBody], elements: Sequence[Any], shares: list[Share], beside: dict[str, list[Any]]
) -> None:
    """The energies of bodies and of force elements, as families and beside them."""
    kinds: dict[Any, Members] = {}
    for body in bodies:
        numbers = Numbers()
        if type(body) not in TWINS or (twin := twin_body(body, "first", numbers)) is None:
            beside["kinetic"].append(body.kinetic)
            beside["potential"] += [f.potential([body]) for f in elements if isinstance(f, Gravity)]
            continue
        key = (type(body), body.dimension, *numbers.pattern)
        members = kinds.setdefault(key, Members(twin, twin.coordinates))
        members.names.append(body.coordinate_names)
        members.values.append(numbers.values)
        members.parts.append(body)
    none = np.zeros(0, dtype=np.int64)
    for members in kinds.values():
        shares.append(Share("kinetic", members.family(members.template.kinetic), none))
        for element in elements:
            if isinstance(element, Gravity):
                if len(vector(element.who, element.acceleration)) != members.template.dimension:
                    element.potential(bodies)  # which says what is wrong
                potential = element.potential([members.template])
                if potential != 0:
                    shares.append(Share("potential", members.family(potential), none))
    for element in elements:
        beside["kinetic"].append(element.kinetic(bodies))
        if not isinstance(element, Gravity):
            beside["potential"].append(element.potential(bodies))


def twin_body(body: MassBody, name: str, numbers: Numbers | None = None) -> Any:
    """A body whose coordinates are symbols of a template, and whose mass and inertia are symbols, if that is asked for.

    None for a body whose mass or inertia is computed from parameters.
    """
    twin = object.__new__(type(body))
    twin.__dict__.update({f.name: getattr(body, f.name) for f in fields(body)} | {"name": f"{name} body"})  # type: ignore[arg-type]
    if numbers is None:
        return twin
    given = [scalar(body.who, body.mass)]
    if isinstance(body, PlanarBody):
        given.append(scalar(body.who, body.inertia))
    matrix = body.inertia_matrix if isinstance(body, Body) else ()
    if not all(is_number(x) or isinstance(x, sp.Symbol) for x in (*given, *(x for row in matrix for x in row))):
        return None
    twin.__dict__.update(mass=numbers.put(given[0]))
    if isinstance(body, PlanarBody):
        twin.__dict__.update(inertia=numbers.put(given[1]))
    if isinstance(body, Body):
        twin.__dict__.update(inertia_matrix=numbers.put(matrix))
    return twin


Template = tuple[Any, tuple[str, ...], list[Any], Callable[[], Mapping[str, Any]]]


def template_of(part: MassBody | Constrainer) -> Template | None:
    """The kind of a part that has conditions, names of its coordinates, its numbers, and what writes its template.

    None for a part whose conditions are written one by one.
    """
    if isinstance(part, MassBody):
        if type(part) not in TWINS:
            return None
        return type(part), part.coordinate_names, [], lambda: twin_body(part, "first").conditions
    if not (isinstance(part, Joint) and part.held and all(map(is_twinned, part.bodies))):
        return None
    numbers = Numbers()
    held = {name: numbers.put(getattr(part, name)) for name in part.held}
    if any(isinstance(x, sp.Basic) and not is_number(x) for x in numbers.pattern):
        return None
    bound = tuple(name for body in part.bodies if isinstance(body, MassBody) for name in body.coordinate_names)
    key = (type(part), part.dimension, *map(type, part.bodies), *part.held, *numbers.pattern)
    return key, bound, numbers.values, lambda: twin_joint(part, held).conditions()


def is_twinned(body: AnyBody) -> bool:
    """Whether a body may have a twin."""
    return isinstance(body, Ground) or type(body) in TWINS


def twin_joint(joint: Joint, held: dict[str, Any]) -> Joint:
    """A joint between twins, with symbols for its numbers."""
    twin = object.__new__(type(joint))
    given = {f.name: getattr(joint, f.name) for f in fields(joint)}  # type: ignore[arg-type]
    for name in ("first", "second"):
        if isinstance(given[name], MassBody):
            given[name] = twin_body(given[name], name)
    twin.__dict__.update(given | held)
    return twin


def facing_at(joint: Constrainer, q: Array, index: Mapping[str, int]) -> Any:
    """What `facing` of a joint in space reads at positions, without writing it; None where it has to be written."""
    if not (isinstance(joint, Joint) and joint.held and joint.dimension == 3 and all(map(is_twinned, joint.bodies))):
        return None
    twin = object.__new__(type(joint))
    twin.__dict__.update(joint.__dict__ | {"poses": tuple(pose_at(body, q, index) for body in joint.bodies)})
    return 1.0 if twin.facing is None else twin.facing


def pose_at(body: AnyBody, q: Array, index: Mapping[str, int]) -> Pose:
    """Where a body in space is and how it is turned, in numbers."""
    if not isinstance(body, MassBody):
        return at_rest(3)
    values = [float(q[index[name]]) for name in body.coordinate_names]
    turn = quaternion_turn(tuple(values[3:])) if isinstance(body, Body) else IDENTITY[3]
    return Pose(tuple(values[:3]), turn, (0, 0, 0), (0, 0, 0))


def symbols_of(part: MassBody | Constrainer) -> tuple[sp.Expr, ...]:
    """The coordinates of a part's twin."""
    if isinstance(part, MassBody):
        return tuple(twin_body(part, "first").coordinates)
    both = zip(part.bodies, ("first", "second"), strict=True)
    return tuple(q for body, name in both if isinstance(body, MassBody) for q in twin_body(body, name).coordinates)


def written_rows(part: MassBody | Constrainer) -> list[tuple[str, Any]]:
    """The conditions of a part by the names of their constraints, written out."""
    if isinstance(part, MassBody):
        return [(f"{part.name}.{suffix}", e) for suffix, e in part.conditions.items()]
    return list(zip(part.row_names, part.asked.values(), strict=True))


def written_condition(parts: Sequence[Any], suffix: str, k: int) -> sp.Expr:
    """A condition of one of some parts, written out."""
    part = parts[k]
    return (part.conditions if isinstance(part, MassBody) else part.asked)[suffix]


def total(parts: Sequence[Mapping[sp.Expr, sp.Expr]]) -> dict[sp.Expr, sp.Expr]:
    """Generalized forces added up, coordinate by coordinate."""
    terms: dict[sp.Expr, list[sp.Expr]] = {}
    for part in parts:
        for q, e in part.items():
            terms.setdefault(q, []).append(e)
    return {q: sp.Add(*es) for q, es in terms.items()}
