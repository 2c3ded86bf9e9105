"""Many starts at once: one compilation, all cores, one dataset."""

import time as clock
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zwang.errors import InputError, SimulationError, ZwangError
from zwang.evaluation import Array, model_kernel, parameter_values, state_arrays
from zwang.model import System
from zwang.motion import explicit, native, stepper
from zwang.motion.driven import require_fit
from zwang.motion.report import Segment, settings, values_of
from zwang.motion.simulate import Setup, check_span, integrate, prepare, saved_times, task_of
from zwang.motion.start import choice_at
from zwang.motion.task import Path, Status
from zwang.results.dataset import VARIABLES, balance, dataset
from zwang.signals import Handle
from zwang.verdict import satisfied

if TYPE_CHECKING:
    import xarray as xr

BAD_START = "inconsistent start"


def simulate_many(
    system: System,
    starts: Mapping[Any, ArrayLike],
    until: float,
    *,
    times: ArrayLike | None = None,
    samples: int | None = None,
    parameters: Mapping[Any, ArrayLike] | None = None,
    form: str = "fundamental",
    tol: float = 1e-12,
    drift: str | tuple[str, float, float] = "none",
    t: float = 0.0,
    threads: int | None = None,
) -> "xr.Dataset":
    """Integrate a system from many starts, or for many parameter values, on all cores and one compilation.

    `starts` and `parameters` map to numbers or to arrays (S,), which broadcast. The dataset has the variables of
    `simulate` with a dimension `sample` in front, and `status` (sample) beside them; a sample that fails is marked
    with its status, NaN from there on, and does not stop the others.

    >>> import numpy as np
    >>> import zwang as zw
    >>> x = zw.coordinates("x")
    >>> k = zw.parameters("k")
    >>> oscillator = zw.System((x,), kinetic=zw.dot(x)**2/2, potential=k*x**2/2)
    >>> motion = zw.simulate_many(oscillator, {x: [1, 2, 3], zw.dot(x): 0}, until=np.pi, samples=2, parameters={k: 4})
    >>> motion.q.isel(time=-1, coordinate=0).values.round(9)
    array([1., 2., 3.])
    """
    began = clock.perf_counter()
    until, t = check_span(until, t)
    p, inputs = parameter_values(system, parameters)
    q, v = state_arrays(system, starts)
    q, v, p = spread(q, v, p)
    symbols = zip(system.symbols_with(inputs), p[0], strict=True)
    one = {s: float(value) for s, value in symbols if not isinstance(s, Handle)}
    setup = prepare(system, dict(parameters or {}) | one, "native", form, tol, drift, ())
    require_fit(system, setup.signals, setup.method, t, until)
    grid = saved_times(t, until, times, samples)
    good = consistent(setup, t, q, v, p)
    paths: list[Path | str] = [BAD_START] * len(q)
    choice, running = None, 0.0
    if good.any():
        first = int(np.flatnonzero(good)[0])
        lead = replace(setup, p=p[first])
        choice = choice_at(lead, (t, q[first], v[first]))
        running = run_all(setup, choice, t, q, v, p, np.flatnonzero(good), grid, threads, paths)
    values = gather(setup, choice, grid, p, paths)
    statuses = [path if isinstance(path, str) else str(path.status) for path in paths]
    seconds = {"run_seconds": running, "total_seconds": clock.perf_counter() - began}
    return assembled(setup, grid, values, statuses, seconds)


def spread(q: Array, v: Array, p: Array) -> tuple[Array, Array, Array]:
    """States and parameters as arrays (S, …)."""
    if max(q.ndim, p.ndim) > 2:
        raise InputError("starts and parameters have more than one axis: give arrays (S,), one entry a sample")
    count = max(len(x) if x.ndim == 2 else 1 for x in (q, p))
    try:
        return tuple(np.broadcast_to(x, (count, x.shape[-1])) for x in (q, v, p))  # type: ignore[return-value]
    except ValueError:
        raise InputError(f"{len(q)} starts and {len(p)} parameter values do not broadcast") from None


def consistent(setup: Setup, t: float, q: Array, v: Array, p: Array) -> NDArray[np.bool_]:
    """(S,) which starts satisfy their constraints, with all numbers finite."""
    now = model_kernel(setup.system, setup.inputs)(t, q, v, p)
    finite = [np.isfinite(x).reshape(len(q), -1).all(axis=1) for x in (now.M, now.Q, now.A, now.b, now.C)]
    with np.errstate(invalid="ignore", over="ignore"):
        good = satisfied(setup.system, now, q, v).all(axis=1)
    return np.asarray(good & np.all(finite, axis=0))


