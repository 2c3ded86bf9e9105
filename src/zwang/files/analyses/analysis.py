"""What a section asks of a model: its arguments, as the file has them, and how it is answered."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, ClassVar

import sympy as sp

from zwang.errors import InputError
from zwang.files.table_types import Section
from zwang.model.has_system import HasSystem
from zwang.model.symbols import as_scalar
from zwang.model.values import InPython, named_like, one_number
from zwang.words import listed

Values = Mapping[sp.Expr, sp.Expr]
"""Expressions in parameters, by coordinates and rates."""
Held = Mapping[sp.Expr, sp.Expr | None]
"""What is held, and the value that it should have; None for the one that it has."""
Named = Mapping[str, sp.Expr]
Parameters = Mapping[Any, Any] | None


class Analysis(InPython, ABC):
    """A frozen dataclass whose fields are the keys of a section; all have defaults, for commands without a section."""

    section: ClassVar[Section]
    needed: ClassVar[tuple[str, ...]] = ()
    """Keys without which nothing can be asked."""

    @abstractmethod
    def answer(self, model: "AskedModel", parameters: Parameters = None) -> Any:
        """What the model says."""

    def wrong(self, names: tuple[str, ...]) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
        """What does not fit together in the section: where, what, and a remedy; `names` are those of the model."""
        yield from ()

    @property
    def expressions(self) -> list[sp.Expr]:
        """All expressions of the section, to see which names it uses."""
        return [e for field in fields(self) for e in expressions_in(getattr(self, field.name))]  # type: ignore[arg-type]


class AskedModel(HasSystem):
    """A model that may ask something: `analyses` has its questions by section."""

    analyses: Mapping[str, Analysis] = {}

    def ask(self, what: str, parameters: Parameters = None) -> Any:
        """The answer to what the section of this name asks: an `Equilibrium`, a dataset or a `Fit`.

        `parameters` override the defaults of the model.
        """
        if what not in self.analyses:
            there = f"it has [{'], ['.join(self.analyses)}]" if self.analyses else "it has no such section"
            raise InputError(f"the model does not ask for {what!r}: {there}")
        return self.analyses[what].answer(self, parameters)


def expressions_in(value: Any) -> list[sp.Expr]:
    """The expressions within the value of a field."""
    if isinstance(value, sp.Expr):
        return [value]
    if isinstance(value, Mapping):
        return [e for pair in value.items() for part in pair for e in expressions_in(part)]
    return [e for part in value for e in expressions_in(part)] if isinstance(value, tuple) else []


def values_of(model: HasSystem, parameters: Parameters) -> dict[sp.Basic, float]:
    """The parameters of a model that have a value, with those that are given."""
    known = dict(model.system_with(parameters).parameters)
    for key, value in (parameters or {}).items():
        known[named_like(key, list(known)) or as_symbol(key)] = value
    return {s: one_number(x, str(s)) for s, x in known.items() if isinstance(s, sp.Symbol) and x is not None}


def as_symbol(key: Any) -> sp.Symbol:
    """A parameter by its name."""
    return sp.Symbol(key) if isinstance(key, str) else key


def number_of(expression: sp.Expr, values: Mapping[sp.Basic, float], who: str) -> float:
    """An expression in parameters as a number."""
    missing = sorted(expression.free_symbols - values.keys(), key=str)
    if missing:
        raise InputError(f"{who} needs a value of {listed(map(str, missing))}: give it in parameters")
    exact = {s: sp.Float(x) for s, x in values.items()}
    return one_number(as_scalar(expression).xreplace(exact).evalf(), who)


def guess_of(model: HasSystem, guess: Values, parameters: Parameters) -> dict[sp.Expr, float] | None:
    """A guess in numbers: the model's own start, but for what is given; None where nothing is."""
    if not guess:
        return None
    values = values_of(model, parameters)
    given = {key: number_of(value, values, f"guess of {key}") for key, value in guess.items()}
    return {**model.guess_with(parameters), **given}


def held_of(model: HasSystem, held: Held, parameters: Parameters) -> Any:
    """What is held as functions take it: a list, or a mapping to numbers."""
    kept = {key: value for key, value in held.items() if value is not None}
    if not kept:
        return list(held)
    values = values_of(model, parameters)
    return {key: number_of(value, values, "hold") for key, value in kept.items()}
