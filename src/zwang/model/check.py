"""Every mistake of a model, found together and reported by name and place."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.mistakes import Mistake, Said, Where
from zwang.model.constraint import Constraint
from zwang.model.contact import wrong_contacts
from zwang.model.described import Described
from zwang.model.identity import degree, degree_at_most, is_zero
from zwang.model.reaction import wrong_reactions
from zwang.model.signal import Signal
from zwang.model.symbols import Plain, t

MOST_NAMED = 6  # coordinates or entries that one kind of mistake names
NOT_REAL = {sp.I, sp.nan, sp.zoo, sp.oo, -sp.oo}


def find_mistakes(system: Described) -> list[Mistake]:
    """What is wrong with a system's description; an empty list if nothing is.

    Where a mistake is made is told by an argument of `System` and a name within it: ("constraints", "rod").
    """
    mistakes = wrong_coordinates(system)
    if mistakes:
        return mistakes  # nothing else can be judged without coordinates
    return [
        *wrong_symbols(system),
        *wrong_energies(system),
        *wrong_mass(system),
        *wrong_constraints(system),
        *wrong_contacts(system.constraints, {*system.coordinates}, system.inputs),
        *wrong_reactions(system),
        *wrong_parameters(system),
    ]


def missing_values(system: Described, needed: Sequence[sp.Symbol], values: Any) -> list[str]:
    """Of the parameters that are needed and the known functions of time, those that have no value."""
    inputs = [f for f in system.inputs if values.get(f) is None]
    return [
        f"parameter {s} has no value: give parameters={{{s}: …}} to the system or to this call"
        for s in [*needed, *inputs]
        if values.get(s) is None
    ]


def place_name(where: Where, coordinates: Sequence[sp.Expr]) -> Said:
    """What a person calls the place of an expression: kinetic, forces[x(t)], constraint 'rod'.

    >>> from zwang.model.symbols import coordinates
    >>> place_name(("forces", "x"), [coordinates("x")])
    'forces[x(t)]'
    """
    if where[0] == "constraints":
        return Said(f"constraint {where[1]!r}", *(f", {part}" for part in where[2:]))
    if where[0] in ("forces", "nonideal"):
        return Said(where[0], "[", next(q for q in coordinates if q.func.__name__ == where[1]), "]")
    return Said(where[0])


def with_commas(values: Iterable[object]) -> Said:
    """Values one after the other, with commas between them."""
    return Said(*[part for value in values for part in (", ", value)][1:])


def wrong_coordinates(system: Described) -> list[Mistake]:
    """Coordinates that are not functions of time, or that are listed twice."""
    where = ("coordinates",)
    if not system.coordinates:
        return [Mistake("coordinates: there are none; give at least one, from zwang.coordinates('x')", where=where)]
    mistakes = [
        Mistake(f"coordinate {q} is not a function of time", where=(*where, i),
                remedy="make it with zwang.coordinates or dynamicsymbols")
        for i, q in enumerate(system.coordinates)
        if not (isinstance(q, AppliedUndef) and q.args == (t,))
    ]  # fmt: skip
    if mistakes:
        return mistakes
    counts = Counter(system.coordinates)
    names = Counter(q.func.__name__ for q in counts)
    return [
        *(
            Mistake("coordinate ", q, f" is listed {k} times", where=(*where, q.func.__name__), remedy="list it once")
            for q, k in counts.items()
            if k > 1
        ),
        *(
            Mistake(f"{k} different coordinates are called {name}", where=(*where, name), remedy="names must differ")
            for name, k in names.items()
            if k > 1
        ),
    ]


def wrong_symbols(system: Described) -> list[Mistake]:
    """Functions of time that are not coordinates, high derivatives, and look-alikes of coordinates and time."""
    known = dict.fromkeys(system.coordinates)
    lookalikes = {f.func.__name__: f for f in known} | {"t": "zwang.t"}
    mistakes = [
        Mistake(place_name(where, system.coordinates), ": ", wrong.text, where=where, remedy=wrong.remedy)
        for where, expression in system.places.items()
        for wrong in wrong_in(expression, known, lookalikes, system.inputs, highest_rate(where))
    ]
    return mistakes + same_names(system)


def same_names(system: Described) -> list[Mistake]:
    """Parameters that are called alike."""
    counts = Counter(s.name for s in system.symbols)
    return [
        Mistake(
            f"{k} different parameters are called {name} (their assumptions differ)",
            where=("parameters", name),
            remedy="use one symbol for one thing",
        )
        for name, k in counts.items()
        if k > 1
    ]


def highest_rate(where: Where) -> int:
    """How often coordinates may be differentiated in an expression: accelerations stand in constraints only."""
    return 2 if where[0] == "constraints" and len(where) == 2 else 1


def wrong_in(
    expression: sp.Basic,
    known: Mapping[sp.Expr, None],
    lookalikes: Mapping[str, Any],
    inputs: Mapping[sp.Expr, Any],
    highest: int,
    bound: Set[sp.Basic] = frozenset(),
) -> Iterator[Mistake]:
    """Mistakes of that kind in one expression, in which coordinates may be differentiated `highest` times.

    `bound` are symbols of a template, which may be called as they like.
    """
    parts = expression.atoms(AppliedUndef, sp.Derivative, sp.Atom)  # one look at a long expression
    # Sorted throughout: atoms come as a set, and the same model must give the same message.
    # a function of coordinates, h(x, t), may stay unspecified in symbols; numbers will ask for it
    functions = [f for f in parts if isinstance(f, AppliedUndef) and f.args == (t,)]
    for f in sorted((f for f in functions if f not in known and f not in inputs), key=str):
        if f.func.__name__ in lookalikes:
            why = ", it only looks like it (its assumptions differ)"
            yield Mistake(f, " is not the coordinate ", f, why, remedy="use one of them")
        else:
            remedy = "add it to them, or make it a parameter"
            yield Mistake("unknown symbol ", f, "; the coordinates are ", with_commas(known), remedy=remedy)
    for s in sorted(parts & NOT_REAL, key=str):
        yield Mistake("contains ", s, ", which is not a real number")
    derivatives = [d for d in parts if isinstance(d, sp.Derivative)]
    for d in sorted((d for d in derivatives if d.expr in known and d.derivative_count > highest), key=str):
        what = "accelerations are allowed in constraints only" if d.derivative_count == 2 else "the order is above 2"
        yield Mistake("contains ", d, f"; {what}")
    symbols = [s for s in parts if isinstance(s, sp.Symbol) and s != t and s not in bound]
    for s in sorted((s for s in symbols if s.name in lookalikes and s in expression.free_symbols), key=str):
        meant = lookalikes[s.name]
        yield Mistake("the symbol ", s, " is not ", meant, ", it only looks like it", remedy=Said("use ", meant))


def wrong_energies(system: Described) -> list[Mistake]:
    """Energies that are missing, doubled, not quadratic, or that leave a coordinate without inertia."""
    mistakes = missing_energies(system, system.kinetic is not None, system.potential != 0)
    return mistakes if system.kinetic is None else [*mistakes, *wrong_potential(system), *wrong_kinetic(system)]


def missing_energies(system: Described, kinetic: bool, potential: bool) -> list[Mistake]:
    """Energies that are missing, or given beside a mass matrix."""
    if kinetic and system.mass is not None:
        return [Mistake("both kinetic and mass are given", where=("mass",), remedy="give one of them")]
    if not kinetic and system.mass is None:
        return [
            Mistake("neither kinetic nor mass is given", remedy="give the kinetic energy, or a mass matrix with forces")
        ]
    if kinetic or not potential:
        return []
    remedy = "with mass, put the whole of Q (−∂V/∂q included) into forces"
    return [Mistake("potential goes with kinetic", where=("potential",), remedy=remedy)]


def wrong_potential(system: Described) -> Iterator[Mistake]:
    """A potential that depends on velocities."""
    moving = sorted(system.potential.atoms(sp.Derivative).intersection(system.velocities), key=str)
    if moving:
        yield Mistake("potential depends on ", with_commas(moving), where=("potential",),
                      remedy="put forces that depend on velocity into forces")  # fmt: skip


def wrong_kinetic(system: Described) -> Iterator[Mistake]:
    """A kinetic energy that is not quadratic in the velocities, or that leaves a coordinate without inertia."""
    assert system.kinetic is not None
    where = ("kinetic",)
    if not quadratic(system):
        plain = Plain.of(system.coordinates)
        kinetic = plain.put(system.kinetic)
        # the first few only: in a long expression each takes its time
        high = [plain.back(vi) for vi in plain.v[:MOST_NAMED] if not degree_at_most(kinetic, [vi], 2)]
        which = Said(" (look at ", with_commas(high), ")") if high else ""
        yield Mistake("kinetic is not quadratic in the velocities", which, where=where,
                      remedy="½ q̇ᵀM q̇ with M free of q̇ is meant")  # fmt: skip
    constrained = {f for c in system.constraints for f in c.functions}
    rates_there = system.kinetic.atoms(sp.Derivative)
    for q, vi in zip(system.coordinates, system.velocities, strict=True):
        if vi not in rates_there and q not in constrained:
            why = ": its rate occurs neither there nor in a constraint, so nothing determines its acceleration"
            yield Mistake("kinetic misses the coordinate ", q, why, where=where)


def quadratic(system: Described) -> bool:
    """Whether the kinetic energy is at most quadratic in the velocities; mostly its form is enough to tell."""
    assert system.kinetic is not None
    if degree(system.kinetic, frozenset(system.velocities), {}) <= 2:
        return True
    plain = Plain.of(system.coordinates)
    return degree_at_most(plain.put(system.kinetic), plain.v, 2)


def wrong_mass(system: Described) -> list[Mistake]:
    """A mass matrix that is not symmetric."""
    if system.mass is None:
        return []
    M, n = system.mass, system.mass.rows
    mistakes = (
        Mistake(
            f"mass is not symmetric: entry ({i + 1}, {j + 1}) is ",
            M[i, j],
            f", entry ({j + 1}, {i + 1}) is ",
            M[j, i],
            where=("mass", i, j),
        )
        for i in range(n)
        for j in range(i)
        if M[i, j] != M[j, i] and not is_zero(M[i, j] - M[j, i])
    )
    return list(islice(mistakes, MOST_NAMED))


def wrong_constraints(system: Described) -> list[Mistake]:
    """Constraints that constrain nothing, that are nonlinear in accelerations, or that share a name."""
    mistakes = [
        Mistake(f"constraint {name!r} is given {k} times", where=("constraints", name), remedy="names must differ")
        for name, k in Counter(system.constraint_names).items()
        if k > 1
    ]
    for c in system.constraints:
        where = ("constraints", c.name)
        if not c.functions:
            nothing = " contains no coordinate, so it constrains nothing"
            mistakes.append(Mistake(f"constraint {c.name!r}: ", c.expression, nothing, where=where))
        elif c.order == 2 and set(c.functions) <= set(system.coordinates) and not linear_in_accelerations(c):
            text = f"constraint {c.name!r} is nonlinear in the accelerations: rows A q̈ = b are linear"
            mistakes.append(Mistake(text, where=where))
    return mistakes


def linear_in_accelerations(constraint: Constraint) -> bool:
    """Whether a constraint is linear in the accelerations of its coordinates."""
    plain = Plain.of(constraint.functions)
    return degree_at_most(plain.put(constraint.expression), plain.a, 1)


def wrong_parameters(system: Described) -> list[Mistake]:
    """Default values that are not finite real numbers, or that belong to no symbol."""
    found = (wrong_parameter(system, symbol, value) for symbol, value in system.parameters.items())
    return [mistake for mistake in found if mistake is not None]


def wrong_parameter(system: Described, symbol: Any, value: Any) -> Mistake | None:
    """What is wrong with the default value of one symbol, or of one known function of time."""
    if isinstance(symbol, AppliedUndef) and symbol.args == (t,):
        where = ("parameters", symbol.func.__name__)
        if symbol in system.coordinates:
            remedy = "give its value in a state, not here"
            return Mistake("parameters: ", symbol, " is a coordinate", where=where, remedy=remedy)
        if value is None or isinstance(value, Signal):
            return None
        if isinstance(value, sp.Expr) and not value.atoms(AppliedUndef):
            return None
        meant = "an expression in t and parameters alone is meant"
        return Mistake("parameters: ", symbol, " = ", value, where=where, remedy=meant)
    where = ("parameters", str(symbol))
    if not isinstance(symbol, sp.Symbol):
        remedy = "use the symbols from zwang.parameters as keys"
        return Mistake(f"parameters: {symbol!r} is not a parameter", where=where, remedy=remedy)
    if value is None:
        return None
    try:
        finite = math.isfinite(float(value))
    except (TypeError, ValueError):
        finite = False
    if finite and not isinstance(value, str | bytes):
        return None
    return Mistake(f"parameter {symbol} = {value!r} is not a finite real number", where=where)
