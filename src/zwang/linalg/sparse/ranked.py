"""One large system, ranked once: masses, rank and dependences of its rows, and accelerations on the independent ones.

As `linalg.ranked` and `linalg.factors`, with the same refusals.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from zwang.arrays import EPS, Array, Indices
from zwang.errors import MassError, UndeterminedError
from zwang.linalg.factors import direction
from zwang.linalg.masses import mass_tolerance
from zwang.linalg.rank import rank_tolerance
from zwang.linalg.ranked import SAME_ROWS, Ranked, ranked
from zwang.linalg.sparse.masses import DENSE_BLOCK, SparseMasses, sparse_masses
from zwang.linalg.sparse.matrix import (
    Sparse,
    plus_diagonal,
    row_norms,
    scaled,
    smallest_eigenvalue,
    symmetric_factors,
)
from zwang.linalg.sparse.rank import SparseRank, sparse_rank

# Of squares of distances, rows at unit length: below this the matrix of M and A, whose condition they are, has no
# digits left; factors of the rows themselves have.
NO_DIGITS = 2e-13
REFINED = 3  # corrections of a solution, with residuals in extended precision


@dataclass(frozen=True, eq=False)
class SparseRanked:
    """A sparse system M (n, n), A (m, n): its masses, its rows in units of equal mass, and their rank."""

    M: Sparse
    A: Sparse
    mass: SparseMasses
    scaled: Sparse
    """(m, n) A in units of equal mass: the matrix whose rank was decided."""
    found: SparseRank

    @property
    def rank(self) -> int:
        """How many rows are independent."""
        return self.found.rank

    @property
    def rows(self) -> Indices:
        """The independent rows, ascending."""
        return self.found.rows

    @property
    def closest(self) -> float:
        """About the least square of the distance of a row from those before it, rows at unit length."""
        return self.found.closest

    @property
    def units(self) -> Array:
        """(n,) the units of equal mass."""
        return self.mass.units

    @cached_property
    def saddle(self) -> "Saddle | DenseSaddle":
        """The matrix of M and the independent rows, factorised."""
        return self.saddle_of(self.rows)

    def saddle_of(self, rows: Indices) -> "Saddle | DenseSaddle":
        """The matrix of M and other rows that are independent, factorised."""
        if self.found.sure or self.rank < self.A.shape[0] or self.closest > NO_DIGITS:
            return saddle(self.M, self.A[rows], self.mass)
        if self.M.shape[0] > DENSE_BLOCK:
            raise UndeterminedError(
                "some constraints are so nearly dependent that rounding takes all digits of their multipliers; "
                "drop one of them, or write them so that they say different things"
            )
        names = tuple(map(str, range(self.M.shape[0])))
        return DenseSaddle(ranked(self.M.toarray(), self.A[rows].toarray(), names))

    def solve(self, Q: Array, b: Array) -> tuple[Array, Array]:
        """q̈ (n,) and the multipliers (r,) of the independent rows, for M q̈ = Q + Aᵀλ, A q̈ = b."""
        return self.saddle.solve(Q, b[self.rows])


def sparse_ranked(M: Sparse, A: Sparse, names: tuple[str, ...], known: SparseRanked | None = None) -> SparseRanked:
    """Masses and rank of M (n, n), A (m, n); an M that determines no acceleration is refused by name.

    `known` is the same system a little beside: if the rows differ by rounding only, its rank is taken over.

    >>> from zwang.linalg.sparse.matrix import sparse
    >>> M = sparse(np.ones(2), np.arange(2), np.arange(2), (2, 2))
    >>> A = sparse(np.array([1.0, -1.0, 2.0, -2.0]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), (2, 2))
    >>> found = sparse_ranked(M, A, ("x", "y"))
    >>> found.rank, found.solve(np.array([1.0, 0.0]), np.zeros(2))[0].tolist()
    (1, [0.5, 0.5])
    """
    mass = sparse_masses(M, A)
    in_units = scaled(A, columns=mass.units)
    found = known.found if known is not None and alike(in_units, known.scaled) else rank_of(in_units)
    if not mass.definite:
        require_determined(M, A, mass, found, names)
    return SparseRanked(M, A, mass, in_units, found)


def rank_of(rows: Sparse) -> SparseRank:
    """The rank of rows of any length."""
    return sparse_rank(scaled(rows, row_norms(rows)))


def alike(A: Sparse, B: Sparse) -> bool:
    """Whether the rows of two matrices differ by rounding only, beside the length of each."""
    return A.shape == B.shape and bool((scaled(abs(A - B), row_norms(B)).data <= SAME_ROWS * EPS).all())


def require_determined(M: Sparse, A: Sparse, mass: SparseMasses, found: SparseRank, names: tuple[str, ...]) -> None:
    """Refuse a singular M that is not positive semidefinite, or whose constraints do not make up for it."""
    n = M.shape[0]
    D = np.where(M.diagonal() > 0, mass.D, mass.units)
    unit = scaled(M, D, D)
    for columns in mass.singular:
        value, vector = lowest(unit[columns][:, columns])
        if value < -rank_tolerance(n, n) * n:
            along = direction(vector / D[columns], tuple(names[j] for j in columns))
            raise MassError(
                f"M is not positive semidefinite: its smallest eigenvalue (unit diagonal) is {value:.3g}, along "
                f"{along}; check the masses and the kinetic energy"
            )
    rows = scaled(A[found.rows], columns=D)
    rows = scaled(rows, row_norms(rows))
    factors = symmetric_factors(plus_diagonal(unit + rows.T @ rows, EPS))
    value, vector = smallest_eigenvalue(factors, n) if factors is not None else (0.0, np.ones(n))
    if value > n * mass_tolerance(n):
        return
    if n <= DENSE_BLOCK:  # it says in all words what is not determined, or nothing
        ranked(M.toarray(), A.toarray(), names)
    elif value <= mass_tolerance(n):
        raise UndeterminedError(
            f"M is singular and the constraints do not make up for it: the acceleration is undetermined along "
            f"{direction(vector / D, names)}; give this direction inertia or a constraint"
        )


def lowest(X: Sparse) -> tuple[float, Array]:
    """The smallest eigenvalue of a symmetric block, and its vector."""
    if X.shape[0] <= DENSE_BLOCK:
        values, vectors = np.linalg.eigh(X.toarray())
        return float(values[0]), vectors[:, 0]
    from scipy.sparse.linalg import eigsh

    values, vectors = eigsh(X, k=1, which="SA", tol=1e-6)
    return float(values[0]), vectors[:, 0]


@dataclass(frozen=True, eq=False)
class Saddle:
    """[M Gᵀ; G 0] for independent rows G, in coordinates of unit mass and with rows of unit length, factorised."""

    matrix: Sparse
    factors: Any
    D: Array
    lengths: Array

    def solve(self, Q: Array, b: Array) -> tuple[Array, Array]:
        """q̈ and multipliers, for M q̈ = Q + Gᵀλ, G q̈ = b."""
        n = len(self.D)
        right = np.concatenate([Q / self.D, b / self.lengths])
        x = self.factors.solve(right)
        last = np.inf
        for _ in range(REFINED):
            step = self.factors.solve(residual(self.matrix, x, right))
            size = float(np.abs(step).max(initial=0.0))
            if not size < 0.5 * last:  # a correction that no longer shrinks is noise
                break
            x, last = x + step, size
        return x[:n] / self.D, -x[n:] / self.lengths


@dataclass(frozen=True, eq=False)
class DenseSaddle:
    """The same for rows that are nearly dependent, by orthogonal factors of the rows."""

    found: Ranked

    def solve(self, Q: Array, b: Array) -> tuple[Array, Array]:
        """q̈ and multipliers, for M q̈ = Q + Gᵀλ, G q̈ = b."""
        factors, multipliers = self.found.factors, np.zeros(len(b))
        x, found = factors.solve(Q[None], b[None])
        multipliers[factors.rows[0]] = found[0]
        return x[0], multipliers


def saddle(M: Sparse, G: Sparse, mass: SparseMasses) -> Saddle:
    """The matrix of M and independent rows, factorised."""
    from scipy.sparse import block_array
    from scipy.sparse.linalg import splu

    D = np.where(M.diagonal() > 0, mass.D, mass.units)
    rows = scaled(G, columns=D)
    lengths = row_norms(rows)
    rows = scaled(rows, lengths)
    matrix = block_array([[scaled(M, D, D), rows.T], [rows, None]], format="csr")
    return Saddle(matrix, splu(matrix.tocsc()), D, lengths)


def residual(X: Sparse, x: Array, right: Array) -> Array:
    """right − X x in extended precision, where the machine has it."""
    terms = X.data.astype(np.longdouble) * x[X.indices]
    filled = np.flatnonzero(np.diff(X.indptr))
    found = right.astype(np.longdouble)
    if len(filled):
        found[filled] -= np.add.reduceat(terms, X.indptr[filled])
    return found.astype(float)
