"""The work of friction and of moving surfaces, contact by contact, against closed forms."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot

G = 9.81


def belt():
    """A block on a spring and on a belt that runs at 0.1."""
    x, y = zw.coordinates("x y")
    rule = zw.Constraint(y >= 0, "belt", friction=(1.0, 0.5), slip=dot(x) - 0.1)
    kinetic = (dot(x) ** 2 + dot(y) ** 2) / 2
    system = zw.System((x, y), kinetic=kinetic, potential=x**2 / 2 + y, constraints=[rule])
    return system, {x: 0, y: 0, dot(x): 0.1, dot(y): 0}


@pytest.mark.parametrize("method", ["native", "radau"])
def test_friction_and_a_belt_do_the_work_that_statics_says(method):
    # It sticks until the spring pulls with μ_s N = 1, at x = 1, t = 10: the belt works ½. Then it swings about ½, and
    # the belt, which still pulls with ½, works ½ · 0.1 (t − 10); friction takes ½ of the way of the slip.
    system, start = belt()
    motion = zw.simulate(system, start, until=11, times=[0, 5, 10, 10.5, 11], method=method)
    later = np.array([0.5, 1.0])
    x = 0.5 + 0.5 * np.cos(later) + 0.1 * np.sin(later)
    assert motion.surface_work.values[:, 0] == pytest.approx([0, 0.125, 0.5, *(0.5 + 0.05 * later)], rel=1e-11)
    assert motion.friction_work.values[:, 0] == pytest.approx([0, 0, 0, *(0.5 * (x - 1 - 0.1 * later))], abs=1e-11)
    assert np.abs(motion.other_work.values).max() < 1e-12


def test_the_ledger_of_energy_closes_from_the_dataset_alone():
    # a table that is lifted sinusoidally, a rough and an elastic side of it, and a force along it
    x, y = zw.coordinates("x y")
    height = sp.sin(7 * zw.t) / 5
    floor = zw.Constraint(y - height >= 0, "table", restitution=0.4, friction=0.2, slip=dot(x) - 0.3 * zw.t)
    wall = zw.Constraint(1 - x >= 0, "wall", restitution=0.9)
    kinetic = (dot(x) ** 2 + 2 * dot(y) ** 2) / 2
    force = {x: 0.3}
    system = zw.System((x, y), kinetic=kinetic, potential=2 * G * y, forces=force, constraints=[floor, wall])
    times = np.linspace(0, 3, 61)
    motion = zw.simulate(system, {x: 0, y: 0.1, dot(x): 0.2, dot(y): 0}, until=3, times=times, tol=1e-14)
    assert {*motion.transition_kind.values} == {"impact", "accumulation"}
    lost = [motion.energy_loss.values[motion.transition_time.values <= t].sum() for t in motion.time.values]
    works = motion.friction_work.sum("contact") + motion.surface_work.sum("contact") + motion.other_work
    gained = motion.energy.values - motion.energy.values[0]
    assert gained == pytest.approx(works.values - lost + motion.energy_balance.values, abs=1e-13)
    assert np.abs(motion.energy_balance.values).max() < 1e-12
    assert (np.diff(motion.friction_work.values, axis=0) <= 1e-14).all()
    assert np.abs(motion.friction_work.values[:, 1]).max() == np.abs(motion.surface_work.values[:, 1]).max() == 0
    assert motion.other_work.values == pytest.approx(0.3 * motion.q.values[:, 0], abs=1e-13)


@pytest.mark.parametrize("method", ["native", "lsoda"])
def test_a_table_that_vibrates_throws_a_ball_as_the_dataset_says(method):
    """Impacts that the engine makes by itself, and those made one by one: no other force works."""
    y = zw.coordinates("y")
    table = zw.Constraint(y - sp.sin(9 * zw.t) / 50 >= 0, "table", restitution=1)
    system = zw.System((y,), kinetic=dot(y) ** 2 / 2, potential=G * y, constraints=[table])
    motion = zw.simulate(system, {y: 0.3, dot(y): 0}, until=6, samples=201, method=method)
    hits = (motion.transition_kind == "impact").values
    assert hits.sum() > 8
    table_speed = 9 / 50 * np.cos(9 * motion.transition_time.values[hits])
    thrown = np.cumsum(motion.impulse.values[hits, 0] * table_speed)
    before = np.searchsorted(motion.transition_time.values[hits], motion.time.values, side="right")
    assert motion.surface_work.values[:, 0] == pytest.approx(np.append(0, thrown)[before], abs=1e-9)
    assert np.abs(motion.other_work.values).max() < 1e-12
