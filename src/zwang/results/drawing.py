"""Where the shapes of a drawing are along a motion: one more variable of its dataset.

`drawing` has dimensions time, drawn and axis. The points of all shapes stand one after the other along `drawn`; the
attribute `shapes` of the variable (JSON) says which belong to which: name, kind, first, count, color and trail. A
circle has two entries, its centre and its rim: (radius, 0) in the plane, radius times the unit normal in space.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sympy as sp

from zwang.model import System
from zwang.model.drawing import Drawing, Shape
from zwang.results.evaluate_along import along

if TYPE_CHECKING:
    import xarray as xr


def with_drawing(
    motion: "xr.Dataset", drawing: Drawing, system: System, parameters: Mapping[Any, Any] | None = None
) -> "xr.Dataset":
    """The motion of a system with the places of a drawing's shapes in it; `parameters` as given to `simulate`.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> free = zw.System((x, y), kinetic=(zw.dot(x)**2 + zw.dot(y)**2)/2)
    >>> motion = zw.simulate(free, {x: 0, y: 0, zw.dot(x): 1, zw.dot(y): 2}, until=1, samples=2)
    >>> with_drawing(motion, Drawing((Shape("string", "line", ((0, 0), (x, y))),)), free).drawing.values[-1].round(9)
    array([[0., 0.],
           [1., 2.]])
    """
    if not drawing.shapes:
        return motion
    rows = [row for shape in drawing.shapes for row in rows_of(shape)]
    values = along(motion, system, [e for row in rows for e in row], parameters)
    return motion.assign(
        drawing=(
            ("time", "drawn", "axis"),
            values.reshape(len(motion.time), len(rows), drawing.dimension),
            {"long_name": "places of what is drawn", "shapes": json.dumps(listing(drawing))},
        )
    ).assign_coords(axis=list("xyz"[: drawing.dimension]))


def rows_of(shape: Shape) -> list[tuple[sp.Expr, ...]]:
    """The entries of a shape along `drawn`."""
    if shape.radius is None:
        return list(shape.points)
    if shape.normal is None:
        return [shape.points[0], (shape.radius, sp.S.Zero)]
    length = sp.sqrt(sp.Add(*[c**2 for c in shape.normal]))
    return [shape.points[0], tuple(shape.radius * c / length for c in shape.normal)]


def listing(drawing: Drawing) -> list[dict[str, Any]]:
    """Which entries along `drawn` belong to which shape."""
    shapes, first = [], 0
    for s in drawing.shapes:
        count = len(rows_of(s))
        shapes.append(
            {"name": s.name, "kind": s.kind, "first": first, "count": count, "color": s.color, "trail": s.trail}
        )
        first += count
    return shapes
