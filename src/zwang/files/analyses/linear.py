"""`[linear]`: the motion beside a state, to first order: state space, modes, and how both change with a parameter."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.errors import AssemblyError, EquilibriumError, InputError
from zwang.files.analyses.analysis import (
    Analysis,
    AskedModel,
    Named,
    Parameters,
    guess_of,
    held_of,
)
from zwang.files.analyses.equilibrium import Rest
from zwang.files.analyses.steady import Steadiness
from zwang.files.ranges import range_values
from zwang.files.table_types import Key, Section
from zwang.model.fixed import FrozenValue
from zwang.model.has_system import readings_beside, start_of_one

if TYPE_CHECKING:
    import xarray as xr

    from zwang.analysis.equilibrium import Equilibrium

PLACES = ("equilibrium", "steady", "start")
ROUNDED = 1e-13  # of the largest number of a state
NOTHING = 1e-30  # of any number
Against = Mapping[str, str | tuple[float, ...]]


@dataclass(frozen=True)
class Linear(Analysis):
    """The motion beside an equilibrium, a steady motion or the start."""

    at: str = ""
    states: Named = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    outputs: Named = field(default_factory=dict)
    against: Against = field(default_factory=dict)

    section = Section(
        "linear",
        "the motion beside a state, to first order: state space and modes",
        keys=(
            Key("at", "text", "beside which state; the steady motion if there is only [steady]", "equilibrium", PLACES),
            Key("states", "readings", "expressions of coordinates and rates; chosen well without it"),
            Key("inputs", "names of inputs", "parameters and known functions of time"),
            Key("outputs", "readings", "expressions, also of accelerations and reactions; the states without it"),
            Key("against", "against", "a parameter to vary, for a root locus"),
        ),
    )

    def place(self, model: AskedModel) -> str:
        """Beside which state: as it says, or a steady motion where that is what the model asks for."""
        asks = model.analyses
        return self.at or ("steady" if "steady" in asks and "equilibrium" not in asks else "equilibrium")

    def question(self, model: AskedModel) -> Rest | Steadiness | None:
        """What the state is the answer to; None at the start."""
        place = self.place(model)
        if place == "start":
            return None
        found = model.analyses.get(place, Rest())
        if place == "steady" and not isinstance(found, Steadiness):
            raise InputError('[linear] says at = "steady", and there is no [steady]: say there what stays constant')
        assert isinstance(found, Rest | Steadiness)
        return found

    def state(
        self, model: AskedModel, parameters: Parameters = None, near: Mapping[Any, float] | None = None
    ) -> "Equilibrium | None":
        """The state itself; None at the start."""
        asks = self.question(model)
        return None if asks is None else asks.answer(model, parameters, near)

    def answer(self, model: AskedModel, parameters: Parameters = None) -> "xr.Dataset":
        """The state space of `zwang.linearize`, along the parameter if one is varied."""
        from zwang.analysis.linearize import linearize

        def at(state: Any, values: Parameters, states: Any) -> "xr.Dataset":
            return linearize(model, state, states, self.inputs, dict(self.outputs) or None, parameters=values)

        return self.along(model, parameters, at)

    def modes(self, model: AskedModel, parameters: Parameters = None) -> "xr.Dataset":
        """The modes of `zwang.modes`, along the parameter if one is varied."""
        from zwang.analysis.modes import modes

        def at(state: Any, values: Parameters, states: Any) -> "xr.Dataset":
            return modes(model, state, states, parameters=values)

        return self.along(model, parameters, at)

    def along(
        self, model: AskedModel, parameters: Parameters, ask: "Callable[[Any, Parameters, Any], xr.Dataset]"
    ) -> "xr.Dataset":
        """What is asked for beside the state, or beside those that belong to the values of a parameter."""
        states = dict(self.states) or None
        if not self.against:
            e = self.state(model, parameters)
            return ask(None if e is None else replace(e, state=cleaned(e.state)), parameters, states)
        name, values = self.varied
        if isinstance(named(model, name), FrozenValue):
            return self.assembled_anew(model, parameters, ask)
        whole = {**(parameters or {}), name: values}
        return ask(self.states_along(model, parameters, name, values), whole, states)

    def assembled_anew(
        self, model: AskedModel, parameters: Parameters, ask: "Callable[[Any, Parameters, Any], xr.Dataset]"
    ) -> "xr.Dataset":
        """The same along a parameter that places depend on: they are numbers, so that each value has its own system."""
        import xarray as xr

        from zwang.analysis.samples import axis_name

        name, values = self.varied
        parts: list[xr.Dataset] = []
        states: Any = dict(self.states) or None
        near: Mapping[Any, float] | None = None
        asks = self.question(model)
        for value in map(float, values):
            own = {**(parameters or {}), name: value}
            e = None if asks is None else replace(asks, hold=held_values(model, asks, own)).answer(model, own, near)
            here = None if e is None else replace(e, state=cleaned(e.state))
            near = None if here is None else here.state
            parts.append(ask(here, own, states))
            if states is None and "state" in parts[0].coords:
                told = {} if here is None else dict(zip(here.constant, here.expressions, strict=True))
                told |= {key: reading for part in readings_beside(model, own) for key, reading in part.items()}
                states = {key: told.get(key, key) for key in map(str, parts[0].state.values)}
        if "eigenvalue" in parts[0]:
            from zwang.analysis.modes import followed

            orders = followed([part.eigenvalue.values for part in parts])
            mode = parts[0].mode.values
            parts = [part.isel(mode=order).assign_coords(mode=mode) for part, order in zip(parts, orders, strict=True)]
        axis = axis_name(name)
        return xr.concat(parts, xr.DataArray(values, dims=axis, name=axis), combine_attrs="override")

    @property
    def varied(self) -> tuple[str, Array]:
        """The parameter that is varied, and its values."""
        name, given = next(iter(self.against.items()))
        return name, range_values(given)

    def states_along(self, model: AskedModel, parameters: Parameters, name: str, values: Array) -> Any:
        """The states of all values in one, every one looked for near the one before; None at the start."""
        from zwang.analysis.follow import Followed, states_along

        asks, given = self.question(model), dict(parameters or {})
        if asks is None:
            return None
        whole = {**given, name: values}
        system = model.system_with(whole)
        keys = [*system.coordinates, *system.velocities]

        singles = [{**given, name: float(value)} for value in values]
        first: list[Equilibrium] = []

        def careful(i: int, near: Array | None) -> Array:
            guess = None if near is None else cleaned(dict(zip(keys, map(float, near), strict=True)))
            with told_at(name, values[i]):
                e = replace(asks, hold=held[i]).answer(model, singles[i], guess)
            first.append(e)
            state = cleaned(e.state)
            return np.array([state[key] for key in keys])

        constant = dict(asks.constant) if isinstance(asks, Steadiness) else None
        held = []
        for value, own in zip(values, singles, strict=True):
            with told_at(name, value):
                held.append(held_values(model, asks, own))
        targets = np.array([[float(x) for x in each.values()] for each in held])
        what = Followed(constant, list(asks.hold), targets)
        found = states_along(system, model.span[0], whole, values, what, careful)
        return replace(first[0], state=dict(zip(keys, found.T, strict=True)))


def held_values(model: AskedModel, asks: Rest | Steadiness, parameters: Mapping[Any, Any]) -> dict[sp.Expr, sp.Float]:
    """What is held, and the values it keeps: those that are given, or those at the guess for these parameters."""
    from zwang.analysis.dynamics import dynamics_of
    from zwang.analysis.equilibrium import guessed, holds

    held = held_of(model, asks.hold, parameters)
    if held and not isinstance(held, Mapping):
        system, t = model.system_with(parameters), model.span[0]
        q, v = guessed(system, start_of_one(model, guess_of(model, asks.guess, parameters), parameters, t, "guess"))
        v = v if isinstance(asks, Steadiness) else np.zeros_like(v)
        found = holds(dynamics_of(system, parameters, t), held, q, v)[1]
        held = dict(zip(held, found, strict=True))
    return {key: sp.Float(value) for key, value in dict(held).items()}


@contextmanager
def told_at(name: str, value: float) -> Iterator[None]:
    """Within this, refusals name the value of the parameter."""
    try:
        yield
    except (AssemblyError, EquilibriumError, InputError) as error:
        raise type(error)(f"{name} = {value:g}: {error}") from None


def cleaned(state: Mapping[Any, float]) -> dict[Any, float]:
    """A state without what is only rounding: a guess far smaller than everything else would set a scale of its own."""
    least = max(ROUNDED * max(map(abs, state.values()), default=0.0), NOTHING)
    return {key: value if abs(value) > least else 0.0 for key, value in state.items()}


def clear_values(modes: "xr.Dataset") -> Any:
    """Eigenvalues without what is only rounding in their real and imaginary parts."""
    values, uncertain = np.asarray(modes.eigenvalue.values, dtype=complex), modes.uncertain.values
    least = np.maximum(uncertain, ROUNDED * np.abs(values).max(initial=0.0))
    real, imaginary = (np.where(np.abs(part) <= least, 0.0, part) for part in (values.real, values.imag))
    return real + 1j * imaginary


def damping_ratio(value: complex) -> float:
    """−Re λ/|λ|; not a number where λ is zero."""
    return -value.real / abs(value) + 0.0 if value else float("nan")


def growth_changes(name: str, values: Array, found: Any) -> list[str]:
    """Between which values of a parameter disturbances begin or cease to grow, in words; `found` are clear."""
    grows = found.real.max(axis=1, initial=0.0) > 0
    return [
        f"Between {name} = {values[i - 1]:.6g} and {values[i]:.6g} disturbances "
        f"{'begin' if grows[i] else 'cease'} to grow."
        for i in range(1, len(values))
        if grows[i] != grows[i - 1]
    ]


def named(model: AskedModel, name: str) -> Any:
    """The value of a parameter by its name, as the system has it."""
    return next((x for s, x in model.system_with(None).parameters.items() if str(s) == name), None)
