"""A lag of first order, a coordinate without mass, whose law saturates: its row jumps where the switch does."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from zwang import dot

x, z = zw.coordinates("x z")
ASKED = -5 * x - 2 * dot(x)
LAWS = {
    "nested": (sp.Max(-1, sp.Min(1, ASKED)), lambda u: np.clip(u, -1, 1)),
    "nested the other way": (sp.Min(1, sp.Max(-1, ASKED)), lambda u: np.clip(u, -1, 1)),
    "one side": (sp.Max(-1, ASKED), lambda u: max(-1, u)),
    "below": (sp.Piecewise((-1, ASKED < -1), (ASKED, True)), lambda u: max(-1, u)),
    "at or below": (sp.Piecewise((-1, ASKED <= -1), (ASKED, True)), lambda u: max(-1, u)),
    "above": (sp.Piecewise((ASKED, ASKED > -1), (-1, True)), lambda u: max(-1, u)),
}


def by_scipy(law, begin):
    """The same motion as three equations of first order."""
    rates = lambda _, y: [y[1], y[2], 10 * (law(-5 * y[0] - 2 * y[1]) - y[2])]  # noqa: E731
    found = solve_ivp(rates, (0, 5), [begin, 0, 0], rtol=1e-11, atol=1e-13, method="DOP853", max_step=0.02)
    return found.y[[0, 2], -1]


@pytest.mark.parametrize("method", ["native", "radau", "taylor", "lsoda"])
@pytest.mark.parametrize("begin", [1.0, -1.0])
@pytest.mark.parametrize("name", LAWS)
def test_a_saturated_lag_goes_on_whichever_side_its_switch_is_read_on(name, begin, method):
    law, number = LAWS[name]
    lag = {"lag": dot(z) - 10 * (law - z)}
    system = zw.System((x, z), kinetic=dot(x) ** 2 / 2, forces={x: z}, constraints=lag)
    rate = float(10 * law.subs(dot(x), 0).subs(x, begin))
    motion = zw.simulate(system, {x: begin, z: 0.0, dot(x): 0.0, dot(z): rate}, 5.0, method=method)
    np.testing.assert_allclose(motion.q.values[-1], by_scipy(number, begin), rtol=0, atol=1e-8)
