"""A thin disc, or a wheel, that rolls on a plane in space."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.model.drawing import Shape
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Joint, Place, Point
from zwang.multibody.joints.parts import frame_on, need_space, positive
from zwang.multibody.joints.rolling import need_side, no_slip, plane_and_centre
from zwang.multibody.vectors import Vector, add, cross, inner, scale, subtract


@dataclass(frozen=True, eq=False)
class RollingDisc(Joint):
    """A disc of the second body rolls without slipping on a plane of the first, upright or leaning.

    ::

                 ╱╲   axis a
           n    ╱  ╲ ╱
           │   ╱ r  ╳
           │   ╲   ╱
        ───┴────╲─╱──────── first
                contact

    The rim touches the plane: n·(r − p) = R √(1 − (n·a)²) (name.contact), and its lowest point moves with the material
    of the plane there (name.slip1, name.slip2, in velocities); the plane may itself move, as a turntable does.
    `axis` is the disc's, `normal` points to the side where the disc is, `at` is a point of the plane, `centre` the
    disc's centre (by default the second body's centre of mass): all in the world of the start position. The
    joint's own axes: the direction of rolling, across, normal.

    >>> from zwang import multibody as mb
    >>> coin = mb.Body("coin", 1, mb.inertia.disc(1, 0.5), position=(0, 0, 0.5), orientation=(1, 1, 0, 0))
    >>> roll = mb.RollingDisc("roll", mb.ground, coin, radius=0.5, axis=(0, -1, 0))
    >>> list(roll.conditions())
    ['contact', 'slip1', 'slip2']
    """

    name: str
    first: AnyBody
    second: AnyBody
    radius: Any
    axis: Place
    normal: Place = (0, 0, 1)
    at: Point = (0, 0, 0)
    centre: Point | None = None

    @cached_property
    def ends(self) -> tuple[Vector, Vector]:
        """A point of the plane, and the disc's centre, in body axes."""
        return plane_and_centre(self, self.at, self.centre)

    @cached_property
    def frame(self) -> tuple[Vector, ...]:
        """The normal is the last of the joint's axes."""
        need_space(self, "use RollingWheel in the plane")
        return frame_on(self, self.directed("normal", self.normal))

    @cached_property
    def leaning(self) -> tuple[Vector, Vector, Any, Any]:
        """The normal, the disc's axis, the cosine between them and its sine."""
        normal = self.poses[0].direction(self.frame[2])
        axis = self.poses[1].direction(self.directed("axis", self.axis)[1])
        cosine = inner(normal, axis)
        return normal, axis, cosine, sp.sqrt(1 - cosine**2)

    @property
    def place(self) -> Vector:
        """The point of contact: r − R (n − (n·a) a)/√(1 − (n·a)²)."""
        normal, axis, cosine, sine = self.leaning
        up = subtract(normal, scale(cosine, axis))
        return subtract(self._centre, scale(positive(self, "radius", self.radius) / sine, up))

    @property
    def _centre(self) -> Vector:
        return self.poses[1].point(self.ends[1])

    @property
    def own_axes(self) -> tuple[Vector, ...]:
        """The direction of rolling, the direction across, the normal."""
        normal, axis, _, sine = self.leaning
        ahead = scale(1 / sine, cross(axis, normal))
        return ahead, cross(normal, ahead), normal

    def conditions(self) -> dict[str, sp.Expr]:
        """The rim touches the plane and does not slip."""
        need_side(self, self.frame[2])
        radius = positive(self, "radius", self.radius)
        normal, _, _, sine = self.leaning
        contact = inner(normal, self.gap) - radius * sine
        across = [self.poses[0].direction(e) for e in self.frame[:2]]
        return {"contact": contact} | no_slip(self, self.place, across)

    def shapes(self) -> list[Shape]:
        """A circle with a spoke."""
        n, _, axis = frame_on(self, self.directed("axis", self.axis)[::-1])
        spoke = self.poses[1].point(add(self.ends[1], scale(self.radius, n)))
        return [
            Shape(self.name, "circle", (self._centre,), radius=self.radius, normal=self.poses[1].direction(axis)),
            Shape(f"{self.name} spoke", "line", (self._centre, spoke)),
        ]
