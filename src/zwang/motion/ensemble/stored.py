"""Arrays of a store as they are read: what cannot be read is named, with what to do about it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zwang.errors import InputError


@dataclass(frozen=True)
class Stored:
    """An array of a store as dask reads it; a chunk that cannot be read is named, with what to do about it."""

    array: Any
    name: str
    path: Path
    chunk: int
    of: str = "samples"
    """What its first axis counts."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> Any:
        """The type of its entries."""
        return self.array.dtype

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    def __getitem__(self, key: Any) -> Any:
        """Some of its entries."""
        try:
            return self.array[key]
        except (RuntimeError, ValueError, OSError) as error:
            along = key[0] if isinstance(key, tuple) else key
            part = ((along.start if isinstance(along, slice) else 0) or 0) // self.chunk
            begin, end = part * self.chunk, min((part + 1) * self.chunk, self.shape[0])
            raise InputError(
                f"{shown(self.path)}: {self.name} of {self.of} {begin} to {end - 1} cannot be read "
                f"({str(error) or type(error).__name__}): remove {shown(self.path / 'done' / str(part))} and call "
                f"simulate_many again; that part is then computed anew"
            ) from None


def read_whole(stored: Stored) -> Any:
    """All of an array at once; where that fails, part by part, so that it is said which one it is."""
    try:
        return stored.array[:]
    except (RuntimeError, ValueError, OSError):
        parts = range(0, stored.shape[0], stored.chunk)
        return np.concatenate([stored[begin : begin + stored.chunk] for begin in parts])


def shown(path: Path) -> Path:
    """A place as messages call it: from the folder that one is in, if it is below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
