"""The universal joint: Cardan's, or Hooke's."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.mistakes import PartName
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Freedom, Joint, Place, is_pair, together
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

    @cached_property
    def crossing(self) -> tuple[tuple[Vector, Vector], tuple[Vector, Vector]]:
        """Both axes at the start, on the first body and on the second, in body axes."""
        need_space(self, "use ", PartName("Revolute"), " in the plane")
        need_axes(self, "use ", PartName("Spherical"))
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
        (a, b), ((e1, n1), (n2, e2)) = self.poses, self.crossing
        axis1, axis2 = a.direction(e1), b.direction(e2)
        spin = subtract(b.spin, a.spin)
        x1, y1 = a.direction(n1), a.direction(cross(e1, n1))
        x2, y2 = b.direction(n2), b.direction(cross(e2, n2))
        return {
            "angle1": Freedom("angle", inner(axis1, spin), None, inner(y1, axis2), inner(x1, axis2)),
            "angle2": Freedom("angle", inner(axis2, spin), None, -inner(y2, axis1), inner(x2, axis1)),
        }
