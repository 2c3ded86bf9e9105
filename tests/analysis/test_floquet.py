"""Floquet multipliers: those known by structure are exact and have names, the others lose no digits to them."""

import numpy as np
import pytest

from zwang.analysis.floquet import CONSERVED, FLOW, FORGOTTEN, Multipliers, multipliers, verdict


def mixed(J, seed=0):
    """A matrix in other coordinates, badly chosen ones."""
    S = np.random.default_rng(seed).standard_normal(J.shape)
    return S @ J @ np.linalg.inv(S), S


@pytest.mark.parametrize("seed", range(5))
def test_double_ones_and_nilpotent_parts_are_exact(seed):
    """Jordan blocks of 1 and of 0, which rounding parts by the root of its size; beside them a pair and a real one."""
    J = np.zeros((8, 8))
    J[:2, :2] = [[1, 3], [0, 1]]
    J[2:5, 2:5] = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    J[5:7, 5:7] = [[0.3, -0.4], [0.4, 0.3]]
    J[7, 7] = -2
    P, S = mixed(J, seed)
    found = multipliers(P, {FLOW: S[:, 0]})
    assert found.values[1:3].tolist() == [1, 1]
    assert found.values[5:].tolist() == [0, 0, 0]
    assert found.names == ("", FLOW, CONSERVED, "", "", FORGOTTEN, FORGOTTEN, FORGOTTEN)
    assert found.values[[0, 3, 4]] == pytest.approx([-2, 0.3 + 0.4j, 0.3 - 0.4j], abs=1e-10)
    assert verdict(found, (FLOW,)) == "unstable: neighbours go away by a factor of 2 a period, flipping sides"


def test_two_that_rounding_parts_are_real():
    P, _ = mixed(np.array([[0.5, 1.0], [0.0, 0.5]]))
    assert (multipliers(P, {}).values.imag == 0).all()
    turning = multipliers(np.array([[0.5, 1e-3], [-1e-3, 0.5]]), {})
    assert turning.values.imag == pytest.approx([1e-3, -1e-3])


def test_what_is_named_is_checked_and_what_is_not_apart_counts():
    found = multipliers(np.diag([1.0, 1.0, 0.5]), {FLOW: np.array([1.0, 0, 0]), "shift of x": np.array([0, 1.0, 0])})
    assert found.names == (FLOW, "shift of x", "")
    assert verdict(found, (FLOW, "shift of x")) == "stable: neighbours come nearer by a factor of 0.5 a period"
    assert verdict(found, (FLOW,)) == "not to be told at first order: 1 further multiplier of size 1"
    wrong = multipliers(np.diag([1.0, 0.5]), {FLOW: np.array([0.0, 1])})
    assert wrong.names == (CONSERVED, "")
    assert verdict(Multipliers(np.array([]), ()), ()) == "stable: neighbours come nearer by a factor of 0 a period"
