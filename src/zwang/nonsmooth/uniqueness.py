"""What of a solution is unique: its motion, and each of its forces, where rows depend on each other.

The impulses of a mode are then f + N w for every w that keeps the conditions of the mode, which are linear in the
plane; cones in space are replaced by polygons within them, so that what is found to differ does. Two linear programs
for each row give the least and the most that it may be.
"""

from dataclasses import dataclass

import numpy as np

from zwang.arrays import Array
from zwang.nonsmooth.equations import ROWS_DEPEND, equations
from zwang.nonsmooth.layout import OBEYS, Layout, lay_out, lengths, padded
from zwang.nonsmooth.problem import Bools, Mode, Problem, Solution

UNIQUE = 1e-5  # of the size of the motion: an interval below is rounding of the positions where rows depend, 1e-10
SIDES = 16  # of the polygon in a cone: it has 0.981 of its radius


@dataclass(frozen=True)
class Family:
    """All solutions of a mode with its closed contacts: impulses and speeds are linear in w, conditions are ≥ 0."""

    layout: Layout
    impulses: Array
    """(r, d) changes of impulses by w,"""
    moves: Array
    """(r, d) of speeds,"""
    value: Array
    slope: Array
    """and conditions (m,), (m, d): value + slope w ≥ 0."""
    most: float
    """The largest impulse, in which w is measured."""


def range_of_motion(problem: Problem, one: Solution) -> Array:
    """(r, 2) the least and the most speed of each row within the mode of a solution: equal if the motion is unique.

    Intervals below UNIQUE of the largest speed count as unique. Infinite ends say that nothing bounds a speed.
    """
    family = family_of(problem, one, closed_mode(problem, one, stand=False))
    ranges = np.stack([one.u, one.u], axis=1)
    if family is None:
        return ranges
    p = family.layout
    size = float((p.scale * (np.abs(problem.c) + np.abs(one.u))).max())
    for row in np.flatnonzero(np.abs(family.moves).max(axis=1) > OBEYS):
        low, high = (end / p.scale[row] for end in ends(family, family.moves[row]))
        if p.scale[row] * (high - low) > UNIQUE * size:
            ranges[row] += low, high
    return ranges


def range_along(problem: Problem, one: Solution, along: Array) -> Array:
    """(j, 2) by how much less and more along · f may be within the mode of a solution, `along` (j, r).

    So coordinates are asked whose changes by impulses are known: X of a `Response`.
    """
    found = np.zeros((len(along), 2))
    family = family_of(problem, one, closed_mode(problem, one, stand=False))
    if family is not None:
        slopes = (along * family.layout.scale) @ family.impulses
        for j in np.flatnonzero(np.abs(slopes).max(axis=1) > OBEYS * np.abs(along * family.layout.scale).max(axis=1)):
            found[j] = ends(family, slopes[j])
    return found


def range_of_forces(problem: Problem, one: Solution) -> Array:
    """(r, 2) the least and the most impulse of each row with the motion of a solution; infinite where it is jammed."""
    ranges = np.stack([one.f, one.f], axis=1)
    family = family_of(problem, one, closed_mode(problem, one, stand=True))
    if family is not None:
        p = family.layout
        for row in np.flatnonzero(np.abs(family.impulses).max(axis=1) > OBEYS):
            ranges[row] += [end * p.scale[row] for end in ends(family, family.impulses[row])]
    return ranges


def not_unique(problem: Problem, one: Solution) -> Bools:
    """(k,) blocks whose impulses are not unique, though the motion is."""
    ranges = range_of_forces(problem, one)
    width = np.where(np.isfinite(ranges).all(axis=1), ranges[:, 1] - ranges[:, 0], np.inf)
    wide = padded((width > UNIQUE * np.abs(one.f).max(initial=0.0)).astype(float))
    p = lay_out(problem)
    return np.asarray((wide[p.n] * p.has + wide[p.t].sum(axis=1)) > 0)


