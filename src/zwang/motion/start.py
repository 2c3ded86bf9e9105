"""Starts: refused by name if inconsistent, polished to the last digit where rank is decided."""

from typing import TYPE_CHECKING

import numpy as np

from zwang.errors import InputError
from zwang.evaluation import Array, Matrices, model_kernel, names_of
from zwang.formulations.solve import solve_named
from zwang.linalg.newton import nearest_root
from zwang.model import System
from zwang.verdict import violations

if TYPE_CHECKING:
    from zwang.motion.simulate import Setup


def require_consistent_start(system: System, now: Matrices, q: Array, v: Array) -> None:
    """Refuse a start that violates constraints, or at which no acceleration is determined."""
    if q.ndim != 1:
        raise InputError("simulate takes one start: give numbers, not arrays (simulate_many takes arrays)")
    bad = violations(system, now, q, v)
    if bad:
        listed = "; ".join(
            f"{system.constraint_names[i]!r} reads {np.nan_to_num(now.position[i]):.6g} in position and "
            f"{np.nan_to_num(now.velocity[i]):.6g} in velocity"
            for i in bad
        )
        raise InputError(
            f"the start does not satisfy its constraints: {listed}; call zwang.assemble(system, start) for the nearest "
            f"one that does"
        )
    # Raises by name what is wrong with M, A and b themselves.
    solve_named(
        now.M, now.Q, now.A, now.b, C=now.C, form="fundamental", rank_tol=None, one_sided=None, v=None,
        names=names_of(system),
    )  # fmt: skip


def polished(setup: "Setup", state: tuple[float, Array, Array]) -> Matrices:
    """The matrices at the state nearest by that satisfies the constraints to the last digit.

    Rows that depend on each other only while the constraints hold look independent a little off them; so the
    rank is decided here, and not at the state itself. The state is not changed.
    """
    t, q, v = state
    kernel = model_kernel(setup.system, setup.inputs)
    order = np.array([c.order for c in setup.system.constraints], dtype=int)
    holonomic, first = np.flatnonzero(order == 0), np.flatnonzero(order <= 1)

    def positions(x: Array) -> tuple[Array, Array]:
        now = kernel(t, x, v, setup.p)
        return now.position[holonomic], now.A[holonomic]

    near_q, found_q = nearest_root(positions, q, 1e-15, 5)
    near_q = near_q if found_q else q

    def velocities(x: Array) -> tuple[Array, Array]:
        now = kernel(t, near_q, x, setup.p)
        return now.velocity[first], now.A[first]

    near_v, found_v = nearest_root(velocities, v, 1e-15, 5)
    return setup.matrices(t, near_q, near_v if found_v else v)
