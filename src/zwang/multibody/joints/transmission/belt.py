"""A belt or chain around two wheels."""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.multibody.body import AnyBody
from zwang.multibody.joints.selection import Selected, bodies_of, selected
from zwang.multibody.joints.transmission.coupling import Summed, Terms
from zwang.multibody.vectors import is_number, vector


@dataclass(frozen=True, eq=False)
class Belt(Summed):
    """A belt that does not slip or stretch runs around two wheels: r₂ angle₂ = r₁ angle₁, from the start.

    ::

          ╭──────────────────╮
         ( 1 )              ( 2 )     crossed: the wheels turn in opposite senses
          ╰──────────────────╯

    `first` and `second` are the wheels' joints, or pairs (joint, name of its angle), with axes that point the same way;
    `radii` belong to them. name.length: in positions in the plane, in velocities in space. The multiplier is the
    force in the belt that turns the second wheel.

    >>> from zwang import multibody as mb
    >>> a, b = (mb.PlanarBody(name, 1, 1, position=(x, 0)) for name, x in (("a", 0), ("b", 3)))
    >>> pins = [mb.Revolute(f"pin {w.name}", mb.ground, w, at=w.position) for w in (a, b)]
    >>> mb.Belt("belt", *pins, radii=(1, 2)).conditions()
    {'length': -a.angle(t) + 2*b.angle(t)}
    """

    name: str
    first: Selected
    second: Selected
    radii: tuple[Any, Any]
    crossed: bool = False

    @property
    def bodies(self) -> tuple[AnyBody, ...]:
        """Those of both joints."""
        return bodies_of(self.first, self.second)

    suffixes = ("length",)

    def summed(self) -> tuple[Terms, sp.Expr | None]:
        """As much belt runs onto one wheel as leaves the other."""
        who = self.who
        r1, r2 = vector(who, self.radii, (2,), ("radii",))
        if any(is_number(r) and not r > 0 for r in (r1, r2)):
            raise InputError(f"{who}: its radii are {self.radii}, but both must be positive", where=("radii",))
        sign = 1 if self.crossed else -1
        first, second = selected(who, self.first, "first", "angle"), selected(who, self.second, "second", "angle")
        terms = [(r2, second), (sign * r1, first)]
        return terms, None
