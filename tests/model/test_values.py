"""What a user gives: by symbol or by name, broadcast or refused; errors say what is wrong and with which name."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.errors import InputError

t = zw.t
x, y, z = zw.coordinates("x y z")
m, g, k, w = zw.parameters("m g k w")
alpha = sp.Function("alpha")(t)
xd, yd = dot(x), dot(y)
REST = {x: 0, y: 1, xd: 0, yd: 0}


def light(**more):
    return zw.System((x, y), **({"kinetic": m * (xd**2 + yd**2) / 2, "parameters": {m: 1}} | more))


def pendulum():
    rod = {"rod": (x**2 + y**2 - k**2) / 2}
    return light(potential=m * g * y, constraints=rod, parameters={m: 1.0, g: 10.0, k: 2.0})


def test_an_input_may_be_given_or_changed_in_the_call():
    system = light(forces=(alpha, 0), parameters={m: 2, alpha: sp.cos(t)})
    rest = {x: 0, y: 0, xd: 0, yd: 0}
    assert zw.evaluate(system, rest, 0.0).acceleration[0] == 0.5
    assert zw.evaluate(system, rest, 0.5, {alpha: t**2}).acceleration[0] == 0.125
    assert zw.evaluate(system, rest, 0.5, {"alpha": 4}).acceleration[0] == 2.0
    # the change brings a parameter of its own
    assert zw.evaluate(system, rest, 0.5, {alpha: w * t, w: 8}).acceleration[0] == 2.0
    with pytest.raises(InputError, match="parameter w has no value"):
        zw.evaluate(system, rest, 0.5, {alpha: w * t})
    with pytest.raises(InputError, match=r"alpha\(t\) = .*an expression in t and parameters alone"):
        zw.evaluate(system, rest, 0.5, {alpha: x})
    # another system of the same structure, whose own input has other parameters, asked about the same input
    twin = light(forces=(alpha, 0), parameters={m: 2, alpha: k * t, k: 1})
    assert zw.evaluate(twin, rest, 0.5, {alpha: t**2}).acceleration[0] == 0.125


def test_coordinates_to_eliminate_may_be_given_in_any_way():
    state = {x: 1.2, y: -1.6, xd: 1.6, yd: 1.2}
    expected = zw.evaluate(pendulum(), state).acceleration
    for eliminate in ([x], ["x"], [0]):
        found = zw.evaluate(pendulum(), state, form="gibbs-appell", eliminate=eliminate)
        np.testing.assert_allclose(found.acceleration, expected, rtol=1e-12)


def test_a_state_may_be_given_by_names():
    by_name = zw.evaluate(light(), {"x": 0, "y": 0, "x'": 1, "y'": 2})
    assert np.array_equal(by_name.acceleration, zw.evaluate(light(), {x: 0, y: 0, xd: 1, yd: 2}).acceleration)


def test_one_quantity_given_twice_is_refused():
    with pytest.raises(InputError, match="sets x twice"):
        zw.evaluate(light(), REST | {"x": 7})
    with pytest.raises(InputError, match="sets m twice"):
        zw.evaluate(light(), REST, parameters={m: 2, "m": 3})


@pytest.mark.parametrize("call", [zw.evaluate, zw.diagnose, zw.assemble])
def test_only_systems_are_taken(call):
    with pytest.raises(InputError, match=r"takes a System, a Mechanism or a model; got an Equations"):
        call(zw.derive(light()), REST)
    with pytest.raises(InputError, match=r"derive takes a System, a Mechanism or a model; got a dict"):
        zw.derive({})


def ask(system=None, state=None, at=0.0, **more):
    """`evaluate` with a pendulum at rest, but for what is given."""
    return lambda: zw.evaluate(system or pendulum(), REST if state is None else state, at, **more)


LOOKALIKE = sp.Symbol("m", positive=True)

# what is wrong -> (call, message)
REFUSED = {
    "a coordinate is missing": (
        ask(state={x: 0, xd: 0}), r"does not say what y, dot\(y\) is"
    ),
    "an unknown key": (ask(state=REST | {z: 1}), r"sets z, which is not a coordinate"),
    "a name nearly right": (ask(parameters={"mm": 1}), r"did you mean m\?"),
    "a look-alike": (ask(parameters={LOOKALIKE: 1}), "looks like one of them but is another symbol"),
    "NaN in the state": (ask(state=REST | {x: np.nan}), r"x = nan is not finite"),
    "infinity in the state": (ask(state=REST | {xd: [0, np.inf]}), "is not finite"),
    "text in the state": (ask(state=REST | {x: "1"}), r"x = '1' is not a real number"),
    "a complex state": (ask(state=REST | {x: 1j}), "is not a real number"),
    "NaN in a parameter": (ask(parameters={m: np.nan}), "m = nan is not finite"),
    "NaN in time": (ask(at=np.nan), "t = nan is not finite"),
    "text for time": (ask(at="now"), "t = 'now' is not a real number"),
    "a state that is not a mapping": (ask(state=[0, 1, 0, 0]), r"a state maps .* got list"),
    "arrays that do not fit": (
        ask(state=REST | {x: [0, 1], y: [0, 1, 2]}), "arrays of the state do not broadcast"
    ),
    "parameters that do not fit": (
        ask(parameters={m: [1, 2], g: [1, 2, 3]}), "arrays of the parameters do not broadcast"
    ),
    "parameters without values": (
        ask(light(potential=g * x * k)), r"parameter g has no value.*parameter k has no value"
    ),
    "an input without value": (
        ask(light(forces=(alpha, 0), parameters={m: 1, alpha: None})), r"alpha\(t\) has no value"
    ),
    "an unknown coordinate": (ask(form="gibbs-appell", eliminate=[z]), r"z\(t\) is not a coordinate"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_errors_say_what_and_which(what):
    call, message = REFUSED[what]
    with pytest.raises(InputError, match=message):
        call()
