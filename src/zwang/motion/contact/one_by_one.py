"""Impacts one after the other at one instant, the fastest approach first; there may be infinitely many.

An impact of contact j by itself has the impulse Λ_j = −(1 + ε_j)γ_j / G_jj, G = n M⁻¹ nᵀ within the equalities, and
makes γ + G_·j Λ_j of all speeds: a linear map. Impacts that do not come to an end come in turns sooner or later, and a
turn is linear, too: γ becomes Tγ by the impulses Lγ. Then all of them together are

    Λ = Σ_k L T^k γ,    doubled again and again: Σ_{k < 2m} = Σ_{k < m} (1 + T^m),

which has a limit if what is left of γ vanishes. It is one if the turns stay the same all the way, as where γ → 0 does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zwang.arrays import EPS, TINIEST, Array

MOST_IN_A_ROW = 10_000  # impacts one after the other at one instant
AS_FAST = 1e-9  # of the fastest approach: what is slower by less is as fast, and the first of them collides
LOOK_FROM = 16  # impacts from which on they are looked at for turns, then after twice as many, and so on
TURNS_SEEN = 3  # times that a turn has been seen
MOST_DOUBLINGS = 60
LATE_TURNS = 12  # doublings of a turn after which what is left goes as it does in the end


@dataclass(frozen=True)
class InTurn:
    """Impulses (k,) of all impacts together, whether they came to an end, and what their limit may be off by.

    That is a share of the largest impulse; zero if they were finitely many.
    """

    impulse: Array
    ends: bool
    off: float = 0.0


def in_turn(G: Array, speeds: Array, restitution: Array, rest: Array) -> InTurn:
    """Impacts of contacts with the speeds γ (k,), of which those below `rest` (k,) are none."""
    impulse, order, look = np.zeros(len(speeds)), list[int](), LOOK_FROM
    for _ in range(MOST_IN_A_ROW):
        now = speeds + G @ impulse
        j = fastest(now, rest)
        if j < 0:
            return InTurn(impulse, True)
        impulse[j] -= (1 + restitution[j]) * now[j] / G[j, j]
        order.append(j)
        if len(order) == look:
            look *= 2
            found = accumulated(G, speeds + G @ impulse, restitution, rest, turn_of(order))
            if found is not None:
                return InTurn(impulse + found[0], True, found[1])
    return InTurn(impulse, False)


def fastest(speeds: Array, rest: Array) -> int:
    """The contact that collides next; −1 if none approaches."""
    approaching = np.where(speeds < -rest, speeds, 0.0)
    least = approaching.min(initial=0.0)
    return int(np.flatnonzero(approaching <= (1 - AS_FAST) * least)[0]) if least < 0 else -1


def turn_of(order: list[int]) -> list[int]:
    """The shortest turn that impacts have taken several times at last; none if there is none."""
    for size in range(1, len(order) // TURNS_SEEN + 1):
        turn = order[-size:]
        if order[-TURNS_SEEN * size :] == turn * TURNS_SEEN:
            return turn
    return []


def accumulated(
    G: Array, speeds: Array, restitution: Array, rest: Array, turn: Sequence[int]
) -> tuple[Array, float] | None:
    """Impulses of infinitely many impacts in turn, and what they may be off by; None if they have no limit."""
    if not turn:
        return None
    count = len(speeds)
    T, L = np.eye(count), np.zeros((count, count))
    for j in turn:
        push = -(1 + restitution[j]) / G[j, j] * T[j]
        L[j] += push
        T = T + np.outer(G[:, j], push)
    total, power = L, T
    for _ in range(MOST_DOUBLINGS):
        more = total @ power
        left, size = float(np.abs(more @ speeds).max()), float(np.abs(total @ speeds).max())
        if not left <= 1 / EPS * max(size, 1.0):
            return None
        total, power = total + more, power @ power
        if left <= EPS * size:
            impulse = total @ speeds
            after = speeds + G @ impulse
            keeps = (after >= -rest).all() and stays(G, speeds - after, restitution, T, turn)
            return (impulse, left / size + EPS) if keeps else None
    return None


def stays(G: Array, off: Array, restitution: Array, T: Array, turn: Sequence[int]) -> bool:
    """Whether what is left of speeds, however small, has contacts collide in the same turn."""
    power = T
    for _ in range(LATE_TURNS):
        size = float(np.abs(off := power @ off).max())
        if not size > 0:
            return True  # the turn that was the last one has left nothing
        off, power = off / size, power @ power
        power = power / max(float(np.abs(power).max()), TINIEST)
    among = sorted({*turn})
    for j in [*turn] * TURNS_SEEN:
        k = fastest(off[among], np.zeros(len(among)))
        if k < 0 or among[k] != j:
            return False
        off = off - (1 + restitution[j]) * off[j] / G[j, j] * G[:, j]
    return True
