"""Angles of joints in space: they begin where the description says, and no turn is lost between samples."""

import warnings

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import multibody as mb
from zwang import t

PI = np.pi


def wheel(reading=0.0, spin=0.0, name="wheel", at=0.0):
    """A wheel on a pin about z, in space."""
    rates = {"angular_velocity": (0, 0, spin)} if spin else {}  # zero would be stated, too
    body = mb.Body(name, 1.0, (0.1, 0.1, 0.1), position=(at, 0, 0), **rates)
    return body, mb.Revolute(f"{name} pin", mb.ground, body, at=(at, 0, 0), axis=(0, 0, 1), reading=reading)


def angle_of(bodies, joints, until, forces=(), parameters=None, **options):
    """The angle of the first joint, and the times."""
    mechanism = mb.Mechanism(bodies, joints, forces, parameters or {})
    motion = zw.simulate(mechanism.system, mechanism.start, until, **options)
    return mechanism.coordinates(motion).angle.values[:, 0], motion.time.values


@pytest.mark.parametrize("samples", [2, 7, 201])
@pytest.mark.parametrize("rpm", [-3000, 40, 3000])
def test_turns_between_samples_are_counted(rpm, samples):
    body, pin = wheel(spin=rpm * PI / 30)
    angle, time = angle_of([body], [pin], 2.0, samples=samples, tol=1e-10)
    assert np.abs(angle - rpm * PI / 30 * time).max() < 1e-5


@pytest.mark.parametrize("samples", [2, 6, 41])
@pytest.mark.parametrize(
    "speed",
    [
        2 * sp.pi * sp.cos(2 * sp.pi * t),  # to and fro: it stands as it was at every whole second, at the same speed
        2 * sp.pi * (1 - sp.cos(2 * sp.pi * t)),  # a turn a second: it stands still at every whole second
        60 * t * sp.exp(-t),
        9 * sp.sin(17 * t) + 40 * sp.sin(t) ** 8,
    ],
)
def test_turns_of_an_uneven_motion_are_counted(speed, samples):
    """The angle is the integral of the speed, whatever the samples show of it."""
    body, pin = wheel(reading=0.5)
    motor = mb.Driver("motor", pin, speed=speed)
    angle, time = angle_of([body], [pin, motor], 5.0, samples=samples, tol=1e-9)
    s = sp.Symbol("s")
    expected = sp.lambdify(s, sp.integrate(sp.expand(speed.rewrite(sp.exp).subs(t, s)), s))
    value = np.real(expected(time + 0j) - expected(0j))
    assert np.abs(angle - 0.5 - value).max() < 1e-5


@pytest.mark.parametrize("method", ["native", "taylor", "radau", "lsoda"])
def test_turns_are_counted_whatever_the_engine(method):
    """θ̈ = 25: 8 turns in 2 s, of which six samples show little."""
    if method == "taylor":
        pytest.importorskip("heyoka")
    body, pin = wheel()
    forces = [mb.Actuator("motor", pin, 2.5)]
    angle, time = angle_of([body], [pin], 2.0, forces, samples=6, method=method, tol=1e-7)
    assert np.abs(angle - 12.5 * time**2).max() < 1e-3


@pytest.mark.parametrize("reading", [4.0, -4.0, 7.0, 30.0, PI, -PI])
def test_an_angle_begins_at_its_reading(reading):
    body, pin = wheel(reading, spin=1.0)
    angle, time = angle_of([body], [pin], 1.0, samples=5)
    assert np.abs(angle - reading - time).max() < 1e-10


@pytest.mark.parametrize("motion", [7 + t, -20 - 3 * t, 100 * sp.pi * t, 7 + sp.sin(40 * t)])
def test_a_driven_angle_is_the_motion_that_drives_it(motion):
    body, pin = wheel()
    angle, time = angle_of([body], [pin, mb.Driver("motor", pin, motion=motion)], 2.0, samples=5, tol=1e-9)
    assert np.abs(angle - sp.lambdify(t, motion)(time)).max() < 1e-6


def test_a_driven_angle_follows_its_parameters():
    """The motion's own values, not the mechanism's."""
    w = sp.Symbol("w")
    body, pin = wheel()
    mechanism = mb.Mechanism([body], [pin, mb.Driver("motor", pin, motion=9 + w * t)], parameters={w: 1})
    start = mechanism.assembled({w: 80})
    motion = zw.simulate(mechanism.system, start, 1.0, parameters={w: 80}, samples=4)
    assert np.abs(mechanism.coordinates(motion).angle[:, 0] - 9 - 80 * motion.time).max() < 1e-9


