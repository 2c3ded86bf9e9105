"""Factor once, solve many: Cholesky whitening and a complete orthogonal decomposition of stacks of systems.

With M = LLᵀ and W = L⁻¹Aᵀ, the weighted inverse of the papers needs no M^{1/2}:
K₁ = M^{-1/2}(AM^{-1/2})⁺ = L⁻ᵀ(Wᵀ)⁺ at any rank. A pivoted choice of r independent rows G of A = XG gives
L⁻¹Gᵀ = Q₁RT, with Q₁ (n×r) orthonormal, R (r×r) triangular and T the lengths of the whitened rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import EPS, TINIEST, Array, Indices
from zwang.errors import MassError, UndeterminedError
from zwang.linalg.dependence import Dependence, dependence
from zwang.linalg.exact_sum import Halves, halves, residual
from zwang.linalg.masses import Masses, inverse_factors, masses
from zwang.linalg.rank import pivoted_rows, rank_tolerance, row_norms, take, take_rows

ROW_MISSED = 2.0**-50  # of its terms, that a row may miss: some eps
ROWS_MET = 3  # times at most: each leaves eps of what was missed, and terms that were too large hide the next
EXACT_UP_TO = 1_000_000  # products in a residual of many right-hand sides: more are computed plainly
MOST_TERMS = 8  # of a direction in words
SAME_SIZE = 1e-9  # parts of a direction that differ by less are of equal size


@dataclass(frozen=True)
class Stack:
    """Which systems of the caller's stack these are, for messages: their flat indices and the stack's shape."""

    systems: Indices
    shape: tuple[int, ...]

    def label(self, k: int) -> str:
        """` of system 3` or ` of system (1, 2)` where there are several, nothing where there is one."""
        if not self.shape:
            return ""
        place = tuple(map(int, np.unravel_index(self.systems[k], self.shape)))
        return f" of system {place[0] if len(place) == 1 else place}"


@dataclass(frozen=True)
class Factors:
    """A stack of k systems of one rank r, factored. Hats mark coordinates scaled to unit mass (`masses.Masses`).

    `D` (k, n) scales coordinates, x̂ = D q̈, by powers of two; `M`, `A` are the scaled matrices M̂ and Â;
    `order` (k, m) lists the rows of A, the r independent ones first; `Li` (k, n, n) is L⁻¹;
    `s` (k, m) are the lengths of all whitened rows; `Q1` (k, n, r) and `Ri` (k, r, r) = R⁻¹ decompose the independent
    ones; `gauge` (k, r, r) is None unless M is singular and M + GᵀHG stands in for it (Udwadia–Wanichanon), then H;
    `tolerance` is the relative length below which a row counts as dependent, coordinates in `units` (k, n).
    """

    rank: int
    D: Array
    M: Array
    A: Array
    order: Indices
    Li: Array
    s: Array
    Q1: Array
    Ri: Array
    gauge: Array | None
    tolerance: float
    units: Array

    @property
    def rows(self) -> Indices:
        """The r independent rows of each system."""
        return self.order[:, : self.rank]

    @cached_property
    def dependence(self) -> Dependence:
        """How all rows depend on the independent ones."""
        return dependence(self._in_units(self.A), self.order, self.rank, self.tolerance)

    @cached_property
    def _independent(self) -> tuple[Array, Array]:
        """The independent rows of Â, and their whitened lengths."""
        if self.rank == self.order.shape[1]:
            return self.A, self.s
        return take_rows(self.A, self.rows), take(self.s, self.rows)

    @cached_property
    def _halves(self) -> tuple[Halves, Halves]:
        return halves(self.M), halves(self._independent[0])

    def _in_units(self, rows: Array) -> Array:
        """Rows of Â in the units in which ranks are judged."""
        return rows * (self.D / self.units)[:, None, :]

    def solve(self, Q: Array, b: Array) -> tuple[Array, Array]:
        """q̈ (k, n) and the multipliers (k, r) of the independent rows, for M q̈ = Q + Aᵀλ, A q̈ = b."""
        return self._refined(Q / self.D, take(b, self.rows))

    def solve_many(self, Q: Array, b: Array) -> tuple[Array, Array]:
        """The same for many right-hand sides (d, n) and (d, m) of one system, or (k, d, n) and (k, d, m) of a stack.

        Of a large one they are refined with plain residuals: products of matrices, which take a hundredth of the time
        and of the memory.
        """
        if Q.ndim == 3:
            d = Q.shape[1]
            x, lam = self._repeated(d).solve(*(part.reshape(len(part) * d, part.shape[2]) for part in (Q, b)))
            return x.reshape(Q.shape), lam.reshape(*Q.shape[:2], self.rank)
        if len(Q) * Q.shape[1] ** 2 <= EXACT_UP_TO:
            return self.solve(Q, b)
        f, h = Q / self.D, b[:, self.rows[0]]
        G, M = self._independent[0][0], self.M[0]
        x, lam = self._once_for_many(f, h)
        dx, dlam = self._once_for_many(f + lam @ G - x @ M, h - x @ G.T)
        return (x + dx) / self.D, lam + dlam

    def _repeated(self, count: int) -> "Factors":
        """The stack with each system so many times."""
        arrays = ("D", "M", "A", "order", "Li", "s", "Q1", "Ri", "gauge", "units")
        parts = {name: x for name in arrays if (x := getattr(self, name)) is not None}
        each: dict[str, Any] = {name: np.repeat(x, count, axis=0) for name, x in parts.items()}
        return replace(self, **each)

    def _once_for_many(self, f: Array, h: Array) -> tuple[Array, Array]:
        Li, a = self.Li[0], f @ self.Li[0].T
        if h.shape[1] == 0:
            return a @ Li, h
        G, s = (part[0] for part in self._independent)
        z = ((h - (a @ Li) @ G.T) / s) @ self.Ri[0]
        x, lam = (a + z @ self.Q1[0].T) @ Li, (z @ self.Ri[0].T) / s
        return x, lam if self.gauge is None else lam - h @ self.gauge[0].T

    def free(self, Q: Array) -> Array:
        """a = M⁻¹Q (k, n), the acceleration without constraints; NaN where M is singular."""
        if self.gauge is not None:
            return np.full_like(Q, np.nan)
        return self._refined(Q / self.D, np.zeros((len(Q), 0)))[0]

    def _refined(self, f: Array, h: Array) -> tuple[Array, Array]:
        """One solution, corrected with residuals of twice the precision.

        The result then carries the error of its own rounding only, as long as the factors carry any correct
        digit at all. A first correction of relative size δ leaves an error of about δ², so most systems need one;
        each further one is smaller than the one before by the same factor.
        """
        M, G = self._halves
        x, lam = self._once(f, h)
        last = np.full(len(x), 4.0)  # more than any step
        for _ in range(8):
            if h.shape[1]:
                dx, dlam = self._once(residual(f, (G.transposed, lam), (M, -x)), residual(h, (G, -x)))
            else:
                dx, dlam = self._once(residual(f, (M, -x)), h)
            step = self._step(x, lam, dx, dlam)
            better = step < 0.5 * last  # a correction that no longer shrinks is noise
            x = np.where(better[:, None], x + dx, x)
            lam = np.where(better[:, None], lam + dlam, lam)
            left = step * np.maximum(step, step / np.maximum(last, TINIEST))
            last = np.where(better, step, last)
            if not (better & (left > 0.1 * EPS)).any():
                break
        return self._meeting_rows(x, h) / self.D, lam

    def _meeting_rows(self, x: Array, h: Array) -> Array:
        """x̂ with what rows miss by more than rounding of their terms made up for.

        Where rows hold a coordinate that is as light as rounding, its acceleration is the difference of forces that are
        divided by next to nothing; beside those of the others it is too small for a correction to see.
        """
        if not h.shape[1]:
            return x
        G = self._halves[1]
        size = np.abs(h) + dot(np.abs(self._independent[0]), np.abs(x))
        for _ in range(ROWS_MET):
            missed = residual(h, (G, -x))
            rough: NDArray[np.bool_] = np.any(np.abs(missed) > ROW_MISSED * size, axis=1)
            if not rough.any():
                break
            x = np.where(rough[:, None], x + self._once(np.zeros_like(x), missed)[0], x)
            size = np.minimum(size, np.abs(h) + dot(np.abs(self._independent[0]), np.abs(x)))
        return x

    def _once(self, f: Array, h: Array) -> tuple[Array, Array]:
        a = dot(self.Li, f)
        if h.shape[1] == 0:
            return dot_t(self.Li, a), h
        G, s = self._independent
        z = dot_t(self.Ri, (h - dot(G, dot_t(self.Li, a))) / s)
        x = dot_t(self.Li, a + dot(self.Q1, z))
        lam = dot(self.Ri, z) / s
        return x, lam if self.gauge is None else lam - dot(self.gauge, h)

    def _step(self, x: Array, lam: Array, dx: Array, dlam: Array) -> Array:
        """The relative size of a correction; forces far below M q̈ need not be known as well as the others."""
        size = np.abs(x).max(axis=1)
        step = np.abs(dx).max(axis=1) / np.maximum(size, TINIEST)
        if lam.shape[1]:
            s = self._independent[1]
            force = np.maximum(np.abs(s * lam).max(axis=1), np.maximum(1e-6 * size, TINIEST))
            step = np.maximum(step, np.abs(s * dlam).max(axis=1) / force)
        return np.asarray(np.minimum(step, 1.0))

    def force(self, lam: Array, of: Callable[[Array], Array] = np.asarray) -> Array:
        """Gᵀλ (k, n) for multipliers (k, r) of the independent rows, or the same of both taken `of` entry by entry."""
        return dot_t(of(self._independent[0]), of(lam)) * self.D

    def multipliers(self, force: Array) -> Array:
        """λ (k, r) of the independent rows from their force Gᵀλ (k, n)."""
        return dot(self.Ri, dot_t(self.Q1, dot(self.Li, force / self.D))) / self._independent[1]

    @cached_property
    def N(self) -> Array:
        """An orthonormal basis (k, n, n − r) of the whitened directions that the rows leave free."""
        if self.rank == 0:
            return np.broadcast_to(np.eye(self.M.shape[1]), self.M.shape)
        return np.asarray(np.linalg.qr(self.Q1, mode="complete")[0][:, :, self.rank :])

    def terms(self, Q: Array, x: Array) -> Array:
        """(k, n) the sizes of what q̈ is made of, by which its rounding is judged: |q̈| and |S||Q|, S = L⁻ᵀNNᵀL⁻¹.

        S is what forces do where rows leave it to them. Where these hold a coordinate, forces do not move it, nor by it
        what M couples with it; as light as it may be they leave no rounding there but that of a refined solution,
        which is of second order.
        """
        loads = np.abs(dot(self.Li, Q / self.D))
        held = dot_t(np.abs(self.Li), loads) / self.D
        if self.rank == 0:
            return np.abs(x) + held
        way = self.Li.swapaxes(1, 2) @ self.N
        moved = dot(np.abs(way @ way.swapaxes(1, 2)), np.abs(Q / self.D)) / self.D
        return np.abs(x) + moved + EPS * held

    def all_multipliers(self, lam: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Minimum-norm λ (k, m) for all rows from that of the independent ones, null(Aᵀ) and uniqueness."""
        k, m = self.s.shape
        if self.rank == m:
            return lam, np.zeros((k, m, 0)), np.ones((k, m), dtype=bool)
        family = self.dependence
        direct = np.zeros((k, m))
        np.put_along_axis(direct, self.rows, lam, axis=1)
        return np.where(family.unique, direct, dot_t(family.inverse, lam)), family.null_space, family.unique

    def weighted_inverse(self) -> Array:
        """K₁ = L⁻ᵀ(Wᵀ)⁺ (k, n, m), S4 (5c′): Δa = K₁ e."""
        s = self._independent[1]
        K = self.Li.swapaxes(1, 2) @ self.Q1 @ self.Ri.swapaxes(1, 2) / (self.D[:, :, None] * s[:, None, :])
        return K if self.rank == self.order.shape[1] else K @ self.dependence.inverse

    def row_basis(self) -> Array:
        """An orthonormal basis (k, n, r) of the row space of A, coordinates in `units`."""
        rows = self._in_units(self._independent[0])
        rows = rows / row_norms(rows)[:, :, None]
        return np.asarray(np.linalg.qr(rows.swapaxes(1, 2))[0])


