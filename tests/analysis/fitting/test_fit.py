"""Fits: the reference in redundant coordinates, what made the data is found again, errors mean what they say."""

import numpy as np
import pytest
import sympy as sp
import xarray as xr

import zwang as zw
from tests.analysis.systems import REFERENCES, VARIANTS
from zwang import dot
from zwang import multibody as mb
from zwang.errors import InputError, MassError

x, y = zw.coordinates("x y")
m, g, L, c, a0, k, off = zw.parameters("m g L c a0 k off")
PENDULUM = zw.System(
    (x, y),
    kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2,
    potential=m * g * y,
    forces={x: -c * dot(x), y: -c * dot(y)},
    constraints={"rod": x**2 + y**2 - L**2},
    parameters={m: 1},
)
SPRING = zw.System((x,), kinetic=m * dot(x) ** 2 / 2, potential=k * x**2 / 2, parameters={m: 1})
D1 = REFERENCES["D1 fit"]
MEASURED = {"t": D1["t"], "x": np.array(D1["xy"])[:, 0], "y": np.array(D1["xy"])[:, 1]}
START = {x: L * sp.sin(a0), y: -L * sp.cos(a0)}
GUESS = {g: 9.5, L: 1.2, c: 0.1, a0: 0.8}


def swing(values, times, w=2.0):
    """A spring with damping left out: x = a cos wt."""
    return {"t": times, "x": values * np.cos(w * times)}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_pendulum_in_redundant_coordinates_has_the_estimates_of_the_minimal_one(variant):
    found = zw.fit(variant(PENDULUM), MEASURED, GUESS, start=START)
    assert list(found.values.values()) == pytest.approx([float(v) for v in D1["estimate g,L,c,a0"]], rel=2e-10)
    assert list(found.errors.values()) == pytest.approx([float(v) for v in D1["standard errors"]], rel=1e-5)
    assert found.rss == pytest.approx(float(D1["rss"]), rel=1e-9)
    assert found.numbers == 80
    assert found.verdict == "Everything can be told from these data."
    assert found.motion.q.sel(coordinate="x").values == pytest.approx(MEASURED["x"], abs=0.02)


def test_data_may_be_a_frame_a_dataset_an_array_or_a_file(tmp_path):
    import pandas as pd

    columns = swing(0.3, np.linspace(0, 3, 12))
    frame = pd.DataFrame(columns)
    file = tmp_path / "swing.csv"
    frame.to_csv(file, index=False)
    times = {"time": columns["t"]}
    table = xr.Dataset({"x": ("time", columns["x"])}, coords=times)
    array = xr.DataArray(columns["x"][:, None], dims=("time", "coordinate"), coords=times | {"coordinate": ["x"]})
    expected = zw.fit(SPRING, columns, {k: 3.5}, start={x: 0.3}).values
    for data in (frame, frame.set_index("t"), str(file), table, array, xr.Dataset({"q": array})):
        assert zw.fit(SPRING, data, {k: 3.5}, start={x: 0.3}).values == pytest.approx(expected, rel=1e-12)


def test_four_unknowns_are_found_in_two_hundred_points():
    times = np.linspace(0.05, 5, 100)
    truth = {g: 9.81, L: 1.3, c: 0.15}
    begin = {x: 1.3 * np.sin(0.9), y: -1.3 * np.cos(0.9), dot(x): 0, dot(y): 0}
    motion = zw.simulate(PENDULUM, begin, until=5, times=times, parameters=truth)
    found = zw.fit(PENDULUM, motion, GUESS, start=START, observe={"x": x, "y": y})
    assert found.numbers == 200
    assert [*found.values.values()] == pytest.approx([9.81, 1.3, 0.15, 0.9], rel=1e-8)


def test_errors_cover_the_truth_as_often_as_they_say():
    """200 synthetic trials: one standard error covers 68 %, two cover 95 %, up to chance (binomial, four sigma)."""
    rng = np.random.default_rng(5)
    times = np.linspace(0, 4, 12)
    inside = np.zeros((200, 2))
    for trial in range(200):
        data = {"t": times, "x": 0.5 * np.cos(2 * times) + 0.02 * rng.standard_normal(len(times))}
        found = zw.fit(SPRING, data, {k: 4, a0: 0.5}, start={x: a0}, tol=1e-9)  # from nearby: errors are asked here
        inside[trial] = (
            abs(found.values[k] - 4) / found.errors[k],
            abs(found.values[a0] - 0.5) / found.errors[a0],
        )
    # Student's t with 10 degrees of freedom: 0.659 within one error, 0.927 within two
    for limit, share in ((1, 0.659), (2, 0.927)):
        spread = 4 * np.sqrt(share * (1 - share) / 200)
        assert np.abs((inside < limit).mean(axis=0) - share).max() < spread


