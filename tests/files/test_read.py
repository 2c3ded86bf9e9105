"""The reader: a file says what the same system in Python says, and its problems are all reported together."""

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import sympy as sp
from scipy.spatial.transform import Rotation

import zwang as zw
from tests.files.models import GOOD, MOVING, SLIDER, TOP
from zwang import dot
from zwang.errors import InputError, ModelFileError
from zwang.files import schema
from zwang.files.language.build import LARGEST_DEPTH, LARGEST_EXPONENT, LARGEST_SIZE
from zwang.files.language.functions import RESERVED
from zwang.files.model_file import Run
from zwang.files.read import load_model, read_model
from zwang.files.toml.document import LARGEST_FILE
from zwang.files.write import model_text

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "model-file.md").read_text(encoding="utf-8")
EXAMPLES = sorted((ROOT / "src" / "zwang" / "examples").glob("*.toml"))


def test_a_file_says_what_python_says():
    x, y, theta, alpha, u = zw.coordinates("x y theta alpha u")
    m, g, L, R = zw.parameters("m g L R")
    ramp = zw.Signal([0, 1, 2], [0, 1, 0])
    same = zw.System(
        (x, y, theta),
        kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2 + L * dot(theta) ** 2,
        potential=m * g * y,
        forces={x: -sp.Float(0.1) * dot(x) + alpha},
        nonideal={theta: -sp.Float(0.2) * dot(theta)},
        constraints={
            "rod": sp.Eq(x**2 + y**2, R**2),
            "roll": dot(theta) - dot(x),
            "floor": y >= -2,
        },
        parameters={m: 1.0, g: 9.81, L: sp.Rational(1, 3), R: 0.5, alpha: sp.sin(3 * zw.t), u: ramp},
        name="Slider-crank",
    )
    model = read_model(SLIDER)
    assert model.system == same
    assert model.description == "A crank turns, a slider slides."
    assert model.state() == pytest.approx({x: 0.3, y: -0.4, theta: 0, dot(x): 0, dot(y): 0, dot(theta): 0})
    assert model.run == Run(until=0.5, samples=11, tol=1e-10, drift=("baumgarte", 10.0, 10.0))
    assert [e.name for e in model.events] == ["top", "tight"]
    assert model.events[0] == zw.Event(dot(y), "top", direction=-1, stop=True)
    assert model.events[1].expression == zw.multiplier("rod") - zw.constraint_force(x)
    assert model.units.coordinates == {"x": "m", "y": "m"}
    assert [s.kind for s in model.drawing.shapes] == ["point", "line", "circle", "body"]
    motion = read_model(MOVING).simulate()
    assert motion.status == "finished"
    assert motion.drawing.shape == (11, 1 + 2 + 2 + 3, 2)


def test_matrices_accelerations_quoted_names_and_missing_values():
    model = read_model(TOP)
    assert model.system.coordinate_names == ("x", "q.z", "θ")
    assert model.system.mass[1, 1] == sp.Symbol("m") + model.system.coordinates[0] ** 2
    assert model.system.constraints[0].order == 2
    assert model.system.constraints[1].one_sided
    assert [str(s) for s in model.system.symbols] == ["k", "m"]
    assert model.state()[model.system.coordinates[1]] == 1.0
    assert model.state({"k": 3.0, "m": 4.0})[model.system.coordinates[1]] == 2.0
    with pytest.raises(InputError, match="parameter k has no value"):
        zw.evaluate(model.system, model.state())
    assert model.drawing.dimension == 3


def test_a_value_that_comes_later_may_be_needed_by_start_and_drawing_alone():
    text = """
[parameters]
L = "?"
r = "?"
[coordinates]
x = "L/2"
[energy]
kinetic = "x'^2"
[run]
until = 1.0
samples = 3
[draw]
wheel = { circle = ["x", 0], radius = "r" }
"""
    model = read_model(text)
    assert [s.name for s in model.missing] == ["L", "r"]
    motion = model.simulate(parameters={"L": 3.0, "r": 0.25})
    assert motion.q.values.ravel() == pytest.approx([1.5, 1.5, 1.5])
    assert motion.drawing.values[0].tolist() == [[1.5, 0.0], [0.25, 0.0]]
    partly = model.with_parameters({"L": 3.0})
    assert [s.name for s in partly.missing] == ["r"]
    moved = replace(partly, start=dict.fromkeys(partly.start, 7.0))
    assert moved.with_parameters({"r": 1.0}).start == moved.start  # what was changed since stays


def test_a_mass_that_comes_later_is_known_to_the_joints():
    text = """
[parameters]
m = "?"
[bodies.bob]
kind = "planar"
mass = "m"
inertia = 0.0
position = [0.0, -1.0]
[joints.pin]
kind = "revolute"
second = "bob"
at = [0.0, 0.0]
[gravity]
acceleration = [0.0, -10.0]
[run]
until = 0.1
samples = 3
"""
    model = read_model(text)
    motion = model.simulate(parameters={"m": 3.0})
    force = model.mechanism.reactions(motion).force.values[-1, 0]
    assert force == pytest.approx([0.0, 30.0, 0.0], abs=1e-12)  # it hangs still: the pin carries the weight


