"""The Taylor engine: q̈ = f(t, q, q̇) integrated by Taylor's method, in double or quadruple precision (heyoka).

At the start t₀ of each step the solution y = (q, q̇) is expanded, y(t₀ + τ) = Σ cₖ τᵏ, to the order N that the
tolerance asks for (20 for 2e-16, 40 for 2e-34), and followed as far as the last coefficients allow: τ ≤ ρ/e², ρ the
radius of convergence. The polynomial is the dense output too, as good as the step itself.

*Defect.* heyoka reads ρ from the last two coefficients. Where symmetry makes those vanish, as at a start at rest,
it takes one enormous step to a wrong state. So each step is held to the equation itself, at three of its points:

    |h| · max |p̈(τ) − f(t₀ + τ, p(τ), ṗ(τ))|  ≤  FAR · tol · max(1, |y|)

A step that fails is halved, which needs no new expansion. The first step is bounded by all coefficients,
τ ≤ min (|y|/|cₖ|)^(1/k) / e², and no step is more than GROWTH times the one before it. The same check carries the
method over kinks (Abs, Piecewise), which no expansion describes: the steps close in on them and start again behind.

*Round-off.* t is rounded first and y then computed there, by Horner's scheme: sums of cₖτᵏ with tabulated powers
would repeat the same rounding errors step after step, ten times worse after a thousand steps of an oscillator.

*Pivots* are expanded along with the motion and the zeros of their polynomials isolated, so that none is stepped over,
however short its visit beyond zero. *Events* need not have expansions: each step is searched for them (`pieces`).

*Breaks.* An expansion ends at each, and the next begins on its other side.

*Counts.* An expansion counts as N evaluations, a point at which the defect is looked at as one.
"""

import math
import time as clock
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.engines.gauss import GAUSS_POINTS, running_integral
from zwang.engines.native.engine import compiled
from zwang.engines.pieces import Met, Search, Watched
from zwang.engines.projection import projected
from zwang.engines.steps import stretches
from zwang.engines.task import (
    PROGRESS_EVERY,
    STEP_LIMIT,
    EventHit,
    Status,
    Task,
    Trace,
    Trajectory,
    volume_of,
)
from zwang.engines.taylor.machine import Machine, Numbers, machine_for, precision_of

DEFECT_PLACES: Final = (0.47, 0.81, 1.0)
"""Where in a step the defect is looked at; it is largest at the end as long as the expansion converges."""
WRONG_STEP: Final = 10.0
"""Sound steps of mechanisms and chains stay below 0.3, or at the level of round-off; wrong ones are far off."""
DEFECT_NOISE: Final = 100.0
"""A defect of so many times what round-off does to the acceleration is put down to round-off, not to the step."""
GROWTH: Final = 8.0
HALVINGS: Final = 60
CREEPING_STEPS: Final = 100  # steps in succession of less than 100 units in the last place of t: the run is stuck


def run(task: Task, precision: str = "double") -> Trajectory:
    """Integrate a task; what was computed before a stop or an interrupt is in the path.

    With precision="quad" everything is computed with 34 digits and rounded at the end; tolerances may then go
    down to 2e-34.
    """
    return integrated(task, precision)[0]


def run_quad(task: Task) -> tuple[Trajectory, NDArray[np.str_], NDArray[np.str_]]:
    """A reference solution: the path, and q and v (T, n) at the saved times with all digits of quadruple precision.

    The tolerance is the least one, whatever the task says. Start and parameters are doubles and taken for exact:
    a parameter that is one tenth belongs into the expressions, as a rational number.
    """
    path, saved = integrated(replace(task, tol=0.0), "quad")
    n = len(task.q)
    digits = np.array([[str(x) for x in y] for y in saved], dtype=np.str_).reshape(len(saved), 2 * n)
    return path, digits[:, :n], digits[:, n:]


def integrated(task: Task, precision: str) -> tuple[Trajectory, list[Numbers]]:
    """The path, and the saved states in the working precision."""
    began = clock.perf_counter()
    with machine_for(task, precision_of(precision)) as machine:
        compiled = clock.perf_counter()
        walk = Walk(task, machine)
        try:
            status = walk.go()
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        finished = clock.perf_counter()
    n, saved, (t, y) = machine.n, walk.saved, walk.now
    states = np.array([s.astype(float) for s in saved]).reshape(len(saved), 2 * n)
    end = y.astype(float)
    path = Trajectory(
        status=status,
        q=states[:, :n],
        v=states[:, n:],
        trace=Trace.of(walk.traces, n),
        end=(float(t), end[:n], end[n:]),
        worked=float(walk.works[0]),
        parts=walk.works[1:],
        turned=walk.turned,
        steps=walk.steps,
        evaluations=walk.evaluations,
        hits=tuple(walk.hits),
        best=walk.best,
        pivot_scale=walk.scale,
        volume=walk.volume,
        compile_seconds=compiled - began,
        run_seconds=finished - compiled,
        notes=walk.notes,
    )
    return path, saved


