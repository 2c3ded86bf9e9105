"""Many starts at once: one compilation, all cores, one dataset."""

import math
import os
import time as clock
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.arrays import Array
from zwang.engines.registry import AUTO, DEFAULT
from zwang.errors import InputError
from zwang.linalg.threads import one_thread
from zwang.lowering.contact import across_rows
from zwang.model import System
from zwang.model.event import Event, listed_events
from zwang.model.has_system import HasSystem, begin_of, end_of, is_array, resets_of
from zwang.model.values import GivenValues
from zwang.motion.ensemble.contacts import with_contacts
from zwang.motion.ensemble.fingerprint import fingerprint
from zwang.motion.ensemble.part import compute, shapes
from zwang.motion.ensemble.problem import Sampled, sampled
from zwang.motion.ensemble.store import Layout, open_store, require_extra
from zwang.motion.ensemble.store_contacts import kept_of_contacts
from zwang.motion.ensemble.summary import DOUBTS_MEAN, STATUS_MEANS, summary, summary_of_doubts
from zwang.motion.ensemble.sweep import find_lead, sweep
from zwang.motion.ensemble.together import lead_by
from zwang.motion.ensemble.told import Met
from zwang.motion.observe import event_name, settings
from zwang.motion.options import RunOptions, check_span
from zwang.motion.progress import reporter
from zwang.results.dataset import VARIABLES, dataset, variables_named, with_variables
from zwang.results.inputs import with_values
from zwang.waiting import waiting
from zwang.words import count, listed

