"""Which states describe the motion beside a steady one: what stays constant all along it, not only for an instant."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.analysis.systems import cart_pole
from zwang import dot
from zwang import multibody as mb
from zwang.analysis.steady_states import four_of_a_unit
from zwang.errors import InputError

G = 9.81
PUBLISHED = [-14.07838969279822, -0.77534188219585 - 4.46486771378823j, -0.77534188219585 + 4.46486771378823j]
PUBLISHED.append(-0.32286642900409)


def bicycle(v=5.0, heading=0.0, at=0.0, tilt=np.pi / 10):
    """Whipple's benchmark bicycle of rigid bodies, upright and straight ahead: Meijaard and others (2007), z up."""
    c, s = np.cos(heading), np.sin(heading)
    aside = (-s, c, 0)

    def place(x, z):
        return (at + c * x, s * x, z)

    def body(name, mass, xx, yy, zz, xz, x, z, spin=0.0):
        return mb.Body(
            name, mass, [[xx, 0, -xz], [0, yy, 0], [-xz, 0, zz]], position=place(x, z),
            orientation=(np.cos(heading / 2), 0, 0, np.sin(heading / 2)), velocity=(v * c, v * s, 0),
            angular_velocity=tuple(spin * np.array(aside)),
        )  # fmt: skip

    rear = body("rear", 2, 0.0603, 0.12, 0.0603, 0, 0, 0.3, v / 0.3)
    frame = body("frame", 85, 9.2, 11, 2.8, 2.4, 0.3, 0.9)
    fork = body("fork", 4, 0.05892, 0.06, 0.00708, -0.00756, 0.9, 0.7)
    front = body("front", 3, 0.1405, 0.28, 0.1405, 0, 1.02, 0.35, v / 0.35)
    steering = (-np.sin(tilt) * c, -np.sin(tilt) * s, np.cos(tilt))
    joints = [
        mb.Revolute("rear axle", frame, rear, at=place(0, 0.3), axis=aside),
        mb.Revolute("steering", frame, fork, at=place(1.1, 0), axis=steering),
        mb.Revolute("front axle", fork, front, at=place(1.02, 0.35), axis=aside),
        mb.RollingDisc("rear rolls", mb.ground, rear, radius=0.3, axis=aside),
        mb.RollingDisc("front rolls", mb.ground, front, radius=0.35, axis=aside),
    ]
    return mb.Mechanism([rear, frame, fork, front], joints=joints, forces=[mb.Gravity((0, 0, -G))])


def moving(found):
    """Eigenvalues that are not zero by structure, in order."""
    values = found.eigenvalue.values
    return np.sort_complex(values[int(found.zeros) :])


def body_along(name, mass, inertia, place, turn, spin):
    """A body that turns about the origin: place and angular velocity (3,), a turn about y."""
    return mb.Body(
        name, mass, inertia, position=tuple(place), orientation=(np.cos(turn / 2), 0, np.sin(turn / 2), 0),
        velocity=tuple(np.cross(spin, place)), angular_velocity=tuple(spin),
    )  # fmt: skip


def top(tilt, spin, precession):
    """A heavy top on a fixed tip: 1 kg at 0.3 m, 0.02 and 0.03 kg m² about its centre."""
    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    turns = np.array([0, 0, precession]) + (spin - precession * np.cos(tilt)) * axis
    body = body_along("top", 1.0, (0.02, 0.02, 0.03), 0.3 * axis, tilt, turns)
    tip = mb.Spherical("tip", mb.ground, body, at=(0, 0, 0))
    return mb.Mechanism([body], joints=[tip], forces=[mb.Gravity((0, 0, -G))])


def caged(axis, spin=50.0, stiffness=100.0):
    """A rotor that spins in a cage on six springs of 0.3 m, each stretched by 0.2 m: 12 kg m/s² a radian."""
    axis = np.array(axis) / np.linalg.norm(axis)
    cage = mb.Body("cage", 2, (0.02, 0.03, 0.04))
    rotor = mb.Body("rotor", 1, 0.003 * (np.eye(3) + np.outer(axis, axis)), angular_velocity=tuple(spin * axis))
    ends = [sign * 0.3 * row for row in np.eye(3) for sign in (1, -1)]
    springs = [
        mb.Spring(f"s{i}", mb.ground, cage, start=tuple(2 * p), end=tuple(p), stiffness=stiffness, rest=0.1)
        for i, p in enumerate(ends)
    ]
    return mb.Mechanism(
        [cage, rotor], joints=[mb.Revolute("axle", cage, rotor, at=(0, 0, 0), axis=axis)], forces=springs
    )


# What is chosen, against published values and closed forms


