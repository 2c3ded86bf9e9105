"""Several contacts with friction in space, all at once.

Each of them may be open, stick or slide in any direction, and there are no modes to try one by one: the direction of a
slip that begins depends on all others. So forces are found first, by sweeps from contact to contact, each of which
takes what its law asks for (`engines.stepping.sweeps`: De Saxcé's complementarity on cones). They tell the mode and
about the directions, and what follows is exact: directions by Newton's method on

    F = −μ N γ/|γ|  with γ the slips that the forces cause,

then the mode with these as in the plane. What is found is a solution; that there is no other was not shown, but it is
looked for from several sides.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import TINIEST, Array
from zwang.engines.stepping.sweeps import solve
from zwang.motion.contact.directions import Ways, aimed, directed
from zwang.motion.contact.problem import (
    BACK,
    CLOSED,
    FORTH,
    LEAVE,
    LEAVE_BACK,
    LEAVE_FORTH,
    LEAVE_STICK,
    OPEN,
    SIGN,
    STICK,
    Found,
    Problem,
)
from zwang.motion.contact.rough import admitted, different, solved
from zwang.motion.contact.units import mass_units
from zwang.motion.start import State

SWEPT = 1e-13  # of the largest speed: what sweeps may leave of the laws of contacts
SWEPT_WELL = 1e-8  # of the largest speed: what they may leave where they take long
MOST_ROUNDS = 3_000
STANDS = 1e-9  # of the terms of a slip, or of a gap: below, it stands
FARTHER = (100.0, 1e3, 1e4)  # moments ahead at which it is looked what a mode gives way to
LEFT = {STICK: LEAVE_STICK, FORTH: LEAVE_FORTH, BACK: LEAVE_BACK, CLOSED: LEAVE}


@dataclass(frozen=True)
class Reached:
    """A solution: the problem with slips that begin along their directions, the mode in it, and these by surface."""

    problem: Problem
    found: Found
    ways: Ways


def undecided(problem: Problem) -> list[int]:
    """Surfaces in space of which it is not known how they slip, if they do."""
    return [k for k, s in enumerate(problem.surfaces) if s.across is not None and len(s.may) > 1]


@dataclass(frozen=True)
class Responses:
    """Speeds of all rows of contacts, W f + c, with forces f; x = `free` + X f.

    Contact `whose[j]` has the rows from first[j] to first[j + 1], its normal and then its slips. One whose normal
    impulse is given appears once more: with a normal of its own, that moves nothing else, it is pressed by just that.
    """

    W: Array
    c: Array
    sizes: Array
    """(r,) how large speeds could be with the energy that the forces, or the motion before an impact, have."""
    free: Array
    X: Array
    first: NDArray[np.intp]
    whose: tuple[int, ...]

    def normals(self, f: Array, count: int) -> Array:
        """(count,) normal forces of all contacts, beside those that are given."""
        found = np.zeros(count)
        for j, k in reversed([*enumerate(self.whose)]):  # that which is given appears behind
            found[k] = f[self.first[j]]
        return found


def responses(problem: Problem) -> Responses:
    """How the contacts of a problem move each other."""
    rows: list[Array] = []
    columns: list[Array] = []
    right: list[float] = []
    alone: list[tuple[int, float]] = []
    first, whose, Q = [0], [], problem.Q.copy()
    n = len(Q)
    for k, s in enumerate(problem.surfaces):
        if s.may == (OPEN,):
            continue
        known = next((state for state in s.may if state in SIGN), None) if s.slips else None
        column = s.n if known is None or s.t is None else s.n - s.mu_k * SIGN[known] * s.t
        Q += s.given * column
        slips = [] if s.t is None or known is not None else [(s.t, s.stuck)]
        slips += [] if s.across is None else [(s.across, s.stuck_across)]
        for given in (False, True) if s.given and slips else (False,):
            if given:
                alone.append((len(rows), s.given))
            rows += [np.zeros(n) if given else s.n, *(t for t, _ in slips)]
            columns += [np.zeros(n) if given else column, *(t for t, _ in slips)]
            right += [0.0 if given else s.least, *(b for _, b in slips)]
            first.append(len(rows))
            whose.append(k)
    R, columns_of = np.array(rows).reshape(-1, n), np.array(columns).reshape(-1, n)
    e = len(problem.equal)
    saddle = np.zeros((n + e, n + e))
    saddle[:n, :n], saddle[:n, n:], saddle[n:, :n] = problem.M, -problem.equal.T, problem.equal
    units = mass_units(problem.M, problem.equal)
    lengths = np.abs(problem.equal / units).max(axis=1, initial=0.0)
    scale = np.concatenate([units, np.where(lengths > 0, lengths, 1.0)])
    load = np.zeros((n + e, 1 + len(R)))
    load[:n, 0], load[n:, 0], load[:n, 1:] = Q, problem.right, columns_of.T
    x = np.linalg.lstsq(saddle / scale[:, None] / scale, load / scale[:, None], rcond=1e-12)[0] / scale[:, None]
    free, X = x[:n, 0], x[:n, 1:]
    W, c = R @ X, R @ free - right
    energy = max(float(problem.free @ problem.M @ problem.free), float(free @ problem.M @ free))
    sizes = np.sqrt(np.abs(np.diagonal(W)) * max(energy, 0.0)) + np.abs(right)
    for row, push in alone:
        W[row, row] = float(np.abs(np.diagonal(W)).max()) or 1.0
        c[row] = -push * W[row, row]
    return Responses(W, c, sizes, free, X, np.array(first, dtype=np.intp), tuple(whose))


def swept(problem: Problem, with_: Responses, begin: Array) -> Array | None:
    """Forces that obey all laws as well as sweeps find them; None if they do not.

    What holds by its friction of sticking and slides all the same is rubbed by that of sliding.
    """
    surfaces = [problem.surfaces[k] for k in with_.whose]
    mu = np.array([s.mu_s for s in surfaces])
    size = max(float(with_.sizes.max(initial=0.0)), float(np.abs(with_.c).max(initial=0.0)), TINIEST)
    f = begin
    for _ in range(len(surfaces) + 1):
        found = solve(with_.W, with_.c, with_.first, mu, f, SWEPT * size, MOST_ROUNDS)
        if not found.left <= SWEPT_WELL * size:
            return None
        f = found.x
        again = mu.copy()
        for j, (s, a, b) in enumerate(zip(surfaces, with_.first, with_.first[1:], strict=False)):
            if mu[j] > s.mu_k and np.linalg.norm(found.u[a + 1 : b]) > STANDS * size:
                again[j] = s.mu_k
        if (again == mu).all():
            return f
        mu = again
    return f


def told(problem: Problem, with_: Responses, f: Array) -> tuple[tuple[str, ...], Ways]:
    """The mode that forces tell, and directions of slips that begin."""
    x = with_.free + with_.X @ f
    mode, ways = [], {}
    for k, s in enumerate(problem.surfaces):
        if s.may == (OPEN,):
            mode.append(OPEN)
            continue
        j = with_.whose.index(k)
        sizes = with_.sizes[with_.first[j] : with_.first[j + 1]]
        opens = s.n @ x - s.least > STANDS * sizes[0]
        state = CLOSED
        if s.t is not None:
            slip = np.array([s.t @ x - s.stuck, 0.0 if s.across is None else s.across @ x - s.stuck_across])
            state = FORTH if slip[0] >= 0 or s.across is not None else BACK
            if s.slips:
                state = next(e for e in s.may if e in SIGN)
            elif np.hypot(*slip) <= STANDS * np.linalg.norm(sizes[1:]):
                state = STICK
            elif s.across is not None:
                ways[k] = slip / np.hypot(*slip)
        if opens and s.given:
            state = LEFT[state]
        elif opens and OPEN in s.may:
            state = OPEN
        if state == OPEN:
            ways.pop(k, None)
        mode.append(state)
    return tuple(mode), ways


def starts(with_: Responses) -> Iterator[Array]:
    """Forces to begin with: those that would hold everything, none, and normal ones that are large."""
    held = np.asarray(-np.linalg.lstsq(with_.W, with_.c, rcond=1e-12)[0])
    yield held
    yield np.zeros(len(with_.c))
    large = np.zeros(len(with_.c))
    large[with_.first[:-1]] = 10 * np.abs(held).max(initial=0.0)
    yield large


def reached(problem: Problem) -> list[Reached]:
    """The solutions that are different, as far as they are found."""
    with_ = responses(problem)
    every: list[Reached] = []
    seen: list[tuple[str, ...]] = []
    for begin in starts(with_):
        f = swept(problem, with_, begin)
        if f is None:
            continue
        mode, ways = told(problem, with_, f)
        if mode in seen:
            continue
        seen.append(mode)
        one = exactly(problem, mode, ways, with_.free + with_.X @ f, with_.normals(f, len(mode)))
        if one is not None:
            every.append(one)
    kept = different(problem, [one.found for one in every])
    return [one for one in every if any(one.found is found for found in kept)]


def exactly(problem: Problem, mode: tuple[str, ...], ways: Ways, x: Array, normal: Array) -> Reached | None:
    """A mode with directions, x and normal forces that are nearly right, exactly; None if it is none."""
    directions = directed(problem, mode, ways, x, normal)
    if directions is None:
        return None
    there = aimed(problem, directions)
    found = admitted(there, solved(there, mode))
    return None if found is None else Reached(there, found, directions)


def soon(
    problem_at: Callable[[State], Problem],
    state: State,
    moment: Callable[[Array, float], State],
    excluded: tuple[str, ...] | None,
) -> list[tuple[Reached, Ways]]:
    """What contacts do a moment later, where it is decided who lifts, sticks and slides; and the directions by then.

    A mode that cannot go on is excluded: what follows begins so slowly that it is looked for ever farther ahead.
    """
    here = problem_at(state)
    known = reached(here)
    found: list[tuple[Reached, Ways]] = []
    begin: list[tuple[Array, Reached | None]] = [(one.found.x, one) for one in known] or [(here.free, None)]
    for x, first in begin:
        for ahead in FARTHER if excluded else (1.0,):
            later = reached(problem_at(moment(x, ahead)))
            later = [one for one in later if one.found.mode != excluded]
            if later:
                break
        for one in later:
            same = first is not None and first.found.mode == one.found.mode
            found.append((one, first.ways if first is not None and same else one.ways))
    return found
