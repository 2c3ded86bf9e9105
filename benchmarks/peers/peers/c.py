"""The limit: hand-written C of the same explicit equations, DOP853, `gcc -O3 -march=native`, OpenMP for the ensemble.

`limit.c` is the method, a header for each problem its accelerations, both in `limit/`. Chains, Andrews' mechanism, the
four-bars and Appell's particle are in zwang's own coordinates and with its constraints; what a person sees is used: the
blocks of M, the tridiagonal or 3 × 3 Schur complement. The disc has zwang's coordinates too, its contact force
eliminated by hand. The Bennett linkage is in three hinge angles, as anyone would write it by hand: a seventh of zwang's
coordinates; it has Baumgarte's correction. Elsewhere nothing holds the constraints, and what the equations and the
tolerance leave is shown as drift. Only the parallelogram needs more, for the plain equations leave the wanted branch at
a singular position: Baumgarte's correction and a regularised Schur complement, refined twice.
"""

import shutil
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers.energies import energies, places, watched
from benchmarks.peers.limit import compiled
from benchmarks.peers.problem import TOLERANCES, CannotExpress, Outcome, Prepared, Problem, clock


def prepare(problem: Problem) -> Prepared:
    """The compiled code, and one short run."""
    if shutil.which("gcc") is None:
        raise CannotExpress("gcc is not there")
    if problem.kind in ("stewart", "joint_tree", "spatial_chain", "net", "fekete"):
        raise CannotExpress("not written by hand: the limit is shown on smaller systems")
    header, *defines = source(problem)
    code = compiled(header, *defines)
    start, outcome = BUILD.get(problem.name, mechanism)(problem)
    rows = np.atleast_2d(start)

    def run(tol: float, until: float = problem.until) -> Outcome:
        y = rows.copy()
        began = clock()
        if problem.starts > 1:
            code.ensemble(y.ctypes.data, len(y), 0.0, until, tol)
        else:
            code.integrate(y.ctypes.data, 0.0, until, tol)
        seconds = clock() - began
        observed, drift, energy = outcome(y if problem.starts > 1 else y[0])
        return Outcome(observed, drift, energy, seconds)

    run(1e-3, problem.until * 1e-3)
    settings = TOLERANCES[::4] if problem.starts > 1 else TOLERANCES
    return Prepared(run, settings, f"{header}, DOP853, gcc -O3 -march=native")


def source(problem: Problem) -> tuple[str, ...]:
    """The header of a problem and what is defined for it."""
    if "masses" in problem.data:
        return "chain.h", f"MASSES={problem.data['masses']}"
    if problem.name.startswith("four_bar"):
        lengths = problem.data.get("lengths", (1.0, 1.0, 1.0, 1.0))
        named = map("{}={!r}".format, ("GROUND", "CRANK", "COUPLER", "ROCKER"), lengths)
        return "four_bar.h", *named, *(["PROXIMAL"] if problem.name == "four_bar_singular" else [])
    return {"spatial_loop": "bennett.h"}.get(problem.name, f"{problem.name}.h"), *()


Observe = Callable[[Any], tuple[Any, float, float]]


def mechanism(problem: Problem) -> tuple[Any, Observe]:
    """The start, and what is looked at in the end."""
    parts = energies(problem)
    size = len(parts.start)

    def outcome(y: Any) -> tuple[Any, float, float]:
        q, v = y[:size], y[size:]
        return parts.observe(q), parts.drift(q), parts.energy_error(q, v)

    return parts.state, outcome


def ensemble(problem: Problem) -> tuple[Any, Observe]:
    """A row for each pendulum."""
    start = places(problem.data["angles"])
    nothing = float("nan")
    return np.hstack([start, 0 * start]), lambda y: (watched(problem, y[::10, :6]), nothing, nothing)


def rolling_disc(problem: Problem) -> tuple[Any, Observe]:
    """Position and quaternion: the disc's third axis is the wanted one."""
    d = problem.data
    axis, omega, radius = np.array(d["axis"]), np.array(d["omega"]), d["radius"]
    rise = (np.array([0, 0, 1]) - axis[2] * axis) / np.sqrt(1 - axis[2] ** 2)
    turn = np.array([np.sqrt((1 + axis[2]) / 2), -axis[1], axis[0], 0]) / [1, *[np.sqrt(2 + 2 * axis[2])] * 3]
    w, r = turn[0], turn[1:]
    velocity = radius * np.cross(omega, rise)
    spin = np.array([-omega @ r, *(w * omega + np.cross(omega, r))]) / 2
    start = np.concatenate([[0, 0, radius * rise[2]], turn, velocity, spin])

    def rest(y: Any) -> tuple[Any, float]:
        """The axis and the energy."""
        w, x, y_, z = y[3:7]
        axis = np.array([2 * (x * z + w * y_), 2 * (y_ * z - w * x), 1 - 2 * (x * x + y_ * y_)])
        spin = 2 * (w * y[11:14] - y[10] * y[4:7] - np.cross(y[11:14], y[4:7]))
        inertia = d["mass"] * radius**2 / 4
        kinetic = d["mass"] * y[7:10] @ y[7:10] + inertia * (spin @ spin + (spin @ axis) ** 2)
        return axis, kinetic / 2 + d["mass"] * d["g"] * y[2]

    def outcome(y: Any) -> tuple[Any, float, float]:
        axis, energy = rest(y)
        return (
            np.concatenate([y[:3], axis]),
            abs(y[2] - radius * np.sqrt(1 - axis[2] ** 2)),
            abs(energy - rest(start)[1]),
        )

    return start, outcome


def appell(problem: Problem) -> tuple[Any, Observe]:
    """A particle."""
    start = np.array([0, 0, 0, *problem.data["velocity"]])

    def outcome(y: Any) -> tuple[Any, float, float]:
        v = y[3:]
        return y[:3], abs(v[2] ** 2 - v[0] ** 2 - v[1] ** 2), abs(v @ v / 2 + problem.data["g"] * y[2] - 25)

    return start, outcome


BUILD: dict[str, Callable[[Problem], tuple[Any, Observe]]] = {
    "ensemble": ensemble,
    "rolling_disc": rolling_disc,
    "appell": appell,
}
