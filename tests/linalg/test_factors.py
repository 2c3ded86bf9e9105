"""Factor once, solve many."""

import numpy as np
import pytest

from tests.formulations.systems import random_system, relative, truth
from zwang.errors import MassError
from zwang.linalg.factors import Stack, direction, factorise


def test_one_factorisation_serves_many_right_hand_sides():
    s = random_system(1, 6, 8, 4)
    factors = factorise(s.M[None], s.A[None], 4, tuple("abcdef"))
    draw = np.random.default_rng(0)
    for _ in range(3):
        Q, x = draw.normal(size=6), draw.integers(-3, 4, size=6)
        other = type(s)(s.M, Q, s.A, s.A @ x, s.C, s.G, s.X)
        got, lam = factors.solve(Q[None], (s.A @ x)[None])
        assert relative(got[0], truth(other).acceleration) <= 1e-15
        assert relative(factors.force(lam)[0], truth(other).constraint_force) <= 1e-14
        np.testing.assert_allclose(factors.multipliers(factors.force(lam)), lam, rtol=1e-12)


def test_whitened_basis_and_row_basis_are_orthonormal():
    s = random_system(2, 5, 7, 3, "row scales")
    factors = factorise(s.M[None], s.A[None], 3, tuple("abcde"))
    basis = factors.row_basis()[0]
    np.testing.assert_allclose(factors.Q1[0].T @ factors.Q1[0], np.eye(3), atol=1e-14)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(
        s.G / factors.D[0] @ (np.eye(5) - basis @ basis.T), 0, atol=1e-13
    )  # in units of equal mass


def test_directions_in_words():
    assert direction(np.array([0.0, -2, 1]), ("x", "y", "z")) == "y - 0.5 z"
    assert direction(np.array([1e-9, 1, -1]), ("x", "y", "z")) == "y - z"


def test_systems_of_a_stack_in_words():
    assert Stack(np.array([0]), ()).label(0) == ""
    assert Stack(np.array([4, 7]), (9,)).label(1) == " of system 7"
    assert Stack(np.array([7]), (3, 4)).label(0) == " of system (1, 3)"


def test_negative_mass_names_its_system():
    with pytest.raises(MassError, match=r"M of system 1 is not positive semidefinite.*along b;"):
        factorise(np.array([np.eye(2), np.diag([1, -1])]), np.zeros((2, 0, 2)), 0, ("a", "b"))


def test_many_right_hand_sides_of_a_large_system_are_solved_as_well(monkeypatch):
    s = random_system(3, 12, 9, 5)
    factors = factorise(s.M[None], s.A[None], 5, tuple("abcdefghijkl"))
    draw = np.random.default_rng(1)
    Q, b = draw.normal(size=(7, 12)), draw.normal(size=(7, 12)) @ s.A.T
    x, lam = factors.solve_many(Q, b)
    monkeypatch.setattr("zwang.linalg.factors.EXACT_UP_TO", 0)
    quick = factors.solve_many(Q, b)
    np.testing.assert_allclose(quick[0], x, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(quick[1], lam, rtol=1e-11, atol=1e-12)


def test_a_direction_of_many_parts_names_the_largest():
    names = tuple(f"x{i}" for i in range(20))
    words = direction(np.arange(1.0, 21), names)
    assert words.endswith("x18 + x19 + 12 more")
    assert words.startswith("0.65 x12")
