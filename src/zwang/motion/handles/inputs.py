"""The inputs of a handle: parameters and known functions of time that change from call to call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike
from sympy.core.function import AppliedUndef

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.model import System
from zwang.model.check import place_name
from zwang.model.fixed import FrozenValue
from zwang.model.symbols import label
from zwang.model.symbols import t as time
from zwang.model.values import GivenValues, given_values, named_like, numbers, suggestion
from zwang.motion.breaks import differentiated

SINCE = sp.Symbol("t(0)")  # the instant from which slopes count; no name that anybody can give
NOT_USED = -3  # below every order: an input that stands in no place of some kind


@dataclass(frozen=True, eq=False)
class Inputs:
    """The inputs of a handle in their order, what all parameters are, and where the inputs are among these."""

    symbols: tuple[sp.Expr, ...]
    values: GivenValues
    first: Array | None
    """(k,) what they are before anybody has said so; None if one of them has no value of its own."""
    places: tuple[int, ...]
    """Of their values, among the parameters."""
    slopes: tuple[int, ...] = ()
    since: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called."""
        return tuple(label(s) for s in self.symbols)

    def read(self, u: ArrayLike | None) -> Array:
        """Values that were given, as an array (k,), or a refusal by name; one number serves for one input."""
        if u is None:
            raise InputError(f"u is missing: give {self.said}")
        found = numbers(u, "u")
        found = found.reshape(1) if found.ndim == 0 and len(self.symbols) == 1 else found
        if found.shape != (len(self.symbols),):
            raise InputError(f"u has shape {found.shape}: give {self.said}")
        return found

    @property
    def said(self) -> str:
        """What is expected of u, in words."""
        if not self.symbols:
            return "none, for there are no inputs (inputs=… names some)"
        return f"({len(self.symbols)},) numbers for {', '.join(self.names)}"


def inputs_of(system: System, parameters: Mapping[Any, Any] | None, wanted: Any, sloping: bool) -> Inputs:
    """The inputs that are wanted, by symbol or by name; if they are `sloping`, each may change along with time.

    A known function of time becomes a parameter, its value; and so does, if asked for, the slope of every input.
    """
    symbols = found_inputs(system, wanted)
    given = dict(parameters or {})
    first = [own_value(system, given, s) for s in symbols]
    stand_in = {s: sp.Symbol(f"{label(s)}(0)") if isinstance(s, AppliedUndef) else s for s in symbols}
    for s, value in zip(symbols, first, strict=True):
        given |= {s: stand_in[s]} if s is not stand_in[s] else {}
        given[stand_in[s]] = 1.0 if value is None else value
    values = given_values(system, given)
    slopes = {s: sp.Symbol(f"{label(s)}'(0)") for s in symbols} if sloping else {}
    if slopes:
        ramps = {s: stand_in[s] + slopes[s] * (time - SINCE) for s in symbols}
        values = with_ramps(system, values, ramps, (*slopes.values(), SINCE))
    at = {s: i for i, s in enumerate(values.symbols)}
    return Inputs(
        symbols,
        values,
        None if None in first else np.array(first, dtype=float),
        tuple(at[stand_in[s]] for s in symbols),
        tuple(at[slopes[s]] for s in symbols) if slopes else (),
        at[SINCE] if slopes else 0,
    )


def with_ramps(system: System, values: GivenValues, ramps: dict[Any, Any], new: Sequence[Any]) -> GivenValues:
    """The same values, with some parameters and functions that change along with time; what that needs is zero yet."""
    inputs = values.inputs | ramps
    symbols = system.symbols_with(inputs)
    known = dict(zip(values.symbols, values.p, strict=True)) | dict.fromkeys(new, 0.0)
    p = np.array([known[s] for s in symbols], dtype=float)
    return GivenValues(p, symbols, inputs, values.signals, values.given)


def found_inputs(system: System, wanted: Any) -> tuple[sp.Expr, ...]:
    """Parameters and known functions of time by symbol or by name, or a refusal."""
    try:
        listed = (wanted,) if isinstance(wanted, str | sp.Basic) else tuple(wanted)
    except TypeError:
        raise InputError(f"inputs = {wanted!r}: give parameters or known functions of time, in a list") from None
    known = [*system.symbols, *(f for f in system.inputs)]
    found: list[sp.Expr] = []
    for key in listed:
        s = named_like(key, known)
        if s is None:
            raise InputError(
                f"inputs names {key}, which is not a parameter or known function of time in this system"
                f"{suggestion(key, known)}"
            )
        if s in found:
            raise InputError(f"inputs names {label(s)} twice: once is enough")
        if isinstance(system.parameters.get(s), FrozenValue):
            raise InputError(
                f"inputs names {label(s)}, but this system was built with {label(s)} = {system.parameters[s]:g}: its "
                f"places are numbers that would not follow"
            )
        found.append(s)
    return tuple(found)


def own_value(system: System, given: dict[Any, Any], symbol: sp.Expr) -> float | None:
    """What an input is given as, or is in the system, taken out of what is given; None if that is not a number."""
    value = system.parameters.get(symbol)
    for key in [key for key in given if named_like(key, [symbol]) is not None]:
        value = given.pop(key)
    if isinstance(value, sp.Expr) and value.is_number:
        value = float(value)
    return float(value) if isinstance(value, int | float | np.number) else None


def follows(system: System, symbol: sp.Expr) -> tuple[int, Any]:
    """Which derivative of an input the motion has to follow without a jump, and where that is asked for.

    0 is the input itself, 1 its rate; below 0 it may jump. A parameter is constant by its nature: that of a mass may be
    another one from one instant to the next.
    """
    worst: tuple[int, Any] = (NOT_USED, "")
    for where, expression in system.places.items():
        if expression.has(symbol):
            used = [d.derivative_count for d in expression.atoms(sp.Derivative) if d.expr == symbol]
            order = max(used, default=0) + differentiated(system, where)
            if where == ("kinetic",) and isinstance(symbol, sp.Symbol):
                order = -1
            worst = max(worst, (order, place_name(where, system.coordinates)), key=lambda pair: pair[0])
    return worst


def require_plain(system: System, symbols: Sequence[sp.Expr]) -> None:
    """Refuse known functions of time whose derivatives an acceleration depends on: their values alone do not tell it.

    (A constraint on positions is differentiated twice on the way to it, the kinetic energy once.)
    """
    for f in symbols:
        for where, expression in system.places.items():
            if isinstance(f, AppliedUndef) and expression.has(f):
                order = next((c.order for c in system.constraints if where == ("constraints", c.name)), 2)
                if expression.has(sp.Derivative(f, time)) or order < 2 or where == ("kinetic",):
                    raise InputError(
                        f"the acceleration depends on derivatives of {f} by {place_name(where, system.coordinates)}, "
                        f"and an input has none: use zwang.Stepper, which interpolates its inputs, or write what it "
                        f"needs as parameters of their own"
                    )


def require_equalities(system: System, instead: str) -> None:
    """Refuse one-sided constraints: which of them act is not for a handle to say."""
    for constraint in system.constraints:
        if constraint.one_sided:
            raise InputError(
                f"constraint {constraint.name!r} is one-sided, and which of them act is not for a handle to say: use "
                f"{instead}, or make it an equality while it holds"
            )
