"""S0: Gauss's principle as a quadratic program, and the family of equations with D⁻ and H⁻."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.formulations.systems import Rational, floats, golden, independent, random_system, rational_matrix, redundant
from zwang.errors import InputError
from zwang.formulations import FORMS, gauss, generalized_inverse
from zwang.linalg import exact
from zwang.linalg.inverses import inverse_1, inverse_13

FIXTURES = pytest.mark.parametrize("make", [golden, redundant, independent])
SEEDS = range(3)


def some_D(s: Rational, seed: int) -> sp.Matrix:
    """A {1}-inverse of A that is not the Moore–Penrose inverse."""
    plus = exact.moore_penrose(s.A, s.rows)
    return inverse_1(s.A, plus, rational_matrix(s.A.cols, s.A.rows, seed))


def pinv(X: sp.Matrix) -> sp.Matrix:
    return exact.moore_penrose(X, exact.independent_rows(X))


def some_H(s: Rational, D: sp.Matrix, seed: int) -> tuple[sp.Matrix, sp.Matrix, sp.Matrix]:
    """P = I − D⁻D, H = M^{1/2}P and a {1,3}-inverse of H."""
    n = s.A.cols
    P = sp.eye(n) - D * s.A
    H = s.S * P
    return P, H, inverse_13(H, pinv(H), rational_matrix(n, n, 100 + seed))


def equation_29(s: Rational, D: sp.Matrix, P: sp.Matrix, H_inv: sp.Matrix) -> sp.Matrix:
    return (D - P * H_inv * s.S * D) * s.b + P * H_inv * s.S.inv() * s.Q


def norm2(s: Rational, x: sp.Matrix) -> sp.Rational:
    return (x.T * s.M * x)[0]


@FIXTURES
def test_G2_possible_accelerations_differ_along_the_null_space_and_the_force_does_no_work_on_them(make):
    s = make()
    force = s.M * s.acceleration - s.Q
    P = sp.eye(s.A.cols) - some_D(s, 0) * s.A
    for seed in SEEDS:
        other = s.acceleration + 1000 * P * rational_matrix(s.A.cols, 1, seed)  # need not be near
        assert s.A * other == s.b
        assert (force.T * (other - s.acceleration))[0] == 0


def test_G3_cosine_rule():
    s = redundant()
    b, c, y = (rational_matrix(4, 1, seed) for seed in SEEDS)
    right = norm2(s, y - c) - 2 * ((b - c).T * s.M * (y - c))[0]
    assert norm2(s, b - y) - norm2(s, b - c) == right


@FIXTURES
def test_G4_the_minimum_is_global_and_pythagoras_holds_exactly(make):
    s = make()
    P = sp.eye(s.A.cols) - some_D(s, 1) * s.A
    for seed in SEEDS:
        other = s.acceleration + P * rational_matrix(s.A.cols, 1, seed)
        more = norm2(s, other - s.a) - norm2(s, s.acceleration - s.a)
        assert more == norm2(s, other - s.acceleration)
        assert more >= 0


@FIXTURES
def test_G4_least_value_of_the_gaussian(make):
    s = make()
    force = s.M * s.acceleration - s.Q
    least = (force.T * s.M.inv() * force)[0]
    assert least == (s.e.T * pinv(s.A * s.M.inv() * s.A.T) * s.e)[0] == norm2(s, s.acceleration - s.a)
    assert zw.solve(*s.given).gaussian == pytest.approx(float(least) / 2, rel=1e-14)


@FIXTURES
def test_G5_the_quadratic_program_over_all_possible_accelerations(make):
    s = make()
    for seed in SEEDS:
        D = some_D(s, seed)
        P, _, H_inv = some_H(s, D, seed)
        h = H_inv * s.S * (s.a - D * s.b)
        assert D * s.b + P * h == s.acceleration
    assert sp.Matrix(gauss.exact(s.M, s.Q, s.A, s.b, s.rows)) == s.acceleration


@FIXTURES
def test_G6_any_1_inverse_with_any_13_inverse_gives_the_same(make):
    s = make()
    for seed in SEEDS:
        D = some_D(s, seed)
        P, _, H_inv = some_H(s, D, seed)
        assert equation_29(s, D, P, H_inv) == s.acceleration


@FIXTURES
def test_G6_a_1_inverse_that_is_no_13_inverse_fails(make):
    s = make()
    n = s.A.cols
    D = some_D(s, 0)
    P, H, _ = some_H(s, D, 0)
    bad = inverse_1(H, pinv(H), rational_matrix(n, n, 5))
    assert H * bad * H == H
    x = equation_29(s, D, P, bad)
    assert s.A * x == s.b  # it obeys the constraints all the same
    assert x != s.acceleration


@FIXTURES
def test_G6_moore_penrose_member(make):
    s = make()
    D = exact.moore_penrose(s.A, s.rows)
    P = sp.eye(s.A.cols) - D * s.A
    assert equation_29(s, D, P, pinv(s.S * P)) == s.acceleration  # (30)
    # the symbolic form, which factors M by Cholesky, agrees
    x = generalized_inverse.exact(s.M, s.Q, s.A, s.b, s.rows)
    assert sp.simplify(sp.Matrix(x) - s.acceleration).is_zero_matrix


@FIXTURES
def test_G6_solve_takes_any_admissible_pair_and_refuses_others(make):
    s = make()
    n = s.A.cols
    D = some_D(s, 2)
    _, H, H_inv = some_H(s, D, 2)
    pair = (floats(D), floats(H_inv))
    now = zw.solve(*s.given, form="generalized-inverse", equation="S0 29", inverse=pair)
    np.testing.assert_allclose(now.acceleration, floats(s.acceleration)[:, 0], rtol=0, atol=1e-10)
    bad = floats(inverse_1(H, pinv(H), rational_matrix(n, n, 5)))
    with pytest.raises(InputError, match=r"inverse H⁻ is not a \{1,3\}-inverse: Penrose condition \(3\) fails"):
        zw.solve(*s.given, form="generalized-inverse", inverse=(floats(D), bad))


@FIXTURES
def test_G7_why_the_free_vector_drops_out(make):
    s = make()
    D = some_D(s, 1)
    P, H, H_inv = some_H(s, D, 1)
    assert P * H_inv * H == P
    assert P * (H_inv * s.S) * P == P  # H⁻M^{1/2} is a {1}-inverse of P


@FIXTURES
def test_G7_the_converse_is_false(make):
    s = make()
    n = s.A.cols
    P, H, _ = some_H(s, some_D(s, 1), 1)
    Y = inverse_1(P, pinv(P), rational_matrix(n, n, 9))
    assert P * Y * P == P
    candidate = Y * s.S.inv()
    assert H * candidate * H == H
    assert H * candidate != (H * candidate).T


@FIXTURES
def test_G8_without_constraints_Newtons_equation_is_left(make):
    s = make()
    free = Rational(s.S, s.Q, s.A * 0, s.b * 0, s.c, ())
    D = rational_matrix(s.A.cols, s.A.rows, 3)  # every matrix is a {1}-inverse of zero
    P, _, H_inv = some_H(free, D, 1)
    assert equation_29(free, D, P, H_inv) == s.a


@FIXTURES
def test_G9_control_force_is_independent_of_the_inverses_and_linear_in_b(make):
    s = make()
    n = s.A.cols

    def force(b: sp.Matrix, seed: int) -> sp.Matrix:
        D = some_D(s, seed)
        P, _, H_inv = some_H(s, D, seed)
        X = P * H_inv * s.S
        return -(sp.eye(n) - s.M * X * s.M.inv()) * s.Q + s.M * (sp.eye(n) - X) * D * b

    wanted = s.M * s.acceleration - s.Q
    assert all(force(s.b, seed) == wanted for seed in SEEDS)
    zero = s.b * 0
    assert force(3 * s.b, 1) - force(zero, 1) == 3 * (force(s.b, 2) - force(zero, 2))
    np.testing.assert_allclose(zw.solve(*s.given).constraint_force, floats(wanted)[:, 0], rtol=0, atol=1e-13)


def test_G10_multipliers_at_full_row_rank():
    s = independent()
    force = s.M * s.acceleration - s.Q
    lam = (s.A * s.A.T).inv() * s.A * force
    assert lam == (s.A * s.M.inv() * s.A.T).inv() * s.e
    now = zw.solve(*s.given)
    np.testing.assert_allclose(now.multipliers, floats(lam)[:, 0], rtol=1e-14)
    assert now.unique.all()
    assert now.null_space.shape == (2, 0)


@pytest.mark.parametrize("make", [golden, redundant])
def test_G10_multipliers_below_full_rank_are_a_family(make):
    s = make()
    m = s.A.rows
    force = s.M * s.acceleration - s.Q
    A_plus = exact.moore_penrose(s.A, s.rows)
    for seed in SEEDS:
        lam = A_plus.T * force + (sp.eye(m) - s.A * A_plus) * rational_matrix(m, 1, seed)
        assert s.A.T * lam == force
    now = zw.solve(*s.given)
    np.testing.assert_allclose(now.multipliers, floats(A_plus.T * force)[:, 0], rtol=0, atol=1e-13)
    projector = floats(sp.eye(m) - s.A * A_plus)
    np.testing.assert_allclose(now.null_space @ now.null_space.T, projector, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("n", "m", "rank"), [(4, 6, 2), (5, 9, 4), (3, 8, 3)])
def test_G11_unique_even_where_rows_are_redundant(n, m, rank):
    s = random_system(seed=10 * n + m, n=n, m=m, rank=rank)
    # the independent rows alone: those where X is a row of the identity
    rows = [next(i for i in range(m) if np.array_equal(s.X[i], unit)) for unit in np.eye(rank)]
    alone = zw.solve(s.M, s.Q, s.A[rows], s.b[rows]).acceleration
    for form in FORMS:
        np.testing.assert_allclose(zw.solve(*s.given, form=form).acceleration, alone, rtol=0, atol=1e-12)


def test_G12_one_sided_rows_have_the_same_objective():
    s = redundant()
    M, Q, A, _ = s.given
    sides = np.array([True, False])
    free = np.linalg.solve(M, Q)
    lower = np.append(A[:1] @ free - 1, A[1:2] @ free)  # the first row is not a hindrance, the second is met
    now = zw.solve(M, Q, A[:2], lower, one_sided=sides)
    np.testing.assert_allclose(now.acceleration, free, atol=1e-13)
    lower[0] += 3  # now it is
    now = zw.solve(M, Q, A[:2], lower, one_sided=sides)
    np.testing.assert_allclose(now.acceleration, zw.solve(M, Q, A[:2], lower).acceleration, atol=1e-13)
    draw = np.random.default_rng(0)
    Z = np.linalg.svd(A[1:2])[2][1:].T
    for _ in range(200):  # no other possible acceleration has a smaller Gaussian
        x = now.acceleration + Z @ draw.normal(size=3)
        if A[0] @ x >= lower[0]:
            assert 0.5 * (x - free) @ M @ (x - free) > now.gaussian
