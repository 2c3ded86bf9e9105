"""Where two surfaces are nearest to each other: the gap, the normal, the place and the directions along the surface.

The first body has a plane, a ball or disc, or a cylinder; the second a ball or disc, of radius 0 a point, or the rim of
a disc in space. The normal points from the first surface to the second.
"""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.multibody.pose import Pose
from zwang.multibody.vectors import Vector, add, cross, inner, scale, subtract


@dataclass(frozen=True)
class Touch:
    """Two surfaces: how far they are apart, the place on the second that is nearest, and directions along them."""

    gap: Any
    place: Vector
    tangents: tuple[Vector, ...]


@dataclass(frozen=True)
class Plane:
    """A plane of the first body, a line in the plane: a point of it and its own axes, the normal last, in body axes."""

    at: Vector
    frame: tuple[Vector, ...]

    def touch(self, first: Pose, hub: Vector, radius: Any) -> Touch:
        """With a ball about a world point: n·(r − p) − R."""
        *tangents, normal = (first.direction(e) for e in self.frame)
        gap = inner(normal, subtract(hub, first.point(self.at))) - radius
        return Touch(gap, subtract(hub, scale(radius, normal)), tuple(tangents))

    def rim(self, first: Pose, hub: Vector, radius: Any, axis: Vector) -> Touch:
        """With the rim of a disc about a world axis a: n·(r − p) − R √(1 − (n·a)²)."""
        *tangents, normal = (first.direction(e) for e in self.frame)
        cosine = inner(normal, axis)
        sine = sp.sqrt(1 - cosine**2)
        gap = inner(normal, subtract(hub, first.point(self.at))) - radius * sine
        lowest = scale(radius / sine, subtract(normal, scale(cosine, axis)))
        return Touch(gap, subtract(hub, lowest), tuple(tangents))


@dataclass(frozen=True)
class Ball:
    """A ball, or in the plane a disc, of the first body: its centre and radius, and a pole in space.

    In space the directions along the surface are those at the pole, brought to the normal by the shortest turn: they
    have no meaning at the opposite of the pole.
    """

    at: Vector
    radius: Any
    inside: bool
    pole: tuple[Vector, ...] = ()

    def touch(self, first: Pose, hub: Vector, radius: Any) -> Touch:
        """With a ball about a world point: |r − c| − R₁ − R₂, or inside R₁ − R₂ − |r − c|."""
        gap, normal = around(subtract(hub, first.point(self.at)), self.radius, radius, self.inside)
        place = subtract(hub, scale(radius, normal))
        if len(normal) == 2:
            return Touch(gap, place, ((normal[1], -normal[0]),))
        *tangents, pole = (first.direction(e) for e in self.pole)
        half = scale(1 / (1 + inner(pole, normal)), add(pole, normal))
        turned = tuple(subtract(e, scale(inner(e, normal), half)) for e in tangents)
        return Touch(gap, place, turned)


@dataclass(frozen=True)
class Cylinder:
    """A cylinder of the first body in space, as long as one likes: a point of its axis, the axis, and its radius."""

    at: Vector
    axis: Vector
    radius: Any
    inside: bool

    def touch(self, first: Pose, hub: Vector, radius: Any) -> Touch:
        """With a ball about a world point: the distance d from the axis, d − R₁ − R₂, or inside R₁ − R₂ − d."""
        axis, way = first.direction(self.axis), subtract(hub, first.point(self.at))
        off = subtract(way, scale(inner(way, axis), axis))
        gap, normal = around(off, self.radius, radius, self.inside)
        return Touch(gap, subtract(hub, scale(radius, normal)), (axis, cross(normal, axis)))


Surface = Plane | Ball | Cylinder


def around(way: Vector, first: Any, second: Any, inside: bool) -> tuple[Any, Vector]:
    """Gap and normal between round surfaces whose centres are `way` apart."""
    distance = sp.sqrt(inner(way, way))
    if inside:
        return first - second - distance, scale(-1 / distance, way)
    return distance - first - second, scale(1 / distance, way)