if TYPE_CHECKING:
    import xarray as xr


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
    events: Sequence[Event] = (),
    impacts: str = "moreau",
    split: str = "compliant",
    contacts: str = "events",
    step: float | None = None,
    t: float | None = None,
    max_step: float | None = None,
    threads: int | None = None,
    keep: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    client: Any = None,
    chunk: int = 1000,
    progress: Any = None,
) -> "xr.Dataset":
    """Integrate a system from many starts, or for many parameter values, on all cores and one compilation.

    `starts` and `parameters` map to numbers or to arrays (S,), which broadcast. The dataset has the variables of
    `simulate` with a dimension `sample` in front, and `status` and `doubts` (sample) beside them; a sample that
    fails is marked with its status, NaN from there on, and does not stop the others. A mechanism begins at its own
    start where none is given, put together for each sample's values of parameters. Parameters that differ from sample
    to sample are coordinates along `sample`.

    `events` are watched in every sample, recorded, and stop it where they say so; its status is then "event". They are
    along a dimension `event`, as many as the sample with most of them has: event_time, event_name (sample, event),
    event_q and event_v (sample, event, coordinate), and those after it where some reset the state, not a number and ""
    where a sample has no more. Their instants and states have the bits that `simulate` gives.

    One-sided constraints are contacts, as in `simulate`, with the same `impacts`, `split`, `contacts` and `step`.
    Samples run one after another then, each as `simulate` would run it. `mode`, `gap`, `normal_force`, `friction_force`
    and `slip` have the dimensions (sample, time, contact); the tables of transitions (sample, transition) are as long
    as the longest: `transitions` (sample) says how many each has, and behind them are NaN and empty words. A store
    keeps them, too.

    `keep` names the variables that the dataset is to have, ("q", "energy"); all of them without it. The others are
    computed and looked at, so that doubts are told, but take no memory. `outputs` says the same, as in `simulate`.

    With a `store`, a folder, samples are computed `chunk` by `chunk` and written there with Zarr (extra `cluster`); the
    dataset reads them when they are looked at. The same call goes on where it was interrupted, or gives what is there;
    a store of something else is refused. `client`, a `Client` of dask.distributed, has the workers of a cluster
    compute; the store must be on a disk that they share. The bits are the same wherever and in whatever chunks they are
    computed. `progress` is a function of (samples done, samples), or True or False for a bar or none.

    >>> import numpy as np
    >>> import zwang as zw
    >>> x = zw.coordinates("x")
    >>> k = zw.parameters("k")
    >>> oscillator = zw.System((x,), kinetic=zw.dot(x)**2/2, potential=k*x**2/2)
    >>> motion = zw.simulate_many(oscillator, {x: [1, 2, 3], zw.dot(x): 0}, until=np.pi, samples=2, parameters={k: 4})
    >>> motion.q.isel(time=-1, coordinate=0).values.round(9)
    array([1., 2., 3.])
    """
    until, t = check_span(end_of(system, until), begin_of(system, t))
    method = AUTO if isinstance(contacts, str) and contacts == "steps" else DEFAULT  # steps are a method of their own
    events = listed_events(events)
    watched = (*resets_of(system, ()), *events)
    options = RunOptions(
        until, t, times, samples, method, form, tol, drift, watched, max_step=max_step, impacts=impacts,
        split=split, contacts=contacts, step=step,
    )  # fmt: skip
    if events and store is not None:
        raise InputError("events are not kept in a store: leave out events or the store")
    if threads is not None and not is_count(threads):
        raise InputError(f"threads = {threads!r}: a whole number from 1 on is needed, or None for all cores")
    if keep is not None and outputs is not None:
        raise InputError("keep and outputs are both given, and say the same: give one of them")
    names = variables_named(keep, "keep") if outputs is None else variables_named(outputs, "outputs")
    asked = sampled(system, starts, parameters, options)
    watch = reporter(progress, 0, asked.count, "{:,.0f} of {:,.0f} samples")
    if store is not None:
        return stored(asked, names, store, client, chunk, threads, watch)
    if client is not None:
        raise InputError("client is given without a store: give store='sweep.zarr', a folder that the workers share")
    ensemble = asked.ensemble()
    ensemble.check()
    setup, grid = ensemble.setup, ensemble.grid
    values = room_for(names, (len(ensemble), len(grid)), shapes(setup))
    with waiting(f"simulating {count(len(ensemble), 'sample')}"), one_thread(setup.system.size):
        first = find_lead(len(ensemble), lambda part: ensemble.part(part).consistent)
        lead = None if first is None else lead_by(ensemble, first, len(ensemble))
        told = compute(ensemble, lead, values, threads, watch)
    total = clock.perf_counter() - options.began
    seconds = {"compile_seconds": total - told.seconds, "run_seconds": told.seconds, "total_seconds": total}
    unsure = np.array([told.doubts.get(i, "") for i in range(len(ensemble))] if told.doubts else [""] * len(ensemble))
    first = min(told.doubts, default=0)
    attributes = {
        "status": summary(Counter(told.statuses)),
        "doubts": summary_of_doubts(len(told.doubts), len(ensemble), first, told.doubts.get(first, "")),
    }
    motion = dataset(
        values,
        grid,
        setup.system.coordinate_names,
        setup.system.constraint_names,
        told.unique,
        attributes | seconds | settings(replace(setup, drift="projection") if told.projected else setup),
        leading=("sample",),
    )
    motion = with_common(asked, motion, ensemble.values)
    motion = with_hits(motion, setup.events, told.met) if setup.events else motion
    if setup.contact is not None:
        motion = with_contacts(motion, [setup.system.constraint_names[i] for i in setup.contact.shown], told.contacts)
    of_samples = {
        "status": ("sample", np.array(told.statuses, dtype=str), {"long_name": STATUS_MEANS}),
        "doubts": ("sample", unsure, {"long_name": DOUBTS_MEAN}),
    }
    values_of = {name: ("sample", value, {"long_name": "value"}) for name, value in varied(asked).items()}
    return with_variables(motion, of_samples, values_of)


def is_count(value: Any) -> bool:
    """Whether something is a whole number from 1 on."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 1)


def room_for(names: Sequence[str], many: tuple[int, int], of_state: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Arrays for what is kept of so many samples at so many times; more than there is memory for is refused."""
    try:
        return {name: np.empty((*many, *of_state[name])) for name in names}
    except (MemoryError, ValueError):  # ValueError: beyond what an address can tell
        size = 8 * math.prod(many) * sum(math.prod(of_state[name]) for name in names)
        raise InputError(
            f"{names_and(names)} of {count(many[0], 'sample')} at {count(many[1], 'time')} take {size / 2**30:,.0f} "
            f"GiB, for which there is no memory: save fewer times, keep fewer variables (keep=…), or give a store"
        ) from None


def names_and(names: Sequence[str]) -> str:
    """Variables by name, or all of them."""
    return "all variables" if len(names) == len(VARIABLES) else listed(names)


