"""C(λ) in numbers: iterated to the end, at one state or at a stack, or refused."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.errors import UndeterminedError
from zwang.lowering.implicit_kernel import implicit_kernel
from zwang.lowering.lowered import lower
from zwang.lowering.matrices import matrix_kernel


def on_a_slope(mu, rows=None):
    x, y = zw.coordinates("x y")
    rows = rows or {"slope": y - x}
    return zw.System((x, y), kinetic=(dot(x)**2 + dot(y)**2)/2, constraints=rows, potential=10*y,
                     nonideal={x: -mu*sp.Abs(zw.multiplier("slope"))})  # fmt: skip


def test_the_multiplier_is_where_its_force_gives_it_back():
    # x'' = y'': λ − μ|λ| − … : with λ > 0, −λ − μλ = x'', λ − 10 = y'', so that λ = 10/(2 + μ)
    kernel = matrix_kernel(on_a_slope(0.5), {})
    found = kernel(np.zeros(3), np.zeros((3, 2)), np.zeros((3, 2)), np.zeros(0)).C
    assert found == pytest.approx(np.tile([-0.5 * 10 / 2.5, 0.0], (3, 1)), rel=1e-14)


def test_redundant_rows_do_not_disturb_a_multiplier_that_is_unique():
    x, y = zw.coordinates("x y")
    flat = zw.System((x, y), kinetic=(dot(x)**2 + dot(y)**2)/2, potential=10*y,
                     constraints={"slope": y, "a": x, "b": 2*x},
                     nonideal={x: -sp.Abs(zw.multiplier("slope"))})  # fmt: skip
    found = matrix_kernel(flat, {})(0.0, np.zeros(2), np.zeros(2), np.zeros(0)).C
    assert found == pytest.approx([-10.0, 0.0], rel=1e-13)


def test_a_state_without_solution_is_refused():
    with pytest.raises(UndeterminedError, match="no solution at this state, or several"):
        matrix_kernel(on_a_slope(-2.5), {})(0.0, np.zeros(2), np.zeros(2), np.zeros(0))


def test_without_multipliers_there_is_nothing_to_solve():
    x, y = zw.coordinates("x y")
    plain = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints=[x - y], nonideal={x: -dot(x)})
    assert implicit_kernel(lower(plain, {}), (0,)) is None
