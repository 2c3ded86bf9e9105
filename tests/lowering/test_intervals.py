"""Bounds of expressions over stretches of time: none is wider than it must be where the extremes are known."""

import numpy as np
import pytest
import symengine as se

from zwang.lowering.intervals import bounds

STRETCHES = {  # of the sine: what it is at most and at least, by where its crests π/2 + 2kπ and troughs lie
    (0.0, 1.0): (0.0, np.sin(1.0)),
    (1.0, 2.0): (np.sin(1.0), 1.0),
    (1.0, 4.0): (np.sin(4.0), 1.0),
    (4.0, 5.0): (-1.0, np.sin(4.0)),
    (-2.0, 0.5): (-1.0, np.sin(0.5)),
    (0.0, 100.0): (-1.0, 1.0),
}


@pytest.mark.parametrize("stretch", STRETCHES)
def test_a_sine_is_bounded_by_its_extremes_or_its_ends(stretch):
    x = se.Symbol("x")
    least, greatest = bounds(se.sin(x), {x: tuple(np.array([end]) for end in stretch)}, {})
    assert (float(least[0]), float(greatest[0])) == pytest.approx(STRETCHES[stretch], rel=1e-12, abs=1e-12)
