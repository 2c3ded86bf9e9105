"""The words of a model: time, coordinates, parameters and the dot. All of them are SymPy's own objects.

A coordinate is a function of time, `x(t)`, as `sympy.physics.mechanics.dynamicsymbols` makes it; a
parameter is a plain symbol. A SymPy user's own objects are therefore as good as those made here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from zwang.errors import InputError

t: sp.Symbol = dynamicsymbols._t  # SymPy's own time symbol, so that its mechanics objects fit


def coordinates(names: str) -> Any:
    """Coordinates by name, as functions of time: one for one name, a tuple for several, as in SymPy.

    >>> x, y = coordinates("x y")
    >>> x
    x(t)
    """
    return dynamicsymbols(names)


def parameters(names: str) -> Any:
    """Parameters by name: one for one name, a tuple for several, as in SymPy.

    >>> m, g = parameters("m g")
    >>> m*g
    g*m
    """
    return sp.symbols(names)


def dot(expression: sp.Expr) -> sp.Expr:
    """The total derivative with respect to time.

    >>> x = coordinates("x")
    >>> dot(x**2)
    2*x(t)*Derivative(x(t), t)
    """
    return as_expression(expression).diff(t)


def as_expression(value: Any) -> sp.Basic:
    """A number, SymPy object or matrix as SymPy's; text is refused, because SymPy would execute it.

    >>> as_expression("x")
    Traceback (most recent call last):
    zwang.errors.InputError: 'x' is text, not an expression: build expressions from coordinates and parameters
    """
    if isinstance(value, str):
        raise InputError(f"{value!r} is text, not an expression: build expressions from coordinates and parameters")
    try:
        return sp.sympify(value, strict=True)
    except sp.SympifyError:
        raise InputError(f"{value!r} is no number and no SymPy expression") from None


@dataclass(frozen=True)
class Plain:
    """Independent symbols that stand for q, q̇ and q̈, so that ∂/∂t, ∂/∂q and ∂/∂q̇ are partial derivatives.

    SymPy differentiates `x(t)` with respect to t totally; mechanics needs the partial derivatives. `put`
    replaces functions of time by plain symbols, `back` returns to the user's own objects.

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
        q, v, a = (tuple(sp.Dummy(f"{f.func.__name__}{mark}") for f in functions) for mark in ("", "_dot", "_ddot"))
        forward: dict[sp.Expr, sp.Symbol] = {}
        for f, qi, vi, ai in zip(functions, q, v, a, strict=True):
            forward |= {f: qi, f.diff(t): vi, f.diff(t, 2): ai}
        return cls(q, v, a, forward)

    def put(self, expression: sp.Basic) -> Any:
        """The expression or matrix in plain symbols."""
        return expression.xreplace(self.forward)

    def back(self, expression: sp.Basic) -> Any:
        """The expression or matrix in functions of time."""
        return expression.xreplace({plain: function for function, plain in self.forward.items()})
