"""Rows of large systems that contradict each other are refused as those of small ones are."""

import numpy as np
import pytest
import scipy.sparse as ss

from zwang.errors import InconsistentError
from zwang.formulations.large import require_consistent, solve_large
from zwang.formulations.solve import Names, solve
from zwang.linalg.sparse.ranked import sparse_ranked

NAMES = Names(tuple(f"coordinate {i}" for i in range(40)), tuple(f"row {i}" for i in range(22)))


def system(scale=1.0):
    rng = np.random.default_rng(4)
    A = np.zeros((22, 40))
    for i in range(20):
        A[i, 2 * i : 2 * i + 3] = rng.standard_normal(len(A[i, 2 * i : 2 * i + 3]))
    A[20] = A[3] + 2 * A[5]
    b = A @ rng.standard_normal(40)  # consistent; the last row is zero
    scales = scale ** rng.integers(-1, 2, 22)
    return np.diag(1 + rng.random(40)), rng.standard_normal(40), A * scales[:, None], b * scales


@pytest.mark.parametrize("scale", [1.0, 2.0**40])
@pytest.mark.parametrize("row", [None, 20, 21, 5])
def test_what_is_refused_and_why_is_the_same(row, scale):
    M, Q, A, b = system(scale)
    if row is not None:
        b[row] += 1e-3 * max(abs(b[row]), 1.0)
    found = sparse_ranked(ss.csr_array(M), ss.csr_array(A), NAMES.coordinates)
    if row is None:
        require_consistent(found, Q, b, NAMES)
        return
    with pytest.raises(InconsistentError) as small:
        solve(M, Q, A, b)
    with pytest.raises(InconsistentError) as large:
        require_consistent(found, Q, b, NAMES)
    assert set(large.value.rows) == set(small.value.rows)
    assert large.value.rows[0] == max(small.value.rows)


@pytest.mark.parametrize("nonideal", [False, True])
@pytest.mark.parametrize("singular", [False, True])
def test_a_large_system_has_the_solution_that_it_would_have_if_it_were_small(nonideal, singular):
    M, Q, A, b = system()
    if singular:
        M[4, 4] = 0.0
    C = np.linspace(-1, 1, 40) if nonideal else np.zeros(40)
    small = solve(M, Q, A, b, C=C, v=np.ones(40))
    large = solve_large(ss.csr_array(M), ss.csr_array(A), Q, b, C, np.ones(40), NAMES)
    for name in (
        "acceleration", "constraint_force", "ideal_force", "nonideal_force", "multipliers", "free_acceleration",
        "error", "deviation", "gaussian", "weighted_inverse", "constraint_power", "rank", "unique",
    ):  # fmt: skip
        np.testing.assert_allclose(getattr(large, name), getattr(small, name), rtol=1e-8, atol=1e-9, err_msg=name)
    basis = large.null_space
    assert basis.shape == small.null_space.shape
    np.testing.assert_allclose(basis @ basis.T, small.null_space @ small.null_space.T, atol=1e-10)
    assert max(large.residuals.constraint, large.residuals.equilibrium, large.residuals.consistency) < 1e-10
    assert repr(large) == repr(small).replace("Solution", "LargeSolution")
