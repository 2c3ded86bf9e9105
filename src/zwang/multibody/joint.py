"""What all joints share: two bodies, where the joint sits on each, what it asks for and what it leaves free."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.mistakes import PartName
from zwang.model.constraint import Constraint
from zwang.model.drawing import Shape
from zwang.model.has_system import MechanismPart
from zwang.multibody.body import AnyBody, common_dimension, own_point
from zwang.multibody.efforts import FreeMotion
from zwang.multibody.freedom import Freedom, TurnInPlane, TurnInSpace
from zwang.multibody.pose import Pose
from zwang.multibody.vectors import (
    IDENTITY,
    Vector,
    inner,
    is_number,
    perpendiculars,
    scalar,
    subtract,
    tidy,
    unit,
    vector,
)

Point = Sequence[Any]
Place = Point | tuple[Point, Point]


class Constrainer(MechanismPart, ABC):
    """What asks something of a mechanism: joints, drivers, couplings and conditions of the user's own."""

    name: str

    def __post_init__(self) -> None:
        """Say at once what is wrong with the description."""
        if not isinstance(self.name, str) or not self.name:
            words = f"{self.name!r} is not a name for a ", PartName(type(self).__name__), ": give a text"
            raise InputError(*words, where=("name",))
        self.require()

    def require(self) -> None:
        """Refuse what cannot be joined: the numbers of the conditions are computed for it, or these are written."""
        for name in self.held:
            getattr(self, name)
        if not self.held:
            _ = self.asked

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What the conditions are called after the name."""
        return tuple(self.asked)

    @property
    def row_names(self) -> tuple[str, ...]:
        """What the constraints are called: name.suffix, or the name alone where there is no suffix."""
        return tuple(f"{self.name}.{suffix}" if suffix else self.name for suffix in self.suffixes)

    @property
    def held(self) -> tuple[str, ...]:
        """The attributes that hold every number of the conditions; empty where these are written one by one.

        The conditions of many joints of a kind are then written once, with symbols in the place of numbers: they may
        read these attributes, `poses` and what does not differ from joint to joint, and nothing of the start.
        """
        return ()

    @cached_property
    def asked(self) -> Mapping[str, sp.Expr | Constraint]:
        """The conditions, written once."""
        return self.conditions()

    @property
    @abstractmethod
    def bodies(self) -> tuple[AnyBody, ...]:
        """The bodies that take part."""

    @abstractmethod
    def conditions(self) -> Mapping[str, sp.Expr | Constraint]:
        """What it asks for: suffix → expression that is zero, or constraint. The constraint is called name.suffix."""

    @property
    def coordinates(self) -> dict[sp.Expr, float]:
        """Coordinates of its own, and where they start."""
        return {}

    def tied(self) -> list[tuple[Freedom, sp.Expr]]:
        """Joint coordinates that it determines in positions, each with its value, all turns counted."""
        return []

    @property
    def facing(self) -> sp.Expr | None:
        """An expression that is positive in the position that is meant, where the conditions also hold in others."""
        return None


class Pair(Constrainer):
    """What stands between two bodies: a joint, or a contact."""

    first: AnyBody
    second: AnyBody

    @property
    def bodies(self) -> tuple[AnyBody, AnyBody]:
        """Both."""
        return (self.first, self.second)

    @property
    def who(self) -> str:
        """What messages call it."""
        return f"joint {self.name!r}"

    @cached_property
    def dimension(self) -> int:
        """2 between bodies in the plane, 3 in space."""
        return common_dimension(self.who, self.first, self.second)

    @cached_property
    def poses(self) -> tuple[Pose, Pose]:
        """Where both bodies are, in expressions."""
        return self.first.pose(self.dimension), self.second.pose(self.dimension)

    @cached_property
    def start_poses(self) -> tuple[Pose, Pose]:
        """Where both bodies start, in numbers."""
        return self.first.start_pose(self.dimension), self.second.start_pose(self.dimension)

    def shapes(self) -> list[Shape]:
        """What it looks like, if like anything."""
        return []

    def directed(self, what: str, axis: Place) -> tuple[Vector, Vector]:
        """A world direction of the start, or one on each body, as unit vectors in body axes."""
        size, where = (self.dimension,), (what,)
        if is_pair(axis):
            return unit(self.who, axis[0], size, where), unit(self.who, axis[1], size, where)
        world = unit(self.who, axis, size, where)
        first, second = (pose.held_direction(world) for pose in self.start_poses)
        return first, second


class Joint(Pair):
    """A joint between two bodies.

    It is placed by `at`, a world point in the start position, or by a pair of points, one in the axes of each body
    from its centre of mass; the same holds for directions. What it asks for is written in the bodies' coordinates.
    """

    at: Place

    @cached_property
    def ends(self) -> tuple[Vector, Vector]:
        """The joint's point on each body, in body axes."""
        return self.placed(self.at)

    def placed(self, at: Place) -> tuple[Vector, Vector]:
        """A world point of the start, or a point on each body, as points in body axes."""
        if is_pair(at):
            return both_ends(self.who, self.bodies, self.dimension, at=at)
        world = vector(self.who, at, (self.dimension,), ("at",))
        return both_ends(self.who, self.bodies, self.dimension, world, world)

    @cached_property
    def start_turn(self) -> sp.Expr:
        """In the plane, how far the first body is turned against the second in the start position."""
        first, second = self.start_poses
        return scalar(self.who, first.angle - second.angle)

    @property
    def gap(self) -> Vector:
        """From the joint's point on the first body to that on the second, in world axes."""
        (a, b), (p, q) = self.poses, self.ends
        return subtract(b.point(q), a.point(p))

    @property
    def freedoms(self) -> dict[str, Freedom]:
        """The joint's coordinates by name: angle, travel, …."""
        return {}

    @property
    def free_motions(self) -> tuple[FreeMotion, ...]:
        """How the second body moves with each of the joint's own `coordinates`."""
        return ()

    @property
    def place(self) -> Vector:
        """The world point about which the joint's moment is taken: its point on the second body."""
        return self.poses[1].point(self.ends[1])

    def shapes(self) -> list[Shape]:
        """What the joint looks like: a point."""
        return [Shape(self.name, "point", (self.place,), color="gray")]

    @cached_property
    def frame(self) -> tuple[Vector, ...]:
        """The joint's own axes, in those of the first body; an axis of the joint is the last."""
        return world_axes(self)

    @property
    def own_axes(self) -> tuple[Vector, ...]:
        """The joint's own axes in world components, for its reaction."""
        return tuple(self.poses[0].direction(e) for e in self.frame)


