"""What a user gives: a state, parameters and inputs, as symbols or by their names; here they become arrays.

Text is never a value: it is refused by the name of what it was given for.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike
from sympy.core.function import AppliedUndef

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.model import System
from zwang.model.check import missing_values
from zwang.model.families.array import CoordinateArray
from zwang.model.fixed import FrozenValue
from zwang.model.signal import Handle, Signal, handle, lookup, signals_in
from zwang.model.state import State, place_of, places_of_array
from zwang.model.symbols import as_expression, label, rates
from zwang.words import listed, nearest, shortened

MOST_MISSING = 12  # coordinates that a message names

OWN = "_own_values"  # where a system keeps them


def state_arrays(
    system: System, state: Mapping[Any, ArrayLike], missing_rates: float | None = None
) -> tuple[Array, Array]:
    """Positions and velocities (…, n) of a state given by coordinate and rate, or by their names, x and x'.

    An array of coordinates is a key, too, for an array of values along the last axes. Rates that are not given are
    `missing_rates`, if that is a number.
    """
    if isinstance(state, State) and state.system is system:
        n = len(system.coordinate_names)
        return state.values_of_all[:n].copy(), state.values_of_all[n:].copy()
    if not isinstance(state, Mapping):
        raise InputError(
            f"a state maps coordinates and rates to numbers, {{x: 0, dot(x): 1, …}}; got {type(state).__name__}"
        )
    names = system.coordinate_names
    n = len(names)
    blocks = [(np.arange(n, 2 * n), np.full(n, missing_rates))] if missing_rates is not None else []
    seen: set[int] = set()
    singles: dict[int, float] = {}
    key: Any
    value: Any
    for key, value in state.items():
        if isinstance(key, CoordinateArray):
            places = places_of_array(system, key).ravel()
            blocks.append((places, in_rows(key, value)))
            own = set(places.tolist())
            twice = next(iter(seen & own), None) if len(own) == len(places) else int(places[0])
            seen |= own
        elif (place := place_of(system, key)) is None:
            raise InputError(
                f"the state sets {label(key)}, which is not a coordinate or rate of this system"
                f"{suggestion(key, [*system.coordinates, *system.velocities])}"
            )
        else:
            twice = place if place in seen else None
            seen.add(place)
            if (type(value) is int or isinstance(value, float)) and math.isfinite(value):
                singles[place] = value
            else:
                blocks.append((np.array([place]), numbers(value, state_label(names, place))[..., None]))
        if twice is not None:
            raise InputError(f"the state sets {state_label(names, twice)} twice, by name and by symbol: give it once")
    if missing_rates is not None:
        seen |= set(range(n, 2 * n))
    if len(seen) < 2 * n:
        missing = [state_label(names, i) for i in range(2 * n) if i not in seen]
        words = listed(missing, MOST_MISSING) if len(missing) > MOST_MISSING else ", ".join(missing)
        raise InputError(f"the state does not say what {words} is: give every coordinate and every rate")
    try:
        shape = np.broadcast_shapes(*(values.shape[:-1] for _, values in blocks))
    except ValueError:
        shapes = ", ".join(f"{state_label(names, int(p[0]))}: {x.shape[:-1]}" for p, x in blocks)
        raise InputError(f"the arrays of the state do not broadcast: {shapes}") from None
    both = np.empty((*shape, 2 * n))
    for places, values in blocks:
        both[..., places] = values
    if singles:
        both[..., list(singles)] = list(singles.values())
    return both[..., :n], both[..., n:]


def state_label(names: Sequence[str], place: int) -> str:
    """What a person calls a coordinate, or a rate, by its place in a state."""
    return names[place] if place < len(names) else f"dot({names[place - len(names)]})"


def in_rows(key: CoordinateArray, value: Any) -> Array:
    """(…, size) values for the coordinates of an array."""
    given = numbers(value, repr(key))
    if given.ndim < key.ndim:
        given = np.broadcast_to(given, key.shape)
    if given.shape[given.ndim - key.ndim :] != key.shape:
        raise InputError(f"the state sets {key!r} to an array of shape {given.shape}: the last axes must agree")
    return given.reshape(*given.shape[: given.ndim - key.ndim], key.size)


def entry_by_entry(system: System, given: Mapping[Any, Any]) -> dict[Any, Any]:
    """A mapping whose keys are coordinates and rates one by one, in place of arrays of them."""
    n, found = len(system.coordinate_names), {}
    for key, value in given.items():
        if not isinstance(key, CoordinateArray):
            found[key] = value
            continue
        values = np.asarray(value, dtype=object)
        if values.ndim and values.shape != key.shape:
            raise InputError(f"{key!r} is given an array of shape {values.shape}, but it has the shape {key.shape}")
        for place, one in zip(places_of_array(system, key).flat, np.broadcast_to(values, key.shape).flat, strict=True):
            coordinate = system.coordinate(int(place) % n)
            found[coordinate if place < n else rates(coordinate)[0]] = one
    return found


def by_name(system: System, key: Any) -> Any:
    """The coordinate or rate that a key stands for: x or "x"; dot(x), "x'" or "dot(x)"; other keys as they are."""
    place = place_of(system, key) if isinstance(key, str) else None
    if place is None:
        return key
    n = len(system.coordinate_names)
    return system.coordinate(place) if place < n else rates(system.coordinate(place - n))[0]


@dataclass(frozen=True, eq=False)
class GivenValues:
    """What the parameters and the known functions of time are in one call: read once, and handed on."""

    p: Array
    """(…, k) values of the parameters"""
    symbols: tuple[sp.Symbol, ...]
    """Those parameters, in that order"""
    inputs: dict[sp.Expr, Any]
    """The known functions of time as expressions; signals as lookups in their tables"""
    signals: dict[sp.Expr, Signal]
    """Kept alive: p holds the addresses of their tables."""
    given: Mapping[Any, Any]
    """As the user gave them: there may be some that the system does not use, for events and drawings."""


def parameter_values(system: System, parameters: Mapping[Any, Any] | None) -> tuple[Array, dict[sp.Expr, Any]]:
    """Values (…, k) of the parameters in the order of `symbols_with(inputs)`, and those inputs: functions of time."""
    found = given_values(system, parameters)
    return found.p, found.inputs


def given_values(system: System, parameters: Mapping[Any, Any] | None) -> GivenValues:
    """The values of all parameters: the system's own, or those given in their place, which are checked by name."""
    if parameters:
        return read_values(system, parameters)
    kept: dict[str, Any] = system.__dict__  # as a cached property does: what a system says by itself is read once
    if OWN not in kept:
        own = read_values(system, None)
        own.p.setflags(write=False)
        kept[OWN] = own
    found: GivenValues = kept[OWN]
    return found


