"""Motors and servos are inputs, and act as MuJoCo's do."""

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb

mujoco = pytest.importorskip("mujoco", reason="MuJoCo's compiler reads MJCF")
from tests.multibody.readers.beside_mujoco import gap_between, random_state  # noqa: E402

ARM = """<mujoco><compiler angle="radian"/>
<default><geom type="capsule" size="0.03" contype="0" conaffinity="0"/></default>
<worldbody>
 <body name="upper"><joint name="a" axis="0 1 0" armature="0.1"/><geom fromto="0 0 0 0.3 0 0.1" mass="0.5"/>
  <body name="lower" pos="0.3 0 0"><joint name="b" axis="0 1 0.3"/><geom fromto="0 0 0 0.1 0.05 -0.3" mass="0.3"/>
   <body name="tip" pos="0.1 0.05 -0.3"><joint name="c" type="slide" axis="0 1 0.2"/>
    <geom fromto="0 0 0 0 0 -0.2" mass="0.2"/></body></body></body></worldbody>
 <tendon><fixed name="sum"><joint joint="a" coef="0.5"/><joint joint="b" coef="-0.7"/></fixed></tendon>
 <actuator><motor name="drive" joint="a" gear="3" ctrlrange="-1 1"/><position name="hold" joint="b" kp="5" gear="2"/>
  <velocity name="pace" joint="c" kv="0.7"/><motor name="pull" tendon="sum" gear="1.5"/>
  <general name="odd" joint="a" gainprm="2 0.3 0.1" gaintype="affine" biastype="affine" biasprm="0.1 -0.2 -0.3"/>
 </actuator></mujoco>"""


def test_commands_act_as_in_mujoco():
    m, arm, rng = mujoco.MjModel.from_xml_string(ARM), mb.read_mjcf(ARM), np.random.default_rng(3)
    assert arm.inputs == ("drive", "hold", "pace", "pull", "odd")
    for _ in range(3):
        d = random_state(m, rng)
        d.ctrl[:] = rng.uniform(-1, 1, m.nu)
        given = dict(zip(arm.inputs, map(float, d.ctrl), strict=True)) | {"servos": 1}
        assert gap_between(arm, m, d, ("LIMIT", "CONTACT"), given) < 1e-12


def test_without_commands_nothing_acts():
    m, arm, rng = mujoco.MjModel.from_xml_string(ARM), mb.read_mjcf(ARM), np.random.default_rng(4)
    assert gap_between(arm, m, random_state(m, rng)) < 1e-12
    assert (
        "actuator 'hold': a servo, off until the parameter 'servos' is 1, its command is the input 'hold'" in arm.read
    )


def test_a_command_may_be_a_signal():
    arm = mb.read_mjcf(ARM)
    push = zw.Signal([0.0, 0.5, 1.0], [0.0, 1.0, 0.0])
    still, pushed = (zw.simulate(arm, until=1.0, samples=3, parameters=given) for given in (None, {"drive": push}))
    assert float(abs(pushed.q - still.q).max()) > 1e-2


def test_what_is_not_read_is_warned_of():
    text = ARM.replace(
        '<motor name="pull" tendon="sum" gear="1.5"/>',
        """
     <general name="slow" joint="a" dyntype="filter" dynprm="0.1"/><muscle name="flesh" joint="a" lengthrange="0 1"/>
     <intvelocity name="sum" joint="a" kp="2" actrange="-1 1"/>""",
    )
    warnings = mb.read_mjcf(text).warnings
    assert "actuator 'slow' acts at once: its filter of 0.1 s is left out" in warnings
    assert "actuator 'flesh' is left out: dynamics 'muscle' are not read" in warnings
    assert "actuator 'sum' is left out: dynamics 'integrator' are not read" in warnings
    off = text.replace("<mujoco>", '<mujoco><option><flag actuation="disable"/></option>')
    assert "actuator 'drive' is left out: actuation is switched off" in mb.read_mjcf(off).warnings
