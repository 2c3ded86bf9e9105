"""Impulses of contacts that are given by their speeds and how they act on each other, u = c + W x.

A contact has one row (its normal), two or three (its slips). They are found by sweeps from contact to contact, as those
of a step are in the end (`further`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.compile.restricted import native_library
from zwang.engines.stepping.further import MOST_SWEEPS, swept
from zwang.engines.stepping.record import WALK

_ONE_AT_A_TIME: Final = Lock()


def compiled() -> Callable[[int, float, int], None]:
    """`further.swept` for Python: it takes the address of a record."""
    with _ONE_AT_A_TIME:
        return _loaded()


@cache
def _loaded() -> Callable[[int, float, int], None]:
    return native_library(swept)


@dataclass(frozen=True)
class Solved:
    """Impulses x (r,) and speeds u (r,), what is left of the worst contact's law as a speed, and the sweeps made."""

    x: Array
    u: Array
    left: float
    sweeps: int


def solve(
    W: Any, free: Array, first: NDArray[np.intp], mu: Array, begin: Array, enough: float, most: int = MOST_SWEEPS
) -> Solved:
    """Impulses of contacts, beginning with some: W (r, r), where the rows of contacts begin (k + 1,) and their μ (k,).

    >>> W, first = np.eye(2), np.array([0, 1, 2])
    >>> solve(W, np.array([-1.0, 2.0]), first, np.zeros(2), np.zeros(2), 1e-12).x.tolist()
    [1.0, 0.0]
    """
    record = np.zeros(1, WALK)
    arrays = laid_out(np.asarray(W if isinstance(W, np.ndarray) else W.toarray(), dtype=float), first)
    arrays |= {"c": np.array(free, dtype=float), "mu": np.array(mu, dtype=float), "x": np.array(begin, dtype=float)}
    for name, array in arrays.items():
        record[name] = array.ctypes.data
    record["n"], record["acting"] = len(free), len(mu)
    compiled()(record.ctypes.data, float(enough), most)
    return Solved(arrays["x"], arrays["u"], float(record["left"][0]), int(record["sweeps"][0]))


def laid_out(W: Array, first: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
    """The tables of a step whose coordinates are the speeds of rows: each row reads its own, and W answers."""
    rows, count, every = len(W), len(first) - 1, np.arange(len(W))
    sizes = np.diff(first)
    own = np.zeros((count, 3, 3))
    for i in range(3):
        for j in range(3):
            has = np.flatnonzero(sizes > max(i, j))
            own[has, i, j] = W[first[has] + i, first[has] + j]
    whole = {
        "begin": first, "value_first": np.arange(rows + 1), "column": every,
        "answer_first": rows * np.arange(rows + 1), "answer_column": np.tile(every, rows),
    }  # fmt: skip
    numbers = {"value": np.ones(rows), "answer": np.ascontiguousarray(W.T).ravel(), "own": own.ravel()}
    numbers |= {name: np.zeros(rows) for name in ("u", "w", "good", "best", "missing")}
    return {name: np.array(table, dtype=np.int64) for name, table in whole.items()} | numbers
