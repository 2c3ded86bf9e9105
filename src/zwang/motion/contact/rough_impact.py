"""Impacts with friction: which contacts stick and slide while velocities jump.

|Λ_T| ≤ μΛ_N, against the slip γ_T⁺: the laws of closed contacts are those of accelerations (`rubbing`), with momenta in
the place of forces.
"""

from collections.abc import Mapping

import numpy as np

from zwang.arrays import Array
from zwang.engines.task import Status
from zwang.lowering.lowered import Matrices
from zwang.motion.contact.acting import Acting, striking
from zwang.motion.contact.impact import AT_REST, Impact, Stop, natural_speeds
from zwang.motion.contact.problem import LEAVES, STICKS, Found, Problem, Surface, frictionless
from zwang.motion.contact.resolve import resolve
from zwang.motion.contact.rubbing import TRIED, Rubbing
from zwang.motion.start import State
from zwang.nonsmooth import coulomb, guide, push
from zwang.words import listed

CLOSES = 1e-11  # of the terms of γ⁺: below, a contact is closed after an impact
GAINS_NOTHING = 1e-12  # of the energy: an impact that gains more has gained


def rough_impact(
    rubbing: Rubbing, state: State, now: Matrices, which: list[int], restitution: Array, law: str
) -> tuple[Impact, Array]:
    """An impact with friction, by Newton's law of restitution or Poisson's, and γ⁺ of the contacts.

    Impulses of guides stand behind those of the contacts. By Poisson's law a plastic impact comes first, then one
    that gives the part ε of its normal impulses back.
    """
    v, slips, contacts = state[2], rubbing.setup.slips(state), which
    which = [*which, *rubbing.guides]
    rubbing.fastest = np.maximum(rubbing.fastest, np.abs(v))
    moving, law_of_forces = now.residual_rate - now.A @ v, striking(rubbing.setup, state)
    drift = {i: slips["slip"][rubbing.places(i)] - slips["A"][rubbing.places(i)] @ v for i in rubbing.order}
    if law == "moreau":
        least = {i: float(-restitution[i] * now.residual_rate[i] - moving[i]) for i in which}
        found = phase(rubbing, now, slips["A"], state, least, drift, {}, law_of_forces)
        after, normal, tangential = found.x, found.normal, found.friction
    else:
        least = {i: float(-moving[i]) for i in which}
        first = phase(rubbing, now, slips["A"], state, least, drift, {}, law_of_forces)
        given = {i: float(restitution[i] * push) for i, push in zip(which, first.normal, strict=True)}
        given |= dict.fromkeys(rubbing.guides, 0.0)
        middle = state[0], state[1], first.x
        found = phase(rubbing, now, slips["A"], middle, least, drift, given, law_of_forces)
        after, normal, tangential = found.x, first.normal + found.normal, first.friction + found.friction
    rubbing.caught = {i for i, mode in zip(which, found.mode, strict=True) if mode in STICKS}
    gained = 0.5 * float((after - v) @ now.M @ (after + v))
    works = -normal * moving[which]
    for k, friction in enumerate(tangential):
        if which[k] in drift:
            works[k] -= float(friction[: len(drift[which[k]])] @ drift[which[k]])
    work, energy = float(works.sum()), 0.5 * float(v @ now.M @ v)
    if gained - work > GAINS_NOTHING * max(energy, abs(work)):
        name = rubbing.setup.system.constraint_names[which[0]]
        words = f"The impact of {name!r} would gain the energy {gained - work:.6g} by impacts={law!r} with friction."
        raise Stop(Status.ENERGY_GAIN, words)
    speeds = now.A[which] @ after + moving[which]
    size = np.abs(now.A[which]) @ (np.abs(v) + np.abs(after)) + np.abs(moving[which])
    # by Poisson's law other contacts may take from a bounce all there is: what parts is known by its speed alone
    parts = [speed if mode in LEAVES else 0.0 for speed, mode in zip(speeds, found.mode, strict=True)]
    due = restitution[which] * np.abs(now.residual_rate[which]) if law == "moreau" else np.array(parts)
    natural = AT_REST * natural_speeds(now.M, now.A[which], v)
    bounces = due > np.maximum(AT_REST * size, natural)  # what rests beside an impact has speeds of rounding
    slow = np.maximum(CLOSES * size, natural)
    touching = (np.abs(speeds) <= slow) & ~(bounces & (normal > 0))
    mine = slice(len(contacts))
    return Impact(after, normal, work - gained, works, touching[mine]), np.asarray(speeds[mine])


def phase(
    rubbing: Rubbing, now: Matrices, slip_A: Array, state: State, least: Mapping[int, float],
    drift: Mapping[int, Array], given: Mapping[int, float], law: Acting | None,
) -> Found:  # fmt: skip
    """One phase of an impact, from velocities v on: the one solution there is."""
    way = resolve(collision(rubbing, now, slip_A, state[2], least, drift, given, law))
    rubbing.unproven |= {*way.unproven}
    names = rubbing.setup.system.constraint_names
    if way.several:
        which, modes = way.several[0]
        who = listed([repr(names[i]) for i in which])
        raise Stop(Status.SEVERAL_SOLUTIONS, f"{len(modes)} velocities obey the impact of {who} with friction.")
    if way.found is None:
        who = listed([repr(names[i]) for i in way.none])
        if way.impossible:
            raise Stop(Status.NO_SOLUTION, f"No velocities obey the impact of {who} with friction.")
        raise Stop(Status.UNDECIDED, f"No velocities that obey the impact of {who} with friction were found; {TRIED}.")
    rubbing.note_interval(way.found, state[0])
    return way.found


def collision(
    rubbing: Rubbing, now: Matrices, slip_A: Array, v: Array, least: Mapping[int, float], drift: Mapping[int, Array],
    given: Mapping[int, float], law: Acting | None,
) -> Problem:  # fmt: skip
    """What contacts and guides obey in a phase of an impact, for velocities."""
    equal, surfaces = rubbing.equal, []
    for i, limit in least.items():
        low = max(given.get(i, 0.0), 0.0)
        if i not in rubbing.friction:
            surfaces.append(frictionless(i, now.A[i], limit, push(low)))
            continue
        (mu_s, mu_k), which = rubbing.friction[i], rubbing.places(i)
        slides = guide(mu_k, len(which), mu_s) if i in rubbing.guides else coulomb(mu_k, len(which), mu_s, low)
        surfaces.append(Surface(i, now.A[i], limit, slip_A[which], -drift[i], slides))
    return Problem(now.M, now.M @ v, now.A[equal], now.A[equal] @ v, tuple(surfaces), tuple(equal), law)
