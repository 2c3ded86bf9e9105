"""What a motion was driven by: it keeps its inputs, so that whatever is computed from it later has them, too.

The attribute `inputs` says for each known function of time what it was: an expression as plain data, or a table, whose
points stand one after the other in the coordinates `input_time` and `input_value`. It is data that is read back by a
list of operations (`zwang.model.recorded`), so a stranger's motion is as safe to look at as its numbers are.
"""

import json
import warnings
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from zwang.errors import InputError
from zwang.model import System
from zwang.model.recorded import read_back, recorded
from zwang.model.signal import Handle, Signal
from zwang.model.symbols import label
from zwang.model.values import GivenValues, named_like
from zwang.results.dataset import plain, with_variables
from zwang.words import listed, shortened

if TYPE_CHECKING:
    import xarray as xr

INPUTS, TIMES, VALUES, POINT = "inputs", "input_time", "input_value", "input_point"


def numbers_used(symbols: Sequence[sp.Symbol], p: Any, signals: Mapping[sp.Expr, Signal]) -> dict[str, Any]:
    """The attribute `parameters` of a motion: numbers by name, and of signals a word for whoever reads it."""
    numbers = zip(symbols, np.asarray(p).tolist(), strict=True)
    found: dict[str, Any] = {s.name: value for s, value in numbers if not isinstance(s, Handle)}
    return found | {str(f): str(signal) for f, signal in signals.items()}


def with_inputs(motion: "xr.Dataset", inputs: Mapping[sp.Expr, Any], signals: Mapping[sp.Expr, Signal]) -> "xr.Dataset":
    """A motion that says what its known functions of time were: expressions, or signals."""
    if not inputs:
        return motion
    said: dict[str, Any] = {}
    begin = 0
    for f, value in inputs.items():
        if (signal := signals.get(f)) is None:
            said[label(f)] = in_data(value)
        else:
            end = begin + len(signal.times)
            said[label(f)] = {"kind": signal.kind, "outside": signal.outside, "points": [begin, end]}
            begin = end
    if signals:
        points = [[signals[f].times, signals[f].values] for f in inputs if f in signals]
        times, values = (np.concatenate(columns) for columns in zip(*points, strict=True))
        tables = {TIMES: (POINT, times, {"long_name": "times of the tables of inputs"}),
                  VALUES: (POINT, values, {"long_name": "values of the tables of inputs"})}  # fmt: skip
        motion = with_variables(motion, {}, tables)
    motion.attrs[INPUTS] = json.dumps(said)
    return motion


def with_values(motion: "xr.Dataset", values: GivenValues) -> "xr.Dataset":
    """A motion that says what parameters and inputs it was made with."""
    motion.attrs["parameters"] = plain(numbers_used(values.symbols, values.p, values.signals))
    return with_inputs(motion, values.inputs, values.signals)


@lru_cache(maxsize=256)  # inputs of one system, again and again
def in_data(expression: sp.Expr) -> Any:
    """An expression as plain data; text alone where it contains what no data say."""
    try:
        return recorded(expression)
    except InputError as error:
        return {"text": f"{shortened(expression)}: {error}"}


def used_values(system: System, motion: "xr.Dataset", given: Mapping[Any, Any] | None = None) -> dict[Any, Any]:
    """The values that a motion was computed with, as `parameters` of a call: numbers, expressions and signals.

    What is `given` stands in their place. Of a sample of many, what differs from sample to sample stands in its
    coordinates. Where a motion does not say what an input was, the system's own holds.

    >>> import zwang as zw
    >>> x, u = zw.coordinates("x u")
    >>> pushed = zw.System((x,), kinetic=zw.dot(x)**2/2, forces={x: u}, parameters={u: None})
    >>> motion = zw.simulate(pushed, {x: 0, zw.dot(x): 0}, until=1, parameters={u: zw.t**2})
    >>> used_values(pushed, motion)
    {u(t): t**2}
    """
    asked = {key if (f := named_like(key, system.inputs)) is None else f: value for key, value in (given or {}).items()}
    inputs = used_inputs(system, motion, asked)
    inner = {s for value in inputs.values() if isinstance(value, sp.Expr) for s in value.free_symbols}
    known = [*(s for s in system.parameters if isinstance(s, sp.Symbol)), *system.symbols, *inner]
    numbers = read_attribute(motion, "parameters")
    numbers |= {str(name): x.item() for name, x in motion.coords.items() if x.ndim == 0 and x.dtype.kind in "fiu"}
    found = {named_like(name, known): value for name, value in numbers.items() if isinstance(value, int | float)}
    asked = {key if (s := named_like(key, known)) is None else s: value for key, value in asked.items()}
    return {s: value for s, value in found.items() if s is not None} | inputs | asked


def changed_values(system: System, motion: "xr.Dataset", given: Mapping[Any, Any] | None = None) -> dict[Any, Any]:
    """Those of them that are not the system's own."""
    own = system.parameters
    return {s: x for s, x in used_values(system, motion, given).items() if s not in own or own[s] != x}


def used_inputs(system: System, motion: "xr.Dataset", given: Mapping[Any, Any]) -> dict[sp.Expr, Any]:
    """What a motion says of the known functions of time of a system; of those that are `given` it is not asked."""
    said = read_attribute(motion, INPUTS)
    found: dict[sp.Expr, Any] = {}
    if INPUTS not in motion.attrs and (silent := [label(f) for f in system.inputs if f not in given]):
        words = f"the motion does not say what its inputs were ({listed(silent, 6)}): those of the system are taken"
        warnings.warn(f"{words}; compute the motion again if it had others", stacklevel=2)
    for f, own in system.inputs.items():
        if f in given:
            continue
        name = label(f)
        if name in said:
            found[f] = input_said(motion, name, said[name])
        elif own is None:
            raise InputError(
                f"the motion does not say what the input {name} was, and the system does not, either: compute the "
                f"motion again, or give the system the value that it was computed with, parameters={{{name}: …}}"
            )
    return found


def input_said(motion: "xr.Dataset", name: str, said: Any) -> Any:
    """One input as a motion has it: an expression or a signal."""
    match said:
        case [*_]:
            try:
                return read_back(said)
            except InputError as error:
                reason = str(error)
        case {"text": str(reason)}:
            pass
        case {"kind": str(kind), "outside": str(outside), "points": [int(begin), int(end)]} if {TIMES, VALUES} <= {
            *motion.coords
        }:
            times, values = (np.ravel(motion[part].values)[max(begin, 0) : end] for part in (TIMES, VALUES))
            try:
                return Signal(times, values, kind, outside)
            except InputError as error:
                reason = str(error)
        case _:
            reason = "its entry is damaged"
    raise InputError(
        f"what the input {name} was cannot be read from the motion ({shortened(reason)}): compute the motion again"
    )


def read_attribute(motion: "xr.Dataset", name: str) -> dict[str, Any]:
    """An attribute of a motion that holds values by name; a damaged one is refused."""
    text = motion.attrs.get(name, "{}")
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"the attribute {name!r} of the motion is damaged: give a motion as simulate returned it")
    return found
