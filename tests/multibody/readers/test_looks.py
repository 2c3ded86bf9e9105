"""Two robots that are read, drawn and moved: a figure in MJCF and an arm in URDF, as in MuJoCo to 1e-10."""

from pathlib import Path

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb

mujoco = pytest.importorskip("mujoco", reason="MuJoCo's compiler reads MJCF")
from tests.multibody.readers.beside_mujoco import gap_between, random_state  # noqa: E402

ROBOTS = Path(__file__).parents[3] / "examples" / "robots"


def test_a_figure_with_rotors_ranges_motors_and_geoms():
    path = ROBOTS / "humanoid.xml"
    m, figure, rng = mujoco.MjModel.from_xml_path(str(path)), mb.read_mjcf(path), np.random.default_rng(1)
    assert (len(figure.inputs), len(figure.limits)) == (18, 18)
    assert all(b.solids for b in figure.mechanism.movable)
    for _ in range(4):
        assert gap_between(figure, m, random_state(m, rng)) < 1e-10
    # where motors push hard MuJoCo's friction, which is soft, is not f against the motion: without it
    smooth, d = mb.read_mjcf(path, friction=None), random_state(m, rng)
    d.ctrl[:] = rng.uniform(-1, 1, m.nu)
    given = dict(zip(figure.inputs, map(float, d.ctrl), strict=True))
    assert gap_between(smooth, m, d, ("LIMIT", "CONTACT", "FRICTIONLOSS"), given) < 1e-10


def test_an_arm_with_meshes_and_mimic(joint_accelerations):
    path = ROBOTS / "arm.urdf"
    arm, rng = mb.read_urdf(path), np.random.default_rng(2)
    plain = path.read_text(encoding="utf-8").replace(
        "<mesh ", '<sphere radius="0.1" '
    )  # MuJoCo finds no meshes in text
    m = mujoco.MjModel.from_xml_string(plain)
    d, names = mujoco.MjData(m), [m.joint(j).name for j in range(m.njnt)]
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT) | int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    grip, follow = names.index("grip"), names.index("follow")
    J = np.zeros((1, m.nv))
    J[0, follow], J[0, grip] = 1, 1  # follow = −grip
    for _ in range(3):
        d.qpos[:], d.qvel[:] = rng.uniform(-1, 1, m.nq), rng.uniform(-1, 1, m.nv)
        d.qpos[follow], d.qvel[follow] = -d.qpos[grip], -d.qvel[grip]
        mujoco.mj_forward(m, d)
        M = np.array([np.zeros(m.nv)] * m.nv)
        for column, unit in zip(M, np.eye(m.nv), strict=True):
            mujoco.mj_mulM(m, d, column, unit)
        free = np.linalg.solve(M, d.qfrc_passive - d.qfrc_bias)
        W = np.linalg.solve(M, J.T)
        theirs = free - W @ np.linalg.solve(J @ W, J @ free)
        state = (dict(zip(names, map(float, x), strict=True)) for x in (d.qpos, d.qvel))
        ours = joint_accelerations(arm, *state)
        found = np.array([ours[name][0] for name in names])
        np.testing.assert_allclose(found, theirs, rtol=1e-10, atol=1e-10 * np.abs(theirs).max())


def test_both_are_drawn():
    for robot in (mb.read_mjcf(ROBOTS / "humanoid.xml"), mb.read_urdf(ROBOTS / "arm.urdf")):
        motion = zw.simulate(robot, until=0.02, samples=2)
        assert motion.attrs["status"] == "finished"
        assert motion.sizes["drawn"] > len(robot.mechanism.movable)
        assert all(b.solids or "mesh" in str(robot.warnings) for b in robot.mechanism.movable)
