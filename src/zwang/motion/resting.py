"""Which switches the motion goes on along: those that both sides push back onto, as far as forces between hold it.

Of the switches whose arguments are zero at a state, each rests (|σ| ≤ 1, ṡ = 0) or leaves to one side (σ = ±1, with ṡ
to that side). Together they are a linear complementarity problem with bounds, which is solved by pivoting: what is
violated most changes its state; after some rounds the first that is violated, which ends where the matrix is of class
P (Murty 1974), as it is for dry friction.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from zwang.arrays import Array
from zwang.engines.task import Rest, Trajectory
from zwang.lowering.resting import HOLDS_BEYOND
from zwang.motion.at_switch import AtSwitch, State
from zwang.motion.directions import MULTIPLY, AnyDirections, directions_of, held, taken

RATE_LEFT = 1e-9  # of the terms of a rate: a switch whose rate is larger does not rest
WORST_FIRST = (
    4  # rounds for each switch, in which the worst one changes; and times as many, in which the first one does
)
ALL_AT_ONCE = 3  # rounds in loops in which all that are violated change, though they do not become fewer
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
    on, along = dict(on), directions_of(course, course.state)
    while True:
        sides = along.refused(on) or shared(course, on, along)
        if isinstance(sides, str):
            return sides
        modes = held(course, sides, along)
        state = put_onto(course, modes)
        values = course.argument(modes, state)[0]
        more = along.near(values, instant, on)
        if not more or all(sides.values()):
            return Found(sides, along.pulls(sides), modes, state)
        on |= dict.fromkeys(more, 0)


def shared(course: AtSwitch, on: Mapping[int, int], along: AnyDirections) -> dict[int, int] | str:
    """0 for each of some switches that rests, ±1 for the side to which it leaves; or why that is not known."""
    place, pull = {i: k for k, i in enumerate(course.along.which)}, along.pulls(on)
    sides, rounds = dict(on), WORST_FIRST * len(on)
    fewest, all_at_once = len(on) + 1, ALL_AT_ONCE if course.along.loops else 0
    for count in range(rounds * (1 + WORST_FIRST)):
        modes = held(course, sides, along)
        out = course.evaluated(course.along.shares, modes, course.state)
        if not np.isfinite(out["share"]).all() or not np.isfinite(out["rate"]).all():
            return "what pushes them is not finite"
        off, share, terms = {}, {}, along.sizes(out)
        for i, side in sides.items():
            share[i], rate = float(out["share"][place[i]]), course.sense * float(out["rate"][place[i]])
            if side == 0 and not abs(share[i]) <= 1 + HOLDS_BEYOND / 2:
                off[i] = abs(share[i]) - 1
            elif side == 0 and abs(rate) > RATE_LEFT * (pull[i] + terms[place[i]]):
                off[i], share[i] = abs(rate) / pull[i], 2 * np.sign(rate)  # a follower that does not follow
            elif side and side * rate < -HOLDS_BEYOND * pull[i]:
                off[i], share[i] = -side * rate / pull[i], side + rate / pull[i]
        if not off:
            rest = [i for i, side in sides.items() if side == 0]
            return MULTIPLY if course.along.multiplied(rest) else sides
        all_at_once -= len(off) >= fewest
        fewest = min(fewest, len(off))
        if all_at_once > 0:
            change = list(off)
        else:
            change = [next(iter(off)) if count >= rounds else max(off, key=lambda i: off[i])]
        for i in change:
            sides[i] = 0 if abs(share[i]) <= 1 else int(np.sign(share[i]))
    return "how they share what pushes them is not found"


def put_onto(course: AtSwitch, modes: Array) -> State:
    """The state with velocities such that the arguments of all switches that rest are zero, as they are but for errors.

    So are the rates of constraints, or what rests would creep. Then velocities change along the forces that hold, which
    constraints on them do not notice.
    """
    t, q, v = course.state
    along, n = course.along, len(course.along.shares.inputs["v"])
    rests = course.rests(modes)
    which = [i for i in along.which if rests[i]]
    if along.projection is not None:
        dv = course.evaluated(along.projection, modes, course.state)["dv"][:n]
        v = np.concatenate([v[:n] + np.where(np.isfinite(dv), dv, 0.0), v[n:]])
    for _ in range(ONTO):
        s = course.argument(modes, (t, q, v))[0][which]
        if not s.any():
            break
        dv = taken(course, modes, (t, q, v), dict(zip(which, s.tolist(), strict=True)))
        v = np.concatenate([v[:n] + dv, v[n:]])
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
