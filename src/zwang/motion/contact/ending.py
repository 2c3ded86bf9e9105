"""The end of slips in space: their last moment, in which they turn ever faster beside what is left of them.

Near its end a slip of length ρ has a rate that depends on its direction alone. So it goes in with a direction that
settles as slowly as a power of ρ, which on a gentle incline is hardly at all. Steps that take the same share of ρ each
follow it there, however loose the tolerance of the motion is; an engine would look beyond the end, where friction has
turned about.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from zwang.arrays import EPS, TINIEST, Array
from zwang.engines.native.engine import compiled
from zwang.motion.contact.as_before import CAUGHT, would_stand
from zwang.motion.contact.machine import PUSHING, Machine
from zwang.motion.contact.rubbing import ABOUT, STOPS, Rubbing, unit
from zwang.motion.start import State

STOPS_THERE = 1e-5  # of a small slip in space: what its rate leaves of it where it is least, if it vanishes there
WITH_THEM = 1e-2  # of small slips in space where they end: others that are no larger there end with them
FURTHER_IN = 8.0  # times nearer to zero a slip in space is looked at again
NEARER = 0.1  # of a small slip that turns: one step of its last moment takes as much
STRAIGHT = 0.9  # the same of one that has settled on its way
SETTLES = 0.5  # how much slips may settle within a step
CONSTANT = 64 * EPS  # of the terms of rates: a change below is rounding
MOST_SHORTER = 6  # times a step is halved for that

Slips = dict[int, Array]
"""Slips (2,), or their rates, by contact."""


def vanish(of: Machine, rubbed: set[int]) -> set[int]:
    """Of contacts whose friction has changed, all but slips in space that have turned, or pass zero by.

    Small ones are followed until they change at constant rates, and the motion goes on to where they vanish; others
    that do so there, as all slips of a body that comes to rest, are among them. Those that turn until nothing is left
    of them are caught if sticking would hold them.
    """
    rubbing = of.rubbing
    assert rubbing is not None
    sliding = [i for i in rubbing.space if rubbing.signs.get(i)]
    turned = {i for i in rubbed.intersection(sliding) if not rubbing.is_small(of.state, i)}
    rubbed = rubbed - turned
    if not rubbed.intersection(sliding):
        return rubbed
    small = {i for i in sliding if rubbing.is_small(of.state, i)}
    accelerations = accelerating(of)
    while of.state[0] < of.grid[-1]:
        a = accelerations(of.state)
        slips, rates = changing(rubbing, of.state, a, sliding)
        ends = ending({i: slips[i] for i in small}, rates)
        near = min(float(np.hypot(*slips[i])) / rubbing.usual(rubbing.order.index(i)) for i in small) <= STOPS
        if ends and near:
            tau = min(ends.values())
            left = WITH_THEM * max(float(np.hypot(*slips[i])) for i in ends)
            with_them = {i for i in sliding if np.hypot(*(slips[i] + tau * rates[i])) <= left}
            rubbing.headed |= {i: unit(slips[i]) for i in with_them}
            of.go_on(tau, a, ends=True)
            return rubbed - small | with_them
        if held := caught(of, small, slips):
            rubbing.headed |= {i: unit(slips[i]) for i in held}
            return rubbed - small | held
        first = min(small, key=lambda i: float(np.hypot(*slips[i])))
        if not float(slips[first] @ rates[first]) < 0:  # it has passed zero by
            break
        go_in(of, accelerations, small, STRAIGHT if ends else NEARER)
    rubbing.misses |= {i: rubbing.slip(of.state, i)[0] / FURTHER_IN for i in small}
    return rubbed - small


def accelerating(of: Machine) -> Callable[[State], Array]:
    """q̈ in the present mode, at states."""
    held = of.held()
    setup = replace(of.setup, contact=held)
    program = setup.program("acceleration", of.basis(held))
    kernel = compiled(program)
    return lambda state: kernel(**setup.named(program, state))["acceleration"]


def changing(rubbing: Rubbing, state: State, a: Array, which: Iterable[int]) -> tuple[Slips, Slips]:
    """Slips of contacts in space, and their rates."""
    now, places = rubbing.setup.slips(state), {i: rubbing.places(i) for i in which}
    return (
        {i: now["slip"][at] for i, at in places.items()},
        {i: now["A"][at] @ a - now["b"][at] for i, at in places.items()},
    )


def ending(slips: Mapping[int, Array], rates: Mapping[int, Array]) -> dict[int, float]:
    """How long slips last that end at the rates they have."""
    times = {i: -float(slip @ rates[i]) / max(float(rates[i] @ rates[i]), TINIEST) for i, slip in slips.items()}
    return {
        i: tau for i, tau in times.items()
        if tau > 0 and np.hypot(*(slips[i] + tau * rates[i])) <= STOPS_THERE * np.hypot(*slips[i])
    }  # fmt: skip


def caught(of: Machine, small: set[int], slips: Mapping[int, Array]) -> set[int]:
    """Slips of which as good as nothing is left, if all of them together would be held."""
    assert of.rubbing is not None
    left = {i: float(np.hypot(*slips[i])) / of.rubbing.usual(of.rubbing.order.index(i)) for i in small}
    if min(left.values()) > CAUGHT:
        return set()
    gone = {i for i, share in left.items() if share <= ABOUT * CAUGHT}
    pushing = [i for i in of.rows if of.states[i] == PUSHING]
    return gone if would_stand(of.rubbing, of.state, gone, pushing) else set()


def go_in(of: Machine, accelerations: Callable[[State], Array], small: set[int], most: float) -> None:
    """The motion until the smallest slip is nearer to zero by a factor, or no longer comes nearer; not beyond the end.

    Steps of Runge and Kutta's method of order four, each as long as a share of that slip lasts at most, or shorter
    where slips settle faster than that: k₃ − k₂ beside k₂ − k₁ tells.
    """
    assert of.rubbing is not None
    aim, share = 0.0, most
    places = [place for i in sorted(small) for place in of.rubbing.places(i)]
    while of.state[0] < of.grid[-1]:
        t, q, v = of.state
        k1 = accelerations(of.state)
        slips, rates = changing(of.rubbing, of.state, k1, small)
        first = min(small, key=lambda i: float(np.hypot(*slips[i])))
        length = float(np.hypot(*slips[first]))
        aim = aim or length / FURTHER_IN
        if length <= aim or not float(slips[first] @ rates[first]) < 0:
            return
        rows = of.setup.slips(of.state)["A"][places]
        for _ in range(MOST_SHORTER):
            h = share * length / float(np.hypot(*rates[first]))
            k2 = accelerations((t + h / 2, q + h / 2 * v, v + h / 2 * k1))
            k3 = accelerations((t + h / 2, q + h / 2 * v + h * h / 4 * k1, v + h / 2 * k2))
            settles = (
                2 * float(np.linalg.norm(rows @ (k3 - k2))) / max(float(np.linalg.norm(rows @ (k2 - k1))), TINIEST)
            )
            still = CONSTANT * float(np.linalg.norm(np.abs(rows) @ np.abs(k1)))  # what rounding makes of constant rates
            if settles <= SETTLES or float(np.linalg.norm(rows @ (k3 - k2))) <= still:
                break
            share /= 2
        k4 = accelerations((t + h, q + h * v + h * h / 2 * k2, v + h * k3))
        of.go_on(h, (k1 + 2 * k2 + 2 * k3 + k4) / 6)
        share = min(most, 1.25 * share)
