"""Springs along sums of joint coordinates keep energy; dampers take it."""

import pytest

import zwang as zw
from zwang import multibody as mb
from zwang.multibody.readers.joint_sum import JointSum


@pytest.mark.parametrize("rest", [(0.1, 0.1), (-0.1, 0.2)])
def test_a_spring_on_a_sum_of_angles_keeps_the_energy(rest):
    wheels = [mb.PlanarBody(name, 1, k, spin=s) for name, k, s in (("one", 1.0, 2.0), ("two", 2.0, -0.5))]
    pins = [mb.Revolute(f"pin {w.name}", mb.ground, w, at=(0, 0)) for w in wheels]
    spring = JointSum("cord", [(1.0, pins[0], "angle"), (-2.0, pins[1], "angle")], stiffness=5.0, rest=rest)
    pair = mb.Mechanism(wheels, pins, [spring])
    motion = zw.simulate(pair, until=2.0, samples=9)
    assert float(abs(motion.energy - motion.energy[0]).max()) < 1e-9 * float(motion.energy[0])
    # the torques are as 1 to −2
    torque = [float(motion.a[3, i]) * k for i, k in ((2, 1.0), (5, 2.0))]
    assert torque[1] == pytest.approx(-2 * torque[0], rel=1e-9)
