"""Mechanisms in model files: the same systems as in Python, put together, changed and written."""

import dataclasses
import re
import tomllib
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.files.models import CRANK
from zwang import multibody as mb
from zwang.errors import InputError, ModelFileError
from zwang.files.part_table import BODIES, ELEMENTS, JOINTS
from zwang.files.read import read_model
from zwang.files.schema import json_schema
from zwang.files.table_types import Kind
from zwang.files.value_types import SOLID_KEYS, SOLID_SIZES
from zwang.files.write import model_text
from zwang.model.signal import Signal
from zwang.model.solids import SOLIDS as kinds_of_solids
from zwang.multibody.body import AnyBody
from zwang.multibody.element import ForceElement
from zwang.multibody.joint import Constrainer

G = mb.ground
J = (1, 2, 2.5)
k, L, w = zw.parameters("k L w")
SPACE = """
[bodies.a]
mass = 2
inertia = [1, 2, 2.5]
[bodies.b]
mass = 3
inertia = [1, 2, 2.5]
position = [1, 0, 0.5]
orientation = [1, 0, 0, 0.1]
velocity = [0, 1, 0]
angular_velocity = [0, 0, 1]
"""
PLANE = """
[bodies.a]
mass = 2
inertia = 1
[bodies.b]
mass = 3
inertia = 0.5
position = [2, 0]
angle = 0.25
velocity = [0, 1]
spin = 1
[bodies.p]
kind = "particle"
mass = 1
position = [2, 1]
"""


def space(moving=True):
    b = mb.Body("b", 3, J, (1, 0, 0.5), (1, 0, 0, 0.1), *([(0, 1, 0), (0, 0, 1)] if moving else []))
    return {"a": mb.Body("a", 2, J), "b": b}


def plane(moving=True):
    b = mb.PlanarBody("b", 3, 0.5, (2, 0), 0.25, *([(0, 1), 1] if moving else []))
    return {"a": mb.PlanarBody("a", 2, 1), "b": b, "p": mb.Particle("p", 1, (2, 1))}


