"""A wheel that rolls on a line in the plane."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.mistakes import PartName
from zwang.model.drawing import Shape
from zwang.multibody.body import AnyBody
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Place, Point, turn_about
from zwang.multibody.joints.parts import Frame, need_plane, travel_along
from zwang.multibody.joints.rolling.contact import RollingJoint
from zwang.multibody.vectors import add, inner


@dataclass(frozen=True, eq=False)
class RollingWheel(RollingJoint):
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
    def frame(self) -> Frame:
        """Along the line, and the normal."""
        x, y = self.normals[0]
        return (y, -x), (x, y)

    held = ("ends", "frame", "size", "freedoms")
    suffixes = ("contact", "roll")

    def require(self) -> None:
        """Refuse bodies in space, and a wheel behind the line."""
        need_plane(self, "use ", PartName("RollingDisc"), " or ", PartName("RollingBall"), " in space")
        self.need_side()
        super().require()

    def conditions(self) -> dict[str, sp.Expr]:
        """The wheel touches the line and does not slip."""
        travel, angle = (self.freedoms[key].value for key in ("travel", "angle"))
        return {"contact": inner(self.upright, self.gap) - self.size, "roll": travel + self.size * angle}

    @cached_property
    def freedoms(self) -> dict[str, Freedom]:
        """The travel along the line and the angle, from the start."""
        return {"travel": travel_along(self, self.frame[0]), "angle": turn_about(self, ((), ()), 0)}

    def shapes(self) -> list[Shape]:
        """A circle with a spoke."""
        spoke = self.poses[1].point(add(self.ends[1], (self.radius, 0)))
        return [
            Shape(self.name, "circle", (self.hub,), radius=self.radius),
            Shape(f"{self.name} spoke", "line", (self.hub, spoke)),
        ]
