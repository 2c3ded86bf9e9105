"""What `solve` refuses and how it says so, and what it takes."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang.errors import InconsistentError, InputError, MassError, UndeterminedError, ZwangError
from zwang.formulations import FORMS

M = np.array([[5.0, 4, 1], [4, 6, 4], [1, 4, 5]])
Q = np.array([1.0, 0, 0])
A = np.array([[1.0, 1, 0], [2, 2, 0]])
b = np.array([1.0, 2])
ANSWER = [0.5, 0.5, -0.5]


def refused(kind, message, *args, **options):
    with pytest.raises(kind, match=message) as caught:
        zw.solve(*args, **options)
    assert isinstance(caught.value, ZwangError)
    assert caught.value.__cause__ is None
    return caught.value


# --- rows ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_inconsistent_rows(form):
    error = refused(
        InconsistentError,
        r"row 1 contradicts row 0: its row of A depends on theirs, but its b differs by 1 from what they imply; "
        r"drop one of them or mend the right-hand sides",
        M, Q, A, [1, 3], form=form,
    )  # fmt: skip
    assert error.rows == (1, 0)


def test_inconsistent_row_names_all_the_rows_it_is_made_of_and_no_others():
    rows = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 2, 0, 0]])
    error = refused(InconsistentError, "contradicts", np.eye(4), np.zeros(4), rows, [1, 1, 1, 4])
    assert sorted(error.rows) == [0, 1, 3]


def test_inconsistency_is_seen_beside_rows_of_other_scales():
    rows = np.array([[1e9, 0], [1, 0], [0, 1e-9], [0, 2e-9]])
    refused(InconsistentError, "row", np.eye(2), [0, 0], rows, [1e9, 1, 1e-9, 3e-9])
    zw.solve(np.eye(2), [0, 0], rows, [1e9, 1, 1e-9, 2e-9])


def test_rounding_is_no_inconsistency():
    rows = np.array([[0.1, 0.2], [0.3, 0.6000000000000001], [1 / 3, 2 / 3]])
    now = zw.solve(np.eye(2), [1, 0], rows, rows @ [0.7, 0.1])
    assert now.rank == 1


def test_zero_row_that_asks_for_something():
    message = r"row 1 is zero in A, yet b = 4 asks for something: no acceleration obeys it; drop the row or set its b"
    error = refused(InconsistentError, message, M, Q, [[1, 1, 0], [0, 0, 0]], [1, 4])
    assert error.rows == (1,)


def test_zero_rows_are_welcome():
    now = zw.solve(M, Q, [[0, 0, 0], [1, 1, 0], [0, 0, 0]], [0, 1, 0])
    np.testing.assert_array_equal(now.acceleration, ANSWER)
    assert now.unique.tolist() == [False, True, False]
    np.testing.assert_allclose(now.multipliers, [0, 3, 0], atol=1e-15)


@pytest.mark.parametrize("form", FORMS)
def test_no_rows_at_all(form):
    for nothing in (np.zeros((0, 3)), []):
        now = zw.solve(M, Q, nothing, [], form=form)
        np.testing.assert_allclose(now.acceleration, [7 / 8, -1, 5 / 8], atol=1e-14)
        assert now.multipliers.shape == (0,)
        assert now.weighted_inverse.shape == (3, 0)
        assert now.null_space.shape == (0, 0)
        assert now.rank == 0


@pytest.mark.parametrize("form", FORMS)
def test_more_rows_than_coordinates(form):
    now = zw.solve(M, Q, np.vstack([np.eye(3), 2 * np.eye(3), A]), [1, 2, 3, 2, 4, 6, 3, 6], form=form)
    np.testing.assert_allclose(now.acceleration, [1, 2, 3], atol=1e-13)
    assert now.rank == 3


# --- masses --------------------------------------------------------------------------------------------------------


def test_mass_that_is_not_positive():
    message = (
        r"M is not positive semidefinite: its smallest eigenvalue \(unit diagonal\) is -1, along coordinate 1; check"
    )
    refused(MassError, message, np.diag([1, -1]), [0, 0], [], [])
    refused(MassError, "along coordinate 0 - coordinate 1; check the masses", [[1, 2], [2, 1]], [0, 0], [], [])


def test_mass_that_is_not_positive_is_described_in_the_coordinates_given():
    # (q₀, q₁) → q₀ + 2q₁ has negative energy along (2, −1)
    refused(MassError, r"along coordinate 0 - 0.5 coordinate 1;", [[1, 4], [4, 4]], [0, 0], [], [])


def test_mass_that_is_not_symmetric():
    message = r"M is not symmetric: entries \(0, 1\) and \(1, 0\) are 2 and 1; .* \(M \+ Mᵀ\)/2"
    refused(MassError, message, [[3, 2], [1, 3]], [0, 0], [], [])


def test_asymmetry_is_seen_among_small_masses():
    lopsided = np.diag([1e12, 1, 1])
    lopsided[1, 2] = 0.5
    refused(MassError, r"entries \(1, 2\) and \(2, 1\)", lopsided, np.zeros(3), [], [])


def test_rounding_is_no_asymmetry():
    rounded = M.copy()
    rounded[0, 1] *= 1 + 1e-15
    np.testing.assert_allclose(zw.solve(rounded, Q, A, b).acceleration, ANSWER, atol=1e-13)


# --- numbers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["M", "Q", "A", "b", "C", "v"])
def test_numbers_that_are_not_finite(name, bad):
    arrays = {"M": M, "Q": Q, "A": A, "b": b, "C": np.zeros(3), "v": np.zeros(3)}
    arrays[name] = arrays[name].copy()
    arrays[name].flat[1] = bad
    place = r"\[0, 1\]" if arrays[name].ndim == 2 else r"\[1\]"
    first = [arrays.pop(key) for key in "MQAb"]
    refused(InputError, rf"{name}{place} is {bad}: all entries must be finite numbers", *first, **arrays)


def test_numbers_that_would_overflow():
    refused(InputError, r"b\[0\] is 1e\+200: numbers beyond 1e\+100 overflow when multiplied", M, Q, A, [1e200, 2e200])


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (np.array([1 + 0j, 0, 0]), "complex128"),
        ([1j, 0, 0], "complex128"),
        (["1", "0", "0"], "str"),
        (np.array(["1", "0", "0"], dtype=object), "text"),
        ([sp.Symbol("x"), 0, 0], "float"),
        ([1, [2], 3], "inhomogeneous"),
        ([10**400, 0, 0], "too large"),
        (np.array([1, 2, 3], dtype="datetime64[s]"), "datetime64"),
        ([{}, 0, 0], "float"),
    ],
)
def test_what_is_no_real_number(bad, what):
    refused(InputError, rf"Q is not an array of real numbers: .*{what}", M, bad, A, b)


def test_other_numbers_are_taken():
    for given in ([1, 0, 0], (True, False, False), [Fraction(1), 0, 0], sp.Matrix([1, 0, 0]).T.tolist()[0]):
        np.testing.assert_array_equal(zw.solve(sp.Matrix(M), given, A.tolist(), b).acceleration, ANSWER)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.float16, np.float32, np.longdouble])
def test_other_types_do_not_overflow(kind):
    now = zw.solve(
        np.diag([100, 100]).astype(kind),
        np.array([100, 100], kind),
        np.array([[100, 100]], kind),
        np.array([100], kind),
    )
    np.testing.assert_allclose(now.acceleration, [0.5, 0.5], atol=1e-15)
    assert now.acceleration.dtype == np.float64


# --- shapes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([1, 2], Q, A, b), r"M has shape \(2,\): a square matrix \(n, n\) with n ≥ 1 is needed"),
        ((np.zeros((2, 3)), Q, A, b), r"M has shape \(2, 3\)"),
        ((np.zeros((0, 0)), [], [], []), r"M has shape \(0, 0\)"),
        ((M, Q, [1, 1, 0], [1]), r"A has shape \(3,\): rows of length 3 are needed"),
        ((M, Q, [[1, 1]], [1]), r"A has shape \(1, 2\): rows of length 3 are needed"),
        ((M, [1, 2], A, b), r"Q has shape \(2,\): its last axis must have length 3, for A is 2 by 3"),
        ((M, 1.0, A, b), r"Q has shape \(\)"),
        ((M, Q, A, [1]), r"b has shape \(1,\): its last axis must have length 2, for A is 2 by 3"),
        ((np.stack([M, M]), np.zeros((3, 3)), A, b), r"the leading axes do not broadcast: M \(2,\), Q \(3,\), A \(\)"),
        ((np.zeros((0, 3, 3)), Q, A, b), r"an empty stack, leading axes \(0,\): give at least one system"),
        ((M, np.zeros((2, 0, 3)), A, b), r"an empty stack, leading axes \(2, 0\)"),
    ],
)
def test_shapes_that_do_not_fit(arrays, message):
    refused(InputError, message, *arrays)


def test_shapes_of_C_and_v():
    refused(InputError, r"C has shape \(2,\): its last axis must have length 3", M, Q, A, b, C=[1, 2])
    refused(InputError, r"v has shape \(4,\): its last axis must have length 3", M, Q, A, b, v=[1, 2, 3, 4])


# --- choices -------------------------------------------------------------------------------------------------------


def test_unknown_form():
    refused(InputError, r"form='newton' is unknown: choose one of 'fundamental', 'gen", M, Q, A, b, form="newton")


def test_unknown_choice():
    refused(InputError, "form 'fundamental' takes no 'eliminate'; its choices are: none", M, Q, A, b, eliminate=[0])
    message = "form 'generalized-inverse' takes no 'eliminate'; its choices are: equation, inverse"
    refused(InputError, message, M, Q, A, b, form="generalized-inverse", eliminate=[0])


def test_unknown_equation():
    message = "equation='S9' is unknown: choose one of 'S0 29', 'S3 24', 'S3 26'"
    refused(InputError, message, M, Q, A, b, form="generalized-inverse", equation="S9")


@pytest.mark.parametrize("eliminate", [[0, 1], [], [3], [-1], 0, "x", [0.5], [None]])
def test_bad_elimination(eliminate):
    message = r"name 1 different coordinates out of 0 … 2 \(the rank is 1\)"
    refused(InputError, message, M, Q, A, b, form="gibbs-appell", eliminate=eliminate)


def test_elimination_of_a_coordinate_that_is_free():
    message = r"eliminate=\[2\]: these columns of A are dependent, so the coordinates cannot be eliminated"
    refused(InputError, message, M, Q, A, b, form="gibbs-appell", eliminate=[2])
    assert zw.solve(M, Q, A, b, form="gibbs-appell", eliminate=np.array([1])).rank == 1


@pytest.mark.parametrize(
    ("equation", "inverse", "message"),
    [
        ("S0 29", np.zeros((3, 2)), r"S0 29 needs the pair \(D⁻, H⁻\); None in a place stands for the Moore"),
        ("S0 29", 5, "needs the pair"),
        ("S0 29", (np.zeros((3, 2)), None), r"inverse D⁻ is not a \{1\}-inverse: Penrose condition \(1\) fails"),
        ("S0 29", (None, np.eye(3)), r"inverse H⁻ is not a \{1,3\}-inverse: Penrose condition \(1\) fails"),
        ("S0 29", (np.eye(3), None), r"inverse D⁻ has shape \(3, 3\), but \(3, 2\) is needed"),
        ("S3 24", np.zeros((3, 2)), r"inverse C\^\(1,4\) is not a \{1,4\}-inverse: Penrose condition \(1\) fails"),
        ("S3 24", np.zeros((2, 2)), r"has shape \(2, 2\), but \(3, 2\) is needed"),
        ("S3 24", 1.0, r"has shape \(\), but \(3, 2\) is needed"),
        (
            "S3 26",
            np.eye(2),
            r"inverse \(AM⁻¹Aᵀ\)\^\(1\) is not a \{1\}-inverse: .*; make one with zwang.linalg",
        ),
        ("S3 26", "text", "inverse is not an array of real numbers"),
        ("S3 26", np.zeros((5, 2, 2)), r"inverse has shape \(5, 2, 2\): matrices are needed, one or one for each of"),
    ],
)
def test_inverse_that_is_not_admissible(equation, inverse, message):
    refused(InputError, message, M, Q, A, b, form="generalized-inverse", equation=equation, inverse=inverse)


def test_inverse_of_one_system_of_a_stack_that_is_not_admissible():
    # a wrong inverse of a small matrix does not hide beside a right one of a large matrix
    rows = np.array([[[1e6, 0]], [[0, 1e-3]]])
    inverse = np.array([[[1e-6], [0]], [[0], [2e3]]])
    options = {"form": "generalized-inverse", "equation": "S3 24"}
    refused(InputError, r"condition \(1\)", np.eye(2), [0, 0], rows, [1], inverse=inverse, **options)
    inverse[1] /= 2
    now = zw.solve(np.eye(2), [0, 0], rows, [1], inverse=inverse, **options)
    np.testing.assert_allclose(now.acceleration, [[1e-6, 0], [0, 1e3]])


@pytest.mark.parametrize("bad", [-1, 0, 1, 2.5, np.nan, np.inf, "small", [0.1], True])
def test_rank_tolerance_out_of_range(bad):
    refused(InputError, "rank_tol = .*: a relative tolerance is meant, below 1 and at least", M, Q, A, b, rank_tol=bad)


def test_rank_tolerance_is_used():
    rows = [[1, 1, 0], [1, 1, 1e-5]]
    assert zw.solve(M, Q, rows, [1, 1]).rank == 2
    now = zw.solve(M, Q, rows, [1, 1], rank_tol=1e-4)
    assert now.rank == 1
    assert not now.unique.any()
    np.testing.assert_allclose(now.acceleration, ANSWER, atol=1e-4)


# --- what is left alone --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_given_arrays_are_never_changed(form):
    arrays = [np.tile(x, (3, *[1] * x.ndim)) for x in (M, Q, A, b)]
    options = {"C": np.ones((3, 3)), "v": np.ones((3, 3))}
    before = [x.copy() for x in (*arrays, *options.values())]
    zw.solve(*arrays, **options, form=form)
    for x, was in zip((*arrays, *options.values()), before, strict=True):
        np.testing.assert_array_equal(x, was)


@pytest.mark.parametrize("one_sided", [None, np.array([True, False])])
def test_read_only_and_strided_arrays(one_sided):
    arrays = [np.repeat(x, 2, axis=-1)[..., ::2] for x in (np.asfortranarray(M), Q, A, b)]
    for x in arrays:
        x.setflags(write=False)
    now = zw.solve(*arrays, one_sided=one_sided)
    np.testing.assert_allclose(now.acceleration, ANSWER, atol=1e-15)
    now.acceleration[0] = 1  # the answer is the caller's own


def test_results_do_not_share_memory_with_what_was_given():
    Q0 = np.zeros(3)
    now = zw.solve(M, Q0, [], [])
    now.acceleration[:] = 7
    now.nonideal_force[:] = 7
    now.ideal_force[:] = 7
    np.testing.assert_array_equal(now.constraint_force, 0)
    np.testing.assert_array_equal(Q0, 0)


@pytest.mark.parametrize("speed", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("rows", [[[0, 1]], [[0, 1], [0, 2]]], ids=["independent", "redundant"])
def test_velocities_that_are_no_numbers_are_refused_by_place(speed, rows):
    refused(
        InputError, r"v\[1\] is .*: all entries must be finite", np.eye(2), [0, -1], rows, [0] * len(rows), v=[0, speed]
    )


def test_no_row_is_missed_without_a_word_however_far_masses_are_apart():
    """Of independent rows all are obeyed to what their terms keep, or it is said that masses are too far apart."""
    rng, told = np.random.default_rng(7), list[str]()
    for _ in range(3000):
        n = int(rng.integers(3, 8))
        m = int(rng.integers(2, n + 1))
        masses, force = 10.0 ** rng.uniform(-11.5, 11.5, n), rng.standard_normal(n) * 10 ** rng.uniform(0, 6)
        rows, right = rng.standard_normal((m, n)), rng.standard_normal(m)
        try:
            x = zw.solve(np.diag(masses), force, rows, right).acceleration
        except UndeterminedError as error:
            told.append(str(error))
            continue
        assert (np.abs(rows @ x - right) <= 1e-6 * (np.abs(rows) @ np.abs(x) + np.abs(right))).all()
    assert 0 < len(told) < 20
    assert all("masses are so far apart" in words for words in told)
