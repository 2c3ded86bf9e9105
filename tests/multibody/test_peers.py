"""The same mechanisms in zwang, MuJoCo (joint coordinates) and Exudyn (rigid bodies and joints): the same motion.

Every mechanism is described once, as bodies with their axes along the world's at the start, and built by three tools.
"""

from dataclasses import dataclass
from importlib.metadata import version

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb

GRAVITY = (0.0, 0.0, -9.81)
SAMPLES = 11


@dataclass(frozen=True)
class Part:
    """A body, and the joint that holds it to an earlier one (−1: the ground) at a world point."""

    mass: float
    inertia: tuple[float, float, float]
    centre: tuple[float, float, float]
    kind: str
    at: tuple[float, float, float]
    axis: tuple[float, float, float] = (0.0, 1.0, 0.0)
    parent: int = -1
    stiffness: float = 0.0
    damping: float = 0.0
    spin: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def velocity(self) -> np.ndarray:
        return np.cross(self.spin, np.subtract(self.centre, self.at))


@dataclass(frozen=True)
class Case:
    """Parts; where the last one is pinned to the ground too, if that closes a loop; and how long to go.

    `mujoco` and `exudyn` are the accuracies that these reach here: MuJoCo's equalities are soft, and Exudyn's implicit
    integrator is of second order.
    """

    parts: tuple[Part, ...]
    until: float
    mujoco: float
    exudyn: float
    loop: tuple[float, float, float] | None = None


CASES = {
    "spatial double pendulum": Case(
        (
            Part(1.0, (0.02, 0.03, 0.015), (0.3, 0.05, 0.0), "hinge", (0, 0, 0), (0, 1, 0.2)),
            Part(0.7, (0.01, 0.02, 0.025), (0.8, 0.1, -0.05), "hinge", (0.6, 0.1, 0), (0.5, 0.3, 1), parent=0),
        ),
        until=1.0,
        mujoco=1e-10,
        exudyn=1e-5,
    ),
    "top on a ball": Case(
        (Part(1.0, (0.05, 0.06, 0.02), (0.1, 0.0, 0.4), "ball", (0, 0, 0), spin=(1.0, 0.0, 12.0)),),
        until=1.0,
        mujoco=1e-10,
        exudyn=1e-5,
    ),
    "sprung chain on a slide": Case(
        (
            Part(2.0, (0.05, 0.05, 0.05), (0, 0, 0), "slide", (0, 0, 0), (1, 0.3, 0), stiffness=20, damping=0.8),
            Part(0.5, (0.01, 0.02, 0.02), (0.2, 0, 0), "hinge", (0, 0, 0), (0, 1, 0), 0, 3, 0.05),
            Part(0.5, (0.01, 0.02, 0.02), (0.6, 0, 0), "hinge", (0.4, 0, 0), (0, 0.6, 0.8), 1, 2, 0.05),
            Part(0.4, (0.01, 0.02, 0.02), (1.0, 0, 0), "hinge", (0.8, 0, 0), (0, 1, 0), 2, 1, 0.02),
            Part(0.3, (0.01, 0.02, 0.02), (1.4, 0, 0), "hinge", (1.2, 0, 0), (1, 0, 1), 3, 0.5, 0.02),
        ),
        until=0.6,
        mujoco=1e-10,
        exudyn=1e-5,
    ),
    "four-bar": Case(
        (
            Part(0.5, (0.004, 0.004, 0.001), (0.075, 0, 0.13), "hinge", (0, 0, 0)),
            Part(1.0, (0.01, 0.09, 0.09), (0.575, 0, 0.38), "hinge", (0.15, 0, 0.26), parent=0),
            Part(0.8, (0.02, 0.02, 0.001), (1.0, 0, 0.2), "hinge", (1.0, 0, 0.5), parent=1),
        ),
        until=0.6,
        mujoco=2e-8,
        exudyn=1e-5,
        loop=(1.0, 0, -0.1),
    ),
}


def by_zwang(case: Case) -> np.ndarray:
    """(time, body, 3) the centres of mass."""
    bodies, joints, springs = [], [], []
    for i, p in enumerate(case.parts):
        start = {"position": p.centre, "velocity": p.velocity, "angular_velocity": p.spin}
        bodies.append(mb.Body(f"b{i}", p.mass, p.inertia, **start))
        first = mb.ground if p.parent < 0 else bodies[p.parent]
        if p.kind == "ball":
            joints.append(mb.Spherical(f"j{i}", first, bodies[i], at=p.at))
        else:
            kind = mb.Revolute if p.kind == "hinge" else mb.Prismatic
            joints.append(kind(f"j{i}", first, bodies[i], at=p.at, axis=p.axis))
        if p.stiffness or p.damping:
            springs.append(mb.JointSpring(f"s{i}", joints[i], p.stiffness, 0, p.damping))
    if case.loop:
        joints.append(mb.Revolute("loop", mb.ground, bodies[-1], at=case.loop, axis=(0, 1, 0)))
    mechanism = mb.Mechanism(bodies, joints, [mb.Gravity(GRAVITY), *springs])
    motion = zw.simulate(mechanism.system, mechanism.start, until=case.until, samples=SAMPLES)
    return np.stack([mechanism.track(motion, b.name).values for b in bodies], axis=1)


