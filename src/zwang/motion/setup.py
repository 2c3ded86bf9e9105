"""The setting of a motion: its system with numbers, its options checked, its span and its saved times."""

import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from zwang.arrays import Array
from zwang.compile import AnyProgram
from zwang.engines.native.engine import compiled
from zwang.engines.registry import AUTO, LOOSEST, QUAD, TIGHTEST, chosen, engine_of, methods, names, require_tolerance
from zwang.engines.task import Pencil
from zwang.errors import InputError
from zwang.evaluation import require_finite_matrices
from zwang.formulations.forms import FORMS, integrable
from zwang.lowering import acceleration as explicit
from zwang.lowering.cache import Kept
from zwang.lowering.contact import Held, slip_program, with_contacts
from zwang.lowering.events import event_program
from zwang.lowering.implicit import require_explicit
from zwang.lowering.locked import Locked, lock, readings_program
from zwang.lowering.lowered import Lowered, Matrices, lower
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.projection import projection_program
from zwang.lowering.report import report_program
from zwang.lowering.resets import require_resets
from zwang.lowering.resting import exits
from zwang.lowering.rolled import programs as in_families
from zwang.lowering.rolled.events import event_program as events_in_families
from zwang.lowering.rolled.families import Families, rolled, rolled_to_run
from zwang.lowering.rolled.held import lock_families
from zwang.lowering.rolled.pencil import pencil_program
from zwang.lowering.rows import RowBasis
from zwang.lowering.shares import shares_program
from zwang.model import System
from zwang.model.contact_law import CONTACTS, IMPACTS
from zwang.model.event import Event
from zwang.model.signal import Signal
from zwang.model.values import GivenValues
from zwang.motion.contact.steps.options import require_step
from zwang.results.evaluate_along import spare_values

DEFAULT_SAMPLES, MOST_SAMPLES = 201, 10**9


BAUMGARTE = (10.0, 10.0)


FEWEST_STEPS = 20, 100  # of a motion, and of one that shows nothing a step size could be chosen by


_PROGRAMS: Kept[AnyProgram] = Kept()


_EVENTS: Kept[AnyProgram] = Kept()


_WATCHED: Kept[Lowered] = Kept()


_PENCILS: Kept[Pencil] = Kept()


_LOCKED: Kept[tuple[Locked | None]] = Kept()


@dataclass(frozen=True)
class RunOptions:
    """How a motion is to be computed: the options that `simulate` shares with its kin, one span checked already."""

    until: float
    t: float = 0.0
    times: ArrayLike | None = None
    samples: int | None = None
    method: str = AUTO
    form: str = "fundamental"
    tol: float = 1e-12
    drift: str | tuple[str, float, float] = "none"
    events: Sequence[Event] = ()
    precision: str = "double"
    max_step: float | None = None
    progress: Any = None
    throw: bool = True
    outputs: Sequence[str] | None = None
    impacts: str = "moreau"
    contacts: str = "events"
    step: float | None = None
    began: float = field(default_factory=clock.perf_counter)
    """When the call began: its account counts from there."""

    @property
    def grid(self) -> Array:
        """The times to save."""
        return saved_times(self.t, self.until, self.times, self.samples)

    @property
    def longest(self) -> tuple[float, float]:
        """The longest step, and the longest quiet one."""
        return longest_step(self.max_step, self.until - self.t)


