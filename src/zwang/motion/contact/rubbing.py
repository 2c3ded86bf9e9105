"""The friction of a motion's contacts: which of them stick and which slide."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

import numpy as np

from zwang.arrays import EPS, Array
from zwang.engines.task import Status
from zwang.lowering.contact import Friction, across_rows, slip_rows
from zwang.motion.contact.acting import acting
from zwang.motion.contact.decide import SOON, moment_later
from zwang.motion.contact.directions import aimed
from zwang.motion.contact.impact import Stop
from zwang.motion.contact.problem import BACK, CLOSED, FORTH, OPEN, SIGN, STICK, Found, Problem, Surface
from zwang.motion.contact.rough import MOST_MODES, admitted, different, idle, interval, margins, solved
from zwang.motion.contact.scales import LINGERS
from zwang.motion.contact.search import searched
from zwang.motion.contact.shares import Shares, shares_of
from zwang.motion.contact.space import tried, unit
from zwang.motion.contact.together import soon, undecided
from zwang.motion.setup import Setup
from zwang.motion.start import State
from zwang.words import listed

SLIPS = 1e-9  # of the speeds that make it up: a slip above is one
ROUNDED_SLIP = 4 * EPS  # of the largest speeds that have made it up: a slip below is rounding
ABOUT = 100.0  # times the speed of faint flights: a slip that is no faster ends with them
STOPS = 1e-7  # of the usual speed: a slip in space that is no faster comes to rest, or passes by
SLOWER = 1 / 8  # of a slip in space that comes to its end is left where it is looked at again
ENDS = 0.25  # of a slip in space: what its rate leaves of it where it is least, if it is about to end
SOONER = 0.1  # of how long a slip in space lasts: what contacts do is not looked at later
VEERS = 1e-6  # of the usual speed: by this a slip in space that begins is turned its way
NO_SLIP = 1e-12  # of the largest speeds: what is added to a slip that begins
HELD_FAST = 1e-11  # of the bound of sticking: what is added to a reserve that begins at zero


@dataclass(frozen=True)
class RoughDecision:
    """Contacts by what they do from here on: signs of slips are 0 for those that stick."""

    pushing: tuple[int, ...]
    resting: tuple[int, ...]
    """Closed, for those that push leave them no choice: without a force, or with one that they share."""
    opening: tuple[int, ...]
    signs: dict[int, float]
    shares: Shares | None = None
    sides: Mapping[int, float] = field(default_factory=dict)
    """Signs of the multipliers of guides."""
    ways: Mapping[int, Array] = field(default_factory=dict)
    """Directions (2,) of slips in space that begin."""


class Rubbing:
    """The friction of one motion."""

    def __init__(self, setup: Setup, friction: Mapping[int, tuple[float, float]], span: float) -> None:
        """Nothing is closed yet."""
        self.setup, self.friction, self.span = setup, friction, span
        assert setup.contact is not None
        self.rows, self.order = setup.contact.rows, list(slip_rows(setup.lowered))
        self.guides = setup.contact.guides
        self.sides: dict[int, float] = dict.fromkeys(self.guides, 1.0)
        self.rest = np.zeros(len(self.guides))
        self.space = list(across_rows(setup.lowered))
        self.ways: dict[int, Array] = {}
        """Directions of slips in space that begin."""
        self.misses: dict[int, float] = {}
        """Slips in space that have come near to zero and did not vanish: how near is looked at next."""
        self.headed: dict[int, Array] = {}
        """Directions of slips in space that have vanished."""
        self.veer, self.head = np.zeros((2, len(self.space), 2))
        self.shares: Shares | None = None
        self.unproven: set[int] = set()
        """Contacts of modes that were found without trying all: that there is no other was not shown."""
        self.signs: dict[int, float] = {}
        self.grip = np.zeros(len(self.order))
        self.pace = np.zeros(len(self.order))
        self.rush = np.zeros(len(self.order))
        """Slips that accelerations may make in a moment: before anything has moved, there is nothing else to go by."""
        self.fastest = np.zeros(len(setup.system.coordinates))
        """The largest speeds of coordinates where something was decided."""
        self.begins = np.zeros(len(self.order), dtype=bool)
        self.caught: set[int] = set()
        """Contacts that stick since an impact: what is left of their slips is rounding."""
        self.spent = False
        """Whether contacts in space that share a load cannot any more."""
        self.stops = max(STOPS, float(np.sqrt(setup.tol)))
        """Of the usual speed: a slip in space that is no faster comes to its end; errors of the motion are smaller."""

    def held(self, signs: Mapping[int, float] | None = None) -> Friction | None:
        """The numbers that hold the present mode; None if nothing rubs."""
        if not self.order:
            return None
        signs = self.signs if signs is None else signs
        sticks = np.array([float(signs.get(i) == 0) for i in self.order])
        slides = np.array([signs.get(i, 0.0) for i in self.order])
        mu_s, mu_k = np.array([self.friction[i] for i in self.order]).T
        size = len(self.rows) + len(self.guides) + len(self.order) + len(self.space)
        masks, shares, beside = sticks, np.eye(size), np.zeros(size)
        across = np.array([float(signs.get(i) == 0) for i in self.space])
        if self.shares is not None:
            masks = np.array([float(i in self.shares.slips) for i in self.order])
            across = np.array([float(i in self.shares.across) for i in self.space])
            shares, beside = self.shares.matrix, self.shares.beside
        sides = np.array([self.sides.get(i, 1.0) for i in self.order])
        return Friction(
            tuple(self.order), sticks, masks, slides, mu_s, mu_k, self.grip, shares, beside, sides, self.rest,
            self.guides, self.veer, tuple(self.space), across, self.head,
        )  # fmt: skip

    @property
    def lingers(self) -> bool:
        """Whether a slip has just begun, and is rounding for a while."""
        return any(self.begins[k] and self.signs.get(i) for k, i in enumerate(self.order))

    def backwards(self, state: State) -> set[int]:
        """Contacts that were to slide one way and have gone the other: what pushed them only touched its bound."""
        plane = [(k, i) for k, i in enumerate(self.order) if i not in self.space]
        sliding = [(k, i, sign) for k, i in plane if (sign := self.signs.get(i))]
        return {i for k, i, sign in sliding if sign * self.slip(state, i)[0] < -self.no_slip(k)}

    def loosen(self, state: State, forces: Mapping[int, float], slips: Mapping[int, int]) -> None:
        """What is added to slips and reserves that begin in the rounding of zero."""
        self.grip, self.begins = np.zeros(len(self.order)), np.zeros(len(self.order), dtype=bool)
        self.veer, self.head = np.zeros((2, len(self.space), 2))
        across = across_rows(self.setup.lowered)
        for k, i in enumerate(self.order):
            sign = self.signs.get(i)
            if sign and i in across:
                self.watch_slip(state, k, i)
            elif sign == 0:
                bound = (self.friction[i][0] * forces[i]) ** 2
                reserve = bound - forces[slips[i]] ** 2 - (forces[across[i]] ** 2 if i in across else 0.0)
                if reserve <= HELD_FAST * bound:
                    self.grip[k] = HELD_FAST * bound + 2 * max(-reserve, 0.0)
            elif sign is not None:
                speed, _ = self.slip(state, i)
                if sign * speed <= LINGERS * self.usual(k):
                    self.grip[k], self.begins[k] = self.no_slip(k) + 2 * max(-sign * speed, 0.0), True

    def watch_slip(self, state: State, k: int, i: int) -> None:
        """A slip in space is watched along its direction; one that begins is turned its way, and not watched yet.

        Its size would only touch zero where it ends, and a long step may pass that by.
        """
        speed, usual = self.slip(state, i)[0], self.usual(k)
        if i in self.ways and speed <= LINGERS * usual:
            self.grip[k], self.begins[k] = 1.0, True
            self.veer[self.space.index(i)] = VEERS * usual * self.ways[i]
            return
        self.ways.pop(i, None)
        near = min(self.stops * usual, self.misses.get(i, np.inf))
        self.grip[k] = -min(near, speed / 2)
        self.head[self.space.index(i)] = unit(self.setup.slips(state)["slip"][self.places(i)])

    def is_small(self, state: State, i: int) -> bool:
        """Whether a slip in space is about to end, or to pass zero by; one that was watched may have turned instead."""
        return self.slip(state, i)[0] <= 2 * self.stops * self.usual(self.order.index(i))

    def slow_in(self, state: State, i: int, a: Array) -> float | None:
        """How long until a slip in space is slow, at the rate that accelerations give it; none if it does not slow.

        One that turns meanwhile is looked at again when it has lost about half of its speed.
        """
        if not self.signs.get(i) or self.begins[self.order.index(i)] or self.is_small(state, i):
            return None
        now, which = self.setup.slips(state), self.places(i)
        slip, rate = now["slip"][which], now["A"][which] @ a - now["b"][which]
        slows = -float(slip @ rate)
        if not slows > 0:
            return None
        tau = slows / float(rate @ rate)
        if np.hypot(*(slip + tau * rate)) <= ENDS * np.hypot(*slip):
            return (1 - SLOWER) * tau
        return float(slip @ slip) / slows / 2

    def turns(self, i: int) -> bool:
        """Whether a slip in space that has vanished begins again the other way."""
        return i in self.ways and i in self.headed and float(self.ways[i] @ self.headed[i]) < 0

    def usual(self, k: int) -> float:
        """How fast a slip usually is; before anything has moved, what accelerations may make of it."""
        return float(max(self.pace[k], self.rush[k] / SOON))

    def no_slip(self, k: int) -> float:
        """A slip that is none as far as can be seen."""
        return float(NO_SLIP * max(self.pace[k], self.rush[k]))

    def slip(self, state: State, i: int) -> tuple[float, float]:
        """The slip of a contact at a state, and the size of its terms; in space, the length of it."""
        k, now = self.order.index(i), self.setup.slips(state)
        which = self.places(i)
        sizes = np.abs(now["A"][which]) @ np.abs(state[2])
        sizes += np.abs(now["slip"][which] - now["A"][which] @ state[2])
        size, speed = float(np.linalg.norm(sizes)), float(now["slip"][k])
        if len(which) > 1:
            speed = float(np.linalg.norm(now["slip"][which]))
        self.pace[k] = max(self.pace[k], size)
        return speed, size

    def places(self, i: int) -> list[int]:
        """Where the slips of a contact are among all of them: one, or in space two."""
        second = [len(self.order) + self.space.index(i)] if i in self.space else []
        return [self.order.index(i), *second]

    def slow(self, state: State, speed: float) -> Iterator[tuple[int, Array, float]]:
        """Contacts whose slips are no faster than about a speed, with the rows of their slips and these."""
        now = self.setup.slips(state)
        for i in self.order:
            which = self.places(i)
            if np.linalg.norm(now["slip"][which]) <= ABOUT * speed:
                yield from ((i, now["A"][at], float(now["slip"][at])) for at in which)

    @property
    def equal(self) -> list[int]:
        """Equalities without friction."""
        constraints = self.setup.system.constraints
        return [i for i, c in enumerate(constraints) if not c.one_sided and i not in self.guides]

    def orientations(self) -> Iterator[dict[int, float]]:
        """The signs that the multipliers of guides may have: with one of them a guide is a contact that is closed."""
        return (dict(zip(self.guides, signs, strict=True)) for signs in product((1.0, -1.0), repeat=len(self.guides)))

    def problem(
        self, state: State, may: Mapping[int, tuple[str, ...]], slipping: Set[int],
        sides: Mapping[int, float] | None = None, on: Sequence[int] | None = None,
    ) -> Problem:  # fmt: skip
        """The modes of closed contacts at a state, for accelerations; guides push the way their sides say.

        `on` are switches at zero, if these are known.
        """
        now, slips = self.setup.matrices(*state), self.setup.slips(state)
        equal, sides = self.equal, self.sides if sides is None else sides
        surfaces = []
        for i, states in may.items():
            t, b, second = self.tangent(slips, i, i in slipping) if i in self.friction else (None, 0.0, (None, 0.0))
            mu_s, mu_k = self.friction.get(i, (0.0, 0.0))
            side = sides.get(i, 1.0)
            surfaces.append(
                Surface(
                    i, side * now.A[i], side * float(now.b[i]), t, b, mu_s, mu_k, states, i in slipping, 0.0, *second,
                    side,
                )
            )  # fmt: skip
        law = acting(self.setup, state, now, self.span, on)
        return Problem(now.M, now.Q + now.C, now.A[equal], now.b[equal], tuple(surfaces), tuple(equal), law)

    def tangent(
        self, slips: Mapping[str, Array], i: int, slipping: bool
    ) -> tuple[Array, float, tuple[Array | None, float]]:
        """The row of a slip and its right-hand side, and the second one of a slip in space that has no direction."""
        which = self.places(i)
        rows, right = slips["A"][which], slips["b"][which]
        if len(which) == 1 or not slipping:
            second = (rows[1], float(right[1])) if len(which) > 1 else (None, 0.0)
            return rows[0], float(right[0]), second
        d = self.ways[i] if i in self.ways else unit(slips["slip"][which])
        return d @ rows, float(d @ right), (None, 0.0)

    def decide(
        self, state: State, closed: Set[int], lifted: Set[int], broken: Mapping[int, float], stopped: Set[int]
    ) -> RoughDecision:
        """What closed contacts do from a state on.

        Those that have just lifted are open, those that have broken loose slide the way they were pushed, and those
        that have stopped have no slip.
        """
        self.fastest = np.maximum(self.fastest, np.abs(state[2]))
        self.ways = {i: way for i, way in self.ways.items() if i in broken}
        self.misses = {}
        may, slipping = self.candidates(state, closed, lifted, broken, stopped)
        here = self.problem(state, may, slipping)
        on = here.law.on if here.law else ()
        many = here.count * 2 ** len(self.guides) > MOST_MODES
        if many and (self.guides or self.space) and len(undecided(here)) < 2:
            raise Stop(Status.CHATTERING, f"{len(closed)} contacts with friction are too many to be told apart there.")
        self.hurry(state, here)
        if len(undecided(here)) > 1:
            return self.decide_together(state, may, slipping, on)
        kept: list[Found] = []
        theirs: dict[int, tuple[Problem, Problem, dict[int, float], dict[int, Array]]] = {}
        for sides in self.orientations():
            here = self.problem(state, may, slipping, sides, on) if self.guides else here

            def attempt(
                mode: tuple[str, ...], here: Problem = here, sides: dict[int, float] = sides
            ) -> tuple[Problem, Found | None, Found | None]:
                said: tuple[Problem, Found | None, Found | None] = (here, None, None)
                for now, at, ways in tried(here, mode):
                    later_on = self.later(state, slipping, at.x)
                    there = aimed(self.problem(later_on, may, slipping, sides, on), ways)
                    later = solved(there, mode)
                    found = admitted(there, later)
                    if found is not None:
                        same = (admitted(now, at) or found) if found.moves else at  # compared at one instant
                        kept.append(replace(found, x=same.x))
                        begins = {here.surfaces[k].row: way for k, way in ways.items()}
                        theirs[id(kept[-1])] = now, there, sides, begins
                    said = there, later, found
                return said

            if many:
                searched(here, attempt)
                self.unproven |= closed
                continue
            for mode in here.modes():
                attempt(mode)
        kept = different(here, kept)
        for found in kept:
            self.require_unique(theirs[id(found)][1], found)
        if len(kept) != 1:
            return self.decision(here, kept, sides)
        here, _, sides, begin = theirs[id(kept[0])]
        return replace(self.decision(here, kept, sides), ways=self.ways | begin)

    def later(self, state: State, slipping: Set[int], a: Array, moments: float = 1.0) -> State:
        """The state a moment later, in which no slip in space turns round."""
        now, most = self.setup.slips(state), np.inf
        for i in slipping & {*self.space}:
            which = self.places(i)
            slip, rate = now["slip"][which], now["A"][which] @ a - now["b"][which]
            if i not in self.ways and float(slip @ rate) < 0:
                most = min(most, SOONER * float(np.hypot(*slip)) / float(np.hypot(*rate)))
        return moment_later(state, a, self.span, moments, most)

    def hurry(self, state: State, here: Problem) -> None:
        """See what slips accelerations may make in a moment."""
        moment = moment_later(state, here.free, self.span)[0] - state[0]
        for surface in here.surfaces:
            if surface.t is not None:
                k = self.order.index(surface.row)
                self.rush[k] = max(self.rush[k], float(np.abs(surface.t) @ np.abs(here.free)) * moment)

    def decide_together(
        self, state: State, may: Mapping[int, tuple[str, ...]], slipping: Set[int], on: Sequence[int]
    ) -> RoughDecision:
        """What closed contacts do where several in space may stick or begin to slide."""
        before = tuple(self.word(i) for i in may) if self.spent else None
        kept, self.spent = [], False
        for sides in self.orientations():
            at = partial(self.problem, may=may, slipping=slipping, sides=sides, on=on)
            later = partial(self.later, state, slipping)
            kept += [(one, ways, sides) for one, ways in soon(at, state, later, before)]
        self.unproven |= {*may}
        here = self.problem(state, may, slipping)
        one_of_each = different(here, [one.found for one, _, _ in kept])
        kept = [entry for entry in kept if any(entry[0].found is found for found in one_of_each)]
        for one, _, _ in kept:
            self.require_unique(one.problem, one.found)
        if len(kept) != 1:
            return self.decision(here, one_of_each, self.sides)
        one, ways, sides = kept[0]
        here = aimed(self.problem(state, may, slipping, sides), ways)
        begin = {here.surfaces[k].row: way for k, way in ways.items()}
        return replace(self.decision(here, one_of_each, sides), ways=self.ways | begin)

    def word(self, i: int) -> str:
        """What a closed contact does at present."""
        return {1.0: FORTH, -1.0: BACK, 0.0: STICK}[self.signs[i]] if i in self.signs else CLOSED

    def candidates(
        self, state: State, closed: Set[int], lifted: Set[int], broken: Mapping[int, float], stopped: Set[int]
    ) -> tuple[dict[int, tuple[str, ...]], set[int]]:
        """What closed contacts and guides may do from a state on, and which of them slip already."""
        may: dict[int, tuple[str, ...]] = {}
        slipping: set[int] = set()
        for i in sorted({*closed, *self.guides}):
            way = self.way(state, i, broken, stopped) if i in self.friction else None
            if i in lifted:
                may[i] = (OPEN,)
            elif i not in self.friction:
                may[i] = (OPEN, CLOSED)
            elif way is None:
                may[i] = (OPEN, STICK, FORTH) if i in self.space else (OPEN, STICK, FORTH, BACK)
            else:
                may[i] = (OPEN, FORTH if way > 0 else BACK)
                slipping.add(i)
            if i in self.guides:
                may[i] = may[i][1:]
        return may, slipping

    def require_unique(self, problem: Problem, found: Found) -> None:
        """Stop where how contacts share their load, which is not known, decides on the motion."""
        if (several := interval(problem, found)) is None:
            return
        i, low, high = several
        names, coordinates = self.setup.system.constraint_names, self.setup.system.coordinate_names
        who = listed([repr(names[s.row]) for s, mode in zip(problem.surfaces, found.mode, strict=True) if mode != OPEN])
        words = (
            f"How {who} share their load is not known there, and with friction the motion depends on it: the "
            f"acceleration of {coordinates[i]} may be anything from {low:.6g} to {high:.6g}."
        )
        raise Stop(Status.SEVERAL_SOLUTIONS, words)

    def way(self, state: State, i: int, broken: Mapping[int, float], stopped: Set[int]) -> float | None:
        """The sign of the slip of a contact; None if it has none."""
        if i in broken:
            return broken[i]
        speed, size = self.slip(state, i)
        k = self.order.index(i)
        rounding = ROUNDED_SLIP * float(np.abs(self.setup.slips(state)["A"][k]) @ self.fastest)
        still = abs(speed) <= max(SLIPS * size, rounding)
        return None if i in stopped or still else float(np.sign(speed))

    def decision(self, problem: Problem, kept: list[Found], sides: Mapping[int, float]) -> RoughDecision:
        """The one solution there is; none, or several, stop the motion by name."""
        names = self.setup.system.constraint_names
        if len(kept) == 1:
            states = {s.row: state for s, state in zip(problem.surfaces, kept[0].mode, strict=True)}
            pushing = tuple(i for i, state in states.items() if state != OPEN and i not in self.guides)
            signs = {i: SIGN.get(states[i], 0.0) for i in (*pushing, *self.guides) if i in self.friction}
            resting = tuple(problem.surfaces[k].row for k in idle(problem, kept[0]))
            opening = tuple(i for i in states if i not in (*pushing, *resting, *self.guides))
            here = solved(problem, kept[0].mode)
            every = (*self.rows, *self.guides), self.order, self.space
            shares = shares_of(problem, here, *every, sides) if here else None
            if shares is not None:
                resting = (*resting, *(i for i in pushing if i not in shares.normals))
                pushing = tuple(i for i in pushing if i in shares.normals)
            return RoughDecision(pushing, resting, opening, signs, shares, sides)
        said = [
            f"{names[i]!r} (μ = {self.friction[i][1]:g}, margin {margin:.3g})" for i, margin in margins(problem)
        ] or [repr(names[s.row]) for s in problem.surfaces]
        what = listed(list(dict.fromkeys(said)))
        if not kept and problem.count > MOST_MODES:
            words = f"No acceleration that obeys the friction of {what} was found; there are too many modes to try all."
            raise Stop(Status.NO_SOLUTION, words)
        if not kept:
            raise Stop(Status.NO_SOLUTION, f"No acceleration obeys the friction of {what}, as in Painlevé's paradox.")
        raise Stop(
            Status.SEVERAL_SOLUTIONS,
            f"{len(kept)} accelerations obey the friction of {what}: {listed([' and '.join(f.mode) for f in kept])}.",
        )
