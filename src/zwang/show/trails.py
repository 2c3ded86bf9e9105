"""Trails of further points: of shapes and bodies by name, of points on bodies, and of any place in expressions."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.model import System
from zwang.model.values import suggestion
from zwang.results.evaluate_along import along
from zwang.show.scene import Scene, frames_of, scene_of

if TYPE_CHECKING:
    import xarray as xr


def with_trails(
    motion: "xr.Dataset", trail: Any, system: System | None = None, parameters: Mapping[Any, Any] | None = None
) -> "xr.Dataset":
    """The motion with a drawing in which further points leave trails.

    `trail` is one of these, or a list of them: the name of a shape or a body; a body in space with a point in its axes,
    ("arm", (0, 0, 0.2)); a place as two or three expressions of the given system.
    """
    for one in trail if isinstance(trail, list) else [trail]:
        scene = scene_of(motion)
        listed = listed_shapes(motion, scene)
        if isinstance(one, str):
            listed[shape_called(scene, one)]["trail"] = True
            motion = redrawn(motion, scene.places, listed)
            continue
        if not isinstance(one, Sequence | sp.MatrixBase) or isinstance(one, str | bytes):
            raise unknown(one)
        of_body = len(one) > 0 and isinstance(one[0], str)
        name, color, path = on_body(scene, one) if of_body else by_place(one, motion, system, parameters)
        if path.shape[1] != scene.dimension:
            raise InputError(f"trail: {one!r} has {path.shape[1]} coordinates, the drawing {scene.dimension}")
        places = np.concatenate([scene.places, path[:, None]], axis=1)
        entry = {"name": name, "kind": "point", "first": places.shape[1] - 1, "count": 1, "color": color, "trail": True}
        motion = redrawn(motion, places, [*listed, entry])
    return motion


def listed_shapes(motion: "xr.Dataset", scene: Scene) -> list[dict[str, Any]]:
    """The shapes of a motion's drawing; points where its coordinates say by their names where these are."""
    if "drawing" in motion:
        found: list[dict[str, Any]] = json.loads(motion.drawing.attrs["shapes"])
        return found
    keys = ("name", "kind", "first", "count")
    return [{key: getattr(s, key) for key in keys} | {"color": "", "trail": s.trail} for s in scene.shapes]


def redrawn(motion: "xr.Dataset", places: Array, listed: list[dict[str, Any]]) -> "xr.Dataset":
    """A motion with another drawing."""
    attributes = {"long_name": "places of what is drawn", "shapes": json.dumps(listed)}
    kept = np.searchsorted(np.unique(motion.time.values), motion.time.values)  # a scene has every time once
    bare = motion.drop_vars(["drawing", "axis"], errors="ignore")
    found = bare.assign(drawing=(("time", "drawn", "axis"), places[kept], attributes))
    return found.assign_coords(axis=list("xyz"[: places.shape[2]]))


def shape_called(scene: Scene, name: str) -> int:
    """The number of the first shape of a name, or of a body of it: its further shapes have a number behind the name."""
    names = [s.name for s in scene.shapes]
    for i, known in enumerate(names):
        if known == name or known.startswith(f"{name} "):
            return i
    raise InputError(f"trail: nothing that is drawn is called {name!r}{suggestion(name, names)}")


def on_body(scene: Scene, given: Sequence[Any]) -> tuple[str, str, Array]:
    """A point on a body whose frame is drawn: what it is called, its colour, and its path."""
    if len(given) != 2:
        raise unknown(given)
    shape = scene.shapes[shape_called(scene, given[0])]
    try:
        point = np.array([float(x) for x in given[1]])
    except (TypeError, ValueError):
        raise unknown(given) from None
    if shape.solid is None or point.shape != (3,) or not np.isfinite(point).all():
        raise InputError(
            f"trail: {given[0]!r} has no point {given[1]!r}: of a body in space give three numbers in its axes; of "
            f"others give the place in expressions, and the system: animate(motion, mechanism, trail=body.point(…))"
        )
    origins, turns = frames_of(scene.places[:, shape.first : shape.first + 3])
    return f"{given[0]} ({', '.join(f'{x:g}' for x in point)})", shape.colors[0], origins + turns @ point


def by_place(
    given: Sequence[Any], motion: "xr.Dataset", system: System | None, parameters: Mapping[Any, Any] | None
) -> tuple[str, str, Array]:
    """A place in expressions: what it is called, its colour, and its path."""
    if len(given) not in (2, 3):
        raise unknown(given)
    if system is None:
        raise InputError("trail: expressions need their system, too: animate(motion, mechanism, trail=(x, y))")
    _, first = np.unique(motion.time.values, return_index=True)
    return "trail", "red", along(motion, system, list(given), parameters)[first]


def unknown(given: Any) -> InputError:
    """What is said of something that leaves no trail."""
    return InputError(
        f"trail: {given!r} is not a point: give the name of a body or a shape, a body with a point in its axes, or a "
        f"place as two or three expressions; several of them as a list"
    )
