"""M q̈ = Q + Aᵀλ + C, A q̈ = b for one system with a definite M and independent rows: `linalg.factors`, line by line.

Native functions. They do what `Factors` does for stacks, with the same scaling, the same measure of rank, and
residuals of twice the precision; what is not regular without doubt, or is not as it should be, they leave to it.
"""

import math
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any, Final

import numpy as np
from llvmlite import ir

from zwang.arrays import EPS, TINIEST
from zwang.compile.restricted import Array, Record, intrinsic, native, native_library
from zwang.compile.restricted.memory import at, shift
from zwang.compile.restricted.module import FLOAT, INT
from zwang.formulations.inputs import LARGEST_ENTRY, SYMMETRY_TOL

SOLVED: Final = 0
NOT_REGULAR: Final = 1
CLEARLY: Final = 8.0
"""Pivots above so many tolerances leave no doubt that rows are independent."""
MOST_TURNS: Final = 8

ADDRESSES: Final = (
    "M", "Q", "C", "A", "b", "Mh", "L", "Li", "Ah", "Q1", "basis", "R", "Ri", "D", "f", "y", "a", "dx", "rf", "s", "z",
    "mu", "dlam", "rh",
)  # fmt: skip
SYSTEM: Final = np.dtype([(name, "i8") for name in ("n", "m", *ADDRESSES)])


class SystemRecord(Record):
    """A record of `SYSTEM` as native functions see it: sizes, and where the arrays are."""

    layout = SYSTEM


_ONE_AT_A_TIME: Final = Lock()


@intrinsic
def power_of_two(builder: Any, x: Any) -> float:
    """The power of two nearest below a positive number."""
    number: Any = builder.and_(builder.bitcast(x, INT), ir.Constant(INT, 0x7FF0000000000000))
    found: float = builder.bitcast(number, FLOAT)
    return found


@native
def length(x: Array, n: int) -> float:
    """The length of a vector, rounded to a power of two; 1 for zero."""
    total = 0.0
    for j in range(n):
        total += x[j] * x[j]
    return power_of_two(math.sqrt(total)) if total > 0.0 else 1.0


@native
def sound(system: SystemRecord) -> bool:
    """Whether all entries are finite, M is symmetric, and there is mass everywhere."""
    n, m, M, A = system.n, system.m, at(system.M), at(system.A)
    Q, C, b = at(system.Q), at(system.C), at(system.b)
    for i in range(n):
        if not (M[i * n + i] > 0.0 and abs(Q[i]) < LARGEST_ENTRY and abs(C[i]) < LARGEST_ENTRY):
            return False
        for j in range(n):
            if not abs(M[i * n + j]) < LARGEST_ENTRY:
                return False
    for i in range(n):
        for j in range(i):
            gap = abs(M[i * n + j] - M[j * n + i])
            if gap > 0.0:
                size = math.sqrt(M[i * n + i]) * math.sqrt(M[j * n + j])
                if gap > SYMMETRY_TOL * size and gap > SYMMETRY_TOL * abs(M[i * n + j]):
                    return False
    for i in range(m):
        if not abs(b[i]) < LARGEST_ENTRY:
            return False
        for j in range(n):
            if not abs(A[i * n + j]) < LARGEST_ENTRY:
                return False
    return True


@native
def inverse_factor(n: int, X: Array, L: Array, Li: Array, tolerance: float) -> bool:
    """L⁻¹ of X = LLᵀ; False unless X is positive definite beyond rounding."""
    for j in range(n):
        total = X[j * n + j]
        for k in range(j):
            total -= L[j * n + k] * L[j * n + k]
        if not total > 0.0:
            return False
        root = math.sqrt(total)
        L[j * n + j] = root
        for i in range(j + 1, n):
            total = X[i * n + j]
            for k in range(j):
                total -= L[i * n + k] * L[j * n + k]
            L[i * n + j] = total / root
    trace = 0.0
    for j in range(n):
        for i in range(n):
            if i < j:
                Li[i * n + j] = 0.0
            else:
                total = 1.0 if i == j else 0.0
                for k in range(j, i):
                    total -= L[i * n + k] * Li[k * n + j]
                Li[i * n + j] = total / L[i * n + i]
                trace += Li[i * n + j] * Li[i * n + j] * X[j * n + j]
    return trace * tolerance < 1.0


