"""A mode as a motion: beside its equilibrium, on the constraints, ready for the player."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.dynamics import dynamics_of
from zwang.analysis.readings import readings_of
from zwang.analysis.settle import Search, units_at
from zwang.arrays import Array
from zwang.errors import InputError
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, system_of
from zwang.model.values import given_values, one_number
from zwang.results.inputs import with_values
from zwang.waiting import waiting
from zwang.words import listed

if TYPE_CHECKING:
    import xarray as xr

INSTANTS = 120  # pictures of a mode
TIME_CONSTANTS = 3.0  # of a mode that does not oscillate, so long it is shown


def mode_motion(
    system: System | HasSystem,
    found: "xr.Dataset",
    mode: int = 0,
    amplitude: float = 0.2,
    periods: float = 2.0,
    parameters: Mapping[Any, Any] | None = None,
) -> "xr.Dataset":
    """The motion of one mode beside its equilibrium, q + Re(w e^{λt}), to be looked at with `animate`.

    `found` is what `modes` gives at rest, `mode` the number of one there. Positions are brought back onto the
    constraints, so that rods keep their lengths. The largest displacement is `amplitude`, as a share of a change that
    matters: for a pendulum 0.2 is about 11 degrees. A mode that oscillates is shown for so many `periods`, one that
    does not for three time constants.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> pendulum = zw.System((x, y), kinetic=(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=9.81*y,
    ...                      constraints={"rod": x**2 + y**2 - 1})
    >>> motion = zw.mode_motion(pendulum, zw.modes(pendulum, {x: 0, y: -1}), mode=0)
    >>> motion.q.values[0].round(6), motion.q.values[30].round(6)     # a quarter of a period later
    (array([ 0.196116, -0.980581]), array([ 0., -1.]))
    >>> animation = zw.animate(motion)                 # in a notebook this shows the player
    """
    given = system
    system = system_of(given, "mode_motion", parameters)
    value, shape, q, v = chosen_mode(system, found, mode)
    size, turns = one_number(amplitude, "amplitude"), one_number(periods, "periods")
    if not size > 0 or not turns > 0:
        raise InputError(f"amplitude = {size:g} and periods = {turns:g}: positive numbers are needed")
    if v.any():
        raise InputError(
            "this mode is beside a steady motion, which goes on while it is disturbed: simulate from a state beside it"
        )
    dynamics = dynamics_of(system, parameters, one_number(begin_of(given, None), "t"))
    rates = readings_of(dynamics, system.velocities, "constant")
    search = Search(dynamics, rates, None, np.zeros(0), rest=False)
    unit = units_at(search, q, v)
    times = instants(value, turns)
    growth = np.exp(value * times) if value else times.astype(complex) / times[-1]
    moved = np.outer(growth, shape).real
    rate = np.outer(value * growth, shape).real if value else np.outer(np.ones(len(times)), shape.real) / times[-1]
    scale = size / float(np.abs(moved / unit[: len(q)]).max())
    with waiting("following a mode"):
        states = [np.concatenate([q + scale * dq, scale * dv]) for dq, dv in zip(moved, rate, strict=True)]
        on_rows = np.array([search.onto(x, unit)[0] for x in states])
    motion = dataset(system, times, on_rows[:, : len(q)], on_rows[:, len(q) :], value)
    motion = with_values(motion, given_values(system, parameters))
    return given.dressed(motion, parameters) if isinstance(given, HasSystem) else motion


def chosen_mode(system: System, found: Any, mode: int) -> tuple[complex, Any, Array, Array]:
    """Eigenvalue and shape of a mode, and the state beside which it is."""
    if not all(name in getattr(found, "variables", ()) for name in ("eigenvalue", "shape", "q", "v")):
        raise InputError("mode_motion takes what zwang.modes gives: mode_motion(system, modes(system, state), mode=0)")
    if stack := [str(name) for name in found.eigenvalue.dims if name != "mode"]:
        raise InputError(f"this is a stack along {listed(stack)}: choose one, as in found.isel({stack[0]}=0)")
    if tuple(found.coordinate.values.tolist()) != tuple(system.coordinate_names):
        raise InputError("these modes are of another system: their coordinates have other names")
    count = found.sizes["mode"]
    if not isinstance(mode, int | np.integer) or not 0 <= mode < count:
        raise InputError(f"mode = {mode!r}: a whole number from 0 to {count - 1} is needed")
    shape = found.shape.values[mode]
    if not np.abs(shape).max(initial=0.0) > 0:
        raise InputError(f"mode {mode} moves no coordinate: there is nothing to see")
    return complex(found.eigenvalue.values[mode]), shape, found.q.values, found.v.values


def instants(value: complex, periods: float) -> Array:
    """Times at which a mode is shown: some periods, or some time constants; of a zero one unit of time."""
    if value.imag:
        span = periods * 2 * np.pi / abs(value.imag)
        return np.linspace(0.0, span, int(np.ceil(INSTANTS * max(periods, 1.0))) + 1)
    return np.linspace(0.0, TIME_CONSTANTS / abs(value.real) if value.real else 1.0, INSTANTS + 1)


def dataset(system: System, times: Array, q: Array, v: Array, value: complex) -> "xr.Dataset":
    """Positions and velocities over time, as motions have them."""
    import xarray as xr

    return xr.Dataset(
        {
            "q": (("time", "coordinate"), q, {"long_name": "coordinates"}),
            "v": (("time", "coordinate"), v, {"long_name": "velocities"}),
        },
        coords={
            "time": ("time", times, {"long_name": "time"}),
            "coordinate": ("coordinate", np.asarray(system.coordinate_names, dtype=str)),
        },
        attrs={"system": system.name, "eigenvalue": str(value)},
    )
