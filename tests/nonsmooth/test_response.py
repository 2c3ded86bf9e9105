"""How accelerations answer impulses, with equalities, dependent rows and massless coordinates."""

import numpy as np
import pytest

from zwang.nonsmooth import respond


def system(seed, n=6, m=2, r=4):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n))
    return (
        B @ B.T + np.eye(n), rng.normal(size=(m, n)), rng.normal(size=m), rng.normal(size=n), rng.normal(size=(r, n)),
        rng.normal(size=r),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_it_is_that_of_the_saddle_point_equations(seed):
    M, E, e, Q, R, target = system(seed)
    saddle = np.block([[M, -E.T], [E, np.zeros((2, 2))]])
    x = np.linalg.solve(saddle, np.concatenate([np.column_stack([Q, R.T]), np.column_stack([e, np.zeros((2, 4))])]))
    found = respond(M, E, e, Q, R, target)
    np.testing.assert_allclose(found.free, x[:6, 0], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found.X, x[:6, 1:], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.W, R @ x[:6, 1:], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.c, R @ x[:6, 0] - target, rtol=1e-11, atol=1e-12)
    assert found.W.tolist() == found.W.T.tolist()


def test_equalities_that_follow_from_others_change_nothing():
    M, E, e, Q, R, target = system(1)
    twice = respond(M, np.vstack([E, 3 * E[:1]]), np.append(e, 3 * e[0]), Q, R, target)
    np.testing.assert_allclose(twice.W, respond(M, E, e, Q, R, target).W, rtol=1e-11, atol=1e-13)


def test_a_mass_of_zero_is_answered_where_an_equality_holds_it():
    """Unit quaternions beside (1, 0, 0, 0): the first entry has no mass and does not move."""
    M, E = np.diag([2e-33, 4.0]), np.array([[2.0, 0.0]])
    found = respond(M, E, np.zeros(1), np.array([0.0, 8.0]), np.array([[0.3, 1.0]]), np.zeros(1))
    np.testing.assert_allclose([found.W[0, 0], found.c[0]], [0.25, 2.0], rtol=1e-14)


def test_a_mass_of_zero_that_nothing_holds_has_no_answer():
    nothing = np.zeros((0, 2))
    assert respond(np.diag([0.0, 1.0]), nothing, np.zeros(0), np.ones(2), np.ones((1, 2)), np.zeros(1)) is None


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_of_coordinates_change_nothing(unit):
    M, E, e, Q, R, target = system(2)
    d = np.array([unit, 1, 1, unit, 1, 1])
    found, other = respond(M, E, e, Q, R, target), respond(M * d * d[:, None], E * d, e, Q * d, R * d, target)
    np.testing.assert_allclose(other.W, found.W, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(other.free * d, found.free, rtol=1e-8, atol=1e-9)


def test_bodies_that_have_nothing_to_do_with_each_other_have_the_bits_they_have_alone():
    one, two = system(3, 5, 1, 3), system(4, 4, 2, 2)

    def beside(a, b):
        return np.block([[a, np.zeros((len(a), b.shape[1]))], [np.zeros((len(b), a.shape[1])), b]])

    both = [beside(a, b) if a.ndim == 2 else np.concatenate([a, b]) for a, b in zip(one, two, strict=True)]
    found, first, second = respond(*both), respond(*one), respond(*two)
    assert found.W.tolist() == beside(first.W, second.W).tolist()
    assert found.free.tolist() == [*first.free, *second.free]
    assert found.c.tolist() == [*first.c, *second.c]
    np.testing.assert_allclose(found.x(np.ones(5))[:5], first.x(np.ones(3)), rtol=1e-12)
