"""Parameters that occur only in an event or in its reset: derivatives by them, ensembles over them."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.errors import InputError
from zwang.files.read import read_model

x, y = zw.coordinates("x y")
v = dot(x)
c, e, f = zw.parameters("c e f")
HIT = zw.Event(x - c, "hit", direction=-1, reset={v: -e * v})
FALLING = zw.System((x,), kinetic=v**2 / 2, forces={x: -1}, parameters={c: 0.3, e: 0.5, f: 7.0})
FROM_REST = {x: 1, v: 0}


def after_the_hit(c=0.3, e=0.5):
    """x(2) = c + e t₁ d − d²/2 with t₁ = √(2(1 − c)) and d = 2 − t₁, and its derivatives by c and e, by hand."""
    first = np.sqrt(2 * (1 - c))
    d, earlier = 2 - first, -1 / first
    by_c = 1 + e * (earlier * d - first * earlier) + d * earlier
    return c + e * first * d - d**2 / 2, by_c, first * d


@pytest.mark.parametrize("method", ["native", "taylor", "radau"])
def test_the_place_of_an_event_and_the_strength_of_its_reset(method):
    found = zw.sensitivities(FALLING, FROM_REST, 2.0, [c, e, f], samples=2, events=[HIT], method=method, tol=1e-10)
    _, by_c, by_e = after_the_hit()
    np.testing.assert_allclose(found.dq.values[-1, 0], [by_c, by_e, 0.0], atol=1e-9)
    assert found.dq.values[-1, 0, 2] == 0.0  # f occurs nowhere


def test_directions_on_the_constraints_keep_such_parameters():
    way = zw.admissible(FALLING, FROM_REST, {"both": {c: 1, e: -2}})
    assert way == {"both": {c: 1.0, e: -2.0}}
    found = zw.sensitivities(FALLING, FROM_REST, 2.0, way, samples=2, events=[HIT])
    _, by_c, by_e = after_the_hit()
    np.testing.assert_allclose(found.dq.values[-1, 0, 0], by_c - 2 * by_e, atol=1e-10)


def test_an_impulse_at_an_instant():
    """Of a free particle at t = c by e: x(2) = 2 + e (2 − c)."""
    free = zw.System((x,), kinetic=v**2 / 2, parameters={c: 0.7, e: 2.0})
    kick = zw.Event(zw.t - c, "kick", reset={v: v + e})
    found = zw.sensitivities(free, {x: 0, v: 1}, 2.0, [c, e], samples=2, events=[kick])
    np.testing.assert_allclose(found.dq.values[-1, 0], [-2.0, 1.3], atol=1e-12)


def differences(system, start, until, event, at, step=1e-5):
    """Central differences of the last positions by c and e: of an independent run each."""

    def end(values):
        return zw.simulate(system, start, until, samples=2, events=[event], parameters=values).q.values[-1]

    return np.array([(end({**at, s: at[s] + step}) - end({**at, s: at[s] - step})) / (2 * step) for s in (c, e)]).T


def cases():
    """Systems of other kinds: a constraint, a contact, dry friction, a chain that runs in loops."""
    rod = zw.System((x, y), kinetic=(v**2 + dot(y) ** 2) / 2, potential=9.81 * y, constraints={"rod": x**2 + y**2 - 1},
                    parameters={c: 0.1, e: 0.6})  # fmt: skip
    wall = zw.Event(x - c, "wall", direction=-1, reset={v: -e * v, dot(y): -e * dot(y)})
    yield "rod", rod, {x: 0.6, y: -0.8, v: 0, dot(y): 0}, 1.3, wall, {c: 0.1, e: 0.6}
    floor = zw.Constraint(x >= 0, "floor", restitution=1)
    ball = zw.System((x,), kinetic=v**2 / 2, forces={x: -1}, constraints=[floor], parameters={c: 0.4, e: 0.8})
    up = zw.Event(x - c, "up", direction=1, reset={v: e * v})
    yield "floor", ball, {x: 0.5, v: 0}, 2.0, up, {c: 0.4, e: 0.8}
    dry = zw.System((x,), kinetic=v**2 / 2, forces={x: -sp.sign(v)}, parameters={c: 0.5, e: 0.7})
    yield "dry friction", dry, {x: 0, v: 2}, 3.0, zw.Event(x - c, "w", reset={v: -e * v}), {c: 0.5, e: 0.7}
    s, (a, b), k = zw.coordinates("s", shape=130), zw.coordinates("a b"), zw.parameters("k")
    spring = zw.family(k * (a - b) ** 2 / 2, {a: s, b: [0, *s[:-1]]})
    chain = zw.System(s, kinetic=zw.family(dot(a) ** 2 / 2, {a: s}), potential=spring,
                      parameters={k: 40, c: 0.4, e: 0.5})  # fmt: skip
    start = {s: np.linspace(0.01, 0.5, 130), dot(s): np.append(np.zeros(129), -3.0)}
    last = s[129]
    yield "loops", chain, start, 1.5, zw.Event(last - c, "w", reset={dot(last): -e * dot(last)}), {c: 0.4, e: 0.5}


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case[0])
def test_other_kinds_of_systems_agree_with_differences(case):
    _, system, start, until, event, at = case
    found = zw.sensitivities(system, start, until, [c, e], samples=2, events=[event])
    truth = differences(system, start, until, event, at)
    assert np.abs(truth).max() > 0.1
    np.testing.assert_allclose(found.dq.values[-1], truth, atol=3e-8 * np.abs(truth).max())


@pytest.mark.parametrize("key", [c, "c"])
def test_an_ensemble_over_them_is_its_samples_one_by_one(key):
    values = np.array([0.2, 0.3, 0.45])
    many = zw.simulate_many(FALLING, FROM_REST, 2.0, samples=2, parameters={key: values, "e": 0.6}, events=[HIT])
    truth = [after_the_hit(value, 0.6)[0] for value in values]
    np.testing.assert_allclose(many.q.values[:, -1, 0], truth, atol=1e-11)
    np.testing.assert_array_equal(many["c"], values)


MODEL = """
[parameters]
c = 0.3
r = 0.5
h = 1.0
[coordinates]
x = { start = "h" }
[energy]
kinetic = "x'^2/2"
[forces]
x = -1
[events]
hit = { when = "x = c", direction = "down", reset = { "x'" = "-r*x'" } }
[run]
until = 2
"""


def test_a_model_file_has_them_too():
    model = read_model(MODEL)
    found = zw.sensitivities(model, inputs=["c", "r"], samples=2)
    np.testing.assert_allclose(found.dq.values[-1, 0], after_the_hit()[1:], atol=1e-10)
    swept = zw.simulate_many(model, parameters={"r": np.array([0.5, 0.6])}, samples=2)
    np.testing.assert_allclose(swept.q.values[:, -1, 0], [after_the_hit(e=r)[0] for r in (0.5, 0.6)], atol=1e-11)


def test_a_parameter_of_the_start_alone_is_refused_by_name():
    """Derivatives hold the start: that x(2) does not change with its height h would be believed."""
    with pytest.raises(InputError, match="h, which occurs only in the start of this model"):
        zw.sensitivities(read_model(MODEL), inputs=["h"], samples=2)


def test_an_event_may_use_a_parameter_of_an_input_that_was_replaced():
    u = zw.coordinates("u")
    driven = zw.System((x,), kinetic=v**2 / 2, forces={x: u}, parameters={u: -c * zw.t, c: 0.3, e: 0.5})
    found = zw.simulate(driven, FROM_REST, 2.0, samples=2, parameters={u: -1}, events=[HIT])
    np.testing.assert_allclose(found.q.values[-1, 0], after_the_hit()[0], atol=1e-11)


def test_a_parameter_that_places_were_computed_from_is_refused_by_name():
    """The places of a mechanism are numbers in its system: derivatives of zero would be believed."""
    model = read_model("""
[parameters]
a = 0.3
[bodies]
rod = { mass = 1, inertia = 0.1, position = ["a", 0] }
[joints]
pin = { kind = "revolute", first = "ground", second = "rod", at = [0, 0] }
[run]
until = 1
""")
    with pytest.raises(InputError, match="a, from which the places of this mechanism were computed"):
        zw.sensitivities(model, inputs=["a"], samples=2)
