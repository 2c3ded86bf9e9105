"""Black boxes: systems whose M, Q, A and b come from plain Python functions, integrated by SciPy."""

import time as clock
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import symengine as se
import sympy as sp

from zwang._version import __version__
from zwang.arrays import Array
from zwang.compile import Program, compile_program
from zwang.display import Displayed, named, told
from zwang.engines.pieces import Watched
from zwang.engines.registry import AUTO, ENGINES, FOR_BLACK_BOXES, LOOSEST, names, require_tolerance
from zwang.engines.scipy.engine import solver_class
from zwang.engines.steps import SteppedProblem, march
from zwang.engines.task import REMEDY, EventTask, Status, Trace, Trajectory
from zwang.equations.languages import translate
from zwang.errors import InconsistentError, InputError, SimulationError, ZwangError
from zwang.formulations.solution import Solution
from zwang.formulations.solve import Names, require_form, solve_named
from zwang.lowering.events import switches_within
from zwang.model.event import Event
from zwang.model.symbols import coordinates as functions_of_time
from zwang.model.symbols import rates
from zwang.model.symbols import t as time_symbol
from zwang.model.values import one_number, suggestion
from zwang.motion import certificate
from zwang.motion.observe import how_it_ended, with_events
from zwang.motion.options import RunOptions
from zwang.motion.progress import reporter
from zwang.results.dataset import VARIABLES, dataset

if TYPE_CHECKING:
    import xarray as xr

ARGUMENTS = {"M": "q, t", "Q": "q, v, t", "A": "q, v, t", "b": "q, v, t", "C": "q, v, t"}


@dataclass(frozen=True, eq=False)
class BlackBox(Displayed):
    """M q̈ = Q + Aᵀλ + C with A q̈ = b from functions `M(q, t)`, `Q(q, v, t)`, `A(q, v, t)`, `b(q, v, t)`, `C(q, v, t)`.

    For systems that come from other programs, or that no formula describes. The functions get arrays (n,) and return
    arrays: M (n, n), Q and C (n,), A (m, n), b (m,); an array instead of a function is a constant. Without A and b
    the system is free. `coordinates` and `constraints` are names.

    `zwang.simulate` integrates it. What needs formulas is not there: residuals of constraints, potential energy and
    the balance of energies are NaN. So the energy does not vouch for a motion, for ½ vᵀṀv is part of its rate and
    nobody gives Ṁ; that the saved accelerations are those of the motion is looked at, as everywhere.

    >>> import numpy as np
    >>> import zwang as zw
    >>> pendulum = zw.BlackBox(
    ...     ("x", "y"), M=np.eye(2), Q=lambda q, v, t: [0, -9.81],
    ...     A=lambda q, v, t: [2*q], b=lambda q, v, t: [-2*v @ v], constraints=("rod",))
    >>> motion = zw.simulate(pendulum, {"x": 1, "y": 0, "x'": 0, "y'": 0}, until=2.0, samples=5)
    >>> motion.q.sel(coordinate="y").values.round(6)
    array([ 0.      , -0.92037 , -0.165011, -0.467237, -0.608484])
    """

    coordinates: tuple[str, ...]
    M: Any
    Q: Any
    A: Any = None
    b: Any = None
    C: Any = None
    constraints: tuple[str, ...] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        """Names as tuples of text; A and b together."""
        for field in ("coordinates", "constraints"):
            given = getattr(self, field)
            if isinstance(given, str):
                raise InputError(f"{field}={given!r} is one text: give names one by one, ('x', 'y')")
            if given is not None:
                object.__setattr__(self, field, tuple(given))
        if not self.coordinates or len(set(self.coordinates)) < len(self.coordinates):
            raise InputError(f"coordinates={self.coordinates}: at least one name is needed, and no name twice")
        if (self.A is None) != (self.b is None):
            raise InputError("A and b make A q̈ = b together: give both, or neither")

    def __repr__(self) -> str:
        """The black box in a line."""
        return told(
            self, self.name, named("coordinates", self.coordinates), named("constraints", self.constraints or ())
        )

    def read(self, t: float, q: Array, v: Array) -> tuple[Array, Array, Array, Array, Array]:
        """M, Q, A, b and C at a state; what a function gets wrong is refused by its name."""
        n = len(self.coordinates)
        M = self._value("M", (n, n), t, q.copy(), t)
        Q = self._value("Q", (n,), t, q.copy(), v.copy(), t)
        C = np.zeros(n) if self.C is None else self._value("C", (n,), t, q.copy(), v.copy(), t)
        if self.A is None:
            return M, Q, np.zeros((0, n)), np.zeros(0), C
        rows = None if self.constraints is None else len(self.constraints)
        A = self._value("A", (rows, n), t, q.copy(), v.copy(), t)
        b = self._value("b", (len(A),), t, q.copy(), v.copy(), t)
        return M, Q, A, b, C

    def _value(self, name: str, shape: tuple[int | None, ...], t: float, *arguments: Any) -> Array:
        """What one of the functions returns, in the right shape."""
        given, call = getattr(self, name), f"{name}({ARGUMENTS[name]})"
        try:
            value = given(*arguments) if callable(given) else given
        except Exception as error:
            kind = type(error).__name__
            message = f"{call} raised {kind} at t = {t:.9g}: {error}"
            raise (Undefined if isinstance(error, ArithmeticError | ValueError) else InputError)(message) from error
        try:
            array = np.array(value, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"{call} returned {value!r}, which is not an array of real numbers") from None
        if array.ndim != len(shape) or any(k not in (None, size) for k, size in zip(shape, array.shape, strict=True)):
            wanted = ", ".join("m" if k is None else str(k) for k in shape)
            raise InputError(f"{call} returned shape {array.shape}: ({wanted}{',' * (len(shape) == 1)}) is needed")
        if not np.isfinite(array).all():
            place = ", ".join(map(str, np.argwhere(~np.isfinite(array))[0]))
            raise Undefined(f"{call} is not finite at t = {t:.9g}: entry [{place}]")
        return array


