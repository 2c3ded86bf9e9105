"""The saddle-point system of the chosen rows, factorised in the steps of a program."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import symengine as se

from zwang.errors import UndeterminedError
from zwang.lowering.contact import symbol
from zwang.lowering.lowered import Lowered
from zwang.lowering.rows import RowBasis
from zwang.lowering.saddle import Row, Saddle, Steps, factorise_saddle
from zwang.lowering.skew import factorise_skew

REFINEMENTS = 2  # of solutions with damped rows: see `DAMPING`
REFINEMENTS_OF_CLOSE = 4  # of solutions with rows that are nearly dependent: each gives back what pivots have kept


IN_RANGE = 32  # damped pivots whose product is sure not to overflow


@dataclass(frozen=True)
class Equation:
    """The saddle-point system of the chosen rows A with right-hand sides b, factorised."""

    lowered: Lowered
    basis: RowBasis
    A: list[Row]
    b: list[Any]
    lift: "Lift"
    saddle: Saddle
    refinements: int

    @classmethod
    def of(
        cls,
        lowered: Lowered,
        basis: RowBasis,
        steps: Steps,
        b: Sequence[Any],
        coordinates_first: bool = False,
        refinements: int = REFINEMENTS,
    ) -> "Equation":
        """Factorised within the steps of a program."""
        A = [{j: steps.name(e) for j, e in masked_row(lowered, basis, i).items()} for i in basis.used]
        lift = Lift.of(lowered, basis, steps)
        saddle = factorise_saddle(lift.mass, A, steps, coordinates_first, diagonal(basis, basis.used))
        if any(pivot == 0 for pivot in saddle.constraint_pivots()):
            raise UndeterminedError(
                "the constraints are so nearly dependent that rounding takes all digits of how they differ; drop one "
                "of them, or write them so that they say different things"
            )
        return cls(lowered, basis, A, [steps.name(e) for e in b], lift, saddle, refinements_of(basis, refinements))

    def solve(self, Q: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """q̈ and the multipliers of the rows used, for forces Q."""
        return self.solve_for(Q, self.b)

    def solve_for(self, Q: Sequence[Any], b: Sequence[Any], by: Saddle | None = None) -> tuple[list[Any], list[Any]]:
        """q̈ and λ for other right-hand sides, by the factorisation that is there, or by another one."""
        b = masked_entries(self.basis, self.basis.used, b)
        forces = self.lift.forces(Q, dict(zip(self.basis.used, b, strict=True)))
        return (by or self.saddle).solve_refined(self.A, forces, b, self.refinements)

    def skewed(self, S: Mapping[int, Row]) -> Saddle:
        """The same system factorised with what multipliers push beside their rows, by places of these."""
        damping = diagonal(self.basis, self.basis.used)
        return factorise_skew(self.lift.mass, self.A, S, self.saddle.steps, damping)

    def refined(self, x: Sequence[Any], lam: Sequence[Any], b: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """q̈ and λ once more, with what the rows miss of b made up for."""
        return self.saddle.refined(self.A, (x, lam), masked_entries(self.basis, self.basis.used, b))

    def respond(self, row: int) -> tuple[list[Any], list[Any]]:
        """q̈ and λ that a unit force along a row makes, masked or not, by the factorisation that is there."""
        return self.respond_to(self.lowered.derived.A[row])

    def respond_to(self, entries: Mapping[int, Any]) -> tuple[list[Any], list[Any]]:
        """q̈ and λ that a force makes, given by its entries, by the factorisation that is there."""
        force: list[Any] = [None] * len(self.lowered.derived.Q)
        for j, e in entries.items():
            force[j] = self.saddle.steps.name(e)
        return self.saddle.solve_refined(self.A, force, [None] * len(self.A), self.refinements)

    @property
    def pivots(self) -> list[Any]:
        """What vanishes where the equation loses its meaning; the first ones are those of the rows.

        Of damped rows, the pivots of redundant ones are small, and which ones are changes on the way. Their product
        does not change so: it falls only where the rank does, and its reciprocal where the rank rises.
        """
        own = self.saddle.constraint_pivots()
        if self.basis.damping:
            own = self._volume(own)
        return [*own, *self.saddle.mass_pivots()]

    def _volume(self, pivots: Sequence[Any]) -> list[Any]:
        """The product of damped pivots, about 1 where they were chosen, and its reciprocal."""
        name, units = self.saddle.steps.name, self.basis.units
        grown = [pivot / units[i] for pivot, i in zip(pivots, self.basis.used, strict=True)]
        parts = [name(se.Mul(*grown[k : k + IN_RANGE])) for k in range(0, len(grown), IN_RANGE)]
        volume = parts[0] if len(parts) == 1 else name(se.exp(se.Add(*map(se.log, parts))))
        return [volume, 1 / volume]


def refinements_of(basis: RowBasis, most: int) -> int:
    """How often a solution is refined: also beside Gibbs and Appell's form, whose motion does not depend on it."""
    if basis.damping or basis.pivots:
        return most
    return REFINEMENTS_OF_CLOSE if basis.close else 0


