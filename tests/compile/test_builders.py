"""Every function and operator against Python's math, or mpmath where math has none."""

import math

import mpmath
import numpy as np
import pytest
import symengine as se

from zwang.compile import Program, compile_program
from zwang.errors import InputError

x, y, z = se.symbols("x y z")


def evaluate(expression, **values):
    names = [s for s in (x, y, z) if str(s) in values]
    kernel = compile_program(Program({"v": tuple(names)}, {"e": (expression,)}), optimise=0)
    return kernel(v=np.stack([np.asarray(values[str(s)], float) for s in names], axis=-1))["e"][..., 0]


def points(low, high, seed=0):
    return np.random.default_rng(seed).uniform(low, high, 50)


UNARY = {
    "sin": (math.sin, -9, 9),
    "cos": (math.cos, -9, 9),
    "tan": (math.tan, -9, 9),
    "asin": (math.asin, -1, 1),
    "acos": (math.acos, -1, 1),
    "atan": (math.atan, -9, 9),
    "sinh": (math.sinh, -9, 9),
    "cosh": (math.cosh, -9, 9),
    "tanh": (math.tanh, -9, 9),
    "asinh": (math.asinh, -9, 9),
    "acosh": (math.acosh, 1, 9),
    "atanh": (math.atanh, -1, 1),
    "exp": (math.exp, -9, 9),
    "log": (math.log, 0, 9),
    "sqrt": (math.sqrt, 0, 9),
    "Abs": (abs, -9, 9),
    "floor": (math.floor, -9, 9),
    "ceiling": (math.ceil, -9, 9),
    "sign": (np.sign, -9, 9),
    "erf": (mpmath.erf, -3, 3),
    "erfc": (mpmath.erfc, -3, 3),
    "gamma": (mpmath.gamma, 0.1, 9),
    "cot": (mpmath.cot, 0.1, 3),
    "sec": (mpmath.sec, -1.5, 1.5),
    "csc": (mpmath.csc, 0.1, 3),
    "coth": (mpmath.coth, 0.1, 3),
    "sech": (mpmath.sech, -3, 3),
    "csch": (mpmath.csch, 0.1, 3),
    "acot": (mpmath.acot, -3, 3),
    "asec": (mpmath.asec, 1.1, 3),
    "acsc": (mpmath.acsc, 1.1, 3),
    "acoth": (mpmath.acoth, 1.1, 3),
    "asech": (mpmath.asech, 0.1, 0.9),
    "acsch": (mpmath.acsch, 0.1, 3),
}


@pytest.mark.parametrize("name", UNARY)
def test_unary_function(name):
    reference, low, high = UNARY[name]
    at = points(low, high)
    expected = np.array([float(reference(float(v))) for v in at])
    np.testing.assert_allclose(evaluate(getattr(se, name)(x), x=at), expected, rtol=1e-14)


@pytest.mark.parametrize("name", ["sin", "cos", "sqrt", "log", "exp", "tanh", "floor"])
def test_same_bits_as_the_c_library(name):
    # Python's math calls the same functions.
    reference, low, high = UNARY[name]
    at = points(low, high, seed=1)
    assert evaluate(getattr(se, name)(x), x=at).tolist() == [reference(v) for v in at.tolist()]


