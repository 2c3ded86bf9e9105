"""Small dense matrices in machine code, against NumPy."""

import numpy as np
import pytest

from zwang.compile.restricted import native_library
from zwang.engines.stepping.dense import pseudoinverse, rank_of


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_the_pseudoinverse_of_dependent_rows_is_numpys(rank):
    rng = np.random.default_rng(rank)
    invert = native_library(pseudoinverse)
    for _ in range(10):
        X = rng.standard_normal((6, rank))
        A = X @ X.T
        given, vectors, found = A.copy(), np.zeros((6, 6)), np.zeros((6, 6))
        assert invert(given.ctypes.data, 6, vectors.ctypes.data, 1e-11, found.ctypes.data) == rank
        exact = np.linalg.pinv(A, rcond=1e-11, hermitian=True)
        assert np.allclose(found, exact, atol=1e-8 * np.abs(exact).max())


def test_the_rank_of_rows_that_depend_on_each_other_is_numpys():
    rng = np.random.default_rng(0)
    rank = native_library(rank_of)
    for size in range(1, 8):
        X = rng.standard_normal((7, size))
        X /= np.linalg.norm(X, axis=1)[:, None]
        A = X @ X.T
        assert rank(A.copy().ctypes.data, 7, 7, 1e-10) == np.linalg.matrix_rank(A, tol=1e-10, hermitian=True)
