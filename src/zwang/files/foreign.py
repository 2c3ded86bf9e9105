"""A stranger's HDF5 file: what it is made of is looked at before anything of it is read.

HDF5 follows what a file says: into other files (external storage, external links, virtual datasets), into programs
(filters of its own), into memory (shapes, chunks and compressed streams that are larger than they look, one text that
thousands of labels point to). A motion has none of this: datasets of numbers and texts in one group, stored in the file
itself, perhaps compressed.
"""

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import h5py

from zwang.files.heaps import sound_heaps

ROOMY = 100_000_000  # bytes of numbers that any file may hold, however small it is
MOST_TIMES = 20  # … or so many times its size: motions compress about twofold, those at rest much better
MOST_CHUNKS = 100_000  # HDF5 keeps some hundred bytes for each chunk that it reads
MOST_NAMES = 2_000  # of variables and attributes: motions have 300, and 6 more for each parameter of a sweep; a ms each
MOST_OF_ONE = 500  # attributes of one owner: 16 are, and the time of HDF5 grows with their square (3,000: 9 s)
AT_ONCE = 64_000_000  # bytes of text that are read together, at worst

DEFLATE, SHUFFLE, FLETCHER32 = h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32
NUMBERS = (h5py.h5t.INTEGER, h5py.h5t.FLOAT)
SCALES = (b"DIMENSION_LIST", b"REFERENCE_LIST")  # HDF5's own notes which dataset is whose dimension
LISTS = SCALES[0]
PAIR = [b"dataset", b"dimension"]  # what the second one is made of


class Strange(Exception):
    """Raised where a file has something that no saved motion has."""


@dataclass
class MemoryRoom:
    """What a file may still unpack to, in bytes: numbers, and texts, which are not compressed; and how many names."""

    size: int
    numbers: int
    texts: int
    names: int = MOST_NAMES

    def take_names(self, count: int) -> None:
        """Count variables or attributes; refuse the file where it has more than any motion."""
        self.names -= count
        if self.names < 0:
            raise Strange(f"it has more than {MOST_NAMES:,} variables and attributes")

    def take_numbers(self, count: int, who: str) -> None:
        """Count numbers of so many bytes; refuse them where the file has used up its room."""
        self.numbers -= count
        if self.numbers < 0:
            raise Strange(f"it would unpack to much more than the {self.size:,} bytes that it has, at {who}")

    def take_texts(self, count: int, who: str) -> None:
        """Count texts of so many bytes; refuse them where the file has used up its room."""
        self.texts -= count
        if self.texts < 0:
            raise Strange(f"its texts are longer than the file itself, at {who}")


def require_plain(file: h5py.File, size: int) -> None:
    """Refuse a file of this size that is not made as motions are, by `Strange`."""
    room = MemoryRoom(size, max(ROOMY, MOST_TIMES * size), size)
    require_attributes(file, "the file", room)
    room.take_names(len(file))
    for name in file:
        if not isinstance(name, str):
            raise Strange("a name in it is not text")
        who = repr(name[:60])
        if link_kind(file, name) is not h5py.HardLink:
            raise Strange(f"{who} is a link, perhaps to another file")
        found = file[name]
        if not isinstance(found, h5py.Dataset):
            raise Strange(f"{who} is a {type(found).__name__.lower()}, where a motion has variables only")
        require_dataset(found, who, room)


def require_sound_heaps(path: Path) -> None:
    """Refuse a file in whose heaps HDF5 would walk for ever, before HDF5 opens it."""
    with path.open("rb") as file:
        if not sound_heaps(file):
            raise Strange("its sizes or its heaps of texts are not as HDF5 writes them")


def link_kind(file: h5py.File, name: str) -> Any:
    """The class of a link; None for kinds that h5py does not know."""
    try:
        return file.get(name, getclass=True, getlink=True)
    except TypeError:
        return None


