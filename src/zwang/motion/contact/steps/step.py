"""What happened in a step."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import TINIEST, Array
from zwang.engines.stepping.acting import NO_OWN_MOBILITY
from zwang.motion.start import State

MOST_LOOKED_AT = 100  # rows that are looked at for dependence


@dataclass(frozen=True)
class Step:
    """What happened in a step: the state after it, and everything that acted."""

    begin: State
    end: State
    v: Array
    """Velocities after impulses, before they are moved onto the equalities."""
    jump: Array
    """(n,) what contacts have changed of them."""
    moved: Array
    """(n,) by how much positions were moved back."""
    multipliers: Array
    """(m + r,) impulses of all constraints, then of slips."""
    impulse: Array
    """(n,) all of them together, as they act on the coordinates."""
    speeds: tuple[Array, Array]
    """(k,) γ before and after, of all contacts, NaN where they were not taken into account."""
    sticks: NDArray[np.bool_]
    """(k,) contacts that push and have no slip."""
    left: float
    """What is left of the worst law, as a share of the largest speed."""
    sweeps: int
    depth: Array
    """(k,) how deep contacts are penetrated after the step."""
    acting: "Acting"
    dulled: bool
    """Whether restitutions contradicted each other, and were left out."""
    struck: bool
    """Whether a contact that approaches is met, so that velocities jump."""

    @property
    def middle(self) -> State:
        """Where forces were taken, and the mean of the velocities."""
        t, q, v = self.begin
        h = self.end[0] - t
        return t + h / 2, q + h / 2 * v, (v + self.v) / 2


@dataclass(frozen=True)
class Acting:
    """The rank of the equalities, and of contacts the mobility, where rows begin, and who pushes and sticks."""

    equal: int
    contacts: tuple[Any, NDArray[np.intp], NDArray[np.bool_], NDArray[np.bool_]] | None
    unique: bool = True
    """Without these: whether impulses are shared in one way only."""

    @property
    def independent(self) -> tuple[int, bool]:
        """How many rows act that are independent, and whether contacts share their impulses in one way only.

        Of very many rows the latter is not looked at, and not said.
        """
        if self.contacts is None:
            return self.equal, self.unique
        W, first, pushes, sticks = self.contacts
        rows: list[int] = []
        for i, j, push, stick in zip(first[:-1], first[1:], pushes, sticks, strict=True):
            rows += [*range(i, j if stick else i + 1)] if push else []
        if len(rows) < 2 or len(rows) > MOST_LOOKED_AT:
            return self.equal + len(rows), len(rows) < 2
        part = W[np.ix_(rows, rows)] if isinstance(W, np.ndarray) else W[rows][:, rows].toarray()
        unit = 1 / np.sqrt(np.maximum(np.diagonal(part), TINIEST))
        found = int(np.linalg.matrix_rank(part * unit * unit[:, None], tol=NO_OWN_MOBILITY, hermitian=True))
        return self.equal + found, found == len(rows)
