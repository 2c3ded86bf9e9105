"""Ensembles in a Zarr store: parts are written as they are computed, by whoever computes them, and stay.

A part is one chunk of every array, so no two writers ever share one. Its flag in `done` is written last: a part whose
flag is missing counts for nothing and is computed again. What the store is of is written down in its attributes, and
another sweep is refused. Statuses are stored as numbers, with their words in the attributes (CF's flags).

Nothing that a store says of itself is believed: what is not as zwang would write it is refused, and every chunk is held
to its checksum in `checksums`, which knows its place, too.
"""

import os
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arrays import Array
from zwang.endings import STORES, require_ending
from zwang.errors import InputError
from zwang.motion.ensemble import store_contacts as contacts
from zwang.motion.ensemble.contacts import COUNT_MEANS
from zwang.motion.ensemble.fingerprint import difference
from zwang.motion.ensemble.stored import FINITE, Stored, shown
from zwang.motion.ensemble.summary import DOUBTS_MEAN, STATUS_MEANS, summary, summary_of_doubts
from zwang.motion.ensemble.told import STATUSES, Told
from zwang.motion.ensemble.zarr_files import (
    ZarrArray,
    describe,
    in_one_step,
    is_described,
    is_folder,
    make_group,
    plain_bytes,
    read_chunk,
    read_json,
    write_chunk,
)
from zwang.one_step import clear, new_folder
from zwang.results.contacts import AT_CONTACTS
from zwang.results.dataset import VARIABLES, plain
from zwang.words import count

if TYPE_CHECKING:
    import xarray as xr

NEEDS = ("numcodecs", "dask", "distributed")
FORMAT = 2  # of our own arrays and attributes
MARK = "zwang_sweep"
LARGEST_CHUNK = 2**31 - 1  # bytes, of one variable: what compressors take
LONGEST_WORDS = 240  # characters of what is said of a sample
KNOWN = VARIABLES | AT_CONTACTS
AT_SECONDS, AT_PROJECTED, AT_DOUBTED, AT_UNIQUE = 0, 1, 2, 3  # columns of `account`; from the last on, one a constraint


def require_extra(what: str = "store=…") -> None:
    """Refuse what needs Zarr and dask where they are not installed."""
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        raise InputError(f"{what} needs {', '.join(missing)}, not installed here: pip install 'zwang[cluster]'")


