"""SymEngine expressions to LLVM lines: each expression is walked once, and recognised when met again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from zwang.compile.builders import builder_of, twice_exponent
from zwang.compile.code import Code

if TYPE_CHECKING:
    from symengine import Expr, Symbol

# Below this depth an expression is built from its leaves up, without recursion.
DEEPEST = 40


class Translator:
    """Appends to `code` what computes an expression, and remembers the value of everything it met.

    >>> from symengine import symbols
    >>> x, y, s = symbols("x y s")
    >>> translator = Translator({x: "%i0", y: "%i1"})
    >>> translator.define(s, x*y)
    >>> translator.token(s - 1/(x*y))
    '%v2'
    >>> print(*translator.code.lines, sep="; ")
    %v0 = fmul double %i0, %i1; %v1 = fdiv double 0x3FF0000000000000, %v0; %v2 = fsub double %v0, %v1
    """

    def __init__(self, inputs: Mapping[Symbol, str]) -> None:
        """Start with the tokens of the inputs."""
        import symengine

        self.code = Code()
        self._symbol = symengine.Symbol
        self._names: dict[str, str] = {}  # plain symbols, by name: quicker to find than expressions
        self._values: dict[Expr, str] = {}
        self._denominators: dict[Expr, str] = {}  # power -> its inverse; "" if it is not a denominator
        for symbol, token in inputs.items():
            self._remember(symbol, token)

    def define(self, symbol: Symbol, expression: Expr) -> None:
        """Give a symbol the value of an expression; from then on expressions may use it."""
        self._remember(symbol, self.code.number(self.token(expression)))  # also of a truth value

    def _remember(self, symbol: Symbol, token: str) -> None:
        if type(symbol) is self._symbol:
            self._names[str(symbol)] = token
        else:
            self._values[symbol] = token

    def token(self, e: Expr, depth: int = 0) -> str:
        """The token of an expression that stands `depth` levels inside the one asked for."""
        token = self._names.get(str(e)) if type(e) is self._symbol else self._values.get(e)
        if token is None:
            if depth > DEEPEST:
                self._from_below(e)
                return self.token(e)
            token = self._values[e] = builder_of(e)(self, e, depth + 1)
        return token

    def _from_below(self, e: Expr) -> None:
        """Build the parts of an expression before the whole: no depth exhausts Python's stack."""
        stack = [(e, False)]
        while stack:
            node, ready = stack.pop()
            if ready or not node.args:
                self.token(node)
            elif node not in self._values:
                stack.append((node, True))
                stack.extend((a, False) for a in node.args)

    def denominator(self, e: Expr, depth: int) -> str:
        """For a power with a negative exponent the token of its inverse, otherwise nothing."""
        token = self._denominators.get(e)
        if token is None:
            base, exponent = e.args
            twice = twice_exponent(exponent)
            token = self.code.power(self.token(base, depth), -twice) if twice < 0 else ""
            self._denominators[e] = token
        return token
