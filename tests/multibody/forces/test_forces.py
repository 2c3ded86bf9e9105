"""Force elements: virtual work at random states, closed forms in motion, equal and opposite forces, signals."""

import numpy as np
import pytest
import sympy as sp
from scipy.spatial.transform import Rotation

import zwang as zw
from zwang import multibody as mb

rng = np.random.default_rng(1788)  # the year of the Mécanique analytique


# Random states and small displacements, with poses from SciPy


def floating(name):
    """A body in space that starts anywhere, turned anyhow."""
    return mb.Body(
        name,
        mass=1.3,
        inertia=(0.2, 0.3, 0.4),
        position=rng.normal(size=3),
        orientation=rng.normal(size=4),
        velocity=rng.normal(size=3),
        angular_velocity=rng.normal(size=3),
    )


def flat(name):
    """A body in the plane, likewise."""
    place, speed, (angle, spin) = rng.normal(size=(3, 2))
    return mb.PlanarBody(name, 1.3, 0.4, position=place, angle=angle, velocity=speed, spin=spin)


def displacement(bodies):
    """A random displacement that keeps quaternions of length 1."""
    found = {}
    for b in bodies:
        step = rng.normal(size=len(b.coordinates))
        if isinstance(b, mb.Body):
            u = np.array([b.start()[q] for q in b.coordinates[3:]])
            step[3:] -= u * (u @ step[3:])
        found |= dict(zip(b.coordinates, step, strict=True))
    return found


def moved(body, step, h):
    """Place and turn of a body displaced by h × step."""
    q = np.array([body.start()[c] + h * step[c] for c in body.coordinates])
    if isinstance(body, mb.Body):
        return q[:3], Rotation.from_quat(np.roll(q[3:], -1)).as_matrix()
    c, s = np.cos(q[2]), np.sin(q[2])
    return q[:2], np.array([[c, -s], [s, c]])


def slope(f, h=1e-5):
    """f'(0) by central differences of fourth order."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def turn_of(body, step):
    """The small rotation, as a vector in space and a number in the plane, over the displacement."""
    if isinstance(body, mb.PlanarBody):
        return step[body.coordinates[2]]
    back = moved(body, step, 0)[1].T
    return slope(lambda h: Rotation.from_matrix(moved(body, step, h)[1] @ back).as_rotvec())


def number(expression, bodies, step=(), h=0.0):
    """An expression at the start of the bodies, displaced by h × step."""
    state = {key: value for b in bodies for key, value in b.start().items()}
    state |= {q: state[q] + h * step[q] for q in step}
    rates = {key: value for key, value in state.items() if key.is_Derivative}
    return float(sp.sympify(expression).xreplace(rates).xreplace(state))


def work(element, bodies, step):
    """What an element's generalized forces and its potential do over a displacement."""
    total = sum(f * step[q] for part in (element.forces, element.nonideal) for q, f in part(bodies).items())
    potential = element.potential(bodies)
    return number(total, bodies) - slope(lambda h: number(potential, bodies, step, h))


POINTS = {3: ((0.3, -0.2, 0.5), (-0.1, 0.4, 0.2)), 2: ((0.3, -0.2), (-0.1, 0.4))}
BODIES = {2: flat, 3: floating}
BOTH = pytest.mark.parametrize("size", [2, 3], ids=["plane", "space"])


@BOTH
@pytest.mark.parametrize("frame", ["world", "body"])
def test_a_force_does_work_along_the_path_of_its_point(size, frame):
    body, components, point = BODIES[size]("b"), rng.normal(size=size), POINTS[size][0]
    step = displacement([body])
    along = slope(lambda h: np.add(moved(body, step, h)[0], moved(body, step, h)[1] @ point))
    force = moved(body, step, 0)[1] @ components if frame == "body" else components
    element = mb.Force("push", body, components, point=point, frame=frame)
    assert work(element, [body], step) == pytest.approx(force @ along, rel=1e-9)


