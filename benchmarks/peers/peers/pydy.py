"""PyDy with SymPy: Kane's equations, C code by PyDy's Cython generator, SciPy's compiled DOP853 (`ode`).

Trees are in angles, without constraints. Loops are closed as in SymPy's example of a four-bar linkage: configuration
and velocity constraints with dependent coordinates and speeds, solved by Cramer's rule where there are two (LU divides
by zero at the start of the parallelogram). The linear system for the accelerations is solved in the generated C too
(`linear_sys_solver="sympy"`). The disc has yaw, lean and spin with the components of its angular velocity as speeds, as
in SymPy's example of a rolling disc. The ensemble is a pool of processes. The parallelogram leaves the wanted branch at
a singular position. What limits PyDy: one call from SciPy into Python for each evaluation, some 5 microseconds.
"""

import multiprocessing
import os
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
import sympy as sm
import sympy.physics.mechanics as me
from pydy.codegen.ode_function_generators import generate_ode_function
from scipy.integrate import ode

from benchmarks.peers.energies import chain_angles, places, watched
from benchmarks.peers.linkage import linkage
from benchmarks.peers.problem import TOLERANCES, CannotExpress, Outcome, Prepared, Problem, clock, written

G = sm.Symbol("g")


def prepare(problem: Problem) -> Prepared:
    """Kane's equations, compiled, and a short run."""
    kane, start, outcome = (
        chain
        if "masses" in problem.data
        else written(BUILD, problem, "not written: KanesMethod takes minutes from 40 joints on")
    )(problem)
    derivatives = kane.kindiffdict()
    rates = generate_ode_function(
        kane.forcing, kane.q[:], kane.u[:], (G,), mass_matrix=kane.mass_matrix,
        coordinate_derivatives=sm.Matrix([derivatives[q.diff()] for q in kane.q]),
        generator="cython", linear_sys_solver="sympy", constants_arg_type="array", time_first=True,
    )  # fmt: skip

    constants = np.array([problem.data.get("g", 0.0)])

    def motion(y: Any, until: float, tol: float) -> Any:
        solver = ode(lambda t, y: rates(t, y, constants))
        solver.set_integrator("dop853", rtol=max(tol, 1e-14), atol=tol, nsteps=1_000_000)
        solver.set_initial_value(y, 0.0)
        return solver.integrate(until)

    if problem.starts > 1:
        return many(problem, motion, start, outcome)

    def run(tol: float, until: float = problem.until) -> Outcome:
        began = clock()
        end = motion(start, until, tol)
        return outcome(end, clock() - began)

    run(1e-3, problem.until * 1e-3)
    # Past a singular position the steps become tiny: a few tolerances show that the end is wrong.
    settings = TOLERANCES[:12] if problem.name == "four_bar_singular" else TOLERANCES[:-2]
    return Prepared(run, settings, "KanesMethod, Cython, SciPy's compiled DOP853", versions())


def versions() -> dict[str, str]:
    return {name: version(name) for name in ("pydy", "sympy", "scipy")}


def many(
    problem: Problem, motion: Callable[..., Any], start: Any, outcome: Callable[[Any, float], Outcome]
) -> Prepared:
    """A pool of processes that have the compiled equations."""
    global trajectory

    def trajectory(job: tuple[Any, float, float]) -> Any:
        return motion(*job)

    pool = multiprocessing.get_context("fork").Pool(os.cpu_count())

    def run(tol: float, until: float = problem.until) -> Outcome:
        began = clock()
        ends = pool.map(trajectory, [(y, until, tol) for y in start], chunksize=25)
        return outcome(np.array(ends), clock() - began)

    run(1e-3, problem.until * 1e-3)
    how = "KanesMethod, Cython, SciPy's compiled DOP853, a pool of processes"
    return Prepared(run, (1e-7, 1e-10), how, versions())  # a run takes ten seconds and more


Built = tuple[Any, Any, Callable[[Any, float], Outcome]]


