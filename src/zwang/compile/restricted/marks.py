"""What a file of native functions needs: the marks and the types of memory."""

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


class Record:
    """A record among others in a row, laid out as `layout` says: doubles, 64-bit integers and rows of them."""

    layout: ClassVar[np.dtype[np.void]]

    if TYPE_CHECKING:

        def __getitem__(self, index: int) -> Any:
            """Another record of the row."""

        def __getattr__(self, name: str) -> Any:
            """Read a field."""

        def __setattr__(self, name: str, value: float) -> None:
            """Write a field."""


class Native:
    """What stands where a native function was defined."""

    def __init__(self, function: Callable[..., Any], seldom: bool = False) -> None:
        self.function, self.seldom = function, seldom

    def __call__(self, *arguments: Any) -> NoReturn:
        """Python is the wrong caller."""
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


def intrinsic(emit: Callable[Concatenate[Any, P], R]) -> Callable[P, R]:
    """Mark a function of native functions that writes its LLVM instructions itself: emit(builder, *arguments)."""
    return cast(Callable[P, R], Intrinsic(emit))
