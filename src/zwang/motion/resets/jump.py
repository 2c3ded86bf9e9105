"""The jump of a state at an event: from what the event's reset says to where the motion goes on, or why it does not.

An event whose reset leaves it at zero has been met; it counts as zero until it has left it (`Task.at_zero`), so that
rounding does not make it fire again. It must leave it visibly: flights that are lower than the rounding of the event
are an accumulation of resets, which has no end.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from zwang.arrays import EPS, Array
from zwang.compile import Program
from zwang.engines.native.engine import compiled
from zwang.engines.task import EventHit
from zwang.evaluation import satisfied
from zwang.lowering.cache import Kept
from zwang.lowering.lowered import Matrices
from zwang.lowering.resets import places_of, reset_program
from zwang.lowering.rows import RowBasis
from zwang.model.values import state_label
from zwang.motion.resets.watched import AT_ZERO_WITHIN, Watched, energies
from zwang.motion.setup import Setup
from zwang.motion.start import State, basis_at

MOST_AT_ONCE = 100  # resets within one instant
INSTANT = 1e-13  # of time and span: what happens so soon happens now
AS_NEAR = 4.0  # times as far from zero as before, an event may be after its own reset and still counts as zero
RESTS = 1e-12  # of the rate before: an event whose rate is no larger after its reset rests at zero
DRIFTS = 1e3  # times what constraints were off before, and tolerances, that they may be off after a reset

_PROGRAMS: Kept[Program] = Kept()


@dataclass(frozen=True)
class Jump:
    """One jump: states before and after, the rows there, the events that made it, and what is zero from there on."""

    before: State
    after: State
    rows: tuple[RowBasis, RowBasis]
    fired: tuple[int, ...]
    at_zero: tuple[int, ...]
    loss: float
    """The energy that is gone"""
    gain: float
    """What Jacobi's energy gains: it counts as work."""
    span: float
    """How long the motion is"""
    wrong: str = ""
    """Why the motion does not go on"""

    def hits(self, path: tuple[EventHit, ...]) -> tuple[EventHit, ...]:
        """The events of a stretch, those that made the jump with what it did."""
        t, _, _ = self.before
        _, q, v = self.after
        return tuple(
            replace(h, after=(q, v), loss=self.loss if h.which == self.fired[0] else 0.0)
            if h.which in self.fired and h.t == t
            else h
            for h in path
        )


@dataclass
class Resets:
    """The resets of one motion; its span, and when they were made."""

    setup: Setup
    span: float
    made: list[float] = field(default_factory=list)

    def fired(self, hits: tuple[EventHit, ...], t: float) -> tuple[int, ...]:
        """The events with resets that are met at an instant, in the order in which they were given."""
        own = self.setup.events
        return tuple(sorted({h.which for h in hits if h.which < len(own) and own[h.which].reset and h.t == t}))

    def jump(self, before: State, basis: RowBasis, fired: tuple[int, ...]) -> Jump:
        """Where the state jumps to from where some events are met, one after the other."""
        setup, after = self.setup, before
        for which in fired:
            after = reset(setup, which, after)
        names = " and ".join(repr(name_of(setup, which)) for which in fired)
        wrong = not_finite(setup, fired, after) or off_constraints(setup, before, after, names)
        if wrong:
            return Jump(before, after, (basis, basis), fired, (), 0.0, 0.0, self.span, wrong)
        there = basis_at(setup, after)
        energy = energies(setup, basis, before, after)
        loss, gain = float(energy[0, 0] - energy[1, 0]), float(energy[1, 1] - energy[0, 1])
        then, now = Watched(setup, basis, before), Watched(setup, there, after)
        noise = now.noise + then.noise
        zero = tuple(i for i in fired if abs(now.values[i]) <= AS_NEAR * abs(then.values[i]) + noise[i])
        wrong = self.endless(before[0], names) or next(
            filter(None, (lingers(setup, i, then, now, float(noise[i]), self.span) for i in zero)), ""
        )
        return Jump(before, after, (basis, there), fired, zero, loss, gain, self.span, wrong)

    def endless(self, t: float, names: str) -> str:
        """Whether resets do not leave an instant, in words."""
        self.made = [*self.made, t][-MOST_AT_ONCE - 1 :]
        if len(self.made) <= MOST_AT_ONCE or t - self.made[0] > INSTANT * (abs(t) + self.span):
            return ""
        return f"Resets of {names} do not come to an end there: {MOST_AT_ONCE} were made at once."


