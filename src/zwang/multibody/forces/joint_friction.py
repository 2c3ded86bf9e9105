"""Friction in joints, as a nonideal constraint: proportional to speed, or Coulomb's, from the joint's own reaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.mistakes import PartName
from zwang.model.event import multiplier
from zwang.multibody.body import MassBody
from zwang.multibody.element import not_negative
from zwang.multibody.forces.along_joint import AlongJoint
from zwang.multibody.joint import Joint
from zwang.multibody.joints.point_on_line import PointOnLine
from zwang.multibody.joints.prismatic import Prismatic
from zwang.multibody.joints.revolute import Revolute
from zwang.multibody.vectors import inner, is_number, scalar


@dataclass(frozen=True, eq=False)
class JointFriction(AlongJoint):
    """The joint itself resists motion along its coordinate: an effort −coefficient × rate, and Coulomb's by `mu`.

    It is the joint that does work, so the effort is the nonideal part C of the force of constraint (Udwadia and
    Kalaba), and its power is the motion's `nonideal_power`. A damper that is a part of its own is
    `JointSpring(…, damping=…)`: the motion is the same, the account is not.

    With `mu` the joint rubs by the force that it carries: a pin of `radius` r has the torque −μ r |F| against its
    turning, F being its reaction across the axis, as a loose journal has it; a slider, or a pin in a slot, the force
    −μ |N| against its travel, N being its reaction across the way. Moments that a joint carries do not rub. F and N are
    solved for with the acceleration, of which they are a part. A joint that comes to rest is held by as much as it
    needs, up to that force, and breaks loose beyond it.

    >>> from zwang import multibody as mb
    >>> wheel = mb.PlanarBody("wheel", mass=1, inertia=2)
    >>> pin = mb.Revolute("pin", mb.ground, wheel, at=(0, 0))
    >>> mb.JointFriction("bearing", pin, 0.5).nonideal([wheel])
    {wheel.angle(t): -0.5*Derivative(wheel.angle(t), t)}
    >>> torque = mb.JointFriction("journal", pin, mu=0.1, radius=0.02).nonideal([wheel])[wheel.coordinates[2]]
    >>> sorted(map(str, torque.free_symbols))
    ['multiplier[pin.x]', 'multiplier[pin.y]', 't']
    """

    name: str
    joint: Joint
    coefficient: Any = None
    coordinate: str | None = None
    mu: Any = None
    radius: Any = None

    def __post_init__(self) -> None:
        """Refuse friction that drives, and a joint without this coordinate, or whose reaction does not rub so."""
        if self.coefficient is None and self.mu is None:
            words = f"{self.who} does nothing: give a coefficient, or mu, that of friction"
            raise InputError(words, where=("coefficient",))
        not_negative(self.who, "coefficient", self.coefficient or 0)
        not_negative(self.who, "mu", self.mu or 0, "coefficient of friction")
        _ = self.freedom
        if self.mu is None:
            if self.radius is not None:
                raise InputError(f"{self.who}: a radius is for friction from the reaction: give mu, too", where=("mu",))
            return
        if not isinstance(self.joint, Revolute | Prismatic | PointOnLine):
            names = PartName("Revolute"), ", ", PartName("Prismatic"), " or ", PartName("PointOnLine")
            words = f"{self.who}: {self.joint.who} has no reaction that rubs along one coordinate: mu is for "
            raise InputError(words, *names, where=("mu",))
        turns = self.freedom.kind == "angle"
        if turns and self.radius is None:
            raise InputError(f"{self.who}: a pin rubs at a radius: give radius=, that of the pin", where=("radius",))
        if not turns and self.radius is not None:
            raise InputError(f"{self.who}: a slider rubs along its way: leave the radius out", where=("radius",))
        if turns and is_number(scalar(self.who, self.radius, ("radius",))) and not scalar(self.who, self.radius) > 0:
            raise InputError(f"{self.who}: its radius is {self.radius}, but it must be positive", where=("radius",))

    @property
    def held(self) -> tuple[str, ...]:
        """The rate and the coefficient; none of what is in multipliers of its own joint."""
        return ("moving", "coefficient") if self.mu is None else ()

    @property
    def carried(self) -> sp.Expr:
        """The force that the joint carries across its axis, or across its way, in its multipliers."""
        suffixes = self.joint.suffixes
        if not isinstance(self.joint, Revolute):
            across = [multiplier(f"{self.joint.name}.{s}") for s in suffixes if s.startswith("side")]
            return sp.Abs(across[0]) if len(across) == 1 else sp.sqrt(sp.Add(*[x**2 for x in across]))
        force = tuple(multiplier(f"{self.joint.name}.{s}") for s in suffixes if s in "xyz")
        square = inner(force, force)
        if self.joint.dimension == 3:
            square -= inner(force, self.joint.poses[0].direction(self.joint.axes[0])) ** 2
        return sp.sqrt(square)

    def nonideal(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """−coefficient × rate − μ r |F| sign rate, along the coordinate."""
        rate = self.moving.rate
        effort = -scalar(self.who, self.coefficient or 0) * rate
        if self.mu is not None:
            arm = 1 if self.radius is None else scalar(self.who, self.radius)
            effort -= scalar(self.who, self.mu) * arm * self.carried * sp.sign(rate)
        return self.along(effort)
