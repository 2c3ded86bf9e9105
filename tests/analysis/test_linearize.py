"""Linear state spaces: closed forms, differences along the constraints, short motions; any states, any rows."""

import json
import sys

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm, solve_continuous_are
from scipy.optimize import brentq

import zwang as zw
from tests.analysis.systems import (
    REFERENCES,
    VARIANTS,
    bicycle,
    cart_pole,
    disc,
    doubled,
    doubled_and_scaled,
    ziegler,
)
from zwang import dot
from zwang import multibody as mb
from zwang.errors import InputError

x, y, u, c = zw.coordinates("x y u c")
k, m, F = zw.parameters("k m F")
TWO = (dot(x) ** 2 + dot(y) ** 2) / 2
PENDULUM = zw.System((x, y), kinetic=TWO, potential=9.81 * y, constraints={"rod": x**2 + y**2 - 1})


def eigenvalues(lin):
    return np.sort_complex(np.linalg.eigvals(lin.A.values))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_cart_pole_and_its_regulator(variant):
    system = variant(cart_pole())
    cart, a, b = system.coordinates
    theta = 2 * (a - cart)
    reference = REFERENCES["B2 cart-pole LQR"]
    lin = zw.linearize(
        system,
        {cart: 0, a: 0, b: 0.5},
        states={"c": cart, "theta": theta, "c'": dot(cart), "theta'": 2 * (dot(a) - dot(cart))},
        inputs=["F"],
    )
    assert lin.state.values.tolist() == lin.state_.values.tolist() == lin.output.values.tolist()
    assert lin.A.values == pytest.approx(np.array(json.loads(reference["A"])), abs=1e-12)
    assert lin.B.values[:, 0] == pytest.approx(json.loads(reference["B"]), abs=1e-13)
    X = solve_continuous_are(lin.A.values, lin.B.values, np.eye(4), np.eye(1))
    assert (lin.B.values.T @ X)[0] == pytest.approx([float(g) for g in reference["K"]], rel=2e-12)
    assert lin.attrs["closure"] < 1e-14
    assert lin.attrs["residual"] < 1e-14


@pytest.mark.parametrize("variant", VARIANTS)
def test_ziegler_s_loads(variant):
    """Flutter where the squares of the frequencies meet; with dampers, where Routh's determinant vanishes."""
    system = variant(ziegler())
    state = dict(zip(system.coordinates, (0, 1, 0, 2), strict=True))

    def polynomial(P, damping):
        lin = zw.linearize(system, state, parameters={"P": P, "damping": damping})
        return np.poly(lin.A.values)

    def apart(P):
        _, _, a, _, b = polynomial(P, 0)
        return a**2 - 4 * b

    def routh(P):
        _, a, b, c, d = polynomial(P, 0.1)
        return a * b * c - c**2 - a**2 * d

    reference = REFERENCES["A1 Ziegler"]
    assert brentq(apart, 1.5, 2.5, xtol=1e-14) == pytest.approx(float(reference["undamped"]), rel=1e-13)
    assert brentq(routh, 1, 2, xtol=1e-14) == pytest.approx(float(reference["damped c1=c2=0.1"]), rel=1e-13)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_disc_that_rolls_upright(variant):
    system = variant(disc())
    *_, lean, turn = system.coordinates
    reference = REFERENCES["A2 rolling disc"]

    def square(spin):
        """λ² of lean, whatever the heading does: λ² θ = (a θ + b ω), ω̇ = … θ̇, by the eigenvalues that are not zero."""
        state = dict.fromkeys(system.coordinates, 0.0) | {system.coordinates[2]: 1.0}
        state |= {dot(turn): spin, dot(system.coordinates[0]): spin}
        lin = zw.linearize(system, state, states=[lean, dot(lean), dot(system.coordinates[3]), dot(turn)])
        values = np.linalg.eigvals(lin.A.values)
        return float((values[np.abs(values).argmax()] ** 2).real)

    assert square(3.0) == pytest.approx(float(reference["upright, spin 3 rad/s: lambda^2 of lean"]), rel=1e-13)
    # λ² falls with the square of the spin, in a straight line
    low, high = square(0.0), square(3.0)
    assert low / (low - high) * 9 == pytest.approx(float(reference["critical spin^2"]), rel=1e-13)


