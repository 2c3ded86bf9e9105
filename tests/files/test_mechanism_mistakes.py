"""Mechanisms in model files: every mistake is named at its place, and nothing is without bounds."""

import time

import pytest

from tests.files.models import CRANK
from zwang.errors import ModelFileError
from zwang.files.read import read_model

# Mistakes: what stands there, what stands there instead, what is said, the text at the place

MISTAKES = {
    "unknown body": ('second = "rod"', 'second = "rdo"', "there is no body 'rdo'; did you mean 'rod'?", '"rdo"'),
    "unknown joint": ('joint = "axle"', 'joint = "axel"', "there is no joint 'axel'; did you mean 'axle'?", '"axel"'),
    "unknown kind": ('kind = "driver"', 'kind = "drive"', "the kind 'drive' is unknown in [joints]; did you mean "
                     "'driver'?", '"drive"'),
    "unknown kind of body": ('kind = "particle"', 'kind = "point"', "the kind 'point' is unknown in [bodies]",
                             '"point"'),
    "kind that is not text": ('kind = "particle"', "kind = 3", "'kind': a number where text in quotes is meant", "3"),
    "no kind": ('kind = "driver"\n', "", "'motor' does not say its kind", "[joints.motor]"),
    "unknown key": ("linear = 0.1", "liner = 0.1", "unknown key 'liner' in 'air', of kind drag; did you mean 'linear'?",
                    "liner"),
    "key of another kind": ('joint = "axle"', 'joint = "axle"\naxis = [0, 0, 1]', "unknown key 'axis' in 'motor', of "
                            "kind driver", "axis"),
    "missing key": ("at = [0, 0]\n", "", "'axle' has no at, which the kind revolute needs", "[joints.axle]"),
    "missing mass": ("mass = 0.6\n", "", "'rod' has no mass, which the kind planar needs", "[bodies.rod]"),
    "missing inertia": ("inertia = 0.01\n", "", "'crank' has no inertia, which the kind body needs", "[bodies.crank]"),
    "wrong type": ("at = [0, 0]", 'at = "here"', "'at': text where a point [x, y] or [x, y, z] is meant", '"here"'),
    "point of four": ("at = [0, 0]", "at = [0, 0, 0, 0]", "'at': 4 entries where a point", "[0, 0, 0, 0]"),
    "truth in a point": ("at = [0, 0]", "at = [0, true]", "'at': true or false where a number", "true"),
    "point in space": ("at = [0, 0]", "at = [0, 0, 0]", "at: (0, 0, 0) is not a vector: give 2", "[0, 0, 0]"),
    "text for a body": ('first = "crank"', "first = 1", "'first': a number where the name of a body", "1"),
    "negative mass": ("mass = 0.6", "mass = -0.6", "its mass is -0.6", "-0.6"),
    "negative mass by a parameter": ("m = 1.0", "m = -1.0", "its mass is -1.0", '"m"'),
    "negative inertia": ("inertia = 0.01", "inertia = -1", "no inertia is negative", "-1"),
    "negative stiffness": ("stiffness = 40", "stiffness = -40", "no stiffness is negative", "-40"),
    "triangle inequality": ("[gravity]", "[bodies.far]\nmass = 1\ninertia = [1, 1, 3]\n[gravity]",
                            "violate the triangle inequality", "[1, 1, 3]"),
    "no orientation": ("[gravity]", "[bodies.far]\nmass = 1\ninertia = [1, 1, 1]\norientation = [0, 0, 0, 0]\n"
                       "[gravity]", "is not an orientation", "[0, 0, 0, 0]"),
    "particle held aside": ('at = ["end", 0]', "at = [1, 0]", "away from the particle 'piston'", "[joints.wrist]"),
    "joint with itself": ('second = "rod"', 'second = "crank"', "joint 'knee' joins 'crank' to itself",
                          "[joints.knee]"),
    "joint of what cannot move": ('second = "crank"', 'second = "ground"', "neither can move", "[joints.axle]"),
    "driver of nothing": ('motion = "omega*t"\n', "", "is given neither motion nor speed", "[joints.motor]"),
    "driver with both": ('motion = "omega*t"', 'motion = "omega*t"\nspeed = 1', "is given both motion and speed",
                         '"omega*t"'),
    "no such coordinate": ('joint = "axle"', 'joint = "axle"\ncoordinate = "travel"', "has no coordinate 'travel'",
                           '"travel"'),
    "only in space": ('kind = "revolute"\nsecond = "crank"', 'kind = "spherical"\nsecond = "crank"',
                      "a spherical joins bodies in space only; use revolute in the plane", "[joints.axle]"),
    "gravity in space": ("[0, -9.81]", "[0, 0, -9.81]", "gravity has 3 entries", "[0, 0, -9.81]"),
    "no gravity": ("acceleration = [0, -9.81]", "", "[gravity] has no acceleration", "[gravity]"),
    "gravity as a key": ("[parameters]", "[elements]\ngravity = [0, -9.81]\n[parameters]", "'gravity' is not a table",
                         "[0, -9.81]"),
    "coordinate in a place": ('at = ["r", 0]', 'at = ["rod.x", 0]', "'rod.x' may not be used in a place", "rod.x"),
    "time in a place": ('at = ["r", 0]', 'at = ["r*t", 0]', "'t' may not be used in a place", "t"),
    "coordinate in a mass": ('mass = "m"', 'mass = "m*rod.x"', "'rod.x' may not be used in a constant of a part",
                             "rod.x"),
    "coordinate in a motion": ('"omega*t"', '"omega*rod.x"', "'rod.x' may not be used in what is known beforehand",
                               "rod.x"),
    "joint coordinate in a motion": ('"omega*t"', '"wrist.angle"', "'wrist.angle' may not be used in what is known",
                                     "wrist.angle"),
    "unknown coordinate of a body": ('"piston.y = 0"', '"piston.z = 0"', "unknown name 'piston.z'; did you mean",
                                     "piston.z"),
    "unknown coordinate of a joint": ("axle.angle", "axle.angel", "has no coordinate 'angel'; did you mean 'angle'?",
                                      "axle.angel"),
    "second rate of a joint": ("axle.angle", "axle.angle''", "is differentiated 2 times, 1 is the most", "axle"),
    "place without a value": ("r = 0.3", 'r = "?"', "this must be a number, but r has no value", '"r/2"'),
    "place that is not a number": ('at = ["r", 0]', 'at = ["r/(L - L)", 0]', "division by zero", "L - L"),
    "unknown name in a place": ('at = ["r", 0]', 'at = ["R", 0]', "unknown name 'R'; did you mean 'r'?", "R"),
    "energy too": ("[gravity]", "[energy]\nkinetic = 1\n[gravity]", "[energy] and [bodies] do not go together",
                   "[energy]"),
    "coordinates too": ("[gravity]", "[coordinates]\nx = 1\n[gravity]", "[coordinates] and [bodies] do not go",
                        "[coordinates]"),
    "generalized forces too": ("[gravity]", '[forces]\n"rod.x" = 1\n[gravity]', "[forces] and [bodies] do not go",
                               "[forces]"),
    "body and joint of one name": ("[joints.knee]", "[joints.rod]", "a body and a joint are both called 'rod'",
                                   "[joints.rod]"),
    "element twice": ("[elements.air]", "[elements.coil]", "'coil' is a force element twice", "[elements.coil]"),
    "body called ground": ("[gravity]", "[bodies.ground]\nmass = 1\ninertia = 1\n[gravity]",
                           "the name 'ground' is taken", "[bodies.ground]"),
    "name with a hyphen": ("[gravity]", "[bodies.left-rod]\nmass = 1\ninertia = 1\n[gravity]",
                           "the name 'left-rod' contains -", "[bodies.left-rod]"),
    "name with a dot": ("[gravity]", "[bodies.\"l.r\"]\nmass = 1\ninertia = 1\n[gravity]", "the name 'l.r' has a dot",
                        "[bodies"),
    "plane and space": ("[gravity]", "[bodies.far]\nmass = 1\ninertia = [1, 1, 1]\n[gravity]",
                        "lives in the plane, others in space", "[bodies.crank]"),
    "joint of plane and space": ("[gravity]", "[bodies.far]\nmass = 1\ninertia = [1, 1, 1]\n[joints.odd]\nkind = "
                                 "'revolute'\nfirst = 'rod'\nsecond = 'far'\nat = [0, 0]\n[gravity]",
                                 "joins a body in the plane to one in space", "[joints.odd]"),
    "constraint named like a joint's": ("guide =", '"knee.x" =', "has the name of a condition of the mechanism",
                                        '"piston.y = 0"'),
    "drawing in space": ('point = ["piston.x", "piston.y"]', 'point = ["piston.x", "piston.y", 0]',
                         "lies in the plane, others in space", "{ line"),
    "unknown multiplier": ("multiplier(motor.motion)", "multiplier(motor.moton)", "there is no constraint "
                           "'motor.moton'; did you mean 'motor.motion'?", "motor.moton"),
    "effort along a driver": ("kind = \"drag\"\nbody = \"piston\"\nlinear = 0.1", "kind = 'actuator'\njoint = 'motor'\n"
                              "effort = 1", "'motor' joins no bodies, so it has no coordinate", "'motor'"),
    "ball damper in the plane": ("kind = \"drag\"\nbody = \"piston\"\nlinear = 0.1", "kind = 'ball-damper'\n"
                                 "joint = 'axle'\ndamping = 1", "joint 'axle' is in the plane: use joint-spring",
                                 "'axle'"),
    "spring without a force": ("stiffness = 40\n", "", "force element 'coil' does nothing", "[springs.coil]"),
    "colour of a spring": ("stiffness = 40", "stiffness = 40\ncolor = 'grun'", "color 'grun' is unknown",
                           "[springs.coil]"),
    "element on the ground": ('body = "piston"', 'body = "ground"', "which no force can move", '"ground"'),
    "body without mass that can move": ('kind = "particle"\nmass = 0.8\n', 'kind = "moving"\nmass = 0.8\n',
                                        "unknown key 'mass' in 'piston', of kind moving", "mass"),
}  # fmt: skip


