import re

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb
from zwang.errors import AssemblyError, InputError, ModelFileError


def link(name: str, mass: float, origin: str, inertia: tuple[float, ...], rest: str = "") -> str:
    xx, yy, zz, xy, xz, yz = inertia
    return (
        f'<link name="{name}"><inertial><origin {origin}/><mass value="{mass}"/><inertia ixx="{xx}" iyy="{yy}" '
        f'izz="{zz}" ixy="{xy}" ixz="{xz}" iyz="{yz}"/></inertial>{rest}</link>'
    )


def joint(name: str, kind: str, parent: str, child: str, rest: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{rest}</joint>'


BOX = (0.02, 0.03, 0.025, 0.002, -0.001, 0.003)  # off the axes
SHAPE = '<visual><geometry><sphere radius="0.1"/></geometry></visual>'
LIMIT = '<limit lower="-1" upper="1" effort="9" velocity="9"/>'

# An arm of six joints with inertias off the axes, in frames that are turned, and a tool that is fixed to it.
ARM = "\n".join(
    [
        '<robot name="arm"><link name="base"/><transmission name="gears"/>',
        link("shoulder", 3.0, 'xyz="0.01 -0.02 0.1" rpy="0.1 0.2 0.3"', BOX, SHAPE + SHAPE),
        link("upper", 2.0, 'xyz="0.15 0.01 0.02" rpy="-0.4 0.3 0.1"', BOX),
        link("lower", 1.5, 'xyz="0.1 0.03 -0.02" rpy="0.5 -0.2 0.7"', BOX),
        link("wrist", 0.8, 'xyz="0 0.02 0.03" rpy="0 0 1"', BOX),
        link("hand", 0.5, 'xyz="0.01 0 0.02"', BOX),
        link("palm", 0.4, 'xyz="0.02 0.01 0.05" rpy="0 1.2 0"', BOX),
        '<link name="flange"/>',
        link("tool", 0.3, 'xyz="0.05 0.02 0.1" rpy="0.3 0.1 0"', BOX),
        joint("j1", "revolute", "base", "shoulder", '<origin xyz="0 0 0.2"/><axis xyz="0 0 1"/>' + LIMIT),
        joint(
            "j2",
            "revolute",
            "shoulder",
            "upper",
            '<origin xyz="0.05 0 0.2" rpy="1.5707963267948966 0 0.2"/><axis xyz="0 0 1"/><dynamics damping="0.6"/>',
        ).replace("</joint>", LIMIT + "</joint>"),
        joint("j3", "continuous", "upper", "lower", '<origin xyz="0.3 0 0.01" rpy="0.1 0 0"/><axis xyz="0.1 0 1"/>'),
        joint("j4", "continuous", "lower", "wrist", '<origin xyz="0.25 0.02 0" rpy="0 1.4 0"/><axis xyz="0 0 -2"/>'),
        joint("j5", "prismatic", "wrist", "hand", '<origin xyz="0 0 0.1"/><axis xyz="0 0.3 1"/>' + LIMIT),
        joint("j6", "continuous", "hand", "palm", '<origin rpy="0.2 0.1 0"/><dynamics damping="0.1" friction="0.2"/>'),
        joint("weld1", "fixed", "palm", "flange", '<origin xyz="0 0 0.08" rpy="0.3 0 0"/>'),
        joint("weld2", "fixed", "flange", "tool", '<origin xyz="0 0.01 0.02" rpy="0 0 0.8"/>'),
        "</robot>",
    ]
)

BASE = '<robot name="r"><link name="base"/>'
ROD = link("rod", 1.0, 'xyz="0 0 -1"', (1.0, 1.0, 1.0, 0, 0, 0))
PIN = joint("pin", "continuous", "base", "rod", '<axis xyz="0 1 0"/>')


def test_the_arm_has_mujocos_mass_matrix_and_bias_forces(minimal):
    # MuJoCo has a reader of URDF of its own
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(ARM)
    data, M = mujoco.MjData(model), np.zeros((6, 6))
    arm = mb.read_urdf(ARM)
    project = minimal(arm)
    names = [model.joint(j).name for j in range(model.njnt)]
    rng = np.random.default_rng(5)
    for _ in range(10):
        data.qpos[:], data.qvel[:] = rng.uniform(-3, 3, 6), rng.uniform(-3, 3, 6)
        mujoco.mj_forward(model, data)
        for column, unit in zip(M, np.eye(6), strict=True):
            mujoco.mj_mulM(model, data, column, unit)
        ours = project(dict(zip(names, data.qpos, strict=True)), dict(zip(names, data.qvel, strict=True)))
        np.testing.assert_allclose(ours.M, M, rtol=0, atol=1e-10)
        np.testing.assert_allclose(ours.effort, data.qfrc_passive - data.qfrc_bias, rtol=0, atol=1e-10)
        assert ours.residual < 1e-11


def test_without_dampers_the_arm_keeps_its_energy():
    arm = mb.read_urdf(ARM.replace('damping="0.6"', "").replace('damping="0.1"', ""))
    start = arm.start({"j2": 0.7, "j3": -0.4, "j5": 0.05}, {"j1": 1.5, "j6": -2.0})
    motion = zw.simulate(arm.mechanism.system, start, until=1.0, samples=21)
    assert float(abs(motion.energy - motion.energy[0]).max()) < 1e-9
    assert float(abs(motion.residual).max()) < 1e-9
    joints = arm.mechanism.coordinates(motion)
    assert joints.angle.sel(joint="j2")[0] == pytest.approx(0.7, abs=1e-13)
    assert joints.travel.sel(joint="j5")[0] == pytest.approx(0.05, abs=1e-13)
    assert joints.angle_rate.sel(joint="j6")[0] == pytest.approx(-2.0, abs=1e-12)


def test_it_says_what_was_read_and_what_was_ignored():
    arm = mb.read_urdf(ARM)
    assert [b.name for b in arm.mechanism.bodies] == ["shoulder", "upper", "lower", "wrist", "hand", "palm", "tool"]
    assert "link 'base': the ground" in arm.read
    assert "link 'flange': without mass, a part of 'palm'" in arm.read
    assert "joint 'j2': damping 0.6" in arm.read
    assert set(arm.ignored) == {
        "transmission 'gears'",
        "joint 'j1': its largest effort and speed",
        "joint 'j2': its largest effort and speed",
        "joint 'j5': its largest effort and speed",
    }
    assert "limit of 'j1': -1 to 1, off; limits=True makes it a stop" in arm.read
    assert "looks: 2 spheres" in arm.read
    assert arm.warnings == (
        "joint 'j6': its dry friction 0.2 is left out; friction=1e-3 puts it in, and lets it creep",
    )
    assert "ignored:\n  - transmission 'gears'" in str(arm)


def test_a_file_is_read_as_its_text_is(tmp_path):
    path, text = tmp_path / "rod.urdf", BASE + ROD + PIN + "</robot>"
    path.write_text(text, encoding="utf-8")
    for source in (path, str(path)):
        assert str(mb.read_urdf(source)) == str(mb.read_urdf(text))


def test_mimic_couples_two_joints():
    second = link("rod2", 1.0, 'xyz="0 0 -1"', (1.0, 1.0, 1.0, 0, 0, 0))
    follow = joint(
        "follower",
        "continuous",
        "base",
        "rod2",
        '<origin xyz="5 0 0"/><axis xyz="0 1 0"/><mimic joint="pin" multiplier="-2" offset="0.3"/>',
    )
    robot = mb.read_urdf(BASE + ROD + second + PIN + follow + "</robot>", gravity=(0, 0, 0))
    start = robot.start({"pin": 0.4}, {"pin": 3.0})
    motion = zw.simulate(robot.mechanism.system, start, until=2.0, samples=9)
    angle = robot.mechanism.coordinates(motion).angle
    np.testing.assert_allclose(angle.sel(joint="follower"), 0.3 - 2 * angle.sel(joint="pin"), atol=1e-11)
    np.testing.assert_allclose(angle.sel(joint="pin"), 0.4 + 3.0 * motion.time, atol=1e-10)  # more than half a turn
    with pytest.raises(AssemblyError, match=r"'follower_mimic\.sum' stays open"):
        robot.start({"pin": 0.4, "follower": 0.4})
    with pytest.raises(
        AssemblyError, match=r"pin' .* and follower' .* cannot be kept together with 'follower_mimic.sum'"
    ):
        robot.start({"pin": 0.4}, {"pin": 1.0, "follower": 1.0})


def test_a_planar_joint_slides_and_turns_in_its_plane():
    # down a plane tilted by 30° the puck accelerates with g sin 30°, and keeps its spin
    slope = joint("slope", "planar", "base", "rod", f'<origin rpy="{np.pi / 6} 0 0"/><axis xyz="0 0 1"/>')
    puck = mb.read_urdf(BASE + ROD.replace('xyz="0 0 -1"', 'xyz="0 0 0"') + slope + "</robot>", gravity=(0, 0, -10))
    start = puck.start({"slope.travel1": 0.2}, {"slope.travel1": 1.0, "slope.angle": 5.0})
    motion = zw.simulate(puck.mechanism.system, start, until=2.0, samples=5)
    joints, t = puck.mechanism.coordinates(motion), motion.time
    np.testing.assert_allclose(joints.travel1.sel(joint="slope"), 0.2 + t, atol=1e-10)
    np.testing.assert_allclose(joints.travel2.sel(joint="slope"), -5 * t**2 / 2, atol=1e-10)
    np.testing.assert_allclose(joints.angle.sel(joint="slope"), 5 * t, atol=1e-9)


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e-200, 1.0, 1e200, 1e308])
@pytest.mark.parametrize("kind", ["continuous", "prismatic", "planar"])
def test_an_axis_of_any_length_is_a_direction(kind, size):
    there = mb.read_urdf(BASE + ROD + joint("pin", kind, "base", "rod", f'<axis xyz="0 {size} {-size}"/>') + "</robot>")
    unit = mb.read_urdf(BASE + ROD + joint("pin", kind, "base", "rod", '<axis xyz="0 1 -1"/>') + "</robot>")
    there, unit = (zw.evaluate(robot, robot.start()).acceleration for robot in (there, unit))
    np.testing.assert_allclose(there, unit, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('<mass value="1.0"/>', '<mass value="1e308"/>', "link 'rod': mass: value='1e308' is beyond 1e+40"),
        ('xyz="0 0 -1"', 'xyz="0 -1e155 1"', "link 'rod': inertial: origin: xyz='0 -1e155 1' is beyond 1e+40"),
        ('<mass value="1.0"/>', '<mass value="5e-324"/>', "link 'rod': its mass 4.94066e-324 cannot be told from zero"),
        ('ixx="1.0"', 'ixx="-1e200"', "link 'rod': inertia: ixx='-1e200' is beyond 1e+40"),
    ],
)
def test_numbers_that_overflow_are_refused_by_name(old, new, words):
    assert old in ROD
    with pytest.raises(ModelFileError, match=re.escape(words)):
        mb.read_urdf(BASE + ROD.replace(old, new) + PIN + "</robot>")


