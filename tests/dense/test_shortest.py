"""Shortest multipliers in machine code: those of arrays, to the last digits; what they leave, they leave."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formulations.systems import DIGITS, FAMILIES, exact_unique, random_system, relative
from zwang.dense import shortest
from zwang.linalg import dependence
from zwang.linalg.masses import mass_units
from zwang.linalg.rank import row_norms


@st.composite
def sizes(draw):
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 16))
    return draw(st.integers(0, 2**31)), n, m, draw(st.integers(1, min(m, n)))


def projected(X, lam):
    """Of all λ with the same Xᵀλ the shortest: X(XᵀX)⁻¹Xᵀλ, with 60 digits."""
    with mp.workdps(DIGITS):
        x = mp.matrix(X)
        return np.array((x * mp.inverse(x.T * x) * (x.T * mp.matrix(lam))).tolist(), dtype=float).ravel()


@pytest.mark.parametrize("family", FAMILIES)
@given(size=sizes())
@settings(max_examples=40)
def test_multipliers_are_the_shortest_to_the_last_digits(family, size):
    s = random_system(*size, family)
    lam = np.random.default_rng(size[0]).normal(size=(2, len(s.b))) / row_norms(s.A)  # forces of about one size
    M, A = (np.stack([x, x]) for x in (s.M, s.A))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shortest, "shortest", None)  # machine code does all of it
        found, unique = shortest.shortest_multipliers(M, A, s.rank, lam)
    for each, given_ in zip(found, lam, strict=True):
        wanted = projected(s.X, given_)
        assert relative(each, wanted) <= 1e-12
        np.testing.assert_allclose(s.X.T @ each, s.X.T @ given_, rtol=0, atol=1e-12 * np.abs(s.X.T @ given_).max())
    np.testing.assert_array_equal(unique, [exact_unique(s.X)] * 2)


def test_masses_that_couple_coordinates_without_inertia_of_their_own():
    """Euler parameters: M of rank 3 of 4; the units are one for all four, as arrays have it."""
    turn = np.array([0.3, 0.5, -0.4, 0.7])
    null = np.eye(4) - np.outer(turn, turn) / (turn @ turn)
    M = (null @ np.diag([1.0, 4.0, 9.0, 16.0]) @ null)[None]
    A = np.array([[turn, [1.0, 0, 2, 0], 2 * turn - [1.0, 0, 2, 0]]])
    lam = np.array([[3.0, -1.0, 5.0]])
    found, unique = shortest.shortest_multipliers(M, A, 2, lam)
    other, same = dependence.shortest(A / mass_units(M, A)[:, None, :], 2, lam)
    np.testing.assert_allclose(found, other, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found[0], projected(np.array([[1.0, 0], [0, 1], [2, -1]]), lam[0]), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(unique, same)


@pytest.mark.parametrize("mass", [0.0, np.nan])
def test_what_has_no_mass_is_left_to_arrays(mass, monkeypatch):
    asked = []
    monkeypatch.setattr(shortest, "shortest", lambda *given: asked.append(given) or "left")
    M, A = np.diag([1.0, mass])[None], np.array([[[1.0, 1.0], [2.0, 2.0]]])
    assert shortest.shortest_multipliers(M, A, 1, np.ones((1, 2))) == "left"
    assert len(asked) == 1


def test_rows_that_vanish_or_are_tiny_or_huge():
    A = np.array([[[0.0, 0.0], [1e-200, 0.0], [1e200, 0.0], [0.0, 3.0]]])
    found, unique = shortest.shortest_multipliers(np.eye(2)[None], A, 2, np.array([[7.0, 0.0, 1.0, 2.0]]))
    np.testing.assert_allclose(found, [[0.0, 0.0, 1.0, 2.0]], rtol=0, atol=1e-15)
    assert unique.tolist() == [[False, False, False, True]]
