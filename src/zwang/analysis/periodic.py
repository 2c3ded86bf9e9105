"""Periodic motions by shooting, and their Floquet multipliers.

A start x on the states N that obey the constraints, and a period T, are sought with x(T) = x. With B a basis of the
tangent space of N and Φ the sensitivities of the motion by its start, a step of Newton's method is the shortest with

    (Φ B − B) y + ẋ(T) δT = x − x(T),    x ← x + B y brought back onto N;

what is held stays. The multipliers are the eigenvalues of B⁺Φ B. A system that does not depend on time has one that is
1, along the motion; a driven one has the period that it is given.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.dynamics import Dynamics, Point, dynamics_of
from zwang.analysis.equilibrium import guessed, holds
from zwang.analysis.linear import depends_on_time
from zwang.analysis.readings import readings_of
from zwang.analysis.settle import Search, refused_guess, units_along, units_at
from zwang.arrays import TINIEST, Array
from zwang.errors import AssemblyError, EquilibriumError, InputError
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, start_of_one, system_of
from zwang.model.values import one_number
from zwang.motion.sensitivity import sensitivities
from zwang.motion.simulate import simulate
from zwang.waiting import waiting
from zwang.words import count

if TYPE_CHECKING:
    import xarray as xr

RETURNED = 1e-10  # natural units by which a state may miss itself after a period
LONGEST_STEP = 0.3  # of a start, in natural units
SAME_MOTION = 1e-9  # singular values below this share of the largest belong to families of periodic motions
ON_THE_CIRCLE = 1e-6  # multipliers this near to the unit circle are on it: a double one is known to half of the digits
REPEATED = 1e-8  # the share by which equations may differ after a period
LOOKED_AT_SHARES = (0.0, 0.137, 0.419, 0.731)  # of a period, where a driven system is looked at and again later
MOST_SHOTS = 40
PASSED = 12  # states of a motion by which its natural units are told


def periodic(
    system: System | HasSystem,
    guess: Mapping[Any, float] | None = None,
    period: float | None = None,
    hold: Any = (),
    parameters: Mapping[Any, Any] | None = None,
    t: float | None = None,
    tol: float = 1e-12,
) -> "xr.Dataset":
    """The periodic motion near a guess of its start and its period, with its Floquet multipliers.

    `hold` lists expressions in coordinates and rates that keep their value at the start, or maps them to one: where
    periodic motions come in families, as those of conservative systems do, it says which one is meant; else the
    nearest is found. A driven system keeps its period. A motion with impacts begins between them.

    The result is the motion of `simulate` over one period, with the variable `floquet`, and attributes `period`,
    `residual` (how far the motion misses its start, in natural units), and a `verdict` in words.

    >>> import zwang as zw
    >>> x = zw.coordinates("x")
    >>> v = zw.dot(x)
    >>> vanderpol = zw.System((x,), kinetic=v**2/2, potential=x**2/2, forces={x: 0.5*(1 - x**2)*v})
    >>> motion = zw.periodic(vanderpol, {x: 2, v: 0}, period=6.3, hold=[v])
    >>> round(motion.attrs["period"], 6), motion.floquet.values.real.round(6)
    (6.380676, array([1.      , 0.039177]))
    >>> motion.attrs["verdict"]
    'stable: neighbours come nearer by a factor of 0.03918 a period'
    """
    given, t = system, one_number(begin_of(system, t), "t")
    system = system_of(given, "periodic", parameters)
    if period is None:
        raise InputError("give period, a guess of the time after which the motion repeats itself")
    T = one_number(period, "period")
    if not T > 0:
        raise InputError(f"period = {T:g}: a positive number is needed")
    dynamics = dynamics_of(system, parameters, t)
    q, v = guessed(system, start_of_one(given, guess, parameters, t, "guess"))
    held, targets = holds(dynamics, hold, q, v, parameters)
    rates = readings_of(dynamics, system.velocities, "constant", parameters)
    search = Search(dynamics, rates, held, targets, rest=False)
    if depends_on_time(dynamics):
        require_period(dynamics, q, v, T)
    with waiting("looking for a periodic motion"):
        shot = returned(search, q, v, T, dict(parameters or {}), tol, depends_on_time(dynamics))
        motion = simulate(given, shot.state, t + shot.period, parameters=parameters, tol=tol, t=t, progress=False)
    values = multipliers(shot)
    motion = motion.assign(floquet=("multiplier_number", values, {"long_name": "Floquet multipliers"}))
    motion.attrs |= {"period": shot.period, "residual": shot.missed, "verdict": verdict(values, shot.driven)}
    return motion


@dataclass(frozen=True, eq=False)
class Shot:
    """One period from a start: where it ends, and how the end changes along directions on N (d, 2n)."""

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
    driven: bool

    @property
    def gap(self) -> Array:
        """(2n,) x(T) − x, in natural units."""
        return np.asarray((self.end - np.concatenate([self.point.q, self.point.v])) / self.unit)

    @property
    def missed(self) -> float:
        """How far the motion misses its start, in natural units."""
        return float(np.abs(self.gap).max(initial=0.0))

    @property
    def state(self) -> dict[Any, float]:
        """The start by coordinates and rates."""
        system = self.point.dynamics.system
        values = map(float, np.concatenate([self.point.q, self.point.v]))
        return dict(zip([*system.coordinates, *system.velocities], values, strict=True))


def returned(
    search: Search, q: Array, v: Array, T: float, parameters: dict[Any, Any], tol: float, driven: bool
) -> Shot:
    """The shot that returns to where it began."""
    x, unit = np.concatenate([q, v]), units_at(search, q, v)
    shot = shoot(search, x, T, unit, parameters, tol, driven)
    unit = units_along(search, *shot.passed)  # a start may be near zero where the motion is not
    shot = shoot(search, x, T, unit, parameters, tol, driven)
    for _ in range(MOST_SHOTS):
        y, dT = step_of(search, shot)
        length = float(max(np.abs(y).max(initial=0.0), abs(dT) / shot.period))
        if shot.missed <= RETURNED and length <= 1e-12:
            return moving(shot)
        share = min(1.0, LONGEST_STEP / max(length, TINIEST))
        better = None
        for _ in range(8):
            moved = np.concatenate([shot.point.q, shot.point.v]) + share * y @ shot.basis * unit
            there = shoot(search, moved, shot.period + share * dT, unit, parameters, tol, driven)
            if there.missed < shot.missed:
                better = there
                break
            share /= 2
        if better is None:
            if shot.missed <= RETURNED:
                return moving(shot)
            break
        shot = better
    raise EquilibriumError(
        f"no periodic motion was found near the guess: after T = {shot.period:.6g} the state misses itself by "
        f"{shot.missed:.3g} in natural units; give a better guess of the start or the period, or hold less"
    )


def moving(shot: Shot) -> Shot:
    """The shot, unless nothing moves in it: an equilibrium has any period."""
    if not shot.driven and np.abs(shot.flow / shot.unit).max(initial=0.0) * shot.period <= RETURNED:
        raise EquilibriumError(
            "what was found near the guess is an equilibrium, which repeats itself after any time: begin farther away "
            "from it, or hold something that keeps the motion going"
        )
    return shot


def require_period(dynamics: Dynamics, q: Array, v: Array, T: float) -> None:
    """Refuse a period after which a driven system is not the same again."""
    times = dynamics.t + T * np.array(LOOKED_AT_SHARES)
    now, later = ([dynamics.matrices(q, v, float(t + shift)) for t in times] for shift in (0.0, T))
    for name in ("M", "Q", "C", "A", "b", "residual", "residual_rate"):
        x, y = (np.nan_to_num([getattr(one, name) for one in each]) for each in (now, later))
        if np.abs(x - y).max(initial=0.0) > REPEATED * max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0)):
            raise InputError(
                f"the equations are not the same again after period = {T:g}: give a multiple of the period of what "
                f"drives the system"
            )


def shoot(
    search: Search, x: Array, T: float, unit: Array, parameters: dict[Any, Any], tol: float, driven: bool
) -> Shot:
    """One period from the state nearest to x that obeys the constraints and keeps what is held."""
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
        system, state, t + T, ways, samples=PASSED, parameters=parameters, tol=tol, t=t, progress=False
    )
    end = np.concatenate([motion.q.values[-1], motion.v.values[-1]])
    ends = np.concatenate([motion.dq.values[-1], motion.dv.values[-1]]).T
    last = search.dynamics.at(end[:n], end[n:], t + T)
    flow, passed = np.concatenate([end[n:], last.a]), (motion.q.values, motion.v.values)
    return Shot(point, T, basis, end, ends, flow, passed, unit, driven)


def step_of(search: Search, shot: Shot) -> tuple[Array, float]:
    """The shortest change of the start, along the basis, and of the period that returns, to first order."""
    point, unit, basis = shot.point, shot.unit, shot.basis
    G = (shot.ends / unit - basis).T
    allowed = np.eye(len(basis))
    if search.held is not None:
        kept = search.directions(point, unit)  # those that keep what is held
        allowed = kept @ basis.T
    columns = G @ allowed.T
    if not shot.driven:
        columns = np.hstack([columns, (shot.flow / unit * shot.period)[:, None]])
    y = np.linalg.lstsq(columns, -shot.gap, rcond=SAME_MOTION)[0]
    dT = 0.0 if shot.driven else float(y[-1]) * shot.period
    return np.asarray((y if shot.driven else y[:-1]) @ allowed), dT


def multipliers(shot: Shot) -> Any:
    """The eigenvalues of B⁺Φ B, largest first."""
    monodromy = shot.basis @ (shot.ends / shot.unit).T
    values = np.linalg.eigvals(monodromy).astype(complex)
    return values[np.lexsort((-values.imag, -np.abs(values).round(12)))]


def verdict(values: Any, driven: bool) -> str:
    """What becomes of a neighbour, in words; one multiplier of an autonomous system is 1 by structure."""
    left = list(values)
    if not driven and left:
        left.pop(int(np.argmin(np.abs(values - 1))))
    sizes = np.abs(left)
    largest = float(sizes.max(initial=0.0))
    if largest > 1 + ON_THE_CIRCLE:
        which = left[int(sizes.argmax())]
        kind = "turning" if abs(which.imag) > ON_THE_CIRCLE else "flipping sides" if which.real < 0 else "on one side"
        return f"unstable: neighbours go away by a factor of {largest:.4g} a period, {kind}"
    if largest > 1 - ON_THE_CIRCLE:
        on = [w for w in left if abs(abs(w) - 1) <= ON_THE_CIRCLE]
        return f"not to be told at first order: {count(len(on), 'further multiplier')} of size 1"
    return f"stable: neighbours come nearer by a factor of {largest:.4g} a period"
