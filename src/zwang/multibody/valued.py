"""What bodies and joints are in numbers, where parameters have values."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from zwang.arrays import Array

Values = Mapping[sp.Expr, Any]


def values_of(parameters: Mapping[Any, Any]) -> dict[sp.Expr, sp.Expr]:
    """The numbers among the values of parameters."""
    return {
        symbol: sp.sympify(value, strict=True)
        for symbol, value in parameters.items()
        if isinstance(symbol, sp.Symbol)
        and (isinstance(value, int | float | np.number) or getattr(value, "is_number", False))
    }


def in_numbers(given: Sequence[Any], values: Values) -> Array | None:
    """Expressions with the values of parameters in them, or None where some have none.

    >>> length = sp.Symbol("length")
    >>> in_numbers((1, length/2), {length: sp.Integer(3)}), in_numbers((length,), {})
    (array([1. , 1.5]), None)
    """
    found = [x.xreplace(values) if isinstance(x, sp.Basic) else x for x in given]
    if any(getattr(x, "free_symbols", None) for x in found):
        return None
    numbers = np.array([float(x) for x in found])
    return numbers if np.isfinite(numbers).all() else None
