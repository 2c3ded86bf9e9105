"""The law of a block of rows: which impulses f go with which speeds u.

A block has a normal row or none, then 0, 1 or 2 tangential rows:

    normal        bilateral: u_N = 0;   unilateral: f_N ≥ low, u_N ≥ 0, (f_N − low) u_N = 0
    tangential    |f_T| ≤ r with r = μ|f_N| + bound, and f_T = −r u_T/|u_T| where it slides

Equalities, contacts, Coulomb's cone in the plane and in space, the expansion of Poisson's impact (`low`), bilateral
contacts with friction and dry friction with a known bound are parameters of this one law. Forces and accelerations obey
it as impulses and speeds do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal

Normal = Literal["none", "unilateral", "bilateral"]
MOST_TANGENTS = 2


@dataclass(frozen=True)
class Law:
    """The law of one block. Made by `equal`, `push`, `coulomb`, `guide` and `box`."""

    normal: Normal
    tangents: int = 0
    mu: float = 0.0
    mu_static: float = 0.0
    bound: float = 0.0
    low: float = 0.0
    way: tuple[float, ...] = ()
    """The direction of the slip, if the block slips already: friction is then known, whatever u_T is."""

    def __post_init__(self) -> None:
        """Refuse what is no law."""
        if self.tangents not in range(MOST_TANGENTS + 1):
            raise ValueError(f"A block has 0, 1 or 2 tangential rows, not {self.tangents}.")
        if self.normal == "none" and not self.tangents:
            raise ValueError("A block has a normal row, tangential rows or both; this one has none.")
        for name in ("mu", "mu_static", "bound", "low"):
            value = getattr(self, name)
            if not (isfinite(value) and value >= 0):
                raise ValueError(f"{name} = {value} of a law must be finite and not negative.")
        if self.mu_static < self.mu:
            raise ValueError(f"Static friction, {self.mu_static}, must not be less than that of sliding, {self.mu}.")
        if self.way and len(self.way) != self.tangents:
            raise ValueError(f"The direction of slip has {len(self.way)} numbers for {self.tangents} tangential rows.")

    @property
    def rows(self) -> int:
        """The number of rows of the block."""
        return (self.normal != "none") + self.tangents


def equal() -> Law:
    """u = 0, with any impulse."""
    return Law("bilateral")


def push(low: float = 0.0) -> Law:
    """0 ≤ f − low ⊥ u ≥ 0: a contact without friction."""
    return Law("unilateral", low=low)


def coulomb(
    mu: float, tangents: int = 1, static: float | None = None, low: float = 0.0, way: Sequence[float] = ()
) -> Law:
    """A contact with Coulomb's friction; `static` is the coefficient of sticking, `mu` itself by default."""
    return Law("unilateral", tangents, mu, mu if static is None else static, 0.0, low, tuple(map(float, way)))


def guide(mu: float, tangents: int = 1, static: float | None = None, way: Sequence[float] = ()) -> Law:
    """A bilateral contact with friction μ|f_N|."""
    return Law("bilateral", tangents, mu, mu if static is None else static, way=tuple(map(float, way)))


def box(bound: float, tangents: int = 1) -> Law:
    """Dry friction with a known bound: |f| ≤ bound, and f = −bound u/|u| where it slides."""
    return Law("none", tangents, bound=bound)
