"""Forces that are infinite at a place or a time: no step leaps over them."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.errors import SimulationError

y = zw.coordinates("y")


def steps(system, start, until, step, **more):
    """A motion by steps."""
    return zw.simulate(system, start, until, contacts="steps", step=step, **more)


POLES = {
    "well": ({"potential": -1 / (y - 1) ** 2 / 1000}, 1.0, "The force on y is infinite where y - 1 = 0"),
    "hill": ({"potential": 1e-6 / (y - 1)}, 1.0, "The force on y is infinite where y - 1 = 0"),
    "force": ({"forces": {y: -1e-3 / (2 * y - 3)}}, 1.5, "The force on y is infinite where 2*y - 3 = 0"),
    "in time": ({"forces": {y: 1 / (zw.t - 1)}}, None, "The force on y is infinite where t - 1 = 0"),
    "tangent": ({"forces": {y: sp.tan(y) / 100}}, np.pi / 2, "The force on y is infinite where cos(y) = 0"),
    "mass": ({"kinetic": dot(y) ** 2 * (1 + 1e-3 / (y - 1) ** 2)}, 1.0, "y is infinite where y - 1 = 0"),
}


@pytest.mark.parametrize("step", [0.1, 0.03])
@pytest.mark.parametrize("what", POLES)
def test_a_force_that_is_infinite_stops_the_motion(what, step):
    parts, place, words = POLES[what]
    floor = zw.Constraint(y + 1 >= 0, "floor")
    system = zw.System((y,), **{"kinetic": dot(y) ** 2 / 2} | parts, constraints=[floor])
    start = {y: 0.9, dot(y): 1}
    motion = steps(system, start, 5.0, step, throw=False)
    assert motion.attrs["status"] == "not finite"
    assert words in motion.attrs["message"]
    assert motion.sizes["time"] >= 1
    if place is not None:
        assert float(motion.q.max()) <= place + 1e-9
    else:
        assert 1 - step <= motion.time.values[-1] <= 1 + 1e-9
    with pytest.raises(SimulationError):
        steps(system, start, 5.0, step)


@pytest.mark.parametrize("law", [sp.sin(y - 1) / (y - 1), (y**2 - 1) / (y - 1), 1 / (2 + sp.sin(y)), sp.log(1 + y**2)])
def test_a_quotient_that_stays_finite_stops_nothing(law):
    system = zw.System((y,), kinetic=dot(y) ** 2 / 2, forces={y: law}, constraints=[zw.Constraint(y + 1 >= 0, "floor")])
    motion = steps(system, {y: 0.91, dot(y): 1}, 1.0, 0.013)
    assert motion.attrs["status"] == "finished"
    assert motion.q.values[-1, 0] > 1.5
