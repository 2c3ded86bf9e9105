"""MuJoCo: hinges in generalised coordinates, RK4 with fixed steps, equalities as stiff as the step allows.

The model is built with `MjSpec`, MuJoCo's own way to write MJCF in Python. Settings are time steps; RK4 is its most
accurate integrator. Trees run without contacts and constraints. The chain of 1,000 is one of points that slide in the
plane and are tied by tendons of constant length: measured near the support, they reach 1e-2 m in 7 s, the tree of
hinges, whose mass matrix is full, in 21 s. Loops are closed by `connect` (two of them on the axis of a hinge in space).
These are soft by design: impedance 0.9999, the largest that MuJoCo allows, a reference of critical damping with time
constant 2 h, the smallest that `refsafe` lets pass, Newton's solver with tolerance 1e-15. Time constants from 0.45 h to
6 h and the exact diagonal were tried on three loops; this is the best of them taken together. The ensemble:
`mujoco.rollout` on all cores. Point masses have an inertia of 1e-14 kg m², because more than 1e-15 is asked for: that
changes the motion by about 1e-14. A disc in frictional contact was tried once (elliptic cone, friction 100): it slips,
and its end is off by 2 to 5 at every step, so the rolling disc counts as not expressed.
What limits it: order four on trees; on loops the softness, whose error falls with h² or h³.
"""

import os
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

from benchmarks.peers.linkage import Linkage, Spring, ends, hinge_angles, linkage, seen
from benchmarks.peers.points import Points
from benchmarks.peers.problem import CannotExpress, Outcome, Prepared, Problem, clock

REASON = {
    "rolling_disc": "no rolling without slipping: equalities are functions of position; frictional contact slips",
    "appell": "no constraint on velocities: every equality (connect, weld, joint, tendon, …) is a function of position",
    "fekete": "no repelling force between points but by a callback in Python, which was not tried",
}
COARSE = {"triple_pendulum": 1000, "ensemble": 2000, "chain_10": 25, "chain_100": 25, "chain_1000": 25}
"""Steps of the coarsest setting; each finer one has twice as many."""
FREE = ("chain_1000",)
"""Points and tendons instead of hinges."""
LEAST = 1e-14
STIFF = [mujoco.mjMAXIMP, mujoco.mjMAXIMP, 1e-3, 0.5, 2]

Array = Any


def prepare(problem: Problem) -> Prepared:
    """The compiled model, after one step."""
    if problem.kind in REASON:
        raise CannotExpress(REASON[problem.kind])
    if "points" in problem.data:
        return tied(problem)
    parts = linkage(problem)
    free = problem.name in FREE
    model = points(problem) if free else compiled(parts)
    counts = [2**k * COARSE.get(problem.name, 100) for k in range(14)]
    settings = tuple(problem.until / count for count in counts)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data)
    versions = {"mujoco": mujoco.__version__}
    if problem.name == "ensemble":
        return Prepared(many(problem, model), settings, "RK4, mujoco.rollout on all cores", versions)

    def run(step: float) -> Outcome:
        steps = round(problem.until / step)
        mujoco.mj_resetData(model, data)
        if not free:
            data.qpos[:], data.qvel[:] = parts.angles, parts.rates
        began = clock()
        set_step(model, step)
        mujoco.mj_step(model, data, nstep=steps)
        seconds = clock() - began
        if data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
            raise RuntimeError("unstable with this step: MuJoCo reset the simulation")
        q, v = data.qpos.copy(), data.qvel.copy()
        if free:
            masses, drop = ends(parts.angles) + q.reshape(-1, 2), q.reshape(-1, 2)[:, 1].sum()
            rods = np.linalg.norm(np.diff(masses, axis=0, prepend=0.0), axis=1)
            energy = abs(v @ v / 2 + problem.data["g"] * drop)
            return Outcome(seen(problem, masses), float(np.abs(rods - 1).max()), energy, seconds)
        return Outcome(parts.observe(q), parts.drift(q), parts.energy_error(q, v), seconds)

    how = "RK4" if not (parts.closures or free) else "RK4, soft equalities with time constant 2 h"
    return Prepared(run, settings, how, versions)


def compiled(parts: Linkage) -> Any:
    """The model: bodies in a tree, a hinge about z each, and the closures."""
    spec = mujoco.MjSpec()
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.gravity = parts.gravity
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
    bodies: list[Any] = []
    for i, part in enumerate(parts.bodies):
        parent = bodies[part.parent] if part.parent >= 0 else spec.worldbody
        body = parent.add_body(name=f"b{i}", pos=part.at, quat=quaternion(part.turn))
        kind = mujoco.mjtJoint.mjJNT_SLIDE if part.slides else mujoco.mjtJoint.mjJNT_HINGE
        joint = body.add_joint(type=kind, axis=[0, 0, 1])
        if part.stiffness:
            joint.stiffness, joint.springref = [part.stiffness, 0, 0], part.angle
        body.mass, body.ipos, body.explicitinertial = max(part.mass, LEAST), part.centre, True
        body.inertia = np.maximum(part.inertia, LEAST)
        bodies.append(body)
    if parts.closures:
        close(spec, parts)
    else:
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    if parts.spring:
        drive(spec, parts.spring, parts.torque, bodies)
    return spec.compile()


