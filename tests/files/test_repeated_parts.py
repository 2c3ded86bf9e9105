"""Repeated bodies, joints and force elements: they mean what is written out, and say where they are wrong."""

import tomllib

import jsonschema
import numpy as np
import pytest

from zwang import multibody as mb
from zwang.errors import ModelFileError
from zwang.files.read import read_model
from zwang.files.schema import json_schema
from zwang.files.write import save_model
from zwang.motion.simulate import simulate

CHAIN = """
[counts]
n = 4
[parameters]
L = 0.5
m = 2.0
[bodies.bar]
for = "i = 1:n"
mass = "m*i"
inertia = "m*L^2/12"
position = ["(i - 1/2)*L", 0]
[joints.hook]
kind = "revolute"
second = "bar[1]"
at = [0, 0]
[joints.pin]
kind = "revolute"
for = "i = 2:n"
first = "bar[i-1]"
second = "bar[i]"
at = ["(i - 1)*L", 0]
[joints.pair]
kind = "coupling"
factors = { "pin[2]" = 1, "pin[3].angle" = -1 }
[springs.rubber]
for = "i = 1:2"
second = "bar[2*i]"
start = ["i", 1]
end = ["(2*i - 1/2)*L", 0]
stiffness = "10*i"
[elements.drag]
kind = "force"
for = "i = 1:n"
body = "bar[i]"
components = ["-0.1*i*bar[i].x'", "-0.2*pin[2].angle"]
[gravity]
acceleration = [0, -9.81]
[definitions]
height = "bar[n].y - bar[1].y"
[events]
low = "height = -0.25"
[run]
until = 0.5
samples = 4
tol = 1e-10
[draw]
tip = { point = ["bar[n].x", "bar[n].y"], trail = true }
"""


def by_hand():
    """The same in Python, every part written out."""
    L, m, n = 0.5, 2.0, 4
    bars = [mb.PlanarBody(f"bar{i}", m * i, m * L**2 / 12, position=((i - 0.5) * L, 0)) for i in range(1, n + 1)]
    pins = [mb.Revolute(f"pin{i}", bars[i - 2], bars[i - 1], at=((i - 1) * L, 0)) for i in range(2, n + 1)]
    rubber = [
        mb.Spring(f"rubber{i}", mb.ground, bars[2 * i - 1], (i, 1), ((2 * i - 0.5) * L, 0), stiffness=10 * i)
        for i in (1, 2)
    ]
    angle = pins[0].freedoms["angle"].reading
    drag = [
        mb.Force(f"drag{i}", bars[i - 1], components=(-0.1 * i * bars[i - 1].coordinates[0].diff(), -0.2 * angle))
        for i in range(1, n + 1)
    ]
    hook = mb.Revolute("hook", mb.ground, bars[0], at=(0, 0))
    pair = mb.Coupling("pair", {pins[0]: 1, pins[1]: -1})
    return mb.Mechanism(bars, [hook, *pins, pair], [mb.Gravity((0, -9.81)), *rubber, *drag])


def problems_of(text):
    with pytest.raises(ModelFileError) as caught:
        read_model(text, "chain.toml")
    return caught.value.problems


def test_repeated_parts_mean_what_is_written_out():
    model = read_model(CHAIN)
    found = model.simulate()
    known = simulate(by_hand(), until=0.5, samples=4, tol=1e-10)
    assert np.abs(found.q.values - known.q.values).max() < 1e-9
    assert np.abs(found.multiplier.values - known.multiplier.values).max() < 1e-6
    assert found.event_name.values.tolist() == ["low"]


def test_members_are_called_by_their_index():
    system = read_model(CHAIN).system
    assert system.coordinate_names[:3] == ("bar[1].x", "bar[1].y", "bar[1].angle")
    assert system.constraint_names == (
        "hook.x", "hook.y", "pin[2].x", "pin[2].y", "pin[3].x", "pin[3].y", "pin[4].x", "pin[4].y", "pair.sum",
    )  # fmt: skip


