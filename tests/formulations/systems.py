"""Random systems whose redundancy is exact in floating point, and what is true of them to 60 digits.

A = X G: G holds r independent rows with short binary fractions, X holds the identity, small integers and
powers of two, in any order. Every product below is exact in float64, so b = A x is consistent to the last
bit, the rank is r, and the dependences are those of X. The reference uses M, Q, G, b, C and X only.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sp

DIGITS = 60
FAMILIES = ("plain", "mass 1e8", "rows 1e8", "graded masses", "row scales")


@dataclass(frozen=True)
class System:
    """One system M q̈ = Q + Aᵀλ + C, A q̈ = b with A = X G."""

    M: np.ndarray
    Q: np.ndarray
    A: np.ndarray
    b: np.ndarray
    C: np.ndarray
    G: np.ndarray
    X: np.ndarray

    @property
    def rank(self) -> int:
        return len(self.G)

    @property
    def given(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.M, self.Q, self.A, self.b


@dataclass(frozen=True)
class Truth:
    """What a system does, computed with 60 digits and rounded once."""

    acceleration: np.ndarray
    free_acceleration: np.ndarray
    constraint_force: np.ndarray
    ideal_force: np.ndarray
    multipliers: np.ndarray
    weighted_inverse: np.ndarray
    gaussian: float


def random_system(seed: int, n: int, m: int, rank: int, family: str = "plain", nonideal: bool = False) -> System:
    """A system of n coordinates and m rows of which `rank` are independent."""
    draw = np.random.default_rng(seed)
    G = independent_rows(draw, n, rank, close=family == "rows 1e8")
    X = np.zeros((m, rank))
    X[:rank] = np.eye(rank)
    X[rank:] = draw.integers(-2, 3, size=(m - rank, rank)) * (draw.random((m - rank, rank)) < 0.5)
    X = X[draw.permutation(m)]
    if family == "row scales":
        X = X * 2.0 ** draw.integers(-40, 41, size=(m, 1))
    A = exact_product(X, G)
    b = exact_product(A, draw.integers(-16, 17, size=n) / 4)
    M = random_mass(draw, n, family)
    size = np.sqrt(np.diag(M)) if family == "graded masses" else 1.0
    Q = draw.normal(size=n) * size
    C = draw.normal(size=n) * size if nonideal else np.zeros(n)
    return System(M, Q, A, b, C, G, X)


def independent_rows(draw: np.random.Generator, n: int, rank: int, close: bool) -> np.ndarray:
    """Independent rows; where they are `close`, all but the first differ from it by about 2⁻²⁷."""
    while True:
        G = draw.integers(-8, 9, size=(rank, n)).astype(float)
        if close and rank > 1:
            G[1:] = G[0] + 2.0**-27 * G[1:]
        if exact_rank(G) == rank and (rank == 0 or condition(G / np.linalg.norm(G, axis=1)[:, None]) < 2e9):
            return G


def condition(X: np.ndarray) -> float:
    """The ratio of the greatest and the least singular value."""
    values = np.linalg.svd(X, compute_uv=False)
    return float(values[0] / values[-1])


def random_mass(draw: np.random.Generator, n: int, family: str) -> np.ndarray:
    """A symmetric positive definite matrix, condition 1e8 or masses graded over 1e12 where the family says so."""
    V = np.linalg.qr(draw.normal(size=(n, n)))[0]
    largest = 1e8 if family == "mass 1e8" else 10.0
    w = np.geomspace(1, largest, n) if n > 1 else np.ones(1)
    M = (V * w) @ V.T
    if family == "graded masses":
        D = 10.0 ** np.linspace(-3, 3, n)[draw.permutation(n)]
        M = M * D[:, None] * D
    return (M + M.T) / 2


def exact_product(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """X Y, checked to be free of rounding."""
    product = X @ Y
    fractions = np.frompyfunc(Fraction, 1, 1)
    if X.size and Y.size:
        assert (fractions(X).dot(fractions(Y)) == fractions(product)).all()
    return product


def exact_rank(A: np.ndarray) -> int:
    """The rank in rational arithmetic."""
    rows = [[Fraction(x) for x in row] for row in A]
    rank = 0
    for j in range(A.shape[1]):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][j]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            if rows[i][j]:
                factor = rows[i][j] / rows[rank][j]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


def exact_unique(X: np.ndarray) -> np.ndarray:
    """Which multipliers are unique, in rational arithmetic: taking row j away lowers the rank."""
    rank = exact_rank(X)
    return np.array([exact_rank(np.delete(X, j, axis=0)) < rank for j in range(len(X))], dtype=bool)


def truth(system: System) -> Truth:
    """Everything from a full-rank factorisation, with 60 digits."""
    with mp.workdps(DIGITS):
        M, Q, C = mp.matrix(system.M), mp.matrix(system.Q), mp.matrix(system.C)
        n, m, r = len(system.Q), len(system.b), system.rank
        inverse = M**-1
        a, f = inverse * Q, inverse * (Q + C)
        if r == 0:
            zero = np.zeros(n)
            c = rounded(C)
            return Truth(
                rounded(f), rounded(a), c, zero, np.zeros(m), np.zeros((n, m)), float((C.T * inverse * C)[0]) / 2
            )
        G, X = mp.matrix(system.G), mp.matrix(system.X)
        XtX = X.T * X
        h = mp.lu_solve(XtX, X.T * mp.matrix(system.b))  # G q̈ = h
        MiGt = inverse * G.T
        S = G * MiGt
        lam = mp.lu_solve(S, h - G * f)
        x = f + MiGt * lam
        force = G.T * lam + C
        ideal = G.T * mp.lu_solve(S, h - G * a)
        K1 = MiGt * (S**-1) * (XtX**-1) * X.T
        return Truth(
            rounded(x), rounded(a), rounded(force), rounded(ideal), rounded(X * mp.lu_solve(XtX, lam)),
            rounded(K1).reshape(n, m), float((force.T * inverse * force)[0]) / 2,
        )  # fmt: skip


def rounded(x: Any) -> np.ndarray:
    """An mpmath matrix as floats; columns become vectors."""
    array = np.array(x.tolist(), dtype=float).reshape(x.rows, x.cols)
    return array[:, 0] if x.cols == 1 else array


def relative(got: np.ndarray, wanted: np.ndarray) -> float:
    """‖got − wanted‖ / ‖wanted‖, largest entries counting (0 for two zeros)."""
    size = np.abs(wanted).max(initial=0.0)
    return float(np.abs(got - wanted).max(initial=0.0) / (size or 1.0))


# --- exact rational fixtures ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rational:
    """A system in rational numbers with M = S S, so that M^{1/2} = S is rational too; `rows` are independent."""

    S: sp.Matrix
    Q: sp.Matrix
    A: sp.Matrix
    b: sp.Matrix
    c: sp.Matrix
    rows: tuple[int, ...]

    @property
    def M(self) -> sp.Matrix:
        return self.S * self.S

    @property
    def a(self) -> sp.Matrix:
        return self.M.LUsolve(self.Q)

    @property
    def e(self) -> sp.Matrix:
        return self.b - self.A * self.a

    @property
    def given(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return floats(self.M), floats(self.Q)[:, 0], floats(self.A), floats(self.b)[:, 0]

    @property
    def acceleration(self) -> sp.Matrix:
        """q̈ from Lagrange's equations on the independent rows, solved by elimination: no formula under test."""
        n, r = self.A.cols, len(self.rows)
        G, h = self.A.extract(list(self.rows), list(range(n))), self.b.extract(list(self.rows), [0])
        matrix = sp.Matrix(sp.BlockMatrix([[self.M, -G.T], [G, sp.zeros(r, r)]]))
        return matrix.LUsolve(sp.Matrix.vstack(self.Q, h))[:n, :]


