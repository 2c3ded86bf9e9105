"""What a symbol of a template is bound to: a column of coordinates, parameters and numbers, one for each member."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.core.function import AppliedUndef

from zwang.arrays import Indices
from zwang.errors import InputError
from zwang.model.families.array import CoordinateArray
from zwang.model.time import coordinate, t
from zwang.words import shortened

NUMBER, FUNCTION, PARAMETER = range(3)


@dataclass(frozen=True, eq=False)
class Column:
    """What stands in the place of a symbol, member by member."""

    sorts: NDArray[np.int8]
    """What each entry is."""
    entries: NDArray[Any]
    """Numbers; functions of time by their names; parameters."""
    own: Mapping[str, sp.Expr] = field(default_factory=dict)
    """Functions of time that were given as SymPy's objects, by their names; the others are made when asked for."""

    @classmethod
    def repeated(cls, f: sp.Expr, count: int) -> "Column":
        """The same function of time for all members."""
        name = f.func.__name__
        entries = np.full(count, name, dtype=object)
        return cls(np.full(count, FUNCTION, dtype=np.int8), entries, {} if f is coordinate(name) else {name: f})

    def __len__(self) -> int:
        """How many members."""
        return len(self.entries)

    def of(self, which: Indices) -> "Column":
        """Some of the entries."""
        return Column(self.sorts[which], self.entries[which], self.own)

    def value(self, k: int) -> sp.Expr:
        """An entry as SymPy's object."""
        entry = self.entries[k]
        return self.function(entry) if self.sorts[k] == FUNCTION else sp.sympify(entry, strict=True)

    def function(self, name: str) -> sp.Expr:
        """The function of time of a name."""
        return self.own.get(name) or coordinate(name)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all functions of time."""
        return frozenset(self.entries[self.sorts == FUNCTION].tolist())

    @cached_property
    def parameters(self) -> frozenset[sp.Symbol]:
        """All parameters."""
        return frozenset(self.entries[self.sorts == PARAMETER].tolist())

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """What makes two columns the same."""
        entries = self.entries
        content = tuple(entries.tolist()) if entries.dtype == object else (entries.dtype.str, entries.tobytes())
        return (self.sorts.tobytes(), content, tuple(sorted(self.own.items(), key=lambda item: item[0])))


def column(symbol: sp.Expr, given: Any) -> tuple[Column, tuple[int, ...]]:
    """A column from what a symbol is bound to, and its shape: an array of coordinates or numbers, a list, one value."""
    if isinstance(given, CoordinateArray):
        if given.order:
            raise InputError(f"{symbol} is bound to rates: bind it to the coordinates, dot({symbol}) follows")
        return Column(np.full(given.size, FUNCTION, dtype=np.int8), given.names.ravel()), given.shape
    if isinstance(given, str | bytes | Mapping | set):
        raise InputError(f"{symbol} is bound to {shortened(repr(given))}: give an array of coordinates or numbers")
    array = np.asarray(given) if isinstance(given, np.ndarray) or is_plain(given) else objects(given)
    if array.dtype.kind in "iuf":
        if not np.isfinite(array).all():
            raise InputError(f"{symbol} is bound to {array[~np.isfinite(array)].flat[0]}, which is not finite")
        return Column(np.full(array.size, NUMBER, dtype=np.int8), array.ravel()), array.shape
    if array.dtype != object:
        raise InputError(f"{symbol} is bound to {shortened(repr(given))}: give coordinates, parameters or numbers")
    own: dict[str, sp.Expr] = {}
    sorts, entries = np.empty(array.size, dtype=np.int8), np.empty(array.size, dtype=object)
    for k, value in enumerate(array.flat):
        sorts[k], entries[k] = sorted_out(symbol, value, own)
    return Column(sorts, entries, own), array.shape


def is_plain(given: Any) -> bool:
    """Whether this is one number."""
    return isinstance(given, int | float | np.number) and not isinstance(given, bool)


def objects(given: Any) -> NDArray[Any]:
    """Nested lists of values as an array of objects; SymPy's matrices, too."""
    rows = given.tolist() if isinstance(given, sp.MatrixBase) else given
    if isinstance(rows, list | tuple) and any(isinstance(row, CoordinateArray) for row in rows):
        rows = [np.asarray(row) if isinstance(row, CoordinateArray) else row for row in rows]
    try:
        return np.array(rows, dtype=object)
    except ValueError:
        raise InputError(f"{shortened(repr(given))} is not an array: its rows differ in length") from None


def sorted_out(symbol: sp.Expr, value: Any, own: dict[str, sp.Expr]) -> tuple[int, Any]:
    """What an entry is, and what stands for it."""
    if isinstance(value, AppliedUndef) and value.args == (t,):
        name = value.func.__name__
        if own.setdefault(name, value) != value:
            raise InputError(f"{symbol} is bound to two different functions of time called {name}: names must differ")
        return FUNCTION, name
    if isinstance(value, sp.Symbol) and value != t:
        return PARAMETER, value
    if is_plain(value) or (isinstance(value, sp.Expr) and value.is_number and value.is_real and value.is_finite):
        if is_plain(value) and not np.isfinite(value):
            raise InputError(f"{symbol} is bound to {value}, which is not finite")
        return NUMBER, value
    raise InputError(
        f"{symbol} is bound to {shortened(value)}: a coordinate, a parameter or a number is meant; write what is "
        f"computed into the template, and bind the symbols in it"
    )
