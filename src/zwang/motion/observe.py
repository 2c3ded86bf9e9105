"""From computed states to the dataset: forces, multipliers, energies and residuals on the saved grid."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._version import __version__
from zwang.arrays import Array
from zwang.compile import AnyProgram
from zwang.dense import shortest as dense
from zwang.engines.native.engine import compiled
from zwang.engines.task import REMEDY, Status, Trace, Trajectory
from zwang.linalg.sparse.masses import sparse_masses
from zwang.linalg.sparse.matrix import is_sparse, scaled
from zwang.linalg.sparse.multipliers import shortest_multipliers
from zwang.lowering.contact import Held
from zwang.lowering.matrices import matrix_kernel, sparse_lengths
from zwang.lowering.rows import RowBasis
from zwang.model.event import Event
from zwang.motion.options import instants_apart
from zwang.motion.setup import Setup
from zwang.results.dataset import balance, dataset, with_variables
from zwang.results.inputs import numbers_used, with_inputs
from zwang.waiting import waiting

if TYPE_CHECKING:
    import xarray as xr


CHUNK = 20_000  # states reported at a time, so that scratch memory stays small beside the results
SMALL_CHUNK = 2_000  # where matrices are needed too

PER_COORDINATE = ("q", "v", "a", "force", "constraint_force", "ideal_force", "nonideal_force")
PER_CONSTRAINT = ("multiplier", "residual", "residual_rate")
SCALARS = ("kinetic", "potential", "energy", "jacobi", "given_power", "constraint_power", "nonideal_power", "gaussian")

ALL = frozenset((*PER_COORDINATE, *PER_CONSTRAINT, *SCALARS))
# variable: what kernels call it
READ = {name: name for name in ALL - {"q", "v", "nonideal_force", "energy", "constraint_power", "nonideal_power"}}
READ |= {"a": "acceleration"}
# variable: those that it is computed from
MADE_OF = {
    "nonideal_force": ("constraint_force", "ideal_force"),
    "constraint_power": ("constraint_force",),
    "nonideal_power": ("nonideal_force", "constraint_force", "ideal_force"),
    "energy": ("kinetic", "potential"),
    "energy_balance": ("jacobi",),
}
LOOKED_AT = ("q", "v", "a", "kinetic", "potential", "jacobi")  # by the certificate, whatever is asked for
OF_REDUNDANT = ("residual", "residual_rate")  # where constraints are redundant, and may come to contradict each other

# A redundant constraint that reads more than this, in lengths of its row of A, is at odds with the others.
AT_ODDS = 1e-5


@dataclass(frozen=True)
class Segment:
    """States (T, n) at times (T,), on one choice of independent rows, with parameters (k,) or (T, k)."""

    basis: RowBasis
    times: Array
    q: Array
    v: Array
    p: Array
    trace: Trace | None = None
    contact: Held | None = None
    """The mode of the contacts, if there are any."""
    modes: Array | None = None
    """(T, k) how switches were held, if some were at rest."""

    @property
    def rank(self) -> int:
        """How many independent rows ask for something."""
        if self.contact is None or not self.basis.masked:
            return len(self.basis.rows)
        rough = self.contact.rough
        sticks: Any = () if rough is None else (*rough.masks, *rough.across)
        return len(self.basis.rows) - int(sum(1 - mask for mask in (*self.contact.masks, *sticks)))

    def named(self, part: Any) -> dict[str, Array]:
        """The inputs of the report of some of the states."""
        p = self.p if self.p.ndim == 1 else self.p[part]
        given = {"t": self.times[part, None], "q": self.q[part], "v": self.v[part], "p": p}
        given |= {} if self.modes is None else {"modes": self.modes[part]}
        held = self.contact and (self.basis.masked or self.modes is not None)
        return given | {"contact": self.contact.numbers} if self.contact and held else given


def first(segments: list[Segment], count: int) -> list[Segment]:
    """The first so many states of some segments."""
    kept = []
    for segment in segments:
        keep = min(count, len(segment.times))
        count -= keep
        if keep:
            trace = segment.trace and segment.trace.first(keep)
            times, q, v = segment.times[:keep], segment.q[:keep], segment.v[:keep]
            modes = None if segment.modes is None else segment.modes[:keep]
            kept.append(replace(segment, times=times, q=q, v=v, trace=trace, modes=modes))
    return kept


@waiting("evaluating forces and energies")
def values_of(setup: Setup, segments: Sequence[Segment], names: Iterable[str] = ALL) -> dict[str, Any]:
    """What the dataset says of the states of some segments, in order: all of it, or what is named, with its parts."""
    system = setup.system
    n, m = len(system.coordinate_names), len(system.constraint_names)
    count = sum(len(s.times) for s in segments)
    wanted = with_parts(names)
    values: dict[str, Any] = {name: np.empty((count, n)) for name in PER_COORDINATE if name in wanted}
    values |= {name: np.zeros((count, m)) for name in PER_CONSTRAINT if name in wanted}
    values |= {name: np.empty(count) for name in SCALARS if name in wanted}
    values |= {"rank": np.zeros(count, dtype=np.int64), "unique": np.ones(m, dtype=bool)}
    at = 0
    for segment in segments:
        for part in chunks(len(segment.times), CHUNK):
            fill(setup, segment, part, slice(at + part.start, at + part.stop), values)
        here = slice(at, at + len(segment.times))
        values["rank"][here] = segment.rank
        if segment.basis.redundant(m) and "multiplier" in values:
            values["unique"] &= share_multipliers(setup, segment, values["multiplier"][here])
        at = here.stop
    if "energy" in values:
        values["energy"] = values["kinetic"] + values["potential"]
    return values | kept(segments, n)


def with_parts(names: Iterable[str]) -> set[str]:
    """Variables, and those that they are computed from."""
    return {*names, *(part for name in names for part in MADE_OF.get(name, ()))}


def reporting(setup: Setup, segment: Segment, names: Iterable[str] = ALL) -> AnyProgram:
    """The program for some variables: of one that gives everything, the part that they need."""
    needed = tuple(sorted({READ[name] for name in names if name in READ}))
    rests = segment.modes is not None
    return setup.program("report", segment.basis, () if len(needed) == len(READ) else needed, rests)


def kept(segments: Sequence[Segment], n: int) -> dict[str, Array]:
    """What the engines have kept beside the states: work, slopes and sizes of steps; none where nothing was kept."""
    if len(segments) == 1 and segments[0].trace is not None:
        trace = segments[0].trace
        return {"work": trace.work, "slope": trace.slope, "size": trace.size}
    count = sum(len(s.times) for s in segments)
    values = {"work": np.zeros(count), "slope": np.zeros((count, n)), "size": np.zeros(count)}
    at = 0
    for segment in segments:
        for name, value in values.items():
            if segment.trace is not None:
                value[at : at + len(segment.times)] = getattr(segment.trace, name)
        at += len(segment.times)
    return values


def fill(setup: Setup, segment: Segment, part: slice, here: slice, values: dict[str, Any]) -> None:
    """Evaluate a chunk of states in native code and put the results in their places."""
    q, v = segment.q[part], segment.v[part]
    out = compiled(reporting(setup, segment, values))(**segment.named(part))
    values["q"][here], values["v"][here] = q, v
    for name in READ.keys() & values.keys() - {"multiplier"}:
        values[name][here] = out[READ[name]]
    if "multiplier" in values:
        used = [i for i in segment.basis.used if i < values["multiplier"].shape[1]]  # slips are behind them
        values["multiplier"][here][:, used] = out["multiplier"][:, : len(used)]
    if "nonideal_force" in values:
        with np.errstate(invalid="ignore"):  # beside a singular position both may be infinite
            np.subtract(out["constraint_force"], out["ideal_force"], out=values["nonideal_force"][here])
    for name, force in (("constraint_power", "constraint_force"), ("nonideal_power", "nonideal_force")):
        if name in values:
            np.vecdot(values[force][here], v, out=values[name][here])


def share_multipliers(setup: Setup, segment: Segment, multiplier: Array) -> Any:
    """Minimum-norm multipliers of all rows, where some are redundant; and which are unique.

    The rank is the one chosen for the run: a state a little off the constraints must not change it. (With a
    nonideal C the multipliers carry Q_c − C, which the given multipliers already do.)
    """
    kernel = matrix_kernel(setup.system, setup.inputs)
    unique = np.ones(multiplier.shape[1], dtype=bool)
    if kernel.large and not segment.contact:
        independent = np.array(segment.basis.rows, dtype=np.intp)
        for k, t in enumerate(segment.times):
            p = segment.p if segment.p.ndim == 1 else segment.p[k]
            one = kernel.sparse(t, segment.q[k], segment.v[k], p)
            A = scaled(one.A, columns=sparse_masses(one.M, one.A).units)
            multiplier[k], flags = shortest_multipliers(A, independent, multiplier[k])
            unique &= flags
        return unique
    for part in chunks(len(segment.times), SMALL_CHUNK):
        p = segment.p if segment.p.ndim == 1 else segment.p[part]
        now = kernel(segment.times[part], segment.q[part], segment.v[part], p)
        if segment.contact:  # contacts that are open have no part in it
            open_ = [i for i, mask in zip(segment.contact.rows, segment.contact.masks, strict=True) if not mask]
            now.A[:, open_] = 0.0
        multiplier[part], flags = dense.shortest_multipliers(now.M, now.A, segment.rank, multiplier[part])
        unique &= flags.all(axis=0)
    return unique


def first_contradiction(setup: Setup, segments: Sequence[Segment], values: dict[str, Any]) -> tuple[int, int] | None:
    """The first saved state, and the row, at which a redundant constraint is not obeyed."""
    at, kernel = 0, matrix_kernel(setup.system, setup.inputs)
    for segment in segments:
        here = slice(at, at + len(segment.times))
        redundant = list(segment.basis.redundant(len(setup.system.constraint_names)))
        if redundant and len(segment.times):
            middle = len(segment.times) // 2
            p = segment.p if segment.p.ndim == 1 else segment.p[middle]
            A = kernel.one(float(segment.times[middle]), segment.q[middle], segment.v[middle], p).A
            size = (sparse_lengths(A) if is_sparse(A) else np.linalg.norm(A, axis=1))[redundant]
            allowed = max(AT_ODDS, 1e3 * setup.tol) * np.where(size > 0, size, 1.0)
            reading = np.fmax(np.abs(values["residual"][here]), np.abs(values["residual_rate"][here]))[:, redundant]
            bad = np.argwhere(reading > allowed)
            if len(bad):
                return at + int(bad[0, 0]), int(redundant[int(bad[0, 1])])
        at = here.stop
    return None


def report(
    setup: Setup, times: Array, values: dict[str, Any], path: Trajectory, message: str, seconds: float, names: list[str]
) -> "xr.Dataset":
    """The dataset of one motion, with the variables that are named."""
    system = setup.system
    values["energy_balance"] = balance(values.pop("jacobi"), values.pop("work"))
    unique = values["unique"] if "multiplier" in names else None
    values = {name: values[name] for name in names}
    attributes = account(setup, path, message, seconds)
    motion = dataset(values, times, system.coordinate_names, system.constraint_names, unique, attributes)
    motion = with_inputs(motion, setup.inputs, setup.signals)
    return with_rests(with_events(motion, setup.events, path), path)


def account(setup: Setup, path: Trajectory, message: str, seconds: float) -> dict[str, Any]:
    """How a motion fared, what it cost, and how it was computed."""
    return {
        "status": str(path.status),
        "message": message,
        "doubts": " ".join(path.doubts),
        "steps": path.steps,
        "evaluations": path.evaluations,
        "compile_seconds": path.compile_seconds,
        "run_seconds": path.run_seconds,
        "total_seconds": seconds,
        "parameters": numbers_used(setup.symbols, setup.p, setup.signals),
    } | settings(setup)


def settings(setup: Setup) -> dict[str, Any]:
    """How a motion was computed, so that it can be repeated."""
    return {
        "method": setup.method,
        "form": setup.form,
        "tol": setup.tol,
        "max_step": setup.max_step,
        "drift": setup.drift,
        "system": setup.system.name,
        "zwang_version": __version__,
    }


def with_events(motion: "xr.Dataset", events: "Sequence[Event]", path: Trajectory) -> "xr.Dataset":
    """The dataset with the events that were met, over a dimension of their own."""
    if not events:
        return motion
    met = path.hits
    n = motion.sizes["coordinate"]
    names = [event_name(events, h.which) for h in met]
    added: dict[str, Any] = {
        "event_time": ("event", np.array([h.t for h in met], dtype=float)),
        "event_name": ("event", np.array(names, dtype=str)),
        "event_q": (("event", "coordinate"), np.array([h.q for h in met], dtype=float).reshape(len(met), n)),
        "event_v": (("event", "coordinate"), np.array([h.v for h in met], dtype=float).reshape(len(met), n)),
    }
    if any(event.reset for event in events):
        q, v = (np.array([(h.after or (h.q, h.v))[i] for h in met], dtype=float).reshape(len(met), n) for i in range(2))
        added |= {
            "event_q_after": (("event", "coordinate"), q, {"long_name": "positions after an event"}),
            "event_v_after": (("event", "coordinate"), v, {"long_name": "velocities after an event"}),
            "event_energy_loss": ("event", np.array([h.loss for h in met], dtype=float), {"long_name": "energy lost"}),
        }
    return with_variables(motion, added)


def with_rests(motion: "xr.Dataset", path: Trajectory) -> "xr.Dataset":
    """The dataset with the switches along which the motion went on, and when, over a dimension of their own."""
    if not path.rests:
        return motion
    return motion.assign(
        rest_switch=("rest", np.array([r.switch for r in path.rests], dtype=str)),
        rest_begin=("rest", np.array([r.begin for r in path.rests])),
        rest_end=("rest", np.array([r.end for r in path.rests])),
    )


def event_name(events: "Sequence[Event]", which: int) -> str:
    """An event's name, or its number."""
    return events[which].name or f"event {which + 1}"


