"""Step after step: from a start to the end, with what is kept at the saved times."""

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zwang.arrays import Array, Indices
from zwang.compile import Kernel
from zwang.engines.native.engine import compiled
from zwang.engines.stepping.record import Outcome
from zwang.engines.stepping.tables import AT_A_TIME, Loop, parts_of
from zwang.engines.task import PROGRESS_EVERY, EventHit, Status, Trajectory
from zwang.errors import InputError
from zwang.evaluation import contact_scale
from zwang.lowering.events import event_program
from zwang.lowering.rows import RowBasis
from zwang.model.event import REACTION, Event
from zwang.model.symbols import in_a_line
from zwang.motion.contact.impact import Stop
from zwang.motion.contact.record import Transition
from zwang.motion.contact.steps.numbers import Numbers
from zwang.motion.contact.steps.poles import infinite_at, poles_of, zero_within
from zwang.motion.contact.steps.step import Step
from zwang.motion.setup import Setup
from zwang.motion.start import Start, State, require_satisfied

REASONS = {
    Outcome.SINGULAR: (Status.SINGULAR, "Masses and constraints determine no velocities there."),
    Outcome.NOT_FINITE: (Status.NOT_FINITE, "A velocity is not finite after the step."),
}
FITS = 1e-9  # of a step: a span that is longer by no more takes no further step


@dataclass(frozen=True)
class Saved:
    """A saved state, the step that it is in, and how much of the step is over."""

    q: Array
    v: Array
    number: int
    share: float
    step: Step


@dataclass
class Walk:
    """What was met on the way."""

    numbers: Numbers
    saved: list[Saved] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    powers: list[float] = field(default_factory=list)
    """Of given forces, in each step."""
    works: list[float] = field(default_factory=list)
    """Of constraints and contacts, in each step."""
    deepest: tuple[float, int, float] = (0.0, -1, 0.0)
    """The deepest penetration, of which contact, and when."""
    worst: tuple[float, float] = (0.0, 0.0)
    """The most that was left of a law, as a share of the largest speed, and when."""
    sweeps: int = 0
    dulled: int = 0
    """Steps in which restitutions contradicted each other."""
    steps: int = 0
    hits: list[EventHit] = field(default_factory=list)


def walk(setup: Setup, start: Start, grid: Array, step: float, watch: Callable[[float], None] | None) -> tuple[
    Walk, Trajectory
]:  # fmt: skip
    """The motion from a start to the end of the grid, in equal steps not longer than `step`."""
    require_satisfied(start)
    users, setup = setup.events, replace(setup, events=(*setup.events, *poles_of(setup.system)))
    numbers = Numbers(setup, start.state)
    found = Walk(numbers)
    require_within(setup, start)
    begin, until = start.state[0], float(grid[-1])
    count = max(1, int(np.ceil((until - begin) / step * (1 - FITS))))
    way = Way(found, setup, len(users), grid, begin + (until - begin) * (np.arange(1, count + 1) / count))
    way.ends[-1] = until
    status, notes, began = Status.FINISHED, [], clock.perf_counter()
    try:
        status = way.go(start.state, watch)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    except Stop as end_of_it:
        status, notes = end_of_it.status, [str(end_of_it)]
    n = len(start.state[1])
    path = Trajectory(
        status,
        np.array([s.q for s in found.saved]).reshape(-1, n),
        np.array([s.v for s in found.saved]).reshape(-1, n),
        way.state,
        steps=found.steps,
        evaluations=found.steps * (3 if numbers.made.hastens else 2),
        hits=tuple(found.hits),
        run_seconds=clock.perf_counter() - began,
        notes=tuple(notes),
    )
    return found, path