# What data can tell


def test_only_a_quotient_can_be_told():
    times = np.linspace(0, 3, 15)
    found = zw.fit(SPRING, swing(0.3, times), {k: 3, m: 1.2, a0: 0.25}, start={x: a0}, bounds={m: (0.5, 3)})
    assert found.verdict == "Of k and m only k/m can be told from these data."
    assert found.identifiable == {k: False, m: False, a0: True}
    assert np.isinf(found.errors[k])
    assert found.values[k] / found.values[m] == pytest.approx(4, rel=1e-8)
    assert "(open)" in str(found)


def test_what_data_do_not_depend_on_is_named():
    times = np.linspace(0, 3, 30)
    data = {"t": times, "x": 0.2 * times}
    free = zw.System((x,), kinetic=m * dot(x) ** 2 / 2)
    found = zw.fit(free, data, {m: 1, a0: 0.1}, start={x: 0, dot(x): a0})
    assert found.verdict == "m cannot be told from these data: they do not depend on it."
    assert found.values[a0] == pytest.approx(0.2, rel=1e-9)


def test_sensors_have_offsets_gaps_and_weights():
    times = np.linspace(0, 3, 20)
    data = swing(0.3, times)
    data["x"] = data["x"] + 0.07
    data["x"][4] = np.nan
    data["speed"] = -0.6 * np.sin(2 * times)
    found = zw.fit(
        SPRING, data, {k: 3.5, a0: 0.25, off: 0}, start={x: a0}, observe={"x": x + off, "speed": dot(x)},
        weights={"speed": 0.1},
    )  # fmt: skip
    assert [*found.values.values()] == pytest.approx([4, 0.3, 0.07], rel=1e-8)
    assert found.numbers == 39


def test_several_trials_share_unknowns_and_have_starts_of_their_own():
    times = np.linspace(0, 3, 20)
    b0 = zw.parameters("b0")
    found = zw.fit(
        SPRING, [swing(0.3, times), swing(-0.2, times[:9])], {k: 3.5, a0: 0.2, b0: -0.1}, start=[{x: a0}, {x: b0}]
    )
    assert [*found.values.values()] == pytest.approx([4, 0.3, -0.2], rel=1e-8)
    assert len(found.motion) == 2


def test_a_mechanism_is_fitted_from_its_own_start():
    length = 1.2
    bob = mb.Particle("bob", 1, position=(0.5, -np.sqrt(length**2 - 0.25)))
    swinging = mb.Mechanism(
        [bob], joints=[mb.Rod("rod", mb.ground, bob, start=(0, 0), end=bob.position)], forces=[mb.Gravity((0, -g))],
        parameters={g: 9.0},
    )  # fmt: skip
    motion = zw.simulate(swinging, until=2, samples=21, parameters={g: 9.7})
    found = zw.fit(swinging, motion, {g: 9.2}, observe={"bob.x": bob.coordinates[0]})
    assert found.values[g] == pytest.approx(9.7, rel=1e-9)


def test_the_text_says_values_errors_and_what_is_correlated():
    text = str(zw.fit(PENDULUM, MEASURED, GUESS, start=START))
    first, *rest = text.splitlines()
    assert first.startswith("Fit: 4 unknowns from 80 numbers, residual 0.004615 a number")
    assert rest[0] == "  g   9.81810566 ± 0.00701  (0.071 %)"
    assert rest[-1] == "Everything can be told from these data."


def test_three_of_which_two_quotients_can_be_told_stay_near_the_guess():
    times = np.linspace(0, 5, 40)
    damped = zw.System((x,), kinetic=m * dot(x) ** 2 / 2, potential=k * x**2 / 2, forces={x: -c * dot(x)})
    truth = zw.simulate(damped, {x: 0.3, dot(x): 0}, 5, times=times, parameters={m: 1, k: 4, c: 0.2})
    found = zw.fit(damped, truth, {k: 6, m: 2, c: 0.1}, start={x: 0.3}, observe={"x": x})
    assert found.verdict == "Of k, m and c only k/c and m/c can be told from these data."
    assert min(abs(found.values[s] / g - 1) for s, g in ((k, 6), (m, 2), (c, 0.1))) < 1e-12  # one of them is held
    assert [found.values[k] / found.values[m], found.values[c] / found.values[m]] == pytest.approx([4, 0.2], rel=1e-7)


