"""Drake: a continuous `MultibodyPlant` in hinge angles, Drake's Runge–Kutta method of order five in fixed steps.

Settings are time steps. Error control was tried on the triple pendulum: there the same method reaches an error two to
five times faster in fixed steps, and Radau and the method of order three are slower still. Loops can be closed in two
ways; both were tried on all four, and each has the better one: a `LinearBushingRollPitchYaw` as in Drake's own four-bar
example, a stiff spring with some damping (two on the axis of a hinge in space) whose stiffness grows as the step
allows, k = m / h²; or `AddBallConstraint`, which exists in discrete mode only (solver SAP). On the linkage in space
SAP was tried with the loop cut between two bars, because this version crashes on a ball constraint to the ground there.
The ensemble: one simulator for each process, one process for each core.
What limits it: on loops the compliance of the bushing, whose error falls with h², or the low order of SAP.
"""

import multiprocessing
import os
from importlib.metadata import version
from typing import Any

import numpy as np
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    LinearBushingRollPitchYaw,
    LinearSpringDamper,
    PrismaticJoint,
    PrismaticSpring,
    RevoluteJoint,
    RotationalInertia,
    SpatialInertia,
)
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

from benchmarks.peers.linkage import Linkage, ends, hinge_angles, linkage
from benchmarks.peers.problem import CannotExpress, Outcome, Prepared, Problem, clock

REASON = {
    "rolling_disc": "no rolling without slipping: constraints (ball, weld, distance, coupler) are functions of "
    "position, and friction at contacts is regularised",
    "appell": "no constraint on velocities: constraints (ball, weld, distance, coupler) are functions of position",
}
COARSE = {"triple_pendulum": 200, "ensemble": 800, "chain_10": 10, "chain_100": 25, "chain_1000": 25}
"""Steps of the coarsest setting; each finer one has twice as many."""
DISCRETE = ("andrews", "four_bar_singular")
"""Closed by constraints in discrete mode; the others by bushings."""
MASS = {"four_bar": 2.0, "spatial_loop": 1.2, "stewart": 0.5}
"""What a bushing moves, about: its stiffness is this over the squared step, below the limit of stability."""
DAMPING = 0.3

Array = Any


def prepare(problem: Problem) -> Prepared:
    """The plant, after one step; where loops close, one plant for each step."""
    if problem.name in REASON:
        raise CannotExpress(REASON[problem.name])
    parts = linkage(problem)
    settings = tuple(problem.until / (COARSE.get(problem.name, 400) * 2**k) for k in range(14))
    versions = {"drake": version("drake")}
    if problem.name == "ensemble":
        return Prepared(many(problem, parts), settings, "RK5 in fixed steps, one process a core", versions)
    plants: dict[float, Any] = {}

    def run(step: float, until: float = problem.until) -> Outcome:
        if step not in plants:  # the stiffness of a bushing belongs to the step; building is not timed
            plants.clear()
            plants[step] = assembled(parts, MASS.get(problem.name, 0.0), step, problem.name in DISCRETE)
        plant = plants[step]
        simulator = ready(plant, step)
        context = simulator.get_mutable_context()
        plant.SetPositions(context, parts.angles)
        plant.SetVelocities(context, parts.rates)
        if parts.torque:
            plant.get_actuation_input_port().FixValue(context, [parts.torque])
        simulator.Initialize()
        began = clock()
        simulator.AdvanceTo(until, interruptible=False)
        seconds = clock() - began
        q, v = plant.GetPositions(context), plant.GetVelocities(context)
        return Outcome(parts.observe(q), parts.drift(q), parts.energy_error(q, v), seconds)

    run(settings[0], settings[0])
    how = "RK5 in fixed steps" + (", loops closed by bushings of k = m / h²" if parts.closures else "")
    if problem.name in DISCRETE:
        how = "discrete mode (SAP), loops closed by ball constraints"
    return Prepared(run, settings, how, versions)


