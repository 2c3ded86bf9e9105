"""Which mass matrices are positive definite: those that are up to rounding, whatever the units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import zwang as zw
from zwang.linalg.masses import Masses, inverse_factors, mass_tolerance, masses, regular

seeds = st.integers(0, 2**31)
sizes = st.integers(2, 12)


def attitude(u):
    """E of a quaternion: the angular velocity of a body is 2E u̇, and Eu = 0."""
    a, b, c, d = u
    return np.array([[-b, a, d, -c], [-c, -d, a, b], [-d, c, -b, a]])


def orthogonal(draw, n):
    return np.linalg.qr(draw.normal(size=(n, n)))[0]


def units(draw, n):
    return 10.0 ** draw.uniform(-9, 9, size=n)


def symmetric(M):
    return (M + M.T) / 2


def test_definite_singular_and_indefinite_masses_in_one_stack():
    M = np.array([np.eye(2), np.diag([1, 0]), [[1, 1], [1, 1]], np.diag([1e-30, 1e30]), np.diag([1, -1])])
    assert regular(M).tolist() == [True, False, False, True, False]
    assert regular(M[:1]).tolist() == [True]


@pytest.mark.parametrize("small", [0.1, 1e-3, 1e-6, 1e-8, 1e-12])
def test_the_mass_of_a_quaternion_is_singular_however_small_a_component(small):
    draw = np.random.default_rng(0)
    M = np.empty((1000, 4, 4))
    for k in range(1000):
        u = draw.normal(size=4)
        u[draw.integers(4)] *= small
        E = attitude(u / np.linalg.norm(u))
        M[k] = symmetric(4 * E.T @ np.diag(draw.uniform(0.1, 1, 3)) @ E)
    assert not regular(M).any()


@given(seeds, sizes)
def test_a_mass_of_lower_rank_is_singular_in_any_units(seed, n):
    draw = np.random.default_rng(seed)
    lost = int(draw.integers(1, n))
    null = draw.normal(size=(n, lost))
    null[draw.integers(n)] *= 10.0 ** draw.uniform(-10, 0)  # a direction that one coordinate hardly takes part in
    null = np.linalg.qr(null)[0]
    B = draw.normal(size=(n - lost, n))
    B = (B - (B @ null) @ null.T) * units(draw, n)
    assert not regular(symmetric(B.T @ B)[None])[0]


@given(seeds, sizes)
def test_masses_graded_over_twelve_decades_are_definite_in_any_basis(seed, n):
    draw = np.random.default_rng(seed)
    V = orthogonal(draw, n)
    M = symmetric((V * np.geomspace(1, 1e-12, n)) @ V.T)
    assert regular(M[None])[0]


@given(seeds, sizes)
def test_a_definite_mass_is_definite_in_any_units(seed, n):
    draw = np.random.default_rng(seed)
    V, D = orthogonal(draw, n), units(draw, n)
    M = symmetric((V * draw.uniform(1e-3, 1, size=n)) @ V.T) * D * D[:, None]
    assert regular(M[None])[0]


@given(seeds, sizes, st.sampled_from([2.0**-4, 2.0**4]))
def test_nearly_singular_masses_are_told_by_one_number(seed, n, factor):
    """Two bodies that move almost as one, ½(ẋ + ẏ)² + ½ε ẏ²: definite above the tolerance, singular below."""
    draw = np.random.default_rng(seed)
    M = np.eye(n)
    M[0, 1] = M[1, 0] = 1.0
    M[1, 1] = 1 + 2 * factor * mass_tolerance(n)  # scaled to unit diagonal: 1/Σ(M⁻¹)ⱼⱼ = ε/2 nearly
    D = 2.0 ** draw.integers(-30, 31, size=n)
    assert regular((M * D * D[:, None])[None])[0] == (factor > 1)


@given(seeds, sizes)
def test_factors_of_a_stack_are_those_of_each_mass(seed, n):
    """One that LAPACK cannot factorise leaves the others as they are."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(5, n, n))
    M = X @ X.swapaxes(1, 2) + np.eye(n)
    M[1] = 0.0
    M[3] = -M[3]
    A = draw.normal(size=(5, 2, n))
    stack = masses(M, A)
    assert stack.definite.tolist() == [True, False, True, False, True]
    for k in (0, 2, 4):
        np.testing.assert_array_equal(stack.Li[k], masses(M[[k]], A[[k]]).Li[0])
        np.testing.assert_allclose(stack.Li[k] @ stack.M[k] @ stack.Li[k].T, np.eye(n), atol=1e-11)
    assert np.isnan(stack.Li[[1, 3]]).all()
    some = stack.part(stack.definite)
    assert isinstance(some, Masses)
    np.testing.assert_array_equal(some.Li, stack.Li[[0, 2, 4]])


def test_a_large_mass_is_factorised_like_a_small_one():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(80, 80))
    M = X @ X.T + 80 * np.eye(80)
    Li, definite = inverse_factors(M[None])
    assert definite.tolist() == [True]
    np.testing.assert_allclose(Li[0] @ M @ Li[0].T, np.eye(80), atol=1e-13)
    assert not np.triu(Li[0], 1).any()
    M[:, 3] = M[:, 7]
    M[3] = M[7]
    assert not regular(M[None])[0]


def test_euler_parameters_that_are_zero_but_for_rounding_weigh_nothing():
    """M = 4 EᵀJE has no mass along u, where A ü = −|u̇|² alone says what happens; the rest is J ω′ = moment."""
    J = np.array([[0.0032, 0.0004, 0.0006], [0.0004, 0.0039, 0.0013], [0.0006, 0.0013, 0.0049]])
    for tiny in (0.0, 1e-20, 1e-17, 1e-14, 1e-11):
        u = np.array([1.0, 2.6 * tiny, -0.4 * tiny, 0.6 * tiny])
        E = attitude(u)
        moment = np.array([0.3, -0.2, 0.5])
        found = zw.solve(4 * E.T @ J @ E, 2 * E.T @ moment, u[None], [-625.0], form="fundamental")
        assert u @ found.acceleration == pytest.approx(-625.0, rel=1e-14)
        assert 2 * E @ found.acceleration == pytest.approx(np.linalg.solve(J, moment), rel=1e-9)
