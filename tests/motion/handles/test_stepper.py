"""Motions taken on step by step: the same motions, whatever the steps, and a stepper that fails stays where it was."""

import copy
import pickle

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang import multibody as mb
from zwang.errors import InputError, SimulationError
from zwang.lowering.rolled import families

x, y, z, F = zw.coordinates("x y z F")
m, g, L, k = zw.parameters("m g L k")
PENDULUM = zw.System(
    (x, y), kinetic=m*(dot(x)**2 + dot(y)**2)/2, potential=m*g*y, forces={x: F - k*dot(x)},
    constraints={"rod": (x**2 + y**2 - L**2)/2}, parameters={m: 1, g: 9.81, L: 1, k: 0, F: 0},
)  # fmt: skip
RAISED = {x: 1, y: 0, dot(x): 0, dot(y): 0}
CART = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: F}, parameters={F: None})
REST = {x: 0, dot(x): 0}


WALLED = zw.System((x,), kinetic=dot(x) ** 2 / 2, constraints={"wall": zw.Constraint(x >= -1)})


def steps_of(stepper):
    return int(stepper._run.runs.records["accepted"][0])


@pytest.mark.parametrize("dt", [0.001, 0.0137, 2.0])
@pytest.mark.parametrize("tol", [1e-6, 1e-9, 1e-12])
def test_a_motion_does_not_depend_on_the_steps_it_is_taken_by(dt, tol):
    """A pendulum from the horizontal: its energy says |v|² = −2gy."""
    stepper = zw.Stepper(PENDULUM, RAISED, tol=tol)
    while stepper.t < 2.0 - 1e-9:
        t, q, v = stepper.advance(min(dt, 2.0 - stepper.t))
    reference = zw.simulate(PENDULUM, RAISED, t, samples=2, tol=1e-13)
    np.testing.assert_allclose(q, reference.q[-1], atol=100 * tol)
    np.testing.assert_allclose(v, reference.v[-1], atol=300 * tol)
    assert abs(q @ q - 1) < 4e-15
    assert abs(q @ v) < 1e-14
    assert v @ v == pytest.approx(-2 * 9.81 * q[1], rel=100 * tol)


def test_inputs_are_held_over_a_step():
    """ẍ = u_i over steps of dt: v is the sum of u_i dt."""
    stepper = zw.Stepper(CART, REST, inputs=[F])
    u = np.random.default_rng(1).normal(size=40)
    position = velocity = 0.0
    for each in u:
        t, q, v = stepper.advance(0.05, np.array([each]))
        position, velocity = position + velocity * 0.05 + each * 0.05**2 / 2, velocity + each * 0.05
        np.testing.assert_allclose([q[0], v[0]], [position, velocity], rtol=1e-12, atol=1e-13)
    assert t == pytest.approx(2.0)
    assert stepper.t == t


def test_inputs_that_are_interpolated_are_a_table_of_straight_lines():
    times, forces = np.linspace(0, 3, 31), np.random.default_rng(2).normal(size=31)
    stepper = zw.Stepper(PENDULUM, RAISED, inputs=[F], parameters={F: forces[0]}, tol=1e-11)
    for force in forces[1:]:
        _, q, v = stepper.advance(0.1, force, interpolate=True)
    reference = zw.simulate(PENDULUM, RAISED, 3.0, samples=2, tol=1e-12, parameters={F: zw.Signal(times, forces)})
    np.testing.assert_allclose(q, reference.q[-1], atol=1e-9)
    np.testing.assert_allclose(v, reference.v[-1], atol=1e-9)


def test_parameters_are_inputs_too_held_or_interpolated():
    """ẍ = −k ẋ with k from 1 to 3 over a second: ln v falls by 2."""
    drag = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: -k * dot(x)}, parameters={k: 1})
    stepper = zw.Stepper(drag, {x: 0, dot(x): 1}, inputs=["k"], tol=1e-11)
    assert stepper.advance(1.0, 3.0, interpolate=True)[2][0] == pytest.approx(np.exp(-2), rel=1e-9)
    assert stepper.advance(1.0)[2][0] == pytest.approx(np.exp(-5), rel=1e-9)
    assert stepper.advance(1.0, 0.5)[2][0] == pytest.approx(np.exp(-5.5), rel=1e-9)