def golden() -> Rational:
    """The golden fixture: two rows, one of them twice the other."""
    S = sp.Matrix([[2, 1, 0], [1, 2, 1], [0, 1, 2]])
    return Rational(
        S, sp.Matrix([1, 0, 0]), sp.Matrix([[1, 1, 0], [2, 2, 0]]), sp.Matrix([1, 2]), sp.Matrix([1, -2, 3]), (0,)
    )


def redundant() -> Rational:
    """Six rows of rank two on four coordinates."""
    S = sp.Matrix([[3, 1, 0, -1], [1, 4, 1, 0], [0, 1, 3, 1], [-1, 0, 1, 2]])
    G = sp.Matrix([[1, -2, 0, 3], [0, 1, 4, -1]])
    X = sp.Matrix([[1, 0], [0, 1], [2, -1], [0, 3], [1, 1], [-1, 2]])
    b = X * sp.Matrix([2, sp.Rational(-3, 2)])
    return Rational(S, sp.Matrix([1, -2, 3, 5]), X * G, b, sp.Matrix([2, 0, -1, 1]), (0, 1))


def independent() -> Rational:
    """Two independent rows on four coordinates."""
    whole = redundant()
    return Rational(whole.S, whole.Q, whole.A[:2, :], whole.b[:2, :], whole.c, (0, 1))


def rational_matrix(rows: int, columns: int, seed: int) -> sp.Matrix:
    """Small rational numbers, never all zero."""
    draw = np.random.default_rng(seed)
    return sp.Matrix(rows, columns, lambda *_: sp.Rational(int(draw.integers(1, 9)), int(draw.integers(1, 5))))


def floats(x: Any) -> np.ndarray:
    """A SymPy matrix as floats."""
    return np.array(x.tolist(), dtype=float).reshape(x.shape)
