"""Motions under signals: forces and constraints from tables, on every engine that can read them."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.motion.systems import OMEGA, closed_form, k, m, oscillator, record, u, x, y
from zwang import dot
from zwang.engines.native import engine as native
from zwang.errors import InputError
from zwang.lowering import matrices
from zwang.lowering.rows import choose
from zwang.model.signal import INTERPOLATIONS
from zwang.model.values import given_values
from zwang.motion.breaks import breaks_in
from zwang.motion.drive import task_of
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare
from zwang.motion.start import polished

w = zw.coordinates("w")

# Forces.


@pytest.mark.parametrize("kind", INTERPOLATIONS)
@pytest.mark.parametrize(("method", "tol", "allowed"), [
    ("native", 1e-12, 1e-11), ("native", 1e-6, 1e-6), ("radau", 1e-7, 1e-6), ("lsoda", 1e-9, 2e-6),
])  # fmt: skip
def test_an_oscillator_under_a_tabulated_force(kind, method, tol, allowed):
    signal = record(kind=kind)
    motion = zw.simulate(oscillator(signal), {x: 0.5, dot(x): 0}, until=4.0, samples=83, method=method, tol=tol)
    exact = closed_form(signal, motion.time.values)
    np.testing.assert_allclose(motion.q[:, 0], exact, atol=allowed)
    np.testing.assert_allclose(motion.force[:, 0], 2 * (signal(motion.time) - OMEGA**2 * motion.q[:, 0]), atol=1e-12)
    assert abs(motion.energy_balance).max() < 10 * allowed  # the force is up to ten where the place is off


@pytest.mark.parametrize("kind", INTERPOLATIONS)
def test_steps_end_at_breaks(kind):
    """A tenth of the work, and the error of a smooth problem: measured against running across the breaks."""
    signal = record(dt=0.05, kind=kind)
    system = oscillator(signal)
    setup = prepare(system, given_values(system, None), RunOptions(np.inf, tol=1e-9))
    setup = replace(setup, breaks=breaks_in(setup, setup.p[None], 0.0, 4.0)[0])
    state = (0.0, np.array([0.5]), np.array([0.0]))
    basis = choose(polished(setup, state), ("x",))
    grid = np.linspace(0, 4, 33)
    task = task_of(setup, basis, state, grid, None, {})
    exact = closed_form(signal, grid)
    ending, across = native.run(task), native.run(replace(task, breaks=np.zeros(0)))
    assert abs(ending.q[:, 0] - exact).max() < 1e-9 < 1e-8 < abs(across.q[:, 0] - exact).max()
    assert ending.evaluations < across.evaluations / 2
    back = replace(task, t=4.0, q=ending.q[-1], v=ending.v[-1], times=grid[::-1].copy())
    np.testing.assert_allclose(native.run(back).q[:, 0], exact[::-1], atol=1e-8)


def test_a_force_that_jumps():
    """Switched on at 1 and off at 2: the velocity gains what the force gave."""
    signal = zw.Signal([1, 2], [3, 3], outside="zero")
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: u}, parameters={u: signal})
    for method, tol, allowed in (("native", 1e-12, 1e-12), ("radau", 1e-8, 1e-7), ("lsoda", 1e-8, 1e-5)):
        motion = zw.simulate(system, {x: 0, dot(x): 0}, until=3, times=[1, 1.5, 2, 3], method=method, tol=tol)
        np.testing.assert_allclose(motion.v[:, 0], [0, 1.5, 3, 3], atol=allowed)
        np.testing.assert_allclose(motion.q[:, 0], [0, 0.375, 1.5, 4.5], atol=allowed)


def test_a_signal_is_as_good_as_the_formula_it_samples():
    """A cubic spline through points of a cubic is that cubic: in mass, potential, force and constraint."""
    formula = 1 + zw.t / 2 - zw.t**2 + zw.t**3 / 3
    times = np.linspace(0, 2, 9)
    signal = zw.Signal(times, 1 + times / 2 - times**2 + times**3 / 3, "cubic")
    system = zw.System(
        (x, y),
        kinetic=m * (dot(x) ** 2 + (2 + u**2) * dot(y) ** 2 + dot(u) * dot(x)) / 2,
        potential=u * x**2 + y**2,
        forces={x: u * dot(u), y: u.diff(zw.t, 2)},
        constraints={"follow": y - x**2 - u},
        parameters={u: None, m: 2},
    )
    start = {x: 0.3, y: 1.09, dot(x): 0.2, dot(y): 0.62}
    for at in (0.1, 1.9):
        state = zw.assemble(system, start, parameters={u: formula}, t=at)
        assert state == pytest.approx(zw.assemble(system, start, parameters={u: signal}, t=at), abs=1e-12)
        a = zw.evaluate(system, state, t=at, parameters={u: formula})
        b = zw.evaluate(system, state, t=at, parameters={"u": signal})
        np.testing.assert_allclose(b.acceleration, a.acceleration, rtol=1e-11)
        np.testing.assert_allclose(b.multipliers, a.multipliers, rtol=1e-11)
    one = zw.simulate(system, start, until=2, samples=9, parameters={u: formula}, method="native")
    two = zw.simulate(system, start, until=2, samples=9, parameters={u: signal})
    for name in ("q", "v", "a", "constraint_force", "residual", "energy", "given_power"):
        np.testing.assert_allclose(two[name], one[name], atol=1e-9, err_msg=name)


def test_ground_acceleration():
    """A pendulum on shaken ground: in the frame of the ground, or with the ground's motion in the kinetic energy."""
    times = np.linspace(0, 3, 61)
    ground = zw.Signal(times, 0.2 * np.sin(7 * times) * times, "cubic")
    across = zw.System(
        (x,), kinetic=(dot(x) ** 2 + 2 * dot(x) * dot(u) * sp.cos(x) + dot(u) ** 2) / 2,
        potential=-9.81 * sp.cos(x), parameters={u: ground},
    )  # fmt: skip
    inside = zw.System(
        (x,), kinetic=dot(x) ** 2 / 2, potential=-9.81 * sp.cos(x),
        forces={x: -sp.cos(x) * u.diff(zw.t, 2)}, parameters={u: ground},
    )  # fmt: skip
    motions = [zw.simulate(s, {x: 0.1, dot(x): 0}, until=3, samples=31) for s in (across, inside)]
    np.testing.assert_allclose(motions[0].q, motions[1].q, atol=1e-10)
    record = zw.Signal(times, ground(times, 2))  # an accelerogram, straight between its points
    measured = zw.System(
        (x,), kinetic=dot(x) ** 2 / 2, potential=-9.81 * sp.cos(x), forces={x: -sp.cos(x) * w}, parameters={w: record}
    )
    motion = zw.simulate(measured, {x: 0.1, dot(x): 0}, until=3, samples=31)
    np.testing.assert_allclose(motion.q, motions[1].q, atol=1e-10)  # ü of a cubic spline is straight between points