@dataclass(frozen=True)
class Setup:
    """A system with numbers: everything about a simulation that does not change while it runs."""

    system: System
    inputs: Mapping[sp.Expr, Any]
    lowered: Lowered
    p: Array
    form: str
    method: str
    tol: float
    drift: str
    gains: tuple[float, float]
    events: tuple[Event, ...]
    signals: Mapping[sp.Expr, Signal]
    """Kept alive: p holds the addresses of their tables."""
    symbols: tuple[sp.Symbol, ...]
    """The parameters in the order of p."""
    max_step: float = np.inf
    quiet_step: float = np.inf
    breaks: Array = field(default_factory=lambda: np.zeros(0))
    """Instants right after which a signal or a switch in time changes."""
    varied: tuple[int, ...] = ()
    """Parameters that change while the motion is integrated with its sensitivities."""
    contact: Held | None = None
    """The mode of the contacts, if there are any."""
    in_lanes: bool = False
    """Whether many runs are computed side by side."""

    def matrices(self, t: float, q: Array, v: Array) -> Matrices:
        """The system's matrices at a state."""
        now = matrix_kernel(self.system, self.inputs)(t, q, v, self.p)
        require_finite_matrices(self.system, now)
        return now

    def program(self, kind: str, basis: RowBasis, only: tuple[str, ...] = (), rests: bool = False) -> AnyProgram:
        """A program of the explicit equation, made once for the same model and choice; of its outputs all, or some.

        With `rests`, switches may rest in it.
        """
        if only:
            whole = self.program(kind, basis, rests=rests)
            return _PROGRAMS.get((whole, only), lambda: whole.giving(*only))
        gains = explicit.GAINS if self.drift == "baumgarte" else None
        running, families = self.running, self.families if kind != "report" or self.contact else rolled(self.lowered)
        contacts = self.contact.rows if self.contact else ()
        key = (self.system.structure, tuple(self.inputs.items()), kind, self.form, basis, gains, self.varied, contacts)
        if rests:
            return _PROGRAMS.get((*key, "rests"), partial(self.with_rests, kind, basis, gains))
        late = explicit.coordinates_first(self.form)
        plain = self.among_contacts(self.lowered) if basis.masked else self.lowered
        make: dict[str, Callable[[], AnyProgram]] = {
            "acceleration": lambda: explicit.acceleration_program(running, basis, self.form, gains),
            "projection": lambda: projection_program(running, basis, gains),
            "report": lambda: report_program(plain, basis),
        }
        if kind == "readings" and self.locked is not None:
            return _PROGRAMS.get(key, partial(readings_program, self.locked, running, basis))
        if families is not None:
            make = {
                "acceleration": lambda: in_families.acceleration_program(families, basis, late, gains),
                "projection": lambda: in_families.projection_program(families, basis, gains),
                "report": lambda: in_families.report_program(families, basis),
            }
        return _PROGRAMS.get((*key, families is not None), make[kind])

    def pencil(self, basis: RowBasis) -> Pencil | None:
        """How the acceleration of a large system changes, made once, if the engine is one that asks for it."""
        if self.families is None or not engine_of(self.method).solves_sparse or not basis.used:
            return None  # without constraints the Jacobian itself is sparse
        families, gains = self.families, explicit.GAINS if self.drift == "baumgarte" else None
        late = explicit.coordinates_first(self.form)

        def make() -> Pencil:
            program, where = pencil_program(families, basis, late, gains)
            return Pencil(program, where, families.n + len(basis.used))

        return _PENCILS.get((self.program("acceleration", basis), "pencil"), make)

    def with_rests(self, kind: str, basis: RowBasis, gains: Any) -> AnyProgram:
        """A program in which switches may rest."""
        locked, model = self.locked, self.resting
        assert locked is not None
        assert model is not None
        make: dict[str, Callable[[], AnyProgram]] = {
            "acceleration": lambda: explicit.acceleration_program(model, basis, self.form, gains),
            "report": lambda: report_program(model, basis),
            "readings": lambda: readings_program(locked, model, basis),
            "shares": lambda: shares_program(model, basis),
        }
        return make[kind]()

    def slips(self, state: tuple[float, Array, Array]) -> dict[str, Array]:
        """Rows A, right-hand sides b and speeds of all slips at a state."""
        t, q, v = state
        key = (self.system.structure, tuple(self.inputs.items()), "slips")
        program = _EVENTS.get(key, lambda: slip_program(self.lowered))
        return compiled(program)(t=np.array([t]), q=q, v=v, p=self.p)

    def watching(self, basis: RowBasis, rests: bool = False) -> AnyProgram:
        """The program of events, contacts and switches, made once for the same of them and the same rows."""
        gains = explicit.GAINS if self.drift == "baumgarte" else None
        contacts = self.contact.rows if self.contact else ()
        falling, families = self.locked.falling if self.locked else (), self.families

        model = self.resting if rests else self.running
        assert model is not None
        falling += exits(model)

        def make() -> AnyProgram:
            if families is not None:
                return events_in_families(self.system, self.symbols, families, basis, self.events, gains)
            return event_program(self.system, self.symbols, model, basis, self.events, gains, falling, contacts)

        if families is not None and self.locked and not self.events:
            return _EVENTS.get((self.locked, gains), make)
        # by their own symbols: two systems of one structure may call different things by these
        words = (self.system.coordinates, self.system.constraint_names, self.symbols)
        watched = (*words, *(e.expression for e in self.events))
        key = (self.system.structure, tuple(self.inputs.items()), basis, gains, self.varied, contacts, watched, rests)
        return _EVENTS.get(key, make)

    @property
    def resets(self) -> bool:
        """Whether the state jumps at some events."""
        return any(event.reset for event in self.events)

    @property
    def margins(self) -> int:
        """How many margins of nonideal forces are watched: one, if these depend on multipliers."""
        return int(bool(self.lowered.description.reactions) and engine_of(self.method).finds_events)

    @property
    def families(self) -> Families | None:
        """The families by which a large system is integrated, if its engine takes programs with loops."""
        found: Families | None = self.locked.families if self.locked else self.plain_families
        return found

    @property
    def plain_families(self) -> Families | None:
        """The same with no switch held."""
        if not engine_of(self.method).runs_loops or FORMS[self.form].eliminates:
            return None
        if self.contact is not None:  # their rows are masked in straight-line programs only
            return None
        return rolled_to_run(self.lowered, self.in_lanes)

    @cached_property
    def locked(self) -> Locked | None:
        """The model with its switches held, if some depend on its state."""
        if not self.lowered.description.switching:
            return None
        families = self.plain_families
        names = self.system.coordinate_names, tuple(map(str, self.symbols)), self.system.constraint_names
        key = (self.system.structure, tuple(self.inputs.items()), *names, self.varied, families is not None)

        def make() -> tuple[Locked | None]:
            if families is not None:
                return (lock_families(families, *names, self.varied),)
            return (lock(self.lowered, *names, self.varied),)

        return _LOCKED.get(key, make)[0]

    @property
    def running(self) -> Lowered:
        """The model that engines run."""
        return self.among_contacts(self.lowered if self.locked is None else self.locked.lowered)

    @property
    def resting(self) -> Lowered | None:
        """The model that engines run while switches rest; none if none may."""
        if self.locked is None or self.locked.resting is None or self.families is not None:
            return None
        return self.among_contacts(self.locked.resting)

    def among_contacts(self, lowered: Lowered) -> Lowered:
        """A model with the numbers of contacts among its inputs, if there are any."""
        if self.contact is None:
            return lowered
        rows = self.contact.rows
        return _WATCHED.get((lowered, rows), lambda: with_contacts(lowered, rows))

    def named(self, program: AnyProgram, state: tuple[float, Array, Array]) -> dict[str, Array]:
        """The inputs of a program at a state, with no switch held."""
        t, q, v = state
        values = {"t": np.array([t]), "q": q, "v": v, "p": self.p, "gains": np.array(self.gains)}
        values |= {"modes": self.locked.literal} if self.locked else {}
        values |= {"contact": self.contact.numbers} if self.contact else {}
        return {name: values[name] for name in program.inputs}

    def for_kernels(self, p: Array) -> Array:
        """Parameters, of one run or several, as kernels take them: then modes, the gains of Baumgarte's method last."""
        modes = () if self.locked is None else self.locked.literal
        contact = () if self.contact is None else self.contact.numbers
        behind = np.concatenate([modes, contact, self.gains if self.drift == "baumgarte" else ()])
        return np.concatenate([p, np.broadcast_to(behind, (*p.shape[:-1], len(behind)))], axis=-1)


