"""Multipliers in nonideal forces: which ones occur, and mistakes with them."""

import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.errors import ModelError

x, y = zw.coordinates("x y")
mu = zw.parameters("mu")
KINETIC = (dot(x) ** 2 + dot(y) ** 2) / 2


def test_multipliers_are_not_parameters():
    wire = zw.System((x, y), kinetic=KINETIC, constraints={"other": x, "wire": y},
                     nonideal={x: -mu*sp.Abs(zw.multiplier("wire"))})  # fmt: skip
    assert wire.symbols == (mu,)
    assert wire.reactions == {1: zw.multiplier("wire")}
    swapped = zw.System((x, y), kinetic=KINETIC, constraints={"wire": x, "other": y}, nonideal=wire.nonideal)
    assert swapped.structure != wire.structure  # the same expressions, but another constraint is meant


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"nonideal": {x: zw.multiplier("wir")}}, r"multiplier\('wir'\), but there is no such constraint.*'wire'"),
        ({"nonideal": {x: zw.constraint_force(y)}}, r"constraint_force\('y'\), which is for events"),
        ({"forces": {x: zw.multiplier("wire")}}, r"stand in nonideal forces and in events only"),
        ({"potential": x * zw.multiplier("wire")}, r"stand in nonideal forces and in events only"),
    ],
)
def test_mistakes_are_told_by_name(given, words):
    with pytest.raises(ModelError, match=words):
        zw.System((x, y), kinetic=KINETIC, constraints=[zw.Constraint(y - x, "wire"), zw.Constraint(y >= 0, "floor")],
                  **given)  # fmt: skip


def test_families_are_told_the_same():
    q = zw.coordinates("q", shape=3)
    a = sp.Symbol("a")
    rub = {q[0]: zw.multiplier("chain[7]")}
    springs = zw.family(dot(zw.coordinates("s")) ** 2 / 2, {zw.coordinates("s"): q})
    with pytest.raises(ModelError, match=r"no such constraint"):
        zw.System(q, kinetic=springs, potential=a * q[0], nonideal=rub)
