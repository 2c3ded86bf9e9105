"""Impacts that the engine makes are those that would have been made one by one."""

from itertools import pairwise

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.motion.contact.test_contact import at, particle, random_box, x, y
from tests.references import contact
from zwang import dot
from zwang.engines.native import engine
from zwang.motion.contact import course


def billiard(restitution=0.9):
    """A particle in a box with four walls, in a field."""
    walls = {"left": x + 1, "right": 1 - x, "floor": y + 1, "ceiling": 1 - y}
    rules = [zw.Constraint(g, name, one_sided=True, restitution=restitution) for name, g in walls.items()]
    return particle(rules, y + x**2 * y / 7), at(0.1, 0.2, 1.3, 0.7)


def spinning_rod():
    """A rod with a tip above a floor: an impact changes all velocities."""
    a, b, turn = q = zw.coordinates("a b turn")
    tips = {"one": b - sp.sin(turn), "other": b + sp.sin(turn)}
    rules = [zw.Constraint(g, name, one_sided=True, restitution=0.9) for name, g in tips.items()]
    kinetic = (dot(a) ** 2 + dot(b) ** 2 + dot(turn) ** 2 / 3) / 2
    system = zw.System(q, kinetic=kinetic, potential=9.81 * b, constraints=rules)
    return system, {a: 0, b: 2, turn: 0.4, dot(a): 0.1, dot(b): 0, dot(turn): 3}


MOTIONS = {
    "ball": (*contact.ball(0.8), 5),
    "elastic": (*contact.ball(1), 20),
    "billiard": (*billiard(), 10),
    "pendulum": (*contact.double_pendulum(), 4),
    "rod": (*spinning_rod(), 3),
    "box": (*random_box(6), 4),
}


def both(monkeypatch, system, start, until, **options):
    """A motion with impacts in the engine, and one without; how often each was stopped."""
    motions, stops = [], []
    meet = course.Course.meet

    def counted(self, *given):
        stops[-1] += 1
        return meet(self, *given)

    monkeypatch.setattr(course.Course, "meet", counted)
    for _ in range(2):
        stops.append(0)
        motions.append(zw.simulate(system, start, until=until, **options))
        monkeypatch.setattr(course, "bouncing", lambda machine: None)
    return motions, stops


@pytest.mark.parametrize("name", MOTIONS)
def test_the_engine_makes_the_same_impacts(monkeypatch, name):
    (one, other), stops = both(monkeypatch, *MOTIONS[name], method="native", tol=1e-14)
    assert one.transition_kind.values.tolist() == other.transition_kind.values.tolist()
    assert one.transition_contact.values.tolist() == other.transition_contact.values.tolist()
    speed = np.abs(other.velocity_after.values - other.velocity_before.values).max(axis=1)
    for table in ("transition_time", "energy_loss", "velocity_before", "velocity_after", "impulse"):
        off = np.abs(one[table].values - other[table].values).reshape(len(speed), -1).max(axis=1)
        assert (off < 1e-11 + 1e-15 / speed).all()  # a gap that is off by rounding closes that much sooner or later
    assert (one["mode"].values == other["mode"].values).all()
    for values in ("q", "v", "energy_balance", "gap"):
        assert np.abs(one[values].values - other[values].values).max() < 1e-11
    assert stops[0] < stops[1] + (name == "pendulum")  # which has only as many


def test_of_many_bounces_few_stop_the_engine(monkeypatch):
    motions, stops = both(monkeypatch, *contact.ball(1), 50)
    assert motions[0].sizes["transition"] == stops[1] > 50
    assert stops[0] == 1


def test_ten_thousand_elastic_impacts_keep_the_energy():
    motion = zw.simulate(*contact.ball(1), until=9035, times=[9035], progress=False)
    assert motion.sizes["transition"] > 10_000
    assert abs(motion.energy.values[0] - 9.81) < 1e-9
    assert abs(motion.energy_balance.values[0]) < 1e-9


def test_a_moving_table_and_events_of_the_user(monkeypatch):
    system, start, t = contact.vibrating_table()
    height = system.coordinates[0]
    events = [zw.Event(dot(height), "top"), zw.Event(height - 0.012, "half")]
    (one, other), _ = both(monkeypatch, system, start, t + 2.05, t=t, events=events)
    assert one.event_name.values.tolist() == other.event_name.values.tolist()
    assert np.abs(one.event_time.values - other.event_time.values).max() < 1e-11
    assert np.abs(one.energy_balance.values - other.energy_balance.values).max() < 1e-12


