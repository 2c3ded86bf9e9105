"""Active sets: the mode that solves a problem, found by Newton's method on its natural map.

Each mode is solved exactly. Whatever misses its condition then changes: what pulls opens, what would close is closed,
what cannot stick slides; what slides the wrong way sticks, or slides the other way at once if friction says so (that
rule took the parts of 1,610 recorded impacts that needed sweeps from 37 to 1).
"""

import numpy as np

from zwang.arrays import EPS, TINIEST, Array
from zwang.nonsmooth.equations import impulses, refined
from zwang.nonsmooth.layout import OBEYS, OFF, Layout, lay_out, lengths, padded
from zwang.nonsmooth.problem import Bools, Mode, Problem, Solution

SOFTLY = 1e-6  # the same while contacts give way, which only leads to a mode
HARDLY_OFF = OBEYS / 4  # of the terms of a condition: what laws may miss in the solution, with room for its two parts
TURNED = 1e-9  # a change of a direction in space below which it is looked whether laws hold already
CALM = 4  # steps without a change of the set, after which that is looked at
LONGEST_CALM = 40  # steps without a change of the set: Newton's method has doubled its digits long before
FEW_STEPS, STEPS_A_BLOCK, STEPS_IN_SPACE = 10, 2, 30  # steps allowed; the corpus needs 15 at most

Reached = tuple[Mode, Array, Array, int]
"""A mode that changes no more, its impulses and speeds in units of the layout, and the steps made."""


def next_mode(p: Layout, mode: Mode, f: Array, u: Array, off: float = OFF) -> tuple[Mode, bool]:
    """The mode that comes after one with these impulses, and whether anything but directions in space changes."""
    sizes = padded(np.abs(p.c) + p.abs_W @ np.abs(f))
    most = float(np.abs(f).max(initial=0.0)) + float(p.low.max(initial=0.0))
    f, u = padded(f), padded(u)
    N, fT, uT = f[p.n], f[p.t], u[p.t]
    tol_f, tol_n = off * most + TINIEST, off * sizes[p.n] + TINIEST
    tol_t = off * lengths(sizes[p.t]) + TINIEST
    pulls, meets = p.low - N, -u[p.n]
    sided = p.has & ~p.bilateral
    opens, closes = sided & mode.held & (pulls > tol_f), sided & ~mode.held & (meets > tol_n)
    held = (mode.held & ~opens) | closes
    loose = p.has & ~held & ~(p.low > 0)
    rubs = (p.tangents > 0) & ~p.known & ~loose
    breaks = rubs & mode.stick & (lengths(fT) - p.radius(N, p.static) > tol_f) & ~opens
    # dry friction that other rows hold in motion cannot stick: no impulse moves it
    breaks |= rubs & mode.stick & ~p.has & (lengths(uT) > OBEYS * lengths(sizes[p.t]) + TINIEST)
    back = (uT * mode.along).sum(axis=1)
    turns = rubs & ~mode.stick & ((back > tol_t) | closes | (mode.along == 0).all(axis=1))
    w = fT - uT
    size = lengths(w)
    fast = size > p.radius(N + np.where(closes, meets, 0.0), p.static)
    stick = rubs & ((mode.stick & ~breaks) | (turns & ~fast))
    way = np.where((size > 0)[:, None], w / np.where(size > 0, size, 1.0)[:, None], mode.along)
    if p.flat:
        way = np.where((breaks | turns)[:, None], way, mode.along)
    along = p.known_along(np.where(stick[:, None] | loose[:, None], 0.0, way))
    return Mode(held, stick, along), bool((opens | closes | breaks | turns).any())


def most_steps(p: Layout) -> int:
    """How many steps active sets may take."""
    return FEW_STEPS + STEPS_A_BLOCK * p.k + STEPS_IN_SPACE * (not p.flat)


