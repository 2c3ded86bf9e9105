"""What an engine is asked, and what it answers."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np

from zwang.arrays import Array, Indices
from zwang.compile import AnyProgram, Program

NO_PARTS: Array = np.zeros(0)
T = TypeVar("T")

STEP_LIMIT = 10_000_000
"""Steps after which an engine that steps in Python gives up."""
PROGRESS_EVERY = 0.05  # seconds between two words on progress


class Status(StrEnum):
    """Why a simulation ended; each with what to do about it in `REMEDY`."""

    FINISHED = "finished"
    EVENT = "event"
    INTERRUPTED = "interrupted"
    SINGULAR = "singular"
    INCONSISTENT = "inconsistent"
    NOT_FINITE = "not finite"
    STEP_TOO_SMALL = "step too small"
    TOO_MANY_STEPS = "too many steps"
    SLIDING = "sliding"
    UNRESOLVED = "unresolved"
    CHATTERING = "chattering"
    NO_SOLUTION = "no solution"
    UNDECIDED = "undecided"
    SEVERAL_SOLUTIONS = "several solutions"
    ENERGY_GAIN = "energy gain at impact"
    BAD_RESET = "bad reset"


GOES_ON = Status.FINISHED
"""The same of a part of a run, a step or a stretch of it: it came to its own end, and the run may go on from there."""


REMEDY = {
    Status.SINGULAR: "look at the verdict there (zwang.diagnose), start elsewhere, or end before it",
    Status.INCONSISTENT: "the constraints contradict each other there: check what they ask for at that time",
    Status.NOT_FINITE: "a force, mass or constraint is infinite or not a number there: check its expression",
    Status.STEP_TOO_SMALL: "ask for a looser tol, or use method='radau' if the system is stiff",
    Status.SLIDING: "smooth what switches there, as tanh(v/eps) for sign(v), or end before it",
    Status.TOO_MANY_STEPS: "ask for a looser tol or a shorter time, or use method='radau' if the system is stiff",
    Status.CHATTERING: "contacts do not come to rest there: choose another law of impacts, or change the model",
    Status.NO_SOLUTION: "friction and its like have no answer for rigid bodies there: lower them, or end before it",
    Status.UNDECIDED: "what contacts do there was not found, which proves nothing: use contacts='steps'",
    Status.SEVERAL_SOLUTIONS: "Coulomb's friction does not say what happens there: lower it, or end before it",
    Status.ENERGY_GAIN: "restitution of velocities does not go with friction there: use impacts='poisson'",
    Status.BAD_RESET: "check what the event's reset sets the state to there",
    Status.UNRESOLVED: "an event varies faster there than time is resolved: check its expression",
}


@dataclass(frozen=True)
class EventTask:
    """Events as a program with one output `event`; directions −1, 0 or 1; which of them stop the run.

    `signals` says which of them hold signals: what these jump over at their knots they do not reach. A direction that
    is not a number is that of a switch: it is not an event, but where it is zero the others may jump or have a kink.
    """

    program: AnyProgram
    direction: tuple[float, ...]
    stop: tuple[bool, ...]
    signals: tuple[bool, ...] = ()

    @classmethod
    def of(
        cls, program: AnyProgram, direction: Sequence[float], stop: Sequence[bool], signals: Sequence[bool] = ()
    ) -> "EventTask":
        """Outputs of the program beyond the directions that are given are switches."""
        more = len(program.outputs["event"]) - len(direction)
        return cls(program, (*direction, *[np.nan] * more), (*stop, *[False] * more), tuple(signals))

    @property
    def jumps(self) -> tuple[bool, ...]:
        """Whether an event fires that is on the other side of zero right behind a break."""
        return tuple(not any(self.signals[j : j + 1]) for j in range(len(self.direction)))


@dataclass(frozen=True, eq=False)
class KickTask:
    """Events at which velocities may jump and the run goes on, for the native engine; others stop there.

    The program has for each of these events velocities after the jump (n), the energy that it brings and two more
    numbers, and readings; these must not exceed `most` (kicks, readings). No other event may be nearer to zero than
    `apart` (events).
    """

    program: Program
    first: int
    """The first of these events."""
    most: Array
    apart: Array


@dataclass(frozen=True, eq=False)
class Pencil:
    """How an acceleration that is found by linear equations changes with its state.

    q̈ obeys F(t, q, q̇, q̈, λ) = 0 with unknowns λ beside it. The program has inputs as the acceleration, and gives the
    entries of ∂F/∂q̈ `second`, ∂F/∂q̇ `first`, ∂F/∂q `zeroth` and ∂F/∂λ `border`; `where` says in which rows and columns
    of a matrix of `size` they are, the columns of λ behind those of q.
    """

    program: AnyProgram
    where: Mapping[str, tuple[Indices, Indices]]
    size: int


@dataclass(frozen=True)
class Task:
    """An initial value problem q̈ = f(t, q, q̇; p).

    Programs have inputs t (1), q (n), v (n), p (k), in this order. `acceleration` has outputs `acceleration` (n),
    `pivots` (g), which are positive where the equation is regular, and `power` (1 + k), if forces change the energy:
    that of all of them, and of parts whose work is wanted by itself; `projection` has dq, dv (n) and the largest
    residual and residual_rate (1). `times` are the times to save, ascending (descending for a run backwards),
    the first not before t and the last the end.
    """

    acceleration: AnyProgram
    t: float
    q: Array
    v: Array
    p: Array
    times: Array
    tol: float
    pivot_scale: Array
    pivot_tol: float = 3e-4
    """A pivot below this share of its scale counts as vanishing; 0 watches nothing."""
    growing: int = 0
    """So many pivots, the first ones, are judged by the largest value along the run, once that is larger."""
    volume: float = -np.inf
    """The largest product of these that was met before, as a logarithm."""
    events: EventTask | None = None
    at_zero: tuple[int, ...] = ()
    """Events that count as zero at the start, until they have left it."""
    projection: AnyProgram | None = None
    bridge: AnyProgram | None = None
    """The same, for the native engine to step across singular positions."""
    kick: KickTask | None = None
    """How velocities jump at some events that stop the run, so that it need not stop."""
    could_bridge: bool = False
    """Without it: the engine stops well before a singular position, so that it can be asked again with it."""
    breaks: Array = field(default_factory=lambda: np.zeros(0))
    """Instants right after which the acceleration or a derivative of it jumps: a step must end at each."""
    pencil: Pencil | None = None
    """How the acceleration of a large system changes, for implicit methods."""
    switches: Any = None
    """What is held while an engine runs and changed in between (`switching`); engines themselves do not look at it."""
    step_limit: int = 100_000_000
    """Attempted steps after which the native engine gives up."""
    max_step: float = np.inf
    """No step is longer."""
    quiet_step: float = np.inf
    """The longest step while the error says nothing of the size that is needed: a free body is followed exactly by a
    step of any size, which then sees nothing of a narrow force on the way."""
    progress: Callable[[float], None] | None = None
    """Called now and then with the time reached; KeyboardInterrupt may be raised at any of these calls."""

    @property
    def powers(self) -> int:
        """How many powers the acceleration program gives: none, or one and those of parts."""
        return len(self.acceleration.outputs.get("power", ()))


@dataclass(frozen=True)
class EventHit:
    """An event that was met; and where the state has jumped to there, if it has, and the energy that is gone."""

    t: float
    which: int
    q: Array
    v: Array
    after: tuple[Array, Array] | None = None
    loss: float = 0.0


@dataclass(frozen=True)
class Bridge:
    """A step across a singular position: its instant, the least pivot there, the states (t, q, v) before and after."""

    instant: float
    least: float
    start: tuple[float, Array, Array]
    end: tuple[float, Array, Array]


@dataclass(frozen=True)
class Rest:
    """A switch along which the motion went on, in words, from when until when."""

    switch: str
    begin: float
    end: float


@dataclass(frozen=True)
class Trace:
    """What an engine keeps of its saved times beside q and v: what the motion can be held against.

    `work` (T,) is that of all forces since the engine began; `slope` (T, n) is v̇ of the motion as it was
    interpolated, in steps of `size` (T,), which is 0 where nothing was.
    """

    work: Array
    slope: Array
    size: Array
    parts: Array = field(default_factory=lambda: NO_PARTS)
    """(T, k) parts of the work, or (0,) for none."""

    @classmethod
    def of(cls, rows: Sequence[tuple[Array, float, Array]], n: int) -> "Trace":
        """From works, size and slope of each saved time; the first of the works is that of all forces."""
        if not rows:
            return cls(np.zeros(0), np.zeros((0, n)), np.zeros(0))
        works, size, slope = (np.array([row[i] for row in rows], dtype=float) for i in range(3))
        return cls(works[:, 0], slope, size, works[:, 1:])

    def first(self, count: int) -> "Trace":
        """The trace of the first saved times only."""
        return Trace(self.work[:count], self.slope[:count], self.size[:count], self.parts[:count])

    def before(self, then: "Trace", worked: float, parts: Array = NO_PARTS) -> "Trace":
        """This one and that of a next stretch, which began after so much work, and such parts of it."""
        return Trace(
            np.concatenate([self.work, worked + then.work]),
            np.concatenate([self.slope, then.slope]),
            np.concatenate([self.size, then.size]),
            np.concatenate([self.parts, then.parts + parts]) if self.parts.size or then.parts.size else NO_PARTS,
        )

    def padded(self, count: int, worked: float, parts: Array = NO_PARTS) -> "Trace":
        """With states behind, up to so many, that were saved without a step after so much work."""
        more = count - len(self.work)
        if not more:
            return self
        nothing = np.zeros((more, len(parts))) if parts.size else NO_PARTS
        behind = Trace(np.zeros(more), np.zeros((more, self.slope.shape[1])), np.zeros(more), nothing)
        return self.before(behind, worked, parts)


@dataclass(frozen=True)
class Trajectory:
    """A computed motion: q and v (T, n) at the saved times that were reached, and how the engine fared.

    `end` is the last state (t, q, v), which after a stop is not on the saved grid.
    """

    status: Status
    q: Array
    v: Array
    end: tuple[float, Array, Array]
    trace: Trace | None = None
    worked: float = 0.0
    """The work of all forces up to the end."""
    parts: Array = field(default_factory=lambda: NO_PARTS)
    """(k,) parts of it, if the program has some."""
    turned: float = 0.0
    """The work of all steps, whatever its sign: how much energy has come and gone."""
    steps: int = 0
    evaluations: int = 0
    hits: tuple[EventHit, ...] = ()
    bridges: tuple[Bridge, ...] = ()
    kicks: tuple[Array, ...] = ()
    """Blocks (k, 5 + 3n) of jumps: t, which event, three numbers of the program's, q, v before, v after."""
    leapt: float = 0.0
    """The errors of leaps, as estimated, added up."""
    left: float = 0.0
    """The largest residual of a constraint that projection could not take away."""
    astray: bool = False
    """Whether it stopped because the state might be taken for one on another branch of its constraints."""
    best: tuple[float, Array, Array] | None = None
    """The state at which one of the growing pivots was last found larger than before."""
    pivot_scale: Array | None = None
    """What pivots are judged by at the end."""
    volume: float = -np.inf
    """The largest product of the growing pivots, as a logarithm."""
    compile_seconds: float = 0.0
    run_seconds: float = 0.0
    modes: Array | None = None
    """(T, k) how switches were held at the saved times, if some were at rest (`switching`)."""
    rests: tuple[Rest, ...] = ()
    notes: tuple[str, ...] = field(default=())
    doubts: tuple[str, ...] = field(default=())
    """What cannot be vouched for (`certificate`)."""


