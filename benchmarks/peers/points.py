"""The problems that are point masses of 1 kg in space: links between them, forces among them, as arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.peers.problem import Problem

Array = Any


@dataclass(frozen=True)
class Points:
    """Places and velocities (N, 3) at the start, rigid links of 1 m between pairs, gravity along −z."""

    start: Array
    velocity: Array
    links: Array
    """(L, 2) numbers of points; without links the points stay on the unit sphere."""
    g: float = 0.0
    repel: bool = False
    """Every pair repels each other with 1/distance, and velocities are damped by half of themselves."""

    @property
    def state(self) -> Array:
        return np.concatenate([self.start.ravel(), self.velocity.ravel()])

    def constraints(self, place: Array) -> Array:
        """What is left of them: half of squared length less 1."""
        rods = place if self.repel else place[self.links[:, 0]] - place[self.links[:, 1]]
        return ((rods**2).sum(axis=-1) - 1) / 2

    def energy(self, place: Array, velocity: Array) -> float:
        """NaN where it is damped away."""
        return float("nan") if self.repel else float((velocity**2).sum() / 2 + self.g * place[:, 2].sum())

    def outcome(self, problem: Problem, y: Array) -> tuple[Array, float, float]:
        """What is observed, the drift and the error of the energy."""
        place, velocity = np.asarray(y).reshape(2, -1, 3)
        energy = abs(self.energy(place, velocity) - self.energy(self.start, self.velocity))
        return place[list(problem.data["seen"])].ravel(), float(np.abs(self.constraints(place)).max()), energy
