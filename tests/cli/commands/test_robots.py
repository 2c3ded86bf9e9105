"""Robots in URDF and MJCF are models of the command: read, minded, run and drawn."""

import json
import math

import numpy as np
import pytest

import zwang as zw
from zwang.cli.exits import Exit
from zwang.files.store import load_motion

LINK = """<link name="{name}"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
<inertia ixx="{moment}" iyy="{moment}" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
ARM = f"""<robot name="Arm"><link name="base"/>{LINK.format(name="rod", moment=0.5)}
<joint name="shoulder" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""
SLOPPY = ARM.replace('"0.5"', '"0.001"')
MJCF = """<mujoco model="Leg"><option gravity="0 0 -9.81"/><worldbody><body name="leg">
<joint name="hip" type="hinge" axis="0 1 0"/><inertial pos="0 0 -0.5" mass="2" diaginertia="0.5 0.5 0.1"/>
</body></worldbody></mujoco>"""
ALONE = f'<robot name="Stone">{LINK.format(name="stone", moment=1)}</robot>'
AT_REST = "begins at rest, joints as the file has them; see --start, --gravity and --until"


@pytest.fixture
def robot(zwang):
    """Run the command on robots' files."""
    for name, text in {"arm.urdf": ARM, "sloppy.urdf": SLOPPY, "leg.xml": MJCF, "stone.urdf": ALONE}.items():
        (zwang.folder / name).write_text(text, encoding="utf-8")
    return zwang


def words(result):
    return " ".join((result.stdout + result.stderr).split())


def angle(motion):
    """The rod's angle from straight down, from its centre of mass."""
    x, z = (motion.q.sel(coordinate=f"rod.{axis}").values for axis in "xz")
    return np.arctan2(-x, -z)


def test_a_robot_runs_from_the_start_and_under_the_gravity_that_are_given(robot):
    """A small swing of a physical pendulum: angle = a cos(ω t), ω² = m g l/(I + m l²) = 2 · 3 · 0.5/(0.5 + 0.5)."""
    options = ("--start", "shoulder=0.0001", "--gravity", "0,0,-3", "--until", "2", "-o", "m.nc")
    result = robot("run", "arm.urdf", *options)
    assert result.exit_code == 0, result.output
    assert "end          finished at t = 2 s." in result.stdout
    assert "\nstart " not in result.stdout  # it begins where it was told to: nothing was put together
    assert result.stderr == ""
    motion = load_motion(robot.folder / "m.nc")
    expected = 1e-4 * np.cos(math.sqrt(3) * motion.time.values)
    assert np.abs(angle(motion) - expected).max() < 1e-11  # the swing is not quite small: its period differs by a²/16


def test_what_was_mended_is_in_the_report(robot):
    result = robot("run", "sloppy.urdf", "--until", "0.1", "--report", "r.html")
    assert result.exit_code == 0, result.output
    page = (robot.folder / "r.html").read_text(encoding="utf-8")
    assert "Mended or left out" in page
    assert "link &#x27;rod&#x27;: " in page


def test_a_rate_at_the_start(robot):
    robot("run", "arm.urdf", "--start", "shoulder'=2", "--gravity", "0,0,0", "--until", "1", "--out", "m.nc")
    motion = load_motion(robot.folder / "m.nc")
    assert angle(motion) == pytest.approx(2 * motion.time.values, abs=1e-10)


@pytest.mark.parametrize(("file", "joint"), [("arm.urdf", "shoulder"), ("leg.xml", "hip")])
def test_a_robot_that_does_nothing_says_so_and_what_to_do(robot, file, joint):
    pytest.importorskip("mujoco")
    result = robot("run", file)
    assert result.exit_code == 0, result.output
    assert AT_REST in words(result)
    assert "nothing moves: the start is an equilibrium; begin elsewhere, as with" in words(result)
    assert f"--start {joint}=0.1" in words(result)
    moved = robot("run", file, "--start", f"{joint}=0.1", "--until", "0.5")
    assert moved.exit_code == 0, moved.output
    assert "nothing moves" not in moved.output


def test_what_was_mended_is_said_first_and_to_machines(robot):
    result = robot("run", "sloppy.urdf", "--start", "shoulder=1", "--json")
    said = "link 'rod': moments 0.001, 0.001, 0.1 cannot belong to a body; taken as they are"
    assert json.loads(result.stdout)["warnings"] == [said]
    assert f"warning: {said}" in words(result)
    assert robot("run", "sloppy.urdf", "--start", "shoulder=1", "--quiet").output == ""


