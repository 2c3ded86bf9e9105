"""Arrays of Zarr's format 2 as files: written complete or not at all, and read only as they were written.

A store may come from a stranger. Zarr obeys the metadata of an array: any codec (some run code), any order, any type.
zwang knows what it wrote. So metadata are compared with what is expected and never obeyed, chunks are unpacked by one
codec into room of a known size, and no link is followed.
"""

import json
import os
import stat
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.one_step import new_file

ROOM = 2_000_000  # bytes of JSON that are read: parsed they take some 50 MB at worst, and ours are a thousandth of it
ZSTANDARD = bytes.fromhex("28b52ffd")  # how each of its frames begins


@dataclass(frozen=True)
class ZarrArray:
    """An array as zwang writes it: one chunk a part, cut along the first axis alone."""

    name: str
    """Its folder in the store"""
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dtype: str
    dims: Sequence[str]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    fill: Any = None
    packed: bool = True

    @property
    def description(self) -> dict[str, Any]:
        """What stands in `.zarray`."""
        return {
            "zarr_format": 2,
            "shape": list(self.shape),
            "chunks": list(self.chunks),
            "dtype": self.dtype,
            "compressor": packing().get_config() if self.packed else None,
            "fill_value": self.fill,
            "order": "C",
            "filters": None,
            "dimension_separator": ".",
        }

    @property
    def size(self) -> int:
        """Bytes of a chunk, unpacked."""
        return prod(self.chunks) * np.dtype(self.dtype).itemsize

    def file(self, part: int) -> str:
        """The name of a chunk's file in the folder of the array.

        >>> ZarrArray("q", (7, 3, 2), (4, 3, 2), "<f8", ("sample", "time", "coordinate")).file(1)
        '1.0.0'
        """
        return ".".join(map(str, (part, *[0] * (len(self.shape) - 1))))


def packing() -> Any:
    """How chunks are compressed; Zstandard's checksums find what a disk has spoilt."""
    import numcodecs

    return numcodecs.Zstd(level=1, checksum=True)


def make_group(folder: Path, attributes: Mapping[str, Any]) -> None:
    """A folder for arrays, with attributes; it may be there already."""
    folder.mkdir(exist_ok=True)
    (folder / ".zgroup").write_text(json.dumps({"zarr_format": 2}), encoding="utf-8")
    (folder / ".zattrs").write_text(json.dumps(attributes), encoding="utf-8")


def describe(store: Path, array: ZarrArray) -> None:
    """The folder of an array with its metadata; one that is there already gets them anew."""
    folder = store / array.name
    if not is_folder(folder):
        folder.mkdir()
    notes = {"_ARRAY_DIMENSIONS": list(array.dims)} | dict(array.attributes)
    in_one_step(folder / ".zarray", json.dumps(array.description).encode())
    in_one_step(folder / ".zattrs", json.dumps(notes).encode())


def is_described(store: Path, array: ZarrArray) -> bool:
    """Whether the array is there, in a folder of the store itself, with exactly the metadata that zwang writes."""
    try:
        return is_folder(store / array.name) and read_json(store / array.name / ".zarray") == array.description
    except (OSError, ValueError, RecursionError):
        return False


def read_json(path: Path) -> Any:
    """What a small file of JSON holds; errors are OSError, ValueError and RecursionError."""
    return json.loads(plain_bytes(path, ROOM))


def write_chunk(store: Path, array: ZarrArray, part: int, values: Array) -> int:
    """Write one chunk, the last one filled up; its checksum. (Zarr writes the same, in thirty times the time.)"""
    if len(values) < array.chunks[0]:
        missing = np.zeros((array.chunks[0] - len(values), *values.shape[1:]), values.dtype)
        values = np.concatenate([values, missing])
    whole = np.ascontiguousarray(values, dtype=array.dtype)
    data = packing().encode(whole) if array.packed else whole.tobytes()
    in_one_step(store / array.name / array.file(part), data)
    return checksum(array, part, data)


def read_chunk(store: Path, array: ZarrArray, part: int, known: int | None) -> Array:
    """A chunk, of which the checksum is known or None; errors are OSError and ValueError."""
    # Zstandard makes nothing longer by more than n/256 + 64 bytes
    data = plain_bytes(store / array.name / array.file(part), array.size + array.size // 128 + 512)
    if known is not None and checksum(array, part, data) != known:
        raise ValueError("it is not what was written")
    if not array.packed:
        return np.frombuffer(data, array.dtype).reshape(array.chunks)
    if unpacked_size(data) != array.size:
        raise ValueError("it holds more or less than it should")
    try:
        room = np.empty(array.size, np.uint8)
        packing().decode(data, out=room)
    except (RuntimeError, MemoryError) as error:
        raise ValueError(str(error) or "there is no memory for it") from None
    return room.view(array.dtype).reshape(array.chunks)


def checksum(array: ZarrArray, part: int, data: bytes) -> int:
    """Of a chunk's bytes and of its place: what was copied from elsewhere has another one."""
    place = f"{array.name}/{array.file(part)}"
    return zlib.crc32(data, zlib.crc32(place.encode()))


def unpacked_size(data: bytes) -> int:
    """How many bytes a frame of Zstandard says that it holds (RFC 8878, 3.1.1.1); -1 where it does not say.

    >>> unpacked_size(packing().encode(bytes(1000)))
    1000
    """
    if data[:4] != ZSTANDARD or len(data) < 5:
        return -1
    flag, single, dictionary = data[4] >> 6, data[4] >> 5 & 1, data[4] & 3
    length = (single, 2, 4, 8)[flag]
    begin = 5 + (not single) + (0, 1, 2, 4)[dictionary]
    found = int.from_bytes(data[begin : begin + length], "little")
    return found + 256 * (length == 2) if length and len(data) >= begin + length else -1


def plain_bytes(path: Path, most: int) -> bytes:
    """The content of a file that is no link and not longer than expected; a pipe would be waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if path.is_symlink():  # where the system has no O_NOFOLLOW, or says it in other words
        raise OSError("it is a link")
    with os.fdopen(os.open(path, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError("it is not a file")
        if found.st_size > most:
            raise OSError("it is longer than it can be")
        return file.read(most)


def is_folder(path: Path) -> bool:
    """Whether there is a folder, and not a link to one."""
    return path.is_dir() and not path.is_symlink()


def in_one_step(path: Path, data: bytes) -> None:
    """Write a file that is complete or not there."""
    with new_file(path) as file:
        file.write(data)
