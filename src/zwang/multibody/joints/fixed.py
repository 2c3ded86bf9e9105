"""The fixed joint: a weld."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from zwang.errors import InputError
from zwang.mistakes import PartName
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Joint, Place, together
from zwang.multibody.joints.parts import Frame, frames_facing, need_axes, need_space, no_turn, start_frames
from zwang.multibody.vectors import IDENTITY, numeric, quaternion_turn, tidy


@dataclass(frozen=True, eq=False)
class Fixed(Joint):
    """Two bodies are one: nothing is free.

    ::

        first ═══════╳═══════ second

    The points coincide (name.x, name.y, in space name.z) and the bodies keep the relative orientation of the start
    (name.turn in the plane; name.turn1, name.turn2, name.turn3 in space), or in space the one that `orientation` says:
    the quaternion that takes the second body's axes to the first's. The reaction is what the weld carries at its point.

    >>> from zwang import multibody as mb
    >>> beam = mb.PlanarBody("beam", 1, 1, position=(1, 0))
    >>> list(mb.Fixed("clamp", mb.ground, beam, at=(0, 0)).conditions())
    ['x', 'y', 'turn']
    """

    name: str
    first: AnyBody
    second: AnyBody
    at: Place
    orientation: Sequence[float] | None = None

    @property
    def held(self) -> tuple[str, ...]:
        """Ends, and how the bodies are turned: by frames in space."""
        return ("ends", "frames") if self.dimension == 3 else ("ends", "start_turn")

    def require(self) -> None:
        """Refuse particles."""
        need_axes(self, "use ", PartName("Spherical"), " in space, ", PartName("Revolute"), " in the plane")
        if self.orientation is not None:
            need_space(self, "in the plane give the bodies the angles that they are to keep")
        super().require()

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Of points and turns."""
        return ("x", "y", "z", "turn1", "turn2", "turn3") if self.dimension == 3 else ("x", "y", "turn")

    def conditions(self) -> dict[str, sp.Expr]:
        """The points coincide; nothing turns."""
        return together(self.gap) | no_turn(self, self.frames if self.dimension == 3 else None)

    @cached_property
    def frames(self) -> tuple[Frame, Frame]:
        """Frames on both bodies in space that stay parallel."""
        return self._frames or start_frames(self)

    @property
    def _frames(self) -> tuple[Frame, Frame] | None:
        if self.orientation is None:
            return None
        u = numeric(self.who, self.orientation, (4,), ("orientation",))
        length = math.hypot(*u)
        if not length > 0:
            words = "the quaternion (0, 0, 0, 0) is not an orientation"
            raise InputError(f"{self.who}: {words}", where=("orientation",))
        turn = quaternion_turn(tuple(x / length for x in u))
        return IDENTITY[3], tuple(tidy(row) for row in turn)

    @property
    def facing(self) -> sp.Expr | None:
        """The bodies stand as meant, and not half a turn off."""
        if self.dimension == 2:
            return None
        return frames_facing(self, self.frames)
