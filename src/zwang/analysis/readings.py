"""Expressions read at a state, with their rates and their changes along directions: states, outputs, what is held."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.analysis.dynamics import Change, Dynamics, Point, unchanged
from zwang.analysis.held_inputs import constant_of
from zwang.arrays import Array
from zwang.compile import Kernel, compile_program
from zwang.equations.languages import translate
from zwang.errors import InputError
from zwang.lowering.cache import Kept
from zwang.lowering.perturbed import named, readings_program
from zwang.model.event import constraint_force, multiplier
from zwang.model.symbols import as_scalar, in_a_line, rates, t
from zwang.model.values import by_name, named_like, suggestion

_KERNELS: Kept[Kernel] = Kept()


@dataclass(frozen=True, eq=False)
class Readings:
    """Expressions under their names, and the code that reads them."""

    names: tuple[str, ...]
    expressions: tuple[sp.Expr, ...]
    kernel: Kernel
    with_reactions: bool

    def at(self, point: Point) -> dict[str, Array]:
        """What they read at a state; with rates, if they were made so."""
        zero, nothing = np.zeros((1, point.q.shape[-1])), unchanged(point, 1)
        return {key: x for key, x in self.along(point, zero, zero, nothing).items() if not key.startswith("d_")}

    def along(self, point: Point, dq: Array, dv: Array, change: Change, dp: Array | None = None) -> dict[str, Array]:
        """What they read (…, k), and how that changes along directions (…, d, n), each a row: (…, d, k).

        `dp` (d, k + s) has those of the parameters, spare ones included.
        """
        if not dq.shape[-2]:  # nothing can move: read them, and cut the directions off
            still = np.zeros((*dq.shape[:-2], 1, dq.shape[-1]))
            found = self.along(point, still, still, unchanged(point, 1))
            return {name: x[..., :0, :] if name.startswith("d_") else x for name, x in found.items()}
        values: dict[str, Any] = {"q": point.q, "v": point.v, "p": point.dynamics.all_p, "a": point.a}
        nothing = np.zeros((dq.shape[-2], values["p"].shape[-1]))
        changes = {"dq": dq, "dv": dv, "da": change.a, "dp": nothing if dp is None else dp}
        if self.with_reactions:
            force = (point.now.M @ point.a[..., None])[..., 0] - point.now.Q
            values |= {"lam": point.multipliers, "fc": force}
            changes |= {"dlam": change.multipliers, "dfc": change.force}
        held = {"t": np.array([point.t])} | {name: x[..., None, :] for name, x in values.items()}
        with np.errstate(all="ignore"):
            found = self.kernel(**held, **changes)
        return {name: x[..., 0, :] for name, x in found.items()}


def readings_of(dynamics: Dynamics, given: Any, what: str, outputs: bool = False) -> Readings:
    """Readings from what people give: expressions, names of coordinates and rates, or a mapping from names to these.

    `outputs` may contain accelerations, multipliers and forces of constraint, too; others have rates.
    """
    named_ones = listed_ones(given, what)
    system = dynamics.system
    found = []
    for name, item in named_ones:
        expression = by_name(system, item)
        if isinstance(expression, str):
            known = [*system.coordinates, *system.velocities]
            raise InputError(
                f"{what} names {item!r}, which is not a coordinate or rate of this system{suggestion(item, known)}"
            )
        expression = as_scalar(expression)
        found.append((in_a_line(expression) if name is None else str(name), expression))
    names = tuple(name for name, _ in found)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{what} lists {twice} twice: list it once, or give a mapping from names to expressions")
    expressions = tuple(e for _, e in found)
    reactions = [*map(multiplier, system.constraint_names), *map(constraint_force, system.coordinates)]
    with_reactions = outputs and any(e.has(*reactions) for e in expressions)
    key = (*dynamics.key, expressions, outputs, tuple(dynamics.spare), with_reactions)
    kernel = _KERNELS.get(key, lambda: kernel_of(dynamics, found, what, outputs, with_reactions))
    return Readings(names, expressions, kernel, with_reactions)


def listed_ones(given: Any, what: str) -> list[tuple[Any, Any]]:
    """What was given as pairs of a name, or None, and an expression."""
    if isinstance(given, Mapping):
        return list(given.items())
    if isinstance(given, sp.Basic | str):
        return [(None, given)]
    if not isinstance(given, Sequence):
        raise InputError(f"{what} = {given!r}: list expressions, as in [x, dot(x)], or give them names in a mapping")
    return [(None, item) for item in given]


def kernel_of(
    dynamics: Dynamics, found: Sequence[tuple[str, sp.Expr]], what: str, outputs: bool, with_reactions: bool
) -> Kernel:
    """Native code of expressions; what they may not contain is refused by name."""
    system, lowered, values = dynamics.system, dynamics.lowered, dynamics.values
    axes = lowered.description.axes
    spare = named("spare", len(dynamics.spare))
    known: dict[sp.Basic, Any] = dict(zip(values.symbols, lowered.parameters, strict=True))
    known |= dict(zip(dynamics.spare, spare, strict=True))
    for coordinate, q, v, a in zip(system.coordinates, axes.q, axes.v, axes.a, strict=True):
        known |= {coordinate: q, rates(coordinate)[0]: v}
        known |= {rates(coordinate)[1]: a} if outputs else {}
    reactions: dict[str, tuple[Any, ...]] = {}
    if with_reactions:
        lam, force = (
            named("reaction_l", len(system.constraint_names)),
            named("reaction_f", len(system.coordinate_names)),
        )
        known |= dict(zip(map(multiplier, system.constraint_names), lam, strict=True))
        known |= dict(zip(map(constraint_force, system.coordinates), force, strict=True))
        reactions = {"lam": lam, "fc": force}
    plain = []
    for name, expression in found:
        e = expression
        if values.inputs and e.has(*values.inputs):
            e = e.subs(values.inputs).doit()
        functions = e.atoms(AppliedUndef, sp.Derivative)
        inner = {d.expr for d in functions if isinstance(d, sp.Derivative) and d in known}
        strange = sorted((e.free_symbols - {t} | functions) - known.keys() - inner, key=str)
        if strange:
            raise InputError(
                f"{what}: {name} uses {strange[0]}, which is unknown here{suggestion(strange[0], [*known])}"
            )
        if t in e.xreplace({s: sp.Dummy() for s in functions}).free_symbols:
            raise InputError(f"{what}: {name} depends on time itself: use coordinates, rates and parameters")
        plain.append(translate(e, dict(known)))
    return compile_program(readings_program(lowered, plain, spare, reactions, rates=not outputs), optimise=0)


def inputs_of(system: Any, given: Any) -> list[sp.Expr]:
    """Inputs from what people give: parameters and known functions of time, or their names."""
    items = [given] if isinstance(given, sp.Basic | str) else list(given)
    things = [*system.inputs, *(s for s in (*system.symbols, *system.parameters) if isinstance(s, sp.Symbol))]
    found: list[sp.Expr] = []
    for item in items:
        thing = next((s for s in things if item in (s, in_a_line(s))), None) or named_like(item, things)
        if thing is None:
            raise InputError(
                f"inputs names {in_a_line(item) if isinstance(item, sp.Basic) else item}, which is not a parameter or "
                f"known function of time of this system{suggestion(item, things)}"
            )
        if thing in found:
            raise InputError(f"inputs lists {in_a_line(thing)} twice: list it once")
        found.append(thing)
    return found


def column_of_input(dynamics: Dynamics, thing: sp.Expr) -> int | None:
    """Where an input stands among the parameters, spare ones included; None if nothing depends on it."""
    symbol = constant_of(thing) if thing in dynamics.system.inputs else thing
    symbols = [*dynamics.values.symbols, *dynamics.spare]
    return symbols.index(symbol) if symbol in symbols else None