class Undefined(InputError):
    """A function has no value at a state: a step may have to be smaller."""


@dataclass
class Slopes:
    """The equation of motion of a black box: solved anew at each state, trouble remembered."""

    box: BlackBox
    names: Names
    form: str
    error: ZwangError | None = None
    """Of the last slope that could not be computed, until it is told."""
    told: ZwangError | None = None

    def solution(self, t: float, q: Array, v: Array) -> Solution:
        """Accelerations and forces at a state."""
        M, Q, A, b, C = self.box.read(t, q, v)
        return solve_named(
            M, Q, A, b, C=C, form=self.form, rank_tol=None, one_sided=None, v=None, names=self.names
        )  # fmt: skip

    def slope(self, t: float, y: Array) -> Array:
        """(q̇, q̈), NaN where there is no acceleration: the solver then tries a smaller step."""
        n = len(y) // 2
        if not np.isfinite(y).all():  # a state made from such a slope
            return np.full(2 * n, np.nan)
        try:
            return np.concatenate([y[n:], self.solution(t, y[:n], y[n:]).acceleration])
        except ZwangError as error:
            if type(error) is InputError:  # a function does not do what it should
                raise
            self.error = error
            return np.full(2 * n, np.nan)

    def rank(self, t: float, y: Array) -> int:
        """The rank of A at a state; −1 where nothing can be said."""
        n = len(y) // 2
        try:
            return int(self.solution(t, y[:n], y[n:]).rank)
        except ZwangError as error:
            self.error = error
            return -1

    def trouble(self) -> Status | None:
        """Why there was no acceleration since this was last asked."""
        error, self.told, self.error = self.error, self.error, None
        if isinstance(error, InconsistentError):
            return Status.INCONSISTENT
        if isinstance(error, Undefined):
            return Status.NOT_FINITE
        return None if error is None else Status.SINGULAR


