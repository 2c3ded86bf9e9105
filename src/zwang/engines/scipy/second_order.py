"""Radau's method for large systems of second order: its linear systems are solved in positions alone.

Newton's method needs (c 1 − J)⁻¹ with J = [0 1; J_q J_v]. From c q − v = r and −J_q q + (c − J_v) v = s follows

    (c (c − J_v) − J_q) q = s + (c − J_v) r,    v = c q − r:

a matrix of half the size, an eighth of the work.
"""

from typing import Any

import numpy as np
from scipy.integrate import Radau
from scipy.linalg import lu_factor, lu_solve

Factors = tuple[Any, Any, Any]


class SecondOrderRadau(Radau):  # type: ignore[misc]  # SciPy has no types
    """SciPy's Radau with linear systems of half the size; where its Jacobian is sparse, SciPy's own are as good."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        if isinstance(self.J, np.ndarray):
            self.lu, self.solve_lu = self.factors, self.solve_by

    def factors(self, A: Any) -> Factors:
        """The factors of c 1 − J."""
        self.nlu += 1
        n = len(A) // 2
        c, below = A[0, 0], A[n:, n:].copy()
        return c, below, lu_factor(A[n:, :n] + c * below, overwrite_a=True, check_finite=False)

    def solve_by(self, factors: Factors, right: Any) -> Any:
        """The solution for a right-hand side."""
        c, below, lu = factors
        n = len(below)
        q = lu_solve(lu, right[n:] + below @ right[:n], overwrite_b=True, check_finite=False)
        return np.concatenate([q, c * q - right[:n]])