def read_values(system: System, parameters: Mapping[Any, Any] | None) -> GivenValues:
    """The values of all parameters, read and checked."""
    values = dict(system.parameters) | input_values(system, parameters)
    given = {k: value for k, value in (parameters or {}).items() if named_like(k, system.inputs) is None}
    functions = {f: values[f] for f in system.inputs}
    signals = signals_in(functions)
    inputs = functions | {f: lookup(f) for f in signals}
    values |= {handle(f): signal.address for f, signal in signals.items()}
    symbols = system.symbols_with(inputs)
    known = [*(s for s in symbols if not isinstance(s, Handle)), *system.parameters]
    seen: set[Any] = set()
    for key, value in given.items():
        if (s := named_like(key, known)) is None:
            raise InputError(f"parameters sets {key}, which this system does not have{suggestion(key, known)}")
        if s in seen:
            raise InputError(f"parameters sets {s} twice, by name and by symbol: give it once")
        seen.add(s)
        if isinstance(values.get(s), FrozenValue) and not np.array_equal(value, values[s]):
            raise InputError(
                f"parameters sets {s}, but this system was built with {s} = {values[s]:g}: its places are numbers that "
                f"would not follow; build it again, as the `simulate` and `with_parameters` of a model file do"
            )
        values[s] = value
        numbers(value, str(s))  # those that the system does not use, too: events and drawings may
    missing = missing_values(system, symbols, values)
    if missing:
        raise InputError("; ".join(missing))
    columns = [numbers(values[s], str(s)) for s in symbols]
    try:
        p = np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else np.zeros(0)
    except ValueError:
        shapes = ", ".join(f"{s}: {x.shape}" for s, x in zip(symbols, columns, strict=True))
        raise InputError(f"the arrays of the parameters do not broadcast: {shapes}") from None
    return GivenValues(p, symbols, inputs, signals, parameters or {})


