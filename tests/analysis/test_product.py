"""Eigenvalues of products of matrices: each to digits of its own, against mpmath's of the product in 250 digits."""

import mpmath
import numpy as np
import pytest
import scipy.linalg

from zwang.analysis.product import blocks_of


def eigenvalues(factors):
    blocks, zeros = blocks_of(factors)
    return np.concatenate([*(np.linalg.eigvals(b.whole).astype(complex) for b in blocks), np.zeros(zeros)])


@pytest.mark.parametrize("size", [2, 5, 8])
def test_sizes_that_are_far_apart(size):
    random = np.random.default_rng(size)
    factors = [random.standard_normal((size, size)) @ np.diag(10.0 ** random.uniform(-2, 2, size)) for _ in range(20)]
    with mpmath.workdps(250):
        product = mpmath.eye(size)
        for factor in factors:
            product = mpmath.matrix(factor.tolist()) * product
        exact = [complex(w) for w in mpmath.eig(product, left=False, right=False)]
    found = eigenvalues(factors)
    assert len(found) == size
    for w in exact:
        assert np.abs(found / w - 1).min() < 1e-8


def test_pairs_that_turn_at_scales_of_their_own():
    def turn(angle):
        return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    random = np.random.default_rng(1)
    S = [random.standard_normal((5, 5)) for _ in range(12)]
    D = scipy.linalg.block_diag(10 * turn(0.3), 0.01 * turn(0.5), [[1e-6]])
    found = eigenvalues([S[(i + 1) % 12] @ D @ np.linalg.inv(S[i]) for i in range(12)])
    for w in (1e12 * np.exp(3.6j), 1e-24 * np.exp(6j), 1e-24 * np.exp(-6j), 1e-72):
        assert np.abs(found / w - 1).min() < 1e-4


def test_what_factors_lose_is_zero_and_so_is_what_the_next_round_loses():
    nilpotent = [np.array([[1.0, 0, 0], [0, 1, 0]]), np.array([[0.0, 0], [0.5, 0], [0, 3]])]
    assert eigenvalues(nilpotent).tolist() == [0, 0, 0]
    assert eigenvalues([np.zeros((0, 2)), np.zeros((2, 0))]).tolist() == [0, 0]
    found = eigenvalues([np.array([[1.0, 0]]), np.array([[0.25], [7.0]])])
    assert found[1] == 0
    assert found[0] == pytest.approx(0.25, rel=1e-12)
