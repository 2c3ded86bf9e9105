"""Every mistake of a model is found, all of them together, each in words that say which one and what to do."""

import inspect
import re

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.physics.mechanics import dynamicsymbols

import zwang as zw
from zwang import dot
from zwang.errors import InputError, ModelError
from zwang.model.identity import degree

t = zw.t
x, y = zw.coordinates("x y")
stranger = zw.coordinates("stranger")
m, k = zw.parameters("m k")
alpha = sp.Function("alpha")(t)
T = m * (dot(x) ** 2 + dot(y) ** 2) / 2

# what is wrong -> (arguments of System, what the one mistake reported must say)
MISTAKES = {
    "no coordinates": ({"coordinates": ()}, r"coordinates: there are none"),
    "a coordinate that is a symbol": ({"coordinates": (x, m)}, r"coordinate m is not a function of time"),
    "a coordinate that is text": ({"coordinates": (x, "y")}, r"coordinate y is not a function of time"),
    "coordinates in a list too deep": ({"coordinates": [[x, y]]}, r"coordinate \[x\(t\), y\(t\)\] is not a function"),
    "a coordinate listed twice": ({"coordinates": (x, y, x)}, r"coordinate x\(t\) is listed 2 times"),
    "two coordinates of one name": (
        {"coordinates": (x, y, dynamicsymbols("x", real=True))},
        r"2 different coordinates are called x",
    ),
    "unknown function in the energy": (
        {"kinetic": T + dot(stranger) ** 2},
        r"kinetic: unknown symbol stranger\(t\); the coordinates are x\(t\), y\(t\)",
    ),
    "unknown function in the potential": ({"potential": stranger}, r"potential: unknown symbol stranger"),
    "unknown function in a force": ({"forces": {y: stranger}}, r"forces\[y\(t\)\]: unknown symbol stranger"),
    "unknown function in a nonideal force": ({"nonideal": [stranger, 0]}, r"nonideal\[x\(t\)\]: unknown symbol"),
    "unknown function in a constraint": (
        {"constraints": {"rope": x - stranger}},
        r"constraint 'rope': unknown symbol stranger\(t\)",
    ),
    "a look-alike of a coordinate": (
        {"potential": k * sp.Symbol("x")},
        r"potential: the symbol x is not x\(t\), it only looks like it",
    ),
    "a look-alike function": (
        {"potential": k * dynamicsymbols("x", real=True)},
        r"potential: x\(t\) is not the coordinate x\(t\), it only looks like it",
    ),
    "a look-alike of time": (
        {"potential": sp.Symbol("t", positive=True) * x},
        r"potential: the symbol t is not zwang.t, it only looks like it",
    ),
    "parameters that look alike": (
        {"potential": sp.Symbol("m", positive=True) * x},
        r"2 different parameters are called m",
    ),
    "energy not quadratic": (
        {"kinetic": T + dot(x) ** 4},
        r"kinetic is not quadratic in the velocities \(look at Derivative\(x\(t\), t\)\)",
    ),
    "energy with a root of the speed": ({"kinetic": T + sp.sqrt(1 + dot(y) ** 2)}, r"kinetic is not quadratic"),
    "energy of mixed degree four": (
        {"kinetic": T + dot(x) ** 2 * dot(y) ** 2},
        r"kinetic is not quadratic",
    ),
    "energy that misses a coordinate": ({"kinetic": m * dot(x) ** 2}, r"kinetic misses the coordinate y\(t\)"),
    "accelerations in the energy": (
        {"kinetic": T + x.diff(t, 2) * x},
        r"kinetic: contains Derivative\(x\(t\), \(t, 2\)\); accelerations are allowed in constraints only",
    ),
    "accelerations in a force": ({"forces": {x: x.diff(t, 2)}}, r"forces\[x\(t\)\]: contains .* constraints only"),
    "third derivative in a constraint": (
        {"constraints": {"jerk": x.diff(t, 3)}},
        r"constraint 'jerk': contains Derivative\(x\(t\), \(t, 3\)\); the order is above 2",
    ),
    "potential with velocities": ({"potential": k * dot(x)}, r"potential depends on Derivative\(x\(t\), t\)"),
    "both kinetic and mass": ({"mass": sp.eye(2)}, r"both kinetic and mass are given"),
    "neither kinetic nor mass": ({"kinetic": None}, r"neither kinetic nor mass is given"),
    "potential beside mass": ({"kinetic": None, "mass": sp.eye(2), "potential": k * x}, r"potential goes with kinetic"),
    "asymmetric mass": (
        {"kinetic": None, "mass": [[1, m], [k, 1]]},
        r"mass is not symmetric: entry \(2, 1\) is k, entry \(1, 2\) is m",
    ),
    "mass of a wrong shape": ({"kinetic": None, "mass": sp.eye(3)}, r"mass: has shape \(3, 3\), but 2 coordinates"),
    "ragged mass": ({"kinetic": None, "mass": [[1, 0], [0]]}, r"mass: is not a matrix"),
    "mass that is a number": ({"kinetic": None, "mass": 3}, r"mass: is not a matrix"),
    "too few forces": ({"forces": [1]}, r"forces: 1 entries for 2 coordinates \(x\(t\), y\(t\)\)"),
    "too many nonideal forces": ({"nonideal": [1, 2, 3]}, r"nonideal: 3 entries for 2 coordinates"),
    "force on a stranger": ({"forces": {stranger: 1}}, r"forces: stranger\(t\): no such coordinate"),
    "a constraint on nothing": ({"constraints": {"void": m - k}}, r"constraint 'void': .* contains no coordinate"),
    "a constraint on an input only": (
        {"constraints": {"void": alpha - 1}, "parameters": {alpha: None}},
        r"constraint 'void': .* contains no coordinate",
    ),
    "nonlinear in accelerations": (
        {"constraints": {"odd": x.diff(t, 2) ** 2 - 1}},
        r"constraint 'odd' is nonlinear in the accelerations",
    ),
    "two constraints of one name": (
        {"constraints": [zw.Constraint(x, "wall"), zw.Constraint(y, "wall")]},
        r"constraint 'wall' is given 2 times",
    ),
    "a constraint that is not equal": (
        {"constraints": {"ne": sp.Ne(x, 0)}},
        r"constraint 'ne': .* is not a constraint",
    ),
    "a parameter that is NaN": ({"parameters": {m: float("nan")}}, r"parameter m = nan is not a finite real number"),
    "a parameter that is infinite": ({"parameters": {m: np.inf}}, r"parameter m = inf is not a finite real number"),
    "a parameter that is complex": ({"parameters": {m: 1j}}, r"parameter m = 1j is not a finite real number"),
    "a parameter that is text": ({"parameters": {m: "1.0"}}, r"parameter m = '1.0' is not a finite real number"),
    "a parameter that is a name": ({"parameters": {"m": 1.0}}, r"parameters: 'm' is not a parameter"),
    "a coordinate among the parameters": ({"parameters": {x: 1.0}}, r"parameters: x\(t\) is a coordinate"),
    "an input that depends on a coordinate": ({"parameters": {alpha: x}}, r"parameters: alpha\(t\) = x\(t\)"),
    "an input that is text": ({"parameters": {alpha: "t"}}, r"parameters\[alpha\(t\)\]: 't' is text"),
    "an imaginary force": ({"forces": {x: sp.I}}, r"forces\[x\(t\)\]: contains I, which is not a real number"),
    "an infinite potential": ({"potential": x * sp.oo}, r"potential: contains oo"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_each_mistake_is_named(what):
    arguments, message = MISTAKES[what]
    arguments = {"coordinates": (x, y), "kinetic": T} | arguments
    with pytest.raises(ModelError) as caught:
        zw.System(arguments.pop("coordinates"), **arguments)
    assert len(caught.value.mistakes) == 1
    assert re.search(message, caught.value.mistakes[0])
    assert set(caught.value.mistakes[0].where[:1]) <= set(inspect.signature(zw.System).parameters)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).startswith("this system has 1 mistake:")


def test_all_mistakes_are_reported_together():
    with pytest.raises(ModelError) as caught:
        zw.System(
            (x, y),
            kinetic=dot(x) ** 3,
            potential=stranger,
            forces=[1, 2, 3],
            constraints={"void": m, "text": "x", "odd": x.diff(t, 2) ** 2},
            parameters={m: float("nan")},
            name="botch",
        )
    said = str(caught.value)
    assert said.startswith("the system 'botch' has 8 mistakes:")
    for part in ("not quadratic", "misses the coordinate y", "unknown symbol stranger", "3 entries", "'void'",
                 "'text'", "nonlinear in the accelerations", "m = nan"):  # fmt: skip
        assert part in said


@pytest.mark.parametrize("where", ["kinetic", "potential", "forces", "nonideal", "mass", "constraints", "parameters"])
def test_text_is_refused_and_never_executed(where, tmp_path):
    target = tmp_path / "executed"
    text = f"__import__('pathlib').Path({str(target)!r}).touch()"
    given = {
        "kinetic": text, "potential": text, "forces": {x: text}, "nonideal": [text, 0], "mass": [[1, 0], [0, text]],
        "constraints": {"c": text}, "parameters": {alpha: text},
    }[where]  # fmt: skip
    arguments = {"kinetic": None if where == "mass" else T, where: given}
    with pytest.raises(ModelError, match="is text, not an expression"):
        zw.System((x, y), **arguments)
    system = zw.System((x, y), kinetic=T, forces={x: alpha}, parameters={alpha: None})
    state = {x: 0, y: 0, dot(x): 0, dot(y): 0}
    for wrong in ({alpha: text, m: 1}, {m: text, alpha: 1}):
        with pytest.raises(InputError):
            zw.evaluate(system, state, parameters=wrong)
    with pytest.raises(InputError):
        zw.evaluate(system, state | {x: text}, parameters={m: 1, alpha: 1})
    with pytest.raises(InputError):
        zw.derive(system).transform((x, y), {x: text, y: y})
    with pytest.raises(InputError):
        dot(text)
    assert not target.exists()


def test_what_is_unusual_but_right_is_no_mistake():
    h = sp.Function("h")(x, t)
    fine = [
        {"kinetic": m * dot(x) ** 2, "constraints": {"massless": x - 2 * y}},  # y has no inertia but a constraint
        {"kinetic": T + x * dot(x) * sp.cos(t) + t},  # moving frames: terms linear in, and free of, velocities
        {"kinetic": m * dot(x) * dot(y)},
        {"kinetic": T * (1 + dot(x)) / (1 + dot(x))},
        {"kinetic": T, "potential": h, "constraints": {"unspecified": h - 1}},
        {"kinetic": T, "parameters": {sp.Symbol("unused"): 1}},
        {"kinetic": T, "forces": {x: -k * sp.Abs(dot(x)) * dot(x) * alpha.diff(t, 3)}, "parameters": {alpha: None}},
        {"kinetic": T, "parameters": {m: sp.Rational(1, 3), k: np.float64(2), alpha: sp.sin(t)}},
        {"mass": [[m, 0], [0, sp.sin(t) ** 2 + sp.cos(t) ** 2]]},
        {"mass": [[m, (x + 1) ** 2], [x**2 + 2 * x + 1, m]]},  # symmetric, but not to the eye
    ]
    for arguments in fine:
        assert zw.System((x, y), **arguments).coordinates == (x, y)


def test_the_degree_of_an_expression_is_read_off_its_structure():
    a, b, c = sp.symbols("a b c")
    v = frozenset([a, b])
    for expression, expected in [
        (sp.S(3), 0), (c**7, 0), (a, 1), (a * b, 2), (a * b * c + 1, 2), ((a + b) ** 3, 3), (sp.sin(c) * a, 1),
        (sp.sin(a), sp.oo), (1 / a, sp.oo), (sp.sqrt(a), sp.oo), (2**a, sp.oo), (a**c, sp.oo),
    ]:  # fmt: skip
        assert degree(expression, v, {}) == expected


numbers = st.integers(-3, 3)


@st.composite
def systems(draw):
    n = draw(st.integers(1, 3))
    q = zw.coordinates("q1:4")[:n]
    atoms = st.sampled_from([*q, sp.sin(q[0]), sp.cos(q[-1]), t, m, sp.S(2)])
    expressions = st.lists(st.tuples(numbers, atoms, atoms), min_size=1, max_size=3).map(
        lambda terms: sp.Add(*[c * f * h for c, f, h in terms])
    )
    # ½ΣM_ij v_i v_j + Σ c_i v_i: quadratic, every coordinate with inertia of its own
    kinetic = sum((1 + draw(expressions) ** 2) * dot(qi) ** 2 for qi in q) + draw(expressions) * dot(q[0])
    phi, psi = draw(expressions) + q[0], draw(expressions) * dot(q[-1]) + dot(q[0])
    constraints = draw(st.lists(st.sampled_from([phi, psi, phi.diff(t, 2)]), max_size=3))
    constraints = [c for c in constraints if zw.Constraint(c).functions]
    return q, kinetic, draw(expressions), [draw(expressions) * dot(q[0]) for _ in q], constraints


@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(systems())
def test_valid_systems_raise_no_mistakes(system):
    q, kinetic, potential, forces, constraints = system
    made = zw.System(q, kinetic=kinetic, potential=potential, forces=forces, constraints=constraints)
    equations = zw.derive(made)
    assert equations.M == equations.M.T
    # d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q − F is M q̈ − Q, as SymPy differentiates totally
    rates = sp.Matrix(q).diff(t)
    for i, qi in enumerate(q):
        left = kinetic.diff(dot(qi)).diff(t) - kinetic.diff(qi) + potential.diff(qi) - forces[i]
        right = (equations.M * rates.diff(t) - equations.Q)[i]
        assert sp.expand(left - right) == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"potential": sp.Eq(x, 1)}, "potential: Eq"),
        ({"forces": [x > 0, 0]}, "forces: .*not a scalar expression"),
        ({"constraints": {"a": sp.Matrix([x - y])}}, "constraint 'a': .* is not an expression"),
        ({"parameters": [1]}, "parameters: .*is not a mapping"),
    ],
)
def test_what_is_no_scalar_expression_is_refused(given, words):
    with pytest.raises(ModelError, match=words) as caught:
        zw.System((x, y), **({"kinetic": dot(x) ** 2 + dot(y) ** 2} | given))
    assert len(caught.value.mistakes) == 1


