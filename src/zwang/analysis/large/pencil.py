"""The lowest modes of masses on springs, in sparse matrices: K x = θ M x among the directions that rows G leave free.

Eigenvalues θ = ω² near a shift σ come from Lanczos's method on the inverse of [K − σM, Gᵀ; G, 0]. How many there are
below a shift is read off the pivots of the same matrix (Sylvester's law of inertia: as many are negative as there are
rows, and one more for each such θ), so that none is missed, however many are equal.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from zwang.analysis.large.place import Place
from zwang.analysis.springs import generalised
from zwang.arrays import Array, Indices
from zwang.compile.rolled.degrees import least_degree
from zwang.errors import InputError
from zwang.linalg.sparse.matrix import Sparse, solve_columns
from zwang.words import count

BESIDE_ZERO = 1e-12  # share of the largest slope: the shift beside zero, where there may be zeros
BELOW_ALL = 2.0  # times the bound of all slopes: nothing is below
TRUSTED_PIVOTS = 1e-8  # share of a right-hand side that solving by pivots on the diagonal may miss
SHIFTED_ON = 1.0 + 1e-3  # times a shift: where pivots beside an eigenvalue are not to be trusted
SHIFTS = 4  # such shifts
FEW_DIRECTIONS = 24  # of which dense matrices are as quick
BETWEEN = (0.5, 0.37, 0.66)  # where an interval is divided: elsewhere, if pivots do not tell there
ALL_DIRECTIONS = 4_000  # of which all eigenvalues are found: they take a minute, and matrices of 128 MB
HALVINGS = 60  # of the interval in which the lowest one is


@dataclass(frozen=True, eq=False)
class Pencil:
    """K, M (n, n) and independent rows G (r, n) of unit length, in coordinates of equal mass."""

    K: Sparse
    M: Sparse
    G: Sparse

    @classmethod
    def of(cls, place: Place) -> "Pencil":
        """Of a system beside rest."""
        H = place.H
        return cls(((H + H.T) / 2).tocsr(), place.M, place.G)

    @property
    def directions(self) -> int:
        """How many directions are free."""
        r, n = self.G.shape
        return int(n - r)

    @cached_property
    def size(self) -> float:
        """A bound of the slopes in units of equal mass."""
        return float(abs(self.K).sum(axis=1).max(initial=0.0))

    def shifted(self, shift: float, stiffening: float = 0.0) -> Sparse:
        """[K − σM + s GᵀG, Gᵀ; G, 0]: along free directions the stiffening changes nothing."""
        from scipy.sparse import block_array

        K = self.K - shift * self.M
        if stiffening:
            K = K + stiffening * (self.G.T @ self.G)
        return block_array([[K, self.G.T], [self.G, None]], format="csc") if self.G.shape[0] else K.tocsc()

    def nearest(self, count: int, shift: float) -> tuple[Array, Array]:
        """The eigenvalues (k,) nearest to a shift, nearest first, and their vectors (k, n) of unit mass."""
        from scipy.sparse.linalg import LinearOperator, eigsh, splu

        n, r = self.K.shape[0], self.G.shape[0]
        factors, nothing = splu(self.shifted(shift)), np.zeros(r)

        def inverse(x: Array) -> Array:
            return np.asarray(factors.solve(np.concatenate([np.ravel(x), nothing]))[:n])

        begin = inverse(self.M @ inverse(np.random.default_rng(7).standard_normal(n)))
        begin /= np.abs(begin).max()
        operator = LinearOperator((n, n), matvec=inverse, dtype=float)
        values, vectors = eigsh(self.K, count, M=self.M, sigma=shift, OPinv=operator, v0=begin, tol=0)
        order = np.argsort(np.abs(values - shift))
        return np.asarray(values[order]), np.asarray(vectors.T[order])

    def every(self) -> tuple[Array, Array]:
        """All eigenvalues, those nearest to zero first, and their vectors (k, n) of unit mass, by dense matrices."""
        d, n = self.directions, self.K.shape[0]
        if d > ALL_DIRECTIONS:
            raise InputError(
                f"all modes of {count(d, 'direction')} are too many to be found together: ask for some, as in "
                f"zwang.modes(system, state, count=20)"
            )
        free = np.random.default_rng(11).standard_normal((n, d)) if self.G.shape[0] else np.eye(n)
        for _ in range(2 if self.G.shape[0] else 0):  # as good as the first is spread, then to the last digit
            free = np.linalg.qr(self._along(free))[0]
        K, mass = (free.T @ (X @ free) for X in (self.K, self.M))
        values, vectors = generalised((K + K.T) / 2, (mass + mass.T) / 2)
        order = np.argsort(np.abs(values))
        return values[order], (free @ vectors).T[order]

    def _along(self, X: Array) -> Array:
        """(n, k) the parts of columns that the rows leave free."""
        from scipy.sparse import block_array, eye_array
        from scipy.sparse.linalg import splu

        n, r = self.K.shape[0], self.G.shape[0]
        factors = splu(block_array([[eye_array(n), self.G.T], [self.G, None]], format="csc"))
        return solve_columns(factors, np.concatenate([X, np.zeros((r, X.shape[1]))]))[:n]

    def softest(self, wanted: int) -> tuple[Array, Array]:
        """So many eigenvalues, those nearest to zero, nearest first, and their vectors."""
        if 2 * wanted > self.directions:
            return self.every()
        values, vectors = self.nearest(wanted, -BESIDE_ZERO * self.size)
        order = np.argsort(np.abs(values))
        return values[order], vectors[order]

    @cached_property
    def _order(self) -> Indices:
        """In which the matrix is eliminated: rows behind their coordinates."""
        found = abs(self.shifted(-1.0, 1.0)).tocoo()
        low = found.row >= found.col
        n, r = self.K.shape[0], self.G.shape[0]
        return least_degree(n, r, found.row[low].astype(np.int64), found.col[low].astype(np.int64), late=False)[0]

    def below(self, shift: float) -> int | None:
        """How many eigenvalues are below a shift; None where pivots on the diagonal do not tell."""
        for _ in range(SHIFTS):
            if (found := self._below(shift)) is not None:
                return found
            shift *= SHIFTED_ON
        return None

    def _below(self, shift: float) -> int | None:
        from scipy.sparse.linalg import splu

        X = self.shifted(shift, self.size)[self._order][:, self._order].tocsc()
        options: dict[str, Any] = {"SymmetricMode": True, "Equil": False}
        try:
            factors = splu(X, permc_spec="NATURAL", diag_pivot_thresh=0.0, options=options)
        except RuntimeError:  # a pivot is zero
            return None
        if not np.array_equal(factors.perm_r, factors.perm_c):
            return None
        right = np.random.default_rng(3).standard_normal(X.shape[0])
        missed = np.abs(X @ factors.solve(right) - right).max(initial=0.0)
        if not missed <= TRUSTED_PIVOTS * np.abs(right).max(initial=1.0):
            return None
        return int(np.count_nonzero(factors.U.diagonal() < 0) - self.G.shape[0])

    def lowest(self) -> tuple[float, Array]:
        """The lowest eigenvalue of all and its vector: halved intervals lead near it."""
        if self.directions <= FEW_DIRECTIONS:
            values, vectors = self.every()
            return float(values.min()), vectors[values.argmin()]
        low, high = -BELOW_ALL * self.size, BELOW_ALL * self.size
        for _ in range(HALVINGS):
            tried = ((middle, self.below(middle)) for middle in (low + share * (high - low) for share in BETWEEN))
            middle, found = next(((x, count) for x, count in tried if count is not None), (low, None))
            if found is None:
                break
            low, high = (low, middle) if found else (middle, high)
            if high - low < abs(low) / 16:
                break
        values, vectors = self.nearest(1, low)
        return float(values[0]), vectors[0]
