"""Shooting: a start and a period after which a motion is where it began, but for coordinates that may shift.

A start x on the states N that obey the constraints, and a period T, are sought with x(T) = x + s. With B a basis of the
tangent space of N and Φ the sensitivities of the motion by its start, a step of Newton's method is the shortest with

    (Φ B − B) y + ẋ(T) δT = x + s − x(T),    x ← x + B y brought back onto N;

what is held stays. Coordinates whose shift s is not known have no row in it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.analysis.dynamics import Point
from zwang.analysis.neighbours import Neighbours
from zwang.analysis.settle import Search, refused_guess, units_along, units_at
from zwang.arrays import TINIEST, Array
from zwang.errors import AssemblyError, EquilibriumError, InputError, SimulationError
from zwang.model.event import Event
from zwang.motion.sensitivity import sensitivities

RETURNED = 1e-10  # natural units by which a state may miss itself after a period
LONGEST_STEP = 0.3  # of a start, in natural units
SAME_MOTION = 1e-9  # singular values below this share of the largest belong to families of periodic motions
MOST_SHOTS = 40
BOLD_SHOTS = 25  # where steps need not lead nearer
MOST_HALVINGS = 8  # of a step that leads farther away, or where there is no motion
PASSED = 12  # states of a motion by which its natural units are told


@dataclass(frozen=True, eq=False)
class Problem:
    """What is looked for: where a motion may begin, what it does at events, and what may shift in a period."""

    search: Search
    parameters: dict[Any, Any]
    tol: float
    driven: bool
    resets: tuple[Event, ...]
    returns: Any
    """(2n,) which parts of a state are to return"""
    shift: Array
    """(2n,) and by how much they are to differ"""


@dataclass(frozen=True, eq=False)
class Shot:
    """One period from a start: where it ends, and how the end changes along directions on N (d, 2n)."""

    problem: Problem
    point: Point
    period: float
    basis: Array
    end: Array
    ends: Array
    """(d, 2n)"""
    flow: Array
    """(2n,) ẋ at the end"""
    passed: tuple[Array, Array]
    """Positions and velocities (N, n) on the way"""
    unit: Array

    @property
    def moved(self) -> Array:
        """(2n,) x(T) − x."""
        return np.asarray(self.end - np.concatenate([self.point.q, self.point.v]))

    @property
    def gap(self) -> Array:
        """(2n,) x(T) − x − s, in natural units; zero where it may be anything."""
        return np.where(self.problem.returns, (self.moved - self.problem.shift) / self.unit, 0.0)

    @property
    def missed(self) -> float:
        """How far the motion misses its start, in natural units."""
        return float(np.abs(self.gap).max(initial=0.0))

    @property
    def distance(self) -> float:
        """The same as the root of a sum of squares, which Newton's step makes smaller."""
        return float(np.linalg.norm(self.gap))

    @property
    def state(self) -> dict[Any, float]:
        """The start by coordinates and rates."""
        system = self.point.dynamics.system
        values = map(float, np.concatenate([self.point.q, self.point.v]))
        return dict(zip([*system.coordinates, *system.velocities], values, strict=True))

    @property
    def map(self) -> Array:
        """(d, d) B⁺Φ B, in natural units."""
        return np.asarray(self.basis @ (self.ends / self.unit).T)

    def factors(self) -> list[Array]:
        """Factors of that map, of stretches of the motion, if the map itself has lost too many digits; none if not."""
        sizes, problem = np.linalg.svd(self.map, compute_uv=False), self.problem
        if not len(sizes) or sizes[-1] > np.sqrt(problem.tol) * sizes[0]:
            return []
        dynamics, x = problem.search.dynamics, np.concatenate([self.point.q, self.point.v])
        neighbours = Neighbours(dynamics.system, problem.parameters, problem.tol, problem.resets, self.unit)
        try:
            stretches = neighbours.along(dynamics.t, dynamics.t + self.period, x, self.basis.T, count=2)
        except (InputError, SimulationError):
            if neighbours.jumps:  # a stretch may not begin just anywhere among contacts
                return []
            raise
        return [*(stretch.R for stretch in stretches), self.basis @ stretches[-1].directions]


