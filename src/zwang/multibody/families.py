"""A large mechanism by families: bodies, joints and force elements of one kind are written once, by their twins."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.lowering.cache import Kept
from zwang.lowering.rolled import families as lowered
from zwang.model.constraint import Constraint
from zwang.model.families.column import FUNCTION, NUMBER, PARAMETER, Column
from zwang.model.families.family import Family
from zwang.model.families.repeated import ON, Repeated, Share, members_of, named_constraint
from zwang.model.time import coordinate
from zwang.multibody.body import AnyBody, Ground, MassBody, Particle
from zwang.multibody.described import DescribedMechanism
from zwang.multibody.forces.gravity import Gravity
from zwang.multibody.joint import Constrainer, Joint
from zwang.multibody.planar_body import PlanarBody
from zwang.multibody.pose import Pose, at_rest
from zwang.multibody.spatial_body import Body
from zwang.multibody.twins import TWINS, Bindings, UnlikeError, held_by, number_symbol
from zwang.multibody.vectors import IDENTITY, quaternion_turn, vector

NOTHING = np.zeros(0, dtype=np.int64)
ENERGIES, FORCES = ("kinetic", "potential"), ("forces", "nonideal")
INERTIA = {Body: ("mass", "inertia_matrix"), PlanarBody: ("mass", "inertia"), Particle: ("mass",)}

Says = dict[str, dict[Any, Any]]


@dataclass(frozen=True, eq=False)
class Template:
    """What a kind of part says: expressions in symbols by place, and there by suffix or coordinate."""

    symbols: tuple[sp.Expr, ...]
    says: Says


_TEMPLATES: Kept[Template] = Kept()  # mechanisms of one process have the same kinds of parts


@dataclass
class Members:
    """Parts of one kind, in the making of a family: coordinates by name, and numbers, for each of them."""

    template: Template
    names: list[list[str]] = field(default_factory=list)
    values: list[list[Any]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    parts: list[Any] = field(default_factory=list)

    def family(self, template: sp.Expr, writes: Callable[[int], Any] | None = None, on: Any = None) -> Family:
        """One expression of the twin, for all of them; of a force, along the coordinate that it is `on`."""
        used = template.atoms(sp.Function) | template.free_symbols
        columns: dict[sp.Expr, Column] = {}
        functions = np.full(len(self.parts), FUNCTION, dtype=np.int8)
        symbols = self.template.symbols
        places = [] if on is None else [(ON, symbols.index(on))]  # which comes first
        for symbol, j in [*places, *((s, j) for j, s in enumerate(symbols) if s in used)]:
            columns[symbol] = Column(functions, np.array([own[j] for own in self.names], dtype=object))
        for j in range(len(self.values[0])):
            if (symbol := number_symbol(j + 1)) in used:
                columns[symbol] = numbers_column([own[j] for own in self.values])
        return Family(template, columns, writes=writes)


class Kinds:
    """Parts of a mechanism by their kinds."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        """`known` are the names of the mechanism's coordinates."""
        self.known = known
        self.found: dict[Any, Members] = {}

    def take(self, part: Any, held: tuple[str, ...], says: Callable[..., Says]) -> Members | None:
        """Put a part to those of its kind; `says` is what a twin says. None for a part that is to be written out."""
        bindings = Bindings(self.known)
        try:
            bindings.twin(part, held)
        except UnlikeError:
            return None
        key = (says, *bindings.key)
        members = self.found.get(key)
        if members is None:
            made = _TEMPLATES.get(key, lambda: self.template(part, held, says))
            members = self.found[key] = Members(made)
        members.names.append(bindings.names)
        members.values.append(bindings.values)
        members.parts.append(part)
        return members

    def template(self, part: Any, held: tuple[str, ...], says: Callable[..., Says]) -> Template:
        """What a part's twin says."""
        bindings = Bindings(self.known, make=True)
        twin = bindings.twin(part, held)
        return Template(tuple(bindings.symbols), says(twin, bindings.bodies))


def numbers_column(values: list[Any]) -> Column:
    """Numbers, or parameters, of all members."""
    if isinstance(values[0], sp.Symbol):
        return Column(np.full(len(values), PARAMETER, dtype=np.int8), np.array(values, dtype=object))
    return Column(np.full(len(values), NUMBER, dtype=np.int8), np.array(values, dtype=float))


def is_large(mechanism: DescribedMechanism) -> bool:
    """Whether a mechanism is lowered by families, so that nothing needs to be written out."""
    coordinates = sum(len(b.coordinate_names) for b in mechanism.movable)
    rows = sum(len(b.suffixes) for b in mechanism.movable) + sum(len(j.suffixes) for j in mechanism.joints)
    return coordinates + rows >= lowered.ROLLED_FROM


def by_families(mechanism: DescribedMechanism, known: frozenset[sp.Expr], writes: dict[str, Any]) -> Repeated:
    """A mechanism's description by families; `writes` are what write the fields of its system out."""
    bodies = mechanism.movable
    own = {q.func.__name__: q for j in mechanism.joints for q in j.coordinates}
    names = [*(name for b in bodies for name in b.coordinate_names), *own]
    number = {name: i for i, name in enumerate(names)}
    shares: list[Share] = []
    beside: dict[str, list[Any]] = {place: [] for place in (*ENERGIES, *FORCES)}
    add_bodies(mechanism, number, shares, beside)
    add_elements(mechanism, number, shares, beside)
    row_names, rows = add_rows(mechanism, number, known, shares)
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
    forces, nonideal = ({number[q.func.__name__]: e for q, e in total(beside[place]).items()} for place in FORCES)
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


