"""Mistakes that a system or a mechanism finds in its own description: their place in a model file, and its words.

A mistake says where it was made by an argument and names within it: ("forces", "x"), ("joints", "pin", "axis"). A model
file has the same in its sections.
"""

from collections.abc import Mapping
from typing import Any

import sympy as sp
from sympy.printing.str import StrPrinter

from zwang.files.language.printer import is_function_of_time
from zwang.files.part_table import BODIES, ELEMENTS, JOINTS
from zwang.files.toml.positions import Path
from zwang.mistakes import Mistake, PartName, Said, Where

KIND_NAMES = {kind.part: kind.name for kind in (*BODIES, *JOINTS, *ELEMENTS)}
# Arguments of a system whose place in a file has another name.
SYSTEM: dict[str | int, Path] = {
    "kinetic": ("energy", "kinetic"),
    "potential": ("energy", "potential"),
    "mass": ("mass", "matrix"),
}
PARTS = ("joints", "springs", "elements", "bodies")
TABLES_OF = {"bodies": ("bodies",), "joints": ("joints",), "forces": ("springs", "elements")}


def place_of(mistake: Mistake, data: Mapping[str, Any]) -> Path:
    """Where a mistake that a system found is made in a file that describes it by its coordinates.

    >>> place_of(Mistake("is not quadratic", where=("kinetic",)), {"energy": {"kinetic": "x"}})
    ('energy', 'kinetic')
    """
    where = mistake.where
    if not where:
        return ()
    if where[0] == "coordinates":
        return ("coordinates",)
    if where[0] == "parameters":
        section = next((s for s in ("parameters", "inputs") if where[1:2] and where[1] in data.get(s, ())), None)
        return ("coordinates",) if section is None else (section, where[1])
    path = (*SYSTEM.get(where[0], (where[0],)), *where[1:])
    entries = data.get(str(path[0]), ())
    member = len(path) > 1 and path[1] not in entries  # of a repeated entry: link[3]
    return (path[0], str(path[1]).partition("[")[0], *path[2:]) if member else path


def place_of_part(mistake: Mistake, data: Mapping[str, Any]) -> Path:
    """Where a mistake that a mechanism found is made in a file: at the part that it is about, else at the first body.

    >>> place_of_part(Mistake("cannot be met", where=("constraints", "pin.x")), {"joints": {"pin": {}}})
    ('joints', 'pin')
    """
    found = part_place(mistake.where, data)
    return found or ("bodies", *list(data.get("bodies", ()))[:1])


def part_place(where: Where, data: Mapping[str, Any]) -> Path:
    """The place of a part by its argument and name; a row or a coordinate, pin.x, is a part's by how it begins."""
    if where[:1] == ("scenery",) and "scenery" in data:
        return "scenery", "solids", *(where[1:] or (0,))
    if len(where) < 2:
        return ()
    if where[0] == "start":
        return ("start", where[1]) if where[1] in data.get("start", ()) else ()
    argument, name = str(where[0]), unrepeated(str(where[1]), data)
    if (argument, name) == ("forces", "gravity") and "gravity" in data:
        return "gravity", "acceleration"
    for section in TABLES_OF.get(argument, ()):
        if name in data.get(section, ()):
            return section, name, *where[2:]
    if argument in ("constraints", "parameters", "inputs") and name in data.get(argument, ()):
        return argument, name
    owner = name.split(".")[0]
    return next(((s, owner) for s in PARTS if owner in data.get(s, ())), ())


def unrepeated(name: str, data: Mapping[str, Any]) -> str:
    """The entry that a member of a repeated one, or what it has, is of: pin.x of pin[3].x.

    >>> unrepeated("pin[3].x", {"joints": {"pin": {"for": "i = 1:4"}}})
    'pin.x'
    """
    head, index, rest = name.partition("[")
    tables = [data[s] for s in (*PARTS, "constraints") if isinstance(data.get(s), dict)]
    alone = any(name.partition(".")[0] in table for table in tables)
    return head + rest.partition("]")[2] if index and not alone and any(head in table for table in tables) else name


def in_file_words(said: Said) -> str:
    """What Python says, in the words of a model file: x' for Derivative(x(t), t), point-on-line for PointOnLine.

    >>> from zwang.model.symbols import coordinates, dot
    >>> in_file_words(Said("look at ", dot(coordinates("x")), "; use ", PartName("PointOnLine")))
    "look at x'; use point-on-line"
    """
    return said.put(file_word)


def file_word(part: object) -> str:
    """One part of a message, in the words of a model file."""
    if isinstance(part, PartName):
        return KIND_NAMES.get(part, part)
    return str(FileWords().doprint(part)) if isinstance(part, sp.Basic) else str(part)


class FileWords(StrPrinter):  # type: ignore[misc]
    """SymPy's own text, but for coordinates and their rates: an expression in a message may be one no file can say."""

    def _print_AppliedUndef(self, function: Any) -> str:
        return function.func.__name__ if is_function_of_time(function) else str(self._print_Function(function))

    def _print_Derivative(self, derivative: Any) -> str:
        if not is_function_of_time(derivative.expr):
            return str(super()._print_Derivative(derivative))
        return str(self._print(derivative.expr)) + "'" * int(derivative.derivative_count)
