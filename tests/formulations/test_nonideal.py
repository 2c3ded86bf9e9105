"""S1: constraints whose force does work in virtual displacements."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.formulations.systems import Rational, floats, golden, independent, random_system, rational_matrix, redundant
from zwang.formulations import FORMS, fundamental
from zwang.linalg import exact

FIXTURES = pytest.mark.parametrize("make", [golden, redundant, independent])
SEEDS = range(3)


def parts(s: Rational) -> tuple[sp.Matrix, sp.Matrix, sp.Matrix]:
    """Q_i (7), Q_ni (8) with z = M^{-1/2}c (9), and q̈ (6)."""
    B = s.A * s.S.inv()
    B_plus = exact.moore_penrose(B, s.rows)
    ideal = s.S * B_plus * s.e
    nonideal = s.S * (sp.eye(s.A.cols) - B_plus * B) * s.S.inv() * s.c
    return ideal, nonideal, s.M.LUsolve(s.Q + ideal + nonideal)


def with_c(s: Rational, c: sp.Matrix) -> Rational:
    return Rational(s.S, s.Q, s.A, s.b, c, s.rows)


def virtual(s: Rational) -> list[sp.Matrix]:
    return s.A.nullspace()


@FIXTURES
def test_N1_the_force_has_an_ideal_and_a_nonideal_part(make):
    s = make()
    ideal, nonideal, x = parts(s)
    now = zw.solve(*s.given, C=floats(s.c)[:, 0])
    for got, wanted in (
        (now.acceleration, x),
        (now.ideal_force, ideal),
        (now.nonideal_force, nonideal),
        (now.constraint_force, ideal + nonideal),
    ):
        np.testing.assert_allclose(got, floats(wanted)[:, 0], rtol=0, atol=1e-12)


@FIXTURES
def test_N2_virtual_work_is_that_of_c_and_has_any_sign(make):
    s = make()
    signs = set()
    for c in (s.c, -s.c):
        ideal, nonideal, _ = parts(with_c(s, c))
        for v in virtual(s):
            work = (v.T * (ideal + nonideal))[0]
            assert work == (v.T * c)[0]
            signs.add(sp.sign(work))
    assert {1, -1} <= signs


@FIXTURES
def test_N3_constraints_hold_for_every_c_and_the_ideal_part_is_workless(make):
    s = make()
    for seed in SEEDS:
        ideal, _, x = parts(with_c(s, rational_matrix(s.A.cols, 1, seed)))
        assert s.A * x == s.b
        assert all((v.T * ideal)[0] == 0 for v in virtual(s))


@FIXTURES
def test_N4_a_part_of_c_along_the_rows_changes_nothing(make):
    s = make()
    for seed in SEEDS:
        c = s.c + s.A.T * rational_matrix(s.A.rows, 1, seed)
        assert parts(with_c(s, c)) == parts(s)
        one, other = (zw.solve(*s.given, C=floats(x)[:, 0]) for x in (c, s.c))
        for name in ("acceleration", "constraint_force", "ideal_force", "nonideal_force"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-11)


@FIXTURES
def test_N5_the_nonideal_force_is_not_c_in_general(make):
    s = make()
    assert parts(s)[1] != s.c
    # c with AM⁻¹c = 0
    c = s.M * virtual(s)[0]
    assert parts(with_c(s, c))[1] == c
    # c in the range of Aᵀ: D'Alembert
    c = s.A.T * rational_matrix(s.A.rows, 1, 1)
    assert parts(with_c(s, c))[1].is_zero_matrix
    np.testing.assert_allclose(zw.solve(*s.given, C=floats(c)[:, 0]).nonideal_force, 0, atol=1e-11)


@FIXTURES
def test_N6_the_printed_forms_agree(make):
    s = make()
    _, _, x = parts(s)
    n = s.A.cols
    B = s.A * s.S.inv()
    B_plus = exact.moore_penrose(B, s.rows)
    K = s.S * B_plus
    scaled = B_plus * s.b + (sp.eye(n) - B_plus * B) * (s.S * s.a + s.S.inv() * s.c)  # scaled quantities (16)–(27)
    assert s.S.inv() * scaled == x
    assert s.M * x == s.Q + K * s.e + s.c - K * s.A * s.M.inv() * s.c  # (32)
    assert sp.Matrix(fundamental.exact(s.M, s.Q + s.c, s.A, s.b, s.rows)) == x  # (33)


@FIXTURES
def test_N7_c_enters_like_a_given_force_and_the_multipliers_know_it(make):
    s = make()
    ideal, nonideal, x = parts(s)
    assert (ideal.T * s.M.inv() * nonideal)[0] == 0
    G = s.A * s.M.inv() * s.A.T
    lam = exact.moore_penrose(G, s.rows) * (s.e - s.A * s.M.inv() * s.c)
    assert ideal + nonideal == s.A.T * lam + s.c
    c = floats(s.c)[:, 0]
    M, Q, A, b = s.given
    now = zw.solve(M, Q, A, b, C=c)
    np.testing.assert_allclose(now.multipliers, floats(lam)[:, 0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(now.acceleration, zw.solve(M, Q + c, A, b).acceleration, rtol=0, atol=1e-14)
    assert sp.Matrix(fundamental.exact(s.M, s.Q + s.c, s.A, s.b, s.rows)) == x


@FIXTURES
def test_N8_the_motion_minimises_the_gaussian_about_the_shifted_acceleration_only(make):
    s = make()
    _, nonideal, x = parts(s)
    assert not nonideal.is_zero_matrix

    def gaussian(y: sp.Matrix, about: sp.Matrix) -> sp.Rational:
        return ((y - about).T * s.M * (y - about))[0] / 2

    shifted = s.a + s.M.LUsolve(s.c)
    assert gaussian(s.acceleration, s.a) < gaussian(x, s.a)  # the ideal motion is possible, and better
    for v in virtual(s):
        for step in (-1, 1):
            assert gaussian(x + step * v, shifted) > gaussian(x, shifted)
    now = zw.solve(*s.given, C=floats(s.c)[:, 0])
    assert now.gaussian == pytest.approx(float(gaussian(x, s.a)), rel=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_N_every_form_takes_a_nonideal_force(form):
    s = random_system(seed=12, n=6, m=8, rank=4, nonideal=True)
    now, default = zw.solve(*s.given, C=s.C, form=form), zw.solve(*s.given, C=s.C)
    for name in ("acceleration", "ideal_force", "nonideal_force", "multipliers"):
        np.testing.assert_allclose(getattr(now, name), getattr(default, name), rtol=0, atol=1e-11)
    balance = s.M @ now.acceleration - s.Q - s.A.T @ now.multipliers - s.C
    np.testing.assert_allclose(balance, 0, atol=1e-11)