@pytest.mark.parametrize(("first", "second"), [(0, 0.1), (0, 0), (0.3, -0.2)])
def test_of_two_offsets_only_their_sum_can_be_told(first, second):
    times = np.linspace(0, 3, 15)
    more = zw.parameters("more")
    data = swing(0.3, times)
    found = zw.fit(
        SPRING, {"t": times, "x": data["x"] + 0.05}, {k: 3.5, off: first, more: second}, start={x: 0.3},
        observe={"x": x + off + more},
    )  # fmt: skip
    assert found.verdict == "Of off and more only off + more can be told from these data."
    assert found.values[off] + found.values[more] == pytest.approx(0.05, rel=1e-8)
    assert found.values[k] == pytest.approx(4, rel=1e-8)


def test_what_ends_at_its_bound_says_so_and_is_taken_as_known():
    """Held by hand at the bound, the others have the same values and errors."""
    rng = np.random.default_rng(3)
    times = np.linspace(0, 4, 30)
    data = {"t": times, "x": 0.5 * np.cos(2 * times) + 0.02 * rng.standard_normal(30)}
    for pieces in (1, 2):
        found = zw.fit(SPRING, data, {k: 3, a0: 0.45}, start={x: a0}, bounds={k: (2, 3.5)}, pieces=pieces)
        alone = zw.fit(SPRING, data, {a0: 0.45}, start={x: a0}, parameters={k: 3.5}, pieces=pieces)
        assert found.values[k] == 3.5
        assert np.isnan(found.errors[k])
        assert not found.identifiable[k]
        assert "k is at its greatest value 3.5: data ask for more." in found.verdict
        assert found.values[a0] == pytest.approx(alone.values[a0], rel=1e-9)
        assert found.errors[a0] == pytest.approx(alone.errors[a0], rel=1e-6)


def test_a_bad_fit_and_errors_without_numbers_are_said():
    times = np.linspace(0, 5, 40)
    far = zw.fit(SPRING, swing(0.3, times), {k: 300}, start={x: 0.3})
    assert "It fits badly" in far.verdict
    few = zw.fit(SPRING, swing(0.3, times[:2] + 0.2), {k: 3.5, a0: 0.2}, start={x: a0})
    assert few.verdict.endswith("As many unknowns as numbers: there are no errors to be told.")
    assert "open" not in str(few)


def test_masses_that_the_search_would_make_negative_do_not_end_it():
    """Only quotients by m can be told: a long step makes m negative, and a shorter one is taken."""
    rng = np.random.default_rng(1)
    times = np.sort(rng.uniform(0, 5, 60))
    data = {"t": times, "x": 0.3 * np.exp(-0.1 * times) * np.cos(2 * times) + 0.01 * rng.standard_normal(60)}
    damped = zw.System((x,), kinetic=m * dot(x) ** 2 / 2, potential=k * x**2 / 2, forces={x: -c * dot(x)})
    found = zw.fit(damped, data, {k: 3, m: 1, c: 0.1, a0: 0.2}, start={x: a0})
    alone = zw.fit(damped, data, {k: 3, c: 0.1, a0: 0.2}, start={x: a0}, parameters={m: 1})
    assert found.values[k] / found.values[m] == pytest.approx(alone.values[k], rel=1e-7)
    with pytest.raises(MassError, match="is not positive"):
        zw.fit(damped, data, {k: 3, m: -1, c: 0.1, a0: 0.2}, start={x: a0})


