"""Inputs of handles: found by symbol or name, and told apart by what the motion has to follow."""

import numpy as np
import pytest

import zwang as zw
from zwang import dot
from zwang.motion.handles.inputs import follows, inputs_of

x, y, F, G = zw.coordinates("x y F G")
m, k, L = zw.parameters("m k L")
SYSTEM = zw.System(
    (x, y), kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2, potential=k * x**2 / 2, forces={x: F},
    constraints={"place": y - L * x, "speed": dot(x) - G}, parameters={m: 2, k: 3, L: 1, F: 4, G: None},
)  # fmt: skip


def test_the_motion_follows_what_constraints_ask_of_places_and_speeds():
    orders = {str(s): follows(SYSTEM, s)[0] for s in (F, G, k, L, m)}
    assert orders == {"F(t)": -1, "G(t)": 0, "k": -1, "L": 1, "m": -1}
    assert str(follows(SYSTEM, L)[1]) == "constraint 'place'"


def test_values_are_those_given_or_those_of_the_system():
    found = inputs_of(SYSTEM, {"F": 5.0, G: 0.0}, ["k", F], sloping=False)
    assert found.names == ("k", "F")
    assert found.first.tolist() == [3.0, 5.0]
    assert found.values.p[list(found.places)].tolist() == [3.0, 5.0]
    assert inputs_of(SYSTEM, None, [F, G], sloping=False).first is None
    assert inputs_of(SYSTEM, {G: zw.t}, "G", sloping=False).first is None  # it changes with time: not a number


def test_inputs_that_slope_have_a_slope_and_an_instant_among_the_parameters():
    found = inputs_of(SYSTEM, {G: 0.0}, [F, "k"], sloping=True)
    assert len({*found.places, *found.slopes, found.since}) == 5
    np.testing.assert_array_equal(found.values.p[[*found.slopes, found.since]], 0.0)


@pytest.mark.parametrize("u", [3.0, [3.0], np.array([3])])
def test_one_input_is_a_number_or_an_array(u):
    assert inputs_of(SYSTEM, {G: 0.0}, F, sloping=False).read(u).tolist() == [3.0]