@native
def independent(n: int, m: int, A: Array, basis: Array, tolerance: float) -> bool:
    """Whether rows are independent without doubt, by Gram and Schmidt with pivoting; and an orthonormal basis."""
    for i in range(m):
        scale = length(shift(A, i * n), n)
        for j in range(n):
            basis[i * n + j] = A[i * n + j] / scale
    first = 0.0
    for k in range(m):
        best, longest = k, -1.0
        for i in range(k, m):
            total = 0.0
            for j in range(n):
                total += basis[i * n + j] * basis[i * n + j]
            if total > longest:
                best, longest = i, total
        pivot = math.sqrt(longest)
        if k == 0:
            first = pivot
        if not pivot > CLEARLY * tolerance * first or not pivot > 0.0:
            return False
        for j in range(n):
            other = basis[k * n + j]
            basis[k * n + j] = basis[best * n + j] / pivot
            if best != k:
                basis[best * n + j] = other
        for i in range(k + 1, m):
            share = 0.0
            for j in range(n):
                share += basis[i * n + j] * basis[k * n + j]
            for j in range(n):
                basis[i * n + j] -= share * basis[k * n + j]
    return True


@native
def orthonormal(n: int, m: int, W: Array, R: Array) -> bool:
    """Rows of W become orthonormal ones, W = RᵀQ; each is made orthogonal twice. False where one vanishes."""
    for i in range(m):
        for j in range(m):
            R[j * m + i] = 0.0
        for _ in range(2):
            for k in range(i):
                share = 0.0
                for j in range(n):
                    share += W[i * n + j] * W[k * n + j]
                R[k * m + i] += share
                for j in range(n):
                    W[i * n + j] -= share * W[k * n + j]
        total = 0.0
        for j in range(n):
            total += W[i * n + j] * W[i * n + j]
        size = math.sqrt(total)
        if not size > 64.0 * n * EPS:
            return False
        R[i * m + i] = size
        for j in range(n):
            W[i * n + j] /= size
    return True


@native
def upper_inverse(m: int, R: Array, Ri: Array) -> None:
    """R⁻¹ of an upper triangle."""
    for j in range(m):
        for k in range(m):
            i = m - 1 - k
            if i > j:
                Ri[i * m + j] = 0.0
            else:
                total = 1.0 if i == j else 0.0
                for l in range(i + 1, j + 1):
                    total -= R[i * m + l] * Ri[l * m + j]
                Ri[i * m + j] = total / R[i * m + i]


