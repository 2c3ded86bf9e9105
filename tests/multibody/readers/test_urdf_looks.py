"""Visual elements of URDF files are solids on their bodies; what is missing is a warning."""

import json
from pathlib import Path

import numpy as np
import pytest

from zwang import multibody as mb
from zwang.errors import InputError
from zwang.multibody.readers.mjcf_process import COMPILER

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
        ('<mesh filename="/etc/passwd"/>', "its mesh '/etc/passwd' is of a kind that is not read"),
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
    (folder / "finger.obj").write_bytes((ROBOTS / "meshes" / "finger.obj").read_bytes())
    (folder / "broken.stl").write_text("solid nothing", encoding="utf-8")
    meshes = '<mesh filename="package://my_arm/finger.obj"/>', '<mesh filename="broken.stl"/>'
    (folder / "rod.urdf").write_text(ROD.format(*map(visual, meshes)), encoding="utf-8")
    robot = mb.read_urdf(folder / "rod.urdf")
    assert [s.kind for s in robot.mechanism.movable[0].solids] == ["mesh"]
    assert "its mesh 'broken.stl' cannot be read" in robot.warnings[0]


TETRAHEDRON = """o t
mtllib {mtl}
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""


@pytest.fixture
def ros(tmp_path):
    """A package as ROS has it, urdf/ beside meshes/, and somebody's private mesh above it."""
    pytest.importorskip("trimesh", reason="the extra meshes reads STL and OBJ")
    package = tmp_path / "ros" / "my_arm"
    (package / "urdf" / "sub").mkdir(parents=True)
    (package / "meshes").mkdir()
    for place in (package / "urdf", package / "urdf" / "sub", package / "meshes", tmp_path):
        (place / "t.obj").write_text(TETRAHEDRON.format(mtl="/etc/hostname"), encoding="utf-8")
    (package / "urdf" / "link.obj").symlink_to(tmp_path / "t.obj")
    (package / "urdf" / "linked").symlink_to(tmp_path, target_is_directory=True)
    (package / "urdf" / "circle.obj").symlink_to("circle.obj")
    (package / "urdf" / "inner.obj").symlink_to("sub/t.obj")
    return package


def looked_at(ros, name, packages=None):
    """The kinds of solids of a rod with this mesh, and the warnings."""
    (ros / "urdf" / "rod.urdf").write_text(ROD.format(visual(f'<mesh filename="{name}"/>'), ""), encoding="utf-8")
    robot = mb.read_urdf(ros / "urdf" / "rod.urdf", packages=packages)
    return [s.kind for s in robot.mechanism.movable[0].solids], " ".join(robot.warnings)


ELSEWHERE = "leads out of the model's folder and of all packages that were named; not drawn"


@pytest.mark.parametrize("name", ["t.obj", "./sub/../t.obj", "file://t.obj", "sub/t.obj", "inner.obj",
                                  "package://sub/t.obj", "package://any/t.obj"])  # fmt: skip
def test_meshes_beside_the_model_are_read(ros, name):
    assert looked_at(ros, name) == (["mesh"], "")


@pytest.mark.parametrize("name", ["../meshes/t.obj", "../../../t.obj", "{top}/t.obj", "file://{top}/t.obj", "link.obj",
                                  "package://x/{top}/t.obj", "package://my_arm/../../../t.obj", "linked/t.obj",
                                  "circle.obj", "sub/../../meshes/t.obj",
                                  "../../../is/not/there.obj"])  # fmt: skip
def test_meshes_elsewhere_are_not_read(ros, name):
    """Neither by .., nor absolute, nor through links; and nobody learns whether something is there."""
    kinds, words = looked_at(ros, name.format(top=ros.parents[1]))
    assert kinds == []
    assert ELSEWHERE in words


def test_packages_that_are_named_are_read_and_nothing_beside_them(ros):
    named = {"my_arm": ros, "other": ros / "meshes"}
    for name in ("package://my_arm/meshes/t.obj", "../meshes/t.obj", "package://other/t.obj"):
        assert looked_at(ros, name, named) == (["mesh"], "")
    for name in (
        "package://my_arm/../../t.obj",
        "package://other/../../../t.obj",
        f"package://other/{ros.parents[1]}/t.obj",
    ):
        assert ELSEWHERE in looked_at(ros, name, named)[1]
    assert "is missing; not drawn" in looked_at(ros, "package://my_arm/no.obj", named)[1]
    assert "packages={'my_arm': folder}" in looked_at(ros, "package://my_arm/meshes/t.obj")[1]
    assert looked_at(ros, "package://my_arm/meshes/t.obj", {"my_arm": str(ros)}) == (["mesh"], "")
    for wrong in ({"my_arm": ros / "nowhere"}, {"": ros}, {"my_arm": 3}, {"a/b": ros}):
        with pytest.raises(InputError, match="packages: "):
            looked_at(ros, "t.obj", wrong)


def gltf(uri):
    """One triangle, its corners in a buffer of 36 bytes."""
    return json.dumps({
        "asset": {"version": "2.0"}, "buffers": [{"byteLength": 36, "uri": uri}],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 4}]}],
        "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}], "scene": 0,
    })  # fmt: skip


def test_buffers_of_meshes_are_read_from_the_same_folders_alone(ros):
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes()
    for place in (ros / "urdf", ros / "meshes", ros.parents[1]):
        (place / "b.bin").write_bytes(corners)
    (ros / "urdf" / "l.bin").symlink_to(ros.parents[1] / "b.bin")

    def with_buffer(uri, packages=None):
        (ros / "urdf" / "m.gltf").write_text(gltf(uri), encoding="utf-8")
        return looked_at(ros, "m.gltf", packages)

    assert with_buffer("b.bin") == (["mesh"], "")
    for uri in ("../meshes/b.bin", "../../../b.bin", f"{ros.parents[1]}/b.bin", "l.bin", "rod.urdf", "no.bin"):
        kinds, words = with_buffer(uri)
        assert kinds == []
        assert "not drawn" in words
    assert with_buffer("../meshes/b.bin", {"my_arm": ros}) == (["mesh"], "")


def test_a_mesh_that_unpacks_to_gigabytes_is_not_drawn(ros):
    """An accessor without a buffer is zeros, as many as it says: 300 bytes took 4 GB and 10 s."""
    resource = pytest.importorskip("resource")
    said = json.loads(gltf(""))
    said["accessors"] = [{"componentType": 5126, "count": 300_000_000, "type": "VEC3"}]
    (ros / "urdf" / "m.gltf").write_text(json.dumps(said), encoding="utf-8")
    COMPILER.end()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    kinds, words = looked_at(ros, "m.gltf")
    COMPILER.end()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert kinds == []
    assert "its mesh 'm.gltf' cannot be read" in words
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5
    assert looked_at(ros, "t.obj") == (["mesh"], "")


def test_collada_declares_no_entities(ros):
    text = '<!DOCTYPE c [<!ENTITY a SYSTEM "file:///etc/hostname">]><COLLADA>&a;</COLLADA>'
    for content in (text.encode(), b"PK\3\4" + bytes(100)):
        (ros / "urdf" / "c.dae").write_bytes(content)
        kinds, words = looked_at(ros, "c.dae")
        assert kinds == []
        assert "its mesh 'c.dae' cannot be read (this model has 1 mistake" in words
