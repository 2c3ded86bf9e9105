"""Twins: what a kind of joint or force element says once is what each of them says, written out.

The mechanisms are small ones, described by families and written out; both must have the same accelerations,
multipliers, energies and forces. What joints and elements mean is tested beside this file, on places and directions in
a motion, on work and on closed forms; `pytest --rolled` runs these tests by families, too.
"""

from dataclasses import dataclass, fields

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.multibody.scenes import build
from zwang import multibody as mb
from zwang.lowering import matrices as where
from zwang.lowering.cache import Kept
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.rolled import families as lowered
from zwang.multibody.element import ForceElement
from zwang.multibody.twins import Bindings, UnlikeError, held_by

IN_SPACE = (
    "Revolute Spherical Rod Fixed Prismatic Universal Cylindrical Planar Screw PointOnLine PointOnPlane PointOnCurve "
    "PointOnSurface Skate RollingBall RollingDisc"
)
IN_PLANE = "Revolute Rod Fixed Prismatic PointOnLine PointOnCurve PointOnSurface Skate RollingWheel WheelOnWheel"
JOINTS = [*((kind, 3) for kind in IN_SPACE.split()), *((kind, 2) for kind in IN_PLANE.split())]
FRAMES = ("world", "body", "body")
mu = sp.Symbol("mu")


def renamed(part, name, **others):
    """The same part under another name, between other bodies."""
    return type(part)(**{f.name: getattr(part, f.name) for f in fields(part)} | {"name": name} | others)


def joined(case, count=3):
    """Pairs of bodies at random places, each with a joint of one kind."""
    rng = np.random.default_rng(4)
    bodies, joints = [], []
    for i in range(count):
        (a, b), joint, *_ = build(case, rng)
        own = [renamed(a, f"a{i}"), renamed(b, f"b{i}")]
        bodies += own
        joints.append(renamed(joint, f"j{i}", first=own[0], second=own[1]))
    return bodies, joints


GRAVITY = {2: mb.Gravity((0.5, -9.81)), 3: mb.Gravity((0.5, 1, -9.81))}


def by_joint(case):
    """A mechanism of joints of one kind."""
    bodies, joints = joined(case)
    return mb.Mechanism(bodies, joints, [GRAVITY[case[1]]])


def along(make, joint="Revolute", count=3, sizes=(2, 3)):
    """What acts along or between the coordinates of joints."""

    def built(size):
        bodies, joints = joined((joint, size), count)
        rng = np.random.default_rng(5)
        made = [make(i, joints, rng) for i in range(count)]
        forces = [part for part in made if isinstance(part, ForceElement)]
        return mb.Mechanism(bodies, [*joints, *(p for p in made if p not in forces)], [GRAVITY[size], *forces], {mu: 2})

    return built, sizes


def between(make, sizes=(2, 3)):
    """What acts between bodies, or on them."""

    def built(size):
        bodies, joints = joined(("Revolute", size))
        rng = np.random.default_rng(6)
        points = [dict(zip(("start", "end"), rng.normal(size=(2, size)), strict=True)) for _ in joints]
        forces = [make(i, bodies[2 * i], bodies[2 * i + 1], points[i], rng) for i in range(len(joints))]
        return mb.Mechanism(bodies, joints, [GRAVITY[size], *forces], {mu: 2})

    return built, sizes


def steps(rng):
    return [mb.Step("out", "angle", rng.normal(size=3)), mb.Step("in", "travel", rng.normal(size=3), reading=0.2)]


def series(size):
    """Gimbals with coordinates of their own, sprung."""
    rng = np.random.default_rng(7)
    bodies, _ = joined(("Revolute", 3))
    pairs = list(zip(bodies[::2], bodies[1::2], strict=True))
    joints = [mb.Series(f"j{i}", a, b, rng.normal(size=3), steps(rng)) for i, (a, b) in enumerate(pairs)]
    springs = [mb.JointSpring(f"s{i}", j, 2 + i, damping=0.3 * i, coordinate="out") for i, j in enumerate(joints)]
    return mb.Mechanism(bodies, joints, [GRAVITY[3], *springs])


def turntables(size):
    """Joints to bodies whose motion is prescribed."""
    table = mb.Moving("table", (0, 0) if size == 2 else (0, 0, 0), angle=0.3 * zw.t + mu * zw.t**2)
    bodies, _ = joined(("Revolute", size))
    rng = np.random.default_rng(8)
    pins = [mb.Revolute(f"j{i}", table, b, at=rng.normal(size=size)) for i, b in enumerate(bodies)]
    return mb.Mechanism(bodies, pins, [GRAVITY[size]], {mu: 0.1})


def turned(joint):
    """The angle of a joint."""
    return joint.freedoms["angle"]


