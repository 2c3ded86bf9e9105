"""Every mistake of a model, found together and reported by name."""

import math
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.model.identity import degree, degree_at_most, is_zero
from zwang.signals import Signal
from zwang.symbols import Plain, t

if TYPE_CHECKING:
    from zwang.model.constraint import Constraint
    from zwang.model.system import System

MOST_NAMED = 6  # coordinates or entries that one kind of mistake names
NOT_REAL = {sp.I, sp.nan, sp.zoo, sp.oo, -sp.oo}


def find_mistakes(system: "System") -> list[str]:
    """What is wrong with a system's description, one line a mistake; an empty list if nothing is."""
    mistakes = wrong_coordinates(system) or []
    if mistakes:
        return mistakes  # nothing else can be judged without coordinates
    return [
        *wrong_symbols(system),
        *wrong_energies(system),
        *wrong_mass(system),
        *wrong_constraints(system),
        *wrong_parameters(system),
    ]


def missing_values(system: "System", values: Any) -> list[str]:
    """The parameters that have no value, when numbers are needed."""
    inputs = [f for f in system.inputs if values.get(f) is None]
    needed = system.symbols_with({f: values[f] for f in system.inputs})
    return [
        f"parameter {s} has no value: give parameters={{{s}: …}} to the system or to this call"
        for s in [*needed, *inputs]
        if values.get(s) is None
    ]


def wrong_coordinates(system: "System") -> list[str]:
    """Coordinates that are none, or that are listed twice."""
    if not system.coordinates:
        return ["coordinates: there are none; give at least one, from zwang.coordinates('x')"]
    mistakes = []
    for q in system.coordinates:
        if not (isinstance(q, AppliedUndef) and q.args == (t,)):
            mistakes.append(f"coordinate {q} is no function of time: make it with zwang.coordinates or dynamicsymbols")
    if mistakes:
        return mistakes
    counts = Counter(system.coordinates)
    mistakes += [f"coordinate {q} is listed {k} times: list it once" for q, k in counts.items() if k > 1]
    names = Counter(q.func.__name__ for q in counts)
    mistakes += [
        f"{k} different coordinates are called {name}: names must differ" for name, k in names.items() if k > 1
    ]
    return mistakes


def wrong_symbols(system: "System") -> list[str]:
    """Functions of time that are no coordinates, high derivatives, and look-alikes of coordinates and time."""
    mistakes = []
    known = set(system.coordinates)
    known_too = known.union(system.inputs)
    lookalikes = {f.func.__name__: f for f in system.coordinates} | {"t": "zwang.t"}
    alike = {s for s in system.symbols if s.name in lookalikes}
    for where, expression in system.expressions.items():
        parts = expression.atoms(AppliedUndef, sp.Derivative, sp.Atom)  # one look at a long expression
        # a function of coordinates, h(x, t), may stay unspecified in symbols; numbers will ask for it
        strangers = [f for f in parts if isinstance(f, AppliedUndef) and f.args == (t,) and f not in known_too]
        mistakes += [
            f"{where}: {s} is not the coordinate {s}, it only looks like it (its assumptions differ): use one of them"
            if s.func.__name__ in lookalikes
            else f"{where}: unknown symbol {s}; the coordinates are {', '.join(map(str, system.coordinates))}: "
            f"add it to them, or make it a parameter"
            for s in sorted(strangers, key=str)
        ]
        mistakes += [f"{where}: contains {s}, which is no real number" for s in sorted(parts & NOT_REAL, key=str)]
        highest = 2 if where.startswith("constraint") else 1
        high = [d for d in parts if isinstance(d, sp.Derivative) and d.expr in known and d.derivative_count > highest]
        for d in sorted(high, key=str):
            what = "accelerations stand in constraints only" if d.derivative_count == 2 else "the order is above 2"
            mistakes.append(f"{where}: contains {d}; {what}")
        mistakes += [
            f"{where}: the symbol {s} is not {lookalikes[s.name]}, it only looks like it: use {lookalikes[s.name]}"
            for s in sorted(alike and expression.free_symbols & alike, key=str)
        ]
    counts = Counter(s.name for s in system.symbols)
    return mistakes + [
        f"{k} different parameters are called {name} (their assumptions differ): use one symbol for one thing"
        for name, k in counts.items()
        if k > 1
    ]


