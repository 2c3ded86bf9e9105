"""From the start to the end: what is refused, saved, interrupted, watched."""

import numpy as np
import pytest

import zwang as zw
from tests.references import contact
from zwang import dot
from zwang.errors import InputError, SimulationError

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


def test_a_force_that_is_infinite_stops_the_motion():
    floor = zw.Constraint(y + 1 >= 0, "floor")
    system = zw.System((y,), kinetic=dot(y) ** 2 / 2, potential=-1 / (y - 1) ** 2 / 1000, constraints=[floor])
    start = {y: 0.9, dot(y): 1}
    motion = steps(system, start, 5.0, 0.1, throw=False)
    if motion.attrs["status"] != "finished":
        assert motion.attrs["status"] == "not finite"
        with pytest.raises(SimulationError):
            steps(system, start, 5.0, 0.1)


def test_impacts_are_written_down_with_their_loss():
    motion = steps(*contact.ball(0.5), 1.0, 1e-3)
    assert motion.transition_kind.values[:2].tolist() == ["impact", "impact"]
    assert motion.transition_contact.values[0] == "floor"
    speed = motion.velocity_before.values[0, 0]
    assert np.isclose(motion.velocity_after.values[0, 0], -speed / 2)
    assert np.isclose(motion.energy_loss.values[0], 0.75 * speed**2 / 2, rtol=0.01)
    assert np.isclose(motion.transition_time.values[0], np.sqrt(2 / 9.81), atol=2e-3)