def test_a_bicycle_has_the_published_eigenvalues():
    """Meijaard, Papadopoulos, Ruina and Schwab (2007), table 2: weave, capsize and castering at 5 m/s."""
    system = bicycle()
    a, _, z, _, roll, _, steer, rear, front = system.coordinates

    def upright(v):
        state = dict.fromkeys(system.coordinates, 0.0)
        return state | {z: -0.3, dot(a): v, dot(rear): -v / 0.3, dot(front): -v / 0.35}

    states = [roll, steer, dot(roll), dot(steer)]
    lin = zw.linearize(system, upright(5.0), states=states)
    published = [-14.07838969279822, -0.77534188219585 - 4.46486771378823j, -0.77534188219585 + 4.46486771378823j]
    published.append(-0.32286642900409)
    assert eigenvalues(lin) == pytest.approx(np.array(published), rel=1e-12)
    chosen = zw.modes(system, upright(5.0))
    assert int(chosen.zeros) == 3
    assert chosen.attrs["families"] == "y; yaw"
    speeds = np.linspace(0, 10, 101)
    found = zw.modes(system, upright(speeds), states=states)
    assert found.eigenvalue.shape == (101, 4)
    assert np.sort_complex(found.eigenvalue.values[50]) == pytest.approx(np.array(published), rel=1e-12)
    # a rider need not steer between the weave speed and the capsize speed, as published
    stable = speeds[(found.eigenvalue.values.real < 0).all(axis=1)]
    assert stable[0] == pytest.approx(4.3)
    assert stable[-1] == pytest.approx(6.0)
    # each mode is followed: no jump is larger than a neighbour's step could be
    assert np.abs(np.diff(found.eigenvalue.values[5:], axis=0)).max() < 1.5


# Laws


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_L4_a_linear_system_is_the_first_order_of_the_motion(seed):
    """expm(A h) is what sensitivities of a short motion give, in any states; and eigenvalues depend on no choice."""
    rng = np.random.default_rng(seed)
    a, b = zw.coordinates("a b")
    height = 0.3 * sp.sin(a) - 0.2 * b**2 + rng.uniform(-0.3, 0.3) * a * b
    z = zw.coordinates("z")
    system = zw.System(
        (a, b, z),
        kinetic=(dot(a) ** 2 + 2 * dot(b) ** 2 + dot(z) ** 2) / 2 + rng.uniform(0, 0.3) * dot(a) * dot(b),
        potential=3 * a**2 + 4 * b**2 + a * b + z,
        forces={a: -0.3 * dot(a) + 0.4 * dot(b), b: -0.2 * dot(b) - 0.4 * dot(a)},
        constraints={"surface": z - height, "twice": 5 * (z - height) * (2 + sp.cos(a))},
    )
    e = zw.equilibrium(system, {a: 0.1, b: -0.1, z: 0})
    lin = zw.linearize(system, e, states=[a, b, dot(a), dot(b)])
    h = 0.4
    inputs = zw.admissible(system, e.state, [{a: 1.0}, {b: 1.0}, {dot(a): 1.0}, {dot(b): 1.0}])
    motion = zw.sensitivities(system, e.state, h, inputs, samples=2, tol=1e-13)
    begin, end = (np.vstack([motion.dq.values[i, :2], motion.dv.values[i, :2]]) for i in (0, -1))
    assert end @ np.linalg.inv(begin) == pytest.approx(expm(lin.A.values * h), abs=1e-11)
    # other states, and other coordinates
    other = zw.linearize(system, e, states=[z, a - b, dot(z), dot(a) + 2 * dot(b)]) if abs(e.state[a]) > 1e-3 else lin
    assert eigenvalues(other) == pytest.approx(eigenvalues(lin), rel=1e-8, abs=1e-8)
    assert eigenvalues(zw.linearize(system, e)) == pytest.approx(eigenvalues(lin), rel=1e-9, abs=1e-9)
    assert eigenvalues(zw.linearize(doubled_and_scaled(system), e)) == pytest.approx(eigenvalues(lin), abs=1e-9)


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_L1_it_agrees_with_differences_along_the_constraints(seed):
    """Central differences of accelerations between states that were put together."""
    rng = np.random.default_rng(seed)
    load = float(rng.uniform(0.5, 1.5))
    system = doubled(ziegler())
    given = {"P": load, "damping": 0.1}
    a, b, d, e = system.coordinates
    lin = zw.linearize(system, {a: 0, b: 1, d: 0, e: 2}, states=[a, d, dot(a), dot(d)], parameters=given)
    step = 1e-5
    for column, moved in enumerate((a, d, dot(a), dot(d))):
        ends = []
        for sign in (1, -1):
            guess = {a: 0, b: 1, d: 0, e: 2, dot(a): 0, dot(d): 0} | {moved: sign * step}
            state = zw.assemble(system, guess, hold=[a, d, dot(a), dot(d)], parameters=given)
            ends.append(zw.evaluate(system, state, parameters=given).acceleration[[0, 2]])
        slope = (ends[0] - ends[1]) / (2 * step)
        assert lin.A.values[2:, column] == pytest.approx(slope, abs=1e-8)


