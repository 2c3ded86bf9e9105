"""What closed contacts do at a state: the modes, forces and accelerations, or velocities, that obey all their laws.

Where forces depend on multipliers, F(λ, σ), they are linear around where the multipliers and the shares of switches
are, and the nonsmooth problem with these is solved again until both agree: Newton's method with the exact derivative
(Josephy and Newton), in which modes may change from step to step. A switch at zero is dry friction with the bound one.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from zwang.arrays import EPS, Array
from zwang.engines.task import Status
from zwang.motion.contact.acting import Acting, Push
from zwang.motion.contact.impact import Stop
from zwang.motion.contact.problem import FREE, Found, Problem, aimed, mode_of, words
from zwang.nonsmooth import Answer, Columns, Mode, Solution, box, in_mode, parts, respond, solve
from zwang.nonsmooth import Problem as Nonsmooth
from zwang.nonsmooth.uniqueness import UNIQUE

NEWTONS_MOST = 40  # of Newton's method, which doubles its digits at each
HALVED = 0.5  # of a step, where whole ones have not come to an end
SOLVED = 64 * EPS  # of the multipliers: a step that changes them by less is the last one

Solver = Callable[[Nonsmooth], list[Answer]]
"""What finds the solutions of the parts of a problem, one or more, or none, of each."""


@dataclass(frozen=True)
class Resolved:
    """What was found of a problem: one solution, and which constraints have several, or none."""

    found: Found | None
    several: tuple[tuple[tuple[int, ...], tuple[tuple[str, ...], ...]], ...] = ()
    """Constraints that may do different things, and what in words, part by part."""
    none: tuple[int, ...] = ()
    """Constraints for which nothing was found,"""
    impossible: bool = False
    """and whether it was shown that there is nothing."""
    unproven: tuple[int, ...] = ()
    """Constraints of which not all modes were tried."""


def resolve(problem: Problem, begin: Mode | None = None) -> Resolved:
    """What surfaces do; `begin` is the mode to begin with, as the one of an instant before."""
    answers: list[Answer] = []

    def solver(nonsmooth: Nonsmooth) -> list[Answer]:
        known = begin is not None and len(begin.held) == len(nonsmooth.laws)
        answers[:] = solve(nonsmooth, begin if known else None)
        return answers

    found = with_law(problem, solver) if problem.law is not None else linear(problem, None, solver, False)
    rows = [s.row for s in problem.surfaces]

    def those(answer: Answer) -> tuple[int, ...]:
        return tuple(rows[k] for k in answer.part.blocks.tolist() if k < len(rows))

    several = tuple(
        (those(each), tuple(words_of_part(problem, each, one) for one in each.solutions))
        for each in answers
        if len(each.solutions) > 1
    )
    failed = [each for each in answers if not each.solutions]
    none = tuple(i for each in failed for i in those(each)) if failed else tuple(rows) if found is None else ()
    impossible = problem.law is None and any(each.impossible for each in failed)
    return Resolved(found, several, none, impossible, tuple(i for a in answers if not a.complete for i in those(a)))


def words_of_part(problem: Problem, answer: Answer, one: Solution) -> tuple[str, ...]:
    """What the surfaces of a part do in one of its solutions."""
    blocks = [k for k in answer.part.blocks.tolist() if k < len(problem.surfaces)]
    part = Problem(problem.M, problem.Q, problem.equal, problem.right, tuple(problem.surfaces[k] for k in blocks))
    return words(part, one.mode)


def solved(problem: Problem, names: tuple[str, ...], ways: Mapping[int, Array] | None = None) -> Found | None:
    """The forces of a mode, whether its conditions hold or not; None if it has none. Switches find their shares."""
    problem = aimed(problem, names, ways or {})
    mode = mode_of(problem, names, ways or {})

    def solver(nonsmooth: Nonsmooth) -> list[Answer]:
        speeds = nonsmooth.c[len(problem.rows[1]) :]  # of switches: those that move go on as they do, to begin with
        whole = Mode(
            np.append(mode.held, np.zeros(len(speeds), dtype=bool)),
            np.append(mode.stick, speeds == 0),
            np.vstack([mode.along, np.column_stack([-np.sign(speeds), 0 * speeds])]),
        )
        free = np.arange(len(whole.held)) >= len(names)
        answers = []
        for part in parts(nonsmooth):
            one = in_mode(part.problem, whole.of(part.blocks), free[part.blocks])
            answers.append(Answer(part, () if one is None else (one,)))
        return answers

    return with_law(problem, solver, True) if problem.law is not None else linear(problem, None, solver, True)


def linear(problem: Problem, push: Push | None, solver: Solver, given: bool) -> Found | None:
    """The solution with forces that are linear in multipliers; None if there is none, or masses do not determine it."""
    law, (R, targets), n = problem.law, problem.rows, len(problem.M)
    laws, Q, right, along = tuple(s.law for s in problem.surfaces), problem.Q, targets, None
    if law is not None and push is not None:
        Q = push.rest + (problem.Q if law.impulsive else 0.0)
        none = np.zeros(n)
        S = R.copy()
        for s, at in zip(problem.surfaces, problem.first, strict=True):
            S[at] += push.by_row.get(s.row, none)
        G = problem.equal + np.array([push.by_row.get(i, none) for i in problem.held]).reshape(-1, n)
        which = list(law.on)
        R, S = np.vstack([R, law.J[which]]), np.vstack([S, -push.by_share])
        right, laws = np.append(right, law.right[which]), laws + tuple(box(1.0) for _ in which)
        along = Columns(G, S)
    response = respond(problem.M, problem.equal, problem.right, Q, R, right, along)
    if response is None:
        return None
    nonsmooth = Nonsmooth(response.W, response.c, laws)
    answers = solver(nonsmooth) if laws else []
    if not all(each.solutions for each in answers):
        return None
    pieces = tuple(Answer(each.part, each.solutions[:1], each.complete) for each in answers)
    found = Found(problem, nonsmooth, response, pieces, given, np.zeros(0))
    f = found.solution.f if laws else np.zeros(0)
    S, G = (R, problem.equal) if along is None else (along.rows, along.equal)
    multipliers = along_rows(problem, G, problem.M @ found.x - Q - S.T @ f) if len(G) else np.zeros(0)
    shares = {} if law is None else dict(zip(law.on, (-f[len(targets) :]).tolist(), strict=True))
    return replace(found, multipliers=multipliers, shares=shares)


def along_rows(problem: Problem, G: Array, force: Array) -> Array:
    """(e,) the multipliers of equalities that make a force along their columns G: the shortest, rows of one length."""
    lengths = np.abs(G / problem.units).max(axis=1)
    lengths = np.where(lengths > 0, lengths, 1.0)
    rows = G / problem.units / lengths[:, None]
    return np.asarray(np.linalg.lstsq(rows.T, force / problem.units, rcond=1e-12)[0] / lengths)


def with_law(problem: Problem, solver: Solver, given: bool = False) -> Found | None:
    """The solution with forces that depend on multipliers: Newton's method; None if it is not found."""
    law = problem.law
    assert law is not None
    for multipliers, length in beginnings(problem, law, solver, given):
        found = by_newton(problem, law, solver, multipliers, length, given)
        if found is not None:
            break
    if law.impulsive and law.grows(dict.fromkeys(law.on, 1.0) if found is None else found.shares):
        words = "Nonideal forces grow faster there than the multipliers they depend on: they have no impulse."
        raise Stop(Status.NO_SOLUTION, words)
    return found


