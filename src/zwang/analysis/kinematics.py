"""Positions, velocities, accelerations and forces of driven mechanisms at given times, without integrating.

Where drivers and joints leave nothing free, φ(q, t) = 0 determines the positions: Newton's method finds them from those
at the time before, q + v Δt, and so stays on its branch; steps are halved where it might not. Velocities and
accelerations follow from linear equations, the forces from the report of a motion.
"""

import time as clock
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.arrays import EPS, Array
from zwang.engines.native.engine import compiled
from zwang.engines.task import REMEDY, Status, Trajectory
from zwang.errors import InputError, SimulationError, ZwangError
from zwang.linalg.factors import direction
from zwang.linalg.rank import row_norms, row_rank
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.rows import RowBasis
from zwang.model import System
from zwang.model.has_system import HasSystem, start_of_one, system_of
from zwang.motion.assemble import assemble, natural_units
from zwang.motion.observe import Segment, how_it_ended, report, values_of
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare
from zwang.motion.redundant import integrate_watched
from zwang.motion.resets.watched import Watched
from zwang.motion.setup import Setup
from zwang.motion.start import Start, basis_at, first_basis, start_of
from zwang.results.dataset import VARIABLES
from zwang.waiting import waiting
from zwang.words import count, listed

if TYPE_CHECKING:
    import xarray as xr

NEAR_ENOUGH = 0.02  # natural units by which a position may differ from where it was expected
EXPECTED = 0.25  # the same, as a share of the way that was expected
SHORTEST = 1e-11  # share of the span of times: steps are not halved beyond it
NEWTON_STEPS = 8  # from where a position is expected to where it is
ACROSS_IT = 1e-3  # natural units across a singular position
STEPS_BY_HAND = 100  # between two times, about two turns; then the engine goes on, which takes a thousand a millisecond
FAR_TOL = 1e-10  # of the engine: nearer than any two ways in which a mechanism may be assembled


def kinematics(
    system: System | HasSystem,
    guess: Mapping[Any, float] | None = None,
    times: ArrayLike = (),
    parameters: Mapping[Any, Any] | None = None,
    throw: bool = True,
) -> "xr.Dataset":
    """The motion of a driven mechanism at given times, by Newton's method: the dataset of `simulate`.

    Constraints on positions must leave nothing free: drivers are constraints in which time occurs. The guess is
    brought onto the constraints at the first of the `times`, which ascend; from there on the mechanism stays assembled
    as it is. A mechanism's guess is its own start. Multipliers of drivers are their forces.

    At a dead point the mechanism cannot follow its driver: then a `SimulationError` carries the positions up to there,
    and says what becomes dependent and what is free; with `throw=False` they are returned. Singular positions that are
    passed, where the mechanism could go on otherwise, are told in `message`, if no constraint is redundant.
    `energy_balance` is not computed.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> crank = zw.System((x, y), kinetic=(zw.dot(x)**2 + zw.dot(y)**2)/2,
    ...                   constraints={"arm": x**2 + y**2 - 4, "driver": y - zw.t})
    >>> motion = zw.kinematics(crank, {x: 2, y: 0}, [0, 1, 1.5])
    >>> motion.q.sel(coordinate="x").values.round(9)
    array([2.        , 1.73205081, 1.32287566])
    """
    began, given = clock.perf_counter(), system
    system = system_of(given, "kinematics", parameters)
    grid = times_of(times)
    with waiting("looking for positions"):
        state = start_of_one(given, guess, parameters, float(grid[0]), "guess")
        state = assemble(system, state, parameters=parameters, t=float(grid[0]))
        start = start_of(system, state, float(grid[0]), parameters)
        options = RunOptions(until=float(grid[-1]) if len(grid) > 1 else float(grid[0]) + 1.0, t=float(grid[0]))
        setup = prepare(system, start.values, options)
        require_driven(start)
        march = March(setup, first_basis(setup, start), grid)
        path = march.all(start)
        motion = told(setup, march, path, clock.perf_counter() - began)
    if isinstance(given, HasSystem):
        motion = given.dressed(motion, parameters)
    if throw and path.status in REMEDY:
        raise SimulationError(motion.attrs["message"], str(path.status), motion)
    return motion


def times_of(times: ArrayLike) -> Array:
    """Times as an array, ascending."""
    try:
        grid = np.array(times, dtype=float).ravel()
    except (TypeError, ValueError):
        raise InputError(f"times = {times!r}: numbers are needed") from None
    if not len(grid):
        raise InputError("times is empty: list the times at which positions are wanted")
    if not np.isfinite(grid).all() or (np.diff(grid) <= 0).any():
        raise InputError("times must be finite and ascend")
    return grid


