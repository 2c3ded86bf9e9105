"""The Taylor engine: q̈ = f(t, q, q̇) integrated by Taylor's method, in double or quadruple precision (heyoka).

At the start t₀ of each step the solution is expanded, y(t₀ + τ) = Σ cₖ τᵏ, y = (q, q̇), to the order N that the
tolerance asks for (20 for 2e-16, 41 for 2e-34), and followed as far as the last coefficients allow: τ ≤ ρ/e²,
ρ the radius of convergence. The polynomial is also the dense output, as good as the step itself.

*The defect.* heyoka reads ρ from two coefficients, and those may vanish: q̈ = −q² (…) from rest at a symmetric
position has one nonzero coefficient in four or so, and then heyoka takes one enormous step to a wrong motion. So
every step is held to the equation itself: the polynomial's own acceleration beside f at three of its points,

    |h| · max |p̈(τ) − f(t₀ + τ, p(τ), ṗ(τ))|  ≤  FAR · tol · max(1, |y|)

A step that fails is shortened, which costs no new expansion. The first step is bounded by all coefficients,
not two: min (|y|/|cₖ|)^(1/k) / e²; no later step is more than `GROWTH` times the one before it. The same check carries the method
over kinks (|x|, Piecewise), where no expansion holds: the steps close in on the kink and restart behind it.

*Round-off.* t is rounded so that each step's length is exact; y is summed with compensation.

*Pivots and events* are expanded along with the motion, and the zeros of their polynomials isolated, so that none is
stepped over, however short its visit below zero. An event at the very start, or one that has just fired, does not
fire. Times of events are good to the tolerance.

*Evaluations* are counted as N for an expansion and one for each point where the defect was looked at.
"""

import math
import time as clock
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zwang.compile import Program
from zwang.errors import InputError
from zwang.motion.heyoka_language import Interpreter, require_heyoka
from zwang.motion.task import Array, Happening, Path, Status, Task

Numbers = NDArray[Any]  # of doubles, or of heyoka's real128

NODES: Final = (0.47, 0.81, 1.0)
"""Where in a step its defect is looked at; at its end it is largest, as long as the expansion converges."""
FAR: Final = 1e3
"""Defects of sound steps stay below 100 tol on mechanisms and pendulums, of wrong ones start at 1e9 tol."""
GROWTH: Final = 8.0
HALVINGS: Final = 60
COMPACT: Final = 40  # nodes of the graph from which on heyoka's compact mode compiles faster and runs as fast
OPTIMISATION: Final = 1  # the run is as fast as with 3, the compilation takes 0.6 times as long
KEPT: Final = 8  # integrators that a process remembers
LOOK: Final = 0.05  # seconds between two words on progress
PROJECTIONS: Final = 3
WATCHED_PIVOT: Final = -1
"""Stands for a vanishing pivot where events have their number."""


@dataclass(frozen=True)
class Precision:
    """A floating-point type, its unit round-off doubled, and the residual that projection leaves."""

    name: str
    type: Any
    eps: float
    residual: float


def precision_of(name: str) -> Precision:
    """Double or quadruple precision, if this heyoka has it."""
    hy = require_heyoka()
    if name == "double":
        return Precision(name, float, 2.0**-52, 1e-13)
    if name != "quad":
        raise InputError(f"precision={name!r} is unknown: choose 'double' or 'quad'")
    if not hasattr(hy, "real128"):
        raise InputError("precision='quad' needs a heyoka with real128, which this build lacks: choose 'double'")
    return Precision(name, hy.real128, 2.0**-112, 1e-30)


@dataclass(frozen=True)
class Machine:
    """What is compiled for one kind of run; `found` receives events (time, which, sign of the slope) of a step."""

    integrator: Any
    readings: Any
    projection: Any
    found: list[tuple[Any, int, int]]
    kind: Precision
    n: int
    pivots: int


def run(task: Task, precision: str = "double") -> Path:
    """Integrate a task; what was computed before a stop or an interrupt is in the path.

    With precision="quad" everything is computed with 34 digits and rounded to doubles at the end.
    """
    return integrated(task, precision)[0]


