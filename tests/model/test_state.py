"""States as mappings: by symbol, by name, and by arrays of coordinates."""

import numpy as np
import pytest

import zwang as zw
from zwang.errors import InputError
from zwang.model.state import State, place_of

x = zw.coordinates("x", shape=(2, 2))
u = zw.coordinates("u")
SYSTEM = zw.System(x, kinetic=zw.family(zw.dot(u) ** 2 / 2, {u: x}))


def test_a_coordinate_and_its_rate_have_places_by_symbol_and_by_name():
    assert [place_of(SYSTEM, key) for key in (x[0, 1], "x[0,1]")] == [1, 1]
    assert [place_of(SYSTEM, key) for key in (zw.dot(x[0, 1]), "x[0,1]'", "dot(x[0,1])")] == [5, 5, 5]
    assert [place_of(SYSTEM, key) for key in ("y", "y'", u, zw.dot(u), zw.dot(zw.dot(x[0, 0])), 3)] == [None] * 6


def test_a_state_is_a_mapping_of_coordinates_and_rates():
    state = State(SYSTEM, np.arange(8.0))
    assert dict(state) == dict(zip([*SYSTEM.coordinates, *SYSTEM.velocities], range(8), strict=True))
    assert state["x[1,0]'"] == 6.0
    np.testing.assert_array_equal(state[zw.dot(x)], [[4, 5], [6, 7]])
    assert "y" not in state
    with pytest.raises(KeyError):
        state["y"]
    with pytest.raises(InputError, match="not among the coordinates"):
        state[zw.coordinates("y", shape=1)]
    assert repr(state).startswith("<State: x[0,0] = 0, x[0,1] = 1, ")


def test_a_state_starts_a_motion():
    state = State(SYSTEM, np.arange(8.0))
    motion = zw.simulate(SYSTEM, state, until=1.0, samples=2)
    np.testing.assert_allclose(motion.q.values[-1], np.arange(4) + np.arange(4, 8))
