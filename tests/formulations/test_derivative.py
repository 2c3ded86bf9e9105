"""Derivatives of accelerations: the printed formula, difference quotients, redundant rows, refusals."""

import numpy as np
import pytest

import zwang as zw
from zwang.errors import InconsistentError, InputError


def family(seed, n=5, r=2, m=4, singular=False):
    """Smooth data (M, Q, A, b, C)(θ) with A = X(θ)G(θ) of constant rank r and b = X(θ)g(θ)."""
    rng = np.random.default_rng(seed)
    W, dW = rng.normal(size=(2, n, n))
    X, dX, X2 = rng.normal(size=(3, m, r))
    G, dG, G2 = rng.normal(size=(3, r, n))
    Q, dQ, C, dC = rng.normal(size=(4, n))
    right, d_right = rng.normal(size=(2, r))
    inertia = np.diag([0.0] + [1.0] * (n - 1)) if singular else np.eye(n)

    def data(θ):
        w = (W + np.sin(θ) * dW) @ inertia
        M = w.T @ w + 0.5 * inertia
        x, g = X + θ * dX + θ**2 * X2, G + np.sin(θ) * dG + θ**2 * G2
        return M, Q + θ * dQ, x @ g, x @ (right + np.cos(θ) * d_right), C + np.exp(θ) * dC

    return data


def difference(f, h=2e-3):
    """df/dθ at 0, of eighth order."""
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    return sum(c * (f(i * h) - f(-i * h)) for i, c in weights.items()) / h


def changes(data):
    names = ("dM", "dQ", "dA", "db", "dC")
    return {name: difference(lambda θ, i=i: data(θ)[i]) for i, name in enumerate(names)}


def solution(data, θ):
    M, Q, A, b, C = data(θ)
    return zw.solve(M, Q, A, b, C=C, rank_tol=1e-9)


def derivative(data, **options):
    M, Q, A, b, C = data(0.0)
    return zw.solve_derivative(M, Q, A, b, C=C, **changes(data), **options)


REDUNDANT = [(2, 4, False), (3, 3, False), (1, 3, False), (0, 0, False), (5, 7, False)]
SINGULAR = [(r, m, True) for r, m, _ in REDUNDANT if r]  # without constraints M must be regular


@pytest.mark.parametrize(("r", "m", "singular"), REDUNDANT + SINGULAR)
def test_difference_quotients(r, m, singular):
    for seed in range(5):
        data = family(seed, r=r, m=m, singular=singular)
        got = derivative(data, rank_tol=1e-9)
        acceleration = difference(lambda θ, data=data: solution(data, θ).acceleration)
        force = difference(lambda θ, data=data: solution(data, θ).constraint_force)
        size = max(1, np.abs(force).max(), np.abs(acceleration).max())
        np.testing.assert_allclose(got.acceleration, acceleration, atol=1e-8 * size)
        np.testing.assert_allclose(got.constraint_force, force, atol=1e-8 * size)


def test_the_printed_formula_for_any_multipliers():
    # δq̈ = K₁(δb − δA q̈) + (I − K₁A)M⁻¹(δ(Q + C) − δM q̈ + δAᵀλ), with λ and with λ + Nw
    data = family(7)
    M, _, A, _, _ = data(0.0)
    d = changes(data)
    now = solution(data, 0.0)
    K1, q2 = now.weighted_inverse, now.acceleration
    got = derivative(data)
    for w in (0.0, 1.0, -30.0):
        λ = now.multipliers + now.null_space @ np.full(2, w)
        force = d["dQ"] + d["dC"] - d["dM"] @ q2 + d["dA"].T @ λ
        printed = K1 @ (d["db"] - d["dA"] @ q2) + (np.eye(5) - K1 @ A) @ np.linalg.solve(M, force)
        np.testing.assert_allclose(got.acceleration, printed, atol=1e-8)


def test_a_pendulum_in_closed_form():
    # at the lowest point q̈ = (0, v²/L), whatever g: longer by δL, faster by δv, heavier by δg
    v, L, g = 3.0, 2.0, 10.0
    got = zw.solve_derivative(
        np.eye(2), [0, -g], [[0, -L]], [-(v**2)], dA=[[[0, -1]], [[0, 0]], [[0, 0]]], db=[[0], [-2 * v], [0]],
        dQ=[[0, 0], [0, 0], [0, -1]],
    )  # fmt: skip
    np.testing.assert_allclose(got.acceleration, [[0, -(v**2) / L**2], [0, 2 * v / L], [0, 0]], atol=1e-14)
    np.testing.assert_allclose(got.constraint_force, [[0, -(v**2) / L**2], [0, 2 * v / L], [0, 1]], atol=1e-14)


