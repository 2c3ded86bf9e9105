"""A system in plain symbols, in SymPy (for people) or in SymEngine (for machines)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang import functions
from zwang.compile.table import NAME as SIGNAL
from zwang.equations.derivation import Description, Repeat, Repeats
from zwang.errors import InputError
from zwang.functions import FUNCTIONS
from zwang.model.constraint import Axes
from zwang.model.families.family import Kind
from zwang.model.families.repeated import ON, Repeated, Share
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

    n = len(system.coordinate_names)
    q, v, a = (tuple(se.Symbol(f"{letter}{APART * i}") for i in range(n)) for letter in "qva")
    time = se.Symbol("t")
    symbols = system.symbols_with(inputs)
    parameters = tuple(se.Symbol(f"p{i}") for i in range(len(symbols)))
    known: dict[sp.Basic, Any] = dict(zip(symbols, parameters, strict=True)) | {t: time}
    known |= {symbol: se.Symbol(f"l{i}") for i, symbol in system.reactions.items()}

    def put(expression: sp.Basic) -> Any:
        return translate(with_inputs(expression, inputs), known)

    axes = Axes(q, v, a, time, se.Add)

    def write() -> Description:
        for coordinate, *its in zip(system.coordinates, q, v, a, strict=True):
            known.update(zip((coordinate, *rates(coordinate)), its, strict=True))
        return describe(system, axes, put)

    if system.families is None or system.reactions:  # multipliers are known of rows that are written out only
        description = write()
        return replace(description, switching=any(isinstance(e, switching()) for e in known)), parameters
    numbers = {s: i for i, s in enumerate(symbols)}
    seen: set[sp.Basic] = set()
    families = tuple(
        repeat_of(system.families, share, kind, numbers, inputs, seen)
        for share in system.families.shares
        for kind in share.family.kinds
    )
    rows = tuple(system.families.constraints)
    for f in frozenset().union(*(e.atoms(AppliedUndef) for e in (*system.families.rest, system.mass) if e is not None)):
        if (i := system.families.number(f)) is not None:
            known |= zip((f, *rates(f)), (q[i], v[i], a[i]), strict=True)
    repeats = Repeats(families, beside(system, axes, put), rows)
    switches = any(isinstance(e, switching()) for e in (*known, *seen))
    templates = [c for share in system.families.shares if share.place == "constraints" for _, c in share.templates]
    rubs = any(c.slip for c in (*system.families.constraints.values(), *templates))
    return Description.later(axes, system.families.orders.tolist(), switches, repeats, rubs, write), parameters


def beside(system: "System", axes: Axes, put: Callable[[sp.Basic], Any]) -> Description:
    """What is written beside the families of a system."""
    import symengine as se

    written = system.families
    assert written is not None
    n, zero = len(written.names), se.Integer(0)
    forces, nonideal = [zero] * n, [zero] * n
    for vector, given in ((forces, written.forces), (nonideal, written.nonideal)):
        for i, e in given.items():
            vector[i] = put(e)
    return Description(
        axes=axes,
        kinetic=None if written.kinetic is None else put(written.kinetic),
        potential=put(written.potential),
        forces=forces,
        mass=None if system.mass is None else [[put(e) for e in row] for row in system.mass.tolist()],
        constraints=[(put(c.expression), c.order) for c in written.constraints.values()],
        nonideal=nonideal,
    )


def repeat_of(
    described: Repeated,
    share: Share,
    kind: Kind,
    numbers: Mapping[sp.Symbol, int],
    inputs: Mapping[sp.Expr, Any],
    seen: set[sp.Basic],
) -> Repeat:
    """A kind of members in symbols of its own; what was met on the way is added to `seen`."""
    import symengine as se

    expression, order = kind.expression, 0
    if share.place == "constraints":
        template = next(template for k, template in share.templates if k is kind)
        expression, order = template.expression, template.order
    expression = with_inputs(expression, inputs)
    count = len(kind.members)
    used = expression.atoms(AppliedUndef)
    functions = [f for f in kind.functions if f in used or f == ON]
    coordinates = np.empty((count, len(functions)), dtype=np.int64)
    for j, f in enumerate(functions):
        coordinates[:, j] = [described.index[name] for name in kind.functions[f].entries.tolist()]
    q, v, a = (tuple(se.Symbol(f"{letter}{i}") for i in range(len(functions))) for letter in "qva")
    free = expression.free_symbols - {t}
    constants = [s for s in kind.numbers if s in free]
    parameters = [s for s in kind.parameters if s in free]
    parameters += sorted(free - {*constants, *parameters}, key=lambda s: numbers[s])
    given = np.empty((count, len(parameters)), dtype=np.int64)
    for j, s in enumerate(parameters):
        bound = kind.parameters.get(s)
        given[:, j] = numbers[s] if bound is None else [numbers[p] for p in bound.entries]
    values = np.array([[float(x) for x in kind.numbers[s].entries] for s in constants], dtype=float)
    local = tuple(se.Symbol(f"p{i}") for i in range(len(parameters) + len(constants)))
    known: dict[sp.Basic, Any] = dict(zip((*parameters, *constants), local, strict=True)) | {t: se.Symbol("t")}
    for f, *symbols in zip(functions, q, v, a, strict=True):
        known |= dict(zip((f, *rates(f)), symbols, strict=True))
    translated = translate(expression, known)
    seen.update(known)
    return Repeat(
        share.place,
        translated,
        Axes(q, v, a, known[t], se.Add),
        local,
        coordinates,
        given,
        values.reshape(len(constants), count).T,
        share.rows[kind.members] if len(share.rows) else share.rows,
        order,
    )


def with_inputs(expression: sp.Basic, inputs: Mapping[sp.Expr, Any]) -> sp.Basic:
    """An expression with known functions of time put in."""
    if not inputs or not expression.has(*inputs):
        return expression
    given = {f: in_pieces(u) for f, u in inputs.items()} if expression.has(sp.Derivative) else inputs
    return expression.subs(given).doit()


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
        slips=[(i, put(slip)) for i, c in enumerate(system.constraints) for slip in c.slip],
        reactions=[(i, put(symbol)) for i, symbol in system.reactions.items()],
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
