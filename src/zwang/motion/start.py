"""Starts: evaluated, checked against their constraints and ranked once, then handed on to whatever begins there.

A start is refused by name if it violates constraints or determines no acceleration. Its rank is decided where it
satisfies its constraints to the last digit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from zwang.arrays import EPS, Array
from zwang.errors import InputError
from zwang.evaluation import in_words, names_of, require_finite_matrices, uncertainty, violations
from zwang.formulations import large
from zwang.formulations.forms import FORMS
from zwang.formulations.inputs import require_symmetric
from zwang.formulations.solve import require_consistent
from zwang.linalg.factors import Stack
from zwang.linalg.newton import Equations, nearest_root
from zwang.linalg.rank import row_rank
from zwang.linalg.ranked import Ranked, ranked
from zwang.linalg.sparse.matrix import diagonal_of, is_sparse, largest_in_rows
from zwang.linalg.sparse.ranked import SparseRanked, sparse_ranked
from zwang.lowering.cache import Kept
from zwang.lowering.contact import across_rows, masked, slip_rows
from zwang.lowering.large import choose_large, in_full, probes_of
from zwang.lowering.lowered import AnyMatrices, SparseMatrices
from zwang.lowering.matrices import MatrixKernel, matrix_kernel
from zwang.lowering.rows import CLOSE, RowBasis, choose
from zwang.model import System
from zwang.model.values import GivenValues, given_values, state_arrays
from zwang.motion.setup import Setup
from zwang.verdict import Verdict, verdict_on

State = tuple[float, Array, Array]

AnyRanked = Ranked | SparseRanked

_BASES: Kept[RowBasis] = Kept()

LEAST_SIZE = 1e-140  # of the largest entry of a row: its square, damped, is still a number of all digits
SHARED = 1e-7  # of a combination of rows that vanishes: a row whose share is larger has no multiplier of its own


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
    def matrices(self) -> AnyMatrices:
        """The system's matrices here; NaN and infinity are refused by name."""
        now = self.kernel.one(*self.state, self.p)
        require_finite_matrices(self.system, now)
        return now

    @cached_property
    def violated(self) -> tuple[int, ...]:
        """The constraints that are not satisfied here."""
        return tuple(violations(self.system, self.matrices, *self.state[1:]))

    @cached_property
    def ranked(self) -> AnyRanked:
        """The rank of all rows, with factors; an M that determines no acceleration is refused by name."""
        require_symmetric(self.matrices.M)
        return rank_of(self.matrices, self.system.coordinate_names)

    @cached_property
    def polished(self) -> tuple[AnyMatrices, AnyRanked]:
        """The same at the state nearest by that satisfies the constraints to the last digit: often it is this one."""
        t, *here = self.state
        there = to_the_last_digit(self.system, self.kernel, self.p, self.state, self.matrices)
        if np.array_equal(here, there):
            return self.matrices, self.ranked
        now = self.kernel.one(t, *there, self.p)
        require_finite_matrices(self.system, now)
        return now, rank_of(now, self.system.coordinate_names, self.ranked)

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
        listed = in_words(system, now.residual, now.residual_rate, start.violated)
        raise InputError(
            f"the start does not satisfy its constraints: {listed}; call zwang.assemble(system, start) for the nearest "
            f"one that does"
        )


def require_solvable(start: Start) -> None:
    """Refuse a start that determines no acceleration, saying by name what is wrong with M, A or b."""
    require_squares(start)
    now, found = start.matrices, start.ranked
    if isinstance(found, SparseRanked):
        slack = uncertainty(now, *start.state[1:])
        large.require_consistent(found, now.Q + now.C, now.b, names_of(start.system), slack)
    elif found.rank < len(now.b):  # what depends on other rows may contradict them
        A, b, force = now.A[None], now.b[None], (now.Q + now.C)[None]
        x, _ = found.factors.solve(force, b)
        slack = uncertainty(now, *start.state[1:])
        require_consistent(found.factors, force, A, b, x, names_of(start.system), Stack(np.arange(1), ()), slack)


def require_squares(start: Start) -> None:
    """Refuse a row whose squared length is out of a computer's range, by name."""
    A = start.matrices.A
    sizes = largest_in_rows(A) if is_sparse(A) else np.abs(A).max(axis=1, initial=0.0)
    bad = np.flatnonzero((sizes > 0) & ~((sizes > LEAST_SIZE) & (sizes < 1 / LEAST_SIZE)))
    if len(bad):
        raise InputError(
            f"the row of constraint {start.system.constraint_names[bad[0]]!r} is of size {sizes[bad[0]]:.2g}, and its "
            f"square is out of a computer's range: multiply the constraint by a number that brings it near 1"
        )


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
    require_solvable(start)
    now, found = start.polished
    require_unique(setup, now, found)
    return refined(chosen(setup, start.state[0], now, found), found)


