"""Rest on contacts: which one-sided constraints are closed at an equilibrium, and which of them push.

At rest a one-sided constraint is open and without force, or closed with λ ≥ 0. Gauss's quadratic program with the
closed rows, min ½|q̈ − a|²_M with A_E q̈ = 0 and A_I q̈ ≥ 0, tells which is which: at an equilibrium q̈ = 0, and
elsewhere it says which contacts open and where the system would go. Newton's method then runs with the rows that stay
closed as equalities, until it ends, or until it meets another limit.
"""

from dataclasses import dataclass, replace

import numpy as np

from zwang.analysis.dynamics import Dynamics
from zwang.analysis.scan import found_by_scan
from zwang.analysis.settle import ENOUGH, RELAXED, Search, Settled, moved_to, not_found, settle, sought, units_at
from zwang.arrays import EPS, TINIEST, Array
from zwang.errors import EquilibriumError, InfeasibleError, InputError
from zwang.evaluation import limits, names_of
from zwang.formulations.solve import Names, solve_named
from zwang.lowering.lowered import Matrices

OPENING = 1e-9  # of the terms of a gap's acceleration: one that opens faster leaves
LOADED = 1e-11  # of what would hold a contact alone: one that pushes less does not push
CHANGES = 60  # of which contacts are closed, on the way to an equilibrium
FAILURES = 4  # of Newton's method, on the way


@dataclass(frozen=True, eq=False)
class Pressed:
    """What the quadratic program says at rest: accelerations, multipliers of all rows, and what contacts do."""

    a: Array
    multipliers: Array
    unique: Array
    staying: tuple[int, ...]
    """Contacts that stay closed."""
    idle: tuple[int, ...]
    """Those of them that touch without pushing."""
    share: float
    """The largest acceleration, as a share of what it is made of."""


def pressed(dynamics: Dynamics, q: Array, v: Array) -> Pressed:
    """The quadratic program at a state, with the contacts that are at their limit there."""
    now, system = dynamics.all_matrices(q, v), dynamics.system
    at, _ = limits(system, now, q, v)
    touching = np.flatnonzero(at)
    rows = np.flatnonzero(~dynamics.one_sided | at)
    names = names_of(system)
    found = solve_named(
        now.M, now.Q, now.A[rows], now.b[rows], C=now.C, form="fundamental", rank_tol=None,
        one_sided=dynamics.one_sided[rows], v=None, names=Names(names.coordinates, tuple(names.rows[i] for i in rows)),
    )  # fmt: skip
    a = np.asarray(found.acceleration)
    lam, unique = np.zeros(len(at)), np.ones(len(at), dtype=bool)
    lam[rows], unique[rows] = found.multipliers, found.unique
    terms = np.abs(a) + np.abs(np.nan_to_num(found.free_acceleration))
    opening = now.A @ a - now.b > OPENING * (np.abs(now.A) @ terms + np.abs(now.b))
    staying = tuple(int(i) for i in touching if not opening[i])
    idle = tuple(i for i in staying if unique[i] and lam[i] <= LOADED * alone(now, i))
    mass = np.sqrt(np.maximum(np.diagonal(now.M), 0.0))
    size = float((mass * terms).max(initial=0.0))
    return Pressed(a, lam, unique, staying, idle, float((mass * np.abs(a)).max(initial=0.0)) / max(size, TINIEST))


def alone(now: Matrices, i: int) -> float:
    """The multiplier with which contact i alone would hold against the sizes of all forces."""
    size = np.abs(now.A[i]) @ np.abs(np.linalg.lstsq(now.M, np.abs(now.Q) + np.abs(now.C), rcond=None)[0])
    mobility = float(now.A[i] @ np.linalg.lstsq(now.M, now.A[i], rcond=None)[0])
    return float(size + np.abs(now.b[i])) / mobility if mobility > 0 else EPS


def closed_at(dynamics: Dynamics, q: Array, v: Array) -> Dynamics:
    """The system with the contacts closed that push at a state; where one only touches it is refused."""
    if not dynamics.one_sided.any():
        return dynamics
    names = dynamics.system.constraint_names
    if len(over := dynamics.beyond(q, v)):
        raise InputError(
            f"the state is beyond the limit of the one-sided constraint {names[over[0]]!r}: move it back",
            where=("constraints", names[over[0]]),
        )
    found = pressed(dynamics, q, v)
    if found.idle:
        raise InputError(
            f"the one-sided constraint {names[found.idle[0]]!r} touches without pushing: what becomes of a "
            f"disturbance depends on its side; make it an equality if it holds, or leave it out if it does not",
            where=("constraints", names[found.idle[0]]),
        )
    return replace(dynamics, closed=found.staying)


