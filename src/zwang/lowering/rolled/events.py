"""The events of a large system as a rolled program: those of the user, and the switches of its members."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import symengine as se
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.arrays import Indices
from zwang.compile import Program
from zwang.compile.rolled.program import RolledProgram
from zwang.lowering.equation import REFINEMENTS
from zwang.lowering.events import reading, switches_within
from zwang.lowering.rolled.along import Solved, exits, forces_at_rest, solved
from zwang.lowering.rolled.equation import RolledEquation, right_sides
from zwang.lowering.rolled.families import Families
from zwang.lowering.rolled.held_families import HeldFamilies
from zwang.lowering.rolled.programs import forces, workspace_of
from zwang.lowering.rolled.resting import RestingFamilies
from zwang.lowering.rolled.workspace import Workspace
from zwang.lowering.rows import RowBasis
from zwang.model import System
from zwang.model.event import Event, constraint_force, multiplier
from zwang.model.symbols import rates, t


def event_program(
    system: System,
    symbols: Sequence[sp.Symbol],
    families: Families,
    basis: RowBasis,
    events: Sequence[Event],
    gains: tuple[Any, Any] | None,
) -> RolledProgram:
    """The events of a run, behind them what is watched of switches, and the switches of the events themselves."""
    workspace = workspace_of(families, gains)
    lowered = families.lowered
    own: list[Any] = []
    places: dict[Any, int] = {}
    at = solved(workspace, families, basis, False, None) if isinstance(families, RestingFamilies) else None
    if events:
        axes = lowered.description.axes
        known: dict[sp.Basic, Any] = dict(zip(symbols, lowered.parameters, strict=True)) | {t: axes.t}
        for coordinate, q, v in zip(system.coordinates, axes.q, axes.v, strict=True):
            known |= {coordinate: q, rates(coordinate)[0]: v}
        asked = frozenset().union(*(e.expression.free_symbols | e.expression.atoms(AppliedUndef) for e in events))
        reactions = [*map(multiplier, system.constraint_names), *map(constraint_force, system.coordinates)]
        if not asked.isdisjoint(reactions):
            where = reaction_places(workspace, system, families, basis, at)
            stands = {name: se.Symbol(f"reaction{k}") for k, name in enumerate(where)}
            known |= stands
            places |= {stands[name]: place for name, place in where.items()}
        own = [reading(event, known, reactions) for event in events]
        for name, numbers in workspace.places.items():
            places |= dict(zip(workspace.inputs[name], numbers.tolist(), strict=True))
    inputs = workspace.inputs
    fixed = {symbol for name, symbols in inputs.items() if name not in ("t", "q", "v") for symbol in symbols}
    first = read(workspace, own, places)
    falling = [families.watch(workspace)] if isinstance(families, HeldFamilies) else []
    falling += [exits(at.rows, at.shares)] if at else []
    last = read(workspace, switches_within(own, fixed) if own else (), places)
    return workspace.program({"event": np.concatenate([first, *falling, last])})


def reaction_places(
    workspace: Workspace, system: System, families: Families, basis: RowBasis, at: Solved | None
) -> Mapping[sp.Basic, int]:
    """Where multipliers are, if they are unique, and forces of constraint; `at` some switches at rest, if they may."""
    force, multipliers = forces_at_rest(at) if at else plain_forces(workspace, families, basis)
    found: dict[sp.Basic, int] = dict(zip(map(constraint_force, system.coordinates), force.tolist(), strict=True))
    if not basis.redundant(len(system.constraints)):
        names = [multiplier(system.constraint_names[i]) for i in basis.used]
        found |= dict(zip(names, multipliers.tolist(), strict=True))
    return found


def plain_forces(workspace: Workspace, families: Families, basis: RowBasis) -> tuple[Indices, Indices]:
    """Where forces of constraint and multipliers are."""
    Q, C = forces(workspace, families), forces(workspace, families, "C")
    b = right_sides(workspace, families, basis.used, None)
    equation = RolledEquation.of(workspace, families, basis, basis.used, False, REFINEMENTS, reactions=True)
    whole = workspace.block(families.n)
    workspace.add(Q, whole)
    workspace.add(C, whole)
    _, multipliers = equation.solve(whole, b)
    force = equation.reactions(multipliers)
    workspace.add(C, force)
    return force, multipliers


def read(workspace: Workspace, expressions: Sequence[Any], places: Mapping[Any, int]) -> Indices:
    """The places of some expressions of the whole system."""
    found = workspace.block(len(expressions))
    used = sorted({s for e in expressions for s in e.free_symbols}, key=places.__getitem__)
    program = Program({"x": tuple(used)}, {"y": tuple(expressions)})
    if len(found):
        workspace.repeat(program, np.array([[places[s] for s in used]], dtype=np.int64), found[None])
    return found