def masked_row(lowered: Lowered, basis: RowBasis, i: int) -> Row:
    """A row of A, times its mask if it has one."""
    row = lowered.derived.A[i]
    return {j: symbol("mask", i) * e for j, e in row.items()} if i in dict(basis.masked) else row


def masked_entries(basis: RowBasis, rows: Sequence[int], entries: Sequence[Any]) -> list[Any]:
    """An entry for each of some rows, times their masks; None stays a structural zero."""
    masks = dict(basis.masked)
    return [e if e is None or i not in masks else symbol("mask", i) * e for i, e in zip(rows, entries, strict=True)]


def diagonal(basis: RowBasis, rows: Sequence[int]) -> list[Any]:
    """What is taken from the diagonal of the saddle-point matrix at some rows: damping, and weights where σ = 0."""
    if not basis.damping and not basis.masked:
        return []
    masks = dict(basis.masked)
    damping = [se.RealDouble(basis.damping[i]) if basis.damping else se.Integer(0) for i in rows]
    return [
        mu + se.RealDouble(masks[i]) * (1 - symbol("mask", i)) if i in masks else mu
        for i, mu in zip(rows, damping, strict=True)
    ]


def right_hand_sides(lowered: Lowered, rows: Sequence[int], gains: tuple[Any, Any] | None) -> list[Any]:
    """b of the given rows, with Baumgarte's −2αφ̇ − β²φ (−αψ at velocity level) where gains are given."""
    derived, result = lowered.derived, []
    for i in rows:
        terms = [derived.b[i]]
        if gains is not None and derived.residual[i] is not None:
            terms += [-2 * gains[0] * derived.residual_rate[i], -(gains[1] ** 2) * derived.residual[i]]
        elif gains is not None and derived.residual_rate[i] is not None:
            terms.append(-gains[0] * derived.residual_rate[i])
        result.append(se.Add(*terms))
    return result


@dataclass(frozen=True)
class Lift:
    """What stands in for a singular M: M with w aᵀa added for each lifted row a, named w a and a."""

    mass: list[Row]
    rows: dict[int, Row]
    """row → w a"""

    @classmethod
    def of(cls, lowered: Lowered, basis: RowBasis, steps: Steps) -> "Lift":
        """The lift that a basis of rows asks for, its entries named in the steps of a program."""
        M = [dict(row) for row in lowered.derived.M]
        rows: dict[int, Row] = {}
        for i, weight in basis.lifted:
            a = {j: steps.name(e) for j, e in lowered.derived.A[i].items()}
            w = steps.name(weight.of(a, se.Integer(1)))
            rows[i] = {j: w * e if w.is_Number else steps.name(w * e) for j, e in a.items()}
            for j, e in rows[i].items():
                for k, f in a.items():
                    M[j][k] = M[j].get(k, 0) + (e * f if j <= k else rows[i][k] * a[j])
        return cls(M, rows)

    def forces(self, Q: Sequence[Any], b: Mapping[int, Any]) -> list[Any]:
        """Q with w b a added for each lifted row that has a b, so that the multipliers remain those of M itself."""
        lifted = list(Q)
        for i, row in self.rows.items():
            if (right := b.get(i)) is not None:
                for j, e in row.items():
                    lifted[j] = e * right if lifted[j] is None else lifted[j] + e * right
        return lifted


def constraint_forces(A: Sequence[Row], lam: Sequence[Any], n: int, steps: Steps) -> list[Any]:
    """Aᵀλ, coordinate by coordinate: the forces that ideal constraints exert."""
    terms: list[list[Any]] = [[] for _ in range(n)]
    for row, l in zip(A, lam, strict=True):
        if l is not None:
            for j, e in row.items():
                terms[j].append(e * l)
    return [steps.sum(parts) if parts else se.Integer(0) for parts in terms]


def filled(entries: Sequence[Any]) -> tuple[Any, ...]:
    """Entries with 0 in the place of None, which says that an entry is zero by structure."""
    return tuple(se.Integer(0) if e is None else e for e in entries)