@pytest.mark.parametrize("command", [("run",), ("check",), ("plot", "-o", "p.png"), ("animate", "-o", "a.glb")])
def test_a_package_is_where_it_is_said_to_be(robot, command):
    """The mesh lies beside the model's folder; without the package it is a warning."""
    pytest.importorskip("trimesh")
    (robot.folder / "urdf").mkdir()
    (robot.folder / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    look = '<visual><geometry><mesh filename="package://mine/t.obj"/></geometry></visual></link>'
    (robot.folder / "urdf" / "a.urdf").write_text(
        ARM.replace("</inertial></link>", f"</inertial>{look}"), encoding="utf-8"
    )
    missing = robot(command[0], "urdf/a.urdf", *command[1:])
    assert "its mesh 'package://mine/t.obj' is missing: say where the package is" in words(missing)
    named = robot(command[0], "urdf/a.urdf", *command[1:], "--package", "mine=.", *(["--start", "shoulder=1"]))
    assert named.exit_code == 0, named.output
    assert "mesh" not in words(named)


def test_a_floating_base_on_request(robot):
    result = robot("run", "stone.urdf")
    assert result.exit_code == Exit.MODEL
    assert "nothing in it can move: --floating-base frees its root" in words(result)
    assert robot("run", "stone.urdf", "--floating-base", "--until", "2", "-o", "m.nc").exit_code == 0
    last = load_motion(robot.folder / "m.nc").isel(time=-1)
    assert float(last.q.sel(coordinate="stone.z")) == pytest.approx(-0.5 - 9.81 * 2**2 / 2, rel=1e-12)


LIMITED = ARM.replace('type="continuous"', 'type="revolute"').replace(
    "</joint>", '<limit lower="-1" upper="0.5" effort="1" velocity="1"/></joint>', 1
)


def test_ranges_are_stops_on_request(robot):
    (robot.folder / "limited.urdf").write_text(LIMITED, encoding="utf-8")
    begin = ("--start", "shoulder'=2", "--gravity", "0,0,0", "--until", "1", "--out", "m.nc")
    assert robot("run", "limited.urdf", *begin).exit_code == 0
    assert "mode" not in load_motion(robot.folder / "m.nc")
    assert robot("run", "limited.urdf", "--limits", *begin).exit_code == 0
    motion = load_motion(robot.folder / "m.nc")
    assert motion.transition_contact.values.tolist() == ["shoulder.upper"]
    assert motion.transition_time.values[0] == pytest.approx(0.25, rel=1e-11)


@pytest.mark.parametrize(
    "command",
    [
        ("check", "arm.urdf", "--limits"),
        ("check", "arm.urdf"),
        ("plot", "arm.urdf", "--out", "arm.svg", "--until", "0.2"),
        ("animate", "arm.urdf", "-o", "arm.html", "--start", "shoulder=0.3", "--until", "0.2"),
        ("run", "arm.urdf", "--report", "arm.html", "--until", "0.2"),
        ("assemble", "arm.urdf"),
    ],
)
def test_commands_take_a_robot(robot, command):
    result = robot(*command)
    assert result.exit_code == 0, result.output


REFUSED = {
    ("run", "arm.urdf", "--start", "shouldr=1"): (Exit.USAGE, "--start: there is no joint 'shouldr'"),
    ("run", "arm.urdf", "--start", "shoulder"): (Exit.USAGE, "write a name, = and a number"),
    ("run", "arm.urdf", "--gravity", "9.81"): (Exit.USAGE, "give three numbers, as in 0,0,-9.81"),
    ("run", "arm.urdf", "--gravity", "0,0,down"): (Exit.USAGE, "'down' is not a number"),
    ("run", "arm.urdf", "--set", "m=1"): (Exit.USAGE, "m is not a parameter of this model: the model has none"),
    ("run", "arm.urdf", "--out", "arm.urdf"): (Exit.USAGE, "this is where the model is read from"),
    ("run", "leg.xml", "--floating-base"): (Exit.MODEL, "in MJCF, a body with a free joint is one"),
    ("run", "pendulum.toml", "--gravity", "0,0,1"): (Exit.USAGE, "--gravity is for robots in URDF or MJCF"),
    ("run", "pendulum.toml", "--limits"): (Exit.USAGE, "--limits is for robots in URDF or MJCF"),
    ("run", "pendulum.toml", "--floating-base"): (Exit.USAGE, "--floating-base is for robots in URDF or MJCF"),
    ("run", "pendulum.toml", "--package", "a=."): (Exit.USAGE, "--package is for robots in URDF or MJCF"),
    ("run", "arm.urdf", "--package", "a"): (Exit.USAGE, "write a name, = and a folder"),
    ("run", "arm.urdf", "--package", "a=nowhere"): (Exit.USAGE, "--package: 'a' is to be in 'nowhere'"),
    ("run", "leg.xml", "--package", "a=."): (Exit.MODEL, "packages are for URDF"),
    ("run", "pendulum.toml", "--start", "z=1"): (Exit.USAGE, "z is not a coordinate or rate of this model"),
    ("run", "page.xml"): (Exit.MODEL, "its root is neither <robot …>, as in URDF, nor <mujoco …>, as in MJCF"),
    ("run", "broken.urdf"): (Exit.MODEL, "broken.urdf: this model has 1 mistake: - it is not XML"),
    ("run", "arm.xacro"): (Exit.MODEL, "make the URDF first: xacro arm.xacro > arm.urdf"),
    ("run", "arm.sdf"): (Exit.MODEL, "SDF is not read; write the robot as URDF or MJCF"),
    ("run", "nothing.urdf"): (Exit.MODEL, "nothing.urdf: there is no such file"),
}


@pytest.mark.parametrize("command", REFUSED)
def test_wrong_uses_say_what_to_do(robot, command):
    pytest.importorskip("mujoco")
    for name, text in {"page.xml": "<html/>", "broken.urdf": "<robot>", "arm.xacro": ARM, "arm.sdf": "<sdf/>"}.items():
        (robot.folder / name).write_text(text, encoding="utf-8")
    result = robot(*command)
    code, said = REFUSED[command]
    assert result.exit_code == code, result.output
    assert said in " ".join(result.output.replace("│", " ").split())


def test_a_model_of_coordinates_begins_elsewhere_too(zwang):
    """Straight down and at rest is where a pendulum stays."""
    result = zwang("run", "pendulum.toml", "--start", "x=0", "--start", "y=-1")
    assert "nothing moves: the start is an equilibrium" in words(result)
    off = zwang("run", "pendulum.toml", "--start", "x=0", "--start", "y=-2")
    assert off.exit_code == Exit.START
    bodies = zwang("run", "slider_crank_bodies", "--start", "crank.x=1")
    assert (bodies.exit_code, "change the places in [bodies]" in words(bodies)) == (Exit.USAGE, True)


def test_robots_are_loaded_in_python_too(robot):
    model = zw.load_model(robot.folder / "sloppy.urdf")
    assert model.system.name == "Arm"
    assert len(model.warnings) == 1
    assert model.simulate(until=0.1).attrs["status"] == "finished"


MOTOR = MJCF.replace('gravity="0 0 -9.81"', 'gravity="0 0 0"').replace(
    "</mujoco>", '<actuator><motor name="drive" joint="hip"/></actuator></mujoco>'
)


@pytest.mark.parametrize(
    ("given", "torque", "angle_at"),
    [
        ("drive=3", lambda t: 3 + 0 * t, lambda t: 3 * t**2 / 2),
        ("drive=3*sin(2*t)", lambda t: 3 * np.sin(2 * t), lambda t: 3 * (t / 2 - np.sin(2 * t) / 4)),
        ("drive=drive.csv", lambda t: 2 * t, lambda t: t**3 / 3),
    ],
)
def test_a_motor_is_driven_from_the_command_line(robot, given, torque, angle_at):
    """I φ'' = u with I = 0.5 + 2 · 0.5² = 1 about the hip, without gravity; the power of the motor is u φ'."""
    pytest.importorskip("mujoco")
    (robot.folder / "motor.xml").write_text(MOTOR, encoding="utf-8")
    (robot.folder / "drive.csv").write_text("t,u\n0,0\n1,2\n", encoding="utf-8")

    result = robot("run", "motor.xml", "--input", given, "--until", "1", "-o", "m.nc", "--json")

    assert result.exit_code == 0, result.output
    assert list(json.loads(result.stdout)["inputs"]) == ["drive"]
    motion, mechanism = load_motion(robot.folder / "m.nc"), zw.load_model(robot.folder / "motor.xml").mechanism
    found, t = mechanism.coordinates(motion), motion.time.values
    assert np.abs(np.abs(found.angle.values[:, 0]) - angle_at(t)).max() < 1e-9
    power = mechanism.energies(motion).power.sel(element="drive_actuator").values
    assert np.abs(power - torque(t) * np.abs(found.angle_rate.values[:, 0])).max() < 1e-9


def test_what_is_no_input_is_refused_by_its_name(robot):
    result = robot("run", "arm.urdf", "--input", "knee=3")

    assert result.exit_code == Exit.USAGE
    assert "knee is not an input of this model" in words(result).replace("│ ", "")
