"""Sliding friction in the explicit equation: forces that depend on multipliers, by one more right-hand side each.

A contact that slides has the force −κ N along its slip row t, κ = μ s with the sign s of its slip. N is unknown in its
own right-hand side. With the response (q̈⁰, λ⁰) to (Q, b) and (q̈ʲ, λʲ) to (t_jᵀ, 0), by the same factorisation,

    N = N⁰ − R κ N,  R_ij = N_i of the response j,   so that   (I + Rκ) N = N⁰,   q̈ = q̈⁰ − Σ κ_j N_j q̈ʲ.

The pivots of I + Rκ are the margins of Painlevé: where one is not positive, friction has no solution, or several.

Contacts that depend on each other share a load, N' = S N + `beside` (`contact.Friction`), and each of them rubs by its
share: (I + SRκ) N' = S N⁰ + `beside`. The motion is the same as long as all slip one way; a spin of rounding, which
grows against the slip where that comes to its end, is braked by all of them, and might be driven by some.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import symengine as se

from zwang.lowering.contact import share, symbol
from zwang.lowering.equation import Equation
from zwang.lowering.lowered import Lowered
from zwang.lowering.rows import RowBasis

NO_SPEED = 1e-280  # the square of a speed that is none


@dataclass(frozen=True)
class Rubbed:
    """q̈ and the multipliers of the rows used, with friction; forces of sliding along slips, and margins, by contact."""

    acceleration: list[Any]
    multipliers: list[Any]
    sliding: dict[int, Any]
    margins: dict[int, Any]


def rubbed(equation: Equation, Q: Sequence[Any], b: Sequence[Any]) -> Rubbed:
    """The equation solved with the friction of contacts that slide."""
    steps, basis = equation.saddle.steps, equation.basis
    x, lam = equation.solve_for(Q, b)
    if not basis.rubbing:
        return Rubbed(x, lam, {}, {})
    responses = [equation.respond_to(slip_direction(equation.lowered, basis, row)) for row, _ in basis.rubbing]
    kappa = [symbol("kappa", row) for row, _ in basis.rubbing]
    count = len(kappa)
    columns = [pressing(basis, steps, of) for _, of in responses]
    matrix = [[entry(i == j, kappa[j], columns[j][i]) for j in range(count)] for i in range(count)]
    right = [zero_for_none(e) for e in pressing(basis, steps, lam, beside=True)]
    margins: list[Any] = []
    for k in range(count):  # elimination in order: the pivots of a P-matrix are positive
        pivot = steps.name(matrix[k][k])
        margins.append(pivot)
        for i in range(k + 1, count):
            factor = steps.name(matrix[i][k] / pivot)
            right[i] = steps.name(right[i] - factor * right[k])
            matrix[i] = [
                e - factor * f if j > k else e for j, (e, f) in enumerate(zip(matrix[i], matrix[k], strict=True))
            ]
    forces: list[Any] = [se.Integer(0)] * count
    normal: list[Any] = [se.Integer(0)] * count
    for k in reversed(range(count)):
        rest = se.Add(*[matrix[k][j] * normal[j] for j in range(k + 1, count)])
        normal[k] = steps.name((right[k] - rest) / margins[k])
        forces[k] = steps.name(-kappa[k] * normal[k])
    for (more, more_lam), force in zip(responses, forces, strict=True):
        x = [added(steps, e, d, force) for e, d in zip(x, more, strict=True)]
        lam = [added(steps, e, d, force) for e, d in zip(lam, more_lam, strict=True)]
    rows = [row for row, _ in basis.rubbing]
    return Rubbed(x, lam, dict(zip(rows, forces, strict=True)), dict(zip(rows, margins, strict=True)))


def pressing(basis: RowBasis, steps: Any, lam: Sequence[Any], beside: bool = False) -> list[Any]:
    """What multipliers of the rows used press the contacts that rub with, by themselves or by their shares."""
    of = {row: e for row, e in zip(basis.used, lam, strict=True) if e is not None}
    if not basis.shared:
        return [of.get(row) for row, _ in basis.rubbing]
    return [steps.name(shared_force(basis, row, of, beside)) for row, _ in basis.rubbing]


def shared_force(basis: RowBasis, contact: int, of: Mapping[int, Any], beside: bool = True) -> Any:
    """The share that a contact has of multipliers by row, with what is beside it or without."""
    terms = [share(contact, j) * of[j] for j in sharing(basis) if j in of]
    return se.Add(*terms, *([symbol("beside", contact)] if beside else ()))


def sharing(basis: RowBasis) -> tuple[int, ...]:
    """The rows of contacts and slips, which may share a load."""
    return tuple(sorted({*(row for row, _ in basis.masked), *(row for row, _ in basis.rubbing)}))


def entry(diagonal: bool, kappa: Any, response: Any) -> Any:
    """An entry of I + Rκ."""
    one = se.Integer(int(diagonal))
    return one if response is None else one + kappa * response


def zero_for_none(e: Any) -> Any:
    """An entry, 0 where it is zero by structure."""
    return se.Integer(0) if e is None else e


def added(steps: Any, e: Any, change: Any, factor: Any) -> Any:
    """e + factor·change, None where both are zero by structure."""
    if change is None:
        return e
    return steps.name(change * factor if e is None else e + change * factor)


def sliding_forces(lowered: Lowered, basis: RowBasis, sliding: Mapping[int, Any]) -> list[Any]:
    """Generalized forces of contacts that slide, coordinate by coordinate."""
    forces: list[list[Any]] = [[] for _ in lowered.derived.Q]
    for i, _ in basis.rubbing:
        for j, e in slip_direction(lowered, basis, i).items():
            forces[j].append(e * sliding[i])
    return [se.Add(*parts) for parts in forces]


def slip_direction(lowered: Lowered, basis: RowBasis, contact: int) -> dict[int, Any]:
    """The row along which friction of sliding acts, by its entries: that of the slip, or in space d₁t₁ + d₂t₂."""
    rows = [dict(basis.rubbing)[contact]]
    if contact not in dict(basis.across):
        return dict(lowered.derived.A[rows[0]])
    rows.append(dict(basis.across)[contact])
    entries: dict[int, list[Any]] = {}
    for row, d in zip(rows, heading(lowered, basis, contact), strict=True):
        for j, e in lowered.derived.A[row].items():
            entries.setdefault(j, []).append(d * e)
    return {j: se.Add(*terms) for j, terms in entries.items()}


def heading(lowered: Lowered, basis: RowBasis, contact: int) -> tuple[Any, ...]:
    """The direction d = γ/|γ| of the slip of a contact in space, smooth in the state; (1,) in the plane.

    To a slip that begins its `veer` is added, so that it has a direction from the start. One of a contact that does not
    slide is left out, and its direction does not change: no derivative of it is infinite where it is zero.
    """
    if contact not in dict(basis.across):
        return (se.Integer(1),)
    speeds = lowered.derived.residual_rate
    rows = dict(basis.rubbing)[contact], dict(basis.across)[contact]
    slides = symbol("rub", contact)
    slip = [slides * speeds[row] + symbol(f"veer_{axis}_", contact) for row, axis in zip(rows, "xy", strict=True)]
    size = se.sqrt(slip[0] ** 2 + slip[1] ** 2 + se.RealDouble(NO_SPEED))
    return tuple(e / size for e in slip)
