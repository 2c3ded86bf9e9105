"""A part of an ensemble: the same bits wherever it is computed, and little memory beside its results."""

import tracemalloc

import numpy as np
import pytest

import zwang as zw
from tests.references import problems
from zwang import dot
from zwang.engines.native.engine import compiled
from zwang.motion.ensemble.gather import gathered
from zwang.motion.ensemble.part import compute, shapes
from zwang.motion.ensemble.problem import sampled
from zwang.motion.ensemble.sweep import find_lead
from zwang.motion.ensemble.together import lead_by, run_together
from zwang.motion.observe import Segment, values_of
from zwang.motion.options import RunOptions

x, y = zw.coordinates("x y")


def swings(count, until=2.0, samples=7, drift="none"):
    """Pendulums released at different angles; the third does not start on its rod."""
    system, _ = problems.pendulum()
    angle = np.linspace(0.3, 2.8, count)
    starts = {x: np.sin(angle), y: -np.cos(angle), dot(x): 0, dot(y): 0}
    starts[x][2] += 1e-3
    return sampled(system, starts, None, RunOptions(until, samples=samples, method="native", drift=drift)).ensemble()


def lead_of(ensemble):
    first = find_lead(len(ensemble), lambda part: ensemble.part(part).consistent)
    return lead_by(ensemble, first, len(ensemble))


def computed(ensemble, lead):
    room = {name: np.empty((len(ensemble), len(ensemble.grid), *s)) for name, s in shapes(ensemble.setup).items()}
    told = compute(ensemble, lead, room, 2)
    return room, told


@pytest.mark.parametrize("drift", ["none", "projection"])
def test_parts_are_the_whole_to_the_last_bit(drift):
    # The last part has fewer samples than there are lanes.
    whole = swings(43, drift=drift)
    lead = lead_of(whole)
    everything, told = computed(whole, lead)
    assert told.statuses.count("finished") == 42
    for part in (slice(0, 20), slice(20, 40), slice(40, 43)):
        some, said = computed(whole.part(part), lead)
        assert said.statuses == told.statuses[part]
        for name, value in some.items():
            assert np.array_equal(value, everything[name][part], equal_nan=True), name


def test_gathering_says_what_single_runs_say():
    ensemble = swings(20)
    lead = lead_of(ensemble)
    which = np.flatnonzero(ensemble.consistent)
    runs, _, _ = run_together(ensemble, lead, which, 2)
    values, _ = computed(ensemble, lead)
    kernel = compiled(ensemble.setup.program("report", lead.basis))
    values |= {"jacobi": np.zeros((20, 7))}
    gathered(kernel, runs, ensemble.p[which], lead.basis.used, values, which, 2)
    for i, place in enumerate(which):
        segment = Segment(lead.basis, ensemble.grid, runs.q[i], runs.v[i], ensemble.p[place])
        for name, value in values_of(ensemble.setup, [segment]).items():
            if name not in ("unique", "work", "slope", "size"):
                assert np.array_equal(values[name][place], value, equal_nan=True), name


def test_memory_is_that_of_the_results_and_little_more():
    system, _ = problems.pendulum()
    angle = np.linspace(0.3, 2.8, 12_000)
    starts = {x: np.sin(angle), y: -np.cos(angle), dot(x): 0, dot(y): 0}
    zw.simulate_many(system, starts | {x: np.sin(angle)}, 0.1, samples=2, keep=["q"])
    tracemalloc.start()
    motion = zw.simulate_many(system, starts, 0.5, samples=51, tol=1e-6)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert motion.nbytes > 100e6
    assert peak < 1.5 * motion.nbytes


def test_blocks_do_not_change_the_result(monkeypatch):
    whole = swings(43)
    lead = lead_of(whole)
    everything, told = computed(whole, lead)
    monkeypatch.setattr("zwang.motion.ensemble.part.block_size", lambda *_: 9)
    some, said = computed(whole, lead)
    assert said.statuses == told.statuses
    assert all(np.array_equal(some[name], everything[name], equal_nan=True) for name in some)


def test_signals_are_read_in_lanes():
    # Nine samples: some lanes have no run, and must not look for a table where there is none.
    model = zw.load_model("tall_building")
    stiffness = float(model.system.parameters[next(s for s in model.system.parameters if str(s) == "k")])
    options = {"until": 0.5, "samples": 3, "tol": 1e-9}
    many = zw.simulate_many(model, **options, parameters={"k": stiffness * np.linspace(0.9, 1.1, 9)}, threads=2)
    one = model.simulate(until=0.5, samples=3, tol=1e-9, method="native", parameters={"k": stiffness})
    assert (many.status == "finished").all()
    assert np.abs(many.q.values[4] - one.q.values).max() < 1e-12 * np.abs(one.q.values).max()
