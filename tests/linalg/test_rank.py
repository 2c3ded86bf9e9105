"""The one rank tolerance, and the pivoted elimination that uses it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.formulations.systems import FAMILIES, exact_rank, random_system
from zwang.linalg.rank import pivoted_rows, power_of_two, rank_tolerance, row_norms, row_rank, rows_in_order


@st.composite
def cases(draw):
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 16))
    return draw(st.integers(0, 2**31)), n, m, draw(st.integers(0, min(m, n))), draw(st.sampled_from(FAMILIES))


@given(cases())
def test_rank_is_found_exactly(case):
    s = random_system(*case)
    assert exact_rank(s.A) == s.rank
    assert row_rank(s.A[None])[0] == s.rank
    rows = rows_in_order(s.A)
    assert len(rows) == exact_rank(s.A[list(rows)]) == s.rank


@given(cases())
def test_chosen_rows_are_independent_and_the_rest_is_the_rest(case):
    s = random_system(*case)
    order, pivots = pivoted_rows(s.A[None] / row_norms(s.A)[None, :, None], s.rank)
    assert sorted(order[0].tolist()) == list(range(len(s.b)))
    assert exact_rank(s.A[order[0, : s.rank]]) == s.rank
    assert (np.diff(pivots[0]) <= 1e-12).all()


def test_rank_in_a_stack():
    A = np.array([np.eye(3), np.diag([1, 1, 0]), np.zeros((3, 3)), np.ones((3, 3))])
    assert row_rank(A).tolist() == [3, 2, 0, 1]
    assert row_rank(np.zeros((4, 0, 3))).tolist() == [0, 0, 0, 0]


def test_rank_does_not_depend_on_units_of_rows():
    A = np.array([[1.0, 2, 3], [3, 2, 1], [4, 4, 4]]) * [[1e-90], [1e90], [1]]
    assert row_rank(A[None])[0] == 2
    assert rows_in_order(A) == (0, 1)


def test_tolerance_sits_between_rounding_and_a_near_singular_position():
    tol = rank_tolerance(16, 12)
    assert 1e-13 < tol < 1e-11
    A = np.array([[1.0, 0], [1, 1e-9]])
    assert row_rank(A[None])[0] == 2
    assert row_rank(A[None], 1e-8)[0] == 1
    assert row_rank(np.array([[[1.0, 0], [1, 1e-14]]]))[0] == 1


def test_scaling_is_exact_and_safe():
    X = np.array([[3.0, 4.0], [0, 0], [3e-200, 4e-200], [3e200, 4e200], [5e-324, 0]])
    scale = row_norms(X)
    np.testing.assert_array_equal(np.log2(scale) % 1, 0)
    np.testing.assert_array_equal(X / scale[:, None] * scale[:, None], X)
    length = np.linalg.norm(X / scale[:, None], axis=1)
    assert (length[[0, 2, 3, 4]] >= 1).all()
    assert (length < 2).all()
    assert scale[1] == 1
    assert power_of_two(np.array([1.0, 1.5, 2.0, 0.3])).tolist() == [1, 1, 2, 0.25]


def test_pivoting_leaves_its_argument_alone():
    X = np.arange(12.0).reshape(1, 4, 3)
    pivoted_rows(X, 2)
    np.testing.assert_array_equal(X, np.arange(12.0).reshape(1, 4, 3))
