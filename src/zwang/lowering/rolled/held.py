"""The switches of a large system, held: of each kind once, with a number for every member.

A family is held as a small system of its own (`lowering.locked`), with modes of its own. Which switches of the whole
system these are is a table (`rolled.same`).
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import symengine as se

from zwang.compile.rolled.program import RolledProgram
from zwang.lowering.locked import (
    Holding,
    Locked,
    Switch,
    atoms_to_hold,
    hold,
    mode_symbols,
    replaced,
    words_of,
)
from zwang.lowering.lowered import Lowered
from zwang.lowering.power import ledger
from zwang.lowering.rolled.families import Families, Family
from zwang.lowering.rolled.held_families import HeldFamilies
from zwang.lowering.rolled.programs import add_up, readings, spread, workspace_of
from zwang.lowering.rolled.resting import with_rests
from zwang.lowering.rolled.same import Instances, instances_of


def lock_families(
    families: Families,
    coordinates: Sequence[str],
    symbols: Sequence[str],
    constraints: Sequence[str],
    varied: Sequence[int] = (),
) -> Locked | None:
    """A large model with its switches held, as `lowering.locked.lock` has it; None without any."""
    atoms = [atoms_to_hold(family.lowered, varied_of(family, varied)) for family in families.members]
    if not any(atoms):
        return None
    found = instances_of(families, [hold(own) if own else None for own in atoms])
    members, holdings = [], []
    for k, (family, own) in enumerate(zip(families.members, atoms, strict=True)):
        made, holding = held_family(family, k, own, found) if own else (family, None)
        members.append(made)
        holdings.append(holding)
    whole = Lowered(families.lowered.description, families.lowered.parameters, mode_symbols(found.count))
    held, resting = with_rests(HeldFamilies(whole, tuple(members), tuple(holdings), found))
    switches: list[Switch] = [Switch("", str)] * found.count
    timed = []
    for family, holding, local, numbers in held.groups():
        axes, atom = family.lowered.description.axes, holding.atoms[local]
        if not holding.arguments[local].free_symbols & {*axes.q, *axes.v}:
            timed += numbers.tolist()
        for member, number in enumerate(numbers.tolist()):
            tell = partial(words_in, family, member, atom, coordinates, symbols)
            switches[number] = Switch(type(atom).__name__, tell)
    steady, steady_names = steady_program(held, coordinates, constraints)
    return Locked(
        lowered=held.lowered,
        switches=switches,
        rows=held.rows(),
        falling=(),
        readings=readings_program(held),
        steady=steady,
        steady_names=steady_names,
        timed=tuple(sorted(timed)),
        energy=energy_program(held),
        families=held,
        families_at_rest=resting,
    )


def varied_of(family: Family, varied: Sequence[int]) -> tuple[int, ...]:
    """Which of the parameters of a family are varied, for any of its members."""
    return tuple(np.flatnonzero(np.isin(family.parameters, list(varied)).any(axis=0)).tolist())


def held_family(family: Family, number: int, atoms: Sequence[Any], found: Instances) -> tuple[Family, Holding]:
    """A family with its switches held, and how."""
    own = np.flatnonzero(found.family == number)
    switch, sense = (x[own].reshape(-1, len(family)).T for x in (found.switch, found.sense))  # (count, local)
    turned = np.flatnonzero((sense < 0).any(axis=0)).tolist()
    senses = {local: se.Symbol(f"sense{local}") for local in turned}
    holding = hold(atoms, senses)
    lowered = Lowered(
        replaced(family.lowered.description, holding.held),
        (*family.lowered.parameters, *senses.values()),
        mode_symbols(len(holding.atoms)),
    )
    modes = np.concatenate([switch + k * found.count for k in range(3)], axis=1)
    constants = np.concatenate([family.constants, sense[:, turned]], axis=1)
    return Family(lowered, family.coordinates, family.parameters, constants, family.rows, modes), holding


def words_in(family: Family, member: int, atom: Any, coordinates: Sequence[str], symbols: Sequence[str]) -> str:
    """Where the switch of a member changes, in the user's names."""
    axes, own = family.lowered.description.axes, family.parameters.shape[1]
    names: dict[Any, str | float] = {}
    for q, v, i in zip(axes.q, axes.v, family.coordinates[member], strict=True):
        names |= {q: coordinates[i], v: f"{coordinates[i]}'"}
    names |= {p: symbols[i] for p, i in zip(family.lowered.parameters[:own], family.parameters[member], strict=True)}
    names |= zip(family.lowered.parameters[own:], family.constants[member].tolist(), strict=True)
    return words_of(atom, names)


def readings_program(held: HeldFamilies) -> RolledProgram:
    """Argument and size of every switch."""
    workspace, count = workspace_of(held), held.instances.count
    argument, size = workspace.block(count), workspace.block(count)
    for family, holding, local, switches in held.groups():
        both = [holding.arguments[local], holding.sizes[local]]
        workspace.members(family, both, np.stack([argument[switches], size[switches]], axis=1))
    return workspace.program({"argument": argument, "size": size})


def steady_program(
    held: HeldFamilies, coordinates: Sequence[str], constraints: Sequence[str]
) -> tuple[RolledProgram, tuple[str, ...]]:
    """What must not jump: `locked.must_not_jump`, of the terms that switch."""
    workspace, values, names = workspace_of(held), [], []
    potential, momenta = workspace.block(1), workspace.block(held.n)
    stores, moves = False, np.zeros(held.n, dtype=bool)
    for family in held.terms:
        description, modes = family.lowered.description, {*family.lowered.modes}
        if description.potential.free_symbols & modes:
            workspace.members(family, [description.potential], spread(potential, family))
            stores = True
        if description.kinetic is not None and description.kinetic.free_symbols & modes:
            own = [description.kinetic.diff(v) for v in description.axes.v]
            workspace.members(family, own, momenta[family.coordinates])
            moves[family.coordinates] = True
    if stores:
        values.append(potential)
        names.append("the potential")
    values.append(momenta[moves])
    names += [f"the momentum of {coordinates[i]}" for i in np.flatnonzero(moves).tolist()]
    switching = [f for f in held.constraints if f.lowered.modes]
    residual, residual_rate = readings(workspace, Families(held.lowered, tuple(switching)))
    for family in switching:
        derived = family.derived
        for expression, places, what in (
            (derived.residual[0], residual, "the constraint"),
            (derived.residual_rate[0], residual_rate, "the rate of the constraint"),
        ):
            if expression is not None and expression.free_symbols & {*family.lowered.modes}:
                values.append(places[family.rows])
                names += [f"{what} {constraints[i]!r}" for i in family.rows.tolist()]
    return workspace.program({"value": np.concatenate(values)}), tuple(names)


def energy_program(held: HeldFamilies) -> RolledProgram | None:
    """Jacobi's energy, if switches have a say in it."""
    if not any(ledger(family.lowered)[0].free_symbols & {*family.lowered.modes} for family in held.terms):
        return None
    workspace = workspace_of(held)
    energy = workspace.block(1)
    add_up(workspace, held, energy, lambda lowered: ledger(lowered)[0])
    return workspace.program({"energy": energy})
