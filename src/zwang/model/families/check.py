"""Mistakes of a description by families: looked for in templates, once for all members of a kind."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.mistakes import Mistake, Said, Where
from zwang.model.check import (
    MOST_NAMED,
    highest_rate,
    linear_in_accelerations,
    missing_energies,
    place_name,
    same_names,
    with_commas,
    wrong_in,
    wrong_mass,
    wrong_parameters,
)
from zwang.model.constraint import Constraint
from zwang.model.contact import wrong_contacts
from zwang.model.described import Described
from zwang.model.event import REACTION
from zwang.model.families.repeated import Repeated, Share
from zwang.model.identity import degree_at_most
from zwang.model.reaction import wrong_reaction
from zwang.model.symbols import Plain, label, rates, t
from zwang.words import listed


class Known(Mapping[Any, Any]):
    """The coordinates of a system and the bound symbols of a template, as messages list them."""

    def __init__(self, repeated: Repeated, bound: Iterable[sp.Expr] = ()) -> None:
        """Of a system, and of one of its templates."""
        self.repeated, self.bound = repeated, frozenset(bound)

    def __contains__(self, f: object) -> bool:
        """Whether this is one of them."""
        return f in self.bound or self.repeated.number(f) is not None

    def __iter__(self) -> Iterator[Any]:
        """The first coordinates, and how many more there are."""
        names = self.repeated.names
        yield from map(self.repeated.coordinate, names[:MOST_NAMED])
        if len(names) > MOST_NAMED:
            yield f"{len(names) - MOST_NAMED:,} more"

    def __len__(self) -> int:
        """How many coordinates there are."""
        return len(self.repeated.names)

    def __getitem__(self, f: Any) -> None:
        """Nothing is known of them but that they are there."""
        return


class Lookalikes(Mapping[str, Any]):
    """What a symbol may be taken for: a coordinate of its name, or time."""

    def __init__(self, repeated: Repeated) -> None:
        """In a system."""
        self.repeated = repeated

    def __contains__(self, name: object) -> bool:
        """Whether something is called so."""
        return name == "t" or name in self.repeated.index

    def __iter__(self) -> Iterator[str]:
        """All names."""
        return iter(("t", *self.repeated.names))

    def __len__(self) -> int:
        """How many there are."""
        return len(self.repeated.names) + 1

    def __getitem__(self, name: str) -> Any:
        """What is called so."""
        return "zwang.t" if name == "t" and name not in self.repeated.index else self.repeated.coordinate(name)


def find_mistakes_in_families(system: Described, repeated: Repeated) -> list[Mistake]:
    """What is wrong with a description by families; an empty list if nothing is."""
    mistakes = list(wrong_names(repeated))
    if mistakes:
        return mistakes
    return [
        *wrong_bindings(repeated),
        *wrong_symbols(system, repeated),
        *wrong_energies(system, repeated),
        *wrong_mass(system),
        *wrong_constraints(repeated),
        *wrong_contacts(contacts_of(repeated), Known(repeated), system.inputs),
        *wrong_reactions(repeated),
        *wrong_parameters(system),
    ]


def wrong_reactions(repeated: Repeated) -> Iterator[Mistake]:
    """Multipliers where none may be, or of constraints that are not there."""
    if not any(REACTION.fullmatch(s.name) for s in repeated.symbols):
        return
    energies = {("kinetic",): repeated.kinetic or sp.S.Zero, ("potential",): repeated.potential}
    along = {
        (what, repeated.names[i]): e for what in ("forces", "nonideal") for i, e in getattr(repeated, what).items()
    }
    rows = {("constraints", c.name): c.expression for c in repeated.constraints.values()}
    used = [(where, s) for where, e in (energies | along | rows).items() for s in e.free_symbols]
    used += [((share.place,), s) for share in repeated.shares for s in share.family.parameters]
    for where, s in used:
        if REACTION.fullmatch(s.name):
            yield from wrong_reaction(s, where, repeated.constraint_names)


def contacts_of(repeated: Repeated) -> list[Constraint]:
    """The one-sided constraints beside families, and the first of each kind within, written out."""
    found = list(repeated.constraints.values())
    for share in repeated.of("constraints"):
        for kind, template in share.templates:
            k = int(kind.members[0])
            name = repeated.constraint_names[int(share.rows[k])]
            found.append(Constraint.member(template, name, partial(share.family.member, k)))
    return [c for c in found if c.one_sided or c.slip]


def wrong_names(repeated: Repeated) -> Iterator[Mistake]:
    """No coordinates, or coordinates that are listed twice."""
    where = ("coordinates",)
    if not repeated.names:
        yield Mistake("coordinates: there are none; give at least one, from zwang.coordinates('x')", where=where)
    for name, k in Counter(repeated.names).items():
        if k > 1:
            yield Mistake(f"coordinate {name} is listed {k} times", where=(*where, name), remedy="list it once")


def place_of(repeated: Repeated, share: Share, k: int = 0) -> Where:
    """Where a member of a family stands."""
    return ("constraints", repeated.constraint_names[share.rows[k]]) if len(share.rows) else (share.place,)


def said_of(repeated: Repeated, share: Share, k: int = 0) -> str:
    """What a person calls the place of a family: kinetic, constraint 'link[0]'."""
    where = place_of(repeated, share, k)
    return f"constraint {where[1]!r}" if len(where) > 1 else str(where[0])


def wrong_bindings(repeated: Repeated) -> Iterator[Mistake]:
    """Symbols that are bound to functions of time that are not coordinates of the system."""
    for share in repeated.shares:
        where, who = place_of(repeated, share), said_of(repeated, share)
        for symbol, column in share.family.columns.items():
            strange = [name for name in sorted(column.names) if name not in repeated.index]
            if strange:
                known = listed(repeated.names, MOST_NAMED)
                text = f"{who}: {label(symbol)} is bound to {listed(strange, MOST_NAMED)}; the coordinates are {known}"
                yield Mistake(text, where=where, remedy="bind it to coordinates, or add them")
            for name, f in column.own.items():
                if name in repeated.index and repeated.coordinate(name) != f:
                    text = f"{who}: {name} is not the coordinate {name}, it only looks like it (its assumptions differ)"
                    yield Mistake(text, where=where, remedy="use one of them")


def wrong_symbols(system: Described, repeated: Repeated) -> Iterator[Mistake]:
    """Unknown functions of time, high derivatives and look-alikes, in templates and beside them."""
    lookalikes = Lookalikes(repeated)
    for share in repeated.shares:
        highest = 2 if share.place == "constraints" else 1
        for kind in share.family.kinds:
            known = Known(repeated, kind.functions.keys() - share.family.free)
            k = int(kind.members[0])
            bound = kind.parameters.keys() | kind.numbers.keys()
            for wrong in wrong_in(kind.expression, known, lookalikes, system.inputs, highest, bound):
                where, who = place_of(repeated, share, k), said_of(repeated, share, k)
                yield Mistake(who, ": ", wrong.text, where=where, remedy=wrong.remedy or "")
    known = Known(repeated)
    for where, expression in beside(repeated):
        for wrong in wrong_in(expression, known, lookalikes, system.inputs, highest_rate(where)):
            if where[0] == "constraints":
                place = place_name(where, ())
            else:
                place = Said("[".join(map(str, where)) + "]" * (len(where) - 1))
            yield Mistake(place, ": ", wrong.text, where=where, remedy=wrong.remedy)
    yield from same_names(system)


def beside(repeated: Repeated) -> Iterator[tuple[Where, sp.Expr]]:
    """The expressions beside families, and where they stand."""
    if repeated.kinetic is not None:
        yield ("kinetic",), repeated.kinetic
    yield ("potential",), repeated.potential
    for what in ("forces", "nonideal"):
        for i, e in getattr(repeated, what).items():
            yield (what, repeated.names[i]), e
    for c in repeated.constraints.values():
        yield ("constraints", c.name), c.expression
        for what, e in c.law.items():
            yield ("constraints", c.name, what), e


def wrong_energies(system: Described, repeated: Repeated) -> Iterator[Mistake]:
    """Energies that are missing, doubled, not quadratic, or that leave a coordinate without inertia."""
    moving, stored = repeated.of("kinetic"), repeated.of("potential")
    given = repeated.kinetic is not None
    yield from missing_energies(system, given, repeated.potential != 0 or bool(stored))
    for e in [repeated.potential, *(kind.expression for share in stored for kind in share.family.kinds)]:
        fast = sorted((d for d in e.atoms(sp.Derivative) if isinstance(d.expr, AppliedUndef)), key=str)
        fast = [d for d in fast if d.expr not in system.inputs]
        if fast:
            remedy = "put forces that depend on velocity into forces"
            yield Mistake("potential depends on ", with_commas(fast), where=("potential",), remedy=remedy)
            break
    if not given:
        return
    for share in moving:
        for kind in share.family.kinds:
            if not quadratic(kind.expression, system.inputs):
                yield not_quadratic(Said(" (", kind.expression, ")"))
    if not quadratic(repeated.kinetic, system.inputs):
        yield not_quadratic(Said(" beside its families"))
    found = rates_in(repeated) | constrained(repeated)
    lazy = [name for name in repeated.names if name not in found]
    if lazy:
        why = ": their rates occur neither there nor in a constraint, so nothing determines their accelerations"
        yield Mistake(f"kinetic misses {listed(lazy, MOST_NAMED)}{why}", where=("kinetic",))


def not_quadratic(which: Said) -> Mistake:
    """Say that a kinetic energy is not quadratic."""
    remedy = "½ q̇ᵀM q̇ with M free of q̇ is meant"
    return Mistake("kinetic is not quadratic in the velocities", which, where=("kinetic",), remedy=remedy)


def quadratic(energy: Any, inputs: Mapping[sp.Expr, Any]) -> bool:
    """Whether an energy is at most quadratic in the velocities."""
    functions = sorted((f for f in energy.atoms(AppliedUndef) if f.args == (t,) and f not in inputs), key=str)
    plain = Plain.of(functions)
    return degree_at_most(plain.put(energy), plain.v, 2)


def rates_in(repeated: Repeated) -> set[str]:
    """The names of the coordinates whose rates occur in the kinetic energy."""
    found = {d.expr.func.__name__ for d in (repeated.kinetic or sp.S.Zero).atoms(sp.Derivative)}
    for share in repeated.of("kinetic"):
        for kind in share.family.kinds:
            inside = kind.expression.atoms(sp.Derivative)
            for f, column in kind.functions.items():
                if rates(f)[0] in inside:
                    found |= column.names
    return found


def constrained(repeated: Repeated) -> set[str]:
    """The names of the coordinates that occur in constraints."""
    found = {f.func.__name__ for c in repeated.constraints.values() for f in c.functions}
    for share in repeated.of("constraints"):
        for kind, template in share.templates:
            for f in template.functions:
                found |= kind.functions[f].names
    return found


def wrong_constraints(repeated: Repeated) -> Iterator[Mistake]:
    """Constraints that constrain nothing, that are nonlinear in accelerations, or that share a name."""
    for name, k in Counter(repeated.constraint_names).items():
        if k > 1:
            yield Mistake(
                f"constraint {name!r} is given {k} times", where=("constraints", name), remedy="names must differ"
            )
    found: list[tuple[str, Constraint]] = [(c.name, c) for c in repeated.constraints.values()]
    for share in repeated.of("constraints"):
        first = [share.rows[kind.members[0]] for kind, _ in share.templates]
        found += [(repeated.constraint_names[i], c) for i, (_, c) in zip(first, share.templates, strict=True)]
    for name, c in found:
        where = ("constraints", name)
        if not c.functions:
            nothing = " contains no coordinate, so it constrains nothing"
            yield Mistake(f"constraint {name!r}: ", c.expression, nothing, where=where)
        elif c.order == 2 and not linear_in_accelerations(c):
            yield Mistake(
                f"constraint {name!r} is nonlinear in the accelerations: rows A q̈ = b are linear", where=where
            )
