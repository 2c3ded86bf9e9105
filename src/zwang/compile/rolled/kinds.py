"""Machine code of small programs, kept on disk by its content: a kind of joint is compiled once on a machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from zwang.compile import machine_code
from zwang.compile.kernel import BATCH, LONGEST, default_level, translated
from zwang.compile.layout import BATCH_NAME, NAME, module_text
from zwang.compile.machine_code import machine_name, object_engine, plain_object_code, pointer_type
from zwang.compile.program import Program
from zwang.compile.restricted import kept
from zwang.waiting import preparing

_ENGINES: WeakValueDictionary[str, Any] = WeakValueDictionary()  # as long as a kernel uses them
_OBJECTS: dict[str, bytes] = {}
_ONE_AT_A_TIME = Lock()


@dataclass(frozen=True, eq=False)
class Kind:
    """A small program as machine code, for one place or for as many as there are lanes."""

    address: int
    work_size: int
    """In doubles."""
    inputs: int
    outputs: int
    engine: Any = field(repr=False)


def kind_of(program: Program, lanes: int) -> Kind:
    """A program in machine code: from this process, or from disk if it was there before."""
    translator, outputs = translated(program)
    level = default_level(len(translator.code.lines))
    inputs = sum(map(len, program.inputs.values()))
    text, work_size = module_text(translator.code, outputs, inputs, LONGEST[level], pointer_type(), lanes)
    key = key_of(text, level)
    with _ONE_AT_A_TIME:
        engine = _ENGINES.get(key)
        if engine is None:
            engine = _ENGINES[key] = object_engine(object_of(text, level), translator.code.called)
    return Kind(engine.get_function_address(NAME), lanes * work_size, inputs, len(outputs), engine)


def on_rows(program: Program, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a program gives for each row of numbers."""
    kind, rows = kind_of(program, 1), np.ascontiguousarray(rows)
    out, work = np.empty((len(rows), kind.outputs)), np.empty(kind.work_size)
    many = kind.engine.get_function_address(BATCH_NAME)
    BATCH(many)(out.ctypes.data, rows.ctypes.data, work.ctypes.data, len(rows))
    return out


def fresh_engine(text: str, called: Iterable[str] = ()) -> Any:
    """An engine of its own for a module, with its own global variables."""
    return object_engine(object_of(text, 0), called)


def object_of(text: str, level: int) -> bytes:
    """Machine code of a module, made once."""
    key = key_of(text, level)
    if key not in _OBJECTS:
        name = f"kind-{key}.o"
        found = kept.read(name)
        if found is None:
            with preparing("compiling"):
                found = plain_object_code(text, level)
            kept.write(name, found)
        _OBJECTS[key] = found
    return _OBJECTS[key]


def key_of(text: str, level: int) -> str:
    """What the machine code of a module depends on."""
    return hashlib.sha256(maker() + f"{machine_name()} {level}\n{text}".encode()).hexdigest()[:32]


@cache
def maker() -> bytes:
    """The files by which machine code is made from a text: other ones, other machine code."""
    return b"".join(hashlib.sha256(Path(file).read_bytes()).digest() for file in (__file__, machine_code.__file__))
