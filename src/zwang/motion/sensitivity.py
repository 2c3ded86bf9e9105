"""Sensitivities: derivatives of a motion with respect to its start and its parameters.

For q̈ = a(t, q, q̇; p) and a change of start and parameters along δ, S = ∂q/∂δ obeys the variational equation

    S̈ = a_q S + a_q̇ Ṡ + a_p δp,    S(t₀) = δq,  Ṡ(t₀) = δq̇.

The right-hand side is the derivative of the staged explicit equation (see `variational`): exact, not a difference
quotient. Motion and sensitivities are integrated together, as one system of n(1 + k) coordinates for k directions,
by the engine of the motion and under the same control of errors.
"""

import time as clock
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from zwang.arrays import Array
from zwang.compile import AnyProgram, RolledProgram
from zwang.engines.task import GOES_ON, REMEDY, Status, Task, Trajectory
from zwang.errors import InputError, SimulationError
from zwang.lowering.cache import Kept
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.rows import RowBasis
from zwang.lowering.variational import events_beside, projection_beside, variational_loops, variational_program
from zwang.model import System
from zwang.model.event import Event
from zwang.model.has_system import HasSystem, begin_of, end_of, numbered_with, resets_of, start_of_one, system_of
from zwang.motion.at_switch import Along
from zwang.motion.breaks import breaks_in, require_fit
from zwang.motion.continuity import require_continuous
from zwang.motion.direction import Direction, directions_of
from zwang.motion.drive import Alone, along_of, engine, keeps_on
from zwang.motion.observe import Segment, account, cut_short, first_contradiction, how_it_ended
from zwang.motion.options import RunOptions, check_span
from zwang.motion.prepare import prepare
from zwang.motion.progress import reporter
from zwang.motion.redundant import integrate_watched, places_of
from zwang.motion.resets.beside import across
from zwang.motion.resets.jump import Jump
from zwang.motion.resets.watched import Watched
from zwang.motion.saltation import Beside
from zwang.motion.setup import Setup
from zwang.motion.singular import way_past as singular
from zwang.motion.singular.losing import losing_rows
from zwang.motion.start import Start, State, first_basis, start_of
from zwang.results.dataset import plain
from zwang.results.inputs import with_inputs

if TYPE_CHECKING:
    import xarray as xr

FINEST_TOL = 1e-15  # a tolerance below this asks for digits that a double does not have

VARIABLES = {
    "q": (("coordinate",), "coordinates"),
    "v": (("coordinate",), "velocities"),
    "dq": (("coordinate", "input"), "derivatives of the coordinates by the inputs"),
    "dv": (("coordinate", "input"), "derivatives of the velocities by the inputs"),
}

_PROGRAMS: Kept[AnyProgram] = Kept()


