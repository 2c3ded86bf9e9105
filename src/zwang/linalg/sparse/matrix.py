"""Sparse matrices as SciPy has them: lengths of rows, symmetric factors, and the smallest eigenvalue of these."""

from typing import Any

import numpy as np

from zwang.arrays import Array, Indices
from zwang.linalg.rank import power_of_two

Sparse = Any
"""A `scipy.sparse.csr_array`; SciPy has no types."""

# Turns of inverse iteration: with so many a random vector tells the smallest eigenvalue of some ten thousand to a
# factor of two (Kuczyński and Woźniakowski 1992).
INVERSE_TURNS = 16

# Right-hand sides that are solved for at once. With many, BLAS shares the small blocks of sparse factors among threads,
# which wait for each other longer than they reckon: on a busy machine ten times as long.
COLUMNS_AT_ONCE = 8


def sparse(entries: Array, rows: Indices, columns: Indices, shape: tuple[int, int]) -> Sparse:
    """A matrix from its entries; those at one place are added."""
    from scipy.sparse import coo_array

    return coo_array((entries, (rows, columns)), shape=shape).tocsr()


def is_sparse(X: Any) -> bool:
    """Whether a matrix is sparse."""
    return not isinstance(X, np.ndarray)


def diagonal_of(X: Any) -> Array:
    """The diagonal of one matrix or, of dense ones, of a stack."""
    return np.asarray(X.diagonal() if is_sparse(X) else np.einsum("...ii->...i", X))


def largest_in_rows(X: Sparse) -> Array:
    """(m,) the largest size of an entry of each row."""
    return np.asarray(abs(X).max(axis=1).toarray()).ravel() if X.shape[1] else np.zeros(X.shape[0])


def row_norms(X: Sparse) -> Array:
    """Lengths of rows as powers of two, 1 for zero rows, as `rank.row_norms` has them."""
    largest = largest_in_rows(X)
    largest = power_of_two(np.where(largest > 0, largest, 1.0))
    unit = scaled(X, rows=largest)
    length = np.sqrt(np.asarray((unit * unit).sum(axis=1)))
    return np.asarray(largest * power_of_two(np.where(length > 0, length, 1.0)))


def scaled(X: Sparse, rows: Array | None = None, columns: Array | None = None) -> Sparse:
    """X with its rows and columns divided by these."""
    X = X.copy()
    if rows is not None:
        X.data = X.data / np.repeat(rows, np.diff(X.indptr))
    if columns is not None:
        X.data = X.data / columns[X.indices]
    return X


def plus_diagonal(X: Sparse, diagonal: Array | float) -> Sparse:
    """X + diag."""
    from scipy.sparse import diags_array

    return X + diags_array(np.broadcast_to(np.asarray(diagonal, dtype=float), X.shape[0])).tocsr()


def symmetric_factors(X: Sparse) -> Any:
    """The factors of a symmetric matrix with all pivots on its diagonal, in an order that keeps them sparse.

    None where a pivot is exactly zero.
    """
    from scipy.sparse.linalg import splu

    try:
        return splu(X.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:
        return None


def solve_columns(factors: Any, right: Array) -> Array:
    """The solutions (n, k) for many right-hand sides (n, k), by some at a time.

    >>> X = sparse(np.array([2.0, 4.0]), np.arange(2), np.arange(2), (2, 2))
    >>> solve_columns(symmetric_factors(X), np.array([[2.0, 6.0], [4.0, 8.0]])).tolist()
    [[1.0, 3.0], [1.0, 2.0]]
    """
    right = np.asfortranarray(right)
    found = np.empty(right.shape, order="F")
    for begin in range(0, right.shape[1], COLUMNS_AT_ONCE):
        part = slice(begin, begin + COLUMNS_AT_ONCE)
        found[:, part] = factors.solve(right[:, part])
    return found


def pivots_of(factors: Any) -> Array:
    """(n,) the pivot of each row and column."""
    return np.asarray(factors.U.diagonal()[factors.perm_c])


def smallest_eigenvalue(factors: Any, n: int) -> tuple[float, Array]:
    """Of a positive definite matrix the smallest eigenvalue, up to a factor of about two, and its vector."""
    x = np.random.default_rng(1829).standard_normal(n)
    value = np.inf
    for _ in range(INVERSE_TURNS):
        x = x / np.linalg.norm(x)
        y = factors.solve(x)
        size = float(np.linalg.norm(y))
        if not np.isfinite(size) or size == 0:
            return 0.0, x
        value, x = 1 / size, y
    return value, x / np.linalg.norm(x)
