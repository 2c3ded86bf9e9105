"""The verdict on a system's constraints at a state: redundant, inconsistent or singular, by name.

Three different things. *Redundant* rows say again what others say: harmless, but the forces of constraint
cannot be told apart. *Inconsistent* rows contradict others: no acceleration obeys them. A *singular*
configuration is one where the rank is below the one nearby: what is true here is not true next to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zwang.arrays import EPS, TINIEST, Array
from zwang.display import Displayed, told
from zwang.evaluation import limits
from zwang.formulations import large
from zwang.formulations.solve import partners
from zwang.generic_rank import generic_rank
from zwang.linalg.masses import Flags
from zwang.linalg.rank import CONSISTENCY_TOL, row_norms, rows_in_order
from zwang.linalg.ranked import Ranked, ranked
from zwang.linalg.sparse.masses import free_acceleration
from zwang.linalg.sparse.matrix import diagonal_of, is_sparse, scaled
from zwang.linalg.sparse.matrix import row_norms as sparse_row_norms
from zwang.linalg.sparse.rank import in_order
from zwang.linalg.sparse.ranked import SparseRanked, sparse_ranked
from zwang.lowering.lowered import AnyMatrices
from zwang.lowering.matrices import MatrixKernel
from zwang.model import System
from zwang.waiting import waiting
from zwang.words import count, listed

Partners = dict[int, tuple[int, ...]]


@dataclass(frozen=True)
class Standing:
    """How a contact stands at a state: open, closed, pushing, sticking or sliding; closing and beyond need an impact.

    `gap` is what it reads. Of one that is closed: its forces, what is left of the bound of sticking, Painlevé's margin
    where it may slide, and whether its forces are unique.
    """

    state: str
    gap: float
    normal_force: float | None = None
    friction_force: float | None = None
    reserve: float | None = None
    margin: float | None = None
    unique: bool = True
    note: str = ""

    def __str__(self) -> str:
        """The standing in words."""
        said = [f"{self.state}, its gap is {self.gap:.6g}" if self.state in ("open", "beyond") else self.state]
        if self.state == "closing":
            said.append("an impact follows")
        if self.normal_force is not None:
            said.append(f"normal force {self.normal_force:.6g}")
        if self.friction_force:
            said.append(f"friction {self.friction_force:.6g}")
        if self.reserve is not None:
            said.append(f"{self.reserve:.6g} in reserve")
        if self.margin is not None and self.state == "sliding":
            said.append(f"margin {self.margin:.6g}")
        if not self.unique:
            said.append("its force is not unique")
        return "; ".join([", ".join(said), self.note] if self.note else [", ".join(said)])


@dataclass(frozen=True)
class Verdict(Displayed):
    """What is to be said about a system's constraints at one state. `print(verdict)` says it in words."""

    name: str
    coordinates: tuple[str, ...]
    rank: int
    generic_rank: int
    """The rank at nearby states that satisfy the constraints."""
    redundant: Mapping[str, tuple[str, ...]]
    """Rows that follow from others: name → the rows it follows from (none for a row that is zero here)."""
    inconsistent: Mapping[str, tuple[str, ...]]
    """Rows that no acceleration can obey together with others: name → the rows it contradicts."""
    unique_multipliers: Mapping[str, bool]
    """Whether each constraint's multiplier, and so its force, is unique."""
    kinds: Mapping[str, tuple[str, ...]]
    residuals: Mapping[str, tuple[float, float]]
    """What each constraint reads at position and velocity level (NaN at a level below its own)."""
    violated: tuple[str, ...]
    """Constraints that the given state does not satisfy."""
    inactive: tuple[str, ...]
    """One-sided constraints that are not at their limit, and so take no part in the rank."""
    contacts: Mapping[str, Standing] = field(default_factory=dict)
    """How each contact stands, by name."""

    @property
    def degrees_of_freedom(self) -> int:
        """The number of independent accelerations that the constraints leave free."""
        return len(self.coordinates) - self.rank

    @property
    def singular(self) -> bool:
        """Whether the rank here is below that of nearby states."""
        return self.rank < self.generic_rank

    @property
    def imprecise(self) -> bool:
        """Whether rows that depend on each other while the constraints hold seem independent here.

        Then the state satisfies the constraints, but not exactly enough: such rows contradict each other by
        what is left over, divided by next to nothing.
        """
        return self.rank > self.generic_rank

    @property
    def ok(self) -> bool:
        """Consistent, not singular, and the state satisfies the constraints. (Redundant rows are not a fault.)"""
        return not (self.inconsistent or self.singular or self.violated or self.imprecise)

    def __repr__(self) -> str:
        """The verdict in a line; `print` says all of it."""
        wrong = [word for word, found in self.objections.items() if found]
        freedom = count(self.degrees_of_freedom, "degree") + " of freedom"
        return told(self, self.name, listed(wrong) or "ok", f"rank {self.rank}", freedom)

    @property
    def objections(self) -> dict[str, bool]:
        """What is wrong or remarkable, in a word each, and whether it is found here."""
        return {
            "inconsistent": bool(self.inconsistent),
            "singular": self.singular,
            "imprecise": self.imprecise,
            "violated": bool(self.violated),
            "redundant": bool(self.redundant),
        }

    def __str__(self) -> str:
        """The verdict as a person would give it: what the system is, each constraint, and the conclusions."""
        return "\n".join([self.head, *self.rows, "", *self.conclusions])

    @property
    def head(self) -> str:
        """The system in one line: its coordinates, its constraints, their rank and what they leave free."""
        n, m = len(self.coordinates), len(self.kinds)
        freedom = count(self.degrees_of_freedom, "degree") + " of freedom"
        return (
            f"{self.name or 'This system'}: {count(n, 'coordinate')}, "
            f"{count(m, 'constraint')} of rank {self.rank}, {freedom}."
        )

    @property
    def rows(self) -> list[str]:
        """Two lines on each constraint: of what kind it is, and what part it takes; on a contact, how it stands."""
        width, lines = max((len(name) for name in self.kinds), default=0), []
        for name, kinds in self.kinds.items():
            lines.append(f"  {name:<{width}}  {', '.join(kinds)}")
            lines.append(f"  {'':<{width}}  {self._role(name)}")
            if name in self.contacts:
                lines.append(f"  {'':<{width}}  {self.contacts[name]}")
        return lines

    def _role(self, name: str) -> str:
        if name in self.inactive:
            return "not at its limit here: takes no part"
        if name in self.inconsistent:
            others = self.inconsistent[name]
            return (
                f"inconsistent: contradicts {listed(others)}"
                if others
                else "inconsistent: a zero row asks for something"
            )
        if name in self.redundant:
            others = self.redundant[name]
            return f"redundant: follows from {listed(others)}" if others else "redundant: its row is zero here"
        unique = "unique" if self.unique_multipliers[name] else "not unique, a redundant row shares it"
        return f"independent; its force of constraint is {unique}"

    @property
    def conclusions(self) -> list[str]:
        """What follows: a line on each thing that is wrong or remarkable, or one line that nothing is."""
        lines = []
        if self.inconsistent:
            lines.append(
                f"Inconsistent: no acceleration obeys {listed((*self.inconsistent,))} together with the others. "
                "Drop one, or mend the right-hand sides."
            )
        if self.singular:
            lines.append(
                f"Singular: the rank is {self.rank} here but {self.generic_rank} at nearby states. Forces and "
                "accelerations computed exactly here are not the limit of those next to it."
            )
        if self.imprecise and not self.violated:
            lines.append(
                f"Imprecise: the rank is {self.rank} here but {self.generic_rank} at nearby states that satisfy the "
                "constraints to the last digits. Bring the state onto its constraints first."
            )
        if self.redundant and not (self.inconsistent or self.singular):
            lines.append(
                "Redundant but consistent: the motion is unique; how the force of constraint divides among the "
                "rows that are not unique is not."
            )
        if self.violated:
            worst = "; ".join(f"{name} reads {self._reading(name)}" for name in self.violated)
            lines.append(f"The state does not satisfy its constraints: {worst}.")
        if not lines:
            lines.append(
                "Nothing to object to: the rows are independent and consistent, and the state satisfies them."
                if self.kinds
                else "There are no constraints."
            )
        return lines

    def _reading(self, name: str) -> str:
        levels = zip(self.residuals[name], ("in position", "in velocity"), strict=True)
        return ", ".join(f"{value:.3g} {level}" for value, level in levels if np.isfinite(value))


