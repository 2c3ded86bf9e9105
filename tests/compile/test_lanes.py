"""Code for several lanes gives every lane the bits that code for one gives; sine and cosine if they are asked to."""

import ctypes

import mpmath
import numpy as np
import pytest
import symengine as se
from numpy.testing import assert_array_equal

import zwang as zw
from zwang.compile import Program, compile_lanes, compile_program

x, y, z = se.symbols("x y z")
WIDTHS = (2, 4, 8, 16)

ANYWHERE = (
    "sin cos tan atan sinh cosh tanh asinh exp Abs floor ceiling sign erf erfc cot sec csc coth sech csch acot acsch"
)
WITHIN_ONE = "asin acos atanh log sqrt gamma asech"
ABOVE_ONE = "asec acsc acoth acosh"
EXPRESSIONS = {
    **{name: getattr(se, name)(x) for name in ANYWHERE.split()},
    **{name: getattr(se, name)(1 / (1 + x**2)) for name in WITHIN_ONE.split()},
    **{name: getattr(se, name)(1 + x**2) for name in ABOVE_ONE.split()},
    "arithmetic": (x + 2 * y - z) * (x - y) / (z**2 + 1) - x / 3 + 1 / (y**2 + 1),
    "negative": -(x**3) - y,
    "powers": x**7 + (y**2) ** se.Rational(3, 2) + (x**2 + 1) ** se.Rational(1, 3) + 2**y + se.pi**x,
    "quotients by one denominator": x / (z**2 + 2) + y / (z**2 + 2) + 1 / (z**2 + 2),
    "atan2": se.atan2(x, y),
    "both sine and cosine": se.sin(x) * se.cos(x) + se.sin(y) - se.cos(z),
    "extremes": se.Max(x, y, 0.5) - se.Min(x, z),
    "piecewise": se.Piecewise((x, x < y), (y, z <= 0.25), (-z, True)),
    "logic": se.Piecewise((1, se.And(x > 0, se.Or(y > 0, se.Not(z > 0)))), (2, se.Eq(x, y)), (3, se.Ne(y, z))),
    "constant": se.Integer(3) / 7,
    "input": y,
}


TURNED = ("sin", "cos", "sec", "csc", "both sine and cosine")


def run_lanes(program, rows, width, kernel=None):
    """The outputs of a program at rows (width, inputs), all of them at once."""
    kernel = kernel or compile_lanes(program, width)
    given = np.ascontiguousarray(rows.T)
    out = np.empty((sum(map(len, program.outputs.values())), width))
    work = np.empty(kernel.work_size)
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(kernel.address)
    function(out.ctypes.data, given.ctypes.data, work.ctypes.data)
    return out.T


def assert_alike(found, expected, names):
    """The same bits, but for functions that sine and cosine are part of."""
    for k, name in enumerate(names):
        if name in TURNED:
            np.testing.assert_allclose(found[:, k], expected[:, k], rtol=1e-15, atol=1e-15)
        else:
            assert_array_equal(found[:, k], expected[:, k], name)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_function_in_every_lane(width):
    program = Program({"v": (x, y, z)}, {"e": tuple(EXPRESSIONS.values())})
    rows = np.random.default_rng(width).normal(size=(width, 3))
    expected = compile_program(program)(v=rows)["e"]
    assert np.isfinite(expected).all()
    assert_alike(run_lanes(program, rows, width), expected, EXPRESSIONS)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_numbers_that_are_none_stay_in_their_lane(name):
    program = Program({"v": (x, y, z)}, {"e": (EXPRESSIONS[name],)})
    rows = np.random.default_rng(3).normal(size=(8, 3))
    rows[1], rows[3], rows[6] = np.nan, np.inf, 0.0
    assert_alike(run_lanes(program, rows, 8), compile_program(program)(v=rows)["e"], [name])


