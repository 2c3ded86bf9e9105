"""Ctrl-C leaves a Stepper where it was: what follows is what would have been without it."""

import _thread
import threading

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot

x, y, F = zw.coordinates("x y F")
LONG = 1e7  # seconds of motion: they take far longer than the test has patience


def oscillator():
    """A driven oscillator."""
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=50 * x**2, forces={x: F}, parameters={F: None})
    return system, {x: 1, dot(x): 0}


def bouncing():
    """The same on a table that shakes, so that it never comes to rest."""
    table = zw.Constraint(y - sp.sin(zw.t) / 10 >= 0, "table", restitution=0.9)
    system = zw.System(
        (y,), kinetic=dot(y) ** 2 / 2, potential=10 * y, forces={y: F}, constraints=[table], parameters={F: None}
    )
    return system, {y: 1, dot(y): 0}


@pytest.mark.parametrize("scene", [oscillator, bouncing])
@pytest.mark.parametrize("interpolate", [False, True])
def test_an_interrupt_leaves_a_stepper_where_it_was(scene, interpolate):
    system, start = scene()
    calm, disturbed = (zw.Stepper(system, start, inputs=[F]) for _ in range(2))
    for stepper in (calm, disturbed):
        stepper.advance(0.3, 0.2)
    t, q, v = disturbed.t, disturbed.q, disturbed.v
    alarm = threading.Timer(0.2, _thread.interrupt_main)
    alarm.start()
    with pytest.raises(KeyboardInterrupt):
        disturbed.advance(LONG, 0.7, interpolate=interpolate)
    alarm.join()
    assert (disturbed.t, *disturbed.q, *disturbed.v) == (t, *q, *v)
    after, without = (s.advance(0.3, 1.0, interpolate=True) for s in (disturbed, calm))
    assert after[0] == without[0]
    assert np.concatenate(after[1:]) == pytest.approx(np.concatenate(without[1:]), abs=1e-8)