def altered(thing: T, **changes: Any) -> T:
    """A frozen dataclass with some fields changed: `dataclasses.replace` in a fraction of its time, without checks."""
    kind: Any = type(thing)
    new, own, names = object.__new__(kind), thing.__dict__, kind.__dataclass_fields__
    # beside its fields a thing may have what was computed of them
    new.__dict__.update(own if len(own) == len(names) else {name: own[name] for name in names}, **changes)
    found: T = new
    return found


def packed(t: float | Array, y: Array, p: Array) -> Array:
    """[t, q, v, p] as kernels take them, y being [q, v]: one row, or one for each of several states."""
    rows = np.empty((*np.broadcast_shapes(y.shape[:-1], p.shape[:-1]), 1 + y.shape[-1] + p.shape[-1]))
    rows[..., 0], rows[..., 1 : 1 + y.shape[-1]], rows[..., 1 + y.shape[-1] :] = t, y, p
    return rows


def named(program: AnyProgram, rows: Array) -> dict[str, Array]:
    """What was packed, by the names that a program has for it."""
    ends = np.cumsum([len(symbols) for symbols in program.inputs.values()])[:-1]
    return dict(zip(program.inputs, np.split(rows, ends, axis=-1), strict=True))


def volume_of(pivots: Sequence[float] | Array) -> float:
    """The product of some pivots, as a logarithm."""
    listed = pivots.tolist() if isinstance(pivots, np.ndarray) else pivots
    return sum(map(math.log, listed)) if all(pivot > 0 for pivot in listed) else -math.inf


