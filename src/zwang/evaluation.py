"""A model's numbers: matrices, accelerations, forces and multipliers at one state or at a stack of states.

The derivation runs in SymEngine and the result in native code; one kernel serves every state, time and
parameter value of a model, and is kept for as long as the process lives.
"""

from collections.abc import Mapping
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
STATE_ROUNDING = 64 * EPS  # of the largest number of a state: its velocities are not known better


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

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> m, g = zw.parameters("m g")
    >>> pendulum = zw.System((x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=m*g*y,
    ...                      constraints={"rod": (x**2 + y**2 - 4)/2}, parameters={m: 1, g: 10})
    >>> now = zw.evaluate(pendulum, {x: 0, y: -2, zw.dot(x): 3, zw.dot(y): 0})
    >>> now.acceleration, now.constraint_force
    (array([0. , 4.5]), array([ 0. , 14.5]))
    """
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
    if plain and (alone := solved_large(system, state, t, parameters)) is not None:
        return alone
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
    return solution


def solved(
    system: System, now: Matrices, q: Array, v: Array, form: str = DEFAULT, one_sided: Any = None, **choice: Any
) -> Solution:
    """The solution of a model's matrices at a state, or a refusal that has its names."""
    asked = {"C": now.C, "form": form, "rank_tol": None, "one_sided": one_sided, "v": v, "names": names_of(system)}
    try:
        return solve_named(now.M, now.Q, now.A, now.b, **asked, **choice)
    except InconsistentError:  # perhaps because velocities that should be zero are rounding
        return solve_named(now.M, now.Q, now.A, now.b, **asked, **choice, slack=uncertainty(now, q, v))


def solved_large(
    system: System, state: Mapping[Any, ArrayLike], t: ArrayLike, parameters: Mapping[Any, Any] | None
) -> Solution | None:
    """The solution at one state of a large system, in sparse matrices; None for a small one, and for a stack."""
    p, inputs = parameter_values(system, parameters)
    if not matrix_kernel(system, inputs).large:
        return None
    q, v = state_arrays(system, state)
    if q.ndim != 1 or p.ndim != 1 or np.ndim(numbers(t, "t")):
        return None
    now = matrix_kernel(system, inputs).sparse(float(numbers(t, "t")), q, v, p)
    require_finite_matrices(system, now)
    return solve_large(now.M, now.A, now.Q, now.b, now.C, v, names_of(system), uncertainty(now, q, v))


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
