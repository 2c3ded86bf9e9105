"""The one rank tolerance, and the pivoted elimination that uses it. Stacks: leading axis first, everywhere."""

import numpy as np

from zwang.arrays import EPS, TINIEST, Array, Indices

# A dependent row of a redundant model is dependent only up to the rounding of its entries (a few eps, more
# after trigonometric functions); a linkage one part in a billion away from a singular position must still
# count as regular. 2^10 leaves room for the first and stays far from the second.
RANK_SLACK = 2.0**10

# Dependent rows whose right-hand sides differ by less than this, relative to the size of the terms that
# make them up, are taken to agree.
CONSISTENCY_TOL = float(np.sqrt(EPS))


def rank_tolerance(m: int, n: int) -> float:
    """The relative size below which a pivot of an m×n matrix with rows of unit length counts as zero.

    >>> rank_tolerance(3, 4) == 4 * RANK_SLACK * EPS
    True
    """
    return RANK_SLACK * max(m, n, 1) * EPS


# Entries from which on a single matrix is left to LAPACK, which has no stacks.
LAPACK_FROM = 4000


def row_norms(X: Array) -> Array:
    """Lengths of the rows, 1 for zero rows, rounded to powers of two so that dividing by them is exact."""
    largest = np.abs(X).max(axis=-1, initial=0.0)
    largest = power_of_two(np.where(largest > 0, largest, 1.0))
    length = np.sqrt(np.einsum("...j,...j->...", X / largest[..., None], X / largest[..., None]))
    return largest * power_of_two(np.where(length > 0, length, 1.0))


def power_of_two(x: Array) -> Array:
    """The power of two nearest below positive numbers: scaling by it commits no rounding error."""
    return np.ldexp(0.5, np.frexp(x)[1])


def take(x: Array, index: Indices) -> Array:
    """Entries of vectors (k, m) by index (k, r)."""
    return np.take_along_axis(x, index, axis=1)


def take_rows(X: Array, index: Indices) -> Array:
    """Rows of matrices (k, m, n) by index (k, r)."""
    return np.take_along_axis(X, index[:, :, None], axis=1)


def pivoted_rows(X: Array, steps: int) -> tuple[Indices, Array]:
    """Order of the rows of each matrix by greatest remaining length, and those lengths (the pivots).

    Modified Gram–Schmidt with row pivoting on a stack (k, m, n), all matrices at once.

    >>> order, pivots = pivoted_rows(np.array([[[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]]), steps=2)
    >>> order[0].tolist(), pivots[0].tolist()
    ([1, 2, 0], [2.0, 1.0])
    """
    k, m, n = X.shape
    if k == 1 and m * n > LAPACK_FROM:
        from scipy.linalg import qr

        R, P = qr(X[0].T, mode="r", pivoting=True, check_finite=False)
        return P[None].astype(np.intp), np.abs(np.diagonal(R))[None, :steps]
    rest = X.copy()
    left = np.ones((k, m), dtype=bool)
    order, pivots = np.zeros((k, m), dtype=np.intp), np.zeros((k, steps))
    each = np.arange(k)
    for i in range(steps):
        length = np.where(left, np.einsum("kij,kij->ki", rest, rest), -1.0)
        best = length.argmax(axis=1)
        order[:, i], left[each, best] = best, False
        pivots[:, i] = np.sqrt(length[each, best])
        unit = rest[each, best] / np.where(pivots[:, i] > 0, pivots[:, i], 1.0)[:, None]
        rest -= (rest @ unit[:, :, None]) * unit[:, None, :]
    order[:, steps:] = np.nonzero(left)[1].reshape(k, m - steps)
    return order, pivots


def row_rank(A: Array, tolerance: float | None = None) -> Indices:
    """The rank of each matrix of a stack (k, m, n), judged on its rows scaled to unit length.

    The rank of A is the rank of AM^{-1/2}, and A is the one without the rounding errors of whitening, so
    the decision is made on A; with its columns in units of equal mass (`masses.mass_units`) where M is known, so
    that the user's units do not matter. Zero rows count for nothing.
    """
    k, m, n = A.shape
    if m == 0:
        return np.zeros(k, dtype=np.intp)
    tol = rank_tolerance(m, n) if tolerance is None else tolerance
    _, pivots = pivoted_rows(A / row_norms(A)[..., None], min(m, n))
    return np.asarray(np.count_nonzero(pivots > tol * np.maximum(pivots[:, :1], TINIEST), axis=1))


def rows_in_order(A: Array, tolerance: float | None = None) -> tuple[int, ...]:
    """Row by row, those of one matrix (m, n) that do not depend on earlier ones.

    >>> rows_in_order(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]))
    (0, 2)
    """
    m, n = A.shape
    tol = rank_tolerance(m, n) if tolerance is None else tolerance
    rest = A / row_norms(A)[:, None]
    chosen: list[int] = []
    for i in range(m):
        length = np.linalg.norm(rest[i])
        if length > tol and len(chosen) < n:
            unit = rest[i] / length
            rest[i + 1 :] -= np.outer(rest[i + 1 :] @ unit, unit)
            chosen.append(i)
    return tuple(chosen)
