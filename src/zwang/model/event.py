"""Events: zeros of expressions along the motion, to be recorded or to stop at."""

import re
from dataclasses import dataclass

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

    >>> from zwang import coordinates
    >>> x = coordinates("x")
    >>> Event(x - 2, "gate", direction=1).name
    'gate'
    """

    expression: sp.Expr
    name: str = ""
    direction: int = 0
    stop: bool = False

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

    def __repr__(self) -> str:
        """The event in a line."""
        crossing = f"{in_a_line(self.expression)} crosses zero {DIRECTIONS[self.direction]}"
        return told(self, self.name, crossing, "stops the motion" if self.stop else "")