def reset(setup: Setup, which: int, state: State) -> State:
    """The state after the reset of one event."""
    program = program_of(setup, which)
    t, q, v = state
    found = compiled(program)(t=np.array([t]), q=q, v=v, p=setup.p)
    return t, np.asarray(found["q"]), np.asarray(found["v"])


def program_of(setup: Setup, which: int) -> Program:
    """The reset of an event as a program."""
    event = setup.events[which]
    system = (setup.system.structure, tuple(setup.inputs.items()), setup.system.coordinates, setup.symbols)
    return _PROGRAMS.get(
        (*system, *event.reset.items()), lambda: reset_program(setup.system, setup.symbols, setup.lowered, event)
    )


def name_of(setup: Setup, which: int) -> str:
    """An event's name, or its number."""
    return setup.events[which].name or f"event {which + 1}"


def not_finite(setup: Setup, fired: tuple[int, ...], after: State) -> str:
    """What a reset sets to something that is no number, in words."""
    both = np.concatenate(after[1:])
    if np.isfinite(both).all():
        return ""
    place = int(np.argmin(np.isfinite(both)))
    which = next((i for i in fired if place in places_of(setup.system, setup.symbols, setup.events[i])), fired[0])
    name = state_label(setup.system.coordinate_names, place)
    return f"The reset of {name_of(setup, which)!r} sets {name} to {both[place]}."


def off_constraints(setup: Setup, before: State, after: State, names: str) -> str:
    """Which constraints a reset leads off, in words."""
    if not setup.system.constraints:
        return ""
    then, now = setup.matrices(*before), setup.matrices(*after)
    was, reads = relative(then, before), relative(now, after)
    drifted = (reads <= DRIFTS * (was.max(axis=1, initial=0.0, keepdims=True) + max(setup.tol, EPS))).all(axis=0)
    good = drifted | satisfied(setup.system, now, after[1], after[2])
    if good.all():
        return ""
    listed = "; ".join(
        f"{setup.system.constraint_names[i]!r} reads {np.nan_to_num(now.residual[i]):.6g} in position and "
        f"{np.nan_to_num(now.residual_rate[i]):.6g} in velocity"
        for i in np.flatnonzero(~good)
    )
    return f"The reset of {names} leads off the constraints: {listed}."


def relative(now: Matrices, state: State) -> Array:
    """(2, m) what constraints read in position and in velocity, against what a change of all of the state makes."""
    most_q, most_v = (float(np.abs(x).max(initial=0.0)) for x in state[1:])
    slope = np.abs(now.A).sum(axis=1)
    pairs = ((now.residual, slope * most_q), (now.residual_rate, slope * max(most_q, most_v)))
    return np.array([np.abs(np.nan_to_num(x)) / np.where(size > 0, size, 1.0) for x, size in pairs])


def lingers(setup: Setup, i: int, then: Watched, now: Watched, noise: float, span: float) -> str:
    """Why an event that its own reset leaves at zero does not leave it visibly, in words."""
    came, rate, bend = -np.sign(then.rates[i]), float(now.rates[i]), float(now.bends(span)[i])
    name, t = repr(name_of(setup, i)), now.state[0]
    rests = abs(rate) <= RESTS * abs(then.rates[i])
    if rests and came * bend <= 0:
        return (
            f"The reset of {name} leaves it at zero and at rest: whether it is passed there or met again cannot be "
            f"told; a one-sided constraint would hold it."
        )
    beside = float(now.values[i])
    if came * beside > AS_NEAR * abs(then.values[i]) + AT_ZERO_WITHIN * float(now.grain[i]) and came * rate < 0:
        return f"Resets of {name} follow each other faster than time is resolved."
    if not rests and came * rate > 0 > came * bend and rate**2 / (2 * abs(bend)) <= noise:
        return (
            f"Resets of {name} accumulate at t = {t + 2 * abs(rate / bend):.9g}: it no longer leaves zero by more than "
            f"rounding; a one-sided constraint with restitution goes on from there."
        )
    return ""