def run_quad(task: Task) -> tuple[Path, NDArray[np.str_], NDArray[np.str_]]:
    """A reference solution: the path, and q and v (T, n) at the saved times as decimal numbers of 33 or more digits.

    The tolerance is that of quadruple precision, whatever the task says. Start and parameters are doubles, taken
    for exact; a parameter like 1/10 belongs into the expressions, as a rational number.
    """
    path, saved = integrated(replace(task, tol=0.0), "quad")
    n = len(task.q)
    digits = np.array([[str(x) for x in y] for y in saved], dtype=np.str_).reshape(len(saved), 2 * n)
    return path, digits[:, :n], digits[:, n:]


def integrated(task: Task, precision: str) -> tuple[Path, list[Numbers]]:
    """The path, and the saved states in the working precision."""
    began = clock.perf_counter()
    kind = precision_of(precision)
    with machine_for(task, kind) as machine:
        compiled = clock.perf_counter()
        walk = Walk(task, machine)
        try:
            status = walk.go()
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        finished = clock.perf_counter()
    n, saved = machine.n, walk.saved
    states = np.array([y.astype(float) for y in saved]).reshape(len(saved), 2 * n)
    end = walk.y.astype(float)
    path = Path(
        status=status,
        q=states[:, :n],
        v=states[:, n:],
        end=(float(walk.t), end[:n], end[n:]),
        steps=walk.steps,
        evaluations=walk.evaluations,
        happenings=tuple(walk.happenings),
        compile_seconds=compiled - began,
        run_seconds=finished - compiled,
    )
    return path, saved


_IDLE: dict[Any, list[Machine]] = {}


@contextmanager
def machine_for(task: Task, kind: Precision) -> Iterator[Machine]:
    """A machine for a task, compiled if no idle one is at hand: an integrator serves one run at a time."""
    tol = max(task.tol, kind.eps)
    programs = (task.acceleration, task.events.program if task.events else None, task.projection)
    key = (tuple(map(content, programs)), tol, kind.name, task.pivot_tol > 0)
    idle = _IDLE.pop(key, [])
    machine = idle.pop() if idle else build(task, kind, tol)
    try:
        yield machine
    finally:
        _IDLE[key] = [*idle, machine, *_IDLE.pop(key, [])]  # last in the dictionary: used last
        while len(_IDLE) > KEPT:
            del _IDLE[next(iter(_IDLE))]


def content(program: Program | None) -> Any:
    """What makes two programs the same."""
    return program and (tuple(program.inputs.items()), tuple(program.outputs.items()), program.steps)


def build(task: Task, kind: Precision, tol: float) -> Machine:
    """Translate and compile a task's programs."""
    hy = require_heyoka()
    to = Interpreter(task.acceleration, quad=kind.name == "quad")
    out = to.outputs(task.acceleration)
    acceleration, pivots, n = out["acceleration"], out["pivots"], len(task.q)
    # Parameters behind the task's own: one over each pivot's scale, and the share that counts as vanishing.
    share = to.parameters + len(pivots)
    pivots = [e * hy.par[to.parameters + i] for i, e in enumerate(pivots)]
    found: list[tuple[Any, int, int]] = []

    def note(which: int) -> Callable[[Any, Any, int], None]:
        return lambda integrator, t, sign: found.append((t, which, sign))

    watched = [(e - hy.par[share], WATCHED_PIVOT) for e in pivots if task.pivot_tol > 0 and hy.get_variables(e)]
    if task.events:
        watched += [(e, j) for j, e in enumerate(to.outputs(task.events.program)["event"])]
    settings = {"compact_mode": len(to.known) > COMPACT, "opt_level": OPTIMISATION, "fp_type": kind.type}
    x = to.variables
    integrator = hy.taylor_adaptive(
        [*zip(x, x[n:], strict=False), *zip(x[n:], acceleration, strict=True)],
        np.zeros(2 * n).astype(kind.type),
        tol=kind.type(tol),
        nt_events=[hy.nt_event(e, note(which), fp_type=kind.type) for e, which in watched],
        **settings,
    )
    projection = None
    if task.projection:
        parts = to.outputs(task.projection)
        projection = hy.cfunc(
            [e for name in ("dq", "dv", "position", "velocity") for e in parts[name]], vars=x, **settings
        )
    readings = hy.cfunc([*acceleration, *pivots], vars=x, **settings)
    return Machine(integrator, readings, projection, found, kind, n, len(pivots))