@pytest.mark.parametrize(("heading", "at"), [(0.0, 0.0), (0.7, 100.0)])
def test_a_bicycle_of_bodies_has_the_published_eigenvalues_in_states_of_its_own(heading, at):
    """The wheels' quaternions turn, although two parts of each are zero all along the motion."""
    assert moving(zw.modes(bicycle(5.0, heading, at))) == pytest.approx(np.array(PUBLISHED), rel=1e-9)


def test_a_sleeping_top_nods_as_seen_from_outside():
    """I₁ z″ − i I₃ n z′ − m g l z = 0 for the tilt z = x + i y: (I₃n ± √(I₃²n² − 4 I₁ m g l)) / 2 I₁."""
    inertia, momentum = 0.02 + 0.3**2, 0.03 * 40
    root = np.sqrt(momentum**2 - 4 * inertia * G * 0.3)
    expected = [(momentum + sign * root) / (2 * inertia) for sign in (-1, 1)]
    found = moving(zw.modes(top(0.0, 40.0, 0.0)))
    assert np.sort(found.imag[found.imag > 0]) == pytest.approx(expected, rel=1e-10)


def test_a_top_that_precesses_nods():
    """λ² = −V″(θ)/I₁ of the effective potential, both momenta held."""
    tilt, W, I1, I3 = 0.5, 3.0, 0.02 + 0.09, 0.03
    spin = (G * 0.3 + I1 * W**2 * np.cos(tilt)) / (I3 * W)
    th = sp.Symbol("th")
    b = I3 * spin
    a = I1 * W * np.sin(tilt) ** 2 + b * np.cos(tilt)
    effective = (a - b * sp.cos(th)) ** 2 / (2 * I1 * sp.sin(th) ** 2) + 0.3 * G * sp.cos(th)
    nodding = np.sqrt(float(effective.diff(th, 2).subs(th, tilt)) / I1)
    found = moving(zw.modes(top(tilt, spin, W)))
    assert np.sort(found.imag) == pytest.approx([-nodding, nodding], rel=1e-9)


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 2, 3), (0.3, -1, 0)])
def test_a_rotor_turns_the_cage_it_spins_in(axis):
    """J ω′ + ω × h + k φ = 0 with h the rotor's spin: J of the cage and of what the rotor has across its axis."""
    e, stiffness = np.array(axis) / np.linalg.norm(axis), 4 * 20 * 0.3 * 2
    J = np.diag([0.02, 0.03, 0.04]) + 0.003 * (np.eye(3) - np.outer(e, e))
    h = 0.006 * 50 * e
    crossed = np.array([[0, -h[2], h[1]], [h[2], 0, -h[0]], [-h[1], h[0], 0]])
    K = np.linalg.solve(J, stiffness * np.eye(3))
    A = np.block([[np.zeros((3, 3)), np.eye(3)], [-K, np.linalg.solve(J, crossed)]])
    bounces = np.sqrt(2 * (100 + 2 * 20 / 0.3) / 3)
    expected = np.sort(np.concatenate([np.linalg.eigvals(A).imag, np.repeat([-bounces, bounces], 3)]))
    found = zw.modes(caged(axis))
    assert np.sort(moving(found).imag) == pytest.approx(expected, rel=1e-9)
    assert np.abs(moving(found).real).max() < 1e-9


def test_a_coin_that_rolls_in_a_circle():
    """The same coin in Euler angles, in which lean and rates are the states."""
    lean, W, m, r = 0.3, 2.0, 1.0, 0.5
    model = zw.load_model("rolling_wheel")
    of_angles = {"m": m, "R": r}
    turn, e = np.array([0, 0, W]), np.array([0, -np.cos(lean), -np.sin(lean)])
    up = np.array([0, -np.sin(lean), np.cos(lean)])  # from the contact to the centre
    about, across = m * r**2 / 2, m * r**2 / 4

    def unbalanced(s):
        spin = turn + s * e
        v = np.cross(spin, r * up)
        force = m * (np.cross(turn, v) + np.array([0, 0, G]))
        H = across * (spin - (spin @ e) * e) + about * (spin @ e) * e
        return (np.cross(turn, H) - np.cross(-r * up, force))[0]

    s = -unbalanced(0) / (unbalanced(1) - unbalanced(0))  # it is linear in s
    spin = turn + s * e
    coin = mb.Body(
        "coin", m, (across, about, across), position=tuple(r * up), velocity=tuple(np.cross(spin, r * up)),
        orientation=(np.cos(lean / 2), np.sin(lean / 2), 0, 0), angular_velocity=tuple(spin),
    )  # fmt: skip
    rolls = mb.RollingDisc("rolls", mb.ground, coin, radius=r, axis=tuple(e))
    found = moving(zw.modes(mb.Mechanism([coin], joints=[rolls], forces=[mb.Gravity((0, 0, -G))])))
    *_, phi, theta, psi = model.system.coordinates
    angles = zw.steady(
        model, constant=[theta, dot(theta), dot(phi), dot(psi)], parameters=of_angles,
        guess=dict(model.guess_with(of_angles)) | {theta: np.pi / 2 + lean, dot(phi): W, dot(psi): -s, dot(theta): 0},
        hold={dot(phi): W, theta: np.pi / 2 + lean},
    )  # fmt: skip
    expected = np.sort_complex([w for w in angles.eigenvalues if abs(w) > 1e-6])
    assert len(found) == 2
    assert np.abs(found) == pytest.approx(np.abs(expected), rel=1e-8)