def test_limits_of_the_largest_number_are_none():
    """As exporters write them for joints without limits."""
    text = BASE + ROD + PIN.replace("continuous", "revolute") + "</robot>"
    ends = {"-1.79769e+308 1.79769e+308": [], "-1e+300 2": ["pin.upper"], "-1 1e308": ["pin.lower"]}
    for said, names in ends.items():
        lower, upper = said.split()
        tag = f'<limit lower="{lower}" upper="{upper}" effort="1" velocity="1"/></joint>'
        robot = mb.read_urdf(text.replace("</joint>", tag), limits=True)
        assert [c.name for c in robot.mechanism.system.constraints if c.one_sided] == names


@pytest.mark.parametrize("way", ["joint", "option"])
def test_a_floating_link_falls(way):
    if way == "joint":
        robot = mb.read_urdf(BASE + ROD + joint("fly", "floating", "base", "rod") + "</robot>")
        name = "fly"
    else:
        robot = mb.read_urdf(f'<robot name="r">{ROD}</robot>', floating_base=True)
        name = "base"
    start = robot.start({name: (0, 0, 1, 1, 0, 0, 0)}, {name: (2, 0, 0, 0, 0, 3)})
    motion = zw.simulate(robot.mechanism.system, start, until=1.0, samples=3)
    path = robot.mechanism.track(motion, "rod")  # the centre of mass is 1 below the link's origin
    np.testing.assert_allclose(path[-1], (2, 0, -9.81 / 2), atol=1e-10)