@BOTH
@pytest.mark.parametrize("frame", ["world", "body"])
def test_a_torque_does_work_along_the_turn(size, frame):
    body, components = BODIES[size]("b"), 0.7 if size == 2 else rng.normal(size=3)
    step = displacement([body])
    torque = moved(body, step, 0)[1] @ components if (frame, size) == ("body", 3) else components
    element = mb.Torque("twist", body, components, frame=frame)
    assert work(element, [body], step) == pytest.approx(np.dot(torque, turn_of(body, step)), rel=1e-9)


@BOTH
def test_a_spring_does_work_along_its_length(size):
    pair = BODIES[size]("a"), BODIES[size]("b")
    step = displacement(pair)

    def long(h):
        ends = [np.add(place, turn @ p) for (place, turn), p in zip(places(h), POINTS[size], strict=True)]
        return np.linalg.norm(ends[1] - ends[0])

    def places(h):
        return [moved(b, step, h) for b in pair]

    rate = number(mb.Spring("s", *pair, at=POINTS[size], damping=1).rate, pair)
    for element, tension in (
        (mb.Spring("s", *pair, at=POINTS[size], stiffness=7, rest=0.4), 7 * (long(0) - 0.4)),
        (mb.Spring("s", *pair, at=POINTS[size], stiffness=7, rest=0), 7 * long(0)),
        (mb.Spring("s", *pair, at=POINTS[size], damping=3), 3 * rate),
        (mb.Spring("s", *pair, at=POINTS[size], stiffness=7, rest=0.4, damping=3), 7 * (long(0) - 0.4) + 3 * rate),
        (
            mb.Spring("s", *pair, at=POINTS[size], force=5 * (mb.length - 1) ** 3 + mb.rate**3),
            5 * (long(0) - 1) ** 3 + rate**3,
        ),
    ):
        assert work(element, pair, step) == pytest.approx(-tension * slope(long), rel=1e-8)


@BOTH
def test_efforts_along_an_angle_turn_the_bodies_against_each_other(size):
    pair = BODIES[size]("a"), BODIES[size]("b")
    step = displacement(pair)
    axis = moved(pair[0], step, 0)[1] @ (0, 0.6, 0.8) if size == 3 else 1.0
    about = {"axis": ((0, 0.6, 0.8), (1, 0, 0))} if size == 3 else {}
    pin = mb.Revolute("pin", *pair, at=POINTS[size], **about)
    twist = np.dot(axis, turn_of(pair[1], step) - turn_of(pair[0], step))
    spin = number(pin.freedoms["angle"].rate, pair)
    assert work(mb.Actuator("motor", pin, 4), pair, step) == pytest.approx(4 * twist, rel=1e-9)
    assert work(mb.JointFriction("bearing", pin, 4), pair, step) == pytest.approx(-4 * spin * twist, rel=1e-9)
    assert work(mb.JointSpring("damper", pin, damping=4), pair, step) == pytest.approx(-4 * spin * twist, rel=1e-9)


@BOTH
def test_drag_does_work_against_the_velocity(size):
    body = BODIES[size]("b")
    step = displacement([body])
    place = slope(lambda h: moved(body, step, h)[0])
    v = np.array(body.velocity)
    spin = body.spin if size == 2 else np.array(body.angular_velocity)
    expected = -(2 + 3 * np.linalg.norm(v)) * v @ place - 5 * np.dot(spin, turn_of(body, step))
    element = mb.Drag("air", body, linear=2, quadratic=3, turning=5)
    assert work(element, [body], step) == pytest.approx(expected, rel=1e-9)


# Motions with closed forms


def test_damped_oscillator():
    m, k, c, rest, A = 2.0, 50.0, 1.5, 0.8, 0.1
    down = rest + m * 9.81 / k  # where it would hang at rest
    bob = mb.Particle("bob", m, position=(0, 0, -down - A))
    coil = mb.Spring("coil", mb.ground, bob, stiffness=k, rest=rest, damping=c)
    hanging = mb.Mechanism([bob], forces=[coil, mb.Gravity((0, 0, -9.81))])
    motion = zw.simulate(hanging.system, hanging.start, 5.0, samples=51, tol=1e-14, method="native")
    s, decay = motion.time.values, c / (2 * m)
    w = np.sqrt(k / m - decay**2)
    exact = -down - A * np.exp(-decay * s) * (np.cos(w * s) + decay / w * np.sin(w * s))
    assert np.abs(motion.q.sel(coordinate="bob.z").values - exact).max() < 1e-13


