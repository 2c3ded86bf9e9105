"""Expressions along a motion: whatever a person wants to know of it, computed in native code."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.arrays import Array
from zwang.compile import Kernel, Program, compile_program
from zwang.equations.languages import translate
from zwang.errors import InputError
from zwang.lowering.cache import Kept
from zwang.model import System
from zwang.model.event import multiplier
from zwang.model.symbols import as_scalar, rates, t
from zwang.model.values import named_like, one_number, parameter_values, suggestion

if TYPE_CHECKING:
    import xarray as xr

_ALONG: Kept[Kernel] = Kept()


def along(
    motion: "xr.Dataset",
    system: System,
    expressions: Sequence[Any],
    parameters: Mapping[Any, Any] | None = None,
    potentials: Sequence[Any] = (),
) -> Array:
    """(time, k) values of k expressions in coordinates, rates, multipliers, parameters and time.

    `parameters` are as in `simulate`.

    Of each of the `potentials` V a further column is the power −∂V/∂q · q̇.

    >>> import zwang as zw
    >>> x = zw.coordinates("x")
    >>> free = zw.System((x,), kinetic=zw.dot(x)**2/2)
    >>> motion = zw.simulate(free, {x: 1, zw.dot(x): 2}, until=1, samples=2)
    >>> along(motion, free, [x**2, zw.dot(x)]).round(9)
    array([[1., 2.],
           [9., 2.]])
    """
    p, inputs = parameter_values(system, parameters)
    symbols = system.symbols_with(inputs)
    spare = spare_values(system, parameters, symbols)
    wanted = tuple(map(as_scalar, expressions)), tuple(map(as_scalar, potentials))
    reactions = reactions_in(system, wanted[0]) if "multiplier" in motion else {}
    key = (system.coordinates, symbols, tuple(inputs.items()), tuple(spare.items()), tuple(reactions), *wanted)
    kernel = _ALONG.get(key, lambda: kernel_of(system, symbols, inputs, spare, *wanted, tuple(reactions)))
    given = {"t": motion.time.values[:, None], "q": motion.q.values, "v": motion.v.values, "p": p}
    if reactions:
        given["l"] = motion.multiplier.values[:, list(reactions.values())]
    return kernel(**given)["values"]


def reactions_in(system: System, expressions: Sequence[sp.Expr]) -> dict[sp.Symbol, int]:
    """The multipliers that occur in expressions, and the numbers of their constraints."""
    used = {s.name for e in expressions for s in e.free_symbols}
    return {multiplier(name): i for i, name in enumerate(system.constraint_names) if multiplier(name).name in used}


def kernel_of(
    system: System,
    symbols: Sequence[sp.Symbol],
    inputs: Mapping[sp.Expr, Any],
    spare: Mapping[sp.Symbol, sp.Float],
    expressions: Sequence[sp.Expr],
    potentials: Sequence[sp.Expr],
    reactions: Sequence[sp.Symbol] = (),
) -> Kernel:
    """The native code of expressions in a system's coordinates, and of the powers of potentials."""
    import symengine as se

    n = len(system.coordinate_names)
    packed = {"t": 1, "q": n, "v": n, "p": len(symbols)} | ({"l": len(reactions)} if reactions else {})
    names = {key: tuple(se.Symbol(f"{key}{i}") for i in range(size)) for key, size in packed.items()}
    known: dict[sp.Basic, Any] = dict(zip(symbols, names["p"], strict=True)) | {t: names["t"][0]}
    known |= zip(reactions, names.get("l", ()), strict=True)
    for q, qi, vi in zip(system.coordinates, names["q"], names["v"], strict=True):
        known[q], known[rates(q)[0]] = qi, vi
    wanted = [e.xreplace(spare) for e in (*expressions, *potentials)]
    wanted = [e.subs(inputs).doit() if inputs and e.has(*inputs) else e for e in wanted]
    for e in wanted:
        strange = sorted((s for s in e.free_symbols | e.atoms(AppliedUndef) if s not in known), key=str)
        if strange:
            raise InputError(f"{strange[0]} is unknown along this motion{suggestion(strange[0], [*known])}")
    found = [translate(e, known) for e in wanted]
    values, V = found[: len(expressions)], found[len(expressions) :]
    motion_names = names["q"], names["v"]
    flows = [-sum((v.diff(q) * rate for q, rate in zip(*motion_names, strict=True)), start=se.S.Zero) for v in V]
    return compile_program(Program(inputs=names, outputs={"values": (*values, *flows)}))


def spare_values(
    system: System, parameters: Mapping[Any, Any] | None, used: Sequence[sp.Symbol]
) -> dict[sp.Symbol, sp.Float]:
    """Values of the parameters that are declared but not among those used: drawings and events may use them."""
    unused = unused_values(system, parameters, used)
    return {s: sp.Float(one_number(value, str(s))) for s, value in unused.items()}


def unused_values(
    system: System, parameters: Mapping[Any, Any] | None, used: Sequence[sp.Symbol]
) -> dict[sp.Symbol, Any]:
    """The same as they are given, which may be arrays."""
    values = dict(system.parameters)
    values |= {named_like(key, values): value for key, value in (parameters or {}).items()}
    unused = [s for s in system.parameters if isinstance(s, sp.Symbol) and s not in set(used)]
    return {s: values[s] for s in unused if values[s] is not None}
