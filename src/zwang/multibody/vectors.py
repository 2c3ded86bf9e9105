"""Vectors and turns, for numbers and for expressions alike: tuples, because SymPy's matrices are slow.

Quaternions are (u0, u1, u2, u3), scalar first; a turn is a tuple of rows that takes body axes to world axes.
"""

import math
from collections.abc import Mapping, Sequence, Set
from itertools import accumulate
from typing import Any

import numpy as np
import sympy as sp

from zwang.arrays import EPS
from zwang.errors import InputError
from zwang.mistakes import Where
from zwang.model.symbols import as_scalar

Vector = tuple[Any, ...]
Turn = tuple[Vector, ...]

IDENTITY = {2: ((1, 0), (0, 1)), 3: ((1, 0, 0), (0, 1, 0), (0, 0, 1))}
EXACT, DOUBLE = 2**26, 53  # integers whose products are exact, and the binary digits of a double
TINY, HUGE = 1e-250, 1e250  # what lies between them was computed without underflow or overflow of its terms
NEAR_ZERO = 8 * EPS  # what rounding leaves of a zero, beside entries of size 1


def vector(who: str, given: Any, sizes: Sequence[int] = (2, 3), where: Where = ()) -> Vector:
    """Entries as expressions; whole numbers exact, so that zeros and ones stay out of the equations.

    `who` is what messages call the part that these are an argument of, and `where` says which argument it is.

    >>> vector("at", (1.0, 0, 0.5))
    (1, 0, 0.500000000000000)
    """
    if length(given) not in sizes:
        many = " or ".join(map(str, sizes))
        raise refusal(who, where, f"{given!r} is not a vector: give {many} numbers or expressions")
    return tuple(scalar(who, value, where) for value in given)


def length(given: Any) -> int:
    """How many entries something has, in their order; −1 if it is not a row of entries, as text is not."""
    if isinstance(given, str | bytes | bytearray | Mapping | Set) or not hasattr(given, "__getitem__"):
        return -1
    try:
        return len(given)
    except TypeError:  # an array of no dimension
        return -1


def corners(who: str, given: Any, size: int) -> tuple[Vector, ...]:
    """The corners of an outline."""
    if length(given) < 0:
        raise refusal(who, ("outline",), f"{given!r} is not an outline: give corners, {size} entries each")
    return tuple(vector(who, corner, (size,), ("outline",)) for corner in given)


def scalar(who: str, value: Any, where: Where = ()) -> sp.Expr:
    """One number or expression; whole numbers exact."""
    if isinstance(value, float) and math.isfinite(value):  # most of them, and SymPy takes its time
        return sp.Integer(int(value)) if value.is_integer() and abs(value) < 1e15 else sp.Float(float(value))
    if type(value) is int:
        return sp.Integer(value)
    try:
        expression = as_scalar(value)
    except InputError as error:
        raise refusal(who, where, *error.mistakes) from None
    if expression.is_number and not (expression.is_finite and expression.is_real):
        raise refusal(who, where, f"{value} is not a finite real number")
    if expression.is_Float:
        number = float(expression)
        if number.is_integer() and abs(number) < 1e15:
            return sp.Integer(int(number))
    return expression


def refusal(who: str, where: Where, *said: object) -> InputError:
    """What is said of an argument of a part, under the names of both."""
    return InputError(f"{who}: ", *((where[-1], ": ") if where else ()), *said, where=where)


def add(a: Vector, b: Vector) -> Vector:
    """a + b."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def subtract(a: Vector, b: Vector) -> Vector:
    """a − b."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def scale(k: Any, a: Vector) -> Vector:
    """k a."""
    return tuple(k * x for x in a)


