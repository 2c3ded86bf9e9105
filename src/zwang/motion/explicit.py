"""The explicit equation of motion of a model, as straight-line programs: no unknown multiplier, no iteration.

The acceleration is one expression graph in t, q, q̇ and the parameters. What it is built on is a `Choice`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import symengine as se

from zwang.compile import Program
from zwang.evaluation import Model
from zwang.formulations.forms import FORMS, Elimination
from zwang.linalg.saddle import Row, Saddle, Steps, factorise_saddle
from zwang.motion.choice import DAMPING, Choice
from zwang.motion.power import constraint_rates, energies, ledger, total_power

GAINS = (se.Symbol("alpha"), se.Symbol("beta"))  # Baumgarte's
REFINEMENTS = 2  # of solutions with damped rows: see `DAMPING`
IN_RANGE = 32  # damped pivots whose product is sure not to overflow
REFINEMENTS_OF_REPORT = 4  # near singular positions, too, its digits should be right; it has few states to solve for


def acceleration_program(
    model: Model, choice: Choice, form: str = "fundamental", gains: tuple[Any, Any] | None = None
) -> Program:
    """q̈, the pivots that tell where it loses its meaning, and the power that changes the energy, if any does.

    `gains` (α, β) are symbols for Baumgarte's terms.
    """
    derived = model.derived
    Q = [f + c for f, c in zip(derived.Q, derived.C, strict=True)]
    b = right_hand_sides(model, choice.used, gains)
    rates = constraint_rates(model, choice.used, off=gains is not None)
    steps = Steps(se.Symbol, se.Add)
    multipliers: Sequence[Any]
    if FORMS[form].eliminates:
        acceleration, pivots = gibbs_appell(model, choice, Q, dict(zip(choice.rows, b, strict=True)), steps)
        plain = right_hand_sides(model, choice.used, None)
        multipliers = Equation.of(model, choice, steps, plain).solve(Q)[1] if rates else ()
    else:
        equation = Equation.of(model, choice, steps, b, coordinates_first=coordinates_first(form))
        acceleration, multipliers = equation.solve(Q)
        pivots = equation.pivots
        if gains is not None and rates:  # the power is that of the physical forces, without Baumgarte's
            plain = right_hand_sides(model, choice.used, None)
            multipliers = equation.solve_for(Q, plain)[1]
    power = total_power(model, rates, dict(zip(choice.used, multipliers, strict=False)))
    inputs = model.inputs if gains is None else model.inputs | {"gains": gains}
    outputs = {"acceleration": filled(acceleration), "pivots": tuple(pivots)}
    if power != 0:
        outputs["power"] = (power,)
    return Program(inputs=inputs, outputs=outputs, shapes={}, steps=tuple(steps.done))


def coordinates_first(form: str) -> bool:
    """Whether a form has all coordinates eliminated before any constraint."""
    return FORMS[form].elimination is Elimination.COORDINATES_FIRST


@dataclass(frozen=True)
class Equation:
    """The saddle-point system of the chosen rows A with right-hand sides b, factorised."""

    model: Model
    choice: Choice
    A: list[Row]
    b: list[Any]
    lift: "Lift"
    saddle: Saddle
    refinements: int

    @classmethod
    def of(
        cls,
        model: Model,
        choice: Choice,
        steps: Steps,
        b: Sequence[Any],
        coordinates_first: bool = False,
        refinements: int = REFINEMENTS,
    ) -> "Equation":
        """Factorised within the steps of a program."""
        A = [{j: steps.name(e) for j, e in model.derived.A[i].items()} for i in choice.used]
        lift = Lift.of(model, choice, steps)
        damping = [se.RealDouble(mu) for mu in choice.damping]
        saddle = factorise_saddle(lift.mass, A, steps, coordinates_first, damping)
        return cls(model, choice, A, [steps.name(e) for e in b], lift, saddle, refinements if choice.damping else 0)

    def solve(self, Q: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """q̈ and the multipliers of the rows used, for forces Q."""
        return self.solve_for(Q, self.b)

    def solve_for(self, Q: Sequence[Any], b: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The same for other right-hand sides."""
        forces = self.lift.forces(Q, dict(zip(self.choice.used, b, strict=True)))
        return self.saddle.solve_refined(self.A, forces, b, self.refinements)

    @property
    def pivots(self) -> list[Any]:
        """What vanishes where the equation loses its meaning; the first ones are those of the rows.

        Of damped rows, the pivots of redundant ones are small, and which ones are changes on the way. Their product
        does not change so: it falls only where the rank does, and its reciprocal where the rank rises.
        """
        own = self.saddle.constraint_pivots()
        if self.choice.damping:
            own = self._volume(own)
        return [*own, *self.saddle.mass_pivots()]

    def _volume(self, pivots: Sequence[Any]) -> list[Any]:
        """The product of damped pivots, about 1 where they were chosen, and its reciprocal."""
        name, rank = self.saddle.steps.name, len(self.choice.rows)
        grown = [pivot / mu for pivot, mu in zip(pivots, self.choice.damping, strict=True)]  # 1 to 1 / DAMPING or so
        parts = [name(se.Mul(*grown[k : k + IN_RANGE])) for k in range(0, len(grown), IN_RANGE)]
        if len(parts) == 1:
            volume = name(parts[0] * DAMPING**rank)
        else:
            volume = name(se.exp(se.Add(*map(se.log, parts), rank * math.log(DAMPING))))
        return [volume, 1 / volume]


