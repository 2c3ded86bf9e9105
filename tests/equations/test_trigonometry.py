"""Polynomials in sines and cosines: shorter, and the same function."""

import random

import mpmath
import pytest
import sympy as sp

from zwang.equations.trigonometry import cost, expression, frequency_of, product_of, shortest

a, b, c = sp.symbols("a b c")
ANGLES = (a, b, c, a + b, 2 * a - c)


def polynomial(e):
    """The polynomial of an expanded expression, read by other means than the module's own."""
    found = {}
    for term in sp.Add.make_args(sp.expand(e)):
        number, rest = term.as_coeff_Mul()
        powers = {}
        for factor in sp.Mul.make_args(rest):
            if factor != 1:
                base, power = factor.as_base_exp()
                i, j = powers.get(base.args[0], (0, 0))
                powers[base.args[0]] = (i + int(power), j) if base.func is sp.sin else (i, j + int(power))
        found[product_of(powers)] = sp.Rational(number)
    return found


@pytest.mark.parametrize("seed", range(25))
def test_every_form_is_the_same_function_and_never_longer(seed):
    draw = random.Random(seed)
    functions = [f(angle) for f in (sp.sin, sp.cos) for angle in draw.sample(ANGLES, 2)]
    terms = [
        sp.Rational(draw.randint(-4, 4), draw.randint(1, 3)) * sp.prod(draw.choices(functions, k=draw.randint(0, 4)))
        for _ in range(draw.randint(1, 6))
    ]
    given = {p: n for p, n in polynomial(sp.Add(*terms)).items() if n != 0}
    found = shortest(given)
    assert cost(found) <= cost(given)
    both = sp.lambdify((a, b, c), [expression(given), expression(found)], "mpmath")
    for _ in range(3):
        with mpmath.workdps(40):
            one, other = both(*(mpmath.mpf(draw.uniform(-3, 3)) for _ in range(3)))
            assert abs(one - other) < 1e-35


@pytest.mark.parametrize(
    ("given", "textbook"),
    [
        (sp.sin(a) ** 2 + sp.cos(a) ** 2, 1),
        (sp.cos(a) * sp.cos(b) + sp.sin(a) * sp.sin(b), sp.cos(a - b)),
        (sp.sin(a) * sp.cos(b) - sp.cos(a) * sp.sin(b), sp.sin(a - b)),
        (sp.cos(a) * sp.cos(a + b) + sp.sin(a) * sp.sin(a + b), sp.cos(b)),
        (1 - sp.cos(a) ** 2, sp.sin(a) ** 2),
        (sp.cos(a) ** 2 - sp.sin(a) ** 2, sp.cos(2 * a)),
        (sp.sin(2 * a) / 2, sp.sin(a) * sp.cos(a)),
        (sp.sin(a) ** 2 * sp.sin(b) ** 2 + sp.cos(a) ** 2 * sp.sin(b) ** 2, sp.sin(b) ** 2),
        (sp.cos(a) * (sp.cos(b) * sp.cos(c) + sp.sin(b) * sp.sin(c)), sp.cos(a) * sp.cos(b - c)),
        (sp.cos(a) * sp.cos(b), sp.cos(a) * sp.cos(b)),
        (sp.cos(a) ** 3 + sp.cos(a) * sp.sin(a) ** 2, sp.cos(a)),
    ],
)
def test_it_is_what_a_textbook_prints(given, textbook):
    assert expression(shortest(polynomial(given))) == textbook


def test_an_angle_is_a_sum_of_multiples_whatever_they_are():
    assert dict(frequency_of(a / 3 - sp.pi / 4)) == {a: sp.Rational(1, 3), sp.pi: sp.Rational(-1, 4)}
    assert frequency_of(2 * (a + b) - 2 * b) == ((a, 2),)
