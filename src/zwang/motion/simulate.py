"""The composer: from a system and a start to a motion that accounts for itself."""

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from zwang.compile import Program
from zwang.engines.registry import AUTO, LOOSEST, QUAD, TIGHTEST, chosen, engine_of, methods, names, require_tolerance
from zwang.errors import InputError, SimulationError
from zwang.evaluation import Array, Kept, Matrices, Model, model_kernel, model_of, require_finite_matrices
from zwang.formulations.forms import integrable
from zwang.given import input_values, parameter_values, state_arrays
from zwang.model import System
from zwang.motion import explicit
from zwang.motion.certificate import doubts
from zwang.motion.choice import Choice
from zwang.motion.continuity import require_continuous
from zwang.motion.course import integrate, keeps_on
from zwang.motion.driven import breaks_in, require_fit
from zwang.motion.event import Event
from zwang.motion.locked import Locked, lock
from zwang.motion.native import compiled
from zwang.motion.progress import reporter
from zwang.motion.report import event_name, first_contradiction, report, values_of
from zwang.motion.start import choice_at, require_start
from zwang.motion.task import REMEDY, Path, Status
from zwang.results.along import spare_values
from zwang.signals import Signal, signals_in

if TYPE_CHECKING:
    import xarray as xr

    from zwang.motion.blackbox import BlackBox

DEFAULT_SAMPLES, MOST_SAMPLES = 201, 10**9
BAUMGARTE = (10.0, 10.0)
FEWEST_STEPS = 20, 100  # of a motion, and of one that shows nothing a step size could be chosen by
SUSPECT = 1e-9  # a residual that projection leaves, above which constraints may contradict each other

_PROGRAMS: Kept[Program] = Kept()
_LOCKED: Kept[tuple[Locked | None]] = Kept()


@dataclass(frozen=True)
class Setup:
    """A system with numbers: everything about a simulation that does not change while it runs."""

    system: System
    inputs: Mapping[sp.Expr, Any]
    model: Model
    p: Array
    form: str
    method: str
    tol: float
    drift: str
    gains: tuple[float, float]
    events: tuple[Event, ...]
    signals: Mapping[sp.Expr, Signal]
    """Kept alive: p holds the addresses of their tables."""
    max_step: float = np.inf
    quiet_step: float = np.inf
    breaks: Array = field(default_factory=lambda: np.zeros(0))
    """Instants right after which a signal or a switch in time changes."""
    varied: tuple[int, ...] = ()
    """Parameters that change while the motion is integrated with its sensitivities."""

    def matrices(self, t: float, q: Array, v: Array) -> Matrices:
        """The system's matrices at a state."""
        now = model_kernel(self.system, self.inputs)(t, q, v, self.p)
        require_finite_matrices(self.system, now)
        return now

    def program(self, kind: str, choice: Choice) -> Program:
        """A program of the explicit equation, made once for the same model and choice."""
        gains = explicit.GAINS if self.drift == "baumgarte" else None
        key = (self.system.structure, tuple(self.inputs.items()), kind, self.form, choice, gains, self.varied)
        running = self.running
        make = {
            "acceleration": lambda: explicit.acceleration_program(running, choice, self.form, gains),
            "projection": lambda: explicit.projection_program(running, choice, gains),
            "report": lambda: explicit.report_program(self.model, choice),
        }
        return _PROGRAMS.get(key, make[kind])

    @property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        """The parameters in the order of p."""
        return self.system.symbols_with(self.inputs)

    @property
    def locked(self) -> Locked | None:
        """The model with its switches held, if some depend on its state."""
        if not self.model.description.switching:
            return None
        names = self.system.coordinate_names, tuple(map(str, self.symbols)), self.system.constraint_names
        key = (self.system.structure, tuple(self.inputs.items()), *names, self.varied)
        return _LOCKED.get(key, lambda: (lock(self.model, *names, self.varied),))[0]

    @property
    def running(self) -> Model:
        """The model that engines run."""
        return self.model if self.locked is None else self.locked.model

    def named(self, program: Program, state: tuple[float, Array, Array]) -> dict[str, Array]:
        """The inputs of a program at a state, with no switch held."""
        t, q, v = state
        values = {"t": np.array([t]), "q": q, "v": v, "p": self.p, "gains": np.array(self.gains)}
        values |= {"modes": self.locked.literal} if self.locked else {}
        return {name: values[name] for name in program.inputs}

    @property
    def all_parameters(self) -> Array:
        """Parameters as the engines' kernels take them: then modes, the gains of Baumgarte's method last."""
        modes = () if self.locked is None else self.locked.literal
        return np.concatenate([self.p, modes, self.gains if self.drift == "baumgarte" else ()])


