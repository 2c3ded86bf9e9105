"""Geoms of MJCF models are solids on their bodies."""

import numpy as np
import pytest

from zwang import multibody as mb

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