def require_dataset(dataset: h5py.Dataset, who: str, room: MemoryRoom) -> None:
    """Refuse a dataset that is stored elsewhere, of a foreign type, or larger than it looks."""
    stored = dataset.id.get_create_plist()  # before its shape: that of a virtual one is found in other files
    if stored.get_layout() not in (h5py.h5d.COMPACT, h5py.h5d.CONTIGUOUS, h5py.h5d.CHUNKED):
        raise Strange(f"{who} is virtual: its values are in other files")
    if stored.get_layout() == h5py.h5d.CONTIGUOUS and stored.get_external_count():
        raise Strange(f"{who} keeps its values in another file")
    if dataset.shape is None:
        raise Strange(f"{who} has no shape")
    kind, count = dataset.id.get_type(), math.prod(dataset.shape)
    require_type(kind, who)
    room.take_numbers(count * kind.get_size(), who)
    if stored.get_layout() == h5py.h5d.CHUNKED:
        require_chunks(dataset, stored, kind.get_size(), who, room)
    if is_text(kind):
        if count * kind.get_size() > room.size:
            raise Strange(f"{who} has more labels than the file has room for")
        for labels in in_pieces(dataset, max(1, AT_ONCE // max(room.size, 1))):
            room.take_texts(sum(map(len, labels)), who)
    require_attributes(dataset, who, room)


def require_type(kind: Any, who: str) -> None:
    """Refuse what is neither a plain number nor text."""
    text = kind.get_class() == h5py.h5t.STRING
    if not text and (kind.get_class() not in NUMBERS or kind.get_size() > 16):
        raise Strange(f"{who} is made of neither numbers nor text")


def is_text(kind: Any) -> bool:
    """Whether this is text of any length, which stands elsewhere in the file."""
    return bool(kind.get_class() == h5py.h5t.STRING and kind.is_variable_str())


def require_chunks(dataset: h5py.Dataset, stored: Any, item: int, who: str, room: MemoryRoom) -> None:
    """Refuse chunks that are too many, too large, filtered by programs of a stranger's choice, or that inflate."""
    chunk = stored.get_chunk()
    filters = [stored.get_filter(i)[0] for i in range(stored.get_nfilters())]
    if len(set(filters)) != len(filters) or not set(filters) <= {DEFLATE, SHUFFLE, FLETCHER32}:
        raise Strange(f"{who} is compressed in another way than by deflate")
    if math.prod(-(-n // c) for n, c in zip(dataset.shape, chunk, strict=True)) > MOST_CHUNKS:
        raise Strange(f"{who} is cut into more than {MOST_CHUNKS:,} chunks")
    full = math.prod(chunk) * item
    room.take_numbers(full, who)
    if DEFLATE not in filters:
        return
    after = filters[filters.index(DEFLATE) + 1 :]
    if after not in ([], [FLETCHER32]):
        raise Strange(f"{who} is compressed, then changed again")
    check = 4 if FLETCHER32 in filters[: filters.index(DEFLATE)] else 0  # the checksum is compressed with the rest
    for corner in product(*(range(0, n, c) for n, c in zip(dataset.shape, chunk, strict=True))):
        if not dataset.id.get_chunk_info_by_coord(corner).size:
            continue
        skipped, stream = dataset.id.read_direct_chunk(corner)
        if skipped & 1 << filters.index(DEFLATE):
            continue
        unpacked = zlib.decompressobj()
        try:
            inflated = unpacked.decompress(stream, full + check + 1)
        except zlib.error as error:
            raise Strange(f"{who} does not unpack: {error}") from None
        if len(inflated) > full + check:
            raise Strange(f"{who} unpacks to more than it says")


def in_pieces(dataset: h5py.Dataset, most: int) -> Iterator[list[bytes]]:
    """The texts of a dataset, a few at a time."""
    if not dataset.shape:
        yield [dataset[()]]
        return
    *outer, last = dataset.shape
    for row in product(*map(range, outer)):
        for first in range(0, last, most):
            yield dataset[(*row, slice(first, first + most))].tolist()


def require_attributes(owner: h5py.Dataset | h5py.File, who: str, room: MemoryRoom) -> None:
    """Refuse attributes that are neither numbers nor text, except HDF5's own notes on dimensions."""
    many = h5py.h5a.get_num_attrs(owner.id)
    if many > MOST_OF_ONE:
        raise Strange(f"{who} has more than {MOST_OF_ONE} attributes")
    room.take_names(many)
    for i in range(many):
        attribute = h5py.h5a.open(owner.id, index=i)
        name = attribute.name.decode("utf-8", "replace")
        whose = f"{name[:60]!r} of {who}"
        if attribute.get_space().get_simple_extent_type() == h5py.h5s.NULL:  # no value, such as an empty text
            continue
        kind, count = attribute.get_type(), math.prod(attribute.shape)
        room.take_texts(count * kind.get_size(), whose)
        if attribute.name in SCALES:
            require_references(attribute, kind, len(getattr(owner, "shape", ())), whose)
            continue
        require_type(kind, whose)
        if is_text(kind):
            if count > 1 and count * room.size > AT_ONCE:
                raise Strange(f"{whose} is a list of too many texts")
            value = owner.attrs[name]
            room.take_texts(len(value) if isinstance(value, str | bytes) else sum(map(len, value)), whose)


def require_references(attribute: h5py.h5a.AttrID, kind: Any, rank: int, who: str) -> None:
    """Refuse notes on dimensions that HDF5 did not write: it copies them into room of the size that its own have.

    A dataset has a list of references for each of its axes; a scale has pairs of a reference and the number of an axis.
    """
    if attribute.name == LISTS:
        own = kind.get_class() == h5py.h5t.VLEN and is_reference(kind.get_super()) and attribute.shape == (rank,)
    else:
        pair = kind.get_class() == h5py.h5t.COMPOUND and kind.get_nmembers() == 2
        own = pair and len(attribute.shape) == 1 and [kind.get_member_name(i) for i in range(2)] == PAIR
        own = own and is_reference(kind.get_member_type(0))
        own = own and kind.get_member_type(1).get_class() == h5py.h5t.INTEGER
    if not own:
        raise Strange(f"{who} is not as HDF5 writes it")


def is_reference(kind: Any) -> bool:
    """Whether this refers to an object of the same file."""
    return bool(kind.equal(h5py.h5t.STD_REF_OBJ))