def test_reactions_of_members_are_asked_for_by_name():
    text = CHAIN.replace("[run]", 'slack = "multiplier(pin[2].x) = constraint_force(bar[3].y)"\n[run]')
    assert read_model(text).simulate().attrs["status"] == "finished"


def test_other_values_of_parameters_put_all_members_elsewhere():
    model = read_model(CHAIN).with_parameters({"L": 0.25})
    assert [float(v) for v in model.state().values()][::3][:4] == pytest.approx([0.125, 0.375, 0.625, 0.875])


def test_several_indices_make_a_wall_of_particles():
    model = read_model("""
[bodies.brick]
kind = "particle"
for = "i = 0:1, j = 0:2"
mass = 1
position = ["i", "j"]
[joints.row]
kind = "rod"
for = "j = 0:2"
first = "brick[0,j]"
second = "brick[1,j]"
start = [0, "j"]
end = [1, "j"]
[constraints]
level = { rule = "brick[0,j].y = brick[1,j].y", for = "j = 1:2" }
""")
    assert model.system.coordinate_names[2:6] == ("brick[0,1].x", "brick[0,1].y", "brick[0,2].x", "brick[0,2].y")
    assert model.system.constraint_names[-2:] == ("level[1]", "level[2]")


def test_a_hundred_bodies_in_space_are_read_and_move():
    text = """
[bodies.bar]
for = "i = 1:100"
mass = 1
inertia = [0.1, 0.01, 0.1]
position = ["i - 1/2", 0, 0]
[joints.pin]
kind = "revolute"
for = "i = 2:100"
first = "bar[i-1]"
second = "bar[i]"
at = ["i - 1", 0, 0]
axis = [0, 1, 0]
[gravity]
acceleration = [0, 0, -9.81]
[run]
until = 0.5
samples = 2
"""
    motion = read_model(text).simulate()
    fallen = motion.q.sel(coordinate=[f"bar[{i}].z" for i in range(1, 101)]).values[-1]
    assert np.abs(fallen + 9.81 * 0.5**2 / 2).max() < 1e-9  # nothing holds the chain: it falls as it is


