"""Nonideal forces with multipliers: the written-out steps of Newton solve M q̈ = Q + Aᵀλ + C(λ), A q̈ = b."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.compile import compile_program
from zwang.lowering.acceleration import acceleration_program
from zwang.lowering.lowered import lower
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.report import report_program
from zwang.lowering.rows import choose


def rubbed(mu):
    """A point on a curve in space: forces of friction that depend on both multipliers, in two ways."""
    x, y, z = q = zw.coordinates("x y z")
    first, second = zw.multiplier("first"), zw.multiplier("second")
    return zw.System(
        q, kinetic=(dot(x)**2 + 2*dot(y)**2 + 3*dot(z)**2 + dot(x)*dot(y))/2, potential=z + x*y,
        constraints={"first": x**2 + y**2 + z**2 - 2, "second": x + z*y},
        nonideal={x: -mu*sp.sqrt(first**2 + second**2)*dot(x), z: mu*sp.Abs(second)*sp.sign(dot(z)) - y},
    )  # fmt: skip


def at_random(mu, seed):
    system = rubbed(mu)
    rng = np.random.default_rng(seed)
    given = {"t": np.array([0.0]), "q": rng.normal(size=3), "v": rng.normal(size=3), "p": np.zeros(0)}
    now = matrix_kernel(system, {})(0.0, given["q"], given["v"], given["p"])
    return system, given, now


@pytest.mark.parametrize("seed", range(20))
def test_what_is_written_out_solves_the_implicit_equation(seed):
    system, given, now = at_random(0.02, seed)
    lowered, basis = lower(system, {}), choose(now, system.coordinate_names)
    out = compile_program(report_program(lowered, basis))(**given)
    q, v, lam = given["q"], given["v"], out["multiplier"]
    C = np.zeros(3)
    C[0] = -0.02 * np.hypot(*lam) * v[0]
    C[2] = 0.02 * abs(lam[1]) * np.sign(v[2]) - q[1]
    size = np.abs(now.M).max() * np.abs(out["acceleration"]).max() + np.abs(lam).max()
    assert now.M @ out["acceleration"] == pytest.approx(now.Q + now.A.T @ lam + C, abs=1e-13 * size)
    assert now.A @ out["acceleration"] == pytest.approx(now.b, abs=1e-12 * size)
    assert pytest.approx(C, abs=1e-12 * size) == now.C  # what is iterated to the end agrees with what is written out
    assert out["constraint_force"] == pytest.approx(now.A.T @ lam + C, abs=1e-12 * size)
    assert out["implicit"][0] < 1e-13
    quick = compile_program(acceleration_program(lowered, basis))(**given)
    assert quick["acceleration"] == pytest.approx(out["acceleration"], abs=1e-12 * size)
    assert quick["power"][0] == pytest.approx(C @ v, rel=1e-10, abs=1e-12 * size)


@pytest.mark.parametrize("seed", [1, 2, 3, 7])
def test_what_steps_leave_undone_is_a_number(seed):
    """Strong friction is known to fewer digits after the same steps, and the number says so."""
    system, given, now = at_random(0.02, seed)
    strong = compile_program(report_program(lower(rubbed(0.6), {}), choose(now, system.coordinate_names)))(**given)
    weak = compile_program(report_program(lower(system, {}), choose(now, system.coordinate_names)))(**given)
    assert weak["implicit"][0] < 1e-14
    assert strong["implicit"][0] > 1e-10


def test_a_stack_of_states_is_solved_as_one_is():
    system = rubbed(0.05)
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, 7, 3))
    kernel = matrix_kernel(system, {})
    together = kernel(np.zeros(7), q, v, np.zeros(0)).C
    for i in range(7):
        assert together[i] == pytest.approx(kernel(0.0, q[i], v[i], np.zeros(0)).C, rel=1e-12)
