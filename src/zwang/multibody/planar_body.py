"""Rigid bodies in the plane."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from zwang.errors import InputError
from zwang.mistakes import PartName
from zwang.model.symbols import rates
from zwang.multibody.body import ORIGIN_IN_PLANE, ZERO, MassBody, said
from zwang.multibody.pose import Pose
from zwang.multibody.vectors import (
    Vector,
    corners,
    is_number,
    numeric,
    plane_turn,
    scalar,
)


@dataclass(frozen=True, eq=False)
class PlanarBody(MassBody):
    """A rigid body in the plane: centre of mass (x, y) and angle; `inertia` about the centre of mass.

    >>> PlanarBody("crank", mass=1, inertia=0.1).coordinates
    (crank.x(t), crank.y(t), crank.angle(t))
    """

    name: str
    mass: Any
    inertia: Any
    position: Sequence[Any] = ORIGIN_IN_PLANE
    angle: float = ZERO
    velocity: Sequence[Any] | None = None
    spin: float = ZERO
    outline: Sequence[Sequence[Any]] = ()

    def __post_init__(self) -> None:
        """Refuse a negative inertia and a place that is not in the plane."""
        self.check()
        inertia = scalar(self.who, self.inertia, ("inertia",))
        if is_number(inertia) and inertia < 0:
            words = f"its inertia is {self.inertia}, but no inertia is negative"
            raise InputError(f"{self.who}: {words}", where=("inertia",))
        if self.dimension != 2:
            words = f"{self.who}: in the plane a position has two entries; use "
            raise InputError(words, PartName("Body"), " in space", where=("position",))
        numeric(self.who, (self.angle,), (1,), ("angle",))
        numeric(self.who, (self.spin,), (1,), ("spin",))
        corners(self.who, self.outline, 2)

    @cached_property
    def _angle(self) -> sp.Expr:
        return self._functions(["angle"])[0]

    suffixes = ()

    @property
    def coordinates(self) -> tuple[sp.Expr, ...]:
        """name.x, name.y, name.angle."""
        return (*self._place, self._angle)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The same."""
        return (f"{self.name}.x", f"{self.name}.y", f"{self.name}.angle")

    def pose(self, dimension: int) -> Pose:
        """Where it is, in its coordinates."""
        return Pose(self._place, plane_turn(self._angle), self._linear, rates(self._angle)[0], self._angle)

    def start_pose(self, dimension: int) -> Pose:
        """Where it starts."""
        c, s = np.cos(float(self.angle)), np.sin(float(self.angle))
        turn = ((float(c), float(-s)), (float(s), float(c)))
        return Pose(numeric(self.who, self.position, (2,)), turn, self._start_velocity, self.spin, self.angle)

    @property
    def kinetic(self) -> sp.Expr:
        """The kinetic energy."""
        return super().kinetic + scalar(self.who, self.inertia) * rates(self._angle)[0] ** 2 / 2

    def generalized(self, force: Vector, moment: Any) -> dict[sp.Expr, sp.Expr]:
        """The force and the moment."""
        return dict(zip(self.coordinates, (*force, moment), strict=True))

    @property
    def stated(self) -> tuple[tuple[str, int], ...]:
        """What was given of position, angle, velocity and spin."""
        sizes = {"position": 2, "angle": 1, "velocity": 2, "spin": 1}
        return tuple((said(self, argument), size) for argument, size in sizes.items())

    def start_values(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Position, angle and rates as given."""
        q = (*numeric(self.who, self.position, (2,)), float(self.angle))
        return q, (*self._start_velocity, float(self.spin))
