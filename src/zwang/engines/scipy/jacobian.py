"""The Jacobian of a task for SciPy's stiff solvers: in machine code, exact, and sparse where it is so by structure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import symengine as se

from zwang.arrays import Array, Indices
from zwang.compile import AnyProgram, Kernel, RolledProgram
from zwang.compile.rolled.pattern import dependence
from zwang.compile.rolled.tangent import rolled_tangent
from zwang.compile.tangent import tangent
from zwang.engines.native.engine import compiled
from zwang.engines.task import Pencil, Task, packed
from zwang.errors import InputError

SPARSE = 0.1  # share of entries below which a Jacobian is handled as a sparse one
MOST_DENSE = 8_000  # coordinates and velocities of a Jacobian in full

_JACOBIANS: "WeakKeyDictionary[AnyProgram, AnyProgram]" = WeakKeyDictionary()
_PATTERNS: "WeakKeyDictionary[AnyProgram, Pattern]" = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Pattern:
    """Where ∂q̈/∂(q, q̇) has entries, and colours: columns of one colour have no row in common."""

    rows: Indices
    columns: Indices
    colours: Indices
    """(2n,) of the columns."""


def jacobian_of(task: Task, sparse: bool) -> tuple[Callable[[float, Array], Any] | None, str]:
    """∂(q̇, q̈)/∂(q, q̇) in machine code; None, and why, where an expression cannot be differentiated.

    `sparse` says whether the solver takes a sparse one.
    """
    try:
        if sparse and task.pencil is not None:
            return shifted(task, task.pencil), ""
        kernel = compiled(jacobian_program(task.acceleration))
    except InputError as error:
        return None, f"The Jacobian is by finite differences: {error}."
    pattern = pattern_of(task.acceleration) if sparse else None
    if pattern is not None:
        return in_colours(task, kernel, pattern), ""
    if 2 * len(task.q) > MOST_DENSE:
        raise InputError(
            f"the Jacobian of {len(task.q)} coordinates has no zeros by structure, or the method takes no sparse one, "
            f"and a stiff method would need it in full, with all its factors: use method='native', or 'radau' for "
            f"systems that fall into parts"
        )
    return in_full(task, kernel), ""


def shifted(task: Task, pencil: Pencil) -> Callable[[float, Array], Any]:
    """The Jacobian by the sparse matrices that it is made of."""
    from scipy.sparse import csc_matrix

    from zwang.engines.scipy.second_order import Matrices

    kernel, n = compiled(pencil.program), len(task.q)

    def jacobian(t: float, y: Array) -> Any:
        out = kernel.on_rows(packed(t, y, task.p)[None])[0]
        parts = {}
        for name, place in kernel.outputs.items():
            entries = out[place]
            parts[name] = csc_matrix((entries, pencil.where[name]), shape=(pencil.size, pencil.size))
            if not np.isfinite(entries).all():
                parts[name].data[~np.isfinite(parts[name].data)] = 0.0  # as below
        return Matrices(n, **parts)

    return jacobian


def in_full(task: Task, kernel: Kernel) -> Callable[[float, Array], Array]:
    """The Jacobian, column by column."""
    n, part = len(task.q), kernel.outputs["d_acceleration"]
    directions = np.eye(2 * n)

    def jacobian(t: float, y: Array) -> Array:
        here = np.repeat(packed(t, y, task.p)[None], 2 * n, axis=0)
        J = np.zeros((2 * n, 2 * n))
        J[:n, n:] = np.eye(n)
        J[n:] = kernel.on_rows(np.concatenate([here, directions], axis=1))[:, part].T
        J[~np.isfinite(J)] = 0.0  # it only guides Newton's method; √x at 0 has a slope and no derivative
        return J

    return jacobian


def in_colours(task: Task, kernel: Kernel, pattern: Pattern) -> Callable[[float, Array], Any]:
    """The Jacobian as a sparse matrix: columns of one colour by one derivative."""
    from scipy.sparse import csc_matrix

    n, part = len(task.q), kernel.outputs["d_acceleration"]
    count = int(pattern.colours.max(initial=-1)) + 1
    directions = np.zeros((count, 2 * n))
    directions[pattern.colours, np.arange(2 * n)] = 1.0
    rows = np.concatenate([np.arange(n), n + pattern.rows])
    columns = np.concatenate([n + np.arange(n), pattern.columns])

    def jacobian(t: float, y: Array) -> Any:
        here = np.repeat(packed(t, y, task.p)[None], count, axis=0)
        found = kernel.on_rows(np.concatenate([here, directions], axis=1))[:, part]
        entries = found[pattern.colours[pattern.columns], pattern.rows]
        entries[~np.isfinite(entries)] = 0.0
        return csc_matrix((np.concatenate([np.ones(n), entries]), (rows, columns)), shape=(2 * n, 2 * n))

    return jacobian


def pattern_of(program: AnyProgram) -> Pattern | None:
    """Where the derivatives of an acceleration have entries, if these are few and it is known."""
    if not isinstance(program, RolledProgram):
        return None
    if program not in _PATTERNS:
        n = len(program.inputs["q"])
        found = dependence(program, "acceleration")
        if found is None or found[:, 1 : 1 + 2 * n].nnz > SPARSE * 2 * n * n:
            return None
        entries = found[:, 1 : 1 + 2 * n].tocoo()
        rows, columns = entries.coords
        _PATTERNS[program] = Pattern(rows, columns, coloured(rows, columns, n, 2 * n))
    return _PATTERNS[program]


def coloured(rows: Indices, columns: Indices, height: int, width: int) -> Indices:
    """(width,) colours of the columns of a pattern, such that those of one colour have no row in common.

    >>> coloured(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2]), 2, 3).tolist()
    [0, 1, 0]
    """
    taken: list[set[int]] = [set() for _ in range(height)]
    found = np.zeros(width, dtype=np.intp)
    order = np.argsort(columns, kind="stable")
    ends = np.searchsorted(columns[order], np.arange(width + 1))
    for column in range(width):
        mine = rows[order[ends[column] : ends[column + 1]]].tolist()
        others: set[int] = set().union(*(taken[row] for row in mine))
        colour = next(k for k in range(len(others) + 1) if k not in others)
        for row in mine:
            taken[row].add(colour)
        found[column] = colour
    return found


def jacobian_program(program: AnyProgram) -> AnyProgram:
    """The derivative of the acceleration along one direction in (q, v), which is one more input.

    One direction, run for all of them in a row: compiling then takes no longer for many coordinates.
    """
    if program not in _JACOBIANS:
        variables = (*program.inputs["q"], *program.inputs["v"])
        direction = tuple(se.Symbol(f"direction{i}") for i in range(len(variables)))
        inputs = dict(program.inputs) | {"direction": direction}
        whole: AnyProgram
        if isinstance(program, RolledProgram):
            size = program.input_size
            along = np.full(size, -1, dtype=np.int64)
            along[1 : 1 + len(variables)] = size + np.arange(len(variables))  # t is before, p behind
            whole = rolled_tangent(program, inputs, np.arange(size), [along], ["acceleration"])
        else:
            whole = tangent(program, [dict(zip(variables, direction, strict=True))], ["acceleration"], inputs)
        _JACOBIANS[program] = whole.giving("d_acceleration")
    return _JACOBIANS[program]
