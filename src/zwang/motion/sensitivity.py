"""Sensitivities: derivatives of a motion with respect to its start and its parameters.

For q̈ = a(t, q, q̇; p) and a change of start and parameters along δ, S = ∂q/∂δ obeys the variational equation

    S̈ = a_q S + a_q̇ Ṡ + a_p δp,    S(t₀) = δq,  Ṡ(t₀) = δq̇.

The right-hand side is the derivative of the staged explicit equation (see `variational`): exact, not a difference
quotient. Motion and sensitivities are integrated together, as one system of n(1 + k) coordinates for k directions,
by the engine of the motion and under the same control of errors.
"""

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.compile import Program
from zwang.errors import InputError, SimulationError
from zwang.evaluation import Array, Kept, model_kernel
from zwang.given import state_arrays
from zwang.model import System
from zwang.motion import singular
from zwang.motion.choice import Choice
from zwang.motion.continuity import require_continuous
from zwang.motion.course import engine, joined, keeps_on, task_of, undamped
from zwang.motion.direction import Direction, directions_of
from zwang.motion.driven import breaks_in, require_fit
from zwang.motion.progress import reporter
from zwang.motion.report import Segment, account, first_contradiction
from zwang.motion.simulate import Setup, check_span, cut_short, how_it_ended, longest_step, prepare, saved_times
from zwang.motion.start import choice_at, require_start
from zwang.motion.task import REMEDY, Path, Status, Task
from zwang.motion.variational import projection_beside, variational_program
from zwang.results.dataset import plain

if TYPE_CHECKING:
    import xarray as xr

ROUNDING = 1e-15  # a tolerance below this asks for digits that a double does not have

VARIABLES = {
    "q": (("coordinate",), "coordinates"),
    "v": (("coordinate",), "velocities"),
    "dq": (("coordinate", "input"), "derivatives of the coordinates by the inputs"),
    "dv": (("coordinate", "input"), "derivatives of the velocities by the inputs"),
}

_PROGRAMS: Kept[Program] = Kept()


def sensitivities(
    system: System,
    start: Mapping[Any, float],
    until: float,
    inputs: Any,
    *,
    times: ArrayLike | None = None,
    samples: int | None = None,
    parameters: Mapping[Any, Any] | None = None,
    method: str = "auto",
    form: str = "fundamental",
    tol: float = 1e-12,
    t: float = 0.0,
    max_step: float | None = None,
    progress: Any = None,
) -> "xr.Dataset":
    """The motion, and its derivatives with respect to start values and parameters.

    `inputs` lists what to differentiate by: coordinates `x` and rates `dot(x)`, meaning their values at the start,
    and parameters `m`. Instead of one of them there may be a direction, a mapping such as `{L: 1, y: -1}`, in which
    several change together; `inputs` itself may be a mapping from names to directions. The other arguments are those
    of `simulate`. `tol` bounds the errors of the sensitivities as it does those of the motion, for parameters
    per relative change: that of p ∂q/∂p.

    The dataset has the dimensions time, coordinate and input, the variables q, v and dq, dv (time, coordinate,
    input), and the attributes of `simulate`.

    *Constraints.* A derivative changes one thing and holds the others, also where the constraints would not: it is
    that of the explicit equation's flow, which is defined beside the constraints too. Motions that satisfy the
    constraints have the derivatives along admissible directions: `zwang.admissible` finds them. Without it, the
    derivative by the length of a pendulum is zero: its acceleration, in x and y, does not know the length.

    Redundant constraints are fine as long as they stay redundant along the direction. Across singular positions,
    where the rank of A changes, there is no derivative: the motion stops there with a `SimulationError`. Where a
    force jumps on the way (`sign`, `Piecewise` with a gap), the jump's own contribution is left out.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> m, g, L = zw.parameters("m g L")
    >>> pendulum = zw.System((x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=m*g*y,
    ...                      constraints={"rod": x**2 + y**2 - L**2}, parameters={m: 1, g: 10, L: 1})
    >>> start = {x: 0, y: -1, zw.dot(x): 1, zw.dot(y): 0}
    >>> longer = zw.admissible(pendulum, start, [g, L])
    >>> motion = zw.sensitivities(pendulum, start, 2.0, longer, samples=3)
    >>> motion.dq.sel(coordinate="x").values.round(6)
    array([[ 0.      ,  0.      ],
           [-0.050627,  0.49349 ],
           [ 0.101253, -0.986979]])
    """
    began = clock.perf_counter()
    if not isinstance(system, System):
        raise InputError(f"sensitivities need a System, which can be differentiated; got {type(system).__name__}")
    until, t = check_span(until, t)
    setup = prepare(system, parameters, method, form, tol, "none", (), longest_step(max_step, until - t))
    setup = replace(setup, holds=False)
    require_fit(system, setup.signals, setup.method, t, until)
    directions = directions_of(setup, inputs)
    grid = saved_times(t, until, times, samples)
    q, v = state_arrays(system, start)
    setup = replace(setup, breaks=breaks_in(setup, setup.p[None], t, until)[0])
    require_continuous(setup, q, v)
    require_start(setup, t, q, v)
    setting_up = clock.perf_counter() - began
    segments, path = integrate(setup, directions, (t, q, v), grid, reporter(progress, t, until))
    if any(keeps_on(setup, segment.choice) for segment in segments):
        setup = replace(setup, drift="projection")
    values, saved, path = values_of(setup, directions, segments, path)
    path = replace(path, compile_seconds=path.compile_seconds + setting_up)
    message = how_it_ended(setup.events, path)
    seconds = clock.perf_counter() - began
    motion = dataset(setup, directions, saved, values, account(setup, path, message, seconds))
    if path.status in REMEDY:
        raise SimulationError(message, str(path.status), motion)
    return motion


