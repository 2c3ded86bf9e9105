"""The rates of definitions: x' and x'' of what a file defines are what mathematics means by them, within bounds."""

import time

import mpmath
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.errors import ModelFileError
from zwang.files.language.functions import CALLED
from zwang.files.read import read_model
from zwang.files.write import model_text
from zwang.functions import FUNCTIONS

theta = zw.coordinates("theta")


def model(definitions, force="0", **more):
    """A model of one coordinate with these definitions, whose force is an expression."""
    lines = "\n".join(f'{name} = "{text}"' for name, text in definitions.items())
    extra = "\n".join(f"[{section}]\n{text}" for section, text in more.items())
    return (
        f"[parameters]\nL = 2.0\nc = 0.5\n[definitions]\n{lines}\n[coordinates]\n"
        "theta = { start = 0.3, rate = 1.1 }\n"
        f'[inputs]\nu = "sin(2*t)"\n[energy]\nkinetic = "theta\'^2/2"\n[forces]\ntheta = "{force}"\n{extra}\n'
    )


def force_of(definitions, force):
    return read_model(model(definitions, force)).system.forces[0]


def mistake(text):
    with pytest.raises(ModelFileError) as caught:
        read_model(text, "model.toml")
    (problem,) = caught.value.problems
    return problem


ALONG = 0.4 + 0.3 * sp.sin(1.3 * zw.t)  # some motion theta(t), between 0.1 and 0.7
EXPRESSIONS = ["L*sin(theta)", "theta^3/(1 + theta^2)", "theta^theta", "2^theta", "t^2*theta", "1/(c + theta)^2", "L",
               "-(theta - t)*(theta + L)", "e^(-theta)", "if(theta > 0.4, theta^2, L)", "max(theta, t/2, 0.3*theta^2)",
               "min(theta, 0.4)", "abs(theta - 0.4)", "sign(theta)*theta", "floor(3*theta)", "u*theta", "pi*t",
               "atan2(theta, t + 1)", "theta/L/(1 + theta)/c", "3.5"]  # fmt: skip
EXPRESSIONS += [f"{name}(theta)" for name, key in CALLED.items() if FUNCTIONS[key].arguments == (1, 1)]
SHIFTED = {"acosh(theta)": "acosh(theta + 2)"}


@pytest.mark.parametrize("text", [SHIFTED.get(text, text) for text in EXPRESSIONS])
def test_a_rate_is_the_difference_quotient_along_any_motion(text):
    """mpmath differentiates the numbers of the definition itself, in 40 digits."""
    values = {sp.Symbol("L"): 2, sp.Symbol("c"): sp.Rational(1, 2), sp.Function("u")(zw.t): sp.sin(2 * zw.t)}

    def along(marks):
        expression = force_of({"d": text}, "d" + "'" * marks)
        return sp.lambdify(zw.t, expression.subs({**values, theta: ALONG}).doit(), "mpmath")

    with mpmath.workdps(40):
        for instant in ("0.37", "2.9"):
            expected = mpmath.diff(along(0), mpmath.mpf(instant))
            assert mpmath.almosteq(along(1)(mpmath.mpf(instant)), expected, 1e-12, 1e-12)


def test_second_rates_and_chains_of_definitions():
    chain = {"x": "L*sin(theta)", "y": "x^2", "z": "y'", "alias": "z"}
    X = sp.Symbol("L") * sp.sin(theta)
    system = read_model(model(chain, constraints="k = \"x'' + alias' = 0\"")).system
    expected = X.diff(zw.t, 2) + (X**2).diff(zw.t, 2)
    assert sp.simplify(system.constraints[0].expression - expected) == 0


def test_constants_and_time_have_rates():
    given = {"k": "2*L", "one": "3.5", "ramp": "c*t", "all": "k + one"}
    assert force_of(given, "k' + one' + all' + k''") == 0
    assert force_of(given, "ramp'") == sp.Symbol("c")


DOUBLE = """
[parameters]
m = 1.2
L = 0.8
g = 9.81
[definitions]
x1 = "L*sin(a)"
y1 = "-L*cos(a)"
x2 = "x1 + L*sin(b)"
y2 = "y1 - L*cos(b)"
[coordinates]
a = 1.0
b = { start = 2.0, rate = 0.5 }
[energy]
kinetic = "m*(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2"
potential = "m*g*(y1 + y2)"
[events]
level = "y2' = 0"
[draw]
hand = { line = [["x1", "y1"], ["x2", "y2"]] }
arrow = { line = [["x2", "y2"], ["x2 + x2'/10", "y2 + y2'/10"]] }
[run]
until = 1.0
samples = 3
"""


