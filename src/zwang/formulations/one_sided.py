"""One-sided constraints at acceleration level: Gauss's quadratic program with inequality rows (S0 conclusion 8).

Minimise ½|q̈ − a|²_M subject to A_E q̈ = b_E, A_I q̈ ≥ b_I. The acceleration is unique if the rows can be met;
which rows act is found exactly by a dual active-set method (daqp), redundant rows included.
"""

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array, Indices
from zwang.errors import InfeasibleError
from zwang.linalg.dependence import Dependence, dependence
from zwang.linalg.factors import Stack, factorise_masses
from zwang.linalg.masses import masses
from zwang.linalg.rank import CONSISTENCY_TOL, pivoted_rows, rank_tolerance, row_norms, row_rank

INFEASIBLE = -1  # daqp's exit flag


def working_rows(
    M: Array,
    Q: Array,
    A: Array,
    b: Array,
    one_sided: NDArray[np.bool_],
    rank_tol: float | None,
    row_names: tuple[str, ...],
    coordinate_names: tuple[str, ...],
    stack: Stack,
) -> tuple[Indices, Array]:
    """Rows that determine the solution if they hold with equality: all equalities, and one-sided rows that push.

    With them the sizes (m,) of the terms that make up each row's A q̈ − b, by which rounding is judged.
    """
    equal, sided = np.flatnonzero(~one_sided), np.flatnonzero(one_sided)
    mass = masses(M[None], A[None])
    scaled = A / mass.units
    rank = int(row_rank(scaled[None, equal], rank_tol)[0])
    factors = factorise_masses(mass, A[None, equal], rank, coordinate_names, stack)
    start = factors.solve(Q[None], b[None, equal])[0][0]
    gap = b[sided] - A[sided] @ start
    size = np.abs(b) + np.abs(A) @ factors.terms(Q[None], start[None])[0]
    decided = dependent_on(scaled, equal, sided, rank_tol)
    for i in np.flatnonzero(decided & (gap > CONSISTENCY_TOL * size[sided])):
        raise InfeasibleError(
            f"{row_names[sided[i]]}{stack.label(0)} is one-sided and cannot be met: the equalities hold it "
            f"{gap[i]:.6g} below its b = {b[sided[i]]:.6g}; check signs and right-hand sides"
        )
    # In x̂ = D q̈ = start + L⁻ᵀN u the Gaussian is ½|u|² plus a constant, N spanning what the equalities leave free.
    rows = (A[sided] / factors.D[0]) @ factors.Li[0].T @ factors.N[0]
    scale = row_norms(rows)
    gap = np.where(decided | (np.abs(gap) <= rank_tolerance(*A.shape) * size[sided]), np.minimum(gap, 0.0), gap)
    rows, gap = np.where(decided[:, None], 0.0, rows / scale[:, None]), gap / scale
    if (gap <= 0).all():
        return equal, size
    pushing = least_distance(rows, gap / gap.max())
    if pushing is None:
        names = ", ".join(row_names[i] for i in sided[conflicting(rows, gap / gap.max())])
        raise InfeasibleError(
            f"no acceleration{stack.label(0)} meets the one-sided rows {names} together with the equalities: they push "
            f"against each other; check signs and right-hand sides"
        )
    return np.sort(np.concatenate([equal, sided[pushing]])), size


def touching_rows(
    A: Array, gap: Array, size: Array, one_sided: NDArray[np.bool_], working: Indices, rank_tol: float | None
) -> Indices:
    """All rows that hold with equality and so could carry a force: the working ones and those that join them.

    `A` is in units of equal mass. `gap` (m,) is b − A q̈, `size` (m,) the size of the terms that make it up.
    """
    follows = dependent_on(A, working, np.arange(len(A)), rank_tol)
    near = np.abs(gap) <= np.where(follows, CONSISTENCY_TOL, rank_tolerance(*A.shape)) * size
    near &= one_sided & A.any(axis=1)
    near[working] = True
    return np.flatnonzero(near)


