"""The planar joint: one flat face on another."""

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from zwang.mistakes import PartName
from zwang.multibody.body import AnyBody
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Place, turn_about
from zwang.multibody.joints.parts import PlaneJoint, axes_facing, axes_parallel, need_axes, need_space, travel_along
from zwang.multibody.vectors import inner


@dataclass(frozen=True, eq=False)
class Planar(PlaneJoint):
    """A face of one body slides on a face of the other: two travels and an angle are free.

    ::

                     normal
                       │   ┌────────┐
                       │   │ second │ ──► travel1, travel2, ↻ angle
        ───────────────┴───┴────────┴─── first

    The second body's point stays in the plane through the first body's (name.out) and the normals stay parallel
    (name.axis1, name.axis2). The travels are along the first two of the joint's own axes. For bodies in space; in the
    plane it asks for nothing.

    >>> from zwang import multibody as mb
    >>> puck = mb.Body("puck", 1, (1, 1, 2))
    >>> table = mb.Planar("table", mb.ground, puck, at=(0, 0, 0), normal=(0, 0, 1))
    >>> table.conditions()["out"], list(table.freedoms)
    (puck.z(t), ['travel1', 'travel2', 'angle'])
    """

    name: str
    first: AnyBody
    second: AnyBody
    at: Place
    normal: Place

    held = ("ends", "normals", "frame")
    suffixes = ("out", "axis1", "axis2")

    def require(self) -> None:
        """Refuse bodies in the plane, and particles."""
        need_space(self, "bodies in the plane need none")
        need_axes(self, "use ", PartName("PointOnPlane"))
        super().require()

    def conditions(self) -> dict[str, sp.Expr]:
        """The point stays in the plane; the normals stay parallel."""
        out = inner(self.poses[0].direction(self.frame[2]), self.gap)
        return {"out": out} | axes_parallel(self, self.normals)

    @property
    def facing(self) -> sp.Expr | None:
        """The normals point the same way."""
        return axes_facing(self, self.normals)

    @cached_property
    def freedoms(self) -> dict[str, Freedom]:
        """Two travels in the plane and the angle about its normal."""
        n, m, _ = self.frame
        angle = turn_about(self, self.normals, 0)
        return {"travel1": travel_along(self, n), "travel2": travel_along(self, m), "angle": angle}