def test_a_link_without_mass_is_a_part_of_what_is_fixed_below_it():
    light = '<link name="light"/>'
    swing = joint("pin", "continuous", "base", "light", '<origin xyz="0 0 1"/><axis xyz="0 1 0"/>')
    weld = joint("weld", "fixed", "light", "rod", '<origin xyz="0 0 -1"/>')
    both = mb.read_urdf(BASE + light + ROD + swing + weld + "</robot>")
    now = zw.evaluate(both.mechanism.system, both.start({"pin": np.pi / 2}))
    # m = 1, I = 1, the centre of mass 2 from the pin: |φ̈| = m g l/(I + m l²)
    assert np.hypot(*now.acceleration[[0, 2]]) == pytest.approx(2 * 2 * 9.81 / 5, rel=1e-12)


def test_a_link_may_be_called_like_a_joint():
    robot = mb.read_urdf((BASE + ROD + PIN + "</robot>").replace('"pin"', '"rod"'))
    assert [b.name for b in robot.mechanism.bodies] == ["rod_link"]
    assert "link 'rod': a body of mass 1, called 'rod_link' here" in robot.read


BACKWARDS = '<limit lower="1" upper="-1" effort="1" velocity="1"/></joint>'


def test_limits_that_leave_no_room_are_left_out():
    text = BASE + ROD + PIN.replace("continuous", "revolute").replace("</joint>", BACKWARDS) + "</robot>"
    robot = mb.read_urdf(text, limits=True)
    assert robot.warnings == ("joint 'pin': its limits, 1 to -1, leave it nowhere to be; left out",)
    assert not any(c.one_sided for c in robot.mechanism.system.constraints)


