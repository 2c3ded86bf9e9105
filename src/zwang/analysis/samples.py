"""One state with its parameters, or a stack of them along one axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from zwang.model.values import given_values, state_arrays

SAMPLE = "sample"
TAKEN = (
    *("q", "v", "A", "B", "C", "D", "state", "state_", "input", "output", "state_value", "input_value", "output_value"),
    *("coordinate", "mode", "eigenvalue", "frequency", "damping", "shape", "zeros", "uncertain"),
)
"""Names in datasets along a stack: a parameter that is called so is an axis `parameter_…`."""


@dataclass(frozen=True, eq=False)
class Samples:
    """A system with numbers and its state; or stacks of both, the name of the axis they lie along, its coordinates."""

    dynamics: Dynamics
    """With parameters (…, k)."""
    q: Array
    v: Array
    axis: tuple[str, ...]
    along: Mapping[str, Any]
    constant: Mapping[str, sp.Expr] = field(default_factory=dict)
    """What stays constant in the motion, where it is known, by name."""

    def __len__(self) -> int:
        """How many there are."""
        return len(self.q) if self.axis else 1

    def one(self, i: int) -> tuple[Dynamics, Array, Array]:
        """One of them."""
        dynamics, q, v = self.part(slice(i, i + 1))
        return (some(dynamics, 0), q[0], v[0]) if self.axis else (dynamics, q, v)

    def part(self, which: slice) -> tuple[Dynamics, Array, Array]:
        """Some of them, as a stack; of one state that itself."""
        if not self.axis:
            return self.dynamics, self.q, self.v
        return some(self.dynamics, which), self.q[which], self.v[which]

    def joined(self, parts: Sequence[Array], stacks: Sequence[bool]) -> Any:
        """Values of parts of the stack, of which some are stacks themselves, others of one sample each."""
        if not self.axis:
            return np.asarray(parts[0])
        return np.concatenate([np.asarray(x) if s else np.asarray(x)[None] for x, s in zip(parts, stacks, strict=True)])


def some(dynamics: Dynamics, which: Any) -> Dynamics:
    """The system with the numbers of some samples of a stack: a slice, or one by its number."""
    p, given = dynamics.values.p, dynamics.values.given
    own = {key: np.broadcast_to(value, p.shape[:1])[which] for key, value in given.items() if is_array(value)}
    return replace(dynamics, values=replace(dynamics.values, p=p[which], given={**given, **own}))


def samples_of(
    given: Any,
    system: System,
    state: Any,
    parameters: Mapping[Any, Any] | None,
    t: float,
    inputs: Sequence[sp.Expr] = (),
) -> Samples:
    """The samples that are meant: arrays of parameters and of the state broadcast against each other."""
    steady = isinstance(state, Equilibrium)
    found = state.state if steady else start_of_each(given, state, parameters, t, "state")
    constant = dict(zip(state.constant, state.expressions, strict=True)) if steady else {}
    q, v = state_arrays(system, found, missing_rates=0.0)
    values = given_values(system, with_constants(system, parameters, t, inputs))
    dynamics = Dynamics(system, values, t)
    shape = np.broadcast_shapes(q.shape[:-1], dynamics.all_p.shape[:-1])
    if not shape:
        return Samples(dynamics, q, v, (), {}, constant)
    if 0 in shape:
        raise InputError("an array of the parameters or of the state is empty: give it at least one value")
    if len(shape) > 1:
        raise InputError(f"arrays of shape {shape}: a stack along one axis is meant here")
    q, v = (np.broadcast_to(x, (*shape, x.shape[-1])) for x in (q, v))
    dynamics = replace(dynamics, values=replace(values, p=np.broadcast_to(values.p, (*shape, values.p.shape[-1]))))
    varied = {str(getattr(key, "name", key)): value for key, value in (parameters or {}).items() if is_array(value)}
    if len(varied) == 1:
        name, numbers = next(iter(varied.items()))
        name = axis_name(name)
        varied = {name: np.broadcast_to(np.asarray(numbers, dtype=float), shape)}
        return Samples(dynamics, q, v, (name,), varied, constant)
    along = {axis_name(name): (SAMPLE, np.broadcast_to(x, shape)) for name, x in varied.items()}
    return Samples(dynamics, q, v, (SAMPLE,), along, constant)


def axis_name(parameter: str) -> str:
    """What the axis of a parameter is called: as the parameter, unless a dataset has another thing of that name.

    >>> axis_name("load"), axis_name("v")
    ('load', 'parameter_v')
    """
    return f"parameter_{parameter}" if parameter in TAKEN else parameter