def chain(problem: Problem) -> Built:
    """Particles on rods, in the angles of the rods to the horizontal."""
    masses = problem.data["masses"]
    if masses > 10:
        raise CannotExpress(
            "KanesMethod takes 0.7, 4 and 47 s for 10, 20 and 40 links in angles, and had not finished 80 after two "
            "minutes; code is generated only after that"
        )
    q, u = me.dynamicsymbols(f"q:{masses}"), me.dynamicsymbols(f"u:{masses}")
    N = me.ReferenceFrame("N")
    point = me.Point("O")
    point.set_vel(N, 0)
    particles, loads = [], []
    for i in range(masses):
        rod = N.orientnew(f"rod{i}", "Axis", (q[i], N.z))
        rod.set_ang_vel(N, u[i] * N.z)
        end = point.locatenew(f"P{i}", rod.x)
        end.v2pt_theory(point, N, rod)
        particles.append(me.Particle(f"m{i}", end, 1))
        loads.append((end, -G * N.y))
        point = end
    kane = me.KanesMethod(N, q_ind=q, u_ind=u, kd_eqs=[a.diff() - b for a, b in zip(q, u, strict=True)])
    kane.kanes_equations(particles, loads)
    angles = np.asarray(problem.data["angles"])
    start = np.concatenate([angles, np.zeros_like(angles)], axis=-1)
    if problem.starts > 1:
        return kane, start, lambda y, s: Outcome(watched(problem, places(y[::10, :masses])), seconds=s)
    parts = chain_angles(problem)

    def outcome(y: Any, seconds: float) -> Outcome:
        q, v = y[:masses], y[masses:]
        return Outcome(parts.observe(q), float("nan"), parts.energy_error(q, v), seconds)

    return kane, start, outcome


def loop(problem: Problem) -> Built:
    """Hinged bodies; closing points as constraints, the first hinge independent."""
    parts = linkage(problem)
    size = len(parts.bodies)
    q, u = me.dynamicsymbols(f"q:{size}"), me.dynamicsymbols(f"u:{size}")
    N, O = me.ReferenceFrame("N"), me.Point("O")
    O.set_vel(N, 0)
    down = vector(parts.gravity / (np.linalg.norm(parts.gravity) or 1.0), N)
    frames, points, bodies, loads = [], [], [], []
    for i, body in enumerate(parts.bodies):
        parent, base = (N, O) if body.parent < 0 else (frames[body.parent], points[body.parent])
        hinge = base.locatenew(f"H{i}", vector(body.at, parent))
        hinge.v2pt_theory(base, N, parent)
        if body.turn is not None:
            parent = parent.orientnew(f"F{i}", "DCM", sm.Matrix(body.turn).T)
        frame = parent.orientnew(f"B{i}", "Axis", (q[i], parent.z))
        frame.set_ang_vel(parent, u[i] * parent.z)
        centre = hinge.locatenew(f"C{i}", vector(body.centre, frame))
        centre.v2pt_theory(hinge, N, frame)
        inertia = me.inertia(frame, *map(float, body.inertia))
        bodies.append(me.RigidBody(f"body{i}", centre, frame, body.mass, (inertia, centre)))
        loads.append((centre, body.mass * G * down))
        frames.append(frame)
        points.append(hinge)
    loads.append((frames[0], parts.torque * N.z))
    if parts.spring is not None:
        spring = parts.spring
        tip = points[spring.body].locatenew("tip", vector(spring.on_body, frames[spring.body]))
        tip.v2pt_theory(points[spring.body], N, frames[spring.body])
        reach = vector(spring.on_ground, N) - tip.pos_from(O)
        far = sm.sqrt(reach.dot(reach))
        loads.append((tip, spring.stiffness * (far - spring.length) / far * reach))
    gaps = []
    for closure in parts.closures:
        ends = [
            points[k].pos_from(O) + vector(where, frames[k]) if k >= 0 else vector(where, N)
            for k, where in ((closure.first, closure.on_first), (closure.second, closure.on_second))
        ]
        gaps += [(ends[0] - ends[1]).dot(axis) for axis in (N.x, N.y)]
    rates = dict(zip([a.diff() for a in q], u, strict=True))
    first, last = size - len(gaps), size
    kane = me.KanesMethod(
        N, q_ind=q[:first], q_dependent=q[first:last], u_ind=u[:first], u_dependent=u[first:last],
        kd_eqs=[a.diff() - b for a, b in zip(q, u, strict=True)], configuration_constraints=gaps,
        velocity_constraints=[gap.diff(me.dynamicsymbols._t).subs(rates) for gap in gaps],
        constraint_solver="CRAMER" if len(gaps) == 2 else "LU",
    )  # fmt: skip
    kane.kanes_equations(bodies, loads)

    def outcome(y: Any, seconds: float) -> Outcome:
        q, v = y[:size], y[size:]
        return Outcome(parts.observe(q), parts.drift(q), parts.energy_error(q, v), seconds)

    return kane, np.concatenate([parts.angles, parts.rates]), outcome


