"""Lyapunov exponents: of linear systems, of limit cycles, of regular and of chaotic motions."""

import numpy as np
import pytest

import zwang as zw
from tests.analysis.systems import chain, doubled
from zwang import dot
from zwang.errors import InputError

x, y = zw.coordinates("x y")
v = dot(x)


def test_of_a_linear_system_they_are_the_real_parts_of_its_eigenvalues():
    system = zw.System(
        (x, y), kinetic=(v**2 + dot(y) ** 2) / 2, potential=2 * x**2 - y**2 / 2, forces={x: -0.4 * v, y: -0.3 * dot(y)}
    )
    found = zw.lyapunov(system, {x: 1e-3, y: 0, v: 0, dot(y): 0}, until=60)
    expected = np.sort([*np.roots([1, 0.4, 4]).real, *np.roots([1, 0.3, -1]).real])[::-1]
    assert found.exponent.values == pytest.approx(expected, abs=0.02)
    assert found.history.shape == (100, 4)


def test_of_a_limit_cycle_one_vanishes_and_the_other_is_that_of_its_multiplier():
    system = zw.System((x,), kinetic=v**2 / 2, potential=x**2 / 2, forces={x: (1 - x**2) * v})
    cycle = zw.periodic(system, {x: 2, v: 0}, period=6.7, hold={v: 0})
    found = zw.lyapunov(system, {x: cycle.q.values[0, 0], v: 0}, until=20 * cycle.attrs["period"])
    expected = [0, np.log(cycle.floquet.values[1].real) / cycle.attrs["period"]]
    assert found.exponent.values == pytest.approx(expected, abs=0.01)
    assert found.attrs["structural"] == 1


def test_a_double_pendulum_is_chaotic_where_it_is_thrown_high_and_not_near_rest():
    """In Cartesian coordinates, rods twice: exponents come in pairs ±, two of them vanish in the limit."""
    system = doubled(chain(2))
    a, b, c, d = system.coordinates
    still = {dot(q): 0 for q in (a, b, c, d)}
    wild = zw.lyapunov(system, {a: 1, c: 0, b: 2, d: 0} | still, until=60)
    assert wild.attrs["structural"] == 2
    assert wild.exponent.values[0] > 0.3
    # in these units phase volume is conserved up to a bounded factor, so that the sum falls as one over the time
    assert abs(wild.exponent.values.sum()) * 60 < 10
    calm = zw.lyapunov(
        system, {a: np.sin(0.1), c: -np.cos(0.1), b: 2 * np.sin(0.1), d: -2 * np.cos(0.1)} | still, until=60
    )
    assert np.abs(calm.exponent.values).max() < 0.15
    first = zw.lyapunov(system, {a: 1, c: 0, b: 2, d: 0} | still, until=60, count=1)
    assert first.exponent.values[0] > 0.3


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("count = 3: a whole number from 1 to 2", {"count": 3}),
        ("stretches = 0: a whole number", {"stretches": 0}),
        ("when does the motion stop", {"until": None}),
    ],
)
def test_what_cannot_be_followed_is_refused(words, options):
    system = zw.System((x,), kinetic=v**2 / 2, potential=x**2)
    with pytest.raises(InputError, match=words):
        zw.lyapunov(system, {x: 1, v: 0}, **({"until": 1.0} | options))
