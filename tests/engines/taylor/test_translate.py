"""Expressions in heyoka's language: they mean the same as in native code; what has no expansion is refused."""

import numpy as np
import pytest
import symengine as se

from tests.engines.tasks import INPUTS, program, task, v, w, x
from zwang.compile import Program, compile_program
from zwang.engines.task import Status
from zwang.engines.taylor import engine as taylor
from zwang.engines.taylor.translate import Interpreter
from zwang.errors import InputError

hy = pytest.importorskip("heyoka")


def test_functions_mean_the_same_as_in_native_code():
    functions = [se.sin, se.cos, se.tan, se.asin, se.acos, se.atan, se.sinh, se.cosh, se.tanh, se.asinh, se.atanh]
    functions += [se.exp, se.log, se.sqrt, se.erf, se.cot, se.sec, se.csc, se.coth, se.acot, se.sign]
    expressions = [f(x) for f in functions]
    expressions += [se.acosh(1 + x), se.atan2(x, v), se.Abs(-x), se.Max(x, v, w), se.Min(x, v), x**7, x**-3, 2**x]
    expressions += [x ** se.Rational(1, 3), x**-1.5, x**v, se.pi * se.E - se.Rational(1, 3), 10**20 * x * v / 3]
    expressions += [se.Piecewise((x, v < x), (2, x < w), (3, True)), se.Piecewise((5, se.Or(v < x, w < 0)), (x, True))]
    given = Program(INPUTS, {"all": tuple(expressions)})
    interpreter = Interpreter(given)
    function = hy.cfunc(interpreter.outputs(given)["all"], vars=interpreter.variables)
    for point in ([0.3, 0.7, 0.2], [0.9, 0.4, -2.0]):
        wanted = compile_program(given)(t=[0.0], q=point[:1], v=point[1:2], p=point[2:])["all"]
        np.testing.assert_allclose(function(point[:2], pars=point[2:]), wanted, rtol=4e-16)


def test_whole_powers_are_expanded_at_zero():
    path = taylor.run(task(x**3 - x**5, 0.0, 1.0, [0.1]))
    assert path.status is Status.FINISHED


def test_steps_are_translated_once_and_depth_does_not_matter():
    s = se.symbols("s:400")
    steps = [(s[0], x + v)] + [(s[i], s[i - 1] ** 2 + s[i - 1]) for i in range(1, 400)]  # 2^400 leaves as a tree
    found = Interpreter(program(x)).outputs(Program(INPUTS, {"out": (s[-1],)}, steps=tuple(steps)))
    assert len(found["out"]) == 1
    deep = x
    for _ in range(3000):
        deep = se.sin(deep)
    assert "sin(sin(" in str(Interpreter(program(x)).translate(se.sin(se.sin(x))))
    assert Interpreter(program(x)).translate(deep) is not None


def test_a_function_without_expansion_is_refused_by_name():
    with pytest.raises(InputError, match=r"gamma cannot be integrated by Taylor's method.*method='native'"):
        taylor.run(task(se.sympify("gamma(x)"), 1.0, 0.0, [1.0]))
    with pytest.raises(InputError, match="symbol y has no value"):
        taylor.run(task(se.Symbol("y"), 1.0, 0.0, [1.0]))