def simulate(
    system: "System | BlackBox",
    start: Mapping[Any, float] | tuple[ArrayLike, ArrayLike],
    until: float,
    *,
    times: ArrayLike | None = None,
    samples: int | None = None,
    parameters: Mapping[Any, Any] | None = None,
    method: str = "auto",
    form: str = "fundamental",
    tol: float = 1e-12,
    drift: str | tuple[str, float, float] = "none",
    events: Sequence[Event] = (),
    precision: str = "double",
    t: float = 0.0,
    max_step: float | None = None,
    progress: Any = None,
    throw: bool = True,
) -> "xr.Dataset":
    """Integrate the motion of a system from a consistent start, from time t until `until`.

    The motion is saved at `times` and at the end, or at `samples` equidistant times. `parameters` override the
    system's default values; `t` is the time at the start; `progress` is a function of (time reached, end), or True or
    False for a bar on a terminal or none. `tol` bounds the error of each step,
    absolutely and relatively. `method` is "native" (eighth-order Runge–Kutta in machine code), "taylor" (Taylor's
    method, needs heyoka), "radau" or "lsoda" (for stiff systems); "auto" chooses and says what it chose. `form`
    is the equation that is integrated: "fundamental", "gibbs-appell" or "lagrange". `drift` is what is done about
    constraints drifting away: "none", "projection" after every step, or "baumgarte", with gains as
    ("baumgarte", α, β). `max_step` is the longest step; without it, a 20th of the motion, and a 100th where the error
    of a step says nothing of the size that is needed. `events` are watched, recorded, and stop the motion where they
    say so. `precision="quad"` has Taylor's method compute with 34 digits and round at the end, for reference
    solutions.

    A `BlackBox` is integrated by SciPy, "dop853" (which "auto" means then), "radau" or "lsoda"; its start may also be
    a pair of arrays (q, v).

    A motion that stops early raises a `SimulationError` that carries what was computed; with `throw=False` it is
    returned, and `status` and `message` in its attributes say what happened. What is refused before it begins is
    raised in any case; an interrupt returns what was computed.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> m, g = zw.parameters("m g")
    >>> pendulum = zw.System((x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=m*g*y,
    ...                      constraints={"rod": x**2 + y**2 - 1}, parameters={m: 1, g: 9.81})
    >>> motion = zw.simulate(pendulum, {x: 1, y: 0, zw.dot(x): 0, zw.dot(y): 0}, until=2.0, samples=5)
    >>> motion.q.sel(coordinate="y").values.round(6)
    array([ 0.      , -0.92037 , -0.165011, -0.467237, -0.608484])
    >>> bool(abs(motion.energy).max() < 1e-10)
    True
    """
    if not isinstance(system, System):
        from zwang.motion.blackbox import simulate_blackbox

        return simulate_blackbox(
            system, start, until, times=times, samples=samples, parameters=parameters, method=method, form=form,
            tol=tol, drift=drift, events=events, t=t, max_step=max_step, progress=progress, throw=throw,
        )  # fmt: skip
    began = clock.perf_counter()
    until, t = check_span(until, t)
    setup = prepare(system, parameters, method, form, tol, drift, events, longest_step(max_step, until - t))
    setup = replace(setup, method=in_precision(precision, method, setup.method))
    require_fit(system, setup.signals, setup.method, t, until)
    grid = saved_times(t, until, times, samples)
    q, v = state_arrays(system, cast(Mapping[Any, float], start))
    setup = replace(setup, breaks=breaks_in(setup, setup.p[None], t, until)[0])
    require_continuous(setup, q, v)
    require_start(setup, t, q, v)
    watch = reporter(progress, t, until)
    first = choice_at(setup, (t, q, v))
    setting_up = clock.perf_counter() - began
    seen = (
        first.damping and keeps_on(setup, first) and engine_of(setup.method).measures_projection
    )  # what projection cannot take away
    segments, path = integrate(setup, (t, q, v), grid if seen else watched_times(setup, first, t, grid), watch, first)
    if seen and path.left > SUSPECT:
        segments, path = integrate(setup, (t, q, v), watched_times(setup, first, t, grid), watch, first)
    if any(keeps_on(setup, segment.choice) for segment in segments):
        setup = replace(setup, drift="projection")
    reporting = clock.perf_counter()
    for segment in segments:
        compiled(setup.program("report", segment.choice))
    setting_up += clock.perf_counter() - reporting
    path = replace(path, compile_seconds=path.compile_seconds + setting_up)
    values = values_of(setup, segments)
    saved = np.concatenate([s.times for s in segments])
    odds = first_contradiction(setup, segments, values)
    if odds is not None:
        values, saved, path = cut_short(setup, odds, values, saved, path)
    else:
        path = replace(path, doubts=doubts(setup, segments, values, path))
    if len(saved) > len(grid):
        wanted = np.isin(saved, grid)
        values, saved = {k: x if k == "unique" else x[wanted] for k, x in values.items()}, saved[wanted]
    message = how_it_ended(setup.events, path)
    motion = report(setup, saved, values, path, message, clock.perf_counter() - began)
    if throw and path.status in REMEDY:
        raise SimulationError(message, str(path.status), motion)
    return motion


