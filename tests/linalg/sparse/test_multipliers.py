"""Multipliers of redundant rows in sparse matrices are the shortest ones, as in dense ones."""

import numpy as np
import pytest
import scipy.sparse as ss

from zwang.linalg.factors import factorise
from zwang.linalg.sparse.multipliers import shortest_multipliers


@pytest.mark.parametrize("scale", [1.0, 2.0**10, 2.0**40])
def test_the_force_is_the_same_and_the_length_the_least(scale):
    rng = np.random.default_rng(3)
    A = np.zeros((24, 40))
    for i in range(20):
        A[i, 2 * i : 2 * i + 3] = rng.standard_normal(len(A[i, 2 * i : 2 * i + 3]))
    A[20], A[21], A[22] = A[1] + A[2], A[2] - 3 * A[4], 2 * A[9]  # and a row of zeros
    A *= scale ** rng.integers(-1, 2, (24, 1))
    lam = rng.standard_normal(24) / np.maximum(np.linalg.norm(A, axis=1), 1e-300)
    lam[23] = 0.0
    found, unique = shortest_multipliers(ss.csr_array(A), np.arange(20), lam)
    np.testing.assert_allclose(A.T @ found, A.T @ lam, rtol=1e-11, atol=1e-11)
    factors = factorise(np.eye(40)[None], A[None], 20, tuple(map(str, range(40))))
    dense, _, flags = factors.all_multipliers(factors.multipliers((A.T @ lam)[None]))
    np.testing.assert_allclose(found, dense[0], rtol=1e-9, atol=1e-12 * np.abs(dense).max())
    np.testing.assert_array_equal(unique[:23], flags[0][:23])


def test_independent_rows_keep_their_multipliers():
    lam = np.array([1.0, 2.0])
    found, unique = shortest_multipliers(ss.csr_array(np.eye(2)), np.arange(2), lam)
    np.testing.assert_array_equal(found, lam)
    assert unique.all()
