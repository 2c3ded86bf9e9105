"""Periodic motions by shooting, and their Floquet multipliers.

Shooting is in `shooting`, the multipliers of the motion that is found are in `floquet`. A system that does not depend
on time has one that is 1, along the motion; a driven one has the period that it is given.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from zwang.analysis.dynamics import dynamics_of
from zwang.analysis.equilibrium import guessed, holds
from zwang.analysis.floquet import FLOW, multipliers, verdict
from zwang.analysis.linear import depends_on_time
from zwang.analysis.phase import between, require_between
from zwang.analysis.readings import readings_of
from zwang.analysis.recurrence import found
from zwang.analysis.repeats import require_same
from zwang.analysis.settle import Search
from zwang.analysis.shooting import Problem, Shot
from zwang.arrays import Array
from zwang.errors import InputError
from zwang.model import System
from zwang.model.event import Event
from zwang.model.has_system import HasSystem, begin_of, resets_of, start_of_one, system_of
from zwang.model.state import place_of
from zwang.model.symbols import label
from zwang.model.symbols import t as time
from zwang.model.values import one_number, suggestion
from zwang.motion.simulate import simulate
from zwang.waiting import waiting

if TYPE_CHECKING:
    import xarray as xr

ALLOWED = 1 - 1e-8  # of a shift of a coordinate that is along the constraints: less is not


def periodic(
    system: System | HasSystem,
    guess: Mapping[Any, float] | None = None,
    period: float | None = None,
    hold: Any = (),
    parameters: Mapping[Any, Any] | None = None,
    t: float | None = None,
    tol: float = 1e-12,
    *,
    shift: Any = (),
    events: Sequence[Event] = (),
) -> "xr.Dataset":
    """The periodic motion near a guess of its start and its period, with its Floquet multipliers.

    `hold` lists expressions in coordinates and rates that keep their value at the start, or maps them to one: where
    periodic motions come in families, as those of conservative systems do, it says which one is meant; else the
    nearest is found. A driven system keeps its period.

    `shift` lists coordinates that need not return, as the place of what rolls or walks on and on; or it maps them to
    how far they get in a period, 2π for an angle that turns. The system has to be the same there again.

    Motions go through impacts and through resets of `events`, but begin between them: where a guess does not, and
    neither a drive nor `hold` says where to begin, a motion from it is followed to where it does.

    The result is the motion of `simulate` over one period, with the variables `floquet` and `floquet_name`, which says
    what is known of a multiplier by structure, `shift` (coordinate), and attributes `period`, `residual` (how far the
    motion misses its start, in natural units), and a `verdict` in words.

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
    dynamics, resets = dynamics_of(system, parameters, t), resets_of(given, events)
    q, v = guessed(system, start_of_one(given, guess, parameters, t, "guess"))
    held, targets = holds(dynamics, hold, q, v)
    rates = readings_of(dynamics, system.velocities, "constant")
    search = Search(dynamics, rates, held, targets, rest=False)
    driven = depends_on_time(dynamics) or any(timed(system, e) for event in resets for e in event.expressions)
    problem = Problem(search, dict(parameters or {}), tol, driven, resets, *shifts_of(system, shift))
    if driven:
        require_same(problem, [(q, v)], T, problem.shift[: len(q)])
    with waiting("looking for a periodic motion"):
        if resets or dynamics.one_sided.any():
            q, v = require_between(problem, q, v, T) if driven or held is not None else between(problem, q, v, T)
        shot = found(problem, q, v, T)
        motion = simulate(
            given, shot.state, t + shot.period, parameters=parameters, tol=tol, t=t, progress=False, events=events
        )
    moved = np.where(problem.returns, problem.shift, shot.moved)[: len(q)]
    if moved.any():
        require_same(problem, list(zip(*shot.passed, strict=True)), shot.period if driven else 0.0, moved)
    return told(motion, shot, moved)


def told(motion: "xr.Dataset", shot: Shot, moved: Array) -> "xr.Dataset":
    """The motion with its multipliers and what they mean."""
    names = shot.point.dynamics.system.coordinate_names
    fixed = {} if shot.problem.driven else {FLOW: shot.basis @ (shot.flow / shot.unit)}
    along = {f"shift of {name}": shot.basis[:, i] for i, name in enumerate(names)}
    whole = {name: way for name, way in along.items() if np.linalg.norm(way) > ALLOWED}  # else constraints forbid it
    these = multipliers(shot.map, fixed | whole, shot.factors())
    motion = motion.assign(
        floquet=("multiplier_number", these.values, {"long_name": "Floquet multipliers"}),
        floquet_name=("multiplier_number", np.array(these.names), {"long_name": "what they are by structure"}),
        shift=("coordinate", moved, {"long_name": "by how much coordinates differ after a period"}),
    )
    said = verdict(these, (*fixed, *whole))
    return motion.assign_attrs({"period": shot.period, "residual": shot.missed, "verdict": said})


def timed(system: System, expression: sp.Expr) -> bool:
    """Whether an expression depends on time by itself, or by a known function of it."""
    stands = {x: sp.Dummy() for x in (*system.velocities, *system.coordinates)}
    return bool(expression.xreplace(stands).has(time))


def shifts_of(system: System, shift: Any) -> tuple[Any, Array]:
    """(2n,) which parts of a state are to return, and by how much they are to differ."""
    n = len(system.coordinate_names)
    returns, amounts = np.ones(2 * n, dtype=bool), np.zeros(2 * n)
    listed = (
        shift if isinstance(shift, Mapping) else dict.fromkeys([shift] if isinstance(shift, sp.Basic | str) else shift)
    )
    for key, value in listed.items():
        place = place_of(system, key)
        if place is None or place >= n:
            raise InputError(
                f"shift names {label(key)}, which is not a coordinate of this system"
                f"{suggestion(key, list(system.coordinates))}"
            )
        if value is None:
            returns[place] = False
        else:
            amounts[place] = one_number(value, f"shift: {label(key)}")
    return returns, amounts
