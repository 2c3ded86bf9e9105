"""CasADi: SX expressions of the explicit equations, compiled by gcc -O3 through its `jit`, integrated by CVODES.

M, Q, A and b come from the energies and constraints by CasADi's own differentiation; `ldl` solves for the
accelerations, so that only what is structurally there is computed (the tridiagonal system of a chain). CVODES runs with
Adams' method and functional iteration, the best of its choices for all problems here: nothing is stiff, and Newton's
method or BDF take 1.5 to 90 times as long at the same error. Pendulums and the chain of 10 are in angles, the longer
chains in Cartesian coordinates: the quicker of both, each time. Constraints have Baumgarte's correction (20/s), which
makes the end error of the four-bar ten times smaller. Where conditions depend on each other, always (the Bennett
linkage, Appell's particle) or at times (the parallelogram), the Schur complement is regularised by 1e-5 and refined
twice, as a proximal method does: with Baumgarte's correction this passes the singular positions. The disc is eight
equations of first order. The ensemble is `map` with threads.
"""

import os
import tempfile
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from benchmarks.peers.disc import rolling
from benchmarks.peers.energies import Energies, chain_angles, energies, places, watched
from benchmarks.peers.problem import TOLERANCES, CannotExpress, Outcome, Prepared, Problem, clock

BAUMGARTE = 20.0
ADAMS = {
    "linear_multistep_method": "adams",
    "nonlinear_solver_iteration": "functional",
    "max_num_steps": 10_000_000,
    "disable_internal_warnings": True,
    "show_eval_warnings": False,
}


LARGE = {"net": "10 × 10 masses, 180 links: not set up after four minutes"}


def prepare(problem: Problem) -> Prepared:
    """The compiled rates, an integrator and a short run."""
    if problem.kind in LARGE:
        raise CannotExpress(LARGE[problem.kind])
    state, rates, start, outcome = BUILD.get(problem.name, mechanism)(problem)
    large = state.numel() > 1000  # gcc -O3 takes 30 s at 400 links already, and runs 1.5 times as fast
    flags = ["-O0" if large else "-O3", "-march=native"]
    # Derivatives of the rates are asked for and never used: they are not compiled.
    jit = {"jit": True, "compiler": "shell", "jit_options": {"compiler": "gcc", "flags": flags}}
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:  # jit writes its files where it stands
        os.chdir(folder)
        compiled = ca.Function("rates", [state], [rates], {**jit, "der_options": {"jit": False}})
        os.chdir(home)
    x, duration = ca.MX.sym("x", state.numel()), ca.MX.sym("duration")
    equations = {"x": x, "p": duration, "ode": duration * compiled(x)}  # one integrator for every end
    made = dict[float, Any]()

    def run(tol: float, until: float = problem.until) -> Outcome:
        if tol not in made:
            one = ca.integrator("motion", "cvodes", equations, 0.0, 1.0, {**ADAMS, "abstol": tol, "reltol": tol})
            made[tol] = one.map(problem.starts, "thread", os.cpu_count()) if problem.starts > 1 else one
        began = clock()
        end = made[tol](x0=start, p=until)["xf"]
        seconds = clock() - began
        return outcome(np.array(end), seconds)

    # A run of the ensemble takes ten seconds and more, the set-up of the longest chain 100 s.
    settings = (1e-9, 1e-12) if problem.starts > 1 else (1e-7,) if large else TOLERANCES[:-2]
    run(settings[0], problem.until * 1e-3)
    return Prepared(run, settings, "CVODES (Adams, functional iteration), compiled SX", {"casadi": ca.__version__})


Built = tuple[Any, Any, Any, Callable[[Any, float], Outcome]]


def mechanism(problem: Problem) -> Built:
    """From energies and constraints to q̈."""
    angles = "masses" in problem.data and problem.data["masses"] <= 10
    parts = chain_angles(problem) if angles else energies(problem)
    size = len(parts.start)

    def outcome(y: Any, seconds: float) -> Outcome:
        q, v = y[:size, 0], y[size:, 0]
        return Outcome(parts.observe(q), parts.drift(q), parts.energy_error(q, v), seconds)

    return *explicit(parts), parts.state, outcome


