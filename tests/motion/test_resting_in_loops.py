"""Dry friction in large systems, which run as loops: many switches rest and break loose, by masks of one program."""

import itertools

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import lsq_linear

import zwang as zw
from tests.conftest import in_loops
from zwang import dot, t
from zwang.engines.native import engine

u, w = zw.coordinates("u w")
k, c, load = zw.parameters("k c load")


def blocks(count, friction, springs=0.0):
    """Blocks of mass 1 in a row with springs between them, drawn by springs of stiffness 1 whose ends move at 0.1."""
    x = zw.coordinates("x", shape=count)
    system = zw.System(
        x,
        kinetic=zw.family(dot(u) ** 2 / 2, {u: x}),
        potential=zw.family(k * (u - w) ** 2 / 2, {u: x[1:], w: x[:-1]}) + zw.family((u - t / 10) ** 2 / 2, {u: x}),
        forces={x: zw.family(-c * sp.sign(dot(u)), {u: x, c: friction})},
        parameters={k: springs},
    )
    return system, {x: 0.0, dot(x): 0.0}


def run(system, start, until, **more):
    motion = zw.simulate(system, start, until, **({"tol": 1e-11, "samples": 11, "throw": False} | more))
    assert motion.attrs["message"] == f"finished at t = {until:.12g}.", motion.attrs["message"]
    return motion


def test_every_block_breaks_loose_at_its_own_time():
    """t/10 = c, one after another; from there on x = (s − sin s)/10 with s = t − 10c, as if it were alone."""
    friction = 1 + 0.5 * np.random.default_rng(3).random(220)
    motion = run(*blocks(220, friction), 16.0)
    assert np.sort(motion.rest_end.values) == pytest.approx(np.sort(10 * friction), abs=1e-9)
    later = motion.time.values[:, None] - 10 * friction
    assert motion.q.values == pytest.approx(np.where(later > 0, later - np.sin(later), 0) / 10, abs=1e-9)
    held = later <= 0
    assert (motion.q.values[held] == 0).all()
    assert (motion.a.values[held] == 0).all()
    assert motion.force.values[held] == pytest.approx(0, abs=1e-13)  # friction carries what springs pull
    assert float(abs(motion.energy_balance).max()) < 1e-9


def test_blocks_that_are_alike_break_loose_together():
    """With springs between them, which stay as they are: all at t = 10, by 200 switches at one instant."""
    motion = run(*blocks(200, np.ones(200), 4.0), 14.0)
    assert motion.rest_end.values == pytest.approx(np.full(200, 10), abs=1e-9)
    assert motion.q.values[-1] == pytest.approx((4 - np.sin(4)) / 10, abs=1e-9)


@pytest.mark.parametrize("method", ["native", "radau", "lsoda"])
def test_loops_rest_as_straight_line_code_does(method, monkeypatch):
    friction = 1 + 0.3 * np.random.default_rng(1).random(7)
    tol = 1e-11 if method == "native" else 1e-8
    straight = run(*blocks(7, friction, 4.0), 30.0, method=method, tol=tol)
    in_loops(monkeypatch)
    rolled = run(*blocks(7, friction, 4.0), 30.0, method=method, tol=tol)
    assert straight.sizes["rest"] > 7  # some stick again
    assert (rolled.rest_switch.values == straight.rest_switch.values).all()
    close = 1e-10 if method == "native" else 1e-5
    for name in ("rest_begin", "rest_end", "q", "v", "force"):
        assert rolled[name].values == pytest.approx(straight[name].values, abs=close), name


def levers(count):
    """Pairs y = 2x with friction 1 on x and ½ on y, which depend on each other, pulled by t times some load."""
    x, y = zw.coordinates("x y", shape=count)
    loads = 1 + np.arange(count) / count
    rubs = zw.family(load * t - sp.sign(dot(u)), {u: x, load: loads}), zw.family(-sp.sign(dot(u)) / 2, {u: y})
    system = zw.System(
        [x, y],
        kinetic=zw.family((dot(u) ** 2 + dot(w) ** 2) / 2, {u: x, w: y}),
        forces={x: rubs[0], y: rubs[1]},
        constraints={"lever": zw.family(w - 2 * u, {u: x, w: y})},
    )
    return system, {x: 0.0, y: 0.0, dot(x): 0.0, dot(y): 0.0}, loads


