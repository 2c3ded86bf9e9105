"""How velocities answer impulses and changes that equalities ask for: M Δv = p + EᵀΛ, E Δv = d."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.engines.stepping.blocks import DEPENDENT_EQUALITIES, NEARLY_MASSLESS, NO_MASS_LEFT
from zwang.engines.task import Status
from zwang.linalg.sparse.matrix import Sparse, diagonal_of, is_sparse, solve_columns
from zwang.motion.contact.impact import Stop

YIELDS = 1e-11  # of the masses: how far rows of large systems give way, so that dependent ones have an answer
ONCE_MORE = 3  # with what is missed so


@dataclass(frozen=True)
class Response:
    """Of a small system: Δv = K p + G d and Λ = G'd − H p, in full matrices."""

    K: Array
    G: Array
    S: Array
    """(E M⁻¹Eᵀ)⁺"""
    H: Array
    """S E M⁻¹"""
    rank: int

    def solve(self, impulse: Array, change: Array) -> tuple[Array, Array]:
        """Δv and Λ of the equalities."""
        if not len(change):
            return self.K @ impulse, change
        return self.K @ impulse + self.G @ change, self.S @ change - self.H @ impulse

    def columns(self, rows: Any) -> Array:
        """(n, r) the Δv of unit impulses along some rows."""
        return np.asarray(self.K @ rows.T)

    def mobility(self, rows: Any, columns: Any) -> Any:
        """(r, r) how impulses along rows change the speeds of these."""
        return rows @ columns


@dataclass(frozen=True)
class SparseResponse:
    """The same of a large system, by sparse factors of the whole."""

    factors: Any
    n: int
    E: Sparse
    gives: Array
    light: Array | None
    """(n,) the masses, if M is diagonal and there are no equalities."""

    @property
    def rank(self) -> int:
        """How many equalities there are."""
        return int(self.E.shape[0])

    def solve(self, impulse: Array, change: Array) -> tuple[Array, Array]:
        """Δv and Λ of the equalities."""
        if self.light is not None:
            return impulse / self.light, change
        x = self.factors.solve(np.concatenate([impulse, change]))
        for _ in range(ONCE_MORE if len(change) else 0):
            missed = change - self.E @ x[: self.n]
            x = x + self.factors.solve(np.concatenate([np.zeros(self.n), missed]))
        return x[: self.n], -x[self.n :]

    def columns(self, rows: Any) -> Any:
        """(n, r) the Δv of unit impulses along some rows, sparse where M is diagonal."""
        if self.light is not None:
            scaled = rows.copy()
            scaled.data = scaled.data / self.light[scaled.indices]
            return scaled.T.tocsr()
        right = np.zeros((self.n + self.rank, rows.shape[0]))
        right[: self.n] = rows.T.toarray()
        return solve_columns(self.factors, right)[: self.n]

    def mobility(self, rows: Any, columns: Any) -> Any:
        """(r, r) how impulses along rows change the speeds of these, sparse."""
        from scipy.sparse import csr_array

        W = csr_array(rows @ columns)
        W.sort_indices()
        return W


AnyResponse = Response | SparseResponse


def response(M: Any, E: Any) -> AnyResponse:
    """How velocities answer with these masses and equalities; a mass that determines none is refused."""
    try:
        return in_sparse(M, E) if is_sparse(M) else in_full(M, E)
    except (np.linalg.LinAlgError, RuntimeError):
        words = "Masses and constraints determine no velocities there."
        raise Stop(Status.SINGULAR, words) from None


def in_full(M: Array, E: Array) -> Response:
    """Of a small system."""
    n, m = len(M), len(E)
    if not m:
        return Response(definite_inverse(M), np.zeros((n, 0)), np.zeros((0, 0)), np.zeros((0, n)), 0)
    lengths = np.sqrt((E * E).sum(axis=1))
    unit = E / np.where(lengths > 0, lengths, 1.0)[:, None]
    try:
        inverse, lift = definite_inverse(M, NEARLY_MASSLESS), 0.0
    except np.linalg.LinAlgError:  # rows that hold what has no mass make up for it: the velocities are the same
        lift = float(np.trace(M)) / n or 1.0
        inverse = definite_inverse(M + lift * unit.T @ unit)
    B = inverse @ unit.T
    values, vectors = np.linalg.eigh(unit @ B)
    good = values > DEPENDENT_EQUALITIES * n * values[-1] if values[-1] > 0 else np.zeros(m, dtype=bool)
    S = (vectors[:, good] / values[good]) @ vectors[:, good].T
    # with the lift, p becomes p + lift EᵀE d, which adds lift·d to Λ
    back = np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1.0), 0.0)
    G = (B @ S) * back
    return Response(
        inverse - B @ S @ B.T,
        G,
        back[:, None] * (S - lift * np.eye(m) if lift else S) * back,
        back[:, None] * (S @ B.T),
        int(good.sum()),
    )


def definite_inverse(M: Array, least: float = NO_MASS_LEFT) -> Array:
    """M⁻¹ of a positive definite matrix; refused where a pivot is less than this share of its diagonal entry.

    Of a singular M, as Euler parameters have it, rounding leaves pivots of either sign.
    """
    diagonal = np.diagonal(M)
    if np.count_nonzero(M) == np.count_nonzero(diagonal):
        if not (diagonal > 0).all():
            raise np.linalg.LinAlgError
        return np.diag(1 / diagonal)
    lower = np.linalg.cholesky(M)
    if not (np.diagonal(lower) ** 2 > least * diagonal).all():
        raise np.linalg.LinAlgError
    factor = np.linalg.inv(lower)
    return np.asarray(factor.T @ factor)


def in_sparse(M: Sparse, E: Sparse) -> SparseResponse:
    """Of a large system."""
    from scipy.sparse import block_array, diags_array
    from scipy.sparse.linalg import splu

    n, m = M.shape[0], E.shape[0]
    masses = diagonal_of(M)
    if not m and not (M - diags_array(masses)).count_nonzero():
        if not (masses > 0).all():
            raise np.linalg.LinAlgError
        return SparseResponse(None, n, E, np.zeros(0), masses)
    typical = float(np.mean(masses))
    gives = YIELDS * np.asarray((E * E).sum(axis=1)).ravel() / typical if m else np.zeros(0)
    gives = np.where(gives > 0, gives, 1.0)
    whole = block_array([[M, E.T], [E, -diags_array(gives)]]) if m else M
    return SparseResponse(splu(whole.tocsc()), n, E, gives, None)
