"""Sensitivities with friction in space: limits of difference quotients through slips, stops, onsets and impacts."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw

dot = zw.dot
x, y, z = zw.coordinates("x y z")
B = x, y, z, *zw.coordinates("a b c")
a, b, c = B[3:]
g, mu, e, w, k = zw.parameters("g mu e w k")
T = (dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2
R = sp.Rational(1, 2)
PULL = {x: zw.t * sp.cos(k * zw.t), y: zw.t * sp.sin(k * zw.t)}


def block(friction, potential, forces=None):
    plane = zw.Constraint(z >= 0, "plane", friction=friction, slip=(dot(x), dot(y)))
    return zw.System((x, y, z), kinetic=T, potential=potential, forces=forces, constraints=[plane])


def ball(restitution=0, turn=0):
    """On a table that turns about its middle."""
    slips = dot(x) - R * dot(b) + turn * y, dot(y) + R * dot(a) - turn * x
    table = zw.Constraint(z - R >= 0, "table", friction=mu, restitution=restitution, slip=slips)
    kinetic = T + (dot(a) ** 2 + dot(b) ** 2 + dot(c) ** 2) / 20
    return zw.System(B, kinetic=kinetic, potential=g * z, constraints=[table])


def at(*numbers):
    return dict(zip((x, y, z, dot(x), dot(y), dot(z)), numbers, strict=True))


def ball_at(velocity, spin=(1, 2, 3), height=0.5):
    return dict(zip((*B, *map(dot, B)), (0, 0, height, 0, 0, 0, *velocity, *spin), strict=True))


INCLINE = block(mu, g * (sp.cos(w) * z - sp.sin(w) * x))
TILTED = {g: 9.81, mu: 0.3, w: 0.17}
CASES = {
    "slides and turns": (INCLINE, at(0, 0, 0, 0.3, 2, 0), 0.5, [x, dot(x), dot(y), mu, g, w], TILTED, []),
    "stops": (INCLINE, at(0, 0, 0, 0.3, 2, 0), 1.5, [x, dot(x), dot(y), mu, g, w], TILTED, ["stick"]),
    "breaks loose": (block(mu, g * z, PULL), at(*[0] * 6), 4.0, [x, mu, g, k], {g: 9.81, mu: 0.2, k: 1 / 3}, ["slide"]),
    "breaks loose and is slowed less": (
        block((mu, 4 * mu / 5), g * z, PULL), at(*[0] * 6), 4.0, [x, mu, g, k], {g: 9.81, mu: 0.2, k: 1 / 3}, ["slide"],
    ),
    "rolls": (ball(), ball_at((2, 0, 0), (-6, -3, 5)), 1.5, [dot(x), dot(y), dot(a), mu, g], {g: 9.81, mu: 0.2},
              ["stick"]),
    "rolls on a turntable": (ball(turn=w), ball_at((1, 0, 0), (0, 0, 0)), 1.5, [x, y, dot(x), dot(a), mu, w],
                             {g: 9.81, mu: 0.3, w: 1.0}, ["stick"]),
    "bounces and slides": (ball(e), ball_at((6, 2, -3), height=0.6), 0.5, [z, dot(x), dot(z), dot(a), mu, g, e],
                           {g: 9.81, mu: 0.2, e: 0.5}, ["impact"] * 2),
    "bounces and grips": (ball(e), ball_at((0.6, 0.2, -1), height=0.8), 0.4, [z, dot(x), dot(z), dot(a), e],
                          {g: 9.81, mu: 0.6, e: 0.5}, ["impact"]),
    "falls, slides and rolls": (ball(), ball_at((3, 1, -1), height=1.0), 1.5, [z, dot(x), dot(b), mu, g],
                                {g: 9.81, mu: 0.2}, ["impact", "stick"]),
}  # fmt: skip


def quotient(system, start, until, by, parameters, step=1e-5):
    ends = []
    for sense in (1, -1):
        moved, given = ({s: float(n) + sense * step * (s == by) for s, n in d.items()} for d in (start, parameters))
        ends.append(zw.simulate(system, moved, until, samples=5, parameters=given, tol=1e-14))
    return [(ends[0][name].values - ends[1][name].values) / (2 * step) for name in "qv"]


@pytest.mark.parametrize("name", CASES)
def test_they_are_limits_of_difference_quotients(name):
    system, start, until, inputs, parameters, kinds = CASES[name]
    motion = zw.sensitivities(system, start, until, inputs, samples=5, parameters=parameters)
    assert zw.simulate(system, start, until, parameters=parameters).transition_kind.values.tolist() == kinds
    for j, by in enumerate(inputs):
        dq, dv = quotient(system, start, until, by, parameters)
        assert np.abs(dq).max() > 1e-3
        assert motion.dq.values[..., j] == pytest.approx(dq, abs=1e-7)
        assert motion.dv.values[..., j] == pytest.approx(dv, abs=1e-7)


@pytest.mark.parametrize("slips", [dot(x), (dot(x), dot(y))])
def test_a_push_of_what_sticks_is_held(slips):
    # v is gone after v/μg, having moved by its square: neither changes anything at first order
    floor = zw.Constraint(z >= 0, "floor", friction=mu, slip=slips)
    puck = zw.System((x, y, z), kinetic=T, potential=g * z, constraints=[floor])
    motion = zw.sensitivities(puck, at(*[0] * 6), 1.0, [x, dot(x)], samples=3, parameters={g: 9.81, mu: 0.5})
    assert motion.dq.values[:, 0] == pytest.approx(np.array([[1.0, 0.0]] * 3), abs=1e-14)
    assert motion.dv.values == pytest.approx(0, abs=1e-14)


def test_a_belt_takes_along_what_sticks_to_it():
    belt = zw.Constraint(z >= 0, "belt", friction=mu, slip=(dot(x) - w, dot(y)))
    puck = zw.System((x, y, z), kinetic=T, potential=g * z, constraints=[belt])
    parameters = {g: 9.81, mu: 0.5, w: 0.3}
    motion = zw.sensitivities(puck, at(0, 0, 0, 0.3, 0, 0), 1.0, [w], samples=3, parameters=parameters)
    assert motion.dq.values[:, 0, 0] == pytest.approx([0, 0.5, 1], abs=1e-14)


def test_states_that_are_saved_in_the_last_moment_of_a_slip_have_theirs():
    # v₀ − μ g t along the way: ∂x/∂v₀ is t until it stops, v₀/μg then
    stops = 1 / (0.3 * 9.81)
    times = stops * (1 - np.array([1e-4, 1e-7, 3e-8, 1e-8, -1e-3]))
    parameters = {g: 9.81, mu: 0.3}
    motion = zw.sensitivities(block(mu, g * z), at(0, 0, 0, 1, 0, 0), 1, [dot(x)], times=times, parameters=parameters)
    assert motion.dq.values[:-1, 0, 0] == pytest.approx(np.minimum(times, stops), rel=1e-9)
