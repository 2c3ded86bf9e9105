"""Bodies: the ground, bodies whose motion is prescribed, particles, and what all bodies with mass share."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.mistakes import Where
from zwang.model.has_system import MechanismPart
from zwang.model.solids import Solid, require_solids
from zwang.model.symbols import as_scalar, dot, rates, t
from zwang.model.time import coordinate
from zwang.multibody.pose import Pose, at_rest
from zwang.multibody.vectors import (
    IDENTITY,
    Vector,
    axis_turn,
    inner,
    is_number,
    numeric,
    plane_turn,
    scalar,
    scale,
    unit,
    vector,
)

FRAMES = ("world", "body")
NEAR = 1e-9  # a place this near to a particle, relative to how far out both are, is the particle's


class Unstated(float):
    """A number of a start that a description leaves out: it reads as it is, and is free to become another."""


class UnstatedVector(tuple[float, ...]):
    """Numbers of a start that a description leaves out."""


ZERO = Unstated(0.0)
ORIGIN_IN_PLANE, ORIGIN = UnstatedVector((0.0, 0.0)), UnstatedVector((0.0, 0.0, 0.0))
UPRIGHT = UnstatedVector((1.0, 0.0, 0.0, 0.0))


def is_stated(given: Any) -> bool:
    """Whether somebody said this of a start; zero may be said, too."""
    return given is not None and not isinstance(given, Unstated | UnstatedVector)


class AnyBody(MechanismPart, ABC):
    """What joints and forces can be attached to. Bodies are compared by identity, not by content."""

    name: str

    @property
    def coordinates(self) -> tuple[sp.Expr, ...]:
        """The body's own coordinates, as functions of time called name.x, name.y, …."""
        return ()

    @abstractmethod
    def pose(self, dimension: int) -> Pose:
        """Where the body is, in expressions."""

    @abstractmethod
    def start_pose(self, dimension: int) -> Pose:
        """Where the body is at the start, in numbers."""


@dataclass(frozen=True, eq=False)
class Ground(AnyBody):
    """The world: it does not move, in the plane and in space."""

    name: str = "ground"

    def pose(self, dimension: int) -> Pose:
        """At rest."""
        return at_rest(dimension)

    start_pose = pose


ground = Ground()


@dataclass(frozen=True, eq=False)
class Moving(AnyBody):
    """A body whose motion is prescribed: position and angle are expressions in time (and parameters).

    In space it turns by `angle` about `axis`. Nothing can move it, so it has no mass. `solids` are for pictures.

    >>> from zwang import t
    >>> Moving("turntable", axis=(0, 0, 1), angle=3*t).pose(3).spin
    (0, 0, 3)
    """

    name: str
    position: Sequence[Any] = (0, 0, 0)
    axis: Sequence[Any] = (0, 0, 1)
    angle: Any = 0
    outline: Sequence[Sequence[Any]] = ()
    solids: Sequence[Solid] = ()

    def __post_init__(self) -> None:
        """Refuse what is not a solid."""
        object.__setattr__(self, "solids", require_solids(f"body {self.name!r}", self.solids))

    def pose(self, dimension: int) -> Pose:
        """Where the body is prescribed to be."""
        who = f"body {self.name!r}"
        origin = vector(who, self.position, (2, 3) if dimension == 2 else (3,), ("position",))[:dimension]
        angle = scalar(who, self.angle, ("angle",))
        velocity = tuple(dot(x) for x in origin)
        if dimension == 2:
            return Pose(origin, plane_turn(angle), velocity, dot(angle), angle)
        axis = unit(who, self.axis, (3,), ("axis",))
        return Pose(origin, axis_turn(axis, angle), velocity, scale(dot(angle), axis))

    def start_pose(self, dimension: int) -> Pose:
        """Where it is at t = 0; parameters stay symbols."""
        now = self.pose(dimension)

        def at_zero(x: Any) -> Any:
            return as_scalar(x).subs(t, 0)

        turn = tuple(tuple(map(at_zero, row)) for row in now.turn)
        return Pose(tuple(map(at_zero, now.origin)), turn, now.velocity, now.spin, at_zero(now.angle))


