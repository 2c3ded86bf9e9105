"""The types of values in a model file: what each is called, how it is checked, and as JSON Schema."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Wrong = list[tuple[tuple[int, ...], str]]
"""What is wrong with a value: where in it, by indices, and in words."""

MOST_POINTS = 100_000  # of a signal in the model file
MOST_CORNERS = 1000  # of a line or an outline


@dataclass(frozen=True)
class Type:
    """What a value must be."""

    words: str
    check: Callable[[Any], Wrong]
    schema: dict[str, Any]


def wrong_parts(kind: str, value: Any) -> Wrong:
    """What is wrong with a value that should be of a type; an empty list if nothing is.

    >>> wrong_parts("point", ["x", True])
    [((1,), 'true or false where a number or an expression in quotes is meant')]
    """
    return TYPES[kind].check(value)


def what(value: Any) -> str:
    """A value's type as a person calls it."""
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return "a number"
    return "a table" if isinstance(value, dict) else "a list" if isinstance(value, list) else "a date or time"


def is_number(value: Any) -> bool:
    """Whether this is a number, truth values not counted."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def instead(value: Any, words: str) -> Wrong:
    """Something stands where something else is meant."""
    return [((), f"{what(value)} where {words} is meant")]


def number(value: Any, words: str = "a number") -> Wrong:
    """A finite number."""
    if not is_number(value):
        return instead(value, words)
    try:
        finite = math.isfinite(float(value))
    except OverflowError:
        finite = False
    return [] if finite else [((), f"{str(value)[:20]} is no finite number")]


def expression(value: Any) -> Wrong:
    """A number or text."""
    return [] if isinstance(value, str) else number(value, "a number or an expression in quotes")


def text(words: str) -> Callable[[Any], Wrong]:
    """Text and nothing else."""
    return lambda value: [] if isinstance(value, str) else instead(value, words)


def truth(value: Any) -> Wrong:
    """True or false."""
    return [] if isinstance(value, bool) else instead(value, "true or false, without quotes,")


def count(value: Any) -> Wrong:
    """A whole number of at least 2."""
    if isinstance(value, bool) or not isinstance(value, int):
        return instead(value, "a whole number")
    return [] if 2 <= value <= 10**8 else [((), "a whole number from 2 to 100 million is meant")]


def several(check: Callable[[Any], Wrong], words: str, least: int, most: int) -> Callable[[Any], Wrong]:
    """A list of so many values, each of a type."""

    def wrong(value: Any) -> Wrong:
        if not isinstance(value, list):
            return instead(value, words)
        if not least <= len(value) <= most:
            return [((), f"{len(value)} entries where {words} is meant")]
        return [((i, *inner), message) for i, entry in enumerate(value) for inner, message in check(entry)]

    return wrong


def drift(value: Any) -> Wrong:
    """ "none", "projection", "baumgarte", or a list of "baumgarte" and two gains."""
    names = ("none", "projection", "baumgarte")
    if isinstance(value, str):
        return [] if value in names else [((), f"choose {', '.join(map(repr, names))} or ['baumgarte', α, β]")]
    right = isinstance(value, list) and len(value) == 3 and value[0] == "baumgarte"
    if not right or not all(is_number(gain) and 0 <= gain < math.inf for gain in value[1:]):
        return [((), "gains are given as ['baumgarte', α, β], two numbers that are not negative")]
    return []


POINT = "a point [x, y] or [x, y, z]"
A_NUMBER = {"type": "number"}
AN_EXPRESSION = {"type": ["number", "string"]}


def a_list(items: dict[str, Any], least: int, most: int) -> dict[str, Any]:
    """A list in JSON Schema."""
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


TYPES: dict[str, Type] = {
    "text": Type("text in quotes", text("text in quotes"), {"type": "string"}),
    "number": Type("a number", number, A_NUMBER),
    "count": Type("a whole number", count, {"type": "integer", "minimum": 2}),
    "truth": Type("true or false", truth, {"type": "boolean"}),
    "expression": Type("an expression", expression, AN_EXPRESSION),
    "constant": Type("a number", expression, AN_EXPRESSION),
    "input": Type("an expression or a table", expression, AN_EXPRESSION),
    "relation": Type("text like \"x = y\"", text('text like "x = y"'), {"type": "string"}),
    "numbers": Type(
        "a list of numbers",
        several(number, "a list of numbers", 2, MOST_POINTS),
        a_list(A_NUMBER, 2, MOST_POINTS),
    ),
    "point": Type(POINT, several(expression, POINT, 2, 3), a_list(AN_EXPRESSION, 2, 3)),
    "points": Type(
        "a list of points",
        several(several(expression, POINT, 2, 3), f"a list of points, each {POINT[2:]},", 2, MOST_CORNERS),
        a_list(a_list(AN_EXPRESSION, 2, 3), 2, MOST_CORNERS),
    ),
    "quaternion": Type(
        "a quaternion",
        several(expression, "a quaternion [q0, q1, q2, q3]", 4, 4),
        a_list(AN_EXPRESSION, 4, 4),
    ),
    "matrix": Type(
        "a matrix",
        several(several(expression, "a row [… , …]", 1, 2000), "a matrix [[…], […]]", 1, 2000),
        a_list(a_list(AN_EXPRESSION, 1, 2000), 1, 2000),
    ),
    "drift": Type(
        "a remedy",
        drift,
        {
            "anyOf": [
                {"enum": ["none", "projection", "baumgarte"]},
                {"type": "array", "prefixItems": [{"const": "baumgarte"}, {"type": "number"}, {"type": "number"}],
                 "minItems": 3, "maxItems": 3},
            ]
        },
    ),
}  # fmt: skip
