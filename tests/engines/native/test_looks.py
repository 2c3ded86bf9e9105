"""Zeros of events in a step, by the ITP method: as fast as the secant method, at worst bisection."""

import ctypes
import math

import numpy as np
import pytest

from tests.engines.native.records import array, record
from zwang.compile.restricted import native, native_library
from zwang.compile.restricted.memory import at as array_at
from zwang.engines.native.looks import root
from zwang.engines.native.record import RunRecord
from zwang.engines.native.runs import Kernels
from zwang.engines.native.search import kink

Numbers = ctypes.POINTER(ctypes.c_double)


@native
def root_of_first(run: RunRecord, a: float, fa: float, b: float, fb: float) -> float:
    return root(run, 1.0, 0, a, fa, b, fb)


def found(function):
    """The zero of a function of θ in (0, 1), and at how many places it was looked at."""
    looks = []

    @ctypes.CFUNCTYPE(None, Numbers, Numbers, Numbers)
    def kernel(out, state, work):
        looks.append(state[1])
        out[0] = function(state[1])

    runs = record(Kernels(0, 1, event=ctypes.cast(kernel, ctypes.c_void_p).value, events=1))
    piece = np.array([[0.0, 0.0], [1.0, 0.0]])  # q = 0 + θ · 1
    runs.records["degree"], runs.records["piece"] = 1, piece.ctypes.data
    zero = native_library(root_of_first)(runs.records.ctypes.data, 0.0, function(0.0), 1.0, function(1.0))
    assert not array(runs, "now").any()
    return zero, len(looks)


@native
def kink_before(run: RunRecord, a: float, first: float, at: int) -> int:
    place, touches = kink(run, 1.0, 0, a, first)
    array_at(at)[0], array_at(at)[1] = place, touches
    return 0


@pytest.mark.parametrize("turn", [0.4999, 0.49, 0.42])
@pytest.mark.parametrize(("least", "way"), [(0.0, 0.0), (1e-3, 1.0)])
def test_a_kink_before_a_place_is_found_where_it_is_lowest(turn, least, way):
    @ctypes.CFUNCTYPE(None, Numbers, Numbers, Numbers)
    def kernel(out, state, work):
        out[0] = abs(state[1] - turn) + least

    runs = record(Kernels(0, 1, event=ctypes.cast(kernel, ctypes.c_void_p).value, events=1))
    piece, answer = np.array([[0.0, 0.0], [1.0, 0.0]]), np.zeros(2)
    runs.records["degree"], runs.records["piece"], runs.records["behind"] = 1, piece.ctypes.data, 0.1
    native_library(kink_before)(runs.records.ctypes.data, 0.5, 0.5 - turn + least, answer.ctypes.data)
    assert answer[0] == pytest.approx(turn, abs=1e-12)
    assert answer[1] == way


SMOOTH = {
    "a parabola": (lambda x: x * x - 0.3, math.sqrt(0.3)),
    "falling": (lambda x: 0.3 - x**3, 0.3 ** (1 / 3)),
    "an exponential": (lambda x: math.exp(3 * x) - 2, math.log(2) / 3),
    "near the end": (lambda x: math.expm1(2 * (x - 0.98)), 0.98),
    "near the beginning": (lambda x: math.atan(20 * (x - 0.01)), 0.01),
}


BISECTION = 55  # looks, as many as θ has bits, with the last one in doubt


def test_zeros_of_smooth_functions_take_less_than_half_the_looks_of_bisection():
    looks = []
    for function, known in SMOOTH.values():
        zero, count = found(function)
        assert zero == pytest.approx(known, rel=4e-16, abs=0)
        looks.append(count)
    assert sum(looks) < 0.5 * BISECTION * len(SMOOTH), looks


@pytest.mark.parametrize("known", [0.003, 0.25, 0.7, 0.999])
def test_a_zero_of_any_other_takes_hardly_more_than_bisection(known):
    for function in (lambda x: math.copysign(1.0, x - known), lambda x: (x - known) ** 9):
        zero, looks = found(function)
        assert zero == pytest.approx(known, rel=4e-16, abs=0)
        assert looks <= BISECTION - math.log2(known), looks
