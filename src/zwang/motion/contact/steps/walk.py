"""Step after step: from a start to the end, with what is kept at the saved times."""

import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.compile import Kernel
from zwang.engines.native.engine import compiled
from zwang.engines.stepping.record import Outcome
from zwang.engines.stepping.tables import AT_A_TIME, Loop, fits, parts_of
from zwang.engines.task import PROGRESS_EVERY, EventHit, Status, Trajectory
from zwang.errors import InputError
from zwang.evaluation import contact_scale
from zwang.lowering.events import event_program
from zwang.lowering.rows import RowBasis
from zwang.model.event import REACTION
from zwang.motion.contact.impact import Stop
from zwang.motion.contact.record import Transition
from zwang.motion.contact.steps.scheme import Scheme
from zwang.motion.contact.steps.step import Acting, Step
from zwang.motion.setup import Setup
from zwang.motion.start import Start, State, require_satisfied

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

    scheme: Scheme
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
    scheme = Scheme(setup, start.state)
    found = Walk(scheme)
    require_within(setup, start)
    begin, until = start.state[0], float(grid[-1])
    count = max(1, int(np.ceil((until - begin) / step * (1 - FITS))))
    way = Way(found, setup, grid, begin + (until - begin) * (np.arange(1, count + 1) / count))
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
        evaluations=found.steps * (3 if scheme.made.hastens else 2),
        hits=tuple(found.hits),
        run_seconds=clock.perf_counter() - began,
        notes=tuple(notes),
    )
    return found, path


