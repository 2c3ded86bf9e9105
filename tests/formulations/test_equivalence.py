"""S2 and S3: generalized inverses, Gibbs–Appell and Lagrange say the same."""

from itertools import combinations

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.formulations.systems import Rational, floats, golden, independent, random_system, rational_matrix, redundant
from zwang.errors import InconsistentError, InputError
from zwang.formulations import FORMS, generalized_inverse, gibbs_appell, lagrange
from zwang.linalg import exact
from zwang.linalg.inverses import inverse_1, inverse_13, inverse_14

FIXTURES = pytest.mark.parametrize("make", [golden, redundant, independent])
REDUNDANT = pytest.mark.parametrize("make", [golden, redundant])
SEEDS = range(3)
SHAPES = [(3, 2, 1), (5, 7, 3), (4, 6, 2), (6, 6, 6), (7, 3, 3), (4, 5, 0), (12, 16, 9)]


def whitened(s: Rational) -> tuple[sp.Matrix, sp.Matrix]:
    C = s.A * s.S.inv()
    return C, exact.moore_penrose(C, s.rows)


def equation_24(s: Rational, C_inv: sp.Matrix) -> sp.Matrix:
    return s.a + s.S.inv() * C_inv * s.e


@FIXTURES
def test_U1_every_14_inverse_gives_the_same(make):
    s = make()
    C, plus = whitened(s)
    for seed in SEEDS:
        member = inverse_14(C, plus, rational_matrix(s.A.cols, s.A.rows, seed))
        assert equation_24(s, member) == s.acceleration


@FIXTURES
def test_U1_1_and_13_inverses_fail(make):
    s = make()
    C, plus = whitened(s)
    U = rational_matrix(s.A.cols, s.A.rows, 1)
    for bad in (inverse_1(C, plus, U), inverse_13(C, plus, U)):
        assert C * bad * C == C
        x = equation_24(s, bad)
        assert s.A * x == s.b
        assert x != s.acceleration
        with pytest.raises(InputError, match=r"not a \{1,4\}-inverse: Penrose condition \(4\) fails"):
            zw.solve(*s.given, form="generalized-inverse", equation="S3 24", inverse=floats(bad))


@FIXTURES
def test_U1_no_other_matrix_will_do(make):
    """K works for every consistent b only if KA = K₁A, that is if M^{1/2}K is a {1,4}-inverse of C."""
    s = make()
    C, plus = whitened(s)
    K1 = s.S.inv() * plus
    E = rational_matrix(s.A.cols, s.A.rows, 4)
    K = K1 + E
    assert sp.zeros(*K.shape[:1], s.A.cols) != E * s.A
    assert not (s.S * K * C).is_symmetric()
    failures = 0
    for j in range(s.A.cols):  # b = column j of A is consistent
        e = s.A[:, j] - s.A * s.a
        right = Rational(s.S, s.Q, s.A, s.A[:, j], s.c, s.rows).acceleration
        assert s.a + K1 * e == right
        failures += s.a + K * e != right
    assert failures


@REDUNDANT
def test_C6_off_consistency_the_members_disagree_and_solve_refuses(make):
    s = make()
    C, plus = whitened(s)
    b = s.b + sp.eye(s.A.rows)[:, -1]
    e = b - s.A * s.a
    member = inverse_14(C, plus, rational_matrix(s.A.cols, s.A.rows, 1))
    assert plus * e != member * e
    M, Q, A, _ = s.given
    for form in FORMS:
        with pytest.raises(InconsistentError, match=r"row \d contradicts row"):
            zw.solve(M, Q, A, floats(b)[:, 0], form=form)


@FIXTURES
def test_U2_every_1_inverse_of_the_delassus_matrix_gives_the_same(make):
    s = make()
    m = s.A.rows
    G = s.A * s.M.inv() * s.A.T
    C, _ = whitened(s)
    for seed in SEEDS:
        G_inv = inverse_1(G, exact.moore_penrose(G, s.rows), rational_matrix(m, m, seed))
        assert s.a + s.M.inv() * s.A.T * G_inv * s.e == s.acceleration
        Y = C.T * G_inv  # because this is a {1,4}-inverse of C
        assert C * Y * C == C
        assert (Y * C).is_symmetric()
        now = zw.solve(*s.given, form="generalized-inverse", equation="S3 26", inverse=floats(G_inv))
        np.testing.assert_allclose(now.acceleration, floats(s.acceleration)[:, 0], rtol=0, atol=1e-10)
    for equation in generalized_inverse.EQUATIONS:
        x = generalized_inverse.exact(s.M, s.Q, s.A, s.b, s.rows, equation=equation)
        assert sp.simplify(sp.Matrix(x) - s.acceleration).is_zero_matrix


