"""The dataset: its schema, its way into a file and back, its account of energy, and what it costs."""

import json
import tracemalloc

import numpy as np
import pytest
import sympy as sp
import xarray as xr

import zwang as zw
from tests.references import problems
from zwang import Event, dot
from zwang.engines import registry
from zwang.results.dataset import VARIABLES, balance

METHODS = registry.names()
PER_COORDINATE = {"q", "v", "a", "force", "constraint_force", "ideal_force", "nonideal_force"}
PER_CONSTRAINT = {"multiplier", "residual", "residual_rate"}
SCALARS = {"kinetic", "potential", "energy", "constraint_power", "gaussian", "rank"}
SCALARS |= {"given_power", "nonideal_power", "energy_balance"}
ATTRIBUTES = {"status", "message", "method", "tol", "steps", "evaluations", "compile_seconds", "run_seconds"}
ATTRIBUTES |= {"parameters", "zwang_version", "form", "drift", "system", "total_seconds"}


@pytest.mark.parametrize("method", METHODS)
def test_the_schema_is_the_same_for_every_engine(method):
    system, start = problems.double_pendulum()
    motion = zw.simulate(system, start, 0.5, samples=6, tol=1e-8, method=method)
    assert dict(motion.sizes) == {"time": 6, "coordinate": 4, "constraint": 2}
    for names, dims in (
        (PER_COORDINATE, ("time", "coordinate")),
        (PER_CONSTRAINT, ("time", "constraint")),
        (SCALARS, ("time",)),
        ({"unique"}, ("constraint",)),
    ):
        for name in names:
            assert motion[name].dims == dims, name
            assert motion[name].attrs["long_name"], name
    assert set(motion.data_vars) == PER_COORDINATE | PER_CONSTRAINT | SCALARS | {"unique"}
    assert set(VARIABLES) == PER_COORDINATE | PER_CONSTRAINT | SCALARS
    assert motion.coordinate.values.tolist() == ["x1", "y1", "x2", "y2"]
    assert motion.constraint.values.tolist() == ["upper", "lower"]
    assert set(motion.attrs) >= ATTRIBUTES
    assert motion.method == method
    assert motion.status == "finished"
    assert motion.tol == 1e-8
    assert motion.steps > 0
    assert motion.evaluations > motion.steps
    assert json.loads(motion.attrs["parameters"]) == {"g": 9.81}
    assert motion["rank"].dtype.kind == "i"
    for name in PER_COORDINATE | PER_CONSTRAINT | (SCALARS - {"rank"}):
        assert motion[name].dtype == float
        assert np.isfinite(motion[name]).all(), name


def test_forces_add_up():
    for problem in (problems.andrews, problems.coulomb_ring, problems.rolling_disk, problems.bead_on_wire):
        system, start = problem()
        motion = zw.simulate(system, start, 0.02, samples=6)
        for i in range(6):
            state = dict(zip(system.coordinates, motion.q.values[i], strict=True))
            state |= dict(zip(system.velocities, motion.v.values[i], strict=True))
            now = zw.evaluate(system, state, float(motion.time[i]))
            size = max(1, np.abs(now.constraint_force).max())
            assert np.abs(motion.constraint_force.values[i] - now.constraint_force).max() < 1e-9 * size
            assert np.abs(motion.multiplier.values[i] - now.multipliers).max() < 1e-9 * max(
                1, np.abs(now.multipliers).max()
            )
            assert float(motion.gaussian[i]) == pytest.approx(now.gaussian, rel=1e-9, abs=1e-12)
        both = motion.ideal_force + motion.nonideal_force
        assert np.abs(both - motion.constraint_force).max() < 1e-12 * max(1, np.abs(motion.constraint_force).max())


def test_levels_that_a_constraint_does_not_have_are_not_numbers():
    edge = zw.simulate(*problems.knife_edge(), 0.1, samples=3)
    assert np.isnan(edge.residual).all()
    assert np.isfinite(edge.residual_rate).all()


# Files


def assert_survives(motion, tmp_path):
    path = tmp_path / "motion.nc"
    motion.to_netcdf(path, engine="h5netcdf")
    with xr.open_dataset(path, engine="h5netcdf") as back:
        back.load()
    assert set(back.variables) == set(motion.variables)
    for name in motion.variables:
        if motion[name].dtype.kind in "US":
            assert back[name].values.tolist() == motion[name].values.tolist()
        else:
            assert back[name].dtype == motion[name].dtype, name
            np.testing.assert_array_equal(back[name].values, motion[name].values)
        assert back[name].attrs == motion[name].attrs, name
        assert back[name].dims == motion[name].dims
    assert {key: plain(value) for key, value in back.attrs.items()} == motion.attrs


def plain(value):
    return value.item() if isinstance(value, np.generic) else value


@pytest.mark.parametrize(
    ("problem", "until"),
    [(problems.pendulum, 1.0), (problems.disk_on_incline, 1.0), (problems.knife_edge, 1.0), (problems.four_bar, 0.8)],
)
def test_a_file_loses_nothing(problem, until, tmp_path):
    assert_survives(zw.simulate(*problem(), until, samples=5), tmp_path)


