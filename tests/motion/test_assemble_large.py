"""Large systems are put together as small ones are: the same nearest state, on sparse matrices."""

from importlib.resources import files

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import multibody as mb
from zwang.lowering import matrices

FOLDER = files("zwang") / "examples"


def values(state):
    return np.array(list(state.values()))


@pytest.mark.parametrize("name", ["pendulum", "four_bar", "andrews", "rolling_disc", "four_bar_in_space"])
def test_a_state_beside_an_example_is_brought_back_to_the_same_one(name, monkeypatch):
    start = zw.load_model(FOLDER / f"{name}.toml").begin()
    _, q, v = start.state
    rng = np.random.default_rng(0)
    away = np.concatenate([q, v]) + 1e-3 * rng.standard_normal(2 * len(q))
    guess = dict(zip([*start.system.coordinates, *start.system.velocities], away, strict=True))
    dense = zw.assemble(start.system, guess)
    monkeypatch.setattr(matrices, "SPARSE_FROM", 0)
    np.testing.assert_allclose(values(zw.assemble(start.system, guess)), values(dense), rtol=1e-9, atol=1e-10)


def test_a_long_chain_hangs_together_again():
    count = 400
    points = [zw.coordinates(f"x{i} y{i}") for i in range(count)]
    links = {}
    for i, (x, y) in enumerate(points):
        a, b = points[i - 1] if i else (0.0, 0.0)
        links[f"l{i}"] = (x - a) ** 2 + (y - b) ** 2 - 1
    q = [c for point in points for c in point]
    system = zw.System(q, kinetic=sp.Add(*[zw.dot(c) ** 2 / 2 for c in q]), constraints=links)
    rng = np.random.default_rng(1)
    guess = {x: 0.8 * (i + 1) for i, (x, _) in enumerate(points)} | {
        y: 0.6 * (i + 1) for i, (_, y) in enumerate(points)
    }
    guess = {c: value + 1e-3 * rng.standard_normal() for c, value in guess.items()}
    state = zw.assemble(system, guess | {zw.dot(c): rng.standard_normal() for c in q})
    at, rate = values(state).reshape(2, count, 2)
    ends, rates = (np.diff(x, axis=0, prepend=0.0) for x in (at, rate))
    np.testing.assert_allclose((ends**2).sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose((ends * rates).sum(axis=1), 0.0, atol=1e-11)
    assert np.abs(values(state)[: 2 * count] - [guess[c] for c in q]).max() < 0.1


def test_a_large_mechanism_with_a_joint_that_is_there_twice_moves_and_shares_its_forces():
    count = 28  # 196 coordinates, 115 constraints
    bodies = [mb.Body(f"b{i}", mass=1, inertia=(0.1, 0.2, 0.3), position=(i + 0.5, 0, 0)) for i in range(count)]
    joints = [
        mb.Spherical(f"j{i}", bodies[i - 1] if i else mb.ground, body, at=(i, 0, 0)) for i, body in enumerate(bodies)
    ]
    again = mb.Spherical("again", bodies[0], bodies[1], at=(1, 0, 0))
    mechanism = mb.Mechanism(bodies, joints=[*joints, again], forces=[mb.Gravity((0, 0, -9.81))])
    motion = zw.simulate(mechanism, until=0.01, samples=3, tol=1e-9)
    assert (motion["rank"] == count + 3 * count).all()
    assert abs(motion.energy_balance).max() < 1e-9
    shared = [f"{joint}.{axis}" for joint in ("again", "j1") for axis in "xyz"]
    one, two = (motion.multiplier.sel(constraint=shared[k : k + 3]).values for k in (0, 3))
    np.testing.assert_allclose(one, two, rtol=1e-7, atol=1e-8)  # the shortest: each bears a half
    assert set(motion.constraint.values[~motion.unique.values.astype(bool)]) == set(shared)
    plain = mb.Mechanism(bodies, joints=joints, forces=[mb.Gravity((0, 0, -9.81))])
    alone = zw.simulate(plain, until=0.01, samples=3, tol=1e-9)
    np.testing.assert_allclose(motion.q.values, alone.q.values, atol=1e-9)
    np.testing.assert_allclose(2 * one[0], alone.multiplier.sel(constraint=shared[3:]).values[0], rtol=1e-7, atol=1e-7)
