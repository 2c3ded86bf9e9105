"""The revolute joint: a pin."""

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from zwang.errors import InputError
from zwang.mistakes import PartName
from zwang.multibody.body import AnyBody, Particle
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Place, is_pair, together, turn_about, world_axes
from zwang.multibody.joints.parts import AxisJoint, Frame, axes_facing, axes_parallel, need_axes
from zwang.multibody.vectors import unit

NORMAL = (0, 0, 1)  # of the plane


@dataclass(frozen=True, eq=False)
class Revolute(AxisJoint):
    """Two bodies share a point and, in space, an axis: one angle is free.

    ::

                 axis
                  │  ┌───────── second
        first ────┤◯├┘          angle
                  │

    In space: the points coincide (name.x, name.y, name.z) and the axis on the second body is perpendicular to two
    directions on the first (name.axis1, name.axis2). In the plane, where the axis is the plane's normal: name.x,
    name.y. `reading` is what the angle reads in the start position.

    >>> from zwang import multibody as mb
    >>> rod = mb.PlanarBody("rod", 1, 1/12, position=(0.5, 0))
    >>> list(mb.Revolute("pin", mb.ground, rod, at=(0, 0)).conditions())
    ['x', 'y']
    """

    name: str
    first: AnyBody
    second: AnyBody
    at: Place
    axis: Place = NORMAL
    reading: float = 0.0

    @cached_property
    def frame(self) -> Frame:
        """The axis is the last of the joint's axes; in the plane they are the world's at the start."""
        return super().frame if self.dimension == 3 else world_axes(self)

    @property
    def held(self) -> tuple[str, ...]:
        """Ends and, in space, axes."""
        return ("ends", "axes", "frame") if self.dimension == 3 else ("ends",)

    def require(self) -> None:
        """Refuse particles in space, and another axis than the normal of the plane."""
        if self.dimension == 2:
            given = self.axis if is_pair(self.axis) else (self.axis,)
            if any(unit(self.who, axis, (3,), ("axis",)) != NORMAL for axis in given):
                raise InputError(
                    f"{self.who}: axis={self.axis}: a pin in the plane turns about its normal {NORMAL}: leave it out",
                    where=("axis",),
                )
        else:
            need_axes(self, "use ", PartName("Spherical"))
        super().require()

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Of points and axes."""
        return ("x", "y", "z", "axis1", "axis2") if self.dimension == 3 else ("x", "y")

    def conditions(self) -> dict[str, sp.Expr]:
        """The points coincide; the axes are parallel."""
        pinned = together(self.gap)
        return pinned if self.dimension == 2 else pinned | axes_parallel(self, self.axes)

    @property
    def facing(self) -> sp.Expr | None:
        """The axes point the same way."""
        return axes_facing(self, self.axes) if self.dimension == 3 else None

    @cached_property
    def freedoms(self) -> dict[str, Freedom]:
        """The angle; a particle has none."""
        if any(isinstance(body, Particle) for body in self.bodies):
            return {}
        return {"angle": turn_about(self, self.axes if self.dimension == 3 else ((), ()), self.reading)}
