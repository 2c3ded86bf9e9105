"""SymPy expressions as text in the grammar of model files; reading the text gives the expression back."""

from collections.abc import Callable
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.errors import InputError
from zwang.files.language.functions import written
from zwang.model.symbols import t
from zwang.words import shortened

# how tightly a text holds together: sums, products, signs before powers, powers, operands
SUM, PRODUCT, SIGN, POWER, OPERAND = range(5)

COMPARISONS = {
    sp.StrictLessThan: "<", sp.LessThan: "<=", sp.StrictGreaterThan: ">", sp.GreaterThan: ">=",
}  # fmt: skip

Written = tuple[str, int]
"""A text and how tightly it holds together."""


def expression_text(expression: sp.Expr, who: str = "the expression") -> str:
    """The text of an expression; what the grammar cannot say is refused by name.

    >>> from zwang import coordinates, dot
    >>> x = coordinates("x")
    >>> expression_text(-(dot(x)**2 + 1)/(2*x**3))
    "(-x'^2 - 1)/(2*x^3)"
    """
    return Printer(who).text(expression)


class Printer:
    """Writes expressions; `who` is named where one cannot be written."""

    def __init__(self, who: str) -> None:
        self.who = who

    def text(self, expression: sp.Basic, tightness: int = SUM) -> str:
        """The text of an expression, in parentheses if it holds less tightly than asked for."""
        text, own = self.write(expression)
        return f"({text})" if own < tightness else text

    def write(self, expression: sp.Basic) -> Written:
        """The text of an expression."""
        for test, method in self.ways:
            if test(expression):
                return method(self, expression)
        kind = type(expression).__name__
        raise InputError(f"{self.who} contains {shortened(expression)}: a model file cannot say {kind}")

    def number(self, number: Any) -> Written:
        """An integer, a fraction or a float, all its digits."""
        if number.is_Float:
            if sp.Float(float(number)) != number or number._prec != sp.Float(1.0)._prec:
                raise InputError(
                    f"{self.who} contains {number}, of {number._prec} bits: a model file has floats of 53; round it"
                )
            text = repr(float(number))
        else:
            text = str(number.p) if number.q == 1 else f"{number.p}/{number.q}"
        if text.startswith("-"):
            return text, SIGN if number.is_Float or number.q == 1 else PRODUCT
        return text, OPERAND if number.is_Float or number.q == 1 else PRODUCT

    def constant(self, constant: sp.Basic) -> Written:
        """π or e."""
        return ("pi" if constant is sp.pi else "e"), OPERAND

    def symbol(self, symbol: Any) -> Written:
        """A parameter or the time."""
        return symbol.name, OPERAND

    def function_of_time(self, function: Any) -> Written:
        """A coordinate or an input."""
        return function.func.__name__, OPERAND

    def derivative(self, derivative: Any) -> Written:
        """A rate or an acceleration."""
        return derivative.expr.func.__name__ + "'" * int(derivative.derivative_count), OPERAND

    def sum(self, total: Any) -> Written:
        """Terms with + and − between them, in SymPy's order for people."""
        text = ""
        for term in total.as_ordered_terms():
            part, own = self.write(term)
            if own == SUM:
                part = f"({part})"
            if not text:
                text = part
            elif part.startswith("-"):
                text += f" - {part[1:]}"
            else:
                text += f" + {part}"
        return text, SUM

    def product(self, product: Any) -> Written:
        """Factors with * between them, over those with negative exponents."""
        coefficient, rest = product.as_coeff_Mul()
        above, below = [], []
        if coefficient.is_Rational:
            if abs(coefficient.p) != 1:
                above.append(str(abs(coefficient.p)))
        elif abs(coefficient) != 1 or coefficient.is_Float:
            above.append(self.text(abs(coefficient), POWER))
        for factor in rest.as_ordered_factors():
            if factor.is_Pow and factor.exp.is_Rational and factor.exp < 0:
                below.append(self.text(factor.base**-factor.exp, POWER))
            else:
                above.append(self.text(factor, POWER))
        if coefficient.is_Rational and coefficient.q != 1:
            below.insert(0, str(coefficient.q))
        text = "*".join(above or ["1"])
        if below:
            text += f"/({'*'.join(below)})" if len(below) > 1 else f"/{below[0]}"
        return (f"-{text}", SIGN) if coefficient.is_negative else (text, PRODUCT)

    def power(self, power: Any) -> Written:
        """A power; roots and reciprocals as people write them."""
        base, exponent = power.args
        if exponent is sp.S.Half:
            return f"sqrt({self.text(base)})", OPERAND
        if exponent.is_Rational and exponent < 0:
            return f"1/{self.text(base**-exponent, POWER)}", PRODUCT
        return f"{self.text(base, OPERAND)}^{self.text(exponent, OPERAND)}", POWER

    def exponential(self, function: Any) -> Written:
        """exp(x)."""
        return f"exp({self.text(function.args[0])})", OPERAND

    def call(self, function: Any) -> Written:
        """A function on the white list."""
        return f"{written(function)}({', '.join(map(self.text, function.args))})", OPERAND

    def piecewise(self, piecewise: Any) -> Written:
        """if(condition, this, that), one within the other."""
        *pieces, (last, always) = piecewise.args
        if always != sp.true or not pieces:
            raise InputError(f"{self.who} contains {shortened(piecewise)}, which ends in no case for all others")
        text = self.text(last)
        for expression, condition in reversed(pieces):
            if type(condition) not in COMPARISONS:
                raise InputError(
                    f"{self.who} contains the condition {shortened(condition)}: two sides compared are meant"
                )
            left, right = map(self.text, condition.args)
            text = f"if({left} {COMPARISONS[type(condition)]} {right}, {self.text(expression)}, {text})"
        return text, OPERAND

    ways: tuple[tuple[Callable[[Any], bool], Callable[..., Written]], ...] = (
        (lambda e: e.is_Rational or e.is_Float, number),
        (lambda e: e in (sp.pi, sp.E), constant),
        (lambda e: e.is_Symbol, symbol),
        (lambda e: is_function_of_time(e), function_of_time),
        (lambda e: isinstance(e, sp.Derivative) and is_function_of_time(e.expr) and {*e.variables} == {t}, derivative),
        (lambda e: e.is_Add, sum),
        (lambda e: e.is_Mul, product),
        (lambda e: isinstance(e, sp.exp), exponential),
        (lambda e: e.is_Pow, power),
        (lambda e: isinstance(e, sp.Piecewise), piecewise),
        (lambda e: bool(written(e)), call),
    )


def is_function_of_time(expression: sp.Basic) -> bool:
    """Whether this is x(t): a coordinate or an input."""
    return isinstance(expression, AppliedUndef) and expression.args == (t,)
