"""Events: zeros of expressions along the motion, to be recorded or to stop at."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import symengine as se
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.compile import Program
from zwang.equations.languages import translate
from zwang.errors import InputError
from zwang.evaluation import Model
from zwang.given import suggestion
from zwang.linalg.saddle import Steps
from zwang.model import System
from zwang.motion.choice import Choice
from zwang.motion.explicit import Equation, constraint_forces, filled
from zwang.motion.task import EventTask
from zwang.signals import Lookup
from zwang.symbols import as_expression, label, rates, t

REACTION = re.compile(r"(multiplier|constraint_force)\[(.*)\]", re.DOTALL)  # the names of the symbols made here


def multiplier(name: str) -> sp.Symbol:
    """The multiplier λ of a constraint, by its name, for use in events.

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
class Event:
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
        """Refuse what is no expression and what is no direction."""
        expression = as_expression(self.expression)
        if not isinstance(expression, sp.Expr):
            raise InputError(
                f"event {self.name!r}: {expression} is no expression: give one that crosses zero, x - 2 for x = 2"
            )
        object.__setattr__(self, "expression", expression)
        if self.direction not in (-1, 0, 1):
            raise InputError(f"event {self.name!r}: direction is {self.direction!r}, but −1, 0 or 1 is meant")


def event_task(
    system: System,
    symbols: Sequence[sp.Symbol],
    model: Model,
    choice: Choice,
    events: Sequence[Event],
    gains: Any,
    falling: Sequence[Any] = (),
) -> EventTask | None:
    """The events of a run as a program, on the rows chosen for it.

    Behind them come expressions of the model that stop the run where they fall through zero.
    """
    if not events and not falling:
        return None
    axes, derived = model.description.axes, model.derived
    steps = Steps(se.Symbol, se.Add)
    known: dict[sp.Basic, Any] = dict(zip(symbols, model.parameters, strict=True)) | {t: axes.t}
    for coordinate, q, v in zip(system.coordinates, axes.q, axes.v, strict=True):
        known |= {coordinate: q, rates(coordinate)[0]: v}
    reactions = [*map(multiplier, system.constraint_names), *map(constraint_force, system.coordinates)]
    if any(e.expression.has(*reactions) for e in events):
        Q = [f + c for f, c in zip(derived.Q, derived.C, strict=True)]
        equation = Equation.of(model, choice, steps, [derived.b[i] for i in choice.used])
        _, lam = equation.solve(Q)
        if len(choice.rows) == len(system.constraints):
            names = map(multiplier, system.constraint_names)
            known |= dict(zip(names, filled(lam), strict=True))
        forces = constraint_forces(equation.A, lam, len(Q), steps)
        known |= {constraint_force(q): f + c for q, f, c in zip(system.coordinates, forces, derived.C, strict=True)}
    outputs = (*(reading(event, known, reactions) for event in events), *falling)
    inputs = model.inputs if gains is None else model.inputs | {"gains": gains}
    program = Program(inputs=inputs, outputs={"event": outputs}, shapes={}, steps=tuple(steps.done))
    return EventTask(
        program,
        direction=(*(e.direction for e in events), *(-1 for _ in falling)),
        stop=(*(e.stop for e in events), *(True for _ in falling)),
        signals=tuple(bool(e.expression.has(Lookup)) for e in events),
    )


def reading(event: Event, known: dict[sp.Basic, Any], reactions: list[sp.Symbol]) -> Any:
    """An event's expression in plain symbols; what it does not know is refused by name."""
    named = event.expression.free_symbols | event.expression.atoms(AppliedUndef)
    strange = sorted(named - known.keys(), key=str)
    if strange:
        if strange[0] in reactions:
            raise InputError(
                f"event {event.name!r} asks for {strange[0]}, but with redundant constraints multipliers are not "
                f"unique: watch constraint_force(…) instead, or drop the redundant constraints"
            )
        raise InputError(
            f"event {event.name!r}: unknown symbol {strange[0]}{suggestion(strange[0], [*known, *reactions])}"
        )
    return translate(event.expression, known)