# The kind, the scene, the keys in the file, and the same in Python. `pin` and `slide` are there for what needs joints.
JOINTS_WRITTEN = {
    "revolute": ("space", "second = 'b'\nat = [0, 0, 0]\naxis = [0, 1, 0]\nreading = 'pi/2'",
                 lambda s: mb.Revolute("j", G, s["b"], at=(0, 0, 0), axis=(0, 1, 0), reading=np.pi / 2)),
    "prismatic": ("plane", "first = 'a'\nsecond = 'b'\nat = [0, 0]\naxis = [1, 0]\nreading = 2",
                  lambda s: mb.Prismatic("j", s["a"], s["b"], at=(0, 0), axis=(1, 0), reading=2)),
    "cylindrical": ("space", "first = 'a'\nsecond = 'b'\nat = [0, 0, 1]\naxis = [[0, 0, 1], [0, 1, 0]]",
                    lambda s: mb.Cylindrical("j", s["a"], s["b"], at=(0, 0, 1), axis=((0, 0, 1), (0, 1, 0)))),
    "spherical": ("space", "second = 'b'\nat = [['k', 0, 0], [0, '-k', 0]]",
                  lambda s: mb.Spherical("j", G, s["b"], at=((k, 0, 0), (0, -k, 0)))),
    "universal": ("space", "first = 'a'\nsecond = 'b'\nat = [0, 0, 0]\naxes = [[1, 0, 0], [0, 1, 0]]",
                  lambda s: mb.Universal("j", s["a"], s["b"], at=(0, 0, 0), axes=((1, 0, 0), (0, 1, 0)))),
    "planar": ("space", "second = 'b'\nat = [0, 0, 0.5]\nnormal = [0, 0, 1]",
               lambda s: mb.Planar("j", G, s["b"], at=(0, 0, 0.5), normal=(0, 0, 1))),
    "fixed": ("space", "first = 'a'\nsecond = 'b'\nat = [0, 0, 0]\norientation = [1, 0, 0, 0]",
              lambda s: mb.Fixed("j", s["a"], s["b"], at=(0, 0, 0), orientation=(1, 0, 0, 0))),
    "screw": ("space", "second = 'b'\nat = [0, 0, 0]\naxis = [0, 0, 1]\npitch = 'k'",
              lambda s: mb.Screw("j", G, s["b"], at=(0, 0, 0), axis=(0, 0, 1), pitch=k)),
    "series": ("space", "second = 'b'\nat = [0, 0, 0]\nsteps = [{ name = 'out', kind = 'angle', axis = [1, 0, 0] }, "
               "{ name = 'along', kind = 'travel', axis = [0, 1, 0], reading = 0.5 }]",
               lambda s: mb.Series("j", G, s["b"], at=(0, 0, 0), steps=[
                   mb.Step("out", "angle", (1, 0, 0)), mb.Step("along", "travel", (0, 1, 0), reading=0.5)])),
    "rod": ("plane", "second = 'p'\nstart = [0, 0]\nend = [2, 1]\nlength = 'k + 0.1*t'",
            lambda s: mb.Rod("j", G, s["p"], start=(0, 0), end=(2, 1), length=k + 0.1 * zw.t)),
    "point-on-line": ("plane", "first = 'a'\nsecond = 'p'\nat = [2, 1]\naxis = [0, 1]",
                      lambda s: mb.PointOnLine("j", s["a"], s["p"], at=(2, 1), axis=(0, 1))),
    "point-on-plane": ("space", "second = 'b'\nat = [1, 1, 0]\nnormal = [0, 0, 2]",
                       lambda s: mb.PointOnPlane("j", G, s["b"], at=(1, 1, 0), normal=(0, 0, 2))),
    "point-on-curve": ("plane", "second = 'p'\ncurve = ['q', 'k*q^2']\nparameter = 'q'\nstart = 2\nspan = [-3, 3]",
                       lambda s: mb.PointOnCurve("j", G, s["p"], curve=(sp.Symbol("q"), k * sp.Symbol("q") ** 2),
                                                 parameter=sp.Symbol("q"), start=2, span=(-3, 3))),
    "point-on-surface": ("plane", "second = 'p'\nsurface = 'X^2 + k*Y^2 - 5'\nsymbols = ['X', 'Y']",
                         lambda s: mb.PointOnSurface("j", G, s["p"], symbols=sp.symbols("X Y"),
                                                     surface=sp.Symbol("X") ** 2 + k * sp.Symbol("Y") ** 2 - 5)),
    "rolling-wheel": ("plane", "second = 'b'\nradius = 'k'\nat = [0, '-k']",
                      lambda s: mb.RollingWheel("j", G, s["b"], radius=1, at=(0, -1))),
    "rolling-disc": ("space", "second = 'b'\nradius = 0.5\naxis = [0, 1, 0]",
                     lambda s: mb.RollingDisc("j", G, s["b"], radius=0.5, axis=(0, 1, 0))),
    "rolling-ball": ("space", "second = 'b'\nradius = 'k'\nnormal = [0, 0, 1]\ncentre = [1, 0, 0.5]",
                     lambda s: mb.RollingBall("j", G, s["b"], radius=k, normal=(0, 0, 1), centre=(1, 0, 0.5))),
    "wheel-on-wheel": ("plane", "first = 'a'\nsecond = 'b'\nradii = ['3*k', 1]\ninside = true",
                       lambda s: mb.WheelOnWheel("j", s["a"], s["b"], radii=(3, 1), inside=True)),
    "skate": ("plane", "second = 'b'\nat = [2, 0]\ndirection = [1, 1]",
              lambda s: mb.Skate("j", G, s["b"], at=(2, 0), direction=(1, 1))),
    "contact": ("plane", "second = 'b'\nnormal = [0, 1]\nat = [0, -2]\nbox = ['2*k', 1]\nrestitution = 'w'\n"
                "friction = ['k', 'w']",
                lambda s: mb.Contact("j", G, s["b"], normal=(0, 1), at=(0, -2), box=(2 * k, 1), restitution=w,
                                     friction=(k, w))),
    "stop": ("plane", "joint = 'pin'\nlower = '-k'\nupper = 2\nrestitution = 'w'",
             lambda s: mb.Stop("j", s["pin"], lower=-k, upper=2, restitution=w)),
    "driver": ("plane", "joint = 'pin'\nmotion = 'k*sin(w*t) + u'",
               lambda s: mb.Driver("j", s["pin"], motion=k * sp.sin(w * zw.t) + sp.Function("u")(zw.t))),
    "coupling": ("plane", "value = 't'\n[joints.j.factors]\npin = 2\n'slide.travel' = 'k'",
                 lambda s: mb.Coupling("j", {s["pin"]: 2, (s["slide"], "travel"): k}, value=zw.t)),
    "gear": ("plane", "first = 'pin.angle'\nsecond = 'hinge'\nratio = '-k'",
             lambda s: mb.Gear("j", (s["pin"], "angle"), s["hinge"], ratio=-k)),
    "rack": ("plane", "pinion = 'pin'\nrack = 'slide'\nradius = 0.3",
             lambda s: mb.Rack("j", s["pin"], s["slide"], radius=0.3)),
    "belt": ("plane", "first = 'pin'\nsecond = 'hinge'\nradii = [1, 'k']\ncrossed = true",
             lambda s: mb.Belt("j", s["pin"], s["hinge"], radii=(1, k), crossed=True)),
    "condition": ("plane", "[joints.j.expressions]\none = \"a.x = 2*b.y\"\ntwo = \"pin.angle' = k*b.y'\"",
                  lambda s: mb.Condition("j", {"one": s["a"].coordinates[0] - 2 * s["b"].coordinates[1],
                                               "two": s["pin"].freedoms["angle"].rate
                                               - k * zw.dot(s["b"].coordinates[1])})),
}  # fmt: skip
PINS = """
[joints.pin]
kind = "revolute"
second = "a"
at = [0, 0]
[joints.hinge]
kind = "revolute"
second = "b"
at = [2, 0]
[joints.slide]
kind = "point-on-line"
second = "p"
at = [2, 1]
axis = [1, 0]
"""
ELEMENTS_WRITTEN = {
    "spring": ("plane", "second = 'b'\nstart = [0, 1]\nend = [2, 0]\nstiffness = 'k'\nrest = 1\ndamping = 0.1",
               lambda s: mb.Spring("e", G, s["b"], start=(0, 1), end=(2, 0), stiffness=k, rest=1, damping=0.1)),
    "joint-spring": ("plane", "joint = 'pin'\nstiffness = 'k'\nrest = 'w'\ndamping = 0.1",
                     lambda s: mb.JointSpring("e", s["pin"], stiffness=k, rest=w, damping=0.1)),
    "force": ("plane", "body = 'b'\ncomponents = [\"-k*b.x'\", 'u']\npoint = ['w', 0]\nframe = 'body'",
              lambda s: mb.Force("e", s["b"], (-k * zw.dot(s["b"].coordinates[0]), sp.Function("u")(zw.t)),
                                 point=(w, 0), frame="body")),
    "torque": ("space", "body = 'b'\ncomponents = [0, 'k*t', \"-b.q1\"]\nframe = 'body'",
               lambda s: mb.Torque("e", s["b"], (0, k * zw.t, -s["b"].coordinates[4]), frame="body")),
    "actuator": ("plane", "joint = 'pin'\neffort = \"-k*pin.angle - 0.5*pin.angle'\"",
                 lambda s: mb.Actuator("e", s["pin"], effort=-k * s["a"].coordinates[2]
                                       - 0.5 * zw.dot(s["a"].coordinates[2]))),
    "drag": ("plane", "body = 'b'\nlinear = 'k'\nquadratic = 0.1\nturning = 2",
             lambda s: mb.Drag("e", s["b"], linear=k, quadratic=0.1, turning=2)),
    "joint-friction": ("plane", "joint = 'slide'\ncoefficient = 'k'\ncoordinate = 'travel'",
                       lambda s: mb.JointFriction("e", s["slide"], k, coordinate="travel")),
    "bushing": ("space", "second = 'b'\nat = [0, 0, 0]\nstiffness = ['k', 2, 3]\nturn_stiffness = 'w'\ndamping = 0.1\n"
                "turn_damping = [1, 0, 'k']\naxis = [0, 0, 1]\nacross = [1, 1, 0]",
                lambda s: mb.Bushing("e", G, s["b"], at=(0, 0, 0), stiffness=(k, 2, 3), turn_stiffness=w, damping=0.1,
                                     turn_damping=(1, 0, k), axis=(0, 0, 1), across=(1, 1, 0))),
    "ball-damper": ("space", "joint = 'ball'\ndamping = 'k'", lambda s: mb.BallDamper("e", s["ball"], k)),
    "armature": ("plane", "joint = 'pin'\ninertia = 'k'", lambda s: mb.Armature("e", s["pin"], k)),
}  # fmt: skip
HEAD = """
name = "written"
[parameters]
k = 1.0
w = 0.5
[inputs]
u = { times = [0, 1], values = [0, 1], kind = "cubic" }
"""