def require_driven(start: Start) -> None:
    """Refuse systems whose positions time does not determine, naming what is free."""
    system, n = start.system, len(start.system.coordinate_names)
    order = np.array([c.order for c in system.constraints], dtype=int)
    found = start.ranked
    rows = found.scaled[order == 0]
    held = int(row_rank(rows[None])[0]) if len(rows) else 0
    if held == n:
        return
    later = [c.name for c in system.constraints if c.order > 0]
    if found.rank == n and later:
        raise InputError(
            f"positions are not determined by time: {listed(map(repr, later), 4)} "
            f"{'is' if len(later) == 1 else 'are'} not on positions; write drivers as position = function of time, or "
            f"integrate with zwang.simulate"
        )
    unit = rows / row_norms(rows)[:, None] if len(rows) else np.zeros((0, n))
    way = np.linalg.svd(unit)[2][-1] / found.units
    raise InputError(
        f"positions are not determined by time: {count(n - held, 'degree')} of freedom "
        f"{'is' if n - held == 1 else 'are'} left, such as {direction(way, system.coordinate_names)}; add a driver, a "
        f"constraint in which time occurs, or integrate with zwang.simulate"
    )


@dataclass(eq=False)
class March:
    """From one time to the next, on the rows chosen at the start; chosen anew where these become dependent."""

    setup: Setup
    basis: RowBasis
    grid: Array
    evaluations: int = 0
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """The code of Newton's steps, and room for what goes in."""
        program = self.setup.program("projection", self.basis)
        self.kernel = compiled(program)
        zero = np.zeros(len(self.setup.system.coordinate_names))
        named = self.setup.named(program, (0.0, zero, zero))
        self.row = np.concatenate([np.ravel(named[name]) for name in program.inputs])[None]
        self.places = {name: self.kernel.inputs[name] for name in ("t", "q", "v")}
        self.out = self.kernel.outputs

    def read(self, t: float, q: Array, v: Array) -> Array:
        """Newton's steps at a state: dq, dv and residuals, packed."""
        row = self.row[0]
        row[self.places["t"]], row[self.places["q"]], row[self.places["v"]] = t, q, v
        self.evaluations += 1
        return np.asarray(self.kernel.on_rows(self.row)[0])

    def position(self, t: float, q: Array, v: Array, unit: Array) -> tuple[Array, float]:
        """The position at a time nearest to an expected one, and how far it is from there; infinite if none is."""
        begin, last = q, np.inf
        for _ in range(NEWTON_STEPS):
            dq = self.read(t, q, v)[self.out["dq"]]
            size = float(np.abs(dq / unit).max(initial=0.0))
            if not np.isfinite(size):
                return q, np.inf
            q = q + dq
            rounding = 4 * EPS * max(1.0, float(np.abs(q / unit).max(initial=0.0)))
            if size <= rounding or (size < 1e-12 and size > last / 2):
                return q, float(np.abs((q - begin) / unit).max(initial=0.0))
            last = size
        return q, np.inf

    def velocity(self, t: float, q: Array, v: Array) -> Array:
        """The velocity at a position: linear equations, solved twice for the last digits."""
        for _ in range(3):
            dv = self.read(t, q, v)[self.out["dv"]]
            v = v + dv
            if np.abs(dv).max(initial=0.0) <= 4 * EPS * np.abs(v).max(initial=0.0):
                break
        return v

    def step(self, t: float, q: Array, v: Array, until: float, unit: Array) -> tuple[float, Array, Array] | None:
        """The state at a time not later than `until`; None where the mechanism cannot go on."""
        dt = until - t
        shortest = SHORTEST * max(self.grid[-1] - self.grid[0], abs(t), abs(until))
        while dt > shortest or dt == until - t:
            expected = v * dt
            there, off = self.position(t + dt if dt < until - t else until, q + expected, v, unit)
            way = float(np.abs(expected / unit).max(initial=0.0))
            if off <= max(NEAR_ENOUGH, EXPECTED * way) and way <= 1.0:
                now = t + dt if dt < until - t else until
                return now, there, self.velocity(now, there, v)
            dt /= 2
        return None

    def far(self, t: float, q: Array, v: Array, until: float, unit: Array) -> tuple[float, Array, Array] | None:
        """The state at a time that is many turns away, by the motion to there; None where that does not come so far.

        Constraints determine the motion, and so the engine's steps stay as the mechanism is assembled.
        """
        setup = replace(self.setup, drift="projection", tol=FAR_TOL)
        try:
            zero = Watched(setup, self.basis, (t, q, v)).zeros()
            segments, path = integrate_watched(setup, (t, q, v), np.array([t, until]), None, self.basis, zero)
        except ZwangError:
            return None
        if path.status is not Status.FINISHED:
            return None
        expected = segments[-1].q[-1]
        there, off = self.position(until, expected, segments[-1].v[-1], unit)
        return (until, there, self.velocity(until, there, v)) if off <= ACROSS_IT else None

    def beyond(self, t: float, q: Array, v: Array, unit: Array) -> tuple[float, Array, Array] | None:
        """The state a little later and straight on, across a singular position; None where there is none."""
        dt = ACROSS_IT / max(float(np.abs(v / unit).max(initial=0.0)), ACROSS_IT)
        there, off = self.position(t + dt, q + v * dt, v, unit)
        return (t + dt, there, self.velocity(t + dt, there, v)) if off <= ACROSS_IT else None

    def all(self, start: Start) -> Trajectory:
        """The states at all times, as far as the mechanism can go."""
        t, q, v = start.state
        unit = natural_units(q, start.matrices.size, start.matrices.A, start.matrices.M)
        unit = np.asarray(unit, dtype=float)
        q, _ = self.position(t, q, v, unit)
        v = self.velocity(t, q, v)
        positions, velocities, steps = [q], [v], 0
        for until in map(float, self.grid[1:]):
            own = steps
            while t < until:
                far = steps == own + STEPS_BY_HAND
                found = self.far(t, q, v, until, unit) if far else None
                found = found or self.step(t, q, v, until, unit)
                steps += 1
                if found is None:
                    fresh = basis_at(self.setup, (t, q, v))
                    if fresh != self.basis:  # other rows may serve where these do not
                        self.basis = fresh
                        self.__post_init__()
                        found = self.step(t, q, v, until, unit)
                if found is None and (beyond := self.beyond(t, q, v, unit)) is not None and beyond[0] <= until:
                    found = beyond
                if found is None:
                    words = self.dead_point((t, q, v), beyond is not None)
                    return self.path(Status.SINGULAR, positions, velocities, (t, q, v), steps, words)
                t, q, v = found
            positions.append(q)
            velocities.append(v)
        return self.path(Status.FINISHED, positions, velocities, (t, q, v), steps)

    def path(
        self,
        status: Status,
        q: list[Array],
        v: list[Array],
        end: tuple[float, Array, Array],
        steps: int,
        words: str = "",
    ) -> Trajectory:
        """What was found, as engines tell it."""
        notes = (words,) if words else ()
        return Trajectory(status, np.array(q), np.array(v), end, steps=steps, evaluations=self.evaluations, notes=notes)

    def dead_point(self, state: tuple[float, Array, Array], passable: bool) -> str:
        """What becomes dependent at a dead point, or where branches meet, and what is free there."""
        now, system = self.setup.matrices(*state), self.setup.system
        masses = np.sqrt(np.maximum(np.diagonal(now.M), 0.0))
        units = np.where(masses > 0, masses, 1.0)
        A = now.A / units
        U, _, Vt = np.linalg.svd(A / row_norms(A)[:, None])
        n = A.shape[1]
        share = np.abs(U[:, n - 1])
        rows = [repr(system.constraint_names[i]) for i in np.argsort(-share)[:4] if share[i] > 0.1 * share.max()]
        way = Vt[n - 1] / units
        way = np.where(np.abs(way) > 0.05 * np.abs(way).max(), way, 0.0)
        free = f"{listed(rows)} become dependent there, and leave {direction(way, system.coordinate_names)} free"
        if passable:
            return f"A singular position: {free}; branches meet there, so leave out times as near to it as this one."
        return f"A dead point: {free}; no position beyond is near."