@waiting("looking at the constraints")
def verdict_on(
    system: System,
    state: tuple[float, Array, Array],
    p: Array,
    kernel: MatrixKernel,
    now: AnyMatrices,
    violated: Sequence[int],
    found: Ranked | SparseRanked | None = None,
) -> Verdict:
    """The verdict at a state that was evaluated and checked; `found` is the rank of all rows, if it is known."""
    _, q, v = state
    names = system.constraint_names
    one_sided = np.array([c.one_sided for c in system.constraints], dtype=bool)
    at_limit, beyond = limits(system, now, q, v)
    active = np.flatnonzero(~one_sided | at_limit | beyond)
    if found is None or len(active) < len(names):
        found = ranked_any(now.M, now.A[active], system.coordinate_names)  # refuses an M that will not do
    rank, speed = found.rank, float(np.abs(v).max(initial=0.0))
    if isinstance(found, SparseRanked):
        follows, contradicts, unique = dependences_large(found, now.Q, now.b[active], speed)
    else:
        follows, contradicts, unique = dependences(now, now.A[active], now.b[active], found, speed)
    label = [names[i] for i in active]

    def named(pairs: dict[int, tuple[int, ...]]) -> dict[str, tuple[str, ...]]:
        return {label[i]: tuple(label[j] for j in others) for i, others in pairs.items()}

    if isinstance(found, SparseRanked) and found.found.sure:  # and so it is beside
        generic: int | None = rank
    else:
        generic = generic_rank(kernel, system, active, state, p, np.sqrt(diagonal_of(now.M)))
    wrong = sorted({*violated, *np.flatnonzero(beyond)})
    return Verdict(
        name=system.name,
        coordinates=system.coordinate_names,
        rank=rank,
        generic_rank=rank if generic is None else generic,
        redundant=named({i: others for i, others in follows.items() if i not in contradicts}),
        inconsistent=named(contradicts),
        unique_multipliers=dict.fromkeys(names, True) | dict(zip(label, map(bool, unique), strict=True)),
        kinds={c.name: c.kinds for c in system.constraints},
        residuals={
            name: (float(position), float(velocity))
            for name, position, velocity in zip(names, now.residual, now.residual_rate, strict=True)
        },
        violated=tuple(names[i] for i in wrong),
        inactive=tuple(name for i, name in enumerate(names) if i not in active),
    )