NO_SERIES = (
    "The acceleration is finite there, but its Taylor series is not: a power that is not whole, as x**(3/2), has none "
    "where its base is zero. Use method='native'."
)


class Walk:
    """One run: where it is, what it has saved, and what it met on the way."""

    def __init__(self, task: Task, machine: Machine) -> None:
        self.task, self.machine = task, machine
        self.number = number = machine.kind.type
        y = np.concatenate([task.q, task.v]).astype(number)
        self.now: tuple[Any, Numbers] = (number(task.t), y)
        self.size = norm(y)
        self.end: Any = number(task.times[-1]) if len(task.times) else number(task.t)
        self.notes: tuple[str, ...] = ()
        self.saved: list[Numbers] = []
        self.traces: list[tuple[NDArray[np.float64], float, NDArray[np.float64]]] = []
        """Of each saved time the works up to it, the size of the step around it and the slope of v there."""
        self.works, self.turned = np.zeros(max(task.powers, 1)), 0.0
        self.pivots = slice(machine.n, machine.n + len(task.pivot_scale))
        self.hits: list[EventHit] = []
        self.steps = self.evaluations = self.creeping = 0
        self.sense = -1 if self.end < self.now[0] else 1
        self.longest = math.inf
        self.search = None
        if task.events:
            watched = Watched(compiled(task.events.program), np.asarray(task.p, dtype=float), task.events, task.at_zero)
            self.search = Search(watched, task.t, y.astype(float), float(self.end))
        self.scale = np.array(task.pivot_scale, dtype=float)
        self.ratios = np.zeros_like(self.scale)  # of pivots to their scales at the end of the step being tried
        self.best, self.volume = (float(task.t), task.q, task.v), task.volume
        self.judge()
        self.k = np.arange(1, machine.integrator.order + 1).astype(number)
        self.nodes = np.array(DEFECT_PLACES).astype(number)
        self.at_nodes = powers(self.nodes, self.k)
        self.slope_at_nodes = self.k[:, None] * self.at_nodes / self.nodes

    def judge(self) -> None:
        """Hand parameters and scales of pivots to the machine."""
        behind = [*(1.0 / self.scale), self.task.pivot_tol]
        p = np.concatenate([np.asarray(self.task.p, dtype=float), behind]).astype(self.number)
        self.machine.integrator.pars[:] = p[: len(self.machine.integrator.pars)]
        self.machine.readings.set_parameters(p, 1, 2, len(DEFECT_PLACES), GAUSS_POINTS)
        for function in (self.machine.projection, self.machine.events):
            if function:
                function.set_parameters(p, 1)

    def grow(self) -> None:
        """Pivots are judged by what is large along the run."""
        ratios = self.ratios[: self.task.growing]
        larger = (ratios > 1) & np.isfinite(ratios)
        self.volume = max(self.volume, volume_of(ratios * self.scale[: self.task.growing]))
        if larger.any():
            self.scale[: self.task.growing] *= np.where(larger, ratios, 1.0)
            (t, y), n = self.now, self.machine.n
            self.best = (float(t), y[:n].astype(float), y[n:].astype(float))
            self.judge()

    def go(self) -> Status:
        """Step after step to the end, or to what stops the run; from break to break, where there are some."""
        spoke, last = -math.inf, Status.FINISHED
        for start, stop in stretches(float(self.now[0]), float(self.end), self.task.breaks):
            met = self.cross(start)
            self.end = self.number(stop)
            status = Status.EVENT if met.stops else self.begin()
            while status is None:
                status = self.step()
                if self.task.progress and (status is not None or clock.perf_counter() - spoke > PROGRESS_EVERY):
                    self.task.progress(float(self.now[0]))
                    spoke = clock.perf_counter()
            last = status
            if status is not Status.FINISHED:
                break
        return last

    def cross(self, start: float) -> Met:
        """To the other side of a break, behind which events may read otherwise."""
        t, y = self.now
        self.now, n = (self.number(start), y), self.machine.n
        if self.search is None or float(t) == start:
            return Met()
        state = y.astype(float)
        met = self.search.cross(start, state)
        self.hits += [EventHit(at, which, state[:n], state[n:]) for at, which in met.events]
        return met

    def begin(self) -> Status | None:
        """Look at the start: its pivots, its acceleration, and how far the first step may go."""
        t, y = self.now
        times, n = self.task.times, self.machine.n
        while len(self.saved) < len(times) and self.reached(times[len(self.saved)], t):
            self.saved.append(y)
            self.traces.append((self.works, 0.0, np.zeros(n)))
        found = self.machine.readings(np.array([t]), y[:, None].copy()).astype(float)
        if (found[self.pivots] <= self.task.pivot_tol).any() and self.task.pivot_tol > 0:
            return Status.SINGULAR
        c, _ = self.expand(0.0)
        coefficients = c.astype(float)
        if not (np.isfinite(found).all() and np.isfinite(coefficients).all()):
            self.notes = (NO_SERIES,) if np.isfinite(found).all() else ()
            return Status.NOT_FINITE
        largest = np.abs(coefficients[:, 1:]).max(axis=0)
        order = 1.0 + np.flatnonzero(largest)
        reach = (self.size / largest[largest > 0]) ** (1 / order)
        self.longest = float(reach.min(initial=math.inf)) / math.e**2
        return Status.FINISHED if t == self.end else None

    def step(self) -> Status | None:
        """Expand, shorten to what stops the step or fails the equation, arrive."""
        t = self.now[0]
        remaining = abs(float(self.end - t))
        longest = min(remaining, self.longest, self.task.max_step)
        # A little further, so that a pivot that vanishes at the very end of a step is seen.
        c, natural = self.expand(longest * (1 + 4 * self.machine.kind.eps))
        length = min(longest, natural) if natural < longest else min(longest, self.task.quiet_step)
        status, target = (None, t + self.sense * length) if length < remaining else (Status.FINISHED, self.end)
        vanishing = [at for at, slope in self.machine.found if slope * self.sense <= 0]
        first = min(vanishing, key=lambda at: self.sense * at, default=None)
        if first is not None and self.reached(first, target):
            status, target = Status.SINGULAR, first
        trouble = Status.STEP_TOO_SMALL
        for _ in range(HALVINGS):
            if target == t:
                return status if status is Status.SINGULAR else trouble
            nearer = t + (target - t) / 2
            failure = self.failure(c[:, 1:] * (target - t) ** self.k, target)
            if failure is Status.STEP_TOO_SMALL and nearer in (t, target):
                failure = None  # a kink between two numbers: no time between them to do better at
            met = self.met(c, target) if failure is None else Met()
            if met.lost:
                return Status.UNRESOLVED
            end = self.placed(*met.events[-1]) if met.stops else target
            failure = failure or self.arrive(end, met)
            if failure is None:
                return Status.EVENT if met.stops else status or self.stuck(abs(float(end - t)))
            trouble, status, target = failure, None, nearer
        return trouble

    def stuck(self, length: float) -> Status | None:
        """Does the run go on for ever without getting anywhere?"""
        tiny = length < 100 * self.machine.kind.eps * abs(float(self.now[0]))
        self.creeping = self.creeping + 1 if tiny else 0
        if self.creeping > CREEPING_STEPS:
            return Status.STEP_TOO_SMALL
        return Status.TOO_MANY_STEPS if self.steps >= STEP_LIMIT else None

    def expand(self, longest: float) -> tuple[Numbers, float]:
        """The coefficients (2n, N + 1) of the motion from here, and how far heyoka trusts them; finds events."""
        (t, y), integrator = self.now, self.machine.integrator
        self.machine.found.clear()
        integrator.time = t
        integrator.state[:] = y
        _, h = integrator.step(max_delta_t=self.number(self.sense * longest), write_tc=True)
        self.evaluations += len(self.k)
        natural = abs(float(h))
        return integrator.tc, natural if math.isfinite(natural) else longest

    def met(self, c: Numbers, target: Any) -> Met:
        """The events on the way to a time, by the expansion."""
        if self.search is None:
            return Met()
        t, y = self.now

        def states(times: Array) -> Array:
            tau = times.astype(self.number) - t
            return np.asarray((y[:, None] + c[:, 1:] @ powers(tau, self.k)).T.astype(float))

        start, end = float(t), float(target)
        ends = (start, y.astype(float)), (end, self.state(target).astype(float))
        return self.search.along(*ends, states, low=float(t - self.number(start)))

    def placed(self, t: float, which: int) -> Any:
        """When an event was met; beyond the digits of doubles, where it passes zero in a straight line."""
        at, events = self.number(t), self.machine.events
        if events is None:
            return at
        far = self.number(4 * np.spacing(abs(t)))
        for _ in range(3):
            here, there = (events(np.array([s]), self.state(s)[:, None])[which, 0] for s in (at, at + far))
            change = here * far / (there - here) if there != here else far
            if not abs(float(change)) < abs(float(far)):
                return self.number(t)
            at, far = at - change, far / 1024
        return at

    def failure(self, scaled: Numbers, target: Any) -> Status | None:
        """What is wrong with a step to `target`, if anything: its defect, its pivots."""
        t, y = self.now
        n, h = self.machine.n, target - t
        states, times = y[:, None] + scaled @ self.at_nodes, t + h * self.nodes
        found = self.machine.readings(times, states)
        self.evaluations += len(DEFECT_PLACES)
        self.ratios = found[self.pivots, -1].astype(float)
        defect = float(np.abs(scaled[n:] @ self.slope_at_nodes / h - found[:n]).max())
        if not abs(float(h)) * defect <= WRONG_STEP * self.machine.tol * self.size:
            if not math.isfinite(defect):
                return Status.NOT_FINITE
            if not defect <= DEFECT_NOISE * self.noise(times[-1], states[:, -1:]):
                return Status.STEP_TOO_SMALL
        if self.task.pivot_tol > 0 and (found[self.pivots] < self.number(self.task.pivot_tol / 2)).any():
            return Status.SINGULAR
        return None

    def noise(self, t: Any, y: Numbers) -> float:
        """By how much the acceleration changes if the state changes in its last digits: no step can do better."""
        nudge = np.resize([1.0, -1.0], y.shape) * (4 * self.machine.kind.eps)
        pair = np.hstack([y, y + y * nudge.astype(self.number)])
        found = self.machine.readings(np.array([t, t]), pair)[: self.machine.n]
        self.evaluations += 2
        return float(np.abs(found[:, 1] - found[:, 0]).max())

    def arrive(self, target: Any, met: Met) -> Status | None:
        """The end of the step becomes the state; times to save and events on the way are handed out."""
        t, n = self.now[0], self.machine.n
        new = self.state(target)
        size = norm(new)
        if not math.isfinite(size):
            return Status.NOT_FINITE
        ahead = self.task.times[len(self.saved) :]
        due = ahead[: int(np.searchsorted(self.sense * ahead, self.sense * float(target), side="right"))]
        self.trace(due, target)
        self.saved += [new if at == target else self.state(self.number(at)) for at in due]
        for at, which in met.events:
            y = (new if at == float(target) else self.state(self.number(at))).astype(float)
            self.hits.append(EventHit(at, which, y[:n], y[n:]))
        self.now, self.size = (target, new), size
        self.grow()
        self.longest = GROWTH * abs(float(target - t))
        self.steps += 1
        return None

    def trace(self, due: NDArray[np.float64], target: Any) -> None:
        """What is kept of times to save on the way to `target`, and the work up to there."""
        (t, y), n, c = self.now, self.machine.n, self.machine.integrator.tc

        def power(times: NDArray[np.float64]) -> NDArray[np.float64]:
            behind = times.astype(self.number) - t
            states = y[:, None] + c[:, 1:] @ powers(behind, self.k)
            self.evaluations += len(times)
            found = self.machine.readings(times.astype(self.number), states)[-self.task.powers :]
            return np.asarray(found.T.astype(float))

        work = np.zeros((len(due) + 1, len(self.works)))
        if self.task.powers:
            work = running_integral(power, float(t), np.append(due, float(target)), self.works.shape)
        size = abs(float(target - t))
        for at, done in zip(due, work, strict=False):
            inside = powers(np.array([self.number(at) - t]), self.k - 1)
            slope = (c[n:, 1:] * self.k) @ inside
            self.traces.append((self.works + done, size * (at != target), slope[:, 0].astype(float)))
        self.works = self.works + work[-1]
        self.turned += abs(float(work[-1, 0]))

    def state(self, t: Any) -> Numbers:
        """The state that the last expansion has at a time."""
        return self.projected(t, self.machine.integrator.update_d_output(t).copy())

    def projected(self, t: Any, y: Numbers) -> Numbers:
        """A state on its constraints, if asked for: positions first, then velocities."""
        projection, n = self.machine.projection, self.machine.n
        if projection is None:
            return y
        time, enough = np.array([t]), self.machine.kind.residual
        on: Numbers = projected(lambda y: projection(time, y[:, None])[:, 0], y.copy(), n, enough)
        return on

    def reached(self, t: Any, target: Any) -> bool:
        """Is t not beyond the target?"""
        return bool(self.sense * (target - t) >= 0)


def powers(x: Numbers, k: Numbers) -> Numbers:
    """(order, m): x, x², …"""
    return x[None] ** k[:, None]


def norm(y: Numbers) -> float:
    """What heyoka measures errors by: absolutely where the state is small, relative to its largest entry elsewhere."""
    return max(1.0, float(np.abs(y).max()))
