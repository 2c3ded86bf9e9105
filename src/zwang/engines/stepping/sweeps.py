"""Impulses of many contacts at once: one contact after the other, exactly, again and again (Gauss–Seidel).

u = c + W x are the speeds of all rows, a contact having one row (its normal), two or three (its slips). Each contact in
turn takes the impulse that its law asks for while the others keep theirs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.compile.restricted import Array as Memory
from zwang.compile.restricted import Record, native, native_library
from zwang.compile.restricted.memory import at
from zwang.engines.stepping.laws import missed, rough, rough_in_space, smooth

MOST_SWEEPS: Final = 20_000
FEW_SWEEPS: Final = 64  # before it is asked whether they gain much
GAINS: Final = 0.3  # the share of what is left that so many sweeps should leave of it
FURTHER: Final = 4.0  # times the way of so many sweeps, then times that, …
FARTHEST_WAY: Final = 1e12
NO_HARM: Final = 1.000001  # times what is left: no harm is done
LOOK_EVERY: Final = 4  # sweeps there and back between two looks at what is left

FIELDS: Final = ("count", "rows", "first", "starts", "places", "values", "blocks", "free", "mu", "x", "u")
PROBLEM: Final = np.dtype([(name, "i8") for name in FIELDS])

_ONE_AT_A_TIME: Final = Lock()


class ProblemRecord(Record):
    """A record of `PROBLEM` as native functions see it: sizes, and where the arrays are."""

    layout = PROBLEM


@native
def speed(problem: ProblemRecord, row: int) -> float:
    """c + W x of one row."""
    starts, places, values, x = at(problem.starts), at(problem.places), at(problem.values), at(problem.x)
    free = at(problem.free)
    total = free[row]
    for e in range(int(starts[row]), int(starts[row + 1])):
        total += values[e] * x[int(places[e])]
    return total


@native
def settle(problem: ProblemRecord, contact: int) -> None:
    """Give one contact the impulse that its law asks for."""
    first, block, x, mu = at(problem.first), at(problem.blocks), at(problem.x), at(problem.mu)
    i = int(first[contact])
    size, k = int(first[contact + 1]) - i, 9 * contact
    u = speed(problem, i)
    if size == 1:
        x[i] = smooth(u - block[k] * x[i], block[k])
    elif size == 2:
        v, a, b, d = speed(problem, i + 1), block[k], block[k + 1], block[k + 4]
        x[i], x[i + 1] = rough(u - a * x[i] - b * x[i + 1], v - b * x[i] - d * x[i + 1], a, b, d, mu[contact])
    else:
        v, w = speed(problem, i + 1), speed(problem, i + 2)
        a, b, c, p, q, r = block[k], block[k + 1], block[k + 2], block[k + 4], block[k + 5], block[k + 8]
        s, y, z = x[i], x[i + 1], x[i + 2]
        x[i], x[i + 1], x[i + 2] = rough_in_space(
            u - a * s - b * y - c * z,
            v - b * s - p * y - q * z,
            w - c * s - q * y - r * z,
            a,
            b,
            c,
            p,
            q,
            r,
            mu[contact],
        )


@native
def left_of(problem: ProblemRecord, contact: int) -> float:
    """How far one contact is from its law, as a speed; its speeds are written down."""
    first, block, x, mu, u = at(problem.first), at(problem.blocks), at(problem.x), at(problem.mu), at(problem.u)
    i = int(first[contact])
    size, k = int(first[contact + 1]) - i, 9 * contact
    u[i] = speed(problem, i)
    rho, m = block[k], mu[contact]
    y = z = v = w = 0.0
    if size > 1:
        u[i + 1] = speed(problem, i + 1)
        v, y, rho = u[i + 1], x[i + 1], block[k + 4] if block[k + 4] > rho else rho
    if size > 2:
        u[i + 2] = speed(problem, i + 2)
        w, z, rho = u[i + 2], x[i + 2], block[k + 8] if block[k + 8] > rho else rho
    return missed(u[i], v, w, x[i], y, z, rho, m)


@native
def look(problem: ProblemRecord) -> float:
    """How far the worst contact is from its law; not a number where something is not."""
    worst = 0.0
    for contact in range(problem.count):
        found = left_of(problem, contact)
        if not found <= worst:
            worst = found
            if not worst < math.inf:
                return worst
    return worst


@native
def sweep(problem: ProblemRecord, most: int, enough: float, out: Memory) -> int:
    """Sweep there and back until the worst contact is near enough to its law; how many sweeps it took."""
    made = 0
    out[0] = look(problem)
    while made < most and out[0] > enough:
        for _ in range(LOOK_EVERY):
            for contact in range(problem.count):
                settle(problem, contact)
            for contact in range(problem.count):
                settle(problem, problem.count - 1 - contact)
            made += 2
        out[0] = look(problem)
    return made


def compiled() -> Callable[[int, int, float, int], int]:
    """`sweep` for Python: it takes the addresses of a record and of a number."""
    with _ONE_AT_A_TIME:
        return _loaded()


@cache
def _loaded() -> Callable[[int, int, float, int], int]:
    return native_library(sweep)


@dataclass(frozen=True)
class Solved:
    """Impulses x (r,) and speeds u (r,), what is left of the worst contact's law as a speed, and the sweeps made."""

    x: Array
    u: Array
    left: float
    sweeps: int


