"""One system in machine code: the same answer to the last digits, or it is left to the formulations."""

from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest

import zwang as zw
from zwang.dense.solve import MOST_ENTRIES, one_regular
from zwang.errors import InconsistentError, InputError, MassError
from zwang.formulations.solve import solve as by_formulations


def system(draw, n, m, spread=0.0):
    """A system whose masses and rows differ by as many decades."""
    X = draw.normal(size=(n, n))
    masses, rows = 10 ** draw.uniform(-spread, spread, n), 10 ** draw.uniform(-spread, spread, m)
    M = (X @ X.T + np.eye(n) / 10) * masses[:, None] * masses
    return (M + M.T) / 2, draw.normal(size=n) * masses, draw.normal(size=(m, n)) * rows[:, None], draw.normal(size=m)


def exactly(M, Q, A, b):
    """q̈ and λ in rational numbers, by elimination."""
    n, m = len(Q), len(b)
    rows = [[Fraction(float(e)) for e in (*M[i], *(-A[:, i]), Q[i])] for i in range(n)]
    rows += [[Fraction(float(e)) for e in (*A[i], *np.zeros(m), b[i])] for i in range(m)]
    for k in range(n + m):
        best = next(i for i in range(k, n + m) if rows[i][k] != 0)
        rows[k], rows[best] = rows[best], rows[k]
        rows[k] = [e / rows[k][k] for e in rows[k]]
        for i in range(n + m):
            if i != k and rows[i][k]:
                rows[i] = [e - rows[i][k] * f for e, f in zip(rows[i], rows[k], strict=True)]
    found = np.array([float(row[-1]) for row in rows])
    return found[:n], found[n:]


@pytest.mark.parametrize("spread", [0, 3])
@pytest.mark.parametrize(("n", "m"), [(1, 0), (1, 1), (3, 2), (7, 6), (12, 5), (5, 5)])
def test_it_says_what_the_formulations_say(n, m, spread):
    draw = np.random.default_rng(100 * n + m)
    for k in range(5):
        given = system(draw, n, m, spread)
        more = {"v": draw.normal(size=n), "C": draw.normal(size=n) if k % 2 else None}
        here, there = one_regular(*given, **more), by_formulations(*given, **more)
        for field in fields(here):
            a, b = getattr(here, field.name), getattr(there, field.name)
            if field.name == "residuals":
                continue
            assert (type(a), np.shape(a)) == (type(b), np.shape(b)), field.name
            size = np.abs(np.asarray(b if field.name != "nonideal_force" else there.constraint_force, float)).max(
                initial=1e-9
            )
            np.testing.assert_allclose(np.asarray(a) / size, np.asarray(b) / size, atol=2e-12, err_msg=field.name)


def test_its_digits_are_right_where_factors_have_few():
    """Hilbert's matrix of order 8 has the condition 1.5e10; rows are parallel to one part in a million."""
    i = np.arange(8)
    M = 1 / (i[:, None] + i + 1.0)
    A = np.array([np.ones(8), np.ones(8) + 1e-6 * np.arange(8)])
    Q, b = np.cos(i), np.array([0.3, 0.7])
    x, lam = exactly(M, Q, A, b)
    found = one_regular(M, Q, A, b)
    assert np.abs(found.acceleration / x - 1).max() < 1e-15
    assert np.abs(found.multipliers / lam - 1).max() < 1e-15


@pytest.mark.parametrize(
    "given",
    [
        (np.eye(2), [0, 0], [[1, 1], [2, 2]], [1, 2]),
        (np.eye(2), [0, 0], [[1, 0], [1, 1e-12]], [1, 1]),
        ([[1, 1], [1, 1]], [0, 0], [[1, -1]], [1]),
        (np.eye(2)[None], [0, 0], [[1, 1]], [1]),
        (np.eye(1), [0], [[1], [1]], [1, 1]),
    ],
    ids=["redundant", "almost so", "singular mass", "a stack", "more rows than coordinates"],
)
def test_what_is_not_regular_without_doubt_is_left_to_the_formulations(given):
    assert one_regular(*given) is None
    np.testing.assert_array_equal(zw.solve(*given).acceleration, by_formulations(*given).acceleration)


def test_so_are_other_forms_one_sided_rows_and_large_systems():
    M, Q, A, b = np.eye(2), np.ones(2), np.array([[1.0, 1.0]]), np.ones(1)
    assert one_regular(M, Q, A, b, form="gauss") is None
    assert one_regular(M, Q, A, b, one_sided=[True]) is None
    assert one_regular(M, Q, A, b, one_sided=np.array([False])) is not None
    n = int(MOST_ENTRIES**0.5) + 1
    assert one_regular(np.eye(n), np.ones(n), np.zeros((0, n)), np.zeros(0)) is None


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ((np.eye(2), [0, np.nan], [[1, 1]], [1]), InputError, r"Q\[1\] is nan"),
        ((np.eye(2), [0, 0], [[1, 1e200]], [1]), InputError, "choose other units"),
        ((np.eye(2), [0, 0, 0], [[1, 1]], [1]), InputError, r"Q has shape \(3,\)"),
        (([[1, 0.1], [0, 1]], [0, 0], [[1, 1]], [1]), MassError, "not symmetric"),
        (([[1, 2], [2, 1]], [0, 0], [[1, 1]], [1]), MassError, "not positive semidefinite"),
        ((np.eye(2), ["a", 0], [[1, 1]], [1]), InputError, "not an array of real numbers"),
        ((np.eye(2), [0, 0], [[1, 1], [1, 1]], [1, 2]), InconsistentError, "row 1 contradicts row 0"),
    ],
)
def test_mistakes_are_told_as_ever(given, error, words):
    with pytest.raises(error, match=words):
        zw.solve(*given)


def test_the_answer_is_the_callers_own():
    M, Q, A, b = np.eye(2), np.ones(2), np.array([[1.0, 1.0]]), np.ones(1)
    first = zw.solve(M, Q, A, b)
    kept = first.acceleration.copy()
    zw.solve(M, -Q, A, -b)
    np.testing.assert_array_equal(first.acceleration, kept)
    assert M.tolist() == np.eye(2).tolist()
