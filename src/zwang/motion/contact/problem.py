"""Modes of closed contacts: what each of them may do, the linear problem that a mode is, and its solution."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from zwang.arrays import Array
from zwang.motion.contact.acting import Acting
from zwang.motion.contact.split import FREE, spanning
from zwang.motion.contact.units import balanced, mass_units

OPEN, CLOSED, STICK, FORTH, BACK = "open", "closed", "stick", "forth", "back"
LEAVE, LEAVE_STICK, LEAVE_FORTH, LEAVE_BACK = "leave", "leave stick", "leave forth", "leave back"
"""What a contact with a given normal impulse may do beside: no more of it is needed, and its gap opens."""
SIGN = {FORTH: 1.0, BACK: -1.0, LEAVE_FORTH: 1.0, LEAVE_BACK: -1.0}
STICKS = (STICK, LEAVE_STICK)
LEAVES = (OPEN, LEAVE, LEAVE_STICK, LEAVE_FORTH, LEAVE_BACK)


@dataclass(frozen=True)
class Surface:
    """A contact at a state: its rows and what they ask for, its coefficients, and what it may do.

    `least` is what n x is at least, and is if it is closed; `stuck` what t x is if it sticks.
    """

    row: int
    n: Array
    least: float
    t: Array | None
    stuck: float
    mu_s: float
    mu_k: float
    may: tuple[str, ...]
    slips: bool = False
    """Whether it slips already, so that its direction is known."""
    given: float = 0.0
    """A normal impulse that acts whatever else does."""
    across: Array | None = None
    stuck_across: float = 0.0
    """The same of a second slip, in space, where the direction of the slip is not known."""
    side: float = 1.0
    """The sign of its multiplier: −1 for a guide that pushes against its row, so that n is minus that."""


@dataclass(frozen=True)
class Problem:
    """M x = Q + Aᵀλ with rows that hold, and surfaces: for accelerations or, with momenta, for velocities."""

    M: Array
    Q: Array
    equal: Array
    right: Array
    surfaces: tuple[Surface, ...]
    held: tuple[int, ...] = ()
    """The constraints whose rows hold,"""
    law: Acting | None = None
    """and forces that depend on their multipliers, or on those of surfaces, or that hold at switches: instead of Q."""

    def modes(self) -> Iterator[tuple[str, ...]]:
        """All modes that may be."""
        return product(*(surface.may for surface in self.surfaces))

    @cached_property
    def free(self) -> Array:
        """x without any row."""
        return balanced(self.M, self.equal[:0], self.Q, mass_units(self.M, self.equal))

    @property
    def count(self) -> int:
        """How many there are."""
        return prod(len(surface.may) for surface in self.surfaces)


@dataclass(frozen=True)
class Found:
    """A mode with its x and the forces (k,) along normals and slips."""

    mode: tuple[str, ...]
    x: Array
    normal: Array
    friction: Array
    dependent: bool
    """Whether its rows are, so that forces are not unique."""
    gaps: Array
    """(k,) how much more than asked for n x is, as a share of its terms."""
    across: Array = field(default_factory=lambda: np.zeros(0))
    """(k,) forces along second slips, in space."""
    family: tuple[Array, Array, Array, Array] | None = None
    """Where rows are dependent, what may be added (·, d) to x and to forces along normals, slips and second slips."""
    multipliers: Array = field(default_factory=lambda: np.zeros(0))
    """Of the rows that hold,"""
    shares: Array = field(default_factory=lambda: np.zeros(0))
    """and the shares of switches that rest."""

    @property
    def moves(self) -> bool:
        """Whether x is another with other members of the family."""
        return self.family is not None and float(np.abs(self.family[0]).max()) > FREE

    def moved(self, w: Array) -> "Found":
        """Another member of the family."""
        assert self.family is not None
        x, normal, friction, across = self.family
        return replace(
            self, x=self.x + x @ w, normal=self.normal + normal @ w, friction=self.friction + friction @ w,
            across=self.across + across @ w,
        )  # fmt: skip

    def free_forces(self) -> Array:
        """(d, d') combinations of a family's members whose forces are orthonormal, without those that have none."""
        assert self.family is not None
        return spanning(np.concatenate(self.family[1:]), FREE * max(float(np.abs(part).max()) for part in self.family))
