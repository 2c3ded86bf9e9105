"""Robots of other programs' files, URDF and MJCF, as models: with a start, a run and a drawing."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zwang.errors import ModelFileError
from zwang.files.model_file import ModelFile, Run
from zwang.files.toml.problems import Problem
from zwang.results.units import Units

if TYPE_CHECKING:
    from zwang.multibody import Imported

ENDINGS = (".urdf", ".xml", ".mjcf")
UNTIL = 1.0  # s; such files do not say how long to watch
ROOT = re.compile(r"<(?P<tag>[A-Za-z_][\w.:-]*)")
LOOKED_AT = 100_000  # characters in which the root of a document is looked for
# Formats that are not read, and what to do about it.
ELSEWHERE = {
    ".xacro": "this is a recipe for URDF; make the URDF first: xacro {name} > {stem}.urdf",
    ".sdf": "SDF is not read; write the robot as URDF or MJCF",
    ".mjb": "compiled models of MuJoCo are not read; give the .xml that it was made of",
    ".usd": "USD is not read; write the robot as URDF or MJCF",
}


def is_robot(path: Path) -> bool:
    """Whether a file is a robot's, by how its name ends."""
    return path.suffix.lower() in (*ENDINGS, *ELSEWHERE)


def load_robot(
    path: Path,
    gravity: Sequence[float] | None = None,
    readings: Mapping[str, float] | None = None,
    rates: Mapping[str, float] | None = None,
    floating_base: bool = False,
    limits: bool = False,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
) -> ModelFile:
    """The robot of a URDF or MJCF file: at rest with joints as the file has them, for a second.

    `gravity` is used in place of the file's, and of 9.81 downwards in URDF, which knows none. `readings` and `rates`
    are where its joints start, by their names. With `floating_base` the root of a URDF file is free to move.
    With `limits` the ranges of joints are stops. `packages` are folders of meshes by name, as for `read_urdf`.
    """
    robot = read_robot(path, floating_base, limits, packages)
    if gravity is not None:
        robot = with_gravity(robot, gravity)
    made = robot.mechanism
    units = {name: "m" if name[-2:] in (".x", ".y", ".z") else "" for name in made.system.coordinate_names}
    start = robot.start(readings, rates)
    return ModelFile(made.system, start, Run(UNTIL), drawing=made.drawing, units=Units("s", "J", units), path=path,
                     mechanism=made, warnings=robot.warnings)  # fmt: skip


def read_robot(
    path: Path,
    floating_base: bool = False,
    limits: bool = False,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
) -> "Imported":
    """What a file describes, by its root element; a refusal names the file."""
    from zwang.multibody import read_mjcf, read_urdf

    if remedy := ELSEWHERE.get(path.suffix.lower()):
        raise refusal(path, remedy.format(name=path.name, stem=path.stem))
    readers: dict[str, Any] = {
        "robot": partial(read_urdf, floating_base=floating_base, limits=limits, packages=packages),
        "mujoco": partial(read_mjcf, limits=limits),
    }
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            found = ROOT.search(without_comments(file.read(LOOKED_AT)))
    except OSError as error:
        raise refusal(path, f"the file cannot be read: {error.strerror}") from None
    tag = found.group("tag") if found else ""
    if tag not in readers:
        raise refusal(path, "its root is neither <robot …>, as in URDF, nor <mujoco …>, as in MJCF")
    if floating_base and tag == "mujoco":
        raise refusal(path, "a floating base is for URDF: in MJCF, a body with a free joint is one")
    if packages and tag == "mujoco":
        raise refusal(path, "packages are for URDF: MJCF knows none, and all its files lie in its own folder")
    try:
        robot: Imported = readers[tag](path)
    except ModelFileError as error:
        raise ModelFileError(error.problems, f"{path}: {error}") from None
    return robot


def without_comments(text: str) -> str:
    """A text of XML without its comments; one that does not end takes the rest with it.

    >>> without_comments("<!-- <a> --><robot><!-- b -->")
    '<robot>'
    """
    first, *others = text.split("<!--")
    return first + "".join(part.partition("-->")[2] for part in others)


def with_gravity(robot: "Imported", gravity: Sequence[float]) -> "Imported":
    """The robot with another gravity."""
    from zwang.multibody import Gravity

    forces = [force for force in robot.mechanism.forces if not isinstance(force, Gravity)]
    forces += [Gravity(tuple(gravity))] if any(gravity) else []
    return replace(robot, mechanism=replace(robot.mechanism, forces=forces))


def refusal(path: Path, words: str) -> ModelFileError:
    """The refusal of a file; it has no line that could be shown."""
    return ModelFileError([Problem(str(path), 1, 1, words)], f"{path}: {words}")
