"""Sensitivities through impacts and changes of mode: against closed forms, and difference quotients of `simulate`."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import contact
from zwang import dot
from zwang.errors import InputError, SimulationError

x, y = zw.coordinates("x y")
g, e, mu, k = zw.parameters("g e mu k")
KINETIC = (dot(x) ** 2 + dot(y) ** 2) / 2


def ball():
    """A ball above a floor."""
    floor = zw.Constraint(y >= 0, "floor", restitution=e)
    parameters = {g: 10.0, e: 0.8}
    return zw.System((y,), kinetic=dot(y) ** 2 / 2, potential=g * y, constraints=[floor], parameters=parameters)


def on_a_plane(friction, potential, slip):
    """A particle on a rough floor."""
    floor = zw.Constraint(y >= 0, "floor", friction=friction, slip=slip)
    return zw.System((x, y), kinetic=KINETIC, potential=potential, constraints=[floor], parameters={g: 1.0, mu: 1.0})


BELT = on_a_plane((mu, mu / 2), k * x**2 / 2 + g * y, slip=dot(x) - 0.3)
INCLINE = on_a_plane(mu, g * (sp.sin(0.5) * x + sp.cos(0.5) * y), dot(x))
AT_REST = {x: 0, y: 0, dot(x): 0, dot(y): 0}
PUSHED = AT_REST | {dot(x): 2}


def test_a_bouncing_ball_in_closed_form():
    motion = zw.sensitivities(ball(), {y: 5, dot(y): 0}, 2.0, [y, dot(y), g, e], times=[0.5, 2.0])
    h, s, r, v0 = sp.symbols("h s r v0")
    # falls from h with v0, bounces once with r at its meeting time t1
    tau = sp.Symbol("tau")
    t1 = (v0 + sp.sqrt(v0**2 + 2 * s * h)) / s
    up = -r * (v0 - s * t1)
    after = up * (tau - t1) - s * (tau - t1) ** 2 / 2
    at = {h: 5, s: 10, r: sp.Rational(4, 5), v0: 0, tau: 2}
    for j, by in enumerate((h, v0, s, r)):
        assert motion.dq.values[1, 0, j] == pytest.approx(float(after.diff(by).subs(at)), abs=1e-11)
        assert motion.dv.values[1, 0, j] == pytest.approx(float(after.diff(tau).diff(by).subs(at)), abs=1e-10)
    assert motion.dq.values[0, 0].tolist() == pytest.approx([1, 0.5, -0.125, 0], abs=1e-12)


def quotient(system, start, until, direction, parameters, step=1e-6):
    """Difference quotients of positions and velocities along a direction."""
    ends = []
    for sense in (1, -1):
        moved = {key: float(value) + sense * step * direction.get(key, 0) for key, value in start.items()}
        given = {key: value + sense * step * direction.get(key, 0) for key, value in parameters.items()}
        ends.append(zw.simulate(system, moved, until, samples=5, parameters=given, tol=1e-14))
    return [(ends[0][name].values - ends[1][name].values) / (2 * step) for name in ("q", "v")]


PENDULUM, SPHERE, TETHER = contact.double_pendulum(), contact.leaving_a_sphere(), contact.tether()
CASES = {
    "pendulum": (*PENDULUM, 3.0, [*PENDULUM[1]][:2], {}, ["impact", "impact"]),
    "sphere": (*SPHERE, 1.5, [dot(x)], {}, ["lift", "impact"]),
    "tether": (*TETHER, 2.5, [dot(x), y], {}, ["impact", "lift", "impact"]),
    "belt": (BELT, AT_REST, 12.0, [dot(x), k, mu], {k: 1.0, mu: 1.0}, ["stick", "slide", "stick", "slide"]),
    "reverse": (INCLINE, PUSHED, 3.0, [x, dot(x), g, mu], {g: 5.0, mu: 0.3}, ["reverse"]),
    "stick": (INCLINE, PUSHED, 1.0, [x, dot(x), g, mu], {g: 5.0, mu: 0.7}, ["stick"]),
    "ball": (ball(), {y: 1, dot(y): 0}, 2.0, [y, e], {g: 9.81, e: 0.8}, ["impact"] * 3),
}


@pytest.mark.parametrize("name", CASES)
def test_they_are_limits_of_difference_quotients(name):
    system, start, until, inputs, parameters, kinds = CASES[name]
    directions = zw.admissible(system, start, inputs, parameters=parameters)
    motion = zw.sensitivities(system, start, until, directions, samples=5, parameters=parameters)
    assert zw.simulate(system, start, until, parameters=parameters).transition_kind.values.tolist() == kinds
    for j, direction in enumerate(directions.values()):
        dq, dv = quotient(system, start, until, direction, parameters)
        assert np.abs(dq).max() > 1e-3
        assert np.abs(motion.dq.values[..., j] - dq).max() < 1e-8
        assert np.abs(motion.dv.values[..., j] - dv).max() < 3e-8


def test_an_impact_keeps_constraints_and_closed_contacts_along_admissible_directions():
    system, start, until, inputs, *_ = CASES["pendulum"]
    motion = zw.sensitivities(system, start, until, zw.admissible(system, start, inputs), samples=9)
    q, dq = motion.q.values, motion.dq.values
    off = q[:, 0, None] * dq[:, 0] + q[:, 1, None] * dq[:, 1]  # of the first rod
    assert np.abs(off).max() < 1e-10


@pytest.mark.by_size(reason="contacts run on straight-line code, and bits are of one kind of code")
def test_contacts_that_are_never_met_change_no_derivative():
    wall = zw.Constraint(y >= -9, "wall", restitution=0.5)
    rod = zw.Constraint((x**2 + y**2 - 1) / 2, "rod")
    start = {x: 1, y: 0, dot(x): 0, dot(y): 0}
    plain, walled = (
        zw.sensitivities(zw.System((x, y), kinetic=KINETIC, potential=g * y, constraints=rules, parameters={g: 9.81}),
                         start, 3.0, [g], samples=7)
        for rules in ([rod], [rod, wall])
    )  # fmt: skip
    assert np.array_equal(plain.dq.values, walled.dq.values)


def touching():
    """A throw whose highest point is a ceiling."""
    ceiling = zw.Constraint(y <= 1, "ceiling")
    system = zw.System((x, y), kinetic=KINETIC, potential=8 * y, constraints=[ceiling])
    return system, {x: 0, y: 0, dot(x): 1, dot(y): 4}


def cornered():
    """A particle that meets two walls at once."""
    walls = [zw.Constraint(x >= 0, "left", restitution=1), zw.Constraint(y >= 0, "floor", restitution=1)]
    system = zw.System((x, y), kinetic=KINETIC, constraints=walls)
    return system, {x: 1, y: 1, dot(x): -1, dot(y): -1}


@pytest.mark.parametrize(("speed", "ends"), [(8.0, "sliding on"), (1.0, "sticking")])
def test_an_impact_with_friction_as_it_slides_or_stops(speed, ends):
    """A disc thrown on a rough floor: its slip goes on through the first impact, or ends there; by all there is."""
    spin = zw.coordinates("spin")
    rough = zw.Constraint(y >= 0, "floor", restitution=e, friction=mu, slip=dot(x) + dot(spin) / 10)
    kinetic = KINETIC + dot(spin) ** 2 / 400
    disc = zw.System((x, y, spin), kinetic=kinetic, potential=g * y, constraints=[rough])
    parameters = {g: 9.81, e: 0.5, mu: 0.3}
    start = {x: 0, y: 1, spin: 0, dot(x): speed, dot(y): 0, dot(spin): 0}
    inputs = [x, y, dot(x), dot(y), dot(spin), g, e, mu]
    motion = zw.sensitivities(disc, start, 0.7, inputs, samples=5, parameters=parameters)
    slip = zw.simulate(disc, start, 0.7, parameters=parameters).slip.values[-1, 0]
    assert (abs(slip) < 1e-9) == (ends == "sticking")
    for j, by in enumerate(inputs):
        dq, dv = quotient(disc, start, 0.7, {by: 1}, parameters)
        assert motion.dq.values[..., j] == pytest.approx(dq, abs=1e-7)
        assert motion.dv.values[..., j] == pytest.approx(dv, abs=1e-7)
    with pytest.raises(InputError, match="not known across impacts with friction by impacts='poisson': 'floor'"):
        zw.sensitivities(disc, start, 0.7, [x], parameters=parameters, impacts="poisson")


@pytest.mark.parametrize(
    ("given", "until", "inputs", "words"),
    [
        (touching(), 1.0, [y], "not known where a contact only touches: 'ceiling' at t = 0.5"),
        (contact.ball(0.5), 3.0, [contact.ball(0.5)[0].coordinates[0]], "not known across an accumulation: 'floor'"),
        (cornered(), 2.0, [x], "not known where several contacts change at one instant: 'left' at t = 1"),
        ((BELT, AT_REST), 1.0, [y], "the contact 'floor' is closed at the start, and the direction 'y' leads off it"),
        (contact.chain((1, 1, 1), 1), 1.0, [contact.chain((1, 1, 1), 1)[0].coordinates[0]], "happens at the start"),
    ],
)
def test_what_has_no_derivative_is_refused_by_name(given, until, inputs, words):
    system, start = given
    parameters = {k: 1.0} if system is BELT else {}
    with pytest.raises(InputError) as caught:
        zw.sensitivities(system, start, until, inputs, parameters=parameters)
    assert words in str(caught.value)


@pytest.mark.parametrize(("spin", "status"), [(0, "no solution"), (6, "several solutions")])
def test_what_stops_at_its_start_says_why_and_has_no_derivatives(spin, status):
    system, start = contact.painleve(2.0, -1, spin)
    with pytest.raises(SimulationError, match="'tip'") as caught:
        zw.sensitivities(system, start, 0.01, [system.coordinates[0]])
    assert caught.value.status == status
    assert caught.value.motion.sizes["time"] <= 1
