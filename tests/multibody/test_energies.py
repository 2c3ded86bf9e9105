"""The account of energy and power: element by element it adds up to what the system reports."""

import numpy as np
import sympy as sp
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import zwang as zw
from zwang import multibody as mb


def busy():
    """Two links with one of everything."""
    a = mb.Body("a", 1.0, (0.02, 0.08, 0.09), position=(0.5, 0, 0), angular_velocity=(0, 0.5, 0))
    b = mb.Body("b", 0.7, (0.02, 0.06, 0.07), position=(1.4, 0, 0), angular_velocity=(0, 0.8, 0.4))
    pin = mb.Revolute("pin", mb.ground, a, at=(0, 0, 0), axis=(0, 1, 0))
    elbow = mb.Revolute("elbow", a, b, at=(1, 0, 0), axis=(0, 0.6, 0.8))
    forces = [
        mb.Gravity((0, 0, -9.81)),
        mb.Spring("coil", mb.ground, b, start=(0, 0, 2), end=(1.4, 0, 0.1), stiffness=20, rest=1.5),
        mb.Spring("damper", mb.ground, b, start=(0, 0, 2), end=(1.4, 0, 0.1), damping=0.4),
        mb.Spring("bumper", a, mb.ground, end=(0, 0, -2), force=3 * mb.length**2 + mb.rate),
        mb.JointSpring("torsion", elbow, stiffness=2, rest=0.3),
        mb.JointSpring("torsion damper", elbow, damping=0.1),
        mb.Actuator("motor", pin, sp.sin(2 * zw.t)),
        mb.Force("push", b, (0, 1, sp.cos(zw.t)), point=(0.4, 0, 0), frame="body"),
        mb.Torque("twist", b, (0.1, 0, 0.2)),
        mb.Drag("air", b, linear=0.1, quadratic=0.2, turning=0.01),
        mb.JointFriction("bearing", pin, 0.3),
        mb.JointFriction("hinge", elbow, 0.2),
    ]
    return mb.Mechanism([a, b], [pin, elbow], forces)


def test_the_account_adds_up():
    mechanism = busy()
    motion = zw.simulate(mechanism.system, mechanism.start, 3.0, samples=601, tol=1e-13, method="native")
    found = mechanism.energies(motion)
    assert list(found.element.values) == [f.name for f in mechanism.forces]
    assert np.abs(found.kinetic.sum("body") - motion.kinetic).max() < 1e-12
    assert np.abs(found.potential.sum("element") - motion.potential).max() < 1e-12
    stores, rubs = ["gravity", "coil", "torsion"], ["bearing", "hinge"]
    given = [name for name in found.element.values if name not in (*stores, *rubs)]
    assert np.abs(found.power.sel(element=given).sum("element") - motion.given_power).max() < 1e-11
    assert np.abs(found.power.sel(element=rubs).sum("element") - motion.nonideal_power).max() < 1e-11
    assert float(found.power.sel(element=[*rubs, "air", "damper", "torsion damper"]).max()) <= 0
    for name in stores:
        lost = -CubicSpline(motion.time, found.potential.sel(element=name)).derivative()(motion.time)
        assert np.abs(lost - found.power.sel(element=name)).max() < 1e-4
    assert float(abs(motion.energy_balance).max()) < 1e-8


def test_power_is_force_times_velocity():
    mechanism = busy()
    motion = zw.simulate(mechanism.system, mechanism.start, 1.0, samples=1001, tol=1e-12, method="native")
    power = mechanism.energies(motion).power
    path = mechanism.track(motion, "b", (0.4, 0, 0)).values
    velocity = np.gradient(path, motion.time.values, axis=0, edge_order=2)
    q = motion.q.sel(coordinate=["b.q0", "b.q1", "b.q2", "b.q3"]).values
    world = Rotation.from_quat(np.roll(q, -1, axis=1)).apply(
        np.column_stack([0 * motion.time, 1 + 0 * motion.time, np.cos(motion.time)])
    )
    assert np.abs((world * velocity).sum(axis=1) - power.sel(element="push"))[1:-1].max() < 1e-4
    rate = mechanism.coordinates(motion).angle_rate.sel(joint="pin")
    assert np.abs(np.sin(2 * motion.time) * rate - power.sel(element="motor")).max() < 1e-12
    assert np.abs(-0.3 * rate**2 - power.sel(element="bearing")).max() < 1e-12


def test_friction_moves_as_a_damper_and_is_another_account():
    wheel = mb.Body("wheel", 1, (2, 2, 3), position=(0.5, 0, 0), velocity=(0, 2, 0), angular_velocity=(0, 0, 4.0))
    pin = mb.Revolute("pin", mb.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1))
    motions = []
    for element in (mb.JointFriction("bearing", pin, 0.65), mb.JointSpring("damper", pin, damping=0.65)):
        slowed = mb.Mechanism([wheel], [pin], [element])
        motion = zw.simulate(slowed.system, slowed.start, 3.0, samples=31, tol=1e-14, method="native")
        rate = slowed.coordinates(motion).angle_rate.values[:, 0]
        assert np.abs(rate - 4 * np.exp(-0.2 * motion.time.values)).max() < 1e-12  # I = 3 + m 0.5²
        motions.append(motion)
    first, second = motions
    lost = -0.65 * 16 * np.exp(-0.4 * first.time)
    assert np.abs(first.nonideal_power - lost).max() < 1e-12
    assert np.abs(second.given_power - lost).max() < 1e-12
    assert float(abs(first.given_power).max()) == 0
    assert float(abs(second.nonideal_power).max()) == 0


def test_springs_are_drawn():
    mechanism = busy()
    drawn = {shape.name: shape for shape in mechanism.drawing.shapes}
    assert drawn["coil"].kind == drawn["bumper"].kind == "line"
    assert drawn["coil"].color == "green"
    assert drawn["coil"].points[0] == (0, 0, 2)
