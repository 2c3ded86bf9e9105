"""Linear state spaces beside an equilibrium or a steady motion: ẏ = A y + B u, z = C y + D u, by names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from zwang.analysis.contacts import closed_at
from zwang.analysis.dynamics import Dynamics, Point
from zwang.analysis.linear import Linear, chosen_states, linear_at, require_autonomous
from zwang.analysis.readings import Readings, column_of_input, inputs_of, readings_of
from zwang.analysis.samples import Samples, samples_of
from zwang.arrays import TINIEST, Array
from zwang.errors import InputError
from zwang.evaluation import require_finite_matrices
from zwang.lowering.matrices import matrix_kernel
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, system_of
from zwang.model.symbols import in_a_line
from zwang.model.values import one_number
from zwang.motion.start import to_the_last_digit
from zwang.verdict import violations
from zwang.waiting import waiting

if TYPE_CHECKING:
    import xarray as xr

TOLD = 1e-7  # the share of an output that other directions than those of the states may change
MOVED = 1e-10  # the share of its size by which an input may not move a constraint


def linearize(
    system: System | HasSystem,
    state: Any = None,
    states: Any = None,
    inputs: Any = (),
    outputs: Any = None,
    t: float | None = None,
    parameters: Mapping[Any, Any] | None = None,
) -> "xr.Dataset":
    """The linear system beside an equilibrium or a steady motion: ẏ = A y + B u, z = C y + D u.

    `state` maps coordinates and rates to numbers (rates left out are zero), or is what `equilibrium` and `steady` give.
    `states` y lists expressions in coordinates and rates, or gives them names in a mapping; without it, coordinates and
    rates are chosen that describe the motion well. `inputs` u are parameters and known functions of time. `outputs` z
    are expressions that may contain accelerations, `multiplier(name)` and `constraint_force(x)`, too; without them,
    the states. All are deviations from their values at the state.

    Parameters and the state may be arrays, along one axis: then so are A, B, C and D. The attributes say how well the
    states determine their own rates (`closure`) and how steady the state is (`residual`), as shares: rounding, or it
    is refused.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> m, g, F = zw.parameters("m g F")
    >>> pendulum = zw.System((x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=m*g*y, forces={x: F},
    ...                      constraints={"rod": x**2 + y**2 - 1}, parameters={m: 2, g: 10, F: 0})
    >>> lin = zw.linearize(pendulum, {x: 0, y: -1}, inputs=[F], outputs=[zw.dot(zw.dot(x))])
    >>> lin.state.values.tolist(), lin.A.values.tolist(), lin.B.values.tolist()
    (['x', "x'"], [[0.0, 1.0], [-10.0, 0.0]], [[0.0], [0.5]])
    >>> lin.C.values.tolist(), lin.D.values.tolist()
    ([[-10.0, 0.0]], [[0.5]])
    """
    given, t = system, one_number(begin_of(system, t), "t")
    system = system_of(given, "linearize", parameters)
    wanted = inputs_of(system, inputs)
    with waiting("linearizing"):
        samples = samples_of(given, system, state, parameters, t, wanted)
        spaces = spaces_of(samples, states, wanted, outputs, parameters)
        return dataset(samples, spaces, [in_a_line(u) for u in wanted])


@dataclass(frozen=True, eq=False)
class Space:
    """A linear system beside one state."""

    linear: Linear
    B: Array
    C: Array
    D: Array
    outputs: tuple[str, ...]
    values: Array
    """(z,) the outputs at the state itself"""
    inputs: Array
    """(u,) the inputs there"""


def spaces_of(
    samples: Samples, states: Any, inputs: list[sp.Expr], outputs: Any, parameters: Mapping[Any, Any] | None
) -> list[Space]:
    """The linear systems of all samples, in the states of the first one where none are given."""
    spaces: list[Space] = []
    chosen: Readings | None = None
    spare = None if samples.axis else parameters
    for dynamics, q, v in samples.each:
        point = point_at(dynamics, q, v)
        require_autonomous(point)
        point.require_smooth()
        point.require_regular()
        if chosen is None:
            given = states is not None
            chosen = readings_of(dynamics, states, "states", spare) if given else chosen_states(dynamics, point, spare)
            if given and not chosen.names:
                raise InputError("states is empty: list expressions, or leave it out to have them chosen")
        linear = linear_at(point, chosen)
        linear.require_independent()
        linear.require_steady()
        linear.require_closed()
        spaces.append(space_of(linear, inputs, outputs, spare))
    return spaces


def point_at(dynamics: Dynamics, q: Array, v: Array) -> Point:
    """A state that obeys its constraints, to the last digit; one that does not is refused by name."""
    dynamics = closed_at(dynamics, q, v)
    system, kernel = dynamics.system, matrix_kernel(dynamics.system, dynamics.values.inputs)
    now = kernel(dynamics.t, q, v, dynamics.values.p)
    require_finite_matrices(system, now)
    if bad := violations(system, now, q, v):
        words = "; ".join(
            f"{system.constraint_names[i]!r} reads {np.nan_to_num(now.residual[i]):.6g} in position and "
            f"{np.nan_to_num(now.residual_rate[i]):.6g} in velocity"
            for i in bad
        )
        raise InputError(
            f"the state does not satisfy its constraints: {words}; zwang.equilibrium and zwang.steady give states that "
            f"do"
        )
    if dynamics.one_sided.any():
        return dynamics.at(q, v)
    return dynamics.at(*to_the_last_digit(system, kernel, dynamics.values.p, (dynamics.t, q, v), now))


def space_of(linear: Linear, inputs: list[sp.Expr], outputs: Any, parameters: Mapping[Any, Any] | None) -> Space:
    """B, C and D beside one state."""
    point, dynamics = linear.point, linear.point.dynamics
    n, k = len(point.q), len(dynamics.values.p)
    columns = [column_of_input(dynamics, u) for u in inputs]
    dp = np.zeros((len(inputs), k))
    for row, column in zip(dp, columns, strict=True):
        if column is not None:
            row[column] = 1.0
    still = np.zeros((len(inputs), n))
    B = np.zeros((len(linear.states.names), len(inputs)))
    if inputs:
        require_unmoved(point, inputs, dp)
        change = point.change(still, still, dp)
        pushed = linear.states.along(point, still, still, change, dp)
        if np.abs(pushed["d_reading"]).max(initial=0.0) > 0:
            j, i = map(int, np.argwhere(pushed["d_reading"])[0])
            raise InputError(
                f"the state {linear.states.names[i]} contains the input {in_a_line(inputs[j])}: states are what does "
                f"not jump; leave the input out of it"
            )
        B = pushed["d_rate"].T
    values = np.array([0.0 if c is None else dynamics.values.p[c] for c in columns])
    if outputs is None:
        C, D = np.eye(len(linear.states.names)), np.zeros((len(linear.states.names), len(inputs)))
        return Space(linear, B, C, D, linear.states.names, linear.states.at(point)["reading"], values)
    wanted = readings_of(dynamics, outputs, "outputs", parameters, outputs=True)
    along = wanted.along(point, linear.tangent.dq, linear.tangent.dv, linear.change)
    C = linear.seen(along["d_reading"].T, wanted.names, TOLD)
    D = np.zeros((len(wanted.names), len(inputs)))
    if inputs:
        D = wanted.along(point, still, still, change, dp)["d_reading"].T
    return Space(linear, B, C, D, wanted.names, along["reading"], values)


def require_unmoved(point: Point, inputs: list[sp.Expr], dp: Array) -> None:
    """Refuse inputs that move constraints on positions or velocities: states would have to follow at once."""
    still = np.zeros((len(inputs), len(point.q)))
    found = point.read(still, still, dp)
    for level in ("residual", "residual_rate"):
        moved = np.abs(found[f"d_{level}"]) * np.maximum(np.abs(dp @ point.dynamics.values.p), 1.0)[:, None]
        size = np.zeros(moved.shape[1])
        size[point.dynamics.two_sided] = np.nan_to_num(point.now.size if level == "residual" else point.now.rate_size)
        if (bad := moved > MOVED * size + TINIEST).any():
            j, i = map(int, np.argwhere(bad)[0])
            name = point.dynamics.system.constraint_names[i]
            raise InputError(
                f"the input {in_a_line(inputs[j])} moves the constraint {name!r}: the state would have to follow it at "
                f"once; make what is driven a coordinate, and the input its force or its acceleration"
            )


def dataset(samples: Samples, spaces: list[Space], inputs: list[str]) -> "xr.Dataset":
    """The matrices over their names."""
    import xarray as xr

    first, over, stacked = spaces[0], samples.axis, samples.stacked
    system = first.linear.point.dynamics.system
    names = list(first.linear.states.names)
    variables = {
        "A": ("state", "state_", "ẏ = A y + B u", [s.linear.A for s in spaces]),
        "B": ("state", "input", "ẏ = A y + B u", [s.B for s in spaces]),
        "C": ("output", "state", "z = C y + D u", [s.C for s in spaces]),
        "D": ("output", "input", "z = C y + D u", [s.D for s in spaces]),
    }
    vectors = {
        "q": ("coordinate", "coordinates", [s.linear.point.q for s in spaces]),
        "v": ("coordinate", "velocities", [s.linear.point.v for s in spaces]),
        "state_value": ("state", "states where all deviations are zero", [reading(s) for s in spaces]),
        "input_value": ("input", "inputs there", [s.inputs for s in spaces]),
        "output_value": ("output", "outputs there", [s.values for s in spaces]),
    }
    found = {name: ((*over, a, b), stacked(x), {"long_name": words}) for name, (a, b, words, x) in variables.items()}
    found |= {name: ((*over, a), stacked(x), {"long_name": words}) for name, (a, words, x) in vectors.items()}
    labels = {
        "state": names,
        "state_": names,
        "input": inputs,
        "output": list(first.outputs),
        "coordinate": list(system.coordinate_names),
    }
    return xr.Dataset(
        found,
        coords={name: (name, np.asarray(x, dtype=str)) for name, x in labels.items()} | dict(samples.along),
        attrs={
            "closure": max(s.linear.closure for s in spaces),
            "residual": max(s.linear.residual for s in spaces),
            "system": system.name,
        },
    )


def reading(space: Space) -> Array:
    """The states at the state itself."""
    return space.linear.states.at(space.linear.point)["reading"]