def factorise(
    M: Array,
    A: Array,
    rank: int,
    coordinate_names: tuple[str, ...],
    stack: Stack | None = None,
    tolerance: float | None = None,
) -> Factors:
    """Factors of a stack M (k, n, n), A (k, m, n) whose A all have the given rank, judged with the given tolerance."""
    return factorise_masses(masses(M, A), A, rank, coordinate_names, stack, tolerance)


def factorise_masses(
    mass: Masses,
    A: Array,
    rank: int,
    coordinate_names: tuple[str, ...],
    stack: Stack | None = None,
    tolerance: float | None = None,
) -> Factors:
    """Factors where the masses are factorised already. Where some are singular, all are taken as if they were."""
    k, m, n = A.shape
    stack = Stack(np.arange(k), (k,) if k > 1 else ()) if stack is None else stack
    D, Mh, Li = mass.D, mass.M, mass.Li
    Ah = A / D[:, None, :]
    gauge_basis = None
    if not mass.definite.all():
        Li, gauge_basis = gauged(mass, Ah, rank, coordinate_names, stack)
    W = Ah @ Li.swapaxes(1, 2)  # rows whitened
    s = row_norms(W)
    W = W / s[:, :, None]
    order = np.broadcast_to(np.arange(m), (k, m)) if rank == m else pivoted_rows(W, rank)[0]
    if rank < m:
        W = take_rows(W, order[:, :rank])
    Q1, R = np.linalg.qr(W.swapaxes(1, 2))
    gauge = None
    if gauge_basis is not None:
        # P = QaQaᵀ = GᵀHG on the independent rows G: H = (GGᵀ)⁻¹
        Rai = np.linalg.inv(gauge_basis.swapaxes(1, 2) @ take_rows(Ah, order[:, :rank]).swapaxes(1, 2))
        gauge = Rai @ Rai.swapaxes(1, 2)
    tolerance = rank_tolerance(m, n) if tolerance is None else tolerance
    return Factors(rank, D, Mh, Ah, order, Li, s, Q1, np.linalg.inv(R), gauge, tolerance, mass.units)


