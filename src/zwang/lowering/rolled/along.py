"""The programs of a large system some of whose switches rest: what the straight-line ones give, in loops."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import symengine as se

from zwang.arrays import Indices
from zwang.compile import Program
from zwang.compile.rolled.program import RolledProgram
from zwang.lowering.equation import REFINEMENTS
from zwang.lowering.lowered import Lowered
from zwang.lowering.power import constraint_rates, energies, ledger
from zwang.lowering.report import REFINEMENTS_OF_REPORT
from zwang.lowering.resting import HOLDS_BEYOND
from zwang.lowering.rolled.equation import RolledEquation, right_sides
from zwang.lowering.rolled.exact import exactly
from zwang.lowering.rolled.held_rows import RestRows, X, Y, Z, add_shares, common, dot, middle
from zwang.lowering.rolled.programs import (
    add_up,
    agreement,
    gaussian,
    nonideal_power,
    pivots_of,
    readings,
    spread,
    workspace_of,
)
from zwang.lowering.rolled.resting import RestingFamilies
from zwang.lowering.rolled.workspace import Workspace
from zwang.lowering.rows import RowBasis

OBLIQUE = 1e-10  # of the square of a force: if more is across the speed that it depends on, it does not hold in loops


@dataclass(frozen=True, eq=False)
class Solved:
    """The equation with and without rows of switches, and its solution; behind the shares there is a zero."""

    rows: RestRows
    plain: RolledEquation
    """Its pivots are those of constraints and masses alone."""
    held: RolledEquation
    acceleration: Indices
    multipliers: Indices
    shares: Indices


def solved(
    workspace: Workspace,
    families: RestingFamilies,
    basis: RowBasis,
    late: bool,
    gains: tuple[Any, Any] | None,
    refinements: int = REFINEMENTS,
) -> Solved:
    """The acceleration with some switches at rest."""
    rows = RestRows.of(workspace, families)
    Q = middle(workspace, families, "Q")
    middle(workspace, families, "C", Q)
    plain = RolledEquation.of(workspace, families, basis, basis.used, late, refinements, reactions=True)
    held, asked = rows.equation(basis, late, refinements), rows.right(rows.c)
    m = len(basis.used)
    x, multipliers = held.solve(Q, np.concatenate([right_sides(workspace, families, basis.used, gains), asked]))
    x, shares = exactly(rows, x), np.concatenate([multipliers[m:], workspace.block(1)])
    if gains is not None:  # the power is that of physical forces, without Baumgarte's
        _, multipliers = held.solve(Q, np.concatenate([right_sides(workspace, families, basis.used, None), asked]))
    return Solved(rows, plain, held, x, multipliers[:m], shares)


def acceleration_program(
    families: RestingFamilies, basis: RowBasis, late: bool, gains: tuple[Any, Any] | None
) -> RolledProgram:
    """q̈, pivots and power, as `rolled.programs.acceleration_program` gives them, with some switches at rest."""
    workspace = workspace_of(families, gains)
    at = solved(workspace, families, basis, late, gains)
    power, number = workspace.block(1), np.full(families.m, -1)
    number[list(basis.used)] = np.arange(len(basis.used))
    for k, family in enumerate(families.members):
        if not len(family.rows):
            own = ledger(family.lowered)[1] + nonideal_power(family.lowered)
            add_shares(workspace, families, k, [own], spread(power, family), at.shares)
            continue
        rate = constraint_rates(family.lowered, [0], off=gains is not None).get(0)
        if rate is not None:
            chosen = family.of(np.flatnonzero(number[family.rows] >= 0))
            given = at.multipliers[number[chosen.rows]][:, None]
            workspace.members(chosen, [X * rate], spread(power, chosen), [X], given)
    outputs = {"acceleration": at.acceleration, "pivots": pivots_of(at.plain, basis), "power": power}
    return workspace.program(outputs)


def shares_program(families: RestingFamilies, basis: RowBasis) -> RolledProgram:
    """What decides which switches rest: their shares and rates, and how forces are to them.

    `grip` is c of G = −c J, `oblique` the part of G that is not along J, of all of it, and `guess` by how much ṡ falls
    if masses were single numbers. `free` and `held` are the pivots
    of rows without and with those of switches: one that is much smaller depends on others.
    """
    workspace = workspace_of(families)
    at = solved(workspace, families, basis, False, None)
    rows, n, m = at.rows, families.n, len(basis.used)
    speed = rows.sizes(workspace.places["v"])
    along = rows.sum(rows.J, at.acceleration)
    outputs = {
        "acceleration": at.acceleration,
        "share": at.shares[:-1],
        "rate": rows.each(X + Y, along, rows.c),
        "rate_size": rows.sizes(at.acceleration),
        "speed_size": speed,
        "grip": rows.each(-X / Y, rows.GJ, rows.JJ),
        "oblique": oblique(rows),
        "guess": guess(rows),
        "free": at.plain.saddle.pivots[n:],
        "held": at.held.saddle.pivots[n : n + m],
        "switch": at.held.saddle.pivots[n + m :],
    }
    return workspace.program(outputs)


def oblique_program(families: RestingFamilies) -> RolledProgram:
    """Of the forces that hold switches the part that is not along J."""
    workspace = workspace_of(families)
    return workspace.program({"oblique": oblique(RestRows.of(workspace, families))})


def oblique(rows: RestRows) -> Indices:
    """The places of 1 − (G·J)² / (G·G J·J); 0 where nothing holds."""
    GG = dot(rows.workspace, rows.G, rows.G, rows.families.n, len(rows.masks))
    across = 1 - X**2 / (Y * Z)
    return rows.each(se.Piecewise((across, se.Gt(Z, 0)), (0, True)), rows.GJ, rows.JJ, GG)


def guess(rows: RestRows) -> Indices:
    """The places of Σ |J G / M| with the diagonal of M."""
    workspace, families, n = rows.workspace, rows.families, rows.families.n
    mass, found = workspace.block(n), workspace.block(len(rows.masks))
    for family in families.terms:
        own = [family.derived.M[a].get(a, se.Integer(0)) for a in range(family.coordinates.shape[1])]
        workspace.members(family, own, mass[family.coordinates])
    term = Program({"x": (X, Y, Z)}, {"y": (se.Abs(X * Y / Z),)})
    row, column, places = common(rows.G, rows.J, n)
    workspace.repeat(term, np.concatenate([places, mass[column][:, None]], axis=1), found[row][:, None])
    return found


def response_program(families: RestingFamilies, basis: RowBasis) -> RolledProgram:
    """J of every switch times the response to Σ pick G, and the size of its terms; `pick` is one more input."""
    picks = tuple(se.Symbol(f"pick{i}") for i in range(len(families.which)))
    workspace = Workspace(families.lowered.inputs | {"pick": picks})
    rows = RestRows.of(workspace, families)
    push, G, pick = workspace.block(families.n), rows.G, workspace.places["pick"]
    workspace.add(np.stack([G.place, pick[G.row]], axis=1), push[G.column])
    equation = RolledEquation.of(workspace, families, basis, basis.used, False, REFINEMENTS)
    x, _ = equation.solve(push, workspace.block(len(basis.used)))
    return workspace.program({"rate": rows.sum(rows.J, x), "size": rows.sizes(x)})


def onto_program(families: RestingFamilies, basis: RowBasis) -> RolledProgram:
    """The change of velocities, along the forces that hold, that takes `off` from the arguments of what rests."""
    symbols = tuple(se.Symbol(f"off{i}") for i in range(len(families.which)))
    workspace = Workspace(families.lowered.inputs | {"off": symbols})
    rows = RestRows.of(workspace, families)
    equation, nothing = rows.equation(basis, False), np.zeros(0, dtype=np.int64)
    asked = rows.right(workspace.places["off"])
    dv, _ = equation.solve(nothing, np.concatenate([workspace.block(len(basis.used)), asked]))
    return workspace.program({"dv": dv})


def exits(rows: RestRows, shares: Indices) -> Indices:
    """The places of what falls through zero where switches no longer rest, as `lowering.resting.exits` has them."""
    families, workspace = rows.families, rows.workspace
    reserve = (se.RealDouble((1 + HOLDS_BEYOND) ** 2) - X**2) / (1 + X**2)
    gives_way = rows.each(se.Piecewise((-1, se.Eq(Y, 0)), (reserve, True)), shares[:-1], rows.masks)
    argument, count = workspace.block(len(families.which)), families.instances.count
    for rate in families.rates:
        workspace.members(rate.family, [rate.argument], argument[rate.place][:, None])
    slack = workspace.places["modes"][2 * count + np.array(families.which)]
    apart = se.Piecewise((Y**2 - X**2, se.Gt(Z, 0)), (-1, True))
    return np.concatenate([gives_way, rows.each(apart, argument, slack, rows.masks)])


def forces_at_rest(at: Solved) -> tuple[Indices, Indices]:
    """The places of the forces of constraint, nonideal ones with their shares, and of multipliers."""
    families, workspace = at.rows.families, at.rows.workspace
    force = at.plain.reactions(at.multipliers)
    for k, family in enumerate(families.members):
        if not len(family.rows):
            add_shares(workspace, families, k, family.derived.C, force[family.coordinates], at.shares)
    return force, at.multipliers


def report_program(families: RestingFamilies, basis: RowBasis) -> RolledProgram:
    """Everything that the results say of a state, as `rolled.programs.report_program` gives it."""
    workspace, n = workspace_of(families), families.n
    at = solved(workspace, families, basis, False, None, REFINEMENTS_OF_REPORT)
    b = right_sides(workspace, families, basis.used, None)
    Q, given_power = workspace.block(n), workspace.block(1)
    for k, family in enumerate(families.members):
        if not len(family.rows):
            add_shares(workspace, families, k, family.derived.Q, Q[family.coordinates], at.shares)
            power = energies(family.lowered)[2]
            add_shares(workspace, families, k, [power], spread(given_power, family), at.shares)
    force, _ = forces_at_rest(at)
    nonideal = any(c != 0 for family in families.terms for c in family.derived.C)
    ideal = at.plain.reactions(at.plain.solve(Q, b)[1]) if nonideal else force
    residual, residual_rate = readings(workspace, families)
    scalars = {name: workspace.block(1) for name in ("kinetic", "potential", "jacobi")}
    what = {"kinetic": kinetic_of, "potential": potential_of, "jacobi": jacobi_of}
    for name, place in scalars.items():
        add_up(workspace, families, place, what[name])
    scalars |= {"given_power": given_power, "gaussian": gaussian(workspace, families, basis, force)}
    outputs = {
        "acceleration": at.acceleration,
        "force": Q,
        "constraint_force": force,
        "ideal_force": ideal,
        "multiplier": at.multipliers,
        "residual": residual,
        "residual_rate": residual_rate,
        **scalars,
        "pivots": pivots_of(at.plain, basis),
    }
    if basis.damping:
        outputs["agreement"] = agreement(at.plain, at.acceleration, at.multipliers, b)
    return workspace.program(outputs, dict.fromkeys(scalars, ()))


def kinetic_of(lowered: Lowered) -> Any:
    """T."""
    return energies(lowered)[0]


def potential_of(lowered: Lowered) -> Any:
    """V."""
    return lowered.description.potential


def jacobi_of(lowered: Lowered) -> Any:
    """Jacobi's energy."""
    return ledger(lowered)[0]
