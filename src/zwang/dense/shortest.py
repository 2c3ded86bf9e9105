"""The shortest multipliers of redundant rows, in machine code: `linalg.dependence.shortest`, line by line.

Native functions, for matrices that are so small that arrays of NumPy take longer to begin than to run. Units, measure
of rank, order of rows and residuals of twice the precision are the same; what is not as it should be is left to it.
"""

import math
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from zwang import arrays
from zwang.arrays import TINIEST
from zwang.compile.restricted import Array, Record, native, native_library
from zwang.compile.restricted.memory import at, shift
from zwang.dense.regular import exact, inverse_factor, orthonormal, power_of_two
from zwang.linalg.dependence import shortest
from zwang.linalg.masses import mass_tolerance, mass_units
from zwang.linalg.rank import rank_tolerance

MOST_ENTRIES: Final = 4000
"""Of A: beyond, arrays of NumPy are as fast."""
FOUND: Final = 0
LEFT: Final = 1

NUMBERS: Final = ("mass_tol", "rank_tol", "rounding")
ADDRESSES: Final = (
    "D", "unit", "rest", "scale", "order", "G", "Q", "R", "c_size", "z", "x", "X", "L", "Lt", "U", "rows", "slack",
    "columns", "own", "y", "masses",
)  # fmt: skip
ROWS: Final = np.dtype([(name, "i8") for name in ("n", "m", "rank", *ADDRESSES)] + [(name, "f8") for name in NUMBERS])


class RowsRecord(Record):
    """A record of `ROWS` as native functions see it: sizes, where the arrays are, and tolerances."""

    layout = ROWS


_ONE_AT_A_TIME: Final = Lock()


@native
def set_units(now: RowsRecord, M: Array) -> bool:
    """The units of coordinates in which ranks are judged (`linalg.masses`); False where some have no mass."""
    n, D, scaled = now.n, at(now.D), at(now.masses)
    for i in range(n):
        if not M[i * n + i] > TINIEST:
            return False
        D[i] = power_of_two(math.sqrt(M[i * n + i]))
    for i in range(n):
        for j in range(n):
            scaled[i * n + j] = M[i * n + j] / D[i] / D[j]
    if inverse_factor(n, scaled, shift(scaled, n * n), shift(scaled, 2 * n * n), now.mass_tol):
        return True
    changed = True  # coordinates that a singular M couples have one unit, the largest of theirs
    while changed:
        changed = False
        for i in range(n):
            for j in range(n):
                if M[i * n + j] != 0.0 and D[j] > D[i]:
                    D[i] = D[j]
                    changed = True
    return True


@native
def set_rows(now: RowsRecord, A: Array) -> None:
    """The rows in these units, at about unit length: by powers of two."""
    n, D, unit, scale = now.n, at(now.D), at(now.unit), at(now.scale)
    for i in range(now.m):
        largest, total = 0.0, 0.0
        for j in range(n):
            unit[i * n + j] = A[i * n + j] / D[j]
            largest = abs(unit[i * n + j]) if abs(unit[i * n + j]) > largest else largest
        scale[i] = 1.0
        if largest >= TINIEST:
            largest = power_of_two(largest)
            for j in range(n):
                total += (unit[i * n + j] / largest) * (unit[i * n + j] / largest)
            scale[i] = largest * power_of_two(math.sqrt(total))
        for j in range(n):
            unit[i * n + j] /= scale[i]


@native
def set_order(now: RowsRecord) -> None:
    """Numbers of rows by greatest remaining length, as many as the rank says; then the others as they are."""
    n, m, unit, rest, order = now.n, now.m, at(now.unit), at(now.rest), at(now.order)
    for i in range(m):
        order[i] = 1.0 * i
        for j in range(n):
            rest[i * n + j] = unit[i * n + j]
    for k in range(now.rank):
        best, longest = k, -1.0
        for i in range(k, m):
            row, total = int(order[i]), 0.0
            for j in range(n):
                total += rest[row * n + j] * rest[row * n + j]
            if total > longest:
                best, longest = i, total
        row = int(order[best])
        for i in range(best - k):  # the others keep their order
            order[best - i] = order[best - i - 1]
        order[k] = 1.0 * row
        size = math.sqrt(longest) if longest > 0.0 else 1.0
        for j in range(n):
            rest[row * n + j] /= size
        for i in range(k + 1, m):
            other, share = int(order[i]), 0.0
            for j in range(n):
                share += rest[other * n + j] * rest[row * n + j]
            for j in range(n):
                rest[other * n + j] -= share * rest[row * n + j]


