"""A large system at rest at a place: matrices, acceleration, multipliers and slopes, all of them sparse.

As `analysis.dynamics.Point`, for systems with constraints on positions only. Beside rest, with H = ∂(−Aᵀλ − Q − C)/∂q,

    M δq̈ + H δq = Aᵀδλ,    A δq = 0.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from zwang.analysis.dynamics import RANK_CHANGES, ROUNDED_CHANGE, SINGULAR_CHANGE, Dynamics
from zwang.arrays import Array
from zwang.compile import Kernel
from zwang.compile.rolled.kernel import compile_rolled
from zwang.errors import InputError
from zwang.evaluation import names_of, require_finite_matrices
from zwang.formulations.inputs import require_symmetric
from zwang.formulations.large import dependence, require_consistent, terms
from zwang.linalg.sparse.matrix import Sparse, row_norms, scaled, sparse
from zwang.linalg.sparse.multipliers import shortest_multipliers
from zwang.linalg.sparse.ranked import SparseRanked, sparse_ranked
from zwang.lowering.cache import Kept
from zwang.lowering.lowered import SparseMatrices
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.rolled.families import families_of, rolled
from zwang.lowering.rolled.pencil import Pairs
from zwang.lowering.rolled.slopes import slopes_program

_SLOPES: Kept[tuple[Kernel, dict[str, Pairs]]] = Kept()


@dataclass(frozen=True, eq=False)
class Place:
    """A large system at rest where its constraints are obeyed."""

    dynamics: Dynamics
    q: Array

    @property
    def n(self) -> int:
        """The number of coordinates."""
        return len(self.q)

    @cached_property
    def now(self) -> SparseMatrices:
        """M, Q, C, A, and what constraints read."""
        found = matrices_at(self.dynamics, self.q)
        require_finite_matrices(self.dynamics.system, found)
        return found

    @cached_property
    def ranked(self) -> SparseRanked:
        """The rank of the constraints, with factors."""
        require_symmetric(self.now.M)
        return sparse_ranked(self.now.M, self.now.A, self.dynamics.system.coordinate_names)

    @property
    def units(self) -> Array:
        """(n,) units of equal mass."""
        return self.ranked.units

    @cached_property
    def _solution(self) -> tuple[Array, Array]:
        now = self.now
        require_consistent(self.ranked, now.Q + now.C, now.b, names_of(self.dynamics.system))
        a, own = self.ranked.solve(now.Q + now.C, now.b)
        lam = np.zeros(len(now.b))
        lam[self.ranked.rows] = own
        return a, lam

    @property
    def a(self) -> Array:
        """(n,) the acceleration from rest."""
        return self._solution[0]

    @cached_property
    def all_multipliers(self) -> tuple[Array, Any]:
        """Multipliers of least length, and which of them are unique."""
        return shortest_multipliers(self.ranked.scaled, self.ranked.rows, self._solution[1])

    @cached_property
    def terms(self) -> Array:
        """(n,) the sizes of what the acceleration is made of."""
        return terms(self.ranked, self.now.Q + self.now.C, self.a)

    # In coordinates of equal mass, x = units · q

    @cached_property
    def M(self) -> Sparse:
        """(n, n) masses, of about unit diagonal."""
        return scaled(self.now.M, self.units, self.units)

    @cached_property
    def G(self) -> Sparse:
        """(r, n) independent rows of about unit length."""
        rows = self.ranked.scaled[self.ranked.rows]
        return scaled(rows, row_norms(rows))

    @cached_property
    def H(self) -> Sparse:
        """(n, n) −∂(Q + C + Aᵀλ)/∂q."""
        return scaled(self._slopes["places"][: self.n], self.units, self.units)

    @cached_property
    def rates_matter(self) -> bool:
        """Whether forces change with velocities, beside rest."""
        return bool(np.abs(self._slopes["rates"][: self.n].data).max(initial=0.0) > 0)

    @cached_property
    def _slopes(self) -> dict[str, Sparse]:
        return self.slopes(self.a, self._solution[1])

    def slopes(self, a: Array, lam: Array) -> dict[str, Sparse]:
        """(n + m, n) the derivatives of M q̈ − Aᵀλ − Q − C and A q̈ − b by positions and by velocities."""
        (kernel, where), m = slopes_of(self.dynamics), len(lam)
        t, p = np.array([self.dynamics.t]), self.dynamics.values.p
        read = kernel(t=t, q=self.q, v=np.zeros(self.n), p=p, a=a, lam=lam)
        return {name: sparse(read[name], *where[name], (self.n + m, self.n)) for name in where}

    def require_regular(self) -> None:
        """Refuse a place beside which rows are independent that depend on each other here."""
        found, order = self.ranked, self.ranked.found
        if not len(order.others):
            return
        draw = np.random.default_rng(0)
        w, way = (self.along(draw.standard_normal(self.n)) for _ in range(2))
        turned = self.slopes(w, np.zeros(len(self.now.b)))["places"][self.n :] @ way
        lengths = row_norms(found.scaled)
        apart = np.abs(turned[order.others] - dependence(found, order) @ turned) / lengths[order.others]
        reach = float(np.abs(way).max() / max(np.abs(self.q).max(initial=0.0), np.finfo(float).tiny))
        rounding = ROUNDED_CHANGE * float((abs(self.now.A) @ np.abs(w) / lengths).max()) * reach
        bad = apart > SINGULAR_CHANGE * float(np.abs(turned / lengths).max()) + rounding
        if bad.any():
            names = self.dynamics.system.constraint_names
            raise InputError(RANK_CHANGES.format(names[order.others[int(np.argmax(bad))]]))

    def along(self, x: Array) -> Array:
        """The part of a direction that the constraints leave free, by least mass."""
        return np.asarray(self.ranked.solve(self.now.M @ x, np.zeros(len(self.now.b)))[0])


def matrices_at(dynamics: Dynamics, q: Array) -> SparseMatrices:
    """The sparse matrices of a system at rest, at any positions."""
    kernel = matrix_kernel(dynamics.system, dynamics.values.inputs)
    return kernel.sparse(dynamics.t, q, np.zeros(len(q)), dynamics.values.p)


def slopes_of(dynamics: Dynamics) -> tuple[Kernel, dict[str, Pairs]]:
    """The native code of the slopes of a system, and where its numbers belong; made once."""

    def make() -> tuple[Kernel, dict[str, Pairs]]:
        program, where = slopes_program(rolled(dynamics.lowered) or families_of(dynamics.lowered))
        return compile_rolled(program), where

    return _SLOPES.get(dynamics.key, make)
