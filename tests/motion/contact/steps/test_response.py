"""How velocities answer: against the saddle-point system, dense and sparse."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from zwang.motion.contact.impact import Stop
from zwang.motion.contact.steps.response import response


def by_hand(M, E, p, d):
    """Δv and EᵀΛ from the whole system, by least squares."""
    n, m = len(M), len(E)
    whole = np.block([[M, -E.T], [E, np.zeros((m, m))]])
    found = np.linalg.lstsq(whole, np.concatenate([p, d]), rcond=1e-12)[0]
    return found[:n], E.T @ found[n:]


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("redundant", [False, True])
def test_velocities_and_impulses_are_those_of_the_whole_system(kind, redundant):
    rng = np.random.default_rng(0)
    for _ in range(10):
        X = rng.standard_normal((5, 5))
        M, E = X @ X.T + np.eye(5), rng.standard_normal((2, 5))
        E = np.vstack([E, E[0] + E[1]]) if redundant else E
        p, d = rng.standard_normal(5), E @ rng.standard_normal(5)
        answer = response(kind(M), kind(E))
        dv, lam = answer.solve(p, d)
        exact, force = by_hand(M, E, p, d)
        assert np.allclose(dv, exact, atol=1e-8)
        assert np.allclose(E.T @ lam, force, atol=1e-7)


def test_rows_make_up_for_masses_that_are_missing():
    M, E = np.diag([1.0, 0.0]), np.array([[1.0, -2.0]])
    dv, lam = response(M, E).solve(np.array([3.0, 1.0]), np.array([0.5]))
    assert np.allclose(E @ dv, 0.5)
    assert np.allclose(M @ dv, np.array([3.0, 1.0]) + E.T @ lam)


def test_a_mass_that_rounding_makes_definite_is_singular_all_the_same():
    rng = np.random.default_rng(3)
    for _ in range(200):  # the mass of Euler parameters p: none along p, which only the row of their norm holds
        p = rng.standard_normal(4)
        p /= np.linalg.norm(p)
        across = np.linalg.qr(np.column_stack([p, rng.standard_normal((4, 3))]))[0][:, 1:]
        M, E = 3e-4 * across @ across.T, 2 * p[None]
        given, asked = rng.standard_normal(4), rng.standard_normal(1)
        dv, lam = response(M, E).solve(given, asked)
        exact = across @ (across.T @ given) / 3e-4 + p * asked / 2
        assert np.allclose(dv, exact, rtol=1e-10, atol=1e-10 * np.abs(exact).max())
        assert np.allclose(M @ dv, given + E.T @ lam, atol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_mobility_is_what_unit_impulses_change(kind):
    M, A = np.diag([1.0, 2.0, 4.0]), np.array([[1.0, 1.0, 0.0], [0.0, 1.0, -2.0]])
    answer = response(kind(M), kind(np.zeros((0, 3))))
    rows = kind(A)
    W = answer.mobility(rows, answer.columns(rows))
    W = W if isinstance(W, np.ndarray) else W.toarray()
    assert np.allclose(W, A @ np.diag([1, 0.5, 0.25]) @ A.T)


def test_masses_that_determine_nothing_stop_the_motion():
    with pytest.raises(Stop, match="determine no velocities"):
        response(np.zeros((2, 2)), np.zeros((0, 2)))
