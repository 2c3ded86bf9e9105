"""Whether an expression vanishes, or is a polynomial of low degree: read off its structure, or tested by numbers.

Expanding or simplifying an expression answers such questions too, but may take for ever: (x + y + z + w)**90 has a
hundred thousand terms, and `simplify` tries dozens of ways. Numbers answer in a time that grows with the size of
the expression alone. An expression is computed at a few random points, with 60 digits and with 120: what vanishes
shrinks with the precision, what does not stays, however small it is. A function that is analytic and not zero
vanishes at a random point with probability zero, so the answer is exact for practical purposes; and the points are
the same in every run.
"""

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import mpmath  # type: ignore[import-untyped]
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.functions import FUNCTIONS, in_mpmath, in_sympy

POINTS, TRIES = 3, 12  # points that must agree, and points tried to find as many where the expression has a value
LOW, HIGH = 60, 120  # digits
SHRINKS = mpmath.mpf(10) ** -20  # by at least this, from LOW to HIGH digits, shrinks what vanishes
LARGEST = 2_000  # binary digits before the point
SEED = 1829  # the year of Gauss's principle

Values = dict[sp.Basic, Any]

# Functions with corners or jumps: of what stands in them, an expression is not a polynomial.
CORNERS = (sp.Piecewise, *(in_sympy(name) for name, function in FUNCTIONS.items() if function.switch))
OPAQUE = (AppliedUndef, sp.Derivative, sp.Subs, sp.Integral)


def is_zero(expression: sp.Expr) -> bool:
    """Whether an expression vanishes identically.

    >>> x = sp.Symbol("x")
    >>> is_zero(sp.sin(x)**2 + sp.cos(x)**2 - 1), is_zero(x**2 - x)
    (True, False)
    """
    return bool(expression == 0) if not expression.args else vanishes(expression, [1], {})


def degree_at_most(expression: sp.Expr, symbols: Sequence[sp.Symbol], most: int) -> bool:
    """Whether an expression is a polynomial of at most this degree in some symbols.

    Along every straight line, the finite difference of the next order must vanish.

    >>> x, y = sp.symbols("x y")
    >>> degree_at_most((x + y)**3 - x**3, [y], 2), degree_at_most((x + 1)**3 - x**3, [x], 2)
    (False, True)
    """
    chosen = frozenset(symbols)
    if degree(expression, chosen, {}) <= most:
        return True
    if any(part.free_symbols & chosen for part in expression.atoms(*CORNERS, *OPAQUE)):
        return False
    draw = random.Random(SEED + 1)
    line = {s: number(draw, s) for s in sorted(chosen, key=sp.default_sort_key)}
    return vanishes(expression, [(-1) ** k * math.comb(most + 1, k) for k in range(most + 2)], line)


def degree(expression: sp.Expr, symbols: frozenset[sp.Symbol], known: dict[sp.Expr, float]) -> float:
    """The degree of an expression as a polynomial in some symbols, by its structure; inf if it is not one."""
    if expression in known:
        return known[expression]
    result: float
    if expression in symbols:
        result = 1
    elif not expression.args:
        result = 0
    elif expression.is_Add:
        result = max(degree(arg, symbols, known) for arg in expression.args)
    elif expression.is_Mul:
        result = sum(degree(arg, symbols, known) for arg in expression.args)
    elif expression.is_Pow and expression.exp.is_Integer and expression.exp > 0:
        result = int(expression.exp) * degree(expression.base, symbols, known)
    else:
        result = math.inf if any(degree(arg, symbols, known) for arg in expression.args) else 0
    known[expression] = result
    return result


def vanishes(expression: sp.Expr, weights: Sequence[int], line: Values) -> bool:
    """Whether Σ weight_k · expression(point + k · line) is zero at every point at which it has a value."""
    leaves = sorted(expression.free_symbols | expression.atoms(*OPAQUE), key=sp.default_sort_key)
    draw = random.Random(SEED)
    agreed = 0
    for _ in range(TRIES):
        point = {leaf: number(draw, leaf) for leaf in leaves}
        try:
            (low, _), (high, size) = (combined(expression, point, weights, line, digits) for digits in (LOW, HIGH))
        except (ArithmeticError, ValueError, TypeError, mpmath.libmp.NoConvergence):
            continue  # no value there: a division by zero, or a comparison of complex numbers
        if not (mpmath.isfinite(low) and mpmath.isfinite(high)):
            continue
        # where few digits cancel to nothing at all, their rounding error is what many digits are measured by
        expected = abs(low) or size * mpmath.mpf(10) ** -LOW
        if high != 0 and not abs(high) < SHRINKS * expected:
            return False
        agreed += 1
        if agreed == POINTS:
            return True
    return False