def scene(where, moving=True):
    parts = plane(moving) if where == "plane" else space(moving)
    joints = []
    if where == "plane":
        joints = [mb.Revolute("pin", G, parts["a"], at=(0, 0)), mb.Revolute("hinge", G, parts["b"], at=(2, 0)),
                  mb.PointOnLine("slide", G, parts["p"], at=(2, 1), axis=(1, 0))]  # fmt: skip
    return parts, joints


def system_in_python(parts, joints, forces=()):
    bodies = [part for part in parts.values() if isinstance(part, AnyBody)]
    inputs = {sp.Function("u")(zw.t): Signal([0, 1], [0, 1], kind="cubic")}
    return mb.Mechanism(bodies, joints, forces, {k: 1.0, w: 0.5} | inputs, "written").system


def built(text):
    """A system without asking whether the parts can be put together: scenes show single joints."""
    from zwang.files import mechanisms

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mechanisms.MechanismReader, "start", lambda self, mechanism, time: dict(mechanism.guess))
        return read_model(text)


@pytest.mark.parametrize("kind", JOINTS_WRITTEN)
def test_every_joint_is_the_same_as_in_python(kind):
    where, keys, make = JOINTS_WRITTEN[kind]
    parts, joints = scene(where)
    text = HEAD + (PLANE + PINS if where == "plane" else SPACE) + f"[joints.j]\nkind = '{kind}'\n{keys}\n"
    parts |= {j.name: j for j in joints}
    expected = system_in_python(parts, [*joints, make(parts)])
    assert built(text).system == expected
    class_name = next(entry.part for entry in JOINTS if entry.name == kind)
    assert built(text.replace(f"'{kind}'", f"'{class_name}'")).system == expected


