"""Reactions in expressions: multiplier(rod) and constraint_force(x), as a file writes them."""

import sympy as sp

from zwang.files.language.names import wrong_name
from zwang.model.event import REACTION


def with_calls(expression: sp.Expr) -> sp.Expr:
    """An expression in which reactions are written as calls, their names in quotes where they are not plain.

    >>> from zwang.model.event import multiplier
    >>> with_calls(2*multiplier("rod") + multiplier("the wire"))
    multiplier('the wire') + 2*multiplier(rod)
    """
    calls = {}
    for symbol in expression.free_symbols:
        if found := REACTION.fullmatch(symbol.name):
            inner = found.group(2)
            argument = f"'{inner}'" if wrong_name(inner) else inner
            calls[symbol] = sp.Symbol(f"{found.group(1)}({argument})")
    return expression.xreplace(calls)