def test_switches_that_depend_on_constraints_share_the_load():
    """Together they hold 2 along x, by equal shares; then (1 + 4) ẍ = load t − 2."""
    system, start, loads = levers(80)
    motion = run(system, start, 1.8)
    ends = np.repeat(2 / loads, 2)
    assert np.sort(motion.rest_end.values) == pytest.approx(np.sort(np.minimum(ends, 1.8)), abs=1e-8)
    at = float(motion.time[5])  # 0.9: still at rest, all of them
    held = motion.isel(time=5)
    assert held.force.values[:80] == pytest.approx(loads * at / 2, abs=1e-8)
    assert held.force.values[80:] == pytest.approx(-loads * at / 4, abs=1e-8)
    later = np.maximum(1.8 - 2 / loads, 0)
    assert motion.v.values[-1, :80] == pytest.approx(loads * later**2 / 10, abs=1e-8)
    assert motion.residual.values == pytest.approx(0, abs=1e-12)


def test_a_rest_compiles_nothing(monkeypatch):
    """However many there are, and whichever combine: the programs are made when the first one rests."""
    made = []
    monkeypatch.setattr(engine, "compile_rolled", lambda p, plain=engine.compile_rolled: made.append(p) or plain(p))
    friction = 1 + 0.5 * np.random.default_rng(4).random(205)
    motion = run(*blocks(205, friction, 0.1), 16.0, outputs=("q", "v"))
    assert motion.sizes["rest"] >= 205
    assert len(made) < 12


def test_derivatives_go_through_rests_of_a_large_system():
    """x = s − sin s over 10, s = t − 10 c: by c it changes by −(1 − cos s), by the start by cos s."""
    system, start = blocks(200, [c] * 200)
    first = zw.coordinates("x", shape=200)[0]
    beside = zw.sensitivities(system, start, 13.0, [c, first], parameters={c: 1.0}, samples=2)
    assert beside.dq.values[-1, 0] == pytest.approx([-(1 - np.cos(3)), np.cos(3)], abs=1e-8)
    assert beside.dq.values[-1, 1] == pytest.approx([-(1 - np.cos(3)), 0], abs=1e-8)


def test_samples_and_steppers_of_large_systems_rest():
    friction = np.linspace(1, 1.5, 30)  # loops, for so many switches
    system, start = blocks(30, friction)
    many = zw.simulate_many(system, start, 12.0, parameters={k: [0.0, 0.0]}, samples=2)
    later = np.maximum(12 - 10 * friction, 0)
    assert (many.status == "finished").all()
    assert many.q.values[1, -1] == pytest.approx((later - np.sin(later)) / 10, abs=1e-8)
    stepper = zw.Stepper(system, start)
    while stepper.t < 12 - 1e-9:
        stepper.advance(0.5)
    assert stepper.q == pytest.approx((later - np.sin(later)) / 10, abs=1e-8)


def test_a_force_across_the_speed_it_depends_on_is_refused_by_name():
    """Friction between neighbours that acts on one of them only: no symmetric row holds it."""
    x, y = zw.coordinates("x y", shape=120)
    law = zw.family(-sp.sign(dot(u) - dot(w)), {u: x, w: y})
    system = zw.System([x, y], kinetic=zw.family(dot(u) ** 2 / 2, {u: [*x, *y]}), forces={x: law})
    start = {x: 0.0, y: 0.0, dot(x): 1.0, dot(y): 0.0}
    motion = zw.simulate(system, start, 5.0, throw=False)
    assert motion.attrs["status"] == "sliding"
    assert "not along the speeds that they depend on" in motion.attrs["message"]
    assert float(motion.time[-1]) <= 1


def test_a_pack_of_sheets_gives_way_by_the_principle_of_least_constraint():
    """150 sheets that rub on their neighbours, pulled at random: min Σ (a − Q)² over forces between both sides."""
    count, rng = 150, np.random.default_rng(2)
    x = zw.coordinates("x", shape=count)
    pulls, rubs = 0.5 * rng.standard_normal(count), 0.2 + 0.5 * rng.random(count)
    signs = [
        sp.sign(dot(b) - dot(a)) for a, b in itertools.pairwise([sp.S.Zero, *x])
    ]  # the first one lies on the ground
    kinetic = zw.family(dot(u) ** 2 / 2, {u: x})
    forces = [
        pulls[i] - rubs[i] * signs[i] + (rubs[i + 1] * signs[i + 1] if i + 1 < count else 0) for i in range(count)
    ]
    system = zw.System(x, kinetic=kinetic, forces=dict(zip(x, forces, strict=True)))
    motion = run(system, {x: 0.0, dot(x): 0.0}, 1e-3, samples=2)
    G = rubs[:, None] * (np.eye(count) - np.eye(count, k=-1))
    sigma = lsq_linear(G.T, pulls, (-1, 1), "bvls", tol=1e-14).x
    assert 30 < (abs(sigma) < 1).sum() < 120
    assert motion.v.values[-1] / 1e-3 == pytest.approx(pulls - G.T @ sigma, abs=1e-9)