def both(first: Array, then: Array) -> Array:
    """Parts of the works of two stretches together; a stretch may have none."""
    return first + then if first.size and then.size else then if then.size else first


def appended(first: Trajectory, then: Trajectory, hits: tuple[EventHit, ...]) -> Trajectory:
    """Two stretches of one run, on the same rows, as one; the hits of the second are given."""
    largest = first if then.pivot_scale is None else then
    if first.pivot_scale is not None and then.pivot_scale is not None:
        largest = then if (then.pivot_scale > first.pivot_scale).any() else first
    return replace(
        then,
        best=largest.best,
        pivot_scale=largest.pivot_scale,
        volume=max(first.volume, then.volume),
        q=np.concatenate([first.q, then.q]),
        v=np.concatenate([first.v, then.v]),
        trace=first.trace.before(then.trace, first.worked, first.parts) if first.trace and then.trace else then.trace,
        worked=first.worked + then.worked,
        parts=both(first.parts, then.parts),
        turned=first.turned + then.turned,
        steps=first.steps + then.steps,
        evaluations=first.evaluations + then.evaluations,
        hits=(*first.hits, *hits),
        bridges=(*first.bridges, *then.bridges),
        left=max(first.left, then.left),
        compile_seconds=first.compile_seconds + then.compile_seconds,
        run_seconds=first.run_seconds + then.run_seconds,
        notes=(*first.notes, *(note for note in then.notes if note not in first.notes)),
    )