def prepare(system: System, values: GivenValues, options: RunOptions, contacts: bool = False) -> Setup:
    """Check the options of a simulation, and put numbers to its parameters; `contacts` may be there or not."""
    method, form, tol, events = options.method, options.form, options.tol, options.events
    if method not in methods():
        raise InputError(f"method={method!r} is unknown: choose one of {', '.join(map(repr, methods()))}")
    if form not in integrable():
        raise InputError(f"form={form!r} cannot be integrated: choose one of {', '.join(map(repr, integrable()))}")
    if not isinstance(tol, int | float | np.number) or not TIGHTEST <= tol <= LOOSEST:
        raise InputError(f"tol = {tol!r} is out of range: choose between {TIGHTEST:g} and {LOOSEST:g}")
    kind, gains = drift_of(options.drift)
    events = [events] if isinstance(events, Event) else list(events)
    for event in events:
        if not isinstance(event, Event):
            raise InputError(f"events contains {event!r}: make it an event, zwang.Event(expression, name)")
    contact = contacts_of(system, options, able=contacts)
    require_explicit(system, form)
    p, inputs, signals = values.p, values.inputs, values.signals
    if p.ndim != 1:
        raise InputError("parameters are arrays: simulate takes one value each, simulate_many takes arrays")
    # Only now: which engine serves depends on the signals, and what it can do on which engine it is.
    if method == AUTO:
        method = chosen(tol, bool(signals))
    require_tolerance(method, tol, names())
    # Events may use what the system does not: parameters that occur nowhere in it have no place in p, so their values
    # are put in, and known functions of time are put in as they are in the system.
    spare = spare_values(system, values.given) if events else {}
    events = [e.with_each(lambda x: x.xreplace(spare)) for e in events]
    watched = tuple(e.with_each(lambda x: x.subs(inputs).doit()) if inputs else e for e in events)
    lowered = lower(system, inputs)
    max_step, quiet_step = options.longest
    setup = Setup(
        system=system,
        inputs=inputs,
        lowered=lowered,
        p=p,
        form=form,
        method=method,
        tol=tol,
        drift=kind,
        gains=gains,
        events=watched,
        signals=signals,
        symbols=values.symbols,
        max_step=max_step,
        quiet_step=quiet_step,
        contact=contact,
    )
    require_resets(system, setup.symbols, watched, options.contacts, options.precision)
    require_events(setup)  # switches of the state count as events; they are known once the model is derived
    return setup


