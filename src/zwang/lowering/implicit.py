"""Nonideal forces that depend on the multipliers, C(λ): solved for by Newton's method within the explicit equation.

With the response (q̈⁰, λ⁰) to the forces that are known, and (q̈ʲ, λʲ) to a unit force along coordinate j, by the same
factorisation, the multipliers that occur in C obey

    F(λ) = λ − λ⁰ − Σ_j λʲ C_j(λ) = 0,    F'(λ) = I − Σ_j λʲ ∂C_j/∂λ,    q̈ = q̈⁰ + Σ_j C_j(λ) q̈ʲ.

Newton's steps begin at λ⁰, where nothing rubs, and are written out: where C is linear in λ, as −μ|λ| sign(v) is while
the signs are held, the first one is exact. The determinant of F' is the margin of Painlevé: where it vanishes, friction
has no solution. Of laws that are linear in λ, as of a motor that does for another coordinate what a constraint asks
for, it may have either sign: only where it vanishes there is none. A law with |λ| has one solution if its determinant
has the sign, on both sides of λ = 0, that it has without.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import mul
from typing import Any

import symengine as se

from zwang.errors import InputError
from zwang.formulations.forms import FORMS
from zwang.lowering.contact import symbol
from zwang.lowering.equation import REFINEMENTS, Equation
from zwang.lowering.friction import added, rubbed, shared_force, sharing, slip_direction, zero_for_none
from zwang.lowering.lowered import Lowered
from zwang.lowering.many import FEW_MULTIPLIERS, OFF_ZERO, solved_sparsely
from zwang.lowering.resting import NO_PULL, Rates, between, half_jump, lead, mask, ratio, sigma
from zwang.model import System

WRITTEN_STEPS = 3  # of an acceleration
WRITTEN_STEPS_OF_REPORT = 6  # of which the first ones are those of the acceleration


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
    shares: Mapping[int, Any] = field(default_factory=dict)
    """σ of the switches that may rest (`resting`)."""


def require_explicit(system: System, form: str) -> None:
    """Refuse nonideal forces that depend on multipliers where these are not known."""
    if not system.reactions:
        return
    which = f"nonideal forces depend on multiplier({system.constraint_names[next(iter(system.reactions))]!r})"
    if FORMS[form].eliminates:
        raise InputError(f"{which}, and form={form!r} has no multipliers: use form='fundamental'")


def known_part(lowered: Lowered) -> list[Any]:
    """C, with 0 for entries that depend on multipliers."""
    implicit = implicit_part(lowered)
    return [se.Integer(0) if j in implicit else c for j, c in enumerate(lowered.derived.C)]


def implicit_part(lowered: Lowered) -> dict[int, Any]:
    """The entries of C that depend on multipliers, by coordinate."""
    unknown = {s for _, s in lowered.description.reactions}
    return {j: c for j, c in enumerate(lowered.derived.C) if c.free_symbols & unknown} if unknown else {}


def laws_on(equation: Equation) -> tuple[dict[int, Any], dict[int, Any]]:
    """The entries of C that depend on multipliers, by coordinate, and the symbols of these, by row.

    Rows that are not used have none: a contact that is open does not push.
    """
    reactions, used = dict(equation.lowered.description.reactions), {*equation.basis.used}
    absent = {s: se.Integer(0) for row, s in reactions.items() if row not in used}
    laws = {j: c.xreplace(absent) for j, c in implicit_part(equation.lowered).items()}
    return laws, {row: s for row, s in reactions.items() if row in used}


def linear_in(law: Any, unknown: Collection[Any]) -> Any:
    """The terms of a law that are linear in some symbols."""
    terms = se.Add.make_args(se.expand(law))
    return se.Add(*(e for e in terms if not any(e.diff(s).free_symbols & {*unknown} for s in unknown)))


def all_linear(lowered: Lowered) -> bool:
    """Whether all forces that depend on multipliers are linear in them."""
    unknown = {s for _, s in lowered.description.reactions}
    laws = implicit_part(lowered).values()
    return not any(law.diff(s).free_symbols & unknown for law in laws for s in unknown & law.free_symbols)


def balanced(equation: Equation, known: Sequence[Any], b: Sequence[Any], newton: int = WRITTEN_STEPS) -> Balanced:
    """The equation solved for its multipliers; `known` are all forces but those that depend on them.

    Of a model whose switches may rest (`resting`), for their shares as well.
    """
    lowered = equation.lowered
    many = len(lowered.description.reactions) + len(equation.basis.rubbing) > FEW_MULTIPLIERS
    if many and not lowered.rests and not equation.basis.shared:  # what is shared depends on all rows
        return balanced_sparsely(equation, known, b, newton)
    if not lowered.description.reactions and not lowered.rests:
        plain = rubbed(equation, known, b)
        return Balanced(plain.acceleration, plain.multipliers, lowered.derived.C, plain.sliding, plain.margins)
    steps, basis, (implicit, unknown) = equation.saddle.steps, equation.basis, laws_on(equation)
    pressing = sharing(basis) if basis.shared else [row for row, _ in basis.rubbing]
    unknown |= {row: se.Symbol(f"l{row}") for row in pressing}
    columns, rates = columns_of(equation, implicit, unknown), Rates.of(lowered, steps)
    found = equation.solve_for(known, b)
    system = newton_of(equation, unknown, found, columns, rates)
    first, z, error = len(unknown), system.begin, se.Integer(0)
    for count in range(1, (newton if unknown else 1) + 1):  # without multipliers all laws are linear
        z, eliminated, slopes = system.step(z)
        if count == WRITTEN_STEPS:
            error = system.error(z, first)
    margin, forces = steps.name(se.Mul(*eliminated.pivots[:first])), system.forces(z)
    x, lam = combined(steps, found, columns, forces)
    for _ in range(REFINEMENTS if lowered.rests else 0):  # what rounding has left, or what rests would creep
        x, lam = equation.refined(x, lam, b)
        dz = eliminated.solve([*[se.Integer(0)] * first, *rates.missing(lowered, x, steps)])
        more = [steps.name(se.Add(*[s * d for s, d in zip(row, dz, strict=True)])) for row in slopes]
        x, lam = combined(steps, (x, lam), columns, more)
        z = [steps.name(e + d) for e, d in zip(z, dz, strict=True)]
    shares = {i: e for (i, _), e in zip(lowered.rests, z[first:], strict=True)}
    C = [between(lowered, c, shares) for c in lowered.derived.C]
    for j, force in zip(implicit, forces, strict=False):
        C[j] = force
    rubbing = [row for row, _ in basis.rubbing]
    sliding = dict(zip(rubbing, forces[len(implicit) :], strict=False))
    margins, x = dict.fromkeys(rubbing, margin), rates.exactly(lowered, x, steps)
    return Balanced(x, lam, C, sliding, margins, margin if implicit else None, error if implicit else None, shares)


def balanced_sparsely(equation: Equation, known: Sequence[Any], b: Sequence[Any], newton: int) -> Balanced:
    """The same where forces depend on many multipliers."""
    (laws, unknown), C = laws_on(equation), list(equation.lowered.derived.C)
    found = solved_sparsely(equation, known, b, laws, unknown, newton, WRITTEN_STEPS)
    for j, force in found.forces.items():
        C[j] = force
    margins = {row: found.margins[row] for row, _ in equation.basis.rubbing}
    margin = equation.saddle.steps.name(se.Mul(*found.margins.values())) if laws else None
    error = found.error if laws else None
    return Balanced(found.acceleration, found.multipliers, C, found.sliding, margins, margin, error)


@dataclass(frozen=True)
class Column:
    """A force of unknown size: its law, in the symbols of what it depends on, and the response to a unit of it."""

    law: Any
    x: list[Any]
    lam: list[Any]


def columns_of(equation: Equation, implicit: Mapping[int, Any], unknown: Mapping[int, Any]) -> list[Column]:
    """The nonideal forces that depend on multipliers, the friction of contacts, and what holds switches that rest."""
    lowered, basis, made = equation.lowered, equation.basis, []
    for j, law in implicit.items():
        made.append(Column(between(lowered, law), *equation.respond_to({j: se.Integer(1)})))
    for row, _ in basis.rubbing:
        response = equation.respond_to(slip_direction(lowered, basis, row))
        force = shared_force(basis, row, unknown) if basis.shared else unknown[row]
        made.append(Column(-symbol("kappa", row) * force, *response))
    forces = [f + c for f, c in zip(lowered.derived.Q, known_part(lowered), strict=True)] if lowered.rests else []
    for i, _ in lowered.rests:
        jump = {j: e for j, f in enumerate(forces) if (e := half_jump(f, i)) != 0}
        if jump:
            made.append(Column(mask(i) * (sigma(i) - 1), *equation.respond_to(jump)))
    return made


def newton_of(
    equation: Equation, unknown: Mapping[int, Any], found: "Solution", columns: Sequence[Column], rates: Rates
) -> "Newton":
    """F of the multipliers that are unknown, and of the shares of switches that may rest: their rates are to vanish."""
    lowered, steps, (x, lam) = equation.lowered, equation.saddle.steps, found
    place = {row: k for k, row in enumerate(equation.basis.used)}
    own = [place[row] for row in unknown]
    rests = [i for i, _ in lowered.rests]
    along = [[steps.name(-lead(i) * rates.along(k, column.x)) for column in columns] for k, i in enumerate(rests)]
    return Newton(
        steps,
        (*unknown.values(), *map(sigma, rests)),
        [*(zero_for_none(lam[k]) for k in own), *rates.missing(lowered, x, steps)],
        [*([zero_for_none(column.lam[k]) for column in columns] for k in own), *along],
        [column.law for column in columns],
        rests,
    )


Solution = tuple[list[Any], list[Any]]


def combined(steps: Any, known: Solution, columns: Sequence[Column], forces: Sequence[Any]) -> Solution:
    """q̈ and λ with responses to forces of these sizes added."""
    x, lam = known
    for column, force in zip(columns, forces, strict=True):
        x = [added(steps, e, d, force) for e, d in zip(x, column.x, strict=True)]
        lam = [added(steps, e, d, force) for e, d in zip(lam, column.lam, strict=True)]
    return x, lam


@dataclass(frozen=True)
class Newton:
    """F(z) = z − start − R f(z) with forces f in the symbols of z, and steps towards its root, written out.

    The last of z are shares σ of switches. Of one that leads, F is −start − R f, which is its rate; of another it is
    σ − Σ ρ σ, which lets it follow those that lead, or be zero.
    """

    steps: Any
    symbols: tuple[Any, ...]
    start: list[Any]
    R: list[list[Any]]
    laws: Sequence[Any]
    rests: Sequence[int] = ()

    @property
    def linear(self) -> bool:
        """Whether forces are linear in z."""
        return not any(law.diff(s).free_symbols & {*self.symbols} for law in self.laws for s in self.symbols)

    @property
    def begin(self) -> list[Any]:
        """Where to begin: where nothing rubs, and nothing is held."""
        return [*self.start[: len(self.start) - len(self.rests)], *[se.Integer(0)] * len(self.rests)]

    @property
    def own(self) -> list[list[Any]]:
        """The factors of z in F."""
        first = len(self.symbols) - len(self.rests)
        rows = [[se.Integer(int(i == j)) for j in range(len(self.symbols))] for i in range(first)]
        for i in self.rests:
            shares = [1 - lead(i) if i == j else -ratio(i, j) for j in self.rests]
            rows.append([*[se.Integer(0)] * first, *shares])
        return rows

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
            name(se.Add(*map(mul, own, z), -e0, *(-r * force for r, force in zip(row, f, strict=True) if r != 0)))
            for own, e0, row in zip(self.own, self.start, self.R, strict=True)
        ]

    def error(self, z: Sequence[Any], count: int) -> Any:
        """|F(z)| beside |z|, of the first ones."""
        size = se.Add(*map(se.Abs, (*z[:count], *self.start[:count])), se.RealDouble(OFF_ZERO))
        return self.steps.name(se.Add(*map(se.Abs, self.missing(z)[:count])) / size)

    def step(self, z: Sequence[Any]) -> tuple[list[Any], "Eliminated | Turned", list[list[Any]]]:
        """The next z, F'(z), and the slopes of the forces."""
        name, count = self.steps.name, len(self.symbols)
        here = self.put(z, se.RealDouble(OFF_ZERO))
        slopes = [
            [name(law.diff(s).xreplace(here)) if s in law.free_symbols else se.Integer(0) for s in self.symbols]
            for law in self.laws
        ]
        matrix = [
            [
                name(se.Add(own[j], *(-r * slope[j] for r, slope in zip(self.R[i], slopes, strict=True))))
                for j in range(count)
            ]
            for i, own in enumerate(self.own)
        ]
        for k, i in enumerate(self.rests, count - len(self.rests)):
            matrix[k][k] = name(matrix[k][k] - se.RealDouble(NO_PULL) * lead(i))
        eliminated = (Eliminated if self.rests or not self.linear else Turned).of(matrix, name)
        change = eliminated.solve(self.missing(z))
        return [name(e - d) for e, d in zip(z, change, strict=True)], eliminated, slopes


