"""Impacts that graze are said: a driven oscillator turns just behind a wall, by less than the tolerance resolves.

x = A (cos Ωt − …) in its steady motion turns at A; without the wall it would be δA beyond it, which takes the speed
√(2 Ω²A δA) at the wall.
"""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot

x, y = zw.coordinates("x y")
DRIVEN = 2.8
AMPLITUDE = 1 / (DRIVEN**2 - 1)


def turning(depth, extra=0):
    """It begins on the other side, in its steady motion, and turns at the wall half a period later."""
    gap = sp.Float(AMPLITUDE) * (1 - depth) - x
    system = zw.System(
        (x,), kinetic=dot(x) ** 2 / 2, potential=x**2 / 2, forces={x: sp.cos(DRIVEN * zw.t) + extra},
        constraints=[zw.Constraint(gap >= 0, "wall", restitution=0.8)],
    )  # fmt: skip
    return system, {x: -AMPLITUDE, dot(x): 0}


@pytest.mark.parametrize(("depth", "tol"), [(1e-10, 1e-8), (1e-10, 1e-10), (1e-6, 1e-6), (1e-8, 1e-8)])
def test_an_impact_that_errors_of_the_motion_decide_on_is_said(depth, tol):
    motion = zw.simulate(*turning(depth), until=4.0, tol=tol)
    assert "'wall'" in motion.attrs["doubts"]
    assert "grazes" in motion.attrs["doubts"]


@pytest.mark.parametrize(("depth", "tol"), [(1e-10, 1e-12), (1e-6, 1e-10), (1e-3, 1e-6), (0.1, 1e-4)])
def test_an_impact_that_is_resolved_is_not_doubted(depth, tol):
    motion = zw.simulate(*turning(depth), until=1.5, tol=tol)
    first = motion.transition_time.values[0]
    speed = -float(motion.velocity_before.values[0, 0]) * -1
    assert first == pytest.approx(np.arccos(-(1 - depth)) / DRIVEN, abs=3 * np.sqrt(tol))
    assert speed == pytest.approx(DRIVEN * AMPLITUDE * np.sqrt(2 * depth - depth**2), rel=0.1)
    assert "grazes" not in motion.attrs["doubts"]


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9])
def test_bounces_that_die_out_do_not_graze(restitution):
    floor = zw.Constraint(y >= 0, "floor", restitution=restitution)
    ball = zw.System((y,), kinetic=dot(y) ** 2 / 2, potential=9.81 * y, constraints=[floor])
    motion = zw.simulate(ball, {y: 1, dot(y): 0}, until=12, tol=1e-8)
    assert motion.attrs["status"] == "finished"
    assert motion.attrs["doubts"] == ""


def test_a_start_at_a_limit_that_is_stated_does_not_graze():
    motion = zw.simulate(turning(0.0)[0], {x: AMPLITUDE, dot(x): 1e-9}, until=0.5, tol=1e-6)
    assert "grazes" not in motion.attrs["doubts"]
