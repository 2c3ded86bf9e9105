"""A model's matrices: the same numbers from straight-line code and from loops, and rows that are rounding are zero."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.lowering.lowered import Matrices
from zwang.lowering.matrices import build_kernel
from zwang.lowering.rolled import families

x, y, z = zw.coordinates("x y z")


def test_a_row_that_rounding_has_left_of_zero_is_zero():
    system = zw.System((x, y), kinetic=dot(x) ** 2 + dot(y) ** 2, constraints={"c": (x + y) ** 2 / 2})
    at = build_kernel(system, {})
    assert at(0.0, np.array([0.1, -0.1 + 1e-17]), np.zeros(2), np.zeros(0)).A.tolist() == [[0.0, 0.0]]
    assert np.abs(at(0.0, np.array([0.1, -0.1 + 1e-12]), np.zeros(2), np.zeros(0)).A).min() > 0


def test_matrices_are_the_same(monkeypatch):
    M = sp.Matrix([[2, 0.2 * sp.cos(y), 0], [0.2 * sp.cos(y), 2, 0], [0, 0, 1 + x**2]])
    constraints = {"moving": x + y - zw.t * z, "rolling": dot(z) - x * dot(y)}
    forces, nonideal = {x: -x + sp.sin(zw.t)}, {y: -0.1 * dot(y)}
    system = zw.System((x, y, z), mass=M, forces=forces, nonideal=nonideal, constraints=constraints)
    arguments = (0.2, np.array([0.3, -0.4, 0.5]), np.array([0.1, 0.2, -0.3]), np.zeros(0))
    straight = build_kernel(system, {})(*arguments)
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    rolled = build_kernel(system, {})(*arguments)
    for name in ("M", "Q", "A", "b", "C", "residual", "residual_rate", "size", "rate_size", "row_size"):
        np.testing.assert_allclose(getattr(rolled, name), getattr(straight, name), rtol=1e-14, atol=1e-15)


def responding(M, Q):
    """Matrices with these masses and forces, and the rows (1, 0) and (0, 1)."""
    none = np.zeros(2)
    return Matrices(np.array(M), np.array(Q), np.eye(2), none, none, none, none, none, none, np.eye(2))


def test_free_accelerations_are_those_of_masses_and_the_shortest_where_there_are_none():
    """(2 1; 1 2)⁻¹ = (2 −1; −1 2)/3; (1 1; 1 1)⁺ = (1 1; 1 1)/4."""
    regular = responding([[2.0, 1.0], [1.0, 2.0]], [3.0, 0.0])
    assert regular.free == pytest.approx([2, -1], abs=1e-15)
    assert regular.mobility == pytest.approx([2 / 3, 2 / 3], abs=1e-15)
    singular = responding([[1.0, 1.0], [1.0, 1.0]], [1.0, 1.0])
    assert singular.free == pytest.approx([0.5, 0.5], abs=1e-14)
    assert singular.mobility == pytest.approx([0.25, 0.25], abs=1e-14)
