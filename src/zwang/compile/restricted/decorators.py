"""What a file of native functions needs: the marks and the types of memory."""

# ruff: noqa: D105  operators are what they are everywhere
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, NoReturn, ParamSpec, TypeVar, cast

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")


class Array:
    """Doubles in a row at some address. There are none in Python: the class tells type checkers how they are used."""

    if TYPE_CHECKING:

        def __getitem__(self, index: int) -> float:
            """Read one."""

        def __setitem__(self, index: int, value: float) -> None:
            """Write one."""


class Lanes:
    """A number in each lane: as many doubles as `compile.lanes.LANES` says, reckoned with all at once.

    A number beside one stands in all lanes. Comparisons give a `Mask`.
    """

    if TYPE_CHECKING:

        def __add__(self, other: Lanes | float) -> Lanes: ...
        def __radd__(self, other: float) -> Lanes: ...
        def __sub__(self, other: Lanes | float) -> Lanes: ...
        def __rsub__(self, other: float) -> Lanes: ...
        def __mul__(self, other: Lanes | float) -> Lanes: ...
        def __rmul__(self, other: float) -> Lanes: ...
        def __truediv__(self, other: Lanes | float) -> Lanes: ...
        def __rtruediv__(self, other: float) -> Lanes: ...
        def __abs__(self) -> Lanes: ...
        def __lt__(self, other: Lanes | float) -> Mask: ...
        def __le__(self, other: Lanes | float) -> Mask: ...
        def __gt__(self, other: Lanes | float) -> Mask: ...
        def __ge__(self, other: Lanes | float) -> Mask: ...
        def __eq__(self, other: Lanes | float) -> Mask: ...  # type: ignore[override]


class Mask:
    """Whether something holds, in each lane: combined with &, | and ~."""

    if TYPE_CHECKING:

        def __and__(self, other: Mask | bool) -> Mask: ...
        def __rand__(self, other: bool) -> Mask: ...
        def __or__(self, other: Mask | bool) -> Mask: ...
        def __ror__(self, other: bool) -> Mask: ...
        def __invert__(self) -> Mask: ...


class Rows:
    """`Lanes` in a row at some address, which is a multiple of their size."""

    if TYPE_CHECKING:

        def __getitem__(self, index: int) -> Lanes:
            """Read one."""

        def __setitem__(self, index: int, value: Lanes | float) -> None:
            """Write one."""


class Record:
    """A record among others in a row, laid out as `layout` says: doubles, 64-bit integers and rows of them.

    A row of as many doubles as there are lanes is read and written as `Lanes`; each of them has its place, too.
    """

    layout: ClassVar[np.dtype[np.void]]

    if TYPE_CHECKING:

        def __getitem__(self, index: int) -> Any:
            """Another record of the row."""

        def __getattr__(self, name: str) -> Any:
            """Read a field."""

        def __setattr__(self, name: str, value: Any) -> None:
            """Write a field."""


Number = TypeVar("Number", float, Lanes)
"""A number, or one in each lane: a function that declares it is compiled for what it is called with."""

Numbers = TypeVar("Numbers", Array, Rows)
"""Such numbers in a row at some address."""

if TYPE_CHECKING:
    Truth = Any  # type checkers cannot know which of the two goes with which number
    Entry = Any
else:
    Truth = bool | Mask
    Entry = Number
"""What comparing such numbers gives; and a result that is one of `Numbers`."""


class Native:
    """What stands where a native function was defined."""

    def __init__(self, function: Callable[..., Any], seldom: bool = False) -> None:
        self.function, self.seldom = function, seldom

    def __call__(self, *arguments: Any) -> NoReturn:
        """Refuse: only native functions may call it, not Python."""
        raise TypeError(f"{self.function.__name__} is a native function: only native functions can call it")


class Intrinsic:
    """What stands where an intrinsic was defined."""

    def __init__(self, emit: Callable[..., Any]) -> None:
        self.emit = emit


def native(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function as one to be compiled; Python cannot call it any more."""
    return cast(Callable[P, R], Native(function))


def seldom_native(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a native function that runs so seldom that LLVM shall take little time over it."""
    return cast(Callable[P, R], Native(function, seldom=True))


def compact_native(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a native function whose loops are short: unrolled, they would take longer to begin than to run."""
    return cast(Callable[P, R], Native(function, seldom=True))


def intrinsic(emit: Callable[Concatenate[Any, P], R]) -> Callable[P, R]:
    """Mark a function of native functions that writes its LLVM instructions itself: emit(builder, *arguments)."""
    return cast(Callable[P, R], Intrinsic(emit))