class Way:
    """Steps one after the other: in machine code where it is made for them, and the hard ones one by one."""

    def __init__(self, found: Walk, setup: Setup, grid: Array, ends: Array) -> None:
        """What is found is written down in `found`; steps end at `ends`."""
        self.found, self.setup, self.grid, self.ends = found, setup, grid, ends
        self.scheme = found.scheme
        self.event = event_kernel(setup)
        self.ledger = compiled(self.scheme.made.ledger)
        self.at = 0
        """The number of the next saved time."""
        self.state: State

    def readings(self, state: State) -> Array:
        """What the user's events read at a state."""
        if self.event is None:
            return np.zeros(0)
        t, q, v = state
        return np.asarray(self.event(t=np.array([t]), q=q, v=v, p=self.setup.p)["event"][: len(self.setup.events)])

    def go(self, start: State, watch: Callable[[float], None] | None) -> Status:
        """To the end, or to an event that stops."""
        self.state, scheme, count = start, self.scheme, len(self.ends)
        given = scheme.given(self.ledger, self.event)
        loop = Loop(given) if given is not None and fits(given) else None
        if loop is not None:
            wanted = np.zeros(count, dtype=bool)
            wanted[np.minimum(np.searchsorted(self.ends, self.grid), count - 1)] = True
            loop.begin(start[0], float(self.ends[-1]), count, wanted)
            loop.q[:], loop.v[:], loop.rates[:] = start[1], start[2], scheme.rates
            loop.readings[: given.events if given else 0] = self.readings(start)
        number, most, last = 0, 1, clock.perf_counter()
        while number < count:
            before = clock.perf_counter()
            stops = self.by_loop(loop, most) if loop is not None else self.one(number)
            number, now = (loop.number if loop is not None else number + 1), clock.perf_counter()
            most = min(2 * most, AT_A_TIME) if now - before < PROGRESS_EVERY / 4 else max(1, most // 2)
            if stops:
                return Status.EVENT
            if watch is not None and now - last > PROGRESS_EVERY:
                watch(self.state[0])
                last = now
        if watch is not None:
            watch(self.state[0])
        return Status.FINISHED

    def by_loop(self, loop: Loop, most: int) -> bool:
        """Some steps in machine code; whether an event has stopped the motion. A hard step is made in Python."""
        found, scheme, events = self.found, self.scheme, len(self.setup.events)
        outcome, short, full = loop.advance(most)
        write_down(found, scheme, short, self.ends)
        self.state = loop.t, loop.q.copy(), loop.v.copy()
        stops = False
        for k, row in enumerate(full):
            done, parts = step_of(row, scheme)
            over = 1.0
            if outcome is Outcome.EVENT and k + 1 == len(full):
                over, stops = met(self.setup, found, done, loop.readings[events:], loop.readings[:events])
            self.save(int(parts["number"]), done, over)
            if parts["impact"] >= 0:
                found.transitions.append(impact_in(done, scheme.rows, int(parts["impact"])))
        if stops:
            self.state = (found.hits[-1].t, found.hits[-1].q, found.hits[-1].v)
        elif outcome is Outcome.HARD:
            scheme.rates, scheme.last, scheme.stuck = loop.rates.copy(), loop.last.copy(), loop.stuck > 0
            stops = self.one(loop.number)
            _, loop.q[:], loop.v[:] = self.state
            loop.rates[:], loop.last[:], loop.stuck[:] = scheme.rates, scheme.last, scheme.stuck
            loop.readings[:events] = self.readings(self.state)
            loop.go_on(self.state[0])
        return stops

    def one(self, number: int) -> bool:
        """One step in Python; whether an event has stopped the motion."""
        found, scheme, state = self.found, self.scheme, self.state
        pushed = scheme.last[scheme.rows] > 0
        done = scheme.forward(state, float(self.ends[number]))
        over, stops = met(self.setup, found, done, self.readings(state), self.readings(done.end))
        self.save(number, done, over)
        note(found, scheme, done, pushed)
        t, q, v = done.middle
        found.powers.append(float(self.ledger(t=np.array([t]), q=q, v=v, p=self.setup.p)["power"]))
        self.state = (found.hits[-1].t, found.hits[-1].q, found.hits[-1].v) if stops else done.end
        return stops

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


def write_down(found: Walk, scheme: Scheme, short: Array, ends: Array) -> None:
    """Work, depth and what is left of laws, of steps in machine code."""
    if not len(short):
        return
    ends = ends[found.steps : found.steps + len(short)]
    power, work, depth, which, left, sweeps = short.T
    found.powers += power.tolist()
    found.works += work.tolist()
    found.steps += len(short)
    found.sweeps += int(sweeps.sum())
    deep, worst = int(np.argmax(depth)), int(np.argmax(left))
    if depth[deep] > found.deepest[0]:
        found.deepest = (float(depth[deep]), scheme.rows[int(which[deep])], float(ends[deep]))
    if left[worst] > found.worst[0]:
        found.worst = (float(left[worst]), float(ends[worst]))


def step_of(row: Array, scheme: Scheme) -> tuple[Step, dict[str, Any]]:
    """A step that was kept in full in machine code."""
    x = parts_of(row, len(scheme.setup.system.coordinates), len(scheme.last), len(scheme.rows))
    return Step(
        (x["t"], x["q"], x["v"]), (x["until"], x["end_q"], x["end_v"]), x["after"], x["jump"], x["moved"],
        x["multipliers"], x["impulse"], (x["before"], x["speed_after"]), x["sticks"] > 0, x["left"], int(x["sweeps"]),
        x["depth"], Acting(int(x["rank"]), None, bool(x["unique"])), False, bool(x["struck"]),
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


def met(setup: Setup, found: Walk, step: Step, before: Array, after: Array) -> tuple[float, bool]:
    """Events of a step, in their order; how much of the step is over, and whether one has stopped the motion."""
    hits = []
    for which, event in enumerate(setup.events):
        a, b = float(before[which]), float(after[which])
        if a != 0 and a * b <= 0 and (event.direction == 0 or event.direction * a < 0):
            hits.append((a / (a - b), which))
    t, h = step.begin[0], step.end[0] - step.begin[0]
    for share, which in sorted(hits):
        found.hits.append(EventHit(t + share * h, which, *within(step, share)))
        if setup.events[which].stop:
            return share, True
    return 1.0, False


def note(found: Walk, scheme: Scheme, step: Step, pushed: NDArray[np.bool_]) -> None:
    """Write down work, depth, what is left of laws, and impacts of contacts that did not push before."""
    rows = scheme.rows
    found.works.append(done_by(step, 1.0))
    found.steps += 1
    found.sweeps += step.sweeps
    found.dulled += step.dulled
    deep = int(np.argmax(step.depth))
    if step.depth[deep] > found.deepest[0]:
        found.deepest = (float(step.depth[deep]), rows[deep], step.end[0])
    if step.left > found.worst[0]:
        found.worst = (step.left, step.end[0])
    gamma = step.speeds[0]
    new = (step.multipliers[rows] > 0) & ~pushed & (gamma < 0)
    if new.any():
        found.transitions.append(impact_in(step, rows, int(np.argmin(np.where(new, gamma, 0.0)))))


def impact_in(step: Step, rows: list[int], cause: int) -> Transition:
    """The impact in a step, in its middle, which a contact has caused."""
    (t, q, v), impulse, (gamma, after) = step.begin, step.multipliers[rows], step.speeds
    # ΔT = ½Λ(γ⁺ + γ⁻): what the surfaces' own motion does is no loss
    loss = -0.5 * float(np.nansum(impulse * (gamma + after)))
    return Transition((t + (step.end[0] - t) / 2, q, v), "impact", rows[cause], step.v, impulse, loss)