def test_what_slides_in_an_arm_that_turns():
    """λ² = −V″(r)/m of the effective potential, the angular momentum held."""
    W, k, r, J = 3.0, 30.0, 0.5, 1.0 + 0.01
    arm = mb.PlanarBody("arm", 1, 1, spin=W)
    bead = mb.PlanarBody("bead", 1, 0.01, position=(r, 0), velocity=(0, r * W), spin=W)
    parts = [mb.Revolute("pin", mb.ground, arm, at=(0, 0)), mb.Prismatic("slot", arm, bead, at=(0, 0), axis=(1, 0))]
    spring = mb.Spring("coil", arm, bead, start=(0, 0), end=(r, 0), stiffness=k, rest=r - W**2 * r / k)
    x = sp.Symbol("x")
    effective = ((J + r**2) * W) ** 2 / (2 * (J + x**2)) + k * (x - (r - W**2 * r / k)) ** 2 / 2
    expected = np.sqrt(float(effective.diff(x, 2).subs(x, r)))
    lin = zw.linearize(mb.Mechanism([arm, bead], joints=parts, forces=[spring]))
    assert lin.state.values.tolist() == ["slot.travel", "arm.angle'", "slot.travel'"]
    values = np.linalg.eigvals(lin.A.values)
    assert np.sort(values.imag) == pytest.approx([-expected, 0, expected], rel=1e-10, abs=1e-7)


def test_a_stack_has_states_that_suit_all_of_it():
    """Beside rest every coordinate would do; beside the motions not."""
    arm = mb.PlanarBody("arm", 1, 1)
    system = mb.Mechanism([arm], joints=[mb.Revolute("pin", mb.ground, arm, at=(0, 0))]).system
    state = dict.fromkeys([*system.coordinates, *system.velocities], np.zeros(4))
    state[system.velocities[2]] = np.linspace(0, 6, 4)
    lin = zw.linearize(system, state)
    assert lin.state.values.tolist() == ["arm.angle'"]


# A steady motion that was found


x, y = zw.coordinates("x y")
r = sp.sqrt(x**2 + y**2)
PLANET = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=-1 / r)
CIRCLE = {x: 1, y: 0, dot(x): 0, dot(y): 1}
TOLD = {"r": r, "outward": (x * dot(x) + y * dot(y)) / r, "area": x * dot(y) - y * dot(x)}


def test_what_stays_constant_in_a_steady_motion_are_its_states():
    """Kepler's circle: r swings once a turn."""
    e = zw.steady(PLANET, CIRCLE | {dot(y): 1.1}, constant=TOLD, hold={r: 1})
    lin = zw.linearize(PLANET, e)
    assert lin.state.values.tolist() == list(TOLD)
    np.testing.assert_allclose(lin.A.values, zw.linearize(PLANET, CIRCLE, states=TOLD).A.values, atol=1e-9)
    assert moving(zw.modes(PLANET, e)) == pytest.approx([-1j, 1j], abs=1e-9)


def test_constants_that_depend_on_each_other_are_told_once():
    e = zw.steady(PLANET, CIRCLE, constant=TOLD | {"speed": dot(x) ** 2 + dot(y) ** 2}, hold={r: 1})
    assert zw.linearize(PLANET, e).sizes["state"] == 3


def test_constants_that_do_not_close_are_completed():
    """A cart that coasts with its pole upright: of a speed alone nothing follows for the pole."""
    cart, pole = zw.coordinates("cart pole")
    kinetic = (2 * dot(cart) ** 2 + dot(pole) ** 2) / 2 + sp.cos(pole) * dot(cart) * dot(pole)
    system = zw.System((cart, pole), kinetic=kinetic, potential=sp.cos(pole))
    start = {cart: 0, pole: 0, dot(cart): 2, dot(pole): 0}
    e = zw.steady(system, start, constant=[pole, dot(cart)], hold=[dot(cart)])
    assert zw.linearize(system, e).state.values.tolist() == ["pole", "cart'", "pole'"]


