"""A ball that rolls on a plane in space."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.model.drawing import Shape
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Joint, Place, Point
from zwang.multibody.joints.parts import frame_on, need_space, positive
from zwang.multibody.joints.rolling import need_side, no_slip, plane_and_centre
from zwang.multibody.vectors import Vector, inner, scale, subtract


@dataclass(frozen=True, eq=False)
class RollingBall(Joint):
    """A ball, the second body, rolls without slipping on a plane of the first: a table, a ramp, a turntable.

    ::

           n     .───.
           │    (  r  )
           │     '───'
        ───┴───────┴─────── first
                contact

    The ball touches the plane: n·(r − p) = R (name.contact), and its lowest point moves with the material of the plane
    there (name.slip1, name.slip2, in velocities). `normal` points to the side where the ball is, `at` is a point of
    the plane, `centre` the ball's centre (by default the second body's centre of mass), in the world of the start
    position.

    >>> from zwang import multibody as mb, t
    >>> ball = mb.Body("ball", 1, mb.inertia.sphere(1, 0.1), position=(0.3, 0.1, 0.1))
    >>> table = mb.Moving("table", angle=3*t)
    >>> list(mb.RollingBall("roll", table, ball, radius=0.1).conditions())
    ['contact', 'slip1', 'slip2']
    """

    name: str
    first: AnyBody
    second: AnyBody
    radius: Any
    normal: Place = (0, 0, 1)
    at: Point = (0, 0, 0)
    centre: Point | None = None

    @cached_property
    def ends(self) -> tuple[Vector, Vector]:
        """A point of the plane, and the ball's centre, in body axes."""
        return plane_and_centre(self, self.at, self.centre)

    @cached_property
    def frame(self) -> tuple[Vector, ...]:
        """The normal is the last of the joint's axes."""
        need_space(self, "use RollingWheel in the plane")
        return frame_on(self, self.directed("normal", self.normal))

    @property
    def place(self) -> Vector:
        """The point of contact: r − R n."""
        normal = self.poses[0].direction(self.frame[2])
        return subtract(self._centre, scale(positive(self, "radius", self.radius), normal))

    @property
    def _centre(self) -> Vector:
        return self.poses[1].point(self.ends[1])

    def conditions(self) -> dict[str, sp.Expr]:
        """The ball touches the plane and does not slip."""
        need_side(self, self.frame[2])
        radius = positive(self, "radius", self.radius)
        n, m, normal = (self.poses[0].direction(e) for e in self.frame)
        return {"contact": inner(normal, self.gap) - radius} | no_slip(self, self.place, (n, m))

    def shapes(self) -> list[Shape]:
        """Three circles, which turn with the ball."""
        turn = self.poses[1].turn
        return [
            Shape(f"{self.name} {i + 1}", "circle", (self._centre,), radius=self.radius, normal=axis)
            for i, axis in enumerate(zip(*turn, strict=True))
        ]
