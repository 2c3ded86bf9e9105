"""What joints are made of: frames that stay parallel, points that stay on a line, travels, and who may be joined."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.mistakes import PartName
from zwang.multibody.body import Particle
from zwang.multibody.freedom import Freedom, TravelAlong
from zwang.multibody.joint import Joint, Pair, Place, carried, frame_about, frames_of
from zwang.multibody.vectors import Vector, inner, is_number, scalar, subtract, tidy

Frame = tuple[Vector, ...]


class AxisJoint(Joint):
    """A joint about or along an axis, which is the last of its own axes in space, the first in the plane."""

    axis: Place

    @cached_property
    def axes(self) -> tuple[Vector, Vector]:
        """The axis on both bodies, in body axes."""
        return self.directed("axis", self.axis)

    @cached_property
    def frame(self) -> Frame:
        """The joint's own axes on the first body."""
        axis = self.axes[0]
        return frame_about(self, axis) if self.dimension == 3 else (axis, across(axis))


class PlaneJoint(Joint):
    """A joint on a plane of the first body in space, whose normal is the last of its own axes."""

    normal: Place

    @cached_property
    def normals(self) -> tuple[Vector, Vector]:
        """The normal on both bodies, in body axes."""
        return self.directed("normal", self.normal)

    @cached_property
    def frame(self) -> Frame:
        """The joint's own axes on the first body."""
        return frame_about(self, self.normals[0])


def need_space(joint: Joint, *instead: str) -> None:
    """Refuse bodies in the plane; `instead` are words on what to do."""
    if joint.dimension == 2:
        kind = PartName(type(joint).__name__)
        raise InputError(f"{joint.who}: a ", kind, " joins bodies in space only; ", *instead)


def need_plane(joint: Joint, *instead: str) -> None:
    """Refuse bodies in space."""
    if joint.dimension == 3:
        kind = PartName(type(joint).__name__)
        raise InputError(f"{joint.who}: a ", kind, " joins bodies in the plane only; ", *instead)


def need_axes(joint: Joint, *instead: str, bodies: Sequence[Any] | None = None) -> None:
    """Refuse particles: they have no axes that could be held."""
    for body in joint.bodies if bodies is None else bodies:
        if isinstance(body, Particle):
            raise InputError(f"{joint.who} holds axes of {body.name!r}, but a particle has none; ", *instead)


def positive(joint: Pair, what: str, value: Any) -> sp.Expr:
    """A length that must be positive, as far as numbers tell."""
    length = scalar(joint.who, value, (what,))
    if is_number(length) and not length > 0:
        raise InputError(f"{joint.who}: {what} is {value}, but it must be positive", where=(what,))
    return length


def across(axis: Vector) -> Vector:
    """A direction in the plane, turned by a quarter to the left.

    >>> across((1, 0))
    (0, 1)
    """
    return (-axis[1], axis[0])


def axes_parallel(joint: Joint, axes: tuple[Vector, Vector]) -> dict[str, sp.Expr]:
    """In space, an axis on the second body stays perpendicular to two directions of the first: axis1, axis2."""
    a, b = joint.poses
    n, m, _ = joint.frame
    axis = b.direction(axes[1])
    return {"axis1": inner(a.direction(n), axis), "axis2": inner(a.direction(m), axis)}


def axes_facing(joint: Joint, axes: tuple[Vector, Vector]) -> sp.Expr | None:
    """In space, the cosine between the axes: the conditions of `axes_parallel` are met where they are opposite, too."""
    if joint.dimension == 2:
        return None
    a, b = joint.poses
    return inner(a.direction(axes[0]), b.direction(axes[1]))


def frames_facing(joint: Joint, frames: tuple[Frame, Frame]) -> sp.Expr:
    """The trace of the turn between frames in space, less 2: `no_turn` is met half a turn off, too."""
    a, b = joint.poses
    pairs = zip(*frames, strict=True)
    return sp.Add(*[inner(a.direction(e), b.direction(e2)) for e, e2 in pairs], -2)


def no_turn(joint: Joint, frames: tuple[Frame, Frame] | None = None) -> dict[str, sp.Expr]:
    """The bodies do not turn relative to each other: turn in the plane; turn1, turn2, turn3 in space.

    In space the frames (x, y, z) on both bodies stay parallel: x₁·y₂ = y₁·z₂ = z₁·x₂ = 0.
    """
    a, b = joint.poses
    if joint.dimension == 2:
        return {"turn": b.angle - a.angle + joint.start_turn}
    assert frames is not None
    on_first, on_second = frames
    x, y, z = (a.direction(e) for e in on_first)
    x2, y2, z2 = (b.direction(e) for e in on_second)
    return {"turn1": inner(y, z2), "turn2": inner(z, x2), "turn3": inner(x, y2)}


def start_frames(joint: Joint) -> tuple[Frame, Frame]:
    """Frames on both bodies in space that are parallel in the start position."""
    return frames_of(joint, ((0, 0, 1), carried(joint, (0, 0, 1))))


def on_line(joint: AxisJoint) -> dict[str, sp.Expr]:
    """The second body's point stays on the axis through the first body's: side in the plane; side1, side2 in space."""
    a = joint.poses[0]
    if joint.dimension == 2:
        return {"side": inner(a.direction(joint.frame[1]), joint.gap)}
    return {f"side{i + 1}": inner(a.direction(joint.frame[i]), joint.gap) for i in (0, 1)}


def travel_along(joint: Joint, axis: Vector, reading: Any = 0) -> Freedom:
    """How far the second body's point is along a direction of the first body; it reads `reading` at the start."""
    reading = scalar(joint.who, reading, ("reading",))
    offset = reading - inner(joint.start_poses[0].direction(axis), start_gap(joint))
    return TravelAlong("travel", joint, axis=axis, ends=joint.ends, offset=offset, start=reading)


def start_gap(joint: Joint) -> Vector:
    """From the joint's point on the first body to that on the second in the start position, as described."""
    p, q = (pose.point(end) for pose, end in zip(joint.start_poses, joint.ends, strict=True))
    return tidy(subtract(q, p), p, q)


def slip(joint: Pair, place: Vector) -> Vector:
    """How fast the second body's material at a world place moves past the first body's material there."""
    a, b = joint.poses
    return subtract(*(pose.arm_velocity(subtract(place, pose.origin)) for pose in (b, a)))
