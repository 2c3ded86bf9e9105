"""Repeated entries of model files: they mean what is written out, say where they are wrong, and stay within bounds."""

import time
import tomllib
from dataclasses import replace

import jsonschema
import numpy as np
import pytest

import zwang as zw
from zwang.errors import ModelFileError
from zwang.files.read import load_model, read_model
from zwang.files.schema import json_schema

CHAIN = """
name = "Chain"
[counts]
n = {n}
[parameters]
m = 1.0
g = 9.81
c = 0.1
L = "1/n"
[coordinates]
x = {{ for = "i = 1:n", start = "i*L", unit = "m" }}
y = {{ for = "i = 1:n" }}
[energy]
kinetic = {{ sum = "m*(x[i]'^2 + y[i]'^2)/2", for = "i = 1:n" }}
potential = [{{ sum = "m*g*y[i]", for = "i = 1:n" }}, "x[n]^2/2"]
[forces]
x = {{ force = "-c*i*x[i]'", for = "i = 2:n" }}
"y[1]" = "-c*y[1]'"
[constraints]
pin = "x[1]^2 + y[1]^2 = L^2"
link = {{ rule = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = L^2", for = "i = 2:n" }}
[run]
until = 0.5
samples = 6
tol = 1e-10
"""
SMALL = CHAIN.format(n=4)
WRITTEN_OUT = """
[parameters]
m = 1.0
g = 9.81
c = 0.1
L = 0.25
[coordinates]
x1 = "L"
x2 = "2*L"
x3 = "3*L"
x4 = "4*L"
y1 = 0
y2 = 0
y3 = 0
y4 = 0
[energy]
kinetic = "m*(x1'^2 + x2'^2 + x3'^2 + x4'^2 + y1'^2 + y2'^2 + y3'^2 + y4'^2)/2"
potential = "m*g*(y1 + y2 + y3 + y4) + x4^2/2"
[forces]
x2 = "-2*c*x2'"
x3 = "-3*c*x3'"
x4 = "-4*c*x4'"
y1 = "-c*y1'"
[constraints]
pin = "x1^2 + y1^2 = L^2"
a = "(x2 - x1)^2 + (y2 - y1)^2 = L^2"
b = "(x3 - x2)^2 + (y3 - y2)^2 = L^2"
d = "(x4 - x3)^2 + (y4 - y3)^2 = L^2"
[run]
until = 0.5
samples = 6
tol = 1e-10
"""


def problems_of(text):
    with pytest.raises(ModelFileError) as caught:
        read_model(text, "chain.toml")
    return caught.value.problems


def test_a_repeated_entry_means_what_is_written_out():
    repeated, written = read_model(SMALL).simulate(), read_model(WRITTEN_OUT).simulate()
    assert np.abs(repeated.q.values - written.q.values).max() < 1e-9
    assert np.abs(repeated.multiplier.values - written.multiplier.values).max() < 1e-6


def test_members_are_called_as_in_python():
    system = read_model(SMALL).system
    assert system.coordinate_names == ("x[1]", "x[2]", "x[3]", "x[4]", "y[1]", "y[2]", "y[3]", "y[4]")
    assert system.constraint_names == ("pin", "link[2]", "link[3]", "link[4]")


def test_the_start_and_the_unit_are_those_of_every_member():
    model = read_model(SMALL)
    assert [float(v) for v in list(model.state().values())[:4]] == [0.25, 0.5, 0.75, 1.0]
    assert model.units.coordinates == {f"x[{i}]": "m" for i in range(1, 5)}


def test_several_indices_make_a_net():
    model = read_model("""
[coordinates]
z = { for = "i = 0:2, j = 0:3", start = "i + 10*j" }
[energy]
kinetic = { sum = "z[i,j]'^2/2", for = "i = 0:2, j = 0:3" }
potential = [
  { sum = "(z[i,j] - z[i-1,j])^2/2", for = "i = 1:2, j = 0:3" },
  { sum = "(z[i,j] - z[i,3-j])^2/2", for = "i = 0:2, j = 0:1" },
]
[constraints]
row = { rule = "z[i,0] = z[0,0] + i", for = "i = 1:2" }
""")
    q = [i + 10 * j for i in range(3) for j in range(4)]
    assert list(model.state().values())[:12] == q
    z = np.array(q, dtype=float).reshape(3, 4)
    potential = ((z[1:] - z[:-1]) ** 2).sum() / 2 + ((z[:, :2] - z[:, :1:-1]) ** 2).sum() / 2
    assert float(model.system.potential.xreplace(model.state())) == potential
    assert model.system.constraint_names == ("row[1]", "row[2]")


