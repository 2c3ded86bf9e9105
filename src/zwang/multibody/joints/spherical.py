"""The spherical joint: a ball in a socket."""

from dataclasses import dataclass

import sympy as sp

from zwang.mistakes import PartName
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Joint, Place, together
from zwang.multibody.joints.parts import need_space


@dataclass(frozen=True, eq=False)
class Spherical(Joint):
    """Two bodies share a point and turn freely about it.

    ::

                   ╭───╮
        first ─────┤ ◯ ├───── second
                   ╰───╯

    The points coincide: name.x, name.y, name.z. Three turns are free; three numbers that count them without fail do
    not exist, so the joint has no coordinates. In the plane this is the Revolute joint.

    >>> from zwang import multibody as mb
    >>> ball = mb.Spherical("ball", mb.ground, mb.Body("top", 1, (1, 1, 1), position=(0, 0, 1)), at=(0, 0, 1))
    >>> ball.conditions()
    {'x': top.x(t), 'y': top.y(t), 'z': top.z(t) - 1}
    """

    name: str
    first: AnyBody
    second: AnyBody
    at: Place

    held = ("ends",)
    suffixes = ("x", "y", "z")

    def require(self) -> None:
        """Refuse bodies in the plane."""
        need_space(self, "use ", PartName("Revolute"), " in the plane")
        super().require()

    def conditions(self) -> dict[str, sp.Expr]:
        """The points coincide."""
        return together(self.gap)
