"""Samples with contacts, each by itself: transitions come at other times in each of them, and are not as many."""

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arrays import Array
from zwang.errors import ZwangError
from zwang.model.event import Event
from zwang.motion.ensemble.problem import Ensemble
from zwang.motion.ensemble.threads import each
from zwang.motion.ensemble.told import BAD_START, ERROR, Told
from zwang.motion.observe import event_name
from zwang.motion.simulate import motion_from
from zwang.motion.start import Start
from zwang.results.contacts import AT_CONTACTS, TABLE

if TYPE_CHECKING:
    import xarray as xr

FILL = {"U": "", "f": np.nan}
"""What stands where a sample has no state, or no transition any more, by the kind of its numbers."""
AFTER = ("event_q_after", "event_v_after", "event_energy_loss")
COUNT_MEANS = "how many transitions each sample has: behind them tables are empty"


@dataclass(frozen=True)
class Contacts:
    """What is said of the contacts of one sample: over time (T, …), and its transitions (N, …)."""

    over_time: Mapping[str, Array]
    table: Mapping[str, Array]


def compute_in_contact(ensemble: Ensemble, into: Mapping[str, Array], threads: int, told: Any = None) -> Told:
    """Run all samples, and put what is kept of them into arrays (S, T, …); what is said of contacts is in the account.

    Each is what `simulate` gives for it; so many run at once.
    """
    m, began = len(ensemble.setup.system.constraint_names), clock.perf_counter()
    found = Told([], unique=np.ones(m, dtype=bool), contacts=[])
    for values in into.values():
        values[...] = np.nan
    able = [i for i in range(len(ensemble)) if i not in ensemble.refused and ensemble.consistent[i]]
    motions = each(partial(one, ensemble), able, threads)
    for i in range(len(ensemble)):
        status, words = ERROR, ensemble.refused.get(i, "")
        if not words and not ensemble.consistent[i]:
            status = BAD_START
        elif not words:
            motion = next(motions)
            if isinstance(motion, str):
                words = motion
            else:
                status, words = motion.attrs["status"], motion.attrs["doubts"]
                found.unique &= motion.unique.values
                found.projected |= motion.attrs["drift"] == "projection"
                for name, values in into.items():
                    values[i, : motion.sizes["time"]] = motion[name].values
                found.contacts[i:] = [of(motion)]
                if motion.sizes.get("event", 0):
                    found.hits[i] = hits_of(motion, ensemble.setup.events)
        found.statuses.append(status)
        found.contacts += [None] * (i + 1 - len(found.contacts))
        if words:
            found.doubts[i] = words
        if told:
            told(i + 1)
    found.seconds = clock.perf_counter() - began
    return found


def one(ensemble: Ensemble, sample: int) -> "xr.Dataset | str":
    """The motion of one sample, or why it cannot begin."""
    values = replace(ensemble.values, p=ensemble.p[sample])
    options = replace(ensemble.options, throw=False, progress=False)
    try:
        return motion_from(Start(ensemble.setup.system, ensemble.state(sample), values), options)
    except ZwangError as error:
        return str(error)


def hits_of(motion: "xr.Dataset", events: Sequence[Event]) -> Array:
    """(k, 2 + 2n) the events of a motion: instant, which, q and v."""
    names = [event_name(events, i) for i in range(len(events))]
    which = [names.index(name) for name in motion.event_name.values.tolist()]
    after = [motion[name].values for name in AFTER if name in motion]
    return np.column_stack([motion.event_time.values, which, motion.event_q.values, motion.event_v.values, *after])


def of(motion: "xr.Dataset") -> Contacts:
    """What a motion says of its contacts."""
    over_time, table = (
        {name: motion[name].values for name in names if name in motion} for names in (AT_CONTACTS, TABLE)
    )
    return Contacts(over_time, table)


def with_contacts(motion: "xr.Dataset", names: Sequence[str], found: Sequence[Contacts | None]) -> "xr.Dataset":
    """A dataset of samples with what is said of their contacts; tables are as long as the longest, and then empty."""
    first = next((c for c in found if c is not None), None)
    if first is None:
        return motion.assign_coords(contact=("contact", np.asarray(names, dtype=str)))
    counts = np.array([len(c.table["transition_time"]) if c else 0 for c in found])
    variables: dict[str, Any] = {"transitions": ("sample", counts, {"long_name": COUNT_MEANS})}
    for name in first.over_time:
        dims, words = AT_CONTACTS[name]
        values = stacked([c.over_time[name] if c else None for c in found], motion.sizes["time"])
        variables[name] = (("sample", "time", *dims), values, {"long_name": words})
    for name, (dims, words) in TABLE.items():
        values = stacked([c.table[name] if c else None for c in found], int(counts.max()))
        variables[name] = (("sample", *dims), values, {"long_name": words})
    return motion.assign(variables).assign_coords(contact=("contact", np.asarray(names, dtype=str)))


def stacked(parts: Sequence[Array | None], length: int) -> Array:
    """(S, length, …) arrays of different lengths, filled up."""
    known = [part for part in parts if part is not None]
    kind = np.result_type(*(part.dtype for part in known))
    whole = np.full((len(parts), length, *known[0].shape[1:]), FILL[kind.kind], dtype=kind)
    for i, part in enumerate(parts):
        if part is not None:
            whole[i, : len(part)] = part
    return whole