def prepare(
    system: System,
    parameters: Mapping[Any, Any] | None,
    method: str,
    form: str,
    tol: float,
    drift: str | tuple[str, float, float],
    events: Sequence[Event],
    longest: tuple[float, float] = (np.inf, np.inf),
) -> Setup:
    """Check the options of a simulation, and put numbers to its parameters."""
    if method not in methods():
        raise InputError(f"method={method!r} is unknown: choose one of {', '.join(map(repr, methods()))}")
    if form not in integrable():
        raise InputError(f"form={form!r} cannot be integrated: choose one of {', '.join(map(repr, integrable()))}")
    if not isinstance(tol, int | float | np.number) or not TIGHTEST <= tol <= LOOSEST:
        raise InputError(f"tol = {tol!r} is out of range: choose between {TIGHTEST:g} and {LOOSEST:g}")
    kind, *gains = drift if isinstance(drift, tuple | list) and drift else (drift,)
    if kind not in ("none", "baumgarte", "projection") or (gains and (kind != "baumgarte" or len(gains) != 2)):
        raise InputError(f"drift={drift!r} is unknown: choose 'none', 'projection', 'baumgarte' or ('baumgarte', α, β)")
    if not all(isinstance(gain, int | float | np.number) and 0 <= gain < np.inf for gain in gains):
        raise InputError(f"drift={drift!r}: the gains must be numbers, finite and not negative")
    events = [events] if isinstance(events, Event) else list(events)
    for event in events:
        if not isinstance(event, Event):
            raise InputError(f"events contains {event!r}: make it an event, zwang.Event(expression, name)")
    for constraint in system.constraints:
        if constraint.one_sided:
            raise InputError(
                f"constraint {constraint.name!r} is one-sided: motions with contacts are not integrated; leave it out "
                f"and watch it as an Event, or make it an equality while it holds"
            )
    p, inputs = parameter_values(system, parameters)
    if p.ndim != 1:
        raise InputError("parameters are arrays: simulate takes one value each, simulate_many takes arrays")
    signals = signals_in(input_values(system, parameters))
    if method == AUTO:
        method = chosen(tol, bool(signals))
    require_tolerance(method, tol, names())
    events = [replace(e, expression=e.expression.xreplace(spare_values(system, parameters))) for e in events]
    watched = tuple(replace(e, expression=e.expression.subs(inputs).doit()) if inputs else e for e in events)
    alpha, beta = gains or BAUMGARTE
    model = model_of(system, inputs)
    return Setup(system, inputs, model, p, form, method, tol, kind, (alpha, beta), watched, signals, *longest)


def in_precision(precision: str, method: str, usual: str) -> str:
    """The method that is meant: the usual one, or an engine that computes in quadruple precision."""
    able = names(lambda engine: engine.quad)
    if precision not in ("double", "quad") or (precision == "quad" and method not in (AUTO, *able)):
        raise InputError(
            f"precision={precision!r} with method={method!r}: choose 'double', or 'quad' with "
            f"{' or '.join(map(repr, able))}"
        )
    return usual if precision == "double" else f"{able[0] if method == AUTO else method}{QUAD}"


def cut_short(
    setup: Setup, odds: tuple[int, int], values: dict[str, Any], saved: Array, path: Path
) -> tuple[dict[str, Any], Array, Path]:
    """What was computed before a redundant constraint turned out to contradict the others."""
    at, row = odds
    name = setup.system.constraint_names[row]
    since = f"t = {saved[at]:.9g}"
    words = f"The constraint {name!r} was redundant at the start, but is at odds with the others from {since} on."
    kept = {key: value if key == "unique" else value[:at] for key, value in values.items()}
    end = (float(saved[at]), values["q"][at], values["v"][at])
    if path.status is Status.SINGULAR:  # the rank has changed: this is why
        return kept, saved[:at], replace(path, end=end)
    return kept, saved[:at], replace(path, status=Status.INCONSISTENT, end=end, notes=(*path.notes, words))


def how_it_ended(events: Sequence[Event], path: Path) -> str:
    """The end of a path in a sentence or two."""
    t = path.end[0]
    notes = " ".join((*path.notes, *path.doubts))
    if path.status is Status.EVENT:
        last = path.happenings[-1]
        words = f"stopped by the event {event_name(events, last.which)!r} at t = {last.t:.12g}."
    elif path.status is Status.FINISHED:
        words = f"finished at t = {t:.12g}."
    elif path.status is Status.INTERRUPTED:
        words = f"interrupted at t = {t:.12g}; what was computed before is here."
    else:
        words = f"stopped at t = {t:.12g}: {path.status}; {REMEDY[path.status]}."
    return f"{words} {notes}".strip()


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


def watched_times(setup: Setup, choice: Choice, t: float, grid: Array) -> Array:
    """The saved times, and more of them where constraints are redundant: these are looked at there."""
    if len(choice.rows) == len(setup.system.constraints):
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
        return np.linspace(t, until, int(count))
    try:
        grid = np.array(times, dtype=float).ravel()
    except (TypeError, ValueError):
        raise InputError(f"times = {times!r}: numbers are needed") from None
    if not len(grid) or not np.isfinite(grid).all() or (np.diff(grid) < 0).any():
        raise InputError("times must be finite, at least one, and in ascending order")
    if grid[0] < t or grid[-1] > until:
        raise InputError(f"times run from {grid[0]:g} to {grid[-1]:g}, outside of the motion's {t:g} to {until:g}")
    return grid if grid[-1] == until else np.append(grid, until)
