"""The rolling disc as equations of first order, for the tools that take equations."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers.problem import Problem
from benchmarks.peers.vectors import Scalars, cross, inner, mix

Array = Any


def rolling(
    problem: Problem,
) -> tuple[Callable[[Any, Scalars], list[Any]], Array, Callable[[Array], tuple[Any, float]]]:
    """The rolling disc as eight equations of first order: x, y of the centre, the disc's axis e and its spin ω.

    Newton and Euler with the contact force eliminated: in the directions e, u (in the disc, away from the contact) and
    w = e × u what multiplies the angular acceleration is diagonal. Returns the rates, the start, and what gives the
    observed quantities and the energy.
    """
    d = problem.data
    radius, mass, g = d["radius"], d["mass"], d["g"]
    across, more = mass * radius**2 / 4, mass * radius**2

    def rates(m: Any, y: Scalars) -> list[Any]:
        e, spin = [y[i] for i in (2, 3, 4)], [y[i] for i in (5, 6, 7)]
        size = m.sqrt(1 - e[2] ** 2)
        u = (-e[2] * e[0] / size, -e[2] * e[1] / size, size)
        w, tilt = cross(e, u), cross(spin, e)
        moving = mix(-inner(tilt, u), e, -e[2] * inner(tilt, w) / size, w)
        bias = cross(spin, moving)
        push = cross(u, (radius * bias[0], radius * bias[1], radius * bias[2] + g))
        moment = mix(-mass * radius, push, -across * inner(spin, e), tilt)
        turned = mix(inner(moment, e) / (2 * across + more), e, inner(moment, u) / across, u)
        turned = mix(1.0, turned, inner(moment, w) / (across + more), w)
        velocity = cross(spin, u)
        return [radius * velocity[0], radius * velocity[1], *tilt, *turned]

    def outcome(y: Array) -> tuple[Any, float]:
        e, spin = y[2:5], y[5:8]
        size = np.sqrt(1 - e[2] ** 2)
        velocity = radius * np.cross(spin, (np.array([0, 0, 1]) - e[2] * e) / size)
        kinetic = mass * velocity @ velocity + across * (spin @ spin + (spin @ e) ** 2)
        return np.array([y[0], y[1], radius * size, *e]), float(kinetic / 2 + mass * g * radius * size)

    return rates, np.array([0, 0, *d["axis"], *d["omega"]]), outcome
