"""Friction in space: directions of slips that begin, found so that they agree with what they cause.

A contact in space sticks with two rows. Where it slides, F = −μN d with d = γ/|γ| is smooth in the state, and a known
row d₁t₁ + d₂t₂ takes the place of the slip's. Where it begins to slide from rest, d is the direction of the slip that
it causes: a_T(d) ∥ d, with a_T·d ≥ 0 (De Saxcé's complementarity on the cone). For one contact that is a root on a
circle, and all of them are found; several that may begin at once are looked for `together`.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from zwang.arrays import EPS, Array
from zwang.motion.contact.directions import aimed, in_axes
from zwang.motion.contact.problem import SIGN, Found, Problem
from zwang.motion.contact.rough import admitted, different, solved
from zwang.motion.contact.together import reached, undecided

AROUND = 24  # directions at which roots are looked for


def tried(problem: Problem, mode: Sequence[str]) -> Iterator[tuple[Problem, Found, dict[int, Array]]]:
    """A mode solved, with all directions that slips may begin in: the problem with these, and they by surface."""
    begin = [k for k, (s, state) in enumerate(zip(problem.surfaces, mode, strict=True)) if s.across is not None
             and state in SIGN]  # fmt: skip
    if not begin:
        found = solved(problem, mode)
        if found is not None:
            yield problem, found, {}
        return
    (one,) = begin  # several are looked for together
    for way in roots(problem, mode, one):
        yield from along(problem, mode, {one: way})


def along(
    problem: Problem, mode: Sequence[str], ways: dict[int, Array]
) -> Iterator[tuple[Problem, Found, dict[int, Array]]]:
    """A mode solved with given directions."""
    there = aimed(problem, ways)
    found = solved(there, mode)
    if found is not None:
        yield there, found, ways


def begins(problem: Problem, mode: Sequence[str], ways: dict[int, Array]) -> dict[int, Array] | None:
    """The slips (2,) that begin if friction acts against given directions; None if that is singular."""
    found = solved(aimed(problem, ways), mode)
    return None if found is None else {k: slip_of(problem, k, found.x) for k in ways}


def slip_of(problem: Problem, k: int, x: Array) -> Array:
    """What both slips of a surface change by, or are, with x."""
    s = problem.surfaces[k]
    return np.array([s.t @ x - s.stuck, s.across @ x - s.stuck_across])  # type: ignore[operator]


def roots(problem: Problem, mode: Sequence[str], k: int) -> Iterator[Array]:
    """Directions in which the slip of one surface may begin: a_T × d changes its sign there."""
    from scipy.optimize import brentq

    def turn(angle: float) -> float:
        d = np.array([np.cos(angle), np.sin(angle)])
        slips = begins(problem, mode, {k: d})
        return float("nan") if slips is None else float(d[0] * slips[k][1] - d[1] * slips[k][0])

    # the middle of these is the direction without friction, so that it is not a root that is met exactly
    straight = slip_of(problem, k, problem.free)
    middle = float(np.arctan2(straight[1], straight[0])) if np.abs(straight).max() > 0 else 0.0
    angles = middle + (np.arange(AROUND + 1) + 0.5) * (2 * np.pi / AROUND)
    values = [turn(angle) for angle in angles]
    for low, high, f, g in zip(angles, angles[1:], values, values[1:], strict=False):
        if np.isfinite(f * g) and f * g < 0:
            angle = brentq(turn, low, high, xtol=4 * EPS, rtol=4 * EPS)
            yield np.array([np.cos(angle), np.sin(angle)])


def unit(x: Array) -> Array:
    """A direction of unit length; along the first axis if there is none."""
    length = float(np.hypot(*x))
    return x / length if length > 0 else np.array([1.0, 0.0])


def solutions(problem: Problem) -> list[Found]:
    """All solutions that are different, with friction in the axes of the slips; of several contacts, those found."""
    if len(undecided(problem)) > 1:
        return [in_axes(one.found, one.ways) for one in reached(problem)]
    every = [
        in_axes(kept, ways)
        for mode in problem.modes()
        for there, found, ways in tried(problem, mode)
        if (kept := admitted(there, found)) is not None
    ]
    return different(problem, every)
