"""The files that an MJCF file names: all of them in its own folder, or it is refused before MuJoCo opens any.

Files of looks may be missing: MuJoCo's compiler is given something else for them.
"""

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path, PurePosixPath, PureWindowsPath
from xml.etree.ElementTree import Element

from zwang.multibody.readers.own_files import Outside, file_below
from zwang.multibody.readers.skeleton import refused
from zwang.multibody.readers.xml_text import xml_root, xml_text
from zwang.words import shortened

FOLDERS = ("meshdir", "texturedir", "assetdir")  # attributes of the compiler element
READ_AS_XML = ("include", "model")  # elements whose files name files again
MOST_FILES = 1000
NAN = re.compile(r"(?<![^\s])[-+]?nan(?![^\s(])", re.IGNORECASE)


def require_own_files(text: str, file: Path | None) -> tuple[set[str], int]:
    """Refuse a model that names files outside its folder; `file` is None for a text, which has no folder.

    MuJoCo puts names together in several ways (the folder of the model, of the file that includes it, of meshes): all
    of them are looked at, and links are followed. Names that are in none of these places are returned, and how many
    bytes the others have.
    """
    root = None if file is None else file.parent.resolve()
    todo, read = [(text, root)], set[Path]()
    starts, folders, names = {root}, {""}, set[str]()
    while todo:
        inner, folder = todo.pop()
        tree = xml_root(inner, "MJCF")
        require_numbers(tree)
        for element, key, name in named_files(tree):
            if root is None or folder is None:
                raise refused([f"{element.tag} names {name!r}, but a text has no folder: give the path of the file"])
            require_name(element, key, name)
            (folders if key in FOLDERS else names).add(name)
            if len(names) * len(folders) * len(starts) > MOST_FILES:
                raise refused([f"the files that it names may be in more than {MOST_FILES} places"])
            for found in (root / name, folder / name) if element.tag in READ_AS_XML and key == "file" else ():
                if own_file(root, found, name) and found not in read:
                    read.add(found)
                    starts.add(found.parent)
                    todo.append((xml_text(found, "MJCF"), found.parent))
    there = dict[str, int]()
    for start, folder_name, name in product(starts, folders, names):
        if root is not None and start is not None:
            for place in (start / folder_name / name, start / folder_name / Path(name).name):  # as with `strippath`
                if found_file := own_file(root, place, name):
                    there[name] = found_file.stat().st_size
    return names - there.keys(), sum(there.values())


def require_numbers(root: Element) -> None:
    """Refuse what is not a number: MuJoCo's compiler looks for that in the end alone, and may not come to it."""
    named = {element.get("name") for element in root.iter()}
    wrong = [
        f"{element.tag} {element.get('name', '')!r}: {key}={shortened(value, 80)!r} has NaN in it".replace(" ''", "")
        for element in root.iter()
        for key, value in element.attrib.items()
        if key not in ("name", "class") and value not in named and NAN.search(value)
    ]
    if wrong:
        raise refused(wrong)


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


def own_file(root: Path, path: Path, name: str) -> Path | None:
    """The file at a path, None if there is none; refuse a path that leads out of the folder by a link."""
    try:
        return file_below(path, (root,))
    except Outside:
        words = f"{name!r} leads out of the model's folder by a link, or is no file"
        raise refused([f"{words}: put the file itself beside the model"]) from None
