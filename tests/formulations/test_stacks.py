"""Stacks of systems: leading axes of any number, blocks, and which system is to blame."""

import numpy as np
import pytest

import zwang as zw
from tests.formulations.systems import random_system
from zwang.errors import InconsistentError, MassError
from zwang.formulations import FORMS
from zwang.formulations.solution import Solution

SHARED = ["acceleration", "constraint_force", "ideal_force", "nonideal_force", "multipliers", "unique", "rank"]


def random_stack(k: int, n: int, m: int, seed: int = 0):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(k, n, n))
    M = X @ X.swapaxes(1, 2) + n * np.eye(n)
    return M, draw.normal(size=(k, n)), draw.normal(size=(k, m, n)), draw.normal(size=(k, m))


def test_leading_axes_broadcast():
    M, Q, A, b = random_stack(6, 4, 2)
    now = zw.solve(M[:3, None], Q[None, :2], A[0], b.reshape(3, 2, 2), v=Q[0])
    assert isinstance(now, Solution)
    assert now.acceleration.shape == (3, 2, 4)
    assert now.weighted_inverse.shape == (3, 2, 4, 2)
    assert (
        now.rank.shape == now.gaussian.shape == now.residuals.constraint.shape == now.constraint_power.shape == (3, 2)
    )
    for i in range(3):
        for j in range(2):
            one = zw.solve(M[i], Q[j], A[0], b.reshape(3, 2, 2)[i, j], v=Q[0])
            np.testing.assert_allclose(now.acceleration[i, j], one.acceleration, rtol=0, atol=1e-14)
            assert now.constraint_power[i, j] == pytest.approx(one.constraint_power, rel=1e-12)


def test_one_system_gives_scalars_and_a_stack_of_one_does_not():
    M, Q, A, b = random_stack(1, 3, 2)
    assert np.ndim(zw.solve(M[0], Q[0], A[0], b[0]).rank) == 0
    assert zw.solve(M, Q, A, b).rank.shape == (1,)
    assert zw.solve(M, Q, A, b).acceleration.shape == (1, 3)


@pytest.mark.parametrize("form", FORMS)
def test_more_systems_than_a_block_of_all_ranks(form):
    draw = np.random.default_rng(5)
    systems = [random_system(int(draw.integers(2**31)), 4, 3, k % 4, nonideal=True) for k in range(12)]
    order = draw.integers(0, 12, size=2300)
    M, Q, A, b, C = (np.stack([getattr(s, name) for s in systems])[order] for name in "MQAbC")
    stack = zw.solve(M, Q, A, b, C=C, form=form)
    for k in (0, 999, 1000, 1001, 2299, *range(0, 2300, 97)):
        one = zw.solve(M[k], Q[k], A[k], b[k], C=C[k], form=form)
        for name in SHARED:
            np.testing.assert_allclose(getattr(stack, name)[k], getattr(one, name), rtol=0, atol=1e-11)
    np.testing.assert_array_equal(stack.rank, np.array([k % 4 for k in range(12)])[order])


def test_inverses_of_a_stack_belong_to_their_systems():
    M, Q, A, b = random_stack(2100, 3, 2)
    A[::3, 1] = 2 * A[::3, 0]  # two ranks, several blocks
    b[::3, 1] = 2 * b[::3, 0]
    w, V = np.linalg.eigh(M)
    C = A @ ((V / np.sqrt(w)[:, None, :]) @ V.swapaxes(1, 2))
    now = zw.solve(M, Q, A, b, form="generalized-inverse", equation="S3 24", inverse=np.linalg.pinv(C))
    np.testing.assert_allclose(now.acceleration, zw.solve(M, Q, A, b).acceleration, rtol=0, atol=1e-9)
    pair = (np.linalg.pinv(A, rcond=1e-12), None)
    now = zw.solve(M, Q, A, b, form="generalized-inverse", inverse=pair)
    np.testing.assert_allclose(now.acceleration, zw.solve(M, Q, A, b).acceleration, rtol=0, atol=1e-9)


def bad_rows(k: int):
    M, Q, A, b = random_stack(2500, 3, 3)
    A[:, 2] = A[:, 0] + A[:, 1]
    b[:, 2] = b[:, 0] + b[:, 1]
    A[::2, 1] = A[::2, 0]  # every other one of rank one: groups are not contiguous
    b[::2, 1] = b[::2, 0]
    A[::2, 2] = 2 * A[::2, 0]
    b[::2, 2] = 2 * b[::2, 0]
    b[k, 2] += 1
    return M, Q, A, b


@pytest.mark.parametrize("k", [0, 7, 1432, 2499])
def test_inconsistent_system_of_a_big_stack_is_named(k):
    with pytest.raises(InconsistentError, match=rf"row \d of system {k} contradicts row"):
        zw.solve(*bad_rows(k))


@pytest.mark.parametrize("k", [0, 7, 1432, 2499])
def test_bad_mass_of_a_big_stack_is_named(k):
    M, Q, A, b = bad_rows(k)
    b[k, 2] -= 1
    M[k, 1, 1] = -1
    with pytest.raises(MassError, match=rf"M of system {k} is not positive semidefinite"):
        zw.solve(M, Q, A, b)
    M[k] = np.eye(3)
    M[k, 0, 1] = 0.5
    with pytest.raises(MassError, match=rf"M of system {k} is not symmetric"):
        zw.solve(M, Q, A, b)


def test_system_of_a_stack_with_two_axes_is_named_by_both():
    M, Q, A, b = bad_rows(7)
    grid = [x[:12].reshape(3, 4, *x.shape[1:]) for x in (M, Q, A, b)]
    with pytest.raises(InconsistentError, match=r"row \d of system \(1, 3\) contradicts"):
        zw.solve(*grid)


def test_order_of_systems_does_not_matter():
    M, Q, A, b = bad_rows(0)
    b[0, 2] -= 1
    order = np.random.default_rng(0).permutation(len(M))
    here, there = zw.solve(M, Q, A, b), zw.solve(M[order], Q[order], A[order], b[order])
    np.testing.assert_allclose(there.acceleration, here.acceleration[order], rtol=0, atol=1e-12)