def integrate(
    setup: Setup, directions: Sequence[Direction], start: tuple[float, Array, Array], grid: Array, watch: Any
) -> tuple[list[Segment], Path]:
    """Run the engine on motion and sensitivities, q and v (T, n(1 + k)); not across singular positions."""
    t, q, v = start
    n = len(q)
    scale = [d.scale(setup.p) for d in directions]
    state = (
        t,
        np.concatenate([q, *(s * d.dq for s, d in zip(scale, directions, strict=True))]),
        np.concatenate([v, *(s * d.dv for s, d in zip(scale, directions, strict=True))]),
    )
    segments: list[Segment] = []
    scales: dict[Choice, singular.Scale] = {}
    total = Path(Status.FINISHED, state[1][None][:0], state[2][None][:0], state)
    while True:
        began = clock.perf_counter()
        choice = choice_at(setup, motion_of(state, n))
        alone = task_of(setup, choice, motion_of(state, n), grid, watch, scales)
        task = task_with(setup, choice, alone, directions, scale, state)
        total = replace(total, compile_seconds=total.compile_seconds + clock.perf_counter() - began)
        path = engine(setup.method)(task)
        segments.append(Segment(choice, grid[: len(path.q)], path.q, path.v, setup.p))
        grid = grid[len(path.q) :]
        total = joined(total, path)
        if path.status is not Status.SINGULAR:
            return segments, total
        plain = choice
        if choice.damping:
            found = undamped(setup, choice, (start, *(motion_of(s, n) for s in (state, path.end))), grid, watch, scales)
            if found is None:
                return segments, joined(total, singular.stretch(path.end, Status.SINGULAR, singular.RISES))
            plain, alone = found
        path, scales[plain] = pass_by(setup, alone, task, path, plain, grid, scales[plain])
        if choice.damping and path.end[0] == total.end[0]:
            del scales[choice]  # small, but well: what is small here is the new measure
        segments.append(Segment(choice, grid[: len(path.q)], path.q, path.v, setup.p))
        grid = grid[len(path.q) :]
        total, state = joined(total, path), path.end
        if path.status is not Status.FINISHED or not len(grid):
            return segments, total


def motion_of(state: tuple[float, Array, Array], n: int) -> tuple[float, Array, Array]:
    """The motion's part of a state."""
    t, q, v = state
    return t, q[:n], v[:n]


