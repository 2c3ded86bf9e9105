"""Kernels behind a guard: some of their inputs are fixed, and their answer is given out only where it holds.

A kernel reads [t, q, v, p] and writes all its outputs. Who calls it many times wants to hand over what changes, get
what he asked for, and be told where pivots vanish or numbers are not finite. The guard does that in machine code:
`int64_t f(double *out, const double *in, double *work)`, 0 where all is well, and not a number in `out` elsewhere.
"""

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zwang.compile.kernel import Kernel
from zwang.compile.machine_code import native_engine, pointer_type
from zwang.compile.restricted import Array, Record, native, native_library
from zwang.compile.restricted.memory import at, call, shift

WELL: Final = 0
SMALL_PIVOT: Final = 1
NOT_FINITE: Final = 2

LARGEST: Final = float(np.finfo(float).max)
NAME: Final = "guarded"

GUARD: Final = np.dtype(
    [
        ("state", "i8"),  #       numbers that are handed on as they come: [t, q, v]
        ("parameters", "i8"),
        ("inputs", "i8"),  #      those of them that come behind the state
        ("outputs", "i8"),  #     of the kernel
        ("size", "i8"),  #        of what is given out
        ("entries", "i8"),  #     of it, that are not zero always
        ("pivots", "i8"),
        ("kernel", "i8"),
        ("at_parameters", "i8"),
        ("at_inputs", "i8"),  #   (inputs) their places among the parameters
        ("at_from", "i8"),  #     (entries) places among the outputs of the kernel
        ("at_to", "i8"),  #       (entries) and in what is given out
        ("at_pivots", "i8"),  #   (pivots) places among the outputs
        ("at_limits", "i8"),  #   (pivots) what they must be above
        ("factor", "f8"),
    ]
)


class GuardRecord(Record):
    """A record of `GUARD` as native functions see it."""

    layout = GUARD


@native
def one(guard: GuardRecord, out: Array, given: Array, work: Array) -> int:
    """What is asked for at one state, or why there is nothing."""
    x, y = work, shift(work, guard.state + guard.parameters)
    p, inputs = at(guard.at_parameters), at(guard.at_inputs)
    status = WELL
    for i in range(guard.state + guard.inputs):
        if not abs(given[i]) <= LARGEST:
            status = NOT_FINITE
    for i in range(guard.state):
        x[i] = given[i]
    for i in range(guard.parameters):
        x[guard.state + i] = p[i]
    for j in range(guard.inputs):
        x[guard.state + int(inputs[j])] = given[guard.state + j]
    call(guard.kernel, y, x, shift(y, guard.outputs))
    pivots, limits = at(guard.at_pivots), at(guard.at_limits)
    for j in range(guard.pivots):
        if not y[int(pivots[j])] > limits[j]:
            status = SMALL_PIVOT
    source, target = at(guard.at_from), at(guard.at_to)
    for i in range(guard.size):
        out[i] = 0.0
    for i in range(guard.entries):
        value = y[int(source[i])]
        if not abs(value) <= LARGEST:
            status = NOT_FINITE
        out[int(target[i])] = guard.factor * value
    if status != WELL:
        for i in range(guard.size):
            out[i] = math.nan
    return status


@native
def many(guard: GuardRecord, out: Array, given: Array, work: Array, count: int) -> int:
    """The same at so many states, one after the other; at how many there is nothing."""
    width, failed = guard.state + guard.inputs, 0
    for k in range(count):
        if one(guard, shift(out, k * guard.size), shift(given, k * width), work) != WELL:
            failed += 1
    return failed


@dataclass(frozen=True, eq=False)
class Guarded:
    """A kernel behind a guard, by address, and all that the addresses point to."""

    record: NDArray[np.void]
    work_size: int
    kernel: Kernel
    kept: tuple[Any, ...] = field(repr=False)

    @property
    def at(self) -> int:
        """The address of the guard, the first argument of `one` and `many`."""
        return int(self.record.ctypes.data)


