"""Where the shapes of a drawing are along a motion: one more variable of its dataset.

`drawing` has dimensions time, drawn and axis. The points of all shapes stand one after the other along `drawn`; the
attribute `shapes` of the variable (JSON) says which belong to which: name, kind, first, count, color and trail. A
circle has two entries, its centre and its rim: (radius, 0) in the plane, radius times the unit normal in space.

A solid has three entries, its origin and the first two axes of its frame; solids that move together share them. What it
is stands in `solid`: its kind, its sizes, and its place and orientation in the frame. The triangles of meshes are
variables of the dataset, `mesh_vertices` (vertex, axis) and `mesh_faces` (face, corner); `vertices` and `faces` of a
solid say from where on and how many.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from zwang.model import System
from zwang.model.drawing import Drawing, Shape
from zwang.model.solids import Mesh, Solid
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
    listed = Listing()
    for shape in drawing.shapes:
        listed.add(shape)
    values = along(motion, system, [e for row in listed.rows for e in row], parameters)
    added: dict[str, Any] = {
        "drawing": (
            ("time", "drawn", "axis"),
            values.reshape(len(motion.time), len(listed.rows), drawing.dimension),
            {"long_name": "places of what is drawn", "shapes": json.dumps(listed.shapes)},
        )
    }
    if listed.meshes:
        added["mesh_vertices"] = ("vertex", "axis"), np.concatenate([m.vertices for m in listed.meshes])
        added["mesh_faces"] = ("face", "corner"), np.concatenate([m.faces for m in listed.meshes])
    bare = motion.drop_vars(["drawing", "axis", "mesh_vertices", "mesh_faces"], errors="ignore")
    return bare.assign(added).assign_coords(axis=list("xyz"[: drawing.dimension]))


@dataclass
class Listing:
    """The shapes one after the other, with their entries along `drawn` and the meshes that they use."""

    shapes: list[dict[str, Any]] = field(default_factory=list)
    rows: list[tuple[sp.Expr, ...]] = field(default_factory=list)
    meshes: list[Mesh] = field(default_factory=list)
    frames: dict[Any, int] = field(default_factory=dict)

    def add(self, s: Shape) -> None:
        """One shape more."""
        rows = rows_of(s)
        frame = tuple(rows) if s.solid is not None else len(self.shapes)  # of other shapes each has entries of its own
        first = self.frames.setdefault(frame, len(self.rows))
        if first == len(self.rows):
            self.rows += rows
        entry = {"name": s.name, "kind": s.kind, "first": first, "count": len(rows), "color": s.color, "trail": s.trail}
        self.shapes.append(entry if s.solid is None else entry | {"solid": self.solid(s.solid)})

    def solid(self, solid: Solid) -> dict[str, Any]:
        """What a solid is: numbers that stand for themselves, and where the triangles of a mesh are."""
        given = {f.name: getattr(solid, f.name) for f in fields(solid) if f.name != "color"}
        if isinstance(solid, Mesh):
            counts = {"vertices": len(solid.vertices), "faces": len(solid.faces)}
            before = self.meshes[: self.meshes.index(solid)] if solid in self.meshes else self.meshes
            given |= {key: [sum(len(getattr(m, key)) for m in before), n] for key, n in counts.items()}
            self.meshes += [solid] if before is self.meshes else []
        return {"kind": solid.kind} | given


def rows_of(shape: Shape) -> list[tuple[sp.Expr, ...]]:
    """The entries of a shape along `drawn`."""
    if shape.orientation is not None:
        x, y, _ = zip(*shape.orientation, strict=True)
        return [shape.points[0], x, y]
    if shape.radius is None:
        return list(shape.points)
    if shape.normal is None:
        return [shape.points[0], (shape.radius, sp.S.Zero)]
    length = sp.sqrt(sp.Add(*[c**2 for c in shape.normal]))
    return [shape.points[0], tuple(shape.radius * c / length for c in shape.normal)]
