"""What a store keeps of contacts: what they do over time in arrays as any, and of each part one table of transitions.

Samples have as many transitions as they have. So those of a part stand below each other in an array of its own, in the
group `tables`; `transitions` (sample) says how many belong to each. Read, they are what `simulate_many` gives without a
store: as long as the longest, and then empty. Words are numbers there: modes, kinds and contacts, by their places.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.motion.contact.record import KINDS
from zwang.motion.ensemble.contacts import COUNT_MEANS, FILL, Contacts, stacked
from zwang.motion.ensemble.stored import Stored
from zwang.motion.ensemble.zarr_files import ZarrArray, describe, is_described, write_chunk
from zwang.results.contacts import IN_SPACE, MODES, OVER_TIME, TABLE, WORKS

TABLES, COUNTS = "tables", "transitions"
KEPT = (COUNTS, TABLES)
"""What is kept beside the variables over time, a file a part."""
MODE_WORDS = ("", *MODES)
"""What numbers of modes mean; the first where a sample has no state."""
MODE_FLAGS = {"flag_values": list(range(len(MODE_WORDS))), "flag_meanings": " ".join(("none", *MODES))}


def kept_of_contacts(contacts: Sequence[str], in_space: bool, by_steps: bool) -> tuple[str, ...]:
    """The variables over time that motions with some contacts have."""
    if not contacts:
        return ()
    more = () if by_steps else (*(IN_SPACE if in_space else ()), *WORKS)
    return (*OVER_TIME, *more)


def coded(found: Sequence[Contacts | None], names: Sequence[str], shapes: Mapping[str, Any]) -> dict[str, Array]:
    """Variables over time (S, T, …) in numbers, of samples of which some were not run."""
    values: dict[str, Array] = {}
    for name in names:
        parts = [c.over_time.get(name) if c else None for c in found]
        empty = np.full(shapes[name], "" if name == "mode" else np.nan)
        whole = stacked(parts, shapes[name][1]) if any(part is not None for part in parts) else empty
        values[name] = places(whole, MODE_WORDS).astype("|i1") if name == "mode" else whole
    return values


def counted(found: Sequence[Contacts | None]) -> Array:
    """(S,) how many transitions each sample has."""
    return np.array([len(c.table["transition_time"]) if c else 0 for c in found], dtype="<i8")


def table_of(found: Sequence[Contacts | None], contacts: Sequence[str], coordinates: int) -> Array:
    """(N, ·) the transitions of all samples of a part, one below the other, in numbers."""
    rows = [np.zeros((0, sum(map(prod, widths(coordinates, len(contacts)).values()))))]
    for table in (c.table for c in found if c is not None):
        words = {"transition_kind": KINDS, "transition_contact": tuple(contacts)}
        columns = [places(table[name], words[name]) if name in words else table[name] for name in TABLE]
        count = len(table["transition_time"])
        rows.append(np.concatenate([c.reshape(count, prod(c.shape[1:])).astype(float) for c in columns], axis=1))
    return np.concatenate(rows)


def table_array(part: int, rows: int, contacts: Sequence[str], coordinates: int) -> ZarrArray:
    """The array of the transitions of a part."""
    columns = sum(map(prod, widths(coordinates, len(contacts)).values()))
    return ZarrArray(f"{TABLES}/{part}", (rows, columns), (max(rows, 1), columns), "<f8", ("row", "column"), fill=0.0)


def write_table(store: Path, part: int, array: ZarrArray, rows: Array) -> int:
    """The transitions of a part, an array of its own; one that was begun before is replaced. Its checksum."""
    describe(store, array)
    return write_chunk(store, array, 0, rows)


def places(words: Array, known: Sequence[str]) -> Array:
    """The place of each word among those that are known."""
    order = np.argsort(known)
    return np.asarray(order[np.searchsorted(np.array(known), words, sorter=order)])


def widths(coordinates: int, contacts: int) -> dict[str, tuple[int, ...]]:
    """The shapes of what is said of one transition."""
    sizes = {"coordinate": coordinates, "contact": contacts}
    return {name: tuple(sizes[d] for d in dims if d != "transition") for name, (dims, _) in TABLE.items()}


def filled_up(name: str, table: Stored, counts: Array, most: int, contacts: Sequence[str], coordinates: int) -> Array:
    """(S, most, …) one variable of the transitions of a part, from its table."""
    if not is_described(table.store, table.array):
        table.refuse(0, "its description is another one")
    shapes = widths(coordinates, len(contacts))
    begin = sum(prod(shapes[other]) for other in list(TABLE)[: list(TABLE).index(name)])
    columns = table[:, begin : begin + prod(shapes[name])].reshape(-1, *shapes[name])
    known = {"transition_kind": KINDS, "transition_contact": tuple(contacts)}.get(name)
    if known:
        if not ((columns >= 0) & (columns < len(known))).all():
            table.refuse(0, "it holds numbers that mean nothing")
        columns = np.array(known)[columns.astype(int)]
    whole = np.full((len(counts), most, *shapes[name]), FILL[columns.dtype.kind], dtype=columns.dtype)
    for i, (first, count) in enumerate(zip(np.cumsum(counts) - counts, counts, strict=True)):
        whole[i, :count] = columns[first : first + count]
    return whole


def transitions_of(
    stored: Callable[..., Stored], parts: Sequence[slice], contacts: Sequence[str], n: int
) -> dict[str, Any]:
    """The variables of all transitions, to be read part by part when they are looked at."""
    import dask
    import dask.array as da

    counts = stored(COUNTS)[:]
    tables = [stored(TABLES, part, int(counts[where].sum())) for part, where in enumerate(parts)]
    most = int(counts.max(initial=0))
    variables: dict[str, Any] = {COUNTS: (("sample",), counts, {"long_name": COUNT_MEANS})}
    for name, (dims, words) in TABLE.items():
        shape = widths(n, len(contacts))[name]
        known = {"transition_kind": KINDS, "transition_contact": tuple(contacts)}.get(name)
        kind = np.array(known).dtype if known else np.dtype(float)
        blocks = [
            da.from_delayed(
                dask.delayed(filled_up)(name, table, counts[where], most, tuple(contacts), n),
                (len(counts[where]), most, *shape),
                dtype=kind,
            )
            for table, where in zip(tables, parts, strict=True)
        ]
        variables[name] = (("sample", *dims), da.concatenate(blocks), {"long_name": words})
    return variables