@dataclass(frozen=True)
class Eliminated:
    """A small matrix, eliminated in order: what is left of it, and the factors of its rows below."""

    name: Any
    upper: list[list[Any]]
    factors: dict[tuple[int, int], Any]

    @classmethod
    def of(cls, matrix: list[list[Any]], name: Any) -> "Eliminated":
        """By pivots on the diagonal."""
        factors, count = {}, len(matrix)
        for k in range(count):
            for i in range(k + 1, count):
                if matrix[i][k] == 0:
                    continue
                factors[i, k] = factor = name(matrix[i][k] / matrix[k][k])
                matrix[i] = [
                    name(e - factor * f) if j > k else e
                    for j, (e, f) in enumerate(zip(matrix[i], matrix[k], strict=True))
                ]
        return cls(name, matrix, factors)

    @property
    def pivots(self) -> list[Any]:
        """The pivots."""
        return [row[k] for k, row in enumerate(self.upper)]

    def solve(self, right: Sequence[Any]) -> list[Any]:
        """The solution for a right-hand side."""
        right = list(right)
        for (i, k), factor in self.factors.items():
            right[i] = self.name(right[i] - factor * right[k])
        return substituted(self.upper, right, self.name)


@dataclass(frozen=True)
class Turned:
    """A small matrix by turns of its rows: pivots may be of either sign, and vanish only where the determinant does."""

    name: Any
    upper: list[list[Any]]
    turns: list[tuple[int, int, Any, Any]]
    """Rows k and i, and the cosine and sine by which they are turned into each other."""

    @classmethod
    def of(cls, matrix: list[list[Any]], name: Any) -> "Turned":
        """By Givens's rotations."""
        turns: list[tuple[int, int, Any, Any]] = []
        count = len(matrix)
        for k in range(count):
            for i in range(k + 1, count):
                if matrix[i][k] == 0:
                    continue
                a, b = matrix[k][k], matrix[i][k]
                length = name(se.sqrt(a * a + b * b))
                c, s = name(a / length), name(b / length)
                turns.append((k, i, c, s))
                upper, lower = matrix[k], matrix[i]
                zeros = [se.Integer(0)] * k
                matrix[k] = [*zeros, length, *(name(c * e + s * f) for e, f in both(upper, lower, k))]
                matrix[i] = [*zeros, se.Integer(0), *(name(c * f - s * e) for e, f in both(upper, lower, k))]
        return cls(name, matrix, turns)

    @property
    def pivots(self) -> list[Any]:
        """The pivots."""
        return [row[k] for k, row in enumerate(self.upper)]

    def solve(self, right: Sequence[Any]) -> list[Any]:
        """The solution for a right-hand side."""
        right = list(right)
        for k, i, c, s in self.turns:
            right[k], right[i] = self.name(c * right[k] + s * right[i]), self.name(c * right[i] - s * right[k])
        return substituted(self.upper, right, self.name)


def both(upper: Sequence[Any], lower: Sequence[Any], k: int) -> Iterator[tuple[Any, Any]]:
    """The entries of two rows behind column k."""
    return zip(upper[k + 1 :], lower[k + 1 :], strict=True)


def substituted(upper: Sequence[Sequence[Any]], right: Sequence[Any], name: Any) -> list[Any]:
    """The solution with a triangular matrix."""
    solution: list[Any] = [se.Integer(0)] * len(upper)
    for k in reversed(range(len(upper))):
        rest = se.Add(*[upper[k][j] * solution[j] for j in range(k + 1, len(upper))])
        solution[k] = name((right[k] - rest) / upper[k][k])
    return solution
