"""A motion as a binary glTF 2.0 file, which every viewer of things in space opens: meshes, and how their nodes move."""

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from zwang.arrays import Array
from zwang.model.solids import Sphere
from zwang.show.raster import rgb
from zwang.show.scene import Scene, Seen, frames_of
from zwang.show.surface import Surface, revolved, surface_of, unit_rows

MOST_TIMES = 2000
ROD, BALL = 0.007, 0.019  # radii beside the size of the scene, of what lines and points become
ARRAY_BUFFER, ELEMENT_BUFFER = 34962, 34963
FLOAT, UNSIGNED_SHORT, UNSIGNED_INT = 5126, 5123, 5125
TYPES = {FLOAT: "<f4", UNSIGNED_SHORT: "<u2", UNSIGNED_INT: "<u4"}
LINE_STRIP = 3
PARTS = ("nodes", "meshes", "materials", "accessors", "bufferViews")
UPRIGHT = [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]  # takes z, which is up here, to y, which is up there
TUBE = revolved(np.array([[0.0, 0, 0, -1], [1, 0, 0, -1], [1, 0, 1, 0], [1, 1, 1, 0], [1, 1, 0, 1], [0, 1, 0, 1]]))


@dataclass
class Gltf:
    """A file as it grows: its JSON, its bytes, and the times of its motion."""

    times: Array
    data: dict[str, list[Any]] = field(default_factory=lambda: {key: [] for key in PARTS})
    content: bytearray = field(default_factory=bytearray)
    channels: list[Any] = field(default_factory=list)
    samplers: list[Any] = field(default_factory=list)
    kept: dict[Any, int] = field(default_factory=dict)

    def add(self, part: str, entry: dict[str, Any]) -> int:
        """One more entry of a part of the file, and its number."""
        self.data[part].append(entry)
        return len(self.data[part]) - 1

    def once(self, key: Any, make: Callable[[], int]) -> int:
        """The number of what is made the first time it is asked for."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def accessor(self, values: Any, component: int, kind: str, target: int | None = None, bounds: bool = False) -> int:
        """Numbers in the file's bytes, from a multiple of four on."""
        array = np.ascontiguousarray(values, dtype=TYPES[component])
        self.content += bytes(-len(self.content) % 4)
        view = {"buffer": 0, "byteOffset": len(self.content), "byteLength": array.nbytes}
        self.content += array.tobytes()
        index = self.add("bufferViews", view if target is None else view | {"target": target})
        entry: dict[str, Any] = {"bufferView": index, "componentType": component, "count": len(array), "type": kind}
        if bounds:
            rows = array.reshape(len(array), -1)
            entry |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        return self.add("accessors", entry)

    def material(self, color: str) -> int:
        """A colour; the file has them in linear light."""
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb(color)]
        look = {"baseColorFactor": [*linear, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.6}
        entry = {"name": color, "pbrMetallicRoughness": look, "doubleSided": True}
        return self.once(("material", color), lambda: self.add("materials", entry))

    def mesh(self, surface: Surface, color: str, name: str) -> int:
        """Triangles of a colour; the same ones are written once."""
        wide = UNSIGNED_INT if len(surface.vertices) > 65534 else UNSIGNED_SHORT
        faces = surface.faces.reshape(-1)

        def make() -> int:
            attributes = {
                "POSITION": self.once((surface, 0), lambda: self.vectors(surface.vertices, bounds=True)),
                "NORMAL": self.once((surface, 1), lambda: self.vectors(surface.normals)),
            }
            indices = self.once((surface, 2), lambda: self.accessor(faces, wide, "SCALAR", ELEMENT_BUFFER))
            primitive = {"attributes": attributes, "indices": indices, "material": self.material(color)}
            return self.add("meshes", {"name": name, "primitives": [primitive]})

        return self.once((surface, color), make)

    def vectors(self, values: Array, bounds: bool = False) -> int:
        """Places or normals of vertices."""
        return self.accessor(values, FLOAT, "VEC3", ARRAY_BUFFER, bounds)

    def path(self, places: Array, color: str, name: str) -> int:
        """A line through places that does not move."""
        position = self.vectors(places, bounds=True)
        primitive = {"attributes": {"POSITION": position}, "mode": LINE_STRIP, "material": self.material(color)}
        return self.add("nodes", {"name": name, "mesh": self.add("meshes", {"name": name, "primitives": [primitive]})})

    def node(self, entry: dict[str, Any], translation: Array, rotation: Array, scale: Array | None = None) -> int:
        """A node that moves: (time, …) each; what stays the same is said once."""
        index = self.add("nodes", entry)
        given = {"translation": translation, "rotation": rotation} | ({} if scale is None else {"scale": scale})
        for path, values in given.items():
            entry[path] = values[0].tolist()
            if (values != values[0]).any():
                kind = "VEC4" if path == "rotation" else "VEC3"
                times = self.once("times", lambda: self.accessor(self.times, FLOAT, "SCALAR", bounds=True))
                sampler = {"input": times, "output": self.accessor(values, FLOAT, kind), "interpolation": "LINEAR"}
                self.samplers.append(sampler)
                self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": index, "path": path}})
        return index

    def file(self, title: str, roots: list[int], upright: bool) -> bytes:
        """The file: a header, the JSON and the bytes, each a multiple of four long."""
        root = {"name": title or "motion", "children": roots} | ({"rotation": UPRIGHT} if upright else {})
        top = self.add("nodes", root)
        document: dict[str, Any] = {"asset": {"version": "2.0", "generator": "zwang"}, "scene": 0}
        document |= {"scenes": [{"nodes": [top]}], "buffers": [{"byteLength": len(self.content)}]}
        document |= {key: entries for key, entries in self.data.items() if entries}
        if self.channels:
            document["animations"] = [{"name": "motion", "channels": self.channels, "samplers": self.samplers}]
        text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        binary = bytes(self.content) + bytes(-len(self.content) % 4)
        chunks = [(b"JSON", text + b" " * (-len(text) % 4)), (b"BIN\0", binary)]
        body = b"".join(struct.pack("<I4s", len(chunk), kind) + chunk for kind, chunk in chunks)
        return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def gltf(scene: Scene, speed: float | None = None) -> bytes:
    """A scene as the bytes of a .glb file that plays as films do.

    `speed` is the motion's time that passes in a second.
    """
    if len(scene.times) > MOST_TIMES:
        scene = scene.at(np.linspace(scene.times[0], scene.times[-1], MOST_TIMES))
    seconds = ((scene.times - scene.times[0]) / (scene.speed if speed is None else speed)).astype(np.float32)
    kept = np.append([True], np.diff(seconds) > 0)  # times so near that they are the same there
    space = np.zeros((int(kept.sum()), scene.places.shape[1], 3))
    space[..., : scene.dimension] = scene.places[kept]
    low, high = scene.bounds()
    extent = float((high - low).max()) or 1.0
    file = Gltf(seconds[kept].astype(float))
    roots: list[int] = []
    for shape in scene.shapes:
        entries = without_gaps(space[:, shape.first : shape.first + shape.count])
        if entries is None:
            continue
        if shape.kind == "circle" and scene.dimension == 2:
            entries[:, 1] = np.column_stack([np.zeros((len(entries), 2)), np.abs(entries[:, 1, 0])])
        roots += nodes_of(file, shape, entries, extent)
        if shape.trail and len(entries) > 1 and np.ptp(entries[:, 0], axis=0).any():
            roots.append(file.path(entries[:, 0], shape.colors[0], f"{shape.name} trail"))
    return file.file(scene.title, list(dict.fromkeys(roots)), upright=scene.dimension == 3)


def nodes_of(file: Gltf, shape: Seen, entries: Array, extent: float) -> list[int]:
    """The nodes of a shape: a solid in the frame that carries it, a ball, a ring, the rods of a line or an outline."""
    name, color, count = shape.name, shape.colors[0], len(entries)
    if shape.solid is not None:
        origins, turns = frames_of(entries)
        frame = file.once(shape.first, lambda: file.node({"name": name, "children": []}, origins, steady(turns)))
        solid = file.add("nodes", {"name": name, "mesh": file.mesh(surface_of(shape.solid), color, name)})
        file.data["nodes"][frame]["children"].append(solid)
        return [frame]
    if shape.kind == "point":
        entry = {"name": name, "mesh": file.mesh(surface_of(Sphere(1)), color, name)}
        return [file.node(entry, entries[:, 0], still(count), np.full((count, 3), BALL * extent))]
    radius = ROD * extent * (1.0 if shape.kind == "line" else 0.7)
    if shape.kind == "circle":
        sizes = np.linalg.norm(entries[:, 1], axis=1)
        turns, _ = rods(np.zeros((count, 3)), entries[:, 1], radius)
        whole = float(sizes.max()) or 1.0
        entry = {"name": name, "mesh": file.mesh(ring(whole, radius), color, name)}
        return [file.node(entry, entries[:, 0], steady(turns), np.repeat(sizes[:, None] / whole, 3, axis=1))]
    corners = list(entries.swapaxes(0, 1))
    found = []
    for i, (a, b) in enumerate(pairwise([*corners, corners[0]] if shape.kind == "body" else corners)):
        turns, scale = rods(a, b, radius)
        entry = {"name": f"{name} {i + 1}", "mesh": file.mesh(TUBE, color, name)}
        found.append(file.node(entry, a, steady(turns), scale))
    return found


def ring(radius: float, thickness: float) -> Surface:
    """A ring about z."""
    angle = np.linspace(0, 2 * np.pi, 13)
    c, s = np.cos(angle), np.sin(angle)
    return revolved(np.column_stack([radius + min(thickness, radius / 2) * c, min(thickness, radius / 2) * s, c, s]))


def without_gaps(entries: Array) -> Array | None:
    """Places over time, those that are not finite as the last ones before them were; None where none is finite."""
    good = np.asarray(np.isfinite(entries).all(axis=(1, 2)))
    if not good.any():
        return None
    last = np.maximum.accumulate(np.where(good, np.arange(len(good)), -1))
    return np.asarray(entries[np.where(last < 0, np.argmax(good), last)])


def rods(a: Array, b: Array, radius: float) -> tuple[Array, Array]:
    """The rotations (time, 3, 3) and scales (time, 3) that bring a tube of length and radius 1 between two points.

    About its own axis it turns as little as possible from one time to the next.
    """
    along = b - a
    lengths = np.linalg.norm(along, axis=1)
    z = unit_rows(along)
    z[lengths == 0] = (0.0, 0.0, 1.0)
    x = np.empty_like(z)
    across = np.cross(z[0], np.eye(3)[np.argmin(np.abs(z[0]))])
    for i, axis in enumerate(z):
        across = across - axis * (axis @ across)
        size = np.linalg.norm(across)
        if size < 1e-6:  # it turned into what was across
            across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
            size = np.linalg.norm(across)
        across = x[i] = across / size
    turns = np.stack([x, np.cross(z, x), z], axis=-1)
    return turns, np.column_stack([np.full((len(a), 2), radius), lengths])


def steady(turns: Array) -> Array:
    """(time, 4) quaternions, scalar last as glTF has them, without jumps from one sign to the other."""
    quaternions = Rotation.from_matrix(turns).as_quat()
    flips = np.sign(np.einsum("ij,ij->i", quaternions[1:], quaternions[:-1]))
    signs = np.cumprod(np.append(1.0, np.where(flips < 0, -1.0, 1.0)))
    return np.asarray(quaternions * signs[:, None])


def still(count: int) -> Array:
    """The quaternion of no rotation, so many times."""
    return np.tile([0.0, 0.0, 0.0, 1.0], (count, 1))
