"""The sketch of a step that shows where events may be: Hermite's polynomials through both ends."""

import numpy as np
import pytest

from tests.engines.native.records import array, record
from zwang.compile.restricted import native, native_library
from zwang.engines.native.event_roots import sketch
from zwang.engines.native.record import RunRecord
from zwang.engines.native.runs import Kernels


@native
def sketched(run: RunRecord, h: float, theta: float) -> int:
    sketch(run, h, theta)
    return 0


@pytest.mark.parametrize("h", [0.5, -2.0])
def test_a_sketch_is_exact_for_motions_of_the_fourth_degree(h):
    """Positions by the quintic with the values, rates and accelerations of both ends, velocities by the cubic."""
    paths = [np.polynomial.Polynomial(c) for c in ([1.0, -2.0, 0.5, 3.0, -1.5], [-0.7, 0.3, 2.0, -1.0, 0.8])]
    runs = record(Kernels(0, 2))
    for name, row, t in (("now", 0, 1.5), ("new", 12, 1.5 + h)):
        array(runs, name)[:] = [t, *(p(t) for p in paths), *(p.deriv()(t) for p in paths)]
        array(runs, "k")[row, :2] = [p.deriv(2)(t) for p in paths]
    draw = native_library(sketched)
    for theta in (0.0, 0.2, 0.5, 0.9, 1.0):
        draw(runs.records.ctypes.data, h, theta)
        t = 1.5 + theta * h
        wanted = [t, *(p(t) for p in paths), *(p.deriv()(t) for p in paths)]
        np.testing.assert_allclose(array(runs, "x"), wanted, rtol=1e-13, atol=1e-13)
