"""Programs in heyoka's language: SymEngine expressions to heyoka expressions.

A program's inputs become heyoka's time, variables (q, v) and runtime parameters (everything after v). Each
expression and each step is translated once and shared wherever it is used again: heyoka sees a graph, not a tree,
and its Taylor recurrences are computed once for each node.

Numbers are meant: 1/10 is the number of the working precision nearest to one tenth, in quadruple precision too.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from importlib import import_module
from typing import Any

from zwang.compile import Program
from zwang.compile.builders import name_of, rounded, without_value
from zwang.engines.taylor.disk_cache import guard
from zwang.errors import InputError
from zwang.functions import FUNCTIONS
from zwang.words import shortened

CONSTANT_DIGITS = 50  # decimal digits of a number on its way into quadruple precision, which holds 34

HEYOKA_RELATIONS = {"Equality": "eq", "Unequality": "neq", "LessThan": "lte", "StrictLessThan": "lt"}


def require_heyoka() -> Any:
    """The module heyoka, which is imported only where it is used: that takes a second."""
    try:
        heyoka = import_module("heyoka")
    except ImportError:
        raise InputError(
            "method='taylor' needs heyoka, which is not installed: pip install zwang[taylor] "
            "(on macOS and Windows: conda install heyoka.py), or choose method='native'"
        ) from None
    guard(heyoka)
    return heyoka


class Interpreter:
    """Translates expressions for one integrator, and remembers everything it has translated.

    `quad` says that numbers are wanted in quadruple precision.
    """

    def __init__(self, program: Program, quad: bool = False) -> None:
        self.hy = require_heyoka()
        self.quad = quad
        t, q, v, *p = program.inputs.values()
        self.variables = [self.hy.expression(f"{name}{i}") for name in "qv" for i in range(len(q))]
        self.parameters = sum(map(len, p))
        self.known: dict[Any, Any] = dict(zip([*q, *v], self.variables, strict=True))
        self.known[t[0]] = self.hy.time
        self.known |= {symbol: self.hy.par[i] for i, symbol in enumerate(symbol for part in p for symbol in part)}
        self.own = dict(self.known)
        self.size = 0  # expressions of the largest program so far

    def outputs(self, program: Program) -> dict[str, list[Any]]:
        """A program's outputs, by name; its steps are its own, its inputs those of the integrator's program."""
        self.known = dict(self.own)  # names of steps mean something else in each program
        for symbol, expression in program.steps:
            self.known[symbol] = self.translate(expression)
        result = {name: [self.translate(e) for e in es] for name, es in program.outputs.items()}
        self.size = max(self.size, len(self.known) - len(self.own))
        return result

    def translate(self, e: Any) -> Any:
        """An expression, its parts before the whole: no depth exhausts Python's stack."""
        known, stack = self.known, [e]
        while stack:
            node = stack[-1]
            if node in known:
                stack.pop()
                continue
            missing = [a for a in node.args if a not in known]
            if missing:
                stack.extend(missing)
            else:
                known[node] = self.word(node, [known[a] for a in node.args])
                stack.pop()
        return known[e]

    def word(self, e: Any, args: Sequence[Any]) -> Any:
        """One node of the graph, its arguments translated."""
        for kind in type(e).__mro__:
            builder = BUILDERS.get(kind.__name__)
            if builder is not None:
                return builder(self, e, args)
        return refuse(e)

    def number(self, value: float) -> Any:
        """A number that is exact in double precision."""
        return self.hy.expression(value)


Builder = Callable[[Interpreter, Any, Sequence[Any]], Any]


def number(to: Interpreter, e: Any, args: Sequence[Any]) -> Any:
    """A real number, rounded once."""
    try:
        if not to.quad:
            return to.number(rounded(e))
        if type(e).__name__ == "RealDouble":
            return to.number(float(e))
        return to.hy.expression(to.hy.real128(decimal(e)))
    except (RuntimeError, OverflowError, TypeError, ValueError):
        raise InputError(f"the number {shortened(e)} is not a real number in the range of floating point") from None


def decimal(e: Any) -> str:
    """A number's first digits."""
    import sympy as sp

    return str(sp.N(sp.Rational(int(e.p), int(e.q)) if e.is_Rational else e._sympy_(), CONSTANT_DIGITS))


def add(to: Interpreter, e: Any, args: Sequence[Any]) -> Any:
    """A sum."""
    return to.hy.sum(list(args))


def multiply(to: Interpreter, e: Any, args: Sequence[Any]) -> Any:
    """A product; the coefficient comes last, so that 2xy, −xy and xy share xy."""
    numbers = [a for a, given in zip(args, e.args, strict=True) if given.is_Number]
    factors = [a for a, given in zip(args, e.args, strict=True) if not given.is_Number]
    product = to.hy.prod(factors) if len(factors) > 1 else factors[0]
    if e.args[0] == -1:
        return -product
    return reduce(lambda x, y: x * y, numbers, product)


