"""Switches of the state in large systems: held per member, in loops, with the motion of straight-line code."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang.compile import RolledProgram
from zwang.lowering.lowered import lower
from zwang.lowering.rolled import families
from zwang.lowering.rolled.families import families_of
from zwang.lowering.rolled.held import lock_families
from zwang.model.values import given_values
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare

LARGE = 40  # a side: more than ROLLED_FROM coordinates and constraints


def ropes(side: int) -> tuple[zw.System, np.ndarray, np.ndarray]:
    """A net of ropes that only pull, with dry friction on every mass in z."""
    x = zw.coordinates("x", shape=(side * side, 3))
    a, b = zw.coordinates("a b", shape=3)
    u = zw.coordinates("u")
    number = np.arange(side * side).reshape(side, side)
    i = np.concatenate([number[1:].ravel(), number[:, 1:].ravel()])
    j = np.concatenate([number[:-1].ravel(), number[:, :-1].ravel()])
    stretch = sp.sqrt(((a - b) ** 2).sum()) - 1
    system = zw.System(
        x,
        kinetic=zw.family((zw.dot(a) ** 2).sum() / 2, {a: x}),
        potential=zw.family(100 * sp.Max(0, stretch) ** 2 / 2, {a: x[i], b: x[j]}),
        forces={x[:, 2]: zw.family(-sp.sign(zw.dot(u)) / 10, {u: x[:, 2]})},
    )
    rows, columns = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    return system, x, np.stack([rows, columns, 0.0 * rows], axis=-1).reshape(-1, 3)


def on_loops(monkeypatch: pytest.MonkeyPatch, run, threshold: int):
    monkeypatch.setattr(families, "ROLLED_FROM", threshold)
    monkeypatch.setattr("zwang.motion.setup._PROGRAMS", type(families._FAMILIES)())
    monkeypatch.setattr("zwang.lowering.matrices._KERNELS", type(families._FAMILIES)())
    return run()


def test_ropes_and_dry_friction_move_as_in_straight_line_code(monkeypatch):
    system, x, places = ropes(3)
    draw = np.random.default_rng(3)
    start = {x: places * 0.97, zw.dot(x): draw.normal(0, 1.0, places.shape)}

    def run():
        return zw.simulate(system, start, until=0.6, samples=4, tol=1e-11)

    straight, rolled = (on_loops(monkeypatch, run, threshold) for threshold in (10**9, 0))
    assert np.abs(straight.q - rolled.q).max() < 1e-10
    assert straight.attrs["steps"] == rolled.attrs["steps"]


def test_a_large_net_of_ropes_is_held_in_loops_one_switch_a_rope():
    """And one a velocity; the potential of a rope has one switch, though six forces come of it."""
    system, *_ = ropes(LARGE)
    setup = prepare(system, given_values(system, None), RunOptions(1.0))
    assert len(setup.locked.switches) == 2 * LARGE * (LARGE - 1) + LARGE**2
    assert isinstance(setup.locked.readings, RolledProgram)
    assert {switch.words for switch in setup.locked.switches} >= {"x[0,2]' = 0", "x[1599,2]' = 0"}


def test_forces_that_are_written_one_by_one_share_the_switch_of_their_rope():
    """The force on one end, and that on the other with the opposite sign of the argument."""
    s = zw.coordinates("s", shape=120)
    forces = dict.fromkeys(s, 0)
    for i in range(119):
        forces[s[i]] += 50 * sp.Max(0, s[i + 1] - s[i] - 1)
        forces[s[i + 1]] -= 50 * sp.Max(0, s[i + 1] - s[i] - 1) - 3 * sp.Heaviside(s[i] - s[i + 1] + 2, 1)
    system = zw.System(s, kinetic=sum(zw.dot(q) ** 2 for q in s) / 2, forces=forces)
    held = lock_families(families_of(lower(system, {})), system.coordinate_names, (), ())
    assert len(held.switches) == 2 * 119


def test_families_of_a_small_system_switch_too():
    """The acceleration behind the switch is another: y = t − 1 until t = 1, then 2(cos(t − 1) …) of a spring."""
    y = zw.coordinates("y", shape=2)
    u = zw.coordinates("u")
    system = zw.System(
        y,
        kinetic=zw.family(zw.dot(u) ** 2 / 2, {u: y}),
        potential=zw.family(sp.Max(0, u) ** 2 / 2, {u: y}),
    )
    motion = zw.simulate(system, {y: [-1.0, -2.0], zw.dot(y): 1.0}, until=2.5, samples=2, tol=1e-12)
    assert motion.q.values[-1] == pytest.approx([np.sin(1.5), np.sin(0.5)], abs=1e-11)


def test_many_oscillators_each_with_its_own_stop_of_force():
    """x'' = −k Max(x − c, 0) from x = 0 at speed 1: straight to c, then a half wave, then straight back.

    Closed form: x = c + sin(√k (t − c))/√k for c < t < c + π/√k, and then back at speed −1.
    """
    count = 300
    x, u = zw.coordinates("x", shape=count), zw.coordinates("u")
    c, k = zw.parameters("c k")
    limits, stiffness = np.linspace(0.1, 0.9, count), np.linspace(30, 90, count)
    force = zw.family(-k * sp.Max(u - c, 0), {u: x, c: limits, k: stiffness})
    system = zw.System(x, kinetic=zw.family(zw.dot(u) ** 2 / 2, {u: x}), forces={x: force})
    motion = zw.simulate(system, {x: 0.0, zw.dot(x): 1.0}, until=1.0, samples=2, tol=1e-11)
    w = np.sqrt(stiffness)
    inside = limits + np.sin(w * (1 - limits)) / w
    behind = limits - (1 - limits - np.pi / w)
    assert motion.q.values[-1] == pytest.approx(np.where(limits + np.pi / w > 1, inside, behind), abs=1e-9)


def test_sensitivities_jump_at_the_switches_of_members():
    """∂x(1)/∂c of the same oscillators: 1 − cos(√k (1 − c)) while the stop pushes."""
    count = 120
    x, u = zw.coordinates("x", shape=count), zw.coordinates("u")
    c, k = zw.parameters("c k")
    stiffness = np.linspace(1, 4, count)
    force = zw.family(-k * sp.Max(u - c, 0) - k / 2 * sp.Heaviside(u - c, 0), {u: x, k: stiffness})
    rest = dict.fromkeys(x, 0.0)
    system = zw.System(x, kinetic=zw.family(zw.dot(u) ** 2 / 2, {u: x}), forces={x: force}, parameters={c: 0.5})
    speeds = np.linspace(0.9, 1.1, count)
    start = rest | dict(zip(zw.dot(x), speeds, strict=True))
    found = zw.sensitivities(system, start, until=1.0, inputs=[c], samples=2, tol=1e-11)
    w, wait = np.sqrt(stiffness), 1 - 0.5 / speeds
    # beyond the stop y = x − c obeys y'' = −k (y + 1/2), from y = 0 at speed s, which begins at t = c / s
    rate = -1 / speeds * (-0.5 * w * np.sin(w * wait) + speeds * np.cos(w * wait))
    assert found.dq.values[-1, :, 0] == pytest.approx(1 + rate, abs=1e-8)


def test_members_that_switch_at_instants_of_their_own_end_steps_there():
    """x'' = 1 from t = τ on, and 0 before: x(1) = (1 − τ)²/2 exactly for each."""
    count = 300
    x, u = zw.coordinates("x", shape=count), zw.coordinates("u")
    tau = zw.parameters("tau")
    begins = np.linspace(0.1, 0.9, count)
    force = zw.family(sp.Heaviside(zw.t - tau), {tau: begins})
    system = zw.System(x, kinetic=zw.family(zw.dot(u) ** 2 / 2, {u: x}), forces={x: force})
    motion = zw.simulate(system, {x: 0.0, zw.dot(x): 0.0}, until=1.0, samples=2)
    assert motion.q.values[-1] == pytest.approx((1 - begins) ** 2 / 2, abs=1e-12)


def test_a_large_system_names_the_potential_that_jumps():
    count = 300
    x, u = zw.coordinates("x", shape=count), zw.coordinates("u")
    potential = zw.family(sp.Heaviside(u, 0), {u: x})
    system = zw.System(x, kinetic=zw.family(zw.dot(u) ** 2 / 2, {u: x}), potential=potential)
    motion = zw.simulate(system, {x: -np.linspace(1, 2, count), zw.dot(x): 1.0}, until=2.0, samples=2, throw=False)
    assert "At x[0] = 0, the potential jumps: no finite force can do that." in motion.attrs["message"]


def test_an_event_of_a_large_system_may_ask_for_a_multiplier(monkeypatch):
    """A chain that swings, and the force in its first link: the same instant as by straight-line code."""
    count = 5
    x = zw.coordinates("x", shape=(count, 2))
    a, b = zw.coordinates("a b", shape=2)
    before = np.concatenate([np.zeros((1, 2)), x[:-1]])
    system = zw.System(
        x,
        kinetic=zw.family((zw.dot(a) ** 2).sum() / 2, {a: x}),
        potential=zw.family(9.81 * a[1], {a[1]: x[:, 1]}),
        constraints={"link": zw.family(((a - b) ** 2).sum() - 1, {a: x, b: before})},
    )
    start = {x: np.stack([np.arange(1.0, count + 1), np.zeros(count)], axis=1), zw.dot(x): 0.0}
    pull = zw.Event(zw.multiplier("link[0]") + 30, "pull", stop=True)

    def run():
        motion = zw.simulate(system, start, until=1.0, events=[pull], samples=2, tol=1e-11)
        return float(motion.event_time.values[0])

    straight, rolled = (on_loops(monkeypatch, run, threshold) for threshold in (10**9, 0))
    assert 0.01 < straight < 1.0
    assert rolled == pytest.approx(straight, abs=1e-10)