def contacts_of(system: System, options: RunOptions, able: bool) -> Held | None:
    """The contacts of a system, all of them open; what cannot be integrated is refused by name."""
    if options.impacts not in IMPACTS:
        raise InputError(f"impacts={options.impacts!r} is unknown: choose one of {', '.join(map(repr, IMPACTS))}")
    if options.contacts not in CONTACTS:
        raise InputError(f"contacts={options.contacts!r} is unknown: choose {' or '.join(map(repr, CONTACTS))}")
    require_step(system, options, RunOptions(options.until))
    require_friction(system, options)
    sided = [c for c in system.constraints if c.one_sided]
    guides = tuple(i for i, c in enumerate(system.constraints) if c.friction and not c.one_sided)
    if not sided and not guides:
        return None
    first = sided[0] if sided else system.constraints[guides[0]]
    name = f"constraint {first.name!r} {'is one-sided' if sided else 'has friction'}"
    if not able:
        raise InputError(
            f"{name}: contacts are not known here; leave it out and watch it as an Event, or make it an "
            f"equality while it holds"
        )
    for c in sided:
        if c.order > 1:
            raise InputError(
                f"constraint {c.name!r} is one-sided at {c.level} level: only limits of positions and velocities are "
                f"integrated; leave it out and watch it as an Event"
            )
    for c in system.constraints:
        if not c.linear:
            raise InputError(
                f"{name}, and {c.name!r} is nonlinear in the velocities: impacts are not known with it; leave out one"
            )
    if FORMS[options.form].eliminates:
        raise InputError(f"{name}: form={options.form!r} is not integrated with contacts; use form='fundamental'")
    if options.precision != "double":
        raise InputError(
            f"{name}: contacts are integrated in double precision; leave out precision={options.precision!r}"
        )
    return Held.all_open([i for i, c in enumerate(system.constraints) if c.one_sided], guides=guides)


def drift_of(drift: str | tuple[str, float, float]) -> tuple[str, tuple[float, float]]:
    """What is done about drift, and the gains of Baumgarte's method."""
    kind, *gains = drift if isinstance(drift, tuple | list) and drift else (drift,)
    if kind not in ("none", "baumgarte", "projection") or (gains and (kind != "baumgarte" or len(gains) != 2)):
        raise InputError(f"drift={drift!r} is unknown: choose 'none', 'projection', 'baumgarte' or ('baumgarte', α, β)")
    if not all(isinstance(gain, int | float | np.number) and 0 <= gain < np.inf for gain in gains):
        raise InputError(f"drift={drift!r}: the gains must be numbers, finite and not negative")
    alpha, beta = gains or BAUMGARTE
    return kind, (alpha, beta)