def test_a_screw_counts_by_its_travel():
    bolt = mb.Body("bolt", 3.0, (0.5, 0.5, 0.02), position=(0, 0, 1))
    thread = mb.Screw("thread", mb.ground, bolt, at=(0, 0, 0), axis=(0, 0, 1), pitch=0.05)
    mechanism = mb.Mechanism([bolt], [thread], [mb.Gravity((0, 0, -9.81))])
    found = mechanism.coordinates(zw.simulate(mechanism.system, mechanism.start, 3.0, samples=3))
    k = 0.05 / (2 * PI)
    fall = -3 * 9.81 * k / (0.02 + 3 * k**2) * 9 / 2  # θ̈ = −m g k/(J + m k²)
    assert abs(fall) > 50
    assert abs(float(found.angle[-1, 0]) - fall) < 1e-8


@pytest.mark.parametrize("samples", [2, 31])
def test_geared_and_coupled_angles_are_counted(samples):
    """Ratio −2.5 from a driven wheel that begins at 7: 2.5 times as many turns, from its own reading."""
    (a, one), (b, two) = wheel(name="a"), wheel(reading=20.0, name="b", at=3.0)
    joints = [one, two, mb.Gear("mesh", one, two, ratio=-2.5), mb.Driver("motor", one, motion=7 + 30 * t)]
    mechanism = mb.Mechanism([a, b], joints)
    motion = zw.simulate(mechanism.system, mechanism.start, 2.0, samples=samples)
    found = mechanism.coordinates(motion).angle.values
    expected = np.stack([7 + 30 * motion.time, 20 - 75 * motion.time], axis=1)
    assert np.abs(found - expected).max() < 1e-6


@pytest.mark.parametrize("kind", ["Cylindrical", "Planar", "Universal"])
def test_every_angle_in_space_is_counted(kind):
    body = mb.Body("body", 1.0, (0.1, 0.1, 0.1), angular_velocity=(0, 0, 90))
    joint = {
        "Cylindrical": lambda: mb.Cylindrical("j", mb.ground, body, (0, 0, 0), (0, 0, 1)),
        "Planar": lambda: mb.Planar("j", mb.ground, body, (0, 0, 0), (0, 0, 1)),
        "Universal": lambda: mb.Universal("j", mb.ground, body, (0, 0, 0), ((0, 0, 1), (1, 0, 0))),
    }[kind]()
    mechanism = mb.Mechanism([body], [joint])
    motion = zw.simulate(mechanism.system, mechanism.start, 1.0, samples=5)
    name = "angle1" if kind == "Universal" else "angle"
    assert np.abs(mechanism.coordinates(motion)[name][:, 0] - 90 * motion.time).max() < 1e-8


def test_turns_before_the_first_sample_are_counted():
    """Samples that begin later, from the start as described; a part of a motion, likewise."""
    body, pin = wheel(reading=4.0, spin=50.0)
    mechanism = mb.Mechanism([body], [pin])
    motion = zw.simulate(mechanism.system, mechanism.start, 3.0, times=[1.0, 1.5, 2.9], tol=1e-10)
    for part in (motion, motion.isel(time=[2])):
        assert np.abs(mechanism.coordinates(part).angle[:, 0] - 4 - 50 * part.time).max() < 1e-5


def test_a_start_of_ones_own_is_counted_from():
    """Another speed than described, and another time at the start."""
    body, pin = wheel(reading=4.0)
    mechanism = mb.Mechanism([body], [pin, mb.Driver("motor", pin, speed=70)])
    motion = zw.simulate(mechanism.system, mechanism.start, 7.0, t=5.0, samples=3)
    assert np.abs(mechanism.coordinates(motion).angle[:, 0] - 4 - 70 * (motion.time - 5)).max() < 1e-8


def test_what_cannot_be_counted_is_said():
    """The motion of another system: its samples are too far apart, and nothing can be computed between them."""
    body, pin = wheel()
    mechanism = mb.Mechanism([body], [pin], [mb.Actuator("motor", pin, 2.5)])
    other = mb.Mechanism([body], [pin], [mb.Actuator("motor", pin, 2.6)])
    motion = zw.simulate(other.system, other.start, 2.0, samples=6)
    with pytest.warns(UserWarning, match=r"turns of .*wheel pin.* not vouched for"):
        found = mechanism.coordinates(motion)
    assert "not vouched for" in found.angle.attrs["turns"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "turns" not in other.coordinates(motion).angle.attrs


def test_samples_that_show_every_turn_are_enough():
    """A pendulum that goes over the top, with many samples: nothing is computed again, and the count is right."""
    body = mb.Body("rod", 1.0, (0.02, 0.1, 0.1), position=(0.5, 0, 0), velocity=(0, 0, 4), angular_velocity=(0, -8, 0))
    pin = mb.Revolute("pin", mb.ground, body, at=(0, 0, 0), axis=(0, -1, 0))
    mechanism = mb.Mechanism([body], [pin], [mb.Gravity((0, 0, -9.81))])
    fine, coarse = (zw.simulate(mechanism.system, mechanism.start, 4.0, samples=n, tol=1e-10) for n in (2001, 5))
    angle = mechanism.coordinates(fine).angle.values[::500, 0]
    assert angle[-1] > 4 * PI
    assert np.abs(mechanism.coordinates(coarse).angle.values[:, 0] - angle).max() < 1e-6