def right_hand_sides(model: Model, rows: Sequence[int], gains: tuple[Any, Any] | None) -> list[Any]:
    """b of the given rows, with Baumgarte's −2αφ̇ − β²φ (−αψ at velocity level) where gains are given."""
    derived, result = model.derived, []
    for i in rows:
        terms = [derived.b[i]]
        if gains is not None and derived.position[i] is not None:
            terms += [-2 * gains[0] * derived.velocity[i], -(gains[1] ** 2) * derived.position[i]]
        elif gains is not None and derived.velocity[i] is not None:
            terms.append(-gains[0] * derived.velocity[i])
        result.append(se.Add(*terms))
    return result


@dataclass(frozen=True)
class Lift:
    """What stands in for a singular M: M with w aᵀa added for each lifted row a, named w a and a."""

    mass: list[Row]
    rows: dict[int, Row]
    """row → w a"""

    @classmethod
    def of(cls, model: Model, choice: Choice, steps: Steps) -> "Lift":
        """Within the steps of a program."""
        M = [dict(row) for row in model.derived.M]
        rows: dict[int, Row] = {}
        for i, weight in choice.lifted:
            a = {j: steps.name(e) for j, e in model.derived.A[i].items()}
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


def gibbs_appell(
    model: Model, choice: Choice, Q: Sequence[Any], b: dict[int, Any], steps: Steps
) -> tuple[list[Any], list[Any]]:
    """S3 (37): eliminate r accelerations by the constraints, solve for the others.

    Gauss–Jordan elimination turns A q̈ = b into q̈_e = β − R q̈_I; with Z = [−R; I] the rest is
    ZᵀMZ q̈_I = Zᵀ(Q − Mβ).
    """
    derived = model.derived
    rows = {i: {j: steps.name(e) for j, e in derived.A[i].items()} for i in choice.rows}
    right = {i: steps.name(e) for i, e in b.items()}
    pivots = []
    for i, column, sign in choice.pivots:
        pivot = rows[i].pop(column)
        pivots.append(sign * pivot)
        rows[i] = {j: steps.name(e / pivot) for j, e in rows[i].items()}
        right[i] = steps.name(right[i] / pivot)
        for k in choice.rows:
            if k != i and (factor := rows[k].pop(column, None)) is not None:
                for j, e in rows[i].items():
                    rows[k][j] = steps.name(rows[k].get(j, 0) - factor * e)
                right[k] = steps.name(right[k] - factor * right[i])
    eliminated = {column: i for i, column, _ in choice.pivots}
    kept = [j for j in range(len(Q)) if j not in eliminated]
    # columns of Z, by kept coordinate
    Z = {j: {j: se.Integer(1)} | {e: -rows[i][j] for e, i in eliminated.items() if j in rows[i]} for j in kept}
    M = [{k: steps.name(e) for k, e in row.items()} for row in derived.M]
    shift = [
        steps.sum([Q[j], *(-e * right[eliminated[k]] for k, e in M[j].items() if k in eliminated)])
        for j in range(len(Q))
    ]
    MZ: dict[int, dict[int, list[Any]]] = {j: {} for j in kept}
    for j in kept:
        for k, z in Z[j].items():
            for i, e in M[k].items():
                MZ[j].setdefault(i, []).append(e * z)
    MZ_named = {j: {i: steps.sum(terms) for i, terms in column.items()} for j, column in MZ.items()}
    number = {j: c for c, j in enumerate(kept)}
    H: list[Row] = [{} for _ in kept]
    users: dict[int, list[int]] = {}
    for j in kept:
        for k in Z[j]:
            users.setdefault(k, []).append(j)
    for j in kept:
        terms: dict[int, list[Any]] = {}
        for i, e in MZ_named[j].items():
            for l in users.get(i, ()):
                if number[l] <= number[j]:
                    terms.setdefault(l, []).append(Z[l][i] * e)
        for l, parts in terms.items():
            H[number[j]][number[l]] = H[number[l]][number[j]] = steps.sum(parts)
    reduced = [se.Add(*[z * shift[k] for k, z in Z[j].items()]) for j in kept]
    saddle = factorise_saddle(H, [], steps)
    independent, _ = saddle.solve(reduced, [])
    result: list[Any] = [None] * len(Q)
    for j, x in zip(kept, independent, strict=True):
        result[j] = x
    for column, i in eliminated.items():
        terms_of = [right[i], *(-e * result[j] for j, e in rows[i].items() if result[j] is not None)]
        result[column] = steps.sum(terms_of)
    return result, [*pivots, *saddle.mass_pivots()]


