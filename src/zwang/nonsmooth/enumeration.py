"""All modes of a problem in the plane, tried in stacks: this alone shows that there is no other solution, or none."""

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np

from zwang.arrays import Array
from zwang.nonsmooth.active_set import by_active_sets, solution_of
from zwang.nonsmooth.equations import alike, impulses
from zwang.nonsmooth.laws import Law
from zwang.nonsmooth.layout import Layout, lengths, padded
from zwang.nonsmooth.problem import Bools, Mode, Solution
from zwang.nonsmooth.selection import chosen

MOST_MODES = 20_000  # all tried where nothing else finds a solution, or all are asked for: a third of a second
FEW_MODES = 300  # so many take no longer (0.25 to 0.7 ms) than active sets: all are tried at once
WAYS_AROUND = 12  # modes for which a slip in space counts, though its directions are infinitely many
GIVES = 1e-10  # of the mobility: how far rows give way while all modes are tried at once, beside NEARLY
NEARLY = 1e-6  # of the terms of a condition, by which a mode may miss it before it is solved exactly
STACK = 200_000  # numbers in a stack of matrices: 1.6 MB, within the caches
MOST_STARTS = 100  # modes from which solutions in space are looked for
STEPS_FROM_EACH = 40  # of active sets from each

Choice = tuple[bool, bool, float]
"""Whether a block is closed, whether it sticks, and the sign of f_T/f_N along its first tangential row.

Where the direction of slip is known, it is the sign of f_N."""


def choices(law: Law) -> list[Choice]:
    """What a block in the plane may do."""
    normals = {"unilateral": (False, True), "bilateral": (True,), "none": (False,)}[law.normal]
    found: list[Choice] = []
    for held in normals:
        if not law.tangents or (law.normal == "unilateral" and not held and law.low <= 0):
            found.append((held, False, 0.0))
        elif law.way:
            found += [(held, False, sign) for sign in ((1.0, -1.0) if law.normal == "bilateral" else (1.0,))]
        else:
            found += [(held, True, 0.0), (held, False, 1.0), (held, False, -1.0)]
    return found


def count_modes(p: Layout) -> int:
    """The number of modes; of a slip in space WAYS_AROUND directions are counted."""
    return prod(len(choices(law)) + WAYS_AROUND * (law.tangents == 2 and not law.way) for law in p.problem.laws)


def enumerable(p: Layout, most: int) -> bool:
    """Whether modes are so few, and so plain, that all of them can be tried."""
    return p.flat and count_modes(p) <= most


def all_modes(p: Layout) -> list[Solution]:
    """The solutions with different motions among all modes.

    Of rows that depend on each other one member of each mode's family is tried. The ends of a family are modes, too,
    unless sticking holds more than sliding: `proves` says so.
    """
    found: list[Solution] = []
    for mode, f in nearly_obeying(p):
        y = impulses(p, mode, f, p.W @ f + p.c)
        if y is not None and (one := solution_of(p, (mode, y, p.W @ y + p.c, 1), "all modes")) is not None:
            found.append(one)
    return chosen(p.problem, found)


def proves(p: Layout) -> bool:
    """Whether trying all modes shows that there is no other solution."""
    return p.regular or bool((p.static <= p.mu).all())


