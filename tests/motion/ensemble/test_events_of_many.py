"""Events of many samples are those of each by itself, to the last bit."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import problems
from zwang import dot
from zwang.errors import InputError
from zwang.motion.ensemble.together import EVENT_ROWS

x, y = zw.coordinates("x y")
g, L = zw.parameters("g L")


def fan(count=12):
    """Pendulums released at different angles."""
    angle = np.linspace(0.3, 2.8, count)
    return {x: np.sin(angle), y: -np.cos(angle), dot(x): 0, dot(y): 0}


def one_of(starts, i):
    return {key: float(value[i]) if np.ndim(value) else float(value) for key, value in starts.items()}


LOWEST = zw.Event(x, "lowest")
QUICK = zw.Event(dot(x) ** 2 + dot(y) ** 2 - 20, "quick", direction=1, stop=True)


def test_events_are_recorded_and_stop_each_sample_as_they_stop_it_alone():
    system, _ = problems.pendulum()
    many = zw.simulate_many(system, fan(), 3.0, samples=31, events=[LOWEST, QUICK])
    stopped = 0
    for i in range(12):
        alone = zw.simulate(system, one_of(fan(), i), 3.0, samples=31, events=[LOWEST, QUICK])
        mine, count = many.isel(sample=i), alone.sizes["event"]
        assert str(mine.status.item()) == alone.status
        stopped += alone.status == "event"
        for name in ("event_time", "event_q", "event_v"):
            assert (mine[name].values[:count] == alone[name].values).all()
            assert np.isnan(mine[name].values[count:]).all()
        assert mine.event_name.values[:count].tolist() == alone.event_name.values.tolist()
        assert set(mine.event_name.values[count:].tolist()) <= {""}
        saved = alone.sizes["time"]
        assert (mine.q.values[:saved] == alone.q.values).all()
        assert np.isnan(mine.q.values[saved:]).all()
    assert 0 < stopped < 12
    assert many.attrs["status"] == f"{12 - stopped} finished, {stopped} event"


@pytest.mark.parametrize("drift", ["none", "projection", "baumgarte"])
def test_more_samples_than_lanes_have_the_bits_of_one_whatever_is_done_about_drift(drift):
    """The second pendulum is driven: sines are those of a run by itself, and it is looked for what its force does."""
    system = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=g * y,
        forces={x: sp.cos(3 * zw.t) * sp.sin(x)},
        constraints={"rod": x**2 + y**2 - 1},
    )
    starts, pull = fan(19), np.linspace(2, 11, 19)
    events = [LOWEST, zw.Event(dot(y), "turns", direction=-1), zw.Event(zw.multiplier("rod") - 4, "taut", stop=True)]
    asked = {"samples": 5, "events": events, "tol": 1e-9, "drift": drift}
    many = zw.simulate_many(system, starts, 4.0, parameters={g: pull}, **asked)
    assert set(many.status.values.tolist()) == {"finished", "event"}
    for i in range(0, 19, 3):
        alone = zw.simulate(system, one_of(starts, i), 4.0, parameters={g: pull[i]}, **asked)
        for name in ("event_time", "event_name", "event_q", "event_v", "q", "v", "multiplier", "energy_balance"):
            mine = many[name].values[i]
            assert (mine[: len(alone[name])] == alone[name].values).all(), name


def test_more_events_than_a_run_has_room_for_are_all_there():
    z = zw.coordinates("z")
    oscillator = zw.System((z,), kinetic=dot(z) ** 2 / 2, potential=200 * z**2)
    many = zw.simulate_many(oscillator, {z: [1, 2, 3], dot(z): 0}, 5.0, samples=2, events=[zw.Event(z)], tol=1e-10)
    expected = (np.arange(0, 32) + 0.5) * np.pi / 20
    expected = expected[expected < 5.0]
    assert len(expected) > 3 * EVENT_ROWS
    assert many.sizes["event"] == len(expected)
    assert abs(many.event_time - expected).max() < 1e-9  # cos 20 t
    assert (many.event_name == "event 1").all()


def test_parameters_that_differ_have_events_that_differ():
    z = zw.coordinates("z")
    k = zw.parameters("k")
    oscillator = zw.System((z,), kinetic=dot(z) ** 2 / 2, potential=k * z**2 / 2)
    stiffness = np.array([1.0, 4.0, 9.0])
    event = zw.Event(z * k, "zero", stop=True)
    many = zw.simulate_many(oscillator, {z: 1, dot(z): 0}, 5.0, samples=3, events=[event], parameters={k: stiffness})
    assert abs(many.event_time.values[:, 0] - np.pi / 2 / np.sqrt(stiffness)).max() < 1e-11
    assert (many.status == "event").all()


def test_samples_that_switch_and_samples_at_singular_positions_have_their_events_too():
    z = zw.coordinates("z")
    rough = zw.System((z,), kinetic=dot(z) ** 2 / 2, potential=2 * z**2, forces={z: -sp.sign(dot(z)) / 10})
    starts = {z: np.array([1.0, 1.5, 2.0]), dot(z): 0.0}
    many = zw.simulate_many(rough, starts, 4.0, samples=5, events=[zw.Event(z, "through")], tol=1e-10)
    for i in range(3):
        alone = zw.simulate(rough, one_of(starts, i), 4.0, samples=5, events=[zw.Event(z, "through")], tol=1e-10)
        assert (many.event_time.values[i][: alone.sizes["event"]] == alone.event_time.values).all()


def test_without_any_hit_there_are_no_events():
    system, _ = problems.pendulum()
    many = zw.simulate_many(system, fan(3), 0.01, samples=2, events=[zw.Event(y - 50, "high")])
    assert many.sizes["event"] == 0
    assert many.event_time.shape == (3, 0)


def test_events_in_a_store_are_refused(tmp_path):
    system, _ = problems.pendulum()
    with pytest.raises(InputError, match="events are not kept in a store"):
        zw.simulate_many(system, fan(3), 0.1, samples=2, events=[LOWEST], store=tmp_path / "s.zarr")
