"""Nonideal forces that depend on the multipliers, C(λ): solved for by Newton's method within the explicit equation.

With the response (q̈⁰, λ⁰) to the forces that are known, and (q̈ʲ, λʲ) to a unit force along coordinate j, by the same
factorisation, the multipliers that occur in C obey

    F(λ) = λ − λ⁰ − Σ_j λʲ C_j(λ) = 0,    F'(λ) = I − Σ_j λʲ ∂C_j/∂λ,    q̈ = q̈⁰ + Σ_j C_j(λ) q̈ʲ.

Newton's steps begin at λ⁰, where nothing rubs, and are written out: where C is linear in λ, as −μ|λ| sign(v) is while
the signs are held, the first one is exact. The determinant of F' is the margin of Painlevé: where it vanishes, friction
has no solution.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import symengine as se

from zwang.errors import InputError
from zwang.formulations.forms import FORMS
from zwang.lowering.contact import symbol
from zwang.lowering.equation import Equation
from zwang.lowering.friction import added, rubbed, slip_direction, zero_for_none
from zwang.lowering.lowered import Lowered
from zwang.model import System

WRITTEN_STEPS = 3  # of an acceleration
WRITTEN_STEPS_OF_REPORT = 6  # of which the first ones are those of the acceleration
OFF_ZERO = 1e-140  # is added to multipliers where C is differentiated: at √(λx² + λy²) = 0 there is no derivative


@dataclass(frozen=True)
class Balanced:
    """q̈ and the multipliers of the rows used, with all forces that depend on these.

    `nonideal` is C, `sliding` and `margins` are those of contacts (`friction`). `margin` is the determinant of F', and
    `error` what WRITTEN_STEPS have left of F, as a share of the multipliers; None where C does not depend on them.
    """

    acceleration: list[Any]
    multipliers: list[Any]
    nonideal: list[Any]
    sliding: dict[int, Any]
    margins: dict[int, Any]
    margin: Any | None = None
    error: Any | None = None


def require_explicit(system: System, form: str) -> None:
    """Refuse nonideal forces that depend on multipliers where these are not known."""
    if not system.reactions:
        return
    which = f"nonideal forces depend on multiplier({system.constraint_names[next(iter(system.reactions))]!r})"
    if FORMS[form].eliminates:
        raise InputError(f"{which}, and form={form!r} has no multipliers: use form='fundamental'")
    sided = next((c.name for c in system.constraints if c.one_sided), None)
    if sided is not None:
        raise InputError(
            f"{which}, and {sided!r} is one-sided: contacts are not integrated with such forces; leave out one of them"
        )


def known_part(lowered: Lowered) -> list[Any]:
    """C, with 0 for entries that depend on multipliers."""
    implicit = implicit_part(lowered)
    return [se.Integer(0) if j in implicit else c for j, c in enumerate(lowered.derived.C)]


def implicit_part(lowered: Lowered) -> dict[int, Any]:
    """The entries of C that depend on multipliers, by coordinate."""
    unknown = {s for _, s in lowered.description.reactions}
    return {j: c for j, c in enumerate(lowered.derived.C) if c.free_symbols & unknown} if unknown else {}


def balanced(equation: Equation, known: Sequence[Any], b: Sequence[Any], newton: int = WRITTEN_STEPS) -> Balanced:
    """The equation solved for its multipliers; `known` are all forces but those that depend on them."""
    lowered = equation.lowered
    if not lowered.description.reactions:
        found = rubbed(equation, known, b)
        return Balanced(found.acceleration, found.multipliers, lowered.derived.C, found.sliding, found.margins)
    steps, basis, implicit = equation.saddle.steps, equation.basis, implicit_part(lowered)
    unknown = dict(lowered.description.reactions)
    unknown |= {row: se.Symbol(f"l{row}") for row, _ in basis.rubbing}
    place = {row: k for k, row in enumerate(basis.used)}
    x, lam = equation.solve_for(known, b)
    responses = [equation.respond_to({j: se.Integer(1)}) for j in implicit]
    responses += [equation.respond_to(slip_direction(lowered, basis, row)) for row, _ in basis.rubbing]
    laws = [*implicit.values(), *(-symbol("kappa", row) * unknown[row] for row, _ in basis.rubbing)]
    system = Newton(
        steps,
        tuple(unknown.values()),
        [zero_for_none(lam[place[row]]) for row in unknown],
        [[zero_for_none(more[place[row]]) for _, more in responses] for row in unknown],
        laws,
    )
    z, margin, error = system.start, se.Integer(1), se.Integer(0)
    for count in range(1, newton + 1):
        z, margin = system.step(z)
        if count == WRITTEN_STEPS:
            error = system.error(z)
    forces = system.forces(z)
    for (more, more_lam), force in zip(responses, forces, strict=True):
        x = [added(steps, e, d, force) for e, d in zip(x, more, strict=True)]
        lam = [added(steps, e, d, force) for e, d in zip(lam, more_lam, strict=True)]
    C = list(lowered.derived.C)
    for j, force in zip(implicit, forces, strict=False):
        C[j] = force
    rubbing = [row for row, _ in basis.rubbing]
    sliding = dict(zip(rubbing, forces[len(implicit) :], strict=True))
    return Balanced(x, lam, C, sliding, dict.fromkeys(rubbing, margin), margin, error)


@dataclass(frozen=True)
class Newton:
    """F(z) = z − start − R f(z) with forces f in the symbols of z, and steps towards its root, written out."""

    steps: Any
    symbols: tuple[Any, ...]
    start: list[Any]
    R: list[list[Any]]
    laws: Sequence[Any]

    def forces(self, z: Sequence[Any]) -> list[Any]:
        """f(z)."""
        return [self.steps.name(law.xreplace(self.put(z))) for law in self.laws]

    def put(self, z: Sequence[Any], off: Any = 0) -> Mapping[Any, Any]:
        """What stands for the symbols."""
        return {s: e + off for s, e in zip(self.symbols, z, strict=True)}

    def missing(self, z: Sequence[Any]) -> list[Any]:
        """F(z)."""
        f, name = self.forces(z), self.steps.name
        return [
            name(se.Add(e, -e0, *(-r * force for r, force in zip(row, f, strict=True) if r != 0)))
            for e, e0, row in zip(z, self.start, self.R, strict=True)
        ]

    def error(self, z: Sequence[Any]) -> Any:
        """|F(z)| beside |z|."""
        size = se.Add(*map(se.Abs, (*z, *self.start)), se.RealDouble(OFF_ZERO))
        return self.steps.name(se.Add(*map(se.Abs, self.missing(z))) / size)

    def step(self, z: Sequence[Any]) -> tuple[list[Any], Any]:
        """The next z, and the determinant of F'(z), by elimination in order."""
        name, count = self.steps.name, len(self.symbols)
        here = self.put(z, se.RealDouble(OFF_ZERO))
        slopes = [
            [name(law.diff(s).xreplace(here)) if s in law.free_symbols else se.Integer(0) for s in self.symbols]
            for law in self.laws
        ]
        matrix = [
            [
                name(se.Add(int(i == j), *(-r * slope[j] for r, slope in zip(self.R[i], slopes, strict=True))))
                for j in range(count)
            ]
            for i in range(count)
        ]
        right = self.missing(z)
        for k in range(count):
            for i in range(k + 1, count):
                factor = name(matrix[i][k] / matrix[k][k])
                right[i] = name(right[i] - factor * right[k])
                matrix[i] = [
                    name(e - factor * f) if j > k else e
                    for j, (e, f) in enumerate(zip(matrix[i], matrix[k], strict=True))
                ]
        change: list[Any] = [se.Integer(0)] * count
        for k in reversed(range(count)):
            rest = se.Add(*[matrix[k][j] * change[j] for j in range(k + 1, count)])
            change[k] = name((right[k] - rest) / matrix[k][k])
        margin = name(se.Mul(*[matrix[k][k] for k in range(count)]))
        return [name(e - d) for e, d in zip(z, change, strict=True)], margin
