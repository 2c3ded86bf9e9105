"""Derivatives of programs against difference quotients, and their size."""

import numpy as np
import pytest
import symengine as se

from zwang.compile import Program, compile_program
from zwang.compile.tangent import tangent
from zwang.errors import InputError

a, b, s, u = se.symbols("a b s u")

FUNCTIONS = (
    se.atan2(a, b),
    a**b,
    se.Abs(a - b),
    se.Max(a, b, a * b),
    se.Min(a, b),
    se.floor(a) * a,
    se.Piecewise((a**2, se.Gt(a, b)), (se.sin(a * b), True)),
    se.Piecewise((a**2, se.Lt(a, b)), (se.sin(a * b), True)),
    se.exp(a * b) / (a + b) ** 2,
    se.sqrt(a**2 + b**2),
    3 * a * b * se.cos(a) * se.tan(b) + a - a / 3,
    se.log(a) + se.erf(b) + se.acosh(a) + se.sech(b),
    se.Integer(3),
    b,
)
DIRECTIONS = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]])


def test_every_kind_of_node_against_difference_quotients():
    program = Program({"x": (a, b)}, {"f": FUNCTIONS})
    along = [dict(zip((a, b), map(float, d), strict=True)) for d in DIRECTIONS]
    x = np.array([1.3, 0.7])
    got = compile_program(tangent(program, along))(x=x)
    f = compile_program(program)
    for d, derivative in zip(DIRECTIONS, got["d_f"], strict=True):
        coarse, fine = ((f(x=x + h * d)["f"] - f(x=x - h * d)["f"]) / (2 * h) for h in (1e-3, 5e-4))
        np.testing.assert_allclose(derivative, (4 * fine - coarse) / 3, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(got["f"], f(x=x)["f"])


def test_steps_are_followed_and_names_do_not_clash():
    d0 = se.Symbol("d0")
    program = Program({"x": (a,)}, {"f": (d0 * s,), "g": (s,)}, steps=((d0, se.sin(a)), (s, d0**2 + 1)))
    twice = tangent(tangent(program, [{a: 1}], of=["f"]), [{a: 1}], of=["d_f"])  # f = sin + sin³
    out = compile_program(twice)(x=[0.4])
    x = np.sin(0.4), np.cos(0.4)
    np.testing.assert_allclose(out["d_f"], [[x[1] + 3 * x[0] ** 2 * x[1]]], rtol=1e-15)
    np.testing.assert_allclose(out["d_d_f"], [[[-x[0] + 6 * x[0] * x[1] ** 2 - 3 * x[0] ** 3]]], rtol=1e-14)
    assert "d_g" not in out


def test_what_does_not_change_gets_no_tangent():
    steps = ((s, se.sin(b)), (u, s**3 + b))
    program = Program({"x": (a, b)}, {"f": (u, a * u)}, steps=steps)
    both = tangent(program, [{a: 1}, {a: 0}])
    assert len(both.steps) == len(steps)
    assert both.outputs["d_f"] == (0, u, 0, 0)


def test_size_grows_linearly():
    # Nested functions: repeated symbolic differentiation would grow with the square.
    def size(length, directions):
        e = a
        for _ in range(length):
            e = se.sin(e * b) + se.cos(e)
        program = tangent(Program({"x": (a, b)}, {"f": (e,)}), [{a: 1, b: j + 2} for j in range(directions)])
        return len(program.steps)

    assert size(800, 1) < 2.1 * size(400, 1)
    assert size(400, 8) < 8 * size(400, 1)


def test_unknown_functions_are_refused():
    with pytest.raises(InputError, match=r"g\(a\) cannot be differentiated"):
        tangent(Program({"x": (a,)}, {"f": (se.Function("g")(a),)}), [{a: 1}])