@pytest.mark.parametrize("kind", ELEMENTS_WRITTEN)
def test_every_force_element_is_the_same_as_in_python(kind):
    where, keys, make = ELEMENTS_WRITTEN[kind]
    parts, joints = scene(where)
    text = HEAD + (PLANE + PINS if where == "plane" else SPACE)
    if kind == "ball-damper":
        joints = [mb.Spherical("ball", parts["a"], parts["b"], at=(0, 0, 0))]
        text += "[joints.ball]\nkind = 'spherical'\nfirst = 'a'\nsecond = 'b'\nat = [0, 0, 0]\n"
    parts |= {j.name: j for j in joints}
    expected = system_in_python(parts, joints, [make(parts)])
    assert built(text + f"[elements.e]\nkind = '{kind}'\n{keys}\n").system == expected
    if kind == "spring":
        assert built(text + f"[springs.e]\n{keys}\n").system == expected


def test_nonlinear_springs_know_their_length_and_rate():
    parts, joints = scene("plane")
    tension = k * (mb.length - 1) ** 3 + 5 * mb.rate * parts["b"].coordinates[2]
    expected = system_in_python(parts, joints, [mb.Spring("e", parts["a"], parts["b"], force=tension)])
    keys = "first = 'a'\nsecond = 'b'\nforce = 'k*(length - 1)^3 + 5*rate*b.angle'"
    assert built(HEAD + PLANE + PINS + f"[springs.e]\n{keys}\n").system == expected


