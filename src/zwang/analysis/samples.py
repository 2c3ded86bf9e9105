"""One state with its parameters, or a stack of them along one axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from zwang.analysis.dynamics import Dynamics
from zwang.analysis.equilibrium import Equilibrium
from zwang.analysis.held_inputs import with_constants
from zwang.arrays import Array
from zwang.errors import InputError
from zwang.model import System
from zwang.model.has_system import is_array, start_of_each
from zwang.model.values import by_name, given_values, state_arrays

SAMPLE = "sample"
TAKEN = (
    *("q", "v", "A", "B", "C", "D", "state", "state_", "input", "output", "state_value", "input_value", "output_value"),
    *("coordinate", "mode", "eigenvalue", "frequency", "damping", "shape", "zeros", "uncertain"),
)
"""Names in datasets along a stack: a parameter that is called so is an axis `parameter_…`."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Systems with numbers and their states; the axis they lie along, its name and coordinates, if it is a stack."""

    each: tuple[tuple[Dynamics, Array, Array], ...]
    axis: tuple[str, ...]
    along: Mapping[str, Any]

    def stacked(self, values: Sequence[Any]) -> Any:
        """One value a sample as an array over the axis; of one state its value alone."""
        return np.asarray(values) if self.axis else np.asarray(values[0])


def samples_of(
    given: Any,
    system: System,
    state: Any,
    parameters: Mapping[Any, Any] | None,
    t: float,
    inputs: Sequence[sp.Expr] = (),
) -> Samples:
    """The samples that are meant: arrays of parameters and of the state broadcast against each other."""
    found = state.state if isinstance(state, Equilibrium) else start_of_each(given, state, parameters, t, "state")
    if isinstance(found, Mapping):
        found = dict.fromkeys(system.velocities, 0.0) | {by_name(system, key): value for key, value in found.items()}
    q, v = state_arrays(system, found)
    values = given_values(system, with_constants(system, parameters, t, inputs))
    shape = np.broadcast_shapes(q.shape[:-1], values.p.shape[:-1])
    if not shape:
        return Samples(((Dynamics(system, values, t), q, v),), (), {})
    if len(shape) > 1:
        raise InputError(f"arrays of shape {shape}: a stack along one axis is meant here")
    q, v = (np.broadcast_to(x, (*shape, x.shape[-1])) for x in (q, v))
    p = np.broadcast_to(values.p, (*shape, values.p.shape[-1]))
    each = tuple((Dynamics(system, replace(values, p=p[i]), t), q[i], v[i]) for i in range(shape[0]))
    varied = {str(getattr(key, "name", key)): value for key, value in (parameters or {}).items() if is_array(value)}
    if len(varied) == 1:
        name, numbers = next(iter(varied.items()))
        name = axis_name(name)
        return Samples(each, (name,), {name: np.broadcast_to(np.asarray(numbers, dtype=float), shape)})
    return Samples(
        each, (SAMPLE,), {axis_name(name): (SAMPLE, np.broadcast_to(x, shape)) for name, x in varied.items()}
    )


def axis_name(parameter: str) -> str:
    """What the axis of a parameter is called: as the parameter, unless a dataset has another thing of that name.

    >>> axis_name("load"), axis_name("v")
    ('load', 'parameter_v')
    """
    return f"parameter_{parameter}" if parameter in TAKEN else parameter
