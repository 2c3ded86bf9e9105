"""What rolling joints share: where the wheel's centre is, and which side of the plane it is on."""

from collections.abc import Sequence
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.multibody.joint import Joint, Point
from zwang.multibody.joints.parts import need_axes, slip
from zwang.multibody.vectors import Vector, inner, is_number, subtract, tidy, vector


def plane_and_centre(joint: Joint, at: Any, centre: Point | None) -> tuple[Vector, Vector]:
    """A point of the plane on the first body and the wheel's centre on the second, in body axes.

    Both are world points of the start position; the centre is the second body's centre of mass by default.
    """
    need_axes(joint, "a particle cannot roll")
    first, second = joint.start_poses
    p = tidy(first.local_point(vector(f"{joint.who}: at", at, (joint.dimension,))))
    if centre is None:
        return p, (sp.S.Zero,) * joint.dimension
    return p, tidy(second.local_point(vector(f"{joint.who}: centre", centre, (joint.dimension,))))


def need_side(joint: Joint, normal: Vector) -> None:
    """Refuse a wheel that starts behind the plane it rolls on."""
    (a, b), (p, q) = joint.start_poses, joint.ends
    height = inner(a.direction(normal), subtract(b.point(q), a.point(p)))
    if is_number(height) and not height > 0:
        raise InputError(f"{joint.who}: its centre starts {float(-height):.6g} behind the plane: turn the normal round")


def no_slip(joint: Joint, place: Vector, directions: Sequence[Vector]) -> dict[str, sp.Expr]:
    """The materials in contact do not move past each other along two directions: slip1, slip2."""
    past = slip(joint, place)
    return {f"slip{i + 1}": inner(e, past) for i, e in enumerate(directions)}
