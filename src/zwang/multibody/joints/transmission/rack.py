"""A rack and its pinion."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.multibody.body import AnyBody
from zwang.multibody.joints.selection import Selected, bodies_of, selected
from zwang.multibody.joints.transmission.coupling import Summed, Terms
from zwang.multibody.vectors import scalar


@dataclass(frozen=True, eq=False)
class Rack(Summed):
    """The travel of one joint follows the angle of another: travel = radius × angle, from the start.

    ::

             ╭───╮
             │ ↻ │ pinion
        ┬┬┬┬┬╰───╯┬┬┬┬┬┬ rack ──► travel

    `pinion` and `rack` are joints, or pairs (joint, name of the coordinate). `radius` is the pinion's; negative where
    a positive angle makes the travel decrease. name.travel, in positions. The multiplier is the force on the rack.

    >>> from zwang import multibody as mb
    >>> wheel, bar = mb.PlanarBody("wheel", 1, 1), mb.PlanarBody("bar", 1, 1, position=(0, -0.5))
    >>> pin = mb.Revolute("pin", mb.ground, wheel, at=(0, 0))
    >>> slide = mb.Prismatic("slide", mb.ground, bar, at=(0, -0.5), axis=(1, 0))
    >>> mb.Rack("teeth", pin, slide, radius=3).conditions()
    {'travel': bar.x(t) - 3*wheel.angle(t)}
    """

    name: str
    pinion: Selected
    rack: Selected
    radius: Any

    @property
    def bodies(self) -> tuple[AnyBody, ...]:
        """Those of both joints."""
        return bodies_of(self.pinion, self.rack)

    suffixes = ("travel",)

    def summed(self) -> tuple[Terms, sp.Expr | None]:
        """The travel stays in proportion to the angle."""
        who = self.who
        radius = scalar(who, self.radius, ("radius",))
        if radius == 0:
            raise InputError(f"{who}: its radius is 0, but a pinion has one", where=("radius",))
        rack, pinion = selected(who, self.rack, "rack", "travel"), selected(who, self.pinion, "pinion", "angle")
        terms = [(sp.S.One, rack), (-radius, pinion)]
        return terms, None
