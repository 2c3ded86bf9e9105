"""Springs and dampers along a joint's own coordinate: torsion springs, and springs along a slide."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.multibody.body import MassBody
from zwang.multibody.element import ForceElement, not_negative
from zwang.multibody.forces.along_joint import along_freedom, freedom_of
from zwang.multibody.joint import Constrainer, Freedom, Joint
from zwang.multibody.vectors import is_number, is_zero, mended, scalar
from zwang.symbols import as_scalar, t

ROUNDING = 1e-14  # what rounding leaves of a start that is meant to be a whole number


@dataclass(frozen=True, eq=False)
class JointSpring(ForceElement):
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
        """Refuse what is no spring, and a rest that a joint in space can never read."""
        if is_zero(not_negative(self.who, "stiffness", self.stiffness)) and is_zero(
            not_negative(self.who, "damping", self.damping)
        ):
            raise InputError(f"{self.who} does nothing: give a stiffness or a damping")
        away = self._rest - self.reading
        if self.freedom.value is None and is_number(away) and not abs(float(away)) < float(sp.pi):
            raise InputError(
                f"{self.who}: its rest is {float(away):.6g} rad away from the start of joint {self.joint.name!r}, but "
                f"in space an angle is known within half a turn only: choose a rest nearer to the start"
            )

    @property
    def joints(self) -> tuple[Constrainer, ...]:
        """The joint."""
        return (self.joint,)

    @cached_property
    def freedom(self) -> Freedom:
        """The joint's coordinate."""
        return freedom_of(self.who, self.joint, self.coordinate)

    @cached_property
    def reading(self) -> sp.Expr:
        """What the coordinate reads in the start position, as described."""
        if hasattr(self.joint, "reading"):
            return scalar(self.who, self.joint.reading)
        start = {q: value for b in self.joint.bodies if isinstance(b, MassBody) for q, value in b.start().items()}
        read = as_scalar(as_scalar(self.freedom.reading).xreplace(start | self.joint.coordinates)).subs(t, 0)
        return scalar(self.who, mended(sp.N(read), ROUNDING))

    @property
    def _rest(self) -> sp.Expr:
        return self.reading if self.rest is None else scalar(f"{self.who}: rest", self.rest)

    @cached_property
    def deviation(self) -> sp.Expr:
        """The coordinate less its rest."""
        f, rest = self.freedom, self._rest
        if f.value is not None:
            return f.value - rest
        c, s = sp.cos(rest), sp.sin(rest)
        return sp.atan2(f.sine * c - f.cosine * s, f.cosine * c + f.sine * s)

    def potential(self, bodies: Sequence[MassBody]) -> sp.Expr:
        """½ stiffness (coordinate − rest)²."""
        stiffness = scalar(self.who, self.stiffness)
        return sp.S.Zero if is_zero(stiffness) else stiffness * self.deviation**2 / 2

    def forces(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """Of the damper."""
        damping = scalar(self.who, self.damping)
        return {} if is_zero(damping) else along_freedom(self.freedom, bodies, -damping * self.freedom.rate)
