"""The skate: a knife edge."""

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from zwang.errors import InputError
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Joint, Place
from zwang.multibody.joints.parts import across, need_axes, slip
from zwang.multibody.vectors import Vector, cross, inner, is_number, scale

UPRIGHT = 1e-9  # sine of the angle between blade and normal that counts as zero


@dataclass(frozen=True, eq=False)
class Skate(Joint):
    """A point of the second body moves only the way a blade points; the blade turns with the body.

    ::

               second
          ═══════◯═══════► direction
            ╱ no velocity this way, relative to the first body

    The velocity across the blade is zero (name.side): in space, across means perpendicular to the blade and to the
    `normal` of the first body's plane. The point is not held in that plane: add PointOnPlane or Planar for that. `at`
    and `direction` are in the world of the start position, or pairs in body axes. The joint's own axes: along the
    blade, across, in space the normal.

    >>> from zwang import multibody as mb
    >>> sleigh = mb.PlanarBody("sleigh", 1, 1)
    >>> mb.Skate("blade", mb.ground, sleigh, at=(0, 0), direction=(1, 0)).conditions()
    {'side': -sin(sleigh.angle(t))*Derivative(sleigh.x(t), t) + cos(sleigh.angle(t))*Derivative(sleigh.y(t), t)}
    """

    name: str
    first: AnyBody
    second: AnyBody
    at: Place
    direction: Place
    normal: Place = (0, 0, 1)

    @cached_property
    def edge(self) -> Vector:
        """The blade's direction, in the axes of its body."""
        return self.directed("direction", self.direction)[1]

    @cached_property
    def blade(self) -> Vector:
        """The blade's direction, in world components."""
        return self.poses[1].direction(self.edge)

    @cached_property
    def sideways(self) -> Vector:
        """Across the blade, in world components; its length is the sine of the angle between blade and normal."""
        return across(self.blade) if self.dimension == 2 else cross(self.upright, self.blade)

    @cached_property
    def plane(self) -> Vector:
        """In space, the normal of the first body's plane, in the axes of that body."""
        return self.directed("normal", self.normal)[0]

    @cached_property
    def upright(self) -> Vector:
        """In space, the normal of the first body's plane, in world components."""
        return self.poses[0].direction(self.plane)

    @property
    def held(self) -> tuple[str, ...]:
        """Ends, the blade and, in space, the normal."""
        return ("ends", "edge", "plane") if self.dimension == 3 else ("ends", "edge")

    suffixes = ("side",)

    @property
    def own_axes(self) -> tuple[Vector, ...]:
        """Along the blade, across, and in space the normal; in space all are in or on the first body's plane."""
        if self.dimension == 2:
            return self.blade, self.sideways
        side = scale(1 / sp.sqrt(inner(self.sideways, self.sideways)), self.sideways)
        return cross(side, self.upright), side, self.upright

    def require(self) -> None:
        """Refuse a blade of a particle, and one across which nothing is."""
        need_axes(self, "a blade needs a body that turns", bodies=(self.second,))
        if self.dimension == 3:
            first, second = self.start_poses
            side = cross(first.direction(self.plane), second.direction(self.edge))
            if all(is_number(x) and abs(float(x)) < UPRIGHT for x in side):
                words = "its blade points along the normal of the plane: nothing is across it"
                raise InputError(f"{self.who}: {words}", where=("direction",))
        super().require()

    def conditions(self) -> dict[str, sp.Expr]:
        """No velocity across the blade."""
        return {"side": inner(self.sideways, slip(self, self.place))}
