"""The pattern of the factors of a large block, as `sparse` reads it; laid out once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Indices
from zwang.compile.rolled.elimination import elimination
from zwang.compile.rolled.program import Factorise
from zwang.compile.rolled.tables import room, tables


@dataclass(frozen=True)
class Entries:
    """Entries of a block, all by its own numbers: masses in a matrix of n × n, rows in one of m × n, row by row."""

    n: int
    m: int
    mass: tuple[Indices, Indices]
    row: tuple[Indices, Indices]
    lifts: NDArray[np.bool_]
    """(m,) rows that are added to the masses."""


def pattern(block: Entries, least: float) -> dict[str, Any]:
    """Sizes, tables of integers and room for numbers, by their names in `record.FACTORS`."""
    n, m = block.n, block.m
    row_first = np.searchsorted(block.row[0], np.arange(m + 1))
    pairs = [
        (i, a, c)
        for i in np.flatnonzero(block.lifts).tolist()
        for a in range(row_first[i], row_first[i + 1])
        for c in range(row_first[i], a + 1)
    ]
    of, left, right = (np.array([pair[k] for pair in pairs], dtype=np.int64) for k in range(3))
    columns = block.row[1]
    nodes = np.concatenate([block.mass[0], columns[left], n + block.row[0]])
    others = np.concatenate([block.mass[1], columns[right], columns])
    found = elimination(n, m, nodes, others, late=False)
    factors = Factorise(found.first, found.begins, found.below, 0, 0)
    position = np.empty(n + m, dtype=np.int64)
    position[found.order] = np.arange(n + m)
    supernodes, below, relative = tables(factors)

    def at(i: Indices, j: Indices) -> Indices:
        return factors.at(position[i], position[j])

    every = np.arange(n + m)
    own = np.full(n, -1, dtype=np.int64)
    diagonal = block.mass[0] == block.mass[1]
    own[block.mass[0][diagonal]] = np.flatnonzero(diagonal)
    size = int(factors.offsets[-1])
    return {
        "n": n, "m": m, "count": len(supernodes), "size": size, "masses": len(block.mass[0]), "least": least,
        "nodes": supernodes, "below": below, "relative": relative, "position": position, "diagonal": at(every, every),
        "mass_place": np.where(block.mass[0] >= block.mass[1], at(*block.mass), -1), "mass_own": own,
        "row_first": row_first, "row_local": columns, "row_place": at(n + block.row[0], columns),
        "pair_first": np.searchsorted(of, np.arange(m + 1)), "pair_left": left, "pair_right": right,
        "pair_place": at(columns[left], columns[right]), "panels": np.zeros(size), "pivots": np.zeros(n + m),
        "scratch": np.zeros(room(factors, {}) + int(factors.strides.max(initial=0))), "x": np.zeros(n + m),
        "own": np.zeros(n), "weight": np.zeros(m), "gives": np.zeros(m),
    }  # fmt: skip
