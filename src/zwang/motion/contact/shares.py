"""Contacts with friction whose rows depend on each other: which of them the equation has, and how forces are shared.

The motion is the same whichever independent rows it is computed with. Their forces are not those of the contacts: how
these share the load is not known. Sticking, and pushing, is possible if some split of it is; watched is the split that
has the most in reserve (`split.fairest`), so that a mode ends where there is none left, and not where one way to share
the load has none. In space what sticks has cones for conditions: there the best split changes with the load not
linearly, and is watched along its tangent (`cones.follows`). Where that has nothing left, a better one is looked for.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from zwang.arrays import Array
from zwang.motion.contact.cones import Cones, changes_with, roomiest, shortest_within
from zwang.motion.contact.problem import FREE, OPEN, STICK, Family, Found, Problem
from zwang.motion.contact.resolve import solved
from zwang.motion.contact.split import Split, fairest
from zwang.nonsmooth import obeys
from zwang.nonsmooth.response import particular

RANK = 1e-10  # of the size of rows: what is smaller makes them dependent


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
    found: Found, rows: Sequence[int], order: Sequence[int], space: Sequence[int], sides: Mapping[int, float]
) -> Shares | None:
    """The shares of a mode; None if its rows are independent.

    `rows` are all contacts, `order` those with friction, `space` those with two slips. `sides` are the signs of the
    multipliers of guides, which stand behind the contacts and are in the equation always.
    """
    if not found.families:
        return None
    return merged(found, rows, order, space, sides)


def merged(
    found: Found, rows: Sequence[int], order: Sequence[int], space: Sequence[int], sides: Mapping[int, float]
) -> Shares:
    """The shares of all families of a mode; what is independent has its own forces."""
    surfaces, every = found.problem.surfaces, (*rows, *order, *space)
    size = len(every)
    matrix, beside = np.zeros((size, size)), np.zeros(size)
    base: list[tuple[int, int]] = []
    loose: set[int] = set()
    worst, breaks, lifts, in_space = np.inf, dict[int, float](), set[int](), False
    closed = [k for k, state in enumerate(found.mode) if state != OPEN]
    dependent = {k for family in found.families for k in family.surfaces}
    free = Rows.of(found, [k for k in closed if k not in dependent])
    places = free.places(rows, order, space)
    matrix[places, places] = 1.0
    base += free.which
    for family in found.families:
        mine = Rows.of(found, [k for k in family.surfaces if k in closed])
        members, forces = mine.members(family), mine.forces(found)
        kept = mine.normals_of(sides)
        chosen = independent(found.problem, mine.stack, kept)
        rest = [i for i in range(len(forces)) if i not in chosen]
        # the member whose forces are those of the rows in the equation alone
        given = forces - members @ np.linalg.lstsq(members[rest], forces[rest], rcond=None)[0]
        best = mine.split(family, given, members, float(np.abs(forces).max(initial=0.0)) or 1.0)
        places = mine.places(rows, order, space)
        matrix[np.ix_(places, places)], beside[places] = best.shares, best.beside
        base += [mine.which[i] for i in chosen]
        in_space |= mine.in_space
        uncertain = np.flatnonzero(np.abs(members).max(axis=1) > FREE * np.abs(members).max())
        loose |= {every[places[i]] for i in uncertain}
        if best.reserve < worst:
            worst = best.reserve
            gone, loosened = given_way([mine.asked[1][i] for i in best.decisive])
            lifts, breaks = gone, loosened
    normals, slips, across = (frozenset(surfaces[k].row for k, kind in base if kind == which) for which in range(3))
    every_closed = frozenset(surfaces[k].row for k in closed)
    rows_of = normals, slips, across
    return Shares(every_closed, *rows_of, matrix, beside, frozenset(loose), worst, frozenset(lifts), breaks, in_space)


@dataclass(frozen=True)
class Rows:
    """The rows of closed surfaces that a mode holds: normals, then slips of those that stick, in space both."""

    problem: Problem
    which: list[tuple[int, int]]
    """Surfaces, and 0 for a normal, 1 for a slip and 2 for a second one."""
    pulled: frozenset[int]
    """Guides whose normal forces are negative."""

    @staticmethod
    def of(found: Found, closed: Sequence[int]) -> "Rows":
        """Those of a mode."""
        surfaces = found.problem.surfaces
        sticks = [k for k in closed if found.mode[k] == STICK]
        cones = [k for k in sticks if len(surfaces[k].t) == 2]
        which = [*((k, 0) for k in closed), *((k, 1) for k in sticks), *((k, 2) for k in cones)]
        pulled = (k for k in closed if surfaces[k].law.normal == "bilateral" and found.normal[k] < 0)
        return Rows(found.problem, which, frozenset(pulled))

    def bound(self, k: int) -> float:
        """What of the normal force of a surface is its bound: of one that sticks the friction's, else itself."""
        sign = -1.0 if k in self.pulled else 1.0
        return sign * self.problem.surfaces[k].law.mu_static if (k, 1) in self.which else sign

    @property
    def in_space(self) -> bool:
        """Whether some stick in space."""
        return any(kind == 2 for _, kind in self.which)

    def normals_of(self, guides: Container[int]) -> list[int]:
        """The places of the normals of guides."""
        surfaces = self.problem.surfaces
        return [at for at, (k, kind) in enumerate(self.which) if not kind and surfaces[k].row in guides]

    @property
    def stack(self) -> Array:
        """The rows (p, n)."""
        surfaces = self.problem.surfaces
        rows = [surfaces[k].t[kind - 1] if kind else surfaces[k].n for k, kind in self.which]
        return np.array(rows).reshape(-1, len(self.problem.M))

    def places(self, rows: Sequence[int], order: Sequence[int], space: Sequence[int]) -> list[int]:
        """Where their forces stand among those of all: normals, then slips, then second ones."""
        first = 0, len(rows), len(rows) + len(order)
        of = rows, order, space
        return [first[kind] + of[kind].index(self.problem.surfaces[k].row) for k, kind in self.which]

    def raw(self, family: Family) -> Array:
        """(p, d) what the members of a family add to their forces."""
        return np.array([family.friction[k, kind - 1] if kind else family.normal[k] for k, kind in self.which])

    def members(self, family: Family) -> Array:
        """(p, d) what may be added to their forces, orthonormal."""
        U, sizes, _ = np.linalg.svd(self.raw(family), full_matrices=False)
        return np.asarray(U[:, sizes > FREE * sizes.max(initial=0.0)])

    def forces(self, found: Found) -> Array:
        """(p,) their forces."""
        return np.array([found.friction[k, kind - 1] if kind else found.normal[k] for k, kind in self.which])

    @property
    def asked(self) -> tuple[Array, list[tuple[int, float]]]:
        """What is asked of the forces: conditions (c, p) times them are not negative.

        With the contact of each, and the sign of the slip that begins where it is not kept; 0 for one that lifts. In
        space sticking has a cone instead.
        """
        asked: list[Array] = []
        whose: list[tuple[int, float]] = []
        for at, (k, kind) in enumerate(self.which):
            if kind:
                continue
            s, row = self.problem.surfaces[k], np.zeros(len(self.which))
            sticks = (k, 1) in self.which
            row[at] = self.bound(k)
            for sign in (1.0, -1.0) if sticks else (0.0,):  # friction at its bound forth: it begins to slide back
                asked.append(row.copy())
                if sign:
                    asked[-1][self.which.index((k, 1))] = sign
                whose.append((s.row, sign))
        return np.array(asked), whose

    def split(self, family: Family, given: Array, members: Array, most: float) -> Split:
        """The split with the most in reserve; where the motion depends on it, that of contacts which give way alike."""
        if family.moves:
            return self.alike(given, most)
        if self.in_space:
            return self.within_cones(given, members, most)
        return fairest(given, members, self.asked[0], most)

    def alike(self, given: Array, most: float) -> Split:
        """The split of contacts that give way alike, u + εf with ε → 0: the least forces with the same resultant."""
        _, Z = particular(self.problem.equal / self.problem.units, self.problem.right)
        rows = (self.stack / self.problem.units) @ Z
        shares = np.linalg.pinv(rows.T, rcond=RANK) @ rows.T
        asked, _ = self.asked
        left = asked @ (shares @ given) / most
        return Split(shares, np.zeros(len(given)), float(left.min(initial=np.inf)), (int(left.argmin()),))

    @property
    def cones(self) -> Array:
        """(c, 3, p) what of the forces is to be in cones: a bound, and friction that it bounds."""
        asked = []
        for at, (k, kind) in enumerate(self.which):
            if kind:
                continue
            row = np.zeros((3, len(self.which)))
            row[0, at] = self.bound(k)
            for second in (1, 2):
                if (k, second) in self.which:
                    row[second, self.which.index((k, second))] = 1.0
            asked.append(row)
        return np.array(asked)

    def within_cones(self, given: Array, members: Array, most: float) -> Split:
        """The split with the most in reserve where contacts stick in space; along its tangent that of other forces."""
        conditions = self.cones
        program = Cones(conditions @ given / most, conditions @ members)
        best = roomiest(program)
        change = changes_with(program, conditions, best)
        shares = np.eye(len(given)) + members @ change
        return Split(shares, members @ (best.w * most - change @ given), best.reserve)


