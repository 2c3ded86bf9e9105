"""Factor once, solve many: Cholesky whitening and a complete orthogonal decomposition of stacks of systems.

With M = LLᵀ and W = L⁻¹Aᵀ, the weighted inverse of the papers needs no M^{1/2}:
K₁ = M^{-1/2}(AM^{-1/2})⁺ = L⁻ᵀ(Wᵀ)⁺ at any rank. A pivoted choice of r independent rows gives
W = Q₁FᵀS, with Q₁ (n×r) orthonormal, F (m×r) and S = diag of row scales.
"""

from dataclasses import dataclass

import numpy as np

from zwang.errors import InputError, MassError, UndeterminedError
from zwang.linalg.exact_sum import residual
from zwang.linalg.rank import Array, Indices, pivoted_rows, power_of_two, rank_tolerance, row_norms

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Factors:
    """A stack of k systems of one rank r, factored. Hats mark coordinates scaled to unit mass diagonal.

    `D` (k, n) scales coordinates, x̂ = D q̈, by powers of two; `M`, `A` are the scaled matrices M̂ and Â;
    `order` (k, m) lists the rows of A, the r independent ones first; `Li` (k, n, n) is L⁻¹;
    `Q1` (k, n, r), `F` (k, m, r), `Ri` (k, r, r) = R₁₁⁻¹ and `s` (k, m) make the decomposition above;
    `gauge` (k, r, r) is zero unless M is singular and M + AᵀGA stands in for it (EXTENSIONS: M_G), then G.
    """

    rank: int
    D: Array
    M: Array
    A: Array
    order: Indices
    Li: Array
    Q1: Array
    F: Array
    Ri: Array
    s: Array
    gauge: Array | None

    @property
    def rows(self) -> Indices:
        """The r independent rows of each system."""
        return self.order[:, : self.rank]

    def solve(self, Q: Array, b: Array) -> tuple[Array, Array]:
        """q̈ (k, n) and the multipliers (k, r) of the independent rows, for M q̈ = Q + Aᵀλ, A q̈ = b."""
        return self._refined(Q / self.D, take(b, self.rows), take_rows(self.A, self.rows))

    def free(self, Q: Array) -> Array:
        """a = M⁻¹Q (k, n), the acceleration without constraints; NaN where M is singular."""
        if self.gauge is not None:
            return np.full_like(Q, np.nan)
        none = np.zeros((len(Q), 0))
        return self._refined(Q / self.D, none, none[:, :, None] * self.D[:, None, :])[0]

    def _refined(self, f: Array, h: Array, A: Array) -> tuple[Array, Array]:
        """One solution, corrected with residuals of twice the precision.

        The result then carries the error of its own rounding only, as long as the factors carry any correct
        digit at all. A correction of relative size δ leaves an error of about δ², so most systems need one.
        """
        x, lam = self._once(f, h, A)
        last = np.full(len(x), np.inf)
        for _ in range(8):
            rest = residual(f, (A.swapaxes(1, 2), lam), (-self.M, x))
            gap = residual(h, (-A, x))
            dx, dlam = self._once(rest, gap, A)
            step = np.abs(dx).max(axis=1) / np.maximum(np.abs(x).max(axis=1), TINY)
            better = step < 0.5 * last  # a correction that no longer shrinks is noise
            x = np.where(better[:, None], x + dx, x)
            lam = np.where(better[:, None], lam + dlam, lam)
            last = np.where(better, step, last)
            if not (better & (step > 1e-9)).any():
                break
        return x / self.D, lam

    def _once(self, f: Array, h: Array, A: Array) -> tuple[Array, Array]:
        a = dot(self.Li, f)
        if h.shape[1] == 0:
            return dot_t(self.Li, a), h
        s = take(self.s, self.rows)
        z = dot_t(self.Ri, (h - dot(A, dot_t(self.Li, a))) / s)
        x = dot_t(self.Li, a + dot(self.Q1, z))
        lam = dot(self.Ri, z) / s
        return x, lam if self.gauge is None else lam - dot(self.gauge, h)

    def all_multipliers(self, lam: Array) -> tuple[Array, Array, Array]:
        """Minimum-norm λ (k, m) for all rows from that of the independent ones, null(Aᵀ) and uniqueness.

        λ_j is unique if and only if row j takes part in no dependence: row j of I − AA⁺ is zero.
        """
        k, m = self.s.shape
        direct = np.zeros((k, m))
        np.put_along_axis(direct, self.rows, lam, axis=1)
        if self.rank == m:
            return direct, np.zeros((k, m, 0)), np.ones((k, m), dtype=bool)
        basis = np.linalg.qr(self.F, mode="complete")[0][:, :, self.rank :]
        unique = np.linalg.norm(basis, axis=-1) <= np.sqrt(rank_tolerance(m, self.D.shape[1]))
        basis = np.where(unique[:, :, None], 0.0, basis)
        null = np.linalg.qr(basis / self.s[:, :, None])[0]
        # Householder QR keeps small rows accurate if large rows come first (Powell and Reid)
        G = self.F * self.s[:, :, None]
        largest_first = np.argsort(-self.s, axis=1, kind="stable")
        Q2, R2 = np.linalg.qr(take_rows(G, largest_first))
        z = dot_t(G, direct)
        w = dot(Q2, np.linalg.solve(R2.swapaxes(1, 2), z[:, :, None])[:, :, 0]) if self.rank else np.zeros((k, m))
        smallest = np.zeros((k, m))
        np.put_along_axis(smallest, largest_first, w, axis=1)
        return np.where(unique, direct, smallest), null, unique

    def weighted_inverse(self) -> Array:
        """K₁ = L⁻ᵀ(Wᵀ)⁺ (k, n, m), S4 (5c′): Δa = K₁ e."""
        k, m = self.s.shape
        whitened = self.Li.swapaxes(1, 2) @ self.Q1 / self.D[:, :, None]
        if self.rank == m:  # (SF)⁺ = (SF)⁻¹, and the rows of F in their order are R₁₁ᵀ
            columns = whitened @ self.Ri.swapaxes(1, 2) / take(self.s, self.rows)[:, None, :]
            result = np.empty((k, self.D.shape[1], m))
            np.put_along_axis(result, self.rows[:, None, :], columns, axis=2)
            return result
        Q2, R2 = np.linalg.qr(self.F * self.s[:, :, None])
        return np.asarray(whitened @ np.linalg.solve(R2, Q2.swapaxes(1, 2)))

    def null_space(self) -> Array:
        """An orthonormal basis Z (k, n, n − r) of null(A)."""
        rows = take_rows(self.A, self.rows) * self.D[:, None, :]
        rows = rows / row_norms(rows)[:, :, None]
        return np.asarray(np.linalg.qr(rows.swapaxes(1, 2), mode="complete")[0][:, :, self.rank :])

    def dependence(self) -> Array:
        """Coefficients (k, m, r) that express every row of A by the independent ones."""
        scale = take(self.s, self.rows)
        return np.asarray(self.s[:, :, None] * (self.F @ self.Ri) / scale[:, None, :])


