"""Exact linear algebra on SymPy matrices: what the symbolic formulations need, and nothing approximate."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.polys.matrices import DomainMatrix

from zwang.errors import UndeterminedError
from zwang.linalg.rank import rows_in_order

# At random points exact dependences show as round-off and everything else as numbers of order one.
GENERIC_TOL = 1e-9


def regular(M: Any, G: Any) -> sp.ImmutableMatrix:
    """M if it is invertible, else M + GᵀG, which serves in its place: G q̈ is given, so q̈ does not change.

    (Udwadia–Wanichanon 2013.) If that is singular too, q̈ is undetermined.
    """
    n = M.rows
    if len(independent_rows(M)) == n:
        return M
    both = M + G.T * G
    rank = len(independent_rows(both))
    if rank < n:
        raise UndeterminedError(
            f"M is singular and the constraints do not make up for it, rank [M; A] = {rank} < {n}: the acceleration is "
            f"undetermined; give every direction inertia or a constraint"
        )
    return both


def solve(X: Any, Y: Any) -> sp.ImmutableMatrix:
    """X⁻¹Y in the field of rational functions, every entry in lowest terms.

    >>> from sympy.abc import a, b
    >>> solve(sp.Matrix([[a, 0], [0, b]]), sp.Matrix([a*b, b]))
    Matrix([
    [b],
    [1]])
    """
    if X.rows == 0:
        return sp.ImmutableMatrix(X.cols, Y.cols, [])
    if Y.cols == 0:
        return sp.ImmutableMatrix(X.rows, 0, [])
    left, right = DomainMatrix.from_Matrix(X).to_field().unify(DomainMatrix.from_Matrix(Y).to_field(), fmt="sparse")
    return sp.ImmutableMatrix(left.to_field().lu_solve(right.to_field()).to_Matrix())


def inverse(X: Any) -> sp.ImmutableMatrix:
    """X⁻¹ in lowest terms."""
    return solve(X, sp.eye(X.rows))


def simple(matrix: Any) -> sp.ImmutableMatrix:
    """A matrix as a person would write it: each entry simplified as far as its size allows."""

    def tidy(entry: sp.Expr) -> sp.Expr:
        if 400 < sp.count_ops(entry) <= 4000:
            entry = sp.cancel(entry)
        return sp.signsimp(sp.simplify(entry)) if sp.count_ops(entry) <= 400 else entry

    return sp.ImmutableMatrix(matrix.applyfunc(tidy))


def independent_rows(A: Any) -> tuple[int, ...]:
    """The earliest rows that span the row space of A at almost every point: A has this rank generically.

    Judged at random points; undefined functions and their derivatives count as independent symbols.

    >>> from sympy.abc import x, y
    >>> independent_rows(sp.Matrix([[x, y], [2*x, 2*y], [x, 0]]))
    (0, 2)
    """
    if 0 in A.shape:
        return ()
    chosen: tuple[int, ...] = ()
    for X in random_points(A, 3):
        # a complex row a + ib is dependent over the complex numbers where (a, b) is on earlier (a, b) and (−b, a)
        pairs = np.stack([np.hstack([X.real, X.imag]), np.hstack([-X.imag, X.real])], axis=1)
        found = rows_in_order(pairs.reshape(2 * A.rows, 2 * A.cols), GENERIC_TOL)
        chosen = max(chosen, tuple(i // 2 for i in found if i % 2 == 0), key=len)
    return chosen


def random_points(A: Any, count: int) -> list[np.ndarray[Any, np.dtype[np.complex128]]]:
    """A at random points, the same in every run; where a root makes it complex, that serves as well."""
    atoms = sorted(A.atoms(AppliedUndef, sp.Derivative, sp.Subs), key=lambda e: (-sp.count_ops(e), str(e)))
    for atom in atoms:
        A = A.xreplace({atom: sp.Dummy()})
    symbols = sorted(A.free_symbols, key=str)
    evaluate = sp.lambdify(symbols, A, "mpmath")
    draw = random.Random(52)
    points = []
    for _ in range(20 * count):
        values = [draw.uniform(0.4, 1.9) for _ in symbols]
        try:
            point = np.array(evaluate(*values).tolist(), dtype=complex)
        except (ZeroDivisionError, ValueError, TypeError):
            continue
        if np.isfinite(point).all():
            points.append(point)
        if len(points) == count:
            break
    return points


def moore_penrose(A: Any, rows: Sequence[int]) -> sp.ImmutableMatrix:
    """A⁺ from a full-rank factorisation A = FG, where G are the given independent rows.

    A⁺ = Gᵀ(GGᵀ)⁻¹(FᵀF)⁻¹Fᵀ.

    >>> moore_penrose(sp.Matrix([[1, 1], [2, 2]]), [0])
    Matrix([
    [1/10, 1/5],
    [1/10, 1/5]])
    """
    if not rows:
        return sp.ImmutableMatrix.zeros(A.cols, A.rows)
    G = A.extract(list(rows), list(range(A.cols)))
    F = solve(G * G.T, G * A.T).T
    return sp.ImmutableMatrix(G.T * solve(G * G.T, solve(F.T * F, F.T)))


def null_space(A: Any, rows: Sequence[int]) -> sp.ImmutableMatrix:
    """A basis Z (n×(n−r)) of the null space of A, from its independent rows."""
    G = A.extract(list(rows), list(range(A.cols)))
    columns = independent_rows(G.T)
    rest = [j for j in range(A.cols) if j not in columns]
    Z = sp.zeros(A.cols, len(rest))
    R = solve(G.extract(list(range(G.rows)), list(columns)), G.extract(list(range(G.rows)), rest))
    for k, j in enumerate(rest):
        Z[j, k] = 1
        for i, column in enumerate(columns):
            Z[column, k] = -R[i, k]
    return sp.ImmutableMatrix(Z)


def factor(M: Any) -> sp.ImmutableMatrix:
    """Some X with XᵀX = M: entrywise roots of a diagonal M (then X = M^{1/2}), Cholesky's Lᵀ otherwise."""
    if M.is_diagonal():
        return sp.ImmutableMatrix(sp.diag(*[sp.sqrt(M[i, i]) for i in range(M.rows)]))
    return sp.ImmutableMatrix(M.cholesky(hermitian=False).T)
