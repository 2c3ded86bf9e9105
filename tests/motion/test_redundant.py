"""Redundant constraints that agree at saved times and contradict each other between them: whoever runs them says so.

The rules are ẋ = t² and ẋ = t² + a t²(1 − t): the same at t = 0 and at t = 1, and in between only for a = 0, when x is
t³/3. y moves freely, and turns back at y = 0.3 where it is told to.
"""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.errors import SimulationError

x, y = zw.coordinates("x y")
a = zw.parameters("a")
RULES = {"one": dot(x) - zw.t**2, "two": dot(x) - zw.t**2 - a * zw.t**2 * (1 - zw.t)}
FREE = (dot(x) ** 2 + dot(y) ** 2) / 2
START = {x: 0, y: 0, dot(x): 0, dot(y): 0.5}
PLAIN = zw.System((x, y), kinetic=FREE, constraints=RULES)
BOUNDED = zw.System(
    (x, y),
    kinetic=FREE,
    constraints=[
        *(zw.Constraint(rule, name) for name, rule in RULES.items()),
        zw.Constraint(0.3 - y >= 0, "wall", restitution=1.0),
    ],
)
BACK = zw.Event(y - 0.3, "wall", reset={dot(y): -dot(y)})


def motion(system, value, **asked):
    return zw.simulate(system, START, 1.0, samples=2, parameters={a: value}, **asked)


@pytest.mark.parametrize("form", ["fundamental", "gibbs-appell", "lagrange"])
def test_sensitivities_look_between_saved_times(form):
    ask = {"inputs": [dot(y)], "samples": 2, "form": form}
    fine = zw.sensitivities(PLAIN, START, 1.0, parameters={a: 0.0}, **ask)
    assert fine.sizes["time"] == 2
    np.testing.assert_allclose(fine.q.values[-1], [1 / 3, 0.5], rtol=0, atol=1e-9)
    np.testing.assert_allclose(fine.dq.values[-1], [[0], [1]], rtol=0, atol=1e-12)
    with pytest.raises(SimulationError, match="at odds") as caught:
        zw.sensitivities(PLAIN, START, 1.0, parameters={a: 1.0}, **ask)
    assert caught.value.status == "inconsistent"


@pytest.mark.parametrize(("system", "asked"), [(PLAIN, {}), (PLAIN, {"events": [BACK]}), (BOUNDED, {})])
def test_a_stepper_goes_no_further(system, asked):
    _, q, _ = zw.Stepper(system, START, parameters={a: 0.0}, **asked).advance(1.0)
    np.testing.assert_allclose(q, [1 / 3, 0.5 if system is PLAIN and not asked else 0.1], rtol=0, atol=1e-9)
    stepper = zw.Stepper(system, START, parameters={a: 1.0}, **asked)
    with pytest.raises(SimulationError, match="inconsistent"):
        stepper.advance(1.0)


def test_with_contacts_it_is_not_vouched_for():
    assert motion(BOUNDED, 0.0).attrs["doubts"] == ""
    assert "redundant constraints miss each other" in motion(BOUNDED, 1.0).attrs["doubts"]


def test_with_events_that_reset_the_state_it_is_told():
    assert motion(PLAIN, 0.0, events=[BACK]).attrs["status"] == "finished"
    assert motion(PLAIN, 1.0, events=[BACK], throw=False).attrs["status"] == "inconsistent"
    many = zw.simulate_many(PLAIN, START, 1.0, samples=2, parameters={a: [0.0, 1.0]}, events=[BACK])
    assert many.status.values.tolist() == ["finished", "inconsistent"]


@pytest.mark.parametrize("drift", ["none", "baumgarte"])
def test_only_the_times_that_are_asked_for_are_saved(drift):
    """One of them twice; and with rules that contradict each other from t = 1/2 on: ẋ = 0 and ẋ = a(t − 1/2)⁴."""
    later = zw.System((x, y), kinetic=FREE, constraints={"one": dot(x), "two": dot(x) - a * sp.Max(zw.t - 0.5, 0) ** 4})
    times, ask = [0.0, 0.3, 0.3, 0.4, 0.9, 1.0], {"drift": drift, "tol": 1e-9}
    for value, count in ((0.0, 6), (100.0, 4)):
        one = zw.simulate(later, START, 1.0, times=times, parameters={a: value}, throw=False, **ask)
        np.testing.assert_array_equal(one.time, times[:count])
        many = zw.simulate_many(later, START, 1.0, times=times, parameters={a: [value] * 3}, **ask)
        np.testing.assert_array_equal(many.time, times)
        np.testing.assert_array_equal(many.q.values[1, :count], one.q.values)
        assert np.isnan(many.q.values[:, count:]).all()
        assert set(many.status.values) == {one.attrs["status"]}
