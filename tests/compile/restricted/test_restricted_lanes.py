"""Native functions that reckon with several lanes: each lane gets what Python would compute for it alone."""

import math

import numpy as np
import pytest
from llvmlite import ir

from zwang.compile.lanes import LANES
from zwang.compile.restricted import (
    Array,
    Entry,
    Lanes,
    Mask,
    Number,
    Numbers,
    Record,
    Rows,
    Truth,
    intrinsic,
    native,
    native_library,
)  # fmt: skip
from zwang.compile.restricted.module import FLOAT, INT
from zwang.compile.restricted.statements import module_text

X = np.array([-2.0, -0.5, 0.0, 0.25, 1.0, 3.0, np.inf, np.nan])


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(tmp_path / "kept"))


@intrinsic
def rows(builder, array):
    return builder.bitcast(array, ir.VectorType(FLOAT, LANES).as_pointer())


@intrinsic
def as_numbers(builder, mask):
    return builder.uitofp(mask, ir.VectorType(FLOAT, LANES))


@intrinsic
def nothing(builder):
    return INT(0)


@native
def scaled(x: Lanes, factor: float) -> tuple[Lanes, Mask]:
    return x * factor, x > factor


@native
def last(a: Rows, n: int) -> Lanes:
    return a[n - 1]


@native
def reckon(given: Array, out: Array) -> int:
    x, y = rows(given), rows(out)
    v = x[0]
    y[0] = (v + 1) * 2.0 - 3 / (v - 4.0)
    y[1] = -abs(v)
    y[2] = math.sqrt(v * v)
    product, above = scaled(v, 0.5)
    y[3] = product
    y[4] = as_numbers(above & (v < 2) | ~(v == v))
    y[5] = 7
    y[5] += v
    total = v * 0.0
    for _i in range(3):
        total += v
    y[6] = total
    y[7] = as_numbers(v != v)
    y[8] = last(x, 1)
    return nothing()


def aligned(rows):
    block = np.zeros((rows + 1) * LANES)
    return block[-block.ctypes.data // 8 % LANES :][: rows * LANES].reshape(rows, LANES)


def test_arithmetic_comparisons_and_calls():
    given, out = aligned(1), aligned(9)
    given[0] = X
    native_library(reckon)(given.ctypes.data, out.ctypes.data)
    with np.errstate(invalid="ignore"):
        expected = [
            (X + 1) * 2 - 3 / (X - 4),
            -abs(X),
            abs(X),
            X * 0.5,
            ((X > 0.5) & (X < 2)) | np.isnan(X),
            X + 7,
            X * 0.0 + X + X + X,
            np.isnan(X),
            X,
        ]
    np.testing.assert_array_equal(out, np.array(expected, dtype=float))


@native
def lane_as_truth(x: Lanes) -> int:
    if x > 1.0:
        return 1
    return 0


@native
def powers(x: Lanes) -> Lanes:
    return x**2.0


@native
def mask_and_number(x: Lanes) -> Mask:
    return (x > 1.0) & True


@pytest.mark.parametrize("function", [lane_as_truth, powers, mask_and_number])
def test_what_has_no_meaning_for_lanes_is_refused(function):
    with pytest.raises(SyntaxError, match=function.function.__name__):
        module_text(function)


# One source for a number and for lanes


class Short(Record):
    layout = np.dtype([("size", "f8")])


class Long(Record):
    layout = np.dtype([("padding", "f8"), ("size", "f8")])


@native
def above(record: Record, x: Number) -> tuple[Number, Truth]:
    return x * record.size, x > record.size


@native
def of_both_kinds(short: Short, long: Long, given: Array, out: Array) -> int:
    x, y = rows(given), rows(out)
    y[0], mask = above(long, x[0])
    y[1] = as_numbers(mask)
    out[16], holds = above(short, given[3])
    return 1 if holds else 0


def test_a_function_of_any_record_and_number_is_compiled_for_each_that_it_is_called_with():
    short, long = np.array([(0.125,)], Short.layout), np.array([(9.0, 0.5)], Long.layout)
    block = np.zeros(5 * LANES)
    x, out = (block[-block.ctypes.data // 8 % LANES :][a * LANES :][: b * LANES] for a, b in ((0, 1), (1, 3)))
    x[:] = X
    places = (array.ctypes.data for array in (short, long, x, out))
    assert native_library(of_both_kinds)(*places) == 1
    np.testing.assert_array_equal(out[:LANES], X * 0.5)
    np.testing.assert_array_equal(out[LANES : 2 * LANES], X > 0.5)
    assert out[16] == 0.25 * 0.125


@native
def beyond(values: Numbers, limit: Number) -> Truth:
    return ~(values[1] <= limit)


@native
def first_of(values: Numbers) -> Entry:
    return values[0]


@native
def of_both_arrays(given: Array, out: Array) -> int:
    x, y = rows(given), rows(out)
    y[0] = as_numbers(beyond(x, x[0]))
    y[1] = first_of(x)
    out[16] = first_of(given)
    return 1 if beyond(given, given[0]) else 0


def test_a_function_of_numbers_in_a_row_is_compiled_for_doubles_and_for_lanes():
    block = np.zeros(6 * LANES)
    x, out = (block[-block.ctypes.data // 8 % LANES :][a * LANES :][: b * LANES] for a, b in ((0, 2), (2, 3)))
    x[:LANES], x[LANES:] = X, X[::-1]
    assert native_library(of_both_arrays)(x.ctypes.data, out.ctypes.data) == int(not X[1] <= X[0])
    np.testing.assert_array_equal(out[:LANES], ~(X[::-1] <= X))
    np.testing.assert_array_equal(out[LANES : 2 * LANES], X)
    assert out[16] == X[0]


class InLanes(Record):
    layout = np.dtype([("a", "f8", LANES), ("b", "f8", LANES), ("n", "i8"), ("padding", "i8", LANES - 1)])


class Askew(Record):
    layout = np.dtype([("n", "i8"), ("a", "f8", LANES)])


@native
def remember(record: InLanes) -> int:
    record.b = record.a * 2.0 + record.n
    record.b[1] = record.a[2]
    return record.n


@native
def misplaced(record: Askew) -> int:
    return record.n


def test_a_record_remembers_a_number_for_each_lane():
    block = np.zeros(InLanes.layout.itemsize // 8 + LANES)
    record = block[-block.ctypes.data // 8 % LANES :][: InLanes.layout.itemsize // 8].view(InLanes.layout)
    record["a"], record["n"] = X, 3
    assert native_library(remember)(record.ctypes.data) == 3
    expected = 2 * X + 3
    expected[1] = X[2]
    np.testing.assert_array_equal(record["b"][0], expected)


def test_numbers_in_lanes_that_do_not_lie_as_vectors_do_are_refused():
    with pytest.raises(TypeError, match=r"Askew: .* multiples of their size"):
        module_text(misplaced)
