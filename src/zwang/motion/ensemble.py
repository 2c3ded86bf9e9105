"""Many starts at once: one compilation, all cores, one dataset."""

import itertools
import time as clock
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zwang.arrays import Array
from zwang.engines.native import engine as native
from zwang.engines.native import runs as stepper
from zwang.engines.registry import DEFAULT
from zwang.engines.task import Status, Task, Trace, named, packed
from zwang.errors import InputError, ZwangError
from zwang.linalg.masses import mass_units
from zwang.linalg.rank import row_rank
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.rows import DAMPING, RowBasis, mobilities
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, end_of, start_of_each, system_of
from zwang.model.values import given_values, state_arrays
from zwang.motion.breaks import breaks_in, require_fit
from zwang.motion.certificate import doubts, suspicious
from zwang.motion.continuity import require_continuous
from zwang.motion.drive import integrate, keeps_on, task_of
from zwang.motion.observe import Segment, first_contradiction, kept, settings, values_of
from zwang.motion.setup import RunOptions, Setup, check_span, prepare
from zwang.motion.start import basis_at
from zwang.results.dataset import balance, dataset
from zwang.verdict import satisfied
from zwang.waiting import waiting
from zwang.words import count

if TYPE_CHECKING:
    import xarray as xr

SAME_DAMPING = 16.0  # times that the damping of redundant rows may differ from what a sample would have alone
MANY_STEPS = 4_000_000  # of a run with one coordinate, before it is asked why it takes so many
BAD_START = "inconsistent start"


@dataclass(frozen=True)
class Sample:
    """One sample's states, in segments on the same rows, and how it ended."""

    segments: list[Segment]
    status: str
    steps: int = 0
    leapt: float = 0.0
    turned: float = 0.0


def simulate_many(
    system: System | HasSystem,
    starts: Mapping[Any, ArrayLike] | None = None,
    until: float | None = None,
    *,
    times: ArrayLike | None = None,
    samples: int | None = None,
    parameters: Mapping[Any, ArrayLike] | None = None,
    form: str = "fundamental",
    tol: float = 1e-12,
    drift: str | tuple[str, float, float] = "none",
    t: float | None = None,
    max_step: float | None = None,
    threads: int | None = None,
) -> "xr.Dataset":
    """Integrate a system from many starts, or for many parameter values, on all cores and one compilation.

    `starts` and `parameters` map to numbers or to arrays (S,), which broadcast. The dataset has the variables of
    `simulate` with a dimension `sample` in front, and `status` and `doubts` (sample) beside them; a sample that
    fails is marked with its status, NaN from there on, and does not stop the others. A mechanism begins at its own
    start where none is given, put together for each sample's values of parameters.

    >>> import numpy as np
    >>> import zwang as zw
    >>> x = zw.coordinates("x")
    >>> k = zw.parameters("k")
    >>> oscillator = zw.System((x,), kinetic=zw.dot(x)**2/2, potential=k*x**2/2)
    >>> motion = zw.simulate_many(oscillator, {x: [1, 2, 3], zw.dot(x): 0}, until=np.pi, samples=2, parameters={k: 4})
    >>> motion.q.isel(time=-1, coordinate=0).values.round(9)
    array([1., 2., 3.])
    """
    given = system
    until, t = check_span(end_of(given, until), begin_of(given, t))
    system = system_of(given, "simulate_many", parameters)
    options = RunOptions(until, t, times, samples, DEFAULT, form, tol, drift, max_step=max_step)
    if threads is not None and (not isinstance(threads, int | np.integer) or threads < 1):
        raise InputError(f"threads = {threads!r}: a whole number from 1 on is needed, or None for all cores")
    values = given_values(system, parameters)
    q, v, p = spread(*state_arrays(system, start_of_each(given, starts, parameters, t, "starts")), values.p)
    setup = prepare(system, replace(values, p=p[0]), options)
    require_fit(system, setup.signals, setup.method, t, until)
    grid = options.grid
    breaks = breaks_in(setup, p, t, until)
    for sample in distinct(breaks):
        require_continuous(replace(setup, p=p[sample], breaks=breaks[sample]), q[sample], v[sample])
    which = np.flatnonzero(consistent(setup, t, q, v, p))
    done = [Sample([], BAD_START)] * len(q)
    with waiting(f"simulating {count(len(which), 'sample')}"):
        running = run_all(setup, t, q, v, p, breaks, which, grid, threads, done) if len(which) else 0.0
    compiling = clock.perf_counter() - options.began - running
    if any(keeps_on(setup, segment.basis) for sample in done for segment in sample.segments):
        setup = replace(setup, drift="projection")
    found = gather(setup, grid, done)
    statuses = [sample.status for sample in done]
    seconds = {
        "compile_seconds": compiling,
        "run_seconds": running,
        "total_seconds": clock.perf_counter() - options.began,
    }
    return assembled(setup, grid, found, statuses, seconds)