def active_sets(
    p: Layout, mode: Mode, most: int, soft: float = 0.0, begin: Array | None = None, off: float = OFF
) -> tuple[Reached, bool] | None:
    """Where active sets lead from a mode and impulses, and whether the mode changes no more there.

    None if a mode has no impulses, or the steps run out.
    """
    f = np.zeros(p.r) if begin is None else begin
    u = p.W @ f + p.c
    off, settled = (SOFTLY, SOFTLY) if soft else (off, 64 * EPS)
    seen: set[bytes] = set()
    calm = 0
    for step in range(1, most + 1):
        y = impulses(p, mode, f, u, soft)
        if y is None:
            return None
        moved = float(np.abs(y - f).max(initial=0.0))
        f, u = y, p.W @ y + p.c
        after, changes = next_mode(p, mode, f, u, off)
        if changes:
            calm = 0
            if (key := mode.key()) in seen:
                return (mode, f, u, step), False
            seen.add(key)
            mode = after
            continue
        calm += 1
        still = moved <= settled * np.abs(f).max(initial=0.0)
        slow = calm >= CALM and float(np.abs(after.along - mode.along).max(initial=0.0)) < TURNED
        if p.flat or still or slow or calm > LONGEST_CALM:
            if p.flat and p.regular and not soft:
                f = refined(p, mode, f, u)
                u = p.W @ f + p.c
            return (after, f, u, step), True
        mode = after
    return None


def solution_of(p: Layout, reached: Reached, rung: str) -> Solution | None:
    """A solution in units of the problem, if it obeys all laws; what has no slip sticks in it."""
    mode, f, u, steps = reached
    left = p.left(f, u)
    if not (left <= OBEYS * p.size(f) + TINIEST).all():
        return None
    return Solution(f * p.scale, u / p.scale, standing(p, mode, f, u), left, rung, steps)


def standing(p: Layout, mode: Mode, f: Array, u: Array) -> Mode:
    """The mode in which all contacts stick that do not slip: friction of sliding is less than sticking may have."""
    sizes, u = padded(np.abs(p.c) + p.abs_W @ np.abs(f)), padded(u)
    rubs = (p.tangents > 0) & ~p.known & (mode.held | ~p.has | (p.low > 0))
    stick = mode.stick | (rubs & (lengths(u[p.t]) <= OFF * lengths(sizes[p.t])))
    return Mode(mode.held, stick, np.where(stick[:, None], 0.0, mode.along))


def by_active_sets(p: Layout, mode: Mode, most: int, rung: str, begin: Array | None = None) -> Solution | None:
    """The solution to which active sets lead; None if they lead to none.

    Where a condition holds with equality, rounding may take it either way: then it is kept if it is missed by little.
    """
    for off in (OFF, HARDLY_OFF):
        reached = active_sets(p, mode, most, begin=begin, off=off)
        if reached is not None and reached[1] and (one := solution_of(p, reached[0], rung)) is not None:
            return one
    return None


def in_mode(problem: Problem, mode: Mode, free: Bools | None = None) -> Solution | None:
    """Impulses and speeds in a given mode, whether its conditions hold or not; None if it has none.

    Blocks that are `free` (k,) find theirs; directions of slips in space that are not known are those that they cause.
    """
    p = lay_out(problem)
    free = np.zeros(p.k, dtype=bool) if free is None else free
    f, u = np.zeros(p.r), p.c
    steps = 0
    while True:
        steps += 1
        y = impulses(p, mode, f, u)
        if y is None or steps > LONGEST_CALM:
            return None
        moved, before = float(np.abs(y - f).max(initial=0.0)), mode
        f, u = y, p.W @ y + p.c
        after = next_mode(p, mode, f, u)[0]
        turns = free | ((p.tangents == 2) & ~mode.stick & ~p.known)
        mode = Mode(
            np.where(free, after.held, mode.held),
            np.where(free, after.stick, mode.stick),
            np.where(turns[:, None], after.along, mode.along),
        )
        if mode.key() != before.key():
            continue
        turned = float(np.abs(mode.along - before.along).max(initial=0.0))
        if not turned or (moved <= 64 * EPS * np.abs(f).max(initial=0.0) and turned < TURNED):
            break
    if p.regular and p.flat:
        f = refined(p, mode, f, u)
        u = p.W @ f + p.c
    held = np.zeros(p.r + 1, dtype=bool)
    held[p.n[mode.held]] = held[p.t[mode.stick]] = True
    missed, size = np.abs(u)[held[: p.r]].max(initial=0.0), float((np.abs(p.c) + p.abs_W @ np.abs(f)).max(initial=0.0))
    if missed > OBEYS * size + TINIEST:
        return None
    return Solution(f * p.scale, u / p.scale, mode, p.left(f, u), "given mode", steps)


def obeys(problem: Problem, one: Solution) -> bool:
    """Whether a solution misses no law by more than rounding."""
    p = lay_out(problem)
    return bool((one.left <= OBEYS * p.size(one.f / p.scale) + TINIEST).all())
