"""The explicit Gibbs–Appell equations (S2 25–27; S3 18 for a diagonal M, S3 37 for a full one).

Eliminate r coordinates whose columns A_e of A are independent: q̈_e = A_e⁺b − R q̈_I, R = A_e⁺A_I. Then

(M_II + RᵀM_eeR − M_IeR − RᵀM_eI) q̈_I = Q_I − RᵀQ_e + (RᵀM_ee − M_Ie) A_e⁺b.
"""

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from zwang.arrays import Array, Indices
from zwang.errors import InputError
from zwang.formulations.inputs import Scaled
from zwang.linalg.factors import dot, dot_t, solve_each
from zwang.linalg.inverses import moore_penrose
from zwang.linalg.rank import pivoted_rows, rank_tolerance, row_norms, take, take_rows


def acceleration(M: Array, Q: Array, A: Array, b: Array, rank: int, eliminate: Sequence[int] | None = None) -> Array:
    """q̈ of a stack of systems of one rank; `eliminate` names the r eliminated coordinates by index."""
    k, _, n = A.shape
    scale = row_norms(A)
    A, b = A / scale[:, :, None], b / scale
    order = column_order(A, rank, eliminate)
    A = take_rows(A.swapaxes(1, 2), order).swapaxes(1, 2)
    M = take_rows(take_rows(M, order).swapaxes(1, 2), order)
    Q = take(Q, order)
    e, i = slice(0, rank), slice(rank, n)
    Ae_plus = moore_penrose(A[:, :, e], rank)
    R = Ae_plus @ A[:, :, i]
    Rt = R.swapaxes(1, 2)
    fixed = dot(Ae_plus, b)
    hessian = M[:, i, i] + Rt @ M[:, e, e] @ R - M[:, i, e] @ R - Rt @ M[:, e, i]
    right = Q[:, i] - dot_t(R, Q[:, e]) + dot(Rt @ M[:, e, e] - M[:, i, e], fixed)
    independent = solve_each(hessian, right)
    permuted = np.concatenate([fixed - dot(R, independent), independent], axis=1)
    result = np.empty((k, n))
    np.put_along_axis(result, order, permuted, axis=1)
    return result


def solve(given: Scaled, eliminate: Sequence[int] | None = None) -> Array:
    """q̈ by this form from the arguments that `formulations.solve` hands to every form."""
    return acceleration(given.M, given.Q, given.A, given.b, given.rank, eliminate) / given.D


def column_order(A: Array, rank: int, eliminate: Sequence[int] | None) -> Indices:
    """The coordinates of each system, the eliminated ones first."""
    k, m, n = A.shape
    if eliminate is None:
        return pivoted_rows(A.swapaxes(1, 2), rank)[0]
    chosen = as_indices(eliminate, n, rank)
    _, pivots = pivoted_rows(A[:, :, chosen].swapaxes(1, 2), rank)
    if (pivots <= rank_tolerance(m, n)).any():
        raise InputError(
            f"eliminate={chosen}: these columns of A are dependent, so the coordinates cannot be eliminated"
        )
    return np.tile([*chosen, *(j for j in range(n) if j not in chosen)], (k, 1))


def as_indices(eliminate: Any, n: int, rank: int) -> list[int]:
    """The coordinates to eliminate, or a refusal."""
    try:
        chosen = [int(index(j)) for j in eliminate]
    except TypeError:
        chosen = []
    if len(set(chosen)) != rank or len(chosen) != rank or not all(0 <= j < n for j in chosen):
        raise InputError(
            f"eliminate={eliminate!r}: name {rank} different coordinates out of 0 … {n - 1} (the rank is {rank})"
        )
    return chosen


def exact_parts(M: Any, Q: Any, A: Any, b: Any, eliminate: Sequence[int]) -> tuple[Any, Any, Any, Any]:
    """R, A_e⁺b, and the matrix and right-hand side of the equation for q̈_I, as SymPy matrices (S3 37).

    All rows of A take part, A_e⁺ = (A_eᵀA_e)⁻¹A_eᵀ, as in the papers' worked examples.
    """
    from zwang.linalg import exact as algebra

    e, i = list(eliminate), [j for j in range(A.cols) if j not in set(eliminate)]
    every = list(range(A.rows))
    Ae, Ai = A.extract(every, e), A.extract(every, i)
    R, fixed = algebra.solve(Ae.T * Ae, Ae.T * Ai), algebra.solve(Ae.T * Ae, Ae.T * b)
    Mee, Mie, Mii = M.extract(e, e), M.extract(i, e), M.extract(i, i)
    hessian = Mii + R.T * Mee * R - Mie * R - R.T * Mie.T
    right = Q.extract(i, [0]) - R.T * Q.extract(e, [0]) + (R.T * Mee - Mie) * fixed
    return R, fixed, hessian, right


def exact(M: Any, Q: Any, A: Any, b: Any, rows: Sequence[int], eliminate: Sequence[int] | None = None) -> Any:
    """q̈ as a SymPy matrix; `eliminate` names the r eliminated coordinates by index."""
    import sympy as sp

    from zwang.linalg import exact as algebra

    G = A.extract(list(rows), list(range(A.cols)))
    if eliminate is None:
        eliminate = algebra.independent_rows(G.T)
    chosen = as_indices(eliminate, A.cols, len(rows))
    if len(algebra.independent_rows(G.extract(list(range(G.rows)), chosen).T)) != len(rows):
        raise InputError(f"eliminate={chosen}: name {len(rows)} coordinates whose columns of A are independent")
    R, fixed, hessian, right = exact_parts(M, Q, A, b, chosen)
    independent = algebra.solve(hessian, right)
    result = sp.zeros(A.cols, 1)
    for k, j in enumerate(j for j in range(A.cols) if j not in chosen):
        result[j] = independent[k]
    for j, value in zip(chosen, fixed - R * independent, strict=True):
        result[j] = value
    return result


def diagonal_hessian(M: Any, R: Any, eliminate: Sequence[int]) -> Any:
    """M_II + RᵀM_eeR, S2 (25) and S3 (18): for a diagonal M only, and refused for any other."""
    if not M.is_diagonal():
        raise InputError("S3 (18) holds for a diagonal mass matrix only: use S3 (37), which has the coupling terms")
    e, i = list(eliminate), [j for j in range(M.rows) if j not in set(eliminate)]
    return M.extract(i, i) + R.T * M.extract(e, e) * R
