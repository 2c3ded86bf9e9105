"""Consistent starts: the nearest state that obeys every constraint at position and velocity level."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from zwang.errors import AssemblyError, InputError
from zwang.evaluation import Array, Matrices, ModelKernel, limits, model_kernel
from zwang.given import by_name, numbers, parameter_values, state_arrays, suggestion
from zwang.linalg.masses import regular
from zwang.linalg.newton import nearest_point
from zwang.linalg.rank import row_norms
from zwang.model import System
from zwang.model.system import require_system
from zwang.verdict import violations

# Directions with neither inertia nor constraints have no kinetic-energy metric; this share of the mean mass stands in.
MASSLESS = 1e-8


def assemble(
    system: System,
    guess: Mapping[Any, float],
    *,
    hold: Sequence[Any] = (),
    parameters: Mapping[Any, Any] | None = None,
    t: float = 0.0,
) -> dict[sp.Expr, float]:
    """The state nearest to a guess, in the kinetic-energy metric, that obeys every constraint.

    Positions first, then velocities. Rates that the guess leaves out are taken as zero. `hold` lists
    coordinates and rates that must keep their value. Redundant constraints are fine; one-sided constraints are not
    moved to, and a state beyond one is refused.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> m = zw.parameters("m")
    >>> pendulum = zw.System((x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2,
    ...                      constraints={"rod": x**2 + y**2 - 25}, parameters={m: 1})
    >>> start = zw.assemble(pendulum, {x: 6, y: -8, zw.dot(x): 1, zw.dot(y): 0})
    >>> {str(key): round(value, 12) for key, value in start.items()}
    {'x(t)': 3.0, 'y(t)': -4.0, 'Derivative(x(t), t)': 0.64, 'Derivative(y(t), t)': 0.48}
    """
    require_system(system, "assemble")
    if not isinstance(guess, Mapping):
        raise InputError(f"a guess maps coordinates and rates to numbers; got {type(guess).__name__}")
    given = {by_name(system, key): value for key, value in guess.items()}
    q, v = state_arrays(system, dict.fromkeys(system.velocities, 0.0) | given)
    if q.ndim != 1:
        raise InputError("assemble takes one guess: give numbers, not arrays")
    held = held_flags(system, hold)
    p, inputs = parameter_values(system, parameters)
    if p.ndim != 1:
        raise InputError("assemble takes one value a parameter: give numbers, not arrays")
    kernel = model_kernel(system, inputs)
    order = np.array([c.order for c in system.constraints], dtype=int)
    sided = np.array([c.one_sided for c in system.constraints], dtype=bool)
    n, t = len(q), float(numbers(t, "t"))
    q, found_q = nearest(kernel, "position", (order == 0) & ~sided, q, v, t, p, ~held[:n])
    v, found_v = nearest(kernel, "velocity", (order <= 1) & ~sided, q, v, t, p, ~held[n:])
    now = kernel(t, q, v, p)
    require_satisfied(system, now, q, v, found_q and found_v)
    if (beyond := np.flatnonzero(limits(system, now, q, v)[1])).size:
        name = system.constraint_names[int(beyond[0])]
        raise AssemblyError(
            f"the state nearest to the guess is beyond the one-sided constraint {name!r}: move the guess"
        )
    values = map(float, np.concatenate([q, v]))
    return dict(zip([*system.coordinates, *system.velocities], values, strict=True))


def nearest(
    kernel: ModelKernel, level: str, rows: Any, q: Array, v: Array, t: float, p: Array, free: Any
) -> tuple[Array, bool]:
    """Positions (or velocities) that satisfy the given rows, nearest to those given, moving free entries only."""
    start = q if level == "position" else v

    def whole(x: Array) -> Array:
        full = start.copy()
        full[free] = x
        return full

    def matrices(x: Array) -> Matrices:
        full = whole(x)
        return kernel(t, full, v, p) if level == "position" else kernel(t, q, full, p)

    def equations(x: Array) -> tuple[Array, Array]:
        now = matrices(x)
        reading = now.position if level == "position" else now.velocity
        return reading[rows], now.A[np.ix_(rows, free)]

    def metric(x: Array) -> Array:
        now = matrices(x)
        M = now.M[np.ix_(free, free)]
        if regular(M[None])[0]:
            return M
        # inertia across the constraints decides nothing: M(x − target) = Aᵀλ has the same solutions with M + AᵀSA
        A = now.A[np.ix_(rows, free)]
        A = A / row_norms(A)[:, None]
        mean = max(float(np.trace(M)) / len(M), np.finfo(float).tiny)
        M = M + mean * (A.T @ A)
        return M if regular(M[None])[0] else np.asarray(M + MASSLESS * mean * np.eye(len(M)))

    if not rows.any() or not free.any():
        return start, True
    x, found = nearest_point(equations, metric, start[free], 1e-14)
    return whole(x), found


def require_satisfied(system: System, now: Matrices, q: Array, v: Array, found: bool) -> None:
    """Refuse a state that still violates constraints, naming them."""
    bad = violations(system, now, q, v)
    if found and not bad:
        return
    listed = "; ".join(
        f"{system.constraint_names[i]!r} reads {np.nan_to_num(now.position[i]):.3g} in position, "
        f"{np.nan_to_num(now.velocity[i]):.3g} in velocity"
        for i in bad
    )
    raise AssemblyError(
        f"no state near the guess obeys every constraint: {listed or 'the search did not settle'}; give a better "
        f"guess, hold fewer coordinates, or check that these constraints can be met together"
    )


def held_flags(system: System, hold: Sequence[Any]) -> Any:
    """Which of the coordinates and rates are held."""
    known = [*system.coordinates, *system.velocities]
    flags = np.zeros(len(known), dtype=bool)
    for key in hold if isinstance(hold, Sequence) and not isinstance(hold, str) else [hold]:
        symbol = by_name(system, key)
        if symbol not in known:
            raise InputError(f"hold names {key}, which is no coordinate or rate of this system{suggestion(key, known)}")
        flags[known.index(symbol)] = True
    return flags
