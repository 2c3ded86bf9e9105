"""Closed contacts that go on as they do: how they share their load at a state, and whether a slip would be held."""

from collections.abc import Iterable, Sequence, Set

import numpy as np

from zwang.arrays import Array
from zwang.motion.contact.decide import OPENS, moment_later
from zwang.motion.contact.problem import OPEN, STICK, Found, Problem
from zwang.motion.contact.resolve import interval, resolve, solved
from zwang.motion.contact.rubbing import Rubbing
from zwang.motion.contact.shares import Shares, shares_of
from zwang.motion.start import State

DISTINCT = 1e-7  # of the largest speed: what the split of a load changes by less is the same
INDIFFERENT = 100.0  # tolerances, of the way in which a body stops: by less it does not matter how a load is shared
CAUGHT = 1e-12  # of the usual speed: a slip in space that is no faster, and turns, is caught if sticking holds it


def going_on(rubbing: Rubbing, state: State) -> Found | None:
    """The accelerations of contacts that share a load, at a state, if they go on as they do."""
    assert rubbing.shares is not None
    closed = sorted(rubbing.shares.members)
    return solved(problem_of(rubbing, state, closed), tuple(rubbing.word(i) for i in closed))


def problem_of(rubbing: Rubbing, state: State, closed: Sequence[int], still: Set[int] = frozenset()) -> Problem:
    """What closed contacts obey at a state, sliding as they do; but for some that do not."""
    slipping = {i: rubbing.signs[i] for i in closed if rubbing.signs.get(i) and i not in still}
    return rubbing.problem(state, closed, slipping)


def shared_now(rubbing: Rubbing, state: State) -> Shares | None:
    """How contacts that share a load share it at a state, if they go on as they do."""
    found = going_on(rubbing, state)
    rows = *rubbing.rows, *rubbing.guides
    return None if found is None else shares_of(found, rows, rubbing.order, rubbing.space, rubbing.sides)


def look_at_motion(rubbing: Rubbing, state: State) -> None:
    """See whether the motion of contacts that share a load, and go on as they do, depends on how they share it.

    Slips of a body that comes to rest turn by rounding and by errors of the motion, ever more beside what is left of
    them. What they depend on the shares then makes no difference to where they end.
    """
    found = going_on(rubbing, state)
    several = None if found is None else interval(found)
    if found is None or several is None:
        return
    units, (i, low, high) = found.problem.units, several
    most, left = float((units * rubbing.fastest).max()), lasts(rubbing, state, found.x)
    slower, off = float((units * np.abs(found.x)).max()), units[i] * (high - low) * left
    if off > DISTINCT * most and off * left * slower > INDIFFERENT * rubbing.setup.tol * most**2:
        rubbing.note_interval(found, state[0])


def lasts(rubbing: Rubbing, state: State, a: Array) -> float:
    """How long it takes until the slips of contacts in space end at the rates that accelerations give them."""
    now, longest = rubbing.setup.slips(state), 0.0
    for i in (i for i, sign in rubbing.signs.items() if sign):
        which = rubbing.places(i)
        slip, rate = now["slip"][which], now["A"][which] @ a - now["b"][which]
        slows = -float(slip @ rate)
        longest = max(longest, float(slip @ slip) / slows if slows > 0 else np.inf)
    return longest


def would_stand(rubbing: Rubbing, state: State, which: Set[int], pushing: Iterable[int]) -> bool:
    """Whether slips in space that are as good as none would be held together, with all other contacts as they are."""
    closed = members(rubbing, pushing)
    way = resolve(problem_of(rubbing, state, closed, which))
    want = {i: STICK if i in which else rubbing.word(i) for i in closed}
    return way.found is not None and way.found.mode == tuple(want.values())


def members(rubbing: Rubbing, pushing: Iterable[int]) -> list[int]:
    """Contacts and guides that are loaded."""
    return sorted(rubbing.shares.members if rubbing.shares is not None else {*pushing, *rubbing.guides})


def closes_again(rubbing: Rubbing, state: State, unloaded: Set[int], pushing: Iterable[int]) -> set[int]:
    """Contacts whose forces have vanished, but whose gaps would close without them, the others rubbing as they do."""
    every = members(rubbing, pushing)
    closed = [i for i in every if i not in unloaded]
    mode = {i: rubbing.word(i) for i in closed}
    at = solved(problem_of(rubbing, state, closed), tuple(mode.values()))
    if at is None:
        return set()
    every = sorted({*closed, *unloaded})
    later = moment_later(state, at.x, rubbing.span)
    there = problem_of(rubbing, later, every)
    found = solved(there, tuple(mode.get(i, OPEN) for i in every))
    gaps = zip(there.surfaces, found.gaps, strict=True) if found is not None else ()
    return {surface.row for surface, gap in gaps if surface.row in unloaded and gap < -OPENS}