def test_two_signals_at_once():
    one, two = record(dt=0.3), record(dt=0.07, kind="cubic")
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: u * w}, parameters={u: one, w: two})
    motion = zw.simulate(system, {x: 0, dot(x): 0}, until=3.0, samples=4)
    grid = np.linspace(0, 3, 300_001)
    product = one(grid) * two(grid)
    np.testing.assert_allclose(motion.v[-1, 0], np.trapezoid(product, grid), atol=1e-7)
    np.testing.assert_allclose(motion.force[:, 0], one(motion.time) * two(motion.time), atol=1e-14)


# Constraints.


def test_a_constraint_that_follows_a_signal():
    signal = record(dt=0.25, kind="cubic")
    system = zw.System(
        (x, y), kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2, potential=k * (x - y) ** 2,
        constraints={"driver": x - u}, parameters={m: 3, k: 4, u: signal},
    )  # fmt: skip
    start = {x: float(signal(0)), y: 0, dot(x): float(signal(0, 1)), dot(y): 0}
    motion = zw.simulate(system, start, until=4, samples=41)
    np.testing.assert_allclose(motion.q[:, 0], signal(motion.time), atol=1e-11)
    np.testing.assert_allclose(motion.v[:, 0], signal(motion.time, 1), atol=1e-10)
    spring = 2 * 4 * (motion.q[:, 0] - motion.q[:, 1])
    np.testing.assert_allclose(motion.constraint_force[:, 0] - spring, 3 * signal(motion.time, 2), atol=1e-9)
    assert abs(motion.residual).max() < 1e-11
    assert zw.diagnose(system, start).ok


