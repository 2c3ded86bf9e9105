"""Eigenvalues with their zeros taken out: exact zeros, right vectors, whatever the units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zwang.analysis.spectrum import spectrum_of


def test_a_chain_of_zeros_is_zero_to_the_last_digit():
    A = np.zeros((4, 4))
    A[0, 1], A[2, 3], A[3, 2] = 1.0, 1.0, -4.0
    turned = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    found = spectrum_of(turned @ A @ turned.T)
    assert found.zeros == 2
    assert (found.values[:2] == 0).all()
    assert sorted(found.others.imag) == pytest.approx([-2, 2], rel=1e-14)
    assert (found.growth == 0).all()


@given(st.integers(0, 10**6))
def test_vectors_belong_to_their_values(seed):
    rng = np.random.default_rng(seed)
    n, zeros = int(rng.integers(1, 7)), int(rng.integers(0, 3))
    X = np.eye(n + zeros) + 0.2 * rng.standard_normal((n + zeros, n + zeros))
    values = rng.uniform(1, 4, n) * rng.choice([-1, 1], n)
    A = X @ np.diag(np.append(values, np.zeros(zeros))) @ np.linalg.inv(X)
    units = 10.0 ** rng.integers(-4, 5, n + zeros)
    A = A * units[:, None] / units
    found = spectrum_of(A)
    assert found.zeros == zeros
    assert np.sort(found.others.real) == pytest.approx(np.sort(values), rel=1e-9)
    V = found.vectors / units[:, None]
    left = (A / units[:, None] * units) @ V - V * found.values
    assert np.abs(left).max() < 1e-8 * np.linalg.norm(A / units[:, None] * units) * np.abs(V).max()


def test_what_cannot_move_has_no_eigenvalue():
    assert len(spectrum_of(np.zeros((0, 0))).values) == 0
