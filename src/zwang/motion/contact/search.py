"""The mode of many contacts with friction: found by exchange, where there are too many modes to try them all.

From all closed, each contact as it moves already, whatever misses a condition does something else: what pulls opens,
what would close is closed, what cannot stick slides, what slides the wrong way sticks. All at once at first; should
that come back to where it was, one of them alone, by lot. What is found is a solution; that there is no other is not
shown.
"""

from collections.abc import Callable

import numpy as np

from zwang.motion.contact.problem import (
    BACK,
    CLOSED,
    FORTH,
    LEAVE,
    LEAVE_BACK,
    LEAVE_FORTH,
    LEAVE_STICK,
    LEAVES,
    OPEN,
    SIGN,
    STICK,
    STICKS,
    Found,
    Problem,
    Surface,
)
from zwang.motion.contact.rough import MOST_MODES, WITHIN, admitted, solutions, solved

MOST_EXCHANGES = 50  # for each contact
LEFT = {CLOSED: LEAVE, STICK: LEAVE_STICK, FORTH: LEAVE_FORTH, BACK: LEAVE_BACK}
BACK_AGAIN = {leave: state for state, leave in LEFT.items()}

Mode = tuple[str, ...]


def searched(problem: Problem, attempt: Callable[[Mode], tuple[Problem, Found | None, Found | None]]) -> Found | None:
    """A solution, if exchanges lead to one.

    `attempt` solves a mode: the problem that it was solved for, the solution, and that one if it keeps all conditions.
    """
    mode = tuple(first(surface) for surface in problem.surfaces)
    seen: set[Mode] = set()
    alone, chance = False, np.random.default_rng(0)
    for _ in range(MOST_EXCHANGES * len(mode)):
        at, found, kept = attempt(mode)
        if kept is not None or found is None:
            return kept
        missed = {
            k: state for k, surface in enumerate(at.surfaces) if (state := instead(at, found, k, surface)) is not None
        }
        if not missed:
            return None
        alone = alone or mode in seen  # all at once goes round in circles
        if alone:
            one = sorted(missed)[int(chance.integers(len(missed)))]
            missed = {one: missed[one]}
        else:
            seen.add(mode)
        mode = tuple(missed.get(k, state) for k, state in enumerate(mode))
    return None


def some_of(problem: Problem) -> list[Found]:
    """All solutions of a problem, or one where there are too many modes to try."""
    if problem.count <= MOST_MODES:
        return solutions(problem)

    def attempt(mode: Mode) -> tuple[Problem, Found | None, Found | None]:
        found = solved(problem, mode)
        return problem, found, admitted(problem, found)

    one = searched(problem, attempt)
    return [] if one is None else [one]


def first(surface: Surface) -> str:
    """What a contact does to begin with: it is closed, and goes on as it does."""
    return next(state for state in (STICK, FORTH, BACK, CLOSED, *surface.may) if state in surface.may)


def instead(problem: Problem, found: Found, k: int, surface: Surface) -> str | None:
    """What a contact does instead of what it cannot; None if it can."""
    state = found.mode[k]
    terms = np.abs(found.x) + np.abs(problem.free)
    if state in LEAVES:
        short = surface.n @ found.x - surface.least < -WITHIN * (np.abs(surface.n) @ terms + abs(surface.least))
        return (BACK_AGAIN.get(state) or first(surface)) if short else None
    normal, friction = found.normal[k], found.friction[k]
    forces = float(np.abs(problem.Q).max(initial=0.0) + np.abs(found.normal).max(initial=0.0))
    if normal - surface.given < -WITHIN * forces:
        return OPEN if OPEN in surface.may else LEFT[state]
    if state in STICKS and abs(friction) > surface.mu_s * normal * (1 + WITHIN):
        return FORTH if friction < 0 else BACK
    if state in SIGN and not surface.slips and surface.t is not None:
        goes = SIGN[state] * (surface.t @ found.x - surface.stuck)
        if goes < -WITHIN * (np.abs(surface.t) @ terms + abs(surface.stuck)):
            return STICK
    return None