def input_values(system: System, parameters: Mapping[Any, Any] | None) -> dict[sp.Expr, Any]:
    """What the known functions of time are: expressions, signals, or None where nothing is said."""
    values = system.inputs
    for key, value in (parameters or {}).items():
        if (f := named_like(key, values)) is not None:
            values[f] = in_time(f, value)
    return values


def named_like(key: Any, symbols: Iterable[Any]) -> Any:
    """The symbol or function of time that a key stands for: itself, or its name."""
    return next((s for s in symbols if key in (s, s.name)), None)


def in_time(f: sp.Expr, value: Any) -> Any:
    """What a known function of time is: a signal, or an expression in t and parameters."""
    if isinstance(value, Signal):
        return value
    try:
        expression = as_expression(value)
    except InputError as error:
        raise InputError(f"parameters[{f}]: {error}") from None
    if not isinstance(expression, sp.Expr) or expression.atoms(AppliedUndef):
        raise InputError(f"parameters: {f} = {value}: an expression in t and parameters alone is meant")
    return expression


def numbers(value: Any, name: str) -> Array:
    """Finite numbers, or a refusal by name."""
    if isinstance(value, float) and -math.inf < value < math.inf:  # most of them are: everything else takes longer
        return np.asarray(value)
    try:
        given = np.asarray(value)
        text = given.dtype.kind == "O" and any(isinstance(x, str | bytes) for x in given.flat)
        if text or given.dtype.kind in "cSUV":
            raise TypeError("complex numbers and text")
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} = {shortened(repr(value))} is not a real number") from None
    if not np.isfinite(array).all():
        raise InputError(f"{not_finite(array, name, value)}")
    return array


def not_finite(array: Array, name: str, value: Any) -> str:
    """Which of some numbers is not finite.

    >>> not_finite(np.array([1.0, np.nan, np.inf]), "x", ...)
    'x[1] = nan is not finite, nor is another of 3 numbers'
    """
    if not array.ndim:
        return f"{name} = {value} is not finite"
    first, *more = np.argwhere(~np.isfinite(array)).tolist()
    others = f", nor {'is another' if len(more) == 1 else f'are {len(more):,} others'} of {array.size:,} numbers"
    place = ", ".join(map(str, first))
    return f"{name}[{place}] = {array[tuple(first)]} is not finite{others if more else ''}"


def in_python(value: Any) -> Any:
    """A value of a record with Python's own numbers in place of NumPy's, within tuples, lists and mappings, too.

    >>> import numpy as np
    >>> in_python(("baumgarte", np.float64(10), {"k": np.int64(3)})), in_python(np.array([True, False]))
    (('baumgarte', 10.0, {'k': 3}), (True, False))
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return in_python(tuple(value)) if value.ndim else value.item()
    if type(value) in (tuple, list):
        return type(value)(map(in_python, value))
    if type(value) is dict:
        return {in_python(key): in_python(entry) for key, entry in value.items()}
    return value


class InPython:
    """A frozen dataclass whose numbers are Python's own, whatever they were given as: they are written into files."""

    def __post_init__(self) -> None:
        """Take NumPy's numbers for what they are."""
        for field in fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, field.name, in_python(getattr(self, field.name)))


def one_number(value: Any, name: str) -> float:
    """One finite number, or a refusal by name.

    >>> one_number("2", "L")
    Traceback (most recent call last):
    zwang.errors.InputError: L = '2' is not a real number
    """
    array = numbers(value, name)
    if array.ndim:
        raise InputError(f"{name} = {value!r}: one number is meant here, not an array")
    return float(array)


def suggestion(wrong: Any, known: list[Any]) -> str:
    """A hint at what may have been meant, and what there is."""
    names = list(dict.fromkeys(label(k) for k in known))
    meant = nearest(label(wrong), names)
    if meant and meant == label(wrong):
        hint = "; it looks like one of them but is another symbol"
    else:
        hint = f"; did you mean {meant}?" if meant else ""
    return f"{hint} (there are {', '.join(names)})"


def column_of(system: System, coordinate: Any) -> int:
    """The index of a coordinate, given itself, its name or its index."""
    place = coordinate if isinstance(coordinate, int | np.integer) else place_of(system, coordinate)
    if place is not None and 0 <= place < len(system.coordinate_names):
        return int(place)
    raise InputError(f"{coordinate} is not a coordinate; there are {', '.join(map(str, system.coordinates))}")
