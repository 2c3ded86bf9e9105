"""One motion computed in many ways, and derived in two.

Forms and engines share one derivation of M, Q, A and b. Their agreement shows that the equations were solved and
integrated; that they are the right ones shows `motion.independent`, which derives nothing.

Every comparison is bounded in time. What fails, refuses or takes too long is a row with a note, never an exception.
"""

import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arrays import Array
from zwang.engines import registry
from zwang.engines.registry import ENGINES, LOOSEST, TIGHTEST, names
from zwang.errors import InconsistentError, InputError, MassError, ZwangError
from zwang.evaluation import evaluated, matrices
from zwang.formulations.forms import DEFAULT, FORMS
from zwang.formulations.fundamental import literal
from zwang.generic_rank import natural_units
from zwang.linalg.masses import masses
from zwang.linalg.rank import CONSISTENCY_TOL, row_rank
from zwang.model import System
from zwang.model.event import Event
from zwang.model.has_system import HasSystem, begin_of, end_of, resets_of, start_of_one, system_of
from zwang.motion.options import RunOptions, check_span
from zwang.motion.simulate import motion_from
from zwang.motion.start import Start, start_of
from zwang.results.account import energy_gap, residuals

if TYPE_CHECKING:
    import xarray as xr

LITERAL = "literal"  # the fundamental equation as the papers print it, with M^{1/2} and a Moore–Penrose inverse
COMPARED_STATES = 50  # saved states at which the forms are compared ...
DENSE_WORK = 2e7  # ... fewer where n³ a state would come to more than this
DENSE_SIZE = 500  # coordinates; beyond, dense matrices take too long
LONG = 2.0  # seconds; a run that takes longer is compared with fewer others
RUN_BUDGET = 5.0  # seconds of processor time that any one run may take, whatever else the machine does
SMALL_SIZE = 60  # coordinates; beyond, compiling alone takes some engines and forms longer than the budget
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14)
REPEATS = 3
SAMPLES = 201


@dataclass(frozen=True)
class FormRow:
    """One form of the equations of motion beside the fundamental one."""

    form: str
    error: float
    """Largest disagreement of the acceleration with the fundamental form's, relative to its size; NaN if refused."""
    states: int
    """How many states of the motion were compared."""
    seconds: float
    """What the form took for all these states."""
    note: str = ""


@dataclass(frozen=True)
class EngineRow:
    """One engine and form: how it fared on a motion, and how far its end is from that of the first row."""

    engine: str
    form: str
    tol: float
    error: float
    """Disagreement of the end state with the first row that got there, relative to the size of the state."""
    drift: float
    """The most that any constraint reads along the motion, in position or velocity."""
    energy_error: float
    """Largest energy gained beyond the work of all forces, relative to the energies."""
    steps: int
    seconds: float
    note: str = ""
    drift_error: float = nan
    """The same, of each constraint relative to what a change as large as the state itself would make it read."""


@dataclass(frozen=True)
class PrecisionRow:
    """What a tolerance costs with the native engine, and what it brings."""

    tol: float
    error: float
    """Error of the end state against the tightest tolerance that got there, relative to the size of the state."""
    steps: int
    evaluations: int
    seconds: float
    note: str = ""


