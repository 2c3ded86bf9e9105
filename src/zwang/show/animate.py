"""Animations: in a notebook, and as GIF, film, page or still."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang.display import told
from zwang.endings import FILMS, require_ending
from zwang.errors import InputError
from zwang.model import System
from zwang.model.drawing import Drawing
from zwang.model.has_system import HasSystem
from zwang.results.drawing import with_drawing
from zwang.results.inputs import used_values
from zwang.show.gltf import gltf
from zwang.show.player import player_page
from zwang.show.quantities import require_motion
from zwang.show.scene import Scene, scene_of
from zwang.show.trails import with_trails
from zwang.waiting import waiting

if TYPE_CHECKING:
    import xarray as xr

    from zwang.show.stage import Stage

SIZE = (800, 600)
MOST_PICTURES = 3000
BETWEEN = 4  # trails are drawn finer than pictures are taken, for they would have corners
SMALLEST, LARGEST = 64, 4096  # pixels

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Animation:
    """A motion that plays where a notebook shows it; `save` writes it to a file."""

    motion: "xr.Dataset"

    def __repr__(self) -> str:
        """The animation in a line."""
        return told(self, str(self.motion.attrs.get("system", "")), f"{self.motion.sizes['time']:,} instants")

    def save(self, path: str | Path, **options: Any) -> Path:
        """Write the animation to a file; see `save_animation`."""
        return save_animation(self.motion, path, **options)

    def _repr_html_(self) -> str:
        """The player in a frame of its own, where scripts run but cannot reach the notebook."""
        page = escape(player_page(self.motion))
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="Animation" loading="lazy" '
            f'style="width: 100%; height: 660px; border: 0"></iframe>'
        )


def animate(
    motion: "xr.Dataset",
    drawing: Drawing | HasSystem | None = None,
    system: System | None = None,
    parameters: Mapping[Any, Any] | None = None,
    trail: Any = None,
) -> Animation:
    """A motion to look at: a player in a notebook, and `save` for a file.

    What is drawn is the drawing that the motion carries, as those of mechanisms and model files do, or the given one
    of the given system, with the `parameters` of the motion or those given; a mechanism may be given in place of both.
    Where there is none, coordinates called x and y (and z), also x1 or bob.x, are drawn as points.

    `trail` is a point whose path is drawn, or a list of such: the name of a body or a shape; a body in space with a
    point in its axes, ("arm", (0, 0, 0.2)); or a place in expressions, as `body.point(…)` gives it, if the mechanism or
    the system is given.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> free = zw.System((x, y), kinetic=(zw.dot(x)**2 + zw.dot(y)**2)/2)
    >>> motion = zw.simulate(free, {x: 0, y: 0, zw.dot(x): 1, zw.dot(y): 2}, until=5)
    >>> animation = animate(motion)                    # in a notebook this shows the player
    >>> animation.save("motion.gif")                   # doctest: +SKIP
    """
    require_motion(motion, "animate")
    if isinstance(drawing, HasSystem):
        require_one(motion)
        parameters = used_values(drawing.system_with(parameters), motion, parameters)
        motion = drawing.dressed(motion, parameters)
    elif drawing is not None:
        if system is None:
            raise InputError("a drawing needs its system, too: animate(motion, drawing, system)")
        require_one(motion)
        parameters = used_values(system, motion, parameters)
        motion = with_drawing(motion, drawing, system, parameters)
    if trail is not None:
        require_one(motion)
        known = drawing.system_with(parameters) if isinstance(drawing, HasSystem) else system
        parameters = parameters if known is None else used_values(known, motion, parameters)
        motion = with_trails(motion, trail, known, parameters)
    scene_of(motion)  # refuses now what could not be shown later
    return Animation(motion)


def save_animation(
    motion: "xr.Dataset",
    path: str | Path,
    *,
    fps: float = 25.0,
    size: tuple[int, int] = SIZE,
    speed: float | None = None,
    progress: Progress | None = None,
) -> Path:
    """Write a motion as .gif, .mp4, .html (the player), .png (a still) or .glb (for viewers); returns the path.

    A still shows earlier positions, too. A .glb is a binary glTF 2.0 file with the motion in it, for Blender, for
    browsers and for whatever shows things in space.

    `fps` are the pictures a second of a GIF or film, `size` its pixels, `speed` how much of the motion's time passes
    in a second (real time, or for very short and long motions a round factor that makes it last about 8 s).
    `progress` is called with (pictures done, pictures in all). The file is written whole or not at all.
    """
    require_motion(motion, "save_animation")
    path = Path(path)
    suffix = path.suffix.lower()
    require_ending(path, FILMS)
    require_sizes(fps, size, speed)
    if suffix == ".html":
        content = player_page(motion).encode()
    elif suffix == ".glb":
        content = gltf(scene_of(motion), speed)
    elif suffix == ".png":
        content = still(scene_of(motion), size)
    else:
        if suffix == ".gif":
            fps = gif_fps(fps)
        with waiting("drawing"):
            content = film(filmed(scene_of(motion), fps, speed), suffix, fps, size, progress)
    from zwang.files.store import write_atomically

    write_atomically(path, content)
    return path


def require_one(motion: "xr.Dataset") -> None:
    """Refuse a motion of many samples."""
    if "sample" in motion.dims:
        raise InputError("this is a motion of many samples: choose one to draw, motion.isel(sample=0)")


def require_sizes(fps: float, size: tuple[int, int], speed: float | None) -> None:
    """Refuse numbers that make no film."""
    if not 0.1 <= fps <= 120:
        raise InputError(f"fps = {fps!r}: choose between 0.1 and 120 pictures a second")
    if len(size) != 2 or not all(isinstance(n, int) and SMALLEST <= n <= LARGEST for n in size):
        raise InputError(f"size = {size!r}: give (width, height) in pixels, each from {SMALLEST} to {LARGEST}")
    if speed is not None and not 0 < speed < np.inf:
        raise InputError(f"speed = {speed!r}: give a positive number, 1 for real time")


def gif_fps(fps: float) -> float:
    """The nearest rate that a GIF can have: its pictures last whole hundredths of a second, two at least."""
    return 100 / max(round(100 / fps), 2)


def filmed(scene: Scene, fps: float, speed: float | None) -> Scene:
    """The scene at the times of a film's pictures, and between them, `BETWEEN` in all for one picture."""
    played = scene.duration / (scene.speed if speed is None else speed)
    count = max(round(played * fps), 1)
    if count >= MOST_PICTURES:
        raise InputError(
            f"{count} pictures ({played:.3g} s at {fps:g} a second) are more than {MOST_PICTURES}: "
            f"choose a higher speed or fewer fps"
        )
    return scene.at(np.linspace(scene.times[0], scene.times[-1], count * BETWEEN + 1))


