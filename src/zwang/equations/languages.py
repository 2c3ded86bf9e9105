"""A system in plain symbols, in SymPy (for people) or in SymEngine (for machines)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang import functions
from zwang.compile.table import NAME as SIGNAL
from zwang.equations.derivation import Description
from zwang.errors import InputError
from zwang.functions import FUNCTIONS
from zwang.model.constraint import Axes
from zwang.model.signal import Lookup
from zwang.model.symbols import Plain, rates, t

if TYPE_CHECKING:
    from zwang.model import System

# SymEngine gives names that differ in one digit hashes that differ in a few bits, and hundreds of the differences
# q2 - q0, q3 - q1, ... of a long chain the same one. Names with numbers far apart spread them.
APART = 7919

SYMENGINE_RELATIONS = {
    "Equality": "Eq",
    "Unequality": "Ne",
    "StrictGreaterThan": "Gt",
    "GreaterThan": "Ge",
    "StrictLessThan": "Lt",
    "LessThan": "Le",
    "And": "And",
    "Or": "Or",
    "Not": "Not",
    "Xor": "Xor",
}


@cache
def switching() -> tuple[type, ...]:
    """The classes of SymPy's expressions that switch."""
    return (sp.Piecewise, *(functions.in_sympy(name) for name, f in FUNCTIONS.items() if f.switch))


def in_sympy(system: "System") -> tuple[Description, Plain]:
    """The system in plain SymPy symbols, and the way back to functions of time."""
    plain = Plain.of(system.coordinates)
    return describe(system, Axes.of_sympy(plain), plain.put), plain


def in_symengine(system: "System", inputs: Mapping[sp.Expr, Any]) -> tuple[Description, tuple[Any, ...]]:
    """The system in plain SymEngine symbols, and the symbols of its parameters in the order of `symbols_with(inputs)`.

    `inputs` says what the known functions of time are.
    """
    import symengine as se

    n = len(system.coordinates)
    q, v, a = (tuple(se.Symbol(f"{letter}{APART * i}") for i in range(n)) for letter in "qva")
    time = se.Symbol("t")
    symbols = system.symbols_with(inputs)
    parameters = tuple(se.Symbol(f"p{i}") for i in range(len(symbols)))
    known: dict[sp.Basic, Any] = dict(zip(symbols, parameters, strict=True)) | {t: time}
    for coordinate, qi, vi, ai in zip(system.coordinates, q, v, a, strict=True):
        rate, acceleration = rates(coordinate)
        known |= {coordinate: qi, rate: vi, acceleration: ai}

    def put(expression: sp.Basic) -> Any:
        if inputs and expression.has(*inputs):
            differentiated = expression.has(sp.Derivative)
            given = {f: in_pieces(u) for f, u in inputs.items()} if differentiated else inputs
            expression = expression.subs(given).doit()
        return translate(expression, known)

    description = describe(system, Axes(q, v, a, time, se.Add), put)
    return replace(description, switching=any(isinstance(e, switching()) for e in known)), parameters


def in_pieces(u: Any) -> Any:
    """A function of time with its switching functions in pieces, as SymPy can differentiate them."""
    for name, function in FUNCTIONS.items():
        if function.recipe is not None and function.switch == "sign":
            kind = functions.in_sympy(name)
            if isinstance(u, sp.Expr) and u.has(kind):
                u = u.replace(kind, partial(function.recipe, sp))
    return u


def describe(system: "System", axes: Axes, put: Callable[[sp.Basic], Any]) -> Description:
    """The parts of a system, each put into plain symbols."""
    return Description(
        axes=axes,
        kinetic=None if system.kinetic is None else put(system.kinetic),
        potential=put(system.potential),
        forces=[put(f) for f in system.forces],
        mass=None if system.mass is None else [[put(e) for e in row] for row in system.mass.tolist()],
        constraints=[(put(c.expression), c.order) for c in system.constraints],
        nonideal=[put(c) for c in system.nonideal],
    )  # fmt: skip


def translate(expression: sp.Basic, known: dict[sp.Basic, Any]) -> Any:
    """A SymPy expression in SymEngine; `known` maps symbols and functions of time, and remembers what was done.

    SymEngine's own conversion would keep functions of time as functions; and it is told here what it cannot
    have: an undefined function, or one without native code.
    """
    import symengine as se

    done = known.get(expression)
    if done is not None:
        return done
    if expression.is_Integer:
        result = se.Integer(int(expression))
    elif expression.is_Rational:
        result = se.Integer(expression.p) / se.Integer(expression.q)
    elif expression.is_Float:
        result = se.RealDouble(float(expression))
    elif expression.is_Add:
        result = se.Add(*[translate(arg, known) for arg in expression.args])
    elif expression.is_Mul:
        result = se.Mul(*[translate(arg, known) for arg in expression.args])
    elif expression.is_Pow:
        result = translate(expression.base, known) ** translate(expression.exp, known)
    else:
        result = translate_other(expression, known)
    known[expression] = result
    return result


def translate_other(expression: sp.Basic, known: dict[sp.Basic, Any]) -> Any:
    """Constants, functions, conditions and piecewise expressions."""
    import symengine as se

    if expression in (sp.pi, sp.E, sp.true, sp.false):
        return {sp.pi: se.pi, sp.E: se.E, sp.true: se.true, sp.false: se.false}[expression]
    if expression.is_number and not expression.args:
        return se.RealDouble(float(expression))
    if isinstance(expression, Lookup):
        return se.Function(SIGNAL)(*[translate(arg, known) for arg in expression.args])
    if isinstance(expression, sp.Derivative) and isinstance(expression.expr, Lookup):
        return translate(expression.expr, known).diff(*[translate(s, known) for s in expression.variables])
    if isinstance(expression, AppliedUndef | sp.Derivative | sp.Subs):
        raise InputError(f"{expression} is not defined: numbers need a definition, put one in its place")
    if isinstance(expression, sp.Piecewise):
        return se.Piecewise(*[(translate(e, known), translate(c, known)) for e, c in expression.args])
    args = [translate(arg, known) for arg in expression.args]
    name = type(expression).__name__
    function = FUNCTIONS.get(name)
    if function is not None and expression.func is functions.in_sympy(name):
        return function.recipe(se, *args) if function.recipe else getattr(se, name)(*args)
    if name in SYMENGINE_RELATIONS:
        return getattr(se, SYMENGINE_RELATIONS[name])(*args)
    if name == "ITE":
        condition, this, that = args
        return se.Or(se.And(condition, this), se.And(se.Not(condition), that))
    raise InputError(f"{name} in {expression} has no native code: rewrite it with elementary functions")