def test_stacks_are_the_single_ones_side_by_side():
    system = cart_pole()
    cart, a, b = system.coordinates
    springy = zw.System(
        system.coordinates,
        kinetic=system.kinetic,
        potential=system.potential + k * cart**2 / 2,
        constraints={"pole": system.constraints[0].expression},
    )
    values = np.array([0.5, 1.0, 2.0])
    stack = zw.linearize(springy, {cart: 0, a: 0, b: -0.5}, parameters={k: values}, outputs=[dot(dot(cart))])
    assert stack.A.dims == ("k", "state", "state_")
    assert stack.k.values.tolist() == values.tolist()
    for value in values:
        one = zw.linearize(springy, {cart: 0, a: 0, b: -0.5}, parameters={k: value}, outputs=[dot(dot(cart))])
        assert stack.sel(k=value).A.values == pytest.approx(one.A.values, rel=1e-14)
        assert stack.sel(k=value).C.values == pytest.approx(one.C.values, rel=1e-14)


def test_outputs_may_be_accelerations_multipliers_and_forces():
    """A pendulum that is pushed: x'' = −(g/l)x + F/m; its rod pulls with mg + …, constant to first order."""
    pushed = zw.System(
        (x, y), kinetic=m * TWO, potential=m * 9.81 * y, forces={x: F, y: 2 * F},
        constraints={"rod": x**2 + y**2 - 1, "again": x**2 + y**2 - 1}, parameters={m: 2, F: 0},
    )  # fmt: skip
    outputs = [dot(dot(x)), zw.multiplier("rod"), zw.constraint_force(x), zw.constraint_force(y), x**2 + 3 * x]
    lin = zw.linearize(pushed, {x: 0, y: -1}, states=[x, dot(x)], inputs=[F], outputs=outputs)
    assert lin.C.values == pytest.approx(np.array([[-9.81, 0], [0, 0], [-2 * 9.81, 0], [0, 0], [3, 0]]), abs=1e-13)
    # up by 2F: the rods need hold less, each by half: 2yλ = force, y = −1
    assert lin.D.values[:, 0] == pytest.approx([0.5, 0.5, 0, -2, 0], abs=1e-14)
    assert lin.output_value.values == pytest.approx([0, -2 * 9.81 / 4, 0, 2 * 9.81, 0], abs=1e-12)


def test_L2_multipliers_of_redundant_rows_change_as_those_of_least_length_do():
    """Against differences of what `evaluate` gives: rows of different lengths that turn against each other's scale."""
    system = zw.System(
        (x, y), kinetic=TWO, potential=9.81 * y + x**2,
        constraints={"rod": x**2 + y**2 - 1, "again": (3 + x + y) * (x**2 + y**2 - 1)},
    )  # fmt: skip
    e = zw.equilibrium(system, {x: 0.1, y: -1})
    lin = zw.linearize(system, e, states=[x, dot(x)], outputs=[zw.multiplier("rod"), zw.multiplier("again")])
    ends = []
    for sign in (1, -1):
        state = zw.assemble(system, {x: e.state[x] + sign * 1e-5, y: e.state[y]}, hold=[x])
        ends.append(zw.evaluate(system, state).multipliers)
    assert lin.C.values[:, 0] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-8)


