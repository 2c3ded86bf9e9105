"""Steps across a singular position: what counts as their error, and how often they are planned."""

import numpy as np
import pytest
from symengine import Abs, Integer, symbols

from tests.engines.native.records import array, record
from zwang.compile import Program, compile_program
from zwang.compile.restricted import native, native_library
from zwang.engines.native.bridge import ASK, CAUTION, FURTHEST, MIDDLE, TRIES, landed, plan
from zwang.engines.native.record import RunRecord
from zwang.engines.native.runs import Kernels
from zwang.engines.native.step import NODES

t, x, y, u, w = PLANE = symbols("t x y u w")
HEIGHT, STEP = 3.0, 0.5


def kernel(*outputs):
    return compile_program(Program({"x": PLANE}, {"out": outputs}))


free_with_pivot = kernel(Integer(0), Integer(0), (t - MIDDLE * STEP) ** 2)
to_line = kernel(Integer(0), HEIGHT - y, Integer(0), -w, Abs(HEIGHT - y), Abs(w))  # y = 3, and so ẏ = 0


@native
def error_of(run: RunRecord, h: float) -> float:
    return landed(run, h)


@native
def planned(run: RunRecord, h: float) -> int:
    plan(run, 1.0, h)
    return 0


@native
def planned_ahead(run: RunRecord, sign: float, h: float) -> int:
    plan(run, sign, h)
    return 0


def crossing(across):
    """A step along a line, past an instant at which a pivot vanishes; the errors across the line are given."""
    kernels = Kernels(free_with_pivot.address, 2, pivots=1, bridge=to_line.address)
    runs = record(kernels, rtol=0.0, atol=1e-3)
    array(runs, "now")[:] = [0.0, 2.0, HEIGHT, 1.0, 0.0]
    array(runs, "new")[:] = [STEP, 2.0 + STEP, HEIGHT, 1.0, 0.0]
    array(runs, "k")[:13, 2] = STEP**2 * (NODES[:13] - MIDDLE) ** 2
    along = np.array([3e-3, 2e-3, 5e-3, 7e-3])  # of velocities by order 5 and 3, of positions by order 5 and 3
    array(runs, "sums")[:8] = np.stack([along, np.full(4, across)], axis=1).ravel()
    return native_library(error_of)(runs.records.ctypes.data, STEP), along * [STEP, STEP, STEP**2, STEP**2] / 1e-3


@pytest.mark.parametrize("across", [0.0, 1.0, -40.0])
def test_the_error_of_a_crossing_counts_along_the_constraints_only(across):
    error, along = crossing(across)
    fifth, third = (along[0] ** 2 + along[2] ** 2), (along[1] ** 2 + along[3] ** 2)
    assert error == pytest.approx(fifth / np.sqrt((fifth + 0.01 * third) * 4), rel=1e-9)  # as of any step of DOP853


@pytest.mark.parametrize(("sign", "h"), [(1.0, 0.1), (-1.0, 0.1), (1.0, 2.0)])
def test_a_crossing_is_planned_for_the_instant_at_which_a_pivot_vanishes(sign, h):
    ahead, longest = MIDDLE * STEP, 0.4
    vanishing = kernel(Integer(0), Integer(0), ((t - sign * ahead) * (1 + 0.3 * sign * t)) ** 2)  # its root is bent
    for max_step, span in ((np.inf, max(h, STEP)), (longest, longest)):
        runs = record(Kernels(vanishing.address, 2, pivots=1, bridge=to_line.address), max_step=max_step)
        array(runs, "now")[:] = array(runs, "x")[:] = [0.0, 2.0, HEIGHT + 1e-3, 1.0, 0.0]
        array(runs, "k")[0, 2] = ahead**2
        native_library(planned_ahead)(runs.records.ctypes.data, sign, h)
        assert runs.records["ahead"][0] == 1
        assert runs.records["instant"][0] == pytest.approx(sign * ahead, rel=1e-9)
        assert runs.records["span"][0] == pytest.approx(span, rel=1e-9)  # the instant in the gap between its stages
        assert array(runs, "now")[2] == HEIGHT  # from a state on the constraints


@pytest.mark.parametrize("h", [0.9 * MIDDLE * STEP / FURTHEST, 0.1])
def test_nothing_is_planned_for_a_pivot_that_vanishes_far_ahead_or_behind(h):
    behind = kernel(Integer(0), Integer(0), (t + MIDDLE * STEP) ** 2)
    pivot = free_with_pivot if h < MIDDLE * STEP / FURTHEST else behind
    runs = record(Kernels(pivot.address, 2, pivots=1, bridge=to_line.address))
    array(runs, "k")[0, 2] = (MIDDLE * STEP) ** 2
    native_library(planned_ahead)(runs.records.ctypes.data, 1.0, h)
    assert runs.records["ahead"][0] == runs.records["tries"][0] == 0


def test_crossings_are_planned_so_often_and_no_more():
    runs = record(Kernels(free_with_pivot.address, 2, pivots=1, bridge=ASK))
    array(runs, "k")[0, 2] = (MIDDLE * STEP) ** 2
    for tries in range(1, TRIES + 1):
        runs.records["caution"] = 0
        native_library(planned)(runs.records.ctypes.data, STEP)
        assert runs.records["tries"][0] == tries
        assert runs.records["caution"][0] == CAUTION + 1  # it asks for the kernel
    runs.records["caution"] = 0
    native_library(planned)(runs.records.ctypes.data, STEP)
    assert runs.records["tries"][0] == TRIES
    assert runs.records["caution"][0] == 0
