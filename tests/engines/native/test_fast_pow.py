"""Powers for step sizes: ten digits, and the same bits for one number and for lanes."""

import numpy as np
import pytest

from zwang.compile.lanes import LANES
from zwang.compile.restricted import Array, native, native_library
from zwang.compile.restricted.memory import at
from zwang.engines.native.fast_pow import power
from zwang.engines.native.lanes.step import rows


@native
def one_by_one(given: Array, out: Array, count: int, exponent: float) -> int:
    for i in range(count):
        out[i] = power(given[i], exponent)
    return 0


@native
def in_lanes(given: int, out: int, count: int, exponent: float) -> int:
    x, y = rows(given), rows(out)
    for i in range(count):
        y[i] = power(x[i], exponent)
    return int(at(out)[0] * 0.0)


def aligned(count):
    block = np.zeros(count + LANES)
    return block[-block.ctypes.data // 8 % LANES :][:count]


@pytest.mark.parametrize("exponent", [-0.14, 0.02, -1 / 8, 0.0, 1.0])
def test_ten_digits_and_the_same_bits(exponent):
    x, one, wide = aligned(1600), aligned(1600), aligned(1600)
    x[:] = np.random.default_rng(0).permutation(np.geomspace(1e-200, 1e200, 1600))
    x[:4] = 1.0, 1e-4, np.sqrt(0.5), np.sqrt(2)
    native_library(one_by_one)(x.ctypes.data, one.ctypes.data, 1600, exponent)
    native_library(in_lanes)(x.ctypes.data, wide.ctypes.data, 1600 // LANES, exponent)
    np.testing.assert_array_equal(one, wide)
    np.testing.assert_allclose(one, x**exponent, rtol=1e-9)
    moderate = (x > 1e-10) & (x < 1e10)
    np.testing.assert_allclose(one[moderate], x[moderate] ** exponent, rtol=2e-10)