def test_numbers_of_indices_are_exact_and_computed_member_by_member():
    model = read_model("""
[coordinates]
x = { for = "i = 1:3", start = "1/i + sqrt(i - 1)", rate = "if(i > 2, 5, 7)" }
[energy]
kinetic = { sum = "x[i]'^2/(2*i)", for = "i = 1:3" }
potential = { sum = "(1 + (-1)^i)*x[i]^2/3", for = "i = 1:3" }
""")
    x = zw.coordinates("x", shape=4)
    assert model.system.kinetic == sum(zw.dot(x[i]) ** 2 / (2 * i) for i in (1, 2, 3))
    assert model.system.potential == 2 * x[2] ** 2 / 3
    assert list(model.state().values()) == pytest.approx([1, 1.5, 1 / 3 + 2**0.5, 7, 7, 5], rel=1e-15)


def test_events_definitions_and_drawings_speak_of_members():
    more = """
[definitions]
height = "y[n] - y[1]"
[events]
low = "height' = multiplier(link[3])*constraint_force(x[2])"
[draw]
end = { point = ["x[n]", "height"] }
"""
    model = read_model(SMALL + more)
    assert "multiplier[link[3]]" in str(model.events[0].expression)
    y = zw.coordinates("y", shape=5)
    assert model.drawing.shapes[0].points[0][1] == y[4] - y[1]


@pytest.mark.parametrize("more", ["", '[events]\nlow = "y[2] = -0.1"\n'])
def test_a_repeated_model_is_saved_and_read_back(tmp_path, more):
    model = read_model(SMALL + more)
    again = load_model(zw.save_model(model, tmp_path / "chain.toml"))
    assert again.system == model.system
    assert dict(again.start) == dict(model.start)


def test_a_changed_model_is_written_out_with_its_units(tmp_path):
    model = read_model(SMALL)
    written = zw.save_model(zw.System(**fields(model.system)), tmp_path / "system.toml").read_text("utf-8")
    assert "link_3" in written
    changed = replace(model, start={key: 2 * value for key, value in model.start.items()})
    again = load_model(zw.save_model(changed, tmp_path / "changed.toml"))
    assert again.units.coordinates["x_1"] == "m"
    assert list(again.state().values()) == list(changed.state().values())


def fields(system):
    names = ("coordinates", "kinetic", "potential", "forces", "constraints", "nonideal", "parameters", "name")
    given = {name: getattr(system, name) for name in names}
    given["coordinates"] = [zw.coordinates("x", shape=5)[1:], zw.coordinates("y", shape=5)[1:]]
    return given


def test_the_schema_knows_repeated_entries():
    known = jsonschema.Draft202012Validator(json_schema())
    assert not [*known.iter_errors(tomllib.loads(SMALL))]
    assert [*known.iter_errors(tomllib.loads(SMALL) | {"unheard_of": 1})]


def test_a_chain_of_a_thousand_is_read_as_families_and_moves():
    model = read_model(CHAIN.format(n=1000))
    assert model.system.families is not None
    motion = model.simulate(until=1e-3, samples=2, tol=1e-6)
    # a chain that begins to fall: its links hang on each other without tension, but for the first
    assert motion.q.sel(coordinate="y[1000]").values[-1] == pytest.approx(-9.81 * 1e-6 / 2, rel=1e-3)


