"""Starts: evaluated, checked against their constraints and ranked once, then handed on to whatever begins there.

A start is refused by name if it violates constraints or determines no acceleration. Its rank is decided where it
satisfies its constraints to the last digit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from zwang.arrays import EPS, Array
from zwang.engines.native.engine import compiled
from zwang.errors import InputError
from zwang.evaluation import names_of, require_finite_matrices
from zwang.formulations.forms import FORMS
from zwang.formulations.inputs import require_symmetric
from zwang.formulations.solve import require_consistent
from zwang.linalg.factors import Stack
from zwang.linalg.newton import nearest_root
from zwang.linalg.ranked import Ranked, ranked
from zwang.lowering.cache import Kept
from zwang.lowering.lifting import regular_by_blocks
from zwang.lowering.lowered import Matrices
from zwang.lowering.matrices import MatrixKernel, matrix_kernel
from zwang.lowering.rows import RowBasis, choose
from zwang.model import System
from zwang.model.values import GivenValues, given_values, state_arrays
from zwang.motion.setup import Setup
from zwang.verdict import Verdict, verdict_on, violations

Equations = Callable[[Array], tuple[Array, Array]]

SPARSE_FIRST = 10_000  # entries of A from which on its rank is first looked for in the sparse factorisation
SURELY = 1e-6  # pivots above this share of what they start from leave no doubt that rows are independent

State = tuple[float, Array, Array]

_BASES: Kept[RowBasis] = Kept()


@dataclass(frozen=True, eq=False)
class Start:
    """Where a motion begins, in numbers. What is found out about it is found out once, when it is first asked for."""

    system: System
    state: State
    values: GivenValues

    @property
    def p(self) -> Array:
        """(k,) the values of the parameters."""
        return self.values.p

    @property
    def kernel(self) -> MatrixKernel:
        """The native code of the system's matrices."""
        return matrix_kernel(self.system, self.values.inputs)

    @cached_property
    def matrices(self) -> Matrices:
        """The system's matrices here; NaN and infinity are refused by name."""
        now = self.kernel(*self.state, self.p)
        require_finite_matrices(self.system, now)
        return now

    @cached_property
    def violated(self) -> tuple[int, ...]:
        """The constraints that are not satisfied here."""
        return tuple(violations(self.system, self.matrices, *self.state[1:]))

    @cached_property
    def ranked(self) -> Ranked:
        """The rank of all rows, with factors; an M that determines no acceleration is refused by name."""
        require_symmetric(self.matrices.M)
        return ranked(self.matrices.M, self.matrices.A, self.system.coordinate_names)

    @cached_property
    def polished(self) -> tuple[Matrices, Ranked]:
        """The same at the state nearest by that satisfies the constraints to the last digit: often it is this one."""
        t, *here = self.state
        there = to_the_last_digit(self.system, self.kernel, self.p, self.state, self.matrices)
        if np.array_equal(here, there):
            return self.matrices, self.ranked
        now = self.kernel(t, *there, self.p)
        require_finite_matrices(self.system, now)
        return now, ranked(now.M, now.A, self.system.coordinate_names, self.ranked)

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the constraints here, as `diagnose` gives it."""
        sided = any(c.one_sided for c in self.system.constraints)  # then it may be about some rows only
        found = None if sided else self.ranked
        return verdict_on(self.system, self.state, self.p, self.kernel, self.matrices, self.violated, found)


def start_of(
    system: System, state: Mapping[Any, float], t: float = 0.0, parameters: Mapping[Any, Any] | None = None
) -> Start:
    """A start from what a user gives: the state by coordinates and rates or by their names, and parameters."""
    values = given_values(system, parameters)
    q, v = state_arrays(system, state)
    if q.ndim != 1:
        raise InputError("simulate takes one start: give numbers, not arrays (simulate_many takes arrays)")
    return Start(system, (t, q, v), values)


def require_satisfied(start: Start) -> None:
    """Refuse a start that violates constraints, by name and number."""
    system, now = start.system, start.matrices
    if start.violated:
        listed = "; ".join(
            f"{system.constraint_names[i]!r} reads {np.nan_to_num(now.residual[i]):.6g} in position and "
            f"{np.nan_to_num(now.residual_rate[i]):.6g} in velocity"
            for i in start.violated
        )
        raise InputError(
            f"the start does not satisfy its constraints: {listed}; call zwang.assemble(system, start) for the nearest "
            f"one that does"
        )


def require_solvable(start: Start) -> None:
    """Refuse a start that determines no acceleration, saying by name what is wrong with M, A or b."""
    now, factors = start.matrices, start.ranked.factors
    A, b, force = now.A[None], now.b[None], (now.Q + now.C)[None]
    if factors.rank < len(now.A):  # what depends on other rows may contradict them
        x, _ = factors.solve(force, b)
        require_consistent(factors, force, A, b, x, names_of(start.system), Stack(np.arange(1), ()))


def first_basis(setup: Setup, start: Start) -> RowBasis:
    """The rows that a motion begins on; a start that cannot move is refused by name.

    What was chosen at a start is kept: the next motion from there begins at once. Not so with signals: of these the
    parameters hold addresses only, not what they read.
    """
    if setup.signals:
        return checked_basis(setup, start)
    t, q, v = start.state
    state = sha256(b"".join(part.tobytes() for part in (q, v, start.p))).digest()
    key = (setup.system.structure, tuple(setup.inputs.items()), setup.form, t, state)
    return _BASES.get(key, lambda: checked_basis(setup, start))


def checked_basis(setup: Setup, start: Start) -> RowBasis:
    """The rows to begin on at a start that is checked first."""
    require_satisfied(start)
    if clearly_independent(setup, start.state, start.matrices):
        return every_row(setup)
    require_solvable(start)
    now, found = start.polished
    return choose(now, setup.system.coordinate_names, setup.form, lowered=setup.lowered, found=found)


def basis_at(setup: Setup, state: State, damped: bool = True) -> RowBasis:
    """The independent rows, and what else is to be chosen, at a state on the way."""
    if large(setup) and clearly_independent(setup, state, setup.matrices(*state)):
        return every_row(setup)
    return choose(polished(setup, state), setup.system.coordinate_names, setup.form, damped, setup.lowered)


def large(setup: Setup) -> bool:
    """Whether dense matrices would take longer than everything else."""
    size = len(setup.system.coordinates) * len(setup.system.constraints)
    return size >= SPARSE_FIRST and not FORMS[setup.form].eliminates


def clearly_independent(setup: Setup, state: State, now: Matrices) -> bool:
    """Whether the pivots of the sparse factorisation show that all rows are independent and M is positive definite.

    For large systems only; a no means nothing.
    """
    if not large(setup) or not regular_by_blocks(now.M):  # a program without lifted rows would divide by zero
        return False
    masses = np.diagonal(now.M)
    program = setup.program("acceleration", every_row(setup))
    pivots = compiled(program)(**setup.named(program, state))["pivots"]
    m = len(setup.system.constraints)
    unconstrained = np.einsum("ij,ij,j->i", now.A, now.A, 1 / masses)
    return bool((pivots[:m] > SURELY * unconstrained).all() and (pivots[m:] > SURELY * masses.min()).all())


def every_row(setup: Setup) -> RowBasis:
    """All rows as independent ones."""
    return RowBasis(tuple(range(len(setup.system.constraints))))


def polished(setup: Setup, state: State) -> Matrices:
    """The matrices at the state nearest by that satisfies the constraints to the last digit.

    Rows that depend on each other only while the constraints hold look independent a little off them; so the
    rank is decided here, and not at the state itself. The state is not changed.
    """
    kernel, now = matrix_kernel(setup.system, setup.inputs), setup.matrices(*state)
    there = to_the_last_digit(setup.system, kernel, setup.p, state, now)
    return now if np.array_equal(state[1:], there) else setup.matrices(state[0], *there)


def to_the_last_digit(
    system: System, kernel: MatrixKernel, p: Array, state: State, now: Matrices
) -> tuple[Array, Array]:
    """Positions and velocities near a state that satisfy the constraints to the last digit, as far as there are any.

    `now` are the matrices at the state itself: often it does already.
    """
    t, q, v = state
    readings = ((now.residual, now.size), (now.residual_rate, now.rate_size))
    if not any((np.abs(reading) > EPS * size).any() for reading, size in readings):  # NaN where nothing is asked
        return q, v

    def root(equations: Equations, x: Array) -> Array:
        near, found = nearest_root(equations, x, 1e-15, 5)
        return near if found else x

    return onto_constraints(system, lambda q, v: kernel(t, q, v, p), q, v, root)


def onto_constraints(
    system: System,
    matrices: Callable[[Array, Array], Matrices],
    q: Array,
    v: Array,
    root: Callable[[Equations, Array], Array],
) -> tuple[Array, Array]:
    """Positions on the constraints, then velocities: root(equations, x) says what is near enough to x."""
    order = np.array([c.order for c in system.constraints], dtype=int)
    holonomic, first = np.flatnonzero(order == 0), np.flatnonzero(order <= 1)

    def positions(x: Array) -> tuple[Array, Array]:
        now = matrices(x, v)
        return now.residual[holonomic], now.A[holonomic]

    near = root(positions, q)

    def velocities(x: Array) -> tuple[Array, Array]:
        now = matrices(near, x)
        return now.residual_rate[first], now.A[first]

    return near, root(velocities, v)
