"""Linear state spaces beside an equilibrium or a steady motion: ẏ = A y + B u, z = C y + D u, by names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from zwang.analysis.contacts import closed_at
from zwang.analysis.dynamics import Point
from zwang.analysis.linear import Linear, depends_on_time, linear_at
from zwang.analysis.on_constraints import checked, point_at
from zwang.analysis.readings import Readings, column_of_input, inputs_of, readings_of
from zwang.analysis.samples import Samples, samples_of
from zwang.analysis.steady_states import Course, Further, chosen_states
from zwang.arrays import TINIEST, Array
from zwang.errors import InputError, ZwangError
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, readings_beside, system_of
from zwang.model.symbols import in_a_line
from zwang.model.values import one_number
from zwang.waiting import waiting

if TYPE_CHECKING:
    import xarray as xr

TOLD = 1e-7  # the share of an output that other directions than those of the states may change
MOTIONS_FOLLOWED = (
    9  # samples of a stack whose motions are followed, spread evenly: what turns in one does so in others
)
TOGETHER = 500  # samples of a stack that are made together: beyond it arrays would only leave the cache
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
        spaces = spaces_of(samples, Asked(states, wanted, outputs), lambda: readings_beside(given, parameters))
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

    @property
    def stacked(self) -> bool:
        """Whether it is a stack of them: then all arrays have an axis in front."""
        return self.linear.point.q.ndim > 1


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked beside every state: states, or None for a good choice, inputs and outputs."""

    states: Any
    inputs: list[sp.Expr]
    outputs: Any


def spaces_of(samples: Samples, asked: Asked, further: Further) -> list[Space]:
    """The linear systems of all samples, in the states that suit all of them where none are given.

    Of a stack many are made at once. Where one of them is not as the others, as where contacts take part, or where one
    is refused, they are made one by one. Where they move, some are followed: their linear systems stay as they are.
    """
    states = None
    if asked.states is not None:
        states = readings_of(samples.one(0)[0], asked.states, "states")
        if not states.names:
            raise InputError("states is empty: list expressions, or leave it out to have them chosen")
    courses = courses_of(samples)
    if states is None:
        states = chosen_states(courses, samples.constant, further)
    asked = Asked(states, asked.inputs, asked.outputs)
    spaces: list[Space] = []
    for begin in range(0, len(samples), TOGETHER):
        end = min(begin + TOGETHER, len(samples))
        spaces += stack_of(samples, slice(begin, end), asked) or [one_of(samples, i, asked) for i in range(begin, end)]
    for course in courses:
        if course.moves:
            course.require_constant(linear_at(course.begin, states))
    return spaces


def courses_of(samples: Samples) -> list[Course]:
    """The first sample, and others spread evenly where there are motions to be followed."""
    count = MOTIONS_FOLLOWED if samples.v.any() else 1
    found = []
    for i in sorted(set(np.linspace(0, len(samples) - 1, count).astype(int).tolist())):
        dynamics, q, v = samples.one(i)
        found.append(Course(checked(point_at(closed_at(dynamics, q, v), q, v))))
    return found


def stack_of(samples: Samples, part: slice, asked: Asked) -> list[Space]:
    """The linear systems of a part of a stack, made at once; nothing where they are not alike."""
    dynamics, q, v = samples.part(part)
    if not samples.axis or dynamics.one_sided.any() or depends_on_time(dynamics):
        return []
    try:
        return [space_of(linear_of(point_at(dynamics, q, v), asked.states), asked)]
    except (ZwangError, np.linalg.LinAlgError):
        return []


def one_of(samples: Samples, i: int, asked: Asked) -> Space:
    """The linear system of one sample."""
    dynamics, q, v = samples.one(i)
    return space_of(linear_of(point_at(closed_at(dynamics, q, v), q, v), asked.states), asked)


def linear_of(point: Point, states: Readings) -> Linear:
    """The first-order motion in given states; where there is none, it is refused by name."""
    linear = linear_at(checked(point), states)
    linear.require_independent()
    linear.require_steady()
    linear.require_closed()
    return linear