def still(scene: Scene, size: tuple[int, int]) -> bytes:
    """A picture of the whole motion, at twice the pixels for print."""
    from PIL import Image

    width, height = size
    pixels = stage_of(scene, (2 * width, 2 * height), dpi=200.0).still()
    buffer = BytesIO()
    Image.fromarray(pixels).convert("RGB").save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def stage_of(scene: Scene, size: tuple[int, int], dpi: float = 100.0) -> "Stage":
    """The stage for a scene in the plane or in space, of so many pixels."""
    from zwang.show.space_stage import SpaceStage
    from zwang.show.stage import Stage

    return (SpaceStage if scene.dimension == 3 else Stage)(scene, size, dpi)


def film(scene: Scene, suffix: str, fps: float, size: tuple[int, int], progress: Progress | None) -> bytes:
    """The bytes of a GIF or an MP4 that shows a scene's times one after the other."""
    from zwang.show.film import gif, mp4

    stage = stage_of(scene, size)
    shown = range(0, len(scene.times), BETWEEN)

    def pictures() -> Iterator[NDArray[np.uint8]]:
        for done, index in enumerate(shown, start=1):
            yield stage.picture(index)
            if progress is not None:
                progress(done, len(shown))

    if suffix == ".mp4":
        return mp4(pictures(), size, fps)
    return gif(pictures(), [stage.picture(shown[i]) for i in (0, len(shown) // 2, -1)], fps)