def simulate_blackbox(
    box: BlackBox, start: Any, parameters: Mapping[Any, Any] | None, options: RunOptions
) -> "xr.Dataset":
    """`simulate` for a black box; `start` maps names x and x' to numbers, or is a pair of arrays (q, v)."""
    t, form, tol, events = options.t, options.form, options.tol, options.events
    method = check_options(box, options, parameters)
    grid = options.grid
    q, v = start_arrays(box, start)
    slopes, rank = first_look(box, form, t, q, v)

    def health(at: Array, states: Array) -> Array:
        return np.array([1.0 if slopes.rank(float(s), y) == rank else -1.0 for s, y in zip(at, states, strict=True)])

    problem = SteppedProblem(
        slopes.slope,
        slopes.trouble,
        health=health,
        looks=1,
        events=watched(box, events),
    )
    watch = reporter(options.progress, t, options.until)
    max_step, quiet_step = options.longest
    longest = quiet_step if ENGINES[method].stiff else max_step  # of theirs, a step looks at few places
    path = march(problem, solver_class(ENGINES[method].solver), (t, q, v), grid, tol, np.zeros(0), watch, longest)
    path = replace(path, notes=(*path.notes, *why(slopes, path, rank)))
    message = how_it_ended(events, path, (t, options.until))
    attributes = {
        "status": str(path.status),
        "message": message,
        "steps": path.steps,
        "evaluations": path.evaluations,
        "compile_seconds": 0.0,
        "run_seconds": path.run_seconds,
        "total_seconds": clock.perf_counter() - options.began,
        "parameters": {},
        "method": method,
        "form": form,
        "tol": tol,
        "max_step": max_step,
        "drift": "none",
        "system": box.name,
        "zwang_version": __version__,
    }
    motion = with_events(account(slopes, grid[: len(path.q)], path, attributes), events, path)
    if options.throw and path.status in REMEDY:
        raise SimulationError(message, str(path.status), motion)
    return motion


def check_options(box: BlackBox, options: RunOptions, parameters: Mapping[Any, Any] | None) -> str:
    """Refuse what a black box cannot do; the method that is meant."""
    method, form, tol, drift = options.method, options.form, options.tol, options.drift
    able = names(lambda engine: engine.solver)
    if method not in (AUTO, *able):
        listed = ", ".join(map(repr, (AUTO, *able)))
        raise InputError(f"method={method!r} does not serve black boxes: choose one of {listed}")
    require_form(form, {})
    if parameters:
        raise InputError("a black box has no parameters: give its functions the numbers they need")
    if drift != "none":
        raise InputError(f"drift={drift!r}: a black box has rows A q̈ = b alone; put Baumgarte's terms into its b")
    method = FOR_BLACK_BOXES if method == AUTO else method
    require_tolerance(method, tol, able)
    if not tol <= LOOSEST:
        raise InputError(f"tol = {tol} is out of range: choose at most {LOOSEST:g}")
    return method


def start_arrays(box: BlackBox, start: Any) -> tuple[Array, Array]:
    """Positions and velocities from a mapping by name, or from a pair of arrays."""
    n = len(box.coordinates)
    names = [*box.coordinates, *(f"{name}'" for name in box.coordinates)]
    if isinstance(start, Mapping):
        given = {spelled(key): value for key, value in start.items()}
        for key in given:
            if key not in names:
                raise InputError(f"the start sets {key}, which this system does not have{suggestion(key, names)}")
        missing = [name for name in names if name not in given]
        if missing:
            raise InputError(f"the start does not say what {', '.join(missing)} is: give every coordinate and rate")
        values = {name: one_number(given[name], name) for name in names}
        pair: Any = ([values[name] for name in names[:n]], [values[name] for name in names[n:]])
    else:
        pair = start
    try:
        q, v = (np.array(part, dtype=float) for part in pair)
    except (TypeError, ValueError):
        raise InputError("the start is a mapping {'x': 1, \"x'\": 0, …} or a pair of arrays (q, v)") from None
    if q.shape != (n,) or v.shape != (n,):
        raise InputError(f"the start has q {q.shape} and v {v.shape}: ({n},) is needed for each")
    if not (np.isfinite(q).all() and np.isfinite(v).all()):
        raise InputError("the start is not finite")
    return q, v


def spelled(key: Any) -> str:
    """A coordinate or rate as text: x, x'."""
    if isinstance(key, sp.Derivative):
        return f"{key.expr.func.__name__}{chr(39) * key.derivative_count}"
    return key.func.__name__ if isinstance(key, sp.Function) else str(key)


def first_look(box: BlackBox, form: str, t: float, q: Array, v: Array) -> tuple[Slopes, int]:
    """The equation of motion, tried out at the start, where every mistake is an error; and the rank there."""
    rows = box.read(t, q, v)[2]
    constraints = box.constraints or tuple(f"constraint {i + 1}" for i in range(len(rows)))
    box = replace(box, constraints=constraints)
    slopes = Slopes(box, Names(box.coordinates, tuple(f"constraint {name!r}" for name in constraints)), form)
    return slopes, int(slopes.solution(t, q, v).rank)