def dependent_on(A: Array, base: Indices, rows: Indices, rank_tol: float | None) -> NDArray[np.bool_]:
    """Which of the given rows of A depend on the base rows: nothing but rounding of them is outside their span.

    A row that is made of large multiples of base rows is as near to dependent as it is long beside them: pivoting
    would take it first, and find next to nothing left of the base row with the largest.

    >>> A = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> dependent_on(A, np.array([0, 1]), np.array([2, 3]), None).tolist()
    [True, False]
    """
    unit = A / row_norms(A)[:, None]
    tol = rank_tolerance(len(base) + 1, A.shape[1]) if rank_tol is None else rank_tol
    order, pivots = pivoted_rows(unit[None, base], min(len(base), A.shape[1]))
    largest = pivots.max(initial=1.0)
    rank = np.count_nonzero(pivots > tol * largest)
    spanning, R = np.linalg.qr(unit[base[order[0, :rank]]].T)
    inside = spanning.T @ unit[rows].T
    outside = np.linalg.norm(unit[rows].T - spanning @ inside, axis=0)
    multiples = np.abs(np.linalg.solve(R, inside)).max(axis=0, initial=1.0)
    return np.asarray(outside <= tol * largest * multiples)


def least_distance(rows: Array, gap: Array) -> Indices | None:
    """Which rows push in the shortest u with rows·u ≥ gap; None if no u meets them."""
    found = quadratic_program(np.eye(rows.shape[1]), np.zeros(rows.shape[1]), rows, gap) if rows.shape[1] else None
    return None if found is None else np.flatnonzero(found[1])


def conflicting(rows: Array, gap: Array) -> Indices:
    """Rows that cannot be met together: a nonnegative sum of them is zero, that of their gaps is not (Farkas)."""
    from scipy.optimize import nnls

    every = np.arange(len(gap))
    try:
        weights, _ = nnls(np.vstack([rows.T, gap]), np.eye(rows.shape[1] + 1)[-1])
    except RuntimeError:  # no convergence: then the message names them all
        return every
    found = np.flatnonzero(weights > CONSISTENCY_TOL * weights.max(initial=0.0))
    return found if len(found) else every


def quadratic_program(H: Array, f: Array, rows: Array, lower: Array) -> tuple[Array, Array] | None:
    """The minimiser of ½xᵀHx + fᵀx subject to rows·x ≥ lower and its multipliers; None where rows cannot be met."""
    import daqp

    unbounded = np.full(len(lower), 1e30)
    x, _, flag, info = daqp.solve(
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
    return np.asarray(x), -np.asarray(info["lam"])


def family(A: Array, rank: int) -> Dependence:
    """How the rows of one matrix depend on each other."""
    order = pivoted_rows(A[None] / row_norms(A)[None, :, None], rank)[0]
    return dependence(A[None], order, rank, rank_tolerance(*A.shape))


def nonnegative(lam: Array, family: Dependence, one_sided: NDArray[np.bool_]) -> Array:
    """The shortest multipliers of the family λ + N w that are nonnegative on one-sided rows, as the given λ is.

    The minimum-norm member may pull on a row that can only push, although another member does not: dropping
    such a row would be wrong (a table on four legs). The family is searched instead.
    """
    X, inverse, N = family.X[0], family.inverse[0], family.null_space[0]
    if N.shape[1]:
        lam = np.where(family.unique[0], lam, inverse.T @ (X.T @ lam))
        if (lam[one_sided] < 0).any():
            size = np.abs(lam).max()
            found = quadratic_program(np.eye(N.shape[1]), np.zeros(N.shape[1]), N[one_sided], -lam[one_sided] / size)
            lam = lam if found is None else lam + size * (N @ found[0])
    return np.where(one_sided, np.maximum(lam, 0.0), lam)
