"""The friction of a motion's contacts: which of them stick and which slide."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np

from zwang.arrays import EPS, Array
from zwang.engines.task import Status
from zwang.lowering.contact import Friction, across_rows, slip_rows
from zwang.motion.contact.acting import acting
from zwang.motion.contact.decide import OPENS, SOON, moment_later
from zwang.motion.contact.impact import Stop
from zwang.motion.contact.problem import BACK, CLOSED, FORTH, OPEN, SIGN, STICK, Found, Problem, Surface, frictionless
from zwang.motion.contact.resolve import Resolved, interval, resolve, solved
from zwang.motion.contact.scales import LINGERS
from zwang.motion.contact.shares import Shares, follows, shares_of
from zwang.motion.setup import Setup
from zwang.motion.start import State
from zwang.nonsmooth import coulomb, guide, push, respond
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
FARTHER = (100.0, 1e3, 1e4)  # moments ahead at which it is looked what a mode gives way to
TRIED = "closed contacts were tried, then ones that give way ever less, and sweeps"
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
    loose: frozenset[int] = frozenset()
    """Contacts whose forces are not unique."""


class Rubbing:
    """The friction of one motion."""

    def __init__(
        self, setup: Setup, friction: Mapping[int, tuple[float, float]], span: float, split: str = "compliant"
    ) -> None:
        """Nothing is closed yet. `split` says what is done where the motion depends on how contacts share their load.

        With "compliant" it goes on as if they gave way alike, with "refuse" it stops there.
        """
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
        self.split = split
        self.compliant = ""
        """How the motion first depended on that, in words."""
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

    def problem(
        self, state: State, closed: Iterable[int], slipping: Mapping[int, float], on: Sequence[int] | None = None
    ) -> Problem:
        """What closed contacts and guides obey at a state, for accelerations.

        Of those that slip the signs are known. `on` are switches at zero, if these are known.
        """
        now, slips = self.setup.matrices(*state), self.setup.slips(state)
        surfaces = []
        for i in closed:
            normal, right = now.A[i], float(now.b[i])
            if i not in self.friction:
                surfaces.append(frictionless(i, normal, right, push()))
                continue
            which, (mu_s, mu_k) = self.places(i), self.friction[i]
            way = self.direction(slips["slip"][which], i, slipping[i]) if i in slipping else ()
            kind = guide if i in self.guides else coulomb
            law = kind(mu_k, len(which), mu_s, way=way)
            surfaces.append(Surface(i, normal, right, slips["A"][which], slips["b"][which], law))
        forces, equal = acting(self.setup, state, now, self.span, on), self.equal
        return Problem(now.M, now.Q + now.C, now.A[equal], now.b[equal], tuple(surfaces), tuple(equal), forces)

    def direction(self, slip: Array, i: int, sign: float) -> tuple[float, ...]:
        """The direction of a slip that there is, or that is known to begin."""
        if len(slip) == 1:
            return (sign,)
        x, y = self.ways[i] if i in self.ways else unit(slip)
        return (float(x), float(y))

    def decide(
        self, state: State, closed: Set[int], lifted: Set[int], broken: Mapping[int, float], stopped: Set[int]
    ) -> RoughDecision:
        """What closed contacts do from a state on.

        Those that have just lifted are open, those that have broken loose slide the way they were pushed, and those
        that have stopped have no slip. At the instant itself that may be undecided: so they are asked a moment later,
        where the motion goes.
        """
        self.fastest = np.maximum(self.fastest, np.abs(state[2]))
        self.ways = {i: way for i, way in self.ways.items() if i in broken}
        self.misses = {}
        may = sorted({*closed, *self.guides})
        ways = {i: self.way(state, i, broken, stopped) for i in may if i in self.friction}
        slipping = {i: way for i, way in ways.items() if way is not None}
        may = [i for i in may if i not in lifted]
        slipping = {i: way for i, way in slipping.items() if i not in lifted}
        here = self.problem(state, may, slipping)
        on = here.law.on if here.law else ()
        self.hurry(state, here)
        excluded = tuple(self.word(i) for i in may) if self.spent else None
        self.spent = False
        first = resolve(here).found
        x, begin = (here.free, None) if first is None else (first.x, first.solution.mode)
        for ahead in FARTHER if excluded else (1.0,):
            later = self.later(state, {*slipping}, x, ahead)
            way = resolve(self.problem(later, may, slipping, on), begin)
            if way.found is None or way.found.mode != excluded:
                break
        self.unproven |= {*way.unproven}
        if way.found is None or way.several:
            raise self.undecided(here, way)
        self.note_interval(way.found, state[0])
        gone = {i for i in lifted & closed if not self.stays(later, i, way.found)}
        return self.decision(here, first, way.found, gone, lifted & closed - gone)

    def stays(self, state: State, i: int, found: Found) -> bool:
        """Whether a contact that has lifted stays closed all the same, because its row follows from those that hold."""
        now = self.setup.matrices(*state)
        size = float(np.abs(now.A[i]) @ (np.abs(found.x) + np.abs(found.problem.free)) + abs(now.b[i]))
        return abs(float(now.A[i] @ found.x - now.b[i])) <= OPENS * size and follows(found, now.A[i])

    def undecided(self, here: Problem, way: Resolved) -> Stop:
        """Why it is not known what contacts do, in words."""
        names = self.setup.system.constraint_names
        if way.several:
            which, modes = way.several[0]
            words = f"{len(modes)} accelerations obey the friction of {self.with_margins(here, which)}: "
            return Stop(Status.SEVERAL_SOLUTIONS, f"{words}{listed([' and '.join(mode) for mode in modes])}.")
        lost = [margin <= 0 for _, margin in margins(here)]
        what = self.with_margins(here, way.none) or listed([repr(names[i]) for i in way.none])
        if way.impossible or any(lost):
            return Stop(Status.NO_SOLUTION, f"No acceleration obeys the friction of {what}, as in Painlevé's paradox.")
        return Stop(Status.UNDECIDED, f"No acceleration that obeys the friction of {what} was found; {TRIED}.")

    def with_margins(self, problem: Problem, which: Iterable[int]) -> str:
        """Contacts by their names, those that slide with coefficient and margin."""
        names, left = self.setup.system.constraint_names, dict(margins(problem))
        return listed([
            f"{names[i]!r} (μ = {self.friction[i][1]:g}, margin {left[i]:.3g})" if i in left else repr(names[i])
            for i in which
        ])  # fmt: skip

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
            if len(surface.t):
                k = self.order.index(surface.row)
                self.rush[k] = max(self.rush[k], float(np.linalg.norm(np.abs(surface.t) @ np.abs(here.free))) * moment)

    def word(self, i: int) -> str:
        """What a closed contact does at present."""
        return {1.0: FORTH, -1.0: BACK, 0.0: STICK}[self.signs[i]] if i in self.signs else CLOSED

    def note_interval(self, found: Found, t: float) -> None:
        """Say where how contacts share their load, which is not known, decides on the motion; or stop there."""
        if (several := interval(found)) is None:
            return
        i, low, high = several
        names, coordinates = self.setup.system.constraint_names, self.setup.system.coordinate_names
        shared = {k for family in found.families for k in family.surfaces if family.moves and found.mode[k] != OPEN}
        who = listed([repr(names[found.problem.surfaces[k].row]) for k in sorted(shared)])
        spread = f"the acceleration of {coordinates[i]} may be anything from {low:.6g} to {high:.6g}"
        if self.split == "refuse":
            raise Stop(
                Status.SEVERAL_SOLUTIONS,
                f"How {who} share their load is not known there, and with friction the motion depends on it: {spread}.",
            )
        self.compliant = self.compliant or (
            f"Not vouched for: how {who} share their load decides on the motion from t = {t:.9g} on: {spread}; they "
            f"share it as if they gave way alike."
        )

    def way(self, state: State, i: int, broken: Mapping[int, float], stopped: Set[int]) -> float | None:
        """The sign of the slip of a contact; None if it has none."""
        if i in broken:
            return broken[i]
        speed, size = self.slip(state, i)
        k = self.order.index(i)
        rounding = ROUNDED_SLIP * float(np.abs(self.setup.slips(state)["A"][k]) @ self.fastest)
        still = abs(speed) <= max(SLIPS * size, rounding)
        return None if i in stopped or still else float(np.sign(speed))

    def decision(
        self, here: Problem, first: Found | None, found: Found, lifted: Set[int], idle: Set[int]
    ) -> RoughDecision:
        """What contacts do that do as found a moment later, from the problem here on."""
        surfaces, mode = found.problem.surfaces, found.mode
        same = first is not None and first.mode == mode
        begin = first.ways if first is not None and same else found.ways
        states = {s.row: state for s, state in zip(surfaces, mode, strict=True)}
        pushing = tuple(i for i, state in states.items() if state != OPEN and i not in self.guides)
        signs = {i: SIGN.get(states[i], 0.0) for i in (*pushing, *self.guides) if i in self.friction}
        resting = (*(surfaces[k].row for k in found.idle), *idle)
        opening = (*(i for i, state in states.items() if state == OPEN and i not in resting), *lifted)
        sides = self.sides_of(found)
        at = solved(here, mode, begin)
        shares = None if at is None else shares_of(at, (*self.rows, *self.guides), self.order, self.space, sides)
        loose = frozenset(surfaces[k].row for k in found.jammed)
        if shares is not None:
            resting = (*resting, *(i for i in pushing if i not in shares.normals))
            pushing = tuple(i for i in pushing if i in shares.normals)
            loose |= shares.loose
        began = {surfaces[k].row: way for k, way in begin.items() if not surfaces[k].slips}
        return RoughDecision(pushing, resting, opening, signs, shares, sides, self.ways | began, loose)

    def sides_of(self, found: Found) -> dict[int, float]:
        """The signs of the multipliers of guides."""
        normals = zip(found.problem.surfaces, found.normal, strict=True)
        return {s.row: float(np.sign(f)) or 1.0 for s, f in normals if s.row in self.guides}


def margins(problem: Problem) -> list[tuple[int, float]]:
    """1 − μ d·W_TN/W_NN of contacts that can only slide along d: what is not positive is Painlevé's paradox."""
    rows, targets = problem.rows
    found = respond(problem.M, problem.equal, problem.right, problem.Q, rows, targets)
    if found is None:
        return []
    return [
        (s.row, 1 - s.law.mu * float(np.array(s.law.way) @ found.W[at + 1 : at + 1 + len(s.t), at]) / found.W[at, at])
        for s, at in zip(problem.surfaces, problem.first, strict=True)
        if s.slips and found.W[at, at] > 0
    ]


def unit(x: Array) -> Array:
    """A direction of unit length; along the first axis if there is none."""
    length = float(np.hypot(*x))
    return x / length if length > 0 else np.array([1.0, 0.0])
