"""How the rows of A depend on each other: A = X G with G independent rows, judged on A and not on its whitened form.

Multipliers of redundant rows are a family λ + null(Aᵀ), and null(Aᵀ) = null(Xᵀ). X is found to full precision, and
factored so that what belongs to a small row is not lost beside a large one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array, Indices
from zwang.linalg.exact_sum import halves, residual
from zwang.linalg.rank import pivoted_rows, rank_tolerance, row_norms, take, take_rows


@dataclass(frozen=True)
class Dependence:
    """A = X G for a stack of k matrices of rank r, G being r of the m rows of A."""

    X: Array
    """(k, m, r) how each row of A is made of the independent ones."""
    inverse: Array
    """X⁺ (k, r, m). Of all λ with Aᵀλ = Gᵀμ the shortest is X⁺ᵀμ."""
    null_space: Array
    """(k, m, m − r) an orthonormal basis of null(Aᵀ)."""
    unique: NDArray[np.bool_]
    """(k, m) rows that take part in no dependence: their multipliers are unique, their rows of `null_space` zero."""


def dependence(A: Array, order: Indices, rank: int, tolerance: float) -> Dependence:
    """How the rows of each A (k, m, n) depend on the first `rank` rows of its `order`.

    Row i takes part in row d if d without i's share is farther than `tolerance` from the other independent rows, all
    rows taken at unit length: the same measure by which rows count as independent at all.
    """
    k, m, _ = A.shape
    scale = row_norms(A)
    unit = A / scale[:, :, None]
    rows, others = order[:, :rank], order[:, rank:]
    c = coefficients(take_rows(unit, rows), take_rows(unit, others), tolerance)

    X = np.zeros((k, m, rank))
    np.put_along_axis(X, rows[:, :, None], np.broadcast_to(np.eye(rank), (k, rank, rank)), axis=1)
    np.put_along_axis(X, others[:, :, None], c, axis=1)
    X *= scale[:, :, None]
    unique = np.zeros((k, m), dtype=bool)
    np.put_along_axis(unique, rows, ~c.any(axis=1), axis=1)

    L, U, sorted_rows = complete_pivoting(X)

    def unsort(x: Array) -> Array:
        result = np.empty_like(x)
        np.put_along_axis(result, sorted_rows[:, :, None], x, axis=1)
        return result

    own = take(scale, rows)
    Q, R = np.linalg.qr(L)
    # X = LU: transposed, U is solved by mere substitution, for its pivots are the greatest of their rows
    inverse_t = Q @ np.linalg.solve(R.swapaxes(1, 2), np.linalg.solve(U.swapaxes(1, 2), np.eye(rank)))
    inverse = unsort(inverse_t).swapaxes(1, 2) * own[:, :, None]
    return Dependence(X / own[:, None, :], inverse, unsort(null_basis(L)), unique)


def coefficients(G: Array, rest: Array, tolerance: float) -> Array:
    """c (k, m − r, r) with rest = c G, rows of unit length; shares below the tolerance are set to zero."""
    if not rest.shape[1]:
        return np.zeros((len(G), 0, G.shape[1]))
    Q, R = np.linalg.qr(G.swapaxes(1, 2))
    inverse = Q @ np.linalg.inv(R).swapaxes(1, 2)  # G⁺
    exact = halves(G.swapaxes(1, 2))
    c = rest @ inverse
    for _ in range(2):  # residuals of twice the precision: rows that are nearly parallel lose no digits
        gap = [residual(rest[:, i], (exact, -c[:, i])) for i in range(rest.shape[1])]
        c += np.stack(gap, axis=1) @ inverse
    share = np.abs(c) / np.linalg.norm(inverse, axis=1)[:, None, :]
    return np.where(share > tolerance, c, 0.0)


def null_basis(L: Array) -> Array:
    """An orthonormal basis (k, m, m − r) of null(Lᵀ) for L (k, m, r) unit lower trapezoidal with entries up to 1."""
    k, m, r = L.shape
    top = -np.linalg.solve(L[:, :r].swapaxes(1, 2), L[:, r:].swapaxes(1, 2))
    basis = np.concatenate([top, np.tile(np.eye(m - r), (k, 1, 1))], axis=1)
    return np.asarray(basis @ np.linalg.inv(np.linalg.qr(basis, mode="r")))


def complete_pivoting(X: Array) -> tuple[Array, Array, Indices]:
    """L, U and the row order of a stack (k, m, r) of full column rank: row order[i] of X is row i of LU.

    Gaussian elimination with complete pivoting. Columns stay where they are, so U is triangular up to their order.
    What is left of a row counts as zero where it is rounding of the row itself, so that the rounding of a large row is
    never taken for a pivot before a small row.

    >>> L, U, order = complete_pivoting(np.array([[[1.0], [4.0]]]))
    >>> L[0].tolist(), U[0].tolist(), order[0].tolist()
    ([[1.0], [0.25]], [[4.0]], [1, 0])
    """
    X = X.copy()
    k, m, r = X.shape
    L, U = np.zeros((k, m, r)), np.zeros((k, r, r))
    order = np.tile(np.arange(m), (k, 1))
    each = np.arange(k)
    rounding = rank_tolerance(m, r) * np.abs(X).max(axis=2, initial=0.0)
    for i in range(r):
        best = np.argmax(np.abs(X[:, i:]).reshape(k, -1), axis=1)
        row, column = i + best // r, best % r
        for x in (X, L, order, rounding):
            x[each, i], x[each, row] = x[each, row], x[each, i].copy()
        U[:, i] = X[:, i]
        L[:, i, i] = 1.0
        L[:, i + 1 :, i] = X[each, i + 1 :, column] / X[each, i, column][:, None]
        X[:, i + 1 :] -= L[:, i + 1 :, i, None] * U[:, None, i]
        X[each, i + 1 :, column] = 0.0
        X[np.abs(X) <= rounding[:, :, None]] = 0.0
    return L, U, order


def shortest(A: Array, rank: int, multipliers: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The shortest λ (k, m) with the same Aᵀλ as some others, for rows of a rank that is known; and which are unique.

    Of A = XG only X is needed: Aᵀλ = GᵀXᵀλ.

    >>> shortest(np.array([[[1.0, 0.0], [2.0, 0.0]]]), 1, np.array([[5.0, 0.0]]))[0].round(12).tolist()
    [[1.0, 2.0]]
    """
    k, m, n = A.shape
    order, _ = pivoted_rows(A / row_norms(A)[:, :, None], rank)
    family = dependence(A, order, rank, rank_tolerance(m, n))
    own = np.einsum("kmr,km->kr", family.X, multipliers)
    direct = np.zeros((k, m))
    np.put_along_axis(direct, order[:, :rank], own, axis=1)
    return np.where(family.unique, direct, np.einsum("krm,kr->km", family.inverse, own)), family.unique