def test_a_mass_may_be_another_one_from_step_to_step():
    """A spring of rate 1 with a quarter of a period at mass 1, then half a one at mass 4."""
    spring = zw.System((x,), kinetic=m * dot(x) ** 2 / 2, potential=x**2 / 2)
    stepper = zw.Stepper(spring, {x: 1, dot(x): 0}, inputs=[m], tol=1e-11)
    _, q, v = stepper.advance(np.pi / 2, 1.0)
    np.testing.assert_allclose([q[0], v[0]], [0, -1], atol=1e-9)
    _, q, v = stepper.advance(2 * np.pi, 4.0)
    np.testing.assert_allclose([q[0], v[0]], [0, 1], atol=1e-9)


def test_a_constraint_on_velocities_follows_what_is_interpolated():
    """A cart is driven at the speed u(t), which has to go on without a jump."""
    driven = zw.System((x,), kinetic=dot(x) ** 2 / 2, constraints={"speed": dot(x) - F}, parameters={F: 0})
    stepper = zw.Stepper(driven, REST, inputs=[F])
    _t, q, v = stepper.advance(1.0, 2.0, interpolate=True)
    np.testing.assert_allclose([q[0], v[0]], [1.0, 2.0], rtol=1e-12)
    np.testing.assert_allclose(stepper.advance(1.0)[1], [3.0], rtol=1e-12)
    with pytest.raises(
        InputError, match=r"'speed' asks the motion to follow F, which jumps at t = 2, from 2 to 5.*inter"
    ):
        stepper.advance(1.0, 5.0)
    assert stepper.t == 2.0
    held = zw.Stepper(PENDULUM, RAISED, inputs=[L])
    held.advance(0.1, 1.0)
    with pytest.raises(InputError, match=r"'rod' asks the motion to follow L.*begin anew with reset"):
        held.advance(0.1, 1.1)
    with pytest.raises(InputError, match=r"'rod' asks the motion to follow L, which changes its rate at once"):
        held.advance(0.1, 1.1, interpolate=True)


def test_the_size_of_steps_is_remembered():
    stepper = zw.Stepper(PENDULUM, RAISED)
    counts = []
    for _ in range(200):
        stepper.advance(0.001)
        counts.append(steps_of(stepper))
    assert max(counts[1:]) == 1
    assert counts[0] < 20


def test_it_repeats_itself_to_the_last_bit():
    def run(stepper):
        return [stepper.advance(0.01, np.array([np.sin(i)])) for i in range(300)]

    stepper = zw.Stepper(PENDULUM, RAISED, inputs=[F])
    first = run(stepper)
    stepper.reset()
    again, another = run(stepper), run(zw.Stepper(PENDULUM, RAISED, inputs=[F]))
    for a, b, c in zip(first, again, another, strict=True):
        np.testing.assert_array_equal(np.concatenate([[a[0]], *a[1:]]), np.concatenate([[b[0]], *b[1:]]))
        np.testing.assert_array_equal(np.concatenate([[a[0]], *a[1:]]), np.concatenate([[c[0]], *c[1:]]))


def test_reset_goes_elsewhere_in_state_time_and_inputs():
    stepper = zw.Stepper(CART, REST, inputs=[F], t=1.0)
    stepper.advance(1.0, 1.0)
    stepper.reset({x: 5, dot(x): 1}, t=7.0, u=[2.0])
    assert (stepper.t, stepper.q.tolist(), stepper.v.tolist()) == (7.0, [5.0], [1.0])
    np.testing.assert_allclose(stepper.advance(1.0)[1], [7.0], rtol=1e-12)
    stepper.reset()
    assert (stepper.t, stepper.q.tolist()) == (0.0, [0.0])


