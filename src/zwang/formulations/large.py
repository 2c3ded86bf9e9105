"""Large systems in sparse matrices, one at a time: solved, and refused where rows contradict each other."""

from functools import cached_property
from typing import Any

import numpy as np

from zwang.arrays import EPS, TINIEST, Array, Indices
from zwang.formulations.inputs import require_symmetric
from zwang.formulations.solution import Residuals, Solution
from zwang.formulations.solve import Names, contradiction
from zwang.linalg.rank import CONSISTENCY_TOL
from zwang.linalg.sparse.masses import free_acceleration
from zwang.linalg.sparse.matrix import Sparse, row_norms, scaled
from zwang.linalg.sparse.multipliers import shortest_multipliers
from zwang.linalg.sparse.rank import SparseRank, in_order
from zwang.linalg.sparse.ranked import SparseRanked, sparse_ranked
from zwang.linalg.sparse.steps import shortest


class LargeSolution(Solution):
    """A solution whose weighted inverse and null space, which are not sparse, are made when they are read."""

    def __init__(self, found: SparseRanked, **parts: Any) -> None:
        for name, value in {"found": found, **parts}.items():
            object.__setattr__(self, name, value)

    @cached_property
    def weighted_inverse(self) -> Array:
        """K₁ (n, m)."""
        found: SparseRanked = self.found  # type: ignore[attr-defined]
        r, n = found.rank, len(self.acceleration)
        K = np.array([found.saddle.solve(np.zeros(n), unit)[0] for unit in np.eye(r)]).reshape(r, n).T
        if r == len(self.multipliers):
            return K
        C = dependence(found, found.found)
        X = np.zeros((len(self.multipliers), r))
        X[found.rows], X[found.found.others] = np.eye(r), C[:, found.rows].toarray()
        return np.asarray(K @ np.linalg.pinv(X))

    @cached_property
    def null_space(self) -> Array:
        """An orthonormal basis (m, m − r) of null(Aᵀ)."""
        found: SparseRanked = self.found  # type: ignore[attr-defined]
        basis = -dependence(found, found.found).T.toarray()
        basis[found.found.others, np.arange(basis.shape[1])] = 1.0
        return np.asarray(np.linalg.qr(basis)[0]) if basis.shape[1] else basis


def solve_large(
    M: Sparse, A: Sparse, Q: Array, b: Array, C: Array, v: Array, names: Names, slack: Any = 0.0
) -> Solution:
    """`solve` for one large system, by the fundamental equation."""
    require_symmetric(M)
    found = sparse_ranked(M, A, names.coordinates)
    require_consistent(found, Q + C, b, names, slack)
    x, lam = found.solve(Q + C, b)
    force = constraint_force(found, x, lam, Q, C)
    ideal = constraint_force(found, *found.solve(Q, b), Q, 0 * C) if C.any() else force.copy()
    free = free_acceleration(M, found.mass, Q) if found.mass.definite else np.full_like(Q, np.nan)
    own = np.zeros(len(b))
    own[found.rows] = lam
    multipliers, unique = shortest_multipliers(found.scaled, found.rows, own)
    rows, miss = scaled(found.scaled[found.rows], row_norms(found.scaled[found.rows])), b - A @ x
    imbalance = (M @ x - Q - C) / found.units
    return LargeSolution(
        found,
        acceleration=x,
        constraint_force=force,
        ideal_force=ideal,
        nonideal_force=force - ideal,
        multipliers=multipliers,
        unique=unique,
        rank=np.intp(found.rank),
        gaussian=np.float64(np.maximum(0.5 * (x - free) @ force, 0.0)),
        free_acceleration=free,
        error=b - A @ free if found.mass.definite else np.full_like(b, np.nan),
        deviation=x - free,
        residuals=Residuals(
            constraint=length(miss),
            equilibrium=length(imbalance - shortest(rows, rows @ imbalance)),
            consistency=length(miss / row_norms(found.scaled)),
        ),
        constraint_power=np.float64(force @ v),
    )


def constraint_force(found: SparseRanked, x: Array, lam: Array, Q: Array, C: Array) -> Array:
    """Q_c, as Aᵀλ + C or as M q̈ − Q, whichever is the difference of smaller terms, entry by entry."""
    G = found.A[found.rows]
    by_rows, by_mass = G.T @ lam + C, found.M @ x - Q
    rows, mass = abs(G).T @ np.abs(lam) + np.abs(C), abs(found.M) @ np.abs(x) + np.abs(Q)
    return np.asarray(np.where(rows <= mass, by_rows, by_mass))


def length(x: Array) -> Any:
    """The length of a vector, a number."""
    return np.float64(np.linalg.norm(x))


def require_consistent(found: SparseRanked, Q: Array, b: Array, names: Names, slack: Any = 0.0) -> None:
    """Refuse rows that contradict the others: dependent in A, at odds in b by more than rounding and some slack."""
    if not len(found.found.others):
        return
    order = in_order(found.found)  # of rows that contradict each other it is the later one that is named
    x, _ = found.saddle_of(order.rows).solve(Q, b[order.rows])
    A, others, own = found.A, order.others, dependence(found, order)
    size = np.abs(b) + abs(A) @ terms(found, Q, x)
    # a dependent row is as uncertain as the rows it is made of, and no entry of x is known better than to the rounding
    # of the largest one, in units of equal mass
    size = np.maximum(size[others], abs(own) @ size)
    rounding = EPS * np.abs(x * found.mass.D).max(initial=0.0) / found.mass.D
    miss = b - A @ x
    slack = np.broadcast_to(slack, b.shape)
    slack = np.maximum(slack[others], abs(own) @ slack)
    limit = CONSISTENCY_TOL * size + len(x) * (abs(A) @ rounding)[others] + slack
    bad = np.flatnonzero(np.abs(miss[others]) > limit)
    if len(bad):
        k = int(bad[0])
        i = int(others[k])
        raise contradiction(names, "", i, partners(own, k), float(b[i]), float(miss[i]))


def dependence(found: SparseRanked, order: SparseRank) -> Sparse:
    """(m − r, m) how the dependent rows of A itself are made of the independent ones."""
    lengths = row_norms(found.scaled)
    return scaled(order.coefficients, rows=1 / lengths[order.others], columns=lengths)


def partners(dependence: Sparse, k: int) -> Indices:
    """The independent rows of which the k-th dependent one is a combination."""
    begin, end = dependence.indptr[k : k + 2]
    weight = np.abs(dependence.data[begin:end])
    return np.sort(dependence.indices[begin:end][weight > CONSISTENCY_TOL * max(weight.max(initial=0.0), TINIEST)])


def terms(found: SparseRanked, Q: Array, x: Array) -> Array:
    """(n,) the sizes of what q̈ is made of, by which its rounding is judged."""
    return np.asarray(np.abs(x) + np.abs(Q) / np.where(found.M.diagonal() > 0, found.mass.D, found.units) ** 2)
