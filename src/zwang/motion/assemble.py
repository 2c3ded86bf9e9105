"""Consistent starts: the nearest state that obeys every constraint at position and velocity level."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from zwang.arrays import TINIEST, Array
from zwang.errors import AssemblyError, InputError
from zwang.evaluation import penetrated, violations
from zwang.linalg.masses import regular
from zwang.linalg.newton import Found, nearest_point, nearest_root
from zwang.linalg.rank import row_norms
from zwang.linalg.sparse.masses import sparse_masses
from zwang.linalg.sparse.matrix import (
    Sparse,
    is_sparse,
    largest_in_rows,
    plus_diagonal,
    scaled,
    sparse,
    symmetric_factors,
)
from zwang.linalg.sparse.matrix import row_norms as sparse_row_norms
from zwang.linalg.threads import one_thread
from zwang.lowering.lowered import AnyMatrices, SparseMatrices
from zwang.lowering.matrices import MatrixKernel, matrix_kernel
from zwang.model import System
from zwang.model.families.array import CoordinateArray
from zwang.model.has_system import HasSystem, begin_of, system_of
from zwang.model.state import Description, State, Statement, place_of, places_of_array, state_name, state_of
from zwang.model.values import numbers, parameter_values, state_arrays, suggestion
from zwang.motion.contradiction import require_agreement
from zwang.waiting import waiting

# Directions with neither inertia nor constraints have no kinetic-energy metric; this share of the mean mass stands in.
STAND_IN_MASS = 1e-8

REFINED = 3  # times: each leaves a share of STAND_IN_MASS of the error

ROUNDED_SLOPE = 1e-14  # slopes below this share of the largest in their row are rounding
NOTHING = 1e-12  # terms this small beside what the largest coordinate would make of them are rounding


def assemble(
    system: System | HasSystem,
    guess: Mapping[Any, float] | None = None,
    *,
    hold: Sequence[Any] = (),
    parameters: Mapping[Any, Any] | None = None,
    t: float | None = None,
) -> Mapping[Any, float]:
    """The state nearest to a guess, in the kinetic-energy metric, that obeys every constraint.

    Positions first, then velocities. Positions, or all rates, are rough as a whole: the nearest are found. A guess that
    leaves rates out states those that it gives: they are kept, and the others are free, so that the kinetic energy is
    the least. Stated rates that contradict each other by the constraints are refused by name. Of a mechanism the guess
    is where its bodies are described, if none is given: it states what its bodies do. `hold` lists coordinates and
    rates that must keep their value, whatever is stated.

    Redundant constraints are fine; one-sided constraints are not moved to, and a state beyond one is refused; a
    state at one that moves beyond is not: a motion begins there with the impact.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> m = zw.parameters("m")
    >>> pendulum = zw.System((x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2,
    ...                      constraints={"rod": x**2 + y**2 - 25}, parameters={m: 1})
    >>> start = zw.assemble(pendulum, {x: 6, y: -8, zw.dot(x): 1, zw.dot(y): 0})
    >>> {str(key): round(value, 12) for key, value in start.items()}
    {'x(t)': 3.0, 'y(t)': -4.0, 'Derivative(x(t), t)': 0.64, 'Derivative(y(t), t)': 0.48}
    """
    given_as, t = system, begin_of(system, t)
    system = system_of(given_as, "assemble", parameters)
    if guess is None and isinstance(given_as, HasSystem):
        if not hold and given_as.moved_with(parameters, float(numbers(t, "t"))) is not None:
            return dict(given_as.start_with(parameters, float(numbers(t, "t"))))
        guess = given_as.guess_with(parameters)
    if not isinstance(guess, Mapping):
        raise InputError(f"a guess maps coordinates and rates to numbers; got {type(guess).__name__}")
    described = described_by(system, guess)
    q = described.values_of_all[: len(system.coordinate_names)]
    held = held_flags(system, hold)
    p, inputs = parameter_values(system, parameters)
    if p.ndim != 1:
        raise InputError("assemble takes one value a parameter: give numbers, not arrays")
    kernel = matrix_kernel(system, inputs)
    order = np.array([c.order for c in system.constraints], dtype=int)
    sided = np.array([c.one_sided for c in system.constraints], dtype=bool)
    n, t = len(q), float(numbers(t, "t"))
    stated = described.flags & ~held
    with waiting("putting the start together"), one_thread(system.size):
        rows = (order == 0) & ~sided
        position = None
        if stated[:n].any() and not (stated | held)[:n].all():  # places that are stated stay, if the others can follow
            position = nearest(
                kernel, "position", rows, q, described.rates_at(q), t, p, ~(stated | held)[:n], sure=False
            )
        if position is None or not position.root:
            position = nearest(kernel, "position", rows, q, described.rates_at(q), t, p, ~held[:n])
        q, v, rows = position.x, described.rates_at(position.x), (order <= 1) & ~sided
        free = ~(stated | held)[n:]
        velocity = nearest(kernel, "velocity", rows, q, v, t, p, free, least=bool(stated[n:].any()))
        if stated[n:].any():
            if position.root:
                require_agreement(system, kernel.one(t, q, velocity.x, p), q, velocity.x, rows, ~free, described)
            if not velocity.root or not free.any():  # they agree but for rounding, which all share
                velocity = nearest(kernel, "velocity", rows, q, velocity.x, t, p, ~held[n:])
    v = velocity.x
    now = kernel.one(t, q, v, p)
    require_satisfied(system, now, q, v, position.root and velocity.root)
    if not (position.nearest and velocity.nearest):
        warnings.warn(
            "the state that was assembled obeys every constraint, but may not be the nearest to the guess: the search "
            "for that one did not come to an end; give a better guess",
            stacklevel=2,
        )
    if (beyond := np.flatnonzero(penetrated(system, now, q))).size:  # what only moves there meets it: an impact
        name = system.constraint_names[first := int(beyond[0])]
        raise AssemblyError(
            f"the state nearest to the guess is beyond the one-sided constraint {name!r} by "
            f"{-now.residual[first]:.6g}: move the guess",
            where=("constraints", name),
        )
    return state_of(system, np.concatenate([q, v]))


def nearest(
    kernel: MatrixKernel,
    level: str,
    rows: Any,
    q: Array,
    v: Array,
    t: float,
    p: Array,
    free: Any,
    *,
    least: bool = False,
    sure: bool = True,
) -> Found:
    """Positions (or velocities) that satisfy the given rows, nearest to those given, moving free entries only.

    With `least` free velocities are such that the kinetic energy is the least. Unless it is `sure` that there are such
    positions, nothing is found where Gauss and Newton's steps from those given do not lead to any.
    """
    start = q if level == "position" else v
    if not rows.any() or not free.any():
        return Found(start, True, True)
    target = at_least_energy(kernel.one(t, q, v, p).M, v, free) if least else start

    def whole(x: Array) -> Array:
        full = start.copy()
        full[free] = x
        return full

    def matrices(x: Array) -> AnyMatrices:
        full = whole(x)
        return kernel.one(t, full, v, p) if level == "position" else kernel.one(t, q, full, p)

    def readings(x: Array) -> tuple[Array, Any, Any]:
        """What the rows read, with A and M."""
        now = matrices(x)
        reading = now.residual if level == "position" else now.residual_rate
        return reading[rows], free_part(now.A[rows], free), now.M[free][:, free]

    def natural(x: Array) -> Array:
        """Units that fit a state."""
        now = matrices(x)
        where = whole(x) if level == "position" else q
        units = (large_units if isinstance(now, SparseMatrices) else natural_units)(where, now.size, now.A, now.M)
        if level == "velocity":
            units = units * natural_rate(whole(x), units, now.residual_rate[rows], now.A[rows])
        return np.asarray(units[free])

    def sought(unit: Array, begin: Array) -> Found:
        """The nearest, in these units, from a point on."""

        def equations(y: Array) -> tuple[Array, Any]:
            reading, A, _ = readings(unit * y)
            return reading, scaled(A, columns=1 / unit) if is_sparse(A) else A * unit

        def metric(y: Array) -> Any:
            _, A, M = readings(unit * y)
            if is_sparse(A):
                return definite_large(scaled(M, 1 / unit, 1 / unit), scaled(A, columns=1 / unit))
            return definite(M * unit * unit[:, None], A * unit)

        if not sure and not nearest_root(equations, begin / unit, 1e-14)[1]:
            return Found(begin, False, False)
        found = nearest_point(equations, metric, target[free] / unit, begin / unit, 1e-14)
        return replace(found, x=unit * found.x)

    found = sought(natural(start[free]), start[free])
    if found.root and not found.nearest:  # the guess was far away: what seems small from there is not
        found = sought(natural(found.x), found.x)
    return replace(found, x=whole(found.x))


def free_part(A: Any, free: Any) -> Any:
    """The columns that are free. What rounding leaves there of a row that is about others only is nothing."""
    if free.all():
        return A
    if is_sparse(A):
        part = A[:, free].tocoo()
        clear = np.abs(part.data) >= ROUNDED_SLOPE * largest_in_rows(A)[part.row]
        return sparse(part.data[clear], part.row[clear], part.col[clear], part.shape)
    part = A[:, free]
    return np.where(np.abs(part) < ROUNDED_SLOPE * np.abs(A).max(axis=1, keepdims=True), 0.0, part)


def at_least_energy(M: Any, v: Array, free: Any) -> Array:
    """Velocities of which the free ones are such that the kinetic energy is the least, constraints aside.

    M_ff v_f = −M_fk v_k, k what is kept. M is positive semidefinite, so that there is a solution where it is singular.
    """
    kept = np.where(free, 0.0, v)
    wanted, found = -(M @ kept)[free], kept.copy()
    if not wanted.any():
        return found
    M = M[free][:, free]
    if not is_sparse(M):
        found[free] = np.linalg.lstsq(M, wanted, rcond=None)[0]
        return found
    factors = symmetric_factors(plus_diagonal(M, STAND_IN_MASS * float(M.trace()) / M.shape[0]))
    for _ in range(REFINED):
        found[free] += factors.solve(wanted - M @ found[free])
    return found


def definite(M: Array, A: Array) -> Array:
    """M as a metric: where it is singular, made definite by the constraints.

    Inertia across the constraints decides nothing: M(x − target) = Aᵀλ has the same solutions with M + AᵀSA.
    """
    if regular(M[None])[0]:
        return M
    A = A / row_norms(A)[:, None]
    mean = max(float(np.trace(M)) / len(M), TINIEST)
    M = M + mean * (A.T @ A)
    return M if regular(M[None])[0] else np.asarray(M + STAND_IN_MASS * mean * np.eye(len(M)))


def definite_large(M: Sparse, A: Sparse) -> Sparse:
    """The same of sparse matrices."""
    if sparse_masses(M, A).definite:
        return M
    A = scaled(A, sparse_row_norms(A))
    mean = max(float(M.trace()) / M.shape[0], TINIEST)
    M = (M + mean * (A.T @ A)).tocsr()
    return M if sparse_masses(M, A).definite else plus_diagonal(M, STAND_IN_MASS * mean)


def natural_units(q: Array, size: Array, A: Array, M: Array) -> Array:
    """By how much coordinates change in a change that matters, whatever they are measured in.

    In the metric of M that is as much as the state itself, or as what changes a constraint by the `size` of its terms;
    and no more than what changes one by that alone. Constraints whose terms are rounding say nothing.
    """
    inertia = np.sqrt(np.maximum(np.diagonal(M), 0.0))
    slope = np.abs(A)
    slope[slope < ROUNDED_SLOPE * slope.max(axis=1, initial=0.0, keepdims=True)] = 0.0
    told = size > NOTHING * slope.max(axis=1, initial=0.0) * np.abs(q).max(initial=0.0)
    slope, size = slope[told], size[told]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        by_rows = np.where(slope > 0, size[:, None] / slope, np.inf).min(axis=0, initial=np.inf)
        ways = size / np.linalg.norm(slope / np.where(inertia > 0, inertia, np.inf), axis=1)
        ways = ways[np.isfinite(ways)]
        kinetic = max((inertia * np.abs(q)).max(initial=0.0), float(np.median(ways)) if len(ways) else 0.0)
        unit = np.minimum(by_rows, np.where(kinetic * inertia > 0, kinetic / inertia, np.inf))
    return np.asarray(np.where(np.isfinite(unit) & (unit > 0), unit, 1.0))


def large_units(q: Array, size: Array, A: Sparse, M: Sparse) -> Array:
    """The same with sparse matrices."""
    inertia = np.sqrt(np.maximum(M.diagonal(), 0.0))
    most = largest_in_rows(A)
    told = size > NOTHING * most * np.abs(q).max(initial=0.0)
    entries = abs(A).tocoo()
    clear = told[entries.row] & (entries.data > 0) & (entries.data >= ROUNDED_SLOPE * most[entries.row])
    i, j, slope = entries.row[clear], entries.col[clear], entries.data[clear]
    by_rows, squares = np.full(len(q), np.inf), np.zeros(len(size))
    np.minimum.at(by_rows, j, size[i] / slope)
    np.add.at(squares, i, (slope / np.where(inertia > 0, inertia, np.inf)[j]) ** 2)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ways = (size / np.sqrt(squares))[told]
        ways = ways[np.isfinite(ways)]
        kinetic = max((inertia * np.abs(q)).max(initial=0.0), float(np.median(ways)) if len(ways) else 0.0)
        unit = np.minimum(by_rows, np.where(kinetic * inertia > 0, kinetic / inertia, np.inf))
    return np.asarray(np.where(np.isfinite(unit) & (unit > 0), unit, 1.0))


def natural_rate(v: Array, units: Array, reading: Array, A: Any) -> float:
    """How fast coordinates change, in natural units of their own, at these rates or for what the rows ask."""
    by_rows = np.abs(reading) / np.maximum(abs(A) @ units, TINIEST)
    return float(max((np.abs(v) / units).max(initial=0.0), by_rows.max(initial=0.0))) or 1.0


def require_satisfied(system: System, now: AnyMatrices, q: Array, v: Array, found: bool) -> None:
    """Refuse a state that still violates constraints, naming them."""
    bad = violations(system, now, q, v)
    if found and not bad:
        return
    listed = "; ".join(
        f"{system.constraint_names[i]!r} reads {np.nan_to_num(now.residual[i]):.3g} in position, "
        f"{np.nan_to_num(now.residual_rate[i]):.3g} in velocity"
        for i in bad
    )
    raise AssemblyError(
        f"no state near the guess obeys every constraint: {listed or 'the search did not settle'}; give a better "
        f"guess, hold fewer coordinates, or check that these constraints can be met together",
        where=("constraints", system.constraint_names[bad[0]]) if bad else (),
    )


def described_by(system: System, guess: Mapping[Any, float]) -> Description:
    """A guess with what it states: the rates that it gives, unless it gives all."""
    q, v = state_arrays(system, guess, missing_rates=0.0)
    if q.ndim != 1:
        raise InputError("assemble takes one guess: give numbers, not arrays")
    if isinstance(guess, Description) and guess.system is system:
        return guess
    n, given = len(q), np.zeros(2 * len(q), dtype=bool)
    for key in () if isinstance(guess, State) else guess:
        given[places_of_array(system, key) if isinstance(key, CoordinateArray) else place_of(system, key)] = True
    rates = np.flatnonzero(given[n:])
    stated = {} if len(rates) == n else {n + int(i): Statement(state_name(system, n + int(i))) for i in rates}
    return Description(system, np.concatenate([q, v]), stated)


def held_flags(system: System, hold: Sequence[Any]) -> Any:
    """Which of the coordinates and rates are held."""
    flags = np.zeros(2 * len(system.coordinate_names), dtype=bool)
    for key in hold if isinstance(hold, Sequence) and not isinstance(hold, str) else [hold]:
        if isinstance(key, CoordinateArray):
            flags[places_of_array(system, key)] = True
            continue
        place = place_of(system, key)
        if place is None:
            known = [*system.coordinates, *system.velocities]
            raise InputError(
                f"hold names {key}, which is not a coordinate or rate of this system{suggestion(key, known)}"
            )
        flags[place] = True
    return flags
