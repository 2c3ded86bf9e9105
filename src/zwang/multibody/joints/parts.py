"""What joints are made of: frames that stay parallel, points that stay on a line, travels, and who may be joined."""

from collections.abc import Sequence
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.multibody.body import Particle
from zwang.multibody.joint import Freedom, Joint, frames_of
from zwang.multibody.vectors import Vector, inner, is_number, scalar, subtract

Frame = tuple[Vector, ...]


def need_space(joint: Joint, instead: str) -> None:
    """Refuse bodies in the plane."""
    if joint.dimension == 2:
        raise InputError(f"{joint.who}: a {type(joint).__name__} joins bodies in space only; {instead}")


def need_plane(joint: Joint, instead: str) -> None:
    """Refuse bodies in space."""
    if joint.dimension == 3:
        raise InputError(f"{joint.who}: a {type(joint).__name__} joins bodies in the plane only; {instead}")


def need_axes(joint: Joint, instead: str, bodies: Sequence[Any] | None = None) -> None:
    """Refuse particles: they have no axes that could be held."""
    for body in joint.bodies if bodies is None else bodies:
        if isinstance(body, Particle):
            raise InputError(f"{joint.who} holds axes of {body.name!r}, but a particle has none; {instead}")


def positive(joint: Joint, what: str, value: Any) -> sp.Expr:
    """A length that must be positive, as far as numbers tell."""
    length = scalar(f"{joint.who}: {what}", value)
    if is_number(length) and not length > 0:
        raise InputError(f"{joint.who}: {what} is {value}, but it must be positive")
    return length


def across(axis: Vector) -> Vector:
    """A direction in the plane, turned by a quarter to the left.

    >>> across((1, 0))
    (0, 1)
    """
    return (-axis[1], axis[0])


def frame_on(joint: Joint, axes: tuple[Vector, Vector]) -> Frame:
    """The joint's own axes on the first body, with a given axis as the last in space, as the first in the plane."""
    return frames_of(joint, axes)[0] if joint.dimension == 3 else (axes[0], across(axes[0]))


def axes_parallel(joint: Joint, axes: tuple[Vector, Vector]) -> dict[str, sp.Expr]:
    """In space, an axis on the second body stays perpendicular to two directions of the first: axis1, axis2."""
    a, b = joint.poses
    n, m, _ = frames_of(joint, axes)[0]
    axis = b.direction(axes[1])
    return {"axis1": inner(a.direction(n), axis), "axis2": inner(a.direction(m), axis)}


def no_turn(joint: Joint, frames: tuple[Frame, Frame] | None = None) -> dict[str, sp.Expr]:
    """The bodies do not turn relative to each other: turn in the plane; turn1, turn2, turn3 in space.

    In space the frames (x, y, z) on both bodies stay parallel: x₁·y₂ = y₁·z₂ = z₁·x₂ = 0.
    """
    a, b = joint.poses
    if joint.dimension == 2:
        first, second = joint.start_poses
        return {"turn": b.angle - a.angle + scalar(joint.who, first.angle - second.angle)}
    on_first, on_second = frames or frames_of(joint, joint.directed("axis", (0, 0, 1)))
    x, y, z = (a.direction(e) for e in on_first)
    x2, y2, z2 = (b.direction(e) for e in on_second)
    return {"turn1": inner(y, z2), "turn2": inner(z, x2), "turn3": inner(x, y2)}


def on_line(joint: Joint, frame: Frame) -> dict[str, sp.Expr]:
    """The second body's point stays on the axis through the first body's: side in the plane; side1, side2 in space."""
    a = joint.poses[0]
    if joint.dimension == 2:
        return {"side": inner(a.direction(frame[1]), joint.gap)}
    return {f"side{i + 1}": inner(a.direction(frame[i]), joint.gap) for i in (0, 1)}


def travel_along(joint: Joint, axis: Vector, reading: Any = 0) -> Freedom:
    """How far the second body's point is along a direction of the first body; it reads `reading` at the start."""
    world = joint.poses[0].direction(axis)
    rate = inner(world, slip(joint, joint.poses[1].point(joint.ends[1])))
    offset = scalar(joint.who, reading) - start_travel(joint, axis)
    return Freedom("travel", rate, inner(world, joint.gap) + offset, start=reading)


def start_travel(joint: Joint, axis: Vector) -> Any:
    """How far the points are apart along a direction in the start position, as described."""
    (a, b), (p, q) = joint.start_poses, joint.ends
    apart = inner(a.direction(axis), subtract(b.point(q), a.point(p)))
    return sp.S.Zero if is_number(apart) and abs(float(apart)) < 1e-14 else scalar(joint.who, apart)


def slip(joint: Joint, place: Vector) -> Vector:
    """How fast the second body's material at a world place moves past the first body's material there."""
    a, b = joint.poses
    return subtract(*(pose.arm_velocity(subtract(place, pose.origin)) for pose in (b, a)))
