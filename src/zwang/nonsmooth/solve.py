"""The ladder of solvers, for each part of a problem that moves by itself.

(0) One block in closed form. (1) All modes, where they are few: only that shows that there is no other solution, or
none. (2) Active sets with exact modes. (3) The same with contacts that give way, ever less. (4) Sweeps and damped
Newton steps, which lead to the mode from which active sets go on.
"""

import numpy as np

from zwang.arrays import Array
from zwang.nonsmooth.active_set import FEW_STEPS, active_sets, by_active_sets, most_steps, solution_of
from zwang.nonsmooth.closed_form import one_block
from zwang.nonsmooth.enumeration import FEW_MODES, MOST_MODES, all_modes, enumerable, from_many_starts, proves
from zwang.nonsmooth.equations import mode_of
from zwang.nonsmooth.layout import OBEYS, OFF, Layout, lay_out
from zwang.nonsmooth.problem import Answer, Mode, Part, Problem, Solution, parts
from zwang.nonsmooth.selection import chosen
from zwang.nonsmooth.sweeps import COMPLIANCE, damped, swept
from zwang.nonsmooth.uniqueness import range_of_motion

MANY_DEPENDENT_ROWS = (
    40  # that depend on each other: singular values are dear, so that contacts give way at first, by COMPLIANCE
)
SOFTER = (1e-1, 1e-2, 1e-3, 1e-5, 1e-7, 1e-9)  # how far contacts give way one after the other where sets go round
SWEEPS = (5, 20, 80, 320, 640)  # after which active sets try again: 168 hard stacks need 1,065 at most


def solve(problem: Problem, begin: Mode | None = None, every: bool = False) -> list[Answer]:
    """The solutions of each part of a problem that moves by itself (`parts`).

    Args:
        problem: u = W f + c with a law for each block of rows.
        begin: The mode to begin with, as the one of an instant before; it changes how long it takes.
        every: Whether all solutions with different motions are wanted, or one.

    Returns:
        For each part the solutions found, and whether that is all (`Answer.complete`).

    >>> from zwang.nonsmooth import Problem, coulomb, solve
    >>> block = Problem(np.eye(2), np.array([-10.0, 4.0]), (coulomb(0.3),))  # pressed onto a floor, pulled along it
    >>> [one.f.round(12).tolist() for one in solve(block)[0].solutions]
    [[10.0, -3.0]]
    """
    return [answer(part, begin.of(part.blocks) if begin is not None else None, every) for part in parts(problem)]


def answer(part: Part, begin: Mode | None = None, every: bool = False) -> Answer:
    """The solutions of one part."""
    if len(part.blocks) == 1 and (found := one_block(part.problem)) is not None:
        return Answer(part, tuple(found), True)
    p = lay_out(part.problem)
    if begin is not None and p.regular and convex(p) and (one := one_solution(p, begin)) is not None:
        return Answer(part, (one,), True)
    if enumerable(p, MOST_MODES if every else FEW_MODES):
        found = of_one_family(p, all_modes(p))
        if found or proves(p):
            return Answer(part, tuple(found), proves(p))
    elif every:
        one = one_solution(p, begin)
        found = chosen(p.problem, [*([one] if one else []), *from_many_starts(p)])
        return Answer(part, tuple(found))
    one = one_solution(p, begin)
    if one is None and not every and enumerable(p, MOST_MODES):
        found = all_modes(p)
        return Answer(part, tuple(found), proves(p))
    return Answer(part, () if one is None else (one,), one is not None and convex(p))


def of_one_family(p: Layout, found: list[Solution]) -> list[Solution]:
    """Solutions without those whose motions the family of one before has, too: of it the first one stands for all."""
    if len(found) < 2 or p.regular:
        return found
    kept: list[tuple[Solution, Array]] = []
    for one in found:
        size = OBEYS * float(np.abs(one.u).max(initial=0.0) + np.abs(p.problem.c).max(initial=0.0))
        if not any((one.u >= ends[:, 0] - size).all() and (one.u <= ends[:, 1] + size).all() for _, ends in kept):
            kept.append((one, range_of_motion(p.problem, one)))
    return [one for one, _ in kept]


def convex(p: Layout) -> bool:
    """Whether a convex program has these impulses, and so one motion: W is symmetric, bounds of friction are given."""
    W = p.problem.W
    return not p.static[p.has].any() and bool((W == W.T).all())


def one_solution(p: Layout, begin: Mode | None) -> Solution | None:
    """A solution; None if no rung of the ladder finds one."""
    mode = p.start() if begin is None else begin
    if p.r > MANY_DEPENDENT_ROWS and not p.regular:
        near = active_sets(p, mode, 2 * FEW_STEPS + p.k, soft=COMPLIANCE)
        if near is not None and near[1]:
            (there, f, _, _), _ = near
            if (one := by_active_sets(p, there, FEW_STEPS, "active sets", f)) is not None:
                return one
    return by_active_sets(p, mode, most_steps(p), "active sets") or by_giving_way(p, mode) or by_sweeps(p)


def by_giving_way(p: Layout, mode: Mode) -> Solution | None:
    """The solution to which contacts lead that give way, ever less."""
    f = np.zeros(p.r)
    for soft in SOFTER:
        near = active_sets(p, mode, FEW_STEPS + p.k, soft=soft, begin=f)
        if near is not None:
            mode, f = near[0][:2]
    return by_active_sets(p, mode, 2 * FEW_STEPS + p.k, "giving way", f)


def by_sweeps(p: Layout) -> Solution | None:
    """The solution to which active sets lead after sweeps, or after damped steps from there."""
    f = np.zeros(p.r)
    for sweeps in SWEEPS:
        f = swept(p, f, sweeps)
        if not np.isfinite(f).all():
            return None
        for near, rung in ((f, "sweeps"), (damped(p, f), "damped steps")):
            if near is None:
                continue
            u = p.W @ near + p.c
            mode = mode_of(p, near, u)
            if (one := by_active_sets(p, mode, most_steps(p), rung, near)) is not None:
                return one
            if (p.left(near, u) <= OFF * p.size(near)).all():  # it obeys, though it is no split of contacts alike
                return solution_of(p, (mode, near, u, sweeps), rung)
    return None
