"""Whether a system is the same again after a period, and after its coordinates have shifted."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from zwang.analysis.shooting import Problem
from zwang.arrays import Array
from zwang.compile import Kernel
from zwang.errors import InputError
from zwang.model.event import REACTION
from zwang.model.state import place_of
from zwang.results.evaluate_along import kernel_of, spare_values

REPEATED = 1e-8  # the share by which equations may differ after a period
LOOKED_AT_SHARES = (0.0, 0.137, 0.419, 0.731)  # of a period, where a driven system is looked at and again later
PARTS = ("M", "Q", "C", "A", "b", "residual", "residual_rate")


def require_same(problem: Problem, states: Sequence[tuple[Array, Array]], T: float, moved: Array) -> None:
    """Refuse a period, or a shift of coordinates, after which a system is not the same again."""
    dynamics = problem.search.dynamics
    times = (dynamics.t + T * np.array(LOOKED_AT_SHARES)).tolist()
    kernel = read_of(problem)
    now, later = (
        list(zip(*(told(problem, kernel, q + a, v, t + b) for q, v in states for t in times), strict=True))
        for a, b in ((0 * moved, 0.0), (moved, T))
    )
    if any(differ(np.array(x), np.array(y)) for x, y in zip(now, later, strict=True)):
        refuse(problem, T, moved)


def differ(x: Array, y: Array) -> bool:
    """Whether two arrays are not the same but for rounding."""
    largest = max(np.abs(x).max(initial=0.0), np.abs(y).max(initial=0.0))
    return bool(np.abs(x - y).max(initial=0.0) > REPEATED * largest)


def told(problem: Problem, kernel: Kernel | None, q: Array, v: Array, t: float) -> list[Array]:
    """The equations at a state, gaps of contacts included, and what events and their resets say of it."""
    dynamics = problem.search.dynamics
    now = dynamics.all_matrices(q, v, t)
    found: list[Any] = [np.nan_to_num(getattr(now, name)) for name in PARTS]
    if kernel is None:
        return found
    return [*found, *kernel(t=np.array([t]), q=q, v=v, p=dynamics.values.p)["values"]]


def read_of(problem: Problem) -> Kernel | None:
    """What events and their resets say, as native code; None if there are none. Reactions repeat with all the rest."""
    dynamics, expressions = problem.search.dynamics, [event.expression for event in problem.resets]
    system, values = dynamics.system, dynamics.values
    for event in problem.resets:
        for key, value in event.reset.items():
            place = place_of(system, key)  # a coordinate that shifts is set to what has shifted as far
            moves = place is not None and place < len(system.coordinates)
            expressions.append(value - system.coordinates[place or 0] if moves else value)
    plain = [e for e in expressions if not any(REACTION.fullmatch(s.name) for s in e.free_symbols)]
    if not plain:
        return None
    spare = spare_values(system, problem.parameters, values.symbols)
    return kernel_of(system, values.symbols, values.inputs, spare, plain, ())


def refuse(problem: Problem, T: float, moved: Array) -> None:
    """Say what is not the same, by name."""
    if not moved.any():
        raise InputError(
            f"the equations are not the same again after period = {T:g}: give a multiple of the period of what "
            f"drives the system"
        )
    names = zip(problem.search.dynamics.system.coordinate_names, moved.tolist(), strict=True)
    ways = ", ".join(f"{name} by {way:.6g}" for name, way in names if way)
    raise InputError(
        f"the equations are not the same again after a period, which shifts {ways}: only what they do not depend on "
        f"may shift, or by what they repeat themselves in"
    )
