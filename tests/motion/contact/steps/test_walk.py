"""From the start to the end: what is refused, saved, interrupted, watched."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import contact
from zwang import dot
from zwang.engines.stepping import tables
from zwang.errors import InputError

x, y = zw.coordinates("x y")


def steps(system, start, until, step, **more):
    """A motion by steps."""
    return zw.simulate(system, start, until, contacts="steps", step=step, **more)


def test_a_start_beyond_a_limit_is_refused_by_name():
    system, _ = contact.ball(0.5)
    with pytest.raises(InputError, match=r"beyond the limit 'floor' by 0\.1"):
        steps(system, {y: -0.1, dot(y): 0}, 1.0, 0.01)


def test_saved_times_between_steps_are_those_of_free_flight():
    system, start = contact.ball(0.5)
    times = np.array([0.0, 0.0137, 0.1003, 0.3])
    motion = steps(system, start, 0.3, 0.01, times=times)
    assert motion.time.values.tolist() == times.tolist()
    assert np.allclose(motion.q.values[:, 0], 1 - 9.81 * times**2 / 2, atol=1e-14)
    assert np.allclose(motion.v.values[:, 0], -9.81 * times, atol=1e-14)
    assert float(abs(motion.energy_balance).max()) < 1e-13


def test_the_last_step_ends_at_the_end():
    motion = steps(*contact.ball(0.5), 0.25, 0.1)
    assert motion.attrs["steps"] == 3
    assert motion.time.values[-1] == 0.25


def test_events_of_the_user_are_met_and_stop():
    system, start = contact.ball(0.5)
    half = zw.Event(y - 0.5, "half", direction=-1)
    motion = steps(system, start, 2.0, 1e-3, events=[half])
    assert np.isclose(motion.event_time.values[0], np.sqrt(1 / 9.81), atol=1e-6)
    stopped = steps(system, start, 2.0, 1e-3, events=[zw.Event(y - 0.5, "half", stop=True)])
    assert stopped.attrs["status"] == "event"
    assert stopped.time.values[-1] <= np.sqrt(1 / 9.81)


def test_events_that_ask_for_forces_are_refused():
    system, start = contact.ball(0.5)
    with pytest.raises(InputError, match="impulses only"):
        steps(system, start, 1.0, 0.01, events=[zw.Event(zw.multiplier("floor") - 1, "heavy")])


def test_an_interrupt_returns_what_was_computed():
    def stop(t, end):
        if t > 0.2:
            raise KeyboardInterrupt

    motion = steps(*contact.ball(0.5), 1000.0, 1e-3, progress=stop)
    assert motion.attrs["status"] == "interrupted"
    assert 0 < motion.attrs["steps"] < 1_000_000


def test_impacts_are_written_down_with_their_loss():
    motion = steps(*contact.ball(0.5), 1.0, 1e-3)
    assert motion.transition_kind.values[:2].tolist() == ["impact", "impact"]
    assert motion.transition_contact.values[0] == "floor"
    speed = motion.velocity_before.values[0, 0]
    assert np.isclose(motion.velocity_after.values[0, 0], -speed / 2)
    assert np.isclose(motion.energy_loss.values[0], 0.75 * speed**2 / 2, rtol=0.01)
    assert np.isclose(motion.transition_time.values[0], np.sqrt(2 / 9.81), atol=2e-3)


def pendulum_at_a_wall():
    """Two rods in a row that swing against a rough wall and a floor."""
    coordinates = zw.coordinates("x1 y1 x2 y2")
    x1, y1, x2, y2 = coordinates
    constraints = [
        zw.Constraint(sp.Eq(x1**2 + y1**2, 1), "upper"),
        zw.Constraint(sp.Eq((x2 - x1) ** 2 + (y2 - y1) ** 2, 1), "lower"),
        zw.Constraint(x2 + sp.Rational(1, 2) >= 0, "wall", restitution=0.5, friction=0.2, slip=dot(y2)),
        zw.Constraint(y2 + 1.8 >= 0, "floor", restitution=0.3),
    ]
    kinetic, potential = sum(dot(q) ** 2 for q in coordinates) / 2, 9.81 * (y1 + y2)
    start = dict.fromkeys([*coordinates, *map(dot, coordinates)], 0.0) | {x1: 1.0, x2: 2.0}
    return zw.System(coordinates, kinetic=kinetic, potential=potential, constraints=constraints), start


def parallelogram_with_a_stop():
    """A rod too many: rows depend on each other."""
    coordinates = zw.coordinates("x1 y1 x2 y2")
    x1, y1, x2, y2 = coordinates
    constraints = [
        zw.Constraint(sp.Eq(x1**2 + y1**2, 1), "left"),
        zw.Constraint(sp.Eq((x2 - 2) ** 2 + y2**2, 1), "right"),
        zw.Constraint(sp.Eq(2 * (x2 - 2) ** 2 + 2 * y2**2, 2), "right again"),
        zw.Constraint(sp.Eq((x2 - x1) ** 2 + (y2 - y1) ** 2, 4), "coupler"),
        zw.Constraint(y1 + 0.8 >= 0, "stop", restitution=0.6),
    ]
    kinetic, potential = sum(dot(q) ** 2 for q in coordinates) / 2, 9.81 * (y1 + y2)
    start = dict.fromkeys(map(dot, coordinates), 0.0)
    start |= {x1: np.cos(0.3), y1: np.sin(0.3), x2: 2 + np.cos(0.3), y2: np.sin(0.3)}
    return zw.System(coordinates, kinetic=kinetic, potential=potential, constraints=constraints), start


def skate_at_a_wall():
    """A blade, which does not move aside, meets a wall."""
    turn = zw.coordinates("turn")
    blade = zw.Constraint(dot(x) * sp.sin(turn) - dot(y) * sp.cos(turn), "blade")
    wall = zw.Constraint(1 - x >= 0, "wall", restitution=0.5)
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + dot(turn) ** 2 / 4) / 2
    start = {x: 0, y: 0, turn: 0.3, dot(x): 2 * np.cos(0.3), dot(y): 2 * np.sin(0.3), dot(turn): 0.4}
    return zw.System((x, y, turn), kinetic=kinetic, constraints=[blade, wall]), start


def belt_that_shakes():
    """A block on a belt that goes up and down and changes its speed, held by a spring and damped."""
    slip = dot(x) - 1 - sp.sin(5 * zw.t) / 2
    belt = zw.Constraint(y - sp.sin(3 * zw.t) / 20 >= 0, "belt", restitution=0.2, friction=(0.5, 0.3), slip=slip)
    described = {"kinetic": (dot(x) ** 2 + dot(y) ** 2) / 2, "potential": 9.81 * y + 10 * x**2}
    system = zw.System((x, y), **described, forces={x: -dot(x) / 10}, constraints=[belt])
    return system, {x: 0, y: 0.05, dot(x): 0, dot(y): 0}


SCENES = [pendulum_at_a_wall, parallelogram_with_a_stop, skate_at_a_wall, belt_that_shakes, contact.rocking_block]


@pytest.mark.parametrize("scene", SCENES)
def test_steps_with_sparse_factors_are_those_with_full_matrices(scene, monkeypatch):
    system, start = scene()
    monkeypatch.setattr(tables, "MOST_IN_FULL", 0)
    fast = steps(system, start, 1.2, 4e-3, samples=13)
    monkeypatch.setattr(tables, "MOST_IN_FULL", 1000)
    slow = steps(system, start, 1.2, 4e-3, samples=13)
    assert (fast["mode"].values == slow["mode"].values).all()
    assert fast.transition_time.values.tolist() == slow.transition_time.values.tolist()
    assert (fast["rank"].values == slow["rank"].values).all()
    for name in ("q", "v", "multiplier", "normal_force", "friction_force", "gap", "slip", "energy_balance", "impulse"):
        size = max(1.0, float(np.abs(slow[name].values).max(initial=0.0)))
        assert np.allclose(fast[name], slow[name], atol=1e-8 * size, equal_nan=True), name


@pytest.mark.parametrize("scene", [pendulum_at_a_wall, skate_at_a_wall, belt_that_shakes])
def test_errors_are_of_first_order_beside_the_motion_found_by_events(scene):
    system, start = scene()
    exact = zw.simulate(system, start, 1.2, samples=13)
    fastest = float(abs(exact.v).max())
    for step in (4e-3, 1e-3, 2.5e-4):  # an impact is late or early by a step at most
        motion = steps(system, start, 1.2, step, samples=13)
        assert float(abs(motion.q - exact.q).max()) < 4 * step * fastest
