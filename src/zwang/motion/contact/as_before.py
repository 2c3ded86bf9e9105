"""Closed contacts that go on as they do: how they share their load at a state, and whether a slip would be held."""

from collections.abc import Iterable, Set

import numpy as np

from zwang.arrays import Array
from zwang.motion.contact.decide import OPENS, moment_later
from zwang.motion.contact.problem import OPEN, STICK, Found, Problem
from zwang.motion.contact.rough import DISTINCT, admitted, interval, solved
from zwang.motion.contact.rubbing import Rubbing
from zwang.motion.contact.shares import Shares, shares_of
from zwang.motion.contact.units import mass_units
from zwang.motion.start import State

INDIFFERENT = 100.0  # tolerances, of the way in which a body stops: by less it does not matter how a load is shared
CAUGHT = 1e-12  # of the usual speed: a slip in space that is no faster, and turns, is caught if sticking holds it


def going_on(rubbing: Rubbing, state: State) -> tuple[Problem, Found | None]:
    """The accelerations of contacts that share a load, at a state, if they go on as they do."""
    assert rubbing.shares is not None
    may = {i: (rubbing.word(i),) for i in sorted(rubbing.shares.members)}
    problem = rubbing.problem(state, may, {i for i, sign in rubbing.signs.items() if sign})
    return problem, solved(problem, tuple(mode for (mode,) in may.values()))


def shared_now(rubbing: Rubbing, state: State) -> Shares | None:
    """How contacts that share a load share it at a state, if they go on as they do."""
    problem, found = going_on(rubbing, state)
    if found is None:
        return None
    rows = *rubbing.rows, *rubbing.guides
    return shares_of(problem, found, rows, rubbing.order, rubbing.space, rubbing.sides)


def require_one_motion(rubbing: Rubbing, state: State) -> None:
    """Stop where the motion of contacts that share a load, and go on as they do, depends on how they share it.

    Slips of a body that comes to rest turn by rounding and by errors of the motion, ever more beside what is left of
    them. What they depend on the shares then makes no difference to where they end.
    """
    problem, found = going_on(rubbing, state)
    several = None if found is None else interval(problem, found)
    if found is None or several is None:
        return
    units, (i, low, high) = mass_units(problem.M, problem.equal), several
    most, left = float((units * rubbing.fastest).max()), lasts(rubbing, state, found.x)
    slower, off = float((units * np.abs(found.x)).max()), units[i] * (high - low) * left
    if off > DISTINCT * most and off * left * slower > INDIFFERENT * rubbing.setup.tol * most**2:
        rubbing.require_unique(problem, found)


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
    members = rubbing.shares.members if rubbing.shares is not None else {*pushing, *rubbing.guides}
    may = {j: (STICK if j in which else rubbing.word(j),) for j in sorted(members)}
    problem = rubbing.problem(state, may, {j for j in may if j not in which and rubbing.signs.get(j)})
    return admitted(problem, solved(problem, tuple(mode for (mode,) in may.values()))) is not None


def closes_again(rubbing: Rubbing, state: State, unloaded: Set[int], pushing: Iterable[int]) -> set[int]:
    """Contacts whose forces have vanished, but whose gaps would close without them, the others rubbing as they do."""
    members = rubbing.shares.members if rubbing.shares is not None else {*pushing, *rubbing.guides}
    may = {j: (rubbing.word(j),) for j in sorted(members - unloaded)}
    slipping = {j for j in may if rubbing.signs.get(j)}
    mode = tuple(word for (word,) in may.values())
    at = solved(rubbing.problem(state, may, slipping), mode)
    if at is None:
        return set()
    later = moment_later(state, at.x, rubbing.span)
    problem = rubbing.problem(later, may | dict.fromkeys(unloaded, (OPEN,)), slipping)
    found = solved(problem, (*mode, *(OPEN for _ in unloaded)))
    gaps = zip(problem.surfaces, found.gaps, strict=True) if found is not None else ()
    return {surface.row for surface, gap in gaps if surface.row in unloaded and gap < -OPENS}
