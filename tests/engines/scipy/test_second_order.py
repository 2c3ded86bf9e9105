"""Radau's method in positions alone is Radau's method."""

import numpy as np
from scipy.integrate import Radau, solve_ivp

from zwang.engines.scipy.second_order import SecondOrderRadau

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
