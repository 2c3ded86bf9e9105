"""Piles fall and come to rest, by the laws; what collides freely keeps its momentum; many spheres are no trouble."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.motion.contact.steps.piles import discs, many_spheres, spheres
from zwang import dot


def steps(system, start, until, step, **more):
    """A motion by steps."""
    return zw.simulate(system, start, until, contacts="steps", step=step, **more)


def laws_hold(motion, friction):
    """Complementarity, the cone of friction, and that no contact is penetrated more than was said."""
    normal, rubs, gap = (motion[name].values for name in ("normal_force", "friction_force", "gap"))
    assert (normal >= 0).all()
    assert (np.abs(rubs) <= friction * normal * (1 + 1e-6) + 1e-9 * normal.max(initial=1)).all()
    assert gap.min() >= -motion.attrs["penetration"] - 1e-12
    assert ((motion.mode.values == "open") == (normal == 0)).all()


def at_rest(make, count, seed, until):
    """A pile falls and comes to rest: within its limits, without energy from nowhere."""
    system, start = make(count, seed)
    motion = steps(system, start, until, 2e-3, samples=round(until / 2e-3) + 1)
    laws_hold(motion, 0.4)
    energy = motion.energy.values
    size = np.abs(energy).max()
    assert energy.max() <= energy[0] + 1e-9 * size
    assert np.diff(energy).max() < 5e-4 * size  # what moving out of penetrations costs at most
    assert motion.kinetic.values[-1] < 1e-20 * motion.kinetic.values.max()
    assert motion.gap.values[-1].min() > -1e-12  # of spheres with a radius near 0.1
    half = len(energy) // 2
    assert motion.gap.values[half:].min() >= motion.gap.values[:half].min() - 1e-9
    assert motion.attrs["contact_residual"] < 1e-6


@pytest.mark.parametrize(("make", "count", "seed"), [(discs, 3, 0), (spheres, 4, 1), (spheres, 8, 113)])
def test_piles_come_to_rest(make, count, seed):
    at_rest(make, count, seed, 3.0 if make is discs else 2.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("make", [discs, spheres])
def test_a_hundred_piles_come_to_rest(make, seed):
    at_rest(make, 3 + seed % 8, 100 + seed, 6.0 if make is discs else 3.0)


def test_discs_that_collide_freely_keep_momentum_and_angular_momentum():
    coordinates = zw.coordinates("x0 y0 a0 x1 y1 a1")
    (x0, y0, a0), (x1, y1, a1), radius = coordinates[:3], coordinates[3:], 0.1
    d = sp.sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2)
    around = ((x1 - x0) * (dot(y1) - dot(y0)) - (y1 - y0) * (dot(x1) - dot(x0))) / d
    slip = around - radius * (dot(a0) + dot(a1))
    touch = zw.Constraint(d - 2 * radius >= 0, "touch", friction=0.3, slip=slip, restitution=0.6)
    m, J = np.array([1.0, 2.5]), np.array([0.005, 0.02])
    kinetic = sum(
        m[k] * (dot(x) ** 2 + dot(y) ** 2) / 2 + J[k] * dot(a) ** 2 / 2
        for k, (x, y, a) in enumerate(((x0, y0, a0), (x1, y1, a1)))
    )
    start = dict.fromkeys([*coordinates, *map(dot, coordinates)], 0.0) | {x1: 0.5, y1: 0.07, dot(x0): 2, dot(a1): 9}
    motion = steps(zw.System(coordinates, kinetic=kinetic, constraints=[touch]), start, 0.5, 1e-3, samples=51)
    assert len(motion.transition) == 1
    q, v = motion.q.values.reshape(-1, 2, 3), motion.v.values.reshape(-1, 2, 3)
    momentum = np.einsum("k,tkc->tc", m, v[:, :, :2])
    angular = np.einsum("k,tk->t", m, q[..., 0] * v[..., 1] - q[..., 1] * v[..., 0]) + v[..., 2] @ J
    assert np.allclose(momentum, momentum[0], atol=1e-12)
    assert np.allclose(
        angular, angular[0], atol=2e-3
    )  # the impulse acts at the middle of its step, not quite at the end
    assert np.ptp(angular[motion.time.values > 0.2]) < 1e-12


def test_many_spheres_fall_into_a_box_and_keep_the_laws():
    system, start = many_spheres(40)
    motion = steps(system, start, 0.5, 2e-3, samples=6)
    assert "Not vouched for" not in motion.message
    assert motion.attrs["contact_residual"] < 1e-9
    assert motion.attrs["penetration"] < 1e-4
    assert (np.diff(motion.energy.values) < 1e-9).all()
    assert (motion.normal_force.values >= 0).all()


def test_many_spheres_come_to_lie():
    """Rows of a pile that lies depend on each other; pivots in a profile find impulses that sweeps do not."""
    system, start = many_spheres(100)
    motion = steps(system, start, 1.6, 2e-3, samples=3)
    assert motion.attrs["status"] == "finished"
    assert motion.attrs["contact_residual"] < 1e-9
    assert motion.attrs["penetration"] < 1e-4
    floor = [name.startswith("floor") for name in motion.contact.values]
    assert motion.normal_force.values[-1][floor].sum() == pytest.approx(100 * 9.81, rel=0.05)  # all of their weight


def test_what_is_left_of_laws_is_not_what_a_move_back_leaves():
    """A move back out of contacts is computed to a thousandth of their depth, which says nothing of laws."""
    system, start = many_spheres(40)
    assert steps(system, start, 1.0, 2e-3, samples=2).attrs["contact_residual"] < 1e-9
