"""Starts: refused by name if inconsistent, polished to the last digit where rank is decided."""

from collections.abc import Callable

import numpy as np

from zwang.arrays import Array
from zwang.engines.native.engine import compiled
from zwang.errors import InputError
from zwang.evaluation import names_of
from zwang.formulations.forms import FORMS
from zwang.formulations.solve import solve_named
from zwang.linalg.newton import nearest_root
from zwang.lowering.lowered import Matrices, matrix_kernel
from zwang.lowering.rows import RowBasis, choose
from zwang.model import System
from zwang.motion.setup import Setup
from zwang.verdict import violations

Equations = Callable[[Array], tuple[Array, Array]]

LARGE = 10_000  # entries of A from which on its rank is first looked for in the sparse factorisation
CLEAR = 1e-6  # pivots above this share of what they start from leave no doubt that rows are independent


def require_start(setup: Setup, t: float, q: Array, v: Array) -> None:
    """Refuse a start that violates constraints, or at which no acceleration is determined."""
    if q.ndim != 1:
        raise InputError("simulate takes one start: give numbers, not arrays (simulate_many takes arrays)")
    now = setup.matrices(t, q, v)
    require_satisfied(setup.system, now, q, v)
    if not clearly_independent(setup, (t, q, v)):
        require_solvable(setup.system, now)


def require_satisfied(system: System, now: Matrices, q: Array, v: Array) -> None:
    """Refuse a state that violates constraints, by name and number."""
    bad = violations(system, now, q, v)
    if bad:
        listed = "; ".join(
            f"{system.constraint_names[i]!r} reads {np.nan_to_num(now.residual[i]):.6g} in position and "
            f"{np.nan_to_num(now.residual_rate[i]):.6g} in velocity"
            for i in bad
        )
        raise InputError(
            f"the start does not satisfy its constraints: {listed}; call zwang.assemble(system, start) for the nearest "
            f"one that does"
        )


def require_solvable(system: System, now: Matrices) -> None:
    """Refuse matrices that determine no acceleration, saying by name what is wrong with M, A or b."""
    solve_named(
        now.M, now.Q, now.A, now.b, C=now.C, form="fundamental", rank_tol=None, one_sided=None, v=None,
        names=names_of(system),
    )  # fmt: skip


def basis_at(setup: Setup, state: tuple[float, Array, Array], damped: bool = True) -> RowBasis:
    """The independent rows, and what else is to be chosen, at a state."""
    if clearly_independent(setup, state):
        return every_row(setup)
    return choose(polished(setup, state), setup.system.coordinate_names, setup.form, damped, setup.lowered)


def clearly_independent(setup: Setup, state: tuple[float, Array, Array]) -> bool:
    """Whether the pivots of the sparse factorisation show that all rows are independent and M is positive definite.

    For large systems only, where dense matrices would take longer than everything else; a no means nothing.
    """
    system = setup.system
    if len(system.coordinates) * len(system.constraints) < LARGE or FORMS[setup.form].eliminates:
        return False
    now = setup.matrices(*state)
    masses = np.diagonal(now.M)
    if (masses <= 0).any():
        return False
    program = setup.program("acceleration", every_row(setup))
    pivots = compiled(program)(**setup.named(program, state))["pivots"]
    m = len(system.constraints)
    unconstrained = np.einsum("ij,ij,j->i", now.A, now.A, 1 / masses)
    return bool((pivots[:m] > CLEAR * unconstrained).all() and (pivots[m:] > CLEAR * masses.min()).all())


def every_row(setup: Setup) -> RowBasis:
    """All rows as independent ones."""
    return RowBasis(tuple(range(len(setup.system.constraints))))


def polished(setup: Setup, state: tuple[float, Array, Array]) -> Matrices:
    """The matrices at the state nearest by that satisfies the constraints to the last digit.

    Rows that depend on each other only while the constraints hold look independent a little off them; so the
    rank is decided here, and not at the state itself. The state is not changed.
    """
    t, q, v = state
    kernel = matrix_kernel(setup.system, setup.inputs)

    def root(equations: Equations, x: Array) -> Array:
        near, found = nearest_root(equations, x, 1e-15, 5)
        return near if found else x

    return setup.matrices(t, *onto_constraints(setup, lambda q, v: kernel(t, q, v, setup.p), q, v, root))


def onto_constraints(
    setup: Setup,
    matrices: Callable[[Array, Array], Matrices],
    q: Array,
    v: Array,
    root: Callable[[Equations, Array], Array],
) -> tuple[Array, Array]:
    """Positions on the constraints, then velocities: root(equations, x) says what is near enough to x."""
    order = np.array([c.order for c in setup.system.constraints], dtype=int)
    holonomic, first = np.flatnonzero(order == 0), np.flatnonzero(order <= 1)

    def positions(x: Array) -> tuple[Array, Array]:
        now = matrices(x, v)
        return now.residual[holonomic], now.A[holonomic]

    near = root(positions, q)

    def velocities(x: Array) -> tuple[Array, Array]:
        now = matrices(near, x)
        return now.residual_rate[first], now.A[first]

    return near, root(velocities, v)