class MassBody(AnyBody):
    """A body with mass and coordinates; `outline` are corners of a closed line for pictures, in body axes."""

    mass: Any
    position: Sequence[Any]
    velocity: Sequence[Any] | None
    outline: Sequence[Sequence[Any]]

    def check(self) -> None:
        """Refuse a body without a name or without mass."""
        if not isinstance(self.name, str) or not self.name or self.name == "ground":
            words = f"{self.name!r} is not a name for a body: give a text, and not 'ground'"
            raise InputError(words, where=("name",))
        mass = scalar(self.who, self.mass, ("mass",))
        if is_number(mass) and not mass > 0:
            raise InputError(f"{self.who}: its mass is {self.mass}, but a mass is positive", where=("mass",))
        numeric(self.who, self.position, where=("position",))
        if len(self._start_velocity) != self.dimension:
            words = "position and velocity differ in their number of entries"
            raise InputError(f"{self.who}: {words}", where=("velocity",))

    @property
    def who(self) -> str:
        """What messages call the body."""
        return f"body {self.name!r}"

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.position)

    @cached_property
    def _place(self) -> tuple[sp.Expr, ...]:
        return self._functions("xyz"[: self.dimension])

    def _functions(self, suffixes: Sequence[str]) -> tuple[sp.Expr, ...]:
        return tuple(coordinate(f"{self.name}.{suffix}") for suffix in suffixes)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """What the coordinates are called."""
        return tuple(q.func.__name__ for q in self.coordinates)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What the conditions on its own coordinates are called after the name."""
        return tuple(self.conditions)

    @property
    def _linear(self) -> Vector:
        return tuple(rates(x)[0] for x in self._place)

    @property
    def _start_velocity(self) -> tuple[float, ...]:
        if self.velocity is None:
            return (0.0,) * self.dimension
        return numeric(self.who, self.velocity, where=("velocity",))

    def point(self, s: Sequence[Any]) -> Vector:
        """Where a point of the body is, in world axes: expressions, for conditions of the user's own.

        >>> Particle("bob", mass=2, position=(0, -1)).point((1, 0))
        (bob.x(t) + 1, bob.y(t))
        """
        return self.pose(self.dimension).point(vector(self.who, s, (self.dimension,), ("point",)))

    def point_velocity(self, s: Sequence[Any], frame: str = "world") -> Vector:
        """The velocity of a point of the body, in world axes or, with frame="body", in the body's: expressions."""
        require_frame(self.who, frame)
        pose = self.pose(self.dimension)
        velocity = pose.point_velocity(vector(self.who, s, (self.dimension,), ("point",)))
        return velocity if frame == "world" else pose.local_direction(velocity)

    def angular_rate(self, frame: str = "world") -> Any:
        """The angular velocity on the way, in world axes or, with frame="body", in the body's: expressions.

        In the plane it is one expression. (`angular_velocity` and `spin` are the numbers of the start.)

        >>> from zwang import multibody as mb
        >>> mb.PlanarBody("wheel", 1, 1).angular_rate()
        Derivative(wheel.angle(t), t)
        """
        require_frame(self.who, frame)
        pose = self.pose(self.dimension)
        return pose.spin if frame == "world" or self.dimension == 2 else self._body_spin

    @property
    def _body_spin(self) -> Vector:
        """The angular velocity in body axes, in space: none of what does not turn."""
        return (sp.S.Zero,) * 3

    def direction(self, d: Sequence[Any]) -> Vector:
        """Where a direction of the body points, in world axes: expressions."""
        return self.pose(self.dimension).direction(vector(self.who, d, (self.dimension,), ("direction",)))

    @property
    def kinetic(self) -> sp.Expr:
        """The kinetic energy."""
        return scalar(self.who, self.mass) * inner(self._linear, self._linear) / 2

    @property
    def conditions(self) -> dict[str, sp.Expr]:
        """What the body's own coordinates must obey: suffix → expression that is zero."""
        return {}

    @abstractmethod
    def generalized(self, force: Vector, moment: Any) -> dict[sp.Expr, sp.Expr]:
        """The generalized forces of a force at the centre of mass and a moment, both in world axes."""

    @abstractmethod
    def start_values(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Positions and velocities that the description says the body starts with."""

    @property
    @abstractmethod
    def stated(self) -> tuple[tuple[str, int], ...]:
        """The arguments of the start that were given, each with how many of the body's coordinates or rates it says.

        Coordinates come first, then rates, in their order; the name is empty for what was left out.
        """

    def rates_at(self, q: Array) -> Array:
        """The rates as described, at positions of the body that need not be those of the description."""
        return np.array(self.start_values()[1])

    def start(self) -> dict[sp.Expr, float]:
        """The same by coordinates and rates."""
        q, v = self.start_values()
        speeds = {rates(c)[0]: value for c, value in zip(self.coordinates, v, strict=True)}
        return dict(zip(self.coordinates, q, strict=True)) | speeds


@dataclass(frozen=True, eq=False)
class Particle(MassBody):
    """A point with mass, in the plane (two entries of `position`) or in space (three).

    >>> Particle("bob", mass=2, position=(0, -1)).coordinates
    (bob.x(t), bob.y(t))
    """

    name: str
    mass: Any
    position: Sequence[Any] = ORIGIN
    velocity: Sequence[Any] | None = None
    outline: Sequence[Sequence[Any]] = ()

    def __post_init__(self) -> None:
        """Refuse what is not a particle."""
        self.check()

    suffixes = ()

    @property
    def coordinates(self) -> tuple[sp.Expr, ...]:
        """name.x, name.y and in space name.z."""
        return self._place

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The same."""
        return tuple(f"{self.name}.{axis}" for axis in "xyz"[: self.dimension])

    def pose(self, dimension: int) -> Pose:
        """A particle does not turn: its axes are the world's."""
        return Pose(self._place, IDENTITY[dimension], self._linear, 0 if dimension == 2 else (0, 0, 0))

    def start_pose(self, dimension: int) -> Pose:
        """Where it starts."""
        still = at_rest(dimension)
        return Pose(numeric(self.who, self.position), still.turn, self._start_velocity, still.spin)

    def generalized(self, force: Vector, moment: Any) -> dict[sp.Expr, sp.Expr]:
        """The force; a particle feels no moment."""
        return dict(zip(self._place, force, strict=True))

    @property
    def stated(self) -> tuple[tuple[str, int], ...]:
        """Position and velocity, if they were given."""
        d = self.dimension
        return (said(self, "position"), d), (said(self, "velocity"), d)

    def start_values(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Position and velocity as given."""
        return numeric(self.who, self.position), self._start_velocity


def said(body: MassBody, argument: str) -> str:
    """The name of an argument of the start that was given; an empty one if it was left out."""
    return argument if is_stated(getattr(body, argument)) else ""


def require_frame(who: str, frame: str) -> None:
    """Refuse a frame that is neither the world's nor the body's."""
    if frame not in FRAMES:
        raise InputError(
            f"{who}: frame={frame!r} is unknown: choose {' or '.join(map(repr, FRAMES))}", where=("frame",)
        )


def own_point(who: str, body: AnyBody, point: Vector, where: Where = ()) -> Vector:
    """A point in body axes; of a particle nothing but its own place can be held."""
    if not isinstance(body, Particle):
        return point
    near = NEAR * (1 + max(map(abs, body.position)))
    if not all(is_number(x) and abs(float(x)) <= near for x in point):
        raise InputError(
            f"{who}: the point {tuple(point)} is away from the particle {body.name!r}, which has no other point than "
            f"its own",
            where=where,
        )
    return (sp.S.Zero,) * len(point)


def common_dimension(who: str, first: AnyBody, second: AnyBody) -> int:
    """2 between bodies in the plane, 3 in space; what cannot be joined is refused."""
    for body in (first, second):
        if not isinstance(body, AnyBody):
            raise InputError(f"{who}: {body!r} is not a body: give a body, or ground")
    sizes = {b.dimension for b in (first, second) if isinstance(b, MassBody)}
    if not sizes:
        raise InputError(f"{who} joins {first.name!r} to {second.name!r}: neither can move")
    if first is second:
        raise InputError(f"{who} joins {first.name!r} to itself")
    if len(sizes) > 1:
        raise InputError(f"{who} joins a body in the plane to one in space: describe both in one of them")
    return sizes.pop()
