"""One source for a number and for lanes of them: the same bits, each lane by itself."""

import numpy as np

from zwang.compile.lanes import LANES
from zwang.compile.restricted import Number, native, native_library
from zwang.compile.restricted.memory import at
from zwang.engines.native.lanes.step import rows
from zwang.engines.native.numbers import alike, bits, choose, larger, of, smaller, square, two_sum

PLACES = 8
X = np.resize([-2.0, -0.5, 0.0, 0.25, 1.0, 3.0, np.inf, np.nan], LANES)  # one value in each lane
Y = np.resize([1e-17, -0.5, -0.0, 1e16, np.nan, 0.1, 2.0, 1.0], LANES)


@native
def reckon(x: Number, y: Number, out: int) -> None:
    """A bit of everything, into an array of such numbers."""
    to = of(x, out)
    to[0] = larger(x, y)
    to[1] = smaller(x, y)
    to[2] = choose(x < y, x, 7.0)
    to[3], to[4] = two_sum(x, y)
    to[5] = square(x) + alike(x, 0.5)
    to[6] = larger(x, 0.0) + smaller(1.0, y)
    to[7] = bits(x < y) * 1.0


@native
def alone(x: float, y: float, out: int) -> int:
    reckon(x, y, out)
    return int(at(out)[0] * 0.0)


@native
def in_lanes(x: int, y: int, out: int) -> int:
    reckon(rows(x)[0], rows(y)[0], out)
    return int(at(out)[0] * 0.0)


def aligned(values):
    block = np.zeros(len(values) + LANES)
    array = block[-block.ctypes.data // 8 % LANES :][: len(values)]
    array[:] = values
    return array


def test_a_lane_computes_what_a_number_alone_does():
    x, y, wide = aligned(X), aligned(Y), aligned(np.zeros(PLACES * LANES))
    native_library(in_lanes)(x.ctypes.data, y.ctypes.data, wide.ctypes.data)
    for lane in range(LANES):
        one = aligned(np.zeros(PLACES))
        native_library(alone)(X[lane], Y[lane], one.ctypes.data)
        np.testing.assert_array_equal(one[:-1], wide.reshape(PLACES, LANES)[:-1, lane])
        assert bool(one[-1]) == bool(int(wide[-1]) >> lane & 1)


def test_a_comparison_with_what_is_not_a_number_gives_the_second():
    one = aligned(np.zeros(PLACES))
    native_library(alone)(np.nan, 2.0, one.ctypes.data)
    assert one[:3].tolist() == [2.0, 2.0, 7.0]


def test_a_sum_and_what_it_lost_are_the_whole():
    one = aligned(np.zeros(PLACES))
    native_library(alone)(1.0, 2.0**-60, one.ctypes.data)
    assert one[3:5].tolist() == [1.0, 2.0**-60]