def least_forces(problem: Problem, names: tuple[str, ...]) -> Found | None:
    """Forces of a mode; of contacts that share a load the shortest that obey their laws. None if there are none."""
    found = solved(problem, names)
    if found is None:
        return None
    pieces, families = [], {family.surfaces: family for family in found.families}
    for piece in found.pieces:
        one, blocks = piece.solutions[0], piece.part.blocks
        family = families.get(tuple(i for i in blocks.tolist() if i < len(names)))
        if obeys(piece.part.problem, one):
            pieces.append(piece)
            continue
        if family is None or family.moves:
            return None
        rows = Rows.of(found, [k for k in family.surfaces if names[k] != OPEN])
        forces, members = rows.forces(found), rows.raw(family)
        most = float(np.abs(forces).max(initial=0.0)) or 1.0
        program = Cones(rows.cones @ forces / most, rows.cones @ members)
        w = shortest_within(program, np.column_stack([forces / most, members]))
        if w is None:
            return None
        impulses = family.dependent.impulses * family.dependent.layout.scale[:, None]
        pieces.append(replace(piece, solutions=(replace(one, f=one.f + impulses @ w * most),)))
    return replace(found, pieces=tuple(pieces))


def given_way(decisive: Sequence[tuple[int, float]]) -> tuple[set[int], dict[int, float]]:
    """Contacts that lift where nothing is left, and those that break loose, with the signs of their slips."""
    lifts = {i for i, sign in decisive if sign == 0 or (i, -sign) in decisive}
    return lifts, {i: sign for i, sign in decisive if i not in lifts}


def independent(problem: Problem, stack: Array, kept: Sequence[int]) -> list[int]:
    """Rows that are independent of each other and of the equalities: those that are farthest from dependence.

    Those that are to be kept are among them.
    """
    from scipy.linalg import qr

    rows = stack / problem.units
    equal = np.concatenate([problem.equal, stack[list(kept)]]) / problem.units
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1), RANK)[:, None]
    if len(equal):
        values, Vt = np.linalg.svd(equal, full_matrices=False)[1:]
        basis = Vt[values > RANK * values.max(initial=0.0)]
        rows = rows - rows @ basis.T @ basis
    R, order = qr(rows.T, mode="r", pivoting=True)
    rank = int((np.abs(np.diagonal(R)) > RANK).sum())
    return sorted({*kept, *(int(i) for i in order[:rank])})


def follows(found: Found, row: Array) -> bool:
    """Whether a row follows from those that a mode holds."""
    units, closed = found.problem.units, [k for k, state in enumerate(found.mode) if state != OPEN]
    held = np.vstack([found.problem.equal, Rows.of(found, closed).stack]) / units
    scaled = row / units
    return bool(np.linalg.norm(scaled @ particular(held, np.zeros(len(held)))[1]) <= RANK * np.linalg.norm(scaled))
