"""Geoms of MJCF models are solids on their bodies."""

import numpy as np
import pytest

from zwang import multibody as mb
from zwang.errors import ModelFileError

mujoco = pytest.importorskip("mujoco", reason="MuJoCo's compiler reads MJCF")

SHAPES = """<mujoco><asset><material name="red" rgba="1 0 0 1"/>
 <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1  1 1 1"/></asset><worldbody>
 <geom type="plane" size="1 1 1"/><geom type="box" pos="0 0 -1" size="1 2 3"/>
 <body name="b" pos="0 0 1"><joint/><inertial pos="0.1 0 0" mass="1" diaginertia="1 1 1"/>
  <geom type="sphere" size="0.2" pos="0.3 0 0" material="red"/><geom type="capsule" size="0.1 0.4" rgba="0 1 0 1"/>
  <geom type="cylinder" size="0.1 0.3"/><geom type="ellipsoid" size="0.1 0.2 0.3"/>
  <geom type="mesh" mesh="wedge" pos="0 0.5 0" euler="10 20 30"/>
  <geom type="box" size="1 1 1" group="3"/><geom type="box" size="1 1 1" rgba="0 0 0 0"/></body></worldbody></mujoco>"""


def test_geoms_are_solids():
    found = mb.read_mjcf(SHAPES)
    (body,) = found.mechanism.movable
    sphere, capsule, cylinder, ellipsoid, mesh = body.solids
    assert sphere.at == pytest.approx((0.2, 0, 0))  # from the centre of mass
    assert (sphere.radius, sphere.color, capsule.color, cylinder.color) == (0.2, "#ff0000", "#00ff00", "")
    assert (capsule.radius, capsule.length, cylinder.length) == (0.1, 0.8, 0.6)
    assert ellipsoid.radii == (0.1, 0.2, 0.3)
    (box,) = found.mechanism.scenery
    assert (box.size, box.at) == ((2, 4, 6), (0, 0, -1))
    assert "3 geoms that are not drawn" in found.ignored
    # the corners of the mesh are where MuJoCo has them in the world
    m = mujoco.MjModel.from_xml_string(SHAPES)
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    k = int(np.flatnonzero(m.geom_type == int(mujoco.mjtGeom.mjGEOM_MESH))[0])
    theirs = d.geom_xpos[k] + m.mesh_vert @ d.geom_xmat[k].reshape(3, 3).T
    ours = np.array(body.position) + mesh.at + mesh.vertices @ mesh.turn.T
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


LOST = """<mujoco><compiler meshdir="meshes" texturedir="pictures" {compiler}/>
 <default><default class="visual"><geom type="mesh" contype="0" conaffinity="0" density="0"/></default></default>
 <asset><mesh name="shell" file="shell.stl" scale="0.001 0.001 0.001"/><mesh name="rock" file="parts/rock.obj"/>
  <texture name="wood" type="2d" file="wood.png"/><texture name="sky" type="skybox" fileright="a.png"/>
  <texture name="die" type="cube" file="die.png" gridsize="3 4" gridlayout=".U..LFRB.D.."/>
  <material name="veneer" texture="wood"/><hfield name="hills" file="hills.png" size="1 1 1 .1"/>
  <skin name="fur" file="fur.skn"/></asset>
 <worldbody><geom type="hfield" hfield="hills"/><geom type="mesh" mesh="rock"/>
  <body name="arm"><joint name="h" axis="0 1 0"/>{inertial}
   <geom class="visual" mesh="shell" material="veneer"/><geom type="capsule" size=".1 .2" pos="0 0 -1"/>{more}</body>
 </worldbody></mujoco>"""
INERTIAL = '<inertial pos="0 0 -1" mass="2" diaginertia=".3 .2 .1"/>'


def lost(tmp_path, compiler="", inertial=INERTIAL, more='<geom type="box" mesh="rock"/>'):
    """A model whose files of looks are missing."""
    (tmp_path / "lost.xml").write_text(LOST.format(compiler=compiler, inertial=inertial, more=more))
    return tmp_path / "lost.xml"


def test_looks_whose_files_are_missing_are_warnings(tmp_path):
    model = mb.read_mjcf(lost(tmp_path))
    gone = [w for w in model.warnings if "missing" in w]
    assert gone == [
        f"{what}: the file {file!r} is missing, so that it is not drawn"
        for what, file in (
            ("mesh 'shell'", "shell.stl"),
            ("mesh 'rock'", "parts/rock.obj"),
            ("hfield 'hills'", "hills.png"),
            ("texture 'wood'", "wood.png"),
            ("texture 'sky'", "a.png"),
            ("texture 'die'", "die.png"),
            ("skin 'fur'", "fur.skn"),
        )
    ]
    (arm,) = model.mechanism.bodies
    assert [type(s).__name__ for s in arm.solids] == ["Capsule"]
    assert float(arm.mass) == 2


def test_a_missing_mesh_without_mass_leaves_the_inertia_to_other_geoms(tmp_path):
    model = mb.read_mjcf(lost(tmp_path, inertial="", more=""))
    (arm,) = model.mechanism.bodies
    # a capsule of MuJoCo's density 1000: π r² (2 h) + 4/3 π r³
    assert float(arm.mass) == pytest.approx(1000 * np.pi * (0.1**2 * 0.4 + 4 / 3 * 0.1**3), rel=1e-12)


@pytest.mark.parametrize(
    ("compiler", "inertial", "more"),
    [
        ("", "", '<geom type="mesh" mesh="rock"/>'),
        ("", "", '<geom type="mesh" mesh="rock" mass="3"/>'),  # of which the mass is known, and the moments are not
        ("", "", '<geom type="box" mesh="rock"/>'),
        ('inertiafromgeom="true"', INERTIAL, '<geom type="mesh" mesh="rock"/>'),
    ],
)
def test_a_body_whose_inertia_is_a_missing_meshs_is_refused_by_name(tmp_path, compiler, inertial, more):
    words = "body 'arm': its mass and moments come from a mesh whose file is missing, 'parts/rock.obj': put it"
    with pytest.raises(ModelFileError, match=words):
        mb.read_mjcf(lost(tmp_path, compiler, inertial, more))


def test_meshes_outside_the_groups_that_have_inertia_may_be_missing(tmp_path):
    more = '<geom type="mesh" mesh="rock" group="2"/>'
    model = mb.read_mjcf(lost(tmp_path, 'inertiagrouprange="0 1"', "", more))
    assert any("rock.obj" in w for w in model.warnings)


def test_what_else_is_wrong_is_still_said(tmp_path):
    with pytest.raises(ModelFileError, match="MuJoCo's compiler refuses it"):
        mb.read_mjcf(lost(tmp_path, more='<geom type="mesh" mesh="nobody"/>'))


def test_a_file_that_is_there_but_is_not_a_mesh_is_refused(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "shell.stl").write_text("no mesh")
    with pytest.raises(ModelFileError, match=r"MuJoCo's compiler refuses it: .*shell"):
        mb.read_mjcf(lost(tmp_path))
