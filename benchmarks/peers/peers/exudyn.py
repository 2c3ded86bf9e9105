"""Exudyn: minimal coordinates and its explicit RK67 for trees, its implicit solvers for whatever has constraints.

Settings are numbers of steps. Trees: one `ObjectKinematicTree`, RK67 in fixed steps (on the triple pendulum faster at
equal error than DOPRI5 with error control). The chain of 1,000: mass points and distance constraints, because the
manual advises against long chains in a tree. Plane loops: `RigidBody2D` and `RevoluteJoint2D` with the implicit
trapezoidal rule of index 2, faster than a tree with closures. Where the constraints lose rank that rule fails;
generalised alpha of index 3 passes, with `ignoreSingularJacobian` for the redundant joints in space (a tree there).
Rolling: `ObjectJointRollingDisc`. Appell: a `CoordinateVectorConstraint` on velocities with user functions in Python
(with its own quadratic terms the solver fails here) and `ignoreSingularJacobian` for the doubled row. The ensemble:
one process for each core, as its own `processing` module does.
What limits it: both implicit solvers are of second order.
"""

import multiprocessing
import os
from collections.abc import Callable
from typing import Any

import exudyn as exu
import exudyn.itemInterface as item
import numpy as np
from exudyn.rigidBodyUtilities import RigidBodyInertia

from benchmarks.peers.linkage import Linkage, ends, hinge_angles, linkage, place, poses, seen
from benchmarks.peers.points import Points
from benchmarks.peers.problem import CannotExpress, Outcome, Prepared, Problem, clock

TYPE = exu.DynamicSolverType
COARSE = {"triple_pendulum": 250, "ensemble": 600, "chain_10": 10, "chain_100": 25, "rolling_disc": 200, "appell": 25}
"""Steps of the coarsest setting; each finer one has twice as many."""

Array = Any
Built = tuple[Any, Any, Callable[[Array, Array], Outcome], bool]


def prepare(problem: Problem) -> Prepared:
    """The assembled system, after a first step."""
    settings = tuple(float(COARSE.get(problem.name, 100) * 2**k) for k in range(15))
    versions = {"exudyn": exu.__version__}
    if problem.name == "ensemble":
        return Prepared(many(problem), settings, "KinematicTree, RK67, one process a core", versions)
    how, build = BUILD.get(problem.name) or BUILD.get(problem.kind, ("KinematicTree, RK67", tree))
    system, solver, outcome, singular = build(problem)

    def run(steps: float, until: float = problem.until) -> Outcome:
        chosen = options(until, round(steps), singular, problem.name == "chain_1000" or problem.kind == "net")
        began = clock()
        system.SolveDynamic(chosen, solverType=solver)
        seconds = clock() - began
        end = system.systemData
        found = outcome(end.GetODE2Coordinates() + end.GetODE2Coordinates(exu.ConfigurationType.Reference),
                        end.GetODE2Coordinates_t())  # fmt: skip
        return Outcome(found.observed, found.drift, found.energy, seconds)

    run(1, problem.until / settings[0])
    return Prepared(run, settings, how, versions)


def options(until: float, steps: int, singular: bool = False, large: bool = False) -> Any:
    """Fixed steps, nothing written or shown."""
    made = exu.SimulationSettings()
    made.solution.file.write = False
    made.solution.sensors.writePeriod = until
    made.show.computationTime = False
    motion = made.timeIntegration
    motion.endTime, motion.numberOfSteps = until, steps
    motion.automaticStepSize = motion.adaptiveStep = False
    if singular:  # Newton's method then stalls above a finer tolerance than its own
        made.linearSolver.solverType = exu.LinearSolverType.EigenDense
        made.linearSolver.ignoreSingularJacobian = True
    else:
        motion.newton.relativeTolerance, motion.newton.absoluteTolerance = 1e-10, 1e-12
        if large:
            made.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    return made


KEPT: list[Any] = []
"""Containers: they have to live as long as their systems."""


def new_system() -> Any:
    """An empty system."""
    KEPT.append(exu.SystemContainer())
    return KEPT[-1].AddSystem()


