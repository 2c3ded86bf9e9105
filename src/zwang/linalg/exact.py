"""Exact linear algebra on SymPy matrices: what the symbolic formulations need, and nothing approximate."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.polys.matrices import DomainMatrix

from zwang.errors import SizeError, UndeterminedError
from zwang.linalg.rank import rows_in_order
from zwang.time_limit import within
from zwang.waiting import waiting

# At random points exact dependences show as round-off and everything else as numbers of order one.
GENERIC_TOL = 1e-9

SECONDS = 8.0
"""Processor time that writing out one result may take."""

MOST_OPERATIONS = 1_000_000
"""Operations beyond which nobody can read or use a result."""

SHORT_FORMULA = 200
"""Operations up to which nobody asks whether another way would have been shorter."""


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


def plain_solve(X: Any, Y: Any) -> sp.ImmutableMatrix:
    """X⁻¹Y by the LU decomposition, nothing cancelled and nothing put in order."""
    return sp.ImmutableMatrix(sp.Matrix(X).LUsolve(sp.Matrix(Y)))


@waiting("writing out in symbols")
def in_time(*ways: Callable[[], sp.ImmutableMatrix]) -> sp.ImmutableMatrix:
    """The result of the first way that comes to an end within `SECONDS`; if it is long, the shorter one of the next."""
    best, least = None, MOST_OPERATIONS + 1
    for way in ways:
        if least <= SHORT_FORMULA:
            break
        found = within(SECONDS, way)
        if found is not None and operations(found) < least:
            best, least = found, operations(found)
    if best is None:
        raise SizeError(
            "written out in symbols this is too long: put numbers in for parameters, or go on with numbers "
            "(zwang.evaluate, zwang.simulate)"
        )
    return best


def operations(matrix: Any) -> int:
    """How many operations the entries have as written, each part that occurs again looked at once.

    (`sympy.count_ops` walks through every occurrence: after an LU decomposition that takes for ever.)

    >>> x = sp.Symbol("x")
    >>> operations(sp.Matrix([[x*(x + 1), x + 1]]))
    3
    """
    known: dict[sp.Basic, int] = {}

    def count(entry: sp.Basic) -> int:
        if not entry.args:
            return 0
        if entry not in known:
            own = len(entry.args) - 1 if isinstance(entry, sp.Add | sp.Mul) else 1
            known[entry] = own + sum(map(count, entry.args))
        return known[entry]

    return sum(map(count, matrix))


def inverse(X: Any) -> sp.ImmutableMatrix:
    """X⁻¹ in lowest terms."""
    return solve(X, sp.eye(X.rows))


def simple(matrix: Any, seconds: float = SECONDS) -> sp.ImmutableMatrix:
    """A matrix as a person would write it: each entry simplified as far as its size and the time allow."""
    entries = list(matrix)
    done: list[sp.Expr] = []

    def tidy() -> None:
        for entry in entries[len(done) :]:
            if 400 < operations([entry]) <= 4000:
                entry = sp.cancel(entry)
            done.append(sp.signsimp(sp.simplify(entry)) if operations([entry]) <= 400 else entry)

    within(seconds, tidy)
    return sp.ImmutableMatrix(matrix.rows, matrix.cols, done + entries[len(done) :])


def fractions(matrix: Any) -> sp.ImmutableMatrix:
    """A matrix with its decimal numbers as the fractions that they are written as: 9.81 is 981/100.

    One float among the coefficients makes a field of rational functions an approximate one, in which nothing cancels.

    >>> fractions(sp.Matrix([[0.5*sp.Symbol("x")]]))
    Matrix([[x/2]])
    """
    return sp.ImmutableMatrix(matrix.xreplace({number: fraction(number) for number in matrix.atoms(sp.Float)}))


def fraction(number: sp.Float) -> sp.Expr:
    """The shortest decimal number that is this float; what is infinite stays."""
    if not number.is_finite:
        return number
    return sp.Rational(repr(float(number)) if number._prec == 53 else str(number))


def decimals(matrix: Any) -> sp.ImmutableMatrix:
    """A matrix with its fractions as decimal numbers; exponents keep theirs, for √x is x^(1/2).

    >>> decimals(sp.Matrix([[sp.sqrt(sp.Symbol("x"))*sp.Rational(981, 100)]]))
    Matrix([[9.81*sqrt(x)]])
    """
    return sp.ImmutableMatrix(matrix.applyfunc(in_decimals))


def in_decimals(entry: sp.Expr) -> sp.Expr:
    """An expression with its fractions as decimal numbers."""
    if isinstance(entry, sp.Rational):
        return entry if entry.is_Integer else sp.Float(entry, 15)
    if entry.is_Atom or not entry.has(sp.Rational):
        return entry
    if isinstance(entry, sp.Pow):
        return sp.Pow(in_decimals(entry.base), entry.exp)
    return entry.func(*map(in_decimals, entry.args))


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
    A = A.replace(sp.DiracDelta, lambda *_: sp.S.Zero)  # slopes of signs and steps: zero but at single points
    atoms = sorted(A.atoms(AppliedUndef, sp.Derivative, sp.Subs), key=lambda e: (-sp.count_ops(e), str(e)))
    for atom in atoms:
        A = A.xreplace({atom: sp.Dummy()})
    named = sorted(A.free_symbols, key=str)
    symbols = [sp.Symbol(f"x{i}") for i in range(len(named))]  # `lambdify` would put these in one by one
    evaluate = at_points(symbols, A.xreplace(dict(zip(named, symbols, strict=True))))
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


def at_points(symbols: Sequence[sp.Symbol], what: Any) -> Callable[..., Any]:
    """Expressions as a function of numbers, at almost every point: what jumps has no impulse there."""
    found: Callable[..., Any] = sp.lambdify(symbols, what, [{"DiracDelta": lambda *_: 0}, "mpmath"])
    return found


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
