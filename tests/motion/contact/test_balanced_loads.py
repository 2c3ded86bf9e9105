"""Loads that are balanced at the start: contact is the same wherever the origin is, in any frame and in any units.

A body that nothing accelerates, on a floor, is then lifted along the normal by a force f(t/T): its gap is the integral
of (1 − s) f(s) since it has left, in units of the force, as closed forms say.
"""

import itertools

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot

x, y = zw.coordinates("x y")
s = sp.Symbol("s")

LIFTS = {
    "rising": (s, 1 / 6),
    "rising slowly": (s**3, 1 / 20),
    "pressing first": (2 * s**2 - s, 1 / 32),  # from s = 1/2 on
    "late": (sp.Max(0, s - sp.Rational(1, 2)), 1 / 48),
    "for a while": (sp.Max(0, s - sp.Rational(1, 2)) * sp.Max(0, sp.Rational(9, 10) - s), 0.0032),
    "pressing": (-s, 0.0),
    "nothing": (0 * s, 0.0),
}
PLACES = list(itertools.product((0, 1, -300), (0, 50)))
FRAMES = [0, 0.7, np.pi / 2]
UNITS = [(1, 1, 1), (1e-6, 1e-9, 1e-3), (1e6, 1e3, 1e5)]


def lifted(lift, place, turned, units, friction=0.0, weight=9.81):
    """The body, its start, how long it moves, and its gap in units of length at positions q."""
    (height, along), (length, mass, time) = place, units
    c, n = float(np.cos(turned)), float(np.sin(turned))
    force = mass * length / time**2
    gap = -n * x + c * y - height * length
    law = {"friction": friction, "slip": c * dot(x) + n * dot(y)} if friction else {}
    load = force * (weight + lift.subs(s, zw.t / time))
    body = zw.System(
        (x, y), kinetic=mass * (dot(x) ** 2 + dot(y) ** 2) / 2, potential=force * weight * (-n * x + c * y),
        forces={x: -n * load, y: c * load}, constraints=[zw.Constraint(gap >= 0, "floor", restitution=0, **law)],
    )  # fmt: skip
    start = {x: length * (c * along - n * height), y: length * (n * along + c * height), dot(x): 0, dot(y): 0}
    return body, start, time, lambda q: (-n * q[0] + c * q[1]) / length - height


@pytest.mark.parametrize("name", LIFTS)
@pytest.mark.parametrize("turned", FRAMES)
def test_a_balanced_body_is_lifted_wherever_the_origin_is(name, turned):
    lift, rises = LIFTS[name]
    for k, place in enumerate(PLACES):
        body, start, until, gap = lifted(lift, place, turned, UNITS[k % len(UNITS)], weight=(9.81, 0)[k % 2])
        motion = zw.simulate(body, start, until=until, samples=2)
        assert motion.attrs["status"] == "finished"
        assert gap(motion.q.values[-1]) == pytest.approx(rises, abs=1e-11 * (1 + abs(place[0]) + place[1]))


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("name", LIFTS)
def test_a_stepper_lifts_a_balanced_body_in_pieces_of_any_length(name, friction, units):
    lift, rises = LIFTS[name]
    for pieces, place, turned in ((1, (0, 0), 0), (4, (0, 50), 0.7), (30, (1, 0), 0)):
        body, start, until, gap = lifted(lift, place, turned, units, friction)
        stepper = zw.Stepper(body, start, tol=1e-12)
        for k in range(pieces):
            _, q, _ = stepper.advance(until * ((k + 1) / pieces) - stepper.t)
        assert gap(q) == pytest.approx(rises, abs=1e-11 * (1 + abs(place[0]) + place[1]))


def test_a_puck_without_weight_that_slides_is_lifted_where_a_force_begins():
    # y'' = x³ on its way with speed 1: y = t⁵/20
    for height in (0, 1):
        floor = zw.Constraint(y - height >= 0, "floor", restitution=0)
        kinetic = (dot(x) ** 2 + dot(y) ** 2) / 2
        puck = zw.System((x, y), kinetic=kinetic, forces={y: x**3}, constraints=[floor])
        motion = zw.simulate(puck, {x: 0, y: height, dot(x): 1, dot(y): 0}, until=1.0, samples=2)
        assert motion.q.values[-1] == pytest.approx([1, height + 1 / 20], abs=1e-12)


def test_a_guide_that_moves_lifts_what_hangs_on_it():
    # a carriage on a driven guide x = t²/2 draws a body up by a spring: y'' = x = t²/2, y = t⁴/24
    drive = zw.Constraint(sp.Eq(x - zw.t**2 / 2, 0), "drive")
    floor = zw.Constraint(y >= 0, "floor", restitution=0)
    kinetic = (dot(x) ** 2 + dot(y) ** 2) / 2
    system = zw.System((x, y), kinetic=kinetic, forces={y: x}, constraints=[drive, floor])
    motion = zw.simulate(system, {x: 0, y: 0, dot(x): 0, dot(y): 0}, until=1.0, samples=2)
    assert motion.q.values[-1] == pytest.approx([1 / 2, 1 / 24], abs=1e-11)