def wrong_energies(system: "System") -> list[str]:
    """Energies that are missing, doubled, not quadratic, or that leave a coordinate without inertia."""
    if system.kinetic is None:
        if system.mass is None:
            return ["neither kinetic nor mass is given: give the kinetic energy, or a mass matrix with forces"]
        if system.potential != 0:
            return ["potential goes with kinetic: with mass, put the whole of Q (−∂V/∂q included) into forces"]
        return []
    mistakes = []
    if system.mass is not None:
        mistakes.append("both kinetic and mass are given: give one of them")
    velocities = system.velocities
    moving = sorted(map(str, system.potential.atoms(sp.Derivative).intersection(velocities)))
    if moving:
        mistakes.append(f"potential depends on {', '.join(moving)}: put forces that depend on velocity into forces")
    if not quadratic(system):
        plain = Plain.of(system.coordinates)
        kinetic = plain.put(system.kinetic)
        # the first few only: in a long expression each takes its time
        high = [str(plain.back(vi)) for vi in plain.v[:MOST_NAMED] if not degree_at_most(kinetic, [vi], 2)]
        which = f" (look at {', '.join(high)})" if high else ""
        mistakes.append(f"kinetic is not quadratic in the velocities{which}: ½ q̇ᵀM q̇ with M free of q̇ is meant")
    constrained = {f for c in system.constraints for f in c.functions}
    rates_there = system.kinetic.atoms(sp.Derivative)
    for q, vi in zip(system.coordinates, velocities, strict=True):
        if vi not in rates_there and q not in constrained:
            mistakes.append(
                f"kinetic misses the coordinate {q}: its rate occurs neither there nor in a constraint, so nothing "
                f"determines its acceleration"
            )
    return mistakes


def quadratic(system: "System") -> bool:
    """Whether the kinetic energy is at most quadratic in the velocities; mostly its form tells."""
    assert system.kinetic is not None
    if degree(system.kinetic, frozenset(system.velocities), {}) <= 2:
        return True
    plain = Plain.of(system.coordinates)
    return degree_at_most(plain.put(system.kinetic), plain.v, 2)


def wrong_mass(system: "System") -> list[str]:
    """A mass matrix that is not symmetric."""
    if system.mass is None:
        return []
    M, n = system.mass, len(system.coordinates)
    mistakes = (
        f"mass is not symmetric: entry ({i + 1}, {j + 1}) is {M[i, j]}, entry ({j + 1}, {i + 1}) is {M[j, i]}"
        for i in range(n)
        for j in range(i)
        if M[i, j] != M[j, i] and not is_zero(M[i, j] - M[j, i])
    )
    return list(islice(mistakes, MOST_NAMED))


def wrong_constraints(system: "System") -> list[str]:
    """Constraints that constrain nothing, that are nonlinear in accelerations, or that share a name."""
    mistakes = [
        f"constraint {name!r} is given {k} times: names must differ"
        for name, k in Counter(system.constraint_names).items()
        if k > 1
    ]
    for c in system.constraints:
        if not c.functions:
            mistakes.append(f"constraint {c.name!r}: {c.expression} contains no coordinate, so it constrains nothing")
        elif c.order == 2 and set(c.functions) <= set(system.coordinates) and not linear_in_accelerations(c):
            mistakes.append(f"constraint {c.name!r} is nonlinear in the accelerations: rows A q̈ = b are linear")
    return mistakes


def linear_in_accelerations(constraint: "Constraint") -> bool:
    """Whether a constraint is linear in the accelerations of its coordinates."""
    plain = Plain.of(constraint.functions)
    return degree_at_most(plain.put(constraint.expression), plain.a, 1)


def wrong_parameters(system: "System") -> list[str]:
    """Default values that are no finite real numbers, or that belong to no symbol."""
    mistakes = []
    for symbol, value in system.parameters.items():
        if isinstance(symbol, AppliedUndef) and symbol.args == (t,):
            if symbol in system.coordinates:
                mistakes.append(f"parameters: {symbol} is a coordinate: give its value in a state, not here")
            elif isinstance(value, Signal):
                continue
            elif value is not None and (not isinstance(value, sp.Expr) or value.atoms(AppliedUndef)):
                mistakes.append(f"parameters: {symbol} = {value}: an expression in t and parameters alone is meant")
            continue
        if not isinstance(symbol, sp.Symbol):
            mistakes.append(f"parameters: {symbol!r} is no parameter: use the symbols from zwang.parameters as keys")
            continue
        if value is None:
            continue
        try:
            finite = math.isfinite(float(value))
        except (TypeError, ValueError):
            finite = False
        if not finite or isinstance(value, str | bytes):
            mistakes.append(f"parameter {symbol} = {value!r} is no finite real number")
    return mistakes
