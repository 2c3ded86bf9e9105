"""The player: a motion as a piece of HTML with a canvas and controls, complete in itself."""

from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.show.report.html import POLICY, inert_json
from zwang.show.scene import Scene, scene_of

if TYPE_CHECKING:
    import xarray as xr

MOST_FRAMES, FEWEST_FRAMES = 600, 60
MOST_NUMBERS = 250_000  # what moves, over all frames: about a megabyte and a half
STEPS = 50_000  # places are rounded to this part of the scene: less than a pixel, zoomed in too
FACTORS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
NAMES_SHOWN = 16
SCRIPTS = ("player-plane.js", "player-space.js", "player-shapes.js", "player.js")


def player_html(motion: "xr.Dataset", element_id: str = "player", *, autoplay: bool = False) -> str:
    """An HTML fragment that plays a motion: canvas, controls, data, style and script, nothing from outside.

    Any number of players can stand on one page; give each an `element_id` of its own. The fragment's controls carry
    `data-role`: play, scrub, time, speed, reset. With `autoplay` the motion begins by itself, except for people who
    asked their system for less motion.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> free = zw.System((x, y), kinetic=(zw.dot(x)**2 + zw.dot(y)**2)/2)
    >>> motion = zw.simulate(free, {x: 0, y: 0, zw.dot(x): 1, zw.dot(y): 2}, until=5)
    >>> 'data-role="play"' in player_html(motion)
    True
    """
    scene = scene_of(motion)
    begin, end = float(scene.times[0]), float(scene.times[-1])
    speeds = "".join(
        f'<option value="{speed!r}"{" selected" * (speed == scene.speed)}>{escape(speed_text(scene, speed))}</option>'
        for speed in speeds_of(scene)
    )
    return f"""<div class="zw-player" id="{escape(element_id)}" data-autoplay="{str(autoplay).lower()}" \
role="group" aria-label="{escape(f"Animation of {scene.title or 'the motion'}")}">
<style>{asset("player.css")}</style>
<canvas class="zw-canvas" tabindex="0" style="aspect-ratio: {aspect(scene):.3g}" role="img" \
aria-label="{escape(", ".join(s.name for s in scene.shapes[:NAMES_SHOWN]))}">This needs a canvas.</canvas>
<div class="zw-controls">
<button type="button" class="zw-play" data-role="play" aria-label="Play" title="Play or pause (space)">\
<svg viewBox="0 0 16 16" aria-hidden="true"><path class="zw-go" d="M4 2l10 6-10 6z"/>\
<path class="zw-halt" d="M3 2h4v12H3zM9 2h4v12H9z"/></svg></button>
<input type="range" data-role="scrub" aria-label="Time" min="{begin!r}" max="{end!r}" step="any" value="{begin!r}">
<output class="zw-time" data-role="time"></output>
<label class="zw-speed">Speed <select data-role="speed">{speeds}</select></label>
<button type="button" data-role="reset" title="Reset the view (double click)">Reset view</button>
</div>
{legend(scene)}
<script type="application/json">{inert_json(data_of(scene))}</script>
<script>(() => {{
"use strict";
{"".join(asset(name) for name in SCRIPTS)}}})();</script>
</div>"""


def player_page(motion: "xr.Dataset") -> str:
    """A whole HTML page around the player."""
    title = escape(str(motion.attrs.get("system", "")) or "A motion")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{asset("page.css")}</style>
</head>
<body>
<main><h1>{title}</h1>
{player_html(motion, autoplay=True)}
</main>
</body>
</html>
"""


def data_of(scene: Scene) -> dict[str, Any]:
    """What the script needs: places as whole numbers of `quantum`, one column a place and axis."""
    low, high = scene.bounds()
    extent = float((high - low).max()) or float(np.abs(high).max()) or 1.0
    quantum = float(f"{extent / STEPS:.3g}")
    flat = scene.places.reshape(len(scene.times), -1)
    moving = int(np.count_nonzero((flat != flat[:1]).any(axis=0)))
    frames = framed(scene, int(np.clip(MOST_NUMBERS // max(moving, 1), FEWEST_FRAMES, MOST_FRAMES)))
    return {
        "dimension": scene.dimension,
        "begin": float(scene.times[0]),
        "end": float(scene.times[-1]),
        "frames": len(frames.times),
        "quantum": quantum,
        "columns": [column(values / quantum) for values in frames.places.reshape(len(frames.times), -1).T],
        "low": [float(f"{x:.6g}") for x in low],
        "high": [float(f"{x:.6g}") for x in high],
        "axes": scene.axes,
        "unit": scene.length_unit,
        "timeUnit": scene.time_unit,
        "shapes": [
            {"name": s.name, "kind": s.kind, "first": s.first, "count": s.count, "colors": s.colors, "trail": s.trail}
            for s in scene.shapes
        ],
    }


def framed(scene: Scene, most: int) -> Scene:
    """The scene at equidistant times, no more than `most`; as it is, where it has them already."""
    count = len(scene.times)
    if count < 2:
        return scene
    gaps = np.diff(scene.times)
    even = bool(gaps.max() <= gaps.min() * (1 + 1e-6))
    if even and count <= most:
        return scene
    wanted = most if even else int(np.clip(np.ceil(scene.duration / gaps.min() - 1e-6) + 1, 2, most))
    return scene.at(np.linspace(scene.times[0], scene.times[-1], wanted))


def column(values: Any) -> Any:
    """A column of whole numbers, null where there is no place; one number if it never changes."""
    whole = [int(x) if np.isfinite(x) else None for x in np.round(values)]
    return whole[0] if len(set(whole)) == 1 else whole


def speeds_of(scene: Scene) -> list[float]:
    """The speeds to choose from: around the one that suits, and real time."""
    around = [float(f"{scene.speed * factor:.3g}") for factor in FACTORS]
    return sorted({*around, 1.0} if scene.time_unit in ("", "s") else around)


def speed_text(scene: Scene, speed: float) -> str:
    """A speed in words: a factor of real time, or units of time a second."""
    if scene.time_unit not in ("", "s"):
        return f"{speed:g} {scene.time_unit} a second"
    return "real time" if speed == 1 else f"{speed:g}×"


def aspect(scene: Scene) -> float:
    """Width over height that suits what is drawn."""
    low, high = scene.bounds()
    width, height = high[0] - low[0], high[1] - low[1]
    return float(np.clip(width / height, 1.3, 2.2)) if scene.dimension == 2 and height > 0 else 1.6


def legend(scene: Scene) -> str:
    """The names of the shapes with their colours."""
    items = "".join(
        f'<li data-shape="{i}" style="--light: {s.colors[0]}; --dark: {s.colors[1]}">{escape(s.name)}</li>'
        for i, s in enumerate(scene.shapes[:NAMES_SHOWN])
    )
    more = len(scene.shapes) - NAMES_SHOWN
    return f'<ul class="zw-legend">{items}{f"<li class=zw-more>and {more} more</li>" * (more > 0)}</ul>'


@cache
def asset(name: str) -> str:
    """A file that comes with this package."""
    return (files("zwang.show") / "assets" / name).read_text(encoding="utf-8")
