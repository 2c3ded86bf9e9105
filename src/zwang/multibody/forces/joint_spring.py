"""Springs and dampers along a joint's own coordinate: torsion springs, and springs along a slide."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.multibody.body import MassBody
from zwang.multibody.element import not_negative
from zwang.multibody.forces.along_joint import AlongJoint
from zwang.multibody.joint import Joint
from zwang.multibody.vectors import is_number, is_zero, scalar

SPRING = ("unstretched", "stiffness", "damping")  # the numbers of a spring


@dataclass(frozen=True, eq=False)
class JointSpring(AlongJoint):
    """A spring and damper along a joint's coordinate: a torsion spring on an angle, a coil along a travel.

    The effort on the coordinate is −stiffness (coordinate − rest) − damping · rate. `rest` is what the coordinate
    reads where the spring does not act, its reading at the start unless given; `coordinate` names the coordinate where
    the joint has several.

    A travel, and an angle in the plane, are numbers: the spring counts every turn. An angle in space is known by its
    sine and cosine only: its deviation from rest is taken between −π and π, and where the joint turns more than half
    a turn away from rest the torque changes its sign. Use such a spring where the joint stays within.

    >>> from zwang import multibody as mb
    >>> wheel = mb.PlanarBody("wheel", mass=1, inertia=2)
    >>> pin = mb.Revolute("pin", mb.ground, wheel, at=(0, 0))
    >>> mb.JointSpring("torsion", pin, stiffness=8).potential([wheel])
    4*wheel.angle(t)**2
    """

    name: str
    joint: Joint
    stiffness: Any = 0
    rest: Any = None
    damping: Any = 0
    coordinate: str | None = None

    def __post_init__(self) -> None:
        """Refuse negative numbers, a spring that does nothing, and a rest that a joint in space can never read."""
        given = [not_negative(self.who, what, getattr(self, what)) for what in ("stiffness", "damping")]
        if all(map(is_zero, given)):
            raise InputError(f"{self.who} does nothing: give a stiffness or a damping", where=("stiffness",))
        away = self.unstretched - self.freedom.start
        if not self.freedom.in_numbers and is_number(away) and not abs(float(away)) < float(sp.pi):
            raise InputError(
                f"{self.who}: its rest is {float(away):.6g} rad away from the start of joint {self.joint.name!r}, but "
                f"in space an angle is known within half a turn only: choose a rest nearer to the start",
                where=("rest",),
            )

    @property
    def held(self) -> tuple[str, ...]:
        """The coordinate, what it reads at rest and the coefficients; of a damper, the rate alone."""
        damper = is_zero(scalar(self.who, self.stiffness))
        return ("moving", "stiffness", "damping") if damper else ("freedom", "moving", *SPRING)

    @cached_property
    def unstretched(self) -> sp.Expr:
        """What the coordinate reads where the spring does not act."""
        return scalar(self.who, self.freedom.start if self.rest is None else self.rest, ("rest",))

    @cached_property
    def deviation(self) -> sp.Expr:
        """The coordinate less its rest."""
        f, rest = self.freedom, self.unstretched
        if f.value is not None:
            return f.value - rest
        c, s = sp.cos(rest), sp.sin(rest)
        return sp.atan2(f.sine * c - f.cosine * s, f.cosine * c + f.sine * s)

    def potential(self, bodies: Sequence[MassBody]) -> sp.Expr:
        """½ stiffness (coordinate − rest)²."""
        stiffness = scalar(self.who, self.stiffness)
        return sp.S.Zero if is_zero(stiffness) else stiffness * self.deviation**2 / 2

    def forces(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """The forces of the damper."""
        damping = scalar(self.who, self.damping)
        return {} if is_zero(damping) else self.along(-damping * self.moving.rate)
