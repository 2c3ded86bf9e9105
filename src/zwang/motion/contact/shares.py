"""Contacts with friction whose rows depend on each other: which of them the equation has, and how forces are shared.

The motion is the same whichever independent rows it is computed with. Their forces are not those of the contacts: how
these share the load is not known. Sticking, and pushing, is possible if some split of it is; watched is the split that
has the most in reserve (`split.fairest`), so that a mode ends where there is none left, and not where one way to share
the load has none. In space what sticks has cones for conditions: there the best split changes with the load not
linearly, and is watched along its tangent (`cones.follows`). Where that has nothing left, a better one is looked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from zwang.arrays import TINIEST, Array
from zwang.motion.contact.cones import Cones, follows, roomiest, shortest_within
from zwang.motion.contact.problem import OPEN, STICK, Found, Problem
from zwang.motion.contact.rough import RANK, bounds, conditions
from zwang.motion.contact.split import FREE, Split, fairest, shortest
from zwang.motion.contact.units import mass_units


@dataclass(frozen=True)
class Shares:
    """How some contacts share their forces, of which not all are in the equation."""

    members: frozenset[int]
    normals: frozenset[int]
    """Those in the equation by their normals,"""
    slips: frozenset[int]
    """and by their slips,"""
    across: frozenset[int]
    """in space by second ones."""
    matrix: Array
    beside: Array
    """What is watched of the forces λ of contacts and slips in the equation: matrix · λ + beside."""
    loose: frozenset[int]
    """Those whose forces are not unique."""
    reserve: float
    """What is left of the smallest condition, as a share of the largest force."""
    lifts: frozenset[int]
    """Contacts that lift where nothing is left,"""
    breaks: Mapping[int, float]
    """and those that break loose, with the signs of their slips."""
    in_space: bool = False
    """Whether some stick in space: then it is not told which of them lift or break loose."""

    def of(self, forces: Array) -> Array:
        """The forces that are watched, of contacts and slips, from those that the equation has."""
        return np.asarray(self.matrix @ forces + self.beside)


def shares_of(
    problem: Problem, found: Found, rows: Sequence[int], order: Sequence[int], space: Sequence[int],
    sides: Mapping[int, float],
) -> Shares | None:  # fmt: skip
    """The shares of a mode; None if its rows are independent.

    `rows` are all contacts, `order` those with friction, `space` those with two slips. `sides` are the signs of the
    multipliers of guides, which stand behind the contacts and are in the equation always.
    """
    if found.family is None:
        return None
    _, normal, friction, second = found.family
    surfaces = problem.surfaces
    closed = [k for k, state in enumerate(found.mode) if state != OPEN]
    sticks = [k for k in closed if found.mode[k] == STICK]
    cones = [k for k in sticks if surfaces[k].across is not None]
    of = [surfaces[k].row for k in (*closed, *sticks, *cones)]
    ends = len(closed), len(closed) + len(sticks)
    places = placed(of, ends, rows, order, space)
    members = np.vstack([normal[closed], friction[sticks], second[cones]])
    forces = np.concatenate([found.normal[closed], found.friction[sticks], found.across[cones]])
    stack = stacked(problem, closed, sticks, cones)
    base = independent(problem, stack, guides_among(problem, closed, sides))
    rest = [i for i in range(len(stack)) if i not in base]
    # the member whose forces are those of the rows in the equation alone
    given = forces - members @ np.linalg.lstsq(members[rest], forces[rest], rcond=None)[0]
    most = float(np.abs(forces).max(initial=0.0)) or 1.0
    asked, whose = asked_of(problem, closed, sticks)
    best = within_cones(problem, given, members, closed, most, sticks, cones) if cones else fairest(
        given, members, asked, most
    )  # fmt: skip
    size = len(rows) + len(order) + len(space)
    matrix, beside = np.zeros((size, size)), np.zeros(size)
    matrix[np.ix_(places, places)], beside[places] = best.shares, best.beside
    matrix, beside = turned(matrix, beside, rows, sides)
    lifts, breaks = given_way([whose[i] for i in best.decisive])
    free = np.flatnonzero(np.abs(members).max(axis=1) > FREE * np.abs(members).max())
    loose = {(*rows, *order, *space)[places[i]] for i in free}
    return Shares(
        frozenset(of[: ends[0]]),
        frozenset(of[i] for i in base if i < ends[0]),
        frozenset(of[i] for i in base if ends[0] <= i < ends[1]),
        frozenset(of[i] for i in base if i >= ends[1]),
        matrix,
        beside,
        frozenset(loose),
        best.reserve,
        frozenset(lifts),
        breaks,
        bool(cones),
    )


def given_way(decisive: Sequence[tuple[int, float]]) -> tuple[set[int], dict[int, float]]:
    """Contacts that lift where nothing is left, and those that break loose, with the signs of their slips."""
    lifts = {i for i, sign in decisive if sign == 0 or (i, -sign) in decisive}
    return lifts, {i: sign for i, sign in decisive if i not in lifts}


def placed(
    of: Sequence[int], ends: tuple[int, int], rows: Sequence[int], order: Sequence[int], space: Sequence[int]
) -> list[int]:
    """Where forces of contacts stand among those of all: normals, up to the first end, then slips, then second ones."""
    normals = [rows.index(i) for i in of[: ends[0]]]
    slips = [len(rows) + order.index(i) for i in of[ends[0] : ends[1]]]
    return [*normals, *slips, *(len(rows) + len(order) + space.index(i) for i in of[ends[1] :])]


def stacked(problem: Problem, closed: Sequence[int], sticks: Sequence[int], cones: Sequence[int]) -> Array:
    """The rows of these forces."""
    surfaces = problem.surfaces
    tangents = [np.asarray(surfaces[k].t) for k in sticks] + [np.asarray(surfaces[k].across) for k in cones]
    return np.array([*(surfaces[k].n for k in closed), *tangents]).reshape(-1, len(problem.M))


def within_cones(
    problem: Problem, given: Array, members: Array, closed: Sequence[int], most: float, sticks: Sequence[int],
    cones: Sequence[int],
) -> Split:  # fmt: skip
    """The split with the most in reserve where contacts stick in space, and along its tangent those of other forces."""
    asked, of = [], len(closed) + len(sticks)
    for at, k in enumerate(closed):
        row = np.zeros((3, len(given)))
        row[0, at] = problem.surfaces[k].mu_s if k in sticks else 1.0
        if k in sticks:
            row[1, len(closed) + sticks.index(k)] = 1.0
        if k in cones:
            row[2, of + cones.index(k)] = 1.0
        asked.append(row)
    conditions = np.array(asked)
    U, sizes, _ = np.linalg.svd(members, full_matrices=False)
    family = U[:, sizes > FREE * sizes.max(initial=0.0)]
    program = Cones(conditions @ given / most, conditions @ family)
    best = roomiest(program)
    change = follows(program, conditions, best)
    shares = np.eye(len(given)) + family @ change
    return Split(shares, family @ (best.w * most - change @ given), best.reserve)


def turned(matrix: Array, beside: Array, rows: Sequence[int], sides: Mapping[int, float]) -> tuple[Array, Array]:
    """Shares of multipliers, from those of forces that push: the signs of guides are put in."""
    signs = np.ones(len(matrix))
    signs[: len(rows)] = [sides.get(i, 1.0) for i in rows]
    return signs[:, None] * matrix * signs, signs * beside


def guides_among(problem: Problem, closed: Sequence[int], sides: Mapping[int, float]) -> list[int]:
    """The places of guides among closed surfaces."""
    return [at for at, k in enumerate(closed) if problem.surfaces[k].row in sides]


def asked_of(problem: Problem, closed: Sequence[int], sticks: Sequence[int]) -> tuple[Array, list[tuple[int, float]]]:
    """What is asked of forces, of normals and then of slips that stick: conditions times forces are not negative.

    With the contact of each, and the sign of the slip that begins where it is not kept; 0 for one that lifts.
    """
    asked: list[Array] = []
    whose: list[tuple[int, float]] = []
    for at, k in enumerate(closed):
        surface, row = problem.surfaces[k], np.zeros(len(closed) + len(sticks))
        row[at] = surface.mu_s if k in sticks else 1.0
        for sign in (1.0, -1.0) if k in sticks else (0.0,):  # friction at its bound forth: it begins to slide back
            asked.append(row.copy())
            if sign:
                asked[-1][len(closed) + sticks.index(k)] = sign
            whose.append((surface.row, sign))
    return np.array(asked), whose


def independent(problem: Problem, stack: Array, kept: Sequence[int]) -> list[int]:
    """Rows that are independent of each other and of the equalities: those that are farthest from dependence.

    Those that are to be kept are among them.
    """
    from scipy.linalg import qr

    units = mass_units(problem.M, problem.equal)
    rows, equal = stack / units, np.concatenate([problem.equal, stack[list(kept)]]) / units
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1), RANK)[:, None]
    if len(equal):
        values, Vt = np.linalg.svd(equal, full_matrices=False)[1:]
        basis = Vt[values > RANK * values.max(initial=0.0)]
        rows = rows - rows @ basis.T @ basis
    R, order = qr(rows.T, mode="r", pivoting=True)
    rank = int((np.abs(np.diagonal(R)) > RANK).sum())
    return sorted({*kept, *(int(i) for i in order[:rank])})


def least_forces(problem: Problem, found: Found) -> Found:
    """The shortest forces of a family that may be; those that are given if there are none."""
    if found.family is None:
        return found
    members, forces = np.vstack(found.family[1:]), np.concatenate([found.normal, found.friction, found.across])
    if (space := bounds(problem, found)) is not None:
        size = np.column_stack([forces, members @ space.back])
        within = shortest_within(space.cones, size / max(float(np.abs(forces).max()), TINIEST))
        return found if within is None else found.moved(space.back @ within)
    back = found.free_forces()
    middle = found.moved(-back @ ((members @ back).T @ forces))
    value, slope = conditions(problem, middle)
    w = shortest(value, slope @ back)
    return middle if w is None else middle.moved(back @ w)
