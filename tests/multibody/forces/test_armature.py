"""Inertia along a joint's coordinate."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import multibody as mb
from zwang.errors import InputError


def test_a_rotor_is_added_to_the_inertia_about_the_pin():
    # φ̈ = −m g l/(m l² + I + J) of a rod that is held level
    rod = mb.PlanarBody("rod", mass=3, inertia=1, position=(1, 0))
    pin = mb.Revolute("pin", mb.ground, rod, at=(0, 0))
    arm = mb.Mechanism([rod], [pin], [mb.Gravity((0, -10)), mb.Armature("rotor", pin, 2)])
    assert zw.evaluate(arm, arm.start).acceleration[2] == pytest.approx(-30 / 6, rel=1e-13)


@pytest.mark.parametrize("counted", [False, True])
def test_in_space_it_acts_between_both_bodies(counted):
    # two bars on one axis, the second driven by a torque of 1 against the first through a rotor of 0.7:
    # (I₁) φ̈₁ = −τ, with τ = 1 − J (φ̈₂ − φ̈₁), and I₂ φ̈₂ = τ
    bars = [mb.Body(name, 1, (2, 2, k)) for name, k in (("one", 2.0), ("two", 3.0))]
    axle = mb.Revolute("axle", mb.ground, bars[0], at=(0, 0, 0), axis=(0, 0, 1))
    if counted:
        steps = [mb.Step("angle", "angle", (0, 0, 1))]
        pin = mb.Series("pin", *bars, at=(0, 0, 0), steps=steps)
    else:
        pin = mb.Revolute("pin", *bars, at=(0, 0, 0), axis=(0, 0, 1))
    forces = [mb.Actuator("motor", pin, 1.0), mb.Armature("rotor", pin, 0.7)]
    pair = mb.Mechanism(bars, [axle, pin], forces)
    J = np.array([[2 + 0.7, -0.7], [-0.7, 3 + 0.7]])  # of φ̈₁ and φ̈₂
    expected = np.linalg.solve(J, [-1, 1])
    found = zw.evaluate(pair, pair.start).acceleration
    assert 2 * found[[6, 13]] == pytest.approx(expected, rel=1e-12)  # ω̇ = 2 q̈₃ where the quaternion is (1, 0, 0, 0)


def test_its_energy_is_a_part_of_the_whole():
    rod = mb.PlanarBody("rod", mass=3, inertia=1, position=(1, 0), spin=2, velocity=(0, 2))
    pin = mb.Revolute("pin", mb.ground, rod, at=(0, 0))
    arm = mb.Mechanism([rod], [pin], [mb.Gravity((0, -10)), mb.Armature("rotor", pin, 2)])
    motion = zw.simulate(arm, until=1.0, samples=5)
    parts = arm.energies(motion)
    whole = parts.kinetic.sum("body") + parts.potential.sum("element") + parts.element_kinetic.sum("element")
    np.testing.assert_allclose(whole, motion.energy, rtol=1e-12)
    assert float(parts.element_kinetic.sel(element="rotor")[0]) == pytest.approx(4.0)


def test_inertia_is_not_negative():
    rod = mb.PlanarBody("rod", 1, 1)
    pin = mb.Revolute("pin", mb.ground, rod, at=(0, 0))
    with pytest.raises(InputError, match="its inertia is -1, but no inertia is negative"):
        mb.Armature("rotor", pin, -1)
    assert mb.Armature("rotor", pin, sp.Symbol("J")).kinetic([rod]).has(sp.Symbol("J"))
