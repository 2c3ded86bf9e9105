"""Worked examples with closed forms, to 1e-12 through `zwang.solve`."""

import numpy as np
import pytest

import zwang as zw


def close(got, wanted):
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12)


def test_example_5_nonideal_pair():
    now = zw.solve(np.diag([1, 2]), [0, 0], [[1, 1]], [0], C=[1, 0])
    close(now.nonideal_force, [1 / 3, -2 / 3])
    close(now.nonideal_force @ [1, -1], 1)
    close(now.ideal_force, [0, 0])
    close(now.acceleration, [1 / 3, -1 / 3])


def test_example_6_algebra_fixture():
    now = zw.solve([[5, 4, 1], [4, 6, 4], [1, 4, 5]], [1, 0, 0], [[1, 1, 0], [2, 2, 0]], [1, 2])
    close(now.free_acceleration, [7 / 8, -1, 5 / 8])
    close(now.acceleration, [1 / 2, 1 / 2, -1 / 2])
    close(now.constraint_force, [3, 3, 0])
    close(now.multipliers, [3 / 5, 6 / 5])
    close(now.gaussian, 27 / 16)


def test_example_8_which_reactions_are_unique():
    now = zw.solve(np.eye(2), [3, 4], [[1, 0], [0, 1], [0, 2]], [1, 2, 4])
    assert now.unique.tolist() == [True, False, False]
    close(now.acceleration, [1, 2])
    close(now.multipliers, [-2, -2 / 5, -4 / 5])
    close(now.null_space[0], 0)


@pytest.mark.parametrize(("m1", "m2", "k1", "k2", "X1", "X2"), [(1, 2, 3, 4, 0.5, -0.7), (1e-3, 40, 7, 0.2, -3, 11)])
def test_example_9_two_masses_with_a_singular_mass_matrix(m1, m2, k1, k2, X1, X2):
    M = [[m1, 0, 0], [0, m2, m2], [0, m2, m2]]
    now = zw.solve(M, [-k1 * X1, 0, -k2 * X2], [[-1, 1, 0]], [0])
    first = (-k1 * X1 + k2 * X2) / m1
    wanted = np.array([first, first, -first - k2 * X2 / m2])
    np.testing.assert_allclose(now.acceleration, wanted, rtol=1e-13)
    close(now.constraint_force, k2 * X2 * np.array([1, -1, 0]))


def leaving_a_sphere(speed: float) -> zw.Solution:
    """A particle on a sphere where cos θ = 2/3, moving at `speed` times the velocity at which it leaves."""
    g, R = 9.81, 2.0
    cos, sin = 2 / 3, np.sqrt(5) / 3
    v2 = speed**2 * 2 * g * R / 3
    # gap ½(x² + y² − R²) ≥ 0: A = (x, y), b = −v²
    return zw.solve(np.eye(2), [0, -g], [[R * sin, R * cos]], [-v2], one_sided=[True])


def test_example_17_kept_in_contact_below_the_speed():
    now = leaving_a_sphere(0.99)
    close(now.multipliers, [(9.81 * 2 / 3 - 0.99**2 * 2 * 9.81 / 3) / 2])
    assert now.multipliers[0] > 0
    close(now.residuals.constraint, 0)
    assert now.rank == 1


def test_example_17_released_above_the_speed():
    now = leaving_a_sphere(1.01)
    np.testing.assert_array_equal(now.multipliers, [0])
    np.testing.assert_array_equal(now.acceleration, [0, -9.81])
    assert now.rank == 0


LEGS = np.array([[1, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, -1]])
LOAD = np.array([-4, -4 * 0.6, -4 * 0.6])


def test_example_18_minimum_norm_legs_of_the_equality_problem_pull():
    now = zw.solve(np.eye(3), LOAD, LEGS, np.zeros(4))
    close(now.multipliers, [2.2, 1, 1, -0.2])
    close(now.acceleration, 0)
    assert not now.unique.any()


def test_example_18_four_legged_table_stands():
    now = zw.solve(np.eye(3), LOAD, LEGS, np.zeros(4), one_sided=[True] * 4)
    close(now.acceleration, 0)
    assert (now.multipliers >= 0).all()
    close(LEGS.T @ now.multipliers, -LOAD)
    close(now.multipliers, [2.4, 0.8, 0.8, 0])  # of (2.2, 1, 1, −0.2) + τ(1, −1, −1, 1), 0.2 ≤ τ ≤ 1, the shortest
    assert not now.unique.any()
    close(np.abs(now.null_space), 0.5)
    assert now.rank == 3


def test_example_18_an_overhanging_load_tips_the_table():
    now = zw.solve(np.eye(3), [-4, -4 * 1.5, -4 * 1.5], LEGS, np.zeros(4), one_sided=[True] * 4)
    assert now.residuals.constraint == 0
    assert np.abs(now.acceleration).max() > 0.1
    assert now.multipliers[3] == 0
