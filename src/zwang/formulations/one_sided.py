"""One-sided constraints at acceleration level: Gauss's quadratic program with inequality rows (S0 conclusion 8).

Minimise ½|q̈ − a|²_M subject to A_E q̈ = b_E, A_I q̈ ≥ b_I. The acceleration is unique if the rows can be met;
which rows act is found exactly by a dual active-set method (daqp), redundant rows included.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.errors import InfeasibleError
from zwang.linalg.factors import dot, factorise
from zwang.linalg.rank import CONSISTENCY_TOL, Array, row_norms, row_rank

INFEASIBLE = -1  # daqp's exit flag


def active_rows(
    M: Array,
    Q: Array,
    A: Array,
    b: Array,
    one_sided: NDArray[np.bool_],
    rank_tol: float | None,
    row_names: tuple[str, ...],
    coordinate_names: tuple[str, ...],
) -> NDArray[np.intp]:
    """The rows that hold with equality in the solution and can carry a force: all equalities, some of the others."""
    equal, sided = np.flatnonzero(~one_sided), np.flatnonzero(one_sided)
    E, e = A[None, equal], b[None, equal]
    rank = int(row_rank(E, rank_tol)[0])
    factors = factorise(M[None], E, rank, coordinate_names)
    start = factors.solve(Q[None], e)[0][0]
    # In x̂ = D q̈ = start + L⁻ᵀN u the Gaussian is ½|u|² plus a constant, N spanning what the equalities leave free.
    N = np.linalg.qr(factors.Q1[0], mode="complete")[0][:, rank:]
    rows = (A[sided] / factors.D[0]) @ factors.Li[0].T @ N
    gap = b[sided] - A[sided] @ start
    scale = row_norms(np.concatenate([rows, np.zeros((len(rows), 1))], axis=1))
    rows, gap = rows / scale[:, None], gap / scale
    size = max(1.0, float(np.abs(gap).max(initial=0.0)))
    u = least_distance(rows, gap / size)
    if u is None:
        blocked = "; ".join(row_names[i] for i in sided)
        raise InfeasibleError(
            f"no acceleration meets the one-sided rows ({blocked}) together with the equalities: they push against each "
            f"other; check signs and right-hand sides"
        )
    slack = rows @ u - gap / size
    touching = sided[np.abs(slack) <= CONSISTENCY_TOL]
    return np.sort(np.concatenate([equal, touching]))


def least_distance(rows: Array, gap: Array) -> Array | None:
    """The shortest u with rows·u ≥ gap, or None if there is none."""
    if (gap <= 0).all():
        return np.zeros(rows.shape[1])
    if rows.shape[1] == 0:
        return np.zeros(0) if (gap <= CONSISTENCY_TOL).all() else None
    return quadratic_program(np.eye(rows.shape[1]), np.zeros(rows.shape[1]), rows, gap)


def quadratic_program(H: Array, f: Array, rows: Array, lower: Array) -> Array | None:
    """The minimiser of ½xᵀHx + fᵀx subject to rows·x ≥ lower, or None where the rows cannot be met."""
    import daqp

    unbounded = np.full(len(lower), 1e30)
    x, _, flag, _ = daqp.solve(
        np.ascontiguousarray(H),
        np.ascontiguousarray(f),
        np.ascontiguousarray(rows),
        unbounded,
        np.ascontiguousarray(lower),
        np.zeros(len(lower), dtype=np.intc),
        primal_tol=1e-11,
        dual_tol=1e-13,
    )
    if flag == INFEASIBLE:
        return None
    if flag < 0:
        raise InfeasibleError(f"the quadratic program of the one-sided rows was not solved (daqp exit flag {flag})")
    return np.asarray(x)


def nonnegative(A: Array, lam: Array, null_space: Array, one_sided: NDArray[np.bool_]) -> Array:
    """The shortest multipliers of the family λ + N w that are nonnegative on one-sided rows.

    The minimum-norm member may pull on a row that can only push, although another member does not: dropping
    such a row would be wrong (a table on four legs). The family is searched instead.
    """
    if null_space.shape[1] == 0 or (lam[one_sided] >= 0).all():
        return lam
    N = null_space
    w = quadratic_program(np.eye(N.shape[1]), np.zeros(N.shape[1]), N[one_sided], -lam[one_sided])
    if w is None:
        return lam
    found = lam + dot(N[None], w[None])[0]
    return np.where(one_sided & (np.abs(found) < 1e-12 * np.abs(found).max()), 0.0, found)


def as_mask(kinds: Any) -> NDArray[np.bool_]:
    """Flags as an array."""
    return np.asarray(list(kinds), dtype=bool)
