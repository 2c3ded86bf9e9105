"""Machine code kept on disk, in a folder that nobody else can write to.

What is read here is run. So the folder must be an absolute one, belong to this user, be closed to all others and not
be a link, and so must each file in it. Where that cannot be had, nothing is kept: said once, and never an error.

Who can rename the folder can put none in its place that passes: files are looked at and read through the folder that is
held open. A library that opens its files by name has no such hold, so the folders above its own are looked at, too.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

PRIVATE: Final = 0o700
READABLE: Final = stat.S_IRWXG | stat.S_IRWXO
WRITABLE: Final = stat.S_IWGRP | stat.S_IWOTH
OWNERS: Final = hasattr(os, "geteuid")
"""Windows has no owners and modes of this kind; its folder for local data is the user's own."""


def folder() -> Path:
    """Where machine code is kept: below the environment variable ZWANG_CACHE_DIR, or in the user's cache."""
    if own := os.environ.get("ZWANG_CACHE_DIR"):
        return Path(own) / "native"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.path.expanduser(base)) / "zwang" / "native"


def read(name: str) -> bytes | None:
    """What was written under a name; None when it is not there or not whole: LLVM would crash on it."""
    place = folder()
    try:
        with opened(place) as handle:
            content = own_file(place, name, handle)
    except FileNotFoundError:
        return None
    except OSError as error:
        say(place, str(error))
        return None
    digest, machine_code = content[:32], content[32:]
    return machine_code if hashlib.sha256(machine_code).digest() == digest else None


def write(name: str, machine_code: bytes) -> None:
    """Keep machine code behind its digest, all at once: others may be reading."""
    place, unfinished = folder(), f"{secrets.token_hex(8)}.part"
    try:
        make(place)
        with opened(place) as handle:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            try:
                with os.fdopen(os.open(within(place, unfinished, handle), flags, 0o600, dir_fd=handle), "wb") as file:
                    file.write(hashlib.sha256(machine_code).digest() + machine_code)
                os.replace(
                    within(place, unfinished, handle), within(place, name, handle), src_dir_fd=handle, dst_dir_fd=handle
                )
            except OSError:
                with suppress(OSError):
                    os.unlink(within(place, unfinished, handle), dir_fd=handle)
                raise
    except OSError as error:
        say(place, str(error))


def make(place: Path) -> None:
    """Make a folder and those above it that are missing, closed to others whatever the umask."""
    require_absolute(place)
    for each in (*reversed(place.parents), place):
        if not each.exists():
            with suppress(FileExistsError):  # another process was faster
                each.mkdir(PRIVATE)


@contextmanager
def opened(place: Path) -> Iterator[int | None]:
    """A folder held open, after a look at whose it is: files named relative to it are in this one and no other.

    The folder is made with its mode. One of our own that is merely too readable is closed; one that others can write
    to may hold something of theirs already, and is refused.
    """
    require_absolute(place)
    if not OWNERS:
        yield None
        return
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        found = os.fstat(handle)
        require_own(found, "it")
        if found.st_mode & READABLE:
            os.fchmod(handle, PRIVATE)
        yield handle
    finally:
        os.close(handle)


def own_file(place: Path, name: str, handle: int | None) -> bytes:
    """The content of a file in a folder that is open, if nobody else can have written it."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(within(place, name, handle), flags, dir_fd=handle), "rb") as file:
        if OWNERS:
            require_own(os.fstat(file.fileno()), f"{name} in it")
        return file.read()


def within(place: Path, name: str, handle: int | None) -> str:
    """How a file is called: by its name alone where the folder is held open."""
    return name if handle is not None else str(place / name)


def require_absolute(place: Path) -> None:
    """Refuse a folder that depends on where the process stands: anybody may have written there."""
    if not place.is_absolute():
        raise PermissionError("it is not an absolute path")


def require_own_way(place: Path) -> None:
    """Refuse a folder below one in which others can rename folders: one of theirs may come in its place.

    Others are neither this user nor root. A group of this user alone may write, as on many systems. In a sticky folder,
    such as that of temporary files, everybody renames their own alone.
    """
    above = Path(os.path.realpath(place.parent))
    for each in (above, *above.parents):
        found = each.stat()
        if found.st_uid not in (os.geteuid(), 0):
            raise PermissionError(f"{str(each)!r} above it belongs to another user")
        others = stat.S_IWOTH if is_own_group(found.st_gid) else WRITABLE
        if found.st_mode & others and not found.st_mode & stat.S_ISVTX:
            raise PermissionError(f"{str(each)!r} above it can be written to by other users")


def is_own_group(group: int) -> bool:
    """Whether a group is of this user alone: it is called like the user, and has no other members."""
    import grp
    import pwd

    try:
        found, user = grp.getgrgid(group), pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return False
    return found.gr_name == user and set(found.gr_mem) <= {user}


def require_private(place: Path) -> None:
    """Refuse a folder, made if it is not there, for a library that keeps machine code in files of its own there."""
    make(place)
    with opened(place) as handle:
        if handle is None:
            return
        require_own_way(place)
        for name in os.listdir(handle):
            found = os.stat(name, dir_fd=handle, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                raise PermissionError(f"{name} in it is a link")
            require_own(found, f"{name} in it")


def require_own(found: os.stat_result, what: str) -> None:
    """Refuse what belongs to another user, or what others can write to."""
    if found.st_uid != os.geteuid():
        raise PermissionError(f"{what} belongs to another user")
    if found.st_mode & WRITABLE:
        raise PermissionError(f"{what} can be written to by other users")


@cache
def say(place: Path, why: str, variable: str = "ZWANG_CACHE_DIR") -> None:
    """Tell once that nothing is kept, and why; the variable names another folder."""
    warnings.warn(
        f"machine code is not kept in {str(place)!r}, because {why}: every new process compiles it again (a second or "
        f"two); let {variable} name a folder of your own",
        stacklevel=2,
    )