SOLID = "[bodies.b]\nmass = 1\ninertia = [1, 1, 1]\n[[bodies.b.solids]]\n"
SOLID_MISTAKES = {
    "no kind": ("radius = 1", "a solid's kind is missing: choose box, sphere", "[[bodies.b.solids]]"),
    "unknown kind": ("kind = 'ball'", "a solid's kind is unknown: choose box, sphere", "'ball'"),
    "missing size": ("kind = 'box'", "the box has no size", "[[bodies.b.solids]]"),
    "unknown key": ("kind = 'sphere'\nradius = 1\nlength = 2", "unknown key in a sphere", "2"),
    "wrong type": ("kind = 'box'\nsize = 3", "a number where three numbers [a, b, c] is meant", "3"),
    "negative": ("kind = 'sphere'\nradius = '1 - 2'", "a sphere: radius: -1 is not positive", "'1 - 2'"),
    "unknown name": ("kind = 'sphere'\nradius = 'R'", "unknown name 'R'", "R"),
    "moving": ("kind = 'sphere'\nradius = 'b.x'", "'b.x' may not be used in a place", "b.x"),
    "reflection": ("kind = 'sphere'\nradius = 1\norientation = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]",
                   "the matrix is not a rotation", "[[1"),
    "colour": ("kind = 'sphere'\nradius = 1\ncolor = 'grun'", "color 'grun' is unknown", "'grun'"),
    "face without a vertex": ("kind = 'mesh'\nvertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]\nfaces = [[0, 1, 3]]",
                              "a face has three whole numbers from 0 to 2", "[[0, 1, 3"),
}  # fmt: skip


