"""Springs and dampers between points of two bodies."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.model.drawing import Shape
from zwang.multibody.body import AnyBody, MassBody, common_dimension
from zwang.multibody.element import ForceElement, at_point, not_negative
from zwang.multibody.joint import Point, both_ends
from zwang.multibody.vectors import Vector, inner, is_number, is_zero, scalar, scale, subtract

length = sp.Symbol("spring.length", positive=True)  # dots keep them apart from anybody's parameters
rate = sp.Symbol("spring.rate", real=True)


@dataclass(frozen=True, eq=False)
class Spring(ForceElement):
    """A spring and damper between a point of one body and a point of another.

    ::

        first  •──/\\/\\/\\/──•  second        tension = stiffness (length − rest) + damping · rate
             start  ═╡▭    end

    `start` and `end` are world points in the start position, on the first and on the second body; or give `at` =
    (point on the first body, point on the second), in body axes; an end that is not given is the centre of mass.
    `rest` is the length at which it does not pull, the length at the start unless given. The spring's energy counts
    in the potential energy; the damper takes energy away. Where `rest` is not zero, or with a damper, the ends must
    not meet: a force along a line needs a line.

    A nonlinear spring has `force` instead: its tension, positive where it pulls, as an expression in `mb.length`
    and `mb.rate`, the rate at which it grows. All of it counts as power then, nothing as potential energy.

    >>> from zwang import multibody as mb
    >>> bob = mb.Particle("bob", mass=1, position=(0, 0, -2))
    >>> mb.Spring("coil", mb.ground, bob, stiffness=6, rest=0).potential([bob])
    3*bob.x(t)**2 + 3*bob.y(t)**2 + 3*bob.z(t)**2
    >>> stiffening = mb.Spring("bumper", mb.ground, bob, force=100*(mb.length - 2)**3 + 5*mb.rate)
    """

    name: str
    first: AnyBody
    second: AnyBody
    start: Point | None = None
    end: Point | None = None
    stiffness: Any = 0
    rest: Any = None
    damping: Any = 0
    force: Any = None
    at: tuple[Point, Point] | None = None
    color: str = "green"

    def __post_init__(self) -> None:
        """Refuse negative numbers, a spring that does nothing, and one with both a force and a stiffness."""
        if self.force is not None and not (self.stiffness == 0 and self.damping == 0 and self.rest is None):
            words = "give either force or stiffness, rest and damping"
            raise InputError(f"{self.who}: {words}", where=("force",))
        if self.force is None and self.stiffness == 0 and self.damping == 0:
            words = "does nothing: give a stiffness, a damping or a force"
            raise InputError(f"{self.who} {words}", where=("stiffness",))
        for what in ("stiffness", "damping"):
            not_negative(self.who, what, getattr(self, what))
        if self.rest is not None:
            not_negative(self.who, "rest", self.rest, "rest length")
        if self.force is not None:
            scalar(self.who, self.force, ("force",))
        _ = self.ends
        if self.force is None and self.rest is None and is_zero(self.unstretched):
            words = "its ends meet at the start: give rest=0, or place them apart"
            raise InputError(f"{self.who}: {words}", where=("start",) if self.at is None else ("at",))

    @property
    def bodies(self) -> tuple[AnyBody, AnyBody]:
        """Both."""
        return (self.first, self.second)

    @cached_property
    def dimension(self) -> int:
        """2 between bodies in the plane, 3 in space."""
        return common_dimension(self.who, self.first, self.second)

    @cached_property
    def ends(self) -> tuple[Vector, Vector]:
        """The spring's point on each body, in body axes."""
        return both_ends(self.who, self.bodies, self.dimension, self.start, self.end, self.at)

    held = ("ends", "unstretched", "stiffness", "damping", "force")

    @cached_property
    def gap(self) -> Vector:
        """From the first end to the second, in world axes."""
        a, b = self.places
        return subtract(b, a)

    @cached_property
    def places(self) -> tuple[Vector, Vector]:
        """Where both ends are, in expressions."""
        a, b = (body.pose(self.dimension).point(end) for body, end in zip(self.bodies, self.ends, strict=True))
        return a, b

    @cached_property
    def length(self) -> sp.Expr:
        """The distance of the ends."""
        return sp.sqrt(inner(self.gap, self.gap))

    @cached_property
    def rate(self) -> sp.Expr:
        """How fast the length grows."""
        a, b = (body.pose(self.dimension).point_velocity(end) for body, end in zip(self.bodies, self.ends, strict=True))
        return inner(self.gap, subtract(b, a)) / self.length

    @cached_property
    def unstretched(self) -> sp.Expr:
        """The rest length: as given, or the length in the start position."""
        if self.rest is not None:
            return scalar(self.who, self.rest)
        a, b = (body.start_pose(self.dimension).point(end) for body, end in zip(self.bodies, self.ends, strict=True))
        long = sp.sqrt(inner(subtract(b, a), subtract(b, a)))
        return scalar(self.who, float(long) if is_number(long) else long)

    def potential(self, bodies: Sequence[MassBody]) -> sp.Expr:
        """½ stiffness (length − rest)²; without a rest length no root is drawn, so the ends may meet."""
        stiffness = scalar(self.who, self.stiffness)
        if is_zero(stiffness):
            return sp.S.Zero
        if is_zero(self.unstretched):
            return stiffness * inner(self.gap, self.gap) / 2
        return stiffness * (self.length - self.unstretched) ** 2 / 2

    def forces(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """The forces of the damper, or of the whole nonlinear spring: its tension pulls the ends together."""
        if self.force is not None:
            tension = scalar(self.who, self.force).xreplace({length: self.length, rate: self.rate})
        else:
            tension = scalar(self.who, self.damping) * self.rate
        if is_zero(tension):
            return {}
        pull = scale(tension / self.length, self.gap)
        on_first = at_point(self.first, self.dimension, self.ends[0], pull)
        return on_first | at_point(self.second, self.dimension, self.ends[1], scale(-1, pull))

    def shapes(self) -> list[Shape]:
        """A line from end to end."""
        return [Shape(self.name, "line", self.places, color=self.color)]