@native
def add_by_factors(now: RowsRecord, x: Array, c: Array) -> None:
    """To c what row x is made of, of rows G = RᵀQ: xQᵀR⁻ᵀ."""
    n, rank, Q, R, z = now.n, now.rank, at(now.Q), at(now.R), at(now.z)
    for i in range(rank):
        total = 0.0
        for j in range(n):
            total += x[j] * Q[i * n + j]
        z[i] = total
    for k in range(rank):
        i = rank - 1 - k
        total = z[i]
        for j in range(i + 1, rank):
            total -= R[i * rank + j] * z[j]
        z[i] = total / R[i * rank + i]
        c[i] += z[i]


@native
def set_lengths(now: RowsRecord) -> None:
    """The lengths of the columns of G⁺ = QᵀR⁻ᵀ, which are those of the rows of R⁻¹."""
    rank, R, z, size = now.rank, at(now.R), at(now.z), at(now.c_size)
    for j in range(rank):
        total = 0.0
        for i in range(j, rank):
            part = 1.0 if i == j else 0.0
            for l in range(j, i):
                part -= z[l] * R[l * rank + i]
            z[i] = part / R[i * rank + i]
            total += z[i] * z[i]
        size[j] = math.sqrt(total)


@native
def set_shares(now: RowsRecord) -> bool:
    """X (m, rank): of which independent rows each is made, all at unit length; shares below the tolerance are zero."""
    n, rank, unit, order, X = now.n, now.rank, at(now.unit), at(now.order), at(now.X)
    G, Q, size, x = at(now.G), at(now.Q), at(now.c_size), at(now.x)
    for i in range(rank):
        row = int(order[i])
        for j in range(n):
            G[i * n + j] = unit[row * n + j]
            Q[i * n + j] = unit[row * n + j]
        for j in range(rank):
            X[row * rank + j] = 1.0 if i == j else 0.0
    if not orthonormal(n, rank, Q, at(now.R)):
        return False
    set_lengths(now)
    for k in range(rank, now.m):
        row = int(order[k])
        c = shift(X, row * rank)
        for i in range(rank):
            c[i] = 0.0
        add_by_factors(now, shift(unit, row * n), c)
        for _ in range(2):
            for j in range(n):
                total, lost = exact(unit[row * n + j], -1.0, shift(G, j), n, c, rank)
                x[j] = total + lost
            add_by_factors(now, x, c)
        for i in range(rank):
            if not abs(c[i]) > now.rank_tol * size[i]:
                c[i] = 0.0
    return True


@native
def exchange(X: Array, i: int, k: int, width: int) -> None:
    """Two rows change places."""
    for j in range(width):
        other = X[i * width + j]
        X[i * width + j] = X[k * width + j]
        X[k * width + j] = other


@native
def pivot_all(now: RowsRecord) -> bool:
    """L (m, rank), U, the order of rows and the columns of pivots of X = LU; `linalg.dependence` says how."""
    m, rank, X, L, U = now.m, now.rank, at(now.X), at(now.L), at(now.U)
    rows, columns, slack = at(now.rows), at(now.columns), at(now.slack)
    for i in range(m):
        rows[i], slack[i] = 1.0 * i, 0.0
        for j in range(rank):
            L[i * rank + j] = 0.0
            slack[i] = abs(X[i * rank + j]) if abs(X[i * rank + j]) > slack[i] else slack[i]
        slack[i] *= now.rounding
    for i in range(rank):
        best, column, largest = i, 0, 0.0
        for k in range(i, m):
            for j in range(rank):
                if abs(X[k * rank + j]) > largest:
                    best, column, largest = k, j, abs(X[k * rank + j])
        if not largest > 0.0:
            return False
        exchange(rows, i, best, 1)
        exchange(slack, i, best, 1)
        exchange(X, i, best, rank)
        exchange(L, i, best, rank)
        columns[i] = 1.0 * column
        for j in range(rank):
            U[i * rank + j] = X[i * rank + j]
        L[i * rank + i] = 1.0
        for k in range(i + 1, m):
            share = X[k * rank + column] / X[i * rank + column]
            L[k * rank + i] = share
            for j in range(rank):
                left = X[k * rank + j] - share * U[i * rank + j]
                X[k * rank + j] = left if abs(left) > slack[k] else 0.0
            X[k * rank + column] = 0.0
    return True


@native
def tell_unique(now: RowsRecord, unique: Array) -> None:
    """1 for rows that no other is made of, 0 for the others."""
    rank, order, X = now.rank, at(now.order), at(now.X)
    for i in range(now.m):
        unique[i] = 0.0
    for j in range(rank):
        alone = 1.0
        for k in range(rank, now.m):
            if X[int(order[k]) * rank + j] != 0.0:
                alone = 0.0
        unique[int(order[j])] = alone


