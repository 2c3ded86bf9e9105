"""What there is to see of a motion: shapes and their places over time, ready for any canvas."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.model.drawing import SHAPES
from zwang.model.solids import SOLIDS, Solid
from zwang.show.colors import pairs_of
from zwang.show.modes import FLASH, Light, color_of, lights_of
from zwang.show.quantities import require_drawable
from zwang.show.surface import surface_of, unit_rows

if TYPE_CHECKING:
    import xarray as xr


LENGTHS = ("km", "m", "dm", "cm", "mm", "µm", "um", "nm", "in", "ft", "yd", "mi", "au")
PLAYED_AS_IT_IS = (3.0, 20.0)  # seconds; shorter motions are slowed down, longer ones sped up …
PLAYED = 8.0  # … to about this many seconds

COUNTS = {"circle": 2, "solid": 3}  # entries of shapes that have a fixed number of them
MOST_VERTICES = 5_000_000  # of all meshes of a drawing: a strange file may name one mesh a million times
MOST_CORNERS = 1500  # vertices of a solid that are looked at for its bounds, without its convex hull

# A coordinate called x, x1, x_1, bob.x or bob_x, and what is left of its name on both sides.
CALLED_X = re.compile(r"(?P<before>|.*[._])x(?P<after>|[_.]?\d+)")


@dataclass(frozen=True)
class Seen:
    """One shape: its entries along the places, its colours on light and dark paper, whether it leaves a trail.

    A solid has the entries of the frame that carries it; other solids may have the same.
    """

    name: str
    kind: str
    first: int
    count: int
    colors: tuple[str, str]
    trail: bool
    solid: Solid | None = None


@dataclass(frozen=True)
class Scene:
    """Shapes, and their places (time, entry, axis) at ascending times. Units are empty where none is known."""

    title: str
    times: Array
    places: Array
    shapes: tuple[Seen, ...]
    length_unit: str = ""
    time_unit: str = ""
    lights: tuple[Light, ...] = ()

    def seen(self, shape: Seen, index: int) -> Seen:
        """A shape at a time: it has the colour of a contact that it shows."""
        colors = (
            color_of(self.lights, shape.name, float(self.times[index]), FLASH * self.speed) if self.lights else None
        )
        return shape if colors is None else replace(shape, colors=colors)

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return int(self.places.shape[2])

    @property
    def duration(self) -> float:
        """How long the motion lasts."""
        return float(self.times[-1] - self.times[0])

    @property
    def axes(self) -> tuple[str, ...]:
        """What stands at the axes: x (m) and so on."""
        unit = f" ({self.length_unit})" if self.length_unit else ""
        return tuple(f"{axis}{unit}" for axis in "xyz"[: self.dimension])

    @property
    def speed(self) -> float:
        """How fast to play, in units of time a second: real time, or a round factor for about eight seconds."""
        if self.time_unit in ("", "s") and PLAYED_AS_IT_IS[0] <= self.duration <= PLAYED_AS_IT_IS[1]:
            return 1.0
        wanted = self.duration / PLAYED if self.duration > 0 else 1.0
        power = 10.0 ** np.floor(np.log10(wanted))
        return float(f"{power * min((1, 2, 5, 10), key=lambda f: abs(np.log(wanted / (f * power)))):.3g}")

    def bounds(self) -> tuple[Array, Array]:
        """The lowest and the highest place of anything at any time, along each axis."""
        low, high = [], []
        for shape in self.shapes:
            part = self.places[:, shape.first : shape.first + shape.count]
            reach = np.zeros_like(part[:, :1])
            if shape.solid is not None:
                origins, turns = frames_of(part)
                part = origins[:, None] + np.einsum("tij,kj->tki", turns, outermost(shape.solid))
            elif shape.kind == "circle":
                part, reach = part[:, :1], circle_reach(part[:, 1:])
            low.append((part - reach).reshape(-1, self.dimension))
            high.append((part + reach).reshape(-1, self.dimension))
        lows, highs = (np.where(np.isfinite(x), x, np.nan) for x in (np.concatenate(low), np.concatenate(high)))
        if np.isnan(lows).all(axis=0).any():
            raise InputError("nothing of the drawing has a finite place: check its expressions")
        return np.nanmin(lows, axis=0), np.nanmax(highs, axis=0)

    def at(self, times: Array) -> "Scene":
        """The scene at other times, by cubics through its places with the slopes of neighbours."""
        if len(self.times) < 2:
            return replace(self, times=times, places=np.repeat(self.places, len(times), axis=0))
        slopes = np.gradient(self.places, self.times, axis=0, edge_order=2 if len(self.times) > 2 else 1)
        i = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.times) - 2)
        h = (self.times[i + 1] - self.times[i])[:, None, None]
        s = (times - self.times[i])[:, None, None] / h
        p, q = self.places[i], self.places[i + 1]
        places = (1 + 2 * s) * (1 - s) ** 2 * p + s**2 * (3 - 2 * s) * q
        places += h * s * (1 - s) * ((1 - s) * slopes[i] - s * slopes[i + 1])
        return replace(self, times=times, places=places)


def circle_reach(rim: Array) -> Array:
    """How far circles reach along each axis: the radius in the plane, what their normal leaves of it in space."""
    if rim.shape[2] == 2:
        return np.asarray(np.abs(np.repeat(rim[..., :1], 2, axis=-1)))
    return np.asarray(np.sqrt(np.maximum(0, (rim**2).sum(axis=-1, keepdims=True) - rim**2)))


def frames_of(entries: Array) -> tuple[Array, Array]:
    """The origins (time, 3) and rotations (time, 3, 3) of a solid's entries, whose axes need not be quite square."""
    x = unit_rows(entries[:, 1])
    z = unit_rows(np.cross(x, entries[:, 2]))
    return entries[:, 0], np.stack([x, np.cross(z, x), z], axis=-1)


