"""Joint coordinates, drivers and couplings: turns are counted, what is driven is followed, at the torque it takes."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.multibody.scenes import FREEDOM_CASES, scene
from zwang import multibody as mb
from zwang import t

G = 9.81


def run(bodies, joints, until=1.0, samples=201, forces=(), parameters=None):
    """A mechanism and its motion."""
    mechanism = mb.Mechanism(bodies, joints=joints, forces=forces, parameters=parameters or {})
    motion = zw.simulate(mechanism.system, mechanism.start, until=until, samples=samples, drift="projection")
    return mechanism, motion


def crank(dimension, name="crank", at=0.0, reading=0.0, inertia=0.2, length=0.6):
    """A crank on a pin in the plane, or about y in space with the same senses; its centre to the right of the pin."""
    if dimension == 2:
        body = mb.PlanarBody(name, 1.5, inertia, position=(at + length, 0))
        return body, mb.Revolute(f"{name} pin", mb.ground, body, at=(at, 0), reading=reading)
    body = mb.Body(name, 1.5, (inertia,) * 3, position=(at + length, 0, 0))
    pin = mb.Revolute(f"{name} pin", mb.ground, body, at=(at, 0, 0), axis=(0, -1, 0), reading=reading)
    return body, pin


def down(dimension):
    """Gravity."""
    return [mb.Gravity((0, -G) if dimension == 2 else (0, 0, -G))]


@pytest.mark.parametrize("case", FREEDOM_CASES)
def test_rates_are_derivatives_of_coordinates(case):
    """Every joint coordinate at random motion: its rate, integrated, gives what it reads."""
    s = scene(case, seed=4)
    found = s.mechanism.coordinates(s.motion)
    time = s.motion.time.values
    assert s.mechanism.joints[0].freedoms
    for name in s.mechanism.joints[0].freedoms:
        reading, rate = found[name].values[:, 0], found[f"{name}_rate"].values[:, 0]
        assert abs(reading[0] - float(s.mechanism.joints[0].freedoms[name].start)) < 1e-13
        step = time[1] - time[0]
        # the integral over each pair of steps by Simpson's rule, error ~ h⁵
        gained = step * (rate[:-2:2] + 4 * rate[1:-1:2] + rate[2::2]) / 3
        assert np.abs(np.diff(reading[::2]) - gained).max() < 1e-5 * max(1, np.abs(rate).max())


@pytest.mark.parametrize("dimension", [2, 3])
def test_driver_is_followed_through_many_turns_at_the_torque_it_takes(dimension):
    """Angle = motion(t) over eight turns; the torque is (J + m l²) φ̈ + m g l cos φ."""
    body, pin = crank(dimension)
    phi = 4 * t**2 + sp.sin(3 * t) / 5
    mechanism, motion = run([body], [pin, mb.Driver("motor", pin, motion=phi)], 3.6, 401, down(dimension))
    time = motion.time.values
    angle = 4 * time**2 + np.sin(3 * time) / 5
    found = mechanism.coordinates(motion)
    assert angle[-1] > 8 * 2 * np.pi
    assert np.abs(found.angle[:, 0] - angle).max() < 1e-11
    assert np.abs(found.angle_rate[:, 0] - 8 * time - 0.6 * np.cos(3 * time)).max() < 1e-11
    torque = (0.2 + 1.5 * 0.36) * (8 - 1.8 * np.sin(3 * time)) + 1.5 * G * 0.6 * np.cos(angle)
    assert np.abs(motion.multiplier.sel(constraint="motor.motion") - torque).max() < 1e-9


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("first", [-2.9, 2.0, 2 * np.pi + 0.5])
def test_driver_that_starts_elsewhere_brings_its_joint_there(dimension, first):
    """The start is put together at motion(0), not half a turn off; the torque has the sign of the acceleration."""
    body, pin = crank(dimension, length=0)
    mechanism, motion = run([body], [pin, mb.Driver("motor", pin, motion=first + t**2)], 1.0, 11)
    off = mechanism.coordinates(motion).angle[:, 0] - (first + motion.time**2)
    assert np.abs(off).max() < 1e-12
    assert np.abs(motion.multiplier.sel(constraint="motor.motion") - 0.4).max() < 1e-11


@pytest.mark.parametrize("dimension", [2, 3])
def test_speed_driver_holds_the_rate(dimension):
    """angle = reading + ∫ speed."""
    body, pin = crank(dimension, reading=0.5)
    motor = mb.Driver("motor", pin, speed=5 + sp.cos(t), coordinate="angle")
    mechanism, motion = run([body], [pin, motor], 4.0, 201, down(dimension))
    time = motion.time.values
    found = mechanism.coordinates(motion)
    assert np.abs(found.angle[:, 0] - (0.5 + 5 * time + np.sin(time))).max() < 1e-9
    torque = motion.multiplier.sel(constraint="motor.speed")
    angle = 5 * time + np.sin(time)  # of the crank: the reading only counts from elsewhere
    assert np.abs(torque + 0.74 * np.sin(time) - 1.5 * G * 0.6 * np.cos(angle)).max() < 1e-8


@pytest.mark.parametrize("dimension", [2, 3])
def test_travel_driver_lifts_at_its_weight(dimension):
    """A lift: force m (g + ẍ)."""
    if dimension == 2:
        block, up, at = mb.PlanarBody("block", 2, 1), (0, 1), (0, 0)
    else:
        block, up, at = mb.Body("block", 2, (1, 1, 1)), (0, 0, 1), (0, 0, 0)
    guide = mb.Prismatic("guide", mb.ground, block, at=at, axis=up, reading=3)
    mechanism, motion = run([block], [guide, mb.Driver("lift", guide, motion=3 + t**2)], 1.0, 11, down(dimension))
    assert np.allclose(mechanism.coordinates(motion).travel[:, 0], 3 + motion.time**2, rtol=0, atol=1e-12)
    assert np.allclose(motion.multiplier.sel(constraint="lift.motion"), 2 * (G + 2), rtol=0, atol=1e-10)


def test_driver_follows_an_input():
    """The motion may be a known function of time."""
    alpha = sp.Function("alpha")(t)
    body, pin = crank(2)
    joints = [pin, mb.Driver("motor", pin, motion=alpha)]
    mechanism, motion = run([body], joints, 1.0, 21, parameters={alpha: sp.sin(3 * t)})
    assert np.abs(mechanism.coordinates(motion).angle[:, 0] - np.sin(3 * motion.time)).max() < 1e-12


def test_free_spin_is_counted():
    """Ten turns and more in space, from sine and cosine."""
    wheel = mb.Body("wheel", 1, (1, 1, 2), angular_velocity=(0, 0, 14))
    pin = mb.Revolute("pin", mb.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), reading=-1)
    mechanism, motion = run([wheel], [pin], 5.0, 101)
    assert np.abs(mechanism.coordinates(motion).angle[:, 0] - (14 * motion.time - 1)).max() < 1e-10


def test_screw_falls_as_it_turns():
    """θ̈ = −m g k/(J + m k²) with k = pitch/2π; travel = pitch × turns, over many turns."""
    m, J, pitch = 3.0, 0.02, 0.05
    bolt = mb.Body("bolt", m, (0.5, 0.5, J), position=(0, 0, 1))
    thread = mb.Screw("thread", mb.ground, bolt, at=(0, 0, 0), axis=(0, 0, 1), pitch=pitch)
    mechanism, motion = run([bolt], [thread], 3.0, 101, down(3))
    k = pitch / (2 * np.pi)
    angle = -m * G * k / (J + m * k**2) * motion.time**2 / 2
    assert abs(angle[-1]) > 8 * 2 * np.pi
    found = mechanism.coordinates(motion)
    assert np.abs(found.angle[:, 0] - angle).max() < 1e-9
    assert np.abs(found.travel[:, 0] - k * angle).max() < 1e-11


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("coupled", ["Gear", "Belt", "crossed Belt", "Coupling"])
def test_wheels_keep_their_ratio_through_many_turns(dimension, coupled):
    """angle₂ = ratio × angle₁; the torque is (J₁ + ratio² J₂) φ̈."""
    (a, one), (b, two) = crank(dimension, "a", 0, length=0), crank(dimension, "b", 3, reading=1, inertia=0.5, length=0)
    ratio = {"Belt": 0.4, "crossed Belt": -0.4}.get(coupled, -2.5)
    link = {
        "Gear": lambda: mb.Gear("link", one, two, ratio=-2.5),
        "Belt": lambda: mb.Belt("link", one, two, radii=(0.2, 0.5)),
        "crossed Belt": lambda: mb.Belt("link", one, two, radii=(0.2, 0.5), crossed=True),
        "Coupling": lambda: mb.Coupling("link", {one: 2.5, (two, "angle"): 1}, value=1),
    }[coupled]()
    motor = mb.Driver("motor", one, motion=5 * t**2)
    mechanism, motion = run([a, b], [one, two, link, motor], 2.0, 301)
    found = mechanism.coordinates(motion).angle.values
    time = motion.time.values
    assert found[-1, 0] > 3 * 2 * np.pi
    assert np.abs(found[:, 0] - 5 * time**2).max() < 1e-10
    assert np.abs(found[:, 1] - 1 - ratio * 5 * time**2).max() < 1e-9
    torque = motion.multiplier.sel(constraint="motor.motion")
    assert np.abs(torque - (0.2 + ratio**2 * 0.5) * 10).max() < 1e-9
    level = "position" if dimension == 2 else "velocity"
    assert next(c for c in mechanism.system.constraints if c.name.startswith("link.")).level == level


@pytest.mark.parametrize("dimension", [2, 3])
def test_rack_follows_its_pinion_in_positions(dimension):
    """A weight on a rack turns the pinion: travel = r angle; (m + J/r²) ẍ = −m g."""
    wheel, pin = crank(dimension, "wheel", 0, length=0)
    if dimension == 2:
        bar = mb.PlanarBody("bar", 2, 1, position=(1, 0))
        slide = mb.Prismatic("slide", mb.ground, bar, at=(1, 0), axis=(0, 1), reading=7)
    else:
        bar = mb.Body("bar", 2, (1, 1, 1), position=(1, 0, 0))
        slide = mb.Prismatic("slide", mb.ground, bar, at=(1, 0, 0), axis=(0, 0, 1), reading=7)
    rack = mb.Rack("teeth", pin, slide, radius=0.1)
    mechanism, motion = run([wheel, bar], [pin, slide, rack], 3.0, 201, down(dimension))
    travel = -2 * G / (2 + 0.2 / 0.01) * motion.time**2 / 2
    found = mechanism.coordinates(motion)
    assert np.abs(found.travel.sel(joint="slide") - 7 - travel).max() < 1e-11
    assert np.abs(found.angle.sel(joint="wheel pin") - travel / 0.1).max() < 1e-9
    assert abs(travel[-1] / 0.1) > 5 * 2 * np.pi
    assert mechanism.system.constraints[-1].level == "position"


def test_epicyclic_gear():
    """Ring fixed: with the sun and the planet on the carrier, carrier speed = sun speed/(1 + z_ring/z_sun)."""
    sun, carrier = mb.PlanarBody("sun", 1, 0.1), mb.PlanarBody("carrier", 1, 0.3)
    planet = mb.PlanarBody("planet", 0.5, 0.02, position=(0.3, 0))
    sun_pin = mb.Revolute("sun pin", carrier, sun, at=(0, 0))
    planet_pin = mb.Revolute("planet pin", carrier, planet, at=(0.3, 0))
    ring = mb.Revolute("ring", carrier, mb.ground, at=(0, 0))
    shaft = mb.Revolute("shaft", mb.ground, sun, at=(0, 0))
    gears = [mb.Gear("inner", sun_pin, planet_pin, ratio=-2), mb.Gear("outer", planet_pin, ring, ratio=0.25)]
    motor = mb.Driver("motor", shaft, motion=6 * t)
    _, motion = run([sun, planet, carrier], [sun_pin, planet_pin, ring, *gears, shaft, motor], 4.0, 101)
    turned = motion.q.sel(coordinate="carrier.angle")
    assert np.abs(turned - 6 * motion.time / 3).max() < 1e-10


@pytest.mark.parametrize("beta", [0.3, 0.9])
def test_universal_joint_turns_unevenly_as_hooke_found(beta):
    """ω₂/ω₁ = cos β/(1 − sin² β cos² θ), θ = 0 where the axis on the driving shaft is in the plane of both shafts."""
    along = np.array([np.cos(beta), np.sin(beta), 0])
    one = mb.Body("one", 1, (0.1, 0.2, 0.2), position=(-1, 0, 0))
    two = mb.Body("two", 1, (0.1, 0.2, 0.2), position=along, orientation=(np.cos(beta / 2), 0, 0, np.sin(beta / 2)))
    bearings = [
        mb.Revolute("in", mb.ground, one, at=(-1, 0, 0), axis=(1, 0, 0)),
        mb.Revolute("out", mb.ground, two, at=along, axis=along),
    ]
    hooke = mb.Universal("hooke", one, two, at=(0, 0, 0), axes=((0, 1, 0), (0, 0, 1)))
    motor = mb.Driver("motor", bearings[0], motion=3 * t)
    mechanism, motion = run([one, two], [*bearings, hooke, motor], 5.0, 201)
    found = mechanism.coordinates(motion)
    theta = 3 * motion.time.values
    ratio = np.cos(beta) / (1 - np.sin(beta) ** 2 * np.cos(theta) ** 2)
    assert np.abs(found.angle_rate.sel(joint="out") - 3 * ratio).max() < 1e-9
    expected = np.unwrap(np.arctan2(np.sin(theta), np.cos(beta) * np.cos(theta)))
    assert np.abs(found.angle.sel(joint="out") - expected).max() < 1e-9
    verdict = zw.diagnose(mechanism.system, mechanism.start)
    assert len(verdict.redundant) == 3  # two bearings too many, counted naively; and yet it turns
    assert not mechanism.reactions(motion).unique.all()


@pytest.mark.parametrize("dimension", [2, 3])
def test_condition_of_the_users_own(dimension):
    """A bead's height is the square of its way: the same as a curve."""
    place = (1, 1) if dimension == 2 else (1, 0, 1)
    motions = []
    for own in (True, False):
        bead = mb.Particle("bead", 1, position=place)
        x, *side, z = bead.point((0,) * dimension)
        if own:
            rules = {"height": sp.Eq(z, x**2)} | {f"side{i}": y for i, y in enumerate(side)}
            joint = mb.Condition("rule", rules)
        else:
            u = sp.Symbol("u")
            curve = (u, u**2) if dimension == 2 else (u, 0, u**2)
            joint = mb.PointOnCurve(
                "wire", mb.ground, bead, curve=curve, parameter=u, start=0.8
            )  # roughly: the bead itself is not moved
        motions.append(run([bead], [joint], 1.0, 21, down(dimension))[1])
    assert np.abs(motions[0].q.values - motions[1].q.values[:, :dimension]).max() < 1e-10


