"""The player: a motion as a piece of HTML with a canvas and controls, complete in itself."""

from base64 import b64encode
from dataclasses import replace
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arrays import Array
from zwang.model.solids import Ellipsoid, Mesh, Solid
from zwang.show.modes import contact_data
from zwang.show.report.html import POLICY, inert_json
from zwang.show.scene import Scene, scene_of
from zwang.show.surface import Surface, profile_of, simplified, surface_of

if TYPE_CHECKING:
    import xarray as xr

MOST_FRAMES, FEWEST_FRAMES = 600, 60
MOST_NUMBERS = 250_000  # what moves, over all frames: about a megabyte and a half
STEPS = 50_000  # places are rounded to this part of the scene: less than a pixel, zoomed in too
FACTORS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
NAMES_SHOWN = 16
SCRIPTS = (
    "player-plane.js",
    "player-space.js",
    "player-shapes.js",
    "player-raster.js",
    "player-solids.js",
    "player-contacts.js",
    "player.js",
)
IN_SPACE = ("player-space.js", "player-raster.js", "player-solids.js")  # what nobody needs in the plane
MOST_FACES = 40_000  # of all meshes of a page: about half a megabyte
FEWEST_FACES = 200  # of one mesh, however many there are


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
    touching = contact_data(scene.lights)
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
{legend(scene)}{contact_list(touching)}
<script type="application/json">{inert_json(data_of(scene) | touching)}</script>
<script>(() => {{
"use strict";
{"".join(asset(name) for name in SCRIPTS if scene.dimension == 3 or name not in IN_SPACE)}}})();</script>
</div>"""


def player_page(motion: "xr.Dataset") -> str:
    """A whole HTML page around the player."""
    title = escape(str(motion.attrs.get("system", "")) or "A motion")
    body = f"<main><h1>{title}</h1>\n{player_html(motion, autoplay=True)}\n</main>"
    return whole_page(title, POLICY, "page.css", body)


def whole_page(title: str, policy: str, style: str, body: str) -> str:
    """A whole HTML page in one of our styles, light or dark as its reader has it; the title is escaped."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{asset(style)}</style>
</head>
<body>
{body}
</body>
</html>
"""


def data_of(scene: Scene) -> dict[str, Any]:
    """What the script needs: places as whole numbers of `quantum`, one column a place and axis."""
    low, high = scene.bounds()
    extent = float((high - low).max()) or float(np.abs(high).max()) or 1.0
    quantum = float(f"{extent / STEPS:.3g}")
    scene = replace(scene, places=scene.places * directions(scene, extent))
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
        **shapes_of(scene),
    }


def directions(scene: Scene, extent: float) -> Array:
    """(entry, 1) factors for the places: directions get the size of the scene, to be rounded as finely as places."""
    factors = np.ones((scene.places.shape[1], 1))
    for s in scene.shapes:
        if s.solid is not None:
            factors[s.first + 1 : s.first + 3] = extent
    return factors


def shapes_of(scene: Scene) -> dict[str, Any]:
    """The shapes, and what the solids among them are: each solid once."""
    solids = list(dict.fromkeys(s.solid for s in scene.shapes if s.solid is not None))
    meshes = sum(isinstance(solid, Mesh) for solid in solids)
    most = max(MOST_FACES // max(meshes, 1), FEWEST_FACES)
    return {
        "shapes": [
            {"name": s.name, "kind": s.kind, "first": s.first, "count": s.count, "colors": s.colors, "trail": s.trail}
            | ({} if s.solid is None else {"solid": solids.index(s.solid)})
            for s in scene.shapes
        ],
        "solids": [solid_data(solid, most) for solid in solids],
    }


def solid_data(solid: Solid, most: int) -> dict[str, Any]:
    """A solid for the script: a profile that is turned about z, or triangles of no more faces than `most`, about."""
    profile = profile_of(solid)
    if profile is None:
        return {"mesh": mesh_data(simplified(surface_of(solid), most))}
    scale = solid.radii if isinstance(solid, Ellipsoid) else (1, 1, 1)
    turn = [float(f"{x:.6g}") for x in solid.turn.reshape(-1)]
    rounded = [[float(f"{x:.6g}") for x in row] for row in profile]
    return {"profile": rounded, "at": solid.at, "turn": turn, "scale": scale}


def mesh_data(surface: Surface) -> dict[str, Any]:
    """Triangles as text: places as whole numbers of `quantum` from `low`, normals of a byte, faces of two or four."""
    low = surface.vertices.min(axis=0)
    quantum = (float(np.ptp(surface.vertices, axis=0).max()) or 1.0) / 65535
    wide = len(surface.vertices) > 65535

    def text(values: Any, kind: str) -> str:
        return b64encode(np.round(values).astype(kind).tobytes()).decode()

    return {
        "vertices": text((surface.vertices - low) / quantum, "<u2"),
        "normals": text(surface.normals * 127, "i1"),
        "faces": text(surface.faces, "<u4" if wide else "<u2"),
        "quantum": quantum,
        "low": low.tolist(),
        "wide": wide,
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
    """The names of the shapes with their colours; of solids that move together only the first is named."""
    listed = {(s.first, s.kind == "solid") if s.solid else i: i for i, s in reversed(list(enumerate(scene.shapes)))}
    named = sorted(listed.values())
    items = "".join(
        f'<li data-shape="{i}" style="--light: {scene.shapes[i].colors[0]}; --dark: {scene.shapes[i].colors[1]}">'
        f"{escape(scene.shapes[i].name)}</li>"
        for i in named[:NAMES_SHOWN]
    )
    more = len(named) - NAMES_SHOWN
    return f'<ul class="zw-legend">{items}{f"<li class=zw-more>and {more} more</li>" * (more > 0)}</ul>'


def contact_list(touching: dict[str, Any]) -> str:
    """The names of the contacts, each with what it does now; the script colours them."""
    names = [contact["name"] for contact in touching.get("contacts", ())]
    items = "".join(f'<li data-contact="{i}">{escape(name)} <span></span></li>' for i, name in enumerate(names))
    return f'<ul class="zw-legend zw-contacts" aria-label="Contacts">{items}</ul>' if items else ""


@cache
def asset(name: str) -> str:
    """A file that comes with this package."""
    return (files("zwang.show") / "assets" / name).read_text(encoding="utf-8")
