"""Time and functions of time."""

import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

from zwang.model.time import coordinate, rates, t


def test_a_coordinate_is_what_sympy_s_mechanics_makes_of_its_name():
    assert coordinate("x") == dynamicsymbols("x")
    assert coordinate("x") is coordinate("x")
    assert t == dynamicsymbols._t


def test_rates_are_the_derivatives_by_time():
    x = coordinate("x")
    assert rates(x) == (x.diff(t), x.diff(t, 2))
    assert sp.diff(x**2, t) == 2 * x * rates(x)[0]