ELEMENTS = {
    "spring": between(lambda i, a, b, p, rng: mb.Spring(f"e{i}", a, b, **p, stiffness=2 + i / 3)),
    "spring and damper": between(lambda i, a, b, p, rng: mb.Spring(f"e{i}", a, b, **p, stiffness=mu, damping=1.5 + i)),
    "free spring": between(lambda i, a, b, p, rng: mb.Spring(f"e{i}", a, b, **p, stiffness=2 + i / 3, rest=0)),
    "nonlinear spring": between(
        lambda i, a, b, p, rng: mb.Spring(f"e{i}", a, b, **p, force=(2.5 + i) * (mb.length - 0.3) ** 3 + mu * mb.rate)
    ),
    "bushing": between(
        lambda i, a, b, p, rng: mb.Bushing(
            f"e{i}", a, b, at=p["start"], stiffness=3 + i / 3, damping=0.2, turn_stiffness=1.5, turn_damping=mu
        )
    ),
    "force": between(
        lambda i, a, b, p, rng: mb.Force(f"e{i}", a, rng.normal(size=a.dimension), p["end"], FRAMES[i])
    ),
    "torque": between(
        lambda i, a, b, p, rng: mb.Torque(
            f"e{i}", a, 1.5 * i * sp.sin(zw.t + 0.3) if len(a.position) == 2 else (1.5, zw.t * i, mu), "body"
        )
    ),
    "drag": between(lambda i, a, b, p, rng: mb.Drag(f"e{i}", b, 0.5 * i, 0.3 + i, mu)),
    "ball damper": along(lambda i, joints, rng: mb.BallDamper(f"e{i}", joints[i], 0.5 + i), "Spherical", sizes=(3,)),
    "joint spring": along(lambda i, joints, rng: mb.JointSpring(f"e{i}", joints[i], 2 + i, 0.3, damping=0.1 + i)),
    "joint damper": along(lambda i, joints, rng: mb.JointSpring(f"e{i}", joints[i], damping=mu if i == 1 else 0.3 + i)),
    "coil": along(lambda i, joints, rng: mb.JointSpring(f"e{i}", joints[i], 2 + i, 0.3, 0.4), "Prismatic"),
    "friction": along(lambda i, joints, rng: mb.JointFriction(f"e{i}", joints[i], 0.3 + i)),
    "motor": along(lambda i, joints, rng: mb.Actuator(f"e{i}", joints[i], (1.5 + i) * sp.sin(0.7 * i * zw.t + 1.1))),
    "controller": along(lambda i, joints, rng: mb.Actuator(f"e{i}", joints[i], -(1.5 + i) * turned(joints[i]).rate)),
    "rotor": along(lambda i, joints, rng: mb.Armature(f"e{i}", joints[i], 0.3 + i)),
    "cross spring": along(
        lambda i, joints, rng: mb.JointSpring(f"e{i}", joints[i], 2.5, coordinate=f"angle{1 + i % 2}"), "Universal",
        sizes=(3,),
    ),
    "driver": along(lambda i, joints, rng: mb.Driver(f"e{i}", joints[i], motion=mb.start + (0.3 + i) * zw.t**2)),
    "speed": along(lambda i, joints, rng: mb.Driver(f"e{i}", joints[i], speed=0.3 + i * zw.t)),
    "slide driver": along(lambda i, joints, rng: mb.Driver(f"e{i}", joints[i], motion=mb.start + zw.t), "Prismatic"),
    "coupling": along(
        lambda i, joints, rng: mb.Coupling(f"e{i}", {joints[i]: 0.7 + i, joints[i - 1]: 1.5 + i**2}, 0.2 * zw.t)
    ),
    "gear": along(lambda i, joints, rng: mb.Gear(f"e{i}", joints[i], joints[i - 1], -1.5 + i / 3)),
}  # fmt: skip
CASES = [(name, size) for name, (_, sizes) in ELEMENTS.items() for size in sizes]


def matrices(mechanism):
    """M, Q, A, b, C and what constraints read, at a state and a time at random: all that is made of expressions."""
    system = mechanism.system
    q, v = np.random.default_rng(9).uniform(0.3, 0.9, (2, len(system.coordinate_names)))
    inputs = {f: value for f, value in system.inputs.items() if value is not None}
    values = np.array([float(mechanism.parameters[s]) for s in system.symbols])
    now = matrix_kernel(system, inputs)(0.4, q, v, values)
    return {name: getattr(now, name) for name in ("M", "Q", "A", "b", "C", "residual", "residual_rate")}


def both(build, monkeypatch):
    """What a mechanism is by families, and its matrices; and those of the same mechanism written out."""
    monkeypatch.setattr(lowered, "ROLLED_FROM", 0)
    monkeypatch.setattr(where, "_KERNELS", Kept())
    large = build()
    described = large.system.families
    ours = matrices(large)
    monkeypatch.setattr(lowered, "ROLLED_FROM", 10_000)
    monkeypatch.setattr(where, "_KERNELS", Kept())
    small = build()
    assert small.system.families is None
    assert small.system.constraint_names == large.system.constraint_names
    return described, ours, matrices(small)


def same(ours, plain):
    """Both to rounding, each by the size of its largest."""
    for name, expected in plain.items():
        size = max(1.0, np.nanmax(np.abs(expected), initial=0.0))
        np.testing.assert_allclose(ours[name], expected, rtol=0, atol=1e-12 * size, err_msg=name)