def task_with(
    setup: Setup,
    choice: Choice,
    alone: Task,
    directions: Sequence[Direction],
    scale: Sequence[float],
    state: tuple[float, Array, Array],
) -> Task:
    """The motion's task with sensitivities.

    Engines bound the root mean square of errors; the tolerance is such that each sensitivity keeps the one asked for.
    """
    pattern = tuple(tuple(map(int, np.flatnonzero(d.dp))) for d in directions)
    changes = [s * d.dp[list(kept)] for s, d, kept in zip(scale, directions, pattern, strict=True)]
    _, q, v = state

    def build() -> Program:
        return variational_program(setup.model, choice, setup.form, pattern)

    acceleration, projection = _PROGRAMS.get((alone.acceleration, pattern), build), alone.projection
    if projection:
        beside = partial(projection_beside, projection, acceleration.inputs)
        projection = _PROGRAMS.get((projection, pattern), beside)
    return replace(
        alone,
        acceleration=acceleration,
        projection=projection,
        q=q,
        v=v,
        p=np.concatenate([alone.p, *changes]),
        tol=min(alone.tol, max(alone.tol / np.sqrt(1 + len(directions)), ROUNDING)),
    )


def pass_by(
    setup: Setup, alone: Task, task: Task, path: Path, choice: Choice, grid: Array, scale: singular.Scale
) -> tuple[Path, singular.Scale]:
    """The way past a small pivot that the motion alone takes, unless it leaps: a change of rank has no derivative."""
    motion = replace(path, end=motion_of(path.end, len(alone.q)))
    passed = singular.go_on(setup, alone, motion, choice, grid, scale, engine(setup.method))
    t, q, v = path.end
    end = passed.path.end[0]
    leapt = end != t and passed.path.steps == 0  # no engine has computed that stretch
    if leapt or passed.path.status is not Status.FINISHED:
        names = singular.losing_rows(setup, motion.end, choice)
        words = f"Sensitivities are not defined across a singular position, where the rank of A changes: {names}."
        return singular.stretch(path.end, Status.SINGULAR, words), scale
    if end == t:
        return singular.stretch(path.end, note=" ".join(passed.path.notes)), passed.scale
    inside = grid[: len(passed.path.q)]
    times = inside if len(inside) and inside[-1] == end else np.append(inside, end)
    near = engine(setup.method)(replace(task, t=t, q=q, v=v, times=times, pivot_tol=0.0))
    return replace(near, q=near.q[: len(inside)], v=near.v[: len(inside)]), passed.scale


def values_of(
    setup: Setup, directions: Sequence[Direction], segments: Sequence[Segment], path: Path
) -> tuple[dict[str, Any], Array, Path]:
    """The variables of the dataset at the saved times, up to where a redundant constraint contradicts the others."""
    n, k = len(setup.system.coordinates), len(directions)
    times = np.concatenate([s.times for s in segments])
    q, v = (np.concatenate([getattr(s, name) for s in segments]) for name in "qv")
    scale = np.array([d.scale(setup.p) for d in directions])

    def derivatives(y: Array) -> Array:
        return np.asarray(y[:, n:].reshape(len(y), k, n).swapaxes(1, 2) / scale)

    values = {"q": q[:, :n], "v": v[:, :n], "dq": derivatives(q), "dv": derivatives(v)}
    if all(len(s.choice.rows) == len(setup.system.constraints) for s in segments):
        return values, times, path
    now = model_kernel(setup.system, setup.inputs)(times, values["q"], values["v"], setup.p)
    readings = {"residual": now.position, "residual_rate": now.velocity}
    odds = first_contradiction(setup, [replace(s, q=s.q[:, :n], v=s.v[:, :n]) for s in segments], readings)
    return (values, times, path) if odds is None else cut_short(setup, odds, values, times, path)


def dataset(
    setup: Setup, directions: Sequence[Direction], times: Array, values: Mapping[str, Any], attributes: dict[str, Any]
) -> "xr.Dataset":
    """Values under their names, with what they are in words."""
    import xarray as xr

    return xr.Dataset(
        {name: (("time", *dims), values[name], {"long_name": words}) for name, (dims, words) in VARIABLES.items()},
        coords={
            "time": ("time", times, {"long_name": "time"}),
            "coordinate": ("coordinate", np.asarray(setup.system.coordinate_names, dtype=str)),
            "input": ("input", np.asarray([d.name for d in directions], dtype=str)),
        },
        attrs={key: plain(value) for key, value in attributes.items()},
    )
