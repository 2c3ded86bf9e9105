"""The screw joint: a bolt in a nut."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
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
from zwang.multibody.vectors import scalar


@dataclass(frozen=True, eq=False)
class Screw(AxisJoint):
    """One body turns about an axis of the other and travels along it in proportion.

    ::

                 ┌───────────┐
         ══/══/══╪══/══/══/══╪══/══/══ axis
          second │   first   │  ──► travel = pitch × turns
                 └───────────┘

    As in the cylindrical joint the point stays on the axis (name.side1, name.side2) and the axes stay parallel
    (name.axis1, name.axis2); and 2 tan(½ (angle − 2π travel/pitch)) = 0 (name.thread): smooth, however often it turns.
    `pitch` is the travel per turn, negative for a left-hand thread.

    >>> from zwang import multibody as mb
    >>> bolt = mb.Body("bolt", 1, (1, 1, 1))
    >>> list(mb.Screw("thread", mb.ground, bolt, at=(0, 0, 0), axis=(0, 0, 1), pitch=0.01).conditions())
    ['side1', 'side2', 'axis1', 'axis2', 'thread']
    """

    name: str
    first: AnyBody
    second: AnyBody
    at: Place
    axis: Place
    pitch: Any

    held = ("ends", "axes", "frame", "freedoms", "pitch")
    suffixes = ("side1", "side2", "axis1", "axis2", "thread")

    def require(self) -> None:
        """Refuse bodies in the plane, particles, and a pitch of zero."""
        need_space(
            self,
            "couple a ",
            PartName("Revolute"),
            " and a ",
            PartName("Prismatic"),
            " joint with ",
            PartName("Rack"),
            " in the plane",
        )
        need_axes(self, "use ", PartName("PointOnLine"))
        if scalar(self.who, self.pitch, ("pitch",)) == 0:
            words = f"{self.who}: its pitch is 0, so it cannot travel: use "
            raise InputError(words, PartName("Revolute"), where=("pitch",))
        super().require()

    def conditions(self) -> dict[str, sp.Expr]:
        """The point stays on the axis, the axes stay parallel, the angle follows the travel."""
        [(angle, target)] = self.tied()
        return on_line(self) | axes_parallel(self, self.axes) | {"thread": angle.equals(target)}

    def tied(self) -> list[tuple[Freedom, sp.Expr]]:
        """The angle, to the travel."""
        travel = self.freedoms["travel"].value
        return [(self.freedoms["angle"], 2 * sp.pi * travel / scalar(self.who, self.pitch, ("pitch",)))]

    @property
    def facing(self) -> sp.Expr | None:
        """The axes point the same way."""
        return axes_facing(self, self.axes)

    @cached_property
    def freedoms(self) -> dict[str, Freedom]:
        """The travel and the angle, both from the start."""
        return {"travel": travel_along(self, self.axes[0]), "angle": turn_about(self, self.axes, 0)}
