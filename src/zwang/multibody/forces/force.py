"""Forces at points of bodies."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.multibody.body import AnyBody, MassBody, own_point, require_frame
from zwang.multibody.element import (
    ForceElement,
    at_point,
    known_vector,
    moment_of,
    require_movable,
)
from zwang.multibody.vectors import Vector, vector


@dataclass(frozen=True, eq=False)
class Force(ForceElement):
    """A force at a point of a body.

    `components` are numbers, expressions in time, coordinates, rates and parameters, or `Signal`s, which are then the
    known functions of time name.ux, name.uy, name.uz; they are along the axes of the world or, with
    `frame="body"`, of the body. `point` is in body axes from the centre of mass, which it is unless given.

    >>> from zwang import multibody as mb
    >>> plate = mb.PlanarBody("plate", mass=1, inertia=2)
    >>> mb.Force("thrust", plate, (3, 0), point=(0, 1), frame="body").forces([plate])[plate.coordinates[2]]
    -3
    """

    name: str
    body: MassBody
    components: Sequence[Any]
    point: Sequence[Any] | None = None
    frame: str = "world"

    def __post_init__(self) -> None:
        """Refuse a body that cannot move, an unknown frame, and components or a point that are not vectors."""
        require_movable(self.who, self.body)
        require_frame(self.who, self.frame)
        _ = self.arm
        self._read()

    @property
    def bodies(self) -> tuple[AnyBody, ...]:
        """The body."""
        return (self.body,)

    @property
    def held(self) -> tuple[str, ...]:
        """Components and point; none where components are signals, which are other functions of time for each."""
        return () if self.inputs else ("components", "arm", "frame")

    @cached_property
    def arm(self) -> Vector:
        """Where it acts, in body axes."""
        size = self.body.dimension
        point = vector(self.who, (0,) * size if self.point is None else self.point, (size,), ("point",))
        return own_point(self.who, self.body, point, ("point",))

    def _read(self) -> tuple[Vector, dict[sp.Expr, Any]]:
        return known_vector(self, self.components, self.body.dimension)

    @property
    def inputs(self) -> dict[sp.Expr, Any]:
        """Components that are signals."""
        return self._read()[1]

    def forces(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """The force, and its moment about the centre of mass."""
        force, size = self._read()[0], self.body.dimension
        if self.frame == "world":
            return at_point(self.body, size, self.arm, force)
        pose, moment = self.body.pose(size), moment_of(self.arm, force)
        return self.body.generalized(pose.direction(force), moment if size == 2 else pose.direction(moment))