def test_a_weight_for_each_time():
    """What weighs nothing has no say; a weight of two counts as four numbers."""
    times = np.linspace(0, 3, 20)
    data = swing(0.3, times)
    data["x"][7] += 5
    trust = np.where(np.arange(20) == 7, 0.0, 1.0)
    found = zw.fit(SPRING, data, {"k": 3.5}, start={x: 0.3}, weights={"x": trust})
    assert found.values[k] == pytest.approx(4, rel=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "time [s], x [m]\n0,0.3\n0.5,0.16\n1,-0.12\n",
        "t;x\n0;0,3\n0,5;0,16\n1;-0,12\n",
        "# by hand\nTime\tx (m)\n0\t0.3\n0.5\t0.16\n1\t-0.12\n",
        "t,x\r\n0,0.3\r\n0.25,NA\r\n0.5,0.16\r\n\r\n1,-0.12,\r\n",
    ],
)
def test_tables_are_read_as_programs_write_them(tmp_path, text):
    file = tmp_path / "x.csv"
    file.write_text(text, newline="")
    plain = zw.fit(SPRING, {"t": [0, 0.5, 1], "x": [0.3, 0.16, -0.12]}, {k: 3}, start={x: 0.3})
    assert zw.fit(SPRING, file, {k: 3}, start={x: 0.3}).values[k] == pytest.approx(plain.values[k], rel=1e-14)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"t,x\n0,0.3,7\n1,2\n", "line 2 has more cells than there are columns"),
        (b"t,x,x\n0,0.3,7\n", "has the column 'x' twice"),
        ("t,x,gr\xf6\n0,1,1\n".encode("latin1"), "is not text in UTF-8"),
        (b"", "has no column 't' or 'time'"),
        (b"t,x\n0,inf\n", "column 'x': number 1 is infinite"),
        (b"t,x,remark\n0,1,good\n", "column 'remark' are not all numbers; observe="),
    ],
)
def test_tables_that_cannot_be_read_are_refused_by_name(tmp_path, text, words):
    file = tmp_path / "x.csv"
    file.write_bytes(text)
    with pytest.raises(InputError, match=words):
        zw.fit(SPRING, file, {k: 3}, start={x: 0.3})


# Refusals


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("data has no column 't' or 'time': there are 'x'", lambda: (SPRING, {"x": [1, 2]}, {k: 1}, {x: 1})),
        ("has no column 'z': there are 'x'", lambda: (SPRING, swing(1, np.arange(3.0)), {k: 1}, {x: 1}, {"z": x})),
        ("column 'z' is not a coordinate or rate", lambda: (SPRING, {"t": [0, 1], "z": [0, 1]}, {k: 1}, {x: 1})),
        ("begins at t = -1, before the motion does at t = 0",
         lambda: (SPRING, {"t": [-1, 1], "x": [1, 1]}, {k: 1}, {x: 1})),
        ("unknown: off occurs neither in the system nor in start",
         lambda: (SPRING, swing(1, np.arange(3.0)), {off: 1}, {x: 1})),
        ("2 numbers cannot tell 3 unknowns", lambda: (SPRING, swing(1, np.arange(2.0)), {k: 1, a0: 1, m: 1}, {x: a0})),
        ("a System has no start of its own", lambda: (SPRING, swing(1, np.arange(3.0)), {k: 1})),
        ("unknown maps what is sought to a first guess", lambda: (SPRING, swing(1, np.arange(3.0)), {}, {x: 1})),
        ("start: x uses off, which has no value", lambda: (SPRING, swing(1, np.arange(3.0)), {k: 1}, {x: off})),
        ("column 'x' are not all numbers", lambda: (SPRING, {"t": [0, 1], "x": ["a", "b"]}, {k: 1}, {x: 1})),
        ("times must be finite and ascend", lambda: (SPRING, {"t": [1, 0], "x": [1, 1]}, {k: 1}, {x: 1})),
        ("bounds: k = 1 does not begin between 2 and 3",
         lambda: (SPRING, swing(1, np.arange(3.0)), {k: 1}, {x: 1}, None, None, {k: (2, 3)})),
        ("weights names 'z', which was not measured",
         lambda: (SPRING, swing(1, np.arange(3.0)), {k: 1}, {x: 1}, None, {"z": 1})),
        ("weights maps columns to weights", lambda: (SPRING, swing(1, np.arange(3.0)), {k: 1}, {x: 1}, None, [1])),
        ("weights: x has shape \\(2,\\)",
         lambda: (SPRING, swing(1, np.arange(3.0)), {k: 1}, {x: 1}, None, {"x": [1, 2]})),
        ("unknown: 'q' is not a parameter of this system",
         lambda: (SPRING, swing(1, np.arange(3.0)), {"q": 1}, {x: 1})),
        ("data is a int: give a dataset", lambda: (SPRING, 3, {k: 1}, {x: 1})),
    ],
)  # fmt: skip
def test_what_cannot_be_fitted_is_refused_by_name(words, call):
    with pytest.raises(InputError, match=words):
        zw.fit(*call())