def passed(setup: Setup, times: Array, q: Array, v: Array) -> list[str]:
    """Where singular positions were passed between two times, in words: there a determinant changes its sign."""
    if len(setup.system.constraint_names) != q.shape[1] or len(times) < 2:  # of redundant rows others may take over
        return []
    A = matrix_kernel(setup.system, setup.inputs)(times, q, v, setup.p).A
    sign = np.linalg.slogdet(A)[0]
    changed = np.flatnonzero(sign[1:] * sign[:-1] < 0)
    words = [f"t = {times[i]:.6g} and {times[i + 1]:.6g}" for i in changed[:3]]
    if not words:
        return []
    more = f", and {len(changed) - 3} times more" if len(changed) > 3 else ""
    return [
        f"Between {listed(words)}{more} a singular position was passed, where branches meet: it was taken to go "
        f"straight on."
    ]


def told(setup: Setup, march: March, path: Trajectory, seconds: float) -> "xr.Dataset":
    """The dataset, with what happened on the way."""
    saved = march.grid[: len(path.q)]
    segment = Segment(march.basis, saved, path.q, path.v, setup.p)
    values = values_of(setup, [segment])
    values["work"] = np.full(len(saved), np.nan)
    message = " ".join([how_it_ended((), path), *passed(setup, saved, path.q, path.v)])
    motion = report(setup, saved, values, path, message, seconds, list(VARIABLES))
    motion.attrs |= {"method": "kinematics", "tol": 0.0}
    return motion
