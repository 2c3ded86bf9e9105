"""What a model switches off by itself is off; what it has is as in MuJoCo."""

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb

mujoco = pytest.importorskip("mujoco", reason="MuJoCo's compiler reads MJCF")
from tests.multibody.readers.beside_mujoco import gap_between, random_state  # noqa: E402

ARM = """<mujoco><option>{}</option><compiler angle="radian"/>
<default><geom type="capsule" size="0.03"/></default><worldbody>
 <body name="upper" gravcomp="0.6">
  <joint name="a" axis="0 1 0" armature="0.1" stiffness="2" damping="0.3" frictionloss="0.2"/>
  <geom fromto="0 0 0 0.3 0 0.1" mass="0.5"/>
  <body name="lower" pos="0.3 0 0"><joint name="b" axis="0 1 0.3" damping="0.1"/>
   <joint name="x" type="slide" axis="1 0 0.3" armature="0.2"/>
   <geom fromto="0 0 0 0.1 0.05 -0.3" mass="0.3"/></body></body>
 </worldbody><equality><joint name="tie" joint1="b" joint2="a" polycoef="0 0.5 0 0 0"/></equality></mujoco>"""


@pytest.mark.parametrize("what", ["", "gravity", "frictionloss", "spring", "damper", "constraint", "equality"])
def test_what_is_switched_off_is_off(what):
    text = ARM.format(f'<flag {what}="disable"/>' if what else "")
    m, arm, rng = mujoco.MjModel.from_xml_string(text), mb.read_mjcf(text), np.random.default_rng(3)
    d = random_state(m, rng)
    if what in ("equality", "constraint"):
        assert "equality 'tie': equalities are switched off" in arm.ignored
    assert gap_between(arm, m, d) < 1e-12


@pytest.mark.parametrize(("friction", "share"), [(None, 0.0), (0.0, 1.0), (0.5, np.tanh(0.8 / 0.5))])
def test_dry_friction_may_be_left_out_dry_or_creep(friction, share):
    wheel = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="h" axis="0 0 1" frictionloss="0.3"/>
     <inertial pos="0 0 0" mass="1" diaginertia="1 1 2"/></body></worldbody></mujoco>"""
    found = mb.read_mjcf(wheel, friction=friction)
    spin = 2 * zw.evaluate(found, found.start(rates={"h": 0.8})).acceleration[6]
    assert spin == pytest.approx(-0.3 * share / 2, abs=1e-13)
    assert bool(found.warnings) == (friction is None)
