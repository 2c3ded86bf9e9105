"""Friction in joints from the force that they carry: closed forms, and the pendulum in its angle, solved by hand."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import zwang as zw
from zwang import multibody as mb
from zwang.errors import InputError
from zwang.files.read import read_model

G, MU, R = 9.81, 0.2, 0.05


def wheel(where, spin):
    """A balanced wheel on a pin, in the plane or about the y axis in space."""
    if where == "plane":
        body = mb.PlanarBody("wheel", 2, 0.5, spin=spin)
        return body, mb.Revolute("pin", mb.ground, body, at=(0, 0)), mb.Gravity((0, -G))
    body = mb.Body("wheel", 2, (0.5, 0.5, 0.5), angular_velocity=(0, spin, 0))
    return body, mb.Revolute("pin", mb.ground, body, at=(0, 0, 0), axis=(0, 1, 0)), mb.Gravity((0, 0, -G))


@pytest.mark.both_codes
@pytest.mark.parametrize("where", ["plane", "space"])
@pytest.mark.parametrize("spin", [3.0, -3.0])
def test_a_wheel_is_slowed_by_its_weight_on_the_pin(where, spin, code):
    body, pin, weight = wheel(where, spin)
    rub = mb.JointFriction("journal", pin, mu=MU, radius=R)
    mechanism = mb.Mechanism([body], [pin], [weight, rub])
    motion = zw.simulate(mechanism, until=5)
    slowed = 3 - MU * R * 2 * G / 0.5 * 5
    rate = mechanism.coordinates(motion).angle_rate.sel(joint="pin").values[-1]
    assert rate == pytest.approx(np.sign(spin) * slowed, rel=1e-10)
    power = mechanism.energies(motion).power.sel(element="journal").values
    assert power[0] == pytest.approx(-MU * R * 2 * G * 3, rel=1e-12)
    assert power == pytest.approx(motion.nonideal_power.values, rel=1e-10)
    assert float(abs(motion.energy_balance).max()) < 1e-10


@pytest.mark.both_codes
@pytest.mark.parametrize("where", ["plane", "space"])
def test_a_joint_rubs_in_both_ways_at_once(where, code):
    # 0.5 ω' = −c ω − μ r m g, solved by hand.
    body, pin, weight = wheel(where, 3.0)
    c, torque, until = 0.1, MU * R * 2 * G, 2.0
    rub = mb.JointFriction("journal", pin, c, mu=MU, radius=R)
    mechanism = mb.Mechanism([body], [pin], [weight, rub])
    rate = mechanism.coordinates(zw.simulate(mechanism, until=until)).angle_rate.sel(joint="pin").values[-1]
    assert rate == pytest.approx((3 + torque / c) * np.exp(-c * until / 0.5) - torque / c, rel=1e-10)


def test_along_the_axis_a_pin_does_not_rub():
    body, pin, _ = wheel("space", 3.0)
    rub = mb.JointFriction("journal", pin, mu=MU, radius=R)
    motion = zw.simulate(mb.Mechanism([body], [pin], [mb.Gravity((0.3, -G, 0)), rub]), until=1)
    assert motion.nonideal_power.values[0] == pytest.approx(-MU * R * 2 * 0.3 * 3, rel=1e-12)


def test_a_pendulum_in_its_journal_moves_as_the_equation_in_its_angle():
    # J a = −m g l sin θ − μ r |F| sign ω, and F is m times the acceleration of the centre, less the weight.
    m, l, inertia = 2.0, 0.5, 0.1
    bob = mb.PlanarBody("bob", m, inertia, position=(l, 0))
    pin = mb.Revolute("pin", mb.ground, bob, at=(0, 0))
    rub = mb.JointFriction("journal", pin, mu=MU, radius=R)
    motion = zw.simulate(mb.Mechanism([bob], [pin], [mb.Gravity((0, -G)), rub]), until=0.5, tol=1e-13)

    def acceleration(angle, rate):
        def off(a):
            s, c = np.sin(angle), np.cos(angle)
            force = m * np.array([-l * s * a - l * c * rate**2, l * c * a - l * s * rate**2 + G])
            return (inertia + m * l**2) * a + m * G * l * c + MU * R * np.hypot(*force) * np.sign(rate or -1)

        return brentq(off, -200, 200, xtol=1e-14, rtol=1e-15)

    path = solve_ivp(lambda t, y: (y[1], acceleration(*y)), (0, 0.5), (0, 0), "DOP853", rtol=1e-11, atol=1e-12)
    # released from rest, where the sign of the rate is not known at once: friction begins with the motion
    assert motion.q.values[-1, 2] == pytest.approx(path.y[0, -1], rel=1e-9)


def test_a_slider_rubs_by_what_presses_on_its_guide():
    block = mb.PlanarBody("block", 2, 1, velocity=(3, 0))
    guide = mb.Prismatic("guide", mb.ground, block, at=(0, 0), axis=(1, 0))
    rub = mb.JointFriction("rub", guide, mu=MU, coefficient=0.1)
    motion = zw.simulate(mb.Mechanism([block], [guide], [mb.Gravity((0, -G)), rub]), until=1)
    # m v̇ = −c v − μ m g
    k, end = 0.1 / 2, MU * G
    assert motion.v.values[-1, 0] == pytest.approx((3 + end / k) * np.exp(-k) - end / k, rel=1e-10)


def test_a_journal_comes_to_rest_and_is_held():
    """ω falls by μ r m g / J; then nothing turns, and nothing has to be held."""
    body, pin, weight = wheel("plane", 0.1)
    rub = mb.JointFriction("journal", pin, mu=MU, radius=R)
    motion = zw.simulate(mb.Mechanism([body], [pin], [weight, rub]), until=5)
    assert motion.rest_switch.values.tolist() == ["wheel.angle' = 0"]
    slows = MU * R * float(np.hypot(*motion.multiplier.values[-1][:2])) / 0.5
    assert motion.rest_begin.values == pytest.approx([0.1 / slows], rel=1e-9)
    assert motion.v.values[-1] == pytest.approx(0, abs=1e-20)
    assert motion.doubts == ""


def test_a_pendulum_hangs_aside_in_a_journal_that_rubs():
    """It rests where its weight has a torque below μ r |F|, here m g μ r, and its friction balances that."""
    rod = mb.PlanarBody("rod", 2, 0.5, position=(0.3, 0))
    pin = mb.Revolute("pin", mb.ground, rod, at=(0, 0))
    rub = mb.JointFriction("journal", pin, mu=0.5, radius=0.1)
    motion = zw.simulate(mb.Mechanism([rod], [pin], [mb.Gravity((0, -G)), rub]), until=30)
    [begin], [end] = motion.rest_begin.values, motion.rest_end.values
    assert begin < 10
    assert end == 30
    still = motion.sel(time=slice(begin + 0.1, None))
    assert np.ptp(still.q.values, axis=0).max() == 0
    assert still.a.values == pytest.approx(0, abs=1e-15)
    torque = 2 * G * float(still.q[-1, 0])
    assert 0 < abs(torque) < 0.5 * 0.1 * 2 * G
    # about the pin, all that the joint does beside carrying the weight
    x, y, _ = still.q.values[-1]
    force = still.constraint_force.values[-1]
    assert force[2] + x * force[1] - y * force[0] == pytest.approx(torque, rel=1e-12)


def test_a_four_bar_rests_in_four_journals_at_once():
    """One freedom, four frictions: as they depend on each other, their shares are those of least length."""
    crank_pin, rocker_pin = (0.6, 0.8), (2.0, 1.5)
    crank = mb.PlanarBody("crank", 1, 0.1, position=(0.3, 0.4))
    coupler = mb.PlanarBody("coupler", 2, 1.0, position=(1.3, 1.15))
    rocker = mb.PlanarBody("rocker", 1, 0.4, position=(2.5, 0.75))
    joints = [
        mb.Revolute("a", mb.ground, crank, at=(0, 0)),
        mb.Revolute("b", crank, coupler, at=crank_pin),
        mb.Revolute("c", coupler, rocker, at=rocker_pin),
        mb.Revolute("d", mb.ground, rocker, at=(3, 0)),
    ]
    rubs = [mb.JointFriction(f"rub_{j.name}", j, mu=0.3, radius=0.1) for j in joints]
    bodies = [crank, coupler, rocker]
    motion = zw.simulate(mb.Mechanism(bodies, joints, [mb.Gravity((0, -G)), *rubs]), until=20, samples=41)
    assert motion.doubts == ""
    assert motion.rest_end.values.tolist() == [20.0] * 4
    assert np.ptp(motion.q.values[-10:], axis=0).max() == 0
    assert motion.a.values[-1] == pytest.approx(0, abs=1e-15)


def test_a_model_file_has_the_same_friction():
    text = """
