"""Pivots along a step: what is not a number is lower than all, and how deep a dip has to be."""

import math

import numpy as np
import pytest

from tests.engines.native.records import array, record
from zwang.compile.restricted import native, native_library
from zwang.engines.native.pivots import COMPARED, DEEP, DIP, dips, survey
from zwang.engines.native.record import RunRecord
from zwang.engines.native.runs import Kernels
from zwang.engines.native.step import END, NODES

TIMES = NODES[:13]


@native
def shape_of(run: RunRecord) -> int:
    return survey(run, END)


@native
def dipping(run: RunRecord) -> int:
    return 1 if dips(run) else 0


def step(*pivots, scale=None):
    """A step with these pivots, each given at its thirteen stages."""
    runs = record(Kernels(0, 1, pivots=len(pivots)), pivot_scale=scale or 1.0)
    array(runs, "k")[:13, 1 : 1 + len(pivots)] = np.transpose(pivots)
    runs.records["lowest"] = math.inf
    return runs


@pytest.mark.parametrize("stage", [1, 7, 12])
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_pivot_that_is_not_a_finite_number_is_lower_than_all(stage, which, bad):
    pivots = np.full((2, 13), 0.5)
    pivots[which, stage] = bad
    runs = step(*pivots)
    native_library(shape_of)(runs.records.ctypes.data)
    assert runs.records["lowest"][0] == -math.inf


def test_the_lowest_pivot_is_told_in_units_of_its_scale():
    falling = 1.0 - 0.5 * TIMES
    runs = step(8.0 * falling, -2.0 * falling**2, scale=[8.0, -2.0])
    assert native_library(shape_of)(runs.records.ctypes.data) == 1  # the second falls to a quarter
    assert runs.records["lowest"][0] == 0.25


@pytest.mark.parametrize(("gap", "share"), [(1, 0.5), (1, 0.46), (3, 0.5), (3, 0.54)])
@pytest.mark.parametrize("scale", [1.0, 1e-6, -300.0])
def test_a_parabola_between_stages_dips_if_its_vertex_is_deep_below_those_beside_it(gap, share, scale):
    left, right = NODES[COMPARED[gap]], NODES[COMPARED[gap + 1]]
    vertex, beside = left + share * (right - left), (min(share, 1 - share) * (right - left)) ** 2
    deepest = beside * DEEP / (1 - DEEP)  # least = DEEP (least + beside)
    for least, expected in ((0.97 * deepest, True), (1.03 * deepest, False)):
        pivots = (TIMES - vertex) ** 2 + least
        assert beside + least > DIP * min(pivots[0], pivots[12])  # the stages themselves are not low
        runs = step(scale * pivots, scale=[scale])
        assert bool(native_library(dipping)(runs.records.ctypes.data)) is expected