@pytest.mark.parametrize("what", SOLID_MISTAKES)
def test_mistakes_of_solids_are_named_and_located(what):
    text, said, place = SOLID_MISTAKES[what]
    require_mistake(SOLID + text, said, place)
    if what != "moving":
        text = "[bodies.b]\nmass = 1\ninertia = [1, 1, 1]\n[[scenery.solids]]\n" + text
        require_mistake(text, said, place.replace("bodies.b", "scenery"))


def test_scenery_needs_bodies_in_space():
    require_mistake(CRANK + "\n[[scenery.solids]]\nkind = 'sphere'\nradius = 1\n", "solids stand in space", "[[scenery")
    require_mistake("[[scenery.solids]]\nkind = 'sphere'\nradius = 1\n", "there are no bodies", "[[scenery")


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_named_and_located(what):
    before, after, said, place = MISTAKES[what]
    assert before in CRANK
    require_mistake(CRANK.replace(before, after, 1), said, place)


def require_mistake(text, said, place):
    with pytest.raises(ModelFileError) as caught:
        read_model(text, "model.toml")
    found = [p for p in caught.value.problems if said in p.message]
    assert found, caught.value
    line = text.split("\n")[found[0].line - 1]
    assert found[0].source == line
    assert line[found[0].column - 1 :].startswith(place), str(found[0])


