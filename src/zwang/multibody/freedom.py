"""Joint coordinates: angles and travels, written when they are read."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import sympy as sp

from zwang.multibody.pose import Pose
from zwang.multibody.vectors import Vector, inner, subtract


@dataclass(frozen=True)
class Freedom:
    """A joint coordinate: an angle or a travel, and its rate.

    In space an angle is known by its sine and cosine only (`value` is None): conditions on it are written without
    its value, so that it may turn as often as it likes.
    """

    kind: str
    rate: sp.Expr
    value: sp.Expr | None = None
    sine: Any = None
    cosine: Any = None
    start: Any = 0
    """What it reads in the start position, as described."""

    def equals(self, target: Any) -> sp.Expr:
        """An expression that is zero where the coordinate is `target`, with slope 1 there."""
        if self.value is not None:
            return self.value - target
        # 2 tan(δ/2) of the difference δ, by its sine and cosine: sin δ is zero half a turn off, too
        c, s = sp.cos(target), sp.sin(target)
        return 2 * (self.sine * c - self.cosine * s) / (1 + self.cosine * c + self.sine * s)

    @property
    def reading(self) -> sp.Expr:
        """The coordinate as a number, an angle in space between −π and π."""
        return self.value if self.value is not None else sp.atan2(self.sine, self.cosine)

    @property
    def in_numbers(self) -> bool:
        """Whether it has a value, which is not written for the answer."""
        return self.value is not None

    @property
    def moving(self) -> "Freedom":
        """A coordinate with the same rate, for what reads nothing else of it."""
        return self


class Between(Protocol):
    """What a coordinate is read from: two bodies."""

    @property
    def poses(self) -> tuple[Pose, Pose]:
        """Where both are, in expressions."""


class Measured(Freedom):
    """A coordinate between the bodies of a joint, by numbers: written when it is read."""

    joint: Between
    held: ClassVar[tuple[str, ...]] = ()
    """The numbers, by the names of attributes."""

    def __init__(self, kind: str, joint: Between, **numbers: Any) -> None:
        self.__dict__.update(kind=kind, joint=joint, **numbers)

    @property
    def _key(self) -> tuple[Any, ...]:
        bodies = getattr(self.joint, "bodies", self.joint)
        return type(self), self.kind, bodies, *(getattr(self, name) for name in self.held)

    def __eq__(self, other: object) -> bool:
        """Whether the other one reads the same between the same bodies."""
        return self is other or (isinstance(other, Measured) and self._key == other._key)

    def __hash__(self) -> int:
        """By what it is read from."""
        return hash(self._key[:3])


class TurnInPlane(Measured):
    """An angle in the plane, counted from one between the bodies."""

    turned: sp.Expr
    """What it reads where the bodies' angles are the same."""
    held = ("turned", "start")
    in_numbers = True

    @cached_property
    def rate(self) -> sp.Expr:
        """How fast it turns."""
        a, b = self.joint.poses
        return b.spin - a.spin

    @cached_property
    def value(self) -> sp.Expr:
        """The angle."""
        a, b = self.joint.poses
        return b.angle - a.angle + self.turned


class SpinAbout(Measured):
    """How fast the second body turns against the first, about an axis of the first: an angle of which that is all."""

    axis: Vector
    held = ("axis",)
    in_numbers = False

    @cached_property
    def rate(self) -> sp.Expr:
        """How fast it turns."""
        a, b = self.joint.poses
        return inner(a.direction(self.axis), subtract(b.spin, a.spin))


class TurnInSpace(Measured):
    """An angle in space, by frames on both bodies that were parallel at the start."""

    frames: tuple[tuple[Vector, ...], tuple[Vector, ...]]
    held = ("frames", "start")
    in_numbers = False

    @cached_property
    def moving(self) -> Freedom:
        """The spin about the axis."""
        return SpinAbout("angle", self.joint, axis=self.frames[0][2])

    @property
    def rate(self) -> sp.Expr:
        """How fast it turns."""
        return self.moving.rate

    @cached_property
    def _turned(self) -> tuple[sp.Expr, sp.Expr]:
        (a, b), ((n, m, _), (n2, _, _)) = self.joint.poses, self.frames
        moved = b.direction(n2)
        cosine, sine = inner(a.direction(n), moved), inner(a.direction(m), moved)
        if not self.start:
            return cosine, sine
        c, s = sp.cos(self.start), sp.sin(self.start)
        return c * cosine - s * sine, s * cosine + c * sine

    @property
    def cosine(self) -> sp.Expr:
        """Its cosine."""
        return self._turned[0]

    @property
    def sine(self) -> sp.Expr:
        """Its sine."""
        return self._turned[1]


class TravelAlong(Measured):
    """How far a point of the second body is along a direction of the first."""

    axis: Vector
    ends: tuple[Vector, Vector]
    """The joint's point on each body."""
    offset: sp.Expr
    """What it reads where the points coincide."""
    held = ("axis", "ends", "offset", "start")
    in_numbers = True

    @cached_property
    def _world(self) -> Vector:
        return self.joint.poses[0].direction(self.axis)

    @cached_property
    def rate(self) -> sp.Expr:
        """How fast it travels: the second body's point past the first body's material there."""
        a, b = self.joint.poses
        place = b.point(self.ends[1])
        return inner(self._world, subtract(*(pose.arm_velocity(subtract(place, pose.origin)) for pose in (b, a))))

    @cached_property
    def value(self) -> sp.Expr:
        """The travel."""
        (a, b), (p, q) = self.joint.poses, self.ends
        return inner(self._world, subtract(b.point(q), a.point(p))) + self.offset
