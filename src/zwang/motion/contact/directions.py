"""Directions of slips in space that begin together, found so that they agree with what they cause.

A slip that begins goes the way of the acceleration, or of the velocity after an impact, that it has with its own
friction F = −μ N γ/|γ|: Newton's method on that law, with the mode's equations.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from zwang.arrays import EPS, Array
from zwang.motion.contact.problem import LEAVES, OPEN, SIGN, STICKS, Found, Problem
from zwang.motion.contact.units import mass_units

AIMED = 1e-14  # a change of a direction by less is none
SLIP_ROUNDING = 64 * EPS  # of the terms of a slip: what rounding makes of it
BLURRED = 1e-6  # a direction that rounding leaves more of is not known
MOST_AIMS = 30

Ways = dict[int, Array]
"""Directions (2,) by surface."""


def aimed(problem: Problem, ways: Mapping[int, Array]) -> Problem:
    """The problem with some surfaces in space sliding along given directions, as in the plane."""
    surfaces = list(problem.surfaces)
    for k, d in ways.items():
        s = surfaces[k]
        assert s.t is not None
        assert s.across is not None
        stuck = d[0] * s.stuck + d[1] * s.stuck_across
        surfaces[k] = replace(s, t=d[0] * s.t + d[1] * s.across, stuck=float(stuck), across=None, stuck_across=0.0)
    return replace(problem, surfaces=tuple(surfaces))


def directed(problem: Problem, mode: tuple[str, ...], ways: Ways, x: Array, normal: Array) -> Ways | None:
    """The directions of slips that begin together, so that they agree with what they cause; None if that fails.

    All begins near: directions, x and normal forces (k,).
    """
    if not ways:
        return ways
    n, e = len(problem.M), len(problem.equal)
    rows, columns, right, Q = list(problem.equal), list(problem.equal), list(problem.right), problem.Q.copy()
    normals: dict[int, int] = {}
    frictions: dict[int, int] = {}
    for k, (s, state) in enumerate(zip(problem.surfaces, mode, strict=True)):
        if state == OPEN:
            continue
        column = s.n
        if state in SIGN and k not in ways:
            assert s.t is not None
            column = s.n - s.mu_k * SIGN[state] * s.t
        Q += s.given * column
        if state not in LEAVES:
            normals[k] = len(rows)
            rows.append(s.n)
            columns.append(column)
            right.append(s.least)
        if k in ways or state in STICKS:
            frictions[k] = len(rows)
            both = [(s.t, s.stuck)] if s.across is None else [(s.t, s.stuck), (s.across, s.stuck_across)]
            rows += [t for t, _ in both]
            columns += [t for t, _ in both]
            right += [b for _, b in both]
    m = len(rows)
    units = mass_units(problem.M, problem.equal)
    A = np.array(rows)
    lengths = np.abs(A / units).max(axis=1, initial=0.0)
    scale = np.concatenate([units, np.where(lengths > 0, lengths, 1.0)])
    fixed = np.zeros((n + m, n + m))
    fixed[:n, :n], fixed[:n, n:], fixed[n:, :n] = problem.M, -np.array(columns).T, A
    load = np.concatenate([Q, right])
    y = np.concatenate([x, np.zeros(m)])
    for k, row in normals.items():
        y[n + row] = normal[k]
    y[n : n + e] = np.linalg.lstsq(
        -fixed[:n, n : n + e], Q - fixed[:n, :n] @ x - fixed[:n, n + e :] @ y[n + e :], rcond=None
    )[0]
    for made in range(MOST_AIMS):
        matrix, off, new, blurred = fixed.copy(), load.copy(), {}, 0.0
        for k in ways:
            s, at = problem.surfaces[k], n + frictions[k]
            T = A[frictions[k] : frictions[k] + 2]
            slip = T @ y[:n] - np.array(right[frictions[k] : frictions[k] + 2])
            length = float(np.hypot(*slip))
            if not length > 0:
                return None
            d = new[k] = slip / length
            push = (y[n + normals[k]] if k in normals else 0.0) + s.given
            law(matrix, off, problem, k, d, at, n + normals[k] if k in normals else None)
            turn = s.mu_k * push / length * (np.eye(2) - np.outer(d, d)) @ T
            matrix[at : at + 2, :n] = turn
            off[at : at + 2] += turn @ y[:n]
            terms = np.abs(T) @ np.abs(problem.free) + np.abs(right[frictions[k] : frictions[k] + 2])
            blurred = max(blurred, SLIP_ROUNDING * float(np.hypot(*terms)) / length)
        y = y + solve_scaled(matrix, off - matrix @ y, scale)
        if made and max(float(np.abs(new[k] - ways[k]).max()) for k in ways) <= min(max(AIMED, blurred), BLURRED):
            return new
        ways = new
    return None


def law(matrix: Array, load: Array, problem: Problem, k: int, d: Array, at: int, normal: int | None) -> None:
    """Write F + μ (N + given) d = 0 into the rows of a slip's friction."""
    s = problem.surfaces[k]
    matrix[at : at + 2] = 0.0
    matrix[at : at + 2, at : at + 2] = np.eye(2)
    if normal is not None:
        matrix[at : at + 2, normal] = s.mu_k * d
    load[at : at + 2] = -s.mu_k * s.given * d


def solve_scaled(matrix: Array, load: Array, scale: Array) -> Array:
    """The shortest solution, in units of equal mass."""
    return np.asarray(np.linalg.lstsq(matrix / scale[:, None] / scale, load / scale, rcond=1e-13)[0] / scale)


def in_axes(found: Found, ways: Mapping[int, Array]) -> Found:
    """A solution with the friction of slips that begin along both axes, and not along their directions."""
    friction, across = found.friction.copy(), found.across.copy()
    family = found.family
    if family is not None:
        family = family[0], family[1], family[2].copy(), family[3].copy()
    for k, d in ways.items():
        friction[k], across[k] = found.friction[k] * d
        if family is not None and found.family is not None:
            family[2][k], family[3][k] = np.outer(d, found.family[2][k])
    return replace(found, friction=friction, across=across, family=family)