@pytest.mark.parametrize(
    ("old", "new", "message", "place"),
    [
        ('for = "i = 1:n"\nmass', 'for = "i = 5:n"\nmass', "the index 'i' runs from 5 to 4: it has no values", 'for'),
        ('first = "bar[i-1]"', 'first = "bar[i-2]"', "there is no body 'bar[0]'", "first"),
        ('first = "bar[i-1]"', 'first = "bar"', "there is no body 'bar'", "first"),
        ('first = "bar[i-1]"', 'first = "bar[k-1]"', "where i = 2: 'k' is not a whole number with a name", "first"),
        ('first = "bar[i-1]"', 'first = "bar[i-1]+1"', "where i = 2: this is not the name of a part", "first"),
        ('mass = "m*i"', 'mass = "m*(3 - i)"', "body 'bar[3]': its mass is 0, but a mass is positive", "mass"),
        ('mass = "m*i"', 'mass = "m/(i - 1)"', "where i = 1: division by zero", "mass"),
        ('"height = -0.25"', '"bar.y = -0.25"', "'bar.y' is repeated: its index is missing", "low"),
        ('"height = -0.25"', '"bar[9].y = -0.25"', "bar[9].y is out of range", "low"),
        ('"height = -0.25"', '"hook[1].angle = 0.1"', "'hook' is not a repeated part: it has no index", "low"),
        ('"height = -0.25"', '"bar[1,2].y = 0"', "'bar' has 1 index, 2 are given", "low"),
        ('"height = -0.25"', '"pin[2].travel = 0"', "joint 'pin[2]' has no coordinate 'travel'", "low"),
        ("n = 4", "n = 4\ni = 3", "the index 'i' has a meaning already", "for"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_once_at_its_place(old, new, message, place):
    assert CHAIN.count(old) == 1
    problems = problems_of(CHAIN.replace(old, new))
    first = next(p for p in problems if p.message.startswith(message))
    assert place in first.path
    assert len({(p.line, p.column, p.message) for p in problems}) == len(problems)
    same = [p for p in problems if p.line == first.line]
    assert len(same) == 1


def test_a_file_of_very_many_parts_is_refused_at_once():
    body = '[bodies.b{}]\nkind = "particle"\nfor = "i = 1:10000"\nmass = 1\nposition = ["i", 0]\n'
    text = "".join(body.format(k) for k in range(90))
    problem = problems_of(text)[0]
    assert problem.message == "the repeated entries of [bodies] have more than 4,000 members"


def test_a_file_of_many_coordinates_is_refused():
    text = '[bodies.b]\nkind = "particle"\nfor = "i = 1:1051"\nmass = 1\nposition = ["i", 0]\n'
    assert problems_of(text)[0].message == "the bodies and joints have 2102 coordinates, more than 2100"


def test_the_schema_knows_repeated_parts():
    known = jsonschema.Draft202012Validator(json_schema())
    assert not [*known.iter_errors(tomllib.loads(CHAIN))]
    assert [*known.iter_errors(tomllib.loads(CHAIN) | {"unheard_of": 1})]


def test_one_that_differs_stands_by_itself():
    heavy = '[bodies."bar[4]"]\nmass = 9\ninertia = "m*L^2/12"\nposition = ["7*L/2", 0]\n[joints.hook]'
    text = CHAIN.replace('for = "i = 1:n"\nmass', 'for = "i = 1:3"\nmass').replace("[joints.hook]", heavy)
    model = read_model(text)
    assert [b.name for b in model.mechanism.bodies] == ["bar[1]", "bar[2]", "bar[3]", "bar[4]"]
    assert model.mechanism.bodies[3].mass == 9
    assert read_model(text).simulate().attrs["status"] == "finished"


def test_one_that_is_there_twice_is_refused():
    text = CHAIN + '[bodies."bar[3]"]\nmass = 9\ninertia = 1\n'
    assert problems_of(text)[0].message == "'bar[3]' is one of the repeated 'bar', and stands by itself, too"


def test_what_was_changed_is_written_part_by_part_and_comes_back(tmp_path):
    changed = read_model(CHAIN).with_parameters({"L": 0.25})
    again = read_model(save_model(changed, tmp_path / "bodies.toml").read_text(encoding="utf-8"))
    assert again.system.constraint_names == changed.system.constraint_names
    assert np.abs(again.simulate().q.values - changed.simulate().q.values).max() < 1e-9


def test_its_equations_are_written_under_plain_names(tmp_path):
    changed = read_model(CHAIN).with_parameters({"L": 0.25})
    again = read_model(save_model(changed.system, tmp_path / "equations.toml").read_text(encoding="utf-8"))
    assert again.system.coordinate_names[:2] == ("bar_1.x", "bar_1.y")
    assert again.system.constraint_names[2] == "pin_2.x"


def test_what_repeated_entries_say_can_be_written_out(tmp_path):
    text = """
[bodies.block]
mass = 1
inertia = 1
position = [0, 0]
[springs.rope]
for = "i = 1:210"
second = "block"
start = ["cos(i)", "sin(i)"]
end = [0, 0]
stiffness = "i"
"""
    mechanism = read_model(text).mechanism
    save_model(mechanism, tmp_path / "out.toml")
    again = read_model((tmp_path / "out.toml").read_text())
    assert len(again.mechanism.forces) == len(mechanism.forces) == 210
    place = {"block.x": 0.3, "block.y": -0.2, "block.angle": 0.1}
    energies = [
        float(s.potential.subs({c: place[n] for c, n in zip(s.coordinates, s.coordinate_names, strict=True)}))
        for s in (mechanism.system, again.system)
    ]
    assert np.isclose(*energies, rtol=1e-13)
