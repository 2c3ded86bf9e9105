"""A model's numbers: matrices, accelerations, forces and multipliers at one state or at a stack of states.

The derivation runs in SymEngine and the result in native code; one kernel serves every state, time and
parameter value of a model, and is kept for as long as the process lives.
"""

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zwang.arrays import EPS, Array
from zwang.dense import solve_named
from zwang.errors import InconsistentError, InputError
from zwang.formulations.forms import DEFAULT
from zwang.formulations.large import solve_large
from zwang.formulations.solution import Solution
from zwang.formulations.solve import Names
from zwang.linalg.sparse.matrix import diagonal_of, is_sparse
from zwang.linalg.threads import one_thread
from zwang.lowering.lowered import AnyMatrices, Matrices, SparseMatrices
from zwang.lowering.matrices import matrix_kernel
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, start_of_each, system_of
from zwang.model.values import column_of, numbers, parameter_values, state_arrays

# A one-sided constraint this close to its limit, relative to the terms that make it up, touches it.
CONTACT_TOL = 1e-9
CONTACT_ROUNDING = 8 * EPS
# A constraint that reads less than this at a state, relative to the terms that make it up, is satisfied.
SATISFIED_TOL = 1e-8
ROUNDED_ROWS = 8 * EPS  # what is left of zeros, beside the largest coordinate
LAST_NUMBER = float(np.finfo(float).max)
STATE_ROUNDING = 64 * EPS  # of the largest number of a state: its velocities are not known better


class ConstraintViolationWarning(UserWarning):
    """Numbers were computed at a state that does not satisfy its constraints: they belong to no motion."""


def evaluate(
    system: System | HasSystem,
    state: Mapping[Any, ArrayLike] | None = None,
    t: ArrayLike | None = None,
    parameters: Mapping[Any, Any] | None = None,
    form: str = "fundamental",
    **choice: Any,
) -> Solution:
    """Acceleration, forces of constraint and multipliers of a model at a state, or at a stack of states.

    `state` maps every coordinate and every rate, or their names "x" and "x'", to a number or to an array; arrays
    broadcast, and so do times and parameter values. A mechanism has a state of its own, its start, where none is
    given. `form` and its choices are those of `solve`.

    A state should satisfy the constraints: accelerations keep a motion on them, they do not bring it there.
    `residuals.position` and `residuals.velocity` say how far a state is off, beside the residuals of the accelerations;
    beyond rounding there is a `ConstraintViolationWarning`. `assemble` gives the nearest state that satisfies them.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> m, g = zw.parameters("m g")
    >>> pendulum = zw.System((x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=m*g*y,
    ...                      constraints={"rod": (x**2 + y**2 - 4)/2}, parameters={m: 1, g: 10})
    >>> now = zw.evaluate(pendulum, {x: 0, y: -2, zw.dot(x): 3, zw.dot(y): 0})
    >>> now.acceleration, now.constraint_force
    (array([0. , 4.5]), array([ 0. , 14.5]))
    """
    solution, now, q, v = evaluated(system, state, t, parameters, form, **choice)
    warn_of_violations(system_of(system, "evaluate", parameters), now, q, v, level=3)
    return solution


