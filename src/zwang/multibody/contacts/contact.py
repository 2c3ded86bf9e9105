"""The contact of two bodies: one-sided, with impacts and friction."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.mistakes import Where
from zwang.model.constraint import Constraint
from zwang.model.contact_law import as_friction, as_restitution, out_of_range
from zwang.model.drawing import Shape
from zwang.multibody.body import AnyBody, MassBody, Particle, own_point
from zwang.multibody.contacts.surfaces import Ball, Cylinder, Plane, Surface, Touch
from zwang.multibody.joint import Pair, Place, Point, frame_about
from zwang.multibody.joints.parts import positive, slip
from zwang.multibody.vectors import (
    Vector,
    add,
    inner,
    is_number,
    length,
    perpendiculars,
    scalar,
    scale,
    subtract,
    unit,
    vector,
)


@dataclass(frozen=True, eq=False)
class Contact(Pair):
    """The second body may touch the first, and not enter it: it bounces, slides, sticks, rolls or lifts off.

    ::

           n     .───.              .───.
           │    (  r  )  second    (  r  )     corners: ┌─────┐
           │     '───'           .───'───'              │     │
        ───┴──────────────────  (  first )          ────┴─────┴────

    What is touched is a plane of the first body, by its `normal`, which points to where the second body is; or with
    `radii`, (first, second), its ball, in the plane a disc, or in space with `axis` a cylinder about that axis;
    `inside` is for bowls and pipes. What touches is a ball or disc of the second body of `radius`, without one a
    point; `corners` are several points, in body axes, `box` the corners of a box with these edges about the centre of
    mass, and `rim` the axis of a thin disc in space that touches a plane with its edge.

    `at` is a point of the plane (the origin unless given), or the centre of the first ball or cylinder (its centre of
    mass), `centre` that of the second ball (its centre of mass): in the world of the start position, as `normal`,
    `axis` and `rim` are.

    The constraint has the contact's name and reads the distance: with several points they are called name.corner1,
    name.corner2, …. `restitution`, from 0 to 1, says how much of the approach an impact turns round, `friction` is a
    coefficient or a pair of sticking and of sliding. Surfaces rub at the speed of the second body's material past the
    first's where they touch: what rolls does not slip.

    >>> from zwang import multibody as mb
    >>> ball = mb.PlanarBody("ball", 1, 0.4, position=(0, 1))
    >>> floor = mb.Contact("floor", mb.ground, ball, normal=(0, 1), radius=1, friction=0.3)
    >>> floor.asked[""].expression, floor.asked[""].slip
    (ball.y(t) - 1, (Derivative(ball.angle(t), t) + Derivative(ball.x(t), t),))
    """

    name: str
    first: AnyBody
    second: AnyBody
    normal: Place | None = None
    radius: Any = 0
    radii: Sequence[Any] | None = None
    axis: Place | None = None
    inside: bool = False
    at: Point | None = None
    centre: Point | None = None
    corners: Sequence[Point] = ()
    box: Sequence[Any] | None = None
    rim: Place | None = None
    restitution: Any = 0
    friction: Any = 0

    @property
    def who(self) -> str:
        """What messages call the contact."""
        return f"contact {self.name!r}"

    def require(self) -> None:
        """Refuse what cannot touch, and a law that is none."""
        if not any(isinstance(body, MassBody) for body in self.bodies) and self.dimension:
            raise InputError(f"{self.who}: neither body can be moved: give one with mass", where=("second",))
        self.require_one_meaning()
        self.require_law()
        _ = self.asked

    def require_one_meaning(self) -> None:
        """Refuse arguments that say two things, or nothing."""
        round_ones = self.radii is not None
        planes = {"radius": self.radius != 0, "rim": self.rim is not None}
        rounds = {"axis": self.axis is not None, "inside": bool(self.inside)}
        ways = {"centre": self.centre is not None, "corners": length(self.corners) != 0, "box": self.box is not None}
        if round_ones == (self.normal is not None):
            both = "both a plane (normal) and radii" if round_ones else "neither a plane (normal) nor radii"
            raise self.refused("normal", f"it is given {both}: give one of them")
        for argument, given in (planes if round_ones else rounds).items():
            if given:
                words = "goes with the normal of a plane" if round_ones else "goes with radii, of round surfaces"
                raise self.refused(argument, f"{argument} {words}")
        if self.axis is not None and self.dimension == 2:
            raise self.refused("axis", "a cylinder stands in space: in the plane radii are those of discs")
        if self.rim is not None and (self.dimension == 2 or ways["corners"] or ways["box"]):
            where = "in the plane" if self.dimension == 2 else "with corners"
            raise self.refused("rim", f"a rim is that of one disc in space, but it is given {where}")
        if sum(ways.values()) > 1:
            said = " and ".join(name for name, given in ways.items() if given)
            raise self.refused("corners", f"{said} say twice where it touches: give one of them")

    def require_law(self) -> None:
        """Refuse coefficients out of their ranges, at their places."""
        restitution: Any = 0
        friction: tuple[Any, ...] = ()
        try:
            restitution = as_restitution(self.restitution, True)
        except InputError as error:
            raise self.refused("restitution", str(error)) from None
        try:
            friction = as_friction(self.friction)
        except InputError as error:
            raise self.refused("friction", str(error)) from None
        if wrong := out_of_range(restitution, friction):
            raise self.refused("restitution" if wrong.startswith("restitution") else "friction", wrong)

    def refused(self, argument: str, words: str) -> InputError:
        """What is said of an argument."""
        return InputError(f"{self.who}: {words}", where=(argument,))

    @cached_property
    def points(self) -> dict[str, Vector]:
        """The points of the second body about which it touches, in body axes: suffix → point."""
        size, second = self.dimension, self.start_poses[1]
        if self.box is not None:
            edges = [positive(self, "box", edge) / 2 for edge in vector(self.who, self.box, (size,), ("box",))]
            found = [tuple(s * e for s, e in zip(signs, edges, strict=True)) for signs in product((-1, 1), repeat=size)]
        elif length(self.corners):
            if length(self.corners) < 0:
                raise self.refused("corners", f"corners: {self.corners!r} are not points: give {size} entries each")
            found = [vector(self.who, corner, (size,), ("corners",)) for corner in self.corners]
        else:
            own: Where = ("centre",)
            zero: Vector = (sp.S.Zero,) * size
            point = zero if self.centre is None else second.held_point(vector(self.who, self.centre, (size,), own))
            return {"": own_point(self.who, self.second, point, own)}
        if isinstance(self.second, Particle):
            raise self.refused("second", f"{self.second.name!r} is a particle, which has no corners")
        return {f"corner{i + 1}": point for i, point in enumerate(found)}

    @cached_property
    def sizes(self) -> tuple[Any, Any]:
        """The radii of the first surface (0 for a plane) and of the second."""
        if self.radii is None:
            return 0, not_negative(self, "radius", self.radius)
        if length(self.radii) != 2:
            words = f"radii: {self.radii!r}: give two, that of the first body and that of the second"
            raise self.refused("radii", words)
        first, second = (not_negative(self, "radii", r) for r in self.radii)
        if is_number(first) and is_number(second):
            if self.inside and not first > second:
                words = f"a ball of radius {second} has no room inside one of radius {first}"
                raise self.refused("radii", words)
            if not (self.inside or first + second > 0):
                raise self.refused("radii", "both radii are 0: two points do not touch")
        return first, second

    @cached_property
    def surface(self) -> Surface:
        """The first body's surface."""
        size, first = self.dimension, self.start_poses[0]
        radius, _ = self.sizes
        if self.normal is not None:
            world = (0,) * size if self.at is None else vector(self.who, self.at, (size,), ("at",))
            normal = self.directed("normal", self.normal)[0]
            return Plane(first.held_point(world), plane_frame(self, normal))
        zero: Vector = (sp.S.Zero,) * size
        at = zero if self.at is None else first.held_point(vector(self.who, self.at, (size,), ("at",)))
        at = own_point(self.who, self.first, at, ("at",))
        if self.axis is not None:
            return Cylinder(at, self.directed("axis", self.axis)[0], radius, self.inside)
        return Ball(at, radius, self.inside, self.pole(at) if size == 3 else ())

    def pole(self, at: Vector) -> tuple[Vector, ...]:
        """Directions along a ball in space and its normal, in axes of the first body, as near as numbers tell."""
        first, second = self.start_poses
        way = subtract(second.point(next(iter(self.points.values()))), first.point(at))
        own = first.held_direction(way)
        if not all(map(is_number, own)) or not any(own):
            own = (0, 0, 1)
        normal = unit(self.who, tuple((-1 if self.inside else 1) * x for x in own), (3,))
        return (*perpendiculars(normal), normal)

    @cached_property
    def edge(self) -> Vector | None:
        """The axis of the disc whose rim touches, in body axes."""
        return None if self.rim is None else self.directed("rim", self.rim)[1]

    def touching(self, point: Vector) -> Touch:
        """The nearest places, for one of the points."""
        first, second = self.poses
        hub, (_, radius) = second.point(point), self.sizes
        if self.edge is None:
            return self.surface.touch(first, hub, radius)
        if is_number(radius) and not radius > 0:
            raise self.refused("radius", "a rim needs the radius of its disc")
        assert isinstance(self.surface, Plane)
        return self.surface.rim(first, hub, radius, second.direction(self.edge))

    @property
    def suffixes(self) -> tuple[str, ...]:
        """None, or one for each corner."""
        return tuple(self.points)

    def conditions(self) -> dict[str, Constraint]:
        """A one-sided constraint for each point, with the law."""
        found: dict[str, Constraint] = {}
        friction = as_friction(self.friction)
        for (suffix, point), name in zip(self.points.items(), self.row_names, strict=True):
            touch = self.touching(point)
            past = slip(self, touch.place)
            speeds = tuple(inner(e, past) for e in touch.tangents) if friction else ()
            found[suffix] = Constraint(
                touch.gap, name, one_sided=True, restitution=self.restitution, friction=friction, slip=speeds
            )
        return found

    def shapes(self) -> list[Shape]:
        """Round surfaces of bodies that have no other look, with a spoke of what turns in the plane."""
        first, second = self.sizes
        found: list[Shape] = []
        if self.edge is None and second != 0 and "" in self.points:
            found += self.round_shape(self.name, 1, self.points[""], second)
        if self.edge is not None:
            hub, axis = self.poses[1].point(self.points[""]), self.poses[1].direction(self.edge)
            found.append(Shape(self.name, "circle", (hub,), radius=second, normal=axis))
        if isinstance(self.surface, Ball) and first != 0:
            found += self.round_shape(f"{self.name} first", 0, self.surface.at, first)
        if self.dimension == 2:
            found += self.flat_shapes()
        return found

    def flat_shapes(self) -> list[Shape]:
        """In the plane: the line that is touched, twice as long as what is above it is far, and the edges of a box."""
        found: list[Shape] = []
        first, second = self.poses
        if isinstance(self.surface, Plane):
            (along, up), at = self.surface.frame, self.surface.at
            above, below = self.start_poses[1].origin, self.start_poses[0].point(at)
            way = self.start_poses[0].local_direction(subtract(above, below))
            if all(map(is_number, way)):
                across, height = (float(inner(e, way)) for e in (along, up))
                reach = 2 * max(abs(height), abs(across))
                ends = tuple(first.point(add(at, scale(across + side * reach, along))) for side in (-1, 1))
                found.append(Shape(f"{self.name} line", "line", ends, color="gray"))
        if self.box is not None and not getattr(self.second, "outline", ()):
            a, b, d, c = self.points.values()
            found.append(Shape(self.name, "body", tuple(second.point(p) for p in (a, b, c, d))))
        return found

    def round_shape(self, name: str, which: int, at: Vector, radius: Any) -> list[Shape]:
        """A disc in the plane, with a spoke where it can turn; a ball in space by three circles."""
        body, pose = self.bodies[which], self.poses[which]
        if getattr(body, "outline", ()) or getattr(body, "solids", ()):
            return []
        hub = pose.point(at)
        color = "" if which else "gray"
        if self.dimension == 3:
            axes = zip(*pose.turn, strict=True)
            return [
                Shape(f"{name} {i + 1}", "circle", (hub,), radius=radius, normal=tuple(axis), color=color)
                for i, axis in enumerate(axes)
            ]
        found = [Shape(name, "circle", (hub,), radius=radius, color=color)]
        if isinstance(body, MassBody) and not isinstance(body, Particle):
            spoke = pose.point((at[0] + radius, at[1]))
            found.append(Shape(f"{name} spoke", "line", (hub, spoke), color=color))
        return found


def plane_frame(contact: Contact, normal: Vector) -> tuple[Vector, ...]:
    """The directions along a plane and its normal, on the first body; in the plane to the right of the normal."""
    return frame_about(contact, normal) if contact.dimension == 3 else ((normal[1], -normal[0]), normal)


def not_negative(contact: Contact, what: str, value: Any) -> sp.Expr:
    """A radius that is not negative, as far as numbers tell."""
    radius = scalar(contact.who, value, (what,))
    if is_number(radius) and not radius >= 0:
        raise contact.refused(what, f"{what}: {value} is negative, and no radius is")
    return radius
