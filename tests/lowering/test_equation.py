"""The saddle-point system of the chosen rows: what its pivots say where rows are redundant."""

import numpy as np
import pytest

from tests.lowering.test_acceleration import particle, run, x, y, z
from zwang import dot
from zwang.evaluation import matrices
from zwang.lowering import acceleration, equation
from zwang.lowering.lowered import lower
from zwang.lowering.rows import DAMPING, choose

PLANE, SPHERE = x + 2 * y - z, x**2 + y**2 + z**2 - 1
ROWS = {"a": PLANE, "b": SPHERE, "c": PLANE + SPHERE, "d": 3 * PLANE, "e": PLANE - 2 * SPHERE}
HERE = {x: 0.6, y: -0.8, z: -1.0, dot(x): 0.1, dot(y): 0.2, dot(z): 0.5}


def pivots(state):
    """Those of the rows, damped as they were chosen in `HERE`, in another state."""
    system = particle(constraints=ROWS)
    now = matrices(system, HERE, 0.4, None)[0]
    lowered = lower(system, {})
    basis = choose(now, system.coordinate_names)
    assert len(basis.damping) == len(ROWS)
    assert len(basis.rows) == 2
    return run(acceleration.acceleration_program(lowered, basis), system, state)["pivots"]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_the_volume_is_the_same_however_many_pivots_are_multiplied_at_once(count, monkeypatch):
    there = HERE | {x: 0.5, z: -1.2}
    known = np.array([pivots(HERE), pivots(there)])
    monkeypatch.setattr(equation, "IN_RANGE", count)
    np.testing.assert_allclose([pivots(HERE), pivots(there)], known, rtol=1e-6)


def test_the_volume_falls_with_the_rank_and_its_reciprocal_rises():
    volume, reciprocal = pivots(HERE)[:2]
    assert volume == pytest.approx(1 / reciprocal, rel=1e-12)
    assert 0.1 < volume < 10
    touching = {x: 1 / np.sqrt(6), y: 2 / np.sqrt(6), z: -1 / np.sqrt(6), dot(x): 0, dot(y): 0, dot(z): 0}
    assert pivots(touching)[0] < 10 * DAMPING * volume  # the plane's normal is the sphere's
