"""Tendons over joints: springs, dampers, equalities and limits, as MuJoCo has them."""

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb

mujoco = pytest.importorskip("mujoco", reason="MuJoCo's compiler reads MJCF")
from tests.multibody.readers.beside_mujoco import gap_between, random_state  # noqa: E402

HAND = """<mujoco><option gravity="0.2 0.1 -9.8"/><compiler angle="radian"/><default><geom type="capsule" size="0.03"/>
<joint damping="0.05"/></default><worldbody>
 <body name="palm" pos="0 0 1"><joint name="turn" axis="0.1 0 1" armature="0.02"/>
  <geom fromto="0 0 0 0.2 0 0.1" mass="0.5"/>
  <body name="first" pos="0.2 0 0"><joint name="a" axis="0 1 0" ref="0.2"/>
   <geom fromto="0 0 0 0.1 0.05 -0.3" mass="0.3"/>
   <body name="tip" pos="0.1 0.05 -0.3"><joint name="b" axis="0 1 0.2"/>
    <geom fromto="0 0 0 0 0 -0.2" mass="0.2"/></body>
  </body>
  <body name="second" pos="-0.2 0 0"><joint name="c" axis="0 1 0"/><geom fromto="0 0 0 0 0 -0.3" mass="0.3"/></body>
  <body name="rod" pos="0 0.3 0"><joint name="s" type="slide" axis="1 0 1" ref="-0.1"/>
   <geom fromto="0 0 0 0.1 0 0" mass="0.2"/></body>
 </body></worldbody>
 <tendon>
  <fixed name="curl" stiffness="3" damping="0.4" springlength="0.3"><joint joint="a" coef="0.7"/>
   <joint joint="b" coef="-0.5"/></fixed>
  <fixed name="slack" stiffness="20" springlength="-0.2 0.1"><joint joint="s" coef="1"/><joint joint="turn" coef="0.1"/>
  </fixed>
  <fixed name="sum" limited="true" range="-0.5 0.6"><joint joint="b" coef="1"/><joint joint="c" coef="2"/></fixed>
  <fixed name="own"><joint joint="s" coef="3"/></fixed>
 </tendon>{}</mujoco>"""
COUPLED = '<equality><tendon name="one" tendon1="sum" tendon2="own" polycoef="0.1 0.4 0 0 0"/></equality>'
HELD = '<equality><tendon name="one" tendon1="sum"/></equality>'


@pytest.mark.parametrize("rest", ["", COUPLED, HELD])
def test_a_hand_with_tendons_moves_as_in_mujoco(rest):
    text = HAND.format(rest)
    m, hand, rng = mujoco.MjModel.from_xml_string(text), mb.read_mjcf(text), np.random.default_rng(2)
    for _ in range(4):
        assert gap_between(hand, m, random_state(m, rng)) < 1e-11


def test_a_tendon_keeps_its_length_in_motion():
    hand = mb.read_mjcf(HAND.format(HELD))
    motion = zw.simulate(hand, until=0.5, samples=5)
    angle = hand.mechanism.coordinates(motion).angle
    np.testing.assert_allclose(angle.sel(joint="b") + 2 * angle.sel(joint="c"), 0, atol=1e-10)


def test_what_tendons_do_that_is_left_out_is_warned_of():
    sites = """<tendon><spatial name="cord" stiffness="3"><site site="p"/><site site="q"/></spatial>
     <spatial name="line"><site site="p"/><site site="q"/></spatial>
     <fixed name="rough" frictionloss="0.2"><joint joint="h" coef="1"/></fixed></tendon>"""
    text = f"""<mujoco><worldbody><site name="p"/><body><joint name="h"/><geom size="0.1"/>
     <site name="q" pos="1 0 0"/></body></worldbody>{sites}</mujoco>"""
    found = mb.read_mjcf(text)
    assert "tendon 'cord' goes through space, which is not read: its stiffness left out" in found.warnings
    assert "tendon 'line' through space: a line" in found.ignored
    assert "tendon 'rough': its dry friction is left out" in found.warnings