def test_moving_bodies_and_gravity_are_the_same_as_in_python():
    parts, joints = scene("space")
    table = mb.Moving("table", position=(0, 0, w * zw.t), axis=(0, 0, 1), angle=k * zw.t)
    parts["table"] = table
    joints = [mb.Spherical("j", table, parts["b"], at=(1, 0, 0.5))]
    expected = system_in_python(parts, joints, [mb.Gravity((0, 0, -9.81 * k))])
    more = """
[bodies.table]
kind = "moving"
position = [0, 0, "w*t"]
axis = [0, 0, 1]
angle = "k*t"
[joints.j]
kind = "spherical"
first = "table"
second = "b"
at = [1, 0, 0.5]
[gravity]
acceleration = [0, 0, "-9.81*k"]
"""
    assert built(HEAD + SPACE + more).system == expected


def test_the_tables_have_the_arguments_of_the_classes():
    for kinds, base in ((BODIES, AnyBody), (JOINTS, Constrainer), (ELEMENTS, ForceElement)):
        written = {kind.part: kind for kind in kinds}
        classes = {name: c for name in mb.__all__ if isinstance(c := getattr(mb, name), type) and issubclass(c, base)}
        classes.pop("Gravity", None)  # it has a section of its own
        assert set(written) == set(classes)
        for name, kind in written.items():
            require_arguments(kind, classes[name])
    assert set(JOINTS_WRITTEN) == {kind.name for kind in JOINTS}
    assert set(ELEMENTS_WRITTEN) == {kind.name for kind in ELEMENTS}


def require_arguments(kind: Kind, part: type) -> None:
    fields = [f for f in dataclasses.fields(part) if f.name != "name"]
    assert {key.name for key in kind.keys} == {f.name for f in fields}
    needed = {f.name for f in fields if f.default is dataclasses.MISSING}
    defaulted = {"first"} if "first" not in {key.name for key in kind.needed} else set()
    assert {key.name for key in kind.needed} == needed - defaulted


SOLIDS = """
[parameters]
r = 0.5
[bodies.a]
mass = 1
inertia = [1, 1, 1]
solids = [{ kind = "box", size = [1, "2*r", 3], at = [0, 0, "r"], orientation = [1, 0, 0, 1], color = "#102030" },
          { kind = "mesh", vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], faces = [[0, 1, 2]] }]
[bodies.m]
kind = "moving"
[[bodies.m.solids]]
kind = "capsule"
radius = "r"
length = 2
orientation = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
[[scenery.solids]]
kind = "sphere"
radius = "r/2"
color = "red"
[[scenery.solids]]
kind = "ellipsoid"
radii = [1, 2, "r"]
[[scenery.solids]]
kind = "cylinder"
radius = 1
length = "4*r"
"""


def test_solids_of_bodies_and_scenery_are_those_of_python():
    model = read_model(SOLIDS)
    made = {b.name: b for b in model.mechanism.bodies}
    assert made["a"].solids == (
        mb.Box((1, 1, 3), at=(0, 0, 0.5), orientation=(1, 0, 0, 1), color="#102030"),
        mb.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]),
    )
    assert made["m"].solids == (mb.Capsule(0.5, 2, orientation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]]),)
    scenery = (mb.Sphere(0.25, color="red"), mb.Ellipsoid((1, 2, 0.5)), mb.Cylinder(1, 2))
    assert model.mechanism.scenery == scenery
    assert model.with_parameters({"r": 1.0}).mechanism.scenery[0].radius == 0.5
    jsonschema.validate(tomllib.loads(SOLIDS), json_schema())