def test_a_double_pendulum_by_its_points_is_the_textbook_one():
    """Kinetic energy after Landau and Lifshitz, Mechanics, § 5, problem 1, with equal masses and lengths."""
    read = read_model(DOUBLE)
    m, L = sp.symbols("m L")
    a, b = read.system.coordinates
    textbook = m * L**2 * (dot(a) ** 2 + dot(b) ** 2 / 2 + dot(a) * dot(b) * sp.cos(a - b))
    assert sp.expand(sp.expand_trig(sp.expand(read.system.kinetic - textbook))).trigsimp(method="old") == 0
    energy = read.simulate().energy.values
    assert abs(energy - energy[0]).max() < 1e-9


def test_what_was_read_with_rates_is_written_and_read_back():
    read = read_model(DOUBLE)
    assert read_model(model_text(read)).system == read.system


def test_the_rate_of_a_point_on_a_mechanism():
    """A joint's coordinate in a definition: the tip's height is L sin(angle), its rate L cos(angle) angle'."""
    text = """
[parameters]
L = 1.5
[definitions]
height = "L*sin(pin.angle)"
[bodies.rod]
mass = 1
inertia = 0.1
position = ["L/2", 0]
spin = 2.0
velocity = [0, "L"]
[joints.pin]
kind = "revolute"
second = "rod"
at = [0, 0]
[elements.brake]
kind = "torque"
body = "rod"
components = "-0.1*height'"
[events]
top = "height' = 0"
[run]
until = 1.0
"""
    read = read_model(text)
    start = {s: float(v) for s, v in read.state().items()}
    assert read.events[0].expression.xreplace(start).evalf() == pytest.approx(1.5 * 2.0)
    refused = mistake(text.replace("height' = 0", "height'' = 0"))
    assert "height'' cannot be formed: pin.angle'' is differentiated 2 times, 1 is the most" in refused.message


REFUSED = {
    "acceleration in an energy": (
        {"x": "theta^2"},
        "x''",
        "'x''' may not be used in a force: accelerations are allowed in constraints and in outputs of [linear] only",
    ),
    "three marks": ({"x": "theta^2"}, "x'''", "x''' cannot be formed: theta''' is differentiated 3 times, 2 are"),
    "rate of an acceleration": ({"x": "theta''"}, "x'", "x' cannot be formed: theta''' is differentiated 3 times"),
    "many marks": ({"x": "t^2"}, "x'''''", "'x' is differentiated 5 times, 4 are the most"),
    "rate of a parameter": ({"x": "L*theta"}, "L'*x'", "'L' is a parameter: it does not change, so it has no rate"),
    "an exponent out of bounds": ({"x": "theta^-100"}, "x'", "x' cannot be formed: the exponent is beyond 100"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_rate_that_cannot_be_is_refused_where_it_is_asked_for(what):
    definitions, force, said = REFUSED[what]
    problem = mistake(model(definitions, force))
    assert said in problem.message
    assert problem.source.startswith('theta = "')
    assert problem.source[problem.column - 1 :].startswith(force[:1])


def test_a_potential_refuses_rates_of_definitions():
    problem = mistake(model({"x": "theta^2"}).replace("[forces]", 'potential = "x\'"\n[forces]'))
    assert problem.message == "'x'' may not be used in the potential energy: it may not contain rates"


HOSTILE = {
    "a chain of aliases": ({"a0": "theta^2"} | {f"a{i}": f"a{i - 1}" for i in range(1, 1500)}, "a1499'"),
    "a chain of rates": ({"a0": "sin(t^2)"} | {f"a{i}": f"a{i - 1}'" for i in range(1, 1500)}, "a1499"),
    "products of sums": ({"a": "*".join("(theta + 1)" for _ in range(70))}, "a'"),
    "rates of rates": ({"a": "*".join(f"sin(theta + {i})" for i in range(60)), "b": "sin(a')"}, "b'"),
    "laughs": ({"a0": "sin(theta)"} | {f"a{i}": f"a{i - 1}*a{i - 1}'" for i in range(1, 30)}, "a29'"),
    "towers": ({"a": "^".join(["theta"] * 30)}, "a' + a''"),
    "deep functions": ({"a": "sin(" * 38 + "theta" + ")" * 38}, "a'"),
    "many marks": ({"a": "theta^2"}, "a" + "'" * 10_000),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_rates_are_bounded(what):
    definitions, force = HOSTILE[what]
    begin = time.process_time()
    try:
        read_model(model(definitions, force))
    except ModelFileError as error:
        assert all(problem.message for problem in error.problems)  # noqa: PT017 - it may be accepted as well
    assert time.process_time() - begin < 3
