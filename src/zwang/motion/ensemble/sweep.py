"""Ensembles part by part into a store: in this process, or by the workers of a cluster.

Whoever computes a part writes it. Parts that are there already are not computed again, so a sweep that was interrupted
goes on, and a worker that is lost loses nothing but the part it was at, which another takes over.
"""

import contextlib
import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.errors import InputError, ZwangError
from zwang.model.has_system import is_array
from zwang.motion.ensemble.part import compute
from zwang.motion.ensemble.problem import Sampled
from zwang.motion.ensemble.store import Layout, Store, found
from zwang.motion.ensemble.stored import shown
from zwang.motion.ensemble.together import Lead, lead_by
from zwang.words import count

LOOKED_AT = 1024  # starts that are looked at together, for one that can lead
WAITING_PER_THREAD = 3  # parts that wait for each thread of a cluster: it is never without one, and few travel in vain
FEWEST_WAITING = 16

Parts = Generator[tuple[int, str], None, None]
"""The number of a part that is done, and what was refused in it, or nothing"""


@dataclass(frozen=True, eq=False)
class Shared:
    """What all parts of a sweep have in common, wherever they are computed."""

    asked: Sampled
    """Of the lead alone: its starts and parameters"""
    leads: bool
    """Whether the lead can move at all"""
    samples: int
    path: Path
    layout: Layout
    known_by: dict[str, Any]

    def lead(self) -> Lead | None:
        """The lead, by which rows are chosen."""
        return lead_by(self.asked.ensemble(), 0, self.samples) if self.leads else None


def find_lead(samples: int, consistent: Callable[[slice], NDArray[np.bool_]]) -> int | None:
    """The first sample whose start is on its constraints; None if there is none."""
    begin, size = 0, 1  # most often it is the first of all
    while begin < samples:
        which = np.flatnonzero(consistent(slice(begin, min(begin + size, samples))))
        if len(which):
            return begin + int(which[0])
        begin, size = begin + size, LOOKED_AT
    return None


def sweep(asked: Sampled, store: Store, known_by: dict[str, Any], client: Any, threads: int | None, told: Any) -> None:
    """Compute what the store has not got yet; `told` is called with how many samples are there."""
    pending = store.pending()
    done = store.layout.samples - sum(map(store.size_of, pending))
    if told:
        told(done)
    if not pending:
        return
    lead = find_lead(asked.count, lambda part: asked.part(part).ensemble().consistent)
    one = asked.part(slice(lead or 0, (lead or 0) + 1))
    layout = replace(store.layout, varied={})
    shared = Shared(one, lead is not None, asked.count, store.path, layout, known_by)
    left = len(pending)
    if client is None:
        parts = run_here(shared, asked, pending, threads)
    else:
        parts = run_on(client, shared, asked, pending, store)
    with contextlib.closing(parts):
        for part, refused in parts:
            if refused:
                there = f"{store.layout.parts - left} of {count(store.layout.parts, 'part')}"
                raise InputError(f"{refused}; {there} are in {shown(store.path)}: the same call goes on")
            done, left = done + store.size_of(part), left - 1
            if told:
                told(done)


def run_here(shared: Shared, asked: Sampled, pending: list[int], threads: int | None) -> Parts:
    """Parts one after another in this process, each with what was refused in it."""
    store, lead = found(shared.path, shared.layout, shared.known_by), shared.lead()
    for part in pending:
        yield part, computed(store, lead, asked.part(store.layout.samples_of(part)), part, threads)


def run_on(client: Any, shared: Shared, asked: Sampled, pending: list[int], store: Store) -> Parts:
    """Parts by the workers of a cluster, as they are done."""
    import cloudpickle
    from distributed import as_completed

    common = cloudpickle.dumps(replace(shared, asked=by_name(shared.asked)))
    waiting, token = iter(pending), os.urandom(4).hex()
    futures: dict[str, tuple[Any, int]] = {}

    def submitted(most: int) -> Iterator[Any]:
        for part in islice(waiting, most):
            some = by_name(asked.part(store.layout.samples_of(part)))
            given = (common, some.start, {k: x for k, x in some.parameters.items() if is_array(x)}, some.count, part)
            future = client.submit(in_worker, *given, key=f"zwang-sweep-{token}-{part}", pure=False)
            futures[future.key] = future, part
            yield future

    try:
        working = as_completed(list(submitted(ahead_of(client))))
        for future in working:
            _, part = futures.pop(future.key)
            refused = refusal(future, store, part)
            for another in submitted(max(1, ahead_of(client) - len(futures))):
                working.add(another)
            yield part, refused
    finally:  # also after an interrupt
        if futures:
            client.cancel([future for future, _ in futures.values()])


def ahead_of(client: Any) -> int:
    """How many parts are handed to a cluster at a time."""
    return int(max(FEWEST_WAITING, WAITING_PER_THREAD * sum(client.nthreads().values())))


def refusal(future: Any, store: Store, part: int) -> str:
    """What was refused in a part that a worker was given; what happened to the worker, if it is that."""
    from distributed import KilledWorker

    try:
        return str(future.result() or "")
    except KilledWorker as error:
        where = store.layout.samples_of(part)
        return (
            f"samples {where.start} to {where.stop - 1} were given to several workers, and each of them died "
            f"({str(error).splitlines()[0]}): if they were short of memory, choose a smaller chunk"
        )
    except Exception as error:  # whatever a cluster may say
        return f"the cluster gave up on part {part} ({type(error).__name__}: {(str(error).splitlines() or [''])[0]})"


def by_name(asked: Sampled) -> Sampled:
    """The same with parameters by their names: symbols that have travelled apart are not the same any more."""
    return replace(asked, parameters={getattr(key, "name", str(key)): x for key, x in asked.parameters.items()})


@lru_cache(maxsize=4)
def unpacked(common: bytes) -> tuple[Shared, Store, Lead | None]:
    """What all parts share, once in a worker."""
    import cloudpickle

    shared: Shared = cloudpickle.loads(common)
    return shared, found(shared.path, shared.layout, shared.known_by), shared.lead()


def in_worker(common: bytes, start: Any, varied: dict[str, Any], samples: int, part: int) -> str:
    """A part in a worker of a cluster; what was refused in it."""
    try:
        shared, store, lead = unpacked(common)
    except ZwangError as error:
        return f"a worker on {os.uname().nodename} could not begin: {error}"
    asked = replace(shared.asked, start=start, parameters=shared.asked.parameters | varied, count=samples)
    return computed(store, lead, asked, part, 1)


def computed(store: Store, lead: Lead | None, asked: Sampled, part: int, threads: int | None) -> str:
    """Compute a part and write it; what was refused in it, or kept from being written."""
    try:
        ensemble = asked.ensemble()
        ensemble.check()
        values = {name: np.empty(store.layout.shape(name, asked.count)) for name in store.layout.keep}
        told = compute(ensemble, lead, values, threads)
    except ZwangError as error:
        return str(error)
    try:
        store.write(part, values, told)
    except OSError as error:
        return f"{shown(store.path)} cannot be written: {error.strerror or error}"
    return ""
