"""PyDy with SymPy: Kane's equations, C code by PyDy's Cython generator, SciPy's compiled DOP853 (`scipy.integrate.ode`).

Trees are in angles, without constraints. Loops are closed as in SymPy's example of a four-bar linkage: configuration
and velocity constraints with dependent coordinates and speeds. The linear system is solved in the generated C too
(`linear_sys_solver="sympy"`) where it has up to 10 unknowns, by LAPACK (`"numpy"`) above, as is quicker. The disc has
yaw, lean and spin with the components of its angular velocity as speeds, as in SymPy's example of a rolling disc. The
ensemble is a pool of processes. What limits it: one call from SciPy into Python for each evaluation, some 5 microseconds.
"""

import multiprocessing
import os
import time
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
from benchmarks.peers.problem import CannotExpress, Outcome, Prepared, Problem

TOLERANCES = tuple(10.0**-k for k in range(3, 15))
G = sm.Symbol("g")


def prepare(problem: Problem) -> Prepared:
    """Kane's equations, compiled, and a short run."""
    kane, start, outcome = BUILD["chain" if "masses" in problem.data else problem.name](problem)
    small = len(kane.u) <= 10
    derivatives = kane.kindiffdict()
    rates = generate_ode_function(
        kane.forcing, kane.q, kane.u, (G,), mass_matrix=kane.mass_matrix,
        coordinate_derivatives=sm.Matrix([derivatives[q.diff()] for q in kane.q]),
        generator="cython", linear_sys_solver="sympy" if small else "numpy", constants_arg_type="array", time_first=True,
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
        began = time.perf_counter()
        end = motion(start, until, tol)
        return outcome(end, time.perf_counter() - began)

    run(1e-3, problem.until * 1e-3)
    return Prepared(run, TOLERANCES, "KanesMethod, Cython, SciPy's compiled DOP853", versions())


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
        began = time.perf_counter()
        ends = pool.map(trajectory, [(y, until, tol) for y in start], chunksize=25)
        return outcome(np.array(ends), time.perf_counter() - began)

    run(1e-3, problem.until * 1e-3)
    return Prepared(run, TOLERANCES, "KanesMethod, Cython, SciPy's compiled DOP853, a pool of processes", versions())


Built = tuple[Any, Any, Callable[[Any, float], Outcome]]


def chain(problem: Problem) -> Built:
    """Particles on rods, in the angles of the rods to the horizontal."""
    masses = problem.data["masses"]
    if masses > 10:
        raise CannotExpress(
            "KanesMethod on N links in angles takes 1.5 s for 10, and its time grows with the cube of N: some 20 "
            "minutes for 100, before code is generated"
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
    )  # fmt: skip
    kane.kanes_equations(bodies, loads)

    def outcome(y: Any, seconds: float) -> Outcome:
        q, v = y[:size], y[size:]
        return Outcome(parts.observe(q), parts.drift(q), parts.energy_error(q, v), seconds)

    return kane, np.concatenate([parts.angles, parts.rates]), outcome


def vector(numbers: Any, frame: Any) -> Any:
    """Components in a frame."""
    return sum((float(x) * axis for x, axis in zip(numbers, (frame.x, frame.y, frame.z), strict=True)), me.Vector(0))
