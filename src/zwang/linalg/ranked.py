"""The rank of A in units of equal mass, decided once, with the factors that go with it."""

from dataclasses import dataclass

import numpy as np

from zwang.arrays import EPS, Array, Indices
from zwang.errors import InputError
from zwang.linalg.factors import Factors, factorise_masses
from zwang.linalg.masses import Masses, masses
from zwang.linalg.rank import row_norms, row_rank

# In eps: rows of unit length that differ by less than this have the same rank. Their pivots differ by little more, and
# count as zero below `RANK_SLACK`, 2^10.
SAME_ROWS = 2.0**4

RANKS_DIFFER = "ranks are not the same along the stack: take its systems one by one"


@dataclass(frozen=True, eq=False)
class Ranked:
    """A system M (…, n, n), A (…, m, n): its masses, its rows in units of equal mass, their rank, and factors."""

    mass: Masses
    scaled: Array
    """(…, m, n) A in units of equal mass: the matrix whose rank was decided."""
    rank: int
    factors: Factors

    @property
    def units(self) -> Array:
        """(…, n) the units of equal mass."""
        return self.mass.units.reshape(*self.scaled.shape[:-2], -1)

    @property
    def closest(self) -> float:
        """About the least square of the distance of an independent row from the others, rows at unit length."""
        return 1 / float(np.linalg.norm(self.factors.Ri[0], ord=2)) ** 2 if self.rank else 1.0


def ranked(M: Array, A: Array, names: tuple[str, ...], known: Ranked | None = None) -> Ranked:
    """Masses, rank and factors of M (n, n), A (m, n); an M that determines no acceleration is refused by name.

    `known` is the same system a little beside: if the rows differ by rounding only, its rank is taken over. A stack
    has one rank: matrices (k, n, n), (k, m, n) of several are refused.

    >>> found = ranked(np.eye(2), np.array([[1.0, -1.0], [2.0, -2.0]]), ("x", "y"))
    >>> found.rank, found.factors.rows.tolist()
    (1, [[0]])
    """
    rows = A if A.ndim == 3 else A[None]
    mass = masses(M if M.ndim == 3 else M[None], rows)
    scaled = rows / mass.units[:, None]
    rank = known.rank if known and alike(scaled[0], known.scaled) else the_same(row_rank(scaled))
    return Ranked(mass, scaled.reshape(A.shape), rank, factorise_masses(mass, rows, rank, names))


def the_same(ranks: Indices) -> int:
    """The rank that all matrices of a stack have, from those of each (k,); refused where they differ."""
    if (ranks != ranks[0]).any():
        raise InputError(RANKS_DIFFER)
    return int(ranks[0])


def alike(A: Array, B: Array) -> bool:
    """Whether the rows of two matrices differ by rounding only, beside the length of each."""
    return A.shape == B.shape and bool((np.abs(A - B) <= SAME_ROWS * EPS * row_norms(B)[:, None]).all())