def test_every_kind_of_solid_can_be_written():
    for kind, sizes in SOLID_SIZES.items():
        fields = {f.name for f in dataclasses.fields(kinds_of_solids[kind])}
        assert fields == {*sizes, *SOLID_KEYS}
    assert SOLID_SIZES.keys() == kinds_of_solids.keys()


# A whole model


def test_a_model_of_bodies_runs_with_constraints_events_and_drawing():
    model = read_model(CRANK)
    assert model.mechanism is not None
    assert model.system.constraint_names[-1] == "guide"
    motion = model.simulate()
    angle = 10 * motion.time.values
    place = 0.3 * np.cos(angle) + np.sqrt(0.9**2 - (0.3 * np.sin(angle)) ** 2)
    assert np.abs(motion.q.sel(coordinate="piston.x").values - place).max() < 1e-10
    assert {str(name) for name in motion.event_name.values} == {"low", "slack"}
    shapes = {shape.name: shape for shape in model.drawing.shapes}
    assert shapes["piston"].trail
    assert {"axle", "coil", "wall", "crank 1"} <= shapes.keys()
    force = model.mechanism.reactions(motion).force.sel(joint="wrist")
    assert np.isfinite(force).all()


def test_other_values_put_the_mechanism_together_again():
    model = read_model(CRANK)
    motion = model.simulate(parameters={"L": 1.2, "m": 2.0})
    angle = 10 * motion.time.values
    place = 0.3 * np.cos(angle) + np.sqrt(1.2**2 - (0.3 * np.sin(angle)) ** 2)
    assert np.abs(motion.q.sel(coordinate="piston.x").values - place).max() < 1e-10
    longer = model.with_parameters({"L": 1.2})
    assert longer.system == read_model(CRANK.replace("L = 0.9", "L = 1.2")).system
    assert longer.state({"m": 2.0}) == model.state({"L": 1.2, "m": 2.0})
    assert model.with_parameters({"m": 2.0}) is model
    assert model.with_parameters({"L": 0.9}) is model
    assert longer.mechanism.reactions(motion).force.shape == (11, 3, 3)


def test_places_cannot_be_changed_behind_the_back_of_a_system():
    model = read_model(CRANK)
    with pytest.raises(InputError, match=r"parameters sets L, but this system was built with L = 0.9"):
        zw.simulate(model.system, model.start, 0.1, parameters={"L": 1.2})
    with pytest.raises(InputError, match=r"parameters sets L, but this system was built with L = 0.9"):
        model.mechanism.reactions(model.simulate(parameters={"L": 1.2}))  # of another mechanism
    with pytest.raises(InputError, match=r"L = 'long' is not a real number"):
        model.with_parameters({"L": "long"})
    with pytest.raises(ModelFileError, match=r"its mass is -1"):
        read_model(CRANK, parameters={"m": -1.0})
    with pytest.raises(InputError, match=r"parameters sets LL, which this model does not have; did you mean 'L'"):
        read_model(CRANK, parameters={"LL": 1.0})
    zw.simulate(model.system, model.start, 0.1, parameters={"L": 0.9, "omega": 10})


def test_the_command_and_the_report_follow_changed_places(tmp_path):
    from zwang.cli.models import load, require_start
    from zwang.show.report.page import report

    (tmp_path / "crank.toml").write_text(CRANK)
    case = load(str(tmp_path / "crank.toml"), ["L=1.2", "m=2"])
    assert case.model.fixed[L] == 1.2
    assert require_start(case).ok
    motion = case.model.simulate(parameters=case.parameters)
    page = report(read_model(CRANK, tmp_path / "crank.toml"), motion, parameters=case.parameters, checks=False)
    assert "animation-player" in page
    assert "--set L=1.2" in page.replace("</span> <span>", " ")  # each word stands in a span of its own


