"""Known functions of time as inputs: held at their values, each is a parameter."""

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.model import System
from zwang.model.signal import Signal
from zwang.model.symbols import label
from zwang.model.values import input_values, named_like, one_number


def with_constants(
    system: System, parameters: Mapping[Any, Any] | None, t: float, inputs: Sequence[sp.Expr]
) -> dict[Any, Any]:
    """Parameters, with those known functions of time that are `inputs` held at their values at t."""
    given, functions = dict(parameters or {}), input_values(system, parameters)
    for f in inputs:
        if f in functions:
            for key in [key for key in given if named_like(key, [f]) is not None]:
                del given[key]
            given |= {f: constant_of(f), constant_of(f): value_at(f, functions[f], system, parameters, t)}
    return given


def constant_of(f: sp.Expr) -> sp.Symbol:
    """The parameter that stands for a known function of time while it is held."""
    return sp.Symbol(f"{label(f)}(t)")


def value_at(f: sp.Expr, value: Any, system: System, parameters: Mapping[Any, Any] | None, t: float) -> float:
    """What a known function of time is at an instant; zero where nothing is said."""
    if value is None:
        return 0.0
    if isinstance(value, Signal):
        return float(value(t))
    from zwang.model.symbols import t as time

    known = dict(system.parameters) | {named_like(k, system.parameters) or k: x for k, x in (parameters or {}).items()}
    numbers = {s: one_number(known[s], str(s)) for s in value.free_symbols - {time} if known.get(s) is not None}
    found = value.xreplace(numbers | {time: sp.Float(t)}).evalf()
    if not found.is_number:
        missing = sorted(map(str, found.free_symbols))
        raise InputError(f"{label(f)} = {value} has no number at t = {t:g}: give a value to {', '.join(missing)}")
    return float(found)