def test_what_was_handed_out_stays_as_it_is():
    stepper = zw.Stepper(CART, REST, inputs=[F])
    _, q, v = stepper.advance(1.0, 1.0)
    kept = q.copy(), v.copy(), stepper.q
    q += 1.0
    stepper.advance(1.0, 1.0)
    np.testing.assert_allclose(stepper.q, [2.0], rtol=1e-12)
    np.testing.assert_array_equal(kept[0], kept[2])


def test_a_long_loop_stays_on_redundant_constraints():
    twice = zw.System(
        (x, y), kinetic=(dot(x)**2 + dot(y)**2)/2, potential=g*y,
        constraints={"rod": x**2 + y**2 - 1, "twice": 2*x**2 + 2*y**2 - 2}, parameters={g: 9.81},
    )  # fmt: skip
    stepper = zw.Stepper(twice, RAISED)
    for _ in range(5000):
        _, q, v = stepper.advance(0.01)
    assert abs(q @ q - 1) < 1e-14
    assert v @ v == pytest.approx(-2 * 9.81 * q[1], rel=1e-6)


def test_a_stop_raises_what_simulate_raises_and_changes_nothing():
    """ẍ = log(1 − x) … with x = 1 ahead."""
    wall = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: F * sp.log(1 - x)}, parameters={F: 0})
    stepper = zw.Stepper(wall, {x: 0, dot(x): 1}, inputs=[F])
    before = stepper.advance(0.5)
    with pytest.raises(SimulationError, match="stopped at t = ") as stop:
        stepper.advance(1.0, -0.001)
    assert stop.value.status == "not finite"
    assert (stepper.t, stepper.q.tolist(), stepper.v.tolist()) == (before[0], before[1].tolist(), before[2].tolist())
    np.testing.assert_allclose(stepper.advance(0.25)[1], [0.75], rtol=1e-12)


def test_a_singular_stop_has_the_name_of_its_constraint_and_changes_nothing():
    """A slider whose row vanishes for good where it stands: x² = 0."""
    gone = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints={"gone": x * sp.Max(0, 1 - y) ** 3})
    stepper = zw.Stepper(gone, {x: 0, y: 0, dot(x): 0, dot(y): 1})
    stepper.advance(0.5)
    with pytest.raises(SimulationError, match="gone") as stop:
        stepper.advance(1.0)
    assert stop.value.status == "singular"
    assert stepper.t == 0.5


def test_singular_positions_are_crossed_as_simulate_crosses_them():
    """A parallelogram goes flat twice a turn."""
    a, b, c = zw.coordinates("a b c")
    bars = zw.System(
        (a, b, c), kinetic=(dot(a)**2 + 3*dot(b)**2 + dot(c)**2)/2,
        constraints={
            "x": sp.cos(a) + 2*sp.cos(b) - sp.cos(c) - 2, "y": sp.sin(a) + 2*sp.sin(b) - sp.sin(c),
        },
    )  # fmt: skip
    start = {a: 1, b: 0, c: 1, dot(a): 1, dot(b): 0, dot(c): 1}
    stepper = zw.Stepper(bars, start)
    for _ in range(80):
        _, q, v = stepper.advance(0.05)
    np.testing.assert_allclose(q, [5, 0, 5], atol=1e-6)  # it turns at its rate: nothing pulls at it
    np.testing.assert_allclose(v, [1, 0, 1], atol=1e-6)


def test_switches_of_state_and_time_are_met_on_the_way():
    """Friction slows a block that is thrown up a slope, and again on its way down; a force begins within a step."""
    slope = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: -2 - sp.sign(dot(x))})
    stepper = zw.Stepper(slope, {x: 0, dot(x): 3})
    for _ in range(20):
        _, q, v = stepper.advance(0.1)
    np.testing.assert_allclose([q[0], v[0]], [1.5 - 0.5, -1.0], atol=1e-9)  # up in 1 s with 3, back down with 1
    late = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: F * sp.Heaviside(zw.t - 0.35)}, parameters={F: None})
    stepper = zw.Stepper(late, REST, inputs=[F])
    for _ in range(10):
        _, q, v = stepper.advance(0.1, 2.0)
    np.testing.assert_allclose([q[0], v[0]], [0.65**2, 1.3], rtol=1e-10)