[bodies.wheel]
kind = "planar"
mass = 2
inertia = 0.5
spin = 3
[joints.pin]
kind = "revolute"
second = "wheel"
at = [0, 0]
[gravity]
acceleration = [0, -9.81]
[elements.journal]
kind = "joint-friction"
joint = "pin"
mu = 0.2
radius = 0.05
[run]
until = 1
"""
    motion = read_model(text).simulate()
    assert motion.v.values[-1, 2] == pytest.approx(3 - MU * R * 2 * G / 0.5, rel=1e-10)


BODY, PIN, _ = wheel("plane", 1)
GUIDE = mb.Prismatic("guide", mb.ground, BODY, at=(0, 0), axis=(1, 0))
SHAFT = mb.Cylindrical("shaft", mb.ground, mb.Body("b", 1, (1, 1, 1)), at=(0, 0, 0), axis=(0, 0, 1))


@pytest.mark.parametrize(
    ("joint", "given", "words", "where"),
    [
        (PIN, {}, "does nothing: give a coefficient, or mu", "coefficient"),
        (PIN, {"mu": -1, "radius": 1}, "its coefficient of friction is -1", "mu"),
        (PIN, {"mu": 0.1}, "a pin rubs at a radius", "radius"),
        (PIN, {"mu": 0.1, "radius": 0}, "its radius is 0, but it must be positive", "radius"),
        (PIN, {"coefficient": 1, "radius": 1}, "give mu, too", "mu"),
        (GUIDE, {"mu": 0.1, "radius": 1}, "leave the radius out", "radius"),
        (SHAFT, {"mu": 0.1, "coordinate": "angle"}, "joint 'shaft' has no reaction that rubs", "mu"),
    ],
)
def test_what_cannot_rub_is_refused_at_its_argument(joint, given, words, where):
    with pytest.raises(InputError, match=f"force element 'f'.*{words}") as caught:
        mb.JointFriction("f", joint, **given)
    assert caught.value.mistakes[0].where == (where,)
