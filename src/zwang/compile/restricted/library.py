"""Native functions as functions of Python; their machine code is kept on disk."""

from __future__ import annotations

import ctypes
import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from zwang.compile import code, lanes
from zwang.compile import machine_code as native
from zwang.compile.restricted import kept
from zwang.compile.restricted.decorators import Native
from zwang.compile.restricted.expressions import POWER
from zwang.compile.restricted.reach import digest_of
from zwang.compile.restricted.statements import module_text
from zwang.waiting import preparing

HERE: Final = (
    *sorted(Path(__file__).parent.glob("*.py")),
    Path(code.__file__),
    Path(lanes.__file__),
    Path(native.__file__),
)
"""The files of the translator: other ones, other machine code."""

_C_TYPES: Final[dict[Any, Any]] = {float: ctypes.c_double, int: ctypes.c_int64}


def native_library(entry: Callable[..., Any]) -> Callable[..., Any]:
    """A native function that takes and gives numbers and addresses, for Python to call without its lock.

    While all that it is made of (`reach`), LLVM and the processor stay the same, its machine code is taken from disk;
    where nothing can be kept it is made anew, never an error.
    """
    assert isinstance(entry, Native)
    key = hashlib.sha256(native.machine_name().encode())
    for file in HERE:
        key.update(file.read_bytes())
    key.update(digest_of(entry))
    name = f"{entry.function.__name__}-{key.hexdigest()[:32]}.o"
    machine_code = kept.read(name)
    if machine_code is None:
        with preparing("compiling, once for this machine"):
            machine_code = native.object_code(module_text(entry))
        kept.write(name, machine_code)
    engine = native.object_engine(machine_code, [POWER])
    hints = inspect.get_annotations(entry.function, eval_str=True)
    result, *given = (_C_TYPES.get(hints[name], ctypes.c_void_p) for name in ("return", *_parameters(entry)))
    function: Any = ctypes.CFUNCTYPE(result, *given)(engine.get_function_address(entry.function.__name__))
    function.engine = engine  # holds the machine code
    return function  # type: ignore[no-any-return]  # ctypes says little


def _parameters(entry: Native) -> list[str]:
    return list(inspect.signature(entry.function).parameters)