def test_readings_that_stand_still_for_an_instant_settle_nothing():
    """At its turning point an ellipse has r′ = 0, and so have x and y′ at the end of an axis."""
    e = zw.steady(PLANET, CIRCLE, constant=[x], hold=[y, dot(y)])
    assert e.stable is None
    assert e.verdict.startswith("not to be told")


# Refusals


a, b = zw.coordinates("a b")
u = zw.parameters("u")
ARM = zw.System(
    (a, b), kinetic=(2 * dot(a) ** 2 + dot(b) ** 2) / 2 + sp.cos(a - b) * dot(a) * dot(b),
    potential=-20 * sp.cos(a) - 10 * sp.cos(b), forces={a: u}, parameters={u: 0},
)  # fmt: skip


@pytest.mark.parametrize(
    "state",
    [
        {a: 0.3, b: 0.5, dot(a): 1.0, dot(b): -2.0},
        {a: 0.3, b: 0, dot(a): 1.0},
        {a: 0, b: 0, dot(a): 1.0},  # passing the bottom, no acceleration there
    ],
)
@pytest.mark.parametrize("ask", [zw.linearize, zw.modes])
def test_beside_no_steady_motion_there_is_no_linear_system(ask, state):
    with pytest.raises(InputError, match=r"neither an equilibrium nor steady in coordinates and rates .* changes at"):
        ask(ARM, state)


def test_what_moves_on_its_own_is_not_dropped():
    """b rests, and a coasts: a′ is a state while nothing brakes it, and with a brake there is no steady motion."""

    def made(brake):
        return zw.System((a, b), kinetic=(dot(a) ** 2 + dot(b) ** 2) / 2, potential=b**2, forces={a: -brake * dot(a)})

    state = {a: 0, b: 0, dot(a): 1, dot(b): 0}
    assert zw.linearize(made(0), state).state.values.tolist() == ["b", "a'", "b'"]
    with pytest.raises(InputError, match="a' changes at -1"):
        zw.linearize(made(1), state)


def test_a_circle_in_cartesian_coordinates_needs_names():
    with pytest.raises(InputError, match="x' changes at -1"):
        zw.modes(PLANET, CIRCLE)


def test_states_that_stand_still_for_an_instant_are_refused():
    wheel = bicycle().system
    names = ["frame.y", "frame.q1", "fork.y", "front.q3", "frame.x'", "frame.y'", "front.q3'"]
    with pytest.raises(InputError, match=r"along the motion .*rear\.q0"):
        zw.linearize(wheel, bicycle().start, states=names)
    corner = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, forces={x: -(x**3) * dot(y), y: x**3 * dot(x)})
    with pytest.raises(InputError, match=r"the state .' stands still at this instant only, not along the motion"):
        zw.linearize(corner, {x: 0, y: 0, dot(x): 1, dot(y): 0}, states=[dot(x), dot(y)])


def test_a_quaternion_is_four_coordinates_on_a_sphere():
    p, q, s, w = zw.coordinates("p q s w")
    assert four_of_a_unit((p**2 + q**2 + s**2 + w**2 - 1) / 2, (p, q, s, w)) == [p, q, s, w]
    assert four_of_a_unit(p**2 + q**2 + s**2 + 2 * w**2 - 1, (p, q, s, w)) == []
    assert four_of_a_unit(p**2 + q**2 - 1, (p, q, s, w)) == []


def test_rest_needs_no_following():
    system = cart_pole()
    cart, x_, y_ = system.coordinates
    assert zw.linearize(system, {cart: 0, x_: 0, y_: 0.5}).sizes["state"] == 4


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0.6, 0.8), (1, 1, 1)])
@pytest.mark.parametrize("orientation", [(1, 0, 0, 0), (0.8, 0, 0, 0.6), (0.5, 0.5, -0.5, 0.5)])
@pytest.mark.parametrize("spin", [1e-2, 50.0, 1e4])
def test_a_rotor_on_a_hinge_keeps_any_speed(axis, orientation, spin):
    # J ω′ = 0: one state, whose rate depends on nothing. All that is in A is rounding.
    along = np.array(axis) / np.linalg.norm(axis)
    rotor = mb.Body("rotor", 2, (0.03, 0.03, 0.05), orientation=orientation, angular_velocity=tuple(spin * along))
    hinge = mb.Revolute("hinge", mb.ground, rotor, at=(0, 0, 0), axis=axis)
    np.testing.assert_allclose(zw.linearize(mb.Mechanism([rotor], [hinge], [])).A, [[0.0]], rtol=0, atol=1e-9 * spin)