def chunks(count: int, size: int) -> Iterator[slice]:
    """Slices that cover `count` things, `size` at a time."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def cut_short(
    setup: Setup, odds: tuple[int, int], values: dict[str, Any], saved: Array, path: Trajectory
) -> tuple[dict[str, Any], Array, Trajectory]:
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


def how_it_ended(events: Sequence[Event], path: Trajectory, span: tuple[float, float] | None = None) -> str:
    """The end of a path in a sentence or two; `span` is what was asked for, if that may be the reason."""
    t = path.end[0]
    notes = " ".join((*path.notes, *path.doubts))
    if path.status is Status.EVENT:
        last = path.hits[-1]
        words = f"stopped by the event {event_name(events, last.which)!r} at t = {last.t:.12g}."
    elif path.status is Status.FINISHED:
        words = f"finished at t = {t:.12g}."
    elif path.status is Status.INTERRUPTED:
        words = f"interrupted at t = {t:.12g}; what was computed before is here."
    else:
        late = instants_apart(*span) if span and path.status is Status.STEP_TOO_SMALL else ""
        remedy = f"{late}: let it begin at t = 0" if late else REMEDY[path.status]
        words = f"stopped at t = {t:.12g}: {path.status}; {remedy}."
    return f"{words} {notes}".strip()
