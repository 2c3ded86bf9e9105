"""Native functions as functions of Python; their machine code is kept on disk."""

from __future__ import annotations

import ctypes
import hashlib
import inspect
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from zwang.compile import code, lanes, native
from zwang.compile.restricted.expressions import POWER
from zwang.compile.restricted.marks import Native
from zwang.compile.restricted.statements import module_text

HERE: Final = (
    *sorted(Path(__file__).parent.glob("*.py")),
    Path(code.__file__),
    Path(lanes.__file__),
    Path(native.__file__),
)
"""The files of the translator: other ones, other machine code."""

_C_TYPES: Final[dict[Any, Any]] = {float: ctypes.c_double, int: ctypes.c_int64}


def native_library(entry: Callable[..., Any], files: Iterable[Path]) -> Callable[..., Any]:
    """A native function that takes and gives numbers and addresses, for Python to call without its lock.

    `files` are all that the function and those it calls are made of. While they, LLVM and the processor stay the
    same, the machine code is taken from disk; where nothing can be kept it is made anew, never an error.
    """
    assert isinstance(entry, Native)
    key = hashlib.sha256(native.machine_name().encode())
    for file in (*files, *HERE):
        key.update(file.read_bytes())
    path = folder() / f"{entry.function.__name__}-{key.hexdigest()[:32]}.o"
    machine_code = _read(path)
    if machine_code is None:
        machine_code = native.object_code(module_text(entry))
        _write(path, machine_code)
    engine = native.object_engine(machine_code, [POWER])
    hints = inspect.get_annotations(entry.function, eval_str=True)
    result, *given = (_C_TYPES.get(hints[name], ctypes.c_void_p) for name in ("return", *_parameters(entry)))
    function: Any = ctypes.CFUNCTYPE(result, *given)(engine.get_function_address(entry.function.__name__))
    function.engine = engine  # holds the machine code
    return function  # type: ignore[no-any-return]  # ctypes says little


def folder() -> Path:
    """Where machine code is kept: the environment variable ZWANG_CACHE_DIR, or the user's cache of this system."""
    if own := os.environ.get("ZWANG_CACHE_DIR"):
        return Path(own)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(os.path.expanduser(base)) / "zwang"


def _parameters(entry: Native) -> list[str]:
    return list(inspect.signature(entry.function).parameters)


def _read(path: Path) -> bytes | None:
    """What was written; None when it is not there or not whole: LLVM would crash on it."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, machine_code = content[:32], content[32:]
    return machine_code if hashlib.sha256(machine_code).digest() == digest else None


def _write(path: Path, machine_code: bytes) -> None:
    """Keep machine code behind its digest, all at once: others may be reading."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(machine_code).digest() + machine_code)
            os.replace(name, path)
        except OSError:
            Path(name).unlink(missing_ok=True)