class Problem:
    """W (r, r), dense or sparse, c (r,), where the rows of contacts begin (k + 1,) and their μ (k,), laid out once."""

    def __init__(self, W: Any, free: Array, first: NDArray[np.intp], mu: Array) -> None:
        """Lay it out."""
        count, rows = len(first) - 1, len(free)
        self.x, self.u = np.zeros(rows), np.zeros(rows)
        blocks = blocks_of(W, first)
        self._kept = (
            first.astype(float), *entries(W), blocks, np.array(free, dtype=float), np.array(mu, dtype=float), self.x,
            self.u,
        )  # fmt: skip
        self._record = np.zeros(1, PROBLEM)
        self._record["count"], self._record["rows"] = count, rows
        for name, array in zip(FIELDS[2:], self._kept, strict=True):
            self._record[name] = array.ctypes.data
        self._left = np.zeros(1)
        self._sweep = compiled()

    def swept(self, begin: Array, enough: float, most: int) -> Solved:
        """Sweeps from some impulses on, until enough or most of them."""
        self.x[:] = begin
        made = self._sweep(self._record.ctypes.data, most, float(enough), self._left.ctypes.data)
        return Solved(self.x.copy(), self.u.copy(), float(self._left[0]), int(made))


def solve(
    W: Any, free: Array, first: NDArray[np.intp], mu: Array, begin: Array, enough: float, most: int = MOST_SWEEPS
) -> Solved:
    """Impulses of contacts, beginning with some.

    Where sweeps gain little, the way they go is followed further, as long as that does no harm: what is wedged needs
    impulses far larger than those that come in from outside, and sweeps let them grow by the same bit each.

    >>> W, first = np.eye(2), np.array([0, 1, 2])
    >>> solve(W, np.array([-1.0, 2.0]), first, np.zeros(2), np.zeros(2), 1e-12).x.tolist()
    [1.0, 0.0]
    """
    problem = Problem(W, free, first, mu)
    found = problem.swept(begin, enough, min(FEW_SWEEPS, most))
    made = found.sweeps
    while found.left > enough and made < most:
        before = found
        found = problem.swept(before.x, enough, FEW_SWEEPS)
        made += found.sweeps
        if not found.left > max(enough, GAINS * before.left):
            continue
        way, far = found.x - before.x, FURTHER
        while made < most and far < FARTHEST_WAY:
            trial = problem.swept(found.x + far * way, enough, LOOK_EVERY)
            made += trial.sweeps
            if not trial.left <= found.left * NO_HARM:
                break
            found, far = trial, far * FURTHER
            if not found.left > enough:
                break
    return Solved(found.x, found.u, found.left, made)


def blocks_of(W: Any, first: NDArray[np.intp]) -> Array:
    """(k, 3, 3) what the impulse of each contact changes of its own speeds."""
    starts, sizes = first[:-1], np.diff(first)
    blocks = np.zeros((len(starts), 3, 3))
    for i in range(3):
        for j in range(3):
            which = np.flatnonzero(sizes > max(i, j))
            if len(which):
                blocks[which, i, j] = np.asarray(W[starts[which] + i, starts[which] + j]).ravel()
    return blocks


def entries(W: Any) -> tuple[Array, Array, Array]:
    """Where rows of a matrix start, the places of their entries, and the entries: as doubles, which arrays hold."""
    if isinstance(W, np.ndarray):
        rows = len(W)
        starts = np.arange(rows + 1, dtype=float) * rows
        return starts, np.tile(np.arange(rows, dtype=float), rows), np.ascontiguousarray(W, dtype=float).ravel()
    return W.indptr.astype(float), W.indices.astype(float), np.ascontiguousarray(W.data)
