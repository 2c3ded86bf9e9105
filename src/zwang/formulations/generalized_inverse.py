"""Equations of motion with a free choice of generalized inverse.

`"S0 29"`: q̈ = {D⁻ − P H⁻M^{1/2}D⁻} b + P H⁻M^{-1/2}Q,  D = A, P = I − D⁻D, H = M^{1/2}P,
           for any {1}-inverse D⁻ of A and any {1,3}-inverse H⁻ of H; with Moore–Penrose inverses S0 (30).
`"S3 24"`: q̈ = a + M^{-1/2}C^{(1,4)}(b − Aa),  C = AM^{-1/2}, for any {1,4}-inverse (S2 11).
`"S3 26"`: M q̈ = Q + Aᵀ(AM⁻¹Aᵀ)^{(1)}(b − Aa), for any {1}-inverse.

M^{1/2} may be replaced by any X with XᵀX = M (and M^{-1/2} by X⁻¹ on the right of A, X⁻ᵀ on the left of Q): arrays
use the symmetric root, SymPy matrices that are not diagonal use Cholesky's factor.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from zwang.errors import InputError
from zwang.formulations.fundamental import square_roots
from zwang.linalg.factors import dot
from zwang.linalg.inverses import moore_penrose, penrose_defects
from zwang.linalg.rank import Array

EQUATIONS = ("S0 29", "S3 24", "S3 26")


def acceleration(
    M: Array, Q: Array, A: Array, b: Array, rank: int, equation: str = "S0 29", inverse: Any = None
) -> Array:
    """q̈ of a stack of systems of one rank.

    `inverse` replaces the Moore–Penrose member: the pair (D⁻, H⁻) for S0 29, one array otherwise; each is
    checked against the Penrose conditions that its equation needs.
    """
    require_equation(equation)
    n = A.shape[2]
    half, minus_half = square_roots(M)
    if equation == "S0 29":
        D, H = inverse if inverse is not None else (None, None)
        D_inv = moore_penrose(A, rank) if D is None else admissible(A, D, (1,), "D⁻")
        P = np.eye(n) - D_inv @ A
        H_inv = moore_penrose(half @ P, n - rank) if H is None else admissible(half @ P, H, (1, 3), "H⁻")
        free = dot(D_inv, b)
        return free + dot(P @ H_inv, dot(minus_half, Q) - dot(half, free))
    a = dot(minus_half, dot(minus_half, Q))
    if equation == "S3 24":
        C = A @ minus_half
        C_inv = moore_penrose(C, rank) if inverse is None else admissible(C, inverse, (1, 4), "C^(1,4)")
        return a + dot(minus_half, dot(C_inv, b - dot(A, a)))
    MiAt = minus_half @ (minus_half @ A.swapaxes(1, 2))
    G = A @ MiAt
    G_inv = moore_penrose(G, rank) if inverse is None else admissible(G, inverse, (1,), "(AM⁻¹Aᵀ)^(1)")
    return a + dot(MiAt, dot(G_inv, b - dot(A, a)))


def require_equation(equation: str) -> None:
    """Refuse an unknown equation by name."""
    if equation not in EQUATIONS:
        raise InputError(f"equation={equation!r} is unknown: choose one of {', '.join(map(repr, EQUATIONS))}")


def admissible(X: Array, Y: Any, conditions: tuple[int, ...], name: str) -> Array:
    """Y as a stack fitting X, if it satisfies the Penrose conditions needed; refused by name otherwise."""
    Y = np.asarray(Y, dtype=float)
    shape = (X.shape[2], X.shape[1])
    if Y.shape[-2:] != shape:
        raise InputError(f"inverse {name} has shape {Y.shape[-2:]}, but {shape} is needed")
    Y = np.broadcast_to(Y, (len(X), *shape))
    failed = [c for c in conditions if penrose_defects(X, Y)[c - 1] > 1e-6]
    if failed:
        what = ",".join(map(str, conditions))
        raise InputError(f"inverse {name} is no {{{what}}}-inverse: Penrose condition ({failed[0]}) fails")
    return Y


def exact(M: Any, Q: Any, A: Any, b: Any, rows: Sequence[int], equation: str = "S0 29", inverse: Any = None) -> Any:
    """q̈ as a SymPy matrix; `equation` and `inverse` as for arrays."""
    import sympy as sp

    from zwang.linalg.exact import factor, independent_rows, solve
    from zwang.linalg.exact import moore_penrose as pseudo_inverse

    require_equation(equation)
    n = A.cols
    X = factor(M)  # M = XᵀX
    if equation == "S0 29":
        D, H = inverse if inverse is not None else (None, None)
        D_inv = pseudo_inverse(A, rows) if D is None else exact_admissible(A, D, (1,), "D⁻")
        P = sp.eye(n) - D_inv * A
        XP = X * P
        H_inv = pseudo_inverse(XP, independent_rows(XP)) if H is None else exact_admissible(XP, H, (1, 3), "H⁻")
        free = D_inv * b
        return free + P * H_inv * (solve(X.T, Q) - X * free)
    a = solve(M, Q)
    if equation == "S3 24":
        C = solve(X.T, A.T).T  # AX⁻¹
        C_inv = pseudo_inverse(C, rows) if inverse is None else exact_admissible(C, inverse, (1, 4), "C^(1,4)")
        return a + solve(X, C_inv * (b - A * a))
    MiAt = solve(M, A.T)
    G = A * MiAt
    G_inv = pseudo_inverse(G, rows) if inverse is None else exact_admissible(G, inverse, (1,), "(AM⁻¹Aᵀ)^(1)")
    return a + MiAt * G_inv * (b - A * a)


def exact_admissible(X: Any, Y: Any, conditions: tuple[int, ...], name: str) -> Any:
    """Y as a SymPy matrix, if it satisfies the Penrose conditions needed for X; refused by name otherwise."""
    import sympy as sp

    Y = sp.ImmutableMatrix(Y)
    if Y.shape != (X.cols, X.rows):
        raise InputError(f"inverse {name} has shape {Y.shape}, but {(X.cols, X.rows)} is needed")
    XY, YX = X * Y, Y * X
    defects = {1: XY * X - X, 3: XY - XY.T, 4: YX - YX.T}
    for c in conditions:
        if not sp.simplify(defects[c]).is_zero_matrix:
            what = ",".join(map(str, conditions))
            raise InputError(f"inverse {name} is no {{{what}}}-inverse: Penrose condition ({c}) fails")
    return Y
