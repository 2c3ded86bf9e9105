"""The composer: from a system and a start to a motion that accounts for itself."""

import time as clock
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.engines.native.engine import compiled
from zwang.engines.task import REMEDY, Trajectory, altered
from zwang.errors import InputError, SimulationError
from zwang.linalg.threads import one_thread
from zwang.model import System
from zwang.model.event import Event, listed_events
from zwang.model.has_system import HasSystem, begin_of, end_of, start_of_one, system_of
from zwang.motion.breaks import breaks_in, require_fit
from zwang.motion.certificate import doubts, vouched_for
from zwang.motion.continuity import require_continuous
from zwang.motion.drive import keeps_on
from zwang.motion.observe import (
    ALL,
    LOOKED_AT,
    OF_REDUNDANT,
    Segment,
    cut_short,
    first_contradiction,
    how_it_ended,
    report,
    reporting,
    values_of,
    with_parts,
)
from zwang.motion.options import RunOptions, check_span, in_precision
from zwang.motion.prepare import prepare
from zwang.motion.progress import reporter
from zwang.motion.redundant import integrate_watched, missed_between, places_of
from zwang.motion.resets.watched import Watched
from zwang.motion.setup import Setup
from zwang.motion.start import Start, first_basis, start_of
from zwang.results.dataset import VARIABLES, variables_named
from zwang.waiting import hushed, spent_preparing

if TYPE_CHECKING:
    import xarray as xr

    from zwang.motion.blackbox import BlackBox


def simulate(
    system: "System | HasSystem | BlackBox",
    start: Mapping[Any, float] | tuple[ArrayLike, ArrayLike] | None = None,
    until: float | None = None,
    *,
    times: ArrayLike | None = None,
    samples: int | None = None,
    parameters: Mapping[Any, Any] | None = None,
    method: str = "auto",
    form: str = "fundamental",
    tol: float = 1e-12,
    drift: str | tuple[str, float, float] = "none",
    events: Sequence[Event] = (),
    precision: str = "double",
    t: float | None = None,
    max_step: float | None = None,
    progress: Any = None,
    throw: bool = True,
    outputs: Sequence[str] | None = None,
    impacts: str = "moreau",
    split: str = "compliant",
    contacts: str = "events",
    step: float | None = None,
) -> "xr.Dataset":
    """Integrate the motion of a system from a consistent start, from time t until `until`.

    The motion is saved at `times` and at the end, or at `samples` equidistant times. `parameters` override the
    system's default values; `t` is the time at the start; `progress` is a function of (time reached, end), or True or
    False for a bar on a terminal or none. `tol` bounds the error of each step,
    absolutely and relatively. `method` is "native" (eighth-order Runge–Kutta in machine code), "taylor" (Taylor's
    method, needs heyoka), "radau" or "lsoda" (for stiff systems); "auto" chooses and says what it chose. `form`
    is the equation that is integrated: "fundamental", "gibbs-appell" or "lagrange". `drift` is what is done about
    constraints drifting away: "none", "projection" after every step, or "baumgarte", with gains as
    ("baumgarte", α, β). `max_step` is the longest step; without it, a 20th of the motion, and a 100th where the error
    of a step says nothing of the size that is needed. `events` are watched, recorded, and stop the motion or reset
    its state where they say so. `precision="quad"` has Taylor's method compute with 34 digits and round at the end, for
    reference solutions.

    `outputs` names the variables that the dataset is to have, ("q", "v"); all of them without it. What nobody asks for
    is not computed, but for what tells whether the motion can be vouched for.

    Forces with `sign`, `Piecewise` … of the state are met where they switch. Where both sides of a switch of velocities
    push back onto it, as dry friction does, the motion goes on along it, held by forces between; `rest_switch`,
    `rest_begin` and `rest_end` tell where it did.

    One-sided constraints are contacts: gaps close, impacts follow, normal forces vanish and gaps open again; all of it
    is found as events. `impacts` is the law of impacts in which several contacts take part: "moreau" (all at once,
    with restitution in velocities), "poisson" (with restitution in impulses) or "sequential" (one after the other).
    Where contacts slide whose rows depend on each other, as four feet of a table that turns do, the motion may depend
    on how they share their load. `split="compliant"` goes on as if all of them gave way alike, and the message says
    from when on, and how far the accelerations might differ; `split="refuse"` stops there.

    `contacts="steps"` takes steps of the one length `step` instead, by Moreau and Jean's method: of first order, but
    however many contacts there are, and through accumulations of impacts. The dataset says how deep contacts were
    penetrated (`penetration`) and what was left of their laws (`contact_residual`) at most.

    A `Mechanism` begins at its own start where none is given, put together for these `parameters`, and its motion
    carries its drawing, for `animate`. A model that was read from a file has a beginning, an end, events and units,
    too; its `simulate` runs it with the file's own settings.

    A `BlackBox` is integrated by SciPy, "dop853" (which "auto" means then), "radau" or "lsoda"; its start may also be
    a pair of arrays (q, v).

    A motion that stops early raises a `SimulationError` that carries what was computed; with `throw=False` it is
    returned, and `status` and `message` in its attributes say what happened. What is refused before it begins is
    raised in any case; an interrupt returns what was computed.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> m, g = zw.parameters("m g")
    >>> pendulum = zw.System((x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=m*g*y,
    ...                      constraints={"rod": x**2 + y**2 - 1}, parameters={m: 1, g: 9.81})
    >>> motion = zw.simulate(pendulum, {x: 1, y: 0, zw.dot(x): 0, zw.dot(y): 0}, until=2.0, samples=5)
    >>> motion.q.sel(coordinate="y").values.round(6)
    array([ 0.      , -0.92037 , -0.165011, -0.467237, -0.608484])
    >>> bool(abs(motion.energy).max() < 1e-10)
    True
    """
    until, t = check_span(end_of(system, until), begin_of(system, t))
    options = RunOptions(
        until, t, times, samples, method, form, tol, drift, events, precision, max_step, progress, throw, outputs,
        impacts, split, contacts, step,
    )  # fmt: skip
    if not isinstance(system, System | HasSystem):
        from zwang.motion.blackbox import BlackBox, simulate_blackbox

        if isinstance(system, BlackBox):
            names = variables_named(outputs, "outputs")
            motion = simulate_blackbox(system, start_of_one(system, start, None, t), parameters, options)
            return motion if outputs is None else motion[[name for name in names if name in motion]]
    built = system_of(system, "simulate", parameters)
    with hushed(progress is False):
        begin = start_of(built, start_of_one(system, start, parameters, t), t, parameters)
    if not isinstance(system, HasSystem):
        return motion_from(begin, options)
    kept = outputs and (*variables_named(outputs, "outputs"), "q", "v")  # what is drawn is computed from these
    try:
        motion = motion_from(begin, altered(options, events=(*system.events, *listed_events(events)), outputs=kept))
    except SimulationError as error:
        error.motion = only(system.dressed(error.motion, parameters), outputs)
        raise
    return only(system.dressed(motion, parameters), outputs)


