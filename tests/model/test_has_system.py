"""A mechanism, an imported robot or a model file stands wherever a system does, and begins where it starts itself."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import multibody as mb
from zwang.errors import InputError, SimulationError
from zwang.files.read import read_model
from zwang.motion.compare import compare_engines, compare_forms, work_precision
from zwang.motion.independent import compare_derivation

g, L = zw.parameters("g L")

FILE = """
[parameters]
L = 2.0
[coordinates]
x = { start = "L" }
y = {}
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints]
rod = "x^2 + y^2 = L^2"
[events]
lowest = "x = 0"
[units]
time = "s"
[run]
begin = 0.5
until = 1.0
[draw]
rod = { line = [[0, 0], ["x", "y"]] }
"""
URDF = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
</robot>"""


def machine():
    """A rod that a pin holds, with a bob on a link whose length L is a parameter; gravity is one, too."""
    rod = mb.PlanarBody("rod", 2, 0.2, position=(0.5, 0), spin=1)
    bob = mb.Particle("bob", 1, position=(1, -0.9))
    joints = [
        mb.Revolute("pin", mb.ground, rod, at=((0, 0), (-0.5, 0))),
        mb.Rod("link", rod, bob, length=L, at=((0.5, 0), (0, 0))),
    ]
    return mb.Mechanism([rod, bob], joints, [mb.Gravity((0, -g))], parameters={g: 9.81, L: 1.0}, name="rod and bob")


def same(one, other):
    """Whether two motions are the same, bit by bit, but for the drawing and the seconds they took."""
    clocks = ("compile_seconds", "run_seconds", "total_seconds")
    for motion in (one, other):
        motion.attrs = {key: value for key, value in motion.attrs.items() if key not in clocks}
    return one.drop_vars("drawing", errors="ignore").drop_dims("axis", errors="ignore").identical(other)


@pytest.mark.parametrize("parameters", [None, {g: 2.0, L: 1.3}, {"L": 0.8}])
def test_a_mechanism_is_its_system_with_its_start(parameters):
    made = machine()
    start, given = made.assembled(parameters), {"parameters": parameters}
    options = {"until": 1.0, "samples": 5, **given}
    motion = zw.simulate(made, **options)
    assert same(motion, zw.simulate(made.system, start, **options))
    assert same(zw.simulate(made, start, 1.0, samples=5, **given), zw.simulate(made.system, start, **options))
    many = zw.simulate_many(made, **options)
    assert same(many, zw.simulate_many(made.system, start, **options))
    now = zw.evaluate(made, **given)
    assert np.array_equal(now.acceleration, zw.evaluate(made.system, start, **given).acceleration)
    assert str(zw.diagnose(made, **given)) == str(zw.diagnose(made.system, start, **given))
    assert zw.assemble(made, **given) == start
    directions = zw.admissible(made, inputs=[L, g], **given)
    assert zw.dot(made.bodies[0].coordinates[2]) not in directions["L"]  # the spin is stated: it does not change
    varied = zw.sensitivities(made, inputs=directions, **options)
    assert same(varied, zw.sensitivities(made.system, start, inputs=directions, **options))


def test_a_mechanism_is_derived_as_its_system_is():
    made = machine()
    assert zw.derive(made) == zw.derive(made.system)


def test_mechanisms_are_compared_as_their_systems_are():
    made = machine()
    motion = zw.simulate(made, until=0.5, samples=5)
    assert [row.error for row in compare_forms(made, motion)] == [
        row.error for row in compare_forms(made.system, motion)
    ]
    assert compare_derivation(made, motion).error == compare_derivation(made.system, motion).error
    ends = [compare_engines(made, until=0.5, stiff=False), compare_engines(made.system, made.start, 0.5, stiff=False)]
    assert [row.error for row in ends[0]] == [row.error for row in ends[1]]
    assert [r.steps for r in work_precision(made, until=0.5)] == [
        r.steps for r in work_precision(made.system, made.start, 0.5)
    ]


def test_assembly_of_a_mechanism_holds_what_is_to_be_held():
    made = machine()
    angle = made.bodies[0].coordinates[2]
    held = zw.assemble(made, hold=[angle], parameters={L: 1.5})
    assert held == zw.assemble(made.system, made.guess, hold=[angle], parameters={L: 1.5})
    assert held[angle] == 0.0 != zw.assemble(made, parameters={L: 1.5})[angle]
    moved = zw.assemble(made, {**made.guess, angle: 0.1})
    assert moved == zw.assemble(made.system, {**made.guess, angle: 0.1})


def test_every_sample_has_its_own_start():
    made, lengths = machine(), np.array([0.8, 1.0, 1.3])
    many = zw.simulate_many(made, until=1.0, samples=3, parameters={L: lengths})
    now = zw.evaluate(made, parameters={L: lengths})
    for i, length in enumerate(lengths):
        one = zw.simulate(made, until=1.0, samples=3, parameters={L: length}, method="native")
        assert np.abs(many.q.values[i] - one.q.values).max() < 1e-12
        assert np.array_equal(many.q.values[i, 0], one.q.values[0])
        alone = zw.evaluate(made, parameters={L: length}).acceleration
        assert np.abs(now.acceleration[i] - alone).max() < 1e-12


def test_a_driven_mechanism_starts_where_its_driver_is_at_that_time():
    arm = mb.PlanarBody("arm", 1, 1)
    pin = mb.Revolute("pin", mb.ground, arm, at=(0, 0))
    driven = mb.Mechanism([arm], [pin, mb.Driver("motor", pin, motion=zw.t**2 / 2)])
    motion = zw.simulate(driven, until=2.0, t=1.0, samples=2)
    assert motion.q.values[:, 2] == pytest.approx([0.5, 2.0], abs=1e-10)
    state = zw.evaluate(driven, t=np.array([0.0, 1.0, 2.0]))
    assert state.acceleration[:, 2] == pytest.approx([1.0, 1.0, 1.0])