class Way:
    """Steps one after the other, in machine code, some at a time."""

    def __init__(self, found: Walk, setup: Setup, own: int, grid: Array, ends: Array) -> None:
        """What is found is written down in `found`; steps end at `ends`. Behind its `own` events stand poles."""
        self.found, self.setup, self.own, self.grid, self.ends = found, setup, own, grid, ends
        self.numbers, self.contacts = found.numbers, np.array(found.numbers.rows, dtype=np.int64)
        self.event = event_kernel(setup)
        self.ledger = compiled(self.numbers.made.ledger)
        self.at = 0
        """The number of the next saved time."""
        self.state: State
        self.loop: Loop

    def readings(self, state: State) -> Array:
        """What the user's events read at a state."""
        if self.event is None:
            return np.zeros(0)
        t, q, v = state
        return np.asarray(self.event(t=np.array([t]), q=q, v=v, p=self.setup.p)["event"][: len(self.setup.events)])

    def go(self, start: State, watch: Callable[[float], None] | None) -> Status:
        """To the end, or to an event that stops."""
        self.state, count = start, len(self.ends)
        self.loop = Loop(self.numbers.given(self.ledger, self.event))
        wanted = np.zeros(count, dtype=bool)
        wanted[np.minimum(np.searchsorted(self.ends, self.grid), count - 1)] = True
        self.loop.begin(start[0], float(self.ends[-1]), count, wanted)
        self.loop.q[:], self.loop.v[:], self.loop.rates[:] = start[1], start[2], self.numbers.at_start.residual_rate
        self.loop.readings[: len(self.setup.events)] = self.readings(start)
        most, last = 1, clock.perf_counter()
        while self.loop.number < count:
            before = clock.perf_counter()
            stops = self.some(most)
            now = clock.perf_counter()
            most = min(2 * most, AT_A_TIME) if now - before < PROGRESS_EVERY / 4 else max(1, most // 2)
            if stops:
                return Status.EVENT
            if watch is not None and now - last > PROGRESS_EVERY:
                watch(self.state[0])
                last = now
        if watch is not None:
            watch(self.state[0])
        return Status.FINISHED

    def some(self, most: int) -> bool:
        """Some steps; whether an event has stopped the motion."""
        loop, found, events = self.loop, self.found, len(self.setup.events)
        outcome, short, full = loop.advance(most)
        write_down(found, self.numbers, short, self.ends)
        self.state = loop.t, loop.q.copy(), loop.v.copy()
        stops, infinite = False, ""
        for k, row in enumerate(full):
            done, parts = step_of(row, self.numbers)
            over = 1.0
            if outcome is Outcome.EVENT and k + 1 == len(full):
                before, after = loop.readings[events:], loop.readings[:events]
                over, infinite = self.first_pole(done, before, after)
                over, stops = met(self.setup.events[: self.own], found, done, before, after, over)
            self.save(int(parts["number"]), done, over)
            if infinite and not stops:
                self.state = done.begin
                raise Stop(Status.NOT_FINITE, infinite)
            if parts["impact"] >= 0:
                found.transitions.append(impact_in(done, self.contacts, int(parts["impact"])))
        if stops:
            self.state = (found.hits[-1].t, found.hits[-1].q, found.hits[-1].v)
        elif outcome is Outcome.SINGULAR and not loop.lifted_by_all:
            loop.lift_by_all()
        elif outcome in REASONS:
            raise Stop(*REASONS[outcome])
        return stops

    def first_pole(self, step: Step, before: Array, after: Array) -> tuple[float, str]:
        """How much of a step is over where something becomes infinite in it, and what; all of it where nothing does."""
        found = [(1.0, "")]
        for which in range(self.own, len(self.setup.events)):
            if before[which] * after[which] > 0:
                continue

            def at(share: float) -> State:
                return (step.begin[0] + share * (step.end[0] - step.begin[0]), *within(step, share))

            def reading(share: float, which: int = which) -> float:
                return float(self.readings(at(share))[which])

            share = zero_within(reading, 0.0, 1.0)
            if whose := infinite_at(lambda share: self.numbers.matrices(*at(share)), share, self.setup.system):
                place = f"{in_a_line(self.setup.events[which].expression)} = 0"
                found.append((share, f"{whose[0].upper()}{whose[1:]} is infinite where {place}, within a step."))
        return min(found)

    def save(self, number: int, step: Step, over: float) -> None:
        """Keep the states at saved times within a step, of which so much is the motion's."""
        t, later = step.begin[0], step.end[0]
        while self.at < len(self.grid) and self.grid[self.at] <= later:
            share = (self.grid[self.at] - t) / (later - t)
            if share > over:
                break
            state = within(step, share) if share > 0 else step.begin[1:]
            self.found.saved.append(Saved(*state, number, max(share, 0.0), step))
            self.at += 1


def write_down(found: Walk, numbers: Numbers, short: Array, ends: Array) -> None:
    """Work, depth and what is left of laws, of steps in machine code."""
    if not len(short):
        return
    ends = ends[found.steps : found.steps + len(short)]
    power, work, depth, which, left, sweeps, dulled = short.T
    found.powers += power.tolist()
    found.works += work.tolist()
    found.steps += len(short)
    found.sweeps += int(sweeps.sum())
    found.dulled += int(dulled.sum())
    deep, worst = int(np.argmax(depth)), int(np.argmax(left))
    if depth[deep] > found.deepest[0]:
        found.deepest = (float(depth[deep]), numbers.rows[int(which[deep])], float(ends[deep]))
    if left[worst] > found.worst[0]:
        found.worst = (float(left[worst]), float(ends[worst]))


def step_of(row: Array, numbers: Numbers) -> tuple[Step, dict[str, Any]]:
    """A step that was kept in full in machine code."""
    x = parts_of(row, len(numbers.setup.system.coordinates), numbers.count, len(numbers.rows))
    return Step(
        (x["t"], x["q"], x["v"]), (x["until"], x["end_q"], x["end_v"]), x["after"], x["jump"], x["moved"],
        x["multipliers"], x["impulse"], (x["before"], x["speed_after"]), x["sticks"] > 0, int(x["rank"]),
        bool(x["unique"]), bool(x["struck"]),
    ), x  # fmt: skip


def require_within(setup: Setup, start: Start) -> None:
    """Refuse a start beyond a limit, by name and by how much."""
    now = start.matrices
    near = contact_scale(now, start.state[1], now.size)
    fast = contact_scale(now, start.state[2], now.rate_size)
    for i, c in enumerate(setup.system.constraints):
        if not c.one_sided:
            continue
        reading, allowed = (now.residual_rate[i], fast[i]) if c.order else (now.residual[i], near[i])
        if reading < -allowed:
            raise InputError(
                f"the start is beyond the limit {c.name!r} by {-reading:.6g}: it asks for {c.expression} >= 0; move "
                f"the start back to it"
            )


def event_kernel(setup: Setup) -> Kernel | None:
    """The kernel of what the user's events read at a state; those that ask for forces are refused."""
    if not setup.events:
        return None
    for event in setup.events:
        asked = sorted(str(s) for s in event.expression.free_symbols if REACTION.fullmatch(str(s)))
        if asked:
            raise InputError(
                f"event {event.name!r} asks for {asked[0]}, which contacts='steps' knows as impulses only: watch "
                f"positions and velocities, or use contacts='events'"
            )
    program = event_program(setup.system, setup.symbols, setup.lowered, RowBasis(()), setup.events, None)
    return compiled(program)


def within(step: Step, share: float) -> tuple[Array, Array]:
    """Positions and velocities when so much of a step is over.

    Velocities change steadily; what contacts that meet do to them, they do in the middle.
    """
    (t, q, v), (later, q_end, v_end) = step.begin, step.end
    if share >= 1:
        return q_end, v_end
    h, jump = later - t, step.jump if step.struck else np.zeros(len(v))
    steady, over = step.v - v - jump, share >= 0.5
    q = q + h * (share * v + share**2 / 2 * steady) + h * (share - 0.5) * over * jump + share * step.moved
    return q, v + share * (steady + v_end - step.v) + over * jump


def done_by(step: Step, share: float) -> float:
    """The work of constraints and contacts when so much of a step is over."""
    v, change = step.begin[2], step.v - step.begin[2]
    if step.struck:
        return float(step.impulse @ (v + change / 2)) if share >= 0.5 else 0.0
    return float(step.impulse @ (share * v + share**2 / 2 * change))


def met(
    events: Sequence[Event], found: Walk, step: Step, before: Array, after: Array, over: float
) -> tuple[float, bool]:
    """Events of a step, in their order; how much of the step is over, and whether one has stopped the motion.

    The step itself is `over` where a pole is in it.
    """
    hits = []
    for which, event in enumerate(events):
        a, b = float(before[which]), float(after[which])
        if a != 0 and a * b <= 0 and (event.direction == 0 or event.direction * a < 0):
            hits.append((a / (a - b), which))
    t, h = step.begin[0], step.end[0] - step.begin[0]
    for share, which in sorted(hit for hit in hits if hit[0] <= over):
        found.hits.append(EventHit(t + share * h, which, *within(step, share)))
        if events[which].stop:
            return share, True
    return over, False


def impact_in(step: Step, rows: Indices, cause: int) -> Transition:
    """The impact in a step, in its middle, which a contact has caused."""
    (t, q, v), impulse, (gamma, after) = step.begin, step.multipliers[rows], step.speeds
    pushes = np.flatnonzero(impulse)
    # ΔT = ½Λ(γ⁺ + γ⁻): what the surfaces' own motion does is no loss
    loss = -0.5 * float(impulse[pushes] @ (gamma + after)[pushes])
    return Transition((t + (step.end[0] - t) / 2, q, v), "impact", int(rows[cause]), step.v, impulse, loss)