def guarded(
    kernel: Kernel,
    parameters: NDArray[np.float64],
    inputs: Sequence[int],
    entries: tuple[Sequence[int], Sequence[int]],
    size: int,
    limits: Mapping[str, NDArray[np.float64]] | None = None,
    factor: float = 1.0,
) -> Guarded:
    """A guard for a kernel whose inputs are a state and then `parameters`, of which those at `inputs` are handed over.

    `entries` are places among its outputs and in what is given out; `limits` what outputs must be above, its pivots and
    others that say where it holds.
    """
    limits, every = limits or {}, np.arange(kernel.output_size)
    pivots = np.concatenate([np.zeros(0), *(every[kernel.outputs[name]] for name in limits)])
    arrays = {
        "parameters": np.array(parameters, dtype=float),
        "inputs": np.array(inputs, dtype=float),
        "from": np.array(entries[0], dtype=float),
        "to": np.array(entries[1], dtype=float),
        "pivots": pivots.astype(float),
        "limits": np.concatenate([np.zeros(0), *limits.values()]),
    }
    record = np.zeros(1, GUARD)
    for name, array in arrays.items():
        record[f"at_{name}"] = array.ctypes.data
    for name in ("parameters", "inputs", "pivots"):
        record[name] = len(arrays[name])
    record["state"], record["outputs"] = kernel.input_size - len(parameters), kernel.output_size
    record["size"], record["entries"] = size, len(arrays["from"])
    record["kernel"], record["factor"] = kernel.address, factor
    work = kernel.input_size + kernel.output_size + kernel.work_size
    return Guarded(record, work, kernel, tuple(arrays.values()))


def address_of(guard: Guarded) -> tuple[int, Any]:
    """`int64_t f(double *out, const double *in, double *work)` for one guard, and what holds its machine code."""
    engine = _thunk(guard, "i64 %out, i64 %in, i64 %work", "i64 %out, i64 %in, i64 %work")
    return engine.get_function_address(NAME), (engine, guard)


def bound(guard: Guarded, out: int, given: int, work: int) -> Callable[[], int]:
    """The guard at work on arrays at these addresses: a call without arguments costs Python least."""
    engine = _thunk(guard, "", f"i64 {out}, i64 {given}, i64 {work}")
    function: Any = ctypes.CFUNCTYPE(ctypes.c_int64)(engine.get_function_address(NAME))
    function.engine = engine  # holds the machine code
    return function  # type: ignore[no-any-return]  # ctypes says little


def _thunk(guard: Guarded, arguments: str, handed: str) -> Any:
    """A function that calls `one` with a guard; addresses are integers here, which are passed as pointers are."""
    pointer, kind = pointer_type(), "i64 (i64, i64, i64, i64)"
    called = "ptr" if pointer == "ptr" else f"{kind}*"
    text = (
        f"define i64 @{NAME}({arguments}) {{\n"
        f"%one = inttoptr i64 {one_address()} to {called}\n"
        f"%status = call {kind} %one(i64 {guard.at}, {handed})\n"
        f"ret i64 %status\n}}\n"
    )
    return native_engine(text, (), 1)


_ONE_AT_A_TIME: Final = Lock()


def one_address() -> int:
    """`one`, for native callers; compiled once on a machine."""
    with _ONE_AT_A_TIME:
        return ctypes.cast(_one(), ctypes.c_void_p).value or 0  # type: ignore[arg-type]  # it is one of ctypes


def many_compiled() -> Callable[[int, int, int, int, int], int]:
    """`many` for Python: it takes addresses, and Python's lock is free while it works."""
    with _ONE_AT_A_TIME:
        return _many()


@cache
def _one() -> Callable[[int, int, int, int], int]:
    return native_library(one)


@cache
def _many() -> Callable[[int, int, int, int, int], int]:
    return native_library(many)