def report_program(model: Model, choice: Choice) -> Program:
    """Everything that the results say of a state, but for multipliers of redundant rows."""
    description, derived = model.description, model.derived
    n = len(derived.Q)
    steps = Steps(se.Symbol, se.Add)
    Q = [steps.name(e) for e in derived.Q]
    nonideal = any(c != 0 for c in derived.C)
    whole = [steps.name(f + c) for f, c in zip(Q, derived.C, strict=True)] if nonideal else Q
    b = [derived.b[i] for i in choice.used]
    equation = Equation.of(model, choice, steps, b, refinements=REFINEMENTS_OF_REPORT)
    x, lam = equation.solve(whole)
    ideal_part = constraint_forces(equation.A, lam, n, steps)
    force = [steps.name(f + c) for f, c in zip(ideal_part, derived.C, strict=True)]
    ideal = constraint_forces(equation.A, equation.solve(Q)[1], n, steps) if nonideal else force
    if choice.lifted:
        gaussian = se.RealDouble(float("nan"))
    else:
        deviation, _ = factorise_saddle(derived.M, [], steps).solve(force, [])
        gaussian = se.Add(*[d * f / 2 for d, f in zip(deviation, force, strict=True) if d is not None])
    kinetic, _, given_power = energies(model)
    outputs = {
        "acceleration": filled(x),
        "force": tuple(Q),
        "constraint_force": tuple(force),
        "ideal_force": tuple(ideal),
        "multiplier": filled(lam),
        "residual": tuple(se.RealDouble(float("nan")) if e is None else e for e in derived.position),
        "residual_rate": tuple(se.RealDouble(float("nan")) if e is None else e for e in derived.velocity),
        "kinetic": (kinetic,),
        "potential": (description.potential,),
        "jacobi": (ledger(model)[0],),
        "given_power": (given_power,),
        "gaussian": (gaussian,),
    }
    scalars = ("kinetic", "potential", "jacobi", "given_power", "gaussian")
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(scalars, ())
    return Program(inputs=model.inputs, outputs=outputs, shapes=shapes, steps=tuple(steps.done))


def constraint_forces(A: Sequence[Row], lam: Sequence[Any], n: int, steps: Steps) -> list[Any]:
    """Aᵀλ."""
    terms: list[list[Any]] = [[] for _ in range(n)]
    for row, l in zip(A, lam, strict=True):
        if l is not None:
            for j, e in row.items():
                terms[j].append(e * l)
    return [steps.sum(parts) if parts else se.Integer(0) for parts in terms]


def projection_program(model: Model, choice: Choice, gains: tuple[Any, Any] | None = None) -> Program:
    """The steps that bring a state back to its constraints, least in the kinetic-energy metric.

    Outputs dq = −K₁φ for the holonomic rows, dv = −K₁ψ for all rows at velocity level, and the largest residual
    of each.
    """
    derived, n = model.derived, len(model.derived.Q)
    steps = Steps(se.Symbol, se.Add)
    holonomic = [i for i in choice.used if derived.position[i] is not None]
    first = [i for i in choice.used if derived.velocity[i] is not None]
    lift = Lift.of(model, choice, steps)

    def correction(rows: list[int], reading: Sequence[Any]) -> tuple[Any, ...]:
        if not rows:
            return (se.Integer(0),) * n
        damping = [se.RealDouble(choice.damping[i]) for i in rows] if choice.damping else []
        A = [derived.A[i] for i in rows]
        saddle: Saddle = factorise_saddle(lift.mass, A, steps, damping=damping)
        b = [-reading[i] for i in rows]
        # lifted rows that are not among these only measure the step: what has no inertia moves least along them
        forces = lift.forces([None] * n, dict(zip(rows, b, strict=True)))
        return filled(saddle.solve(forces, b)[0])

    outputs = {
        "dq": correction(holonomic, derived.position),
        "dv": correction(first, derived.velocity),
        "position": (largest([derived.position[i] for i in holonomic]),),
        "velocity": (largest([derived.velocity[i] for i in first]),),
    }
    inputs = model.inputs if gains is None else model.inputs | {"gains": gains}
    return Program(inputs=inputs, outputs=outputs, shapes={}, steps=tuple(steps.done))


def largest(readings: Sequence[Any]) -> Any:
    """The largest magnitude among expressions."""
    return se.Max(*[se.Abs(e) for e in readings]) if readings else se.Integer(0)


def filled(entries: Sequence[Any]) -> tuple[Any, ...]:
    """Structural zeros as zeros."""
    return tuple(se.Integer(0) if e is None else e for e in entries)
