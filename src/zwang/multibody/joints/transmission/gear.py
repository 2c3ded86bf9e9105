"""A pair of gears."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.mistakes import PartName
from zwang.multibody.body import AnyBody
from zwang.multibody.joints.selection import Selected, bodies_of, selected
from zwang.multibody.joints.transmission.coupling import Summed, Terms
from zwang.multibody.vectors import scalar


@dataclass(frozen=True, eq=False)
class Gear(Summed):
    """The angle of one joint is proportional to that of another: angle₂ = ratio × angle₁, from the start.

    ::

          ╭───╮╭─────╮
          │ 1 ││  2  │    ratio = −r₁/r₂ for wheels that mesh outside, r₁/r₂ inside
          ╰───╯╰─────╯

    `first` and `second` are joints, or pairs (joint, name of its angle). With the pins on a common carrier this is
    an epicyclic gear. name.ratio: in positions in the plane, in velocities in space, where an angle is known by its
    sine and cosine only and turns are not counted. The multiplier is the torque on the second wheel.

    >>> from zwang import multibody as mb
    >>> a, b = (mb.PlanarBody(name, 1, 1, position=(x, 0)) for name, x in (("a", 0), ("b", 3)))
    >>> pins = [mb.Revolute(f"pin {w.name}", mb.ground, w, at=w.position) for w in (a, b)]
    >>> mb.Gear("mesh", *pins, ratio=-2).conditions()
    {'ratio': 2*a.angle(t) + b.angle(t)}
    """

    name: str
    first: Selected
    second: Selected
    ratio: Any

    @property
    def bodies(self) -> tuple[AnyBody, ...]:
        """Those of both joints."""
        return bodies_of(self.first, self.second)

    suffixes = ("ratio",)

    def summed(self) -> tuple[Terms, sp.Expr | None]:
        """The angles stay in proportion."""
        who = self.who
        ratio = scalar(who, self.ratio, ("ratio",))
        if ratio == 0:
            words = f"{who}: its ratio is 0: the second wheel would stand still; use a "
            raise InputError(words, PartName("Driver"), " for that", where=("ratio",))
        first, second = selected(who, self.first, "first", "angle"), selected(who, self.second, "second", "angle")
        terms = [(sp.S.One, second), (-ratio, first)]
        return terms, None