def only(motion: "xr.Dataset", outputs: Sequence[str] | None) -> "xr.Dataset":
    """A motion without the positions and velocities that nobody has asked for."""
    return motion if outputs is None else motion.drop_vars([name for name in ("q", "v") if name not in outputs])


def motion_from(start: Start, options: RunOptions) -> "xr.Dataset":
    """`simulate` from a start that is known already; without `progress` nothing is said of compiling either."""
    with hushed(options.progress is False), one_thread(start.system.size):
        try:
            return integrated(start, options)
        except MemoryError:
            raise InputError(
                "there is not enough memory for this motion: save fewer times (samples=…, times=…), or name what is to "
                "be kept of them (outputs=…)"
            ) from None


def integrated(start: Start, options: RunOptions) -> "xr.Dataset":
    """The motion, whoever is told of it."""
    system, (t, q, v), until = start.system, start.state, options.until
    names = variables_named(options.outputs, "outputs")
    setup = prepare(system, start.values, options, contacts=True)
    setup = altered(setup, method=in_precision(options.precision, options.method, setup.method))
    require_fit(system, setup.signals, setup.method, t, until)
    grid = options.grid
    setup = altered(setup, breaks=breaks_in(setup, setup.p[None], t, until)[0])
    require_continuous(setup, q, v)
    watch = reporter(options.progress, t, until)
    if setup.contact is not None and options.contacts == "steps":
        from zwang.motion.contact.steps.observe import in_steps

        motion, path, message = in_steps(setup, start, options, watch, names)
        return unless_stopped(motion, path, message, options)
    if setup.contact is not None:
        return in_contact(setup, start, options, watch, names)
    first = first_basis(setup, start)
    setting_up = clock.perf_counter() - options.began
    zero = Watched(setup, first, start.state).zeros()
    segments, path = integrate_watched(setup, start.state, grid, watch, first, zero)
    if any(keeps_on(setup, segment.basis) for segment in segments):
        setup = altered(setup, drift="projection")
    began = clock.perf_counter()
    looked_at = looked_at_for(setup, segments, names)
    for segment in segments:
        compiled(reporting(setup, segment, looked_at))
    setting_up += clock.perf_counter() - began
    path = altered(path, compile_seconds=path.compile_seconds + setting_up)
    values = values_of(setup, segments, looked_at)
    if not looked_at >= ALL and not vouched_for(setup, segments, values):
        values = values_of(setup, segments)  # a closer look needs all of them
    saved = np.concatenate([s.times for s in segments])
    odds = first_contradiction(setup, segments, values)
    if odds is not None:
        values, saved, path = cut_short(setup, odds, values, saved, path)
    else:
        path = altered(path, doubts=doubts(setup, segments, values, path))
    if not np.array_equal(saved, grid[: len(saved)]):
        wanted = places_of(grid, saved)
        values, saved = {k: x if k == "unique" else x[wanted] for k, x in values.items()}, saved[wanted]
    message = how_it_ended(setup.events, path, (t, until))
    motion = report(setup, saved, values, path, message, clock.perf_counter() - options.began, names)
    return unless_stopped(motion, path, message, options)


