"""The rod: a fixed distance."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.model.drawing import Shape
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Joint, Point, both_ends
from zwang.multibody.joints.parts import positive, start_gap
from zwang.multibody.vectors import Vector, inner, is_number, scalar


@dataclass(frozen=True, eq=False)
class Rod(Joint):
    """Two points keep their distance, as if a massless rod joined them.

    ::

              start           end
        first ──◯──────────────◯── second
                     length

    (L² − |d|²)/(2L) = 0 with d from start to end (name.length); so scaled, the multiplier is the tension. `start` and
    `end` are world points of the start position; or give `at` = (point on the first body, point on the second), in
    body axes. Without `length` the rod is as long as its ends are apart at the start.

    >>> from zwang import multibody as mb
    >>> bob = mb.Particle("bob", 1, position=(3, -4))
    >>> mb.Rod("rod", mb.ground, bob, start=(0, 0), end=(3, -4)).conditions()
    {'length': -bob.x(t)**2/10 - bob.y(t)**2/10 + 5/2}
    """

    name: str
    first: AnyBody
    second: AnyBody
    start: Point | None = None
    end: Point | None = None
    length: Any = None
    at: Any = None

    @cached_property
    def ends(self) -> tuple[Vector, Vector]:
        """The rod's ends, in body axes."""
        if self.at is None and (self.start is None or self.end is None):
            raise InputError(
                f"{self.who}: give start and end in the world, or at=(point on the first, point on the second)",
                where=("start",),
            )
        return both_ends(self.who, self.bodies, self.dimension, self.start, self.end, self.at)

    @cached_property
    def span(self) -> sp.Expr:
        """The rod's length."""
        if self.length is not None:
            return positive(self, "length", self.length)
        apart = start_gap(self)
        if not all(is_number(x) for x in apart):
            words = "where its ends start depends on parameters: give its length"
            raise InputError(f"{self.who}: {words}", where=("length",))
        distance = math.hypot(*(float(x) for x in apart))
        if distance == 0:
            words = "its ends start in one place, so it has no length: use a joint, or give one"
            raise InputError(f"{self.who}: {words}", where=("start",))
        return scalar(self.who, distance)

    held = ("ends", "span")
    suffixes = ("length",)

    def conditions(self) -> dict[str, sp.Expr]:
        """The distance is the length."""
        L, gap = self.span, self.gap
        return {"length": (L**2 - inner(gap, gap)) / (2 * L)}

    def shapes(self) -> list[Shape]:
        """A line."""
        (a, b), (p, q) = self.poses, self.ends
        return [Shape(self.name, "line", (a.point(p), b.point(q)), color="gray")]