BINARY = {
    "sum": (x + y, lambda a, b: a + b),
    "difference": (x - y, lambda a, b: a - b),
    "negative sum": (-x - y, lambda a, b: -a - b),
    "product": (x * y, lambda a, b: a * b),
    "negative product": (-2 * x * y, lambda a, b: -2 * (a * b)),
    "quotient": (x / y, lambda a, b: a / b),
    "negative quotient": (-x / y, lambda a, b: -(a / b)),
    "quotient of powers": (x**3 / (2 * y**2), lambda a, b: a * a * a * 0.5 / (b * b)),
    "reciprocal of a product": (1 / (x * y), lambda a, b: 1 / (a * b)),
    "power": (x**y, math.pow),
    "atan2": (se.atan2(x, y), math.atan2),
    "greatest": (se.Max(x, y), max),
    "least": (se.Min(x, y), min),
    "less": (se.Piecewise((x, x < y), (y, True)), min),
    "less or equal": (se.Piecewise((x, x <= y), (y, True)), min),
    "greater": (se.Piecewise((x, x > y), (y, True)), max),
    "greater or equal": (se.Piecewise((x, x >= y), (y, True)), max),
    "no operation contracted": (x * y - z, lambda a, b: a * b - 0.125),
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_operation_to_the_bit(name):
    expression, reference = BINARY[name]
    a, b = points(0.1, 4), points(0.1, 4, seed=1)
    result = evaluate(expression, x=a, y=b, z=np.full(50, 0.125))
    assert result.tolist() == [reference(u, v) for u, v in zip(a.tolist(), b.tolist(), strict=True)]


@pytest.mark.parametrize("numerator", [-130, -65, -9, -6, -5, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 14, 15, 65, 130, 200])
def test_whole_and_half_powers(numerator):
    at = points(0.5, 2)
    with mpmath.workdps(30):
        expected = [float(mpmath.mpf(v) ** (mpmath.mpf(numerator) / 2)) for v in at.tolist()]
    for exponent in (se.Rational(numerator, 2), se.RealDouble(numerator / 2)):
        np.testing.assert_allclose(evaluate(x**exponent, x=at), expected, rtol=1e-14)


@pytest.mark.parametrize("exponent", [se.Rational(1, 3), se.Rational(-2, 3), se.RealDouble(0.3), se.pi, -se.E])
def test_other_powers_are_those_of_the_c_library(exponent):
    at = points(0.1, 5)
    assert evaluate(x**exponent, x=at).tolist() == [math.pow(v, float(exponent)) for v in at.tolist()]


def test_odd_powers_keep_the_sign_and_even_ones_lose_it():
    assert evaluate((-x) ** 3, x=2.0) == -8
    assert evaluate((-x - y) ** 3, x=1.0, y=1.0) == -8
    assert evaluate((-x - y) ** -3, x=1.0, y=1.0) == -0.125
    assert evaluate((-x - y) ** 2, x=1.0, y=1.0) == 4
    assert evaluate(3 / (-x - y), x=1.0, y=1.0) == -1.5


def test_powers_of_constants():
    at = points(-3, 3)
    np.testing.assert_allclose(evaluate(2**x, x=at), 2.0**at, rtol=1e-15)
    np.testing.assert_allclose(evaluate(se.Integer(10) ** x, x=at), 10.0**at, rtol=1e-15)
    assert evaluate(se.exp(-x), x=at).tolist() == [math.exp(-v) for v in at.tolist()]


def test_equal_and_unequal():
    equal = se.Piecewise((1, se.Eq(x, y)), (0, True))
    unequal = se.Piecewise((1, se.Ne(x, y)), (0, True))
    a, b = np.array([1.0, 1.0, np.nan]), np.array([1.0, 2.0, np.nan])
    assert evaluate(equal, x=a, y=b).tolist() == [1, 0, 0]
    assert evaluate(unequal, x=a, y=b).tolist() == [0, 1, 1]


def test_logic():
    a, b, c = (grid.ravel() for grid in np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0]))
    p, q, r = x > 0.5, y > 0.5, z > 0.5
    cases = {
        se.And(p, q, r): a * b * c,
        se.Or(p, q, r): np.maximum(np.maximum(a, b), c),
        se.Xor(p, q): np.abs(a - b),
        se.Not(se.Or(p, q)): (1 - a) * (1 - b),
        se.Not(se.Xor(p, q)): 1 - np.abs(a - b),
    }
    for condition, expected in cases.items():
        assert evaluate(se.Piecewise((1, condition), (0, True)), x=a, y=b, z=c).tolist() == expected.tolist()
        assert evaluate(condition, x=a, y=b, z=c).tolist() == expected.tolist()


def test_first_condition_wins_and_none_is_not_a_number():
    first = se.Piecewise((1, x < 2), (2, x < 3), (3, x < 4))
    np.testing.assert_array_equal(evaluate(first, x=[1.0, 2.5, 3.5, 4.5]), [1, 2, 3, np.nan])


def test_a_branch_not_taken_may_be_undefined():
    assert evaluate(se.Piecewise((se.log(x), x > 0), (0, True)), x=[-1.0, 1.0]).tolist() == [0, 0]


@pytest.mark.parametrize("expression", [se.Max(x, y), se.Min(x, y), se.sign(x) + y, x + y])
def test_not_a_number_is_never_swallowed(expression):
    assert np.isnan(evaluate(expression, x=np.nan, y=1.0))
    assert np.isnan(evaluate(expression, x=1.0, y=np.nan))


NUMBERS = {
    se.Rational(1, 10): 0.1,
    se.Rational(-1, 3): -1 / 3,
    se.Rational(10**30 + 1, 3 * 10**29): (10**30 + 1) / (3 * 10**29),
    se.Integer(2**53 + 1): float(2**53),
    se.Integer(0): 0.0,
    se.RealDouble(5e-324): 5e-324,
    se.pi: math.pi,
    se.E: math.e,
    se.oo: math.inf,
    -se.oo: -math.inf,
    se.true: 1.0,
    se.false: 0.0,
}


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_are_rounded_once(number):
    assert evaluate(number, x=0.0) == NUMBERS[number]


@pytest.mark.parametrize("number", [se.nan, float("nan")])
def test_not_a_number_as_a_constant(number):
    assert np.isnan(evaluate(number, x=0.0))


def test_plain_numbers_and_sympy_expressions_are_taken():
    import sympy

    assert evaluate(3, x=0.0) == 3
    assert evaluate(-0.5, x=0.0) == -0.5
    assert evaluate(sympy.sin(sympy.Symbol("x")), x=0.5) == math.sin(0.5)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (1 + se.Function("wobble")(x), r"wobble cannot be compiled, in wobble\(x\)"),
        (se.LambertW(x), "LambertW cannot be compiled, in lambertw"),
        (se.Function("g")(x).diff(x), "Derivative cannot be compiled"),
        (x + se.Symbol("w"), "the symbol w has no value"),
        (x + se.Dummy("x"), "symbol x has no value"),
        (x * se.I, "the number I is not a real number"),
        (x + se.zoo, "zoo is not a real number"),
        (x + se.Integer(10) ** 400, r"the number 1000.*… is not a real number in the range"),
    ],
)
def test_refusals_name_the_culprit(expression, message):
    with pytest.raises(InputError, match=message):
        evaluate(expression, x=1.0)
