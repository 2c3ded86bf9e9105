"""Closed contacts that go on as they do: how they share their load at a state, and whether a slip would be held."""

from collections.abc import Iterable

import numpy as np

from zwang.arrays import Array
from zwang.motion.contact.rough import DISTINCT, STICK, Found, Problem, admitted, interval, solved
from zwang.motion.contact.rubbing import Rubbing
from zwang.motion.contact.shares import Shares, shares_of
from zwang.motion.contact.units import mass_units
from zwang.motion.start import State

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

    Slips of a body that comes to rest turn by rounding, ever more beside what is left of them. What they depend on the
    shares then makes no difference to the motion until they end.
    """
    problem, found = going_on(rubbing, state)
    several = None if found is None else interval(problem, found)
    if found is None or several is None:
        return
    units, (i, low, high) = mass_units(problem.M, problem.equal), several
    if units[i] * (high - low) * lasts(rubbing, state, found.x) > DISTINCT * float((units * rubbing.fastest).max()):
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


def would_stand(rubbing: Rubbing, state: State, i: int, pushing: Iterable[int]) -> bool:
    """Whether a slip in space that is as good as none would be held, with all other contacts as they are."""
    if rubbing.slip(state, i)[0] > CAUGHT * rubbing.usual(rubbing.order.index(i)):
        return False
    members = rubbing.shares.members if rubbing.shares is not None else {*pushing, *rubbing.guides}
    may = {j: (STICK if j == i else rubbing.word(j),) for j in sorted(members)}
    problem = rubbing.problem(state, may, {j for j in may if j != i and rubbing.signs.get(j)})
    return admitted(problem, solved(problem, tuple(mode for (mode,) in may.values()))) is not None