@pytest.mark.parametrize(
    ("old", "new", "words"),  # ¦ stands before the place
    [
        ("x[i-1]", "¦x[i-2]", "x[i-2] is out of range: where i = 2, it is x[0]"),
        ('"x[n]^2/2"', '"¦x[9]^2/2"', "x[9] is out of range"),
        ('"x[n]^2/2"', '"¦x^2/2"', "'x' is repeated: its index is missing"),
        ('"x[n]^2/2"', '"¦x[1,2]"', "'x' has 1 index, 2 are given"),
        ('"x[n]^2/2"', '"¦m[1]"', "'m' is not a repeated coordinate: it has no index"),
        ('"x[n]^2/2"', '"x[¦0.5]"', "this is not simple enough for an index"),
        ('"x[n]^2/2"', '"x[¦x]"', "'x' is not a whole number with a name"),
        ('"x[n]^2/2"', '"x\'¦[1]"', "an index comes before rate marks"),
        ('"x[n]^2/2"', '"x[¦1"', "the closing bracket of an index is missing"),
        ("m*g*y[i]", "m*g*y[i*¦i]", "a product of indices"),
        ("m*g*y[i]", "m*g*y[¦j]", "'j' is not an index; the indices here are i"),
        ('"m*g*y[i]', '¦"m*g*y[2]', "the index 'i' does not occur here: every member is the same"),
        ("m*g*y[i]", "m*¦i'*y[i]", "'i' is a whole number: it has no rate"),
        ('"m*g*y[i]', '¦"m*y[i]/(i - 3)', "this has no finite value where i = 3"),
        ("m*g*y[i]", "y[i]*¦log(2 - i)", "where i = 2: log has no real value for 0"),
        ('"i = 2:n" }', '"¦m = 2:n" }', "the index 'm' has a meaning already: [parameters] declares it"),
        ('"i = 2:n" }', '"¦n = 2:4" }', "the index 'n' has a meaning already"),
        ('"i = 2:n" }', '"i = 2:n, ¦i = 1:2" }', "the index 'i' stands here twice"),
        ('"i = 2:n" }', '"i = ¦2" }', ": is missing in the range of 'i'"),
        ('"i = 2:n" }', '"¦2:n" }', "the name of an index is missing"),
        ('"i = 2:n" }', '"¦i = 5:n" }', "the index 'i' runs from 5 to 4: it has no values"),
        ('"i = 2:n" }', '¦"i = 0:n" }', "forces along 'x' are out of range"),
        ('"i = 2:n" }', '"i = 2:¦k" }', "'k' is not a whole number with a name"),
        ("x = { force", "¦q = { force", "'q' is not a repeated coordinate"),
        ("pin =", '¦"link[3]" =', "'link[3]' is one of the repeated 'link', and stands here by itself, too"),
        ("n = 4", "n = ¦4.5", "'n': a number where a whole number is meant"),
        ("[parameters]\nm", "m = 4\n[parameters]\n¦m", "'m' is declared twice"),
        ("{ sum =", "{ summ = ¦", "'kinetic': unknown key in a repeated term"),
    ],
)
def test_mistakes_of_repeated_entries_have_their_place(old, new, words):
    assert old in SMALL
    marked = SMALL.replace(old, new, 1).replace("summ = ¦ ", "summ = ¦")
    before = marked[: marked.index("¦")]
    problems = problems_of(marked.replace("¦", ""))
    assert len(problems) == 1
    assert problems[0].message.startswith(words)
    place = before.count("\n") + 1, len(before) - before.rfind("\n")
    assert (problems[0].line, problems[0].column) == place


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("n = 4", "n = 1000000", "this makes 1,000,000 members, more than 10,000"),
        ("n = 4", "n = 99999999999999999999", ""),
        ("n = 4", "n = 9999", "the repeated entries of this file have more than 50,000 members"),
        ("i = 1:n", "i = 1:n, j = 1:1000000, k = 1:1000000", "this makes"),
        ("i = 1:n", "i = 1:n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n*n", "an index beyond"),
        ("i = 1:n", "i = 1:" + "(" * 5000 + "n", "the expression is nested"),
        ("m*g*y[i]", "y[i]*9^(9^(9^i))", "where i = 1: this power is too large"),
        ("m*g*y[i]", "y[i]*i^(i^(i^(i^i)))", "where i = 2: this power is too large"),
        ("m*g*y[i]", "y[" + "[" * 1000 + "i", "'[' has no meaning"),
        ("x[i-1]", "x[" + "x[" * 1000 + "i", "the expression is nested"),
        ("m*g*y[i]", "y[i].__class__", "'.' has no meaning"),
    ],
)
def test_hostile_repetitions_are_refused_soon(old, new, words):
    begin = time.process_time()
    problems = problems_of(SMALL.replace(old, new, 1))
    assert time.process_time() - begin < 10  # a file at its bounds takes some seconds
    assert any(problem.message.startswith(words) for problem in problems)


def test_long_templates_with_many_members_are_refused():
    long = " + ".join(f"sin({k}*x[i])*cos({k}*y[i])" for k in range(200))
    text = CHAIN.format(n=900)
    assert "have more than 2,000,000 parts" in problems_of(text.replace("m*g*y[i]", long))[0].message
    numbers = "y[i]*(" + " + ".join(f"sin(i + {k})" for k in range(200)) + ")"
    assert "numbers are to be computed" in problems_of(text.replace("m*g*y[i]", numbers))[0].message
    start = " + ".join(f"i*L*{k}" for k in range(1, 101))
    assert "numbers are to be computed" in problems_of(text.replace("i*L", start))[0].message