ANGLES = {
    "one turn": lambda rng, n: rng.uniform(-np.pi, np.pi, n),
    "many turns": lambda rng, n: rng.uniform(-8e5, 8e5, n),
    "small": lambda rng, n: rng.choice([-1, 1], n) * 10.0 ** rng.uniform(-320, 0, n),
    "beyond": lambda rng, n: 10.0 ** rng.uniform(5.5, 300, n),
    "next to multiples of a right angle": lambda rng, n: (
        rng.integers(-400_000, 400_000, n) * np.pi / 2 * (1 + rng.integers(-2, 3, n) * 2.0**-52)
    ),
    "near multiples of a right angle": lambda rng, n: (
        rng.integers(-400_000, 400_000, n) * np.pi / 2 + 10.0 ** rng.uniform(-8, -3, n)
    ),
}


@pytest.mark.parametrize("where", ANGLES)
def test_sines_and_cosines_are_right_to_the_last_digit(where):
    program = Program({"v": (x,)}, {"e": (se.sin(x), se.cos(x))})
    angles = ANGLES[where](np.random.default_rng(0), 4000).reshape(-1, 16)
    kernel = compile_lanes(program, 16)
    found = np.concatenate([run_lanes(program, row[:, None], 16, kernel) for row in angles])
    with mpmath.workdps(60):
        for angle, (sine, cosine) in zip(angles.ravel(), found, strict=True):
            for value, function in ((sine, mpmath.sin), (cosine, mpmath.cos)):
                true = function(mpmath.mpf(angle))
                assert abs(true - value) <= 0.8 * np.spacing(abs(float(true)))


@pytest.mark.parametrize("where", ANGLES)
def test_sines_and_cosines_have_the_same_bits_if_these_are_asked_for(where):
    for outputs in ((se.sin(x), se.cos(x)), (se.sin(x), se.cos(2 * x)), (se.sin(x),), (se.cos(x),)):
        program = Program({"v": (x,)}, {"e": outputs})
        rows = ANGLES[where](np.random.default_rng(1), 64).reshape(-1, 8, 1)
        kernel = compile_lanes(program, 8, same_bits=True)
        found = np.stack([run_lanes(program, eight, 8, kernel) for eight in rows])
        assert_array_equal(found, compile_program(program)(v=rows)["e"])


def test_signs_of_zero_and_single_functions():
    for function in (se.sin, se.cos):
        program = Program({"v": (x,)}, {"e": (function(x),)})
        rows = np.array([0.0, -0.0, 1.0, 1e7, np.pi / 2, np.nan, -3.0, 1e-300])[:, None]
        found, expected = run_lanes(program, rows, 8), compile_program(program)(v=rows)["e"]
        np.testing.assert_allclose(found, expected, rtol=3e-16)
        assert_array_equal(np.signbit(found[:2]), np.signbit(expected[:2]))


def test_long_programs_keep_numbers_and_truth_values_in_the_workspace():
    s = se.symbols("s:3000")
    steps = [(s[0], se.Piecewise((1, x < y), (0, True))), (s[1], se.exp(x) + y)]
    steps += [(s[k], s[k - 1] * z - s[k - 2] / (1 + s[k - 1] ** 2)) for k in range(2, 3000)]
    small = se.Piecewise((s[1], x < y), (s[0], True))
    program = Program({"v": (x, y, z)}, {"e": (s[-1], s[1], small)}, steps=tuple(steps))
    rows = np.random.default_rng(0).uniform(-1, 1, (16, 3))
    kernel = compile_program(program)
    assert kernel.work_size > 0
    assert_array_equal(run_lanes(program, rows, 16), kernel(v=rows)["e"])


def test_signals():
    times = np.linspace(0, 1, 9)
    signal = zw.Signal(times, np.cos(3 * times))
    h, t = se.symbols("h t")
    looked_up = se.Function("signal")(h, t)
    outputs = (looked_up, looked_up.diff(t), looked_up.diff(t, 2), looked_up.diff(t, 5))
    program = Program({"v": (h, t)}, {"e": outputs})
    rows = np.column_stack([np.full(8, signal.address), np.random.default_rng(1).uniform(-0.2, 1.2, 8)])
    assert_array_equal(run_lanes(program, rows, 8), compile_program(program)(v=rows)["e"])