def test_a_motion_of_a_mechanism_is_drawn_without_more():
    made = machine()
    motion = zw.simulate(made, until=0.5, samples=3, parameters={L: 1.2})
    plain = zw.simulate(made.system, made.assembled({L: 1.2}), 0.5, samples=3, parameters={L: 1.2})
    drawn = zw.animate(plain, made.drawing, made.system, {L: 1.2}).motion
    assert "drawing" in motion
    assert np.array_equal(zw.animate(motion).motion.drawing, drawn.drawing)
    assert np.array_equal(zw.animate(plain, made, parameters={L: 1.2}).motion.drawing, drawn.drawing)


def test_what_was_computed_before_a_stop_is_drawn_too():
    bob = mb.Particle("bob", 1, position=(1, 0))
    pull = mb.Force("pull", bob, (1 / (1 - zw.t), 0))
    with pytest.raises(SimulationError) as stopped:
        zw.simulate(mb.Mechanism([bob], forces=[pull]), until=2.0)
    assert "drawing" in stopped.value.motion


def test_a_robot_that_was_read_begins_as_its_file_has_it(tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF)
    arm = mb.read_urdf(tmp_path / "arm.urdf", gravity=(0, 0, -9.81))
    motion = zw.simulate(arm, until=0.5, samples=3)
    assert same(motion, zw.simulate(arm.mechanism.system, arm.start(), 0.5, samples=3))
    assert zw.diagnose(arm).degrees_of_freedom == 1
    zw.animate(motion)


def test_a_model_file_brings_its_span_events_and_units():
    model = read_model(FILE)
    motion, own = zw.simulate(model, samples=3), model.simulate(samples=3)
    assert same(motion, own.drop_vars("drawing").drop_dims("axis"))
    assert list(motion.time.values) == [0.5, 0.75, 1.0]
    later = zw.simulate(model, until=3.0, parameters={L: 3.0}, samples=3)
    assert later.q.values[0].tolist() == [3.0, 0.0]
    assert list(later.event_name.values)[:1] == ["lowest"]
    assert later.time.attrs["units"] == "s"
    assert zw.diagnose(model).ok
    assert zw.evaluate(model).acceleration == pytest.approx([0.0, -9.81])
    assert zw.derive(model) == zw.derive(model.system)


def test_values_that_change_places_build_a_model_again():
    model = read_model("""
[parameters]
L = 1.0
[bodies.bob]
kind = "particle"
mass = 1
position = ["L", 0]
[joints.rod]
kind = "rod"
second = "bob"
start = [0, 0]
end = ["L", 0]
[gravity]
acceleration = [0, -10]
""")
    motion = zw.simulate(model, until=0.1, samples=2, parameters={"L": 2.0})
    assert motion.q.values[0].tolist() == [2.0, 0.0]
    with pytest.raises(InputError, match=r"L = .*: one number is meant here"):
        zw.simulate_many(model, until=0.1, parameters={"L": [1.0, 2.0]})


VERBS = {
    "simulate": lambda it: zw.simulate(it, until=1),
    "simulate_many": lambda it: zw.simulate_many(it, until=1),
    "sensitivities": lambda it: zw.sensitivities(it, until=1, inputs=[g]),
    "admissible": lambda it: zw.admissible(it, inputs=[g]),
    "derive": zw.derive,
    "evaluate": zw.evaluate,
    "diagnose": zw.diagnose,
    "assemble": zw.assemble,
}
ROD = mb.PlanarBody("rod", 1, 1)
WRONG = [
    ("andrews", r"got the text 'andrews': zwang.load_model reads a model"),
    (ROD, r"got the PlanarBody 'rod', a part: make a Mechanism"),
    (mb.Revolute("pin", mb.ground, ROD, at=(0, 0)), r"got the Revolute 'pin', a part: make a Mechanism"),
    (mb.Gravity((0, -1)), r"got the Gravity 'gravity', a part: make a Mechanism"),
    (mb.Mechanism, r"got the class Mechanism itself: make one"),
    ([ROD, ROD], r"got 2 things in a list"),
    (sp.Symbol("x"), r"got a Symbol"),
    (None, r"got None"),
]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("given", "words"), WRONG, ids=[str(i) for i in range(len(WRONG))])
def test_what_has_no_system_is_refused_by_what_it_is(verb, given, words):
    with pytest.raises(InputError, match=rf"{verb} takes a System, a Mechanism or a model; {words}"):
        VERBS[verb](given)


def test_a_system_without_a_start_is_told_to_have_one():
    system = machine().system
    with pytest.raises(InputError, match=r"a System has no start of its own: give start, .*; a Mechanism has one"):
        zw.simulate(system, until=1)
    with pytest.raises(InputError, match="a System has no start of its own: give state"):
        zw.diagnose(system)
    with pytest.raises(InputError, match="a guess maps coordinates"):
        zw.assemble(system)
    with pytest.raises(InputError, match="when does the motion stop"):
        zw.simulate(machine())
    with pytest.raises(InputError, match=r"start = 2.0 is a number, not a state: leave it out, or say until=2.0"):
        zw.simulate(machine(), 2.0, until=2.0)


@pytest.mark.parametrize("verb", [zw.plot, zw.animate, lambda it: zw.save_animation(it, "motion.gif")])
def test_pictures_are_made_of_motions(verb):
    with pytest.raises(InputError, match=r"takes a motion, not a Mechanism: simulate\(it, until=…\) gives its motion"):
        verb(machine())
