"""Rows that are made of rows nearby are found among these, however many others there are."""

import numpy as np
import pytest
import scipy.sparse as ss

from zwang.linalg.sparse.nearby import MOST_ROWS, made_of_nearby
from zwang.linalg.sparse.rank import in_order, sparse_rank


def ring(count, seed=0):
    """Rows that join neighbours in a ring of many, twice each: the second is a multiple of the first."""
    rng = np.random.default_rng(seed)
    A = np.zeros((2 * count, 3 * count))
    for i in range(count):
        columns = np.arange(3 * i, 3 * i + 6) % (3 * count)
        A[2 * i, columns] = rng.standard_normal(6)
        A[2 * i + 1] = rng.uniform(1, 3) * A[2 * i]
    return A / np.linalg.norm(A, axis=1)[:, None]


def test_twins_are_made_of_each_other_alone():
    A = ring(40)
    found, how = made_of_nearby(ss.csr_array(A), np.arange(0, 80, 2), np.arange(1, 80, 2), 1e-12)
    assert found.tolist() == list(range(40))
    assert abs(how @ A - A[1::2]).max() < 1e-15
    C = how.toarray()
    assert (np.abs(C[np.arange(40), 2 * np.arange(40)] - 1) < 1e-14).all()


@pytest.mark.parametrize("length", [3, 6])
def test_a_dependence_through_several_rows_is_found_by_neighbours_of_neighbours(length):
    """x₁ − x₀, x₂ − x₁, … and x_k − x₀: the last row has coordinates in common with the first and the last only."""
    rows = [np.eye(1, 30, k + 1)[0] - np.eye(1, 30, k)[0] for k in range(length)]
    rows.append(np.eye(1, 30, length)[0] - np.eye(1, 30, 0)[0])
    A = np.array(rows) / np.sqrt(2)
    found, how = made_of_nearby(ss.csr_array(A), np.arange(length), np.array([length]), 1e-12)
    assert found.tolist() == [0]
    assert abs(how.toarray()[0, :length] - 1).max() < 1e-14


def test_what_is_farther_off_is_left_to_all_rows_and_gives_the_same_rank():
    """A closed chain of many links along a line: one of them follows from all the others."""
    count = 3 * MOST_ROWS
    A = np.zeros((count, count))
    for k in range(count):
        A[k, k], A[k, (k + 1) % count] = -np.sqrt(0.5), np.sqrt(0.5)
    U = ss.csr_array(A)
    assert not len(made_of_nearby(U, np.arange(count - 1), np.array([count - 1]), 1e-12)[0])
    found = in_order(sparse_rank(U))
    assert found.rank == count - 1
    assert found.others.tolist() == [count - 1]
    assert abs(found.coefficients.toarray()[0, : count - 1] + 1).max() < 1e-10


def test_independent_rows_are_made_of_nothing():
    A = np.eye(6)
    found, how = made_of_nearby(ss.csr_array(A), np.arange(3), np.arange(3, 6), 1e-12)
    assert not len(found)
    assert how.shape == (0, 6)