def points(problem: Problem) -> Any:
    """A long chain: two slides for each mass, a tendon held at its length for each rod."""
    spec = mujoco.MjSpec()
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.gravity = [0, -problem.data["g"], 0]
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
    spec.option.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    solve_finely(spec)
    spec.worldbody.add_site(name="s0")
    for i, (x, y) in enumerate(ends(linkage(problem).angles), start=1):
        body = spec.worldbody.add_body(pos=[x, y, 0])
        body.mass, body.inertia, body.explicitinertial = 1.0, [LEAST] * 3, True
        for axis in ([1, 0, 0], [0, 1, 0]):
            body.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
        body.add_site(name=f"s{i}")
        rod = spec.add_tendon(name=f"t{i}")
        rod.wrap_site(f"s{i - 1}")
        rod.wrap_site(f"s{i}")
        hold = spec.add_equality(type=mujoco.mjtEq.mjEQ_TENDON, name1=f"t{i}", objtype=mujoco.mjtObj.mjOBJ_TENDON)
        hold.solimp = STIFF
    return spec.compile()


def tied(problem: Problem) -> Prepared:
    """Points in space: three slides each, a tendon held at its length for every link."""
    given: Points = problem.data["points"]
    spec = mujoco.MjSpec()
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.gravity = [0, 0, -given.g]
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
    spec.option.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    solve_finely(spec)
    for i, place in enumerate(given.start):
        body = spec.worldbody.add_body(pos=place)
        body.mass, body.inertia, body.explicitinertial = 1.0, [LEAST] * 3, True
        for axis in np.eye(3):
            body.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
        body.add_site(name=f"s{i}")
    for k, ends_ in enumerate(given.links):
        rod = spec.add_tendon(name=f"t{k}")
        for i in ends_:
            rod.wrap_site(f"s{i}")
        hold = spec.add_equality(type=mujoco.mjtEq.mjEQ_TENDON, name1=f"t{k}", objtype=mujoco.mjtObj.mjOBJ_TENDON)
        hold.solimp = STIFF
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data)

    def run(step: float) -> Outcome:
        mujoco.mj_resetData(model, data)
        data.qvel[:] = given.velocity.ravel()
        began = clock()
        set_step(model, step)
        mujoco.mj_step(model, data, nstep=round(problem.until / step))
        seconds = clock() - began
        end = np.concatenate([given.start.ravel() + data.qpos, data.qvel])
        return Outcome(*given.outcome(problem, end), seconds)

    settings = tuple(problem.until / (25 * 2**k) for k in range(14))
    how = "points and tendons, RK4, soft equalities with time constant 2 h"
    return Prepared(run, settings, how, {"mujoco": mujoco.__version__})


def solve_finely(spec: Any) -> None:
    """Newton's solver, to the end."""
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    spec.option.tolerance, spec.option.iterations, spec.option.ls_iterations = 1e-15, 100, 100


def close(spec: Any, parts: Linkage) -> None:
    """A connect for each closing point; a second one along the axis where the problem is in space."""
    solve_finely(spec)
    for i, loop in enumerate(parts.closures):
        shifts = [(np.zeros(3), np.zeros(3))] if loop.axes is None else [(np.zeros(3), np.zeros(3)), loop.axes]
        for j, (first, second) in enumerate(shifts):
            names: list[str] = []
            for body, point in ((loop.first, loop.on_first + first), (loop.second, loop.on_second + second)):
                home = spec.worldbody if body < 0 else spec.body(f"b{body}")
                names.append(f"s{i}{j}{len(names)}")
                home.add_site(name=names[-1], pos=point)
            one = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE)
            one.name1, one.name2 = names
            one.solimp = STIFF


def drive(spec: Any, spring: Spring, torque: float, bodies: list[Any]) -> None:
    """The motor of the first hinge, and the spring as a tendon between two sites."""
    bodies[0].joints[0].name = "motor"
    spec.add_actuator(
        name="motor", target="motor", trntype=mujoco.mjtTrn.mjTRN_JOINT, gaintype=mujoco.mjtGain.mjGAIN_FIXED,
        biastype=mujoco.mjtBias.mjBIAS_AFFINE, biasprm=[torque, 0, 0, *[0] * 7],
    )  # fmt: skip
    bodies[spring.body].add_site(name="spring1", pos=spring.on_body)
    spec.worldbody.add_site(name="spring0", pos=spring.on_ground)
    tendon = spec.add_tendon(name="spring", stiffness=spring.stiffness, springlength=[spring.length] * 2)
    tendon.wrap_site("spring0")
    tendon.wrap_site("spring1")


def set_step(model: Any, step: float) -> None:
    """The step, and with it the time constant of the equalities."""
    model.opt.timestep = step
    model.eq_solref[:] = (2 * step, 1.0)


def quaternion(turn: Array) -> Array:
    """Scalar first."""
    made = np.array([1.0, 0, 0, 0])
    if turn is not None:
        mujoco.mju_mat2Quat(made, np.ascontiguousarray(turn).ravel())
    return made


def many(problem: Problem, model: Any) -> Any:
    """All pendulums, in pieces of 200 steps: a rollout keeps every state that it passes."""
    threads, piece = os.cpu_count() or 1, 200
    datas = [mujoco.MjData(model) for _ in range(threads)]
    angles = hinge_angles(problem.data["angles"])
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start = np.zeros((len(angles), size))
    start[:, 1:4] = angles  # time, positions, velocities

    def run(step: float) -> Outcome:
        left, state = round(problem.until / step), start
        began = clock()
        set_step(model, step)
        with rollout.Rollout(nthread=threads) as pool:
            while left:
                steps = min(left, piece)
                state = pool.rollout(model, datas, state, nstep=steps)[0][:, -1]
                left -= steps
        seconds = clock() - began
        return Outcome(ends(state[::10, 1:4])[:, -1], seconds=seconds)

    return run
