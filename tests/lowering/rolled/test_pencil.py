"""The derivatives of the equation of motion in sparse matrices, against the full Jacobian of its acceleration."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
import zwang.multibody as mb
from zwang.engines.native.engine import compiled
from zwang.engines.scipy.jacobian import in_full, jacobian_program, shifted
from zwang.lowering.rolled import families
from zwang.model.values import given_values
from zwang.motion.drive import task_of
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare
from zwang.motion.start import basis_at


def net(doubled: bool = False) -> tuple[zw.System, dict]:
    """Links with springs across, friction in velocities and a support that moves; every link twice, if asked for."""
    side = 3
    x = zw.coordinates("x", shape=(side * side, 3))
    a, b, u = *zw.coordinates("a b", shape=3), zw.coordinates("u")
    number = np.arange(side * side).reshape(side, side)
    i = np.concatenate([number[1:].ravel(), number[:, 1:].ravel()])
    j = np.concatenate([number[:-1].ravel(), number[:, :-1].ravel()])
    link = zw.family(((a - b) ** 2).sum() - 1, {a: x[i], b: x[j]})
    constraints = {"link": link, "support": sp.Eq(x[0, 2], sp.sin(3 * zw.t) / 10)}
    if doubled:
        constraints["again"] = link
    system = zw.System(
        x,
        kinetic=zw.family((1 + a[2] ** 2) * (zw.dot(a) ** 2).sum() / 2, {a: x}),
        potential=zw.family(40 * (((a - b) ** 2).sum() - 3) ** 2, {a: x[number[1:, 1:]], b: x[number[:-1, :-1]]}),
        forces={x[:, 2]: zw.family(-(zw.dot(u) ** 3) - sp.sin(u), {u: x[:, 2]})},
        constraints=constraints,
    )
    rows, columns = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    places = np.stack([rows, columns, 0.0 * rows], axis=-1).reshape(-1, 3)
    return system, zw.assemble(system, {x: places, zw.dot(x): 0.3 * np.cos(np.arange(27)).reshape(9, 3)})


def bodies() -> tuple[zw.System, dict]:
    """Bodies in space, whose M is singular in Euler's parameters."""
    rods = [mb.Body(f"rod{k}", mass=1, inertia=(0.1, 0.2, 0.3), position=(k + 0.5, 0, 0)) for k in range(3)]
    joints = [mb.Spherical(f"ball{k}", (mb.ground, *rods)[k], rods[k], at=(k, 0, 0)) for k in range(3)]
    mechanism = mb.Mechanism(rods, joints, [mb.Gravity((0, 0, -9.81))])
    return mechanism.system, mechanism.start


@pytest.mark.parametrize("drift", ["none", "baumgarte"])
@pytest.mark.parametrize("made", [net, lambda: net(doubled=True)], ids=["net", "every link twice"])
def test_shifted_systems_are_solved_as_by_the_full_jacobian(made, drift, monkeypatch):
    """(c − J)⁻¹ r for real and complex c: the one by sparse matrices, the other by derivatives of the acceleration."""
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    system, start = made()
    damped = len(system.constraint_names) > 13
    compare(system, start, drift, 1e-4 if damped else 1e-9)  # damped rows are as near as their damping is small


def compare(system: zw.System, start: dict, drift: str, within: float) -> None:
    setup = prepare(system, given_values(system, None), RunOptions(1.0, method="radau", drift=drift))
    values = [np.array([float(start[key]) for key in keys]) for keys in (system.coordinates, system.velocities)]
    state = (0.0, *values)
    task = task_of(setup, basis_at(setup, state), state, np.array([1.0]), None, {})
    y = np.concatenate(values)
    J = in_full(task, compiled(jacobian_program(task.acceleration)))(0.0, y)
    sparse = shifted(task, task.pencil)(0.0, y)
    draw = np.random.default_rng(1)
    for c in (30.0, 200 + 170j):
        right = draw.standard_normal(len(y)) + 0 * c
        factors = sparse.factors(c)
        found = sparse.solve(c, factors[-1], right)
        expected = np.linalg.solve(c * np.eye(len(y)) - J, right)
        assert found == pytest.approx(expected, rel=0, abs=within * np.abs(expected).max())


def test_bodies_in_space_have_them_too(monkeypatch):
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    compare(*bodies(), "none", 1e-9)
