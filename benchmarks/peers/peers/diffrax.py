"""Diffrax on JAX: float64, `jit`, Dopri8 with its PID controller, on the CPU.

Accelerations are written as a JAX user writes them for speed: the chains in Cartesian coordinates with arrays and
`lax.linalg.tridiagonal_solve`; the others from the energies and constraints by automatic differentiation, with Cholesky
factors of M and of A M⁻¹Aᵀ. Systems of up to five unknowns are written out: LAPACK called through XLA takes two to four
times as long for them. Constraints have Baumgarte's correction (20/s). Where conditions depend on each other, always
(the Bennett linkage, Appell's particle) or at times (the parallelogram), the Schur complement is regularised by 1e-5
and refined twice; `pinv` instead leaves the wanted branch of the parallelogram. The disc is eight
equations of first order. The ensemble is `vmap` over an equal share of the pendulums on as many devices as there are
cores (`pmap`), which is how JAX uses the cores of a CPU. One compilation serves all tolerances.
"""

import os
from collections.abc import Callable
from typing import Any

os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={os.cpu_count()}"
os.environ["JAX_ENABLE_X64"] = "1"

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.peers.disc import rolling
from benchmarks.peers.energies import Energies, energies, places, watched
from benchmarks.peers.points import Points
from benchmarks.peers.problem import TOLERANCES, Outcome, Prepared, Problem, clock, written

BAUMGARTE = 20.0
Rates = Callable[[Any], Any]


def prepare(problem: Problem) -> Prepared:
    """The compiled solution, and a short run."""
    rates, start, outcome = written(BUILD, problem, "not written for it")(problem)

    def solve(y: Any, until: float, tol: float) -> Any:
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, args: rates(y)), diffrax.Dopri8(), 0.0, until, None, y,
            stepsize_controller=diffrax.PIDController(rtol=tol, atol=tol), max_steps=None, throw=False,
        )  # fmt: skip
        return solution.ys[0]

    if problem.starts > 1:
        devices = jax.device_count()
        start = start.reshape(devices, -1, start.shape[-1])
        compiled = jax.pmap(jax.vmap(solve, in_axes=(0, None, None)), in_axes=(0, None, None))
    else:
        compiled = jax.jit(solve)
    given = jnp.asarray(start)

    def run(tol: float, until: float = problem.until) -> Outcome:
        began = clock()
        end = jax.block_until_ready(compiled(given, until, tol))
        seconds = clock() - began
        return outcome(np.asarray(end), seconds)

    run(1e-3, problem.until * 1e-3)
    versions = {"diffrax": diffrax.__version__, "jax": jax.__version__}
    settings = TOLERANCES[:-2:6] if problem.starts > 1 else TOLERANCES[:-2]
    return Prepared(run, settings, "Dopri8, PIDController, jit, float64", versions)


Built = tuple[Rates, Any, Callable[[Any, float], Outcome]]


def chain(problem: Problem) -> Built:
    """Point masses on rods: a symmetric tridiagonal system for the tensions."""
    masses, g = problem.data["masses"], problem.data["g"]
    eliminate = written_out if masses <= 3 else library

    def rates(y: Any) -> Any:
        q, v = y.reshape(2, masses, 2)
        rod, turn = jnp.diff(q, axis=0, prepend=0.0), jnp.diff(v, axis=0, prepend=0.0)
        weights = jnp.ones(masses).at[1:].set(2.0)
        off = -(rod[1:] * rod[:-1]).sum(axis=1)
        right = -(turn**2).sum(axis=1)
        right = right.at[0].add(g * rod[0, 1])
        pull = eliminate(weights * (rod**2).sum(axis=1), off, right)[:, None] * rod
        change = pull - jnp.concatenate([pull[1:], jnp.zeros((1, 2))]) - jnp.array([0.0, g])
        return jnp.concatenate([v.ravel(), change.ravel()])

    place = places(np.asarray(problem.data["angles"]))
    start = np.concatenate([place, np.zeros_like(place)], axis=-1)
    if problem.starts > 1:
        return (
            rates,
            start,
            lambda y, seconds: Outcome(
                watched(problem, y.reshape(problem.starts, -1)[::10, : 2 * masses]), seconds=seconds
            ),
        )
    return rates, start, ending(energies(problem))


