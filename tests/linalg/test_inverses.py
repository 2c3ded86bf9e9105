"""Generalized inverses: each family satisfies the Penrose conditions it claims, and generic members no others."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from zwang.linalg import exact
from zwang.linalg.inverses import inverse_1, inverse_13, inverse_14, moore_penrose, penrose_defects

FAMILIES = [(inverse_1, {1}), (inverse_13, {1, 3}), (inverse_14, {1, 4})]
shapes = st.tuples(st.integers(0, 2**31), st.integers(2, 7), st.integers(2, 7), st.integers(1, 6))


def random_matrix(seed: int, m: int, n: int, rank: int):
    """Rank below both sizes, so that all four conditions can fail."""
    draw = np.random.default_rng(seed)
    rank = min(rank, m - 1, n - 1)
    return draw.normal(size=(m, rank)) @ draw.normal(size=(rank, n)), rank, draw.normal(size=(n, m))


def conditions(X, Y) -> set[int]:
    return {c + 1 for c, defect in enumerate(penrose_defects(X, Y)) if defect < 1e-9}


@given(shapes)
def test_moore_penrose_satisfies_all_four_conditions(case):
    X, rank, _ = random_matrix(*case)
    Y = moore_penrose(X[None], rank)[0]
    assert conditions(X, Y) == {1, 2, 3, 4}
    np.testing.assert_allclose(Y, np.linalg.pinv(X, rcond=1e-10), rtol=0, atol=1e-9 * np.abs(Y).max())


@pytest.mark.parametrize(("family", "claimed"), FAMILIES)
@given(case=shapes)
def test_families_satisfy_what_they_claim_and_nothing_else(family, claimed, case):
    X, rank, free = random_matrix(*case)
    assert conditions(X, family(X, moore_penrose(X[None], rank)[0], free)) == claimed


def exact_conditions(X: sp.Matrix, Y: sp.Matrix) -> set[int]:
    tests = {1: X * Y * X == X, 2: Y * X * Y == Y, 3: (X * Y).is_symmetric(), 4: (Y * X).is_symmetric()}
    return {c for c, holds in tests.items() if holds}


@pytest.mark.parametrize(("family", "claimed"), FAMILIES)
def test_families_in_exact_arithmetic(family, claimed):
    X = sp.Matrix([[1, 2, 0, 1], [2, 4, 0, 2], [0, 1, -1, 3]])
    plus = exact.moore_penrose(X, exact.independent_rows(X))
    assert exact_conditions(X, plus) == {1, 2, 3, 4}
    free = sp.Matrix(4, 3, lambda i, j: sp.Rational(2 * i - j + 1, 3) ** 2)
    assert exact_conditions(X, family(X, plus, free)) == claimed
    assert family(X, plus, plus) == plus  # the Moore–Penrose inverse is a member


@pytest.mark.parametrize(("family", "claimed"), FAMILIES)
def test_every_member_is_generated(family, claimed):
    """A family's formula gives back any member put in for its free matrix."""
    X, rank, free = random_matrix(3, 4, 5, 2)
    plus = moore_penrose(X[None], rank)[0]
    member = family(X, plus, free)
    np.testing.assert_allclose(family(X, plus, member - (plus if family is inverse_1 else 0)), member, atol=1e-12)


def test_moore_penrose_of_nothing_and_of_zero():
    assert moore_penrose(np.zeros((2, 0, 3)), 0).shape == (2, 3, 0)
    np.testing.assert_array_equal(moore_penrose(np.zeros((1, 2, 3)), 0), np.zeros((1, 3, 2)))


def test_defects_of_a_stack_are_those_of_its_worst():
    X = np.array([np.eye(2) * 1e6, np.eye(2) * 1e-6])
    Y = np.array([np.eye(2) * 1e-6, np.eye(2) * 2e6])
    assert penrose_defects(X[:1], Y[:1])[0] == 0
    assert penrose_defects(X, Y)[0] == pytest.approx(0.5)
