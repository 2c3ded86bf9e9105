"""Programs as native functions of named arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sized
from dataclasses import dataclass, field
from itertools import chain
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zwang.compile.lanes import LANES
from zwang.compile.layout import BATCH_NAME, NAME, module_text
from zwang.compile.machine_code import native_engine, pointer_type
from zwang.compile.program import Program
from zwang.compile.translate import Translator
from zwang.errors import InputError
from zwang.waiting import preparing

# Measured on Andrews' mechanism, a rolling disc, a spatial four-bar and a chain of 100 (600 to 5,800 lines): level 0
# takes 8 µs a line to compile and its code 1.02 to 1.25 times as long to run; level 1 takes 25 to 40 µs a line; level 2
# gains little more.
LEVEL_UP_TO = {2: 2_000, 1: 50_000}  # level -> most lines that get it by default; beyond, level 0

# Most lines of a function, by level. Level 0 allocates registers well in short functions only; from
# level 1 on, longer functions run no faster and take up to three times as long to compile.
LONGEST = (200, 500, 1_000, 1_000)

BATCH = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


@dataclass(frozen=True, eq=False)
class Kernel:
    """A program as machine code in this process; call it with arrays by name, or hand out its addresses.

    Each input has shape (..., k), k being its number of symbols; leading axes broadcast against each
    other, and every output has them too, in front of its own shape. Calls share nothing and release
    the interpreter's lock, so threads may call one kernel at the same time.

    For native callers: `address` is `void f(double *out, const double *in, double *work)` and
    `batch_address` the same with `int64_t count` for so many contiguous rows of in and out. The slices
    say where each name is; `work` is scratch of `work_size` doubles, at no level more than there are
    `lines`. The three must not overlap, and the addresses are valid as long as the kernel is alive.

    >>> from symengine import symbols
    >>> x, y = symbols("x y")
    >>> kernel = compile_program(Program({"point": (x, y)}, {"norm": ((x**2 + y**2)**0.5,)}))
    >>> kernel(point=[[3, 4], [5, 12]])["norm"]
    array([[ 5.],
           [13.]])
    """

    address: int
    batch_address: int
    inputs: Mapping[str, slice]
    outputs: Mapping[str, slice]
    shapes: Mapping[str, tuple[int, ...]]
    input_size: int
    output_size: int
    work_size: int
    lines: int
    engine: Any = field(repr=False)  # owns the machine code

    def __call__(self, **inputs: ArrayLike) -> dict[str, NDArray[np.float64]]:
        """The outputs by name, as views of one array."""
        rows = self._pack(inputs)
        batch = rows.shape[:-1]
        out = self.on_rows(rows.reshape(prod(batch), self.input_size)).reshape(*batch, self.output_size)
        return {name: out[..., part].reshape(batch + self.shapes[name]) for name, part in self.outputs.items()}

    def on_rows(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The outputs for rows of inputs (k, input_size), both packed."""
        rows = np.ascontiguousarray(rows)
        out, work = np.empty((len(rows), self.output_size)), np.empty(self.work_size)
        BATCH(self.batch_address)(out.ctypes.data, rows.ctypes.data, work.ctypes.data, len(rows))
        return out

    def _row(self, inputs: Mapping[str, ArrayLike]) -> NDArray[np.float64] | None:
        """The inputs in one row, if they are vectors of doubles as they should be; None if there is more to look at."""
        parts: list[Any] = [inputs.get(name) for name in self.inputs]
        if len(inputs) != len(parts) or not all(type(part) is np.ndarray and part.ndim == 1 for part in parts):
            return None
        row = np.concatenate([np.zeros(0), *parts])
        fits = [len(part) for part in parts] == [place.stop - place.start for place in self.inputs.values()]
        return row if fits and row.dtype == np.float64 else None

    def _pack(self, inputs: Mapping[str, ArrayLike]) -> NDArray[np.float64]:
        """The inputs as rows, batch axes in front."""
        if (row := self._row(inputs)) is not None:
            return row
        if inputs.keys() != self.inputs.keys():
            wrong = [f"{name!r} is missing" for name in self.inputs if name not in inputs]
            wrong += [f"{name!r} is unknown" for name in inputs if name not in self.inputs]
            expected = ", ".join(map(repr, self.inputs)) or "none"
            raise InputError(f"inputs do not fit: {', '.join(wrong)}; expected: {expected}")
        arrays = {name: _array(name, value) for name, value in inputs.items()}
        for name, array in arrays.items():
            size = self.inputs[name].stop - self.inputs[name].start
            if array.shape[-1:] != (size,):
                raise InputError(f"the input {name!r} has shape {array.shape}, expected (..., {size})")
        try:
            batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays.values()))
        except ValueError:
            given = ", ".join(f"{name!r} {array.shape}" for name, array in arrays.items())
            raise InputError(f"the leading axes of the inputs do not broadcast: {given}") from None
        rows = np.empty((*batch, self.input_size))
        for name, array in arrays.items():
            rows[..., self.inputs[name]] = array
        return rows