def returned(problem: Problem, q: Array, v: Array, T: float, bold: bool = False) -> Shot:
    """The shot that returns to where it began; `bold` steps need not lead nearer, which gets out of hollows."""
    search = problem.search
    x, unit = np.concatenate([q, v]), units_at(search, q, v)
    shot = shoot(problem, x, T, unit)
    unit = units_along(search, *shot.passed)  # a start may be near zero where the motion is not
    shot = shoot(problem, x, T, unit)
    for _ in range(BOLD_SHOTS if bold else MOST_SHOTS):
        y, dT = step_of(shot)
        length = float(max(np.abs(y).max(initial=0.0), abs(dT) / shot.period))
        if shot.missed <= RETURNED and length <= 1e-12:
            return moving(shot)
        better = nearer(shot, y, dT, min(1.0, LONGEST_STEP / max(length, TINIEST)), bold and shot.missed > RETURNED)
        if better is None:
            if shot.missed <= RETURNED:
                return moving(shot)
            break
        shot = better
    raise EquilibriumError(
        f"no periodic motion was found near the guess: after T = {shot.period:.6g} the state misses itself by "
        f"{shot.missed:.3g} in natural units; give a better guess of the start or the period, or hold less"
    )


def nearer(shot: Shot, y: Array, dT: float, share: float, bold: bool) -> Shot | None:
    """A shot that misses its start by less, a share of a step away; None if there is none. Any shot, if bold."""
    for _ in range(MOST_HALVINGS):
        moved = np.concatenate([shot.point.q, shot.point.v]) + share * y @ shot.basis * shot.unit
        try:
            there = shoot(shot.problem, moved, shot.period + share * dT, shot.unit)
        except (InputError, AssemblyError, SimulationError):  # no motion from there, or one without derivatives
            there = None
        if there is not None and (bold or there.distance < shot.distance):
            return there
        share /= 2
    return None


def moving(shot: Shot) -> Shot:
    """The shot, unless nothing moves in it: an equilibrium has any period."""
    if not shot.problem.driven and np.abs(shot.flow / shot.unit).max(initial=0.0) * shot.period <= RETURNED:
        raise EquilibriumError(
            "what was found near the guess is an equilibrium, which repeats itself after any time: begin farther away "
            "from it, or hold something that keeps the motion going"
        )
    return shot


def shoot(problem: Problem, x: Array, T: float, unit: Array) -> Shot:
    """One period from the state nearest to x that obeys the constraints and keeps what is held."""
    search = problem.search
    n, system, t = search.n, search.dynamics.system, search.dynamics.t
    x, found = search.onto(x, unit)
    if not found:
        raise AssemblyError(refused_guess(search, x))
    point = search.dynamics.at(x[:n], x[n:])
    rows = point.tangent.rows / unit
    basis = np.linalg.qr(rows.T)[0].T
    keys = [*system.coordinates, *system.velocities]
    ways = {str(i): dict(zip(keys, map(float, way * unit), strict=True)) for i, way in enumerate(basis)}
    state = dict(zip(keys, map(float, x), strict=True))
    motion = sensitivities(
        system, state, t + T, ways, samples=PASSED, parameters=problem.parameters, tol=problem.tol, t=t,
        progress=False, events=problem.resets,
    )  # fmt: skip
    end = np.concatenate([motion.q.values[-1], motion.v.values[-1]])
    ends = np.concatenate([motion.dq.values[-1], motion.dv.values[-1]]).T
    last = search.dynamics.at(end[:n], end[n:], t + T)
    flow, passed = np.concatenate([end[n:], last.a]), (motion.q.values, motion.v.values)
    return Shot(problem, point, T, basis, end, ends, flow, passed, unit)


def step_of(shot: Shot) -> tuple[Array, float]:
    """The shortest change of the start, along the basis, and of the period that returns, to first order."""
    point, unit, basis, search = shot.point, shot.unit, shot.basis, shot.problem.search
    G = (shot.ends / unit - basis).T
    allowed = np.eye(len(basis))
    if search.held is not None:
        kept = search.directions(point, unit)  # those that keep what is held
        allowed = kept @ basis.T
    columns, driven = G @ allowed.T, shot.problem.driven
    if not driven:
        columns = np.hstack([columns, (shot.flow / unit * shot.period)[:, None]])
    columns = np.where(shot.problem.returns[:, None], columns, 0.0)
    y = np.linalg.lstsq(columns, -shot.gap, rcond=SAME_MOTION)[0]
    dT = 0.0 if driven else float(y[-1]) * shot.period
    return np.asarray((y if driven else y[:-1]) @ allowed), dT