def test_two_particles_on_a_spring_keep_their_centre_and_beat_with_the_reduced_mass():
    a, b = mb.Particle("a", 1.0, position=(0, 0)), mb.Particle("b", 3.0, position=(1.3, 0))
    pair = mb.Mechanism([a, b], forces=[mb.Spring("s", a, b, stiffness=12.0, rest=1)])
    motion = zw.simulate(pair.system, pair.start, 4.0, samples=41, tol=1e-14, method="native")
    x, y = motion.q.sel(coordinate="a.x").values, motion.q.sel(coordinate="b.x").values
    assert np.abs(y - x - 1 - 0.3 * np.cos(4 * motion.time.values)).max() < 1e-13
    assert np.abs(x + 3 * y - 3.9).max() < 1e-13


def test_torsion_pendulum_in_the_plane_counts_turns():
    wheel = mb.PlanarBody("wheel", 1, inertia=2.0)
    pin = mb.Revolute("pin", mb.ground, wheel, at=(0, 0))
    wound = mb.Mechanism([wheel], [pin], [mb.JointSpring("coil", pin, stiffness=8.0, rest=10.0)])
    motion = zw.simulate(wound.system, wound.start, 5.0, samples=51, tol=1e-14, method="native")
    exact = 10 - 10 * np.cos(2 * motion.time.values)
    assert np.abs(wound.coordinates(motion).angle.values[:, 0] - exact).max() < 1e-12


def test_torsion_pendulum_in_space():
    wheel = mb.Body("wheel", 1, inertia=(2.0, 2.0, 3.0), orientation=(0.3, 0.1, -0.5, 0.7))
    axis = np.array(wheel.start_pose(3).turn, dtype=float)[:, 0]  # its x axis
    pin = mb.Revolute("pin", mb.ground, wheel, at=(0, 0, 0), axis=axis, reading=0.5)
    wound = mb.Mechanism([wheel], [pin], [mb.JointSpring("coil", pin, stiffness=8.0, rest=3.5, damping=0.8)])
    motion = zw.simulate(wound.system, wound.start, 5.0, samples=51, tol=1e-14, method="native")
    s, decay = motion.time.values, 0.2
    w = np.sqrt(4 - decay**2)
    exact = 3.5 - 3 * np.exp(-decay * s) * (np.cos(w * s) + decay / w * np.sin(w * s))
    assert np.abs(wound.coordinates(motion).angle.values[:, 0] - exact).max() < 1e-12


def test_a_spring_along_a_slide_and_a_spring_without_a_rest_reading():
    block = mb.PlanarBody("block", 2.0, 1, position=(0.5, 0), velocity=(3.0, 0))
    slide = mb.Prismatic("slide", mb.ground, block, at=(0.5, 0), axis=(1, 0), reading=7)
    sprung = mb.Mechanism([block], [slide], [mb.JointSpring("coil", slide, stiffness=32.0)])
    motion = zw.simulate(sprung.system, sprung.start, 3.0, samples=31, tol=1e-14, method="native")
    travel = sprung.coordinates(motion).travel.values[:, 0]
    assert np.abs(travel - 7 - 0.75 * np.sin(4 * motion.time.values)).max() < 1e-13


def test_a_spring_on_one_of_several_coordinates_rests_at_the_start():
    body = mb.Body("piston", 2.0, (1, 1, 1), position=(0, 0, 0.4), velocity=(0, 0, 1.0), angular_velocity=(0, 0, 2.0))
    sleeve = mb.Cylindrical("sleeve", mb.ground, body, at=((0, 0, 0), (0, 0, 0)), axis=(0, 0, 1))
    for freedom, stiffness, speed in (("travel", 8.0, 1.0), ("angle", 4.0, 2.0)):
        spring = mb.JointSpring("coil", sleeve, stiffness, coordinate=freedom)
        sprung = mb.Mechanism([body], [sleeve], [spring])
        motion = zw.simulate(sprung.system, sprung.start, 2.0, samples=21, tol=1e-14, method="native")
        found = sprung.coordinates(motion)[freedom].values[:, 0]
        assert np.abs(found - found[0] - speed / 2 * np.sin(2 * motion.time.values)).max() < 1e-12


