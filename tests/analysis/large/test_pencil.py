"""Eigenvalues of sparse pencils are those of dense ones, and counted without missing any."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh, null_space
from scipy.sparse import csr_array

from zwang.analysis.large.pencil import Pencil


def pencil(seed: int, n: int = 30, r: int = 8, shift: float = 0.0) -> tuple[Pencil, np.ndarray]:
    """A random one with pairs of equal eigenvalues, and its eigenvalues by a dense null space."""
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((n, n)) * (draw.random((n, n)) < 0.2)
    K, M = X + X.T - shift * np.eye(n), np.diag(draw.uniform(0.5, 2, n))
    G = draw.standard_normal((r, n)) * (draw.random((r, n)) < 0.3) + np.eye(r, n)
    G /= np.linalg.norm(G, axis=1)[:, None]
    both = [np.kron(np.eye(2), x) for x in (K, M, G)]
    Z = null_space(both[2])
    return Pencil(*map(csr_array, both)), eigh(Z.T @ both[0] @ Z, Z.T @ both[1] @ Z, eigvals_only=True)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_as_many_eigenvalues_are_below_a_shift_as_dense_matrices_have(seed):
    found, values = pencil(seed)
    tried = 0
    for shift in (values[0] - 1, *(values[2:-2:6] + values[4::6][: len(values[2:-2:6])]) / 2, values[-1] + 1):
        if np.abs(values - shift).min() > 1e-6:
            assert found.below(shift) in (np.count_nonzero(values < shift), None)
            tried += 1
    assert tried >= 2  # below and above all of them


def test_pivots_nearly_always_tell():
    told = []
    for seed in range(50):
        found, values = pencil(seed)
        told.append(found.below((values[3] + values[4]) / 2) == np.count_nonzero(values < (values[3] + values[4]) / 2))
    assert np.mean(told) > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_and_the_lowest_are_found(seed):
    found, values = pencil(seed)
    slopes, vectors = found.nearest(6, 0.0)
    assert np.sort(np.abs(slopes)) == pytest.approx(np.sort(np.abs(values))[:6], abs=1e-12)
    assert np.einsum("ki,ki->k", vectors, (found.M @ vectors.T).T) == pytest.approx(np.ones(6), rel=1e-12)
    assert np.abs(found.G @ vectors.T).max() < 1e-12
    assert found.lowest()[0] == pytest.approx(values[0], rel=1e-11)
