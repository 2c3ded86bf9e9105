"""The cylindrical joint: a shaft in a sleeve."""

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from zwang.mistakes import PartName
from zwang.multibody.body import AnyBody
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Place, turn_about
from zwang.multibody.joints.parts import (
    AxisJoint,
    axes_facing,
    axes_parallel,
    need_axes,
    need_space,
    on_line,
    travel_along,
)


@dataclass(frozen=True, eq=False)
class Cylindrical(AxisJoint):
    """One body slides along an axis of the other and turns about it: a travel and an angle are free.

    ::

                 ┌───────────┐
         ════════╪═══════════╪════════ axis
          second │   first   │  ──► travel, ↻ angle
                 └───────────┘

    The second body's point stays on the axis (name.side1, name.side2) and the axes stay parallel (name.axis1,
    name.axis2). For bodies in space.

    >>> from zwang import multibody as mb
    >>> shaft = mb.Body("shaft", 1, (1, 1, 1))
    >>> list(mb.Cylindrical("sleeve", mb.ground, shaft, at=(0, 0, 0), axis=(0, 0, 1)).conditions())
    ['side1', 'side2', 'axis1', 'axis2']
    """

    name: str
    first: AnyBody
    second: AnyBody
    at: Place
    axis: Place

    held = ("ends", "axes", "frame")
    suffixes = ("side1", "side2", "axis1", "axis2")

    def require(self) -> None:
        """Refuse bodies in the plane, and particles."""
        need_space(self, "use ", PartName("Prismatic"), " or ", PartName("Revolute"), " in the plane")
        need_axes(self, "use ", PartName("PointOnLine"))
        super().require()

    def conditions(self) -> dict[str, sp.Expr]:
        """The point stays on the axis; the axes stay parallel."""
        return on_line(self) | axes_parallel(self, self.axes)

    @property
    def facing(self) -> sp.Expr | None:
        """The axes point the same way."""
        return axes_facing(self, self.axes)

    @cached_property
    def freedoms(self) -> dict[str, Freedom]:
        """The travel and the angle."""
        return {"travel": travel_along(self, self.axes[0]), "angle": turn_about(self, self.axes, 0)}