@dataclass(frozen=True)
class Layout:
    """What the arrays of a store look like."""

    samples: int
    chunk: int
    times: Array
    coordinates: tuple[str, ...]
    constraints: tuple[str, ...]
    keep: tuple[str, ...]
    varied: Mapping[str, Array]
    """Parameters that differ from sample to sample"""
    contacts: tuple[str, ...] = ()
    at_contacts: tuple[str, ...] = ()
    """What is kept of them over time."""

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return -(-self.samples // self.chunk)

    def dims(self, name: str) -> tuple[str, ...]:
        """The dimensions of a variable."""
        return ("sample", "time", *KNOWN[name][0])

    def shape(self, name: str, samples: int | None = None) -> tuple[int, ...]:
        """The shape of a variable, or of some samples of it."""
        sizes = {"coordinate": len(self.coordinates), "constraint": len(self.constraints)}
        sizes |= {"contact": len(self.contacts), "direction": 2}
        first = self.samples if samples is None else samples
        return (first, len(self.times), *(sizes[d] for d in KNOWN[name][0]))

    def samples_of(self, part: int) -> slice:
        """The samples of a part."""
        return slice(part * self.chunk, min((part + 1) * self.chunk, self.samples))

    @property
    def written(self) -> tuple[str, ...]:
        """The variables that have numbers in them: those of constraints have none where there are none."""
        return tuple(name for name in (*self.keep, *self.at_contacts) if prod(self.shape(name)))

    @property
    def checked(self) -> tuple[str, ...]:
        """What has a checksum in each part."""
        return (*self.written, "status", "doubts", "account", *(contacts.KEPT if self.contacts else ()))

    @cached_property
    def arrays(self) -> dict[str, ZarrArray]:
        """The arrays that are written part by part, by name."""
        several, columns = min(self.chunk, self.samples), AT_UNIQUE + len(self.constraints)
        found = []
        for name in self.written:
            shape, words = self.shape(name), {"long_name": KNOWN[name][1]}
            kind = ("|i1", words | contacts.MODE_FLAGS) if name == "mode" else ("<f8", words, "NaN")
            found.append(ZarrArray(name, shape, (several, *shape[1:]), kind[0], self.dims(name), *kind[1:]))
        along, each = ((self.samples,), (several,)), ("sample",)
        meanings = " ".join(status.replace(" ", "_") for status in STATUSES)
        flags = {"flag_values": list(range(len(STATUSES))), "flag_meanings": meanings}
        found += [
            ZarrArray("status", *along, "|i1", each, {"long_name": STATUS_MEANS} | flags),
            ZarrArray("doubts", *along, f"<U{LONGEST_WORDS}", each, {"long_name": DOUBTS_MEAN}),
            ZarrArray("account", (self.parts, columns), (1, columns), "<f8", ("part", "account_column")),
        ]
        if self.contacts:
            found.append(ZarrArray(contacts.COUNTS, *along, "<i8", each, {"long_name": COUNT_MEANS}))
        columns = len(self.checked)
        of = {"files": list(self.checked)}
        found += [
            ZarrArray("checksums", (self.parts, columns), (1, columns), "<u4", ("part", "file"), of, packed=False),
            ZarrArray("done", (self.parts,), (1,), "|u1", ("part",), packed=False),
        ]
        return {array.name: array for array in found}


@dataclass(frozen=True)
class Store:
    """A store on disk, open: what it is of, and which parts of it are there."""

    path: Path
    layout: Layout
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """How it was computed"""

    def size_of(self, part: int) -> int:
        """How many samples a part has."""
        where = self.layout.samples_of(part)
        return int(where.stop - where.start)

    def pending(self) -> list[int]:
        """The parts that are to be computed: those without their flag, or of which a file is missing."""
        # every chunk is written, even if it is empty: one that is missing is lost
        there = {name: set(os.listdir(self.path / name)) for name in self.layout.arrays}
        return [part for part in range(self.layout.parts) if not self._has(part, there)]

    def _has(self, part: int, there: Mapping[str, set[str]]) -> bool:
        if any(array.file(part) not in there[name] for name, array in self.layout.arrays.items()):
            return False
        if self.layout.contacts and not is_folder(self.path / contacts.TABLES / str(part)):
            return False
        try:
            return plain_bytes(self.path / "done" / str(part), 1) == b"\x01"
        except OSError:
            return False

    def write(self, part: int, values: Mapping[str, Array], told: Told) -> None:
        """A part that was computed; its flag last."""
        layout = self.layout
        codes = {status: i for i, status in enumerate(STATUSES)}
        words = [told.doubts.get(i, "") for i in range(len(told.statuses))]
        account = np.zeros((1, AT_UNIQUE + len(layout.constraints)))
        account[0, [AT_SECONDS, AT_PROJECTED, AT_DOUBTED]] = told.seconds, told.projected, len(told.doubts)
        account[0, AT_UNIQUE:] = told.unique
        chunks = dict(values) | {
            "status": np.array([codes[status] for status in told.statuses], dtype="|i1"),
            "doubts": np.array([shortened(text) for text in words], dtype=f"<U{LONGEST_WORDS}"),
            "account": account,
        }
        sums = {}
        if layout.contacts:
            shapes = {name: layout.shape(name, len(told.statuses)) for name in layout.at_contacts}
            chunks |= contacts.coded(told.contacts, layout.at_contacts, shapes)
            chunks[contacts.COUNTS] = contacts.counted(told.contacts)
            table = contacts.table_of(told.contacts, layout.contacts, len(layout.coordinates))
            array = contacts.table_array(part, len(table), layout.contacts, len(layout.coordinates))
            sums[contacts.TABLES] = contacts.write_table(self.path, part, array, table)
        for name in layout.checked:
            if name in layout.arrays:
                sums[name] = write_chunk(self.path, layout.arrays[name], part, chunks[name])
        write_chunk(self.path, layout.arrays["checksums"], part, np.array([[sums[name] for name in layout.checked]]))
        in_one_step(self.path / "done" / str(part), b"\x01")

    def dataset(self) -> "xr.Dataset":
        """All of it, to be read when it is looked at."""
        import dask.array as da
        import xarray as xr

        layout, token = self.layout, secrets.token_hex(8)

        def lazily(name: str) -> Any:
            stored = self.stored(name)
            return da.from_array(stored, chunks=stored.array.chunks, name=f"{name}-{token}", fancy=False)

        account, codes = self.stored("account")[:], self.stored("status")[:]
        variables: dict[str, Any] = {
            name: (layout.dims(name), lazily(name), {"long_name": KNOWN[name][1]}) for name in layout.written
        }
        if layout.contacts:
            modes, named = np.array(contacts.MODE_WORDS), variables["mode"]
            variables["mode"] = (named[0], named[1].map_blocks(modes.__getitem__, dtype=modes.dtype), named[2])
            parts = [layout.samples_of(part) for part in range(layout.parts)]
            of_all = contacts.transitions_of(self.stored, parts, layout.contacts, len(layout.coordinates))
        for name in set(layout.keep) - {*layout.written}:
            variables[name] = (layout.dims(name), np.zeros(layout.shape(name)), {"long_name": VARIABLES[name][1]})
        words = np.array(STATUSES)
        status = lazily("status").map_blocks(words.__getitem__, dtype=words.dtype)
        variables["unique"] = (
            ("constraint",),
            account[:, AT_UNIQUE:].all(axis=0),
            {"long_name": "whether λ is unique"},
        )
        variables["status"] = (("sample",), status, {"long_name": STATUS_MEANS})
        variables["doubts"] = (("sample",), lazily("doubts"), {"long_name": DOUBTS_MEAN})
        coords: dict[str, Any] = {
            "time": ("time", layout.times, {"long_name": "time"}),
            "coordinate": ("coordinate", np.asarray(layout.coordinates, dtype=str)),
            "constraint": ("constraint", np.asarray(layout.constraints, dtype=str)),
        }
        coords |= {name: (("sample",), values, {"long_name": "value"}) for name, values in layout.varied.items()}
        ended = Counter(dict(zip(STATUSES, np.bincount(codes, minlength=len(STATUSES)).tolist(), strict=True)))
        attributes = dict(self.attributes) | {
            "status": summary(+ended),
            "doubts": summary_of_doubts(int(account[:, AT_DOUBTED].sum()), layout.samples, *self._first_doubt(account)),
            "run_seconds": float(account[:, AT_SECONDS].sum()),
        }
        if account[:, AT_PROJECTED].any():
            attributes["drift"] = "projection"
        kept = (*layout.keep, *layout.at_contacts, "unique", "status", "doubts")
        motion = xr.Dataset({name: variables[name] for name in kept}, coords)
        if layout.contacts:
            names = np.asarray(layout.contacts, dtype=str)
            motion = motion.assign(of_all).assign_coords(contact=("contact", names))
        return motion.assign_attrs({key: plain(value) for key, value in attributes.items()})

    @cached_property
    def checksums(self) -> Array:
        """(parts, files) what each chunk must add up to."""
        array = self.layout.arrays["checksums"]
        rows = []
        for part in range(self.layout.parts):
            try:
                rows.append(read_chunk(self.path, array, part, None))
            except (OSError, ValueError):
                rows.append(np.zeros(array.chunks, array.dtype))  # its chunks are refused then, with what to do
        return np.concatenate(rows)

    def stored(self, name: str, part: int | None = None, rows: int = 0) -> Stored:
        """An array to be read; the table of transitions of a part is one of its own, of so many rows."""
        layout, column = self.layout, self.checksums[:, self.layout.checked.index(name)]
        size: dict[str, Any] = {"chunk": layout.chunk, "count": layout.samples, "name": name}
        if part is not None:
            array = contacts.table_array(part, rows, layout.contacts, len(layout.coordinates))
            return Stored(array, self.path, column[part : part + 1], **size, part=part)
        if name == "account":
            size |= {"chunk": 1, "count": layout.parts, "of": "parts"}
        below = {"account": FINITE, "status": len(STATUSES), "mode": len(contacts.MODE_WORDS)}
        below |= {contacts.COUNTS: LARGEST_CHUNK // 8}
        return Stored(layout.arrays[name], self.path, column, **size, below=below.get(name))

    def _first_doubt(self, account: Array) -> tuple[int, str]:
        doubted = np.flatnonzero(account[:, AT_DOUBTED])
        if not len(doubted):
            return 0, ""
        where, doubts = self.layout.samples_of(int(doubted[0])), self.stored("doubts")
        words = doubts[where]
        if not (words != "").any():
            doubts.refuse(int(doubted[0]), "nothing is said of a sample that was doubted")
        first = int(np.flatnonzero(words != "")[0])
        return where.start + first, str(words[first])


def shortened(text: str) -> str:
    """What is said of a sample, as far as it fits."""
    return text if len(text) <= LONGEST_WORDS else f"{text[: LONGEST_WORDS - 1]}…"


def place_of(store: Any) -> Path:
    """The folder that is meant."""
    if not isinstance(store, str | os.PathLike) or not str(store):
        raise InputError(f"store = {store!r}: the name of a folder is meant, as in 'sweep.zarr'")
    if "\0" in str(store):
        raise InputError(f"store = {str(store)!r}: no name of a folder has a zero in it")
    if "://" in str(store):
        raise InputError(f"store = {str(store)!r}: give a folder on a disk that this process and all workers see")
    require_ending(store, STORES)
    path = Path(store).absolute()
    if not path.parent.is_dir():
        raise InputError(f"{shown(path)}: there is no folder {path.parent}: make it first")
    return path


def open_store(store: Any, layout: Layout, known_by: Mapping[str, Any], attributes: Mapping[str, Any]) -> Store:
    """A store for a sweep: the one that is there, if it is of this sweep, or a new one."""
    require_extra()
    path = place_of(store)
    if not path.exists():
        create(path, layout, known_by, attributes)
    return replace(found(path, layout, known_by), attributes=attributes)


def found(path: Path, layout: Layout, known_by: Mapping[str, Any]) -> Store:
    """The store at a path, which must be of this sweep; how its samples are divided is its own affair."""
    mark = mark_of(path)
    if mark.get("format") != FORMAT:
        raise InputError(
            f"{shown(path)} was written by another version of zwang, in another format: choose another name"
        )
    there, chunk = mark.get("fingerprint"), mark.get("chunk")
    if not (isinstance(there, dict) and all(map(is_plain, there.values())) and type(chunk) is int and chunk > 0):
        raise InputError(f"{shown(path)}: what it is of is damaged; remove the store and begin anew")
    if differs := difference(there, known_by):
        remedy = "choose another store, or ask for what it holds to go on with it"
        raise InputError(f"{shown(path)} holds another sweep: {differs}; {remedy}")
    own = replace(layout, chunk=chunk)
    for name, array in own.arrays.items():
        if not is_described(path, array):
            raise InputError(f"{shown(path)}: the array {name} is missing or damaged; remove the store and begin anew")
        clear(path / name)
    if own.contacts and not is_folder(path / contacts.TABLES):
        raise InputError(f"{shown(path)}: {contacts.TABLES} is missing or damaged; remove the store and begin anew")
    for part in range(own.parts) if own.contacts else ():
        if is_folder(path / contacts.TABLES / str(part)):
            clear(path / contacts.TABLES / str(part))
    return Store(path, own)


def mark_of(path: Path) -> dict[str, Any]:
    """What a store says that it is of; what is no store is refused."""
    other = f"{shown(path)} is there already, and is not a store of simulate_many: choose another name"
    if not path.is_dir():
        raise InputError(other)
    try:
        group, attributes = (read_json(path / name) for name in (".zgroup", ".zattrs"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{other} ({str(error) or type(error).__name__})") from None
    mark = attributes.get(MARK) if isinstance(attributes, dict) else None
    if group != {"zarr_format": 2} or not isinstance(mark, dict):
        raise InputError(other)
    return mark


def is_plain(value: Any) -> bool:
    """Whether something is a short word or number, or a list of them, as fingerprints are made of."""
    if isinstance(value, list):
        return all(not isinstance(one, list) and is_plain(one) for one in value)
    return value is None or isinstance(value, str | int | float)


def create(path: Path, layout: Layout, known_by: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
    """A new store, without a number in it: beside its place first, then moved there in one step."""
    try:
        clear(path.parent, path.name)
        with new_folder(path) as beside:
            lay_out(beside, layout, known_by, attributes)
    except OSError as error:
        raise InputError(f"{shown(path)} cannot be written: {error.strerror or error}") from None


def lay_out(path: Path, layout: Layout, known_by: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
    """The arrays of a store."""
    for name in layout.written:
        size = 8 * prod(layout.shape(name, min(layout.chunk, layout.samples)))
        if size > LARGEST_CHUNK:
            raise InputError(
                f"chunk = {layout.chunk}: {name} of {count(layout.chunk, 'sample')} takes {size / 2**30:.1f} GiB, more "
                f"than a chunk may: choose a smaller one"
            )
    mark = {"format": FORMAT, "chunk": layout.chunk, "fingerprint": dict(known_by)}
    make_group(path, {MARK: mark} | {key: plain(value) for key, value in attributes.items()})
    for array in layout.arrays.values():
        describe(path, array)
    if layout.contacts:
        make_group(path / contacts.TABLES, {})
    names: dict[str, Any] = {
        "time": layout.times,
        "coordinate": layout.coordinates,
        "constraint": layout.constraints,
        "contact": layout.contacts,
    }
    for name, values in (names | dict(layout.varied)).items():
        if len(values):
            whole = np.asarray(values)
            kind = whole.dtype.newbyteorder("<").str
            array = ZarrArray(name, whole.shape, whole.shape, kind, [name if name in names else "sample"])
            describe(path, array)
            write_chunk(path, array, 0, whole)
