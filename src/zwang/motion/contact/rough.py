"""Friction in the plane: which contacts stick, slide and lift, found by trying every mode.

Of a closed contact the candidates are: open, sticking, and sliding one way or the other. Each mode is a linear system;
it is a solution if normal forces push, gaps do not close, friction of sticking is within its bound and sliding goes the
way its friction says. Trying all of them finds all solutions, so that none, or several, are known for what they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zwang.arrays import EPS, Array
from zwang.motion.contact.acting import Push, Solved, settled
from zwang.motion.contact.cones import Cones, grows, reaches, roomiest
from zwang.motion.contact.problem import LEAVES, OPEN, SIGN, STICK, STICKS, Found, Problem
from zwang.motion.contact.split import FREE, ends, null_space, shortest, spanning, unbounded
from zwang.motion.contact.units import balanced, mass_units

WITHIN = 1e-9  # of the terms of a condition, by which it may be missed
FAR_FROM_SINGULAR = 1e-6  # of the largest singular value of a mode's system: above, it is regular
RANK = 1e-10  # of the size of rows: what is smaller makes them dependent
DISTINCT = 1e-7  # of the largest entry: solutions that differ by more are different ones
SPLIT = 1e-10  # of the forces around, by which a split may miss the bound of sticking
MOST_MODES = 20_000


def solved(problem: Problem, mode: Sequence[str]) -> Found | None:
    """x in a mode; None if that is singular, or if forces that depend on its multipliers have no solution."""
    if problem.law is None:
        return pushed(problem, mode, None)
    last: list[Found] = []

    def solve(push: Push) -> Solved | None:
        found = pushed(problem, mode, push)
        if found is None:
            return None
        last[:] = [found]
        multipliers = dict(zip(problem.held, found.multipliers.tolist(), strict=True))
        multipliers |= {s.row: s.side * float(e) for s, e in zip(problem.surfaces, found.normal, strict=True)}
        return Solved(found.x, multipliers, found.shares)

    units = mass_units(problem.M, problem.equal)
    rows = [*problem.equal, *(s.n for s, state in zip(problem.surfaces, mode, strict=True) if state not in LEAVES)]
    for s, state in zip(problem.surfaces, mode, strict=True):
        rows += [e for e in (s.t, s.across) if state in STICKS and e is not None]
    done = settled(problem.law, np.array(rows).reshape(-1, len(units)), units, problem.Q, problem.free, solve)
    return last[0] if done is not None else None


@dataclass(frozen=True)
class Held:
    """The rows that a mode holds, what pushes along each and what each is to be, and all other forces.

    `places` are surfaces and kinds of force (normal, along the slip, along a second one) of those behind equalities.
    """

    rows: list[Array]
    columns: list[Array]
    right: list[float]
    places: list[tuple[int, int]]
    Q: Array


def held_in(problem: Problem, mode: Sequence[str], push: Push | None) -> Held:
    """What a mode holds; shares of switches that rest come last."""
    rows, columns, right = list(problem.equal), list(problem.equal), list(problem.right)
    places: list[tuple[int, int]] = []
    Q, by_row = problem.Q.copy(), push.by_row if push else {}
    if push is not None and problem.law is not None:
        Q = push.rest + (Q if problem.law.impulsive else 0.0)
        columns = [row + by_row.get(i, 0.0) for i, row in zip(problem.held, columns, strict=True)]
    for k, (surface, state) in enumerate(zip(problem.surfaces, mode, strict=True)):
        if state == OPEN:
            continue
        sliding = surface.t is not None and state in SIGN
        column = surface.n - surface.mu_k * SIGN[state] * np.asarray(surface.t) if sliding else surface.n
        if surface.row in by_row:
            column = column + surface.side * by_row[surface.row]
        Q += surface.given * column
        if state not in LEAVES:
            places.append((k, 0))
            rows.append(surface.n)
            columns.append(column)
            right.append(surface.least)
        if state in STICKS:
            assert surface.t is not None
            places.append((k, 1))
            rows.append(surface.t)
            columns.append(surface.t)
            right.append(surface.stuck)
        if state in STICKS and surface.across is not None:
            places.append((k, 2))
            rows.append(surface.across)
            columns.append(surface.across)
            right.append(surface.stuck_across)
    if push is not None:
        rows, columns, right = [*rows, *push.rows], [*columns, *push.columns], [*right, *push.right]
    return Held(rows, columns, right, places, Q)


def pushed(problem: Problem, mode: Sequence[str], push: Push | None) -> Found | None:
    """x in a mode, with forces that are linear in its multipliers if some are given; None if that is singular."""
    made = held_in(problem, mode, push)
    rows, columns, right, places, Q = made.rows, made.columns, made.right, made.places, made.Q
    n, m, held = len(problem.M), len(rows), len(problem.equal)
    last = n + held + len(places)
    saddle = np.zeros((n + m, n + m))
    saddle[:n, :n] = problem.M
    if m:
        saddle[:n, n:], saddle[n:, :n] = -np.array(columns).T, np.array(rows)
    load = np.concatenate([Q, right])
    units = mass_units(problem.M, problem.equal)
    lengths = np.abs(saddle[n:, :n] / units).max(axis=1, initial=0.0)
    scale = np.concatenate([units, np.where(lengths > 0, lengths, 1.0)])  # rows of unit length in units of equal mass
    scaled, right_hand = saddle / scale[:, None] / scale, load / scale
    z, _, _, values = np.linalg.lstsq(scaled, right_hand, rcond=1e-12)
    if np.abs(scaled @ z - right_hand).max(initial=0.0) > WITHIN * max(np.abs(z).max(), np.abs(right_hand).max()):
        return None
    x = z / scale
    normal, friction, across = forces_of(problem, mode, places, x[n + held : last, None])[..., 0]
    for k, state in enumerate(mode):
        given = problem.surfaces[k].given if state != OPEN else 0.0
        normal[k] += given
        if state in SIGN:
            friction[k] -= problem.surfaces[k].mu_k * SIGN[state] * given
    dependent = False
    if m and not values[-1] > FAR_FROM_SINGULAR * values[0]:  # otherwise its rows are independent, too
        stack = np.array(rows).reshape(-1, n) / units
        # equalities that depend on each other alone leave the forces of contacts what they are
        ranks = [np.linalg.matrix_rank(s, tol=RANK * np.linalg.norm(stack)) for s in (stack, stack[:held]) if len(s)]
        dependent = int(ranks[0]) < sum(map(int, ranks[1:])) + m - held
    excess = np.array([surface.n @ x[:n] - surface.least for surface in problem.surfaces])
    terms = np.abs(x[:n]) + np.abs(problem.free)
    sizes = np.array([np.abs(surface.n) @ terms + abs(surface.least) for surface in problem.surfaces])
    gaps = excess / np.where(sizes > 0, sizes, 1.0)
    family = None
    if dependent:
        free = null_space(scaled, RANK)
        free = free @ spanning(np.delete(free, np.s_[n : n + held], axis=0), FREE) / scale[:, None]
        if free.shape[1]:
            family = (free[:n], *forces_of(problem, mode, places, free[n + held : last]))
    known = x[n : n + held], x[last:]
    return Found(tuple(mode), x[:n], normal, friction, dependent, gaps, across, family, *known)


def forces_of(problem: Problem, mode: Sequence[str], places: Sequence[tuple[int, int]], multipliers: Array) -> Array:
    """Forces (3, k, ·) along normals, slips and second slips, from the multipliers (m, ·) of the rows of a mode."""
    found = np.zeros((3, len(mode), multipliers.shape[1]))
    for (k, kind), force in zip(places, multipliers, strict=True):
        found[kind, k] = force
    for k, state in enumerate(mode):
        if state in SIGN:
            found[1, k] = -problem.surfaces[k].mu_k * SIGN[state] * found[0, k]
    return found


def consistent(problem: Problem, found: Found) -> bool:
    """Whether a mode keeps all conditions; of sliding, that the slip goes its way from `stuck` on."""
    forces = float(np.abs(problem.Q).max(initial=0.0) + np.abs(found.normal).max(initial=0.0))
    terms = np.abs(found.x) + np.abs(problem.free)
    for k, (surface, state) in enumerate(zip(problem.surfaces, found.mode, strict=True)):
        if state in LEAVES:
            if surface.n @ found.x - surface.least < -WITHIN * (np.abs(surface.n) @ terms + abs(surface.least)):
                return False
            if state == OPEN:
                continue
        normal, friction = found.normal[k], found.friction[k]
        if normal - surface.given < -WITHIN * forces / max(float(np.abs(surface.n).max(initial=0.0)), EPS):
            return False
        rounding = SPLIT if found.dependent or surface.across is not None else EPS
        if (
            state in STICKS
            and np.hypot(friction, found.across[k]) > surface.mu_s * normal * (1 + WITHIN) + rounding * forces
        ):
            return False
        if state in SIGN and not surface.slips:
            assert surface.t is not None
            goes = SIGN[state] * (surface.t @ found.x - surface.stuck)
            if goes < -WITHIN * (np.abs(surface.t) @ terms + abs(surface.stuck)):
                return False
    return True


def conditions(problem: Problem, found: Found, forces_alone: bool = False) -> tuple[Array, Array]:
    """Linear conditions of a mode along its family, values (c,) and slopes (c, d): none of them is negative.

    Without those on x, if that is wanted. What sticks in space has one that is not (`bounds`).
    """
    assert found.family is not None
    dx, normal, friction, _ = found.family
    rows: list[tuple[float, Array]] = []
    for k, (surface, state) in enumerate(zip(problem.surfaces, found.mode, strict=True)):
        if state in LEAVES and not forces_alone:
            rows.append((float(surface.n @ found.x - surface.least), surface.n @ dx))
        if state != OPEN:
            rows.append((found.normal[k] - surface.given, normal[k]))
        if state in STICKS and surface.across is None:
            bound = surface.mu_s * found.normal[k], surface.mu_s * normal[k]
            rows += [(bound[0] + s * found.friction[k], bound[1] + s * friction[k]) for s in (1, -1)]
        if state in SIGN and not surface.slips and surface.across is None and not forces_alone:
            assert surface.t is not None
            sign = SIGN[state]
            rows.append((float(sign * (surface.t @ found.x - surface.stuck)), sign * (surface.t @ dx)))
    return np.array([value for value, _ in rows]), np.array([slope for _, slope in rows]).reshape(-1, dx.shape[1])


@dataclass(frozen=True)
class Bounds:
    """All conditions of a mode along its family, forces being shares of the largest, and how w is got back."""

    cones: Cones
    back: Array
    """(d, d') members of the family, one for each unknown of the cones."""


def bounds(problem: Problem, found: Found, forces_alone: bool = False) -> Bounds | None:
    """All conditions of a mode that its family changes, if contacts stick in space; None otherwise."""
    held = [k for k, s in enumerate(problem.surfaces) if s.across is not None and found.mode[k] in STICKS]
    if not held or found.family is None:
        return None
    _, normal, friction, across = found.family
    back = found.free_forces()
    most = float(np.abs([found.normal, found.friction, found.across]).max(initial=0.0)) or 1.0
    value, slope = conditions(problem, found, forces_alone)
    slope = slope @ back
    size = np.abs(slope).max(axis=1, initial=0.0)
    kept = size > FREE
    z, dz = np.zeros((kept.sum(), 3)), np.zeros((kept.sum(), 3, slope.shape[1]))
    z[:, 0], dz[:, 0] = value[kept] / size[kept] / most, slope[kept] / size[kept, None]
    mu = np.array([problem.surfaces[k].mu_s for k in held])
    forces = np.array([mu * found.normal[held], found.friction[held], found.across[held]]).T / most
    along = np.stack([mu[:, None] * normal[held], friction[held], across[held]], axis=1) @ back
    return Bounds(Cones(np.concatenate([z, forces]), np.concatenate([dz, along])), back * most)


def admitted(problem: Problem, found: Found | None) -> Found | None:
    """A solution that keeps all conditions; of a family, the member nearest to it that does. None if there is none."""
    if found is None or consistent(problem, found):
        return found
    if found.family is None:
        return None
    space = bounds(problem, found)
    w = shortest(*conditions(problem, found)) if space is None else space.back @ roomiest(space.cones).w
    moved = None if w is None else found.moved(w)
    return moved if moved is not None and consistent(problem, moved) else None


def wedged(problem: Problem, found: Found) -> bool:
    """Whether contacts may press against each other as hard as they like."""
    if found.family is None:
        return False
    space = bounds(problem, found, forces_alone=True)
    if space is not None:
        return grows(space.cones.slope, found.family[1].sum(axis=0) @ space.back)
    return unbounded(conditions(problem, found, forces_alone=True)[1], found.family[1].sum(axis=0))


def interval(problem: Problem, found: Found) -> tuple[int, float, float] | None:
    """Where x is not unique: of the entry of x that may differ the most, in units of mass, its least and most."""
    if found.family is None:
        return None
    units = mass_units(problem.M, problem.equal)
    size = DISTINCT * float((units * np.abs([found.x, problem.free])).max(initial=EPS))
    space = bounds(problem, found)
    value, slope = conditions(problem, found)
    widest = None
    for i, along in enumerate(found.family[0]):
        if units[i] * np.abs(along).max() <= FREE:
            continue
        if space is None:
            low, high = ends(np.maximum(value, 0.0), slope, along)
        else:
            low, high = reaches(space.cones, along @ space.back)
        if units[i] * (high - low) > size:
            size, widest = units[i] * (high - low), (i, found.x[i] + low, found.x[i] + high)
    return widest


def solutions(problem: Problem) -> list[Found]:
    """All solutions that are different, those that stick first."""
    tried = (admitted(problem, solved(problem, mode)) for mode in problem.modes())
    return different(problem, [f for f in tried if f is not None])


def different(problem: Problem, tried: list[Found]) -> list[Found]:
    """Solutions that are different, those that stick first.

    Of contacts that press against each other, as the two sides of a guide, any load is a solution: without need there
    is none, so that such solutions are left out if there are others, or if they hold with one of the contacts open.
    """
    tried = [f for f in tried if not wedged(problem, f)] or tried
    tried = [f for f in tried if not (wedged(problem, f) and any(presses(f, other) for other in tried))]
    tried.sort(key=lambda f: (-f.mode.count(STICK), f.mode.count(OPEN)))
    kept: list[Found] = []
    for found in tried:
        if not any(same(problem, found, other) or yields(problem, found, other) for other in kept):
            kept.append(found)
    return kept


def idle(problem: Problem, found: Found) -> list[int]:
    """Surfaces that are open in a solution but stay closed, since their rows follow from those that are."""
    units = mass_units(problem.M, problem.equal)
    rows = [*problem.equal, *(s.n for s, state in zip(problem.surfaces, found.mode, strict=True) if state != OPEN)]
    rows += [s.t for s, state in zip(problem.surfaces, found.mode, strict=True) if state in STICKS and s.t is not None]
    base = np.array(rows).reshape(-1, len(units)) / units

    def rank(stack: Array) -> int:
        return int(np.linalg.matrix_rank(stack, tol=RANK * np.linalg.norm(stack))) if stack.size else 0

    return [
        k
        for k, (surface, state) in enumerate(zip(problem.surfaces, found.mode, strict=True))
        if state == OPEN
        and abs(found.gaps[k]) <= WITHIN
        and rank(np.concatenate([base, (surface.n / units)[None]])) == rank(base)
    ]


def presses(found: Found, other: Found) -> bool:
    """Whether a solution differs from another only by contacts that need not be closed."""
    if found is other or len([s for s in found.mode if s == OPEN]) >= len([s for s in other.mode if s == OPEN]):
        return False
    agree = all(b in (a, OPEN) for a, b in zip(found.mode, other.mode, strict=True))
    more = [k for k, (a, b) in enumerate(zip(found.mode, other.mode, strict=True)) if a != b]
    return agree and found.dependent and all(other.gaps[k] <= WITHIN for k in more)


def same(problem: Problem, a: Found, b: Found) -> bool:
    """Whether two solutions have the same x, beside what it would be without any row."""
    units = mass_units(problem.M, problem.equal)
    size = float((units * np.abs([b.x, problem.free])).max(initial=0.0))
    return bool((units * np.abs(a.x - b.x)).max(initial=0.0) <= DISTINCT * size)


def yields(problem: Problem, found: Found, other: Found) -> bool:
    """Whether a solution slides only where another sticks, though more than sliding friction is needed for that."""
    differ = [k for k, (a, b) in enumerate(zip(found.mode, other.mode, strict=True)) if a != b]
    return all(
        other.mode[k] == STICK and found.mode[k] in SIGN and problem.surfaces[k].mu_s > problem.surfaces[k].mu_k
        for k in differ
    )


def margins(problem: Problem) -> list[tuple[int, float]]:
    """1 + μ s R of contacts that can only slide: what is not positive is Painlevé's paradox."""
    result = []
    for surface in problem.surfaces:
        for state in surface.may:
            if state in SIGN and surface.t is not None:
                rows = np.concatenate([problem.equal, surface.n[None]])
                load = np.concatenate([surface.t, np.zeros(len(rows))])
                response = balanced(problem.M, rows, load, mass_units(problem.M, problem.equal))[-1]
                result.append((surface.row, float(1 + surface.mu_k * SIGN[state] * response)))
    return result