def factorise(M: Array, A: Array, rank: int, coordinate_names: tuple[str, ...]) -> Factors:
    """Factors of a stack M (k, n, n), A (k, m, n) whose A all have the given rank."""
    k, m, n = A.shape
    diagonal = np.einsum("kii->ki", M)
    D = power_of_two(np.sqrt(np.where(diagonal > 0, diagonal, 1.0)))
    Mh = M / D[:, :, None] / D[:, None, :]
    Ah = A / D[:, None, :]
    L, gauge_basis = cholesky(Mh, A, Ah, rank, coordinate_names)
    Li = np.linalg.inv(L)
    W = Li @ Ah.swapaxes(1, 2)
    s = row_norms(W.swapaxes(1, 2))
    W = W / s[:, None, :]
    order = np.tile(np.arange(m), (k, 1)) if rank == m else pivoted_rows(W.swapaxes(1, 2), rank)[0]
    Q1, R = np.linalg.qr(take_rows(W.swapaxes(1, 2), order[:, :rank]).swapaxes(1, 2))
    Ri = np.linalg.inv(R)
    F = W.swapaxes(1, 2) @ Q1
    gauge = None
    if gauge_basis is not None:
        # P = QaQaᵀ = ArᵀGAr on the independent rows Ar: G = (ArArᵀ)⁻¹
        Ra = gauge_basis.swapaxes(1, 2) @ take_rows(Ah, order[:, :rank]).swapaxes(1, 2)
        Rai = np.linalg.inv(Ra)
        gauge = Rai @ Rai.swapaxes(1, 2)
    return Factors(rank, D, Mh, Ah, order, Li, Q1, F, Ri, s, gauge)


