"""The rank of sparse rows is the one that the dense code finds, by planted dependences, at all scales."""

import numpy as np
import pytest
import scipy.sparse as ss

from zwang.linalg import rank as dense
from zwang.linalg.sparse.matrix import row_norms, scaled, sparse
from zwang.linalg.sparse.rank import in_order, sparse_rank


def planted(seed, rows=120, columns=200, extra=10, error=0.0):
    """Rows with few entries, and some more that are combinations of a few of them, in any order and at any scale."""
    rng = np.random.default_rng(seed)
    A = np.zeros((rows, columns))
    for row in A:
        row[rng.choice(columns, 4, replace=False)] = rng.choice([-3, -2, -1, 1, 2, 3], 4)
    for _ in range(extra):
        which = rng.choice(len(A), 3, replace=False)
        more = rng.choice([-2.0, -1.0, 1.0, 2.0], 3) @ A[which]
        A = np.vstack([A, more + error * rng.standard_normal(columns) * (more != 0)])
    order = rng.permutation(len(A))
    return A[order] * 2.0 ** rng.integers(-40, 41, (len(A), 1)), np.argsort(order)[rows:]


def units_of(A):
    unit = A / dense.row_norms(A)[:, None]
    return unit, ss.csr_array(unit)


@pytest.mark.parametrize("seed", range(8))
def test_planted_dependences_are_found_as_the_dense_code_finds_them(seed):
    unit, U = units_of(planted(seed)[0])
    found = sparse_rank(U)
    assert found.rank == dense.row_rank(unit[None])[0] == 120  # integers: the rank is exact
    assert abs(U[found.others] - found.coefficients @ U).max() < 1e-12
    first = in_order(found)
    assert tuple(first.rows) == dense.rows_in_order(unit)
    assert abs(U[first.others] - first.coefficients @ U).max() < 1e-11
    assert (first.coefficients.indices < np.repeat(first.others, np.diff(first.coefficients.indptr))).all()


@pytest.mark.parametrize(("error", "dependent"), [(1e-16, 10), (1e-15, 10), (1e-9, 0), (1e-6, 0), (1e-3, 0)])
def test_rows_that_are_almost_dependent_are_told_from_dependent_ones(error, dependent):
    unit, U = units_of(planted(1, error=error)[0])
    assert sparse_rank(U).rank == dense.row_rank(unit[None])[0] == 130 - dependent


def test_column_scales_that_masses_take_away_change_nothing():
    A, _ = planted(3)
    scale = 2.0 ** np.random.default_rng(5).integers(-40, 41, A.shape[1])
    plain, other = (sparse_rank(units_of(X)[1]) for X in (A, (A * scale) / scale))
    assert plain.rank == other.rank
    np.testing.assert_array_equal(plain.others, other.others)


def test_rows_that_are_zero_follow_from_nothing():
    found = sparse_rank(sparse(np.array([1.0]), np.array([1]), np.array([0]), (3, 2)))
    assert (found.rank, found.rows.tolist(), found.others.tolist()) == (1, [1], [0, 2])
    assert found.coefficients.nnz == 0


def test_more_rows_than_columns_have_the_rank_of_the_columns():
    _, U = units_of(np.random.default_rng(2).standard_normal((90, 40)))
    found = sparse_rank(U)
    assert found.rank == 40
    assert abs(U[found.others] - found.coefficients @ U).max() < 1e-11


def test_a_long_chain_is_ranked_in_no_time_and_closed_to_a_ring_one_link_follows_from_all_others():
    n = 20_000
    ends = np.stack([np.arange(n), np.arange(1, n + 1) % n], axis=1)
    U = sparse(np.tile([1.0, -1.0], n), np.repeat(np.arange(n), 2), ends.ravel(), (n, n))
    U = scaled(U, row_norms(U))
    assert sparse_rank(U[: n - 1]).rank == n - 1
    ring = in_order(sparse_rank(U))
    assert (ring.rank, ring.others.tolist()) == (n - 1, [n - 1])
    np.testing.assert_allclose(ring.coefficients.toarray()[0, : n - 1], -1.0, atol=1e-8)


@pytest.mark.parametrize("n", [10, 20, 30, 40])
def test_pivots_that_are_all_large_do_not_hide_a_small_singular_value(n):
    # Kahan's matrix: no pivot is small beside its row, and yet the rows depend on each other more and more
    s = 0.5
    R = np.triu(np.full((n, n), -np.sqrt(1 - s**2)), 1) + np.eye(n)
    A = (np.diag(s ** np.arange(n)) @ R).T
    unit, U = units_of(A)
    assert sparse_rank(U).rank == dense.row_rank(unit[None])[0]
