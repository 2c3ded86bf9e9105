"""The fundamental equation of Udwadia and Kalaba (S4 5a–c; with nonideal constraints S1 33).

M q̈ = Q + K(b − AM⁻¹Q),  K = M^{1/2}(AM^{-1/2})⁺ = Aᵀ(AM⁻¹Aᵀ)⁺,  at any rank of A.
A nonideal C enters as a given force would: Q stands for Q + C in this file.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.errors import MassError
from zwang.linalg.factors import dot, solve_each
from zwang.linalg.inverses import moore_penrose
from zwang.linalg.rank import row_norms


def literal(M: Array, Q: Array, A: Array, b: Array, rank: int) -> Array:
    """S4 (5a) as it is printed, with M^{1/2}, for stacks: a cross-check, less accurate than the default."""
    scale = row_norms(A)  # scaling rows changes nothing, and keeps small rows from being lost
    A, b = A / scale[:, :, None], b / scale
    half, minus_half = square_roots(M)
    a = solve_each(M, Q)
    K = half @ moore_penrose(A @ minus_half, rank)
    return solve_each(M, Q + dot(K, b - dot(A, a)))


def square_roots(M: Array) -> tuple[Array, Array]:
    """M^{1/2} and M^{-1/2} of a stack of symmetric positive definite matrices."""
    w, V = np.linalg.eigh(M)
    if not (w > 0).all():
        raise MassError(
            "M has no root in double precision: it is singular, or its masses are too different; use form "
            "'fundamental', and units in which they are not"
        )
    root = np.sqrt(w)[:, None, :]
    return np.asarray((V * root) @ V.swapaxes(1, 2)), np.asarray((V / root) @ V.swapaxes(1, 2))


def exact(M: Any, Q: Any, A: Any, b: Any, rows: Sequence[int]) -> Any:
    """q̈ as a SymPy matrix, with A's independent rows given.

    On r independent rows G of A = FG the pseudo-inverse becomes an inverse:
    Aᵀ(AM⁻¹Aᵀ)⁺(b − Aa) = Gᵀ(GM⁻¹Gᵀ)⁻¹(b_G − Ga).
    """
    from zwang.linalg.exact import solve

    G, h = A.extract(list(rows), list(range(A.cols))), b.extract(list(rows), [0])
    a = solve(M, Q)
    MiGt = solve(M, G.T)
    return a + MiGt * solve(G * MiGt, h - G * a)
