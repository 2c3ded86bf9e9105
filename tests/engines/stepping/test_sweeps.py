"""Many contacts at once: against a quadratic program, against each other, and against Coulomb's law."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.engines.stepping.test_laws import coulomb
from zwang.engines.stepping.sweeps import solve
from zwang.formulations.one_sided import quadratic_program


def random_problem(rng, contacts, size, freedoms):
    """Contacts of bodies that move anyhow: W and c."""
    A = rng.standard_normal((contacts * size, freedoms))
    return A @ A.T, A @ rng.standard_normal(freedoms), np.arange(0, contacts * size + 1, size)


@pytest.mark.parametrize("contacts", [1, 3, 8])
def test_without_friction_sweeps_find_what_a_quadratic_program_finds(contacts):
    rng = np.random.default_rng(contacts)
    for _ in range(20):
        W, c, first = random_problem(rng, contacts, 1, contacts + 3)
        found = solve(W, c, first, np.zeros(contacts), np.zeros(contacts), 1e-13, 100_000)
        exact = quadratic_program(W, c, np.eye(contacts), np.zeros(contacts))
        assert np.allclose(found.x, exact[0], atol=1e-9)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("contacts", [2, 6])
def test_every_contact_obeys_coulombs_law(size, contacts):
    rng = np.random.default_rng(10 * size + contacts)
    for _ in range(20):
        W, c, first = random_problem(rng, contacts, size, contacts * size + 1)
        found = solve(W, c, first, np.full(contacts, 0.3), np.zeros(len(c)), 1e-11)
        assert found.left <= 1e-11
        assert np.allclose(found.u, c + W @ found.x, atol=1e-12)
        for k in range(contacts):
            coulomb(found.x[first[k] : first[k + 1]], found.u[first[k] : first[k + 1]], 0.3, 1e-8)


def test_sparse_and_dense_matrices_give_the_same():
    rng = np.random.default_rng(3)
    W, c, first = random_problem(rng, 4, 2, 9)
    mu = np.full(4, 0.5)
    dense, sparse = (solve(X, c, first, mu, np.zeros(8), 1e-12) for X in (W, csr_array(W)))
    assert np.array_equal(dense.x, sparse.x)


def test_what_was_found_is_found_again_without_sweeps():
    rng = np.random.default_rng(4)
    W, c, first = random_problem(rng, 5, 3, 16)
    found = solve(W, c, first, np.full(5, 0.4), np.zeros(15), 1e-10)
    assert solve(W, c, first, np.full(5, 0.4), found.x, 1e-10).sweeps == 0


def test_what_is_wedged_finds_the_large_impulses_that_hold_it():
    # a block between two walls that lean together by 0.2 rad, μ = 0.25: self-locking, since tan 0.2 < μ
    n = [np.array([np.cos(0.2), np.sin(0.2)]), np.array([-np.cos(0.2), np.sin(0.2)])]
    A = np.array([n[0], [-n[0][1], n[0][0]], n[1], [n[1][1], -n[1][0]]])
    c = A @ np.array([0.0, -1.0])
    found = solve(A @ A.T, c, np.array([0, 2, 4]), np.array([0.25, 0.25]), np.zeros(4), 1e-12)
    assert found.left <= 1e-12
    assert np.allclose(found.u, 0, atol=1e-11)


def test_a_number_that_is_none_ends_the_sweeps():
    found = solve(np.eye(1), np.array([np.nan]), np.array([0, 1]), np.zeros(1), np.zeros(1), 1e-12)
    assert not found.left <= 1e-12
