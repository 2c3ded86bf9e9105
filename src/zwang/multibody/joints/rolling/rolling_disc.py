"""A thin disc, or a wheel, that rolls on a plane in space."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.mistakes import PartName
from zwang.model.drawing import Shape
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Place, Point, frame_about
from zwang.multibody.joints.parts import need_space
from zwang.multibody.joints.rolling.contact import RollingJoint
from zwang.multibody.vectors import Vector, add, cross, inner, is_number, scale, subtract

FLAT = 1e-9  # sine of the angle between a disc and the plane that counts as zero


@dataclass(frozen=True, eq=False)
class RollingDisc(RollingJoint):
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
    def disc_axis(self) -> Vector:
        """The disc's axis, in the axes of its body."""
        return self.directed("axis", self.axis)[1]

    @cached_property
    def leaning(self) -> tuple[Vector, Vector, Any, Any]:
        """The normal, the disc's axis, the cosine between them and its sine."""
        normal, axis = self.upright, self.poses[1].direction(self.disc_axis)
        cosine = inner(normal, axis)
        return normal, axis, cosine, sp.sqrt(1 - cosine**2)

    @property
    def place(self) -> Vector:
        """The point of contact: r − R (n − (n·a) a)/√(1 − (n·a)²)."""
        normal, axis, cosine, sine = self.leaning
        up = subtract(normal, scale(cosine, axis))
        return subtract(self.hub, scale(self.size / sine, up))

    @property
    def own_axes(self) -> tuple[Vector, ...]:
        """The direction of rolling, the direction across, the normal."""
        normal, axis, _, sine = self.leaning
        ahead = scale(1 / sine, cross(axis, normal))
        return ahead, cross(normal, ahead), normal

    held = ("ends", "frame", "size", "disc_axis")
    suffixes = ("contact", "slip1", "slip2")

    def require(self) -> None:
        """Refuse bodies in the plane, a disc behind the plane, and one that lies flat."""
        need_space(self, "use ", PartName("RollingWheel"), " in the plane")
        self.need_side()
        self.need_edge()
        super().require()

    def conditions(self) -> dict[str, sp.Expr]:
        """The rim touches the plane and does not slip."""
        normal, _, _, sine = self.leaning
        contact = inner(normal, self.gap) - self.size * sine
        return {"contact": contact} | self.no_slip([self.poses[0].direction(e) for e in self.frame[:2]])

    def need_edge(self) -> None:
        """Refuse a disc that lies flat: then it has no lowest point."""
        first, second = self.start_poses
        lean = cross(first.direction(self.frame[2]), second.direction(self.disc_axis))
        if all(is_number(x) and abs(float(x)) < FLAT for x in lean):
            raise InputError(f"{self.who}: the disc starts flat on the plane, with no lowest point: let it lean less")

    def shapes(self) -> list[Shape]:
        """A circle with a spoke."""
        n, _, axis = frame_about(self, self.disc_axis)
        spoke = self.poses[1].point(add(self.ends[1], scale(self.radius, n)))
        return [
            Shape(self.name, "circle", (self.hub,), radius=self.radius, normal=self.poses[1].direction(axis)),
            Shape(f"{self.name} spoke", "line", (self.hub, spoke)),
        ]