@pytest.mark.parametrize("size", [2, 3])
def test_drag_slows_as_its_law_says(size):
    v = np.array([3.0, -4.0, 0.0])[:size]
    slow, fast = (mb.Particle(name, 2.0, position=(0,) * size, velocity=v) for name in ("slow", "fast"))
    air = [mb.Drag("oil", slow, linear=0.8), mb.Drag("air", fast, quadratic=0.3)]
    flight = mb.Mechanism([slow, fast], forces=air)
    motion = zw.simulate(flight.system, flight.start, 3.0, samples=31, tol=1e-14, method="native")
    s = motion.time.values[:, None]
    assert np.abs(motion.v.values[:, :size] - v * np.exp(-0.4 * s)).max() < 1e-13
    assert np.abs(motion.v.values[:, size:] - v / (1 + 0.15 * 5 * s)).max() < 1e-13


def test_drag_slows_a_spin():
    ball = mb.Body("ball", 1, inertia=(2, 2, 2), angular_velocity=(1.0, -2.0, 3.0))
    wheel = mb.PlanarBody("wheel", 1, inertia=2, spin=3.0)
    for body in (ball, wheel):
        slowed = mb.Mechanism([body], forces=[mb.Drag("air", body, turning=0.6)])
        motion = zw.simulate(slowed.system, slowed.start, 3.0, samples=31, tol=1e-14, method="native")
        energy = motion.kinetic.values / float(motion.kinetic[0])
        assert np.abs(energy - np.exp(-0.6 * motion.time.values)).max() < 1e-13


def test_quadratic_drag_from_rest_reaches_its_final_speed():
    ball = mb.Particle("ball", 1.0, position=(0, 0))
    falling = mb.Mechanism([ball], forces=[mb.Drag("air", ball, quadratic=0.5), mb.Gravity((0, -8))])
    motion = zw.simulate(falling.system, falling.start, 5.0, samples=51, tol=1e-14, method="native")
    assert np.abs(motion.v.values[:, 1] + 4 * np.tanh(2 * motion.time.values)).max() < 1e-12


# Equal and opposite


def test_an_actuator_moves_no_centre_and_makes_no_angular_momentum():
    a = mb.Body("a", 1.0, (0.1, 0.2, 0.25), position=(0, 0, 0))
    b = mb.Body("b", 2.0, (0.3, 0.2, 0.4), position=(1.0, 0.3, 0.2))
    slide = mb.Prismatic("slide", a, b, at=(0.5, 0, 0), axis=(0.3, 1, 0.2))
    pin = mb.Revolute("pin", a, b, at=(0.5, 0, 0), axis=(0.3, 1, 0.2))
    for joint, effort in ((slide, 2 * sp.sin(3 * zw.t)), (pin, 2 * sp.cos(zw.t))):
        floating_pair = mb.Mechanism([a, b], [joint], [mb.Actuator("motor", joint, effort)])
        motion = zw.simulate(floating_pair.system, floating_pair.start, 2.0, samples=21, tol=1e-13, method="native")
        assert float(motion.kinetic.max()) > 0.1
        for momentum in momenta(floating_pair, motion):
            assert np.abs(momentum).max() < 1e-12


def momenta(mechanism, motion):
    """Linear and angular momentum (time, 3), from SciPy's rotations."""
    linear, angular = np.zeros((2, len(motion.time), 3))
    for b in mechanism.movable:
        names = [c.func.__name__ for c in b.coordinates]
        q, v = motion.q.sel(coordinate=names).values, motion.v.sel(coordinate=names).values
        u = Rotation.from_quat(np.roll(q[:, 3:], -1, axis=1))
        spin = 2 * (quaternion_product(v[:, 3:], conjugate(q[:, 3:])))[:, 1:]
        J = np.array(b.inertia_matrix, dtype=float)
        linear += float(b.mass) * v[:, :3]
        angular += u.apply(u.inv().apply(spin) @ J) + float(b.mass) * np.cross(q[:, :3], v[:, :3])
    return linear, angular


