"""Gauss's principle as a quadratic program (S0 19): minimise ½(q̈ − a)ᵀM(q̈ − a) subject to A q̈ = b.

All accelerations that obey the constraints are q̈ = A⁻b + Zh (S0 20, with Z spanning the null space of A);
the best h makes the gradient vanish: ZᵀMZ h = Zᵀ(Q − MA⁻b).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.formulations.inputs import Scaled
from zwang.linalg.factors import dot, dot_t, solve_each
from zwang.linalg.inverses import moore_penrose
from zwang.linalg.rank import row_norms


def acceleration(M: Array, Q: Array, A: Array, b: Array, rank: int) -> Array:
    """q̈ of a stack of systems of one rank."""
    scale = row_norms(A)
    A, b = A / scale[:, :, None], b / scale
    particular = dot(moore_penrose(A, rank), b)
    Z = null_basis(A, rank)
    h = solve_each(Z.swapaxes(1, 2) @ M @ Z, dot_t(Z, Q - dot(M, particular)))
    return particular + dot(Z, h)


def solve(given: Scaled) -> Array:
    """q̈ by this form from the arguments that `formulations.solve` hands to every form."""
    return acceleration(given.M, given.Q, given.A, given.b, given.rank) / given.D


def null_basis(A: Array, rank: int) -> Array:
    """An orthonormal basis (k, n, n − r) of the null space of each A."""
    if A.shape[1] == 0:
        return np.tile(np.eye(A.shape[2]), (len(A), 1, 1))
    return np.asarray(np.linalg.svd(A, full_matrices=True)[2].swapaxes(1, 2)[:, :, rank:])


def exact(M: Any, Q: Any, A: Any, b: Any, rows: Sequence[int]) -> Any:
    """q̈ as a SymPy matrix: the minimiser of the Gaussian over the accelerations that obey the constraints."""
    from zwang.linalg import exact as algebra

    G, h = A.extract(list(rows), list(range(A.cols))), b.extract(list(rows), [0])
    particular = G.T * algebra.solve(G * G.T, h)
    Z = algebra.null_space(A, rows)
    return particular + Z * algebra.solve(Z.T * M * Z, Z.T * (Q - M * particular))
