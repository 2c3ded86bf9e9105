"""What rolling joints share: the wheel's centre, the point of contact, and which side of the plane the wheel is on."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.multibody.joint import Point, both_ends
from zwang.multibody.joints.parts import PlaneJoint, need_axes, positive, slip, start_gap
from zwang.multibody.vectors import Vector, inner, is_number, scale, subtract, vector


class RollingJoint(PlaneJoint):
    """A wheel, the second body, rolls on a plane of the first, in the plane on a line.

    `at`, a point of the plane, and `centre`, the wheel's (the second body's centre of mass unless given), are world
    points of the start position.
    """

    radius: Any
    at: Point
    centre: Point | None

    @cached_property
    def ends(self) -> tuple[Vector, Vector]:
        """A point of the plane, and the wheel's centre, in body axes."""
        need_axes(self, "a particle cannot roll")
        at, centre = (
            x if x is None else vector(self.who, x, (self.dimension,), (what,))
            for what, x in (("at", self.at), ("centre", self.centre))
        )
        return both_ends(self.who, self.bodies, self.dimension, at, centre)

    @property
    def hub(self) -> Vector:
        """The wheel's centre, in world axes."""
        return self.poses[1].point(self.ends[1])

    @cached_property
    def size(self) -> sp.Expr:
        """The wheel's radius."""
        return positive(self, "radius", self.radius)

    @property
    def upright(self) -> Vector:
        """The normal, in world components."""
        return self.poses[0].direction(self.frame[-1])

    @property
    def place(self) -> Vector:
        """The point of contact: r − R n."""
        return subtract(self.hub, scale(self.size, self.upright))

    def need_side(self) -> None:
        """Refuse a wheel that starts behind the plane it rolls on."""
        height = inner(self.start_poses[0].direction(self.frame[-1]), start_gap(self))
        if is_number(height) and not height > 0:
            behind = f"{float(-height):.6g} behind" if height else "in"
            words = f"its centre starts {behind} the plane: turn the normal round, or move it"
            raise InputError(f"{self.who}: {words}", where=("normal",) if self.centre is None else ("centre",))

    def no_slip(self, directions: Sequence[Vector]) -> dict[str, sp.Expr]:
        """The materials in contact do not move past each other along two directions: slip1, slip2."""
        past = slip(self, self.place)
        return {f"slip{i + 1}": inner(e, past) for i, e in enumerate(directions)}
