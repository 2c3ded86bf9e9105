"""Expressions along a motion, and parameters that only a drawing or an event uses."""

import numpy as np
import pytest

import zwang as zw
from zwang import dot
from zwang.errors import InputError
from zwang.model.drawing import Drawing, Shape
from zwang.results.drawing import with_drawing
from zwang.results.evaluate_along import along

x, u = zw.coordinates("x u")
m, gate, size = zw.parameters("m gate size")
CART = zw.System(
    (x,), kinetic=m * dot(x) ** 2 / 2, forces={x: u}, parameters={m: 2.0, gate: 3.0, size: 0.5, u: 4 * zw.t}
)
START = {x: 0.0, dot(x): 1.0}


def test_coordinates_rates_parameters_inputs_and_time():
    motion = zw.simulate(CART, START, 2.0, samples=5)
    t = motion.time.values  # ẍ = 2t
    expected = np.stack([t + t**3 / 3, 1 + t**2, 2 * 4 * t, t], axis=1)
    assert np.abs(along(motion, CART, [x, dot(x), m * u, zw.t]) - expected).max() < 1e-12


def test_a_drawing_may_use_a_parameter_that_the_system_does_not_contain():
    motion = zw.simulate(CART, START, 1.0, samples=2)
    wheel = Drawing((Shape("wheel", "circle", ((x, size),), radius=size),))
    assert with_drawing(motion, wheel, CART).drawing.values[0].tolist() == [[0, 0.5], [0.5, 0]]
    assert with_drawing(motion, wheel, CART, {"size": 0.25}).drawing.values[0].tolist() == [[0, 0.25], [0.25, 0]]


def test_an_event_may_use_a_parameter_that_the_system_does_not_contain():
    reached = zw.Event(x - gate, "gate", stop=True)
    for parameters, place in ((None, 3.0), ({gate: 1.0}, 1.0), ({"gate": 2.0}, 2.0)):
        motion = zw.simulate(CART, START, 5.0, events=[reached], parameters=parameters)
        assert float(motion.event_q[0, 0]) == pytest.approx(place, abs=1e-12)


def test_what_is_declared_nowhere_is_refused_by_name():
    motion = zw.simulate(CART, START, 1.0, samples=2)
    with pytest.raises(InputError, match=r"gait is unknown along this motion"):
        along(motion, CART, [zw.parameters("gait")])


def test_what_was_asked_for_once_is_not_compiled_again(monkeypatch):
    import zwang.results.evaluate_along as module

    made, real = [], module.compile_program
    monkeypatch.setattr(module, "compile_program", lambda program: made.append(program) or real(program))
    u, k = zw.coordinates("u_again"), zw.parameters("k_again")
    system = zw.System((u,), kinetic=zw.dot(u) ** 2 / 2, potential=k * u**2 / 2, parameters={k: 4})
    motion = zw.simulate(system, {u: 1, zw.dot(u): 0}, until=1, samples=3)
    first, again = (module.along(motion, system, [u + k]) for _ in range(2))
    other = module.along(motion, system, [u + k], {k: 9})
    assert len(made) == 1
    np.testing.assert_array_equal(first, again)
    np.testing.assert_allclose(other - first, 5.0)
