"""A mechanism that is written as a model file and read back is the same one, at the same start."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.files.test_mechanisms import ELEMENTS_WRITTEN, JOINTS_WRITTEN, k, scene, w
from tests.multibody.joints.test_joints import FREE
from tests.multibody.scenes import build
from zwang import multibody as mb
from zwang.errors import InputError
from zwang.files.library import folder, names
from zwang.files.read import load_model, read_model
from zwang.files.write import model_text, save_model
from zwang.multibody.body import AnyBody

G = mb.ground
U = sp.Function("u")(zw.t)
OF_BODIES = [n for n in names() if "[bodies" in (folder() / f"{n}.toml").read_text(encoding="utf-8")]


def is_the_same(mechanism, again):
    """The same equations, at the same start: both are what zwang computes, to the last digit."""
    assert again.system.structure == mechanism.system.structure
    assert again.system.constraint_names == mechanism.system.constraint_names
    assert again.state() == mechanism.start
    for one, other in zip(again.mechanism.drawing.shapes, mechanism.drawing.shapes, strict=True):
        assert (one.name, one.kind, one.color) == (other.name, other.kind, other.color)


@pytest.mark.parametrize("case", FREE, ids="{0[0]} {0[1]}".format)
def test_every_joint_at_random_places_comes_back(case, tmp_path):
    bodies, joint, *_ = build(case, np.random.default_rng(5))
    made = mb.Mechanism(bodies, [joint], [mb.Gravity((0, -9.81) if case[1] == 2 else (0, 1, -9.81))], name="random")
    is_the_same(made, zw.load_model(zw.save_model(made, tmp_path / "made.toml")))


@pytest.mark.parametrize("kind", [kind for kind in (*JOINTS_WRITTEN, *ELEMENTS_WRITTEN) if kind != "cylindrical"])
def test_every_kind_of_part_comes_back_with_its_parameters(kind):
    where, _, make = (JOINTS_WRITTEN | ELEMENTS_WRITTEN)[kind]
    parts, joints = scene(where, moving=False)  # no joint forbids that
    if kind == "ball-damper":
        joints = [mb.Spherical("ball", parts["a"], parts["b"], at=(0, 0, 0))]
    part = make(parts | {j.name: j for j in joints})
    bodies = [body for body in parts.values() if isinstance(body, AnyBody)]
    forces = [part] if kind in ELEMENTS_WRITTEN else []
    values = {k: 1.0, w: 0.5, U: zw.Signal([0, 1], [0, 1], kind="cubic")}
    made = mb.Mechanism(bodies, joints if forces else [*joints, part], forces, values, "written")
    again = read_model(model_text(made))
    is_the_same(made, again)
    assert again.system == made.system


@pytest.mark.parametrize("name", OF_BODIES)
def test_the_mechanism_of_every_example_comes_back(name):
    model = load_model(name)
    is_the_same(model.mechanism, read_model(model_text(model.mechanism)))
    again = read_model(model_text(replace(model, text="")))
    for what in ("run", "events", "drawing", "units", "description"):
        assert getattr(again, what) == getattr(model, what)


def test_prescribed_bodies_signals_scenery_and_inequalities_are_written_too():
    table = mb.Moving("table", axis=(0, 0, 1), angle=w * zw.t)
    ball = mb.Body("ball", k, (1, 1, 1), position=(1, 0, 0.5), solids=[mb.Sphere(0.5, color="teal")])
    arm = mb.Body("arm", 2, np.diag([1, 2, 2.5]), orientation=(1, 0, 0, 0.2), outline=[(0, 0, 0), (1, 0, 0), (1, 1, 0)])
    pin = mb.Revolute("pin", table, arm, at=(0, 0, 0), axis=(0, 0, 1))
    made = mb.Mechanism(
        [ball, arm],
        [pin, mb.Condition("floor", ball.coordinates[2] >= 0), mb.Condition("track", sp.Eq(ball.coordinates[1], 0))],
        [
            mb.Gravity((0, 0, -5)),
            mb.Gravity((0, 0, -k), name="more"),
            mb.Actuator("motor", pin, zw.Signal([0, 1, 2], [0, 1, 0])),
            mb.Spring("bumper", arm, ball, force=k * (mb.length - 1) ** 3 + mb.rate),
        ],
        {k: 2.0, w: 0.5},
        "all of it",
        {"low": ball.coordinates[2] + 3 >= 0},
        scenery=[mb.Box((4, 4, 0.1))],
    )
    again = read_model(model_text(made))
    assert again.mechanism.scenery == made.scenery
    assert again.mechanism.bodies[0].solids == ball.solids
    for parameters in (None, {"k": 3.0}):
        one, other = (zw.evaluate(it, t=0.3, parameters=parameters).acceleration for it in (made, again))
        assert np.abs(one - other).max() < 1e-14
    assert {c.name: c.one_sided for c in again.system.constraints} == {
        c.name: c.one_sided for c in made.system.constraints
    }


class Level(mb.Spherical):
    """A joint of a stranger."""


def test_what_a_model_file_cannot_say_is_refused_by_name():
    bob = mb.Particle("bob", 1, (0, 0, -1))
    strange = mb.Mechanism([bob], [Level("rail", G, bob, at=(0, 0, -1))])
    with pytest.raises(InputError, match=r"joint 'rail' is a Level, which a model file does not know; or write its eq"):
        model_text(strange)
    spaced = mb.Mechanism([mb.Particle("my bob", 1)])
    with pytest.raises(InputError, match=r"'my bob.x' contains a space.*rename it"):
        model_text(spaced)
    dotted = mb.Mechanism([bob], forces=[mb.Drag("air.drag", bob, linear=1)])
    with pytest.raises(InputError, match=r"the name of force element 'air.drag' has a dot: .*rename it"):
        model_text(dotted)
    m = sp.Symbol("m", positive=True)
    with pytest.raises(InputError, match=r"m has assumptions \(positive\)"):
        model_text(mb.Mechanism([mb.Particle("bob", m)], parameters={m: 1}))


def test_a_model_that_was_changed_is_written_anew():
    model = load_model("slider_crank_bodies")
    assert model_text(model) == model.text
    longer = replace(model, run=replace(model.run, until=7.0))
    assert read_model(model_text(longer)).run == longer.run
    changed = replace(model, system=replace(model.system, name="other"))
    with pytest.raises(InputError, match=r"is not that of its bodies any more: write its equations"):
        model_text(changed)


def test_what_is_not_a_model_is_not_written(tmp_path):
    with pytest.raises(InputError, match=r"save_model takes a System, a Mechanism or a model; got the text 'x'"):
        save_model("x", tmp_path / "x.toml")