def nearly_obeying(p: Layout) -> Iterator[tuple[Mode, Array]]:
    """All modes that nearly obey their conditions, with their impulses, found in stacks."""
    options = [choices(law) for law in p.problem.laws]
    size = max(1, STACK // max(p.r * p.r, 1))
    picked = np.array([*product(*(range(len(o)) for o in options))], dtype=int).reshape(-1, p.k)
    table = np.zeros((p.k, max(map(len, options)), 3))
    for i, o in enumerate(options):
        table[i, : len(o)] = o
    for begin in range(0, len(picked), size):
        some = table[np.arange(p.k), picked[begin : begin + size]]
        yield from in_stack(p, some[..., 0] > 0, some[..., 1] > 0, some[..., 2])


def in_stack(p: Layout, held: Bools, stick: Bools, sign: Array) -> Iterator[tuple[Mode, Array]]:
    """Of modes (m, k) those that nearly obey their conditions, with their impulses."""
    m, r = len(held), p.r
    speeds = np.zeros((m, r + 1), dtype=bool)
    speeds[:, p.n] |= held
    speeds[:, p.t[:, 0]] |= stick
    speeds[:, p.t[:, 1]] |= stick
    speeds = speeds[:, :r]
    J = np.where(speeds[:, :, None], p.W + np.diag(GIVES * alike(p)), np.eye(r))
    b = np.where(speeds, -p.c, 0.0)
    for i in range(p.k):
        if p.has[i]:
            b[:, p.n[i]] = np.where(held[:, i], b[:, p.n[i]], p.low[i])
        for j in range(p.tangents[i]):
            along = sign[:, i] * (-p.ways[i, j] if p.known[i] else 1.0)
            slides = ~stick[:, i]
            b[slides, p.t[i, j]] = p.bound[i] * along[slides]
            if p.has[i]:
                J[slides, p.t[i, j], p.n[i]] = -p.mu[i] * along[slides]
    f = solved(J, b)
    fine = nearly_fine(p, (held, stick, sign), f)
    for j in np.flatnonzero(fine.all(axis=1)).tolist():
        N = padded(f[j])[p.n]
        along = np.zeros((p.k, 2))
        along[:, 0] = np.where(p.bilateral & (N < 0), -sign[j], sign[j])
        yield Mode(held[j], stick[j], p.known_along(along)), f[j]


def solved(J: Array, b: Array) -> Array:
    """(m, r) the solutions of a stack of equations; the nearest ones if some are singular."""
    try:
        return np.asarray(np.linalg.solve(J, b[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        return np.stack([np.linalg.lstsq(j, e, rcond=1e-12)[0] for j, e in zip(J, b, strict=True)])


def nearly_fine(p: Layout, modes: tuple[Bools, Bools, Array], f: Array) -> Bools:
    """(m, k) whether blocks nearly obey the conditions of their modes, with impulses (m, r)."""
    held, stick, sign = modes
    u = f @ p.W.T + p.c
    size = np.abs(f).max(axis=1, initial=0.0) + p.low.max(initial=0.0)
    fast = np.abs(p.c).max(initial=0.0) + (np.abs(f) @ p.abs_W.T).max(axis=1, initial=0.0)
    most, fast = NEARLY * size[:, None], NEARLY * fast[:, None]
    f, u = padded(f), padded(u)
    N, un, fT, uT = f[:, p.n], u[:, p.n], f[:, p.t[:, 0]], u[:, p.t[:, 0]]
    sided = p.has & ~p.bilateral
    fine = np.where(sided & held, N - p.low >= -most, True) & np.where(sided & ~held, un >= -fast, True)
    fine &= np.where(stick, np.abs(fT) <= p.radius(N, p.static) + most, True)
    fine &= np.where(p.known & p.bilateral, sign * N >= -most, True)
    rubs = (p.tangents > 0) & ~p.known & (held | ~p.has | (p.low > 0))
    kink = np.where(p.bilateral & (N < 0), -sign, sign)
    return np.asarray(fine & np.where(rubs & ~stick, uT * kink <= fast, True))


def from_many_starts(p: Layout) -> list[Solution]:
    """Solutions to which active sets lead from many modes; slips in space begin as they would without friction."""
    free = padded(p.c)[p.t]
    size = lengths(free)
    straight = -free / np.where(size > 0, size, 1.0)[:, None]
    options = [[0, 1, 2] if law.normal == "unilateral" else [1, 2] for law in p.problem.laws]
    every = prod(map(len, options)) <= MOST_STARTS
    rng = np.random.default_rng(0)
    picks = product(*options) if every else (rng.integers(0, 3, p.k) for _ in range(MOST_STARTS))
    found: list[Solution] = []
    for pick in map(np.array, picks):
        stick = (pick == 1) & (p.tangents > 0) & ~p.known
        along = p.known_along(np.where(stick[:, None], 0.0, straight))
        mode = Mode(p.has & ((pick > 0) | p.bilateral), stick, along)
        one = by_active_sets(p, mode, STEPS_FROM_EACH, "active sets")
        if one is not None:
            found.append(one)
    return found