def rolling_disc(problem: Problem) -> Built:
    """Yaw, lean and spin, and where the contact is; the speeds are the disc's angular velocity in the leaning frame."""
    d = problem.data
    mass, radius = d["mass"], d["radius"]
    yaw, lean, spin, x, y = q = me.dynamicsymbols("q1 q2 q3 x y")
    u = me.dynamicsymbols("u1:4")
    N = me.ReferenceFrame("N")
    turned = N.orientnew("Y", "Axis", [yaw, N.z])
    leaning = turned.orientnew("L", "Axis", [lean, turned.x])
    disc = leaning.orientnew("D", "Axis", [spin, leaning.y])
    rates = [
        disc.ang_vel_in(N).dot(axis) - speed for axis, speed in zip((leaning.x, leaning.y, leaning.z), u, strict=True)
    ]
    rolling = [x.diff() - radius * spin.diff() * sm.cos(yaw), y.diff() - radius * spin.diff() * sm.sin(yaw)]
    frame_rate = leaning.ang_vel_in(N).subs(sm.solve(rates, [yaw.diff(), lean.diff(), spin.diff()]))
    leaning.set_ang_vel(N, frame_rate)
    disc.set_ang_vel(N, vector(u, leaning))
    contact = me.Point("C")
    contact.set_vel(N, 0)
    centre = contact.locatenew("centre", radius * leaning.z)
    centre.v2pt_theory(contact, N, disc)
    centre.set_acc(N, centre.vel(N).diff(me.dynamicsymbols._t, leaning) + frame_rate.cross(centre.vel(N)))
    flat = mass * radius**2 / 4
    body = me.RigidBody("disc", centre, disc, mass, (me.inertia(leaning, flat, 2 * flat, flat), centre))
    kane = me.KanesMethod(N, q_ind=q, u_ind=u, kd_eqs=[*rates, *rolling])
    kane.kanes_equations([body], [(centre, -mass * G * N.z)])

    def place(y: Any) -> tuple[Any, Any, float]:
        """The centre, the axis and the energy."""
        (s1, c1), (s2, c2) = ((np.sin(a), np.cos(a)) for a in y[:2])
        up, axis = np.array([s2 * s1, -s2 * c1, c2]), np.array([-c2 * s1, c2 * c1, s2])
        u1, u2, u3 = y[5:]
        kinetic = mass * radius**2 * (u1**2 + u2**2) + flat * (u1**2 + 2 * u2**2 + u3**2)
        return np.array([y[3], y[4], 0]) + radius * up, axis, kinetic / 2 + mass * d["g"] * radius * c2

    # The wanted axis (sin a, 0, cos a) is that of a frame turned by −90° and leaning by 90° − a.
    angles = np.array([-np.pi / 2, np.arcsin(d["axis"][2]), 0.0])
    s2, c2 = np.sin(angles[1]), np.cos(angles[1])
    frame = np.array([[0, -1, 0], [c2, 0, s2], [-s2, 0, c2]])
    start = np.array([*angles, radius * s2, 0.0, *(frame @ d["omega"])])

    def outcome(y: Any, seconds: float) -> Outcome:
        position, axis, energy = place(y)
        return Outcome(np.concatenate([position, axis]), float("nan"), abs(energy - place(start)[2]), seconds)

    return kane, start, outcome


def spatial_loop(problem: Problem) -> Built:
    raise CannotExpress(
        "KanesMethod wants independent constraints, one for each dependent speed: of the closing joint's five "
        "conditions (rank 2) no two stay independent along the motion, and the integration stops where they do not "
        "(with the first two at 2.07 s)"
    )


def appell(problem: Problem) -> Built:
    raise CannotExpress(
        "KanesMethod refuses a velocity constraint that is not linear (NonlinearError); LagrangesMethod takes it, and "
        "its matrix is singular when the condition is asked for twice"
    )


def vector(numbers: Any, frame: Any) -> Any:
    """Components in a frame: numbers or symbols."""
    return sum((x * axis for x, axis in zip(numbers, (frame.x, frame.y, frame.z), strict=True)), me.Vector(0))


BUILD: dict[str, Callable[[Problem], Built]] = {
    "chain": chain,
    "andrews": loop,
    "four_bar": loop,
    "four_bar_singular": loop,
    "spatial_loop": spatial_loop,
    "rolling_disc": rolling_disc,
    "appell": appell,
}
