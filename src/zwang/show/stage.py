"""A scene on matplotlib axes: for stills, GIFs and films. `space_stage` has what stands there in space.

Agg draws it, which needs no screen. Axes and grid are drawn once; for every picture of a film only what moves is.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.patches import Polygon
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.show.figure import INK, LINE, SOFT, Picture, dress
from zwang.show.scene import Scene, Seen
from zwang.show.text import plain

MARGIN = 0.08  # around what moves, as a share of it
TRAIL = 0.25  # the share of the motion over which a trail fades
GHOSTS = 8  # seven steps: a motion of one, two, … six periods still shows different positions
FADES = 40  # stretches of a fading trail
ROUND = np.linspace(0, 2 * np.pi, 73)
ORDER = {"body": 3, "circle": 4, "line": 5, "point": 6}


class Stage:
    """A figure with axes that fit a scene's whole motion; `show` puts the shapes at one of its times there."""

    def __init__(self, scene: Scene, size: tuple[int, int], dpi: float = 100.0) -> None:
        self.scene = scene
        self.figure = Picture(figsize=(size[0] / dpi, size[1] / dpi), dpi=dpi, facecolor="white")
        self.ax: Any = self._space() if scene.dimension == 3 else self._plane()
        if scene.title:
            self.figure.text(0.02, 0.98, plain(scene.title), va="top", color=INK, fontweight="bold", fontsize=11)
        self.clock = self.figure.text(0.98, 0.98, "", va="top", ha="right", color=SOFT, family="monospace", fontsize=10)
        self.shown: list[Artist] = []
        self.canvas: Any = FigureCanvasAgg(self.figure)
        self.backdrop: Any = None

    def picture(self, index: int) -> NDArray[np.uint8]:
        """(height, width, 4) the pixels at a time of the scene."""
        if self.backdrop is None:
            self.canvas.draw()
            self.backdrop = self.canvas.copy_from_bbox(self.figure.bbox)
        self.canvas.restore_region(self.backdrop)
        self.show(index)
        for artist in sorted(self.shown, key=lambda artist: artist.get_zorder()):
            self.ax.draw_artist(artist)
        self.figure.draw_artist(self.clock)
        return np.array(self.canvas.buffer_rgba())

    def _plane(self) -> Any:
        """Axes of equal scale that fill the figure: its longer side gets more room, not more scale."""
        low, high = padded(self.scene)
        ax = self.figure.add_axes((0.11, 0.11, 0.86, 0.80))
        width, height = self.figure.get_size_inches() * (0.86, 0.80)
        scale = min(width / (high[0] - low[0]), height / (high[1] - low[1]))
        middle, half = (low + high) / 2, np.array([width, height]) / scale / 2
        ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
        ax.set_ylim(middle[1] - half[1], middle[1] + half[1])
        ax.set_aspect("equal")
        dress(ax)
        ax.set_xlabel(plain(self.scene.axes[0]))
        ax.set_ylabel(plain(self.scene.axes[1]))
        return ax

    def _space(self) -> Any:
        low, high = padded(self.scene)
        ax: Any = self.figure.add_axes((0.02, 0.0, 0.94, 0.97), projection="3d", computed_zorder=False)
        for axis, a, b, label in zip("xyz", low, high, self.scene.axes, strict=True):
            getattr(ax, f"set_{axis}lim")(a, b)
            getattr(ax, f"set_{axis}label")(plain(label), color=INK)
            getattr(ax, f"{axis}axis").set_pane_color((0.968, 0.972, 0.98, 1.0))
            getattr(ax, f"{axis}axis").line.set_color("#b4bdc9")
            getattr(ax, f"{axis}axis")._axinfo["grid"].update(color=LINE, linewidth=0.8)
        ax.tick_params(colors=SOFT, labelsize=8)
        size = high - low
        ax.set_box_aspect(size, zoom=1.08)
        for axis, length in zip("xyz", size, strict=True):
            getattr(ax, f"{axis}axis").get_major_locator().set_params(nbins=max(2, int(7 * length / size.max())))
        ax.view_init(elev=26, azim=-57)
        return ax

    def show(self, index: int) -> None:
        """Put the shapes where they are at a time of the scene, with trails; what was shown before goes."""
        for artist in self.shown:
            artist.remove()
        self.shown = []
        for shape in self.scene.shapes:
            if shape.trail:
                self.shown += self.trail(shape, index)
        self.shapes(index, 1.0)
        self.tell_time(index)

    def tell_time(self, index: int) -> None:
        """Write the time into its corner."""
        unit = f" {self.scene.time_unit}" if self.scene.time_unit else ""
        magnitude = int(np.floor(np.log10(self.scene.duration or 1)))
        digits = 2 - min(magnitude, 0) if magnitude < 2 else max(3 - magnitude, 0)
        self.clock.set_text(plain(f"t = {self.scene.times[index]:.{digits}f}{unit}"))

    def still(self) -> NDArray[np.uint8]:
        """(height, width, 4) the pixels of a still of the whole motion."""
        self.show_ghosts()
        self.canvas.draw()
        return np.array(self.canvas.buffer_rgba())

    def show_ghosts(self, count: int = GHOSTS) -> None:
        """A still of the whole motion: positions at some times, the later the stronger, and whole trails."""
        last = len(self.scene.times) - 1
        self.show(last)
        places = self.scene.places  # what stands still is drawn once: its ghosts would only darken it
        moving = [s for s in self.scene.shapes if np.ptp(places[:, s.first : s.first + s.count], axis=0).any()]
        for i in range(count - 1):
            self.shapes(round(last * i / (count - 1)), 0.12 + 0.25 * i / (count - 1), moving)

    def shapes(self, index: int, alpha: float, which: Sequence[Seen] | None = None) -> None:
        """Draw every shape, or those given, once."""
        for shape in self.scene.shapes if which is None else which:
            corners = corners_of(shape, self.scene.places[index])
            if np.isfinite(corners).all():
                self.shown += self.shape(self.scene.seen(shape, index), corners, alpha)

    def shape(self, shape: Seen, corners: Array, alpha: float) -> list[Artist]:
        """Draw one shape from its corners."""
        look = {"color": shape.colors[0], "alpha": alpha, "zorder": ORDER[shape.kind]}
        lines: list[Artist]
        if shape.kind == "point":
            lines = self.ax.plot(*corners.T, "o", markersize=8, markeredgewidth=0, **look)
            return lines
        if shape.kind == "line":
            lines = self.ax.plot(*corners.T, linewidth=2.4, solid_capstyle="round", **look)
            return lines
        lines = self.ax.plot(*corners[[*range(len(corners)), 0]].T, linewidth=1.6, **look)
        return [*lines, self.area(corners, shape.colors[0], 0.22 * alpha, ORDER[shape.kind])]

    def area(self, corners: Array, color: str, alpha: float, zorder: float) -> Any:
        """The inside of a body or a circle."""
        look: dict[str, Any] = {"facecolor": color, "alpha": alpha, "zorder": zorder, "linewidth": 0}
        return self.ax.add_patch(Polygon(corners, **look))

    def trail(self, shape: Seen, index: int) -> list[Artist]:
        """The path until now: faint as a whole, stronger towards now."""
        path = self.scene.places[: index + 1, shape.first]
        if len(path) < 2:
            return []
        color = shape.colors[0]
        faint = self.ax.plot(*path.T, color=color, alpha=0.18, linewidth=1.4, zorder=2)
        recent = path[-max(2, int(TRAIL * len(self.scene.times))) :]
        pieces = [piece for piece in np.array_split(np.arange(len(recent) - 1), FADES) if len(piece)]
        stretches = [recent[piece[0] : piece[-1] + 2] for piece in pieces]
        alphas = 0.75 * (np.arange(1, len(stretches) + 1) / len(stretches)) ** 1.5
        look: dict[str, Any] = {"colors": color, "linewidths": 1.8, "zorder": 2.5, "alpha": list(alphas)}
        return [*faint, self.ax.add_collection(LineCollection(stretches, **look), autolim=False)]


