"""Thousands of contacts of one body, as one line of a file makes them: nothing is quadratic in them."""

import resource

import pytest

import zwang as zw
from zwang import dot

y = zw.coordinates("y")


def on_floors(count, apart=0.0):
    """A ball above so many floors, one below the other, or all at one height."""
    floors = [zw.Constraint(y + i * apart >= 0, f"floor{i}", restitution=0.5) for i in range(count)]
    return zw.System((y,), kinetic=dot(y) ** 2 / 2, potential=9.81 * y, constraints=floors)


def test_thousands_of_open_contacts_take_megabytes():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    motion = zw.simulate(on_floors(3000), {y: 1, dot(y): 0}, until=0.2, samples=2)
    assert motion.q.values[-1, 0] == pytest.approx(1 - 9.81 * 0.2**2 / 2)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kB; 3000² numbers are 72,000


def test_a_ball_bounces_on_the_uppermost_of_many_floors():
    motion = zw.simulate(on_floors(300, 0.01), {y: 1, dot(y): 0}, until=0.6, samples=2)
    assert motion.transition_contact.values.tolist() == ["floor0"]
    assert motion.transition_time.values[0] == pytest.approx((2 / 9.81) ** 0.5)


def test_more_contacts_that_close_at_once_than_can_be_told_apart_stop_the_motion_by_number():
    motion = zw.simulate(on_floors(1500), {y: 1, dot(y): 0}, until=0.6, samples=3, throw=False)
    assert motion.attrs["status"] != "finished"
    assert "1,500 contacts" in motion.attrs["message"]
    assert motion.sizes["time"] == 2  # what came before is there
