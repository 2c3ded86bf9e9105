"""Inertia along a joint's own coordinate: rotors behind gears."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.multibody.body import MassBody
from zwang.multibody.element import not_negative
from zwang.multibody.forces.along_joint import AlongJoint
from zwang.multibody.joint import Joint
from zwang.multibody.vectors import scalar


@dataclass(frozen=True, eq=False)
class Armature(AlongJoint):
    """The rotor of a motor in a joint, as inertia along its coordinate: kinetic energy ½ inertia × rate².

    Behind a gear of ratio n that is n² times the rotor's own moment. What the rotor does in the other directions, as a
    gyroscope, is left out, as robotics has it.

    >>> from zwang import multibody as mb
    >>> wheel = mb.PlanarBody("wheel", mass=1, inertia=2)
    >>> pin = mb.Revolute("pin", mb.ground, wheel, at=(0, 0))
    >>> mb.Armature("rotor", pin, 4).kinetic([wheel])
    2*Derivative(wheel.angle(t), t)**2
    """

    name: str
    joint: Joint
    inertia: Any
    coordinate: str | None = None

    def __post_init__(self) -> None:
        """Refuse a negative inertia, and a joint without this coordinate."""
        not_negative(self.who, "inertia", self.inertia)
        _ = self.freedom

    held = ("moving", "inertia")

    def kinetic(self, bodies: Sequence[MassBody]) -> sp.Expr:
        """½ inertia × rate²."""
        return scalar(self.who, self.inertia) * self.moving.rate**2 / 2
