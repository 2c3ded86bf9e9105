"""Lyapunov exponents: how fast neighbours of a motion go away from it, in the mean over a long time.

Directions that span the tangent space of the states that obey the constraints are carried along by the sensitivities,
stretch by stretch, and made orthonormal again at the end of each (Benettin 1980): the logarithms of their growth,
added up and divided by the time, are the exponents.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.dynamics import dynamics_of
from zwang.analysis.linear import depends_on_time
from zwang.analysis.readings import readings_of
from zwang.analysis.settle import Search, units_at
from zwang.analysis.springs import conservative
from zwang.arrays import Array
from zwang.errors import InputError
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, end_of, start_of_one, system_of
from zwang.model.values import state_arrays
from zwang.motion.sensitivity import sensitivities
from zwang.motion.setup import check_span
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
) -> "xr.Dataset":
    """The largest Lyapunov exponents of a motion from time t until `until`, largest first.

    `count` says how many; without it all there are, two for each degree of freedom. The time is divided into
    `stretches`: after each one directions are made orthonormal anew, so choose more of them where neighbours grow by
    many powers of ten within one. `exponent` has them at the end of the time, `history` after each stretch: see there
    whether they have settled. The attribute `structural` says how many vanish by structure in the limit of long times:
    one along the motion where nothing depends on time, and one where energy is conserved.

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
        times, growth = followed(system, q, v, np.linspace(t, until, stretches + 1), count, parameters, tol)
    return dataset(system, times, growth, t, parameters)


def followed(
    system: System,
    q: Array,
    v: Array,
    times: Array,
    count: int | None,
    parameters: Mapping[Any, Any] | None,
    tol: float,
) -> tuple[Array, Array]:
    """The ends of the stretches, and the logarithms (stretch, exponent) of the growth in each."""
    keys, n, logs = [*system.coordinates, *system.velocities], len(q), []
    directions: Array | None = None
    unit: Array | None = None
    for begin, end in pairwise(times):
        dynamics = dynamics_of(system, parameters, float(begin))
        rates = readings_of(dynamics, system.velocities, "constant", parameters)
        search = Search(dynamics, rates, None, np.zeros(0), rest=False)
        unit = units_at(search, q, v) if unit is None else unit  # one measure for the whole motion
        x, found = search.onto(np.concatenate([q, v]), unit)
        x = x if found else np.concatenate([q, v])
        point = dynamics.at(x[:n], x[n:])
        basis = np.linalg.qr((point.tangent.rows / unit).T)[0]  # (2n, d)
        if directions is None:
            most = basis.shape[1]
            if count is not None and not (isinstance(count, int) and 1 <= count <= most):
                raise InputError(f"count = {count!r}: a whole number from 1 to {most} is needed")
            mixed = np.linalg.qr(np.random.default_rng(0).standard_normal((most, most)))[0]
            directions = basis @ mixed[:, : count or most]
        else:
            directions, R = np.linalg.qr(basis @ (basis.T @ directions))
            logs.append(np.log(np.abs(np.diagonal(R))))
        ways = {str(i): dict(zip(keys, map(float, way * unit), strict=True)) for i, way in enumerate(directions.T)}
        state = dict(zip(keys, map(float, x), strict=True))
        motion = sensitivities(
            system, state, float(end), ways, samples=2, parameters=parameters, tol=tol, t=float(begin), progress=False
        )
        q, v = motion.q.values[-1], motion.v.values[-1]
        directions = np.concatenate([motion.dq.values[-1], motion.dv.values[-1]]) / unit[:, None]
    assert directions is not None
    logs.append(np.log(np.abs(np.diagonal(np.linalg.qr(directions)[1]))))
    return times[1:], np.array(logs)


def dataset(system: System, times: Array, logs: Array, t: float, parameters: Mapping[Any, Any] | None) -> "xr.Dataset":
    """Exponents at the end and on the way."""
    import xarray as xr

    history = np.cumsum(logs, axis=0) / (times - t)[:, None]
    order = np.argsort(-history[-1])
    history = history[:, order]
    timed = depends_on_time(dynamics_of(system, parameters, t))
    structural = 0 if timed else 1 + int(conservative(system))
    return xr.Dataset(
        {
            "exponent": (("number",), history[-1], {"long_name": "Lyapunov exponents"}),
            "history": (("time", "number"), history, {"long_name": "Lyapunov exponents up to a time"}),
        },
        coords={"time": times, "number": np.arange(1, history.shape[1] + 1)},
        attrs={"structural": structural, "system": system.name},
    )
