"""Against 60 digits: what the default form reaches, and what every other form must reach by its condition numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zwang as zw
from tests.formulations.systems import FAMILIES, System, exact_unique, random_system, relative, truth
from zwang.arrays import EPS
from zwang.formulations import FORMS, fundamental, generalized_inverse

families = pytest.mark.parametrize("family", FAMILIES)


@st.composite
def sizes(draw, most_n=12, most_m=16):
    """(seed, n, m, rank) with any rank from zero to the least of m and n."""
    n, m = draw(st.integers(1, most_n)), draw(st.integers(0, most_m))
    return draw(st.integers(0, 2**31)), n, m, draw(st.integers(0, min(m, n)))


@families
@given(size=sizes(), nonideal=st.booleans())
def test_default_form_reaches_the_last_digits(family, size, nonideal):
    s = random_system(*size, family, nonideal)
    wanted, now = truth(s), zw.solve(*s.given, C=s.C)
    assert relative(now.acceleration, wanted.acceleration) <= 1e-12
    assert relative(now.free_acceleration, wanted.free_acceleration) <= 1e-15
    assert relative(now.constraint_force, wanted.constraint_force) <= 1e-11
    assert relative(now.ideal_force, wanted.ideal_force) <= 1e-11
    assert now.gaussian == pytest.approx(wanted.gaussian, rel=1e-10, abs=1e-25)
    # Rank, uniqueness and the family of multipliers, to the truth of rational arithmetic
    assert now.rank == s.rank
    np.testing.assert_array_equal(now.unique, exact_unique(s.X))
    assert relative(now.multipliers, wanted.multipliers) <= 1e-11
    N = now.null_space
    assert N.shape == (len(s.b), len(s.b) - s.rank)
    np.testing.assert_allclose(N.T @ N, np.eye(N.shape[1]), rtol=0, atol=1e-14)
    assert (N[now.unique] == 0).all()
    if s.rank and N.shape[1]:  # Aᵀ N = 0, row by row of A as good as its own length allows
        assert (np.abs(s.X.T @ N) <= 1e-14 * np.abs(s.X).max(axis=0)[:, None]).all()


@families
@given(size=sizes())
@settings(max_examples=40)
def test_weighted_inverse_is_as_good_as_its_condition(family, size):
    """K₁ comes from the factors without refinement: L⁻¹ costs κ(M), R⁻¹ the condition of the whitened rows."""
    s = random_system(*size, family)
    now, wanted = zw.solve(*s.given), truth(s).weighted_inverse
    unit = s.G / np.linalg.norm(s.G, axis=1)[:, None]
    D = np.sqrt(np.diag(s.M))  # Cholesky does not feel the scale of masses
    scaled = s.M / D / D[:, None]
    L = np.linalg.cholesky(scaled)
    W = np.linalg.solve(L, (unit / D).T).T
    W = W / np.linalg.norm(W, axis=1)[:, None]
    bound = 100 * EPS * np.linalg.cond(scaled) * (np.linalg.cond(W) ** 2 if s.rank else 1)
    assert relative(now.weighted_inverse, wanted) <= bound


def bound(s: System, equation: str) -> float:
    """How far rounding may carry q̈ from the truth.

    Each of these forms multiplies and inverts factors of M and of A, rows of A taken at unit length. To first order
    an inverse of A of rank r carries a relative error of eps·κ(A), κ(A) = σ₁/σᵣ, a root or inverse of M one of
    eps·κ(M), and the terms that are added up are no larger than ‖q̈‖ + ‖b‖/σᵣ + ‖Q‖/λ_min(M). S3 (26) inverts
    AM⁻¹Aᵀ, in which κ(A) is squared. The dimension takes the place of the constants of the single operations.
    """
    length = np.linalg.norm(s.A, axis=1)
    length = np.where(length > 0, length, 1.0)
    values = np.linalg.svd(s.A / length[:, None], compute_uv=False)
    least = values[s.rank - 1] if s.rank else 1.0
    masses = np.linalg.eigvalsh(s.M)
    x = zw.solve(*s.given, C=s.C).acceleration
    terms = np.linalg.norm(x) + np.linalg.norm(s.b / length) / least + np.linalg.norm(s.Q + s.C) / masses[0]
    kappa = (values[0] / least if s.rank else 1.0) ** (2 if equation == "S3 26" else 1) * masses[-1] / masses[0]
    return 4 * sum(s.A.shape) * EPS * kappa * terms


OTHERS = [form for form in FORMS if form not in ("fundamental", "generalized-inverse")]


@families
@given(size=sizes(), nonideal=st.booleans())
@settings(max_examples=30)
def test_every_other_form_is_as_good_as_its_condition(family, size, nonideal):
    s = random_system(*size, family, nonideal)
    wanted = truth(s).acceleration
    found = {form: zw.solve(*s.given, C=s.C, form=form).acceleration for form in OTHERS}
    for equation in generalized_inverse.EQUATIONS:
        now = zw.solve(*s.given, C=s.C, form="generalized-inverse", equation=equation)
        found[equation] = now.acceleration
    found["literal"] = fundamental.literal(s.M[None], (s.Q + s.C)[None], s.A[None], s.b[None], s.rank)[0]
    for form, x in found.items():
        error = np.linalg.norm(x - wanted)
        assert error <= bound(s, form), f"{form} errs by {error:.3g}"


@families
@given(size=sizes())
@settings(max_examples=40)
def test_order_of_rows_orders_the_results(family, size):
    s = random_system(*size, family)
    order = np.random.default_rng(size[0]).permutation(len(s.b))
    here, there = zw.solve(*s.given), zw.solve(s.M, s.Q, s.A[order], s.b[order])
    assert relative(there.acceleration, here.acceleration) <= 2e-12
    assert relative(there.multipliers, here.multipliers[order]) <= 2e-11
    np.testing.assert_array_equal(there.unique, here.unique[order])
    assert there.rank == here.rank


@given(size=sizes(), family=st.sampled_from(["plain", "mass 1e8", "graded masses"]))
def test_U10_scale_of_rows_changes_nothing_but_the_multipliers(size, family):
    s = random_system(*size, family)
    scale = 2.0 ** np.random.default_rng(size[0]).integers(-40, 41, size=len(s.b))
    here, there = zw.solve(*s.given), zw.solve(s.M, s.Q, s.A * scale[:, None], s.b * scale)
    assert relative(there.acceleration, here.acceleration) <= 1e-14
    assert relative(there.constraint_force, here.constraint_force) <= 1e-13
    np.testing.assert_array_equal(there.unique, here.unique)
    assert relative(there.multipliers[here.unique] * scale[here.unique], here.multipliers[here.unique]) <= 1e-12


@given(st.lists(st.tuples(st.integers(0, 2**31), st.integers(0, 4), st.sampled_from(FAMILIES)), min_size=1, max_size=9))
@settings(max_examples=50)
def test_stack_is_solved_like_one_by_one(cases):
    systems = [random_system(seed, 5, 4, rank, family, seed % 2 == 0) for seed, rank, family in cases]
    M, Q, A, b, C = (np.stack([getattr(s, name) for s in systems]) for name in "MQAbC")
    stack = zw.solve(M, Q, A, b, C=C)
    for k, s in enumerate(systems):
        one = zw.solve(*s.given, C=s.C)
        for name in ("acceleration", "constraint_force", "ideal_force", "multipliers", "free_acceleration"):
            assert relative(getattr(stack, name)[k], getattr(one, name)) <= 1e-12, name
        np.testing.assert_array_equal(stack.unique[k], one.unique)
        assert stack.rank[k] == one.rank
        columns = one.null_space.shape[1]
        np.testing.assert_allclose(
            stack.null_space[k][:, :columns] @ stack.null_space[k][:, :columns].T,
            one.null_space @ one.null_space.T,
            atol=1e-13,
        )
        assert not stack.null_space[k][:, columns:].any()


def test_rounding_of_a_large_row_is_not_taken_for_a_small_row():
    """A dependent row 2⁷⁰ times longer than an independent one leaves rounding that is longer than that one."""
    s = random_system(458269691, 10, 14, 7, "row scales")
    now = zw.solve(*s.given)
    assert (np.abs(s.X.T @ now.null_space) <= 1e-14 * np.abs(s.X).max(axis=0)[:, None]).all()
    assert relative(now.multipliers, truth(s).multipliers) <= 1e-12


def test_zero_matrices_of_every_shape():
    for n in (1, 3):
        for m in (0, 1, 5):
            now = zw.solve(np.eye(n), np.ones(n), np.zeros((m, n)), np.zeros(m))
            np.testing.assert_array_equal(now.acceleration, 1)
            assert now.rank == 0
            assert not now.unique.any()
            np.testing.assert_allclose(now.null_space @ now.null_space.T, np.eye(m), atol=1e-15)


def test_near_singular_position_still_counts_as_regular():
    """A linkage one part in a billion from a singular position takes the limit's branch, not the singular one's."""
    A = np.array([[1, 0, 0], [1, 1e-9, 0]])
    now = zw.solve(np.eye(3), [1, 1, 1], A, [0, 0])
    np.testing.assert_allclose(now.acceleration, [0, 0, 1], atol=1e-15)
    assert now.rank == 2
    assert zw.solve(np.eye(3), [1, 1, 1], A, [0, 0], rank_tol=1e-8).rank == 1
