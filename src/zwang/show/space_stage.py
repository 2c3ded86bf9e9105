"""A scene in space as pixels, for stills, GIFs and films: solids in light, on axes that matplotlib draws.

Lines are rods, points balls, circles rings. Every picture is drawn twice as large in both directions and made smaller.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from mpl_toolkits.mplot3d import proj3d
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from zwang.arrays import Array
from zwang.model.solids import Sphere
from zwang.show.raster import Layer, lighting, lit, rgb
from zwang.show.scene import Scene, Seen, frames_of
from zwang.show.stage import GHOSTS, TRAIL, Stage, corners_of
from zwang.show.surface import Surface, revolved, simplified, surface_of

ROD, BALL = 0.007, 0.019  # radii beside the size of the scene
FINER = 2  # pixels of the raster for one of the picture, along each direction
MOST_FACES = 150_000  # of one mesh
SHADOW, AREA = 0.16, 0.22  # how strong these are
SHADE = np.array([0.37, 0.42, 0.48])  # the colour of shadows
TUBE = revolved(np.array([[1.0, 0, 1, 0], [1, 1, 1, 0]]))
BEAD = surface_of(Sphere(1))


@dataclass(frozen=True, eq=False)
class Thing:
    """A surface in the world: its origin, its axes as columns, and the number of the shape that it belongs to."""

    surface: Surface
    origin: Array
    axes: Array
    shape: int


class SpaceStage(Stage):
    """A stage in space; `picture` and `still` are its pixels."""

    def __init__(self, scene: Scene, size: tuple[int, int], dpi: float = 100.0) -> None:
        super().__init__(scene, size, dpi)
        low, high = scene.bounds()
        self.extent = float((high - low).max()) or 1.0
        self.solids = {s.solid: simplified(surface_of(s.solid), MOST_FACES) for s in scene.shapes if s.solid}
        self.colors = np.array([rgb(s.colors[0]) for s in scene.shapes])

    def picture(self, index: int) -> NDArray[np.uint8]:
        """(height, width, 4) the pixels at a time of the scene."""
        self.prepare(index)
        return self.finished([(self.painted(index, shadows=True, trails=True), 1.0)])

    def still(self) -> NDArray[np.uint8]:
        """The whole motion: positions at some times, the later the stronger, and whole trails."""
        last = len(self.scene.times) - 1
        self.prepare(last)
        moving = {i for i, s in enumerate(self.scene.shapes) if self.moves(s)}
        ghosts = [(round(last * i / (GHOSTS - 1)), 0.12 + 0.25 * i / (GHOSTS - 1)) for i in range(GHOSTS - 1)]
        layers = [(self.painted(index, only=moving), alpha) for index, alpha in ghosts]
        return self.finished([*layers, (self.painted(last, shadows=True, trails=True), 1.0)])

    def prepare(self, index: int) -> None:
        """Draw the axes, once, and write the time."""
        if self.backdrop is None:
            self.canvas.draw()
            self.backdrop = self.canvas.copy_from_bbox(self.figure.bbox)
        self.canvas.restore_region(self.backdrop)
        self.tell_time(index)
        self.figure.draw_artist(self.clock)

    def finished(self, layers: Sequence[tuple[Array, float]]) -> NDArray[np.uint8]:
        """Painted layers, one over the other, on the axes."""
        paper = np.array(self.canvas.buffer_rgba())
        below = paper[..., :3].astype(np.float32) / 255
        for layer, strength in layers:
            alpha = layer[..., 3:] * strength
            below = below * (1 - alpha) + layer[..., :3] * strength
        paper[..., :3] = np.round(np.clip(below, 0, 1) * 255)
        return paper

    def painted(
        self, index: int, *, shadows: bool = False, trails: bool = False, only: set[int] | None = None
    ) -> Array:
        """(height, width, 4) what stands there at a time, in colours that are multiplied by how much they cover."""
        height, width = (FINER * n for n in self.canvas.get_width_height()[::-1])
        places = self.scene.places[index]
        chosen = [i for i in range(len(self.scene.shapes)) if only is None or i in only]
        things = [thing for i in chosen for thing in self.things(i, places)]
        layer, paint = Layer(width, height), np.zeros((height * width, 4), dtype=np.float32)
        for thing in things:
            self.fill(layer, thing)
        if shadows:
            self.cast(paint, things, width, height)
        found, whose = layer.owners()
        paint[found, :3] = lit(self.colors[whose], layer.shade.reshape(-1)[found])
        paint[found, 3] = 1.0
        if trails:
            for shape in self.scene.shapes:
                if shape.trail:
                    self.lay_trail(paint, layer, shape, index)
        flat = [i for i in chosen if self.scene.shapes[i].kind in ("circle", "body")]
        for i in sorted(flat, key=self.nearness(places)):
            self.lay_area(paint, layer, i, places)
        pixels = paint.reshape(height, width, 4)
        coarse = sum(pixels[i::FINER, j::FINER] for i in range(FINER) for j in range(FINER))
        return np.asarray(coarse / FINER**2)

    def moves(self, shape: Seen) -> bool:
        """Whether a shape is not always in one place: ghosts would only darken it."""
        return bool(np.ptp(self.scene.places[:, shape.first : shape.first + shape.count], axis=0).any())

    def things(self, i: int, places: Array) -> Iterator[Thing]:
        """What a shape consists of."""
        shape = self.scene.shapes[i]
        entries = places[shape.first : shape.first + shape.count]
        if not np.isfinite(entries).all():
            return
        if shape.solid is not None:
            origins, turns = frames_of(entries[None])
            yield Thing(self.solids[shape.solid], origins[0], turns[0], i)
            return
        corners = corners_of(shape, places)
        if shape.kind == "point":
            yield Thing(BEAD, corners[0], BALL * self.extent * np.eye(3), i)
            return
        radius = ROD * self.extent * (1.0 if shape.kind == "line" else 0.7)
        if shape.kind == "body":
            corners = np.concatenate([corners, corners[:1]])
        for p in corners if shape.kind != "circle" else ():
            yield Thing(BEAD, p, radius * np.eye(3), i)
        for p, q in pairwise(corners):
            if (p != q).any():
                yield Thing(TUBE, p, rod_axes(q - p, radius), i)

    def fill(self, layer: Layer, thing: Thing) -> None:
        """Fill a thing's faces."""
        surface = thing.surface
        units = thing.axes / np.linalg.norm(thing.axes, axis=0)
        normals = surface.normals @ units.T @ self.eye.T
        corners = self.on_screen(thing.origin + surface.vertices @ thing.axes.T)
        layer.triangles(corners, surface.faces, lighting(normals), thing.shape)

    def cast(self, paint: Array, things: Sequence[Thing], width: int, height: int) -> None:
        """The shadows that a light straight above leaves on the ground."""
        layer, ground = Layer(width, height), self.ax.get_zlim()[0]
        for thing in things:
            world = thing.origin + thing.surface.vertices @ thing.axes.T
            world[:, 2] = ground
            layer.triangles(self.on_screen(world), thing.surface.faces, np.zeros((len(world), 2)), 0)
        found, _ = layer.owners()
        paint[found, :3], paint[found, 3] = SHADE * SHADOW, SHADOW

    def lay_trail(self, paint: Array, layer: Layer, shape: Seen, index: int) -> None:
        """The path until now, faint as a whole and stronger towards now, where nothing is in front of it."""
        path = self.on_screen(self.scene.places[: index + 1, shape.first])
        if len(path) < 2:
            return
        recent = max(2.0, TRAIL * len(self.scene.times))
        age = index - np.arange(1, len(path))
        alpha = 0.18 + 0.6 * np.clip(1 - age / recent, 0, 1) ** 1.5
        wide = 0.9 * FINER * self.figure.dpi / 100
        along = np.diff(path[:, :2], axis=0)
        aside = np.column_stack([-along[:, 1], along[:, 0]]) / np.maximum(np.linalg.norm(along, axis=1), 1e-9)[:, None]
        shift = np.column_stack([wide * aside, np.zeros(len(aside))])
        quads = np.stack([path[:-1] - shift, path[:-1] + shift, path[1:] + shift, path[1:] - shift], axis=1)
        ribbon = Layer(layer.width, layer.height)
        faces = (4 * np.arange(len(quads))[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
        ribbon.triangles(quads.reshape(-1, 3), faces, np.repeat(np.repeat(alpha, 4)[:, None], 2, axis=1), 0)
        found, _ = ribbon.owners()
        found = found[ribbon.depth.reshape(-1)[found] > layer.depth.reshape(-1)[found] - 1e-4]
        blend(paint, found, np.array(rgb(shape.colors[0])), ribbon.shade.reshape(-1)[found])

    def nearness(self, places: Array) -> Any:
        """How near a shape is, by its number."""
        return lambda i: float(self.on_screen(corners_of(self.scene.shapes[i], places))[:, 2].mean())

    def lay_area(self, paint: Array, layer: Layer, i: int, places: Array) -> None:
        """The inside of a circle or an outline, where nothing is in front of it."""
        corners = corners_of(self.scene.shapes[i], places)
        if not np.isfinite(corners).all():
            return
        points = self.on_screen(corners)
        mask = Image.new("1", (layer.width, layer.height))
        ImageDraw.Draw(mask).polygon([(float(x), float(y)) for x, y, _ in points], fill=1)
        found = np.flatnonzero(np.asarray(mask).reshape(-1))
        y, x = np.divmod(found, layer.width)
        known = np.column_stack([points[:, :2], np.ones(len(points))])
        plane = np.linalg.lstsq(known, points[:, 2], rcond=None)[0]
        near = plane[0] * (x + 0.5) + plane[1] * (y + 0.5) + plane[2]
        seen = found[near > layer.depth.reshape(-1)[found]]
        blend(paint, seen, self.colors[i], np.full(len(seen), AREA))

    @property
    def eye(self) -> Array:
        """(3, 3) right, up and towards the eye, as rows."""
        azimuth, elevation = np.radians([self.ax.azim, self.ax.elev])
        ca, sa, ce, se = np.cos(azimuth), np.sin(azimuth), np.cos(elevation), np.sin(elevation)
        return np.array([[-sa, ca, 0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]])

    def on_screen(self, world: Array) -> Array:
        """(n, 3) pixels of the raster, to the right and down, and nearness."""
        x, y, far = proj3d.proj_transform(*world.T, self.ax.M)
        flat = self.ax.transData.transform(np.column_stack([np.asarray(x), np.asarray(y)]))
        height = self.canvas.get_width_height()[1]
        return np.column_stack([FINER * flat[:, 0], FINER * (height - flat[:, 1]), -np.asarray(far)])


def rod_axes(along: Array, radius: float) -> Array:
    """The axes, as columns, that make a tube of length and radius 1 a rod."""
    length = np.linalg.norm(along)
    z = along / length
    across = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x = across / np.linalg.norm(across)
    return np.column_stack([radius * x, radius * np.cross(z, x), along])


def blend(paint: Array, found: Any, color: Array, alpha: Array) -> None:
    """Lay a colour over pixels, as strong as `alpha` says at each."""
    paint[found] *= (1 - alpha)[:, None]
    paint[found, :3] += alpha[:, None] * color
    paint[found, 3] += alpha
