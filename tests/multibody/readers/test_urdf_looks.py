"""Visual elements of URDF files are solids on their bodies; what is missing is a warning."""

from pathlib import Path

import numpy as np
import pytest

from zwang import multibody as mb

ROBOTS = Path(__file__).parents[3] / "examples" / "robots"
ROD = """<robot name="r"><material name="blue"><color rgba="0 0 1 1"/></material><link name="base">
 <visual><origin xyz="1 2 3"/><geometry><box size="1 2 3"/></geometry></visual></link>
 <link name="rod"><inertial><origin xyz="0 0 -1"/><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>{}</link><link name="flag">{}</link>
 <joint name="pin" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
 <joint name="weld" type="fixed"><origin xyz="0 0.5 0" rpy="0 0 1.5707963267948966"/><parent link="rod"/>
  <child link="flag"/></joint></robot>"""
BALL = '<visual><origin xyz="0.1 0 0"/><geometry><sphere radius="0.2"/></geometry><material name="blue"/></visual>'


def visual(geometry: str) -> str:
    return f"<visual><geometry>{geometry}</geometry></visual>"


def test_solids_are_where_the_file_puts_them():
    robot = mb.read_urdf(ROD.format(visual('<cylinder radius="0.1" length="2"/>'), BALL))
    (rod,) = robot.mechanism.movable
    cylinder, ball = rod.solids
    assert cylinder.at == pytest.approx((0, 0, 1))  # the link's origin, from the centre of mass
    assert (cylinder.radius, cylinder.length, ball.radius, ball.color) == (0.1, 2.0, 0.2, "#0000ff")
    assert ball.at == pytest.approx((0, 0.6, 1))  # on a flag that is fixed a quarter of a turn round
    (box,) = robot.mechanism.scenery
    assert (box.at, box.size) == ((1, 2, 3), (1, 2, 3))
    assert "looks: 1 box, 1 cylinder, 1 sphere" in robot.read


@pytest.mark.parametrize(
    ("geometry", "words"),
    [
        ('<mesh filename="no.stl"/>', "link 'rod': its mesh 'no.stl' is missing; not drawn"),
        ('<mesh filename="package://no/no.stl"/>', "its mesh 'package://no/no.stl' is missing"),
        ('<mesh filename="/etc/passwd"/>', "its mesh '/etc/passwd' is missing"),
        ('<box size="1 2"/>', "link 'rod': box: size='1 2' is not 3 numbers; not drawn"),
        ('<sphere radius="-1"/>', "link 'rod': sphere:"),
        ("<torus/>", "link 'rod': torus is not a known shape; not drawn"),
        ("", "link 'rod': a visual has no geometry; not drawn"),
    ],
)
def test_what_cannot_be_drawn_is_a_warning(geometry, words, tmp_path):
    path = tmp_path / "rod.urdf"
    path.write_text(ROD.format(visual(geometry), ""), encoding="utf-8")
    (line,) = mb.read_urdf(path).warnings
    assert words in line


def test_without_a_reader_of_meshes_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    arm = mb.read_urdf(ROBOTS / "arm.urdf")
    assert arm.warnings == ("meshes are not drawn: reading them needs trimesh: pip install 'zwang[meshes]'",)


def test_meshes_are_read_scaled_and_found_in_packages(tmp_path):
    pytest.importorskip("trimesh", reason="the extra meshes reads STL and OBJ")
    arm = mb.read_urdf(ROBOTS / "arm.urdf")
    assert not arm.warnings
    solids = {b.name: b.solids[0] for b in arm.mechanism.movable}
    assert {solids[name].kind for name in ("upper", "lower", "left", "right")} == {"mesh"}
    assert np.ptp(solids["upper"].vertices, axis=0) == pytest.approx((0.4, 0.14, 0.133), abs=1e-3)
    left, right = solids["left"], solids["right"]
    assert right.vertices == pytest.approx(left.vertices * (1, -1, 1))
    for mesh in (left, right):  # the outside is outside: the volume by the corners of the faces is positive
        a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
        assert np.einsum("ij,ij->", a, np.cross(b, c)) > 0
    folder = tmp_path / "my_arm" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "my_arm" / "finger.obj").write_bytes((ROBOTS / "meshes" / "finger.obj").read_bytes())
    (folder / "broken.stl").write_text("solid nothing", encoding="utf-8")
    meshes = '<mesh filename="package://my_arm/finger.obj"/>', '<mesh filename="broken.stl"/>'
    (folder / "rod.urdf").write_text(ROD.format(*map(visual, meshes)), encoding="utf-8")
    robot = mb.read_urdf(folder / "rod.urdf")
    assert [s.kind for s in robot.mechanism.movable[0].solids] == ["mesh"]
    assert "its mesh 'broken.stl' cannot be read" in robot.warnings[0]
