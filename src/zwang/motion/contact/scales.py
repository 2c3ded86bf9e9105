"""What is small beside the terms of gaps and their rates, judged by what is large along the motion."""

from collections.abc import Callable, Sequence

import numpy as np

from zwang.arrays import EPS, Array
from zwang.evaluation import contact_scale
from zwang.lowering.lowered import Matrices

ROUNDED_GAP = 4 * EPS  # of the terms of a gap
HIDDEN_GAP = 1e3  # times the rounding of a gap, below which it is not told from zero
NOT_MOVED = 10.0  # times what is not told from zero beside where forces could have taken it: a gap below has not moved
STILL = 512 * EPS  # of the largest accelerations, in the kinetic-energy metric: below, those of gaps are rounding
AHEAD = (1 / 64, 1.0)  # of the span: when else it is asked what acts, for loads may be balanced at the start
LINGERS = 1e-6  # of the largest speeds: a gap that opens with less may be rounding for a while
HEAVY = 0.5  # of the least that a row moves by a unit of force where M is regular, Σ a²/m over the number of masses
LEAST = 1e-100  # a slack where no scale is known: any that products of do not underflow


class Scales:
    """How large the terms of gaps have been along a motion, and those of their rates; they only grow."""

    def __init__(self, rows: Sequence[int], count: int, rates: Sequence[int] = (), span: float = 0.0) -> None:
        """Of the contacts among so many constraints, with nothing seen yet; `rates` are limits of velocities.

        `span` is how long the motion may last.
        """
        self.rows, self.rates, self.span = list(rows), list(rates), span
        self.could = np.zeros(count)
        """Where the motion could have taken gaps: what has not moved is judged by that, wherever the origin is."""
        self.reach, self.pace = np.zeros(count), np.zeros(count)
        self.drive, self.speed = 0.0, 0.0
        """The largest acceleration by forces and by what moves constraints, √(aᵀMa), and the largest speed, √(vᵀMv)."""

    def see(self, now: Matrices, t: float | Array, q: Array, v: Array) -> None:
        """Look at a state, or at several (T, …).

        Time is rounded, too: where a surface moves, its part of the gap is known no better than the instant.
        """
        slope = np.abs(now.A)
        moving = np.nan_to_num(now.residual_rate - (now.A @ v[..., None])[..., 0])
        reach = np.nan_to_num(now.size) + (slope @ np.abs(q)[..., None])[..., 0]
        reach = reach + np.abs(moving) * np.abs(np.asarray(t))[..., None]
        pace = np.nan_to_num(now.rate_size) + (slope @ np.abs(v)[..., None])[..., 0]
        self.reach = np.maximum(self.reach, reach if reach.ndim == 1 else reach.max(axis=0))
        self.pace = np.maximum(self.pace, pace if pace.ndim == 1 else pace.max(axis=0))
        self.reach[self.rates] = self.pace[self.rates]

    def feel(self, now: Matrices, v: Array) -> None:
        """What acts at a state, and how fast it is there."""
        square = float((now.Q + now.C) @ now.free)
        self.drive = max(self.drive, float(np.sqrt(max(square, 0.0))))
        self.speed = max(self.speed, float(np.sqrt(max(float(v @ now.M @ v), 0.0))))
        length = max(self.drive * self.span**2, self.speed * self.span)
        self.could[self.rows] = np.maximum(self.could, np.sqrt(np.maximum(now.mobility, 0.0)) * length)[self.rows]

    def expect(self, at: Callable[[float], Matrices], t: float, v: Array) -> None:
        """What will act where the motion begins: nothing may move there yet, and loads may be balanced."""
        for share in AHEAD:
            then = at(t + share * self.span)
            if all(np.isfinite(part).all() for part in (then.M, then.Q, then.C, then.A, then.b)):
                self.drive = max(self.drive, float(np.sqrt(stirred(then))))
                self.feel(then, v)

    def still(self, now: Matrices, i: int) -> float:
        """An acceleration of the gap of contact i that rounding of positions makes where nothing accelerates it.

        What is at rest in its equilibrium has no terms of its own to judge that by: it is beside what the forces along
        the motion could do. It is never zero: where nothing has acted yet, what is to come is watched for all the same.
        """
        return max(STILL * float(np.sqrt(max(float(now.mobility[i]), 0.0))) * self.drive, LEAST)

    def go(self, now: Matrices, v: Array, time: float | Array) -> None:
        """A stretch of the motion that began with velocities v and took so long, or several (T, …)."""
        far = (np.abs(now.A) @ np.abs(v)[..., None])[..., 0] * np.asarray(time)[..., None]
        self.reach = np.maximum(self.reach, far if far.ndim == 1 else far.max(axis=0))
        self.reach[self.rates] = self.pace[self.rates]

    def hurry(self, now: Matrices, v: Array) -> None:
        """The largest velocities of a stretch: limits of velocities are judged by them."""
        if self.rates:
            self.pace[self.rates] = np.maximum(self.pace[self.rates], np.abs(now.A[self.rates]) @ v)
            self.reach[self.rates] = self.pace[self.rates]

    def rounding(self, i: int) -> float:
        """What of the gap of contact i is rounding: never zero, or what leaves it would not be seen to cross."""
        unmoved = self.reach[i] <= NOT_MOVED * HIDDEN_GAP * ROUNDED_GAP * self.could[i]
        return max(ROUNDED_GAP * float(self.could[i] if unmoved else self.reach[i]), LEAST)

    def flat(self, i: int) -> float:
        """A gap of contact i that is not told from zero."""
        return HIDDEN_GAP * self.rounding(i)

    def lingers(self, now: Matrices, i: int) -> bool:
        """Whether the gap of contact i is at zero and leaves it slowly, if at all."""
        slow = LINGERS * float(self.pace[i])
        return bool(now.residual[i] <= self.flat(i) and abs(now.residual_rate[i]) <= slow)

    def near(self, now: Matrices, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """(m,) how small a gap and its rate are that count as zero."""
        self.see(now, t, q, v)
        self.feel(now, v)
        gaps, rates = contact_scale(now, q, now.size), contact_scale(now, v, now.rate_size)
        gaps[self.rates] = rates[self.rates]
        gaps[self.rows] = np.maximum(gaps[self.rows], [self.flat(i) for i in self.rows])
        return gaps, rates


def stirred(now: Matrices) -> float:
    """The largest aᵀMa of accelerations that one constraint asks for by itself: surfaces and guides may move.

    A row along which nothing has mass asks for none: M is singular there, and pseudo-inverses leave it no answer.
    """
    if not now.b.any():
        return 0.0
    mass = np.diagonal(now.M)
    light = np.divide(now.A**2, mass, out=np.zeros_like(now.A), where=mass > 0).sum(axis=1)
    able = (len(mass) * now.mobility >= HEAVY * light) & ~(now.A[:, mass <= 0] != 0).any(axis=1) & (light > 0)
    return float((now.b[able] ** 2 / now.mobility[able]).max(initial=0.0))