def test_a_mistake_in_a_body_is_told_once():
    with pytest.raises(ModelFileError) as caught:
        read_model(CRANK.replace("mass = 0.6", "mas = 0.6"))
    assert len(caught.value.problems) == 2  # an unknown key, and a missing one


def test_a_loop_that_cannot_close_is_told_at_its_joint():
    far = "kind = 'rod'\nsecond = 'piston'\nstart = [0, 0]\nend = ['end', 0]\nlength = 9"
    text = CRANK.replace('kind = "driver"\njoint = "axle"\nmotion = "omega*t"', far)
    text = text.replace("motor.motion", "motor.length")
    require_mistake(text, "the mechanism cannot be put together as described", "[joints.")


def test_names_of_a_spring_or_a_curve_must_not_be_known_elsewhere():
    text = CRANK.replace("stiffness = 40", "force = '40*(length - 1)'")
    assert read_model(text).system.potential != read_model(CRANK).system.potential
    assert read_model(text.replace("m = 1.0", "m = 1.0\nrate = 3")).system
    require_mistake(text.replace("m = 1.0", "m = 1.0\nlength = 3"), "'length' is known in [parameters] too", "'40*")


def test_a_body_that_turns_freely_without_inertia_is_told():
    text = """
[bodies.rod]
mass = 1
inertia = [0, 1, 1]
[joints.ball]
kind = "spherical"
second = "rod"
at = [-1, 0, 0]
"""
    require_mistake(text, "body 'rod' has no inertia about an axis about which it is free to turn", "[bodies.rod]")


def test_joints_without_bodies_and_empty_bodies():
    require_mistake("[joints.pin]\nkind = 'revolute'\n", "there are no bodies", "")
    require_mistake("[bodies]\n", "there are no bodies", "[bodies]")
    require_mistake("[bodies.table]\nkind = 'moving'\n", "none of them can move", "[bodies.table]")
    require_mistake("bodies = 3\n", "bodies is a section, not a value", "3")


# Hostile files

