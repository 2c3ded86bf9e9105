"""Accelerations with which switches that rest stay where they are to the last bit, however long.

Where a rate ṡ = J q̈ + c has a number for the factor of an acceleration, this is what the others leave for it, as
`lowering.resting.Rates.exactly` has it. What one switch changes another may read: those come one after another.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import symengine as se

from zwang.arrays import Indices
from zwang.lowering.rolled.held_rows import RestRows
from zwang.lowering.rolled.resting import Rate, RestingFamilies


@dataclass(frozen=True)
class Turn:
    """Members of a rate that are put right at the same time, by the acceleration of one of their coordinates."""

    rate: Rate
    members: Indices
    own: int


def exactly(rows: RestRows, acceleration: Indices) -> Indices:
    """The places of accelerations with ṡ = 0 not only up to rounding, where that can be."""
    workspace = rows.workspace
    made = workspace.block(len(acceleration))
    workspace.add(acceleration, made)
    for turn in turns(rows.families):
        rate, family = turn.rate, turn.rate.family.of(turn.members)
        x = {j: se.Symbol(f"x{j}") for j in rate.J}
        others = se.Add(rate.c, *(e * x[j] for j, e in rate.J.items() if j != turn.own))
        rests = se.Symbol("rests")
        change = se.Piecewise((-others / rate.J[turn.own] - x[turn.own], se.Gt(rests, 0)), (0, True))
        given = np.concatenate(
            [made[family.coordinates[:, list(rate.J)]], rows.masks[rate.place[turn.members]][:, None]], axis=1
        )
        at = made[family.coordinates[:, turn.own]][:, None]
        workspace.members(family, [change], at, [*x.values(), rests], given)
    return made


def turns(families: RestingFamilies) -> Iterator[Turn]:
    """Who is put right when: switches of one coordinate first, then the others by coordinates that are left."""
    when: dict[tuple[int, int, int], list[int]] = {}
    used: set[int] = set()
    last: dict[int, int] = {}  # turn in which a coordinate was read or changed
    for single in (True, False):
        for number, rate in enumerate(families.rates):
            if (len(rate.J) == 1) is not single:
                continue
            free = [j for j, e in rate.J.items() if e.is_Number]
            for member, coordinates in enumerate(rate.family.coordinates.tolist()):
                own = next((j for j in free if single or coordinates[j] not in used), None)
                if own is not None:
                    turn = 1 + max(last.get(coordinates[j], 0) for j in rate.J)
                    last |= {coordinates[j]: turn for j in rate.J}
                    used.add(coordinates[own])
                    when.setdefault((turn, number, own), []).append(member)
    for (_, number, own), members in sorted(when.items()):
        yield Turn(families.rates[number], np.array(members), own)