def settled_on_contacts(search: Search, q: Array, v: Array) -> tuple[Search, Settled]:
    """The equilibrium near a guess, and the search in which the contacts are closed that stay so there."""
    dynamics = search.dynamics
    if not dynamics.one_sided.any():
        ended = sought_all_along(search, q, v)
        if not ended.found:
            raise EquilibriumError(not_found(search, ended.point))
        return search, ended
    at, beyond = limits(dynamics.system, dynamics.all_matrices(q, v), q, v)
    closed, releases, failures = tuple(map(int, np.flatnonzero(at | beyond))), 0, 0
    for _ in range(CHANGES):
        tried, begin = closing(search, closed), q
        ended = sought_all_along(tried, q, v)
        q = ended.point.q
        if ended.crossed:
            closed = (*closed, *ended.crossed)
            continue
        if ended.found:
            here = pressed_or_refused(dynamics, q, v)
            if set(closed) <= set(here.staying) and here.share <= ENOUGH:
                return closing(search, here.staying), ended
            releases += 1
        else:  # with these contacts closed there is none: it goes on to others, if there are any
            failures, q = failures + 1, begin
            if failures > FAILURES:
                break
        closed, q = relaxed(search, q, v, releases + 3 * failures)
    raise EquilibriumError(not_found(tried, ended.point))


def sought_all_along(search: Search, q: Array, v: Array) -> Settled:
    """Where the search ends; where there is one freedom all along that, if Newton's method finds nothing."""
    ended = sought(search, q, v)
    return ended if ended.found or ended.crossed else found_by_scan(search, q, v) or ended


def steady_on_contacts(search: Search, q: Array, v: Array) -> tuple[Search, Settled]:
    """The steady motion near a guess, with the contacts closed that are at their limit, or beyond it, in the guess."""
    dynamics = search.dynamics
    if not dynamics.one_sided.any():
        return search, settle(search, q, v)
    names = dynamics.system.constraint_names
    at, beyond = limits(dynamics.system, dynamics.all_matrices(q, v), q, v)
    tried = closing(search, tuple(map(int, np.flatnonzero(at | beyond))))
    ended = sought(tried, q, v)
    if ended.crossed:
        raise EquilibriumError(
            f"on the way to a steady motion the limit of the one-sided constraint {names[ended.crossed[0]]!r} is "
            f"exceeded: begin at the limit if it is closed in the motion, else farther away from it"
        )
    if not ended.found:
        raise EquilibriumError(not_found(tried, ended.point))
    here = pressed_or_refused(dynamics, ended.point.q, ended.point.v)
    if opened := set(tried.dynamics.closed) - set(here.staying):
        raise EquilibriumError(
            f"the steady motion that was found needs the one-sided constraint {names[min(opened)]!r} to pull, which it "
            f"cannot: begin off its limit"
        )
    return closing(search, here.staying), ended


def closing(search: Search, closed: tuple[int, ...]) -> Search:
    """The search with other contacts closed."""
    return replace(search, dynamics=replace(search.dynamics, closed=tuple(sorted(set(closed)))))


def pressed_or_refused(dynamics: Dynamics, q: Array, v: Array) -> Pressed:
    """The quadratic program, as part of a search."""
    try:
        return pressed(dynamics, q, v)
    except InfeasibleError as error:
        raise EquilibriumError(f"no equilibrium was found near the guess: {error}") from None


def relaxed(search: Search, q: Array, v: Array, steps: int) -> tuple[tuple[int, ...], Array]:
    """Contacts that stay closed, and a state some steps farther where the system would go.

    Off a contact that opens, Newton's method may run back into it: each time that one opens it begins farther away.
    """
    closed: tuple[int, ...] = ()
    for _ in range(steps):
        here = pressed_or_refused(search.dynamics, q, v)
        closed, unit = here.staying, units_at(search, q, v)
        way = here.a / unit[: len(q)]
        size = float(np.linalg.norm(way))
        if size <= TINIEST:
            break
        held = closing(search, closed)
        there = moved_to(held, np.concatenate([q + RELAXED / size * way * unit[: len(q)], v]), unit)
        if there is None:
            break
        q = there.q
        if len(over := held.dynamics.beyond(q, v)):
            return (*closed, *map(int, over)), q
    return closed, q
