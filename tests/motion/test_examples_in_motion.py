"""Worked examples with closed forms, as trajectories."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import problems
from zwang import dot


def of(motion, name, kind="q"):
    return motion[kind].sel(coordinate=name).values


# Rosenberg's particle, ẏ = z ẋ


@pytest.mark.parametrize(("z0", "speeds"), [(0.3, (1.1, 0.8)), (-2.0, (0.5, 1.7)), (2.0, (3.0, -0.4))])
def test_rosenberg_particle(z0, speeds):
    motion = zw.simulate(*problems.rosenberg(z0=z0, speeds=speeds), 4.0, samples=41, tol=1e-14)
    vx, w = speeds
    c = vx * np.sqrt(1 + z0**2)
    z = z0 + w * motion.time.values
    assert np.abs(of(motion, "z") - z).max() < 1e-13
    assert np.abs(of(motion, "x") - c / w * (np.arcsinh(z) - np.arcsinh(z0))).max() < 1e-12
    assert np.abs(of(motion, "y") - c / w * (np.sqrt(1 + z**2) - np.sqrt(1 + z0**2))).max() < 1e-12
    assert np.abs(of(motion, "x", "v") * np.sqrt(1 + z**2) - c).max() < 1e-12
    assert np.abs(2 * motion.kinetic - c**2 - w**2).max() < 1e-12
    multiplier = of(motion, "z", "v") * of(motion, "x", "v") / (1 + z**2)
    assert np.abs(motion.multiplier.values[:, 0] - multiplier).max() < 1e-12


def test_rosenberg_particle_without_climbing_goes_straight():
    motion = zw.simulate(*problems.rosenberg(z0=0.7, speeds=(1.1, 0.0)), 4.0, samples=5, tol=1e-14)
    assert np.abs(of(motion, "x") - 1.1 * motion.time.values).max() < 1e-14
    assert np.abs(of(motion, "y") - 0.77 * motion.time.values).max() < 1e-14


# Acatastatic: ẋ − tẏ = α(t)


def acatastatic(alpha):
    x, y = zw.coordinates("x y")
    m = zw.parameters("m")
    system = zw.System(
        (x, y),
        kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2,
        constraints={"asked": dot(x) - zw.t * dot(y) - alpha},
        parameters={m: 3.0},
    )
    return system, x, y


def test_acatastatic_constraint_with_constant_right_hand_side():
    system, x, y = acatastatic(sp.Rational(7, 10))
    C = 1.3
    motion = zw.simulate(system, {x: C, y: 0, dot(x): 0.7, dot(y): C}, 3.0, samples=301, tol=1e-13)
    t = motion.time.values
    assert np.abs(of(motion, "y") - C * np.arcsinh(t)).max() < 1e-11
    assert np.abs(of(motion, "x") - C * np.sqrt(1 + t**2) - 0.7 * t).max() < 1e-11
    # An ideal constraint, and yet it works: with the power λα.
    assert np.abs(motion.constraint_power - 0.7 * motion.multiplier[:, 0]).max() < 1e-11
    assert float(abs(motion.energy - motion.energy[0]).max()) > 0.1
    assert float(abs(motion.energy_balance).max()) < 1e-8


def test_acatastatic_constraint_with_growing_right_hand_side():
    system, x, y = acatastatic(zw.t)
    C = 1.3
    motion = zw.simulate(system, {x: C, y: 0, dot(x): 0.0, dot(y): C - 1}, 3.0, samples=301, tol=1e-13)
    t = motion.time.values
    assert np.abs(of(motion, "y") - C * np.arcsinh(t) + t).max() < 1e-11
    assert np.abs(of(motion, "x") - C * np.sqrt(1 + t**2)).max() < 1e-11
    assert np.abs(motion.constraint_power - t * motion.multiplier[:, 0]).max() < 1e-11
    assert float(abs(motion.energy_balance).max()) < 1e-8


# Appell's particle


@pytest.mark.parametrize("method", ["native", "taylor"])
@pytest.mark.parametrize("rows", [1, 2])
def test_appell_through_its_apex(rows, method):
    # At the apex the velocity, and with it A, vanishes; the motion goes on with −g/2, not with −g.
    system, start = problems.appell_hamel(rows)
    motion = zw.simulate(system, start, 0.8, samples=81, tol=1e-13, method=method)
    t, w = motion.time.values, 2.0
    s = w * t - 9.81 * t**2 / 4
    assert np.abs(of(motion, "z") - s).max() < 1e-10
    assert np.abs(of(motion, "x") - s * np.cos(0.6)).max() < 1e-10
    assert np.abs(of(motion, "y") - s * np.sin(0.6)).max() < 1e-10
    assert np.abs(of(motion, "z", "a") + 9.81 / 2).max() < 1e-6
    assert motion.message.count("Leapt the singular position at t = 0.40774") == 1
    assert "vanishes" in motion.message


def test_appell_hamel_with_another_slope():
    x, y, z = zw.coordinates("x y z")
    a2 = 3
    system = zw.System(
        (x, y, z),
        kinetic=(dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2,
        potential=9.81 * z,
        constraints={"cone": dot(z) ** 2 - a2 * (dot(x) ** 2 + dot(y) ** 2)},
    )
    speed = float(np.sqrt(a2))
    motion = zw.simulate(
        system, {x: 0, y: 0, z: 0, dot(x): 0.6, dot(y): 0.8, dot(z): speed}, 0.15, samples=16, tol=1e-13
    )
    assert np.abs(of(motion, "z", "a") + 9.81 * a2 / (1 + a2)).max() < 1e-10


def test_appell_variant_that_does_work():
    # ẋ² + ẏ² − ż² = c: the power of this ideal constraint is λc, E − E₀ = c/2 ln((c + w²)/(c + w₀²)).
    x, y, z = zw.coordinates("x y z")
    g, c = zw.parameters("g c")
    system = zw.System(
        (x, y, z),
        kinetic=(dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2,
        potential=g * z,
        constraints={"cone": (dot(x) ** 2 + dot(y) ** 2 - dot(z) ** 2 - c) / 2},
        parameters={g: 10.0, c: 4.0},
    )
    level = np.sqrt(4 + 25)
    start = {x: 0, y: 0, z: 0, dot(x): 0.6 * level, dot(y): 0.8 * level, dot(z): 5.0}
    motion = zw.simulate(system, start, 2.0, samples=401, tol=1e-13)
    w = of(motion, "z", "v")
    time = -(2 * (w - 5) - 2 * (np.arctan(w / 2) - np.arctan(2.5))) / 10
    assert np.abs(time - motion.time.values).max() < 1e-12
    gained = 2 * np.log((4 + w**2) / (4 + 25))
    assert np.abs(motion.energy - motion.energy[0] - gained).max() < 1e-10
    assert np.abs(motion.constraint_power - 4 * motion.multiplier[:, 0]).max() < 1e-10
    assert np.abs(np.hypot(of(motion, "x", "v"), of(motion, "y", "v")) - np.sqrt(4 + w**2)).max() < 1e-11
    assert np.abs(of(motion, "y", "v") / of(motion, "x", "v") - 4 / 3).max() < 1e-12
    assert float(abs(motion.energy_balance).max()) < 1e-6


# Nonideal constraints


def test_rosenberg_particle_with_viscous_nonideal_constraint():
    cd, z0, (vx, w) = 0.4, 0.3, (1.1, 0.8)
    system, start = problems.rosenberg(lambda v: [-cd * c for c in v], z0, (vx, w))
    motion = zw.simulate(system, start, 4.0, samples=401, tol=1e-13)
    t, K = motion.time.values, vx * np.sqrt(1 + z0**2)
    z = z0 + w / cd * (1 - np.exp(-cd * t))
    assert np.abs(of(motion, "z") - z).max() < 1e-12
    assert np.abs(of(motion, "x", "v") * np.sqrt(1 + z**2) - K * np.exp(-cd * t)).max() < 1e-12
    assert np.abs(motion.nonideal_power + cd * 2 * motion.kinetic).max() < 1e-12
    assert float(abs(motion.energy_balance).max()) < 1e-8


def test_rosenberg_particle_with_quadratic_nonideal_constraint_keeps_its_path():
    a0, z0, (vx, w) = 0.4, 0.3, (1.1, 0.8)
    speed = lambda v: sp.sqrt(sum(c**2 for c in v))  # noqa: E731
    system, start = problems.rosenberg(lambda v: [-a0 * speed(v) * c for c in v], z0, (vx, w))
    motion = zw.simulate(system, start, 4.0, samples=41, tol=1e-13)
    t, K = motion.time.values, vx * np.sqrt(1 + z0**2)
    V = np.hypot(K, w)
    z = of(motion, "z")
    assert np.abs(np.sqrt(2 * motion.kinetic) - V / (1 + a0 * V * t)).max() < 1e-12
    assert np.abs(z - z0 - w / (a0 * V) * np.log(1 + a0 * V * t)).max() < 1e-12
    assert np.abs(of(motion, "x") - K / w * (np.arcsinh(z) - np.arcsinh(z0))).max() < 1e-12


def test_coulomb_ring():
    motion = zw.simulate(*problems.coulomb_ring(), 3.0, samples=301, tol=1e-13)
    phi = np.log(1 + 0.3 * 2.0 * motion.time.values / 0.8) / 0.3
    assert np.abs(of(motion, "x") - 0.8 * np.cos(phi)).max() < 1e-12
    assert np.abs(of(motion, "y") - 0.8 * np.sin(phi)).max() < 1e-12
    assert np.abs(motion.nonideal_power - motion.constraint_power).max() < 1e-12
    assert float(abs(motion.energy_balance).max()) < 1e-7


# Pendulum, top, linkage


def test_pendulum_in_its_angle_and_the_tension_of_its_rod():
    motion = zw.simulate(*problems.pendulum(), 4.0, samples=81, tol=1e-13)
    phi = zw.coordinates("phi")
    single = zw.System((phi,), kinetic=dot(phi) ** 2 / 2, potential=-9.81 * sp.cos(phi))
    angle = zw.simulate(single, {phi: np.pi / 2, dot(phi): 0}, 4.0, samples=81, tol=1e-13)
    a, w = angle.q.values[:, 0], angle.v.values[:, 0]
    assert np.abs(of(motion, "x") - np.sin(a)).max() < 1e-11
    assert np.abs(of(motion, "y") + np.cos(a)).max() < 1e-11
    assert np.abs(-motion.multiplier.values[:, 0] - w**2 - 9.81 * np.cos(a)).max() < 1e-10


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_free_symmetric_top(method):
    motion = zw.simulate(*problems.free_top(), 2.0, samples=9, tol=1e-15, method=method)
    omega = 2 * np.array([0.15, -0.35, 0.6])
    L = np.array([2.0, 2.0, 3.0]) * omega  # body axes are those of space at the start
    for t, u in zip(motion.time.values, motion.q.values, strict=True):
        expected = product(turned(t / 2 * L / 2.0), turned(t / 2 * (1 - 3.0 / 2.0) * omega[2] * np.array([0, 0, 1.0])))
        assert np.abs(u - expected).max() < 1e-13


def turned(half):
    """exp of a vector of half angles, as a quaternion."""
    angle = np.linalg.norm(half)
    return np.array([np.cos(angle), *(np.sinc(angle / np.pi) * half)])


def product(p, q):
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_parallelogram_through_its_change_point(method):
    # A force f along the first crank's circle: both masses share it, 2θ̈ = f, before, at and after θ = 0.
    x1, y1, x2, y2 = q = zw.coordinates("x1 y1 x2 y2")
    f, d = sp.Rational(7, 10), 2
    system = zw.System(
        q,
        kinetic=sum(dot(c) ** 2 for c in q) / 2,
        forces={x1: -f * y1, y1: f * x1},
        constraints={
            "crank 1": x1**2 + y1**2 - 1,
            "crank 2": (x2 - d) ** 2 + y2**2 - 1,
            "coupler": (x2 - x1) ** 2 + (y2 - y1) ** 2 - d**2,
        },
    )
    c, s = np.cos(0.5), -np.sin(0.5)
    start = {x1: c, y1: s, x2: c + 2, y2: s, dot(x1): -s, dot(y1): c, dot(x2): -s, dot(y2): c}
    motion = zw.simulate(system, start, 1.0, samples=51, tol=1e-13, method=method)
    t = motion.time.values
    theta = -0.5 + t + 0.7 * t**2 / 4
    expected = np.stack([np.cos(theta), np.sin(theta), np.cos(theta) + 2, np.sin(theta)], axis=1)
    assert np.abs(motion.q.values - expected).max() < 1e-10
    assert motion.message.count("Leapt") == 1
    clear = np.abs(theta) > 0.05
    assert np.abs(motion.a.values[clear][:, 1] - motion.a.values[clear][:, 3]).max() < 1e-7
