import sys

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb
from zwang.errors import AssemblyError, InputError, ModelFileError

mujoco = pytest.importorskip("mujoco", reason="MuJoCo's compiler reads MJCF")

# All kinds of joints: sprung, damped, off the bodies' origins, about skew axes, two on one body; and a fixed body.
TREE = """<mujoco model="tree"><option gravity="0.3 -0.2 -9.8"/><compiler angle="radian"/>
<worldbody>
 <body name="cart" pos="0.1 0.2 0.3" euler="0.2 0.1 -0.3">
  <joint name="rail" type="slide" axis="1 0.5 0.2" damping="0.7" stiffness="3" springref="0.4" ref="0.1"/>
  <geom type="box" size="0.1 0.2 0.3" pos="0.05 0.02 0.01" euler="0.3 0.2 0.1" mass="2"/>
  <body name="arm" pos="0 0.1 -0.4" euler="0.5 0 0.2">
   <joint name="hip_a" axis="1 0 0.3" pos="0.02 0.1 0.05" damping="0.3"/>
   <joint name="hip_b" axis="0 1 0.1" pos="-0.02 0.1 0.02" stiffness="2" springref="-0.5" ref="0.3"/>
   <geom type="capsule" size="0.05" fromto="0 0 0 0.2 0.1 -0.5" mass="1.3"/>
   <body name="tool" pos="0.2 0.1 -0.5">
    <geom type="box" size="0.05 0.02 0.03" mass="0.4" pos="0.02 0 0.01"/>
    <body name="ball" pos="0 0 -0.1"><joint name="wrist" type="ball" pos="0 0.02 0.03" damping="0.2"/>
     <geom type="ellipsoid" size="0.1 0.05 0.2" pos="0.1 0.1 -0.2" mass="0.7"/>
     <body name="leaf" pos="0.1 0.1 -0.4"><joint name="last" axis="0 0.6 0.8" ref="0.5" damping="0.1"/>
      <geom type="box" size="0.1 0.05 0.2" pos="0.1 0.1 -0.2" mass="0.3"/></body>
 </body></body></body></body>
 <body name="flyer" pos="1 0 1" euler="0.1 0.2 0.3"><freejoint name="fly"/>
  <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0.1" mass="1"/></body>
</worldbody></mujoco>"""

# A spatial tree closed to a four-bar: the coupler's end is connected to the ground.
FOUR_BAR = """<mujoco model="four-bar"><default><geom type="capsule" size="0.02"/><joint axis="0 1 0"/></default>
<worldbody>
 <body name="crank"><joint name="crank_pin"/><geom fromto="0 0 0 0 0 0.3" mass="0.5"/>
  <body name="coupler" pos="0 0 0.3"><joint name="coupler_pin"/><geom fromto="0 0 0 1 0 0.2" mass="1"/>
   <body name="rocker" pos="1 0 0.2"><joint name="rocker_pin"/><geom fromto="0 0 0 0 0 -0.6" mass="0.8"/>
 </body></body></body>
</worldbody>
<equality><connect name="ground_pin" body1="rocker" body2="world" anchor="0 0 -0.6"/></equality>
</mujoco>"""


def body(inside: str, name: str = "b", pos: str = "0 0 0") -> str:
    return f'<body name="{name}" pos="{pos}">{inside}<geom type="box" size="0.1 0.2 0.3" mass="2"/></body>'


def model(bodies: str, rest: str = "", option: str = '<option gravity="0 0 0"/>') -> str:
    return f"<mujoco>{option}<compiler angle='radian'/><worldbody>{bodies}</worldbody>{rest}</mujoco>"


def joint_state(m, d) -> tuple[dict, dict]:
    values, rates = {}, {}
    for j in range(m.njnt):
        nq, nv = ((7, 6), (4, 3), (1, 1), (1, 1))[int(m.jnt_type[j])]
        name, q, v = m.joint(j).name, int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        values[name], rates[name] = d.qpos[q : q + nq].copy(), d.qvel[v : v + nv].copy()
    return values, rates


def same_dynamics(m, d, ours) -> None:
    mujoco.mj_forward(m, d)
    M = np.zeros((m.nv, m.nv))
    for column, unit in zip(M, np.eye(m.nv), strict=True):  # mj_fullM's arguments differ between versions
        mujoco.mj_mulM(m, d, column, unit)
    np.testing.assert_allclose(ours.M, M, rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours.effort, d.qfrc_passive - d.qfrc_bias, rtol=0, atol=1e-10)
    assert ours.residual < 1e-10


