"""Stops of joints: impacts at the ends of a range, by closed forms, and what is refused."""

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb
from zwang.errors import InputError

EXACT = 1e-11


def bar(where, spin=0.0):
    """A bar that turns about one of its ends, in the plane or in space."""
    if where == "plane":
        body = mb.PlanarBody("bar", 1, 1 / 12, position=(0.5, 0), velocity=(0, spin / 2), spin=spin)
        return body, mb.Revolute("pin", mb.ground, body, at=(0, 0))
    body = mb.Body("bar", 1, (0.01, 1 / 12, 1 / 12), position=(0.5, 0, 0), velocity=(0, spin / 2, 0),
                   angular_velocity=(0, 0, spin))  # fmt: skip
    return body, mb.Revolute("pin", mb.ground, body, at=(0, 0, 0), axis=(0, 0, 1))


@pytest.mark.parametrize("where", ["plane", "space"])
def test_a_free_bar_goes_to_and_fro_between_its_stops(where):
    body, pin = bar(where, spin=2.0)
    stop = mb.Stop("stop", pin, lower=-0.5, upper=2.5, restitution=0.5)
    motion = zw.simulate(mb.Mechanism([body], [pin, stop]), until=10, tol=1e-13)
    assert motion.transition_contact.values.tolist()[:2] == ["stop.upper", "stop.lower"]
    times = [2.5 / 2, 2.5 / 2 + 3 / 1, 2.5 / 2 + 3 / 1 + 3 / 0.5]
    assert np.allclose(motion.transition_time.values[:2], times[:2], rtol=EXACT)


@pytest.mark.parametrize("where", ["plane", "space"])
def test_a_falling_bar_rests_on_its_stop(where):
    body, pin = bar(where)
    stop = mb.Stop("stop", pin, lower=-1, upper=1)
    weight = mb.Gravity((0, -9.81) if where == "plane" else (0, -9.81, 0))
    mechanism = mb.Mechanism([body], [pin, stop], [weight])
    motion = zw.simulate(mechanism, until=2, tol=1e-13)
    assert motion.transition_kind.values.tolist() == ["impact"]
    assert motion.normal_force.sel(contact="stop.lower").values[-1] == pytest.approx(9.81 / 2 * np.cos(1), rel=1e-10)
    angle = mechanism.coordinates(motion).angle.sel(joint="pin").values[-1]
    assert angle == pytest.approx(-1, abs=1e-12)


def test_an_angle_in_space_may_have_a_range_that_passes_half_a_turn():
    body, pin = bar("space", spin=2.0)
    stop = mb.Stop("stop", pin, lower=-0.5, upper=5.0, restitution=1)
    motion = zw.simulate(mb.Mechanism([body], [pin, stop]), until=4, tol=1e-13)
    assert motion.transition_time.values[0] == pytest.approx(2.5, rel=EXACT)
    assert motion.transition_contact.values[0] == "stop.upper"


def test_a_slider_meets_a_stop():
    block = mb.PlanarBody("block", 2, 1, position=(0, 0), velocity=(3, 0))
    rail = mb.Prismatic("rail", mb.ground, block, at=(0, 0), axis=(1, 0))
    stop = mb.Stop("stop", rail, upper=1.5, restitution=0.4)
    motion = zw.simulate(mb.Mechanism([block], [rail, stop]), until=1)
    assert motion.transition_time.values.tolist() == pytest.approx([0.5], rel=EXACT)
    assert motion.v.values[-1, 0] == pytest.approx(-1.2, rel=EXACT)
    assert motion.impulse.values[0].tolist() == pytest.approx([2 * 4.2], rel=EXACT)


@pytest.mark.by_size(reason="contacts run on straight-line code, and bits are of one kind of code")
def test_a_range_that_is_never_left_changes_no_bit():
    body, pin = bar("plane", spin=2.0)
    free = zw.simulate(mb.Mechanism([body], [pin], [mb.Gravity((0, -1))]), until=1)
    body, pin = bar("plane", spin=2.0)
    stop = mb.Stop("stop", pin, lower=-9, upper=9)
    held = zw.simulate(mb.Mechanism([body], [pin, stop], [mb.Gravity((0, -1))]), until=1)
    assert (held.q.values == free.q.values).all()
    assert (held.v.values == free.v.values).all()


BODY, PIN = bar("plane")
SOLID, HINGE = bar("space")
SLEEVE = mb.Cylindrical("sleeve", mb.ground, SOLID, at=(0, 0, 0), axis=(0, 0, 1))


@pytest.mark.parametrize(
    ("joint", "given", "words", "where"),
    [
        (PIN, {}, "has no end: give lower, upper, or both", ("lower",)),
        (PIN, {"lower": 1, "upper": 1}, "nothing is between", ("upper",)),
        (PIN, {"lower": "a"}, "lower", ("lower",)),
        (PIN, {"upper": 1, "restitution": -1}, "restitution is -1, but must be from 0", ("restitution",)),
        (BODY, {"upper": 1}, "is not a joint", ("joint",)),
        (SLEEVE, {"upper": 1}, "several coordinates: choose coordinate=", ("joint",)),
        (PIN, {"upper": 1, "coordinate": "travel"}, "has no coordinate 'travel'", ("coordinate",)),
        (HINGE, {"upper": 1}, "an angle in space needs both ends", ("lower",)),
        (HINGE, {"lower": 0, "upper": 7}, "known within a turn only", ("upper",)),
    ],
)
def test_what_cannot_be_a_stop_is_refused_at_its_argument(joint, given, words, where):
    with pytest.raises(InputError, match=f"stop 's'.*{words}") as caught:
        mb.Stop("s", joint, **given)
    assert caught.value.mistakes[0].where == where
