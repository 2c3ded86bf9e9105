"""Time, and functions of time: what coordinates are made of."""

from functools import lru_cache

import sympy as sp

KEPT = 1 << 17  # coordinates, and their rates, that a process remembers

t = sp.Symbol("t")  # the time of SymPy's dynamicsymbols, so that its mechanics objects fit


@lru_cache(maxsize=KEPT)
def coordinate(name: str) -> sp.Expr:
    """The coordinate of a name, as a function of time; kept, because SymPy makes a class for each.

    >>> coordinate("x")
    x(t)
    """
    return sp.Function(name)(t)


@lru_cache(maxsize=KEPT)
def rates(function: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The first and second derivative of a coordinate; kept, because SymPy takes its time to make them.

    They are what `function.diff(t)` arrives at, after many times as long.
    """
    return sp.Derivative(function, t), sp.Derivative(function, (t, 2))
