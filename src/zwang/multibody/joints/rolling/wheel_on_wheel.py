"""A wheel that rolls on, or in, another wheel in the plane."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.mistakes import PartName
from zwang.model.drawing import Shape
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Joint, Place
from zwang.multibody.joints.parts import across, need_axes, need_plane, positive, slip, start_gap
from zwang.multibody.vectors import Vector, add, inner, is_number, scale


@dataclass(frozen=True, eq=False)
class WheelOnWheel(Joint):
    """Two wheels in the plane roll on each other without slipping; `inside`: the smaller one in the larger one.

    ::

            .───.                  .───────.
           ( r₂  )               (   .───.  )
            '───'.───.           (  ( r₂  ) )
                ( r₁  )           '  '───' '
                 '───'             '──r₁──'

    The centres keep the distance D = r₁ + r₂, inside |r₁ − r₂|: (d² − D²)/(2D) = 0, inside with the other sign
    (name.contact), so that the multiplier is the force that presses the wheels together. The materials at the
    contact have one velocity (name.slip). `radii` belong to the first and the second body; `at` are the centres on
    both bodies, in body axes, by default their centres of mass. The joint's own axes: from centre to centre, and to
    its left.

    >>> from zwang import multibody as mb
    >>> a, b = mb.PlanarBody("a", 1, 1), mb.PlanarBody("b", 1, 1, position=(3, 0))
    >>> list(mb.WheelOnWheel("mesh", a, b, radii=(1, 2)).conditions())
    ['contact', 'slip']
    """

    name: str
    first: AnyBody
    second: AnyBody
    radii: tuple[Any, Any]
    inside: bool = False
    at: Place = ((0, 0), (0, 0))

    @cached_property
    def ends(self) -> tuple[Vector, Vector]:
        """Both centres, in body axes."""
        need_plane(self, "use ", PartName("Gear"), " in space")
        need_axes(self, "a particle cannot roll")
        return self.placed(self.at)

    @cached_property
    def sizes(self) -> tuple[sp.Expr, sp.Expr, int]:
        """The radius of the first wheel, the distance of the centres, and on which side of the first the contact is."""
        if not hasattr(self.radii, "__len__") or len(self.radii) != 2:
            words = f"radii={self.radii!r}: give two, of the first and of the second wheel"
            raise InputError(f"{self.who}: {words}", where=("radii",))
        r1, r2 = (positive(self, "radii", r) for r in self.radii)
        if not self.inside:
            return r1, r1 + r2, 1
        if not (is_number(r1) and is_number(r2)) or r1 == r2:
            words = f"the radii {r1} and {r2} must be numbers that differ for a wheel in a wheel"
            raise InputError(f"{self.who}: {words}", where=("radii",))
        return (r1, r1 - r2, 1) if r1 > r2 else (r1, r2 - r1, -1)

    @cached_property
    def ahead(self) -> Vector:
        """The direction from the first centre to the second."""
        return scale(1 / self.sizes[1], self.gap)

    @property
    def place(self) -> Vector:
        """The point of contact."""
        r1, _, side = self.sizes
        return add(self.poses[0].point(self.ends[0]), scale(side * r1, self.ahead))

    @property
    def own_axes(self) -> tuple[Vector, ...]:
        """From centre to centre, and to its left."""
        return self.ahead, across(self.ahead)

    held = ("ends", "sizes", "inside")
    suffixes = ("contact", "slip")

    def require(self) -> None:
        """Refuse wheels about one centre."""
        super().require()
        if not any(start_gap(self)):
            words = "both wheels start with one centre: say roughly where they touch"
            raise InputError(f"{self.who}: {words}", where=("at",))

    def conditions(self) -> dict[str, sp.Expr]:
        """The wheels touch and do not slip."""
        distance = self.sizes[1]
        open_by = (inner(self.gap, self.gap) - distance**2) / (2 * distance)
        past = inner(across(self.ahead), slip(self, self.place))
        return {"contact": -open_by if self.inside else open_by, "slip": past}

    def shapes(self) -> list[Shape]:
        """Two circles with spokes."""
        shapes = []
        for i, (pose, end, radius) in enumerate(zip(self.poses, self.ends, self.radii, strict=True)):
            centre, rim = pose.point(end), pose.point(add(end, (radius, 0)))
            shapes += [
                Shape(f"{self.name} {i + 1}", "circle", (centre,), radius=radius),
                Shape(f"{self.name} spoke {i + 1}", "line", (centre, rim)),
            ]
        return shapes
