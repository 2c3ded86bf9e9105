"""Pinocchio (`pin`): its C++ algorithms called for every acceleration, SciPy's DOP853 with tolerances for the motion.

Pinocchio computes accelerations and leaves integration to the user; DOP853 is the best that its Python users have for
accuracies from 1e-3 to 1e-12. Trees: `aba` in hinge angles. Loops: `constraintDynamics` with a 3D constraint at each
closure (two on the axis of a hinge in space, which makes it redundant), its proximal solver (μ = 1e-6, accuracy 1e-12)
and Baumgarte's correction; the wheel has no CasADi bindings, so nothing is generated. The ensemble: all pendulums as
one state with a common step, accelerations by `abaInParallel`. Rolling and Appell's condition are no constraint models
of it; `forwardDynamics` takes their Jacobian and bias, written by hand here (`damping` for the doubled row).
What limits it: one call from Python for each acceleration, some 10 microseconds beside SciPy's own work; at the
singular positions it loses the motion at tolerances above 1e-7.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

from benchmarks.peers.linkage import Linkage, ends, hinge_angles, linkage
from benchmarks.peers.problem import TOLERANCES, CannotExpress, Outcome, Prepared, Problem, clock

BAUMGARTE = 20.0
MOST = 500  # joints

Array = Any
Rate = Callable[[float, Array], Array]


def prepare(problem: Problem) -> Prepared:
    """The model and one short run."""
    how, rate, start, outcome = BUILD.get(problem.name, mechanism)(problem)

    def run(tol: float, until: float = problem.until) -> Outcome:
        began = clock()
        motion = solve_ivp(rate, (0.0, until), start, method="DOP853", rtol=max(tol, 3e-14), atol=tol, t_eval=[until])
        seconds = clock() - began
        if not motion.success:
            raise RuntimeError(motion.message)
        return outcome(motion.y[:, -1], seconds)

    run(1e-3, problem.until * 1e-3)
    settings = TOLERANCES[6:-4] if problem.name == "ensemble" else TOLERANCES[:-4]  # coarser ones miss 1e-2 there
    return Prepared(run, settings, f"{how}; SciPy's DOP853", {"pinocchio": pin.__version__})


Built = tuple[str, Rate, Array, Callable[[Array, float], Outcome]]


def mechanism(problem: Problem) -> Built:
    """A tree in hinge angles, or a tree with constraints where loops close."""
    parts = linkage(problem)
    if len(parts.bodies) > MOST:
        raise CannotExpress("its Data grows as n³: 1.2 GB measured at 300 joints, so some 40 GB at 1,000")
    model = tree(parts)
    data, size = model.createData(), len(parts.bodies)
    torque = np.zeros(size)
    torque[0] = parts.torque
    if not parts.closures:
        how = "aba"

        def acceleration(q: Array, v: Array, tau: Array) -> Array:
            return pin.aba(model, data, q, v, tau)

    else:
        loops = pin.StdVec_RigidConstraintModel()
        loops.extend(closures(model, parts))
        states = pin.StdVec_RigidConstraintData()
        states.extend([loop.createData() for loop in loops])
        pin.initConstraintDynamics(model, data, loops, states)
        proximal = pin.ProximalSettings(1e-12, 1e-12, 1e-6, 20)

        def acceleration(q: Array, v: Array, tau: Array) -> Array:
            return pin.constraintDynamics(model, data, q, v, tau, loops, states, proximal)

        how = "constraintDynamics"
    spring, springs = parts.spring, np.array([b.stiffness for b in parts.bodies])

    def rate(t: float, y: Array) -> Array:
        q, v = y[:size], y[size:]
        if springs.any():
            torque[:] = -springs * (q - parts.angles)
        if spring is not None:
            c, s = np.cos(q[spring.body]), np.sin(q[spring.body])
            arm = np.array(
                [c * spring.on_body[0] - s * spring.on_body[1], s * spring.on_body[0] + c * spring.on_body[1]]
            )
            fx, fy, _ = spring.force(np.array([*(arm + parts.bodies[spring.body].at[:2]), 0.0]))
            torque[spring.body] = arm[0] * fy - arm[1] * fx
        return np.concatenate([v, acceleration(q, v, torque)])

    def outcome(y: Array, seconds: float) -> Outcome:
        q, v = y[:size], y[size:]
        return Outcome(parts.observe(q), parts.drift(q), parts.energy_error(q, v), seconds)

    return how, rate, np.concatenate([parts.angles, parts.rates]), outcome


def tree(parts: Linkage) -> Any:
    """The model: a joint about z and a body for each."""
    model = pin.Model()
    model.gravity.linear = parts.gravity
    for i, body in enumerate(parts.bodies):
        place = pin.SE3(np.eye(3) if body.turn is None else body.turn, np.asarray(body.at))
        joint = model.addJoint(
            body.parent + 1, pin.JointModelPZ() if body.slides else pin.JointModelRZ(), place, f"j{i}"
        )
        inertia = pin.Inertia(body.mass, np.asarray(body.centre), np.diag(body.inertia))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    return model


def closures(model: Any, parts: Linkage) -> list[Any]:
    """A 3D constraint for each closing point; a second one along the axis where the problem is in space."""
    made = []
    for loop in parts.closures:
        along = [(np.zeros(3), np.zeros(3))] if loop.axes is None else [(np.zeros(3), np.zeros(3)), loop.axes]
        for first, second in along:
            one = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, model,
                loop.first + 1, pin.SE3(np.eye(3), loop.on_first + first),
                loop.second + 1, pin.SE3(np.eye(3), loop.on_second + second), pin.ReferenceFrame.LOCAL,
            )  # fmt: skip
            one.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(BAUMGARTE**2, 2 * BAUMGARTE))
            made.append(one)
    return made


def ensemble(problem: Problem) -> Built:
    """All pendulums side by side: one column of the batch each."""
    model = tree(linkage(problem))
    start = np.asfortranarray(hinge_angles(problem.data["angles"]).T)
    shape = start.shape
    none = np.zeros(shape, order="F")

    def fastest(threads: int) -> float:
        """OpenMP waits for the slowest core: on a busy machine one thread may be faster."""
        pool, times = pin.ModelPool(model, threads), []
        for _ in range(10):
            began = clock()
            pin.abaInParallel(threads, pool, start, none, none)
            times.append(clock() - began)
        return float(np.median(times))

    threads = min({1, os.cpu_count() or 1}, key=fastest)
    pool = pin.ModelPool(model, threads)

    def rate(t: float, y: Array) -> Array:  # the batch is stored pendulum by pendulum, as the library wants it
        q, v = (half.reshape(shape, order="F") for half in np.split(y, 2))
        return np.concatenate([v.ravel(order="F"), pin.abaInParallel(threads, pool, q, v, none).ravel(order="F")])

    def outcome(y: Array, seconds: float) -> Outcome:
        q = y[: start.size].reshape(shape, order="F")
        return Outcome(ends(q.T[::10])[:, -1], seconds=seconds)

    return "abaInParallel", rate, np.concatenate([start.ravel(order="F"), np.zeros(start.size)]), outcome


def rolling_disc(problem: Problem) -> Built:
    """A free body; v + ω × r = 0 at the lowest point of the rim, its Jacobian and bias by hand."""
    d = problem.data
    radius, mass, up = d["radius"], d["mass"], np.array([0, 0, 1.0])
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -d["g"]])
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "disc")
    own = np.diag([1.0, 1.0, 2.0]) * mass * radius**2 / 4
    model.appendBodyToJoint(joint, pin.Inertia(mass, np.zeros(3), own), pin.SE3.Identity())
    data, none = model.createData(), np.zeros(6)

    def rim(turn: Array) -> tuple[Array, Array, float]:
        """The axis, the way up in the disc's plane (not normed) and its length."""
        axis = turn[:, 2]
        rise = up - axis[2] * axis
        return axis, rise, float(np.sqrt(rise @ rise))

    def rate(t: float, y: Array) -> Array:
        quaternion = pin.Quaternion(*y[[6, 3, 4, 5]])
        turn = quaternion.normalized().matrix()
        v, w = turn @ y[7:10], turn @ y[10:]
        axis, rise, size = rim(turn)
        spin = pin.skew(w)
        swing = spin @ axis
        rising = -swing[2] * axis - axis[2] * swing
        arm = -radius * rise / size
        moving = -radius * (rising / size - rise * (rise @ rising) / size**3)
        jacobian = np.hstack([turn, -pin.skew(arm) @ turn])
        bias = spin @ (v + moving)
        change = pin.forwardDynamics(model, data, y[:7], y[7:], none, jacobian, bias, 0.0)
        turning = (quaternion * pin.Quaternion(0.0, *y[10:])).coeffs() / 2
        return np.concatenate([v, turning, change])

    axis, omega = np.array(d["axis"]), np.array(d["omega"])
    quaternion = pin.Quaternion.FromTwoVectors(up, axis)
    turn = quaternion.matrix()
    _, rise, size = rim(turn)
    velocity = np.cross(omega, radius * rise / size)
    start = np.concatenate([[0, 0, radius * size], quaternion.coeffs(), turn.T @ velocity, turn.T @ omega])

    def energy(y: Array) -> float:
        return float(mass * (y[7:10] @ y[7:10] / 2 + d["g"] * y[2]) + y[10:] @ own @ y[10:] / 2)

    def outcome(y: Array, seconds: float) -> Outcome:
        axis, _, size = rim(pin.Quaternion(*y[[6, 3, 4, 5]]).normalized().matrix())
        return Outcome(
            np.concatenate([y[:3], axis]), abs(y[2] - radius * size), abs(energy(y) - energy(start)), seconds
        )

    return "forwardDynamics with the Jacobian by hand", rate, start, outcome


