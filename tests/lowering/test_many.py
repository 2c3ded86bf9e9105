"""Many forces that depend on multipliers: the sparse system says what the dense one does, and does not grow as it."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.compile import compile_program
from zwang.lowering import implicit
from zwang.lowering.acceleration import acceleration_program
from zwang.lowering.lowered import lower
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.report import report_program
from zwang.lowering.rows import choose


def at_random(mu, seed):
    """A point on a curve in space, whose friction depends on both multipliers, in two ways; at some state."""
    x, y, z = q = zw.coordinates("x y z")
    first, second = zw.multiplier("first"), zw.multiplier("second")
    system = zw.System(
        q, kinetic=(dot(x)**2 + 2*dot(y)**2 + 3*dot(z)**2 + dot(x)*dot(y))/2, potential=z + x*y,
        constraints={"first": x**2 + y**2 + z**2 - 2, "second": x + z*y},
        nonideal={x: -mu*sp.sqrt(first**2 + second**2)*dot(x), z: mu*sp.Abs(second)*sp.sign(dot(z)) - y},
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    given = {"t": np.array([0.0]), "q": rng.normal(size=3), "v": rng.normal(size=3), "p": np.zeros(0)}
    return system, given, matrix_kernel(system, {})(0.0, given["q"], given["v"], given["p"])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("of", [acceleration_program, report_program])
def test_nonideal_forces_are_those_of_the_dense_system(monkeypatch, seed, of):
    system, given, now = at_random(0.02, seed)
    lowered, basis = lower(system, {}), choose(now, system.coordinate_names)
    dense = compile_program(of(lowered, basis))(**given)
    monkeypatch.setattr(implicit, "FEW_MULTIPLIERS", 0)
    sparse = compile_program(of(lowered, basis))(**given)
    assert dense.keys() == sparse.keys()
    for name in dense:
        if name != "implicit":
            assert sparse[name] == pytest.approx(dense[name], rel=1e-9, abs=1e-10 * np.abs(dense[name]).max())
    assert sparse.get("implicit", np.zeros(1))[0] < 1e-12


def test_what_steps_leave_undone_is_a_number(monkeypatch):
    monkeypatch.setattr(implicit, "FEW_MULTIPLIERS", 0)
    found = []
    for mu in (0.02, 0.6):
        system, given, now = at_random(mu, 3)
        program = report_program(lower(system, {}), choose(now, system.coordinate_names))
        found.append(compile_program(program)(**given)["implicit"][0])
    assert found[0] < 1e-12 < found[1]


def beads(n, mu=0.3):
    """Points on a straight wire each, in a row of rods that one end pulls; all rub as their wires push."""
    x, y = zw.coordinates([f"x{i}" for i in range(n)]), zw.coordinates([f"y{i}" for i in range(n)])
    rows = {f"wire{i}": y[i] - x[i] ** 2 / 2 for i in range(n)}
    rows |= {f"rod{i}": (x[i + 1] - x[i]) ** 2 + (y[i + 1] - y[i]) ** 2 - 1 for i in range(n - 1)}
    rub = {x[i]: -mu * sp.Abs(zw.multiplier(f"wire{i}")) * sp.sign(dot(x[i])) for i in range(n)}
    kinetic = sum(dot(q) ** 2 for q in (*x, *y)) / 2
    system = zw.System((*x, *y), kinetic=kinetic, potential=9.81 * sum(y), constraints=rows, nonideal=rub)
    return system, (x, y)


def test_lines_grow_as_the_system_does():
    counts = []
    for n in (20, 40):
        system, _ = beads(n)
        lowered = lower(system, {})
        given = {"t": np.zeros(1), "q": np.arange(2.0 * n), "v": np.ones(2 * n), "p": np.zeros(0)}
        now = matrix_kernel(system, {})(0.0, given["q"], given["v"], given["p"])
        counts.append(len(acceleration_program(lowered, choose(now, system.coordinate_names)).steps))
    assert counts[1] < 2.2 * counts[0]