def cholesky(Mh: Array, A: Array, Ah: Array, rank: int, names: tuple[str, ...]) -> tuple[Array, Array | None]:
    """L of M̂ if every M̂ is positive definite; else of M̂ + P, P the projector on the row space of Â.

    For M ⪰ 0 and rank [M; A] = n the sum is positive definite, and q̈ does not depend on what was added
    along the constraints (Udwadia–Phohomsiri 2006, Udwadia–Wanichanon 2013).
    """
    n = Mh.shape[1]
    tol = rank_tolerance(n, n)
    if (regular := positive_definite(Mh, tol)) is not None:
        return regular, None
    lowest, vectors = np.linalg.eigh(Mh)
    if (lowest < -tol * n).any():
        worst = int(np.argmin(lowest[:, 0]))
        raise MassError(
            f"M{of_stack(worst, len(Mh))} is not positive semidefinite: its smallest eigenvalue (unit diagonal) is "
            f"{lowest[worst, 0]:.3g}, along {direction(vectors[worst, :, 0], names)}; "
            f"check the masses and the kinetic energy"
        )
    rows = Ah / row_norms(Ah)[..., None]
    order, _ = pivoted_rows(rows, rank)
    Qa = np.linalg.qr(take_rows(rows, order[:, :rank]).swapaxes(1, 2))[0]
    both = Mh + Qa @ Qa.swapaxes(1, 2)
    L = positive_definite(both, tol)
    if L is None:
        lowest, vectors = np.linalg.eigh(both)
        worst = int(np.argmin(lowest[:, 0]))
        count = int(np.count_nonzero(lowest[worst] <= tol * n)) or 1
        free = "; ".join(direction(vectors[worst, :, i], names) for i in range(count))
        raise UndeterminedError(
            f"M{of_stack(worst, len(Mh))} is singular and the constraints do not make up for it, rank [M; A] = "
            f"{n - count} < {n}: the acceleration is undetermined along {free}; give these directions inertia or a "
            f"constraint"
        )
    return L, Qa


def positive_definite(X: Array, tolerance: float) -> Array | None:
    """The Cholesky factors of a stack with diagonals near 1, or None if a pivot is zero or negative."""
    try:
        L = np.linalg.cholesky(X)
    except np.linalg.LinAlgError:
        return None
    pivots = np.einsum("kii->ki", L) ** 2
    return L if (pivots > tolerance).all() else None


def direction(vector: Array, names: tuple[str, ...]) -> str:
    """A direction in coordinate space in words, largest part first scaled to 1: `x - 0.5 y`."""
    vector = vector / vector[np.argmax(np.abs(vector))]
    parts = [(c, name) for c, name in zip(vector, names, strict=True) if abs(c) > 1e-6]
    words = " ".join(
        f"{'-' if c < 0 else '+'} {'' if abs(abs(c) - 1) < 1e-9 else f'{abs(c):.4g} '}{n}" for c, n in parts
    )
    return words.removeprefix("+ ")


def of_stack(index: int, size: int) -> str:
    """` of system 3` where there are several, nothing where there is one."""
    return f" of system {index}" if size > 1 else ""


def take(x: Array, index: Indices) -> Array:
    """Entries of vectors (k, m) by index (k, r)."""
    return np.take_along_axis(x, index, axis=1)


def take_rows(X: Array, index: Indices) -> Array:
    """Rows of matrices (k, m, n) by index (k, r)."""
    return np.take_along_axis(X, index[:, :, None], axis=1)


def dot(X: Array, x: Array) -> Array:
    """X x for a stack of matrices and vectors."""
    return np.asarray(np.matmul(X, x[:, :, None])[:, :, 0])


def dot_t(X: Array, x: Array) -> Array:
    """Xᵀx for a stack of matrices and vectors."""
    return np.asarray(np.matmul(X.swapaxes(1, 2), x[:, :, None])[:, :, 0])


def require_finite(**arrays: Array) -> None:
    """Refuse NaN and infinity by name and place."""
    for name, x in arrays.items():
        bad = np.argwhere(~np.isfinite(x))
        if len(bad):
            where = ", ".join(map(str, bad[0]))
            raise InputError(f"{name}[{where}] is {x[tuple(bad[0])]}: all entries must be finite numbers")
