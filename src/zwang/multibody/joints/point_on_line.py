"""A point on a line: a bead on a straight wire, a pin in a slot."""

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from zwang.multibody.body import AnyBody
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Place
from zwang.multibody.joints.parts import AxisJoint, need_axes, on_line, travel_along


@dataclass(frozen=True, eq=False)
class PointOnLine(AxisJoint):
    """A point of the second body stays on a line of the first; the second body turns as it likes.

    ::

        first ═══════════◯═══════════ axis
                        ╱ ──► travel
                    second

    name.side in the plane; name.side1, name.side2 in space. `at` is the point, in the world of the start position or
    as (a point of the line on the first body, the point on the second), in body axes.

    >>> from zwang import multibody as mb
    >>> bead = mb.Particle("bead", 1, position=(2, 1))
    >>> mb.PointOnLine("wire", mb.ground, bead, at=(2, 1), axis=(1, 0)).conditions()
    {'side': bead.y(t) - 1}
    """

    name: str
    first: AnyBody
    second: AnyBody
    at: Place
    axis: Place
    reading: float = 0.0

    held = ("ends", "frame")

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Of the line."""
        return ("side1", "side2") if self.dimension == 3 else ("side",)

    def require(self) -> None:
        """Refuse a line of a particle."""
        need_axes(self, "give the line to a body that has", bodies=(self.first,))
        super().require()

    def conditions(self) -> dict[str, sp.Expr]:
        """The point stays on the line."""
        return on_line(self)

    @cached_property
    def freedoms(self) -> dict[str, Freedom]:
        """The travel along the line."""
        return {"travel": travel_along(self, self.axes[0], self.reading)}
