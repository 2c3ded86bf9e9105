"""Which closed contacts push, right after an instant at which something has changed.

Accelerations decide: of the contacts that are closed (gap and its rate are zero), those push that Gauss's principle
with inequalities says, q̈ = arg min ½|q̈ − a|²_M with A_E q̈ = b_E and n q̈ ≥ b. At the instant itself that may be
undecided: a contact whose force has just vanished neither pushes nor leaves. So it is asked a moment later, where the
motion goes; and what has lifted is out, whatever rounding says (what just happened decides, not a tolerance).
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import EPS, Array
from zwang.engines.task import Status
from zwang.errors import InconsistentError
from zwang.evaluation import names_of, uncertainty
from zwang.formulations.solve import Names, solve_named
from zwang.linalg.rank import row_rank
from zwang.lowering.lowered import Matrices
from zwang.motion.contact.acting import Acting, acting
from zwang.motion.contact.impact import Stop
from zwang.motion.contact.problem import FREE, Problem, frictionless
from zwang.motion.contact.resolve import resolve
from zwang.motion.contact.units import mass_units
from zwang.motion.setup import Setup
from zwang.motion.start import State
from zwang.nonsmooth import push
from zwang.words import listed

SOON = 1e-6  # how far ahead to look, in terms of the time in which the motion changes
SLOW = 1e-3  # of the span: a motion at rest does not change faster than in this
OPENS = 1e-9  # of the terms of g̈: a gap that accelerates faster than this opens
UNLOADED = 1e-11  # of the forces around: a normal force below is zero as far as can be seen
MOST_SHARING = 1000  # contacts beyond those that coordinates tell apart: their loads take n³ of time, n² of memory
NONE: Mapping[int, float] = MappingProxyType({})


@dataclass(frozen=True)
class Decision:
    """Contacts by what they do from here on; the numbers are those of constraints."""

    pushing: tuple[int, ...]
    resting: tuple[int, ...]
    """Closed, and held by those that push: their rows follow from theirs, and how the load is shared is not known."""
    opening: tuple[int, ...]
    shared: tuple[int, ...]
    """Contacts whose normal forces are not unique."""


def require_few(setup: Setup, closed: Set[int]) -> None:
    """Stop where so many more contacts are closed at once than can be independent that it would take gigabytes."""
    own = len(setup.system.coordinate_names)
    if len(closed) - own > MOST_SHARING:
        raise Stop(
            Status.CHATTERING,
            f"{len(closed):,} contacts are closed at once where {own:,} at most can be told apart by the motion: leave "
            f"those out that say the same as others, or use contacts='steps'.",
        )


def decide(
    setup: Setup, state: State, closed: Set[int], lifted: Set[int], span: float, still: Mapping[int, float] = NONE
) -> Decision:
    """What closed contacts do from a state on; those that have just lifted do not push.

    `still` has accelerations of gaps that are rounding.
    """
    may = sorted(closed - lifted)
    now, found = a_moment_later(setup, state, may, span)
    x, unique = found.q, found.unique
    pushes = {i: float(found.multipliers[i]) for i in may}
    opening_at = now.A @ x - now.b
    size = np.abs(now.A) @ (np.abs(x) + np.abs(found.free)) + np.abs(now.b)
    leaves = {i for i in closed if opening_at[i] > max(OPENS * size[i], still.get(i, 0.0))}
    equal = [i for i, c in enumerate(setup.system.constraints) if not c.one_sided]
    pushing: list[int] = []
    scaled = now.A / mass_units(now.M, now.A[equal])
    rank = int(row_rank(scaled[None, equal])[0]) if equal else 0
    for i in sorted((i for i in may if i not in leaves), key=lambda i: (-pushes[i], i)):
        grown = int(row_rank(scaled[None, [*equal, *pushing, i]])[0])
        if grown > rank + len(pushing):
            pushing.append(i)
    held = [*equal, *pushing]
    rank = int(row_rank(scaled[None, held])[0]) if held else 0
    for i in sorted(lifted & closed - leaves):  # it opens however slowly, unless those that push hold it
        if int(row_rank(scaled[None, [*held, i]])[0]) > rank:
            leaves.add(i)
    resting = tuple(i for i in sorted(closed) if i not in leaves and i not in pushing)
    shared = tuple(i for i in sorted(closed) if i not in leaves and not unique[i])
    return Decision(tuple(sorted(pushing)), resting, tuple(sorted(leaves)), shared)


def pressed(setup: Setup, state: State, closed: Set[int], unloaded: Set[int], span: float) -> set[int]:
    """Contacts whose forces have vanished, but whose gaps would close without them: their forces only touched zero."""
    if not unloaded:
        return set()
    now, found = a_moment_later(setup, state, sorted(closed), span)
    size = np.abs(now.A) @ (np.abs(found.q) + np.abs(found.free)) + np.abs(now.b)
    return {i for i in unloaded if now.A[i] @ found.q - now.b[i] < -OPENS * size[i]}


@dataclass(frozen=True)
class Accelerations:
    """q̈, that without any constraint, the multipliers (m,) and whether these are unique."""

    q: Array
    free: Array
    multipliers: Array
    unique: NDArray[np.bool_]


def a_moment_later(setup: Setup, state: State, may: list[int], span: float) -> tuple[Matrices, Accelerations]:
    """The matrices a moment later, and what happens there if only some contacts may push.

    Switches that are at zero here are so there, too: what becomes of them is decided along with the contacts.
    """
    now = setup.matrices(*state)
    law = acting(setup, state, now, span)
    later = moment_later(state, solution(setup, state, now, may, law).q, span)
    now = setup.matrices(*later)
    then = acting(setup, later, now, span, law.on) if law else None
    return now, solution(setup, later, now, may, then)


def solution(setup: Setup, state: State, now: Matrices, may: list[int], law: Acting | None) -> Accelerations:
    """What happens if only some contacts may push; equalities always do."""
    if law is not None:
        return by_law(setup, now, may, law)
    one_sided = np.array([c.one_sided for c in setup.system.constraints], dtype=bool)
    rows = [i for i in range(len(one_sided)) if not one_sided[i] or i in may]
    names = names_of(setup.system)
    asked: dict[str, Any] = {
        "C": now.C, "form": "fundamental", "rank_tol": None, "one_sided": one_sided[rows], "v": None,
        "names": Names(names.coordinates, tuple(names.rows[i] for i in rows)),
    }  # fmt: skip
    try:
        found = solve_named(now.M, now.Q, now.A[rows], now.b[rows], **asked)
    except InconsistentError:  # perhaps because velocities that should be zero are rounding
        slack = uncertainty(now, *state[1:])[rows]
        found = solve_named(now.M, now.Q, now.A[rows], now.b[rows], **asked, slack=slack)
    lam, unique = np.zeros(len(one_sided)), np.ones(len(one_sided), dtype=bool)
    lam[rows], unique[rows] = found.multipliers, found.unique
    return Accelerations(np.asarray(found.acceleration), np.asarray(found.free_acceleration), lam, unique)


def by_law(setup: Setup, now: Matrices, may: list[int], law: Acting) -> Accelerations:
    """The same where forces depend on multipliers, or hold at switches."""
    constraints, names = setup.system.constraints, setup.system.constraint_names
    equal = [i for i, c in enumerate(constraints) if not c.one_sided]
    surfaces = [frictionless(i, now.A[i], float(now.b[i]), push()) for i in may]
    problem = Problem(now.M, now.Q + now.C, now.A[equal], now.b[equal], tuple(surfaces), tuple(equal), law)
    way = resolve(problem)
    if way.found is None or way.several:
        who = listed([repr(names[i]) for i in may or setup.system.reactions])
        forces = f"{who} with the forces that depend on multipliers or switches"
        if way.several:
            raise Stop(Status.SEVERAL_SOLUTIONS, f"{len(way.several[0][1])} accelerations obey {forces}.")
        raise Stop(Status.UNDECIDED, f"No accelerations were found that obey {forces}.")
    lam, unique = np.zeros(len(constraints)), np.ones(len(constraints), dtype=bool)
    lam[equal], lam[may] = way.found.multipliers, way.found.normal
    for family in way.found.families:
        for k in family.surfaces:
            unique[may[k]] = float(np.abs(family.normal[k]).max()) <= FREE
    return Accelerations(way.found.x, now.free, lam, unique)


def moment_later(state: State, a: Array, span: float, moments: float = 1.0, most: float = np.inf) -> State:
    """The state a short time later, or several times that; at most so long."""
    t, q, v = state
    speed, pace = float(np.abs(v).max()), float(np.abs(a).max())
    scale = max(speed / pace, SLOW * span) if pace > 0 else span
    tau = min(moments * SOON * min(span, scale), most)
    return t + tau, q + tau * v + tau**2 / 2 * a, v + tau * a


def unloaded(now: Matrices, i: int, still: float) -> float:
    """A normal force of contact i that is zero as far as can be seen: a small share of what would hold it.

    So is one that only keeps an acceleration down that is rounding, `still`.
    """
    size, mobility = np.abs(now.A[i]) @ np.abs(now.free) + np.abs(now.b[i]), float(now.mobility[i])
    return float(max(UNLOADED * size, still) / mobility) if mobility > 0 else EPS
