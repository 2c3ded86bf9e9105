"""Impacts accumulate also where friction alone brings contacts together again."""

import numpy as np
import pytest

import zwang as zw
from zwang import dot

G, MU, BELT, WALL = 9.81, 0.4, 1.5, 2.0


def crate(restitution, space):
    """A crate that a belt carries against a wall, in the plane or in space, and its start."""
    x, y, z = zw.coordinates("x y z")
    q = (x, z, y) if space else (x, z)
    slip = (dot(x) - BELT, dot(y)) if space else dot(x) - BELT
    belt = zw.Constraint(z >= 0, "belt", friction=MU, slip=slip)
    wall = zw.Constraint(x <= WALL, "wall", restitution=restitution)
    kinetic, potential = sum(dot(c) ** 2 for c in q), 2 * G * z  # 2 kg
    system = zw.System(q, kinetic=kinetic, potential=potential, constraints=[belt, wall])
    return system, dict.fromkeys([*q, *map(dot, q)], 0.0) | {dot(x): BELT}


@pytest.mark.parametrize("space", [False, True])
@pytest.mark.parametrize("restitution", [0.2, 0.5, 0.8])
def test_a_crate_comes_to_rest_at_a_wall_against_which_a_belt_pushes_it(restitution, space):
    """It returns as fast as it left, by the deceleration μg: flights last 2 v εᵏ/(μg), in all 2 v ε/((1 − ε)μg)."""
    system, start = crate(restitution, space)
    motion = zw.simulate(system, start, 8.0)
    assert motion.attrs["status"] == "finished"
    kinds, times = motion.transition_kind.values, motion.transition_time.values
    rest = WALL / BELT + 2 * BELT * restitution / ((1 - restitution) * MU * G)
    assert times[kinds == "accumulation"] == pytest.approx([rest], rel=1e-9)
    assert motion.normal_force.sel(contact="wall").values[-1] == pytest.approx(MU * 2 * G, rel=1e-9)
    assert motion["mode"].sel(contact="belt").values[-1] == "sliding"
    assert np.abs(motion.v.values[-1]).max() < 1e-9
    assert np.abs(motion.energy_balance.values - motion.energy_balance.values[0]).max() < 1e-9