@pytest.mark.parametrize(
    ("encoding", "before"),
    [
        ("utf-8", ""),
        ("utf-8-sig", '<?xml version="1.0"?>'),
        ("utf-8", '\n \n<?xml version="1.0" encoding="UTF-8"?>'),
        ("latin-1", '<?xml version="1.0" encoding="ISO-8859-1"?>\n'),
        ("cp1252", "<?xml version='1.0' encoding='windows-1252' ?>"),
        ("utf-16", '<?xml version="1.0" encoding="UTF-16"?>'),
    ],
)
def test_files_are_read_in_the_encoding_that_they_say(encoding, before, tmp_path):
    text = before + (BASE + ROD + PIN + "</robot>").replace('"rod"', '"Käfer"')
    (tmp_path / "r.urdf").write_bytes(text.encode(encoding))
    assert [b.name for b in mb.read_urdf(tmp_path / "r.urdf").mechanism.bodies] == ["Käfer"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<robot><link name='a'>", "not XML"),
        ("<robotics/>", "its root is <robotics>, but that of URDF is <robot>"),
        ("<robot name='r'/>", "it has no link"),
        ("<robot><link/></robot>", "the link number 1 has no name"),
        (BASE + "<link name='base'/></robot>", "two of the links are called 'base'"),
        (BASE + ROD + PIN + PIN + "</robot>", "two of the joints are called 'pin'"),
        (BASE + ROD + PIN.replace("continuous", "gooseneck") + "</robot>", "joint 'pin': type 'gooseneck' is unknown"),
        (BASE + PIN + "</robot>", "joint 'pin': its child 'rod' is not a link of this robot"),
        (BASE + ROD + "</robot>", "the links 'base', 'rod' have no parent"),
        (BASE + ROD + PIN.replace('<parent link="base"/>', "") + "</robot>", "joint 'pin': it names no parent link"),
        (BASE + ROD + PIN + PIN.replace("pin", "nail") + "</robot>", "'rod' is the child of both 'pin' and 'nail'"),
        (BASE + ROD.replace('value="1.0"', 'value="-1"') + PIN + "</robot>", "link 'rod': its mass is -1"),
        (BASE + ROD.replace('value="1.0"', 'value="heavy"') + PIN + "</robot>", "value='heavy' is not a number"),
        (BASE + ROD.replace('value="1.0"', 'value="nan"') + PIN + "</robot>", "value='nan' is not a number"),
        (BASE + ROD.replace('value="1.0"', "") + PIN + "</robot>", "link 'rod': mass: value is missing"),
        (
            BASE + ROD.replace('ixx="1.0"', 'ixx="5"') + PIN + "</robot>",
            "'rod': the principal moments 1, 1, 5 violate",
        ),
        (BASE + ROD.replace('value="1.0"', 'value="0"') + PIN + "</robot>", "'rod': it has moments of inertia but no"),
        (BASE + ROD + PIN.replace("0 1 0", "0 0 0") + "</robot>", "joint 'pin': its axis is zero"),
        (BASE + ROD + PIN.replace("0 1 0", "0 1") + "</robot>", "xyz='0 1' is not 3 numbers"),
        (BASE + "<link name='rod'/>" + PIN + "</robot>", "link 'rod' can move but has no mass"),
        (BASE + ROD + PIN.replace("</joint>", "<mimic joint='no'/></joint>") + "</robot>", "there is no joint 'no'"),
        (BASE + ROD + PIN.replace("</joint>", "<mimic joint='pin'/></joint>") + "</robot>", "it follows itself"),
        (
            BASE + ROD + PIN.replace("</joint>", '<dynamics damping="-1"/></joint>') + "</robot>",
            "joint 'pin': its damping is -1",
        ),
        ("<robot xmlns:xacro='http://ros.org/wiki/xacro'><xacro:include/><link name='a'/></robot>", "written in xacro"),
        ("<robot><xacro:include/><link name='a'/></robot>", "it is written in xacro"),
        (
            BASE + ROD.replace('value="1.0"', 'value="${2*m}"') + PIN + "</robot>",
            "'${2*m}' is not a number; it is written in",
        ),
        (
            BASE + ROD + PIN.replace("0 1 0", "0 0,5 0") + "</robot>",
            "'0 0,5 0' is not 3 numbers; write a decimal point",
        ),
        (BASE + ROD.replace('value="1.0"', 'value="1_0"') + PIN + "</robot>", "value='1_0' is not a number"),
        (BASE + ROD.replace('value="1.0"', 'value="1e400"') + PIN + "</robot>", "value='1e400' is not a number"),
        (
            BASE + ROD + PIN.replace("continuous", "revolute").replace("</joint>", BACKWARDS) + "</robot>",
            "joint 'pin': its limits, 1 to -1, leave it nowhere to be: the lower one comes first",
        ),
    ],
)
def test_mistakes_are_named(text, words):
    with pytest.raises(ModelFileError) as error:
        mb.read_urdf(text, strict=True)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BASE + ROD + PIN.replace("0 1 0", "0 0 0") + "</robot>", "joint 'pin': its axis is zero"),
        (BASE + ROD + PIN + PIN.replace("pin", "nail") + "</robot>", "'rod' is the child of both 'pin' and 'nail'"),
        (BASE + ROD.replace('value="1.0"', 'value="-1"') + PIN + "</robot>", "link 'rod': its mass is -1"),
        (BASE + ROD.replace('value="1.0"', 'value="heavy"') + PIN + "</robot>", "value='heavy' is not a number"),
        (BASE + ROD + "</robot>", "the links 'base', 'rod' have no parent"),
        (BASE + "<link name='rod'/>" + PIN + "</robot>", "nothing in it can move"),
    ],
)
def test_what_has_no_meaning_is_refused_always(text, words):
    with pytest.raises(ModelFileError) as error:
        mb.read_urdf(text)
    assert words in str(error.value)


