"""The files that an MJCF file names: all of them in its own folder, or it is refused before MuJoCo opens any.

Files of looks may be missing: MuJoCo's compiler is given something else for them.
"""

from collections.abc import Iterator
from itertools import product
from os.path import isfile  # which a name that no file can have does not stop
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from zwang.multibody.readers.skeleton import refused
from zwang.multibody.readers.xml_text import xml_root, xml_text

FOLDERS = ("meshdir", "texturedir", "assetdir")  # attributes of the compiler element
READ_AS_XML = ("include", "model")  # elements whose files name files again
MOST_FILES = 1000
SIZES = (0.1, 0.2)  # of what stands in for a mesh: what depends on the size is not known without it


def require_own_files(text: str, file: Path | None) -> set[str]:
    """Refuse a model that names files outside its folder; `file` is None for a text, which has no folder.

    MuJoCo puts names together in several ways (the folder of the model, of the file that includes it, of meshes): all
    of them are looked at, and links are followed. Names that are in none of these places are returned.
    """
    root = None if file is None else file.parent.resolve()
    todo, read = [(text, root)], set[Path]()
    starts, folders, names = {root}, {""}, set[str]()
    while todo:
        inner, folder = todo.pop()
        for element, key, name in named_files(xml_root(inner, "MJCF")):
            if root is None or folder is None:
                raise refused([f"{element.tag} names {name!r}, but a text has no folder: give the path of the file"])
            require_name(element, key, name)
            (folders if key in FOLDERS else names).add(name)
            if len(names) * len(folders) * len(starts) > MOST_FILES:
                raise refused([f"the files that it names may be in more than {MOST_FILES} places"])
            for found in (root / name, folder / name) if element.tag in READ_AS_XML and key == "file" else ():
                require_under(root, found, name)
                if isfile(found) and found not in read:
                    read.add(found)
                    starts.add(found.parent)
                    todo.append((xml_text(found, "MJCF"), found.parent))
    there = set[str]()
    for start, folder_name, name in product(starts, folders, names):
        if root is not None and start is not None:
            for place in (start / folder_name / name, start / folder_name / Path(name).name):  # as with `strippath`
                require_under(root, place, name)
                if isfile(place):
                    there.add(name)
    return names - there


def named_files(root: Element) -> Iterator[tuple[Element, str, str]]:
    """Every attribute that names a file or a folder, with its element."""
    for element in root.iter():
        for key, value in element.attrib.items():
            if key.startswith("file") or key in FOLDERS:
                yield element, key, value


def require_name(element: Element, key: str, name: str) -> None:
    """Refuse a name that leads elsewhere by itself."""
    windows = PureWindowsPath(name)
    if (
        PurePosixPath(name).is_absolute()
        or windows.is_absolute()
        or windows.drive
        or ".." in windows.parts
        or ":" in name
    ):
        raise refused([f"{element.tag} {key}={name!r} leads out of the model's folder: put the file beside the model"])


def require_under(root: Path, path: Path, name: str) -> None:
    """Refuse a path that leads out of the folder by a link."""
    try:
        end = path.resolve()
        inside = end.is_relative_to(root) and not end.is_symlink()  # links in a circle end in one of them
    except (OSError, RuntimeError):  # or, before Python 3.13, in an error
        inside = False
    if not inside:
        raise refused([f"{name!r} leads out of the model's folder by a link: put the file itself beside the model"])


def compiled_without(mj: Any, source: Path, missing: set[str]) -> tuple[Any, list[str], list[str]] | None:
    """The model without looks whose files are missing, warnings, and mistakes; None if it lacks no such files.

    Whether a body's inertia comes from a mesh depends on groups, densities, defaults and the compiler's settings. It is
    found by trying: the model is compiled with another stand-in, and inertias that differ come from it.
    """

    def compiled(large: set[str]) -> tuple[Any, list[str]]:
        spec = mj.MjSpec.from_file(str(source))
        warnings = stand_in(mj, spec, missing, large)
        return (spec.compile() if warnings else None), warnings

    model, warnings = compiled(set())
    if model is None:
        return None
    lost = sorted({mesh.file for mesh in mj.MjSpec.from_file(str(source)).meshes} & missing)
    owed: dict[int, list[str]] = {}
    for file in lost if bodies_between(model, compiled(set(lost))[0]) else ():
        for i in bodies_between(model, compiled({file})[0]):
            owed.setdefault(i, []).append(file)
    mistakes = [
        f"body {model.body(i).name or f'body{i}'!r}: its mass and moments come from a mesh whose file is missing, "
        f"{' and '.join(map(repr, files))}: put it there, or give the body an <inertial>"
        for i, files in sorted(owed.items())
    ]
    return model, warnings, mistakes


def stand_in(mj: Any, spec: Any, missing: set[str], large: set[str]) -> list[str]:
    """Put something else where files are missing, and say so: a tetrahedron that is not shown, a plain, a colour."""
    warnings = []

    def lost(what: str, name: str, *files: str) -> bool:
        gone = [file for file in files if file in missing]
        if gone:
            warnings.append(f"{what} {name or gone[0]!r}: the file {gone[0]!r} is missing, so that it is not drawn")
        return bool(gone)

    hidden = set[str]()
    for mesh in spec.meshes:
        if lost("mesh", mesh.name, mesh.file):
            size = SIZES[mesh.file in large]
            hidden.add(mesh.name)
            mesh.file = mesh.content_type = ""
            mesh.scale = (1, 1, 1)
            mesh.uservert = [0, 0, 0, size, 0, 0, 0, 2 * size, 0, 0, 0, 3 * size]
            mesh.userface = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
    for geom in spec.geoms:
        if geom.meshname in hidden:
            geom.rgba = (0, 0, 0, 0)
    for field in spec.hfields:
        if lost("hfield", field.name, field.file):
            field.file = field.content_type = ""
            field.nrow = field.ncol = 2
            field.userdata = [0.0] * 4
    for texture in spec.textures:
        if lost("texture", texture.name, texture.file, *texture.cubefiles):
            texture.file = texture.content_type = ""
            texture.gridsize = (1, 1)
            texture.builtin, texture.width, texture.height = mj.mjtBuiltin.mjBUILTIN_FLAT, 1, 1
            for i in range(len(texture.cubefiles)):
                texture.cubefiles[i] = ""
    for skin in spec.skins:
        if lost("skin", skin.name, skin.file):
            skin.file, skin.bodyname = "", ["world"]
            skin.vert, skin.face = [0, 0, 0, 1, 0, 0, 0, 1, 0], [0, 1, 2]
            skin.vertid, skin.vertweight = [[0, 1, 2]], [[1, 1, 1]]
            skin.bindpos, skin.bindquat = [0, 0, 0], [1, 0, 0, 0]
    return warnings


def bodies_between(one: Any, other: Any) -> list[int]:
    """The bodies that can move and have another inertia in one model than in the other."""
    inertias = ("body_mass", "body_inertia", "body_ipos", "body_iquat")
    return [
        i
        for i in range(1, one.nbody)
        if one.body_weldid[i] and any(not np.array_equal(getattr(one, k)[i], getattr(other, k)[i]) for k in inertias)
    ]
