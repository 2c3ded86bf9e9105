"""How large the terms are that an expression is made of: what its value is rounding, or not, beside."""

from typing import Any

import symengine as se


def size_of(e: Any) -> Any:
    """The sum of the terms of a SymEngine expression, each taken as positive, inside factors and powers, too.

    It has the expression's own unit, whatever that is: 1e-9 is nothing beside lengths of 1 and much beside 1e-9.

    >>> x, y, L = se.symbols("x y L")
    >>> size_of((x**2 + y**2 - L**2) / 2).subs({x: 3, y: -4, L: 5})
    25
    """
    if isinstance(e, se.Add):
        return sum((size_of(term) for term in e.args), start=se.S.Zero)
    if isinstance(e, se.Mul):
        found = se.S.One
        for factor in e.args:
            found *= size_of(factor)
        return found
    if isinstance(e, se.Pow):
        base, exponent = e.args
        if isinstance(exponent, se.Integer) and int(exponent) > 0:
            return size_of(base) ** exponent
    return abs(e)


def has_sum(e: Any) -> bool:
    """Whether an expression is a sum, or a product or power of some: then its terms may cancel.

    >>> x, y = se.symbols("x y")
    >>> has_sum(x * (x - y)), has_sum(2 * x * y)
    (True, False)
    """
    return isinstance(e, se.Add) or (isinstance(e, se.Mul | se.Pow) and any(map(has_sum, e.args)))
