"""Long and deep programs: cut into functions, yet the same numbers."""

import math
import random
import time

import numpy as np
import pytest
import symengine as se

import zwang.compile.kernel as kernel_module
from zwang.compile import Program, compile_program
from zwang.compile.kernel import translated

x, y = se.symbols("x y")


def one_step(kind, a, b, c, far, sin, cos, less):
    """All kinds of operations, bounded by one as long as the arguments are."""
    if kind == 0:
        return (a * b - c * far) / 2
    if kind == 1:
        return (a - 2 * b) / (3 + far**2)
    if kind == 2:
        return cos(5 * a) / 2 - b / (4 + sin(c))
    if kind == 3:
        return less(a, b, far) / 2 + less(a, b, c) / 3
    return (a * c + b - far) / (3 + (a * c) ** 2)


def picks(length):
    """For each step its kind and the values it uses, three recent ones and one from anywhere before."""
    pick = random.Random(0)
    for k in range(length):
        recent = range(max(0, k - 28), k + 2)
        yield k % 5, *(pick.choice(recent) for _ in range(3)), pick.randrange(k + 2)


def staged(length):
    symbols = [x, y, *(se.Symbol(f"s{k}") for k in range(length))]
    steps = []
    for k, (kind, *used) in enumerate(picks(length)):
        less = lambda a, b, c: se.Piecewise((c, a < b), (-c, True))  # noqa: E731
        steps.append((symbols[k + 2], one_step(kind, *(symbols[i] for i in used), se.sin, se.cos, less)))
    outputs = {"last": tuple(symbols[-20:]), "first": (symbols[3],)}
    return Program({"x": (x,), "y": (y,)}, outputs, steps=tuple(steps))


def staged_in_python(length, *values):
    values = list(values)
    for kind, *used in picks(length):
        less = lambda a, b, c: c if a < b else -c  # noqa: E731
        values.append(one_step(kind, *(values[i] for i in used), math.sin, math.cos, less))
    return values[-20:]


def nested(depth):
    e = x
    for k in range(depth):
        e = se.sin(e) + y / (e + k + 2)
    return e


@pytest.mark.parametrize("longest", [1, 20, 300])
def test_cut_into_functions_gives_the_same_bits(monkeypatch, longest):
    program = staged(200)
    given = {"x": np.linspace(-1, 1, 7)[:, None], "y": [0.3]}
    monkeypatch.setattr(kernel_module, "LONGEST", (10_000,) * 4)
    whole = compile_program(program, optimise=1)
    monkeypatch.setattr(kernel_module, "LONGEST", (longest,) * 4)
    cut = compile_program(program, optimise=1)
    assert whole.work_size == 0 < cut.work_size
    for name, value in whole(**given).items():
        assert np.isfinite(value).all()
        np.testing.assert_array_equal(cut(**given)[name], value)


def test_twenty_thousand_steps_compile_in_seconds():
    program = staged(20_000)
    start = time.process_time()
    kernel = compile_program(program, optimise=0)
    assert time.process_time() - start < 15  # about 1 s of processor time
    expected = staged_in_python(20_000, 0.5, 0.3)
    np.testing.assert_allclose(kernel(x=[0.5], y=[0.3])["last"], expected, atol=1e-9)


def test_an_expression_nested_5000_deep():
    result = compile_program(Program({"v": (x, y)}, {"e": (nested(5000),)}), optimise=0)(v=[0.5, 0.3])["e"]
    expected = 0.5
    for k in range(5000):
        expected = np.sin(expected) + 0.3 / (expected + k + 2)
    np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_deep_towers_of_powers():
    tower = x
    for _ in range(2000):
        tower = (1 + tower) ** se.Rational(-1, 3)
    result = compile_program(Program({"x": (x,)}, {"e": (tower,)}), optimise=0)(x=[0.5])["e"]
    expected = 0.5
    for _ in range(2000):
        expected = (1 + expected) ** (-1 / 3)
    np.testing.assert_allclose(result, expected, rtol=1e-14)


def lines(*outputs):
    return translated(Program({"v": (x, y)}, {"e": outputs}))[0].code.lines


def test_repeated_parts_are_computed_once():
    once = [line for line in lines(se.sin(x * y) + x * y, 3 * se.sin(x * y), -x * y) if line]
    assert sum("call" in line for line in once) == 1
    assert sum("fmul double %i0, %i1" in line for line in once) == 1


def test_one_division_for_a_shared_denominator_and_an_exact_one_for_a_single():
    assert sum("fdiv" in line for line in lines(x / (1 + y), 2 * x / (1 + y), 3 / (1 + y))) == 1
    assert sum("fdiv" in line for line in lines(x / (1 + y), 1 / (1 + y), -x / (1 + y), 1 / (1 + y) ** 2)) == 2
    assert lines(x / y, 1 - x / y)[1] == "%v1 = fdiv double %i0, %i1"


def test_negation_costs_nothing_in_sums_and_products():
    text = "\n".join(lines(x - y, y**2 - x * y, 1 + (-x - 1) * (y - x), (-x - y) ** 2))
    assert "fneg" not in text


def test_sine_and_cosine_of_one_angle_in_one_call():
    """The call for both gives the bits of the calls for each, also where the program is cut into functions."""
    angles = [x + k for k in range(700)]
    outputs = tuple(f(a) for a in angles for f in (se.sin, se.cos)) + tuple(se.cos(a) * se.sin(a) for a in angles)
    kernel = compile_program(Program({"x": (x,)}, {"f": outputs}), optimise=0)
    values = kernel(x=[0.1])["f"]
    for k in range(700):
        s, c = math.sin(0.1 + k), math.cos(0.1 + k)
        assert (values[2 * k], values[2 * k + 1], values[1400 + k]) == (s, c, c * s)