@lru_cache(maxsize=512)
def outermost(solid: Solid) -> Array:
    """(k, 3) vertices of a solid among which are its extreme ones in every direction."""
    vertices = surface_of(solid).vertices
    if len(vertices) <= MOST_CORNERS:
        return vertices
    try:
        return np.asarray(vertices[ConvexHull(vertices).vertices])
    except QhullError:  # it is flat
        return np.array(list(product(*zip(vertices.min(axis=0), vertices.max(axis=0), strict=True))))


def scene_of(motion: "xr.Dataset") -> Scene:
    """The scene of a motion: its drawing, or points where its coordinates are called x, y (and z)."""
    if "sample" in motion.dims:
        raise InputError("this is a motion of many samples: choose one to draw, motion.isel(sample=0)")
    times, first = np.unique(motion.time.values, return_index=True)
    if not len(times):
        raise InputError("the motion is empty: nothing was computed that could be drawn")
    if "drawing" in motion:
        places = np.asarray(motion.drawing.values, dtype=float)
        shapes = drawn_shapes(motion.drawing.attrs.get("shapes", ""), places.shape[1:], meshes_of(motion))
    else:
        places, shapes = named_points(motion)
    require_drawable(times, "the time")
    require_drawable(places, "what is drawn")
    return Scene(
        title=str(motion.attrs.get("system", "")),
        times=times,
        places=places[first],
        shapes=shapes,
        length_unit=length_unit(motion),
        time_unit=str(motion.time.attrs.get("units", "")),
        lights=lights_of(motion),
    )


def meshes_of(motion: "xr.Dataset") -> tuple[Array, Array]:
    """The vertices and faces of all meshes; those of a strange file are looked at where they are used."""
    found = [motion[name].values if name in motion else np.zeros((0, 3)) for name in ("mesh_vertices", "mesh_faces")]
    return found[0], found[1]


