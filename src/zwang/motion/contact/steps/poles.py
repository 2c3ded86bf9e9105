"""Where something is divided by zero inside of a step: a step of fixed length would leap over an infinite force.

A method that looks at its error shortens its steps before an infinite force, and stops there. Steps of one length see
the force at their middle only. So denominators are watched as events are: where one changes its sign within a step, and
what is divided by it grows without bound towards that place, the motion does not go on.
"""

from collections.abc import Callable, Iterator

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.lowering.lowered import AnyMatrices, SparseMatrices
from zwang.model import System
from zwang.model.event import Event
from zwang.model.symbols import t

AT_FIRST, AT_LAST = 1e-3, 1e-6  # of a step: at these distances from a pole its forces are compared
UNBOUNDED = 20.0  # of forces between these: 1000 for 1/x, 32 for x^(-1/2), 2 for log x, 1 where a quotient is finite
HALVINGS = 60  # until the place of a zero within a step is known to rounding


def poles_of(system: System) -> tuple[Event, ...]:
    """The denominators of a system as events; of one that is described by families none are watched."""
    if system.families is not None:
        return ()
    moving = {*system.coordinates, *system.velocities, t}
    known = {*moving, *(s for s in system.parameters if isinstance(s, sp.Symbol)), *system.symbols}
    found = dict.fromkeys(base for e in expressions_of(system) for base in denominators(e))
    return tuple(
        Event(base, f"pole {k}")
        for k, base in enumerate(found)
        if base.has(*moving) and is_made_of(base, known) and not base.is_nonnegative and not base.is_nonpositive
    )


def expressions_of(system: System) -> Iterator[sp.Expr]:
    """All expressions of a system."""
    yield from (e for e in (system.kinetic, system.potential) if e is not None)
    yield from (*system.forces, *system.nonideal)
    yield from system.mass or ()
    yield from (c.expression for c in system.constraints)


def denominators(expression: sp.Expr) -> Iterator[sp.Expr]:
    """What is divided by within an expression, where a change of its sign is no error of its own."""
    for part in expression.atoms(sp.Pow):
        if part.exp.is_integer and part.exp.is_negative:
            yield part.base
    yield from (sp.cos(part.args[0]) for part in expression.atoms(sp.tan, sp.sec))
    yield from (sp.sin(part.args[0]) for part in expression.atoms(sp.cot, sp.csc))


def is_made_of(expression: sp.Expr, known: set[sp.Basic]) -> bool:
    """Whether an expression contains symbols and functions of time from a set only."""
    plain = expression.xreplace({e: sp.Dummy() for e in sorted(known, key=lambda e: -len(str(e)))})
    return all(isinstance(s, sp.Dummy) for s in plain.free_symbols) and not plain.atoms(sp.core.function.AppliedUndef)


def zero_within(reading: Callable[[float], float], low: float, high: float) -> float:
    """Where a reading changes its sign between two shares of a step."""
    begin = reading(low)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if reading(middle) * begin > 0 else (low, middle)
    return (low + high) / 2


def infinite_at(matrices: Callable[[float], AnyMatrices], share: float, system: System) -> str:
    """What grows without bound towards a place within a step, in words; nothing if all stays finite."""
    sides = (1,) if share < AT_FIRST else (-1,)
    near, nearer = ([sizes(matrices(share + side * d)) for side in sides] for d in (AT_FIRST, AT_LAST))
    whose = [f"the force on {q}" for q in system.coordinate_names]
    whose += [f"constraint {name!r}" for name in system.constraint_names]
    for one, other in zip(near, nearer, strict=True):
        ratio = np.where(np.isfinite(other), other / np.where(one > 0, one, 1.0), np.inf)
        if ratio.max(initial=0.0) > UNBOUNDED:
            return whose[int(ratio.argmax())]
    return ""


def sizes(now: AnyMatrices) -> Array:
    """The largest entry of what belongs to each coordinate, then to each constraint."""
    M, A = (now.M.toarray(), now.A.toarray()) if isinstance(now, SparseMatrices) else (now.M, now.A)
    on_coordinates = np.maximum(np.abs(now.Q), np.abs(M).max(axis=1, initial=0.0))
    count = len(now.residual)
    return np.concatenate([on_coordinates, np.maximum(np.abs(now.b), np.abs(A).max(axis=1, initial=0.0))[:count]])
