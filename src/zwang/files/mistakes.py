"""Mistakes that a system finds in its own description, in the words of the model file and at their place in it."""

import re
from collections.abc import Mapping
from typing import Any

from zwang.files.kinds import BODIES, ELEMENTS, JOINTS
from zwang.files.places import Path

KIND_NAMES = {kind.part: kind.name for kind in (*BODIES, *JOINTS, *ELEMENTS)}
CLASSES = re.compile(rf"(?<![\w'])(?:{'|'.join(KIND_NAMES)})(?![\w'])")


def place_of(mistake: str, data: dict[str, Any]) -> Path:
    """Where a mistake that a system found is made in the file."""
    if found := re.match(r"(forces|nonideal)\[(.*?)\(t\)\]", mistake):
        return found.group(1), found.group(2)
    if found := re.match(r"mass is not symmetric: entry \((\d+), (\d+)\)", mistake):
        return "mass", "matrix", int(found.group(1)) - 1, int(found.group(2)) - 1
    for name in data.get("constraints", ()):
        if mistake.startswith(f"constraint {name!r}"):
            return "constraints", name
    if found := re.match(r"parameters?:? ([\w.]*\w)", mistake):
        for section in ("parameters", "inputs"):
            if found.group(1) in data.get(section, ()):
                return section, found.group(1)
    if found := re.match(r"kinetic misses the coordinate (.*?)\(t\)", mistake):
        return "energy", "kinetic"
    first = mistake.split(" ", 1)[0].rstrip(":")
    return {"kinetic": ("energy", "kinetic"), "potential": ("energy", "potential"), "mass": ("mass", "matrix")}.get(
        first, ("coordinates",)
    )


def in_file_words(mistake: str) -> str:
    """What a system says of itself, in the words of a model file: x' for Derivative(x(t), t)."""
    mistake = re.sub(r"Derivative\(([\w.]+)\(t\), t\)", r"\1'", mistake)
    mistake = re.sub(r"Derivative\(([\w.]+)\(t\), \(t, (\d)\)\)", lambda m: m[1] + "'" * int(m[2]), mistake)
    return re.sub(r"([\w.]+)\(t\)", r"\1", mistake)


def in_part_words(mistake: str) -> str:
    """What a part of a mechanism says of itself, in the words of a model file: point-on-line for PointOnLine.

    >>> in_part_words("joint 'wire' holds axes of 'Rod'; use PointOnLine")
    "joint 'wire' holds axes of 'Rod'; use point-on-line"
    """
    return CLASSES.sub(lambda m: KIND_NAMES[m[0]], in_file_words(mistake))


def blamed_key(message: str, entry: Mapping[str, Any]) -> Path:
    """The key of a part that a message names first; nothing where it names none.

    >>> blamed_key("body 'rod': its mass is -1, but a mass is positive", {"inertia": 1, "mass": -1})
    ('mass',)
    """
    for key, value in entry.items():
        if isinstance(value, str) and f"coordinate {value!r}" in message:
            return (key,)
    words = re.sub(r"'[^']*'", "", message).replace("principal moments", "inertia")
    found = {key: at.start() for key in entry if (at := re.search(rf"\b{re.escape(key)}\b", words))}
    return (min(found, key=found.__getitem__),) if found else ()


def place_of_part(message: str, data: Mapping[str, Any]) -> Path:
    """Where a mistake that a mechanism found is made in the file: at the part that it names first."""
    named = re.findall(r"'([^']*)'", message) + re.findall(r"\[([\w.]+)\(t\)\]", message)
    if message.startswith("gravity") and "gravity" in data:
        return "gravity", "acceleration"
    if message.startswith("constraint") and named[0] in data.get("constraints", ()):
        return "constraints", named[0]
    for name in named:
        for section in ("joints", "springs", "elements", "bodies", "constraints"):
            entries = data.get(section, {})
            whole = re.sub(r" \d+$| spoke.*$| curve$", "", name)
            for known in (name, whole, name.split(".")[0]):
                if known in entries:
                    return section, known
    return ("bodies", *list(data.get("bodies", ()))[:1])
