"""How the equation of motion changes with its state, in sparse matrices: what implicit methods solve with.

q̈ and λ obey F(q, q̇, q̈, λ) = (M q̈ − Aᵀλ − Q − C, A q̈ − b) = 0. Where constraints connect everything, ∂q̈/∂q is full;
the derivatives of F are not. An equation c q̈' = ∂q̈/∂q q' + ∂q̈/∂q̇ v' … becomes one in positions and multipliers
together, of which every entry comes from a member of a family.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import symengine as se

from zwang.arrays import Indices
from zwang.compile.rolled.program import RolledProgram
from zwang.lowering.equation import REFINEMENTS, right_hand_sides
from zwang.lowering.lowered import flat
from zwang.lowering.rolled.equation import RolledEquation, right_sides
from zwang.lowering.rolled.families import Families, Family
from zwang.lowering.rolled.programs import forces, workspace_of
from zwang.lowering.rolled.workspace import Workspace
from zwang.lowering.rows import RowBasis

Pairs = tuple[Indices, Indices]
PARTS = ("second", "first", "zeroth", "border")
"""∂F/∂q̈, ∂F/∂q̇, ∂F/∂q and ∂F/∂λ."""


@dataclass(frozen=True, eq=False)
class Share:
    """What a family has of F: expressions in its own symbols and more, and the rows they are added to."""

    family: Family
    residual: list[Any]
    rows: Indices
    """(count, expressions)"""
    more: list[Any]
    given: Indices
    """(count, more) places of q̈ and λ."""


def pencil_program(
    families: Families, basis: RowBasis, coordinates_first: bool, gains: tuple[Any, Any] | None
) -> tuple[RolledProgram, dict[str, Pairs]]:
    """The entries of the derivatives of F, by `PARTS`; and where in a matrix of n + m columns they are."""
    workspace, rows = workspace_of(families, gains), basis.used
    Q = forces(workspace, families)
    forces(workspace, families, "C", Q)
    b = right_sides(workspace, families, rows, gains)
    equation = RolledEquation.of(workspace, families, basis, rows, coordinates_first, REFINEMENTS, reactions=True)
    a, multipliers = equation.solve(Q, b)
    number = np.full(families.m, -1)
    number[list(rows)] = np.arange(len(rows))
    shares = [share_of_term(family, a) for family in families.terms]
    shares += [share_of_row(family, a, multipliers, number, families.n, gains) for family in families.constraints]
    A, n, nothing = equation.A, families.n, np.zeros(0, dtype=np.int64)
    outputs: dict[str, Indices] = {}
    where: dict[str, Pairs] = {}
    for name in PARTS[:3]:
        outputs[name], where[name] = derivatives(workspace, families, shares, name, n + len(rows), gains)
    minus, damped = workspace.block(len(A.place)), np.arange(len(rows)) if basis.damping else nothing
    workspace.add(A.place, minus, -1.0)
    damping = workspace.constant(np.array([basis.damping[i] for i in rows])) if basis.damping else nothing
    outputs["border"] = np.concatenate([minus, damping])
    where["border"] = np.concatenate([A.column, n + damped]), n + np.concatenate([A.row, damped])
    return workspace.program(outputs), where


def share_of_term(family: Family, a: Indices) -> Share:
    """M q̈ − Q − C of a term or force."""
    derived, local = family.derived, len(family.derived.Q)
    x = [se.Symbol(f"x{j}") for j in range(local)]
    residual = [
        se.Add(*(e * x[j] for j, e in row.items()), -f, -c)
        for row, f, c in zip(derived.M, derived.Q, derived.C, strict=True)
    ]
    return Share(family, residual, family.coordinates, x, a[family.coordinates])


def share_of_row(
    family: Family, a: Indices, multipliers: Indices, number: Indices, n: int, gains: tuple[Any, Any] | None
) -> Share:
    """−Aᵀλ and A q̈ − b of constraints, as far as they are among those chosen."""
    chosen = family.of(np.flatnonzero(number[family.rows] >= 0))
    row, local = family.derived.A[0], chosen.coordinates.shape[1]
    x, force = [se.Symbol(f"x{j}") for j in range(local)], se.Symbol("force")
    (b,) = right_hand_sides(family.lowered, [0], gains)
    residual = [*(-force * row.get(j, se.Integer(0)) for j in range(local))]
    residual.append(se.Add(*(e * x[j] for j, e in row.items()), -b))
    own = number[chosen.rows][:, None]
    rows = np.concatenate([chosen.coordinates, n + own], axis=1)
    return Share(chosen, residual, rows, [*x, force], np.concatenate([a[chosen.coordinates], multipliers[own]], axis=1))


def derivatives(
    workspace: Workspace, families: Families, shares: list[Share], part: str, height: int, gains: Any
) -> tuple[Indices, Pairs]:
    """The places of the entries of one derivative of F, and where they are in a matrix of this height."""
    found: list[tuple[Share, list[Any], Indices]] = []
    for share in shares:
        axes = share.family.lowered.description.axes
        symbols = {"second": share.more[: len(axes.q)], "first": axes.v, "zeroth": axes.q}[part]
        entries = [
            (i, j, slope)
            for i, e in enumerate(share.residual)
            for j, s in enumerate(symbols)
            if s in e.free_symbols and (slope := flat(e.diff(s))) != 0
        ]
        if entries and len(share.family):
            rows, columns = ([each[k] for each in entries] for k in range(2))
            keys = share.rows[:, rows] + height * share.family.coordinates[:, columns]
            found.append((share, [slope for *_, slope in entries], keys))
    keys = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(each.ravel() for *_, each in found)]))
    places = workspace.block(len(keys))
    for share, slopes, own in found:
        more, given = list(share.more), share.given
        if gains is not None:
            more += gains
            given = np.concatenate([given, workspace.places["gains"][None].repeat(len(given), axis=0)], axis=1)
        workspace.members(share.family, slopes, places[np.searchsorted(keys, own)], more, given)
    return places, (keys % height, keys // height)
