"""Newton's method along the constraints: a state at which given expressions stay constant.

Among the states N that obey the constraints, and that keep what is held, one is sought at which the rates ṡ of some
expressions s vanish. A step is the shortest one along the tangent space T of N that makes the first-order ṡ zero,

    (∂ṡ/∂x T) y = −ṡ,    x ← x + T y brought back onto N,

bounded in natural units. Where states come in families the matrix is wide, and the shortest step leads to the nearest
member. At rest s are all rates, and so ṡ the accelerations: then it is an equilibrium.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from zwang.analysis.dynamics import Dynamics, Point, unchanged
from zwang.analysis.readings import Readings
from zwang.arrays import EPS, TINIEST, Array
from zwang.errors import AssemblyError, EquilibriumError, InputError
from zwang.linalg.newton import nearest_point, nearest_root
from zwang.linalg.rank import row_norms
from zwang.linalg.ranked import RANKS_DIFFER
from zwang.motion.assemble import natural_units
from zwang.words import listed

FARTHEST = 0.5  # a step in natural units: longer ones may end anywhere
RELAXED = 0.2  # a step along the acceleration, in natural units, where Newton's method is of no use
SETTLED = 1e-14  # a step in natural units that ends the search
NEARLY_ZERO = 1e-40  # natural units: what is left of zeros, and beside nothing is not small
SMALLEST_SHARE = 1e-3  # of how far a system reaches: a change that matters is not smaller
LIGHT_MASS = 0.03  # the root of a mass, as a share of the largest, below which a coordinate sets no scale
MOST_STEPS = 300
SHORTENINGS = 12  # of a step that makes things worse
HELD_APART = 1e-10  # the same, of what is held: it depends on each other
SAME_DIRECTION = 1e-11  # singular values below this share of the largest belong to families
ENOUGH = 1e-9  # what may remain of the rates, as a share of what they are made of
ROUNDED_RATES = 1e-12  # the same, below which it is rounding


@dataclass(frozen=True, eq=False)
class Search:
    """What is looked for: expressions that stay constant, and those that keep a value. At rest, nothing moves."""

    dynamics: Dynamics
    constant: Readings
    held: Readings | None
    targets: Array
    rest: bool

    @property
    def n(self) -> int:
        """The number of coordinates."""
        return len(self.dynamics.system.coordinate_names)

    @cached_property
    def _directions(self) -> tuple[Array, Array]:
        both = np.eye(2 * self.n)
        return both[:, : self.n], both[:, self.n :]

    def onto(self, x: Array, unit: Array) -> tuple[Array, bool]:
        """The state nearest by that obeys the constraints and keeps what is held, and whether there is one."""
        free = np.repeat([True, not self.rest], self.n)

        def equations(y: Array) -> tuple[Array, Array]:
            whole = x.copy()
            whole[free] = y * unit[free]
            f, J = self.levels(whole)
            return f, J[:, free] * unit[free]

        begin = x[free] / unit[free]
        y, found = nearest_root(equations, begin, 1e-15)
        if not found:  # from farther away, in steps that are kept short
            nearer = nearest_point(equations, lambda y: np.eye(len(y)), begin, begin, 1e-14)
            y, found = nearest_root(equations, nearer.x, 1e-15) if nearer.root else (y, False)
        whole = x.copy()
        whole[free] = np.where(np.abs(y) < NEARLY_ZERO, 0.0, y) * unit[free]
        return whole, found

    def levels(self, x: Array) -> tuple[Array, Array]:
        """What constraints and held expressions read at a state, with the Jacobian by positions and velocities."""
        dynamics, (dq, dv) = self.dynamics, self._directions
        if self.rest and self.held is None:  # rows of A are the slopes of positions
            now, on = dynamics.matrices(x[..., : self.n], x[..., self.n :]), dynamics.order == 0
            return now.residual[..., on], np.concatenate([now.A[..., on, :], np.zeros_like(now.A[..., on, :])], axis=-1)
        q, v = x[..., None, : self.n], x[..., None, self.n :]
        zeros, m = np.zeros(self.n), len(dynamics.system.constraint_names)
        state = {"t": np.array([dynamics.t]), "q": q, "v": v, "p": dynamics.values.p[..., None, :]}
        nothing = np.zeros((2 * self.n, dynamics.values.p.shape[-1]))
        read = dynamics.balance(**state, a=zeros, lam=np.zeros(m), w=zeros, dq=dq, dv=dv, dp=nothing)
        holonomic, first = (dynamics.two_sided[dynamics.order <= k] for k in (0, 1))
        first = first[:0] if self.rest else first
        f = [read["residual"][..., 0, holonomic], read["residual_rate"][..., 0, first]]
        J = [read["d_residual"][..., 0, holonomic], read["d_residual_rate"][..., 0, first]]
        if self.held is not None:
            p, still = dynamics.all_p[..., None, :], np.zeros((2 * self.n, self.n))
            none = np.zeros((2 * self.n, p.shape[-1]))
            found = self.held.kernel(**(state | {"p": p}), a=zeros, dq=dq, dv=dv, da=still, dp=none)
            f.append(found["reading"][..., 0, :] - self.targets)
            J.append(found["d_reading"][..., 0, :])
        return np.concatenate(f, axis=-1), np.concatenate(J, axis=-1).mT

    def directions(self, point: Point, unit: Array) -> Array:
        """(…, d, 2n) an orthonormal basis, in the given units, of the directions in which a state may move."""
        tangent = point.tangent
        rows = tangent.rows[..., : tangent.positions, :] if self.rest else tangent.rows
        if not rows.shape[-2]:
            return rows
        basis = np.linalg.qr((rows / unit).mT)[0].mT
        if self.held is None:
            return np.asarray(basis)
        dq, dv = basis[..., : self.n] * unit[: self.n], basis[..., self.n :] * unit[self.n :]
        H = self.held.along(point, dq, dv, unchanged(point, basis.shape[-2]))["d_reading"]  # (…, d, h)
        H = H / row_norms(H.mT)[..., None, :]
        U, s, _ = np.linalg.svd(H)
        return np.asarray(U[..., one_rank(s, HELD_APART) :].mT @ basis)

    def rates(self, point: Point) -> Array:
        """(…, k) ṡ."""
        return point.a if self.rest else self.constant.at(point)["rate"]

    def slopes(self, point: Point, basis: Array, unit: Array) -> Array:
        """(…, k, d) the changes of ṡ along directions."""
        dq, dv = basis[..., : self.n] * unit[: self.n], basis[..., self.n :] * unit[self.n :]
        change = point.change(dq, dv)
        return (change.a if self.rest else self.constant.along(point, dq, dv, change)["d_rate"]).mT

    def weights(self, point: Point, unit: Array) -> Array:
        """(…, k) what makes rates of different kinds comparable."""
        if self.rest:
            return np.asarray(1 / unit[: self.n])
        eye = np.eye(2 * self.n) * unit
        nothing = unchanged(point, 2 * self.n)
        P = self.constant.along(point, eye[:, : self.n], eye[:, self.n :], nothing)["d_reading"].mT
        return np.asarray(1 / row_norms(P))

    def sizes(self, point: Point, unit: Array) -> Array:
        """(…) the size of what the weighted rates are made of."""
        terms = point.rounding / EPS
        if self.rest:
            return np.asarray((terms / unit[: self.n]).max(axis=-1, initial=0.0))
        size = np.concatenate([np.abs(point.v), terms], axis=-1) / unit
        return np.asarray(size.max(axis=-1, initial=0.0))


@dataclass(frozen=True, eq=False)
class Settled:
    """A state that was found, the natural units of its surroundings, and the steepest slope of ṡ on the way there."""

    point: Point
    unit: Array
    steepest: float
    found: bool = True
    """False where the search ended elsewhere."""
    crossed: tuple[int, ...] = ()
    """One-sided constraints whose limit it met first."""


def settle(search: Search, q: Array, v: Array) -> Settled:
    """The state near a guess at which nothing that should stay constant changes."""
    ended = sought(search, q, v)
    if not ended.found:
        raise EquilibriumError(not_found(search, ended.point))
    return ended


def sought(search: Search, q: Array, v: Array) -> Settled:
    """Where the search for such a state ends: there, nowhere, or beyond the limit of a one-sided constraint.

    Where it ends nowhere it is repeated in the units that light coordinates set: steps are shorter then.
    """
    ended = sought_in_units(search, q, v, LIGHT_MASS)
    if ended.found or ended.crossed or not search.dynamics.order.size:
        return ended
    again = sought_in_units(search, q, v, 0.0)
    return again if again.found or again.crossed else ended


def sought_in_units(search: Search, q: Array, v: Array, light: float) -> Settled:
    """The same in units that coordinates set whose mass is not light."""
    x, unit = np.concatenate([q, v]), units_at(search, q, v, light)
    x, found = search.onto(x, unit)
    if not found:
        raise AssemblyError(refused_guess(search, x))
    unit = units_at(search, x[: search.n], x[search.n :], light)
    point, size, steepest = search.dynamics.at(x[: search.n], x[search.n :]), 0.0, 0.0
    for _ in range(MOST_STEPS):
        if len(over := search.dynamics.beyond(point.q, point.v)):
            return Settled(point, unit, steepest, False, tuple(map(int, over)))
        # of terms on the way: where they vanish, all of them may
        size = max(size, float(search.sizes(point, unit)), NEARLY_ZERO)
        basis = search.directions(point, unit)
        weights = search.weights(point, unit)
        g = search.rates(point) * weights
        G = search.slopes(point, basis, unit) * weights[:, None] if len(basis) else np.zeros((len(g), 0))
        y, steep = shortest(G, -g)
        steepest = max(steepest, steep)
        long = float(np.linalg.norm(y))
        left = float(np.abs(g).max(initial=0.0)) / size
        if long <= SETTLED * max(1.0, float(np.abs(x / unit).max())) and left <= ENOUGH:
            last = moved_to(search, x + y @ basis * unit, unit) if long > 0 else None  # to the last digit
            better = last is not None and np.linalg.norm(search.rates(last) * weights) < np.linalg.norm(g)
            return Settled(last if better and last is not None else point, unit, steepest)
        if not len(basis) or not np.isfinite(y).all():
            break
        moved = improved(search, point, basis, unit, weights, G, y)
        if moved is None and left <= ROUNDED_RATES:
            return Settled(point, unit, steepest)
        if moved is None:
            moved = relaxed(search, point, basis, unit, G, g)
        if moved is None:
            break
        point = moved
        x = np.concatenate([point.q, point.v])
    return Settled(point, unit, steepest, False)


def shortest(G: Array, g: Array) -> tuple[Array, float]:
    """The shortest y (…, d) with G y = g as nearly as possible, and the largest singular value of G (…, k, d)."""
    if not G.size:
        return np.zeros((*G.shape[:-2], G.shape[-1])), 0.0
    U, s, Vt = np.linalg.svd(G, full_matrices=False)
    if s.max() <= NEARLY_ZERO:  # what rounding leaves of nothing
        return np.zeros((*G.shape[:-2], G.shape[-1])), 0.0
    rank = one_rank(s, SAME_DIRECTION)
    parts = (g[..., None, :] @ U[..., :rank])[..., 0, :] / s[..., :rank]
    return np.asarray((parts[..., None, :] @ Vt[..., :rank, :])[..., 0, :]), float(s.max())


def one_rank(s: Array, share: float) -> int:
    """How many singular values (…, r) are larger than a share of the largest; a stack of several ranks is refused."""
    ranks = np.unique(np.count_nonzero(s > share * s.max(axis=-1, initial=TINIEST, keepdims=True), axis=-1))
    if len(ranks) > 1:
        raise InputError(RANKS_DIFFER)
    return int(ranks[0])


def improved(
    search: Search, point: Point, basis: Array, unit: Array, weights: Array, G: Array, y: Array
) -> Point | None:
    """The state a step further from which less is to go, or at which less remains; the step is halved until it is so.

    What is to go is judged by the slopes at hand, G⁺ṡ: then stiff directions do not hide soft ones (Deuflhard 1974).
    """
    x, g = np.concatenate([point.q, point.v]), search.rates(point) * weights
    before, remained = float(np.linalg.norm(y)), float(np.linalg.norm(g))
    if before == 0.0:
        return None
    share = min(1.0, FARTHEST / before)
    for _ in range(SHORTENINGS):
        there = moved_to(search, x + share * y @ basis * unit, unit)
        if there is not None:
            g = search.rates(there) * weights
            to_go = float(np.linalg.norm(shortest(G, g)[0]))
            if to_go < (1 - share / 4) * before or float(np.linalg.norm(g)) < (1 - share / 4) * remained:
                return there
        share /= 2
    return None


def relaxed(search: Search, point: Point, basis: Array, unit: Array, G: Array, g: Array) -> Point | None:
    """A state nearer by another way: along the acceleration if at rest, else down the slope of what remains."""
    x = np.concatenate([point.q, point.v])
    force = np.concatenate([point.a, np.zeros(search.n)]) / unit
    y = basis @ force if search.rest else -G.T @ g
    size = float(np.linalg.norm(y))
    if size <= 1e-12 * float(np.linalg.norm(force if search.rest else g)):
        return None
    return moved_to(search, x + RELAXED * (y / size) @ basis * unit, unit)


def moved_to(search: Search, x: Array, unit: Array) -> Point | None:
    """The system at a state brought back onto its constraints; None where that fails."""
    x, found = search.onto(x, unit)
    if not found:
        return None
    point = search.dynamics.at(x[: search.n], x[search.n :])
    return point if np.isfinite(point.a).all() else None


def units_at(search: Search, q: Array, v: Array, light: float = LIGHT_MASS) -> Array:
    """(2n,) by how much positions and velocities change in a change that matters.

    Constraints say so where they are nearest to it, and masses carry it to the other coordinates: units of their own,
    as far apart as the ends of a long chain, would lead a shortest step astray. What is light has no say in it.
    """
    now, holonomic = search.dynamics.matrices(q, v), search.dynamics.order == 0
    unit = natural_units(q, now.size[holonomic], now.A[holonomic], now.M)
    inertia = np.sqrt(np.maximum(np.diagonal(now.M), 0.0))
    unit = tied_by_masses(unit, inertia, q, light) if holonomic.any() else unit
    rate = float((np.abs(v) / unit).max(initial=0.0)) or 1.0
    return np.concatenate([unit, unit * rate])


def tied_by_masses(unit: Array, inertia: Array, q: Array, light: float) -> Array:
    """(n,) units no longer than masses carry the shortest one of a coordinate that is not light; `inertia` are √m."""
    heavy = inertia > light * inertia.max(initial=0.0)
    if not heavy.any():
        return unit
    scale = max(float((inertia * unit)[heavy].min()), SMALLEST_SHARE * float((inertia * np.abs(q)).max()))
    with np.errstate(divide="ignore"):
        return np.asarray(np.minimum(unit, scale / inertia))


def units_along(search: Search, q: Array, v: Array) -> Array:
    """(2n,) the same along a motion (N, n): where one state passes zero, others tell."""
    return np.asarray(np.max([units_at(search, *state) for state in zip(q, v, strict=True)], axis=0))


def refused_guess(search: Search, x: Array) -> str:
    """Why no state could be put together at all."""
    f, J = search.levels(x)
    system, dynamics = search.dynamics.system, search.dynamics
    holonomic = dynamics.two_sided[dynamics.order == 0]
    first = dynamics.two_sided[dynamics.order <= 1][: 0 if search.rest else None]
    names = [repr(system.constraint_names[i]) for i in (*holonomic, *first)]
    names += list(search.held.names) if search.held is not None else []
    worst = np.argsort(-np.abs(f / row_norms(J)))[:3]
    words = listed([f"{names[i]} misses {f[i]:.3g}" for i in worst if f[i] != 0])
    return (
        f"no state near the guess obeys every constraint and keeps what is held: {words or 'the search did not end'}; "
        f"give a better guess, or hold less"
    )


def not_found(search: Search, point: Point) -> str:
    """What remains where a search ended without a result."""
    rates = search.rates(point)
    names: Sequence[str] = (
        [f"{name}''" for name in search.dynamics.system.coordinate_names]
        if search.rest
        else [f"the rate of {name}" for name in search.constant.names]
    )
    worst = [i for i in np.argsort(-np.abs(rates))[:3] if rates[i] != 0]
    words = listed([f"{names[i]} = {rates[i]:.4g}" for i in worst])
    what = "equilibrium" if search.rest else "steady motion"
    return f"no {what} was found near the guess: {words} remains; give a better guess, or hold less"


def require_rest(point: Point) -> None:
    """Refuse constraints that do not allow rest."""
    now, system = point.now, point.dynamics.system
    off = np.abs(np.nan_to_num(now.residual_rate)) > 1e-9 * np.nan_to_num(now.rate_size)
    if off.any():
        i = int(np.flatnonzero(off)[0])
        name = system.constraint_names[point.dynamics.two_sided[i]]
        raise InputError(
            f"constraint {name!r} does not allow rest: at rest it reads {now.residual_rate[i]:.6g} in velocity; look "
            f"for a steady motion with zwang.steady instead",
            where=("constraints", name),
        )
