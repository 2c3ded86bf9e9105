"""Singular mass matrices (Udwadia–Phohomsiri, Udwadia–Wanichanon): q̈ is unique if rank [M; A] = n."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import zwang as zw
from tests.formulations.systems import System, exact_product, random_system, truth
from zwang.errors import MassError, UndeterminedError
from zwang.formulations.forms import DEFAULT, FORMS

cases = st.tuples(st.integers(0, 2**31), st.integers(2, 8), st.integers(1, 4), st.integers(0, 4))


def random_singular(seed: int, n: int, lost: int, extra: int):
    """M of rank n − lost, A with at least that many independent rows, redundant ones besides, and a C."""
    lost = min(lost, n - 1)
    draw = np.random.default_rng(seed)
    rank = int(draw.integers(lost, n + 1))
    m = rank + extra
    s = random_system(int(draw.integers(2**31)), n, m, rank)
    F = draw.integers(-4, 5, size=(n, n - lost)).astype(float)
    F[:, : n - lost] += 9 * np.eye(n)[:, : n - lost]
    M = exact_product(F, F.T)  # exactly singular
    both = np.linalg.svd(np.vstack([M / np.abs(M).max(), s.A]), compute_uv=False)
    assume(both[-1] > 1e-4 * both[0])
    return M, draw.normal(size=n), s.A, s.b, draw.normal(size=n), rank


def phohomsiri(M, Q, A, b):
    """M̄⁺[Q; b], M̄ = [(I − A⁺A)M; A]."""
    P = np.eye(len(M)) - np.linalg.pinv(A, rcond=1e-10) @ A
    return np.linalg.lstsq(np.vstack([P @ M, A]), np.concatenate([P @ Q, b]), rcond=1e-10)[0]


@given(cases)
def test_singular_mass_agrees_with_Udwadia_Phohomsiri(case):
    M, Q, A, b, C, rank = random_singular(*case)
    now = zw.solve(M, Q, A, b, C=C)
    wanted = phohomsiri(M, Q + C, A, b)
    np.testing.assert_allclose(now.acceleration, wanted, rtol=0, atol=1e-9 * max(1, np.abs(wanted).max()))
    np.testing.assert_allclose(A @ now.acceleration, b, rtol=0, atol=1e-11 * max(1, np.abs(b).max()))
    assert now.rank == rank
    scale = np.abs(M).max() * max(1, np.abs(now.acceleration).max())
    # the force of constraint is that of M itself, not of a stand-in, and λ carries it
    np.testing.assert_allclose(now.constraint_force, M @ now.acceleration - Q, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(A.T @ now.multipliers + C, now.constraint_force, rtol=0, atol=1e-11 * scale)
    np.testing.assert_allclose(now.null_space.T @ now.multipliers, 0, atol=1e-10 * scale)


@given(cases, st.sampled_from([0.1, 1.0, 10.0, 1000.0]))
def test_singular_mass_agrees_with_the_auxiliary_mass_for_every_alpha(case, alpha):
    M, Q, A, b, C, _ = random_singular(*case)
    auxiliary = M + alpha**2 * np.linalg.pinv(A, rcond=1e-10) @ A
    auxiliary = (auxiliary + auxiliary.T) / 2
    now, then = zw.solve(M, Q, A, b, C=C), zw.solve(auxiliary, Q, A, b, C=C)
    size = max(1, np.abs(now.acceleration).max())
    np.testing.assert_allclose(then.acceleration, now.acceleration, rtol=0, atol=1e-9 * size)
    wanted = M @ then.acceleration - Q  # the actual force, not that of the auxiliary mass
    np.testing.assert_allclose(now.constraint_force, wanted, rtol=0, atol=1e-8 * np.abs(M).max() * size)


@given(cases)
def test_singular_mass_in_other_units_of_the_coordinates(case):
    M, Q, A, b, C, rank = random_singular(*case)
    D = 2.0 ** np.random.default_rng(case[0]).integers(-10, 11, size=len(Q))
    here, there = zw.solve(M, Q, A, b, C=C), zw.solve(M * D[:, None] * D, Q * D, A * D, b, C=C * D)
    size = max(1, np.abs(here.acceleration).max())
    np.testing.assert_allclose(there.acceleration * D, here.acceleration, rtol=0, atol=1e-12 * size)
    assert there.rank == here.rank == rank


def test_singular_mass_and_nothing_free_has_no_unconstrained_acceleration():
    now = zw.solve(np.diag([1.0, 0]), [1, 2], [[0, 1]], [3])
    np.testing.assert_array_equal(now.acceleration, [1, 3])
    np.testing.assert_array_equal(now.constraint_force, [0, -2])
    np.testing.assert_array_equal(now.multipliers, [-2])
    for nothing in (now.free_acceleration, now.error, now.deviation, now.gaussian):
        assert np.isnan(nothing).all()
    assert now.residuals.constraint == 0
    assert now.residuals.equilibrium == 0
    np.testing.assert_array_equal(now.weighted_inverse, [[0], [1]])


def test_singular_mass_with_redundant_rows_and_nonideal_force():
    M = np.diag([2.0, 0, 0])
    A = [[0, 1, 0], [0, 0, 1], [0, 2, 2]]
    now = zw.solve(M, [4, 1, 1], A, [1, 2, 6], C=[2, 5, 0])
    np.testing.assert_allclose(now.acceleration, [3, 1, 2], atol=1e-15)
    np.testing.assert_allclose(now.constraint_force, [2, -1, -1], atol=1e-15)
    np.testing.assert_allclose(np.transpose(A) @ now.multipliers, [0, -6, -1], atol=1e-14)
    np.testing.assert_allclose(now.ideal_force, [0, -1, -1], atol=1e-14)
    np.testing.assert_allclose(now.nonideal_force, [2, 0, 0], atol=1e-14)
    assert now.rank == 2
    assert not now.unique.any()


def test_no_mass_at_all_where_constraints_fix_everything():
    now = zw.solve(np.zeros((2, 2)), [1, 2], [[1, 1], [1, -1]], [3, 1])
    np.testing.assert_allclose(now.acceleration, [2, 1], atol=1e-15)
    np.testing.assert_allclose(now.constraint_force, [-1, -2], atol=1e-15)


def test_undetermined_directions_are_named():
    with pytest.raises(UndeterminedError) as caught:
        zw.solve(np.diag([1.0, 0, 0]), [0, 0, 0], [[1, 1, 1]], [0])
    message = str(caught.value)
    assert "rank [M; A] = 2 < 3" in message
    assert "along coordinate 1 - coordinate 2;" in message
    assert "give these directions inertia or a constraint" in message


def test_undetermined_direction_is_named_in_the_coordinates_given():
    # kinetic energy ½(10 ẋ − ẏ)²: nothing resists motion along (1, 10), whatever the units of x and y
    with pytest.raises(UndeterminedError, match=r"along coordinate 1 \+ 0.1 coordinate 0;|along 0.1 coordinate 0 \+ "):
        zw.solve([[100, -10], [-10, 1]], [0, 0], [], [])


def test_undetermined_system_of_a_stack_is_named():
    M = np.tile(np.eye(2), (5, 1, 1))
    M[3] = np.diag([1.0, 0])
    with pytest.raises(UndeterminedError, match="M of system 3 is singular"):
        zw.solve(M, [0, 0], [[1, 0]], [0])


@pytest.mark.parametrize("form", [name for name in FORMS if name != DEFAULT])
def test_other_forms_refuse_a_singular_mass(form):
    with pytest.raises(MassError, match="needs a positive definite M, and M is singular: use form 'fundamental'"):
        zw.solve(np.diag([1.0, 0]), [1, 2], [[0, 1]], [3], form=form)


ONE_EQUATION = [name for name, form in FORMS.items() if not form.variants]
EQUATIONS = ("S0 29", "S3 24", "S3 26")


def attitude(u):
    """E of a quaternion: the angular velocity of a body is 2E u̇, and Eu = 0."""
    a, b, c, d = u
    return np.array([[-b, a, d, -c], [-c, -d, a, b], [-d, c, -b, a]])


@pytest.mark.parametrize("small", [1e-1, 1e-3, 1e-6, 1e-12])
def test_a_quaternion_has_no_Gaussian_and_no_other_form_than_the_fundamental(small):
    """M = 4EᵀJE has rank 3; the norm makes up for it. With J = 1/4 it is the sphere: ü = −|u̇|²u + EᵀEQ."""
    draw = np.random.default_rng(0)
    u = draw.normal(size=(300, 4))
    u[np.arange(300), draw.integers(4, size=300)] *= small
    u /= np.linalg.norm(u, axis=1)[:, None]
    E = np.array([attitude(one) for one in u])
    J, Q, b = draw.uniform(0.1, 1, size=(300, 3)), draw.normal(size=(300, 4)), -draw.uniform(0, 3, size=(300, 1))
    M = 4 * E.swapaxes(1, 2) @ (J[:, :, None] * E)
    M = (M + M.swapaxes(1, 2)) / 2
    now = zw.solve(M, Q, u[:, None], b)
    # E has orthonormal rows that are at right angles to u: ü = u b + Eᵀ(4J)⁻¹EQ
    spin = np.einsum("kij,kj->ki", E, Q) / (4 * J)
    wanted = u * b + np.einsum("kij,ki->kj", E, spin)
    np.testing.assert_allclose(now.acceleration, wanted, rtol=0, atol=1e-12)
    for nothing in (now.gaussian, now.free_acceleration, now.error, now.deviation):
        assert np.isnan(nothing).all()
    for k in range(0, 300, 10):
        for form in [name for name in FORMS if name != DEFAULT]:
            with pytest.raises(MassError, match="M is singular"):
                zw.solve(M[k], Q[k], u[[k]], b[k], form=form)


@settings(max_examples=40)
@given(st.integers(0, 2**31), st.sampled_from([1e-4, 1e-8, 1e-10, 1e-12, 1e-13]))
def test_near_a_singular_mass_every_form_is_right(seed, least):
    """Against 60 digits; S3 (24) and (26) go through a = M⁻¹Q, which is as large as M is near a singular one."""
    draw = np.random.default_rng(seed)
    n, m = 5, 2
    V, D = np.linalg.qr(draw.normal(size=(n, n)))[0], 2.0 ** draw.integers(-8, 9, size=n)
    w = np.append(least, draw.uniform(0.1, 1, size=n - 1))
    M = (V * w) @ V.T
    M = (M + M.T) / 2 * D * D[:, None]
    Q, A, b = draw.normal(size=n) * D, draw.normal(size=(m, n)) * D, draw.normal(size=m)
    wanted = truth(System(M, Q, A, b, np.zeros(n), A, np.eye(m)))
    size = np.abs(wanted.acceleration * D).max() + np.abs(Q / D).max()
    allowed = dict.fromkeys(ONE_EQUATION, 1e-12) | {
        "S0 29": 1e-8,
        "S3 24": 1e-13 / least**1.5,
        "S3 26": 1e-13 / least**2,
    }
    for form in (*ONE_EQUATION, *EQUATIONS):
        choice = {"form": "generalized-inverse", "equation": form} if form in EQUATIONS else {"form": form}
        now = zw.solve(M, Q, A, b, **choice)
        assert np.abs((now.acceleration - wanted.acceleration) * D).max() <= allowed[form] * size, form
        assert now.gaussian >= 0
    assert zw.solve(M, Q, A, b).gaussian == pytest.approx(wanted.gaussian, rel=1e-9)


def test_all_forms_do_without_common_units():
    """One length in nanometres beside another in light years: the masses differ by fifty decades."""
    M = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
    Q, A, b = np.array([1.0, -2.0, 0.5]), np.array([[1.0, 1.0, -2.0]]), np.array([0.25])
    D = np.array([1e-25, 1.0, 1e25])
    wanted = zw.solve(M, Q, A, b)
    forms = [{"form": form} for form in ONE_EQUATION]
    for choice in forms + [{"form": "generalized-inverse", "equation": equation} for equation in EQUATIONS]:
        now = zw.solve(M * D * D[:, None], Q * D, A * D, b, **choice)
        np.testing.assert_allclose(now.acceleration * D, wanted.acceleration, rtol=1e-13)
        assert now.gaussian == pytest.approx(wanted.gaussian, rel=1e-12)


def test_masses_too_different_for_a_root_are_refused_where_an_inverse_is_given():
    """With an inverse that is given M^{1/2} is that of M itself, whatever its units."""
    M = np.array([[2.0, 1.0, 1.0], [1.0, 3.0, 1.0], [1.0, 1.0, 2.0]])
    D = np.array([1e-25, 1.0, 1e25])
    with pytest.raises(MassError, match="no root in double precision"):
        zw.solve(
            M * D * D[:, None],
            [1, 0, 0],
            [[1, 0, 0]],
            [1],
            form="generalized-inverse",
            inverse=(np.eye(3)[:, :1], None),
        )


def test_stack_of_regular_and_singular_masses_is_solved_like_one_by_one():
    draw = np.random.default_rng(1)
    M = np.tile(np.diag([1.0, 2, 3]), (6, 1, 1))
    M[[1, 4], 2, 2] = 0
    Q, A, b = draw.normal(size=(6, 3)), np.tile([[0.0, 1, 1], [1, 0, 1]], (6, 1, 1)), draw.normal(size=(6, 2))
    A[4, 1] = 2 * A[4, 0]
    b[4, 1] = 2 * b[4, 0]
    stack = zw.solve(M, Q, A, b)
    for k in range(6):
        one = zw.solve(M[k], Q[k], A[k], b[k])
        for name in ("acceleration", "free_acceleration", "gaussian", "multipliers", "constraint_force", "unique"):
            np.testing.assert_array_equal(getattr(stack, name)[k], getattr(one, name))
    assert np.isnan(stack.gaussian).tolist() == [False, True, False, False, True, False]


def test_masses_that_are_small_are_not_singular():
    now = zw.solve(np.diag([1.0, 1e-20]), [1, 1e-20], [], [])
    np.testing.assert_array_equal(now.acceleration, [1, 1])