def test_known_functions_of_time_are_inputs():
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=x**2, forces={x: 3 * u}, parameters={u: sp.sin(zw.t)})
    lin = zw.linearize(system, {x: 0}, inputs=[u])
    assert lin.input.values.tolist() == ["u"]
    assert lin.B.values.tolist() == [[0.0], [3.0]]
    with pytest.raises(InputError, match="the equations depend on time itself"):
        zw.linearize(system, {x: 0})
    assert zw.linearize(system, {x: 0}, inputs="u", parameters={u: zw.Signal([0, 1], [0, 1])}).B.values[1, 0] == 3


def test_a_mechanism_and_a_model_file_stand_where_a_system_does():
    rod = mb.PlanarBody("rod", 2, 0.1, position=(0, -0.5))
    pendulum = mb.Mechanism(
        [rod], joints=[mb.Revolute("pin", mb.ground, rod, at=(0, 0))], forces=[mb.Gravity((0, -9.81))]
    )
    values = zw.modes(pendulum).frequency.values
    assert values == pytest.approx(np.sqrt(2 * 9.81 * 0.5 / (0.1 + 2 * 0.25)), rel=1e-13)
    model = zw.load_model("pendulum")
    assert zw.modes(model, zw.equilibrium(model)).sizes["mode"] == 2


# Refusals


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("neither an equilibrium nor steady in these states: x' changes at", lambda: (PENDULUM, {x: 0.6, y: -0.8})),
        ("does not satisfy its constraints: 'rod' reads 1.25", lambda: (PENDULUM, {x: 1.5, y: 0})),
        ("states: x depends on time", lambda: (PENDULUM, {x: 0, y: -1}, [x * zw.t, dot(x)])),
        ("states: x and x\\*\\*2 \\+ x depend on each other", lambda: (PENDULUM, {x: 0, y: -1}, [x, x + x**2])),
        ("states: y does not change along the constraints", lambda: (PENDULUM, {x: 0, y: -1}, [y, dot(x)])),
        ("these states do not close: the rate of x depends on more than they say, such as x'",
         lambda: (PENDULUM, {x: 0, y: -1}, [x])),
        ("states is empty", lambda: (PENDULUM, {x: 0, y: -1}, [])),
        ("inputs names F, which is not a parameter or known function", lambda: (PENDULUM, {x: 0, y: -1}, None, [F])),
        ("the output x depends on more than these states say",
         lambda: (zw.System((x, y), kinetic=TWO, potential=y**2), {x: 0, y: 0}, [y, dot(y)], (), [x])),
        ("states: k\\*x uses k, which is unknown here", lambda: (PENDULUM, {x: 0, y: -1}, [k * x])),
        ("arrays of shape \\(1, 2\\)", lambda: (PENDULUM, {x: [[0, 0]], y: [[-1, -1]]})),
        ("the equations switch at this state",
         lambda: (zw.System((x,), kinetic=dot(x)**2, potential=x**2, forces={x: -sp.sign(dot(x))}), {x: 0})),
    ],
)  # fmt: skip
def test_what_is_no_linear_system_is_refused_by_name(words, call):
    if words.startswith("states: x depends on time"):
        words = "states: t\\*x depends on time itself"
    with pytest.raises(InputError, match=words):
        zw.linearize(*call())


def test_an_input_may_not_move_a_constraint():
    driven = zw.System((x, y), kinetic=TWO, constraints={"drive": x - k}, potential=y**2, parameters={k: 1})
    with pytest.raises(InputError, match="the input k moves the constraint 'drive'"):
        zw.linearize(driven, {x: 1, y: 0}, inputs=[k])
    loose = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=k * x**2, parameters={k: 1})
    with pytest.raises(InputError, match="the state k \\+ x contains the input k"):
        zw.linearize(loose, {x: 1e-17}, states=[k + x, dot(x)], inputs=[k])


