"""Where a motion comes back near to itself: from there shooting may find what it does not find from a guess.

What attracts draws the motion from the guess towards it; and on a chaotic motion there are returns near every periodic
one. So the motion is followed for a while, and its nearest returns are tried in order.
"""

import numpy as np

from zwang.analysis.phase import all_open, looked_at
from zwang.analysis.shooting import Problem, Shot, returned
from zwang.arrays import Array
from zwang.errors import AssemblyError, EquilibriumError, InputError, SimulationError

PERIODS = 20  # that the motion from a guess is followed
A_PERIOD = 60  # states of each that are compared
TIMES = (0.5, 2.0)  # of the period that is given, between which returns are looked for; a drive has its own
PERIOD_OFF = 0.05  # share by which a period may be off where the start is known better
LOOKS_FOR_A_RETURN = 40_001  # states along a motion: a passage that takes a 10,000th of it is seen
RETURNS_TRIED = 3  # returns that are tried


def found(problem: Problem, q: Array, v: Array, T: float) -> Shot:
    """The periodic motion near a guess, or near a return of the motion from there."""
    try:
        return returned(problem, q, v, T)
    except EquilibriumError as error:
        first = error
    for start, period in (*first_return(problem, q, v, T), *returns(problem, q, v, T)):
        try:
            return returned(problem, *start, period, bold=True)
        except (EquilibriumError, AssemblyError, InputError, SimulationError):
            continue
    raise first


def first_return(problem: Problem, q: Array, v: Array, T: float) -> list[tuple[tuple[Array, Array], float]]:
    """The guess with the period after which its own motion comes nearest to it, near the one that is given.

    Of a start that passes something closely the period has to be known to a share of that passage.
    """
    if problem.driven:
        return []
    motion = looked_at(problem, q, v, (1 + PERIOD_OFF) * T, LOOKS_FOR_A_RETURN)
    late = np.flatnonzero(motion.time.values - problem.search.dynamics.t >= (1 - PERIOD_OFF) * T)
    states = np.hstack([motion.q.values, motion.v.values])
    if not len(late):
        return []
    unit = np.abs(states - states.mean(axis=0)).max(axis=0)
    unit = np.where(unit > 0, unit, 1.0)
    gaps = (states[late] - np.concatenate([q, v]) - problem.shift) / unit
    miss = np.linalg.norm(np.where(problem.returns, gaps, 0.0), axis=1)
    return [((q, v), float(motion.time.values[late[miss.argmin()]]) - problem.search.dynamics.t)]


def returns(problem: Problem, q: Array, v: Array, T: float) -> list[tuple[tuple[Array, Array], float]]:
    """Starts and periods of the nearest returns of the motion from a guess, the nearest first."""
    motion = looked_at(problem, q, v, PERIODS * T, PERIODS * A_PERIOD + 1)
    times, states = motion.time.values, np.hstack([motion.q.values, motion.v.values])
    if len(times) <= A_PERIOD:
        return []
    unit = np.abs(states - states.mean(axis=0)).max(axis=0)
    unit = np.where(unit > 0, unit, 1.0)
    lags = [A_PERIOD] if problem.driven else range(int(TIMES[0] * A_PERIOD), int(TIMES[1] * A_PERIOD) + 1)
    begins, is_open = range(0, len(times), A_PERIOD if problem.driven else 1), all_open(motion)
    near = []
    for lag in lags:
        some = np.array([i for i in begins if i + lag < len(times) and is_open[i]], dtype=int)
        gaps = (states[some + lag] - states[some] - problem.shift) / unit
        miss = np.linalg.norm(np.where(problem.returns, gaps, 0.0), axis=1)
        near += [(float(m), int(i), lag) for m, i in zip(miss, some, strict=True)]
    chosen: list[tuple[float, int, int]] = []
    for one in sorted(near):
        if all(abs(one[1] - other[1]) >= A_PERIOD // 2 for other in chosen):
            chosen.append(one)
        if len(chosen) == RETURNS_TRIED:
            break
    n = len(q)
    return [((states[i, :n], states[i, n:]), float(times[i + lag] - times[i])) for _, i, lag in chosen]
