"""What forces at switches do to their rates, as far as that tells which rest and how: dense, or for many in loops."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zwang.arrays import Array
from zwang.lowering.locked import NOT_HELD
from zwang.lowering.rolled.along import OBLIQUE
from zwang.lowering.rows import DAMPING
from zwang.motion.at_switch import Answers, AtSwitch, InLoops, State
from zwang.nonsmooth.layout import OBEYS

ERRORS = 100.0  # in tolerances, that the argument of a switch that follows others may have
IDLE = 1e-12  # of a unit diagonal: a singular value that is less is none
NO_JUMP = 1e-11  # of the terms of a rate: a jump by less is none
# Of its pivot alone: a row that others leave less of may depend on them, and all that rest are damped.
LEFT_ALONE = 1e-3
FARTHER = 1e3  # times as far: what is not near by masses alone is not near with constraints

MULTIPLY = "their forces multiply"


@dataclass(frozen=True)
class Directions:
    """Of the switches that may rest: J = ∂ṡ/∂q̈ and D = ∂q̈/∂σ (k, n), and forces c (k,), of which G is −c Jᵀ."""

    which: list[int]
    J: Array
    D: Array
    c: Array
    sense: float

    @classmethod
    def of(cls, course: AtSwitch, state: State) -> "Directions":
        """At a state, with no switch at rest: whatever rests, they are the same but for multipliers in forces."""
        out = course.evaluated(course.along.shares, at_no_rest(course), state)
        return cls(course.along.which, out["row"], out["response"], np.abs(out["grip"]), course.sense)

    @property
    def place(self) -> Mapping[int, int]:
        """Where each switch is among those that may rest."""
        return {i: k for k, i in enumerate(self.which)}

    def together(self, some: Sequence[int], among: Sequence[int]) -> list[int]:
        """Those of some switches whose rates forces at given ones may change, and theirs in turn: all of a few."""
        return [*among]

    def forces(self, some: Sequence[int]) -> Array:
        """(k,) how large c of switches is, by which rates count; 1 where no part of a force is along its rate."""
        c = self.c[[self.which.index(i) for i in some]]
        return np.where(c > 0, c, 1.0)

    def responses(self, some: Sequence[int]) -> Array:
        """(k, k) how rates times `forces` fall with shares: symmetric where forces are along rates."""
        places = [self.which.index(i) for i in some]
        return self.every_response[np.ix_(places, places)]

    @cached_property
    def every_response(self) -> Array:
        """(k, k) those of all."""
        return evened(-self.sense * self.forces(self.which)[:, None] * (self.J @ self.D.T))

    def units(self, W: Array) -> Array:
        """(k,) in which shares have the least length, where rows depend on each other."""
        return np.ones(len(W))

    def pulls(self, some: Collection[int]) -> dict[int, float]:
        """By how much ṡ of some falls from one side to the middle between both."""
        every = dict(zip(self.which, (-self.sense * (self.J * self.D).sum(axis=1)).tolist(), strict=True))
        return {i: every[i] for i in some}

    def pushing(self, some: Iterable[int]) -> list[int]:
        """Of some switches those that forces on both sides push onto, each relative to the other."""
        terms = self.J * self.D
        onto = -self.sense * terms.sum(axis=1) > NO_JUMP * np.abs(terms).sum(axis=1)
        able = {i for i, pushes in zip(self.which, onto.tolist(), strict=True) if pushes}
        return [i for i in some if i in able]

    def refused(self, some: Collection[int]) -> str:
        """Why some of them cannot rest, if so."""
        return ""

    def near(self, values: Array, instant: float, but: Mapping[int, int]) -> list[int]:
        """The switches, but for some, whose speeds would stop within an instant."""
        pulls = self.pulls([i for i in self.which if i not in but])
        return [i for i, pull in pulls.items() if abs(values[i]) < pull * instant]

    def sizes(self, out: Mapping[str, Array]) -> Array:
        """(k,) how large the terms of the rates are, from what the program of shares says."""
        return np.asarray(np.abs(self.J) @ np.abs(out["acceleration"]))

    def hold(self, course: AtSwitch, modes: Array, rest: list[int]) -> None:
        """Say in modes who of the switches that rest leads."""
        count, which = course.count, self.which
        if len(rest) < 2:
            return
        lead, followers = self.followers(rest)
        for i, ratios in followers.items():
            k = which.index(i)
            speeds = self.J[k] * course.state[2][: self.J.shape[1]]
            modes[4 * count + i] = 0.0
            modes[2 * count + i] = ERRORS * course.task.tol * (1 + np.abs(speeds).sum())
            modes[[5 * count + k * len(which) + which.index(j) for j in lead]] = ratios

    def followers(self, some: Sequence[int]) -> tuple[list[int], dict[int, Array]]:
        """Of some switches those that lead, and the others, each with the ratios of its share to theirs.

        Where the responses W n are zero, shares n do nothing: those of least length are orthogonal to them. Singular
        values tell, in units in which every switch has a mobility of 1.
        """
        from scipy.linalg import qr

        W = self.responses(some)
        with np.errstate(all="ignore"):
            d = np.sqrt(np.diag(W))
            K = W / d / d[:, None]
        if not np.isfinite(K).all():
            return list(some), {}
        _, values, rows = np.linalg.svd(K)
        idle = rows[values < IDLE].T / d[:, None]
        if not idle.size:
            return list(some), {}
        whole, _ = np.linalg.qr(idle / np.linalg.norm(idle, axis=0), mode="complete")
        shares = whole[:, idle.shape[1] :]
        order = qr(shares.T, mode="economic", pivoting=True)[2]
        lead, others = order[: shares.shape[1]], order[shares.shape[1] :]
        ratios = np.linalg.solve(shares[lead].T, shares[others].T).T
        return [some[k] for k in lead], {some[k]: row for k, row in zip(others, ratios, strict=True)}


@dataclass(frozen=True)
class DirectionsInLoops:
    """The same of a model in loops: by one solution for each switch that is asked for, and never all at once."""

    course: AtSwitch
    programs: InLoops
    state: State
    grip: Array
    """(k,) c of G = −c Jᵀ, with its sign."""
    oblique: Array
    guess: Array
    """(k,) by how much ṡ falls, if masses were single numbers."""
    speeds: Array
    place: Mapping[int, int]

    @classmethod
    def of(cls, course: AtSwitch, programs: InLoops, state: State) -> "DirectionsInLoops":
        """At a state."""
        out = course.evaluated(course.along.shares, at_no_rest(course), state)
        place = {i: k for k, i in enumerate(course.along.which)}
        return cls(course, programs, state, out["grip"], out["oblique"], out["guess"], out["speed_size"], place)

    def pulls(self, some: Collection[int]) -> dict[int, float]:
        """By how much ṡ of some falls from one side to the middle between both."""
        found = self.mobilities(some)
        return {i: float(self.course.sense * self.grip[self.place[i]] * found[i]) for i in some}

    def mobilities(self, some: Collection[int]) -> dict[int, float]:
        """J K⁻¹ Jᵀ of some switches; 0 where constraints leave nothing."""
        return {i: own for i, (own, _, _) in self.answers(some).items()}

    def answers(self, some: Collection[int]) -> dict[int, Answers]:
        """The mobilities of some switches, and which rates their forces change and how. Of what rests it is known."""
        course, known = self.course, self.course.answers
        rests = course.rests(course.modes)
        new = [i for i in some if i not in known or not rests[i]]
        if new:
            picks = np.zeros((len(new), len(self.grip)))
            at = [self.place[i] for i in new]
            picks[range(len(new)), at] = 1.0
            out = course.evaluated(self.programs.response, at_no_rest(course), self.state, pick=picks)
            jumps = np.abs(out["rate"]) > NO_JUMP * out["size"]
            for i, own, rate, jump in zip(new, at, out["rate"], jumps, strict=True):
                others = np.flatnonzero(jump)
                known[i] = float(-rate[own] / self.grip[own]) if jump[own] else 0.0, others, rate[others]
        return {i: known[i] for i in some}

    def together(self, some: Sequence[int], among: Sequence[int]) -> list[int]:
        """Those of some switches whose rates forces at given ones change, and theirs in turn."""
        answers, which = self.answers(among), self.course.along.which
        found, left, able = {*some}, [*some], {*among}
        while left:
            for k in answers[left.pop()][1].tolist():
                if which[k] in able and which[k] not in found:
                    found.add(which[k])
                    left.append(which[k])
        return [i for i in among if i in found]

    def forces(self, some: Sequence[int]) -> Array:
        """(k,) how large c of switches is, by which rates count."""
        return np.abs(self.grip[[self.place[i] for i in some]])

    def responses(self, some: Sequence[int]) -> Array:
        """(k, k) how rates times `forces` fall with shares."""
        answers, columns = self.answers(some), np.zeros((len(some), len(self.grip)))
        for k, i in enumerate(some):
            _, others, rates = answers[i]
            columns[k, others] = rates
        places = [self.place[i] for i in some]
        return evened(-self.course.sense * (columns[:, places] * self.forces(some)).T)

    def units(self, W: Array) -> Array:
        """(k,) in which shares have the least length, where rows depend on each other: as these are damped (`hold`)."""
        own = np.diagonal(W)
        return np.sqrt(np.where(own > 0, own, 1.0))

    def pushing(self, some: Iterable[int]) -> list[int]:
        """Of some switches those that forces on both sides push onto, each relative to the other."""
        return [i for i, pull in self.pulls([i for i in some if i in self.place]).items() if pull > 0]

    def refused(self, some: Collection[int]) -> str:
        """Why some of them cannot rest, if so."""
        if all(self.oblique[self.place[i]] <= OBLIQUE for i in some):
            return ""
        if self.course.along.multiplied([*some]):
            return MULTIPLY
        return (
            "their forces are not along the speeds that they depend on, which large systems do not hold: let the force "
            "act on the coordinates of that speed, in its ratios"
        )

    def near(self, values: Array, instant: float, but: Mapping[int, int]) -> list[int]:
        """The switches, but for some, whose speeds would stop within an instant."""
        which = np.array(self.course.along.which)
        close = which[~(np.abs(values[which]) >= FARTHER * np.abs(self.guess) * instant)].tolist()
        pulls = self.pulls([i for i in close if i not in but])
        return [i for i, pull in pulls.items() if abs(values[i]) < pull * instant]

    def sizes(self, out: Mapping[str, Array]) -> Array:
        """(k,) how large the terms of the rates are, from what the program of shares says."""
        return out["rate_size"]

    def hold(self, course: AtSwitch, modes: Array, rest: list[int]) -> None:
        """Say in modes how rows of switches that rest are damped: not at all where they are independent."""
        count = course.count
        if not rest:
            return
        mobility, which = self.mobilities(rest), np.array(rest)
        modes[4 * count + which] = DAMPING * np.array([*mobility.values()])
        modes[2 * count + which] = ERRORS * course.task.tol * (1 + self.speeds[[self.place[i] for i in rest]])
        if not self.programs.damped and (len(rest) < 2 or self.independent(modes, mobility)):
            modes[4 * count : 5 * count] = 0.0

    def independent(self, modes: Array, mobility: Mapping[int, float]) -> bool:
        """Whether the rows of some switches are independent of each other and of constraints, as pivots have it."""
        out, rest = self.course.evaluated(self.course.along.shares, modes, self.state), [*mobility]
        places = [self.place[i] for i in rest]
        alone = self.grip[places] ** 2 * np.array([mobility[i] for i in rest])
        left = np.abs(out["switch"][places]) >= LEFT_ALONE * alone
        return bool(left.all() and (np.abs(out["held"]) >= LEFT_ALONE * np.abs(out["free"])).all())


AnyDirections = Directions | DirectionsInLoops


def evened(W: Array) -> Array:
    """A matrix without the rounding by which it is not symmetric; as it is, if it is not."""
    d = np.sqrt(np.abs(np.diagonal(W)))
    return (W + W.T) / 2 if (np.abs(W - W.T) <= OBEYS * d * d[:, None]).all() else W


def secants(course: AtSwitch, along: AnyDirections, sides: Mapping[int, int], some: Sequence[int]) -> Array:
    """(k, k) how rates times `forces` fall with shares, from one side of each switch to the other, by the programs.

    So they are where forces depend on multipliers, which change with shares.
    """
    count, place = course.count, [along.place[i] for i in some]
    leaves = {i: side or 1 for i, side in sides.items()}
    modes = np.tile(held(course, leaves, along), (len(some) + 1, 1))
    for k, i in enumerate(some):
        modes[k, [i, count + i]] *= -1
    rate = course.sense * course.evaluated(course.along.shares, modes, course.state)["rate"][:, place]
    over = 2.0 * np.array([leaves[i] for i in some])
    return evened(-along.forces(some)[:, None] * ((rate[-1] - rate[:-1]) / over[:, None]).T)


def directions_of(course: AtSwitch, state: State) -> AnyDirections:
    """What forces at switches do at a state."""
    loops = course.along.loops
    return Directions.of(course, state) if loops is None else DirectionsInLoops.of(course, loops, state)


def at_no_rest(course: AtSwitch) -> Array:
    """The modes of a motion with no switch at rest."""
    modes = course.modes.copy()
    modes[3 * course.count :] = 0.0
    return modes


def held(course: AtSwitch, sides: Mapping[int, int], along: AnyDirections) -> Array:
    """The modes of a motion with some switches on one side, or at rest, where as many lead as are independent."""
    modes, count = course.modes.copy(), course.count
    modes[5 * count :] = 0.0
    which, side = np.array([*sides], dtype=int), np.array([*sides.values()], dtype=float)
    rests = side == 0
    numbers = (np.where(rests, 1.0, side), np.where(rests, NOT_HELD, side), 0.0, rests, rests)
    for k, values in enumerate(numbers):
        modes[k * count + which] = values
    along.hold(course, modes, [i for i, side in sides.items() if side == 0])
    return modes


def taken(course: AtSwitch, modes: Array, state: State, off: Mapping[int, float]) -> Array:
    """The change (n,) of velocities, along the forces that hold, that takes so much from arguments of what rests."""
    along, loops = course.along, course.along.loops
    place = {i: k for k, i in enumerate(along.which)}
    rest = [place[i] for i in off]
    values = np.array([*off.values()])
    if loops is not None:
        asked = np.zeros(len(along.which))
        asked[rest] = values
        return course.evaluated(loops.onto, modes, state, off=asked)["dv"]
    now = Directions.of(course, state)
    J, D = now.J[rest], now.D[rest].T
    return np.asarray(-D @ np.linalg.lstsq(J @ D, values, rcond=None)[0])


def kept_still(course: AtSwitch, modes: Array, still: Sequence[int]) -> Array:
    """Modes in which some switches rest that something else holds: they follow nothing, so that they have no share."""
    modes, count = modes.copy(), course.count
    for i in still:
        modes[i], modes[count + i], modes[3 * count + i], modes[4 * count + i] = 1.0, NOT_HELD, 1.0, 0.0
        modes[2 * count + i] = ERRORS * course.task.tol * (1 + float(np.abs(course.state[2]).max(initial=0.0)))
    return modes
