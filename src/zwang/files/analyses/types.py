"""The types of values in sections that ask something: how each is checked, and as JSON Schema."""

import math
from collections.abc import Callable
from typing import Any

from zwang.files.ranges import range_values
from zwang.files.value_types import (
    A_NUMBER,
    AN_EXPRESSION,
    LARGEST_COUNT,
    MOST_POINTS,
    TEXT_SCHEMA,
    Type,
    Wrong,
    a_list,
    either,
    expression,
    instead,
    is_list,
    is_number,
    several,
    swept,
    text,
)

MOST_NAMED = 2000  # entries of a table or a list
MOST_TRIALS = 200
MOST_FOLLOWED = 10_000  # values of a parameter along which modes are followed


def is_table(value: Any) -> bool:
    """Whether this is a table."""
    return isinstance(value, dict)


def named(check: Callable[[Any], Wrong], words: str, most: int = MOST_NAMED) -> Callable[[Any], Wrong]:
    """A table of values of one type by name; TOML takes names with dots for tables, which is fine here."""

    def wrong(value: Any) -> Wrong:
        if not is_table(value):
            return instead(value, words)
        if not 1 <= len(flat(value)) <= most:
            return [((), f"{len(value)} entries where {words} is meant")]
        return [((*path, *inner), message) for path, entry in paths(value) for inner, message in check(entry)]

    return wrong


def paths(value: dict[str, Any]) -> list[tuple[tuple[str, ...], Any]]:
    """The entries of a table with their ways; those of tables within it, as `pin.angle = 1` makes them, too."""
    found: list[tuple[tuple[str, ...], Any]] = []
    for name, entry in value.items():
        inner = entry.items() if is_table(entry) else ()
        found += [((name, key), what) for key, what in inner] if inner else [((name,), entry)]
    return found


def flat(value: dict[str, Any]) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Entries by name, `pin.angle` for one in a table: its way, and what it is.

    >>> flat({"x": 1, "pin": {"angle": 2}})
    {'x': (('x',), 1), 'pin.angle': (('pin', 'angle'), 2)}
    """
    return {".".join(path): (path, entry) for path, entry in paths(value)}


def followed(value: Any) -> Wrong:
    """A range of bearable length: for each of its values an equilibrium is looked for."""
    if wrong := swept(value):
        return wrong
    many = len(range_values(value))
    return [((), f"{many:,} values, more than {MOST_FOLLOWED:,}")] if many > MOST_FOLLOWED else []


def limit(value: Any) -> Wrong:
    """A number, inf and -inf counted."""
    if not is_number(value):
        return instead(value, "a number, inf or -inf")
    return [((), "nan is not a number")] if value != value else []


def entry(value: Any) -> Wrong:
    """A number, or nan for a gap."""
    return (
        [] if is_number(value) and value not in (math.inf, -math.inf) else instead(value, "a number, or nan for a gap,")
    )


def positive(value: Any) -> Wrong:
    """A whole number from 1 on."""
    if isinstance(value, bool) or not isinstance(value, int):
        return instead(value, "a whole number")
    return [] if 1 <= value <= LARGEST_COUNT else [((), f"a whole number from 1 to {LARGEST_COUNT:,} is meant")]


def table_schema(inner: dict[str, Any], most: int = MOST_NAMED) -> dict[str, Any]:
    """A table of values of one type, in JSON Schema; names with dots make tables of their own."""
    nested = {"type": "object", "additionalProperties": inner, "minProperties": 1}
    both = {"anyOf": [inner, nested]}
    return {"type": "object", "additionalProperties": both, "minProperties": 1, "maxProperties": most}


A_GUESS = 'a table { x = 0.5, "y\'" = 2 }'
SOME = 'a list of expressions ["x", "y\'"]'
NAMES = 'a list of names ["F"]'
HELD = f"{SOME}, or a table of values"
COLUMNS = "a table of columns, each a list of numbers,"
a_text = text("an expression in quotes")
a_guess = named(expression, A_GUESS)
a_column = several(entry, "a list of numbers", 1, MOST_POINTS)
columns = named(a_column, COLUMNS)
A_GUESS_SCHEMA = table_schema(AN_EXPRESSION)
TEXTS_SCHEMA = a_list(TEXT_SCHEMA, 1, MOST_NAMED)
A_COLUMN_SCHEMA = a_list(A_NUMBER, 1, MOST_POINTS)
A_DATA_SCHEMA = {"anyOf": [TEXT_SCHEMA, table_schema(A_COLUMN_SCHEMA)]}
one_table = either(text("the name of a CSV file in quotes"), columns, is_table)


ASKED_TYPES: dict[str, Type] = {
    "setting": Type("a number or an expression of parameters", expression, AN_EXPRESSION),
    "positive": Type("a whole number", positive, {"type": "integer", "minimum": 1, "maximum": LARGEST_COUNT}),
    "guess": Type(A_GUESS, a_guess, A_GUESS_SCHEMA),
    "guesses": Type(
        f"{A_GUESS}, or a list of these",
        either(a_guess, several(a_guess, "a list of tables", 1, MOST_TRIALS), is_list),
        {"anyOf": [A_GUESS_SCHEMA, a_list(A_GUESS_SCHEMA, 1, MOST_TRIALS)]},
    ),
    "held": Type(
        HELD,
        either(several(a_text, HELD, 1, MOST_NAMED), named(expression, HELD), is_table),
        {"anyOf": [TEXTS_SCHEMA, table_schema(AN_EXPRESSION)]},
    ),
    "readings": Type(
        f"{SOME}, or a table of these by name",
        either(several(a_text, SOME, 1, MOST_NAMED), named(expression, SOME), is_table),
        {"anyOf": [TEXTS_SCHEMA, table_schema(AN_EXPRESSION)]},
    ),
    "names of inputs": Type(NAMES, several(text("a name in quotes"), NAMES, 1, MOST_NAMED), TEXTS_SCHEMA),
    "against": Type(
        'a parameter and its range { v = "0:10:101" }',
        named(followed, 'a parameter and its range { v = "0:10:101" }', 1),
        table_schema({"anyOf": [{"type": "string"}, a_list(A_NUMBER, 1, MOST_FOLLOWED)]}, 1),
    ),
    "unknown": Type(
        'names ["g"], or a table { g = 9.5 } of first guesses',
        either(several(text("a name in quotes"), "names", 1, MOST_NAMED), named(expression, "a table"), is_table),
        {"anyOf": [TEXTS_SCHEMA, table_schema(AN_EXPRESSION)]},
    ),
    "data": Type(
        "the name of a CSV file, or a list of these",
        either(one_table, several(one_table, "a list of tables", 1, MOST_TRIALS), is_list),
        {"anyOf": [A_DATA_SCHEMA, a_list(A_DATA_SCHEMA, 1, MOST_TRIALS)]},
    ),
    "measures": Type(
        'a table { angle = "atan2(x, -y)" }', named(expression, "a table of expressions"), table_schema(AN_EXPRESSION)
    ),
    "weights": Type(
        "a table { x = 1000 }", named(expression, "a table of weights"), table_schema(AN_EXPRESSION)
    ),
    "bounds": Type(
        "a table { m = [0, 2] }",
        named(several(limit, "two numbers [least, most]", 2, 2), "a table of pairs [least, most]"),
        table_schema(a_list(A_NUMBER, 2, 2)),
    ),
}  # fmt: skip