def in_contact(setup: Setup, start: Start, options: RunOptions, watch: Any, names: list[str]) -> "xr.Dataset":
    """The motion of a system with contacts, with what its dataset says of them."""
    from zwang.motion.contact.course import Course
    from zwang.motion.contact.grazing import told as grazing_told
    from zwang.motion.contact.observe import (
        beyond,
        dissipated,
        friction,
        gaps_of,
        modes_of,
        observed,
        share,
        share_rough,
        within,
        works_of,
    )

    assert setup.contact is not None
    setting_up = clock.perf_counter() - options.began
    course = Course(setup, start, options.grid, options.impacts, watch, options.split)
    began, prepared = clock.perf_counter(), spent_preparing()
    path = course.run()
    compiling = spent_preparing() - prepared  # what contacts do is decided meanwhile: that is part of the run
    path = altered(path, compile_seconds=compiling, run_seconds=clock.perf_counter() - began - compiling)
    segments, rows = course.segments, list(setup.contact.shown)
    if any(keeps_on(setup, segment.basis) for segment in segments):
        setup = altered(setup, drift="projection")
    began = clock.perf_counter()
    for segment in segments:
        compiled(reporting(setup, segment))
    setting_up += clock.perf_counter() - began
    path = altered(path, compile_seconds=path.compile_seconds + setting_up)
    values, saved = values_of(setup, segments), np.concatenate([s.times for s in segments])
    odds = first_contradiction(setup, segments, values)
    if odds is not None:
        values, saved, path = cut_short(setup, odds, values, saved, path)
    else:
        said = *doubts(setup, segments, values, path), *missed_between(path), *grazing_told(course)
        path = altered(path, doubts=said)
    modes, gaps = modes_of(segments)[: len(saved)], gaps_of(values, rows)
    share(setup, segments, values)
    path = within(setup, gaps, modes, saved, path)
    beyond(setup, values, modes)
    values["unique"][[*course.shared]] = False
    rubbing = {name: value[: len(saved)] for name, value in friction(course.setup, segments).items()}
    path = share_rough(course.rubbing, segments, values, rubbing, path)
    forces = values["multiplier"][:, rows].copy()
    path = dissipated(setup, rubbing, modes, saved, path, course.scales)
    message = how_it_ended(setup.events, path, (start.state[0], options.until))
    motion = report(setup, saved, values, path, message, clock.perf_counter() - options.began, names)
    over_time = {"mode": modes, "gap": gaps, "normal_force": forces} | rubbing | works_of(segments, rows, len(saved))
    motion = observed(setup, motion, over_time, course.transitions)
    return unless_stopped(motion, path, message, options)


def unless_stopped(motion: "xr.Dataset", path: Trajectory, message: str, options: RunOptions) -> "xr.Dataset":
    """The motion; raised in an error if it stopped early and that was not asked to be told otherwise."""
    if options.throw and path.status in REMEDY:
        raise SimulationError(message, str(path.status), motion)
    return motion


def looked_at_for(setup: Setup, segments: Sequence[Segment], names: list[str]) -> set[str]:
    """The variables to compute: those that are asked for, and those that tell whether all is well."""
    if len(names) == len(VARIABLES):
        return set(ALL)
    redundant = any(s.basis.redundant(len(setup.system.constraint_names)) for s in segments)
    return with_parts((*LOOKED_AT, *(OF_REDUNDANT if redundant else ()), *names))
