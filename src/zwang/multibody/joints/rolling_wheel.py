"""A wheel that rolls on a line in the plane."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.model.drawing import Shape
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Freedom, Joint, Place, Point, turn_about
from zwang.multibody.joints.parts import need_plane, positive, travel_along
from zwang.multibody.joints.rolling import need_side, plane_and_centre
from zwang.multibody.vectors import Vector, add, inner, scale, subtract


@dataclass(frozen=True, eq=False)
class RollingWheel(Joint):
    """A wheel, the second body, rolls without slipping on a straight line of the first, in the plane.

    ::

           n     .───.
           │    (  r  )   ──► travel
           │     '───'
        ───┴───────┴─────── first

    The wheel touches the line: n·(r − p) = R (name.contact), and travel + R angle = 0 from the start (name.roll): the
    travel is along the line, to the right of the normal, and the angle is relative to the first body. `normal` points
    to the side where the wheel is, `at` is a point of the line, `centre` the wheel's centre (by default the second
    body's centre of mass), in the world of the start position.

    >>> from zwang import multibody as mb
    >>> wheel = mb.PlanarBody("wheel", 1, 1, position=(0, 2))
    >>> mb.RollingWheel("roll", mb.ground, wheel, radius=2).conditions()
    {'contact': wheel.y(t) - 2, 'roll': 2*wheel.angle(t) + wheel.x(t)}
    """

    name: str
    first: AnyBody
    second: AnyBody
    radius: Any
    normal: Place = (0, 1)
    at: Point = (0, 0)
    centre: Point | None = None

    @cached_property
    def ends(self) -> tuple[Vector, Vector]:
        """A point of the line, and the wheel's centre, in body axes."""
        return plane_and_centre(self, self.at, self.centre)

    @cached_property
    def frame(self) -> tuple[Vector, ...]:
        """Along the line, and the normal."""
        need_plane(self, "use RollingDisc or RollingBall in space")
        normal = self.directed("normal", self.normal)[0]
        return (normal[1], -normal[0]), normal

    @property
    def place(self) -> Vector:
        """The point of contact: r − R n."""
        normal = self.poses[0].direction(self.frame[1])
        return subtract(self._centre, scale(positive(self, "radius", self.radius), normal))

    @property
    def _centre(self) -> Vector:
        return self.poses[1].point(self.ends[1])

    def conditions(self) -> dict[str, sp.Expr]:
        """The wheel touches the line and does not slip."""
        need_side(self, self.frame[1])
        radius = positive(self, "radius", self.radius)
        contact = inner(self.poses[0].direction(self.frame[1]), self.gap) - radius
        travel, angle = self.freedoms["travel"], self.freedoms["angle"]
        return {"contact": contact, "roll": travel.value + radius * angle.value}

    @cached_property
    def freedoms(self) -> dict[str, Freedom]:
        """The travel along the line and the angle, from the start."""
        return {"travel": travel_along(self, self.frame[0]), "angle": turn_about(self, ((), ()), 0)}

    def shapes(self) -> list[Shape]:
        """A circle with a spoke."""
        spoke = self.poses[1].point(add(self.ends[1], (self.radius, 0)))
        return [
            Shape(self.name, "circle", (self._centre,), radius=self.radius),
            Shape(f"{self.name} spoke", "line", (self._centre, spoke)),
        ]