def test_a_tree_has_mujocos_mass_matrix_and_forces(minimal):
    m = mujoco.MjModel.from_xml_string(TREE)
    d, project = mujoco.MjData(m), minimal(mb.read_mjcf(TREE))
    rng = np.random.default_rng(1)
    for _ in range(10):
        d.qpos[:], d.qvel[:] = rng.uniform(-2, 2, m.nq), rng.uniform(-2, 2, m.nv)
        mujoco.mj_normalizeQuat(m, d.qpos)
        same_dynamics(m, d, project(*joint_state(m, d)))


def test_a_closed_loop_is_read_simulated_and_has_mujocos_matrices(minimal):
    four_bar = mb.read_mjcf(FOUR_BAR)
    start = four_bar.start({"crank_pin": 0.3}, {"crank_pin": 4.0})
    motion = zw.simulate(four_bar.mechanism.system, start, until=0.4, samples=6)
    assert float(abs(motion.energy - motion.energy[0]).max()) < 1e-9
    assert float(abs(motion.residual).max()) < 1e-9
    m = mujoco.MjModel.from_xml_string(FOUR_BAR)
    d, project = mujoco.MjData(m), minimal(four_bar, loops=["ground_pin"])
    joints = four_bar.mechanism.coordinates(motion)
    assert joints.angle.sel(joint="crank_pin")[0] == pytest.approx(0.3, abs=1e-12)
    for i in range(len(motion.time)):
        for name in ("crank_pin", "coupler_pin", "rocker_pin"):
            d.joint(name).qpos = joints.angle.sel(joint=name)[i]
            d.joint(name).qvel = joints.angle_rate.sel(joint=name)[i]
        ours = project(*joint_state(m, d))
        same_dynamics(m, d, ours)
        J = d.efc_J.reshape(-1, m.nv)  # MuJoCo's rows of the loop
        np.testing.assert_allclose(np.abs(ours.loops), np.abs(J), rtol=0, atol=1e-10)


def test_the_verdict_names_what_the_spatial_pins_of_a_planar_loop_ask_for_twice():
    four_bar = mb.read_mjcf(FOUR_BAR)
    verdict = zw.diagnose(four_bar.mechanism.system, four_bar.start({"crank_pin": 0.3}))
    assert verdict.degrees_of_freedom == 1
    assert len(verdict.redundant) > 0


def test_it_says_what_was_read_and_what_was_ignored():
    text = """<mujoco><worldbody><light name="sun"/><camera name="eye"/><site name="mark"/>
     <body name="hip"><joint name="hip" range="-1 1" limited="true" armature="0.1" frictionloss="0.2"/>
      <geom size="0.1" mass="1"/>
      <body name="base2"><geom size="0.1" mass="1"/></body></body>
     <body name="pedestal"><geom size="0.1" mass="1"/></body>
     </worldbody><actuator><motor name="m" joint="hip"/></actuator><sensor><jointpos name="s" joint="hip"/></sensor>
     <equality><weld name="off" body1="hip" active="false"/></equality>
     </mujoco>"""
    found = mb.read_mjcf(text)
    assert found.read == (
        "body 'hip': of mass 1, called 'hip_link' here",
        "body 'base2': of mass 1",
        "body 'pedestal': the ground",
        "joint 'hip': hinge of 'hip', armature 0.1",
        "actuator 'm': a motor, its command is the input 'm'",
        "gravity 0 0 -9.81",
        "joint 'hip': dry friction 0.2",
        "limit of 'hip': -0.0174533 to 0.0174533, off; limits=True makes it a stop",
        "looks: 3 spheres",
    )
    assert set(found.ignored) == {
        "equality 'off': it is not active",
        "site 'mark'",
        "camera 'eye'",
        "light 'sun'",
        "sensor 's'",
    }
    assert found.warnings == ("contacts of 3 geoms are left out",)
    assert found.inputs == ("m",)
    assert [j.name for j in found.mechanism.joints] == ["hip", "base2_fixed"]


