"""Frequency responses: closed forms, and the steady oscillation that `periodic` finds of the driven system."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.analysis.systems import VARIANTS, cart_pole
from zwang import dot
from zwang.errors import InputError

x, y = zw.coordinates("x y")
F, k = zw.parameters("F k")
SPRING = zw.System(
    (x,), kinetic=dot(x) ** 2 / 2, potential=2 * x**2, forces={x: F - dot(x) * sp.Rational(3, 10)}, parameters={F: 0}
)


def test_a_driven_spring_has_its_resonance_curve():
    frequencies = np.array([0.1, 1.0, 2.0, 7.0])
    found = zw.frequency_response(zw.linearize(SPRING, {x: 0}, inputs=[F], outputs=[x, dot(dot(x))]), frequencies)
    expected = 1 / (4 - frequencies**2 + 0.3j * frequencies)
    assert found.response.sel(output="x").values[:, 0] == pytest.approx(expected, rel=1e-14)
    assert found.response.sel(output="x''").values[:, 0] == pytest.approx(-(frequencies**2) * expected, rel=1e-12)
    assert found.phase.values[-1, 0, 0] == pytest.approx(np.angle(expected[-1]), rel=1e-12)


def test_it_is_the_amplitude_of_the_driven_motion():
    driven = zw.System(
        (x,), kinetic=SPRING.kinetic, potential=SPRING.potential, forces={x: sp.cos(zw.t) - dot(x) * sp.Rational(3, 10)}
    )
    motion = zw.periodic(driven, {x: 0, dot(x): 0}, period=2 * np.pi)
    found = zw.frequency_response(zw.linearize(SPRING, {x: 0}, inputs=[F], outputs=[x]), [1.0])
    assert motion.q.values[0, 0] == pytest.approx(found.response.values[0, 0, 0].real, rel=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_does_not_depend_on_rows_or_states(variant):
    system = variant(cart_pole())
    cart, a, b = system.coordinates
    state = {cart: 0, a: 0, b: 0.5}
    one = zw.linearize(system, state, states=[cart, a, dot(cart), dot(a)], inputs=["F"], outputs=[cart, a])
    two = zw.linearize(system, state, inputs=["F"], outputs=[cart, a])
    grid = [0.3, 3.0, 30.0]
    both = [zw.frequency_response(lin, grid).response.values for lin in (one, two)]
    assert both[0] == pytest.approx(both[1], rel=1e-10)


def test_frequencies_are_chosen_where_something_happens():
    found = zw.frequency_response(zw.linearize(SPRING, {x: 0}, inputs=[F], outputs=[x]))
    grid = found.frequency.values
    assert grid[0] == pytest.approx(0.2, rel=1e-9)
    assert grid[-1] == pytest.approx(20, rel=1e-9)
    peak = grid[int(found.gain.values[:, 0, 0].argmax())]
    assert peak == pytest.approx(np.sqrt(4 - 0.3**2 / 2), rel=0.02)


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("takes what zwang.linearize gives", lambda: (zw.modes(SPRING, {x: 0}),)),
        ("has no inputs to respond to", lambda: (zw.linearize(SPRING, {x: 0}),)),
        ("finite and not negative", lambda: (zw.linearize(SPRING, {x: 0}, inputs=[F]), [-1])),
        ("numbers are needed", lambda: (zw.linearize(SPRING, {x: 0}, inputs=[F]), ["low"])),
        ("a stack along sample", lambda: (zw.linearize(SPRING, {x: [0, 0]}, inputs=[F]),)),
    ],
)
def test_what_has_no_response_is_refused(words, call):
    with pytest.raises(InputError, match=words):
        zw.frequency_response(*call())
