"""All solutions of small problems in the plane, by linear programs: each mode of the blocks is a polytope of impulses.

Nothing of `zwang.nonsmooth` is used but the laws as values. Each mode says by linear equations and inequalities which
impulses it has: of these HiGHS finds one, and the least and the most speed of each row. Slow, and exact to about 1e-7.
"""

from itertools import product

import numpy as np
from scipy.optimize import linprog

SAME = 1e-6


def block_modes(law):
    """What a block may do: closed, sign of the normal impulse, and stick or the sign of friction."""
    normals = {"unilateral": [(False, 1), (True, 1)], "bilateral": [(True, 1), (True, -1)], "none": [(False, 1)]}
    for held, sign in normals[law.normal]:
        if not law.tangents:
            yield held, sign, None
        elif law.way:
            yield held, sign, -law.way[0]
        else:
            yield from ((held, sign, what) for what in ("stick", 1.0, -1.0))


def polytope(problem, modes):
    """The equations and inequalities, a · f = b and a · f ≥ b, of the impulses of a mode."""
    W, c, equal, more = problem.W, problem.c, [], []
    row = 0
    for law, (held, sign, what) in zip(problem.laws, modes, strict=True):
        n, t = row, row + (law.normal != "none")
        e = np.eye(len(c))
        if law.normal != "none":
            if held:
                equal.append((W[n], -c[n]))
                more.append((sign * e[n], law.low if law.normal == "unilateral" else 0.0))
            else:
                equal.append((e[n], law.low))
                more.append((W[n], -c[n]))
        if law.tangents:
            if what == "stick":
                bound = law.mu_static * sign * e[n] if law.normal != "none" else 0 * e[t]
                equal.append((W[t], -c[t]))
                more += [(bound - e[t], -law.bound), (bound + e[t], -law.bound)]
            else:
                bound = law.mu * sign * e[n] if law.normal != "none" else 0 * e[t]
                equal.append((e[t] - what * bound, what * law.bound))
                if not law.way:
                    more.append((-what * W[t], what * c[t]))
        row += law.rows
    return equal, more


def modes_of(problem):
    """All modes that have impulses: one of these, and the range (r, 2) of speeds."""
    W, c = problem.W, problem.c
    for modes in product(*(list(block_modes(law)) for law in problem.laws)):
        equal, more = polytope(problem, modes)
        size = max(np.abs(c).max(), 1e-300)
        given = {"bounds": (None, None)}
        if equal:
            given |= {"A_eq": np.array([a for a, _ in equal]), "b_eq": np.array([b for _, b in equal]) / size}
        if more:
            given |= {"A_ub": -np.array([a for a, _ in more]), "b_ub": -np.array([b for _, b in more]) / size}
        one = linprog(np.zeros(len(c)), **given)
        if one.status != 0:
            continue
        ends = np.empty((len(c), 2))
        for i in range(len(c)):
            for side, s in enumerate((1.0, -1.0)):
                done = linprog(s * W[i], **given)
                ends[i, side] = s * done.fun * size + c[i] if done.status == 0 else -s * np.inf
        yield modes, one.x * size, ends


def motions(problem):
    """The different motions (r,) of all modes that have only one, and the ranges of those that have more."""
    alone, ranges = [], []
    size = np.abs(problem.c).max() + 1e-300
    for _, f, ends in modes_of(problem):
        u = problem.W @ f + problem.c
        if (ends[:, 1] - ends[:, 0] > SAME * size).any():
            ranges.append(ends)
        elif not any(np.abs(u - other).max() <= SAME * size for other in alone):
            alone.append(u)
    return alone, ranges
