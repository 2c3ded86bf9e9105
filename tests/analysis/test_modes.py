"""Modes: closed forms, orthogonal by mass where they should be, zeros counted and named."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import zwang as zw
from tests.analysis.systems import REFERENCES, VARIANTS, chain, disc, hanging
from zwang import dot

x, y, u = zw.coordinates("x y u")
TWO = (dot(x) ** 2 + dot(y) ** 2) / 2


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_chain_swings_with_the_zeros_of_laguerre_s_polynomial(variant):
    system = variant(chain())
    found = zw.modes(system, hanging(system))
    expected = [float(w) for w in REFERENCES["B1 N-pendulum"]["values"]]
    assert found.frequency.values[::2] == pytest.approx(expected, rel=2e-14)
    assert found.eigenvalue.values.imag[1::2] == pytest.approx(-np.array(expected), rel=2e-14)
    assert np.abs(found.damping.values).max() == 0
    assert int(found.zeros) == 0
    shapes = found.shape.values[::2].real
    assert shapes @ shapes.T == pytest.approx(np.eye(5), abs=1e-12)  # unit masses
    # the lowest mode of all masses goes to one side, the highest alternates
    assert (shapes[0, :5] > 0).all()
    assert (np.sign(shapes[4, :5]) == [1, -1, 1, -1, 1]).all() or (np.sign(shapes[4, :5]) == [-1, 1, -1, 1, -1]).all()


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_modes_are_orthogonal_by_mass_also_where_frequencies_are_double(seed):
    rng = np.random.default_rng(seed)
    z = zw.coordinates("z")
    X = rng.standard_normal((3, 3))
    M = X @ X.T + np.eye(3)
    L = np.linalg.cholesky(M)
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    K = L @ Q @ np.diag([4.0, 4.0, 9.0]) @ Q.T @ L.T
    q, v = sp.Matrix([x, y, z]), sp.Matrix([dot(x), dot(y), dot(z)])
    system = zw.System((x, y, z), kinetic=(v.T * sp.Matrix(M) * v)[0] / 2, potential=(q.T * sp.Matrix(K) * q)[0] / 2)
    found = zw.modes(system, {x: 0, y: 0, z: 0})
    assert found.frequency.values == pytest.approx([2, 2, 2, 2, 3, 3], rel=1e-12)
    W = found.shape.values[::2].real
    products = W @ M @ W.T
    assert products == pytest.approx(np.eye(3), abs=1e-11)


def test_damped_modes():
    """x'' + 2ζω x' + ω² x = 0."""
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=8 * x**2, forces={x: -dot(x) * sp.Rational(4, 5)})
    found = zw.modes(system, {x: 0})
    assert found.frequency.values == pytest.approx([4, 4], rel=1e-14)
    assert found.damping.values == pytest.approx([0.1, 0.1], rel=1e-14)
    assert found.shape.values == pytest.approx(np.ones((2, 1)), abs=1e-14)


def test_shapes_of_damped_modes_are_motions():
    """w e^{λt} obeys M w λ² + D w λ + K w = 0, with unequal dampers and a constraint twice."""
    system = zw.System(
        (x, y, u), kinetic=TWO + dot(u) ** 2, potential=x**2 + 2 * y**2 + 3 * u**2,
        forces={x: -0.3 * dot(x), y: -0.1 * (dot(y) - dot(x))},
        constraints={"sum": u - x - y, "twice": 2 * (u - x - y)},
    )  # fmt: skip
    found = zw.modes(system, {x: 0, y: 0, u: 0})
    M, K = np.diag([1, 1, 2]), np.diag([2, 4, 6])
    D = np.array([[0.3, 0, 0], [-0.1, 0.1, 0], [0, 0, 0]])
    free = np.array([[1, 0, 1], [0, 1, 1]])
    for value, w in zip(found.eigenvalue.values, found.shape.values, strict=True):
        assert np.abs(free @ (M * value**2 + D * value + K) @ w).max() < 1e-13
        assert abs(w[2] - w[0] - w[1]) < 1e-14
        assert (w.conj() @ M @ w).real == pytest.approx(1, rel=1e-13)


def test_zeros_of_families_are_zero_counted_and_named():
    pair = zw.System((x, y), kinetic=TWO, potential=(x - y - 1) ** 2)
    found = zw.modes(pair, {x: 1, y: 0})
    assert (int(found.zeros), found.attrs["families"]) == (2, "x + y")
    assert (found.eigenvalue.values[:2] == 0).all()
    assert np.isnan(found.damping.values[:2]).all()
    system = disc()
    found = zw.modes(system, dict.fromkeys(system.coordinates, 0.0) | {system.coordinates[2]: 1})
    assert int(found.zeros) == 6
    assert found.attrs["families"] == "x; y; heading; turn"


def test_unstable_modes_grow():
    found = zw.modes(zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=-2 * x**2), {x: 0})
    assert found.eigenvalue.values.tolist() == [-2, 2]
    assert found.damping.values.tolist() == [1, -1]
