"""One-sided rows: Gauss's principle with inequalities (G12), judged by the conditions of Karush, Kuhn and Tucker."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

import zwang as zw
from zwang.errors import InconsistentError, InfeasibleError, InputError, UndeterminedError
from zwang.formulations.forms import DEFAULT, FORMS

sizes = st.tuples(st.integers(0, 2**31), st.integers(1, 8), st.integers(1, 12), st.floats(0.3, 1.0))


def random_contact(seed: int, n: int, m: int, share: float, margins: tuple[float, ...]):
    """Redundant rows, a share of them one-sided, all met by one acceleration with one of the margins to spare."""
    draw = np.random.default_rng(seed)
    rank = int(draw.integers(1, min(m, n) + 1))
    X = draw.normal(size=(n, n))
    M = X @ X.T + 0.1 * np.eye(n)
    A = (draw.integers(-3, 4, size=(m, rank)) @ draw.integers(-3, 4, size=(rank, n))).astype(float)
    one_sided = draw.random(m) < share
    b = A @ (draw.integers(-4, 5, size=n) / 2)
    b[one_sided] -= draw.choice(margins, size=one_sided.sum())
    return M, draw.normal(size=n), A, b, one_sided


def require_kkt(M, Q, A, b, one_sided, now, unit=1.0):
    x, lam = now.acceleration, now.multipliers
    size = unit + np.abs(b) + np.abs(A) @ np.abs(x)
    slack = A @ x - b
    assert (np.where(one_sided, np.minimum(slack, 0), np.abs(slack)) >= -1e-13 * size).all()
    assert (np.abs(slack[~one_sided]) <= 1e-13 * size[~one_sided]).all()
    assert (lam[one_sided] >= 0).all()
    assert (lam[one_sided] * slack[one_sided] <= 1e-13 * np.abs(lam).max(initial=0) * size.max()).all()
    force = np.abs(M) @ np.abs(x) + np.abs(Q)
    assert np.abs(M @ x - Q - A.T @ lam).max() <= 1e-12 * (unit + force.max() + (np.abs(A).T @ np.abs(lam)).max())


@given(sizes)
def test_G12_conditions_of_the_minimum_hold(case):
    M, Q, A, b, one_sided = random_contact(*case, margins=(0, 0, 1, 2))
    now = zw.solve(M, Q, A, b, one_sided=one_sided)
    require_kkt(M, Q, A, b, one_sided, now)
    # every member λ + N w serves as well
    np.testing.assert_allclose(A.T @ now.null_space, 0, atol=1e-12)
    assert (now.multipliers[now.unique & (A @ now.acceleration - b > 1e-6)] == 0).all()


@given(sizes, st.integers(-12, 12))
def test_G12_does_not_depend_on_the_unit_of_acceleration(case, power):
    M, Q, A, b, one_sided = random_contact(*case, margins=(0, 1, 2))
    unit = 2.0 ** (3 * power)
    here, there = (zw.solve(M, Q * u, A, b * u, one_sided=one_sided) for u in (1.0, unit))
    require_kkt(M, Q * unit, A, b * unit, one_sided, there, unit)
    np.testing.assert_allclose(there.acceleration / unit, here.acceleration, rtol=0, atol=1e-12)


def by_nnls(M, Q, A, b, one_sided):
    """The same minimum by least-distance programming (Lawson and Hanson), equalities eliminated first."""
    L = np.linalg.cholesky(M)
    W, start = np.linalg.solve(L, A.T).T, np.linalg.solve(L, Q)
    start = start + np.linalg.pinv(W[~one_sided], rcond=1e-10) @ (b - W @ start)[~one_sided]
    _, s, Vt = np.linalg.svd(W[~one_sided])
    N = Vt[np.count_nonzero(s > 1e-10 * s.max(initial=1e-300)) :].T
    G, h = W[one_sided] @ N, (b - W @ start)[one_sided]
    free = np.linalg.norm(G, axis=1) > 1e-9 * np.linalg.norm(W[one_sided], axis=1)
    G, h = G[free], h[free]
    if not G.size or (h <= 0).all():
        return np.linalg.solve(L.T, start)
    E = np.vstack([G.T, h])
    unit = np.eye(len(E))[-1]
    r = E @ nnls(E, unit)[0] - unit
    return np.linalg.solve(L.T, start - N @ r[:-1] / r[-1])


@given(sizes)
def test_G12_agrees_with_least_distance_programming(case):
    # with room to spare: where rows leave no room, NNLS itself is unreliable
    M, Q, A, b, one_sided = random_contact(*case, margins=(0.5, 1, 2))
    now = zw.solve(M, Q, A, b, one_sided=one_sided)
    wanted = by_nnls(M, Q, A, b, one_sided)
    np.testing.assert_allclose(now.acceleration, wanted, rtol=0, atol=1e-8 * max(1, np.abs(wanted).max()))


@given(sizes)
def test_G12_order_of_rows_does_not_matter(case):
    M, Q, A, b, one_sided = random_contact(*case, margins=(0, 1))
    order = np.random.default_rng(case[0]).permutation(len(b))
    here = zw.solve(M, Q, A, b, one_sided=one_sided)
    there = zw.solve(M, Q, A[order], b[order], one_sided=one_sided[order])
    np.testing.assert_allclose(there.acceleration, here.acceleration, rtol=0, atol=1e-11)


def test_G12_row_that_repeats_an_equality_is_no_hindrance():
    M = np.diag([1.0, 3.0])
    for sign in (1, -1):
        A, b = [[1, 2], [sign / 3, sign * 2 / 3]], [1, sign / 3]
        now = zw.solve(M, [5, 1], A, b, one_sided=[False, True])
        np.testing.assert_allclose(now.acceleration, zw.solve(M, [5, 1], A[:1], b[:1]).acceleration, atol=1e-15)
        require_kkt(M, np.array([5, 1]), np.array(A), np.array(b), np.array([False, True]), now)


@given(st.integers(0, 2**31), st.integers(3, 7))
def test_G12_rows_that_the_equalities_decide_leave_the_others_alone(seed, n):
    """What is left of such a row is rounding, and rounding has no direction."""
    draw = np.random.default_rng(seed)
    M, Q, A, b, _ = random_contact(seed, n, 3, 1.0, (0,))
    equal, pushing = A[:1] / 3, draw.normal(size=(2, n))
    lower = pushing @ np.linalg.solve(M, Q) + 1
    repeated = np.outer(draw.normal(size=4), equal)
    here = zw.solve(M, Q, np.vstack([equal, pushing]), [b[0] / 3, *lower], one_sided=[False, True, True])
    there = zw.solve(
        M,
        Q,
        np.vstack([equal, repeated, pushing]),
        [b[0] / 3, *(repeated @ here.acceleration), *lower],
        one_sided=[False] + [True] * 6,
    )
    size = max(1, np.abs(here.acceleration).max())
    np.testing.assert_allclose(there.acceleration, here.acceleration, rtol=0, atol=1e-11 * size)


def test_G12_rounding_is_no_contradiction():
    up, down = 0.3 * (1 + 2**-52), 0.3 * (1 - 2**-53)
    now = zw.solve([[1]], [0.3], [[1], [-1]], [up, -down], one_sided=[True, True])
    np.testing.assert_allclose(now.acceleration, [0.3], rtol=1e-15)


def test_G12_two_opposite_rows_act_as_an_equality():
    M = np.diag([1.0, 3.0])
    for Q in ([5, 1], [-5, 1]):
        now = zw.solve(M, Q, [[1, 2], [-1, -2]], [1, -1], one_sided=[True, True])
        np.testing.assert_allclose(now.acceleration, zw.solve(M, Q, [[1, 2]], [1]).acceleration, atol=1e-14)
        assert (now.multipliers >= 0).all()


def test_G12_two_equal_rows_share_the_force():
    now = zw.solve(np.eye(2), [0, -6], [[0, 1], [0, 1]], [0, 0], one_sided=[True, True])
    np.testing.assert_allclose(now.multipliers, [3, 3], atol=1e-14)
    assert now.unique.tolist() == [False, False]


def test_G12_a_row_that_is_just_grazed_carries_no_force():
    now = zw.solve(np.eye(2), [1, 0], [[0, 1]], [0], one_sided=[True])
    np.testing.assert_array_equal(now.acceleration, [1, 0])
    np.testing.assert_array_equal(now.multipliers, [0])


def test_G12_nonideal_force_presses_on_the_contact():
    now = zw.solve(np.eye(2), [0, 0], [[0, 1]], [0], one_sided=[True], C=[1, -2])
    np.testing.assert_allclose(now.multipliers, [2], atol=1e-15)
    np.testing.assert_allclose(now.acceleration, [1, 0], atol=1e-15)
    np.testing.assert_allclose(now.constraint_force, [1, 0], atol=1e-15)


def test_G12_stack_of_contacts():
    Q = np.array([[0, -1], [0, 1.0], [2, -3]])
    now = zw.solve(np.eye(2), Q, [[0, 1]], [0], one_sided=[True])
    np.testing.assert_allclose(now.acceleration, [[0, 0], [0, 1], [2, 0]], atol=1e-15)
    np.testing.assert_allclose(now.multipliers, [[1], [0], [3]], atol=1e-15)
    assert now.rank.tolist() == [1, 0, 1]  # of the rows that push


@pytest.mark.parametrize("form", [name for name in FORMS if name != DEFAULT])
def test_G12_every_form(form):
    M, Q, A, b, one_sided = random_contact(5, 5, 8, 0.7, (0, 1))
    now = zw.solve(M, Q, A, b, one_sided=one_sided, form=form)
    np.testing.assert_allclose(now.acceleration, zw.solve(M, Q, A, b, one_sided=one_sided).acceleration, atol=1e-11)


def test_infeasible_rows_are_named():
    with pytest.raises(InfeasibleError, match="rows row 0, row 2 together with the equalities: they push against"):
        zw.solve(np.eye(2), [0, 0], [[1, 0], [0, 1], [-1, 0]], [1, 5, 0], one_sided=[True] * 3)


def test_infeasible_against_an_equality_is_named():
    with pytest.raises(InfeasibleError, match=r"row 1 is one-sided and cannot be met: the equalities hold it 2 below"):
        zw.solve(np.eye(2), [0, 0], [[1, 1], [1, 1]], [1, 3], one_sided=[False, True])


def test_infeasible_zero_row():
    with pytest.raises(InfeasibleError, match="row 0 is one-sided and cannot be met"):
        zw.solve(np.eye(2), [0, 0], [[0, 0]], [1], one_sided=[True])


def test_infeasible_when_no_freedom_is_left():
    with pytest.raises(InfeasibleError, match="row 2"):
        zw.solve(np.eye(2), [0, 0], [[1, 0], [0, 1], [1, 1]], [0, 0, 1], one_sided=[False, False, True])


def test_infeasible_system_of_a_stack_is_named():
    b = np.zeros((4, 2))
    b[2] = [1, 1]
    with pytest.raises(InfeasibleError, match="of system 2"):
        zw.solve(np.eye(1), [0], [[1], [-1]], b, one_sided=[True, True])


@given(st.integers(0, 2**31), st.integers(1, 6))
def test_infeasible_random_rows(seed, n):
    """rows·x ≥ 1 with a positive combination of the rows equal to zero."""
    draw = np.random.default_rng(seed)
    A = draw.integers(-3, 4, size=(3, n)).astype(float)
    A = np.vstack([A, -A.sum(axis=0)])
    with pytest.raises(InfeasibleError):
        zw.solve(np.eye(n), draw.normal(size=n), A, np.ones(4), one_sided=[True] * 4)


def test_rows_that_idle_take_no_part():
    now = zw.solve(np.eye(2), [0, -1], [[0, 0], [0, 1]], [-1, 0], one_sided=[True, True])
    np.testing.assert_allclose(now.multipliers, [0, 1])
    assert now.rank == 1


def test_singular_mass_must_be_made_up_for_by_equalities():
    M = np.diag([1.0, 0.0])
    now = zw.solve(M, [1, 0], [[0, 1], [1, 0]], [2, 3], one_sided=[False, True])
    np.testing.assert_allclose(now.acceleration, [3, 2], atol=1e-15)
    np.testing.assert_allclose(now.multipliers, [0, 2], atol=1e-15)
    with pytest.raises(UndeterminedError, match="coordinate 1"):
        zw.solve(M, [1, 0], [[0, 1]], [2], one_sided=[True])


def test_flags_are_flags_and_not_indices():
    with pytest.raises(InputError, match=r"one_sided has shape \(2,\) and type int64: give True or False for each"):
        zw.solve(np.eye(2), [0, 0], np.eye(2), [0, 0], one_sided=[0, 1])
    with pytest.raises(InputError, match=r"one_sided has shape \(1,\)"):
        zw.solve(np.eye(2), [0, 0], np.eye(2), [0, 0], one_sided=[True])


@given(st.integers(0, 2**31), st.floats(-40, 0), st.floats(-0.9, 0.9))
def test_a_coordinate_as_light_as_rounding_that_rows_hold_hides_no_contact(seed, lightness, coupled):
    """As the last Euler parameter of a body that lies: its mass, and its entries in other rows, are rounding.

    It may be coupled with a heavy one, too, as Euler parameters are.
    """
    draw = np.random.default_rng(seed)
    light = 10.0**lightness
    M = np.diag([*draw.uniform(0.5, 2, 2), light, *draw.uniform(0.01, 0.1, 2)])
    M[2, 3] = M[3, 2] = coupled * np.sqrt(light * M[3, 3])
    Q = np.array([0, -9.81, draw.normal() * 1e-3, *draw.normal(size=2)])
    contacts = np.column_stack([np.zeros(2), np.ones(2), draw.normal(size=2) * 1e-16, [-0.3, 0.3], draw.normal(size=2)])
    held = np.concatenate([[0, 0, 1], draw.normal(size=2) * 1e-16])
    A, b = np.vstack([held, contacts]), draw.normal(size=3) * 1e-2
    now = zw.solve(M, Q, A, b, one_sided=[False, True, True])
    np.testing.assert_allclose(held @ now.acceleration, b[0], rtol=0, atol=1e-11)
    # without that coordinate: which of the contacts push is found by trying (SciPy's nnls on the dual problem)
    heavy = [0, 1, 3, 4]
    m, rows = np.diag(M)[heavy], contacts[:, heavy]
    loads = Q[heavy] - M[heavy, 2] * b[0]
    gap = b[1:] - rows @ (loads / m)
    root = np.linalg.cholesky((rows / m) @ rows.T)
    push = nnls(root.T, np.linalg.solve(root, gap))[0]
    np.testing.assert_allclose(now.acceleration[heavy], (loads + rows.T @ push) / m, rtol=0, atol=1e-8)


def test_rows_at_odds_are_refused_beside_a_coordinate_as_light_as_rounding():
    M = np.diag([1.0, 2e-33, 0.01])
    A = np.array([[0, 1, 3e-16], [1, 7e-17, 0.2], [2, 14e-17, 0.4]])
    with pytest.raises(InconsistentError, match="contradicts"):
        zw.solve(M, [-9.81, 5e-4, 0], A, [-0.01, 0, 0.5])
