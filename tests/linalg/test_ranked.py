"""Rank once: with the factors that go with it, and taken over where rows differ by rounding only."""

import numpy as np
import pytest

import zwang.linalg.ranked
from zwang.linalg.ranked import alike, ranked

NAMES = ("x", "y", "z")
REDUNDANT = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 3.0, 1.0]])  # the third row is the sum of the others


@pytest.fixture
def decisions(monkeypatch):
    """How often a rank was decided."""
    made, real = [], zwang.linalg.ranked.row_rank

    def counting(A):
        made.append(A)
        return real(A)

    monkeypatch.setattr(zwang.linalg.ranked, "row_rank", counting)
    return made


def test_the_rank_is_that_of_the_rows_whatever_the_masses():
    for masses in ([1.0, 1.0, 1.0], [1e-9, 1.0, 1e9]):
        found = ranked(np.diag(masses), REDUNDANT, NAMES)
        assert (found.rank, len(found.factors.rows[0])) == (2, 2)
        np.testing.assert_array_equal(found.scaled * found.units, REDUNDANT)


def test_rows_that_differ_by_rounding_have_the_rank_that_is_known(decisions):
    known = ranked(np.eye(3), REDUNDANT, NAMES)
    beside = REDUNDANT * (1 + 2 * np.finfo(float).eps)
    assert ranked(np.eye(3), beside, NAMES, known).rank == 2
    assert len(decisions) == 1


def test_rows_that_differ_by_more_are_looked_at_again(decisions):
    known = ranked(np.eye(3), REDUNDANT, NAMES)
    apart = REDUNDANT + np.diag([0.0, 0.0, 1e-9])
    assert ranked(np.eye(3), apart, NAMES, known).rank == 3
    assert len(decisions) == 2


def test_alike_is_a_matter_of_each_row_by_itself():
    A = np.array([[1e6, 0.0], [0.0, 1e-6]])
    assert alike(A, A + np.array([[1e-10, 0.0], [0.0, 0.0]]))
    assert not alike(A, A + np.array([[0.0, 0.0], [0.0, 1e-10]]))
    assert not alike(A, A[:1])