def test_what_balls_and_free_joints_have_that_is_left_out_is_warned_of_by_name():
    socket = '<joint name="socket" type="ball" stiffness="2" armature="0.1" range="0 1" limited="true"/>'
    text = model(body(socket) + body('<joint name="fly" type="free" damping="0.3"/>', "free"))
    assert set(mb.read_mjcf(text).warnings) >= {
        "joint 'socket': its stiffness 2, of a ball joint, left out",
        "joint 'socket': its armature 0.1, of a ball joint, left out",
        "joint 'socket': its range up to 1, of a ball, left out",
        "joint 'fly': its damping 0.3, of a free joint, left out",
    }


def test_a_weld_holds_the_pose_that_it_says(tmp_path):
    # a quarter turn about z, 0.5 along x, although the bodies stand elsewhere in the file; and sites instead of bodies
    free = '<freejoint name="{0}"/><site name="site_{0}" pos="0.1 0 0" euler="0 0 0.3"/>'
    bodies = body(free.format("one"), "a") + body(free.format("two"), "b", "0.4 0.1 0")
    relpose = '<equality><weld name="w" body1="a" body2="b" relpose="0.5 0 0 0.70710678 0 0 0.70710678"/></equality>'
    welded = mb.read_mjcf(model(bodies, relpose))
    start = welded.start({"one": (1, 0, 0, 1, 0, 0, 0)}, {"one": (0, 0, 0, 0, 0, 2.0)})
    names = {str(q): value for q, value in start.items()}
    np.testing.assert_allclose([names["b.x(t)"], names["b.y(t)"]], (1.5, 0), atol=1e-9)
    np.testing.assert_allclose(abs(names["b.q3(t)"]), np.sqrt(0.5), atol=1e-8)
    assert names["Derivative(b.y(t), t)"] == pytest.approx(1.0, abs=1e-9)  # ω × r
    by_site = '<equality><weld name="w" site1="site_one" site2="site_two"/></equality>'
    path = tmp_path / "sites.xml"
    path.write_text(model(bodies, by_site), encoding="utf-8")
    start = mb.read_mjcf(path).start({"one": (1, 0, 0, 1, 0, 0, 0)})
    names = {str(q): value for q, value in start.items()}
    np.testing.assert_allclose([names[f"b.{k}(t)"] for k in ("x", "y", "z", "q3")], (1, 0, 0, 0), atol=1e-8)


def test_connected_bodies_share_a_point_and_keep_their_momentum():
    bodies = body('<freejoint name="one"/>', "a") + body('<freejoint name="two"/>', "b", "1 0 0")
    text = model(bodies, '<equality><connect name="pin" body1="a" body2="b" anchor="0.5 0 0"/></equality>')
    pair = mb.read_mjcf(text)
    start = pair.start({}, {"one": (0, 1, 0, 0.3, 0.2, 0.1)})
    motion = zw.simulate(pair.mechanism.system, start, until=1.0, samples=5)
    centre = (pair.mechanism.track(motion, "a") + pair.mechanism.track(motion, "b")) / 2
    straight = centre.values[0] + np.outer(motion.time, centre.values[-1] - centre.values[0])
    np.testing.assert_allclose(centre, straight, atol=1e-10)
    gap = pair.mechanism.track(motion, "a", (0.5, 0, 0)) - pair.mechanism.track(motion, "b", (-0.5, 0, 0))
    assert float(abs(gap).max()) < 1e-9


def test_a_joint_equality_couples_a_hinge_to_a_slide():
    # a screw: travel 0.2 + 0.05 (angle − its reference) + its own reference; more than one turn
    bodies = body('<joint name="turn" axis="0 0 1" ref="0.1"/>') + body(
        '<joint name="lift" type="slide" axis="0 0 1" ref="0.4"/>', "c", "1 0 0"
    )
    text = model(
        bodies, '<equality><joint name="screw" joint1="lift" joint2="turn" polycoef="0.2 0.05 0 0 0"/></equality>'
    )
    screw = mb.read_mjcf(text)
    start = screw.start({"turn": 1.1}, {"turn": 4.0})
    motion = zw.simulate(screw.mechanism.system, start, until=2.0, samples=5)
    joints = screw.mechanism.coordinates(motion)
    angle, travel = joints.angle.sel(joint="turn"), joints.travel.sel(joint="lift")
    np.testing.assert_allclose(angle, 1.1 + 4.0 * motion.time, atol=1e-9)
    np.testing.assert_allclose(travel, 0.4 + 0.2 + 0.05 * (angle - 0.1), atol=1e-10)


