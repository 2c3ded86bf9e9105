"""Where the shapes of a drawing are along a motion: one more variable of its dataset.

`drawing` has dimensions time, drawn and axis. The points of all shapes stand one after the other along `drawn`; the
attribute `shapes` of the variable (JSON) says which belong to which: name, kind, first, count, color and trail. A
circle has two entries, its centre and its rim: (radius, 0) in the plane, radius times the unit normal in space.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.core.function import AppliedUndef

from zwang.compile import Program, compile_program
from zwang.equations.languages import translate
from zwang.errors import InputError
from zwang.evaluation import parameter_values, suggestion
from zwang.model import System
from zwang.model.drawing import Drawing, Shape
from zwang.symbols import rates, t

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]


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
    p, inputs = parameter_values(system, parameters)
    symbols = system.symbols_with(inputs)
    rows = [row for shape in drawing.shapes for row in rows_of(shape)]
    values = places(rows, system, symbols, inputs, motion, p)
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


def places(
    rows: list[tuple[sp.Expr, ...]],
    system: System,
    symbols: tuple[sp.Symbol, ...],
    inputs: Mapping[sp.Expr, Any],
    motion: "xr.Dataset",
    p: Array,
) -> Array:
    """The values of the expressions of all rows along a motion, in native code."""
    import symengine as se

    n = len(system.coordinates)
    packed = {"t": 1, "q": n, "v": n, "p": len(symbols)}
    names = {key: tuple(se.Symbol(f"{key}{i}") for i in range(size)) for key, size in packed.items()}
    known: dict[sp.Basic, Any] = dict(zip(symbols, names["p"], strict=True)) | {t: names["t"][0]}
    for q, qi, vi in zip(system.coordinates, names["q"], names["v"], strict=True):
        known |= {q: qi, rates(q)[0]: vi}
    expressions = [e.subs(inputs).doit() if inputs and e.has(*inputs) else e for row in rows for e in row]
    for e in expressions:
        strange = sorted((e.free_symbols | e.atoms(AppliedUndef)) - known.keys(), key=str)
        if strange:
            raise InputError(f"the drawing uses {strange[0]}, which is unknown{suggestion(strange[0], [*known])}")
    outputs = {"places": tuple(translate(e, known) for e in expressions)}
    kernel = compile_program(Program(inputs=names, outputs=outputs))
    return kernel(t=motion.time.values[:, None], q=motion.q.values, v=motion.v.values, p=p)["places"]