def test_a_start_may_need_a_parameter_that_comes_later():
    text = "[parameters]\nL = '?'\n[coordinates]\nx = 'L/2'\n[energy]\nkinetic = \"x'^2\""
    model = read_model(text)
    with pytest.raises(InputError, match="the start needs a value of L"):
        model.state()
    assert list(model.state({"L": 3}).values()) == [1.5, 0.0]
    with pytest.raises(InputError, match="parameters sets M"):
        model.state({"M": 3})


def test_all_problems_are_reported_together_in_the_order_of_the_file():
    text = SLIDER.replace("m*g*y", "m*gg*y").replace("until = 0.5", "untill = 0.5").replace('R^2"', 'RR^2"')
    text = text.replace('"theta" }', '"phi" }')
    with pytest.raises(ModelFileError) as caught:
        read_model(text, "model.toml")
    assert [p.message.split(";")[0] for p in caught.value.problems] == [
        "unknown name 'gg'", "unknown name 'RR'", "unknown key 'untill' in [run]", "unknown name 'phi'",
    ]  # fmt: skip
    assert str(caught.value).startswith(
        "the model file has 4 mistakes:\n"
        "model.toml:22:16: error: unknown name 'gg'; did you mean 'g'?\n"
        '    potential = "m*gg*y"\n'
        "                   ^\n"
    )


def test_a_broken_definition_is_one_problem():
    with pytest.raises(ModelFileError) as caught:
        read_model(SLIDER.replace('"x^2 + y^2"', '"x^2 + "'))
    assert len(caught.value.problems) == 1


def test_files_that_are_none(tmp_path):
    for path, message in [
        (tmp_path, "is a folder"),
        (tmp_path / "no.toml", "no such file"),
        ("a\0b", "cannot be read"),
    ]:
        with pytest.raises(ModelFileError, match=message):
            load_model(path)
    path = tmp_path / "model.toml"
    path.write_bytes(b"name = 'a'\nname2 = '\xff'")
    with pytest.raises(ModelFileError, match=r"model.toml:2:10: error: this byte is not text in UTF-8"):
        load_model(path)
    path.write_bytes(b"")
    with pytest.raises(ModelFileError, match="there are no coordinates"):
        load_model(path)
    path.write_bytes(b"\xef\xbb\xbf" + SLIDER.replace("\n", "\r\n").encode())
    assert load_model(path).system == read_model(SLIDER).system
    assert load_model(path).path == path


def test_tables_beside_the_model(tmp_path):
    text = SLIDER.replace("times = [0, 1, 2], values = [0.0, 1.0, 0.0]", 'file = "u.csv", time = "s", value = "a b"')
    (tmp_path / "model.toml").write_text(text)
    table = tmp_path / "u.csv"
    table.write_text("﻿s, other, a b\n0,x,0\n1,,1\n\n2,z,0\n")
    assert load_model(tmp_path / "model.toml").system == read_model(SLIDER).system
    for content, message in [
        ("s,a b\n0,1\n1,zwei\n", r"u.csv:3:3: error: 'zwei' is not a finite number \(column 'a b'\)"),
        ("s,a b\n0,1\n1\n", r"u.csv:3:1: error: a number is missing"),
        ("s,a b\n0,nan\n1,1\n", r"u.csv:2:3: error: 'nan' is not a finite number"),
        ("s,b\n0,1\n", r"has no column 'a b'"),
        ("", r"has no column 's'"),
        ("s,a b\n0,1\n", r"1 point does not make a function of time"),
        ("s,a b\n0,1\n0,1\n", r"times must ascend"),
        ("s,a b\n" + "9" * 200000 + ",1\n", r"field larger than field limit"),
    ]:
        table.write_text(content)
        with pytest.raises(ModelFileError, match=message):
            load_model(tmp_path / "model.toml")
    table.write_bytes(b"s,a b\n\xff")
    with pytest.raises(ModelFileError, match="not text in UTF-8"):
        load_model(tmp_path / "model.toml")
    with pytest.raises(ModelFileError, match="this model has no folder"):
        read_model(text)


def test_a_body_in_space_is_turned_by_its_quaternion():
    turned = "orientation = ['sqrt(1/2)', 0, 0, 'sqrt(1/2)']"
    text = TOP.replace('at = ["x", 0, 0], orientation = [1, 0, 0, 0]', turned)
    points = read_model(text).drawing.shapes[1].points
    np.testing.assert_allclose(np.array(points, dtype=float), [[0, 0, 0], [0, 1, 0], [-1, 0, 0]], atol=1e-15)


def test_the_schema_describes_every_good_file():
    jsonschema.Draft202012Validator.check_schema(schema.json_schema())
    validator = jsonschema.Draft202012Validator(schema.json_schema())
    json.dumps(schema.json_schema())
    texts = [*GOOD.values(), *(path.read_text(encoding="utf-8") for path in EXAMPLES)]
    for text in texts:
        validator.validate(tomllib.loads(text))
    for wrong in ("[run]\nuntill = 1", "[run]\nsamples = 'x'", "[coordinates]\nx = true", "[draw]\na = 1"):
        document = tomllib.loads("[coordinates]\nx = 1\n" + wrong) if "coord" not in wrong else tomllib.loads(wrong)
        assert list(validator.iter_errors(document))


