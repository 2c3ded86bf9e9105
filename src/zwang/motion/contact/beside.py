"""Sensitivities of a motion with contacts: along its modes by the variational equation, across transitions by a jump.

The motion is known already, stretch by stretch: each is integrated once more with its sensitivities. A transition comes
where a watched function h(t, q, q̇; p) passes zero, along a direction δ later by δt = −(h_q δq + h_q̇ δq̇ + h_p δp) / ḣ.
If it takes velocities to v⁺ = V(t, q, v; p), they and the accelerations before and after make

    δq⁺ = δq + (v − v⁺) δt,    δv⁺ = V_q (δq + v δt) + V_v (δv + q̈₋ δt) + V_t δt + V_p δp − q̈₊ δt

(the saltation matrix of an impact); V changes smoothly as long as the same contacts take part, and stick or slide as
they do (`struck`). Where nothing jumps, nothing is added.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.compile import straight
from zwang.engines.native.engine import compiled
from zwang.engines.task import REMEDY, EventHit, Trajectory
from zwang.errors import InputError
from zwang.lowering.contact import Held
from zwang.lowering.directional import directional
from zwang.lowering.rows import RowBasis
from zwang.motion.contact.course import Course
from zwang.motion.contact.record import Transition
from zwang.motion.contact.struck import change_of, dense_of, struck_along
from zwang.motion.drive import integrate, joined
from zwang.motion.observe import Segment, event_name
from zwang.motion.resets.beside import jumped, require_one
from zwang.motion.resets.watched import Watched
from zwang.motion.saltation import CONTINUOUS, SAME_SHIFT
from zwang.motion.setup import Setup
from zwang.motion.start import State

LEADS_OFF = 1e-9  # of a direction: a gap that is closed at the start and changes by more opens or is exceeded
PUSHED = 1e-9  # of the largest impulse: contacts with less take no part in an impact


@dataclass(frozen=True)
class Stretch:
    """A stretch of a motion in one mode: its ends, and what ended it."""

    held: Held
    basis: RowBasis
    start: State
    end: State
    hits: tuple[EventHit, ...]
    transitions: int
    """How many were written down before it."""

    @property
    def fired(self) -> tuple[int, ...]:
        """The watched functions that ended it."""
        return tuple(h.which for h in self.hits)


class Logged(Course):
    """A course that remembers its stretches; all impacts are its own."""

    bounces = False

    def __init__(self, *given: Any) -> None:
        """At the start."""
        super().__init__(*given)
        self.stretches: list[Stretch] = []

    def advance(self) -> Trajectory:
        """The drive, in the present mode, to where it ends."""
        before, held, count = self.state, self.held(), len(self.transitions)
        path = super().advance()
        hits = tuple(h for h in path.hits if h.t == path.end[0])
        self.stretches.append(Stretch(held, self.bases[held.closed], before, path.end, hits, count))
        return path


@dataclass(frozen=True)
class Across:
    """Sensitivities beside a motion of n coordinates that is known, with changes of parameters along directions."""

    setup: Setup
    course: Logged
    kind: Any
    """What is integrated: the motion with its sensitivities (`sensitivity.Varied`)."""
    changes: Sequence[Array]

    @property
    def n(self) -> int:
        """How many coordinates the motion has."""
        return len(self.setup.system.coordinates)

    def run(self, start: State, grid: Array) -> tuple[list[Segment], Trajectory]:
        """All stretches, with the states to save."""
        state, total = start, self.course.total
        segments: list[Segment] = []
        stretches = self.course.stretches
        if stretches:
            self.require_kept(stretches[0], start, "at the start")
        for x in self.course.transitions[: stretches[0].transitions] if stretches else ():
            self.refuse(x, "across what happens at the start")
        for k, stretch in enumerate(stretches):
            setup = replace(self.setup, contact=stretch.held, events=())
            last = k + 1 == len(stretches)
            inside = grid[(grid >= stretch.start[0]) & ((grid < stretch.end[0]) | (last & (grid <= stretch.end[0])))]
            times = inside if len(inside) and inside[-1] == stretch.end[0] else np.append(inside, stretch.end[0])
            if times[-1] > stretch.start[0]:
                found, path = integrate(setup, state, times, None, stretch.basis, self.kind)
                if path.status in REMEDY:
                    return [*segments, *found], replace(joined(total, path), status=path.status)
                segments += cut(found, len(inside))
                state = path.end
            if not last:
                state = self.across(stretch, stretches[k + 1], state)
        return segments, total

    def across(self, before: Stretch, after: Stretch, state: State) -> State:
        """The state with the sensitivities after a transition."""
        (t, _, v0), (_, q1, v1) = before.end, after.start
        n, k = self.n, len(self.changes)
        dq, dv = (x[n:].reshape(k, n).copy() for x in state[1:])
        written = self.course.transitions[before.transitions : after.transitions]
        resets = self.course.resets.fired(before.hits, t)
        if resets:
            return self.across_reset(before, after, resets, state)
        for x in written:
            if x.kind in ("touch", "accumulation"):
                self.refuse(x, "where a contact only touches" if x.kind == "touch" else "across an accumulation")
        impacts = [x for x in written if x.kind == "impact"]
        if len(impacts) > 1:
            self.refuse(impacts[1], "across several impacts at one instant")
        a0 = self.acceleration(before, before.end)
        a1 = self.acceleration(after, after.start)
        size = float(np.abs([a0, a1]).max()) or 1.0
        if impacts or np.abs(a1 - a0).max() > CONTINUOUS * size:
            shifts = self.shifts(before, a0, dq, dv)
            if not written or np.ptp(shifts, axis=0).max() > SAME_SHIFT * np.abs(shifts).max():
                what = written[0] if written else Transition(before.end, "undecided", before.held.rows[0], v1, v1)
                self.refuse(what, "where several contacts change at one instant")
            for j, shift in enumerate(shifts[0]):
                moved = np.concatenate([[shift], dq[j] + v0 * shift, dv[j] + a0 * shift, self.changes[j]])
                change = self.jump(impacts[0], before.end, moved) if impacts else moved[1 + n : 1 + 2 * n]
                dq[j], dv[j] = dq[j] + (v0 - v1) * shift, change - a1 * shift
        return t, np.concatenate([q1, *dq]), np.concatenate([v1, *dv])

    def across_reset(self, before: Stretch, after: Stretch, resets: tuple[int, ...], state: State) -> State:
        """The same after a reset; refused where contacts change with it, or come to be closed by it."""
        then, now = (
            Watched(replace(self.setup, contact=each.held), each.basis, at)
            for each, at in ((before, before.end), (after, after.start))
        )
        which = require_one(self.setup, resets, then, self.course.span)
        written = self.course.transitions[before.transitions : after.transitions]
        if written or len(before.fired) > 1:
            what = written[0] if written else Transition(before.end, "reset", before.held.rows[0], state[2], state[2])
            self.refuse(what, "where a contact changes at the instant of a reset")
        held = [numbers_along(self.setup, before.held, change) for change in self.changes]
        found = jumped(then, now, which, state, self.changes, held)
        self.require_kept(after, found, f"after the reset of {event_name(self.setup.events, which)!r}")
        return found

    def shifts(self, before: Stretch, a: Array, dq: Array, dv: Array) -> Array:
        """(fired, k) by how much the zeros of the watched functions that fired move."""
        setup = replace(self.setup, contact=before.held, events=())
        watched = straight(setup.watching(before.basis))
        program, _, v = directional(watched, "event"), *before.end[1:]
        fired = [i - len(self.setup.events) for i in before.fired]

        def along(t: float, dq: Array, dv: Array, change: Array) -> Array:
            direction = np.concatenate([[t], dq, dv, change, numbers_along(setup, before.held, change)])
            given = setup.named(watched, before.end) | {"direction": direction}
            return np.asarray(compiled(program)(**given)["d_event"][0][fired])

        rates = along(1.0, v, a, 0 * self.changes[0])
        found = [-along(0.0, dq[j], dv[j], change) / rates for j, change in enumerate(self.changes)]
        return np.array(found).T

    def jump(self, x: Transition, state: State, direction: Array) -> Array:
        """δv⁺ of an impact, along a direction in t, q, v and p."""
        pushed = [i for k, i in enumerate(self.course.rows) if x.impulse[k] > PUSHED * x.impulse.max()]
        rough = any(self.setup.system.constraints[i].friction for i in pushed)
        if (len(pushed) > 1 or rough) and self.course.law != "moreau":
            what = "with friction" if rough else "of several contacts"
            self.refuse(x, f"across impacts {what} by impacts={self.course.law!r}")
        return struck_along(self.setup, self.course, x, pushed, state, direction)

    def acceleration(self, stretch: Stretch, state: State) -> Array:
        """The motion's own acceleration in the mode of a stretch."""
        setup = replace(self.setup, contact=stretch.held, events=())
        program = setup.program("acceleration", stretch.basis)
        return np.asarray(compiled(program)(**setup.named(program, state))["acceleration"])

    def require_kept(self, first: Stretch, start: State, where: str) -> None:
        """Refuse directions that lead off contacts which are closed where a stretch begins."""
        closed = [i for i, is_open in zip(first.held.rows, first.held.open, strict=True) if not is_open]
        if not closed:
            return
        setup, (t, q, v) = self.setup, first.start
        program = directional(dense_of(setup), "gap", "rate")
        for j, change in enumerate(self.changes):
            part = slice(self.n * (j + 1), self.n * (j + 2))
            direction = np.concatenate([[0.0], start[1][part], start[2][part], change])
            out = compiled(program)(t=np.array([t]), q=q, v=v, p=setup.p, direction=direction)
            for i in closed:
                if max(abs(out["d_gap"][0][i]), abs(out["d_rate"][0][i])) > LEADS_OFF * np.abs(direction).max():
                    name, what = setup.system.constraint_names[i], self.kind.directions[j].name
                    raise InputError(
                        f"the contact {name!r} is closed {where}, and the direction {what!r} leads off it: "
                        f"sensitivities are not defined there; use a direction of zwang.admissible"
                    )

    def refuse(self, x: Transition, where: str) -> None:
        """Refuse a transition by name."""
        name = self.setup.system.constraint_names[x.contact]
        raise InputError(
            f"sensitivities are not known {where}: {name!r} at t = {x.state[0]:.9g} ({x.kind}); end before it, or vary "
            f"the start a little"
        )


