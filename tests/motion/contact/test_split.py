"""Programs over families of forces."""

import numpy as np
import pytest

from zwang.motion.contact.split import ends, fairest, null_space, shortest, unbounded


def test_a_null_space_is_taken_to_nothing():
    X = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])
    N = null_space(X, 1e-10)
    assert N.shape == (3, 2)
    assert np.abs(X @ N).max() < 1e-15


def test_the_shortest_change_that_keeps_conditions():
    value, slope = np.array([-1.0, 5.0]), np.array([[1.0], [-1.0]])
    assert shortest(value, slope) == pytest.approx([1.0])
    assert shortest(np.array([-1.0, 0.5]), slope) is None
    assert shortest(np.array([1.0, 0.5]), slope).tolist() == [0.0]


def test_ends_of_an_interval_and_none():
    value, slope = np.array([1.0, 2.0]), np.array([[1.0], [-1.0]])
    assert ends(value, slope, np.array([3.0])) == pytest.approx((-3.0, 6.0))
    assert ends(value[:1], slope[:1], np.array([1.0])) == pytest.approx((-1.0, np.inf))


def test_two_sides_of_a_guide_may_press_as_they_like_and_two_feet_may_not():
    assert unbounded(np.array([[1.0], [1.0]]), np.array([2.0]))
    assert not unbounded(np.array([[1.0], [-1.0]]), np.array([0.0]))


def test_the_fairest_split_of_friction_goes_by_bounds_and_stays_so():
    # two feet, N = (1, 3), friction 2 to share: forces are (N1, N2, F1, F2), conditions μN ± F with μ = 0.6
    family = np.array([[0.0], [0.0], [1.0], [-1.0]]) / np.sqrt(2)
    conditions = np.array([[0.6, 0, 1, 0], [0.6, 0, -1, 0], [0, 0.6, 0, 1], [0, 0.6, 0, -1]])
    given = np.array([1.0, 3.0, 2.0, 0.0])
    best = fairest(given, family, conditions, 3.0)
    split = best.shares @ given + best.beside
    assert split[2] + split[3] == pytest.approx(2.0)
    assert (conditions @ split).min() == pytest.approx(0.2)  # (0.6 · 4 − 2) / 2
    more = best.shares @ np.array([1.0, 3.0, 2.4, 0.0])
    assert (conditions @ more).min() == pytest.approx(0.0, abs=1e-12)  # all of it is used up at once
    assert len(best.decisive) == 2
