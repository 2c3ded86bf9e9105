"""Redundant constraints along a motion: they may come to contradict the others between two saved times."""

from typing import Any

import numpy as np

from zwang.arrays import Array, Indices
from zwang.engines.registry import engine_of
from zwang.engines.task import REMEDY, Status, Trajectory
from zwang.errors import SimulationError
from zwang.lowering.rows import RowBasis
from zwang.motion.drive import Alone, integrate, keeps_on
from zwang.motion.observe import AT_ODDS, Segment
from zwang.motion.options import DEFAULT_SAMPLES
from zwang.motion.setup import Setup
from zwang.motion.start import State

SUSPECT = 1e-9  # a residual that projection leaves, above which constraints may contradict each other


def integrate_watched(
    setup: Setup,
    state: State,
    grid: Array,
    watch: Any,
    first: RowBasis,
    at_zero: tuple[int, ...],
    kind: Alone | None = None,
) -> tuple[list[Segment], Trajectory]:
    """`integrate`, with states between the saved ones where redundant constraints are to be looked at there."""
    told = tells_by_projection(setup, first)
    times = grid if told else watched_times(setup, first, state[0], grid)
    segments, path = integrate(setup, state, times, watch, first, kind, at_zero)
    if told and path.left > SUSPECT:
        times = watched_times(setup, first, state[0], grid)
        segments, path = integrate(setup, state, times, watch, first, kind, at_zero)
    return segments, path


def tells_by_projection(setup: Setup, basis: RowBasis) -> bool:
    """Whether what projection cannot take away tells that constraints contradict each other: no need to look."""
    return bool(basis.damping) and keeps_on(setup, basis) and engine_of(setup.method).measures_projection


def watched_times(setup: Setup, basis: RowBasis, t: float, grid: Array) -> Array:
    """The saved times, and more of them where constraints are redundant: these are looked at there."""
    if not basis.redundant(len(setup.system.constraint_names)):
        return grid
    return np.union1d(grid, np.linspace(t, grid[-1], DEFAULT_SAMPLES))


def places_of(grid: Array, times: Array) -> Indices:
    """Where the saved times are among those that were reached, as far as they are there.

    >>> places_of(np.array([0.0, 0.5, 0.5, 2.0]), np.array([0.0, 0.25, 0.5, 1.0])).tolist()
    [0, 2, 2]
    """
    found = np.searchsorted(times, grid[grid <= times[-1]] if len(times) else grid[:0])
    return np.asarray(found, dtype=np.intp)


def missed_between(path: Trajectory) -> tuple[str, ...]:
    """What is said where redundant constraints were not looked at between the saved times, and missed each other."""
    if not path.left > SUSPECT:
        return ()
    return (
        f"Not vouched for: redundant constraints miss each other by {path.left:.2g} between saved times; check what "
        f"they ask for, and save more times to see where.",
    )


def require_agreement(path: Trajectory, until: float) -> None:
    """Refuse to go on where redundant constraints have missed each other, for motions that save no states."""
    if path.left > AT_ODDS:
        raise SimulationError(
            f"stopped before t = {until:.12g}: {Status.INCONSISTENT}; {REMEDY[Status.INCONSISTENT]}. Redundant "
            f"constraints miss each other by {path.left:.2g}.",
            str(Status.INCONSISTENT),
            None,
        )
