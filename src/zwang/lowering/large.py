"""What the explicit equation of a large system is built on, chosen at a state: `lowering.rows` on sparse matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.arrays import TINIEST, Array, Indices
from zwang.linalg.rank import power_of_two
from zwang.linalg.sparse.masses import inverse_by_blocks
from zwang.linalg.sparse.matrix import (
    Sparse,
    pivots_of,
    plus_diagonal,
    scaled,
    smallest_eigenvalue,
    solve_columns,
    symmetric_factors,
)
from zwang.linalg.sparse.rank import in_order
from zwang.linalg.sparse.ranked import SparseRanked
from zwang.lowering.lifting import Lifted, lifting_rows
from zwang.lowering.lowered import AnyMatrices, Lowered, Matrices, SparseMatrices
from zwang.lowering.matrices import MatrixKernel
from zwang.lowering.rolled.families import rolled
from zwang.lowering.rolled.lifting import Probes, lifting_members, mass_blocks
from zwang.lowering.rows import RowBasis, as_damping

VOLUMES_APART = 100.0  # of logarithms of volumes, whose range is some hundred
PROBES = 2  # places at which a sum that is zero by structure is zero
ROWS_AT_ONCE = 64  # rows whose mobilities are found together


def choose_large(
    now: SparseMatrices, found: SparseRanked, lowered: Lowered, probes: Probes, damped: bool = True
) -> RowBasis:
    """Independent rows of a large system, and what else is to be chosen, at a state where its rank is known."""
    m = now.A.shape[0]
    redundant = found.rank < m and damped
    used = np.arange(m) if redundant else found.rows
    lift = lifts(now, used, lowered, redundant, probes)
    if not redundant:
        return RowBasis(tuple(found.rows.tolist()), lift)
    rows = in_order(found.found).rows  # of rows that say the same, the later ones are called redundant
    mobility = mobilities(now, lift)
    damping, units = as_damping(mobility, rows.tolist(), nearest_dependence(now, lift, rows, mobility))
    grown = volume(now, lift, damping, units)
    return RowBasis(tuple(rows.tolist()), lift, damping=damping, units=units, volume=grown)


def lifts(now: SparseMatrices, rows: Indices, lowered: Lowered, redundant: bool, probes: Probes) -> Lifted:
    """The rows that lift a singular M."""
    mass = mass_blocks(now.M)
    if not mass.nullity.any():
        return ()
    if (families := rolled(lowered)) is not None:
        return lifting_members(families, mass, now, rows, redundant, probes)
    return lifting_rows(in_full(now), rows.tolist(), lowered, redundant)


def in_full(now: AnyMatrices) -> Matrices:
    """The same matrices as dense ones."""
    if isinstance(now, Matrices):
        return now
    M, A = now.M.toarray(), now.A.toarray()
    return Matrices(
        M, now.Q, A, now.b, now.C, now.residual, now.residual_rate, now.size, now.rate_size, row_size=np.abs(A)
    )


def probes_of(kernel: MatrixKernel, t: float, p: Array) -> Probes:
    """Places at random, the same ones every time."""

    def probes() -> list[SparseMatrices]:
        draw = np.random.default_rng(1)
        states = [draw.uniform(0.5, 1.5, (2, kernel.n)) for _ in range(PROBES)]
        return [kernel.sparse(t + draw.uniform(0.5, 1.5), q, v, p) for q, v in states]

    return probes


def nearest_dependence(now: SparseMatrices, lift: Lifted, rows: Indices, mobility: Array) -> float:
    """About the least eigenvalue of AM⁻¹Aᵀ of some rows, in units of its diagonal."""
    from scipy.sparse import block_array
    from scipy.sparse.linalg import splu

    M = lifted(now.M, now.A, lift)
    D = power_of_two(np.sqrt(M.diagonal()))
    unit = scaled(scaled(now.A[rows], np.sqrt(np.where(mobility > 0, mobility, 1.0)[rows])), columns=D)
    matrix = block_array([[scaled(M, D, D), unit.T], [unit, None]], format="csc")
    try:
        factors = splu(matrix)
    except RuntimeError:  # a pivot is zero
        return 0.0
    return smallest_eigenvalue(Multipliers(factors, len(D)), len(rows))[0]


@dataclass(frozen=True)
class Multipliers:
    """(AM⁻¹Aᵀ)⁻¹, by the factors of the matrix of M (n, n) and A."""

    factors: Any
    n: int

    def solve(self, b: Array) -> Array:
        """Multipliers that make A q̈ = b."""
        return np.asarray(-self.factors.solve(np.concatenate([np.zeros(self.n), b]))[self.n :])


def volume(now: SparseMatrices, lift: Lifted, damping: tuple[float, ...], units: tuple[float, ...]) -> float:
    """The logarithm of the product of damped pivots as programs have it, roughly, so that elsewhere it is the same."""
    if (inverse := inverse_by_blocks(lifted(now.M, now.A, lift))) is None:
        return 0.0
    mu = np.array(damping)
    unit = scaled(now.A, np.sqrt(mu))
    factors = symmetric_factors(plus_diagonal((unit @ inverse @ unit.T).tocsr(), 1.0))
    found = float(np.log(np.maximum(pivots_of(factors), TINIEST)).sum() + np.log(mu / np.array(units)).sum())
    return VOLUMES_APART * round(found / VOLUMES_APART)


def mobilities(now: SparseMatrices, lift: Lifted) -> Array:
    """(m,) aM⁻¹aᵀ for each row a, with M lifted."""
    M = lifted(now.M, now.A, lift)
    if (inverse := inverse_by_blocks(M)) is not None:
        return np.asarray(((now.A @ inverse) * now.A).sum(axis=1))
    D = power_of_two(np.sqrt(M.diagonal()))
    factors = symmetric_factors(scaled(M, D, D))
    rows = scaled(now.A, columns=D)
    found = np.zeros(rows.shape[0])
    for begin in range(0, len(found), ROWS_AT_ONCE):
        part = rows[begin : begin + ROWS_AT_ONCE]
        inverse = solve_columns(factors, part.T.toarray()).T
        found[begin : begin + ROWS_AT_ONCE] = np.asarray((part * inverse).sum(axis=1))
    return found


def lifted(M: Sparse, A: Sparse, lift: Lifted) -> Sparse:
    """M + Σ w aᵀa."""
    if not lift:
        return M
    rows = A[[i for i, _ in lift]]
    weights = []
    for (_, weight), begin, end in zip(lift, rows.indptr[:-1], rows.indptr[1:], strict=True):
        entries = dict(zip(rows.indices[begin:end].tolist(), rows.data[begin:end].tolist(), strict=True))
        weights.append(weight.of({j: entries.get(j, 0.0) for j, _ in weight.shares}))
    return (M + rows.T @ scaled(rows, 1 / np.array(weights))).tocsr()