def test_directions_and_stacks_broadcast():
    systems = [family(seed) for seed in range(3)]
    M, Q, A, b, C = (np.stack(x) for x in zip(*(data(0.0) for data in systems), strict=True))
    each = [changes(data) for data in systems]
    names = list(each[0])
    along = {name: np.stack([d[name] for d in each]) for name in names}
    expected = np.stack([derivative(data).acceleration for data in systems])
    one = zw.solve_derivative(M, Q, A, b, C=C, **along)
    np.testing.assert_allclose(one.acceleration, expected, atol=1e-9)
    # two directions for all systems, and two for one system
    two = zw.solve_derivative(M, Q, A, b, C=C, **{name: np.stack([x, -2 * x]) for name, x in along.items()})
    np.testing.assert_allclose(two.acceleration, [expected, -2 * expected], atol=1e-9)
    assert two.constraint_force.shape == (2, 3, 5)
    both = {name: np.stack([x[1], -2 * x[1]]) for name, x in along.items()}
    single = zw.solve_derivative(M[1], Q[1], A[1], b[1], C=C[1], **both)
    np.testing.assert_allclose(single.acceleration, [expected[1], -2 * expected[1]], atol=1e-9)
    # a change that all systems share
    shared = zw.solve_derivative(M, Q, A, b, C=C, dQ=np.eye(5)[:, None, :])
    assert shared.acceleration.shape == (5, 3, 5)


def test_stacks_of_different_ranks():
    M, Q = np.eye(3), [1.0, 2.0, 3.0]
    A = np.array([[[1.0, 1, 0], [2, 2, 0]], [[1, 1, 0], [0, 1, 1]]])
    dQ = np.array([1.0, 0, 0])
    got = zw.solve_derivative(M, Q, A, [0.0, 0.0], dQ=dQ)
    for A_one, x in zip(A, got.acceleration, strict=True):
        np.testing.assert_allclose(x, zw.solve(M, dQ, A_one, [0.0, 0.0]).acceleration, atol=1e-15)


def test_scaling_rows_changes_nothing():
    data = family(3)
    M, Q, A, b, C = data(0.0)
    d = changes(data)
    scale = np.array([1e6, 1e-6, 1.0, 1e3])
    one = derivative(data)
    scaled = d | {"dA": d["dA"] * scale[:, None], "db": d["db"] * scale}
    other = zw.solve_derivative(M, Q, A * scale[:, None], b * scale, C=C, **scaled)
    np.testing.assert_allclose(one.acceleration, other.acceleration, atol=1e-10)


def test_nothing_changes_if_nothing_is_given():
    got = zw.solve_derivative(np.eye(2), [1, 2], [[1, 0]], [0])
    assert not got.acceleration.any()
    assert not got.constraint_force.any()


def test_a_change_of_rank_is_refused():
    with pytest.raises(InputError, match=r"rows 0 and 2 depend on each other in A, but not in A \+ ε dA: the rank"):
        zw.solve_derivative(
            np.eye(3), [0, 0, 0], [[1, 0, 0], [0, 1, 0], [1, 0, 0]], [0, 0, 0],
            dA=[[0, 0, 0], [0, 0, 1], [0, 0, 1]],
        )  # fmt: skip
    with pytest.raises(InputError, match=r"row 1 \(zero in A\).*at \(1,\) of \(2,\)"):
        zw.solve_derivative(np.eye(2), [0, 0], [[1, 0], [0, 0]], [0, 0], dA=[np.zeros((2, 2)), [[0, 0], [0, 1]]])
    # within the other rows it may move: then the rank stays
    zw.solve_derivative(np.eye(2), [0, 0], [[1, 0], [0, 0]], [0, 0], dA=[[0, 0], [3, 0]])


def test_right_hand_sides_that_move_apart_are_refused():
    with pytest.raises(InconsistentError, match="rows 0 and 1 depend on each other, but db moves") as caught:
        zw.solve_derivative(np.eye(2), [0, 0], [[1, 1], [2, 2]], [1, 2], db=[1, 2.1])
    assert caught.value.rows == (0, 1)
    # the second row turns into three times the first: its right-hand side has to follow
    with pytest.raises(InconsistentError):
        zw.solve_derivative(np.eye(2), [0, 0], [[1, 1], [2, 2]], [1, 2], dA=[[0, 0], [1, 1]])
    zw.solve_derivative(np.eye(2), [0, 0], [[1, 1], [2, 2]], [1, 2], dA=[[0, 0], [1, 1]], db=[0, 1])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dQ": [1, 2, 3]}, r"dQ has shape \(3,\): \(…, 2\) is needed, as of Q"),
        ({"dA": [1.0, 2.0]}, r"dA has shape \(2,\)"),
        ({"dQ": [np.nan, 0]}, r"dQ\[0\] is nan"),
        ({"dM": [[0, 1], [0, 0]]}, "dM is not symmetric"),
        ({"dQ": np.zeros((2, 2)), "db": np.zeros((3, 1))}, "do not broadcast"),
        ({"dC": "ab"}, "dC is not an array of real numbers"),
    ],
)
def test_wrong_changes_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        zw.solve_derivative(np.eye(2), [1, 2], [[1, 0]], [0], **change)
