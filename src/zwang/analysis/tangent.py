"""What rows of constraints leave free: their row space and the tangent space of the states that obey them."""

from dataclasses import dataclass

import numpy as np

from zwang.arrays import Array
from zwang.linalg.rank import row_norms, row_rank
from zwang.linalg.ranked import the_same


@dataclass(frozen=True, eq=False)
class Tangent:
    """Directions (…, d, n) and (…, d, n) that span a tangent space; the first `positions` of them move coordinates."""

    dq: Array
    dv: Array
    positions: int

    @property
    def rows(self) -> Array:
        """(…, d, 2n)"""
        return np.concatenate([self.dq, self.dv], axis=-1)


@dataclass(frozen=True, eq=False)
class RowSpace:
    """Rows of A (…, m, n) of rank r taken apart in given units (…, n): A = scale · U s Vᵀ · units."""

    scale: Array
    units: Array
    inverse: Array
    """(…, n, m) from right-hand sides, rows at unit length, to the shortest solutions"""
    free: Array
    """(…, n − r, n) directions that the rows leave free, orthonormal in these units"""

    @classmethod
    def of(cls, A: Array, units: Array, rank: int | None = None) -> "RowSpace":
        """Taken apart; the rank is decided as everywhere, if it is not known."""
        *stack, m, n = A.shape
        if not m:
            free = np.eye(n) / units[..., None, :]
            return cls(np.ones((*stack, 0)), units, np.zeros((*stack, n, 0)), free)
        scaled = A / units[..., None, :]
        rank = the_same(row_rank(scaled if stack else scaled[None])) if rank is None else rank
        scale = row_norms(scaled)
        U, s, Vt = np.linalg.svd(scaled / scale[..., None])
        inverse = Vt[..., :rank, :].mT / s[..., None, :rank] @ U[..., :rank].mT
        return cls(scale, units, inverse / units[..., None], Vt[..., rank:, :] / units[..., None, :])

    def shortest(self, b: Array) -> Array:
        """(…, k, n) the shortest x with A x = b (…, k, m), as near as dependent rows allow."""
        return np.asarray((b / self.scale[..., None, :]) @ self.inverse.mT)
