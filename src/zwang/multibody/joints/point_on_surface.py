"""A point on a surface, or in the plane on a curve, given by an equation."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.model.symbols import as_scalar
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Joint, Place
from zwang.multibody.joints.parts import need_axes
from zwang.multibody.vectors import Vector, scalar


@dataclass(frozen=True, eq=False)
class PointOnSurface(Joint):
    """A point of the second body stays where f(X, Y, Z) = 0, a surface of the first; in the plane f(X, Y) = 0, a curve.

    ::

               second
                 ╲  .───────.
                  ◯'         '.    f(X, Y, Z) = 0, on the first body
                 /             \\

    `surface` is the expression f, in the `symbols` that stand for the point's coordinates in the first body's axes from
    its centre of mass, in the world for the ground: name.surface. `at` is the point, in the world of the start
    position or as a pair in body axes; without it, the second body's centre of mass.

    >>> from zwang import multibody as mb, parameters
    >>> X, Y = parameters("X Y")
    >>> bead = mb.Particle("bead", 1, position=(1, 0))
    >>> mb.PointOnSurface("ring", mb.ground, bead, surface=X**2 + Y**2 - 1, symbols=(X, Y)).conditions()
    {'surface': bead.x(t)**2 + bead.y(t)**2 - 1}
    """

    name: str
    first: AnyBody
    second: AnyBody
    surface: Any
    symbols: Sequence[sp.Symbol]
    at: Any = None

    @cached_property
    def ends(self) -> tuple[Vector, Vector]:
        """The point on both bodies, in body axes at the start."""
        return follower_ends(self, self.at)

    held = ("ends", "equation")
    suffixes = ("surface",)

    @cached_property
    def equation(self) -> sp.Lambda:
        """What is zero on the surface, by the point's coordinates."""
        return sp.Lambda(tuple(self.symbols), scalar(self.who, self.surface, ("surface",)))

    def require(self) -> None:
        """Refuse a surface of a particle, and one that is none."""
        need_axes(self, "give the surface to a body that has", bodies=(self.first,))
        f, size = scalar(self.who, self.surface, ("surface",)), self.dimension
        if len(self.symbols) != size or not all(isinstance(s, sp.Symbol) for s in self.symbols):
            words = f"symbols={self.symbols!r}: give {size} symbols, one a coordinate"
            raise InputError(f"{self.who}: {words}", where=("symbols",))
        if not f.free_symbols & set(self.symbols):
            words = f"the surface {f} depends on none of {', '.join(map(str, self.symbols))}"
            raise InputError(f"{self.who}: {words}", where=("surface",))
        super().require()

    def conditions(self) -> dict[str, sp.Expr]:
        """The point is on the surface."""
        return {"surface": self.equation(*map(as_scalar, self.poses[0].local_point(self.place)))}


def follower_ends(joint: Joint, at: Place | None) -> tuple[Vector, Vector]:
    """The point that follows a curve or surface: on both bodies at the start; by default the second's centre."""
    if at is not None:
        return joint.placed(at)
    return joint.placed(joint.start_poses[1].origin)