def inner(a: Vector, b: Vector) -> Any:
    """a · b. Zeros are left out first: SymPy takes its time to find that 0·(…) is 0."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if not (is_zero(x) or is_zero(y))]
    if any(isinstance(x, sp.Number) for pair in pairs for x in pair):
        known = [plain(x) for pair in pairs for x in pair]
        total = sum_of([x * y for x, y in zip(known[::2], known[1::2], strict=True)]) if None not in known else None
        if total is not None:
            return total
    return sum(x * y for x, y in pairs)


def sum_of(terms: Sequence[Any]) -> Any:
    """A sum of Python's numbers as one of SymPy's; None where SymPy may round otherwise, or has an integer for zero."""
    sums = list(accumulate(terms))
    if all(type(total) is int or TINY < abs(total) < HUGE for total in sums):
        return sp.Integer(sums[-1]) if type(sums[-1]) is int else sp.Float(sums[-1])
    return None


def plain(x: Any) -> Any:
    """A number of SymPy's as one of Python's, if it computes the same to the last bit; else None.

    SymPy rounds products and sums of its own doubles as the processor does, in a hundred times the time.
    """
    if type(x) is float or (type(x) is int and abs(x) < EXACT):
        return x
    if isinstance(x, sp.Float):
        return float(x) or None if x._prec == DOUBLE else None  # its zero times something is an integer
    return int(x) if isinstance(x, sp.Integer) and abs(x.p) < EXACT else None


def is_zero(x: Any) -> bool:
    """Whether an entry is the number zero."""
    return x is sp.S.Zero or (isinstance(x, int | float) and x == 0)


def cross(a: Vector, b: Vector) -> Vector:
    """a × b in space; zeros are left out first."""

    def minor(i: int, j: int) -> Any:
        return inner((a[i],), (b[j],)) - inner((a[j],), (b[i],))

    return minor(1, 2), minor(2, 0), minor(0, 1)


def apply(turn: Turn, a: Vector) -> Vector:
    """A vector in body axes, brought to world axes."""
    return tuple(inner(row, a) for row in turn)


def unapply(turn: Turn, a: Vector) -> Vector:
    """A vector in world axes, brought to body axes."""
    return tuple(inner(column, a) for column in zip(*turn, strict=True))


def tidy(a: Vector, *beside: Vector) -> Vector:
    """What rounding left of zeros and whole numbers, mended: a corner at 6e-17 is meant to be at 0.

    `beside` are the vectors that it was computed from: rounding is a share of the largest number there.

    >>> tidy((0.1 + 0.2 - 0.3, 1), (0.3, 1)), tidy((1e-20, 0))
    ((0, 1), (1e-20, 0))
    """
    limit = NEAR_ZERO * max((abs(float(x)) for v in (a, *beside) for x in v if is_number(x)), default=0.0)

    def mended(x: Any) -> Any:
        if not is_number(x):
            return x
        near = round(float(x))
        return sp.Integer(near) if abs(float(x) - near) <= limit else x

    return tuple(map(mended, a))


def is_number(x: Any) -> bool:
    """Whether this has no symbols."""
    return not getattr(x, "free_symbols", None)


def unit(who: str, given: Any, sizes: Sequence[int] = (2, 3), where: Where = ()) -> Vector:
    """A direction in numbers, of length 1."""
    values = numeric(who, given, sizes, where)
    norm = math.hypot(*values)
    if norm == 0:
        raise refusal(who, where, f"{tuple(given)} has no direction: give a vector that is not zero")
    return vector(who, tidy(tuple(x / norm for x in values)), sizes, where)


def numeric(who: str, given: Any, sizes: Sequence[int] = (2, 3), where: Where = ()) -> tuple[float, ...]:
    """A vector in finite numbers."""
    if type(given) in (tuple, list, np.ndarray) and length(given) in sizes and all(map(is_plain, given)):
        return tuple(map(float, given))
    values = vector(who, given, sizes, where)
    for value in values:
        if not is_number(value):
            raise refusal(who, where, value, " is not a number; only numbers serve here")
    return tuple(float(x) for x in values)


def is_plain(x: Any) -> bool:
    """Whether this is a finite number of Python's or NumPy's with a fraction, or a whole one that a double holds."""
    return (isinstance(x, float) and math.isfinite(x)) or (type(x) is int and abs(x) < 2**DOUBLE)


def perpendiculars(axis: Vector) -> tuple[Vector, Vector]:
    """Two directions that make a right-handed frame with an axis: (first, second, axis).

    >>> perpendiculars((0, 0, 1))
    ((1, 0, 0), (0, 1, 0))
    """
    a = np.array([float(x) for x in axis])
    trial = np.zeros(3)
    trial[int(np.argmin(np.abs(a) + 1e-9 * np.array([0, 1, 2])))] = 1.0  # ties go to x, then y
    first = trial - a * (a @ trial)
    first /= np.linalg.norm(first)
    return tidy(tuple(first)), tidy(tuple(np.cross(a, first)))


def quaternion_turn(u: Vector) -> Turn:
    """The turn of a unit quaternion."""
    w, x, y, z = u
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def body_rates(u: Vector) -> Turn:
    """E(u), for which the angular velocity in body axes is 2 E(u) u̇."""
    w, x, y, z = u
    return ((-x, w, z, -y), (-y, -z, w, x), (-z, y, -x, w))


def world_rates(u: Vector) -> Turn:
    """G(u), for which the angular velocity in world axes is 2 G(u) u̇."""
    w, x, y, z = u
    return ((-x, w, -z, y), (-y, z, w, -x), (-z, -y, x, w))


def axis_turn(axis: Vector, angle: Any) -> Turn:
    """The turn by an angle about a unit axis (Rodrigues)."""
    c, s = sp.cos(angle), sp.sin(angle)
    x, y, z = axis
    k = 1 - c
    return (
        (c + k * x * x, k * x * y - s * z, k * x * z + s * y),
        (k * x * y + s * z, c + k * y * y, k * y * z - s * x),
        (k * x * z - s * y, k * y * z + s * x, c + k * z * z),
    )


def plane_turn(angle: Any) -> Turn:
    """The turn by an angle in the plane."""
    c, s = sp.cos(angle), sp.sin(angle)
    return ((c, -s), (s, c))