SPHERE = "{ kind = 'sphere', radius = 1 }, "
STEP = "{ name = 'a', kind = 'angle', axis = [1, 0, 0] }, "
HOSTILE = {
    "many bodies": "".join(f"[bodies.b{i}]\nmass = 1\ninertia = 1\n" for i in range(4001)),
    "many joints": "[bodies.b]\nmass = 1\ninertia = 1\n" + "".join(
        f"[joints.j{i}]\nkind = 'revolute'\nsecond = 'b'\nat = [0, 0]\n" for i in range(4001)),
    "deep lists": f"[bodies.b]\nmass = 1\ninertia = 1\nposition = {'[' * 500}{']' * 500}\n",
    "deep tables": "[bodies.b]\nmass = 1\ninertia = 1\noutline.a.b.c.d.e.f.g = 1\n",
    "many corners": f"[bodies.b]\nmass = 1\ninertia = 1\noutline = [{'[0, 0], ' * 5000}]\n",
    "many solids": f"[bodies.b]\nmass = 1\ninertia = [1, 1, 1]\nsolids = [{SPHERE * 5000}]\n",
    "many vertices": f"[bodies.b]\nmass = 1\ninertia = [1, 1, 1]\nsolids = [{{ kind = 'mesh', vertices = "
    f"[{'[0, 0, 0], ' * 25000}], faces = [[0, 1, 2]] }}]\n",
    "many steps": f"[bodies.b]\nmass = 1\ninertia = [1, 1, 1]\n[joints.j]\nkind = 'series'\nsecond = 'b'\n"
    f"at = [0, 0, 0]\nsteps = [{STEP * 500}]\n",
    "wrong steps": "[bodies.b]\nmass = 1\ninertia = [1, 1, 1]\n[joints.j]\nkind = 'series'\nsecond = 'b'\n"
    "at = [0, 0, 0]\nsteps = [{ name = 3, kind = 'angle', axis = 'x', extra = [] }, 7, { name = 'x' }]\n",
    "many factors": "[bodies.b]\nmass = 1\ninertia = 1\n[joints.j]\nkind = 'coupling'\n[joints.j.factors]\n"
    + "".join(f"f{i} = 1\n" for i in range(500)),
    "laughs in a place": "[definitions]\nd0 = '1 + 1'\n" + "".join(
        f"d{i + 1} = 'd{i} + d{i} + d{i}*d{i}'\n" for i in range(40)) + "[bodies.b]\nmass = 'd40'\ninertia = 1\n"
    "position = ['d40', 0]\n",
    "a circle of definitions": "[definitions]\na = 'b'\nb = 'a'\n[bodies.b]\nmass = 1\ninertia = 1\n"
    "position = ['a', 'b']\n",
    "large numbers": "[bodies.b]\nmass = 1e400\ninertia = 1\nposition = [1e400, 0]\n",
    "far away": "[bodies.b]\nmass = 1\ninertia = 1\nposition = [1e300, 0]\n",
    "overflow": "[bodies.b]\nmass = 1e200\ninertia = 1\n[joints.j]\nkind = 'rod'\nsecond = 'b'\nstart = [0, 1]\n"
    "end = [1, 0]\nlength = 1e200\n",
    "a tower": "[bodies.b]\nmass = '9^9^9^9'\ninertia = 1\n",
    "names of Python": "[bodies.__class__]\nmass = 1\ninertia = 1\n[joints.__init__]\nkind = '__doc__'\n",
    "a kind of the module": "[bodies.b]\nkind = 'read_urdf'\nmass = 1\n[joints.j]\nkind = 'Mechanism'\nsecond = 'b'\n",
    "dates": "[bodies.b]\nmass = 1979-05-27\ninertia = 1979-05-27\nposition = [1979-05-27, 1]\n",
    "a body of bodies": "[bodies.b.c.d]\nmass = 1\n",
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_files_are_refused_soon(what):
    began = time.process_time()
    with pytest.raises(ModelFileError) as caught:
        read_model(HOSTILE[what])
    assert caught.value.problems
    assert time.process_time() - began < 5


# Places within a part: an argument of its class is a key of its table

SPACE = """
[bodies.arm]
mass = 1
inertia = [1, 1, 1]
[joints.hinge]
kind = "revolute"
second = "arm"
at = [0, 0, 0]
axis = [0, 0, 1]
"""
WITHIN = {
    "a step of a series": ("[joints.s]\nkind = 'series'\nsecond = 'arm'\nat = [0, 0, 0]\nsteps = [\n"
                           "{ name = 'a', kind = 'angle', axis = [1, 0, 0] },\n"
                           "{ name = 'b', kind = 'angle', axis = [0, 0, 0] },\n]\n", "has no direction",
                           "[0, 0, 0] },"),
    "a wheel of a gear": ("[joints.g]\nkind = 'gear'\nfirst = 'hinge'\nsecond = 'hinge.travel'\nratio = 2\n",
                          "has no angle 'travel'", "'hinge.travel'"),
    "a ratio": ("[joints.g]\nkind = 'gear'\nfirst = 'hinge'\nsecond = 'hinge'\nratio = 0\n", "use a driver for that",
                "0"),
    "a point of a force": ("[bodies.bob]\nkind = 'particle'\nmass = 1\nposition = [0, 0, 0]\n[elements.f]\n"
                           "kind = 'force'\nbody = 'bob'\ncomponents = [1, 0, 0]\npoint = [1, 0, 0]\n",
                           "away from the particle 'bob'", "[1, 0, 0]"),
    "a joint in the plane only": ("[joints.w]\nkind = 'rolling-wheel'\nsecond = 'arm'\nradius = 1\n",
                                  "a rolling-wheel joins bodies in the plane only; use rolling-disc or rolling-ball",
                                  "[joints.w]"),
    "a constraint of the file": ("[constraints]\nodd = \"arm.x''^2 = 1\"\n", "constraint 'odd' is nonlinear",
                                 '"arm.x'),
}  # fmt: skip


@pytest.mark.parametrize("what", WITHIN)
def test_mistakes_are_located_within_their_part(what):
    more, said, place = WITHIN[what]
    require_mistake(SPACE + more, said, place)
