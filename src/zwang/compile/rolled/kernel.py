"""Rolled programs as kernels: the same signature as straight-line code, and tables behind it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.compile.kernel import Kernel, compile_program, slices
from zwang.compile.layout import BATCH_NAME, NAME, batch_function
from zwang.compile.machine_code import native_engine, pointer_type
from zwang.compile.restricted import native_library
from zwang.compile.rolled import loops
from zwang.compile.rolled.program import Factorise, Largest, Places, Products, Repeat, RolledProgram, Stage, Substitute

_ONE_AT_A_TIME = Lock()


def compile_rolled(program: RolledProgram) -> Kernel:
    """The kernel of a rolled program. Its small programs are compiled; the rest is there already."""
    kept: list[Any] = []  # what addresses point to
    small = {id(s.program): compile_program(s.program) for s in program.stages if isinstance(s, Repeat)}
    kept.append(small)
    stages = np.zeros(len(program.stages), loops.STAGE)
    for row, stage in zip(stages, program.stages, strict=True):
        for name, value in fields_of(stage, small).items():
            row[name] = address_of(value, kept) if isinstance(value, np.ndarray) else value
    width = max((k.input_size for k in small.values()), default=0)
    length = max((k.output_size for k in small.values()), default=0)
    table = np.zeros(1, loops.TABLE)
    places = np.concatenate([*program.outputs.values(), np.zeros(0, np.int64)]).astype(np.int64)
    table["inputs"], table["size"] = program.input_size, program.size
    table["at_initial"] = address_of(program.initial, kept)
    table["stages"], table["at_stages"] = len(stages), address_of(stages, kept)
    table["outputs"], table["at_outputs"] = len(places), address_of(places, kept)
    table["x"], table["y"] = program.size, program.size + width
    table["work"] = program.size + width + length
    text = thunk(address_of(table, kept), program.input_size, len(places))
    engine = native_engine(text, (), 1)
    return Kernel(
        address=engine.get_function_address(NAME),
        batch_address=engine.get_function_address(BATCH_NAME),
        inputs=slices(program.inputs),
        outputs=slices(program.outputs),
        shapes={name: program.shape(name) for name in program.outputs},
        input_size=program.input_size,
        output_size=len(places),
        work_size=int(table["work"][0]) + max((k.work_size for k in small.values()), default=0),
        lines=0,
        engine=(engine, kept),
    )


def fields_of(stage: Stage, small: dict[int, Kernel]) -> dict[str, Any]:
    """A stage as its record has it, tables not yet by address."""
    if isinstance(stage, Repeat):
        (count, width), length = stage.reads.shape, stage.adds.shape[1]
        kernel = small[id(stage.program)].address
        found = {"kind": loops.REPEAT, "count": count, "kernel": kernel, "width": width, "length": length}
        return found | {"reads": stage.reads, "adds": stage.adds}
    if isinstance(stage, Products):
        kind = loops.SUMS if stage.reads.shape[1] == 1 else loops.PRODUCTS
        return {
            "kind": kind,
            "count": len(stage.reads),
            "reads": stage.reads,
            "adds": stage.adds,
            "factor": stage.factor,
        }
    if isinstance(stage, Largest):
        return {"kind": loops.LARGEST, "count": len(stage.reads), "reads": stage.reads, "place": stage.place}
    factors = stage if isinstance(stage, Factorise) else stage.factors
    found = {name: getattr(factors, name) for name in ("begins", "below", "lower", "pivots")}
    found |= {"count": factors.nodes}
    if isinstance(stage, Substitute):
        return found | {"kind": loops.SUBSTITUTE, "place": stage.right}
    left, before = transposed(factors)
    found |= {"rows": factors.rows, "columns": factors.columns, "left": left, "before": before}
    return found | {"kind": loops.FACTORISE, "entries": factors.entries, "scratch": factors.scratch}


def transposed(factors: Factorise) -> tuple[Places, Places]:
    """The pattern of L by rows."""
    columns = np.repeat(np.arange(factors.nodes), np.diff(factors.begins))
    order = np.lexsort((columns, factors.below))
    left = np.concatenate([[0], np.cumsum(np.bincount(factors.below, minlength=factors.nodes))])
    return left.astype(np.int64), columns[order].astype(np.int64)


def address_of(array: NDArray[Any], kept: list[Any]) -> int:
    """The address of an array's numbers in a row; the array is kept alive."""
    array = np.ascontiguousarray(array)
    kept.append(array)
    return int(array.ctypes.data)


def thunk(table: int, inputs: int, outputs: int) -> str:
    """LLVM's text of a kernel that hands its arguments on, with the address of a table."""
    pointer = pointer_type()
    kind = f"void ({pointer}, {pointer}, {pointer}, i64)"
    called = "ptr" if pointer == "ptr" else f"{kind}*"
    arguments = f"{pointer} %out, {pointer} %in, {pointer} %work"
    return (
        f"define void @{NAME}({arguments}) {{\n"
        f"%loops = inttoptr i64 {loops_address()} to {called}\n"
        f"call {kind} %loops({arguments}, i64 {table})\n"
        f"ret void\n}}\n" + batch_function(outputs, inputs, pointer)
    )


def loops_address() -> int:
    """Where the loops are that every rolled program runs; compiled once on a machine."""
    with _ONE_AT_A_TIME:
        return ctypes.cast(_loops(), ctypes.c_void_p).value or 0  # type: ignore[arg-type]  # it is one of ctypes


@cache
def _loops() -> Callable[..., Any]:
    return native_library(loops.evaluate)
