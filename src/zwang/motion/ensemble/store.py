"""Ensembles in a Zarr store: parts are written as they are computed, by whoever computes them, and stay.

A part is one chunk of every array, so no two writers ever share one. Its flag in `done` is written last: a part whose
flag is missing counts for nothing and is computed again. What the store is of is written down in its attributes, and
another sweep is refused. Statuses are stored as numbers, with their words in the attributes (CF's flags).
"""

import os
import secrets
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.motion.ensemble import store_contacts as contacts
from zwang.motion.ensemble.contacts import COUNT_MEANS
from zwang.motion.ensemble.fingerprint import difference
from zwang.motion.ensemble.stored import Stored, read_whole, shown
from zwang.motion.ensemble.summary import DOUBTS_MEAN, STATUS_MEANS, summary, summary_of_doubts
from zwang.motion.ensemble.told import STATUSES, Told
from zwang.results.contacts import AT_CONTACTS
from zwang.results.dataset import VARIABLES, plain
from zwang.words import count

if TYPE_CHECKING:
    import xarray as xr

NEEDS = ("zarr", "dask", "distributed")
FORMAT = 1  # of our own arrays and attributes
MARK = "zwang_sweep"
LARGEST_CHUNK = 2**31 - 1  # bytes, of one variable: what compressors take
LONGEST_WORDS = 240  # characters of what is said of a sample
KNOWN = VARIABLES | AT_CONTACTS
OWN = ("done", "account", "status", "doubts")
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


@dataclass(frozen=True)
class Store:
    """A store on disk, open: what it is of, and which parts of it are there."""

    path: Path
    layout: Layout
    attributes: Mapping[str, Any]
    group: Any

    def size_of(self, part: int) -> int:
        """How many samples a part has."""
        where = self.layout.samples_of(part)
        return int(where.stop - where.start)

    def pending(self) -> list[int]:
        """The parts that are to be computed: those without their flag, or of which a file is missing."""
        # every chunk is written, even if it is empty: one that is missing is lost
        there = {name: set(os.listdir(self.path / name)) for name in (*OWN, *self.layout.written)}
        return [part for part in range(self.layout.parts) if not self._has(part, there)]

    def _has(self, part: int, there: Mapping[str, set[str]]) -> bool:
        tails = {name: ".0" * (len(self.layout.shape(name)) - 1) for name in self.layout.written}
        tails |= dict.fromkeys(OWN, "") | {"account": ".0"}
        if any(f"{part}{tail}" not in there[name] for name, tail in tails.items()):
            return False
        if self.layout.contacts and not (self.path / contacts.TABLES / str(part)).is_dir():
            return False
        return (self.path / "done" / str(part)).read_bytes() == b"\x01"

    def write(self, part: int, values: Mapping[str, Array], told: Told) -> None:
        """A part that was computed; its flag last."""
        layout = self.layout
        if layout.contacts:
            shapes = {name: layout.shape(name, len(told.statuses)) for name in layout.at_contacts}
            values = dict(values) | contacts.coded(told.contacts, layout.at_contacts, shapes)
            self._chunk(contacts.COUNTS, part, contacts.counted(told.contacts))
            table = contacts.table_of(told.contacts, layout.contacts, len(layout.coordinates))
            contacts.write_table(self.group[contacts.TABLES], part, table, packing())
        for name in layout.written:
            self._chunk(name, part, values[name])
        codes = {status: i for i, status in enumerate(STATUSES)}
        self._chunk("status", part, np.array([codes[status] for status in told.statuses], dtype="|i1"))
        words = [told.doubts.get(i, "") for i in range(len(told.statuses))]
        self._chunk("doubts", part, np.array([shortened(text) for text in words], dtype=f"<U{LONGEST_WORDS}"))
        account = np.zeros((1, AT_UNIQUE + len(self.layout.constraints)))
        account[0, [AT_SECONDS, AT_PROJECTED, AT_DOUBTED]] = told.seconds, told.projected, len(told.doubts)
        account[0, AT_UNIQUE:] = told.unique
        self._chunk("account", part, account)
        in_one_step(self.path / "done" / str(part), b"\x01")

    def _chunk(self, name: str, part: int, values: Any) -> None:
        """One chunk of an array, as Zarr's format 2 has it: a file with its numbers, the last one filled up.

        It is complete or not there. (Zarr writes the same, in thirty times the time.)
        """
        size = 1 if name == "account" else min(self.layout.chunk, self.layout.samples)
        if len(values) < size:
            values = np.concatenate([values, np.zeros((size - len(values), *values.shape[1:]), values.dtype)])
        data = packing().encode(np.ascontiguousarray(values))
        in_one_step(self.path / name / ".".join(map(str, (part, *[0] * (values.ndim - 1)))), data)

    def dataset(self) -> "xr.Dataset":
        """All of it, to be read when it is looked at."""
        import dask.array as da
        import xarray as xr

        layout, group, token = self.layout, self.group, secrets.token_hex(8)

        def lazily(name: str) -> Any:
            stored = Stored(group[name], name, self.path, layout.chunk)
            return da.from_array(stored, chunks=group[name].chunks, name=f"{name}-{token}")

        account = read_whole(Stored(group["account"], "account", self.path, 1, "parts"))
        codes = read_whole(Stored(group["status"], "status", self.path, layout.chunk))
        variables: dict[str, Any] = {
            name: (layout.dims(name), lazily(name), {"long_name": KNOWN[name][1]}) for name in layout.written
        }
        if layout.contacts:
            modes, named = np.array(contacts.MODE_WORDS), variables["mode"]
            variables["mode"] = (named[0], named[1].map_blocks(modes.__getitem__, dtype=modes.dtype), named[2])
            parts = [layout.samples_of(part) for part in range(layout.parts)]
            of_all = contacts.transitions_of(
                group, parts, group[contacts.COUNTS][:], layout.contacts, len(layout.coordinates)
            )
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

    def _first_doubt(self, account: Array) -> tuple[int, str]:
        doubted = np.flatnonzero(account[:, AT_DOUBTED])
        if not len(doubted):
            return 0, ""
        where = self.layout.samples_of(int(doubted[0]))
        words = self.group["doubts"][where]
        first = int(np.flatnonzero(words != "")[0])
        return where.start + first, str(words[first])


