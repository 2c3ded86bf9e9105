"""Trees of expressions to SymPy: names get their meaning here, and nothing grows beyond its bounds.

SymPy evaluates on its own what it is given, and some of that takes for ever: huge integers, roots of large ones,
constants within constants. So every part carries what it costs (its size and depth, definitions counted in full)
and, if it is constant, its value as a float. Bounds are checked before SymPy sees a part; constants stay exact
while they are short and become floats when they are not. Numbers before a sum stay there, 2*(x + y), where SymPy
would multiply out: what is written in a file is kept.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import sympy as sp

from zwang.files.language.functions import CALLED, IF, REACTIONS, SLOW, unevaluated
from zwang.files.language.grammar import Node
from zwang.files.language.names import TIME
from zwang.files.language.slips import ELSEWHERE
from zwang.files.toml.problems import Misread
from zwang.functions import FUNCTIONS, in_sympy
from zwang.words import did_you_mean, listed, quoted

LARGEST_SIZE = 20_000  # parts of an expression, definitions counted in full
LARGEST_DEPTH = 60
LARGEST_GROWTH = 500_000  # parts of second derivatives: a product of 80 sums, 2 s and 150 MB to work with
LARGEST_SLOW = 4
LARGEST_EXPONENT = 100
LARGEST, SMALLEST = 1e300, 1e-300
EXACT_DIGITS = 30  # integers, numerators and denominators beyond become floats
EXACT_SIZE = 30  # constants of more parts become floats

_LIMIT = 10**EXACT_DIGITS
_COMPARE: dict[str, tuple[Any, Callable[[float, float], bool]]] = {
    "<": (sp.StrictLessThan, lambda a, b: a < b),
    ">": (sp.StrictGreaterThan, lambda a, b: a > b),
    "<=": (sp.LessThan, lambda a, b: a <= b),
    ">=": (sp.GreaterThan, lambda a, b: a >= b),
}


@dataclass(frozen=True, slots=True)
class Built:
    """A part in SymPy, its value if it is constant, what it costs, and the kinds of names that it uses."""

    expr: sp.Expr
    value: float | None = None
    size: int = 1
    depth: int = 1
    uses: frozenset[str] = frozenset()
    slow: int = 0
    first: int = 1
    second: int = 1


class Cost(NamedTuple):
    """What a part costs: its size and depth, the kinds of names in it, how deep slow functions are nested.

    `first` and `second` are the sizes of its derivatives: what is short to write, a product of many sums, may have long
    ones, and equations of motion are made of them.
    """

    size: int
    depth: int
    uses: frozenset[str]
    slow: int
    first: int
    second: int


@dataclass(frozen=True)
class Builder:
    """Makes SymPy of trees; `name` and `reaction` say what names stand for."""

    name: Callable[[Node], Built]
    reaction: Callable[[Node], Built]

    def build(self, node: Node) -> Built:
        """The expression of a tree, or a `Misread` at the part that is wrong."""
        if node.kind == "number":
            return number(node.value, node.at)
        if node.kind == "name":
            return self.name(node)
        if node.kind == "call":
            return self.call(node)
        if node.kind == "text":
            raise Misread("a name in quotes has no place here", node.at)
        if node.kind == "compare":
            raise Misread(f"{quoted(node.value)} has no place here", node.at, "a comparison comes first in if(…)")
        parts = [self.build(arg) for arg in node.args]
        if node.kind == "sum":
            return total(parts, node)
        if node.kind == "product":
            return product(parts, node.value, node)
        if node.kind == "minus":
            return product([number("-1", node.at), *parts], (1, 1), node)
        return power(parts[0], parts[1], node.at)

    def call(self, node: Node) -> Built:
        """A function of its arguments."""
        if node.value in REACTIONS:
            return self.reaction(node)
        if node.value == IF:
            return self.choice(node)
        if node.value not in CALLED:
            return self.refuse_function(node)
        least, most = FUNCTIONS[CALLED[node.value]].arguments
        if not least <= len(node.args) <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            message = f"{node.value} takes {wanted} argument{'s' * (most > 1)}, {len(node.args)} are given"
            raise Misread(message, node.at, argument_hint(node))
        parts = [self.build(arg) for arg in node.args]
        return apply(node.value, parts, node.at)

    def refuse_function(self, node: Node) -> Built:
        """Refuse a call of something that is not a function."""
        try:
            self.name(Node("name", node.at, (node.value, 0)))
        except Misread:
            known = [*CALLED, IF]
            meant, hint = did_you_mean(node.value, known), f"the functions are {', '.join(known)}"
            bare = node.value.rpartition(".")[2].lower()  # np.cos, math.radians
            if bare in known:
                meant, hint = "", f"write {bare}(…)"
            elif bare in ELSEWHERE:
                meant, hint = "", f"write {ELSEWHERE[bare]}"
            raise Misread(f"unknown function {quoted(node.value)}{meant}", node.at, hint) from None
        of_time = len(node.args) == 1 and node.args[0].kind == "name" and node.args[0].value == (TIME, 0)
        alone = f"write {node.value} alone: it is a function of time as it stands"
        hint = alone if of_time else f"write {node.value}*(…) to multiply"
        raise Misread(f"{quoted(node.value)} is not a function", node.at, hint)

    def choice(self, node: Node) -> Built:
        """`if(a < b, this, that)` as a piecewise expression."""
        if len(node.args) != 3 or node.args[0].kind != "compare":
            raise Misread("if takes a condition and two expressions", node.at, "write if(x > 0, this, that)")
        condition, this, that = node.args
        left, right = (self.build(arg) for arg in condition.args)
        if left.expr.has(sp.Piecewise) or right.expr.has(sp.Piecewise):
            # SymPy would fold the one into the other, which may take for ever
            hint = "decide one after the other: if(a > b, if(…), if(…))"
            raise Misread("an if in the condition of an if", condition.at, hint)
        yes, no = self.build(this), self.build(that)
        # an if in the place of `that` is one more piece: what SymPy makes of a Piecewise in a Piecewise
        nested = that.kind == "call" and that.value == IF and isinstance(no.expr, sp.Piecewise)
        costs = cost([left, right, yes, no], node.at)
        costs = costs._replace(slow=max(left.slow, right.slow, yes.slow, no.slow - nested) + 1)
        require_quick(costs, node.at)
        relation, holds = _COMPARE[condition.value]
        if left.value is not None and right.value is not None:
            return yes if holds(left.value, right.value) else no
        rest = no.expr.args if nested else [(no.expr, True)]
        pair = (yes.expr, relation(left.expr, right.expr, evaluate=False))
        return Built(sp.Piecewise(pair, *rest, evaluate=False), None, *costs)


def argument_hint(node: Node) -> str:
    """What may have been meant by too many arguments: numbers with a decimal comma."""
    pairs = [(a, b) for a, b in pairwise(node.args) if a.kind == b.kind == "number" and b.at == a.at + len(a.value) + 1]
    one, other = (part.value for part in pairs[0]) if pairs else ("", "")
    return f"if {one},{other} is one number, write {one}.{other}" if pairs else ""


def number(text: str, at: int) -> Built:
    """A number as it is written: exact without a point, a float with one."""
    value = float(text)
    if not abs(value) <= LARGEST:
        raise Misread(f"the number {text[:40]} is too large", at, f"numbers reach to {LARGEST:g}")
    if abs(value) < SMALLEST and any(c in "123456789" for c in text.lower().partition("e")[0]):
        raise Misread(f"the number {text[:40]} is too small", at, f"numbers begin at {SMALLEST:g}; write 0 for nothing")
    exact = text.lstrip("-").isdigit() and len(text) <= EXACT_DIGITS
    return Built(sp.Integer(int(text)) if exact else sp.Float(value), value)


def plain(value: float) -> Built:
    """A number as TOML gives it, not in quotes."""
    return number(repr(value), 0)


def cost(parts: Sequence[Built], at: int, rule: str = "chain") -> Cost:
    """Size, depth and uses of what is made of some parts; refused beyond the bounds.

    `rule` says how it is differentiated: as a "sum", a "product", or a function of its parts ("chain").
    """
    size, depth = 1 + sum(p.size for p in parts), 1 + max(p.depth for p in parts)
    first, second = derivatives([p for p in parts if p.value is None], size, rule)
    if second > LARGEST_GROWTH:
        raise Misread(
            f"the second derivatives of this expression have more than {LARGEST_GROWTH:,} parts",
            at,
            "multiply fewer sums with each other",
        )
    if size > LARGEST_SIZE:
        raise Misread(f"the expression has more than {LARGEST_SIZE} parts, its definitions counted in full", at)
    if depth > LARGEST_DEPTH:
        raise Misread(f"the expression is nested more than {LARGEST_DEPTH} deep, its definitions counted in full", at)
    uses = parts[0].uses.union(*(p.uses for p in parts[1:]))
    return Cost(size, depth, uses, max(p.slow for p in parts), first, second)


def derivatives(parts: Sequence[Built], size: int, rule: str) -> tuple[int, int]:
    """About how many parts the first and the second derivative have of what is made of parts that change.

    >>> sums = [Built(sp.Symbol("x"), size=3)]*199
    >>> derivatives(sums, 598, "sum"), derivatives(sums, 598, "product")
    ((200, 200), (118604, 23523392))
    """
    first, second = sum(p.first for p in parts), sum(p.second for p in parts)
    if rule == "sum" or not parts:
        return 1 + first, 1 + second
    if rule == "chain":
        return size + first, 2 * (size + first) + second
    n, changing = len(parts), sum(p.size for p in parts)
    return n * size - changing + first, n * size - changing + second + (n - 1) * (n * size - 2 * changing + 2 * first)


def require_quick(costs: Cost, at: int) -> None:
    """Refuse functions that SymPy takes long with where they are nested deeply."""
    if costs.slow > LARGEST_SLOW:
        raise Misread(f"{listed(SLOW)} are nested more than {LARGEST_SLOW} deep", at)


def checked(value: float, at: int) -> float:
    """The value of a constant; refused if it is too large."""
    if not math.isfinite(value) or abs(value) > LARGEST:
        raise Misread("this constant is too large", at, f"numbers reach to {LARGEST:g}")
    return value


def constant(make: Callable[[], sp.Expr], value: float, costs: Cost, at: int) -> Built:
    """A constant: exact if it is short, else a float."""
    checked(value, at)
    expr = make() if costs.size <= EXACT_SIZE else sp.Float(value)
    if expr.is_Rational:
        if max(abs(expr.p), expr.q) >= _LIMIT:
            expr = sp.Float(value)
        return Built(expr, value)
    if expr.has(sp.nan, sp.zoo, sp.oo, -sp.oo):  # tan(pi/2): floats miss the pole by a hair
        raise Misread("this has no finite value", at)
    if expr.is_Float:
        return Built(expr, float(expr))
    return Built(expr, value, *costs)


def made(expr: sp.Expr, costs: Cost, at: int) -> Built:
    """An expression of parts that are not all constant. It may be constant all the same: x − x."""
    coefficient = expr.as_coeff_Mul()[0]
    if coefficient is not sp.S.One and (not coefficient.is_finite or abs(float(coefficient)) > LARGEST):
        raise Misread("a number in this expression is too large", at, f"numbers reach to {LARGEST:g}")
    return Built(expr, float(expr) if expr.is_Number else None, *costs)


def total(parts: Sequence[Built], node: Node) -> Built:
    """A sum."""
    costs = cost(parts, node.at, "sum")
    pairs = list(zip(node.value, parts, strict=True))
    values = [s * p.value for s, p in pairs if p.value is not None]

    def make() -> sp.Expr:
        return sp.Add(*[p.expr if s > 0 else scaled(sp.S.NegativeOne, p.expr) for s, p in pairs])

    checked(math.fsum(values), node.at)
    if len(values) == len(parts):
        return constant(make, math.fsum(values), costs, node.at)
    return made(make(), costs, node.at)


def product(parts: Sequence[Built], exponents: Sequence[int], node: Node) -> Built:
    """A product; parts with exponent −1 are divided by."""
    costs = cost(parts, node.at, "product")
    value = 1.0
    for part, exponent, arg in zip(parts, exponents, (node, *node.args)[-len(parts) :], strict=True):
        if part.value is None:
            continue
        if exponent < 0 and part.value == 0:
            raise Misread("division by zero", arg.at)
        value = checked(value * part.value if exponent > 0 else value / part.value, node.at)
    zero = any(p.value == 0 for p in parts)
    if value == 0 and not zero:
        raise Misread("this constant is too small", node.at, f"numbers begin at {SMALLEST:g}")

    def make() -> sp.Expr:
        coefficient, factors = sp.S.One, []
        for part, exponent in zip(parts, exponents, strict=True):
            c, rest = part.expr.as_coeff_Mul()
            coefficient = coefficient * c if exponent > 0 else coefficient / c
            if rest is not sp.S.One:
                factors.append(rest if exponent > 0 else rest**-1)
        return scaled(coefficient, factors[0] if len(factors) == 1 else sp.Mul(*factors))

    if all(p.value is not None for p in parts):
        return constant(make, value, costs, node.at)
    return made(make(), costs, node.at)


def scaled(coefficient: sp.Expr, expr: sp.Expr) -> sp.Expr:
    """A number times an expression; it is not multiplied into a sum."""
    c, rest = expr.as_coeff_Mul()
    coefficient = coefficient * c
    if not rest.is_Add or coefficient.is_zero or coefficient is sp.S.One:
        return coefficient * rest
    return sp.Mul(coefficient, rest, evaluate=False)


def difference(left: Built, right: Built) -> sp.Expr:
    """left − right."""
    return sp.Add(left.expr, scaled(sp.S.NegativeOne, right.expr))


def power(base: Built, exponent: Built, at: int) -> Built:
    """A power; exponents that are numbers are small."""
    costs = cost([base, exponent], at)
    if base.value is not None and exponent.value is not None:
        try:
            value = math.pow(base.value, exponent.value)
        except OverflowError:
            raise Misread("this power is too large", at, f"numbers reach to {LARGEST:g}") from None
        except ValueError:
            what = "division by zero" if base.value == 0 else "a power of a negative number that is not real"
            raise Misread(what, at) from None
        if value == 0 and base.value != 0:
            raise Misread("this power is too small", at, f"numbers begin at {SMALLEST:g}")
        if not stays_exact(base.expr, exponent.expr):
            return Built(sp.Float(checked(value, at)), value)
        return constant(lambda: base.expr**exponent.expr, value, costs, at)
    if exponent.value is not None and abs(exponent.value) > LARGEST_EXPONENT:
        raise Misread(f"the exponent is beyond {LARGEST_EXPONENT}", at)
    if base.value is not None and base.value < 0:
        raise Misread("a power of a negative number with an exponent that changes", at)
    if base.value == 0:
        raise Misread("a power of zero with an exponent that changes", at)
    # SymPy would raise every piece of a case by itself, and ask questions about its conditions that may take long
    cases = isinstance(base.expr, sp.Piecewise)
    made_power = made(sp.Pow(base.expr, exponent.expr, evaluate=not cases), costs, at)
    exponents = [f.exp for f in sp.Mul.make_args(made_power.expr) if f.is_Pow and f.exp.is_Number]
    if any(abs(e) > LARGEST_EXPONENT for e in exponents):
        raise Misread(f"powers of powers make an exponent beyond {LARGEST_EXPONENT}", at)
    return made_power


def stays_exact(base: sp.Expr, exponent: sp.Expr) -> bool:
    """Whether a power of constants may be left to SymPy: no long integers, no factors of large ones."""
    if not exponent.is_Rational or abs(exponent.p) > LARGEST_EXPONENT or exponent.q > LARGEST_EXPONENT:
        return False
    if base.is_Rational:
        digits = len(str(max(abs(base.p), base.q)))
        return bool(digits * abs(exponent.p) <= 2 * EXACT_DIGITS and (exponent.q == 1 or digits <= EXACT_DIGITS // 2))
    return bool(exponent.is_Integer or exponent.q == 2)


def apply(name: str, parts: Sequence[Built], at: int) -> Built:
    """A function of built arguments, by its name in model files."""
    if name == "sqrt":
        if parts[0].value is not None and parts[0].value < 0:
            raise Misread("the root of a negative number is not real", at)
        return power(parts[0], Built(sp.Rational(1, 2), 0.5), at)
    key, costs = CALLED[name], cost(parts, at)
    function = FUNCTIONS[key]
    if function.slow:
        costs = costs._replace(slow=costs.slow + 1)
        require_quick(costs, at)
    if any(p.value is None for p in parts):
        return made(unevaluated(key, [p.expr for p in parts]), costs, at)
    values: list[Any] = [p.value for p in parts]
    assert function.numbers is not None
    try:
        value = float(function.numbers(*values))
    except OverflowError:
        raise Misread(f"{name} of this is too large", at, f"numbers reach to {LARGEST:g}") from None
    except (ValueError, ZeroDivisionError):
        raise Misread(f"{name} has no real value for {', '.join(f'{v:g}' for v in values)}", at) from None
    if name in ("min", "max"):
        return parts[values.index(value)]
    if name == "abs":
        return parts[0] if values[0] >= 0 else Built(-parts[0].expr, value, *costs)
    if function.steps:
        exact = abs(value) < 2**53
        return Built(sp.Integer(int(value)) if exact else sp.Float(value), value)
    return constant(lambda: in_sympy(key)(*[p.expr for p in parts]), value, costs, at)