def ready(plant: Any, step: float) -> Any:
    """A simulator, with Drake's fifth-order method if the plant is continuous."""
    simulator = Simulator(plant)
    if not plant.time_step():
        ResetIntegratorFromFlags(simulator, "runge_kutta5", step)
        simulator.get_mutable_integrator().set_fixed_step_mode(True)
    return simulator


def assembled(parts: Linkage, mass: float, step: float, discrete: bool = False) -> Any:
    """The plant: a revolute joint for each body, a bushing or a constraint for each closure."""
    plant = MultibodyPlant(step if discrete else 0.0)
    bodies: list[Any] = []

    def home(number: int) -> Any:
        return plant.world_body() if number < 0 else bodies[number]

    def fixed(name: str, body: Any, place: Any) -> Any:
        return plant.AddFrame(FixedOffsetFrame(name, body.body_frame(), place))

    for i, part in enumerate(parts.bodies):
        own = RotationalInertia(*(float(moment) for moment in part.inertia))
        whole = (
            SpatialInertia.MakeFromCentralInertia(part.mass, part.centre, own) if part.mass else SpatialInertia.Zero()
        )
        body = plant.AddRigidBody(f"b{i}", whole)
        turn = RotationMatrix() if part.turn is None else RotationMatrix(part.turn)
        frame = fixed(f"f{i}", home(part.parent), RigidTransform(turn, part.at))
        if part.slides:
            joint = plant.AddJoint(PrismaticJoint(f"j{i}", frame, body.body_frame(), [0, 0, 1]))
            plant.AddForceElement(PrismaticSpring(joint, part.angle, part.stiffness))
        else:
            plant.AddJoint(RevoluteJoint(f"j{i}", frame, body.body_frame(), [0, 0, 1]))
        bodies.append(body)
    none, stiff, damp = np.zeros(3), np.full(3, mass / step**2), np.full(3, DAMPING * mass / step)
    for i, loop in enumerate(parts.closures):
        for j, (first, second) in enumerate([(none, none)] if loop.axes is None else [(none, none), loop.axes]):
            here, there = loop.on_first + first, loop.on_second + second
            if discrete:
                plant.AddBallConstraint(home(loop.first), here, home(loop.second), there)
                continue
            one = fixed(f"c{i}{j}", home(loop.first), RigidTransform(here))
            other = fixed(f"d{i}{j}", home(loop.second), RigidTransform(there))
            plant.AddForceElement(LinearBushingRollPitchYaw(one, other, none, none, stiff, damp))
    if parts.spring:
        s = parts.spring
        ends_ = (bodies[s.body], s.on_body, plant.world_body(), s.on_ground)
        plant.AddForceElement(LinearSpringDamper(*ends_, s.length, s.stiffness, 0.0))
        plant.AddJointActuator("motor", plant.GetJointByName("j0"))
    plant.mutable_gravity_field().set_gravity_vector(parts.gravity)
    plant.Finalize()
    return plant


INHERITED: list[Any] = []
"""The plant that every process of the ensemble gets when it is forked."""


def portion(share: tuple[Array, float, float]) -> Array:
    """The hinge angles at the end of some pendulums, in one process."""
    angles, step, until = share
    plant, found = INHERITED[0], []
    simulator = ready(plant, step)
    context = simulator.get_mutable_context()
    for start in angles:
        context.SetTime(0.0)
        plant.SetPositions(context, start)
        plant.SetVelocities(context, np.zeros(len(start)))
        simulator.Initialize()
        simulator.AdvanceTo(until, interruptible=False)
        found.append(plant.GetPositions(context))
    return np.array(found)


def many(problem: Problem, parts: Linkage) -> Any:
    """All pendulums, shared out over processes that live as long as this one."""
    cores = os.cpu_count() or 1
    INHERITED[:] = [assembled(parts, 0.0, 1.0)]
    starts = np.array_split(hinge_angles(problem.data["angles"]), cores)
    pool = multiprocessing.get_context("fork").Pool(cores)

    def run(step: float, until: float = problem.until) -> Outcome:
        found = np.concatenate(pool.map(portion, [(angles, step, until) for angles in starts], chunksize=1))
        return Outcome(ends(found[::10])[:, -1])

    run(0.01, 0.01)
    return run
