"""The rank at states next to a given one: what is true where it is lower is not true beside it."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from zwang.arrays import Array, Indices
from zwang.linalg.masses import mass_units
from zwang.linalg.newton import finite, nearby_root
from zwang.linalg.rank import row_rank
from zwang.linalg.sparse.masses import sparse_masses
from zwang.linalg.sparse.matrix import is_sparse, row_norms, scaled
from zwang.linalg.sparse.rank import sparse_rank
from zwang.lowering.matrices import MatrixKernel
from zwang.model import System

# How far to go for states next to the given one. States brought back onto the constraints are
# on them to about 1e-14, unless they fall near a singular position: pivots between zero and clearly not zero say
# so, and such states decide nothing.
SPREADS = (1e-5, 1e-3, 0.03, 0.3)
ZERO_PIVOT, NOT_ZERO = 1e-12, 1e-8

STATES_ENOUGH = 3  # states of a large system that say what its rank is


def generic_rank(
    kernel: MatrixKernel,
    system: System,
    active: Indices,
    state: tuple[float, Array, Array],
    p: Array,
    inertia: Array,
) -> int | None:
    """The greatest rank at nearby states and times that satisfy the constraints; None if none was found.

    Nearby states are displacements brought back to the constraints: rows that depend on each other only while
    the constraints hold must not count as independent.
    """
    order = np.array([c.order for c in system.constraints], dtype=np.intp)
    holonomic, first = active[order[active] == 0], active[order[active] <= 1]
    best, told = None, 0
    for size, units, t, start_q, start_v in displaced(*state, inertia):
        unit_q, unit_v = units

        def positions(x: Array, t: float = t, v: Array = start_v * unit_v, unit: Array = unit_q) -> tuple[Array, Any]:
            now = kernel.one(t, x * unit, v, p)
            return now.residual[holonomic], in_units(now.A[holonomic], unit)

        near_q, found = nearby_root(positions, start_q, size, 1e-14)
        if not found:
            continue

        def velocities(x: Array, t: float = t, q: Array = near_q * unit_q, unit: Array = unit_v) -> tuple[Array, Any]:
            now = kernel.one(t, q, x * unit, p)
            return now.residual_rate[first], in_units(now.A[first], unit)

        near_v, found = nearby_root(velocities, start_v, size, 1e-14)
        near = kernel.one(t, near_q * unit_q, near_v * unit_v, p)
        A = near.A[active]
        if not (found and finite(A)):
            continue
        least, most = ranks(near.M, A)
        if least == most:
            best, told = max(best or 0, most), told + 1
        if best == min(A.shape) or (kernel.large and told == STATES_ENOUGH):  # there is no greater one
            break
    return best


def in_units(A: Any, unit: Array) -> Any:
    """A for coordinates in these units."""
    return scaled(A, columns=1 / unit) if is_sparse(A) else A * unit


def ranks(M: Any, A: Any) -> tuple[int, int]:
    """The rank by what is clearly not zero, and by what may be."""
    if is_sparse(A):
        A = scaled(A, columns=sparse_masses(M, A).units)
        A = scaled(A, row_norms(A))
        least, most = (sparse_rank(A, tolerance).rank for tolerance in (NOT_ZERO, ZERO_PIVOT))
        return least, most
    A = A / mass_units(M[None], A[None])
    least, most = (int(row_rank(A[None], tolerance)[0]) for tolerance in (NOT_ZERO, ZERO_PIVOT))
    return least, most


def displaced(
    t: float, q: Array, v: Array, inertia: Array
) -> Iterator[tuple[float, tuple[Array, Array], float, Array, Array]]:
    """Times and states next to a given one: their distance, units of q and v, time, and q and v in these units.

    Some lie on the motion's tangent, where it would be without acceleration, before and after: the constraints are
    near there even if they branch here. Others lie anywhere, all coordinates displaced at random. The distances
    have several sizes, in two kinds of units, because nobody says how large a mechanism is: the user's, and
    natural ones, in which the state is as large as 1 and `inertia` (roots of M's diagonal) makes lengths and
    angles comparable.
    """
    ones = np.ones(len(q)), np.ones(len(v))
    natural = natural_units(inertia, q), natural_units(inertia, v)
    draw = np.random.default_rng(1829)  # Gauss's year; any fixed number makes verdicts repeatable
    for size, units in product(SPREADS, (ones, natural)):
        x, rate = q / units[0], v / units[0]
        speed = np.abs(rate).max()
        for step in (size / speed, -size / speed) if speed > 0 else ():
            yield size, units, t + step, x + step * rate, v / units[1]
        noise = draw.standard_normal(2 * len(q) + 1)
        yield (
            size,
            units,
            t + size * (1 + abs(t)) * noise[0],
            x + size * noise[1 : len(q) + 1],
            v / units[1] + size * noise[len(q) + 1 :],
        )


def natural_units(inertia: Array, x: Array) -> Array:
    """How much each coordinate or rate must change for a change as large as x itself in the metric of M."""
    inertia = np.where(inertia > 0, inertia, inertia.max(initial=0.0) or 1.0)
    return np.asarray(((inertia * np.abs(x)).max() or inertia.max()) / inertia)