def test_condition_on_joint_rates():
    """A governor: the rate of one joint is twice the other's, by the user's own hand."""
    (a, one), (b, two) = crank(3, "a", 0, length=0), crank(3, "b", 3, length=0)
    rule = mb.Condition("rule", two.freedoms["angle"].rate - 2 * one.freedoms["angle"].rate)
    motor = mb.Driver("motor", one, speed=3)
    mechanism, motion = run([a, b], [one, two, rule, motor], 1.0, 11)
    assert np.allclose(mechanism.coordinates(motion).angle_rate, (3, 6), rtol=0, atol=1e-11)
    assert mechanism.rows["rule"] == ("rule.zero",)


def test_driven_parameter_of_a_curve():
    """A driver along a curve's parameter."""
    u = sp.Symbol("u")
    bead = mb.Particle("bead", 1, position=(0, 0))
    wire = mb.PointOnCurve("wire", mb.ground, bead, curve=(u, sp.sin(u)), parameter=u)
    mechanism, motion = run([bead], [wire, mb.Driver("motor", wire, motion=2 * t)], 2.0, 21)
    assert np.allclose(motion.q[:, 0], 2 * motion.time, rtol=0, atol=1e-12)
    assert np.allclose(motion.q[:, 1], np.sin(2 * motion.time), rtol=0, atol=1e-12)
    assert np.allclose(mechanism.coordinates(motion).s[:, 0], 2 * motion.time, rtol=0, atol=1e-12)
