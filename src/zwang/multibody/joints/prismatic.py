"""The prismatic joint: a slider."""

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from zwang.mistakes import PartName
from zwang.multibody.body import AnyBody
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Place, frames_of
from zwang.multibody.joints.parts import AxisJoint, Frame, frames_facing, need_axes, no_turn, on_line, travel_along


@dataclass(frozen=True, eq=False)
class Prismatic(AxisJoint):
    """One body slides along an axis of the other without turning: one travel is free.

    ::

          first ═══════════════════════ axis
                    ┌────────┐
                    │ second │ ──► travel
                    └────────┘

    In space: the second body's point stays on the axis (name.side1, name.side2) and frames on both bodies stay
    parallel (name.turn1, name.turn2, name.turn3). In the plane: name.side, name.turn. `reading` is what the travel
    reads in the start position.

    >>> from zwang import multibody as mb
    >>> block = mb.PlanarBody("block", 1, 1, position=(0.5, 0))
    >>> slide = mb.Prismatic("slide", mb.ground, block, at=(0.5, 0), axis=(1, 0))
    >>> slide.conditions()
    {'side': block.y(t), 'turn': block.angle(t)}
    """

    name: str
    first: AnyBody
    second: AnyBody
    at: Place
    axis: Place
    reading: float = 0.0

    @property
    def held(self) -> tuple[str, ...]:
        """Ends, the line, and how the bodies are turned: by frames in space."""
        return ("ends", "frame", "frames") if self.dimension == 3 else ("ends", "frame", "start_turn")

    def require(self) -> None:
        """Refuse particles."""
        need_axes(self, "use ", PartName("PointOnLine"))
        super().require()

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Of the line and turns."""
        return ("side1", "side2", "turn1", "turn2", "turn3") if self.dimension == 3 else ("side", "turn")

    @cached_property
    def frames(self) -> tuple[Frame, Frame]:
        """Frames on both bodies in space that stay parallel."""
        return frames_of(self, self.axes)

    def conditions(self) -> dict[str, sp.Expr]:
        """The point stays on the axis; nothing turns."""
        return on_line(self) | no_turn(self, self.frames if self.dimension == 3 else None)

    @property
    def facing(self) -> sp.Expr | None:
        """The bodies stand as meant, and not half a turn off."""
        return frames_facing(self, self.frames) if self.dimension == 3 else None

    @cached_property
    def freedoms(self) -> dict[str, Freedom]:
        """The travel."""
        return {"travel": travel_along(self, self.axes[0], self.reading)}
