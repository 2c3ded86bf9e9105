"""Equations of motion with a free choice of generalized inverse.

`"S0 29"`: q̈ = {D⁻ − P H⁻M^{1/2}D⁻} b + P H⁻M^{-1/2}Q,  D = A, P = I − D⁻D, H = M^{1/2}P,
           for any {1}-inverse D⁻ of A and any {1,3}-inverse H⁻ of H; with Moore–Penrose inverses S0 (30).
`"S3 24"`: q̈ = a + M^{-1/2}C^{(1,4)}(b − Aa),  C = AM^{-1/2}, for any {1,4}-inverse (S2 11).
`"S3 26"`: M q̈ = Q + Aᵀ(AM⁻¹Aᵀ)^{(1)}(b − Aa), for any {1}-inverse.

M^{1/2} may be replaced by any X with XᵀX = M (and M^{-1/2} by X⁻¹ on the right of A, X⁻ᵀ on the left of Q): arrays
use the symmetric root, SymPy matrices that are not diagonal use Cholesky's factor.

S3 (24) and (26) correct a = M⁻¹Q, which is as large as M is near a singular one; then they lose digits as the
condition of M to the powers 3/2 and 2. S0 (29) does not.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from zwang.arrays import Array, Indices
from zwang.errors import InputError
from zwang.formulations.fundamental import square_roots
from zwang.formulations.inputs import Scaled, as_array
from zwang.linalg.factors import dot
from zwang.linalg.inverses import moore_penrose, penrose_defects
from zwang.linalg.rank import row_norms

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
    if inverse is None:  # rows of one length: the inverses below then are members of the families for A itself
        scale = row_norms(A)
        A, b = A / scale[:, :, None], b / scale
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


def solve(given: Scaled, equation: str, inverse: Any) -> Array:
    """q̈ by this form from what `formulations.solve` hands to every form, with choices from `as_choice`."""
    own = pick(inverse, given.systems)
    if own is None:
        return acceleration(given.M, given.Q, given.A, given.b, given.rank, equation) / given.D
    D = given.D  # the inverses are those of M and A as they were given
    M, A = given.M * D[:, :, None] * D[:, None, :], given.A * D[:, None, :]
    return acceleration(M, given.force, A, given.b, given.rank, equation, own)


def require_equation(equation: str) -> None:
    """Refuse an unknown equation by name."""
    if equation not in EQUATIONS:
        raise InputError(f"equation={equation!r} is unknown: choose one of {', '.join(map(repr, EQUATIONS))}")


def as_choice(shape: tuple[int, ...], equation: str = "S0 29", inverse: Any = None) -> dict[str, Any]:
    """The choices of `solve`, checked: inverses as stacks with one leading axis for the leading axes `shape`."""
    require_equation(equation)
    if inverse is None:
        return {"equation": equation, "inverse": None}
    if equation != "S0 29":
        return {"equation": equation, "inverse": as_stack(inverse, shape)}
    if not isinstance(inverse, (tuple, list)) or len(inverse) != 2:
        raise InputError("inverse: S0 29 needs the pair (D⁻, H⁻); None in a place stands for the Moore–Penrose inverse")
    return {"equation": equation, "inverse": tuple(None if x is None else as_stack(x, shape) for x in inverse)}


def as_stack(inverse: Any, shape: tuple[int, ...]) -> Array:
    """An inverse for each system of a stack."""
    X = as_array(inverse, "inverse")
    try:
        return np.broadcast_to(X, (*shape, *X.shape[-2:])).reshape(int(np.prod(shape)), *X.shape[-2:])
    except ValueError:
        raise InputError(f"inverse has shape {X.shape}: matrices are needed, one or one for each of {shape}") from None


def pick(inverse: Any, systems: Indices) -> Any:
    """The inverses of some systems of a stack."""
    if isinstance(inverse, tuple):
        return tuple(None if x is None else x[systems] for x in inverse)
    return None if inverse is None else inverse[systems]


def admissible(X: Array, Y: Array, conditions: tuple[int, ...], name: str) -> Array:
    """Y, if it satisfies the Penrose conditions needed for X; refused by name otherwise."""
    shape = (X.shape[2], X.shape[1])
    if Y.shape[1:] != shape:
        raise InputError(f"inverse {name} has shape {Y.shape[1:]}, but {shape} is needed")
    failed = [c for c in conditions if penrose_defects(X, Y)[c - 1] > 1e-6]
    if failed:
        what = ",".join(map(str, conditions))
        raise InputError(
            f"inverse {name} is not a {{{what}}}-inverse: Penrose condition ({failed[0]}) fails; "
            f"make one with zwang.linalg.inverses"
        )
    return Y


def exact(M: Any, Q: Any, A: Any, b: Any, rows: Sequence[int], equation: str = "S0 29", inverse: Any = None) -> Any:
    """q̈ as a SymPy matrix; `equation` and `inverse` as for arrays.

    Where none is given, (HᵀH)^(1)Hᵀ serves as the {1,3}-inverse of H and Cᵀ(CCᵀ)⁺ as the {1,4}-inverse of C: in
    both the roots of M cancel.
    """
    import sympy as sp

    from zwang.linalg import exact as algebra

    require_equation(equation)
    n = A.cols
    if equation == "S0 29":
        D, H = inverse if inverse is not None else (None, None)
        D_inv = algebra.moore_penrose(A, rows) if D is None else exact_admissible(A, D, (1,), "D⁻")
        G = A.extract(list(rows), list(range(n)))
        P = sp.eye(n) - (algebra.moore_penrose(G, range(G.rows)) * G if D is None else D_inv * A)  # A⁺A = G⁺G
        free = D_inv * b
        if H is None:
            HtH = P.T * M * P
            some = list(algebra.independent_rows(HtH))  # (HᵀH)^(1): the inverse of a regular block, zero elsewhere
            P = P.extract(list(range(n)), some)
            return free + P * algebra.solve(HtH.extract(some, some), P.T * (Q - M * free))
        X = algebra.factor(M)  # M = XᵀX
        return free + P * exact_admissible(X * P, H, (1, 3), "H⁻") * (algebra.solve(X.T, Q) - X * free)
    a = algebra.solve(M, Q)
    if equation == "S3 24" and inverse is not None:
        X = algebra.factor(M)
        C = algebra.solve(X.T, A.T).T  # AX⁻¹
        return a + algebra.solve(X, exact_admissible(C, inverse, (1, 4), "C^(1,4)") * (b - A * a))
    MiAt = algebra.solve(M, A.T)
    G = A * MiAt
    G_inv = algebra.moore_penrose(G, rows) if inverse is None else exact_admissible(G, inverse, (1,), "(AM⁻¹Aᵀ)^(1)")
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
            raise InputError(f"inverse {name} is not a {{{what}}}-inverse: Penrose condition ({c}) fails")
    return Y