def closed_mode(problem: Problem, one: Solution, stand: bool) -> Mode:
    """The mode of a solution in which all contacts that stay closed are held, though nothing presses them.

    With `stand`, those whose slip is zero stick: this holds the motion as it is.
    """
    p = lay_out(problem)
    u, sizes = padded(one.u * p.scale), padded(np.abs(p.c) + p.abs_W @ np.abs(one.f / p.scale))
    idle = p.has & ~one.mode.held & (np.abs(u[p.n]) <= OBEYS * sizes[p.n])
    slip = lengths(u[p.t])
    still = (slip <= OBEYS * lengths(sizes[p.t])) & (p.tangents > 0) & ~p.known
    stick = one.mode.stick | (still & (idle | stand) & (one.mode.held | idle | ~p.has | (p.low > 0)))
    way = p.known_along(-u[p.t] / np.where(slip > 0, slip, 1.0)[:, None])
    along = np.where((idle & ~stick)[:, None], way, np.where(stick[:, None], 0.0, one.mode.along))
    return Mode(one.mode.held | idle, stick, along)


def family_of(problem: Problem, one: Solution, mode: Mode) -> Family | None:
    """All solutions of a mode beside one; None if there is no other."""
    p = lay_out(problem)
    f, u = one.f / p.scale, one.u * p.scale
    made = equations(p, mode, f, u)
    if not len(made.b):
        return None
    _, s, Vt = np.linalg.svd(made.J)
    null = Vt[int((s > ROWS_DEPEND * s[0]).sum()) :].T
    if not null.size:
        return None
    changes = made.members(null)
    moves = p.W @ changes
    value, slope = conditions(p, mode, (padded(f), padded(u)), (changes, moves))
    return Family(p, changes, moves, value, slope, float(np.abs(f).max()) or 1.0)


def conditions(p: Layout, mode: Mode, at: tuple[Array, Array], by: tuple[Array, Array]) -> tuple[Array, Array]:
    """The conditions of a mode, value + slope w ≥ 0, at impulses and speeds that change by w."""
    f, u = at
    nothing = np.zeros((1, by[0].shape[1]))
    df, du = np.vstack([by[0], nothing]), np.vstack([by[1], nothing])
    value, slope = [0.0], [nothing[0]]
    for i in range(p.k):
        n, t = p.n[i], p.t[i]
        if p.has[i] and not p.bilateral[i]:
            value.append(f[n] - p.low[i] if mode.held[i] else u[n])
            slope.append(df[n] if mode.held[i] else du[n])
        if not p.tangents[i] or p.known[i]:
            continue
        if mode.stick[i]:
            sign = np.sign(f[n]) or 1.0
            shrink, ways = polygon(p.tangents[i])
            for d in ways:
                value.append(shrink * (p.static[i] * sign * f[n] + p.bound[i]) - d @ f[t])
                slope.append(shrink * p.static[i] * sign * df[n] - d @ df[t])
        elif mode.held[i] or not p.has[i] or p.low[i] > 0:
            value.append(-mode.along[i] @ u[t])
            slope.append(-mode.along[i] @ du[t])
    return np.maximum(np.array(value), 0.0), np.array(slope)


def polygon(tangents: int) -> tuple[float, Array]:
    """The share of the radius that the polygon within a cone has, and the normals (·, 2) of its sides."""
    if tangents == 1:
        return 1.0, np.array([[1.0, 0.0], [-1.0, 0.0]])
    angles = np.arange(SIDES) * (2 * np.pi / SIDES)
    return float(np.cos(np.pi / SIDES)), np.stack([np.cos(angles), np.sin(angles)], axis=1)


def ends(family: Family, along: Array) -> tuple[float, float]:
    """The least and the most of along · w, infinite where no condition bounds it."""
    from scipy.optimize import linprog

    found = []
    for sign in (1.0, -1.0):
        program = linprog(sign * along, -family.slope, family.value / family.most, bounds=(None, None))
        found.append(sign * family.most * float(program.fun) if program.status == 0 else -sign * np.inf)
    return found[0], found[1]
