"""What a solved system says about itself."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.display import Displayed, told
from zwang.words import count


@dataclass(frozen=True)
class Residuals:
    """How well a solution obeys what it must; one number a system.

    Small `constraint` residuals alone prove nothing: a singular system solved by elimination can obey the
    constraints to the last digit and be wrong. Both residuals together fix q̈.
    """

    constraint: Array
    """‖A q̈ − b‖ (for one-sided rows: the part of A q̈ below b)."""
    equilibrium: Array
    """‖Zᵀ(M q̈ − Q − C)‖ in coordinates of unit mass, Z an orthonormal basis of the null space of A there."""
    consistency: Array
    """Distance of b from what the rows can meet together, rows scaled to unit length in the metric M⁻¹."""
    position: Array | None = None
    """‖φ(q, t)‖, what the constraints of a model read at its state (of one-sided ones: below zero)."""
    velocity: Array | None = None
    """‖φ̇(q, q̇, t)‖, the same of velocities."""


@dataclass(frozen=True)
class Solution(Displayed):
    """Accelerations, forces and multipliers of constrained systems: M q̈ = Q + Aᵀλ + C, A q̈ = b.

    Shapes are for one system; a stack has leading axes. Where M is singular, a = M⁻¹Q does not exist: then
    `free_acceleration`, `error`, `deviation` and `gaussian` are NaN.
    """

    acceleration: Array
    """q̈ (n,)"""
    constraint_force: Array
    """Q_c = M q̈ − Q (n,), the whole force of constraint: ideal and nonideal."""
    ideal_force: Array
    """Q_i = K(b − Aa) (n,), S1 (7): does no work in virtual displacements."""
    nonideal_force: Array
    """Q_ni (n,), S1 (8): zero where C is zero or lies in the range of Aᵀ."""
    multipliers: Array
    """λ (m,) of least length with M q̈ = Q + Aᵀλ + C; nonnegative on one-sided rows."""
    null_space: Array
    """Orthonormal basis (m, m − r) of null(Aᵀ): λ + null_space @ w serves as well as λ. In a stack of
    different ranks the missing columns are zero."""
    unique: NDArray[np.bool_]
    """(m,) whether each multiplier is unique."""
    rank: NDArray[np.intp]
    """r, the number of independent rows (with one-sided rows: of those that are active)."""
    gaussian: Array
    """½ (q̈ − a)ᵀM(q̈ − a), which Gauss's principle makes least."""
    free_acceleration: Array
    """a = M⁻¹Q (n,), the acceleration without constraints."""
    error: Array
    """e = b − Aa (m,), by which the free acceleration misses the constraints."""
    deviation: Array
    """Δa = q̈ − a (n,), S4 (5c)."""
    weighted_inverse: Array
    """K₁ (n, m), S4 (5c′): for ideal constraints Δa = K₁ e."""
    residuals: Residuals
    constraint_power: Array | None = None
    """Q_c · q̇, where velocities were given."""

    def __repr__(self) -> str:
        """The solution in a line; of a stack, how many."""
        *stack, n = self.acceleration.shape
        sizes = f"{count(n, 'coordinate')}, {count(self.multipliers.shape[-1], 'constraint')}"
        if stack:
            return told(self, "", f"{' × '.join(f'{k:,}' for k in stack)} systems", sizes)
        numbers = np.array2string(self.acceleration, precision=6, threshold=8, edgeitems=3, max_line_width=200)
        return told(self, "", sizes, f"rank {int(self.rank)}", f"acceleration {numbers}")