def gauged(mass: Masses, Ah: Array, rank: int, names: tuple[str, ...], stack: Stack) -> tuple[Array, Array]:
    """L⁻¹ of M̂ + P, where M̂ is singular, and a basis of what P projects on: the row space of Â.

    For M ⪰ 0 and rank [M; A] = n the sum is positive definite, and q̈ does not depend on what was added
    along the constraints (Udwadia–Phohomsiri 2006, Udwadia–Wanichanon 2013).
    """
    Mh, D, n = mass.M, mass.D, mass.M.shape[1]
    tol = rank_tolerance(n, n)
    lowest, vectors = np.linalg.eigh(Mh)
    if (lowest < -tol * n).any():
        worst = int(np.argmin(lowest[:, 0]))
        raise MassError(
            f"M{stack.label(worst)} is not positive semidefinite: its smallest eigenvalue (unit diagonal) is "
            f"{lowest[worst, 0]:.3g}, along {direction(vectors[worst, :, 0] / D[worst], names)}; "
            f"check the masses and the kinetic energy"
        )
    rows = Ah / row_norms(Ah)[..., None]
    order, _ = pivoted_rows(rows, rank)
    Qa = np.linalg.qr(take_rows(rows, order[:, :rank]).swapaxes(1, 2))[0]
    both = Mh + Qa @ Qa.swapaxes(1, 2)
    Li, definite = inverse_factors(both)
    if not definite.all():
        lowest, vectors = np.linalg.eigh(both)
        worst = int(np.argmin(np.where(definite, np.inf, lowest[:, 0])))
        count = int(np.count_nonzero(lowest[worst] <= tol * n)) or 1
        free = "; ".join(direction(vectors[worst, :, i] / D[worst], names) for i in range(count))
        raise UndeterminedError(
            f"M{stack.label(worst)} is singular and the constraints do not make up for it, rank [M; A] = "
            f"{n - count} < {n}: the acceleration is undetermined along {free}; give these directions inertia or a "
            f"constraint"
        )
    return Li, Qa