def compile_program(program: Program, *, optimise: int | None = None) -> Kernel:
    """Compile a program to native code.

    `optimise` is the level of LLVM's code generator, 0 (compiles fastest) to 3; without it, short
    programs get 2, long ones 1 and very long ones 0. Every level computes the same bits: nothing is
    reassociated, contracted or approximated.

    >>> from symengine import cos, sin, symbols
    >>> r, a = symbols("r a")
    >>> kernel = compile_program(Program({"r": (r,), "angle": (a,)}, {"point": (r*cos(a), r*sin(a))}))
    >>> kernel(r=[2.0], angle=[0.0])
    {'point': array([2., 0.])}
    """
    if optimise not in (None, 0, 1, 2, 3):
        raise InputError(f"optimise is {optimise!r}, expected 0, 1, 2, 3 or None")
    engine, work_size, lines = _engine(program, optimise, lanes=1)
    inputs = slices(program.inputs)
    return Kernel(
        address=engine.get_function_address(NAME),
        batch_address=engine.get_function_address(BATCH_NAME),
        inputs=inputs,
        outputs=slices(program.outputs),
        shapes={name: program.shape(name) for name in program.outputs},
        input_size=sum(map(len, program.inputs.values())),
        output_size=sum(map(len, program.outputs.values())),
        work_size=work_size,
        lines=lines,
        engine=engine,
    )


@dataclass(frozen=True, eq=False)
class LaneKernel:
    """A program as machine code that evaluates it for several lanes at once, for native callers.

    `address` is `void f(double *out, const double *in, double *work)`, where each number of a kernel for one is
    `lanes` neighbouring ones here; `work_size` counts doubles.
    """

    address: int
    lanes: int
    work_size: int
    engine: Any = field(repr=False)  # owns the machine code


def compile_lanes(program: Program, lanes: int = LANES, same_bits: bool = False) -> LaneKernel:
    """Compile a program to native code for several lanes (see `lanes`); `same_bits` has sines cost more, too."""
    engine, work_size, _ = _engine(program, None, lanes, same_bits)
    return LaneKernel(engine.get_function_address(NAME), lanes, lanes * work_size, engine)


def default_level(lines: int) -> int:
    """The level that a program of so many lines gets by default."""
    return next((level for level, most in LEVEL_UP_TO.items() if lines <= most), 0)


@preparing("compiling")
def _engine(program: Program, optimise: int | None, lanes: int, same_bits: bool = False) -> tuple[Any, int, int]:
    """The machine code of a program, how many values of working space it needs, and how many lines it has."""
    translator, outputs = translated(program)
    code, lines = translator.code, len(translator.code.lines)
    level = default_level(lines) if optimise is None else optimise
    input_size = sum(map(len, program.inputs.values()))
    text, work_size = module_text(code, outputs, input_size, LONGEST[level], pointer_type(), lanes, same_bits)
    return native_engine(text, code.called, level), work_size, lines


def translated(program: Program) -> tuple[Translator, list[str]]:
    """The lines of a program, and the registers of its outputs in order."""
    symbols = chain.from_iterable(program.inputs.values())
    translator = Translator({symbol: f"%i{k}" for k, symbol in enumerate(symbols)})
    for symbol, expression in program.steps:
        translator.define(symbol, expression)
    expressions = chain.from_iterable(program.outputs.values())
    return translator, [translator.code.register(translator.token(e)) for e in expressions]


def slices(names: Mapping[str, Sized]) -> dict[str, slice]:
    """Where each name is in the packed array."""
    found: dict[str, slice] = {}
    start = 0
    for name, items in names.items():
        found[name] = slice(start, start + len(items))
        start += len(items)
    return found


def _array(name: str, value: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the input {name!r} is not an array of real numbers: {error}") from None
