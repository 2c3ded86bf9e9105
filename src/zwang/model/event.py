"""Events: zeros of expressions along the motion, to be recorded or to stop at."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from zwang.display import Displayed, told
from zwang.errors import InputError
from zwang.model.symbols import as_expression, in_a_line, label

DIRECTIONS = {1: "upwards", -1: "downwards", 0: "in either direction"}
REACTION = re.compile(r"(multiplier|constraint_force)\[(.*)\]", re.DOTALL)  # the names of the symbols made here


def multiplier(name: str) -> sp.Symbol:
    """The multiplier λ of a constraint, by its name, for use in events and in nonideal forces.

    >>> multiplier("rod")
    multiplier[rod]
    """
    return sp.Symbol(f"multiplier[{name}]")


def constraint_force(coordinate: sp.Expr | str) -> sp.Symbol:
    """The force of constraint along a coordinate, for use in events.

    >>> from zwang import coordinates
    >>> constraint_force(coordinates("x"))
    constraint_force[x]
    """
    return sp.Symbol(f"constraint_force[{label(coordinate)}]")


@dataclass(frozen=True)
class Event(Displayed):
    """A zero of an expression in coordinates, rates, time, parameters, multipliers and forces of constraint.

    It fires where it is reached or passed: with `direction` 1 only from below, with −1 only from above, with 0 from
    either side; what touches zero fires once. `stop` ends the motion there.

    `reset` says where the state jumps then: it maps coordinates and rates to expressions of the state before, of time
    and of parameters; all are read before any is set, and what is not named stays. An event that is left at zero by
    its own reset is met again only after it has left zero.

    >>> from zwang import coordinates, dot
    >>> x = coordinates("x")
    >>> Event(x - 2, "gate", direction=1).name
    'gate'
    >>> Event(x, "floor", direction=-1, reset={dot(x): -dot(x)/2})
    <Event 'floor': x crosses zero downwards; sets dot(x)>
    """

    expression: sp.Expr
    name: str = ""
    direction: int = 0
    stop: bool = False
    reset: Mapping[Any, sp.Expr] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Refuse what is not an expression, and directions other than −1, 0 and 1."""
        expression = as_expression(self.expression)
        if not isinstance(expression, sp.Expr):
            raise InputError(
                f"event {self.name!r}: {expression} is not an expression: give one that crosses zero, x - 2 for x = 2"
            )
        object.__setattr__(self, "expression", expression)
        if self.direction not in (-1, 0, 1):
            raise InputError(f"event {self.name!r}: direction is {self.direction!r}, but −1, 0 or 1 is meant")
        if not isinstance(self.reset, Mapping):
            raise InputError(
                f"event {self.name!r}: reset maps coordinates and rates to expressions, {{dot(x): -dot(x), …}}; got "
                f"{type(self.reset).__name__}"
            )
        object.__setattr__(self, "reset", {key: self.put(key, value) for key, value in self.reset.items()})

    def put(self, key: Any, value: Any) -> sp.Expr:
        """What a coordinate or a rate is set to, as an expression."""
        expression = as_expression(value)
        if not isinstance(expression, sp.Expr):
            raise InputError(f"event {self.name!r}: the reset of {label(key)} is {expression}, which is no expression")
        return expression

    def with_each(self, change: Callable[[sp.Expr], sp.Expr]) -> "Event":
        """The event with all its expressions changed."""
        reset = {key: change(value) for key, value in self.reset.items()}
        return replace(self, expression=change(self.expression), reset=reset)

    @property
    def expressions(self) -> tuple[sp.Expr, ...]:
        """What is watched, and what the state is set to."""
        return (self.expression, *self.reset.values())

    def __repr__(self) -> str:
        """The event in a line."""
        crossing = f"{in_a_line(self.expression)} crosses zero {DIRECTIONS[self.direction]}"
        sets = f"sets {', '.join(map(label, self.reset))}" if self.reset else ""
        return told(self, self.name, crossing, sets, "stops the motion" if self.stop else "")


def listed_events(events: Any) -> list[Event]:
    """Events as they are given, one or several; what is none is refused."""
    if isinstance(events, Event):
        return [events]
    try:
        listed: list[Any] = list(events) if not isinstance(events, str) else [events]
    except TypeError:
        raise InputError(f"events = {events!r}: make it an event, zwang.Event(expression, name)") from None
    for event in listed:
        if not isinstance(event, Event):
            raise InputError(f"events contains {event!r}: make it an event, zwang.Event(expression, name)")
    return listed
