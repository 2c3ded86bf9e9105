"""Bushings: rubber between two bodies, stiff and damped against every relative motion."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from zwang.errors import InputError
from zwang.model.drawing import Shape
from zwang.multibody.body import AnyBody, MassBody, Particle, common_dimension
from zwang.multibody.element import ForceElement, moment_of, not_negative
from zwang.multibody.joint import Place, both_ends, is_pair
from zwang.multibody.pose import Pose
from zwang.multibody.vectors import (
    Vector,
    add,
    cross,
    inner,
    is_zero,
    length,
    perpendiculars,
    refusal,
    scale,
    subtract,
    tidy,
    unit,
    vector,
)

COEFFICIENTS = ("stiffness", "damping", "turn_stiffness", "turn_damping")
PARALLEL = 1e-9  # a direction this near to the axis does not say what is across it


@dataclass(frozen=True, eq=False)
class Bushing(ForceElement):
    """Stiffness and damping against every motion of one body relative to another, at a point.

    ::

               ╭───────╮
        first ─┤ ░ ◉ ░ ├─ second        force = −stiffness · shift,  moment = −turn_stiffness · turn
               ╰───────╯

    `at` is a world point in the start position, or a pair of points in body axes. There, and as they are turned at the
    start, the bodies are at rest. Coefficients are one number for all directions, or one for each of the bushing's
    axes, which turn with the first body: `axis` is the first of them, `across` roughly the second, both in the world
    in the start position; without them the axes are the world's. In the plane the turn has one coefficient.

    `shift` is the way of the second body's point along these axes. In the plane `turn` is the angle. In space no three
    angles serve for large turns; the potential is ½ Σ kᵢ(2eᵢ)² with e = n sin(φ/2), the vector of the relative turn's
    unit quaternion: it is the same seen from either body and from any frame, and for a turn about one axis
    k(1 − cos φ). So the law is linear for small turns (the moment is k sin φ, 1 % less than kφ at 14°).

    >>> from zwang import multibody as mb
    >>> arm = mb.PlanarBody("arm", 1, 1)
    >>> mb.Bushing("rubber", mb.ground, arm, at=(0, 0), stiffness=(8, 2), turn_stiffness=6).potential([arm])
    3*arm.angle(t)**2 + 4*arm.x(t)**2 + arm.y(t)**2
    """

    name: str
    first: AnyBody
    second: AnyBody
    at: Place
    stiffness: Any = 0
    damping: Any = 0
    turn_stiffness: Any = 0
    turn_damping: Any = 0
    axis: Sequence[Any] | None = None
    across: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        """Refuse negative coefficients, one that does nothing, and particles that are to be turned back."""
        given = {what: self._coefficients(what) for what in COEFFICIENTS}
        if all(is_zero(k) for ks in given.values() for k in ks):
            raise InputError(f"{self.who} does nothing: give a stiffness or a damping", where=("stiffness",))
        for body in self.bodies:
            turned = next((what for what in COEFFICIENTS[2:] if not all(map(is_zero, given[what]))), "")
            if isinstance(body, Particle) and turned:
                words = f"{self.who} acts on the particle {body.name!r}, which does not turn"
                raise InputError(words, where=(turned,))
        _ = self.ends, self.axes

    @property
    def bodies(self) -> tuple[AnyBody, AnyBody]:
        """Both."""
        return (self.first, self.second)

    @cached_property
    def dimension(self) -> int:
        """2 between bodies in the plane, 3 in space."""
        return common_dimension(self.who, self.first, self.second)

    def _coefficients(self, what: str) -> Vector:
        """A coefficient for each axis; one for the turn in the plane."""
        given, size = getattr(self, what), 1 if self.dimension == 2 and what in COEFFICIENTS[2:] else self.dimension
        if length(given) < 0:
            return (not_negative(self.who, what, given),) * size
        if length(given) != size:
            raise refusal(self.who, (what,), f"{given!r} does not fit: give one number, or {size}")
        return tuple(not_negative(self.who, what, k) for k in given)

    @cached_property
    def ends(self) -> tuple[Vector, Vector]:
        """The bushing's point on each body, in body axes."""
        if is_pair(self.at):
            return both_ends(self.who, self.bodies, self.dimension, at=self.at)
        world = vector(self.who, self.at, (self.dimension,), ("at",))
        return both_ends(self.who, self.bodies, self.dimension, world, world)

    @cached_property
    def poses(self) -> tuple[Pose, Pose]:
        """Where both bodies are, in expressions."""
        return self.first.pose(self.dimension), self.second.pose(self.dimension)

    @cached_property
    def axes(self) -> tuple[Vector, ...]:
        """The bushing's axes at the start, in the world."""
        size = self.dimension
        if self.axis is None and self.across is None:
            return tuple(tuple(sp.Integer(i == j) for j in range(size)) for i in range(size))
        if self.axis is None:
            raise InputError(f"{self.who}: across is given, but no axis: give both, or the axis", where=("across",))
        first = unit(self.who, self.axis, (size,), ("axis",))
        if size == 2:
            if self.across is not None:
                words = "in the plane the axis says what is across it: leave that out"
                raise InputError(f"{self.who}: {words}", where=("across",))
            return first, (-first[1], first[0])
        second = perpendiculars(first)[0] if self.across is None else self._across(first)
        return first, second, tidy(cross(first, second))

    def _across(self, axis: Vector) -> Vector:
        a = np.array([float(x) for x in axis])
        there = np.array(unit(self.who, self.across, (3,), ("across",)), dtype=float)
        there = there - a * (a @ there)
        if np.linalg.norm(there) < PARALLEL:
            raise InputError(f"{self.who}: across is parallel to its axis: turn one of them", where=("across",))
        return unit(self.who, there.tolist(), (3,), ("across",))

    held = ("ends", "held_axes", "start_turn", *COEFFICIENTS)

    @cached_property
    def held_axes(self) -> tuple[tuple[Vector, ...], tuple[Vector, ...]]:
        """The axes on each body, which are parallel at the start, in body axes."""
        first, second = (body.start_pose(self.dimension) for body in self.bodies)
        return tuple(map(first.held_direction, self.axes)), tuple(map(second.held_direction, self.axes))

    @cached_property
    def start_turn(self) -> sp.Expr:
        """In the plane, how far the first body is turned against the second in the start position; 0 in space."""
        if self.dimension == 3:
            return sp.S.Zero
        a, b = (body.start_pose(2).angle for body in self.bodies)
        return tidy((a - b,), (a, b))[0]

    @cached_property
    def on_bodies(self) -> tuple[tuple[Vector, ...], tuple[Vector, ...]]:
        """The same axes, in world components."""
        first, second = (
            tuple(map(pose.direction, axes)) for pose, axes in zip(self.poses, self.held_axes, strict=True)
        )
        return first, second

    @cached_property
    def places(self) -> tuple[Vector, Vector]:
        """The bushing's point on each body, in the world."""
        a, b = (pose.point(end) for pose, end in zip(self.poses, self.ends, strict=True))
        return a, b

    @cached_property
    def turn(self) -> sp.Expr:
        """How far the second body has turned from the start, in the plane."""
        return self.poses[1].angle - self.poses[0].angle + self.start_turn

    def potential(self, bodies: Sequence[MassBody]) -> sp.Expr:
        """½ Σ k shiftᵢ² + ½ Σ kᵢ(2eᵢ)², where 4eᵢ² = 1 + Rᵢᵢ − Rⱼⱼ − Rₖₖ by the relative turn R."""
        gap, axes = subtract(self.places[1], self.places[0]), self.on_bodies[0]
        terms = [k * inner(e, gap) ** 2 / 2 for k, e in zip(self._coefficients("stiffness"), axes, strict=True) if k]
        turning = self._coefficients("turn_stiffness")
        if self.dimension == 2:
            return sp.Add(*terms, turning[0] * self.turn**2 / 2)
        if any(turning):
            R = [inner(e, f) for e, f in zip(*self.on_bodies, strict=True)]
            terms += [k * (1 + 2 * Rii - sp.Add(*R)) / 2 for k, Rii in zip(turning, R, strict=True) if k]
        return sp.Add(*terms)

    def forces(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """The dampers: they resist what the second body does as seen by the first."""
        a, b = self.poses
        place, axes = self.places[1], self.on_bodies[0]
        arm = subtract(place, a.origin)
        seen = subtract(b.point_velocity(self.ends[1]), a.arm_velocity(arm))
        force = resisting(self._coefficients("damping"), axes, seen)
        turning = self._coefficients("turn_damping")
        turned = b.spin - a.spin if self.dimension == 2 else subtract(b.spin, a.spin)
        moment = -turning[0] * turned if self.dimension == 2 else resisting(turning, axes, turned)
        found: dict[sp.Expr, sp.Expr] = {}
        for body, reach, sign in ((self.first, arm, -1), (self.second, subtract(place, b.origin), 1)):
            if isinstance(body, MassBody):
                about = moment_of(reach, force)
                total = about + moment if self.dimension == 2 else add(about, moment)
                on = body.generalized(scale(sign, force), sign * total if self.dimension == 2 else scale(sign, total))
                found |= {q: e for q, e in on.items() if not is_zero(e)}
        return found

    def shapes(self) -> list[Shape]:
        """Its point on the second body."""
        return [Shape(self.name, "point", (self.places[1],), color="green")]


def resisting(coefficients: Vector, axes: tuple[Vector, ...], rate: Vector) -> Vector:
    """−Σ cᵢ (eᵢ · rate) eᵢ."""
    total: Vector = (sp.S.Zero,) * len(rate)
    for c, e in zip(coefficients, axes, strict=True):
        if not is_zero(c):
            total = add(total, scale(-c * inner(e, rate), e))
    return total
