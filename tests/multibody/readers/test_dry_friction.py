"""Arms that are read with dry joints stop, are held aside, and break loose when they are driven: closed forms."""

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq

import zwang as zw
from zwang import multibody as mb

WEIGHT, INERTIA, RUB = 2 * 9.81 * 0.3, 0.05 + 2 * 0.09, 1.5
URDF = """<robot name="arm"><link name="base"/><link name="upper"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
  <inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="elbow" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
  <dynamics friction="1.5"/></joint></robot>"""
MJCF = """<mujoco><worldbody><body name="upper"><joint name="elbow" axis="0 1 0" frictionloss="1.5"/>
  <inertial pos="0.3 0 0" mass="2" diaginertia="0.01 0.05 0.05"/></body></worldbody>
  <actuator><motor name="push" joint="elbow"/></actuator></mujoco>"""


def hangs():
    """Where it stops, from the horizontal and from the vertical on: each half swing loses by friction what it falls."""
    angle = -np.pi / 2
    while WEIGHT * abs(np.sin(angle)) > RUB:
        side = -np.sign(angle)

        def left(to, begin=angle, side=side):
            return WEIGHT * (np.cos(to) - np.cos(begin)) - RUB * side * (to - begin)

        angle = brentq(left, angle + 1e-3 * side, -angle + side)
    return angle


@pytest.mark.parametrize("read", [lambda: mb.read_urdf(URDF, friction=0), lambda: mb.read_mjcf(MJCF, friction=0)])
def test_an_arm_falls_swings_and_hangs_aside(read):
    arm = read()
    assert arm.warnings == ()
    motion = zw.simulate(arm, until=8.0, samples=81)
    [begin], [end] = motion.rest_begin.values, motion.rest_end.values
    assert begin < 6
    assert end == 8
    angle = arm.mechanism.coordinates(motion).angle.values[:, 0] - np.pi / 2
    assert angle[-1] == pytest.approx(hangs(), abs=1e-9)
    still = motion.time.values > begin
    assert np.ptp(motion.q.values[still], axis=0).max() == 0
    assert motion.v.values[still] == pytest.approx(0, abs=1e-20)


def test_a_motor_breaks_the_joint_loose():
    """The push and the weight together reach 1.5 N m; the push grows by 0.5 N m in a second from t = 8 on."""
    arm, t = mb.read_mjcf(MJCF, friction=0), zw.t
    driven = {"push": sp.Piecewise((0, t < 8), ((t - 8) / 2, True))}
    motion = zw.simulate(arm, until=20.0, samples=201, parameters=driven)
    loose = 8 + 2 * (RUB + WEIGHT * np.sin(hangs()))
    assert motion.rest_end.values[0] == pytest.approx(loose, abs=1e-7)
    angle = arm.mechanism.coordinates(motion).angle.values[:, 0] - np.pi / 2
    assert angle[-1] > hangs() + 0.5


def test_a_joint_without_weight_turns_by_what_friction_leaves():
    """½t − 1.5 on the joint from t = 3 on: ω = ¼ (t − 3)²/J."""
    arm = mb.read_mjcf(MJCF.replace("<worldbody>", '<option gravity="0 0 0"/><worldbody>'), friction=0)
    motion = zw.simulate(arm, until=4.0, samples=41, parameters={"push": zw.t / 2})
    assert (motion.rest_begin.item(), motion.rest_end.item()) == (0, pytest.approx(3, abs=1e-11))
    rate = 2 * np.linalg.norm(motion.v.values[:, 3:], axis=1)  # of the quaternion
    assert rate == pytest.approx(0.25 * np.maximum(motion.time.values - 3, 0) ** 2 / INERTIA, abs=1e-10)