def test_an_event_at_the_impact_itself_is_met_once(monkeypatch):
    system, start = contact.ball(0.8)
    events = [zw.Event(system.coordinates[0], "floor")]
    (one, other), stops = both(monkeypatch, system, start, 3, events=events)
    assert one.event_time.values == pytest.approx(other.event_time.values, abs=1e-12)
    assert len(one.event_time) == one.sizes["transition"] == stops[0]


def test_all_modes_of_a_motion_are_run_by_one_program(monkeypatch):
    made = []
    compile_program = engine.compile_program

    def counted(program, optimise=None):
        made.extend([sorted(program.outputs)] if optimise == 0 else [])
        return compile_program(program, **({} if optimise is None else {"optimise": optimise}))

    monkeypatch.setattr(engine, "compile_program", counted)
    a = zw.parameters("anew")
    walls = {"left": x + 1, "right": 1 - x, "floor": y + 1, "ceiling": 1 - y}
    rules = [zw.Constraint(g, name, one_sided=True) for name, g in walls.items()]
    turning = {x: 3 * sp.cos(a * zw.t), y: 3 * sp.sin(a * zw.t)}
    motion = zw.simulate(particle(rules, 0, turning), at(0, 0), until=30, parameters={a: 1})
    assert len({tuple(row) for row in motion["mode"].values.tolist()}) >= 5
    assert motion.sizes["transition"] > 20
    # accelerations, events and reports, with contacts and without; the projection onto contacts that push
    assert len(made) <= 8, made


def test_impacts_that_follow_each_other_fast_beside_a_wall_are_all_met():
    a, b, c = zw.coordinates("a b c")
    limits = {"first": b - a, "second": c - b, "wall": 0.1 - c}
    rules = [zw.Constraint(gap, name, one_sided=True, restitution=0.5) for name, gap in limits.items()]
    balls = zw.System((a, b, c), kinetic=(3 * dot(a) ** 2 + dot(b) ** 2 + dot(c) ** 2) / 2, constraints=rules)
    start = {a: -0.3, b: 0.1, c: 0.1, dot(a): 2, dot(b): 0, dot(c): 0.5}
    motion = zw.simulate(balls, start, until=1.0)
    assert motion.attrs["status"] == "finished"
    assert motion.gap.values.min() > -1e-12
    assert motion.velocity_after.values[-1].max() < 1e-6  # they have lost what they had, or go back


def collisions(q, v, masses, restitution, wall, end):
    """Impacts of points on a line, the last of them before a wall, one after the other in closed form."""
    q, v, t, found = np.array(q), np.array(v), 0.0, []
    while True:
        speeds = np.append(v[1:] - v[:-1], -v[-1])
        with np.errstate(divide="ignore", invalid="ignore"):
            ahead = np.where(speeds < 0, np.append(q[1:] - q[:-1], wall - q[-1]) / -speeds, np.inf)
        k = int(np.argmin(ahead))
        if not t + ahead[k] < end:
            return np.array(found)
        t, q = t + ahead[k], q + ahead[k] * v
        found.append(t)
        if k == len(q) - 1:
            v[k] *= -restitution[k]
        else:
            push = -(1 + restitution[k]) * speeds[k] / (1 / masses[k] + 1 / masses[k + 1])
            v[k], v[k + 1] = v[k] - push / masses[k], v[k + 1] + push / masses[k + 1]


@pytest.mark.parametrize("seed", range(6))
def test_an_impact_that_the_one_before_does_not_change_is_met_in_its_turn(seed):
    """What a panel shows behind an impact has not happened yet: it is met again, at the very same instant."""
    rng = np.random.default_rng(seed)
    q, masses, e = zw.coordinates("a b c d"), rng.uniform(0.5, 3, 4), rng.uniform(0.85, 1, 4)
    places, speeds = -np.sort(rng.uniform(0, 1, 4))[::-1], rng.uniform(-1, 1, 4)
    gaps = [*(y - x for x, y in pairwise(q)), 0.2 - q[-1]]
    rules = [zw.Constraint(gap, f"c{i}", one_sided=True, restitution=e[i]) for i, gap in enumerate(gaps)]
    kinetic = sp.Add(*[m * dot(x) ** 2 / 2 for m, x in zip(masses, q, strict=True)])
    system = zw.System(q, kinetic=kinetic, constraints=rules)
    start = dict(zip(q, places, strict=True)) | dict(zip(map(dot, q), speeds, strict=True))
    motion = zw.simulate(system, start, until=6, method="native")
    known = collisions(places, speeds, masses, e, 0.2, 6)
    assert motion.attrs["status"] == "finished"
    assert motion.transition_time.values == pytest.approx(known, rel=1e-9)