def appell(problem: Problem) -> Built:
    """A particle; the rows 2 (−ẋ, −ẏ, ż) and twice that, without bias."""
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -problem.data["g"]])
    joint = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "particle")
    model.appendBodyToJoint(joint, pin.Inertia(1.0, np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity())
    data, none, no_bias = model.createData(), np.zeros(3), np.zeros(2)
    signs = np.array([[-2.0, -2.0, 2.0], [-4.0, -4.0, 4.0]])

    def rate(t: float, y: Array) -> Array:
        v = y[3:]
        return np.concatenate([v, pin.forwardDynamics(model, data, y[:3], v, none, signs * v, no_bias, 1e-10)])

    def outcome(y: Array, seconds: float) -> Outcome:
        x, v = y[:3], y[3:]
        energy = v @ v / 2 + problem.data["g"] * x[2] - 25.0
        return Outcome(x, abs(v[2] ** 2 - v[0] ** 2 - v[1] ** 2), abs(energy), seconds)

    start = np.array([0, 0, 0, *problem.data["velocity"]])
    return "forwardDynamics with the Jacobian by hand, damping 1e-10", rate, start, outcome


BUILD: dict[str, Callable[[Problem], Built]] = {
    "ensemble": ensemble,
    "rolling_disc": rolling_disc,
    "appell": appell,
}
