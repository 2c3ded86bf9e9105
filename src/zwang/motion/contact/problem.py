"""The nonsmooth problem of a motion at a state: closed contacts with their rows and laws, and what they do.

M x = Q + Eᵀλ + Rᵀf with E x = e, for accelerations or, with momenta, for velocities; R has the normals and the slips of
the contacts. `resolve` finds what they do.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from zwang.arrays import Array
from zwang.motion.contact.acting import Acting
from zwang.motion.contact.units import balanced, mass_units
from zwang.nonsmooth import Answer, Law, Mode, Response, Solution, combined
from zwang.nonsmooth import Problem as Nonsmooth
from zwang.nonsmooth.layout import lay_out
from zwang.nonsmooth.problem import Bools
from zwang.nonsmooth.uniqueness import UNIQUE, closed_mode, ends, family_of, polygon
from zwang.nonsmooth.uniqueness import Family as Dependent

OPEN, CLOSED, STICK, FORTH, BACK = "open", "closed", "stick", "forth", "back"
LEAVE, LEAVE_STICK, LEAVE_FORTH, LEAVE_BACK = "leave", "leave stick", "leave forth", "leave back"
"""What a contact with a given normal impulse may do beside: no more of it is needed, and its gap opens."""
SIGN = {FORTH: 1.0, BACK: -1.0, LEAVE_FORTH: 1.0, LEAVE_BACK: -1.0}
STICKS = (STICK, LEAVE_STICK)
LEAVES = (OPEN, LEAVE, LEAVE_STICK, LEAVE_FORTH, LEAVE_BACK)
FREE = 1e-9  # of a family's directions: a force, or x, that changes by less is unique
LEFT = {CLOSED: LEAVE, STICK: LEAVE_STICK, FORTH: LEAVE_FORTH, BACK: LEAVE_BACK}


@dataclass(frozen=True)
class Surface:
    """A contact, or a bilateral one with friction (a guide), at a state: its rows, what they ask for, and its law.

    `least` is what n x is at least, or exactly; `stuck` (s,) what the slips `t` (s, n) are if it sticks.
    """

    row: int
    n: Array
    least: float
    t: Array
    stuck: Array
    law: Law

    @property
    def slips(self) -> bool:
        """Whether it slips already, so that its direction is known."""
        return bool(self.law.way)


def frictionless(row: int, n: Array, least: float, law: Law) -> Surface:
    """A surface without slips."""
    return Surface(row, n, least, np.zeros((0, len(n))), np.zeros(0), law)


@dataclass(frozen=True)
class Problem:
    """The problem at a state. `held` are the constraints whose rows are equalities.

    `law` are forces that depend on multipliers, or that hold at switches: instead of Q, and for impulses beside it.
    """

    M: Array
    Q: Array
    equal: Array
    right: Array
    surfaces: tuple[Surface, ...]
    held: tuple[int, ...] = ()
    law: Acting | None = None

    @cached_property
    def free(self) -> Array:
        """x without any row."""
        return balanced(self.M, self.equal[:0], self.Q, self.units)

    @cached_property
    def units(self) -> Array:
        """(n,) units of coordinates in which all have about the same mass."""
        return mass_units(self.M, self.equal)

    @cached_property
    def rows(self) -> tuple[Array, Array]:
        """The rows (r, n) of all surfaces, normals before slips, and what is taken off them (r,)."""
        n = len(self.M)
        rows = [row for s in self.surfaces for row in (s.n, *s.t)]
        targets = [x for s in self.surfaces for x in (s.least, *s.stuck)]
        return np.array(rows).reshape(-1, n), np.array(targets)

    def of_slips(self, f: Array) -> Array:
        """(k, 2, …) of impulses of all rows those along slips."""
        found = np.zeros((len(self.surfaces), 2, *f.shape[1:]))
        for k, (s, at) in enumerate(zip(self.surfaces, self.first, strict=True)):
            found[k, : len(s.t)] = f[at + 1 : at + 1 + len(s.t)]
        return found

    @cached_property
    def first(self) -> list[int]:
        """The place of the normal row of each surface; its slips stand behind it."""
        sizes = [1 + len(s.t) for s in self.surfaces]
        return [sum(sizes[:k]) for k in range(len(sizes))]


@dataclass(frozen=True)
class Family:
    """Surfaces whose rows depend on each other: what may be added (·, d) to their forces, and to x."""

    surfaces: tuple[int, ...]
    normal: Array
    friction: Array
    """(k, 2, d)"""
    x: Array
    moves: bool
    """Whether x is another with other members."""
    dependent: Dependent
    """The same of the nonsmooth problem, in its own units, with conditions."""

    def range_along(self, x: Array) -> tuple[float, float]:
        """By how much less and more one entry of x may be that changes by `x` (d,) with members."""
        return ends(self.dependent, x)


@dataclass(frozen=True)
class Found:
    """What surfaces do: x, and normal forces (k,) and friction (k, 2); those of guides may have either sign."""

    problem: Problem
    nonsmooth: Nonsmooth
    response: Response
    pieces: tuple[Answer, ...]
    """The parts that do not move each other, each with one solution."""
    given: bool
    """Whether the mode was given; contacts that only stay closed are open in it, then."""
    multipliers: Array
    """Of the rows that hold,"""
    shares: Mapping[int, float] = field(default_factory=dict)
    """and −1 ≤ σ ≤ 1 of switches at zero."""

    @cached_property
    def solution(self) -> Solution:
        """The impulses of all rows."""
        found = combined(self.nonsmooth, list(self.pieces))
        assert found is not None
        return found

    @cached_property
    def x(self) -> Array:
        """(n,) accelerations, or velocities."""
        return self.response.x(self.solution.f)

    @cached_property
    def normal(self) -> Array:
        """(k,) normal forces."""
        return np.asarray(self.solution.f[self.problem.first])

    @cached_property
    def friction(self) -> Array:
        """(k, 2) forces along slips; zero along those that there are not."""
        return self.problem.of_slips(self.solution.f)

    @cached_property
    def mode(self) -> tuple[str, ...]:
        """What each surface does, in a word: closed is also what only stays so, because others hold it."""
        return words(self.problem, self.whole.mode)

    @property
    def families(self) -> tuple[Family, ...]:
        """Surfaces whose rows depend on each other, part by part."""
        return self.whole.families

    @property
    def idle(self) -> tuple[int, ...]:
        """Surfaces that are open, but stay closed because others hold them."""
        return self.whole.idle

    @property
    def jammed(self) -> tuple[int, ...]:
        """Surfaces that might press against each other though they need not: their forces are not unique."""
        return self.whole.jammed

    @cached_property
    def whole(self) -> "Whole":
        """The mode in which all is closed that stays so, because others hold it, and its families."""
        k, r = len(self.nonsmooth.laws), len(self.nonsmooth.c)
        mode = Mode(np.zeros(k, dtype=bool), np.zeros(k, dtype=bool), np.zeros((k, 2)))
        families, idle, jammed = [], list[int](), list[int]()
        for piece in self.pieces:
            of, one = piece.part, piece.solutions[0]
            if self.given:
                there, family = one.mode, None if lay_out(of.problem).regular else family_of(of.problem, one, one.mode)
            else:
                there, family, unloaded = dependent_mode(of.problem, one)
                idle += of.blocks[unloaded].tolist()
                jammed += of.blocks[there.held | unloaded].tolist() if unloaded.any() else []
            mode.held[of.blocks], mode.stick[of.blocks], mode.along[of.blocks] = there.held, there.stick, there.along
            if family is not None:
                members = np.zeros((r, family.impulses.shape[1]))
                members[of.rows] = family.impulses * family.layout.scale[:, None]
                x, first = self.response.X @ members, self.problem.first
                change = float(np.abs(family.moves).max(initial=0.0)) * family.most
                moves = change > UNIQUE * float(np.abs(family.layout.c).max(initial=0.0)) * float(
                    np.abs(family.impulses).max()
                )
                families.append(
                    Family(
                        tuple(i for i in of.blocks.tolist() if i < len(first)), members[first],
                        self.problem.of_slips(members), x, moves, family,
                    )
                )  # fmt: skip
        count = len(self.problem.surfaces)
        return Whole(mode, tuple(families), *(tuple(i for i in some if i < count) for some in (idle, jammed)))

    @property
    def ways(self) -> dict[int, Array]:
        """Directions (2,) of slips in space of surfaces that slide, as friction has them."""
        return {
            k: -self.whole.mode.along[k]
            for k, s in enumerate(self.problem.surfaces)
            if len(s.t) == 2 and self.mode[k] in SIGN
        }

    @cached_property
    def gaps(self) -> Array:
        """(k,) how much more than asked for n x is, as a share of its terms."""
        found = np.zeros(len(self.problem.surfaces))
        terms = np.abs(self.x) + np.abs(self.problem.free)
        for k, s in enumerate(self.problem.surfaces):
            size = float(np.abs(s.n) @ terms) + abs(s.least)
            found[k] = (float(s.n @ self.x) - s.least) / (size or 1.0)
        return found


@dataclass(frozen=True)
class Whole:
    """The mode of all surfaces, the families of those that depend on each other, and those that are idle."""

    mode: Mode
    families: tuple[Family, ...]
    idle: tuple[int, ...]
    jammed: tuple[int, ...]
    """Surfaces that might press against each other though they need not: their forces are not unique."""


def dependent_mode(problem: Nonsmooth, one: Solution) -> tuple[Mode, Dependent | None, Bools]:
    """The mode of a solution with all contacts closed that others hold, and what is not unique in it.

    Contacts that would wedge each other are left unloaded: which, as the third.
    """
    none = np.zeros(len(problem.laws), dtype=bool)
    if lay_out(problem).regular:
        return one.mode, None, none
    mode = closed_mode(problem, one, stand=True)
    family = family_of(problem, one, mode)
    if family is None:
        return one.mode, None, none
    p = family.layout
    taking = np.abs(family.impulses).max(axis=1) > FREE * np.abs(family.impulses).max()
    held = one.mode.held | (mode.held & taking[p.n.clip(max=p.r - 1)])
    if (held == one.mode.held).all() or wedges(family, mode):
        return one.mode, family_of(problem, one, one.mode), held & ~one.mode.held
    if (held == mode.held).all():
        return mode, family, none
    stick = np.where(held, mode.stick, one.mode.stick)
    mode = Mode(held, stick, np.where(held[:, None], mode.along, one.mode.along))
    return mode, family_of(problem, one, mode), none


def wedges(family: Dependent, mode: Mode) -> bool:
    """Whether contacts may press against each other as hard as they like: without need they do not."""
    from scipy.optimize import linprog

    p, members = family.layout, np.vstack([family.impulses, np.zeros((1, family.impulses.shape[1]))])
    held = mode.held & ~p.bilateral
    asked = [members[p.n[held]]]
    for i in np.flatnonzero(mode.stick):
        shrink, ways = polygon(p.tangents[i])
        asked += [shrink * p.static[i] * members[p.n[i]] - ways @ members[p.t[i]]]
    load = members[p.n[held]].sum(axis=0)
    program = linprog(-load, -np.vstack(asked), np.zeros(sum(map(len, asked))), bounds=(-1, 1))
    return program.status == 0 and -float(program.fun) > FREE * float(np.abs(load).max(initial=0.0))


def words(problem: Problem, mode: Mode) -> tuple[str, ...]:
    """A mode of the nonsmooth problem in words, surface by surface; slips in space go forth."""
    found = []
    for k, s in enumerate(problem.surfaces):
        word = CLOSED
        if len(s.t):
            word = STICK if mode.stick[k] else FORTH
            if word == FORTH and (len(s.t) == 1 or s.slips):
                push = mode.along[k, 0] if len(s.t) == 1 else -1.0
                word = BACK if push > 0 else FORTH
        if s.law.normal == "unilateral" and not mode.held[k]:
            word = LEFT[word] if s.law.low > 0 else OPEN
        found.append(word)
    return tuple(found)


def aimed(problem: Problem, names: tuple[str, ...], ways: Mapping[int, Array]) -> Problem:
    """The problem with known directions of all slips of a mode; in space those of `ways`."""
    surfaces = list(problem.surfaces)
    for k, (s, name) in enumerate(zip(problem.surfaces, names, strict=True)):
        if name not in SIGN or s.slips or not len(s.t):
            continue
        if len(s.t) == 1:
            surfaces[k] = replace(s, law=replace(s.law, way=(SIGN[name],)))
        elif k in ways:
            surfaces[k] = replace(s, law=replace(s.law, way=(float(ways[k][0]), float(ways[k][1]))))
    return replace(problem, surfaces=tuple(surfaces))


def mode_of(problem: Problem, names: tuple[str, ...], ways: Mapping[int, Array]) -> Mode:
    """The mode of words; `ways` are directions of slips in space, of surfaces that do not slip already."""
    held = np.array([name not in LEAVES for name in names], dtype=bool)
    stick = np.array([name in STICKS for name in names], dtype=bool)
    along = np.zeros((len(names), 2))
    for k, (s, name) in enumerate(zip(problem.surfaces, names, strict=True)):
        if s.slips:
            along[k, : len(s.t)] = -np.array(s.law.way)
        elif name in SIGN:
            along[k] = -ways[k] if k in ways else [-SIGN[name], 0.0]
    return Mode(held, stick, along)