def library(diagonal: Any, off: Any, right: Any) -> Any:
    """The tridiagonal solver of JAX."""
    none = jnp.zeros(1)
    below, above = jnp.concatenate([none, off]), jnp.concatenate([off, none])
    return jax.lax.linalg.tridiagonal_solve(below, diagonal, above, right[:, None])[:, 0]


def written_out(diagonal: Any, off: Any, right: Any) -> Any:
    """The same, for a few unknowns."""
    pivots, rest, size = [diagonal[0]], [right[0]], diagonal.shape[0]
    for i in range(1, size):
        factor = off[i - 1] / pivots[-1]
        pivots.append(diagonal[i] - factor * off[i - 1])
        rest.append(right[i] - factor * rest[-1])
    found = [rest[-1] / pivots[-1]]
    for i in reversed(range(size - 1)):
        found.append((rest[i] - off[i] * found[-1]) / pivots[i])
    return jnp.stack(found[::-1])


def ending(parts: Energies) -> Callable[[Any, float], Outcome]:
    """What is looked at in the end."""
    size = len(parts.start)

    def outcome(y: Any, seconds: float) -> Outcome:
        q, v = y[:size], y[size:]
        return Outcome(parts.observe(q), parts.drift(q), parts.energy_error(q, v), seconds)

    return outcome


def mechanism(problem: Problem) -> Built:
    """M, Q, A and b by automatic differentiation."""
    parts = energies(problem)
    force = 0.0 if parts.force is None else jnp.asarray(parts.force)

    def kinetic(q: Any, v: Any) -> Any:
        return parts.kinetic(jnp, q, v)

    def constraints(q: Any) -> Any:
        return jnp.stack(parts.constraints(jnp, q))

    free = not parts.constraints(np, parts.start)

    momentum = jax.grad(kinetic, 1)

    def rates(y: Any) -> Any:
        q, v = jnp.split(y, 2)
        M = jax.jacfwd(momentum, 1)(q, v)
        _, change = jax.jvp(lambda q: momentum(q, v), (q,), (v,))
        Q = force + jax.grad(lambda q: kinetic(q, v) - parts.potential(jnp, q))(q) - change
        if free:
            return jnp.concatenate([v, symmetric(M)(Q[:, None])[:, 0]])
        A = jax.jacfwd(constraints)(q)
        turn, bend = jax.jvp(lambda q: jax.jvp(constraints, (q,), (v,))[1], (q,), (v,))
        b = -bend - 2 * BAUMGARTE * turn - BAUMGARTE**2 * constraints(q)
        return jnp.concatenate([v, constrained(M, Q, A, b, parts.redundant)])

    return rates, parts.state, ending(parts)


def linked(problem: Problem) -> Built:
    """Masses on links: A Aᵀ gathered in a full matrix, Cholesky's factors."""
    points: Points = problem.data["points"]
    first, second = points.links.T
    pairs, signs = sharing(points.links)

    def rates(y: Any) -> Any:
        q, v = y.reshape(2, -1, 3)
        rod, turn = q[first] - q[second], v[first] - v[second]
        b = -(turn**2).sum(axis=1) - 2 * BAUMGARTE * (rod * turn).sum(axis=1)
        b -= BAUMGARTE**2 * ((rod**2).sum(axis=1) - 1) / 2
        S = (
            jnp.zeros((len(first), len(first)))
            .at[pairs[0], pairs[1]]
            .set(signs * (rod[pairs[0]] * rod[pairs[1]]).sum(axis=1))
        )
        pull = symmetric(S)(b[:, None]) * rod  # gravity moves all masses alike: links do not feel it
        change = jnp.zeros_like(q).at[first].add(pull).at[second].add(-pull) - jnp.array([0.0, 0.0, points.g])
        return jnp.concatenate([v.ravel(), change.ravel()])

    return rates, points.state, lambda y, seconds: Outcome(*points.outcome(problem, y), seconds)


def sharing(links: Any) -> tuple[Any, Any]:
    """Pairs of links that share a mass, and the sum of their signs there."""
    at: dict[int, list[tuple[int, int]]] = {}
    for number, (a, b) in enumerate(links):
        at.setdefault(int(a), []).append((number, 1))
        at.setdefault(int(b), []).append((number, -1))
    found: dict[tuple[int, int], int] = {}
    for those in at.values():
        for i, s in those:
            for j, t in those:
                found[i, j] = found.get((i, j), 0) + s * t
    return np.array(list(found)).T, np.array(list(found.values()), float)


