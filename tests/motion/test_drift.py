"""Drift of the constraints: its laws, what is done about it, what that does to energy and forces, what it costs."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import problems
from zwang import dot
from zwang.model.values import given_values
from zwang.motion.drive import integrate
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare

DRIFTS = ("none", "projection", "baumgarte", ("baumgarte", 40.0, 30.0))


def off_the_constraints(problem, drift, until, dq=0.0, dv=0.0, **options):
    """The residuals φ and φ̇ over time of a motion that starts a little off; `simulate` itself would refuse it."""
    system, start = problem
    method = options.get("method", "native")
    setup = prepare(system, given_values(system, None), RunOptions(np.inf, method=method, tol=1e-13, drift=drift))
    q = np.array([start[c] for c in system.coordinates], dtype=float) + dq
    v = np.array([start[c] for c in system.velocities], dtype=float) + dv
    grid = np.linspace(0, until, 41)
    segments, path = integrate(setup, (0.0, q, v), grid, None)
    assert path.status == "finished"
    q, v = np.concatenate([s.q for s in segments]), np.concatenate([s.v for s in segments])
    states = zip(grid, q, v, strict=True)
    found = [setup.matrices(*state) for state in states]
    return grid, np.array([m.residual for m in found]), np.array([m.residual_rate for m in found])


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_without_stabilisation_a_residual_keeps_its_rate(method):
    t, phi, rate = off_the_constraints(problems.pendulum(), "none", 2.0, dq=[0.01, 0.02], dv=[0.03, 0], method=method)
    assert abs(rate[0, 0]) > 0.01
    assert np.abs(phi[:, 0] - phi[0, 0] - rate[0, 0] * t).max() < 1e-12
    assert np.abs(rate[:, 0] - rate[0, 0]).max() < 1e-12


@pytest.mark.parametrize("method", ["native", "taylor"])
@pytest.mark.parametrize("gain", [2.0, 10.0])
def test_the_law_of_baumgarte(gain, method):
    t, phi, rate = off_the_constraints(
        problems.pendulum(), ("baumgarte", gain, gain), 2.0, dq=[0.01, 0.02], dv=[0.03, 0], method=method
    )
    start, speed = phi[0, 0], rate[0, 0]
    assert np.abs(phi[:, 0] - (start + (speed + gain * start) * t) * np.exp(-gain * t)).max() < 1e-12


def test_the_law_of_baumgarte_at_velocity_level():
    problem = problems.knife_edge()
    t, _, psi = off_the_constraints(problem, "none", 2.0, dv=[0.0, 0.03, 0.0])
    assert np.abs(psi[:, 0] + 0.03).max() < 1e-12
    t, _, psi = off_the_constraints(problem, ("baumgarte", 3.0, 3.0), 2.0, dv=[0.0, 0.03, 0.0])
    assert np.abs(psi[:, 0] + 0.03 * np.exp(-3 * t)).max() < 1e-12


def test_projection_removes_what_is_off_at_once():
    _, phi, rate = off_the_constraints(problems.pendulum(), "projection", 2.0, dq=[0.01, 0.02], dv=[0.03, 0])
    assert np.abs(phi[1:]).max() < 1e-14
    assert np.abs(rate[1:]).max() < 1e-14


@pytest.mark.parametrize("drift", DRIFTS, ids=str)
@pytest.mark.parametrize(
    "problem", [problems.pendulum, problems.double_pendulum, problems.knife_edge, problems.bead_on_wire]
)
def test_the_motion_and_its_forces_are_the_same(problem, drift):
    system, start = problem()
    motion = zw.simulate(system, start, 1.5, samples=16, tol=1e-13, drift=drift)
    plain = zw.simulate(system, start, 1.5, samples=16, tol=1e-13)
    for name in ("q", "v", "a", "constraint_force", "multiplier", "energy"):
        assert np.abs(motion[name].values - plain[name].values).max() < 1e-9 * max(1, np.abs(plain[name].values).max())
    assert motion.drift == (drift if isinstance(drift, str) else "baumgarte")


def test_reported_forces_are_the_physical_ones_although_terms_were_added():
    # Off the constraint by 1e-9, Baumgarte's terms accelerate by β²φ = 9e-4; the force reported knows nothing of them.
    system, start = problems.pendulum()
    x, y = system.coordinates
    motion = zw.simulate(system, start | {x: 1 + 1e-9}, 1.0, samples=11, drift=("baumgarte", 1000.0, 1000.0))
    for i in (0, 5):
        state = dict(zip((x, y, dot(x), dot(y)), [*motion.q.values[i], *motion.v.values[i]], strict=True))
        now = zw.evaluate(system, state)
        assert np.abs(motion.constraint_force.values[i] - now.constraint_force).max() < 1e-12
        assert np.abs(motion.a.values[i] - now.acceleration).max() < 1e-12


def test_energy_that_stabilisation_adds_is_visible():
    # Off by 5e-9 and driven back within milliseconds. The energy changes by the work of the rod's force on the way
    # back, which the constraint's power shows, and by that of Baumgarte's terms, which only the balance can show.
    system, start = problems.pendulum()
    x, _ = system.coordinates
    gain, times = 1000.0, np.linspace(0, 0.02, 4001)
    slope = {x: np.sqrt(0.5), system.coordinates[1]: -np.sqrt(0.5) - 7e-9}
    motion = zw.simulate(system, start | slope, 0.02, times=times, tol=1e-15, drift=("baumgarte", gain, gain))
    phi, rate = motion.residual.values[:, 0], motion.residual_rate.values[:, 0]
    assert abs(phi[-1]) < 1e-6 * abs(phi[0])
    work = rate**2 / 2  # of φ̈ = −2αφ̇ − β²φ times φ̇, with AM⁻¹Aᵀ = x² + y² = 1
    assert work.max() > 1e-12
    assert np.abs(motion.energy_balance.values - work).max() < 0.02 * work.max()
    assert float(abs(motion.energy - motion.energy[0]).max()) > 1e-9
    plain = zw.simulate(system, start | slope, 0.02, times=times, tol=1e-15)
    assert float(abs(plain.energy_balance).max()) < 1e-14


@pytest.mark.parametrize(
    "problem", [problems.double_pendulum, problems.andrews, problems.heavy_top, problems.rolling_disk]
)
def test_projection_keeps_residuals_at_round_off(problem):
    system, start = problem()
    until = {7: 0.05, 4: 20.0, 6: 20.0}[len(system.coordinates)]
    motion = zw.simulate(system, start, until, samples=201, tol=1e-10, drift="projection", method="native")
    size = max(1.0, np.abs(motion.v.values).max())
    assert np.nanmax(np.abs(motion.residual)) < 5e-15
    assert np.nanmax(np.abs(motion.residual_rate)) < 5e-15 * size


def beam_on_three_cranks():
    """Any two of the cranks would do; that the third follows is true on the constraints only."""
    x, y, angle = zw.coordinates("x y angle")
    across = [(x + d * sp.cos(angle) - d, y + d * sp.sin(angle)) for d in (-1, 0, 1)]
    cranks = {f"crank {i}": u**2 + w**2 - 1 for i, (u, w) in enumerate(across, 1)}
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + dot(angle) ** 2) / 2
    system = zw.System((x, y, angle), kinetic=kinetic, potential=9.81 * y, constraints=cranks)
    start = {x: 0.6, y: -0.8, angle: 0, dot(x): 0, dot(y): 0, dot(angle): 0}
    return system, start


@pytest.mark.parametrize("method", ["native", "taylor", "radau", "lsoda"])
def test_redundant_constraints_are_projected_onto_without_being_asked(method):
    system, start = beam_on_three_cranks()
    angle = system.coordinates[2]
    verdict = zw.diagnose(system, start)
    assert (verdict.rank, len(verdict.redundant)) == (2, 1)
    assert zw.evaluate(system, start | {angle: 0.1}).rank == 3  # beside the constraints nothing is redundant
    motion = zw.simulate(system, start, 5.0, samples=51, tol=1e-6, method=method)
    assert motion.drift == "projection"
    assert np.abs(motion.residual).max() < 1e-12
    assert np.abs(motion.residual_rate).max() < 1e-12
    steered = zw.simulate(system, start, 5.0, samples=51, tol=1e-6, method=method, drift="baumgarte")
    assert steered.drift == "baumgarte"
    assert 1e-10 < np.abs(steered.residual).max() < 1e-3
    two = zw.System(
        system.coordinates, kinetic=system.kinetic, potential=system.potential, constraints=system.constraints[:2]
    )
    assert zw.simulate(two, start, 5.0, samples=51, tol=1e-6, method=method).drift == "none"


def test_many_motions_say_so_too():
    system, start = beam_on_three_cranks()
    x, y, _ = system.coordinates
    swing = np.array([0.3, 0.6])
    many = zw.simulate_many(system, start | {x: np.sin(swing), y: -np.cos(swing)}, 5.0, samples=51, tol=1e-6)
    assert many.drift == "projection"
    assert np.abs(many.residual).max() < 1e-12


def test_what_each_costs():
    system, start = problems.double_pendulum()
    cost = {
        drift: zw.simulate(system, start, 20.0, samples=2, tol=1e-10, drift=drift, method="native").evaluations
        for drift in ("none", "projection", "baumgarte")
    }
    assert cost["projection"] < 1.1 * cost["none"]  # corrections are not evaluations of the acceleration
    assert cost["baumgarte"] < 3 * cost["none"]


# Long runs. The residual of the acceleration-level equation is an integral twice over of the errors of all steps: it
# grows like t² at worst. Energies go along. With projection, energy errors grow like t.


def test_a_thousand_swings_of_a_pendulum():
    system, start = problems.pendulum()
    until = 1000 * 2.3678419475762374493
    for drift, residual, energy in (("none", 1e-7, 1e-6), ("projection", 1e-15, 1e-9), ("baumgarte", 1e-13, 1e-9)):
        motion = zw.simulate(system, start, until, samples=101, tol=1e-13, method="native", drift=drift)
        assert float(abs(motion.residual).max()) < residual
        assert float(abs(motion.energy).max()) < energy


def test_a_double_pendulum_for_a_hundred_seconds():
    system, start = problems.double_pendulum()
    for drift, residual, energy in (("none", 1e-8, 1e-7), ("projection", 1e-14, 1e-8)):
        motion = zw.simulate(system, start, 100.0, samples=101, tol=1e-13, method="native", drift=drift)
        assert float(abs(motion.residual).max()) < residual
        assert float(abs(motion.energy - motion.energy[0]).max()) < energy
