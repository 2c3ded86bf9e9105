"""The LLVM module that native functions are written into, and the types they have there."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any, Final, NamedTuple, get_args

import numpy as np
from llvmlite import ir

from zwang.compile.lanes import LANES
from zwang.compile.restricted.decorators import Array, Lanes, Mask, Native, Number, Numbers, Record, Rows, Truth

FLOAT: Final = ir.DoubleType()
INT: Final = ir.IntType(64)
BOOL: Final = ir.IntType(1)
ARRAY: Final = FLOAT.as_pointer()

_PLAIN: Final = {float: FLOAT, int: INT, bool: BOOL, Array: ARRAY, None: ir.VoidType()}


class Module:
    """Functions, records and constants, each put into the module when it is first used."""

    def __init__(self) -> None:
        self.module = ir.Module("native", context=ir.Context())
        self.waiting: list[tuple[Callable[..., Any], Any]] = []  # functions declared whose bodies are to be written
        self.fields: dict[str, list[str]] = {}  # name of a record -> names of its fields
        self._functions: dict[tuple[Any, ...], Any] = {}
        self._tables: dict[int, Any] = {}

    def function(self, marked: Native, given: Sequence[Any] = ()) -> Any:
        """A native function, for values of these types; each kind of `Number`, `Numbers` and `Record` has its own."""
        function = marked.function
        hints = inspect.get_annotations(function, eval_str=True)
        wanted = [hints.get(name) for name in inspect.signature(function).parameters]
        pairs = list(zip_longest(wanted, given[: len(wanted)]))
        numbers = [g if hint is Number else g.pointee for hint, g in pairs if hint in (Number, Numbers) and g]
        wide = next((kind for kind in numbers if isinstance(kind, ir.VectorType)), FLOAT)
        kinds = [g if hint is Record and g else self._type(hint, function, wide) for hint, g in pairs]
        key = (marked, *map(str, kinds))
        if key not in self._functions:
            kind = ir.FunctionType(self._type(hints.get("return", ...), function, wide), kinds)
            declared = ir.Function(self.module, kind, self.module.get_unique_name(function.__name__))
            declared.linkage = "internal"
            declared.attributes.add("nounwind")
            if marked.seldom:
                declared.attributes.add("optsize")
            self._functions[key] = declared
            self.waiting.append((function, declared))
        return self._functions[key]

    def table(self, array: np.ndarray[Any, Any]) -> Any:
        """An array of NumPy as a constant."""
        if id(array) not in self._tables:
            kind = ir.ArrayType(FLOAT if array.dtype == np.float64 else INT, len(array))
            table = ir.GlobalVariable(self.module, kind, self.module.get_unique_name("table"))
            table.linkage, table.global_constant, table.initializer = "internal", True, kind(array.tolist())
            self._tables[id(array)] = table
        return self._tables[id(array)]

    def outside(self, name: str, arguments: int, kind: Any = FLOAT) -> Any:
        """A function of doubles, or of lanes, that LLVM or the C library has."""
        if name in self.module.globals:
            return self.module.globals[name]
        return ir.Function(self.module, ir.FunctionType(kind, [kind] * arguments), name)

    def know(self, emit: Callable[..., Any]) -> None:
        """The fields of the record that an intrinsic says it gives, if it does."""
        given = inspect.get_annotations(emit, eval_str=True).get("return")
        if isinstance(given, type) and issubclass(given, Record):
            self._record(given)

    def _type(self, hint: Any, function: Callable[..., Any], wide: Any = FLOAT) -> Any:
        """The LLVM type of an annotation, where a `Number` is of the type `wide`."""
        if hint is Number:
            return wide
        if hint is Numbers:
            return wide.as_pointer()
        if hint == Truth:
            return ir.VectorType(BOOL, wide.count) if isinstance(wide, ir.VectorType) else BOOL
        if hint in _PLAIN:
            return _PLAIN[hint]
        if hint in (Lanes, Mask, Rows):
            wide = ir.VectorType(BOOL if hint is Mask else FLOAT, LANES)
            return wide.as_pointer() if hint is Rows else wide
        if isinstance(hint, type) and issubclass(hint, Record) and hint is not Record:
            return self._record(hint).as_pointer()
        if parts := get_args(hint):
            return ir.LiteralStructType([self._type(part, function, wide) for part in parts])
        code = function.__code__
        raise SyntaxError(
            f"{code.co_filename}:{code.co_firstlineno}: native function {code.co_name}: arguments and result are "
            "declared as float, int, bool, Array, Lanes, Mask, Rows, Number, Numbers, Truth, a Record, a tuple of "
            f"them, or None; not as {hint}"
        )

    def _record(self, kind: type[Record]) -> Any:
        """The LLVM type of a record."""
        name = kind.__name__
        record = self.module.context.get_identified_type(name)
        if name not in self.fields:
            fields = {field: kind.layout[field] for field in kind.layout.names or ()}
            record.set_body(*map(_field, fields.values()))
            wide = [place for dtype, place, *_ in (kind.layout.fields or {}).values() if _is_wide(dtype)]
            if wide and any(place % (8 * LANES) for place in (*wide, kind.layout.itemsize)):
                raise TypeError(f"{name}: numbers in lanes, and records with them, lie at multiples of their size")
            self.fields[name] = list(fields)
        return record


def _field(dtype: np.dtype[Any]) -> Any:
    """The LLVM type of a field of a record: a number, one in each lane, or a row of them."""
    scalar = FLOAT if dtype.base == np.float64 else INT
    if _is_wide(dtype):
        return ir.VectorType(FLOAT, LANES)
    return ir.ArrayType(scalar, dtype.shape[0]) if dtype.shape else scalar


def _is_wide(dtype: np.dtype[Any]) -> bool:
    """Whether a field holds a number in each lane."""
    return dtype.base == np.float64 and dtype.shape == (LANES,)


def spread(builder: Any, value: Any, kind: Any) -> Any:
    """A value in all lanes of this type; what is in lanes already stays."""
    if value.type == kind:
        return value
    if isinstance(value, ir.Constant):
        return ir.Constant(kind, [value.constant] * kind.count)
    nothing, first = ir.Constant(kind, ir.Undefined), ir.IntType(32)(0)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
    return builder.shuffle_vector(builder.insert_element(nothing, value, first), nothing, everywhere)


class Loop(NamedTuple):
    """A loop being written: its counter, if it counts, and where continue and break lead."""

    index: Any
    again: Any
    done: Any


class _AsWritten:
    """The mark of a loop that LLVM shall neither unroll nor vectorise; llvmlite cannot make nodes that hold themselves.

    For loops of a few turns: LLVM would take long to make much of them.
    """

    text = (
        "!100000 = distinct !{!100000, !100001, !100002}\n"
        '!100001 = !{!"llvm.loop.unroll.disable"}\n'
        '!100002 = !{!"llvm.loop.vectorize.width", i32 1}\n'
    )

    def get_reference(self) -> str:
        return "!100000"


AS_WRITTEN: Final = _AsWritten()


@contextmanager
def counted(builder: Any, start: Any, stop: Any, as_written: bool = False) -> Iterator[Loop]:
    """What is written inside is done for start … stop - 1."""
    head, body, again, done = (builder.append_basic_block(name) for name in ("head", "body", "again", "done"))
    before = builder.block
    builder.branch(head)
    builder.position_at_end(head)
    index = builder.phi(INT)
    index.add_incoming(start, before)
    builder.cbranch(builder.icmp_signed("<", index, stop), body, done)
    builder.position_at_end(body)
    yield Loop(index, again, done)
    if not builder.block.is_terminated:
        builder.branch(again)
    builder.position_at_end(again)
    index.add_incoming(builder.add(index, INT(1), flags=["nsw"]), again)
    back = builder.branch(head)
    if as_written:
        back.set_metadata("llvm.loop", AS_WRITTEN)
    builder.position_at_end(done)
