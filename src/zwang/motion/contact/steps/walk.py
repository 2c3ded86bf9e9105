"""Step after step: from a start to the end, with what is kept at the saved times."""

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from zwang.arrays import Array
from zwang.compile import Kernel
from zwang.engines.native.engine import compiled
from zwang.engines.task import PROGRESS_EVERY, EventHit, Status, Trajectory
from zwang.errors import InputError
from zwang.evaluation import contact_scale
from zwang.lowering.events import event_program
from zwang.lowering.rows import RowBasis
from zwang.model.event import REACTION
from zwang.motion.contact.impact import Stop
from zwang.motion.contact.record import Transition
from zwang.motion.contact.steps.scheme import Scheme, Step
from zwang.motion.setup import Setup
from zwang.motion.start import Start, State, require_satisfied

FITS = 1e-9  # of a step: a span that is longer by no more takes no further step
POWERS_AT_ONCE = 256  # middles of steps whose powers are evaluated together


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
    events = event_kernel(setup)
    middles: list[State] = []
    ledger = compiled(scheme.made.ledger)
    state, status, notes = start.state, Status.FINISHED, []
    pushed, last, began = np.zeros(len(scheme.rows), dtype=bool), clock.perf_counter(), clock.perf_counter()
    readings = events(state) if events else np.zeros(0)
    at = 0
    try:
        for k in range(count):
            done = scheme.forward(state, until if k + 1 == count else begin + (until - begin) * ((k + 1) / count))
            found.steps += 1
            end = done.end
            now = events(end) if events else readings
            over, stops = met(setup, found, done, readings, now)
            at = save(found, grid, at, k, done, over)
            note(found, scheme, done, pushed)
            middles.append(done.middle)
            if len(middles) >= POWERS_AT_ONCE:
                found.powers += powers(ledger, setup, middles)
                middles.clear()
            pushed, readings, state = done.multipliers[scheme.rows] > 0, now, end
            if stops:
                status, state = Status.EVENT, (found.hits[-1].t, found.hits[-1].q, found.hits[-1].v)
                break
            if watch is not None and clock.perf_counter() - last > PROGRESS_EVERY:
                watch(state[0])
                last = clock.perf_counter()
        if watch is not None:
            watch(state[0])
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    except Stop as end_of_it:
        status, notes = end_of_it.status, [str(end_of_it)]
    found.powers += powers(ledger, setup, middles)
    n = len(start.state[1])
    path = Trajectory(
        status,
        np.array([s.q for s in found.saved]).reshape(-1, n),
        np.array([s.v for s in found.saved]).reshape(-1, n),
        state,
        steps=found.steps,
        evaluations=found.steps * (3 if scheme.made.hastens else 2),
        hits=tuple(found.hits),
        run_seconds=clock.perf_counter() - began,
        notes=tuple(notes),
    )
    return found, path


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


def event_kernel(setup: Setup) -> Callable[[State], Array] | None:
    """What the user's events read at a state; those that ask for forces are refused."""
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
    kernel, count = compiled(program), len(setup.events)

    def reading(state: State) -> Array:
        t, q, v = state
        return np.asarray(kernel(t=np.array([t]), q=q, v=v, p=setup.p)["event"][:count])

    return reading


def powers(ledger: Kernel, setup: Setup, middles: Sequence[State]) -> list[float]:
    """The powers of given forces at some states."""
    if not middles:
        return []
    t, q, v = (np.array(part) for part in zip(*middles, strict=True))
    return np.asarray(ledger(t=t[:, None], q=q, v=v, p=setup.p)["power"]).ravel().tolist()


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


def save(found: Walk, grid: Array, at: int, number: int, step: Step, over: float) -> int:
    """Keep the states at saved times within a step, of which so much is the motion's."""
    t, later = step.begin[0], step.end[0]
    while at < len(grid) and grid[at] <= later:
        share = (grid[at] - t) / (later - t)
        if share > over:
            break
        if share <= 0:
            found.saved.append(Saved(step.begin[1], step.begin[2], number, 0.0, step))
        else:
            found.saved.append(Saved(*within(step, share), number, share, step))
        at += 1
    return at


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


def note(found: Walk, scheme: Scheme, step: Step, pushed: Array) -> None:
    """Write down work, depth, what is left of laws, and impacts of contacts that did not push before."""
    (t, _, v), rows = step.begin, scheme.rows
    found.works.append(done_by(step, 1.0))
    found.sweeps += step.sweeps
    found.dulled += step.dulled
    deep = int(np.argmax(step.depth))
    if step.depth[deep] > found.deepest[0]:
        found.deepest = (float(step.depth[deep]), rows[deep], step.end[0])
    if step.left > found.worst[0]:
        found.worst = (step.left, step.end[0])
    pushes = step.multipliers[rows] > 0
    gamma, after = step.speeds
    new = pushes & ~pushed.astype(bool) & (gamma < 0)
    if not new.any():
        return
    cause = int(np.argmin(np.where(new, gamma, 0.0)))
    impulse = step.multipliers[rows]
    # ΔT = ½Λ(γ⁺ + γ⁻): what the surfaces' own motion does is no loss
    loss = -0.5 * float(np.nansum(impulse * (gamma + after)))
    middle = t + (step.end[0] - t) / 2
    found.transitions.append(Transition((middle, step.begin[1], v), "impact", rows[cause], step.v, impulse, loss))