def test_a_joint_that_mimics_with_the_multiplier_0_is_held_at_the_offset():
    bar = ROD.replace('"rod"', '"bar"') + PIN.replace('"rod"', '"bar"').replace('"pin"', '"axle"')
    mimic = bar.replace("</joint>", '<mimic joint="pin" multiplier="0" offset="0.3"/></joint>')
    robot = mb.read_urdf(BASE + ROD + PIN + mimic + "</robot>")
    start = {str(q): value for q, value in robot.start().items()}
    assert start["axle.angle(t)"] == pytest.approx(0.3, abs=1e-12)


def test_a_cycle_is_named():
    round_trip = joint("back", "fixed", "rod", "bar") + joint("forth", "fixed", "bar", "rod")
    text = BASE + ROD + '<link name="bar"/>' + round_trip + "</robot>"
    with pytest.raises(ModelFileError, match="the joints make a cycle: 'rod' → 'bar' → 'rod'"):
        mb.read_urdf(text)


def test_all_mistakes_come_at_once():
    text = BASE + ROD.replace('value="1.0"', 'value="-1"') + PIN.replace("continuous", "gooseneck") + "</robot>"
    with pytest.raises(ModelFileError) as error:
        mb.read_urdf(text, strict=True)
    assert len(error.value.problems) == 2


def test_entities_are_refused():
    bomb = (
        '<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><robot name="&b;"><link name="x"/></robot>'
    )
    with pytest.raises(ModelFileError, match="document type 'robot'"):
        mb.read_urdf(bomb)


def test_a_huge_text_is_refused(monkeypatch):
    monkeypatch.setattr("zwang.multibody.readers.xml_text.MOST", 100)
    with pytest.raises(ModelFileError, match="longer than 100 characters"):
        mb.read_urdf(ARM)


def test_a_missing_file_is_named():
    with pytest.raises(InputError, match=r"'no\.urdf' cannot be read as URDF"):
        mb.read_urdf("no.urdf")


def test_start_refuses_what_is_no_joint_value():
    robot = mb.read_urdf(BASE + ROD + PIN + "</robot>")
    with pytest.raises(InputError, match="values: there is no joint 'pint'; there are 'pin'"):
        robot.start({"pint": 1.0})
    with pytest.raises(InputError, match=r"rates: joint 'pin' \(hinge\) takes 1 numbers, not 2"):
        robot.start({}, {"pin": (1.0, 2.0)})