def packing() -> Any:
    """How chunks are compressed; Zstandard's checksums find what a disk has spoilt."""
    import numcodecs

    return numcodecs.Zstd(level=1, checksum=True)


def in_one_step(path: Path, data: bytes) -> None:
    """Write a file that is complete or not there."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        beside.write_bytes(data)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


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
    return found(path, layout, known_by)


def found(path: Path, layout: Layout, known_by: Mapping[str, Any]) -> Store:
    """The store at a path, which must be of this sweep; how its samples are divided is its own affair."""
    import zarr

    other = f"{shown(path)} is there already, and is not a store of simulate_many: choose another name"
    if not path.is_dir():
        raise InputError(other)
    try:
        group = zarr.open_group(path, mode="r+")
        mark = dict(group.attrs).get(MARK)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{other} ({str(error) or type(error).__name__})") from None
    if not isinstance(mark, dict):
        raise InputError(other)
    if mark.get("format") != FORMAT:
        raise InputError(
            f"{shown(path)} was written by another version of zwang, in another format: choose another name"
        )
    if not isinstance(mark.get("fingerprint"), dict) or not isinstance(mark.get("chunk"), int) or mark["chunk"] < 1:
        raise InputError(f"{shown(path)}: what it is of is damaged; remove the store and begin anew")
    if differs := difference(mark["fingerprint"], known_by):
        remedy = "choose another store, or ask for what it holds to go on with it"
        raise InputError(f"{shown(path)} holds another sweep: {differs}; {remedy}")
    kept = dict(group.attrs)
    kept.pop(MARK)
    own = Layout(**{**vars(layout), "chunk": mark["chunk"]})
    for name in (*OWN, *((contacts.COUNTS, contacts.TABLES) if own.contacts else ()), *own.written):
        try:
            there = name in group
        except (OSError, ValueError, KeyError, TypeError):
            there = False
        if not there:
            raise InputError(f"{shown(path)}: the array {name} is missing or damaged; remove the store and begin anew")
    return Store(path, own, kept, group)


def create(path: Path, layout: Layout, known_by: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
    """A new store, without a number in it: beside its place first, then moved there in one step."""
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        lay_out(beside, layout, known_by, attributes)
        os.rename(beside, path)
    except OSError as error:
        raise InputError(f"{shown(path)} cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def lay_out(path: Path, layout: Layout, known_by: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
    """The arrays of a store."""
    import zarr

    for name in layout.written:
        size = 8 * prod(layout.shape(name, min(layout.chunk, layout.samples)))
        if size > LARGEST_CHUNK:
            raise InputError(
                f"chunk = {layout.chunk}: {name} of {count(layout.chunk, 'sample')} takes {size / 2**30:.1f} GiB, more "
                f"than a chunk may: choose a smaller one"
            )
    mark = {"format": FORMAT, "chunk": layout.chunk, "fingerprint": dict(known_by)}
    group = zarr.create_group(
        path, zarr_format=2, attributes={MARK: mark} | {key: plain(value) for key, value in attributes.items()}
    )

    def array(name: str, shape: tuple[int, ...], chunks: tuple[int, ...], dtype: str, dims: Any, **more: Any) -> Any:
        described = {"_ARRAY_DIMENSIONS": list(dims)} | more.pop("attributes", {})
        settings = {"fill_value": None, "compressors": packing()} | more
        return group.create_array(name, shape=shape, chunks=chunks, dtype=dtype, attributes=described, **settings)

    for name in layout.written:
        shape, words = layout.shape(name), {"long_name": KNOWN[name][1]}
        chunks = (min(layout.chunk, layout.samples), *shape[1:])
        if name == "mode":
            array(name, shape, chunks, "|i1", layout.dims(name), attributes=words | contacts.MODE_FLAGS)
            continue
        array(name, shape, chunks, "<f8", layout.dims(name), fill_value=float("nan"), attributes=words)
    along, several = (layout.samples,), (min(layout.chunk, layout.samples),)
    meanings = " ".join(status.replace(" ", "_") for status in STATUSES)
    flags = {"flag_values": list(range(len(STATUSES))), "flag_meanings": meanings}
    array("status", along, several, "|i1", ["sample"], attributes={"long_name": STATUS_MEANS} | flags)
    array("doubts", along, several, f"<U{LONGEST_WORDS}", ["sample"], attributes={"long_name": DOUBTS_MEAN})
    if layout.contacts:
        array(contacts.COUNTS, along, several, "<i8", ["sample"], attributes={"long_name": COUNT_MEANS})
        group.create_group(contacts.TABLES)
    array("done", (layout.parts,), (1,), "|u1", ["part"], compressors=None)
    columns = AT_UNIQUE + len(layout.constraints)
    array("account", (layout.parts, columns), (1, columns), "<f8", ["part", "account_column"])
    names: dict[str, Any] = {
        "time": layout.times,
        "coordinate": layout.coordinates,
        "constraint": layout.constraints,
        "contact": layout.contacts,
    }
    for name, values in (names | dict(layout.varied)).items():
        if len(values):
            whole = np.asarray(values)
            array(name, whole.shape, whole.shape, whole.dtype.str, [name if name in names else "sample"])[:] = whole
