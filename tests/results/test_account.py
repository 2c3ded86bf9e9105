"""What a motion says of its own errors, against motions whose errors are known."""

import math

import numpy as np
import pytest
import xarray as xr

from zwang.results.account import energy_gap, residuals, worst_residual

NAN = math.nan


def motion(gap=(0.0, -3e-9, 1e-9), kinetic=(0.0, 2.0, 5.0), potential=(1.0, -7.0, -4.0)):
    """Three states, two constraints: one of places, one of rates."""
    both = {
        "residual": [[1e-3, NAN], [-4e-3, NAN], [2e-3, NAN]],
        "residual_rate": [[1e-6, 5e-6], [2e-6, -6e-6], [3e-6, 0.0]],
    }
    energies = {"energy_balance": gap, "kinetic": kinetic, "potential": potential}
    variables = {name: (("time", "constraint"), values) for name, values in both.items()}
    variables |= {name: ("time", list(values)) for name, values in energies.items()}
    return xr.Dataset(variables, coords={"time": [0.0, 1.0, 2.0], "constraint": ["rod", "roll"]})


def test_the_gap_is_the_largest_of_either_sign_beside_the_largest_energy_of_either_kind():
    assert energy_gap(motion()) == (3e-9, 7.0)


def test_an_energy_that_is_not_known_does_not_hide_the_other():
    assert energy_gap(motion(kinetic=(NAN, NAN, NAN)))[1] == 7.0


def test_a_motion_without_states_has_no_account():
    empty = motion().isel(time=slice(0, 0))
    assert np.isnan(energy_gap(empty)).all()
    assert worst_residual(empty, "residual") is None


def test_a_constraint_has_no_reading_at_a_level_that_it_does_not_have():
    found = residuals(motion())
    assert found["rod"] == (4e-3, 3e-6)
    assert math.isnan(found["roll"][0])
    assert found["roll"][1] == 6e-6


@pytest.mark.parametrize(("variable", "found"), [("residual", (4e-3, "rod")), ("residual_rate", (6e-6, "roll"))])
def test_the_worst_is_named(variable, found):
    assert worst_residual(motion(), variable) == found


def test_without_readings_there_is_no_worst():
    assert worst_residual(motion().isel(constraint=[1]), "residual") is None