def test_parameters_that_no_place_depends_on_stay_symbols():
    model = read_model(CRANK)
    assert {str(s) for s in model.system.symbols} == {"m", "omega"}
    assert {str(s): value for s, value in model.fixed.items()} == {"r": 0.3, "L": 0.9}
    assert {str(s) for s in model.system.parameters} == {"r", "L", "m", "omega"}


def test_places_in_body_axes_keep_their_parameters():
    text = CRANK.replace('at = ["r", 0]', 'at = [["r/2", 0], ["-h", 0]]').replace("m = 1.0", "m = 1.0\nh = 0.45")
    model = read_model(text)
    assert sp.Symbol("h") in model.system.symbols
    assert sp.Symbol("h") not in model.fixed
    assert zw.diagnose(model.system, model.state({"h": 0.4}), parameters={"h": 0.4}).ok


def test_a_value_given_later_leaves_the_start_as_described():
    model = read_model(CRANK.replace("omega = 10", "omega = '?'"))
    assert sp.Symbol("omega") not in model.system.parameters
    assert model.state({"omega": 3.0})[zw.dot(model.mechanism.bodies[0].coordinates[2])] == pytest.approx(3)


def test_the_start_is_put_together_where_the_run_begins():
    text = CRANK.replace('motion = "omega*t"', 'motion = "omega*(t - 1)"').replace("samples", "begin = 1\nsamples")
    model = read_model(text.replace("until = 0.5", "until = 1.5"))
    assert model.state()[model.system.coordinates[2]] == pytest.approx(0, abs=1e-12)


def test_a_model_of_bodies_is_written_as_its_text():
    model = read_model(CRANK)
    assert model_text(model) == CRANK
    assert read_model(model_text(model.system)).system == model.system


def test_tables_beside_a_model_of_bodies_are_written_into_it(tmp_path):
    (tmp_path / "beside.csv").write_text("t,u\n0,1\n1,2\n")
    (tmp_path / "model.toml").write_text(CRANK + '[inputs]\nu = { file = "beside.csv" }\n')
    model = zw.load_model(tmp_path / "model.toml")
    again = read_model(model_text(model))
    assert again.system.inputs == model.system.inputs
    assert again.state() == model.state()


def test_the_schema_knows_bodies_joints_and_elements():
    schema = json_schema()
    kinds = [form["properties"]["kind"]["enum"][0] for form in
             schema["properties"]["joints"]["additionalProperties"]["anyOf"]]  # fmt: skip
    assert kinds == [kind.name for kind in JOINTS]
    revolute = schema["properties"]["joints"]["additionalProperties"]["anyOf"][0]
    assert revolute["required"] == ["kind", "second", "at"]
    spring = schema["properties"]["springs"]["additionalProperties"]
    assert spring["required"] == ["second"]
    used = {key["$ref"].rpartition("/")[2] for key in revolute["properties"].values() if "$ref" in key}
    assert used <= schema["$defs"].keys()


@pytest.mark.parametrize("kind", [*JOINTS, *ELEMENTS[1:]], ids=lambda kind: kind.name)  # springs have a section
def test_the_reference_of_model_files_has_every_kind_and_every_key(kind):
    page = (Path(__file__).parents[2] / "docs" / "model-file.md").read_text(encoding="utf-8")
    row = re.search(rf"^\| `{kind.name}` \| {re.escape(kind.meaning)} \| (.*) \|$", page, re.MULTILINE)
    assert row
    assert {key.name for key in kind.keys} - {"first", "second"} <= set(re.findall(r"`(\w+)", row[1]))


