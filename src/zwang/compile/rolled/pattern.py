"""What the outputs of a rolled program may depend on, by its structure: which entries of its derivatives can be there.

Of a linear system, whatever is connected by its matrix depends on all that enters there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang.compile.rolled.program import Factorise, Places, Products, Repeat, RolledProgram, Substitute
from zwang.compile.rolled.tangent import nodes_of, panels_of

MOST_ENTRIES = 20_000_000  # of a pattern: beyond it nothing is gained by knowing it


def dependence(program: RolledProgram, output: str) -> Any:
    """(outputs, inputs) a sparse matrix with entries where an output may depend on an input; None where they are many.

    >>> from symengine import symbols
    >>> from zwang.compile.program import Program
    >>> x, y = symbols("x y")
    >>> square = Repeat(Program({"x": (x,)}, {"y": (x**2,)}), np.array([[0], [1]]), np.array([[2], [3]]))
    >>> both = RolledProgram({"x": (x, y)}, {"y": np.array([2, 3])}, np.zeros(2), (square,))
    >>> dependence(both, "y").toarray().astype(int).tolist()
    [[1, 0], [0, 1]]
    """
    from scipy.sparse import csr_array

    size, inputs = program.size, program.input_size
    known = csr_array((np.ones(inputs), (np.arange(inputs), np.arange(inputs))), shape=(size, inputs))
    for stage in program.stages:
        if isinstance(stage, Repeat | Products):
            taken = incidence(stage.reads, size) @ known
            found = incidence(stage.adds.reshape(len(stage.reads), -1), size).T @ taken
        elif isinstance(stage, Substitute):
            found = solved(stage, known)
            if found is None:
                return None
        else:
            continue
        known = (known + found).tocsr()
        known.data[:] = 1.0
        if known.nnz > MOST_ENTRIES:
            return None
    return known[program.outputs[output]]


def incidence(places: Places, size: int) -> Any:
    """(count, size) which places belong to which member."""
    from scipy.sparse import csr_array

    count, width = places.shape
    shape = (count, size)
    return csr_array((np.ones(places.size), (np.repeat(np.arange(count), width), places.ravel())), shape=shape)


def solved(stage: Substitute, known: Any) -> Any:
    """What a solution depends on, place by place; None where that is too much to be written down."""
    from scipy.sparse import csr_array

    factors, nodes = stage.factors, stage.factors.nodes
    part = parts_of(factors)
    at = np.arange(stage.right, stage.right + nodes)
    in_matrix = known[panels_of(factors)]
    entries = np.flatnonzero(np.diff(in_matrix.indptr))
    _, column = nodes_of(factors, entries)
    count = int(part.max(initial=-1)) + 1

    def gathered(which: Any, rows: Any) -> Any:
        return csr_array((np.ones(len(which)), (which, np.arange(len(which)))), shape=(count, len(which))) @ rows

    of_parts = (gathered(part, known[at]) + gathered(part[column], in_matrix[entries])).tocsr()
    if int((np.diff(of_parts.indptr) * np.bincount(part, minlength=count)).sum()) > MOST_ENTRIES:
        return None
    return csr_array((np.ones(nodes), (at, part)), shape=(known.shape[0], count)) @ of_parts


def parts_of(factors: Factorise) -> Places:
    """(nodes,) the connected part of the matrix that each node belongs to."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first = factors.first[:-1]
    own = np.arange(factors.nodes)
    i = np.concatenate([own, factors.below])
    j = np.concatenate([np.repeat(first, factors.widths), np.repeat(first, np.diff(factors.begins))])
    shape = (factors.nodes, factors.nodes)
    _, label = connected_components(coo_array((np.ones(len(i)), (i, j)), shape=shape), directed=False)
    return np.asarray(label, dtype=np.int64)
