"""Integrators compiled by heyoka, kept and lent out.

A machine serves every start, time and parameter value of its programs; for another tolerance, precision or set of
events there is another machine. heyoka also keeps what it compiled on disk, so that another process compiles the
same programs ten times faster.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zwang.compile import Program, straight
from zwang.engines.task import Task
from zwang.engines.taylor.translate import Interpreter, require_heyoka
from zwang.errors import InputError

Numbers = NDArray[Any]  # of doubles, or of heyoka's real128

COMPACT: Final = 40  # expressions from which on heyoka's compact mode compiles faster
OPTIMISATION: Final = (
    1  # runs as fast as with 3 and compiles in 0.6 times the time; with 0 it runs 3 to 7 times as long
)
KEPT: Final = 8  # kinds of machines that a process remembers


@dataclass(frozen=True)
class Precision:
    """A floating-point type, the distance from 1 to the next number, and the residual that projection may leave."""

    name: str
    type: Any
    eps: float
    residual: float


@dataclass(frozen=True, eq=False)
class HeyokaFunction:
    """A compiled function of (t, q, v, p) for stacks of states: times (K,), states (2n, K) to outputs (m, K)."""

    compiled: Any
    stacks: dict[int, Numbers] = field(default_factory=dict)

    def set_parameters(self, p: Numbers, *sizes: int) -> None:
        """Parameter values for stacks of given sizes."""
        wanted = p[: self.compiled.nparams, None]
        self.stacks.update((K, np.repeat(wanted, K, axis=1)) for K in sizes)

    def __call__(self, times: Numbers, states: Numbers) -> Numbers:
        """The outputs, column by column."""
        out: Numbers = self.compiled(states, pars=self.stacks[len(times)], time=times)
        return out


@dataclass(frozen=True, eq=False)
class Machine:
    """What is compiled for one kind of run.

    `readings` gives the acceleration, the pivots over their scales and the power, if there is one; `projection` the
    way back to the constraints; `events` their values, where doubles do not have all digits. `found` receives when a
    pivot passes its limit in a step, and the sign of its slope.
    """

    integrator: Any
    readings: HeyokaFunction
    projection: HeyokaFunction | None
    events: HeyokaFunction | None
    found: list[tuple[Any, int]]
    kind: Precision
    tol: float
    n: int


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


_IDLE: dict[Any, list[Machine]] = {}


@contextmanager
def machine_for(task: Task, kind: Precision) -> Iterator[Machine]:
    """A machine for a task, compiled if no idle one is at hand: each serves one run at a time."""
    tol = max(task.tol, kind.eps)
    events = straight(task.events.program) if task.events and kind.name == "quad" else None
    projection = straight(task.projection) if task.projection else None
    programs = (straight(task.acceleration), events, projection)
    key = (tuple(map(content, programs)), tol, kind.name, task.pivot_tol > 0)
    idle = _IDLE.get(key, [])
    try:
        machine = idle.pop()
    except IndexError:
        machine = build(task, kind, tol)
    try:
        yield machine
    finally:
        idle.append(machine)
        # The kind used last comes last, and goes last.
        known = _IDLE.pop(key, idle)
        _IDLE[key] = idle if known is idle else [*known, *idle]
        for oldest in list(_IDLE)[:-KEPT]:
            _IDLE.pop(oldest, None)


def content(program: Program | None) -> Any:
    """What makes two programs the same."""
    return program and (tuple(program.inputs.items()), tuple(program.outputs.items()), tuple(program.steps))


def build(task: Task, kind: Precision, tol: float) -> Machine:
    """Translate and compile a task's programs."""
    hy = require_heyoka()
    acceleration = straight(task.acceleration)
    to = Interpreter(acceleration, quad=kind.name == "quad")
    x, n = to.variables, len(task.q)
    out = to.outputs(acceleration)
    # Parameters behind the task's own: one over each pivot's scale, and the share that counts as vanishing.
    pivots = [e * hy.par[to.parameters + i] for i, e in enumerate(out["pivots"])]
    share = hy.par[to.parameters + len(pivots)]
    found: list[tuple[Any, int]] = []

    def note(integrator: Any, t: Any, sign: int) -> None:
        found.append((t, sign))

    watched = [e - share for e in pivots] if task.pivot_tol > 0 else []
    settings = {"compact_mode": to.size > COMPACT, "opt_level": OPTIMISATION, "fp_type": kind.type}
    integrator = hy.taylor_adaptive(
        [*zip(x[:n], x[n:], strict=True), *zip(x[n:], out["acceleration"], strict=True)],
        np.zeros(2 * n).astype(kind.type),
        tol=kind.type(tol),
        nt_events=[hy.nt_event(e, note, fp_type=kind.type) for e in watched],
        **settings,
    )
    projection = None
    if task.projection:
        parts = to.outputs(straight(task.projection))
        ordered = [e for name in ("dq", "dv", "residual", "residual_rate") for e in parts[name]]
        projection = HeyokaFunction(hy.cfunc(ordered, vars=x, **settings))
    readings = HeyokaFunction(hy.cfunc([*out["acceleration"], *pivots, *out.get("power", ())], vars=x, **settings))
    events = None
    if task.events and kind.name == "quad":
        events = HeyokaFunction(hy.cfunc(list(to.outputs(straight(task.events.program))["event"]), vars=x, **settings))
    return Machine(integrator, readings, projection, events, found, kind, tol, n)
