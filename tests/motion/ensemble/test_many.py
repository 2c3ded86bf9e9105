"""Many starts and parameter values at once: the same as one by one."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import problems
from zwang import dot
from zwang.errors import AssemblyError, InputError, UndeterminedError
from zwang.files.read import read_model
from zwang.formulations.forms import integrable
from zwang.motion.ensemble.many import room_for

x, y = zw.coordinates("x y")
VARIABLES = ("q", "v", "a", "constraint_force", "multiplier", "kinetic", "energy", "residual", "rank", "gaussian")


def fan(count=6):
    """Pendulums released at different angles."""
    angle = np.linspace(0.3, 2.8, count)
    return {x: np.sin(angle), y: -np.cos(angle), dot(x): 0, dot(y): 0}


def one_of(starts, i):
    return {
        key: float(np.broadcast_to(value, (100,))[i] if np.ndim(value) == 0 else value[i])
        for key, value in starts.items()
    }


@pytest.mark.parametrize("drift", ["none", "projection", "baumgarte"])
@pytest.mark.parametrize("form", integrable())
def test_samples_are_single_runs(form, drift):
    system, _ = problems.pendulum()
    many = zw.simulate_many(system, fan(), 2.0, samples=21, form=form, drift=drift)
    assert many.sizes["sample"] == 6
    assert (many.status == "finished").all()
    for i in range(6):
        one = zw.simulate(system, one_of(fan(), i), 2.0, samples=21, form=form, drift=drift, method="native")
        for name in VARIABLES:
            truth = one[name].values
            assert np.abs(many[name].values[i] - truth).max() < 1e-11 * max(1, np.abs(truth).max()), name


def test_samples_are_single_runs_to_the_last_digits():
    system, _ = problems.pendulum()
    many = zw.simulate_many(system, fan(), 2.0, samples=21)
    for i in range(6):
        one = zw.simulate(system, one_of(fan(), i), 2.0, samples=21, method="native")
        for name in ("q", "v"):
            assert np.abs(many[name].values[i] - one[name].values).max() < 1e-13, name


def test_parameters_as_arrays():
    m, g, L = zw.parameters("m g L")
    system = zw.System(
        (x, y),
        kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=m * g * y,
        constraints={"rod": (x**2 + y**2 - L**2) / 2},
        parameters={m: 1, g: 9.81},
    )
    lengths, masses = np.array([0.5, 1.0, 2.0]), np.array([1e-4, 1.0, 1e4])
    many = zw.simulate_many(
        system,
        {x: lengths, y: 0, dot(x): 0, dot(y): 0},
        1.0,
        samples=11,
        parameters={L: lengths, "m": masses},
    )
    assert (many.status == "finished").all()
    for i, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
        start = {x: length, y: 0, dot(x): 0, dot(y): 0}
        one = zw.simulate(system, start, 1.0, samples=11, parameters={L: length, m: mass}, method="native")
        assert np.abs(many.q.values[i] - one.q.values).max() < 1e-12
        assert np.abs(many.multiplier.values[i] - one.multiplier.values).max() < 1e-10 * mass
    by_default = zw.simulate_many(system, {x: 1, y: 0, dot(x): 0, dot(y): 0}, 1.0, samples=3, parameters={"L": 1.0})
    assert by_default.sizes["sample"] == 1


def test_threads_do_not_change_the_result():
    system, _ = problems.double_pendulum()
    *_, y2 = system.coordinates
    start = problems.double_pendulum()[1] | {dot(y2): np.linspace(-1, 1, 16)}
    runs = [zw.simulate_many(system, start, 2.0, samples=5, threads=threads) for threads in (1, 2, 7)]
    for other in runs[1:]:
        assert np.array_equal(other.q.values, runs[0].q.values)
        assert np.array_equal(other.multiplier.values, runs[0].multiplier.values)


def test_samples_that_fail_are_marked_and_do_not_stop_the_others():
    # 1/(1 − x): those that are fast enough reach x = 1.
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: 1 / (1 - x) ** 2})
    many = zw.simulate_many(system, {x: [0.0, 0.0, 2.0], dot(x): [-5.0, 1.0, 0.0]}, 1.0, samples=11)
    assert many.status.values[0] == "finished"
    assert many.status.values[1] in ("not finite", "step too small")
    assert many.status.values[2] == "finished"
    assert np.isfinite(many.q.values[[0, 2]]).all()
    reached = np.isfinite(many.q.values[1, :, 0])
    assert reached[0]
    assert not reached[-1]
    assert np.isnan(many.energy.values[1, ~reached]).all()
    assert "2 finished" in many.attrs["status"]


def test_inconsistent_starts_are_marked():
    system, _ = problems.pendulum()
    many = zw.simulate_many(system, {x: [1.0, 1.1, 0.6], y: [0, 0, -0.8], dot(x): 0, dot(y): 0}, 1.0, samples=3)
    assert many.status.values.tolist() == ["finished", "inconsistent start", "finished"]
    assert np.isnan(many.q.values[1]).all()
    none = zw.simulate_many(system, {x: [2.0, 1.1], y: 0, dot(x): 0, dot(y): 0}, 1.0, samples=3)
    assert none.status.values.tolist() == ["inconsistent start"] * 2


def test_leaps_inside():
    speeds = np.array([1.0, 2.9, 0.35])
    system, start = problems.four_bar(1)
    vx = [v for v in system.velocities if "x" in str(v)]
    starts = start | dict.fromkeys(vx, speeds)
    many = zw.simulate_many(system, starts, 1.5, samples=7, tol=1e-13)
    assert (many.status == "finished").all()
    for i, speed in enumerate(speeds):
        one = zw.simulate(*problems.four_bar(1, speed), 1.5, samples=7, tol=1e-13, method="native")
        assert "Leapt" in one.message
        assert np.abs(many.q.values[i] - one.q.values).max() < 1e-10
        assert np.abs(many.multiplier.values[i] - one.multiplier.values).max() < 1e-6


def test_redundant_rows():
    system, start = problems.disk_on_incline()
    many = zw.simulate_many(system, start, 1.0, samples=3, parameters={"a": [0.3, 0.5]})
    one = zw.simulate(system, start, 1.0, samples=3, method="native")
    assert np.abs(many.q.values[1] - one.q.values).max() < 1e-13
    assert np.abs(many.multiplier.values[1] - one.multiplier.values).max() < 1e-10
    assert np.array_equal(many.unique, one.unique)


def test_samples_whose_rows_become_dependent_choose_for_themselves():
    # What is redundant for one start may not be for another: each has its own independent rows.
    system, start = problems.appell_hamel()
    slow = start | {v: np.array([1.0, 0.5]) * start[v] for v in system.velocities}
    many = zw.simulate_many(system, slow, 0.8, samples=9, tol=1e-13)
    assert (many.status == "finished").all()
    t, w = many.time.values, np.array([[2.0], [1.0]])
    assert np.abs(many.q.sel(coordinate="z").values - w * t + 9.81 * t**2 / 4).max() < 1e-10


def test_what_is_redundant_for_one_sample_is_not_for_another():
    # a = 1 makes the second row the first; with a = 2 both hold.
    a = zw.parameters("a")
    z = zw.coordinates("z")
    system = zw.System(
        (x, y, z),
        kinetic=(dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2,
        potential=x + 2 * y + z,
        constraints={"first": dot(x) + dot(y), "second": dot(x) + a * dot(y)},
    )
    start = dict.fromkeys((*system.coordinates, *system.velocities), 0.0)
    many = zw.simulate_many(system, start, 1.0, samples=5, parameters={a: [1.0, 2.0, 1.0]})
    assert (many.status == "finished").all()
    assert many["rank"].values[:, 0].tolist() == [1, 2, 1]
    for i, value in enumerate((1.0, 2.0, 1.0)):
        one = zw.simulate(system, start, 1.0, samples=5, parameters={a: value}, method="native")
        for name in VARIABLES:
            np.testing.assert_allclose(many[name].values[i], one[name].values, rtol=0, atol=1e-12)  # NaN where it is


def test_rows_chosen_on_the_way_are_each_samples_own():
    # The first two rows are parallel at t = π/2, the third serves then.
    system = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=x + 2 * y,
        constraints={
            "still": dot(x),
            "turning": sp.sin(zw.t) * dot(x) + sp.cos(zw.t) * dot(y),
            "tilted": dot(x) + dot(y) / 3,
        },
    )
    many = zw.simulate_many(system, {x: [0, 1], y: 0, dot(x): 0, dot(y): 0}, 3.0, samples=31)
    assert (many.status == "finished").all()
    assert np.abs(many.constraint_force.values - [1, 2]).max() < 1e-8
    assert (many["rank"] == 2).all()


def test_constraints_that_come_to_contradict_each_other_mark_the_sample():
    a = zw.parameters("a")
    system = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        constraints={"first": x - sp.sin(zw.t), "second": 2 * x - 2 * sp.sin(zw.t) - a * zw.t**4},
    )
    start = {x: 0, y: 0, dot(x): 1, dot(y): 0.3}
    many = zw.simulate_many(system, start, 2.0, samples=21, parameters={a: [0.0, 1.0]})
    assert many.status.values.tolist() == ["finished", "inconsistent"]
    assert np.isfinite(many.q.values[0]).all()
    assert np.isnan(many.q.values[1, -1]).all()
    assert np.isfinite(many.q.values[1, 0]).all()


def test_dimensions_and_attributes():
    system, _ = problems.pendulum()
    many = zw.simulate_many(system, fan(3), 1.0, samples=5)
    one = zw.simulate(system, one_of(fan(3), 0), 1.0, samples=5)
    assert set(one.data_vars) <= {*many.data_vars}
    for name in one.data_vars:
        if name != "unique":
            assert many[name].dims == ("sample", *one[name].dims)
    assert many.attrs["method"] == "native"
    assert many.attrs["status"] == "3 finished"


def test_refused_arguments():
    system, _ = problems.pendulum()
    with pytest.raises(InputError, match="more than one axis"):
        zw.simulate_many(system, {x: np.ones((2, 2)), y: 0, dot(x): 0, dot(y): 0}, 1.0)
    with pytest.raises(InputError, match="3 starts and 2 parameter values do not broadcast"):
        zw.simulate_many(system, fan(3), 1.0, parameters={"g": [1.0, 2.0]})
    with pytest.raises(InputError, match="positive duration"):
        zw.simulate_many(system, fan(3), -1.0)
    with pytest.raises(InputError, match="tol = 5"):
        zw.simulate_many(system, fan(3), 1.0, tol=5)


def test_samples_with_other_masses_damp_redundant_rows_as_they_would_alone():
    m = zw.parameters("m")
    x, y = zw.coordinates("x y")
    rod = x**2 + y**2 - 1
    system = zw.System(
        (x, y),
        kinetic=m * (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2,
        potential=m * sp.Float(9.81) * y,
        constraints={"rod": rod, "again": 2 * rod},
    )
    start = {x: 1, y: 0, zw.dot(x): 0, zw.dot(y): 0}
    masses = np.array([1.0, 10.0, 1000.0, 3000.0])
    many = zw.simulate_many(system, start, 3.0, samples=4, tol=1e-12, parameters={m: masses})
    # the motion does not depend on the mass
    assert np.abs(many.q.values - many.q.values[:1]).max() < 1e-11


def test_threads_may_share_a_system():
    system, start = problems.pendulum()

    def run(tol):
        return zw.simulate(system, start, 2.0, samples=3, tol=tol, method="native").q.values[-1]

    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(run, [1e-10] * 16))
    assert all(np.array_equal(end, ends[0]) for end in ends)


@pytest.mark.parametrize("threads", [0, -1, 1.5, True])
def test_threads_are_a_whole_number(threads):
    system, start = problems.pendulum()
    with pytest.raises(InputError, match="threads = "):
        zw.simulate_many(system, start, 1.0, threads=threads)


def test_a_motion_that_begins_late_is_doubted_sample_by_sample():
    place = zw.coordinates("x")
    system = zw.System((place,), kinetic=zw.dot(place) ** 2 / 2, potential=place**2 / 2)
    late = zw.simulate_many(system, {place: [1.0, 2.0], zw.dot(place): 0.0}, t=1e9, until=1e9 + 10, samples=3)
    assert all("let it begin at t = 0" in doubt for doubt in late.doubts.values)
    assert late.attrs["doubts"].startswith("Not vouched for: 2 of 2 samples")


def test_what_is_not_kept_is_looked_at_all_the_same():
    system, _ = problems.pendulum()
    whole, few = (zw.simulate_many(system, fan(), 2.0, samples=5, keep=keep) for keep in (None, ("energy", "q")))
    assert [name for name in few.data_vars if "time" in few[name].dims] == ["q", "energy"]
    assert np.array_equal(few.q, whole.q)
    assert np.array_equal(few.energy, whole.energy)
    place = zw.coordinates("x")
    late = zw.System((place,), kinetic=zw.dot(place) ** 2 / 2, potential=place**2 / 2)
    doubted = zw.simulate_many(late, {place: [1.0], zw.dot(place): 0}, t=1e9, until=1e9 + 10, samples=3, keep=["q"])
    assert "let it begin at t = 0" in doubted.doubts.values[0]


def test_outputs_are_what_they_are_for_one_motion():
    system, start = problems.pendulum()
    many = zw.simulate_many(system, start, 1.0, samples=3, outputs=("q", "v"))
    one = zw.simulate(system, start, 1.0, samples=3, outputs=("q", "v"))
    assert [name for name in many.data_vars if "time" in many[name].dims] == ["q", "v"]
    assert {name for name in one.data_vars if "time" in one[name].dims} == {"q", "v"}
    with pytest.raises(InputError, match="give one of them"):
        zw.simulate_many(system, start, 1.0, keep=("q",), outputs=("q",))


@pytest.mark.parametrize(
    ("keep", "words"),
    [("q", "in a list or tuple"), (("energi",), "did you mean 'energy'"), ((), "keep is empty"), (7, "keep = 7")],
)
def test_what_cannot_be_kept_is_refused(keep, words):
    system, start = problems.pendulum()
    with pytest.raises(InputError, match=words):
        zw.simulate_many(system, start, 1.0, keep=keep)


def test_parameters_that_differ_stand_beside_their_samples():
    system, start = problems.disk_on_incline()
    many = zw.simulate_many(system, start, 1.0, samples=3, parameters={"a": [0.3, 0.5], "m": 2.0})
    assert many.a.dims == ("sample", "time", "coordinate")  # accelerations: a variable keeps its name
    g = zw.parameters("g")
    falling = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=g * x)
    many = zw.simulate_many(falling, {x: 0, dot(x): 0}, 1.0, samples=2, parameters={g: [1.0, 2.0]})
    assert many.g.dims == ("sample",)
    assert many.g.values.tolist() == [1.0, 2.0]


def test_a_start_without_entries_is_refused():
    system, _ = problems.pendulum()
    with pytest.raises(InputError, match="no entries"):
        zw.simulate_many(system, {x: [], y: [], dot(x): 0, dot(y): 0}, 1.0)


def test_a_mechanism_that_cannot_be_put_together_does_not_stop_the_others():
    # A rod of 1 m from a wall to a bead on a rail at a distance d: beyond 1 m there is no such place.
    model = read_model(RAIL)
    many = zw.simulate_many(model, until=0.1, samples=2, parameters={"d": [0.5, 1.5, 0.6]})
    assert many.status.values.tolist() == ["finished", "error", "finished"]
    assert many.doubts.values[1] != ""
    assert np.isnan(many.q.values[1]).all()
    assert np.abs(many.q.values[[0, 2], 0, 0] - np.sqrt(1 - np.square([0.5, 0.6]))).max() < 1e-12
    with pytest.raises(AssemblyError):
        zw.simulate_many(model, until=0.1, samples=2, parameters={"d": 1.5})


RAIL = """
[parameters]
d = 0.5
[coordinates]
x = 0.9
y = 0.5
[energy]
kinetic = "(x'^2 + y'^2)/2"
[constraints]
rod = "x^2 + y^2 = 1"
rail = "y = d"
[run]
until = 1.0
assemble = true
"""


def test_results_for_which_there_is_no_memory_are_refused_with_their_size():
    for samples, words in ((10**6, "1,490,116 GiB"), (10**14, "149,011,611,938,477 GiB")):  # and beyond all addresses
        with pytest.raises(
            InputError, match=f"q and v of {samples:,} samples at 100,000,000 times take {words}, .*store"
        ):
            room_for(["q", "v"], (samples, 10**8), {"q": (1,), "v": (1,)})


def test_a_sample_that_is_not_a_number_is_named_by_its_place():
    z = zw.coordinates("z")
    free = zw.System((z,), kinetic=dot(z) ** 2 / 2)
    places = np.zeros(1000)
    places[[17, 40]] = np.nan
    with pytest.raises(InputError, match=r"^z\[17\] = nan is not finite, nor is another of 1,000 numbers$"):
        zw.simulate_many(free, {z: places, dot(z): 0.0}, 1.0)


@pytest.mark.parametrize(
    ("form", "drift"), [("fundamental", "none"), ("gibbs-appell", "none"), ("lagrange", "baumgarte")]
)
def test_constraints_that_contradict_each_other_between_two_saved_times_mark_the_sample(form, drift):
    """Two rules that agree at both ends, and between them only where a is zero: x is then t³/3."""
    a = zw.parameters("a")
    rules = {"one": dot(x) - zw.t**2, "two": dot(x) - zw.t**2 - a * zw.t**2 * (1 - zw.t)}
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints=rules)
    start, ask = {x: 0, y: 0, dot(x): 0, dot(y): 0.5}, {"samples": 2, "form": form, "drift": drift, "progress": False}
    many = zw.simulate_many(system, start, 1.0, parameters={a: [0.0, 1.0, 0.0, -0.3]}, **ask)
    assert many.status.values.tolist() == ["finished", "inconsistent", "finished", "inconsistent"]
    np.testing.assert_allclose(many.q.values[[0, 2], -1], [[1 / 3, 0.5]] * 2, rtol=0, atol=1e-8)
    assert np.isnan(many.q.values[[1, 3], -1]).all()
    for i, each in enumerate([0.0, 1.0]):
        one = zw.simulate(system, start, 1.0, parameters={a: each}, throw=False, **ask)
        assert one.attrs["status"] == many.status.values[i]
        np.testing.assert_array_equal(many.q.values[i, : len(one.time)], one.q.values)


def test_a_sample_that_cannot_begin_says_why_by_name():
    """A bob without mass on a rod moves along it as it likes: as `simulate` says, so does the sample; others run."""
    m = zw.parameters("m")
    system = zw.System(
        (x, y), kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2, potential=m * y, constraints={"rod": x**2 + y**2 - 1}
    )
    start = {x: 1, y: 0, dot(x): 0, dot(y): 0}
    with pytest.raises(UndeterminedError) as caught:
        zw.simulate(system, start, 1.0, samples=2, parameters={m: 0.0})
    many = zw.simulate_many(system, start, 1.0, samples=2, parameters={m: [1.0, 0.0, 2.0]})
    assert many.status.values.tolist() == ["finished", "error", "finished"]
    assert many.doubts.values[1] == str(caught.value)
    assert np.isnan(many.q.values[1]).all()
