"""What a native function is made of: the sources, tables and records that it reaches, as one digest.

Machine code on disk is right as long as nothing that it was made from has changed. Which files those are is read from
the functions themselves: a list kept by hand would go stale the day a function moves to another file, and the old
machine code would run on without a word.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from zwang.compile.restricted.decorators import Intrinsic, Native, Record


def digest_of(entry: Native) -> bytes:
    """A digest of the files of all functions reached from a native one, and of the values that these functions name.

    Values count beside files because a table may be computed from others, or come from elsewhere.
    """
    files: set[Path] = set()
    values: dict[str, bytes] = {}
    for function in reached(entry.function):
        source = inspect.getsourcefile(function)
        if source is not None:
            files.add(Path(source))
        for name, value in named(function):
            values[f"{function.__module__}.{function.__qualname__} {name}"] = content(value)
    whole = hashlib.sha256()
    for part in sorted(file.read_bytes() for file in files):
        whole.update(hashlib.sha256(part).digest())
    for name in sorted(values):
        whole.update(hashlib.sha256(name.encode() + b"\0" + values[name]).digest())
    return whole.digest()


def reached(function: Callable[..., Any]) -> set[FunctionType]:
    """All functions that a function names, and those that these name, and so on: native ones, intrinsics, helpers."""
    found: set[FunctionType] = set()
    waiting: list[Any] = [function]
    while waiting:
        current = inspect.unwrap(waiting.pop())
        if not isinstance(current, FunctionType) or current in found:
            continue
        found.add(current)
        waiting += [plain(value) for _, value in named(current) if ours(value, current)]
    return found


def plain(value: Any) -> Any:
    """The function behind a mark."""
    if isinstance(value, Native):
        return value.function
    return value.emit if isinstance(value, Intrinsic) else value


def ours(value: Any, function: FunctionType) -> bool:
    """Whether a named thing is a function that may change with us: a marked one, or one of the same package."""
    if isinstance(value, Native | Intrinsic):
        return True
    package = function.__module__.partition(".")[0]
    return isinstance(value, FunctionType) and value.__module__.partition(".")[0] == package


def named(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Global and enclosing names that a function uses, the types of its arguments among them, with their values."""
    for name in sorted(names_in(function.__code__)):
        if name in function.__globals__:
            yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
    for name, hint in inspect.get_annotations(function).items():
        yield f"type of {name}", function.__globals__.get(hint, hint) if isinstance(hint, str) else hint


def names_in(code: CodeType) -> set[str]:
    """The names in a function's code, and in the functions and comprehensions written inside it."""
    inner = [names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*inner)


def content(value: Any) -> bytes:
    """What of a named value shapes the machine code: numbers, tables and the layout of records; files say the rest."""
    if isinstance(value, np.ndarray):
        return str((value.dtype, value.shape)).encode() + value.tobytes()
    if isinstance(value, type) and issubclass(value, Record) and value is not Record:
        return repr(value.layout).encode()
    if isinstance(value, ModuleType) and getattr(value, "__file__", None):  # tables named as module.TABLE
        return Path(str(value.__file__)).read_bytes()
    if isinstance(value, int | float | str | tuple | list):
        return repr(value).encode()
    return b""
