"""Impulses of a step: friction of sticking and of sliding, and programs where sweeps take long."""

import numpy as np

from zwang.motion.contact.steps.impulses import Rubs, impulses, laid_out


def one(stuck, push, before):
    """A contact with μ_s = 0.5 and μ_k = 0.3, pressed with 1 and pushed along."""
    rubs = Rubs(np.array([0, 2]), np.array([[0.5, 0.3]]), np.array([stuck]), np.array([0.0, before]))
    found, _ = impulses(np.eye(2), np.array([-1.0, push]), rubs, np.zeros(2))
    return found.x[1]


def test_what_sticks_is_held_by_the_larger_friction_and_what_slides_rubbed_by_the_smaller():
    assert np.isclose(one(True, 0.4, 0.0), -0.4)
    assert np.isclose(one(False, 0.4, 1.0), -0.3)
    assert np.isclose(one(True, 0.6, 0.0), -0.3)  # broken away


def test_what_turns_round_within_a_step_may_stick():
    assert np.isclose(one(False, -0.4, 1.0), 0.4)
    assert np.isclose(one(False, -0.6, 1.0), 0.3)


def test_many_dependent_contacts_without_friction_are_solved():
    rng = np.random.default_rng(1)
    for _ in range(5):
        A = rng.standard_normal((20, 6))
        c = A @ rng.standard_normal(6)
        rubs = Rubs(np.arange(21), np.zeros((20, 2)), np.zeros(20, dtype=bool), c)
        found, size = impulses(A @ A.T, c, rubs, np.zeros(20))
        assert found.left < 1e-8 * size


def test_rows_are_laid_out_with_slips_behind_their_normals():
    rows, first = laid_out([0, 2, 3], {2: [7], 3: [8, 9]})
    assert rows == [0, 2, 7, 3, 8, 9]
    assert first.tolist() == [0, 1, 3, 6]