def test_tables_that_are_not_inputs_are_read_on_the_way():
    pushed = zw.Signal([0, 0.35, 1], [0, 2, 2])
    stepper = zw.Stepper(CART, REST, parameters={F: pushed})
    for _ in range(10):
        _, _q, v = stepper.advance(0.1)
    assert v[0] == pytest.approx(0.35 + 2 * 0.65, rel=1e-10)
    ending = zw.Signal([0, 1], [1, 1], outside="error")
    stepper = zw.Stepper(CART, REST, parameters={F: ending})
    stepper.advance(0.9)
    with pytest.raises(InputError, match="but the signal F"):
        stepper.advance(0.2)


def test_large_systems_are_stepped_too(monkeypatch):
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    stepper = zw.Stepper(PENDULUM, RAISED, inputs=[F], tol=1e-11)
    for _ in range(10):
        _, q, _v = stepper.advance(0.1, 0.5)
    reference = zw.simulate(PENDULUM, RAISED, 1.0, samples=2, parameters={F: 0.5})
    np.testing.assert_allclose(q, reference.q[-1], atol=1e-9)


def test_mechanisms_and_models_begin_at_their_own_start():
    bob = mb.Particle("bob", 1.0, position=(1, 0))
    rod = mb.Rod("rod", mb.ground, bob, start=(0, 0), end=(1, 0))
    swing = mb.Mechanism([bob], joints=[rod], forces=[mb.Gravity((0, -9.81))])
    _t, q, _ = zw.Stepper(swing).advance(0.5)
    plain = zw.Stepper(PENDULUM, RAISED)
    np.testing.assert_allclose(q, plain.advance(0.5)[1], atol=1e-8)
    model = zw.load_model("pendulum")
    _, q, _ = zw.Stepper(model, inputs=["g"]).advance(0.5)
    np.testing.assert_allclose(q, model.simulate(until=0.5, samples=2).q[-1], atol=1e-8)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: zw.Stepper(CART, REST, inputs=["G"]), "inputs names G, which is not a parameter or known function"),
        (lambda: zw.Stepper(CART, REST, inputs=[F, F]), "inputs names F twice"),
        (lambda: zw.Stepper(CART, REST), "F.* has no value"),
        (lambda: zw.Stepper(CART, inputs=[F]), "a System has no start of its own"),
        (lambda: zw.Stepper(CART, {x: [0, 1], dot(x): 0}, inputs=[F]), "takes one start"),
        (lambda: zw.Stepper(CART, REST, inputs=[F], tol=0), "tol = 0 is out of range"),
        (lambda: zw.Stepper(PENDULUM, {**RAISED, x: 2}), "does not satisfy its constraints: 'rod' reads 1.5"),
        (lambda: zw.Stepper(PENDULUM, RAISED, parameters={m: [1, 2]}), "parameters are arrays"),
        (lambda: zw.Stepper("cart"), "Stepper takes a System"),
    ],
)
def test_what_cannot_be_stepped_is_refused_by_name(make, words):
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0.1,), r"u is missing: give \(1,\) numbers for F"),
        ((0.1, [1.0, 2.0]), r"u has shape \(2,\): give \(1,\) numbers for F"),
        ((0.1, np.array([np.nan])), "F = nan is not finite"),
        ((0.1, "fast"), "u = 'fast' is not a real number"),
        ((0.0, 1.0), "dt = 0.0 at t = 0: a positive number"),
        ((-0.1, 1.0), "a positive number"),
        ((np.nan, 1.0), "dt = nan"),
    ],
)
def test_bad_steps_are_refused_by_name_and_change_nothing(arguments, words):
    stepper = zw.Stepper(CART, REST, inputs=[F])
    with pytest.raises(InputError, match=words):
        stepper.advance(*arguments)
    stepper.advance(0.1, 1.0)
    if len(arguments) > 1:
        with pytest.raises(InputError):
            stepper.advance(*arguments)
    np.testing.assert_allclose(stepper.advance(0.1, 1.0)[2], [0.2], rtol=1e-12)


