"""The values of a parameter in a sweep: `0.5:2:100`, from the first to the last in so many steps, or one by one."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zwang.errors import InputError
from zwang.words import shortened

if TYPE_CHECKING:
    from zwang.arrays import Array

MOST_VALUES = 1_000_000  # of one parameter
MOST_SAMPLES = 100_000_000  # of a sweep
HOW = "write from:to:count, as in 0.5:2:100, or values, as in 1,2,5"


def wrong_range(given: Any) -> str:
    """What is wrong with the values of a parameter in a sweep; empty where nothing is.

    >>> wrong_range("0.5:2:0")
    '0.5:2:0 is empty: its last number says how many values there are'
    """
    try:
        range_values(given)
    except InputError as error:
        return str(error)
    return ""


def range_values(given: str | Sequence[float]) -> "Array":
    """The values of a parameter in a sweep.

    >>> range_values("1:2:3"), range_values("5, 7"), range_values([5.0, 7.0])
    (array([1. , 1.5, 2. ]), array([5., 7.]), array([5., 7.]))
    """
    import numpy as np  # the command reads tables of types before it needs numbers

    text = shortened(given, 40) if isinstance(given, str) else "the list"
    parts: Sequence[Any] = given
    if isinstance(given, str):
        parts = given.split(":" if ":" in given else ",")
        if ":" in given and len(parts) != 3:
            raise InputError(f"{text} is not a range: {HOW}")
    values = [number(part, text) for part in parts]
    if isinstance(given, str) and ":" in given:
        return equidistant(text, *values)
    if not values:
        raise InputError(f"{text} is empty: give at least one value")
    if len(values) > MOST_VALUES:
        raise InputError(f"{text} has {len(values):,} values, more than {MOST_VALUES:,}")
    if len(set(values)) < len(values):
        raise InputError(f"{text} has {next(v for v in values if values.count(v) > 1):g} twice: give each value once")
    return np.array(values)


def equidistant(text: str, first: float, last: float, count: float) -> "Array":
    """So many values from the first to the last, both included."""
    import numpy as np

    if count == 0:
        raise InputError(f"{text} is empty: its last number says how many values there are")
    if count != int(count) or not 1 <= count <= MOST_VALUES:
        raise InputError(f"{text}: {count:g} is not a whole number from 1 to {MOST_VALUES:,}, and says how many values")
    if count > 1 and first == last:
        raise InputError(f"{text} begins and ends at {first:g}: there is only one value in it")
    if count == 1 and first != last:
        raise InputError(f"{text} has two ends and one value: ask for at least 2 values, or write {first:g} alone")
    return np.linspace(first, last, int(count))


def number(part: Any, text: str) -> float:
    """A finite number of a range."""
    try:
        found = float(part)
    except (TypeError, ValueError):
        raise InputError(f"{text}: {shortened(str(part).strip(), 40)!r} is not a number; {HOW}") from None
    if not math.isfinite(found):
        raise InputError(f"{text}: {found:g} is not finite")
    return found


def grid_of(sweep: Mapping[str, str | Sequence[float]]) -> "dict[str, Array]":
    """All combinations of the values of some parameters, one entry a sample; the last parameter varies fastest.

    >>> grid_of({"L": "1:2:2", "g": [9.0, 10.0]})
    {'L': array([1., 1., 2., 2.]), 'g': array([ 9., 10.,  9., 10.])}
    """
    import numpy as np

    values = {name: range_values(given) for name, given in sweep.items()}
    samples = math.prod(map(len, values.values()))
    if samples > MOST_SAMPLES:
        sizes = " × ".join(f"{len(x):,}" for x in values.values())
        raise InputError(f"{sizes} are {samples:,} samples, more than {MOST_SAMPLES:,}: sweep in several stores")
    axes = np.meshgrid(*values.values(), indexing="ij") if values else []
    return {name: axis.ravel() for name, axis in zip(values, axes, strict=True)}
