"""Rolled programs as kernels: the same signature as straight-line code, and tables behind it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.compile.kernel import Kernel, slices
from zwang.compile.lanes import LANES
from zwang.compile.layout import BATCH_NAME, NAME, batch_function
from zwang.compile.machine_code import pointer_type
from zwang.compile.restricted import native_library
from zwang.compile.rolled import loops
from zwang.compile.rolled.kinds import fresh_engine, kind_of
from zwang.compile.rolled.program import Factorise, Repeat, RolledProgram
from zwang.compile.rolled.tables import fields_of, lanes_of, room, tables

_ONE_AT_A_TIME = Lock()


def compile_rolled(program: RolledProgram) -> Kernel:
    """The kernel of a rolled program. Its small programs are compiled; the rest is there already."""
    kept: list[Any] = []  # what addresses point to
    kinds = {id(s): kind_of(s.program, lanes_of(s)) for s in program.stages if isinstance(s, Repeat)}
    kept.append(kinds)
    nowhere = program.size
    matrices = {id(s): tables(s) for s in program.stages if isinstance(s, Factorise)}
    stages = np.zeros(len(program.stages), loops.STAGE)
    for row, stage in zip(stages, program.stages, strict=True):
        for name, value in fields_of(stage, kinds, matrices, nowhere).items():
            row[name] = address_of(value, kept) if isinstance(value, np.ndarray) else value
    places = np.concatenate([*program.outputs.values(), np.zeros(0, np.int64)]).astype(np.int64)
    given = np.flatnonzero(program.initial)
    table = np.zeros(1, loops.TABLE)
    table["inputs"], table["size"], table["outputs"] = program.input_size, program.size, len(places)
    table["given"], table["at_places"] = len(given), address_of(program.input_size + given, kept)
    table["at_values"], table["at_outputs"] = address_of(program.initial[given], kept), address_of(places, kept)
    table["stages"], table["at_stages"] = len(stages), address_of(stages, kept)
    widest = LANES * max((kind.inputs for kind in kinds.values()), default=0)
    longest = LANES * max((kind.outputs for kind in kinds.values()), default=0)
    table["x"] = x = whole(nowhere + 1)
    table["y"] = y = x + whole(widest)
    table["work"] = work = y + whole(longest)
    engine = thunk(address_of(table, kept), program.input_size, len(places))
    return Kernel(
        address=engine.get_function_address(NAME),
        batch_address=engine.get_function_address(BATCH_NAME),
        inputs=slices(program.inputs),
        outputs=slices(program.outputs),
        shapes={name: program.shape(name) for name in program.outputs},
        input_size=program.input_size,
        output_size=len(places),
        work_size=LANES + work + max((room(s, kinds) for s in program.stages), default=0),
        lines=0,
        engine=(engine, kept),
    )


def whole(size: int) -> int:
    """A size rounded up to as many numbers as there are lanes."""
    return -(-size // LANES) * LANES


def address_of(array: NDArray[Any], kept: list[Any]) -> int:
    """The address of an array's numbers in a row; the array is kept alive."""
    array = np.ascontiguousarray(array)
    kept.append(array)
    return int(array.ctypes.data)


def thunk(table: int, inputs: int, outputs: int) -> Any:
    """The engine of a kernel that hands its arguments on, with the address of a table.

    What differs from one kernel to another are global variables, so that its machine code is made once.
    """
    pointer = pointer_type()
    kind = f"void ({pointer}, {pointer}, {pointer}, i64)"
    called, where = ("ptr", "ptr") if pointer == "ptr" else (f"{kind}*", "i64*")
    arguments = f"{pointer} %out, {pointer} %in, {pointer} %work"
    own = {"loops": loops_address(), "table": table, "inputs": inputs, "outputs": outputs}
    load = {name: f"%{name} = load i64, {where} @{name}\n" for name in own}
    text = (
        "".join(f"@{name} = global i64 0\n" for name in own)
        + f"define void @{NAME}({arguments}) {{\n"
        + load["loops"]
        + load["table"]
        + f"%function = inttoptr i64 %loops to {called}\n"
        + f"call {kind} %function({arguments}, i64 %table)\n"
        + "ret void\n}\n"
        + batch_function("%outputs", "%inputs", pointer, load["outputs"] + load["inputs"])
    ).replace(" #1 {", " {")
    engine = fresh_engine(text)
    for name, value in own.items():
        ctypes.c_int64.from_address(engine.get_global_value_address(name)).value = value
    return engine


def loops_address() -> int:
    """Where the loops are that every rolled program runs; compiled once on a machine."""
    with _ONE_AT_A_TIME:
        return ctypes.cast(_loops(), ctypes.c_void_p).value or 0  # type: ignore[arg-type]  # it is one of ctypes


@cache
def _loops() -> Callable[..., Any]:
    return native_library(loops.evaluate)
