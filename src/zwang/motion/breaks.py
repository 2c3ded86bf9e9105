"""Runs driven by signals and by switches in time: what a signal must be fit for, and where steps have to end."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.engines.registry import engine_of, names
from zwang.equations.languages import in_pieces, translate
from zwang.errors import InputError
from zwang.lowering.cache import Kept
from zwang.lowering.rolled.families import rolled
from zwang.lowering.rolled.timed import SwitchesOfMembers, switches_of_members
from zwang.lowering.switches import TimeSwitches, time_switches
from zwang.mistakes import Where
from zwang.model.check import place_name
from zwang.model.signal import Signal
from zwang.model.symbols import t as time
from zwang.motion.setup import Setup

if TYPE_CHECKING:
    from zwang.model import System

AnySwitches = TimeSwitches | SwitchesOfMembers

_SWITCHES: Kept[tuple[AnySwitches | None]] = Kept()


def breaks_of(signals: Mapping[sp.Expr, Signal], derivative: int = 3) -> Array:
    """The instants right after which a signal or one of its derivatives jumps."""
    found = [signal.breaks(derivative) for signal in signals.values()]
    return np.unique(np.concatenate(found)) if found else np.zeros(0)


def breaks_in(setup: Setup, p: Array, t: float, until: float) -> list[Array]:
    """For each row of parameters (S, k), the instants right after which a signal or a switch in time changes."""
    knots = breaks_of(setup.signals)
    knots = knots[(knots >= t) & (knots < until)]
    switches = switches_in(setup)
    if switches is None:
        return [knots] * len(p)
    kinds, kind = np.unique(p, axis=0, return_inverse=True)
    found = switches.instants(kinds, t, until, setup.signals.values())
    return [np.union1d(knots, found[i]) for i in kind.ravel()]


def switches_in(setup: Setup) -> AnySwitches | None:
    """The switches in time of a model, found once."""
    if not setup.lowered.description.switching and not (setup.inputs and derivatives_used(setup)):
        return None
    names = dict(zip(setup.lowered.parameters, map(str, setup.symbols), strict=True))
    known = dict(zip(setup.symbols, setup.lowered.parameters, strict=True)) | {time: setup.lowered.description.axes.t}

    def build() -> tuple[AnySwitches | None]:
        # a derivative has lost the jumps of what it is the derivative of
        lost = [translate(in_pieces(setup.inputs[f]), dict(known)) for f in derivatives_used(setup)]
        families = rolled(setup.lowered)
        if families is not None:
            return (switches_of_members(families, names, lost),)
        return (time_switches(setup.lowered, names, lost),)

    return _SWITCHES.get((setup.system.structure, tuple(setup.inputs.items())), build)[0]


def derivatives_used(setup: Setup) -> dict[sp.Expr, int]:
    """The known functions of time whose derivatives are used, with the highest order of each."""
    used: dict[sp.Expr, int] = {}
    if not any(isinstance(value, sp.Expr) for value in setup.inputs.values()):
        return used
    for _, expression in setup.system.templates:
        for d in expression.atoms(sp.Derivative):
            if isinstance(setup.inputs.get(d.expr), sp.Expr) and time in d.variables:
                used[d.expr] = max(used.get(d.expr, 0), d.derivative_count)
    return used


def require_fit(system: "System", signals: Mapping[sp.Expr, Signal], method: str, t: float, until: float) -> None:
    """Refuse, before the run, a signal that ends too early, is not smooth enough, or does not suit the method."""
    for f, signal in signals.items():
        if not engine_of(method).reads_signals:
            able = " or ".join(map(repr, names(lambda engine: engine.run and engine.reads_signals)))
            raise InputError(f"{f} is a signal, and method={method!r} cannot read tables: use method={able}")
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
    for where, expression in system.templates:
        used = [d.derivative_count for d in expression.atoms(sp.Derivative) if d.expr == f and time in d.variables]
        if not used and not expression.has(f):
            continue
        highest = max(used, default=0) + differentiated(system, where)
        jumps = signal.breaks(highest)
        jumps = jumps[(jumps >= t) & (jumps < until)]
        if highest >= 0 and len(jumps):
            what = {0: "", 1: " rate"}.get(highest, f" derivative of order {highest}")
            remedy = "use kind='cubic'" if signal.kind == "linear" else "smooth it, or end the motion before"
            who = place_name(where, system.coordinates)
            raise InputError(
                f"{who} asks the motion to follow the{what} of the signal {f}, which jumps at t = {jumps[0]:g}: "
                f"no finite force can do that; {remedy}"
            )


def differentiated(system: "System", where: Where) -> int:
    """How often a part of a system is differentiated before it must be continuous; negative: it may jump itself."""
    if where[0] == "constraints" and len(where) > 2:
        return 0  # a slip is a speed: what sticks follows it
    if where[0] == "constraints":
        row = system.constraint_names.index(where[1])
        return 1 - (system.families.orders[row] if system.families else system.constraints[row].order)
    return 0 if where == ("kinetic",) else -1