def evaluated(
    system: System | HasSystem,
    state: Mapping[Any, ArrayLike] | None,
    t: ArrayLike | None,
    parameters: Mapping[Any, Any] | None,
    form: str = DEFAULT,
    **choice: Any,
) -> tuple[Solution, AnyMatrices, Array, Array]:
    """What `evaluate` gives, with the matrices and the state that it stands on; nobody is warned."""
    given, t = system, begin_of(system, t)
    system = system_of(given, "evaluate", parameters)
    rough = next((c.name for c in system.constraints if c.friction), None)
    if rough is not None:
        raise InputError(
            f"constraint {rough!r} has friction, whose force depends on what has happened before: evaluate does not "
            f"know it, simulate does; leave the friction out, or give it as a force"
        )
    sided = next((c.name for c in system.constraints if c.one_sided), None)
    if sided is not None and system.reactions:
        raise InputError(
            f"nonideal forces depend on multipliers, and constraint {sided!r} is one-sided: evaluate does not know "
            f"both together; leave one of them out"
        )
    state = start_of_each(given, state, parameters, t, "state")
    if choice.get("eliminate") is not None:
        choice["eliminate"] = [column_of(system, q) for q in choice["eliminate"]]
    one_sided = np.array([c.one_sided for c in system.constraints], dtype=bool)
    plain = isinstance(form, str) and form == DEFAULT and not choice and not one_sided.any()
    if plain and (large := large_matrices(system, state, t, parameters)) is not None:
        sparse, q, v = large
        alone = solve_large(
            sparse.M, sparse.A, sparse.Q, sparse.b, sparse.C, v, names_of(system), uncertainty(sparse, q, v)
        )
        return with_residuals(system, alone, sparse), sparse, q, v
    now, q, v = matrices(system, state, t, parameters)
    A, b = now.A, now.b
    if one_sided.any():
        idle = one_sided & ~touching(system, now, q, v)
        A = np.where(idle[..., None], 0.0, A)  # 0 ≥ −1: a row that asks for nothing
        b = np.where(idle, -1.0, b)
    with one_thread(system.size):
        solution = solved(system, replace(now, A=A, b=b), q, v, form=form, one_sided=one_sided, **choice)
    if one_sided.any():
        free = solution.free_acceleration
        solution = replace(solution, error=now.b - np.einsum("...ij,...j->...i", now.A, free))
    return with_residuals(system, solution, now), now, q, v


def with_residuals(system: System, solution: Solution, now: AnyMatrices) -> Solution:
    """A solution that says how far its state is off the constraints."""
    position, velocity = state_residuals(system, now)
    found = copy(solution)  # `replace` would make all of a large one
    object.__setattr__(found, "residuals", replace(solution.residuals, position=position, velocity=velocity))
    return found


def state_residuals(system: System, now: AnyMatrices) -> tuple[Array, Array]:
    """‖φ‖ and ‖φ̇‖ of states: what constraints read; of one-sided ones what they read below zero."""
    position, velocity = (np.where(np.isnan(x), 0.0, x) for x in (now.residual, now.residual_rate))
    if any(c.one_sided for c in system.constraints):
        one_sided = np.array([c.one_sided for c in system.constraints], dtype=bool)
        position = np.where(one_sided, np.minimum(position, 0.0), position)
        velocity = np.where(one_sided, 0.0, velocity)
    return np.sqrt((position**2).sum(axis=-1)), np.sqrt((velocity**2).sum(axis=-1))


def warn_of_violations(system: System, now: AnyMatrices, q: Array, v: Array, level: int) -> None:
    """Warn of states that do not satisfy their constraints, by the worst of them; `level` is the caller's stack."""
    good = satisfied(system, now, q, v)
    if good.all():
        return
    bad = np.argwhere(~good)
    where = tuple(bad[0][:-1])
    which = [int(i) for *at, i in bad if tuple(at) == where]
    one = f"state {', '.join(map(str, where))} of the stack" if where else "the state"
    words = in_words(system, now.residual[where], now.residual_rate[where], which)
    warnings.warn(
        f"{one} does not satisfy its constraints: {words}; what is computed there belongs to no motion, and forces are "
        f"wrong by as much: zwang.assemble(system, state) gives the nearest state that does",
        ConstraintViolationWarning,
        stacklevel=level,
    )


def in_words(system: System, residual: Array, rate: Array, which: Sequence[int]) -> str:
    """What some constraints read at one state."""
    return "; ".join(
        f"{system.constraint_names[i]!r} reads {np.nan_to_num(residual[i]):.6g} in position and "
        f"{np.nan_to_num(rate[i]):.6g} in velocity"
        for i in which
    )


def solved(
    system: System, now: Matrices, q: Array, v: Array, form: str = DEFAULT, one_sided: Any = None, **choice: Any
) -> Solution:
    """The solution of a model's matrices at a state, or a refusal that has its names."""
    asked = {"C": now.C, "form": form, "rank_tol": None, "one_sided": one_sided, "v": v, "names": names_of(system)}
    try:
        return solve_named(now.M, now.Q, now.A, now.b, **asked, **choice)
    except InconsistentError:  # perhaps because velocities that should be zero are rounding
        return solve_named(now.M, now.Q, now.A, now.b, **asked, **choice, slack=uncertainty(now, q, v))


