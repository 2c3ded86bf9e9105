"""A run in which rounding costs the tolerance ends, and says so."""

import time

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb
from zwang import t
from zwang.engines.rounding import drowns

OFF, BEFORE, SPEED = 1e-9, 1e-3, 2 * np.pi


def hooke():
    """Shafts at a right angle but for 1e-9, the first driven from 1e-3 before where the second would whirl round.

    tan φ = tan θ cos β: at θ = ½π the second shaft turns by half a turn within 1e-9 rad of the first.
    """
    corner, theta = np.pi / 2 - OFF, np.pi / 2 - BEFORE
    c, s = np.cos(corner), np.sin(corner)
    phi = np.arctan(np.tan(theta) * c)
    drive = mb.Body("drive", 1.0, (0.01, 0.05, 0.05), position=(-0.5, 0, 0), angular_velocity=(SPEED, 0, 0))
    turned = (np.cos(corner / 2), 0, 0, np.sin(corner / 2))
    wheel = mb.Body(
        "wheel",
        2.0,
        (0.05, 0.125, 0.125),
        position=(c / 2, s / 2, 0),
        orientation=turned,
    )
    axes = (0, -np.sin(theta), np.cos(theta)), (-s * np.cos(phi), c * np.cos(phi), np.sin(phi))
    bearing = mb.Revolute("bearing", mb.ground, drive, at=(-1, 0, 0), axis=(1, 0, 0))
    joints = [
        bearing,
        mb.Universal("cross", drive, wheel, at=(0, 0, 0), axes=axes),
        mb.PointOnLine("far end", mb.ground, wheel, at=(c, s, 0), axis=(c, s, 0)),
        mb.Driver("motor", bearing, motion=SPEED * t),
    ]
    return mb.Mechanism([drive, wheel], joints)


@pytest.mark.parametrize("options", [{}, {"tol": 1e-6}, {"drift": "projection"}, {"method": "lsoda"}], ids=str)
def test_a_driven_universal_joint_almost_at_a_right_angle_ends(options):
    mechanism = hooke()
    began = time.process_time()
    motion = zw.simulate(mechanism.system, mechanism.start, 1.0, samples=3, throw=False, **options)
    assert time.process_time() - began < 20
    assert motion.attrs["status"] in ("singular", "step too small")
    reached = float(motion.attrs["message"].split("t = ")[1].split(":")[0])
    assert 0.5 * BEFORE / SPEED < reached < BEFORE / SPEED


def test_samples_that_creep_in_lanes_end():
    mechanism = hooke()
    starts = {c: np.full(8, float(value)) for c, value in mechanism.start.items()}
    began = time.process_time()
    motion = zw.simulate_many(mechanism.system, starts, 1.0, samples=3)
    assert time.process_time() - began < 60
    assert set(motion.status.values) <= {"singular", "step too small"}


def test_a_sample_that_takes_many_steps_goes_on_where_it_was(monkeypatch):
    # x = cos ωt: the fast samples need more steps than the first look allows, and are as right as the others
    x, w = zw.coordinates("x"), zw.parameters("w")
    system = zw.System((x,), kinetic=zw.dot(x) ** 2 / 2, potential=w**2 * x**2 / 2)
    speeds = np.array([1.0, 2, 3, 40, 5, 6, 7, 80, 9])
    options = {"samples": 3, "parameters": {w: speeds}, "tol": 1e-11}
    plain = zw.simulate_many(system, {x: 1.0, zw.dot(x): 0.0}, 10.0, **options)
    monkeypatch.setattr("zwang.motion.ensemble.together.MANY_STEPS", 100)
    looked_at = zw.simulate_many(system, {x: 1.0, zw.dot(x): 0.0}, 10.0, **options)
    assert (looked_at.status == "finished").all()
    assert np.allclose(looked_at.q.values[:, -1, 0], np.cos(10 * speeds), rtol=0, atol=1e-7)
    assert np.allclose(looked_at.q, plain.q, rtol=0, atol=1e-9)


def test_short_steps_alone_are_no_reason_to_stop():
    # a wheel at 1e4 rad/s needs 1e8 steps for an hour, and its accelerations are known to the last digits
    def slope(y):
        return np.array([y[1], -1e8 * y[0]])

    y = np.array([0.6, 8e3])
    assert not drowns(slope, y, 1e-12, 3e-5, 3600.0, 1e7)
    assert drowns(lambda y: slope(y) + 1e6 * np.sin(1e12 * y), y, 1e-12, 3e-5, 3600.0, 1e7)
