"""Matrices in a profile are solved as NumPy solves them in full, and what is singular is told by its pivots."""

import numpy as np
import pytest

from zwang.compile.restricted import native, native_library
from zwang.compile.restricted.memory import at
from zwang.engines.stepping.profiles import factored, substituted
from zwang.engines.stepping.record import WALK, WalkRecord


@native
def solve_in_profile(walk: WalkRecord, count: int) -> int:
    """Factorise and solve, as pivots do."""
    walk.firm = factored(walk, count)
    substituted(walk, count, at(walk.missing))
    return 0


def solved(matrix, right):
    """The solution, and the least pivot."""
    n = len(matrix)
    touched = (matrix != 0) | (matrix.T != 0)
    low = np.array([int(np.argmax(touched[k])) for k in range(n)], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(np.arange(n) - low + 1)])[:-1].astype(np.int64)
    lower, upper = (np.zeros(int((np.arange(n) - low + 1).sum())) for _ in range(2))
    for k in range(n):
        place = slice(first[k], first[k] + k - low[k] + 1)
        lower[place], upper[place] = matrix[k, low[k] : k + 1], matrix[low[k] : k + 1, k]
    x, record = right.copy(), np.zeros(1, WALK)
    for name, array in {"low": low, "profile_first": first, "lower": lower, "upper": upper, "missing": x}.items():
        record[name] = array.ctypes.data
    native_library(solve_in_profile)(record.ctypes.data, n)
    return x, float(record["firm"][0])


@pytest.mark.parametrize("seed", range(5))
def test_a_matrix_in_its_profile_is_solved(seed):
    rng = np.random.default_rng(seed)
    n = 60
    band = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) < rng.integers(2, 12)
    matrix = np.where(band, rng.normal(size=(n, n)), 0.0)  # not symmetric, as friction of sliding makes it
    matrix[np.arange(n), np.arange(n)] += 12.0
    right = rng.normal(size=n)
    x, firm = solved(matrix, right)
    assert np.allclose(x, np.linalg.solve(matrix, right), rtol=1e-12, atol=1e-14)
    assert firm > 0.1


def test_rows_that_depend_on_each_other_have_a_small_pivot():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(8, 5))
    matrix = rows @ rows.T + 1e-8 * np.eye(8)  # three of eight depend on the others, and give way a little
    _, firm = solved(matrix, np.ones(8))
    assert 0 < firm < 1e-6