def drawn_shapes(text: str, shape: tuple[int, ...], meshes: tuple[Array, Array]) -> tuple[Seen, ...]:
    """The shapes that a drawing of (entries, axes) lists. It may come from a file, so it is looked at first."""
    try:
        entries, axes = shape
        said = json.loads(text)
        listed = [
            (str(s["name"]), s["kind"], int(s["first"]), int(s["count"]), str(s["color"]), bool(s["trail"]))
            for s in said
        ]
        good = bool(listed) and all(
            kind in SHAPES and 0 <= first < first + count <= entries and count == COUNTS.get(kind, count)
            for _, kind, first, count, *_ in listed
        )
        good = good and (axes == 3 or all(kind != "solid" for _, kind, *_ in listed))
        good = good and sum(int(s["solid"]["vertices"][1]) for s in said if is_mesh(s)) <= MOST_VERTICES
        solids = [solid_of(s["solid"], meshes) if s["kind"] == "solid" else None for s in said] if good else []
    except (TypeError, KeyError, ValueError, AttributeError, RecursionError, InputError):
        good = False
    if not good:
        raise InputError("the motion's drawing does not say which shapes it has: draw it again with animate(…)")
    pairs = pairs_of([(kind, color) for _, kind, _, _, color, _ in listed])
    return tuple(
        Seen(name, kind, first, count, pair, trail, solid)
        for (name, kind, first, count, _, trail), pair, solid in zip(listed, pairs, solids, strict=True)
    )


def is_mesh(said: Any) -> bool:
    """Whether a shape is a mesh, by its own words."""
    return bool(said["kind"] == "solid" and said["solid"]["kind"] == "mesh")


def solid_of(said: Any, meshes: tuple[Array, Array]) -> Solid:
    """A solid from its numbers; what is not one raises."""
    given = {str(key): value for key, value in said.items() if key != "kind"}
    if said["kind"] == "mesh":
        for key, all_of_them in zip(("vertices", "faces"), meshes, strict=True):
            first, count = map(int, given[key])
            if not 0 <= first < first + count <= len(all_of_them):
                raise ValueError
            given[key] = all_of_them[first : first + count]
    return SOLIDS[said["kind"]](**given)


def named_points(motion: "xr.Dataset") -> tuple[Array, tuple[Seen, ...]]:
    """Places and shapes of a motion without a drawing, whose coordinates say by their names where points are."""
    names = [str(name) for name in motion.coordinate.values]
    points = list(points_named(names))
    if not points:
        raise InputError(
            f"the motion has no drawing, and its coordinates ({', '.join(names)}) do not say where things are: "
            f"give the model a [draw] section, or call animate(motion, drawing, system)"
        )
    columns = [names.index(name) for _, place in points for name in place]
    places = motion.q.values[:, columns].reshape(motion.sizes["time"], len(points), -1)
    pairs = pairs_of([("point", "")] * len(points))
    return places, tuple(
        Seen(name, "point", i, 1, pair, True) for i, ((name, _), pair) in enumerate(zip(points, pairs, strict=True))
    )


def points_named(names: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The points whose places the names of coordinates tell, all in the plane or all in space.

    >>> list(points_named(["x1", "y1", "x2", "y2"]))
    [('1', ('x1', 'y1')), ('2', ('x2', 'y2'))]
    """
    found = []
    for match in filter(None, map(CALLED_X.fullmatch, names)):
        before, after = match["before"], match["after"]
        place = tuple(name for axis in "xyz" if (name := f"{before}{axis}{after}") in names)
        if len(place) >= 2 and place[1] == f"{before}y{after}":
            found.append(((before + after).strip("._") or "point", place))
    if len({len(place) for _, place in found}) == 1:
        yield from found


def length_unit(motion: "xr.Dataset") -> str:
    """The unit of length, if the coordinates that are lengths share one."""
    if "unit_q" not in motion.coords:
        return ""
    lengths = {str(unit) for unit in motion.unit_q.values} & set(LENGTHS)
    return lengths.pop() if len(lengths) == 1 else ""