def spread(q: Array, v: Array, p: Array) -> tuple[Array, Array, Array]:
    """States and parameters as arrays (S, …)."""
    if max(q.ndim, p.ndim) > 2:
        raise InputError("starts and parameters have more than one axis: give arrays (S,), one entry a sample")
    count = max(len(x) if x.ndim == 2 else 1 for x in (q, p))
    try:
        return tuple(np.broadcast_to(x, (count, x.shape[-1])) for x in (q, v, p))  # type: ignore[return-value]
    except ValueError:
        raise InputError(f"{len(q)} starts and {len(p)} parameter values do not broadcast") from None


def distinct(breaks: list[Array]) -> list[int]:
    """Samples one of each set of breaks."""
    return list({own.tobytes(): sample for sample, own in enumerate(breaks)}.values())


def consistent(setup: Setup, t: float, q: Array, v: Array, p: Array) -> NDArray[np.bool_]:
    """(S,) which starts satisfy their constraints, with all numbers finite."""
    now = matrix_kernel(setup.system, setup.inputs)(t, q, v, p)
    finite = [np.isfinite(x).reshape(len(q), -1).all(axis=1) for x in (now.M, now.Q, now.A, now.b, now.C)]
    with np.errstate(invalid="ignore", over="ignore"):
        good = satisfied(setup.system, now, q, v).all(axis=1)
    return np.asarray(good & np.all(finite, axis=0))


