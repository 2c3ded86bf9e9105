"""A motion with contacts, taken on step by step, is the motion of `simulate`."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import contact
from zwang import dot
from zwang.errors import InputError, SimulationError

x, y = zw.coordinates("x y")
F = zw.parameters("F")

MOTIONS = {
    "ball": (*contact.ball(0.8), 5.0),
    "belt": (*contact.belt((1.0, 0.5)), 10.0),
    "tether": (*contact.tether(), 3.0),
    "sphere": (*contact.leaving_a_sphere(), 1.5),
    "bowl": (*contact.bowl(), 3.0),
    "incline": (*contact.incline(0.7), 2.0),
}


@pytest.mark.parametrize("name", MOTIONS)
@pytest.mark.parametrize("steps", [7, 40])
def test_steps_lead_to_where_simulate_leads(name, steps):
    system, start, until = MOTIONS[name]
    stepper = zw.Stepper(system, start, tol=1e-12)
    for _ in range(steps):
        t, q, v = stepper.advance(until / steps)
    motion = zw.simulate(system, start, until=until, samples=2)
    assert t == pytest.approx(until)
    assert q == pytest.approx(motion.q.values[-1], abs=1e-11)
    assert v == pytest.approx(motion.v.values[-1], abs=1e-11)


def block():
    """A block on a rough floor, pushed by a force."""
    floor = zw.Constraint(y >= 0, "floor", friction=0.5, slip=dot(x))
    kinetic = (dot(x) ** 2 + dot(y) ** 2) / 2
    system = zw.System((x, y), kinetic=kinetic, potential=10 * y, forces={x: F}, constraints=[floor])
    return zw.Stepper(system, {x: 0, y: 0, dot(x): 0, dot(y): 0}, inputs=[F], tol=1e-12)


def test_a_block_sticks_until_it_is_pushed_hard_enough():
    stepper = block()
    for _ in range(5):
        _, q, v = stepper.advance(0.1, 4.0)
        assert (*q, *v) == (0, 0, 0, 0)
    for _ in range(5):
        _, q, v = stepper.advance(0.1, 7.0)
    assert q[0] == pytest.approx(0.25)  # ½ (7 − 5) 0.5²
    for _ in range(10):
        _, q, v = stepper.advance(0.1, 0.0)
    assert v[0] == 0
    assert q[0] == pytest.approx(0.25 + 0.1)  # v²/2μg
    _, q, v = stepper.advance(0.1, -7.0)
    assert v[0] == pytest.approx(-0.2)


def test_an_input_that_rises_breaks_loose_where_it_is_as_large_as_friction():
    stepper = block()
    stepper.advance(0.1, 0.0)
    _, _, v = stepper.advance(1.0, 10.0, interpolate=True)
    assert v[0] == pytest.approx(10 * 0.5**2 / 2)  # from F = 5 on
    _, _, after = stepper.advance(0.1, 5.0)
    assert after[0] == pytest.approx(v[0])


def test_what_stops_the_motion_leaves_the_stepper_where_it_was():
    system, start = contact.painleve(2.0, -1, 0)
    stepper = zw.Stepper(system, start)
    for _ in range(2):
        with pytest.raises(SimulationError, match="Painlevé") as caught:
            stepper.advance(0.01)
        assert caught.value.status == "no solution"
        assert stepper.t == 0


def test_a_start_beyond_a_limit_is_refused_and_laws_are_known():
    system, start = contact.ball(0.5)
    height = system.coordinates[0]
    with pytest.raises(InputError, match="beyond the limit 'floor' by 1"):
        zw.Stepper(system, {height: -1, dot(height): 0}).advance(0.1)
    with pytest.raises(InputError, match="impacts='newton' is unknown"):
        zw.Stepper(system, start, impacts="newton")
    for law, after in (("moreau", 2 / 3), ("sequential", 1)):
        _, _, v = zw.Stepper(*contact.chain((1, 1, 1), 1), impacts=law).advance(0.1)
        assert v[2] == pytest.approx(after)


def test_a_guide_sticks_and_slides_in_a_stepper_too():
    rail = zw.Constraint(sp.Eq(y, 0), "rail", friction=0.3, slip=dot(x))
    drawer = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, forces={x: zw.t, y: -5}, constraints=[rail])
    stepper = zw.Stepper(drawer, {x: 0, y: 0, dot(x): 0, dot(y): 0})
    _, q, v = stepper.advance(1.0)
    assert not q.any()
    assert not v.any()
    _, _, v = stepper.advance(2.0)
    assert v[0] == pytest.approx(1.125, rel=1e-9)  # (t − 1.5)²/2 at t = 3


def test_a_stepper_begins_anew_after_a_reset():
    system, start = contact.ball(0.8)
    stepper = zw.Stepper(system, start, tol=1e-12)
    first = [stepper.advance(0.25) for _ in range(10)]
    stepper.reset()
    again = [stepper.advance(0.25) for _ in range(10)]
    assert np.array_equal(first[-1][1], again[-1][1])