def beginnings(problem: Problem, law: Acting, solver: Solver, given: bool) -> Iterator[tuple[dict[int, float], float]]:
    """Multipliers to begin with, and what part of a step is made: none; those without such forces; and with care."""
    yield {}, 1.0
    plain = linear(problem, law.push({}, {}), solver, given)
    begin = {} if plain is None else by_row(problem, plain)
    yield begin, 1.0
    yield {i: -x for i, x in begin.items()}, 1.0
    yield begin, HALVED


def by_row(problem: Problem, found: Found) -> dict[int, float]:
    """Multipliers by constraint."""
    known = dict(zip(problem.held, found.multipliers.tolist(), strict=True))
    return known | {s.row: float(f) for s, f in zip(problem.surfaces, found.normal, strict=True)}


def by_newton(
    problem: Problem, law: Acting, solver: Solver, multipliers: dict[int, float], length: float, given: bool
) -> Found | None:
    """Newton's method from multipliers on; None if it does not come to an end."""
    rows, shares = list(law.setup.system.reactions), dict.fromkeys(law.on, 0.0)
    rounding = rounding_of(problem)
    for _ in range(NEWTONS_MOST):
        found = linear(problem, law.push(multipliers, shares), solver, given)
        if found is None:
            return None
        before, after = (np.array([known.get(i, 0.0) for i in rows]) for known in (multipliers, by_row(problem, found)))
        moved = np.abs(after - before).sum(), sum(abs(found.shares[k] - share) for k, share in shares.items())
        still = SOLVED * (np.abs(after).sum() + np.abs(before).sum()) + rounding
        if moved[0] <= still and moved[1] <= SOLVED * 2 * len(shares):
            return found
        part = before + length * (after - before)
        multipliers = by_row(problem, found) | dict(zip(rows, part.tolist(), strict=True))
        shares = {k: share + length * (found.shares[k] - share) for k, share in shares.items()}
    return None


def rounding_of(problem: Problem) -> float:
    """The rounding of forces over the length of the shortest row: multipliers are not known better."""
    rows = np.vstack([problem.equal, *(s.n[None] for s in problem.surfaces)])
    lengths = np.linalg.norm(rows, axis=1)
    return SOLVED * float(np.abs(problem.Q).sum()) / float(lengths[lengths > 0].min(initial=np.inf))


def interval(found: Found) -> tuple[int, float, float] | None:
    """Where x is not unique: of the entry of x that may differ the most, in units of mass, its least and most."""
    units = found.problem.units
    size = UNIQUE * float((units * np.abs([found.x, found.problem.free])).max(initial=EPS))
    widest = None
    for family in found.families:
        if not family.moves:
            continue
        changes = units * np.abs(family.x).max(axis=1)
        for i in np.flatnonzero(changes > FREE * changes.max()).tolist():
            low, high = family.range_along(family.x[i])
            if units[i] * (high - low) > size:
                size, widest = units[i] * (high - low), (i, float(found.x[i] + low), float(found.x[i] + high))
    return widest
