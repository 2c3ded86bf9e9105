"""Impacts that graze: limits that are reached so slowly that errors of the motion decide whether they are reached.

A gap that is about to turn by itself, with g̈ > 0, would dip below zero by γ²/2g̈ at most. Where that is less than what
the tolerance leaves open, there may be no impact, and as the impulse grows with the root of the depth, what follows is
not determined to the tolerance.
"""

from typing import TYPE_CHECKING

import numpy as np

from zwang.lowering.lowered import Matrices
from zwang.motion.contact.acting import acting
from zwang.motion.contact.decide import solution
from zwang.motion.start import State

if TYPE_CHECKING:
    from zwang.motion.contact.machine import Machine

SHARPLY = 1e3  # times the usual acceleration of a gap: none turns more sharply


def looked_at(machine: "Machine", i: int, speed: float) -> bool:
    """Whether the impact of contact i at such a speed may graze."""
    return 0 < speed <= slow(machine, i)


def slow(machine: "Machine", i: int) -> float:
    """Up to which speed impacts of contact i may graze; the first one that does is told of, and no other: 0 then."""
    if machine.grazed or i in machine.rates or not machine.total.steps:
        return 0.0
    scales, mobility = machine.scales, max(float(machine.now.mobility[i]), 0.0)
    turns = float(np.sqrt(mobility)) * scales.drive * float(scales.reach[i]) + float(scales.pace[i]) ** 2
    return float(np.sqrt(SHARPLY * machine.setup.tol * turns))


def grazes(machine: "Machine", i: int, state: State, now: Matrices, closed: list[int]) -> bool:
    """Whether contact i grazes at a state, others being closed; friction is left out."""
    setup, speed = machine.setup, float(now.residual_rate[i])
    law = acting(setup, state, now, machine.span)
    plain = law is None and not closed and not machine.equal
    a = now.free if plain else solution(setup, state, now, closed, law).q
    turns = float(now.A[i] @ a - now.b[i])
    return turns > 0 and speed**2 <= 2 * turns * setup.tol * float(machine.scales.reach[i])


def told(machine: "Machine") -> tuple[str, ...]:
    """A sentence of doubt where an impact grazes."""
    names = machine.setup.system.constraint_names
    return tuple(
        f"Not vouched for: the impact of {names[i]!r} at t = {t:.9g} grazes, at a speed of {speed:.3g}: the tolerance "
        f"does not decide whether it happens, nor what follows."
        for t, i, speed in machine.grazed
    )