def test_a_velocity_that_follows_a_linear_signal():
    signal = record(dt=0.5)
    system = zw.System(
        (x,), kinetic=m * dot(x) ** 2 / 2, constraints={"speed": dot(x) - u}, parameters={m: 2, u: signal}
    )
    motion = zw.simulate(system, {x: 0, dot(x): float(signal(0))}, until=4, times=np.arange(0.25, 4, 0.5))
    np.testing.assert_allclose(motion.v[:, 0], signal(motion.time), atol=1e-12)
    np.testing.assert_allclose(motion.constraint_force[:, 0], 2 * signal(motion.time, 1), atol=1e-12)


ROUGH = {
    "a position on a polygon": (
        {"constraints": {"c": x - u}},
        "linear",
        r"constraint 'c' .* the rate of the signal u\(t\)",
    ),
    "a velocity on its slope": ({"constraints": {"c": dot(x) - dot(u)}}, "linear", "use kind='cubic'"),
    "a moving base": ({"kinetic": (dot(x) + dot(u)) ** 2 / 2}, "linear", "kinetic asks"),
    "a force of its second derivative": ({"forces": {x: u.diff(zw.t, 2)}}, "linear", "rate of the signal"),
    "a velocity on a curve too rough": ({"constraints": {"c": dot(x) - u.diff(zw.t, 3)}}, "cubic", "order 3"),
}


@pytest.mark.parametrize("case", ROUGH)
def test_signals_too_rough_to_be_followed_are_refused(case):
    changes, kind, message = ROUGH[case]
    system = zw.System((x,), **({"kinetic": dot(x) ** 2 / 2} | changes), parameters={u: record(kind=kind)})
    with pytest.raises(InputError, match=message):
        zw.simulate(system, {x: 0, dot(x): 0}, until=1.0)


def test_leaving_the_table():
    signal = record(end=1.0, kind="cubic", outside="error")
    start = {x: 0, dot(x): 0}
    assert zw.simulate(oscillator(signal), start, until=1.0, samples=2).status == "finished"
    with pytest.raises(InputError, match=r"from 0 to 1.5, but the signal u\(t\) from 0 to 1: end the motion earlier"):
        zw.simulate(oscillator(signal), start, until=1.5)
    with pytest.raises(InputError, match=r"from -1 to 0.5"):
        zw.simulate(oscillator(signal), start, until=0.5, t=-1)
    with pytest.raises(InputError, match="entry of Q of x is not finite"):
        zw.evaluate(oscillator(signal), start, t=2.0)
    held = zw.Signal([0, 1], [0, 1], "cubic")  # holds 1 from there on: its rate jumps
    follow = zw.System((x,), kinetic=dot(x) ** 2 / 2, constraints={"c": x - u}, parameters={u: held})
    assert zw.simulate(follow, {x: 0, dot(x): 1}, until=1.0, samples=2).status == "finished"
    with pytest.raises(InputError, match=r"jumps at t = 1.*smooth it, or end the motion before"):
        zw.simulate(follow, {x: 0, dot(x): 1}, until=1.5)


# The rest of the house.


