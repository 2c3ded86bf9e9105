"""From computed states to the dataset: forces, multipliers, energies and residuals on the saved grid."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._version import __version__
from zwang.evaluation import Array, model_kernel, names_of
from zwang.formulations.solve import solve_named
from zwang.motion.native import compiled
from zwang.motion.task import Path
from zwang.results.dataset import balance, dataset

if TYPE_CHECKING:
    import xarray as xr

    from zwang.motion.simulate import Segment, Setup

CHUNK = 20_000  # states reported at a time, so that scratch memory stays small beside the results
SOLVE_CHUNK = 2_000


def report(setup: "Setup", segments: "list[Segment]", path: Path, message: str, seconds: float) -> "xr.Dataset":
    """The dataset of a motion, with all its constraints, redundant ones included."""
    system = setup.system
    n, m = len(system.coordinates), len(system.constraints)
    times = np.concatenate([s.times for s in segments])
    values: dict[str, Any] = {name: np.empty((len(times), n)) for name in PER_COORDINATE}
    values |= {name: np.empty((len(times), m)) for name in PER_CONSTRAINT}
    values |= {name: np.empty(len(times)) for name in SCALARS}
    values["rank"] = np.zeros(len(times), dtype=np.int64)
    unique = np.ones(m, dtype=bool)
    at = 0
    for segment in segments:
        for part in chunks(len(segment.times), CHUNK):
            here = slice(at + part.start, at + part.stop)
            fill(setup, segment, part, here, values)
        here = slice(at, at + len(segment.times))
        values["rank"][here] = len(segment.choice.rows)
        if len(segment.choice.rows) < m and len(segment.times):
            unique &= fill_all_multipliers(setup, segment, values["multiplier"][here])
        at = here.stop
    finish(values, times)
    attributes = {
        "status": str(path.status),
        "message": message,
        "method": setup.method,
        "form": setup.form,
        "tol": setup.tol,
        "drift": setup.drift,
        "steps": path.steps,
        "evaluations": path.evaluations,
        "compile_seconds": path.compile_seconds,
        "run_seconds": path.run_seconds,
        "total_seconds": seconds,
        "parameters": dict(zip(map(str, system.symbols), map(float, setup.p), strict=True)),
        "system": system.name,
        "zwang_version": __version__,
    }
    motion = dataset(values, times, system.coordinate_names, system.constraint_names, list(unique), attributes)
    return with_events(motion, setup, path)


PER_COORDINATE = ("q", "v", "a", "force", "constraint_force", "ideal_force", "nonideal_force")
PER_CONSTRAINT = ("multiplier", "residual", "residual_rate")
SCALARS = ("kinetic", "potential", "energy", "jacobi", "given_power", "constraint_power", "nonideal_power", "gaussian")


def fill(setup: "Setup", segment: "Segment", part: slice, here: slice, values: dict[str, Any]) -> None:
    """Evaluate a chunk of states in native code and put the results in their places."""
    q, v = segment.q[part], segment.v[part]
    out = compiled(setup.program("report", segment.choice))(t=segment.times[part, None], q=q, v=v, p=setup.p)
    values["q"][here], values["v"][here], values["a"][here] = q, v, out["acceleration"]
    for name in ("force", "constraint_force", "ideal_force", "residual", "residual_rate"):
        values[name][here] = out[name]
    for name in ("kinetic", "potential", "jacobi", "given_power", "gaussian"):
        values[name][here] = out[name]
    np.subtract(out["constraint_force"], out["ideal_force"], out=values["nonideal_force"][here])
    values["constraint_power"][here] = np.einsum("ti,ti->t", out["constraint_force"], v)
    values["nonideal_power"][here] = np.einsum("ti,ti->t", values["nonideal_force"][here], v)
    values["multiplier"][here][:, list(segment.choice.rows)] = out["multiplier"]


def fill_all_multipliers(setup: "Setup", segment: "Segment", multiplier: Array) -> Any:
    """Minimum-norm multipliers of all rows, where some are redundant; and which are unique."""
    kernel = model_kernel(setup.system, setup.inputs)
    unique = np.ones(multiplier.shape[1], dtype=bool)
    for part in chunks(len(segment.times), SOLVE_CHUNK):
        now = kernel(segment.times[part], segment.q[part], segment.v[part], setup.p)
        solution = solve_named(
            now.M, now.Q, now.A, now.b, C=now.C, form="fundamental", rank_tol=1e-8, one_sided=None, v=None,
            names=names_of(setup.system),
        )  # fmt: skip
        multiplier[part] = solution.multipliers
        unique &= solution.unique.all(axis=0)
    return unique


def finish(values: dict[str, Any], times: Array) -> None:
    """Energy, and what it gained beyond the work done."""
    values["energy"] = values["kinetic"] + values["potential"]
    power = values["given_power"] + values["constraint_power"]
    values["energy_balance"] = balance(times, values.pop("jacobi"), power)


def with_events(motion: "xr.Dataset", setup: "Setup", path: Path) -> "xr.Dataset":
    """The dataset with the events that were met, over a dimension of their own."""
    if not setup.events:
        return motion
    met = path.happenings
    n = len(setup.system.coordinates)
    names = [setup.events[h.which].name or f"event {h.which + 1}" for h in met]
    return motion.assign(
        event_time=("event", np.array([h.t for h in met], dtype=float)),
        event_name=("event", np.array(names, dtype=str)),
        event_q=(("event", "coordinate"), np.array([h.q for h in met]).reshape(len(met), n)),
        event_v=(("event", "coordinate"), np.array([h.v for h in met]).reshape(len(met), n)),
    )


def chunks(count: int, size: int) -> Iterator[slice]:
    """Slices that cover `count` things, `size` at a time."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))