def numbers_along(setup: Setup, held: Held, change: Array) -> Array:
    """How the numbers of a mode change with parameters: coefficients of friction are among them."""
    if held.rough is None:
        return np.zeros(len(held.numbers))
    laws = [setup.system.constraints[i].friction for i in held.rough.rows]
    mu_s, mu_k = (np.array([change_of(setup, law[k], change) for law in laws]) for k in range(2))
    changed, plain = (
        replace(held, rough=replace(held.rough, mu_s=s, mu_k=k)).numbers
        for s, k in ((mu_s, mu_k), (0 * mu_s, 0 * mu_k))
    )
    return np.asarray(changed - plain)


def kappa_along(setup: Setup, held: Held, basis: RowBasis, changes: Sequence[Array]) -> Array:
    """How κ = μ s of the contacts that rub changes with parameters, direction by direction."""
    if held.rough is None or not basis.rubbing:
        return np.zeros(0)
    sign = dict(zip(held.rough.rows, held.rough.signs.tolist(), strict=True))
    laws = {i: setup.system.constraints[i].friction[1] for i, _ in basis.rubbing}
    return np.array([sign[i] * change_of(setup, laws[i], change) for change in changes for i, _ in basis.rubbing])


def cut(segments: list[Segment], count: int) -> list[Segment]:
    """The first so many states of some segments."""
    kept = []
    for segment in segments:
        keep = min(count, len(segment.times))
        count -= keep
        if keep:
            kept.append(
                replace(segment, times=segment.times[:keep], q=segment.q[:keep], v=segment.v[:keep], trace=None)
            )
    return kept