def diagonal(s: Rational) -> Rational:
    return Rational(sp.diag(*range(2, 2 + s.S.rows)), s.Q, s.A, s.b, s.c, s.rows)


def admissible(s: Rational) -> list[tuple[int, ...]]:
    """The choices of r independent columns."""
    every = combinations(range(s.A.cols), len(s.rows))
    return [e for e in every if s.A.extract(list(range(s.A.rows)), list(e)).rank() == len(s.rows)]


@FIXTURES
def test_U3_diagonal_mass(make):
    s = diagonal(make())
    for e in admissible(s):
        i = [j for j in range(s.A.cols) if j not in e]
        R, fixed, hessian, right = gibbs_appell.exact_parts(s.M, s.Q, s.A, s.b, e)
        Mee, Mii = s.M.extract(e, e), s.M.extract(i, i)
        Qe, Qi = s.Q.extract(e, [0]), s.Q.extract(i, [0])
        assert hessian == Mii + R.T * Mee * R == gibbs_appell.diagonal_hessian(s.M, R, e)
        assert right == Qi - R.T * Qe + R.T * Mee * fixed
        assert hessian * s.acceleration.extract(i, [0]) == right
        assert s.acceleration.extract(e, [0]) == fixed - R * s.acceleration.extract(i, [0])


@FIXTURES
def test_U3_full_mass_with_the_rows_of_A_appended(make):
    s = make()
    n = s.A.cols
    for e in admissible(s):
        i = [j for j in range(n) if j not in e]
        _, _, hessian, right = gibbs_appell.exact_parts(s.M, s.Q, s.A, s.b, e)
        assert hessian * s.acceleration.extract(i, [0]) == right
        # k + n − r rows in all coordinates, consistent, and they determine q̈
        lower = sp.zeros(len(i), n)
        for column, j in enumerate(i):
            lower[:, j] = hessian[:, column]
        whole = sp.Matrix.vstack(s.A, lower)
        wanted = sp.Matrix.vstack(s.b, right)
        assert whole.shape == (s.A.rows + n - len(s.rows), n)
        assert whole.row_join(wanted).rank() == whole.rank() == n
        assert whole * s.acceleration == wanted


@REDUNDANT
def test_U3_any_independent_rows_suffice(make):
    s = make()
    r = len(s.rows)
    for rows in combinations(range(s.A.rows), r):
        G, h = s.A.extract(list(rows), list(range(s.A.cols))), s.b.extract(list(rows), [0])
        if G.rank() == r:
            x = gibbs_appell.exact(s.M, s.Q, G, h, tuple(range(r)))
            assert sp.Matrix(x) == s.acceleration


def test_U4_all_six_choices_agree():
    s = redundant()
    choices = admissible(s)
    assert len(choices) == 6
    for e in choices:
        assert sp.Matrix(gibbs_appell.exact(s.M, s.Q, s.A, s.b, s.rows, eliminate=e)) == s.acceleration
        now = zw.solve(*s.given, form="gibbs-appell", eliminate=e)
        np.testing.assert_allclose(now.acceleration, floats(s.acceleration)[:, 0], rtol=0, atol=1e-12)


@FIXTURES
def test_U4_the_diagonal_equation_is_wrong_for_a_full_mass_and_refused(make):
    s = make()
    e = admissible(s)[0]
    i = [j for j in range(s.A.cols) if j not in e]
    R, fixed, _, _ = gibbs_appell.exact_parts(s.M, s.Q, s.A, s.b, e)
    Mee, Mii = s.M.extract(e, e), s.M.extract(i, i)
    Qe, Qi = s.Q.extract(e, [0]), s.Q.extract(i, [0])
    x = (Mii + R.T * Mee * R).LUsolve(Qi - R.T * Qe + R.T * Mee * fixed)
    assert x != s.acceleration.extract(i, [0])
    with pytest.raises(InputError, match=r"S3 \(18\) holds for a diagonal mass matrix only: use S3 \(37\)"):
        gibbs_appell.diagonal_hessian(s.M, R, e)


@FIXTURES
def test_U5_gibbs_function_and_virtual_work(make):
    s = make()
    e = admissible(s)[-1]
    i = [j for j in range(s.A.cols) if j not in e]
    R, fixed, _, _ = gibbs_appell.exact_parts(s.M, s.Q, s.A, s.b, e)
    P = s.Q.extract(i, [0]) - R.T * s.Q.extract(e, [0])
    symbols = sp.Matrix(sp.symbols(f"x:{len(i)}"))
    x = sp.zeros(s.A.cols, 1)
    for k, j in enumerate(i):
        x[j] = symbols[k]
    for k, j in enumerate(e):
        x[j] = (fixed - R * symbols)[k]
    gibbs = (x.T * s.M * x)[0] / 2
    at = dict(zip(symbols, s.acceleration.extract(i, [0]), strict=True))
    assert sp.Matrix([gibbs.diff(y).subs(at) for y in symbols]) == P
    v_I = rational_matrix(len(i), 1, 2)
    v = sp.zeros(s.A.cols, 1)
    for k, j in enumerate(i):
        v[j] = v_I[k]
    for k, j in enumerate(e):
        v[j] = (-R * v_I)[k]
    assert (s.A * v).is_zero_matrix
    assert (v.T * s.Q)[0] == (v_I.T * P)[0]


