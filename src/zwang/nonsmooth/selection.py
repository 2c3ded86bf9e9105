"""Which of several solutions stand: those with different motions, of each the one with most sticking."""

from collections.abc import Iterable

import numpy as np

from zwang.nonsmooth.problem import Problem, Solution

DISTINCT = 1e-7  # of the size of the motion: solutions that differ by more have different motions
ROUNDING = 1e-11  # of the terms of speeds: the same, where these cancel


def same_motion(problem: Problem, a: Solution, b: Solution, distinct: float = DISTINCT) -> bool:
    """Whether two solutions have the same speeds of all rows, in units of equal mobility, but for a share of them."""
    diagonal = np.diagonal(problem.W)
    unit = 1 / np.sqrt(np.where(diagonal > 0, diagonal, np.inf))
    size = (unit * (np.abs(problem.c) + np.abs(a.u) + np.abs(b.u))).max(initial=0.0)
    rounding = (unit * (np.abs(problem.W) @ (np.abs(a.f) + np.abs(b.f)))).max(initial=0.0)
    return bool((unit * np.abs(a.u - b.u)).max(initial=0.0) <= distinct * size + ROUNDING * rounding)


def without_equals(problem: Problem, solutions: Iterable[Solution]) -> list[Solution]:
    """Of solutions with the same motion only the first."""
    kept: list[Solution] = []
    for one in solutions:
        if not any(same_motion(problem, one, other) for other in kept):
            kept.append(one)
    return kept


def yields(problem: Problem, one: Solution, other: Solution) -> bool:
    """Whether a solution slides only where another sticks, and only because sliding friction is less than sticking."""
    less = np.array([law.mu_static > law.mu for law in problem.laws])
    a, b = one.mode, other.mode
    differ = (a.held != b.held) | (a.stick != b.stick) | (a.along != b.along).any(axis=1)
    more = less & b.stick & ~a.stick & (a.held == b.held)
    return bool(differ.any() and (more | ~differ).all())


def without_yielding(problem: Problem, solutions: Iterable[Solution]) -> list[Solution]:
    """Solutions without those that yield to one before: where sticking holds, it goes on."""
    kept: list[Solution] = []
    for one in solutions:
        if not any(yields(problem, one, other) for other in kept):
            kept.append(one)
    return kept


def chosen(problem: Problem, solutions: Iterable[Solution]) -> list[Solution]:
    """Solutions with different motions, those that stick most first; of the same motion the one that sticks most.

    Of several that stick as much the one with the least impulses is kept.
    """
    order = sorted(solutions, key=lambda one: (-sticking(one), float(np.linalg.norm(one.f))))
    return without_yielding(problem, without_equals(problem, order))


def sticking(one: Solution) -> int:
    """How much a solution sticks; then, how many contacts it closes."""
    return int((len(one.mode.stick) + 1) * one.mode.stick.sum() + one.mode.held.sum())
