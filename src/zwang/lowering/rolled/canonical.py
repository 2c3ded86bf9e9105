"""Expressions that are the same in other symbols and with other numbers: one key, and what stands in its places.

Sums and products are read in an order that does not depend on the names of symbols: by what their parts look like, and
by where else their symbols occur. Ties are broken as they come, which may give two keys to what could have one, and
never one key to what is different.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from zlib import crc32

import symengine as se

from zwang.compile.builders import nearest_double

# Numbers that remain in an expression. All other factors and terms get places: rods of a thousand lengths are one kind.
IN_TEMPLATES = frozenset({se.Integer(-1), se.Integer(2), se.Integer(-2), se.Rational(1, 2), se.Rational(-1, 2)})
IN_CONDITIONS = IN_TEMPLATES | {se.Integer(0), se.Integer(1), se.nan}  # of limits and pieces

# What makes expressions of their parts where SymEngine's own classes do not.
MAKERS: dict[str, Callable[..., Any]] = {
    "Add": se.Add, "Mul": se.Mul, "StrictLessThan": se.Lt, "LessThan": se.Le, "And": se.And, "Or": se.Or, "Not": se.Not,
    "Xor": se.Xor,
    "Piecewise": lambda *parts: se.Piecewise(*zip(parts[::2], parts[1::2], strict=True)),
}  # fmt: skip
IN_ANY_ORDER = ("Add", "Mul", "And", "Or", "Xor")
CONDITIONS = ("StrictLessThan", "LessThan", "Piecewise")

Role = tuple[str, int]
"""What a symbol is: "q", "v" or "a" of a coordinate, or "p", a parameter; and which."""


@dataclass(frozen=True)
class Reading:
    """An expression as it is read: its key, and what stands in its places."""

    expression: Any
    looks: "Looks"
    key: list[Any] = field(default_factory=list)
    coordinates: dict[int, int] = field(default_factory=dict)
    """Number of a coordinate → its place."""
    parameters: dict[int, int] = field(default_factory=dict)
    constants: list[float] = field(default_factory=list)

    def read(self, e: Any) -> None:
        """Append a part of the expression to the key."""
        if e.is_Symbol and e in self.looks.roles:
            letter, number = self.looks.roles[e]
            places = self.parameters if letter == "p" else self.coordinates
            self.key.append((letter, places.setdefault(number, len(places))))
        elif not e.args:
            self.key.append(text_of(e))
        else:
            self.key.append((name_of(e), len(e.args)))
            for part in self.looks.in_order(e):
                if takes_place(e, part):
                    self.key.append("c")
                    self.constants.append(nearest_double(part))
                else:
                    self.read(part)

    def template(self, symbols: Mapping[str, Sequence[Any]]) -> Any:
        """The expression in other symbols: of coordinates and parameters by their places, "c" for constants."""
        constants = iter(symbols["c"])

        def put(e: Any) -> Any:
            if e.is_Symbol and e in self.looks.roles:
                letter, number = self.looks.roles[e]
                return symbols[letter][(self.parameters if letter == "p" else self.coordinates)[number]]
            if not e.args:
                return e
            parts = [next(constants) if takes_place(e, part) else put(part) for part in self.looks.in_order(e)]
            make = MAKERS.get(type(e).__name__)
            return e.func(*parts) if make is None else make(*parts)

        return put(self.expression)


def read(e: Any, roles: Mapping[Any, Role], first: Sequence[int] = ()) -> Reading:
    """An expression in the order that its key has; `first` are coordinates that have places already."""
    looks = Looks(roles)
    looks.look_around(e, 0)
    colors = {}
    for symbol, places in looks.met.items():
        letter, number = roles[symbol]
        given = first.index(number) if letter != "p" and number in first else -1
        colors[symbol] = hash((stable(letter), given, *sorted(places)))
    reading = Reading(e, Looks(roles, colors), coordinates={number: place for place, number in enumerate(first)})
    reading.read(e)
    return reading


class Looks:
    """What expressions look like, as numbers: equal for those that differ in symbols of one colour only."""

    def __init__(self, roles: Mapping[Any, Role], colors: Mapping[Any, int] | None = None) -> None:
        self.roles, self.colors = roles, colors or {}
        self.known: dict[Any, int] = {}
        self.met: defaultdict[Any, list[int]] = defaultdict(list)
        """Symbol → where it occurs."""

    def of(self, e: Any) -> int:
        """The look of an expression."""
        known = self.known.get(e)
        if known is None:
            known = self.known[e] = self._of(e)
        return known

    def _of(self, e: Any) -> int:
        if e.is_Symbol:
            return self.colors[e] if e in self.colors else stable(self.roles[e][0] if e in self.roles else str(e))
        if not e.args:
            return stable(text_of(e))
        looks = [0 if takes_place(e, part) else self.of(part) for part in e.args]
        return hash((stable(name_of(e)), *(sorted(looks) if type(e).__name__ in IN_ANY_ORDER else looks)))

    def in_order(self, e: Any) -> list[Any]:
        """The parts of an expression in the order in which they are read."""
        if type(e).__name__ not in IN_ANY_ORDER:
            return list(e.args)
        return sorted(e.args, key=lambda part: 0 if takes_place(e, part) else self.of(part))

    def look_around(self, e: Any, above: int) -> None:
        """Note for each symbol where it occurs."""
        if e.is_Symbol:
            if e in self.roles:
                self.met[e].append(above)
            return
        here = hash((above, self.of(e)))
        for place, part in enumerate(e.args):
            self.look_around(part, here if type(e).__name__ in IN_ANY_ORDER else hash((here, place)))


def takes_place(e: Any, part: Any) -> bool:
    """Whether a part of an expression is a number with a place of its own: a term, a factor, a limit or a piece."""
    if not part.is_Number:
        return False
    if e.is_Add or e.is_Mul:
        return part not in IN_TEMPLATES
    return type(e).__name__ in CONDITIONS and part not in IN_CONDITIONS


def name_of(e: Any) -> str:
    """The name of a function."""
    return str(e.get_name()) if hasattr(e, "get_name") else type(e).__name__


def text_of(e: Any) -> str:
    """A symbol or a number in all its digits: SymEngine prints fifteen of a double's seventeen."""
    return float(e).hex() if isinstance(e, se.RealDouble) else str(e)


@cache
def stable(text: str) -> int:
    """A number for a text, the same in every process: sums are added up in this order."""
    return crc32(text.encode())
