"""Lagrange's equations of the first kind (S2 30–31): M q̈ = Q + Aᵀλ together with A q̈ = b.

The multipliers are unknowns here, found with q̈ from one linear system; S2 appendix B shows that q̈ is unique
even where λ is not, so any independent rows with the same span serve.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from zwang.arrays import Array, Indices
from zwang.formulations.inputs import Scaled
from zwang.linalg.factors import solve_each
from zwang.linalg.rank import row_norms, take, take_rows


def acceleration(M: Array, Q: Array, A: Array, b: Array, rows: Indices) -> Array:
    """q̈ of a stack of systems, given r independent rows (k, r) of each A."""
    scale = row_norms(A)
    G, h = take_rows(A / scale[:, :, None], rows), take(b / scale, rows)
    basis, R = np.linalg.qr(G.swapaxes(1, 2))  # Gᵀ = basis·R: rows of one span, however near each other G's are
    h = solve_each(R.swapaxes(1, 2), h)
    k, r, n = G.shape
    size = np.abs(M).max(axis=(1, 2))[:, None, None]  # keeps both blocks of the matrix of one order
    matrix = np.zeros((k, n + r, n + r))
    matrix[:, :n, :n] = M / size
    matrix[:, :n, n:] = -basis
    matrix[:, n:, :n] = basis.swapaxes(1, 2)
    return solve_each(matrix, np.concatenate([Q / size[:, 0], h], axis=1))[:, :n]


def solve(given: Scaled) -> Array:
    """q̈ by this form from the arguments that `formulations.solve` hands to every form."""
    return acceleration(given.M, given.Q, given.A, given.b, given.rows) / given.D


def exact(M: Any, Q: Any, A: Any, b: Any, rows: Sequence[int]) -> Any:
    """q̈ as a SymPy matrix, eliminated from the linear system for q̈ and λ."""
    import sympy as sp

    from zwang.linalg import exact as algebra

    G, h = A.extract(list(rows), list(range(A.cols))), b.extract(list(rows), [0])
    n, r = A.cols, len(rows)
    matrix = sp.Matrix(sp.BlockMatrix([[M, -G.T], [G, sp.zeros(r, r)]])) if r else M
    return algebra.solve(matrix, sp.Matrix.vstack(sp.Matrix(Q), sp.Matrix(h)) if r else Q)[:n, :]
