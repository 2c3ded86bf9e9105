"""The [draw] section: points, lines, circles, bodies and solids from their expressions."""

from collections.abc import Sequence
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.files.argument_values import Values, Wrong
from zwang.files.language.scope import Scope
from zwang.files.language.uses import DRAWING
from zwang.files.toml.document import Document
from zwang.files.toml.positions import Path
from zwang.model.drawing import SHAPES, UNEVEN, Drawing, Place, Shape, quaternion_matrix, turned
from zwang.words import quoted

# which keys go with which kind of shape
SHAPE_KEYS = {
    "point": (),
    "line": (),
    "circle": ("radius", "normal"),
    "body": ("at", "angle", "orientation"),
    "solid": ("at", "orientation"),
}
ANY = ("color", "trail")


def read_drawing(document: Document, scope: Scope, entries: dict[str, Any]) -> Drawing:
    """The drawing of a model; what is wrong is noted."""
    made = {name: read_shape(document, scope, ("draw", name), name, entry) for name, entry in entries.items()}
    shapes = {name: shape for name, shape in made.items() if shape is not None}
    dimensions = {shape.dimension for shape in shapes.values()}
    if len(dimensions) > 1:
        flat = next(name for name, shape in shapes.items() if shape.dimension == 2)
        document.of(("draw", flat), f"{quoted(flat)} lies in the plane, others in space", "give it a third coordinate")
        return Drawing()
    return Drawing(tuple(shapes.values()))


def joined(document: Document, own: Drawing, further: Drawing) -> Drawing:
    """What a mechanism looks like, and what the file draws; a shape of the file replaces the one of its name."""
    if own.dimension and further.dimension and own.dimension != further.dimension:
        name = further.shapes[0].name
        where = "the plane" if own.dimension == 2 else "space"
        document.of(
            ("draw", name), f"{quoted(name)} has {further.dimension} coordinates, but the bodies live in {where}"
        )
        return own
    named = {shape.name: shape for shape in (*own.shapes, *further.shapes)}
    return Drawing(tuple(named.values()))


def read_shape(document: Document, scope: Scope, path: Path, name: str, entry: dict[str, Any]) -> Shape | None:
    """One shape."""
    kinds = [kind for kind in SHAPES if kind in entry]
    if len(kinds) != 1:
        given = f"{' and '.join(kinds)} are given" if kinds else "none is given"
        document.of(path, f"{quoted(name)} is one of point, line, circle, body and solid, but {given}")
        return None
    kind = kinds[0]
    strange = next((key for key in entry if key not in (kind, *SHAPE_KEYS[kind], *ANY)), None)
    if strange is not None:
        document.of((*path, strange), f"a {kind} has no {strange}", key=True)
        return None
    if kind == "solid":
        return read_solid(document, scope, path, name, entry)
    before = len(document.problems)
    points = entry[kind] if kind in ("line", "body") else [entry[kind]]
    at = (*path, kind)
    places = [read_point(scope, (*at, i) if kind in ("line", "body") else at, point) for i, point in enumerate(points)]
    one = {key: scope.expression((*path, key), entry[key], DRAWING) for key in ("radius", "angle") if key in entry}
    vectors = [key for key in ("normal", "at", "orientation") if key in entry]
    many: dict[str, Place] = {key: read_point(scope, (*path, key), entry[key]) for key in vectors}
    if len(document.problems) > before or None in one.values() or not all(map(complete, [*places, *many.values()])):
        return None
    values: dict[str, Any] = {key: built.expr for key, built in one.items() if built is not None}
    values.update(many)
    try:
        if kind == "body":
            places = list(moved(places, values))
        radius, normal = values.get("radius"), values.get("normal")
        return Shape(name, kind, tuple(places), radius, normal, entry.get("color", ""), entry.get("trail", False))
    except InputError as error:
        document.of(path, error.mistakes[0].text)
    return None


def read_solid(document: Document, scope: Scope, path: Path, name: str, entry: dict[str, Any]) -> Shape | None:
    """A solid: numbers, in a frame whose place and orientation are expressions."""
    at = read_point(scope, (*path, "at"), entry.get("at", [0, 0, 0]))
    given = entry.get("orientation", [1, 0, 0, 0])
    matrix = [read_point(scope, (*path, "orientation", i), row) for i, row in enumerate(given) if isinstance(row, list)]
    turn: Any = matrix or read_point(scope, (*path, "orientation"), given)
    try:
        solid = Values(document, scope).solid((*path, "solid"), entry["solid"], of="nothing")
    except Wrong:
        return None
    if not all(map(complete, [at, *(matrix or [turn])])):
        return None
    color, trail = entry.get("color") or solid.color, entry.get("trail", False)
    try:
        return Shape(name, "solid", (at,), color=color, trail=trail, solid=solid, orientation=turn)
    except InputError as error:
        document.of(path, error.mistakes[0].text)
    return None


def read_point(scope: Scope, path: Path, values: list[Any]) -> Place:
    """The expressions of a point; one that is wrong is noted, and NaN stands for it."""
    built = [scope.expression((*path, i), value, DRAWING) for i, value in enumerate(values)]
    return tuple(sp.nan if b is None else b.expr for b in built)


def complete(point: Place) -> bool:
    """Whether every expression of a point was read."""
    return sp.nan not in point


def moved(outline: list[Place], values: dict[str, Any]) -> Sequence[Place]:
    """A body's outline where the body is."""
    sizes = {len(point) for point in outline}
    if len(sizes) > 1:
        raise InputError(UNEVEN)
    space = sizes == {3}
    at = values.get("at", (sp.S.Zero,) * (3 if space else 2))
    if len(at) != (3 if space else 2):
        raise InputError(f"its outline has {3 if space else 2} coordinates a point, its place {len(at)}")
    if not space:
        if "orientation" in values:
            raise InputError("a body in the plane has an angle, not an orientation")
        return turned(at, values.get("angle", sp.S.Zero), outline)
    if "angle" in values:
        raise InputError("a body in space has an orientation, not an angle")
    if len(values.get("orientation", (1, 0, 0, 0))) != 4:
        raise InputError("the orientation of an outline is a quaternion of four entries")
    return rotated(at, values.get("orientation", (1, 0, 0, 0)), outline)


def rotated(at: Place, q: Sequence[Any], outline: Sequence[Place]) -> tuple[Place, ...]:
    """An outline given in body axes, in space, turned by a unit quaternion (scalar first) and moved to its place.

    >>> half = sp.sqrt(2)/2
    >>> rotated((1, 0, 0), (half, 0, 0, half), [(2, 0, 0)])
    ((1, 2, 0),)
    """
    R = quaternion_matrix(tuple(q))
    return tuple(tuple(at[i] + sum(R[i][j] * point[j] for j in range(3)) for i in range(3)) for point in outline)
