"""Large systems as rolled programs: the same outputs as the straight-line ones, from families and a sparse matrix."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import symengine as se

from zwang.arrays import Indices
from zwang.compile import Program
from zwang.compile.program import expression_of
from zwang.compile.rolled.program import Largest, RolledProgram
from zwang.equations.sizes import has_sum, size_of
from zwang.lowering.equation import REFINEMENTS
from zwang.lowering.lowered import Lowered
from zwang.lowering.power import constraint_rates, energies, ledger
from zwang.lowering.report import AGREE, BALANCED, REFINEMENTS_OF_REPORT, spread_to, taken_away
from zwang.lowering.rolled.equation import (
    Entries,
    RolledEquation,
    joined,
    local_mass,
    mass_pairs,
    pairs,
    right_sides,
    together,
)
from zwang.lowering.rolled.families import Families, Family
from zwang.lowering.rolled.matrix import Pairs, sparse_saddle
from zwang.lowering.rolled.workspace import Workspace
from zwang.lowering.rows import RowBasis

X, Y, Z = se.symbols("x y z")
NOT_GIVEN = np.array([np.nan])


def acceleration_program(
    families: Families, basis: RowBasis, coordinates_first: bool, gains: tuple[Any, Any] | None
) -> RolledProgram:
    """q̈, pivots and power, as `lowering.acceleration` gives them."""
    workspace = workspace_of(families, gains)
    rows = basis.used
    Q = forces(workspace, families)
    forces(workspace, families, "C", Q)
    b = right_sides(workspace, families, rows, gains)
    equation = RolledEquation.of(workspace, families, basis, rows, coordinates_first, REFINEMENTS)
    acceleration, multipliers = equation.solve(Q, b)
    outputs = {"acceleration": acceleration, "pivots": pivots_of(equation, basis)}
    rates = [(f, constraint_rates(f.lowered, [0], off=gains is not None).get(0)) for f in families.constraints]
    if gains is not None and any(rate is not None for _, rate in rates):
        _, multipliers = equation.solve(Q, right_sides(workspace, families, rows, None))
    power = workspace.block(1)
    changes = any(rate is not None for _, rate in rates)
    changes |= add_up(workspace, families, power, lambda lowered: ledger(lowered)[1] + nonideal_power(lowered))
    number = np.full(families.m, -1)
    number[list(rows)] = np.arange(len(rows))
    for family, rate in rates:
        if rate is not None:
            chosen = family.of(np.flatnonzero(number[family.rows] >= 0))
            given = multipliers[number[chosen.rows]][:, None]
            workspace.members(chosen, [X * rate], spread(power, chosen), [X], given)
    if changes:
        outputs["power"] = power
    return workspace.program(outputs)


def projection_program(families: Families, basis: RowBasis, gains: tuple[Any, Any] | None) -> RolledProgram:
    """The way back to the constraints, as `lowering.projection` gives it."""
    workspace = workspace_of(families, gains)
    residual, residual_rate = readings(workspace, families)
    orders = families.lowered.description.orders
    outputs = {}
    for name, most, reading in (("dq", 0, residual), ("dv", 1, residual_rate)):
        rows = [i for i in basis.used if orders[i] <= most]
        back = workspace.block(families.n)
        if rows:
            b = workspace.block(len(rows))
            workspace.add(reading[rows], b, -1.0)
            nothing = np.zeros(0, dtype=np.int64)
            back, _ = RolledEquation.of(workspace, families, basis, rows).solve(nothing, b)
        outputs[name] = back
    for name, most, reading in (("residual", 0, residual), ("residual_rate", 1, residual_rate)):
        rows = [i for i in basis.used if orders[i] <= most]
        outputs[name] = workspace.block(1)
        workspace.stage(Largest(reading[rows], int(outputs[name][0])))
    return workspace.program(outputs)


def report_program(families: Families, basis: RowBasis) -> RolledProgram:
    """Everything that the results say of a state, as `lowering.report` gives it."""
    workspace, n = workspace_of(families), families.n
    Q, C = forces(workspace, families), forces(workspace, families, "C")
    b = right_sides(workspace, families, basis.used, None)
    nonideal = any(c != 0 for family in families.terms for c in family.derived.C)
    equation = RolledEquation.of(workspace, families, basis, basis.used, False, REFINEMENTS_OF_REPORT, reactions=True)
    whole = workspace.block(n)
    workspace.add(Q, whole)
    workspace.add(C, whole)
    x, multipliers = equation.solve(whole, b)
    force = equation.reactions(multipliers)
    workspace.add(C, force)
    ideal = equation.reactions(equation.solve(Q, b)[1]) if nonideal else force
    residual, residual_rate = readings(workspace, families)
    scalars = {name: workspace.block(1) for name in ("kinetic", "potential", "jacobi", "given_power")}
    what: dict[str, Callable[[Lowered], Any]] = {
        "kinetic": lambda lowered: energies(lowered)[0],
        "potential": lambda lowered: lowered.description.potential,
        "jacobi": lambda lowered: ledger(lowered)[0],
        "given_power": lambda lowered: energies(lowered)[2],
    }
    for name, place in scalars.items():
        add_up(workspace, families, place, what[name])
    outputs = {
        "acceleration": x,
        "force": Q,
        "constraint_force": force,
        "ideal_force": ideal,
        "multiplier": multipliers,
        "residual": residual,
        "residual_rate": residual_rate,
        **scalars,
        "gaussian": gaussian(workspace, families, basis, force),
        "pivots": pivots_of(equation, basis),
    }
    if basis.damping:
        outputs["agreement"] = agreement(equation, x, multipliers, b)
    return workspace.program(outputs, dict.fromkeys((*scalars, "gaussian"), ()))


def agreement(equation: RolledEquation, x: Indices, multipliers: Indices, b: Indices) -> Indices:
    """What rows may be missed by, less what they are missed by, as `lowering.report` has it."""
    workspace, A = equation.workspace, equation.A
    size, missed, noise, found = (workspace.block(len(b)) for _ in range(4))
    force, mass, taken = (workspace.block(len(x)) for _ in range(3))
    own = A.row < len(multipliers)
    pushed = Program({"x": (X, Y)}, {"y": (se.Abs(X * Y),)})
    workspace.repeat(pushed, pairs(A.place[own], multipliers[A.row[own]]), force[A.column[own]][:, None])
    for family in equation.families.terms:
        i, j = local_mass(family)
        same = [a for a, c in zip(i, j, strict=True) if a == c]
        workspace.members(family, [family.derived.M[a][a] for a in same], mass[family.coordinates[:, same]])
    squared, whole = workspace.block(1), workspace.block(1)
    energy = Program({"x": (X, Y)}, {"y": (X**2 * Y,)})
    workspace.repeat(energy, pairs(x, mass), np.broadcast_to(squared, (len(x), 1)))
    workspace.repeat(Program({"x": (X,)}, {"y": (se.sqrt(X),)}), squared[:, None], whole[:, None])
    away = Program({"x": (X, Y, Z)}, {"y": (taken_away(X, Y) + spread_to(Z, Y),)})
    workspace.repeat(away, np.stack([force, mass, np.broadcast_to(whole, len(x))], axis=1), taken[:, None])
    workspace.repeat(pushed, pairs(A.place, taken[A.column]), noise[A.row][:, None])
    term = Program({"x": (X, Y)}, {"y": (se.Abs(X * Y), X * Y)})
    workspace.repeat(term, pairs(A.place, x[A.column]), pairs(size[A.row], missed[A.row]))
    right = Program({"x": (X,)}, {"y": (se.Abs(X), -X)})
    workspace.repeat(right, b[:, None], pairs(size, missed))
    both = Program({"x": (X, Y, Z)}, {"y": (AGREE * X + BALANCED * Z - se.Abs(Y),)})
    workspace.repeat(both, np.stack([size, missed, noise], axis=1), found[:, None])
    return found


def gaussian(workspace: Workspace, families: Families, basis: RowBasis, force: Indices) -> Indices:
    """The place of ½ Q_cᵀM⁻¹Q_c; not a number where M is singular."""
    if basis.lifted:
        return workspace.constant(NOT_GIVEN)
    n, none = families.n, (np.zeros(0, dtype=np.int64),) * 2
    saddle = sparse_saddle(workspace, n, joined([mass_pairs(family) for family in families.terms]), none, 0)
    for family in families.terms:
        i, j = local_mass(family)
        at = saddle.at(family.coordinates[:, i], family.coordinates[:, j])
        workspace.members(family, [family.derived.M[a][c] for a, c in zip(i, j, strict=True)], at)
    saddle.factorise()
    deviation = saddle.right()
    workspace.add(force, deviation)
    saddle.solve(deviation)
    place = workspace.block(1)
    workspace.add(pairs(deviation, force), np.repeat(place, n), 0.5)
    return place


def pivots_of(equation: RolledEquation, basis: RowBasis) -> Indices:
    """What vanishes where the equation loses its meaning, the rows first."""
    workspace, saddle = equation.workspace, equation.saddle
    n, count = saddle.n, saddle.nodes - saddle.n
    own = workspace.block(count)
    workspace.add(saddle.pivots[n:], own, -1.0)
    if basis.damping:
        own = volume(workspace, own, basis)
    touched = np.flatnonzero(saddle.touched[:n])
    return np.concatenate([own, saddle.pivots[touched]])


def volume(workspace: Workspace, pivots: Indices, basis: RowBasis) -> Indices:
    """The product of damped pivots, about 1 where they were chosen, and its reciprocal."""
    logarithm, product = workspace.block(1), workspace.block(2)
    start = workspace.constant(np.array([-basis.volume]))
    workspace.add(start, logarithm)
    grown = Program({"x": (X, Y)}, {"y": (se.log(X / Y),)})
    units = workspace.constant(np.array([basis.units[i] for i in basis.used]))
    workspace.repeat(grown, np.stack([pivots, units], axis=1), np.repeat(logarithm[:, None], len(pivots), axis=0))
    both = Program({"x": (X,)}, {"y": (se.exp(X), se.exp(-X))})
    workspace.repeat(both, logarithm[:, None], product[None])
    return product


@dataclass(frozen=True, eq=False)
class MatrixPlaces:
    """Which entries of M and A a program gives, which of A are sums, and which constraints read what."""

    M: Pairs
    A: Pairs
    sums: Pairs
    holonomic: Indices
    first: Indices
    """Those that say something of velocities."""


def matrices_program(families: Families) -> tuple[RolledProgram, MatrixPlaces]:
    """The entries of M and A, Q, b, C and what constraints read; and which entries these are."""
    workspace, n = workspace_of(families), families.n
    i, j = joined([mass_pairs(family) for family in families.terms])
    keys = np.unique(np.concatenate([i * n + j, j * n + i]))
    M = workspace.block(len(keys))
    for family in families.terms:
        a, b = local_mass(family)
        entries = [family.derived.M[row][column] for row, column in zip(a, b, strict=True)]
        at = family.coordinates[:, a] * n + family.coordinates[:, b]
        workspace.members(family, entries, M[np.searchsorted(keys, at)])
        mirrored = [e if row != column else se.Integer(0) for e, row, column in zip(entries, a, b, strict=True)]
        at = family.coordinates[:, b] * n + family.coordinates[:, a]
        workspace.members(family, mirrored, M[np.searchsorted(keys, at)])
    A = together([row_of(workspace, family, dict(family.derived.A[0])) for family in families.constraints])
    sums = together([row_of(workspace, family, sizes_of_sums(family)) for family in families.constraints])
    residual, residual_rate = readings(workspace, families)
    size, rate_size = readings(workspace, families, size_of)
    orders = np.array(families.lowered.description.orders, dtype=int)
    holonomic, first = np.flatnonzero(orders == 0), np.flatnonzero(orders <= 1)
    outputs = {
        "M": M,
        "Q": forces(workspace, families),
        "A": A.place,
        "b": right_sides(workspace, families, range(families.m), None),
        "C": forces(workspace, families, "C"),
        "residual": residual[holonomic],
        "residual_rate": residual_rate[first],
        "size": size[holonomic],
        "rate_size": rate_size[first],
        "row_size": sums.place,
    }
    where = MatrixPlaces((keys // n, keys % n), (A.row, A.column), (sums.row, sums.column), holonomic, first)
    return workspace.program(outputs), where


def row_of(workspace: Workspace, family: Family, expressions: Mapping[int, Any]) -> Entries:
    """Expressions for entries of the rows of a family, each in a place of its own."""
    columns = family.coordinates[:, list(expressions)]
    places = workspace.block(columns.size).reshape(columns.shape)
    workspace.members(family, list(expressions.values()), places)
    return Entries(np.repeat(family.rows, columns.shape[1]), columns.ravel(), places.ravel())


def sizes_of_sums(family: Family) -> dict[int, Any]:
    """How large the terms are of those entries of a row that are sums."""
    return {j: size_of(e) for j, e in family.derived.A[0].items() if has_sum(e)}


def workspace_of(families: Families, gains: tuple[Any, Any] | None = None) -> Workspace:
    """An empty workspace with the inputs of a system."""
    inputs = families.lowered.inputs
    return Workspace(inputs if gains is None else inputs | {"gains": gains})


def forces(workspace: Workspace, families: Families, what: str = "Q", places: Indices | None = None) -> Indices:
    """The places of Q, or of C; given some, they are added there."""
    places = workspace.block(families.n) if places is None else places
    for family in families.terms:
        workspace.members(family, getattr(family.derived, what), places[family.coordinates])
    return places


def momentum_program(families: Families) -> RolledProgram:
    """∂T/∂q̇."""
    workspace = workspace_of(families)
    momentum = workspace.block(families.n)
    for family in families.terms:
        description = family.lowered.description
        if description.kinetic is not None:
            own = [description.kinetic.diff(v) for v in description.axes.v]
            workspace.members(family, own, momentum[family.coordinates])
    return workspace.program({"momentum": momentum})


def readings(
    workspace: Workspace, families: Families, of: Callable[[Any], Any] = lambda e: e
) -> tuple[Indices, Indices]:
    """The places of what constraints read in position and in velocity; not a number where that is not given."""
    residual, residual_rate = (workspace.constant(np.full(families.m, np.nan)) for _ in range(2))
    for family in families.constraints:
        levels = (residual, family.derived.residual[0]), (residual_rate, family.derived.residual_rate[0])
        for found, expression in levels:
            if expression is not None:
                found[family.rows] = workspace.block(len(family))
                workspace.members(family, [of(expression)], found[family.rows][:, None])
    return residual, residual_rate


def add_up(workspace: Workspace, families: Families, place: Indices, what: Callable[[Lowered], Any]) -> bool:
    """A scalar of every term of a system, added up; whether there is anything to add."""
    found = [(family, expression_of(what(family.lowered))) for family in families.terms]
    for family, expression in found:
        workspace.members(family, [expression], spread(place, family))
    return any(expression != 0 for _, expression in found)


def nonideal_power(lowered: Lowered) -> Any:
    """C·q̇."""
    return se.Add(*[c * v for c, v in zip(lowered.derived.C, lowered.description.axes.v, strict=True)])


def spread(place: Indices, members: Any) -> Indices:
    """(count, 1) one place for all members."""
    return np.repeat(place[:, None], len(members), axis=0)
