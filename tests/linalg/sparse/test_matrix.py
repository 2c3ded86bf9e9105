"""Sparse matrices: lengths and scales are those of dense ones, and small eigenvalues are found."""

import numpy as np
import pytest
import scipy.sparse as ss

from zwang.linalg import rank as dense
from zwang.linalg.sparse.matrix import (
    pivots_of,
    row_norms,
    scaled,
    smallest_eigenvalue,
    solve_columns,
    symmetric_factors,
)


@pytest.mark.parametrize("scale", [1.0, 1e200, 1e-200])
def test_lengths_of_rows_are_those_of_dense_rows(scale):
    X = np.random.default_rng(0).standard_normal((20, 30)) * (np.arange(30) % 3 == 0) * scale
    X[4] = 0.0
    np.testing.assert_array_equal(row_norms(ss.csr_array(X)), dense.row_norms(X))
    np.testing.assert_array_equal(scaled(ss.csr_array(X), np.full(20, 2.0), np.full(30, 4.0)).toarray(), X / 8)


def test_the_smallest_eigenvalue_of_a_chain_is_found_to_a_factor_of_two():
    n = 5000
    chain = ss.diags_array([np.full(n, 2.0), np.full(n - 1, -1.0), np.full(n - 1, -1.0)], offsets=[0, 1, -1]).tocsr()
    factors = symmetric_factors(chain)
    exact = 4 * np.sin(np.pi / (2 * (n + 1))) ** 2  # closed form
    value, vector = smallest_eigenvalue(factors, n)
    assert exact * (1 - 1e-9) <= value <= 2 * exact
    assert np.linalg.norm(chain @ vector) < 2 * exact


def test_pivots_are_told_by_their_rows():
    X = ss.csr_array(np.array([[4.0, 0.0, 2.0], [0.0, 9.0, 0.0], [2.0, 0.0, 5.0]]))
    pivots = pivots_of(symmetric_factors(X))
    assert pivots[1] == 9.0
    assert sorted(pivots[[0, 2]].tolist()) in ([4.0, 4.0], [3.2, 5.0])
    assert symmetric_factors(ss.csr_array(np.zeros((2, 2)))) is None


@pytest.mark.parametrize("count", [1, 8, 9, 30])
def test_many_right_hand_sides_are_solved_for_some_at_a_time(count):
    n = 200
    tie = ss.diags_array([np.full(n - abs(d), 8.0 if not d else -0.5) for d in range(-6, 7)], offsets=range(-6, 7))
    right = np.random.default_rng(0).standard_normal((n, count))
    np.testing.assert_allclose(tie @ solve_columns(symmetric_factors(tie.tocsr()), right), right, atol=1e-12)