def large_matrices(
    system: System, state: Mapping[Any, ArrayLike], t: ArrayLike, parameters: Mapping[Any, Any] | None
) -> tuple[SparseMatrices, Array, Array] | None:
    """The sparse matrices of a large system at one state, with q and v; None for a small one, and for a stack."""
    p, inputs = parameter_values(system, parameters)
    if not matrix_kernel(system, inputs).large:
        return None
    q, v = state_arrays(system, state)
    if q.ndim != 1 or p.ndim != 1 or np.ndim(numbers(t, "t")):
        return None
    now = matrix_kernel(system, inputs).sparse(float(numbers(t, "t")), q, v, p)
    require_finite_matrices(system, now)
    return now, q, v


def uncertainty(now: AnyMatrices, q: Array, v: Array) -> Array:
    """(…, m) by how much b may be off because velocities are, by their rounding beside the largest number of a state.

    b is quadratic in them: what rounding leaves of velocities that should be zero makes it differ from row to row. A
    row changes by its own size over a way as long as the largest coordinate.
    """
    most_q, most_v = (np.abs(x).max(axis=-1, initial=0.0)[..., None] for x in (q, v))
    off = STATE_ROUNDING * np.maximum(most_q, most_v)
    return np.asarray(np.asarray(abs(now.A).sum(axis=-1)) * off * (most_v + off) / np.where(most_q > 0, most_q, 1.0))


def names_of(system: System) -> Names:
    """Names of coordinates and constraints as messages use them."""
    return Names(system.coordinate_names, tuple(f"constraint {name!r}" for name in system.constraint_names))


def matrices(
    system: System, state: Mapping[Any, ArrayLike], t: ArrayLike, parameters: Mapping[Any, Any] | None
) -> tuple[Matrices, Array, Array]:
    """A model's matrices at a state, with the state as arrays q and v."""
    q, v = state_arrays(system, state)
    p, inputs = parameter_values(system, parameters)
    now = matrix_kernel(system, inputs)(numbers(t, "t"), q, v, p)
    require_finite_matrices(system, now)
    return now, q, v


def require_finite_matrices(system: System, now: AnyMatrices) -> None:
    """Refuse NaN and infinity by the name of the constraint or coordinate that they come from."""
    A, M = (now.A.data, now.M.data) if isinstance(now, SparseMatrices) else (now.A, now.M)
    if all(np.isfinite(part).all() for part in (A, now.b, M, now.Q, now.C)):
        return
    n = names_of(system)
    for what, finite, names in (
        ("row of A", finite_rows(now.A), n.rows),
        ("entry of b", np.isfinite(now.b), n.rows),
        ("row of M", finite_rows(now.M), n.coordinates),
        ("entry of Q", np.isfinite(now.Q), n.coordinates),
        ("nonideal force", np.isfinite(now.C), n.coordinates),
    ):
        bad = np.argwhere(~finite)
        if len(bad):
            raise InputError(
                f"the {what} of {names[bad[0][-1]]} is not finite at this state: a division by zero, or a root "
                f"or logarithm of a negative number; check the state and the expression"
            )


def finite_rows(X: Any) -> NDArray[np.bool_]:
    """(…, m) which rows of a matrix, dense or sparse, are finite."""
    if not is_sparse(X):
        return np.asarray(np.isfinite(X).all(axis=-1))
    found = np.ones(X.shape[0], dtype=bool)
    found[np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[~np.isfinite(X.data)]] = False
    return found


