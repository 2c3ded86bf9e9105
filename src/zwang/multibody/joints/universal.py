"""The universal joint: Cardan's, or Hooke's."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.mistakes import PartName
from zwang.multibody.body import AnyBody
from zwang.multibody.freedom import Freedom, Measured
from zwang.multibody.joint import Joint, Place, is_pair, together
from zwang.multibody.joints.parts import need_axes, need_space
from zwang.multibody.vectors import Vector, cross, inner, subtract, tidy, unit

PERPENDICULAR_TOL = 1e-9  # cosine between axes that counts as zero


@dataclass(frozen=True, eq=False)
class Universal(Joint):
    """Two bodies share the point where an axis of one crosses an axis of the other at a right angle.

    ::

                       │ axis on the second
              ┌────────┼────┐
        first │     ───┼─── │ axis on the first
              └────────┼────┘
                    second

    The points coincide (name.x, name.y, name.z) and the axes stay perpendicular (name.cross). `axes` = (on the first
    body, on the second body), in world axes of the start position. Two angles are free: `angle1` of the cross about
    the axis on the first body, `angle2` of the second body about its own axis; both count from the start.

    >>> from zwang import multibody as mb
    >>> shaft = mb.Body("shaft", 1, (1, 1, 1))
    >>> hooke = mb.Universal("hooke", mb.ground, shaft, at=(0, 0, 0), axes=((1, 0, 0), (0, 1, 0)))
    >>> list(hooke.conditions()), list(hooke.freedoms)
    (['x', 'y', 'z', 'cross'], ['angle1', 'angle2'])
    """

    name: str
    first: AnyBody
    second: AnyBody
    at: Place
    axes: tuple[Sequence[Any], Sequence[Any]]

    held = ("ends", "crossing")
    suffixes = ("x", "y", "z", "cross")

    def require(self) -> None:
        """Refuse bodies in the plane, particles, and axes that are not perpendicular."""
        need_space(self, "use ", PartName("Revolute"), " in the plane")
        need_axes(self, "use ", PartName("Spherical"))
        super().require()

    @cached_property
    def crossing(self) -> tuple[tuple[Vector, Vector], tuple[Vector, Vector]]:
        """Both axes at the start, on the first body and on the second, in body axes."""
        if not is_pair(self.axes):
            words = f"axes={self.axes!r}: give two directions, (on the first, on the second)"
            raise InputError(f"{self.who}: {words}", where=("axes",))
        e1, e2 = (unit(self.who, axis, (3,), ("axes",)) for axis in self.axes)
        if abs(float(inner(e1, e2))) > PERPENDICULAR_TOL:
            words = f"the axes {self.axes[0]} and {self.axes[1]} are not perpendicular"
            raise InputError(f"{self.who}: {words}", where=("axes",))
        first, second = ((p.held_direction(e1), p.held_direction(e2)) for p in self.start_poses)
        return first, second

    @cached_property
    def frame(self) -> tuple[Vector, ...]:
        """The axis on the first body is the last of the joint's axes."""
        e1, e2 = self.crossing[0]
        return (e2, tidy(cross(e1, e2)), e1)

    def conditions(self) -> dict[str, sp.Expr]:
        """The points coincide; the axes are perpendicular."""
        (a, b), ((e1, _), (_, e2)) = self.poses, self.crossing
        return together(self.gap) | {"cross": inner(a.direction(e1), b.direction(e2))}

    @cached_property
    def freedoms(self) -> dict[str, Freedom]:
        """The angles of the cross on the first body and of the second body on the cross."""
        return {f"angle{i + 1}": CrossTurn("angle", self, crossing=self.crossing, second=i) for i in (0, 1)}


class CrossTurn(Measured):
    """An angle of the cross: about the axis on the first body, or of the second body about its own."""

    crossing: tuple[tuple[Vector, Vector], tuple[Vector, Vector]]
    second: int
    """1 for the angle about the axis on the second body."""
    held = ("crossing", "second")
    in_numbers = False

    @cached_property
    def _axes(self) -> tuple[Vector, Vector]:
        (a, b), ((e1, _), (_, e2)) = self.joint.poses, self.crossing
        return a.direction(e1), b.direction(e2)

    @cached_property
    def rate(self) -> sp.Expr:
        """How fast it turns."""
        a, b = self.joint.poses
        return inner(self._axes[self.second], subtract(b.spin, a.spin))

    @cached_property
    def cosine(self) -> sp.Expr:
        """Its cosine."""
        pose, n = self.joint.poses[self.second], self.crossing[self.second][1 - self.second]
        return inner(pose.direction(n), self._axes[1 - self.second])

    @cached_property
    def sine(self) -> sp.Expr:
        """Its sine."""
        pose, own = self.joint.poses[self.second], self.crossing[self.second]
        e, n = own[self.second], own[1 - self.second]
        side = inner(pose.direction(cross(e, n)), self._axes[1 - self.second])
        return -side if self.second else side