def run_all(
    setup: Setup,
    choice: explicit.Choice,
    t: float,
    q: Array,
    v: Array,
    p: Array,
    which: NDArray[np.intp],
    grid: Array,
    threads: int | None,
    paths: list[Path | str],
) -> float:
    """Run the samples side by side; those that meet a small pivot go again on their own, where leaps are made.

    The seconds that the integration took.
    """
    first = which[0]
    task = task_of(replace(setup, p=p[first]), choice, (t, q[first], v[first]), grid, None, {})
    gains = np.tile(setup.gains, (len(which), 1)) if setup.drift == "baumgarte" else np.zeros((len(which), 0))
    runs = stepper.prepare(
        native.kernels_of(task),
        t,
        q[which],
        v[which],
        np.concatenate([p[which], gains], axis=1),
        times=grid,
        rtol=setup.tol,
        atol=setup.tol,
        step_limit=native.STEP_LIMIT,
        pivot_scale=task.pivot_scale,
        pivot_tol=task.pivot_tol,
        position_tol=native.PROJECTED,
        velocity_tol=native.PROJECTED,
        breaks=task.breaks,
    )
    began = clock.perf_counter()
    statuses = stepper.advance_many(runs, float(grid[-1]), threads=threads)
    for i, (sample, status) in enumerate(zip(which, statuses, strict=True)):
        if status is stepper.Status.SINGULAR:
            paths[sample] = alone(replace(setup, p=p[sample]), (t, q[sample], v[sample]), grid)
        else:
            paths[sample] = native.path_of(runs, i, native.STATUS.get(status, Status.INTERRUPTED), (), 0.0, 0.0)
    return clock.perf_counter() - began


def alone(setup: Setup, state: tuple[float, Array, Array], grid: Array) -> Path | str:
    """One sample by itself, as `simulate` would run it."""
    try:
        segments, path = integrate(setup, state, grid, None)
    except (ZwangError, SimulationError) as error:
        return str(error)
    return replace(path, q=np.concatenate([s.q for s in segments]), v=np.concatenate([s.v for s in segments]))


def gather(
    setup: Setup, choice: explicit.Choice | None, grid: Array, p: Array, paths: list[Path | str]
) -> dict[str, Any]:
    """All variables (S, T, …), NaN where a sample did not get."""
    done = [path if isinstance(path, Path) else None for path in paths]
    lengths = np.array([0 if path is None else len(path.q) for path in done])
    samples, count = len(paths), len(grid)
    n, m = len(setup.system.coordinates), len(setup.system.constraints)
    tails = {"coordinate": (n,), "constraint": (m,)}
    values: dict[str, Any] = {
        name: np.full((samples, count, *(tails[d][0] for d in dims)), np.nan) for name, (dims, _) in VARIABLES.items()
    }
    values["unique"] = np.ones(m, dtype=bool)
    if choice is None or not lengths.any():
        return values
    here = np.arange(count) < lengths[:, None]
    segment = Segment(
        choice,
        np.broadcast_to(grid, (samples, count))[here],
        np.concatenate([path.q for path in done if path is not None]),
        np.concatenate([path.v for path in done if path is not None]),
        np.repeat(p, lengths, axis=0),
    )
    found = values_of(setup, [segment])
    values["unique"] = found.pop("unique")
    jacobi = np.full((samples, count), np.nan)
    jacobi[here] = found.pop("jacobi")
    for name, value in found.items():
        values[name][here] = value
    power = values["given_power"] + values["constraint_power"]
    for i, length in enumerate(lengths):
        if length:
            values["energy_balance"][i, :length] = balance(grid[:length], jacobi[i, :length], power[i, :length])
    return values


def assembled(
    setup: Setup, grid: Array, values: dict[str, Any], statuses: list[str], seconds: dict[str, float]
) -> "xr.Dataset":
    """The dataset of all samples."""
    system = setup.system
    unique = values.pop("unique")
    attributes = {"status": summary(statuses)} | seconds | settings(setup)
    motion = dataset(
        values, grid, system.coordinate_names, system.constraint_names, unique, attributes, leading=("sample",)
    )
    return motion.assign(status=("sample", np.array(statuses, dtype=str), {"long_name": "how each sample ended"}))


def summary(statuses: list[str]) -> str:
    """How the samples fared together."""
    kinds = sorted(set(statuses), key=statuses.count, reverse=True)
    return ", ".join(f"{statuses.count(kind)} {kind}" for kind in kinds)
