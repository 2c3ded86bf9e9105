"""Rates of trees: the derivative of an expression with respect to time, as a tree again.

It is done on trees, before SymPy sees anything, so that what is made is held to the same bounds as what is written.
Products stay flat and what is zero is left out: a rate is hardly deeper than what it is the rate of.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial, reduce

import sympy as sp

from zwang.errors import InputError
from zwang.files.language.functions import CALLED, IF
from zwang.files.language.grammar import Node, parse
from zwang.files.language.printer import expression_text
from zwang.files.toml.problems import Misread
from zwang.functions import FUNCTIONS, in_sympy
from zwang.words import quoted

ZERO, ONE = Node("number", 0, "0"), Node("number", 0, "1")

Names = Callable[[Node], Node]
"""What the rate of a name is: zero, one, or the name with a mark more."""


def rate(tree: Node, names: Names) -> Node:
    """The rate of an expression.

    >>> rate(parse("x^2"), lambda name: Node("name", 0, ("v", 0))).args[-1].value
    ('v', 0)
    """
    if tree.kind == "name":
        return names(tree)
    if tree.kind == "sum":
        return plus(tree.value, [rate(arg, names) for arg in tree.args])
    if tree.kind == "product":
        return of_product(tree, names)
    if tree.kind == "minus":
        return minus(rate(tree.args[0], names))
    if tree.kind == "power":
        return of_power(tree.args[0], tree.args[1], names)
    return of_call(tree, names) if tree.kind == "call" else ZERO


def of_product(tree: Node, names: Names) -> Node:
    """One factor after the other, the others as they are: (a b)' = a' b + a b', (1/b)' = −b'/b²."""
    factors = list(zip(tree.args, tree.value, strict=True))
    terms, signs = [], []
    for i, (factor, exponent) in enumerate(factors):
        inner = rate(factor, names)
        others = [*factors[:i], *factors[i + 1 :]]
        below = [(power(factor, Node("number", 0, "2")), -1)] if exponent < 0 else []
        terms.append(times(*others, (inner, 1), *below))
        signs.append(exponent)
    return plus(signs, terms)


def of_power(base: Node, exponent: Node, names: Names) -> Node:
    """(b^c)' = c b^(c−1) b' + b^c log(b) c'."""
    one, two = rate(base, names), rate(exponent, names)
    less = Node("sum", 0, (1, -1), (exponent, ONE))
    first = ZERO if one is ZERO else times((exponent, 1), (power(base, less), 1), (one, 1))
    second = ZERO if two is ZERO else times((power(base, exponent), 1), (call("log", base), 1), (two, 1))
    return plus((1, 1), (first, second))


def of_call(tree: Node, names: Names) -> Node:
    """The chain rule; what switches is differentiated piece by piece."""
    name, args = tree.value, tree.args
    if name == IF:
        this, that = (rate(arg, names) for arg in args[1:])
        return ZERO if this is that is ZERO else call(IF, args[0], this, that)
    inner = [rate(arg, names) for arg in args]
    if all(part is ZERO for part in inner) or FUNCTIONS[CALLED[name]].steps:
        return ZERO
    if name == "abs":
        return times((call("sign", *args), 1), (inner[0], 1))
    if name in ("min", "max"):
        return of_extreme("<=" if name == "min" else ">=", name, list(zip(args, inner, strict=True)))
    parts = [times((put(partial_rate(name, i), args), 1), (part, 1)) for i, part in enumerate(inner)]
    return plus([1] * len(parts), parts)


def of_extreme(sign: str, name: str, pairs: list[tuple[Node, Node]]) -> Node:
    """The rate of whichever argument is the least, or the greatest."""

    def between(one: tuple[Node, Node], other: tuple[Node, Node]) -> tuple[Node, Node]:
        condition = Node("compare", 0, sign, (one[0], other[0]))
        return call(name, one[0], other[0]), call(IF, condition, one[1], other[1])

    return reduce(between, pairs)[1]


@cache
def partial_rate(name: str, index: int) -> Node:
    """The derivative of a function with respect to one of its arguments, which are called u0, u1, … in it."""
    key = CALLED[name]
    symbols = [sp.Symbol(f"u{i}") for i in range(FUNCTIONS[key].arguments[0])]
    function = sp.sqrt if name == "sqrt" else in_sympy(key)
    try:
        return parse(expression_text(function(*symbols).diff(symbols[index])))
    except InputError:
        raise Misread(f"{quoted(name)} has no rate that a model file can say", 0) from None


def put(template: Node, args: tuple[Node, ...]) -> Node:
    """A derivative with arguments in the place of u0, u1, …"""
    known: Mapping[str, Node] = {f"u{i}": arg for i, arg in enumerate(args)}
    if template.kind == "name":
        return known.get(template.value[0], template)
    return Node(template.kind, 0, template.value, tuple(map(partial(put, args=args), template.args)))


def plus(signs: tuple[int, ...] | list[int], parts: tuple[Node, ...] | list[Node]) -> Node:
    """A sum of what is not zero."""
    there = [(s, part) for s, part in zip(signs, parts, strict=True) if part is not ZERO]
    if not there:
        return ZERO
    if len(there) == 1:
        return there[0][1] if there[0][0] > 0 else minus(there[0][1])
    return Node("sum", 0, tuple(s for s, _ in there), tuple(part for _, part in there))


def times(*factors: tuple[Node, int]) -> Node:
    """A product, products within it written out; zero if a factor is."""
    flat: list[tuple[Node, int]] = []
    for factor, exponent in factors:
        if factor is ZERO:
            return ZERO
        if factor.kind == "product" and exponent > 0:
            flat += zip(factor.args, factor.value, strict=True)
        elif factor is not ONE:
            flat.append((factor, exponent))
    if not flat:
        return ONE
    if len(flat) == 1 and flat[0][1] > 0:
        return flat[0][0]
    return Node("product", 0, tuple(exponent for _, exponent in flat), tuple(factor for factor, _ in flat))


def minus(part: Node) -> Node:
    """What is opposite."""
    return part if part is ZERO else Node("minus", 0, None, (part,))


def power(base: Node, exponent: Node) -> Node:
    """A power."""
    return Node("power", 0, None, (base, exponent))


def call(name: str, *args: Node) -> Node:
    """A function of arguments."""
    return Node("call", 0, name, args)
