"""Large systems are solved and refused as small ones are."""

import numpy as np
import pytest
import scipy.sparse as ss

from zwang.errors import MassError, UndeterminedError
from zwang.linalg.ranked import ranked
from zwang.linalg.sparse.ranked import sparse_ranked

NAMES = tuple(f"x{i}" for i in range(90))


def bodies(count, links, seed=0):
    """Bodies of three coordinates that M couples, and rows that link two of them each; the last follows from others."""
    rng = np.random.default_rng(seed)
    n = 3 * count
    X = rng.standard_normal((count, 3, 3))
    M = ss.block_diag([x @ x.T + np.eye(3) for x in X]).toarray()
    A = np.zeros((links + 1, n))
    for i in range(links):
        A[i, 3 * i : 3 * i + 6] = rng.standard_normal(6)
    A[links] = A[0] - 2 * A[1]
    return M, A, rng.standard_normal(n), rng.standard_normal(links + 1)


@pytest.mark.parametrize("scale", [1.0, 2.0**40, 2.0**-40])
def test_accelerations_and_multipliers_are_those_of_the_dense_code(scale):
    M, A, Q, b = bodies(30, 25)
    b[-1] = b[0] - 2 * b[1]
    A, b = A * scale, b * scale
    found, whole = sparse_ranked(ss.csr_array(M), ss.csr_array(A), NAMES), ranked(M, A, NAMES)
    assert found.rank == whole.rank == 25
    x, _ = found.solve(Q, b)
    np.testing.assert_allclose(x, whole.factors.solve(Q[None], b[None])[0][0], rtol=1e-12, atol=1e-13)
    rows = found.rows
    force = A[rows].T @ found.solve(Q, b)[1]
    np.testing.assert_allclose(M @ x - Q, force, rtol=1e-11, atol=1e-11)


def test_a_singular_mass_is_fine_where_rows_make_up_for_it_and_refused_by_name_where_not():
    M, A, Q, b = bodies(30, 25)
    M[:, 4] = M[4] = 0.0
    found = sparse_ranked(ss.csr_array(M), ss.csr_array(A[:25]), NAMES)
    whole = ranked(M, A[:25], NAMES)
    np.testing.assert_allclose(
        found.solve(Q, b[:25])[0], whole.factors.solve(Q[None], b[None, :25])[0][0], rtol=1e-9, atol=1e-9
    )
    M[:, 85] = M[85] = 0.0
    with pytest.raises(UndeterminedError, match="along x85"):
        sparse_ranked(ss.csr_array(M), ss.csr_array(A[:25]), NAMES)


def test_a_mass_that_is_not_positive_is_refused_with_its_direction():
    M, A, *_ = bodies(30, 25)
    M[7, 7] = -1.0
    with pytest.raises(MassError, match="not positive semidefinite"):
        sparse_ranked(ss.csr_array(M), ss.csr_array(A), NAMES)


def test_rows_that_differ_by_rounding_keep_their_rank():
    M, A, *_ = bodies(30, 25)
    first = sparse_ranked(ss.csr_array(M), ss.csr_array(A), NAMES)
    again = sparse_ranked(ss.csr_array(M), ss.csr_array(A * (1 + 4e-16)), NAMES, first)
    assert again.found is first.found
    assert sparse_ranked(ss.csr_array(M), ss.csr_array(A * 1.5), NAMES, first).found is not first.found