def dependences(now: Any, A: Array, b: Array, found: Ranked, speed: float) -> tuple[Partners, Partners, Flags]:
    """Rows that follow from independent ones (row → those), of these the ones whose b disagrees, and unique rows."""
    length = row_norms(found.scaled)
    A, b = A / length[:, None], b / length
    unit = A / found.units  # rows of unit length in units of equal mass: then no unit matters
    independent = rows_in_order(unit)
    if len(independent) != found.rank:  # near the tolerance, order and pivoting may disagree: pivoting decides
        independent = tuple(np.sort(found.factors.rows[0]))
    rows = np.array(independent, dtype=np.intp)
    dependence = combinations(unit, rows)
    free = np.abs(np.linalg.lstsq(now.M, now.Q, rcond=None)[0])
    # b may be what is left of terms of the second order in the velocities that cancel
    rounding = EPS * (1 + speed**2) * np.abs(A).sum(axis=1)
    size = np.abs(b) + np.abs(A) @ free + rounding / CONSISTENCY_TOL
    size = size + np.abs(dependence) @ size[rows]
    gap = np.abs(b - dependence @ b[rows])
    follows = {i: tuple(int(j) for j in partners(dependence, rows, i)) for i in range(len(A)) if i not in independent}
    contradicts = {i: others for i, others in follows.items() if gap[i] > CONSISTENCY_TOL * max(size[i], TINIEST)}
    return follows, contradicts, unique_rows(independent, dependence)


def dependences_large(found: SparseRanked, Q: Array, b: Array, speed: float) -> tuple[Partners, Partners, Flags]:
    """The same of a large system."""
    length, order = sparse_row_norms(found.scaled), in_order(found.found)
    A, b, others, dependence = scaled(found.A, length), b / length, order.others, order.coefficients
    free = np.abs(free_acceleration(found.M, found.mass, Q))
    size = np.abs(b) + abs(A) @ free + EPS * (1 + speed**2) * abs(A).sum(axis=1) / CONSISTENCY_TOL
    size = size[others] + abs(dependence) @ size
    bad = np.abs(b[others] - dependence @ b) > CONSISTENCY_TOL * np.maximum(size, TINIEST)
    follows = {int(i): tuple(large.partners(dependence, k).tolist()) for k, i in enumerate(others)}
    unique = np.ones(len(b), dtype=bool)
    unique[[*others, *(j for partners in follows.values() for j in partners)]] = False
    return follows, {int(i): follows[int(i)] for i in others[bad]}, unique


def ranked_any(M: Any, A: Any, names: tuple[str, ...]) -> Ranked | SparseRanked:
    """The rank of rows, dense or sparse."""
    return sparse_ranked(M, A, names) if is_sparse(A) else ranked(M, A, names)


def combinations(A: Array, rows: np.ndarray[Any, np.dtype[np.intp]]) -> Array:
    """Coefficients (m, r) that express every row of A by the given independent ones."""
    if not len(rows):
        return np.zeros((len(A), 0))
    return np.asarray(np.linalg.lstsq(A[rows].T, A.T, rcond=None)[0].T, dtype=float)


def unique_rows(independent: tuple[int, ...], dependence: Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which rows take part in no dependence, so that their multipliers are unique."""
    rows = np.array(independent, dtype=np.intp)
    unique = np.zeros(len(dependence), dtype=bool)
    unique[rows] = True
    for i in range(len(dependence)):
        if i not in independent:
            unique[partners(dependence, rows, i)] = False
    return unique
