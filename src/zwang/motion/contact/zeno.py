"""Accumulations: impacts that follow each other ever faster, infinitely many in a finite time.

A gap that opens with a speed γ and accelerates with g̈ < 0 closes again after 2γ/|g̈|, having been γ²/2|g̈| at most.
Impacts turn round a part ε of γ each time, so that all further flights together take 2γ/|g̈|(1 − ε). Once they are
faint, they are left out: contacts are closed from there on, and what is neglected is the height of the flight.
"""

from collections.abc import Sequence
from dataclasses import dataclass

LAST_SPEED = 1e-8  # of the fastest approach since a contact was closed: flights with less speed are left out


@dataclass(frozen=True)
class Flight:
    """How a gap is to open and close again: its speed, how it falls, its restitution, and the fastest approach before.

    `flat` is a height that rounding hides.
    """

    speed: float
    falls: float
    restitution: float
    fastest: float
    flat: float

    @property
    def height(self) -> float:
        """How far the gap will open."""
        return self.speed**2 / (2 * self.falls)

    @property
    def lasts(self) -> float:
        """How long this flight and all further ones take together."""
        return 2 * self.speed / (self.falls * (1 - self.restitution))

    def faint(self, soon: float) -> bool:
        """Whether it is so short, low or slow that it may be left out with all that follow; not if it is elastic."""
        if not self.falls > 0:
            return False
        if self.height <= self.flat:
            return True
        return self.restitution < 1 and (self.speed <= LAST_SPEED * self.fastest or self.lasts <= soon)


def accumulation(flights: Sequence[Flight], soon: float) -> tuple[float, float] | None:
    """How long it takes until some flights have ended for good, and their height; None if they are not faint."""
    if not flights or not all(flight.faint(soon) for flight in flights):
        return None
    lasting = [flight.lasts for flight in flights if flight.restitution < 1]
    return max(lasting, default=0.0), max(flight.height for flight in flights)
