"""Ranges of joints are kept as data, and become one-sided constraints where they are switched on."""

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb
from zwang.errors import AssemblyError

ARM = """<robot name="arm"><link name="base"/>
  <link name="rod"><inertial><origin xyz="0 0 -1"/><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="pin" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
   <limit lower="-0.5" upper="7" effort="1" velocity="1"/></joint></robot>"""


def test_limits_are_data_and_change_nothing_by_themselves():
    arm = mb.read_urdf(ARM)
    assert [(r.name, r.lower, r.upper) for r in arm.limits] == [("pin", -0.5, 7.0)]
    assert not any(c.one_sided for c in arm.mechanism.system.constraints)


def test_limits_switched_on_are_one_sided_constraints_that_count_turns():
    arm = mb.read_urdf(ARM, limits=True)
    system = arm.mechanism.system
    assert [name for name, c in zip(system.constraint_names, system.constraints, strict=True) if c.one_sided] == [
        "pin.lower",
        "pin.upper",
    ]
    assert zw.diagnose(system, arm.start({"pin": 6.5})).degrees_of_freedom == 1
    with pytest.raises(AssemblyError, match=r"'pin\.upper'"):
        arm.start({"pin": 7.2})


def test_a_joint_at_its_stop_is_held_by_it():
    # level, where gravity would pull the rod beyond its stop: nothing moves
    arm = mb.read_urdf(ARM.replace("-0.5", "-3").replace('"7"', f'"{-np.pi / 2!r}"'), limits=True)
    free = mb.read_urdf(ARM)
    for robot, moves in ((free, True), (arm, False)):
        state = robot.start({"pin": -np.pi / 2})
        assert (np.abs(zw.evaluate(robot, state).acceleration).max() > 1) == moves


def test_tendons_have_limits_too():
    pytest.importorskip("mujoco", reason="MuJoCo's compiler reads MJCF")
    box = '<body><joint name="{0}" axis="0 0 1"/><geom size="0.1"/></body>'
    text = f"""<mujoco><compiler angle="radian"/><worldbody>{box.format("p")}{box.format("q")}</worldbody>
     <tendon><fixed name="sum" limited="true" range="-0.5 0.6"><joint joint="p" coef="1"/>
     <joint joint="q" coef="2"/></fixed></tendon></mujoco>"""
    assert [str(r) for r in mb.read_mjcf(text).limits] == ["'sum': -0.5 to 0.6"]
    pair = mb.read_mjcf(text, limits=True)
    pair.start({"p": 0.3, "q": 0.1})
    with pytest.raises(AssemblyError, match=r"'sum\.upper'"):
        pair.start({"p": 0.5, "q": 0.1})


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_robot_meets_its_stop_in_motion(restitution):
    """A rod without gravity turns steadily into the end of its range, and comes back with its share of the rate."""
    arm = mb.read_urdf(ARM, limits=True, restitution=restitution, gravity=(0, 0, 0))
    motion = zw.simulate(arm, arm.start({"pin": 5.0}, {"pin": 2.0}), until=1.5, tol=1e-13)
    assert motion.transition_contact.values.tolist() == ["pin.upper"]
    assert motion.transition_time.values[0] == pytest.approx(1.0, rel=1e-11)
    rate = arm.mechanism.coordinates(motion).angle_rate.values[-1]
    assert rate == pytest.approx(-2 * restitution, abs=1e-10)


def test_limits_that_are_not_met_change_no_motion():
    arm, free = mb.read_urdf(ARM, limits=True), mb.read_urdf(ARM)
    held, loose = (zw.simulate(robot, robot.start({"pin": 0.3}), until=1, tol=1e-13) for robot in (arm, free))
    assert held.sizes["transition"] == 0
    for name in loose.coordinate.values:
        both = (motion.q.sel(coordinate=name).values for motion in (held, loose))
        assert np.abs(next(both) - next(both)).max() < 1e-11
