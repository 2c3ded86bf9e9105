"""How contacts whose rows depend on each other share their forces: linear and quadratic programs over the family.

The forces are λ + N w for every w, and conditions c + C w ≥ 0 say which of them may be: normal forces push, friction is
within its bound. What is possible for some w is possible.
"""

from dataclasses import dataclass

import numpy as np

from zwang.arrays import Array
from zwang.formulations.one_sided import quadratic_program

ACTIVE = 1e-9  # of the largest force: a condition with less in reserve holds with equality
FREE = 1e-9  # of a family's directions: a force that changes by less is unique


def shortest(value: Array, slope: Array) -> Array | None:
    """The shortest w with value + slope w ≥ 0; None if there is none."""
    size = np.abs(slope).max(axis=1, initial=0.0)
    moves = size > FREE * size.max(initial=0.0)
    if (value[~moves] < -FREE * np.abs(value).max(initial=0.0)).any():
        return None
    rows, lower = slope[moves] / size[moves, None], -value[moves] / size[moves]
    scale = float(np.abs(lower).max(initial=0.0))
    if scale == 0 or not (lower > 0).any():
        return np.zeros(slope.shape[1])
    found = quadratic_program(np.eye(slope.shape[1]), np.zeros(slope.shape[1]), rows, lower / scale)
    return None if found is None else found[0] * scale


@dataclass(frozen=True)
class Split:
    """The member of a family with the most in reserve, as shares of given forces and something beside."""

    shares: Array
    beside: Array
    reserve: float
    """The smallest condition, as a share of the largest force."""
    decisive: tuple[int, ...] = ()
    """The conditions that keep it from being larger."""


def fairest(given: Array, family: Array, conditions: Array, most: float) -> Split:
    """The split λ' = S λ + o of given forces λ (p,) whose smallest condition is largest, at most `most`.

    `conditions` (c, p) times forces are not to be negative. As long as the same conditions are the smallest ones, S
    makes the split that is best for other forces, too: it is known where none is left.
    """
    from scipy.optimize import linprog

    p, d = family.shape
    slope, value = conditions @ family, conditions @ given / most  # w in units of `most`
    costs = np.append(np.zeros(d), -1.0)
    rows = np.hstack([-slope, np.ones((len(slope), 1))])
    bounds = [*((None, None) for _ in range(d)), (None, 1.0)]
    found = linprog(costs, rows, value, bounds=bounds)
    if found.status != 0:
        return Split(np.eye(p), np.zeros(p), -np.inf)
    w, reserve = found.x[:d], float(found.x[d])
    left = value + slope @ w - reserve
    active = np.flatnonzero(left <= ACTIVE)
    weights = -np.asarray(found.ineqlin.marginals)
    active = active[np.argsort(-weights[active], kind="stable")]  # those that decide come first
    decisive = tuple(int(i) for i in active if weights[i] > ACTIVE)
    chosen: list[int] = []
    for i in map(int, active):
        grown = rows[[*chosen, i]]
        if np.linalg.matrix_rank(grown, tol=ACTIVE) == len(grown):
            chosen.append(i)
    if reserve >= 1 - ACTIVE or len(chosen) < d + 1:
        return Split(np.eye(p), family @ w * most, reserve, decisive)
    follows = np.linalg.solve(rows[chosen], conditions[chosen])[:d]  # w = follows · λ
    return Split(np.eye(p) + family @ follows, np.zeros(p), reserve, decisive)
