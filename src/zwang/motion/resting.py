"""Which switches the motion goes on along: those that both sides push back onto, as far as forces between hold it.

Of the switches whose arguments are zero at a state, each rests (|σ| ≤ 1, ṡ = 0) or leaves to one side (σ = ±1, with ṡ
to that side). Together they are a linear complementarity problem with bounds, which is solved by pivoting: what is
violated most changes its state; after some rounds the first that is violated, which ends where the matrix is of class
P (Murty 1974), as it is for dry friction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from zwang.arrays import Array
from zwang.engines.task import Rest, Trajectory
from zwang.lowering.locked import NOT_HELD
from zwang.lowering.resting import HOLDS_BEYOND, coupled
from zwang.motion.at_switch import Along, AtSwitch, State

ERRORS = 100.0  # in tolerances, that the argument of a switch that follows others may have
IDLE = 1e-12  # of a unit diagonal: an eigenvalue that is less is none
RATE_LEFT = 1e-9  # of the terms of a rate: a switch whose rate is larger does not rest
NO_JUMP = 1e-11  # of the terms of a rate: a jump by less is none
WORST_FIRST = (
    4  # rounds for each switch, in which the worst one changes; and times as many, in which the first one does
)
ONTO = 4  # times that velocities are put onto their switches: each takes away all digits that there are


@dataclass(frozen=True)
class Found:
    """For each of some switches 0 where it rests, or ±1 for the side to which it leaves; how strongly both sides push.

    `modes` hold the motion so, and `state` is on the switches that rest.
    """

    sides: Mapping[int, int]
    pull: Mapping[int, float]
    modes: Array
    state: State


def decided(course: AtSwitch, on: Mapping[int, int], instant: float) -> Found | str:
    """Which of some switches rest, and where the others leave to; or why that is not known.

    `on` are the switches that the state is on, those that are just giving way with the sides to which they do. There
    may be more: those that the others bring to a speed which would stop within an instant.
    """
    on, pull = dict(on), Directions.of(course, course.state).pull
    while True:
        sides = shared(course, on)
        if isinstance(sides, str):
            return sides
        modes = held(course, sides)
        state = put_onto(course, modes)
        values = course.argument(modes, state)[0]
        more = [i for i in course.along.which if i not in on and abs(values[i]) < pull[i] * instant]
        if not more or all(sides.values()):
            return Found(sides, pull, modes, state)
        on |= dict.fromkeys(more, 0)


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
        modes = course.modes.copy()
        modes[3 * course.count :] = 0.0
        out = course.evaluated(course.along.shares, modes, state)
        return cls(course.along.which, out["row"], out["response"], np.abs(out["grip"]), course.sense)

    @property
    def pull(self) -> dict[int, float]:
        """By how much each ṡ falls from one side to the middle between both."""
        return dict(zip(self.which, (-self.sense * (self.J * self.D).sum(axis=1)).tolist(), strict=True))

    def followers(self, some: Sequence[int]) -> tuple[list[int], dict[int, Array]]:
        """Of some switches those that lead, and the others, each with the ratios of its share to theirs.

        −J Dᵀ = P C with a matrix P that is symmetric, of the size of masses' reciprocals, and forces C = diag(c). Where
        P n = 0, shares C⁻¹n do nothing: those of least length are orthogonal to them.
        """
        from scipy.linalg import qr

        places = [self.which.index(i) for i in some]
        J, D, c = self.J[places], self.D[places], self.c[places]
        with np.errstate(all="ignore"):
            P = -self.sense * (J @ D.T) / c
            d = np.sqrt(np.diag(P))
            K = (P / d).T / d
        if not np.isfinite(K).all():
            return list(some), {}
        values, vectors = np.linalg.eigh((K + K.T) / 2)
        idle = vectors[:, values < IDLE] / (d * c)[:, None]
        if not idle.size:
            return list(some), {}
        whole, _ = np.linalg.qr(idle / np.linalg.norm(idle, axis=0), mode="complete")
        shares = whole[:, idle.shape[1] :]
        order = qr(shares.T, mode="economic", pivoting=True)[2]
        lead, others = order[: shares.shape[1]], order[shares.shape[1] :]
        ratios = np.linalg.solve(shares[lead].T, shares[others].T).T
        return [some[k] for k in lead], {some[k]: row for k, row in zip(others, ratios, strict=True)}


def held(course: AtSwitch, sides: Mapping[int, int]) -> Array:
    """The modes of a motion with some switches on one side, or at rest, where as many lead as are independent."""
    modes, count, which = course.modes.copy(), course.count, course.along.which
    modes[5 * count :] = 0.0
    for i, side in sides.items():
        modes[i], modes[count + i] = (side, side) if side else (1.0, NOT_HELD)
        modes[2 * count + i], modes[3 * count + i], modes[4 * count + i] = 0.0, side == 0, side == 0
    rest = [i for i, side in sides.items() if side == 0]
    if len(rest) < 2:
        return modes
    along = Directions.of(course, course.state)
    lead, followers = along.followers(rest)
    for i, ratios in followers.items():
        k = which.index(i)
        speeds = along.J[k] * course.state[2][: along.J.shape[1]]
        modes[4 * count + i] = 0.0
        modes[2 * count + i] = ERRORS * course.task.tol * (1 + np.abs(speeds).sum())
        modes[[5 * count + k * len(which) + which.index(j) for j in lead]] = ratios
    return modes


def kept_still(course: AtSwitch, modes: Array, still: Sequence[int]) -> Array:
    """Modes in which some switches rest that something else holds: they follow nothing, so that they have no share."""
    modes, count = modes.copy(), course.count
    for i in still:
        modes[i], modes[count + i], modes[3 * count + i], modes[4 * count + i] = 1.0, NOT_HELD, 1.0, 0.0
        modes[2 * count + i] = ERRORS * course.task.tol * (1 + float(np.abs(course.state[2]).max(initial=0.0)))
    return modes


def shared(course: AtSwitch, on: Mapping[int, int]) -> dict[int, int] | str:
    """0 for each of some switches that rests, ±1 for the side to which it leaves; or why that is not known."""
    along = Directions.of(course, course.state)
    place, pull = {i: k for k, i in enumerate(along.which)}, along.pull
    sides, rounds = dict(on), WORST_FIRST * len(on)
    for count in range(rounds * (1 + WORST_FIRST)):
        modes = held(course, sides)
        out = course.evaluated(course.along.shares, modes, course.state)
        if not np.isfinite(out["share"]).all() or not np.isfinite(out["rate"]).all():
            return "what pushes them is not finite"
        off, share = {}, {}
        for i, side in sides.items():
            share[i], rate = float(out["share"][place[i]]), course.sense * float(out["rate"][place[i]])
            if side == 0 and not abs(share[i]) <= 1 + HOLDS_BEYOND / 2:
                off[i] = abs(share[i]) - 1
            elif side == 0 and abs(rate) > RATE_LEFT * (pull[i] + abs(along.J[place[i]]) @ abs(out["acceleration"])):
                off[i], share[i] = abs(rate) / pull[i], 2 * np.sign(rate)  # a follower that does not follow
            elif side and side * rate < -HOLDS_BEYOND * pull[i]:
                off[i], share[i] = -side * rate / pull[i], side + rate / pull[i]
        if not off:
            return together(course.along, sides) or sides
        i = next(iter(off)) if count >= rounds else max(off, key=lambda i: off[i])
        sides[i] = 0 if abs(share[i]) <= 1 else int(np.sign(share[i]))
    return "how they share what pushes them is not found"


def together(along: Along, sides: Mapping[int, int]) -> str:
    """Why switches cannot rest together, if so."""
    rest = [i for i, side in sides.items() if side == 0]
    pairs = [(i, j) for i in rest for j in rest if i != j]
    return "their forces multiply" if any(coupled(along.model, pair) for pair in pairs) else ""


def pushes(course: AtSwitch, i: int) -> bool:
    """Whether the forces on both sides of a switch push onto it, each relative to the other."""
    if i not in course.along.which:
        return False
    along = Directions.of(course, course.state)
    k = along.which.index(i)
    terms = along.J[k] * along.D[k]
    return bool(-course.sense * terms.sum() > NO_JUMP * np.abs(terms).sum())


def put_onto(course: AtSwitch, modes: Array) -> State:
    """The state with velocities such that the arguments of all switches that rest are zero, as they are but for errors.

    So are the rates of constraints, or what rests would creep. Then velocities change along the forces that hold, which
    constraints on them do not notice.
    """
    t, q, v = course.state
    along, n = course.along, len(course.along.shares.inputs["v"])
    rest = [k for k, i in enumerate(along.which) if course.rests(modes)[i]]
    which = [along.which[k] for k in rest]
    if along.projection is not None:
        dv = course.evaluated(along.projection, modes, course.state)["dv"][:n]
        v = np.concatenate([v[:n] + np.where(np.isfinite(dv), dv, 0.0), v[n:]])
    for _ in range(ONTO):
        s = course.argument(modes, (t, q, v))[0][which]
        if not s.any():
            break
        now = Directions.of(course, (t, q, v))
        J, D = now.J[rest], now.D[rest].T
        v = v.copy()
        v[:n] -= D @ np.linalg.lstsq(J @ D, s, rcond=None)[0]
    return t, q, v


class Log:
    """What is written down of switches that rest: when, and how switches were held at the saved times."""

    def __init__(self, course: AtSwitch) -> None:
        """Nothing yet."""
        self.course, self.modes = course, np.zeros((0, len(course.modes)))
        self.since: dict[int, float] = {}
        self.rests: list[Rest] = []

    def saved(self, modes: Array, count: int) -> None:
        """So many states were saved in these modes; what does not rest is told as it reads there."""
        told = modes if self.course.rests(modes).any() else self.course.locked.literal
        self.modes = np.concatenate([self.modes, np.tile(told, (count, 1))])

    def rested(self, modes: Array) -> None:
        """From here on modes are these."""
        t = self.course.state[0]
        for i, rests in enumerate(self.course.rests(modes).tolist()):
            if rests:
                self.since.setdefault(i, t)
            elif i in self.since and (begin := self.since.pop(i)) != t:
                self.rests.append(Rest(self.course.locked.switches[i].words, begin, t))

    def whole(self, account: Trajectory) -> Trajectory:
        """The account of a run with what rested on the way."""
        self.rested(self.course.locked.literal)
        if not self.rests:
            return account
        self.saved(self.course.locked.literal, len(account.q) - len(self.modes))
        return replace(account, modes=self.modes, rests=tuple(sorted(self.rests, key=lambda r: r.begin)))