@native
def two_sum(x: float, y: float) -> tuple[float, float]:
    """x + y rounded, and its exact error."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


@native
def two_product(x: float, y: float) -> tuple[float, float]:
    """x·y rounded, and its exact error (Dekker)."""
    product = x * y
    c, d = 134217729.0 * x, 134217729.0 * y
    x_high, y_high = c - (c - x), d - (d - y)
    x_low, y_low = x - x_high, y - y_high
    return product, ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


@native
def exact(start: float, sign: float, X: Array, stride: int, y: Array, count: int) -> tuple[float, float]:
    """start + sign Σ X y, and what rounding took from it; X in steps of a stride."""
    total, lost = start, 0.0
    for j in range(count):
        product, e = two_product(X[j * stride], sign * y[j])
        total, f = two_sum(total, product)
        lost += e + f
    return total, lost


@native
def once(system: SystemRecord, m: int, f: Array, h: Array, x: Array, lam: Array) -> None:
    """x and λ for right-hand sides f and h, by the factors; of the first m rows, which are all or none."""
    n, A, Li, Q1, Ri = system.n, at(system.Ah), at(system.Li), at(system.Q1), at(system.Ri)
    s, a, z = at(system.s), at(system.a), at(system.z)
    for i in range(n):
        total = 0.0
        for k in range(i + 1):
            total += Li[i * n + k] * f[k]
        a[i] = total
    if m > 0:
        for j in range(n):
            total = 0.0
            for i in range(j, n):
                total += Li[i * n + j] * a[i]
            x[j] = total
        for i in range(m):
            total = h[i]
            for j in range(n):
                total -= A[i * n + j] * x[j]
            lam[i] = total / s[i]
        for i in range(m):
            total = 0.0
            for k in range(i + 1):
                total += Ri[k * m + i] * lam[k]
            z[i] = total
        for j in range(n):
            total = a[j]
            for i in range(m):
                total += Q1[i * n + j] * z[i]
            a[j] = total
        for i in range(m):
            total = 0.0
            for k in range(i, m):
                total += Ri[i * m + k] * z[k]
            lam[i] = total / s[i]
    for j in range(n):
        total = 0.0
        for i in range(j, n):
            total += Li[i * n + j] * a[i]
        x[j] = total


@native
def largest(x: Array, n: int) -> float:
    """The largest magnitude."""
    found = 0.0
    for i in range(n):
        found = abs(x[i]) if abs(x[i]) > found else found
    return found


@native
def correction(m: int, s: Array, size: float, step: float, lam: Array, dlam: Array) -> float:
    """The relative size of a correction; forces far below M q̈ need not be known as well as the others."""
    force, change = 1e-6 * size if 1e-6 * size > TINIEST else TINIEST, 0.0
    for i in range(m):
        force = abs(s[i] * lam[i]) if abs(s[i] * lam[i]) > force else force
        change = abs(s[i] * dlam[i]) if abs(s[i] * dlam[i]) > change else change
    step = change / force if m > 0 and change / force > step else step
    return step if step < 1.0 else 1.0


@native
def refined(system: SystemRecord, m: int, f: Array, x: Array, lam: Array) -> None:
    """One solution, corrected with residuals of twice the precision (`Factors._refined`)."""
    n, M, A, h, s = system.n, at(system.Mh), at(system.Ah), at(system.b), at(system.s)
    dx, dlam, rf, rh = at(system.dx), at(system.dlam), at(system.rf), at(system.rh)
    once(system, m, f, h, x, lam)
    last = 4.0
    for _ in range(MOST_TURNS):
        for i in range(n):
            total, lost = exact(f[i], -1.0, shift(M, i * n), 1, x, n)
            total, more = exact(total, 1.0, shift(A, i), n, lam, m)
            rf[i] = total + (lost + more)
        for i in range(m):
            total, lost = exact(h[i], -1.0, shift(A, i * n), 1, x, n)
            rh[i] = total + lost
        once(system, m, rf, rh, dx, dlam)
        size = largest(x, n)
        step = correction(m, s, size, largest(dx, n) / (size if size > TINIEST else TINIEST), lam, dlam)
        better = step < 0.5 * last
        if better:
            for i in range(n):
                x[i] += dx[i]
            for i in range(m):
                lam[i] += dlam[i]
        left = step * (step if step > step / last else step / last)
        if not (better and left > 0.1 * EPS):
            break
        last = step
    D = at(system.D)
    for i in range(n):
        x[i] /= D[i]


@native
def force_of(system: SystemRecord, with_C: float, x: Array, lam: Array, out: Array) -> None:
    """Q_c, as Aᵀλ + C or as M q̈ − Q, whichever is the difference of smaller terms, entry by entry."""
    n, m, M, A = system.n, system.m, at(system.M), at(system.Ah)
    Q, C, D = at(system.Q), at(system.C), at(system.D)
    for j in range(n):
        rows, by_rows = 0.0, 0.0
        for i in range(m):
            rows += abs(A[i * n + j]) * abs(lam[i])
            by_rows += A[i * n + j] * lam[i]
        mass, by_mass = abs(Q[j]), -Q[j]
        for k in range(n):
            mass += abs(M[j * n + k]) * abs(x[k])
            by_mass += M[j * n + k] * x[k]
        small = rows * D[j] + with_C * abs(C[j]) <= mass
        out[j] = by_rows * D[j] + with_C * C[j] if small else by_mass


@native
def norms(system: SystemRecord, x: Array, out: Array) -> None:
    """What is missed of the constraints, of equilibrium in what they leave free, and of consistency."""
    n, m, M, A, basis = system.n, system.m, at(system.M), at(system.A), at(system.basis)
    Q, C, b, D, s, left = at(system.Q), at(system.C), at(system.b), at(system.D), at(system.s), at(system.a)
    missed = scaled = rest = 0.0
    for i in range(m):
        gap = -b[i]
        for j in range(n):
            gap += A[i * n + j] * x[j]
        missed += gap * gap
        scaled += (gap / s[i]) * (gap / s[i])
    for j in range(n):
        total = -Q[j] - C[j]
        for k in range(n):
            total += M[j * n + k] * x[k]
        left[j] = total / D[j]
    for _ in range(2):
        for i in range(m):
            share = 0.0
            for j in range(n):
                share += basis[i * n + j] * left[j]
            for j in range(n):
                left[j] -= share * basis[i * n + j]
    for j in range(n):
        rest += left[j] * left[j]
    out[0], out[1], out[2] = math.sqrt(missed), math.sqrt(rest), math.sqrt(scaled)


@native
def inverse_of(system: SystemRecord, K: Array) -> None:
    """K₁ = L⁻ᵀQ₁R⁻ᵀ, rows and columns scaled back."""
    n, m, Li, Q1, Ri = system.n, system.m, at(system.Li), at(system.Q1), at(system.Ri)
    D, s, column = at(system.D), at(system.s), at(system.a)
    for k in range(m):
        for j in range(n):
            column[j] = 0.0
        for i in range(k, m):
            for j in range(n):
                column[j] += Ri[k * m + i] * Q1[i * n + j]
        for j in range(n):
            total = 0.0
            for l in range(j, n):
                total += Li[l * n + j] * column[l]
            K[j * m + k] = total / (D[j] * s[k])


@native
def scale(system: SystemRecord) -> None:
    """M̂ = D⁻¹MD⁻¹ with a diagonal of about 1, and Â = AD⁻¹."""
    n, m, M, A, D = system.n, system.m, at(system.M), at(system.A), at(system.D)
    Mh, Ah = at(system.Mh), at(system.Ah)
    for i in range(n):
        D[i] = power_of_two(math.sqrt(M[i * n + i]))
    for i in range(n):
        for j in range(n):
            Mh[i * n + j] = M[i * n + j] / D[i] / D[j]
    for i in range(m):
        for j in range(n):
            Ah[i * n + j] = A[i * n + j] / D[j]


@native
def whiten(system: SystemRecord) -> bool:
    """L⁻¹Âᵀ = Q₁R, columns scaled; False where it has a lower rank after all."""
    n, m, A, Li, Q1, s = system.n, system.m, at(system.Ah), at(system.Li), at(system.Q1), at(system.s)
    for i in range(m):
        for k in range(n):
            total = 0.0
            for j in range(k + 1):
                total += A[i * n + j] * Li[k * n + j]
            Q1[i * n + k] = total
        s[i] = length(shift(Q1, i * n), n)
        for k in range(n):
            Q1[i * n + k] /= s[i]
    if not orthonormal(n, m, Q1, at(system.R)):
        return False
    upper_inverse(m, at(system.R), at(system.Ri))
    return True


@native
def answer(system: SystemRecord, out: Array) -> None:
    """Everything that is asked of a factored system: [q̈, Q_c, Q_i, a, λ, e, K₁, norms, Gaussian]."""
    n, m, A, Q, C, b = system.n, system.m, at(system.A), at(system.Q), at(system.C), at(system.b)
    x, force, ideal, free = out, shift(out, n), shift(out, 2 * n), shift(out, 3 * n)
    lam, error, K = shift(out, 4 * n), shift(out, 4 * n + m), shift(out, 4 * n + 2 * m)
    last, f, y, mu = shift(K, n * m), at(system.f), at(system.y), at(system.mu)
    D, odd = at(system.D), 0.0
    for j in range(n):
        f[j] = (Q[j] + C[j]) / D[j]
        odd += abs(C[j])
    refined(system, m, f, x, lam)
    force_of(system, 1.0, x, lam, force)
    for j in range(n):
        f[j] = Q[j] / D[j]
        ideal[j] = force[j]
    if odd > 0.0:
        refined(system, m, f, y, mu)
        force_of(system, 0.0, y, mu, ideal)
    refined(system, 0, f, free, mu)
    gaussian = 0.0
    for j in range(n):
        gaussian += 0.5 * (x[j] - free[j]) * force[j]
    for i in range(m):
        total = b[i]
        for j in range(n):
            total -= A[i * n + j] * free[j]
        error[i] = total
    inverse_of(system, K)
    norms(system, x, last)
    last[3] = gaussian if gaussian > 0.0 else 0.0


@native
def place(system: SystemRecord, given: int, work: int) -> None:
    """Where everything is, from the addresses of what is given, [M, Q, C, A, b], and of working space."""
    n, m, word = system.n, system.m, 8
    system.M, system.Q = given, given + word * n * n
    system.C = system.Q + word * n
    system.A = system.C + word * n
    system.b = system.A + word * m * n
    system.Mh, system.L, system.Li = work, work + word * n * n, work + 2 * word * n * n
    system.Ah = system.Li + word * n * n
    system.Q1 = system.Ah + word * m * n
    system.basis = system.Q1 + word * m * n
    system.R = system.basis + word * m * n
    system.Ri = system.R + word * m * m
    system.D = system.Ri + word * m * m
    system.f, system.y, system.a = system.D + word * n, system.D + 2 * word * n, system.D + 3 * word * n
    system.dx, system.rf = system.D + 4 * word * n, system.D + 5 * word * n
    system.s = system.D + 6 * word * n
    system.z, system.mu = system.s + word * m, system.s + 2 * word * m
    system.dlam, system.rh = system.s + 3 * word * m, system.s + 4 * word * m


@native
def solve(system: SystemRecord, given: int, out: Array, work: int, mass_tol: float, rank_tol: float) -> int:
    """One system of n coordinates and m rows: SOLVED, or NOT_REGULAR without doubt."""
    n, m = system.n, system.m
    place(system, given, work)
    if m > n or not sound(system):
        return NOT_REGULAR
    scale(system)
    if not inverse_factor(n, at(system.Mh), at(system.L), at(system.Li), mass_tol):
        return NOT_REGULAR
    if not independent(n, m, at(system.Ah), at(system.basis), rank_tol) or not whiten(system):
        return NOT_REGULAR
    answer(system, out)
    return SOLVED


def work_size(n: int, m: int) -> int:
    """Doubles that `solve` works in."""
    return 3 * n * n + 3 * m * n + 2 * m * m + 6 * n + 5 * m


def out_size(n: int, m: int) -> int:
    """Doubles that it gives."""
    return 4 * n + 2 * m + n * m + 4


def compiled() -> Callable[[int, int, int, int, float, float], int]:
    """`solve` for Python: it takes the addresses of a record and of its arrays."""
    with _ONE_AT_A_TIME:
        return _loaded()


@cache
def _loaded() -> Callable[[int, int, int, int, float, float], int]:
    return native_library(solve)