def touching(system: System, now: Matrices, q: Array, v: Array) -> NDArray[np.bool_]:
    """(…, m) which one-sided constraints are at their limit, so that their accelerations count.

    A state beyond a limit, or at a position limit and moving into it, has no acceleration: that is an impact.
    """
    at_limit, beyond = limits(system, now, q, v)
    for i, c in enumerate(system.constraints):
        if beyond[..., i].any():
            worst = tuple(np.argwhere(beyond[..., i])[0])
            reading = "" if c.order else f"reads {now.residual[(*worst, i)]:.6g} and "
            raise InputError(
                f"the state violates the one-sided constraint {c.name!r}: it {reading}"
                f"{'reads' if c.order else 'changes at'} {now.residual_rate[(*worst, i)]:.6g}, where "
                f"{c.expression} >= 0 is asked for; move the state back, or resolve the impact first"
            )
    return at_limit


def limits(system: System, now: AnyMatrices, q: Array, v: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(…, m) which one-sided constraints are at their limit, and which are beyond it or moving beyond."""
    one_sided = np.array([c.one_sided for c in system.constraints], dtype=bool)
    if not one_sided.any():
        nothing = np.zeros(now.b.shape, dtype=bool)
        return nothing, nothing.copy()
    scale_q, scale_v = contact_scale(now, q, now.size), contact_scale(now, v, now.rate_size)
    order = np.array([c.order for c in system.constraints])
    at_position = np.where(order == 0, np.abs(np.nan_to_num(now.residual)) <= scale_q, True)
    at_velocity = np.where(order < 2, np.abs(np.nan_to_num(now.residual_rate)) <= scale_v, True)
    closing = one_sided & (order < 2) & at_position & (now.residual_rate < -scale_v)
    return np.asarray(one_sided & at_position & at_velocity), np.asarray(penetrated(system, now, q) | closing)


def penetrated(system: System, now: AnyMatrices, q: Array) -> NDArray[np.bool_]:
    """(…, m) which one-sided constraints are beyond their limit, whatever the velocities."""
    gaps = np.array([c.one_sided and c.order == 0 for c in system.constraints], dtype=bool)
    if not gaps.any():
        return np.zeros(now.b.shape, dtype=bool)
    return np.asarray(gaps & (now.residual < -contact_scale(now, q, now.size)))


def contact_scale(now: AnyMatrices, x: Array, size: Array) -> Array:
    """(…, m) how near its limit a one-sided constraint touches it: in no units of the user's.

    Beside the terms that make it up counts the rounding of the largest coordinate or rate, in units of equal mass.
    """
    mass = np.sqrt(np.abs(diagonal_of(now.M)))
    mass = np.where(mass > 0, mass, 1.0)
    slope = abs(now.A)
    terms = np.nan_to_num(size) + (
        slope @ np.abs(x) if is_sparse(slope) else np.einsum("...ij,...j->...i", slope, np.abs(x))
    )
    largest = (mass * np.abs(x)).max(axis=-1, initial=0.0)[..., None]
    light = slope @ (1 / mass) if is_sparse(slope) else (slope / mass[..., None, :]).sum(axis=-1)
    return np.asarray(CONTACT_TOL * terms + CONTACT_ROUNDING * light * largest)


def violations(system: System, now: AnyMatrices, q: Array, v: Array) -> list[int]:
    """The constraints that a state does not satisfy at position or velocity level."""
    return [int(i) for i in np.flatnonzero(~satisfied(system, now, q, v))]


def satisfied(system: System, now: AnyMatrices, q: Array, v: Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """(…, m) whether states satisfy each constraint; limits of one-sided ones are judged elsewhere."""
    slope = abs(now.A)
    most_q, most_v = (np.abs(x).max(axis=-1, initial=0.0)[..., None] for x in (q, v))
    rounding = ROUNDED_ROWS * slope.sum(axis=-1)
    allowed_q = SATISFIED_TOL * np.fmax(now.size, 0.0) + rounding * most_q
    allowed_v = SATISFIED_TOL * np.fmax(now.rate_size, 0.0) + rounding * np.maximum(most_q, most_v)
    # Where there is no such level all is NaN, and NaN is off by nothing; what is infinite is off whatever is allowed.
    off = (np.abs(now.residual) > np.minimum(allowed_q, LAST_NUMBER)) | (
        np.abs(now.residual_rate) > np.minimum(allowed_v, LAST_NUMBER)
    )
    one_sided = np.array([c.one_sided for c in system.constraints], dtype=bool)
    return np.asarray(~off | one_sided)