def parallelogram():
    """Two cranks and a coupler, all as long as their support; force F drives the left crank."""
    u1, w1, u2, w2 = zw.coordinates("u1 w1 u2 w2")
    F = zw.parameters("F")
    system = zw.System(
        (u1, w1, u2, w2),
        kinetic=sum(dot(q) ** 2 for q in (u1, w1, u2, w2)) / 2,
        forces={u1: F * w1, w1: -F * u1},
        constraints={
            "left crank": u1**2 + w1**2 - 1,
            "right crank": (u2 - 1) ** 2 + w2**2 - 1,
            "coupler": (u2 - u1) ** 2 + (w2 - w1) ** 2 - 1,
        },
        parameters={F: 0},
    )
    return system, {u1: 0, w1: 1, u2: 1, w2: 1, dot(u1): 1, dot(w1): 0, dot(u2): 1, dot(w2): 0}


@pytest.mark.parametrize("before", [(np.pi / 2,), (1.0, np.pi / 2 - 1.0), (np.pi / 2 - 1e-9,), (np.pi / 2 + 1e-12,)])
def test_a_step_that_ends_at_a_singular_position_is_gone_on_from(before):
    """Stretched out, the parallelogram could fold: it stays one, as its motion has it, turning at constant speed."""
    stepper = zw.Stepper(*parallelogram())
    for dt in (*before, 0.1, 0.2):
        t, q, v = stepper.advance(dt)
        assert abs(q - [np.sin(t), np.cos(t), 1 + np.sin(t), np.cos(t)]).max() < 1e-7
        assert abs(v - [np.cos(t), -np.sin(t), np.cos(t), -np.sin(t)]).max() < 1e-7


def test_with_other_inputs_it_is_said_that_the_motion_stands_at_a_singular_position():
    stepper = zw.Stepper(*parallelogram(), inputs=["F"])
    stepper.advance(np.pi / 2, 0.0)
    with pytest.raises(SimulationError, match=r"ended at t = 1\.57079632679, at a singular position"):
        stepper.advance(0.1, 0.5)
    t, q, _ = stepper.advance(0.1, 0.0)  # it stays where it was, and may go on as before
    assert abs(q - [np.sin(t), np.cos(t), 1 + np.sin(t), np.cos(t)]).max() < 1e-7


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_stepper_is_not_copied_for_two_would_move_one_state(again):
    stepper = zw.Stepper(PENDULUM, RAISED)
    with pytest.raises(InputError, match="cannot be copied or pickled: make another one"):
        again(stepper)


def test_a_start_off_its_constraints_is_refused_when_the_stepper_is_made():
    x, y = zw.coordinates("x y")
    u = zw.parameters("u")
    off = {x: 6, y: -8, zw.dot(x): 0, zw.dot(y): 0}
    kinetic = (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2
    pushed = zw.System((x, y), kinetic=kinetic, forces={x: u}, constraints={"rod": x**2 + y**2 - 25})
    for given in ({"inputs": [u]}, {"parameters": {u: 1.0}}):  # inputs that have no value yet change nothing of it
        with pytest.raises(InputError, match="'rod' reads 75 in position"):
            zw.Stepper(pushed, off, **given)
    longer = zw.System((x, y), kinetic=kinetic, constraints={"rod": x**2 + y**2 - u})
    stepper = zw.Stepper(longer, off, inputs=[u])  # whether it fits, the input decides
    with pytest.raises(InputError, match="'rod' reads 75 in position"):
        stepper.advance(0.1, [25.0])
