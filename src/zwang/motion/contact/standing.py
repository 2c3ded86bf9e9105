"""How contacts stand at a state: open or closed, who pushes, sticks and slides, and what is in reserve."""

from dataclasses import replace

import numpy as np

from zwang.arrays import Array
from zwang.errors import ZwangError
from zwang.evaluation import contact_scale
from zwang.lowering.large import in_full
from zwang.motion.contact.acting import acting
from zwang.motion.contact.coefficients import coefficients
from zwang.motion.contact.decide import decide, solution
from zwang.motion.contact.impact import Stop
from zwang.motion.contact.problem import BACK, CLOSED, FORTH, STICK
from zwang.motion.contact.rubbing import RoughDecision, Rubbing, margins
from zwang.motion.contact.shares import least_forces
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare
from zwang.motion.setup import Setup
from zwang.motion.start import Start
from zwang.verdict import Standing, Verdict

SPAN = 1.0  # a time to look ahead by small parts of, where no motion is asked for


def verdict_at(start: Start) -> Verdict:
    """The verdict on the constraints at a start, with how contacts stand."""
    return replace(start.verdict, contacts=standings(start))


def standings(start: Start) -> dict[str, Standing]:
    """How each contact, and each equality with friction, stands."""
    constraints, names = start.system.constraints, start.system.constraint_names
    if not any(c.one_sided or c.friction for c in constraints):
        return {}
    now = in_full(start.matrices)
    (t, q, v), rates = start.state, now.residual_rate
    gaps = np.where(np.isnan(now.residual), rates, now.residual)
    near, slow = contact_scale(now, q, now.size), contact_scale(now, v, now.rate_size)
    near = np.where(np.isnan(now.residual), slow, near)
    found = {i: Standing(places(c.order, gaps[i], rates[i], near[i], slow[i]), float(gaps[i]))
             for i, c in enumerate(constraints) if c.one_sided}  # fmt: skip
    closed = {i for i, standing in found.items() if standing.state == "closed"}
    guides = [i for i, c in enumerate(constraints) if c.friction and not c.one_sided]
    found |= {i: Standing("closed", 0.0) for i in guides}
    if (closed or guides) and not any(s.state in ("closing", "beyond") for s in found.values()):
        try:
            options = RunOptions(until=t + SPAN, t=t)
            setup = prepare(start.system, start.values, options, contacts=True)
            found |= loaded(setup, start, closed, gaps)
        except Stop as stop:
            found |= {i: replace(found[i], note=f"{stop.status}: {stop}") for i in (*closed, *guides)}
        except ZwangError as error:  # what is not integrated has no forces here
            found |= {i: replace(found[i], note=str(error)) for i in (*closed, *guides)}
    return {names[i]: found[i] for i in sorted(found)}


def places(order: int, gap: float, rate: float, near: float, slow: float) -> str:
    """Where a contact is, by what it reads."""
    if gap < -near:
        return "closing" if order else "beyond"
    if gap > near or (order == 0 and rate > slow):
        return "open"
    return "closing" if rate < -slow else "closed"


def loaded(setup: Setup, start: Start, closed: set[int], gaps: Array) -> dict[int, Standing]:
    """How contacts that are closed stand: with their forces."""
    assert setup.contact is not None
    friction = coefficients(setup, setup.contact.shown).friction
    if not any(i in friction for i in (*closed, *setup.contact.guides)):
        way = decide(setup, start.state, closed, set(), SPAN)
        now = setup.matrices(*start.state)
        at = solution(setup, start.state, now, sorted(closed), acting(setup, start.state, now, SPAN))
        return {
            i: Standing("open", float(gaps[i])) if i in way.opening
            else Standing("pushing" if i in way.pushing or i in way.shared else "closed", float(gaps[i]),
                          float(at.multipliers[i]), unique=bool(at.unique[i]))
            for i in sorted(closed)
        }  # fmt: skip
    rubbing = Rubbing(setup, friction, SPAN)
    return rough(rubbing, start, rubbing.decide(start.state, closed, set(), {}, set()), gaps)


def rough(rubbing: Rubbing, start: Start, way: RoughDecision, gaps: Array) -> dict[int, Standing]:
    """How contacts stand of which some have friction."""
    members = way.shares.members if way.shares else frozenset(way.pushing)
    words = {1.0: FORTH, -1.0: BACK, 0.0: STICK}
    modes = {i: words[way.signs[i]] if i in way.signs else CLOSED for i in sorted({*members, *rubbing.guides})}
    rubbing.ways = dict(way.ways)
    problem = rubbing.problem(start.state, [*modes], {i: s for i, s in way.signs.items() if s})
    at = least_forces(problem, tuple(modes.values()))
    assert at is not None
    margin = dict(margins(problem))
    found = {i: Standing("open", float(gaps[i])) for i in way.opening}
    found |= {i: Standing("closed", float(gaps[i]), 0.0) for i in way.resting}
    for k, (i, mode) in enumerate(modes.items()):
        normal, both = float(at.normal[k]), at.friction[k]
        force = float(np.hypot(*both)) if both[1] else float(both[0])  # in space, how large it is
        state = {CLOSED: "pushing", STICK: "sticking"}.get(mode, "sliding")
        reserve = rubbing.friction[i][0] * abs(normal) - abs(force) if mode == STICK else None
        gap = 0.0 if i in rubbing.guides else float(gaps[i])
        found[i] = Standing(state, gap, normal, force, reserve, margin.get(i), i not in way.loose)
    return found
