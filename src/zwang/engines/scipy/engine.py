"""The SciPy engine for stiff systems: Radau and LSODA over kernels in machine code, Jacobian included."""

import time as clock
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import isfinite

import numpy as np

from zwang.arrays import Array
from zwang.compile import Kernel, RolledProgram
from zwang.compile.kernel import BATCH
from zwang.engines.native.engine import compiled
from zwang.engines.pieces import Watched
from zwang.engines.projection import projected
from zwang.engines.scipy.jacobian import jacobian_of
from zwang.engines.steps import SteppedProblem, march
from zwang.engines.task import Status, Task, Trajectory, packed, volume_of

ON = 1e-13  # a residual below this counts as none


def run(task: Task, solver: str) -> Trajectory:
    """Integrate a task by one of SciPy's solvers."""
    began = clock.perf_counter()
    watch = Watch(task)
    problem, note = problem_of(task, watch, sparse=solver == "Radau")
    compiling = clock.perf_counter() - began
    state = (task.t, task.q, task.v)
    path = march(
        problem,
        solver_class(solver, isinstance(task.acceleration, RolledProgram)),
        state,
        task.times,
        task.tol,
        task.breaks,
        task.progress,
        task.quiet_step,
    )
    notes = (*((note,) if note else ()), *path.notes)
    return replace(
        path, compile_seconds=compiling, notes=notes, best=watch.best, pivot_scale=watch.scale, volume=watch.volume
    )


def solver_class(name: str, large: bool = False) -> type:
    """One of SciPy's solvers; for a large system one that knows it to be of second order."""
    import scipy.integrate

    if large and name == "Radau":
        from zwang.engines.scipy.second_order import SecondOrderRadau

        return SecondOrderRadau

    solver: type = getattr(scipy.integrate, name)
    return solver


def problem_of(task: Task, watch: "Watch", sparse: bool = False) -> tuple[SteppedProblem, str]:
    """A task as the solvers want it, with a sparse Jacobian if they take one; and a word on how."""
    kernel, n = compiled(task.acceleration), len(task.q)
    at, pivots_end = single(kernel, task), n + len(task.pivot_scale)

    def slope(t: float, y: Array) -> Array:
        out = at(t, y)
        watch.see(out[:n], out[n:pivots_end])
        return np.concatenate([y[n:], out[:n]])

    def health(times: Array, states: Array) -> Array:
        pivots = kernel.on_rows(packed(times, states, task.p))[:, n:pivots_end] / watch.scale
        return np.asarray(np.where(np.isnan(pivots), np.inf, pivots) - task.pivot_tol)

    events = Watched(compiled(task.events.program), task.p, task.events, task.at_zero) if task.events else None
    jacobian, note = jacobian_of(task, sparse)
    return SteppedProblem(
        slope,
        watch.trouble,
        jacobian,
        health if task.pivot_tol and len(task.pivot_scale) else None,
        events=events,
        project=projection_of(task),
        power=(lambda t, y: kernel.on_rows(packed(t, y, task.p))[:, pivots_end:]) if task.powers else None,
        powers=max(task.powers, 1),
        arrived=lambda t, y: watch.grow(t, y, at(t, y)[n:pivots_end]) if task.growing else None,
    ), note


class Watch:
    """What the slopes showed on the way: whether they were finite, and whether a pivot fell below its limit.

    Pivots are judged by what is large along the run (`Task.growing`).
    """

    def __init__(self, task: Task) -> None:
        """Start with nothing seen."""
        self.scale, self.share, self.growing = np.array(task.pivot_scale), task.pivot_tol, task.growing
        self.best, self.volume = (task.t, task.q, task.v), task.volume
        self.finite, self.well = True, True

    def see(self, acceleration: Array, pivots: Array) -> None:
        """Remember what is wrong with an acceleration."""
        self.finite = self.finite and isfinite(acceleration.sum())
        self.well = self.well and not (pivots < self.share * self.scale).any()

    def grow(self, t: float, y: Array, pivots: Array) -> None:
        """Compare pivots at the end of a step with the largest before."""
        self.volume = max(self.volume, volume_of(pivots[: self.growing]))
        larger = (pivots > self.scale) & np.isfinite(pivots) & (np.arange(len(pivots)) < self.growing)
        if larger.any():
            n = len(y) // 2
            self.scale = np.where(larger, pivots, self.scale)
            self.best = (float(t), y[:n].copy(), y[n:].copy())

    def trouble(self) -> Status | None:
        """What was wrong since this was last asked."""
        finite, well = self.finite, self.well
        self.finite, self.well = True, True
        return Status.SINGULAR if not well else Status.NOT_FINITE if not finite else None


def single(kernel: Kernel, task: Task) -> Callable[[float, Array], Array]:
    """A kernel as a function of t and y, for one state at a time; it writes its outputs to the same place again."""
    given = packed(task.t, np.concatenate([task.q, task.v]), task.p)
    room = np.empty(kernel.output_size + kernel.work_size)
    out, work = room[: kernel.output_size], room[kernel.output_size :]  # parts of one array live as long as it is used
    state = given[1 : 1 + 2 * len(task.q)]
    call, places = BATCH(kernel.batch_address), (out.ctypes.data, given.ctypes.data, work.ctypes.data)

    def at(t: float, y: Array) -> Array:
        given[0], state[:] = t, y
        call(*places, 1)
        return out

    return at


def projection_of(task: Task) -> Callable[[float, Array], Array] | None:
    """The way back to the constraints: positions first, then velocities."""
    if task.projection is None:
        return None
    kernel, n = compiled(task.projection), len(task.q)
    at = single(kernel, task)

    def project(t: float, y: Array) -> Array:
        on: Array = projected(partial(at, t), y.copy(), n, ON)
        return on

    return project
