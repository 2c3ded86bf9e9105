import pytest
import symengine as se

from zwang.compile import Program
from zwang.errors import InputError

x, y, s = se.symbols("x y s")


def test_a_shape_is_given_or_that_of_a_vector():
    program = Program({"x": (x,)}, {"M": (x, 0, 0, x), "b": (x,)}, {"M": (2, 2)})
    assert program.shape("M") == (2, 2)
    assert program.shape("b") == (1,)


def test_a_shape_must_fit_its_output():
    with pytest.raises(InputError, match=r"'M' has 3 expressions, but its shape \(2, 2\) wants 4"):
        Program({"x": (x,)}, {"M": (x, 0, 0)}, {"M": (2, 2)})


def test_a_shape_needs_an_output():
    with pytest.raises(InputError, match="'N', which is not an output: the outputs are 'M'"):
        Program({"x": (x,)}, {"M": (x,)}, {"N": (1,)})


@pytest.mark.parametrize(
    ("inputs", "steps", "message"),
    [
        ({"a": (x, x)}, (), "x is defined twice, by the input 'a' and by the input 'a'"),
        ({"a": (x,), "b": (x,)}, (), "x is defined twice, by the input 'a' and by the input 'b'"),
        ({"a": (x,)}, ((x, x + 1),), "x is defined twice, by the input 'a' and by a step"),
        ({"a": (x,)}, ((s, x), (s, x)), "s is defined twice, by a step and by a step"),
    ],
)
def test_a_symbol_has_one_meaning(inputs, steps, message):
    with pytest.raises(InputError, match=message):
        Program(inputs, {"o": (x,)}, steps=steps)


def test_text_is_no_expression():
    with pytest.raises(InputError, match="nothing here parses text"):
        Program({"x": (se.Symbol("x"),)}, {"y": ("x + 1",)})
