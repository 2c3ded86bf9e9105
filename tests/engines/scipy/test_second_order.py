"""Radau's method in positions alone is Radau's method."""

import numpy as np
import pytest
from scipy.integrate import Radau, solve_ivp
from scipy.sparse import csc_matrix

import zwang as zw
from zwang import dot
from zwang.engines.scipy.second_order import Matrices, SecondOrderRadau

rng = np.random.default_rng(4)
N = 12
STIFFNESS = rng.normal(size=(N, N))
STIFFNESS = STIFFNESS @ STIFFNESS.T * 100
DRAG = rng.normal(size=(N, N)) / 5 + np.eye(N)


def slope(t, y):
    q, v = y[:N], y[N:]
    return np.concatenate([v, -STIFFNESS @ np.sin(q) - DRAG @ v])


def jacobian(t, y):
    return np.block([[np.zeros((N, N)), np.eye(N)], [-STIFFNESS * np.cos(y[:N]), -DRAG]])


def test_it_takes_the_same_steps():
    start = rng.normal(size=2 * N) / 10
    plain, ours = (
        solve_ivp(slope, (0, 1), start, method=method, jac=jacobian, rtol=1e-8, atol=1e-8)
        for method in (Radau, SecondOrderRadau)
    )
    assert len(plain.t) == len(ours.t)
    assert plain.nlu == ours.nlu
    np.testing.assert_allclose(ours.y[:, -1], plain.y[:, -1], rtol=0, atol=1e-10)


def test_its_factors_solve_what_they_are_made_of():
    solver = SecondOrderRadau(slope, 0.0, rng.normal(size=2 * N), 1.0, jac=jacobian)
    J = jacobian(0.0, solver.y)
    for c in (3.0, 2.0 + 1.5j):
        A, r = c * np.eye(2 * N) - J, rng.normal(size=2 * N) + (0j if isinstance(c, complex) else 0)
        np.testing.assert_allclose(A @ solver.solve_full(solver.full_factors(A.copy()), r), r, atol=1e-10)


ROWS = 4
MASS = np.diag(rng.uniform(1, 2, N))
A = rng.normal(size=(ROWS, N))
SADDLE = np.block([[MASS, -A.T], [A, np.zeros((ROWS, ROWS))]])
ZEROTH, FIRST = (rng.normal(size=(N + ROWS, N)) for _ in range(2))


def without_constraints(c):
    solver = SecondOrderRadau(slope, 0.0, np.linspace(-1, 1, 2 * N), 1.0, jac=jacobian)
    J = jacobian(0.0, solver.y)
    factors = solver.full_factors(c * np.eye(2 * N) - J)
    return J[N:], lambda right: solver.solve_full(factors, right)


def with_constraints(c):
    below = np.zeros((N + ROWS, ROWS))
    second, border = SADDLE.copy(), SADDLE.copy()
    second[:, N:], border[:, :N] = 0, 0
    parts = [second, *(np.hstack([x, below]) for x in (FIRST, ZEROTH)), border]
    matrices = Matrices(N, *map(csc_matrix, parts))
    factors = matrices.factors(c)
    return -np.linalg.solve(SADDLE, np.hstack([ZEROTH, FIRST]))[:N], lambda right: matrices.solve(c, factors[2], right)


@pytest.mark.parametrize("turn", [1.0, 0.6 + 0.8j])
@pytest.mark.parametrize("c", [1e-2, 1.0, 1e3, 1e8, 1e17])
@pytest.mark.parametrize("share", [0.0, 1e-8, 1.0, 1e8])
@pytest.mark.parametrize("system", [without_constraints, with_constraints])
def test_both_equations_are_solved_for_short_steps_and_long(system, share, c, turn):
    # The laws are the equations themselves: c q − v = r and c v − J_q q − J_v v = s, as far as their terms round.
    c = c * turn
    J, solve = system(c)
    right = rng.normal(size=2 * N) + 1j * rng.normal(size=2 * N) * (turn != 1)
    right[:N] *= share
    right = right if turn != 1 else right.real
    q, v = np.split(solve(right), 2)
    r, s = np.split(right, 2)
    rounding = 1e-12 * np.linalg.cond(J)
    for terms in ([c * q, -v, -r], [c * v, -J[:, :N] @ q, -J[:, N:] @ v, -s]):
        assert np.abs(sum(terms)).max() < rounding * max(np.abs(term).max() for term in terms)


@pytest.mark.both_codes
@pytest.mark.parametrize("tol", [1e-4, 1e-6, 1e-9, 1e-12])
def test_constrained_motion_arrives_by_any_steps_however_short_the_last(code, tol):
    # Two masses 1, bound together, on a spring 2: cos t. 125 steps of 4e-4 end a rounding before 0.05.
    x, y = zw.coordinates("x y")
    pair = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=x**2, constraints=[x - y])
    start = {x: 1, y: 1, dot(x): 0, dot(y): 0}
    motion = zw.simulate(pair, start, 0.05, method="radau", tol=tol, samples=2, max_step=4e-4)
    assert motion.attrs["message"] == "finished at t = 0.05."
    np.testing.assert_allclose(motion.q.values[-1], np.cos(0.05), rtol=0, atol=10 * tol)
