"""Equations as text: drawn in two dimensions where there is room for that, one line an entry where there is not."""

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zwang.formulations.forms import FORMS

if TYPE_CHECKING:
    from zwang.equations import Equations

# Seconds for writing out q̈, unless others are given; how long it takes cannot be told from a system's size. With rows
# that change along the motion, as every joint in space has, it mostly takes for ever.
READING = 4.0
DERIVING = 60.0  # seconds for M, Q, A and b, without which there is nothing to show
TOO_LONG = 2000  # operations of an entry of which a terminal does not even show the beginning
HEAVY = 300  # operations; to draw more in two dimensions takes long, and nobody reads it


@dataclass(frozen=True)
class PageRoom:
    """How much there is room for: columns, entries of a matrix, characters of an entry, and seconds to find them."""

    width: int
    entries: int
    characters: int
    seconds: float


def terminal_room(width: int, seconds: float) -> PageRoom:
    """What a person reads in a terminal."""
    return PageRoom(width, 30, 500, seconds)


def file_room(seconds: float) -> PageRoom:
    """What a file has room for."""
    return PageRoom(118, 10**6, 10**9, seconds)


def general(form: str, equations: "Equations") -> list[str]:
    """A form in general; with nonideal constraints, F = Q + C takes the place of Q."""
    words = FORMS[form].text if equations.names else "M q̈ = Q"
    return (words.replace("Q", "F") + ",  F = Q + C" if any(equations.C) else words).split("\n")


def matrices(equations: "Equations", room: PageRoom) -> list[str]:
    """M, Q, C, A and b, and what is assumed about A."""
    coordinates = [q.func.__name__ for q in equations.coordinates]
    rows = [*named("M", equations.M, coordinates, coordinates, room), ""]
    rows += named("Q", equations.Q, [], coordinates, room)
    if any(equations.C):
        rows += ["", *named("C", equations.C, [], coordinates, room)]
    if equations.names:
        constraints = list(equations.names)
        rows += ["", *named("A", equations.A, coordinates, constraints, room)]
        rows += ["", *named("b", equations.b, [], constraints, room), "", fitted(equations.assumption, room)]
    return rows


def named(name: str, value: Any, across: list[str], down: list[str], room: PageRoom) -> list[str]:
    """A matrix or column under its name: drawn, or its entries that are not zero one by one."""
    import sympy as sp

    if rows := drawn(sp.Eq(sp.Symbol(name), value, evaluate=False), room):
        return rows
    entries = sorted(value.todok().items())
    more = len(entries) - room.entries
    rows = [f"{name}[{place(at, across, down)}] = {line(entry, room)}" for at, entry in entries[: room.entries]]
    return [*rows, *([f"… and {more} more; --out FILE writes them all"] if more > 0 else [])]


def place(at: tuple[int, int], across: list[str], down: list[str]) -> str:
    """An entry's row and column by name; a column's entries have only the first."""
    i, j = at
    return f"{down[i]}, {across[j]}" if across else down[i]


def accelerations(equations: "Equations", values: Any, room: PageRoom) -> list[str]:
    """q̈ written out."""
    import sympy as sp

    from zwang.model.symbols import t

    left = sp.ImmutableMatrix([q.diff(t, 2) for q in equations.coordinates])
    if rows := drawn(sp.Eq(left, values, evaluate=False), room):
        return rows
    pairs = zip(equations.coordinates, values, strict=True)
    return [f"{q.func.__name__}'' = {line(value, room)}" for q, value in pairs]


def drawn(expression: Any, room: PageRoom) -> list[str]:
    """An expression in two dimensions with dots for rates; nothing if there is no room for it."""
    from sympy.physics.vector.printing import vpprint

    from zwang.linalg.exact import operations

    if operations([expression]) > HEAVY:
        return []
    rows = unicodedata.normalize("NFC", vpprint(expression, use_unicode=True, wrap_line=False)).rstrip().split("\n")
    return [row.rstrip() for row in rows] if max(map(columns, rows)) <= room.width else []


def columns(row: str) -> int:
    """The columns that a row takes: dots above letters take none."""
    return sum(not unicodedata.combining(c) for c in row)


def line(expression: Any, room: PageRoom) -> str:
    """An expression in one line as a model file writes it, x' for a rate."""
    from sympy.physics.vector.printing import vsstrrepr

    from zwang.linalg.exact import operations

    if (size := operations([expression])) > max(room.characters, TOO_LONG):  # to cut what takes seconds to print
        return f"… ({size:,} operations; --out FILE writes them all)"
    return fitted(str(vsstrrepr(expression)).replace("**", "^"), room)


def fitted(words: str, room: PageRoom) -> str:
    """Words that are cut where there is no room for all of them."""
    if len(words) <= room.characters:
        return words
    return f"{words[: room.characters]} … ({len(words):,} characters; --out FILE writes them all)"
