"""Friction in joints, proportional to speed, as a nonideal constraint."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.multibody.body import MassBody
from zwang.multibody.element import ForceElement, not_negative
from zwang.multibody.forces.along_joint import along_freedom, freedom_of
from zwang.multibody.joint import Constrainer, Freedom, Joint
from zwang.multibody.vectors import scalar


@dataclass(frozen=True, eq=False)
class JointFriction(ForceElement):
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
        freedom_of(self.who, self.joint, self.coordinate)

    @property
    def joints(self) -> tuple[Constrainer, ...]:
        """The joint."""
        return (self.joint,)

    @cached_property
    def freedom(self) -> Freedom:
        """The joint's coordinate."""
        return freedom_of(self.who, self.joint, self.coordinate)

    def nonideal(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """−coefficient × rate, along the coordinate."""
        effort = -scalar(self.who, self.coefficient) * self.freedom.rate
        return along_freedom(self.freedom, bodies, effort)
