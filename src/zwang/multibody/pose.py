"""Where a body is and how it moves: its origin, its axes, and their rates, as expressions or as numbers."""

from dataclasses import dataclass
from typing import Any

from zwang.multibody.vectors import IDENTITY, Turn, Vector, add, apply, cross, subtract, tidy, unapply


@dataclass(frozen=True)
class Pose:
    """The place of a body's centre of mass, the turn of its axes, and their velocities in world axes.

    In the plane `spin` is a number, in space a vector; `angle` counts in the plane only.
    """

    origin: Vector
    turn: Turn
    velocity: Vector
    spin: Any
    angle: Any = 0

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.origin)

    def point(self, s: Vector) -> Vector:
        """The world place of a point given in body axes from the centre of mass."""
        return add(self.origin, apply(self.turn, s))

    def direction(self, d: Vector) -> Vector:
        """The world components of a direction given in body axes."""
        return apply(self.turn, d)

    def arm_velocity(self, arm: Vector) -> Vector:
        """The velocity of the body's material at an arm, in world axes, from the centre of mass."""
        if self.dimension == 2:
            return add(self.velocity, (-self.spin * arm[1], self.spin * arm[0]))
        return add(self.velocity, cross(self.spin, arm))

    def point_velocity(self, s: Vector) -> Vector:
        """The velocity of a point given in body axes."""
        return self.arm_velocity(self.direction(s))

    def local_point(self, at: Vector) -> Vector:
        """A world place, in body axes from the centre of mass."""
        return unapply(self.turn, subtract(at, self.origin))

    def local_direction(self, d: Vector) -> Vector:
        """World components of a direction, in body axes."""
        return unapply(self.turn, d)

    def held_point(self, at: Vector) -> Vector:
        """A world place, in body axes and without what rounding leaves of zeros: for poses in numbers."""
        return tidy(self.local_point(at), at, self.origin)

    def held_direction(self, d: Vector) -> Vector:
        """A world direction, likewise."""
        return tidy(self.local_direction(d))


def at_rest(dimension: int) -> Pose:
    """The pose of the ground."""
    zero = (0,) * dimension
    return Pose(zero, IDENTITY[dimension], zero, 0 if dimension == 2 else zero)
