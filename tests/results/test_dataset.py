"""Datasets of motions: what they share is made once, and none sees what is done to another."""

import numpy as np
import pytest
import xarray as xr

from zwang.results.dataset import SHORT_MOTION, VARIABLES, dataset, with_variables

SIZES = {"coordinate": 2, "constraint": 1}


def values(count, seed=0, leading=()):
    rng = np.random.default_rng(seed)
    return {
        name: rng.normal(size=(*leading, count, *(SIZES[d] for d in dims))) for name, (dims, _) in VARIABLES.items()
    }


def made(count, seed=0):
    return dataset(values(count, seed), np.arange(count) / 7, ("x", "y"), ("rod",), np.array([True]), {"seed": seed})


def plainly(count, seed=0):
    variables = {
        name: (("time", *dims), values(count, seed)[name], {"long_name": w}) for name, (dims, w) in VARIABLES.items()
    }
    variables["unique"] = ("constraint", [True], {"long_name": "whether λ is unique"})
    names = {"coordinate": ["x", "y"], "constraint": ["rod"]}
    times = ("time", np.arange(count) / 7, {"long_name": "time"})
    return xr.Dataset(variables, coords={"time": times} | names, attrs={"seed": seed})


def test_a_dataset_is_the_one_that_xarray_makes():
    for count in (1, 3, SHORT_MOTION + 1):
        for _ in range(2):  # the second is filled into what is kept of the first
            assert made(count).identical(plainly(count))
            assert list(made(count)) == list(plainly(count))


def test_datasets_share_nothing_that_can_be_changed():
    first = made(3)
    first.q.attrs["units"] = "m"
    first.time.attrs["units"] = "s"
    first.q[:] = 0.0
    first["time"] = first.time + 1
    first.attrs["seed"] = 7
    assert made(3).identical(plainly(3))


def test_arrays_are_not_copied():
    given = values(3)
    motion = dataset(given, np.arange(3.0), ("x", "y"), ("rod",), np.array([True]), {})
    assert all(np.shares_memory(motion[name].values, given[name]) for name in VARIABLES)


MORE = {
    "event_time": ("event", np.array([0.5, 1.5])),
    "event_q": (("event", "coordinate"), np.ones((2, 2)), {"long_name": "where"}),
}
BESIDE = {"mass": ("event", np.array([2.0, 3.0]), {"long_name": "value"})}


def test_further_variables_are_those_that_xarray_assigns():
    base = made(3)
    for beside in ({}, BESIDE):
        more = with_variables(base, MORE, beside)
        assert more.identical(plainly(3).assign(MORE).assign_coords(beside))
        assert list(more.coords) == list(plainly(3).assign(MORE).assign_coords(beside).coords)
    more.attrs["seed"] = 7
    assert base.identical(plainly(3))
    assert with_variables(base, {}).identical(base)


def test_variables_that_do_not_fit_are_refused_as_xarray_does():
    with pytest.raises(ValueError, match="conflicting sizes"):
        with_variables(made(3), {"odd": ("time", np.zeros(4))})


def test_samples_come_first():
    given = values(3, leading=(5,))
    motion = dataset(given, np.arange(3.0), ("x", "y"), ("rod",), np.array([True]), {}, leading=("sample",))
    assert dict(motion.sizes) == {"sample": 5, "time": 3} | SIZES
    assert motion.q.dims == ("sample", "time", "coordinate")
