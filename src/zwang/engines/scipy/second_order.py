"""Radau's method for large systems of second order: its linear systems are solved in positions.

Newton's method needs (c 1 − J)⁻¹ with J = [0 1; J_q J_v]. From c q − v = r and −J_q q + (c − J_v) v = s follows

    (c (c − J_v) − J_q) q = s + (c − J_v) r,    v = c q − r:

a matrix of half the size, an eighth of the work. Where q̈ is found by equations F(q, q̇, q̈, λ) = 0 of which the
derivatives are sparse, J_q and J_v are full and not needed: with w = c v − s, the change of q̈, and μ, that of λ,

    F_q̈ w + F_λ μ + F_q q + F_q̇ v = 0,    so that
    (F_q̈ + F_q̇/c + F_q/c²) c²q + F_λ μ = F_q̈ (c r + s) + F_q̇ r,

which is one sparse system. c q − r has the rounding of r, however small v is: in a short step, where c is large and
v ≈ s/c, that is more than v, and Newton's method does not converge. By the same factors, the change of q̈ is

    (F_q̈ + F_q̇/c + F_q/c²) w + F_λ μ = −F_q (r/c + s/c²) − F_q̇ s/c,    v = (s + w)/c,    q = (r + v)/c,

in which v has the rounding of s/c: the way is taken on which less is lost.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import Radau
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

Factors = tuple[Any, Any, Any]


def short(c: complex, r: Any, s: Any) -> bool:
    """Whether s/c is smaller than r, so that v is found by it without loss."""
    return bool(np.abs(s).max() < abs(c) * np.abs(r).max())


@dataclass(frozen=True, eq=False)
class Matrices:
    """The derivatives of F by q̈, q̇, q and λ, as square matrices: columns of λ are behind those of q."""

    n: int
    second: Any
    first: Any
    zeroth: Any
    border: Any

    def factors(self, c: complex) -> Factors:
        """The factors of c 1 − J."""
        return c, self, splu(self.second + self.first / c + self.zeroth / c**2 + self.border)

    def solve(self, c: complex, lu: Any, right: Any) -> Any:
        """The solution for a right-hand side."""
        n = self.n
        r, s = right[:n], right[n:]
        if short(c, r, s):
            w = lu.solve(-(self.zeroth @ self.padded(r / c + s / c**2)) - self.first @ self.padded(s / c))[:n]
            v = (s + w) / c
            return np.concatenate([(r + v) / c, v])
        q = lu.solve(self.second @ self.padded(c * r + s) + self.first @ self.padded(r))[:n] / c**2
        return np.concatenate([q, c * q - r])

    def padded(self, x: Any) -> Any:
        """A vector of positions, with no multipliers."""
        return np.concatenate([x, np.zeros(self.second.shape[0] - self.n)])


class Unit:
    """What stands for the unit matrix where J is known by its parts: c 1 − J is the pair of c and J."""

    __array_ufunc__ = None  # numbers of NumPy leave the product to this

    def __init__(self, factor: complex = 1.0) -> None:
        """A multiple of the unit matrix."""
        self.factor = factor

    def __rmul__(self, factor: complex) -> "Unit":
        """A multiple."""
        return Unit(factor * self.factor)

    def __sub__(self, J: Matrices) -> tuple[complex, Matrices]:
        """c 1 − J."""
        return self.factor, J


class SecondOrderRadau(Radau):  # type: ignore[misc]  # SciPy has no types
    """SciPy's Radau with linear systems of half the size; where its Jacobian is sparse, SciPy's own are as good."""

    lu: Any
    solve_lu: Any

    def __init__(self, fun: Any, t0: float, y0: Any, t_bound: float, jac: Any = None, **options: Any) -> None:
        first = jac(t0, y0) if jac is not None else None
        if isinstance(first, Matrices):
            super().__init__(fun, t0, y0, t_bound, jac=csc_matrix((len(y0), len(y0))), **options)
            self.J, self.I, self.njev = first, Unit(), 1
            self.lu, self.solve_lu = self.sparse_factors, self.solve_sparse

            def again(t: float, y: Any, _: Any = None) -> Matrices:
                self.njev += 1
                found: Matrices = jac(t, y)
                return found

            self.jac = again
            return
        super().__init__(fun, t0, y0, t_bound, jac=jac, **options)
        if isinstance(self.J, np.ndarray):
            self.lu, self.solve_lu = self.full_factors, self.solve_full

    def sparse_factors(self, shifted: tuple[complex, Matrices]) -> Factors:
        """The factors of c 1 − J, of which the parts are known."""
        self.nlu += 1
        return shifted[1].factors(shifted[0])

    def solve_sparse(self, factors: Factors, right: Any) -> Any:
        """The solution for a right-hand side."""
        c, matrices, lu = factors
        return matrices.solve(c, lu, right)

    def full_factors(self, A: Any) -> Factors:
        """The factors of c 1 − J."""
        self.nlu += 1
        n = len(A) // 2
        c, left, below = A[0, 0], A[n:, :n].copy(), A[n:, n:].copy()
        return c, (left, below), lu_factor(left + c * below, overwrite_a=True, check_finite=False)

    def solve_full(self, factors: Factors, right: Any) -> Any:
        """The solution for a right-hand side."""
        c, (left, below), lu = factors
        n = len(below)
        r, s = right[:n], right[n:]
        if short(c, r, s):
            w = lu_solve(lu, c * (c * s - below @ s) - left @ (c * r + s), overwrite_b=True, check_finite=False)
            v = (s + w) / c
            return np.concatenate([(r + v) / c, v])
        q = lu_solve(lu, s + below @ r, overwrite_b=True, check_finite=False)
        return np.concatenate([q, c * q - r])