def mjcf(case: Case, step: float) -> str:
    """The mechanism as a tree of joints, and an equality as stiff as MuJoCo allows where there is a loop."""
    children: dict[int, list[int]] = {}
    for i, p in enumerate(case.parts):
        children.setdefault(p.parent, []).append(i)

    def numbers(x) -> str:
        return " ".join(map(repr, np.asarray(x, dtype=float).tolist()))

    def nested(parent: int) -> str:
        text = ""
        for i in children.get(parent, []):
            p = case.parts[i]
            centre = np.array(p.centre) - (case.parts[parent].centre if parent >= 0 else 0)
            text += (
                f'<body name="b{i}" pos="{numbers(centre)}"><inertial pos="0 0 0" mass="{p.mass}" '
                f'diaginertia="{numbers(p.inertia)}"/><joint type="{p.kind}" axis="{numbers(p.axis)}" '
                f'pos="{numbers(np.subtract(p.at, p.centre))}" stiffness="{p.stiffness}" damping="{p.damping}"/>'
                f"{nested(i)}</body>"
            )
        return text

    last = len(case.parts) - 1
    loop = "" if case.loop is None else numbers(np.subtract(case.loop, case.parts[-1].centre))
    stiff = f'solref="{2 * step} 1" solimp="0.9999 0.9999 1e-6"'
    equality = f'<equality><connect body1="b{last}" body2="world" anchor="{loop}" {stiff}/></equality>' if loop else ""
    option = f'<option timestep="{step}" integrator="RK4" gravity="{numbers(GRAVITY)}" iterations="200" tolerance="0"/>'
    return f"<mujoco>{option}<worldbody>{nested(-1)}</worldbody>{equality}</mujoco>"


def by_mujoco(case: Case) -> np.ndarray:
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    steps = 4000 // (SAMPLES - 1) * (SAMPLES - 1)
    model = mujoco.MjModel.from_xml_string(mjcf(case, case.until / steps))
    data = mujoco.MjData(model)
    for i, p in enumerate(case.parts):
        if p.kind == "ball":
            data.qvel[model.body(f"b{i}").dofadr[0] :][:3] = p.spin
    mujoco.mj_forward(model, data)
    path = [data.xipos[1:].copy()]
    for _ in range(SAMPLES - 1):
        for _ in range(steps // (SAMPLES - 1)):
            mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        path.append(data.xipos[1:].copy())
    return np.array(path)


def by_exudyn(case: Case) -> np.ndarray:
    exu = pytest.importorskip("exudyn", reason="Exudyn is not installed")
    from exudyn.utilities import RigidBodyInertia, SensorBody

    system = exu.SystemContainer().AddSystem()
    bodies = [system.CreateGround()]
    sensors = []
    for p in case.parts:
        inertia = RigidBodyInertia(mass=p.mass, inertiaTensor=np.diag(p.inertia))
        start = {"initialVelocity": p.velocity.tolist(), "initialAngularVelocity": list(p.spin)}
        place = {"referencePosition": list(p.centre), "inertia": inertia, "gravity": list(GRAVITY)}
        bodies.append(system.CreateRigidBody(**place, **start))
        ends, at, axis = [bodies[p.parent + 1], bodies[-1]], list(p.at), list(np.array(p.axis, dtype=float))
        unit = (np.array(axis) / np.linalg.norm(axis)).tolist()
        if p.kind == "ball":
            system.CreateSphericalJoint("", ends, at)
        elif p.kind == "hinge":
            system.CreateRevoluteJoint("", ends, at, unit)
            if p.stiffness or p.damping:
                system.CreateTorsionalSpringDamper("", ends, at, unit, stiffness=p.stiffness, damping=p.damping)
        else:
            system.CreatePrismaticJoint("", ends, at, unit)
            along = np.outer(unit, unit)
            system.CreateRigidBodySpringDamper(
                "",
                ends,
                stiffness=np.block([[p.stiffness * along, np.zeros((3, 3))], [np.zeros((3, 6))]]),
                damping=np.block([[p.damping * along, np.zeros((3, 3))], [np.zeros((3, 6))]]),
            )
        sensors.append(
            system.AddSensor(
                SensorBody(
                    bodyNumber=bodies[-1], storeInternal=True, outputVariableType=exu.OutputVariableType.Position
                )
            )
        )
    if case.loop:  # in the plane: the other conditions of a second pin are there already
        system.CreateGenericJoint("", [bodies[0], bodies[-1]], list(case.loop), constrainedAxes=[1, 0, 1, 0, 0, 0])
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.endTime = case.until
    settings.timeIntegration.numberOfSteps = 2000
    settings.timeIntegration.generalizedAlpha.spectralRadius = 1.0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = case.until / (SAMPLES - 1)
    settings.timeIntegration.verboseMode = 0
    system.SolveDynamic(settings)
    return np.stack([system.GetSensorStoredData(s)[:, 1:] for s in sensors], axis=1)


@pytest.fixture(scope="module")
def ours() -> dict[str, np.ndarray]:
    return {name: by_zwang(case) for name, case in CASES.items()}


@pytest.mark.parametrize("name", CASES)
def test_the_motion_is_mujocos(ours, name):
    case = CASES[name]
    path, tol = by_mujoco(case), case.mujoco
    if any(p.kind == "ball" for p in case.parts) and int(version("mujoco").split(".")[0]) < 4:
        tol = (
            2e-6  # before version 4 its RK4 is of second order on quaternions: the error falls by 4 with half the step
        )
    np.testing.assert_allclose(ours[name], path, rtol=0, atol=tol)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Exudyn renames its settings from version to version
@pytest.mark.parametrize("name", CASES)
def test_the_motion_is_exudyns(ours, name):
    path = by_exudyn(CASES[name])
    np.testing.assert_allclose(ours[name], path, rtol=0, atol=CASES[name].exudyn)
