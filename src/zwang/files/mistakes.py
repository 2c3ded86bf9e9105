"""Mistakes that a system finds in its own description, in the words of the model file and at their place in it."""

import re
from typing import Any

from zwang.files.places import Path


def place_of(mistake: str, data: dict[str, Any]) -> Path:
    """Where a mistake that a system found is made in the file."""
    if found := re.match(r"(forces|nonideal)\[(.*?)\(t\)\]", mistake):
        return found.group(1), found.group(2)
    if found := re.match(r"mass is not symmetric: entry \((\d+), (\d+)\)", mistake):
        return "mass", "matrix", int(found.group(1)) - 1, int(found.group(2)) - 1
    for name in data.get("constraints", ()):
        if mistake.startswith(f"constraint {name!r}"):
            return "constraints", name
    parameters = data.get("parameters", ())
    for name in (*parameters, *data.get("inputs", ())):
        if re.match(rf"parameters?:? {re.escape(name)}\b", mistake):
            return ("parameters" if name in parameters else "inputs"), name
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
