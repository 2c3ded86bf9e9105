"""Expressions as plain data: what is written is read back, and nothing that a stranger writes is executed."""

import json
from typing import Any

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from zwang.errors import InputError
from zwang.model.recorded import read_back, recorded
from zwang.model.symbols import t

A, w = sp.symbols("A w")
EXPRESSIONS = [
    sp.Integer(0),
    sp.Float(3.5),
    sp.Rational(1, 3) + sp.pi * t,
    A * sp.sin(w * t) ** 2,
    sp.exp(-t / 2) / sp.cosh(w * t),
    sp.Max(A, t, 3) - sp.Min(t, 2),
    sp.Heaviside(t - 1) * sp.Abs(t - A),
    sp.Mod(t, 2) + sp.floor(t) + sp.frac(w * t),
    sp.sign(t - 1) * sp.atan2(t, A),
    sp.Piecewise((A, t < 1), (sp.exp(-t), (t < 2) & (A > 1)), (sp.log(t), True)),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_an_expression_is_read_back_from_json_as_it_was(expression: sp.Expr) -> None:
    again = read_back(json.loads(json.dumps(recorded(expression))))

    assert again == expression


def test_a_constant_is_kept_to_the_last_digit_of_a_float() -> None:
    again = read_back(recorded(sp.sqrt(2) * t))

    assert float(again.subs(t, 1)) == 2**0.5


def test_what_no_data_say_is_refused_by_its_name() -> None:
    with pytest.raises(InputError, match="besselj"):
        recorded(sp.besselj(0, t))


HOSTILE: list[Any] = [
    [],
    "t",
    None,
    {"u": 1},
    [None],
    [True],
    [float("nan")],
    [float("inf")],
    [["eval", 1]],
    [["time"], ["__import__", 1]],
    [["time"], ["sin", 2]],
    [["time"], ["sin", 0]],
    [["time"], ["sin", -1]],
    [["time"], ["sin", True]],
    [["time"], ["time"]],
    [["ratio", 1, 0]],
    [["name", ""]],
    [10, 10**9, ["Pow", 2]],
    [["time"], 10**9, ["Pow", 2]],
    [["time"], ["Not", 1]],
    [["true"]],
    [["time"], ["true"], ["Add", 2]],
    [["time"], ["Piecewise", 1]],
    [["time"], *[["sin", 1]] * 100],
    [["time"], *[["sinh", 1]] * 20],
    [["time"]] * 30_000 + [["Add", 30_000]],
]


@pytest.mark.parametrize("data", HOSTILE, ids=lambda data: str(data)[:40])
def test_data_that_are_no_expression_are_refused(data: Any) -> None:
    with pytest.raises(InputError):
        read_back(data)


atoms = st.one_of(st.integers(), st.floats(), st.booleans(), st.text(max_size=3), st.none())
names = st.sampled_from(["time", "name", "ratio", "Add", "Mul", "Pow", "sin", "exp", "Piecewise", "Lt", "And", "pi"])
entries = st.one_of(atoms, st.lists(st.one_of(names, atoms), max_size=3))


@given(st.lists(entries, max_size=8))
def test_any_data_are_read_or_refused_by_a_sentence(data: list[Any]) -> None:
    try:
        found: Any = read_back(data)
    except InputError as error:
        found = str(error)

    assert isinstance(found, sp.Expr | str)
    assert found != ""