def grown(parts: Linkage) -> tuple[Any, Any, Any]:
    """A system with one kinematic tree: the system, its node and its object."""
    mbs, count = new_system(), len(parts.bodies)
    node = mbs.AddNode(
        item.NodeGenericODE2(
            numberOfODE2Coordinates=count, referenceCoordinates=[0.0] * count,
            initialCoordinates=list(parts.angles), initialCoordinates_t=list(parts.rates),
        )
    )  # fmt: skip
    bodies, kinds = parts.bodies, (exu.JointType.RevoluteZ, exu.JointType.PrismaticZ)
    body = mbs.AddObject(
        item.ObjectKinematicTree(
            nodeNumber=node, gravity=list(parts.gravity), jointTypes=[kinds[b.slides] for b in bodies],
            linkParents=[b.parent for b in bodies], linkMasses=[b.mass for b in bodies],
            jointTransformations=exu.Matrix3DList([np.eye(3) if b.turn is None else b.turn for b in bodies]),
            jointOffsets=exu.Vector3DList([b.at for b in bodies]),
            linkCOMs=exu.Vector3DList([b.centre for b in bodies]),
            linkInertiasCOM=exu.Matrix3DList([np.diag(b.inertia) for b in bodies]),
            jointPControlVector=[b.stiffness for b in bodies], jointPositionOffsetVector=[b.angle for b in bodies],
            jointDControlVector=[0.0] * count, jointVelocityOffsetVector=[0.0] * count,
        )
    )  # fmt: skip
    return mbs, node, body


def looked_at(parts: Linkage) -> Callable[[Array, Array], Outcome]:
    """The outcome from hinge angles and rates."""
    return lambda q, v: Outcome(parts.observe(q), parts.drift(q), parts.energy_error(q, v))


def tree(problem: Problem) -> Built:
    """No loops: explicit."""
    parts = linkage(problem)
    mbs, *_ = grown(parts)
    mbs.Assemble()
    return mbs, TYPE.RK67, looked_at(parts), False


def closed_tree(problem: Problem) -> Built:
    """A loop in space: the hinge back to the ground by two points on its axis."""
    parts = linkage(problem)
    mbs, _, body = grown(parts)
    ground = mbs.AddObject(item.ObjectGround())

    def marker(number: int, point: Array) -> Any:
        if number < 0:
            return mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=ground, localPosition=list(point)))
        return mbs.AddMarker(
            item.MarkerKinematicTreeRigid(objectNumber=body, linkNumber=number, localPosition=list(point))
        )

    for loop in parts.closures:
        for first, second in [(np.zeros(3), np.zeros(3)), *([loop.axes] if loop.axes else [])]:
            ends_ = [marker(loop.first, loop.on_first + first), marker(loop.second, loop.on_second + second)]
            mbs.AddObject(item.ObjectJointSpherical(markerNumbers=ends_))
    mbs.Assemble()
    return mbs, TYPE.GeneralizedAlpha, looked_at(parts), True


def plane(problem: Problem) -> Built:
    """Loops in the plane: free bodies and hinges."""
    parts = linkage(problem)
    mbs, where = new_system(), poses(parts, parts.angles)
    numbers, angles, speeds = list[Any](), list[float](), list[tuple[Array, Array]]()
    for i, body in enumerate(parts.bodies):
        spin, velocity = speeds[body.parent] if body.parent >= 0 else (np.zeros(3), np.zeros(3))
        velocity = velocity + np.cross(spin, where[i][1] - (where[body.parent][1] if body.parent >= 0 else 0))
        spin = spin + np.array([0, 0, body.rate])
        speeds.append((spin, velocity))
        angles.append(body.angle + (angles[body.parent] if body.parent >= 0 else 0.0))
        centre = place(where, i, body.centre)
        moving = velocity + np.cross(spin, centre - where[i][1])
        node = mbs.AddNode(
            item.NodeRigidBody2D(
                referenceCoordinates=[*centre[:2], angles[-1]], initialVelocities=[*moving[:2], spin[2]]
            )
        )
        number = item.ObjectRigidBody2D(physicsMass=body.mass, physicsInertia=body.inertia[2], nodeNumber=node)
        numbers.append(mbs.AddObject(number))
        if parts.gravity.any():
            mass = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=numbers[-1]))
            mbs.AddLoad(item.LoadMassProportional(markerNumber=mass, loadVector=list(parts.gravity)))
    ground = mbs.AddObject(item.ObjectGround())

    def marker(number: int, point: Array) -> Any:
        local = point if number < 0 else np.asarray(point) - parts.bodies[number].centre
        body = ground if number < 0 else numbers[number]
        return mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=body, localPosition=list(local)))

    hinges = [(marker(b.parent, b.at), marker(i, np.zeros(3))) for i, b in enumerate(parts.bodies)]
    hinges += [(marker(c.first, c.on_first), marker(c.second, c.on_second)) for c in parts.closures]
    for pair in hinges:
        mbs.AddObject(item.ObjectJointRevolute2D(markerNumbers=list(pair)))
    if parts.spring:
        s = parts.spring
        mbs.AddObject(
            item.ObjectConnectorSpringDamper(
                markerNumbers=[marker(s.body, s.on_body), marker(-1, s.on_ground)],
                stiffness=s.stiffness, referenceLength=s.length,
            )
        )  # fmt: skip
        motor = mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=numbers[0]))
        mbs.AddLoad(item.LoadTorqueVector(markerNumber=motor, loadVector=[0, 0, parts.torque]))
    mbs.Assemble()

    def outcome(q: Array, v: Array) -> Outcome:
        turned, turning = (np.reshape(x, (-1, 3))[:, 2] for x in (q, v))
        own = [
            [x[i] - (x[b.parent] if b.parent >= 0 else 0) for i, b in enumerate(parts.bodies)]
            for x in (turned, turning)
        ]
        return looked_at(parts)(np.array(own[0]), np.array(own[1]))

    passes = problem.name == "four_bar_singular"
    return mbs, TYPE.GeneralizedAlpha if passes else TYPE.TrapezoidalIndex2, outcome, False


