"""A point on a curve: a bead on a wire, a roller in a cam's groove."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.model.drawing import Shape
from zwang.model.symbols import rates, t
from zwang.multibody.body import AnyBody
from zwang.multibody.efforts import FreeMotion
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Joint, together
from zwang.multibody.joints.parts import need_axes
from zwang.multibody.joints.point_on_surface import follower_ends
from zwang.multibody.vectors import Vector, numeric, scalar, subtract, vector

LOOK = 64  # corners of the line that pictures the curve


@dataclass(frozen=True, eq=False)
class PointOnCurve(Joint):
    """A point of the second body stays on a curve of the first, given by a parameter.

    ::

             ╭─────╮
        ─────╯     ╰──◯──╮   curve(s), on the first body
                     second

    `curve` are two expressions (three in space) in the symbol `parameter`: the curve's places in the first body's axes
    from its centre of mass, in the world for the ground. The joint has a coordinate of its own, name.s, which has no
    inertia; `start` is where it starts, roughly. The point less the curve's place is zero in world axes: name.x,
    name.y, in space name.z. `at` is the point, in the world of the start position or as a pair in body axes; without
    it, the second body's centre of mass. `span` are the parameters between which pictures show the curve.

    A curve in the plane given by f(X, Y) = 0 is a PointOnSurface.

    >>> import sympy as sp
    >>> from zwang import multibody as mb
    >>> u = sp.Symbol("u")
    >>> bead = mb.Particle("bead", 1, position=(1, 1))
    >>> mb.PointOnCurve("wire", mb.ground, bead, curve=(u, u**2), parameter=u, start=1).conditions()
    {'x': bead.x(t) - wire.s(t), 'y': bead.y(t) - wire.s(t)**2}
    """

    name: str
    first: AnyBody
    second: AnyBody
    curve: Sequence[Any]
    parameter: sp.Symbol
    start: float = 0.0
    at: Any = None
    span: tuple[float, float] | None = None

    @cached_property
    def ends(self) -> tuple[Vector, Vector]:
        """The point on both bodies, in body axes at the start."""
        return follower_ends(self, self.at)

    @cached_property
    def s(self) -> sp.Expr:
        """The coordinate along the curve."""
        if not isinstance(self.parameter, sp.Symbol) or self.parameter == t:
            words = f"parameter={self.parameter!r}: give the symbol that the curve runs with"
            raise InputError(f"{self.who}: {words}", where=("parameter",))
        return sp.Function(f"{self.name}.s")(t)

    @property
    def coordinates(self) -> dict[sp.Expr, float]:
        """name.s, and where it starts."""
        return {self.s: self._start}

    @property
    def _start(self) -> float:
        return numeric(self.who, (self.start,), (1,), ("start",))[0]

    held = ("ends", "s", "places")

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Of the axes."""
        return ("x", "y", "z")[: self.dimension]

    def require(self) -> None:
        """Refuse a curve of a particle, and one that is a point."""
        _ = self._start, self.s
        need_axes(self, "give the curve to a body that has", bodies=(self.first,))
        if not self.places.expr.has(self.parameter):
            words = f"the curve does not depend on its parameter {self.parameter}"
            raise InputError(f"{self.who}: {words}", where=("curve",))
        super().require()

    @cached_property
    def places(self) -> sp.Lambda:
        """The curve, in the first body's axes, by its parameter."""
        return sp.Lambda(self.parameter, sp.Tuple(*vector(self.who, self.curve, (self.dimension,), ("curve",))))

    def curve_at(self, parameter: Any) -> Vector:
        """The curve's place, in the first body's axes."""
        return tuple(self.places(parameter))

    def conditions(self) -> dict[str, sp.Expr]:
        """The point is on the curve."""
        return together(subtract(self.place, self.poses[0].point(self.curve_at(self.s))))

    @property
    def free_motions(self) -> tuple[FreeMotion, ...]:
        """Along the curve."""
        tangent = tuple(sp.diff(place, self.s) for place in self.curve_at(self.s))
        return (FreeMotion("travel", self.poses[0].direction(tangent), (0, 0, 0)),)

    @cached_property
    def freedoms(self) -> dict[str, Freedom]:
        """The parameter along the curve."""
        return {"s": Freedom("travel", rates(self.s)[0], self.s, start=scalar(self.who, self._start))}

    def shapes(self) -> list[Shape]:
        """The point, and the curve where `span` says what to show."""
        shapes = super().shapes()
        if self.span is None:
            return shapes
        low, high = self.span
        corners = [self.curve_at(low + (high - low) * k / LOOK) for k in range(LOOK + 1)]
        line = tuple(self.poses[0].point(corner) for corner in corners)
        return [Shape(f"{self.name} curve", "line", line, color="gray"), *shapes]
