"""Runs driven by signals: what a signal must be fit for, and where steps have to end."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from zwang.errors import InputError
from zwang.signals import Signal
from zwang.symbols import t as time

if TYPE_CHECKING:
    from zwang.evaluation import Array
    from zwang.model import System

MOST_BREAKS = 1_000_000  # beyond, error control alone finds the places


def breaks_of(signals: Mapping[sp.Expr, Signal], derivative: int = 3) -> "Array":
    """The instants right after which a signal or one of its derivatives jumps."""
    found = [signal.breaks(derivative) for signal in signals.values()]
    breaks = np.unique(np.concatenate(found)) if found else np.zeros(0)
    return breaks if len(breaks) <= MOST_BREAKS else np.zeros(0)


def require_fit(system: "System", signals: Mapping[sp.Expr, Signal], method: str, t: float, until: float) -> None:
    """Refuse, before the run, a signal that ends too early, is not smooth enough, or does not suit the method."""
    for f, signal in signals.items():
        if method == "taylor":
            raise InputError(f"{f} is a signal, and Taylor's method cannot read tables: use method='native'")
        if signal.outside == "error" and not (signal.times[0] <= t and until <= signal.times[-1]):
            raise InputError(
                f"the motion runs from {t:g} to {until:g}, but the signal {f} from {signal.span}: end the motion "
                f"earlier, or say what holds outside with outside='hold' or 'zero'"
            )
        require_smooth(system, f, signal, t, until)


def require_smooth(system: "System", f: sp.Expr, signal: Signal, t: float, until: float) -> None:
    """Refuse a signal whose jumps would need impulses: positions and velocities of a motion are continuous.

    A constraint of order k fixes velocities by its derivative of order 1 − k, so that derivative must not jump;
    impulsive forces would come from the derivative of a jump; kinetic energy is differentiated once.
    """
    for where, expression in system.expressions.items():
        used = [d.derivative_count for d in expression.atoms(sp.Derivative) if d.expr == f and time in d.variables]
        if not used and not expression.has(f):
            continue
        highest = max(used, default=0) + differentiated(system, where)
        jumps = signal.breaks(highest)
        jumps = jumps[(jumps >= t) & (jumps < until)]
        if highest >= 0 and len(jumps):
            what = {0: "", 1: " rate"}.get(highest, f" derivative of order {highest}")
            remedy = "use kind='cubic'" if signal.kind == "linear" else "smooth it, or end the motion before"
            raise InputError(
                f"{where} asks the motion to follow the{what} of the signal {f}, which jumps at t = {jumps[0]:g}: "
                f"no finite force can do that; {remedy}"
            )


def differentiated(system: "System", where: str) -> int:
    """How often a part of a system is differentiated before it must be continuous; negative: it may jump itself."""
    for c in system.constraints:
        if where == f"constraint {c.name!r}":
            return 1 - c.order
    return 0 if where == "kinetic" else -1