def test_a_polynomial_couples_joints_too():
    text = model(
        body('<joint name="p" ref="0.1"/>') + body('<joint name="q" ref="0.2"/>', "c"),
        '<equality><joint name="bent" joint1="p" joint2="q" polycoef="0.3 1 0.5 0 -0.2"/></equality>',
    )
    bent = mb.read_mjcf(text)
    motion = zw.simulate(bent, bent.start({"q": 0.7}, {"q": 2.0}), until=0.5, samples=4)
    joints = bent.mechanism.coordinates(motion).angle
    x = joints.sel(joint="q") - 0.2
    np.testing.assert_allclose(joints.sel(joint="p") - 0.1, 0.3 + x + 0.5 * x**2 - 0.2 * x**4, atol=1e-10)


@pytest.mark.parametrize("other", ["", 'joint2="loose"'])
def test_a_joint_equality_without_a_slope_holds_a_joint(other):
    text = model(
        body('<joint name="turn" ref="0.1"/>') + body('<joint name="loose"/>', "c"),
        f'<equality><joint joint1="turn" {other} polycoef="0.2 0 0 0 0"/></equality>',
    )
    held = mb.read_mjcf(text)
    assert held.start()[held.mechanism.joints[0].variables[0]] == pytest.approx(0.3, abs=1e-12)


def test_a_hinge_spring_counts_turns():
    # m x'' = −k x beyond half a turn: an angle of 5 rad swings like a small one
    text = model(body('<joint name="turn" axis="0 0 1" stiffness="3"/>'))
    wheel = mb.read_mjcf(text)
    inertia = 2 * (0.2**2 + 0.4**2) / 12
    period = 2 * np.pi / np.sqrt(3 / inertia)
    motion = zw.simulate(wheel.mechanism.system, wheel.start({"turn": 5.0}), until=period / 2, samples=3)
    angle = wheel.mechanism.coordinates(motion).angle.sel(joint="turn")
    np.testing.assert_allclose(angle, (5, 0, -5), atol=1e-8)