def test_at_a_singular_position_there_is_no_linear_system():
    """Two lines that cross, and a flat four-bar; where rows are redundant all along, there is one."""
    crossing = zw.System((x, y), kinetic=TWO, potential=x**2 + y**2, constraints={"cross": x * y})
    with pytest.raises(InputError, match="the rank of the constraints changes at this state, at 'cross'"):
        zw.linearize(crossing, {x: 0, y: 0})
    e = zw.equilibrium(crossing, {x: 0.1, y: 0})
    assert e.stable is None
    assert e.verdict == "not to be told: the rank of the constraints changes at this state, at 'cross'"
    flat = zw.System(
        (x, y, u, c), kinetic=TWO + dot(u) ** 2 + dot(c) ** 2, potential=-2 * x - 2 * u,
        constraints={"crank": x**2 + y**2 - 1, "rocker": (u - 2) ** 2 + c**2 - 1,
                     "coupler": (u - x) ** 2 + (c - y) ** 2 - 4},
    )  # fmt: skip
    with pytest.raises(InputError, match="the rank of the constraints changes at this state"):
        zw.linearize(flat, {x: 1, y: 0, u: 3, c: 0})


def test_what_cannot_move_has_reactions_still():
    held = zw.System((x, y), kinetic=TWO, potential=9.81 * y, constraints={"a": x, "b": y - 1})
    lin = zw.linearize(held, {x: 0, y: 1}, outputs=[zw.multiplier("b")])
    assert lin.sizes["state"] == 0
    assert lin.output_value.values == pytest.approx([9.81])


# python-control


def test_python_control_is_asked_for_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(InputError, match=r"to_control needs the package python-control: pip install zwang\[control\]"):
        zw.to_control(zw.linearize(PENDULUM, {x: 0, y: -1}))


def test_python_control_gets_names():
    control = pytest.importorskip("control")
    system = cart_pole()
    cart, a, b = system.coordinates
    lin = zw.linearize(system, {cart: 0, a: 0, b: 0.5}, states=[cart, a, dot(cart), dot(a)], inputs=["F"])
    space = zw.to_control(lin)
    assert space.state_labels == ["c", "x", "c'", "x'"]
    assert space.input_labels == ["F"]
    assert control.ctrb(space.A, space.B).shape == (4, 4)


def test_python_control_gets_mechanisms_whose_names_have_dots():
    """A planar arm and one in space, with a motor: python-control allows no dots, and names stay different."""
    control = pytest.importorskip("control")
    torque = zw.parameters("motor.torque")
    rod = mb.PlanarBody("rod", 2, 0.1, position=(0, -0.5))
    pin = mb.Revolute("pin", mb.ground, rod, at=(0, 0))
    motor = mb.Actuator("motor", pin, effort=torque)
    plane = mb.Mechanism([rod], joints=[pin], forces=[mb.Gravity((0, -9.81)), motor], parameters={torque: 0})
    space = zw.to_control(zw.linearize(plane, inputs=[torque]))
    assert space.input_labels == ["motor_torque"]
    assert all("." not in name for name in (*space.state_labels, *space.output_labels))
    _, _, poles = control.lqr(space, np.eye(2), np.eye(1))
    assert (poles.real < 0).all()
    assert np.abs(control.poles(zw.to_control(zw.linearize(plane)))) == pytest.approx([np.sqrt(9.81 / 0.6)] * 2)
    bob = mb.Body("bob", 1, (0.01, 0.01, 0.01), position=(0, 0, -1))
    hung = mb.Mechanism(
        [bob], joints=[mb.Spherical("tip", mb.ground, bob, at=(0, 0, 0))], forces=[mb.Gravity((0, 0, -9.81))]
    )
    assert zw.to_control(zw.linearize(hung)).nstates == 6


def test_what_is_no_linear_system_is_told_how_to_become_one():
    for whole in (PENDULUM, zw.load_model("pendulum")):
        with pytest.raises(InputError, match=r"this is a \w+: to_control\(linearize\(system, state, inputs="):
            zw.to_control(whole)
    with pytest.raises(InputError, match="got float"):
        zw.to_control(2.0)


def test_a_stack_is_no_single_system():
    stack = zw.linearize(PENDULUM, {x: [0, 0], y: [-1, -1]})
    with pytest.raises(InputError, match=r"a stack along sample: choose one, as in lin.isel\(sample=0\)"):
        zw.to_control(stack)
    with pytest.raises(InputError, match=r"takes what zwang\.linearize gives; this has no A, B, C and D"):
        zw.to_control(zw.modes(PENDULUM, {x: 0, y: -1}))
