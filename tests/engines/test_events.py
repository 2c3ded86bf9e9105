"""Events on coordinates, rates, time, parameters, multipliers and forces of constraint."""

import numpy as np
import pytest
import sympy as sp
from scipy.special import ellipk

import zwang as zw
from tests.references import problems
from zwang import Event, constraint_force, dot, multiplier
from zwang.errors import InputError

x, y = zw.coordinates("x y")
METHODS = ["native", "taylor"]
PERIOD = 2.3678419475762374493  # of the pendulum released at the height of its pivot


@pytest.fixture(scope="module")
def pendulum():
    return problems.pendulum()


def run(problem, until, events, **options):
    return zw.simulate(*problem, until, **({"events": events, "tol": 1e-13} | options))


@pytest.mark.parametrize("method", METHODS)
def test_zeros_of_a_coordinate_to_the_tolerance(pendulum, method):
    motion = run(pendulum, 10.0, [Event(x, "below")], method=method)
    count = motion.sizes["event"]
    assert count == 8
    assert np.abs(motion.event_time.values - PERIOD * (0.25 + 0.5 * np.arange(count))).max() < 1e-11
    assert np.abs(motion.event_q.sel(coordinate="x").values).max() < 1e-11
    assert np.abs(motion.event_q.sel(coordinate="y").values + 1).max() < 1e-11
    assert np.abs(np.abs(motion.event_v.sel(coordinate="x").values) - np.sqrt(2 * 9.81)).max() < 1e-10
    assert motion.status == "finished"