def test_a_file_keeps_events_failures_and_samples(tmp_path):
    system, start = problems.pendulum()
    x, y = system.coordinates
    assert_survives(zw.simulate(system, start, 3.0, samples=5, events=[Event(x, "below")]), tmp_path)
    assert_survives(zw.simulate(system, start, 0.1, samples=5, events=[Event(x, "below")]), tmp_path)
    assert_survives(zw.simulate_many(system, {x: [1.0, 2.0], y: 0, dot(x): 0, dot(y): 0}, 1.0, samples=5), tmp_path)
    free = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: sp.sqrt(1 - x)})
    assert_survives(zw.simulate(free, {x: 0, dot(x): 1}, 3.0, samples=5, throw=False), tmp_path)


# Energy


@pytest.mark.parametrize(
    ("problem", "until"),
    [
        (problems.bead_on_wire, 1.5),  # rheonomic
        (problems.coulomb_ring, 3.0),  # nonideal
        (problems.andrews, 0.03),  # a motor
        (problems.flyball, 0.5),  # dampers
        (problems.ball_on_turntable, 2.0),  # acatastatic
        (problems.double_pendulum, 2.0),
        (problems.knife_edge, 2.0),
        (problems.heavy_top, 0.2),
    ],
)
def test_energy_changes_by_the_power_of_all_forces(problem, until):
    system, start = problem()
    motion = zw.simulate(system, start, until, samples=2001, tol=1e-13)
    size = float(motion.kinetic.max())
    assert float(abs(motion.energy_balance).max()) < 1e-7 * size
    power = motion.given_power + motion.constraint_power
    slope = motion.energy.differentiate("time")
    inside = slice(2, -2)
    assert np.abs((slope - power)[inside]).max() < 1e-3 * max(float(abs(power).max()), size / until)
    assert np.abs((motion.constraint_force * motion.v).sum("coordinate") - motion.constraint_power).max() <= 1e-9 * max(
        1, float(abs(motion.constraint_power).max())
    )


def test_the_wire_gives_the_bead_its_energy():
    motion = zw.simulate(*problems.bead_on_wire(), 1.5, samples=301, tol=1e-13)
    w, r0 = 2.1, 0.4
    r, rate = r0 * np.cosh(w * motion.time), r0 * w * np.sinh(w * motion.time)
    assert np.abs(motion.constraint_power - 2 * w * rate * w * r).max() < 1e-9
    assert np.abs(motion.energy - (rate**2 + (w * r) ** 2) / 2).max() < 1e-10
    assert float(abs(motion.nonideal_power).max()) == 0


def test_ideal_constraints_without_time_do_no_work():
    for problem in (problems.double_pendulum, problems.knife_edge, problems.rolling_disk, problems.appell_hamel):
        motion = zw.simulate(*problem(), 0.3, samples=31, tol=1e-13)
        assert float(abs(motion.constraint_power).max()) < 1e-9


def test_a_given_mass_has_an_account_too():
    x, y = zw.coordinates("x y")
    mass = sp.Matrix([[2 + sp.cos(y), sp.sin(x) / 3], [sp.sin(x) / 3, 1]])
    v = sp.Matrix([dot(x), dot(y)])
    kinetic = sp.expand((v.T * mass * v)[0] / 2)
    from_energy = zw.System((x, y), kinetic=kinetic)
    forces = zw.derive(from_energy).Q
    given = zw.System((x, y), mass=mass, forces=list(forces))
    start = {x: 0.3, y: 0.2, dot(x): 1.0, dot(y): -0.7}
    first = zw.simulate(from_energy, start, 3.0, samples=601, tol=1e-13)
    second = zw.simulate(given, start, 3.0, samples=601, tol=1e-13)
    assert np.abs(first.q - second.q).max() < 1e-10
    assert float(abs(first.energy - first.energy[0]).max()) < 1e-11
    assert float(abs(second.energy_balance).max()) < 1e-8


def test_the_balance_of_one_saved_time_is_zero():
    assert balance(np.array([1.0]), np.array([3.0])).tolist() == [0.0]


# Cost


def test_saving_densely_costs_little_more_than_saving_sparsely():
    system, start = problems.double_pendulum()
    sparse, dense = (
        zw.simulate(system, start, 10.0, samples=count, tol=1e-10, method="native") for count in (2, 20_001)
    )
    assert dense.steps == sparse.steps
    assert dense.evaluations < 1.35 * sparse.evaluations  # three more in a step: the interpolant's
    assert np.array_equal(dense.q.values[-1], sparse.q.values[-1])


def test_memory_stays_within_twice_the_results():
    system, start = problems.double_pendulum()
    zw.simulate(system, start, 0.1, samples=3, method="native")
    tracemalloc.start()
    try:
        motion = zw.simulate(system, start, 5.0, samples=200_001, tol=1e-9, method="native")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * motion.nbytes