def require_unique(setup: Setup, now: AnyMatrices, found: AnyRanked) -> None:
    """Refuse nonideal forces that depend on multipliers which are not unique: rows that others make up for."""
    sided = setup.contact.rows if setup.contact else ()  # whether these push, and how, is found out on the way
    which = [i for i in (*setup.system.reactions, *(setup.contact.guides if setup.contact else ())) if i not in sided]
    if not which or found.rank == len(setup.system.constraint_names):
        return
    rows = [i for i in range(len(setup.system.constraint_names)) if i not in sided]
    units = np.sqrt(np.abs(diagonal_of(now.M)))
    A = in_full(now).A[rows] / np.where(units > 0, units, 1.0)
    lengths = np.linalg.norm(A, axis=1)
    unit = A / np.where(lengths > 0, lengths, 1.0)[:, None]
    rank = int(row_rank(unit[None])[0]) if sided else found.rank
    U = np.linalg.svd(unit)[0]
    loose = np.abs(U[[rows.index(i) for i in which], rank:]).max(axis=1, initial=0.0)
    if (loose > SHARED).any():
        name = setup.system.constraint_names[which[int(loose.argmax())]]
        raise InputError(
            f"friction depends on multiplier({name!r}), but constraints are redundant, and this one's multiplier is "
            f"not unique: drop the redundant constraints"
        )


def refined(basis: RowBasis, found: AnyRanked) -> RowBasis:
    """The same rows, refined if they are nearly dependent where a motion begins.

    Where they become so on the way, a singular position is ahead, and a way past it is looked for.
    """
    share = len(basis.rows) if isinstance(found, SparseRanked) else 1  # in a chain of many it is one over their number
    close = not basis.damping and not basis.pivots and share * found.closest < CLOSE
    return replace(basis, close=True) if close else basis


def basis_at(setup: Setup, state: State, damped: bool = True) -> RowBasis:
    """The independent rows, and what else is to be chosen, at a state on the way."""
    now = polished(setup, state)
    if setup.contact is not None:
        rows, full = setup.contact.rows, in_full(now)
        basis = choose(full, setup.system.coordinate_names, setup.form, damped, setup.lowered, open=rows)
        if not setup.contact.closed:
            return basis
        slips = slip_rows(setup.lowered)
        across = across_rows(setup.lowered)
        return masked(basis, full, rows, slips, setup.slips(state)["A"] if slips else None, across)
    return chosen(setup, state[0], now, rank_of(now, setup.system.coordinate_names), damped)


def chosen(setup: Setup, t: float, now: AnyMatrices, found: AnyRanked, damped: bool = True) -> RowBasis:
    """What to build on, where the rank is known."""
    names = setup.system.coordinate_names
    if isinstance(now, SparseMatrices) and isinstance(found, SparseRanked) and not FORMS[setup.form].eliminates:
        probes = probes_of(matrix_kernel(setup.system, setup.inputs), t, setup.p)
        return choose_large(now, found, setup.lowered, probes, damped)
    known = found if isinstance(found, Ranked) else None
    return choose(in_full(now), names, setup.form, damped, setup.lowered, known)


def rank_of(now: AnyMatrices, names: tuple[str, ...], known: AnyRanked | None = None) -> AnyRanked:
    """The rank of a system's rows; `known` is that of the same system a little beside."""
    if isinstance(now, SparseMatrices):
        return sparse_ranked(now.M, now.A, names, known if isinstance(known, SparseRanked) else None)
    return ranked(now.M, now.A, names, known if isinstance(known, Ranked) else None)


def polished(setup: Setup, state: State) -> AnyMatrices:
    """The matrices at the state nearest by that satisfies the constraints to the last digit.

    Rows that depend on each other only while the constraints hold look independent a little off them; so the
    rank is decided here, and not at the state itself. The state is not changed.
    """
    kernel = matrix_kernel(setup.system, setup.inputs)
    now = kernel.one(*state, setup.p)
    require_finite_matrices(setup.system, now)
    there = to_the_last_digit(setup.system, kernel, setup.p, state, now)
    if np.array_equal(state[1:], there):
        return now
    now = kernel.one(state[0], *there, setup.p)
    require_finite_matrices(setup.system, now)
    return now


def to_the_last_digit(
    system: System, kernel: MatrixKernel, p: Array, state: State, now: AnyMatrices
) -> tuple[Array, Array]:
    """Positions and velocities near a state that satisfy the constraints to the last digit, as far as there are any.

    `now` are the matrices at the state itself: often it does already.
    """
    t, q, v = state
    equal = np.array([not c.one_sided for c in system.constraints], dtype=bool)
    readings = ((now.residual, now.size), (now.residual_rate, now.rate_size))
    if not any((np.abs(reading) > EPS * size)[equal].any() for reading, size in readings):  # NaN: nothing is asked
        return q, v

    def root(equations: Equations, x: Array) -> Array:
        near, found = nearest_root(equations, x, 1e-15, 5)
        return near if found else x

    return onto_constraints(system, lambda q, v: kernel.one(t, q, v, p), q, v, root)


def onto_constraints(
    system: System,
    matrices: Callable[[Array, Array], AnyMatrices],
    q: Array,
    v: Array,
    root: Callable[[Equations, Array], Array],
    closed: Sequence[int] = (),
) -> tuple[Array, Array]:
    """Positions on the constraints, then velocities: root(equations, x) says what is near enough to x.

    One-sided constraints are limits, not places to be at, unless they are closed.
    """
    limits = [c.one_sided and i not in closed for i, c in enumerate(system.constraints)]
    order = np.array([2 if free else c.order for c, free in zip(system.constraints, limits, strict=True)], dtype=int)
    holonomic, first = np.flatnonzero(order == 0), np.flatnonzero(order <= 1)

    def positions(x: Array) -> tuple[Array, Any]:
        now = matrices(x, v)
        return now.residual[holonomic], now.A[holonomic]

    near = root(positions, q)

    def velocities(x: Array) -> tuple[Array, Any]:
        now = matrices(near, x)
        return now.residual_rate[first], now.A[first]

    return near, root(velocities, v)