class Walk:
    """One run: a state that is always consistent, what was saved, and what was met on the way."""

    def __init__(self, task: Task, machine: Machine) -> None:
        self.task, self.machine = task, machine
        number = machine.kind.type
        self.t: Any = number(task.t)
        self.y: Numbers = np.concatenate([task.q, task.v]).astype(number)
        self.low: Numbers = np.zeros_like(self.y)  # what rounding took away from y
        self.saved: list[Numbers] = []
        self.happenings: list[Happening] = []
        self.steps = self.evaluations = 0
        self.tol = max(task.tol, machine.kind.eps)
        self.sense = -1.0 if len(task.times) and task.times[-1] < task.t else 1.0
        self.longest = math.inf
        self.last_fired = dict.fromkeys(range(len(task.events.stop) if task.events else 0), float(task.t))
        behind = [*(1.0 / np.asarray(task.pivot_scale, dtype=float)), task.pivot_tol]
        self.p: Numbers = np.concatenate([np.asarray(task.p, dtype=float), behind]).astype(number)
        order = machine.integrator.order
        self.k: Numbers = np.arange(1, order + 1).astype(number)
        self.powers = powers(np.array(NODES).astype(number), order)

    def go(self) -> Status:
        """Step after step to the end, or to what stops the run."""
        task, spoke = self.task, -math.inf
        status = self.begin()
        while status is None:
            status = self.step()
            if task.progress and (status is not None or clock.perf_counter() - spoke > LOOK):
                task.progress(float(self.t))
                spoke = clock.perf_counter()
        return status

    def begin(self) -> Status | None:
        """Look at the start: its pivots, its acceleration, and how far a first step may go."""
        while len(self.saved) < len(self.task.times) and self.task.times[len(self.saved)] == self.task.t:
            self.saved.append(self.y)
        integrator = self.machine.integrator
        pars = integrator.pars
        pars[:] = self.p[: len(pars)]
        now = self.read(np.array([self.t]), self.y[:, None])[:, 0].astype(float)
        if (now[self.machine.n :] <= self.task.pivot_tol).any() and self.task.pivot_tol > 0:
            return Status.SINGULAR
        if not np.isfinite(now).all():
            return Status.NOT_FINITE
        if len(self.saved) == len(self.task.times):
            return Status.FINISHED
        c, _ = self.expansion(0.0)
        if not np.isfinite(c.astype(float)).all():
            return Status.NOT_FINITE
        # Every coefficient has its say: two that vanish must not decide.
        size, largest = max(1.0, norm(self.y)), np.abs(c.astype(float)).max(axis=0)[1:]
        order = np.flatnonzero(largest) + 1.0
        self.longest = float(((size / largest[largest > 0]) ** (1 / order)).min(initial=math.inf)) / math.e**2
        return None

    def step(self) -> Status | None:
        """One step: expand, shorten to what stops it or fails the equation, arrive."""
        remaining = float(self.task.times[-1] - self.t)
        bound = min(abs(remaining), self.longest)
        c, natural = self.expansion(self.sense * bound * (1 + 4 * self.machine.kind.eps))
        if not np.isfinite(c.astype(float)).all():
            return Status.NOT_FINITE
        size = min(bound, natural)
        status, t1 = (None, self.ahead(size)) if size < abs(remaining) else (Status.FINISHED, self.end)
        stop = self.first_stop()
        if stop is not None and self.before(stop[0], t1):
            t1, status = stop
        trouble = Status.STEP_TOO_SMALL
        for _ in range(HALVINGS):
            if t1 == self.t:
                # An event or a vanishing pivot right ahead is where we are.
                return status if status in (Status.EVENT, Status.SINGULAR) else trouble
            scaled, states, failure = self.checked(c, t1)
            if failure is None:
                self.arrive(c, scaled, states[:, -1], t1)
                return status
            trouble, status = failure, None
            t1 = self.t + (t1 - self.t) / 2
        return trouble
