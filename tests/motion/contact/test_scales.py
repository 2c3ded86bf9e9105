"""What is small beside gaps and their rates, wherever time begins."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot


def shaken(begin, restitution):
    """A ball on a table that shakes, from an instant on."""
    y = zw.coordinates("y")
    table = zw.Constraint(y - sp.sin(20 * (zw.t - begin)) / 20 >= 0, "table", restitution=restitution)
    ball = zw.System((y,), kinetic=dot(y) ** 2 / 2, potential=9.81 * y, constraints=[table])
    return zw.simulate(ball, {y: 0, dot(y): 1}, begin + 0.9, t=begin)


@pytest.mark.parametrize("begin", [-1.0, 1e3, -1e3, 1e4, -1e4, 1e6])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_moving_surface_is_the_same_wherever_time_begins(begin, restitution):
    here, there = shaken(0.0, restitution), shaken(begin, restitution)
    assert there.attrs["status"] == "finished"
    assert there.transition_kind.values.tolist() == here.transition_kind.values.tolist()
    late = there.transition_time.values - begin - here.transition_time.values
    assert np.abs(late).max() < 1e-13 + 100 * np.spacing(abs(begin))  # instants are no closer to each other there
