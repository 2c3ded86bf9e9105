"""Which switches the motion goes on along: those that both sides push back onto, as far as forces between hold it.

Of the switches whose arguments are zero at a state, each rests (|σ| ≤ 1, ṡ = 0) or leaves to one side (σ = ±1, with ṡ
to that side). That is dry friction with f = −σ: together they are boxes of one nonsmooth problem (`nonsmooth`), linear
around what the programs say exactly of a mode. So a mode that obeys, as the one before often does, needs no problem,
and where forces depend on multipliers one problem after the other is a method of Newton's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from zwang.arrays import Array
from zwang.engines.task import Rest, Trajectory
from zwang.lowering.resting import HOLDS_BEYOND
from zwang.motion.at_switch import AtSwitch, State
from zwang.motion.directions import MULTIPLY, AnyDirections, directions_of, held, secants, taken
from zwang.nonsmooth import Mode, Problem, box, combined, solve
from zwang.nonsmooth.layout import OBEYS
from zwang.nonsmooth.problem import Bools

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


@dataclass(frozen=True)
class Reading:
    """What programs say of a mode: of each switch its share σ, which is its side if it leaves, and its rate ṡ.

    `wrong` are those that obey their law in no way, or by less than rounding would have it.
    """

    sides: Mapping[int, int]
    share: Array
    rate: Array
    wrong: Bools


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


def shared(course: AtSwitch, on: Mapping[int, int], along: AnyDirections) -> Mapping[int, int] | str:
    """0 for each of some switches that rests, ±1 for the side to which it leaves; or why that is not known."""
    pull = np.array([*along.pulls(on).values()])
    sides, tried = dict(on), set()
    while True:
        now = reading(course, along, sides, pull)
        if not (np.isfinite(now.share).all() and np.isfinite(now.rate).all()):
            return "what pushes them is not finite"
        if not now.wrong.any():
            rest = [i for i, side in sides.items() if side == 0]
            return MULTIPLY if course.along.multiplied(rest) else sides
        tried.add(tuple(sides.values()))
        after = next((some for some in others(course, along, now) if tuple(some.values()) not in tried), None)
        if after is None:
            return MULTIPLY if course.along.multiplied([*on]) else "how they share what pushes them is not found"
        sides = after


def reading(course: AtSwitch, along: AnyDirections, sides: Mapping[int, int], pull: Array) -> Reading:
    """What programs say of a mode, exactly; rates are those of the run's sense."""
    place = [along.place[i] for i in sides]
    out = course.evaluated(course.along.shares, held(course, sides, along), course.state)
    side, rate = np.array([*sides.values()], dtype=float), course.sense * out["rate"][place]
    rests = side == 0
    share = np.where(rests, out["share"][place], side)
    loose = (np.abs(share) > 1 + HOLDS_BEYOND / 2) | (np.abs(rate) > OBEYS * (pull + along.sizes(out)[place]))
    return Reading(sides, share, rate, np.where(rests, loose, side * rate < -HOLDS_BEYOND * pull))


def others(course: AtSwitch, along: AnyDirections, now: Reading) -> Iterator[dict[int, int]]:
    """The sides of the problem that is linear around a mode, of the parts in which something is wrong.

    Where resting and leaving both obey, as rounding has it, switches leave; or what is wrong changes, and nothing else.
    Then the same with rates that hold for forces of multipliers, too.
    """
    place = {i: k for k, i in enumerate(now.sides)}
    some = along.together([i for i, wrong in zip(place, now.wrong.tolist(), strict=True) if wrong], [*place])
    at = [place[i] for i in some]
    side, f, wrong = np.array([now.sides[i] for i in some], dtype=float), -now.share[at], now.wrong[at]
    rests, nothing = side == 0, np.zeros(len(some))
    begin = Mode(nothing > 0, rests, np.stack([-side, nothing], axis=1))
    for responses in (along.responses, partial(secants, course, along, now.sides)):
        W = responses(some)
        unit, c = along.units(W), along.forces(some) * now.rate[at] - W @ f
        problem = Problem(W / unit / unit[:, None], c / unit, tuple(map(box, unit.tolist())))
        found = combined(problem, solve(problem, begin))
        if found is None:
            continue
        there, leaves = np.sign(-found.f), np.abs(found.f) > (1 - OBEYS) * unit
        either = leaves & (np.abs(found.u) * unit <= OBEYS * np.diagonal(W))
        as_before = np.where(rests, wrong, ~wrong & (side == there))
        for leave in (leaves, np.where(either, as_before, leaves)):
            after = np.where(leave, there, 0.0).astype(int)
            yield dict(now.sides) | dict(zip(some, after.tolist(), strict=True))


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
