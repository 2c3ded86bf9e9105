"""Mass matrices: which of them are positive definite, whatever the units, and L⁻¹ of those that are.

An unpivoted Cholesky factorisation runs through many a singular M: a small pivot on the way magnifies rounding until
the last pivot, which should be zero, is not small at all. But its factors are those of an M that differs by rounding
only, so their inverse tells. With M = LLᵀ,

    Σ Mⱼⱼ(M⁻¹)ⱼⱼ = Σ Mⱼⱼ|L⁻¹eⱼ|²

is the trace of the inverse of M scaled to unit diagonal: no units of the coordinates change it, it is n for a diagonal
M however different its masses, and one over the smallest eigenvalue of the scaled M where that is small.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import EPS, Array
from zwang.linalg.rank import LAPACK_FROM, power_of_two

Flags = NDArray[np.bool_]

# Entries of M that should make it singular do so up to their rounding, some eps; factors must have a correct digit
# for refinement to find the others. 2^6 leaves room for the first, and ensures the second.
MASS_SLACK = 2.0**6

# An Euler parameter that is zero but for rounding is as light as the square of that. In x̂ = D q̈ with a D of its own
# its acceleration would be rounding divided by D: 1e-16/1e-17 at a quaternion of (1, 1e-17, 0, 0). At 2^-20 of the unit
# of its block it has six digits left, which refinement makes all.
TOO_LIGHT = 2.0**-20


@dataclass(frozen=True)
class Masses:
    """A stack of k mass matrices. Hats mark coordinates x̂ = D q̈, in which the diagonals are zero or between 1 and 4."""

    D: Array
    """(k, n) powers of two; where M is singular none far below the unit"""
    M: Array
    """M̂ = D⁻¹MD⁻¹ (k, n, n)"""
    Li: Array
    """L⁻¹ (k, n, n) of M̂ = LLᵀ; NaN where M is not positive definite"""
    definite: Flags
    """(k,)"""
    units: Array
    """(k, n) the units in which ranks are judged: D, so that no choice of units changes them. But of coordinates that
    have no inertia in some direction, as Euler parameters, one may be as light as rounding: where M is singular, those
    that it couples have one unit (and must be given in one)."""

    def part(self, which: Flags) -> "Masses":
        """Those of the matrices that are flagged."""
        if which.all():
            return self
        return Masses(self.D[which], self.M[which], self.Li[which], self.definite[which], self.units[which])


def masses(M: Array, A: Array) -> Masses:
    """A stack of symmetric matrices (k, n, n), scaled and factorised; constraints (k, m, n) scale what has no mass."""
    D, scaled = with_unit_diagonal(M)
    massive = np.einsum("kii->ki", M) > 0
    Li, definite = inverse_factors(scaled)
    if definite.all():
        return Masses(D, scaled, Li, definite, D)
    units = tied_units(block_units(scaled, D), massive, A)
    D = np.where(massive & (TOO_LIGHT * units < D), D, units)
    return Masses(D, M / D[:, :, None] / D[:, None, :], Li, definite, units)


def with_unit_diagonal(M: Array) -> tuple[Array, Array]:
    """D (k, n), powers of two, and M̂ = D⁻¹MD⁻¹, whose diagonal is about 1 where there is mass."""
    diagonal = np.einsum("kii->ki", M)
    D = power_of_two(np.sqrt(np.where(diagonal > 0, diagonal, 1.0)))
    return D, M / D[:, :, None] / D[:, None, :]


def mass_units(M: Array, A: Array) -> Array:
    """(k, n) the units in which ranks of A (k, m, n) are judged."""
    return masses(M, A).units


def block_units(M: Array, D: Array) -> Array:
    """(k, n) units for M̂ that may be singular: one for all coordinates that M couples, the largest of theirs; else D.

    Where M is definite but for coordinates without any mass, D will do for all.
    """
    massless = np.logical_not(M.any(axis=2))
    _, definite = inverse_factors(M + massless[:, :, None] * np.eye(M.shape[1]))
    if definite.all():
        return D
    coupled = (M != 0) | np.eye(M.shape[1], dtype=bool)
    for _ in range(max(M.shape[1] - 1, 1).bit_length()):  # those coupled with coupled ones, too
        coupled = (coupled.astype(np.float32) @ coupled.astype(np.float32)) > 0
    return np.where(definite[:, None], D, np.where(coupled, D[:, None, :], 0.0).max(axis=2))


def tied_units(units: Array, known: Flags, A: Array) -> Array:
    """Units (k, n) of all coordinates, where `known` (k, n) says which are given: the rows of A tell the others.

    A coordinate gets the unit in which it weighs as much as the known ones do in one of its rows and less in the rest:
    entries that are rounding do not matter. Coordinates that no row ties to known ones begin with their greatest entry.

    >>> A = np.array([[[4.0, 0.25, 0.0], [0.0, 1.0, 8.0]]])
    >>> tied_units(np.array([[4.0, 1.0, 1.0]]), np.array([[True, False, False]]), A).tolist()
    [[4.0, 0.25, 2.0]]
    """
    if known.all() or not A.shape[1]:
        return units
    size, each = np.abs(A), np.arange(len(A))
    left = ~known & size.any(axis=1)
    while left.any():
        rows = np.where(known[:, None, :], size / units[:, None, :], 0.0).max(axis=2)  # (k, m) what is known of each
        share = (size / np.where(rows > 0, rows, np.inf)[:, :, None]).max(axis=1)
        found = left & (share > 0)
        stuck = left.any(axis=1) & ~found.any(axis=1)
        first = left.argmax(axis=1)
        share[each[stuck], first[stuck]] = size.max(axis=1)[each[stuck], first[stuck]]
        found[each[stuck], first[stuck]] = True
        units = np.where(found, power_of_two(np.where(found, share, 1.0)), units)
        known, left = known | found, left & ~found
    return units


def regular(M: Array) -> Flags:
    """(k,) which M are positive definite.

    >>> regular(np.array([[[1e-30, 0], [0, 1e30]], [[1, 1], [1, 1]]])).tolist()
    [True, False]
    """
    return inverse_factors(with_unit_diagonal(M)[1])[1]


def mass_tolerance(n: int) -> float:
    """The eigenvalue at which a matrix of unit diagonal counts as singular."""
    return MASS_SLACK * n * EPS


def inverse_factors(X: Array) -> tuple[Array, Flags]:
    """L⁻¹ (k, n, n) of X = LLᵀ for a stack, NaN where X is not positive definite, and where it is (k,)."""
    tolerance = mass_tolerance(X.shape[1])
    if (Li := _inverse_factors(X)) is not None:
        size = np.einsum("kij,kij,kjj->k", Li, Li, X, optimize=False)
        definite = np.asarray(size * tolerance < 1)
        return Li if definite.all() else np.where(definite[:, None, None], Li, np.nan), definite
    # LAPACK gave up on one of them: the eigenvalues say on which
    diagonal = np.einsum("kii->ki", X)
    unit = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    values = np.linalg.eigvalsh(X * unit[:, :, None] * unit[:, None, :])
    definite = np.asarray((values > 0).all(axis=1))
    definite[definite] = (1 / values[definite]).sum(axis=1) * tolerance < 1
    Li = np.full(X.shape, np.nan)
    if (found := _inverse_factors(X[definite])) is not None:
        Li[definite] = found
    return Li, definite if found is not None else np.zeros(len(X), dtype=bool)


def _inverse_factors(X: Array) -> Array | None:
    """L⁻¹, or None where the factorisation ends early."""
    try:
        L = np.linalg.cholesky(X)
        if len(L) == 1 and L.size > LAPACK_FROM:
            from scipy.linalg.lapack import dtrtri

            return np.asarray(dtrtri(L[0], lower=1)[0])[None]
        return np.asarray(np.linalg.inv(L))
    except np.linalg.LinAlgError:
        return None