def padded(scene: Scene) -> tuple[Array, Array]:
    """The bounds of a scene with a margin, no side without length. In space the ground is the lowest place."""
    low, high = scene.bounds()
    extent = float((high - low).max()) or float(np.abs(high).max()) or 1.0
    margin = np.maximum(MARGIN * extent, (0.1 * extent - (high - low)) / 2)
    if scene.dimension == 3:
        grounded = low - margin
        grounded[2] = low[2]
        return grounded, high + margin * (1, 1, 0.5)
    return low - margin, high + margin


def corners_of(shape: Seen, places: Array) -> Array:
    """(k, axis) the corners of a shape; a circle's lie along its rim."""
    points = places[shape.first : shape.first + shape.count]
    if shape.kind != "circle":
        return points
    centre, rim = points
    if len(centre) == 2:
        return np.asarray(centre + abs(rim[0]) * np.column_stack([np.cos(ROUND), np.sin(ROUND)]))
    radius = np.linalg.norm(rim)
    u = np.cross(rim, np.eye(3)[np.argmin(np.abs(rim))])
    u /= np.linalg.norm(u) or 1.0
    v = np.cross(rim, u) / (radius or 1.0)
    return np.asarray(centre + radius * (np.outer(np.cos(ROUND), u) + np.outer(np.sin(ROUND), v)))