def power(to: Interpreter, e: Any, args: Sequence[Any]) -> Any:
    """Whole powers by squares and products, since heyoka's own recurrence for xᵏ divides by x; else exp, pow."""
    base, exponent = e.args
    if type(base).__name__ == "Exp1":
        return to.hy.exp(args[1])
    if exponent.is_Rational or type(exponent).__name__ == "RealDouble":
        value = float(exponent)
        if value == 0.5:
            return to.hy.sqrt(args[0])
        if value.is_integer():
            whole = product_power(args[0], abs(int(value)))
            return whole if value > 0 else to.number(1.0) / whole
    return args[0] ** args[1]


def product_power(x: Any, k: int) -> Any:
    """xᵏ for a whole k ≥ 1."""
    result = None
    while k:
        if k & 1:
            result = x if result is None else result * x
        k >>= 1
        if k:
            x = x**2.0
    return result


def function(to: Interpreter, e: Any, args: Sequence[Any]) -> Any:
    """A function that heyoka has, or one that follows from it by a reciprocal."""
    known = FUNCTIONS[type(e).__name__]
    if known.reciprocal_of:
        return to.number(1.0) / getattr(to.hy, FUNCTIONS[known.reciprocal_of].heyoka)(*args)
    if known.of_reciprocal:
        return getattr(to.hy, FUNCTIONS[known.of_reciprocal].heyoka)(to.number(1.0) / args[0])
    return getattr(to.hy, known.heyoka)(*args)


def absolute(to: Interpreter, e: Any, args: Sequence[Any]) -> Any:
    """|x|."""
    (x,) = args
    return to.hy.select(to.hy.lt(x, to.number(0.0)), -x, x)


def sign(to: Interpreter, e: Any, args: Sequence[Any]) -> Any:
    """1, 0 or −1."""
    zero, one = to.number(0.0), to.number(1.0)
    return to.hy.select(to.hy.gt(args[0], zero), one, to.hy.select(to.hy.lt(args[0], zero), -one, zero))


def extreme(to: Interpreter, e: Any, args: Sequence[Any]) -> Any:
    """The greatest or least argument."""
    better = to.hy.gt if type(e).__name__ == "Max" else to.hy.lt
    return reduce(lambda best, x: to.hy.select(better(best, x), best, x), args)


def piecewise(to: Interpreter, e: Any, args: Sequence[Any]) -> Any:
    """The value of the first condition that holds, not a number if none does."""
    value = to.number(float("nan"))
    for branch, condition, given in zip(args[-2::-2], args[::-2], e.args[::-2], strict=True):
        value = branch if type(given).__name__ == "BooleanTrue" else to.hy.select(condition, branch, value)
    return value


def relation(to: Interpreter, e: Any, args: Sequence[Any]) -> Any:
    """A comparison of two numbers, 1 or 0; SymEngine writes > and >= the other way round."""
    return getattr(to.hy, HEYOKA_RELATIONS[type(e).__name__])(*args)


def logic(to: Interpreter, e: Any, args: Sequence[Any]) -> Any:
    """And, Or, Xor of any number of truth values, Not of one."""
    name = type(e).__name__
    if name == "Not":
        return to.hy.eq(args[0], to.number(0.0))
    if name == "Xor":
        return reduce(to.hy.neq, args)
    return (to.hy.logical_and if name == "And" else to.hy.logical_or)(list(args))


def truth(to: Interpreter, e: Any, args: Sequence[Any]) -> Any:
    """True or False itself."""
    return to.number(1.0 if type(e).__name__ == "BooleanTrue" else 0.0)


def unknown_symbol(to: Interpreter, e: Any, args: Sequence[Any]) -> Any:
    """Refuse a symbol without a value."""
    raise without_value(e)


def refuse(e: Any) -> Any:
    """Refuse what heyoka cannot expand."""
    raise InputError(
        f"{name_of(e)} cannot be integrated by Taylor's method, in {shortened(e)}: "
        "choose method='native', or write it with elementary functions"
    )


BUILDERS: dict[str, Builder] = {
    "Number": number,
    "Constant": number,
    "Symbol": unknown_symbol,
    "Add": add,
    "Mul": multiply,
    "Pow": power,
    "Abs": absolute,
    "sign": sign,
    "Max": extreme,
    "Min": extreme,
    "Piecewise": piecewise,
    "BooleanAtom": truth,
    **{name: function for name, f in FUNCTIONS.items() if f.heyoka or f.reciprocal_of or f.of_reciprocal},
    **dict.fromkeys(HEYOKA_RELATIONS, relation),
    **dict.fromkeys(["And", "Or", "Xor", "Not"], logic),
}
