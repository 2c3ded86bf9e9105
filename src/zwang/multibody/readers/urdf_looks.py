"""The looks of a URDF robot: boxes, balls, cylinders and meshes of its visual elements."""

import json
import math
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.model.solids import Box, Capsule, Cylinder, Mesh, Solid, Sphere
from zwang.multibody.readers.looks import Look, hex_color
from zwang.multibody.readers.mjcf_process import mesh_in
from zwang.multibody.readers.own_files import PACKAGE, Outside, OwnFolders, file_below
from zwang.multibody.readers.urdf_elements import origin_of
from zwang.multibody.readers.xml_text import Xml, xml_root

MESH_FILES = (".stl", ".obj", ".ply", ".dae", ".glb", ".gltf", ".off")
BUFFERS = (".bin", ".glbin")
MOST_WORDS = 20_000_000  # bytes of glTF that name others
MOST_BYTES = 200_000_000  # of a mesh's file
NEEDS = "meshes are not drawn: reading them needs trimesh: pip install 'zwang[meshes]'"


def looks_of(xml: Xml, root: Element, folders: OwnFolders | None) -> list[Look]:
    """The visual elements of all links; what cannot be drawn is warned of. A text has no `folders`."""
    colors = {m.get("name", ""): color for m in root.findall("material") if (color := color_of(m, {}))}
    known: dict[str, tuple[Array, Array] | None] = {}
    found = []
    for link in root.findall("link"):
        name = link.get("name", "").strip()
        for visual in link.findall("visual"):
            before = len(xml.mistakes)
            frame = origin_of(xml, visual, f"link {name!r}: visual")
            color = color_of(visual.find("material"), colors)
            shape = shape_of(xml, visual.find("geometry"), name, color, folders, known)
            wrong = len(xml.mistakes) > before
            drop_mistakes(xml, before)
            if shape is not None and not wrong:
                found.append(Look(name, frame, shape))
    return found


def drop_mistakes(xml: Xml, before: int) -> None:
    """Looks do not matter for the motion: their mistakes are warnings."""
    xml.warnings += [f"{words}; not drawn" for words in xml.mistakes[before:]]
    del xml.mistakes[before:]


def color_of(material: Element | None, known: Mapping[str, str]) -> str:
    """The colour of a material, or of the one that it names; empty if there is none."""
    tag = None if material is None else material.find("color")
    if material is None or tag is None:
        return known.get("" if material is None else material.get("name", ""), "")
    try:
        rgba = [float(x) for x in tag.get("rgba", "").split()]
    except ValueError:
        return ""
    return hex_color(rgba) if len(rgba) >= 3 and all(map(math.isfinite, rgba)) else ""


def shape_of(
    xml: Xml, geometry: Element | None, link: str, color: str, folders: OwnFolders | None, known: dict[str, Any]
) -> Solid | None:
    """The solid of a geometry; None, with a word on it, for what is not drawn."""
    element = next(iter(geometry), None) if geometry is not None else None
    if element is None:
        xml.warnings.append(f"link {link!r}: a visual has no geometry; not drawn")
        return None
    who = f"link {link!r}: {element.tag}"
    try:
        if element.tag == "box":
            return Box(xml.numbers(element, "size", who, (1.0, 1.0, 1.0)), color=color)
        if element.tag == "sphere":
            return Sphere(xml.number(element, "radius", who, 1.0), color=color)
        if element.tag in ("cylinder", "capsule"):
            sizes = (xml.number(element, "radius", who, 1.0), xml.number(element, "length", who, 1.0))
            return (Cylinder if element.tag == "cylinder" else Capsule)(*sizes, color=color)
        if element.tag == "mesh":
            return mesh_of(xml, element, link, color, folders, known)
    except InputError as error:
        xml.warnings.append(f"{who}: {error}; not drawn")
        return None
    xml.warnings.append(f"{who} is not a known shape; not drawn")
    return None