def test_gravity_can_be_off():
    off = '<option><flag gravity="disable"/></option>'
    assert mb.read_mjcf(model(body("<freejoint/>"), option=off)).mechanism.forces == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<mujoco><worldbody>", "MuJoCo's compiler refuses it"),
        (model('<body name="x"><joint/></body>'), "MuJoCo's compiler refuses it"),
        (model(body('<joint name="o" type="wrong"/>')), "MuJoCo's compiler refuses it"),
        (
            model(body('<joint type="ball" name="o"/><joint name="s" type="slide"/>', "wrist")),
            "body 'wrist': its joints are ball, slide",
        ),
        (
            model(
                body('<joint name="p"/><site name="s"/>') + body('<joint name="q"/><site name="r"/>', "c", "1 0 0"),
                '<tendon><spatial name="t"><site site="s"/><site site="r"/></spatial></tendon>'
                '<equality><tendon name="cord" tendon1="t"/></equality>',
            ),
            "equality 'cord': it holds a tendon through space",
        ),
        ("<mujoco/>", "nothing in it can move"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(text, words):
    with pytest.raises(ModelFileError) as error:
        mb.read_mjcf(text)
    assert words in str(error.value)


def test_a_loop_that_cannot_close_is_named():
    four_bar = mb.read_mjcf(FOUR_BAR)
    with pytest.raises(AssemblyError, match=r"'ground_pin\.[xyz]' stays open"):
        four_bar.start({"crank_pin": 0.3, "coupler_pin": 2.0})


def test_a_missing_file_is_named():
    with pytest.raises(InputError, match=r"'no\.xml' cannot be read as MJCF"):
        mb.read_mjcf("no.xml")


def test_without_mujoco_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(InputError, match=r"pip install 'zwang\[mjcf\]'"):
        mb.read_mjcf("<mujoco/>")


def test_a_hinge_begins_at_its_reference():
    """qpos0 is `ref`, beyond half a turn, too; and 100 rad further on after one second at 100 rad/s."""
    found = mb.read_mjcf(model(body(f'<joint name="turn" axis="0 0 1" ref="{np.radians(200)}"/>')))
    motion = zw.simulate(found.mechanism.system, found.start(rates={"turn": 100}), 1.0, samples=3)
    angle = found.mechanism.coordinates(motion).angle[:, 0]
    assert np.abs(angle - np.radians(200) - 100 * motion.time).max() < 1e-8


BOX = '<body><joint/><geom type="box" size="1 1 1"/></body>'
CUBE = (
    "\n".join(f"v {x} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (0, 1))
    + "\nf 1 2 3\nf 2 3 4\nf 5 6 7\nf 6 7 8\n"
)
OUTSIDE = {
    "include": '<mujoco><include file="{}"/></mujoco>',
    "mesh": '<mujoco><asset><mesh name="m" file="{}"/></asset></mujoco>',
    "texture": '<mujoco><asset><texture name="t" type="2d" file="{}"/></asset></mujoco>',
    "side of a texture": '<mujoco><asset><texture name="t" type="cube" fileright="{}"/></asset></mujoco>',
    "height field": '<mujoco><asset><hfield name="h" size="1 1 1 1" file="{}"/></asset></mujoco>',
    "model": '<mujoco><asset><model name="m" file="{}"/></asset></mujoco>',
    "folder": '<mujoco><compiler meshdir="{}"/><asset><mesh name="m" file="a.obj"/></asset></mujoco>',
}


@pytest.mark.parametrize("how", OUTSIDE)
def test_a_model_opens_no_file_outside_its_folder(how, tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    secret = tmp_path / "secret.xml"
    secret.write_text("<mujocoinclude><worldbody/></mujocoinclude>")
    (folder / "link.xml").symlink_to(secret)
    (folder / "round.xml").symlink_to("round.xml")
    for name in (
        secret,
        "../secret.xml",
        "a/../../secret.xml",
        "..\\secret.xml",
        "C:\\secret.xml",
        "link.xml",
        "round.xml",
    ):
        if how == "folder" and str(name).endswith(("link.xml", "round.xml")):
            continue
        (folder / "m.xml").write_text(OUTSIDE[how].format(name))
        with pytest.raises(ModelFileError, match="out of the model's folder"):
            mb.read_mjcf(folder / "m.xml")
    (folder / "m.xml").write_text('<mujoco><include file="own.xml"/></mujoco>')
    (folder / "own.xml").write_text(f'<mujocoinclude><include file="{secret}"/></mujocoinclude>')
    with pytest.raises(ModelFileError, match="out of the model's folder"):
        mb.read_mjcf(folder / "m.xml")


def test_a_model_reads_the_files_in_its_folder(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "cube.obj").write_text(CUBE)
    (tmp_path / "body.xml").write_text(f"<mujocoinclude><worldbody>{BOX}</worldbody></mujocoinclude>")
    (tmp_path / "m.xml").write_text(
        '<mujoco><compiler meshdir="meshes"/><include file="body.xml"/>'
        '<asset><mesh name="cube" file="cube.obj"/></asset>'
        '<worldbody><body name="b"><joint/><geom type="mesh" mesh="cube"/></body></worldbody></mujoco>'
    )
    assert len(mb.read_mjcf(tmp_path / "m.xml").mechanism.bodies) == 2
    with pytest.raises(ModelFileError, match="a text has no folder"):
        mb.read_mjcf((tmp_path / "m.xml").read_text())


def test_warnings_go_into_no_log_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelFileError, match="NaN"):
        mb.read_mjcf("<mujoco><worldbody>" + BOX.replace("<body>", "<body pos='nan 0 0'>") + "</worldbody></mujoco>")
    twice = "<body><geom size='0.1'/><joint name='a'/><joint name='b'/></body>"
    text = f"<mujoco><worldbody>{twice}</worldbody></mujoco>"
    warned: list[str] = []  # by MuJoCo itself: since some version of it, of an inertia close to singular
    mujoco.set_mju_user_warning(lambda words: warned.append(" ".join(str(words).split())))
    mujoco.MjModel.from_xml_string(text)
    mujoco.set_mju_user_warning(None)
    warnings = mb.read_mjcf(text).warnings
    assert all(f"MuJoCo warns: {words}" in warnings for words in warned)
    assert list(tmp_path.iterdir()) == []
    assert mujoco.get_mju_user_warning() is None