@native
def share_out(now: RowsRecord, lam: Array, unique: Array) -> bool:
    """λ becomes X⁺ᵀXᵀλ, where rows are unique their share of Xᵀλ: Aᵀλ = GᵀXᵀλ."""
    m, rank, X, L, Lt, U, R = now.m, now.rank, at(now.X), at(now.L), at(now.Lt), at(now.U), at(now.R)
    scale, order, rows, columns = at(now.scale), at(now.order), at(now.rows), at(now.columns)
    own, y = at(now.own), at(now.y)
    for j in range(rank):
        own[j] = 0.0
        for i in range(m):
            X[i * rank + j] *= scale[i]
            own[j] += X[i * rank + j] * lam[i]
    if not pivot_all(now):
        return False
    for i in range(rank):  # U⁻ᵀ: columns have stayed where they were, each pivot has one of its own
        column = int(columns[i])
        y[i] = own[column]
        for k in range(i):
            y[i] -= U[k * rank + column] * y[k]
        y[i] /= U[i * rank + column]
        for k in range(m):
            Lt[i * m + k] = L[k * rank + i]
    if not orthonormal(m, rank, Lt, R):
        return False
    for i in range(rank):  # QᵀR⁻ᵀ with L = QᵀR
        for k in range(i):
            y[i] -= R[k * rank + i] * y[k]
        y[i] /= R[i * rank + i]
    for i in range(m):
        total = 0.0
        for k in range(rank):
            total += Lt[k * m + i] * y[k]
        lam[int(rows[i])] = total
    for j in range(rank):
        row = int(order[j])
        if unique[row] > 0.0:
            lam[row] = own[j] / scale[row]
    return True


@native
def place(now: RowsRecord, work: int) -> None:
    """Where everything is in working space."""
    n, m, r, word = now.n, now.m, now.rank, 8
    now.unit, now.rest = work, work + word * m * n
    now.G = now.rest + word * m * n
    now.Q = now.G + word * r * n
    now.R = now.Q + word * r * n
    now.U = now.R + word * r * r
    now.X = now.U + word * r * r
    now.L, now.Lt = now.X + word * m * r, now.X + 2 * word * m * r
    now.scale = now.Lt + word * m * r
    now.order, now.rows, now.slack = now.scale + word * m, now.scale + 2 * word * m, now.scale + 3 * word * m
    now.columns = now.slack + word * m
    now.own, now.y, now.z = now.columns + word * r, now.columns + 2 * word * r, now.columns + 3 * word * r
    now.c_size = now.z + word * r
    now.x = now.c_size + word * r
    now.D = now.x + word * n
    now.masses = now.D + word * n


def work_size(n: int, m: int, rank: int) -> int:
    """Doubles that `share_all` works in."""
    return 2 * m * n + 2 * rank * n + 2 * rank * rank + 3 * m * rank + 4 * m + 5 * rank + 2 * n + 3 * n * n


@native
def share_all(now: RowsRecord, count: int, M: Array, A: Array, lam: Array, unique: Array, work: int) -> int:
    """A stack of systems, one after the other: FOUND, or LEFT to others."""
    n, m = now.n, now.m
    place(now, work)
    for k in range(count):
        if not set_units(now, shift(M, k * n * n)):
            return LEFT
        set_rows(now, shift(A, k * m * n))
        set_order(now)
        if not set_shares(now):
            return LEFT
        tell_unique(now, shift(unique, k * m))
        if not share_out(now, shift(lam, k * m), shift(unique, k * m)):
            return LEFT
    return FOUND


def shortest_multipliers(
    M: arrays.Array, A: arrays.Array, rank: int, multipliers: arrays.Array
) -> tuple[arrays.Array, NDArray[np.bool_]]:
    """The shortest λ (k, m) with the same Aᵀλ as some others, and which are unique; of rows whose rank is known.

    M (k, n, n) tells the units in which it is judged how rows depend on each other.

    >>> M, A = np.eye(2)[None], np.array([[[1.0, 0.0], [2.0, 0.0]]])
    >>> shortest_multipliers(M, A, 1, np.array([[5.0, 0.0]]))[0].round(12).tolist()
    [[1.0, 2.0]]
    """
    k, m, n = A.shape
    if k and rank > 0 and m * n <= MOST_ENTRIES:
        lam, unique, work = np.array(multipliers), np.empty((k, m)), np.empty(work_size(n, m, rank))
        given = [np.ascontiguousarray(x, dtype=np.float64) for x in (M, A)]
        now = np.zeros(1, ROWS)
        now["n"], now["m"], now["rank"] = n, m, rank
        now["mass_tol"], now["rank_tol"] = mass_tolerance(n), rank_tolerance(m, n)
        now["rounding"] = rank_tolerance(m, rank)
        places = (x.ctypes.data for x in (*given, lam, unique, work))
        if compiled()(now.ctypes.data, k, *places) == FOUND:
            return lam, unique > 0
    return shortest(A / mass_units(M, A)[:, None, :], rank, multipliers)


def compiled() -> Callable[..., int]:
    """`share_all` for Python: it takes the addresses of a record and of arrays."""
    with _ONE_AT_A_TIME:
        return _loaded()


@cache
def _loaded() -> Callable[..., int]:
    return native_library(share_all)
