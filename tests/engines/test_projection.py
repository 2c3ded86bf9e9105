"""Positions first, then velocities, by Newton's method: in numbers of any type."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from zwang.engines.projection import TURNS, projected


def circle(state):
    """What a projection program gives for a point on the unit circle: the shortest way back, and the residuals."""
    (x, y, u, w), square = state, state[0] ** 2 + state[1] ** 2
    position, velocity = (1 - square) / 2 / square, -(x * u + y * w) / square
    return np.array([position * x, position * y, velocity * x, velocity * y, abs(1 - square), abs(x * u + y * w)])


def test_a_state_is_brought_to_its_constraints_and_its_velocity_is_tangent_there():
    x, y, u, w = projected(circle, np.array([0.7, 0.8, 1.0, -0.5]), 2, 1e-14)
    assert x * x + y * y == pytest.approx(1, abs=1e-11)
    assert x * u + y * w == pytest.approx(0, abs=1e-14)


def test_what_is_near_enough_is_left_as_it_is():
    start = np.array([0.6, 0.8, -0.8, 0.6])
    assert projected(circle, start.copy(), 2, 1e-14).tolist() == start.tolist()


def test_no_more_than_so_many_steps_are_made_at_each_level():
    states = []
    projected(lambda y: states.append(y.copy()) or circle(y), np.array([0.7, 0.8, 1.0, -0.5]), 2, -1.0)
    assert len(states) == 1 + 2 * TURNS
    moved = [np.flatnonzero(b != a).tolist() for a, b in pairwise(states[: TURNS + 1])]
    assert all(set(entries) <= {0, 1} for entries in moved)


def test_numbers_may_be_of_any_type():
    start = np.array([Fraction(3, 5), Fraction(4, 5), Fraction(1), Fraction(0)])
    assert projected(circle, start, 2, 0.0).tolist() == [
        Fraction(3, 5),
        Fraction(4, 5),
        Fraction(16, 25),
        Fraction(-12, 25),
    ]