def explicit(parts: Energies) -> tuple[Any, Any]:
    """The state (q, v) and its rates."""
    size = len(parts.start)
    q, v = ca.SX.sym("q", size), ca.SX.sym("v", size)
    kinetic, potential = parts.kinetic(ca, q, v), parts.potential(ca, q)
    momentum = ca.gradient(kinetic, v)
    M = ca.jacobian(momentum, v)
    Q = ca.gradient(kinetic, q) - ca.gradient(potential, q) - ca.jtimes(momentum, q, v)
    if parts.force is not None:
        Q += parts.force
    Q -= parts.damping * v
    constraints = parts.constraints(ca, q)
    if not constraints:
        return ca.vertcat(q, v), ca.vertcat(v, solve(M, Q))
    phi = ca.vertcat(*constraints)
    turn = ca.jtimes(phi, q, v)
    A, b = ca.jacobian(phi, q), -ca.jtimes(turn, q, v) - 2 * BAUMGARTE * turn - BAUMGARTE**2 * phi
    return ca.vertcat(q, v), ca.vertcat(v, constrained(M, Q, A, b, parts.redundant))


def constrained(M: Any, Q: Any, A: Any, b: Any, redundant: bool) -> Any:
    """The accelerations: M q̈ = Q + Aᵀλ, A q̈ = b."""
    free, across = solve(M, Q), solve(M, A.T)
    S, r = A @ across, b - A @ free
    if not redundant:
        return free + across @ solve(S, r)
    factors = ca.ldl(S + 1e-5 * ca.SX.eye(S.shape[0]))
    multipliers = ca.SX.zeros(S.shape[0])
    for _ in range(3):
        multipliers += ca.ldl_solve(r - S @ multipliers, *factors)
    return free + across @ multipliers


def solve(S: Any, r: Any) -> Any:
    """S⁻¹ r, for S symmetric."""
    return ca.ldl_solve(r, *ca.ldl(S))


def ensemble(problem: Problem) -> Built:
    """A column for each pendulum."""
    angles = problem.data["angles"]

    def outcome(y: Any, seconds: float) -> Outcome:
        return Outcome(watched(problem, places(y[:3, ::10].T)), seconds=seconds)

    return *explicit(chain_angles(problem)), np.vstack([angles.T, 0 * angles.T]), outcome


def rolling_disc(problem: Problem) -> Built:
    """Eight equations of first order."""
    rates, start, observe = rolling(problem)
    y = ca.SX.sym("y", 8)

    def outcome(end: Any, seconds: float) -> Outcome:
        observed, energy = observe(end[:, 0])
        return Outcome(observed, abs(end[2:5, 0] @ end[2:5, 0] - 1), abs(energy - observe(start)[1]), seconds)

    return y, ca.vertcat(*rates(ca, y)), start, outcome


def appell(problem: Problem) -> Built:
    """Both rows, (−ẋ, −ẏ, ż) q̈ = 0 and its double."""
    q, v = ca.SX.sym("q", 3), ca.SX.sym("v", 3)
    row = ca.horzcat(-v[0], -v[1], v[2])
    rates = constrained(ca.SX.eye(3), ca.DM([0, 0, -problem.data["g"]]), ca.vertcat(row, 2 * row), ca.SX(2, 1), True)

    def outcome(y: Any, seconds: float) -> Outcome:
        q, v = y[:3, 0], y[3:, 0]
        return Outcome(
            q, abs(v[2] ** 2 - v[0] ** 2 - v[1] ** 2), abs(v @ v / 2 + problem.data["g"] * q[2] - 25), seconds
        )

    return ca.vertcat(q, v), ca.vertcat(v, rates), np.array([0, 0, 0, *problem.data["velocity"]]), outcome


BUILD: dict[str, Callable[[Problem], Built]] = {
    "ensemble": ensemble,
    "rolling_disc": rolling_disc,
    "appell": appell,
}
