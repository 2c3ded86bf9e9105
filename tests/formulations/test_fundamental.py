"""S4: the fundamental equation, and everything that a solution exposes."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.formulations.systems import Rational, floats, golden, independent, random_system, rational_matrix, redundant
from zwang.formulations import FORMS, fundamental
from zwang.linalg import exact

FIXTURES = pytest.mark.parametrize("make", [golden, redundant, independent])
SHAPES = [(3, 2, 1), (5, 7, 3), (4, 6, 2), (6, 6, 6), (7, 3, 3), (4, 5, 0)]  # n, m, rank


def whitened(s: Rational) -> tuple[sp.Matrix, sp.Matrix]:
    """C = AM^{-1/2} and C⁺."""
    C = s.A * s.S.inv()
    return C, exact.moore_penrose(C, s.rows)


@FIXTURES
def test_F1_fundamental_equation_exactly(make):
    s = make()
    _, C_plus = whitened(s)
    K = s.S * C_plus
    x = fundamental.exact(s.M, s.Q, s.A, s.b, s.rows)
    assert s.M * x == s.Q + K * s.e
    assert s.A * x == s.b
    assert sp.Matrix(x) == s.acceleration


@FIXTURES
def test_F1_K_needs_no_square_root(make):
    s = make()
    _, C_plus = whitened(s)
    G = s.A * s.M.inv() * s.A.T
    assert s.S * C_plus == s.A.T * exact.moore_penrose(G, s.rows)


@pytest.mark.parametrize(("n", "m", "rank"), SHAPES)
def test_F1_literal_equation_agrees_with_the_default(n, m, rank):
    s = random_system(seed=n * m + rank, n=n, m=m, rank=rank)
    literal = fundamental.literal(s.M[None], s.Q[None], s.A[None], s.b[None], rank)[0]
    np.testing.assert_allclose(literal, zw.solve(*s.given).acceleration, rtol=0, atol=1e-12)


@FIXTURES
def test_F2_force_of_constraint(make):
    s = make()
    _, C_plus = whitened(s)
    force = s.S * C_plus * s.e
    assert force == s.M * s.acceleration - s.Q
    np.testing.assert_allclose(zw.solve(*s.given).constraint_force, floats(force)[:, 0], rtol=0, atol=1e-13)


@FIXTURES
def test_F3_deviation_is_the_weighted_inverse_times_the_error(make):
    s = make()
    _, C_plus = whitened(s)
    K1 = s.S.inv() * C_plus
    assert s.acceleration - s.a == K1 * s.e
    now = zw.solve(*s.given)
    np.testing.assert_allclose(now.weighted_inverse, floats(K1), rtol=0, atol=1e-13)
    np.testing.assert_allclose(now.free_acceleration, floats(s.a)[:, 0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(now.error, floats(s.e)[:, 0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(now.deviation, now.weighted_inverse @ now.error, rtol=0, atol=1e-13)
    np.testing.assert_allclose(now.deviation, now.acceleration - now.free_acceleration, rtol=0, atol=0)


@FIXTURES
def test_F4_projector_of_the_derivation_and_the_free_vector_drops_out(make):
    s = make()
    C, C_plus = whitened(s)
    n = s.A.cols
    R = sp.eye(n) - C_plus * C
    assert R == R * R == R.T
    assert exact.moore_penrose(R, exact.independent_rows(R)) == R
    # all z that make |C⁺b + Rz − M^{1/2}a| least: z = R⁺M^{1/2}a + (I − R⁺R)w
    for seed in range(3):
        z = R * s.S * s.a + (sp.eye(n) - R * R) * rational_matrix(n, 1, seed)
        assert s.S.inv() * (C_plus * s.b + R * z) == s.acceleration


@pytest.mark.parametrize(("n", "m", "rank"), SHAPES)
def test_F_constraints_hold_and_equilibrium_too(n, m, rank):
    s = random_system(seed=7 * n + m + rank, n=n, m=m, rank=rank)
    now = zw.solve(*s.given)
    np.testing.assert_allclose(s.A @ now.acceleration, s.b, rtol=0, atol=1e-13 * max(1, np.abs(s.b).max()))
    assert now.rank == rank
    assert now.residuals.constraint <= 1e-12
    assert now.residuals.equilibrium <= 1e-12


def test_F_no_error_no_force():
    s = random_system(seed=3, n=5, m=6, rank=3)
    b = s.A @ np.linalg.solve(s.M, s.Q)
    now = zw.solve(s.M, s.Q, s.A, b)
    np.testing.assert_allclose(now.constraint_force, 0, atol=1e-13)
    np.testing.assert_allclose(now.acceleration, now.free_acceleration, atol=1e-14)


def test_F_no_constraints_no_change():
    s = random_system(seed=4, n=5, m=3, rank=0)
    now = zw.solve(s.M, s.Q, np.zeros((3, 5)), np.zeros(3))
    np.testing.assert_array_equal(now.acceleration, now.free_acceleration)
    np.testing.assert_array_equal(now.constraint_force, 0)
    assert now.rank == 0


@FIXTURES
def test_F_the_unweighted_inverse_obeys_the_constraints_and_is_wrong(make):
    s = make()
    x = s.a + exact.moore_penrose(s.A, s.rows) * s.e
    assert s.A * x == s.b
    assert x != s.acceleration
    assert np.abs(floats(x)[:, 0] - zw.solve(*s.given).acceleration).max() > 1e-2


def test_golden_golden_fixture_in_every_field():
    s = golden()
    now = zw.solve(*s.given, v=[1.0, 2.0, 3.0])
    fifteenth = 1 / 15

    def close(got, wanted):
        np.testing.assert_allclose(got, wanted, rtol=0, atol=2e-15)

    np.testing.assert_array_equal(now.acceleration, [0.5, 0.5, -0.5])
    np.testing.assert_array_equal(now.free_acceleration, [7 / 8, -1, 5 / 8])
    np.testing.assert_array_equal(now.error, [9 / 8, 9 / 4])
    np.testing.assert_array_equal(now.deviation, [-3 / 8, 3 / 2, -9 / 8])
    close(now.constraint_force, [3, 3, 0])
    close(now.ideal_force, [3, 3, 0])
    np.testing.assert_array_equal(now.nonideal_force, [0, 0, 0])
    close(now.multipliers, [3 / 5, 6 / 5])
    close(now.multipliers @ [1, 2], 3)
    close(np.abs(now.null_space), np.array([[2], [1]]) / np.sqrt(5))
    close(now.null_space[0, 0], -2 * now.null_space[1, 0])
    assert now.unique.tolist() == [False, False]
    assert now.rank == 1
    close(2 * now.gaussian, 27 / 8)
    close(now.weighted_inverse, fifteenth * np.array([[-1, -2], [4, 8], [-3, -6]]))
    close(now.residuals.constraint, 0)
    assert now.residuals.equilibrium <= 1e-14
    close(now.residuals.consistency, 0)
    close(now.constraint_power, 9)


def test_golden_golden_fixture_by_every_form():
    s = golden()
    for form in FORMS:
        now = zw.solve(*s.given, form=form)
        np.testing.assert_allclose(now.acceleration, [0.5, 0.5, -0.5], rtol=0, atol=1e-14)
        np.testing.assert_allclose(now.multipliers, [3 / 5, 6 / 5], rtol=0, atol=1e-13)
        np.testing.assert_allclose(now.constraint_force, [3, 3, 0], rtol=0, atol=1e-13)


def test_golden_power_is_given_only_with_velocities():
    assert zw.solve(*golden().given).constraint_power is None
