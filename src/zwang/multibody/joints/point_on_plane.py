"""A point on a plane: a foot on the floor."""

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from zwang.mistakes import PartName
from zwang.multibody.body import AnyBody
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Place
from zwang.multibody.joints.parts import PlaneJoint, need_axes, need_space, travel_along
from zwang.multibody.vectors import inner


@dataclass(frozen=True, eq=False)
class PointOnPlane(PlaneJoint):
    """A point of the second body stays in a plane of the first; the second body turns as it likes.

    ::

                  normal    second
                    │      ╱
        ────────────┴─────◯──────── first
                           ──► travel1, travel2

    name.out: the point's distance from the plane is zero. The travels are along the first two of the joint's own axes.
    In the plane use PointOnLine.

    >>> from zwang import multibody as mb
    >>> foot = mb.Particle("foot", 1, position=(2, 1, 3))
    >>> mb.PointOnPlane("floor", mb.ground, foot, at=(2, 1, 3), normal=(0, 0, 1)).conditions()
    {'out': foot.z(t) - 3}
    """

    name: str
    first: AnyBody
    second: AnyBody
    at: Place
    normal: Place

    held = ("ends", "frame")
    suffixes = ("out",)

    def require(self) -> None:
        """Refuse bodies in the plane, and a plane of a particle."""
        need_space(self, "use ", PartName("PointOnLine"), " in the plane")
        need_axes(self, "give the plane to a body that has", bodies=(self.first,))
        super().require()

    def conditions(self) -> dict[str, sp.Expr]:
        """The point stays in the plane."""
        return {"out": inner(self.poses[0].direction(self.frame[2]), self.gap)}

    @cached_property
    def freedoms(self) -> dict[str, Freedom]:
        """Two travels in the plane."""
        n, m, _ = self.frame
        return {"travel1": travel_along(self, n), "travel2": travel_along(self, m)}