def points(problem: Problem) -> Built:
    """A long chain: mass points and distances."""
    mbs, masses, g = new_system(), ends(hinge_angles(np.array(problem.data["angles"]))), problem.data["g"]
    last = mbs.AddMarker(item.MarkerNodePosition(nodeNumber=mbs.AddNode(item.NodePointGround())))
    for x, y in masses:
        node = mbs.AddNode(item.NodePoint2D(referenceCoordinates=[x, y]))
        body = mbs.AddObject(item.ObjectMassPoint2D(physicsMass=1.0, nodeNumber=node))
        here = mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=body))
        mbs.AddLoad(item.LoadForceVector(markerNumber=here, loadVector=[0, -g, 0]))
        mbs.AddObject(item.ObjectConnectorDistance(markerNumbers=[last, here], distance=1.0))
        last = here
    mbs.Assemble()

    def outcome(q: Array, v: Array) -> Outcome:
        at = np.reshape(q, (-1, 2))
        rods = np.linalg.norm(np.diff(at, axis=0, prepend=np.zeros((1, 2))), axis=1)
        energy = v @ v / 2 + g * (at[:, 1].sum() - masses[:, 1].sum())
        return Outcome(seen(problem, at), float(np.abs(rods - 1).max()), abs(energy))

    return mbs, TYPE.TrapezoidalIndex2, outcome, False


def net(problem: Problem) -> Built:
    """Mass points in space and distances."""
    given: Points = problem.data["points"]
    if given.repel:
        raise CannotExpress("no repelling force between points but by user functions in Python, which was not tried")
    mbs, markers = new_system(), []
    for at, velocity in zip(given.start, given.velocity, strict=True):
        node = mbs.AddNode(item.NodePoint(referenceCoordinates=list(at), initialVelocities=list(velocity)))
        body = mbs.AddObject(item.ObjectMassPoint(physicsMass=1.0, nodeNumber=node))
        markers.append(mbs.AddMarker(item.MarkerBodyPosition(bodyNumber=body)))
        mbs.AddLoad(item.LoadForceVector(markerNumber=markers[-1], loadVector=[0, 0, -given.g]))
    for i, j in given.links:
        mbs.AddObject(item.ObjectConnectorDistance(markerNumbers=[markers[i], markers[j]], distance=1.0))
    mbs.Assemble()
    return mbs, TYPE.TrapezoidalIndex2, lambda q, v: Outcome(*given.outcome(problem, np.concatenate([q, v]))), False


def rolling_disc(problem: Problem) -> Built:
    """A rigid body with Euler parameters and the joint for it; the disc's axis is x of its frame."""
    d, mbs = problem.data, new_system()
    axis, omega, radius, mass = np.array(d["axis"]), np.array(d["omega"]), d["radius"], d["mass"]
    rise = np.array([0, 0, 1]) - axis[2] * axis
    size = np.sqrt(rise @ rise)
    side = rise / size
    turn = np.column_stack([axis, np.cross(side, axis), side])
    velocity = np.cross(omega, radius * side)
    own = np.diag([2.0, 1.0, 1.0]) * mass * radius**2 / 4
    body = mbs.CreateRigidBody(
        referencePosition=[0, 0, radius * size], referenceRotationMatrix=turn, initialVelocity=list(velocity),
        initialAngularVelocity=list(omega), inertia=RigidBodyInertia(mass, own), gravity=[0, 0, -d["g"]],
    )  # fmt: skip
    ground = mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=mbs.AddObject(item.ObjectGround())))
    disc = mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=body))
    mbs.AddObject(item.ObjectJointRollingDisc(markerNumbers=[ground, disc], discRadius=radius, discAxis=[1, 0, 0]))
    mbs.Assemble()

    def measured(what: Any) -> Array:
        return np.array(mbs.GetObjectOutputBody(body, what, [0, 0, 0], exu.ConfigurationType.Current))

    def outcome(q: Array, v: Array) -> Outcome:
        kind = exu.OutputVariableType
        at, speed, spin = (measured(k) for k in (kind.Position, kind.Velocity, kind.AngularVelocityLocal))
        now = measured(kind.RotationMatrix).reshape(3, 3)[:, 0]
        began = (
            mass * (velocity @ velocity / 2 + d["g"] * radius * size) + (turn.T @ omega) @ own @ (turn.T @ omega) / 2
        )
        energy = mass * (speed @ speed / 2 + d["g"] * at[2]) + spin @ own @ spin / 2 - began
        return Outcome(np.concatenate([at, now]), abs(at[2] - radius * np.sqrt(1 - now[2] ** 2)), abs(energy))

    return mbs, TYPE.TrapezoidalIndex2, outcome, False


