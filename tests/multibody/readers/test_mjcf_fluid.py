"""The drag of a medium is MuJoCo's."""

import numpy as np
import pytest

from zwang import multibody as mb

mujoco = pytest.importorskip("mujoco", reason="MuJoCo's compiler reads MJCF")
from tests.multibody.readers.beside_mujoco import gap_between, random_state  # noqa: E402

FISH = """<mujoco><option density="900" viscosity="0.4" wind="0.3 -0.2 0.5"/><worldbody>
 <body name="fish"><freejoint name="swim"/><geom type="ellipsoid" size="0.1 0.05 0.2" euler="20 10 0" mass="1"/>
  <body name="tail" pos="-0.1 0 0"><joint name="wag" axis="0 0.2 1" damping="0.01"/>
   <geom type="box" size="0.1 0.01 0.05" pos="-0.1 0.02 0" mass="0.2"/></body></body></worldbody></mujoco>"""


def test_a_fish_swims_as_in_mujoco():
    m, fish, rng = mujoco.MjModel.from_xml_string(FISH), mb.read_mjcf(FISH), np.random.default_rng(3)
    assert "a medium of density 900 and viscosity 0.4: drag on every body" in fish.read
    for _ in range(3):
        assert gap_between(fish, m, random_state(m, rng)) < 1e-11


def test_drag_on_ellipsoids_is_warned_of():
    text = FISH.replace('mass="1"', 'mass="1" fluidshape="ellipsoid"')
    assert "body 'fish': its drag by ellipsoids is left out" in mb.read_mjcf(text).warnings
