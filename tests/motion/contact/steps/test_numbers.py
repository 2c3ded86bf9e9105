"""How velocities answer in a step: against the saddle-point system, with full matrices and with sparse factors."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.engines.stepping import tables
from zwang.errors import SimulationError

STEP = 0.1


@pytest.fixture(params=["full", "sparse"])
def matrices(request, monkeypatch):
    """Blocks of all sizes with full matrices, or with factors."""
    monkeypatch.setattr(tables, "MOST_IN_FULL", 1000 if request.param == "full" else 0)


def one_step(M, E, p, slope=None):
    """Velocities and forces of equalities after one step from rest, by forces p: of a system with E q = slope · t."""
    q = zw.coordinates(" ".join(f"q{i}" for i in range(len(M))))
    v = sp.Matrix([dot(c) for c in q])
    slope = np.zeros(len(E)) if slope is None else slope
    rows = [sum(e * c for e, c in zip(row, q, strict=True)) for row in E]
    holds = {f"row{i}": sp.Eq(row, s * zw.t) for i, (row, s) in enumerate(zip(rows, slope, strict=True))}
    wall = zw.Constraint(1000 + q[0] >= 0, "far wall")
    system = zw.System(q, kinetic=(v.T * sp.Matrix(M) * v)[0] / 2, forces=dict(zip(q, p, strict=True)),
                       constraints=[*(zw.Constraint(eq, name) for name, eq in holds.items()), wall])  # fmt: skip
    start = np.linalg.lstsq(E, slope, rcond=None)[0] if len(E) else np.zeros(len(M))
    given = dict.fromkeys(q, 0.0) | dict(zip(map(dot, q), start, strict=True))
    return start, zw.simulate(system, given, STEP, contacts="steps", step=STEP, samples=2)


def by_hand(M, E, p):
    """Δv and EᵀΛ from the whole system, by least squares."""
    n, m = len(M), len(E)
    whole = np.block([[M, -E.T], [E, np.zeros((m, m))]])
    found = np.linalg.lstsq(whole, np.concatenate([p, np.zeros(m)]), rcond=1e-12)[0]
    return found[:n], E.T @ found[n:], found[n:]


@pytest.mark.parametrize("redundant", [False, True])
def test_velocities_and_impulses_are_those_of_the_whole_system(matrices, redundant):
    rng = np.random.default_rng(0)
    for _ in range(3):
        X = rng.standard_normal((5, 5))
        M, E = X @ X.T + np.eye(5), rng.standard_normal((2, 5))
        E = np.vstack([E, E[0] + E[1]]) if redundant else E
        p = rng.standard_normal(5)
        start, motion = one_step(M, E, p, E @ rng.standard_normal(5))
        change, force, shortest = by_hand(M, E, STEP * p)
        assert motion.v.values[-1] - start == pytest.approx(change, abs=1e-10)
        assert STEP * motion.ideal_force.values[-1] == pytest.approx(force, abs=1e-9)
        assert motion["rank"].values[-1] == 2
        if redundant:  # shared as evenly as rows of one length can
            assert STEP * motion.multiplier.values[-1, :3] @ E == pytest.approx(force, abs=1e-9)
        else:
            assert STEP * motion.multiplier.values[-1, :2] == pytest.approx(shortest, abs=1e-9)


def test_rows_make_up_for_masses_that_are_missing(matrices):
    M, E = np.diag([1.0, 0.0]), np.array([[1.0, -2.0]])
    _, motion = one_step(M, E, np.array([3.0, 1.0]))  # v1 = v0 / 2, so it is 1 · a = 3 + 1 / 2
    assert motion.v.values[-1] == pytest.approx([STEP * 3.5, STEP * 1.75])
    assert motion.multiplier.values[-1, 0] == pytest.approx(0.5)


def test_rows_make_up_for_masses_that_vanish_on_the_way(matrices):
    """Of two masses on one rod the second, (1 − t)², is nothing at t = 1, in the middle of a step."""
    x, y = zw.coordinates("x y")
    rod, wall = zw.Constraint(sp.Eq(y, x), "rod"), zw.Constraint(100 - x >= 0, "far wall")
    system = zw.System((x, y), kinetic=dot(x) ** 2 / 2 + (1 - zw.t) ** 2 * dot(y) ** 2 / 2, constraints=[rod, wall])
    start = {x: 0, y: 0, dot(x): 1, dot(y): 1}
    errors = []
    for step in (0.08, 0.016):
        motion = zw.simulate(system, start, 1.36, contacts="steps", step=step, samples=3)
        momentum = (1 + (1 - motion.time.values) ** 2) * motion.v.values[:, 0]  # (M v)' = 0 along the rod
        errors.append(np.abs(momentum - 2).max())
    assert errors[1] < 0.06 * errors[0] < 1e-3  # of second order


def test_masses_that_determine_nothing_stop_the_motion(matrices):
    """A body without mass in one direction, which nothing holds once its rope is slack."""
    x, y = zw.coordinates("x y")
    wall = zw.Constraint(10 - x >= 0, "far wall")
    system = zw.System((x, y), kinetic=dot(x) ** 2 / 2 + (1 - zw.t) ** 2 * dot(y) ** 2 / 2, constraints=[wall])
    start = {x: 0, y: 0, dot(x): 1, dot(y): 0}
    with pytest.raises(SimulationError, match="determine no velocities"):
        zw.simulate(system, start, 2.0, contacts="steps", step=0.4)  # t = 1 is the middle of the third step
