"""A damper in a ball joint."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.mistakes import PartName
from zwang.multibody.body import MassBody, Particle
from zwang.multibody.element import ForceElement, not_negative
from zwang.multibody.joint import Constrainer, Joint
from zwang.multibody.vectors import scalar, scale, subtract


@dataclass(frozen=True, eq=False)
class BallDamper(ForceElement):
    """A torque −damping × the angular velocity of the joint's second body relative to its first, in space.

    >>> from zwang import multibody as mb
    >>> ball = mb.Body("ball", 1, (2, 2, 2), angular_velocity=(0, 0, 1))
    >>> socket = mb.Spherical("socket", mb.ground, ball, at=(0, 0, 0))
    >>> mechanism = mb.Mechanism([ball], [socket], [mb.BallDamper("grease", socket, damping=4)])
    >>> import zwang as zw
    >>> float(zw.evaluate(mechanism.system, mechanism.start).acceleration[6])  # ½ ω̇ = −½ damping/inertia
    -1.0
    """

    name: str
    joint: Joint
    damping: Any

    def __post_init__(self) -> None:
        """Refuse a negative damping, and what is not a joint in space."""
        if not isinstance(self.joint, Joint):
            raise InputError(f"{self.who}: {self.joint!r} is not a joint", where=("joint",))
        if self.joint.dimension != 3:
            words = f"{self.who}: joint {self.joint.name!r} is in the plane: use "
            raise InputError(words, PartName("JointSpring"), " with a damping", where=("joint",))
        for body in self.joint.bodies:
            if isinstance(body, Particle):
                words = f"{self.who} acts on the particle {body.name!r}, which does not turn"
                raise InputError(words, where=("joint",))
        not_negative(self.who, "damping", self.damping)

    @property
    def joints(self) -> tuple[Constrainer, ...]:
        """The joint."""
        return (self.joint,)

    held = ("damping",)

    def forces(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """The torque on the second body, and its opposite on the first."""
        a, b = self.joint.poses
        torque = scale(-scalar(self.who, self.damping), subtract(b.spin, a.spin))
        found: dict[sp.Expr, sp.Expr] = {}
        for body, sign in ((self.joint.first, -1), (self.joint.second, 1)):
            if isinstance(body, MassBody):
                along = body.generalized((sp.S.Zero,) * 3, scale(sign, torque))
                found |= {q: e for q, e in along.items() if q not in body.coordinates[:3]}
        return found