def test_a_kinetic_energy_that_is_none_is_one_mistake():
    with pytest.raises(ModelError) as caught:
        zw.System((x, y), kinetic=x > 0)
    assert len(caught.value.mistakes) == 1


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"forces": {y: stranger}}, ("forces", "y")),
        ({"nonideal": {x: stranger}}, ("nonideal", "x")),
        ({"potential": stranger}, ("potential",)),
        ({"kinetic": T + dot(x) ** 4}, ("kinetic",)),
        ({"constraints": {"jerk": x.diff(t, 3)}}, ("constraints", "jerk")),
        ({"constraints": {"text": "x"}}, ("constraints", "text")),
        ({"constraints": [x, "y"]}, ("constraints", 1)),
        ({"kinetic": None, "mass": [[1, m], [k, 1]]}, ("mass", 1, 0)),
        ({"parameters": {m: float("nan")}}, ("parameters", "m")),
        ({"parameters": {alpha: x}}, ("parameters", "alpha")),
        ({"coordinates": (x, y, y)}, ("coordinates", "y")),
        ({"coordinates": (x, m)}, ("coordinates", 1)),
    ],
)
def test_each_mistake_says_where_it_was_made(given, where):
    arguments = {"coordinates": (x, y), "kinetic": T} | given
    with pytest.raises(ModelError) as caught:
        zw.System(arguments.pop("coordinates"), **arguments)
    assert [mistake.where for mistake in caught.value.mistakes] == [where]
