"""The types of values in a model file: what each is called, how it is checked, and as JSON Schema."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zwang.files.ranges import MOST_VALUES, wrong_range

Wrong = list[tuple[tuple[int | str, ...], str]]
"""What is wrong with a value: where in it, by indices and keys, and in words."""

MOST_POINTS = 100_000  # of a signal in the model file
MOST_CORNERS = 1000  # of a line or an outline
MOST_FACTORS = 100  # of a coupling
MOST_SOLIDS = 200  # of one body
MOST_VERTICES = 20_000  # of a mesh in the model file, and faces
MOST_TERMS = 100  # of an energy that is given as a list
LARGEST_COUNT = 1_000_000
MOST_STEPS = 6  # hinges and slides in series: more leave nothing to hold


@dataclass(frozen=True)
class Type:
    """What a value must be."""

    words: str
    check: Callable[[Any], Wrong]
    schema: dict[str, Any]


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
    """What to say where a value of one type stands and one of another type is meant."""
    return [((), f"{what(value)} where {words} is meant")]


def number(value: Any, words: str = "a number") -> Wrong:
    """A finite number."""
    if not is_number(value):
        return instead(value, words)
    try:
        finite = math.isfinite(float(value))
    except OverflowError:
        finite = False
    return [] if finite else [((), f"{str(value)[:20]} is not a finite number")]


def expression(value: Any) -> Wrong:
    """A number or text."""
    return [] if isinstance(value, str) else number(value, "a number or an expression in quotes")


def text(words: str) -> Callable[[Any], Wrong]:
    """Text and nothing else."""
    return lambda value: [] if isinstance(value, str) else instead(value, words)


def whole(value: Any) -> Wrong:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        return instead(value, "a whole number")
    return [] if abs(value) <= LARGEST_COUNT else [((), f"a whole number up to {LARGEST_COUNT:,} is meant")]


def term(value: Any) -> Wrong:
    """An expression, or a sum over indices."""
    if not isinstance(value, dict):
        return expression(value)
    words = '{ sum = "…", for = "i = 1:20" }'
    strange = next((key for key in value if key not in TERM), None)
    if strange is not None:
        return [((strange,), f"unknown key in a repeated term: {words} is meant")]
    missing = next((key for key in TERM if key not in value), None)
    if missing is not None:
        return [((), f"its {missing} is missing: {words} is meant")]
    return [((key, *inner), message) for key, check in TERM.items() for inner, message in check(value[key])]


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


def swept(value: Any) -> Wrong:
    """A range such as "0.5:2:100", or a list of numbers."""
    if isinstance(value, list):
        wrong: Wrong = [((i,), message) for i, entry in enumerate(value) for _, message in number(entry)]
        return wrong or ([((), words)] if (words := wrong_range(value)) else [])
    if not isinstance(value, str):
        return instead(value, 'a range like "0.5:2:100", or a list of numbers,')
    return [((), words)] if (words := wrong_range(value)) else []


def either(this: Callable[[Any], Wrong], that: Callable[[Any], Wrong], is_that: Callable[[Any], bool]) -> Any:
    """One of two types; `is_that` says which is meant."""
    return lambda value: that(value) if is_that(value) else this(value)


def is_list(value: Any) -> bool:
    """Whether this is a list."""
    return isinstance(value, list)


def is_nested(value: Any) -> bool:
    """Whether this is a list of lists."""
    return is_list(value) and any(map(is_list, value))


def table_of(check: Callable[[Any], Wrong], words: str) -> Callable[[Any], Wrong]:
    """A table of values of one type, by name."""

    def wrong(value: Any) -> Wrong:
        if not isinstance(value, dict):
            return instead(value, words)
        if not 1 <= len(value) <= MOST_FACTORS:
            return [((), f"{len(value)} entries where {words} is meant")]
        return [((name, *inner), message) for name, entry in value.items() for inner, message in check(entry)]

    return wrong


def step(value: Any) -> Wrong:
    """A hinge or slide of a series."""
    words = 'a step { name = "…", kind = "angle", axis = […] }'
    if not isinstance(value, dict):
        return instead(value, words)
    strange = next((key for key in value if key not in STEP), None)
    if strange is not None:
        return [((strange,), f"unknown key in a step: there are {', '.join(STEP)}")]
    missing = next((key for key in ("name", "kind", "axis") if key not in value), None)
    if missing is not None:
        return [((), f"its {missing} is missing; {words} is meant")]
    return [((key, *inner), message) for key, entry in value.items() for inner, message in STEP[key](entry)]


def solid(value: Any) -> Wrong:
    """A solid for pictures."""
    words = 'a solid { kind = "box", size = [a, b, c] }'
    if not isinstance(value, dict):
        return instead(value, words)
    kind = value.get("kind")
    if kind not in SOLID_SIZES:
        there = f"choose {', '.join(SOLID_SIZES)}"
        return [(("kind",) * ("kind" in value), f"a solid's kind is {'unknown' if kind else 'missing'}: {there}")]
    known = ("kind", *SOLID_SIZES[kind], *SOLID_KEYS)
    strange = next((key for key in value if key not in known), None)
    if strange is not None:
        return [((strange,), f"unknown key in a {kind}: there are {', '.join(known)}")]
    missing = next((key for key in SOLID_SIZES[kind] if key not in value), None)
    if missing is not None:
        return [((), f"the {kind} has no {missing}")]
    checks = SOLID_SIZES[kind] | SOLID_KEYS
    wrong = {key: checks[key](entry) for key, entry in value.items() if key != "kind"}
    return [((key, *at), message) for key, found in wrong.items() for at, message in found]


AN_INDEX = 'indices like "i = 1:20"'
TERM: dict[str, Callable[[Any], Wrong]] = {"sum": expression, "for": text(AN_INDEX)}
POINT = "a point [x, y] or [x, y, z]"
POINTS = "two points, one on each body,"
MOMENTS = "a moment, three moments or a 3×3 matrix"
A_RELATION = 'text like "x = y"'
A_NUMBER = {"type": "number"}
AN_EXPRESSION = {"type": ["number", "string"]}


def a_list(items: dict[str, Any], least: int, most: int) -> dict[str, Any]:
    """A list in JSON Schema."""
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


A_NAME = "a name in quotes"
a_point = several(expression, POINT, 2, 3)
two_points = several(a_point, POINTS, 2, 2)
STEP: dict[str, Callable[[Any], Wrong]] = {
    "name": text(A_NAME),
    "kind": text('"angle" or "travel"'),
    "axis": a_point,
    "at": a_point,
    "reading": expression,
}
three = several(expression, "three numbers [a, b, c]", 3, 3)
quaternion = several(expression, "a quaternion [q0, q1, q2, q3]", 4, 4)
matrix = several(several(expression, "a row of three", 3, 3), "a 3×3 matrix", 3, 3)
# what the solids of each kind need, and what all of them may have
SOLID_SIZES: dict[str, dict[str, Callable[[Any], Wrong]]] = {
    "box": {"size": three},
    "sphere": {"radius": expression},
    "ellipsoid": {"radii": three},
    "cylinder": {"radius": expression, "length": expression},
    "capsule": {"radius": expression, "length": expression},
    "mesh": {
        "vertices": several(several(number, "three numbers [x, y, z]", 3, 3), "a list of places", 3, MOST_VERTICES),
        "faces": several(several(number, "three whole numbers", 3, 3), "a list of faces", 1, MOST_VERTICES),
    },
}
SOLID_KEYS: dict[str, Callable[[Any], Wrong]] = {
    "at": three,
    "orientation": either(quaternion, matrix, is_nested),
    "color": text("a colour in quotes"),
}
POINT_SCHEMA = a_list(AN_EXPRESSION, 2, 3)
POINTS_SCHEMA = a_list(POINT_SCHEMA, 2, 2)
TEXT_SCHEMA = {"type": "string"}
STEP_SCHEMA = {
    "type": "object",
    "properties": {"name": TEXT_SCHEMA, "kind": {"enum": ["angle", "travel"]}, "axis": POINT_SCHEMA,
                   "at": POINT_SCHEMA, "reading": AN_EXPRESSION},
    "required": ["name", "kind", "axis"],
    "additionalProperties": False,
}  # fmt: skip

TERM_SCHEMA = {
    "anyOf": [
        AN_EXPRESSION,
        {
            "type": "object",
            "properties": {"sum": AN_EXPRESSION, "for": TEXT_SCHEMA},
            "required": ["sum", "for"],
            "additionalProperties": False,
        },
    ]
}
THREE_SCHEMA, NUMBERS_SCHEMA = (a_list(items, 3, 3) for items in (AN_EXPRESSION, A_NUMBER))
ORIENTATION_SCHEMA = {"anyOf": [a_list(AN_EXPRESSION, 4, 4), a_list(THREE_SCHEMA, 3, 3)]}
SOLID_PARTS = {
    "size": THREE_SCHEMA, "radii": THREE_SCHEMA, "radius": AN_EXPRESSION, "length": AN_EXPRESSION,
    "vertices": a_list(NUMBERS_SCHEMA, 3, MOST_VERTICES), "faces": a_list(NUMBERS_SCHEMA, 1, MOST_VERTICES),
    "at": THREE_SCHEMA, "orientation": ORIENTATION_SCHEMA, "color": TEXT_SCHEMA,
}  # fmt: skip
SOLID_SCHEMA = {
    "anyOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": kind}} | {key: SOLID_PARTS[key] for key in (*sizes, *SOLID_KEYS)},
            "required": ["kind", *sizes],
            "additionalProperties": False,
        }
        for kind, sizes in SOLID_SIZES.items()
    ]
}


def table_schema(inner: dict[str, Any]) -> dict[str, Any]:
    """A table of values of one type, in JSON Schema."""
    return {"type": "object", "additionalProperties": inner, "minProperties": 1, "maxProperties": MOST_FACTORS}


TYPES: dict[str, Type] = {
    "text": Type("text in quotes", text("text in quotes"), {"type": "string"}),
    "number": Type("a number", number, A_NUMBER),
    "count": Type("a whole number", count, {"type": "integer", "minimum": 2}),
    "truth": Type("true or false", truth, {"type": "boolean"}),
    "expression": Type("an expression", expression, AN_EXPRESSION),
    "whole number": Type(
        "a whole number", whole, {"type": "integer", "minimum": -LARGEST_COUNT, "maximum": LARGEST_COUNT}
    ),
    "indices": Type(AN_INDEX, text(AN_INDEX), TEXT_SCHEMA),
    "energy": Type(
        "an expression, a repeated term, or a list of these",
        either(term, several(term, "a list of terms", 1, MOST_TERMS), is_list),
        {"anyOf": [TERM_SCHEMA, a_list(TERM_SCHEMA, 1, MOST_TERMS)]},
    ),
    "constant": Type("a number", expression, AN_EXPRESSION),
    "input": Type("an expression or a table", expression, AN_EXPRESSION),
    "relation": Type("text like \"x = y\"", text('text like "x = y"'), {"type": "string"}),
    "range": Type(
        "a range like \"0.5:2:100\"",
        swept,
        {"anyOf": [{"type": "string"}, a_list(A_NUMBER, 1, MOST_VALUES)]},
    ),
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
    "quaternion": Type("a quaternion", quaternion, a_list(AN_EXPRESSION, 4, 4)),
    "matrix": Type(
        "a matrix",
        several(several(expression, "a row [… , …]", 1, 2000), "a matrix [[…], […]]", 1, 2000),
        a_list(a_list(AN_EXPRESSION, 1, 2000), 1, 2000),
    ),
    "body": Type("the name of a body", text("the name of a body in quotes"), TEXT_SCHEMA),
    "joint": Type("the name of a joint", text("the name of a joint in quotes"), TEXT_SCHEMA),
    "selection": Type("a joint", text('a joint, or a joint\'s coordinate as in "pin.angle",'), TEXT_SCHEMA),
    "name": Type(A_NAME, text(A_NAME), TEXT_SCHEMA),
    "names": Type("names", several(text(A_NAME), "a list of two or three names", 2, 3), a_list(TEXT_SCHEMA, 2, 3)),
    "pair": Type("two values", several(expression, "two values [a, b]", 2, 2), a_list(AN_EXPRESSION, 2, 2)),
    "one or two": Type(
        "a value, or two",
        either(expression, several(expression, "two values [a, b]", 2, 2), is_list),
        {"anyOf": [AN_EXPRESSION, a_list(AN_EXPRESSION, 2, 2)]},
    ),
    "places": Type(POINTS[:-1], two_points, POINTS_SCHEMA),
    "place": Type(
        f"{POINT}, or two of them", either(a_point, two_points, is_nested), {"anyOf": [POINT_SCHEMA, POINTS_SCHEMA]}
    ),
    "components": Type(
        "components", either(expression, a_point, is_list), {"anyOf": [AN_EXPRESSION, POINT_SCHEMA]}
    ),
    "inertia": Type(
        MOMENTS,
        either(
            either(expression, several(expression, MOMENTS, 3, 3), is_list),
            several(several(expression, "a row of three", 3, 3), MOMENTS, 3, 3),
            is_nested,
        ),
        {"anyOf": [AN_EXPRESSION, a_list(AN_EXPRESSION, 3, 3), a_list(a_list(AN_EXPRESSION, 3, 3), 3, 3)]},
    ),
    "factors": Type(
        "factors", table_of(expression, "a table { joint = factor, … }"), table_schema(AN_EXPRESSION)
    ),
    "conditions": Type(
        A_RELATION,
        either(text(A_RELATION), table_of(text(A_RELATION), "a table of conditions"),
               lambda value: isinstance(value, dict)),
        {"anyOf": [TEXT_SCHEMA, table_schema(TEXT_SCHEMA)]},
    ),
    "steps": Type("steps", several(step, "a list of steps", 1, MOST_STEPS), a_list(STEP_SCHEMA, 1, MOST_STEPS)),
    "orientation": Type("a quaternion or a 3×3 matrix", either(quaternion, matrix, is_nested), ORIENTATION_SCHEMA),
    "solid": Type("a solid", solid, SOLID_SCHEMA),
    "solids": Type(
        "solids", several(solid, "a list of solids", 1, MOST_SOLIDS), a_list({"$ref": "#/$defs/solid"}, 1, MOST_SOLIDS)
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
