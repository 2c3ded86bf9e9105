"""What happened in a step."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.motion.start import State


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
    rank: int
    """How many rows act that are independent."""
    unique: bool
    """Whether contacts share their impulses in one way only. Of very many rows it is not looked at, and not said."""
    struck: bool
    """Whether a contact that approaches is met, so that velocities jump."""

    @property
    def middle(self) -> State:
        """Where forces were taken, and the mean of the velocities."""
        t, q, v = self.begin
        h = self.end[0] - t
        return t + h / 2, q + h / 2 * v, (v + self.v) / 2
