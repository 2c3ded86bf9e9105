"""Large systems in sparse matrices: rows that contradict each other are refused as those of small systems are."""

import numpy as np

from zwang.arrays import EPS, TINIEST, Array, Indices
from zwang.formulations.solve import Names, contradiction
from zwang.linalg.rank import CONSISTENCY_TOL
from zwang.linalg.sparse.matrix import Sparse, row_norms, scaled
from zwang.linalg.sparse.rank import SparseRank, in_order
from zwang.linalg.sparse.ranked import SparseRanked


def require_consistent(found: SparseRanked, Q: Array, b: Array, names: Names) -> None:
    """Refuse rows that contradict the others: dependent in A, at odds in b."""
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
    bad = np.flatnonzero(np.abs(miss[others]) > CONSISTENCY_TOL * size + len(x) * (abs(A) @ rounding)[others])
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
