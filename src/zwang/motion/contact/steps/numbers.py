"""A system as steps need it: its matrices with a row for each slip, which rows are what, and their coefficients."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.compile import Kernel
from zwang.engines.stepping.tables import Given
from zwang.linalg.masses import inverse_factors, regular, with_unit_diagonal
from zwang.linalg.sparse.masses import sparse_masses
from zwang.linalg.sparse.matrix import is_sparse, symmetric_factors
from zwang.lowering.lowered import AnyMatrices
from zwang.lowering.stepping import stepped
from zwang.motion.contact.coefficients import coefficients
from zwang.motion.setup import Setup
from zwang.motion.start import State

SAVED_AT_ONCE = 256  # saved states whose matrices are evaluated together


class Numbers:
    """The same of one system."""

    def __init__(self, setup: Setup, start: State) -> None:
        """With the system's numbers, at a start."""
        assert setup.contact is not None
        system = setup.system
        self.setup, self.made = setup, stepped(setup.lowered)
        self.rows = list(setup.contact.rows)
        self.place = {i: k for k, i in enumerate(self.rows)}
        self.m = len(system.constraints)
        self.count = self.m + len(self.made.slips)
        """Rows of constraints and slips together."""
        self.equal = np.array([i for i in range(self.m) if i not in self.place], dtype=np.intp)
        self.slips: dict[int, list[int]] = {}
        for k, i in enumerate(self.made.slips):
            self.slips.setdefault(i, []).append(self.m + k)
        found = coefficients(setup, self.rows)
        self.restitution = found.restitution[self.rows]
        self.friction = np.array([found.friction.get(i, (0.0, 0.0)) for i in self.rows]).reshape(-1, 2)
        self.slips = {i: rows for i, rows in self.slips.items() if self.friction[self.place[i], 0] > 0}
        self.at_start = self.matrices(*start)

    def matrices(self, t: float, q: Array, v: Array) -> AnyMatrices:
        """The system's matrices at a state, with a row for each slip."""
        return self.made.matrices.one(t, q, v, self.setup.p)

    def at_once(self, states: Sequence[State]) -> Iterator[tuple[slice | int, AnyMatrices]]:
        """The same at several states: of small systems at many together, of large ones one by one."""
        if self.made.matrices.large:
            for k, state in enumerate(states):
                yield k, self.matrices(*state)
            return
        for begin in range(0, len(states), SAVED_AT_ONCE):
            t, q, v = (np.array(part) for part in zip(*states[begin : begin + SAVED_AT_ONCE], strict=True))
            yield slice(begin, begin + len(t)), self.made.matrices(t, q, v, self.setup.p)

    def given(self, ledger: Kernel, event: Kernel | None) -> Given:
        """The same for the loop."""
        matrices, system, slips = self.made.matrices, self.setup.system, self.count - self.m
        order = np.array([*(c.order for c in system.constraints), *[1] * slips], dtype=int)
        return Given(
            matrices.kernel, ledger, event, len(self.setup.events), matrices.n, matrices.m, matrices.M_index,
            matrices.A_index, matrices.sum_index, matrices.residual_index, matrices.residual_rate_index,
            order, self.equal, self.rows, [self.slips.get(i, []) for i in self.rows],
            np.array([order[i] == 1 for i in self.rows], dtype=bool), self.restitution, self.friction, self.setup.p,
            self.made.hastens, self.lifting,
        )  # fmt: skip

    @cached_property
    def lifting(self) -> NDArray[np.bool_]:
        """(rows,) equalities that make up for masses that are singular at the start.

        Those that lie within coordinates which such masses couple, as the norm of Euler parameters does, if they do.
        """
        from scipy.sparse import csr_array

        found = np.zeros(self.count, dtype=bool)
        M, A = csr_array(self.at_start.M), csr_array(self.at_start.A[self.equal])
        for columns in sparse_masses(M, A).singular:
            touching = A[:, columns].count_nonzero(axis=1)
            within = np.flatnonzero((touching > 0) & (touching == A.count_nonzero(axis=1)))
            part, rows = M[columns][:, columns].toarray(), A[within][:, columns].toarray()
            mean = float(part.diagonal().mean()) or 1.0
            unit = rows / np.sqrt((rows * rows).sum(axis=1))[:, None]
            enough = bool(regular((part + mean * unit.T @ unit)[None])[0])
            found[self.equal[within if enough else np.flatnonzero(touching)]] = True
        return found


def gaussian(M: Any, force: Array) -> Any:
    """½FᵀM⁻¹F, of one state or of several (T,); not a number where M is singular."""
    if is_sparse(M):
        regular_here = sparse_masses(M, M[:0]).definite
        return 0.5 * float(force @ symmetric_factors(M).solve(force)) if regular_here else np.nan
    D, unit = with_unit_diagonal(M[:1] if (M[0] == M).all() else M)
    half, definite = inverse_factors(unit)
    return np.where(definite, 0.5 * np.square((half @ (force / D)[:, :, None])[:, :, 0]).sum(axis=1), np.nan)