def combined(expression: sp.Expr, point: Values, weights: Sequence[int], line: Values, digits: int) -> Any:
    """Σ weight_k · expression(point + k · line), with so many digits, and the size of what it is made of."""
    with mpmath.workdps(digits):
        terms, size = [], mpmath.mpf(0)
        for k, weight in enumerate(weights):
            known = {leaf: compute(x + k * line.get(leaf, 0), {}) for leaf, x in point.items()}
            terms.append(weight * value(expression, known))
            size = max(size, *(abs(v) for v in known.values()))
        return mpmath.fsum(terms), size


def number(draw: random.Random, leaf: sp.Basic) -> sp.Rational:
    """A random number that a symbol may stand for, the same at every precision."""
    if getattr(leaf, "is_integer", False):
        return sp.Integer(draw.randint(1, 50))
    size = sp.Rational(draw.randint(2**18, 2**21), 2**20)  # 1/4 to 2
    negative = draw.random() < 0.5
    if getattr(leaf, "is_nonnegative", False):
        negative = False
    return -size if negative or getattr(leaf, "is_nonpositive", False) else size


def value(expression: sp.Basic, known: Values) -> Any:
    """The value of an expression in mpmath's precision; parts that occur often are computed once."""
    found = known.get(expression)
    if found is None:
        found = known[expression] = compute(expression, known)
    return found


def compute(expression: sp.Basic, known: Values) -> Any:
    """The value of an expression from the values of its parts."""
    if expression.is_Rational:
        return mpmath.mpf(int(expression.p)) / int(expression.q)
    if expression.is_Float:
        return mpmath.mpf(expression._mpf_)
    if isinstance(expression, sp.Piecewise):
        chosen = next((e for e, condition in expression.args if holds(condition, known)), sp.nan)
        return value(chosen, known)
    args = [value(arg, known) for arg in expression.args]
    if any(mpmath.isfinite(arg) and mpmath.mag(arg) > LARGEST for arg in args):
        raise OverflowError  # a tower of powers: computing with it would take for ever
    if expression.is_Add:
        return mpmath.fsum(args)
    if expression.is_Mul:
        return mpmath.fprod(args)
    if expression.is_Pow:
        base, exponent = args
        return mpmath.sqrt(base) if expression.exp is sp.S.Half else base**exponent
    name = type(expression).__name__
    if args and name in MPMATH:
        if name == "atan2" and any(mpmath.im(arg) for arg in args):  # mpmath fails on them without saying why
            raise ValueError
        return MPMATH[name](*args)
    # anything else, constants such as π too, by SymPy itself
    exact = expression.func(*[sp.Float(arg, mpmath.mp.dps) for arg in args]) if args else expression
    result = exact.evalf(mpmath.mp.dps)
    return mpmath.mpmathify(result._to_mpmath(mpmath.mp.prec))


def holds(condition: sp.Basic, known: Values) -> bool:
    """Whether a condition holds at a point."""
    if condition in (sp.true, sp.false):
        return bool(condition)
    sides = [value(arg, known) if isinstance(arg, sp.Expr) else holds(arg, known) for arg in condition.args]
    return bool(CONDITIONS[type(condition).__name__](*sides))


CONDITIONS: dict[str, Callable[..., bool]] = {
    "StrictLessThan": lambda a, b: a < b,
    "LessThan": lambda a, b: a <= b,
    "StrictGreaterThan": lambda a, b: a > b,
    "GreaterThan": lambda a, b: a >= b,
    "Equality": lambda a, b: a == b,
    "Unequality": lambda a, b: a != b,
    "And": lambda *all_of: all(all_of),
    "Or": lambda *any_of: any(any_of),
    "Not": lambda one: not one,
}  # fmt: skip
MPMATH: dict[str, Callable[..., Any]] = {name: f for name in FUNCTIONS if (f := in_mpmath(name)) is not None}