def space_of(linear: Linear, asked: Asked) -> Space:
    """B, C and D beside one state, or a stack of them."""
    point, dynamics, states = linear.point, linear.point.dynamics, linear.states
    stack, inputs, p = point.q.shape[:-1], asked.inputs, dynamics.all_p
    columns = [column_of_input(dynamics, u) for u in inputs]
    dp = np.array([np.arange(p.shape[-1]) == c for c in columns], dtype=float).reshape(len(inputs), p.shape[-1])
    still = np.zeros((*stack, len(inputs), point.q.shape[-1]))
    B = np.zeros((*stack, len(states.names), len(inputs)))
    if inputs:
        of_system = dp[:, : dynamics.values.p.shape[-1]]
        require_unmoved(point, inputs, of_system)
        change = point.change(still, still, of_system)
        pushed = states.along(point, still, still, change, dp)
        if np.abs(pushed["d_reading"]).max(initial=0.0) > 0:
            *_, j, i = map(int, np.argwhere(pushed["d_reading"])[0])
            raise InputError(
                f"the state {states.names[i]} contains the input {in_a_line(inputs[j])}: states are what does not "
                f"jump; leave the input out of it"
            )
        B = pushed["d_rate"].mT
    values = np.stack([np.zeros(stack) if c is None else p[..., c] for c in columns] or [np.zeros(0)], axis=-1)
    if asked.outputs is None:
        C, D = np.broadcast_to(np.eye(len(states.names)), linear.A.shape), np.zeros_like(B)
        return Space(linear, B, C, D, states.names, linear.reading, values.reshape(*stack, len(inputs)))
    wanted = readings_of(dynamics, asked.outputs, "outputs", outputs=True)
    along = wanted.along(point, linear.tangent.dq, linear.tangent.dv, linear.change)
    C = linear.seen(along["d_reading"].mT, wanted.names, TOLD)
    D = np.zeros((*stack, len(wanted.names), len(inputs)))
    if inputs:
        D = wanted.along(point, still, still, change, dp)["d_reading"].mT
    return Space(linear, B, C, D, wanted.names, along["reading"], values.reshape(*stack, len(inputs)))


def require_unmoved(point: Point, inputs: list[sp.Expr], dp: Array) -> None:
    """Refuse inputs that move constraints on positions or velocities: states would have to follow at once."""
    still, p = np.zeros((len(inputs), point.q.shape[-1])), point.dynamics.values.p
    found = point.read(still, still, dp)
    for level in ("residual", "residual_rate"):
        moved = np.abs(found[f"d_{level}"]) * np.maximum(np.abs(p @ dp.T), 1.0)[..., None]
        size = np.zeros((*point.q.shape[:-1], 1, moved.shape[-1]))
        read = point.now.size if level == "residual" else point.now.rate_size
        size[..., 0, point.dynamics.two_sided] = np.nan_to_num(read)
        if (bad := moved > MOVED * size + TINIEST).any():
            *_, j, i = map(int, np.argwhere(bad)[0])
            name = point.dynamics.system.constraint_names[i]
            raise InputError(
                f"the input {in_a_line(inputs[j])} moves the constraint {name!r}: the state would have to follow it at "
                f"once; make what is driven a coordinate, and the input its force or its acceleration"
            )


def dataset(samples: Samples, spaces: list[Space], inputs: list[str]) -> "xr.Dataset":
    """The matrices over their names."""
    import xarray as xr

    first, over, stacks = spaces[0], samples.axis, [s.stacked for s in spaces]
    system = first.linear.point.dynamics.system
    names = list(first.linear.states.names)
    variables: dict[str, tuple[tuple[str, ...], str, list[Array]]] = {
        "A": (("state", "state_"), "ẏ = A y + B u", [s.linear.A for s in spaces]),
        "B": (("state", "input"), "ẏ = A y + B u", [s.B for s in spaces]),
        "C": (("output", "state"), "z = C y + D u", [s.C for s in spaces]),
        "D": (("output", "input"), "z = C y + D u", [s.D for s in spaces]),
        "q": (("coordinate",), "coordinates", [s.linear.point.q for s in spaces]),
        "v": (("coordinate",), "velocities", [s.linear.point.v for s in spaces]),
        "state_value": (("state",), "states where all deviations are zero", [s.linear.reading for s in spaces]),
        "input_value": (("input",), "inputs there", [s.inputs for s in spaces]),
        "output_value": (("output",), "outputs there", [s.values for s in spaces]),
    }
    found = {
        name: ((*over, *dims), samples.joined(parts, stacks), {"long_name": words})
        for name, (dims, words, parts) in variables.items()
    }
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