def needs_kinds_only(described):
    """Nothing is written beside the families."""
    assert not any(described.rest)
    assert not described.constraints


@pytest.mark.parametrize("case", JOINTS, ids=lambda case: f"{case[0]}-{case[1]}")
def test_a_kind_of_joint_is_written_once(case, monkeypatch):
    described, ours, plain = both(lambda: by_joint(case), monkeypatch)
    needs_kinds_only(described)
    rows = {tuple(share.rows.tolist()) for share in described.of("constraints")}
    assert max(map(len, rows)) >= 3  # the joints of this kind are one family
    same(ours, plain)


@pytest.mark.parametrize(("name", "size"), CASES)
def test_a_kind_of_force_element_or_coupling_is_written_once(name, size, monkeypatch):
    described, ours, plain = both(lambda: ELEMENTS[name][0](size), monkeypatch)
    needs_kinds_only(described)
    same(ours, plain)


@pytest.mark.parametrize("size", [2, 3])
def test_joints_to_a_body_with_prescribed_motion_are_a_kind(size, monkeypatch):
    described, ours, plain = both(lambda: turntables(size), monkeypatch)
    needs_kinds_only(described)
    same(ours, plain)


def test_coordinates_of_joints_are_bound_as_those_of_bodies(monkeypatch):
    described, ours, plain = both(lambda: series(3), monkeypatch)
    needs_kinds_only(described)
    same(ours, plain)


def test_an_expression_of_the_users_own_has_its_numbers_and_coordinates_bound():
    """Efforts that differ in numbers and in whose coordinates they read are one kind; a known function is none."""
    bodies, joints = joined(("Revolute", 2))
    u = sp.Function("u")(zw.t)
    efforts = [(1.7 + i) * sp.sin(2.5 * b.coordinates[2] + mu) for i, b in enumerate(bodies[1::2])]
    motors = [mb.Actuator(f"m{i}", j, e) for i, (j, e) in enumerate(zip(joints, efforts, strict=True))]
    known = {name: i for i, name in enumerate(n for b in bodies for n in b.coordinate_names)}
    keys = []
    for motor in motors:
        bindings = Bindings(known)
        bindings.twin(motor, motor.held)
        keys.append(tuple(bindings.key))
        assert sorted(bindings.values[-2:]) == sorted([1.7 + (len(keys) - 1), 2.5])
    assert len(set(keys)) == 1
    with pytest.raises(UnlikeError):
        Bindings(known).twin(mb.Actuator("u", joints[0], 2 * u), ("moving", "effort"))


def test_a_class_that_writes_its_own_conditions_says_anew_what_holds_its_numbers():
    """A stranger's joint below one of the library's is written out: its numbers are not known."""

    @dataclass(frozen=True, eq=False)
    class Raised(mb.Revolute):
        height: float = 0.0

        def conditions(self):
            return {**super().conditions(), "y": self.gap[1] - self.height}

    rod = mb.PlanarBody("rod", 1, 1, position=(1, 0))
    joint = Raised("pin", mb.ground, rod, at=(0, 0), height=2.0)
    assert joint.held == ("ends",)
    assert held_by(joint) == ()
    assert held_by(mb.Revolute("pin", mb.ground, rod, at=(0, 0))) == ("ends",)


def test_signals_and_friction_by_reactions_are_written_out(monkeypatch):
    """A signal is another function of time for each motor; Coulomb's friction is in the multipliers of its joint."""
    bodies, joints = joined(("Revolute", 2))
    assert held_by(mb.Actuator("u", joints[0], zw.Signal([0, 1], [0, 1]))) == ()
    assert held_by(mb.JointFriction("f", joints[0], mu=0.1, radius=0.1)) == ()
    signals = [mb.Actuator(f"m{i}", j, zw.Signal([0, 1], [i, 2.0])) for i, j in enumerate(joints)]
    monkeypatch.setattr(lowered, "ROLLED_FROM", 0)
    system = mb.Mechanism(bodies, joints, [GRAVITY[2], *signals]).system
    assert sorted(f.func.__name__ for e in system.families.forces.values() for f in e.atoms(sp.Function)) == sorted(
        [f"m{i}.u" for i in range(3)] * 2
    )


def test_the_system_still_says_its_forces(monkeypatch):
    monkeypatch.setattr(lowered, "ROLLED_FROM", 0)
    system = ELEMENTS["joint damper"][0](3).system
    assert any(e.has(sp.Derivative) for e in system.forces)


def test_templates_are_made_once_in_a_process(monkeypatch):
    monkeypatch.setattr(lowered, "ROLLED_FROM", 0)
    _ = by_joint(("Screw", 3)).system
    written = []
    asked = mb.Screw.conditions
    monkeypatch.setattr(mb.Screw, "conditions", lambda self: written.append(self.name) or asked(self))
    _ = by_joint(("Screw", 3)).system
    assert not written
