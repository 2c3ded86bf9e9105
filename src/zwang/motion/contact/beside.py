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
from zwang.motion.contact.carried import Hop, accelerating_along, hopped, later, onto_sticking, slips_along, turning
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
        self.hops: list[list[Hop]] = []
        """What followed each of them: the last moment of slips in space."""

    def advance(self) -> Trajectory:
        """The drive, in the present mode, to where it ends."""
        before, held, count = self.state, self.held(), len(self.transitions)
        basis = self.basis(held)
        path = super().advance()
        hits = tuple(h for h in path.hits if h.t == path.end[0])
        self.stretches.append(Stretch(held, basis, before, path.end, hits, count))
        self.hops.append([])
        return path

    def go_on(self, tau: float, a: Array, ends: bool = False) -> None:
        """The motion over a very short time."""
        before = self.state
        super().go_on(tau, a, ends)
        self.hops[-1].append(Hop(before, self.state[0] - before[0], a, ends))


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
        state = self.on_sticking(stretches[0], state) if stretches else state
        kind = self.kind
        for k, stretch in enumerate(stretches):
            setup = replace(self.setup, contact=stretch.held, events=())
            last = k + 1 == len(stretches)
            inside = grid[(grid >= stretch.start[0]) & ((grid < stretch.end[0]) | (last & (grid <= stretch.end[0])))]
            times = inside if len(inside) and inside[-1] == stretch.end[0] else np.append(inside, stretch.end[0])
            if times[-1] > stretch.start[0]:
                found, path = integrate(setup, state, times, None, stretch.basis, kind)
                if path.status in REMEDY:
                    return [*segments, *found], replace(joined(total, path), status=path.status)
                segments += cut(found, len(inside))
                state = path.end
            if self.course.hops[k]:
                saved, state = self.through(stretch, self.course.hops[k], state, grid)
                segments += [replace(segments[-1], times=t, q=q, v=v, trace=None) for t, q, v in saved]
            if not last:
                kind = replace(kind, veers=self.turned(stretch, stretches[k + 1], state, kind.veers))
                state = self.across(stretch, stretches[k + 1], state, self.course.hops[k])
        return segments, total

    def through(
        self, stretch: Stretch, hops: Sequence[Hop], state: State, grid: Array
    ) -> tuple[list[tuple[Array, Array, Array]], State]:
        """The state with its sensitivities after the last moment of slips, and what is saved on the way."""
        setup = replace(self.setup, contact=stretch.held, events=())
        dq, dv = self.parts(state)
        alongs = [
            accelerating_along(setup, stretch.basis, np.concatenate([d, numbers_along(setup, stretch.held, d)]))
            for d in self.changes
        ]
        found = []
        for hop in hops:
            moved = [hopped(along, hop, *d) for along, d in zip(alongs, zip(dq, dv, strict=True), strict=True)]
            (t, q, v), end = hop.state, hop.end
            begin = np.concatenate([q, *dq]), np.concatenate([v, *dv])
            dq, dv = np.array([e[0] for e in moved]), np.array([e[1] for e in moved])
            state = end[0], np.concatenate([end[1], *dq]), np.concatenate([end[2], *dv])
            inside = grid[(grid >= t) & (grid < end[0])]
            if len(inside):
                share = ((inside - t) / hop.tau)[:, None]
                found.append((inside, *(b + share * (e - b) for b, e in zip(begin, state[1:], strict=True))))
        return found, state

    def turned(self, before: Stretch, after: Stretch, state: State, veers: Array | None) -> Array | None:
        """How the directions of slips in space that begin change: those of the forces that break them loose."""
        then, now = before.held.rough, after.held.rough
        if then is None or now is None or not now.veer.any():
            return None
        broken = [i for k, i in enumerate(then.rows) if then.sticks[k] and now.signs[k] and i in now.space]
        if not broken or not before.hits:
            return veers
        a, (dq, dv) = self.acceleration(before, before.end), self.parts(state)
        shifts = self.shifts(before, a, dq, dv)[0]
        found = np.zeros((len(self.changes), *now.veer.shape))
        for j, change in enumerate(self.changes):
            moved = np.concatenate([[shifts[j]], dq[j] + before.end[2] * shifts[j], dv[j] + a * shifts[j], change])
            setup = replace(self.setup, contact=before.held, events=())
            direction = np.concatenate([moved, numbers_along(setup, before.held, change)])
            for i, turn in turning(setup, before.basis, before.end, broken, direction).items():
                found[j, now.space.index(i)] = np.linalg.norm(now.veer[now.space.index(i)]) * turn
        return found

    def parts(self, state: State) -> tuple[Array, Array]:
        """(k, n) the sensitivities of a state, of positions and velocities."""
        dq, dv = (x[self.n :].reshape(len(self.changes), self.n).copy() for x in state[1:])
        return dq, dv

    def on_sticking(self, stretch: Stretch, state: State) -> State:
        """The state with its sensitivities where a stretch begins: what sticks does not slip along any direction."""
        (t, q, v), (dq, dv) = stretch.start, self.parts(state)
        setup = replace(self.setup, contact=stretch.held, events=())
        for j, change in enumerate(self.changes):
            dv[j] = onto_sticking(setup, self.course, stretch.held, stretch.start, dq[j], dv[j], change)
        return t, np.concatenate([q, *dq]), np.concatenate([v, *dv])

    def across(self, before: Stretch, after: Stretch, state: State, hops: Sequence[Hop] = ()) -> State:
        """The state with the sensitivities after a transition, or after the last moment of slips that led to it."""
        end = before.end if not hops else (state[0], state[1][: self.n], state[2][: self.n])
        (t, _, v0), (_, q1, v1) = end, after.start
        n = self.n
        dq, dv = self.parts(state)
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
        stopped = self.stopped(before, after) if hops else []
        a0 = hops[-1].a if hops and hops[-1].ends else self.acceleration(before, end)
        a1 = self.acceleration(after, after.start)
        size = float(np.abs([a0, a1]).max()) or 1.0
        if impacts or (before.hits and np.abs(a1 - a0).max() > CONTINUOUS * size):
            if stopped:
                last = hops[-1] if hops[-1].ends else Hop(end, 0.0, a0, True)
                slips = [slips_along(self.setup, end, *d) for d in zip(dq, dv, self.changes, strict=True)]
                shifts = later(self.setup, self.course, last, stopped, slips)
            else:
                shifts = self.shifts(before, a0, dq, dv)
            if not written or np.ptp(shifts, axis=0).max() > SAME_SHIFT * np.abs(shifts).max():
                what = written[0] if written else Transition(before.end, "undecided", before.held.rows[0], v1, v1)
                self.refuse(what, "where several contacts change at one instant")
            for j, shift in enumerate(shifts[0]):
                moved = np.concatenate([[shift], dq[j] + v0 * shift, dv[j] + a0 * shift, self.changes[j]])
                change = self.jump(impacts[0], end, moved) if impacts else moved[1 + n : 1 + 2 * n]
                dq[j], dv[j] = dq[j] + (v0 - v1) * shift, change - a1 * shift
        beside = t, np.concatenate([q1, *dq]), np.concatenate([v1, *dv])
        return self.on_sticking(after, beside) if hops else beside

    def stopped(self, before: Stretch, after: Stretch) -> list[int]:
        """Contacts in space that slide in a stretch, and stick or begin to slide another way in the next."""
        rubbing, then, now = self.course.rubbing, before.held.rough, after.held.rough
        assert rubbing is not None
        assert then is not None
        assert now is not None
        begins = np.abs(now.veer).sum(axis=1) > 0
        return [
            i for k, i in enumerate(then.rows)
            if then.signs[k] and i in rubbing.space and (now.sticks[k] or begins[rubbing.space.index(i)])
        ]  # fmt: skip

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
        if self.setup.system.reactions and (rough or self.course.law != "moreau"):
            what = "with friction" if rough else f"by impacts={self.course.law!r}"
            self.refuse(x, f"across impacts {what} and nonideal forces that depend on multipliers")
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


def kappa_along(
    setup: Setup, held: Held, basis: RowBasis, changes: Sequence[Array], veers: Array | None = None
) -> Array:
    """How κ = μ s of the contacts that rub, and what turns slips that begin, change, direction by direction."""
    if held.rough is None or not basis.rubbing:
        return np.zeros(0)
    sign = dict(zip(held.rough.rows, held.rough.signs.tolist(), strict=True))
    laws = {i: setup.system.constraints[i].friction[1] for i, _ in basis.rubbing}
    kappas = np.array([[sign[i] * change_of(setup, laws[i], change) for i, _ in basis.rubbing] for change in changes])
    turns = np.zeros((len(changes), 2 * len(basis.across))) if veers is None else veers.reshape(len(changes), -1)
    return np.concatenate([kappas, turns], axis=1).ravel()


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
