"""The words of a model: time, coordinates, parameters and the dot. All of them are SymPy's own objects.

A coordinate is a function of time, `x(t)`, as `sympy.physics.mechanics.dynamicsymbols` makes it; a
parameter is a plain symbol. A SymPy user's own objects are therefore as good as those made here.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.display import LONGEST
from zwang.errors import InputError
from zwang.linalg.exact import operations
from zwang.model.families.array import CoordinateArray, coordinate_array
from zwang.model.time import rates as rates
from zwang.model.time import t as t

MOST_READ = 200  # operations of an expression that is written in a line of text


def coordinates(names: str, shape: Any = None) -> Any:
    """Coordinates by name, as functions of time: one for one name, a tuple for several, as in SymPy.

    With `shape` each name gives an array: x[0], x[1], … or x[0,0], x[0,1], …, made when they are looked at.

    >>> x, y = coordinates("x y")
    >>> x
    x(t)
    >>> coordinates("r", shape=(400, 3))[2, 0]
    r[2,0](t)
    """
    if shape is not None:
        arrays = tuple(coordinate_array(name, shape) for name in names.replace(",", " ").split())
        if not arrays:
            raise InputError("coordinates: there is no name: give one, coordinates('x', shape=3)")
        return arrays[0] if len(arrays) == 1 else arrays
    made = sp.symbols(names, cls=sp.Function)  # what dynamicsymbols does, without the import it takes
    return made(t) if isinstance(made, type(sp.Function("f"))) else tuple(f(t) for f in made)


def parameters(names: str) -> Any:
    """Parameters by name: one for one name, a tuple for several, as in SymPy.

    >>> m, g = parameters("m g")
    >>> m*g
    g*m
    """
    return sp.symbols(names)


def dot(expression: Any) -> Any:
    """The total derivative with respect to time, of an expression or of every entry of an array.

    >>> x = coordinates("x")
    >>> dot(x**2)
    2*x(t)*Derivative(x(t), t)
    """
    if isinstance(expression, CoordinateArray):
        return expression.dot
    if isinstance(expression, np.ndarray):
        return np.vectorize(dot, otypes=[object])(expression)
    given = as_expression(expression)
    return rates(given)[0] if isinstance(given, AppliedUndef) and given.args == (t,) else given.diff(t)


def as_expression(value: Any) -> sp.Basic:
    """A number, SymPy object or matrix as SymPy's; text is refused, because SymPy would execute it.

    So are tuples, dictionaries and sets: SymPy, strict or not, would do the same with text inside them.

    >>> as_expression("x")
    Traceback (most recent call last):
    zwang.errors.InputError: 'x' is text, not an expression: build expressions from coordinates and parameters
    """
    if isinstance(value, str):
        raise InputError(f"{value!r} is text, not an expression: build expressions from coordinates and parameters")
    if isinstance(value, tuple | dict | AbstractSet):
        raise InputError(f"{value!r} is not a scalar expression")
    if isinstance(value, np.generic):  # SymPy would make a number of 24 bits of a float32, which no file holds
        value = value.item()
    try:
        expression = sp.sympify(value, strict=True)
    except (ValueError, TypeError):  # SympifyError is one of the first
        raise InputError(f"{value!r} is neither a number nor a SymPy expression") from None
    unfinished = {d: d.doit() for d in expression.atoms(sp.Derivative) if is_unfinished(d)}
    return expression.xreplace(unfinished) if unfinished else expression


def as_scalar(value: Any) -> sp.Expr:
    """One scalar expression; relations and matrices are refused.

    >>> as_scalar(sp.Eq(t, 1))
    Traceback (most recent call last):
    zwang.errors.InputError: Eq(t, 1) is not a scalar expression
    """
    expression = as_expression(value)
    if not isinstance(expression, sp.Expr) or getattr(expression, "is_Matrix", False):
        raise InputError(f"{expression} is not a scalar expression")
    return expression


def is_unfinished(expression: sp.Basic) -> bool:
    """Whether this is d/dt of something other than a function of time alone, written down but not carried out."""
    if not (isinstance(expression, sp.Derivative) and t in expression.variables):
        return False
    return not (isinstance(expression.expr, AppliedUndef) and expression.expr.args == (t,))


def label(expression: Any) -> str:
    """What a person calls a coordinate, a rate or a parameter: as they typed it.

    >>> x = coordinates("x")
    >>> label(x), label(dot(x)), label(dot(dot(x)))
    ('x', 'dot(x)', 'dot(dot(x))')
    """
    if isinstance(expression, sp.Derivative):
        count = int(expression.derivative_count)
        return "dot(" * count + label(expression.expr) + ")" * count
    return str(expression.func.__name__ if isinstance(expression, AppliedUndef) else expression)


def in_a_line(expression: Any) -> str:
    """An expression as text with x' for a rate; of what is too long to read, how long it is.

    >>> x = coordinates("x")
    >>> in_a_line(x*dot(x))
    "x*x'"
    """
    from sympy.physics.vector.printing import vsstrrepr

    size = operations([expression])
    text = vsstrrepr(expression) if size <= MOST_READ else ""
    return str(text) if 0 < len(text) <= LONGEST else f"an expression of {size:,} operations"


@dataclass(frozen=True)
class Plain:
    """Independent symbols that stand for q, q̇ and q̈, so that ∂/∂t, ∂/∂q and ∂/∂q̇ are partial derivatives.

    SymPy differentiates `x(t)` with respect to t totally; mechanics needs the partial derivatives. `put`
    replaces functions of time by plain symbols, `back` returns to the user's own objects. Coordinates are real,
    and so are the symbols: the derivative of |x| is sign(x).

    >>> x = coordinates("x")
    >>> plain = Plain.of([x])
    >>> plain.put(x*dot(x)).diff(plain.q[0]) == plain.v[0]
    True
    """

    q: tuple[sp.Symbol, ...]
    v: tuple[sp.Symbol, ...]
    a: tuple[sp.Symbol, ...]
    forward: dict[sp.Expr, sp.Symbol]

    @classmethod
    def of(cls, functions: Sequence[sp.Expr]) -> "Plain":
        """Plain symbols for coordinates given as functions of time."""
        q, v, a = (
            tuple(sp.Dummy(f"{f.func.__name__}{mark}", real=True) for f in functions) for mark in ("", "_dot", "_ddot")
        )
        forward: dict[sp.Expr, sp.Symbol] = {}
        for f, qi, vi, ai in zip(functions, q, v, a, strict=True):
            rate, acceleration = rates(f)
            forward |= {f: qi, rate: vi, acceleration: ai}
        return cls(q, v, a, forward)

    def put(self, expression: sp.Basic) -> Any:
        """The expression or matrix in plain symbols."""
        return expression.xreplace(self.forward)

    def back(self, expression: sp.Basic) -> Any:
        """The expression or matrix in functions of time.

        ∂h/∂t of some h(q, t) must not become dh/dt where q turns into q(t): it is written as SymPy writes it,
        the derivative with respect to a fourth argument, taken at t.
        """
        partial = {d: partial_in_time(d) for d in expression.atoms(sp.Derivative) if is_unfinished(d)}
        return expression.xreplace(partial).xreplace({plain: function for function, plain in self.forward.items()})


def partial_in_time(derivative: sp.Derivative) -> sp.Subs:
    """∂h(q, t)/∂t in a form that stays partial when q becomes q(t)."""
    time = sp.Dummy("t")
    return sp.Subs(derivative.xreplace({t: time}), time, t)