def direction(vector: Array, names: tuple[str, ...]) -> str:
    """A direction in coordinate space in words, largest part first scaled to 1: `x - 0.5 y`; the largest if many."""
    size = np.abs(vector)
    # of parts of equal size the first is 1, so that rounding does not choose the words
    vector = vector / vector[np.argmax(size >= (1 - SAME_SIZE) * size.max())]
    seen = np.flatnonzero(np.abs(vector) > 1e-6)
    told = np.sort(seen[np.argsort(-np.abs(vector[seen]), kind="stable")][:MOST_TERMS])
    parts = [(vector[i], names[i]) for i in told]
    words = " ".join(
        f"{'-' if c < 0 else '+'} {'' if abs(abs(c) - 1) < 1e-9 else f'{abs(c):.4g} '}{n}" for c, n in parts
    )
    more = len(seen) - len(told)
    return words.removeprefix("+ ") + (f" + {more} more" if more else "")


def dot(X: Array, x: Array) -> Array:
    """X x for a stack of matrices and vectors."""
    return np.asarray(np.matmul(X, x[:, :, None])[:, :, 0])


def dot_t(X: Array, x: Array) -> Array:
    """Xᵀx for a stack of matrices and vectors."""
    return np.asarray(np.matmul(X.swapaxes(1, 2), x[:, :, None])[:, :, 0])


def solve_each(X: Array, x: Array) -> Array:
    """X⁻¹x for a stack of matrices and vectors."""
    return np.asarray(np.linalg.solve(X, x[:, :, None])[:, :, 0], dtype=np.float64)