def appell(problem: Problem) -> Built:
    """A mass point; both conditions and their Jacobian as user functions of one vector constraint on velocities."""
    mbs, g = new_system(), problem.data["g"]
    node = mbs.AddNode(item.NodePoint(initialVelocities=list(problem.data["velocity"])))
    body = mbs.AddObject(item.ObjectMassPoint(physicsMass=1.0, nodeNumber=node))
    mass = mbs.AddMarker(item.MarkerBodyMass(bodyNumber=body))
    mbs.AddLoad(item.LoadMassProportional(markerNumber=mass, loadVector=[0, 0, -g]))
    particle = mbs.AddMarker(item.MarkerNodeCoordinates(nodeNumber=node))
    ground = mbs.AddMarker(item.MarkerNodeCoordinates(nodeNumber=mbs.AddNode(item.NodePointGround())))
    cone = np.array([[-1.0, -1.0, 1.0], [-2.0, -2.0, 2.0]])

    def condition(mbs: Any, t: float, number: int, q: Array, v: Array, on_velocity: bool) -> Array:
        return cone @ np.array(v[:3]) ** 2

    def jacobian(mbs: Any, t: float, number: int, q: Array, v: Array, on_velocity: bool) -> Array:
        return np.hstack([2 * cone * np.array(v[:3]), np.zeros((2, len(q) - 3))])

    mbs.AddObject(
        item.CoordinateVectorConstraint(
            markerNumbers=[particle, ground], scalingMarker0=np.zeros((2, 1)), velocityLevel=True,
            constraintUserFunction=condition, jacobianUserFunction=jacobian,
        )
    )  # fmt: skip
    mbs.Assemble()

    def outcome(q: Array, v: Array) -> Outcome:
        energy = v @ v / 2 + g * q[2] - 25.0
        return Outcome(q, abs(v[2] ** 2 - v[0] ** 2 - v[1] ** 2), abs(energy))

    return mbs, TYPE.TrapezoidalIndex2, outcome, True


INHERITED: list[Any] = []
"""The system that every process of the ensemble gets when it is forked."""


def portion(share: tuple[Array, int, float]) -> Array:
    """The hinge angles at the end of some pendulums, in one process."""
    angles, steps, until = share
    mbs, chosen, found = INHERITED[0], options(until, steps), []
    for start in angles:
        mbs.systemData.SetODE2Coordinates(start, exu.ConfigurationType.Initial)
        mbs.SolveDynamic(chosen, solverType=TYPE.RK67)
        found.append(np.array(mbs.systemData.GetODE2Coordinates()))
    return np.array(found)


def many(problem: Problem) -> Callable[..., Outcome]:
    """All pendulums, shared out over processes that live as long as this one."""
    cores = os.cpu_count() or 1
    mbs, *_ = grown(linkage(problem))
    mbs.Assemble()
    INHERITED[:] = [mbs]
    starts = np.array_split(hinge_angles(problem.data["angles"]), cores)
    pool = multiprocessing.get_context("fork").Pool(cores)

    def run(steps: float, until: float = problem.until) -> Outcome:
        found = np.concatenate(pool.map(portion, [(angles, round(steps), until) for angles in starts], chunksize=1))
        return Outcome(ends(found[::10])[:, -1])

    run(1, 0.01)
    return run


BUILD: dict[str, tuple[str, Callable[[Problem], Built]]] = {
    "andrews": ("RigidBody2D, trapezoidal rule of index 2", plane),
    "four_bar": ("RigidBody2D, trapezoidal rule of index 2", plane),
    "four_bar_singular": ("RigidBody2D, generalised alpha of index 3", plane),
    "spatial_loop": ("KinematicTree with closure, generalised alpha of index 3", closed_tree),
    "stewart": ("KinematicTree with closures, generalised alpha of index 3", closed_tree),
    "net": ("mass points and distances, trapezoidal rule of index 2", net),
    "fekete": ("", net),
    "chain_1000": ("mass points and distances, trapezoidal rule of index 2", points),
    "rolling_disc": ("ObjectJointRollingDisc, trapezoidal rule of index 2", rolling_disc),
    "appell": ("CoordinateVectorConstraint on velocities, user functions, trapezoidal rule of index 2", appell),
}
