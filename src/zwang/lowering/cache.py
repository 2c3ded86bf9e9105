"""Things that take long to make, kept by what they were made from."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Generic, TypeVar

from zwang.waiting import preparing

T = TypeVar("T")


_KEPT = 64  # derivations and kernels that a process remembers


@dataclass(frozen=True)
class Kept(Generic[T]):
    """The last things made, by what they were made from; the oldest goes first.

    Making is left to the threads: two may make the same thing, and the first one made is kept. Only the book-keeping
    is under a lock, for dropping the oldest while another thread enters its own would fail.
    """

    things: dict[Any, T] = field(default_factory=dict)
    lock: Any = field(default_factory=Lock)

    def get(self, key: Any, make: Callable[[], T]) -> T:
        """The thing for a key, made if there is none yet."""
        if (found := self.things.get(key)) is not None:
            return found
        with preparing("deriving the equations"):
            made = make()
        with self.lock:
            made = self.things.setdefault(key, made)
            while len(self.things) > _KEPT:
                self.things.pop(next(iter(self.things)))
        return made
