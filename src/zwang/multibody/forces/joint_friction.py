"""Friction in joints, proportional to speed, as a nonideal constraint."""

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
class JointFriction(AlongJoint):
    """The joint itself resists motion along its coordinate: an effort −coefficient × rate.

    It is the joint that does work, so the effort is the nonideal part C of the force of constraint (Udwadia and
    Kalaba), and its power is the motion's `nonideal_power`. A damper that is a part of its own is
    `JointSpring(…, damping=…)`: the motion is the same, the account is not.

    >>> from zwang import multibody as mb
    >>> wheel = mb.PlanarBody("wheel", mass=1, inertia=2)
    >>> pin = mb.Revolute("pin", mb.ground, wheel, at=(0, 0))
    >>> mb.JointFriction("bearing", pin, 0.5).nonideal([wheel])
    {wheel.angle(t): -0.5*Derivative(wheel.angle(t), t)}
    """

    name: str
    joint: Joint
    coefficient: Any
    coordinate: str | None = None

    def __post_init__(self) -> None:
        """Refuse friction that drives, and a joint without this coordinate."""
        not_negative(self.who, "coefficient", self.coefficient)
        _ = self.freedom

    def nonideal(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """−coefficient × rate, along the coordinate."""
        return self.along(bodies, -scalar(self.who, self.coefficient) * self.freedom.rate)
