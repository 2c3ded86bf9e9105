"""A ball that rolls on a plane in space."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.mistakes import PartName
from zwang.model.drawing import Shape
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Place, Point
from zwang.multibody.joints.parts import need_space
from zwang.multibody.joints.rolling.contact import RollingJoint
from zwang.multibody.vectors import inner


@dataclass(frozen=True, eq=False)
class RollingBall(RollingJoint):
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

    held = ("ends", "frame", "size")
    suffixes = ("contact", "slip1", "slip2")

    def require(self) -> None:
        """Refuse bodies in the plane, and a ball behind the plane."""
        need_space(self, "use ", PartName("RollingWheel"), " in the plane")
        self.need_side()
        super().require()

    def conditions(self) -> dict[str, sp.Expr]:
        """The ball touches the plane and does not slip."""
        n, m, normal = (self.poses[0].direction(e) for e in self.frame)
        return {"contact": inner(normal, self.gap) - self.size} | self.no_slip((n, m))

    def shapes(self) -> list[Shape]:
        """Three circles, which turn with the ball."""
        turn = self.poses[1].turn
        return [
            Shape(f"{self.name} {i + 1}", "circle", (self.hub,), radius=self.radius, normal=axis)
            for i, axis in enumerate(zip(*turn, strict=True))
        ]