def watched(box: BlackBox, events: Sequence[Event]) -> Watched | None:
    """The events in native code."""
    if not events:
        return None
    n = len(box.coordinates)
    q, v = (tuple(se.Symbol(f"{letter}{i}") for i in range(n)) for letter in "qv")
    time = se.Symbol("t")
    known: dict[Any, Any] = {time_symbol: time}
    for name, qi, vi in zip(box.coordinates, q, v, strict=True):
        function = functions_of_time(name)
        known |= {function: qi, rates(function)[0]: vi}
    for event in events:
        if event.reset:
            raise InputError(
                f"event {event.name!r} resets the state, which a black box does not know: stop there, and begin again"
            )
        strange = sorted(event.expression.free_symbols - known.keys(), key=str)
        if strange:
            raise InputError(f"event {event.name!r}: unknown symbol {strange[0]}{suggestion(strange[0], list(known))}")
    own = [translate(event.expression, known) for event in events]
    program = Program({"t": (time,), "q": q, "v": v}, {"event": (*own, *switches_within(own))})
    task = EventTask.of(program, tuple(e.direction for e in events), tuple(e.stop for e in events))
    return Watched(compile_program(program), np.zeros(0), task)


def why(slopes: Slopes, path: Trajectory, rank: int) -> tuple[str, ...]:
    """A sentence that says what stopped a run."""
    if path.status not in (Status.SINGULAR, Status.INCONSISTENT, Status.NOT_FINITE):
        return ()
    if slopes.told is not None:
        words = str(slopes.told)
        return (f"{words[0].upper()}{words[1:]}.",)
    return (f"The rank of A is {rank} up to here and changes there.",) if path.status is Status.SINGULAR else ()


def account(slopes: Slopes, times: Array, path: Trajectory, attributes: Mapping[str, Any]) -> "xr.Dataset":
    """The dataset of a motion; NaN where only formulas would know."""
    n, m, count = len(slopes.box.coordinates), len(slopes.box.constraints or ()), len(times)
    sizes = {"coordinate": n, "constraint": m}
    values: dict[str, Any] = {
        name: np.full((count, *(sizes[d] for d in dims)), np.nan) for name, (dims, _) in VARIABLES.items()
    }
    values["q"], values["v"], values["rank"] = path.q, path.v, np.zeros(count, dtype=np.int64)
    unique = np.ones(m, dtype=bool)
    for i, (t, q, v) in enumerate(zip(times, path.q, path.v, strict=True)):
        try:
            now, (M, Q, *_) = slopes.solution(float(t), q, v), slopes.box.read(float(t), q, v)
        except ZwangError:  # at the very end of a run that stopped
            continue
        here = {
            "a": now.acceleration,
            "force": Q,
            "constraint_force": now.constraint_force,
            "ideal_force": now.ideal_force,
            "nonideal_force": now.nonideal_force,
            "multiplier": now.multipliers,
            "kinetic": v @ M @ v / 2,
            "given_power": Q @ v,
            "constraint_power": now.constraint_force @ v,
            "nonideal_power": now.nonideal_force @ v,
            "gaussian": now.gaussian,
            "rank": now.rank,
        }
        for name, value in here.items():
            values[name][i] = value
        unique &= now.unique
    kept = path.trace or Trace.of([], n)
    values |= {"slope": kept.slope, "size": kept.size}
    tol = float(attributes["tol"])
    doubt = certificate.slopes(slopes.box.coordinates, times, values, tol, try_out(slopes, times, values, tol))
    attributes = {**attributes, "message": f"{attributes['message']} {doubt}".strip(), "doubts": doubt}
    names = slopes.box.constraints or ()
    return dataset(values, times, slopes.box.coordinates, names, unique, attributes)


def try_out(slopes: Slopes, times: Array, values: Mapping[str, Any], tol: float) -> certificate.TryOut:
    """By how much accelerations change at some saved states, for changes of the state within the tolerance."""

    def changes(which: Any) -> dict[str, Array]:
        found = np.zeros((len(which), values["q"].shape[1]))
        for row, i in enumerate(which):
            q, v, signs = values["q"][i], values["v"][i], np.resize([1.0, -1.0], values["q"].shape[1])
            nudged = q + tol * signs * (1 + np.abs(q)), v - tol * signs * (1 + np.abs(v))
            with suppress(ZwangError):
                there = slopes.solution(float(times[i]), *nudged).acceleration
                found[row] = np.abs(there - values["a"][i])
        return {"acceleration": found}

    return changes
