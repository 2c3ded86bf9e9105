"""Files and folders that are written beside their place and moved there in one step: complete, or not there at all.

A process that is killed leaves what it had written. Whoever writes holds a lock, which ends with its process: so what
nobody holds is a leftover, and whoever writes to the same place next clears it away. Where the system has no such
locks, leftovers stay: they may be another's work.
"""

import glob
import importlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

LOCKS: Any = importlib.import_module("fcntl") if os.name == "posix" else None
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)  # how a file is made, never one that is there
LOOK = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
LETTERS, LONGEST = 8, 100  # of chance in a name, and of the place's own name


@contextmanager
def new_file(place: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A new file to write, which comes to its place in the end, unless there was an error."""
    path, held = beside(place), None
    try:
        opened = os.open(path, NEW, mode)
        held = hold(os.dup(opened))
        with open(opened, "wb") as file:
            yield file
        os.replace(path, place)
    finally:  # also when a signal interrupts
        with suppress(OSError):
            path.unlink(missing_ok=True)
        let_go(held)


@contextmanager
def new_folder(place: Path) -> Iterator[Path]:
    """A new folder to fill, which comes to its place in the end, unless there was an error."""
    path, held = beside(place), None
    try:
        path.mkdir()
        held = hold(os.open(path, LOOK)) if LOCKS else None
        yield path
        os.rename(path, place)
    finally:
        shutil.rmtree(path, ignore_errors=True)
        let_go(held)


def beside(place: Path) -> Path:
    """A new name beside a place."""
    return place.with_name(f".{place.name[:LONGEST]}.{secrets.token_hex(LETTERS // 2)}.tmp")


def hold(opened: int) -> int | None:
    """Hold what is open, until it is let go; None where the system cannot, and it is closed."""
    try:
        LOCKS.flock(opened, LOCKS.LOCK_EX | LOCKS.LOCK_NB)
    except (OSError, AttributeError):  # some file systems have no locks
        os.close(opened)
        return None
    return opened


def let_go(held: int | None) -> None:
    """End a hold."""
    if held is not None:
        os.close(held)


def clear(folder: Path, name: str | None = None) -> None:
    """Remove what processes that are no more left in a folder, for one place or for all; what has to stay stays."""
    own = "*" if name is None else glob.escape(name[:LONGEST])
    for path in folder.glob(f".{own}.{'[0-9a-f]' * LETTERS}.tmp") if LOCKS else ():
        with suppress(OSError):  # held, or another user's; and a link is not followed
            opened = os.open(path, LOOK)
            try:
                LOCKS.flock(opened, LOCKS.LOCK_EX | LOCKS.LOCK_NB)
                kind = os.fstat(opened).st_mode
                if stat.S_ISDIR(kind):
                    shutil.rmtree(path)
                elif stat.S_ISREG(kind):
                    path.unlink()
            finally:
                os.close(opened)
