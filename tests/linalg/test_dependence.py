"""How rows depend on each other: A = X G exactly, null spaces and uniqueness."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formulations.systems import DIGITS, FAMILIES, exact_unique, random_system, relative
from zwang.linalg.dependence import complete_pivoting, dependence
from zwang.linalg.rank import pivoted_rows, rank_tolerance, row_norms


@st.composite
def sizes(draw):
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 16))
    return draw(st.integers(0, 2**31)), n, m, draw(st.integers(0, min(m, n)))


def found(s):
    order = pivoted_rows(s.A[None] / row_norms(s.A)[None, :, None], s.rank)[0]
    return order[0, : s.rank], dependence(s.A[None], order, s.rank, rank_tolerance(*s.A.shape))


@pytest.mark.parametrize("family", FAMILIES)
@given(size=sizes())
@settings(max_examples=40)
def test_rows_are_made_of_the_independent_ones(family, size):
    s = random_system(*size, family)
    rows, d = found(s)
    X = d.X[0]
    np.testing.assert_array_equal(X[rows], np.eye(s.rank))
    # A = X G with G = A[rows] and A = s.X s.G with integers: X = s.X s.X[rows]⁻¹
    if s.rank:
        wanted = np.linalg.solve(s.X[rows].T, s.X.T).T
        assert (np.abs(X - wanted) <= 1e-11 * np.maximum(1e-3, np.abs(wanted).max(axis=1, keepdims=True))).all()
    np.testing.assert_array_equal(d.unique[0], exact_unique(s.X))


@pytest.mark.parametrize("family", FAMILIES)
@given(size=sizes())
@settings(max_examples=40)
def test_inverse_and_null_space_to_the_last_digits(family, size):
    s = random_system(*size, family)
    rows, d = found(s)
    m = len(s.b)
    if not s.rank:
        np.testing.assert_allclose(d.null_space[0] @ d.null_space[0].T, np.eye(m), atol=1e-15)
        return
    with mp.workdps(DIGITS):
        X = mp.matrix(s.X) * mp.inverse(mp.matrix(s.X[rows]))
        plus = mp.inverse(X.T * X) * X.T
        wanted = np.array(plus.tolist(), dtype=float)
        projector = np.array((mp.eye(m) - X * plus).tolist(), dtype=float)
    assert relative(d.inverse[0], wanted) <= 1e-12
    np.testing.assert_allclose(d.null_space[0] @ d.null_space[0].T, projector, rtol=0, atol=1e-13)


def test_a_small_share_counts():
    """A row that takes part in another by one part in a billion is not unique; noise of rounding is nobody's share."""
    G = np.eye(3)
    A = np.vstack([G, [1, 1e-9, 0], [0.1, 0.2, 0]])
    order = np.arange(5)[None]
    d = dependence(A[None], order, 3, rank_tolerance(5, 3))
    assert d.unique[0].tolist() == [False, False, True, False, False]
    d = dependence(A[None, :4], order[:, :4], 3, 1e-6)
    assert d.unique[0].tolist() == [False, True, True, False]


@given(st.integers(0, 2**31), st.integers(1, 5), st.integers(0, 4))
def test_complete_pivoting_factors_rows_of_all_scales(seed, r, extra):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(3, r + extra, r)) * 2.0 ** draw.integers(-60, 61, size=(3, r + extra, 1))
    L, U, order = complete_pivoting(X)
    assert (np.abs(L) <= 1).all()
    again = L @ U
    for k in range(3):
        rows = X[k, order[k]]
        assert (np.abs(again[k] - rows) <= 1e-14 * np.abs(rows).max(axis=1, keepdims=True)).all()
