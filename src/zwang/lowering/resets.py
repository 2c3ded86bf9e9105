"""Resets of events as programs: where the state jumps to, as a function of the state before."""

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.compile import Program
from zwang.equations.languages import translate
from zwang.errors import InputError
from zwang.lowering.events import plain_symbols
from zwang.lowering.lowered import Lowered
from zwang.model import System
from zwang.model.event import REACTION, Event
from zwang.model.state import place_of
from zwang.model.symbols import label, t
from zwang.model.values import state_label, suggestion


def reset_program(system: System, symbols: Sequence[sp.Symbol], lowered: Lowered, event: Event) -> Program:
    """Positions q and velocities v (n) after the reset of an event; what it does not name stays."""
    axes, n = lowered.description.axes, len(system.coordinate_names)
    known = plain_symbols(system, symbols, lowered)
    after = [*axes.q, *axes.v]
    for place, expression in places_of(system, symbols, event).items():
        after[place] = translate(expression, known)
    return Program(lowered.inputs, {"q": tuple(after[:n]), "v": tuple(after[n:])}, {})


def places_of(system: System, symbols: Sequence[sp.Symbol], event: Event) -> Mapping[int, sp.Expr]:
    """What a reset sets, by the numbers of coordinates and, behind them, rates; what is unknown is refused by name."""
    found: dict[int, sp.Expr] = {}
    known = [*symbols, t, *system.coordinates, *system.velocities]
    for key, expression in event.reset.items():
        place = place_of(system, key)
        if place is None:
            raise InputError(
                f"event {event.name!r}: the reset sets {label(key)}, which is not a coordinate or rate of this system"
                f"{suggestion(key, [*system.coordinates, *system.velocities])}"
            )
        if place in found:
            name = state_label(system.coordinate_names, place)
            raise InputError(f"event {event.name!r}: the reset sets {name} twice, by name and by symbol: give it once")
        require_known(event, state_label(system.coordinate_names, place), expression, known)
        found[place] = expression
    return found


def require_known(event: Event, name: str, expression: sp.Expr, known: list[Any]) -> None:
    """Refuse symbols that a reset cannot know, by name."""
    strange = sorted((expression.free_symbols | expression.atoms(AppliedUndef)) - {*known}, key=str)
    if not strange:
        return
    if REACTION.fullmatch(str(strange[0])):
        raise InputError(
            f"event {event.name!r}: the reset of {name} asks for {strange[0]}, but forces have no part in a jump of "
            f"the state: write it in coordinates, rates, time and parameters"
        )
    raise InputError(
        f"event {event.name!r}: the reset of {name}: unknown symbol {strange[0]}{suggestion(strange[0], known)}"
    )


def require_resets(
    system: System, symbols: Sequence[sp.Symbol], events: Sequence[Event], contacts: str, precision: str
) -> None:
    """Refuse resets of what is not there, and motions that cannot jump, by name."""
    for event in events:
        if not event.reset:
            continue
        places_of(system, symbols, event)
        for what, given, usual in (("contacts", contacts, "events"), ("precision", precision, "double")):
            if given != usual:
                raise InputError(
                    f"event {event.name!r} resets the state, which {what}={given!r} does not know: use {what}={usual!r}"
                )
