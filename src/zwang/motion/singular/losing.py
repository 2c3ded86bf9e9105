"""Which constraints lose their rank at a singular position, in words."""

from collections.abc import Iterator, Sequence

import numpy as np

from zwang.arrays import Array
from zwang.engines.task import Bridge
from zwang.linalg.masses import mass_units
from zwang.lowering.lowered import Matrices
from zwang.lowering.rows import RowBasis
from zwang.motion.setup import Setup
from zwang.motion.singular.leap import State

TOLD_AT_ONCE = 64  # singular positions whose constraints are named together
LOSES = 0.05  # of the largest weight in a combination of unit rows that vanishes: a row with more has a part in it


def losing_rows(setup: Setup, states: Sequence[State], basis: RowBasis, before: Sequence[State]) -> list[str]:
    """What becomes of the constraints near each of some states, by name: they become dependent, or a row vanishes.

    A row is as short as it is beside the longest that it has been, at these states and at others `before`.
    """
    rows, told = asked(setup, basis), list[str]()
    if not states:
        return told
    longest = np.max([lengths(matrices, rows).max(axis=0) for matrices in stacks(setup, (*states, *before))], axis=0)
    for now in stacks(setup, states):
        whole = scaled(now, rows) / np.where(longest > 0, longest, 1.0)[:, None]
        # the combinations that vanish, of rows in units of the longest that they have been
        for weights in np.abs(np.linalg.svd(whole, full_matrices=False)[0][:, :, -1]):
            involved = [rows[i] for i in range(len(rows)) if weights[i] > LOSES * weights.max()]
            names = [setup.system.constraint_names[i] for i in sorted(involved)]
            alone = len(names) == 1
            told.append(f"the row of {names[0]} vanishes" if alone else f"{', '.join(names)} become dependent")
    return told


def stacks(setup: Setup, states: Sequence[State]) -> Iterator[Matrices]:
    """The matrices at some states, so many at a time."""
    for begin in range(0, len(states), TOLD_AT_ONCE):
        yield setup.matrices(*map(np.array, zip(*states[begin : begin + TOLD_AT_ONCE], strict=True)))


def lengths(now: Matrices, rows: Sequence[int]) -> Array:
    """(k, r) how long some rows are at k states, in units of equal mass."""
    return np.asarray(np.linalg.norm(scaled(now, rows), axis=2))


def scaled(now: Matrices, rows: Sequence[int]) -> Array:
    """(k, r, n) some rows at k states, in units of equal mass."""
    return np.asarray(now.A[:, rows] / mass_units(now.M, now.A)[:, None])


def crossing(bridge: Bridge) -> State:
    """The state at the instant of a step across a singular position, by the cubic between its ends.

    A step is as long as the engine takes it: where rows vanish soon after each other, another one may be shorter at
    its ends than the one that vanishes within.
    """
    (begin, q, v), (end, far, fast) = bridge.start, bridge.end
    h = end - begin
    s = (bridge.instant - begin) / h
    way, first, last = far - q, h * v - (far - q), h * fast - (far - q)
    place = q + s * way + s * (1 - s) * ((1 - s) * first - s * last)
    speed = (way + (1 - s) * (1 - 3 * s) * first - s * (2 - 3 * s) * last) / h
    return bridge.instant, place, speed


def not_asked(setup: Setup) -> tuple[int, ...]:
    """The contacts that are open: their rows ask for nothing."""
    held = setup.contact
    return () if held is None else tuple(i for i, mask in zip(held.rows, held.masks, strict=True) if not mask)


def asked(setup: Setup, basis: RowBasis) -> list[int]:
    """The rows of a choice that ask for something, without slips that stick, which A has no rows of."""
    idle, count = not_asked(setup), len(setup.system.constraint_names)
    return [i for i in basis.rows if i < count and i not in idle]