def compare_forms(
    system: System | HasSystem, motion: "xr.Dataset", parameters: Mapping[Any, Any] | None = None
) -> tuple[FormRow, ...]:
    """The accelerations of all forms of the equations of motion at saved states of a motion.

    And one more row: the fundamental equation literally as it is printed, with roots of M and a Moore–Penrose inverse.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> slide = zw.System((x, y), kinetic=(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=9.81*y, constraints=[x - y])
    >>> motion = zw.simulate(slide, {x: 0, y: 0, zw.dot(x): 0, zw.dot(y): 0}, until=1)
    >>> all(row.error < 1e-12 for row in compare_forms(slide, motion))
    True
    """
    system = system_of(system, "compare_forms", parameters)
    n, saved = len(system.coordinate_names), motion.sizes["time"]
    if n > DENSE_SIZE or not saved:
        note = f"left out: {n} coordinates take long in dense matrices" if saved else "the motion has no saved states"
        return tuple(FormRow(form, nan, 0, 0.0, note) for form in (*FORMS, LITERAL))
    count = int(np.clip(DENSE_WORK // n**3, 1, min(COMPARED_STATES, saved)))
    part = motion.isel(time=np.linspace(saved // 2 if count == 1 else 0, saved - 1, count).astype(int))
    columns = columns_of(system, part)
    accelerations(system, columns, part.time.values, parameters, DEFAULT)  # compiles, so that no form is charged
    rows, reference = [], np.full(part.q.shape, nan)
    for form in (*FORMS, LITERAL):
        found, seconds, note = accelerations(system, columns, part.time.values, parameters, form)
        if form == DEFAULT:
            reference = found
        states = np.isfinite(found).all(axis=1) & np.isfinite(reference).all(axis=1)
        error = relative(found[states], reference[states], reference[states]) if states.any() else nan
        rows.append(FormRow(form, error, int(states.sum()), seconds, note))
    return tuple(rows)


def columns_of(system: System, motion: "xr.Dataset") -> dict[str, Array]:
    """The saved states of a motion, by the names of coordinates and rates."""
    columns = {name: motion.q.values[:, i] for i, name in enumerate(system.coordinate_names)}
    return columns | {f"{name}'": motion.v.values[:, i] for i, name in enumerate(system.coordinate_names)}


def accelerations(
    system: System, columns: Mapping[str, Array], times: Array, parameters: Any, form: str
) -> tuple[Array, float, str]:
    """Accelerations (T, n) at a stack of states, NaN where the form refuses; seconds; and why it refuses."""
    began = clock.perf_counter()
    try:
        found = acceleration(system, columns, times, parameters, form)
        return found, clock.perf_counter() - began, ""
    except ZwangError:
        pass  # one state suffices for this: take them one by one
    found, refusals = np.full((len(times), len(system.coordinate_names)), nan), []
    for i, time in enumerate(times):
        try:
            found[i] = acceleration(system, {key: x[i] for key, x in columns.items()}, time, parameters, form)
        except ZwangError as error:
            refusals.append(str(error))
    where = "" if len(refusals) == len(times) else f" at {len(refusals)} of {len(times)} states"
    return found, clock.perf_counter() - began, f"refused{where}: {refusals[0]}" if refusals else ""


def acceleration(system: System, state: Mapping[str, Any], t: Any, parameters: Any, form: str) -> Array:
    """Accelerations (…, n) by a form, or by the equation as it is printed."""
    if form != LITERAL:
        return evaluated(system, state, t, parameters, form)[0].acceleration
    if any(c.one_sided for c in system.constraints):
        raise InputError("the equation as it is printed knows no one-sided constraints")
    now, q, _ = matrices(system, state, t, parameters)
    n, m, count = q.shape[-1], now.b.shape[-1], now.Q[..., 0].size
    A, b = now.A.reshape(count, m, n), now.b.reshape(count, m)
    mass = masses(now.M.reshape(count, n, n), A)
    if not mass.definite.all():
        raise MassError("the equation as it is printed needs a positive definite M, and M is singular")
    force, D = (now.Q + now.C).reshape(count, n) / mass.D, mass.D
    scaled = A / D[:, None, :]
    found, rank = np.empty_like(D), row_rank(scaled)
    for r in np.unique(rank):
        here = rank == r
        found[here] = literal(mass.M[here], force[here], scaled[here], b[here], int(r)) / D[here]
    missed = np.abs(np.einsum("kij,kj->ki", A, found) - b)
    bad = missed > CONSISTENCY_TOL * (np.abs(b) + np.einsum("kij,kj->ki", np.abs(A), np.abs(found)))
    if bad.any():
        name = system.constraint_names[int(np.argwhere(bad)[0][1])]
        raise InconsistentError(f"no acceleration obeys constraint {name!r} together with the others")
    return found.reshape(q.shape)


def compare_engines(
    system: System | HasSystem,
    start: Mapping[Any, float] | None = None,
    until: float | None = None,
    *,
    parameters: Mapping[Any, Any] | None = None,
    tol: float = 1e-12,
    t: float | None = None,
    stiff: bool = True,
) -> tuple[EngineRow, ...]:
    """One motion by every engine, and by the native engine in forms that eliminate accelerations.

    The stiff engines have looser tolerances of their own, which their rows state; they are slow, and `stiff=False`
    leaves them out. Where the first run takes more than two seconds only Taylor's method is set against it, and no run
    may take more than five.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> pendulum = zw.System((x, y), kinetic=(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=y,
    ...                      constraints={"rod": x**2 + y**2 - 1})
    >>> rows = compare_engines(pendulum, {x: 1, y: 0, zw.dot(x): 0, zw.dot(y): 0}, until=1)
    >>> max(row.error for row in rows if row.engine == "native") < 1e-11
    True
    """
    begin = begin_at(system, start, t, parameters, "compare_engines")
    return engines_from(begin, end_of(system, until), tol, stiff, resets_of(system, ()))


def begin_at(given: Any, start: Any, t: float | None, parameters: Mapping[Any, Any] | None, what: str) -> Start:
    """The start that is given, or that of a mechanism itself."""
    t = begin_of(given, t)
    system = system_of(given, what, parameters)
    return start_of(system, start_of_one(given, start, parameters, t), t, parameters)


def engines_from(
    start: Start, until: float, tol: float, stiff: bool = True, resets: Sequence[Event] = ()
) -> tuple[EngineRow, ...]:
    """`compare_engines` from a start that is known already, which all runs share; with resets of the state."""
    if not TIGHTEST <= tol <= LOOSEST:
        raise InputError(f"tol = {tol!r} is out of range: choose between {TIGHTEST:g} and {LOOSEST:g}")
    system, parameters = start.system, start.values.given
    others = names(lambda engine: engine.run and (stiff or not engine.stiff))
    plan = [(engine, DEFAULT) for engine in others]
    # other forms have the matrix of the default one, in another order
    plan += [(registry.DEFAULT, name) for name, form in FORMS.items() if form.eliminates]
    rows: list[EngineRow] = []
    reference: xr.Dataset | None = None
    for engine, form in plan:
        own = max(tol, ENGINES[engine].quick_from)
        row = EngineRow(engine, form, own, nan, nan, nan, 0, nan)
        why = left_out(row, rows, system)
        if why:
            rows.append(replace(row, note=why))
            continue
        motion, note = attempt(start, until, tol=own, method=engine, form=form, events=resets)
        if motion is None:
            rows.append(replace(row, note=note))
            continue
        if reference is None and not note:
            reference = motion
        rows.append(account(row, system, parameters, motion, reference, note))
    return tuple(rows)


def left_out(row: EngineRow, before: list[EngineRow], system: System) -> str:
    """Why a run is not even tried; nothing if it is."""
    engine = ENGINES[row.engine]
    if not engine.installed:
        return f"left out: {engine.missing}"
    if (engine.slow_to_compile or FORMS[row.form].eliminates) and len(system.coordinate_names) > SMALL_SIZE:
        return f"left out: it takes long with {len(system.coordinate_names)} coordinates"
    if before and before[0].seconds > LONG and not engine.checks_long_runs:
        return f"left out: the first run took {before[0].seconds:.1f} s"
    return ""


def account(
    row: EngineRow, system: System, parameters: Any, motion: "xr.Dataset", reference: "xr.Dataset | None", note: str
) -> EngineRow:
    """A row with the figures of its motion."""
    error = nan if reference is None or note else end_error(motion, reference)
    if isnan(error) and not note:
        note = "its end is not finite"
    return replace(
        row,
        error=error,
        drift=drift_of(motion),
        energy_error=energy_error_of(motion),
        steps=int(motion.attrs["steps"]),
        seconds=float(motion.attrs["run_seconds"]),
        note=note,
        drift_error=drift_error_of(system, motion, parameters),
    )


def work_precision(
    system: System | HasSystem,
    start: Mapping[Any, float] | None = None,
    until: float | None = None,
    *,
    parameters: Mapping[Any, Any] | None = None,
    t: float | None = None,
) -> tuple[PrecisionRow, ...]:
    """What the native engine takes at tolerances from 1e-4 to 1e-14, and how far each end is from the tightest.

    Short runs are timed three times and the shortest counts. Once the runs together have taken five seconds the tighter
    tolerances are left out.
    """
    begin = begin_at(system, start, t, parameters, "work_precision")
    return tolerances_from(begin, end_of(system, until), resets_of(system, ()))


def tolerances_from(start: Start, until: float, resets: Sequence[Event] = ()) -> tuple[PrecisionRow, ...]:
    """`work_precision` from a start that is known already, which all runs share; with resets of the state."""
    rows: list[PrecisionRow] = []
    motions: list[xr.Dataset | None] = []
    began = clock.thread_time()
    for tol in TOLERANCES:
        row, motion = PrecisionRow(tol, nan, 0, 0, nan), None
        if rows and clock.thread_time() - began > RUN_BUDGET:
            row = replace(row, note=f"left out: looser tolerances took {RUN_BUDGET:g} s already")
        else:
            motion, note = attempt(start, until, tol=tol, method=registry.DEFAULT, events=resets)
            row = replace(row, note=note)
        if motion is not None:
            taken = [float(motion.attrs["run_seconds"])]
            while len(taken) < REPEATS and not row.note and sum(taken) < LONG / 4:
                again, _ = attempt(start, until, tol=tol, method=registry.DEFAULT, events=resets)
                taken.append(float(again.attrs["run_seconds"]) if again is not None else taken[0])
            steps, evaluations = int(motion.attrs["steps"]), int(motion.attrs["evaluations"])
            row = replace(row, steps=steps, evaluations=evaluations, seconds=min(taken))
        rows.append(row)
        motions.append(None if row.note else motion)
    reached = [motion for motion in motions if motion is not None]
    for i, motion in enumerate(motions):
        if motion is not None:
            tightest = motion is reached[-1]
            rows[i] = replace(rows[i], error=0.0 if tightest else end_error(motion, reached[-1]))
            rows[i] = replace(rows[i], note="the reference" if tightest else "")
    return tuple(rows)


def attempt(start: Start, until: float, **options: Any) -> "tuple[xr.Dataset | None, str]":
    """A motion within the budget of processor time, and a note if it did not get to its end; None where refused."""
    deadline = clock.thread_time() + RUN_BUDGET
    try:
        until, t = check_span(until, start.state[0])
        wanted = RunOptions(until, t, samples=SAMPLES, progress=patience(deadline), throw=False, **options)
        motion = motion_from(start, wanted)
    except ZwangError as error:
        return None, f"refused: {error}"
    status = motion.attrs["status"]
    if status == "interrupted":
        if clock.thread_time() < deadline:
            raise KeyboardInterrupt  # somebody else's
        return motion, f"given up after {RUN_BUDGET:g} s"
    return motion, "" if status == "finished" else str(motion.attrs["message"])


def patience(deadline: float) -> Callable[[float, float], None]:
    """A progress callback that ends a run which takes too long, as an interrupt from the keyboard would."""

    def watch(_reached: float, _end: float) -> None:
        if clock.thread_time() > deadline:
            raise KeyboardInterrupt

    return watch


def end_error(motion: "xr.Dataset", reference: "xr.Dataset") -> float:
    """The distance of two end states, of positions and of velocities each relative to the largest on the way."""
    return max(
        relative(motion[name].values[-1], reference[name].values[-1], reference[name].values) for name in ("q", "v")
    )


def drift_of(motion: "xr.Dataset") -> float:
    """The most that any constraint reads along a motion, in position or velocity."""
    return max((size for both in residuals(motion).values() for size in both if not isnan(size)), default=0.0)


def drift_error_of(system: System, motion: "xr.Dataset", parameters: Any) -> float:
    """The most that a constraint reads, relative to what a change as large as the state itself would make it read."""
    if not motion.sizes["time"]:
        return nan
    try:
        now = matrices(system, columns_of(system, motion), motion.time.values, parameters)[0]
    except ZwangError:
        return nan
    inertia = np.sqrt(np.einsum("tii->ti", now.M).max(axis=0))
    worst = 0.0
    for reading, state in ((motion.residual, motion.q), (motion.residual_rate, motion.v)):
        size = (np.abs(now.A) @ natural_units(inertia, np.abs(state.values).max(axis=0))).max(axis=0)
        share = np.abs(reading.values) / np.where(size > 0, size, 1.0)
        worst = max(worst, float(np.nan_to_num(share).max(initial=0.0)))
    return worst


def energy_error_of(motion: "xr.Dataset") -> float:
    """Largest energy gained beyond the work of all forces, relative to the largest energy on the way."""
    gap, size = energy_gap(motion)
    return gap / (size or 1.0)


def relative(found: Array, expected: Array, scale: Array) -> float:
    """The largest difference, relative to the largest entry of what sets the scale."""
    return float(np.abs(found - expected).max(initial=0.0)) / (float(np.abs(scale).max(initial=0.0)) or 1.0)