def test_a_new_signal_needs_no_new_code(monkeypatch):
    start, options = {x: 0.5, dot(x): 0}, {"until": 1.0, "samples": 3}
    system = oscillator(record())
    zw.simulate(system, start, **options)

    def refuse(*given, **also):
        raise AssertionError("compiled again")

    monkeypatch.setattr(native, "PRICE", np.inf)  # nor is it compiled better, however slow the machine is today
    monkeypatch.setattr(native, "compile_program", refuse)
    monkeypatch.setattr(native, "PRICE", np.inf)  # on a busy machine runs take long enough to be optimised
    monkeypatch.setattr(matrices, "compile_program", refuse)
    for signal in (record(), record(dt=0.013, kind="cubic"), zw.Signal([0, 0.4, 1], [1, 2, 5], outside="zero")):
        motion = zw.simulate(system, start, parameters={u: signal}, **options)
        np.testing.assert_allclose(
            motion.force[:, 0], 2 * (signal(motion.time) - OMEGA**2 * motion.q[:, 0]), atol=1e-12
        )
        assert zw.simulate(oscillator(signal), start, **options).equals(motion)


def test_the_dataset_names_the_signal_and_not_its_address():
    motion = zw.simulate(oscillator(record()), {x: 0, dot(x): 0}, until=1.0, samples=2)
    assert "Signal(41 points from 0 to 4" in motion.parameters
    assert "signal[" not in motion.parameters


def test_many_starts_under_one_signal():
    signal = record(kind="cubic")
    values = np.array([0.5, -0.2, 0.1])
    motion = zw.simulate_many(oscillator(signal), {x: values, dot(x): 0}, until=2.0, samples=5)
    for i, value in enumerate(values):
        exact = closed_form(signal, motion.time.values, position=value)
        np.testing.assert_allclose(motion.q[i, :, 0], exact, atol=1e-10)
    masses = zw.simulate_many(oscillator(signal), {x: 0.5, dot(x): 0}, until=2.0, samples=5, parameters={m: [1, 5]})
    np.testing.assert_allclose(masses.q[0], masses.q[1], atol=1e-10)


def test_events_of_signals():
    signal = zw.Signal([0, 1, 2], [0, 2, 0])
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: u}, parameters={u: signal})
    for method in ("native", "radau"):
        motion = zw.simulate(
            system, {x: 0, dot(x): 0}, until=2.0, samples=2, method=method, tol=1e-8, events=[zw.Event(u - 1, "one")]
        )
        np.testing.assert_allclose(motion.event_time, [0.5, 1.5], atol=1e-12)


@pytest.mark.parametrize("method", ["native", "radau", "lsoda"])
def test_a_signal_that_jumps_over_zero_is_no_event(method):
    signal = zw.Signal([1, 2], [3, 3], outside="zero")
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: u}, parameters={u: signal})
    events = [zw.Event(u - 1, "jump"), zw.Event(x - 1, "there")]
    motion = zw.simulate(system, {x: 0, dot(x): 0}, until=3.0, samples=2, method=method, tol=1e-9, events=events)
    assert list(motion.event_name.values) == ["there"]
    np.testing.assert_allclose(motion.event_time, 1 + np.sqrt(2 / 3), atol=1e-6)


def test_sensitivities_under_a_signal():
    signal = record(kind="cubic")
    options = {"until": 2.0, "samples": 3}
    start = {x: 0.5, dot(x): 0}
    motion = zw.sensitivities(oscillator(signal), start, inputs=[k], **options)
    h = 1e-4
    more, less = (zw.simulate(oscillator(signal), start, parameters={k: OMEGA**2 + d}, **options) for d in (h, -h))
    np.testing.assert_allclose(motion.dq[..., 0], (more.q - less.q) / (2 * h), atol=1e-7)


def test_taylor_cannot_read_tables():
    start = {x: 0, dot(x): 0}
    with pytest.raises(
        InputError,
        match=r"u\(t\) is a signal, and method='taylor' cannot read tables: use method='native' or 'radau' or 'lsoda'",
    ):
        zw.simulate(oscillator(record()), start, until=1.0, method="taylor")
    motion = zw.simulate(oscillator(record()), start, until=1.0, samples=2, tol=1e-14)
    assert motion.method == "native"
