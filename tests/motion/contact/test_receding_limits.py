"""A contact that is closed at the start, and whose limit recedes slowly: what presses follows it."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot

x, y = zw.coordinates("x y")
RATES = [1e-13, 1e-11, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5]


def follower(rate, height, press, restitution=0.0, shape=sp.sin):
    """A follower that a force presses onto a limit which recedes from under it."""
    cam = zw.Constraint(y - height + rate * shape(zw.t) >= 0, "cam", restitution=restitution)
    return zw.System((y,), kinetic=dot(y) ** 2 / 2, potential=press * y, constraints=[cam])


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("height", "press"), [(0.05, 133.0), (0.0, 9.81), (-7.0, 9.81)])
def test_what_presses_follows_a_limit_that_recedes_however_slowly(rate, height, press):
    motion = zw.simulate(follower(rate, height, press), {y: height, dot(y): 0}, until=1.0, samples=5)
    on_the_limit = height - rate * np.sin(motion.time.values)  # it recedes with less than the press accelerates
    assert motion.attrs["status"] == "finished"
    assert motion.q.values[:, 0] == pytest.approx(on_the_limit, abs=1e-13 * max(1, abs(height)))
    assert motion["mode"].values[-1, 0] == "closed"


@pytest.mark.parametrize("restitution", [0.3, 0.9])
def test_bounces_that_rounding_hides_are_left_out(restitution):
    motion = zw.simulate(follower(1e-8, 0.05, 133.0, restitution), {y: 0.05, dot(y): 0}, until=1.0, samples=5)
    assert motion.attrs["status"] == "finished"
    assert motion.q.values[:, 0] == pytest.approx(0.05 - 1e-8 * np.sin(motion.time.values), abs=3e-14)


def test_a_limit_that_recedes_faster_than_loads_follow_is_left():
    motion = zw.simulate(follower(1e-3, 0.05, 1e-2), {y: 0.05, dot(y): 0}, until=0.1, samples=3)
    assert motion["mode"].values[-1, 0] == "open"  # 1e-3·0.1 is more than 1e-2·0.1²/2
    assert motion.q.values[-1, 0] == pytest.approx(0.05 - 1e-2 * 0.1**2 / 2, abs=1e-14)


def test_a_table_with_a_dwell_that_rings_is_followed():
    turned = np.linspace(0, 2, 21)
    lift = zw.Signal(turned, 0.05 * np.where(turned < 1, 0, np.sin(np.pi * (turned - 1) / 2) ** 2), "cubic")
    given = zw.coordinates("h")
    cam = zw.Constraint(y - 0.05 - given >= 0, "cam")
    spring = 1000 * (y - 0.03) ** 2
    kinetic = 0.3 * dot(y) ** 2 / 2
    system = zw.System((y,), kinetic=kinetic, potential=spring, constraints=[cam], parameters={given: lift})
    motion = zw.simulate(system, {y: 0.05, dot(y): 0}, until=1.0, samples=5)
    assert motion.attrs["status"] == "finished"
    assert motion.q.values[:, 0] == pytest.approx(0.05 + np.array([lift(s) for s in motion.time.values]), abs=1e-14)


def test_a_block_on_a_floor_that_sinks_sticks_to_it():
    floor = zw.Constraint(y + 1e-8 * zw.t >= 0, "floor", friction=0.5, slip=dot(x), restitution=0)
    kinetic = (dot(x) ** 2 + dot(y) ** 2) / 2
    block = zw.System((x, y), kinetic=kinetic, potential=9.81 * y, forces={x: 3}, constraints=[floor])
    start = {x: 0, y: 0, dot(x): 0, dot(y): 0}
    motion = zw.simulate(block, start, until=1.0, samples=3)
    assert motion["mode"].values[-1, 0] == "sticking"
    assert motion.q.values[-1] == pytest.approx([0, -1e-8], abs=1e-15)
    stepper = zw.Stepper(block, start)
    for _ in range(4):
        _, q, _ = stepper.advance(0.25)
    assert q == pytest.approx([0, -1e-8], abs=1e-15)


def test_after_a_reset_a_limit_that_recedes_slowly_is_followed_too():
    back = zw.Event(zw.t - 0.5, "back", reset={dot(y): 0})
    system = follower(1e-8, 0.05, 133.0)
    motion = zw.simulate(system, {y: 0.05, dot(y): 0}, until=1.0, samples=5, events=[back])
    assert motion.attrs["status"] == "finished"
    assert motion.q.values[-1, 0] == pytest.approx(0.05 - 1e-8 * np.sin(1.0), abs=1e-14)