def sensitivities(
    system: System | HasSystem,
    start: Mapping[Any, float] | None = None,
    until: float | None = None,
    inputs: Any = (),
    *,
    times: ArrayLike | None = None,
    samples: int | None = None,
    parameters: Mapping[Any, Any] | None = None,
    method: str = "auto",
    form: str = "fundamental",
    tol: float = 1e-12,
    t: float | None = None,
    max_step: float | None = None,
    progress: Any = None,
    impacts: str = "moreau",
    split: str = "compliant",
    events: Sequence[Event] = (),
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
    where the rank of A changes, there is no derivative: the motion stops there with a `SimulationError`.

    *Switches.* Where the acceleration jumps on the way (`sign`, `Piecewise` with a gap), the instant of the jump
    depends on start and parameters, too, which the derivatives of the velocities show by a jump of their own. A motion
    that comes to rest on a switch, held by dry friction, takes its derivatives along. Where a motion only touches a
    switch, or starts on one that does not hold it, there is no derivative: that is refused by name.

    *Resets.* Of `events` those count that reset the state: derivatives jump with it, and by what its instant moves.
    So parameters that occur only in an event or its reset have derivatives, too. By a declared parameter that occurs
    neither there nor in the system all derivatives are exactly zero.

    *Contacts.* One-sided constraints are contacts, as in `simulate`. Impacts, and friction that sets in, come at
    instants that depend on start and parameters, too: derivatives of positions and velocities jump there. Refused by
    name are contacts that only touch, accumulations, several impacts at one instant, impacts with friction by other
    laws than Moreau's, and directions that lead off contacts which are closed at the start. What sticks at the start
    is held against any push: derivatives are those right after it.

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
    given = system
    resets = resets_of(given, events)
    system = numbered_with(system_of(given, "sensitivities", parameters), resets)
    until, t = check_span(end_of(given, until), begin_of(given, t))
    own_start = given.start_symbols if start is None and isinstance(given, HasSystem) else frozenset()
    start = start_of_one(given, start, parameters, t)
    options = RunOptions(
        until, t, times, samples, method, form, tol, events=resets, max_step=max_step,
        progress=progress, impacts=impacts, split=split,
    )  # fmt: skip
    begin = start_of(system, start, t, parameters)
    _, q, v = begin.state
    setup = prepare(system, begin.values, options, contacts=True)
    require_plain(system)
    require_fit(system, setup.signals, setup.method, t, until)
    directions = directions_of(setup, inputs)
    require_start_held(directions, own_start)
    varied = tuple(map(int, np.flatnonzero(np.any([d.dp != 0 for d in directions], axis=0))))
    setup = replace(setup, varied=varied)
    grid = options.grid
    setup = replace(setup, breaks=breaks_in(setup, setup.p[None], t, until)[0])
    require_continuous(setup, q, v)
    watch = reporter(progress, t, until)
    scale = [d.scale(setup.p) for d in directions]
    if setup.contact is not None:
        in_mode = InMode(len(q), directions, scale)
        segments, path, setting_up = *in_contact(setup, begin, options, watch, in_mode), 0.0
    else:
        first = first_basis(setup, begin)
        setting_up = clock.perf_counter() - options.began
        kind, zero = Varied(len(q), directions, scale), Watched(setup, first, begin.state).zeros()
        segments, path = integrate_watched(setup, kind.start(begin.state), grid, watch, first, zero, kind)
    if any(keeps_on(setup, segment.basis) for segment in segments):
        setup = replace(setup, drift="projection")
    values, saved, path = values_of(setup, directions, segments, path)
    if not np.array_equal(saved, grid[: len(saved)]):
        wanted = places_of(grid, saved)
        values, saved = {name: value[wanted] for name, value in values.items()}, saved[wanted]
    path = replace(path, compile_seconds=path.compile_seconds + setting_up)
    message = how_it_ended(setup.events, path, (t, until))
    seconds = clock.perf_counter() - options.began
    motion = dataset(setup, directions, saved, values, account(setup, path, message, seconds))
    motion = with_inputs(motion, setup.inputs, setup.signals)
    if path.status in REMEDY:
        raise SimulationError(message, str(path.status), motion)
    return motion


@dataclass(frozen=True)
class Varied(Alone):
    """The motion with its sensitivities beside it: q is [q, S₁, …, Sₖ], v likewise. Not across singular positions."""

    n: int
    directions: Sequence[Direction]
    scale: Sequence[float]
    can_bridge = False

    def motion(self, state: State) -> State:
        """The motion's part of a state."""
        t, q, v = state
        return t, q[: self.n], v[: self.n]

    def start(self, state: State) -> State:
        """A start of the motion with those of its sensitivities."""
        t, q, v = state
        changes = list(zip(self.scale, self.directions, strict=True))
        return (
            t,
            np.concatenate([q, *(s * d.dq for s, d in changes)]),
            np.concatenate([v, *(s * d.dv for s, d in changes)]),
        )

    def whole(self, setup: Setup, basis: RowBasis, task: Task, state: State) -> Task:
        """The motion's task with sensitivities.

        Engines bound the root mean square of errors; the tolerance is such that each sensitivity keeps the one asked
        for.
        """
        pattern = tuple(tuple(map(int, np.flatnonzero(d.dp))) for d in self.directions)
        changes = [s * d.dp[list(kept)] for s, d, kept in zip(self.scale, self.directions, pattern, strict=True)]
        _, q, v = state

        def build() -> AnyProgram:
            if isinstance(task.acceleration, RolledProgram):
                return variational_loops(task.acceleration, pattern)
            return variational_program(setup.running, basis, setup.form, pattern)

        def along() -> Along:
            own = along_of(setup, basis)
            beside: Callable[[], AnyProgram]
            if isinstance(own.acceleration, RolledProgram):
                beside = partial(variational_loops, own.acceleration, pattern)
            else:
                assert setup.resting is not None
                beside = partial(variational_program, setup.resting, basis, setup.form, pattern)
            whole = _PROGRAMS.get((own.acceleration, pattern), beside)
            watch = replace(own.events, program=events_beside(own.events.program, whole.inputs))
            return replace(own, acceleration=whole, events=watch)

        acceleration, projection = _PROGRAMS.get((task.acceleration, pattern), build), task.projection
        if projection:
            beside = partial(projection_beside, projection, acceleration.inputs)
            projection = _PROGRAMS.get((projection, pattern), beside)
        own = np.concatenate([setup.p, *changes])
        modes = setup.locked.literal if setup.locked else np.zeros(0)
        switches, events = task.switches, task.events
        if switches:
            place = slice(len(own), len(own) + len(modes))
            changed = [s * d.dp for s, d in zip(self.scale, self.directions, strict=True)]
            switches = replace(switches, place=place, beside=Beside(self.n, changed))
            switches = replace(switches, along=along if switches.along else None)
        if events:
            key = switches.locked.readings if switches else setup.system.structure
            watched = tuple(event.expression for event in setup.events)
            program = partial(events_beside, events.program, acceleration.inputs)
            events = replace(events, program=_PROGRAMS.get((key, basis, pattern, watched), program))
        return replace(
            task,
            acceleration=acceleration,
            pencil=None,
            projection=projection,
            events=events,
            switches=switches,
            q=q,
            v=v,
            p=setup.for_kernels(own),
            tol=min(task.tol, max(task.tol / np.sqrt(1 + len(self.directions)), FINEST_TOL)),
        )

    def across(self, setup: Setup, before: State, jump: Jump) -> State:
        """The state after a jump, with the sensitivities there."""
        changes = [s * d.dp for s, d in zip(self.scale, self.directions, strict=True)]
        return across(setup, jump, before, changes)

    def pass_by(
        self, setup: Setup, task: Task, path: Trajectory, basis: RowBasis, grid: Array, scale: singular.Scale
    ) -> singular.Passed:
        """The way past a small pivot that the motion takes, unless it leaps: a change of rank has no derivative."""
        alone = replace(path, end=self.motion(path.end))
        passed = super().pass_by(setup, task, alone, basis, grid, scale)
        t = path.end[0]
        end = passed.path.end[0]
        # no engine has computed that stretch, or one across a singular position
        leapt = end != t and (passed.path.steps == 0 or bool(passed.path.bridges))
        if leapt or passed.path.status is not GOES_ON:
            [names] = losing_rows(setup, [alone.end], basis, scale.starts)
            words = f"Sensitivities are not defined across a singular position, where the rank of A changes: {names}."
            return singular.Passed(singular.stretch(path.end, Status.SINGULAR, words), scale)
        if end == t:
            return replace(passed, path=singular.stretch(path.end, note=" ".join(passed.path.notes)))
        inside = grid[: len(passed.path.q)]
        times = inside if len(inside) and inside[-1] == end else np.append(inside, end)
        near = self.whole(setup, basis, replace(task, t=t, times=times, pivot_tol=0.0), path.end)
        there = engine(setup.method)(near)
        trace = there.trace and there.trace.first(len(inside))
        return replace(passed, path=replace(there, q=there.q[: len(inside)], v=there.v[: len(inside)], trace=trace))


@dataclass(frozen=True)
class InMode(Varied):
    """The same in a mode of contacts, to a time that is known: nothing is watched."""

    veers: Array | None = None
    """(k, s, 2) how the directions of slips in space that begin change, if some do."""

    def whole(self, setup: Setup, basis: RowBasis, task: Task, state: State) -> Task:
        """The motion's task with sensitivities."""
        from zwang.motion.contact.beside import kappa_along

        assert setup.contact is not None
        task = super().whole(setup, basis, replace(task, events=None), state)
        changes = [s * d.dp for s, d in zip(self.scale, self.directions, strict=True)]
        return replace(task, p=np.concatenate([task.p, kappa_along(setup, setup.contact, basis, changes, self.veers)]))


def require_plain(system: System) -> None:
    """Refuse contacts across whose changes of mode sensitivities are not known, by name."""
    for c in system.constraints:
        if c.friction and not c.one_sided:
            why = "has friction, as an equality"
        elif c.one_sided and c.order:
            why = "limits velocities"
        else:
            continue
        raise InputError(f"constraint {c.name!r} {why}: sensitivities are not known with it; leave it out")


def require_start_held(directions: Sequence[Direction], own_start: Set[sp.Symbol]) -> None:
    """Refuse a parameter that occurs in the model's own start and nowhere else: starts are held."""
    for direction in directions:
        for parameter in direction.elsewhere:
            if parameter in own_start:
                raise InputError(
                    f"inputs names {parameter}, which occurs only in the start of this model, and derivatives hold the "
                    f"start: name the coordinates and rates that it sets, as in inputs=[x, dot(x)]"
                )


def in_contact(
    setup: Setup, begin: Start, options: RunOptions, watch: Any, kind: InMode
) -> tuple[list[Segment], Trajectory]:
    """The motion of a system with contacts, then its sensitivities along what is known of it."""
    from zwang.motion.contact.beside import Across, Logged

    course = Logged(setup, begin, options.grid, options.impacts, watch, options.split)
    path = course.run()
    changes = [s * d.dp for s, d in zip(kind.scale, kind.directions, strict=True)]
    segments, account = Across(course.setup, course, kind, changes).run(kind.start(begin.state), options.grid)
    return segments, account if account.status in REMEDY else replace(path, kicks=())


def values_of(
    setup: Setup, directions: Sequence[Direction], segments: Sequence[Segment], path: Trajectory
) -> tuple[dict[str, Any], Array, Trajectory]:
    """The variables of the dataset at the saved times, up to where a redundant constraint contradicts the others."""
    n, k = len(setup.system.coordinate_names), len(directions)
    times = np.concatenate([np.zeros(0), *(s.times for s in segments)])  # none, where the motion stops at its start
    none = np.zeros((0, n * (k + 1)))
    q, v = (np.concatenate([none, *(getattr(s, name) for s in segments)]) for name in "qv")
    scale = np.array([d.scale(setup.p) for d in directions])

    def derivatives(y: Array) -> Array:
        return np.asarray(y[:, n:].reshape(len(y), k, n).swapaxes(1, 2) / scale)

    values = {"q": q[:, :n], "v": v[:, :n], "dq": derivatives(q), "dv": derivatives(v)}
    if setup.contact or all(len(s.basis.rows) == len(setup.system.constraint_names) for s in segments):
        return values, times, path
    kernel = matrix_kernel(setup.system, setup.inputs)
    states = zip(times, values["q"], values["v"], strict=True)
    each = [kernel.one(float(t), q, v, setup.p) for t, q, v in states]
    readings = {name: np.array([getattr(now, name) for now in each]) for name in ("residual", "residual_rate")}
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
