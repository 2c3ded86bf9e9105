"""Where a large system rests: the search of `analysis.settle` on sparse matrices.

A step is the Newton step along the constraints,

    H δq − Aᵀμ = M q̈,    A δq = 0,    q ← q + δq brought back onto the constraints,

bounded in natural units, coordinate by coordinate. Directions in which there are further states of rest are kept out
of it: then it leads to one nearby.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.analysis.dynamics import Dynamics
from zwang.analysis.large.pencil import Pencil
from zwang.analysis.large.place import Place, matrices_at
from zwang.analysis.settle import (
    ENOUGH,
    FARTHEST,
    LIGHT_MASS,
    MOST_STEPS,
    NEARLY_ZERO,
    RELAXED,
    ROUNDED_RATES,
    SAME_DIRECTION,
    SETTLED,
    SHORTENINGS,
    tied_by_masses,
)
from zwang.arrays import TINIEST, Array
from zwang.errors import ZwangError
from zwang.linalg.newton import nearest_point, nearest_root
from zwang.linalg.sparse.matrix import Sparse, scaled, sparse
from zwang.motion.assemble import large_units

MOST_FLAT = 12  # directions of further states of rest that are kept out of a step
TURNS_TO_FLAT = 4  # of inverse iteration: how soft the softest direction is, roughly


@dataclass(frozen=True, eq=False)
class Ground:
    """A system, natural units, and how to come back onto its constraints."""

    dynamics: Dynamics
    unit: Array

    @classmethod
    def at(cls, dynamics: Dynamics, q: Array) -> "Ground":
        """With the units that fit a state, as `settle.units_at` has them."""
        now = matrices_at(dynamics, q)
        unit = large_units(q, now.size, now.A, now.M)
        inertia = np.sqrt(np.maximum(now.M.diagonal(), 0.0))
        return cls(dynamics, tied_by_masses(unit, inertia, q, LIGHT_MASS) if len(now.b) else unit)

    def onto(self, q: Array) -> Place | None:
        """The place nearest by that obeys the constraints; None where there is none."""
        unit, begin = self.unit, q / self.unit

        def equations(y: Array) -> tuple[Array, Sparse]:
            now = matrices_at(self.dynamics, y * unit)
            return now.residual, scaled(now.A, columns=1 / unit)

        y, found = nearest_root(equations, begin, 1e-15)
        if not found:  # from farther away, in steps that are kept short
            eye = sparse(np.ones(len(q)), np.arange(len(q)), np.arange(len(q)), (len(q), len(q)))
            nearer = nearest_point(equations, lambda _: eye, begin, begin, 1e-14)
            y, found = nearest_root(equations, nearer.x, 1e-15) if nearer.root else (y, False)
        if not found:
            return None
        place = Place(self.dynamics, np.where(np.abs(y) < NEARLY_ZERO, 0.0, y) * unit)
        return place if np.isfinite(place.a).all() else None


@dataclass(frozen=True, eq=False)
class Slopes:
    """How accelerations change beside a place, factorised; steps keep out of the directions `out` (k, n)."""

    place: Place
    factors: Any
    out: Array

    @classmethod
    def at(cls, place: Place, out: Array | None = None) -> "Slopes | None":
        """The slopes at a place; None where they are singular."""
        from scipy.sparse import block_array, csc_array
        from scipy.sparse.linalg import splu

        out = np.zeros((0, place.n)) if out is None else out
        G, W = place.G, csc_array(place.M @ out.T)
        rows = [[place.H, -G.T, W], [G, None, None], [W.T, None, None]]
        kept = [0] + [k for k, count in ((1, G.shape[0]), (2, len(out))) if count]
        try:
            return cls(place, splu(block_array([[rows[i][j] for j in kept] for i in kept], format="csc")), out)
        except RuntimeError:  # singular
            return None

    def solve(self, x: Array) -> Array:
        """(n,) δ with H δ = x along the constraints, in units of equal mass."""
        right = np.concatenate([x, np.zeros(self.place.G.shape[0] + len(self.out))])
        return np.asarray(self.factors.solve(right)[: self.place.n])

    def step(self, place: Place) -> Array:
        """(n,) the way to where the acceleration of a place nearby would vanish with these slopes."""
        units = self.place.units
        return self.solve(place.now.M @ place.a / units) / units

    @property
    def softest(self) -> float:
        """About the least slope, by inverse iteration; not more than it is, by some factor."""
        x = np.random.default_rng(5).standard_normal(self.place.n)
        size = np.inf
        for _ in range(TURNS_TO_FLAT):
            x = self.solve(self.place.M @ (x / max(float(np.linalg.norm(x)), TINIEST)))
            size = float(np.linalg.norm(x))
        return 1 / max(size, TINIEST) if np.isfinite(size) else 0.0


def slopes_at(place: Place) -> Slopes | None:
    """The slopes at a place, with flat directions kept out; None where there are too many of these."""
    found, pencil = Slopes.at(place), Pencil.of(place)
    least = SAME_DIRECTION * pencil.size
    if found is not None and found.softest > least:
        return found
    values, vectors = pencil.softest(MOST_FLAT)
    flat = np.abs(values) <= least
    return None if flat.all() and len(flat) >= MOST_FLAT else Slopes.at(place, vectors[flat])


def rest_near(dynamics: Dynamics, q: Array) -> tuple[Place, Ground] | None:
    """The place of rest near a guess, and natural units there; None where the search ends elsewhere."""
    if (place := Ground.at(dynamics, q).onto(q)) is None:
        return None
    ground, size = Ground.at(dynamics, place.q), 0.0
    unit = ground.unit
    for _ in range(MOST_STEPS):
        size = max(size, float((place.terms / unit).max(initial=0.0)), NEARLY_ZERO)
        left = float(np.abs(place.a / unit).max(initial=0.0)) / size
        if (slopes := slopes_at(place)) is None:
            return None
        way = slopes.step(place)
        if not np.isfinite(way).all():
            return None
        if largest(way / unit) <= SETTLED * max(1.0, largest(place.q / unit)) and left <= ENOUGH:
            last = ground.onto(place.q + way)  # to the last digit
            better = last is not None and largest(last.a / unit) < largest(place.a / unit)
            return last if better and last is not None else place, ground
        moved = improved(ground, place, slopes, way)
        if moved is None and left <= ROUNDED_RATES:
            return place, ground
        moved = relaxed(ground, place) if moved is None else moved
        if moved is None:
            return None
        place = moved
    return None


def improved(ground: Ground, place: Place, slopes: Slopes, way: Array) -> Place | None:
    """The place a step further from which less is to go, as `settle.improved` has it."""
    unit = ground.unit
    before, remained = np.linalg.norm(way / unit), np.linalg.norm(place.a / unit)
    if before == 0.0:
        return None
    share = min(1.0, FARTHEST / largest(way / unit))
    for _ in range(SHORTENINGS):
        if (there := ground.onto(place.q + share * way)) is not None:
            to_go, remains = np.linalg.norm(slopes.step(there) / unit), np.linalg.norm(there.a / unit)
            if to_go < (1 - share / 4) * before or remains < (1 - share / 4) * remained:
                return there
        share /= 2
    return None


def relaxed(ground: Ground, place: Place) -> Place | None:
    """The place a step further along the acceleration."""
    size = largest(place.a / ground.unit)
    return None if size <= TINIEST else ground.onto(place.q + RELAXED / size * place.a)


def largest(x: Array) -> float:
    """The largest size of an entry."""
    return float(np.abs(x).max(initial=0.0))


def sought_near(dynamics: Dynamics, q: Array) -> tuple[Place, Ground] | None:
    """The same; None as well where something on the way is refused, so that a search of another kind can say why."""
    with np.errstate(all="ignore"):
        try:
            return rest_near(dynamics, q)
        except (ZwangError, RuntimeError, np.linalg.LinAlgError):
            return None