def repelling(problem: Problem) -> Built:
    """Points on a sphere: a multiplier each."""
    points: Points = problem.data["points"]
    own = jnp.eye(len(points.start))

    def rates(y: Any) -> Any:
        q, v = y.reshape(2, -1, 3)
        apart = q[:, None] - q
        free = (apart / ((apart**2).sum(axis=-1) + own)[..., None]).sum(axis=1) - v / 2
        size, swing = (q**2).sum(axis=1), (q * v).sum(axis=1)
        b = -(v**2).sum(axis=1) - 2 * BAUMGARTE * swing - BAUMGARTE**2 * (size - 1) / 2
        return jnp.concatenate([v.ravel(), (free + ((b - (q * free).sum(axis=1)) / size)[:, None] * q).ravel()])

    return rates, points.state, lambda y, seconds: Outcome(*points.outcome(problem, y), seconds)


def constrained(M: Any, Q: Any, A: Any, b: Any, redundant: bool) -> Any:
    """The accelerations: M q̈ = Q + Aᵀλ, A q̈ = b."""
    both = symmetric(M)(jnp.column_stack([Q, A.T]))
    free, across = both[:, 0], both[:, 1:]
    S, r = A @ across, b - A @ free
    if not redundant:
        return free + across @ symmetric(S)(r[:, None])[:, 0]
    solve, multipliers = symmetric(S + 1e-5 * jnp.eye(len(r))), jnp.zeros_like(r)
    for _ in range(3):
        multipliers += solve((r - S @ multipliers)[:, None])[:, 0]
    return free + across @ multipliers


def symmetric(S: Any) -> Callable[[Any], Any]:
    """S⁻¹ times a matrix, S positive definite: by LAPACK, or written out for up to five unknowns."""
    size = len(S)
    if size > 5:
        factor = jax.scipy.linalg.cho_factor(S, lower=True)
        return lambda right: jax.scipy.linalg.cho_solve(factor, right)
    rows, below = [[S[i, j] for j in range(i + 1)] for i in range(size)], {}
    for j in range(size):
        for i in range(j + 1, size):
            below[i, j] = rows[i][j] / rows[j][j]
            for k in range(j + 1, i + 1):
                rows[i][k] = rows[i][k] - below[i, j] * rows[k][j]

    def solve(right: Any) -> Any:
        found = [right[i] for i in range(size)]
        for i in range(size):
            for j in range(i):
                found[i] = found[i] - below[i, j] * found[j]
        for i in reversed(range(size)):
            found[i] = found[i] / rows[i][i]
            for j in range(i + 1, size):
                found[i] = found[i] - below[j, i] * found[j]
        return jnp.stack(found)

    return solve


def rolling_disc(problem: Problem) -> Built:
    """Eight equations of first order."""
    rates, start, observe = rolling(problem)

    def outcome(end: Any, seconds: float) -> Outcome:
        observed, energy = observe(end)
        return Outcome(observed, abs(end[2:5] @ end[2:5] - 1), abs(energy - observe(start)[1]), seconds)

    return lambda y: jnp.stack(rates(jnp, y)), start, outcome


def appell(problem: Problem) -> Built:
    """Both rows, (−ẋ, −ẏ, ż) q̈ = 0 and its double."""
    g = problem.data["g"]

    def rates(y: Any) -> Any:
        v = y[3:]
        row = v * jnp.array([-1.0, -1.0, 1.0])
        rows = jnp.stack([row, 2 * row])
        return jnp.concatenate([v, constrained(jnp.eye(3), jnp.array([0.0, 0.0, -g]), rows, jnp.zeros(2), True)])

    def outcome(y: Any, seconds: float) -> Outcome:
        q, v = y[:3], y[3:]
        return Outcome(q, abs(v[2] ** 2 - v[0] ** 2 - v[1] ** 2), abs(v @ v / 2 + g * q[2] - 25), seconds)

    return rates, np.array([0, 0, 0, *problem.data["velocity"]]), outcome


BUILD: dict[str, Callable[[Problem], Built]] = {
    "chain": chain,
    "triple_pendulum": chain,
    "ensemble": chain,
    "andrews": mechanism,
    "four_bar": mechanism,
    "four_bar_singular": mechanism,
    "spatial_loop": mechanism,
    "rolling_disc": rolling_disc,
    "appell": appell,
    "joint_tree": mechanism,
    "spatial_chain": mechanism,
    "stewart": mechanism,
    "net": linked,
    "fekete": repelling,
}