def test_velocities_of_bodies_stand_in_expressions():
    parts, joints = scene("space")
    b = parts["b"]
    world, own, v = b.angular_rate(), b.angular_rate(frame="body"), b.point_velocity((0, 0, 0), frame="body")
    keys = ["-k*b.omega_x", "b.omega_2*b.v_1", "b.omega_3 - twice"]
    text = HEAD + "[definitions]\ntwice = '2*b.omega_z'\n" + SPACE
    text += f"[elements.e]\nkind = 'torque'\nbody = 'b'\ncomponents = {keys}\n"
    torque = mb.Torque("e", b, (-k * world[0], own[1] * v[0], own[2] - 2 * world[2]))
    pairs = zip(built(text).system.forces, system_in_python(parts, joints, [torque]).forces, strict=True)
    assert all(sp.expand(one - other) == 0 for one, other in pairs)
    flat, _ = scene("plane")
    v = flat["b"].point_velocity((0, 0), frame="body")
    text = HEAD + PLANE + "[elements.e]\nkind = 'force'\nbody = 'b'\nframe = 'body'\ncomponents = [0, '-k*b.v_2']\n"
    force = mb.Force("e", flat["b"], (0, -k * v[1]), frame="body")
    assert built(text).system == system_in_python(flat, [], [force])


@pytest.mark.parametrize(
    ("component", "words"),
    [
        ("b.omega_x'", "'b.omega_x' is a velocity: it has no rate mark"),
        ("b.omega_4", "unknown name 'b.omega_4'"),
        ("p.v_1", "body 'p' has no|unknown"),
    ],
)
def test_velocities_that_no_body_has_are_refused(component, words):
    text = SPACE + f'[elements.e]\nkind = "torque"\nbody = "b"\ncomponents = [0, 0, "{component}"]\n'
    with pytest.raises(ModelFileError, match=words):
        read_model(text)
    with pytest.raises(ModelFileError, match="body 'b' has no omega_x"):
        read_model(PLANE + '[elements.e]\nkind = "force"\nbody = "b"\ncomponents = [0, "b.omega_x"]\n')
    with pytest.raises(ModelFileError, match=r"may not be used in what is known beforehand: it may not contain rates"):
        read_model(SPACE + '[joints.j]\nkind = "revolute"\nsecond = "b"\nat = [1, 0, 0.5]\naxis = [0, 0, 1]\n'
                   '[joints.d]\nkind = "driver"\njoint = "j"\nmotion = "b.omega_x"\n')  # fmt: skip


def test_a_driver_begins_where_its_joint_is_described():
    parts, _ = scene("plane")
    slide = mb.Prismatic("rail", G, parts["b"], at=(2, 0), axis=(1, 0), reading=0.7)
    driver = mb.Driver("d", slide, motion=mb.start + k * sp.sin(w * zw.t))
    rail = '[joints.rail]\nkind = "prismatic"\nsecond = "b"\nat = [2, 0]\naxis = [1, 0]\nreading = 0.7\n'
    still = PLANE.replace("velocity = [0, 1]\nspin = 1\n", "")
    text = HEAD + still + rail + '[joints.d]\nkind = "driver"\njoint = "rail"\nmotion = "start + k*sin(w*t)"\n'
    model = built(text)
    assert model.system == system_in_python(parts, [slide, driver])
    written_again = read_model(model_text(dataclasses.replace(model, text="")))
    assert written_again.system.structure == model.system.structure
    own = text.replace("k = 1.0", "k = 1.0\nstart = 0.7")  # a file's own name is the one that is meant
    assert sp.Symbol("start") in built(own).system.symbols


def test_contacts_and_stops_are_written_as_they_are_read():
    b, c = mb.PlanarBody("b", 1, 1, position=(0, 2)), mb.PlanarBody("c", 1, 1, position=(3, 2))
    pin = mb.Revolute("pin", G, c, at=(3, 0))
    parts = [
        pin,
        mb.Contact("floor", G, b, normal=(0, 1), box=(1, 1), friction=(0.5, 0.4), restitution=0.2),
        mb.Contact("hit", b, c, radii=(0.2, 0.3), restitution=1),
        mb.Contact("feet", G, c, normal=(0, 1), at=(0, -3), corners=[(0.1, 0.2), (0.3, 0.4)], friction=0.3),
        mb.Stop("end", pin, lower=-1, upper=2, restitution=0.5),
    ]
    mechanism = mb.Mechanism([b, c], parts, [mb.Gravity((0, -9.81))])
    assert read_model(model_text(mechanism)).system == mechanism.system
