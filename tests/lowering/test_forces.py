"""Given and nonideal forces as a program of multipliers and shares, against the same by hand."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.compile import compile_program
from zwang.lowering.forces import forces_program
from zwang.lowering.locked import lock
from zwang.lowering.lowered import lower

x, y = zw.coordinates("x y")


def test_forces_and_their_slopes_are_those_by_hand():
    # Q = (0, −9.81), C = (−μ √(λ² + λ'²), 0) with μ = 0.2: ∂C/∂λ = −μ λ/√(…), and nothing rests
    rub = -0.2 * sp.sqrt(zw.multiplier("a") ** 2 + zw.multiplier("b") ** 2)
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=9.81 * y,
                       constraints={"a": y, "b": y - x / 2}, nonideal={x: rub})  # fmt: skip
    program = forces_program(lower(system, {}))
    out = compile_program(program)(t=[0.0], q=[0.0, 0.0], v=[1.0, 0.0], p=[], l=[3.0, 4.0])
    assert out["force"] == pytest.approx([-1.0, -9.81], abs=1e-15)
    assert out["by_multiplier"] == pytest.approx(np.array([[-0.12, -0.16], [0, 0]]), abs=1e-15)
    assert out["argument"].size == out["right"].size == 0


def test_a_switch_at_rest_has_a_share_of_its_force():
    # −3 sign(ẋ − t) at the middle between both sides is 0, with the share ½ it is −1.5; ṡ = ẍ − 1
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, forces={x: -3 * sp.sign(dot(x) - zw.t)})
    locked = lock(lower(system, {}), ("x", "y"), (), ())
    program, modes = forces_program(locked.resting), locked.literal.copy()
    modes[0], modes[3] = 1.0, 1.0
    out = compile_program(program)(t=[2.0], q=[0.0, 0.0], v=[2.0, 0.0], p=[], modes=modes, s=[0.5])
    assert out["force"] == pytest.approx([-1.5, 0], abs=1e-15)
    assert out["by_share"] == pytest.approx(np.array([[-3], [0]]), abs=1e-15)
    assert (out["argument"], out["row"], out["right"]) == (0, pytest.approx(np.array([[1, 0]])), 1)
