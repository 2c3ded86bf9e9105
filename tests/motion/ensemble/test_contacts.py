"""Samples with contacts are what `simulate` gives for each of them."""

import numpy as np
import pytest

import zwang as zw
from tests.references import contact
from zwang import dot
from zwang.errors import InputError
from zwang.results.contacts import AT_CONTACTS, OVER_TIME, TABLE, WORKS
from zwang.results.dataset import VARIABLES

x, y = zw.coordinates("x y")
e, mu = zw.parameters("e mu")


def ball():
    """A ball thrown over a rough floor."""
    floor = zw.Constraint(y >= 0, "floor", restitution=e, friction=mu, slip=dot(x))
    wall = zw.Constraint(x <= 1, "wall", restitution=0.5)
    kinetic = (dot(x) ** 2 + dot(y) ** 2) / 2
    return zw.System((x, y), kinetic=kinetic, potential=9.81 * y, constraints=[floor, wall], parameters={mu: 0.1})


START = {x: 0, y: [1.0, 0.5, 2.0, -1.0], dot(x): 1, dot(y): 0}
GIVEN = {e: [0.5, 0.0, 0.9, 0.5]}


def test_samples_are_those_of_simulate():
    many = zw.simulate_many(ball(), START, 1.5, samples=21, parameters=GIVEN)
    for i in range(3):
        start, given = START | {y: START[y][i]}, {e: GIVEN[e][i]}
        one, sample = zw.simulate(ball(), start, 1.5, samples=21, parameters=given), many.isel(sample=i)
        for name in (*VARIABLES, *OVER_TIME, *WORKS):
            assert np.array_equal(one[name].values, sample[name].values)
        count = int(sample.transitions)
        assert count == one.sizes["transition"]
        for name in TABLE:
            assert np.array_equal(one[name].values, sample[name].values[:count])
        assert (sample.transition_kind.values[count:] == "").all()
        assert np.isnan(sample.transition_time.values[count:]).all()
    assert many.status.values.tolist() == ["finished"] * 3 + ["error"]
    assert "beyond the limit 'floor' by 1" in str(many.doubts.values[3])
    assert np.isnan(many.q.values[3]).all()
    assert (many["mode"].values[3] == "").all()
    assert many.transitions.values[3] == 0
    assert many.contact.values.tolist() == ["floor", "wall"]


def test_the_law_of_impacts_is_handed_on():
    system, start = contact.chain((1, 1, 1), 1)
    for law, after in (("moreau", 2 / 3), ("sequential", 1)):
        many = zw.simulate_many(system, start, 0.5, samples=2, impacts=law)
        assert many.v.values[0, -1, 2] == pytest.approx(after)
    with pytest.raises(InputError, match="impacts='newton' is unknown"):
        zw.simulate_many(system, start, 0.5, impacts="newton")


def test_samples_of_which_none_can_run():
    many = zw.simulate_many(ball(), START | {y: [-1.0, -2.0]}, 1.0, parameters={e: 0.5})
    assert many.status.values.tolist() == ["error", "error"]
    assert many.contact.values.tolist() == ["floor", "wall"]


def test_a_motion_that_stops_early_is_empty_from_there_on():
    system, start = contact.painleve(2.0, -1, 0)
    many = zw.simulate_many(system, start, 0.01, samples=3)
    assert many.status.values.tolist() == ["no solution"]
    assert np.isnan(many.q.values[0, -1]).all()


def test_a_store_has_the_same_values(tmp_path):
    pytest.importorskip("zarr")
    given = {"samples": 5, "parameters": GIVEN, "keep": ("q", "energy")}
    kept = zw.simulate_many(ball(), START, 1.0, store=tmp_path / "sweep.zarr", chunk=2, **given)
    here = zw.simulate_many(ball(), START, 1.0, **given)
    assert {*kept.variables} == {*here.variables}
    for name in (*OVER_TIME, *WORKS, *TABLE, "transitions", "q", "status", "contact"):
        assert kept[name].dims == here[name].dims
        assert kept[name].dtype.kind == here[name].dtype.kind
        assert kept[name].attrs.get("long_name") == here[name].attrs.get("long_name")
        np.testing.assert_array_equal(kept[name].values, here[name].values)
    again = zw.simulate_many(ball(), START, 1.0, store=tmp_path / "sweep.zarr", **given)
    np.testing.assert_array_equal(again.transition_kind.values, here.transition_kind.values)
    with pytest.raises(InputError, match="holds another sweep"):
        zw.simulate_many(ball(), START, 1.0, store=tmp_path / "sweep.zarr", chunk=2, impacts="poisson", **given)


@pytest.mark.parametrize("contacts", ["events", "steps"])
def test_a_store_has_what_samples_in_space_say_of_their_contacts(tmp_path, contacts):
    pytest.importorskip("zarr")
    z = zw.coordinates("z")
    floor = zw.Constraint(z >= 0, "floor", friction=0.3, slip=(dot(x), dot(y)))
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2
    system = zw.System((x, y, z), kinetic=kinetic, potential=9.81 * z, constraints=[floor])
    starts = dict.fromkeys((x, y, z, dot(z)), 0) | {dot(x): [0.0, 1.0, 2.0], dot(y): 0.5}
    given = {"samples": 4, "contacts": contacts, "step": 0.01 if contacts == "steps" else None}
    kept = zw.simulate_many(system, starts, 0.5, store=tmp_path / "sweep.zarr", chunk=2, **given)
    here = zw.simulate_many(system, starts, 0.5, **given)
    for name in AT_CONTACTS:
        assert (name in kept) == (name in here)
        if name in here:
            np.testing.assert_array_equal(kept[name].values, here[name].values)


def test_samples_by_steps_of_one_length():
    many = zw.simulate_many(ball(), START, 1.0, samples=5, parameters={e: 0.5}, contacts="steps", step=1e-2)
    start = START | {y: START[y][2]}
    one = zw.simulate(ball(), start, 1.0, samples=5, parameters={e: 0.5}, contacts="steps", step=1e-2)
    assert many.status.values.tolist() == ["finished"] * 3 + ["error"]
    for name in ("q", "v", "gap", "normal_force", "energy"):
        assert np.array_equal(many[name].values[2], one[name].values)
