"""What rows read at a state, and rows times velocities. Native functions."""

import math
from typing import Final

from zwang.arrays import EPS
from zwang.compile.restricted import Array, native
from zwang.compile.restricted.memory import at, call, shift
from zwang.engines.stepping.record import ALL, WalkRecord, answers_at, integers

ROW_GONE: Final = 32 * EPS  # of the terms of its entries: a row that is no longer is what rounding has left of zero
ROUNDED_TERMS: Final = 64 * EPS  # of the terms of a gap: below, it is rounding


@native
def evaluated(walk: WalkRecord, t: float, q: Array, v: Array, out: Array) -> None:
    """What the kernel gives at a state, equalities that have vanished being zero."""
    given, n = at(walk.given), walk.n
    given[0] = t
    for i in range(n):
        given[1 + i], given[1 + n + i] = q[i], v[i]
    call(walk.kernel, out, given, at(walk.room))
    answer = answers_at(walk.answers)[integers(walk.level)[ALL].at]
    first, entry, rows = integers(walk.row_first), integers(walk.row_entry), integers(answer.rows)
    for k in range(integers(answer.first)[walk.blocks].at):
        row = rows[k].at
        if vanished(walk, out, row):
            for e in range(first[row].at, first[row + 1].at):
                out[walk.out_A + entry[e].at] = 0.0


@native
def vanished(walk: WalkRecord, out: Array, row: int) -> bool:
    """Whether a row is no more than what rounding has left of zero, beside the terms of its entries."""
    sum_first, sum_entry, sums = integers(walk.sum_first), integers(walk.sum_entry), shift(out, walk.out_sums)
    terms, largest = 0.0, 0.0
    for e in range(sum_first[row].at, sum_first[row + 1].at):
        size = abs(sums[sum_entry[e].at])
        terms = size if size > terms else terms
    if terms == 0.0:
        return False
    first, entry, A = integers(walk.row_first), integers(walk.row_entry), shift(out, walk.out_A)
    for e in range(first[row].at, first[row + 1].at):
        largest = abs(A[entry[e].at]) if abs(A[entry[e].at]) > largest else largest
    return largest <= ROW_GONE * terms and terms < math.inf


@native
def times_row(walk: WalkRecord, out: Array, row: int, x: Array) -> float:
    """A row of A times velocities."""
    first, column, entry = integers(walk.row_first), integers(walk.row_column), integers(walk.row_entry)
    A, total = shift(out, walk.out_A), 0.0
    for e in range(first[row].at, first[row + 1].at):
        total += A[entry[e].at] * x[column[e].at]
    return total


@native
def times_size(walk: WalkRecord, out: Array, row: int, x: Array) -> float:
    """The same of sizes."""
    first, column, entry = integers(walk.row_first), integers(walk.row_column), integers(walk.row_entry)
    A, total = shift(out, walk.out_A), 0.0
    for e in range(first[row].at, first[row + 1].at):
        total += abs(A[entry[e].at]) * abs(x[column[e].at])
    return total


@native
def rate(walk: WalkRecord, out: Array, row: int) -> float:
    """What a row reads in velocity."""
    place = integers(walk.rate)[row].at
    return out[place] if place >= 0 else math.nan


@native
def rounding(walk: WalkRecord, out: Array, row: int, q: Array) -> float:
    """What of a gap is rounding."""
    place = integers(walk.size)[row].at
    return ROUNDED_TERMS * ((out[place] if place >= 0 else 0.0) + times_size(walk, out, row, q))
