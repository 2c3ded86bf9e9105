"""The law of one contact: what is found obeys Coulomb's law, and nothing is left of it (also by other words for it)."""

import numpy as np
import pytest

from zwang.engines.stepping.sweeps import solve


def one(W, u, mu):
    """The impulse of one contact, and its speeds with it."""
    found = solve(W, u, np.array([0, len(u)]), np.array([mu]), np.zeros(len(u)), 1e-13)
    return found.x, u + W @ found.x, found.left


def coulomb(x, u, mu, close):
    """Whether impulse and speeds obey Coulomb's law, written out."""
    pushes, opens = x[0] > close, u[0] > close
    assert x[0] >= 0
    assert u[0] >= -close
    assert not (pushes and opens)
    friction, slip = np.linalg.norm(x[1:]), np.linalg.norm(u[1:])
    assert friction <= mu * x[0] + close
    if slip > close and pushes:
        assert np.allclose(x[1:], -mu * x[0] * u[1:] / slip, rtol=0, atol=10 * close * (1 + mu))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_one_contact_obeys_its_law(size):
    rng = np.random.default_rng(size)
    kinds = set()
    for _ in range(400):
        A = rng.standard_normal((size, 4))
        W, u, mu = A @ A.T, rng.standard_normal(size), rng.uniform(0, 1.5) if size > 1 else 0.0
        x, after, left = one(W, u, mu)
        coulomb(x, after, mu, 1e-9)
        assert left < 1e-9
        slips = np.linalg.norm(after[1:]) > 1e-9
        kinds.add("open" if x[0] == 0 else "slides" if slips else "sticks")
    assert kinds == ({"open", "sticks"} if size == 1 else {"open", "sticks", "slides"})


def test_a_push_below_the_bound_of_friction_is_held_exactly():
    x, after, _ = one(np.eye(2), np.array([-1.0, 0.25]), 0.25)
    assert x.tolist() == [1.0, -0.25]
    assert after.tolist() == [0.0, 0.0]


def test_in_space_friction_acts_against_the_slip_in_its_own_direction():
    x, after, _ = one(np.eye(3), np.array([-1.0, 3.0, 4.0]), 0.5)
    assert np.allclose(x, [1.0, -0.3, -0.4], rtol=1e-14)
    assert np.allclose(after, [0.0, 2.7, 3.6], atol=1e-14)


def test_slips_that_depend_on_each_other_have_an_answer():
    rng = np.random.default_rng(5)
    for _ in range(50):
        A = rng.standard_normal((3, 3))
        A[2] = rng.choice([0.0, 0.5, -2.0]) * A[1]
        u = A @ rng.standard_normal(3)
        x, after, left = one(A @ A.T, u, 0.4)
        assert left < 1e-9
        coulomb(x, after, 0.4, 1e-8)


def test_a_contact_that_nothing_moves_is_left_alone():
    x, _, left = one(np.zeros((2, 2)), np.array([-1.0, 1.0]), 0.5)
    assert x.tolist() == [0.0, 0.0]
    assert left == 0.0