@FIXTURES
def test_U6_the_hessian_is_positive_definite(make):
    s = make()
    for e in admissible(s):
        hessian = gibbs_appell.exact_parts(s.M, s.Q, s.A, s.b, e)[2]
        assert hessian.is_symmetric()
        assert all(hessian[:k, :k].det() > 0 for k in range(1, hessian.rows + 1))


@FIXTURES
def test_U7_lagrange_with_all_rows(make):
    s = make()
    G = s.A * s.M.inv() * s.A.T
    for null in G.nullspace():  # appendix B
        assert (s.A.T * null).is_zero_matrix
    least = exact.moore_penrose(G, s.rows) * s.e
    force = s.M * s.acceleration - s.Q
    assert least == exact.moore_penrose(s.A, s.rows).T * force
    assert s.M * s.acceleration == s.Q + s.A.T * least
    for null in s.A.T.nullspace():
        assert (least.T * null)[0] == 0  # so it is the shortest of the family
        assert s.M * s.acceleration == s.Q + s.A.T * (least + 7 * null)
    assert sp.Matrix(lagrange.exact(s.M, s.Q, s.A, s.b, s.rows)) == s.acceleration
    np.testing.assert_allclose(zw.solve(*s.given).multipliers, floats(least)[:, 0], rtol=0, atol=1e-13)


@pytest.mark.parametrize(("n", "m", "rank"), SHAPES)
def test_U8_all_forms_agree_pairwise(n, m, rank):
    s = random_system(seed=100 + n + m, n=n, m=m, rank=rank, nonideal=True)
    found = {form: zw.solve(*s.given, C=s.C, form=form) for form in FORMS}
    for equation in generalized_inverse.EQUATIONS:
        found[equation] = zw.solve(*s.given, C=s.C, form="generalized-inverse", equation=equation)
    for one, other in combinations(found.values(), 2):
        for name in ("acceleration", "constraint_force", "multipliers", "ideal_force", "gaussian"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=2e-11)


@pytest.mark.parametrize(("n", "m", "rank"), SHAPES)
def test_U9_coordinate_covariance(n, m, rank):
    s = random_system(seed=200 + n + m, n=n, m=m, rank=rank)
    draw = np.random.default_rng(n)
    J = np.linalg.qr(draw.normal(size=(n, n)))[0] * np.linspace(1, 2, n)
    bias = draw.normal(size=(n, n)) @ draw.normal(size=n)  # J̇ η̇
    M, A = J.T @ s.M @ J, s.A @ J
    there = zw.solve((M + M.T) / 2, J.T @ (s.Q - s.M @ bias), A, s.b - s.A @ bias)
    here = zw.solve(*s.given)
    np.testing.assert_allclose(J @ there.acceleration + bias, here.acceleration, rtol=0, atol=1e-12)
    np.testing.assert_allclose(there.constraint_force, J.T @ here.constraint_force, rtol=0, atol=2e-11)


@FIXTURES
def test_U10_an_injective_change_of_rows_changes_nothing_but_the_multipliers(make):
    s = make()
    T = rational_matrix(s.A.rows + 2, s.A.rows, 6)
    assert T.rank() == s.A.rows
    changed = Rational(s.S, s.Q, T * s.A, T * s.b, s.c, tuple(exact.independent_rows(T * s.A)))
    assert changed.acceleration == s.acceleration
    now, then = zw.solve(*changed.given), zw.solve(*s.given)
    np.testing.assert_allclose(now.acceleration, then.acceleration, rtol=0, atol=1e-12)
    np.testing.assert_allclose(now.constraint_force, then.constraint_force, rtol=0, atol=1e-12)


def test_U10_the_division_of_the_force_among_rows_depends_on_their_units():
    s = golden()
    M, Q, A, b = s.given
    here, there = zw.solve(M, Q, A, b), zw.solve(M, Q, A * [[1], [10]], b * [1, 10])
    np.testing.assert_array_equal(here.acceleration, there.acceleration)
    share = here.multipliers[0] * A[0]
    assert np.abs(there.multipliers[0] * A[0] - share).max() > 0.1
