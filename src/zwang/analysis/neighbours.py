"""Neighbours of a motion: how directions from one state to others nearby are carried along it, without losing any.

Directions D that the sensitivities carry over a stretch are made orthonormal again, D = Q R. An entry of R is known to
the run's tolerance of the largest; so where the motion shortens a direction by more than the root of that, the stretch
is divided, and half of the digits of what is shortened are left. However small the product of many R becomes, it keeps
them: that of all stretches of a period has the Floquet multipliers as eigenvalues, and the diagonals have the Lyapunov
exponents.

Only where a motion jumps, at an impact, at a reset or onto a switch that holds it, a direction can be lost altogether.
It is, where nothing is left of it however short the stretch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from zwang.analysis.dynamics import Dynamics, dynamics_of
from zwang.analysis.readings import readings_of
from zwang.analysis.settle import Search
from zwang.arrays import Array, Indices
from zwang.lowering.lowered import lower
from zwang.model import System
from zwang.model.event import Event
from zwang.model.values import given_values
from zwang.motion.sensitivity import sensitivities

DIVISIONS_AT_JUMPS = 10  # of a stretch at whose jump a direction is lost
MOST_DIVISIONS = (
    20  # of a stretch without jumps: what is shortened in a millionth of it is below all numbers in the end
)
ASIDE = (np.sqrt(5) - 2) / 2  # of a stretch: motions jump at fractions of their periods, and this share is none
NOTHING_LEFT = 10.0  # tolerances, of the longest direction: no more than this is left of one that a jump has lost


@dataclass(frozen=True, eq=False)
class Stretch:
    """A stretch of a motion: the state (2n,) at its end, and what became of r₀ directions: D = Q R, Q (2n, r)."""

    end: Array
    directions: Array
    """(2n, r) orthonormal, in natural units."""
    R: Array
    """(r, r₀) triangular where no direction is lost."""
    kept: Indices
    """(r,) which of the directions are not lost."""
    shortest: float
    """What is left of the direction of which least is left, of the longest one."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """What carries directions in natural units along motions of a system."""

    system: System
    parameters: Mapping[Any, Any] | None
    tol: float
    resets: tuple[Event, ...]
    unit: Array
    """(2n,)"""

    @cached_property
    def jumps(self) -> bool:
        """Whether motions may jump, or come to rest on a switch, so that directions are lost."""
        switching = lower(self.system, given_values(self.system, self.parameters).inputs).description.switching
        return bool(self.resets) or switching or any(c.one_sided for c in self.system.constraints)

    def along(self, begin: float, end: float, x: Array, directions: Array, count: int = 1) -> list[Stretch]:
        """A motion from a state x (2n,), in as many stretches as it needs, at least `count`."""
        found: list[Stretch] = []
        times = aside(np.linspace(begin, end, count + 1)).tolist()
        for k in range(count):
            if directions.shape[1]:
                found += self.divided(times[k], times[k + 1], x, directions, 0)
                x, directions = found[-1].end, found[-1].directions
        return found

    def parts(self, stretches: Sequence[Stretch]) -> int:
        """In how many parts to begin a further stretch that is as long as all of these together."""
        shortest = min((s.shortest for s in stretches if len(s.kept) == s.R.shape[1]), default=1.0)
        return len(stretches) if shortest < self.tol**0.25 else max(len(stretches) // 2, 1)

    def divided(self, begin: float, end: float, x: Array, directions: Array, halvings: int) -> list[Stretch]:
        """The same, with a number of halvings that have been made already."""
        after, carried = self.carried(begin, end, x, directions)
        R = np.linalg.qr(carried)[1]
        longest = float(np.linalg.norm(carried, axis=0).max(initial=1.0))  # they were 1 long
        shortest = float(np.abs(np.diagonal(R)).min(initial=longest))
        _, middle, _ = aside(np.linspace(begin, end, 3)).tolist()
        last = halvings == (DIVISIONS_AT_JUMPS if self.jumps else MOST_DIVISIONS) or not begin < middle < end
        if last or shortest > np.sqrt(self.tol) * longest:
            return [Stretch(after, *triangular(carried, NOTHING_LEFT * self.tol * longest), shortest / longest)]
        first = self.divided(begin, middle, x, directions, halvings + 1)
        if not first[-1].directions.shape[1]:
            return first
        return first + self.divided(middle, end, first[-1].end, first[-1].directions, halvings + 1)

    def carried(self, begin: float, end: float, x: Array, directions: Array) -> tuple[Array, Array]:
        """The state at the end of a stretch, and directions there; those at its begin are put onto the constraints."""
        n, dynamics = len(x) // 2, dynamics_of(self.system, self.parameters, begin)
        search = search_on(dynamics)
        near, found = search.onto(x, self.unit)
        x = near if found else x
        basis = tangent_basis(dynamics, x, self.unit)
        keys = [*self.system.coordinates, *self.system.velocities]
        ways = {
            str(i): dict(zip(keys, map(float, way * self.unit), strict=True))
            for i, way in enumerate((basis @ (basis.T @ directions)).T)
        }
        motion = sensitivities(
            self.system, dict(zip(keys, map(float, x), strict=True)), end, ways, samples=2, parameters=self.parameters,
            tol=self.tol, t=begin, progress=False, events=self.resets,
        )  # fmt: skip
        there = np.concatenate([motion.dq.values[-1], motion.dv.values[-1]]) / self.unit[:, None]
        assert len(there) == 2 * n
        return np.concatenate([motion.q.values[-1], motion.v.values[-1]]), np.asarray(there)


def aside(times: Array) -> Array:
    """Instants (N,) at which a motion is divided, moved away from those at which it may jump; the ends stay.

    >>> aside(np.array([0.0, 1.0, 2.0])).round(3).tolist()
    [0.0, 0.882, 2.0]
    """
    moved = times.copy()
    moved[1:-1] -= ASIDE * np.diff(times)[:-1]
    return moved


def search_on(dynamics: Dynamics) -> Search:
    """What brings states onto the constraints, whatever they do there."""
    return Search(
        dynamics, readings_of(dynamics, dynamics.system.velocities, "constant"), None, np.zeros(0), rest=False
    )


def tangent_basis(dynamics: Dynamics, x: Array, unit: Array) -> Array:
    """(2n, d) an orthonormal basis, in natural units, of the directions to states nearby that obey the constraints."""
    n = len(x) // 2
    return np.asarray(np.linalg.qr((dynamics.at(x[:n], x[n:]).tangent.rows / unit).T)[0])


def triangular(directions: Array, nothing: float) -> tuple[Array, Array, Indices]:
    """Q R of directions without those of which no more than a length is left; Q, R and which are kept.

    >>> Q, R, kept = triangular(np.array([[2.0, 4.0, 0.0], [0.0, 0.0, 3.0]]), 1e-12)
    >>> kept.tolist(), np.abs(R).tolist()
    ([0, 2], [[2.0, 4.0, 0.0], [0.0, 0.0, 3.0]])
    """
    kept = np.arange(directions.shape[1])
    while True:
        Q, R = np.linalg.qr(directions[:, kept])
        sizes = np.pad(np.abs(np.diagonal(R)), (0, max(R.shape[1] - R.shape[0], 0)))
        lost = np.flatnonzero(sizes <= nothing)
        if not len(lost):
            return np.asarray(Q), np.asarray(Q.T @ directions), kept
        kept = np.delete(kept, lost[0])  # what comes behind it in R may be rounding of it
