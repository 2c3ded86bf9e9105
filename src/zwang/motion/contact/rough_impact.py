"""Impacts with friction: which contacts stick and slide while velocities jump.

|Λ_T| ≤ μΛ_N, against the slip γ_T⁺: the modes of closed contacts are those of accelerations (`rough`), with momenta in
the place of forces.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from zwang.arrays import Array
from zwang.engines.task import Status
from zwang.lowering.lowered import Matrices
from zwang.motion.contact.acting import Acting, striking
from zwang.motion.contact.impact import AT_REST, Impact, Stop, natural_speeds
from zwang.motion.contact.problem import (
    BACK,
    CLOSED,
    FORTH,
    LEAVE,
    LEAVE_BACK,
    LEAVE_FORTH,
    LEAVE_STICK,
    LEAVES,
    OPEN,
    STICK,
    STICKS,
    Found,
    Problem,
    Surface,
)
from zwang.motion.contact.rough import MOST_MODES, different
from zwang.motion.contact.rubbing import Rubbing
from zwang.motion.contact.search import some_of
from zwang.motion.contact.shares import least_forces
from zwang.motion.contact.space import solutions as in_space
from zwang.motion.start import State
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
        found = phase(rubbing, now, slips["A"], v, least, drift, {}, law_of_forces)
        after, normal, tangential = found.x, found.normal, [found.friction, found.across]
    else:
        least = {i: float(-moving[i]) for i in which}
        first = phase(rubbing, now, slips["A"], v, least, drift, {}, law_of_forces)
        given = {i: float(restitution[i] * push) for i, push in zip(which, first.normal, strict=True)}
        given |= dict.fromkeys(rubbing.guides, 0.0)
        found = phase(rubbing, now, slips["A"], first.x, least, drift, given, law_of_forces)
        after = found.x
        normal = first.normal + found.normal
        tangential = [first.friction + found.friction, first.across + found.across]
    rubbing.caught = {i for i, mode in zip(which, found.mode, strict=True) if mode in STICKS}
    gained = 0.5 * float((after - v) @ now.M @ (after + v))
    works = -normal * moving[which]
    for k, push in enumerate(np.array(tangential).T):
        if which[k] in drift:
            works[k] -= float(push[: len(drift[which[k]])] @ drift[which[k]])
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
    bounces = due > AT_REST * size
    slow = np.maximum(CLOSES * size, AT_REST * natural_speeds(now.M, now.A[which], v))
    touching = (np.abs(speeds) <= slow) & ~(bounces & (normal > 0))
    mine = slice(len(contacts))
    return Impact(after, normal, work - gained, works, touching[mine]), np.asarray(speeds[mine])


def phase(
    rubbing: Rubbing, now: Matrices, slip_A: Array, v: Array, least: Mapping[int, float], drift: Mapping[int, Array],
    given: Mapping[int, float], law: Acting | None,
) -> Found:  # fmt: skip
    """One phase of an impact, from velocities v on: the one solution there is."""
    found: list[tuple[Problem, Found, dict[int, float]]] = []
    for sides in rubbing.orientations():
        problem = collision(rubbing, now, slip_A, v, least, drift, given, sides, law)
        if problem.count > MOST_MODES:
            rubbing.unproven |= least.keys()
        found += [(problem, one, sides) for one in (in_space(problem) if rubbing.space else some_of(problem))]
    kept = different(problem, [one for _, one, _ in found]) if found else []
    for problem, one, _ in found:
        if any(one is other for other in kept):
            rubbing.require_unique(problem, one)
    if len(kept) != 1:
        names = listed([repr(rubbing.setup.system.constraint_names[i]) for i in least])
        status = Status.SEVERAL_SOLUTIONS if kept else Status.NO_SOLUTION
        raise Stop(status, f"{len(kept) or 'No'} velocities obey the impact of {names} with friction.")
    problem, one, sides = next(entry for entry in found if entry[1] is kept[0])
    one = least_forces(problem, one)
    return replace(one, normal=one.normal * np.array([sides.get(s.row, 1.0) for s in problem.surfaces]))


def collision(
    rubbing: Rubbing, now: Matrices, slip_A: Array, v: Array, least: Mapping[int, float], drift: Mapping[int, Array],
    given: Mapping[int, float], sides: Mapping[int, float], law: Acting | None,
) -> Problem:  # fmt: skip
    """The modes of contacts and guides in a phase of an impact, for velocities."""
    equal, surfaces = rubbing.equal, []
    for i, limit in least.items():
        more, side = given.get(i, 0.0), sides.get(i, 1.0)
        if i not in rubbing.friction:
            may = (LEAVE, CLOSED) if more > 0 else (OPEN, CLOSED)
            surfaces.append(Surface(i, now.A[i], limit, None, 0.0, 0.0, 0.0, may, given=more))
            continue
        leaves = (LEAVE_STICK, LEAVE_FORTH, LEAVE_BACK) if more > 0 else () if i in rubbing.guides else (OPEN,)
        rows, off = slip_A[rubbing.places(i)], -drift[i]
        modes, second = (*leaves, STICK, FORTH, BACK), (None, 0.0)
        if i in rubbing.space:
            modes, second = tuple(m for m in modes if m not in (BACK, LEAVE_BACK)), (rows[1], float(off[1]))
        surfaces.append(
            Surface(
                i, side * now.A[i], side * limit, rows[0], float(off[0]), *rubbing.friction[i], modes, False, more,
                *second, side,
            )
        )  # fmt: skip
    return Problem(now.M, now.M @ v, now.A[equal], now.A[equal] @ v, tuple(surfaces), tuple(equal), law)
