"""Arrays of a store as they are read: what cannot be read is named, with what to do about it."""

from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.motion.ensemble.zarr_files import ZarrArray, read_chunk

FINITE = inf  # as `below`: any finite number from zero on
LAST_LETTER, SURROGATES = 0x10FFFF, (0xD800, 0xDFFF)  # what Unicode has, and what of it is no letter


@dataclass(frozen=True, eq=False)
class Stored:
    """An array of a store as dask reads it; a chunk that cannot be read is named, with what to do about it."""

    array: ZarrArray
    store: Path
    checksums: Array
    """Of its chunks"""
    chunk: int
    """How many of what it counts make a part"""
    count: int
    name: str
    of: str = "samples"
    """What its first axis counts."""
    below: float | None = None
    """All numbers are from zero to below this one, where it is given."""
    part: int | None = None
    """The part that it belongs to, where it is not of all."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return self.array.shape

    @property
    def dtype(self) -> Any:
        """The type of its entries."""
        return np.dtype(self.array.dtype)

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    def __getitem__(self, key: Any) -> Any:
        """Some of its entries: numbers and slices along the axes, as dask asks for."""
        first, *others = key if isinstance(key, tuple) else (key,)
        if not isinstance(first, slice):
            row = range(self.shape[0])[first]
            return self.rows(row, row + 1)[(0, *others)]
        rows = range(self.shape[0])[first]
        low, high = (min(rows[0], rows[-1]), max(rows[0], rows[-1]) + 1) if len(rows) else (0, 0)
        found = self.rows(low, high)
        return (found if rows.step == 1 else found[np.array(rows, dtype=int) - low])[(slice(None), *others)]

    def rows(self, low: int, high: int) -> Array:
        """Its entries from one along the first axis to before another."""
        long = self.array.chunks[0]
        parts = range(low // long, -(-high // long))
        blocks = [self.read(i)[max(low - i * long, 0) : high - i * long] for i in parts]
        if not blocks:
            return np.empty((0, *self.shape[1:]), self.dtype)
        return np.concatenate(blocks) if len(blocks) > 1 else blocks[0]

    def read(self, i: int) -> Array:
        """One chunk, with no letter or number in it that it cannot have."""
        try:
            found = read_chunk(self.store, self.array, i, int(self.checksums[i]))
        except (ValueError, OSError) as error:
            self.refuse(i, getattr(error, "strerror", None) or str(error) or type(error).__name__)
        if self.below is not None and not ((found >= 0) & (found < self.below)).all():
            self.refuse(i, "it holds numbers that mean nothing")
        if found.dtype.kind == "U":
            letters = found.view("<u4")
            if (letters > LAST_LETTER).any() or ((letters >= SURROGATES[0]) & (letters <= SURROGATES[1])).any():
                self.refuse(i, "it holds no text")
        return found

    def refuse(self, i: int, why: str) -> NoReturn:
        """Say that a chunk cannot be used, and what to do about it."""
        part = i if self.part is None else self.part
        begin, end = part * self.chunk, min((part + 1) * self.chunk, self.count)
        raise InputError(
            f"{shown(self.store)}: {self.name} of {self.of} {begin} to {end - 1} cannot be read ({why}): remove "
            f"{shown(self.store / 'done' / str(part))} and call simulate_many again; that part is then computed anew"
        ) from None


def shown(path: Path) -> Path:
    """A place as messages call it: from the folder that one is in, if it is below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