def is_pair(given: Any) -> bool:
    """Whether a place is given on each body, and not in the world."""
    return hasattr(given, "__len__") and len(given) == 2 and hasattr(given[0], "__len__")


def both_ends(
    who: str,
    bodies: tuple[AnyBody, AnyBody],
    dimension: int,
    start: Point | None = None,
    end: Point | None = None,
    at: Any = None,
) -> tuple[Vector, Vector]:
    """A point on each of two bodies, in body axes: `at` as it is, or world points of the start position.

    A world point that is not given is the body's centre of mass.
    """
    size, world = (dimension,), (start, end)
    if at is not None and (any(x is not None for x in world) or not is_pair(at)):
        words = "give start and end in the world, or at=(point on the first, point on the second)"
        raise InputError(f"{who}: {words}", where=("at",))
    ends = []
    for body, place, own, what in zip(bodies, world, (None, None) if at is None else at, ("start", "end"), strict=True):
        if own is not None:
            point = vector(who, own, size, ("at",))
        elif place is None:
            point = (sp.S.Zero,) * dimension
        else:
            point = body.start_pose(dimension).held_point(vector(who, place, size, (what,)))
        ends.append(own_point(who, body, point))
    return ends[0], ends[1]


def together(gap: Vector) -> dict[str, sp.Expr]:
    """Two points coincide."""
    return dict(zip("xyz", gap, strict=False))


def world_axes(joint: Joint) -> tuple[Vector, ...]:
    """The world's axes in those of the first body, in the start position."""
    return tuple(joint.start_poses[0].held_direction(e) for e in IDENTITY[joint.dimension])


def frame_about(joint: Pair, axis: Vector) -> tuple[Vector, ...]:
    """A right-handed frame (n, m, axis) on one body, in body axes."""
    if not all(map(is_number, axis)):
        raise InputError(
            f"{joint.who}: where its axis points on a body depends on parameters: give it as (on the first body, on "
            f"the second), in body axes",
            where=("axis",),
        )
    return (*perpendiculars(axis), axis)


def frames_of(joint: Joint, axes: tuple[Vector, Vector]) -> tuple[tuple[Vector, ...], tuple[Vector, ...]]:
    """Right-handed frames (n, m, axis) on both bodies, in body axes, that are parallel at the start."""
    n, m, axis = frame_about(joint, axes[0])
    return (n, m, axis), (*(aligned(joint, e, axes) for e in (n, m)), axes[1])


def aligned(joint: Joint, e: Vector, axes: tuple[Vector, Vector]) -> Vector:
    """A direction on the first body perpendicular to its axis, carried to the second, perpendicular to its own."""
    there = carried(joint, e)
    off = inner(there, axes[1])
    return unit(joint.who, tidy(tuple(c - off * a for c, a in zip(there, axes[1], strict=True))), (3,))


def carried(joint: Joint, e: Vector) -> Vector:
    """A direction on the first body, in the axes of the second, in the start position."""
    first, second = joint.start_poses
    there = second.held_direction(first.direction(e))
    if not all(map(is_number, there)):
        raise InputError(
            f"{joint.who}: how its bodies are turned against each other at the start depends on parameters, so turns "
            f"from there cannot be told: let a prescribed angle start at a number"
        )
    return there


def turn_about(joint: Joint, axes: tuple[Vector, Vector], reading: Any) -> Freedom:
    """The angle by which the second body has turned about an axis, from the start, where it reads `reading`."""
    reading = scalar(joint.who, reading, ("reading",))
    if joint.dimension == 2:
        turned = scalar(joint.who, reading + joint.start_turn)
        return TurnInPlane("angle", joint, turned=turned, start=reading)
    return TurnInSpace("angle", joint, frames=frames_of(joint, axes), start=reading)