def conjugate(u):
    return u * [1, -1, -1, -1]


def quaternion_product(p, q):
    scalar = p[:, 0] * q[:, 0] - np.sum(p[:, 1:] * q[:, 1:], axis=1)
    rest = p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])
    return np.column_stack([scalar, rest])


# Signals and known functions of time


def test_signals_push_twist_and_drive():
    ramp = zw.Signal([0, 1, 3], [0, 2, 2])
    bob, wheel = mb.Particle("bob", 2.0, position=(0, 0, 0)), mb.Body("wheel", 1, (2, 2, 2), position=(5, 0, 0))
    push = mb.Force("push", bob, (ramp, 0, 4))
    twist = mb.Torque("twist", wheel, (0, ramp, 0), frame="body")
    pushed = mb.Mechanism([bob, wheel], forces=[push, twist])
    assert [str(f) for f in pushed.system.inputs] == ["push.ux(t)", "twist.uy(t)"]
    motion = zw.simulate(pushed.system, pushed.start, 3.0, samples=31, tol=1e-13)
    assert np.abs(motion.v.values[-1, :3] - [2.5, 0, 6]).max() < 1e-12
    assert pushed.energies(motion).kinetic.sel(body="wheel").values[-1] == pytest.approx(2.5**2, abs=1e-12)
    disc = mb.PlanarBody("disc", 1, 2)
    pin = mb.Revolute("pin", mb.ground, disc, at=(0, 0))
    for element in (mb.Actuator("motor", pin, ramp), mb.Torque("motor", disc, ramp)):
        driven = mb.Mechanism([disc], [pin], [element])
        assert [str(f) for f in driven.system.inputs] == ["motor.u(t)"]
        motion = zw.simulate(driven.system, driven.start, 3.0, samples=31, tol=1e-13)
        assert float(motion.v.sel(coordinate="disc.angle")[-1]) == pytest.approx(2.5, abs=1e-12)
        assert driven.energies(motion).power.values[-1, 0] == pytest.approx(5.0, abs=1e-12)


def test_known_functions_and_parameters_are_those_of_the_mechanism():
    u = zw.coordinates("u")
    k = zw.parameters("k")
    disc = mb.PlanarBody("disc", 1, 2)
    pin = mb.Revolute("pin", mb.ground, disc, at=(0, 0))
    driven = mb.Mechanism([disc], [pin], [mb.Actuator("motor", pin, k * u)], parameters={u: sp.cos(zw.t), k: 3.0})
    motion = zw.simulate(driven.system, driven.start, 2.0, samples=21, tol=1e-14, method="native")
    assert np.abs(motion.v.sel(coordinate="disc.angle") - 1.5 * np.sin(motion.time)).max() < 1e-13
    doubled = zw.simulate(driven.system, driven.start, 2.0, samples=21, tol=1e-13, parameters={k: 6.0})
    work_rate = driven.energies(doubled).power.values[:, 0]
    assert np.abs(work_rate - 6 * np.cos(doubled.time) * 3 * np.sin(doubled.time)).max() < 1e-12


def test_a_controller_reads_its_joint():
    disc = mb.PlanarBody("disc", 1, 2.0, spin=3.0)
    pin = mb.Revolute("pin", mb.ground, disc, at=(0, 0))
    angle = pin.freedoms["angle"]
    held = mb.Mechanism([disc], [pin], [mb.Actuator("servo", pin, -18 * angle.value)])
    motion = zw.simulate(held.system, held.start, 2.0, samples=21, tol=1e-14, method="native")
    assert np.abs(held.coordinates(motion).angle.values[:, 0] - np.sin(3 * motion.time.values)).max() < 1e-13