def test_the_schema_knows_the_defaults_of_a_run():
    keys = {key.name: key for section in schema.SECTIONS if section.name == "run" for key in section.keys}
    assert set(keys) == set(vars(Run()))
    assert all(getattr(Run(), name) == key.default for name, key in keys.items() if name not in ("until", "samples"))


def test_the_documentation_names_every_section_key_function_and_bound():
    for section in schema.SECTIONS:
        assert f"`[{section.name}]`" in DOCS
        for key in section.keys:
            assert f"`{key.name}`" in DOCS, key.name
            assert all(f'`"{choice}"`' in DOCS for choice in key.choices), key.choices
        for kind in section.kinds:
            assert f"`{kind.name}`" in DOCS, kind.name
            for key in kind.keys:
                assert re.search(rf"`{key.name}\b", DOCS), key.name
                assert all(f'`"{choice}"`' in DOCS for choice in key.choices), key.choices
    for function in RESERVED:
        assert f"`{function}" in DOCS
    for bound in (LARGEST_SIZE, LARGEST_DEPTH, LARGEST_EXPONENT, LARGEST_FILE):
        assert f"{bound:,}" in DOCS or str(bound) in DOCS


BLOCKS = re.findall(r"^```toml\n(.*?)^```$", DOCS, re.MULTILINE | re.DOTALL)


COMPLETE = [b for b in BLOCKS if "[coordinates]" in b or "[bodies." in b]


@pytest.mark.parametrize("block", COMPLETE, ids=lambda b: b.splitlines()[0])
def test_complete_models_in_the_documentation_load(block, tmp_path):
    (tmp_path / "model.toml").write_text(block)
    (tmp_path / "ground.csv").write_text("t,a\n0,0\n1,1\n2,0\n3,1\n")
    assert load_model(tmp_path / "model.toml").system.coordinates


@pytest.mark.parametrize("block", [b for b in BLOCKS if b not in COMPLETE], ids=lambda b: b.splitlines()[0])
def test_other_blocks_are_toml_of_known_keys(block):
    document = tomllib.loads(block)
    known = {s.name: s for s in schema.SECTIONS}
    for name, entries in document.items():
        assert name in known or name in ("name", "description")
        if name in known and not known[name].named:
            assert set(entries) <= {key.name for key in known[name].keys}


def test_a_solid_is_drawn_in_a_frame_that_moves() -> None:
    text = """
    [coordinates]
    x = 1
    a = 0
    [energy]
    kinetic = "x'^2 + a'^2"
    [draw]
    wheel = { solid = { kind = "cylinder", radius = 0.5, length = 0.1, at = [0, 0, 1] }, at = ["x", 0, 0.5],
              orientation = ["cos(a/2)", 0, "sin(a/2)", 0], color = "red", trail = true }
    block = { solid = { kind = "box", size = [1, 2, 3], color = "teal" },
              orientation = [["cos(a)", "-sin(a)", 0], ["sin(a)", "cos(a)", 0], [0, 0, 1]] }
    """.replace("\n              ", " ")
    model = read_model(text)
    wheel, block = model.drawing.shapes
    x, a = model.system.coordinates
    assert [float(e.subs(x, 3)) for e in wheel.points[0]] == [3, 0, 0.5]
    turn = sp.Matrix(wheel.orientation).subs(a, 0.3).evalf()
    assert np.abs(np.array(turn, dtype=float) - Rotation.from_euler("y", 0.3).as_matrix()).max() < 1e-12
    assert (wheel.color, wheel.trail, wheel.solid.radius) == ("red", True, 0.5)
    assert (block.color, block.solid.size) == ("teal", (1.0, 2.0, 3.0))
    assert read_model(model_text(model)).drawing == model.drawing


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{ solid = { kind = 'sphere', radius = 'x' } }", "'x' may not be used in a solid of [draw], whose sizes"),
        ("{ solid = { kind = 'sphere', radius = -1 } }", "a sphere: radius: -1 is not positive"),
        ("{ solid = { kind = 'sphere', radius = 1 }, at = [0, 0] }", "a solid stands in space"),
        ("{ solid = { kind = 'sphere', radius = 1 }, angle = 1 }", "a solid has no angle"),
        ("{ solid = { kind = 'sphere', radius = 1 }, orientation = [1, 0, 0] }", "3 entries where a quaternion"),
        ("{ solid = 'sphere' }", "text where a solid"),
        ("{ solid = { kind = 'sphere', radius = 1 }, point = [0, 0, 0] }", "point and solid are given"),
    ],
)
def test_mistakes_of_a_drawn_solid_are_told(entry: str, said: str) -> None:
    with pytest.raises(ModelFileError, match=re.escape(said)):
        read_model(f'[coordinates]\nx = 1\n[energy]\nkinetic = "x\'^2"\n[draw]\nthing = {entry}\n')
