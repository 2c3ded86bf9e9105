"""Vectors of numbers and expressions: what is quick is what SymPy says, to the last bit and to the kind of number."""

import random

import pytest
import sympy as sp

from zwang.multibody.vectors import inner, is_zero

NUMBERS = random.Random(0)


def entry():
    size = NUMBERS.choice([NUMBERS.uniform(-2, 2), NUMBERS.gauss(0, 1e9), float(NUMBERS.randint(-3, 3)), 1e-200, 0.1])
    whole = NUMBERS.randint(-3, 3)
    kinds = [size, sp.Float(size), sp.Integer(whole), whole, sp.Rational(1, 3), sp.Symbol("s"), sp.Float(size, 30)]
    return NUMBERS.choice(kinds[:4] if NUMBERS.random() < 0.8 else kinds)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_products_of_numbers_are_those_of_sympy(size):
    for _ in range(700):
        a, b = (tuple(entry() for _ in range(size)) for _ in range(2))
        found, expected = inner(a, b), sum(x * y for x, y in zip(a, b, strict=True) if not (is_zero(x) or is_zero(y)))
        assert type(found) is type(expected), (a, b)
        assert sp.srepr(sp.sympify(found)) == sp.srepr(sp.sympify(expected)), (a, b)
