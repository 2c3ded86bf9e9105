"""The map of a product of matrices, taken apart into blocks whose eigenvalues have sizes of their own.

Multiplied out, P = Fₖ … F₁ has only those eigenvalues that are not too small beside the largest. Subspaces are
iterated through the factors instead (orthogonal iteration, as in the periodic Schur form of Bojanczyk, Golub and Van
Dooren 1992),

    Fᵢ Qᵢ₋₁ = Qᵢ Rᵢ,    Q₀ ← Qₖ,

until the first columns span the same after a round. Then the blocks of Q₀ᵀQₖ Rₖ … R₁ on the diagonal have the
eigenvalues of P, and each product of blocks is computed at a scale of its own. What a factor has lost is zero exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zwang.analysis.neighbours import triangular
from zwang.arrays import TINIEST, Array

MOST_ITERATED = 60  # after which sizes that differ by a fifth have parted; those nearer to each other share a block
PARTED = 1e-6  # by which the first columns may still turn: eigenvalues then err by as small a share, and mostly by less
LOST_BY_A_FACTOR = 1e-10  # of the size of a factor: no more is left of a direction that it has lost


@dataclass(frozen=True, eq=False)
class Block:
    """A block (k, k) of a map, at most 1 in size, and the logarithm of its scale."""

    matrix: Array
    log: float

    @property
    def whole(self) -> Array:
        """The block at its scale, which may be too small for a number."""
        return np.asarray(self.matrix * np.exp(min(self.log, np.log(np.finfo(float).max))))


def blocks_of(factors: Sequence[Array]) -> tuple[list[Block], int]:
    """The blocks of a product of factors (rᵢ, rᵢ₋₁), the first of which acts first, and how many zeros there are.

    Factors that lose directions have fewer rows than columns.

    >>> found, zeros = blocks_of([np.diag([1e200, 1e-200]), np.array([[1.0, 1.0], [0.0, 1.0]])])
    >>> [round(block.log / np.log(10)) for block in found], zeros
    ([200, -200], 0)
    """
    d = factors[0].shape[1]
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((d, d)))[0]
    before = turns = np.full(max(d - 1, 0), np.inf)
    turned, Rs = np.eye(d), list(factors)
    for _ in range(MOST_ITERATED):
        Q0, Rs = Q, []
        for F in factors:
            nothing = LOST_BY_A_FACTOR * float(np.linalg.norm(F)) if F.shape[0] < F.shape[1] else -1.0
            Q, R, _ = triangular(F @ Q, nothing)
            Rs.append(R)
        if Q.shape != Q0.shape:
            continue  # what the first round has lost
        turned = Q0.T @ Q
        turns = np.array([np.abs(turned[j:, :j]).max() for j in range(1, len(turned))])
        if len(turns) == len(before) and (turns <= PARTED).all() and (turns >= before / 2).all():
            break  # as near as rounding lets it come
        before = turns
    cuts = (1 + np.flatnonzero(turns[: max(len(turned) - 1, 0)] <= PARTED)).tolist()
    ends = zip([0, *cuts], [*cuts, Q.shape[1]], strict=True)
    return [block(Rs, turned, *end) for end in ends if end[0] < end[1]], d - Q.shape[1]


def block(Rs: Sequence[Array], turned: Array, begin: int, end: int) -> Block:
    """The block of a product from one column to another."""
    P, log, part = np.eye(end - begin), 0.0, slice(begin, end)
    for F in (*(R[part, part] for R in Rs), turned[part, part]):
        P = F @ P
        size = max(float(np.abs(P).max()), TINIEST)
        P, log = P / size, log + float(np.log(size))
    return Block(P, log)
