"""Radau and LSODA: stiff systems against outside numbers, the others against the native engine."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import problems
from zwang import dot
from zwang.engines import steps as march
from zwang.engines.native import engine as native
from zwang.engines.registry import SCIPY_TIGHTEST, names, runner
from zwang.engines.scipy.jacobian import jacobian_of, jacobian_program
from zwang.engines.steps import stretches
from zwang.engines.task import Status, Task, packed
from zwang.errors import InputError, SimulationError
from zwang.formulations.forms import integrable
from zwang.lowering.rows import choose
from zwang.model.values import given_values
from zwang.motion.drive import task_of
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare
from zwang.motion.start import polished

x, y, z = zw.coordinates("x y z")
m, g, k = zw.parameters("m g k")
METHODS = names(lambda engine: engine.run and engine.stiff)


def pendulum():
    return zw.System(
        (x, y),
        kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=m * g * y,
        constraints={"rod": x**2 + y**2 - 1},
        parameters={m: 1, g: 9.81},
    )


HANGING = {x: 1, y: 0, dot(x): 0, dot(y): 0}


def task(system, start, until=1.0, tol=1e-9, drift="none", events=(), form="fundamental", samples=11) -> Task:
    options = RunOptions(np.inf, method="radau", form=form, tol=tol, drift=drift, events=events)
    setup = prepare(system, given_values(system, None), options)
    values = np.array([start[s] for s in (*system.coordinates, *system.velocities)], dtype=float)
    n = len(values) // 2
    state = (0.0, values[:n], values[n:])
    basis = choose(polished(setup, state), system.coordinate_names, form)
    return task_of(setup, basis, state, np.linspace(0.0, until, samples), None, {})


# Outside truth.


def test_the_stiff_governor():
    system, start = problems.flyball()
    reference = problems.numbers("flyball")["samples"]
    motion = zw.simulate(system, start, until=2.0, times=[0.5, 1, 2], method="radau", tol=1e-8)
    for at in ("0.5", "1", "2"):
        now, numbers = motion.sel(time=float(at)), reference[at]
        found = [
            *(now.q.sel(coordinate=c) for c in ("alpha1", "s")),
            *(now.v.sel(coordinate=c) for c in ("alpha1", "s")),
        ]
        wanted = [float(numbers[name]) for name in ("alpha", "s", "alphadot", "sdot")]
        np.testing.assert_allclose(found, wanted, atol=2e-8)
    assert motion.steps < 1000  # an explicit method of order 8 takes thousands


@pytest.mark.parametrize(("method", "tol", "allowed"), [("radau", 1e-6, 1e-7), ("lsoda", 1e-10, 1e-7)])
def test_van_der_pol(method, tol, allowed):
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: ((1 - x**2) * dot(x) - x) * 10**6})
    motion = zw.simulate(system, {x: 2, dot(x): 0}, until=2, samples=2, method=method, tol=tol)
    reference = problems.numbers("vanderpol")
    assert abs(motion.q.values[-1, 0] - float(reference["q"])) < allowed
    assert abs(motion.v.values[-1, 0] - float(reference["v"])) < allowed


# Agreement.


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", integrable())
def test_agrees_with_the_native_engine(method, form):
    exact = zw.simulate(pendulum(), HANGING, until=1.0, samples=11)
    motion = zw.simulate(pendulum(), HANGING, until=1.0, samples=11, method=method, form=form, tol=1e-9)
    np.testing.assert_allclose(motion.q, exact.q, atol=1e-7)
    np.testing.assert_allclose(motion.multiplier, exact.multiplier, atol=1e-6)
    assert motion.method == method
    assert motion.steps > 10
    assert motion.evaluations > motion.steps


@pytest.mark.parametrize("method", METHODS)
def test_projection_keeps_the_constraints(method):
    options = {"until": 20.0, "samples": 21, "method": method, "tol": 1e-5}  # long enough to drift
    drifting = zw.simulate(pendulum(), HANGING, **options)
    kept = zw.simulate(pendulum(), HANGING, drift="projection", **options)
    damped = zw.simulate(pendulum(), HANGING, drift=("baumgarte", 20, 20), **options)
    assert abs(drifting.residual).max() > 1e-9
    assert abs(damped.residual).max() < abs(drifting.residual).max()
    assert abs(kept.residual).max() < 2e-13
    assert abs(kept.residual_rate).max() < 2e-12


def test_lsoda_is_put_back_when_it_has_drifted_far(monkeypatch):
    starts = []
    make = march.make
    monkeypatch.setattr(march, "make", lambda *given: starts.append(given[0].t) or make(*given))
    options = {"until": 20.0, "samples": 3, "method": "lsoda", "tol": 1e-5}
    drifting = zw.simulate(pendulum(), HANGING, **options)
    assert len(starts) == 1
    kept = zw.simulate(pendulum(), HANGING, drift="projection", **options)
    assert 3 <= len(starts) < kept.steps / 20  # and once or more on the way
    assert abs(drifting.residual).max() > 1e-3
    assert abs(kept.residual).max() < 2e-13
    assert abs(kept.energy).max() < 0.1


@pytest.mark.parametrize("method", METHODS)
def test_backwards(method):
    there = task(pendulum(), HANGING)
    end = runner(method)(there).end
    back = replace(there, t=end[0], q=end[1], v=end[2], times=there.times[::-1].copy())
    path = runner(method)(back)
    assert path.status is Status.FINISHED
    assert len(path.q) == len(there.times)
    np.testing.assert_allclose(path.q[-1], there.q, atol=1e-6)
    np.testing.assert_allclose(path.q, native.run(back).q, atol=1e-6)


# The Jacobian.


def nonlinear():
    """Friction, a spring that hardens, moving and nonholonomic constraints."""
    return zw.System(
        (x, y, z),
        kinetic=(dot(x) ** 2 + (1 + sp.sin(x) ** 2) * dot(y) ** 2 + dot(z) ** 2 + dot(x) * dot(z) * sp.cos(y)) / 2,
        potential=k * x**4 + sp.exp(y * z),
        forces={x: -dot(x) * sp.sqrt(1 + dot(x) ** 2), y: -sp.tanh(dot(y)), z: sp.Abs(z) * dot(y)},
        constraints={"edge": dot(y) - z * dot(x), "wave": x + y**2 + z - sp.sin(zw.t)},
        parameters={k: 3},
    )


@pytest.mark.parametrize("form", integrable())
@pytest.mark.parametrize("drift", ["none", "baumgarte"])
def test_jacobian_against_differences(form, drift):
    system = nonlinear()
    start = zw.assemble(system, {x: 0.3, y: 0.2, z: -0.5, dot(x): 0.4, dot(y): 0, dot(z): 0.7})
    asked = task(system, start, form=form, drift=drift)
    jacobian, note = jacobian_of(asked, sparse=False)
    assert not note
    state, n = np.concatenate([asked.q, asked.v]), 3
    kernel = native.compiled(asked.acceleration)

    def slope(at):
        return np.concatenate([at[n:], kernel.on_rows(packed(0.2, at[None], asked.p))[0, :n]])

    h = 1e-5
    differences = [(slope(state + h * e) - slope(state - h * e)) / (2 * h) for e in np.eye(2 * n)]
    np.testing.assert_allclose(jacobian(0.2, state), np.transpose(differences), rtol=1e-7, atol=1e-7)


def test_jacobian_is_made_once():
    asked = task(pendulum(), HANGING)
    assert jacobian_program(asked.acceleration) is jacobian_program(asked.acceleration)


def test_without_a_derivative_the_jacobian_is_by_differences():
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: -sp.gamma(x + 2)})
    motion = zw.simulate(system, {x: 1, dot(x): 0}, until=0.5, samples=3, method="radau", tol=1e-8)
    exact = zw.simulate(system, {x: 1, dot(x): 0}, until=0.5, samples=3)
    assert "finite differences" in motion.message
    np.testing.assert_allclose(motion.q, exact.q, atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_a_start_where_the_jacobian_is_infinite(method):
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: 1 - sp.sqrt(x)})
    motion = zw.simulate(system, {x: 0, dot(x): 0}, until=1.0, samples=3, method=method, tol=1e-7)
    exact = zw.simulate(system, {x: 0, dot(x): 0}, until=1.0, samples=3, tol=1e-9)
    np.testing.assert_allclose(motion.q, exact.q, atol=1e-5)


# Events.


@pytest.mark.parametrize("method", METHODS)
def test_events_where_the_native_engine_finds_them(method):
    events = [zw.Event(x, "bottom"), zw.Event(dot(y), "turn", direction=-1), zw.Event(y + 0.5, "falling", direction=-1)]
    options = {"until": 3.0, "samples": 4, "events": events}
    exact = zw.simulate(pendulum(), HANGING, **options)
    found = zw.simulate(pendulum(), HANGING, method=method, tol=1e-9, **options)
    assert list(found.event_name.values) == list(exact.event_name.values)  # dot(y) is zero at the start: no event
    np.testing.assert_allclose(found.event_time, exact.event_time, atol=1e-6)
    np.testing.assert_allclose(found.event_q, exact.event_q, atol=1e-6)
    assert (np.diff(found.event_time) > 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_an_event_stops(method):
    events = [zw.Event(x - 0.5, "half way", stop=True), zw.Event(y + 0.1)]
    motion = zw.simulate(pendulum(), HANGING, until=3.0, samples=31, method=method, tol=1e-10, events=events)
    assert motion.status == "event"
    assert list(motion.event_name.values) == ["event 2", "half way"]
    assert "stopped by the event 'half way'" in motion.message
    stop = motion.event_time.values[-1]
    assert motion.time.values[-1] <= stop < motion.time.values[-1] + 0.1
    assert abs(motion.event_q.values[-1, 0] - 0.5) < 1e-12


# How runs end.


@pytest.mark.parametrize("method", METHODS)
def test_a_vanishing_pivot_is_met_and_leapt(method):
    """A bead on two crossing wires: where they cross, the constraint says nothing."""
    cross = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints={"wires": x * y})
    start = {x: 1, y: 0, dot(x): -1, dot(y): 0}
    path = runner(method)(task(cross, start, until=2.0, samples=21))
    assert path.status is Status.SINGULAR
    assert 0.9 < path.end[0] < 1  # x² falls below its limit
    np.testing.assert_allclose(path.end[1], [1 - path.end[0], 0], atol=1e-9)
    assert len(path.q) == 10
    motion = zw.simulate(cross, start, until=2.0, samples=5, method=method, tol=1e-9)
    np.testing.assert_allclose(motion.q[:, 0], 1 - motion.time, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_a_short_dip_of_a_pivot_is_seen(method):
    """The pivot vanishes for an instant in the middle of what is one long step."""
    cross = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints={"wires": x * y})
    path = runner(method)(task(cross, {x: 1, y: 0, dot(x): -1, dot(y): 0}, until=100.0, tol=1e-3, samples=3))
    assert path.status is Status.SINGULAR
    assert path.end[0] < 1.1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("force", "status", "time"),
    [(sp.sqrt(1 - x), "not finite", 0.7613), (dot(x) ** 2, "step too small", 1.0)],
)
def test_runs_that_cannot_go_on(method, force, status, time):
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: force})
    start = {x: 0, dot(x): 1}
    motion = zw.simulate(system, start, until=3.0, samples=301, method=method, tol=1e-8, throw=False)
    assert motion.status == status
    assert abs(motion.time.values[-1] - time) < 0.011
    assert np.isfinite(motion.q).all()
    with pytest.raises(SimulationError, match=status):
        zw.simulate(system, start, until=3.0, method=method, tol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_a_start_without_acceleration(method):
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: sp.log(x)})
    asked = task(system, {x: 1, dot(x): 0})
    path = runner(method)(replace(asked, q=np.array([-1.0])))
    assert path.status is Status.NOT_FINITE
    assert not len(path.q)


@pytest.mark.parametrize("method", METHODS)
def test_an_interrupt_keeps_what_was_computed(method):
    heard = []

    def impatient(at, end):
        heard.append(at)
        if at > 5:
            raise KeyboardInterrupt

    motion = zw.simulate(
        pendulum(), HANGING, until=1e5, times=np.arange(100.0), method=method, tol=1e-5, progress=impatient
    )
    assert motion.status == "interrupted"
    assert 5 <= len(motion.time) < 100
    assert heard == sorted(heard)


def test_progress_is_told():
    heard = []
    zw.simulate(
        pendulum(), HANGING, until=1.0, method="lsoda", tol=1e-6, progress=lambda at, end: heard.append((at, end))
    )
    assert heard[-1] == (1.0, 1.0)


@pytest.mark.parametrize("method", METHODS)
def test_tolerances_beyond_reach_are_refused(method):
    for tol in (1e-14, 2.2e-14):
        with pytest.raises(InputError, match=f"tighter than method='{method}' can hold.*method='native'"):
            zw.simulate(pendulum(), HANGING, until=1.0, method=method, tol=tol)
    assert SCIPY_TIGHTEST < 1e-13


def test_stretches_between_breaks():
    breaks = np.array([-1.0, 0.0, 0.25, 0.5, 1.0])
    after = np.nextafter(breaks, 2)
    assert list(stretches(0.0, 1.0, breaks)) == [(0, 0), (after[1], 0.25), (after[2], 0.5), (after[3], 1.0)]
    assert list(stretches(1.0, 0.25, breaks)) == [(1.0, after[3]), (0.5, after[2]), (0.25, 0.25)]
    assert list(stretches(0.0, 1.0, breaks[:0])) == [(0.0, 1.0)]
