"""Lyapunov exponents: how fast neighbours of a motion go away from it, in the mean over a long time.

Directions that span the tangent space of the states that obey the constraints are carried along, stretch by stretch,
and made orthonormal again at the end of each (Benettin 1980; see `neighbours`): the logarithms of their growth, added
up and divided by the time, are the exponents.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.dynamics import Dynamics, dynamics_of
from zwang.analysis.linear import depends_on_time
from zwang.analysis.neighbours import Neighbours, aside, search_on, tangent_basis
from zwang.analysis.periodic import timed
from zwang.analysis.settle import units_at
from zwang.analysis.springs import conservative
from zwang.arrays import Array
from zwang.errors import InputError
from zwang.evaluation import limits
from zwang.model import System
from zwang.model.event import Event
from zwang.model.has_system import HasSystem, begin_of, end_of, resets_of, start_of_one, system_of
from zwang.model.values import state_arrays
from zwang.motion.options import check_span
from zwang.waiting import waiting

if TYPE_CHECKING:
    import xarray as xr


def lyapunov(
    system: System | HasSystem,
    start: Mapping[Any, float] | None = None,
    until: float | None = None,
    count: int | None = None,
    stretches: int = 100,
    parameters: Mapping[Any, Any] | None = None,
    t: float | None = None,
    tol: float = 1e-10,
    *,
    events: Sequence[Event] = (),
) -> "xr.Dataset":
    """The largest Lyapunov exponents of a motion from time t until `until`, largest first.

    `count` says how many; without it all there are, two for each degree of freedom. The time is divided into
    `stretches`, at the end of which directions are made orthonormal anew; a stretch in which they grow too far apart is
    divided further. `exponent` has them at the end of the time, `history` after each stretch: see there whether they
    have settled. The attribute `structural` says how many vanish by structure in the limit of long times,
    and `structural_names` which: along the motion where nothing depends on time, one more where energy is conserved,
    and those of coordinates that occur nowhere, with their momenta where these are conserved.

    Motions go through impacts and through resets of `events`; what a jump forgets has the exponent −∞.

    >>> import zwang as zw
    >>> x = zw.coordinates("x")
    >>> damped = zw.System((x,), kinetic=zw.dot(x)**2/2, potential=2*x**2, forces={x: -zw.dot(x)/5})
    >>> found = zw.lyapunov(damped, {x: 1, zw.dot(x): 0}, until=200)
    >>> found.exponent.values.round(2)
    array([-0.1, -0.1])
    """
    given = system
    system = system_of(given, "lyapunov", parameters)
    until, t = check_span(end_of(given, until), begin_of(given, t))
    if not isinstance(stretches, int) or stretches < 1:
        raise InputError(f"stretches = {stretches!r}: a whole number from 1 on is needed")
    q, v = state_arrays(system, start_of_one(given, start, parameters, t))
    if q.ndim != 1:
        raise InputError("lyapunov takes one start: give numbers, not arrays")
    with waiting("following neighbours"):
        resets = resets_of(given, events)
        grid = np.linspace(t, until, stretches + 1)
        times, growth = followed(system, q, v, grid, count, parameters, tol, resets)
    return dataset(system, times, growth, t, structural(system, parameters, t, resets))


def followed(
    system: System,
    q: Array,
    v: Array,
    times: Array,
    count: int | None,
    parameters: Mapping[Any, Any] | None,
    tol: float,
    resets: tuple[Event, ...],
) -> tuple[Array, Array]:
    """The ends of the stretches, and the logarithms (stretch, exponent) of the growth in each."""
    dynamics = dynamics_of(system, parameters, float(times[0]))
    search = search_on(dynamics)
    unit = units_at(search, q, v)  # one measure for the whole motion
    x, found = search.onto(np.concatenate([q, v]), unit)
    x = x if found else np.concatenate([q, v])
    require_open(dynamics, *np.split(x, 2))
    directions = first_directions(tangent_basis(dynamics, x, unit), count)
    neighbours = Neighbours(system, parameters, tol, resets, unit)
    times = aside(times) if neighbours.jumps else times  # a stretch that begins at a jump would miss it
    alive, parts = np.arange(directions.shape[1]), 1
    logs = np.full((len(times) - 1, len(alive)), -np.inf)
    for k, (begin, end) in enumerate(pairwise(times.tolist())):
        stretches = neighbours.along(begin, end, x, directions, parts)
        growth = np.zeros(len(alive))
        for stretch in stretches:
            growth = growth[stretch.kept] + np.log(np.abs(stretch.R[np.arange(len(stretch.kept)), stretch.kept]))
            alive = alive[stretch.kept]
        logs[k, alive] = growth
        if not len(alive):
            break
        x, directions = stretches[-1].end, stretches[-1].directions
        parts = neighbours.parts(stretches)
    return times[1:], logs


def require_open(dynamics: Dynamics, q: Array, v: Array) -> None:
    """Refuse a start where a contact is closed: neighbours that are off it, or beyond it, have another motion."""
    closed = np.flatnonzero(limits(dynamics.system, dynamics.all_matrices(q, v), q, v)[0])
    if len(closed):
        name = dynamics.system.constraint_names[closed[0]]
        raise InputError(f"the contact {name!r} is closed at the start: begin where all contacts are open")


def first_directions(basis: Array, count: int | None) -> Array:
    """(2n, count) directions at random in the span of a basis (2n, d)."""
    most = basis.shape[1]
    if count is not None and not (isinstance(count, int) and 1 <= count <= most):
        raise InputError(f"count = {count!r}: a whole number from 1 to {most} is needed")
    mixed = np.linalg.qr(np.random.default_rng(0).standard_normal((most, most)))[0]
    return np.asarray(basis @ mixed[:, : count or most])


def structural(
    system: System, parameters: Mapping[Any, Any] | None, t: float, resets: tuple[Event, ...]
) -> tuple[str, ...]:
    """The exponents that vanish by structure, by name; resets may change anything."""
    dynamics = dynamics_of(system, parameters, t)
    driven = depends_on_time(dynamics) or any(timed(system, e) for event in resets for e in event.expressions)
    lossless = all(not c.friction and (not c.one_sided or c.restitution == 1) for c in system.constraints)
    conserves = conservative(system) and lossless and not resets
    found = [] if driven else ["along the motion", *(["energy"] if conserves else [])]
    derived, axes = dynamics.lowered.derived, dynamics.lowered.description.axes
    parts = [*derived.Q, *derived.C, *derived.b, *(e for row in (*derived.M, *derived.A) for e in row.values())]
    parts += [e for e in (*derived.residual, *derived.residual_rate) if e is not None]
    used = set().union(*(e.free_symbols for e in parts))
    bound = {i for row in derived.A for i in row}
    for i, (name, q) in enumerate(zip(system.coordinate_names, axes.q, strict=True)):
        if q not in used and not resets:
            found += [f"shift of {name}", *([f"momentum of {name}"] if conserves and i not in bound else [])]
    return tuple(found)


def dataset(system: System, times: Array, logs: Array, t: float, vanish: tuple[str, ...]) -> "xr.Dataset":
    """Exponents at the end and on the way."""
    import xarray as xr

    history = np.cumsum(logs, axis=0) / (times - t)[:, None]
    order = np.argsort(-history[-1], kind="stable")
    history = history[:, order]
    return xr.Dataset(
        {
            "exponent": (("number",), history[-1], {"long_name": "Lyapunov exponents"}),
            "history": (("time", "number"), history, {"long_name": "Lyapunov exponents up to a time"}),
        },
        coords={"time": times, "number": np.arange(1, history.shape[1] + 1)},
        attrs={"structural": len(vanish), "structural_names": ", ".join(vanish), "system": system.name},
    )
