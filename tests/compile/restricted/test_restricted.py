"""Native functions: they compute what Python would, refuse what they cannot, and are kept on disk."""

import math

import numpy as np
import pytest

from zwang.compile.restricted import Array, Record, intrinsic, native, native_library
from zwang.compile.restricted.statements import module_text

PRIMES = np.array([2, 3, 5, 7])
HALVES = np.array([0.5, 1.5, 2.5, 3.5])
LIMIT = 10


class Pair(Record):
    layout = np.dtype([("count", "i8"), ("gap", "f8", 2), ("mean", "f8"), ("place", "i8")])


@intrinsic
def doubled(builder, x):
    return builder.fadd(x, x)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(tmp_path / "kept"))


def compiled(function):
    return native_library(function)


@native
def larger(a: float, b: float) -> float:
    return a if a > b else b


@native
def halves(n: int) -> tuple[int, float]:
    return n, n / 2


@native
def mixed(n: int, x: float) -> float:
    """Loops, jumps, tuples, tables and short cuts in one."""
    total, steps = 0.0, 0
    for i in range(n):
        if i == 3:
            continue
        if i > LIMIT or x != x:
            break
        total += x**i / (i + 1) - -2 * i
        steps += 1
    k, half = halves(steps) if n > 2 else (0, 1)
    while True:
        k -= 1
        if k < 0 or PRIMES[0] > 2:
            break
    for j in range(1, len(PRIMES)):
        total = larger(total, HALVES[j] * PRIMES[j] + abs(x))
    between = -1.0 < x <= 2.0
    between &= x != 0.5
    if between and n > 0:
        return doubled(total) / 2 + half
    return math.sqrt(total) + int(x)


def python_mixed(n, x):
    total, steps = 0.0, 0
    for i in range(n):
        if i == 3:
            continue
        if i > LIMIT or x != x:
            break
        total += x**i / (i + 1) + 2 * i
        steps += 1
    half = steps / 2 if n > 2 else 1
    for j in range(1, len(PRIMES)):
        total = max(total, HALVES[j] * PRIMES[j] + abs(x))
    return total + half if -1 < x <= 2 and x != 0.5 and n > 0 else math.sqrt(total) + int(x)


@native
def average(pairs: Pair, i: int, values: Array, n: int) -> float:
    pair = pairs[i]
    pair.mean = 0.0
    for k in range(n):
        pair.mean += values[k]
        values[k] = k
    pair.mean /= n
    pair.count += n
    return pair.mean


def test_it_computes_what_python_does():
    function = compiled(mixed)
    for n in (0, 1, 2, 3, 4, 9, 30):
        for x in (-3.7, -1.0, 0.0, 0.5, 1.25, 2.0, 11.5):
            assert function(n, x) == python_mixed(n, x)


def test_records_and_arrays_are_read_and_written():
    pairs, values = np.zeros(3, Pair.layout), np.array([1.0, 2.0, 6.0])
    assert compiled(average)(pairs.ctypes.data, 1, values.ctypes.data, 3) == 3.0
    assert pairs["mean"].tolist() == [0.0, 3.0, 0.0]
    assert pairs["count"].tolist() == [0, 3, 0]
    assert values.tolist() == [0.0, 1.0, 2.0]


def test_ieee_rules_without_exceptions():
    @native
    def ratio(a: float, b: float) -> float:
        return a / b if not a > b else -(a / b)

    function = compiled(ratio)
    assert function(-1.0, 0.0) == -math.inf
    assert math.isnan(function(0.0, 0.0))
    assert math.isnan(function(math.nan, 1.0))


def test_python_cannot_call_a_native_function():
    with pytest.raises(TypeError, match="larger is a native function"):
        larger(1.0, 2.0)


# ── Refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@native
def uses_with(x: float) -> float:
    with open("x"):
        return x


@native
def uses_a_list(x: float) -> float:
    y = [x]
    return y[0]


@native
def changes_type(x: float) -> int:
    k = 1
    k = x  # no int any more
    return k + 1


@native
def calls_print(x: float) -> None:
    print(x)


@native
def wants_a_field(pair: Pair) -> float:
    return pair.nothing


@native
def falls_off(x: float) -> float:
    doubled(x)


@native
def has_a_number_as_condition(x: float) -> float:
    return 1.0 if x else 2.0


@native
def has_no_types(x):
    return x


@native
def unpacks_too_much(n: int) -> float:
    a, b, c = halves(n)
    return a + b + c


@native
def divides_whole(n: int) -> int:
    return n // 2


@pytest.mark.parametrize(
    ("function", "line", "why"),
    [
        (uses_with, 1, "With is not among the statements"),
        (uses_a_list, 1, "List is not among the expressions"),
        (changes_type, 2, "float where int is needed"),
        (calls_print, 1, "not among the functions it may call"),
        (wants_a_field, 1, "there is no such field"),
        (falls_off, 1, "it may end without a return"),
        (has_a_number_as_condition, 1, "float where bool is needed"),
        (has_no_types, -1, "declared as float"),
        (unpacks_too_much, 1, "not as many values as targets"),
        (divides_whole, 1, "FloorDiv is not among the operations"),
    ],
)
def test_what_cannot_be_translated_is_named_with_its_line(function, line, why):
    with pytest.raises(SyntaxError, match=why) as caught:
        module_text(function)
    definition = function.function.__code__.co_firstlineno + 1
    assert f"test_restricted.py:{definition + line}: native function {function.function.__name__}" in str(caught.value)