def run_all(
    setup: Setup,
    t: float,
    q: Array,
    v: Array,
    p: Array,
    breaks: list[Array],
    which: NDArray[np.intp],
    grid: Array,
    threads: int | None,
    done: list[Sample],
) -> float:
    """Run samples side by side on the rows chosen for the first; where those would not do, a sample runs on its own.

    So does one that meets a small pivot: each has its own way past it. Returns the seconds that integration took.
    """
    if setup.locked:  # switches come at other times in each run
        began = clock.perf_counter()
        for sample in map(int, which):
            done[sample] = alone(replace(setup, p=p[sample], breaks=breaks[sample]), (t, q[sample], v[sample]), grid)
        return clock.perf_counter() - began
    first = which[0]
    lead = replace(setup, p=p[first], breaks=breaks[first])
    basis = basis_at(lead, (t, q[first], v[first]))
    task = task_of(lead, basis, (t, q[first], v[first]), grid, None, {})
    # crossings are for runs by themselves
    task = replace(task, breaks=np.concatenate([breaks[i] for i in which]), could_bridge=task.growing > 0)
    fitting = suited(setup, basis, t, q[which], v[which], p[which])
    together, others = which[fitting], [int(sample) for sample in which[~fitting]]
    given = setup.for_kernels(p[together])
    asked = stepper.Settings(
        times=grid,
        rtol=setup.tol,
        atol=setup.tol,
        step_limit=max(MANY_STEPS // q.shape[1], 1),
        max_step=task.max_step,
        quiet_step=task.quiet_step,
        pivot_scale=task.pivot_scale if basis.damping else pivots_at(task, t, q[together], v[together], given),
        pivot_tol=task.pivot_tol,
        growing=task.growing,
        zone=native.zone_of(task),
        position_tol=native.PROJECTED,
        velocity_tol=native.PROJECTED,
        breaks=[breaks[i] for i in together] if len(together) else (),
    )
    runs = stepper.prepare(native.kernels_for(task, len(together)), t, q[together], v[together], given, asked)
    began = clock.perf_counter()
    statuses = to_the_end(task, runs, given, threads)
    seconds = clock.perf_counter() - began
    counts = runs.records["saved"].tolist()
    for i, (sample, status, saved) in enumerate(zip(map(int, together), statuses, counts, strict=True)):
        if status is stepper.LoopStatus.SINGULAR:
            others.append(sample)
            continue
        states = grid[:saved], runs.q[i, :saved], runs.v[i, :saved]
        segment = Segment(basis, *states, p[sample], native.trace_of(runs, i))
        ended, record = str(native.STATUS.get(status, Status.INTERRUPTED)), runs.records[i]
        done[sample] = Sample([segment], ended, int(record["accepted"]), turned=float(record["turned"]))
    began = clock.perf_counter()
    for sample in others:
        done[sample] = alone(replace(setup, p=p[sample], breaks=breaks[sample]), (t, q[sample], v[sample]), grid)
    return seconds + clock.perf_counter() - began


def to_the_end(task: Task, runs: stepper.Runs, p: Array, threads: int | None) -> list[stepper.LoopStatus]:
    """All runs to the end, or to what stops them; those that take very many steps are looked at now and then.

    One whose steps are as short as that only because of rounding is stopped, for it would creep for ever.
    """
    records, until = runs.records, float(task.times[-1])
    share, which = int(records["step_limit"].max(initial=1)), None
    while True:
        before = runs.state[:, 0].copy()
        statuses = stepper.advance_many(runs, until, threads=threads, which=which)
        many = [i for i, status in enumerate(statuses) if status is stepper.LoopStatus.TOO_MANY_STEPS]
        held = [i for i in many if records["step_limit"][i] < Task.step_limit]
        drowned = [i for i in held if native.creeps(replace(task, p=p[i]), runs.state[i], float(before[i]), share)]
        records["status"][drowned] = stepper.LoopStatus.STEP_TOO_SMALL
        records["step_limit"][held] = np.minimum(records["step_limit"][held] + share, Task.step_limit)
        which = [i for i in held if i not in drowned]
        if not which:
            return [stepper.LoopStatus(status) for status in records["status"].tolist()]


def pivots_at(task: Task, t: float, q: Array, v: Array, p: Array) -> Array:
    """(S, pivots) what the pivots of each sample are judged by: their sizes at its start, 1 where they are zero."""
    kernel = native.compiled(task.acceleration)
    rows = packed(t, np.concatenate([q, v], axis=1), p)
    sizes = np.abs(kernel(**named(task.acceleration, rows))["pivots"])
    return np.where(sizes > 0, sizes, 1.0)


def suited(setup: Setup, basis: RowBasis, t: float, q: Array, v: Array, p: Array) -> NDArray[np.bool_]:
    """(S,) which samples have no more independent rows than were chosen, and would damp them about as much.

    (Fewer independent rows show in their pivots.)
    """
    if len(basis.rows) == len(setup.system.constraints):
        return np.ones(len(q), dtype=bool)
    now = matrix_kernel(setup.system, setup.inputs)(t, q, v, p)
    fits = row_rank(now.A / mass_units(now.M, now.A)[:, None, :]) <= len(basis.rows)
    if basis.damping:
        ratio = DAMPING * mobilities(now.M, now.A, basis.lifted) / np.array(basis.damping)
        fits &= ((ratio > 1 / SAME_DAMPING) & (ratio < SAME_DAMPING)).all(axis=1)
    return np.asarray(fits)


def alone(setup: Setup, state: tuple[float, Array, Array], grid: Array) -> Sample:
    """One sample by itself, as `simulate` would run it."""
    try:
        segments, path = integrate(setup, state, grid, None)
    except ZwangError as error:
        return Sample([], str(error))
    return Sample(segments, str(path.status), path.steps, path.leapt, path.turned)


def gather(setup: Setup, grid: Array, done: list[Sample]) -> dict[str, Any]:
    """All variables (S, T, …), NaN where a sample did not get; samples whose constraints contradict are cut short."""
    m = len(setup.system.constraints)
    segments = [segment for sample in done for segment in sample.segments]
    found = values_of(setup, joined(segments))
    counts = np.array([sum(len(s.times) for s in sample.segments) for sample in done])
    unique = found.pop("unique")
    values = {name: laid_out(value, counts, len(grid)) for name, value in found.items()}
    values |= {"unique": unique}
    for i, sample in enumerate(done):
        if all(len(s.basis.rows) == m for s in sample.segments):
            continue  # no constraint is redundant that could contradict
        odds = first_contradiction(setup, sample.segments, {name: values[name][i, : counts[i]] for name in found})
        if odds is not None:
            done[i] = Sample(sample.segments, str(Status.INCONSISTENT))
            counts[i] = odds[0]
            for name in found:
                values[name][i, odds[0] :] = np.nan
    values["doubts"] = np.array(looked_at(setup, grid, done, {name: values[name] for name in found}, counts), dtype=str)
    return values | {"energy_balance": balance(values["jacobi"], values["work"])}


def looked_at(setup: Setup, grid: Array, done: list[Sample], values: dict[str, Any], counts: Any) -> list[str]:
    """What cannot be vouched for, sample by sample; in most a look at all of them together finds nothing."""
    sentences = [""] * len(done)
    for i in np.flatnonzero(suspicious(grid, values, setup.tol)):
        sample, mine = done[i], {name: value[i, : counts[i]] for name, value in values.items()}
        if counts[i] == sum(len(s.times) for s in sample.segments):
            sentences[i] = " ".join(doubts(setup, sample.segments, mine, sample))
    return sentences


def laid_out(value: Array, counts: NDArray[np.int64], count: int) -> Array:
    """The values of samples, one sample after another with so many times each, as an array (S, count, …)."""
    if (counts == count).all():
        return value.reshape(len(counts), count, *value.shape[1:]).astype(float, copy=False)
    laid = np.full((len(counts), count, *value.shape[1:]), np.nan)
    laid[np.arange(count) < counts[:, None]] = value
    return laid


def joined(segments: list[Segment]) -> list[Segment]:
    """Neighbours on the same rows as one segment: their states are then reported in one call."""
    groups = [list(group) for _, group in itertools.groupby(segments, key=lambda s: s.basis)]
    return [
        Segment(
            basis=group[0].basis,
            times=np.concatenate([s.times for s in group]),
            q=np.concatenate([s.q for s in group]),
            v=np.concatenate([s.v for s in group]),
            p=np.repeat([s.p for s in group], [len(s.times) for s in group], axis=0),
            trace=Trace(*kept(group, group[0].q.shape[1]).values()),
        )
        for group in groups
    ]


def assembled(
    setup: Setup, grid: Array, values: dict[str, Any], statuses: list[str], seconds: dict[str, float]
) -> "xr.Dataset":
    """The dataset of all samples."""
    system = setup.system
    unique, unsure = values.pop("unique"), values.pop("doubts")
    attributes = {"status": summary(statuses), "doubts": summary_of_doubts(unsure)} | seconds | settings(setup)
    motion = dataset(
        values, grid, system.coordinate_names, system.constraint_names, unique, attributes, leading=("sample",)
    )
    return motion.assign(
        status=("sample", np.array(statuses, dtype=str), {"long_name": "how each sample ended"}),
        doubts=("sample", unsure, {"long_name": "what cannot be vouched for"}),
    )


def summary_of_doubts(unsure: Any) -> str:
    """How many samples are not vouched for, and what is said of the first."""
    which = np.flatnonzero(unsure != "")
    if not len(which):
        return ""
    return f"Not vouched for: {len(which)} of {len(unsure)} samples; sample {which[0]}: {unsure[which[0]]}"


def summary(statuses: list[str]) -> str:
    """How the samples fared together."""
    kinds = sorted(set(statuses), key=statuses.count, reverse=True)
    return ", ".join(f"{statuses.count(kind)} {kind}" for kind in kinds)