def with_hits(motion: "xr.Dataset", events: Sequence[Event], met: list[Met]) -> "xr.Dataset":
    """The dataset with the events of all samples, filled up to as many as one of them has at most.

    What was met is used up on the way, part by part: it is as large as the result.
    """
    samples, n = motion.sizes["sample"], motion.sizes["coordinate"]
    many = samples, max((int(part.counts.max()) for part in met), default=0)
    names = np.array([event_name(events, i) for i in range(len(events))])
    resets = any(event.reset for event in events)
    numbers = 4 * n + 1 if resets else 2 * n
    found = {"time": np.empty(many), "name": np.empty(many, names.dtype), "state": np.empty((*many, numbers))}
    nothing = {"time": np.nan, "name": "", "state": np.nan}
    begin = 0
    while begin < samples:
        part = met.pop(0) if met else None
        end = int(met[0].samples[0]) if met else samples
        for name, array in found.items():
            array[begin:end] = nothing[name]
        if part is not None:
            behind = np.repeat(np.cumsum(part.counts) - part.counts, part.counts)
            at = np.repeat(part.samples, part.counts), np.arange(len(part.rows)) - behind
            found["time"][at], found["name"][at] = part.rows[:, 0], names[part.rows[:, 1].astype(int)]
            found["state"][at] = part.rows[:, 2:]
        begin = end
    each = ("sample", "event")
    added = {
        "event_time": (each, found["time"], {"long_name": "when events were met"}),
        "event_name": (each, found["name"]),
        "event_q": ((*each, "coordinate"), found["state"][:, :, :n]),
        "event_v": ((*each, "coordinate"), found["state"][:, :, n : 2 * n]),
    }
    if resets:
        added |= {
            "event_q_after": ((*each, "coordinate"), found["state"][:, :, 2 * n : 3 * n]),
            "event_v_after": ((*each, "coordinate"), found["state"][:, :, 3 * n : 4 * n]),
            "event_energy_loss": (each, found["state"][:, :, -1]),
        }
    return with_variables(motion, added)


def stored(
    asked: Sampled, names: Sequence[str], store: Any, client: Any, chunk: Any, threads: int | None, watch: Any
) -> "xr.Dataset":
    """The samples in a store, after what is missing there has been computed."""
    if not is_count(chunk):
        raise InputError(f"chunk = {chunk!r}: a whole number from 1 on is needed, the samples of a part")
    require_extra()
    require_client(client)
    head = asked.part(slice(0, 1)).ensemble()
    system, known_by = head.setup.system, fingerprint(asked, names)
    contacts = tuple(system.constraint_names[i] for i in head.setup.contact.shown) if head.setup.contact else ()
    in_space = bool(head.setup.contact) and bool(across_rows(head.setup.lowered))
    layout = Layout(
        samples=asked.count,
        chunk=int(chunk),
        times=head.grid,
        coordinates=tuple(system.coordinate_names),
        constraints=tuple(system.constraint_names),
        keep=tuple(names),
        varied=varied(asked),
        contacts=contacts,
        at_contacts=kept_of_contacts(contacts, in_space, asked.options.contacts == "steps"),
    )
    place = open_store(store, layout, known_by, settings(head.setup))
    with waiting(f"simulating {count(asked.count, 'sample')}"):
        sweep(asked, place, known_by, client, threads, watch)
    motion = place.dataset().assign_attrs(total_seconds=clock.perf_counter() - asked.options.began)
    return with_common(asked, motion, head.values)


def require_client(client: Any) -> None:
    """Refuse what is not a client of dask.distributed."""
    if client is None:
        return
    from distributed import Client

    if not isinstance(client, Client):
        raise InputError(
            f"client = {client!r}: a Client of dask.distributed is meant, as in Client('tcp://scheduler:8786')"
        )


def with_common(asked: Sampled, motion: "xr.Dataset", values: GivenValues) -> "xr.Dataset":
    """The dataset with the parameters and inputs that all samples share; the others are coordinates along `sample`."""
    different = {getattr(key, "name", str(key)) for key, value in asked.parameters.items() if is_array(value)}
    p = np.atleast_2d(values.p)[0]
    shared = {s: x for s, x in zip(values.symbols, p, strict=True) if s.name not in different}
    return with_values(motion, replace(values, symbols=tuple(shared), p=np.array([*shared.values()])))


def varied(asked: Sampled) -> dict[str, Array]:
    """The parameters that differ from sample to sample, by name; one that is called as a variable is has no place."""
    taken = {*VARIABLES, "unique", "status", "doubts", "time", "coordinate", "constraint", "sample"}
    names = {key: getattr(key, "name", str(key)) for key in asked.parameters}
    return {
        names[key]: np.broadcast_to(np.asarray(value, dtype=float), (asked.count,))
        for key, value in asked.parameters.items()
        if is_array(value) and names[key] not in taken
    }
