"""A damper in a ball joint: its law, and that it acts on both bodies alike."""

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb
from zwang.errors import InputError


def test_two_bodies_come_to_a_common_spin():
    """J ω₁' = c (ω₂ − ω₁), K ω₂' = −c (ω₂ − ω₁): the difference decays at c (1/J + 1/K), J ω₁ + K ω₂ stays."""
    J, K, c, spin = 2.0, 3.0, 0.6, np.array([1.0, -2.0, 0.5])
    a, b = mb.Body("a", 1, (J, J, J)), mb.Body("b", 1, (K, K, K), angular_velocity=spin)
    socket = mb.Spherical("socket", a, b, at=(0, 0, 0))
    pair = mb.Mechanism([a, b], [socket], [mb.BallDamper("grease", socket, damping=c)])
    motion = zw.simulate(pair.system, pair.start, 3.0, samples=31, tol=1e-13, method="native")
    apart = spin * np.exp(-c * (1 / J + 1 / K) * motion.time.values)[:, None]
    common = spin * K / (J + K)
    for body, expected in ((a, common - K / (J + K) * apart), (b, common + J / (J + K) * apart)):
        names = [q.func.__name__ for q in body.coordinates[3:]]
        u, du = (motion[k].sel(coordinate=names).values.T for k in "qv")
        found = 2 * (u[0] * du[1:] - du[0] * u[1:] + np.cross(u[1:], du[1:], axis=0)).T
        assert np.abs(found - expected).max() < 1e-12
    power = pair.energies(motion).power.values[:, 0]
    assert np.abs(power + c * (apart**2).sum(axis=1)).max() < 1e-12


def test_what_it_refuses():
    bob, ball = mb.Particle("bob", 1), mb.Body("ball", 1, (1, 1, 1))
    hook = mb.Spherical("hook", bob, ball, at=(0, 0, 0))
    with pytest.raises(InputError, match="'d' acts on the particle 'bob', which does not turn"):
        mb.BallDamper("d", hook, 1)
    with pytest.raises(InputError, match="'d': its damping is -1, but no damping is negative"):
        mb.BallDamper("d", mb.Spherical("socket", mb.ground, ball, at=(0, 0, 0)), -1)
    pin = mb.Revolute("pin", mb.ground, mb.PlanarBody("wheel", 1, 1), at=(0, 0))
    with pytest.raises(InputError, match="'d': joint 'pin' is in the plane: use JointSpring"):
        mb.BallDamper("d", pin, 1)
    with pytest.raises(InputError, match="'d': 'pin' is not a joint"):
        mb.BallDamper("d", "pin", 1)