def add_rows(
    mechanism: DescribedMechanism, number: Mapping[str, int], known: frozenset[sp.Expr], shares: list[Share]
) -> tuple[list[str], dict[int, Constraint]]:
    """The conditions of bodies and joints, as families; the names of all of them, and those that are written out."""
    row_names: list[str] = []
    rows: dict[int, Constraint] = {}
    kinds = Kinds(number)
    parts: list[MassBody | Constrainer] = [*mechanism.movable, *mechanism.joints]
    for part in parts:
        members = None
        if isinstance(part, MassBody):
            members = kinds.take(part, (), conditions_of) if type(part) in TWINS and part.suffixes else None
        elif held := held_by(part):
            members = kinds.take(part, held, conditions_of)
        if members is None:
            for name, e in written_rows(part):
                rows[len(row_names)] = named_constraint(name, e, len(row_names), known)
                row_names.append(name)
            continue
        members.rows.append(len(row_names))
        names = part.row_names if isinstance(part, Constrainer) else [f"{part.name}.{s}" for s in part.suffixes]
        row_names += names
    for members in kinds.found.values():
        for k, (suffix, e) in enumerate(members.template.says["constraints"].items()):
            family = members.family(e, partial(written_condition, members.parts, suffix))
            shares.append(Share("constraints", family, np.array(members.rows) + k, known))
    return row_names, rows


def conditions_of(twin: Any, bodies: Sequence[MassBody]) -> Says:
    """The conditions of a twin."""
    return {"constraints": twin.conditions if isinstance(twin, MassBody) else dict(twin.conditions())}


def add_bodies(
    mechanism: DescribedMechanism, number: Mapping[str, int], shares: list[Share], beside: dict[str, list[Any]]
) -> None:
    """The energies of bodies, in motion and in gravity, as families and beside them."""
    fields = [element for element in mechanism.forces if isinstance(element, Gravity)]
    kinds = Kinds(number)
    for body in mechanism.movable:
        if type(body) not in TWINS or kinds.take(body, INERTIA[type(body)], body_itself) is None:
            beside["kinetic"].append(body.kinetic)
            beside["potential"] += [f.potential([body]) for f in fields]
    for members in kinds.found.values():
        says = members.template.says
        shares.append(Share("kinetic", members.family(says["kinetic"][None]), NOTHING))
        twin = says["body"][None]
        for gravity in fields:
            if len(vector(gravity.who, gravity.acceleration)) != twin.dimension:
                gravity.potential(mechanism.movable)  # which says what is wrong
            potential = gravity.potential([twin])
            if potential != 0:
                shares.append(Share("potential", members.family(potential), NOTHING))


def body_itself(twin: Any, bodies: Sequence[MassBody]) -> Says:
    """A twin of a body, which gravity will ask, and its kinetic energy."""
    return {"body": {None: twin}, "kinetic": {None: twin.kinetic}}


def add_elements(
    mechanism: DescribedMechanism, number: Mapping[str, int], shares: list[Share], beside: dict[str, list[Any]]
) -> None:
    """Energies and forces of force elements, as families and beside them; gravity is told with the bodies."""
    kinds, bodies = Kinds(number), mechanism.movable
    for element in mechanism.forces:
        if isinstance(element, Gravity):
            continue
        held = held_by(element)
        if not held or kinds.take(element, held, acts) is None:
            for place in (*ENERGIES, *FORCES):
                beside[place].append(getattr(element, place)(bodies))
    for members in kinds.found.values():
        for place, what in members.template.says.items():
            for q, e in what.items():
                shares.append(Share(place, members.family(e, on=q), NOTHING))


def acts(twin: Any, bodies: Sequence[MassBody]) -> Says:
    """What a twin of a force element does: energies, and forces by coordinate."""
    energies = {place: getattr(twin, place)(bodies) for place in ENERGIES}
    said: Says = {place: {None: e} for place, e in energies.items() if e != 0}
    forces = {place: getattr(twin, place)(bodies) for place in FORCES}
    return said | {place: {q: e for q, e in along.items() if e != 0} for place, along in forces.items()}


def is_twinned(body: AnyBody) -> bool:
    """Whether a body is the ground or of a kind that has twins."""
    return isinstance(body, Ground) or type(body) in TWINS


def facing_at(joint: Constrainer, q: Array, index: Mapping[str, int]) -> Any:
    """What `facing` of a joint in space reads at positions, without writing it; None where it has to be written."""
    if not (isinstance(joint, Joint) and held_by(joint) and all(map(is_twinned, joint.bodies))) or joint.dimension == 2:
        return None
    twin = object.__new__(type(joint))
    held = {name: in_floats(getattr(joint, name)) for name in joint.held}
    twin.__dict__.update(joint.__dict__ | held | {"poses": tuple(pose_at(body, q, index) for body in joint.bodies)})
    return 1.0 if twin.facing is None else twin.facing


def in_floats(x: Any) -> Any:
    """Numbers, in tuples of tuples, as Python's; all else as it is."""
    if isinstance(x, tuple):
        return tuple(map(in_floats, x))
    return float(x) if isinstance(x, sp.Number) else x


def pose_at(body: AnyBody, q: Array, index: Mapping[str, int]) -> Pose:
    """Where a body in space is and how it is turned, in numbers."""
    if not isinstance(body, MassBody):
        return at_rest(3)
    values = [float(q[index[name]]) for name in body.coordinate_names]
    turn = quaternion_turn(tuple(values[3:])) if isinstance(body, Body) else IDENTITY[3]
    return Pose(tuple(values[:3]), turn, (0, 0, 0), (0, 0, 0))


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
