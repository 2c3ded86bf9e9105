"""NumPy and SciPy as many write it: arrays for all points at once, one sparse factorisation of A Aᵀ, DOP853.

For the problems of points alone. Masses are 1, so that the multipliers solve A Aᵀ λ = b − A Q. Of a net that matrix has
the pattern of links that share a mass; `splu` factorises it with its ordering for symmetric patterns. On a sphere it is
diagonal. Baumgarte's correction as for the other tools.
What limits it: Python between the calls into SciPy, for every acceleration, and an ordering found anew each time.
"""

from typing import Any

import numpy as np
import scipy
from scipy.integrate import solve_ivp
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from benchmarks.peers.points import Points
from benchmarks.peers.problem import TOLERANCES, CannotExpress, Outcome, Prepared, Problem, clock

BAUMGARTE = 20.0
Array = Any


def prepare(problem: Problem) -> Prepared:
    """The accelerations, and a short run."""
    if "points" not in problem.data:
        raise CannotExpress("written for points only: bodies and joints would need a program of their own")
    points: Points = problem.data["points"]
    acceleration = repelling(points) if points.repel else linked(points)

    def rate(t: float, y: Array) -> Array:
        q, v = y.reshape(2, -1, 3)
        return np.concatenate([v.ravel(), acceleration(q, v).ravel()])

    def run(tol: float, until: float = problem.until) -> Outcome:
        began = clock()
        motion = solve_ivp(
            rate, (0.0, until), points.state, method="DOP853", rtol=max(tol, 3e-14), atol=tol, t_eval=[until]
        )
        seconds = clock() - began
        return Outcome(*points.outcome(problem, motion.y[:, -1]), seconds)

    run(1e-3, problem.until * 1e-3)
    return Prepared(run, TOLERANCES[:-4], "arrays, splu of A Aᵀ, DOP853", {"scipy": scipy.__version__})


def linked(points: Points) -> Any:
    """Of masses on links."""
    first, second = points.links.T
    count, links = len(points.start), np.arange(len(points.links))
    rows = np.repeat(links, 6)
    columns = (3 * points.links[:, :, None] + np.arange(3)).reshape(len(links), 6).ravel()
    weight = np.array([0.0, 0.0, -points.g])

    def acceleration(q: Array, v: Array) -> Array:
        rod, turn = q[first] - q[second], v[first] - v[second]
        A = csr_array((np.hstack([rod, -rod]).ravel(), (rows, columns)), shape=(len(links), 3 * count))
        swing = (rod * turn).sum(axis=1)
        b = -(turn**2).sum(axis=1) - 2 * BAUMGARTE * swing - BAUMGARTE**2 * points.constraints(q)
        free = np.broadcast_to(weight, q.shape).ravel()
        S = csc_array(A @ A.T)
        pull = splu(S, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(b - A @ free)
        return (free + A.T @ pull).reshape(q.shape)

    return acceleration


def repelling(points: Points) -> Any:
    """Of points on a sphere."""

    def acceleration(q: Array, v: Array) -> Array:
        apart = q[:, None] - q
        distance = (apart**2).sum(axis=-1)
        np.fill_diagonal(distance, 1.0)
        free = (apart / distance[..., None]).sum(axis=1) - v / 2
        size, swing = (q**2).sum(axis=1), (q * v).sum(axis=1)
        b = -(v**2).sum(axis=1) - 2 * BAUMGARTE * swing - BAUMGARTE**2 * points.constraints(q)
        return free + ((b - (q * free).sum(axis=1)) / size)[:, None] * q

    return acceleration
