"""Rigid bodies in space: position and unit quaternion (Udwadia and Schutte 2010)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.mistakes import PartName
from zwang.model.solids import Solid, require_solids
from zwang.model.symbols import rates
from zwang.multibody.body import ORIGIN, UPRIGHT, MassBody, said
from zwang.multibody.pose import Pose
from zwang.multibody.vectors import (
    Vector,
    apply,
    body_rates,
    corners,
    inner,
    is_number,
    length,
    numeric,
    quaternion_turn,
    refusal,
    scale,
    unapply,
    vector,
    world_rates,
)

# An inertia violates the triangle inequality where the largest moment exceeds the sum of the others by more than this.
TRIANGLE_TOL = 1e-9
ROUNDING = 1e-12  # by how much entries of an inertia that should be the same may differ, beside the largest


@dataclass(frozen=True, eq=False)
class Body(MassBody):
    """A rigid body in space: centre of mass (x, y, z) and unit quaternion (q0, q1, q2, q3), scalar first.

    `inertia` is about the centre of mass in body axes: three principal moments or a 3×3 matrix. `orientation`
    is the quaternion that takes body axes to world axes; `velocity` and `angular_velocity` are in world axes.
    `solids` are for pictures: a `Box`, a `Cylinder`, … in body axes, from the centre of mass.

    >>> Body("rod", mass=1, inertia=(0.002, 0.084, 0.084)).coordinates[3:]
    (rod.q0(t), rod.q1(t), rod.q2(t), rod.q3(t))
    """

    name: str
    mass: Any
    inertia: Any
    position: Sequence[Any] = ORIGIN
    orientation: Sequence[float] = UPRIGHT
    velocity: Sequence[Any] | None = None
    angular_velocity: Sequence[float] = ORIGIN
    outline: Sequence[Sequence[Any]] = ()
    solids: Sequence[Solid] = ()

    def __post_init__(self) -> None:
        """Refuse an inertia that no body has, and an orientation that is not a turn."""
        self.check()
        if self.dimension != 3:
            words = f"{self.who}: a body in space has a position of three entries; use "
            raise InputError(words, PartName("PlanarBody"), " in the plane", where=("position",))
        if not any(numeric(self.who, self.orientation, (4,), ("orientation",))):
            words = "the quaternion (0, 0, 0, 0) is not an orientation: (1, 0, 0, 0) is the world's"
            raise InputError(f"{self.who}: {words}", where=("orientation",))
        numeric(self.who, self.angular_velocity, (3,), ("angular_velocity",))
        corners(self.who, self.outline, 3)
        object.__setattr__(self, "solids", require_solids(self.who, self.solids))
        check_inertia(self.who, self.inertia_matrix)

    @cached_property
    def inertia_matrix(self) -> tuple[Vector, ...]:
        """The inertia as rows of a matrix in body axes."""
        given = self.inertia
        who, where = self.who, ("inertia",)
        if length(given) == 3 and not hasattr(given[0], "__len__"):
            J = vector(who, given, (3,), where)
            return tuple(tuple(J[i] if i == j else sp.S.Zero for j in range(3)) for i in range(3))
        if length(given) != 3:
            raise refusal(who, where, f"{given!r} is neither three principal moments nor a 3×3 matrix")
        rows = tuple(vector(who, row, (3,), where) for row in given)
        for i in range(3):
            for j in range(i):
                if not is_same(rows[i][j], rows[j][i], rows):
                    words = f"{who}: inertia is not symmetric: {rows[i][j]} stands across from {rows[j][i]}"
                    raise InputError(words, where=where)
        return tuple(tuple(rows[max(i, j)][min(i, j)] for j in range(3)) for i in range(3))

    @cached_property
    def _quaternion(self) -> tuple[sp.Expr, ...]:
        return self._functions(["q0", "q1", "q2", "q3"])

    @property
    def _quaternion_rates(self) -> Vector:
        return tuple(rates(u)[0] for u in self._quaternion)

    suffixes = ("unit",)

    @property
    def coordinates(self) -> tuple[sp.Expr, ...]:
        """name.x … name.z, name.q0 … name.q3."""
        return (*self._place, *self._quaternion)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The same."""
        return tuple(f"{self.name}.{suffix}" for suffix in ("x", "y", "z", "q0", "q1", "q2", "q3"))

    def pose(self, dimension: int) -> Pose:
        """Where it is, in its coordinates."""
        return self._pose

    @cached_property
    def _pose(self) -> Pose:
        spin = scale(2, apply(world_rates(self._quaternion), self._quaternion_rates))
        return Pose(self._place, quaternion_turn(self._quaternion), self._linear, spin)

    @cached_property
    def _start_quaternion(self) -> tuple[float, ...]:
        u = np.array(numeric(self.who, self.orientation, (4,)))
        return tuple(float(x) for x in u / np.linalg.norm(u))

    def start_pose(self, dimension: int) -> Pose:
        """Where it starts."""
        return self._start_pose

    @cached_property
    def _start_pose(self) -> Pose:
        spin = numeric(self.who, self.angular_velocity, (3,))
        turn = quaternion_turn(self._start_quaternion)
        return Pose(numeric(self.who, self.position, (3,)), turn, self._start_velocity, spin)

    @property
    def _body_spin(self) -> Vector:
        """2 E(u) u̇."""
        return scale(2, apply(body_rates(self._quaternion), self._quaternion_rates))

    @property
    def kinetic(self) -> sp.Expr:
        """½ m ṙ² + ½ ωᵀJω with ω = 2 E(u) u̇ in body axes (Udwadia and Schutte)."""
        omega = self._body_spin
        return super().kinetic + inner(omega, apply(self.inertia_matrix, omega)) / 2

    @property
    def conditions(self) -> dict[str, sp.Expr]:
        """The quaternion has length 1."""
        return {"unit": (inner(self._quaternion, self._quaternion) - 1) / 2}

    def generalized(self, force: Vector, moment: Any) -> dict[sp.Expr, sp.Expr]:
        """The force, and 2 G(u)ᵀ moment along the quaternion."""
        along = unapply(scale_rows(2, world_rates(self._quaternion)), moment)
        return dict(zip(self._place, force, strict=True)) | dict(zip(self._quaternion, along, strict=True))

    @property
    def stated(self) -> tuple[tuple[str, int], ...]:
        """What was given of position, orientation, velocity and angular velocity."""
        sizes = {"position": 3, "orientation": 4, "velocity": 3, "angular_velocity": 4}
        return tuple((said(self, argument), size) for argument, size in sizes.items())

    def start_values(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Position and quaternion as given; u̇ = ½ G(u)ᵀ ω."""
        q = (*numeric(self.who, self.position, (3,)), *self._start_quaternion)
        return q, tuple(map(float, self.rates_at(np.array(q))))

    def rates_at(self, q: Array) -> Array:
        """The velocity, and u̇ = ½ G(u)ᵀ ω with the angular velocity as described: ω is told in world axes."""
        spin = numeric(self.who, self.angular_velocity, (3,))
        turning = [float(x) / 2 for x in unapply(world_rates(tuple(map(float, q[3:]))), spin)]
        return np.array([*self._start_velocity, *turning])


def scale_rows(k: Any, rows: tuple[Vector, ...]) -> tuple[Vector, ...]:
    """k times a matrix of rows."""
    return tuple(scale(k, row) for row in rows)


def is_same(a: Any, b: Any, rows: tuple[Vector, ...]) -> bool:
    """Whether two entries of a matrix are the same, numbers but for rounding."""
    if not (is_number(a) and is_number(b)):
        return bool(a == b)
    size = max(abs(float(x)) for row in rows for x in row if is_number(x))
    return abs(float(a) - float(b)) <= ROUNDING * size


def check_inertia(who: str, rows: Sequence[Sequence[Any]]) -> None:
    """Refuse moments of inertia that are negative or violate the triangle inequality."""
    if not all(is_number(x) for row in rows for x in row):
        return
    a, b, c = np.linalg.eigvalsh(np.array([[float(x) for x in row] for row in rows]))
    if a < -TRIANGLE_TOL * abs(c):
        words = f"{who}: the inertia has the negative principal moment {a:.6g}; no body has that"
        raise InputError(words, where=("inertia",))
    if c > (a + b) * (1 + TRIANGLE_TOL):
        raise InputError(
            f"{who}: the principal moments {a:.6g}, {b:.6g}, {c:.6g} violate the triangle inequality (the largest "
            f"exceeds the sum of the others); check units, axes and the point they refer to",
            where=("inertia",),
        )