def require_friction(system: System, options: RunOptions) -> None:
    """Refuse friction that cannot be integrated, by name."""
    for c in system.constraints:
        if c.friction and not c.one_sided and (c.order == 2 or options.contacts == "steps"):
            what = "by steps" if options.contacts == "steps" else "on accelerations"
            raise InputError(
                f"constraint {c.name!r} is an equality with friction: {what} that is not integrated; leave it out"
            )
    if options.impacts == "sequential" and any(c.friction for c in system.constraints):
        raise InputError("impacts='sequential' is not available with friction: use 'moreau' or 'poisson'")


def require_events(setup: Setup) -> None:
    """Refuse events, and switches of the state, which are found like events, for an engine that finds none."""
    if engine_of(setup.method).finds_events:
        return
    locked = setup.locked
    if setup.events or locked or setup.contact:
        what = f"the switch at {locked.switches[0].words} is one" if locked else "there are some to find"
        able = " or ".join(map(repr, names(lambda engine: engine.run and engine.finds_events)))
        raise InputError(f"method={setup.method!r} finds no events, and {what}: use method={able}")


def check_span(until: float, t: float) -> tuple[float, float]:
    """Start and end as finite numbers, the end after the start."""
    try:
        until, t = float(until), float(t)
    except (TypeError, ValueError):
        raise InputError(f"until = {until!r}, t = {t!r}: both must be numbers") from None
    if not (np.isfinite(until) and np.isfinite(t)):
        raise InputError(f"until = {until}, t = {t}: both must be finite")
    if until <= t:
        raise InputError(f"until = {until:g} is not after the start t = {t:g}: a positive duration is needed")
    return until, t


def longest_step(max_step: float | None, span: float) -> tuple[float, float]:
    """The longest step and the longest quiet one (see `Task`): what was asked for, or shares of the whole motion."""
    if max_step is None:
        return span / FEWEST_STEPS[0], span / FEWEST_STEPS[1]
    if not isinstance(max_step, int | float | np.number) or isinstance(max_step, bool) or not max_step > 0:
        raise InputError(f"max_step = {max_step!r}: a positive number is needed, or None for a share of the motion")
    return float(max_step), float(max_step)


def watched_times(setup: Setup, basis: RowBasis, t: float, grid: Array) -> Array:
    """The saved times, and more of them where constraints are redundant: these are looked at there."""
    if not basis.redundant(len(setup.system.constraint_names)):
        return grid
    return np.union1d(grid, np.linspace(t, grid[-1], DEFAULT_SAMPLES))


def saved_times(t: float, until: float, times: ArrayLike | None, samples: int | None) -> Array:
    """The times to save, ascending, with the end among them."""
    if times is not None and samples is not None:
        raise InputError("times and samples are both given: give one of them")
    if times is None:
        count = DEFAULT_SAMPLES if samples is None else samples
        if not isinstance(count, int | np.integer) or not 2 <= count <= MOST_SAMPLES:
            raise InputError(f"samples = {samples!r}: a whole number from 2 to {MOST_SAMPLES:g} is needed")
        return np.linspace(t, until, int(count)) if count > 2 else np.array([t, until])
    try:
        grid = np.array(times, dtype=float).ravel()
    except (TypeError, ValueError):
        raise InputError(f"times = {times!r}: numbers are needed") from None
    if not len(grid) or not np.isfinite(grid).all() or (np.diff(grid) < 0).any():
        raise InputError("times must be finite, at least one, and in ascending order")
    if grid[0] < t or grid[-1] > until:
        raise InputError(f"times run from {grid[0]:g} to {grid[-1]:g}, outside of the motion's {t:g} to {until:g}")
    return grid if grid[-1] == until else np.append(grid, until)


def in_precision(precision: str, method: str, usual: str) -> str:
    """The method that is meant: the usual one, or an engine that computes in quadruple precision."""
    able = names(lambda engine: engine.quad)
    if precision not in ("double", "quad") or (precision == "quad" and method not in (AUTO, *able)):
        raise InputError(
            f"precision={precision!r} with method={method!r}: choose 'double', or 'quad' with "
            f"{' or '.join(map(repr, able))}"
        )
    return usual if precision == "double" else f"{able[0] if method == AUTO else method}{QUAD}"