def mesh_of(
    xml: Xml, element: Element, link: str, color: str, folders: OwnFolders | None, known: dict[str, Any]
) -> Solid | None:
    """A mesh from its file, scaled; every file is read once."""
    name = element.get("filename", "")
    scale = np.array(xml.numbers(element, "scale", f"link {link!r}: mesh", (1.0, 1.0, 1.0)))
    if name not in known:
        known[name] = None
        path, why = mesh_path(name, folders)
        if path is None or folders is None:
            xml.warnings.append(f"link {link!r}: its mesh {name!r} {why}; not drawn")
        else:
            known[name] = read_mesh(xml, link, name, path, folders)
    if known[name] is None:
        return None
    vertices, faces = known[name]
    turned = faces[:, ::-1] if np.prod(scale) < 0 else faces  # a mirrored mesh has its outside in
    return Mesh(vertices * scale, turned, color=color)


def mesh_path(name: str, folders: OwnFolders | None) -> tuple[Path | None, str]:
    """The file of a mesh, or why it is not read."""
    if not name.lower().endswith(MESH_FILES):
        return None, f"is of a kind that is not read (it is one of {', '.join(MESH_FILES)})"
    if folders is None:
        return None, "is missing: a text has no folder, give the path of the file"
    try:
        path = folders.file(name)
    except Outside:
        return None, "leads out of the model's folder and of all packages that were named"
    if path is None:
        package = name.removeprefix(PACKAGE).lstrip("/").partition("/")[0] if name.startswith(PACKAGE) else ""
        where = f": say where the package is, with packages={{{package!r}: folder}}"
        return None, "is missing" + (where if package and package not in folders.packages else "")
    size = path.stat().st_size
    return (None, f"has more than {MOST_BYTES:,} bytes") if size > MOST_BYTES else (path, "")


def read_mesh(xml: Xml, link: str, name: str, path: Path, folders: OwnFolders) -> tuple[Array, Array] | None:
    """Vertices and faces of a mesh's file, by trimesh in a process of its own."""
    if find_spec("trimesh") is None:
        if NEEDS not in xml.warnings:
            xml.warnings.append(NEEDS)
        return None
    try:
        kind = path.suffix.lower()[1:]
        if kind == "dae":
            xml_root(path.read_text(encoding="utf-8"), "mesh")  # no entities, and no archive under this name
        vertices, faces = mesh_in(path, kind, buffers(path, kind, folders))
        Mesh(vertices, faces)
    except Outside:
        xml.warnings.append(f"link {link!r}: its mesh {name!r} names files elsewhere; not drawn")
        return None
    except (OSError, ValueError, RecursionError) as error:
        xml.warnings.append(f"link {link!r}: its mesh {name!r} cannot be read ({first_line(error)}); not drawn")
        return None
    return vertices, faces


def buffers(path: Path, kind: str, folders: OwnFolders) -> dict[str, Path]:
    """The files that a mesh in glTF keeps its numbers in, by their names in it; `Outside` if one is elsewhere.

    Materials and pictures are not needed, and nothing else on the disk is anybody's business.
    """
    if kind != "gltf" or path.stat().st_size > MOST_WORDS:
        return {}
    said = json.loads(path.read_text(encoding="utf-8"))
    listed = said.get("buffers", []) if isinstance(said, dict) else []
    names = [one.get("uri") for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    wanted = [name for name in names if isinstance(name, str) and is_file_name(name)]
    found = {name: file_below(path.parent / name, folders.all) for name in wanted}
    return {name: file for name, file in found.items() if file is not None and file.stat().st_size <= MOST_BYTES}


def is_file_name(name: str) -> bool:
    """Whether this names a file of numbers, and is not the numbers themselves."""
    return name.lower().endswith(BUFFERS) and not name.startswith("data:")


def first_line(error: Exception) -> str:
    """What an error says, in short."""
    return (str(error).splitlines() or [type(error).__name__])[0][:80]
