"""A word on standard error about what is being waited for, where somebody waits: at a terminal or in a notebook.

Whoever is quick says nothing. What takes long is told in one line that is written anew now and then; a terminal is
left as it was, a notebook keeps the line. Pipes, files and processes of a pool hear nothing.
"""

import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

PATIENCE = 2.0  # seconds that people wait without a word
EVERY = 0.5  # seconds between two words
GAP = 0.5  # seconds between two pieces of work that are still one wait


def listener() -> TextIO | None:
    """Standard error if a person looks at it, else None."""
    stream = sys.stderr
    if stream is None or multiprocessing.parent_process() is not None:
        return None
    try:
        return stream if in_notebook(stream) or stream.isatty() else None
    except ValueError:  # it was closed
        return None


def in_notebook(stream: TextIO) -> bool:
    """Whether what is written here appears below a cell."""
    return type(stream).__module__.partition(".")[0] == "ipykernel"


class Wait:
    """What is being done, since when, and what was said of it. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.doing: list[tuple[str, float]] = []
        self.hushed = 0
        self.since = self.ended = float("-inf")
        self.said = 0  # columns of what stands in the line
        self.lock = threading.Lock()

    def begin(self, what: str) -> float:
        """Begin a piece of work, perhaps inside another one or right after it; the time."""
        with self.lock:
            now = self.clock()
            if not self.doing and now - self.ended > GAP:
                self.since = now
            self.doing.append((what, now))
            return now

    def end(self, what: str, began: float) -> None:
        """It is done; a terminal gets its line back."""
        with self.lock:
            self.doing.remove((what, began))
            if not self.doing:
                self.ended = self.clock()
                self.clear()

    def look(self) -> None:
        """Say what is being done if it has taken long."""
        with self.lock:
            now, stream = self.clock(), listener()
            if self.doing and not self.hushed and now - self.since >= PATIENCE and stream is not None:
                what, began = self.doing[-1]
                words = f"zwang: {what}" + (f", {now - began:.0f} s" if now - began >= 1 else " …")
                stream.write(f"\r{words.ljust(self.said)}")
                stream.flush()
                self.said = len(words)

    def clear(self) -> None:
        """Take the line away; what a notebook shows stays as it is, for an empty line would stay as well."""
        stream = listener()
        if self.said and stream is not None and not in_notebook(stream):
            stream.write(f"\r{' ' * self.said}\r")
            stream.flush()
            self.said = 0

    def quiet(self) -> None:
        """Say nothing from here on, until `loud` is called as often: somebody else tells."""
        with self.lock:
            self.hushed += 1
            self.clear()

    def loud(self) -> None:
        """What was hushed may speak again."""
        with self.lock:
            self.hushed -= 1


WAIT = Wait()
_watchers: list[threading.Thread] = []


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Work that may take long, in a word: "compiling". Also a decorator.

    >>> with waiting("thinking"):
    ...     6*7
    42
    """
    if listener() is None:
        yield
        return
    began = WAIT.begin(what)
    if not (_watchers and _watchers[-1].is_alive()):
        _watchers[:] = [threading.Thread(target=watch, daemon=True)]
        _watchers[0].start()
    try:
        yield
    finally:
        WAIT.end(what, began)


class Spent(threading.local):
    """What a thread has spent on preparing until now: `seconds`, in pieces of work that may lie inside each other."""

    seconds = 0.0
    depth = 0


_SPENT = Spent()


@contextmanager
def preparing(what: str) -> Iterator[None]:
    """Work that is done once, for whatever comes later: it is waited for, and counted apart. Also a decorator."""
    began = time.perf_counter()
    _SPENT.depth += 1
    try:
        with waiting(what):
            yield
    finally:
        _SPENT.depth -= 1
        if not _SPENT.depth:
            _SPENT.seconds += time.perf_counter() - began


def spent_preparing() -> float:
    """The seconds that this thread has spent on preparing until now."""
    return _SPENT.seconds


@contextmanager
def hushed(yes: bool = True) -> Iterator[None]:
    """No words inside: somebody else tells how far it is, or nobody wants to know."""
    if not yes:
        yield
        return
    WAIT.quiet()
    try:
        yield
    finally:
        WAIT.loud()


def watch() -> None:
    """Look now and then while there is work, and a little longer."""
    while WAIT.doing or WAIT.clock() - WAIT.ended < GAP:
        time.sleep(EVERY)
        WAIT.look()
