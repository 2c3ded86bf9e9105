"""The revolute joint: a pin."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.multibody.body import AnyBody, Particle
from zwang.multibody.joint import Freedom, Joint, Place, frames_of, together, turn_about
from zwang.multibody.joints.parts import axes_parallel, need_axes
from zwang.multibody.vectors import Vector


@dataclass(frozen=True, eq=False)
class Revolute(Joint):
    """Two bodies share a point and, in space, an axis: one angle is free.

    ::

                 axis
                  │  ┌───────── second
        first ────┤◯├┘          angle
                  │

    In space: the points coincide (name.x, name.y, name.z) and the axis on the second body is perpendicular to two
    directions on the first (name.axis1, name.axis2). In the plane: name.x, name.y. `reading` is what the angle reads
    in the start position.

    >>> from zwang import multibody as mb
    >>> rod = mb.PlanarBody("rod", 1, 1/12, position=(0.5, 0))
    >>> list(mb.Revolute("pin", mb.ground, rod, at=(0, 0)).conditions())
    ['x', 'y']
    """

    name: str
    first: AnyBody
    second: AnyBody
    at: Place
    axis: Sequence[Any] = (0, 0, 1)
    reading: float = 0.0

    @cached_property
    def axes(self) -> tuple[Vector, Vector]:
        """The axis on both bodies, in body axes."""
        return self.directed("axis", self.axis)

    @cached_property
    def frame(self) -> tuple[Vector, ...]:
        """The axis is the last of the joint's axes."""
        return frames_of(self, self.axes)[0] if self.dimension == 3 else super().frame

    def conditions(self) -> dict[str, sp.Expr]:
        """The points coincide; the axes are parallel."""
        pinned = together(self.gap)
        if self.dimension == 2:
            return pinned
        need_axes(self, "use Spherical")
        return pinned | axes_parallel(self, self.axes)

    @cached_property
    def freedoms(self) -> dict[str, Freedom]:
        """The angle; a particle has none."""
        if any(isinstance(body, Particle) for body in self.bodies):
            return {}
        return {"angle": turn_about(self, self.axes if self.dimension == 3 else ((), ()), self.reading)}