@pytest.mark.parametrize("method", METHODS)
def test_directions(pendulum, method):
    events = [Event(x, "both"), Event(x, "up", direction=1), Event(x, "down", direction=-1)]
    motion = run(pendulum, 10.0, events, method=method)
    names = motion.event_name.values
    times = {name: motion.event_time.values[names == name] for name in ("both", "up", "down")}
    assert len(times["both"]) == 8
    assert np.allclose(times["down"], times["both"][::2], atol=1e-12)
    assert np.allclose(times["up"], times["both"][1::2], atol=1e-12)
    assert (np.diff(motion.event_time.values) >= 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_rates_time_and_parameters(pendulum, method):
    system, _ = pendulum
    m, g = system.parameters
    events = [
        Event(dot(y), "lowest", direction=1),
        Event(zw.t - sp.Rational(3, 4), "on time"),
        Event(m * dot(x) ** 2 / 2 + m * dot(y) ** 2 / 2 - g / 2, "half the energy", direction=1),
    ]
    motion = run(pendulum, 1.0, events, method=method)
    found = dict(zip(motion.event_name.values, motion.event_time.values, strict=True))
    assert found["lowest"] == pytest.approx(PERIOD / 4, abs=1e-11)
    assert found["on time"] == 0.75
    at = motion.event_q.isel(event=list(motion.event_name.values).index("half the energy"))
    assert float(at.sel(coordinate="y")) == pytest.approx(-0.5, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_stop_ends_the_motion_there(pendulum, method):
    events = [Event(x, "below", direction=-1), Event(y + sp.Rational(1, 2), "stop here", stop=True)]
    motion = run(pendulum, 10.0, events, method=method, times=np.linspace(0, 10, 101))
    assert motion.status == "event"
    assert list(motion.event_name.values) == ["stop here"]
    when = float(motion.event_time[0])
    assert motion.message == f"stopped by the event 'stop here' at t = {when:.12g}."
    assert float(motion.event_q.sel(coordinate="y")[0]) == pytest.approx(-0.5, abs=1e-13)
    assert float(motion.time[-1]) <= when < float(motion.time[-1]) + 0.1


@pytest.mark.parametrize("method", METHODS)
def test_a_string_goes_slack_where_its_multiplier_vanishes(method):
    # Thrown upwards from below with v² = 4gL: the tension m(v² − 2gL(1 − c))/L + mg cos vanishes at cos φ = −2/3.
    system, _ = problems.pendulum()
    speed = np.sqrt(4 * 9.81)
    start = {x: 0, y: -1, dot(x): speed, dot(y): 0}
    motion = zw.simulate(
        system, start, 5.0, samples=51, tol=1e-13, method=method, events=[Event(multiplier("rod"), "slack", stop=True)]
    )
    assert motion.status == "event"
    assert float(motion.event_q.sel(coordinate="y")[0]) == pytest.approx(2 / 3, abs=1e-11)
    assert (motion.multiplier < 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_forces_of_constraint(method):
    # A bead leaves a sphere at cos θ = 2/3 of its height: where the upward force of constraint vanishes.
    x, z = zw.coordinates("x z")
    system = zw.System(
        (x, z),
        kinetic=(dot(x) ** 2 + dot(z) ** 2) / 2,
        potential=9.81 * z,
        constraints={"sphere": x**2 + z**2 - 1},
    )
    c = np.cos(1e-3)
    start = {x: np.sin(1e-3), z: c, dot(x): 0, dot(z): 0}
    motion = zw.simulate(system, start, 5.0, samples=5, method=method, events=[Event(constraint_force(z), stop=True)])
    assert motion.status == "event"
    assert float(motion.event_q.sel(coordinate="z")[0]) == pytest.approx(2 / 3 * c, abs=1e-10)
    assert list(motion.event_name.values) == ["event 1"]


def test_forces_of_nonideal_and_singular_systems():
    ring = problems.coulomb_ring()
    system, _ = ring
    cx, cy = system.coordinates
    both = constraint_force(cx) ** 2 + constraint_force(cy) ** 2
    v, radius, mass, mu = 1.0, 0.8, 1.5, 0.3
    size = (mass * v**2 / radius) ** 2 * (1 + mu**2)
    motion = run(ring, 3.0, [Event(both - size, "slowed down")])
    assert motion.event_time.values == pytest.approx([(2 / v - 1) * radius / (mu * 2)], abs=1e-10)
    top = problems.heavy_top()
    u = top[0].coordinates
    free = zw.simulate(*top, 0.02, samples=201, tol=1e-13)
    level = float(free.constraint_force.sel(coordinate="u0")[100])
    motion = run(top, 0.02, [Event(constraint_force(u[0]) - level, "here")])
    assert np.abs(motion.event_time.values - 0.01).min() < 1e-9


def test_forces_with_redundant_rows_are_fine_but_multipliers_are_not():
    problem = problems.disk_on_incline()
    _, y, _ = problem[0].coordinates
    motion = run(problem, 1.0, [Event(constraint_force(y) - 100, "never")])
    assert motion.sizes["event"] == 0
    assert motion.event_q.shape == (0, 3)
    with pytest.raises(InputError, match=r"'which' asks for multiplier\[contact\], but with redundant constraints"):
        run(problem, 1.0, [Event(multiplier("contact"), "which")])


def test_what_an_event_does_not_know_is_named(pendulum):
    z = zw.coordinates("z")
    with pytest.raises(InputError, match=r"event 'odd': unknown symbol kk"):
        run(pendulum, 1.0, [Event(x - sp.Symbol("kk"), "odd")])
    with pytest.raises(InputError, match=r"event 'odd': unknown symbol multiplier\[rode\].*multiplier\[rod\]"):
        run(pendulum, 1.0, [Event(multiplier("rode"), "odd")])
    with pytest.raises(InputError, match=r"event 'odd': unknown symbol z\(t\)"):
        run(pendulum, 1.0, [Event(x - z, "odd")])
    with pytest.raises(InputError, match="direction is 2, but −1, 0 or 1 is meant"):
        Event(x, "odd", direction=2)
    with pytest.raises(InputError, match="'x' is text"):
        Event("x", "odd")


@pytest.mark.parametrize("method", METHODS)
def test_many_events(method):
    # More than the native engine's table holds at once.
    motion = run(problems.pendulum(), 200.0, [Event(sp.sin(20 * zw.t), "tick")], method=method, tol=1e-8)
    assert motion.sizes["event"] == int(4000 / np.pi) > 1024
    expected = np.arange(1, motion.sizes["event"] + 1) * np.pi / 20
    assert np.abs(motion.event_time.values - expected).max() < 1e-10


def test_an_event_at_the_start_does_not_fire(pendulum):
    motion = run(pendulum, 1.0, [Event(y, "level"), Event(x - 1, "start")])
    assert motion.sizes["event"] == 0


def test_the_pendulum_with_a_large_swing_has_its_period():
    system, _ = problems.pendulum()
    angle = 3.0
    start = {x: np.sin(angle), y: -np.cos(angle), dot(x): 0, dot(y): 0}
    motion = zw.simulate(system, start, 20.0, samples=2, tol=1e-14, events=[Event(x, "below", direction=1)])
    period = 4 * ellipk(np.sin(angle / 2) ** 2) / np.sqrt(9.81)
    assert np.diff(motion.event_time.values) == pytest.approx(period, abs=1e-9)
